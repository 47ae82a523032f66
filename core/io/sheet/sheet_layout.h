/* The table of a sheet: window, header, columns and their types, live rows, ledger. */
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
	struct dtx_cellrange range; /* all cells unless given */
	bool given;
	int header_rows; /* of a table; -1 otherwise */
	uint32_t totals_rows;
};
/* Kinds of cells that do not go together in a column. */
enum {
	DTX_SHEET_NUMBERS,
	DTX_SHEET_TEXTS,
	DTX_SHEET_DATES,
	DTX_SHEET_TIMES,
	DTX_SHEET_BOOLS,
	DTX_SHEET_KINDS
};
/* What has been seen of the cells of one column, below the header. */
struct dtx_sheet_stats {
	uint64_t wide; /* numbers beyond 2^53 that a double does not hold */
	uint64_t numbers, fractions, bools, texts, dates, clocks /* dates with a time */, times;
	uint32_t style; /* of its numbers and dates, when styled alike */
	bool styled, styles_differ;
	uint32_t first[DTX_SHEET_KINDS]; /* row of the first cell of a kind, plus one; 0: none */
	uint64_t bad;     /* errors, formulas without a value, serials and texts that are none */
	uint32_t bad_row; /* of the first */
};
/* The rows of a large sheet below those that the grid holds: read once and counted. */
struct dtx_sheet_tail {
	uint32_t last_row, row1; /* of the sheet; of the range */
	uint32_t nlive;
	int64_t nhidden;               /* dropped ones */
	struct dtx_sheet_stats *stats; /* by physical column; dtx_mem */
	bool *in, *filled;             /* columns of the range; columns with cells */
	struct dtx_sheet_cols cols;    /* those of the window */
	struct dtx_sheet_tape tape;    /* the rows, unless there are too many */
};
struct dtx_sheet_layout {
	struct dtx_book *book;
	const struct dtx_sheet *sheet;
	struct dtx_sheet_pick pick;
	struct dtx_grid *grid;
	const struct dtx_sheet_facts *facts;
	const struct dtx_sheet_tail *tail; /* NULL: the grid is the whole sheet */
	const struct dtx_read_opts *opts;
	struct dtx_arena *arena;
	struct dtx_errlist *diags;

	struct dtx_cellrange window; /* after range, skip and skip_tail */
	bool cols_given;             /* the range names columns: all of them are kept */
	uint32_t ncols;
	uint32_t *col;  /* physical column of each */
	int32_t *index; /* by physical column (DTX_SHEET_COLS of them): the column,
	                 * -1 outside the window, -2 inside but not wanted */
	struct dtx_head head;
	struct dtx_field *field;
	struct dtx_sheet_stats *stats;
	uint32_t *live; /* indexes of grid rows with data, in order; dtx_mem */
	uint32_t nlive;
	uint32_t nrows;          /* rows with data, those of the tail too */
	uint32_t *hidden_before; /* per live row: hidden ones dropped above it; or NULL */
	uint8_t *null_text;      /* bit per shared string, then per inline text: a null value */
	size_t nmarked, null_cap;
	double *null_number;
	size_t nnull_numbers;
	int64_t dropped[DTX_DROP_COUNT];
	int64_t rows; /* all rows of the window; = nlive + dropped */

	/* scratch of the header finder */
	struct dtx_arena shown[2];
	unsigned turn;
};

/* Chooses by `sheet`, `range` and `table`; defined names are looked up. */
DTX_MUSTUSE enum dtx_code dtx_sheet_choose(struct dtx_book *book, const struct dtx_read_opts *opts,
                                           struct dtx_arena *arena, struct dtx_errlist *diags,
                                           struct dtx_sheet_pick *out, struct dtx_err *err);
/* Fills the layout of a grid that has been read; borrowed members are set by the caller. */
DTX_MUSTUSE enum dtx_code dtx_sheet_layout_make(struct dtx_sheet_layout *l, struct dtx_err *err);
void dtx_sheet_layout_clear(struct dtx_sheet_layout *l);
/* Field types from the stats; warnings mixed_types. */
DTX_MUSTUSE enum dtx_code dtx_sheet_types(struct dtx_sheet_layout *l, struct dtx_err *err);
/* multiple_tables, when other blocks of the sheet have headers of their own. */
DTX_MUSTUSE enum dtx_code dtx_sheet_tables(struct dtx_sheet_layout *l, struct dtx_err *err);
/* Rows as the header finder sees them: the columns of l->col. */
struct dtx_head_grid dtx_sheet_head_grid(struct dtx_sheet_layout *l, uint64_t first,
                                         uint64_t nrows);
/* Whether row number r of a grid has something in the columns of the window. */
bool dtx_sheet_row_filled(const struct dtx_sheet_layout *l, const struct dtx_grid *g, size_t r);
bool dtx_sheet_col_hidden(const struct dtx_sheet_layout *l, uint32_t col);
/* Marks the texts that stand for null, so that a cell costs a bit test; texts that come later are
 * marked by the next call. */
DTX_MUSTUSE enum dtx_code dtx_sheet_mark_nulls(struct dtx_sheet_layout *l, struct dtx_err *err);
/* Counts a cell of its column; texts are marked. */
void dtx_sheet_note_cell(const struct dtx_sheet_layout *l, const struct dtx_grid *g,
                         struct dtx_sheet_stats *s, uint32_t row, uint64_t cell);
/* The same for the cells of the first rows of a window, in the columns of the tail, which counts
 * its rows, too; they are on the tape then. */
void dtx_sheet_note_rows(const struct dtx_sheet_layout *l, const struct dtx_grid *g, size_t nrows,
                         struct dtx_sheet_tail *t);
/* bad_cells: text: errors and serials that are no dates become texts of the grid. */
DTX_MUSTUSE enum dtx_code dtx_sheet_bad_texts(const struct dtx_sheet_layout *l, struct dtx_grid *g,
                                              struct dtx_err *err);
/* Whether a number is one of the null values. */
bool dtx_sheet_number_null(const struct dtx_sheet_layout *l, double v);
bool dtx_sheet_whole_null(const struct dtx_sheet_layout *l, int64_t v);
/* A cell that reads as null: blank, bad, or one of the null values. */
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
/* Forgets the marks, for another grid. */
void dtx_sheet_unmark_nulls(struct dtx_sheet_layout *l);
/* Reads the sheet once for a layout whose book, sheet, opts and grid are set: all of it into the
 * grid, or, when it is large and in order, its first rows, and the rest as counts in `tail`, which
 * the layout then has. */
DTX_MUSTUSE enum dtx_code dtx_sheet_scan(struct dtx_sheet_layout *l, struct dtx_sheet_facts *facts,
                                         struct dtx_sheet_tail *tail, struct dtx_err *err);
void dtx_sheet_tail_clear(struct dtx_sheet_tail *tail);
/* Adds the counts of the tail to those of the layout. */
void dtx_sheet_tail_join(struct dtx_sheet_layout *l);
/* Adds a warning. */
DTX_MUSTUSE enum dtx_code dtx_sheet_warn(struct dtx_errlist *diags, enum dtx_code code,
                                         const struct dtx_sheet *sheet, int64_t count,
                                         struct dtx_err *err, const char *fmt, ...)
	DTX_PRINTF(6, 7);

#endif
