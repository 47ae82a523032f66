/* Where each result column comes from: source columns, formulas composed down to them. */
#include "core/base/mem.h"
#include "core/plan/facts.h"

#define COMPOSED_MAX 2000
#define SOURCES_MAX  20000 /* of one column: a union of wide tables stops here */

struct source {
	int32_t input; /* -1: a snippet */
	int32_t col;
};
/* What is known of one column of one table. */
struct origin {
	struct source *source;
	size_t nsources, cap;
	const struct dtx_expr *composed; /* NULL: the column is its own leaf */
	const char *formula;             /* of the last step that computed it; NULL */
	const char *by;                  /* keys of an aggregation; NULL */
	bool made, aggregated, snippet;
};
struct lineage {
	const struct dtx_graph *g;
	struct dtx_arena arena;
	struct origin **memo; /* per table, per column; NULL: not looked at */
	bool failed;
};

static struct origin *origin_of(struct lineage *l, int32_t t, int32_t c);

static void add_source(struct lineage *l, struct origin *o, struct source s)
{
	struct source *fresh;

	for (size_t i = 0; i < o->nsources; i++)
		if (o->source[i].input == s.input && o->source[i].col == s.col)
			return;
	if (o->nsources == SOURCES_MAX)
		return;
	if (o->nsources == o->cap) {
		o->cap = o->cap * 2 + 4;
		fresh = dtx_arena_alloc(&l->arena, o->cap, sizeof(*fresh));
		if (!fresh) {
			l->failed = true;
			o->cap = o->nsources;
			return;
		}
		if (o->nsources)
			memcpy(fresh, o->source, o->nsources * sizeof(*fresh));
		o->source = fresh;
	}
	o->source[o->nsources++] = s;
}

static void add_sources(struct lineage *l, struct origin *o, const struct origin *from)
{
	for (size_t i = 0; from && i < from->nsources; i++)
		add_source(l, o, from->source[i]);
	o->snippet |= from && from->snippet;
}

/* The name of a source column; qualified when several inputs have one of that name. */
static const char *leaf_name(struct lineage *l, int32_t input, const char *name)
{
	const struct dtx_plan *p = l->g->plan;
	unsigned have = 0;

	for (uint32_t i = 0; p->ninputs > 1 && i < p->ninputs; i++)
		have += l->g->flow.table[i].schema &&
		        dtx_schema_find(l->g->flow.table[i].schema, name) >= 0;
	if (have < 2)
		return name;
	return dtx_arena_printf(&l->arena, "%s.%s", p->input[input].name, name);
}

struct replace {
	struct lineage *l;
	const struct dtx_bind *b;
	uint32_t made;
	const char *by; /* keys of an aggregate among the definitions */
};

/* What a name in a formula stands for: a column of the input, or one made by the same step before
 * (derive sees its own columns). */
static const struct dtx_expr *definition(void *arg, const char *name)
{
	struct replace *r = arg;
	struct origin *o = NULL;
	int32_t out = dtx_bind_out(r->b, name), in;

	if (out >= 0 && (uint32_t)out < r->made && r->b->col[out].from_table < 0)
		o = origin_of(r->l, (int32_t)r->l->g->plan->ninputs + r->b->step, out);
	for (unsigned t = 0; !o && t < r->b->ntables; t++) {
		in = dtx_schema_find(r->b->in[t], name);
		if (in >= 0)
			o = origin_of(r->l, r->b->table[t], in);
	}
	if (o && o->by)
		r->by = o->by;
	return o ? o->composed : NULL;
}

/* A window's aggregate is over its partition; rows of a group have its keys, the columns that the
 * step only moves. */
static const char *keys_of(struct lineage *l, const struct dtx_bind *b)
{
	const json_t *by = json_object_get(l->g->plan->step[b->step].canonical, "by"), *one;
	bool window = dtx_str_in_list("derive,window", b->op);
	const char *keys = NULL, *key;

	for (size_t i = 0; i < (window ? json_array_size(by) : b->ncols); i++) {
		one = json_array_get(by, i);
		key = window ? json_string_value(one) : b->col[i].field.name;
		if (key && (window || b->col[i].from_table >= 0))
			keys = keys ? dtx_arena_printf(&l->arena, "%s, %s", keys, key) : key;
	}
	return keys;
}

static void made_origin(struct lineage *l, const struct dtx_bind *b, uint32_t c, struct origin *o)
{
	const struct dtx_bind_col *col = &b->col[c];
	struct replace r = { l, b, c, NULL };

	o->made = true;
	for (size_t i = 0; i < b->nuses; i++)
		if (b->use[i].out == (int32_t)c)
			add_sources(
				l, o,
				origin_of(l, b->table[b->use[i].table], (int32_t)b->use[i].col));
	if (!col->formula)
		return;
	o->formula = col->formula_text;
	o->aggregated = dtx_expr_has_aggregate(col->formula);
	if (o->aggregated)
		o->by = keys_of(l, b);
	o->composed = dtx_expr_replace(&l->arena, col->formula, definition, &r);
	/* aggregates over other rows each: no line can say both */
	if (o->aggregated && r.by && dtx_str_in_list("derive,window", b->op) &&
	    (!o->by || strcmp(o->by, r.by) != 0))
		o->composed = col->formula;
	else if (!o->by)
		o->by = r.by;
	l->failed |= !o->composed;
}

/* The key of an outer join is moved, and filled from the other side as well. */
static void moved_origin(struct lineage *l, const struct dtx_bind *b, uint32_t c, struct origin *o)
{
	const struct dtx_bind_col *col = &b->col[c];
	const struct origin *from = origin_of(l, b->table[col->from_table], col->from_col);

	if (from)
		*o = *from;
	o->cap = o->nsources; /* the list is that of `from` */
	for (size_t i = 0; i < b->nuses; i++) {
		const struct dtx_bind_use *u = &b->use[i];

		if (u->out != (int32_t)c ||
		    ((int32_t)u->table == col->from_table && (int32_t)u->col == col->from_col))
			continue;
		add_sources(l, o, origin_of(l, b->table[u->table], (int32_t)u->col));
		o->made = true;
	}
}

/* A column that only the rows brought: it has the one value column as it is, or is made of all. */
static void open_origin(struct lineage *l, const struct dtx_bind *b, uint32_t step,
                        struct origin *o)
{
	const struct dtx_plan_step *st = &l->g->plan->step[step];
	const struct origin *from = NULL;
	size_t n = 0, i;

	for (i = 0; b && i < b->nuses; i++) {
		if (b->use[i].out != DTX_USE_OPEN)
			continue;
		from = origin_of(l, b->table[b->use[i].table], (int32_t)b->use[i].col);
		add_sources(l, o, from);
		n += from != NULL;
	}
	if (n == 1 && !json_object_get(st->canonical, "agg"))
		*o = *from;
	o->made = true;
}

static void input_origin(struct lineage *l, int32_t t, int32_t c, struct origin *o)
{
	const char *name = leaf_name(l, t, l->g->flow.table[t].schema->field[c].name);

	add_source(l, o, (struct source){ t, c });
	if (name)
		o->composed = dtx_expr_column(&l->arena, name);
	l->failed |= !name || !o->composed;
}

static struct origin *origin_of(struct lineage *l, int32_t t, int32_t c)
{
	const struct dtx_graph *g = l->g;
	const struct dtx_schema *s = g->flow.table[t].schema;
	uint32_t step = (uint32_t)t - g->plan->ninputs;
	struct origin *o;

	if (!s || c < 0 || (uint32_t)c >= s->nfields)
		return NULL;
	if (!l->memo[t])
		l->memo[t] = dtx_arena_zalloc(&l->arena, s->nfields + 1u, sizeof(*l->memo[t]));
	if (!l->memo[t]) {
		l->failed = true;
		return NULL;
	}
	o = &l->memo[t][c];
	if (o->nsources || o->made || o->snippet)
		return o;
	if ((uint32_t)t < g->plan->ninputs && g->rescued[t]) {
		o->snippet = true;
	} else if ((uint32_t)t < g->plan->ninputs) {
		input_origin(l, t, c, o);
	} else if (g->step[step].region >= 0) {
		o->snippet = true;
	} else if (g->flow.bind[step] && (uint32_t)c < g->flow.bind[step]->ncols &&
	           g->flow.bind[step]->col[c].from_table >= 0) {
		moved_origin(l, g->flow.bind[step], (uint32_t)c, o);
	} else if (g->flow.bind[step] && (uint32_t)c < g->flow.bind[step]->ncols) {
		made_origin(l, g->flow.bind[step], (uint32_t)c, o);
	} else {
		open_origin(l, g->flow.bind[step], step, o);
	}
	return o;
}

/* --- rows of the result --- */

static enum dtx_code add_row(struct dtx_exec_result *r, const struct dtx_exec_lineage *row,
                             struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t cap = r->cap_lineage ? r->cap_lineage * 2 : 32;
	struct dtx_exec_lineage *fresh;

	if (r->nlineage == r->cap_lineage) {
		fresh = dtx_arena_alloc(&r->arena, cap, sizeof(*fresh));
		if (!fresh)
			DTX_FAIL_MEM(err);
		if (r->nlineage)
			memcpy(fresh, r->lineage, r->nlineage * sizeof(*fresh));
		r->lineage = fresh;
		r->cap_lineage = cap;
	}
	r->lineage[r->nlineage++] = *row;
out:
	return rc;
}

/* "a / b, by region"; the formula as written when the composed one grows too long. */
static const char *composed_text(struct lineage *l, const struct origin *o,
                                 struct dtx_exec_result *r)
{
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	const char *out;

	(void)l;
	dtx_expr_print(o->composed, &text);
	if (text.len > COMPOSED_MAX) {
		dtx_buf_reset(&text);
		dtx_buf_add(&text, o->formula);
	}
	if (o->by)
		dtx_buf_printf(&text, ", by %s", o->by);
	out = dtx_arena_strdup(&r->arena, dtx_buf_text(&text));
	dtx_buf_clear(&text);
	return out;
}

static const char *subtype_of(const struct origin *o)
{
	if (o->aggregated)
		return "AGGREGATION";
	return o->made ? "TRANSFORMATION" : "IDENTITY";
}

static const char *source_name(const struct lineage *l, struct source s, struct dtx_exec_result *r)
{
	return dtx_arena_strdup(&r->arena, l->g->flow.table[s.input].schema->field[s.col].name);
}

static enum dtx_code column_rows(struct lineage *l, struct dtx_exec_result *r, uint32_t output,
                                 uint32_t c, struct dtx_err *err)
{
	const struct origin *o = origin_of(l, l->g->plan->output[output].table, (int32_t)c);
	struct dtx_exec_lineage row = { .output = output,
		                        .input = -1,
		                        .direct = true,
		                        .out_col = r->output[output].schema->field[c].name };
	enum dtx_code rc = DTX_OK;

	if (!o || l->failed)
		DTX_FAIL_MEM(err);
	row.subtype = subtype_of(o);
	row.cls = !o->snippet ? "exact" : o->made ? "exact after the snippet" : "snippet";
	if (o->formula) {
		row.formula = dtx_arena_strdup(&r->arena, o->formula);
		row.composed = composed_text(l, o, r);
		if (!row.formula || !row.composed)
			DTX_FAIL_MEM(err);
	}
	if (!o->nsources)
		DTX_TRY(add_row(r, &row, err));
	for (size_t i = 0; i < o->nsources; i++) {
		row.input = o->source[i].input;
		row.in_col = source_name(l, o->source[i], r);
		if (!row.in_col)
			DTX_FAIL_MEM(err);
		DTX_TRY(add_row(r, &row, err));
	}
out:
	return rc;
}

static const char *rows_subtype(const char *op)
{
	static const char *const map[][2] = {
		{ "join", "JOIN" },           { "group_by", "GROUP_BY" },
		{ "distinct", "GROUP_BY" },   { "sort", "SORT" },
		{ "window", "WINDOW" },       { "rank", "WINDOW" },
		{ "cumulative", "WINDOW" },   { "rolling", "WINDOW" },
		{ "lag_lead", "WINDOW" },     { "percent_of", "WINDOW" },
		{ "pivot_wider", "GROUP_BY" }
	};

	for (size_t i = 0; i < DTX_COUNT(map); i++)
		if (strcmp(map[i][0], op) == 0)
			return map[i][1];
	return "FILTER";
}

/* Columns that decide which rows the output has, from the steps above it. */
static enum dtx_code row_rows(struct lineage *l, struct dtx_exec_result *r, uint32_t output,
                              int32_t t, bool *seen, struct dtx_err *err)
{
	const struct dtx_plan *p = l->g->plan;
	const struct dtx_plan_step *st = &p->step[(uint32_t)t - p->ninputs];
	const struct dtx_bind *b;
	enum dtx_code rc = DTX_OK;

	if ((uint32_t)t < p->ninputs || seen[(uint32_t)t - p->ninputs])
		goto out;
	seen[(uint32_t)t - p->ninputs] = true;
	for (uint32_t k = 0; k < st->ntables; k++)
		DTX_TRY(row_rows(l, r, output, st->table[k], seen, err));
	b = l->g->flow.bind[(uint32_t)t - p->ninputs];
	for (size_t i = 0; b && i < b->nuses; i++) {
		const struct origin *o;

		if (b->use[i].out != DTX_USE_ROWS)
			continue;
		o = origin_of(l, b->table[b->use[i].table], (int32_t)b->use[i].col);
		for (size_t k = 0; o && k < o->nsources; k++) {
			struct dtx_exec_lineage row = {
				.output = output,
				.input = o->source[k].input,
				.in_col = source_name(l, o->source[k], r),
				.subtype = rows_subtype(st->name),
				.cls = "exact",
			};

			if (!row.in_col)
				DTX_FAIL_MEM(err);
			DTX_TRY(add_row(r, &row, err));
		}
	}
out:
	return rc;
}

enum dtx_code dtx_lineage(const struct dtx_graph *g, struct dtx_exec_result *r, struct dtx_err *err)
{
	const struct dtx_plan *p = g->plan;
	struct lineage l = { .g = g };
	bool *seen = NULL;
	enum dtx_code rc = DTX_OK;

	l.memo = dtx_arena_zalloc(&l.arena, p->ninputs + p->nsteps + 1u, sizeof(*l.memo));
	if (!l.memo)
		DTX_FAIL_MEM(err);
	for (uint32_t i = 0; i < p->noutputs; i++) {
		if (!r->output[i].schema)
			continue;
		for (uint32_t c = 0; c < r->output[i].schema->nfields; c++)
			DTX_TRY(column_rows(&l, r, i, c, err));
		seen = dtx_arena_zalloc(&l.arena, p->nsteps + 1u, sizeof(*seen));
		if (!seen)
			DTX_FAIL_MEM(err);
		DTX_TRY(row_rows(&l, r, i, p->output[i].table, seen, err));
	}
out:
	dtx_arena_clear(&l.arena);
	return rc;
}
