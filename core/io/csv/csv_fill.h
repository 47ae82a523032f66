/* Records of a morsel to spans. */
#ifndef DTX_IO_CSV_CSV_FILL_H
#define DTX_IO_CSV_CSV_FILL_H

#include "core/io/csv/csv.h"

/* Spans that are being filled, from the worker's place on. */
struct dtx_csv_fill {
	struct dtx_csv *c;
	struct dtx_csv_worker *w;
	size_t base; /* spans are relative to it */
	uint32_t rows, cap;
	bool again;           /* other columns of rows that were filled before */
	bool cut;             /* the next record is an error: rows end before it */
	bool odd;             /* there are records that cannot be counted without an index */
	uint32_t ncols;       /* columns wanted */
	const uint32_t *phys; /* their physical columns, in the order of span */
	struct dtx_span **span;
	uint32_t *start; /* of each record, relative to base; NULL: not wanted */
};

/* Until the morsel ends or `cap` rows are there; the worker's place and tally move on. */
DTX_MUSTUSE enum dtx_code dtx_csv_fill_rows(struct dtx_csv_fill *f, struct dtx_err *err);
/* Only the rows sel[0..n) of those filled before, whose starts are known; `end` is where the last
 * row ends.  Spans of other rows stay as they are. */
void dtx_csv_fill_some(struct dtx_csv_fill *f, const uint16_t *sel, uint32_t n, size_t end);

#endif
