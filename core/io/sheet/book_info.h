/* Workbooks besides reading a table: what `inspect` and provenance ask. */
#ifndef DTX_IO_SHEET_BOOK_INFO_H
#define DTX_IO_SHEET_BOOK_INFO_H

#include "core/base/text/json.h"
#include "core/io/source/source.h"

/* Whether the reader of that name reads workbooks. */
bool dtx_book_is(const char *reader);

struct dtx_cell_info {
	const char *sheet;
	const char *cell;   /* "B4" */
	const char *kind;   /* number text bool error date datetime time duration */
	json_t *value;      /* borrowed: number, text, bool; dates and times as ISO text */
	bool formula;       /* the value is the cached result of a formula */
	const char *format; /* number format as written in the file */
	const char *merged; /* range that this cell anchors; NULL */
};
typedef enum dtx_code (*dtx_book_cell_fn)(void *arg, const struct dtx_cell_info *cell,
                                          struct dtx_err *err);
/* Calls fn for every non-empty cell of all worksheets, sheets in order, rows, then columns. `sheet`
 * (name or number) NULL: all. */
DTX_MUSTUSE enum dtx_code dtx_book_cells(struct dtx_source *src, const char *sheet,
                                         dtx_book_cell_fn fn, void *arg, struct dtx_err *err);
/* [{"name","kind","visible","dimension","cells","rows","merges","tables"}, ...]; a sheet that does
 * not read has "error" instead of counts.  New reference. */
DTX_MUSTUSE enum dtx_code dtx_book_sheets(struct dtx_source *src, json_t **out,
                                          struct dtx_err *err);
/* The run id that dtx stamped into a workbook, "" when there is none or it is no workbook. */
DTX_MUSTUSE enum dtx_code dtx_xlsx_run_id(struct dtx_source *src, char out[64],
                                          struct dtx_err *err);

#endif
