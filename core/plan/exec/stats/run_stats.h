/* What a finished run knows about itself: counts, schemas, and where each result column comes
 * from. */
#ifndef DTX_PLAN_EXEC_STATS_RUN_STATS_H
#define DTX_PLAN_EXEC_STATS_RUN_STATS_H

#include "core/plan/exec/region.h"

/* Fills inputs, steps, regions and lineage of the result r. */
DTX_MUSTUSE enum dtx_code dtx_run_stats(const struct dtx_graph *g,
                                        const struct dtx_regions *regions,
                                        struct dtx_reader **reader,
                                        const struct dtx_schema **schema, struct dtx_exec_result *r,
                                        struct dtx_err *err);
/* Makes an empty result. *out is set, also after a failure, unless memory ran out at once. */
DTX_MUSTUSE enum dtx_code dtx_exec_result_new(const struct dtx_plan *plan,
                                              struct dtx_exec_result **out, struct dtx_err *err);
/* JSON pointer to an input in the plan as written; NULL: it is not written there (a file of a
 * glob). */
const char *dtx_run_stats_input_at(const struct dtx_plan *plan, uint32_t input);
/* Moves the place of err to the declared type that a cell does not fit: the step that asked for the
 * value is not the cause. Where the plan has no such type the place stays. */
void dtx_run_stats_type_at(const struct dtx_plan *plan, uint32_t input, struct dtx_err *err);
/* Fills kind, counts and schema of one step. */
DTX_MUSTUSE enum dtx_code dtx_run_stats_step(const struct dtx_graph *g, uint32_t s,
                                             struct dtx_exec_result *r, struct dtx_err *err);
/* Adds pipelines, threads and the codes that may start the fallback. In run_stats_explain.c. */
DTX_MUSTUSE enum dtx_code dtx_run_stats_physical(const struct dtx_graph *g,
                                                 struct dtx_exec_result *r, struct dtx_err *err);
/* Sets the schemas of outputs that were not written, from the flow. */
DTX_MUSTUSE enum dtx_code dtx_run_stats_outputs(const struct dtx_graph *g,
                                                struct dtx_exec_result *r, struct dtx_err *err);
/* Fills the lineage: the formulas of result columns in terms of source columns. In
 * core/plan/lineage/lineage.c. */
DTX_MUSTUSE enum dtx_code dtx_lineage(const struct dtx_graph *g, struct dtx_exec_result *r,
                                      struct dtx_err *err);

/* The codes that may hand a step or an input to a snippet while rows are read, as "a,b" in the
 * arena. NULL: out of memory. In triggers.c. */
const char *dtx_step_triggers(const struct dtx_graph *g, uint32_t s, struct dtx_arena *a);
const char *dtx_input_triggers(const struct dtx_graph *g, uint32_t i, struct dtx_arena *a);

#endif
