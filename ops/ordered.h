/* Rows collected by workers in any order, and read in the order of their keys: in memory while it
 * lasts, else in runs on disk. */
#ifndef OPS_ORDERED_H
#define OPS_ORDERED_H

#include "ops/merge.h"
#include "ops/runs.h"

/* One worker's: rows in memory, and sorted runs on disk. */
struct dtx_ordered {
	struct dtx_sorter sorter;
	struct dtx_runs runs;
};
/* keep: rows that can matter; SIZE_MAX: all. */
void dtx_ordered_init(struct dtx_ordered *o, size_t keep);
void dtx_ordered_clear(struct dtx_ordered *o);
/* As dtx_sorter_add. */
DTX_MUSTUSE enum dtx_code dtx_ordered_add(struct dtx_ordered *o, const struct dtx_opctx *ox,
                                          const struct dtx_batch *b, struct dtx_column *const *key,
                                          const struct dtx_key_order *order, size_t nkeys,
                                          struct dtx_err *err);

/* All workers' rows, to be read through the merge. */
struct dtx_ordered_rows {
	struct dtx_ordered *part;
	unsigned n;
	struct dtx_sorted *run;
	unsigned nruns;
	struct dtx_merge merge;
};
/* Sorters must be sorted; what the workers have moves to the result, of at most `limit` rows. */
DTX_MUSTUSE enum dtx_code dtx_ordered_take(struct dtx_ordered *const *from, unsigned n,
                                           size_t limit, struct dtx_ordered_rows **out,
                                           struct dtx_err *err);
void dtx_ordered_free(struct dtx_ordered_rows *r); /* NULL is fine */

#endif
