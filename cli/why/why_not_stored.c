/* Answers `why-not` from the row numbers that the run kept. */
#include <stdio.h>
#include <string.h>

#include "cli/why/why_stored.h"
#include "core/base/mem.h"
#include "core/plan/lineage/row_lineage.h"
#include "core/plan/lineage/trace.h"

struct not_stored {
	struct dtx_why_not *w;
	const struct dtx_row_lineage *log;
	const struct dtx_row_lineage_list *places;
	int64_t number; /* number of the row; 0: not found */
	int64_t *counts;
	json_t *results, *through;
};

static const json_t *stored_input(const struct dtx_why_not *w)
{
	return dtx_json_find(json_object_get(w->x.record, "inputs"), "alias",
	                     w->x.r.plan->input[w->input].name);
}

/* Whether all rows of the input were numbered. Steps that ran before the numbering may have dropped
 * rows, and nothing is kept about those. */
static bool stored_whole(const struct not_stored *s)
{
	return (int64_t)s->places->n == dtx_json_int(stored_input(s->w), "rows", -1);
}

static enum dtx_code stored_number(struct not_stored *s, bool *told, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_why_not *w = s->w;
	bool whole = stored_whole(s);

	for (size_t i = 0; i < s->places->n && !s->number && w->line; i++) {
		if (s->places->col[0][i] == w->line)
			s->number = (int64_t)i + 1;
	}
	if (w->args->row && whole && (size_t)w->args->row <= s->places->n)
		s->number = w->args->row;
	*told = s->number > 0;
	if (*told || !whole)
		goto out;
	rc = dtx_err_set(err, DTX_E_USAGE, __FILE__, __LINE__,
	                 "the input has no such row: %zu were read from '%s'", s->places->n,
	                 dtx_why_replay_label(&w->x, w->x.r.plan->input[w->input].name));
	dtx_err_hint(err, "headers, blank lines and skipped lines are no rows; dtx run --verbose "
	                  "counts them");
out:
	return rc;
}

/* Sets has[] for a step's result: the number of its rows that came from the row. Returns the same
 * number for its input. */
static int64_t stored_count(const struct not_stored *s, int64_t *has, uint32_t i)
{
	const struct dtx_plan *plan = s->w->x.r.plan;
	const struct dtx_plan_step *st = &plan->step[i];
	int64_t n = 0;

	for (uint32_t k = 0; k < st->ntables; k++) {
		if (st->table[k] >= 0)
			n = DTX_MAX(n, has[st->table[k]]);
	}
	has[plan->ninputs + i] = s->counts[i] >= 0 ? s->counts[i] : n;
	return n;
}

/* Describes where a step dropped the row. `has`: per table, the number of its rows that came from
 * the row. */
static json_t *stored_dropped(const struct not_stored *s, const int64_t *has, uint32_t i)
{
	const struct dtx_plan *plan = s->w->x.r.plan;
	const struct dtx_plan_step *st = &plan->step[i];
	const char *where = dtx_json_text(st->canonical, "where", NULL);
	json_t *because = json_array(), *say;
	int32_t other = st->ntables > 1 ? st->table[1] : -1;
	char name[32];

	if (other >= 0 && has[other] && !(st->table[0] >= 0 && has[st->table[0]]))
		other = st->table[0]; /* the row is on that side */
	say = json_pack("{ss}", "with", dtx_trace_name_of(plan, other, name));
	if (dtx_trace_facts(st).rows == DTX_ROWS_FILTERED && where)
		json_array_append_new(because, json_sprintf("%s does not hold", where));
	else
		dtx_why_not_reason(s->w, i, say, because);
	json_decref(say);
	return json_pack("{si ss ss so s{}}", "step", (int)dtx_trace_number_of(plan, i), "op",
	                 st->name, "at", st->at, "because", because, "with");
}

static enum dtx_code stored_path(const struct not_stored *s, json_t *passed, json_t *dropped,
                                 bool *again, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_plan *plan = s->w->x.r.plan;
	int64_t *has = dtx_mem_zalloc(plan->ninputs + plan->nsteps + 1, sizeof(*has)), in, out;
	bool *leads = dtx_mem_zalloc(plan->ninputs + plan->nsteps + 1, sizeof(*leads));

	if (!has || !leads)
		DTX_FAIL_MEM(err);
	dtx_why_not_plan_leads(plan, s->w->x.output, leads);
	has[s->w->input] = 1;
	for (uint32_t i = 0; i < plan->nsteps; i++) {
		/* The kept numbers do not say which rows it let stay. */
		if (dtx_why_not_plan_decides(&plan->step[i]) && leads[plan->ninputs + i] &&
		    plan->step[i].table[1] >= 0 && has[plan->step[i].table[1]])
			*again = true;
		in = stored_count(s, has, i);
		out = has[plan->ninputs + i];
		if (dtx_trace_again_copy(&plan->step[i]) || plan->step[i].number < 0 ||
		    !leads[plan->ninputs + i])
			continue;
		if (in && out)
			json_array_append_new(passed, json_pack("{si ss sI sI}", "step",
			                                        (int)dtx_trace_number_of(plan, i),
			                                        "op", plan->step[i].name, "rows_in",
			                                        (json_int_t)in, "rows_out",
			                                        (json_int_t)out));
		else if (in)
			json_array_append_new(dropped, stored_dropped(s, has, i));
	}
out:
	dtx_mem_free(leads);
	dtx_mem_free(has);
	return rc;
}

static enum dtx_code stored_report(const struct not_stored *s, bool *told, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_why_not *w = s->w;
	json_t *passed = json_array(), *dropped = json_array();
	const char *alias = w->x.r.plan->input[w->input].name;
	const json_t *first = json_array_get(json_object_get(stored_input(w), "schema"), 0);
	const char *prefix =
		dtx_row_lineage_prefix(s->log, w->input, dtx_json_text(first, "name", ""));
	bool there = json_array_size(s->results) > 0, again = false;

	DTX_TRY(stored_path(s, passed, dropped, &again, err));
	*told = !again;
	if (again)
		goto out;
	w->report = json_pack(
		"{ss ss so ss ss ss ss sO sO sO sO so}", "input", alias, "label",
		dtx_why_replay_label(&w->x, alias), "cell",
		json_sprintf("%s%lld", prefix, (long long)s->places->col[0][s->number - 1]),
		"output", dtx_why_replay_name(&w->x), "run",
		dtx_json_text(json_object_get(w->x.record, "run"), "run_id", ""), "lineage",
		"stored", "verdict",
		there                      ? "in the result"
		: json_array_size(dropped) ? "dropped"
					   : "not used",
		"passed", passed, "dropped", dropped, "rows", s->results, "through", s->through,
		"changed", dtx_why_replay_moved(&w->x));
	if (!w->report)
		DTX_FAIL_MEM(err);
out:
	json_decref(passed);
	json_decref(dropped);
	return rc;
}

enum dtx_code dtx_why_not_stored(struct dtx_why_not *w, bool *told, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_row_lineage *log = NULL;
	struct not_stored s = { .w = w };
	struct dtx_err mine = DTX_ERR_INIT;

	*told = false;
	DTX_TRY(dtx_why_replay_rowlog(&w->x, &log, err));
	s.log = log;
	s.places = log ? dtx_row_lineage_places(log, w->input) : NULL;
	if (!s.places || w->args->key.n)
		goto out;
	DTX_TRY(stored_number(&s, told, err));
	if (!*told)
		goto out;
	s.counts = dtx_mem_zalloc(w->x.r.plan->nsteps + 1, sizeof(*s.counts));
	if (!s.counts)
		DTX_FAIL_MEM(err);
	*told = dtx_row_lineage_follow(log, w->input, s.number, s.counts, w->x.r.plan->nsteps,
	                               &s.results, &s.through, &mine) == DTX_OK;
	s.through = dtx_why_not_others(s.through, s.results);
	if (*told)
		DTX_TRY(stored_report(&s, told, err));
out:
	dtx_err_clear(&mine);
	json_decref(s.results);
	json_decref(s.through);
	dtx_mem_free(s.counts);
	dtx_row_lineage_free(log);
	return rc;
}
