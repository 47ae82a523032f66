/* Decides whether another attempt follows a failed one. The functions have no side effects other
 * than on their arguments. */
#ifndef DTX_FALLBACK_RETRY_H
#define DTX_FALLBACK_RETRY_H

#include "core/base/err.h"
#include "core/base/hash/hash.h"
#include "core/base/text/json.h"

#define DTX_ATTEMPTS_MAX 3
#define DTX_TOKENS_MAX   60000

/* What a run may spend on authors, and has spent. Its regions share one budget. */
struct dtx_budget {
	unsigned attempts;      /* per region; 0: DTX_ATTEMPTS_MAX */
	int64_t tokens;         /* 0: DTX_TOKENS_MAX */
	int64_t cost;           /* in millionths of the currency; 0: no limit */
	int64_t spent_attempts; /* calls that gave an answer or cost something */
	int64_t spent_tokens, spent_cost;
	bool cost_unknown; /* the cost of some call was not reported */
};
/* Whether one more call of about `tokens` fits into the budget. Error: author_failed, which
 * names the limit. */
DTX_MUSTUSE enum dtx_code dtx_budget_check(const struct dtx_budget *b, int64_t tokens,
                                           struct dtx_err *err);
void dtx_budget_spend(struct dtx_budget *b, int64_t tokens, int64_t cost);

/* The failures of one region so far. */
struct dtx_retry {
	unsigned attempts; /* attempts so far */
	char code[DTX_ATTEMPTS_MAX][DTX_SHA256_HEX];
	char signature[192];
};
/* The class of a code: "contract" for snippet_contract, "ok", or the code's own name. */
const char *dtx_retry_class(enum dtx_code code);
/* Whether a new attempt can succeed after one that failed with this code. */
bool dtx_retry_helps(enum dtx_code code);
/* Notes a failed attempt. Returns NULL if another may follow, otherwise the reason in a few
 * words. `report`, the jail's report (may be NULL), and `code` show whether it is the same
 * failure as last time. */
const char *dtx_retry_stop(struct dtx_retry *r, unsigned max, enum dtx_code failed,
                           struct dtx_str code, const json_t *report);
/* A line of the code, counted from 1, without blanks around it. */
struct dtx_str dtx_retry_line(struct dtx_str code, int64_t line);

#endif
