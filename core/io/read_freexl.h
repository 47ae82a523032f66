/* A second opinion on .xls: literal cells as libfreexl reads them.  For comparisons only: it knows
 * no results of formulas and takes bools and errors for numbers. */
#ifndef DTX_IO_READ_FREEXL_H
#define DTX_IO_READ_FREEXL_H

#include "core/base/err.h"

struct dtx_freexl_cell {
	unsigned sheet;   /* worksheets only, from 0 */
	const char *name; /* of the sheet */
	uint32_t row, col;
	bool is_number;
	double number;
	const char *text; /* texts, and dates as it prints them; NULL for numbers */
	bool is_date;
};
/* Calls fn for every cell that is not empty.  The library reads a file of its own, made in memory.
 * corrupt_file with its number when it gives up. */
DTX_MUSTUSE enum dtx_code dtx_freexl_cells(const char *label, const void *bytes, size_t len,
                                           enum dtx_code (*fn)(void *arg,
                                                               const struct dtx_freexl_cell *cell,
                                                               struct dtx_err *err),
                                           void *arg, struct dtx_err *err);

#endif
