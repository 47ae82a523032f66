/* The merge of sorted runs, in parts: each is a range of the result that one worker can make
 * without the others.
 *
 * Rows are picked from the runs' batches, which are borrowed.  Read-only after dtx_merge_open. */
#ifndef DTX_OPS_SORT_MERGE_H
#define DTX_OPS_SORT_MERGE_H

#include "ops/kit/rowspans.h"
#include "ops/sort/sorter.h"

struct dtx_merge {
	const struct dtx_sorted *run; /* borrowed */
	unsigned n;
	uint64_t nparts;
	size_t *bound;            /* [part][run]: where the part begins in the run */
	struct dtx_batch **batch; /* of all runs, one after the other */
	uint32_t *first;          /* where a run's batches begin in it */
	uint32_t nbatches;
	struct dtx_owner *held;          /* keeps them all */
	struct dtx_packed *packed;       /* they, row by row; NULL: as they are */
	const struct dtx_origin *origin; /* of all rows, NULL: they have none in common */
};

/* limit: rows of the result. */
DTX_MUSTUSE enum dtx_code dtx_merge_open(struct dtx_merge *m, const struct dtx_sorted *run,
                                         unsigned n, size_t limit, struct dtx_err *err);
/* Picks rows by records, `row` of each batch of all runs: all of them are alike.  Both stay the
 * caller's. */
DTX_MUSTUSE enum dtx_code dtx_merge_pack(struct dtx_merge *m, const struct dtx_rowspans_cols *cols,
                                         const struct dtx_rowspans *row, struct dtx_err *err);
void dtx_merge_close(struct dtx_merge *m);
/* Emits the rows of a part in order, their columns as the map says. */
DTX_MUSTUSE enum dtx_code dtx_merge_part(const struct dtx_merge *m, uint64_t part,
                                         const struct dtx_opctx *ox, const struct dtx_colmap *map,
                                         struct dtx_emit *out, struct dtx_err *err);

#endif
