/* Main's side of a jail on another machine, see remote.h. */
#include "sandbox/main/remote.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/memory/mem.h"
#include "core/base/text/utf8.h"
#include "sandbox/policy/ns.h"

#define SETUP_MS    60000 /* time for a container and its Python to start */
#define TICK_MS     20
#define PIECE       ((size_t)1 << 16)
#define SIGNAL_MAX  64
#define TIME_MAX_US ((int64_t)1 << 60) /* two of them can be added without overflow */
#define NAME_LEFT   "unknown"
#define ENDED       "the far side ended; is it 'dtx jail-guest' of this version?"

#define REFUSE(err, ...)                                                                           \
	DTX_FAIL((err), DTX_E_SNIPPET_SETUP_REFUSED, DTX_REMOTE_PREFIX " " __VA_ARGS__)

enum dtx_code dtx_remote_command(const char **command, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const char *text = getenv("DTX_JAIL");
	size_t n = strlen(DTX_REMOTE_PREFIX);

	*command = NULL;
	if (!text || !text[0] || !strcmp(text, "local"))
		goto out;
	if (strncmp(text, DTX_REMOTE_PREFIX, n) != 0 || !text[n])
		DTX_FAIL(err, DTX_E_USAGE, "DTX_JAIL is '%.80s', expected local or exec:COMMAND",
		         text);
	*command = text + n;
out:
	return rc;
}

bool dtx_remote_sane(const struct dtx_remote_answer *a, const struct dtx_jail_limits *limits)
{
	size_t i;

	if (memcmp(a->magic, DTX_REMOTE_ANSWER, sizeof(a->magic)) != 0 || a->refused > 1 ||
	    a->audit > 1 || a->has_done > 1 || a->has_exited > 1 || a->dead > 1 ||
	    a->kill >= DTX_KILL_COUNT || a->ndenied > DTX_JAIL_DENIED_MAX ||
	    a->done.code >= DTX_DONE_COUNT || a->done.used > limits->output ||
	    a->result_len != (a->has_done ? a->done.used : 0) || a->signal < 0 ||
	    a->signal > SIGNAL_MAX || a->exited.user_us < 0 || a->exited.user_us > TIME_MAX_US ||
	    a->exited.sys_us < 0 || a->exited.sys_us > TIME_MAX_US)
		return false;
	for (i = 0; i < 2; i++)
		if (a->stream_len[i] > DTX_STREAM_MAX + PIECE ||
		    a->stream_len[i] > a->stream_total[i])
			return false;
	return true;
}

/* --- the command --- */

struct far {
	pid_t pid;
	int to, from;
	int64_t deadline;
};

static int prepare(posix_spawn_file_actions_t *actions, posix_spawnattr_t *attr, int in, int out)
{
	sigset_t pipes;
	int rc = posix_spawn_file_actions_adddup2(actions, in, 0);

	if (!rc)
		rc = posix_spawn_file_actions_adddup2(actions, out, 1);
	if (!rc) /* the remote side must not write to our terminal */
		rc = posix_spawn_file_actions_addopen(actions, 2, "/dev/null", O_WRONLY, 0);
	if (!rc)
		rc = posix_spawn_file_actions_addclosefrom_np(actions, 3);
	/* dtx ignores SIGPIPE, and the command would inherit that. With the default, whatever
	 * the command leaves running ends when it writes to a pipe without a reader. */
	sigemptyset(&pipes);
	sigaddset(&pipes, SIGPIPE);
	if (!rc)
		rc = posix_spawnattr_setsigdefault(attr, &pipes);
	if (!rc)
		rc = posix_spawnattr_setflags(attr, POSIX_SPAWN_SETSIGDEF);
	return rc;
}

static int spawn(const char *command, int in, int out, pid_t *pid)
{
	char *argv[] = { (char *)"sh", (char *)"-c", (char *)(uintptr_t)command, NULL };
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	int rc = posix_spawn_file_actions_init(&actions);

	if (rc)
		return rc;
	rc = posix_spawnattr_init(&attr);
	if (!rc) {
		rc = prepare(&actions, &attr, in, out);
		if (!rc)
			rc = posix_spawn(pid, "/bin/sh", &actions, &attr, argv, environ);
		posix_spawnattr_destroy(&attr);
	}
	posix_spawn_file_actions_destroy(&actions);
	return rc;
}

static enum dtx_code start(struct far *f, const char *command, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int in[2] = { -1, -1 }, out[2] = { -1, -1 }, bad;

	if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC))
		REFUSE(err, "pipes: %s", strerror(errno));
	bad = spawn(command, in[0], out[1], &f->pid);
	if (bad)
		REFUSE(err, "'%.100s': %s", command, strerror(bad));
	f->to = in[1];
	f->from = out[0];
	in[1] = out[0] = -1;
	if (fcntl(f->to, F_SETFL, O_NONBLOCK) || fcntl(f->from, F_SETFL, O_NONBLOCK))
		REFUSE(err, "pipes: %s", strerror(errno));
out:
	dtx_file_close(&in[0]);
	dtx_file_close(&in[1]);
	dtx_file_close(&out[0]);
	dtx_file_close(&out[1]);
	return rc;
}

static void stop(struct far *f)
{
	int status;

	dtx_file_close(&f->to);
	dtx_file_close(&f->from);
	if (f->pid <= 0)
		return;
	kill(f->pid, SIGKILL); /* the guest sees the end of its input and kills its worker */
	while (waitpid(f->pid, &status, 0) < 0 && errno == EINTR)
		;
	f->pid = 0;
}

/* --- bytes --- */

/* Waits for a descriptor until the deadline of the whole run. Stops: a remote side that sends
 * one byte now and then and so never exceeds the timeout of a single wait. */
static enum dtx_code wait_far(struct dtx_box *b, const struct far *f, int fd, short events,
                              struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	for (;;) {
		struct pollfd p = { .fd = fd, .events = events };
		int n = poll(&p, 1, TICK_MS);

		if (n < 0 && errno != EINTR)
			REFUSE(err, "poll: %s", strerror(errno));
		if (b->spec.cancelled && b->spec.cancelled(b->spec.cancel_arg))
			DTX_FAIL(err, DTX_E_CANCELLED, "cancelled");
		if (dtx_now_ns() > f->deadline)
			REFUSE(err, "no answer of the far side in time");
		if (n > 0)
			goto out;
	}
out:
	return rc;
}

static enum dtx_code send_far(struct dtx_box *b, const struct far *f, const void *bytes, size_t n,
                              struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const char *at = bytes;

	while (n) {
		ssize_t done = write(f->to, at, DTX_MIN(n, PIECE));

		if (done > 0) {
			at += done;
			n -= (size_t)done;
		} else if (done < 0 && errno == EAGAIN) {
			DTX_TRY(wait_far(b, f, f->to, POLLOUT, err));
		} else if (errno != EINTR) {
			REFUSE(err, ENDED);
		}
	}
out:
	return rc;
}

static enum dtx_code take_far(struct dtx_box *b, const struct far *f, void *bytes, size_t n,
                              struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	char *at = bytes;

	while (n) {
		ssize_t done = read(f->from, at, DTX_MIN(n, PIECE));

		if (done > 0) {
			at += done;
			n -= (size_t)done;
		} else if (done == 0) {
			REFUSE(err, ENDED);
		} else if (errno == EAGAIN) {
			DTX_TRY(wait_far(b, f, f->from, POLLIN, err));
		} else if (errno != EINTR) {
			REFUSE(err, "%s", strerror(errno));
		}
	}
out:
	return rc;
}

/* --- the run --- */

static enum dtx_code ask(struct dtx_box *b, const struct far *f, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_jail_limits *l = &b->spec.limits;
	struct dtx_remote_ask a = { .magic = DTX_REMOTE_ASK,
		                    .mode = b->spec.mode,
		                    .hash_seed = b->spec.hash_seed,
		                    .wall_ms = l->wall_ms,
		                    .cpu_ms = l->cpu_ms,
		                    .now_us = b->spec.now_us,
		                    .memory = l->memory,
		                    .output = l->output,
		                    .seed = b->spec.seed,
		                    .keep_output = b->spec.keep_output,
		                    .science = b->spec.science,
		                    .profile = (uint32_t)l->profile };
	void *frame;

	/* A list that was cut short would require less than the user asked for. */
	if (b->spec.require_layers && strlen(b->spec.require_layers) >= sizeof(a.require_layers))
		REFUSE(err, "the list of required layers must be at most %zu bytes",
		       sizeof(a.require_layers) - 1);
	if (b->spec.require_layers)
		dtx_str_copy(a.require_layers, sizeof(a.require_layers),
		             dtx_str_of(b->spec.require_layers));
	a.in_len = b->in_len = dtx_frame_size(&b->frame);
	frame = dtx_mem_zalloc(1, (size_t)a.in_len);
	if (!frame)
		DTX_FAIL_MEM(err);
	rc = dtx_frame_write(&b->frame, frame, err);
	if (rc == DTX_OK)
		rc = send_far(b, f, &a, sizeof(a), err);
	if (rc == DTX_OK)
		rc = send_far(b, f, frame, (size_t)a.in_len, err);
	dtx_mem_free(frame);
out:
	return rc;
}

/* Replaces everything but printable ASCII. For versions and names of calls, which are plain
 * words; anything else could write to a terminal. */
static void make_plain(char *text, size_t size)
{
	size_t i;

	text[size - 1] = 0;
	for (i = 0; text[i]; i++)
		if (text[i] < ' ' || text[i] > '~')
			text[i] = '?';
}

/* Escapes control characters and invalid UTF-8. A reason may be in any language and goes to
 * terminals, logs and records. */
static void spell_out(struct dtx_str text, char *out, size_t size)
{
	size_t pos = 0, from = 0, at = 0;

	while (pos < text.len && at + 5 < size) {
		uint32_t cp = dtx_utf8_next(text.ptr, text.len, &pos);

		if (cp < ' ' || (cp >= 0x7f && cp < 0xa0) || (pos - from == 1 && cp > 0x7f)) {
			snprintf(out + at, size - at, "\\x%02x", (unsigned char)text.ptr[from]);
			at += 4;
			pos = from + 1;
		} else {
			memcpy(out + at, text.ptr + from, pos - from);
			at += pos - from;
		}
		from = pos;
	}
	out[at] = 0;
}

static enum dtx_code take_denied(struct dtx_box *b, const struct far *f, uint32_t n,
                                 struct dtx_jail_report *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t i;
	int k;

	for (i = 0; i < n; i++) {
		struct dtx_remote_denied d;
		struct dtx_jail_denied *to = &r->denied[i];

		DTX_TRY(take_far(b, f, &d, sizeof(d), err));
		make_plain(d.name, sizeof(d.name));
		*to = (struct dtx_jail_denied){ .nr = d.nr, .count = d.count, .at_us = d.at_us };
		to->verdict = d.verdict == DTX_JAIL_KILLED ? DTX_JAIL_KILLED : DTX_JAIL_REFUSED;
		to->name = dtx_arena_strdup(&r->arena, d.name);
		if (!to->name)
			to->name = NAME_LEFT;
		for (k = 0; k < 6; k++)
			to->args[k] = d.args[k];
		r->ndenied = i + 1;
	}
out:
	return rc;
}

static enum dtx_code take_stream(struct dtx_box *b, const struct far *f, struct dtx_stream *s,
                                 uint64_t len, uint64_t total, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	char piece[4096];

	while (len) {
		size_t n = DTX_MIN((size_t)len, sizeof(piece));

		DTX_TRY(take_far(b, f, piece, n, err));
		dtx_stream_add(s, piece, n);
		len -= n;
	}
	s->total = DTX_MAX(s->total, total);
out:
	return rc;
}

/* Stores the result in a memory file, where it is read as if a worker had written it. */
static enum dtx_code take_result(struct dtx_box *b, const struct far *f, uint64_t len,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	void *map = MAP_FAILED;

	b->result = memfd_create("dtx-out", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (b->result < 0 || (len && ftruncate(b->result, (off_t)len)))
		REFUSE(err, "memfd: %s", strerror(errno));
	if (!len)
		goto out;
	map = mmap(NULL, (size_t)len, PROT_READ | PROT_WRITE, MAP_SHARED, b->result, 0);
	if (map == MAP_FAILED)
		REFUSE(err, "mmap: %s", strerror(errno));
	rc = take_far(b, f, map, (size_t)len, err);
	munmap(map, (size_t)len);
out:
	return rc;
}

static void keep_welcome(struct dtx_wire_welcome *to, const struct dtx_wire_welcome *from)
{
	*to = *from;
	make_plain(to->filter_hash, sizeof(to->filter_hash));
	make_plain(to->python, sizeof(to->python));
	make_plain(to->pandas, sizeof(to->pandas));
	make_plain(to->numpy, sizeof(to->numpy));
	make_plain(to->abi, sizeof(to->abi));
}

static enum dtx_code keep_facts(struct dtx_box *b, const struct dtx_remote_answer *a,
                                struct dtx_jail_report *r, struct dtx_err *err)
{
	keep_welcome(&b->welcome, &a->welcome);
	b->grant.audit = a->audit;
	b->done = a->done;
	b->exited = a->exited;
	b->has_done = a->has_done;
	b->has_exited = a->has_exited;
	b->dead = a->dead;
	b->kill = (enum dtx_kill)a->kill;
	r->signal = a->signal;
	r->denied_total = a->denied_total;
	r->peak_anon = a->peak_anon;
	r->base_rss = a->base_rss;
	r->us.lease = a->us_lease;
	r->us.verify = a->us_verify;
	/* what the remote side says; it cannot be checked from here */
	snprintf(r->verify, sizeof(r->verify), "far side");
	dtx_super_describe(b, r);
	return dtx_super_required(b, err);
}

static enum dtx_code hear(struct dtx_box *b, const struct far *f, struct dtx_jail_report *r,
                          struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_remote_answer a;
	char reason[400];
	size_t i;

	DTX_TRY(take_far(b, f, &a, sizeof(a), err));
	a.text[sizeof(a.text) - 1] = a.verify[sizeof(a.verify) - 1] = 0;
	if (!dtx_remote_sane(&a, &b->spec.limits))
		REFUSE(err, "the answer of the far side cannot be read");
	if (a.refused) {
		spell_out(dtx_str_of(a.text), reason, sizeof(reason));
		DTX_FAIL(err, DTX_E_SNIPPET_SETUP_REFUSED, "%s", reason);
	}
	DTX_TRY(keep_facts(b, &a, r, err));
	DTX_TRY(take_denied(b, f, a.ndenied, r, err));
	for (i = 0; i < 2; i++)
		DTX_TRY(take_stream(b, f, &b->stream[i], a.stream_len[i], a.stream_total[i], err));
	DTX_TRY(take_result(b, f, a.result_len, err));
out:
	return rc;
}

enum dtx_code dtx_remote_run(struct dtx_box *b, struct dtx_jail_report *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct far f = { 0, -1, -1, 0 };
	struct sigaction ignore = { .sa_handler = SIG_IGN }, before;

	sigaction(SIGPIPE, &ignore, &before);
	f.deadline = dtx_now_ns() + (SETUP_MS + b->spec.limits.wall_ms) * 1000000;
	DTX_TRY(start(&f, b->command, err));
	DTX_TRY(ask(b, &f, err));
	DTX_TRY(hear(b, &f, r, err));
out:
	stop(&f);
	sigaction(SIGPIPE, &before, NULL);
	return rc;
}
