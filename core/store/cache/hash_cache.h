/* A cache of file hashes.  Runs record the hash of each input together with the signature of the
 * file (core/io/source/stat_signature.h), so a later run need not read an unchanged file again to
 * hash it. */
#ifndef DTX_STORE_CACHE_HASH_CACHE_H
#define DTX_STORE_CACHE_HASH_CACHE_H

#include "core/base/hash/identity.h"
#include "core/store/ledger/record.h"

/* The identity that a run computed for the file with this signature, and the id of that run.  *sha
 * is empty if no run has. */
DTX_MUSTUSE enum dtx_code dtx_hash_cache_find(struct dtx_store *s, const char *mark,
                                              char sha[DTX_IDENTITY_TEXT], char run_id[DTX_RUN_ID],
                                              struct dtx_err *err);

#endif
