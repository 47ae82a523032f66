/* What a finished run knows about itself: counts, schemas, where each result column comes from. */
#ifndef DTX_PLAN_EXEC_RUN_STATS_H
#define DTX_PLAN_EXEC_RUN_STATS_H

#include "core/plan/exec/region.h"

/* Fills inputs, steps, regions and lineage of the result. */
DTX_MUSTUSE enum dtx_code dtx_run_stats(const struct dtx_graph *g,
                                        const struct dtx_regions *regions,
                                        struct dtx_reader **reader,
                                        const struct dtx_schema **schema, struct dtx_exec_result *r,
                                        struct dtx_err *err);
/* A result with nothing in it yet.  *out is set unless memory is out at once. */
DTX_MUSTUSE enum dtx_code dtx_exec_result_new(const struct dtx_plan *plan,
                                              struct dtx_exec_result **out, struct dtx_err *err);
/* Place of an input in the plan as written; NULL: it is written nowhere. */
const char *dtx_run_stats_input_at(const struct dtx_plan *plan, uint32_t input);
/* The place becomes that of the declared type that a cell does not fit; the step that wanted the
 * value is not to blame.  No such type in the plan: the place stays. */
void dtx_run_stats_type_at(const struct dtx_plan *plan, uint32_t input, struct dtx_err *err);
/* One step: kind, counts, schema. */
DTX_MUSTUSE enum dtx_code dtx_run_stats_step(const struct dtx_graph *g, uint32_t s,
                                             struct dtx_exec_result *r, struct dtx_err *err);
/* run_stats_explain.c: pipelines, threads, codes that may start the fallback. */
DTX_MUSTUSE enum dtx_code dtx_run_stats_physical(const struct dtx_graph *g,
                                                 struct dtx_exec_result *r, struct dtx_err *err);
/* Outputs that nobody wrote have their schema from the flow. */
DTX_MUSTUSE enum dtx_code dtx_run_stats_outputs(const struct dtx_graph *g,
                                                struct dtx_exec_result *r, struct dtx_err *err);
/* lineage.c: formulas down to source columns. */
DTX_MUSTUSE enum dtx_code dtx_lineage(const struct dtx_graph *g, struct dtx_exec_result *r,
                                      struct dtx_err *err);

/* triggers.c: codes that may hand a step or an input to a snippet while rows flow, "a,b", in the
 * arena; NULL: out of memory. */
const char *dtx_step_triggers(const struct dtx_graph *g, uint32_t s, struct dtx_arena *a);
const char *dtx_input_triggers(const struct dtx_graph *g, uint32_t i, struct dtx_arena *a);

#endif
