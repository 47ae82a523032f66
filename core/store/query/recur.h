/* Finds fallbacks that recur and what they cost, from the ledger alone: candidates for a typed
 * operation. */
#ifndef DTX_STORE_QUERY_RECUR_H
#define DTX_STORE_QUERY_RECUR_H

#include "core/base/text/json.h"
#include "core/store/store.h"

#define DTX_RECUR_PLANS 3 /* from this many plans, or runs, on a group deserves a typed op */
#define DTX_RECUR_RUNS  20

/* Groups run.trigger events by operation, code and names of parameters.  The groups that recur most
 * come first: [{"op","code","params":{name: JSON
 * type},"runs","plans","fingerprints","snippets","failed","jail_ms","calls","tokens","cost","last_us","wanted","read":[...],"code_hashes":[...]}].
 * The result contains no values of plans or cells.  op NULL: all.  The caller owns *out. */
DTX_MUSTUSE enum dtx_code dtx_recur_groups(struct dtx_store *s, int64_t since_us, const char *op,
                                           json_t **out, struct dtx_err *err);

#endif
