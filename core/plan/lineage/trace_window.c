/* Finds the rows that a window step looked at.
 *
 * A step may compute values from several rows of a group: all of them, or those at certain
 * distances. For each walked row, the walk back has the rows of its group, or only those between
 * the first and the last place that a formula looks at. */
#include <stdio.h>
#include <string.h>

#include "core/expr/parse/formula_parts.h"
#include "core/plan/lineage/trace_parts.h"

static void window_reach(const char *formula, bool ordered, const json_t *frame,
                         struct dtx_expr_reach *out)
{
	struct dtx_arena arena = DTX_ARENA_INIT;
	struct dtx_err err = DTX_ERR_INIT;
	const json_t *rows = json_object_get(frame, "rows");
	const json_t *lo = json_array_get(rows, 0), *hi = json_array_get(rows, 1);
	int64_t ends[2] = { json_is_integer(lo) ? json_integer_value(lo) : INT64_MIN,
		            json_is_integer(hi) ? json_integer_value(hi) : INT64_MAX };
	struct dtx_expr *e = NULL;

	if (dtx_expr_parse(&arena, dtx_str_of(formula), &e, &err) == DTX_OK) {
		dtx_expr_reach(e, ordered, json_object_size(frame) ? ends : NULL, out);
		out->own = !dtx_expr_is_call(e);
	} else {
		*out = (struct dtx_expr_reach){ INT64_MIN, INT64_MAX, 1, true, true };
	}
	out->loose |= json_object_size(frame) && !rows;
	dtx_err_clear(&err);
	dtx_arena_clear(&arena);
}

bool dtx_trace_windows(const struct dtx_plan_step *st)
{
	const json_t *set = json_object_get(st->canonical, "set"), *one;
	size_t i;

	if (dtx_trace_facts(st).values != DTX_VALUES_SET)
		return false;
	json_array_foreach((json_t *)(uintptr_t)set, i, one)
	{
		struct dtx_expr_reach r = DTX_EXPR_REACH_INIT;

		window_reach(dtx_json_text(one, "expr", ""), false, NULL, &r);
		if (r.calls)
			return true;
	}
	return false;
}

/* Whether the formula is a single call, or uses only one column. Otherwise the answer may name a
 * cell of a row that only another call of the formula looked at. */
static void window_first(void *arg, const char *name)
{
	json_object_set_new(arg, name, json_true());
}

static bool window_plain(const char *formula)
{
	struct dtx_arena arena = DTX_ARENA_INIT;
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_expr *e = NULL;
	json_t *names = json_object();
	bool plain = false;

	if (names && dtx_expr_parse(&arena, dtx_str_of(formula), &e, &err) == DTX_OK) {
		dtx_expr_columns(e, window_first, names);
		plain = dtx_expr_is_call(e) || json_object_size(names) < 2;
	}
	json_decref(names);
	dtx_err_clear(&err);
	dtx_arena_clear(&arena);
	return plain;
}

/* How far the items of `set` look on which the asked column depends. */
static void window_items(struct trace *t, const struct dtx_plan_step *st, int32_t id,
                         struct dtx_expr_reach *out)
{
	const json_t *set = json_object_get(st->canonical, "set"), *one;
	bool ordered = json_array_size(json_object_get(st->canonical, "order")) > 0;
	unsigned hits = 0;
	size_t i;

	json_array_foreach((json_t *)(uintptr_t)set, i, one)
	{
		struct dtx_expr_reach r = DTX_EXPR_REACH_INIT;
		const char *formula = dtx_json_text(one, "expr", "");

		if (!dtx_trace_needs(t, id, dtx_json_text(one, "as", "")))
			continue;
		window_reach(formula, ordered, json_object_get(one, "frame"), &r);
		if (!r.calls)
			continue;
		out->lo = DTX_MIN(out->lo, r.lo);
		out->hi = DTX_MAX(out->hi, r.hi);
		out->own |= r.own;
		out->loose |= r.loose || !window_plain(formula) || hits++;
		out->calls += r.calls;
	}
}

/* The same for ops that are window functions. The columns that they make have names that their
 * input does not have. */
static void window_op(struct trace *t, const struct dtx_plan_step *st, int32_t id,
                      struct dtx_expr_reach *out)
{
	bool hit =
		json_object_get(t->need[id], "*") || !*dtx_json_text(st->canonical, "suffix", "x");
	struct dtx_op_facts f = dtx_trace_facts(st);
	const char *name;
	json_t *value;

	json_object_foreach(t->need[id], name, value) hit |= dtx_trace_makes(t, st, name);
	if (!hit)
		return;
	*out = (struct dtx_expr_reach){ f.lo, f.hi, 1, f.loose, false };
}

#define WINDOW_PLACE "dtx_p" /* place of a row in its group */

/* Appends the condition "place >= dtx_lo + lo and place <= dtx_hi + hi". */
static void window_between(const struct dtx_expr_reach *r, const char *place, struct dtx_buf *out)
{
	const char *sep = "";

	if (r->lo != INT64_MIN) {
		dtx_buf_printf(out, "%s >= dtx_lo + (%lld)", place, (long long)r->lo);
		sep = " and ";
	}
	if (r->hi != INT64_MAX)
		dtx_buf_printf(out, "%s%s <= dtx_hi + (%lld)", sep, place, (long long)r->hi);
}

static json_t *window_pairs(struct trace *t, const json_t *by)
{
	json_t *on = json_array(), *one;
	size_t i;

	json_array_foreach((json_t *)(uintptr_t)by, i, one)
		dtx_trace_append(t, on, json_pack("{sO sO}", "left", one, "right", one));
	return on;
}

/* Makes `rows`: of the groups of `walk`, the rows of `placed` from the first to the last place that
 * the walked rows look at. `walk` has rows of `placed`. */
static void window_near(struct trace *t, const json_t *by, const struct dtx_expr_reach *r,
                        const char *placed, const char *place, const char *walk, uint32_t n,
                        const char *rows)
{
	char ends[TRACE_NAME], both[TRACE_NAME], kept[TRACE_NAME];
	struct dtx_buf where = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	json_t *on = window_pairs(t, by), *keys = json_array(), *one, *join;
	size_t i;

	json_array_foreach(on, i, one)
		dtx_trace_append(t, keys,
	                         json_pack("{sO sO}", "as", json_object_get(one, "left"), "expr",
	                                   json_object_get(one, "left")));
	dtx_trace_name(ends, "e", n);
	dtx_trace_name(both, "y", n);
	dtx_trace_name(kept, "x", n);
	dtx_trace_add(t,
	              json_pack("{ss sO s[{ss so} {ss so}]}", "op", "group_by", "by",
	                        by ? by : keys, "agg", "as", "dtx_lo", "expr",
	                        json_sprintf("min(%s)", place), "as", "dtx_hi", "expr",
	                        json_sprintf("max(%s)", place)),
	              walk, ends);
	join = json_array_size(on)
	               ? json_pack("{ss ss ss sO sb}", "op", "join", "how", "inner", "with", ends,
	                           "on", on, "nulls_equal", true)
	               : json_pack("{ss ss ss}", "op", "join", "how", "cross", "with", ends);
	dtx_trace_add(t, join, placed, both);
	window_between(r, place, &where);
	t->failed |= !dtx_buf_ok(&where);
	dtx_trace_add(t, json_pack("{ss ss}", "op", "filter", "where", dtx_buf_text(&where)), both,
	              kept);
	dtx_trace_add(t,
	              json_pack("{ss s[sss*]}", "op", "drop", "cols", "dtx_lo", "dtx_hi",
	                        strcmp(place, WINDOW_PLACE) ? NULL : place),
	              kept, rows);
	json_decref(on);
	json_decref(keys);
	dtx_buf_clear(&where);
}

/* Makes `rows`: all rows of the groups of `walk`. sure: `walk` certainly has a row. */
static void window_group(struct trace *t, const json_t *by, const char *in, const char *walk,
                         bool sure, const char *rows)
{
	json_t *on = window_pairs(t, by);

	if (json_array_size(on))
		dtx_trace_add(t,
		              json_pack("{ss ss ss sO sb}", "op", "join", "how", "semi", "with",
		                        walk, "on", on, "nulls_equal", true),
		              in, rows);
	else if (sure)
		dtx_trace_add(t, json_pack("{ss ss}", "op", "filter", "where", "true"), in, rows);
	else
		dtx_trace_meets(t, in, walk, "semi", rows);
	json_decref(on);
}

/* Whether the step overwrites a column that names the groups. */
static bool window_regroups(const struct dtx_plan_step *st, const json_t *by)
{
	json_t *one, *key;
	size_t i, k;

	json_array_foreach(json_object_get(st->canonical, "set"), i, one)
	{
		json_array_foreach((json_t *)(uintptr_t)by, k, key)
		{
			if (json_equal(json_object_get(one, "as"), key))
				return true;
		}
	}
	return false;
}

static bool window_alike(const json_t *a, const json_t *b)
{
	return (!json_array_size(a) && !json_array_size(b)) || json_equal(a, b);
}

/* Whether the step lists the columns that stay, by name. */
static bool window_listed(const struct trace *t, int32_t table)
{
	const struct dtx_plan_step *st = &t->plan->step[table - (int32_t)t->plan->ninputs];

	return t->table[table].schema && dtx_trace_how(t, st) == TRACE_LIST;
}

/* Whether an additional column of table `id` would also appear in `table`. */
static bool window_shows(const struct trace *t, int32_t id, int32_t table)
{
	while (table > id && !window_listed(t, table))
		table = t->plan->step[table - (int32_t)t->plan->ninputs].table[0];
	return table == id;
}

/* Whether a step ignores columns that it does not name. */
static bool window_blind(const struct dtx_plan_step *st)
{
	struct dtx_op_facts f = dtx_trace_facts(st);

	if (f.as_read || f.borrows || f.all_cols || st->ntables != 1)
		return false;
	switch (f.rows) {
	case DTX_ROWS_SAME:
	case DTX_ROWS_SORTED:
	case DTX_ROWS_FILTERED:
	case DTX_ROWS_CHOSEN: break;
	default: return false;
	}
	return f.values == DTX_VALUES_KEPT || f.values == DTX_VALUES_LISTED ||
	       f.values == DTX_VALUES_UNLISTED || f.values == DTX_VALUES_SET;
}

/* Whether an additional column in the step's result would change no later step. */
static bool window_unseen(const struct trace *t, const struct dtx_plan_step *st)
{
	int32_t id = (int32_t)(t->plan->ninputs + (uint32_t)(st - t->plan->step));

	for (st++; st < t->plan->step + t->plan->nsteps; st++) {
		for (uint32_t k = 0; k < st->ntables; k++) {
			if (!window_blind(st) && window_shows(t, id, st->table[k]))
				return false;
		}
	}
	return true;
}

/* Lets the step itself compute the places, if its window is the same and no later step would see
 * the new column. This saves sorting the rows again. */
static bool window_places_there(struct trace *t, const struct dtx_plan_step *st, const char *in)
{
	const json_t *number = dtx_trace_made_by(t->steps, in);
	json_t *base =
		(json_t *)(uintptr_t)dtx_trace_made_by(t->steps, dtx_json_text(number, "in", ""));

	if (!window_unseen(t, st) || dtx_trace_made_facts(base).values != DTX_VALUES_SET ||
	    !json_array_size(json_object_get(base, "order")) ||
	    !window_alike(json_object_get(base, "order"),
	                  json_object_get(st->canonical, "order")) ||
	    !window_alike(json_object_get(base, "by"), json_object_get(st->canonical, "by")))
		return false;
	dtx_trace_append(t, json_object_get(base, "set"),
	                 json_pack("{ss ss}", "as", WINDOW_PLACE, "expr", "row_number()"));
	return true;
}

/* Makes the table with each row's place in its group. */
static void window_places(struct trace *t, const struct dtx_plan_step *st, uint32_t bit,
                          const char *in, bool judged, char placed[TRACE_NAME])
{
	const json_t *by = json_object_get(st->canonical, "by");
	const json_t *order = json_object_get(st->canonical, "order");
	json_t *step;

	if (window_places_there(t, st, in)) {
		snprintf(placed, TRACE_NAME, "%s", in);
		return;
	}
	step = json_pack("{ss s[{ss ss}]}", "op", "window", "set", "as", WINDOW_PLACE, "expr",
	                 "row_number()");
	if (json_array_size(by))
		json_object_set(step, "by", (json_t *)(uintptr_t)by);
	/* Without an order, rows have the order of the table, which is that of their numbers. */
	if (json_array_size(order))
		json_object_set(step, "order", (json_t *)(uintptr_t)order);
	else
		json_object_set_new(step, "order",
		                    json_pack("[{so}]", "col", json_sprintf("dtx_r%u", bit)));
	dtx_trace_add(t, step, in, dtx_trace_name(placed, judged ? "po" : "p", bit));
}

/* Adds a walk without values for the walked rows: they exist in the result, but the step did not
 * look at them for the value. */
static void window_part(struct trace *t, uint32_t w, int32_t id, uint64_t ids)
{
	char name[TRACE_NAME];

	snprintf(name, sizeof(name), "%s", t->walk[w].name);
	t->walk[w].ids &= ~ids;
	dtx_trace_walked(t, name, ids, id, NULL,
	                 &(struct trace_via){ .from = (int32_t)w, .bit = TRACE_BITS });
}

/* Whether the values come only from other rows, so that no cell of the row itself is in them. */
static bool window_elsewhere(struct trace *t, int32_t id, const struct dtx_expr_reach *r, bool any)
{
	bool is = !r->own && !any && json_object_size(t->need[id]) == 1 && (r->lo > 0 || r->hi < 0);

	/* After a union, row numbers do not tell the row itself from the others. */
	t->out->wide |= is && dtx_trace_unions(t);
	return is && !dtx_trace_unions(t);
}

/* A window step and how to find the rows that it looked at. */
struct window_step {
	const json_t *by;
	struct dtx_expr_reach reach;
	char in[TRACE_NAME], placed[TRACE_NAME], column[TRACE_NAME], source[TRACE_NAME];
	uint32_t bit;
	bool near;     /* rows at some distance, not the whole group */
	bool numbered; /* without groups and order, the row numbers are the places */
	bool judges;   /* for the columns that decided which rows exist */
};

/* Makes the table of rows that walk w looked at. */
static void window_rows(struct trace *t, const struct window_step *s, uint32_t w,
                        char rows[TRACE_NAME])
{
	uint32_t number = (s->bit + (s->judges ? TRACE_BITS : 0)) * TRACE_SOURCES + w;
	char group[TRACE_NAME];

	if (s->near && s->numbered)
		snprintf(group, sizeof(group), "%s", t->walk[w].name);
	else
		dtx_trace_semi(t, s->placed, t->walk[w].name, s->column,
		               dtx_trace_name(group, "g", number));
	dtx_trace_name(rows, "w", number + 1);
	if (s->near)
		window_near(t, s->by, &s->reach, s->placed, s->numbered ? s->column : WINDOW_PLACE,
		            group, number, rows);
	else
		window_group(t, s->by, s->source, group, dtx_trace_sure(t, w), rows);
}

static void window_named(struct trace *t, const struct dtx_plan_step *st, struct window_step *s,
                         int32_t id, bool regroups)
{
	s->near = s->reach.lo != INT64_MIN || s->reach.hi != INT64_MAX;
	s->numbered = !json_array_size(s->by) &&
	              !json_array_size(json_object_get(st->canonical, "order"));
	dtx_trace_name(s->in, "t", (uint32_t)id);
	dtx_trace_name(s->source, "t", (uint32_t)(regroups ? id : st->table[0]));
	dtx_trace_name(s->column, "r", s->bit);
	if (s->near && !s->numbered)
		window_places(t, st, s->bit, s->in, s->judges, s->placed);
	else
		snprintf(s->placed, sizeof(s->placed), "%s", s->in);
}

/* Adds the rows that a window step looked at for the needed columns, and returns how far it looked.
 *
 * With `judged`, the result of the first call, it goes through the columns that decided which rows
 * exist. It then adds only rows that are further away; these have no cell in the value. */
static struct dtx_expr_reach window_walk(struct trace *t, uint32_t bit, uint32_t n,
                                         const struct dtx_expr_reach *judged)
{
	uint32_t i = t->bit_step[bit];
	int32_t id = (int32_t)(t->plan->ninputs + i);
	const struct dtx_plan_step *st = &t->plan->step[i];
	struct window_step s = { .by = json_object_get(st->canonical, "by"),
		                 .reach = DTX_EXPR_REACH_INIT,
		                 .bit = bit,
		                 .judges = judged != NULL };
	struct dtx_expr_reach *r = &s.reach;
	uint64_t ids = t->table[id].ids & ~((uint64_t)1 << bit);
	bool elsewhere, regroups = window_regroups(st, s.by);
	/* It may be any column, even one that the step does not change. */
	bool any = json_object_get(t->need[id], "*") != NULL;

	if (json_array_size(json_object_get(st->canonical, "set")))
		window_items(t, st, id, r);
	else
		window_op(t, st, id, r);
	if (!r->calls || (judged && judged->calls && judged->lo <= r->lo && judged->hi >= r->hi))
		return *r;
	elsewhere = !judged && window_elsewhere(t, id, r, any);
	/* Rows are also named that only the value of the row itself needed. */
	t->out->wide |=
		!judged && (r->loose || any || json_object_size(t->need[id]) > 1 || regroups);
	window_named(t, st, &s, id, regroups);
	for (uint32_t w = 0; w < n; w++) {
		char rows[TRACE_NAME];
		json_t *of;

		if (!(t->walk[w].ids >> bit & 1))
			continue;
		/* Between the places of several walked rows there may be rows that none of them
		 * looked at. */
		t->out->wide |=
			!judged && s.near && r->lo != INT64_MIN && r->hi != INT64_MAX && w > 0;
		window_rows(t, &s, w, rows);
		if (elsewhere)
			window_part(t, w, id, ids);
		of = judged ? NULL : dtx_trace_made_of(t, i, dtx_trace_reached(t, w, id));
		dtx_trace_walked(t, rows, ids, st->table[0], of,
		                 &(struct trace_via){ .from = (int32_t)w,
		                                      .bit = bit,
		                                      .near = s.near,
		                                      .lo = r->lo,
		                                      .hi = r->hi });
		json_decref(of);
	}
	return *r;
}

void dtx_trace_back_window(struct trace *t, uint32_t bit)
{
	uint32_t n = t->nwalks;
	struct dtx_expr_reach r = window_walk(t, bit, n, NULL);
	json_t **need = t->need;

	t->need = t->judged;
	(void)window_walk(t, bit, n, &r);
	t->need = need;
}

/* Finds the long rows that a row, or one cell, of a pivot_wider came from. */

json_t *dtx_trace_wider_keys(struct trace *t, const struct dtx_plan_step *st)
{
	const struct dtx_schema *s = t->table[st->table[0]].schema;
	const json_t *id = json_object_get(st->canonical, "id"), *one;
	const json_t *names = json_object_get(st->canonical, "names_from");
	const json_t *values = json_object_get(st->canonical, "values_from");
	json_t *on = json_array(), *rest = id ? NULL : dtx_trace_names(t, s);
	size_t i, k;

	json_array_foreach((json_t *)(uintptr_t)(id ? id : rest), i, one)
	{
		bool used = false;

		for (k = 0; !id && k < json_array_size(names) + json_array_size(values); k++)
			used |= json_equal(
				one, k < json_array_size(names)
					     ? json_array_get(names, k)
					     : json_array_get(values, k - json_array_size(names)));
		if (!used)
			dtx_trace_append(t, on, json_pack("{sO sO}", "left", one, "right", one));
	}
	json_decref(rest);
	return on;
}

/* What follows v in the name of a wide column that has values of v; NULL: it has not. */
static const char *wider_after(const struct dtx_plan_step *st, const char *v, const char *name)
{
	const char *const part[] = { v, dtx_json_text(st->canonical, "names_sep", "_"),
		                     dtx_json_text(st->canonical, "names_prefix", "") };
	size_t i = json_array_size(json_object_get(st->canonical, "values_from")) > 1 ? 0 : 2;

	for (; i < DTX_COUNT(part); i++) {
		if (strncmp(name, part[i], strlen(part[i])) != 0)
			return NULL;
		name += strlen(part[i]);
	}
	return name;
}

const char *dtx_trace_wider_value(const struct dtx_plan_step *st, const char *name,
                                  const char **label)
{
	const json_t *values = json_object_get(st->canonical, "values_from"), *one;
	const char *found = NULL, *after;
	size_t i, hits = 0;

	json_array_foreach((json_t *)(uintptr_t)values, i, one)
	{
		const char *v = dtx_trace_plain_name(one);

		after = v ? wider_after(st, v, name) : NULL;
		hits += !v || after;
		found = after ? v : found;
		if (after)
			*label = after;
	}
	return hits == 1 ? found : NULL;
}

enum trace_wider dtx_trace_wider_rows(struct trace *t, const struct dtx_plan_step *st,
                                      const json_t *cols)
{
	const json_t *names = json_object_get(st->canonical, "names_from"), *one;
	const char *name, *label;
	json_t *keys = dtx_trace_wider_keys(t, st), *value;
	unsigned ids = 0, made = 0;
	size_t nvalues = json_array_size(json_object_get(st->canonical, "values_from")), i;
	/* for stored rows, a column of the result must be a value of one column */
	bool named = !t->lists || (nvalues == 1 && json_array_size(names) == 1);

	json_array_foreach((json_t *)(uintptr_t)names, i, one) named &=
		dtx_trace_plain_name(one) != NULL;

	json_object_foreach((json_t *)(uintptr_t)cols, name, value)
	{
		bool id = dtx_json_find(keys, "right", name) != NULL;

		ids += id;
		made += !id;
		named &= id || (strcmp(name, "*") != 0 && dtx_trace_wider_value(st, name, &label));
	}
	json_decref(keys);
	/* of several, each may have another one of the values */
	named &= made == 1 || nvalues == 1;
	if (!made)
		return TRACE_WIDER_ALL;
	return named && !ids ? TRACE_WIDER_NAMED : TRACE_WIDER_LOOSE;
}

/* A cell of a wide row came only from the long rows whose name is the name of its column. */
void dtx_trace_wider_name(struct trace *t, const struct dtx_plan_step *st, const json_t *cols,
                          const char *in, const char *out)
{
	const json_t *names = json_object_get(st->canonical, "names_from"), *one;
	struct dtx_buf where = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	const char *name, *label = "", *sep = "";
	json_t *value;
	size_t i;

	dtx_buf_add(&where, "concat('");
	json_array_foreach((json_t *)(uintptr_t)names, i, one)
	{
		dtx_buf_add(&where, "', ");
		if (i) {
			dtx_expr_print_text(
				dtx_str_of(dtx_json_text(st->canonical, "names_sep", "_")), &where);
			dtx_buf_add(&where, ", ");
		}
		dtx_buf_add(&where, "coalesce(text(");
		dtx_expr_print_name(json_string_value(one), &where);
		dtx_buf_add(&where, "), 'null'), '");
	}
	dtx_buf_add(&where, "') in (");
	json_object_foreach((json_t *)(uintptr_t)cols, name, value)
	{
		if (!dtx_trace_wider_value(st, name, &label))
			continue;
		dtx_buf_add(&where, sep);
		dtx_expr_print_text(dtx_str_of(label), &where);
		sep = ", ";
	}
	dtx_buf_addc(&where, ')');
	t->failed |= !dtx_buf_ok(&where);
	dtx_trace_add(t, json_pack("{ss ss}", "op", "filter", "where", dtx_buf_text(&where)), in,
	              out);
	dtx_buf_clear(&where);
}

struct wider_reads {
	const json_t *keys;
	bool cell; /* whether a column that is not an id is read */
};

static void trace_wider_read(void *arg, const char *name)
{
	struct wider_reads *r = arg;

	r->cell |= !dtx_json_find(r->keys, "right", name);
}

static void trace_wider_formula(struct wider_reads *r, const char *formula)
{
	struct dtx_arena arena = DTX_ARENA_INIT;
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_expr *e = NULL;

	if (dtx_expr_parse(&arena, dtx_str_of(formula), &e, &err) == DTX_OK)
		dtx_expr_columns(e, trace_wider_read, r);
	else
		r->cell = true;
	dtx_err_clear(&err);
	dtx_arena_clear(&arena);
}

static void trace_wider_see(void *arg, uint32_t k, const char *text, bool formula)
{
	if (!k && formula)
		trace_wider_formula(arg, text);
	else if (!k)
		trace_wider_read(arg, text);
}

/* Sets r->cell if a step that selects, matches or sorts rows looks at more than the ids. */
static void trace_wider_judged(struct wider_reads *r, const struct dtx_plan_step *st)
{
	struct dtx_op_facts f = dtx_trace_facts(st);

	switch (f.rows) {
	case DTX_ROWS_SAME:
	case DTX_ROWS_WINDOW: return;
	case DTX_ROWS_CHOSEN:
		/* Such a step decides by its parameters, or by the place of the row alone (limit).
		 * Anything else is not known. */
		r->cell |=
			f.as_read || (!f.decides && !f.groups) ||
			(!f.decides && json_array_size(json_object_get(st->canonical, f.groups)));
		break;
	case DTX_ROWS_SORTED:
	case DTX_ROWS_FILTERED:
	case DTX_ROWS_GROUPED:
	case DTX_ROWS_JOINED:
	case DTX_ROWS_SEMI:
	case DTX_ROWS_ANTI: break;
	default: r->cell = true; return;
	}
	dtx_trace_deciders(st, &(struct trace_decider){ r, trace_wider_see });
}

/* Whether the other cells of the wide row may have decided that it exists, because a later step
 * looked at them. */
static bool trace_wider_decides(struct trace *t, uint32_t i)
{
	json_t *keys = dtx_trace_wider_keys(t, &t->plan->step[i]);
	struct wider_reads r = { keys, false };

	for (uint32_t k = i + 1; k < t->plan->nsteps; k++)
		trace_wider_judged(&r, &t->plan->step[k]);
	json_decref(keys);
	return r.cell;
}

/* Contract in trace_parts.h. */
bool dtx_trace_wider_in(struct trace *t, uint32_t i, const json_t *cols, const char *in,
                        const char *out, bool *cells)
{
	const struct dtx_plan_step *st = &t->plan->step[i];
	enum trace_wider which = dtx_trace_wider_rows(t, st, cols);
	bool apart = which == TRACE_WIDER_NAMED && trace_wider_decides(t, i);

	t->out->wide |= which == TRACE_WIDER_LOOSE;
	*cells = which == TRACE_WIDER_NAMED && !apart;
	if (*cells)
		dtx_trace_wider_name(t, st, cols, in, out);
	else
		dtx_trace_same(t, in, out);
	return apart;
}

/* Contract in trace_parts.h. */
void dtx_trace_wider_empty(struct trace *t, uint32_t i, const char *cell, const char *group,
                           const json_t *on, const struct trace_via *via)
{
	int32_t in = t->plan->step[i].table[0];
	uint32_t n = t->nwalks;
	char from[TRACE_NAME], whole[TRACE_NAME], rows[TRACE_NAME];
	struct trace_via empty = *via;

	dtx_trace_add(t,
	              json_pack("{ss ss ss sO sb}", "op", "join", "how", "semi", "with", group,
	                        "on", on, "nulls_equal", true),
	              dtx_trace_name(from, "t", (uint32_t)in), dtx_trace_name(whole, "whole", n));
	dtx_trace_meets(t, whole, cell, "anti", dtx_trace_name(rows, "empty", n));
	empty.all = true;
	empty.unless = (int32_t)n; /* the walk that was added just before this one */
	dtx_trace_walked(t, rows, t->table[in].ids, in, NULL, &empty);
}
