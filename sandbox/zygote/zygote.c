/* The zygote: a process that locks itself in, imports pandas, and then serves workers to its
 * clients (zygote_serve.c). Forking from it saves each run the seconds of the import.
 *
 * A step that fails ends the zygote, which then sends REFUSED to the clients that wait for it,
 * except for the few steps that are marked as optional. */
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/err.h"
#include "core/base/file.h"
#include "core/base/log.h"
#include "core/base/text/num.h"
#include "core/base/text/str.h"
#include "core/base/thread/pool.h"
#include "sandbox/policy/landlock.h"
#include "sandbox/zygote/launch.h"
#include "sandbox/policy/limits.h"
#include "sandbox/policy/ns.h"
#include "sandbox/reader/reader_super.h"
#include "sandbox/role.h"
#include "sandbox/session/session.h"
#include "sandbox/zygote/zygote.h"

enum { FD_CONTROL = 3, REFUSED_STATUS = 9 };
#define LIVE_MIN      4u
#define LIVE_PER_CORE 4u
#define OVERFLOW_UID  65534u /* how the kernel shows an id that has no number in this namespace */

/* --- lock-down --- */

/* Stops: core files and open descriptors. Also makes the kernel end this process first when
 * memory is short. */
static enum dtx_code settle(struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct rlimit none = { 0, 0 };
	int fd;

	umask(077);
	if (setrlimit(RLIMIT_CORE, &none))
		DTX_ZREFUSE(err, "rlimits", "core: %s", strerror(errno));
	fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
	if (fd >= 0) {
		/* optional: without it, the kernel chooses as usual */
		if (write(fd, "1000", 4) < 0)
			errno = 0;
		close(fd);
	}
	if (syscall(SYS_close_range, 4u, ~0u, 0u))
		DTX_ZREFUSE(err, "descriptors", "close_range: %s", strerror(errno));
out:
	return rc;
}

/* Loads C.UTF-8 while its files can still be opened. The C library keeps what it has loaded for
 * a later setlocale. */
static void load_locale(void)
{
	if (!newlocale(LC_ALL_MASK, "C.UTF-8", (locale_t)0))
		errno = 0; /* not installed: everything works as in the C locale */
}

/* Detaches a pool from the process that started it, which it outlives. */
static enum dtx_code become_daemon(struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	pid_t pid = fork();

	if (pid < 0)
		DTX_ZREFUSE(err, "fork", "%s", strerror(errno));
	if (pid > 0)
		_exit(0);
	if (chdir("/"))
		DTX_ZREFUSE(err, "user", "chdir: %s", strerror(errno));
out:
	return rc;
}

/* Forks, so that the child is pid 1 of the new namespace and continues. The parent of a private
 * zygote only waits for it, so that killing the parent ends all of them. */
static enum dtx_code become_init(const struct dtx_zygote *z, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	pid_t pid = fork();
	int status;

	if (pid < 0)
		DTX_ZREFUSE(err, "pidns", "fork: %s", strerror(errno));
	if (pid == 0)
		goto out;
	if (z->pooled)
		_exit(0);
	close(FD_CONTROL);
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0))
		_exit(REFUSED_STATUS);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : REFUSED_STATUS);
out:
	return rc;
}

static enum dtx_code lock_in(struct dtx_zygote *z, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	bool root, entered;
	int ns_errno = 0, bad, proc = -1;
	uid_t starter = geteuid();

	z->peer = starter;
	DTX_TRY(settle(err));
	load_locale();
	proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (z->pooled)
		DTX_TRY(become_daemon(err));
	DTX_TRY(dtx_ns_user(&root, err));
	DTX_TRY(dtx_ns_enter(&entered, &ns_errno, err));
	z->landlock = dtx_landlock_abi();
	if (root && !entered)
		DTX_ZREFUSE(err, "user", "still root, and no user namespace: %s",
		            strerror(ns_errno));
	if (!entered && !z->landlock)
		DTX_ZREFUSE(err, "userns",
		            "no namespaces (%s) and no Landlock: files could be read",
		            strerror(ns_errno));
	if (entered) {
		z->layers |= DTX_LAYER_NAMESPACES;
		DTX_TRY(become_init(z, err));
	}
	/* Opened now, because /proc/self belongs to root once this process is not dumpable. */
	z->statm = proc < 0 ? -1 : openat(proc, "self/statm", O_RDONLY | O_CLOEXEC);
	z->task = proc < 0 ? -1 : openat(proc, "self/task", O_PATH | O_DIRECTORY | O_CLOEXEC);
	dtx_prefault_child_open(&z->hot, z->pooled ? proc : -1);
	DTX_TRY(dtx_ns_drop_caps(err));
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) ||
	    (!z->pooled && prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0)))
		DTX_ZREFUSE(err, "user", "prctl: %s", strerror(errno));
	/* If root became another user, its clients have no id in this namespace. The folder and
	 * the mode of the socket then keep other users out. */
	if (entered)
		z->peer = starter == 0 && !root ? OVERFLOW_UID : DTX_NS_INNER_ID;
	if (!z->landlock)
		goto out;
	bad = dtx_landlock_restrict(z->landlock, dtx_jail_trees);
	if (bad)
		DTX_ZREFUSE(err, "landlock", "%s", strerror(bad));
	z->layers |= DTX_LAYER_LANDLOCK;
out:
	dtx_file_close(&proc);
	return rc;
}

/* A worker without its own root sees /proc. There it could open the memory of its result, which
 * it can write, like a file, and map it as code: Landlock does not cover memory files. So no
 * file may be mapped as code then. */
static enum dtx_filter_set set_of(const struct dtx_zygote *z)
{
	if (!z->lib_ro)
		return DTX_FILTER_SEALED;
	return z->layers & DTX_LAYER_MOUNTNS ? DTX_FILTER_LIB_CODE : DTX_FILTER_LIB;
}

/* Stops: a file that a library or an earlier step left open, which would be a way around all of
 * the above. */
static enum dtx_code keeps_nothing_open(const struct dtx_zygote *z, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const int known[] = { z->hot.maps, z->hot.pagemap, z->statm };
	int fd = dtx_limits_stray_fd(known, DTX_COUNT(known));

	if (fd >= 0)
		DTX_ZREFUSE(err, "descriptors", "%d is open, and nothing known is there", fd);
out:
	return rc;
}

/* Stops: a thread that a library started, which would not be under the worker's filter.
 *
 * The kernel refuses to unshare the memory of a process with a second thread, so trying that
 * counts them. A container's filter may refuse unshare itself. Then the links of /proc/self/task
 * are counted: two, and one for each thread. */
static enum dtx_code has_one_thread(struct dtx_zygote *z, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct stat st;
	int refused = unshare(CLONE_VM) ? errno : 0;

	if (refused == EPERM || refused == ENOSYS) {
		if (z->task < 0 || fstat(z->task, &st))
			DTX_ZREFUSE(err, "threads",
			            "this container denies unshare, and there is no /proc to count "
			            "them in");
		if (st.st_nlink != 3)
			DTX_ZREFUSE(err, "threads", "the interpreter started %lld",
			            (long long)st.st_nlink - 3);
	} else if (refused) {
		DTX_ZREFUSE(err, "threads", "the interpreter started one: %s", strerror(refused));
	}
	dtx_file_close(&z->task);
out:
	return rc;
}

static enum dtx_code prepare(struct dtx_zygote *z, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	enum dtx_filter_set set;
	int bad;

	DTX_TRY(lock_in(z, err));
	set = set_of(z);
	DTX_TRY(dtx_py_start(z->hash_seed, z->kind, set, &z->py, err));
	DTX_TRY(has_one_thread(z, err));
	DTX_TRY(keeps_nothing_open(z, err));
	DTX_TRY(dtx_filters_build(&z->filters, set, err));
	bad = dtx_filter_load(&z->filters, DTX_FILTER_Z, NULL);
	if (bad)
		DTX_ZREFUSE(err, "seccomp", "%s", strerror(bad));
	z->layers |= DTX_LAYER_SECCOMP | DTX_LAYER_RLIMITS;
out:
	return rc;
}

/* --- the role --- */

static void init(struct dtx_zygote *z)
{
	size_t i;

	memset(z, 0, sizeof(*z));
	z->listener = z->statm = z->task = -1;
	z->hot.maps = z->hot.pagemap = -1;
	for (i = 0; i < DTX_ZYGOTE_CLIENTS; i++) {
		z->client[i].wire.fd = -1;
		z->client[i].worker = -1;
	}
	z->cores = dtx_pool_cpus();
	z->live_max =
		DTX_MIN(DTX_MAX(LIVE_MIN, LIVE_PER_CORE * z->cores), (uint32_t)DTX_ZYGOTE_WORKERS);
}

static bool number(const char *text, int64_t max, int64_t *out)
{
	return dtx_num_parse_i64(text, strlen(text), out) && *out >= 0 && *out <= max;
}

/* Arguments: KIND SEED, and for a pool also KEY IDLE_SECONDS. */
static bool take_arguments(struct dtx_zygote *z, int argc, char **argv)
{
	int64_t seed, idle = 0;

	z->pooled = argc == 5;
	if ((argc != 3 && argc != 5) || !dtx_zkind_find(argv[1], &z->kind) ||
	    !number(argv[2], UINT32_MAX, &seed))
		return false;
	z->hash_seed = (uint32_t)seed;
	z->lib_ro = z->kind & DTX_ZYGOTE_LIB_RO;
	if (!z->pooled) {
		z->client[0].wire.fd = FD_CONTROL;
		return true;
	}
	z->listener = FD_CONTROL;
	if (strlen(argv[3]) != DTX_WIRE_KEY || !number(argv[4], INT32_MAX, &idle))
		return false;
	memcpy(z->key, argv[3], DTX_WIRE_KEY);
	z->idle_ns = idle * 1000000000;
	return true;
}

static _Noreturn void zygote_main(int argc, char **argv)
{
	static struct dtx_zygote z; /* half a megabyte; a zygote serves once and has one thread */
	struct dtx_err err = DTX_ERR_INIT;
	enum dtx_code rc;

	init(&z);
	if (!take_arguments(&z, argc, argv))
		_exit(2);
	rc = prepare(&z, &err);
	if (rc == DTX_OK)
		rc = dtx_zygote_serve(&z, &err);
	if (rc != DTX_OK)
		dtx_zygote_refuse_all(&z, &err);
	/* The interpreter is not shut down: nothing of it outlives the process. */
	_exit(rc == DTX_OK ? 0 : REFUSED_STATUS);
}

int dtx_sandbox_role(int argc, char **argv)
{
	if (argc >= 1 && !strcmp(argv[0], DTX_READER_NAME))
		return dtx_reader_main(argc, argv);
	if (argc >= 1 && !strcmp(argv[0], DTX_KEEPER_NAME))
		return dtx_keeper_main(argc, argv);
	if (argc < 1 || strcmp(argv[0], DTX_ZYGOTE_NAME))
		return -1;
	zygote_main(argc, argv);
}
