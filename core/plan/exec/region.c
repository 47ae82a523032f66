/* Regions: the list of a run, and for each its tables, its contract, the request and the result.
 *
 * The contract is what the typed steps after the region need of its columns: names and classes of
 * types. It is derived by walking those steps backwards (class_back, dtx_column_needs_back). */
#include "core/plan/exec/region.h"

#include <stdio.h>

#include "core/base/memory/mem.h"
#include "core/plan/exec/provider.h"
#include "core/plan/pipe/runop.h"

/* --- the list --- */

/* Whether only the next step reads the result, so that one snippet can do both. A step with checks
 * ends its region, where they are checked. */
static bool internal_only(const struct dtx_plan *plan, uint32_t step)
{
	int32_t t = (int32_t)(plan->ninputs + step);

	if (plan->step[step].rules.n || !dtx_expect_empty(plan->step[step].expect) ||
	    (t == plan->result && dtx_plan_checks_apart(plan)))
		return false;
	for (uint32_t i = 0; i < plan->noutputs; i++)
		if (plan->output[i].table == t)
			return false;
	for (uint32_t i = 0; i < plan->nsteps; i++)
		for (uint32_t k = 0; k < plan->step[i].ntables; k++)
			if (plan->step[i].table[k] == t && i != step + 1)
				return false;
	return step + 1 < plan->nsteps && plan->step[step + 1].table[0] == t;
}

static bool append(struct dtx_regions *r, const struct dtx_plan *plan, enum dtx_fallback mode,
                   uint32_t step, const struct dtx_err *trigger)
{
	struct dtx_region *item;

	if (r->n == DTX_REGIONS_CAP)
		return false;
	item = &r->item[r->n++];
	*item = (struct dtx_region){ .input = -1, .trigger = DTX_ERR_INIT, .broke = DTX_ERR_INIT };
	dtx_plan_span(plan, step, &item->first, &item->count);
	if (mode == DTX_FALLBACK_PLAN) {
		item->first = 0;
		item->count = plan->nsteps;
		item->whole_plan = true;
	}
	dtx_err_copy(&item->trigger, trigger);
	return true;
}

static const struct dtx_err *finding_of(const struct dtx_errlist *findings, uint32_t step)
{
	for (size_t i = 0; i < findings->n; i++)
		if (findings->item[i].step == (int32_t)step &&
		    findings->item[i].severity == DTX_SEV_FALLBACK)
			return &findings->item[i];
	return NULL;
}

enum dtx_code dtx_regions_static(struct dtx_regions *r, const struct dtx_plan *plan,
                                 enum dtx_fallback mode, uint32_t max,
                                 const struct dtx_errlist *findings, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	for (uint32_t i = 0; i < plan->nsteps; i++) {
		const struct dtx_err *f = plan->step[i].broken ? finding_of(findings, i) : NULL;
		struct dtx_region *last = r->n ? &r->item[r->n - 1] : NULL;
		uint32_t first, count;

		if (!plan->step[i].broken || (last && i < last->first + last->count))
			continue;
		DTX_ASSERT(f, err);
		if (mode == DTX_FALLBACK_PLAN && r->n)
			break;
		dtx_plan_span(plan, i, &first, &count);
		if (last && last->first + last->count == first && internal_only(plan, first - 1))
			last->count += count;
		else if (r->n >= max || !append(r, plan, mode, i, f))
			DTX_FAIL(err, DTX_E_SNIPPET_CANNOT,
			         "the plan needs a snippet in more than %u parts", (unsigned)max);
		r->item[r->n - 1].is_static = true;
	}
out:
	return rc;
}

static void drop(struct dtx_region *r)
{
	dtx_table_unref(r->table);
	json_decref(r->describe);
	dtx_err_clear(&r->trigger);
	dtx_err_clear(&r->broke);
}

/* Drops the regions of steps: a region of all steps replaces them. */
static void drop_steps(struct dtx_regions *r)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < r->n; i++) {
		if (r->item[i].input >= 0)
			r->item[n++] = r->item[i];
		else
			drop(&r->item[i]);
	}
	r->n = n;
}

bool dtx_regions_add(struct dtx_regions *r, const struct dtx_plan *plan, enum dtx_fallback mode,
                     uint32_t step, const struct dtx_err *trigger, uint32_t max)
{
	if (r->n >= max)
		return false;
	if (mode == DTX_FALLBACK_PLAN)
		drop_steps(r);
	return append(r, plan, mode, step, trigger);
}

const struct dtx_region *dtx_regions_input(const struct dtx_regions *r, uint32_t input)
{
	for (uint32_t i = 0; i < r->n; i++)
		if (r->item[i].input == (int32_t)input)
			return &r->item[i];
	return NULL;
}

bool dtx_regions_add_input(struct dtx_regions *r, uint32_t input, const struct dtx_err *trigger,
                           uint32_t max)
{
	struct dtx_region *item = &r->item[r->n];

	if (r->n >= max || r->n == DTX_REGIONS_CAP || dtx_regions_input(r, input))
		return false;
	*item = (struct dtx_region){ .input = (int32_t)input,
		                     .trigger = DTX_ERR_INIT,
		                     .broke = DTX_ERR_INIT };
	dtx_err_copy(&item->trigger, trigger);
	r->n++;
	return true;
}

void dtx_regions_forget(struct dtx_regions *r)
{
	for (uint32_t i = 0; i < r->n; i++) {
		if (r->item[i].input >= 0)
			continue;
		dtx_table_unref(r->item[i].table);
		r->item[i].table = NULL;
	}
}

uint64_t dtx_regions_stand(const struct dtx_regions *r)
{
	uint64_t stands = 0;

	for (uint32_t i = 0; i < r->n; i++)
		stands |= (uint64_t)(r->item[i].table && !r->item[i].broken) << i;
	return stands;
}

void dtx_regions_clear(struct dtx_regions *r)
{
	for (uint32_t i = 0; i < r->n; i++)
		drop(&r->item[i]);
	r->n = 0;
}

void dtx_regions_mark(const struct dtx_regions *r, struct dtx_graph *g)
{
	for (uint32_t i = 0; i < r->n; i++) {
		if (r->item[i].input >= 0)
			g->by_snippet[r->item[i].input] = true;
		for (uint32_t k = 0; k < r->item[i].count; k++)
			g->step[r->item[i].first + k].region = (int32_t)i;
	}
}

/* --- tables --- */

static bool inside(const struct dtx_region *r, const struct dtx_plan *plan, int32_t t)
{
	uint32_t s = (uint32_t)t - plan->ninputs;

	return (uint32_t)t >= plan->ninputs && s >= r->first && s < r->first + r->count;
}

bool dtx_region_ready(const struct dtx_region *r, const struct dtx_graph *g)
{
	for (uint32_t i = r->first; i < r->first + r->count; i++)
		for (uint32_t k = 0; k < g->plan->step[i].ntables; k++) {
			int32_t t = g->plan->step[i].table[k];

			if (!inside(r, g->plan, t) && !dtx_graph_knows(g, t))
				return false;
		}
	return true;
}

struct tables {
	struct dtx_fallback_table item[DTX_JAIL_TABLES_MAX];
	size_t n;
	/* only the columns are wanted: the tables have no rows, and belong to the list */
	bool look;
};

static void free_tables(struct tables *t)
{
	for (size_t i = 0; t->look && i < t->n; i++)
		dtx_table_unref(t->item[i].table);
}

/* A table without rows, of the columns that are known. */
static enum dtx_code empty_table(const struct dtx_graph *g, int32_t id, struct dtx_table **out,
                                 struct dtx_err *err)
{
	const struct dtx_schema *s = id >= 0 ? g->flow.table[id].schema : NULL;
	enum dtx_code rc = DTX_OK;

	if (!s || s->open)
		DTX_FAIL(err, DTX_E_NEEDS_SNIPPET, "the columns are known when the plan runs");
	DTX_TRY(dtx_table_new(s, out, err));
out:
	return rc;
}

/* The patterns for changing headers of the input that a table comes from. Steps keep the names of
 * columns that they do not make, so the patterns still apply. */
static const json_t *families_of(const struct dtx_plan *plan, int32_t id)
{
	while (id >= 0 && (uint32_t)id >= plan->ninputs)
		id = plan->step[(uint32_t)id - plan->ninputs].table[0];
	return id >= 0 ? plan->input[id].families : NULL;
}

static enum dtx_code add_table(struct dtx_graph *g, struct tables *t, const char *name, int32_t id,
                               struct dtx_err *err)
{
	struct dtx_table *table = NULL;
	enum dtx_code rc = DTX_OK;

	for (size_t i = 0; i < t->n; i++)
		if (strcmp(t->item[i].name, name) == 0)
			goto out;
	if (t->n == DTX_COUNT(t->item)) {
		rc = dtx_err_set(err, DTX_E_PLAN_TOO_LARGE, __FILE__, __LINE__,
		                 "a snippet reads at most %zu tables", t->n);
		dtx_err_hint(err, "union or join some of them in a step before");
		goto out;
	}
	DTX_TRY(t->look ? empty_table(g, id, &table, err)
	                : dtx_graph_table(g, id, true, &table, err));
	t->item[t->n++] = (struct dtx_fallback_table){ name, table, families_of(g->plan, id) };
out:
	return rc;
}

static enum dtx_code region_tables(const struct dtx_region *r, struct dtx_graph *g,
                                   struct tables *t, struct dtx_err *err)
{
	const struct dtx_plan *plan = g->plan;
	enum dtx_code rc = DTX_OK;

	for (uint32_t i = 0; r->whole_plan && i < plan->ninputs; i++)
		if (g->flow.table[i].schema)
			DTX_TRY(add_table(g, t, plan->input[i].name, (int32_t)i, err));
	if (r->whole_plan)
		goto out;
	DTX_TRY(add_table(g, t, "main", plan->step[r->first].table[0], err));
	for (uint32_t i = r->first; i < r->first + r->count; i++)
		for (uint32_t k = i == r->first ? 1 : 0; k < plan->step[i].ntables; k++)
			if (!inside(r, plan, plan->step[i].table[k]))
				DTX_TRY(add_table(g, t, plan->step[i].table_name[k],
				                  plan->step[i].table[k], err));
out:
	return rc;
}

static void release_tables(const struct dtx_region *r, struct dtx_graph *g)
{
	for (uint32_t i = r->first; i < r->first + r->count; i++)
		for (uint32_t k = 0; k < g->plan->step[i].ntables; k++)
			if (!inside(r, g->plan, g->plan->step[i].table[k]))
				dtx_graph_release(g, g->plan->step[i].table[k]);
}

/* --- the derived contract --- */

/* Collects, walking backwards, the classes of types that the steps from `from` on need of each
 * column. */
static void class_back(const struct dtx_flow *f, uint8_t **cls, uint32_t from)
{
	const struct dtx_flow_table *result = f->table + f->plan->ninputs;
	int32_t table, col;

	for (uint32_t i = f->plan->nsteps; i-- > from;) {
		const struct dtx_bind *b = f->bind[i];
		const uint8_t *have = cls[f->plan->ninputs + i];

		for (uint32_t c = 0; b && have && c < result[i].schema->nfields; c++)
			if (dtx_column_needs_through(f, b, c, &table, &col) && cls[table])
				cls[table][col] |= have[c];
		for (size_t k = 0; b && k < b->nuses; k++)
			if (cls[b->table[b->use[k].table]])
				cls[b->table[b->use[k].table]][b->use[k].col] |= b->use[k].cls;
	}
}

/* Lists the columns of the region's table that are read after it; for an input also all it
 * declares. */
static enum dtx_code contract_cols(const struct dtx_region *r, struct dtx_flow *f,
                                   struct dtx_arena *arena, struct dtx_fallback_request *req,
                                   struct dtx_err *err)
{
	const struct dtx_plan *plan = f->plan;
	int32_t t = r->input >= 0 ? r->input : (int32_t)(plan->ninputs + r->first + r->count - 1);
	const struct dtx_schema *s = f->table[t].schema;
	struct dtx_column_needs need, cls;
	bool *live = dtx_arena_zalloc(arena, plan->nsteps + 1u, sizeof(*live));
	struct dtx_fallback_col *col = dtx_arena_zalloc(arena, s->nfields + 1u, sizeof(*col));
	enum dtx_code rc = DTX_OK;

	if (!live || !col)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_column_needs_init(&need, f, arena, err));
	DTX_TRY(dtx_column_needs_init(&cls, f, arena, err));
	for (uint32_t i = 0; i < plan->noutputs; i++)
		dtx_column_needs_all(&need, f, plan->output[i].table, DTX_NEED_BYTES);
	for (uint32_t i = r->first + r->count; i < plan->nsteps; i++)
		live[i] = true;
	dtx_column_needs_back(f, &need, live);
	class_back(f, cls.need, r->first + r->count);
	for (uint32_t c = 0; c < s->nfields; c++) {
		unsigned known_class = (unsigned)dtx_type_class(s->field[c].type.type);

		if (need.need[t][c] || r->input >= 0)
			col[req->nneed++] =
				(struct dtx_fallback_col){ s->field[c].name,
				                           cls.need[t][c] | known_class };
	}
	req->need = col;
out:
	return rc;
}

static enum dtx_code contract(const struct dtx_region *r, struct dtx_graph *g,
                              struct dtx_fallback_request *req, struct dtx_err *err)
{
	struct dtx_errlist findings = DTX_ERRLIST_INIT;
	struct dtx_flow flow = { 0 };
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_column_needs_static(g->plan, &g->flow, &g->arena, &flow, &findings, NULL, err));
	if (!r->whole_plan)
		DTX_TRY(contract_cols(r, &flow, &g->arena, req, err));
out:
	dtx_flow_clear(&flow);
	dtx_errlist_clear(&findings);
	return rc;
}

/* --- the request --- */

static bool any_broken(const struct dtx_regions *all)
{
	for (uint32_t i = 0; i < all->n; i++)
		if (all->item[i].broken)
			return true;
	return false;
}

/* Passes the request to the host. Other answers are decided on before, unless one of them is being
 * replaced. */
static enum dtx_code request(struct dtx_regions *all, struct dtx_fallback_request *req,
                             const struct dtx_host *host, struct dtx_table **out,
                             struct dtx_err *err)
{
	struct dtx_region *r = &all->item[req->index];
	enum dtx_code rc = DTX_OK;

	if (r->broken)
		req->broke = &r->broke;
	if (host->finish_approval && !any_broken(all))
		DTX_TRY(host->finish_approval(host->arg, DTX_FINISH_NEXT, dtx_regions_stand(all),
		                              err));
	rc = host->fallback(host->arg, req, out, err);
	all->failed = rc != DTX_OK;
	if (rc == DTX_OK)
		r->broken = false;
	else if (req->count)
		dtx_err_step(err, (int32_t)r->first,
		             dtx_plan_step_name(&req->plan->step[r->first]));
	if (rc != DTX_OK)
		dtx_err_at(err, req->at);
out:
	return rc;
}

/* Asks for the result of a region of steps. out NULL: the host only looks whether it has an answer,
 * and the tables have no rows. */
static enum dtx_code ask(struct dtx_regions *all, uint32_t index, struct dtx_graph *g,
                         const struct dtx_host *host, struct dtx_table **out, struct dtx_err *err)
{
	struct dtx_region *r = &all->item[index];
	const struct dtx_plan *plan = g->plan;
	const struct dtx_plan_step *last = &plan->step[r->first + r->count - 1];
	struct tables t = { .look = !out };
	json_t *steps = dtx_plan_steps_json(plan, r->first, r->count);
	struct dtx_fallback_request req = {
		.plan = plan,
		.index = index,
		.whole_plan = r->whole_plan,
		.first = r->first,
		.count = r->count,
		.input = -1,
		.trigger = &r->trigger,
		.table = t.item,
		.steps = steps,
		.run = &g->run,
		.expect_json = r->whole_plan ? plan->expect_json : last->expect_json,
		.expect = r->whole_plan ? plan->expect : last->expect,
	};
	enum dtx_code rc = DTX_OK;

	if (!steps)
		DTX_FAIL_MEM(err);
	snprintf(req.at, sizeof(req.at), "%s", plan->step[r->first].at);
	DTX_TRY(contract(r, g, &req, err));
	DTX_TRY(region_tables(r, g, &t, err));
	req.ntables = t.n;
	DTX_TRY(request(all, &req, host, out, err));
out:
	json_decref(steps);
	free_tables(&t);
	return rc;
}

static void note_rows(const struct dtx_region *r, struct dtx_graph *g, const struct dtx_table *main)
{
	struct dtx_opstat *first = g->step[r->first].stat;
	struct dtx_opstat *last = g->step[r->first + r->count - 1].stat;

	if (main)
		atomic_store(&first->rows_in, main->nrows);
	atomic_store(&last->rows_out, r->table->nrows);
}

enum dtx_code dtx_region_run(struct dtx_regions *all, uint32_t index, struct dtx_graph *g,
                             const struct dtx_host *host, struct dtx_err *err)
{
	struct dtx_region *r = &all->item[index];
	uint32_t last = r->first + r->count - 1;
	int32_t result = r->whole_plan ? g->plan->result : (int32_t)(g->plan->ninputs + last);
	struct dtx_table *table = NULL;
	int64_t start = dtx_now_ns();
	enum dtx_code rc = DTX_OK;

	if (!r->table) {
		dtx_runop_begins(g, r->first);
		DTX_TRY(ask(all, index, g, host, &table, err));
		r->table = table;
	}
	note_rows(r, g, g->node[g->plan->step[r->first].table[0]].table);
	atomic_store(&g->step[r->first].stat->ns, dtx_now_ns() - start);
	if (table)
		dtx_runop_ends(g, r->first);
	release_tables(r, g);
	DTX_TRY(dtx_flow_set(&g->flow, result, r->table->schema, err));
	if (g->node[result].uses)
		g->node[result].table = dtx_table_ref(r->table);
	for (uint32_t i = r->first; i <= last; i++)
		g->step[i].done = g->step[i].resolved = true;
out:
	return rc;
}

/* --- inputs --- */

static json_t *describe_raw(const struct dtx_rawgrid *raw)
{
	return json_pack("{ss ss? sI sI sI}", "reader", "snippet", "sheet", raw->sheet, "rows",
	                 (json_int_t)raw->nrows, "columns", (json_int_t)raw->ncols, "cells",
	                 (json_int_t)raw->ncells);
}

/* Where the raw cells are too many for a snippet, or cannot be had, the error that the reader had
 * is the one to report. */
static enum dtx_code too_large(const struct dtx_region *r, struct dtx_err *why, struct dtx_err *err)
{
	char hint[sizeof(why->msg)];

	if (why->code != DTX_E_CELL_LIMIT && why->code != DTX_E_UNSUPPORTED_FORMAT) {
		dtx_err_move(err, why);
		return err->code;
	}
	snprintf(hint, sizeof(hint), "%s", why->msg);
	dtx_err_clear(why);
	dtx_err_copy(err, &r->trigger);
	err->severity = DTX_SEV_ERROR;
	dtx_err_hint(err, "%s%s%.120s", r->trigger.hint, r->trigger.hint[0] ? "; " : "", hint);
	return err->code;
}

static enum dtx_code ask_input(struct dtx_regions *all, uint32_t index, struct dtx_graph *g,
                               const struct dtx_host *host, struct dtx_err *err)
{
	struct dtx_region *r = &all->item[index];
	const struct dtx_plan_input *in = &g->plan->input[r->input];
	struct dtx_err why = DTX_ERR_INIT;
	struct dtx_rawgrid raw;
	struct dtx_schema declared;
	json_t *steps = json_array();
	struct dtx_fallback_request req = {
		.plan = g->plan,
		.index = index,
		.input = r->input,
		.input_name = in->name,
		.raw = &raw,
		.input_json = in->canonical,
		.declared = &declared,
		.trigger = &r->trigger,
		.steps = steps,
		.run = &g->run,
	};
	enum dtx_code rc = DTX_OK;

	dtx_rawgrid_init(&raw);
	snprintf(req.at, sizeof(req.at), "%s", in->at);
	if (!steps)
		DTX_FAIL_MEM(err);
	rc = dtx_reader_raw(g->opts->input[r->input], &in->opts, &raw, &why);
	if (rc != DTX_OK) {
		rc = too_large(r, &why, err);
		goto out;
	}
	DTX_TRY(dtx_column_needs_declared(in, &g->arena, &declared, err));
	DTX_TRY(contract(r, g, &req, err));
	json_decref(r->describe);
	r->describe = describe_raw(&raw);
	if (!r->describe)
		DTX_FAIL_MEM(err);
	DTX_TRY(request(all, &req, host, &r->table, err));
out:
	json_decref(steps);
	dtx_rawgrid_clear(&raw);
	return rc;
}

enum dtx_code dtx_regions_read(struct dtx_regions *r, struct dtx_graph *g,
                               const struct dtx_host *host, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	for (uint32_t i = 0; i < r->n; i++) {
		struct dtx_region *one = &r->item[i];

		if (one->input < 0)
			continue;
		if (!one->table)
			DTX_TRY(ask_input(r, i, g, host, err));
		DTX_TRY(dtx_flow_set(&g->flow, one->input, one->table->schema, err));
		if (g->node[one->input].uses)
			g->node[one->input].table = dtx_table_ref(one->table);
	}
out:
	return rc;
}

enum dtx_code dtx_regions_look(struct dtx_regions *r, struct dtx_graph *g,
                               const struct dtx_host *host, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	for (uint32_t i = 0; i < r->n && rc != DTX_E_NO_MEMORY; i++) {
		dtx_err_clear(err);
		if (r->item[i].input >= 0)
			rc = ask_input(r, i, g, host, err);
		else
			rc = ask(r, i, g, host, NULL, err);
	}
	if (rc == DTX_E_NO_MEMORY)
		return rc;
	dtx_err_clear(err);
	return DTX_OK;
}
