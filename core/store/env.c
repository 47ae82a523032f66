/* What this process runs on.  Nothing here may cost time: every run asks for it. */
#include <gnu/libc-version.h>
#include <stdlib.h>
#include <sys/utsname.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "core/base/cpu.h"
#include "core/store/record.h"

#if defined(__x86_64__)
static void env_cpu_model(char out[49])
{
	unsigned leaf, word[12] = { 0 };

	for (leaf = 0; leaf < 3; leaf++) {
		if (!__get_cpuid(0x80000002u + leaf, &word[4 * leaf], &word[4 * leaf + 1],
		                 &word[4 * leaf + 2], &word[4 * leaf + 3]))
			break;
	}
	memcpy(out, word, sizeof(word));
	out[48] = '\0';
}
#else
static void env_cpu_model(char out[49])
{
	out[0] = '\0';
}
#endif

static const char *env_locale(void)
{
	static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };
	size_t i;

	for (i = 0; i < DTX_COUNT(names); i++) {
		const char *v = getenv(names[i]);

		if (v && v[0])
			return v;
	}
	return "C";
}

json_t *dtx_env_describe(void)
{
	struct utsname un;
	struct dtx_str model;
	char text[49];
	const char *tz = getenv("TZ");

	if (uname(&un) < 0)
		memset(&un, 0, sizeof(un));
	env_cpu_model(text);
	model = dtx_str_trim(dtx_str_of(text));
	return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s%, s:s, s:s, s:s?}", "dtx", DTX_VERSION,
	                 "compiler", __VERSION__, "libc", gnu_get_libc_version(), "kernel",
	                 un.release, "machine", un.machine, "cpu", model.ptr, model.len, "simd",
	                 dtx_cpu_name(dtx_cpu_best()), "locale", env_locale(), "tz", tz);
}
