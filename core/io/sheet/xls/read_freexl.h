/* A second reader for .xls: literal cells as libfreexl reads them. It does not know results of
 * formulas, and takes bools and errors for numbers. */
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
/* Calls fn for each non-empty cell; the library opens `path`. Errors: corrupt_file with the
 * number of the library's error; jail_unavailable if path is NULL. */
DTX_MUSTUSE enum dtx_code dtx_freexl_file(const char *label, const char *path, dtx_freexl_fn fn,
                                          void *arg, struct dtx_err *err);
/* The same for bytes, through a memory file. */
DTX_MUSTUSE enum dtx_code dtx_freexl_cells(const char *label, const void *bytes, size_t len,
                                           dtx_freexl_fn fn, void *arg, struct dtx_err *err);
/* Loads the library and its converters permanently, before files become inaccessible. */
DTX_MUSTUSE enum dtx_code dtx_freexl_warm(struct dtx_err *err);

/* Whether the library can know this cell: not a formula's result, bool, error or blank. */
bool dtx_freexl_knows(uint8_t tag);
/* Whether the library reads cell `at` of the grid as we do. */
bool dtx_freexl_agrees(struct dtx_book *book, const struct dtx_grid *g, uint64_t at,
                       const struct dtx_freexl_cell *c);

#endif
