/* A second opinion on .xls: literal cells as libfreexl reads them.  It knows no results of formulas
 * and takes bools and errors for numbers. */
#ifndef DTX_IO_SHEET_XLS_READ_FREEXL_H
#define DTX_IO_SHEET_XLS_READ_FREEXL_H

#include "core/io/sheet/book.h"

struct dtx_freexl_cell {
	unsigned sheet;   /* worksheets only, from 0 */
	const char *name; /* of the sheet */
	uint32_t row, col;
	bool is_number;
	double number;
	const char *text; /* texts, and dates as it prints them; NULL for numbers */
	bool is_date;
};
typedef enum dtx_code (*dtx_freexl_fn)(void *arg, const struct dtx_freexl_cell *cell,
                                       struct dtx_err *err);
/* Calls fn for every cell that is not empty; the library opens `path`.  corrupt_file with its
 * number when it gives up; jail_unavailable: no path. */
DTX_MUSTUSE enum dtx_code dtx_freexl_file(const char *label, const char *path, dtx_freexl_fn fn,
                                          void *arg, struct dtx_err *err);
/* The same for bytes, by a file made in memory. */
DTX_MUSTUSE enum dtx_code dtx_freexl_cells(const char *label, const void *bytes, size_t len,
                                           dtx_freexl_fn fn, void *arg, struct dtx_err *err);
/* Loads the library and its conversions for good, before files are out of reach. */
DTX_MUSTUSE enum dtx_code dtx_freexl_warm(struct dtx_err *err);

/* Our literal cells: not results of formulas, bools, errors, blanks. */
bool dtx_freexl_knows(uint8_t tag);
/* Whether it reads the cell `at` of the grid as we do. */
bool dtx_freexl_agrees(struct dtx_book *book, const struct dtx_grid *g, uint64_t at,
                       const struct dtx_freexl_cell *c);

#endif
