/* Finds the run that an operand means, for commands that look at past runs: a run id, a file, or
 * nothing for the last run. */
#ifndef DTX_CLI_STORE_LOOKUP_H
#define DTX_CLI_STORE_LOOKUP_H

#include "core/store/query/query.h"

/* Calls dtx_query_find from the current folder, with the run id inside an .xlsx, then
 * dtx_query_record. The caller owns *record; `found` may be NULL. */
DTX_MUSTUSE enum dtx_code dtx_lookup(struct dtx_store *store, const char *what, bool full,
                                     json_t **record, struct dtx_err *err);

/* For a replay: adds the member "model", the original "run" that it repeats. */
DTX_MUSTUSE enum dtx_code dtx_lookup_model(struct dtx_store *store, json_t *record,
                                           struct dtx_err *err);

#endif
