/* Starts the roles of the jail, see launch.h. Uses posix_spawn rather than fork, because the
 * caller may have threads and gigabytes of memory. */
#include "sandbox/zygote/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/cpu.h"
#include "core/base/file.h"
#include "core/plan/exec/provider.h"

#define SELF "/proc/self/exe"

/* CPU features that make numpy's results differ between machines, with the names that Debian's
 * numpy knows. */
#define CPU_PINS                                                                                   \
	"NPY_DISABLE_CPU_FEATURES=AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL"

/* OpenBLAS, too, chooses its order of summation by the processor */
#define BLAS_PIN "OPENBLAS_CORETYPE=Haswell"

/* The complete environment of a role: no variable of the caller, such as a secret, gets past
 * this point. OPENBLAS_CORETYPE may only name a type that the processor can run, hence the
 * variant. */
#define ENVIRONMENT                                                                                \
	(char *)"PATH=/nonexistent", (char *)"HOME=/nonexistent", (char *)"LC_ALL=C.UTF-8",        \
		(char *)"TZ=UTC", (char *)"OMP_NUM_THREADS=1", (char *)"OPENBLAS_NUM_THREADS=1",   \
		(char *)"MKL_NUM_THREADS=1", (char *)"NUMEXPR_NUM_THREADS=1", (char *)CPU_PINS
static char *const environment[] = { ENVIRONMENT, NULL };
static char *const environment_avx2[] = { ENVIRONMENT, (char *)BLAS_PIN, NULL };

static char *const *environment_here(void)
{
	enum dtx_cpu cpu = dtx_cpu_best();

	return cpu == DTX_CPU_AVX2 || cpu == DTX_CPU_AVX512 ? environment_avx2 : environment;
}

static char *const empty[] = { NULL };

/* One role to start: its arguments, its complete environment, and its descriptors from 3 on: its
 * socket, its input (or -1), and one more (or -1). */
struct role {
	char *const *argv, *const *envp;
	int control, input, more;
};

static int prepare(posix_spawn_file_actions_t *actions, posix_spawnattr_t *attr,
                   const struct role *r)
{
	sigset_t none, all;
	int rc = posix_spawn_file_actions_addopen(actions, 0, "/dev/null", O_RDWR, 0);

	sigemptyset(&none);
	sigfillset(&all);
	if (!rc)
		rc = posix_spawn_file_actions_adddup2(actions, 0, 1);
	if (!rc)
		rc = posix_spawn_file_actions_adddup2(actions, 0, 2);
	if (!rc)
		rc = posix_spawn_file_actions_adddup2(actions, r->control, 3);
	if (!rc && r->input >= 0)
		rc = posix_spawn_file_actions_adddup2(actions, r->input, 4);
	if (!rc && r->more >= 0)
		rc = posix_spawn_file_actions_adddup2(actions, r->more, 5);
	if (!rc)
		rc = posix_spawn_file_actions_addclosefrom_np(actions, r->more >= 0    ? 6
		                                                       : r->input >= 0 ? 5
		                                                                       : 4);
	if (!rc)
		rc = posix_spawnattr_setsigmask(attr, &none);
	if (!rc)
		rc = posix_spawnattr_setsigdefault(attr, &all);
	if (!rc)
		rc = posix_spawnattr_setflags(attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
		                                            POSIX_SPAWN_SETSID);
	return rc;
}

/* Does the same with vfork. Some machines deny posix_spawn its clone3 with EPERM, and then the C
 * library tries no other call. The child shares the caller's memory until execve, so it may only
 * make system calls. */
static int spawn_otherwise(const struct role *r, pid_t *pid)
{
	struct sigaction usual = { .sa_handler = SIG_DFL };
	volatile int failed = 0;
	const int from[] = { r->control, r->input, r->more };
	sigset_t all, before;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	*pid = vfork();
	if (*pid == 0) {
		int null = open("/dev/null", O_RDWR), i;

		for (i = 1; i < NSIG; i++) /* fails for SIGKILL and SIGSTOP, which need no change */
			(void)sigaction(i, &usual, NULL);
		for (i = 0; null >= 0 && i < 3; i++)
			null = dup2(null, i) < 0 ? -1 : null;
		for (i = 0; null >= 0 && i < 3 && from[i] >= 0; i++)
			null = dup2(from[i], 3 + i) < 0 ? -1 : null;
		sigemptyset(&all);
		if (null >= 0 && !syscall(SYS_close_range, 3u + (unsigned)i, ~0u, 0u) &&
		    setsid() > 0 && !sigprocmask(SIG_SETMASK, &all, NULL))
			execve(SELF, r->argv, r->envp);
		failed = errno ? errno : EIO;
		_exit(127);
	}
	if (*pid < 0)
		failed = errno;
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (*pid > 0 && failed)
		waitpid(*pid, NULL, 0);
	return failed;
}

static int spawn(const struct role *r, pid_t *pid)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	int rc = posix_spawn_file_actions_init(&actions);

	if (rc)
		return rc;
	rc = posix_spawnattr_init(&attr);
	if (!rc) {
		rc = prepare(&actions, &attr, r);
		if (!rc)
			rc = posix_spawn(pid, SELF, &actions, &attr, r->argv, r->envp);
		posix_spawnattr_destroy(&attr);
	}
	posix_spawn_file_actions_destroy(&actions);
	return rc == EPERM ? spawn_otherwise(r, pid) : rc;
}

bool dtx_launch_proc(void)
{
	return access(SELF, F_OK) == 0;
}

/* Starts a role with one end of a new socket pair; *control becomes the other end. */
static enum dtx_code launch(struct role *r, enum dtx_code code, pid_t *pid, int *control,
                            struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int pair[2] = { -1, -1 }, high = -1, in = -1, bad;
	const char *layer = "launch";

	if (!dtx_launch_proc()) {
		layer = "proc";
		DTX_FAIL(err, code, "proc: /proc is not mounted");
	}
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair)) {
		layer = errno == EMFILE ? "ulimit -n" : layer;
		DTX_FAIL(err, code, "launch: socketpair: %s", strerror(errno));
	}
	/* dup2 of a descriptor onto itself would keep close-on-exec, and dup2 onto the other
	 * source would lose that. Numbers from 16 on avoid both. */
	high = fcntl(pair[1], F_DUPFD_CLOEXEC, 16);
	if (r->input >= 0)
		in = fcntl(r->input, F_DUPFD_CLOEXEC, 16);
	if (high < 0 || (r->input >= 0 && in < 0)) {
		layer = "ulimit -n"; /* EINVAL: the limit is below 16 */
		DTX_FAIL(err, code, "ulimit -n: too few files may be open here");
	}
	r->control = high;
	r->input = in;
	bad = spawn(r, pid);
	if (bad)
		DTX_FAIL(err, code, "launch: cannot start '%s': %s", r->argv[0], strerror(bad));
	*control = pair[0];
	pair[0] = -1;
out:
	if (rc != DTX_OK)
		dtx_err_hint(err, "%s", dtx_jail_layer_hint(layer));
	dtx_file_close(&pair[0]);
	dtx_file_close(&pair[1]);
	dtx_file_close(&high);
	dtx_file_close(&in);
	return rc;
}

void dtx_zkind_name(enum dtx_zkind kind, char out[DTX_ZKIND_NAME])
{
	static const char *const bases[] = { "run", "screen", "exec", "" };
	unsigned bit, science = (unsigned)kind >> DTX_ZYGOTE_SCIENCE_SHIFT;
	size_t at;

	at = (size_t)snprintf(out, DTX_ZKIND_NAME, "%s%s", bases[kind & DTX_ZYGOTE_BASE],
	                      kind & DTX_ZYGOTE_LIB_RO ? "+lib-ro" : "");
	for (bit = 0; 1u << bit < DTX_JAIL_SCIENCE_END && at < DTX_ZKIND_NAME; bit++)
		if (science & 1u << bit)
			at += (size_t)snprintf(out + at, DTX_ZKIND_NAME - at, "+%s",
			                       dtx_jail_science_names[bit]);
}

bool dtx_zkind_find(const char *name, enum dtx_zkind *kind)
{
	char known[DTX_ZKIND_NAME];
	int i;

	for (i = 0; i < DTX_ZYGOTE_KINDS; i++) {
		*kind = (enum dtx_zkind)i;
		dtx_zkind_name(*kind, known);
		if ((i & DTX_ZYGOTE_BASE) != DTX_ZYGOTE_BASE && !strcmp(name, known))
			return true;
	}
	return false;
}

enum dtx_code dtx_launch_zygote(enum dtx_zkind kind, uint32_t hash_seed, pid_t *pid, int *control,
                                struct dtx_err *err)
{
	char seed[16], name[DTX_ZKIND_NAME];
	char *argv[] = { (char *)DTX_ZYGOTE_NAME, name, seed, NULL };
	struct role r = { argv, environment_here(), -1, -1, -1 };

	dtx_zkind_name(kind, name);
	snprintf(seed, sizeof(seed), "%u", hash_seed);
	return launch(&r, DTX_E_SNIPPET_SETUP_REFUSED, pid, control, err);
}

enum dtx_code dtx_launch_pool(enum dtx_zkind kind, uint32_t hash_seed, const char *key,
                              uint32_t idle_s, int listener, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	char seed[16], idle[16], name[DTX_ZKIND_NAME];
	char *argv[] = { (char *)DTX_ZYGOTE_NAME, name, seed, (char *)key, idle, NULL };
	struct role r = { argv, environment_here(), -1, -1, -1 };
	int high = fcntl(listener, F_DUPFD_CLOEXEC, 16), bad, status;
	pid_t pid;

	dtx_zkind_name(kind, name);
	snprintf(seed, sizeof(seed), "%u", hash_seed);
	snprintf(idle, sizeof(idle), "%u", idle_s);
	if (high < 0)
		DTX_FAIL(err, DTX_E_SNIPPET_SETUP_REFUSED, "launch: descriptors: %s",
		         strerror(errno));
	r.control = high;
	bad = spawn(&r, &pid);
	if (bad)
		DTX_FAIL(err, DTX_E_SNIPPET_SETUP_REFUSED, "launch: cannot start '%s': %s",
		         r.argv[0], strerror(bad));
	/* The pool forks at once and this parent exits, so that the pool is not our child. */
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
out:
	dtx_file_close(&high);
	return rc;
}

enum dtx_code dtx_launch_reader(int input, const struct dtx_isolate_limits *limits, pid_t *pid,
                                int *control, struct dtx_err *err)
{
	char bytes[24], seconds[16], parent[16], page[16];
	char freexl[] = "freexl", codecs[] = "codecs";
	char *argv[] = { (char *)DTX_READER_NAME,
		         parent,
		         bytes,
		         seconds,
		         page,
		         limits->freexl   ? freexl
		         : limits->codecs ? codecs
		                          : NULL,
		         NULL };
	struct role r = { argv, empty, -1, input, -1 };

	snprintf(parent, sizeof(parent), "%d", (int)getpid());
	snprintf(bytes, sizeof(bytes), "%llu", (unsigned long long)limits->memory);
	snprintf(seconds, sizeof(seconds), "%u", limits->cpu_s);
	snprintf(page, sizeof(page), "%u", limits->page);
	return launch(&r, DTX_E_JAIL_UNAVAILABLE, pid, control, err);
}

enum dtx_code dtx_launch_keeper(const char *name, int64_t idle_s, int64_t age_s, const int fds[3],
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	char idle[24], age[24];
	char *argv[] = { (char *)DTX_KEEPER_NAME, (char *)(uintptr_t)name, idle, age, NULL };
	struct role r = { argv, empty, -1, -1, -1 };
	int high[3] = { -1, -1, -1 }, bad, i;
	pid_t pid;

	snprintf(idle, sizeof(idle), "%lld", (long long)idle_s);
	snprintf(age, sizeof(age), "%lld", (long long)age_s);
	for (i = 0; i < 3; i++) {
		high[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, 16);
		if (high[i] < 0)
			DTX_FAIL(err, DTX_E_SNIPPET_SETUP_REFUSED, "launch: descriptors: %s",
			         strerror(errno));
	}
	r.control = high[0];
	r.input = high[1];
	r.more = high[2];
	bad = spawn(&r, &pid);
	if (bad)
		DTX_FAIL(err, DTX_E_SNIPPET_SETUP_REFUSED, "launch: cannot start '%s': %s",
		         r.argv[0], strerror(bad));
out:
	for (i = 0; i < 3; i++)
		dtx_file_close(&high[i]);
	return rc;
}
