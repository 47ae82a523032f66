/* Rows collected by workers in any order, and read in the order of their keys: in memory while it
 * lasts, else in runs on disk. */
#ifndef DTX_OPS_SORT_ORDERED_H
#define DTX_OPS_SORT_ORDERED_H

#include "ops/sort/merge.h"
#include "ops/kit/rowspans.h"
#include "ops/sort/runs.h"

/* The rows in memory have records instead of spans, all of them or none. */
struct dtx_fold {
	bool on;        /* batches to come will, too, if they suit */
	bool *wanted;   /* per column: others are dropped */
	uint32_t *want; /* the same as a list */
	uint32_t nwant, ncols;
	struct dtx_rowspans_cols cols;
	struct dtx_rowspans *row; /* per batch of the sorter */
	size_t n, cap;
};
/* One worker's: rows in memory, and sorted runs on disk. */
struct dtx_ordered {
	struct dtx_sorter sorter;
	struct dtx_runs runs;
	struct dtx_fold fold;
};
/* keep: rows that can matter; SIZE_MAX: all. */
void dtx_ordered_init(struct dtx_ordered *o, size_t keep);
void dtx_ordered_clear(struct dtx_ordered *o);
/* Nobody will want more of the rows than the map says: what comes is kept so.  Once, before any row
 * is added; of a sorter that keeps all rows. */
DTX_MUSTUSE enum dtx_code dtx_ordered_fold(struct dtx_ordered *o, const struct dtx_opctx *ox,
                                           const struct dtx_colmap *map, struct dtx_err *err);
/* After all rows are added: what n workers have is made alike, for dtx_ordered_take. */
DTX_MUSTUSE enum dtx_code dtx_ordered_agree(struct dtx_ordered *const *o, unsigned n,
                                            const struct dtx_opctx *ox, struct dtx_err *err);
/* As dtx_sorter_add. */
DTX_MUSTUSE enum dtx_code dtx_ordered_add(struct dtx_ordered *o, const struct dtx_opctx *ox,
                                          const struct dtx_batch *b, struct dtx_column *const *key,
                                          const struct dtx_key_order *order, size_t nkeys,
                                          struct dtx_err *err);

/* --- for ops/sort/ordered.c --- */

/* Records of a batch, before it is added; none (on is false from now on) where it does not suit. */
DTX_MUSTUSE enum dtx_code dtx_fold_make(struct dtx_ordered *o, const struct dtx_opctx *ox,
                                        const struct dtx_batch *b, struct dtx_rowspans *out,
                                        struct dtx_err *err);
/* They take the place of the spans of the last batch of the sorter; taken. */
DTX_MUSTUSE enum dtx_code dtx_fold_last(struct dtx_ordered *o, struct dtx_rowspans *row,
                                        struct dtx_err *err);
/* What is in memory goes to disk. */
DTX_MUSTUSE enum dtx_code dtx_fold_spill(struct dtx_ordered *o, const struct dtx_opctx *ox,
                                         struct dtx_err *err);
/* n workers' rows, which agree, are picked by their records. */
DTX_MUSTUSE enum dtx_code dtx_fold_pack(const struct dtx_ordered *o, unsigned n,
                                        struct dtx_merge *m, struct dtx_err *err);
/* Bytes of a batch that its records are made of. */
static inline size_t dtx_fold_coming(const struct dtx_fold *f)
{
	return f->on ? DTX_BATCH_ROWS * f->cols.n * sizeof(struct dtx_span) : 0;
}
void dtx_fold_clear(struct dtx_fold *f);

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
