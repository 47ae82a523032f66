/* What the executor needs from the layers above: a log, and help with a region.
 *
 * A region is what a snippet does instead of the typed engine: the steps [first, first + count), or
 * reading input `input`. The executor gathers its tables and its contract into a request; the host
 * (core/fallback) gives a table back. */
#ifndef DTX_PLAN_EXEC_HOST_H
#define DTX_PLAN_EXEC_HOST_H

#include "core/data/frame/rawgrid.h"
#include "core/plan/plan.h"

struct dtx_fallback_table {
	const char *name;        /* "main" is the table that the first step of the region reads */
	struct dtx_table *table; /* borrowed; every value fits its type */
	/* patterns for headers that change over time, as its input names them; NULL */
	const json_t *families;
};
/* one column of the derived contract: what the steps after the region read */
struct dtx_fallback_col {
	const char *name;
	unsigned cls; /* bits of enum dtx_class that would do; 0: any */
};
struct dtx_fallback_request {
	const struct dtx_plan *plan;
	uint32_t index;        /* number of the region in the run, from 0 */
	bool whole_plan;       /* fallback mode "plan": the region is all steps */
	uint32_t first, count; /* steps; count 0: the region is an input */
	char at[24];           /* JSON pointer, "/steps/3" or "/inputs/0" */
	/* For an input there are no tables: the snippet gets the raw cells and makes the table of
	 * the input. */
	int32_t input; /* number of the input; -1 */
	const char *input_name;
	const struct dtx_rawgrid *raw;
	const json_t *input_json;          /* its description in the plan, canonical */
	const struct dtx_schema *declared; /* columns and types that the plan declares for it */
	const struct dtx_err *trigger;
	/* The failure of a later step on a column that the last answer for this region made: that
	 * answer is wrong, and another is asked for. NULL: this is the first request. */
	const struct dtx_err *broke;
	const struct dtx_fallback_table *table;
	size_t ntables;
	/* the steps in canonical form, with their notes; the snippet sees them as
	 * params["steps"] */
	const json_t *steps;
	const struct dtx_fallback_col *need;
	size_t nneed;
	/* `expect` of the region's last step, or of the plan when the region is all of it; NULL */
	const json_t *expect_json;
	const struct dtx_expect *expect;
	const struct dtx_run *run;
};

/* Why the executor asks the host to decide on answers that wait for approval. */
enum dtx_finish_when {
	DTX_FINISH_NEXT,  /* the steps up to the next region accepted them */
	DTX_FINISH_DONE,  /* the run is complete */
	DTX_FINISH_FAILED /* the run failed for another reason */
};

struct dtx_host {
	void *arg;
	const struct dtx_log *log; /* NULL: no log */
	/* Gets a table for a region. *out is a new reference with a closed schema and columns of
	 * the kinds FLAT, DICT or CONST. An error ends the run (needs_snippet, snippet_* ...).
	 * NULL: there is no fallback. */
	enum dtx_code (*fallback)(void *arg, const struct dtx_fallback_request *,
	                          struct dtx_table **out, struct dtx_err *err);
	/* Decides whether answers may stay. Called before each further region and at the end.
	 * `in_use` has a bit, by index, for each region whose answer is in use; a discarded attempt
	 * may have dropped others, which then no step has tested. An error ends the run. NULL:
	 * answers need no decision. */
	enum dtx_code (*finish_approval)(void *arg, enum dtx_finish_when when, uint64_t in_use,
	                                 struct dtx_err *err);
	/* A typed attempt was discarded, since a region was added or a type widened. May be
	 * NULL. */
	void (*discard)(void *arg, const struct dtx_err *why);
};

#endif
