/* Finds the run that an operand means, for commands that look at past runs: a run id, a file, or
 * nothing for the last run. */
#ifndef DTX_CLI_STORE_LOOKUP_H
#define DTX_CLI_STORE_LOOKUP_H

#include "core/store/query/query.h"

/* Calls dtx_query_find from the current folder, with the run id inside an .xlsx, then
 * dtx_query_record. "out.xlsx!Total" names a sheet or table of the file. The caller owns *record;
 * `found` may be NULL. */
DTX_MUSTUSE enum dtx_code dtx_lookup(struct dtx_store *store, const char *what, bool full,
                                     json_t **record, struct dtx_err *err);

/* For a replay: adds the member "model", the original "run" that it repeats. */
DTX_MUSTUSE enum dtx_code dtx_lookup_model(struct dtx_store *store, json_t *record,
                                           struct dtx_err *err);

/* The sheet or table of an output's file that has its rows, where a file holds several:
 * "o.xlsx!name" finds it. NULL: the file is one table, or the sheet has no name of its own. */
const char *dtx_lookup_table(const json_t *output);

#endif
