/* Answers one request for a snippet, see fallback.h. It tries these sources in order: the module
 * of --snippet, an approved snippet for exactly this key, one that is compatible, an author. If
 * none has an answer, the error lists the commands that would help. */
#include "core/fallback/fallback_job.h"

#include <string.h>

#include "core/base/memory/mem.h"
#include "core/fallback/contract.h"
#include "core/fallback/prompt/redact.h"
#include "core/fallback/prompt/shape.h"

struct dtx_snippet_key dtx_fallback_job_key(const struct dtx_fallback_job *w)
{
	return (struct dtx_snippet_key){ w->r->ns, w->fingerprint, w->intent };
}

static enum dtx_code fallback_contract(struct dtx_fallback_job *w, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t i, n = w->region->nneed;
	struct dtx_need_col *need = dtx_arena_zalloc(&w->arena, n + 1, sizeof(*need));

	if (!need)
		DTX_FAIL_MEM(err);
	for (i = 0; i < n; i++)
		need[i] = (struct dtx_need_col){ w->region->need[i].name, w->region->need[i].cls };
	DTX_TRY(dtx_contract_make(need, n, w->region->expect_json, &w->contract, err));
	DTX_TRY(dtx_fingerprint_contract(w->contract, w->contract_hash, err));
out:
	return rc;
}

/* Makes {"kind": "step", "steps": [...]}, from which the intent hash is computed; for an input,
 * what the plan says about it. */
static json_t *fallback_region_json(const struct dtx_fallback_request *region)
{
	if (region->raw)
		return json_pack("{ss sO sO}", "kind", "input", "steps", region->steps, "input",
		                 region->input_json);
	return json_pack("{ss sO}", "kind", region->whole_plan ? "plan" : "step", "steps",
	                 region->steps);
}

/* Describes the tables that the snippet gets, or the shape of the raw cells. */
static enum dtx_code fallback_tables(struct dtx_fallback_job *w, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_fallback_request *g = w->region;
	size_t i;

	w->ntables = g->raw ? 1 : g->ntables;
	w->tables = dtx_arena_zalloc(&w->arena, w->ntables + 1, sizeof(*w->tables));
	if (!w->tables)
		DTX_FAIL_MEM(err);
	if (g->raw) {
		w->before.rows = g->raw->nrows;
		w->before.cols = g->raw->ncols;
	}
	for (i = 0; i < g->ntables; i++) {
		if (strcmp(g->table[i].name, "main") == 0) {
			w->before.rows = g->table[i].table->nrows;
			w->before.cols = g->table[i].table->schema->nfields;
		}
		w->tables[i].alias = g->table[i].name;
		w->tables[i].schema = g->table[i].table->schema;
		w->tables[i].families = g->table[i].families;
	}
	if (g->raw) {
		DTX_TRY(dtx_shape_json(g->raw, &w->shape, err));
		w->tables[0].alias = g->input_name;
		w->tables[0].grid = w->shape;
	}
out:
	return rc;
}

static enum dtx_code fallback_names(struct dtx_fallback_job *w, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_fallback_request *g = w->region;
	size_t i;

	w->names = json_object();
	if (!w->names ||
	    !dtx_redact_names(w->names, NULL, NULL, w->r->deny, w->r->ndeny, w->contract))
		DTX_FAIL_MEM(err);
	for (i = 0; i < g->ntables; i++) {
		if (!dtx_redact_names(w->names, g->table[i].name, g->table[i].table->schema,
		                      w->r->deny, w->r->ndeny, NULL))
			DTX_FAIL_MEM(err);
	}
out:
	return rc;
}

static enum dtx_code fallback_identify(struct dtx_fallback_job *w, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	w->region_json = fallback_region_json(w->region);
	if (!w->region_json)
		DTX_FAIL_MEM(err);
	DTX_TRY(fallback_tables(w, err));
	DTX_TRY(fallback_contract(w, err));
	DTX_TRY(fallback_names(w, err));
	DTX_TRY(dtx_fingerprint_tables(w->tables, w->ntables, &w->doc, w->fingerprint, err));
	DTX_TRY(dtx_fingerprint_order(w->tables, w->ntables, &w->order, err));
	DTX_TRY(dtx_fingerprint_intent(w->region_json, w->contract, DTX_PROMPT_TEMPLATE, w->r->abi,
	                               w->intent, err));
out:
	return rc;
}

/* Makes the second argument of transform(). */
static enum dtx_code fallback_params(struct dtx_fallback_job *w, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	json_t *families = NULL, *steps = json_deep_copy(w->region->steps);
	json_t *date = w->r->run_date ? json_string(w->r->run_date) : json_null();

	w->params = json_object();
	if (!w->params || !dtx_json_set(w->params, "steps", steps))
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_fingerprint_families(w->tables, w->ntables, &families, err));
	if (!dtx_json_set(w->params, "families", families) ||
	    !dtx_json_set(w->params, "run_date", date))
		DTX_FAIL_MEM(err);
out:
	return rc;
}

const char *dtx_fallback_job_op(const struct dtx_fallback_job *w)
{
	return w->region->count ? dtx_plan_step_name(&w->region->plan->step[w->region->first])
	                        : NULL;
}

enum dtx_code dtx_fallback_job_event(const struct dtx_fallback_job *w, const char *kind,
                                     json_t *body, struct dtx_err *err)
{
	if (w->r->record)
		return dtx_record_event(w->r->record, kind, body, err);
	json_decref(body);
	return DTX_OK;
}

/* Names and JSON types of the step's parameters, never their values. Statistics use them to find
 * out which operations are missing. */
static json_t *fallback_step_params(const struct dtx_fallback_job *w)
{
	static const char *const type[] = { "object", "array", "string", "integer",
		                            "real",   "true",  "false",  "null" };
	const json_t *step = json_array_get(w->region->steps, 0);
	json_t *out = json_object(), *value;
	const char *name;

	json_object_foreach((json_t *)(uintptr_t)step, name, value)
	{
		if (strcmp(name, "op") && strcmp(name, "note"))
			(void)json_object_set_new(out, name,
			                          json_string(json_is_boolean(value)
			                                              ? "bool"
			                                              : type[json_typeof(value)]));
	}
	return out;
}

/* Where the plan has what caused the request, within the region: "/steps/1/op". */
static const char *fallback_pointer(const struct dtx_fallback_request *g)
{
	const char *at = g->trigger->at;

	return strncmp(at, g->at, strlen(g->at)) ? g->at : at;
}

static enum dtx_code fallback_event_trigger(struct dtx_fallback_job *w, struct dtx_err *err)
{
	const struct dtx_fallback_request *g = w->region;

	if (!w->r->record)
		return DTX_OK;
	return dtx_record_event_next(
		w->r->record, "run.trigger",
		json_pack("{si ss ss ss? so}", "idx", (int)g->index, "pointer", fallback_pointer(g),
	                  "code", dtx_code_name(g->trigger->code), "op", dtx_fallback_job_op(w),
	                  "params", fallback_step_params(w)),
		err);
}

/* Waits until the event is on disk: no snippet runs before the disk says that this run has
 * begun. Code from the cache is an exception, because its approval is on disk already, and
 * run.output is waited for before any result is visible. */
enum dtx_code dtx_fallback_job_event_cache(const struct dtx_fallback_job *w, struct dtx_err *err)
{
	bool known = w->rung == DTX_RUNG_EXACT || w->rung == DTX_RUNG_COMPATIBLE;

	if (!w->r->record)
		return DTX_OK;
	return (known ? dtx_record_event_soon : dtx_record_event)(
		w->r->record, "run.cache",
		json_pack("{si ss ss? ss ss}", "idx", (int)w->region->index, "outcome",
	                  dtx_rung_name(w->rung), "cell_id", w->id[0] ? w->id : NULL, "fingerprint",
	                  w->fingerprint, "intent", w->intent),
		err);
}

/* --- the sources of an answer --- */

void dtx_fallback_job_reset(struct dtx_fallback_job *w)
{
	dtx_admit_clear(&w->admitted);
	dtx_buf_reset(&w->code);
	json_decref(w->adapter);
	w->adapter = NULL;
	w->id[0] = '\0';
}

enum dtx_code dtx_fallback_job_find(struct dtx_fallback_job *w, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_buf order = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	struct dtx_snippet_ask ask = { .key = dtx_fallback_job_key(w), .tables = w->doc };

	w->rung = DTX_RUNG_NONE;
	if (!w->r->store)
		goto out;
	dtx_json_canonical(w->order, &order);
	ask.col_order = dtx_buf_text(&order);
	ask.strict = w->r->strict_schema;
	DTX_TRY(dtx_snippet_resolve(w->r->store, &ask, &w->arena, &w->snippet, &w->rung, err));
	if (w->rung != DTX_RUNG_NONE)
		dtx_str_copy(w->id, sizeof(w->id), dtx_str_of(w->snippet.id));
out:
	dtx_buf_clear(&order);
	return rc;
}

/* Whether an author may repair an approved snippet that failed. */
static bool fallback_repairs(const struct dtx_fallback_job *w, enum dtx_code how)
{
	return dtx_fallback_job_may_ask(w) && dtx_retry_helps(how) && !w->admitted.only_expect;
}

static enum dtx_code fallback_run(struct dtx_fallback_job *w, struct dtx_err *err)
{
	struct dtx_err why = DTX_ERR_INIT;
	enum dtx_code rc = dtx_fallback_job_run(w, &why), noted;

	if (rc != DTX_OK && !strncmp(dtx_code_name(rc), "snippet_", 8)) {
		noted = dtx_fallback_job_event(
			w, "attempt.end",
			json_pack("{si si ss ss}", "idx", (int)w->region->index, "attempt", 0,
		                  "class", dtx_retry_class(rc), "cell_id", w->id),
			err);
		if (noted != DTX_OK) {
			dtx_err_clear(&why);
			return noted;
		}
	}
	if (rc != DTX_OK && fallback_repairs(w, rc))
		rc = dtx_fallback_job_author(w, &why, err);
	else if (rc != DTX_OK)
		dtx_err_move(err, &why);
	dtx_err_clear(&why);
	return rc;
}

/* Uses an approved snippet that is exact or compatible; similar ones are only reported.
 * Without one it asks an author. */
static enum dtx_code fallback_cached(struct dtx_fallback_job *w, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	bool missing;

	DTX_TRY(dtx_fallback_job_find(w, err));
	missing = w->rung == DTX_RUNG_NONE || (w->rung == DTX_RUNG_PENDING && w->r->prompt);
	if (w->rung == DTX_RUNG_NONE)
		DTX_TRY(dtx_fallback_job_similar(w, err));
	DTX_TRY(dtx_fallback_job_event_cache(w, err));
	if (!missing) {
		rc = fallback_run(w, err);
		goto out;
	}
	if (dtx_fallback_job_may_ask(w)) {
		rc = dtx_fallback_job_author(w, NULL, err);
		goto out;
	}
	if (w->r->prompt)
		DTX_TRY(dtx_fallback_job_prompt(w, NULL, w->r->prompt, err));
	rc = dtx_fallback_job_unanswered(w, err);
out:
	return rc;
}

/* From extraction to approval of the module of --snippet. */
static enum dtx_code fallback_supplied(struct dtx_fallback_job *w, struct dtx_err *err)
{
	const struct dtx_json_limits limits = { (size_t)1 << 20, 8 };
	enum dtx_code rc = DTX_OK, tried, noted;

	w->rung = DTX_RUNG_SUPPLIED;
	w->origin = w->r->adapter ? "adopted" : "supplied";
	if (w->r->adapter)
		DTX_TRY(dtx_json_parse(dtx_str_of(w->r->adapter), limits, &w->adapter, err));
	DTX_TRY(dtx_fallback_job_event_cache(w, err));
	w->attempts = 1;
	tried = dtx_fallback_job_try(w, w->r->supplied, err);
	if (tried != DTX_OK) {
		noted = dtx_fallback_job_event(w, "attempt.end",
		                               json_pack("{si si ss ss?}", "idx",
		                                         (int)w->region->index, "attempt", 1,
		                                         "class", dtx_retry_class(tried), "cell_id",
		                                         w->id[0] ? w->id : NULL),
		                               NULL);
		(void)noted; /* the error to report is why the module failed */
	}
	DTX_TRY(tried);
	DTX_TRY(dtx_fallback_job_offer(w, true, err));
out:
	return rc;
}

/* --- a replay --- */

static const json_t *fallback_recorded(const struct dtx_fallback_job *w)
{
	size_t i, n = strlen(w->region->at);
	json_t *row;

	json_array_foreach((json_t *)(uintptr_t)w->r->recorded, i, row)
	{
		const char *at = dtx_json_text(row, "pointer", "");

		if (!strncmp(at, w->region->at, n) && (!at[n] || at[n] == '/'))
			return row;
	}
	return NULL;
}

/* Whether the snippet is the one of the recorded run. The record names it by an id over code,
 * key and renames; the table that these come from may have been changed since. */
static bool fallback_is_recorded(const struct dtx_fallback_job *w, const json_t *cell)
{
	const struct dtx_snippet_key key = { dtx_json_text(cell, "namespace", ""),
		                             dtx_json_text(cell, "source_schema_fingerprint", ""),
		                             dtx_json_text(cell, "intent_hash", "") };
	struct dtx_buf adapter = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	char hash[DTX_SHA256_HEX], id[DTX_SNIPPET_ID];
	const json_t *renames = json_object_get(cell, "adapter");

	if (json_is_object(renames))
		dtx_json_canonical(renames, &adapter);
	dtx_sha256_hex(w->code.ptr, w->code.len, hash);
	dtx_snippet_id(&key, hash, json_is_object(renames) ? dtx_buf_text(&adapter) : NULL, id);
	dtx_buf_clear(&adapter);
	return strcmp(id, w->id) == 0;
}

/* Runs the code that the recorded run used in the end, and no other. */
static enum dtx_code fallback_replay(struct dtx_fallback_job *w, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const json_t *row = fallback_recorded(w), *cell = json_object_get(row, "cell");
	const json_t *code = json_object_get(cell, "code");

	if (!row)
		return dtx_fallback_job_unanswered(w, err);
	if (!strcmp(dtx_json_text(cell, "state", ""), "revoked"))
		DTX_FAIL(err, DTX_E_SNIPPET_REVOKED, "snippet %.8s was revoked in the meantime",
		         dtx_json_text(row, "cell_id", ""));
	if (!json_is_string(code)) {
		rc = dtx_err_set(err, DTX_E_STORE_IO, __FILE__, __LINE__,
		                 "the code of snippet %.8s is not in the store",
		                 dtx_json_text(row, "cell_id", ""));
		dtx_err_hint(err, "it was purged: dtx run --snippet with the same bytes brings it "
		                  "back");
		goto out;
	}
	w->rung = DTX_RUNG_RECORDED;
	dtx_str_copy(w->id, sizeof(w->id), dtx_str_of(dtx_json_text(row, "cell_id", "")));
	dtx_buf_addn(&w->code, json_string_value(code), json_string_length(code));
	DTX_TRY(dtx_buf_check(&w->code, "snippet", err));
	if (!fallback_is_recorded(w, cell)) {
		rc = dtx_err_set(err, DTX_E_STORE_IO, __FILE__, __LINE__,
		                 "the code that is kept for snippet %.8s is not the one that the "
		                 "run had: the store was changed without dtx",
		                 w->id);
		dtx_err_hint(err, "dtx verify shows what was changed; dtx store rebuild makes the "
		                  "list of snippets again from the ledger");
		goto out;
	}
	DTX_TRY(dtx_fallback_job_event_cache(w, err));
	DTX_TRY(dtx_fallback_job_recorded(w, json_object_get(cell, "adapter"), err));
out:
	return rc;
}

/* --- the record --- */

static enum dtx_code fallback_record(struct dtx_fallback_job *w, struct dtx_err *err)
{
	const struct dtx_fallback_request *g = w->region;
	json_t *jail = w->admitted.report_json ? json_incref(w->admitted.report_json) : json_null();
	int32_t first = dtx_plan_step_number(g->plan, (int32_t)g->first) - 1;
	int32_t last = dtx_plan_step_number(g->plan, (int32_t)(g->first + g->count) - 1) - 1;
	json_t *steps = g->count ? json_pack("[ii]", first, last) : json_null();

	return dtx_record_add(
		w->r->record, DTX_PART_REGION,
		json_pack("{ss ss ss ss? si ss so ss? so}", "pointer", fallback_pointer(g), "code",
	                  dtx_code_name(g->trigger->code), "rung", dtx_rung_name(w->rung),
	                  "cell_id", w->id[0] ? w->id : NULL, "attempts",
	                  (int)DTX_MAX(w->attempts, 1u), "class", dtx_retry_class(w->ended), "jail",
	                  jail, "op", dtx_fallback_job_op(w), "steps", steps),
		err);
}

enum dtx_code dtx_fallback_job_record(struct dtx_fallback_job *w, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	json_t *row;
	size_t i;

	if (!w->r->record)
		goto out;
	DTX_TRY(fallback_record(w, err));
	json_array_foreach(w->admitted.checks, i, row)
		DTX_TRY(dtx_record_add(w->r->record, DTX_PART_CHECK, json_incref(row), err));
out:
	return rc;
}

/* Whether a module that failed here may be meant for a later region, because this region has
 * another answer. */
static enum dtx_code fallback_waits(struct dtx_fallback_job *w, enum dtx_code how, bool *waits,
                                    struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	char id[DTX_SNIPPET_ID];

	*waits = false;
	if (strncmp(dtx_code_name(how), "snippet_", 8))
		goto out;
	memcpy(id, w->id, sizeof(id));
	DTX_TRY(dtx_fallback_job_find(w, err));
	*waits = w->rung == DTX_RUNG_EXACT || w->rung == DTX_RUNG_COMPATIBLE;
	if (*waits) {
		dtx_fallback_job_reset(w);
	} else {
		w->rung = DTX_RUNG_SUPPLIED;
		memcpy(w->id, id, sizeof(id));
	}
out:
	return rc;
}

/* Tries the module of --snippet. *done: it did the work, or there is no other source. */
static enum dtx_code fallback_try(struct dtx_fallback_job *w, bool *done, struct dtx_err *err)
{
	struct dtx_err why = DTX_ERR_INIT;
	enum dtx_code rc = fallback_supplied(w, &why), found;
	bool waits = false;

	*done = true;
	if (rc == DTX_OK) {
		w->r->supplied_used = true;
		return rc;
	}
	found = fallback_waits(w, rc, &waits, err);
	if (found != DTX_OK || !waits) {
		rc = found != DTX_OK ? found : rc;
		if (found == DTX_OK)
			dtx_err_move(err, &why);
	} else {
		rc = DTX_OK;
		*done = false;
		if (w->r->supplied_err.code == DTX_OK)
			dtx_err_move(&w->r->supplied_err, &why);
	}
	dtx_err_clear(&why);
	return rc;
}

/* --- a later step could not use the answer --- */

/* Takes over the code, its origin, and the attempts so far from the earlier request. */
static void fallback_inherit(struct dtx_fallback_job *w, struct dtx_fallback_job *was)
{
	dtx_buf_reset(&w->code);
	dtx_buf_adds(&w->code, dtx_buf_str(&was->code));
	memcpy(w->id, was->id, sizeof(w->id));
	memcpy(w->call_id, was->call_id, sizeof(w->call_id));
	memcpy(w->model, was->model, sizeof(w->model));
	memcpy(w->lease, was->lease, sizeof(w->lease));
	w->rung = was->rung;
	w->origin = was->origin;
	w->disclosed = was->disclosed;
	w->attempts = was->attempts;
	w->asked = was->asked;
	w->retry = was->retry;
	w->supplied = was->supplied;
}

/* Describes the failure of the later step as a failure of the snippet. Its message may quote
 * cells and must be shown only to people. */
static void fallback_broke(const struct dtx_fallback_job *w, struct dtx_err *why)
{
	const struct dtx_err *broke = w->region->broke;
	const char *column = broke->column;

	dtx_err_set(why, DTX_E_SNIPPET_CONTRACT, __FILE__, __LINE__,
	            "step %d, '%.40s', cannot use %s%.64s%s of the result: %s: %.300s",
	            dtx_plan_step_number(w->region->plan, broke->step),
	            dtx_plan_step_name(&w->region->plan->step[broke->step]),
	            column[0] ? "column '" : "a column", column, column[0] ? "'" : "",
	            dtx_code_name(broke->code), broke->msg);
}

/* The module of --snippet has one attempt. If it failed, an approved snippet may take its place. */
static enum dtx_code fallback_broke_supplied(struct dtx_fallback_job *w, struct dtx_err *why,
                                             bool *over, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	bool waits = false;

	*over = true;
	DTX_TRY(fallback_waits(w, DTX_E_SNIPPET_CONTRACT, &waits, err));
	if (!waits) {
		dtx_err_move(err, why);
		return err->code;
	}
	w->r->supplied_used = w->supplied = false;
	if (w->r->supplied_err.code == DTX_OK)
		dtx_err_move(&w->r->supplied_err, why);
	DTX_TRY(fallback_cached(w, err));
out:
	return rc;
}

static enum dtx_code fallback_resume(struct dtx_fallback_job *w, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_err why = DTX_ERR_INIT;
	json_t *report =
		json_pack("{s{ss}}", "exception", "type", dtx_code_name(w->region->broke->code));
	struct dtx_str code = dtx_buf_str(&w->code);
	bool over = false;

	fallback_broke(w, &why);
	DTX_TRY(dtx_fallback_job_attempt_end(w, DTX_E_SNIPPET_CONTRACT, err));
	if (w->supplied) {
		rc = fallback_broke_supplied(w, &why, &over, err);
		goto out;
	}
	over = !dtx_fallback_job_may_ask(w) ||
	       (w->asked && !dtx_fallback_job_may_retry(w, why.code, code, report, &why));
	if (!over) {
		rc = dtx_fallback_job_author(w, &why, err);
		goto out;
	}
	rc = why.code;
	dtx_err_move(err, &why);
out:
	json_decref(report);
	dtx_err_clear(&why);
	return rc;
}

static enum dtx_code fallback_answer(struct dtx_fallback_job *w, struct dtx_fallback_job *was,
                                     struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	bool done = false;

	if (w->region->broke && was) {
		fallback_inherit(w, was);
		DTX_TRY(fallback_resume(w, err));
		goto out;
	}
	if (was) /* the region is answered again from the start, perhaps under another key */
		DTX_TRY(dtx_fallback_job_drop_lease(was, err));
	if (w->r->recorded) {
		DTX_TRY(fallback_replay(w, err));
		goto out;
	}
	if (w->r->supplied.ptr && !w->r->prompt && !w->r->supplied_used)
		DTX_TRY(fallback_try(w, &done, err));
	if (!done)
		DTX_TRY(fallback_cached(w, err));
out:
	return rc;
}

/* If the result only breaks the `expect` of the plan, the error is expect_failed (exit status
 * 10): the plan demanded it, not the code. */
static enum dtx_code fallback_exit(const struct dtx_fallback_job *w, enum dtx_code rc,
                                   struct dtx_err *err)
{
	if (rc != DTX_E_SNIPPET_CONTRACT || !w->admitted.only_expect)
		return rc;
	if (err)
		err->code = DTX_E_EXPECT_FAILED;
	return DTX_E_EXPECT_FAILED;
}

static enum dtx_code fallback_work(struct dtx_fallback_job *w, struct dtx_fallback_job *was,
                                   struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (!was)
		DTX_TRY(fallback_event_trigger(w, err));
	DTX_TRY(fallback_identify(w, err));
	DTX_TRY(fallback_params(w, err));
	w->ended = fallback_answer(w, was, err);
	rc = fallback_exit(w, w->ended, err);
out:
	return rc;
}

/* Without a store, no snippet runs. The cause of the request is then the error, if it is an
 * error. */
static enum dtx_code fallback_no_store(const struct dtx_fallback_request *region,
                                       struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (dtx_code_needs_snippet(region->trigger->code))
		DTX_FAIL(err, DTX_E_STORE_IO,
		         "a snippet runs only where a store keeps the record of the run");
	dtx_fallback_job_own(region, err);
	rc = region->trigger->code;
out:
	return rc;
}

enum dtx_code dtx_fallback_answer(void *arg, const struct dtx_fallback_request *region,
                                  struct dtx_table **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_fallback_ctx *r = arg;
	struct dtx_fallback_job *was = NULL, *w = dtx_mem_zalloc(1, sizeof(*w));

	if (!w)
		DTX_FAIL_MEM(err);
	*w = (struct dtx_fallback_job){ .r = r,
		                        .region = region,
		                        .code = DTX_BUF_INIT(DTX_SNIPPET_CODE_MAX) };
	dtx_fallback_job_own(region, &r->finding);
	if (!r->prompt && (!r->store || dtx_store_is_memory(r->store))) {
		rc = fallback_no_store(region, err);
		goto out;
	}
	was = dtx_fallback_job_take(r, region);
	rc = fallback_work(w, was, err);
	if (rc == DTX_OK)
		*out = dtx_table_ref(w->admitted.table);
	/* whoever supplied a module, or replays a run, knows why a snippet was needed */
	if (rc == DTX_OK || w->rung == DTX_RUNG_SUPPLIED ||
	    (r->recorded && rc != DTX_E_NEEDS_SNIPPET))
		dtx_err_clear(&r->finding);
	if (w->fingerprint[0]) { /* the request got as far as having a key */
		dtx_fallback_job_keep(w);
		w = NULL;
	}
out:
	dtx_fallback_job_free(w);
	dtx_fallback_job_free(was);
	return rc;
}

enum dtx_code dtx_fallback_look(struct dtx_fallback_ctx *r,
                                const struct dtx_fallback_request *region, enum dtx_rung *rung,
                                char id[DTX_SNIPPET_ID], struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_fallback_job *w = dtx_mem_zalloc(1, sizeof(*w));

	*rung = DTX_RUNG_NONE;
	if (!w)
		DTX_FAIL_MEM(err);
	*w = (struct dtx_fallback_job){ .r = r,
		                        .region = region,
		                        .code = DTX_BUF_INIT(DTX_SNIPPET_CODE_MAX) };
	DTX_TRY(fallback_identify(w, err));
	DTX_TRY(dtx_fallback_job_find(w, err));
	*rung = w->rung;
	memcpy(id, w->id, DTX_SNIPPET_ID);
out:
	dtx_fallback_job_free(w);
	return rc;
}
