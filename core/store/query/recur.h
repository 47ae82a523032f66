/* Which fallbacks recur, and what they cost; from the ledger alone. */
#ifndef DTX_STORE_QUERY_RECUR_H
#define DTX_STORE_QUERY_RECUR_H

#include "core/base/text/json.h"
#include "core/store/store.h"

#define DTX_RECUR_PLANS 3 /* this many plans, or runs, earn a typed op */
#define DTX_RECUR_RUNS  20

/* Groups of run.trigger by operation, code and names of parameters, those that recur most first:
 * [{"op","code","params":{name: JSON type},"runs","plans","fingerprints","snippets","failed",
 *   "jail_ms","calls","tokens","cost","last_us","wanted","read":[...],"code_hashes":[...]}].
 * No value of a plan or a cell is in it. op NULL: all.  The caller owns *out. */
DTX_MUSTUSE enum dtx_code dtx_recur_groups(struct dtx_store *s, int64_t since_us, const char *op,
                                           json_t **out, struct dtx_err *err);

#endif
