/* Gives cells that a snippet passed through unchanged the bytes of their source back, so that
 * 1.50 stays 1.50 in the output instead of becoming 1.5. What the worker claims is compared,
 * never believed. */
#ifndef DTX_SANDBOX_MAIN_RESTORE_SOURCE_CELLS_H
#define DTX_SANDBOX_MAIN_RESTORE_SOURCE_CELLS_H

#include "core/data/batch.h"

/* rows[i] is the row of `input` that row i of *t claims to come from; all must be below
 * input->nrows.
 *
 * A column whose values all equal those of the input becomes a column of source cells again, or
 * of text if its cells are not all from one file, as long as these take no more than `room`
 * bytes in total. A column of nulls that are also nulls of the input gets the input's type,
 * which a worker does not know. If anything changes, *t becomes another table and the old one is
 * released. */
DTX_MUSTUSE enum dtx_code dtx_restore_source_cells(struct dtx_table **t, struct dtx_table *input,
                                                   const uint64_t *rows, uint64_t room,
                                                   struct dtx_err *err);

/* Makes columns of times UTC again if they are in `input`. A frame holds only microseconds,
 * without the kind of time. *t becomes a new table if there are any. */
DTX_MUSTUSE enum dtx_code dtx_restore_utc(struct dtx_table **t, const struct dtx_schema *input,
                                          struct dtx_err *err);

#endif
