/* A table that comes to the same rows twice: which of its rows came first is no longer told by
 * their number.  The plan then takes it the second time from a copy, whose rows are numbered anew.
 */
#include <stdio.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/plan/trace_parts.h"

#define AGAIN "dtx_again"

bool dtx_trace_again_copy(const struct dtx_plan_step *st)
{
	return st->out_name && !strncmp(st->out_name, AGAIN, strlen(AGAIN));
}

struct again {
	const struct dtx_plan *plan;
	uint64_t *ids; /* per table: row numbers that it would carry */
	json_t *steps; /* of the new plan */
	uint32_t nbits, copies;
	bool failed;
};

/* The rows of a step's second table come along. */
static bool again_brings(const struct dtx_plan_step *st)
{
	return dtx_str_in_list("join,asof_join,lookup_value", st->name) &&
	       !dtx_str_in_list("semi,anti", dtx_json_text(st->canonical, "how", ""));
}

/* "with" of the step names the copy; its other tables are where they were. */
static void again_copy(struct again *a, const struct dtx_plan_step *st, json_t *step)
{
	char name[32];
	json_t *copy = st->table_name[1] ? json_pack("{ss ss ss}", "op", "filter", "where", "true",
	                                             "in", st->table_name[1])
	                                 : NULL;

	snprintf(name, sizeof(name), AGAIN "%u", a->copies++);
	if (!copy || !dtx_json_set(copy, "out", json_string(name)) ||
	    json_array_append(a->steps, copy) < 0 || !dtx_json_set(step, "with", json_string(name)))
		a->failed = true;
	json_decref(copy);
}

static uint64_t again_bit(struct again *a)
{
	return a->nbits < TRACE_BITS ? (uint64_t)1 << a->nbits++ : 0;
}

static void again_step(struct again *a, uint32_t i)
{
	const struct dtx_plan_step *st = &a->plan->step[i];
	enum trace_how how = dtx_trace_how(st);
	json_t *step = json_deep_copy(json_array_get(json_object_get(a->plan->json, "steps"), i));
	uint64_t ids = st->table[0] >= 0 ? a->ids[st->table[0]] : 0, other;

	for (uint32_t k = 1; k < st->ntables && (again_brings(st) || how == TRACE_UNION); k++) {
		other = st->table[k] >= 0 ? a->ids[st->table[k]] : 0;
		if (ids & other && again_brings(st) && step) {
			again_copy(a, st, step);
			other = again_bit(a);
		}
		ids |= other;
	}
	if (how == TRACE_KEYS || how == TRACE_WIDER)
		ids = again_bit(a);
	a->ids[a->plan->ninputs + i] = ids;
	a->failed |= !step || json_array_append(a->steps, step) < 0;
	json_decref(step);
}

enum dtx_code dtx_trace_again(const struct dtx_plan *plan, json_t **out, struct dtx_err *err)
{
	struct again a = { .plan = plan, .steps = json_array() };
	enum dtx_code rc = DTX_OK;

	*out = NULL;
	a.ids = dtx_mem_zalloc(plan->ninputs + plan->nsteps + 1, sizeof(*a.ids));
	if (!a.ids || !a.steps)
		DTX_FAIL_MEM(err);
	for (uint32_t i = 0; i < plan->ninputs; i++)
		a.ids[i] = again_bit(&a);
	for (uint32_t i = 0; i < plan->nsteps; i++)
		again_step(&a, i);
	if (a.copies && !a.failed)
		*out = json_copy(plan->json);
	if (a.failed || (a.copies && !dtx_json_set(*out, "steps", json_incref(a.steps))))
		DTX_FAIL_MEM(err);
out:
	if (rc != DTX_OK) {
		json_decref(*out);
		*out = NULL;
	}
	json_decref(a.steps);
	dtx_mem_free(a.ids);
	return rc;
}
