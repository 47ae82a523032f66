/* Leases of work that only one process should do at a time, by key.
 *
 * A lease ends with its holder: one whose process is gone (on this host) is free. */
#ifndef DTX_STORE_LEDGER_LEASE_H
#define DTX_STORE_LEDGER_LEASE_H

#include "core/store/store.h"

/* Takes the lease for run `run_id`; *ours false: a living process has it. */
DTX_MUSTUSE enum dtx_code dtx_lease_claim(struct dtx_store *s, const char *key, const char *run_id,
                                          bool *ours, struct dtx_err *err);
/* Gives it back; nothing happens when it is not the run's. */
DTX_MUSTUSE enum dtx_code dtx_lease_drop(struct dtx_store *s, const char *key, const char *run_id,
                                         struct dtx_err *err);
/* Whether nobody has asked so for the last `us`: something is said once in that time. */
DTX_MUSTUSE enum dtx_code dtx_lease_once(struct dtx_store *s, const char *key, const char *run_id,
                                         int64_t us, bool *first, struct dtx_err *err);

#endif
