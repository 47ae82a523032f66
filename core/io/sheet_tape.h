/* Rows of a sheet in few bytes, to be read again: two to nine bytes a cell, styles left out. */
#ifndef DTX_IO_SHEET_TAPE_H
#define DTX_IO_SHEET_TAPE_H

#include "core/base/buf.h"
#include "core/io/grid.h"

struct dtx_sheet_tape {
	struct dtx_buf bytes;
	bool full; /* it did not hold all that was put: it is empty */
};

void dtx_sheet_tape_init(struct dtx_sheet_tape *t, size_t max);
void dtx_sheet_tape_clear(struct dtx_sheet_tape *t);
/* Adds row number r of a grid, the columns with in[c]; gives up when there is no room. */
void dtx_sheet_tape_put(struct dtx_sheet_tape *t, const struct dtx_grid *g, size_t r,
                        const bool *in);
/* Adds rows from byte *at on to the grid, each whole, until it holds that many cells or rows, and
 * moves *at on; the end is where *at is the tape's length. */
DTX_MUSTUSE enum dtx_code dtx_sheet_tape_get(const struct dtx_sheet_tape *t, size_t *at,
                                             struct dtx_grid *g, uint64_t cells, size_t rows,
                                             struct dtx_err *err);

#endif
