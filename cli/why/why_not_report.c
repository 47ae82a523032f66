/* Counts what the steps did with the row, and makes the answer from these counts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/why/why_not.h"
#include "core/base/mem.h"
#include "core/plan/lineage/trace.h"

/* --- what the steps did --- */

static json_t *why_not_lists(struct dtx_why_not *w, const struct dtx_table *t,
                             const struct dtx_batch *b, uint32_t row, const char *kind)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < DTX_WHY_NOT_PLAN_TERMS; i++) {
		char name[32];

		snprintf(name, sizeof(name), "dtx_%s%u", kind, i);
		if (dtx_schema_find(t->schema, name) >= 0)
			json_array_append_new(list,
			                      json_string(dtx_why_not_cell(w, t, b, row, name)));
	}
	return list;
}

/* Adds the number of a result row. */
static void why_not_result(struct dtx_why_not *w, const struct dtx_table *t,
                           const struct dtx_batch *b, uint32_t row, json_t *numbers)
{
	const char *n = dtx_why_not_cell(w, t, b, row, "dtx_v0");

	json_array_append_new(numbers, json_integer(n ? strtoll(n, NULL, 10) : 0));
}

/* Counts rows per step and side. For the first row it also keeps the values of the conditions and
 * columns, and for the result the numbers of all rows:
 *
 * {"3": {"in": 2, "out": 1, "meets": 0, "rows": [{"side", "c": [], "v": []}], "own": [7],
 * "through": []}} */
enum dtx_code dtx_why_not_count(void *arg, const struct dtx_exec_result *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_why_not *w = arg;
	const struct dtx_table *t = r->output[0].table;
	json_t *steps = json_object();

	for (size_t i = 0; i < t->nbatches; i++) {
		const struct dtx_batch *b = t->batch[i];

		for (uint32_t k = 0; k < b->nsel; k++) {
			uint32_t row = b->sel ? b->sel[k] : k;
			int side =
				(int)strtol(dtx_why_not_cell(w, t, b, row, "dtx_side"), NULL, 10);
			const char *kind = side == DTX_WHY_NOT_PLAN_MEETS ? "meets"
			                   : side < 0                     ? "out"
			                                                  : "in";
			const char *step = dtx_why_not_cell(w, t, b, row, "dtx_step");
			json_t *one = json_object_get(steps, step), *rows;

			if (!one) {
				one = json_pack("{si si si s[] s[] s[]}", "in", 0, "out", 0,
				                "meets", 0, "rows", "own", "through");
				json_object_set_new(steps, step, one);
			}
			json_object_set_new(one, kind,
			                    json_integer(dtx_json_int(one, kind, 0) + 1));
			if (strtoul(step, NULL, 10) == w->plan->nsteps) {
				why_not_result(w, t, b, row,
				               json_object_get(one, side == DTX_WHY_NOT_PLAN_BEHIND
				                                            ? "own"
				                                            : "through"));
				continue;
			}
			rows = json_object_get(one, "rows");
			if (!json_array_size(rows) && side != DTX_WHY_NOT_PLAN_MEETS)
				json_array_append_new(
					rows, json_pack("{si so so}", "side", side, "c",
				                        why_not_lists(w, t, b, row, "c"), "v",
				                        why_not_lists(w, t, b, row, "v")));
		}
	}
	w->report = steps;
	if (!steps)
		DTX_FAIL_MEM(err);
out:
	return rc;
}

/* --- the answer --- */

static int number_order(const void *a, const void *b)
{
	const json_int_t x = *(const json_int_t *)a, y = *(const json_int_t *)b;

	return x < y ? -1 : x > y;
}

json_t *dtx_why_not_others(json_t *rows, const json_t *own)
{
	const size_t n = json_array_size(own);
	json_int_t *sorted = dtx_mem_alloc(n + 1, sizeof(*sorted)), number;
	json_t *list = sorted ? json_array() : NULL, *one;
	size_t i;

	for (i = 0; sorted && i < n; i++)
		sorted[i] = json_integer_value(json_array_get(own, i));
	if (sorted)
		qsort(sorted, n, sizeof(*sorted), number_order);
	json_array_foreach(rows, i, one)
	{
		number = json_integer_value(one);
		if (list && !bsearch(&number, sorted, n, sizeof(*sorted), number_order))
			json_array_append(list, one);
	}
	json_decref(rows);
	dtx_mem_free(sorted);
	return list;
}

/* Contract in why_not.h. */
void dtx_why_not_reason(const struct dtx_why_not *w, uint32_t step, const json_t *say,
                        json_t *because)
{
	const struct dtx_plan_step *st = &w->plan->step[step];
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);

	if (st->op && st->op->dropped)
		st->op->dropped(st->canonical, dtx_json_text(say, "with", ""), &text);
	else
		dtx_buf_add(&text, "this step leaves it out");
	json_array_append_new(because, json_string(dtx_buf_text(&text)));
	dtx_buf_clear(&text);
}

/* Appends the conditions of a filter that do not hold for the row. */
static void why_not_conditions(const struct dtx_why_not *w, uint32_t step, const json_t *say,
                               const json_t *row, json_t *because)
{
	const json_t *conditions = json_object_get(say, "conditions");
	const json_t *canonical = w->plan->step[step].canonical;
	bool other = !strcmp(dtx_json_text(canonical, "keep", "true"), "not_true");
	json_t *one;
	size_t i;

	json_array_foreach(conditions, i, one)
	{
		const char *is = json_string_value(json_array_get(json_object_get(row, "c"), i));

		if (is && (other || strcmp(is, "true") != 0))
			json_array_append_new(because,
			                      json_sprintf("%s is %s", json_string_value(one), is));
	}
}

static json_t *why_not_with(const struct dtx_why_not *w, const json_t *say, const json_t *row)
{
	const json_t *columns = json_object_get(say, "columns");
	json_t *with = json_object(), *one;
	size_t i;

	json_array_foreach(columns, i, one)
	{
		const char *value = json_string_value(json_array_get(json_object_get(row, "v"), i));

		if (!w->args->no_values && value)
			json_object_set_new(with, json_string_value(one), json_string(value));
	}
	return with;
}

/* For a row of the second table of a semi or anti join. Such a row is never in the result itself,
 * so say what it did to rows of the first table. */
static void why_not_met(const struct dtx_plan_step *st, const json_t *say, int64_t met,
                        json_t *because)
{
	const char *how = dtx_json_text(st->canonical, "how", "");
	const char *with = dtx_json_text(say, "with", "");
	bool lets = !strcmp(how, "semi");

	if (met)
		json_array_append_new(
			because,
			json_sprintf("%s join: rows of this table are not passed on; %lld row%s of "
		                     "'%.80s' with its keys %s",
		                     how, (long long)met, met == 1 ? "" : "s", with,
		                     lets       ? met == 1 ? "stays" : "stay"
		                     : met == 1 ? "is left out"
		                                : "are left out"));
	else
		json_array_append_new(
			because,
			json_sprintf("%s join: no row of '%.80s' has its keys", how, with));
}

static json_t *why_not_dropped(const struct dtx_why_not *w, uint32_t step, const json_t *count)
{
	const struct dtx_plan_step *st = &w->plan->step[step];
	const json_t *row = json_array_get(json_object_get(count, "rows"), 0), *say;
	json_t *because = json_array();
	char key[16];

	snprintf(key, sizeof(key), "%u", step);
	say = json_array_get(json_object_get(w->follow.say, key),
	                     (size_t)dtx_json_int(row, "side", 0));
	if (dtx_trace_facts(st).rows == DTX_ROWS_FILTERED)
		why_not_conditions(w, step, say, row, because);
	if (dtx_why_not_plan_decides(st) && dtx_json_int(row, "side", 0))
		why_not_met(st, say, dtx_json_int(count, "meets", 0), because);
	if (!json_array_size(because))
		dtx_why_not_reason(w, step, say, because);
	return json_pack("{si ss ss so so}", "step", (int)dtx_trace_number_of(w->plan, step), "op",
	                 st->name, "at", st->at, "because", because, "with",
	                 why_not_with(w, say, row));
}

/* Goes through the steps that the row entered, and lists them as passed or as the ones that dropped
 * it. */
static void why_not_path(const struct dtx_why_not *w, const json_t *counts, json_t *passed,
                         json_t *dropped)
{
	for (uint32_t i = 0; i < w->plan->nsteps; i++) {
		const json_t *count;
		char key[16];

		snprintf(key, sizeof(key), "%u", i);
		count = json_object_get(counts, key);
		if (!count || !dtx_json_int(count, "in", 0) ||
		    dtx_trace_again_copy(&w->plan->step[i]))
			continue;
		/* The union of the files of an input is not a step of the user's plan, and no row
		 * is dropped there. */
		if (w->plan->step[i].number < 0)
			continue;
		if (dtx_json_int(count, "out", 0))
			json_array_append_new(passed,
			                      json_pack("{si ss sI sI}", "step",
			                                (int)dtx_trace_number_of(w->plan, i), "op",
			                                w->plan->step[i].name, "rows_in",
			                                (json_int_t)dtx_json_int(count, "in", 0),
			                                "rows_out",
			                                (json_int_t)dtx_json_int(count, "out", 0)));
		else
			json_array_append_new(dropped, why_not_dropped(w, i, count));
	}
}

/* The numbers of result rows under "own" or "through". */
static json_t *why_not_results(const struct dtx_why_not *w, const json_t *counts, const char *which)
{
	json_t *list;
	char key[16];

	snprintf(key, sizeof(key), "%u", w->plan->nsteps);
	list = json_object_get(json_object_get(counts, key), which);
	return list ? json_incref(list) : json_array();
}

/* The first cell of the row. It often is a label by which people recognize the row. */
static json_t *why_not_first(const struct dtx_why_not *w)
{
	return w->first_cell && !w->args->no_values ? json_incref(w->first_cell) : json_object();
}

/* The row was dropped by a step that judges rows as they were read, before they were numbered. */
static void why_not_early(const struct dtx_why_not *w, json_t *passed, json_t *dropped)
{
	for (uint32_t i = 1; i + 1 < w->stages.n && (!w->lost || i <= w->lost); i++) {
		const struct dtx_plan_step *st = &w->plan->step[w->stages.step[i]];
		int step = (int)dtx_trace_number_of(w->plan, w->stages.step[i]);
		struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);

		if (i != w->lost) {
			json_array_append_new(passed,
			                      json_pack("{si ss si si}", "step", step, "op",
			                                st->name, "rows_in", 1, "rows_out", 1));
			continue;
		}
		if (st->op && st->op->dropped)
			st->op->dropped(w->kind ? w->kind : st->canonical, "", &text);
		else
			dtx_buf_add(&text, "it is a row that this step drops");
		json_array_append_new(dropped,
		                      json_pack("{si ss ss s[s] so}", "step", step, "op", st->name,
		                                "at", st->at, "because", dtx_buf_text(&text),
		                                "with", why_not_first(w)));
		dtx_buf_clear(&text);
	}
}

enum dtx_code dtx_why_not_report(struct dtx_why_not *w, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	json_t *counts = w->report, *passed = json_array(), *dropped = json_array(), *rows,
	       *through;
	const char *alias = w->x.r.plan->input[w->input].name;

	w->report = NULL;
	why_not_early(w, passed, dropped);
	why_not_path(w, counts, passed, dropped);
	rows = why_not_results(w, counts, "own");
	through = dtx_why_not_others(why_not_results(w, counts, "through"), rows);
	w->report = json_pack(
		"{ss ss ss ss ss ss sO sO so so}", "input", alias, "label",
		dtx_why_replay_label(&w->x, alias), "cell", w->cell, "output",
		dtx_why_replay_name(&w->x), "run",
		dtx_json_text(json_object_get(w->x.record, "run"), "run_id", ""), "verdict",
		json_array_size(rows)            ? "in the result"
		: !w->lost && !w->follow.reaches ? "not used"
		: json_array_size(dropped)       ? "dropped"
						 : "not followed",
		"passed", passed, "dropped", dropped, "rows", rows, "through", through);
	if (!w->report)
		DTX_FAIL_MEM(err);
out:
	json_decref(counts);
	json_decref(passed);
	json_decref(dropped);
	return rc;
}
