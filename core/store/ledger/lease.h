/* Leases: only one process at a time should do some work, which is named by a key.
 *
 * A lease ends with the process that holds it: if that process is gone (on this host), the lease is
 * free. */
#ifndef DTX_STORE_LEDGER_LEASE_H
#define DTX_STORE_LEDGER_LEASE_H

#include "core/store/store.h"

/* Takes the lease for run `run_id`.  *ours is false if a living process holds it. */
DTX_MUSTUSE enum dtx_code dtx_lease_claim(struct dtx_store *s, const char *key, const char *run_id,
                                          bool *ours, struct dtx_err *err);
/* Releases the lease.  Does nothing if another run holds it. */
DTX_MUSTUSE enum dtx_code dtx_lease_drop(struct dtx_store *s, const char *key, const char *run_id,
                                         struct dtx_err *err);
/* For messages that should appear once in a time: *first says whether this was not called with the
 * same key in the last `us` microseconds. */
DTX_MUSTUSE enum dtx_code dtx_lease_once(struct dtx_store *s, const char *key, const char *run_id,
                                         int64_t us, bool *first, struct dtx_err *err);

#endif
