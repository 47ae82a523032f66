/* What the files of `dtx mcp` share: the server, its calls, and the table of tools. */
#ifndef DTX_CLI_MCP_MCP_H
#define DTX_CLI_MCP_MCP_H

#include <limits.h>
#include <sys/types.h>

#include "cli/cmd.h"
#include "cli/mcp/json_rpc.h"
#include "core/base/tempdir.h"
#include "core/store/ledger/record.h"
#include "sandbox/session/session.h"

#define DTX_MCP_MODERN "2026-07-28"
#define DTX_MCP_LEGACY "2025-11-25"

#define DTX_MCP_RUNNING_MAX 4    /* children at a time; further calls wait */
#define DTX_MCP_CALLS_MAX   2048 /* calls that wait or run */
#define DTX_MCP_KEPT_MAX    32   /* results that came after "running" and wait for `wait` */
#define DTX_MCP_TICKETS_MAX 64
#define DTX_MCP_FIGURE_MAX  ((size_t)1 << 20)
#define DTX_MCP_TEXT_MAX    ((size_t)64 << 10) /* of stdout and of stderr in a result */
#define DTX_MCP_PREVIEW_MAX ((size_t)64 << 10)
#define DTX_MCP_ARGV_MAX    512

/* --- what the client may see of the data --- */

/* Cells appear in a result only if `rows` is above 0, and what programs print over tables, and the
 * bytes of outputs, only if `all` is set. */
struct dtx_mcp_policy {
	const char *sample; /* for `dtx prompt --sample`; NULL: its default */
	int rows;           /* of a preview */
	bool all;
	bool approve_auto; /* the host's setting: new code needs no approval */
};

/* --- children --- */

/* One run of this binary with an ordinary command line. */
struct dtx_mcp_child {
	pid_t pid;   /* 0: none */
	int process; /* a descriptor that is readable when it has ended */
	int out, err;
	struct dtx_buf stdout_text, stderr_text;
	int status;      /* exit status, or 128 + signal */
	int64_t kill_ns; /* when it is killed, after it was asked to end; 0: it was not */
};
/* Starts it in the folder `dir` with /dev/null as its stdin, in a process group of its own, and
 * without the variables that hold keys. */
DTX_MUSTUSE enum dtx_code dtx_mcp_child_start(struct dtx_mcp_child *c, const char *dir,
                                              char *const *argv, struct dtx_err *err);
/* Reads what it has written so far. Returns true when it has ended and all is read. */
bool dtx_mcp_child_read(struct dtx_mcp_child *c);
/* Asks it to end; dtx_mcp_child_read kills it if it does not within a second. */
void dtx_mcp_child_stop(struct dtx_mcp_child *c);
/* Kills it and all that it started. */
void dtx_mcp_child_kill(struct dtx_mcp_child *c);
void dtx_mcp_child_clear(struct dtx_mcp_child *c);

/* --- calls --- */

struct dtx_mcp_server;
struct dtx_mcp_call;

/* A tool: `start` begins the work, mostly with a child; `ended` is called when that child has
 * ended, and begins the next one or finishes the call. Schemas are JSON texts. */
struct dtx_mcp_tool {
	const char *name, *title, *description, *input, *output;
	bool formats; /* its description ends with the formats that are read */
	bool read_only, idempotent;
	enum dtx_code (*start)(struct dtx_mcp_call *c, struct dtx_err *err);
	enum dtx_code (*ended)(struct dtx_mcp_call *c, struct dtx_err *err);
};
extern const struct dtx_mcp_tool dtx_mcp_tools[]; /* sorted by name */
extern const size_t dtx_mcp_ntools;

struct dtx_mcp_call {
	struct dtx_mcp_server *server;
	json_t *id; /* of the request; NULL: it is answered, or cancelled */
	bool modern;
	const struct dtx_mcp_tool *tool; /* NULL: a resource is read */
	json_t *args;
	char run_id[DTX_RUN_ID];
	int64_t deadline_ns; /* when it is answered with "running" */
	/* the client's name for notifications of progress, NULL: it wants none; since when it
	 * waits, and when the next one is due */
	json_t *progress;
	int64_t since_ns, progress_ns;
	bool started, finished;
	bool stopped; /* its child was asked to end */
	bool later;   /* it was answered with "running": `wait` will ask for its result */
	int stage;    /* for the tool */
	struct dtx_mcp_child child;
	/* the answer */
	json_t *result;  /* structured content, or the contents of a resource */
	json_t *content; /* blocks after the text: images, links */
	char *refused;   /* dtx_mem: a mistake in the arguments, in place of a result */
	int error;       /* of a resource: code of JSON-RPC; `refused` has the text */
	/* what tools keep between children */
	json_t *kept;
	char uri[PATH_MAX + 128]; /* of a resource */
	struct dtx_mcp_call *next;
};

/* The arguments of a command line, in a fixed number of slots; texts are copied. */
struct dtx_mcp_argv {
	char *item[DTX_MCP_ARGV_MAX + 1];
	size_t n;
	bool full; /* too many, or no memory */
};
void dtx_mcp_argv_add(struct dtx_mcp_argv *a, const char *text);
void dtx_mcp_argv_clear(struct dtx_mcp_argv *a);
/* Starts the child of a call with these arguments (after "dtx"), which are cleared. */
DTX_MUSTUSE enum dtx_code dtx_mcp_call_spawn(struct dtx_mcp_call *c, struct dtx_mcp_argv *a,
                                             struct dtx_err *err);
/* Finishes a call with structured content (taken; NULL: out of memory) and further blocks (taken,
 * may be NULL). */
void dtx_mcp_call_result(struct dtx_mcp_call *c, json_t *result, json_t *content);
/* The call with that run id which is not finished, or whose result waits; NULL. */
struct dtx_mcp_call *dtx_mcp_call_find(struct dtx_mcp_server *s, const char *run_id);

/* A step that needs code: what to run again once it is there. */
struct dtx_mcp_ticket {
	char id[DTX_RUN_ID];
	json_t *args; /* of run_plan */
	int attempts; /* left */
};

/* A session of `dtx exec` that the client opened. Once it was given tables or files, what its
 * programs print may hold their cells. */
#define DTX_MCP_SESSIONS_MAX 8
struct dtx_mcp_session {
	char name[DTX_SESSION_NAME]; /* "": this place is free */
	bool has_data;
};

struct dtx_mcp_server {
	const struct dtx_cli *cli;
	struct dtx_mcp_policy policy;
	char root[PATH_MAX]; /* resolved */
	struct dtx_tempdir scratch;
	int in, out;
	struct dtx_mcp_reader reader;
	struct dtx_buf outbox; /* not yet written */
	size_t sent;
	int64_t answer_ns; /* a call is answered after so long, with "running" if need be */
	bool legacy;       /* initialize was answered */
	bool broken;       /* stdout cannot be written */
	json_t *tools;
	struct dtx_mcp_call *call; /* oldest first */
	size_t ncalls, running;
	struct dtx_mcp_ticket ticket[DTX_MCP_TICKETS_MAX];
	size_t next_ticket;
	struct dtx_mcp_session session[DTX_MCP_SESSIONS_MAX];
};
/* In tool_session.c: the session of that name; NULL: the client did not open it. */
struct dtx_mcp_session *dtx_mcp_session_find(struct dtx_mcp_server *s, const char *name);
/* Ends all sessions of the client. */
void dtx_mcp_sessions_end(struct dtx_mcp_server *s);

/* Serves until stdin ends. */
DTX_MUSTUSE enum dtx_code dtx_mcp_serve(struct dtx_mcp_server *s, struct dtx_err *err);

/* --- protocol.c --- */

/* Answers a message, or begins the call that it asks for. */
void dtx_mcp_message(void *server, const struct dtx_mcp_message *m);
/* Sends the answer of a finished call, or "running". */
void dtx_mcp_answer(struct dtx_mcp_call *c);
/* Sends for how long a call has been going on, if its client asked for that and it is due. */
void dtx_mcp_progress(struct dtx_mcp_call *c);
/* The list of tools as JSON; NULL: out of memory. */
json_t *dtx_mcp_tools_list(void);
/* In server.c: puts one message into the outbox (taken). */
void dtx_mcp_send(struct dtx_mcp_server *s, json_t *message);
/* In server.c: adds a call; NULL: too many, or out of memory. Takes nothing. */
struct dtx_mcp_call *dtx_mcp_call_add(struct dtx_mcp_server *s, const json_t *id, bool modern);
/* Checks a value against a schema: type, enum, required, properties, additionalProperties, items,
 * minimum, maximum, maxItems, maxProperties, maxLength. Error: usage, with a pointer. */
DTX_MUSTUSE enum dtx_code dtx_mcp_schema_check(const json_t *schema, const json_t *value,
                                               struct dtx_err *err);

/* --- resources.c --- */

extern const char dtx_mcp_resources[], dtx_mcp_templates[]; /* lists, as JSON */
/* Begins to read c->uri. */
DTX_MUSTUSE enum dtx_code dtx_mcp_resource_start(struct dtx_mcp_call *c, struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_mcp_resource_ended(struct dtx_mcp_call *c, struct dtx_err *err);
/* Appends "dtx://run/ID/out/NAME", with NAME escaped. */
void dtx_mcp_uri_out(const char *run_id, const char *name, struct dtx_buf *out);

#define DTX_MCP_PATTERNS "*?[$" /* not in paths: in a plan they stand for something else */
/* --- paths.c: what a client names is below the root --- */

/* An input: an existing regular file, links resolved. Error: usage. */
DTX_MUSTUSE enum dtx_code dtx_mcp_path_in(const struct dtx_mcp_server *s, const char *path,
                                          char out[PATH_MAX], struct dtx_err *err);
/* An output: its folder exists, no name on the way begins with a dot, its suffix is one of tables,
 * and no file is there, unless `replace`. Error: usage. */
DTX_MUSTUSE enum dtx_code dtx_mcp_path_out(const struct dtx_mcp_server *s, const char *path,
                                           bool replace, char out[PATH_MAX], struct dtx_err *err);
/* A folder for outputs: new, or there and empty. Error: usage. */
DTX_MUSTUSE enum dtx_code dtx_mcp_path_folder(const struct dtx_mcp_server *s, const char *path,
                                              char out[PATH_MAX], struct dtx_err *err);
/* Whether an absolute path is below the root, or below the server's own folder. */
bool dtx_mcp_path_inside(const struct dtx_mcp_server *s, const char *path);
/* Makes SCRATCH/RUN_ID-NAME with this content. */
DTX_MUSTUSE enum dtx_code dtx_mcp_scratch(const struct dtx_mcp_call *c, const char *name,
                                          struct dtx_str text, char out[PATH_MAX],
                                          struct dtx_err *err);

/* --- show.c: what a result may hold --- */

/* An error object of dtx as the policy allows; `plan` (may be NULL) has the words that the client
 * knows already. New reference. */
json_t *dtx_mcp_show_error(const struct dtx_mcp_policy *p, const json_t *error, const json_t *plan);
/* Whether the first `nsteps` steps of a plan may make columns whose names are cells, as pivot_wider
 * does. */
bool dtx_mcp_makes_columns(const json_t *plan, size_t nsteps);
/* The findings in stderr, a JSON object a line. New reference. */
json_t *dtx_mcp_findings(struct dtx_str text);
/* Those of one severity, shown. New reference. */
json_t *dtx_mcp_show_findings(const struct dtx_mcp_policy *p, const json_t *findings, bool warnings,
                              const json_t *plan);
/* What `dtx inspect --json` and `dtx provenance --json` printed, as the policy allows. New
 * references. */
json_t *dtx_mcp_show_inspect(const struct dtx_mcp_policy *p, const json_t *inspect);
json_t *dtx_mcp_show_record(const struct dtx_mcp_policy *p, const json_t *record);
/* The outputs of a record, with the names of columns that `plan` and the inputs have. New
 * reference. */
json_t *dtx_mcp_show_outputs(const struct dtx_mcp_policy *p, const json_t *record,
                             const json_t *plan);
/* The members of `from` with these comma-separated names, in that order, those that are there and
 * not null. New reference. */
json_t *dtx_mcp_pick(const json_t *from, const char *names);
/* The same of each item of a list. */
json_t *dtx_mcp_pick_each(const json_t *list, const char *names);

#endif
