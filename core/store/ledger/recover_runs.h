/* Closes the records of runs that were killed.
 *
 * A run holds a lease from run.start to run.end.  If its process is gone, the next command judges
 * each output on its own, the temporary file first.  If the temporary file exists the target is
 * still the old one (the temporary file is removed); if the target has the recorded hash it is new;
 * otherwise it was replaced.  Without run.output all targets are old.  If all are new, the run had
 * done its work and its status is ok, else abandoned.  At most DTX_RECOVER_RUNS_MAX runs are closed
 * at a time. */
#ifndef DTX_STORE_LEDGER_RECOVER_RUNS_H
#define DTX_STORE_LEDGER_RECOVER_RUNS_H

#include "core/store/db.h"

#define DTX_RECOVER_RUNS_MAX 8

struct dtx_process;

/* Closes what it can; the next command closes the rest.  read_only: `db` may not write, so a second
 * connection is opened if there is something to do. */
void dtx_recover_runs(struct dtx_db *db, const char *path, bool read_only);
/* Records that the run of process `p` is open from now on.  Call it inside of a transaction. */
DTX_MUSTUSE enum dtx_code dtx_lease_put(struct dtx_db *db, const char *run_id,
                                        const struct dtx_process *p, struct dtx_err *err);
/* The key of a run's lease. */
#define DTX_LEASE_KEY 64
void dtx_lease_key(const char *run_id, char key[DTX_LEASE_KEY]);

#endif
