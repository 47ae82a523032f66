/* Who may let a snippet run. */
#ifndef DTX_FALLBACK_APPROVAL_H
#define DTX_FALLBACK_APPROVAL_H

#include "core/base/text/json.h"
#include "core/data/schema.h"
#include "core/fallback/prompt/disclose.h"

enum dtx_approve { DTX_APPROVE_DEFAULT, DTX_APPROVE_AUTO, DTX_APPROVE_ASK, DTX_APPROVE_REQUIRE };
/* NULL: default. Codes: usage. */
DTX_MUSTUSE enum dtx_code dtx_approve_parse(const char *text, enum dtx_approve *out,
                                            struct dtx_err *err);

/* What a person decides on; everything borrowed, NULL: not known. */
struct dtx_approval_view {
	const char *id, *op, *at;
	struct dtx_str code;
	const char *origin, *model;
	const char *needs, *flags, *formulas, *adapter; /* JSON text */
	const struct dtx_schema *result;                /* NULL: it has not run */
	int64_t rows_before, cols_before; /* of the table, or the cells, it is given */
	int64_t rows_after, cols_after;   /* of the result; -1: it has not run */
	bool unchanged;                   /* the result equals what it is given */
	const json_t *checks;
	const struct dtx_disclosed *disclosed; /* NULL: nobody was asked */
	const char *policy;                    /* sample policy of the prompt */
};

struct dtx_approval {
	enum dtx_approve policy;
	const char *user; /* who decides; NULL: "unknown" */
	/* Shows and asks; NULL: there is no terminal. */
	enum dtx_code (*ask)(void *arg, const struct dtx_approval_view *view, bool *yes,
	                     struct dtx_err *err);
	void *arg;
};

/* A snippet that waits.  OK: approved, *by says how it is recorded ("supplied", "policy:auto", the
 * user).  needs_approval: a person must, with the command in the hint, or said no.  A snippet given
 * by hand (--snippet FILE) is itself the approval unless the policy is `require`.  The default is
 * `ask` where there is a terminal, else `require`. */
DTX_MUSTUSE enum dtx_code dtx_approval(const struct dtx_approval *gate, bool supplied,
                                       const struct dtx_approval_view *view, const char **by,
                                       struct dtx_err *err);

#endif
