/* The physical plan: which pipelines there will be, and what each reader does on behalf of the
 * steps that follow it.
 *
 * `dtx explain` prints it. The executor does not follow it blindly, as it learns schemas while it
 * runs, but it asks the same two questions (dtx_phys_narrows, dtx_phys_limit) when it builds its
 * sources, so that what explain says is what is done.
 *
 * A leg is a source with the maps that its rows go through. */
#ifndef DTX_PLAN_PIPE_PHYSICAL_H
#define DTX_PLAN_PIPE_PHYSICAL_H

#include "core/plan/bind/flow.h"

enum dtx_phys_end {
	DTX_PHYS_OUTPUT,  /* of: number of the output */
	DTX_PHYS_SINK,    /* of: the step that consumes the batches */
	DTX_PHYS_WHOLE,   /* of: the step that needs the whole table */
	DTX_PHYS_TABLE,   /* of: the step whose result has several readers */
	DTX_PHYS_SNIPPET, /* of: first step of the region */
	DTX_PHYS_NOWHERE  /* rows without a reader, made so that checks see them; of: -1 */
};
extern const char *const dtx_phys_end_name[];

struct dtx_phys_leg {
	/* where the rows come from: an input, or a table that an earlier pipeline made */
	int32_t table;
	uint32_t *step; /* the maps, in order */
	uint32_t nsteps;
	bool narrowed;       /* step[0] runs inside the reader */
	int64_t limit;       /* rows after which the reader may stop; -1: it must read all */
	int32_t limit_step;  /* the step with that limit; -1 */
	uint64_t first_rows; /* rows of its result that the sink needs to keep; 0: all */
};
struct dtx_phys_pipe {
	enum dtx_phys_end end;
	int32_t of;
	struct dtx_phys_leg *leg;
	uint32_t nlegs;
};
struct dtx_phys { /* pipelines in the order in which they run; all memory is in an arena */
	struct dtx_phys_pipe *pipe;
	uint32_t npipes;
};

/* Fills *out. region[s] is the number of the region of step s, or -1; steps that are not bound, or
 * that have no op, count as snippets. */
DTX_MUSTUSE enum dtx_code dtx_phys_make(const struct dtx_plan *plan, const struct dtx_flow *flow,
                                        const int32_t *region, struct dtx_arena *arena,
                                        struct dtx_phys *out, struct dtx_err *err);
/* Whether the first of the n steps that follow a reader may run inside it: the reader then makes
 * values for the columns that the filter reads, and all other columns for the rows that are kept.
 * That needs a map without state, order or checks, and one whose failures no later limit can undo.
 */
bool dtx_phys_narrows(const struct dtx_plan *plan, const struct dtx_flow *flow,
                      const uint32_t *step, uint32_t n);
/* The number of rows after which the n maps that follow a reader need no more; -1: they need all.
 * *at, if not NULL, is the index of the step that decides. */
int64_t dtx_phys_limit(const struct dtx_plan *plan, const uint32_t *step, uint32_t n, uint32_t *at);
/* The number of rows, from the start of a sink's result, that the n maps after it can use; 0: all.
 */
uint64_t dtx_phys_first_rows(const struct dtx_plan *plan, uint32_t sink, const uint32_t *step,
                             uint32_t n);

#endif
