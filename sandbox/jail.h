/* Provider "local": a snippet in a worker of this machine, behind every layer that
 * dtx-sandbox(7) names.  There is no mode without them. */
#ifndef DTX_SANDBOX_JAIL_H
#define DTX_SANDBOX_JAIL_H

#include "core/plan/provider.h"

extern const struct dtx_provider dtx_provider_local;

/* Runs a known snippet on a known table and compares the answer; the report tells the layers and
 * what is missing. */
DTX_MUSTUSE enum dtx_code dtx_jail_selftest(struct dtx_jail_report *report, struct dtx_err *err);
/* What this machine offers, without running anything: one JSON object
 * {"namespaces":bool,"namespaces_errno":n,"landlock":abi,"seccomp":bool,"notify":bool,
 * "sanitizer_build":bool}. */
void dtx_jail_layers_json(struct dtx_buf *out);

#endif
