/* The physical plan: which pipelines there are, what a reader does for the steps behind it.
 *
 * Explanations are made from it; the executor asks the same questions of its legs while it makes
 * them (dtx_phys_narrows, dtx_phys_limit), so that what is told is what is done. */
#ifndef DTX_PLAN_PIPE_PHYSICAL_H
#define DTX_PLAN_PIPE_PHYSICAL_H

#include "core/plan/bind/flow.h"

enum dtx_phys_end {
	DTX_PHYS_OUTPUT,  /* of: number of the output */
	DTX_PHYS_SINK,    /* of: the step that eats the batches */
	DTX_PHYS_WHOLE,   /* of: the step that wants the table */
	DTX_PHYS_TABLE,   /* of: the step whose result several read */
	DTX_PHYS_SNIPPET, /* of: the first step of the region */
	DTX_PHYS_NOWHERE  /* rows that nobody reads, made for the checks; of: -1 */
};
extern const char *const dtx_phys_end_name[];

struct dtx_phys_leg {
	int32_t table;  /* where it starts: an input, or a table that was made before */
	uint32_t *step; /* maps it streams through */
	uint32_t nsteps;
	bool narrowed;       /* step[0] runs inside the reader */
	int64_t limit;       /* rows after which the reader may stop; -1: none */
	int32_t limit_step;  /* who says so; -1 */
	uint64_t first_rows; /* that a sink keeps of its result; 0: all */
};
struct dtx_phys_pipe {
	enum dtx_phys_end end;
	int32_t of;
	struct dtx_phys_leg *leg;
	uint32_t nlegs;
};
struct dtx_phys { /* in the order in which they run; in an arena */
	struct dtx_phys_pipe *pipe;
	uint32_t npipes;
};

/* region: per step, the number of its region or -1. */
DTX_MUSTUSE enum dtx_code dtx_phys_make(const struct dtx_plan *plan, const struct dtx_flow *flow,
                                        const int32_t *region, struct dtx_arena *arena,
                                        struct dtx_phys *out, struct dtx_err *err);
/* A map that may run inside the reader it follows: it only narrows batches. */
bool dtx_phys_narrows(const struct dtx_plan *plan, const struct dtx_flow *flow,
                      const uint32_t *step, uint32_t n);
/* Rows after which nothing more is needed by maps that a reader's batches go through in order; -1:
 * all of them.  *at (if not NULL) is the index of the step that says so. */
int64_t dtx_phys_limit(const struct dtx_plan *plan, const uint32_t *step, uint32_t n, uint32_t *at);
/* Rows of a sink's result, from its start, that the maps it goes through can want; 0: all. */
uint64_t dtx_phys_first_rows(const struct dtx_plan *plan, uint32_t sink, const uint32_t *step,
                             uint32_t n);

#endif
