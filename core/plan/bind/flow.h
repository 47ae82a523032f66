/* The tables of a plan as binding sees them: their schemas, which may grow while they are open, and
 * the binding of each step.
 *
 * An open schema is one of which only some columns are known, because an input is not open yet. A
 * step that names a further column adds it, back to the input that it must come from. All memory is
 * in one arena; one thread uses a flow. */
#ifndef DTX_PLAN_BIND_FLOW_H
#define DTX_PLAN_BIND_FLOW_H

#include "core/plan/bind/bind.h"
#include "core/plan/plan.h"

struct dtx_flow_table {
	struct dtx_schema *schema; /* NULL: not known yet */
	uint32_t cap;              /* room in schema->field */
	const char **gone;         /* names that a step has dropped or renamed */
	uint32_t ngone;
};
struct dtx_flow {
	struct dtx_arena *arena;
	const struct dtx_plan *plan;
	/* ninputs + nsteps tables, and one more for a table name that is unknown: it has any
	 * column */
	struct dtx_flow_table *table;
	struct dtx_bind **bind; /* per step; NULL: not bound */
};

DTX_MUSTUSE enum dtx_code dtx_flow_init(struct dtx_flow *f, struct dtx_arena *arena,
                                        const struct dtx_plan *plan, struct dtx_err *err);
/* Frees what is not in the arena. Safe for a flow that was only zeroed. */
void dtx_flow_clear(struct dtx_flow *f);
/* Sets the schema of a table to a copy of s. Fields may be added while it is open. */
DTX_MUSTUSE enum dtx_code dtx_flow_set(struct dtx_flow *f, int32_t table,
                                       const struct dtx_schema *s, struct dtx_err *err);
/* Finds a name in a table. In an open table a name that may exist is added, there and in the tables
 * that it must come from. *col = -1: it cannot exist (the table is closed, or a step has dropped
 * it). */
DTX_MUSTUSE enum dtx_code dtx_flow_require(struct dtx_flow *f, int32_t table, const char *name,
                                           int32_t *col, struct dtx_err *err);
/* Binds step i: sets bind[i] and the schema of its result. Findings go to errs.
 *
 * *bad: the step has findings of severity error or fallback, also about its parameters. With errors
 * the result has the columns that are sure; with a trigger it is what the step's `expect` promises,
 * and bind[i] is NULL. */
DTX_MUSTUSE enum dtx_code dtx_flow_bind(struct dtx_flow *f, uint32_t i, bool typed,
                                        const struct dtx_run *run, struct dtx_errlist *errs,
                                        bool *bad, struct dtx_err *err);
/* Binds rules to a table. step: the step they belong to; -1: the plan. *used (if not NULL) is the
 * binding, which has the columns they use. */
DTX_MUSTUSE enum dtx_code dtx_flow_rules(struct dtx_flow *f, int32_t table, int step,
                                         const struct dtx_rules *rules, bool typed,
                                         struct dtx_errlist *errs, struct dtx_rules_bound **out,
                                         struct dtx_bind **used, struct dtx_err *err);
/* Names of a table, for suggestions; borrowed. */
DTX_MUSTUSE enum dtx_code dtx_flow_names(struct dtx_flow *f, const struct dtx_schema *s,
                                         const char ***names, struct dtx_err *err);

#endif
