/* What a cell of a workbook can hold; used by the writer. */
#ifndef DTX_IO_WRITE_XLSX_CELLS_H
#define DTX_IO_WRITE_XLSX_CELLS_H

#include "core/base/buf.h"
#include "core/data/schema.h"
#include "core/data/column.h"

/* The number format of a column: that of the source if it fits the type, otherwise one for the
 * type. NULL: General. The result may be in `scratch`. */
const char *dtx_xlsx_column_format(const struct dtx_field *f, char scratch[64]);
/* Appends a text. Characters that XML cannot hold, and literal escapes, become _xHHHH_; the
 * library does that for the other control characters. */
void dtx_xlsx_escape(struct dtx_buf *out, struct dtx_str s);
/* Converts a value to a spreadsheet number; returns false if that is not possible. Counts the
 * values that lose something. */
struct dtx_xlsx_losses {
	uint64_t digits; /* numbers that need 17 digits */
	uint64_t micros; /* times finer than a millisecond */
};
bool dtx_xlsx_number(const struct dtx_column *c, uint32_t row, double *out,
                     struct dtx_xlsx_losses *lost);

#endif
