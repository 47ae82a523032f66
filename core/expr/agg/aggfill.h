/* States of groups over a table at rest, its rows shared by workers. */
#ifndef DTX_EXPR_AGG_AGGFILL_H
#define DTX_EXPR_AGG_AGGFILL_H

#include "core/data/batch.h"
#include "core/expr/agg/agg.h"

struct dtx_aggfill {
	const struct dtx_aggcall *const *call;
	uint32_t ncalls;
	char *const *states; /* per call nstates of them, side by side, initialised */
	uint32_t nstates;
	struct dtx_table *t;   /* dense batches */
	const uint32_t *group; /* per row of the table its state */
};
/* Adds all rows.  Each worker but the first fills states of its own, which are merged in the order
 * of the table: the results do not depend on the workers. */
DTX_MUSTUSE enum dtx_code dtx_agg_fill(const struct dtx_aggfill *f, unsigned workers,
                                       struct dtx_eval_counts *counts, struct dtx_err *err);

#endif
