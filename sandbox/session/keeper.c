/* The keeper of a session, see session.h: one process with one poll loop. It gives the turn to one
 * client after the other, and ends the session when its time is over or anything is not as it must
 * be. Clients are processes of the same user; what they send is checked all the same. */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/log.h"
#include "core/base/text/num.h"
#include "core/base/text/str.h"
#include "sandbox/main/rundir.h"
#include "sandbox/main/super.h"
#include "sandbox/session/keeper.h"

enum { FD_LISTENER = 3, FD_FOLDER = 4, FD_FIRST = 5 };
enum { AT_PIDFD = 6 };
#define CLIENTS    DTX_KEEPER_CLIENTS
#define SILENT_NS  ((int64_t)5 * 1000000000)   /* a client that asks for nothing */
#define FINISH_NS  ((int64_t)600 * 1000000000) /* for a call that runs when the age is reached */
#define LOCK_MS    2000
#define SECONDS_NS ((int64_t)1000000000)

static void drop(struct dtx_keeper *k, int at)
{
	dtx_file_close(&k->client[at].wire.fd);
	k->client[at] = (struct dtx_keeper_client){ .wire = { .fd = -1 } };
	if (k->holder != at)
		return;
	/* Stops: going on with a worker whose client died during a call, or sent what no client
	 * sends. */
	k->holder = -1;
	k->over = true;
}

int dtx_keeper_add(struct dtx_keeper *k, int fd)
{
	int i;

	for (i = 0; i < CLIENTS && k->client[i].wire.fd >= 0; i++)
		;
	if (i == CLIENTS)
		return -1;
	k->client[i] = (struct dtx_keeper_client){ .wire = { .fd = fd }, .since_ns = dtx_now_ns() };
	return i;
}

/* Only processes of this user may connect. The folder's mode already says so; this proves it. */
static bool is_peer(int fd)
{
	struct ucred cred;
	socklen_t len = sizeof(cred);

	return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) && cred.uid == geteuid();
}

static void accept_client(struct dtx_keeper *k)
{
	int fd = accept4(k->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd >= 0 && is_peer(fd) && dtx_keeper_add(k, fd) >= 0)
		return;
	dtx_file_close(&fd);
}

static struct dtx_wire_session *state_now(struct dtx_keeper *k)
{
	int i;

	k->state.busy = k->holder >= 0;
	for (i = 0; i < CLIENTS; i++)
		k->state.busy += k->client[i].turn > 0;
	return &k->state;
}

/* Whether the worker is the process that it was, and is stopped. */
static bool worker_rests(const struct dtx_keeper *k)
{
	return !k->nfds ||
	       (k->state.worker > 0 && dtx_procfacts_pid(k->fd[AT_PIDFD]) == k->state.worker &&
	        dtx_procfacts_stopped(k->state.worker));
}

/* Takes the state after a call. The session is the same, and has one call more. */
static bool keep(struct dtx_keeper *k, const struct dtx_wire_msg *msg, const int *fds, size_t n)
{
	struct dtx_wire_session s;
	size_t i;

	memcpy(&s, msg->payload, sizeof(s));
	s.name[sizeof(s.name) - 1] = s.id[sizeof(s.id) - 1] = 0;
	if (s.calls != k->state.calls + 1 || strcmp(s.name, k->name) != 0 ||
	    (k->nfds ? n != 0 || strcmp(s.id, k->state.id) != 0
	             : (n != DTX_SESSION_FDS && n != DTX_SESSION_FDS - 1)))
		return false;
	for (i = 0; i < n; i++)
		k->fd[i] = fds[i];
	k->nfds = k->nfds ? k->nfds : n;
	s.born_us = k->state.born_us;
	s.idle_ms = k->state.idle_ms;
	s.age_ms = k->state.age_ms;
	s.keeper = k->state.keeper;
	s.used_us = dtx_wall_us();
	k->state = s;
	return true;
}

static void give_back(struct dtx_keeper *k)
{
	k->holder = -1;
	k->used_ns = dtx_now_ns();
	/* a first call that never ran leaves nothing to keep */
	k->over |= !worker_rests(k) || (!k->nfds && state_now(k)->busy == 0);
}

/* Does what a client asks for. Returns false if its connection must be closed. */
static bool ask(struct dtx_keeper *k, int at, const struct dtx_wire_msg *msg)
{
	struct dtx_keeper_client *c = &k->client[at];
	const struct dtx_wire_session *s = state_now(k);
	uint32_t what, n = s->busy;

	memcpy(&what, msg->payload, sizeof(what));
	switch (what) {
	case DTX_SESSION_INFO:
		return dtx_wire_send(&c->wire, DTX_WIRE_INFO, s, sizeof(*s), NULL, 0);
	case DTX_SESSION_NOW:
		if (n)
			return dtx_wire_send(&c->wire, DTX_WIRE_BUSY, &n, sizeof(n), NULL, 0);
		/* fallthrough */
	case DTX_SESSION_TURN:
		if (c->turn || k->holder == at)
			return false;
		c->turn = ++k->turns;
		return true;
	case DTX_SESSION_STOP:
		k->over = true;
		return dtx_wire_send(&c->wire, DTX_WIRE_STOPPED, s, sizeof(*s), NULL, 0);
	default: return false;
	}
}

/* Handles one message. Returns false if the client is gone or sent what does not fit. */
static bool hear(struct dtx_keeper *k, int at)
{
	struct dtx_keeper_client *c = &k->client[at];
	bool holds = k->holder == at, ok = false;
	int fds[DTX_WIRE_FDS];
	size_t n = DTX_COUNT(fds), i;
	struct dtx_wire_msg msg;
	int got = holds ? dtx_wire_recv(&c->wire, &msg, fds, &n)
	                : dtx_wire_recv(&c->wire, &msg, NULL, NULL);

	if (got == -1 && (errno == EAGAIN || errno == EWOULDBLOCK))
		return true;
	if (got != 1)
		return false;
	if (!holds)
		return msg.type == DTX_WIRE_ASK_SESSION && ask(k, at, &msg);
	if (msg.type == DTX_WIRE_KEEP)
		ok = keep(k, &msg, fds, n);
	else if (msg.type == DTX_WIRE_BACK)
		ok = !n;
	for (i = 0; !ok && i < n; i++)
		dtx_file_close(&fds[i]);
	if (ok)
		give_back(k);
	return ok;
}

/* Gives the turn to the client that has waited longest. */
static void give_turn(struct dtx_keeper *k)
{
	int i, best = -1;
	struct dtx_wire_session *s;

	for (i = 0; i < CLIENTS; i++)
		if (k->client[i].turn && (best < 0 || k->client[i].turn < k->client[best].turn))
			best = i;
	if (k->holder >= 0 || best < 0 || k->over)
		return;
	k->client[best].turn = 0;
	s = state_now(k);
	if (dtx_wire_send(&k->client[best].wire, DTX_WIRE_TURN, s, sizeof(*s), k->fd, k->nfds))
		k->holder = best;
	else
		drop(k, best);
}

/* Milliseconds until something is due; ends the session if its time is over. */
static int due(struct dtx_keeper *k)
{
	int64_t now = dtx_now_ns(), next = 60 * SECONDS_NS, end;
	int i;

	end = k->holder < 0 && !state_now(k)->busy
	              ? DTX_MIN(k->used_ns + k->idle_ns, k->born_ns + k->age_ns)
	              : k->born_ns + k->age_ns + FINISH_NS;
	if (now >= end)
		k->over = true;
	next = DTX_MIN(next, end - now);
	for (i = 0; i < CLIENTS; i++) {
		if (k->client[i].wire.fd < 0 || k->client[i].turn || k->holder == i)
			continue;
		next = DTX_MIN(next, k->client[i].since_ns + SILENT_NS - now);
		if (now - k->client[i].since_ns >= SILENT_NS)
			drop(k, i);
	}
	return (int)DTX_MAX(next / 1000000 + 1, (int64_t)1);
}

void dtx_keeper_step(struct dtx_keeper *k, int most_ms)
{
	struct pollfd p[CLIENTS + 2];
	int i, ms;

	give_turn(k);
	ms = due(k);
	if (k->over)
		return;
	p[0] = (struct pollfd){ .fd = k->listener, .events = POLLIN };
	p[1] = (struct pollfd){ .fd = k->nfds ? k->fd[AT_PIDFD] : -1, .events = POLLIN };
	for (i = 0; i < CLIENTS; i++)
		p[2 + i] = (struct pollfd){ .fd = k->client[i].wire.fd, .events = POLLIN };
	if (poll(p, CLIENTS + 2, DTX_MIN(ms, most_ms)) < 0) {
		k->over |= errno != EINTR;
		return;
	}
	k->over |= p[1].revents != 0; /* the worker has ended */
	for (i = 0; i < CLIENTS && !k->over; i++)
		if (p[2 + i].revents && k->client[i].wire.fd == p[2 + i].fd && !hear(k, i))
			drop(k, i);
	if (p[0].revents && !k->over)
		accept_client(k);
}

/* Ends the session: the worker's memory is free at once, and nothing of it stays in a file. A
 * client that finds the socket while the lock is held waits for the lock. */
static void end(struct dtx_keeper *k)
{
	char path[DTX_SESSION_SOCK];
	int locked, i;

	if (k->nfds && syscall(SYS_pidfd_send_signal, k->fd[AT_PIDFD], SIGKILL, NULL, 0u))
		errno = 0; /* it has ended, or ends when its zygote sees that we do */
	for (i = 0; i < (int)k->nfds; i++)
		dtx_file_close(&k->fd[i]);
	locked = dtx_rundir_lock(k->folder, DTX_SESSION_LOCK, LOCK_MS);
	dtx_session_socket(k->name, path);
	if (locked >= 0)
		unlinkat(k->folder, path, 0);
	/* those that wait should not take a new session of that name for this one */
	for (i = 0; i < CLIENTS; i++)
		if (k->client[i].turn && !dtx_wire_send(&k->client[i].wire, DTX_WIRE_STOPPED,
		                                        &k->state, sizeof(k->state), NULL, 0))
			errno = 0;
	dtx_file_close(&locked);
}

static bool seconds(const char *text, int64_t *ns)
{
	int64_t s;

	if (!dtx_num_parse_i64(text, strlen(text), &s) || s < 1 || s > INT32_MAX)
		return false;
	*ns = s * SECONDS_NS;
	return true;
}

void dtx_keeper_init(struct dtx_keeper *k, const char *name, int listener, int folder)
{
	int i;

	k->listener = listener;
	k->folder = folder;
	k->holder = -1;
	dtx_str_copy(k->name, sizeof(k->name), dtx_str_of(name));
	dtx_str_copy(k->state.name, sizeof(k->state.name), dtx_str_of(name));
	k->born_ns = k->used_ns = dtx_now_ns();
	k->state.born_us = k->state.used_us = dtx_wall_us();
	k->state.idle_ms = k->idle_ns / 1000000;
	k->state.age_ms = k->age_ns / 1000000;
	k->state.keeper = getpid();
	for (i = 0; i < CLIENTS; i++)
		k->client[i].wire.fd = -1;
}

/* Arguments: NAME IDLE_SECONDS AGE_SECONDS. */
int dtx_keeper_main(int argc, char **argv)
{
	static struct dtx_keeper k;
	const struct rlimit none = { 0, 0 };

	/* Stops: core files, new rights, and other processes of this user that look inside. */
	umask(077);
	if (argc != 4 || !dtx_session_name_ok(argv[1]) || !seconds(argv[2], &k.idle_ns) ||
	    !seconds(argv[3], &k.age_ns) || setrlimit(RLIMIT_CORE, &none) ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) ||
	    chdir("/"))
		return 2;
	dtx_keeper_init(&k, argv[1], FD_LISTENER, FD_FOLDER);
	/* the client that started us has the turn */
	k.holder = dtx_keeper_add(&k, FD_FIRST);
	while (!k.over)
		dtx_keeper_step(&k, INT_MAX);
	end(&k);
	return 0;
}
