/* Whether a failed attempt has a successor; pure. */
#ifndef DTX_FALLBACK_RETRY_H
#define DTX_FALLBACK_RETRY_H

#include "core/base/err.h"
#include "core/base/hash/hash.h"
#include "core/base/text/json.h"

#define DTX_ATTEMPTS_MAX 3
#define DTX_TOKENS_MAX   60000

/* What a run may spend on authors, and has spent; shared by its regions. */
struct dtx_budget {
	unsigned attempts;      /* per region; 0: DTX_ATTEMPTS_MAX */
	int64_t tokens;         /* 0: DTX_TOKENS_MAX */
	int64_t cost;           /* millionths; 0: no ceiling */
	int64_t spent_attempts; /* calls that gave an answer or cost something */
	int64_t spent_tokens, spent_cost;
	bool cost_unknown; /* of some call nobody told the cost */
};
/* Whether one more call of about `tokens` fits.  author_failed with the ceiling that it breaks. */
DTX_MUSTUSE enum dtx_code dtx_budget_check(const struct dtx_budget *b, int64_t tokens,
                                           struct dtx_err *err);
void dtx_budget_spend(struct dtx_budget *b, int64_t tokens, int64_t cost);

/* Failures of one region so far. */
struct dtx_retry {
	unsigned attempts; /* done */
	char code[DTX_ATTEMPTS_MAX][DTX_SHA256_HEX];
	char signature[192];
};
/* Class of a code: "contract" of snippet_contract, "ok", another code's own name. */
const char *dtx_retry_class(enum dtx_code code);
/* Whether a new attempt may do better than one that failed so. */
bool dtx_retry_helps(enum dtx_code code);
/* Notes the failed attempt; NULL: another may follow, else why not, in a few words.  `report`: the
 * jail's, may be NULL; with `code` it tells whether this is the failure of last time. */
const char *dtx_retry_stop(struct dtx_retry *r, unsigned max, enum dtx_code failed,
                           struct dtx_str code, const json_t *report);
/* The line of the code (from 1), without blanks around it. */
struct dtx_str dtx_retry_line(struct dtx_str code, int64_t line);

#endif
