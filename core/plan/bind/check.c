/* The static phase: binds all steps with what the plan alone says, before an input is opened. */
#include <stdio.h>

#include "core/io/columns.h"
#include "core/plan/bind/flow.h"
#include "core/plan/plan_internal.h"
#include "core/plan/bind/column_needs.h"

/* The schema that an input's declaration promises: first the declared types, then the required
 * names. */
enum dtx_code dtx_column_needs_declared(const struct dtx_plan_input *in, struct dtx_arena *arena,
                                        struct dtx_schema *out, struct dtx_err *err)
{
	const struct dtx_read_opts *o = &in->opts;
	struct dtx_field *field =
		dtx_arena_zalloc(arena, o->ntypes + o->nrequires + 1, sizeof(*field));
	enum dtx_code rc = DTX_OK;

	if (!field)
		DTX_FAIL_MEM(err);
	/* the columns of partitions are known when the files are */
	*out = (struct dtx_schema){
		.open = o->extra == DTX_EXTRA_ALLOW || in->broken || in->partitions, .field = field
	};
	dtx_schema_index(arena, out, (uint32_t)(o->ntypes + o->nrequires + 1));
	for (size_t i = 0; i < o->ntypes; i++) {
		field[out->nfields].name = o->types[i].name;
		field[out->nfields].source = true;
		field[out->nfields].declared = true;
		field[out->nfields].format = o->types[i].format;
		if (o->types[i].on_error != DTX_CAST_KEEP_TEXT)
			field[out->nfields].type = o->types[i].type;
		if (o->types[i].name && dtx_schema_find(out, o->types[i].name) < 0) {
			out->nfields++;
			dtx_schema_index_last(out);
		}
	}
	for (size_t i = 0; i < o->nrequires; i++)
		if (dtx_schema_find(out, o->requires[i]) < 0) {
			field[out->nfields].name = o->requires[i];
			field[out->nfields].type = (struct dtx_typeref){ DTX_T_UNKNOWN, 0, 0 };
			field[out->nfields++].source = true;
			dtx_schema_index_last(out);
		}
	if (in->source_file && dtx_schema_find(out, in->source_file) < 0) {
		field[out->nfields].name = in->source_file;
		field[out->nfields++].type = (struct dtx_typeref){ DTX_T_TEXT, 0, 0 };
	}
out:
	return rc;
}

/* Warns of a column that is used but not among those in `requires`: it may be misspelt. */
static enum dtx_code undeclared(struct dtx_plan_parse *p, const struct dtx_plan_input *in,
                                const struct dtx_schema *s, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t declared = in->opts.ntypes + in->opts.nrequires;

	for (uint32_t i = 0; in->opts.nrequires && !in->broken && i < s->nfields; i++) {
		bool known = in->partitions || dtx_columns_declared(&in->opts, s->field[i].name);

		for (size_t k = 0; k < in->opts.nrequires; k++)
			known |= strcmp(in->opts.requires[k], s -> field[i].name) == 0;
		known |= in->source_file && strcmp(in->source_file, s->field[i].name) == 0;
		if (!known)
			DTX_TRY(dtx_part_fail(p, DTX_W_UNDECLARED_COLUMN, in->at, err,
			                      "column '%s' is used, but not among the %zu declared",
			                      s->field[i].name, declared));
	}
out:
	return rc;
}

void dtx_column_needs_run(const struct dtx_plan *plan, struct dtx_run *run)
{
	*run = (struct dtx_run){ .workers = 1,
		                 .batch_rows = DTX_BATCH_ROWS,
		                 .max_rows = plan->limits.rows,
		                 .growth = plan->limits.growth,
		                 .max_cols = plan->limits.cols,
		                 .pivot_cols = plan->limits.pivot_cols };
}

/* Marks a step by its findings: an error forbids running it, a trigger hands it to a snippet. */
static void note(struct dtx_plan_step *st, const struct dtx_errlist *findings, size_t from)
{
	for (size_t i = from; i < findings->n; i++) {
		const struct dtx_err *f = &findings->item[i];

		if (f->severity == DTX_SEV_WARNING)
			continue;
		st->broken = true;
		if (f->severity == DTX_SEV_FALLBACK && st->trigger == DTX_OK)
			st->trigger = f->code;
	}
}

/* Where no snippet may help, makes errors of triggers. */
static void forbid_fallback(const struct dtx_plan *plan, struct dtx_errlist *findings)
{
	for (size_t i = 0; i < findings->n; i++) {
		struct dtx_err *f = &findings->item[i];
		bool off = plan->fallback == DTX_FALLBACK_OFF ||
		           (f->step >= 0 && plan->step[f->step].fallback_off);

		if (off && f->severity == DTX_SEV_FALLBACK)
			f->severity = DTX_SEV_ERROR;
	}
}

enum dtx_code dtx_column_needs_static(const struct dtx_plan *plan, const struct dtx_flow *known,
                                      struct dtx_arena *arena, struct dtx_flow *flow,
                                      struct dtx_errlist *findings, struct dtx_plan *notes,
                                      struct dtx_err *err)
{
	struct dtx_run run;
	enum dtx_code rc = DTX_OK;

	dtx_column_needs_run(plan, &run);
	DTX_TRY(dtx_flow_init(flow, arena, plan, err));
	for (uint32_t i = 0; i < plan->ninputs; i++) {
		struct dtx_schema s;

		DTX_TRY(dtx_column_needs_declared(&plan->input[i], arena, &s, err));
		if (known && known->table[i].schema)
			s = *known->table[i].schema;
		DTX_TRY(dtx_flow_set(flow, (int32_t)i, &s, err));
	}
	for (uint32_t i = 0; i < plan->nsteps; i++) {
		size_t before = findings->n;
		bool bad = false;

		DTX_TRY(dtx_flow_bind(flow, i, false, &run, findings, &bad, err));
		if (notes)
			note(&notes->step[i], findings, before);
	}
out:
	return rc;
}

/* Binds `expect` and rules: the columns they name must exist like those that steps read. */
static enum dtx_code check_rules(struct dtx_flow *f, struct dtx_errlist *findings,
                                 struct dtx_err *err)
{
	const struct dtx_plan *plan = f->plan;
	struct dtx_rules_bound *bound;
	enum dtx_code rc = DTX_OK;

	for (uint32_t i = 0; i < plan->nsteps; i++)
		if (plan->step[i].rules.n)
			DTX_TRY(dtx_flow_rules(f, (int32_t)(plan->ninputs + i), (int)i,
			                       &plan->step[i].rules, false, findings, &bound, NULL,
			                       err));
	if (plan->rules.n)
		DTX_TRY(dtx_flow_rules(f, plan->result, -1, &plan->rules, false, findings, &bound,
		                       NULL, err));
out:
	return rc;
}

enum dtx_code dtx_plan_check(struct dtx_plan *plan, struct dtx_errlist *findings,
                             struct dtx_err *err)
{
	struct dtx_arena arena = DTX_ARENA_INIT;
	struct dtx_flow flow = { 0 };
	struct dtx_plan_parse p = { .plan = plan, .findings = findings };
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_column_needs_static(plan, NULL, &arena, &flow, findings, plan, err));
	DTX_TRY(check_rules(&flow, findings, err));
	for (uint32_t i = 0; i < plan->ninputs; i++)
		DTX_TRY(undeclared(&p, &plan->input[i], flow.table[i].schema, err));
	DTX_TRY(dtx_part_streams(&p, &arena, err));
	forbid_fallback(plan, findings);
	dtx_part_order(plan, findings);
out:
	dtx_flow_clear(&flow);
	dtx_arena_clear(&arena);
	return rc;
}
