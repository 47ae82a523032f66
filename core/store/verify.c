/* Tamper evidence. */
#include "core/store/verify.h"

#include "core/base/num.h"
#include "core/store/ledger.h"
#include "core/store/rebuild.h"

static enum dtx_code verify_add(json_t *findings, json_t *finding, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (json_array_append_new(findings, finding) < 0)
		DTX_FAIL_MEM(err);
out:
	return rc;
}

static enum dtx_code verify_chain(struct dtx_db *db, int64_t since, json_t *findings,
                                  struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_ledger_head head;
	int64_t bad = 0;

	DTX_TRY(dtx_ledger_check(db, since > 0 ? since : 1, &bad, &head, err));
	if (bad)
		DTX_TRY(verify_add(findings,
		                   json_pack("{s:s, s:I, s:s}", "finding", "chain_broken", "seq",
		                             (json_int_t)bad, "text",
		                             "the ledger is not what it was from here on"),
		                   err));
out:
	return rc;
}

static enum dtx_code verify_blob(struct dtx_db_rows *rows, json_t *findings, struct dtx_err *err)
{
	const char *hash = dtx_db_get_text(rows, 0), *enc = dtx_db_get_text(rows, 1);
	struct dtx_str bytes = dtx_db_get_bytes(rows, 2);
	char got[DTX_SHA256_HEX];

	if (!hash || dtx_db_get_int(rows, 3))
		return DTX_OK; /* purged on purpose */
	dtx_sha256_hex(bytes.ptr, bytes.len, got);
	if (!strcmp(got, hash) && dtx_db_get_int(rows, 4) == (int64_t)bytes.len && enc &&
	    !strcmp(enc, "raw"))
		return DTX_OK;
	return verify_add(findings,
	                  json_pack("{s:s, s:s, s:s}", "finding", "blob_mismatch", "hash", hash,
	                            "text", "these bytes are not the ones that were stored"),
	                  err);
}

static enum dtx_code verify_blobs(struct dtx_db *db, json_t *findings, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_db_rows *rows = NULL;
	bool more;

	DTX_TRY(dtx_db_query(db, DTX_SQL_BLOB_ALL, NULL, 0, &rows, err));
	for (;;) {
		DTX_TRY(dtx_db_next(db, rows, &more, err));
		if (!more)
			break;
		DTX_TRY(verify_blob(rows, findings, err));
	}
out:
	dtx_db_done(rows);
	return rc;
}

static enum dtx_code verify_head(struct dtx_db *db, const char *text, json_t *findings,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_str rest = dtx_str_of(text), tag, seq_text, hex;
	uint8_t hash[DTX_SHA256_SIZE];
	char have[DTX_SHA256_HEX];
	int64_t seq;
	bool found;

	if (!dtx_str_next(&rest, ':', &tag) || !dtx_str_is(tag, "dtx1") ||
	    !dtx_str_next(&rest, ':', &seq_text) || !dtx_str_next(&rest, ':', &hex) ||
	    hex.len != DTX_SHA256_HEX - 1 || !dtx_num_parse_i64(seq_text.ptr, seq_text.len, &seq))
		DTX_FAIL(err, DTX_E_USAGE, "'%s' is no head: expected dtx1:NUMBER:64 hex digits",
		         text);
	DTX_TRY(dtx_ledger_hash_at(db, seq, hash, &found, err));
	if (found) {
		dtx_hex(hash, sizeof(hash), have);
		found = dtx_str_is(hex, have);
	}
	if (!found)
		DTX_TRY(verify_add(findings,
		                   json_pack("{s:s, s:I, s:s}", "finding", "truncated", "seq",
		                             (json_int_t)seq, "text",
		                             "the chain does not contain this head"),
		                   err));
out:
	return rc;
}

static enum dtx_code verify_index(struct dtx_store *s, json_t *findings, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const char *table = NULL;

	DTX_TRY(dtx_rebuild_compare(s, &table, err));
	if (table)
		DTX_TRY(verify_add(findings,
		                   json_pack("{s:s, s:s, s:s}", "finding", "index_differs", "table",
		                             table, "text",
		                             "this table is not what the ledger says"),
		                   err));
out:
	return rc;
}

enum dtx_code dtx_verify(struct dtx_store *s, const struct dtx_verify_opts *opts, json_t **findings,
                         struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_db *db = dtx_store_db(s);
	json_t *list = json_array();

	if (!list)
		DTX_FAIL_MEM(err);
	DTX_TRY(verify_chain(db, opts->since, list, err));
	DTX_TRY(verify_blobs(db, list, err));
	if (opts->head)
		DTX_TRY(verify_head(db, opts->head, list, err));
	/* A broken ledger may not even be readable: the index says nothing then. */
	if (!opts->skip_index && !json_array_size(list))
		DTX_TRY(verify_index(s, list, err));
	*findings = list;
	list = NULL;
out:
	json_decref(list);
	return rc;
}
