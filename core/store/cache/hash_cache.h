/* Which bytes a file had, by its mark (core/io/source/stat_signature.h), as the runs recorded it.
 */
#ifndef DTX_STORE_CACHE_HASH_CACHE_H
#define DTX_STORE_CACHE_HASH_CACHE_H

#include "core/base/hash/identity.h"
#include "core/store/ledger/record.h"

/* The identity that a run computed of the file with this mark, and that run; *sha is empty when
 * none has. */
DTX_MUSTUSE enum dtx_code dtx_hash_cache_find(struct dtx_store *s, const char *mark,
                                              char sha[DTX_IDENTITY_TEXT], char run_id[DTX_RUN_ID],
                                              struct dtx_err *err);

#endif
