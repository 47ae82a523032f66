/* Content-addressed bytes.  The hash is the hex SHA-256 of the plain bytes. */
#ifndef DTX_STORE_BLOB_H
#define DTX_STORE_BLOB_H

#include "core/base/hash/hash.h"
#include "core/store/db.h"

#define DTX_BLOB_MAX ((size_t)256 << 20)

/* Inside a transaction. The same bytes are kept once, under the kind they came with first. */
DTX_MUSTUSE enum dtx_code dtx_blob_put(struct dtx_db *db, const char *kind, struct dtx_str bytes,
                                       char hash[DTX_SHA256_HEX], struct dtx_err *err);
/* Appends to out.  no_record when absent or purged, store_io when the bytes do not match. */
DTX_MUSTUSE enum dtx_code dtx_blob_get(struct dtx_db *db, const char *hash, struct dtx_buf *out,
                                       struct dtx_err *err);

#endif
