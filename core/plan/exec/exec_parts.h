/* Internal header of the executor: the state of one run, and the questions whether a snippet may do
 * a part of it. */
#ifndef DTX_PLAN_EXEC_EXEC_PARTS_H
#define DTX_PLAN_EXEC_EXEC_PARTS_H

#include "core/base/thread/cancel.h"
#include "core/plan/exec/inputset.h"
#include "core/plan/exec/region.h"

struct dtx_exec_run {
	struct dtx_plan *plan;
	const struct dtx_exec_opts *opts;
	const struct dtx_host *host;
	struct dtx_errlist *findings;
	struct dtx_exec_result *result;
	struct dtx_run run;
	struct dtx_inputset in;
	enum dtx_fallback mode;
	bool bind_only; /* dtx_exec_bind: regions are noted, no snippet is asked for */
	uint32_t max_regions;
	int64_t deadline_ns;        /* the earlier of the deadlines of options and plan; 0: none */
	struct dtx_cancel cancel;   /* deadline and cancel flag as the worker threads poll them */
	struct dtx_graph graph;     /* of the attempt that is running */
	struct dtx_checks checks;   /* of the plan's `expect` and rules */
	struct dtx_regions regions; /* must be last: see new_run() */
};

/* Whether a snippet may do a step that failed. */
bool dtx_exec_may_fallback(const struct dtx_exec_run *x, int32_t step);
/* Whether a snippet may make the table of an input that its reader cannot read. As
 * dtx_inputset.fallback; arg is the run. */
bool dtx_exec_fallback_input(void *arg, uint32_t input, const struct dtx_err *why);
/* The same for an input that failed while its rows were read. */
bool dtx_exec_fallback_read(struct dtx_exec_run *x, const struct dtx_err *why);
/* Whether the column that a step failed on was made by a snippet. If so, its region is marked, and
 * the next attempt asks for another snippet. */
bool dtx_exec_select_cause(struct dtx_exec_run *x, uint32_t step, const struct dtx_err *why);
/* Where a snippet could do it but the run has as many regions as it may: turns the error into
 * snippet_cannot (exit code 7) with the original text in it. */
enum dtx_code dtx_exec_too_many(const struct dtx_exec_run *x, struct dtx_err *err);
/* Decides on the findings of binding one step. *region: a snippet does it. Otherwise errors among
 * them end the run, and warnings become those of the result. bad: the step could not be bound. */
DTX_MUSTUSE enum dtx_code dtx_exec_judge(struct dtx_exec_run *x, uint32_t step,
                                         struct dtx_errlist *found, bool bad, bool *region,
                                         struct dtx_err *err);

#endif
