/* Finds the long rows that a row, or one cell, of a pivot_wider came from. */
#include <stdio.h>
#include <string.h>

#include "core/expr/parse/formula_parts.h"
#include "core/plan/lineage/trace_parts.h"

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

enum trace_wider dtx_trace_wider_rows(struct trace *t, const struct dtx_plan_step *st,
                                      const json_t *cols)
{
	const json_t *names = json_object_get(st->canonical, "names_from");
	const char *prefix = dtx_json_text(st->canonical, "names_prefix", ""), *name;
	json_t *keys = dtx_trace_wider_keys(t, st), *value;
	unsigned ids = 0, made = 0;
	bool told = json_array_size(names) == 1 && json_is_string(json_array_get(names, 0)) &&
	            json_array_size(json_object_get(st->canonical, "values_from")) == 1;

	json_object_foreach((json_t *)(uintptr_t)cols, name, value)
	{
		bool id = dtx_json_find(keys, "right", name) != NULL;

		ids += id;
		made += !id;
		told &= id || (strcmp(name, "*") != 0 && !strncmp(name, prefix, strlen(prefix)));
	}
	json_decref(keys);
	if (!made)
		return TRACE_WIDER_ALL;
	return told && !ids ? TRACE_WIDER_NAMED : TRACE_WIDER_LOOSE;
}

/* A cell of a wide row came only from the long rows whose name is the name of its column. */
void dtx_trace_wider_name(struct trace *t, const struct dtx_plan_step *st, const json_t *cols,
                          const char *in, const char *out)
{
	const json_t *names = json_object_get(st->canonical, "names_from");
	size_t prefix = strlen(dtx_json_text(st->canonical, "names_prefix", ""));
	struct dtx_buf where = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	const char *name, *sep = "";
	json_t *value;

	dtx_buf_add(&where, "coalesce(text(");
	dtx_trace_quoted(json_string_value(json_array_get(names, 0)), '`', &where);
	dtx_buf_add(&where, "), 'null') in (");
	json_object_foreach((json_t *)(uintptr_t)cols, name, value)
	{
		dtx_buf_add(&where, sep);
		dtx_trace_quoted(name + prefix, '\'', &where);
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
