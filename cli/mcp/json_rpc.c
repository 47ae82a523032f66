/* Reads JSON-RPC 2.0 messages, see json_rpc.h. */
#include "cli/mcp/json_rpc.h"

#include <stdio.h>
#include <string.h>

#define TEXT_MAX 512

void dtx_mcp_reader_init(struct dtx_mcp_reader *r)
{
	*r = (struct dtx_mcp_reader){ .too_long = false };
	dtx_buf_init(&r->line, DTX_MCP_LINE_MAX);
}

void dtx_mcp_reader_clear(struct dtx_mcp_reader *r)
{
	dtx_buf_clear(&r->line);
}

static bool is_id(const json_t *id)
{
	return json_is_string(id) || json_is_integer(id);
}

/* Sorts a value into the kinds of messages. Only an id that has the right type is given back in
 * the answer. */
static void sort_message(const json_t *value, struct dtx_mcp_message *m)
{
	const json_t *id = json_object_get(value, "id");
	const json_t *method = json_object_get(value, "method");
	const json_t *params = json_object_get(value, "params");

	m->kind = DTX_MCP_BROKEN;
	m->code = DTX_MCP_INVALID_REQUEST;
	m->id = is_id(id) ? id : NULL;
	if (!json_is_object(value))
		m->text = json_is_array(value) ? "a batch: send one message a line"
		                               : "a message is an object";
	else if (strcmp(dtx_json_text(value, "jsonrpc", ""), "2.0") != 0)
		m->text = "\"jsonrpc\" must be \"2.0\"";
	else if (id && !is_id(id))
		m->text = "\"id\" must be a text or a whole number";
	else if (!method && id &&
	         (json_object_get(value, "result") || json_object_get(value, "error")))
		m->kind = DTX_MCP_RESPONSE;
	else if (!json_is_string(method))
		m->text = "\"method\" must be a text";
	else if (params && !json_is_object(params))
		m->text = "\"params\" must be an object";
	else {
		m->kind = id ? DTX_MCP_REQUEST : DTX_MCP_NOTIFICATION;
		m->method = json_string_value(method);
		m->params = params;
	}
}

static void end_line(struct dtx_mcp_reader *r,
                     void (*each)(void *arg, const struct dtx_mcp_message *), void *arg)
{
	const struct dtx_json_limits limits = { DTX_MCP_LINE_MAX, DTX_MCP_DEPTH_MAX };
	struct dtx_mcp_message m = { .kind = DTX_MCP_BROKEN, .code = DTX_MCP_PARSE_ERROR };
	struct dtx_str line = dtx_str_trim(dtx_buf_str(&r->line));
	struct dtx_err err = DTX_ERR_INIT;
	json_t *value = NULL;
	char text[TEXT_MAX];

	if (r->too_long) {
		snprintf(text, sizeof(text), "a message has more than %zu MiB",
		         DTX_MCP_LINE_MAX >> 20);
		m.text = text;
	} else if (!dtx_buf_ok(&r->line)) {
		m.code = DTX_MCP_INTERNAL;
		m.text = "out of memory";
	} else if (!line.len) {
		goto out;
	} else if (dtx_json_parse(line, limits, &value, &err) != DTX_OK) {
		m.code = err.code == DTX_E_NO_MEMORY ? DTX_MCP_INTERNAL : DTX_MCP_PARSE_ERROR;
		snprintf(text, sizeof(text), "%s: %s", dtx_code_name(err.code), err.msg);
		m.text = text;
	} else {
		sort_message(value, &m);
	}
	each(arg, &m);
out:
	json_decref(value);
	dtx_err_clear(&err);
	dtx_buf_reset(&r->line);
	r->too_long = false;
}

void dtx_mcp_reader_feed(struct dtx_mcp_reader *r, const char *bytes, size_t n,
                         void (*each)(void *arg, const struct dtx_mcp_message *), void *arg)
{
	while (n) {
		const char *end = memchr(bytes, '\n', n);
		size_t len = end ? (size_t)(end - bytes) : n;

		if (r->line.len + len > DTX_MCP_LINE_MAX) {
			r->too_long = true;
			dtx_buf_reset(&r->line);
		}
		if (!r->too_long)
			dtx_buf_addn(&r->line, bytes, len);
		if (!end)
			return;
		end_line(r, each, arg);
		bytes += len + 1;
		n -= len + 1;
	}
}

void dtx_mcp_reader_end(struct dtx_mcp_reader *r,
                        void (*each)(void *arg, const struct dtx_mcp_message *), void *arg)
{
	if (r->line.len || r->too_long || !dtx_buf_ok(&r->line))
		end_line(r, each, arg);
}
