/* Runs the traced plan on fewer rows if cells of the asked row are known.
 *
 * A known cell is carried back through the steps as long as a row without it cannot matter for the
 * asked row: through filters, keys of groups, partitions of windows and joins. Each input then
 * begins with a filter on the cells that reached it, which usually leaves few rows. If two rows
 * have the same cells, both may be left, so the caller must check how many there are. */
#include <stdio.h>
#include <string.h>

#include "core/base/memory/mem.h"
#include "core/expr/parse/formula_parts.h"
#include "core/plan/lineage/trace_parts.h"

/* Removes the search for the rows of a group where those filters leave just these
 * rows. */
static void trace_tied(struct trace *t);

/* The step of the traced plan that is the join `st`; NULL if none. */
static json_t *trace_join_of(const struct trace *t, const struct dtx_plan_step *st);

enum { PIN_RARE = 64 }; /* enough cells are asked for when about one row in this many has them */

struct pin {
	struct trace *t;
	/* Per table id, what all its rows must have: {column: cell}, or {formula: cell} where "of"
	 * in the cell lists the columns of the formula with their types. NULL: not reached yet. */
	json_t **known;
};

/* --- which steps pass a cell on --- */

static bool pin_lists(const json_t *list, const char *name)
{
	json_t *one;
	size_t i;

	json_array_foreach((json_t *)(uintptr_t)list, i, one)
	{
		if (json_is_string(one) && !strcmp(json_string_value(one), name))
			return true;
	}
	return false;
}

/* Whether the name, or a pattern that may match it, occurs anywhere in the parameters of a step. */
static bool pin_says(const json_t *value, const char *name)
{
	const char *key;
	json_t *one;
	size_t i;

	if (json_is_string(value))
		return !strcmp(json_string_value(value), name) ||
		       strpbrk(json_string_value(value), "*?") ||
		       strstr(json_string_value(value), "..");
	json_array_foreach((json_t *)(uintptr_t)value, i, one)
	{
		if (pin_says(one, name))
			return true;
	}
	json_object_foreach((json_t *)(uintptr_t)value, key, one)
	{
		if (pin_says(one, name))
			return true;
	}
	return false;
}

static bool pin_sets(const struct dtx_plan_step *st, const char *name)
{
	return dtx_json_find(json_object_get(st->canonical, "set"), "as", name) != NULL;
}

/* For a step that computes each result row from one input row alone: the input column that has the
 * cell. NULL: none. */
static const char *pin_alone_from(const struct dtx_plan_step *st, enum dtx_op_values values,
                                  const char *name)
{
	const json_t *map = json_object_get(st->canonical, "map");

	if (!dtx_trace_plain(st->canonical))
		return NULL;
	switch (values) {
	case DTX_VALUES_KEPT:
	case DTX_VALUES_LISTED:
	case DTX_VALUES_UNLISTED: return name;
	case DTX_VALUES_SET: return pin_sets(st, name) ? NULL : name;
	case DTX_VALUES_CHANGED: return pin_says(st->canonical, name) ? NULL : name;
	case DTX_VALUES_RENAMED:
		return map ? dtx_json_text(dtx_json_find(map, "to", name), "from", name) : NULL;
	default: return NULL;
	}
}

/* For a step that works on groups: rows of other groups do not matter, so a cell of a key can be
 * carried back. */
static const char *pin_grouped(const struct dtx_plan_step *st, const struct dtx_op_facts *f,
                               const char *name)
{
	const json_t *list = f->groups ? json_object_get(st->canonical, f->groups) : NULL;
	bool all = f->all_cols && !*f->all_cols &&
	           json_object_get(json_array_get(list, 0), "all") != NULL;

	if (pin_sets(st, name) || !strcmp(dtx_json_text(st->canonical, "count_as", ""), name))
		return NULL;
	return all || pin_lists(list, name) ? name : NULL;
}

static const char *pin_group(const struct dtx_plan_step *st, uint32_t k, const char *name)
{
	const json_t *key = dtx_json_find(json_object_get(st->canonical, "by"), "as", name);

	if (k || !key)
		return NULL;
	return json_object_get(key, "expr") ? NULL : name;
}

static const char *pin_wider(const struct dtx_plan_step *st, uint32_t k, const char *name)
{
	return !k && pin_lists(json_object_get(st->canonical, "id"), name) ? name : NULL;
}

static const char *pin_longer(const struct dtx_plan_step *st, uint32_t k, const char *name)
{
	const json_t *c = st->canonical;

	if (k || pin_lists(json_object_get(c, "names_to"), name) ||
	    pin_lists(json_object_get(c, "names_to"), ".value") ||
	    !strcmp(dtx_json_text(c, "values_to", ""), name))
		return NULL;
	return name;
}

/* The rows that one row was split into have the same cells as that row, except in columns that the
 * step names. */
static const char *pin_explode(const struct dtx_plan_step *st, uint32_t k, const char *name)
{
	return k || pin_says(st->canonical, name) ? NULL : name;
}

static const char *pin_lookup(const struct dtx_plan_step *st, uint32_t k, const char *name)
{
	return k || !strcmp(dtx_json_text(st->canonical, "as", name), name) ? NULL : name;
}

/* For a column that the left table lacks: whether it is one of the right table under its own name,
 * without the suffix. */
static bool pin_right(const json_t *c, const char *name)
{
	const char *suffix = dtx_json_text(c, "suffix", "");
	size_t len = strlen(name), n = strlen(suffix);

	return n && (len < n || strcmp(name + len - n, suffix) != 0);
}

/* Columns of the left table can be carried back. So can columns that only the right table has, and
 * keys of the right table, as they are equal to those of the left one. */
static const char *pin_join(const struct dtx_plan_step *st, uint32_t k, const char *name)
{
	const json_t *c = st->canonical, *pair;
	const char *how = dtx_json_text(c, "how", "inner");

	if (!dtx_str_in_list("inner,left,semi,anti", how))
		return NULL;
	if (!k || pin_lists(json_object_get(c, "using"), name))
		return name;
	pair = dtx_json_find(json_object_get(c, "on"), "left", name);
	if (pair || !dtx_str_in_list("inner,left", how))
		return dtx_json_text(pair, "right", NULL);
	return pin_right(c, name) ? name : NULL;
}

/* The column of table k that has the cell. NULL: none, or rows without the cell may matter. */
static const char *pin_back(const struct dtx_plan_step *st, uint32_t k, const char *name)
{
	struct dtx_op_facts f = dtx_trace_facts(st);

	if (f.as_read || f.borrows)
		return NULL;
	switch (f.rows) {
	case DTX_ROWS_SAME:
	case DTX_ROWS_SORTED:
	case DTX_ROWS_FILTERED: return k ? NULL : pin_alone_from(st, f.values, name);
	case DTX_ROWS_CHOSEN:
	case DTX_ROWS_WINDOW: return k ? NULL : pin_grouped(st, &f, name);
	case DTX_ROWS_SPLIT: return pin_explode(st, k, name);
	case DTX_ROWS_LONGER: return pin_longer(st, k, name);
	case DTX_ROWS_GROUPED: return pin_group(st, k, name);
	case DTX_ROWS_WIDER: return pin_wider(st, k, name);
	case DTX_ROWS_LOOKUP: return pin_lookup(st, k, name);
	case DTX_ROWS_JOINED:
	case DTX_ROWS_SEMI:
	case DTX_ROWS_ANTI: return f.groups ? pin_join(st, k, name) : NULL;
	case DTX_ROWS_UNION: return name;
	default: return NULL;
	}
}

/* --- carrying cells back --- */

static bool pin_has(const struct trace *t, int32_t table, const char *name)
{
	const struct dtx_schema *s = t->table[table].schema;

	return s && dtx_schema_find(s, name) >= 0;
}

/* If several steps read a table, only what holds for all of them may be kept. */
static void pin_meet(struct pin *p, int32_t table, json_t *known)
{
	json_t *was = p->known[table], *value;
	const char *name;
	void *next;

	if (!was) {
		p->known[table] = json_incref(known);
		return;
	}
	json_object_foreach_safe(was, next, name, value)
	{
		if (!json_equal(json_object_get(known, name), value))
			json_object_del(was, name);
	}
}

/* Whether all later steps keep the order and decide about each row by its own cells alone. */
static bool pin_alone(const struct dtx_plan *plan, uint32_t i)
{
	for (i++; i < plan->nsteps; i++) {
		const struct dtx_plan_step *st = &plan->step[i];
		struct dtx_op_facts f = dtx_trace_facts(st);
		bool own = f.rows == DTX_ROWS_SAME || f.rows == DTX_ROWS_FILTERED;

		if (!own || f.as_read || f.borrows || !dtx_trace_plain(st->canonical))
			return false;
	}
	return true;
}

/* Whether the step keeps the first rows. The asked row is among the first rows of the whole table;
 * so it is also among the first rows that have the cell. More rows stay than in the original plan,
 * but those come later and are not asked for. */
static bool pin_first(const struct dtx_plan_step *st)
{
	struct dtx_op_facts f = dtx_trace_facts(st);

	return f.first && (!f.groups || !json_array_size(json_object_get(st->canonical, f.groups)));
}

static bool pin_joins(const struct dtx_plan_step *st)
{
	struct dtx_op_facts f = dtx_trace_facts(st);

	return f.groups &&
	       (f.rows == DTX_ROWS_JOINED || f.rows == DTX_ROWS_SEMI || f.rows == DTX_ROWS_ANTI);
}

/* The column of table k that has a cell of the step's result; NULL: none. */
static const char *pin_from(const struct pin *p, uint32_t i, uint32_t k, const char *name)
{
	const struct dtx_plan_step *st = &p->t->plan->step[i];
	const char *from;

	if (st->table[k] < 0)
		return NULL;
	from = !k && pin_first(st) && pin_alone(p->t->plan, i) ? name : pin_back(st, k, name);
	if (k && from == name && pin_joins(st) && pin_has(p->t, st->table[0], name) &&
	    !pin_lists(json_object_get(st->canonical, "using"), name) &&
	    !dtx_json_find(json_object_get(st->canonical, "on"), "left", name))
		return NULL; /* it is the left table's column */
	return from && pin_has(p->t, st->table[k], from) ? from : NULL;
}

/* The formula that computes a column from columns of the same row; NULL: none. */
static const char *pin_formula(const struct dtx_plan_step *st, const char *name)
{
	struct dtx_op_facts f = dtx_trace_facts(st);
	bool group = f.rows == DTX_ROWS_GROUPED;
	bool derived = f.rows == DTX_ROWS_SAME && f.values == DTX_VALUES_SET;
	const char *list = group ? "by" : "set";

	if ((!group && !derived) || !dtx_trace_plain(st->canonical))
		return NULL;
	return dtx_json_text(dtx_json_find(json_object_get(st->canonical, list), "as", name),
	                     "expr", NULL);
}

struct pin_of {
	const struct dtx_schema *schema;
	const struct dtx_plan_step *st;
	json_t *of;
};

static void pin_of(void *arg, const char *name)
{
	struct pin_of *o = arg;
	int32_t c = o->schema && !pin_sets(o->st, name) ? dtx_schema_find(o->schema, name) : -1;

	if (c < 0)
		o->schema = NULL;
	else
		json_object_set_new(o->of, name,
		                    json_string(dtx_type_name(o->schema->field[c].type.type)));
}

/* Adds the condition "formula == cell" to what is known about the table. */
static void pin_formed(struct pin *p, const struct dtx_plan_step *st, const char *formula,
                       const json_t *cell, json_t *back)
{
	struct pin_of o = { p->t->table[st->table[0]].schema, st, json_object() };
	struct dtx_arena arena = DTX_ARENA_INIT;
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_expr_reach reach = DTX_EXPR_REACH_INIT;
	struct dtx_expr *e = NULL;
	json_t *made = json_copy((json_t *)(uintptr_t)cell);

	if (dtx_expr_parse(&arena, dtx_str_of(formula), &e, &err) == DTX_OK) {
		dtx_expr_reach(e, false, NULL, &reach);
		dtx_expr_columns(e, pin_of, &o);
	}
	p->t->failed |= !made || !dtx_json_set(made, "of", json_incref(o.of));
	if (e && !reach.calls && o.schema && json_object_size(o.of))
		p->t->failed |= !dtx_json_set(back, formula, json_incref(made));
	json_decref(made);
	json_decref(o.of);
	dtx_err_clear(&err);
	dtx_arena_clear(&arena);
}

/* Whether all columns of a formula are columns of table k, under the same names. */
static bool pin_of_table(const struct pin *p, uint32_t i, uint32_t k, const json_t *of)
{
	const char *name, *from;
	json_t *type;

	json_object_foreach((json_t *)(uintptr_t)of, name, type)
	{
		from = pin_from(p, i, k, name);
		if (!from || strcmp(from, name) != 0)
			return false;
	}
	return true;
}

/* Carries one cell of the step's result back to table k. */
static void pin_cell(struct pin *p, uint32_t i, uint32_t k, const char *name, json_t *cell,
                     json_t *back)
{
	const struct dtx_plan_step *st = &p->t->plan->step[i];
	const json_t *of = json_object_get(cell, "of");
	const char *from = of ? NULL : pin_from(p, i, k, name);
	const char *formula = of || from || k ? NULL : pin_formula(st, name);

	if (of && pin_of_table(p, i, k, of))
		from = name;
	if (from)
		p->t->failed |= !dtx_json_set(back, from, json_incref(cell));
	else if (formula)
		pin_formed(p, st, formula, cell, back);
}

/* Whether a left join has a known cell from its right table. Rows without a match have null
 * there. */
static bool pin_paired(const struct pin *p, uint32_t i, json_t *known)
{
	const json_t *c = p->t->plan->step[i].canonical;
	const char *name;
	json_t *cell;

	json_object_foreach(known, name, cell)
	{
		if (!json_object_get(cell, "of") && pin_from(p, i, 1, name) &&
		    !pin_lists(json_object_get(c, "using"), name) &&
		    !dtx_json_find(json_object_get(c, "on"), "left", name))
			return true;
	}
	return false;
}

/* Makes such a left join an inner one, because rows without a match cannot be the asked row. */
static void pin_pairs(struct pin *p, uint32_t i)
{
	const struct dtx_plan_step *st = &p->t->plan->step[i];
	json_t *known = p->known[p->t->plan->ninputs + i], *step;

	if (!pin_joins(st) || !known ||
	    strcmp(dtx_json_text(st->canonical, "how", ""), "left") != 0 ||
	    !pin_paired(p, i, known))
		return;
	step = trace_join_of(p->t, st);
	p->t->failed |= step && !dtx_json_set(step, "how", json_string("inner"));
}

static void pin_step(struct pin *p, uint32_t i)
{
	const struct dtx_plan_step *st = &p->t->plan->step[i];
	json_t *known = p->known[p->t->plan->ninputs + i], *value;
	const char *name;

	if (!known)
		return;
	for (uint32_t k = 0; k < st->ntables; k++) {
		json_t *back = json_object();

		json_object_foreach(known, name, value) pin_cell(p, i, k, name, value, back);
		p->t->failed |= !back;
		if (back && st->table[k] >= 0)
			pin_meet(p, st->table[k], back);
		json_decref(back);
	}
}

/* --- the filters --- */

static bool pin_is_int(const char *text)
{
	size_t sign = *text == '-', len = strlen(text) - sign;

	return len && len < 18 && strspn(text + sign, "0123456789") == len &&
	       (text[sign] != '0' || (len == 1 && !sign));
}

/* Whether a text is a float as formulas write it: not "nan", and without digit grouping. */
static bool pin_is_float(const char *text)
{
	const char *digits = text + (*text == '-');

	return *digits >= '0' && *digits <= '9' && strlen(digits) < 40 &&
	       strspn(digits, "0123456789.e+-") == strlen(digits);
}

/* Whether a condition can use the cell: it is a text or a number, and the column has that type in
 * `types`. */
static bool pin_askable(const char *name, const json_t *cell, const json_t *types)
{
	const char *text = dtx_json_text(cell, "text", "");
	const char *type = dtx_json_text(cell, "type", ""), *column;
	json_t *of = json_object_get(cell, "of"), *one;

	json_object_foreach(of, column, one)
	{
		if (!json_equal(json_object_get(types, column), one))
			return false;
	}
	if (types && !of && strcmp(dtx_json_text(types, name, ""), type) != 0)
		return false;
	if (!strcmp(type, "int"))
		return pin_is_int(text);
	return !strcmp(type, "float") ? pin_is_float(text) : *text && !strcmp(type, "text");
}

/* Appends "region == 'West'", after "and" if there is something before it. */
static void pin_equal(const char *name, const json_t *cell, struct dtx_buf *out)
{
	const char *text = dtx_json_text(cell, "text", "");

	dtx_buf_add(out, out->len ? " and " : "");
	if (json_object_get(cell, "of"))
		dtx_buf_printf(out, "(%s)", name);
	else
		dtx_expr_print_name(name, out);
	dtx_buf_add(out, " == ");
	if (strcmp(dtx_json_text(cell, "type", ""), "text") != 0)
		dtx_buf_add(out, text);
	else
		dtx_expr_print_text(dtx_str_of(text), out);
}

bool dtx_trace_equal(const json_t *known, struct dtx_buf *out)
{
	const char *name;
	json_t *cell;

	json_object_foreach((json_t *)(uintptr_t)known, name, cell)
	{
		if (pin_askable(name, cell, NULL))
			pin_equal(name, cell, out);
	}
	return out->len > 0;
}

/* As dtx_trace_equal, but with only as many cells as are likely to leave few rows, because each one
 * is a column that must be read. *asked: {column: true} of these. */
static bool pin_where(const json_t *known, const json_t *types, struct dtx_buf *out, json_t *asked)
{
	json_t *left = json_copy((json_t *)(uintptr_t)known), *cell;
	int64_t rarity = 1, most;
	const char *name, *best;

	do {
		best = NULL;
		most = 0;
		json_object_foreach(left, name, cell)
		{
			int64_t differ = dtx_json_int(cell, "differ", 1);

			if (differ > most && pin_askable(name, cell, types)) {
				most = differ;
				best = name;
			}
		}
		if (best) {
			pin_equal(best, json_object_get(left, best), out);
			json_object_set_new(asked, best, json_true());
			rarity *= most;
			json_object_del(left, best);
		}
	} while (best && rarity < PIN_RARE);
	json_decref(left);
	return out->len > 0;
}

/* Makes all steps read table `other` instead of `name`. */
static void pin_instead(struct trace *t, const char *name, const char *other)
{
	json_t *step;
	size_t i;

	json_array_foreach(t->steps, i, step)
	{
		if (!strcmp(dtx_json_text(step, "in", ""), name))
			t->failed |= !dtx_json_set(step, "in", json_string(other));
		if (json_is_string(json_object_get(step, "with")) &&
		    !strcmp(dtx_json_text(step, "with", ""), name))
			t->failed |= !dtx_json_set(step, "with", json_string(other));
	}
}

static bool pin_input(struct pin *p, uint32_t input)
{
	struct trace *t = p->t;
	const char *name = t->plan->input[input].name;
	const json_t *types = json_object_get(t->ask->types, name);
	struct dtx_buf where = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	char out[TRACE_NAME];
	json_t *step = NULL;

	t->pinned[input] = json_object();
	if (types && p->known[input] &&
	    pin_where(p->known[input], types, &where, t->pinned[input])) {
		pin_instead(t, name, dtx_trace_name(out, TRACE_PIN, input));
		step = json_pack("{ss ss ss ss}", "op", "filter", "where", dtx_buf_text(&where),
		                 "in", name, "out", out);
		t->failed |=
			!dtx_buf_ok(&where) || !step || json_array_insert(t->steps, 0, step) < 0;
	}
	dtx_buf_clear(&where);
	json_decref(step);
	return step != NULL;
}

/* Removes promises about all rows (`expect` and others). The original run has checked them, and
 * they may not hold for fewer rows. */
static void pin_promises(struct trace *t)
{
	static const char *const promises[] = { "expect", "match", "cardinality" };
	json_t *step;
	size_t i, k;

	json_array_foreach(t->steps, i, step)
	{
		for (k = 0; k < DTX_COUNT(promises); k++)
			json_object_del(step, promises[k]);
	}
}

/* The known cells to start from. A column that a pivot_wider makes from values may be missing when
 * there are fewer rows, so its cells are not used. */
static json_t *pin_start(const struct trace *t)
{
	json_t *known = json_deep_copy(t->ask->known), *value;
	const char *name;
	void *next;

	for (uint32_t i = 0; known && i < t->plan->nsteps; i++) {
		const struct dtx_plan_step *st = &t->plan->step[i];

		if (dtx_trace_facts(st).rows != DTX_ROWS_WIDER)
			continue;
		json_object_foreach_safe(known, next, name, value)
		{
			if (!pin_lists(json_object_get(st->canonical, "id"), name))
				json_object_del(known, name);
		}
	}
	return known;
}

bool dtx_trace_known(struct trace *t, struct dtx_buf *where, int64_t *nth)
{
	json_t *known = pin_start(t);
	bool says = dtx_trace_equal(known, where);

	t->failed |= !known;
	/* If some cells were left out, more rows may match, so the n-th of them is not the n-th of
	 * the rows with all cells. */
	*nth = json_object_size(known) == json_object_size(t->ask->known) ? t->ask->nth : 0;
	json_decref(known);
	return says;
}

void dtx_trace_pin(struct trace *t)
{
	uint32_t ninputs = t->plan->ninputs, tables = ninputs + t->plan->nsteps;
	struct pin p = { t, dtx_mem_zalloc(tables, sizeof(json_t *)) };

	if (!p.known) {
		t->failed = true;
		return;
	}
	p.known[t->plan->output[t->ask->output].table] = pin_start(t);
	for (uint32_t i = t->plan->nsteps; i-- > 0;)
		pin_step(&p, i);
	for (uint32_t i = 0; i < ninputs; i++)
		t->out->pinned |= pin_input(&p, i);
	t->out->pinned |= t->ask->only;
	if (t->out->pinned) {
		for (uint32_t i = 0; i < t->plan->nsteps; i++)
			pin_pairs(&p, i);
		pin_promises(t);
		trace_tied(t);
	}
	for (uint32_t i = 0; i < tables; i++)
		json_decref(p.known[i]);
	dtx_mem_free(p.known);
}

/* Removes searches for the rows of a group that are not necessary.
 *
 * If the inputs begin with a filter on a known cell, and every row of a table has that cell in a
 * column, then all its rows belong to the group with that key. So all rows of the table are the
 * answer.
 *
 * This is not done in a plan with a union: there, the asked row comes from only one of the tables,
 * and other tables may have the same cells. If the asked row is not in the result after all, this
 * would name rows for it, but the caller checks that the row exists first. */

static bool tied_has(const struct trace *t, int32_t table, const char *name)
{
	const struct dtx_schema *s = table < 0 ? NULL : t->table[table].schema;

	return s && dtx_schema_find(s, name) >= 0;
}

static json_t *trace_join_of(const struct trace *t, const struct dtx_plan_step *st)
{
	uint32_t id = t->plan->ninputs + (uint32_t)(st - t->plan->step);
	static const char *const kinds[] = { "t",
		                             "b" }; /* b: the table before its rows are numbered */
	char name[TRACE_NAME];

	for (size_t i = 0; i < DTX_COUNT(kinds); i++) {
		json_t *step = dtx_trace_made_by(t->steps, dtx_trace_name(name, kinds[i], id));

		if (st->op && !strcmp(dtx_json_text(step, "op", ""), st->op->name))
			return step;
	}
	return NULL;
}

/* The table of an inner or left join from which each result row has the column; *name becomes the
 * column's name there. -1: not known. */
static int32_t tied_join(const struct trace *t, const struct dtx_plan_step *st, const char **name)
{
	const json_t *pair = dtx_json_find(json_object_get(st->canonical, "on"), "left", *name);
	bool inner = !strcmp(dtx_json_text(trace_join_of(t, st), "how", ""), "inner");

	if (!inner || (tied_has(t, st->table[0], *name) && !pair))
		return tied_has(t, st->table[0], *name) ? st->table[0] : -1;
	if (!pair) /* a column that the left table lacks is the right one's */
		return tied_has(t, st->table[1], *name) ? st->table[1] : -1;
	*name = dtx_json_text(pair, "right", "");
	return st->table[1];
}

/* The table that the values of a column are taken from unchanged; *name becomes the column's name
 * there. -1: none. */
static int32_t tied_from(const struct trace *t, const struct dtx_plan_step *st, const char **name)
{
	struct dtx_op_facts f = dtx_trace_facts(st);

	if (f.rows == DTX_ROWS_JOINED)
		return f.groups && dtx_str_in_list("inner,left",
		                                   dtx_json_text(st->canonical, "how", "inner"))
		               ? tied_join(t, st, name)
		               : -1;
	return f.rows != DTX_ROWS_LOOKUP && dtx_trace_keeps(st, *name) ? st->table[0] : -1;
}

/* Whether all rows of the table have the known cell of an input's filter in the column. */
static bool tied(const struct trace *t, int32_t table, const char *name)
{
	while (table >= (int32_t)t->plan->ninputs)
		table = tied_from(t, &t->plan->step[table - (int32_t)t->plan->ninputs], &name);
	return table >= 0 && json_object_get(t->pinned[table], name);
}

/* The table id that a table name stands for, also if steps have only renamed it. -1: none. */
static int32_t tied_table(const struct trace *t, const char *name)
{
	const json_t *step = dtx_trace_made_by(t->steps, name);
	char known[TRACE_NAME];

	while (step && dtx_trace_made_facts(step).rows == DTX_ROWS_FILTERED &&
	       !strcmp(dtx_json_text(step, "where", ""), "true")) {
		name = dtx_json_text(step, "in", "");
		step = dtx_trace_made_by(t->steps, name);
	}
	for (uint32_t i = 0; i < t->plan->ninputs + t->plan->nsteps; i++) {
		if (!strcmp(dtx_trace_name(known, "t", i), name))
			return (int32_t)i;
	}
	return -1;
}

/* Whether a step searches for the rows of walked groups by keys that are all tied to a known
 * cell. */
static bool tied_group(const struct trace *t, const json_t *step)
{
	const json_t *on = json_object_get(step, "on"), *pair;
	int32_t table = -1;
	size_t i;

	if (!strcmp(dtx_json_text(step, "how", ""), "semi") && json_array_size(on) &&
	    !strncmp(dtx_json_text(step, "out", ""), "dtx_w", strlen("dtx_w")))
		table = tied_table(t, dtx_json_text(step, "in", ""));
	json_array_foreach((json_t *)(uintptr_t)on, i, pair)
	{
		if (table < 0 || !tied(t, table, dtx_json_text(pair, "left", "")))
			return false;
	}
	return table >= 0;
}

static void trace_tied(struct trace *t)
{
	json_t *step, *all;
	size_t i;

	if (dtx_trace_unions(t))
		return;
	json_array_foreach(t->steps, i, step)
	{
		if (!tied_group(t, step))
			continue;
		all = json_pack("{ss ss sO sO}", "op", "filter", "where", "true", "in",
		                json_object_get(step, "in"), "out", json_object_get(step, "out"));
		if (!all || json_array_set_new(t->steps, i, all) < 0)
			t->failed = true;
	}
}
