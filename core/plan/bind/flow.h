/* Tables of a plan as binding sees them: schemas that grow while they are open, and what each
 * step's binding said.  One arena, one thread. */
#ifndef DTX_PLAN_BIND_FLOW_H
#define DTX_PLAN_BIND_FLOW_H

#include "core/plan/bind/bind.h"
#include "core/plan/plan.h"

struct dtx_flow_table {
	struct dtx_schema *schema; /* NULL: not known yet */
	uint32_t cap;              /* room in schema->field */
	const char **gone;         /* names that a step dropped or renamed away */
	uint32_t ngone;
};
struct dtx_flow {
	struct dtx_arena *arena;
	const struct dtx_plan *plan;
	/* ninputs + nsteps, and one for the table that a step asks for and nobody knows: it has any
	 * column */
	struct dtx_flow_table *table;
	struct dtx_bind **bind; /* per step; NULL: not bound */
};

DTX_MUSTUSE enum dtx_code dtx_flow_init(struct dtx_flow *f, struct dtx_arena *arena,
                                        const struct dtx_plan *plan, struct dtx_err *err);
/* Frees what the arena does not hold. */
void dtx_flow_clear(struct dtx_flow *f);
/* Copies s as table's schema; fields may be added while it is open. */
DTX_MUSTUSE enum dtx_code dtx_flow_set(struct dtx_flow *f, int32_t table,
                                       const struct dtx_schema *s, struct dtx_err *err);
/* Index of a name in an open table: known, or assumed to exist and added, back to the input it must
 * come from.  *col = -1: it cannot exist (a step dropped it, or the table is closed). */
DTX_MUSTUSE enum dtx_code dtx_flow_require(struct dtx_flow *f, int32_t table, const char *name,
                                           int32_t *col, struct dtx_err *err);
/* Binds step i: fills bind[i] and the schema of its result.  Findings go to errs; a step with
 * error or trigger findings (of its parameters too) is noted in *bad.  With errors the result is as
 * closed as can be told, types unknown where they are; with a trigger it is what the step's expect
 * promises, and bind[i] NULL. */
DTX_MUSTUSE enum dtx_code dtx_flow_bind(struct dtx_flow *f, uint32_t i, bool typed,
                                        const struct dtx_run *run, struct dtx_errlist *errs,
                                        bool *bad, struct dtx_err *err);
/* Binds rules to a table, as `expect` at pointer `at` has them; step: whose it is, -1: the plan's.
 * *used (if not NULL) is the binding, for what it uses. */
DTX_MUSTUSE enum dtx_code dtx_flow_rules(struct dtx_flow *f, int32_t table, int step,
                                         const struct dtx_rules *rules, bool typed,
                                         struct dtx_errlist *errs, struct dtx_rules_bound **out,
                                         struct dtx_bind **used, struct dtx_err *err);
/* Names of a table, for suggestions; borrowed. */
DTX_MUSTUSE enum dtx_code dtx_flow_names(struct dtx_flow *f, const struct dtx_schema *s,
                                         const char ***names, struct dtx_err *err);

#endif
