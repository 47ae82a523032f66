/* Rows that workers collect in any order and that are read in the order of their keys.  They are in
 * memory as long as there is room, else in sorted runs on disk. */
#ifndef DTX_OPS_SORT_ORDERED_H
#define DTX_OPS_SORT_ORDERED_H

#include "ops/sort/merge.h"
#include "ops/kit/rowspans.h"
#include "ops/sort/runs.h"

/* The rows in memory have records (ops/kit/rowspans) instead of spans: either all batches or
 * none. */
struct dtx_fold {
	bool on;        /* batches that come will have records too, if their cells fit */
	bool *wanted;   /* per column: whether it is needed; the others are dropped */
	uint32_t *want; /* the same as a list */
	uint32_t nwant, ncols;
	struct dtx_rowspans_cols cols;
	struct dtx_rowspans *row; /* for each batch of the sorter */
	size_t n, cap;
};
/* The rows of one worker: in memory, and in sorted runs on disk. */
struct dtx_ordered {
	struct dtx_sorter sorter;
	struct dtx_runs runs;
	struct dtx_fold fold;
	size_t rows; /* that were added */
};
/* keep: number of rows that can matter; SIZE_MAX: all. */
void dtx_ordered_init(struct dtx_ordered *o, size_t keep);
void dtx_ordered_clear(struct dtx_ordered *o);
/* Announces that only the columns of the map will be needed, so rows may be kept as records.  Call
 * it once, before any row is added; only for a sorter that keeps all rows. */
DTX_MUSTUSE enum dtx_code dtx_ordered_fold(struct dtx_ordered *o, const struct dtx_opctx *ox,
                                           const struct dtx_colmap *map, struct dtx_err *err);
/* Call it after all rows are added: gives the rows of all n workers the same form, for
 * dtx_ordered_take. */
DTX_MUSTUSE enum dtx_code dtx_ordered_agree(struct dtx_ordered *const *o, unsigned n,
                                            const struct dtx_opctx *ox, struct dtx_err *err);
/* As dtx_sorter_add. */
DTX_MUSTUSE enum dtx_code dtx_ordered_add(struct dtx_ordered *o, const struct dtx_opctx *ox,
                                          const struct dtx_batch *b, struct dtx_column *const *key,
                                          const struct dtx_key_order *order, size_t nkeys,
                                          struct dtx_err *err);

/* --- used by ops/sort/ordered.c --- */

/* Makes the records of a batch before it is added.  If its cells do not fit, none are made, and
 * `on` is false from now on. */
DTX_MUSTUSE enum dtx_code dtx_fold_make(struct dtx_ordered *o, const struct dtx_opctx *ox,
                                        const struct dtx_batch *b, struct dtx_rowspans *out,
                                        struct dtx_err *err);
/* Replaces the spans of the sorter's last batch by records, which it takes. */
DTX_MUSTUSE enum dtx_code dtx_fold_last(struct dtx_ordered *o, struct dtx_rowspans *row,
                                        struct dtx_err *err);
/* Moves what is in memory to disk. */
DTX_MUSTUSE enum dtx_code dtx_fold_spill(struct dtx_ordered *o, const struct dtx_opctx *ox,
                                         struct dtx_err *err);
/* Lets the merge pick rows by their records.  The n workers must agree. */
DTX_MUSTUSE enum dtx_code dtx_fold_pack(const struct dtx_ordered *o, unsigned n,
                                        struct dtx_merge *m, struct dtx_err *err);
/* Bytes of a batch's spans from which its records are made. */
static inline size_t dtx_fold_coming(const struct dtx_fold *f)
{
	return f->on ? DTX_BATCH_ROWS * f->cols.n * sizeof(struct dtx_span) : 0;
}
void dtx_fold_clear(struct dtx_fold *f);

/* The rows of all workers, which are read through the merge. */
struct dtx_ordered_rows {
	struct dtx_ordered *part;
	unsigned n;
	struct dtx_sorted *run;
	unsigned nruns;
	struct dtx_merge merge;
};
/* Moves what all workers have into the result, which has at most `limit` rows.  The sorters must be
 * sorted.  spill: where they have moved rows; NULL: nowhere. */
DTX_MUSTUSE enum dtx_code dtx_ordered_take(struct dtx_ordered *const *from, unsigned n,
                                           size_t limit, struct dtx_spill *spill,
                                           struct dtx_ordered_rows **out, struct dtx_err *err);
void dtx_ordered_free(struct dtx_ordered_rows *r); /* NULL is allowed */

#endif
