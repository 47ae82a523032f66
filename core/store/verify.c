/* Tamper evidence. */
#include "core/store/verify.h"

#include <string.h>

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

/* --- bodies --- */

/* Members of events that name a body, and of which kind it is. */
static const struct {
	const char *member, *kind;
} verify_members[] = {
	{ "canonical", "plan" },
	{ "source", "plan" },
	{ "env_hash", "env" },
	{ "prompt_hash", "prompt" },
	{ "answer_hash", "answer" },
	{ "stderr_hash", "stderr" },
	{ "code_hash", "code" },
	{ "code", "code" },
	{ "blob", "body" },
	{ "snapshot", "input" },
	{ "lineage_hash", "lineage" },
};

struct verify_named {
	json_t *as;     /* {hash: bits of the members that name it} */
	json_t *purged; /* {hash: true} */
};

static bool verify_is_hash(const char *text)
{
	return strlen(text) == DTX_SHA256_HEX - 1 &&
	       strspn(text, "0123456789abcdef") == DTX_SHA256_HEX - 1;
}

static bool verify_names(struct verify_named *v, const char *member, const char *hash)
{
	json_int_t bits = dtx_json_int(v->as, hash, 0);

	for (size_t i = 0; i < DTX_COUNT(verify_members); i++) {
		if (!strcmp(member, verify_members[i].member))
			bits |= (json_int_t)1 << i;
	}
	return !bits || dtx_json_set(v->as, hash, json_integer(bits));
}

static bool verify_value(struct verify_named *v, const char *member, const json_t *value)
{
	const char *key;
	json_t *one;
	size_t i;
	bool ok = true;

	if (json_is_string(value) && verify_is_hash(json_string_value(value)))
		return verify_names(v, member, json_string_value(value));
	json_array_foreach((json_t *)(uintptr_t)value, i, one) ok =
		ok && verify_value(v, member, one);
	json_object_foreach((json_t *)(uintptr_t)value, key, one) ok =
		ok && verify_value(v, key, one);
	return ok;
}

/* A large body is one of the bodies itself. */
static bool verify_large(struct verify_named *v, const json_t *body)
{
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	char hash[DTX_SHA256_HEX];
	bool ok;

	dtx_json_canonical(body, &text);
	dtx_sha256_hex(text.ptr, text.len, hash);
	ok = dtx_buf_ok(&text) &&
	     (text.len <= DTX_LEDGER_BODY_MAX || verify_names(v, "blob", hash));
	dtx_buf_clear(&text);
	return ok;
}

static enum dtx_code verify_event(void *arg, const struct dtx_event *event, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct verify_named *v = arg;
	json_t *one;
	size_t i;

	if (!verify_large(v, event->body) ||
	    (strcmp(event->kind, "purge") != 0 && !verify_value(v, "", event->body)))
		DTX_FAIL_MEM(err);
	json_array_foreach(json_object_get(event->body, "hashes"), i, one)
	{
		if (json_is_string(one) &&
		    !dtx_json_set(v->purged, json_string_value(one), json_true()))
			DTX_FAIL_MEM(err);
	}
out:
	return rc;
}

/* Whether the events name the body as one of this kind; those that none names are not judged. */
static bool verify_kind(const struct verify_named *v, const char *hash, const char *kind)
{
	json_int_t bits = dtx_json_int(v->as, hash, 0);
	bool same = !bits;

	for (size_t i = 0; i < DTX_COUNT(verify_members); i++)
		same |= (bits >> i & 1) && !strcmp(kind, verify_members[i].kind);
	return same;
}

/* What is wrong with a body; NULL: nothing. */
static const char *verify_body(struct dtx_db_rows *rows, const struct verify_named *v)
{
	const char *hash = dtx_db_get_text(rows, 0), *enc = dtx_db_get_text(rows, 1);
	const char *kind = dtx_db_get_text(rows, 5);
	struct dtx_str bytes = dtx_db_get_bytes(rows, 2);
	char got[DTX_SHA256_HEX];

	if (v->as && (!kind || !verify_kind(v, hash, kind)))
		return "the ledger names these bytes as ones of another kind";
	if (dtx_db_get_int(rows, 3))
		return !v->as || json_object_get(v->purged, hash)
		               ? NULL
		               : "these bytes are gone, and the ledger tells of no purge";
	dtx_sha256_hex(bytes.ptr, bytes.len, got);
	return !strcmp(got, hash) && dtx_db_get_int(rows, 4) == (int64_t)bytes.len && enc &&
	                       !strcmp(enc, "raw")
	               ? NULL
	               : "these bytes are not the ones that were stored";
}

static json_t *verify_finding(const char *hash, const char *text)
{
	return json_pack("{s:s, s:s, s:s}", "finding", "blob_mismatch", "hash", hash, "text", text);
}

static enum dtx_code verify_rows(struct dtx_db *db, const struct verify_named *v, json_t *findings,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_db_rows *rows = NULL;
	const char *hash, *bad;
	bool more;

	DTX_TRY(dtx_db_query(db, DTX_SQL_BLOB_ALL, NULL, 0, &rows, err));
	for (;;) {
		DTX_TRY(dtx_db_next(db, rows, &more, err));
		if (!more)
			break;
		hash = dtx_db_get_text(rows, 0);
		bad = hash ? verify_body(rows, v) : NULL;
		if (bad)
			DTX_TRY(verify_add(findings, verify_finding(hash, bad), err));
		if (v->as && hash)
			json_object_del(v->as, hash);
	}
out:
	dtx_db_done(rows);
	return rc;
}

/* What the events name must be there.  Of a ledger that cannot be read, a large body of it being
 * another, nothing is held against the bodies but their own hashes. */
static enum dtx_code verify_blobs(struct dtx_db *db, json_t *findings, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK, walked = DTX_OK;
	struct verify_named v = { NULL, NULL };
	struct dtx_err unread = DTX_ERR_INIT;
	const char *hash;
	json_t *bits;

	if (!json_array_size(findings)) {
		v = (struct verify_named){ json_object(), json_object() };
		if (!v.as || !v.purged)
			DTX_FAIL_MEM(err);
		walked = dtx_ledger_walk(db, 1, verify_event, &v, &unread);
	}
	if (walked != DTX_OK) {
		json_decref(v.as);
		v.as = NULL;
	}
	DTX_TRY(verify_rows(db, &v, findings, err));
	if (walked != DTX_OK && !json_array_size(findings)) {
		dtx_err_move(err, &unread);
		rc = walked;
		goto out;
	}
	json_object_foreach(v.as, hash, bits) DTX_TRY(
		verify_add(findings,
	                   verify_finding(hash, "the ledger names these bytes, and they are "
	                                        "not there"),
	                   err));
out:
	dtx_err_clear(&unread);
	json_decref(v.as);
	json_decref(v.purged);
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
