/* Cells that a snippet passed on get their source bytes back: 1.50 stays 1.50. */
#ifndef DTX_SANDBOX_MAIN_RESTORE_SOURCE_CELLS_H
#define DTX_SANDBOX_MAIN_RESTORE_SOURCE_CELLS_H

#include "core/data/batch.h"

/* rows[i]: the row of `input` that row i of *t says it came from; all are below input->nrows.
 * A column with cells of a text file whose every value equals the input's there is held as those
 * cells again, and is text where others were beside them, as long as they take at most `room` bytes
 * in all; *t is then another table.  A column of nulls that are the input's, too, has its type: a
 * worker does not know it.  What the worker claims is compared, not believed. */
DTX_MUSTUSE enum dtx_code dtx_restore_source_cells(struct dtx_table **t, struct dtx_table *input,
                                                   const uint64_t *rows, uint64_t room,
                                                   struct dtx_err *err);

/* The frame says of times only how many microseconds they are: those of a column that is of UTC in
 * `input` are of UTC still.  *t becomes a new table when there are any. */
DTX_MUSTUSE enum dtx_code dtx_restore_utc(struct dtx_table **t, const struct dtx_schema *input,
                                          struct dtx_err *err);

#endif
