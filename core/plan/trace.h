/* Which source rows went into one row of a result: the plan again, with row numbers carried along.
 *
 * Every input gets a column of row numbers, which the steps pass on as they do any other.  Where a
 * step makes rows of several (group_by, pivot_wider) they end and its results are numbered anew;
 * from the row that is asked for, such a step is walked back by its keys.  The traced plan also
 * gives the whole output, so that its hash can be held to the recorded one: a trace that changed
 * the result is none. */
#ifndef DTX_PLAN_TRACE_H
#define DTX_PLAN_TRACE_H

#include "core/base/json.h"
#include "core/plan/exec.h"

enum dtx_trace_part {
	DTX_TRACE_CHECK, /* the output's table, without row numbers */
	DTX_TRACE_ROW,   /* the row that is asked for */
	DTX_TRACE_INPUT  /* rows of an input that went into it */
};
struct dtx_trace_output {
	enum dtx_trace_part part;
	uint32_t input;
};
struct dtx_trace {
	json_t *plan; /* inputs as in the plan it was made from, by name alone; owned */
	struct dtx_trace_output output[DTX_PLAN_OUTPUTS];
	uint32_t noutputs;
	bool wide; /* a step gave more rows than its keys can tell apart: too much may be named */
};

/* `bound`: dtx_exec_bind of the plan.  columns: those of the output, as recorded.  row: from 1.
 * Codes: no_translation with the step whose rows cannot be followed. */
DTX_MUSTUSE enum dtx_code dtx_trace_plan(const struct dtx_plan *plan,
                                         const struct dtx_exec_result *bound, uint32_t output,
                                         const json_t *columns, int64_t row, const char *column,
                                         struct dtx_trace *out, struct dtx_err *err);
void dtx_trace_clear(struct dtx_trace *t);

#endif
