/* What operations share: moving columns, keeping batches, emitting rows that are picked from
 * them. */
#ifndef DTX_OPS_KIT_OPKIT_H
#define DTX_OPS_KIT_OPKIT_H

#include "core/base/thread/cancel.h"
#include "core/base/memory/mem.h"
#include "core/io/reader.h"
#include "core/plan/bind/bind.h"
#include "core/plan/compile/pytext.h"

#define DTX_NOWHERE UINT32_MAX /* in the arrays `which` of cells to gather: no source, null */

/* For each output column the input column that it is; -1: the op makes it. */
struct dtx_colmap {
	uint32_t n;
	const int32_t *from;
};
/* The map of the output columns that have been bound so far, for cells of input table t; in the
 * bind's arena. */
DTX_MUSTUSE enum dtx_code dtx_colmap_bind(struct dtx_bind *b, unsigned t, struct dtx_colmap *map,
                                          struct dtx_err *err);
/* Gives b the output schema: columns move by the map, the other columns are NULL. */
DTX_MUSTUSE enum dtx_code dtx_colmap_apply(const struct dtx_opctx *ox, const struct dtx_colmap *map,
                                           struct dtx_batch *b, struct dtx_err *err);
/* The index of column c in col[0..n), the columns of a selector; -1 if it is not there. */
static inline int32_t dtx_cols_find(const int32_t *col, uint32_t n, int32_t c)
{
	for (uint32_t i = 0; i < n; i++)
		if (col[i] == c)
			return (int32_t)i;
	return -1;
}
/* For each of a table's n columns: its index in col[0..ncol), or -1. For loops over all columns,
 * where dtx_cols_find would take quadratic time. In the arena; NULL: out of memory. */
DTX_MUSTUSE int32_t *dtx_cols_places(struct dtx_arena *arena, const int32_t *col, uint32_t ncol,
                                     uint32_t n);
/* Whether the map moves a column that a later step needs. */
bool dtx_colmap_moves(const struct dtx_opctx *ox, const struct dtx_colmap *map);
/* The map of an op that only moves columns; its state is a struct dtx_colmap. */
extern const struct dtx_map dtx_colmap_move;
/* Stores a column at i.  Takes `c`; an earlier column is released. */
void dtx_batch_put(struct dtx_batch *b, uint32_t i, struct dtx_column *c);
/* The values of column i as a FLAT column.  The caller owns a reference. */
DTX_MUSTUSE enum dtx_code dtx_batch_flat(struct dtx_batch *b, uint32_t i, struct dtx_column **out,
                                         struct dtx_err *err);
/* Whether a later step needs output column i. */
static inline bool dtx_op_wants(const struct dtx_opctx *ox, uint32_t i)
{
	return !ox->need || ox->need[i] != DTX_NEED_SKIP;
}
/* Evaluates a bound tree over a batch and adds what the evaluation counted to the counters of the
 * step (dtx_op_evals). */
DTX_MUSTUSE enum dtx_code dtx_op_eval(const struct dtx_opctx *ox, const struct dtx_bound *e,
                                      struct dtx_batch *b, struct dtx_column **out,
                                      struct dtx_err *err);
/* The row of live row number k. */
static inline uint32_t dtx_batch_row(const struct dtx_batch *b, uint32_t k)
{
	return b->sel ? b->sel[k] : k;
}

/* Counting sort: turns the counts count[0, n) into the places where each group begins; `from` other
 * items come first.  After the caller has put each item at count[...]++, they are the places where
 * each group ends. */
static inline void dtx_counts_to_starts(uint32_t *count, uint32_t n, uint32_t from)
{
	for (uint32_t k = 0; k < n; k++) {
		uint32_t items = count[k];

		count[k] = from;
		from += items;
	}
}
/* Back from ends to starts: group k begins where the one before it ends, the first at `from`.  n >
 * 0. */
static inline void dtx_ends_to_starts(uint32_t *end, uint32_t n, uint32_t from)
{
	memmove(end + 1, end, (n - 1) * sizeof(*end));
	end[0] = from;
}

/* Batches that are kept after the call in which they came. */
struct dtx_kept {
	struct dtx_batch **batch;
	size_t n, cap;
};
/* Keeps a dense batch with new references to b's columns. */
DTX_MUSTUSE enum dtx_code dtx_kept_add(struct dtx_kept *k, const struct dtx_batch *b,
                                       struct dtx_err *err);
void dtx_kept_clear(struct dtx_kept *k);
/* Sorts by position (seq, sub). */
void dtx_kept_sort(struct dtx_kept *k);
/* The same order for qsort, for items that begin with a pointer to a batch. */
int dtx_batch_cmp(const void *a, const void *b);

/* Rows picked from batches: row[i] of batch[which[i]]. */
struct dtx_packed;
struct dtx_pick {
	struct dtx_batch *const *batch;
	uint32_t nbatches;
	const uint32_t *which, *row; /* which: DTX_NOWHERE gives a row of nulls */
	uint32_t n;
	struct dtx_owner *held; /* owns the memory of all batches (dtx_cells_hold); NULL: the result
	                         * references what it uses */
	/* The batches as records (ops/sort/packed): batch[i] has number packed_at[i] there.  NULL:
	 * none. */
	const struct dtx_packed *packed;
	const uint32_t *packed_at;
};
/* Rows that are picked at random are made in batches of this size, so that their cells stay in
 * cache, and their pages in the TLB, until they are written. */
#define DTX_PICK_ROWS 1024u
/* Makes a batch of the output schema with those columns of the map that are needed; the others are
 * NULL.  It has row ids if all batches have the same origin. */
DTX_MUSTUSE enum dtx_code dtx_pick_batch(const struct dtx_opctx *ox, const struct dtx_colmap *map,
                                         const struct dtx_pick *pick, struct dtx_batch **out,
                                         struct dtx_err *err);
/* Copies the columns of the map into an existing batch of pick->n rows (joins fill a batch from two
 * sides). */
DTX_MUSTUSE enum dtx_code dtx_pick_into(const struct dtx_opctx *ox, const struct dtx_colmap *map,
                                        const struct dtx_pick *pick, struct dtx_batch *b,
                                        struct dtx_err *err);
/* Sets the row ids of b to those of the picked rows, DTX_NO_ROW for rows that were made.  Does
 * nothing if the batches have several origins. */
DTX_MUSTUSE enum dtx_code dtx_pick_ids(const struct dtx_pick *p, struct dtx_batch *b,
                                       struct dtx_err *err);
/* A cursor over the rows whose numbers are in rows[0..n), in that order, as batches of at most
 * run->batch_rows.  Numbers count all live rows of the table from 0.  `at` is how many rows were
 * returned. */
struct dtx_rowcursor {
	const struct dtx_opctx *ox;
	const struct dtx_colmap *map;
	struct dtx_table *table;
	const int64_t *rows; /* NULL: all rows from `first` on */
	int64_t n, at, first;
	int64_t *start;                  /* number of the first row of each batch */
	const struct dtx_origin *origin; /* common to all batches; NULL: there are several */
	uint32_t *which, *row, most, hint;
	uint64_t seq;
};
#define DTX_ROWCURSOR_INIT                                                                         \
	{                                                                                          \
		.ox = NULL                                                                         \
	}
DTX_MUSTUSE enum dtx_code dtx_rowcursor_open(struct dtx_rowcursor *c, const struct dtx_opctx *ox,
                                             struct dtx_table *t, const struct dtx_colmap *map,
                                             const int64_t *rows, int64_t n, struct dtx_err *err);
/* The next batch, which the caller frees.  NULL at the end. */
DTX_MUSTUSE enum dtx_code dtx_rowcursor_next(struct dtx_rowcursor *c, struct dtx_batch **out,
                                             struct dtx_err *err);
void dtx_rowcursor_close(struct dtx_rowcursor *c);
/* What an op adds to each batch before it is emitted.  `at` is the number of its first row among
 * those of the cursor. */
struct dtx_rowfill {
	enum dtx_code (*fill)(void *ctx, struct dtx_batch *b, int64_t at, struct dtx_err *err);
	void *ctx;
	uint32_t most; /* rows per batch, if fewer than dtx_op_batch_rows; 0: no limit of its own */
};
/* Emits the rows of a cursor, with `fill` applied to each batch (NULL: nothing), as long as they
 * are wanted. */
DTX_MUSTUSE enum dtx_code dtx_table_fill(const struct dtx_opctx *ox, struct dtx_table *t,
                                         const struct dtx_colmap *map, const int64_t *rows,
                                         int64_t n, const struct dtx_rowfill *fill,
                                         struct dtx_emit *out, struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_table_emit(const struct dtx_opctx *ox, struct dtx_table *t,
                                         const struct dtx_colmap *map, const int64_t *rows,
                                         int64_t n, struct dtx_emit *out, struct dtx_err *err);
/* Makes all batches of a table dense. */
DTX_MUSTUSE enum dtx_code dtx_table_dense(struct dtx_table *t, struct dtx_err *err);
/* The most rows that a batch made by an op may have. */
uint32_t dtx_op_batch_rows(const struct dtx_opctx *ox);
/* The number of threads that may share the work of a step, at least 1. */
unsigned dtx_op_workers(const struct dtx_opctx *ox);

/* The text of a cell of any form; *null is set if it is null.  A view is valid until scratch is
 * reset. */
DTX_MUSTUSE struct dtx_str dtx_cell_text(const struct dtx_column *c, uint32_t row,
                                         struct dtx_buf *scratch, bool *null);
/* Reports type_mismatch at pointer sub if the column does not hold numbers. */
DTX_MUSTUSE enum dtx_code dtx_bind_number(struct dtx_bind *b, int32_t col, const char *sub,
                                          struct dtx_err *err);
/* Reports at pointer sub that a value, named by `what`, does not fit the column. */
DTX_MUSTUSE enum dtx_code dtx_bind_misfit(struct dtx_bind *b, const char *what,
                                          const struct dtx_field *f, const char *sub,
                                          struct dtx_err *err);

#endif
