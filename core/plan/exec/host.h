/* What the executor asks of those above it: a log, a clock, help with a region.
 *
 * A region is what a snippet does instead of the typed engine: steps [first, first + count), or the
 * reading of input `input`. */
#ifndef DTX_PLAN_EXEC_HOST_H
#define DTX_PLAN_EXEC_HOST_H

#include "core/data/frame/rawgrid.h"
#include "core/plan/plan.h"

struct dtx_fallback_table {
	const char *name;        /* "main" is the region's table */
	struct dtx_table *table; /* borrowed; all types confirmed */
	const json_t *families;  /* patterns of sliding headers that its input names; NULL */
};
struct dtx_fallback_col { /* derived contract: what the typed suffix reads */
	const char *name;
	unsigned cls; /* enum dtx_class bits; 0: any */
};
struct dtx_fallback_request {
	const struct dtx_plan *plan;
	uint32_t index;        /* region number of the run, from 0 */
	bool whole_plan;       /* grain "plan": the region is all steps */
	uint32_t first, count; /* steps; count 0: an input region */
	char at[24];           /* "/steps/3" or "/inputs/0" */
	/* Input region: there are no tables, but the raw cells of the input; its table is wanted.
	 */
	int32_t input; /* its number; -1 */
	const char *input_name;
	const struct dtx_rawgrid *raw;
	const json_t *input_json;          /* canonical, as the plan describes it */
	const struct dtx_schema *declared; /* types and names that it promises */
	const struct dtx_err *trigger;
	/* What a step behind the region failed with, on a column of the table that this region was
	 * given before: it is no good.  NULL: it is asked for the first time. */
	const struct dtx_err *broke;
	const struct dtx_fallback_table *table;
	size_t ntables;
	const json_t *steps; /* canonical, with notes; what params["steps"] shows */
	const struct dtx_fallback_col *need;
	size_t nneed;
	const json_t *expect_json; /* of the region's last step (grain plan: the plan's); NULL */
	const struct dtx_expect *expect;
	const struct dtx_run *run;
};

/* When a result that was given may be settled: approved, or not. */
enum dtx_settle {
	DTX_SETTLE_NEXT,  /* the steps up to the next region had nothing against it */
	DTX_SETTLE_DONE,  /* all had */
	DTX_SETTLE_FAILED /* the run failed, for another reason */
};

struct dtx_host {
	void *arg;
	const struct dtx_log *log; /* NULL: silent */
	/* NULL: nobody to ask.  *out is a new reference, closed schema, columns FLAT, DICT or
	 * CONST. Its error ends the run (needs_snippet, snippet_* ...). */
	enum dtx_code (*fallback)(void *arg, const struct dtx_fallback_request *,
	                          struct dtx_table **out, struct dtx_err *err);
	/* Comes before the next region, and last of all; NULL: nothing waits.  `stands`: a bit for
	 * each region, by its index, whose answer is in use; an attempt that was discarded may have
	 * dropped others, which nothing has tried then.  Its error ends the run. */
	enum dtx_code (*settle)(void *arg, enum dtx_settle when, uint64_t stands,
	                        struct dtx_err *err);
	/* A typed attempt was discarded (region added or types widened); NULL: does not matter. */
	void (*discard)(void *arg, const struct dtx_err *why);
};

#endif
