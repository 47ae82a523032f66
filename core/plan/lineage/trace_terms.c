/* Adds outputs that show what the formula of the asked column used: the values in its row, or what
 * its aggregates computed from a group. */
#include <stdio.h>
#include <string.h>

#include "core/expr/parse/formula_parts.h"
#include "core/plan/lineage/trace_parts.h"

/* --- who made it --- */

static void need_listed(void *arg, const char *name)
{
	json_object_set_new(arg, name, json_true());
}

/* The formula of the item in `set` that makes the column. *made: there is such an item. NULL if
 * no item does, or if a later item changes a column that the formula uses, so that the result no
 * longer shows its values. */
static const char *need_item(const struct dtx_plan_step *st, const char *column, bool *made)
{
	const json_t *set = json_object_get(st->canonical, "set");
	struct dtx_arena arena = DTX_ARENA_INIT;
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_expr *e = NULL;
	json_t *names = json_object();
	const char *formula = NULL;

	*made = false;
	for (size_t i = json_array_size(set); i-- > 0 && !*made;) {
		const json_t *one = json_array_get(set, i);

		*made = !strcmp(dtx_json_text(one, "as", ""), column);
		if (!*made)
			continue;
		formula = dtx_json_text(one, "expr", NULL);
		if (formula && dtx_expr_parse(&arena, dtx_str_of(formula), &e, &err) == DTX_OK)
			dtx_expr_columns(e, need_listed, names);
		for (size_t k = i; k < json_array_size(set); k++) {
			if (json_object_get(names, dtx_json_text(json_array_get(set, k), "as", "")))
				formula = NULL;
		}
	}
	json_decref(names);
	dtx_err_clear(&err);
	dtx_arena_clear(&arena);
	return formula;
}

int32_t dtx_trace_maker(const struct dtx_plan *plan, uint32_t output, const char *column,
                        const char **formula)
{
	int32_t id = plan->output[output].table;

	for (; id >= (int32_t)plan->ninputs;
	     id = plan->step[id - (int32_t)plan->ninputs].table[0]) {
		int32_t i = id - (int32_t)plan->ninputs;
		const struct dtx_plan_step *st = &plan->step[i];
		bool made = false;

		if (dtx_trace_facts(st).values == DTX_VALUES_SET)
			*formula = need_item(st, column, &made);
		if (made)
			return *formula ? i : -1;
		if (!dtx_trace_keeps(st, column))
			return -1;
	}
	return -1;
}

/* --- the group that it was made of --- */

/* A cell of a pivot_wider without an aggregate has the value of one long row. */
static const char *group_wide(struct trace *t, const struct dtx_plan_step *st, const char *name)
{
	const json_t *values = json_object_get(st->canonical, "values_from");
	json_t *keys = dtx_trace_wider_keys(t, st);
	bool value = !dtx_json_find(keys, "right", name) && json_array_size(values) == 1 &&
	             !dtx_json_text(st->canonical, "agg", NULL);

	json_decref(keys);
	return value ? json_string_value(json_array_get(values, 0)) : NULL;
}

/* The name that a column had before the step, if the step leaves its values alone. NULL if it does
 * not, or if that is not certain. */
static const char *group_before(struct trace *t, const struct dtx_plan_step *st, const char *name)
{
	struct dtx_op_facts f = dtx_trace_facts(st);
	const json_t *map = json_object_get(st->canonical, "map");

	if (f.rows == DTX_ROWS_WIDER)
		return group_wide(t, st, name);
	if (f.values == DTX_VALUES_RENAMED)
		return map ? dtx_json_text(dtx_json_find(map, "to", name), "from", name) : NULL;
	return dtx_trace_keeps(st, name) ? name : NULL;
}

void dtx_trace_grouper(struct trace *t)
{
	const struct dtx_plan *plan = t->plan;
	const char *name = t->ask->column;
	int32_t id = plan->output[t->ask->output].table;
	const struct dtx_plan_step *st;

	t->grouper = -1;
	for (; name && id >= (int32_t)plan->ninputs; id = st->table[0]) {
		st = &plan->step[id - (int32_t)plan->ninputs];
		if (dtx_trace_how(t, st) == TRACE_KEYS) {
			t->grouper = id - (int32_t)plan->ninputs;
			t->grouped =
				dtx_json_find(json_object_get(st->canonical, "agg"), "as", name);
			return;
		}
		name = group_before(t, st, name);
	}
}

struct terms {
	struct trace *t;
	json_t *agg;
};

/* Turns each aggregate in the formula into a column dtx_a0, dtx_a1 .. */
static const struct dtx_expr *terms_of(void *arg, const struct dtx_expr *e)
{
	struct terms *s = arg;
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);

	if (!dtx_expr_is_aggregate(e))
		return NULL;
	dtx_expr_print(e, &text);
	s->t->failed |= !dtx_buf_ok(&text);
	dtx_trace_append(s->t, s->agg,
	                 json_pack("{so ss}", "as",
	                           json_sprintf("dtx_a%zu", json_array_size(s->agg)), "expr",
	                           dtx_buf_text(&text)));
	dtx_buf_clear(&text);
	return e;
}

/* Outputs the first few values that an aggregate with one argument took. */
static void terms_taken(struct trace *t, const struct dtx_expr *of, const struct dtx_expr *where,
                        const char *rows)
{
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	char name[TRACE_NAME];

	if (where) {
		dtx_expr_print(where, &text);
		dtx_trace_add(t, json_pack("{ss ss}", "op", "filter", "where", dtx_buf_text(&text)),
		              rows, dtx_trace_name(name, "v", 1));
		rows = name;
	}
	dtx_buf_reset(&text);
	dtx_expr_print(of, &text);
	t->failed |= !dtx_buf_ok(&text);
	dtx_trace_add(t, json_pack("{ss sI}", "op", "limit", "n", (json_int_t)DTX_TRACE_TAKEN + 1),
	              rows, "dtx_v2");
	dtx_trace_add(t,
	              json_pack("{ss s[{ss ss}]}", "op", "derive", "set", "as", "dtx_a0", "expr",
	                        dtx_buf_text(&text)),
	              "dtx_v2", "dtx_v3");
	dtx_trace_add(t, json_pack("{ss s[s]}", "op", "select", "cols", "dtx_a0"), "dtx_v3",
	              "dtx_v4");
	dtx_trace_output(t, DTX_TRACE_TAKEN_BY, 0, NULL, "dtx_v4");
	dtx_buf_clear(&text);
}

/* Outputs what each aggregate in the formula gave for its group. */
static void terms_made(struct trace *t, const struct dtx_plan_step *st, const struct dtx_expr *e,
                       struct dtx_arena *arena, const char *rows)
{
	struct terms s = { t, json_array() };

	t->failed |= !dtx_expr_swap(arena, e, terms_of, &s);
	dtx_trace_add(t,
	              json_pack("{ss sO? sO}", "op", "group_by", "by",
	                        json_object_get(st->canonical, "by"), "agg", s.agg),
	              rows, "dtx_v2");
	dtx_trace_output(t, DTX_TRACE_AGGREGATES, 0, NULL, "dtx_v2");
	json_decref(s.agg);
}

void dtx_trace_group_terms(struct trace *t, uint32_t i, const json_t *cols, const char *rows)
{
	struct dtx_arena arena = DTX_ARENA_INIT;
	struct dtx_err err = DTX_ERR_INIT;
	const struct dtx_expr *of, *where;
	struct dtx_expr *e = NULL;
	const char *formula = dtx_json_text(t->grouped, "expr", NULL), *name;

	if ((int32_t)i != t->grouper || t->out->grouped || !formula ||
	    (!json_object_get(cols, dtx_json_text(t->grouped, "as", "")) &&
	     !json_object_get(cols, "*")) ||
	    dtx_expr_parse(&arena, dtx_str_of(formula), &e, &err) != DTX_OK)
		goto out;
	if (dtx_expr_one_aggregate(e, &name, &of, &where))
		terms_taken(t, of, where, rows);
	else if (dtx_expr_has_aggregate(e) && !dtx_expr_is_aggregate(e))
		terms_made(t, &t->plan->step[i], e, &arena, rows);
	t->out->grouped = formula;
out:
	dtx_err_clear(&err);
	dtx_arena_clear(&arena);
}

/* --- the row itself --- */

void dtx_trace_terms(struct trace *t)
{
	char in[TRACE_NAME], name[TRACE_NAME], column[TRACE_NAME];

	for (uint32_t b = t->plan->ninputs; t->maker >= 0 && b < t->nbits; b++) {
		if (t->bit_step[b] != (uint32_t)t->maker)
			continue;
		dtx_trace_name(in, "t", t->plan->ninputs + (uint32_t)t->maker);
		dtx_trace_semi(t, in, "dtx_w0", dtx_trace_name(column, "r", b),
		               dtx_trace_name(name, "v", 0));
		dtx_trace_output(t, DTX_TRACE_TERMS, 0, NULL, name);
	}
}
