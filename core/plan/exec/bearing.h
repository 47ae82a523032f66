/* Whether a warning about an input bears on the result, for those that mostly do not. */
#ifndef DTX_PLAN_EXEC_BEARING_H
#define DTX_PLAN_EXEC_BEARING_H

#include "core/plan/pipe/graph.h"

/* Per table and column of it: some step names it, also by a later name.  In `arena`; NULL: no
 * memory. */
uint8_t **dtx_bearing_named(const struct dtx_graph *g, struct dtx_arena *arena);
/* A header that is assumed matters to plans that name no column of it, and to JSON; a column of
 * mixed types where a step names it, or where values are written and not only their text.  Every
 * other warning bears. */
bool dtx_bears(const struct dtx_graph *g, uint32_t input, const uint8_t *named,
               const struct dtx_err *w);

#endif
