/* Removes searches for the rows of a group that are not necessary.
 *
 * If the inputs begin with a filter on a known cell, and every row of a table has that cell in a
 * column, then all its rows belong to the group with that key. So all rows of the table are the
 * answer.
 *
 * This is not done in a plan with a union: there, the asked row comes from only one of the tables,
 * and other tables may have the same cells. If the asked row is not in the result after all, this
 * would name rows for it, but the caller checks that the row exists first. */
#include <string.h>

#include "core/plan/lineage/trace_parts.h"

static bool tied_has(const struct trace *t, int32_t table, const char *name)
{
	const struct dtx_schema *s = table < 0 ? NULL : t->table[table].schema;

	return s && dtx_schema_find(s, name) >= 0;
}

json_t *dtx_trace_join_of(const struct trace *t, const struct dtx_plan_step *st)
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
	bool inner = !strcmp(dtx_json_text(dtx_trace_join_of(t, st), "how", ""), "inner");

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

void dtx_trace_tied(struct trace *t)
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
