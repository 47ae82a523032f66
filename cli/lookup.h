/* The run that an operand means, as commands that look back take it: a run id, a file, nothing. */
#ifndef DTX_CLI_LOOKUP_H
#define DTX_CLI_LOOKUP_H

#include "core/store/query/query.h"

/* dtx_query_find from the current folder, with the stamp of an .xlsx, then dtx_query_record.  The
 * caller owns *record; `found` may be NULL. */
DTX_MUSTUSE enum dtx_code dtx_lookup(struct dtx_store *store, const char *what, bool full,
                                     json_t **record, struct dtx_err *err);

/* Of a replay: adds the member "model", the "run" that it did again, as first typed. */
DTX_MUSTUSE enum dtx_code dtx_lookup_model(struct dtx_store *store, json_t *record,
                                           struct dtx_err *err);

#endif
