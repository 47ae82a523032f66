/* A client's side of sessions, see session.h. */
#include "sandbox/session/session.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/log.h"
#include "core/base/text/str.h"
#include "sandbox/main/rundir.h"
#include "sandbox/zygote/launch.h"

#define JOIN_MS   20
#define LOCK_MS   5000
#define TICK_MS   20
#define ANSWER_MS 2000
#define TRIES     50
#define START     "session-"
#define END       ".sock"

bool dtx_session_name_ok(const char *name)
{
	size_t n = strlen(name), i;

	if (!n || n >= DTX_SESSION_NAME || name[0] == '.')
		return false;
	for (i = 0; i < n; i++)
		if (!isalnum((unsigned char)name[i]) && !strchr("-_.", name[i]))
			return false;
	return true;
}

void dtx_session_socket(const char *name, char out[DTX_SESSION_SOCK])
{
	snprintf(out, DTX_SESSION_SOCK, START "%.48s" END, name);
}

/* Gets the name of a session from that of its socket. */
static bool name_of(const char *file, char out[DTX_SESSION_NAME])
{
	size_t n = strlen(file), start = strlen(START), end = strlen(END);

	if (n <= start + end || n - start - end >= DTX_SESSION_NAME ||
	    strncmp(file, START, start) != 0 || strcmp(file + n - end, END) != 0)
		return false;
	dtx_str_copy(out, DTX_SESSION_NAME, (struct dtx_str){ file + start, n - start - end });
	return dtx_session_name_ok(out);
}

static enum dtx_code check_name(const char *name, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (!dtx_session_name_ok(name))
		DTX_FAIL(
			err, DTX_E_USAGE,
			"'%.80s' is no name for a session: 1 to 48 letters, digits, '-', '_', '.', "
			"no dot first",
			name);
out:
	return rc;
}

static enum dtx_code open_folder(int *folder, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	char path[DTX_RUNDIR_PATH] = "";

	*folder = dtx_rundir_open(path, sizeof(path));
	if (*folder < 0)
		DTX_FAIL_NEXT(err, DTX_E_SNIPPET_SETUP_REFUSED,
		              "set XDG_RUNTIME_DIR to a folder of yours with mode 0700",
		              "session: there is no folder for its socket: %s", strerror(errno));
out:
	return rc;
}

/* Waits up to `ms` for an answer. Returns what dtx_wire_recv does, or -3 if none came. */
static int answer(struct dtx_session *s, struct dtx_wire_msg *msg, int ms)
{
	struct pollfd p = { .fd = s->wire.fd, .events = POLLIN };

	if (poll(&p, 1, ms) <= 0)
		return -3;
	s->nfds = DTX_SESSION_FDS;
	return dtx_wire_recv(&s->wire, msg, s->fd, &s->nfds);
}

static void close_fds(struct dtx_session *s)
{
	while (s->nfds)
		dtx_file_close(&s->fd[--s->nfds]);
}

static bool take_state(struct dtx_session *s, const struct dtx_wire_msg *msg, const char *name)
{
	struct dtx_wire_session *st = &s->state;

	memcpy(st, msg->payload, sizeof(*st));
	st->name[sizeof(st->name) - 1] = st->id[sizeof(st->id) - 1] = 0;
	st->last_run[sizeof(st->last_run) - 1] = st->first_run[sizeof(st->first_run) - 1] = 0;
	st->store[sizeof(st->store) - 1] = 0;
	return !strcmp(st->name, name);
}

/* --- the list --- */

/* Calls `each` for the name of every socket of a session. */
static void walk(int folder, void (*each)(void *arg, const char *name), void *arg)
{
	int list = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = list >= 0 ? fdopendir(list) : NULL;
	char name[DTX_SESSION_NAME];
	const struct dirent *e;

	if (!dir) {
		dtx_file_close(&list);
		return;
	}
	while ((e = readdir(dir)))
		if (name_of(e->d_name, name))
			each(arg, name);
	closedir(dir);
}

struct count {
	int folder;
	int64_t n;
};

/* Counts a session that lives, and removes the socket of one whose keeper was killed. Called with
 * the lock held. */
static void count_one(void *arg, const char *name)
{
	struct count *c = arg;
	char path[DTX_SESSION_SOCK];
	int fd;

	dtx_session_socket(name, path);
	fd = dtx_rundir_join(c->folder, path, JOIN_MS);
	if (fd < 0 && errno == ECONNREFUSED)
		unlinkat(c->folder, path, 0);
	else
		c->n++;
	dtx_file_close(&fd);
}

/* --- the turn --- */

/* Starts a keeper, with the lock held. This process has the first turn. */
static enum dtx_code start(struct dtx_session *s, int folder, const char *name,
                           const struct dtx_session_opts *opts, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	char path[DTX_SESSION_SOCK];
	int pair[2] = { -1, -1 }, at = -1;
	struct count count = { folder, 0 };

	walk(folder, count_one, &count);
	if (count.n >= opts->most)
		DTX_FAIL_NEXT(err, DTX_E_USAGE,
		              "dtx session list shows them; dtx session stop NAME ends one",
		              "%lld sessions are open, and session_max allows %lld",
		              (long long)count.n, (long long)opts->most);
	dtx_session_socket(name, path);
	unlinkat(folder, path, 0);
	at = dtx_rundir_listen(folder, path);
	if (at < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		DTX_FAIL(err, DTX_E_SNIPPET_SETUP_REFUSED, "session: its socket: %s",
		         strerror(errno));
	rc = dtx_launch_keeper(name, opts->idle_s, opts->age_s,
	                       (const int[]){ at, folder, pair[1] }, err);
	if (rc != DTX_OK) {
		unlinkat(folder, path, 0);
		goto out;
	}
	s->wire = (struct dtx_wire){ .fd = pair[0] };
	pair[0] = -1;
	s->is_new = true;
	s->state = (struct dtx_wire_session){ .idle_ms = opts->idle_s * 1000,
		                              .age_ms = opts->age_s * 1000,
		                              .born_us = dtx_wall_us() };
	dtx_str_copy(s->state.name, sizeof(s->state.name), dtx_str_of(name));
out:
	dtx_file_close(&at);
	dtx_file_close(&pair[0]);
	dtx_file_close(&pair[1]);
	return rc;
}

/* Connects to the keeper, or starts one. s->wire.fd stays -1 if neither can be done at the moment.
 */
static enum dtx_code join(struct dtx_session *s, int folder, const char *name,
                          const struct dtx_session_opts *opts, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	char path[DTX_SESSION_SOCK];
	int locked = -1;

	dtx_session_socket(name, path);
	s->wire = (struct dtx_wire){ .fd = dtx_rundir_join(folder, path, JOIN_MS) };
	if (s->wire.fd >= 0 || errno == EAGAIN)
		goto out;
	locked = dtx_rundir_lock(folder, DTX_SESSION_LOCK, LOCK_MS);
	if (locked < 0)
		DTX_FAIL(err, DTX_E_SNIPPET_SETUP_REFUSED, "busy: other sessions begin or end");
	s->wire.fd = dtx_rundir_join(folder, path, JOIN_MS);
	if (s->wire.fd < 0 && errno != EAGAIN)
		rc = start(s, folder, name, opts, err);
out:
	dtx_file_close(&locked);
	return rc;
}

#define BUSY_TEXT "busy: another call runs in session '%s'"

/* Waits for the turn. s->wire.fd becomes -1 if the keeper ended before it heard of this client. */
static enum dtx_code wait_turn(struct dtx_session *s, const char *name,
                               const struct dtx_session_opts *opts, int64_t deadline,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const uint32_t what = opts->no_wait ? DTX_SESSION_NOW : DTX_SESSION_TURN;
	struct dtx_wire_msg msg;
	int got = -3;

	if (!dtx_wire_send(&s->wire, DTX_WIRE_ASK_SESSION, &what, sizeof(what), NULL, 0))
		got = 0;
	while (got == -3) {
		got = answer(s, &msg, TICK_MS);
		if (got == -3 && opts->cancelled && opts->cancelled(NULL))
			DTX_FAIL(err, DTX_E_CANCELLED, "cancelled");
		if (got == -3 && dtx_now_ns() > deadline)
			DTX_FAIL_NEXT(err, DTX_E_SNIPPET_SETUP_REFUSED,
			              "wait for it, or give this call a longer --jail-queue-wait",
			              BUSY_TEXT, name);
	}
	if (got == 1 && msg.type == DTX_WIRE_BUSY)
		DTX_FAIL_NEXT(err, DTX_E_SNIPPET_SETUP_REFUSED, "without --no-wait this call waits",
		              BUSY_TEXT, name);
	if (got == 1 && msg.type == DTX_WIRE_STOPPED)
		DTX_FAIL_NEXT(err, DTX_E_SNIPPET_SETUP_REFUSED,
		              "the next call begins a new session, without its variables",
		              "session: '%s' ended while this call waited for it", name);
	if (got == 1 && msg.type == DTX_WIRE_TURN && take_state(s, &msg, name) &&
	    s->nfds == (s->state.calls ? DTX_SESSION_FDS - 1 + s->state.grant.audit : 0) &&
	    s->state.grant.audit <= 1) {
		s->is_new = !s->state.calls;
		goto out;
	}
	if (got == 1 || got == -2)
		DTX_FAIL(err, DTX_E_SNIPPET_SETUP_REFUSED,
		         "session: the answer of its keeper cannot be read");
	dtx_session_close(s);
out:
	return rc;
}

enum dtx_code dtx_session_take(struct dtx_session *s, const char *name,
                               const struct dtx_session_opts *opts, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int64_t deadline = dtx_now_ns() + opts->wait_ms * 1000000;
	int folder = -1, tries;

	DTX_TRY(check_name(name, err));
	DTX_TRY(open_folder(&folder, err));
	for (tries = 0; tries < TRIES; tries++) {
		DTX_TRY(join(s, folder, name, opts, err));
		if (s->wire.fd >= 0 && s->is_new)
			goto out;
		if (s->wire.fd >= 0)
			DTX_TRY(wait_turn(s, name, opts, deadline, err));
		if (s->wire.fd >= 0)
			goto out;
		if (opts->cancelled && opts->cancelled(NULL))
			DTX_FAIL(err, DTX_E_CANCELLED, "cancelled");
		poll(NULL, 0, TICK_MS);
	}
	DTX_FAIL(err, DTX_E_SNIPPET_SETUP_REFUSED,
	         "busy: the keeper of session '%s' does not answer", name);
out:
	if (rc != DTX_OK)
		dtx_session_close(s);
	dtx_file_close(&folder);
	return rc;
}

bool dtx_session_keep(struct dtx_session *s, const int *fds, size_t nfds)
{
	bool sent = s->wire.fd >= 0 &&
	            dtx_wire_send(&s->wire, DTX_WIRE_KEEP, &s->state, sizeof(s->state), fds, nfds);

	dtx_file_close(&s->wire.fd);
	return sent;
}

void dtx_session_back(struct dtx_session *s)
{
	if (s->wire.fd >= 0 && !dtx_wire_send(&s->wire, DTX_WIRE_BACK, NULL, 0, NULL, 0))
		errno = 0; /* it is gone */
	dtx_file_close(&s->wire.fd);
}

void dtx_session_close(struct dtx_session *s)
{
	close_fds(s);
	dtx_file_close(&s->wire.fd);
}

/* --- questions --- */

/* Sends a question to the keeper of a session and reads its answer. */
static bool question(int folder, const char *name, uint32_t what, uint16_t type,
                     struct dtx_wire_session *state)
{
	struct dtx_session s = DTX_SESSION_INIT;
	struct dtx_wire_msg msg;
	char path[DTX_SESSION_SOCK];
	bool ok = false;

	dtx_session_socket(name, path);
	s.wire.fd = dtx_rundir_join(folder, path, JOIN_MS);
	if (s.wire.fd >= 0 &&
	    dtx_wire_send(&s.wire, DTX_WIRE_ASK_SESSION, &what, sizeof(what), NULL, 0) &&
	    answer(&s, &msg, ANSWER_MS) == 1 && msg.type == type && !s.nfds &&
	    take_state(&s, &msg, name)) {
		*state = s.state;
		ok = true;
	}
	dtx_session_close(&s);
	return ok;
}

struct listing {
	int folder;
	struct dtx_wire_session *list;
	size_t n;
};

static void list_one(void *arg, const char *name)
{
	struct listing *l = arg;

	if (l->n < DTX_SESSIONS_MAX &&
	    question(l->folder, name, DTX_SESSION_INFO, DTX_WIRE_INFO, &l->list[l->n]))
		l->n++;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct dtx_wire_session *)a)->name,
	              ((const struct dtx_wire_session *)b)->name);
}

enum dtx_code dtx_session_list(struct dtx_wire_session list[DTX_SESSIONS_MAX], size_t *n,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct listing l = { -1, list, 0 };

	DTX_TRY(open_folder(&l.folder, err));
	walk(l.folder, list_one, &l);
	qsort(list, l.n, sizeof(*list), by_name);
	*n = l.n;
out:
	dtx_file_close(&l.folder);
	return rc;
}

static enum dtx_code question_named(const char *name, uint32_t what, uint16_t type,
                                    struct dtx_wire_session *state, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int folder = -1;

	DTX_TRY(check_name(name, err));
	DTX_TRY(open_folder(&folder, err));
	if (!question(folder, name, what, type, state))
		DTX_FAIL_NEXT(err, DTX_E_USAGE, "dtx session list", "there is no session '%s'",
		              name);
out:
	dtx_file_close(&folder);
	return rc;
}

enum dtx_code dtx_session_stop(const char *name, struct dtx_wire_session *state,
                               struct dtx_err *err)
{
	return question_named(name, DTX_SESSION_STOP, DTX_WIRE_STOPPED, state, err);
}

enum dtx_code dtx_session_info(const char *name, struct dtx_wire_session *state,
                               struct dtx_err *err)
{
	return question_named(name, DTX_SESSION_INFO, DTX_WIRE_INFO, state, err);
}
