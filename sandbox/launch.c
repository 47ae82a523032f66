/* See launch.h.  posix_spawn: the caller may have threads and gigabytes. */
#include "sandbox/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/file.h"

/* Features that change results between machines; the list is that of Debian's numpy. */
#define CPU_PINS                                                                                   \
	"NPY_DISABLE_CPU_FEATURES=AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL"

/* All of the environment: secrets of the caller stop here. */
static char *const environment[] = {
	(char *)"PATH=/nonexistent",
	(char *)"HOME=/nonexistent",
	(char *)"LC_ALL=C.UTF-8",
	(char *)"TZ=UTC",
	(char *)"OMP_NUM_THREADS=1",
	(char *)"OPENBLAS_NUM_THREADS=1",
	(char *)"MKL_NUM_THREADS=1",
	(char *)"NUMEXPR_NUM_THREADS=1",
	(char *)CPU_PINS,
	NULL,
};

static int prepare(posix_spawn_file_actions_t *actions, posix_spawnattr_t *attr, int control)
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
		rc = posix_spawn_file_actions_adddup2(actions, control, 3);
	if (!rc)
		rc = posix_spawn_file_actions_addclosefrom_np(actions, 4);
	if (!rc)
		rc = posix_spawnattr_setsigmask(attr, &none);
	if (!rc)
		rc = posix_spawnattr_setsigdefault(attr, &all);
	if (!rc)
		rc = posix_spawnattr_setflags(attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
		                                            POSIX_SPAWN_SETSID);
	return rc;
}

static int spawn(char *const argv[], int control, pid_t *pid)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	int rc = posix_spawn_file_actions_init(&actions);

	if (rc)
		return rc;
	rc = posix_spawnattr_init(&attr);
	if (!rc) {
		rc = prepare(&actions, &attr, control);
		if (!rc)
			rc = posix_spawn(pid, "/proc/self/exe", &actions, &attr, argv, environment);
		posix_spawnattr_destroy(&attr);
	}
	posix_spawn_file_actions_destroy(&actions);
	return rc;
}

enum dtx_code dtx_launch_zygote(uint32_t hash_seed, bool screen_only, pid_t *pid, int *control,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int pair[2] = { -1, -1 }, high = -1, bad;
	char seed[16];
	char *argv[] = { (char *)DTX_ZYGOTE_NAME,
		         (char *)(screen_only ? DTX_ZYGOTE_SCREEN : DTX_ZYGOTE_RUN), seed, NULL };

	snprintf(seed, sizeof(seed), "%u", hash_seed);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		DTX_FAIL(err, DTX_E_SNIPPET_SETUP_REFUSED, "launch: socketpair: %s",
		         strerror(errno));
	/* dup2 onto itself would keep close-on-exec: its number must not be 3 */
	high = fcntl(pair[1], F_DUPFD_CLOEXEC, 16);
	if (high < 0)
		DTX_FAIL(err, DTX_E_SNIPPET_SETUP_REFUSED, "launch: descriptors: %s",
		         strerror(errno));
	bad = spawn(argv, high, pid);
	if (bad)
		DTX_FAIL(err, DTX_E_SNIPPET_SETUP_REFUSED, "launch: cannot start the zygote: %s",
		         strerror(bad));
	*control = pair[0];
	pair[0] = -1;
out:
	dtx_file_close(&pair[0]);
	dtx_file_close(&pair[1]);
	dtx_file_close(&high);
	return rc;
}
