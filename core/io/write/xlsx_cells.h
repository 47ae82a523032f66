/* What a cell of a workbook can hold, for the writer. */
#ifndef DTX_IO_WRITE_XLSX_CELLS_H
#define DTX_IO_WRITE_XLSX_CELLS_H

#include "core/base/buf.h"
#include "core/data/schema.h"
#include "core/data/column.h"

/* The number format of a column: the source's, where it fits the type, else one for the type; NULL:
 * General.  `scratch` may hold it. */
const char *dtx_xlsx_column_format(const struct dtx_field *f, char scratch[64]);
/* Appends a text with characters that XML cannot hold, and literal escapes, as _xHHHH_.  (The
 * library does it for the other control characters.) */
void dtx_xlsx_escape(struct dtx_buf *out, struct dtx_str s);
/* The value as a spreadsheet number, false: it cannot be one.  Counts those that lose something. */
struct dtx_xlsx_losses {
	uint64_t digits; /* numbers that need 17 */
	uint64_t micros; /* times that are finer than a millisecond */
};
bool dtx_xlsx_number(const struct dtx_column *c, uint32_t row, double *out,
                     struct dtx_xlsx_losses *lost);

#endif
