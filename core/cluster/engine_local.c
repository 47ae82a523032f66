/* The engine local://N: fragments are child processes of the driver, this program started again. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/child_setup.h"
#include "core/base/file.h"
#include "core/base/memory/mem.h"
#include "core/base/log.h"
#include "core/cluster/engine.h"

#define PRINTED_MAX ((size_t)16 << 20) /* of one fragment */

struct child {
	pid_t pid; /* 0: the slot is free */
	int64_t start_ns;
	int out; /* where its stdout can be read */
	uint32_t id;
	struct dtx_buf text;
};
struct waiting {
	uint32_t id;
	char *spec;
};
struct local {
	struct dtx_engine head;
	struct child *child; /* head.slots of them */
	struct pollfd *poll;
	struct waiting *queue; /* [first, n) */
	size_t first, n, cap;
	int64_t silence_ns, slowest_ns; /* without an event, until all are ended; of a fragment */
	int64_t heard_ns;               /* the last end or start of one */
};

static struct local *local_of(struct dtx_engine *e)
{
	return (struct local *)e; /* head is the first member */
}

static int prepare(posix_spawn_file_actions_t *actions, posix_spawnattr_t *attr, int out)
{
	int rc;

	rc = posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	if (!rc)
		rc = posix_spawn_file_actions_adddup2(actions, out, STDOUT_FILENO);
	if (!rc)
		rc = posix_spawn_file_actions_addclosefrom_np(actions, STDERR_FILENO + 1);
	/* a group of its own: Ctrl-C reaches the driver, which then ends its fragments */
	return rc ? rc : dtx_child_signals(attr);
}

static enum dtx_code start(struct child *c, const struct waiting *w, struct dtx_err *err)
{
	char *argv[] = { (char *)"dtx", (char *)"fragment", w->spec, NULL };
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	int out[2] = { -1, -1 }, failed;
	enum dtx_code rc = DTX_OK;

	if (pipe2(out, O_CLOEXEC) < 0)
		DTX_FAIL(err, DTX_E_NO_MEMORY, "cannot make a pipe: %s", strerror(errno));
	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attr);
	failed = prepare(&actions, &attr, out[1]);
	if (!failed)
		failed = posix_spawn(&c->pid, "/proc/self/exe", &actions, &attr, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attr);
	if (failed) {
		c->pid = 0;
		DTX_FAIL(err, DTX_E_ENGINE_UNAVAILABLE, "cannot start a fragment: %s",
		         dtx_child_failure(failed));
	}
	c->id = w->id;
	c->start_ns = dtx_now_ns();
	c->out = out[0];
	out[0] = -1;
	dtx_buf_init(&c->text, PRINTED_MAX);
out:
	dtx_file_close(&out[0]);
	dtx_file_close(&out[1]);
	return rc;
}

static enum dtx_code fill_slots(struct local *l, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	for (unsigned i = 0; i < l->head.slots && l->first < l->n; i++) {
		if (l->child[i].pid)
			continue;
		DTX_TRY(start(&l->child[i], &l->queue[l->first], err));
		l->heard_ns = l->child[i].start_ns;
		dtx_mem_free(l->queue[l->first++].spec);
	}
out:
	return rc;
}

static enum dtx_code local_submit(struct dtx_engine *e, uint32_t id, const char *spec,
                                  struct dtx_err *err)
{
	struct local *l = local_of(e);
	char *copy = dtx_mem_strdup(spec);
	enum dtx_code rc = DTX_OK;

	if (!copy || !dtx_mem_reserve(&l->queue, &l->cap, l->n + 1, sizeof(*l->queue)))
		DTX_FAIL_MEM(err);
	l->queue[l->n++] = (struct waiting){ id, copy };
	copy = NULL;
	DTX_TRY(fill_slots(l, err));
out:
	dtx_mem_free(copy);
	return rc;
}

/* Takes the result of a child that has closed its stdout. */
static void reap(struct child *c, struct dtx_engine_event *out)
{
	int status = 0;
	pid_t got;

	do
		got = waitpid(c->pid, &status, 0);
	while (got < 0 && errno == EINTR);
	*out = (struct dtx_engine_event){ .id = c->id, .status = -1, .text = c->text };
	if (got == c->pid && WIFEXITED(status))
		out->status = WEXITSTATUS(status);
	else if (got == c->pid && WIFSIGNALED(status))
		snprintf(out->reason, sizeof(out->reason), "ended by signal %d", WTERMSIG(status));
	dtx_file_close(&c->out);
	c->pid = 0;
}

/* Reads what a child has printed; true at its end. */
static bool drain(struct child *c)
{
	char bytes[4096];
	ssize_t n = read(c->out, bytes, sizeof(bytes));

	if (n > 0)
		dtx_buf_addn(&c->text, bytes, (size_t)n);
	return n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN);
}

/* Ends all fragments if none has ended for a long time. They are then reported as lost. */
static void end_silent(struct local *l)
{
	int64_t now = dtx_now_ns();

	if (now - l->heard_ns <= DTX_MAX(l->silence_ns, 3 * l->slowest_ns))
		return;
	l->heard_ns = now;
	for (unsigned i = 0; i < l->head.slots; i++)
		if (l->child[i].pid)
			(void)kill(l->child[i].pid, SIGKILL);
}

static enum dtx_code local_next(struct dtx_engine *e, int wait_ms, struct dtx_engine_event *out,
                                bool *got, struct dtx_err *err)
{
	struct local *l = local_of(e);
	enum dtx_code rc = DTX_OK;

	*got = false;
	DTX_TRY(fill_slots(l, err));
	for (unsigned i = 0; i < e->slots; i++)
		l->poll[i] = (struct pollfd){ .fd = l->child[i].pid ? l->child[i].out : -1,
			                      .events = POLLIN };
	if (poll(l->poll, e->slots, wait_ms) <= 0) {
		end_silent(l);
		goto out;
	}
	for (unsigned i = 0; i < e->slots && !*got; i++) {
		if (!l->poll[i].revents || !drain(&l->child[i]))
			continue;
		l->heard_ns = dtx_now_ns();
		l->slowest_ns = DTX_MAX(l->slowest_ns, l->heard_ns - l->child[i].start_ns);
		reap(&l->child[i], out);
		*got = true;
	}
	DTX_TRY(fill_slots(l, err));
out:
	return rc;
}

static void local_cancel(struct dtx_engine *e)
{
	struct local *l = local_of(e);
	struct dtx_engine_event event;

	for (unsigned i = 0; i < e->slots; i++)
		if (l->child[i].pid)
			(void)kill(l->child[i].pid, SIGKILL);
	for (unsigned i = 0; i < e->slots; i++) {
		if (!l->child[i].pid)
			continue;
		reap(&l->child[i], &event);
		dtx_buf_clear(&event.text);
	}
	while (l->first < l->n)
		dtx_mem_free(l->queue[l->first++].spec);
	l->first = l->n = 0;
}

static void local_close(struct dtx_engine *e)
{
	struct local *l = local_of(e);

	if (l->child && l->poll)
		local_cancel(e);
	dtx_mem_free(l->child);
	dtx_mem_free(l->poll);
	dtx_mem_free(l->queue);
	dtx_mem_free(l);
}

static const struct dtx_engine_class local_class = {
	.name = "local",
	.submit = local_submit,
	.next = local_next,
	.cancel = local_cancel,
	.close = local_close,
};

enum dtx_code dtx_engine_local(unsigned slots, unsigned silence_s, struct dtx_engine **out,
                               struct dtx_err *err)
{
	struct local *l = dtx_mem_zalloc(1, sizeof(*l));
	enum dtx_code rc = DTX_OK;

	if (!l)
		DTX_FAIL_MEM(err);
	l->head = (struct dtx_engine){ &local_class, slots };
	l->silence_ns = (int64_t)(silence_s ? silence_s : DTX_ENGINE_SILENCE_S) * 1000000000;
	l->child = dtx_mem_zalloc(slots, sizeof(*l->child));
	l->poll = dtx_mem_zalloc(slots, sizeof(*l->poll));
	if (!l->child || !l->poll)
		DTX_FAIL_MEM(err);
	*out = &l->head;
	l = NULL;
out:
	if (l)
		local_close(&l->head);
	return rc;
}
