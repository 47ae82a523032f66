/* Rows to CSV text. */
#ifndef DTX_IO_WRITE_CSV_FORMAT_H
#define DTX_IO_WRITE_CSV_FORMAT_H

#include "core/data/batch.h"
#include "core/data/quoting.h"

struct dtx_csv_format {
	char delim;
	bool quote_all, crlf, float_trim;
	bool reprint; /* cells of a text file are printed like other values, not copied */
	struct dtx_str null_text;
	struct dtx_quoting quoting;
};

void dtx_csv_format_init(struct dtx_csv_format *f, char delim);
/* Appends a text, with quotes if it needs them; empty text becomes "". */
void dtx_csv_format_text(const struct dtx_csv_format *f, struct dtx_str s, struct dtx_buf *out);
void dtx_csv_format_eol(const struct dtx_csv_format *f, struct dtx_buf *out);
/* Appends the live rows. Cells of a text file in the same dialect are copied with their quotes;
 * neighbouring cells and whole lines are copied together. Any thread may call it. */
DTX_MUSTUSE enum dtx_code dtx_csv_format_batch(const struct dtx_csv_format *f,
                                               const struct dtx_batch *b, struct dtx_buf *out,
                                               struct dtx_err *err);

#endif
