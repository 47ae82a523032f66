/* Resource limits of a worker. They stop floods of memory and CPU time, core files, and
 * descriptors beyond the six that a worker has. */
#include "sandbox/policy/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define WORKER_FDS  6
#define FIRST_FD    4 /* 0 to 2 are standard streams, 3 is the socket of a zygote */
#define END_FD      1024
#define STACK_BYTES ((rlim_t)8 << 20)

/* RLIMIT_NOFILE is not in this table. The kernel also uses it to limit how many descriptors a
 * user may have in flight over unix sockets, counted over all of the user's processes, so a
 * worker could fail to send its listener. The zygote lowers it after that, see
 * dtx_limits_seal_fds. */
static const struct {
	const char *name;
	int what;
	rlim_t value;
} locked[] = {
	{ "core", RLIMIT_CORE, 0 },         { "memlock", RLIMIT_MEMLOCK, 0 },
	{ "msgqueue", RLIMIT_MSGQUEUE, 0 }, { "fsize", RLIMIT_FSIZE, 0 },
	{ "nproc", RLIMIT_NPROC, 0 },       { "stack", RLIMIT_STACK, STACK_BYTES },
};

static int set_checked(pid_t pid, int what, rlim_t soft, rlim_t hard)
{
	struct rlimit want = { soft, hard }, got;

	if (prlimit(pid, (enum __rlimit_resource)what, &want, NULL) ||
	    prlimit(pid, (enum __rlimit_resource)what, NULL, &got))
		return errno;
	return got.rlim_cur == soft && got.rlim_max == hard ? 0 : EINVAL;
}

int dtx_limits_lock(const char **which)
{
	size_t i;

	for (i = 0; i < DTX_COUNT(locked); i++) {
		struct rlimit have;
		rlim_t value = locked[i].value;
		int rc;

		*which = locked[i].name;
		if (prlimit(0, (enum __rlimit_resource)locked[i].what, NULL, &have))
			return errno;
		value = DTX_MIN(value, have.rlim_max);
		rc = set_checked(0, locked[i].what, value, value);
		if (rc)
			return rc;
	}
	return 0;
}

int dtx_limits_seal_fds(pid_t pid, bool libs)
{
	const rlim_t n = libs ? DTX_LIMITS_LIB_FDS : WORKER_FDS;

	return set_checked(pid, RLIMIT_NOFILE, n, n);
}

int dtx_limits_stray_fd(const int *known, size_t n)
{
	size_t i;
	int fd;

	for (fd = FIRST_FD; fd < END_FD; fd++) {
		for (i = 0; i < n && known[i] != fd; i++)
			;
		if (i == n && fcntl(fd, F_GETFD) >= 0)
			return fd;
	}
	/* The kernel gives out the lowest free number, so anything beyond END_FD was placed
	 * there on purpose and no library needs it: close it all instead of asking about each. */
	return syscall(SYS_close_range, (unsigned)END_FD, ~0u, 0u) ? END_FD : -1;
}

/* Sets a limit that a later call may raise again, up to `most`; with 0 it is final, and `spare` is
 * what the hard limit is above it. A hard limit that is there already is not raised. */
static int arm_one(pid_t pid, int what, uint64_t *value, uint64_t most, rlim_t spare)
{
	struct rlimit have;
	rlim_t hard = *value + spare;
	int rc;

	if (prlimit(pid, (enum __rlimit_resource)what, NULL, &have))
		return errno;
	if (most)
		hard = DTX_MIN((rlim_t)most, have.rlim_max);
	rc = set_checked(pid, what, *value, hard);
	if (rc)
		return rc;
	if (prlimit(pid, (enum __rlimit_resource)what, NULL, &have))
		return errno;
	*value = have.rlim_cur;
	return 0;
}

int dtx_limits_arm(pid_t pid, struct dtx_limits *l)
{
	int rc = arm_one(pid, RLIMIT_AS, &l->as, l->as_hard, 0);

	return rc ? rc : arm_one(pid, RLIMIT_CPU, &l->cpu, l->cpu_hard, 1);
}
