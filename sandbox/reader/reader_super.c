/* Main's side of a reader process. From the first request on, the process may have been taken
 * over by a hostile file: what it says is only bytes, to be checked. */
#include "sandbox/reader/reader_super.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/thread/cancel.h"
#include "core/base/file.h"
#include "core/base/log.h"
#include "core/base/memory/mem.h"
#include "core/io/isolate/isolate.h"
#include "core/plan/exec/provider.h"
#include "sandbox/main/super.h"
#include "sandbox/policy/filter.h"
#include "sandbox/policy/notify.h"
#include "sandbox/role.h"
#include "sandbox/wire.h"
#include "sandbox/zygote/launch.h"

struct dtx_isolate {
	struct dtx_source *src;
	struct dtx_isolate_limits limits;
	pid_t pid;
	struct dtx_wire wire;
	int listener; /* of its filter; -1: none */
	uint32_t gen, ticks;
	bool ended;      /* the request has been answered completely */
	uint64_t len;    /* bytes of the memory it is filling, 0: none */
	int memory;      /* that memory; -1: it is the slot */
	void *slot;      /* mapped; NULL until the first small frame */
	int64_t left;    /* ns that main may still wait for this request */
	char denied[64]; /* name of the call that ended it */
	bool timed_out;
};

/* Both set and return the error: `broke` ends the process because it violated the protocol, as
 * `what` says; `died` finds out why it ended. */
static enum dtx_code reader_broke(struct dtx_isolate *p, const char *what, struct dtx_err *err);
static enum dtx_code reader_died(struct dtx_isolate *p, struct dtx_err *err);

/* The memory in which a reader process hands its results to main. */

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8u
#endif

static int sealable(const char *name)
{
	int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL);

	/* older kernels do not know MFD_NOEXEC_SEAL */
	return fd >= 0 ? fd : memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
}

/* Makes memory of exactly `len` bytes, whose size is sealed. The caller closes *out. */
static enum dtx_code reader_memory(uint64_t len, int *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int fd = sealable("dtx-reader");

	if (fd < 0 || ftruncate(fd, (off_t)len) ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW))
		DTX_FAIL(err, DTX_E_NO_MEMORY, "memory for the reader: %s", strerror(errno));
	*out = fd;
	fd = -1;
out:
	dtx_file_close(&fd);
	return rc;
}

static void reader_drop_memory(struct dtx_isolate *p)
{
	if (p->memory >= 0)
		dtx_mem_discharge((size_t)p->len);
	dtx_file_close(&p->memory);
	p->len = 0;
}

static void reader_drop_slot(struct dtx_isolate *p)
{
	if (!p->slot)
		return;
	munmap(p->slot, DTX_WIRE_SLOT);
	dtx_mem_discharge(DTX_WIRE_SLOT);
}

/* The file needs more memory than the process may have. */
static enum dtx_code too_large(const struct dtx_isolate *p, struct dtx_err *err)
{
	enum dtx_code rc = dtx_archive_limits_fail(err, dtx_source_limits(p->src), "memory",
	                                           "'%s': reading it takes more than %llu MiB",
	                                           dtx_source_name(p->src),
	                                           (unsigned long long)(p->limits.memory >> 20));
	if (dtx_mem_limit() && p->limits.memory == (uint64_t)dtx_mem_limit())
		dtx_err_hint(err,
		             "--memory allows no more: try --memory %lluM, and more if that fails",
		             (unsigned long long)(p->limits.memory >> 19));
	return rc;
}

static enum dtx_code send_memory(struct dtx_isolate *p, const struct dtx_wire_memory *m, int *fd,
                                 struct dtx_err *err)
{
	p->len = m->len;
	return dtx_wire_send(&p->wire, DTX_WIRE_GIVE, m, sizeof(*m), fd, fd ? 1 : 0)
	               ? DTX_OK
	               : reader_died(p, err);
}

/* Makes the slot, which both sides map. The process may write to it at any time, so main only
 * ever uses copies of what is in it. */
static enum dtx_code make_slot(struct dtx_isolate *p, const struct dtx_wire_memory *m,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	void *ptr;
	int fd = -1;

	DTX_TRY(reader_memory(DTX_WIRE_SLOT, &fd, err));
	if (!dtx_mem_charge(DTX_WIRE_SLOT))
		DTX_FAIL_MEM(err);
	ptr = mmap(NULL, DTX_WIRE_SLOT, PROT_READ, MAP_SHARED, fd, 0);
	if (ptr == MAP_FAILED) {
		dtx_mem_discharge(DTX_WIRE_SLOT);
		DTX_FAIL(err, DTX_E_NO_MEMORY, "mapping for frames: %s", strerror(errno));
	}
	p->slot = ptr;
	DTX_TRY(send_memory(p, m, &fd, err));
out:
	dtx_file_close(&fd);
	return rc;
}

static enum dtx_code make_own(struct dtx_isolate *p, const struct dtx_wire_memory *m,
                              struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (!dtx_mem_charge((size_t)m->len))
		DTX_FAIL_MEM(err);
	rc = reader_memory(m->len, &p->memory, err);
	if (rc != DTX_OK) {
		dtx_mem_discharge((size_t)m->len);
		goto out;
	}
	DTX_TRY(send_memory(p, m, &p->memory, err));
out:
	return rc;
}

/* `give` sends the process memory to fill, which counts against the budget. `take` gets back
 * what it has filled; the bytes of *out can then no longer change, whatever the process does. */
static enum dtx_code reader_give(struct dtx_isolate *p, const struct dtx_wire_memory *m,
                                 struct dtx_err *err)
{
	if (!m->len || p->len)
		return reader_broke(p, "it asked for no memory, or twice", err);
	if (m->len > p->limits.memory) {
		(void)reader_broke(p, "it asked for more memory than its limit", err);
		return too_large(p, err);
	}
	if (m->len > DTX_WIRE_SLOT)
		return make_own(p, m, err);
	return p->slot ? send_memory(p, m, NULL, err) : make_slot(p, m, err);
}

/* --- frames --- */

struct mapping {
	void *ptr;
	uint64_t len;
};

static void mapping_free(void *arg)
{
	struct mapping *m = arg;

	munmap(m->ptr, (size_t)m->len);
	dtx_mem_discharge((size_t)m->len);
	dtx_mem_free(m);
}

/* Seals memory that the process has filled. The kernel refuses the seal as long as the process
 * still has it mapped for writing. */
static enum dtx_code take_own(struct dtx_isolate *p, struct dtx_sealed *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct mapping *m = NULL;
	void *ptr;

	if (fcntl(p->memory, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SEAL))
		return reader_broke(p, "it keeps what it has sent", err);
	m = dtx_mem_alloc(1, sizeof(*m));
	if (!m)
		DTX_FAIL_MEM(err);
	ptr = mmap(NULL, (size_t)p->len, PROT_READ, MAP_PRIVATE | MAP_POPULATE, p->memory, 0);
	if (ptr == MAP_FAILED)
		DTX_FAIL(err, DTX_E_NO_MEMORY, "mapping of a frame: %s", strerror(errno));
	*m = (struct mapping){ ptr, p->len };
	dtx_file_close(&p->memory); /* the mapping counts against the budget from here on */
	out->owner = dtx_owner_new(mapping_free, m);
	if (!out->owner) {
		mapping_free(m);
		m = NULL;
		DTX_FAIL_MEM(err);
	}
	out->ptr = ptr;
	m = NULL;
out:
	dtx_mem_free(m);
	return rc;
}

static enum dtx_code take_copy(struct dtx_isolate *p, struct dtx_sealed *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	void *copy = dtx_mem_alloc64((size_t)p->len, 1);

	if (!copy)
		DTX_FAIL_MEM(err);
	memcpy(copy, p->slot, (size_t)p->len);
	out->owner = dtx_owner_take(copy);
	if (!out->owner)
		DTX_FAIL_MEM(err);
	out->ptr = copy;
out:
	return rc;
}

static enum dtx_code reader_take(struct dtx_isolate *p, struct dtx_sealed *out, struct dtx_err *err)
{
	enum dtx_code rc;

	out->len = p->len;
	rc = p->memory >= 0 ? take_own(p, out, err) : take_copy(p, out, err);
	reader_drop_memory(p);
	return rc;
}

enum { START_MS = 10000, END_MS = 2000, CANCEL_MS = 50 };

/* --- the end of a process --- */

static int reap(struct dtx_isolate *p)
{
	int status = 0;
	pid_t got;

	if (p->pid <= 0)
		return 0;
	kill(p->pid, SIGKILL);
	do
		got = waitpid(p->pid, &status, 0);
	while (got < 0 && errno == EINTR);
	p->pid = 0;
	return status;
}

static enum dtx_code out_of_time(const struct dtx_isolate *p, struct dtx_err *err)
{
	return dtx_archive_limits_fail(err, dtx_source_limits(p->src), "time",
	                               "'%s': reading it takes more than %u s",
	                               dtx_source_name(p->src), p->limits.cpu_s);
}

static enum dtx_code reader_broke(struct dtx_isolate *p, const char *what, struct dtx_err *err)
{
	(void)reap(p);
	p->ended = true;
	return dtx_err_set(err, DTX_E_CORRUPT_FILE, __FILE__, __LINE__,
	                   "'%s': its reader process broke the protocol: %s",
	                   dtx_source_name(p->src), what);
}

/* Waits for a process that is about to end, so that its status says why. The wait is limited: a
 * process that closes its socket and sleeps uses no CPU time, and no limit would end it. */
static bool ended(struct dtx_isolate *p, int *status)
{
	struct pollfd fd = { .fd = (int)syscall(SYS_pidfd_open, p->pid, 0u), .events = POLLIN };
	int got;

	do
		got = poll(&fd, 1, END_MS);
	while (got < 0 && errno == EINTR);
	dtx_file_close(&fd.fd);
	if (waitpid(p->pid, status, WNOHANG) != p->pid)
		return false;
	p->pid = 0;
	return true;
}

/* Whether a person or another program sent the signal. The kernel does not send these for
 * anything that a reader does wrong, nor for its limits. */
static bool from_outside(int sig)
{
	return sig == SIGKILL || sig == SIGTERM || sig == SIGINT || sig == SIGHUP || sig == SIGQUIT;
}

static enum dtx_code killed(const struct dtx_isolate *p, int sig, struct dtx_err *err)
{
	dtx_err_set(err, DTX_E_JAIL_UNAVAILABLE, __FILE__, __LINE__,
	            "'%s': its reader process was ended from outside (SIG%s)",
	            dtx_source_name(p->src), sigabbrev_np(sig));
	dtx_err_hint(err, sig == SIGKILL ? "run it again; the kernel does this when the machine or "
	                                   "the container has no memory left"
	                                 : "run it again");
	return DTX_E_JAIL_UNAVAILABLE;
}

/* Sets the error for a process that is gone. If the input was cut short while it read, it has
 * died of that (SIGBUS). */
static enum dtx_code reader_died(struct dtx_isolate *p, struct dtx_err *err)
{
	const char *name = dtx_source_name(p->src);
	int status;

	if (p->denied[0] || p->timed_out)
		status = reap(p);
	else if (!ended(p, &status))
		return reader_broke(p, "it closed the connection and did not end", err);
	p->ended = true;
	if (p->timed_out || (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU))
		return out_of_time(p, err);
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS &&
	    dtx_source_unchanged(p->src, err) != DTX_OK)
		return DTX_E_INPUT_CHANGED;
	if (p->denied[0])
		dtx_err_set(err, DTX_E_CORRUPT_FILE, __FILE__, __LINE__,
		            "'%s': its reader process asked for '%s', which no reader needs, and "
		            "was stopped",
		            name, p->denied);
	else if (WIFSIGNALED(status) && from_outside(WTERMSIG(status)))
		return killed(p, WTERMSIG(status), err);
	else if (WIFSIGNALED(status))
		dtx_err_set(err, DTX_E_CORRUPT_FILE, __FILE__, __LINE__,
		            "'%s': its reader process died (SIG%s)", name,
		            sigabbrev_np(WTERMSIG(status)));
	else
		dtx_err_set(err, DTX_E_CORRUPT_FILE, __FILE__, __LINE__,
		            "'%s': its reader process ended without an answer (status %d)", name,
		            WEXITSTATUS(status));
	dtx_err_hint(err, "the file is damaged or made to do harm; open it in the program it is "
	                  "from and save it again");
	return DTX_E_CORRUPT_FILE;
}

/* --- messages --- */

/* Waits for a message until the given time. Returns false if the process must be ended, also where
 * the run has to end: a signal may arrive in another thread, so that poll goes on. */
static bool wait_until(struct dtx_isolate *p, int64_t until)
{
	struct pollfd fd[] = { { .fd = p->wire.fd, .events = POLLIN },
		               { .fd = p->listener, .events = POLLIN } };
	int64_t left;
	int n;

	for (;;) {
		left = (until - dtx_now_ns()) / 1000000;
		p->timed_out = left <= 0;
		if (p->timed_out || dtx_cancel_now())
			return false;
		n = poll(fd, 2, (int)DTX_MIN(left, (int64_t)CANCEL_MS));
		if (n < 0 && errno != EINTR)
			return false;
		/* A call that the policy denies. It stays unanswered. */
		if (n > 0 && (fd[1].revents & POLLIN) &&
		    dtx_notify_name(p->listener, p->denied, sizeof(p->denied)))
			return false;
		if (n > 0 && fd[0].revents)
			return true;
		/* every thread is gone, but its last messages may still come */
		if (n > 0 && fd[1].revents)
			fd[1].fd = -1;
	}
}

/* The same, but the time that main spends between two messages does not count. */
static bool wait_message(struct dtx_isolate *p)
{
	int64_t until = dtx_now_ns() + p->left;
	bool there = wait_until(p, until);

	p->left = until - dtx_now_ns();
	return there;
}

/* Reads the next message. If none comes, *rc says what became of the process. */
static bool receive(struct dtx_isolate *p, struct dtx_wire_msg *msg, enum dtx_code *rc,
                    struct dtx_err *err)
{
	bool there;
	int got;

	if (p->pid <= 0) {
		*rc = reader_broke(p, "it has ended", err);
		return false;
	}
	there = wait_message(p);
	*rc = dtx_cancel_look(err);
	if (*rc != DTX_OK) {
		p->ended = true;
		return false;
	}
	if (!there) {
		*rc = reader_died(p, err);
		return false;
	}
	got = dtx_wire_recv(&p->wire, msg, NULL, NULL);
	if (got == 1)
		return true;
	*rc = got == -2 ? reader_broke(p, "no message", err) : reader_died(p, err);
	return false;
}

static enum dtx_code take_fail(struct dtx_isolate *p, const struct dtx_wire_msg *msg,
                               struct dtx_err *err)
{
	static const struct dtx_json_limits limits = { 0 };
	struct dtx_wire_fail f;
	struct dtx_err got = DTX_ERR_INIT;
	json_t *o = NULL;
	enum dtx_code rc;

	memcpy(&f, msg->payload, sizeof(f));
	p->ended = true;
	if (f.len > sizeof(f.json) ||
	    dtx_json_parse((struct dtx_str){ f.json, f.len }, limits, &o, NULL) != DTX_OK ||
	    !(dtx_isolate_err_read(o, &got) || got.code == DTX_E_NO_MEMORY) ||
	    got.severity == DTX_SEV_WARNING) {
		json_decref(o);
		dtx_err_clear(&got);
		return reader_broke(p, "its error is malformed", err);
	}
	json_decref(o);
	if (got.code == DTX_E_NO_MEMORY)
		(void)too_large(p, &got);
	rc = got.code;
	if (err)
		dtx_err_move(err, &got);
	dtx_err_clear(&got);
	return rc;
}

static uint32_t generation(const struct dtx_wire_msg *msg)
{
	uint32_t gen;

	memcpy(&gen, msg->payload, sizeof(gen));
	return gen;
}

/* Its progress: shown to the user, used for nothing else. */
static enum dtx_code take_tick(struct dtx_isolate *p, const struct dtx_wire_msg *msg,
                               struct dtx_err *err)
{
	struct dtx_wire_tick t;

	memcpy(&t, msg->payload, sizeof(t));
	/* an honest process sends at most ten a second */
	if (p->ticks++ / 100 > p->limits.cpu_s || t.done > t.of)
		return reader_broke(p, "too many or wrong progress messages", err);
	dtx_source_tick(p->src, t.done, t.of);
	return DTX_OK;
}

static enum dtx_code process_next(struct dtx_isolate *p, struct dtx_sealed *out,
                                  struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_wire_msg msg;
	struct dtx_wire_memory m;

	*out = (struct dtx_sealed){ NULL, 0, NULL };
	while (rc == DTX_OK && !out->owner && !p->ended) {
		bool late;

		if (!receive(p, &msg, &rc, err))
			break;
		if (msg.type < DTX_WIRE_NEED || msg.type > DTX_WIRE_TICK ||
		    msg.type == DTX_WIRE_GIVE)
			return reader_broke(p, "a message that is not its own", err);
		late = generation(&msg) != p->gen;
		if (msg.type == DTX_WIRE_NEED || msg.type == DTX_WIRE_FRAME)
			memcpy(&m, msg.payload, sizeof(m));
		if (msg.type == DTX_WIRE_FRAME && (!p->len || m.len != p->len))
			return reader_broke(p, "a frame without memory", err);
		if (late && msg.type == DTX_WIRE_FRAME)
			reader_drop_memory(p);
		if (late)
			continue;
		switch (msg.type) {
		case DTX_WIRE_NEED: rc = reader_give(p, &m, err); break;
		case DTX_WIRE_FRAME: rc = reader_take(p, out, err); break;
		case DTX_WIRE_FAIL: rc = take_fail(p, &msg, err); break;
		case DTX_WIRE_TICK: rc = take_tick(p, &msg, err); break;
		default: p->ended = true;
		}
	}
	return rc;
}

static enum dtx_code process_ask(struct dtx_isolate *p, enum dtx_ask ask, const json_t *args,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_buf text = DTX_BUF_INIT((size_t)64 << 20);
	struct dtx_wire_ask a = { ask, ++p->gen, 0 };
	int fd = -1;

	if (p->pid <= 0)
		return reader_broke(p, "it has ended", err);
	dtx_json_print(args, 0, &text);
	DTX_TRY(dtx_buf_check(&text, "the request to the reader", err));
	a.len = text.len;
	DTX_TRY(reader_memory(text.len, &fd, err));
	DTX_TRY(dtx_file_write(fd, text.ptr, text.len, "memory", err));
	p->ended = false;
	p->ticks = 0;
	p->left = (int64_t)p->limits.cpu_s * 1000000000;
	if (!dtx_wire_send(&p->wire, DTX_WIRE_ASK, &a, sizeof(a), &fd, 1))
		rc = reader_died(p, err);
out:
	dtx_file_close(&fd);
	dtx_buf_clear(&text);
	return rc;
}

/* --- start --- */

static void process_stop(struct dtx_isolate *p)
{
	if (!p)
		return;
	(void)reap(p);
	reader_drop_memory(p);
	reader_drop_slot(p);
	dtx_file_close(&p->wire.fd);
	dtx_file_close(&p->listener);
	dtx_mem_free(p);
}

static enum dtx_code refused(const char *layer, const char *why, struct dtx_err *err)
{
	dtx_err_set(err, DTX_E_JAIL_UNAVAILABLE, __FILE__, __LINE__,
	            "workbooks and archives are read in a locked process, which does not work "
	            "here: %s: %s",
	            layer, why);
	dtx_err_hint(err, "%s; or convert the file to CSV elsewhere", dtx_jail_layer_hint(layer));
	return DTX_E_JAIL_UNAVAILABLE;
}

/* Reads the first message, which says that the process is locked. It may bring the listener of
 * its filter. */
static enum dtx_code wait_locked(struct dtx_isolate *p, struct dtx_err *err)
{
	struct pollfd fd = { .fd = p->wire.fd, .events = POLLIN };
	struct dtx_wire_msg msg;
	struct dtx_wire_refused r;
	uint32_t named;
	size_t n = 1;
	int got;

	do
		got = poll(&fd, 1, START_MS);
	while (got < 0 && errno == EINTR);
	if (got <= 0)
		return refused("start", got ? strerror(errno) : "no answer", err);
	got = dtx_wire_recv(&p->wire, &msg, &p->listener, &n);
	if (got != 1)
		return refused("start", "the process ended", err);
	if (msg.type == DTX_WIRE_REFUSED) {
		memcpy(&r, msg.payload, sizeof(r));
		r.layer[sizeof(r.layer) - 1] = '\0';
		return refused(r.layer, strerror((int)r.sys_errno), err);
	}
	memcpy(&named, msg.payload, sizeof(named));
	if (msg.type != DTX_WIRE_LOCKED || named != n)
		return refused("start", "a malformed answer", err);
	return DTX_OK;
}

/* Makes the process prove its lock where /proc does not show it to us: it makes a call that its
 * filter denies and that arrives at the listener. The filter is in all of its threads. */
static enum dtx_code probe(struct dtx_isolate *p, struct dtx_err *err)
{
	struct pollfd fd = { .fd = p->listener, .events = POLLIN };
	struct dtx_wire_probe asked;
	struct dtx_wire_msg msg;
	uint32_t code = 0;
	int got;

	if (getrandom(&asked, sizeof(asked), 0) != (ssize_t)sizeof(asked) ||
	    !dtx_wire_send(&p->wire, DTX_WIRE_PROBE, &asked, sizeof(asked), NULL, 0))
		return refused("verify", strerror(errno), err);
	do
		got = poll(&fd, 1, START_MS);
	while (got < 0 && errno == EINTR);
	if (got <= 0 || !dtx_notify_probe(p->listener, p->pid, asked.nonce))
		return refused("verify", "the filter does not show the probe", err);
	fd.fd = p->wire.fd;
	if (poll(&fd, 1, START_MS) <= 0 || dtx_wire_recv(&p->wire, &msg, NULL, NULL) != 1 ||
	    msg.type != DTX_WIRE_PROBED)
		return refused("verify", "the probe has no answer", err);
	memcpy(&code, msg.payload, sizeof(code));
	return code == EPERM ? DTX_OK : refused("verify", "the probe was not refused", err);
}

/* Verifies the lock before any work is sent, by what the kernel says and not by what the process
 * says. */
static enum dtx_code verify(struct dtx_isolate *p, struct dtx_err *err)
{
	char what[160];

	if (dtx_procfacts_reader(p->pid, what, sizeof(what)))
		return DTX_OK;
	if (p->listener >= 0 && dtx_procfacts_hidden(p->pid))
		return probe(p, err);
	return refused("verify", what, err);
}

enum dtx_code dtx_reader_adopt(struct dtx_source *src, const struct dtx_isolate_limits *limits,
                               pid_t pid, int control, struct dtx_isolate **out,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_isolate end = { .pid = pid }, *p = dtx_mem_zalloc(1, sizeof(*p));

	if (!p) {
		(void)reap(&end);
		dtx_file_close(&control);
		DTX_FAIL_MEM(err);
	}
	p->src = src;
	p->limits = *limits;
	p->pid = pid;
	p->wire.fd = control;
	p->listener = p->memory = -1;
	p->ended = true;
	DTX_TRY(wait_locked(p, err));
	DTX_TRY(verify(p, err));
	*out = p;
	p = NULL;
out:
	process_stop(p);
	return rc;
}

/* Checks what every reader process needs, before its input is prepared. */
static enum dtx_code possible(struct dtx_err *err)
{
	const char *layer, *call;
	char why[120];
	int missing = dtx_filter_missing(&layer, &call);

	if (DTX_SANITIZED)
		return refused("build", "a sanitizer build cannot lock a process", err);
	if (!dtx_launch_proc())
		return refused("proc", "/proc is not mounted", err);
	if (!missing)
		return DTX_OK;
	snprintf(why, sizeof(why), "the call %s: %s", call, strerror(missing));
	return refused(layer, why, err);
}

static enum dtx_code process_start(struct dtx_source *src, const struct dtx_isolate_limits *limits,
                                   struct dtx_isolate **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int input = -1, control = -1;
	pid_t pid = 0;

	DTX_TRY(possible(err));
	DTX_TRY(dtx_source_dup(src, &input, err));
	DTX_TRY(dtx_launch_reader(input, limits, &pid, &control, err));
	DTX_TRY(dtx_reader_adopt(src, limits, pid, control, out, err));
out:
	dtx_file_close(&input);
	return rc;
}

const struct dtx_isolate_class dtx_isolate_process = {
	.start = process_start,
	.ask = process_ask,
	.next = process_next,
	.stop = process_stop,
};

enum dtx_code dtx_reader_selftest(int64_t *us, bool *named, struct dtx_err *err)
{
	static const struct dtx_isolate_limits limits = DTX_ISOLATE_LIMITS;
	enum dtx_code rc = DTX_OK;
	struct dtx_source *src = NULL;
	struct dtx_isolate *p = NULL;
	int64_t t0;

	DTX_TRY(dtx_source_bytes("selftest", "PK", 2, &src, err));
	t0 = dtx_now_ns();
	DTX_TRY(process_start(src, &limits, &p, err));
	*us = (dtx_now_ns() - t0) / 1000;
	*named = p->listener >= 0;
out:
	process_stop(p);
	dtx_source_free(src);
	return rc;
}
