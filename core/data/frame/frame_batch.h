/* Batches as sections of a frame, for rows that one process of dtx makes and another one goes on
 * with.
 *
 * Unlike dtx_frame_add_table, which converts all cells to values, this keeps the cells of a text
 * file as they are written, so that a later step or the output has the bytes of the source. Numbers
 * of rows (first_row, rec) are kept too. Columns that no later step needs stay absent. */
#ifndef DTX_DATA_FRAME_FRAME_BATCH_H
#define DTX_DATA_FRAME_FRAME_BATCH_H

#include "core/base/memory/buf.h"
#include "core/data/batch.h"

/* Writes a batch, which becomes dense, to an empty buffer. Its columns may have any form but CELL.
 * The bytes depend only on the rows and their forms. Codes: no_memory, bug. */
DTX_MUSTUSE enum dtx_code dtx_frame_batch_save(struct dtx_batch *b, struct dtx_buf *out,
                                               struct dtx_err *err);
/* Makes a batch of such bytes, which begin at a multiple of 8 and are kept by `keep` (a reference
 * is taken). The columns must fit the schema, which is borrowed. Every offset is checked. Codes:
 * no_memory, corrupt_file. */
DTX_MUSTUSE enum dtx_code dtx_frame_batch_load(struct dtx_str bytes, struct dtx_owner *keep,
                                               const struct dtx_schema *schema,
                                               struct dtx_batch **out, struct dtx_err *err);

#endif
