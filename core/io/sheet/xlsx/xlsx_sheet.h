/* A cell as it is in the file, and the state while a sheet is read. Private to the reader of
 * sheets. */
#ifndef DTX_IO_SHEET_XLSX_XLSX_SHEET_H
#define DTX_IO_SHEET_XLSX_XLSX_SHEET_H

#include "core/io/sheet/xlsx/xlsx.h"

/* How the text of a cell is interpreted: attribute t. */
enum dtx_xlsx_type {
	DTX_XLSX_T_NUMBER,
	DTX_XLSX_T_SHARED,
	DTX_XLSX_T_STR,
	DTX_XLSX_T_INLINE,
	DTX_XLSX_T_BOOL,
	DTX_XLSX_T_ERROR,
	DTX_XLSX_T_DATE
};
struct dtx_xlsx_cell {
	uint32_t row, col;
	uint16_t style;
	enum dtx_xlsx_type type;
	bool formula;         /* there was an <f> */
	bool has_value;       /* there was a <v> or <is> */
	struct dtx_str value; /* its text, decoded */
	struct dtx_str code;  /* text of the formula, if it is in this cell */
};
/* The end of references in a row: "12\"", up to eight bytes. */
struct dtx_xlsx_row_end {
	uint64_t bytes, mask;
	unsigned len;
	uint32_t row;
};
struct dtx_xlsx_walk {
	struct dtx_xlsx *book;
	struct dtx_xml *x;
	struct dtx_grid *grid;
	struct dtx_sheet_facts *facts;
	struct dtx_buf text, code;   /* for one cell */
	uint32_t next_row, next_col; /* for rows and cells without a reference */
	uint32_t row;                /* the open row */
	struct dtx_xlsx_row_end end; /* for the last open row; len 0: none */
	uint32_t ncells, nrows;      /* <c> in the open row; <row> so far */
	bool hidden;
	uint64_t max_cells;    /* stop after so many cells */
	uint64_t window_cells; /* stop before the next row after so many cells */
	size_t window_rows;    /* or rows */
	bool full;             /* stopped before a row */
};
/* Whether the next row belongs to the next window. */
static inline bool dtx_xlsx_window_full(const struct dtx_xlsx_walk *w)
{
	return w->grid->ncells >= w->window_cells || w->grid->nrows >= w->window_rows;
}

/* Whether the file lacks this shared text; only known after all of them are read. */
static inline bool dtx_xlsx_text_missing(const struct dtx_xlsx_walk *w, uint64_t id)
{
	return id >= w->book->head.strings.n && !w->book->strings.stream;
}

/* The type for attribute t; returns false for an unknown one. */
DTX_MUSTUSE bool dtx_xlsx_type_find(struct dtx_str t, enum dtx_xlsx_type *out);
/* Stores the cell in the grid. */
DTX_MUSTUSE enum dtx_code dtx_xlsx_cell_put(struct dtx_xlsx_walk *w, const struct dtx_xlsx_cell *c,
                                            struct dtx_err *err);
/* Opens row number `row` (from 0). */
DTX_MUSTUSE enum dtx_code dtx_xlsx_row_open(struct dtx_xlsx_walk *w, uint32_t row, bool hidden,
                                            struct dtx_err *err);
/* Parses cells of the most common forms in the open row, from *at on, which moves past them. */
DTX_MUSTUSE enum dtx_code dtx_xlsx_usual(struct dtx_xlsx_walk *w, const char **at,
                                         struct dtx_err *err);
/* Parses rows and cells of the usual grammar directly in the window, as far as possible. The
 * rest is left to the tokenizer; both give the same cells. */
DTX_MUSTUSE enum dtx_code dtx_xlsx_fast(struct dtx_xlsx_walk *w, struct dtx_err *err);

#endif
