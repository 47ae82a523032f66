/* Which columns of each table the asked column depends on. This follows from the text of the plan
 * alone, going back from the output step by step. The name "*" stands for any column, when it is
 * not known which. */
#include <string.h>

#include "core/base/memory/mem.h"
#include "core/plan/lineage/trace_parts.h"

void dtx_trace_need_add(struct trace *t, int32_t table, const char *column)
{
	if (table < 0)
		return;
	if (!t->need[table])
		t->need[table] = json_object();
	t->failed |=
		!t->need[table] || json_object_set_new(t->need[table], column, json_true()) < 0;
}

bool dtx_trace_needs(const struct trace *t, int32_t table, const char *column)
{
	return json_object_get(t->need[table], column) || json_object_get(t->need[table], "*");
}

struct need_of {
	struct trace *t;
	int32_t table;
	json_t *list; /* where to add names; NULL: to what is needed of the table */
};

static void need_column(void *arg, const char *name)
{
	struct need_of *n = arg;

	if (n->list)
		json_object_set_new(n->list, name, json_true());
	else
		dtx_trace_need_add(n->t, n->table, name);
}

/* Adds the columns of a formula, or "*" if it cannot be parsed. */
static void need_formula(struct need_of *n, const char *formula)
{
	struct dtx_arena arena = DTX_ARENA_INIT;
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_expr *e = NULL;

	if (dtx_expr_parse(&arena, dtx_str_of(formula), &e, &err) == DTX_OK)
		dtx_expr_columns(e, need_column, n);
	else
		need_column(n, "*");
	dtx_err_clear(&err);
	dtx_arena_clear(&arena);
}

/* The items of a `derive` are computed from left to right and may use earlier ones, so they are
 * looked at from right to left. */
static void need_set(struct trace *t, const struct dtx_plan_step *st, json_t *need, int32_t in)
{
	const json_t *set = json_object_get(st->canonical, "set");
	struct need_of of = { t, in, need };
	const char *name;
	json_t *value;

	for (size_t i = json_array_size(set); i-- > 0;) {
		const json_t *one = json_array_get(set, i);
		const char *as = dtx_json_text(one, "as", "");

		if (!json_object_get(need, as) && !json_object_get(need, "*"))
			continue;
		json_object_del(need, as);
		need_formula(&of, dtx_json_text(one, "expr", ""));
	}
	json_object_foreach(need, name, value) dtx_trace_need_add(t, in, name);
}

static void trace_need_formula(struct trace *t, int32_t table, const char *formula)
{
	struct need_of of = { t, table, NULL };

	need_formula(&of, formula);
}

/* Keys and aggregates depend on the columns in their formulas. Other columns keep their names. */
static void need_group(struct trace *t, const struct dtx_plan_step *st, const json_t *need,
                       int32_t in)
{
	static const char *const lists[] = { "by", "agg" };
	struct need_of of = { t, in, NULL };
	json_t *one, *value, *rest = json_copy((json_t *)(uintptr_t)need);
	const char *name;
	size_t k, i;

	for (k = 0; k < DTX_COUNT(lists); k++) {
		json_array_foreach(json_object_get(st->canonical, lists[k]), i, one)
		{
			const char *as = dtx_json_text(one, "as", "");

			if (json_object_get(need, as) || json_object_get(need, "*"))
				need_formula(&of, dtx_json_text(one, "expr", as));
			json_object_del(rest, as);
		}
	}
	json_object_foreach(rest, name, value)
	{
		if (!json_object_get(st->canonical, "agg"))
			dtx_trace_need_add(t, in, name);
	}
	json_decref(rest);
}

/* The column of the input at the same position; "*" if that is not known. */
static const char *need_in_place(const struct trace *t, uint32_t i, const char *name)
{
	const struct dtx_schema *out = t->table[t->plan->ninputs + i].schema;
	const struct dtx_schema *in = t->table[t->plan->step[i].table[0]].schema;
	int32_t at = out ? dtx_schema_find(out, name) : -1;

	if (!in || at < 0 || in->open || out->open || in->nfields != out->nfields)
		return "*";
	return in->field[at].name;
}

static void need_renamed(struct trace *t, uint32_t step, const json_t *need, int32_t in)
{
	const struct dtx_plan_step *st = &t->plan->step[step];
	const json_t *map = json_object_get(st->canonical, "map"), *one;
	const char *name;
	json_t *value;
	size_t i;

	json_object_foreach((json_t *)(uintptr_t)need, name, value)
	{
		const char *from = map ? name : need_in_place(t, step, name);

		json_array_foreach((json_t *)(uintptr_t)map, i, one)
		{
			if (!strcmp(dtx_json_text(one, "to", ""), name))
				from = dtx_json_text(one, "from", "*");
		}
		dtx_trace_need_add(t, in, from);
	}
}

/* Adds a column, unless the table is known to lack it. Then it is a column of another table. */
static void need_named(struct trace *t, int32_t table, const char *name)
{
	const struct dtx_schema *s = table >= 0 ? t->table[table].schema : NULL;

	if (!s || s->open || !strcmp(name, "*") || dtx_schema_find(s, name) >= 0)
		dtx_trace_need_add(t, table, name);
}

static bool need_joins(const struct dtx_plan_step *st)
{
	enum dtx_op_rows rows = dtx_trace_facts(st).rows;

	return rows == DTX_ROWS_JOINED || rows == DTX_ROWS_SEMI || rows == DTX_ROWS_ANTI;
}

/* Whether one side of a join is known to have the column. */
static bool need_side(const struct trace *t, const struct dtx_plan_step *st, uint32_t side,
                      const char *name)
{
	const struct dtx_schema *s = side < st->ntables && st->table[side] >= 0
	                                     ? t->table[st->table[side]].schema
	                                     : NULL;

	return need_joins(st) && s && !s->open && dtx_schema_find(s, name) >= 0;
}

/* Whether a column of the result is from the left table. If both sides have the name, the right
 * one's column got the suffix. A column in `using` is from both sides. */
static bool need_left(const struct trace *t, const struct dtx_plan_step *st, const char *name)
{
	const json_t *using = json_object_get(st->canonical, "using"), *one;
	size_t i;

	json_array_foreach((json_t *)(uintptr_t) using, i, one)
	{
		if (!strcmp(json_string_value(one), name))
			return false;
	}
	return need_side(t, st, 0, name);
}

/* Looks for each needed name in every table. A column of the right table may have the suffix of the
 * join; a key may have another name in the right table. */
static void need_all(struct trace *t, const struct dtx_plan_step *st, const json_t *need)
{
	const json_t *on = json_object_get(st->canonical, "on");
	bool joins = need_joins(st);
	const char *suffix = dtx_json_text(st->canonical, "suffix", "_right"), *name;
	size_t end = strlen(suffix), len;
	json_t *value;

	json_object_foreach((json_t *)(uintptr_t)need, name, value)
	{
		len = strlen(name);
		for (uint32_t k = 0; k < st->ntables; k++) {
			char bare[256];

			if (!k || !need_left(t, st, name))
				need_named(t, st->table[k], name);
			if (k && dtx_json_find(on, "left", name))
				need_named(t, st->table[k],
				           dtx_json_text(dtx_json_find(on, "left", name), "right",
				                         "*"));
			if (!joins || need_left(t, st, name) || len <= end ||
			    len - end >= sizeof(bare) || strcmp(name + len - end, suffix) != 0)
				continue;
			dtx_str_copy(bare, sizeof(bare), (struct dtx_str){ name, len - end });
			if (k || !need_side(t, st, 1, bare))
				need_named(t, st->table[k], bare);
		}
	}
}

/* Whether the name is that of a column in `cols` plus the suffix. A selector in `cols` may be any
 * column. */
static bool need_suffixed(const struct dtx_plan_step *st, const char *name)
{
	const json_t *cols = json_object_get(st->canonical, "cols"), *one;
	const char *suffix = dtx_json_text(st->canonical, "suffix", ""), *bare;
	size_t len = strlen(name), end = strlen(suffix), i;

	if (!end || len < end || strcmp(name + len - end, suffix) != 0)
		return false; /* without a suffix, columns are changed in place */
	json_array_foreach(cols, i, one)
	{
		bare = json_string_value(one);
		if (!bare || (strlen(bare) == len - end && !memcmp(bare, name, len - end)))
			return true;
	}
	return false;
}

/* Whether `cols` lists the column. A selector may be any column. */
static bool need_listed(const struct dtx_plan_step *st, const char *name)
{
	const json_t *cols = json_object_get(st->canonical, "cols"), *one;
	size_t i;

	json_array_foreach((json_t *)(uintptr_t)cols, i, one)
	{
		if (!dtx_trace_plain_name(one) || !strcmp(json_string_value(one), name))
			return true;
	}
	return !i;
}

/* A column that the step makes is one that its input lacks. If the columns of the input are known
 * only at run time, the parameters of the step say what its columns are called. */
bool dtx_trace_makes(const struct trace *t, const struct dtx_plan_step *st, const char *name)
{
	const struct dtx_schema *s = t->table[st->table[0]].schema;
	const char *as = dtx_json_text(st->canonical, "as", NULL);

	if (dtx_trace_facts(st).values == DTX_VALUES_CHANGED)
		return need_listed(st, name);
	if (s && !s->open)
		return dtx_schema_find(s, name) < 0;
	return as ? !strcmp(as, name) : need_suffixed(st, name);
}

/* New columns are computed from the columns that the step names; columns of the input stay the
 * same. */
static void need_windowed(struct trace *t, const struct dtx_plan_step *st, const json_t *need,
                          int32_t in)
{
	const json_t *cols = json_object_get(st->canonical, "cols"), *one;
	struct need_of of = { t, in, NULL };
	bool made = false;
	const char *name;
	json_t *value;
	size_t i;

	json_object_foreach((json_t *)(uintptr_t)need, name, value)
	{
		if (dtx_trace_makes(t, st, name) &&
		    dtx_trace_facts(st).values != DTX_VALUES_CHANGED)
			made = true;
		else
			dtx_trace_need_add(t, in, name);
	}
	if (!made)
		return;
	json_array_foreach((json_t *)(uintptr_t)cols, i, one)
		dtx_trace_need_add(t, in, json_is_string(one) ? json_string_value(one) : "*");
	if (!i && dtx_json_text(st->canonical, "col", NULL))
		dtx_trace_need_add(t, in, dtx_json_text(st->canonical, "col", NULL));
	else if (!i)
		need_formula(&of, dtx_json_text(st->canonical, "expr", ""));
}

/* Columns are changed in place. A column that the input lacks may be computed from any column. */
static void need_changed(struct trace *t, const struct dtx_plan_step *st, const json_t *need)
{
	const struct dtx_schema *s = t->table[st->table[0]].schema;
	bool renames = json_object_get(st->canonical, "suffix") ||
	               json_object_get(st->canonical, "as") ||
	               json_object_get(st->canonical, "index_as");
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)(uintptr_t)need, name, value)
	{
		bool there = s && !s->open ? dtx_schema_find(s, name) >= 0 : !renames;

		dtx_trace_need_add(t, st->table[0], there ? name : "*");
	}
}

/* A new column has values from the columns in `values_from`. The columns in `names_from` decide
 * which cell a value goes to, but are not part of the value. */
static void need_wider(struct trace *t, const struct dtx_plan_step *st, const json_t *need)
{
	const json_t *values = json_object_get(st->canonical, "values_from"), *one;
	json_t *keys = dtx_trace_wider_keys(t, st), *value;
	/* stored rows do not say which value a cell is */
	bool several = t->lists && json_array_size(values) > 1;
	const char *name, *label, *from;
	size_t i;

	json_object_foreach((json_t *)(uintptr_t)need, name, value)
	{
		bool id = !strcmp(name, "*") || dtx_json_find(keys, "right", name);

		from = id ? name : several ? NULL : dtx_trace_wider_value(st, name, &label);
		if (from)
			dtx_trace_need_add(t, st->table[0], from);
		if (from)
			continue;
		json_array_foreach((json_t *)(uintptr_t)values, i, one) dtx_trace_need_add(
			t, st->table[0], json_is_string(one) ? json_string_value(one) : "*");
	}
	json_decref(keys);
}

const char *dtx_trace_plain_name(const json_t *one)
{
	const char *name = json_string_value(one);

	return name && !strpbrk(name, "*?") && !strstr(name, "..") ? name : NULL;
}

/* Whether all items of a list of columns are names. */
static bool need_is_plain(const json_t *cols)
{
	json_t *one;
	size_t i;

	json_array_foreach((json_t *)(uintptr_t)cols, i, one)
	{
		if (!dtx_trace_plain_name(one))
			return false;
	}
	return i > 0;
}

/* A value comes from any of the columns that became rows. The names of these columns are not cells
 * of the input. */
static void need_longer(struct trace *t, const struct dtx_plan_step *st, const json_t *need)
{
	const json_t *cols = json_object_get(st->canonical, "cols"), *one;
	const json_t *names = json_object_get(st->canonical, "names_to");
	bool plain = need_is_plain(cols);
	const char *name;
	json_t *value;
	size_t i;

	json_object_foreach((json_t *)(uintptr_t)need, name, value)
	{
		bool made = !strcmp(name, dtx_json_text(st->canonical, "values_to", "value"));
		bool named = false, any = !strcmp(name, "*");

		json_array_foreach((json_t *)(uintptr_t)names, i, one)
		{
			named |= !strcmp(json_string_value(one), name);
			any |= !strcmp(json_string_value(one), ".value");
		}
		if (any || (made && !plain))
			dtx_trace_need_add(t, st->table[0], "*");
		else if (!made && !named)
			dtx_trace_need_add(t, st->table[0], name);
		json_array_foreach((json_t *)(uintptr_t)cols, i, one)
		{
			if (plain && made && !any)
				dtx_trace_need_add(t, st->table[0], json_string_value(one));
		}
	}
}

/* The column that was looked up comes from the other table. All others stay the same. */
static void need_lookup(struct trace *t, const struct dtx_plan_step *st, const json_t *need)
{
	const char *from = dtx_json_text(st->canonical, "value", "*"), *name;
	const char *as = dtx_json_text(st->canonical, "as", from);
	json_t *value;

	json_object_foreach((json_t *)(uintptr_t)need, name, value)
	{
		if (!strcmp(name, as) || !strcmp(name, "*") || !strcmp(as, "*"))
			dtx_trace_need_add(t, st->table[1], from);
		if (strcmp(name, as) != 0)
			dtx_trace_need_add(t, st->table[0], name);
	}
}

static void need_any(struct trace *t, const struct dtx_plan_step *st)
{
	for (uint32_t k = 0; k < st->ntables; k++)
		dtx_trace_need_add(t, st->table[k], "*");
}

/* Goes through a step that passes rows on, by how it changes columns. */
static void need_passed(struct trace *t, uint32_t i, enum dtx_op_values values, const json_t *need)
{
	const struct dtx_plan_step *st = &t->plan->step[i];
	json_t *copy;

	switch (values) {
	case DTX_VALUES_ANY: need_any(t, st); break;
	case DTX_VALUES_KEPT:
	case DTX_VALUES_LISTED:
	case DTX_VALUES_UNLISTED: need_all(t, st, need); break;
	case DTX_VALUES_CHANGED: need_changed(t, st, need); break;
	case DTX_VALUES_RENAMED: need_renamed(t, i, need, st->table[0]); break;
	case DTX_VALUES_SET:
		copy = json_copy((json_t *)(uintptr_t)need);
		t->failed |= !copy;
		if (copy)
			need_set(t, st, copy, st->table[0]);
		json_decref(copy);
		break;
	}
}

/* A column that the step makes of cells of other rows. */
static void need_moved(struct trace *t, const struct dtx_plan_step *st, const json_t *need)
{
	const struct dtx_schema *in = t->table[st->table[0]].schema;
	const char *from = in && in->nfields ? in->field[0].name : "*", *name;
	json_t *value;

	json_object_foreach((json_t *)(uintptr_t)need, name, value)
	{
		if (dtx_trace_borrows(st, name))
			dtx_trace_need_add(t, st->table[0],
			                   dtx_json_text(st->canonical, "col", from));
	}
}

static void trace_need_step(struct trace *t, uint32_t i)
{
	const struct dtx_plan_step *st = &t->plan->step[i];
	json_t *need = t->need[t->plan->ninputs + i];
	struct dtx_op_facts f = dtx_trace_facts(st);

	if (!need)
		return;
	if (f.borrows && f.values == DTX_VALUES_KEPT)
		need_moved(t, st, need);
	switch (f.rows) {
	case DTX_ROWS_WHOLE: need_any(t, st); break;
	case DTX_ROWS_JOINED:
	case DTX_ROWS_SEMI:
	case DTX_ROWS_ANTI:
	case DTX_ROWS_UNION: need_all(t, st, need); break;
	case DTX_ROWS_LOOKUP: need_lookup(t, st, need); break;
	case DTX_ROWS_GROUPED: need_group(t, st, need, st->table[0]); break;
	case DTX_ROWS_WIDER: need_wider(t, st, need); break;
	case DTX_ROWS_LONGER: need_longer(t, st, need); break;
	case DTX_ROWS_WINDOW:
		if (f.values == DTX_VALUES_SET)
			need_passed(t, i, f.values, need);
		else
			need_windowed(t, st, need, st->table[0]);
		break;
	default: need_passed(t, i, f.values, need); break;
	}
}

/* --- from one table on --- */

/* Sets t->need to another array; the caller sets it back to the one that is returned. */
static json_t **need_swap(struct trace *t, json_t **need)
{
	json_t **was = t->need;

	t->need = need;
	return was;
}

static json_t **need_new(const struct trace *t)
{
	return dtx_mem_zalloc(t->plan->ninputs + t->plan->nsteps + 1, sizeof(json_t *));
}

void dtx_trace_reach_free(const struct trace *t, json_t **reach)
{
	for (uint32_t i = 0; reach && i < t->plan->ninputs + t->plan->nsteps; i++)
		json_decref(reach[i]);
	dtx_mem_free(reach);
}

json_t **dtx_trace_reach(struct trace *t, int32_t table, const json_t *cols)
{
	json_t **reach = need_new(t), **was = need_swap(t, reach), *value;
	const char *name;

	t->failed |= !reach;
	json_object_foreach((json_t *)(uintptr_t)cols, name, value)
	{
		if (reach)
			dtx_trace_need_add(t, table, name);
	}
	for (int32_t i = table - (int32_t)t->plan->ninputs; reach && i >= 0; i--) {
		enum trace_how how = dtx_trace_how(t, &t->plan->step[i]);

		if (!dtx_trace_is_barrier(how) && how != TRACE_COPY)
			trace_need_step(t, (uint32_t)i);
	}
	(void)need_swap(t, was);
	return reach;
}

/* Whether the step computes the column from several rows, and does not just pass it on. */
static bool need_made(const struct trace *t, uint32_t i, const char *name)
{
	const struct dtx_plan_step *st = &t->plan->step[i];
	const json_t *set = json_object_get(st->canonical, "set");

	if (dtx_trace_how(t, st) != TRACE_WINDOW || !strcmp(name, "*") ||
	    !*dtx_json_text(st->canonical, "suffix", "x"))
		return true;
	return set ? dtx_json_find(set, "as", name) != NULL : dtx_trace_makes(t, st, name);
}

json_t *dtx_trace_made_of(struct trace *t, uint32_t step, const json_t *cols)
{
	int32_t id = (int32_t)(t->plan->ninputs + step), in = t->plan->step[step].table[0];
	json_t **need = need_new(t), **was, *value, *of = NULL;
	const char *name;

	if (!need) {
		t->failed = true;
		return NULL;
	}
	was = need_swap(t, need);
	json_object_foreach((json_t *)(uintptr_t)cols, name, value)
	{
		if (need_made(t, step, name))
			dtx_trace_need_add(t, id, name);
	}
	trace_need_step(t, step);
	of = json_incref(need[in]);
	(void)need_swap(t, was);
	dtx_trace_reach_free(t, need);
	return of;
}

/* --- values of other rows --- */

bool dtx_trace_borrows(const struct dtx_plan_step *st, const char *column)
{
	const json_t *cols = json_object_get(st->canonical, "cols"), *one;
	const char *as = dtx_json_text(st->canonical, "as", NULL);
	size_t i;

	if (!dtx_trace_facts(st).borrows)
		return false;
	json_array_foreach((json_t *)(uintptr_t)cols, i, one)
	{
		const char *name = dtx_trace_plain_name(one);

		if (!name || !strcmp(name, column))
			return true;
	}
	return !i && (!as || !strcmp(as, column));
}

/* Whether the step took needed values from other rows. A fill that runs before rows are numbered
 * does not count: see `fills` in struct dtx_trace. */
static bool need_borrowed(const struct trace *t, uint32_t i)
{
	uint32_t id = t->plan->ninputs + i;
	struct dtx_op_facts f = dtx_trace_facts(&t->plan->step[i]);
	const json_t *need = t->table[id].from && f.fills ? NULL : t->need[id];
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)(uintptr_t)need, name, value)
	{
		if (strcmp(name, "*") ? dtx_trace_borrows(&t->plan->step[i], name) : f.borrows)
			return true;
	}
	return false;
}

void dtx_trace_need(struct trace *t, uint32_t output, const char *column)
{
	dtx_trace_need_add(t, t->plan->output[output].table, column);
	for (uint32_t i = t->plan->nsteps; i-- > 0;)
		trace_need_step(t, i);
}

void dtx_trace_borrowed(struct trace *t)
{
	for (uint32_t i = 0; i < t->plan->nsteps; i++) {
		struct dtx_op_facts f = dtx_trace_facts(&t->plan->step[i]);

		if (t->by_cells && t->by_cells[i])
			continue;
		t->out->borrowed |= need_borrowed(t, i);
		t->out->fills |= f.borrows && t->table[t->plan->ninputs + i].from;
	}
}

/* Which columns decided which rows exist: those in conditions, keys and orders of windows. This
 * follows from the text of the plan alone. trace_need.c does the same for the columns that a value
 * is computed from. */

/* Members of an item in a list of parameters: the table of the step that the member refers to, and
 * whether it is a formula. */
static const struct {
	const char *member;
	uint32_t table;
	bool formula;
} judge_members[] = {
	{ "as", 0, false },        { "expr", 0, true },   { "col", 0, false },
	{ "left", 0, false },      { "right", 1, false }, { "left_expr", 0, true },
	{ "right_expr", 1, true },
};

static void judge_item(const struct trace_decider *to, const json_t *one)
{
	bool written = false;

	for (size_t i = 0; i < DTX_COUNT(judge_members); i++) {
		const char *text = dtx_json_text(one, judge_members[i].member, NULL);

		if (text)
			to->see(to->arg, judge_members[i].table, text, judge_members[i].formula);
		written |= text != NULL;
	}
	if (!written)
		to->see(to->arg, 0, "*", false);
}

static bool judge_is_formula(const struct dtx_op *op, const char *name)
{
	for (size_t i = 0; i < op->nparams; i++) {
		if (!strcmp(op->params[i].name, name))
			return op->params[i].kind == DTX_P_EXPR;
	}
	return false;
}

/* A plain formula or name refers to every table of the step that has such columns. */
static void judge_param(const struct dtx_plan_step *st, const char *name,
                        const struct trace_decider *to)
{
	const json_t *value = json_object_get(st->canonical, name), *one;
	bool formula = judge_is_formula(st->op, name);
	size_t i;

	for (uint32_t k = 0; json_is_string(value) && k < st->ntables; k++)
		to->see(to->arg, k, json_string_value(value), formula);
	json_array_foreach((json_t *)(uintptr_t)value, i, one)
	{
		if (!json_is_string(one))
			judge_item(to, one);
		for (uint32_t k = 0; json_is_string(one) && k < st->ntables; k++)
			to->see(to->arg, k,
			        dtx_trace_plain_name(one) ? dtx_trace_plain_name(one) : "*", false);
	}
}

void dtx_trace_deciders(const struct dtx_plan_step *st, const struct trace_decider *to)
{
	const char *at = dtx_trace_facts(st).decides, *end;
	char name[32];

	for (; at && *at; at = *end ? end + 1 : end) {
		end = at + strcspn(at, ",");
		dtx_str_copy(name, sizeof(name), (struct dtx_str){ at, (size_t)(end - at) });
		judge_param(st, name, to);
	}
}

struct judge {
	struct trace *t;
	const struct dtx_plan_step *st;
};

static void judge_see(void *arg, uint32_t k, const char *text, bool formula)
{
	struct judge *j = arg;
	int32_t table = k < j->st->ntables ? j->st->table[k] : -1;

	if (table < 0 || !strcmp(text, "*"))
		return;
	if (formula)
		trace_need_formula(j->t, table, text);
	else
		dtx_trace_need_add(j->t, table, text);
}

void dtx_trace_judge(struct trace *t)
{
	json_t **need = t->need;
	struct judge j = { .t = t };

	t->need = t->judged;
	for (uint32_t i = t->plan->nsteps; i-- > 0;) {
		trace_need_step(t, i);
		j.st = &t->plan->step[i];
		dtx_trace_deciders(j.st, &(struct trace_decider){ &j, judge_see });
	}
	t->need = need;
}
