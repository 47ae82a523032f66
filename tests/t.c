/* Runs the unit tests found by name.  Usage: unit [-v] [SUBSTRING] */
#include "tests/t.h"

#include <ftw.h>
#include <stdarg.h>
#include <unistd.h>

#include "core/base/json.h"
#include "sandbox/role.h"

static struct {
	int checks, failures;
	const char *skipped;
	char dir[64];
} t_now;

void t_check(bool ok, const char *file, int line, const char *what)
{
	t_now.checks++;
	if (ok)
		return;
	t_now.failures++;
	printf("# %s:%d: %s\n", file, line, what);
}

void t_fail(const char *file, int line, const char *fmt, ...)
{
	char text[2000];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	t_check(false, file, line, text);
}

void t_skip(const char *reason)
{
	t_now.skipped = reason;
}

void t_eq_str(const char *got, const char *want, const char *file, int line)
{
	t_now.checks++;
	if (got && !strcmp(got, want))
		return;
	t_fail(file, line, "got [%s], expected [%s]", got ? got : "NULL", want);
}

void t_eq_int(long long got, long long want, const char *file, int line)
{
	t_now.checks++;
	if (got != want)
		t_fail(file, line, "got %lld, expected %lld", got, want);
}

void t_eq_code(enum dtx_code got, enum dtx_code want, const struct dtx_err *err, const char *file,
               int line)
{
	t_now.checks++;
	if (got != want)
		t_fail(file, line, "got %s, expected %s: %s (%s:%d)", dtx_code_name(got),
		       dtx_code_name(want), err ? err->msg : "",
		       err && err->src_file ? err->src_file : "", err ? err->src_line : 0);
}

long t_next_alloc(long k)
{
	const char *all = getenv("T_ALLOCS");

	return k < 100 || (all && !strcmp(all, "all")) ? k + 1 : k + 1 + k / 32;
}

const char *t_dir(void)
{
	if (!t_now.dir[0]) {
		snprintf(t_now.dir, sizeof(t_now.dir), "/tmp/dtx-unit-XXXXXX");
		t_check(mkdtemp(t_now.dir) != NULL, __FILE__, __LINE__, "mkdtemp");
	}
	return t_now.dir;
}

static int t_remove(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st, (void)flag, (void)ftw;
	return remove(path);
}

static const char *t_run(const struct t_case *c)
{
	memset(&t_now, 0, sizeof(t_now));
	c->fn();
	if (t_now.dir[0])
		nftw(t_now.dir, t_remove, 16, FTW_DEPTH | FTW_PHYS);
	if (t_now.skipped && !t_now.failures)
		return "skip";
	if (!t_now.checks)
		printf("# no check was made\n");
	return t_now.failures || !t_now.checks ? "not ok" : "ok";
}

int main(int argc, char **argv)
{
	const char *only = argc > 1 ? argv[argc - 1] : "";
	int passed = 0, failed = 0, skipped = 0;
	const struct t_case *c;
	int role = dtx_sandbox_role(argc, argv);

	if (role >= 0)
		return role;
	setenv("DTX_POOL_IDLE", "5", 0); /* nothing of a test run stays for long */
	setvbuf(stdout, NULL, _IOLBF, 0);
	dtx_json_init();
	for (c = t_cases; c->name; c++) {
		const char *how;

		if (!strstr(c->name, only))
			continue;
		how = t_run(c);
		if (!strcmp(how, "skip"))
			printf("ok - %s # SKIP %s\n", c->name, t_now.skipped);
		else
			printf("%s - %s\n", how, c->name);
		passed += !strcmp(how, "ok");
		failed += !strcmp(how, "not ok");
		skipped += !strcmp(how, "skip");
	}
	printf("%d passed, %d failed, %d skipped\n", passed, failed, skipped);
	return failed != 0;
}
