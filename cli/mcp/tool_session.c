/* The tools open_session and close_session: handles of sessions of `dtx exec`. The session itself
 * begins with the first run_python that names it. */
#include <stdio.h>
#include <string.h>

#include "cli/mcp/tools.h"

struct dtx_mcp_session *dtx_mcp_session_find(struct dtx_mcp_server *s, const char *name)
{
	size_t i;

	for (i = 0; *name && i < DTX_MCP_SESSIONS_MAX; i++)
		if (!strcmp(s->session[i].name, name))
			return &s->session[i];
	return NULL;
}

void dtx_mcp_sessions_end(struct dtx_mcp_server *s)
{
	struct dtx_wire_session state;
	size_t i;

	for (i = 0; i < DTX_MCP_SESSIONS_MAX; i++)
		/* one that never began, or has ended, is not there */
		if (s->session[i].name[0] &&
		    dtx_session_stop(s->session[i].name, &state, NULL) != DTX_OK)
			s->session[i].name[0] = 0;
}

enum dtx_code dtx_mcp_open_session_start(struct dtx_mcp_call *c, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_mcp_session *free = NULL;
	size_t i;

	for (i = 0; i < DTX_MCP_SESSIONS_MAX && !free; i++)
		if (!c->server->session[i].name[0])
			free = &c->server->session[i];
	if (!free)
		DTX_FAIL_NEXT(err, DTX_E_USAGE, "close one with close_session",
		              "%d sessions are open, which is as many as there can be",
		              DTX_MCP_SESSIONS_MAX);
	*free = (struct dtx_mcp_session){ .has_data = false };
	snprintf(free->name, sizeof(free->name), "mcp-%.36s", c->run_id);
	dtx_mcp_call_result(c, json_pack("{ss ss}", "status", "ok", "session", free->name), NULL);
out:
	return rc;
}

enum dtx_code dtx_mcp_close_session_start(struct dtx_mcp_call *c, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_mcp_argv a = { .n = 0 };
	const char *name = dtx_json_text(c->args, "session", "");

	if (!dtx_mcp_session_find(c->server, name))
		DTX_FAIL(err, DTX_E_USAGE, "no session with this handle is open");
	dtx_mcp_argv_words(&a, "session stop --json --errors json");
	dtx_mcp_argv_add(&a, "--");
	dtx_mcp_argv_add(&a, name);
	rc = dtx_mcp_call_spawn(c, &a, err);
out:
	dtx_mcp_argv_clear(&a);
	return rc;
}

/* A session that has ended already, or never began, is closed as well. */
enum dtx_code dtx_mcp_close_session_ended(struct dtx_mcp_call *c, struct dtx_err *err)
{
	struct dtx_mcp_session *s =
		dtx_mcp_session_find(c->server, dtx_json_text(c->args, "session", ""));
	json_t *stopped = dtx_mcp_stdout_json(c);

	(void)err;
	if (s)
		s->name[0] = 0;
	dtx_mcp_call_result(c,
	                    json_pack("{ss sI}", "status", "ok", "calls",
	                              (json_int_t)dtx_json_int(stopped, "calls", 0)),
	                    NULL);
	json_decref(stopped);
	return DTX_OK;
}
