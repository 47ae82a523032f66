/* The Model Context Protocol in both of its eras, in one process: a request whose _meta names a
 * version is of 2026-07-28, which has no state; the others are of 2025-11-25, after initialize. */
#include <string.h>

#include "cli/mcp/mcp.h"
#include "cli/signal_flag.h"
#include "core/base/log.h"
#include "core/base/memory/mem.h"
#include "core/io/formats.h"

#define META_VERSION      "io.modelcontextprotocol/protocolVersion"
#define META_CAPABILITIES "io.modelcontextprotocol/clientCapabilities"
#define META_SERVER       "io.modelcontextprotocol/serverInfo"
#define LIST_TTL_MS       3600000
#define PROGRESS_NS       ((int64_t)2000000000)

static const char instructions[] =
	"dtx transforms files with tables below one folder. Describe a file "
	"first, then run a plan on it: typed steps, of which dtx://schema/plan is the JSON Schema. "
	"Where a plan cannot say it, run_python runs pandas in a jail without network. Each run is "
	"recorded: provenance, why and replay explain it. Cell values are shown only as far as the "
	"person who started the server allows.";

/* A text, and the formats that are read. A new reference; NULL: out of memory. */
static json_t *with_formats(const char *text)
{
	struct dtx_buf buf = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	json_t *made;

	dtx_buf_printf(&buf, "%s Formats: ", text);
	dtx_formats_print(dtx_read_formats, "", &buf);
	dtx_buf_add(&buf, ".");
	made = json_string(dtx_buf_text(&buf));
	dtx_buf_clear(&buf);
	return made;
}

/* --- answers --- */

static json_t *server_info(void)
{
	return json_pack("{ss ss ss}", "name", "dtx", "title", "dtx", "version", DTX_VERSION);
}

static void send_error(struct dtx_mcp_server *s, const json_t *id, int code, const char *text,
                       json_t *data)
{
	json_t *error = json_pack("{si ss}", "code", code, "message", text);

	if (data)
		json_object_set_new(error, "data", data);
	/* Without a usable id there is no member: the protocol's schema has no null there. */
	dtx_mcp_send(s, id ? json_pack("{ss sO so}", "jsonrpc", "2.0", "id", id, "error", error)
	                   : json_pack("{ss so}", "jsonrpc", "2.0", "error", error));
}

/* Sends a result (taken). In the modern era it says that it is complete, and of whom it is;
 * `cached` adds how long a client may keep it. */
static void send_result(struct dtx_mcp_server *s, const json_t *id, bool modern, bool cached,
                        json_t *result)
{
	if (modern) {
		json_object_set_new(result, "resultType", json_string("complete"));
		json_object_set_new(result, "_meta", json_pack("{so}", META_SERVER, server_info()));
		if (cached) {
			json_object_set_new(result, "ttlMs", json_integer(LIST_TTL_MS));
			json_object_set_new(result, "cacheScope", json_string("private"));
		}
	}
	dtx_mcp_send(s, json_pack("{ss sO so}", "jsonrpc", "2.0", "id", id, "result", result));
}

/* --- methods --- */

struct request {
	struct dtx_mcp_server *s;
	const json_t *id, *params;
	bool modern;
};

static json_t *parsed(const char *text)
{
	json_t *out = NULL;

	return dtx_json_parse(dtx_str_of(text), (struct dtx_json_limits){ 0, 0 }, &out, NULL) ==
	                       DTX_OK
	               ? out
	               : NULL;
}

static void do_initialize(const struct request *r)
{
	/* The parts of 2025-06-18 that are used here are the same; any other version is answered
	 * with the latest that has this handshake. */
	const char *wanted = dtx_json_text(r->params, "protocolVersion", "");
	const char *version = !strcmp(wanted, "2025-06-18") ? wanted : DTX_MCP_LEGACY;

	r->s->legacy = true;
	send_result(r->s, r->id, false, false,
	            json_pack("{ss s{s{} s{} s{sb}} so so}", "protocolVersion", version,
	                      "capabilities", "tools", "logging", "resources", "subscribe", 1,
	                      "serverInfo", server_info(), "instructions",
	                      with_formats(instructions)));
}

static void do_discover(const struct request *r)
{
	send_result(r->s, r->id, true, true,
	            json_pack("{s[s] s{s{} s{}} so}", "supportedVersions", DTX_MCP_MODERN,
	                      "capabilities", "tools", "resources", "instructions",
	                      with_formats(instructions)));
}

static void do_empty(const struct request *r)
{
	send_result(r->s, r->id, false, false, json_object());
}

static void do_set_level(const struct request *r)
{
	static const char levels[] = "debug,info,notice,warning,error,critical,alert,emergency";
	const char *level = dtx_json_text(r->params, "level", "");

	if (!dtx_str_in_list(levels, level))
		send_error(r->s, r->id, DTX_MCP_INVALID_PARAMS, "\"level\" is no level", NULL);
	else
		do_empty(r);
}

static void do_list(const struct request *r, const char *name, json_t *list)
{
	/* each list is one page: a cursor can only be a mistake */
	if (json_object_get(r->params, "cursor")) {
		json_decref(list);
		send_error(r->s, r->id, DTX_MCP_INVALID_PARAMS, "there is no such cursor", NULL);
		return;
	}
	send_result(r->s, r->id, r->modern, true, json_pack("{so}", name, list));
}

static void do_tools(const struct request *r)
{
	do_list(r, "tools", json_incref(r->s->tools));
}

static void do_resources(const struct request *r)
{
	do_list(r, "resources", parsed(dtx_mcp_resources));
}

static void do_templates(const struct request *r)
{
	do_list(r, "resourceTemplates", parsed(dtx_mcp_templates));
}

static void too_many(const struct request *r)
{
	send_error(r->s, r->id, DTX_MCP_INTERNAL, "too many calls wait: send fewer at a time",
	           NULL);
}

/* An answer to a call that cannot begin. The model reads it and may try again. */
static void send_refusal(struct dtx_mcp_server *s, const json_t *id, bool modern, const char *text)
{
	send_result(s, id, modern, false,
	            json_pack("{s[{ss ss}] sb}", "content", "type", "text", "text", text, "isError",
	                      1));
}

static const struct dtx_mcp_tool *find_tool(const char *name)
{
	for (size_t i = 0; i < dtx_mcp_ntools; i++)
		if (!strcmp(dtx_mcp_tools[i].name, name))
			return &dtx_mcp_tools[i];
	return NULL;
}

static void do_call(const struct request *r)
{
	const char *name = dtx_json_text(r->params, "name", "");
	const struct dtx_mcp_tool *tool = find_tool(name);
	json_t *args = json_object_get(r->params, "arguments");
	json_t *none = json_object(), *schema = NULL, *token;
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_mcp_call *c;

	args = args ? args : none;
	if (!tool) {
		dtx_buf_printf(&text, "no tool '%s'", name);
		send_error(r->s, r->id, DTX_MCP_INVALID_PARAMS, dtx_buf_text(&text), NULL);
		goto out;
	}
	schema = parsed(tool->input);
	if (dtx_mcp_schema_check(schema, args, &err) != DTX_OK) {
		dtx_buf_printf(&text, "%s; next: correct the arguments, see inputSchema", err.msg);
		send_refusal(r->s, r->id, r->modern, dtx_buf_text(&text));
		goto out;
	}
	c = dtx_mcp_call_add(r->s, r->id, r->modern);
	if (!c) {
		too_many(r);
		goto out;
	}
	c->tool = tool;
	c->args = json_deep_copy(args);
	token = json_object_get(json_object_get(r->params, "_meta"), "progressToken");
	if (json_is_string(token) || json_is_integer(token))
		c->progress = json_deep_copy(token);
	c->progress_ns = c->since_ns + PROGRESS_NS;
out:
	json_decref(none);
	json_decref(schema);
	dtx_err_clear(&err);
	dtx_buf_clear(&text);
}

static void do_read(const struct request *r)
{
	const char *uri = dtx_json_text(r->params, "uri", "");
	struct dtx_mcp_call *c;

	if (!*uri || strlen(uri) >= sizeof(c->uri)) {
		send_error(r->s, r->id, DTX_MCP_INVALID_PARAMS,
		           *uri ? "\"uri\" is too long" : "\"uri\" must be a text", NULL);
		return;
	}
	c = dtx_mcp_call_add(r->s, r->id, r->modern);
	if (!c) {
		too_many(r);
		return;
	}
	strncpy(c->uri, uri, sizeof(c->uri) - 1);
}

/* Which era has which method. */
static const struct {
	const char *name;
	bool legacy, modern;
	void (*run)(const struct request *r);
} methods[] = {
	{ "initialize", true, false, do_initialize },
	{ "logging/setLevel", true, false, do_set_level },
	{ "ping", true, false, do_empty },
	{ "resources/list", true, true, do_resources },
	{ "resources/read", true, true, do_read },
	{ "resources/subscribe", true, false, do_empty }, /* what a run left never changes */
	{ "resources/templates/list", true, true, do_templates },
	{ "resources/unsubscribe", true, false, do_empty },
	{ "server/discover", false, true, do_discover },
	{ "tools/call", true, true, do_call },
	{ "tools/list", true, true, do_tools },
};

/* --- requests --- */

/* Checks what every modern request has. Returns false after an error was sent. */
static bool check_meta(const struct request *r, const json_t *meta)
{
	const json_t *version = json_object_get(meta, META_VERSION);
	const json_t *capabilities = json_object_get(meta, META_CAPABILITIES);

	if (!json_is_string(version) || !json_is_object(capabilities)) {
		send_error(r->s, r->id, DTX_MCP_INVALID_PARAMS,
		           !json_is_string(version) ? "_meta needs " META_VERSION
		                                      ", or the session initialize"
		                                    : "_meta needs " META_CAPABILITIES,
		           NULL);
		return false;
	}
	if (strcmp(json_string_value(version), DTX_MCP_MODERN) != 0) {
		send_error(
			r->s, r->id, DTX_MCP_UNSUPPORTED_VERSION, "unsupported protocol version",
			json_pack("{s[s] sO}", "supported", DTX_MCP_MODERN, "requested", version));
		return false;
	}
	return true;
}

static bool in_use(const struct dtx_mcp_server *s, const json_t *id)
{
	for (const struct dtx_mcp_call *c = s->call; c; c = c->next)
		if (c->id && json_equal(c->id, id))
			return true;
	return false;
}

static void do_request(struct dtx_mcp_server *s, const struct dtx_mcp_message *m)
{
	const json_t *meta = json_object_get(m->params, "_meta");
	struct request r = { s, m->id, m->params, false };
	bool opens = !strcmp(m->method, "initialize") || !strcmp(m->method, "ping");

	r.modern = json_object_get(meta, META_VERSION) || json_object_get(meta, META_CAPABILITIES);
	if (in_use(s, m->id)) {
		send_error(s, m->id, DTX_MCP_INVALID_REQUEST,
		           "a request with this id is not answered yet", NULL);
		return;
	}
	if ((r.modern || (!s->legacy && !opens)) && !check_meta(&r, meta))
		return;
	for (size_t i = 0; i < DTX_COUNT(methods); i++) {
		if (strcmp(methods[i].name, m->method) != 0)
			continue;
		if (r.modern ? methods[i].modern : methods[i].legacy) {
			methods[i].run(&r);
			return;
		}
	}
	send_error(s, m->id, DTX_MCP_NO_METHOD, "no such method", NULL);
}

static void do_cancel(struct dtx_mcp_server *s, const json_t *params)
{
	const json_t *id = json_object_get(params, "requestId");

	for (struct dtx_mcp_call *c = s->call; c && id; c = c->next) {
		if (!c->id || !json_equal(c->id, id))
			continue;
		json_decref(c->id);
		c->id = NULL; /* nothing is sent any more */
		c->stopped = true;
		dtx_mcp_child_stop(&c->child);
	}
}

void dtx_mcp_message(void *server, const struct dtx_mcp_message *m)
{
	struct dtx_mcp_server *s = server;

	switch (m->kind) {
	case DTX_MCP_REQUEST: do_request(s, m); break;
	case DTX_MCP_NOTIFICATION:
		if (!strcmp(m->method, "notifications/cancelled"))
			do_cancel(s, m->params);
		break;
	case DTX_MCP_RESPONSE: break;
	case DTX_MCP_BROKEN: send_error(s, m->id, m->code, m->text, NULL); break;
	}
}

/* --- answers of calls --- */

/* The text block is the structured content, for clients that know no other. */
static json_t *call_result(const json_t *structured, const json_t *content)
{
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	json_t *out, *blocks;

	dtx_json_print(structured, 0, &text);
	blocks = json_pack("[{ss ss}]", "type", "text", "text", dtx_buf_text(&text));
	if (content)
		json_array_extend(blocks, (json_t *)(uintptr_t)content);
	out = json_pack("{so sO}", "content", blocks, "structuredContent", structured);
	dtx_buf_clear(&text);
	return out;
}

static void answer_resource(struct dtx_mcp_call *c)
{
	struct dtx_mcp_server *s = c->server;
	int missing = c->modern ? DTX_MCP_INVALID_PARAMS : DTX_MCP_NO_RESOURCE;

	if (c->finished && c->result)
		send_result(s, c->id, c->modern, true, json_pack("{sO}", "contents", c->result));
	else
		send_error(s, c->id, c->error == DTX_MCP_NO_RESOURCE ? missing : DTX_MCP_INTERNAL,
		           c->refused ? c->refused : "the resource could not be read in time",
		           json_pack("{ss}", "uri", c->uri));
}

void dtx_mcp_answer(struct dtx_mcp_call *c)
{
	struct dtx_mcp_server *s = c->server;
	json_t *running;

	if (!c->tool) {
		answer_resource(c);
		c->stopped = true;
		dtx_mcp_child_stop(&c->child);
	} else if (!c->finished) {
		running = json_pack("{ss ss}", "status", "running", "run_id", c->run_id);
		send_result(s, c->id, c->modern, false, call_result(running, NULL));
		json_decref(running);
		c->later = true;
	} else if (c->refused) {
		send_refusal(s, c->id, c->modern, c->refused);
	} else {
		send_result(s, c->id, c->modern, false, call_result(c->result, c->content));
	}
	json_decref(c->id);
	c->id = NULL;
}

/* How much is left is not known, so progress is the seconds that have passed. */
void dtx_mcp_progress(struct dtx_mcp_call *c)
{
	int64_t now = dtx_now_ns();

	if (!c->progress || now < c->progress_ns)
		return;
	c->progress_ns = now + PROGRESS_NS;
	dtx_mcp_send(c->server,
	             json_pack("{ss ss s{sO sf ss}}", "jsonrpc", "2.0", "method",
	                       "notifications/progress", "params", "progressToken", c->progress,
	                       "progress", (double)(now - c->since_ns) / 1e9, "message",
	                       c->started ? "running" : "waiting for other calls"));
}

/* --- the list of tools --- */

json_t *dtx_mcp_tools_list(void)
{
	json_t *out = json_array();

	for (size_t i = 0; i < dtx_mcp_ntools; i++) {
		const struct dtx_mcp_tool *t = &dtx_mcp_tools[i];
		json_t *what =
			t->formats ? with_formats(t->description) : json_string(t->description);
		json_t *one = json_pack(
			"{ss ss so so so s{sb sb sb sb}}", "name", t->name, "title", t->title,
			"description", what, "inputSchema", parsed(t->input), "outputSchema",
			parsed(t->output), "annotations", "readOnlyHint", t->read_only,
			"destructiveHint", 0, "idempotentHint", t->idempotent, "openWorldHint", 0);

		if (json_array_append_new(out, one) < 0) {
			json_decref(out);
			return NULL;
		}
	}
	return out;
}
