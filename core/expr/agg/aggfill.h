/* Fills the states of all groups from a complete table; workers share its rows. */
#ifndef DTX_EXPR_AGG_AGGFILL_H
#define DTX_EXPR_AGG_AGGFILL_H

#include "core/data/batch.h"
#include "core/expr/agg/agg.h"

struct dtx_aggfill {
	const struct dtx_aggcall *const *call;
	uint32_t ncalls;
	char *const *states; /* for each call: nstates states, one after the other, initialised */
	uint32_t nstates;
	struct dtx_table *t;   /* its batches must be dense */
	const uint32_t *group; /* for each row of the table: the number of its state */
};
/* Adds all rows.  Every worker except the first fills states of its own, which are then merged in
 * the order of the table, so the results do not depend on the number of workers. */
DTX_MUSTUSE enum dtx_code dtx_agg_fill(const struct dtx_aggfill *f, unsigned workers,
                                       struct dtx_eval_counts *counts, struct dtx_err *err);

#endif
