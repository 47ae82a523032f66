/* From bound steps to work for the readers: which columns, in which form; declared schemas. */
#ifndef DTX_PLAN_BIND_COLUMN_NEEDS_H
#define DTX_PLAN_BIND_COLUMN_NEEDS_H

#include "core/plan/bind/flow.h"

/* Schema that an input's declaration promises; names are borrowed from the plan. */
DTX_MUSTUSE enum dtx_code dtx_column_needs_declared(const struct dtx_plan_input *in,
                                                    struct dtx_arena *arena, struct dtx_schema *out,
                                                    struct dtx_err *err);
/* Limits of the plan as facts of a run of one worker. */
void dtx_column_needs_run(const struct dtx_plan *plan, struct dtx_run *run);
/* All steps with declared schemas, or as far as `known` (or NULL) has them with those of the
 * inputs; notes: the plan, whose steps are marked, or NULL. */
DTX_MUSTUSE enum dtx_code dtx_column_needs_static(const struct dtx_plan *plan,
                                                  const struct dtx_flow *known,
                                                  struct dtx_arena *arena, struct dtx_flow *flow,
                                                  struct dtx_errlist *findings,
                                                  struct dtx_plan *notes, struct dtx_err *err);

/* Per table, per column: enum dtx_need.  need[t] is NULL while the schema of table t is unknown.
 * all[t] asks for bytes of every column of t (a step not bound yet reads it). */
struct dtx_column_needs {
	uint8_t **need;
};
/* Starts from need_out (filled by the caller: what outputs and regions want) and goes backward
 * through the bound steps of the flow. `live` tells which steps are done by the typed engine. */
void dtx_column_needs_back(const struct dtx_flow *flow, struct dtx_column_needs *p,
                           const bool *live);
DTX_MUSTUSE enum dtx_code dtx_column_needs_init(struct dtx_column_needs *p,
                                                const struct dtx_flow *flow,
                                                struct dtx_arena *arena, struct dtx_err *err);
/* Where column c of a step's result is moved from; false: it is made.  Columns behind those that
 * the bind knows came later, through an open table: they are found by name. */
bool dtx_column_needs_through(const struct dtx_flow *flow, const struct dtx_bind *b, uint32_t c,
                              int32_t *table, int32_t *col);
/* Raises every column of a table to at least `need`. */
void dtx_column_needs_all(struct dtx_column_needs *p, const struct dtx_flow *flow, int32_t table,
                          uint8_t need);

#endif
