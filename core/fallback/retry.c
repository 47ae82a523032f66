/* Decides whether another attempt follows, see retry.h. */
#include "core/fallback/retry.h"

#include <stdio.h>

/* --- limits --- */

enum dtx_code dtx_budget_check(const struct dtx_budget *b, int64_t tokens, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int64_t most = b->tokens ? b->tokens : DTX_TOKENS_MAX;

	if (b->spent_tokens + tokens > most) {
		rc = dtx_err_set(err, DTX_E_AUTHOR_FAILED, __FILE__, __LINE__,
		                 "%lld tokens are spent, the next prompt has about %lld: more than "
		                 "%lld",
		                 (long long)b->spent_tokens, (long long)tokens, (long long)most);
		dtx_err_hint(err, "--max-tokens N allows more");
	} else if (b->cost && b->cost_unknown) {
		rc = dtx_err_set(
			err, DTX_E_AUTHOR_FAILED, __FILE__, __LINE__,
			"the author did not say what the last answer cost, and --max-cost is set");
		dtx_err_hint(err, "without --max-cost the tokens are counted, see --max-tokens");
	} else if (b->cost && b->spent_cost >= b->cost) {
		rc = dtx_err_set(err, DTX_E_AUTHOR_FAILED, __FILE__, __LINE__,
		                 "%.6f of at most %.6f are spent", (double)b->spent_cost / 1e6,
		                 (double)b->cost / 1e6);
		dtx_err_hint(err, "--max-cost allows more");
	}
	return rc;
}

void dtx_budget_spend(struct dtx_budget *b, int64_t tokens, int64_t cost)
{
	b->spent_attempts++;
	b->spent_tokens += tokens;
	if (cost < 0)
		b->cost_unknown = true;
	else
		b->spent_cost += cost;
}

/* --- classes --- */

const char *dtx_retry_class(enum dtx_code code)
{
	const char *name = dtx_code_name(code);

	if (code == DTX_OK)
		return "ok";
	return strncmp(name, "snippet_", 8) ? name : name + 8;
}

bool dtx_retry_helps(enum dtx_code code)
{
	static const enum dtx_code final[] = { DTX_E_SNIPPET_SETUP_REFUSED, DTX_E_SNIPPET_CANNOT,
		                               DTX_E_SNIPPET_REVOKED };
	size_t i;

	for (i = 0; i < DTX_COUNT(final); i++) {
		if (code == final[i])
			return false;
	}
	return !strncmp(dtx_code_name(code), "snippet_", 8);
}

/* --- repetition --- */

struct dtx_str dtx_retry_line(struct dtx_str code, int64_t line)
{
	struct dtx_str one = { "", 0 };

	for (; line > 0; line--) {
		if (!dtx_str_next(&code, '\n', &one))
			return (struct dtx_str){ "", 0 };
	}
	return dtx_str_trim(one);
}

/* Class, exception and text of the failing line. If they are the same twice, the author makes no
 * progress. */
static void retry_signature(enum dtx_code failed, struct dtx_str code, const json_t *report,
                            char out[192])
{
	const json_t *e = json_object_get(report, "exception");
	struct dtx_str line = dtx_retry_line(code, dtx_json_int(e, "line", 0));

	snprintf(out, 192, "%s|%s|%.*s", dtx_retry_class(failed), dtx_json_text(e, "type", ""),
	         (int)DTX_MIN(line.len, (size_t)120), line.ptr);
}

const char *dtx_retry_stop(struct dtx_retry *r, unsigned max, enum dtx_code failed,
                           struct dtx_str code, const json_t *report)
{
	char hash[DTX_SHA256_HEX] = "", signature[192];
	unsigned i, most = DTX_MIN(max ? max : DTX_ATTEMPTS_MAX, (unsigned)DTX_ATTEMPTS_MAX);
	bool same;

	if (code.len)
		dtx_sha256_hex(code.ptr, code.len, hash);
	retry_signature(failed, code, report, signature);
	same = r->attempts && code.len && !strcmp(signature, r->signature);
	for (i = 0; i < r->attempts && hash[0]; i++) {
		if (!strcmp(r->code[i], hash))
			same = true;
	}
	if (r->attempts < DTX_ATTEMPTS_MAX)
		memcpy(r->code[r->attempts], hash, sizeof(hash));
	memcpy(r->signature, signature, sizeof(signature));
	r->attempts++;
	if (!dtx_retry_helps(failed))
		return "another attempt would not help";
	if (same)
		return "the author repeats itself";
	return r->attempts >= most ? "no attempt is left" : NULL;
}
