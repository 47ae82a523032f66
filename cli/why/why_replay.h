/* A recorded run whose plan is run again to look at its rows: what `why` and `why-not` share. */
#ifndef DTX_CLI_WHY_WHY_REPLAY_H
#define DTX_CLI_WHY_WHY_REPLAY_H

#include "cli/run/snapshots.h"
#include "core/plan/exec/together.h"
#include "core/plan/lineage/row_lineage.h"

enum { DTX_WHY_REPLAY_APART = 7 }; /* inputs; of more, the files of one are followed as one table */

struct dtx_why_replay {
	const struct dtx_cli *cli;
	const char *command;
	json_t *record;  /* of the run */
	uint32_t output; /* the one that was asked about */
	struct dtx_runner r;
	struct dtx_snapshots kept;
	struct dtx_exec_result *bound;
	/* private */
	json_t *labels; /* of each input, by alias: there may be 100,000 */
	struct dtx_run_args run_args;
	struct dtx_runner_replay replay;
};

/* Finds the run.  Codes: as of dtx_lookup; no_record where it has no result. */
DTX_MUSTUSE enum dtx_code dtx_why_replay_find(struct dtx_why_replay *x, const char *what,
                                              struct dtx_err *err);
const json_t *dtx_why_replay_output(const struct dtx_why_replay *x);
/* The output as people know it. */
const char *dtx_why_replay_name(const struct dtx_why_replay *x);
/* File (and sheet) of an input. */
const char *dtx_why_replay_label(const struct dtx_why_replay *x, const char *alias);
/* A snippet did a step. */
bool dtx_why_replay_by_snippet(const struct dtx_why_replay *x);
/* The plan of a run with copies of tables that come to the same rows twice (dtx_trace_again), bound
 * to its open inputs; both stay NULL where it needs none.  The caller's, to be freed before r is
 * cleared; also on failure. */
DTX_MUSTUSE enum dtx_code dtx_why_replay_again(struct dtx_runner *r, struct dtx_plan **plan,
                                               struct dtx_exec_result **bound, struct dtx_err *err);
/* The recorded plan alone, without its inputs; of one that is several files each is one. */
DTX_MUSTUSE enum dtx_code dtx_why_replay_plan(struct dtx_why_replay *x, struct dtx_err *err);
/* The row numbers of the result that the run kept; stays NULL where there are none. */
DTX_MUSTUSE enum dtx_code dtx_why_replay_rowlog(const struct dtx_why_replay *x,
                                                struct dtx_row_lineage **out, struct dtx_err *err);
/* [{"alias","label","file"}]: inputs whose file is gone or not as it was read; new. */
json_t *dtx_why_replay_moved(const struct dtx_why_replay *x);
/* Opens the recorded inputs and binds the plan.  Codes: input_changed where the recorded bytes are
 * not at hand, no_translation where a snippet did a step. */
DTX_MUSTUSE enum dtx_code dtx_why_replay_bind(struct dtx_why_replay *x, struct dtx_err *err);
/* Runs a traced plan, while the inputs are hashed; input_changed as of bind.  look (of
 * dtx_exec_opts) sees its results.  Its own failures are no_translation.  *plan is the parsed one,
 * the caller's, also on failure. */
struct dtx_why_replay_look {
	enum dtx_code (*look)(void *arg, const struct dtx_exec_result *r, struct dtx_err *err);
	void *arg;
	uint32_t hash_only;              /* of dtx_exec_opts */
	const struct dtx_together *fold; /* the traced plan is of its plan; NULL: of the run's */
};
/* The same on the open inputs of a run, whose bytes are its caller's matter. */
DTX_MUSTUSE enum dtx_code dtx_why_replay_exec(struct dtx_runner *r, const json_t *traced,
                                              const struct dtx_why_replay_look *look,
                                              struct dtx_plan **plan, struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_why_replay_run(struct dtx_why_replay *x, const json_t *traced,
                                             const struct dtx_why_replay_look *look,
                                             struct dtx_plan **plan, struct dtx_err *err);
void dtx_why_replay_clear(struct dtx_why_replay *x);

#endif
