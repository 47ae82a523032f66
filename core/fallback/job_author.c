/* Asks an author until an answer passes or no attempt is left. */
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "core/base/log.h"
#include "core/fallback/prompt/extract.h"
#include "core/fallback/prompt/redact.h"
#include "core/fallback/fallback_job.h"
#include "core/store/ledger/lease.h"

#define AUTHOR_BLOCK_US    ((int64_t)60 * 60 * 1000000)
#define AUTHOR_WAIT_MS     200
#define AUTHOR_WAIT_MAX_MS ((int64_t)15 * 60 * 1000)

bool dtx_fallback_job_may_ask(const struct dtx_fallback_job *w)
{
	return w->r->author && !w->r->cache_only && !w->r->prompt && w->r->store && w->r->record;
}

static int64_t author_timeout(const struct dtx_fallback_job *w)
{
	return w->r->author_timeout_ms ? w->r->author_timeout_ms : DTX_AUTHOR_TIMEOUT_MS;
}

static const char *author_model(const struct dtx_fallback_job *w)
{
	return w->r->author->model ? w->r->author->model : "";
}

/* --- one run at a time --- */

/* The name of the lease. It is made from the key, so that other regions can be answered at the
 * same time. */
static void author_key(const struct dtx_fallback_job *w, char key[80])
{
	struct dtx_snippet_key k = dtx_fallback_job_key(w);
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	char hash[DTX_SHA256_HEX];

	dtx_buf_printf(&text, "%s|%s|%s", k.ns, k.fingerprint, k.intent);
	dtx_sha256_hex(dtx_buf_text(&text), dtx_buf_len(&text), hash);
	snprintf(key, 80, "author:%s", hash);
	dtx_buf_clear(&text);
}

/* Takes the lease, or waits for the run that holds it because it asks for the same. *waited:
 * that run has finished, and the cache may have an answer now. */
static enum dtx_code author_claim(const struct dtx_fallback_job *w, const char *key, bool *waited,
                                  struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int64_t deadline = dtx_now_ns() + AUTHOR_WAIT_MAX_MS * 1000000;
	bool ours = false;

	*waited = false;
	for (;;) {
		DTX_TRY(dtx_lease_claim(w->r->store, key, dtx_record_id(w->r->record), &ours, err));
		if (ours)
			break;
		if (!*waited && w->r->say)
			w->r->say(w->r->say_arg, "another run asks for the same snippet: waiting");
		*waited = true;
		if (w->r->cancelled && w->r->cancelled(w->r->cancel_arg))
			DTX_FAIL(err, DTX_E_CANCELLED, "cancelled while waiting for another run");
		if (dtx_now_ns() > deadline)
			DTX_FAIL(err, DTX_E_AUTHOR_FAILED,
			         "another run has been asking for the same snippet for %d minutes",
			         (int)(AUTHOR_WAIT_MAX_MS / 60000));
		(void)poll(NULL, 0, AUTHOR_WAIT_MS);
	}
out:
	return rc;
}

/* --- the record of a call --- */

static json_t *author_body(const struct dtx_fallback_job *w, const struct dtx_prompt *p,
                           const char *hash)
{
	return json_pack(
		"{ss si si si ss ss ss ss sI sI sI}", "call_id", w->call_id, "idx",
		(int)w->region->index, "region", (int)w->region->index, "attempt", (int)w->attempts,
		"transport", w->r->author->transport, "model", author_model(w), "prompt_hash", hash,
		"policy", dtx_sample_name(w->r->sample), "rows_disclosed",
		(json_int_t)p->disclosed.rows, "cols_disclosed", (json_int_t)p->disclosed.cols,
		"redactions", (json_int_t)p->disclosed.redactions);
}

static enum dtx_code author_sent(struct dtx_fallback_job *w, const struct dtx_prompt *p,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_str text = { p->text.ptr, p->text.len };
	char hash[DTX_SHA256_HEX];

	snprintf(w->call_id, sizeof(w->call_id), "%s/%u/%u", dtx_record_id(w->r->record),
	         w->region->index, w->attempts);
	DTX_TRY(dtx_record_blob(w->r->record, "prompt", text, hash, err));
	DTX_TRY(dtx_fallback_job_event(w, "author.sent", author_body(w, p, hash), err));
out:
	return rc;
}

static enum dtx_code author_blob(struct dtx_fallback_job *w, json_t *body, const char *kind,
                                 const char *member, const struct dtx_buf *bytes,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	char hash[DTX_SHA256_HEX];

	if (!bytes->len || !dtx_buf_ok(bytes))
		goto out;
	DTX_TRY(dtx_record_blob(w->r->record, kind, (struct dtx_str){ bytes->ptr, bytes->len },
	                        hash, err));
	if (!dtx_json_set(body, member, json_string(hash)))
		DTX_FAIL_MEM(err);
out:
	return rc;
}

static enum dtx_code author_got(struct dtx_fallback_job *w, const struct dtx_prompt *p,
                                const struct dtx_author_answer *got, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	json_t *body = author_body(w, p, p->hash);
	char cost[32];

	if (!body)
		DTX_FAIL_MEM(err);
	snprintf(cost, sizeof(cost), "%.6f", (double)got->cost / 1e6);
	if (!dtx_json_set(body, "outcome", json_string(got->outcome)) ||
	    !dtx_json_set(body, "model_reported", json_string(got->model)) ||
	    !dtx_json_set(body, "in_tokens", json_integer(got->in_tokens)) ||
	    !dtx_json_set(body, "out_tokens", json_integer(got->out_tokens)) ||
	    !dtx_json_set(body, "estimated", json_integer(got->estimated)) ||
	    !dtx_json_set(body, "dur_us", json_integer(got->dur_us)) ||
	    (got->cost >= 0 && !dtx_json_set(body, "cost", json_string(cost))))
		DTX_FAIL_MEM(err);
	DTX_TRY(author_blob(w, body, "answer", "answer_hash", &got->text, err));
	DTX_TRY(author_blob(w, body, "stderr", "stderr_hash", &got->said, err));
	DTX_TRY(dtx_fallback_job_event(w, "author.got", json_incref(body), err));
out:
	json_decref(body);
	return rc;
}

enum dtx_code dtx_fallback_job_attempt_end(struct dtx_fallback_job *w, enum dtx_code how,
                                           struct dtx_err *err)
{
	return dtx_fallback_job_event(w, "attempt.end",
	                              json_pack("{si si ss ss?}", "idx", (int)w->region->index,
	                                        "attempt", (int)w->attempts, "class",
	                                        dtx_retry_class(how), "cell_id",
	                                        w->id[0] ? w->id : NULL),
	                              err);
}

/* --- one call --- */

static void author_say(const struct dtx_fallback_job *w)
{
	const struct dtx_author *a = w->r->author;
	char text[160];

	if (!w->r->say)
		return;
	snprintf(text, sizeof(text), "asking %s (attempt %u)",
	         author_model(w)[0] ? author_model(w) : a->transport, w->attempts);
	w->r->say(w->r->say_arg, text);
}

static enum dtx_code author_call(struct dtx_fallback_job *w, const struct dtx_prompt *p,
                                 struct dtx_author_answer *got, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK, asked;
	struct dtx_author_ask ask = { .prompt = { p->text.ptr, p->text.len },
		                      .system_len = p->system_len,
		                      .hash = p->hash,
		                      .timeout_ms = author_timeout(w),
		                      .cancelled = w->r->cancelled,
		                      .cancel_arg = w->r->cancel_arg };

	w->attempts++;
	DTX_TRY(author_sent(w, p, err));
	author_say(w);
	asked = dtx_author_call(w->r->author, &ask, got, err);
	w->asked = true;
	w->disclosed = p->disclosed;
	w->origin = w->r->author->transport;
	dtx_str_copy(w->model, sizeof(w->model), dtx_str_of(got->model));
	if (asked == DTX_OK || !got->estimated) /* a server may charge for calls that fail */
		dtx_budget_spend(&w->r->budget, got->in_tokens + got->out_tokens, got->cost);
	rc = author_got(w, p, got, asked == DTX_OK ? err : NULL);
	if (asked != DTX_OK)
		rc = asked;
out:
	return rc;
}

static enum dtx_code author_try(struct dtx_fallback_job *w, const struct dtx_author_answer *got,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (!strcmp(got->finish, "length"))
		DTX_FAIL(err, DTX_E_SNIPPET_TRUNCATED,
		         "the answer was cut: the author reached its limit of tokens");
	DTX_TRY(dtx_fallback_job_try(
		w, (struct dtx_str){ got->text.ptr ? got->text.ptr : "", got->text.len }, err));
out:
	return rc;
}

/* --- the attempts --- */

struct author_cycle {
	struct dtx_fallback_job *w;
	struct dtx_prompt prompt;
	struct dtx_buf code, report; /* of the last attempt */
	enum dtx_code failed;        /* DTX_OK: there was no attempt */
};

/* Notes the failed attempt. `broke` is the error of a later step that could not use the result,
 * or NULL. */
static void cycle_remember(struct author_cycle *c, const struct dtx_err *broke,
                           enum dtx_code failed, const struct dtx_err *why)
{
	struct dtx_str code = { c->w->code.ptr ? c->w->code.ptr : "", c->w->code.len };

	c->failed = failed;
	dtx_buf_reset(&c->code);
	dtx_buf_reset(&c->report);
	dtx_buf_adds(&c->code, code);
	dtx_redact_failure(
		&(struct dtx_redact_failure){
			.code = failed,
			.message = why->msg,
			.run = c->w->admitted.for_author,
			.checks = c->w->admitted.checks,
			.assumes = c->w->admitted.assumes,
			.broke = broke,
			.broke_number =
				broke ? dtx_plan_step_number(c->w->region->plan, broke->step) : 0,
			.module = code,
			.names = c->w->names },
		&c->report);
}

static enum dtx_code cycle_prompt(struct author_cycle *c, struct dtx_err *err)
{
	const struct dtx_fallback_request *g = c->w->region;
	json_t *step = g->broke ? dtx_plan_steps_json(g->plan, (uint32_t)g->broke->step, 1) : NULL;
	struct dtx_prompt_previous last = { dtx_retry_class(c->failed),
		                            dtx_buf_text(&c->report),
		                            { dtx_buf_text(&c->code), dtx_buf_len(&c->code) },
		                            step };
	enum dtx_code rc =
		dtx_fallback_job_prompt(c->w, c->failed == DTX_OK ? NULL : &last, &c->prompt, err);

	json_decref(step);
	return rc;
}

/* Does not pay again for a prompt that failed within the last hour. */
static enum dtx_code cycle_blocked(struct author_cycle *c, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_fallback_job *w = c->w;
	char run[40];

	if (w->r->retry_author || w->asked)
		goto out;
	DTX_TRY(dtx_snippet_failed(w->r->store, c->prompt.hash, w->r->author->transport,
	                           author_model(w), dtx_wall_us() - AUTHOR_BLOCK_US, run, err));
	if (!run[0])
		goto out;
	rc = dtx_err_set(
		err, DTX_E_AUTHOR_FAILED, __FILE__, __LINE__,
		"run %s asked the same within the last hour, and no answer passed the checks",
		dtx_run_id_short(run));
	dtx_err_hint(err, "--retry-author asks again; dtx provenance %s shows how it failed",
	             dtx_run_id_short(run));
out:
	return rc;
}

/* A limit ends the attempts like a failure does, with the error of the last attempt if there was
 * one. */
static enum dtx_code cycle_budget(struct author_cycle *c, struct dtx_err *why, struct dtx_err *err)
{
	struct dtx_err over = DTX_ERR_INIT;
	enum dtx_code rc =
		dtx_budget_check(&c->w->r->budget, (int64_t)(c->prompt.text.len / 4), &over);

	if (rc != DTX_OK && c->failed != DTX_OK) {
		rc = c->failed;
		dtx_err_hint(why, "%.280s", over.msg);
		dtx_err_move(err, why);
	} else if (rc != DTX_OK) {
		dtx_err_move(err, &over);
	}
	dtx_err_clear(&over);
	return rc;
}

bool dtx_fallback_job_may_retry(struct dtx_fallback_job *w, enum dtx_code failed,
                                struct dtx_str code, const json_t *report, struct dtx_err *why)
{
	const char *stop = dtx_retry_stop(&w->retry, w->r->budget.attempts, failed, code, report);

	if (stop)
		dtx_err_hint(why, "%s: %u asked; dtx provenance %s has prompts and answers", stop,
		             w->attempts, dtx_run_id_short(dtx_record_id(w->r->record)));
	return !stop;
}

/* Makes one attempt. *done: it passed, or no other may follow; then the result is that of the
 * function. */
static enum dtx_code cycle_attempt(struct author_cycle *c, struct dtx_err *why, bool *done,
                                   struct dtx_err *err)
{
	struct dtx_author_answer got;
	enum dtx_code rc = DTX_OK;

	dtx_author_answer_init(&got);
	*done = true;
	DTX_TRY(cycle_prompt(c, err));
	DTX_TRY(cycle_blocked(c, err));
	DTX_TRY(cycle_budget(c, why, err));
	dtx_err_clear(why);
	dtx_fallback_job_reset(c->w);
	DTX_TRY(author_call(c->w, &c->prompt, &got, err));
	rc = author_try(c->w, &got, why);
	if (rc == DTX_OK)
		goto out;
	cycle_remember(c, NULL, rc, why);
	DTX_TRY(dtx_fallback_job_attempt_end(c->w, c->failed, err));
	rc = c->failed;
	*done = !dtx_fallback_job_may_retry(c->w, rc, dtx_buf_str(&c->code),
	                                    c->w->admitted.report_json, why);
	if (*done)
		dtx_err_move(err, why);
out:
	dtx_author_answer_clear(&got);
	return rc;
}

static enum dtx_code cycle_run(struct author_cycle *c, struct dtx_err *failed, struct dtx_err *err)
{
	struct dtx_err why = DTX_ERR_INIT;
	enum dtx_code rc = DTX_OK;
	bool done = false;

	if (failed) {
		dtx_err_move(&why, failed);
		cycle_remember(c, c->w->region->broke, why.code, &why);
	}
	while (!done)
		rc = cycle_attempt(c, &why, &done, err);
	dtx_err_clear(&why);
	return rc;
}

/* Uses what the run that we waited for has stored. If a snippet failed, only another one counts. */
static enum dtx_code author_left(struct dtx_fallback_job *w, bool failed, bool *left,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	char id[DTX_SNIPPET_ID];

	memcpy(id, w->id, sizeof(id));
	DTX_TRY(dtx_fallback_job_find(w, err));
	*left = (w->rung == DTX_RUNG_EXACT || w->rung == DTX_RUNG_COMPATIBLE ||
	         w->rung == DTX_RUNG_PENDING) &&
	        (!failed || strcmp(w->id, id));
	if (!*left)
		goto out;
	dtx_fallback_job_reset(w); /* forget the code that failed */
	dtx_str_copy(w->id, sizeof(w->id), dtx_str_of(w->snippet.id));
	DTX_TRY(dtx_fallback_job_event_cache(w, err));
out:
	return rc;
}

static enum dtx_code author_leased(struct dtx_fallback_job *w, bool waited, struct dtx_err *failed,
                                   struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct author_cycle c = { .w = w,
		                  .code = DTX_BUF_INIT(DTX_SNIPPET_CODE_MAX),
		                  .report = DTX_BUF_INIT(1 << 16) };

	bool left = false;

	dtx_prompt_init(&c.prompt);
	if (waited)
		DTX_TRY(author_left(w, failed, &left, err));
	if (left) {
		DTX_TRY(dtx_fallback_job_run(w, err));
		goto out;
	}
	DTX_TRY(cycle_run(&c, failed, err));
	DTX_TRY(dtx_fallback_job_offer(w, false, err));
out:
	dtx_prompt_clear(&c.prompt);
	dtx_buf_clear(&c.code);
	dtx_buf_clear(&c.report);
	return rc;
}

enum dtx_code dtx_fallback_job_author(struct dtx_fallback_job *w, struct dtx_err *failed,
                                      struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK, dropped;
	bool waited = false;

	author_key(w, w->lease);
	DTX_TRY(author_claim(w, w->lease, &waited, err));
	rc = author_leased(w, waited, failed, err);
	/* the lease is kept until the code is approved, because others wait for that */
	if (rc == DTX_OK && w->waits)
		goto out;
	dropped = dtx_fallback_job_drop_lease(w, rc == DTX_OK ? err : NULL);
	rc = rc == DTX_OK ? dropped : rc;
out:
	return rc;
}
