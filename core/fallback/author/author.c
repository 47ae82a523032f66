/* What all kinds of authors share: one call, see author.h. */
#include "core/fallback/author/author.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/log.h"
#include "core/fallback/prompt/extract.h"

#define AUTHOR_TOKENS_MAX ((int64_t)1 << 40)
#define AUTHOR_COST_MAX   1e9
#define BYTES_PER_TOKEN   4

void dtx_author_answer_init(struct dtx_author_answer *a)
{
	memset(a, 0, sizeof(*a));
	dtx_buf_init(&a->text, DTX_ANSWER_MAX);
	dtx_buf_init(&a->said, DTX_AUTHOR_SAID_MAX);
	a->in_tokens = a->out_tokens = a->cost = -1;
}

void dtx_author_answer_clear(struct dtx_author_answer *a)
{
	dtx_buf_clear(&a->text);
	dtx_buf_clear(&a->said);
	dtx_author_answer_init(a);
}

static void author_tokens(const json_t *usage, const char *key, int64_t *out)
{
	int64_t n = dtx_json_int(usage, key, -1);

	if (n >= 0 && n < AUTHOR_TOKENS_MAX)
		*out = n;
}

void dtx_author_usage(const json_t *usage, struct dtx_author_answer *out)
{
	const json_t *cost = json_object_get(usage, "cost");
	const char *text = json_string_value(cost), *model = dtx_json_text(usage, "model", NULL);
	double value = json_is_number(cost) ? json_number_value(cost) : -1;
	char *end;

	author_tokens(usage, "prompt_tokens", &out->in_tokens);
	author_tokens(usage, "input_tokens", &out->in_tokens);
	author_tokens(usage, "completion_tokens", &out->out_tokens);
	author_tokens(usage, "output_tokens", &out->out_tokens);
	if (text) {
		value = strtod(text, &end);
		value = end == text || *end ? -1 : value;
	}
	if (value >= 0 && value < AUTHOR_COST_MAX)
		out->cost = (int64_t)(value * 1e6 + 0.5);
	if (model)
		dtx_str_copy(out->model, sizeof(out->model), dtx_str_of(model));
}

enum dtx_code dtx_author_alive(const struct dtx_author_ask *ask, int64_t deadline_ns,
                               struct dtx_author_answer *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (ask->cancelled && ask->cancelled(ask->cancel_arg))
		DTX_FAIL(err, DTX_E_CANCELLED, "cancelled while asking the author");
	if (dtx_now_ns() < deadline_ns)
		goto out;
	snprintf(out->outcome, sizeof(out->outcome), "timeout");
	rc = dtx_err_set(err, DTX_E_AUTHOR_FAILED, __FILE__, __LINE__,
	                 "the author did not answer within %lld s",
	                 (long long)(ask->timeout_ms + 999) / 1000);
	dtx_err_hint(err, "--author-timeout SECONDS gives it more");
out:
	return rc;
}

static void author_estimate(const struct dtx_author_ask *ask, struct dtx_author_answer *out)
{
	out->estimated = out->in_tokens < 0 || out->out_tokens < 0;
	if (out->in_tokens < 0)
		out->in_tokens = (int64_t)(ask->prompt.len / BYTES_PER_TOKEN);
	if (out->out_tokens < 0)
		out->out_tokens = (int64_t)(out->text.len / BYTES_PER_TOKEN);
}

/* Removes secrets from everything that came back. A reply, or the output of a command, may
 * repeat what it was given. */
static void author_scrub(const struct dtx_author *a, struct dtx_author_answer *out,
                         struct dtx_err *err)
{
	dtx_secrets_scrub_buf(a->secrets, &out->text);
	dtx_secrets_scrub_buf(a->secrets, &out->said);
	dtx_secrets_copy(a->secrets, dtx_str_of(out->model), out->model, sizeof(out->model));
	if (err && err->code != DTX_OK)
		dtx_secrets_copy(a->secrets, dtx_str_of(err->msg), err->msg, sizeof(err->msg));
}

enum dtx_code dtx_author_call(const struct dtx_author *a, const struct dtx_author_ask *ask,
                              struct dtx_author_answer *out, struct dtx_err *err)
{
	int64_t start = dtx_now_ns();
	enum dtx_code rc;

	dtx_str_copy(out->model, sizeof(out->model), dtx_str_of(a->model ? a->model : ""));
	rc = a->ask(a, ask, out, err);
	out->dur_us = (dtx_now_ns() - start) / 1000;
	author_scrub(a, out, err);
	if (rc == DTX_OK)
		rc = dtx_buf_check(&out->text, "answer", err);
	author_estimate(ask, out);
	if (!out->outcome[0])
		snprintf(out->outcome, sizeof(out->outcome), "%s",
		         rc == DTX_OK            ? "ok"
		         : rc == DTX_E_CANCELLED ? "cancelled"
		                                 : "failed");
	return rc;
}
