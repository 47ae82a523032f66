/* Sorts rows by normalised keys: one run per worker, sorted in parallel and merged at the end
 * (ops/sort/merge).
 *
 * A row takes 32 bytes: 16 bytes of its key, the place of the whole key if it is longer, and the
 * number of the row.  Rows with equal keys are ordered by their position in the stream, so the sort
 * is stable. */
#ifndef DTX_OPS_SORT_SORTER_H
#define DTX_OPS_SORT_SORTER_H

#include "core/data/key.h"
#include "ops/kit/opkit.h"

struct dtx_sort_row {
	uint64_t key[2]; /* the first bytes, big endian, so that they compare as numbers */
	uint64_t rest;   /* offset of the whole key in the bytes of the run; 0: none */
	uint32_t batch, row;
};
/* A sorted run, for readers; borrowed. */
struct dtx_sorted {
	const struct dtx_sort_row *row;
	size_t n;
	const char *bytes;              /* whole keys of more than 16 bytes */
	struct dtx_batch *const *batch; /* of the rows */
	size_t nbatches;
	const uint64_t *pos; /* position of row[i]; NULL: as its batch says */
};
struct dtx_sorter {
	struct dtx_kept kept;
	struct dtx_sort_row *row;
	size_t n, cap;
	struct dtx_buf bytes; /* whole keys of more than 16 bytes: length, then the key */
	struct dtx_buf one;
	size_t keep;   /* number of rows that can matter; SIZE_MAX: all */
	size_t before; /* bytes in use when the first row came */
};

void dtx_sorter_init(struct dtx_sorter *s, size_t keep);
void dtx_sorter_clear(struct dtx_sorter *s);
/* Empties the sorter for more rows. */
void dtx_sorter_reset(struct dtx_sorter *s);
/* Adds a dense batch; key[i] is ordered by order[i].  Key columns are FLAT, DICT or CONST. */
DTX_MUSTUSE enum dtx_code dtx_sorter_add(struct dtx_sorter *s, const struct dtx_batch *b,
                                         struct dtx_column *const *key,
                                         const struct dtx_key_order *order, size_t nkeys,
                                         struct dtx_err *err);
/* Makes the key of row `row`: its first bytes in *r, all of a long key appended to `bytes`.  `one`
 * is scratch memory.  False: out of memory.  The caller sets r->batch and r->row. */
DTX_MUSTUSE bool dtx_sort_key(struct dtx_column *const *key, const struct dtx_key_order *order,
                              size_t nkeys, uint32_t row, struct dtx_buf *one,
                              struct dtx_buf *bytes, struct dtx_sort_row *r);
/* Sorts n rows of the view in place.  tmp has room for as many.  n < 2^32. */
DTX_MUSTUSE enum dtx_code dtx_sort_rows(const struct dtx_sorted *view, struct dtx_sort_row *row,
                                        struct dtx_sort_row *tmp, size_t n, unsigned workers,
                                        struct dtx_err *err);
/* Sorts the run. */
DTX_MUSTUSE enum dtx_code dtx_sorter_sort(struct dtx_sorter *s, struct dtx_err *err);
/* The run; valid until the sorter changes. */
struct dtx_sorted dtx_sorter_run(const struct dtx_sorter *s);
/* Which of two rows comes first: < 0 or > 0; 0 only if they are the same row. */
int dtx_sorted_cmp(const struct dtx_sorted *a, const struct dtx_sort_row *x,
                   const struct dtx_sorted *b, const struct dtx_sort_row *y);
/* Whether rows of two runs have equal keys. */
bool dtx_sorted_same(const struct dtx_sorted *a, const struct dtx_sort_row *x,
                     const struct dtx_sorted *b, const struct dtx_sort_row *y);

#endif
