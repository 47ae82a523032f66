/* What operations share: moving columns, remembering batches, emitting rows picked from them. */
#ifndef DTX_OPS_KIT_OPKIT_H
#define DTX_OPS_KIT_OPKIT_H

#include "core/base/cancel.h"
#include "core/base/mem.h"
#include "core/io/reader.h"
#include "core/plan/bind/bind.h"
#include "core/plan/explain/pytext.h"

#define DTX_NOWHERE UINT32_MAX /* `which` of a cell that is null */

/* Per output column the input column it is, -1: made by the op. */
struct dtx_colmap {
	uint32_t n;
	const int32_t *from;
};
/* The map of what has been bound so far, for cells of input table t; in the bind's arena. */
DTX_MUSTUSE enum dtx_code dtx_colmap_bind(struct dtx_bind *b, unsigned t, struct dtx_colmap *map,
                                          struct dtx_err *err);
/* Gives b the output schema: columns are moved by the map, the others are NULL. */
DTX_MUSTUSE enum dtx_code dtx_colmap_apply(const struct dtx_opctx *ox, const struct dtx_colmap *map,
                                           struct dtx_batch *b, struct dtx_err *err);
/* Place of column c among col[0..n) (a selector's), -1: it is not there. */
static inline int32_t dtx_cols_find(const int32_t *col, uint32_t n, int32_t c)
{
	for (uint32_t i = 0; i < n; i++)
		if (col[i] == c)
			return (int32_t)i;
	return -1;
}
/* Whether a column that is wanted moves by it. */
bool dtx_colmap_moves(const struct dtx_opctx *ox, const struct dtx_colmap *map);
/* Map of an op that only moves columns; its state is a struct dtx_colmap. */
extern const struct dtx_map dtx_colmap_move;
/* Puts a column at i.  Takes `c`; an earlier one is unref'ed. */
void dtx_batch_put(struct dtx_batch *b, uint32_t i, struct dtx_column *c);
/* Value of column i as FLAT: the caller owns a reference. */
DTX_MUSTUSE enum dtx_code dtx_batch_flat(struct dtx_batch *b, uint32_t i, struct dtx_column **out,
                                         struct dtx_err *err);
/* Whether anybody wants output column i. */
static inline bool dtx_op_wants(const struct dtx_opctx *ox, uint32_t i)
{
	return !ox->need || ox->need[i] != DTX_NEED_SKIP;
}
/* Adds the names of expr's findings and evaluates a bound tree (dtx_op_evals included). */
DTX_MUSTUSE enum dtx_code dtx_op_eval(const struct dtx_opctx *ox, const struct dtx_bound *e,
                                      struct dtx_batch *b, struct dtx_column **out,
                                      struct dtx_err *err);
/* sel of live row k. */
static inline uint32_t dtx_batch_row(const struct dtx_batch *b, uint32_t k)
{
	return b->sel ? b->sel[k] : k;
}

/* Counting sort: how many there are of each, count[0, n), becomes where those begin, behind `from`
 * others.  Who then puts each item at count[...]++ leaves where they end. */
static inline void dtx_counts_to_starts(uint32_t *count, uint32_t n, uint32_t from)
{
	for (uint32_t k = 0; k < n; k++) {
		uint32_t items = count[k];

		count[k] = from;
		from += items;
	}
}
/* And back: those of k begin where those before it end, the first at `from`. n > 0. */
static inline void dtx_ends_to_starts(uint32_t *end, uint32_t n, uint32_t from)
{
	memmove(end + 1, end, (n - 1) * sizeof(*end));
	end[0] = from;
}

/* Batches that outlive the call they came in. */
struct dtx_kept {
	struct dtx_batch **batch;
	size_t n, cap;
};
/* Keeps new references to b's columns, dense. */
DTX_MUSTUSE enum dtx_code dtx_kept_add(struct dtx_kept *k, const struct dtx_batch *b,
                                       struct dtx_err *err);
void dtx_kept_clear(struct dtx_kept *k);
/* By position (seq, sub). */
void dtx_kept_sort(struct dtx_kept *k);
/* The same order for qsort, of items that begin with a pointer to a batch. */
int dtx_batch_cmp(const void *a, const void *b);

/* Rows picked from batches: row[i] of batch[which[i]]. */
struct dtx_packed;
struct dtx_pick {
	struct dtx_batch *const *batch;
	uint32_t nbatches;
	const uint32_t *which, *row; /* which: DTX_NOWHERE gives a row of nulls */
	uint32_t n;
	struct dtx_owner
		*held; /* keeps all of batch (dtx_cells_hold); NULL: rows keep what they use */
	/* The batches row by row (ops/sort/packed), of which batch[i] is number packed_at[i]; NULL.
	 */
	const struct dtx_packed *packed;
	const uint32_t *packed_at;
};
/* Rows picked at random are made in batches so small that their cells stay in cache, and their
 * pages in the TLB, until they are written. */
#define DTX_PICK_ROWS 1024u
/* A batch of the output schema with the columns of the map that somebody wants; others NULL.
 * Row ids come along when all batches are of one origin. */
DTX_MUSTUSE enum dtx_code dtx_pick_batch(const struct dtx_opctx *ox, const struct dtx_colmap *map,
                                         const struct dtx_pick *pick, struct dtx_batch **out,
                                         struct dtx_err *err);
/* The columns of the map into an existing batch of pick->n rows (joins fill from two sides). */
DTX_MUSTUSE enum dtx_code dtx_pick_into(const struct dtx_opctx *ox, const struct dtx_colmap *map,
                                        const struct dtx_pick *pick, struct dtx_batch *b,
                                        struct dtx_err *err);
/* Row ids of the picked rows for b, DTX_NO_ROW of those that are made; nothing when the batches are
 * of several origins. */
DTX_MUSTUSE enum dtx_code dtx_pick_ids(const struct dtx_pick *p, struct dtx_batch *b,
                                       struct dtx_err *err);
/* Rows whose number (over all live rows of the table, from 0) is listed in rows[0..n), in that
 * order, as batches of at most run->batch_rows: cur.at is how many have been given. */
struct dtx_rowcursor {
	const struct dtx_opctx *ox;
	const struct dtx_colmap *map;
	struct dtx_table *table;
	const int64_t *rows; /* NULL: all rows from `first` on */
	int64_t n, at, first;
	int64_t *start;                  /* number of each batch's first row */
	const struct dtx_origin *origin; /* of all batches; NULL: several */
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
/* The next batch, the caller's to free; NULL at the end. */
DTX_MUSTUSE enum dtx_code dtx_rowcursor_next(struct dtx_rowcursor *c, struct dtx_batch **out,
                                             struct dtx_err *err);
void dtx_rowcursor_close(struct dtx_rowcursor *c);
/* What an op puts into each batch of rows before it leaves; `at` is the number of its first row
 * among those asked for. */
struct dtx_rowfill {
	enum dtx_code (*fill)(void *ctx, struct dtx_batch *b, int64_t at, struct dtx_err *err);
	void *ctx;
	uint32_t most; /* rows of a batch, where fewer than dtx_op_batch_rows; 0: as many */
};
/* The rows of a cursor, filled and emitted while they are wanted; NULL fills nothing. */
DTX_MUSTUSE enum dtx_code dtx_table_fill(const struct dtx_opctx *ox, struct dtx_table *t,
                                         const struct dtx_colmap *map, const int64_t *rows,
                                         int64_t n, const struct dtx_rowfill *fill,
                                         struct dtx_emit *out, struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_table_emit(const struct dtx_opctx *ox, struct dtx_table *t,
                                         const struct dtx_colmap *map, const int64_t *rows,
                                         int64_t n, struct dtx_emit *out, struct dtx_err *err);
/* Makes all batches of a table dense. */
DTX_MUSTUSE enum dtx_code dtx_table_dense(struct dtx_table *t, struct dtx_err *err);
/* Rows a made batch may have. */
uint32_t dtx_op_batch_rows(const struct dtx_opctx *ox);
/* Threads that may share a step's work, at least 1. */
unsigned dtx_op_workers(const struct dtx_opctx *ox);

/* Text of a cell of any form, null: *null is set.  Views live as long as scratch is not reset. */
DTX_MUSTUSE struct dtx_str dtx_cell_text(const struct dtx_column *c, uint32_t row,
                                         struct dtx_buf *scratch, bool *null);

#endif
