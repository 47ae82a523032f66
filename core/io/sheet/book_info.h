/* What `inspect` and provenance ask of a workbook, besides reading a table. */
#ifndef DTX_IO_SHEET_BOOK_INFO_H
#define DTX_IO_SHEET_BOOK_INFO_H

#include "core/base/text/json.h"
#include "core/io/source/source.h"

struct dtx_cell_info {
	const char *sheet;
	const char *cell;   /* "B4" */
	const char *kind;   /* number text bool error date datetime time duration */
	json_t *value;      /* borrowed: number, text, bool; dates and times as ISO text */
	bool formula;       /* the value is the stored result of a formula */
	const char *format; /* number format as written in the file */
	const char *merged; /* the merged range that begins at this cell; NULL: none */
};
typedef enum dtx_code (*dtx_book_cell_fn)(void *arg, const struct dtx_cell_info *cell,
                                          struct dtx_err *err);
/* Calls fn for each non-empty cell of all worksheets: by sheet, row, column. `sheet` is a name
 * or number; NULL: all. */
DTX_MUSTUSE enum dtx_code dtx_book_cells(struct dtx_source *src, const char *sheet,
                                         dtx_book_cell_fn fn, void *arg, struct dtx_err *err);
/* Describes all sheets: [{"name","kind","visible","dimension","cells","rows","merges","tables"},
 * ...]. A sheet that cannot be read has "error" instead of counts. A new reference. */
DTX_MUSTUSE enum dtx_code dtx_book_sheets(struct dtx_source *src, json_t **out,
                                          struct dtx_err *err);
/* The run id that dtx stored in a workbook; "" if none, or it is not a workbook. */
DTX_MUSTUSE enum dtx_code dtx_xlsx_run_id(struct dtx_source *src, char out[64],
                                          struct dtx_err *err);

#endif
