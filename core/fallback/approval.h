/* Approval: whether a snippet may run, and on whose decision. */
#ifndef DTX_FALLBACK_APPROVAL_H
#define DTX_FALLBACK_APPROVAL_H

#include "core/base/text/json.h"
#include "core/data/schema.h"
#include "core/fallback/prompt/disclose.h"

enum dtx_approve { DTX_APPROVE_DEFAULT, DTX_APPROVE_AUTO, DTX_APPROVE_ASK, DTX_APPROVE_REQUIRE };
/* NULL means the default. Error: usage. */
DTX_MUSTUSE enum dtx_code dtx_approve_parse(const char *text, enum dtx_approve *out,
                                            struct dtx_err *err);

/* What a person sees before deciding. Everything is borrowed; NULL: not known. */
struct dtx_approval_view {
	const char *id, *op, *at;
	struct dtx_str code;
	const char *origin, *model;
	const char *needs, *flags, *formulas, *adapter; /* JSON text */
	const struct dtx_schema *result;                /* NULL: the snippet has not run */
	int64_t rows_before, cols_before; /* of the table, or of the raw cells, that it gets */
	int64_t rows_after, cols_after;   /* of the result; -1: it has not run */
	bool unchanged;                   /* the result equals the input */
	const json_t *checks;
	const struct dtx_disclosed *disclosed; /* NULL: no author was asked */
	const char *policy;                    /* sample policy of the prompt */
};

struct dtx_approval {
	enum dtx_approve policy;
	const char *user; /* the user who decides; NULL: "unknown" */
	/* Shows the snippet and asks the user; NULL: there is no terminal. */
	enum dtx_code (*ask)(void *arg, const struct dtx_approval_view *view, bool *yes,
	                     struct dtx_err *err);
	void *arg;
};

/* Decides about a snippet that passed all checks.
 *
 * OK means approved, and *by says how to record that: "supplied", "policy:auto", or the user.
 * The error needs_approval means that a person must decide (the hint has the command) or has
 * said no. A snippet that the user passes with --snippet FILE counts as approved, unless the
 * policy is `require`. The default policy is `ask` if there is a terminal, otherwise `require`. */
DTX_MUSTUSE enum dtx_code dtx_approval(const struct dtx_approval *gate, bool supplied,
                                       const struct dtx_approval_view *view, const char **by,
                                       struct dtx_err *err);

#endif
