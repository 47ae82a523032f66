/* Facts of a finished run: counts, schemas, regions, and which warnings of a reader matter for
 * it. */
#include "core/plan/exec/stats/run_stats.h"

#include <string.h>

#include "core/base/memory/mem.h"
#include "core/plan/exec/outputs.h"
#include "core/plan/pipe/graph.h"

/* Which warnings of an input matter for the result: those about a column that the plan names. */

static uint32_t width(const struct dtx_graph *g, uint32_t table)
{
	const struct dtx_schema *s = g->flow.table[table].schema;

	return s ? s->nfields : 0;
}

/* Marks the columns of its tables that step i, or a step after it, names. */
static void back_step(const struct dtx_graph *g, uint32_t i, uint8_t **named)
{
	const struct dtx_bind *b = g->flow.bind[i];
	uint32_t result = g->plan->ninputs + i;
	int32_t table, col;

	for (unsigned k = 0; b && k < b->ntables; k++)
		for (uint32_t c = 0; b->table[k] >= 0 && c < width(g, (uint32_t)b->table[k]); c++)
			if (b->named[k] && c < b->in[k]->nfields && b->named[k][c])
				named[b->table[k]][c] = 1;
	for (uint32_t c = 0; b && c < width(g, result); c++) {
		if (!named[result][c])
			continue;
		if (dtx_column_needs_through(&g->flow, b, c, &table, &col) &&
		    (uint32_t)col < width(g, (uint32_t)table))
			named[table][col] = 1;
		/* the name is that of the input's column, even where a step changes the values */
		for (unsigned k = 0; k < b->ntables; k++) {
			col = dtx_schema_find(b->in[k],
			                      g->flow.table[result].schema->field[c].name);
			if (col >= 0 && b->table[k] >= 0 &&
			    (uint32_t)col < width(g, (uint32_t)b->table[k]))
				named[b->table[k]][col] = 1;
		}
	}
}

/* For each table and column: whether some step names it, also under a later name. In `arena`; NULL:
 * out of memory. */
static uint8_t **bearing_named(const struct dtx_graph *g, struct dtx_arena *arena)
{
	uint32_t n = g->plan->ninputs + g->plan->nsteps;
	uint8_t **named = dtx_arena_zalloc(arena, n, sizeof(*named));

	for (uint32_t t = 0; t < n; t++) {
		if (named)
			named[t] = dtx_arena_zalloc(arena, width(g, t) + 1u, 1);
		if (!named || !named[t])
			return NULL;
	}
	for (uint32_t i = g->plan->nsteps; i-- > 0;)
		back_step(g, i, named);
	return named;
}

static bool header_bears(const struct dtx_graph *g, uint32_t input, const uint8_t *named)
{
	for (uint32_t c = 0; c < width(g, input); c++)
		if (named[c])
			return false;
	for (uint32_t i = 0; i < g->plan->noutputs; i++) {
		const struct dtx_writer_class *cls = dtx_outputs_class(&g->plan->output[i]);

		if (cls && cls->keys)
			return true;
	}
	return g->plan->nsteps > 0;
}

static bool column_bears(const struct dtx_graph *g, uint32_t input, const uint8_t *named,
                         const char *column)
{
	const struct dtx_schema *s = g->flow.table[input].schema;
	int32_t col = s ? dtx_schema_find(s, column) : -1;
	uint8_t need;

	if (col < 0 || !g->push.need || !g->push.need[input])
		return true;
	need = g->push.need[input][col];
	return need == DTX_NEED_VALUE || (need != DTX_NEED_SKIP && named[col]);
}

/* Whether a warning matters. An assumed header matters to plans that name one of its columns, and
 * where each row is written with the names; a column of mixed types where a step names it, or where
 * values are written and not only their text. Every other warning matters. */
static bool dtx_bears(const struct dtx_graph *g, uint32_t input, const uint8_t *named,
                      const struct dtx_err *w)
{
	if (w->code == DTX_W_HEADER_ASSUMED)
		return header_bears(g, input, named);
	if (w->code == DTX_W_MIXED_TYPES)
		return column_bears(g, input, named, w->column);
	return true;
}

#define REJECTS_MAX ((size_t)1 << 30)

static const char *kind_name(const struct dtx_graph *g, uint32_t s)
{
	static const char *const names[] = {
		[DTX_KIND_MAP] = "map", [DTX_KIND_SINK] = "sink", [DTX_KIND_WHOLE] = "whole"
	};

	if (g->step[s].region >= 0)
		return "snippet";
	if (!g->flow.bind[s])
		return "";
	/* the op streams, but it collects a table first */
	if (g->plan->step[s].op->flags & DTX_OP_BUILD && g->plan->step[s].ntables > 1)
		return "sink";
	return names[g->flow.bind[s]->kind];
}

static void copy_drops(struct dtx_opstat *st, struct dtx_exec_step *out)
{
	for (unsigned i = 0; i < DTX_STAT_REASONS; i++) {
		const char *reason = atomic_load(&st->drop[i].reason);

		if (reason)
			out->drop[out->ndrops++] =
				(struct dtx_exec_drop){ reason, atomic_load(&st->drop[i].n) };
	}
	/* sorted, as the order in which workers dropped rows is chance */
	for (unsigned i = 0; i < out->ndrops; i++)
		for (unsigned k = i + 1; k < out->ndrops; k++)
			if (strcmp(out->drop[k].reason, out->drop[i].reason) < 0) {
				struct dtx_exec_drop d = out->drop[i];

				out->drop[i] = out->drop[k];
				out->drop[k] = d;
			}
}

/* Warns of values that became null or rows that were dropped without the plan asking for it. */
static enum dtx_code warn_counts(const struct dtx_graph *g, uint32_t s, struct dtx_exec_result *r,
                                 struct dtx_err *err)
{
	static const struct {
		const char *reason, *one, *many;
		enum dtx_code code;
		bool filter; /* only for filters */
		bool all;    /* only if it is so for all rows */
	} notes[] = {
		{ "div_zero", "division by zero gave null", "divisions by zero gave null",
		  DTX_W_DIV_ZERO, false, false },
		{ "not_finite", "result is not a finite number and became null",
		  "results are not finite numbers and became null", DTX_W_NOT_FINITE, false,
		  false },
		{ "offset", "text has an offset from UTC: its time was converted to UTC",
		  "texts have an offset from UTC: their times were converted to UTC",
		  DTX_W_RESULT_NOTE, false, false },
		{ "lookup_missing", "row, the only one, has no match in the other table",
		  "rows have no match in the other table: that is every row", DTX_W_RESULT_NOTE,
		  false, true },
		{ "null", "row was dropped where the condition is null",
		  "rows were dropped where the condition is null", DTX_W_NULL_DROPPED, true,
		  false },
	};
	const struct dtx_exec_step *x = &r->step[s];
	const struct dtx_plan_step *st = &g->plan->step[s];
	enum dtx_code rc = DTX_OK;

	for (uint32_t k = 0; k < x->ndrops * DTX_COUNT(notes); k++) {
		const struct dtx_exec_drop *d = &x->drop[k / DTX_COUNT(notes)];
		size_t n = k % DTX_COUNT(notes);
		struct dtx_err w = DTX_ERR_INIT;

		if (strcmp(d->reason, notes[n].reason) != 0 ||
		    (notes[n].filter && !(st->op->flags & DTX_OP_NARROWS)) ||
		    (notes[n].all && (x->stopped_early || d->n < x->rows_out)))
			continue;
		dtx_err_set(&w, notes[n].code, __FILE__, __LINE__, "%s%lld %s",
		            x->stopped_early ? "at least " : "", (long long)d->n,
		            d->n == 1 ? notes[n].one : notes[n].many);
		if (notes[n].code == DTX_W_NOT_FINITE)
			dtx_err_hint(&w, "test the values first, as in if(x > 0, log(x), null)");
		w.severity = DTX_SEV_WARNING;
		w.count_open = x->stopped_early;
		w.run_time = true;
		w.count = d->n;
		dtx_err_at(&w, st->at);
		dtx_err_step(&w, (int32_t)s, dtx_plan_step_name(st));
		if (!dtx_errlist_take(&r->warnings, &w))
			DTX_FAIL_MEM(err);
	}
out:
	return rc;
}

enum dtx_code dtx_run_stats_step(const struct dtx_graph *g, uint32_t s, struct dtx_exec_result *r,
                                 struct dtx_err *err)
{
	struct dtx_exec_step *out = &r->step[s];
	const struct dtx_schema *schema = g->flow.table[g->plan->ninputs + s].schema;
	struct dtx_opstat *st = g->step[s].stat;
	enum dtx_code rc = DTX_OK;

	out->kind = kind_name(g, s);
	out->by_snippet = g->step[s].region >= 0;
	out->stopped_early = g->step[s].stopped;
	out->rows_in = atomic_load(&st->rows_in);
	out->rows_out = atomic_load(&st->rows_out);
	out->ns = atomic_load(&st->ns);
	out->bytes = atomic_load(&st->bytes);
	out->spilled = atomic_load(&st->spilled.bytes);
	out->spilled_rows = atomic_load(&st->spilled.rows);
	copy_drops(st, out);
	memcpy(out->table_hash, st->table_hash, sizeof(out->table_hash));
	if (r->phase == DTX_PHASE_RUN && g->plan->step[s].op)
		DTX_TRY(warn_counts(g, s, r, err));
	if (!schema)
		goto out;
	out->schema = dtx_schema_copy(&r->arena, schema);
	if (!out->schema)
		DTX_FAIL_MEM(err);
out:
	return rc;
}

/* Adds to the description what became of the rows that were read; it goes into the record. */
static bool put_ledger(const struct dtx_read_stats *s, json_t *describe)
{
	json_t *dropped = json_object(), *o = json_pack("{sI sI}", "read", (json_int_t)s->rows_read,
	                                                "out", (json_int_t)s->rows_out);
	bool ok = o && dropped;

	for (int i = 0; ok && i < DTX_DROP_COUNT; i++)
		if (s->dropped[i])
			ok = dtx_json_set(dropped, dtx_drop_name[i], json_integer(s->dropped[i]));
	ok = ok && dtx_json_set(o, "dropped", json_incref(dropped));
	ok = ok && (!s->stopped_early || dtx_json_set(o, "stopped_early", json_true()));
	ok = ok && dtx_json_set(describe, "ledger", json_incref(o));
	json_decref(dropped);
	json_decref(o);
	return ok;
}

static enum dtx_code put_rejects(struct dtx_reader *reader, struct dtx_exec_input *out,
                                 struct dtx_err *err)
{
	struct dtx_buf text = DTX_BUF_INIT(REJECTS_MAX);
	enum dtx_code rc = DTX_OK;

	if (!reader->cls->rejects || !reader->stats.dropped[DTX_DROP_REJECT])
		goto out;
	DTX_TRY(reader->cls->rejects(reader, &text, err));
	out->nrejects = text.len;
	out->rejects = dtx_buf_steal(&text);
out:
	dtx_buf_clear(&text);
	return rc;
}

const char *dtx_run_stats_input_at(const struct dtx_plan *plan, uint32_t input)
{
	return json_object_get(plan->json, "inputs") ? plan->input[input].at : NULL;
}

/* err->declared may be only the start of a long name. */
static bool is_declared_as(const struct dtx_err *err, const char *name)
{
	char cut[sizeof(err->declared)];

	dtx_str_copy(cut, sizeof(cut), dtx_str_of(name));
	return strcmp(cut, err->declared) == 0;
}

void dtx_run_stats_type_at(const struct dtx_plan *plan, uint32_t input, struct dtx_err *err)
{
	const struct dtx_plan_input *in = &plan->input[input];
	const json_t *all = json_object_get(plan->json, "inputs"), *types;
	const struct dtx_read_type *t = in->opts.types;
	size_t i = 0;

	types = json_object_get(json_is_array(all) ? json_array_get(all, input) : all, "types");
	while (i < in->opts.ntypes && !is_declared_as(err, t[i].name))
		i++;
	if (i == in->opts.ntypes)
		return;
	snprintf(err->at, sizeof(err->at), "%s/types", in->at);
	if (json_is_array(types))
		dtx_json_pointer_index(err->at, sizeof(err->at), i);
	else if (json_object_get(types, t[i].name))
		dtx_json_pointer_add(err->at, sizeof(err->at), t[i].name);
	err->step = err->span[0] = err->span[1] = -1;
	err->op[0] = '\0';
}

/* named: for this input, of bearing_named. */
static enum dtx_code input_facts(const struct dtx_graph *g, uint32_t i, const uint8_t *named,
                                 struct dtx_reader *reader, const struct dtx_schema *schema,
                                 struct dtx_exec_result *r, struct dtx_err *err)
{
	struct dtx_exec_input *out = &r->input[i];
	enum dtx_code rc = DTX_OK;

	out->reader = dtx_arena_strdup(&r->arena, reader->cls->name); /* the class may be its own */
	out->places = reader->cls->places;
	out->read = g->was_read[i];
	out->stats = reader->stats;
	out->schema = dtx_schema_copy(&r->arena, schema);
	out->need = dtx_arena_zalloc(&r->arena, schema->nfields + 1u, 1);
	if (!out->reader || !out->schema || !out->need)
		DTX_FAIL_MEM(err);
	if (g->push.need && g->push.need[i])
		memcpy(out->need, g->push.need[i], schema->nfields);
	DTX_ASSERT(!out->read || dtx_read_stats_add_up(&out->stats), err);
	DTX_TRY(put_rejects(reader, out, err));
	if (reader->cls->describe)
		out->describe = reader->cls->describe(reader);
	if (out->read && out->describe && !put_ledger(&out->stats, out->describe))
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_reader_misfits(reader, err));
	for (size_t k = 0; k < reader->diags.n; k++) {
		struct dtx_err w = DTX_ERR_INIT;

		dtx_err_copy(&w, &reader->diags.item[k]);
		w.severity = DTX_SEV_WARNING;
		dtx_err_at(&w, dtx_run_stats_input_at(g->plan, i));
		if (!w.input[0])
			dtx_str_copy(w.input, sizeof(w.input), dtx_str_of(g->plan->input[i].name));
		w.aside = !dtx_bears(g, i, named, &w);
		if (!dtx_errlist_take(&r->warnings, &w))
			DTX_FAIL_MEM(err);
	}
out:
	return rc;
}

/* Facts of an input whose table a snippet made: what the reader found before it gave up is not part
 * of them. */
static enum dtx_code by_snippet_facts(const struct dtx_region *r, struct dtx_exec_result *result,
                                      struct dtx_err *err)
{
	struct dtx_exec_input *out = &result->input[r->input];
	enum dtx_code rc = DTX_OK;

	out->reader = "snippet";
	if (!r->table)
		goto out;
	out->read = true;
	out->stats = (struct dtx_read_stats){ .rows_read = r->table->nrows,
		                              .rows_out = r->table->nrows };
	out->describe = json_incref(r->describe);
	out->schema = dtx_schema_copy(&result->arena, r->table->schema);
	if (!out->schema)
		DTX_FAIL_MEM(err);
out:
	return rc;
}

static enum dtx_code region_facts(const struct dtx_regions *regions, struct dtx_exec_result *r,
                                  struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	r->region = dtx_arena_zalloc(&r->arena, regions->n + 1u, sizeof(*r->region));
	if (!r->region)
		DTX_FAIL_MEM(err);
	for (uint32_t i = 0; i < regions->n; i++) {
		const struct dtx_region *from = &regions->item[i];

		r->region[i] = (struct dtx_exec_region){
			.first = from->first,
			.count = from->count,
			.input = from->input,
			.is_static = from->is_static,
			.whole_plan = from->whole_plan,
			.trigger = DTX_ERR_INIT,
		};
		dtx_err_copy(&r->region[i].trigger, &from->trigger);
		r->nregions = i + 1;
	}
out:
	return rc;
}

enum dtx_code dtx_run_stats(const struct dtx_graph *g, const struct dtx_regions *regions,
                            struct dtx_reader **reader, const struct dtx_schema **schema,
                            struct dtx_exec_result *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint8_t **named = bearing_named(g, &r->arena);

	if (!named)
		DTX_FAIL_MEM(err);
	for (uint32_t i = 0; i < g->plan->ninputs; i++) {
		const struct dtx_region *by_snippet = dtx_regions_input(regions, i);

		if (by_snippet)
			DTX_TRY(by_snippet_facts(by_snippet, r, err));
		else if (reader[i])
			DTX_TRY(input_facts(g, i, named[i], reader[i], schema[i], r, err));
	}
	for (uint32_t i = 0; i < g->plan->nsteps; i++)
		DTX_TRY(dtx_run_stats_step(g, i, r, err));
	DTX_TRY(region_facts(regions, r, err));
	if (r->phase == DTX_PHASE_BOUND)
		DTX_TRY(dtx_run_stats_outputs(g, r, err));
	DTX_TRY(dtx_lineage(g, r, err));
	if (r->phase == DTX_PHASE_BOUND || g->opts->explain)
		DTX_TRY(dtx_run_stats_physical(g, r, err));
out:
	return rc;
}

enum dtx_code dtx_exec_result_new(const struct dtx_plan *plan, struct dtx_exec_result **out,
                                  struct dtx_err *err)
{
	struct dtx_exec_result *r = dtx_mem_zalloc(1, sizeof(*r));
	enum dtx_code rc = DTX_OK;

	*out = r;
	if (!r)
		DTX_FAIL_MEM(err);
	r->ninputs = plan->ninputs;
	r->nsteps = plan->nsteps;
	r->input = dtx_arena_zalloc(&r->arena, plan->ninputs + 1u, sizeof(*r->input));
	r->step = dtx_arena_zalloc(&r->arena, plan->nsteps + 1u, sizeof(*r->step));
	r->output = dtx_arena_zalloc(&r->arena, plan->noutputs + 1u, sizeof(*r->output));
	r->checks = json_array();
	if (!r->input || !r->step || !r->output || !r->checks)
		DTX_FAIL_MEM(err);
	r->noutputs = plan->noutputs;
out:
	return rc;
}

void dtx_exec_free(struct dtx_exec_result *r)
{
	if (!r)
		return;
	for (uint32_t i = 0; i < r->ninputs && r->input; i++) {
		json_decref(r->input[i].describe);
		dtx_mem_free(r->input[i].rejects);
	}
	for (uint32_t i = 0; i < r->noutputs; i++)
		dtx_outputs_clear(&r->output[i]);
	for (uint32_t i = 0; i < r->nregions; i++)
		dtx_err_clear(&r->region[i].trigger);
	dtx_errlist_clear(&r->warnings);
	json_decref(r->checks);
	dtx_arena_clear(&r->arena);
	dtx_mem_free(r);
}
