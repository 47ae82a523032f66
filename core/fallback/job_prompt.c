/* The prompt of a region, and the error if there is no answer. */
#include <stdio.h>

#include "core/base/memory/mem.h"
#include "core/fallback/similar_snippets.h"
#include "core/fallback/fallback_job.h"

enum dtx_code dtx_fallback_job_prompt(struct dtx_fallback_job *w,
                                      const struct dtx_prompt_previous *previous,
                                      struct dtx_prompt *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_fallback_request *g = w->region;
	struct dtx_prompt_table *tables =
		dtx_arena_zalloc(&w->arena, g->ntables + 1, sizeof(*tables));
	struct dtx_prompt_spec spec = { .versions = "Python 3.11, pandas 1.5, numpy 1.24" };
	json_t *readers = g->raw ? dtx_plan_steps_json(g->plan, 0, g->plan->nsteps) : NULL;
	size_t i;

	if (!tables || (g->raw && !readers))
		DTX_FAIL_MEM(err);
	for (i = 0; i < g->ntables; i++)
		tables[i] = (struct dtx_prompt_table){ g->table[i].name, g->table[i].table };
	spec.imports = w->r->imports;
	spec.dx_names = w->r->dx_names;
	spec.cpu_s = (w->r->limits.cpu_ms ? w->r->limits.cpu_ms : DTX_JAIL_CPU_MS) / 1000;
	spec.memory_mib =
		(int64_t)((w->r->limits.memory ? w->r->limits.memory : DTX_JAIL_MEMORY) >> 20);
	spec.params = g->raw ? "raw, run_date" : "steps, families, run_date";
	spec.raw = g->raw;
	spec.raw_name = g->input_name;
	spec.input = g->raw ? g->input_json : NULL;
	spec.table = tables;
	spec.ntables = g->ntables;
	spec.steps = g->raw ? readers : g->steps;
	spec.error = g->trigger;
	spec.at = g->at;
	spec.contract = w->contract;
	spec.fingerprint = w->fingerprint;
	spec.sample = w->r->sample;
	spec.deny = w->r->deny;
	spec.ndeny = w->r->ndeny;
	spec.previous = previous;
	DTX_TRY(dtx_prompt_make(&spec, out, err));
out:
	json_decref(readers);
	return rc;
}

/* --- there is no answer --- */

void dtx_fallback_job_own(const struct dtx_fallback_request *region, struct dtx_err *err)
{
	dtx_err_copy(err, region->trigger);
	if (err)
		err->severity = DTX_SEV_ERROR;
	if (region->count)
		dtx_err_step(err, (int32_t)region->first,
		             dtx_plan_step_name(&region->plan->step[region->first]));
	dtx_err_at(err, region->at);
}

/* Sets needs_snippet for what only a snippet can do, for a prompt, and for a replay. */
static void report_needs_snippet(const struct dtx_fallback_job *w, struct dtx_err *err)
{
	const struct dtx_fallback_request *g = w->region;
	const char *why = w->r->recorded ? "; the recorded run had no snippet here" : "";

	if (g->raw)
		dtx_err_set(err, DTX_E_NEEDS_SNIPPET, __FILE__, __LINE__,
		            "input '%s' needs a snippet: %.200s%s", g->input_name, g->trigger->msg,
		            why);
	else
		dtx_err_set(err, DTX_E_NEEDS_SNIPPET, __FILE__, __LINE__,
		            "step %d of %u \"%s\" needs a snippet: %.200s%s",
		            dtx_plan_step_number(g->plan, (int32_t)g->first), g->plan->nwritten,
		            dtx_fallback_job_op(w), g->trigger->msg, why);
	if (w->r->recorded)
		dtx_err_hint(err, "the inputs have changed: dtx run runs the plan on them, and may "
		                  "ask for a snippet");
	if (!g->raw)
		dtx_err_step(err, (int32_t)g->first, dtx_fallback_job_op(w));
	dtx_err_at(err, g->trigger->at[0] ? g->trigger->at : g->at);
	dtx_err_place(err, g->trigger);
	if (err)
		err->run_time = true;
}

enum dtx_code dtx_fallback_job_unanswered(struct dtx_fallback_job *w, struct dtx_err *err)
{
	enum dtx_code code = w->region->trigger->code;

	w->r->offered = !w->r->recorded && !w->r->prompt;
	if (w->r->recorded || w->r->prompt || dtx_code_needs_snippet(code)) {
		report_needs_snippet(w, err);
		return DTX_E_NEEDS_SNIPPET;
	}
	dtx_fallback_job_own(w->region, err);
	return code;
}

/* --- similar snippets --- */

struct similar_one {
	const struct dtx_snippet *snippet;
	json_t *needs;
	double score;
};

static json_t *similar_adopt(const struct dtx_fallback_job *w, const struct similar_one *one,
                             const struct dtx_similar_pair *pair, size_t n)
{
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	struct dtx_buf names = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	json_t *out = NULL;
	size_t i;

	dtx_buf_printf(&text, "dtx snippet adopt %.8s", one->snippet->id);
	for (i = 0; i < n; i++) {
		dtx_buf_reset(&names);
		dtx_buf_printf(&names, "%s=%s", pair[i].need, pair[i].have);
		dtx_buf_add(&text, " --rename ");
		/* a header may contain anything, and users paste this command */
		dtx_buf_word(&text, dtx_buf_text(&names));
	}
	if (w->r->operands)
		dtx_buf_printf(&text, " --plan %s", w->r->operands);
	if (dtx_buf_ok(&text))
		out = json_string(dtx_buf_text(&text));
	dtx_buf_clear(&names);
	dtx_buf_clear(&text);
	return out;
}

static enum dtx_code similar_put(struct dtx_fallback_job *w, const struct similar_one *one,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_similar_pair pair[32];
	json_t *rename = json_object(), *row;
	size_t n, i;

	(void)dtx_similar_score(one->needs, w->doc, pair, DTX_COUNT(pair), &n);
	for (i = 0; i < n; i++) {
		if (!dtx_json_set(rename, pair[i].need, json_string(pair[i].have)))
			DTX_FAIL_MEM(err);
	}
	row = json_pack("{ss sf sO so}", "snippet", one->snippet->id, "score", one->score, "rename",
	                rename, "adopt", similar_adopt(w, one, pair, n));
	if (!w->r->near)
		w->r->near = json_array();
	if (json_array_append_new(w->r->near, row) < 0)
		DTX_FAIL_MEM(err);
	w->rung = DTX_RUNG_NEAR;
out:
	json_decref(rename);
	return rc;
}

/* Inserts into the list of the best, which is sorted with the best first; equal scores keep
 * their order, the newest approval first. */
static void similar_insert(struct similar_one best[DTX_SIMILAR_MAX + 1], size_t *n,
                           struct similar_one one)
{
	size_t i = *n;

	for (; i && best[i - 1].score < one.score; i--)
		best[i] = best[i - 1];
	best[i] = one;
	if (*n < DTX_SIMILAR_MAX)
		(*n)++;
	else
		json_decref(best[DTX_SIMILAR_MAX].needs);
}

static enum dtx_code similar_read(const struct dtx_snippet *s, json_t **needs, struct dtx_err *err)
{
	const struct dtx_json_limits limits = { (size_t)1 << 20, 8 };

	return s->needs ? dtx_json_parse(dtx_str_of(s->needs), limits, needs, err) : DTX_OK;
}

enum dtx_code dtx_fallback_job_similar(struct dtx_fallback_job *w, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct similar_one best[DTX_SIMILAR_MAX + 1] = { { NULL, NULL, 0 } };
	struct dtx_similar_pair pair[32];
	struct dtx_snippet *item;
	size_t n = 0, all, i, pairs;

	json_decref(w->r->near);
	w->r->near = NULL;
	if (!w->r->store || w->region->raw)
		goto out;
	DTX_TRY(dtx_snippet_siblings(w->r->store, w->r->ns, w->intent, &w->arena, &item, &all,
	                             err));
	for (i = 0; i < all; i++) {
		struct similar_one one = { &item[i], NULL, 0 };

		DTX_TRY(similar_read(&item[i], &one.needs, err));
		one.score = dtx_similar_score(one.needs, w->doc, pair, DTX_COUNT(pair), &pairs);
		if (one.score >= DTX_SIMILAR_MIN && pairs)
			similar_insert(best, &n, one);
		else
			json_decref(one.needs);
	}
	for (i = 0; i < n; i++)
		DTX_TRY(similar_put(w, &best[i], err));
out:
	for (i = 0; i < n; i++)
		json_decref(best[i].needs);
	return rc;
}
