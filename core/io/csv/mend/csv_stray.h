/* Detects stray quotes that form a pair by accident: a quote that should not enclose anything opens
 * a cell, and another one some lines below closes it. All rows between them would be lost in that
 * cell. */
#ifndef DTX_IO_CSV_MEND_CSV_STRAY_H
#define DTX_IO_CSV_MEND_CSV_STRAY_H

#include "core/base/text/str.h"
#include "core/io/csv/detect/dialect.h"

enum dtx_csv_stray {
	DTX_CSV_STRAY_NOT,
	DTX_CSV_STRAY_MAYBE, /* each line is as wide as a row, but a text may be like that too */
	DTX_CSV_STRAY_SURE   /* and a column has values in each of the lines, as in other rows */
};

/* Judges the quotes of a record with line ends in its cells. `width` is that of the table;
 * `header`: the first line has names. */
enum dtx_csv_stray dtx_csv_stray(const struct dtx_dialect *d, struct dtx_str record, uint32_t width,
                                 bool header);

static inline bool dtx_csv_has_lines(struct dtx_str record)
{
	return record.len &&
	       (memchr(record.ptr, '\n', record.len) || memchr(record.ptr, '\r', record.len));
}

#endif
