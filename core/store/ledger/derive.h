/* From an event to the rows of the derived tables: the one path, live and when they are rebuilt. */
#ifndef DTX_STORE_LEDGER_DERIVE_H
#define DTX_STORE_LEDGER_DERIVE_H

#include "core/store/ledger/ledger.h"

/* Inside a transaction. Kinds without rows do nothing. */
DTX_MUSTUSE enum dtx_code dtx_derive_apply(struct dtx_db *db, const struct dtx_event *event,
                                           struct dtx_err *err);

#endif
