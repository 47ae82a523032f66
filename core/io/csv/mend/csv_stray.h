/* Quotes that pair up by accident: one that was never meant to enclose anything opens a cell, and
 * another one, lines below, closes it.  All rows between would be lost in that cell. */
#ifndef DTX_IO_CSV_MEND_CSV_STRAY_H
#define DTX_IO_CSV_MEND_CSV_STRAY_H

#include "core/base/text/str.h"
#include "core/io/csv/detect/dialect.h"

enum dtx_csv_stray {
	DTX_CSV_STRAY_NOT,
	DTX_CSV_STRAY_MAYBE, /* each line is as wide as a row: a text can have that as well */
	DTX_CSV_STRAY_SURE   /* ... and a column holds values in each of them, as in the others */
};

/* What the quotes of a record are that has line ends in its cells; `width`: of the table; `header`:
 * its first line has names. */
enum dtx_csv_stray dtx_csv_stray(const struct dtx_dialect *d, struct dtx_str record, uint32_t width,
                                 bool header);

static inline bool dtx_csv_has_lines(struct dtx_str record)
{
	return record.len &&
	       (memchr(record.ptr, '\n', record.len) || memchr(record.ptr, '\r', record.len));
}

#endif
