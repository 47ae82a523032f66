/* Runs the unit tests that the build found by name.
 *
 *   unit [K/N] [SUBSTRING] [-SUBSTRING...]
 *
 * SUBSTRING keeps the tests whose names contain it; -SUBSTRING leaves those out.  K/N runs the K-th
 * of N shares, for several processes.  If the environment variable T_TURNS names a folder, these
 * processes take their tests from one list instead.  T_TMP is where the tests' folders are made,
 * else /tmp.  T_TIMES=1 prints the processor time of each test. */
#include "tests/t.h"

#include <errno.h>
#include <ftw.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/text/json.h"
#include "sandbox/role.h"

#if DTX_SANITIZED
/* Undefined behaviour ends in an illegal instruction; this prints where that was. */
__attribute__((visibility("default"))) const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "handle_sigill=1";
}
#endif

static struct {
	int checks, failures;
	const char *skipped;
	char dir[64];
	pid_t owner; /* of dir: children of the test must not remove it */
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

bool t_is_filtered(void)
{
	return prctl(PR_GET_SECCOMP) > 0;
}

bool t_has_namespaces(void)
{
	pid_t pid;
	int status = -1;

	fflush(stdout);
	pid = fork();
	if (pid == 0)
		_exit(unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0);
	return pid > 0 && waitpid(pid, &status, 0) == pid && !status;
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

/* --- system calls that fail: the linker redirects calls to these (T_CALLS in the Makefile) --- */

static struct {
	const char *name;
	int nth, error;
} t_failing;

void t_fail_call(const char *name, int nth, int error)
{
	t_failing.name = name;
	t_failing.nth = nth;
	t_failing.error = error;
}

bool t_failed_call(void)
{
	bool met = t_failing.nth < 0;

	t_failing.name = NULL;
	return met;
}

static bool call_fails(const char *name)
{
	if (!t_failing.name || strcmp(t_failing.name, name) != 0 || t_failing.nth-- != 0)
		return false;
	errno = t_failing.error;
	return true;
}

#define CALL(type, name, params, args, bad)                                                        \
	type __real_##name params;                                                                 \
	type __wrap_##name params;                                                                 \
	type __wrap_##name params                                                                  \
	{                                                                                          \
		return call_fails(#name) ? (bad) : __real_##name args;                             \
	}
CALL(void *, mmap, (void *at, size_t n, int prot, int flags, int fd, off_t from),
     (at, n, prot, flags, fd, from), MAP_FAILED)
CALL(int, memfd_create, (const char *name, unsigned flags), (name, flags), -1)
CALL(int, fstat, (int fd, struct stat *st), (fd, st), -1)
CALL(int, faccessat, (int dir, const char *path, int mode, int flags), (dir, path, mode, flags), -1)
CALL(int, access, (const char *path, int mode), (path, mode), -1)
CALL(int, fchmod, (int fd, mode_t mode), (fd, mode), -1)
CALL(int, fsync, (int fd), (fd), -1)
CALL(int, fdatasync, (int fd), (fd), -1)
CALL(int, rename, (const char *from, const char *to), (from, to), -1)
CALL(int, link, (const char *from, const char *to), (from, to), -1)
CALL(int, unlink, (const char *path), (path), -1)
CALL(ssize_t, getrandom, (void *to, size_t n, unsigned flags), (to, n, flags), -1)
CALL(int, pipe2, (int end[2], int flags), (end, flags), -1)
CALL(pid_t, waitpid, (pid_t pid, int *status, int flags), (pid, status, flags), -1)
CALL(int, posix_spawn,
     (pid_t * pid, const char *path, const posix_spawn_file_actions_t *actions,
      const posix_spawnattr_t *attr, char *const argv[], char *const envp[]),
     (pid, path, actions, attr, argv, envp), errno)
CALL(int, ftruncate, (int fd, off_t size), (fd, size), -1)
CALL(int, poll, (struct pollfd * fds, nfds_t n, int ms), (fds, n, ms), -1)
CALL(ssize_t, read, (int fd, void *to, size_t n), (fd, to, n), -1)
CALL(ssize_t, pread, (int fd, void *to, size_t n, off_t at), (fd, to, n, at), -1)
/* The third argument may be missing.  A call that does not use it is not affected. */
CALL(int, open, (const char *path, int flags, mode_t mode), (path, flags, mode), -1)
CALL(int, fcntl, (int fd, int what, long arg), (fd, what, arg), -1)
CALL(int, close, (int fd), (fd), -1)

/* While this is set, every folder is on a network file system. */
static bool t_far;

void t_network(bool far)
{
	t_far = far;
}

int __real_statfs(const char *path, struct statfs *fs);
int __wrap_statfs(const char *path, struct statfs *fs);
int __wrap_statfs(const char *path, struct statfs *fs)
{
	int got = __real_statfs(path, fs);

	if (t_far)
		fs->f_type = 0x6969;
	return got;
}

long t_next_alloc(long k)
{
	const char *all = getenv("T_ALLOCS");

	return k < 100 || (all && !strcmp(all, "all")) ? k + 1 : k + 1 + k / 32;
}

long t_mapped_mib(void)
{
	long all = 0, resident = 0, shared = 0;
	FILE *f = fopen("/proc/self/statm", "r");

	T_CHECK(f && fscanf(f, "%ld %ld %ld", &all, &resident, &shared) == 3);
	if (f)
		fclose(f);
	return shared * sysconf(_SC_PAGESIZE) >> 20;
}

const char *t_dir(void)
{
	if (!t_now.dir[0]) {
		const char *in = getenv("T_TMP");

		snprintf(t_now.dir, sizeof(t_now.dir), "%.40s/dtx-unit-XXXXXX", in ? in : "/tmp");
		t_check(mkdtemp(t_now.dir) != NULL, __FILE__, __LINE__, "mkdtemp");
		t_now.owner = getpid();
	}
	return t_now.dir;
}

/* Ends the process as the signal would have ended it, after removing the folder of the test. nftw
 * must not be called in a signal handler, so another process removes it. */
static void t_interrupted(int signal)
{
	char *const argv[] = { (char *)"rm", (char *)"-rf", t_now.dir, NULL };
	pid_t pid = getpid() == t_now.owner ? _Fork() : -1;

	if (!pid) {
		execv("/bin/rm", argv);
		_exit(127);
	}
	if (pid > 0)
		__real_waitpid(pid, NULL, 0);
	raise(signal); /* SA_RESETHAND has taken this handler away */
}

/* Signals that are ignored, as in a job in the background, stay ignored. */
static void t_clean_up_on(int signal)
{
	struct sigaction old,
		act = { .sa_handler = t_interrupted, .sa_flags = (int)SA_RESETHAND | SA_NODEFER };

	if (sigaction(signal, NULL, &old) == 0 && old.sa_handler != SIG_IGN)
		sigaction(signal, &act, NULL);
}

static int t_remove(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st, (void)flag, (void)ftw;
	return remove(path);
}

/* Processor time of this process and of the children that ended, in milliseconds. */
static long t_cpu_ms(void)
{
	static const int of[] = { RUSAGE_SELF, RUSAGE_CHILDREN };
	struct rusage u;
	long ms = 0;

	for (int i = 0; i < 2; i++) {
		getrusage(of[i], &u);
		ms += (u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000 +
		      (u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1000;
	}
	return ms;
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

struct t_share {
	unsigned k, n;
};

/* Whether this process runs the test. */
static bool t_mine(unsigned test, struct t_share share)
{
	const char *turns = share.n > 1 ? getenv("T_TURNS") : NULL;
	char path[4096];

	if (!turns)
		return test % share.n == share.k - 1;
	snprintf(path, sizeof(path), "%s/unit-%u", turns, test);
	return mkdir(path, 0700) == 0;
}

/* An argument of -WORD leaves out the tests whose names have WORD in them. */
static bool t_left_out(const char *name, char **argv)
{
	for (char **a = argv + 1; *a; a++) {
		if (**a == '-' && strstr(name, *a + 1))
			return true;
	}
	return false;
}

int main(int argc, char **argv)
{
	struct t_share share = { 1, 1 };
	unsigned n = 0;
	bool shared = argc > 1 && sscanf(argv[1], "%u/%u", &share.k, &share.n) == 2 && share.n;
	const char *only = "";
	int passed = 0, failed = 0, skipped = 0;
	const struct t_case *c;
	int role = dtx_sandbox_role(argc, argv);

	if (role >= 0)
		return role;
	unsetenv("TMPDIR");
	setenv("DTX_POOL_IDLE", "5", 0); /* nothing that a test starts keeps running for long */
	setvbuf(stdout, NULL, _IOLBF, 0);
	t_clean_up_on(SIGINT);
	t_clean_up_on(SIGTERM);
	t_clean_up_on(SIGHUP);
	for (int i = 1 + shared; i < argc; i++)
		only = argv[i][0] == '-' ? only : argv[i];
	dtx_json_init();
	for (c = t_cases; c->name; c++) {
		long began = t_cpu_ms();
		const char *how;

		if (!strstr(c->name, only) || t_left_out(c->name, argv) || !t_mine(n++, share))
			continue;
		how = t_run(c);
		if (!strcmp(how, "skip"))
			printf("ok - %s # SKIP %s\n", c->name, t_now.skipped);
		else
			printf("%s - %s\n", how, c->name);
		if (getenv("T_TIMES"))
			printf("# %s: %ld ms\n", c->name, t_cpu_ms() - began);
		passed += !strcmp(how, "ok");
		failed += !strcmp(how, "not ok");
		skipped += !strcmp(how, "skip");
	}
	printf("%d passed, %d failed, %d skipped\n", passed, failed, skipped);
	return failed != 0;
}
