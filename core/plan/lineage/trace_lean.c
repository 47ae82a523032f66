/* Rewrites the traced plan so that it gives the same results with less work.
 *
 * A table that several steps read would be kept in memory. If a table is cheap to compute from an
 * input, each reader gets its own copy of the steps instead, with only the columns that it needs.
 * The search for the rows of a group can then run on the input itself, before other steps. Rows
 * that a step only selected from a source need not be searched in it again. */
#include <stdio.h>
#include <string.h>

#include "core/expr/parse/formula_parts.h"
#include "core/plan/lineage/trace_parts.h"

enum {
	LEAN_STEPS = 500, /* with more steps than this, tables are shared again */
	LEAN_LONG = 1500 /* with more steps than this the plan stays as it is, because for each step
	                  * the whole chain before it is looked at */
};

struct lean {
	struct trace *t;
	json_t *old, *made; /* the steps before and after the rewriting */
	json_t *exact;      /* {name of a copy: name of the table that it equals} */
	uint32_t ncopies;
};

json_t *dtx_trace_made_by(const json_t *steps, const char *name)
{
	json_t *step;
	size_t i;

	json_array_foreach((json_t *)(uintptr_t)steps, i, step)
	{
		if (!strcmp(dtx_json_text(step, "out", ""), name))
			return step;
	}
	return NULL;
}

static enum dtx_op_rows lean_rows(const json_t *step)
{
	return dtx_trace_made_facts(step).rows;
}

/* Whether the step matches rows of two tables by keys. */
static bool lean_is_join(const json_t *step)
{
	enum dtx_op_rows rows = lean_rows(step);

	return dtx_trace_made_facts(step).groups &&
	       (rows == DTX_ROWS_JOINED || rows == DTX_ROWS_SEMI || rows == DTX_ROWS_ANTI);
}

static bool lean_selects(const json_t *step)
{
	return dtx_trace_made_facts(step).values == DTX_VALUES_LISTED;
}

static bool lean_has_only(const json_t *step)
{
	enum dtx_op_values values = dtx_trace_made_facts(step).values;

	return values == DTX_VALUES_LISTED || values == DTX_VALUES_UNLISTED;
}

static const char *lean_in(const json_t *step)
{
	return dtx_json_text(step, "in", "");
}

/* How many steps and outputs read a table. */
static unsigned lean_readers(const struct lean *l, const char *name)
{
	unsigned n = 0;
	json_t *step, *one;
	size_t i, k;

	json_array_foreach(l->old, i, step)
	{
		const json_t *with = json_object_get(step, "with");

		n += !strcmp(lean_in(step), name);
		n += json_is_string(with) && !strcmp(json_string_value(with), name);
		json_array_foreach((json_t *)(uintptr_t)with, k, one) n +=
			json_is_string(one) && !strcmp(json_string_value(one), name);
	}
	json_array_foreach(l->t->outputs, i, one) n +=
		!strcmp(dtx_json_text(one, "table", ""), name);
	return n;
}

/* --- tables that are read again at little cost --- */

static int32_t lean_input(const struct lean *l, const char *name)
{
	for (uint32_t i = 0; i < l->t->plan->ninputs; i++) {
		if (!strcmp(l->t->plan->input[i].name, name))
			return (int32_t)i;
	}
	return -1;
}

/* The input at the start of a chain of steps. */
static int32_t lean_source(const struct lean *l, const char *name)
{
	const json_t *maker;

	while ((maker = dtx_trace_made_by(l->old, name)) != NULL)
		name = lean_in(maker);
	return lean_input(l, name);
}

static bool lean_cheap(const struct lean *l, const char *name);

/* Whether a join is cheap to repeat: it decides about each left row on its own, and its right table
 * is small compared to the left one. */
static bool lean_joins(const struct lean *l, const json_t *step)
{
	const char *with = dtx_json_text(step, "with", NULL), *how;
	const int64_t *bytes = l->t->ask->bytes;
	int32_t left, right;

	how = dtx_json_text(step, "how", "inner");
	if (!bytes || !with || !dtx_str_in_list("inner,left,semi,anti", how) ||
	    !dtx_str_in_list("any,all_left", dtx_json_text(step, "match", "any")) ||
	    !lean_cheap(l, with))
		return false;
	left = lean_source(l, lean_in(step));
	right = lean_source(l, with);
	return left >= 0 && right >= 0 && bytes[right] <= bytes[left] / 4;
}

static bool lean_formula(const char *formula)
{
	struct dtx_expr_reach reach = DTX_EXPR_REACH_INIT;
	struct dtx_arena arena = DTX_ARENA_INIT;
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_expr *e = NULL;
	bool plain = false;

	if (dtx_expr_parse(&arena, dtx_str_of(formula), &e, &err) == DTX_OK) {
		dtx_expr_reach(e, false, NULL, &reach);
		plain = !reach.calls;
	}
	dtx_err_clear(&err);
	dtx_arena_clear(&arena);
	return plain;
}

/* Contract in trace_parts.h. */
bool dtx_trace_plain(const json_t *step)
{
	json_t *one;
	size_t i;

	json_array_foreach(json_object_get(step, "set"), i, one)
	{
		if (!lean_formula(dtx_json_text(one, "expr", "")))
			return false;
	}
	return lean_formula(dtx_json_text(step, "where", "true"));
}

/* Whether the step computes its rows one after the other, each from one input row, or keeps the
 * first rows. */
static bool lean_streams(const json_t *step)
{
	struct dtx_op_facts f = dtx_trace_made_facts(step);
	const struct dtx_op *op = dtx_op_named(dtx_json_text(step, "op", ""));
	bool own = f.rows == DTX_ROWS_SAME || f.rows == DTX_ROWS_FILTERED;

	return op && op->map && !op->sink && !f.as_read && (own || f.first) &&
	       f.values != DTX_VALUES_ANY && (f.values == DTX_VALUES_KEPT || !f.borrows) &&
	       dtx_trace_plain(step);
}

static bool lean_cheap(const struct lean *l, const char *name)
{
	const json_t *maker = dtx_trace_made_by(l->old, name);
	int32_t input = lean_input(l, name);

	if (json_array_size(l->old) > LEAN_LONG)
		return false;
	if (!maker)
		return input >= 0 && l->t->bound->input[input].places == DTX_PLACES_LINES;
	/* A filter of trace_pin.c leaves few rows, which may be kept. */
	if (!strncmp(name, "dtx_" TRACE_PIN, strlen("dtx_" TRACE_PIN)))
		return false;
	/* A promise about all rows of a step is checked just once. */
	if (json_object_get(maker, "expect") || !lean_cheap(l, lean_in(maker)))
		return false;
	if (lean_is_join(maker))
		return lean_joins(l, maker);
	return lean_streams(maker);
}

/* --- copies --- */

static bool lean_names(const json_t *on, const char *column)
{
	json_t *key;
	size_t i;

	json_array_foreach((json_t *)(uintptr_t)on, i, key)
	{
		if (!strcmp(dtx_json_text(key, "left", ""), column))
			return true;
	}
	return false;
}

/* The schema of a table by its name in the traced plan; NULL: not known. */
static const struct dtx_schema *lean_schema(const struct lean *l, const char *name)
{
	char known[TRACE_NAME];
	int32_t input = lean_input(l, name);

	if (input >= 0)
		return l->t->table[input].schema;
	for (uint32_t i = 0; i < l->t->plan->ninputs + l->t->plan->nsteps; i++) {
		if (!strcmp(dtx_trace_name(known, "t", i), name))
			return l->t->table[i].schema;
	}
	return NULL;
}

/* Whether the semi join `semi` gives the same rows when it runs before the step. */
static bool lean_passes(const struct lean *l, const json_t *step, const json_t *semi)
{
	const json_t *on = json_object_get(semi, "on");
	const struct dtx_schema *left;
	json_t *one;
	size_t i;

	if (lean_rows(step) == DTX_ROWS_FILTERED || lean_has_only(step))
		return true;
	if (lean_rows(step) == DTX_ROWS_SAME &&
	    dtx_trace_made_facts(step).values == DTX_VALUES_SET) {
		json_array_foreach(json_object_get(step, "set"), i, one)
		{
			if (lean_names(on, dtx_json_text(one, "as", "")))
				return false;
		}
		return true;
	}
	left = lean_is_join(step) ? lean_schema(l, lean_in(step)) : NULL;
	json_array_foreach((json_t *)(uintptr_t)on, i, one)
	{
		if (!left || dtx_schema_find(left, dtx_json_text(one, "left", "")) < 0)
			return false;
	}
	return left != NULL;
}

static void lean_emit(struct lean *l, json_t *step, const char *in, const char *out)
{
	l->t->failed |= !step || !dtx_json_set(step, "in", json_string(in)) ||
	                !dtx_json_set(step, "out", json_string(out)) ||
	                json_array_append(l->made, step) < 0;
	json_decref(step);
}

/* Copies the steps that make a table, without the rows that `semi` drops (NULL: with all rows). The
 * semi join moves as far towards the input as possible. `out` is the name of the copy. */
static void lean_copy(struct lean *l, const char *name, const json_t *semi, char out[TRACE_NAME])
{
	const json_t *maker = dtx_trace_made_by(l->old, name);
	char in[TRACE_NAME], with[TRACE_NAME];
	const json_t *below = maker && semi && lean_passes(l, maker, semi) ? semi : NULL;
	json_t *step;

	snprintf(out, TRACE_NAME, "%s", name);
	if (maker) {
		lean_copy(l, lean_in(maker), below, in);
		step = json_deep_copy(maker);
		if (lean_is_join(maker)) {
			lean_copy(l, dtx_json_text(maker, "with", ""), NULL, with);
			l->t->failed |= !dtx_json_set(step, "with", json_string(with));
		}
		lean_emit(l, step, in, dtx_trace_name(out, "z", l->ncopies++));
		if (!below)
			l->t->failed |= !dtx_json_set(l->exact, out, json_string(name));
	}
	if (semi && !below) {
		snprintf(in, TRACE_NAME, "%s", out);
		lean_emit(l, json_deep_copy(semi), in, dtx_trace_name(out, "z", l->ncopies++));
	}
}

/* The name of the table that a step reads instead of `name`: a copy of its own if that is cheap. */
static json_t *lean_own(struct lean *l, const char *name)
{
	char own[TRACE_NAME];

	if (!dtx_trace_made_by(l->old, name) || lean_readers(l, name) < 2 || !lean_cheap(l, name) ||
	    json_array_size(l->made) > LEAN_STEPS)
		return json_string(name);
	lean_copy(l, name, NULL, own);
	return json_string(own);
}

/* Whether the step searches for rows by keys, which are those of a group. */
static bool lean_is_keyed(const json_t *step)
{
	return lean_rows(step) == DTX_ROWS_SEMI && json_object_get(step, "on");
}

static void lean_split_step(struct lean *l, const json_t *was)
{
	const json_t *with = json_object_get(was, "with");
	char rows[TRACE_NAME];
	json_t *step, *in, *last;

	if (lean_is_keyed(was) && lean_cheap(l, lean_in(was)) &&
	    json_array_size(l->made) <= LEAN_STEPS) {
		lean_copy(l, lean_in(was), was, rows);
		last = json_array_get(l->made, json_array_size(l->made) - 1);
		l->t->failed |=
			!dtx_json_set(last, "out", json_string(dtx_json_text(was, "out", "")));
		return;
	}
	in = lean_own(l, lean_in(was));
	l->t->failed |= !in;
	step = json_deep_copy(was);
	if (json_is_string(with))
		l->t->failed |= !dtx_json_set(step, "with", lean_own(l, json_string_value(with)));
	lean_emit(l, step, json_is_string(in) ? json_string_value(in) : "",
	          dtx_json_text(was, "out", ""));
	json_decref(in);
}

/* --- rows that need not be found again --- */

static const char *lean_equal(const struct lean *l, const char *name)
{
	return dtx_json_text(l->exact, name, name);
}

static bool lean_narrows(const json_t *step)
{
	struct dtx_op_facts f = dtx_trace_made_facts(step);

	if (f.rows == DTX_ROWS_SEMI || f.rows == DTX_ROWS_ANTI)
		return true;
	return f.values == DTX_VALUES_KEPT &&
	       (f.rows == DTX_ROWS_SAME || f.rows == DTX_ROWS_FILTERED ||
	        (f.rows == DTX_ROWS_CHOSEN && f.first));
}

static bool lean_lists(const json_t *list, const char *name)
{
	json_t *one;
	size_t i;

	json_array_foreach((json_t *)(uintptr_t)list, i, one)
	{
		const char *as = json_is_string(one) ? json_string_value(one)
		                                     : dtx_json_text(one, "as", NULL);

		if (as && !strcmp(as, name))
			return true;
	}
	return false;
}

/* Whether the step only adds columns, with other names than `cols`. */
static bool lean_adds(const json_t *step, const json_t *cols)
{
	const char *suffix = dtx_json_text(step, "suffix", ""), *as;
	json_t *one;
	size_t i;

	json_array_foreach((json_t *)(uintptr_t)cols, i, one)
	{
		const char *name = json_string_value(one);
		size_t len = strlen(name), n = strlen(suffix);

		as = dtx_json_text(step, "as", NULL);
		if ((as && !strcmp(as, name)) ||
		    (!as && (!n || (len >= n && !strcmp(name + len - n, suffix)))))
			return false;
	}
	return json_array_size(cols) > 0;
}

/* Whether each result row is one of the input rows with the columns `cols` unchanged. An input row
 * may occur twice. */
static bool lean_keeps(const json_t *step, const json_t *cols)
{
	struct dtx_op_facts f = dtx_trace_made_facts(step);
	bool kept = lean_selects(step), set = f.values == DTX_VALUES_SET;
	const json_t *list = json_object_get(step, set ? "set" : "cols");
	json_t *one;
	size_t i;

	if (lean_is_join(step))
		return dtx_str_in_list("inner,left,cross", dtx_json_text(step, "how", "inner"));
	if (f.rows == DTX_ROWS_WINDOW && !set)
		return lean_adds(step, cols);
	if ((!set && !lean_has_only(step)) || !json_array_size(list))
		return false;
	json_array_foreach((json_t *)(uintptr_t)cols, i, one)
	{
		if (lean_lists(list, json_string_value(one)) != kept)
			return false;
	}
	return json_array_size(cols) > 0;
}

static bool lean_any(const json_t *tables, const json_t *name)
{
	json_t *one;
	size_t i;

	if (json_is_string(name))
		return json_object_get(tables, json_string_value(name)) != NULL;
	json_array_foreach((json_t *)(uintptr_t)name, i, one)
	{
		if (lean_any(tables, one))
			return true;
	}
	return false;
}

/* The tables that may have the row number `column`, as {name: true}; new. */
static json_t *lean_numbered(const struct lean *l, const char *column)
{
	json_t *tables = json_object(), *step;
	size_t i;

	json_array_foreach(l->made, i, step)
	{
		bool has = lean_any(tables, json_object_get(step, "in")) ||
		           lean_any(tables, json_object_get(step, "with"));

		if (lean_rows(step) == DTX_ROWS_SAME &&
		    !strcmp(dtx_json_text(step, "as", ""), column))
			has = true;
		else if (lean_rows(step) == DTX_ROWS_GROUPED || lean_rows(step) == DTX_ROWS_WIDER ||
		         lean_rows(step) == DTX_ROWS_WHOLE)
			has = false;
		if (has)
			l->t->failed |=
				!dtx_json_set(tables, dtx_json_text(step, "out", ""), json_true());
	}
	return tables;
}

/* The last table on the way from `source` to `name` whose rows are rows of `source` with the
 * columns `cols` (NULL: all) unchanged, and include those of `name`. Returns `source` if there is
 * none, or if rows also came another way. */
static const char *lean_nearest(const struct lean *l, const char *name, const char *source,
                                const json_t *cols, const json_t *numbered)
{
	const char *near = name, *at = name;

	while (strcmp(lean_equal(l, at), lean_equal(l, source)) != 0) {
		const json_t *maker = dtx_trace_made_by(l->made, at);

		if (!maker ||
		    (!lean_narrows(maker) && lean_any(numbered, json_object_get(maker, "with"))))
			return source;
		at = lean_in(maker);
		if (!lean_narrows(maker) && !lean_keeps(maker, cols))
			near = at;
	}
	return !strcmp(near, at) ? source : near;
}

/* Whether the step finds the rows of a source whose row number occurs in another table. */
static bool lean_is_numbered(const json_t *step)
{
	const json_t *using = json_object_get(step, "using");
	const char *column = json_string_value(json_array_get(using, 0));

	return lean_rows(step) == DTX_ROWS_SEMI && column && !strncmp(column, "dtx_r", 5);
}

static void lean_found(struct lean *l, json_t *step)
{
	const json_t *narrow = dtx_trace_made_by(l->made, lean_in(step));
	bool selects = narrow && lean_selects(narrow);
	const char *source = selects ? lean_in(narrow) : lean_in(step);
	const char *with = dtx_json_text(step, "with", ""), *near;
	char rows[TRACE_NAME];
	json_t *numbered;

	numbered = lean_numbered(
		l, json_string_value(json_array_get(json_object_get(step, "using"), 0)));
	l->t->failed |= !numbered;
	near = lean_nearest(l, with, source, selects ? json_object_get(narrow, "cols") : NULL,
	                    numbered);
	json_decref(numbered);
	if (!strcmp(near, source)) {
		l->t->failed |= json_array_append(l->t->steps, step) < 0;
		return;
	}
	snprintf(rows, TRACE_NAME, "%s", near);
	if (strcmp(near, with) != 0)
		dtx_trace_add(l->t, json_deep_copy(step), near,
		              dtx_trace_name(rows, "z", l->ncopies++));
	dtx_trace_add(
		l->t,
		selects ? json_pack("{ss so}", "op", "select",
	                            "cols", /* trace_prune.c removes the row numbers from it */
	                            json_deep_copy(json_object_get(narrow, "cols")))
			: json_pack("{ss ss}", "op", "filter", "where", "true"),
		rows, dtx_json_text(step, "out", ""));
}

/* --- an aggregate of rows that are listed all --- */

static void lean_column(void *arg, const char *name)
{
	json_object_set_new(arg, name, json_true());
}

/* Whether the aggregates that `reader` uses need only the columns `cols`. Removes the other
 * aggregates. */
static bool lean_within(struct lean *l, const json_t *group, const json_t *reader,
                        const json_t *cols)
{
	struct dtx_arena arena = DTX_ARENA_INIT;
	struct dtx_err err = DTX_ERR_INIT;
	json_t *aggs = json_object_get(group, "agg"), *seen = json_object(), *value;
	bool within = seen != NULL;
	const char *name;

	for (size_t i = json_array_size(aggs); within && i-- > 0;) {
		const json_t *one = json_array_get(aggs, i);
		struct dtx_expr *e = NULL;

		if (!lean_lists(json_object_get(reader, "cols"), dtx_json_text(one, "as", ""))) {
			json_array_remove(aggs, i);
			continue;
		}
		within = dtx_expr_parse(&arena, dtx_str_of(dtx_json_text(one, "expr", "")), &e,
		                        &err) == DTX_OK;
		if (within)
			dtx_expr_columns(e, lean_column, seen);
	}
	json_object_foreach(seen, name, value) within = within && lean_lists(cols, name);
	l->t->failed |= !seen;
	json_decref(seen);
	dtx_err_clear(&err);
	dtx_arena_clear(&arena);
	return within;
}

/* The only step that reads a table, if it lists the columns that it takes. */
static const json_t *lean_reader(const struct lean *l, const char *name)
{
	const json_t *reader = NULL;
	json_t *step;
	size_t i;

	json_array_foreach(l->t->steps, i, step)
	{
		if (!strcmp(lean_in(step), name))
			reader = !reader && lean_selects(step) ? step : NULL;
	}
	return reader;
}

/* If an output lists all rows of an input, they are kept in memory anyway. Then an aggregate of all
 * rows reads those and not the input once more. */
static void lean_share(struct lean *l, size_t at)
{
	json_t *list = json_array_get(l->t->steps, at), *step = NULL;
	const char *in = lean_in(list), *out = dtx_json_text(list, "out", "");
	size_t i;

	if (!lean_selects(list) || lean_input(l, in) < 0 ||
	    !dtx_json_find(l->t->outputs, "table", out))
		return;
	json_array_foreach(l->t->steps, i, step)
	{
		const json_t *reader = lean_reader(l, dtx_json_text(step, "out", ""));

		if (i < at && lean_rows(step) == DTX_ROWS_GROUPED && !strcmp(lean_in(step), in) &&
		    !json_array_size(json_object_get(step, "by")) && reader &&
		    !json_object_get(step, "having") &&
		    lean_within(l, step, reader, json_object_get(list, "cols")))
			break;
	}
	if (i == json_array_size(l->t->steps))
		return;
	l->t->failed |= !dtx_json_set(step, "in", json_string(out)) ||
	                json_array_insert(l->t->steps, i, list) < 0;
	json_array_remove(l->t->steps, at + 1);
}

void dtx_trace_lean(struct trace *t)
{
	struct lean l = { .t = t, .old = t->steps, .made = json_array(), .exact = json_object() };
	json_t *step;
	size_t i;

	if (!l.made || !l.exact) {
		t->failed = true;
		goto out;
	}
	json_array_foreach(l.old, i, step) lean_split_step(&l, step);
	t->steps = json_array();
	json_decref(l.old);
	json_array_foreach(l.made, i, step)
	{
		if (lean_is_numbered(step))
			lean_found(&l, step);
		else
			t->failed |= json_array_append(t->steps, step) < 0;
	}
	dtx_trace_prune(t);
	for (i = 0; t->ask->only && i < json_array_size(t->steps); i++)
		lean_share(&l, i);
out:
	json_decref(l.made);
	json_decref(l.exact);
}
