/* Works out, from bound steps, which columns each reader must deliver and in which form: as bytes
 * that are copied, or as values.
 *
 * Needs start at the outputs and go backwards: a step that moves a column passes the need on, a
 * step that uses a column adds its own demand. */
#ifndef DTX_PLAN_BIND_COLUMN_NEEDS_H
#define DTX_PLAN_BIND_COLUMN_NEEDS_H

#include "core/plan/bind/flow.h"

/* Fills *out with the schema that an input's declaration promises; names are borrowed from the
 * plan. */
DTX_MUSTUSE enum dtx_code dtx_column_needs_declared(const struct dtx_plan_input *in,
                                                    struct dtx_arena *arena, struct dtx_schema *out,
                                                    struct dtx_err *err);
/* Fills *run with the limits of the plan, for one worker. */
void dtx_column_needs_run(const struct dtx_plan *plan, struct dtx_run *run);
/* Binds all steps with the declared schemas of the inputs, or, as far as `known` (may be NULL) has
 * them, with those. The caller clears *flow. notes: the plan, whose steps are marked broken or as
 * triggers; NULL: none is marked. */
DTX_MUSTUSE enum dtx_code dtx_column_needs_static(const struct dtx_plan *plan,
                                                  const struct dtx_flow *known,
                                                  struct dtx_arena *arena, struct dtx_flow *flow,
                                                  struct dtx_errlist *findings,
                                                  struct dtx_plan *notes, struct dtx_err *err);

/* Per table and column: enum dtx_need. need[t] is NULL while the schema of table t is not known. */
struct dtx_column_needs {
	uint8_t **need;
};
/* Goes backwards from the needs that the caller has set (of outputs, of regions) through the bound
 * steps. live[i] says that the typed engine runs step i. */
void dtx_column_needs_back(const struct dtx_flow *flow, struct dtx_column_needs *p,
                           const bool *live);
/* Makes the arrays, with no needs. Codes: no_memory. */
DTX_MUSTUSE enum dtx_code dtx_column_needs_init(struct dtx_column_needs *p,
                                                const struct dtx_flow *flow,
                                                struct dtx_arena *arena, struct dtx_err *err);
/* Where column c of a step's result is moved from. False: the step makes it. Columns that came
 * later, through an open table, are found by name. */
bool dtx_column_needs_through(const struct dtx_flow *flow, const struct dtx_bind *b, uint32_t c,
                              int32_t *table, int32_t *col);
/* Raises the need of every column of a table to at least `need`. */
void dtx_column_needs_all(struct dtx_column_needs *p, const struct dtx_flow *flow, int32_t table,
                          uint8_t need);

#endif
