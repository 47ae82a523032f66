/* A1 references and ranges in a sheet. Rows and columns count from 0. */
#ifndef DTX_IO_SHEET_CELLREF_H
#define DTX_IO_SHEET_CELLREF_H

#include "core/base/base.h"
#include "core/base/memory/buf.h"
#include "core/base/text/str.h"

#define DTX_SHEET_ROWS 1048576u
#define DTX_SHEET_COLS 16384u

struct dtx_cellrange {
	uint32_t row0, row1, col0, col1; /* inclusive */
	bool rows_open, cols_open;       /* the range has no row numbers / no column letters */
};

#define DTX_CELLRANGE_ALL                                                                          \
	(struct dtx_cellrange)                                                                     \
	{                                                                                          \
		0, DTX_SHEET_ROWS - 1, 0, DTX_SHEET_COLS - 1, true, true                           \
	}

/* Appends the name of a sheet as it is written in addresses: 'Q 1', or without quotes if it
 * consists of letters, digits, dots and underscores. */
void dtx_sheet_name_print(const char *sheet, struct dtx_buf *out);
/* Writes "C17" and a NUL to `out`; returns the length. */
size_t dtx_cell_name(char out[24], uint64_t row, uint32_t col);
/* Writes "A1:B2", or "A1" for a single cell. */
size_t dtx_cell_range_name(char out[48], const struct dtx_cellrange *r);
/* Parses "C17" or "$C$17" in either case, up to XFD1048576. */
DTX_MUSTUSE bool dtx_cell_parse(struct dtx_str s, uint32_t *row, uint32_t *col);
/* Parses "A4:O200", "4:200", "B4:H", "B:H" or "C17". `$` is ignored, and the ends may be
 * swapped. Open sides extend to the end of the sheet. */
DTX_MUSTUSE bool dtx_cell_range_parse(struct dtx_str s, struct dtx_cellrange *out);

#endif
