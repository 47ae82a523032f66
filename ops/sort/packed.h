/* Cells of many batches row by row, for who picks rows at random: what the spans of a row say is in
 * one place, where each column has its own miss of the cache otherwise. */
#ifndef DTX_OPS_SORT_PACKED_H
#define DTX_OPS_SORT_PACKED_H

#include "ops/kit/opkit.h"
#include "ops/kit/rowspans.h"

#define DTX_PACKED_REACH (UINT32_MAX / 2) /* bytes between texts under one base */

struct dtx_packed {                           /* read by all */
	struct dtx_batch *const *batch;       /* borrowed, as are their columns, */
	const struct dtx_rowspans_cols *cols; /* which of them have records, */
	struct dtx_rowspans *row;             /* and, per batch, these */
	uint32_t nbatches;
	const char **text; /* per batch: what its records count from */
	const char *base;  /* all cells are behind it, as near as a span reaches; NULL: they are
	                    * not, and a pick copies them */
	bool narrow;       /* as of a column that has them all */
};

/* Batches whose columns are alike (dtx_rowspans_alike), with their records, which are borrowed.
 * reach: DTX_PACKED_REACH, or less. */
DTX_MUSTUSE enum dtx_code dtx_packed_new(const struct dtx_rowspans_cols *cols,
                                         struct dtx_batch *const *batch,
                                         const struct dtx_rowspans *row, uint32_t nbatches,
                                         size_t reach, struct dtx_packed **out,
                                         struct dtx_err *err);
void dtx_packed_free(struct dtx_packed *p); /* NULL is fine */

/* Cells of picked rows: those of packed column k are span[k * pick->n ...].  The pick's packed_at
 * says which batches it means; none of its rows is nowhere.  Where pick->held does not keep all the
 * texts, they are copied. */
struct dtx_packed_cells {
	const struct dtx_span *span;
	const char *base;
	struct dtx_owner *owner; /* of both; the caller's */
	bool narrow;
};
DTX_MUSTUSE enum dtx_code dtx_packed_pick(const struct dtx_pick *pick,
                                          struct dtx_packed_cells *cells, struct dtx_err *err);
/* Packed column k of them as a column that stands under a field of `type`. */
DTX_MUSTUSE enum dtx_code dtx_packed_column(const struct dtx_pick *pick, uint32_t k,
                                            struct dtx_typeref type,
                                            const struct dtx_packed_cells *cells,
                                            struct dtx_column **out, struct dtx_err *err);

#endif
