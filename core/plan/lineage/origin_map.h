/* Follows workbook cells through operators that move columns.
 *
 * An error, or the answer of `why`, cites a cell by its address in the sheet. That needs the
 * physical column of each logical one. When an operator reorders or drops columns, its batches need
 * an origin with a reordered list of physical columns; this file makes those origins. */
#ifndef DTX_PLAN_LINEAGE_ORIGIN_MAP_H
#define DTX_PLAN_LINEAGE_ORIGIN_MAP_H

#include "core/plan/pipe/pipe.h"

/* Sets `in` and `out` of every stage of `source`: the origin that batches have before and after the
 * stage. New origins are allocated in `arena`, so they live as long as it does. The reader must
 * have been started. Codes: no_memory. */
DTX_MUSTUSE enum dtx_code dtx_origin_map_source(struct dtx_pipe_source *source,
                                                struct dtx_arena *arena, struct dtx_err *err);

#endif
