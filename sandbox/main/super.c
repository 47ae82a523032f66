/* The supervisor: makes one run, see super.h. It uses one poll loop in the calling thread, no
 * threads of its own and no signal handlers. */
#include "sandbox/main/super.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/file.h"
#include "sandbox/zygote/launch.h"
#include "sandbox/policy/notify.h"
#include "sandbox/policy/ns.h"
#include "sandbox/main/warmpool.h"

#define SETUP_MS   60000 /* on a busy machine a zygote takes seconds to start */
#define POOL_MS    20000 /* a pool that has started says WELCOME at once */
#define TICK_MS    20    /* how often to look whether the run is cancelled */
#define SEALS_SIZE (F_SEAL_SHRINK | F_SEAL_GROW)

/* CPU time that all calls of a session together can have: no call gets near it */
#define SESSION_CPU_S ((uint64_t)1 << 30)
#define PAGE          ((uint64_t)4096)
#define ROUND_UP(n)   (((n) + PAGE - 1) / PAGE * PAGE)

#define FILES_NEEDED 40u
#define PYTHON_BYTES ((uint64_t)400 << 20) /* address space of Python with pandas imported */

#define REFUSE(err, layer, ...) DTX_FAIL((err), DTX_E_SNIPPET_SETUP_REFUSED, layer ": " __VA_ARGS__)

static int64_t us_since(int64_t ns)
{
	return (dtx_now_ns() - ns) / 1000;
}

static bool cancelled(const struct dtx_box *b)
{
	return b->spec.cancelled && b->spec.cancelled(b->spec.cancel_arg);
}

/* --- set-up --- */

/* EPIPE is not an error here: the zygote has refused already, and the reason is read where its
 * answer is expected. */
static enum dtx_code say(struct dtx_box *b, uint16_t type, const void *payload, size_t len,
                         struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (!dtx_wire_send(&b->ctl, type, payload, len, NULL, 0) && errno != EPIPE &&
	    errno != ECONNRESET)
		REFUSE(err, "control", "%s", strerror(errno));
out:
	return rc;
}

static enum dtx_code greet(struct dtx_box *b, struct dtx_err *err)
{
	struct dtx_wire_hello hello = { .hash_seed = b->spec.hash_seed };

	memcpy(hello.key, b->key, sizeof(b->key));
	return say(b, DTX_WIRE_HELLO, &hello, sizeof(hello), err);
}

/* A check of a snippet's text needs no files, so a sealed worker does it. */
static enum dtx_jail_profile profile_of(const struct dtx_box *b)
{
	return b->spec.mode == DTX_JAIL_CHECK ? DTX_JAIL_SEALED : b->spec.limits.profile;
}

static enum dtx_zkind kind_of(const struct dtx_box *b)
{
	unsigned kind = DTX_ZYGOTE_RUN, science = b->spec.science & (DTX_JAIL_SCIENCE_END - 1);

	if (b->spec.mode == DTX_JAIL_CHECK)
		return DTX_ZYGOTE_SCREEN;
	if (b->spec.mode == DTX_JAIL_EXEC)
		kind = DTX_ZYGOTE_EXEC;
	else
		science &= DTX_JAIL_SCIPY; /* a snippet may import no other package */
	if (profile_of(b) == DTX_JAIL_LIB_RO)
		kind |= DTX_ZYGOTE_LIB_RO;
	return (enum dtx_zkind)(kind | science << DTX_ZYGOTE_SCIENCE_SHIFT);
}

/* Checks that the shell's limits leave enough for a zygote and its worker. They would otherwise
 * fail somewhere on the way, without saying which limit was reached. */
static enum dtx_code enough_here(const struct dtx_box *b, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_jail_limits *l = &b->spec.limits;
	uint64_t need = PYTHON_BYTES + l->memory + l->output;
	struct rlimit have;

	if (!getrlimit(RLIMIT_NOFILE, &have) && have.rlim_cur < FILES_NEEDED)
		DTX_FAIL_NEXT(err, DTX_E_SNIPPET_SETUP_REFUSED, dtx_jail_layer_hint("ulimit -n"),
		              "ulimit -n: %llu files may be open here, the jail needs %u",
		              (unsigned long long)have.rlim_cur, FILES_NEEDED);
	if (!getrlimit(RLIMIT_AS, &have) && have.rlim_cur < need)
		DTX_FAIL_NEXT(err, DTX_E_SNIPPET_SETUP_REFUSED, dtx_jail_layer_hint("ulimit -v"),
		              "ulimit -v: %llu MiB of address space are allowed here, the jail "
		              "needs %llu",
		              (unsigned long long)have.rlim_cur >> 20,
		              (unsigned long long)need >> 20);
out:
	return rc;
}

static enum dtx_code begin_private(struct dtx_box *b, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	b->pooled = false;
	b->key[0] = 0;
	b->ctl = (struct dtx_wire){ .fd = -1 };
	DTX_TRY(enough_here(b, err));
	DTX_TRY(dtx_launch_zygote(kind_of(b), b->spec.hash_seed, &b->zygote, &b->ctl.fd, err));
	DTX_TRY(greet(b, err));
	DTX_TRY(say(b, DTX_WIRE_LEASE, NULL, 0, err));
out:
	return rc;
}

#define POOLED_SEEDS 2 /* one for runs, one for the second run during admission */

/* Connects to the warm pool. A check of a text only uses a pool that is there: it is done sooner
 * than a pool starts. */
static bool begin_pooled(struct dtx_box *b)
{
	struct dtx_warmpool pool;

	if (b->spec.no_warm || b->spec.hash_seed >= POOLED_SEEDS)
		return false;
	dtx_warmpool_open(&pool, kind_of(b), b->spec.hash_seed,
	                  b->spec.mode == DTX_JAIL_CHECK ? DTX_WARMPOOL_FIND : DTX_WARMPOOL_START,
	                  b->spec.limits.queue_ms);
	if (pool.fd < 0)
		return false;
	b->pooled = true;
	b->starting = pool.starting;
	memcpy(b->key, pool.key, sizeof(b->key));
	b->ctl = (struct dtx_wire){ .fd = pool.fd };
	if (greet(b, NULL) == DTX_OK)
		return true;
	dtx_file_close(&b->ctl.fd);
	return false;
}

/* A private zygote ends with this process, so a session needs a pool. */
static enum dtx_code begin_session(struct dtx_box *b, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	DTX_TRY(enough_here(b, err));
	if (!begin_pooled(b))
		DTX_FAIL_NEXT(err, DTX_E_SNIPPET_SETUP_REFUSED,
		              "dtx doctor --jail shows the pool; unset DTX_NO_WARM",
		              "pool: a session needs the warm pool, which is not available");
out:
	return rc;
}

enum dtx_code dtx_super_begin(struct dtx_box *b, struct dtx_err *err)
{
	if (b->session.on)
		return begin_session(b, err);
	return begin_pooled(b) ? DTX_OK : begin_private(b, err);
}

/* Waits up to `ms` for fd to become readable, or refuses and names `layer`. It also looks for
 * cancellation. */
static enum dtx_code wait_for(struct dtx_box *b, int fd, int64_t ms, const char *layer,
                              const char *what, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int64_t deadline = dtx_now_ns() + ms * 1000000;

	for (;;) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		int n = poll(&p, 1, TICK_MS);

		if (n > 0)
			goto out;
		if (n < 0 && errno != EINTR)
			REFUSE(err, "control", "poll: %s", strerror(errno));
		if (cancelled(b))
			DTX_FAIL(err, DTX_E_CANCELLED, "cancelled");
		if (dtx_now_ns() <= deadline)
			continue;
		b->silent = true;
		DTX_FAIL(err, DTX_E_SNIPPET_SETUP_REFUSED, "%s: no %s within %lld ms", layer, what,
		         (long long)ms);
	}
out:
	return rc;
}

/* Reads the next message of the zygote, which must be of `type`. REFUSED becomes the error. On
 * failure no descriptor is left open: a peer may send them with a message of any type. */
static enum dtx_code expect(struct dtx_box *b, uint16_t type, struct dtx_wire_msg *msg, int *fds,
                            size_t *nfds, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	bool queued = b->pooled && type == DTX_WIRE_GRANT;
	/* A session has no other zygote to go to. Another run can have one of its own, but that
	 * takes as long to start as a pool does. */
	bool pool = b->pooled && !b->session.on && !b->starting;
	int64_t ms = pool && type == DTX_WIRE_WELCOME ? POOL_MS : SETUP_MS;
	int got = 0;

	if (queued)
		ms = b->spec.limits.queue_ms;
	DTX_TRY(wait_for(b, b->ctl.fd, ms, queued ? "busy" : "control",
	                 queued ? "free worker" : "answer of the zygote", err));
	got = dtx_wire_recv(&b->ctl, msg, fds, nfds);
	if (got == -1 &&
	    /* it closed with our messages unread; its own messages can still be read */
	    errno == ECONNRESET)
		got = dtx_wire_recv(&b->ctl, msg, fds, nfds);
	if (got == 0)
		REFUSE(err, "zygote", "it ended without an answer");
	b->turned_away = got == 1 && msg->type == DTX_WIRE_BUSY;
	if (b->turned_away)
		REFUSE(err, "busy", "too many runs wait for a worker");
	if (got == 1 && msg->type == DTX_WIRE_REFUSED) {
		struct dtx_wire_refused r;

		memcpy(&r, msg->payload, sizeof(r));
		r.text[sizeof(r.text) - 1] = 0;
		DTX_FAIL(err, DTX_E_SNIPPET_SETUP_REFUSED, "%s", r.text);
	}
	if (got != 1 || msg->type != type)
		REFUSE(err, "control", "the answer of the zygote cannot be read");
out:
	for (size_t i = 0; rc != DTX_OK && got == 1 && fds && i < *nfds; i++)
		dtx_file_close(&fds[i]);
	return rc;
}

static enum dtx_code take_grant(struct dtx_box *b, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_wire_msg msg;
	int fds[DTX_WIRE_FDS] = { -1, -1, -1, -1, -1, -1, -1, -1 };
	size_t n = DTX_COUNT(fds), i;

	DTX_TRY(expect(b, DTX_WIRE_GRANT, &msg, fds, &n, err));
	memcpy(&b->grant, msg.payload, sizeof(b->grant));
	if (b->grant.audit > 1 || n != 6 + b->grant.audit) {
		for (i = 0; i < n; i++)
			dtx_file_close(&fds[i]);
		REFUSE(err, "control", "%zu descriptors, expected 6 or 7", n);
	}
	b->job.fd = fds[0];
	b->in = fds[1];
	b->result = fds[2];
	b->out = fds[3];
	b->err = fds[4];
	b->pidfd = fds[5];
	b->listener = fds[6];
out:
	return rc;
}

static unsigned layers_of(const struct dtx_box *b)
{
	unsigned layers = b->welcome.layers & ~(unsigned)DTX_LAYER_NOTIFY;

	return b->grant.audit ? layers | DTX_LAYER_NOTIFY : layers;
}

void dtx_super_describe(const struct dtx_box *b, struct dtx_jail_report *r)
{
	const struct dtx_wire_welcome *w = &b->welcome;

	dtx_layers_print(layers_of(b), w->landlock, r->layers, sizeof(r->layers));
	snprintf(r->profile, sizeof(r->profile), "%s", dtx_jail_profile_names[profile_of(b)]);
	snprintf(r->filter_hash, sizeof(r->filter_hash), "%.64s", w->filter_hash);
	snprintf(r->python, sizeof(r->python), "%.15s", w->python);
	snprintf(r->pandas, sizeof(r->pandas), "%.15s", w->pandas);
	snprintf(r->numpy, sizeof(r->numpy), "%.15s", w->numpy);
	snprintf(r->abi, sizeof(r->abi), "%.16s", w->abi);
	snprintf(r->audit, sizeof(r->audit), b->grant.audit ? "full" : "degraded");
}

enum dtx_code dtx_super_required(const struct dtx_box *b, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	char missing[40] = "", have[200];

	if (b->welcome.profile != (uint32_t)profile_of(b))
		REFUSE(err, "control", "the zygote's workers have another profile");
	if (dtx_layers_hold(b->spec.require_layers, layers_of(b), b->welcome.landlock, missing,
	                    sizeof(missing)))
		goto out;
	dtx_layers_print(layers_of(b), b->welcome.landlock, have, sizeof(have));
	REFUSE(err, "required", "layer '%s' is not available here, there are %s", missing, have);
out:
	return rc;
}

/* Reads a message of the worker on the job socket. */
static enum dtx_code job_expect(struct dtx_box *b, uint16_t type, struct dtx_wire_msg *msg,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	DTX_TRY(wait_for(b, b->job.fd, SETUP_MS, "control", "answer of the worker", err));
	if (dtx_wire_recv(&b->job, msg, NULL, NULL) != 1 || msg->type != type)
		REFUSE(err, "verify", "the answer of the worker cannot be read");
out:
	return rc;
}

static enum dtx_code send_arm(struct dtx_box *b, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (!dtx_wire_send(&b->ctl, DTX_WIRE_ARM, &b->arm, sizeof(b->arm), NULL, 0))
		REFUSE(err, "rlimits", "%s", strerror(errno));
out:
	return rc;
}

/* Sends the limits of this run. The answer is read later, when it is needed.
 *
 * In a session the inputs of all calls may take as much as the memory. Its CPU time counts on from
 * call to call; the kernel looks at whole seconds, so a call may have up to one more. */
static enum dtx_code arm(struct dtx_box *b, struct dtx_err *err)
{
	const struct dtx_jail_limits *l = &b->spec.limits;
	struct dtx_wire_arm *a = &b->arm;
	uint64_t fixed = b->vm_size + l->memory + l->output + ((uint64_t)2 << 20), used;

	if (!b->raw && !b->session.on)
		b->in_len = dtx_frame_size(&b->frame);
	*a = (struct dtx_wire_arm){ .lease = b->grant.lease, .wall_ms = l->wall_ms };
	a->as_bytes = fixed + b->session.in_off + b->in_len;
	a->cpu_s = (uint64_t)(l->cpu_ms + 999) / 1000;
	if (b->session.on) {
		a->session = 1;
		used = (uint64_t)(b->session.user_us + b->session.sys_us);
		a->cpu_s += used / 1000000 + (used > 0);
		a->as_hard = fixed + l->memory;
		a->cpu_hard = SESSION_CPU_S;
	}
	return send_arm(b, err);
}

static enum dtx_code armed(struct dtx_box *b, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_wire_arm got;
	struct dtx_wire_msg msg;
	size_t nfds = 0;

	DTX_TRY(expect(b, DTX_WIRE_ARMED, &msg, NULL, &nfds, err));
	memcpy(&got, msg.payload, sizeof(got));
	if (memcmp(&got, &b->arm, sizeof(got)))
		REFUSE(err, "rlimits", "they read back differently");
out:
	return rc;
}

/* Asks the worker to make a call that the policy denies, with a random nonce as arguments. */
static enum dtx_code probe(struct dtx_box *b, struct dtx_wire_probe *p, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (getrandom(p, sizeof(*p), 0) != (ssize_t)sizeof(*p))
		REFUSE(err, "verify", "getrandom: %s", strerror(errno));
	if (!dtx_wire_send(&b->job, DTX_WIRE_PROBE, p, sizeof(*p), NULL, 0))
		REFUSE(err, "verify", "%s", strerror(errno));
out:
	return rc;
}

/* Checks that exactly this call arrives at the listener, which proves that the listener belongs
 * to the filter of this worker. */
static enum dtx_code probed(struct dtx_box *b, const struct dtx_wire_probe *p, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_wire_msg msg;
	uint32_t code;

	DTX_TRY(wait_for(b, b->listener, SETUP_MS, "control", "probe", err));
	if (!dtx_notify_probe(b->listener, b->worker, p->nonce))
		REFUSE(err, "verify", "the filter does not show the probe");
	DTX_TRY(job_expect(b, DTX_WIRE_PROBED, &msg, err));
	memcpy(&code, msg.payload, sizeof(code));
	if (code != EPERM)
		REFUSE(err, "verify", "the probe got %u, expected %d", code, EPERM);
out:
	return rc;
}

static enum dtx_code facts(struct dtx_box *b, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	char what[120] = "";

	b->worker = dtx_procfacts_pid(b->pidfd);
	if (!b->worker)
		REFUSE(err, "verify", "the worker's process cannot be identified");
	if (dtx_procfacts_status(b->worker, &b->vm_size, &b->inner, what, sizeof(what)))
		goto out;
	/* With hidepid, only the probe can prove the lock, which takes a listener. A process
	 * that has ended cannot be read either, but it does not answer the probe. */
	b->vm_size = (uint64_t)b->welcome.vm_pages * (uint64_t)sysconf(_SC_PAGESIZE);
	b->inner = -1;
	b->hidden = b->grant.audit && b->vm_size && dtx_procfacts_hidden(b->worker);
	if (!b->hidden)
		REFUSE(err, "verify", "%s", what);
out:
	return rc;
}

/* Worker and zygote are asked first, so that they wake up while main reads what the kernel says. */
static enum dtx_code verify(struct dtx_box *b, struct dtx_jail_report *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_wire_probe p;
	struct dtx_wire_msg msg;
	struct dtx_resident base;
	int64_t t = dtx_now_ns();

	DTX_TRY(job_expect(b, DTX_WIRE_READY, &msg, err));
	if (b->grant.audit)
		DTX_TRY(probe(b, &p, err));
	DTX_TRY(facts(b, err));
	DTX_TRY(arm(b, err));
	if (b->grant.audit)
		DTX_TRY(probed(b, &p, err));
	snprintf(r->verify, sizeof(r->verify), "%s",
	         b->hidden        ? "probe"
	         : b->grant.audit ? "status+probe"
	                          : "status");
	base = dtx_procfacts_resident(b->worker);
	b->base_anon = base.anon;
	r->base_rss = base.all;
	r->us.verify = us_since(t);
out:
	return rc;
}

static enum dtx_code lease(struct dtx_box *b, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_wire_msg msg;
	size_t nfds = 0;

	/* Not earlier: reading the input takes time, in which other runs could use that worker. */
	if (b->pooled) {
		b->t_asked = b->t_asked ? b->t_asked : dtx_now_ns();
		DTX_TRY(say(b, DTX_WIRE_LEASE, NULL, 0, err));
	}
	DTX_TRY(expect(b, DTX_WIRE_WELCOME, &msg, NULL, &nfds, err));
	memcpy(&b->welcome, msg.payload, sizeof(b->welcome));
	DTX_TRY(take_grant(b, err));
out:
	return rc;
}

/* If the pool is full, tries again until the time for waiting is over. */
static enum dtx_code lease_in_turn(struct dtx_box *b, struct dtx_err *err)
{
	int64_t deadline = dtx_now_ns() + b->spec.limits.queue_ms * 1000000;
	enum dtx_code rc = lease(b, err);

	while (rc != DTX_OK && b->turned_away && dtx_now_ns() < deadline && !cancelled(b)) {
		dtx_err_clear(err);
		dtx_file_close(&b->ctl.fd);
		poll(NULL, 0, TICK_MS);
		if (!begin_pooled(b))
			DTX_FAIL(err, DTX_E_SNIPPET_SETUP_REFUSED, "pool: it is gone");
		rc = lease(b, err);
	}
out:
	return rc;
}

static void renew_pool(const struct dtx_box *b)
{
	struct dtx_warmpool pool;

	dtx_warmpool_open(&pool, kind_of(b), b->spec.hash_seed, DTX_WARMPOOL_RENEW, 0);
}

/* If the pool goes away or is not what it was, starts a private zygote: that costs time, but the
 * run still takes place. A private zygote refuses for itself what the pool refused. A pool that
 * is stuck gets a successor, because it would cost every run that time. */
static enum dtx_code lease_somewhere(struct dtx_box *b, struct dtx_err *err)
{
	struct dtx_err own = DTX_ERR_INIT;
	bool pooled = b->pooled;
	enum dtx_code rc = pooled ? lease_in_turn(b, &own) : lease(b, err);

	if (rc == DTX_OK || !pooled)
		return rc;
	if (rc == DTX_E_SNIPPET_SETUP_REFUSED && !b->session.on &&
	    strncmp(own.msg, "busy:", 5) != 0) {
		dtx_err_clear(&own);
		dtx_file_close(&b->ctl.fd);
		if (b->silent && !b->welcome.layers)
			renew_pool(b);
		rc = begin_private(b, err);
		return rc == DTX_OK ? lease(b, err) : rc;
	}
	dtx_err_move(err ? err : &own, &own);
	dtx_err_clear(&own);
	return rc;
}

/* The inputs of a session's calls lie one after the other, because tables of earlier calls are used
 * where they are. A call without a table leaves its place to the next one. */
static enum dtx_code place_input(struct dtx_box *b, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint64_t most = b->spec.limits.memory;

	b->in_len = dtx_frame_size(&b->frame);
	b->session.in_off = b->session.in_end;
	if (b->in_len > most || b->session.in_off > most - b->in_len)
		DTX_FAIL_NEXT(err, DTX_E_SNIPPET_MEMORY_LIMIT,
		              "begin another session, with a higher --jail-memory",
		              "memory: all tables and files of the session need more than its %llu "
		              "MiB",
		              (unsigned long long)most >> 20);
out:
	return rc;
}

enum dtx_code dtx_super_ready(struct dtx_box *b, struct dtx_jail_report *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (b->session.on)
		DTX_TRY(place_input(b, err));
	DTX_TRY(lease_somewhere(b, err));
	r->warm = b->grant.warm;
	r->us.queue = b->pooled ? us_since(b->t_asked) : 0;
	r->us.lease = us_since(b->t0);
	rc = dtx_super_required(b, err);
	if (rc == DTX_OK)
		rc = verify(b, r, err);
	if (rc != DTX_OK)
		dtx_super_describe(b, r);
out:
	return rc;
}

/* --- later calls of a session --- */

/* Stops: a call in a process that is not, or no longer, the locked worker of the session, or that
 * ran between two calls. */
static enum dtx_code still_there(struct dtx_box *b, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_wire_exited used;
	char what[120] = "";
	uint64_t vm, anon;
	pid_t inner;

	if (dtx_procfacts_pid(b->pidfd) != b->worker)
		REFUSE(err, "verify", "the session's worker is another process");
	if (!dtx_procfacts_stopped(b->worker))
		REFUSE(err, "verify", "the session's worker did not rest");
	if (!dtx_procfacts_status(b->worker, &vm, &inner, what, sizeof(what)))
		REFUSE(err, "verify", "%s", what);
	if (inner != b->inner || !dtx_procfacts_used(b->worker, &used, &anon))
		REFUSE(err, "verify", "the session's worker cannot be identified");
	b->session.user_us = used.user_us;
	b->session.sys_us = used.sys_us;
out:
	return rc;
}

enum dtx_code dtx_super_again(struct dtx_box *b, struct dtx_jail_report *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int64_t t = dtx_now_ns();

	DTX_TRY(place_input(b, err));
	DTX_TRY(dtx_super_required(b, err));
	b->session.rests = b->session.kept = false; /* from here on an error ends the session */
	DTX_TRY(still_there(b, err));
	DTX_TRY(arm(b, err));
	snprintf(r->verify, sizeof(r->verify), "status");
	r->warm = true;
	r->base_rss = dtx_procfacts_resident(b->worker).all;
	r->us.verify = us_since(t);
out:
	return rc;
}

enum dtx_code dtx_super_park(struct dtx_box *b, int64_t idle_ms, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	b->arm.wall_ms = idle_ms;
	DTX_TRY(send_arm(b, err));
	DTX_TRY(armed(b, err));
out:
	return rc;
}

/* --- hand-over --- */

/* Stops: changing the input after main has handed it over; a result that shrinks while main reads
 * it. The input of a session grows with its calls, so it can only be kept from shrinking; the
 * policy lets a worker read it, and main never reads it. */
static enum dtx_code seal(struct dtx_box *b, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int how = b->session.on ? F_SEAL_SHRINK : SEALS_SIZE | F_SEAL_WRITE | F_SEAL_SEAL;

	if (fcntl(b->in, F_ADD_SEALS, how))
		REFUSE(err, "seal", "input: %s", strerror(errno));
	if (ftruncate(b->result, (off_t)b->spec.limits.output) ||
	    fcntl(b->result, F_ADD_SEALS, SEALS_SIZE))
		REFUSE(err, "seal", "result: %s", strerror(errno));
out:
	return rc;
}

/* Makes zeros of the place for the input: a call before may have left something there. */
static enum dtx_code make_room(const struct dtx_box *b, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint64_t end = b->session.in_off + b->in_len;
	struct stat st;

	if (fstat(b->in, &st) ||
	    fallocate(b->in, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)b->session.in_off,
	              (off_t)ROUND_UP(b->in_len)) ||
	    ((uint64_t)st.st_size < end && ftruncate(b->in, (off_t)end)))
		REFUSE(err, "memfd", "input of %llu bytes: %s", (unsigned long long)b->in_len,
		       strerror(errno));
out:
	return rc;
}

static enum dtx_code give_frame(struct dtx_box *b, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	void *map = MAP_FAILED;

	if (b->session.again)
		DTX_TRY(make_room(b, err));
	else if (ftruncate(b->in, (off_t)b->in_len))
		REFUSE(err, "memfd", "input of %llu bytes: %s", (unsigned long long)b->in_len,
		       strerror(errno));
	map = mmap(NULL, b->in_len, PROT_READ | PROT_WRITE, MAP_SHARED, b->in,
	           (off_t)b->session.in_off);
	if (map == MAP_FAILED)
		REFUSE(err, "memfd", "mmap: %s", strerror(errno));
	if (b->raw)
		memcpy(map, b->raw, b->in_len);
	else
		DTX_TRY(dtx_frame_write(&b->frame, map, err));
	munmap(map, b->in_len);
	map = MAP_FAILED;
	if (!b->session.again)
		DTX_TRY(seal(b, err));
out:
	if (map != MAP_FAILED)
		munmap(map, b->in_len);
	return rc;
}

static enum dtx_code start(struct dtx_box *b, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_wire_start s = { .mode = b->spec.mode,
		                    .in_off = b->session.in_off,
		                    .in_len = b->in_len,
		                    .out_len = b->spec.limits.output,
		                    .seed = b->spec.seed,
		                    .now_us = b->spec.now_us };

	if (b->session.on)
		s.flags = DTX_START_KEEP | (b->session.again ? DTX_START_AGAIN : 0) |
		          (b->frame.ntables ? 0 : DTX_START_DROP);
	if (b->frame.ntables)
		b->session.in_end = ROUND_UP(b->session.in_off + b->in_len);
	b->t_start = dtx_now_ns();
	if (b->session.again && syscall(SYS_pidfd_send_signal, b->pidfd, SIGCONT, NULL, 0u))
		REFUSE(err, "control", "the worker cannot be woken: %s", strerror(errno));
	if (!dtx_wire_send(&b->job, DTX_WIRE_START, &s, sizeof(s), NULL, 0))
		REFUSE(err, "control", "start: %s", strerror(errno));
out:
	return rc;
}

enum dtx_code dtx_super_run(struct dtx_box *b, struct dtx_jail_report *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	DTX_TRY(give_frame(b, err));
	DTX_TRY(armed(b, err));
	DTX_TRY(start(b, err));
out:
	/* done now, while the worker is busy and main would only wait */
	dtx_super_describe(b, r);
	if (rc == DTX_OK)
		dtx_super_watch(b, r);
	return rc;
}

void dtx_super_end(struct dtx_box *b)
{
	int status;

	/* A worker that ended early is killed already, and main need not wait until it is gone. */
	if (b->pidfd >= 0 && !b->dead && !b->early && !b->session.kept)
		dtx_super_kill(b, DTX_KILL_CANCEL);
	dtx_file_close(&b->ctl.fd);
	dtx_file_close(&b->job.fd);
	dtx_file_close(&b->in);
	dtx_file_close(&b->result);
	dtx_file_close(&b->out);
	dtx_file_close(&b->err);
	dtx_file_close(&b->pidfd);
	dtx_file_close(&b->listener);
	if (b->copy)
		munmap(b->copy, (size_t)b->done.used);
	b->copy = NULL;
	if (b->pooled && b->welcome.retiring)
		renew_pool(b);
	if (b->zygote <= 0)
		return;
	kill(b->zygote, SIGKILL); /* its children die with it: by death signal and pid namespace */
	while (waitpid(b->zygote, &status, 0) < 0 && errno == EINTR)
		;
	b->zygote = 0;
}
