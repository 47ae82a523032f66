/* One run from the command line: plan, inputs, store, executor, fallback, outputs, record. */
#ifndef DTX_CLI_RUN_RUNNER_H
#define DTX_CLI_RUN_RUNNER_H

#include <pthread.h>

#include "cli/exec/jail_limits.h"
#include "cli/opt.h"
#include "cli/out.h"
#include "core/base/text/json.h"
#include "core/fallback/fallback.h"
#include "core/io/source/stat_signature.h"
#include "core/plan/exec/exec.h"
#include "core/store/ledger/record.h"

/* Options of run, convert and prompt; the rows are in runner_opts.c. */
struct dtx_run_args {
	const char *output, *to, *sheet, *range, *delimiter, *quote, *encoding, *from;
	struct dtx_optlist read; /* MEMBER=VALUE */
	int ragged;              /* 0: as the plan says; else enum dtx_ragged + 1 */
	bool force;              /* --force */
	bool positional;         /* convert: `output` was given without -o */
	const char *rejects, *source_file;
	int columns;             /* 0: as the plan says; else enum dtx_files_columns + 1 */
	const char *header_rows; /* "auto", "0" .. "8"; NULL: as the plan says */
	int64_t skip;
	int fallback; /* 0: as the plan says; 1 step, 2 plan, 3 off */
	const char *snippet, *approve, *ns, *sample, *run_date, *require_layers;
	struct dtx_optlist limit; /* archive.NAME=N */
	bool no_warm, strict_schema, repair, receipt, snapshot;
	int lineage; /* 0: columns; 1: rows too */
	const char *author, *author_url, *author_model, *author_key_env, *author_key_file;
	const char *cassette, *max_cost, *trial, *author_timeout, *max_attempts, *max_tokens;
	bool cassette_record, cache_only, retry_author;
	int64_t max_regions;
	const char *record, *head_file; /* copies of the record, NULL: none */
	int progress;                   /* enum dtx_progress_how */
	int input_hash;                 /* enum dtx_identity_kind */
	int64_t threads, memory, batch_rows;
	struct dtx_jail_given jail;
};
#define DTX_CONVERT_ONLY 1                       /* the first rows: of convert alone, */
#define DTX_CONVERT_OPTS (DTX_CONVERT_ONLY + 25) /* then of convert and of run, then of run */
#define DTX_RUN_OPTS     (25 + 32)
extern const struct dtx_opt dtx_run_opts[DTX_CONVERT_ONLY + DTX_RUN_OPTS];

/* A recorded run that is done again: its plan, places, code and clock instead of a plan file,
 * operands, the cache and the time of day. */
struct dtx_runner_replay {
	const json_t *record; /* dtx_query_record, full, with dtx_lookup_model */
	const char *dir;      /* where the outputs go */
};

/* What is under way beside the run (runner_store.c). */
enum dtx_beside_gate { DTX_BESIDE_WAIT, DTX_BESIDE_GO, DTX_BESIDE_OFF };
struct dtx_runner_beside {
	struct dtx_task *task; /* NULL: nothing */
	pthread_mutex_t lock;
	pthread_cond_t moved;
	enum dtx_beside_gate gate; /* whether `info` is there, or there will be none */
	bool wanted;               /* a run without a store fails */
	struct dtx_run_info info;
	struct dtx_buf canonical;
	enum dtx_code rc; /* of what has been */
	struct dtx_err err;
};

/* State between the steps of a run; all zero before init. */
struct dtx_runner {
	const struct dtx_cli *cli;
	const struct dtx_run_args *args;
	const char *plan_path; /* NULL: a plan without steps (convert) */
	const char *command;   /* "run", "convert", "prompt" */
	struct dtx_buf plan_text;
	struct dtx_plan *plan;
	struct dtx_errlist findings;
	struct dtx_source **source; /* per plan input */
	struct dtx_known *known;    /* per plan input; NULL: nothing */
	struct dtx_store *store;
	struct dtx_record *record; /* it and the store: after dtx_runner_store_wait */
	struct dtx_runner_beside beside;
	struct dtx_fallback_ctx fallback;
	struct dtx_runner_author *asks; /* who may be asked; NULL: not settled yet */
	struct dtx_buf snippet, again, operands;
	struct dtx_arena texts; /* of the caller, as long as the run */
	char abi[64], run_id[DTX_RUN_ID];
	struct dtx_exec_result *result;
	struct dtx_outfile *copy[2];     /* of the record, and the receipt; NULL: not asked for */
	struct dtx_outfile *rejects;     /* NULL: nothing is quarantined */
	bool detailed;                   /* the record has its details */
	bool closed;                     /* the reader of stdout did not wait for all of it */
	int64_t deadline_ns;             /* from before the inputs were opened; 0: none */
	enum dtx_identity_kind identity; /* of the inputs: --input-hash, or a setting */
	const atomic_bool *cancel;       /* NULL: nobody does */
	struct dtx_ticker *ticker;       /* of the progress that is shown; NULL */
	int64_t start_us;
	struct dtx_prompt *prompt;              /* NULL: a real run */
	const struct dtx_runner_replay *replay; /* NULL: a run of its own */
	const struct dtx_host *looks;           /* of a bind, see dtx_exec_opts; NULL */
};

/* plan_path NULL: operands are IN [OUT].  Returns the exit status; prints everything. */
int dtx_runner_main(struct dtx_runner *r, int argc, char **argv);

/* Pieces, also used by check and explain. */
/* Fills the fallback; argc, argv: the operands, for the next commands. */
DTX_MUSTUSE enum dtx_code dtx_runner_fallback(struct dtx_runner *r, int argc, char **argv,
                                              struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_runner_plan(struct dtx_runner *r, struct dtx_err *err);
/* Sets the memory limit: the lower of the plan's and the option's. */
void dtx_runner_memory(const struct dtx_runner *r);
DTX_MUSTUSE enum dtx_code dtx_runner_inputs(struct dtx_runner *r, int argc, char **argv,
                                            struct dtx_err *err);
/* Inputs of several files become one each (runner_inputs.c); before they are opened. */
DTX_MUSTUSE enum dtx_code dtx_runner_spread(struct dtx_runner *r, struct dtx_err *err);
/* The recorded files of an input of several, for a replay; nothing if it was one. */
DTX_MUSTUSE enum dtx_code dtx_runner_replay_files(struct dtx_runner *r, uint32_t i,
                                                  struct dtx_err *err);
/* Opens the sources of inputs that have a path; with `all`, one without is a usage error. */
DTX_MUSTUSE enum dtx_code dtx_runner_open(struct dtx_runner *r, bool all, struct dtx_err *err);
/* check and explain: the plan, with operands also bound to their headers unless it is invalid as it
 * stands.  Findings are in r->findings. */
DTX_MUSTUSE enum dtx_code dtx_runner_bind(struct dtx_runner *r, int argc, char **argv,
                                          struct dtx_err *err);
/* Which identity inputs get, and those that an earlier run computed (runner_known.c); fills
 * r->identity and r->known.  What cannot be found out is not known. */
struct dtx_known {
	char sha[DTX_IDENTITY_TEXT], run_id[DTX_RUN_ID]; /* empty: not known */
	char mark[DTX_STAT_SIGNATURE_TEXT];              /* empty: not settled */
};
DTX_MUSTUSE enum dtx_code dtx_runner_known(struct dtx_runner *r, struct dtx_err *err);
/* Starts the identities that are not known. */
void dtx_runner_hash_start(struct dtx_runner *r);
/* Whether what is known of input i holds now that it has been read. */
bool dtx_runner_known_holds(const struct dtx_runner *r, uint32_t i);
void dtx_runner_clear(struct dtx_runner *r);

/* runner_store.c: opens the store beside the reading of the plan, if there is one; starts the
 * record beside the reading of inputs; waits for both, which all must do who need the store or make
 * what the record has to name first.  A store that failed is the error of the run, whatever else
 * was. */
void dtx_runner_store_open(struct dtx_runner *r);
DTX_MUSTUSE enum dtx_code dtx_runner_store_start(struct dtx_runner *r, struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_runner_store_wait(struct dtx_runner *r, struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_runner_store_settle(struct dtx_runner *r, enum dtx_code rc,
                                                  struct dtx_err *err);
/* For a prompt, which is no run: the cache, if there is one; no record. */
DTX_MUSTUSE enum dtx_code dtx_runner_store_look(struct dtx_runner *r, struct dtx_err *err);
void dtx_runner_store_clear(struct dtx_runner *r);

/* runner_record.c: where quarantined records go; NULL when no input has them. */
DTX_MUSTUSE enum dtx_code dtx_runner_rejects_path(struct dtx_runner *r, const char **out,
                                                  struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_runner_rejects_write(struct dtx_runner *r, struct dtx_err *err);

/* runner_inputs.c: reserves the files that the run reads and claims those that it writes
 * (core/io/write/reserve.h), before anything is done.  Codes: usage, output_io, unsupported_format.
 */
DTX_MUSTUSE enum dtx_code dtx_runner_places(struct dtx_runner *r, struct dtx_err *err);

/* a note once a day while the store is over `store_max`. */
void dtx_runner_full(struct dtx_runner *r);
/* runner_receipt.c: the files are claimed and options that cannot be kept are refused before the
 * run; written after run.end. */
DTX_MUSTUSE enum dtx_code dtx_runner_receipt_claim(struct dtx_runner *r, struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_runner_receipt_check(struct dtx_runner *r, struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_runner_receipt_prepare(struct dtx_runner *r, struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_runner_receipt(struct dtx_runner *r, struct dtx_err *err);

/* runner_lineage.c: --lineage rows.  Refused before the run where rows cannot be followed; then
 * the body of each result joins the record, its hash the row of run.output.  Codes:
 * no_translation, usage, row_limit. */
#define DTX_LINEAGE_KIND "lineage"
DTX_MUSTUSE enum dtx_code dtx_runner_lineage_check(const struct dtx_runner *r, struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_runner_lineage(struct dtx_runner *r, json_t *outputs,
                                             struct dtx_err *err);

/* runner_author.c: fills the fallback's author, gate, sample and ceilings from options, environment
 * and configuration, once.  A run that stays typed does not need them. */
DTX_MUSTUSE enum dtx_code dtx_runner_settle(struct dtx_runner *r, struct dtx_err *err);
/* Whether an option speaks of them: then they are settled before anything is read. */
bool dtx_runner_settles_early(const struct dtx_run_args *a);
/* Options of another run, without those about authors. */
void dtx_runner_forget_author(struct dtx_run_args *a);
void dtx_runner_author_free(struct dtx_runner_author *a); /* NULL is fine */
/* The command line as it is recorded: without values that are keys.  Taken from arena; NULL: out of
 * memory. */
char **dtx_runner_argv(const struct dtx_runner *r, struct dtx_arena *arena);

/* runner_replay.c: the plan's text (nothing for a convert); files of inputs and outputs; the clock
 * that formulas and snippets see. */
DTX_MUSTUSE enum dtx_code dtx_runner_replay_plan(struct dtx_runner *r, struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_runner_replay_places(struct dtx_runner *r, struct dtx_err *err);
/* The options of the recorded command line, but for those about outputs. */
DTX_MUSTUSE enum dtx_code dtx_runner_replay_options(const json_t *record, struct dtx_run_args *args,
                                                    struct dtx_err *err);
int64_t dtx_runner_clock(const struct dtx_runner *r);
/* The "run" whose command line, clock and stamp a replay of the record has. */
const json_t *dtx_runner_model(const json_t *record);

/* The day that run_date() gives. */
DTX_MUSTUSE enum dtx_code dtx_runner_date(const struct dtx_runner *r, int32_t *day,
                                          struct dtx_err *err);

/* What the record keeps of an execution (runner_record.c): all of a finished one, or of a failed
 * one the inputs that it had read and the promises that it had checked. */
DTX_MUSTUSE enum dtx_code dtx_runner_inputs_seen(struct dtx_runner *r, struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_runner_checks_seen(struct dtx_runner *r, struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_runner_details(struct dtx_runner *r, struct dtx_err *err);
/* The rows of run.output; new reference. */
json_t *dtx_runner_outputs(const struct dtx_runner *r);

#endif
