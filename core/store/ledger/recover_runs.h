/* Closing the records of runs that were killed.
 *
 * A run holds a lease from run.start to run.end.  Where its process is gone, each output is judged
 * alone, the temp file first: temp there -> old (removed), target has the recorded hash -> new,
 * else replaced; without run.output all are old.  All new means the run had done its work: its
 * status is ok, else abandoned.  At most DTX_RECOVER_RUNS_MAX runs at a time. */
#ifndef DTX_STORE_LEDGER_RECOVER_RUNS_H
#define DTX_STORE_LEDGER_RECOVER_RUNS_H

#include "core/store/db.h"

#define DTX_RECOVER_RUNS_MAX 8

struct dtx_process;

/* read_only: `db` may not write; a connection of its own is opened when there is work.  Best
 * effort: what is not closed now is closed by the next command. */
void dtx_recover_runs(struct dtx_db *db, const char *path, bool read_only);
/* Inside a transaction: the run of process `p` is open from now on. */
DTX_MUSTUSE enum dtx_code dtx_lease_put(struct dtx_db *db, const char *run_id,
                                        const struct dtx_process *p, struct dtx_err *err);
/* Key of a run's lease. */
#define DTX_LEASE_KEY 64
void dtx_lease_key(const char *run_id, char key[DTX_LEASE_KEY]);

#endif
