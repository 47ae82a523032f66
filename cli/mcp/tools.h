/* The tools of `dtx mcp`, in the files tool_*.c; the table is in tools.c. */
#ifndef DTX_CLI_MCP_TOOLS_H
#define DTX_CLI_MCP_TOOLS_H

#include <stdio.h>

#include "cli/mcp/mcp.h"

#define DTX_MCP_TOOL(name)                                                                         \
	enum dtx_code dtx_mcp_##name##_start(struct dtx_mcp_call *c, struct dtx_err *err);         \
	enum dtx_code dtx_mcp_##name##_ended(struct dtx_mcp_call *c, struct dtx_err *err)

DTX_MCP_TOOL(close_session);
DTX_MCP_TOOL(describe);
DTX_MCP_TOOL(list);
DTX_MCP_TOOL(provenance);
DTX_MCP_TOOL(replay);
DTX_MCP_TOOL(run_plan);
DTX_MCP_TOOL(run_python);
DTX_MCP_TOOL(wait);
DTX_MCP_TOOL(why);

/* Needs no child. */
enum dtx_code dtx_mcp_open_session_start(struct dtx_mcp_call *c, struct dtx_err *err);
/* Ends as run_plan does. */
enum dtx_code dtx_mcp_submit_code_start(struct dtx_mcp_call *c, struct dtx_err *err);

/* What the child wrote to stdout, as JSON; NULL: it is not JSON. New reference. */
json_t *dtx_mcp_stdout_json(struct dtx_mcp_call *c);
/* A resource link as a content block. New reference. */
json_t *dtx_mcp_link(const char *name, const char *uri, int64_t bytes);
/* Words of a command line, separated by blanks; an option with its value. */
void dtx_mcp_argv_words(struct dtx_mcp_argv *a, const char *words);
void dtx_mcp_argv_option(struct dtx_mcp_argv *a, const char *option, const char *value);
/* The error of a command that failed without a message, such as one that was killed. New
 * reference. */
json_t *dtx_mcp_ended_without(const struct dtx_mcp_call *c);
/* Finishes a call whose command failed: the first error as a refusal if it is about the arguments
 * (no such run, no such row), else as a result with status failed. */
enum dtx_code dtx_mcp_failed(struct dtx_mcp_call *c, struct dtx_err *err);
/* Starts `dtx provenance --json` for args.run, an id or a path; `stage` is set. */
DTX_MUSTUSE enum dtx_code dtx_mcp_record_start(struct dtx_mcp_call *c, const char *run,
                                               struct dtx_err *err);
/* Parses what that printed and checks that the run is one of the root. New reference. */
DTX_MUSTUSE enum dtx_code dtx_mcp_record_ended(struct dtx_mcp_call *c, json_t **record,
                                               struct dtx_err *err);

#endif
