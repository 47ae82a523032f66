/* Merges sorted runs, in parts: each part is a range of the result that one worker can make without
 * the others.  The ranges are found from samples of the runs.
 *
 * Rows are picked from the batches of the runs, which are borrowed.  Read-only after
 * dtx_merge_open. */
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
	uint32_t *first;          /* where the batches of a run begin in `batch` */
	uint32_t nbatches;
	struct dtx_owner *held;          /* owns the memory of all batches */
	struct dtx_packed *packed;       /* their records; NULL: rows are picked from the columns */
	const struct dtx_origin *origin; /* common to all rows; NULL if none */
};

/* limit: number of rows of the result.  spill: where runs on disk are; NULL: there are none. */
DTX_MUSTUSE enum dtx_code dtx_merge_open(struct dtx_merge *m, const struct dtx_sorted *run,
                                         unsigned n, size_t limit, struct dtx_spill *spill,
                                         struct dtx_err *err);
/* Picks rows by records: `row` has those of each batch of all runs, which must be alike.  The
 * caller keeps both. */
DTX_MUSTUSE enum dtx_code dtx_merge_pack(struct dtx_merge *m, const struct dtx_rowspans_cols *cols,
                                         const struct dtx_rowspans *row, struct dtx_err *err);
void dtx_merge_close(struct dtx_merge *m);
/* Emits the rows of a part in order, with the columns that the map moves. */
DTX_MUSTUSE enum dtx_code dtx_merge_part(const struct dtx_merge *m, uint64_t part,
                                         const struct dtx_opctx *ox, const struct dtx_colmap *map,
                                         struct dtx_emit *out, struct dtx_err *err);

#endif
