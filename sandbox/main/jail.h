/* The provider "local": runs a snippet in a worker process on this machine, under every layer of
 * protection that dtx-sandbox(7) lists. There is no mode without them. */
#ifndef DTX_SANDBOX_MAIN_JAIL_H
#define DTX_SANDBOX_MAIN_JAIL_H

#include "core/plan/exec/provider.h"

extern const struct dtx_provider dtx_provider_local;
/* Opens a run on this machine even if DTX_JAIL asks for another place (exec:COMMAND, see
 * remote.h). */
DTX_MUSTUSE enum dtx_code dtx_jail_open_here(const struct dtx_jail_spec *spec, struct dtx_box **out,
                                             struct dtx_err *err);

/* Opens one call of a session (sandbox/session) on this machine, in place of open; all else is done
 * as for a single program. With s->calls 0 it is the first call, which gets a worker from the warm
 * pool; otherwise `fds` are the worker's descriptors, which are taken, also on failure. */
struct dtx_wire_session;
/* Whether this machine has scipy, which a session imports, because a later call may need it. */
bool dtx_jail_has_science(void);
DTX_MUSTUSE enum dtx_code dtx_jail_session_open(const struct dtx_jail_spec *spec,
                                                const struct dtx_wire_session *s, const int *fds,
                                                size_t nfds, struct dtx_box **out,
                                                struct dtx_err *err);
/* After exec: whether the worker rests and can take another call; if not, *why says why, or is ""
 * where the report does. */
bool dtx_jail_session_rests(const struct dtx_box *b, const char **why);
/* Whether the worker of an earlier call is as it was, because this call was refused before it
 * began. */
bool dtx_jail_session_untouched(const struct dtx_box *b);
/* Sets how long the worker may rest, and copies to *s what the next call must know. `fds`, with
 * room for 8, become the worker's descriptors, which stay the box's. Error: snippet_setup_refused.
 */
DTX_MUSTUSE enum dtx_code dtx_jail_session_park(struct dtx_box *b, int64_t idle_ms,
                                                struct dtx_wire_session *s, int *fds, size_t *nfds,
                                                struct dtx_err *err);
/* Another process has the worker now: closing the box does not end it. */
void dtx_jail_session_kept(struct dtx_box *b);

/* Replaces each limit that is 0 with its default. */
void dtx_jail_limits_fill(struct dtx_jail_limits *l);
/* Runs a known snippet on a known table and compares the result. The report lists the layers in
 * force and what is missing. */
DTX_MUSTUSE enum dtx_code dtx_jail_selftest(enum dtx_jail_profile profile,
                                            struct dtx_jail_report *report, struct dtx_err *err);
/* The time of one run of a small group-by in microseconds: from open to get, and its phases. */
struct dtx_jail_lap {
	int64_t all, lease, verify, load, exec, store;
	int64_t cpu; /* of the worker, including its preparation */
	bool warm;
};
/* Measures n runs with a pause before each; stops at the first that fails. */
struct dtx_jail_laps {
	enum dtx_jail_profile profile;
	bool no_warm;
	int pause_ms;
};
DTX_MUSTUSE enum dtx_code dtx_jail_latency(const struct dtx_jail_laps *how, uint32_t n,
                                           struct dtx_jail_lap *lap, struct dtx_err *err);
/* Describes the warm pool as it is, without starting one: {"running":bool,"folder","key"}, then
 * "workers","idle","busy","retiring","up_ms","warm_up", or else "why". */
void dtx_jail_pool_json(enum dtx_jail_profile profile, struct dtx_buf *out);
/* Describes what this machine offers, without running anything, as one JSON object:
 * {"namespaces":bool,"namespaces_errno":n,"landlock":abi,"seccomp":bool,"notify":bool,
 * "sanitizer_build":bool}. */
void dtx_jail_layers_json(struct dtx_buf *out);

#endif
