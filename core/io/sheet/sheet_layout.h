/* The table in a sheet: window, header, columns and their types, live rows, ledger. */
#ifndef DTX_IO_SHEET_SHEET_LAYOUT_H
#define DTX_IO_SHEET_SHEET_LAYOUT_H

#include "core/data/cast/cell_num.h"
#include "core/io/header/header.h"
#include "core/io/reader.h"
#include "core/io/sheet/row_cache.h"
#include "core/io/sheet/book.h"

/* Which cells of which sheet are read. */
struct dtx_sheet_pick {
	const struct dtx_sheet *sheet;
	struct dtx_cellrange range; /* all cells unless `given` */
	bool given;
	int header_rows; /* of a table; otherwise -1 */
	uint32_t totals_rows;
};
/* Kinds of cells that do not fit together in a column. */
enum {
	DTX_SHEET_NUMBERS,
	DTX_SHEET_TEXTS,
	DTX_SHEET_DATES,
	DTX_SHEET_TIMES,
	DTX_SHEET_BOOLS,
	DTX_SHEET_KINDS
};
/* What is known about the cells of one column below the header. */
struct dtx_sheet_stats {
	uint64_t wide; /* numbers beyond 2^53 that a double cannot hold */
	uint64_t numbers, fractions, bools, texts, dates, clocks /* dates with a time */, times;
	uint32_t style; /* of its numbers and dates, if all have the same */
	bool styled, styles_differ;
	uint32_t first[DTX_SHEET_KINDS]; /* row of the first cell of each kind, plus one; 0: none */
	uint64_t bad;     /* errors, formulas without a value, invalid serials and texts */
	uint32_t bad_row; /* of the first */
};
/* The rows of a large sheet below those in the grid: they were read once and only counted. */
struct dtx_sheet_tail {
	uint32_t last_row, row1; /* last row of the sheet; of the range */
	uint32_t nlive;
	int64_t nhidden;                /* dropped ones */
	struct dtx_sheet_stats *stats;  /* by physical column; dtx_mem */
	bool *in, *filled;              /* columns of the range; columns with cells */
	struct dtx_sheet_cols cols;     /* of the current window */
	struct dtx_row_cache row_cache; /* the rows, unless there are too many */
};
struct dtx_sheet_layout {
	struct dtx_book *book;
	const struct dtx_sheet *sheet;
	struct dtx_sheet_pick pick;
	struct dtx_grid *grid;
	const struct dtx_sheet_facts *facts;
	const struct dtx_sheet_tail *tail; /* NULL: the grid holds the whole sheet */
	const struct dtx_read_opts *opts;
	struct dtx_arena *arena;
	struct dtx_errlist *diags;

	struct dtx_cellrange window; /* after range, skip and skip_tail */
	bool cols_given;             /* the range has columns: all of them are kept */
	uint32_t ncols;
	uint32_t *col; /* physical column of each */
	/* by physical column (DTX_SHEET_COLS entries): the column, -1 outside the window, -2
	 * inside but not wanted */
	int32_t *index;
	struct dtx_head head;
	struct dtx_field *field;
	struct dtx_sheet_stats *stats;
	uint32_t *live; /* indexes of grid rows with data, in order; dtx_mem */
	uint32_t nlive;
	uint32_t nrows;          /* rows with data, including the tail */
	uint32_t *hidden_before; /* per live row: hidden rows dropped above it; or NULL */
	uint8_t *null_text;      /* a bit per shared string, then per inline text: means null */
	size_t nmarked, null_cap;
	double *null_number;
	size_t nnull_numbers;
	int64_t dropped[DTX_DROP_COUNT];
	int64_t rows; /* all rows of the window; = nlive + dropped */

	/* for the header finder */
	struct dtx_arena shown[2];
	unsigned turn;
};

/* Chooses sheet and range by the options `sheet`, `range` and `table`, including defined names.
 * Errors: sheet_not_found, and others for a range or table that does not exist. */
DTX_MUSTUSE enum dtx_code dtx_sheet_choose(struct dtx_book *book, const struct dtx_read_opts *opts,
                                           struct dtx_arena *arena, struct dtx_errlist *diags,
                                           struct dtx_sheet_pick *out, struct dtx_err *err);
/* Finds the layout of a grid that has been read. The caller sets the borrowed members before,
 * and clears it. */
DTX_MUSTUSE enum dtx_code dtx_sheet_layout_make(struct dtx_sheet_layout *l, struct dtx_err *err);
void dtx_sheet_layout_clear(struct dtx_sheet_layout *l);
/* Sets the field types from the statistics; adds warnings mixed_types. */
DTX_MUSTUSE enum dtx_code dtx_sheet_types(struct dtx_sheet_layout *l, struct dtx_err *err);
/* Fails with multiple_tables if other blocks of the sheet have their own headers. */
DTX_MUSTUSE enum dtx_code dtx_sheet_tables(struct dtx_sheet_layout *l, struct dtx_err *err);
/* The rows as the header finder sees them, with the columns in l->col. */
struct dtx_head_grid dtx_sheet_head_grid(struct dtx_sheet_layout *l, uint64_t first,
                                         uint64_t nrows);
/* Whether row number r of a grid has cells in the columns of the window. */
bool dtx_sheet_row_filled(const struct dtx_sheet_layout *l, const struct dtx_grid *g, size_t r);
bool dtx_sheet_col_hidden(const struct dtx_sheet_layout *l, uint32_t col);
/* Marks the texts that mean null, so that a cell needs only a bit test. Texts that come later
 * are marked by the next call. */
DTX_MUSTUSE enum dtx_code dtx_sheet_mark_nulls(struct dtx_sheet_layout *l, struct dtx_err *err);
/* Counts a cell in the statistics of its column; texts must be marked. */
void dtx_sheet_note_cell(const struct dtx_sheet_layout *l, const struct dtx_grid *g,
                         struct dtx_sheet_stats *s, uint32_t row, uint64_t cell);
/* The same for the first rows of a window, in the columns of the tail, whose rows it counts,
 * too; they are then in the row cache. */
void dtx_sheet_note_rows(const struct dtx_sheet_layout *l, const struct dtx_grid *g, size_t nrows,
                         struct dtx_sheet_tail *t);
/* For bad_cells: text. Errors, and serials that are not dates, become texts in the grid. */
DTX_MUSTUSE enum dtx_code dtx_sheet_bad_texts(const struct dtx_sheet_layout *l, struct dtx_grid *g,
                                              struct dtx_err *err);
/* Whether a number is one of the null values. */
bool dtx_sheet_number_null(const struct dtx_sheet_layout *l, double v);
bool dtx_sheet_whole_null(const struct dtx_sheet_layout *l, int64_t v);
/* Whether a cell reads as null: blank, bad, or one of the null values. */
static inline bool dtx_sheet_cell_null(const struct dtx_sheet_layout *l, uint8_t tag,
                                       union dtx_payload v)
{
	unsigned kind = tag & DTX_CELL_KIND;
	size_t nshared = l->book->strings.n;
	uint64_t id = v.id & ~DTX_GRID_INLINE;

	if (kind == DTX_CELL_WHOLE)
		return l->nnull_numbers && dtx_sheet_whole_null(l, v.whole);
	if (kind == DTX_CELL_NUMBER)
		return l->nnull_numbers && dtx_sheet_number_null(l, v.num);
	if (kind != DTX_CELL_TEXT)
		return kind == DTX_CELL_BLANK || kind == DTX_CELL_ERROR ||
		       kind == DTX_GRID_BAD_DATE;
	if (id != v.id)
		id += nshared;
	else if (id >= nshared)
		return true;
	return l->null_text[id / 8] >> (id % 8) & 1;
}
/* Removes the marks, for another grid. */
void dtx_sheet_unmark_nulls(struct dtx_sheet_layout *l);
/* Reads the sheet once, for a layout whose book, sheet, opts and grid are set. A large sheet in
 * order is read so that the grid gets its first rows, and `tail` the statistics of the rest,
 * which the layout then has. Otherwise the grid gets everything. */
DTX_MUSTUSE enum dtx_code dtx_sheet_scan(struct dtx_sheet_layout *l, struct dtx_sheet_facts *facts,
                                         struct dtx_sheet_tail *tail, struct dtx_err *err);
void dtx_sheet_tail_clear(struct dtx_sheet_tail *tail);
/* Adds the statistics of the tail to those of the layout. */
void dtx_sheet_tail_join(struct dtx_sheet_layout *l);
/* Adds a warning. */
DTX_MUSTUSE enum dtx_code dtx_sheet_warn(struct dtx_errlist *diags, enum dtx_code code,
                                         const struct dtx_sheet *sheet, int64_t count,
                                         struct dtx_err *err, const char *fmt, ...)
	DTX_PRINTF(6, 7);

#endif
