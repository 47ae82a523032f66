/* Keeps the cells of a workbook citable while its columns move through maps. */
#ifndef DTX_PLAN_LINEAGE_ORIGIN_MAP_H
#define DTX_PLAN_LINEAGE_ORIGIN_MAP_H

#include "core/plan/pipe/pipe.h"

/* Fills in and out of the leg's passes; made origins live in the arena.  The reader has started. */
DTX_MUSTUSE enum dtx_code dtx_origin_map_leg(struct dtx_pipe_source *leg, struct dtx_arena *arena,
                                             struct dtx_err *err);

#endif
