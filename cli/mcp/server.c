/* The main loop of `dtx mcp`: reads requests, looks after children and writes answers, one thing at
 * a time and without waiting for any of them. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "cli/mcp/mcp.h"
#include "cli/signal_flag.h"
#include "core/base/file.h"
#include "core/base/log.h"
#include "core/base/memory/mem.h"

#define OUTBOX_MAX    ((size_t)256 << 20)
#define OUTBOX_FULL   ((size_t)16 << 20) /* no request is read while so much waits */
#define WRITE_AT_ONCE 4096               /* what poll() promises that a pipe takes */
#define TICK_MS       1000
#define END_NS        ((int64_t)3000000000)

/* --- messages out --- */

void dtx_mcp_send(struct dtx_mcp_server *s, json_t *message)
{
	struct dtx_buf *out = &s->outbox;

	if (s->sent && s->sent == out->len) {
		dtx_buf_reset(out);
		s->sent = 0;
	}
	if (message)
		dtx_json_print(message, 0, out);
	else
		dtx_buf_add(out, "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32603,\"message\":"
		                 "\"out of memory\"}}");
	dtx_buf_addc(out, '\n');
	json_decref(message);
}

static void write_some(struct dtx_mcp_server *s)
{
	size_t left = s->outbox.len - s->sent;
	ssize_t n = write(s->out, s->outbox.ptr + s->sent, DTX_MIN(left, (size_t)WRITE_AT_ONCE));

	if (n > 0)
		s->sent += (size_t)n;
	else if (n < 0 && errno != EINTR && errno != EAGAIN)
		s->broken = true;
	/* what is written is removed, now and then */
	if (s->sent > OUTBOX_FULL && s->sent > s->outbox.len / 2) {
		s->outbox.len -= s->sent;
		memmove(s->outbox.ptr, s->outbox.ptr + s->sent, s->outbox.len);
		s->sent = 0;
	}
}

/* --- calls --- */

struct dtx_mcp_call *dtx_mcp_call_add(struct dtx_mcp_server *s, const json_t *id, bool modern)
{
	struct dtx_mcp_call *c, **at = &s->call;

	if (s->ncalls >= DTX_MCP_CALLS_MAX)
		return NULL;
	c = dtx_mem_zalloc(1, sizeof(*c));
	if (!c)
		return NULL;
	c->server = s;
	c->id = json_deep_copy(id);
	c->modern = modern;
	c->child = (struct dtx_mcp_child){ .process = -1, .out = -1, .err = -1 };
	c->since_ns = dtx_now_ns();
	c->deadline_ns = c->since_ns + s->answer_ns;
	dtx_run_id_new(c->run_id);
	while (*at)
		at = &(*at)->next;
	*at = c;
	s->ncalls++;
	return c;
}

static void call_free(struct dtx_mcp_call *c)
{
	dtx_mcp_child_clear(&c->child);
	json_decref(c->id);
	json_decref(c->progress);
	json_decref(c->args);
	json_decref(c->result);
	json_decref(c->content);
	json_decref(c->kept);
	dtx_mem_free(c->refused);
	dtx_mem_free(c);
}

enum dtx_code dtx_mcp_call_spawn(struct dtx_mcp_call *c, struct dtx_mcp_argv *a,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	char *argv[DTX_MCP_ARGV_MAX + 4] = { (char *)"dtx" };
	size_t n = 1;

	if (a->full)
		DTX_FAIL(err, DTX_E_USAGE, "the call needs more than %d words of a command line",
		         DTX_MCP_ARGV_MAX);
	for (size_t i = 0; i < a->n; i++) {
		argv[n++] = a->item[i];
		if (!i && c->server->cli->store) {
			argv[n++] = (char *)"--store";
			argv[n++] = (char *)(uintptr_t)c->server->cli->store;
		}
	}
	dtx_mcp_child_clear(&c->child);
	DTX_TRY(dtx_mcp_child_start(&c->child, c->server->root, argv, err));
	if (c->stopped)
		dtx_mcp_child_stop(&c->child);
out:
	dtx_mcp_argv_clear(a);
	return rc;
}

void dtx_mcp_call_result(struct dtx_mcp_call *c, json_t *result, json_t *content)
{
	c->finished = true;
	c->content = content;
	c->result = result;
	if (!result) {
		c->refused = dtx_mem_strdup("out of memory");
		c->error = DTX_MCP_INTERNAL;
	}
}

/* Finishes a call with a mistake in its arguments. */
static void call_refuse(struct dtx_mcp_call *c, const struct dtx_err *err)
{
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	const char *next = dtx_err_next(err);

	dtx_buf_add(&text, err->msg);
	if (next)
		dtx_buf_printf(&text, "; next: %s", next);
	c->finished = true;
	if (!c->error)
		c->error = DTX_MCP_INVALID_PARAMS;
	c->refused = dtx_buf_steal(&text);
}

struct dtx_mcp_call *dtx_mcp_call_find(struct dtx_mcp_server *s, const char *run_id)
{
	struct dtx_mcp_call *c = s->call;

	while (c && strcmp(c->run_id, run_id) != 0)
		c = c->next;
	return c;
}

static void begin(struct dtx_mcp_call *c)
{
	struct dtx_err err = DTX_ERR_INIT;
	enum dtx_code rc;

	c->started = true;
	rc = c->tool ? c->tool->start(c, &err) : dtx_mcp_resource_start(c, &err);
	if (rc != DTX_OK)
		call_refuse(c, &err);
	dtx_err_clear(&err);
}

static void child_ended(struct dtx_mcp_call *c)
{
	struct dtx_err err = DTX_ERR_INIT;
	enum dtx_code rc;

	if (c->stopped && !c->later) { /* it was cancelled: its result is of no use */
		c->finished = true;
		return;
	}
	rc = dtx_buf_check(&c->child.stdout_text, "result of the command", &err);
	if (rc == DTX_OK)
		rc = dtx_buf_check(&c->child.stderr_text, "list of messages", &err);
	if (rc == DTX_OK)
		rc = c->tool ? c->tool->ended(c, &err) : dtx_mcp_resource_ended(c, &err);
	if (rc != DTX_OK)
		call_refuse(c, &err);
	dtx_err_clear(&err);
}

/* Moves a call on by one step. */
static void advance(struct dtx_mcp_server *s, struct dtx_mcp_call *c)
{
	/* One that waits for another call has no child, and goes on when that one has ended. */
	bool waits = c->started && !c->finished && !c->child.pid;

	if (!c->started && c->stopped)
		c->started = c->finished = true;
	else if (!c->started && s->running < DTX_MCP_RUNNING_MAX)
		begin(c);
	else if (c->child.pid ? dtx_mcp_child_read(&c->child) : waits)
		child_ended(c);
	if (c->finished ? c->id != NULL : c->id && dtx_now_ns() >= c->deadline_ns)
		dtx_mcp_answer(c);
	else if (c->id)
		dtx_mcp_progress(c);
}

/* Moves all calls on, removes those that are answered, and keeps the latest results that came after
 * their call was answered with "running". */
static void advance_all(struct dtx_mcp_server *s)
{
	struct dtx_mcp_call **at = &s->call, *c;
	size_t kept = 0;

	s->running = 0;
	for (c = s->call; c; c = c->next)
		s->running += c->child.pid != 0;
	for (c = s->call; c; c = c->next) {
		bool ran = c->child.pid != 0;

		if (!c->finished)
			advance(s, c);
		kept += c->finished && c->later;
		s->running += (c->child.pid != 0) - (size_t)ran;
	}
	while ((c = *at)) {
		if (!c->finished || (c->later && kept <= DTX_MCP_KEPT_MAX)) {
			at = &c->next;
			continue;
		}
		kept -= c->later;
		*at = c->next;
		s->ncalls--;
		call_free(c);
	}
}

/* --- the loop --- */

#define SLOTS (2 + 3 * DTX_MCP_RUNNING_MAX)

static bool ready(struct dtx_mcp_server *s, bool reads, bool *readable, bool *writable)
{
	struct pollfd p[SLOTS];
	nfds_t n = 2;
	bool soon = false;
	int got;

	p[0] = (struct pollfd){ reads ? s->in : -1, POLLIN, 0 };
	p[1] = (struct pollfd){ s->outbox.len > s->sent ? s->out : -1, POLLOUT, 0 };
	for (struct dtx_mcp_call *c = s->call; c && n + 3 <= SLOTS; c = c->next) {
		soon |= !c->started && s->running < DTX_MCP_RUNNING_MAX;
		if (!c->child.pid)
			continue;
		p[n++] = (struct pollfd){ c->child.process, POLLIN, 0 };
		p[n++] = (struct pollfd){ c->child.out, POLLIN, 0 };
		p[n++] = (struct pollfd){ c->child.err, POLLIN, 0 };
	}
	got = poll(p, n, soon ? 0 : TICK_MS);
	*readable = got > 0 && p[0].revents;
	*writable = got > 0 && p[1].revents;
	return got >= 0 || errno == EINTR;
}

/* Returns false at the end of stdin. */
static bool read_requests(struct dtx_mcp_server *s)
{
	char bytes[65536];
	ssize_t n = read(s->in, bytes, sizeof(bytes));

	if (n > 0)
		dtx_mcp_reader_feed(&s->reader, bytes, (size_t)n, dtx_mcp_message, s);
	return n > 0 || (n < 0 && (errno == EINTR || errno == EAGAIN));
}

/* Ends all children and writes what is answered already. */
static void wind_up(struct dtx_mcp_server *s)
{
	int64_t until = dtx_now_ns() + END_NS;
	bool readable, writable;

	for (struct dtx_mcp_call *c = s->call; c; c = c->next) {
		json_decref(c->id);
		c->id = NULL;
		c->stopped = true;
		dtx_mcp_child_stop(&c->child);
	}
	while (dtx_now_ns() < until && !s->broken && (s->call || s->outbox.len > s->sent)) {
		advance_all(s);
		if (!s->call && s->outbox.len <= s->sent)
			break;
		if (!ready(s, false, &readable, &writable))
			break;
		if (writable)
			write_some(s);
	}
	while (s->call) {
		struct dtx_mcp_call *next = s->call->next;

		call_free(s->call);
		s->call = next;
	}
}

enum dtx_code dtx_mcp_serve(struct dtx_mcp_server *s, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	bool readable, writable, open = true;

	dtx_mcp_reader_init(&s->reader);
	dtx_buf_init(&s->outbox, OUTBOX_MAX);
	while (open && !s->broken && !dtx_cancel_asked(NULL)) {
		if (!ready(s, s->outbox.len - s->sent < OUTBOX_FULL, &readable, &writable))
			DTX_FAIL(err, DTX_E_INPUT_IO, "cannot wait for requests: %s",
			         strerror(errno));
		if (readable)
			open = read_requests(s);
		if (!open)
			dtx_mcp_reader_end(&s->reader, dtx_mcp_message, s);
		if (writable)
			write_some(s);
		advance_all(s);
		DTX_TRY(dtx_buf_check(&s->outbox, "list of answers", err));
	}
out:
	wind_up(s);
	dtx_mcp_reader_clear(&s->reader);
	dtx_buf_clear(&s->outbox);
	return rc;
}
