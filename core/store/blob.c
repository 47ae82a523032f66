/* Content-addressed bytes: see blob.h. */
#include "core/store/blob.h"

enum dtx_code dtx_blob_put(struct dtx_db *db, const char *kind, struct dtx_str bytes,
                           char hash[DTX_SHA256_HEX], struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_db_val val[4];

	if (bytes.len > DTX_BLOB_MAX)
		DTX_FAIL(err, DTX_E_STORE_IO, "%s of %zu bytes is too large for the store", kind,
		         bytes.len);
	dtx_sha256_hex(bytes.ptr, bytes.len, hash);
	val[0] = dtx_db_text(hash);
	val[1] = dtx_db_text(kind);
	val[2] = DTX_DBI((int64_t)bytes.len);
	val[3] = dtx_db_blob(bytes.ptr, bytes.len);
	DTX_TRY(dtx_db_run(db, DTX_SQL_BLOB_PUT, val, DTX_COUNT(val), err));
out:
	return rc;
}

static enum dtx_code blob_read(struct dtx_db_rows *rows, bool there, const char *hash,
                               struct dtx_buf *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	char got[DTX_SHA256_HEX];
	struct dtx_str bytes;
	const char *enc;

	if (!there)
		DTX_FAIL(err, DTX_E_NO_RECORD, "the store has no bytes with hash %.12s", hash);
	enc = dtx_db_get_text(rows, 0);
	bytes = dtx_db_get_bytes(rows, 1);
	if (dtx_db_get_int(rows, 2))
		DTX_FAIL(err, DTX_E_NO_RECORD, "the bytes with hash %.12s were purged", hash);
	if (!enc || strcmp(enc, "raw"))
		DTX_FAIL(err, DTX_E_STORE_IO, "blob %.12s has the unknown encoding '%s'", hash,
		         enc ? enc : "");
	dtx_sha256_hex(bytes.ptr, bytes.len, got);
	if (strcmp(got, hash))
		DTX_FAIL(err, DTX_E_STORE_IO, "blob %.12s does not match its hash", hash);
	dtx_buf_adds(out, bytes);
	DTX_TRY(dtx_buf_check(out, "blob", err));
out:
	return rc;
}

enum dtx_code dtx_blob_get(struct dtx_db *db, const char *hash, struct dtx_buf *out,
                           struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_db_val val = dtx_db_text(hash);
	struct dtx_db_rows *rows = NULL;
	bool more = false;

	DTX_TRY(dtx_db_query(db, DTX_SQL_BLOB_GET, &val, 1, &rows, err));
	DTX_TRY(dtx_db_next(db, rows, &more, err));
	DTX_TRY(blob_read(rows, more, hash, out, err));
out:
	dtx_db_done(rows);
	return rc;
}
