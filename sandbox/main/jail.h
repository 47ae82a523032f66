/* Provider "local": a snippet in a worker of this machine, behind every layer that
 * dtx-sandbox(7) names.  There is no mode without them. */
#ifndef DTX_SANDBOX_MAIN_JAIL_H
#define DTX_SANDBOX_MAIN_JAIL_H

#include "core/plan/exec/provider.h"

extern const struct dtx_provider dtx_provider_local;
/* Its open, whatever DTX_JAIL says: exec:COMMAND there has the run done elsewhere (remote.h). */
DTX_MUSTUSE enum dtx_code dtx_jail_open_here(const struct dtx_jail_spec *spec, struct dtx_box **out,
                                             struct dtx_err *err);

/* The default for each limit that is 0. */
void dtx_jail_limits_fill(struct dtx_jail_limits *l);
/* Runs a known snippet on a known table and compares the answer; the report tells the layers and
 * what is missing. */
DTX_MUSTUSE enum dtx_code dtx_jail_selftest(enum dtx_jail_profile profile,
                                            struct dtx_jail_report *report, struct dtx_err *err);
/* One run of a small group-by, in microseconds: from open to get, and its parts. */
struct dtx_jail_lap {
	int64_t all, lease, verify, load, exec, store;
	int64_t cpu; /* of the worker, its preparation included */
	bool warm;
};
/* n of them, a pause before each; stops at the first that fails. */
struct dtx_jail_laps {
	enum dtx_jail_profile profile;
	bool no_warm;
	int pause_ms;
};
DTX_MUSTUSE enum dtx_code dtx_jail_latency(const struct dtx_jail_laps *how, uint32_t n,
                                           struct dtx_jail_lap *lap, struct dtx_err *err);
/* The warm pool as it is, without starting one: {"running":bool,"folder","key", then "workers",
 * "idle","busy","retiring","up_ms","warm_up", or "why"}. */
void dtx_jail_pool_json(enum dtx_jail_profile profile, struct dtx_buf *out);
/* What this machine offers, without running anything: one JSON object
 * {"namespaces":bool,"namespaces_errno":n,"landlock":abi,"seccomp":bool,"notify":bool,
 * "sanitizer_build":bool}. */
void dtx_jail_layers_json(struct dtx_buf *out);

#endif
