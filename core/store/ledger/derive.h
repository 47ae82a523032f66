/* Derives rows of the other tables from an event of the ledger.  Appending an event and rebuilding
 * the tables both use this function, so they cannot disagree. */
#ifndef DTX_STORE_LEDGER_DERIVE_H
#define DTX_STORE_LEDGER_DERIVE_H

#include "core/store/ledger/ledger.h"

/* Call it inside of a transaction.  Events of kinds that have no rows do nothing. */
DTX_MUSTUSE enum dtx_code dtx_derive_apply(struct dtx_db *db, const struct dtx_event *event,
                                           struct dtx_err *err);

#endif
