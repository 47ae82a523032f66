/* Cells of many batches row by row, for who picks rows at random: what the spans of a row say is in
 * one place, where each column has its own miss of the cache otherwise.
 *
 * A record is where the first cell begins and two bytes per cell, one where cells follow each
 * other: how far from the end of the one before it begins, and its length.  Built once, read by
 * all. */
#ifndef OPS_PACKED_H
#define OPS_PACKED_H

#include "ops/opkit.h"

#define DTX_PACKED_REACH (UINT32_MAX / 2) /* bytes between texts under one base */

struct dtx_packed {
	struct dtx_batch *const *batch; /* borrowed, as are their columns */
	uint32_t nbatches;
	uint32_t n;     /* columns that are packed, */
	uint32_t *col;  /* in order */
	int32_t *place; /* of each column of a batch in col; -1: it is not packed */
	uint32_t ncols;
	uint32_t stride;
	bool gaps;         /* not all cells follow each other */
	uint8_t **rec;     /* per batch */
	const char **text; /* per batch: what its records count from */
	const char *base;  /* all cells are behind it, as near as a span reaches; NULL: they are
	                    * not, and a pick copies them */
	bool narrow;       /* as of a column that has them all */
};

/* What can be packed of columns want[0, n) of the batches, ascending; *out stays NULL when that is
 * too little, or where there is not the memory for it.  reach: DTX_PACKED_REACH, or less. */
DTX_MUSTUSE enum dtx_code dtx_packed_new(unsigned workers, struct dtx_batch *const *batch,
                                         uint32_t nbatches, const uint32_t *want, uint32_t n,
                                         size_t reach, struct dtx_packed **out,
                                         struct dtx_err *err);
/* Whether what is picked keeps nothing of the batches. */
static inline bool dtx_packed_copies(const struct dtx_packed *p)
{
	return !p->base;
}
void dtx_packed_free(struct dtx_packed *p); /* NULL is fine */

/* Cells of picked rows: those of packed column k are span[k * pick->n ...].  The pick's packed_at
 * says which batches it means; none of its rows is nowhere. */
struct dtx_packed_cells {
	const struct dtx_span *span;
	const char *base;
	struct dtx_owner *owner; /* of both; the caller's */
};
DTX_MUSTUSE enum dtx_code dtx_packed_pick(const struct dtx_pick *pick,
                                          struct dtx_packed_cells *cells, struct dtx_err *err);
/* Packed column k of them as a column that stands under a field of `type`. */
DTX_MUSTUSE enum dtx_code dtx_packed_column(const struct dtx_pick *pick, uint32_t k,
                                            struct dtx_typeref type,
                                            const struct dtx_packed_cells *cells,
                                            struct dtx_column **out, struct dtx_err *err);

#endif
