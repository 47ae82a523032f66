/* Runs the plan of a recorded run again to look at its rows. `why` and `why-not` share this. */
#ifndef DTX_CLI_WHY_WHY_REPLAY_H
#define DTX_CLI_WHY_WHY_REPLAY_H

#include "cli/run/snapshots.h"
#include "core/plan/exec/together.h"
#include "core/plan/lineage/row_lineage.h"

/* With more inputs than this, all files of an input are followed as one table. */
enum { DTX_WHY_REPLAY_APART = 7 };

struct dtx_why_replay {
	const struct dtx_cli *cli;
	const char *command;
	json_t *record;  /* of the run */
	uint32_t output; /* the output that was asked about */
	struct dtx_runner r;
	struct dtx_snapshots kept;
	struct dtx_exec_result *bound;
	/* private */
	/* The label of each input by its alias: a hash table, because there may be 100,000. */
	json_t *labels;
	struct dtx_run_args run_args;
	struct dtx_runner_replay replay;
};

/* Finds the run by an output file, run id and so on. Codes: as for dtx_lookup; no_record if the run
 * has no result. */
DTX_MUSTUSE enum dtx_code dtx_why_replay_find(struct dtx_why_replay *x, const char *what,
                                              struct dtx_err *err);
const json_t *dtx_why_replay_output(const struct dtx_why_replay *x);
/* The name of the output for messages. Borrowed. */
const char *dtx_why_replay_name(const struct dtx_why_replay *x);
/* The file, and sheet, of an input for messages. Borrowed. */
const char *dtx_why_replay_label(const struct dtx_why_replay *x, const char *alias);
/* Whether a snippet did a step of the run. */
bool dtx_why_replay_by_snippet(const struct dtx_why_replay *x);
/* Makes the plan of a run with copies of tables that meet the same rows twice (dtx_trace_again),
 * and binds it to the run's open inputs. Both stay NULL if the plan needs no copies. The caller
 * owns them, also after a failure, and must free them before r is cleared. */
DTX_MUSTUSE enum dtx_code dtx_why_replay_again(struct dtx_runner *r, struct dtx_plan **plan,
                                               struct dtx_exec_result **bound, struct dtx_err *err);
/* Reads the recorded plan without opening its inputs. An input that has several files becomes one
 * input per file. */
DTX_MUSTUSE enum dtx_code dtx_why_replay_plan(struct dtx_why_replay *x, struct dtx_err *err);
/* Reads the row numbers of the result that the run kept. *out stays NULL if none; the
 * caller frees it. */
DTX_MUSTUSE enum dtx_code dtx_why_replay_row_lineage(const struct dtx_why_replay *x,
                                                     struct dtx_row_lineage **out,
                                                     struct dtx_err *err);
/* Lists the inputs whose file is missing or has changed since the run: [{"alias","label","file"}].
 * A new reference. */
json_t *dtx_why_replay_moved(const struct dtx_why_replay *x);
/* Opens the recorded inputs and binds the plan. Codes: input_changed if the recorded bytes are not
 * available, no_translation if a snippet did a step. */
DTX_MUSTUSE enum dtx_code dtx_why_replay_bind(struct dtx_why_replay *x, struct dtx_err *err);
/* Runs a traced plan and hashes the inputs at the same time. `look` (see dtx_exec_opts) sees the
 * results. If the traced plan fails where the original did not, the code is no_translation; if the
 * inputs have changed, it is input_changed. *plan is the parsed traced plan; the caller owns it,
 * also after a failure. */
struct dtx_why_replay_look {
	enum dtx_code (*look)(void *arg, const struct dtx_exec_result *r, struct dtx_err *err);
	void *arg;
	uint32_t hash_only; /* see dtx_exec_opts */
	/* The traced plan was made from the plan in here; NULL: from the plan of the run. */
	const struct dtx_together *fold;
};
/* The same on the open inputs of a run, without checking their bytes; that is the caller's task. */
DTX_MUSTUSE enum dtx_code dtx_why_replay_exec(struct dtx_runner *r, const json_t *traced,
                                              const struct dtx_why_replay_look *look,
                                              struct dtx_plan **plan, struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_why_replay_run(struct dtx_why_replay *x, const json_t *traced,
                                             const struct dtx_why_replay_look *look,
                                             struct dtx_plan **plan, struct dtx_err *err);
void dtx_why_replay_clear(struct dtx_why_replay *x);

#endif
