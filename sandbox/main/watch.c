/* The loop that waits for the end of a run, see super.h. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "core/base/file.h"
#include "sandbox/policy/notify.h"
#include "sandbox/main/super.h"

#define EXIT_MS  2000 /* from DONE to death, and from death to EXITED */
#define TICK_MS  20   /* how often to look at memory, cancellation and deadline */
#define MUTE_MS  100  /* from the end of the job socket to death */
#define COPY_MAX ((uint64_t)1 << 20)

static int64_t us_since(int64_t ns)
{
	return (dtx_now_ns() - ns) / 1000;
}

static bool cancelled(const struct dtx_box *b)
{
	return b->spec.cancelled && b->spec.cancelled(b->spec.cancel_arg);
}

/* Ends the worker through its zygote. A pool kills a worker when its client disconnects. */
static void kill_zygote(struct dtx_box *b)
{
	if (b->zygote > 0)
		kill(b->zygote, SIGKILL);
	else
		dtx_file_close(&b->ctl.fd);
}

/* Gives a killed worker priority. It ends only when it next gets a core, which may take long on
 * a busy machine; it runs no code of its own any more, so this is safe. */
static void hasten(const struct dtx_box *b)
{
	const struct sched_param first = { .sched_priority = 1 };

	if (b->worker > 0 && sched_setscheduler(b->worker, SCHED_RR, &first))
		errno = 0; /* not every user may do that */
}

void dtx_super_kill(struct dtx_box *b, enum dtx_kill why)
{
	if (b->kill == DTX_KILL_NONE)
		b->kill = why;
	if (b->dead)
		return;
	if (!syscall(SYS_pidfd_send_signal, b->pidfd, SIGKILL, NULL, 0u))
		hasten(b);
	else if (errno == EPERM &&
	         !dtx_wire_send(&b->ctl, DTX_WIRE_KILL, &b->grant.lease, sizeof(uint32_t), NULL, 0))
		kill_zygote(b);
}

/* Reads what a pipe holds, and closes it at its end. */
static void drain(struct dtx_box *b, int *fd, struct dtx_stream *s)
{
	char bytes[65536];
	ssize_t n = read(*fd, bytes, sizeof(bytes));

	if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN)) {
		dtx_file_close(fd);
		return;
	}
	if (n > 0)
		dtx_stream_add(s, bytes, (size_t)n);
	if (s->total > DTX_STREAM_MAX)
		dtx_super_kill(b, DTX_KILL_STREAM);
}

static uint64_t note_memory(const struct dtx_box *b, uint64_t anon, struct dtx_jail_report *r)
{
	anon = anon > b->base_anon ? anon - b->base_anon : 0;
	r->peak_anon = DTX_MAX(r->peak_anon, anon);
	return anon;
}

static void on_tick(struct dtx_box *b, struct dtx_jail_report *r)
{
	if (note_memory(b, dtx_procfacts_resident(b->worker).anon, r) > b->spec.limits.memory)
		dtx_super_kill(b, DTX_KILL_MEMORY);
	if (dtx_now_ns() - b->t_start > b->spec.limits.wall_ms * 1000000)
		dtx_super_kill(b, DTX_KILL_WALL);
	/* A worker that exits also closes the socket, and how it exits says more. */
	if (b->t_mute && dtx_now_ns() - b->t_mute > (int64_t)MUTE_MS * 1000000 &&
	    !dtx_procfacts_exiting(b->worker))
		dtx_super_kill(b, DTX_KILL_MUTE);
	if (cancelled(b))
		dtx_super_kill(b, DTX_KILL_CANCEL);
}

/* --- the usual end: a small result is copied, and main does not wait for the worker's death --- */

/* Reads what the worker printed before it was done. */
static void drain_rest(struct dtx_box *b, bool closes)
{
	int *const fd[] = { &b->out, &b->err };
	size_t i;

	for (i = 0; i < DTX_COUNT(fd); i++) {
		struct pollfd p = { .fd = *fd[i], .events = POLLIN };

		while (*fd[i] >= 0 && !b->kill && poll(&p, 1, 0) > 0)
			drain(b, fd[i], &b->stream[i]);
		if (closes)
			dtx_file_close(fd[i]);
	}
}

/* Copies the result. The worker may still write to its memory, so from here on only the copy
 * counts; it is checked like any result. */
static bool copy_result(struct dtx_box *b)
{
	size_t len = (size_t)b->done.used;
	void *map = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (map == MAP_FAILED)
		return false;
	if (pread(b->result, map, len, 0) != (ssize_t)len) {
		munmap(map, len);
		return false;
	}
	b->copy = map;
	return true;
}

/* Moves the worker to other cores. The kernel takes milliseconds to free its memory, and would
 * often do that on main's core, while main has work to do. */
static void end_elsewhere(const struct dtx_box *b)
{
	cpu_set_t cores;
	int here = sched_getcpu();

	if (here < 0 || here >= CPU_SETSIZE || sched_getaffinity(0, sizeof(cores), &cores))
		return;
	CPU_CLR((unsigned)here, &cores);
	if (CPU_COUNT(&cores) && sched_setaffinity(b->worker, sizeof(cores), &cores))
		errno = 0; /* not every user may do that */
}

/* Ends a run as soon as its result is there. The worker waits, so its CPU time can be read; then
 * it is killed, and its memory is freed while main goes on. Stops: a worker that lives on after
 * its result. */
static void end_early(struct dtx_box *b, struct dtx_jail_report *r)
{
	struct pollfd p = { .fd = b->pidfd, .events = POLLIN };
	uint64_t anon;

	if (b->raw || !b->done.used || b->done.used > COPY_MAX ||
	    !dtx_procfacts_used(b->worker, &b->exited, &anon) || poll(&p, 1, 0) != 0 ||
	    !copy_result(b))
		return;
	note_memory(b, anon, r);
	end_elsewhere(b);
	if (syscall(SYS_pidfd_send_signal, b->pidfd, SIGKILL, NULL, 0u))
		return;
	drain_rest(b, true);
	b->early = !b->kill;
}

#define STOP_MS    1000
#define STOP_LOOKS 8

/* Stops the worker and waits until the kernel says that it has stopped. Stops: code that runs
 * between two calls, beyond their limits. */
static bool stop_worker(const struct dtx_box *b)
{
	int64_t deadline = dtx_now_ns() + (int64_t)STOP_MS * 1000000;
	int looks = 0;

	if (syscall(SYS_pidfd_send_signal, b->pidfd, SIGSTOP, NULL, 0u))
		return false;
	while (!dtx_procfacts_stopped(b->worker)) {
		const struct timespec breath = { 0, 20000 };

		if (dtx_now_ns() > deadline)
			return false;
		/* It usually stops within two looks; the shortest sleep takes longer. */
		if (looks++ < STOP_LOOKS)
			sched_yield();
		else
			nanosleep(&breath, NULL);
	}
	return true;
}

/* The end of a call of a session: the worker is stopped, its result copied, and the memory of the
 * result given back. If any of that fails, the worker ends as it would after a single run, and the
 * session with it. */
static void rest(struct dtx_box *b, struct dtx_jail_report *r)
{
	uint64_t anon;

	if ((b->done.code != DTX_DONE_OK && b->done.code != DTX_DONE_EXCEPTION) || !b->done.used)
		return;
	if (!stop_worker(b)) {
		snprintf(b->session.why, sizeof(b->session.why),
		         "its worker could not be stopped after the call");
		return;
	}
	if (!copy_result(b) || !dtx_procfacts_used(b->worker, &b->exited, &anon) ||
	    fallocate(b->result, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
	              (off_t)b->spec.limits.output)) {
		snprintf(b->session.why, sizeof(b->session.why),
		         "its worker could not be taken over after the call");
		return;
	}
	note_memory(b, anon, r);
	drain_rest(b, false);
	b->early = b->session.rests = !b->kill;
}

static void on_job(struct dtx_box *b, struct dtx_jail_report *r)
{
	struct dtx_wire_msg msg;
	int got = dtx_wire_recv(&b->job, &msg, NULL, NULL);

	if (got == 1 && msg.type == DTX_WIRE_DONE && !b->has_done) {
		memcpy(&b->done, msg.payload, sizeof(b->done));
		b->has_done =
			b->done.code < DTX_DONE_COUNT && b->done.used <= b->spec.limits.output;
		if (b->has_done && b->session.on)
			rest(b, r);
		else if (b->has_done)
			end_early(b, r);
		if (b->session.rests)
			return;
	}
	if (got != 0 && got != -1 && !b->has_done)
		dtx_super_kill(b, DTX_KILL_PROTOCOL);
	else if (!b->has_done) /* closed, or reset because it ended with a message of ours unread */
		b->t_mute = dtx_now_ns();
	dtx_file_close(&b->job.fd); /* a worker that is done waits for this */
}

static void on_ctl(struct dtx_box *b)
{
	struct dtx_wire_msg msg;

	if (dtx_wire_recv(&b->ctl, &msg, NULL, NULL) == 1 && msg.type == DTX_WIRE_EXITED) {
		memcpy(&b->exited, msg.payload, sizeof(b->exited));
		b->has_exited = true;
		return;
	}
	dtx_file_close(&b->ctl.fd); /* the zygote is gone, and its workers die with it */
}

enum { AT_PID, AT_LISTENER, AT_OUT, AT_ERR, AT_JOB, AT_CTL, AT_COUNT };

static void handle(struct dtx_box *b, const struct pollfd *p, struct dtx_jail_report *r)
{
	if (p[AT_LISTENER].revents & POLLIN) {
		if (!dtx_notify_answer(b->listener, b->inner, us_since(b->t_start), r)) {
			note_memory(b, dtx_procfacts_resident(b->worker).anon, r);
			dtx_super_kill(b, DTX_KILL_DENIED);
		}
	} else if (p[AT_LISTENER].revents) {
		dtx_file_close(&b->listener);
	}
	if (p[AT_OUT].revents)
		drain(b, &b->out, &b->stream[0]);
	if (p[AT_ERR].revents)
		drain(b, &b->err, &b->stream[1]);
	if (p[AT_JOB].revents)
		on_job(b, r);
	if (p[AT_CTL].revents)
		on_ctl(b);
	if (p[AT_PID].revents) {
		b->dead = true;
		r->us.overdue = us_since(b->t_start) - b->spec.limits.wall_ms * 1000;
	}
}

/* Whether nothing more can come. */
static bool finished(const struct dtx_box *b)
{
	return b->early || (b->dead && b->out < 0 && b->err < 0 && (b->has_done || b->job.fd < 0) &&
	                    (b->has_exited || b->ctl.fd < 0));
}

/* Milliseconds until the next look or the deadline. */
static int tick(const struct dtx_box *b)
{
	int64_t left = b->spec.limits.wall_ms - (dtx_now_ns() - b->t_start) / 1000000 + 1;

	return b->dead || left > TICK_MS ? TICK_MS : (int)DTX_MAX(left, (int64_t)1);
}

void dtx_super_watch(struct dtx_box *b, struct dtx_jail_report *r)
{
	int64_t last = 0, ended = 0;

	while (!finished(b)) {
		struct pollfd p[AT_COUNT] = {
			[AT_PID] = { .fd = b->dead ? -1 : b->pidfd, .events = POLLIN },
			[AT_LISTENER] = { .fd = b->kill ? -1 : b->listener, .events = POLLIN },
			[AT_OUT] = { .fd = b->out, .events = POLLIN },
			[AT_ERR] = { .fd = b->err, .events = POLLIN },
			[AT_JOB] = { .fd = b->job.fd, .events = POLLIN },
			[AT_CTL] = { .fd = b->has_exited ? -1 : b->ctl.fd, .events = POLLIN },
		};
		int n = poll(p, AT_COUNT, tick(b));

		if (n > 0)
			handle(b, p, r);
		if (!b->dead && (n == 0 || dtx_now_ns() - last >= (int64_t)TICK_MS * 1000000)) {
			last = dtx_now_ns();
			on_tick(b, r);
		}
		if (!ended && (b->dead || b->has_done || b->kill))
			ended = dtx_now_ns();
		if (ended && dtx_now_ns() - ended > (int64_t)EXIT_MS * 1000000) {
			if (b->dead)
				break; /* a report is missing, but the rest is still true */
			dtx_super_kill(b, DTX_KILL_STUCK);
			kill_zygote(b);
			ended = dtx_now_ns();
		}
	}
}
