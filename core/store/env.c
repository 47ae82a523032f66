/* Describes the environment of this process.  It must be fast, because every run calls it. */
#include <fcntl.h>
#include <gnu/libc-version.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "core/base/cpu.h"
#include "core/base/file.h"
#include "core/data/time/zone.h"
#include "core/store/ledger/record.h"

#if defined(__x86_64__)
static void env_cpu_model(char out[49])
{
	unsigned highest = (unsigned)__get_cpuid_max(0x80000000u, NULL), leaf, word[12] = { 0 };

	/* without __get_cpuid, which asks for the highest leaf each time */
	for (leaf = 0; leaf < 3 && highest >= 0x80000004u; leaf++)
		__cpuid(0x80000002u + leaf, word[4 * leaf], word[4 * leaf + 1], word[4 * leaf + 2],
		        word[4 * leaf + 3]);
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

/* The version of the time zone database, such as "2025b", from its first line "# version 2025b":
 * another version may have other offsets.  Empty if this system does not tell. */
static void env_tzdata(char out[16])
{
	char text[64] = "";
	int fd = open(DTX_ZONE_DIR "/tzdata.zi", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
	struct dtx_str line = { text, n > 0 ? (size_t)n : 0 }, first;

	dtx_file_close(&fd);
	if (!dtx_str_next(&line, '\n', &first) || !dtx_str_starts(first, DTX_STR("# version ")))
		first = (struct dtx_str){ text, 0 };
	else
		first = (struct dtx_str){ first.ptr + 10, first.len - 10 };
	dtx_str_copy(out, 16, first);
}

json_t *dtx_env_describe(void)
{
	struct utsname un;
	struct dtx_str model;
	char text[49], zones[16];
	const char *tz = getenv("TZ");

	if (uname(&un) < 0)
		memset(&un, 0, sizeof(un));
	env_cpu_model(text);
	env_tzdata(zones);
	model = dtx_str_trim(dtx_str_of(text));
	return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s%, s:s, s:s, s:s?, s:s?}", "dtx",
	                 DTX_VERSION, "compiler", __VERSION__, "libc", gnu_get_libc_version(),
	                 "kernel", un.release, "machine", un.machine, "cpu", model.ptr, model.len,
	                 "simd", dtx_cpu_name(dtx_cpu_best()), "locale", env_locale(), "tz", tz,
	                 "tzdata", zones[0] ? zones : NULL);
}
