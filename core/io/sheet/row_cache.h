/* Keeps the rows of a sheet in few bytes for a second reading: blocks of rows, stored by column,
 * with one to nine bytes per cell and without styles. */
#ifndef DTX_IO_SHEET_ROW_CACHE_H
#define DTX_IO_SHEET_ROW_CACHE_H

#include "core/base/memory/buf.h"
#include "core/io/sheet/grid.h"

/* --- rows on their way to the cache --- */

/* The cells of some rows by column: in arrays of `stride` elements for each column that occurs,
 * where a missing cell has tag 0. For rows with the same columns: where they are in the grid. */
struct dtx_sheet_cols {
	uint32_t stride, n; /* rows there is room for, and rows that are there */
	uint32_t nhidden;   /* number of hidden ones among them */
	uint32_t ncols;
	uint16_t *slot; /* by physical column: its index plus 1; 0: none */
	uint16_t *col;  /* by index: the physical column */
	uint32_t *row;  /* row numbers, with DTX_ROW_CACHE_HIDDEN */
	uint8_t *tag;
	union dtx_payload *value;
	uint16_t *style;
	uint32_t *small; /* scratch for one column */
	/* NULL: in the arrays; otherwise the cells begin at `first` */
	const struct dtx_grid_chunk *chunk;
	size_t first;
};
#define DTX_ROW_CACHE_HIDDEN ((uint32_t)1 << 31)

DTX_MUSTUSE enum dtx_code dtx_sheet_cols_init(struct dtx_sheet_cols *c, struct dtx_err *err);
void dtx_sheet_cols_clear(struct dtx_sheet_cols *c);
/* Takes rows of a grid from number r on, at least one, at most up to `end`: their cells in the
 * columns `in`. Rows of blanks are left out. Returns the number of the next row. */
size_t dtx_sheet_cols_take(struct dtx_sheet_cols *c, const struct dtx_grid *g, size_t r, size_t end,
                           const bool *in);

/* One column of these rows. */
struct dtx_sheet_col {
	uint32_t col, n;
	bool alike;  /* all cells have the same tag */
	size_t step; /* distance from one cell to the next */
	const uint8_t *tag;
	const union dtx_payload *value;
	const uint16_t *style; /* NULL: all 0 */
	const uint32_t *small; /* the values if they are small: size below 3 */
	unsigned size;         /* logarithm of the bytes that the largest value needs */
};
/* The column with that index; valid until the next call. */
struct dtx_sheet_col dtx_sheet_cols_get(const struct dtx_sheet_cols *c, uint32_t place);

/* --- the cache --- */

struct dtx_row_cache {
	struct dtx_buf bytes;
	bool full; /* there was not enough room, so it is empty */
};
void dtx_row_cache_init(struct dtx_row_cache *t, size_t max);
void dtx_row_cache_clear(struct dtx_row_cache *t);
/* Stores the rows of c as a block: open it, add each column, close it. If there is not enough
 * room, nothing is stored any more. */
void dtx_row_cache_open(struct dtx_row_cache *t, const struct dtx_sheet_cols *c, size_t *block);
void dtx_row_cache_col(struct dtx_row_cache *t, const struct dtx_sheet_col *c);
void dtx_row_cache_close(struct dtx_row_cache *t, size_t block);

/* A position in the cache. */
struct dtx_row_cache_at {
	size_t block; /* byte offset; the end is the length of the cache */
	uint32_t row; /* within the block */
};
/* Adds up to `rows` rows from that position, all of one block, to the grid, without their cells,
 * and moves on. `first` of a row becomes its index in the block. */
DTX_MUSTUSE enum dtx_code dtx_row_cache_rows(const struct dtx_row_cache *t,
                                             struct dtx_row_cache_at *at, struct dtx_grid *g,
                                             size_t rows, struct dtx_err *err);

/* A column of a block. */
struct dtx_row_cache_col {
	uint32_t col, rows;
	uint8_t tag;         /* of all cells, unless there are `tags` */
	const uint8_t *tags; /* NULL: all have the same tag */
	unsigned size;       /* logarithm of the bytes of a value; 3: stored unchanged */
	const char *values;
};
/* Gets the first column of a block, or the one after *c, which must be zeroed before the first
 * call. Returns false at the end. */
DTX_MUSTUSE bool dtx_row_cache_next(const struct dtx_row_cache *t, size_t block,
                                    struct dtx_row_cache_col *c);

static inline uint8_t dtx_row_cache_tag(const struct dtx_row_cache_col *c, uint32_t row)
{
	return c->tags ? c->tags[row] : c->tag;
}

static inline bool dtx_row_cache_is_number(unsigned tag)
{
	unsigned kind = tag & DTX_CELL_KIND;

	return kind == DTX_CELL_NUMBER || (kind >= DTX_CELL_DATE && kind <= DTX_GRID_BAD_DATE);
}

static inline uint32_t dtx_row_cache_small(const struct dtx_row_cache_col *c, uint32_t row)
{
	uint32_t four;
	uint16_t two;

	if (c->size == 0)
		return (unsigned char)c->values[row];
	if (c->size == 1) {
		memcpy(&two, c->values + 2 * (size_t)row, sizeof(two));
		return two;
	}
	memcpy(&four, c->values + 4 * (size_t)row, sizeof(four));
	return four;
}

/* Small numbers are stored directly; an id has its inline bit as the lowest bit. */
static inline union dtx_payload dtx_row_cache_value(const struct dtx_row_cache_col *c, uint32_t row)
{
	union dtx_payload v;
	uint32_t small;

	if (c->size == 3) {
		memcpy(&v, c->values + 8 * (size_t)row, sizeof(v));
		return v;
	}
	small = dtx_row_cache_small(c, row);
	if (dtx_row_cache_is_number(dtx_row_cache_tag(c, row)))
		return (union dtx_payload){ .num = (int32_t)small };
	return (union dtx_payload){ .id = (uint64_t)(small >> 1) | (uint64_t)small << 63 };
}

#endif
