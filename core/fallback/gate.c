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

enum dtx_code dtx_gate(enum dtx_approve policy, bool supplied, const char *snippet_id,
                       const char **by, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	*by = NULL;
	if (policy == DTX_APPROVE_AUTO) {
		*by = supplied ? "supplied" : "policy:auto";
	} else if (supplied && policy != DTX_APPROVE_REQUIRE) {
		*by = "supplied";
	} else {
		rc = dtx_err_set(err, DTX_E_NEEDS_APPROVAL, __FILE__, __LINE__,
		                 "snippet %s works and waits for approval", snippet_id);
		dtx_err_hint(err,
		             "read it with dtx snippet show %.8s --code, then "
		             "dtx snippet approve %.8s and run again",
		             snippet_id, snippet_id);
	}
	return rc;
}
