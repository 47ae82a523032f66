/* Who may let a snippet run. */
#ifndef DTX_FALLBACK_GATE_H
#define DTX_FALLBACK_GATE_H

#include "core/base/err.h"

enum dtx_approve { DTX_APPROVE_DEFAULT, DTX_APPROVE_AUTO, DTX_APPROVE_ASK, DTX_APPROVE_REQUIRE };
/* NULL: default. Codes: usage. */
DTX_MUSTUSE enum dtx_code dtx_approve_parse(const char *text, enum dtx_approve *out,
                                            struct dtx_err *err);

/* A snippet that passed its admission.  OK: approved, *by says how it is recorded ("supplied",
 * "policy:auto").  needs_approval: a person must, with the command in the hint.  A snippet given
 * by hand (--snippet FILE) is itself the approval unless the policy is `require`; asking on a
 * terminal is not in this version: `ask` is `require` with another hint. */
DTX_MUSTUSE enum dtx_code dtx_gate(enum dtx_approve policy, bool supplied, const char *snippet_id,
                                   const char **by, struct dtx_err *err);

#endif
