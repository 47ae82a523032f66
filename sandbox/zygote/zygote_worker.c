/* Makes, grants and ends the workers of a zygote. See zygote.h. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/log.h"
#include "sandbox/policy/limits.h"
#include "sandbox/policy/ns.h"
#include "sandbox/worker/worker.h"
#include "sandbox/zygote/zygote.h"

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif

/* the child ends after so long, in case the zygote is gone */
#define LEARN_MS 10000
#define START_NS ((int64_t)20 * 1000000000) /* from fork until the worker is locked */
/* how long a client of a pool may hold a worker without arming it */
#define UNARMED_NS  ((int64_t)60 * 1000000000)
#define BACKSTOP_MS 1000 /* main kills an overdue worker first; this is for a main that cannot */

static const struct dtx_zends no_ends = { { -1, -1 }, { -1, -1 }, { -1, -1 }, { -1, -1 },
	                                  -1,         -1,         -1,         -1 };

static void close_ends(struct dtx_zends *e)
{
	int *const fd[] = { &e->job[0], &e->job[1], &e->handover[0], &e->handover[1],
		            &e->out[0], &e->out[1], &e->err[0],      &e->err[1],
		            &e->in,     &e->result, &e->pidfd,       &e->listener };
	size_t i;

	for (i = 0; i < DTX_COUNT(fd); i++)
		dtx_file_close(fd[i]);
}

static int make_memfd(const char *name)
{
	int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL);

	if (fd < 0 && errno == EINVAL) /* a kernel before 6.3 does not know the flag */
		fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	return fd;
}

static enum dtx_code make_ends(struct dtx_zends *e, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, e->job) ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, e->handover) ||
	    pipe2(e->out, O_CLOEXEC) || pipe2(e->err, O_CLOEXEC))
		DTX_ZREFUSE(err, "descriptors", "%s", strerror(errno));
	e->in = make_memfd("dtx-in");
	e->result = make_memfd("dtx-out");
	if (e->in < 0 || e->result < 0)
		DTX_ZREFUSE(err, "memfd", "%s", strerror(errno));
out:
	return rc;
}

static enum dtx_code fork_worker(struct dtx_zygote *z, struct dtx_zworker *w, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_zends *e = &w->ends;
	const struct dtx_worker_fds fds = { e->out[1], e->err[1], e->job[1],
		                            e->in,     e->result, e->handover[1] };
	const struct dtx_worker_spec spec = {
		&z->filters, z->landlock, z->lib_ro ? dtx_jail_trees : NULL,
		getpid(),    &z->hot,     w->reserve && z->pooled
	};

	w->pid = dtx_py_fork();
	if (w->pid < 0) {
		w->pid = 0;
		DTX_ZREFUSE(err, "fork", "%s", strerror(errno));
	}
	if (w->pid == 0)
		dtx_worker_main(&fds, &spec);
	dtx_file_close(&e->handover[1]);
	dtx_file_close(&e->job[1]);
	dtx_file_close(&e->out[1]);
	dtx_file_close(&e->err[1]);
	e->pidfd = (int)syscall(SYS_pidfd_open, w->pid, 0u);
	if (e->pidfd < 0)
		DTX_ZREFUSE(err, "pidfd", "%s", strerror(errno));
out:
	return rc;
}

/* Runs in the child from which the zygote learns: does what most runs do, then waits to be
 * ended. */
static _Noreturn void teach(int fd)
{
	if (dtx_py_warm(DTX_PY_TOUCHES) && write(fd, "", 1) == 1)
		poll(NULL, 0, LEARN_MS);
	_exit(0);
}

void dtx_zworker_learn(struct dtx_zygote *z)
{
	int ready[2], pidfd;
	pid_t pid;
	char byte;

	z->learned = z->rounds;
	if (pipe2(ready, O_CLOEXEC))
		return;
	/* The import has used far more of the libraries than a run does, so start from nothing. */
	dtx_prefault_child_forget(&z->hot);
	if (!dtx_py_warm(DTX_PY_TOUCHES))
		z->cold++;
	pid = dtx_py_fork();
	if (pid == 0)
		teach(ready[1]);
	close(ready[1]);
	if (pid > 0 && read(ready[0], &byte, 1) == 1 && !dtx_prefault_child_learn(&z->hot))
		dtx_prefault_child_close(&z->hot);
	close(ready[0]);
	pidfd = pid > 0 ? (int)syscall(SYS_pidfd_open, pid, 0u) : -1;
	if (pidfd >= 0 && syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0u))
		errno = 0; /* it has ended already */
	dtx_file_close(&pidfd);
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

/* Ends a worker that no client will ask about. */
static void discard(struct dtx_zworker *w)
{
	dtx_zworker_kill(w);
	close_ends(&w->ends); /* if it could not be killed, it ends because its sockets close */
	while (w->pid > 0 && waitpid(w->pid, NULL, 0) < 0 && errno == EINTR)
		;
	w->pid = 0;
	w->state = DTX_Z_NONE;
}

enum dtx_code dtx_zworker_make(struct dtx_zygote *z, bool reserve, size_t *at, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_zworker *w = z->worker;

	while (w < z->worker + DTX_ZYGOTE_WORKERS && w->state != DTX_Z_NONE)
		w++;
	DTX_ASSERT(w < z->worker + DTX_ZYGOTE_WORKERS, err);
	*w = (struct dtx_zworker){ .state = DTX_Z_STARTING,
		                   .reserve = reserve,
		                   .ends = no_ends,
		                   .client = -1,
		                   .since_ns = dtx_now_ns() };
	w->kill_at = w->since_ns + START_NS;
	*at = (size_t)(w - z->worker);
	rc = make_ends(&w->ends, err);
	if (rc == DTX_OK)
		rc = fork_worker(z, w, err);
	if (rc != DTX_OK)
		discard(w);
	z->workers++;
out:
	return rc;
}

enum dtx_code dtx_zworker_locked(struct dtx_zygote *z, struct dtx_zworker *w, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_wire wire = { .fd = w->ends.handover[0] };
	struct dtx_wire_msg msg;
	struct dtx_wire_refused refused;
	size_t nfds = 1;
	int got = dtx_wire_recv(&wire, &msg, &w->ends.listener, &nfds), bad;

	if (got == 1 && msg.type == DTX_WIRE_REFUSED) {
		memcpy(&refused, msg.payload, sizeof(refused));
		refused.layer[sizeof(refused.layer) - 1] = 0;
		DTX_FAIL(err, DTX_E_SNIPPET_SETUP_REFUSED, "%s: worker: %s", refused.layer,
		         strerror((int)refused.sys_errno));
	}
	/* A late worker is killed, perhaps after it sent its hand-over. */
	if (dtx_now_ns() > w->kill_at)
		DTX_ZREFUSE(err, "worker", "it took too long to lock itself down");
	if (got != 1 || msg.type != DTX_WIRE_LOCKED)
		DTX_ZREFUSE(err, "worker", "it ended while it locked itself down");
	memcpy(&w->audit, msg.payload, sizeof(w->audit));
	if (w->audit > 1 || nfds != w->audit)
		DTX_ZREFUSE(err, "worker", "what it handed over cannot be read");
	bad = dtx_limits_seal_fds(w->pid, z->lib_ro);
	if (bad)
		DTX_ZREFUSE(err, "rlimits", "nofile: %s", strerror(bad));
	if (w->audit)
		z->layers |= DTX_LAYER_NOTIFY;
	dtx_file_close(&w->ends.handover[0]);
	w->state = DTX_Z_IDLE;
	w->since_ns = dtx_now_ns();
	w->kill_at = 0;
out:
	if (rc != DTX_OK)
		discard(w);
	return rc;
}

bool dtx_zworker_grant(struct dtx_zygote *z, size_t worker, size_t client)
{
	struct dtx_zworker *w = &z->worker[worker];
	struct dtx_zclient *c = &z->client[client];
	struct dtx_zends *e = &w->ends;
	const int fds[] = {
		e->job[0], e->in, e->result, e->out[0], e->err[0], e->pidfd, e->listener
	};
	const struct dtx_wire_grant g = { ++z->leases, w->audit,
		                          z->pooled && w->since_ns <= c->asked_ns, 0 };
	int pidfd = e->pidfd;
	bool sent = dtx_wire_send(&c->wire, DTX_WIRE_GRANT, &g, sizeof(g), fds, 6 + w->audit);

	w->state = DTX_Z_LEASED;
	w->lease = g.lease;
	w->since_ns = dtx_now_ns();
	/* A private zygote has no other client, and its worker ends with it. */
	w->kill_at = z->pooled ? w->since_ns + UNARMED_NS : 0;
	w->client = (int)client;
	c->worker = (int)worker;
	c->turn = 0;
	e->pidfd = -1;
	close_ends(e);
	e->pidfd = pidfd;
	return sent;
}

enum dtx_code dtx_zworker_arm(struct dtx_zworker *w, struct dtx_wire_arm *a, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_limits l = { a->as_bytes, a->cpu_s, a->as_hard, a->cpu_hard };
	int bad;

	if (a->lease != w->lease || w->pid <= 0 || a->wall_ms < 0 || a->wall_ms > INT32_MAX)
		DTX_ZREFUSE(err, "control", "no such lease");
	bad = dtx_limits_arm(w->pid, &l);
	if (bad)
		DTX_ZREFUSE(err, "rlimits", "memory or cpu: %s", strerror(bad));
	a->as_bytes = l.as;
	a->cpu_s = l.cpu;
	w->session = a->session != 0;
	w->kill_at = dtx_now_ns() + (a->wall_ms + BACKSTOP_MS) * 1000000;
	w->armed = true;
out:
	return rc;
}

void dtx_zworker_kill(struct dtx_zworker *w)
{
	/* A pidfd is used because kill() would be one more call that the filter must allow. */
	if (w->ends.pidfd >= 0 && w->pid > 0 &&
	    syscall(SYS_pidfd_send_signal, w->ends.pidfd, SIGKILL, NULL, 0u))
		errno = 0; /* it has ended already */
}

bool dtx_zworker_reap(struct dtx_zworker *w, struct dtx_wire_exited *e)
{
	struct rusage ru;

	*e = (struct dtx_wire_exited){ .lease = w->lease };
	if (w->pid <= 0 || wait4(w->pid, &e->status, WNOHANG, &ru) != w->pid)
		return false;
	e->user_us = ru.ru_utime.tv_sec * 1000000 + ru.ru_utime.tv_usec;
	e->sys_us = ru.ru_stime.tv_sec * 1000000 + ru.ru_stime.tv_usec;
	e->max_rss = ru.ru_maxrss * 1024;
	w->pid = 0;
	close_ends(&w->ends);
	w->state = DTX_Z_NONE;
	return true;
}

size_t dtx_zworker_count(const struct dtx_zygote *z, enum dtx_zstate state)
{
	size_t i, n = 0;

	for (i = 0; i < DTX_ZYGOTE_WORKERS; i++)
		n += z->worker[i].state == state;
	return n;
}
