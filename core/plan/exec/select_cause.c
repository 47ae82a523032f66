/* Finds the snippet that caused a failure: the column that a step failed on is followed back
 * through the steps that only move it, to the region that made it. */
#include "core/plan/exec/region.h"

/* A host counts its requests; this bound is for one that gives the same wrong answer again and
 * again. */
#define BREAKS_MAX 2

/* The region whose result is table t; -1 if none. */
static int32_t result_of(const struct dtx_regions *r, const struct dtx_plan *plan, int32_t t)
{
	for (uint32_t i = 0; i < r->n; i++) {
		const struct dtx_region *one = &r->item[i];
		int32_t last = one->whole_plan
		                       ? plan->result
		                       : (int32_t)(plan->ninputs + one->first + one->count) - 1;

		if (t == (one->input >= 0 ? one->input : last))
			return (int32_t)i;
	}
	return -1;
}

/* Whether the snippet was given the column, with the same class of type: then it did not make
 * it. */
static bool passed_on(const struct dtx_region *r, const struct dtx_graph *g,
                      const struct dtx_field *made)
{
	const struct dtx_plan *plan = g->plan;

	for (uint32_t i = r->first; i < r->first + r->count; i++)
		for (uint32_t k = 0; k < plan->step[i].ntables; k++) {
			const struct dtx_schema *s = g->flow.table[plan->step[i].table[k]].schema;
			int32_t c = s ? dtx_schema_find(s, made->name) : -1;

			if (c >= 0 && dtx_type_class(s->field[c].type.type) ==
			                      dtx_type_class(made->type.type))
				return true;
		}
	return false;
}

/* Follows column c of table t back as far as it is only moved. The region that made it, or -1. */
static int32_t made_by(const struct dtx_regions *r, const struct dtx_graph *g, int32_t t, int32_t c)
{
	const struct dtx_plan *plan = g->plan;

	for (uint32_t hops = 0; hops <= plan->nsteps; hops++) {
		int32_t region = result_of(r, plan, t);
		const struct dtx_schema *s = g->flow.table[t].schema;

		if (region >= 0)
			return !s || passed_on(&r->item[region], g, &s->field[c]) ? -1 : region;
		if ((uint32_t)t < plan->ninputs || !g->flow.bind[(uint32_t)t - plan->ninputs] ||
		    !dtx_column_needs_through(&g->flow, g->flow.bind[(uint32_t)t - plan->ninputs],
		                              (uint32_t)c, &t, &c))
			return -1;
	}
	return -1;
}

/* The region that should have made a column which is missing: the one that is the only source of
 * the table. */
static int32_t missing_from(const struct dtx_regions *r, const struct dtx_graph *g, int32_t t)
{
	const struct dtx_plan *plan = g->plan;

	while (result_of(r, plan, t) < 0) {
		const struct dtx_plan_step *st;

		if ((uint32_t)t < plan->ninputs)
			return -1;
		st = &plan->step[(uint32_t)t - plan->ninputs];
		if (st->ntables != 1)
			return -1;
		t = st->table[0];
	}
	return result_of(r, plan, t);
}

/* The region that made the column which the error names, or the first column that the step
 * reads. */
static int32_t read_by(const struct dtx_regions *r, const struct dtx_graph *g, uint32_t step,
                       const char *column)
{
	const struct dtx_bind *b = g->flow.bind[step];

	for (size_t i = 0; b && i < b->nuses; i++) {
		const struct dtx_schema *s = g->flow.table[b->table[b->use[i].table]].schema;
		int32_t region;

		if (!s || b->use[i].col >= s->nfields ||
		    (column[0] && strcmp(s->field[b->use[i].col].name, column) != 0))
			continue;
		region = made_by(r, g, b->table[b->use[i].table], (int32_t)b->use[i].col);
		if (region >= 0)
			return region;
	}
	return -1;
}

struct dtx_region *dtx_regions_select_cause(struct dtx_regions *r, const struct dtx_graph *g,
                                            uint32_t step, const struct dtx_err *why)
{
	const struct dtx_plan_step *st = &g->plan->step[step];
	int32_t region;

	if (why->code == DTX_E_MISSING_COLUMN)
		region = st->ntables == 1 ? missing_from(r, g, st->table[0]) : -1;
	else
		region = read_by(r, g, step, why->column);
	if (region < 0 || r->item[region].breaks >= BREAKS_MAX)
		return NULL;
	return r->item[region].table ? &r->item[region] : NULL;
}

void dtx_region_break(struct dtx_regions *r, struct dtx_region *one, const struct dtx_err *why)
{
	for (uint32_t i = 0; i < r->n; i++) {
		struct dtx_region *other = &r->item[i];

		if (other != one && (other->input >= 0 || other->first < one->first))
			continue; /* it does not depend on the broken result */
		dtx_table_unref(other->table);
		other->table = NULL;
	}
	dtx_err_clear(&one->broke);
	dtx_err_copy(&one->broke, why);
	one->broken = true;
	one->breaks++;
}
