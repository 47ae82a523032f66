/* Decides whether a snippet may run, see approval.h. */
#include "core/fallback/approval.h"

#include <stdio.h>
#include <string.h>

enum dtx_code dtx_approve_parse(const char *text, enum dtx_approve *out, struct dtx_err *err)
{
	static const char *const name[] = { "default", "auto", "ask", "require" };
	enum dtx_code rc = DTX_OK;
	size_t i;

	*out = DTX_APPROVE_DEFAULT;
	if (!text)
		goto out;
	for (i = DTX_APPROVE_AUTO; i < DTX_COUNT(name); i++) {
		if (!strcmp(text, name[i])) {
			*out = (enum dtx_approve)i;
			goto out;
		}
	}
	DTX_FAIL(err, DTX_E_USAGE, "--approve '%s': expected auto, ask or require", text);
out:
	return rc;
}

/* Writes "; 12 rows x 4 columns became 9 x 4". */
static void approval_sizes(const struct dtx_approval_view *v, char *out, size_t size)
{
	out[0] = '\0';
	if (!v->result)
		return;
	if (v->unchanged)
		snprintf(out, size, "; its result equals its input: %lld rows x %lld columns",
		         (long long)v->rows_before, (long long)v->cols_before);
	else
		snprintf(out, size, "; %lld rows x %lld columns became %lld x %lld",
		         (long long)v->rows_before, (long long)v->cols_before,
		         (long long)v->rows_after, (long long)v->cols_after);
}

static enum dtx_code approval_wait(const struct dtx_approval_view *view, bool refused,
                                   struct dtx_err *err)
{
	char sizes[128];

	approval_sizes(view, sizes, sizeof(sizes));
	dtx_err_set(err, DTX_E_NEEDS_APPROVAL, __FILE__, __LINE__,
	            refused        ? "snippet %s was not approved%s"
	            : view->result ? "snippet %s works and waits for approval%s"
	                           : "snippet %s waits for approval%s",
	            view->id, sizes);
	dtx_err_hint(err,
	             "read it with dtx snippet show %.8s --code, then "
	             "dtx snippet approve %.8s and run again",
	             view->id, view->id);
	return DTX_E_NEEDS_APPROVAL;
}

enum dtx_code dtx_approval(const struct dtx_approval *gate, bool supplied,
                           const struct dtx_approval_view *view, const char **by,
                           struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	bool yes = false, asks = gate->ask && (gate->policy == DTX_APPROVE_DEFAULT ||
	                                       gate->policy == DTX_APPROVE_ASK);

	*by = NULL;
	if (supplied && gate->policy != DTX_APPROVE_REQUIRE) {
		*by = "supplied";
	} else if (gate->policy == DTX_APPROVE_AUTO) {
		*by = "policy:auto";
	} else if (asks) {
		DTX_TRY(gate->ask(gate->arg, view, &yes, err));
		if (!yes)
			rc = approval_wait(view, true, err);
		*by = yes ? gate->user ? gate->user : "unknown" : NULL;
	} else {
		rc = approval_wait(view, false, err);
	}
out:
	return rc;
}
