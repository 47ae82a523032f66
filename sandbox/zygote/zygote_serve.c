/* The clients of a zygote, and which of them gets a worker when. See zygote.h.
 *
 * The aim is that a worker is ready when a client asks for one, without taking the processor
 * from runs that are under way. Most of this file decides when there is time to fork, warm up
 * and learn. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/log.h"
#include "core/base/text/str.h"
#include "core/plan/exec/provider.h"
#include "sandbox/zygote/zygote.h"

#define MS         ((int64_t)1000000)
#define QUEUE_MAX  64
#define RESERVE    2            /* idle workers to keep while there is work */
#define RESERVE_NS (30000 * MS) /* after so long without work, one less */
#define BREATH_NS  (3 * MS)     /* wait so long after a run: the next one may come at once */
#define LONG_NS    (12 * MS)    /* a run that lasts longer is not hurt by a fork next to it */
/* a pool is replaced after so long: its address layout must not stay the same for ever */
#define RETIRE_NS    (3600000 * MS)
#define RETIRE_FORKS 1000
#define RETIRE_RSS   ((uint64_t)32 << 20)
/* of the warm-up: CPython 3.11 specialises code that ran eight times */
#define ROUNDS       10
#define PAUSE_NS     (200 * MS)   /* without a client for so long, there is time for a round */
#define LINGER_NS    (30000 * MS) /* how long a retiring pool waits for clients */
#define FAILURES_MAX 3
#define POLL_MAX     (1 + DTX_ZYGOTE_CLIENTS + 2 * DTX_ZYGOTE_WORKERS)

/* --- state --- */

static size_t count_clients(const struct dtx_zygote *z)
{
	size_t i, n = 0;

	for (i = 0; i < DTX_ZYGOTE_CLIENTS; i++)
		n += z->client[i].wire.fd >= 0;
	return n;
}

/* The workers of sessions, which rest most of the time. They are not counted where the question is
 * how busy the machine is. */
static size_t count_sessions(const struct dtx_zygote *z)
{
	size_t i, n = 0;

	for (i = 0; i < DTX_ZYGOTE_WORKERS; i++)
		n += z->worker[i].state == DTX_Z_LEASED && z->worker[i].session;
	return n;
}

/* Whether a client is here that may ask for something at any moment. */
static bool has_guests(const struct dtx_zygote *z)
{
	return count_clients(z) > count_sessions(z);
}

static size_t count_waiting(const struct dtx_zygote *z)
{
	size_t i, n = 0;

	for (i = 0; i < DTX_ZYGOTE_CLIENTS; i++)
		n += z->client[i].turn > 0;
	return n;
}

static uint64_t rss(void)
{
	struct rusage ru;

	return getrusage(RUSAGE_SELF, &ru) ? 0 : (uint64_t)ru.ru_maxrss << 10;
}

static bool is_retiring(const struct dtx_zygote *z)
{
	return z->pooled && (z->workers >= RETIRE_FORKS || dtx_now_ns() - z->born_ns > RETIRE_NS ||
	                     rss() > z->born_rss + RETIRE_RSS);
}

/* --- clients --- */

void dtx_zygote_refuse(struct dtx_wire *wire, const struct dtx_err *err)
{
	struct dtx_wire_refused r = { 0, "", "" };
	struct dtx_str text = dtx_str_of(err->msg), layer;

	if (dtx_str_next(&text, ':', &layer))
		dtx_str_copy(r.layer, sizeof(r.layer), layer);
	dtx_str_copy(r.text, sizeof(r.text), dtx_str_of(err->msg));
	/* A client that is gone needs no reason. */
	if (!dtx_wire_send(wire, DTX_WIRE_REFUSED, &r, sizeof(r), NULL, 0))
		errno = 0;
}

/* Forgets a client and ends its worker. */
static void drop(struct dtx_zygote *z, struct dtx_zclient *c)
{
	if (c->worker >= 0) {
		z->worker[c->worker].client = -1;
		dtx_zworker_kill(&z->worker[c->worker]);
	}
	dtx_file_close(&c->wire.fd);
	memset(c, 0, sizeof(*c));
	c->wire.fd = -1;
	c->worker = -1;
}

/* Only processes of the user who started the pool may connect. */
static bool is_peer(const struct dtx_zygote *z, int fd)
{
	struct ucred cred;
	socklen_t len = sizeof(cred);

	return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) && cred.uid == z->peer;
}

/* Sends BUSY. Without an answer the client would start its own zygote, as would all others
 * beyond the limit, which the machine could not bear. */
static void turn_away(int fd, size_t clients, bool peer)
{
	struct dtx_wire wire = { .fd = fd };
	uint32_t n = (uint32_t)clients;

	if (peer && !dtx_wire_send(&wire, DTX_WIRE_BUSY, &n, sizeof(n), NULL, 0))
		errno = 0;
}

static void accept_client(struct dtx_zygote *z)
{
	int fd = accept4(z->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	size_t i;

	if (fd < 0)
		return;
	for (i = 0; i < DTX_ZYGOTE_CLIENTS && z->client[i].wire.fd >= 0; i++)
		;
	if (i == DTX_ZYGOTE_CLIENTS || !is_peer(z, fd)) {
		turn_away(fd, i, is_peer(z, fd));
		dtx_file_close(&fd);
		return;
	}
	z->client[i].wire.fd = fd;
}

void dtx_zygote_refuse_all(struct dtx_zygote *z, const struct dtx_err *err)
{
	size_t i;

	if (z->pooled && z->listener >= 0)
		for (i = 0; i < DTX_ZYGOTE_CLIENTS; i++)
			accept_client(z);
	for (i = 0; i < DTX_ZYGOTE_CLIENTS; i++)
		if (z->client[i].wire.fd >= 0)
			dtx_zygote_refuse(&z->client[i].wire, err);
}

/* The size of the address space in pages, which is also that of a worker. Main asks because it
 * may not be allowed to look at the workers. */
static uint32_t vm_pages(int statm)
{
	char text[64];
	ssize_t n = -1;

	if (statm >= 0 && lseek(statm, 0, SEEK_SET) == 0)
		n = read(statm, text, sizeof(text) - 1);
	text[n > 0 ? n : 0] = 0;
	return (uint32_t)strtoul(text, NULL, 10);
}

static bool welcome(struct dtx_zygote *z, struct dtx_zclient *c, const struct dtx_wire_msg *msg)
{
	struct dtx_wire_hello hello;
	struct dtx_wire_welcome w = { .layers = z->layers, .landlock = z->landlock };

	memcpy(&hello, msg->payload, sizeof(hello));
	hello.key[sizeof(hello.key) - 1] = 0;
	if (hello.hash_seed != z->hash_seed || strcmp(hello.key, z->key) != 0)
		return false;
	memcpy(w.filter_hash, z->filters.hash, DTX_MIN(sizeof(w.filter_hash) - 1, (size_t)64));
	memcpy(w.python, z->py.python, sizeof(w.python));
	memcpy(w.pandas, z->py.pandas, sizeof(w.pandas));
	memcpy(w.numpy, z->py.numpy, sizeof(w.numpy));
	memcpy(w.abi, z->py.abi, sizeof(w.abi));
	w.workers = z->workers;
	w.idle = (uint32_t)dtx_zworker_count(z, DTX_Z_IDLE);
	w.busy = (uint32_t)dtx_zworker_count(z, DTX_Z_LEASED);
	w.retiring = is_retiring(z);
	w.up_ms = (dtx_now_ns() - z->born_ns) / MS;
	w.rounds = z->rounds;
	w.cold = z->cold;
	w.pages = (uint32_t)dtx_prefault_child_pages(&z->hot);
	w.profile = z->lib_ro ? DTX_JAIL_LIB_RO : DTX_JAIL_SEALED;
	w.vm_pages = vm_pages(z->statm);
	c->greeted = true;
	return dtx_wire_send(&c->wire, DTX_WIRE_WELCOME, &w, sizeof(w), NULL, 0);
}

/* Puts the client into the queue, or sends BUSY with the length of a queue that is full. */
static bool queue(struct dtx_zygote *z, struct dtx_zclient *c)
{
	uint32_t waiting = (uint32_t)count_waiting(z);

	if (!c->greeted || c->worker >= 0 || c->turn)
		return false;
	if (waiting >= QUEUE_MAX)
		return dtx_wire_send(&c->wire, DTX_WIRE_BUSY, &waiting, sizeof(waiting), NULL, 0);
	c->turn = ++z->turns;
	c->asked_ns = dtx_now_ns();
	return true;
}

static bool arm(struct dtx_zygote *z, struct dtx_zclient *c, const struct dtx_wire_msg *msg)
{
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_wire_arm a;

	memcpy(&a, msg->payload, sizeof(a));
	if (c->worker < 0)
		return false;
	if (dtx_zworker_arm(&z->worker[c->worker], &a, &err) != DTX_OK) {
		dtx_zygote_refuse(&c->wire, &err);
		return false;
	}
	return dtx_wire_send(&c->wire, DTX_WIRE_ARMED, &a, sizeof(a), NULL, 0);
}

/* Handles one message of a client. Returns false if the client is gone or broke the protocol. */
static bool hear(struct dtx_zygote *z, struct dtx_zclient *c)
{
	struct dtx_wire_msg msg;
	int got = dtx_wire_recv(&c->wire, &msg, NULL, NULL);

	if (got == -1 && (errno == EAGAIN || errno == EWOULDBLOCK))
		return true;
	/* The end of a connection counts as use, too, because its run may have been long. But a
	 * client that never greeted does not: a starting pool connects only to see whether this
	 * one lives. */
	if (got == 1 || c->greeted)
		z->used_ns = dtx_now_ns();
	if (got != 1)
		return false;
	switch (msg.type) {
	case DTX_WIRE_HELLO: return welcome(z, c, &msg);
	case DTX_WIRE_LEASE: return queue(z, c);
	case DTX_WIRE_ARM: return arm(z, c, &msg);
	case DTX_WIRE_KILL:
		if (c->worker >= 0)
			dtx_zworker_kill(&z->worker[c->worker]);
		return c->worker >= 0;
	default: return false;
	}
}

/* --- which client gets a worker, and when workers are made --- */

static struct dtx_zclient *next_waiting(struct dtx_zygote *z)
{
	struct dtx_zclient *best = NULL;
	size_t i;

	for (i = 0; i < DTX_ZYGOTE_CLIENTS; i++)
		if (z->client[i].turn && (!best || z->client[i].turn < best->turn))
			best = &z->client[i];
	return best;
}

static int find_idle(const struct dtx_zygote *z)
{
	int i, best = -1;

	for (i = 0; i < DTX_ZYGOTE_WORKERS; i++)
		if (z->worker[i].state == DTX_Z_IDLE &&
		    (best < 0 || z->worker[i].since_ns < z->worker[best].since_ns))
			best = i;
	return best;
}

/* A worker could not be made. A pool passes the reason to the client that waits, and goes on;
 * after FAILURES_MAX such failures, or if the zygote is private, it ends. */
static enum dtx_code failed(struct dtx_zygote *z, const struct dtx_err *why, struct dtx_err *err)
{
	struct dtx_zclient *c = next_waiting(z);

	z->failures++;
	if (z->pooled && z->failures < FAILURES_MAX) {
		if (c) {
			dtx_zygote_refuse(&c->wire, why);
			drop(z, c);
		}
		return DTX_OK;
	}
	dtx_err_set(err, why->code, __FILE__, __LINE__, "%s", why->msg);
	return why->code;
}

static enum dtx_code make(struct dtx_zygote *z, bool reserve, struct dtx_err *err)
{
	struct dtx_err own = DTX_ERR_INIT;
	size_t at;
	enum dtx_code rc = dtx_zworker_make(z, reserve, &at, &own);

	if (rc != DTX_OK)
		rc = failed(z, &own, err);
	dtx_err_clear(&own);
	return rc;
}

static bool is_long(const struct dtx_zworker *w)
{
	return w->armed && dtx_now_ns() - w->since_ns > LONG_NS;
}

/* Whether there is time to prepare a worker. Forking takes milliseconds in which no client is
 * answered, and takes a core that a short run and its client would share. So it is done while
 * only long runs go on and a core is free, or when no client has been here for a moment. When
 * all cores are busy it is cheaper to fork on demand. */
static bool has_time(const struct dtx_zygote *z)
{
	size_t i, running = 0;

	for (i = 0; i < DTX_ZYGOTE_WORKERS; i++) {
		if (z->worker[i].state != DTX_Z_LEASED || z->worker[i].session)
			continue;
		if (!is_long(&z->worker[i]))
			return false;
		running++;
	}
	if (running)
		return running < z->cores;
	return dtx_now_ns() - z->used_ns >= BREATH_NS;
}

/* Whether all workers are running on their own, none is ready for the next client, and a core is
 * free. Then one is made now: it costs no more than when a client asks. */
static bool runs_short(const struct dtx_zygote *z)
{
	size_t i, running = 0;

	for (i = 0; i < DTX_ZYGOTE_WORKERS; i++) {
		const struct dtx_zworker *w = &z->worker[i];

		if (w->state == DTX_Z_IDLE || w->state == DTX_Z_STARTING ||
		    (w->state == DTX_Z_LEASED && !w->armed))
			return false;
		running += w->state == DTX_Z_LEASED && !w->session;
	}
	return running && running < z->cores;
}

size_t dtx_zygote_reserve(const struct dtx_zygote *z)
{
	if (!z->pooled || is_retiring(z))
		return 0;
	if (!has_time(z))
		return runs_short(z);
	return dtx_now_ns() - z->used_ns > RESERVE_NS ? RESERVE - 1 : RESERVE;
}

static void end_idle(struct dtx_zygote *z)
{
	size_t i;

	for (i = 0; i < DTX_ZYGOTE_WORKERS; i++) {
		if (z->worker[i].state != DTX_Z_IDLE)
			continue;
		dtx_zworker_kill(&z->worker[i]);
		z->worker[i].state = DTX_Z_ENDING;
	}
}

static void warm_up(struct dtx_zygote *z)
{
	z->cold += !dtx_py_warm(DTX_PY_ROUND);
	z->rounds++;
	if (z->rounds == ROUNDS)
		end_idle(z); /* these were forked before the zygote was warm */
}

/* Whether to do another round of the warm-up. A client that connects during a round must wait,
 * so rounds are not done while runs follow each other. */
static bool warms_on(const struct dtx_zygote *z)
{
	return z->rounds < ROUNDS && !has_guests(z) && dtx_now_ns() - z->used_ns > PAUSE_NS;
}

/* Whether to learn the pages of a run now: after the first round and again after the last, while
 * no client is here, because none would be answered. Live workers that have not copied their
 * pages yet would make those pages look shared, so there must be none of them. */
static bool learns(const struct dtx_zygote *z)
{
	size_t i;

	if (z->hot.maps < 0 || has_guests(z) ||
	    (z->learned && (z->rounds < ROUNDS || z->learned == ROUNDS)))
		return false;
	for (i = 0; i < DTX_ZYGOTE_WORKERS; i++)
		if (z->worker[i].state == DTX_Z_STARTING ||
		    (z->worker[i].state != DTX_Z_NONE && !z->worker[i].reserve))
			return false;
	return true;
}

static enum dtx_code attend(struct dtx_zygote *z, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t ready, live, most, want = dtx_zygote_reserve(z), waiting;
	struct dtx_zclient *c;
	int idle;

	while ((c = next_waiting(z)) && (idle = find_idle(z)) >= 0)
		if (!dtx_zworker_grant(z, (size_t)idle, (size_t)(c - z->client)))
			drop(z, c);
	waiting = count_waiting(z);
	ready = dtx_zworker_count(z, DTX_Z_IDLE) + dtx_zworker_count(z, DTX_Z_STARTING);
	live = ready + dtx_zworker_count(z, DTX_Z_LEASED) + dtx_zworker_count(z, DTX_Z_ENDING);
	most = DTX_MIN(z->live_max + count_sessions(z), (size_t)DTX_ZYGOTE_WORKERS);
	for (; ready < waiting && live < most; ready++, live++)
		DTX_TRY(make(z, false, err));
	/* Only one at a time, so that a client that comes meanwhile is answered. */
	if (ready < want + waiting && live < most) {
		if (!z->rounds && !has_guests(z))
			warm_up(z);
		if (learns(z))
			dtx_zworker_learn(z);
		DTX_TRY(make(z, has_time(z), err));
	} else if (want && warms_on(z)) {
		warm_up(z);
	}
out:
	return rc;
}

/* --- the poll loop --- */

static void reap(struct dtx_zygote *z, struct dtx_zworker *w)
{
	struct dtx_wire_exited e;
	struct dtx_zclient *c = w->client >= 0 ? &z->client[w->client] : NULL;

	if (!dtx_zworker_reap(w, &e) || !c)
		return;
	c->worker = -1;
	if (!dtx_wire_send(&c->wire, DTX_WIRE_EXITED, &e, sizeof(e), NULL, 0))
		drop(z, c);
}

/* Handles the hand-over of a starting worker. */
static enum dtx_code locked(struct dtx_zygote *z, struct dtx_zworker *w, struct dtx_err *err)
{
	struct dtx_err own = DTX_ERR_INIT;
	enum dtx_code rc = dtx_zworker_locked(z, w, &own);

	if (rc == DTX_OK)
		z->failures = 0;
	else
		rc = failed(z, &own, err);
	dtx_err_clear(&own);
	return rc;
}

enum { WHO_LISTENER = -1, WHO_CLIENT, WHO_START, WHO_WORKER };
struct watch {
	struct pollfd p[POLL_MAX];
	struct {
		int what;
		size_t at;
	} who[POLL_MAX];
	size_t n;
};

static void add(struct watch *w, int fd, int what, size_t at)
{
	if (fd < 0)
		return;
	w->p[w->n] = (struct pollfd){ .fd = fd, .events = POLLIN };
	w->who[w->n].what = what;
	w->who[w->n++].at = at;
}

static void watch_all(const struct dtx_zygote *z, struct watch *w)
{
	size_t i;

	w->n = 0;
	add(w, z->listener, WHO_LISTENER, 0);
	for (i = 0; i < DTX_ZYGOTE_CLIENTS; i++)
		add(w, z->client[i].wire.fd, WHO_CLIENT, i);
	for (i = 0; i < DTX_ZYGOTE_WORKERS; i++) {
		if (z->worker[i].state == DTX_Z_NONE)
			continue;
		if (z->worker[i].state == DTX_Z_STARTING)
			add(w, z->worker[i].ends.handover[0], WHO_START, i);
		add(w, z->worker[i].ends.pidfd, WHO_WORKER, i);
	}
}

static enum dtx_code handle(struct dtx_zygote *z, const struct watch *w, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t i;

	for (i = 0; i < w->n; i++) {
		size_t at = w->who[i].at;

		if (!w->p[i].revents)
			continue;
		if (w->who[i].what == WHO_LISTENER)
			accept_client(z);
		else if (w->who[i].what == WHO_CLIENT && z->client[at].wire.fd == w->p[i].fd) {
			if (!hear(z, &z->client[at]))
				drop(z, &z->client[at]);
		} else if (w->who[i].what == WHO_START && z->worker[at].state == DTX_Z_STARTING)
			DTX_TRY(locked(z, &z->worker[at], err));
		else if (w->who[i].what == WHO_WORKER && z->worker[at].state != DTX_Z_STARTING)
			reap(z, &z->worker[at]);
	}
out:
	return rc;
}

/* Returns the milliseconds until something is due, and kills workers that are overdue. */
static int due(struct dtx_zygote *z)
{
	int64_t now = dtx_now_ns(), next = 1000 * MS;
	size_t i;

	for (i = 0; i < DTX_ZYGOTE_WORKERS; i++) {
		const struct dtx_zworker *w = &z->worker[i];

		if (w->state == DTX_Z_NONE)
			continue;
		if (w->kill_at && now > w->kill_at)
			dtx_zworker_kill(&z->worker[i]);
		if (z->pooled && w->state == DTX_Z_LEASED && !w->session && !is_long(w))
			next = DTX_MIN(next, LONG_NS);
	}
	if (z->pooled && z->rounds < ROUNDS)
		next = DTX_MIN(next, PAUSE_NS / 4);
	if (z->pooled && now - z->used_ns < BREATH_NS)
		next = BREATH_NS;
	return (int)(next / MS);
}

static bool over(const struct dtx_zygote *z)
{
	int64_t quiet = dtx_now_ns() - z->used_ns;

	if (!z->pooled)
		return z->client[0].wire.fd < 0;
	return !count_clients(z) &&
	       quiet > (is_retiring(z) ? DTX_MIN(LINGER_NS, z->idle_ns) : z->idle_ns);
}

enum dtx_code dtx_zygote_serve(struct dtx_zygote *z, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct watch w;
	size_t i;

	z->born_ns = z->used_ns = dtx_now_ns();
	z->born_rss = rss();
	while (!over(z)) {
		DTX_TRY(attend(z, err));
		watch_all(z, &w);
		if (poll(w.p, (nfds_t)w.n, due(z)) < 0 && errno != EINTR)
			DTX_ZREFUSE(err, "control", "poll: %s", strerror(errno));
		DTX_TRY(handle(z, &w, err));
	}
out:
	for (i = 0; i < DTX_ZYGOTE_WORKERS; i++)
		dtx_zworker_kill(&z->worker[i]);
	return rc;
}
