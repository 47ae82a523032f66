/* Content-addressed bytes ("blobs") in the store.  The name of a blob is the hex SHA-256 of its
 * bytes. */
#ifndef DTX_STORE_BLOB_H
#define DTX_STORE_BLOB_H

#include "core/base/hash/hash.h"
#include "core/store/db.h"

#define DTX_BLOB_MAX ((size_t)256 << 20)

/* Stores bytes; call it inside of a transaction.  The same bytes are stored only once, under the
 * kind with which they came first. */
DTX_MUSTUSE enum dtx_code dtx_blob_put(struct dtx_db *db, const char *kind, struct dtx_str bytes,
                                       char hash[DTX_SHA256_HEX], struct dtx_err *err);
/* Appends the bytes to out.  Codes: no_record if the blob is absent or was purged, store_io if the
 * bytes do not match the hash. */
DTX_MUSTUSE enum dtx_code dtx_blob_get(struct dtx_db *db, const char *hash, struct dtx_buf *out,
                                       struct dtx_err *err);

#endif
