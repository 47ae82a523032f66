/* Where each result column comes from: its source columns and its formula in terms of these.
 *
 * It works on the bound plan, without data. For each output column it goes back through the steps.
 * Formulas of earlier steps are put into later ones, so that "a / b" of a result shows the columns
 * of the inputs. */
#include "core/base/memory/mem.h"
#include "core/expr/parse/formula_parts.h"
#include "core/plan/exec/stats/run_stats.h"

#define COMPOSED_MAX 2000
/* Limit for the rows of a record beyond one per result column, because each column of a wide table
 * may depend on all columns of another one. After that the record says that sources are left
 * out. */
#define SOURCES_MAX 100000

struct source {
	int32_t input; /* -1: a snippet */
	int32_t col;
};
/* What is known about one column of one table. */
struct origin {
	struct source *source;
	size_t nsources, cap;
	const struct dtx_expr *composed; /* the formula in terms of source columns; NULL: the column
	                                  * is a source itself */
	const char *formula; /* formula of the last step that computed it, as written; NULL: none */
	const char *by;      /* keys of an aggregate; NULL: none */
	const char *rows;    /* the condition by which a pivot chose its rows; NULL: none */
	bool made, aggregated, snippet;
	bool cut; /* there are more sources than SOURCES_MAX */
};
/* What a step uses, ordered by the output column that it is for: for column c these are
 * use[at[first[c]]] ... use[at[first[c + 1] - 1]]. c = ncols stands for the columns that are known
 * only at run time. */
struct uses {
	uint32_t *first, *at;
	struct origin *open; /* the origin of each column that is known only at run time; NULL: not
	                      * worked out yet */
};
struct lineage {
	const struct dtx_graph *g;
	struct dtx_arena arena;
	struct origin **memo; /* [table][column]; NULL: not worked out yet */
	struct uses *uses;    /* per step; `first` NULL: not worked out yet */
	size_t *base;   /* per input: index of its first column among the columns of all inputs */
	uint32_t *seen; /* per input column: the last turn in which it was added */
	uint32_t turn;
	size_t spare;    /* rows that the record may still get */
	size_t ncut;     /* number of columns whose sources are not all named */
	const char *cut; /* name of the first of them */
	const struct dtx_bind
		*keys_of; /* the step for which `keys` was made: all its formulas share it */
	const char *keys;
	size_t nany; /* number of sources of columns that depend on any column */
	bool failed;
};

static struct origin *origin_of(struct lineage *l, int32_t t, int32_t c);

static uint32_t *seen_at(struct lineage *l, struct source s)
{
	return &l->seen[l->base[s.input] + (uint32_t)s.col];
}

/* Adds a source unless it was already added in this turn. */
static void add_source(struct lineage *l, struct origin *o, struct source s)
{
	struct source *fresh;
	size_t cap = o->cap * 2 + 4;

	if (*seen_at(l, s) == l->turn)
		return;
	o->cut |= o->nsources >= SOURCES_MAX;
	if (o->nsources >= SOURCES_MAX)
		return;
	if (o->nsources == o->cap) {
		fresh = dtx_arena_alloc(&l->arena, cap, sizeof(*fresh));
		l->failed |= !fresh;
		if (!fresh)
			return;
		if (o->nsources)
			memcpy(fresh, o->source, o->nsources * sizeof(*fresh));
		o->source = fresh;
		o->cap = cap;
	}
	*seen_at(l, s) = l->turn;
	o->source[o->nsources++] = s;
}

static size_t use_column(const struct dtx_bind *b, size_t use)
{
	return b->use[use].out == DTX_USE_OPEN ? b->ncols : (size_t)b->use[use].out;
}

/* Sorts the uses by column. A counting sort keeps the order within a column. */
static const struct uses *uses_of(struct lineage *l, const struct dtx_bind *b)
{
	struct uses *u = &l->uses[b->step];
	size_t i;

	if (u->first || l->failed)
		return u;
	u->first = dtx_arena_zalloc(&l->arena, b->ncols + 3u, sizeof(*u->first));
	u->at = dtx_arena_alloc(&l->arena, b->nuses + 1, sizeof(*u->at));
	l->failed |= !u->first || !u->at;
	if (l->failed)
		return u;
	/* The index is two too high, so that after the second pass `first` has its final values. */
	for (i = 0; i < b->nuses; i++)
		if (b->use[i].out != DTX_USE_ROWS)
			u->first[use_column(b, i) + 2]++;
	for (i = 2; i < b->ncols + 3u; i++)
		u->first[i] += u->first[i - 1];
	for (i = 0; i < b->nuses; i++)
		if (b->use[i].out != DTX_USE_ROWS)
			u->at[u->first[use_column(b, i) + 1]++] = (uint32_t)i;
	return u;
}

static const struct origin *use_origin(struct lineage *l, const struct dtx_bind *b, uint32_t use)
{
	return origin_of(l, b->table[b->use[use].table], (int32_t)b->use[use].col);
}

/* Adds the sources of column c of the step to `o`; c = ncols: of a column that is known only at run
 * time. */
static void add_sources(struct lineage *l, const struct dtx_bind *b, uint32_t c, struct origin *o)
{
	const struct uses *u = uses_of(l, b);
	const struct origin *from = NULL;
	uint32_t i;
	size_t k;

	if (l->failed)
		return;
	/* Work out all origins first, because that starts turns of its own. */
	for (i = u->first[c]; i < u->first[c + 1]; i++)
		from = use_origin(l, b, u->at[i]);
	if (!o->nsources && from && u->first[c] + 1 == u->first[c + 1]) {
		o->source = from->source;
		o->nsources = o->cap = from->nsources;
	}
	l->turn++;
	for (k = 0; k < o->nsources; k++)
		*seen_at(l, o->source[k]) = l->turn;
	for (i = u->first[c]; i < u->first[c + 1]; i++) {
		from = use_origin(l, b, u->at[i]);
		for (k = 0; from && k < from->nsources; k++)
			add_source(l, o, from->source[k]);
		o->snippet |= from && from->snippet;
		o->cut |= from && from->cut;
	}
}

/* The name of a source column, with the input's name if several inputs have a column of that
 * name. */
static const char *leaf_name(struct lineage *l, int32_t input, const char *name)
{
	const struct dtx_plan *p = l->g->plan;
	unsigned have = 0;

	for (uint32_t i = 0; p->ninputs > 1 && i < p->ninputs && have < 2; i++)
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

/* The formula to put in for a name in a formula: that of a column of the input, or of one that the
 * same step made earlier (derive sees its own columns). */
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
	if (o && o->rows)
		return NULL; /* it was computed from other rows than the other columns, so it keeps
		              * its name */
	if (o && o->by)
		r->by = o->by;
	return o ? o->composed : NULL;
}

static struct dtx_op_facts facts_of(const struct lineage *l, const struct dtx_bind *b)
{
	const struct dtx_plan_step *st = &l->g->plan->step[b->step];

	return dtx_op_facts(st->op, st->canonical);
}

/* The keys of an aggregate: a window's partition, or the columns that a group_by passes on. */
static const char *keys_of(struct lineage *l, const struct dtx_bind *b)
{
	const json_t *by = json_object_get(l->g->plan->step[b->step].canonical, "by"), *one;
	bool window = facts_of(l, b).values == DTX_VALUES_SET;
	struct dtx_buf keys = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	const char *key;

	if (l->keys_of == b)
		return l->keys;
	l->keys_of = b;
	l->keys = NULL;
	for (size_t i = 0; i < (window ? json_array_size(by) : b->ncols); i++) {
		one = json_array_get(by, i);
		key = window ? json_string_value(one) : b->col[i].field.name;
		if (key && (window || b->col[i].from_table >= 0))
			dtx_buf_printf(&keys, "%s%s", keys.len ? ", " : "", key);
	}
	if (keys.len)
		l->keys = dtx_arena_strdup(&l->arena, dtx_buf_text(&keys));
	l->failed |= keys.len && !l->keys;
	dtx_buf_clear(&keys);
	return l->keys;
}

/* Sets the formula of a column. A formula of the step also sees the step's first `made` columns. */
static void formula_origin(struct lineage *l, const struct dtx_bind *b, uint32_t made,
                           const struct dtx_expr *formula, const char *text, struct origin *o)
{
	struct replace r = { l, b, made, NULL };

	o->formula = text;
	o->aggregated = dtx_expr_has_aggregate(formula);
	if (o->aggregated)
		o->by = keys_of(l, b);
	o->composed = dtx_expr_replace(&l->arena, formula, definition, &r);
	/* Both are aggregates, over different groups. One formula cannot show both. */
	if (o->aggregated && r.by && facts_of(l, b).values == DTX_VALUES_SET &&
	    (!o->by || strcmp(o->by, r.by) != 0))
		o->composed = formula;
	else if (!o->by)
		o->by = r.by;
	l->failed |= !o->composed;
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

/* If all tables of a union computed the column by the same formula, it is also that of the
 * union. */
static void union_formula(struct lineage *l, const struct dtx_bind *b, uint32_t c, struct origin *o)
{
	const struct uses *u = uses_of(l, b);
	const struct origin *first = NULL, *from;
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_expr *e = NULL;

	for (uint32_t i = l->failed ? 0 : u->first[c]; !l->failed && i < u->first[c + 1]; i++) {
		from = use_origin(l, b, u->at[i]);
		first = first ? first : from;
		if (!from || !from->formula || from->rows ||
		    !same_text(from->formula, first->formula) || !same_text(from->by, first->by))
			return;
	}
	if (!first || dtx_expr_parse(&l->arena, dtx_str_of(first->formula), &e, &err) != DTX_OK)
		goto out;
	o->formula = first->formula;
	o->composed = e;
	o->by = first->by;
	o->aggregated = first->aggregated;
out:
	dtx_err_clear(&err);
}

/* The origin of a column that may depend on any column of the tables. */
static void any_origin(struct lineage *l, uint32_t step, struct origin *o)
{
	const struct dtx_plan_step *st = &l->g->plan->step[step];

	const struct dtx_schema *s;
	const struct origin *from;

	/* Only if there are few columns: otherwise each of many columns would list each of many. */
	o->cut |= l->nany >= SOURCES_MAX;
	if (o->cut)
		return;
	/* Work out all origins first, because that starts turns of its own. */
	for (int turn = 0; turn < 2 && !l->failed; turn++) {
		l->turn += (uint32_t)turn;
		for (uint32_t k = 0; k < st->ntables; k++) {
			s = st->table[k] < 0 ? NULL : l->g->flow.table[st->table[k]].schema;
			for (uint32_t c = 0; s && c < s->nfields; c++) {
				from = origin_of(l, st->table[k], (int32_t)c);
				for (size_t i = 0; turn && from && i < from->nsources; i++)
					add_source(l, o, from->source[i]);
				o->snippet |= from && from->snippet;
				o->cut |= from && from->cut;
			}
		}
	}
	l->nany += o->nsources;
}

static void made_origin(struct lineage *l, const struct dtx_bind *b, uint32_t c, struct origin *o)
{
	const struct dtx_bind_col *col = &b->col[c];

	o->made = true;
	add_sources(l, b, c, o);
	if (col->formula)
		formula_origin(l, b, c, col->formula, col->formula_text, o);
	else if (facts_of(l, b).rows == DTX_ROWS_UNION)
		union_formula(l, b, c, o);
	else if (!o->nsources && facts_of(l, b).rows == DTX_ROWS_WHOLE)
		any_origin(l, (uint32_t)b->step, o);
}

/* The origin of a column that the step passes on. The key of an outer join is also filled from the
 * other side. */
static void moved_origin(struct lineage *l, const struct dtx_bind *b, uint32_t c, struct origin *o)
{
	const struct dtx_bind_col *col = &b->col[c];
	const struct origin *from = origin_of(l, b->table[col->from_table], col->from_col);
	const struct uses *u = uses_of(l, b);
	bool others = false;

	if (from)
		*o = *from;
	o->cap = o->nsources; /* the list belongs to `from` */
	if (col->altered) {
		o->made = true;
		o->formula = NULL;
		o->composed = NULL;
	}
	if (col->formula)
		formula_origin(l, b, 0, col->formula, col->formula_text, o);
	for (uint32_t i = l->failed ? 0 : u->first[c]; !l->failed && i < u->first[c + 1]; i++) {
		const struct dtx_bind_use *use = &b->use[u->at[i]];

		others |= (int32_t)use->table != col->from_table ||
		          (int32_t)use->col != col->from_col;
	}
	if (others) {
		add_sources(l, b, c, o);
		o->made = true;
	}
}

static void wider_formula(struct lineage *l, const struct dtx_bind *b, const json_t *canonical,
                          struct origin *o)
{
	const char *value =
		json_string_value(json_array_get(json_object_get(canonical, "values_from"), 0));
	const struct dtx_expr *call =
		value ? dtx_expr_call1(&l->arena, dtx_json_text(canonical, "agg", ""), value)
		      : NULL;
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	const char *formula;

	if (!value)
		return;
	l->failed |= !call;
	if (call)
		dtx_expr_print(call, &text);
	formula = dtx_arena_strdup(&l->arena, dtx_buf_text(&text));
	l->failed |= !formula || !dtx_buf_ok(&text);
	if (!l->failed)
		formula_origin(l, b, 0, call, formula, o);
	dtx_buf_clear(&text);
}

/* The origin of a column that is known only at run time: it has the values of the one value column,
 * or depends on all of them. */
static void open_made(struct lineage *l, const struct dtx_bind *b, const struct dtx_plan_step *st,
                      struct origin *o)
{
	const struct uses *u = uses_of(l, b);
	const struct origin *from = NULL;
	uint32_t n = l->failed ? 0 : u->first[b->ncols + 1] - u->first[b->ncols];

	o->made = true;
	add_sources(l, b, b->ncols, o);
	if (n == 1)
		from = use_origin(l, b, u->at[u->first[b->ncols]]);
	if (!from)
		return;
	if (!dtx_json_text(st->canonical, "agg", NULL)) {
		*o = *from;
		o->made = true;
	} else if (json_array_size(json_object_get(st->canonical, "values_from")) == 1) {
		wider_formula(l, b, st->canonical, o);
	}
}

static void open_origin(struct lineage *l, const struct dtx_bind *b, uint32_t step,
                        struct origin *o)
{
	struct uses *u = &l->uses[step];

	o->made = true;
	if (b && !u->open) {
		struct origin *open = dtx_arena_zalloc(&l->arena, 1, sizeof(*open));

		l->failed |= !open;
		if (open)
			open_made(l, b, &l->g->plan->step[step], open);
		u->open = open;
	}
	if (b && u->open)
		*o = *u->open;
	o->cap = o->nsources; /* the list is shared */
}

/* --- pivot_wider --- */

static bool wider_number(const struct dtx_bind *b, const char *column)
{
	int32_t c = dtx_schema_find(b->in[0], column);
	enum dtx_type type = c < 0 ? DTX_T_UNKNOWN : b->in[0]->field[c].type.type;

	return type == DTX_T_INT64 || type == DTX_T_FLOAT64 || type == DTX_T_DECIMAL;
}

/* The condition for the rows of a wide column, such as "q == 'Q1'", which follows from the column's
 * name. NULL if it does not. */
static const char *wider_rows(struct lineage *l, const struct dtx_bind *b, const json_t *canonical,
                              const char *name)
{
	const json_t *from = json_object_get(canonical, "names_from");
	const char *column = json_string_value(json_array_get(from, 0)), *out = NULL;
	const char *prefix = dtx_json_text(canonical, "names_prefix", "");
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	const struct dtx_expr *is, *value;

	if (!column || json_array_size(from) != 1 ||
	    json_array_size(json_object_get(canonical, "values_from")) != 1 ||
	    strncmp(name, prefix, strlen(prefix)) != 0 || !strcmp(name + strlen(prefix), "null"))
		return NULL; /* a null and the text `null` give the same name */
	is = dtx_expr_column(&l->arena, column);
	value = dtx_expr_literal(&l->arena, name + strlen(prefix), wider_number(b, column));
	l->failed |= !is || !value;
	if (l->failed)
		return NULL;
	dtx_expr_print(is, &text);
	dtx_buf_add(&text, " == ");
	dtx_expr_print(value, &text);
	out = dtx_arena_strdup(&l->arena, dtx_buf_text(&text));
	l->failed |= !out || !dtx_buf_ok(&text);
	dtx_buf_clear(&text);
	return out;
}

static void wider_origin(struct lineage *l, int32_t t, int32_t c, struct origin *o)
{
	uint32_t step = (uint32_t)t - l->g->plan->ninputs;
	const struct dtx_plan_step *st = &l->g->plan->step[step];
	const struct dtx_bind *b = l->g->flow.bind[step];

	if (b && facts_of(l, b).rows == DTX_ROWS_WIDER)
		o->rows =
			wider_rows(l, b, st->canonical, l->g->flow.table[t].schema->field[c].name);
}

/* The origin of a column that the binding does not know. If the step passes columns on, it is the
 * input column at the same position or with the same name. Otherwise it may depend on any. */
static void placed_origin(struct lineage *l, uint32_t step, int32_t c, struct origin *o)
{
	const struct dtx_plan_step *st = &l->g->plan->step[step];
	struct dtx_op_facts f = dtx_op_facts(st->op, st->canonical);
	const struct dtx_schema *in =
		st->table[0] < 0 ? NULL : l->g->flow.table[st->table[0]].schema;
	const struct dtx_schema *out = l->g->flow.table[l->g->plan->ninputs + step].schema;
	const struct origin *from = NULL;

	if (o->nsources || !in)
		return;
	if (f.rows != DTX_ROWS_WHOLE && f.values == DTX_VALUES_RENAMED &&
	    in->nfields == out->nfields)
		from = origin_of(l, st->table[0], c);
	else if (f.rows != DTX_ROWS_WHOLE && f.values == DTX_VALUES_KEPT)
		from = origin_of(l, st->table[0], dtx_schema_find(in, out->field[c].name));
	if (from)
		*o = *from;
	o->cap = o->nsources; /* the list belongs to `from` */
	if (!from && f.rows == DTX_ROWS_WHOLE)
		any_origin(l, step, o);
}

static void input_origin(struct lineage *l, int32_t t, int32_t c, struct origin *o)
{
	const char *name = leaf_name(l, t, l->g->flow.table[t].schema->field[c].name);

	l->turn++;
	add_source(l, o, (struct source){ t, c });
	if (name)
		o->composed = dtx_expr_column(&l->arena, name);
	l->failed |= !name || !o->composed;
}

/* The index of result column c among the columns of the binding. -1: it is known only at run time;
 * such columns may be between the others. */
static int32_t bound_column(const struct dtx_bind *b, const struct dtx_schema *s, int32_t c)
{
	if (!b)
		return -1;
	if (b->open)
		return dtx_bind_out(b, s->field[c].name);
	return (uint32_t)c < b->ncols ? c : -1;
}

static struct origin *origin_of(struct lineage *l, int32_t t, int32_t c)
{
	const struct dtx_graph *g = l->g;
	const struct dtx_schema *s = g->flow.table[t].schema;
	uint32_t step = (uint32_t)t - g->plan->ninputs;
	struct origin *o;
	int32_t bound;

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
	if ((uint32_t)t < g->plan->ninputs && g->by_snippet[t]) {
		o->snippet = true;
	} else if ((uint32_t)t < g->plan->ninputs) {
		input_origin(l, t, c, o);
	} else if (g->step[step].region >= 0) {
		o->snippet = true;
	} else if ((bound = bound_column(g->flow.bind[step], s, c)) < 0) {
		open_origin(l, g->flow.bind[step], step, o);
		placed_origin(l, step, c, o);
		wider_origin(l, t, c, o);
	} else if (g->flow.bind[step]->col[bound].from_table >= 0) {
		moved_origin(l, g->flow.bind[step], (uint32_t)bound, o);
	} else {
		made_origin(l, g->flow.bind[step], (uint32_t)bound, o);
		wider_origin(l, t, c, o);
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

/* The formula in terms of source columns, such as "a / b, by region"; the formula as written if
 * that would be too long. */
static const char *composed_text(struct lineage *l, const struct origin *o,
                                 struct dtx_exec_result *r)
{
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	const char *out;

	(void)l;
	dtx_expr_print(o->composed, &text);
	if (text.len > COMPOSED_MAX && o->formula) {
		dtx_buf_reset(&text);
		dtx_buf_add(&text, o->formula);
	}
	if (o->by)
		dtx_buf_printf(&text, ", by %s", o->by);
	if (o->rows)
		dtx_buf_printf(&text, ", where %s", o->rows);
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

/* Adds one row per source: the first source always, the others while there is room. */
static enum dtx_code source_rows(struct lineage *l, struct dtx_exec_result *r,
                                 struct dtx_exec_lineage *row, const struct origin *o,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t n = DTX_MIN(o->nsources, l->spare + 1);

	l->spare -= n ? n - 1 : 0;
	for (size_t i = 0; i < n; i++) {
		row->input = o->source[i].input;
		row->in_col = source_name(l, o->source[i], r);
		if (!row->in_col)
			DTX_FAIL_MEM(err);
		DTX_TRY(add_row(r, row, err));
	}
	if (n == o->nsources && !o->cut)
		goto out;
	row->input = -1;
	row->in_col = NULL;
	row->cls = "other sources are left out";
	DTX_TRY(add_row(r, row, err));
	l->cut = l->ncut++ ? l->cut : row->out_col ? row->out_col : "(rows)";
out:
	return rc;
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
	if (o->formula)
		row.formula = dtx_arena_strdup(&r->arena, o->formula);
	if (o->formula || (o->rows && o->composed))
		row.composed = composed_text(l, o, r);
	if ((o->formula && !row.formula) || (row.formula && !row.composed))
		DTX_FAIL_MEM(err);
	if (!o->nsources)
		DTX_TRY(add_row(r, &row, err));
	DTX_TRY(source_rows(l, r, &row, o, err));
out:
	return rc;
}

static const char *rows_subtype(const struct dtx_plan_step *st)
{
	struct dtx_op_facts f = dtx_op_facts(st->op, st->canonical);

	if (f.indirect)
		return f.indirect;
	switch (f.rows) {
	case DTX_ROWS_JOINED:
	case DTX_ROWS_SEMI:
	case DTX_ROWS_ANTI:
	case DTX_ROWS_LOOKUP: return "JOIN";
	case DTX_ROWS_GROUPED:
	case DTX_ROWS_WIDER: return "GROUP_BY";
	case DTX_ROWS_WINDOW: return "WINDOW";
	default: return "FILTER";
	}
}

/* Adds the columns that decide which rows the output has, from all steps that lead to it. */
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
		struct dtx_exec_lineage row = { .output = output,
			                        .subtype = rows_subtype(st),
			                        .cls = "exact" };
		const struct origin *o = NULL;

		if (b->use[i].out == DTX_USE_ROWS)
			o = use_origin(l, b, (uint32_t)i);
		if (o)
			DTX_TRY(source_rows(l, r, &row, o, err));
	}
out:
	return rc;
}

static enum dtx_code lineage_init(struct lineage *l, struct dtx_err *err)
{
	const struct dtx_plan *p = l->g->plan;
	enum dtx_code rc = DTX_OK;
	size_t n = 0;

	l->memo = dtx_arena_zalloc(&l->arena, p->ninputs + p->nsteps + 1u, sizeof(*l->memo));
	l->uses = dtx_arena_zalloc(&l->arena, p->nsteps + 1u, sizeof(*l->uses));
	l->base = dtx_arena_alloc(&l->arena, p->ninputs + 1u, sizeof(*l->base));
	for (uint32_t i = 0; l->base && i < p->ninputs; i++) {
		l->base[i] = n;
		n += l->g->flow.table[i].schema ? l->g->flow.table[i].schema->nfields : 0;
	}
	l->seen = dtx_arena_zalloc(&l->arena, n + 1, sizeof(*l->seen));
	if (!l->memo || !l->uses || !l->base || !l->seen)
		DTX_FAIL_MEM(err);
out:
	return rc;
}

/* Warns that the record does not name all sources. */
static enum dtx_code warn_cut(const struct lineage *l, struct dtx_exec_result *r,
                              struct dtx_err *err)
{
	struct dtx_err w = DTX_ERR_INIT;
	char also[48] = "";
	enum dtx_code rc = DTX_OK;

	if (!l->ncut)
		goto out;
	if (l->ncut > 1)
		snprintf(also, sizeof(also), " and %zu more", l->ncut - 1);
	dtx_err_set(
		&w, DTX_W_RESULT_NOTE, __FILE__, __LINE__,
		"the record does not name all source columns of '%.60s'%s: of a run there is room "
		"for %d beyond one per column",
		l->cut, also, SOURCES_MAX);
	w.severity = DTX_SEV_WARNING;
	if (!dtx_errlist_take(&r->warnings, &w))
		DTX_FAIL_MEM(err);
out:
	return rc;
}

enum dtx_code dtx_lineage(const struct dtx_graph *g, struct dtx_exec_result *r, struct dtx_err *err)
{
	const struct dtx_plan *p = g->plan;
	struct lineage l = { .g = g, .spare = SOURCES_MAX };
	bool *seen = NULL;
	enum dtx_code rc = DTX_OK;

	DTX_TRY(lineage_init(&l, err));
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
	DTX_TRY(warn_cut(&l, r, err));
out:
	dtx_arena_clear(&l.arena);
	return rc;
}
