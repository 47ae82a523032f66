/* Turns the records of a morsel into spans, which are the places of cells in the text. */
#ifndef DTX_IO_CSV_CSV_FILL_H
#define DTX_IO_CSV_CSV_FILL_H

#include "core/io/csv/csv.h"

/* The spans that are being filled, from the place of the worker on. */
struct dtx_csv_fill {
	struct dtx_csv *c;
	struct dtx_csv_worker *w;
	size_t base; /* spans are relative to this position */
	uint32_t rows, cap;
	bool again;           /* these are further columns of rows that were filled before */
	bool cut;             /* the next record is an error, so that the rows end before it */
	bool odd;             /* some records cannot be counted without an index */
	uint32_t ncols;       /* number of wanted columns */
	const uint32_t *phys; /* their physical columns, in the order of span */
	struct dtx_span **span;
	uint32_t *start; /* per record its start, relative to base; NULL: not wanted */
};

/* Fills rows until the morsel ends or there are `cap` rows. Moves the worker's place and counts on.
 * Codes: those of a record that cannot be read. */
DTX_MUSTUSE enum dtx_code dtx_csv_fill_rows(struct dtx_csv_fill *f, struct dtx_err *err);
/* Fills only the rows sel[0..n) of those that were filled before, so that their starts are known.
 * `end` is where the last row ends. Spans of other rows are not changed. */
void dtx_csv_fill_some(struct dtx_csv_fill *f, const uint16_t *sel, uint32_t n, size_t end);

#endif
