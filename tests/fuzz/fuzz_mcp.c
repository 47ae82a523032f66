/* Any bytes as messages: the same ones, whether they come at once or in pieces of one byte, and
 * each is what its kind says. */
#include <stdlib.h>
#include <string.h>

#include "cli/mcp/json_rpc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct seen {
	struct dtx_buf text;
	size_t n;
};

static void see(void *arg, const struct dtx_mcp_message *m)
{
	struct seen *s = arg;
	bool calls = m->kind == DTX_MCP_REQUEST || m->kind == DTX_MCP_NOTIFICATION;

	if (calls != (m->method != NULL) || (m->kind == DTX_MCP_REQUEST && !m->id) ||
	    (m->kind == DTX_MCP_NOTIFICATION && m->id) ||
	    (m->kind == DTX_MCP_BROKEN) != (m->text != NULL) ||
	    (m->params && !json_is_object(m->params)) ||
	    (m->id && !json_is_string(m->id) && !json_is_integer(m->id)))
		abort();
	s->n++;
	dtx_buf_printf(&s->text, "%d %d %s\n", (int)m->kind, m->text ? (int)m->code : 0,
	               m->method ? m->method : "");
	if (m->id)
		dtx_json_print(m->id, 0, &s->text);
}

static void read_all(const uint8_t *data, size_t size, size_t piece, struct seen *s)
{
	struct dtx_mcp_reader r;

	dtx_buf_init(&s->text, (size_t)1 << 26);
	dtx_mcp_reader_init(&r);
	for (size_t at = 0; at < size; at += piece)
		dtx_mcp_reader_feed(&r, (const char *)data + at, DTX_MIN(piece, size - at), see, s);
	dtx_mcp_reader_end(&r, see, s);
	dtx_mcp_reader_clear(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct seen whole = { .n = 0 }, pieces = { .n = 0 };

	read_all(data, size, DTX_MAX(size, 1), &whole);
	read_all(data, size, 1, &pieces);
	if (whole.n != pieces.n || strcmp(dtx_buf_text(&whole.text), dtx_buf_text(&pieces.text)))
		abort();
	dtx_buf_clear(&whole.text);
	dtx_buf_clear(&pieces.text);
	return 0;
}
