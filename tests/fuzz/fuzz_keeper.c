/* Clients of a session's keeper that send anything. The input is a list of actions: a byte that
 * says what is done, a byte that says which of four clients does it, and what that needs. Checked
 * are that only the client with the turn gets descriptors, that one at a time has it, and that the
 * number of calls only counts up by one. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/file.h"
#include "sandbox/session/keeper.h"

#define PEERS   4
#define ACTIONS 64
#define PIDFD   6 /* its place among the descriptors of a worker */

enum action { RAW, FORMED, KEEP_IT, READ, LEAVE, STEP, ACTION_COUNT };

struct input {
	const uint8_t *at;
	size_t left;
};

struct peer {
	struct dtx_wire wire; /* the client's end; fd -1: it is not connected */
	int index;            /* its place in the keeper */
	struct dtx_wire_session state;
};

struct scene {
	struct dtx_keeper keeper;
	struct peer peer[PEERS];
	uint32_t calls;
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned take(struct input *in)
{
	if (!in->left)
		return 0;
	in->left--;
	return *in->at++;
}

static unsigned take16(struct input *in)
{
	unsigned high = take(in);

	return high << 8 | take(in);
}

/* A process that stays stopped, as the worker of a session does between calls. */
static int worker(pid_t *pid)
{
	static pid_t one;

	if (!one) {
		one = fork();
		if (one == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
			for (;;)
				raise(SIGSTOP);
		}
		waitpid(one, NULL, WUNTRACED);
	}
	*pid = one;
	return (int)syscall(SYS_pidfd_open, one, 0);
}

static void connect_peer(struct scene *s, size_t i)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair))
		abort();
	s->peer[i] = (struct peer){ .wire = { .fd = pair[0] } };
	s->peer[i].index = dtx_keeper_add(&s->keeper, pair[1]);
}

static void leave(struct scene *s, size_t i)
{
	dtx_file_close(&s->peer[i].wire.fd);
}

/* Reads an answer. Only the client that has the turn gets descriptors. */
static void read_answer(struct scene *s, struct peer *p)
{
	int fds[DTX_WIRE_FDS];
	size_t n = DTX_COUNT(fds), i;
	struct dtx_wire_msg msg;
	int got = dtx_wire_recv(&p->wire, &msg, fds, &n);

	if (got == -2)
		abort(); /* the keeper itself sends what does not fit */
	if (got != 1)
		return;
	if (n && (msg.type != DTX_WIRE_TURN || s->keeper.nfds != n))
		abort();
	for (i = 0; i < n; i++)
		dtx_file_close(&fds[i]);
	if (msg.len == sizeof(p->state))
		memcpy(&p->state, msg.payload, sizeof(p->state));
}

static void send_raw(struct peer *p, struct input *in)
{
	size_t want = take16(in), len = DTX_MIN(want % (DTX_WIRE_MAX + 64), in->left);

	if (send(p->wire.fd, in->at, len, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		errno = 0;
	in->at += len;
	in->left -= len;
}

/* Sends a message whose header fits: of any type, the payload cut or filled with zeros, and with
 * some descriptors. */
static void send_formed(struct peer *p, struct input *in)
{
	static const size_t len[] = { 0, 4, sizeof(struct dtx_wire_session) };
	unsigned char payload[sizeof(struct dtx_wire_session)] = { 0 };
	uint16_t type = (uint16_t)take(in);
	size_t size = len[take(in) % DTX_COUNT(len)];
	size_t nfds = take(in) % (DTX_WIRE_FDS + 1), n = DTX_MIN(size, in->left), i;
	int fds[DTX_WIRE_FDS];

	memcpy(payload, in->at, n);
	in->at += n;
	in->left -= n;
	for (i = 0; i < nfds; i++)
		fds[i] = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (!dtx_wire_send(&p->wire, type, payload, size, fds, nfds))
		errno = 0;
	for (i = 0; i < nfds; i++)
		dtx_file_close(&fds[i]);
}

/* What a client sends at the end of its call, with a part of it changed. */
static void send_keep(struct scene *s, struct peer *p, struct input *in)
{
	struct dtx_wire_session next = p->state;
	unsigned nfds = take(in) % (DTX_WIRE_FDS + 1), at = take16(in);
	int fds[DTX_WIRE_FDS];
	size_t i;

	memcpy(next.name, s->keeper.name, sizeof(s->keeper.name));
	next.calls = s->calls + 1;
	for (i = 0; i < DTX_WIRE_FDS; i++)
		fds[i] =
			i == PIDFD ? worker(&next.worker) : open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (at < sizeof(next))
		((unsigned char *)&next)[at] ^= (unsigned char)take(in);
	if (!dtx_wire_send(&p->wire, DTX_WIRE_KEEP, &next, sizeof(next), fds, nfds))
		errno = 0;
	for (i = 0; i < DTX_WIRE_FDS; i++)
		dtx_file_close(&fds[i]);
}

static void check(struct scene *s)
{
	const struct dtx_keeper *k = &s->keeper;

	if (k->holder >= DTX_KEEPER_CLIENTS ||
	    (k->holder >= 0 && (k->client[k->holder].wire.fd < 0 || k->client[k->holder].turn)))
		abort();
	if (k->state.calls != s->calls && k->state.calls != s->calls + 1)
		abort();
	if ((k->state.calls > 0) != (k->nfds > 0) || strcmp(k->state.name, k->name) != 0)
		abort();
	s->calls = k->state.calls;
}

static void act(struct scene *s, struct input *in)
{
	enum action what = (enum action)(take(in) % ACTION_COUNT);
	size_t i = take(in) % PEERS;
	struct peer *p = &s->peer[i];

	if (p->wire.fd < 0)
		connect_peer(s, i);
	switch (what) {
	case RAW: send_raw(p, in); break;
	case FORMED: send_formed(p, in); break;
	case KEEP_IT: send_keep(s, p, in); break;
	case READ: read_answer(s, p); break;
	case LEAVE: leave(s, i); break;
	default: break;
	}
	dtx_keeper_step(&s->keeper, 0);
	check(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct scene s; /* a hundred buffers of messages */
	struct input in = { data, size };
	size_t i, n;

	memset(&s, 0, sizeof(s));
	s.keeper.idle_ns = s.keeper.age_ns = (int64_t)3600 * 1000000000;
	dtx_keeper_init(&s.keeper, "s", -1, -1);
	for (i = 0; i < PEERS; i++)
		s.peer[i].wire.fd = -1;
	connect_peer(&s, 0);
	s.keeper.holder = s.peer[0].index; /* it has started the keeper */
	for (n = 0; n < ACTIONS && in.left && !s.keeper.over; n++)
		act(&s, &in);
	for (i = 0; i < PEERS; i++)
		leave(&s, i);
	for (i = 0; i < DTX_KEEPER_CLIENTS; i++)
		dtx_file_close(&s.keeper.client[i].wire.fd);
	for (i = 0; i < s.keeper.nfds; i++)
		dtx_file_close(&s.keeper.fd[i]);
	return 0;
}
