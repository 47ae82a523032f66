/* Inside the executor: one run, and when a snippet may do a part of it. */
#ifndef DTX_PLAN_EXEC_EXEC_PARTS_H
#define DTX_PLAN_EXEC_EXEC_PARTS_H

#include "core/base/cancel.h"
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
	bool bind_only; /* regions are noted, nobody is asked */
	uint32_t max_regions;
	int64_t deadline_ns;    /* the earlier of the options' and the plan's; 0: none */
	struct dtx_cancel halt; /* the same and who cancels, for the threads that work */
	struct dtx_regions regions;
	struct dtx_graph graph; /* of the attempt that runs */
	struct dtx_checks tap;  /* the plan's expect */
};

/* A step that failed: may a snippet do it? */
bool dtx_exec_may_fallback(const struct dtx_exec_run *x, int32_t step);
/* An input that its reader cannot read: a snippet may make its table.  struct dtx_inputset's
 * fallback; arg is the run. */
bool dtx_exec_fallback_input(void *arg, uint32_t input, const struct dtx_err *why);
/* The same for one that failed while its rows flowed. */
bool dtx_exec_fallback_read(struct dtx_exec_run *x, const struct dtx_err *why);
/* A snippet made the column that failed: it is asked for another. */
bool dtx_exec_blame(struct dtx_exec_run *x, uint32_t step, const struct dtx_err *why);
/* A snippet could do it, but there are too many already: exit 7, with the error there was. */
enum dtx_code dtx_exec_too_many(const struct dtx_exec_run *x, struct dtx_err *err);
/* Findings of one step: *region when a snippet may do it, else they are the run's. */
DTX_MUSTUSE enum dtx_code dtx_exec_judge(struct dtx_exec_run *x, uint32_t step,
                                         struct dtx_errlist *found, bool bad, bool *region,
                                         struct dtx_err *err);

#endif
