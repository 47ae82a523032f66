/* Who may let a snippet run. */
#include "core/fallback/gate.h"

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

static enum dtx_code gate_wait(const struct dtx_gate_view *view, bool refused, struct dtx_err *err)
{
	dtx_err_set(err, DTX_E_NEEDS_APPROVAL, __FILE__, __LINE__,
	            refused        ? "snippet %s was not approved"
	            : view->result ? "snippet %s works and waits for approval"
	                           : "snippet %s waits for approval",
	            view->id);
	dtx_err_hint(err,
	             "read it with dtx snippet show %.8s --code, then "
	             "dtx snippet approve %.8s and run again",
	             view->id, view->id);
	return DTX_E_NEEDS_APPROVAL;
}

enum dtx_code dtx_gate(const struct dtx_gate *gate, bool supplied, const struct dtx_gate_view *view,
                       const char **by, struct dtx_err *err)
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
			rc = gate_wait(view, true, err);
		*by = yes ? gate->user ? gate->user : "unknown" : NULL;
	} else {
		rc = gate_wait(view, false, err);
	}
out:
	return rc;
}
