/* Runs the steps that are not streamed: sinks, and operations on whole tables. Internal to
 * core/plan, but for dtx_runop_state. */
#ifndef DTX_PLAN_PIPE_RUNOP_H
#define DTX_PLAN_PIPE_RUNOP_H

#include "core/plan/pipe/graph.h"

/* Streams input table `input` of step s into the step's sink. What the sink emits becomes *out,
 * which the caller owns; out is NULL for the build side of a join, which emits nothing. */
DTX_MUSTUSE enum dtx_code dtx_runop_sink(struct dtx_graph *g, uint32_t s, unsigned input,
                                         struct dtx_table **out, struct dtx_err *err);
/* Streams the input of step s into its sink, or that of its digest, on one worker, and adds its
 * state to a frame. Calls `then` while the bytes of the frame are there. */
DTX_MUSTUSE enum dtx_code dtx_runop_state(struct dtx_graph *g, uint32_t s, struct dtx_frame *frame,
                                          enum dtx_code (*then)(void *arg, struct dtx_err *err),
                                          void *arg, struct dtx_err *err);
/* Runs the op of step s on its whole input table. open: the schema of the result is not known yet,
 * so the op is asked for it first. The caller owns *out. */
DTX_MUSTUSE enum dtx_code dtx_runop_whole(struct dtx_graph *g, uint32_t s, bool open,
                                          struct dtx_table **out, struct dtx_err *err);
/* Tells the run's progress that a step begins to collect its rows, or has them and what it makes of
 * them. Called by the main thread. */
void dtx_runop_begins(const struct dtx_graph *g, uint32_t s);
void dtx_runop_ends(const struct dtx_graph *g, uint32_t s);
/* Completes an error with the step where it happened; returns rc, also DTX_OK. */
enum dtx_code dtx_runop_set_step(const struct dtx_graph *g, uint32_t s, enum dtx_code rc,
                                 struct dtx_err *err);

#endif
