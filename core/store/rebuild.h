/* The derived tables from the ledger alone. */
#ifndef DTX_STORE_REBUILD_H
#define DTX_STORE_REBUILD_H

#include "core/store/store.h"

/* Empties the derived tables and fills them again, in one transaction. */
DTX_MUSTUSE enum dtx_code dtx_rebuild(struct dtx_store *s, struct dtx_err *err);
/* Rebuilds beside the store and compares.  *table names the first table that differs, NULL when
 * none does. */
DTX_MUSTUSE enum dtx_code dtx_rebuild_compare(struct dtx_store *s, const char **table,
                                              struct dtx_err *err);

#endif
