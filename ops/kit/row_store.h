/* Short cells of kept rows as records, row by row.  An operation that picks rows at random then
 * finds all cells of a row, with their text, in one place in memory.
 *
 * A record has one byte per cell (its length, and whether it is quoted), then the cells as they are
 * written, with a delimiter after each and a line end after the last.  The worker that keeps a
 * batch makes the records while its text is in the caches; the batch then drops its own columns of
 * these cells. */
#ifndef DTX_OPS_KIT_ROW_STORE_H
#define DTX_OPS_KIT_ROW_STORE_H

#include "core/data/batch.h"

struct dtx_row_store { /* of one batch */
	uint32_t stride;
	uint32_t longest; /* longest record, at least a word */
	struct dtx_celldialect dialect;
	uint8_t *rec;
};

/* Makes room for n records with the stride and the dialect of `like`. */
DTX_MUSTUSE enum dtx_code dtx_row_store_new(const struct dtx_row_store *like, uint32_t n,
                                            struct dtx_row_store **out, struct dtx_err *err);
/* Makes records of the columns col[0, n) of a dense batch, which are NULL afterwards.  *out stays
 * NULL and the batch unchanged if the columns are not cells of text files with one dialect, or if
 * the cells of some row are too long. */
DTX_MUSTUSE enum dtx_code dtx_row_store_take(struct dtx_batch *b, const uint32_t *col, uint32_t n,
                                             struct dtx_row_store **out, struct dtx_err *err);
/* Gives the batch its columns back, as cells of a new text.  Frees r unless it fails. */
DTX_MUSTUSE enum dtx_code dtx_row_store_back(struct dtx_row_store *r, const uint32_t *col,
                                             uint32_t n, struct dtx_batch *b, struct dtx_err *err);
void dtx_row_store_free(struct dtx_row_store *r); /* NULL is allowed */

struct dtx_row_store_set {            /* of many batches */
	uint32_t n, nbatches, widest; /* number of columns; longest record */
	int32_t *place;               /* for each column of a batch its index among the n; -1: it
	                               * has no records */
	struct dtx_row_store **batch;
};
/* Makes a set of the batches.  Takes batch[0, nbatches), also on failure; all must exist and have
 * one dialect. */
DTX_MUSTUSE enum dtx_code dtx_row_store_set_new(const uint32_t *col, uint32_t n, uint32_t ncols,
                                                struct dtx_row_store **batch, uint32_t nbatches,
                                                struct dtx_row_store_set **out,
                                                struct dtx_err *err);
void dtx_row_store_set_free(struct dtx_row_store_set *s); /* NULL is allowed */
/* Whether all batches exist and have the same dialect, so that they can form a set. */
bool dtx_row_store_alike(struct dtx_row_store *const *batch, size_t n);

/* --- in another order (row_store_order.c) --- */

/* Whether the records are so short that moving them costs no more than moving references to
 * them. */
bool dtx_row_store_movable(const struct dtx_row_store_set *s);
/* Sorts the records of one batch into the order of row[0, n), which has each row once. */
DTX_MUSTUSE enum dtx_code dtx_row_store_permute(struct dtx_row_store *r, const uint16_t *row,
                                                uint32_t n, struct dtx_err *err);
/* Makes room for n records of the set. */
DTX_MUSTUSE enum dtx_code dtx_row_store_one_new(const struct dtx_row_store_set *s, uint32_t n,
                                                struct dtx_row_store **out, struct dtx_err *err);
/* Stores the record of batch r at `from` as record i of `one`.  It copies two words, which may
 * overlap, so the records must be movable. */
static inline void dtx_row_store_one_put(struct dtx_row_store *one, uint32_t i,
                                         const struct dtx_row_store *r, const uint8_t *from)
{
	uint32_t last = r->longest - (uint32_t)sizeof(uint64_t);
	uint8_t *to = one->rec + (size_t)i * one->stride;

	memcpy(to, from, sizeof(uint64_t));
	memcpy(to + last, from + last, sizeof(uint64_t));
}
/* Replaces the batches of the set by this one; the records of the old batches are freed. */
void dtx_row_store_set_one(struct dtx_row_store_set *s, struct dtx_row_store *one);

/* The cells of n picked rows, row[i] of batch which[i]; DTX_NOWHERE: nulls.  to[k] is the column
 * for place k of the set, of type[k].  The caller owns the columns. */
DTX_MUSTUSE enum dtx_code dtx_row_store_pick(const struct dtx_row_store_set *s,
                                             const uint32_t *which, const uint32_t *row, uint32_t n,
                                             const struct dtx_typeref *type, struct dtx_column **to,
                                             struct dtx_err *err);

#endif
