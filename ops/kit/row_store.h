/* Short cells of kept rows, text and all, row by row: who picks rows at random finds what it wants
 * of a row in one place, and copies it.
 *
 * A record is a byte per cell, its length and whether quotes surround it, and the cells as they
 * were written, a delimiter after each and a line end after the last.  Made by who keeps a batch,
 * while its text is in the caches; the batch's own columns of these cells go. */
#ifndef DTX_OPS_KIT_ROW_STORE_H
#define DTX_OPS_KIT_ROW_STORE_H

#include "core/data/batch.h"

struct dtx_row_store { /* of one batch */
	uint32_t stride;
	uint32_t longest; /* record, at least of a word */
	struct dtx_celldialect dialect;
	uint8_t *rec;
};

/* Room for n records of the stride, the dialect of `like`. */
DTX_MUSTUSE enum dtx_code dtx_row_store_new(const struct dtx_row_store *like, uint32_t n,
                                            struct dtx_row_store **out, struct dtx_err *err);
/* Of columns col[0, n) of a dense batch, which are NULL afterwards.  *out stays NULL, and the batch
 * as it is, when they are no cells of one text file's kind or some row's are too long. */
DTX_MUSTUSE enum dtx_code dtx_row_store_take(struct dtx_batch *b, const uint32_t *col, uint32_t n,
                                             struct dtx_row_store **out, struct dtx_err *err);
/* Gives the batch its columns back, as cells of a text of their own.  Frees r, unless it fails. */
DTX_MUSTUSE enum dtx_code dtx_row_store_back(struct dtx_row_store *r, const uint32_t *col,
                                             uint32_t n, struct dtx_batch *b, struct dtx_err *err);
void dtx_row_store_free(struct dtx_row_store *r); /* NULL is fine */

struct dtx_row_store_set {            /* of many batches */
	uint32_t n, nbatches, widest; /* columns; the longest record */
	int32_t *place;               /* of each column of a batch among the n; -1: it is none */
	struct dtx_row_store **batch;
};
/* Takes batch[0, nbatches), also on failure: all there, and in one dialect. */
DTX_MUSTUSE enum dtx_code dtx_row_store_set_new(const uint32_t *col, uint32_t n, uint32_t ncols,
                                                struct dtx_row_store **batch, uint32_t nbatches,
                                                struct dtx_row_store_set **out,
                                                struct dtx_err *err);
void dtx_row_store_set_free(struct dtx_row_store_set *s); /* NULL is fine */
/* Whether the batches are of one kind of text, so that they can make a set. */
bool dtx_row_store_alike(struct dtx_row_store *const *batch, size_t n);

/* --- in another order (row_store_order.c) --- */

/* Whether the records are so short that they are moved as easily as what would say where they are.
 */
bool dtx_row_store_movable(const struct dtx_row_store_set *s);
/* Records of one batch in the order of row[0, n), which names each once. */
DTX_MUSTUSE enum dtx_code dtx_row_store_permute(struct dtx_row_store *r, const uint16_t *row,
                                                uint32_t n, struct dtx_err *err);
/* Room for n records of the set. */
DTX_MUSTUSE enum dtx_code dtx_row_store_one_new(const struct dtx_row_store_set *s, uint32_t n,
                                                struct dtx_row_store **out, struct dtx_err *err);
/* The record of batch r at `from`, movable, as that of row i: by two words, which may overlap. */
static inline void dtx_row_store_one_put(struct dtx_row_store *one, uint32_t i,
                                         const struct dtx_row_store *r, const uint8_t *from)
{
	uint32_t last = r->longest - (uint32_t)sizeof(uint64_t);
	uint8_t *to = one->rec + (size_t)i * one->stride;

	memcpy(to, from, sizeof(uint64_t));
	memcpy(to + last, from + last, sizeof(uint64_t));
}
/* All records are in this one batch now; the set's own go. */
void dtx_row_store_set_one(struct dtx_row_store_set *s, struct dtx_row_store *one);

/* Cells of n picked rows, row[i] of which[i], DTX_NOWHERE: nulls.  to[k] is the column that place k
 * of the set makes, under a field of type[k]; the caller's. */
DTX_MUSTUSE enum dtx_code dtx_row_store_pick(const struct dtx_row_store_set *s,
                                             const uint32_t *which, const uint32_t *row, uint32_t n,
                                             const struct dtx_typeref *type, struct dtx_column **to,
                                             struct dtx_err *err);

#endif
