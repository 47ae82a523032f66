/* Which columns of each table decided which rows there are, from the plan's text alone: conditions,
 * keys, orders of windows.  As of trace_need.c, which has those that a value is made of. */
#include <string.h>

#include "core/plan/lineage/trace_parts.h"

/* Parameters that decide, per op: where of a list, the columns are members of its items. */
struct judge_part {
	const char *op, *param;
	const char
		*member; /* of the items; NULL: the items are names, or the parameter is one text */
	uint32_t table;  /* of the step's */
	bool formula;
};
static const struct judge_part judge_parts[] = {
	{ "filter", "where", NULL, 0, true },
	{ "drop_rows", "where", NULL, 0, true },
	{ "top", "expr", NULL, 0, true },
	{ "top", "by", NULL, 0, false },
	{ "distinct", "cols", NULL, 0, false },
	{ "join", "using", NULL, 0, false },
	{ "join", "using", NULL, 1, false },
	{ "join", "on", "left", 0, false },
	{ "join", "on", "right", 1, false },
	{ "join", "on", "left_expr", 0, true },
	{ "join", "on", "right_expr", 1, true },
	{ "asof_join", "on", "left", 0, false },
	{ "asof_join", "on", "right", 1, false },
	{ "asof_join", "by", "left", 0, false },
	{ "asof_join", "by", "right", 1, false },
	{ "lookup_value", "key", "left", 0, false },
	{ "lookup_value", "key", "right", 1, false },
	{ "group_by", "by", "as", 0, false },
	{ "group_by", "by", "expr", 0, true },
	{ "pivot_wider", "id", NULL, 0, false },
	{ "pivot_wider", "names_from", NULL, 0, false },
	{ "window", "by", NULL, 0, false },
	{ "window", "order", "col", 0, false },
};

static void judge_name(struct trace *t, const struct dtx_plan_step *st, const struct judge_part *p,
                       const json_t *name)
{
	int32_t table = p->table < st->ntables ? st->table[p->table] : -1;

	if (!json_is_string(name) || table < 0)
		return;
	if (p->formula)
		dtx_trace_need_formula(t, table, json_string_value(name));
	else
		dtx_trace_need_add(t, table, json_string_value(name));
}

static void judge_step(struct trace *t, const struct dtx_plan_step *st)
{
	for (size_t k = 0; k < DTX_COUNT(judge_parts); k++) {
		const struct judge_part *p = &judge_parts[k];
		const json_t *list, *one;
		size_t i;

		if (strcmp(p->op, st->name) != 0)
			continue;
		list = json_object_get(st->canonical, p->param);
		judge_name(t, st, p, list);
		json_array_foreach((json_t *)(uintptr_t)list, i, one)
			judge_name(t, st, p, p->member ? json_object_get(one, p->member) : one);
	}
}

void dtx_trace_judge(struct trace *t)
{
	json_t **need = t->need;

	t->need = t->judged;
	for (uint32_t i = t->plan->nsteps; i-- > 0;) {
		dtx_trace_need_step(t, i);
		judge_step(t, &t->plan->step[i]);
	}
	t->need = need;
}
