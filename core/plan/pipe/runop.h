/* Runs what is not a stream: sinks, and operations on whole tables.  Internal to core/plan. */
#ifndef DTX_PLAN_PIPE_RUNOP_H
#define DTX_PLAN_PIPE_RUNOP_H

#include "core/plan/pipe/graph.h"

/* Streams input table `input` of step s into its sink; what it emits goes to *out (NULL: a join's
 * build side emits nothing). */
DTX_MUSTUSE enum dtx_code dtx_runop_sink(struct dtx_graph *g, uint32_t s, unsigned input,
                                         struct dtx_table **out, struct dtx_err *err);
/* open: the op tells its columns first. */
DTX_MUSTUSE enum dtx_code dtx_runop_whole(struct dtx_graph *g, uint32_t s, bool open,
                                          struct dtx_table **out, struct dtx_err *err);
/* Fills the step of an error; returns rc. */
enum dtx_code dtx_runop_blame(const struct dtx_graph *g, uint32_t s, enum dtx_code rc,
                              struct dtx_err *err);

#endif
