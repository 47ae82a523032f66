/* Handles a table that meets the same rows twice, for example in a join with itself. A row of the
 * result would then have two numbers of the same input in one column. The plan is rewritten so that
 * the second use reads a copy of the table, whose rows get numbers of their own. */
#include <stdio.h>
#include <string.h>

#include "core/base/memory/mem.h"
#include "core/plan/lineage/trace_parts.h"

#define AGAIN "dtx_again"

bool dtx_trace_again_copy(const struct dtx_plan_step *st)
{
	return st->out_name && !strncmp(st->out_name, AGAIN, strlen(AGAIN));
}

uint32_t dtx_trace_number_of(const struct dtx_plan *plan, uint32_t step)
{
	uint32_t n = 1;

	/* steps of one number were written as one, as those of a macro */
	for (uint32_t i = 0; i < step; i++)
		n += !dtx_trace_again_copy(&plan->step[i]) && plan->step[i].number >= 0 &&
		     plan->step[i].number != plan->step[i + 1].number;
	return n;
}

const char *dtx_trace_name_of(const struct dtx_plan *plan, int32_t table, char buf[32])
{
	while (table >= (int32_t)plan->ninputs &&
	       dtx_trace_again_copy(&plan->step[table - (int32_t)plan->ninputs]))
		table = plan->step[table - (int32_t)plan->ninputs].table[0];
	if (table >= (int32_t)plan->ninputs &&
	    !plan->step[table - (int32_t)plan->ninputs].out_name) {
		snprintf(buf, 32, "step %u",
		         dtx_trace_number_of(plan, (uint32_t)table - plan->ninputs));
		return buf;
	}
	return dtx_plan_table_name(plan, table, buf);
}

void dtx_trace_again_places(struct dtx_plan *again, const struct dtx_plan *of)
{
	uint32_t k = 0;

	for (uint32_t i = 0; i < again->nsteps; i++) {
		if (!dtx_trace_again_copy(&again->step[i]) && k < of->nsteps)
			memcpy(again->step[i].at, of->step[k++].at, sizeof(again->step[i].at));
	}
}

struct again {
	const struct dtx_plan *plan;
	uint64_t *ids; /* per table id: row numbers that it would carry */
	json_t *steps; /* steps of the new plan */
	uint32_t nbits, copies;
	bool failed;
};

/* Whether rows of the step's second table become part of its result rows. */
static bool again_brings(const struct dtx_plan_step *st)
{
	enum dtx_op_rows rows = dtx_trace_facts(st).rows;

	return rows == DTX_ROWS_JOINED || rows == DTX_ROWS_LOOKUP;
}

/* Makes table k of the step a copy; its other tables stay the same. */
static void again_copy(struct again *a, const struct dtx_plan_step *st, uint32_t k, json_t *step)
{
	json_t *with = json_object_get(step, "with"), *copy = NULL, *named;
	char name[32];

	if (st->table_name[k])
		copy = json_pack("{ss ss ss}", "op", "filter", "where", "true", "in",
		                 st->table_name[k]);
	snprintf(name, sizeof(name), AGAIN "%u", a->copies++);
	named = json_string(name);
	a->failed |= !copy || !dtx_json_set(copy, "out", json_string(name)) ||
	             json_array_append(a->steps, copy) < 0 ||
	             (json_is_array(with) ? json_array_set(with, k - 1, named) < 0
	                                  : !dtx_json_set(step, "with", json_incref(named)));
	json_decref(named);
	json_decref(copy);
}

static uint64_t again_bit(struct again *a)
{
	return a->nbits < TRACE_BITS ? (uint64_t)1 << a->nbits++ : 0;
}

/* Writes the name of the table that a step reads into the step. Without a name it is the first
 * input or the step before, which may be another one after copies were added. */
static void again_in(struct again *a, const struct dtx_plan_step *st, json_t *step)
{
	int32_t made = st->table[0] - (int32_t)a->plan->ninputs;
	char name[32];

	if (st->in_name || st->table[0] < 0 || (made >= 0 && !a->plan->step[made].out_name))
		return;
	a->failed |= !dtx_json_set(step, "in",
	                           json_string(dtx_plan_table_name(a->plan, st->table[0], name)));
}

/* Whether a union needs a copy. If both tables have the unchanged rows of the same input, one
 * number identifies a row. If one of them joined other rows, that number does not say which. */
static bool again_mixes(uint64_t ids, uint64_t other)
{
	return ids != other || other & (other - 1);
}

static void again_step(struct again *a, uint32_t i)
{
	const struct dtx_plan_step *st = &a->plan->step[i];
	enum trace_how how = dtx_trace_how_planned(a->plan, st);
	json_t *step =
		json_deep_copy(st->canonical); /* the canonical form has one name per parameter */
	uint64_t ids = st->table[0] >= 0 ? a->ids[st->table[0]] : 0, other;

	again_in(a, st, step);
	for (uint32_t k = 1; k < st->ntables && (again_brings(st) || how == TRACE_UNION); k++) {
		other = st->table[k] >= 0 ? a->ids[st->table[k]] : 0;
		if (ids & other && step && (again_brings(st) || again_mixes(ids, other))) {
			again_copy(a, st, k, step);
			other = again_bit(a);
		}
		ids |= other;
	}
	if (dtx_trace_is_barrier(how))
		ids = again_bit(a);
	a->ids[a->plan->ninputs + i] = ids;
	a->failed |= !step || json_array_append(a->steps, step) < 0;
	json_decref(step);
}

/* Replaces the steps. An input with several files was expanded to one input per file and more steps
 * (core/plan/parse/expand_globs.h); then the expanded inputs must replace the original ones too. */
static bool again_whole(const struct again *a, json_t *plan)
{
	const struct dtx_plan *of = a->plan;
	json_t *inputs = json_array();

	for (uint32_t i = 0; i < of->ninputs; i++)
		json_array_append(inputs, (json_t *)(uintptr_t)of->input[i].canonical);
	if (json_array_size(json_object_get(of->json, "steps")) != of->nsteps &&
	    !dtx_json_set(plan, "inputs", json_incref(inputs))) {
		json_decref(inputs);
		return false;
	}
	json_decref(inputs);
	return dtx_json_set(plan, "steps", json_incref(a->steps));
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
	if (a.failed || (a.copies && !again_whole(&a, *out)))
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
