/* One run from the command line: plan, inputs, store, executor, fallback, outputs, record. */
#ifndef DTX_CLI_RUN_RUNNER_H
#define DTX_CLI_RUN_RUNNER_H

#include <pthread.h>

#include "cli/exec/jail_limits.h"
#include "cli/opt.h"
#include "cli/out.h"
#include "cli/pipe/step_words.h"
#include "cli/run/runlog.h"
#include "core/base/text/json.h"
#include "core/cluster/cluster.h"
#include "core/fallback/fallback.h"
#include "core/io/source/stat_signature.h"
#include "core/plan/exec/exec.h"
#include "core/store/ledger/record.h"

/* The options of run, convert, prompt and pipe; their rows are in runner_opts.c. */
struct dtx_run_args {
	const char *output, *to, *into, *sheet, *range, *delimiter, *quote, *encoding, *from;
	struct dtx_optlist read; /* MEMBER=VALUE */
	int if_exists;           /* 0: as in the plan, otherwise DTX_IF_EXISTS_... + 1 */
	int ragged;              /* 0: as in the plan, otherwise enum dtx_ragged + 1 */
	bool force;              /* --force */
	bool positional;         /* convert: `output` was given without -o */
	const char *rejects, *source_file;
	int columns;             /* 0: as in the plan, otherwise enum dtx_files_columns + 1 */
	const char *header_rows; /* "auto", "0" to "8"; NULL: as in the plan */
	int64_t skip;
	int fallback; /* 0: as in the plan; 1 step, 2 plan, 3 off */
	const char *snippet, *approve, *ns, *sample, *run_date, *require_layers;
	struct dtx_optlist limit;  /* archive.NAME=N */
	struct dtx_optlist params; /* NAME=VALUE */
	const char *params_file;
	bool no_warm, strict_schema, repair, receipt, snapshot;
	int lineage; /* 0: columns, 1: also rows */
	const char *author, *author_url, *author_model, *author_key_env, *author_key_file;
	const char *cassette, *max_cost, *trial, *author_timeout, *max_attempts, *max_tokens;
	bool cassette_record, cache_only, retry_author;
	int64_t max_regions;
	const char *record, *head_file; /* copies of the record; NULL: none */
	const char *run_id;             /* NULL: a new one */
	const char *log_json;           /* NULL: no log */
	int progress;                   /* enum dtx_progress_how */
	int input_hash;                 /* enum dtx_identity_kind */
	int64_t threads, memory, batch_rows;
	struct dtx_jail_given jail;
	const char *engine, *exchange, *resume;
	bool print_plan; /* pipe */
};
#define DTX_CONVERT_ONLY 1 /* number of rows: first those of convert only, */
/* then those of convert and run, then those of run, then those of pipe only */
#define DTX_CONVERT_OPTS (DTX_CONVERT_ONLY + 29)
#define DTX_RUN_OPTS     (29 + 37)
#define DTX_PIPE_OPTS    (DTX_RUN_OPTS + 1)
extern const struct dtx_opt dtx_run_opts[DTX_CONVERT_ONLY + DTX_PIPE_OPTS];

/* For a replay: the plan, files, code and clock of a recorded run, instead of a plan file,
 * operands, the cache and the current time. */
struct dtx_runner_replay {
	const json_t *record; /* from dtx_query_record, full, with dtx_lookup_model */
	const char *dir;      /* the folder for the outputs */
};

/* What is done on another thread during the run (runner_store.c). */
enum dtx_beside_gate { DTX_BESIDE_WAIT, DTX_BESIDE_GO, DTX_BESIDE_OFF };
struct dtx_runner_beside {
	struct dtx_task *task; /* NULL: nothing */
	pthread_mutex_t lock;
	pthread_cond_t moved;
	enum dtx_beside_gate gate; /* whether `info` is complete, or will never be */
	bool early;                /* the thread opens a store that was there before */
	bool opened;               /* the store is open, or cannot be opened */
	bool wanted;               /* the run fails without a store */
	struct dtx_run_info info;
	struct dtx_buf canonical;
	enum dtx_code rc; /* of what has been done */
	struct dtx_err err;
};

/* The state of a run; all zero before init. */
struct dtx_runner {
	const struct dtx_cli *cli;
	const struct dtx_run_args *args;
	const char *plan_path;         /* NULL: a plan without steps (convert), or a pipe */
	const struct dtx_words *words; /* the plan, made of words; NULL: it is in a file */
	const char *command;           /* "run", "convert", "prompt", "pipe" ... */
	struct dtx_buf plan_text;
	struct dtx_plan *plan;
	struct dtx_errlist findings;
	struct dtx_errlist notes;    /* warnings about the inputs, from before the run */
	struct dtx_source **source;  /* one per input of the plan */
	struct dtx_cluster *cluster; /* what --engine names; NULL: this process does all */
	struct dtx_known *known;     /* one per input of the plan; NULL: nothing is known */
	struct dtx_store *store;
	struct dtx_record *record; /* it and the store are valid after dtx_runner_store_wait */
	struct dtx_runner_beside beside;
	struct dtx_fallback_ctx fallback;
	struct dtx_runner_author *asks; /* the authors; NULL: not settled yet */
	struct dtx_buf snippet, again, operands;
	struct dtx_arena texts; /* for texts that live as long as the run */
	char abi[64], run_id[DTX_RUN_ID];
	struct dtx_exec_result *result;
	/* a copy of the record, and the receipt; NULL: not wanted */
	struct dtx_outfile *copy[2];
	struct dtx_outfile *rejects;     /* NULL: nothing is quarantined */
	bool detailed;                   /* the record has its details */
	bool closed;                     /* the reader of stdout closed it before the end */
	int64_t deadline_ns;             /* set before the inputs are opened; 0: none */
	enum dtx_identity_kind identity; /* of the inputs: from --input-hash or a setting */
	const atomic_bool *cancel;       /* NULL: cannot be cancelled */
	struct dtx_ticker *ticker;       /* shows the progress; NULL: none */
	struct dtx_runlog log;
	int64_t start_us;
	struct dtx_prompt *prompt;              /* NULL: a real run */
	const struct dtx_runner_replay *replay; /* NULL: not a replay */
	const struct dtx_host *looks;           /* for binding, see dtx_exec_opts; NULL */
};

/* Performs the run. With plan_path NULL the operands are IN [OUT]. Prints everything and returns
 * the exit status. */
int dtx_runner_main(struct dtx_runner *r, int argc, char **argv);
/* The id that the caller chose for the run; NULL: none. A replay has the options of the recorded
 * run, but is a run of its own. */
static inline const char *dtx_runner_given_id(const struct dtx_runner *r)
{
	return r->replay ? NULL : r->args->run_id;
}

/* Ends the process after a run that succeeded, without freeing memory: the system takes it back
 * faster at once. Returns if the run failed, and in builds that need a normal end. */
void dtx_runner_leave(int status);

/* The parts of a run, which check and explain also use. */
/* Prepares the fallback. argc and argv are the operands, for hints with commands. */
DTX_MUSTUSE enum dtx_code dtx_runner_fallback(struct dtx_runner *r, int argc, char **argv,
                                              struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_runner_plan(struct dtx_runner *r, struct dtx_err *err);
/* Sets the memory limit: the lower one of the plan's and the option's. */
void dtx_runner_memory(const struct dtx_runner *r);
DTX_MUSTUSE enum dtx_code dtx_runner_inputs(struct dtx_runner *r, int argc, char **argv,
                                            struct dtx_err *err);
/* In runner_inputs.c: replaces an input of several files by one input for each. Called before
 * they are opened. */
DTX_MUSTUSE enum dtx_code dtx_runner_spread(struct dtx_runner *r, struct dtx_err *err);
/* The delimiter that an option means: "\\t" and "tab" are a tab, which is hard to type. */
const char *dtx_runner_tab(const char *text);
/* The same for a replay, with the recorded files; does nothing if it was a single file. */
DTX_MUSTUSE enum dtx_code dtx_runner_replay_files(struct dtx_runner *r, uint32_t i,
                                                  struct dtx_err *err);
/* Opens the inputs that have a path. With `all`, an input without one is a usage error. */
DTX_MUSTUSE enum dtx_code dtx_runner_open(struct dtx_runner *r, bool all, struct dtx_err *err);
/* For check and explain: parses the plan, and with operands binds it to their headers, unless it
 * is invalid. The findings are in r->findings. */
DTX_MUSTUSE enum dtx_code dtx_runner_bind(struct dtx_runner *r, int argc, char **argv,
                                          struct dtx_err *err);
/* In runner_inputs.c: chooses the kind of identity for the inputs, and finds identities that an
 * earlier run computed; fills r->identity and r->known. Whatever cannot be found out is treated
 * as unknown. */
struct dtx_known {
	char sha[DTX_IDENTITY_TEXT], run_id[DTX_RUN_ID]; /* empty: unknown */
	char mark[DTX_STAT_SIGNATURE_TEXT];              /* empty: not settled */
};
DTX_MUSTUSE enum dtx_code dtx_runner_known(struct dtx_runner *r, struct dtx_err *err);
/* Starts to compute the identities that are not known. */
void dtx_runner_hash_start(struct dtx_runner *r);
/* Whether what is known about input i is still valid, now that it has been read. */
bool dtx_runner_known_holds(const struct dtx_runner *r, uint32_t i);
void dtx_runner_clear(struct dtx_runner *r);

/* In runner_store.c: opens the store, if there is one, while the plan is read; starts the record
 * while the inputs are read; waits for both. Everything that needs the store, or must not happen
 * before run.start, has to wait. A failure of the store is the error of the run, whatever else
 * has failed. */
void dtx_runner_store_open(struct dtx_runner *r);
/* Waits until a store that was there before the run is open. */
void dtx_runner_store_opened(struct dtx_runner *r);
DTX_MUSTUSE enum dtx_code dtx_runner_store_start(struct dtx_runner *r, struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_runner_store_wait(struct dtx_runner *r, struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_runner_store_settle(struct dtx_runner *r, enum dtx_code rc,
                                                  struct dtx_err *err);
/* For a prompt, which is not a run: opens the cache, if there is one, without a record. */
DTX_MUSTUSE enum dtx_code dtx_runner_store_look(struct dtx_runner *r, struct dtx_err *err);
void dtx_runner_store_clear(struct dtx_runner *r);

/* In runner_record.c: where quarantined records are written; NULL if no input has any. */
DTX_MUSTUSE enum dtx_code dtx_runner_rejects_path(struct dtx_runner *r, const char **out,
                                                  struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_runner_rejects_write(struct dtx_runner *r, struct dtx_err *err);

/* In runner_inputs.c: reserves the files that the run reads and those that it writes
 * (core/io/write/reserve.h), before anything is done. Errors: usage, output_io,
 * unsupported_format. */
DTX_MUSTUSE enum dtx_code dtx_runner_places(struct dtx_runner *r, struct dtx_err *err);

/* In runner_store.c: prints a note once a day while the store is larger than `store_max`. */
void dtx_runner_full(struct dtx_runner *r);
/* In runner_record.c: reserves the files and refuses impossible options before the run; writes
 * the copies after run.end. */
DTX_MUSTUSE enum dtx_code dtx_runner_receipt_claim(struct dtx_runner *r, struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_runner_receipt_check(struct dtx_runner *r, struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_runner_receipt_prepare(struct dtx_runner *r, struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_runner_receipt(struct dtx_runner *r, struct dtx_err *err);

/* In runner_record.c: --lineage rows. Refuses before the run if rows cannot be traced. Later
 * the lineage of each result is stored with the record, and its hash in run.output. Errors:
 * no_translation, usage, row_limit. */
#define DTX_LINEAGE_KIND "lineage"
DTX_MUSTUSE enum dtx_code dtx_runner_lineage_check(const struct dtx_runner *r, struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_runner_lineage(struct dtx_runner *r, json_t *outputs,
                                             struct dtx_err *err);

/* In runner_author.c: sets the author, approval, sample and budget of the fallback from options,
 * environment and configuration. Called once, and only if a snippet is needed. */
DTX_MUSTUSE enum dtx_code dtx_runner_settle(struct dtx_runner *r, struct dtx_err *err);
/* Whether an option concerns them, so that they must be settled before anything is read. */
bool dtx_runner_settles_early(const struct dtx_run_args *a);
/* Clears the options about authors, for options of another run. */
void dtx_runner_forget_author(struct dtx_run_args *a);
void dtx_runner_author_free(struct dtx_runner_author *a); /* NULL is fine */
/* The command line for the record, in which keys are replaced. Allocated in the arena; NULL: out
 * of memory. */
char **dtx_runner_argv(const struct dtx_runner *r, struct dtx_arena *arena);

/* In runner_replay.c: the text of the plan (nothing for convert), the files of inputs and
 * outputs, and the time that formulas and snippets see. */
/* The recorded values of the plan's parameters: a new reference; NULL: none. */
json_t *dtx_runner_replay_params(const struct dtx_runner *r);
DTX_MUSTUSE enum dtx_code dtx_runner_replay_plan(struct dtx_runner *r, struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_runner_replay_places(struct dtx_runner *r, struct dtx_err *err);
/* Parses the options of the recorded command line, except for those about outputs. */
DTX_MUSTUSE enum dtx_code dtx_runner_replay_options(const json_t *record, struct dtx_run_args *args,
                                                    struct dtx_err *err);
/* Parses the options of a recorded command line, as those of that command are. *nwords: how many of
 * the operands that are left are words of steps. */
DTX_MUSTUSE enum dtx_code dtx_runner_options(const char *command, const struct dtx_opttable *table,
                                             size_t n, int *argc, char **argv, int *nwords,
                                             struct dtx_err *err);
int64_t dtx_runner_clock(const struct dtx_runner *r);
/* The "run" whose command line, clock and run id a replay of the record uses. */
const json_t *dtx_runner_model(const json_t *record);

/* The day that run_date() returns. */
DTX_MUSTUSE enum dtx_code dtx_runner_date(const struct dtx_runner *r, int32_t *day,
                                          struct dtx_err *err);

/* In runner_record.c: what the record keeps of an execution. For a failed one, these are the
 * inputs that it had read and the checks that it had made. */
DTX_MUSTUSE enum dtx_code dtx_runner_inputs_seen(struct dtx_runner *r, struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_runner_checks_seen(struct dtx_runner *r, struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_runner_details(struct dtx_runner *r, struct dtx_err *err);
/* The rows of run.output, a new reference. */
json_t *dtx_runner_outputs(const struct dtx_runner *r);

#endif
