/* The zygote: locks itself in, imports pandas, forks workers.  It never sees a byte of a table,
 * a snippet or a secret, and nothing of a worker reaches it but the hand-over of its listener.
 *
 * A failure of any step that is not optional ends it with REFUSED on the control socket. */
#include <errno.h>
#include <fcntl.h>
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
#include "core/base/log.h"
#include "core/base/num.h"
#include "core/base/str.h"
#include "sandbox/filter.h"
#include "sandbox/landlock.h"
#include "sandbox/launch.h"
#include "sandbox/limits.h"
#include "sandbox/ns.h"
#include "sandbox/pyhost.h"
#include "sandbox/reader_super.h"
#include "sandbox/role.h"
#include "sandbox/wire.h"
#include "sandbox/worker.h"

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif

enum { FD_CONTROL = 3, REFUSED_STATUS = 9 };
#define BACKSTOP_MS 1000 /* main kills first; this is for a main that cannot */

struct zygote {
	struct dtx_wire main;
	struct dtx_filters filters;
	struct dtx_py_info py;
	unsigned layers, landlock;
	pid_t worker; /* 0: none */
	int pidfd;    /* of the worker, to wake up when it ends */
	uint32_t lease;
	int64_t kill_at; /* ns; 0: not armed */
};

#define REFUSE(err, layer, ...) DTX_FAIL((err), DTX_E_SNIPPET_SETUP_REFUSED, layer ": " __VA_ARGS__)

/* --- lock-down --- */

/* Stops: core files, being the one that survives when memory is short, terminals. */
static enum dtx_code settle(struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct rlimit none = { 0, 0 };
	int fd;

	umask(077);
	if (setrlimit(RLIMIT_CORE, &none))
		REFUSE(err, "rlimits", "core: %s", strerror(errno));
	fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
	if (fd >= 0) {
		/* a wish: without it the kernel chooses as it would have */
		if (write(fd, "1000", 4) < 0)
			errno = 0;
		close(fd);
	}
	if (syscall(SYS_close_range, 4u, ~0u, 0u))
		REFUSE(err, "descriptors", "close_range: %s", strerror(errno));
out:
	return rc;
}

/* The child becomes pid 1 of the namespace and goes on; the parent only waits for it, so that
 * whoever kills one has killed all. */
static enum dtx_code become_init(struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	pid_t pid = fork();
	int status;

	if (pid < 0)
		REFUSE(err, "pidns", "fork: %s", strerror(errno));
	if (pid == 0)
		goto out;
	close(FD_CONTROL);
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0))
		_exit(REFUSED_STATUS);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : REFUSED_STATUS);
out:
	return rc;
}

static enum dtx_code lock_in(struct zygote *z, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	bool root, entered;
	int ns_errno = 0, bad;

	DTX_TRY(settle(err));
	DTX_TRY(dtx_ns_user(&root, err));
	DTX_TRY(dtx_ns_enter(&entered, &ns_errno, err));
	z->landlock = dtx_landlock_abi();
	if (root && !entered)
		REFUSE(err, "user", "still root, and no user namespace: %s", strerror(ns_errno));
	if (!entered && !z->landlock)
		REFUSE(err, "userns", "no namespaces (%s) and no landlock: files would be open",
		       strerror(ns_errno));
	if (entered) {
		z->layers |= DTX_LAYER_NAMESPACES;
		DTX_TRY(become_init(err));
	}
	DTX_TRY(dtx_ns_drop_caps(err));
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) || prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0))
		REFUSE(err, "user", "prctl: %s", strerror(errno));
	if (!z->landlock)
		goto out;
	bad = dtx_landlock_restrict(z->landlock, dtx_jail_trees);
	if (bad)
		REFUSE(err, "landlock", "%s", strerror(bad));
	z->layers |= DTX_LAYER_LANDLOCK;
out:
	return rc;
}

static enum dtx_code prepare(struct zygote *z, uint32_t hash_seed, bool screen_only,
                             struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int bad;

	DTX_TRY(lock_in(z, err));
	DTX_TRY(dtx_py_start(hash_seed, screen_only, &z->py, err));
	/* a library that started a thread would go on outside the worker's filter */
	if (unshare(CLONE_VM))
		REFUSE(err, "threads", "the interpreter started one: %s", strerror(errno));
	DTX_TRY(dtx_filters_build(&z->filters, err));
	bad = dtx_filter_load(&z->filters, DTX_FILTER_Z, NULL);
	if (bad)
		REFUSE(err, "seccomp", "%s", strerror(bad));
	z->layers |= DTX_LAYER_SECCOMP | DTX_LAYER_RLIMITS;
out:
	return rc;
}

/* --- workers --- */

/* Every descriptor of one worker, both ends. */
struct pairs {
	int job[2], handover[2], out[2], err[2], in, result, pidfd, listener;
};
#define PAIRS_INIT                                                                                 \
	{                                                                                          \
		{ -1, -1 }, { -1, -1 }, { -1, -1 }, { -1, -1 }, -1, -1, -1, -1                     \
	}

static void close_all(int *fd, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (fd[i] >= 0)
			close(fd[i]);
		fd[i] = -1;
	}
}

static int make_memfd(const char *name)
{
	int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL);

	if (fd < 0 && errno == EINVAL) /* a kernel before 6.3 */
		fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	return fd;
}

static enum dtx_code make_pairs(struct pairs *p, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, p->job) ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, p->handover) ||
	    pipe2(p->out, O_CLOEXEC) || pipe2(p->err, O_CLOEXEC))
		REFUSE(err, "descriptors", "%s", strerror(errno));
	p->in = make_memfd("dtx-in");
	p->result = make_memfd("dtx-out");
	if (p->in < 0 || p->result < 0)
		REFUSE(err, "memfd", "%s", strerror(errno));
out:
	return rc;
}

/* What the worker says once it is locked: its listener, or what failed. */
static enum dtx_code take_handover(struct zygote *z, struct pairs *p, uint32_t *audit,
                                   struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_wire w = { .fd = p->handover[0] };
	struct dtx_wire_msg msg;
	struct dtx_wire_refused refused;
	size_t nfds = 1;
	int got = dtx_wire_recv(&w, &msg, &p->listener, &nfds);

	if (got == 1 && msg.type == DTX_WIRE_REFUSED) {
		memcpy(&refused, msg.payload, sizeof(refused));
		refused.layer[sizeof(refused.layer) - 1] = 0;
		DTX_FAIL(err, DTX_E_SNIPPET_SETUP_REFUSED, "%s: worker: %s", refused.layer,
		         strerror((int)refused.sys_errno));
	}
	if (got != 1 || msg.type != DTX_WIRE_LOCKED)
		REFUSE(err, "worker", "it ended while it locked itself down");
	memcpy(audit, msg.payload, sizeof(*audit));
	if (*audit > 1 || nfds != *audit)
		REFUSE(err, "worker", "its hand-over is not understood");
	if (*audit)
		z->layers |= DTX_LAYER_NOTIFY;
out:
	return rc;
}

static enum dtx_code fork_worker(struct zygote *z, struct pairs *p, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_worker_fds fds = { p->out[1], p->err[1], p->job[1],
		                      p->in,     p->result, p->handover[1] };
	pid_t self = getpid();

	z->worker = dtx_py_fork();
	if (z->worker < 0) {
		z->worker = 0;
		REFUSE(err, "fork", "%s", strerror(errno));
	}
	if (z->worker == 0)
		dtx_worker_main(&fds, &z->filters, z->landlock, self);
	close_all(&p->handover[1], 1);
	p->pidfd = (int)syscall(SYS_pidfd_open, z->worker, 0u);
	if (p->pidfd < 0)
		REFUSE(err, "pidfd", "%s", strerror(errno));
out:
	return rc;
}

static enum dtx_code grant(struct zygote *z, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct pairs p = PAIRS_INIT;
	struct dtx_wire_grant g = { ++z->lease, 0 };
	int bad;

	DTX_TRY(make_pairs(&p, err));
	DTX_TRY(fork_worker(z, &p, err));
	DTX_TRY(take_handover(z, &p, &g.audit, err));
	bad = dtx_limits_seal_fds(z->worker);
	if (bad)
		REFUSE(err, "rlimits", "nofile: %s", strerror(bad));
	{
		const int fds[] = { p.job[0], p.in,    p.result,  p.out[0],
			            p.err[0], p.pidfd, p.listener };

		if (!dtx_wire_send(&z->main, DTX_WIRE_GRANT, &g, sizeof(g), fds, 6 + g.audit))
			REFUSE(err, "control", "%s", strerror(errno));
	}
	z->pidfd = p.pidfd;
	p.pidfd = -1;
out:
	close_all((int *)&p, sizeof(p) / sizeof(int));
	return rc;
}

/* --- service --- */

static void kill_worker(struct zygote *z)
{
	if (z->worker > 0)
		kill(z->worker, SIGKILL);
}

static enum dtx_code arm(struct zygote *z, const struct dtx_wire_msg *msg, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_wire_arm a;
	int bad;

	memcpy(&a, msg->payload, sizeof(a));
	if (a.lease != z->lease || z->worker <= 0 || a.wall_ms < 0 || a.wall_ms > INT32_MAX)
		REFUSE(err, "control", "no such lease");
	bad = dtx_limits_arm(z->worker, &a.as_bytes, &a.cpu_s);
	if (bad)
		REFUSE(err, "rlimits", "memory or cpu: %s", strerror(bad));
	z->kill_at = dtx_now_ns() + (a.wall_ms + BACKSTOP_MS) * 1000000;
	if (!dtx_wire_send(&z->main, DTX_WIRE_ARMED, &a, sizeof(a), NULL, 0))
		REFUSE(err, "control", "%s", strerror(errno));
out:
	return rc;
}

static enum dtx_code welcome(struct zygote *z, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_wire_welcome w = { .layers = z->layers, .landlock = z->landlock };

	memcpy(w.filter_hash, z->filters.hash, DTX_MIN(sizeof(w.filter_hash) - 1, (size_t)64));
	memcpy(w.python, z->py.python, sizeof(w.python));
	memcpy(w.pandas, z->py.pandas, sizeof(w.pandas));
	memcpy(w.numpy, z->py.numpy, sizeof(w.numpy));
	memcpy(w.abi, z->py.abi, sizeof(w.abi));
	if (!dtx_wire_send(&z->main, DTX_WIRE_WELCOME, &w, sizeof(w), NULL, 0))
		REFUSE(err, "control", "%s", strerror(errno));
out:
	return rc;
}

/* One message of main; *quit when there is nothing more to do. */
static enum dtx_code serve_one(struct zygote *z, bool *quit, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_wire_msg msg;
	int got = dtx_wire_recv(&z->main, &msg, NULL, NULL);

	if (got == 0) {
		*quit = true;
		goto out;
	}
	if (got != 1)
		REFUSE(err, "control", "not a message of this version");
	switch (msg.type) {
	case DTX_WIRE_HELLO: DTX_TRY(welcome(z, err)); break;
	case DTX_WIRE_LEASE:
		if (z->worker)
			REFUSE(err, "control", "one lease at a time");
		DTX_TRY(grant(z, err));
		break;
	case DTX_WIRE_ARM: DTX_TRY(arm(z, &msg, err)); break;
	case DTX_WIRE_KILL: kill_worker(z); break;
	case DTX_WIRE_QUIT: *quit = true; break;
	default: REFUSE(err, "control", "message of type %u out of turn", msg.type);
	}
out:
	return rc;
}

static enum dtx_code reap(struct zygote *z, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct rusage ru;
	struct dtx_wire_exited e = { .lease = z->lease };

	if (z->worker <= 0 || wait4(z->worker, &e.status, WNOHANG, &ru) != z->worker)
		goto out;
	z->worker = 0;
	z->kill_at = 0;
	close_all(&z->pidfd, 1);
	e.user_us = ru.ru_utime.tv_sec * 1000000 + ru.ru_utime.tv_usec;
	e.sys_us = ru.ru_stime.tv_sec * 1000000 + ru.ru_stime.tv_usec;
	e.max_rss = ru.ru_maxrss * 1024;
	if (!dtx_wire_send(&z->main, DTX_WIRE_EXITED, &e, sizeof(e), NULL, 0))
		REFUSE(err, "control", "%s", strerror(errno));
out:
	return rc;
}

static enum dtx_code serve(struct zygote *z, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	bool quit = false;

	while (!quit) {
		struct pollfd p[] = { { .fd = FD_CONTROL, .events = POLLIN },
			              { .fd = z->pidfd, .events = POLLIN } };
		int n = poll(p, DTX_COUNT(p), z->kill_at ? BACKSTOP_MS : -1);

		if (n < 0 && errno != EINTR)
			REFUSE(err, "control", "poll: %s", strerror(errno));
		if (z->kill_at && dtx_now_ns() > z->kill_at)
			kill_worker(z);
		DTX_TRY(reap(z, err));
		if (n > 0 && p[0].revents)
			DTX_TRY(serve_one(z, &quit, err));
	}
out:
	kill_worker(z);
	return rc;
}

static void tell_refused(struct zygote *z, const struct dtx_err *err)
{
	struct dtx_wire_refused r = { 0, "", "" };
	struct dtx_str text = dtx_str_of(err->msg), layer;

	if (dtx_str_next(&text, ':', &layer))
		dtx_str_copy(r.layer, sizeof(r.layer), layer);
	dtx_str_copy(r.text, sizeof(r.text), dtx_str_of(err->msg));
	if (!dtx_wire_send(&z->main, DTX_WIRE_REFUSED, &r, sizeof(r), NULL, 0))
		_exit(REFUSED_STATUS + 1);
}

static int zygote_main(uint32_t hash_seed, bool screen_only)
{
	struct zygote z = { .main = { .fd = FD_CONTROL }, .pidfd = -1 };
	struct dtx_err err = DTX_ERR_INIT;
	enum dtx_code rc = prepare(&z, hash_seed, screen_only, &err);

	if (rc == DTX_OK)
		rc = serve(&z, &err);
	if (rc != DTX_OK)
		tell_refused(&z, &err);
	/* no clean-up of the interpreter: nothing here outlives the process */
	_exit(rc == DTX_OK ? 0 : REFUSED_STATUS);
}

int dtx_sandbox_role(int argc, char **argv)
{
	int64_t seed;

	if (argc >= 1 && !strcmp(argv[0], DTX_READER_NAME))
		return dtx_reader_main(argc, argv);
	if (argc < 1 || strcmp(argv[0], DTX_ZYGOTE_NAME))
		return -1;
	if (argc != 3 || (strcmp(argv[1], DTX_ZYGOTE_RUN) && strcmp(argv[1], DTX_ZYGOTE_SCREEN)) ||
	    !dtx_num_parse_i64(argv[2], strlen(argv[2]), &seed) || seed < 0 || seed > UINT32_MAX)
		return 2;
	return zygote_main((uint32_t)seed, !strcmp(argv[1], DTX_ZYGOTE_SCREEN));
}
