/* A worker: locks itself down, proves it to main, runs one snippet, or the calls of one session,
 * and exits. Each step says what it stops. The order of the steps is fixed, because each step takes
 * away what the steps before it needed. */
#include "sandbox/worker/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/base/text/str.h"
#include "sandbox/policy/notify.h"
#include "sandbox/worker/clock.h"
#include "sandbox/worker/entropy.h"
#include "sandbox/policy/landlock.h"
#include "sandbox/policy/limits.h"
#include "sandbox/zygote/pyhost.h"
#include "sandbox/wire.h"

enum { FD_JOB = 3, FD_IN = 4, FD_OUT = 5, FD_HANDOVER = 6, FD_END = 7, FD_HIGH = 32 };

/* Reports the layer that failed on the hand-over socket, and exits. Main then refuses the run. */
static _Noreturn void refuse(struct dtx_wire *w, const char *layer, int code)
{
	struct dtx_wire_refused r = { (uint32_t)code, "", "" };

	dtx_str_copy(r.layer, sizeof(r.layer), dtx_str_of(layer));
	dtx_str_copy(r.text, sizeof(r.text), dtx_str_of("worker lock-down failed"));
	_exit(dtx_wire_send(w, DTX_WIRE_REFUSED, &r, sizeof(r), NULL, 0) ? 1 : 2);
}

/* Stops: using any descriptor of the zygote. Each descriptor is first copied to a high number,
 * so that placing one cannot overwrite another that is still to be placed. */
static int place_fds(const struct dtx_worker_fds *f)
{
	const int from[] = { f->out, f->err, f->job, f->in, f->result, f->handover };
	int high[DTX_COUNT(from)];
	size_t i;

	for (i = 0; i < DTX_COUNT(from); i++) {
		high[i] = fcntl(from[i], F_DUPFD, FD_HIGH);
		if (high[i] < 0)
			return errno;
	}
	for (i = 0; i < DTX_COUNT(from); i++)
		if (dup2(high[i], (int)i + 1) < 0)
			return errno;
	return syscall(SYS_close_range, (unsigned)FD_END, ~0u, 0u) ? errno : 0;
}

/* Stops: every call that the policy does not allow. The listener goes to main, which names the
 * denied calls. Where the kernel gives no listener, it refuses calls without naming them. */
static int load_policy(const struct dtx_filters *filters, uint32_t *audit, int *listener)
{
	int rc = dtx_filter_load(filters, DTX_FILTER_A, listener);

	*audit = rc == 0;
	if (rc)
		rc = dtx_filter_load(filters, DTX_FILTER_A_PLAIN, NULL);
	return rc;
}

static void lock_down(struct dtx_wire *handover, const struct dtx_worker_spec *spec)
{
	const struct dtx_filters *filters = spec->filters;
	const char *which = "";
	uint32_t audit = 0;
	int listener = -1, rc = dtx_limits_lock(&which);

	if (rc)
		refuse(handover, "rlimits", rc);
	/* Stops: opening any file, or any file outside the library trees, even if a filter had a
	 * hole. */
	rc = spec->landlock ? dtx_landlock_restrict(spec->landlock, spec->trees) : 0;
	if (rc)
		refuse(handover, "landlock", rc);
	rc = load_policy(filters, &audit, &listener);
	if (rc)
		refuse(handover, "seccomp", rc);
	if (!dtx_wire_send(handover, DTX_WIRE_LOCKED, &audit, sizeof(audit), &listener, audit))
		_exit(3);
	if (audit)
		close(listener);
	close(FD_HANDOVER);
	/* Stops: sendmsg and seccomp, which the lines above needed. */
	if (dtx_filter_load(filters, DTX_FILTER_B, NULL))
		_exit(4);
}

/* While main checks what the kernel says about this process, the worker has time: it prepares
 * for the snippet by looking at what Python will need. */
static void look(void)
{
	if (!dtx_py_warm(DTX_PY_LOOK))
		errno = 0; /* the run is slower then, but not wrong */
}

/* Makes the call that main expects. Main compares what arrives at the listener with its nonces,
 * which proves that this process is the one that the filter watches. */
static bool answer_probe(struct dtx_wire *job, const struct dtx_wire_msg *msg)
{
	struct dtx_wire_probe p;
	uint32_t code;
	long rc;

	memcpy(&p, msg->payload, sizeof(p));
	rc = syscall(DTX_NOTIFY_PROBE, p.nonce[0], p.nonce[1], 0, 0);
	code = rc < 0 ? (uint32_t)errno : 0;
	return dtx_wire_write(job, DTX_WIRE_PROBED, &code, sizeof(code));
}

/* Runs a snippet, or one call of a session. *out is the memory for results: mapped by the first
 * call, and used by all of them. */
static bool run(struct dtx_wire *job, const struct dtx_wire_start *start, void **out)
{
	struct dtx_wire_done done = { DTX_DONE_MEMORY, 0, 0 };
	void *in = mmap(NULL, start->in_len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE,
	                FD_IN, (off_t)start->in_off);

	if (!(start->flags & DTX_START_AGAIN))
		*out = mmap(NULL, start->out_len, PROT_READ | PROT_WRITE, MAP_SHARED, FD_OUT, 0);
	if (in == MAP_FAILED || *out == MAP_FAILED)
		return dtx_wire_write(job, DTX_WIRE_DONE, &done, sizeof(done));
	dtx_clock_freeze(start->now_us);
	if (!(start->flags & DTX_START_AGAIN))
		dtx_entropy_pin(start->seed);
	dtx_py_run(start, in, *out, &done);
	if (start->flags & DTX_START_DROP)
		munmap(in, start->in_len);
	return dtx_wire_write(job, DTX_WIRE_DONE, &done, sizeof(done));
}

/* Does what START asks for. Returns whether the worker waits for another one; if not, it ends in
 * the usual way. */
static bool serve(struct dtx_wire *job, const struct dtx_wire_msg *msg, void **out)
{
	struct dtx_wire_start start;
	struct dtx_wire_msg more;

	memcpy(&start, msg->payload, sizeof(start));
	if (!run(job, &start, out))
		_exit(DTX_WORKER_CUT);
	if (start.flags & DTX_START_KEEP)
		return true;
	/* After the result, main may still want to read facts about this process, and closes the
	 * socket when it has. */
	if (dtx_wire_read(job, &more) == 0)
		_exit(0);
	return false;
}

void dtx_worker_main(const struct dtx_worker_fds *fds, const struct dtx_worker_spec *spec)
{
	struct dtx_wire job = { .fd = FD_JOB }, handover = { .fd = fds->handover };
	struct dtx_wire_msg msg;
	void *out = MAP_FAILED;
	int rc;

	/* Stops: outliving the zygote. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) || getppid() != spec->zygote)
		_exit(5);
	rc = place_fds(fds);
	if (rc)
		refuse(&handover, "descriptors", rc);
	handover.fd = FD_HANDOVER;
	/* These steps only make a run faster. What they fail to touch is touched later. */
	if (!dtx_prefault_child_copy(spec->hot) && spec->prefault && !dtx_py_warm(DTX_PY_TOUCHES))
		errno = 0;
	if (spec->prefault)
		dtx_prefault_child_gather(spec->hot);
	lock_down(&handover, spec);
	if (!dtx_wire_write(&job, DTX_WIRE_READY, NULL, 0))
		_exit(6);
	while (dtx_wire_read(&job, &msg) == 1) {
		if (msg.type == DTX_WIRE_PROBE && answer_probe(&job, &msg)) {
			look();
			continue;
		}
		if (msg.type == DTX_WIRE_START && serve(&job, &msg, &out))
			continue;
		break;
	}
	_exit(DTX_WORKER_CUT);
}
