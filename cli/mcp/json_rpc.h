/* Reads JSON-RPC 2.0 messages from a stream of bytes, one message a line. */
#ifndef DTX_CLI_MCP_JSON_RPC_H
#define DTX_CLI_MCP_JSON_RPC_H

#include "core/base/text/json.h"

#define DTX_MCP_LINE_MAX  ((size_t)8 << 20) /* bytes of a line, without its end */
#define DTX_MCP_DEPTH_MAX 64

/* Codes of JSON-RPC and of the Model Context Protocol. */
enum dtx_mcp_code {
	DTX_MCP_PARSE_ERROR = -32700,
	DTX_MCP_INVALID_REQUEST = -32600,
	DTX_MCP_NO_METHOD = -32601,
	DTX_MCP_INVALID_PARAMS = -32602,
	DTX_MCP_INTERNAL = -32603,
	DTX_MCP_NO_RESOURCE = -32002,        /* 2025-11-25 */
	DTX_MCP_UNSUPPORTED_VERSION = -32022 /* 2026-07-28 */
};

enum dtx_mcp_kind {
	DTX_MCP_REQUEST,
	DTX_MCP_NOTIFICATION,
	DTX_MCP_RESPONSE, /* an answer to a request, which this server never sends */
	DTX_MCP_BROKEN    /* to be answered with `code` and `text` */
};

/* One message. Everything in it is borrowed and valid during the call. */
struct dtx_mcp_message {
	enum dtx_mcp_kind kind;
	const json_t *id; /* text or whole number; NULL: none, or it cannot be used */
	const char *method;
	const json_t *params; /* an object; NULL: none */
	enum dtx_mcp_code code;
	const char *text;
};

/* The line that is being read. All zero but for `line` before the first use, see
 * dtx_mcp_reader_init. */
struct dtx_mcp_reader {
	struct dtx_buf line;
	bool too_long; /* the rest of this line is skipped */
};

void dtx_mcp_reader_init(struct dtx_mcp_reader *r);
void dtx_mcp_reader_clear(struct dtx_mcp_reader *r);
/* Takes the next bytes and calls `each` for every line that ends in them. A line of blanks is
 * skipped. A line that is too long, is not UTF-8 or not JSON, has a member twice, or is no message
 * of JSON-RPC gives DTX_MCP_BROKEN, and reading goes on with the next one. */
void dtx_mcp_reader_feed(struct dtx_mcp_reader *r, const char *bytes, size_t n,
                         void (*each)(void *arg, const struct dtx_mcp_message *), void *arg);
/* The same for what follows the last line end, after the last byte. */
void dtx_mcp_reader_end(struct dtx_mcp_reader *r,
                        void (*each)(void *arg, const struct dtx_mcp_message *), void *arg);

#endif
