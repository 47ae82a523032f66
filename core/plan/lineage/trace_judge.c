/* Which columns decided which rows exist: those in conditions, keys and orders of windows. This
 * follows from the text of the plan alone. trace_need.c does the same for the columns that a value
 * is computed from. */
#include <string.h>

#include "core/plan/lineage/trace_parts.h"

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
	bool told = false;

	for (size_t i = 0; i < DTX_COUNT(judge_members); i++) {
		const char *text = dtx_json_text(one, judge_members[i].member, NULL);

		if (text)
			to->see(to->arg, judge_members[i].table, text, judge_members[i].formula);
		told |= text != NULL;
	}
	if (!told)
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
		dtx_trace_need_formula(j->t, table, text);
	else
		dtx_trace_need_add(j->t, table, text);
}

void dtx_trace_judge(struct trace *t)
{
	json_t **need = t->need;
	struct judge j = { .t = t };

	t->need = t->judged;
	for (uint32_t i = t->plan->nsteps; i-- > 0;) {
		dtx_trace_need_step(t, i);
		j.st = &t->plan->step[i];
		dtx_trace_deciders(j.st, &(struct trace_decider){ &j, judge_see });
	}
	t->need = need;
}
