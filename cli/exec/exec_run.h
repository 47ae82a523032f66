/* One program in the jail: what it gets, what it leaves, and its record. */
#ifndef DTX_CLI_EXEC_EXEC_RUN_H
#define DTX_CLI_EXEC_EXEC_RUN_H

#include "cli/run/runner.h"
#include "core/plan/exec/provider.h"
#include "sandbox/session/session.h"

#define DTX_EXEC_NAME 256
struct dtx_exec_args {
	const char *code, *out, *require_layers;
	const char *run_id; /* NULL: a new one */
	struct dtx_optlist table, file;
	bool json, no_warm;
	const char *session; /* the name of a session; NULL: none */
	bool no_wait;        /* for a call that runs in it */
	struct dtx_jail_given jail;
};

/* The state of one execution. The caller sets the first members, up to `code`, and zeroes the rest.
 */
struct dtx_execution {
	const struct dtx_cli *cli;
	const struct dtx_exec_args *args;
	int argc; /* arguments of the program, without its own name */
	char **argv;
	const char *replay_of; /* a run that this one repeats; NULL */
	int64_t now_us;        /* the time that it had; 0: now */
	struct dtx_buf code;
	char run_id[DTX_RUN_ID];
	int64_t start_us;
	struct dtx_store *store;
	struct dtx_record *record;
	struct dtx_jail_spec spec;
	struct dtx_session session; /* with args->session: what it was before this call */
	uint32_t call;              /* its number in the session, from 1 */
	bool ran;                   /* the box was given the program */
	bool unsaved;               /* the disk refused the start of this run */
	const char *ended;          /* why the session ended with this call; NULL: it goes on */
	struct dtx_box *box;
	struct dtx_jail_report report;
	struct dtx_runner *reader; /* one for each table; large, so none for a call without one */
	size_t nreaders;
	struct dtx_buf file[DTX_OPTLIST_MAX]; /* the bytes of each file */
	char file_name[DTX_OPTLIST_MAX][DTX_EXEC_NAME];
	size_t nfiles;
	struct dtx_outfile *output[DTX_JAIL_FILES_MAX]; /* files that the program left */
	size_t noutputs;
};
/* Runs the program, records the run, and keeps its files. x->report is filled as far as the run
 * went. Errors: those of reading, of the jail, output_io. */
DTX_MUSTUSE enum dtx_code dtx_execution_run(struct dtx_execution *x, struct dtx_err *err);
void dtx_execution_clear(struct dtx_execution *x);
/* What a later replay compares its own results with: {"status","stdout","stderr","value","files"},
 * all but the status as hashes. After a run; a new reference. */
json_t *dtx_execution_result(const struct dtx_execution *x);
/* The result object of --json, a new reference. */
json_t *dtx_execution_json(const struct dtx_execution *x, enum dtx_code rc,
                           const struct dtx_err *err);

/* In exec_session.c. Takes the turn in the session and opens the box; gives the turn back, with
 * what this call left, once the call is recorded. */
DTX_MUSTUSE enum dtx_code dtx_execution_session_open(struct dtx_execution *x, struct dtx_err *err);
void dtx_execution_session_close(struct dtx_execution *x);
/* {"id","name","call"} and "previous", the run of the call before; a new reference. */
json_t *dtx_execution_session_record(const struct dtx_execution *x);
/* The same for --json, with "new" and, if the session has ended, "ended". */
json_t *dtx_execution_session_json(const struct dtx_execution *x);

/* In exec_inputs.c: reads NAME=FILE of --table and --file into the box and the record. */
DTX_MUSTUSE enum dtx_code dtx_execution_inputs(struct dtx_execution *x, struct dtx_err *err);

#endif
