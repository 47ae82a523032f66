/* Checks the store for changes that dtx did not make: see verify.h.
 *
 * The chain shows whether an event was changed.  Bodies are not in the chain, but events name them
 * by their hash, so each body must have the hash under which it is stored, and its bytes may be
 * gone only if an event says that they were purged.  Derived tables are compared with what a
 * rebuild from the ledger would make. */
#include "core/store/ledger/verify.h"

#include <string.h>

#include "core/base/text/num.h"
#include "core/store/ledger/derive.h"
#include "core/store/ledger/ledger.h"
#include "core/store/ledger/rebuild.h"

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
		                             "the ledger was changed from here on"),
		                   err));
out:
	return rc;
}

/* --- bodies --- */

/* Members of events that name a body, and the kind of that body. */
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
	json_t *as;     /* {hash: bits of the members that name it}; NULL: the ledger was not
	                 * read */
	json_t *known;  /* {hash: true} for all hashes in events */
	json_t *purged; /* {hash: time, 0: an older dtx did not record it} by the last event that
	                 * purged it */
	json_t *purges; /* bodies of these events */
	json_t *size;   /* {hash: bytes} of purged bodies */
};

static enum dtx_code verify_named_init(struct verify_named *v, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	*v = (struct verify_named){ json_object(), json_object(), json_object(), json_array(),
		                    json_object() };
	if (!v->as || !v->known || !v->purged || !v->purges || !v->size)
		DTX_FAIL_MEM(err);
out:
	return rc;
}

static void verify_named_clear(struct verify_named *v)
{
	json_decref(v->as);
	json_decref(v->known);
	json_decref(v->purged);
	json_decref(v->purges);
	json_decref(v->size);
}

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
	return dtx_json_set(v->known, hash, json_true()) &&
	       (!bits || dtx_json_set(v->as, hash, json_integer(bits)));
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

/* A large event body is itself stored as one of the bodies. */
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
		    !dtx_json_set(v->purged, json_string_value(one),
		                  json_integer(dtx_json_int(event->body, "us", 0))))
			DTX_FAIL_MEM(err);
	}
	if (!strcmp(event->kind, "purge") &&
	    json_array_append(v->purges, (json_t *)(uintptr_t)event->body) < 0)
		DTX_FAIL_MEM(err);
out:
	return rc;
}

/* Whether the events name the body as one of this kind.  If they name it in another way it is not
 * judged. */
static bool verify_kind(const struct verify_named *v, const char *hash, const char *kind)
{
	json_int_t bits = dtx_json_int(v->as, hash, 0);
	bool same = !bits;

	for (size_t i = 0; i < DTX_COUNT(verify_members); i++)
		same |= (bits >> i & 1) && !strcmp(kind, verify_members[i].kind);
	return same;
}

static bool verify_purged(const struct verify_named *v, const char *hash, int64_t gone)
{
	int64_t us = dtx_json_int(v->purged, hash, 0);

	return !us || us == gone;
}

/* What is wrong with a body; NULL: nothing. */
static const char *verify_body(struct dtx_db_rows *rows, const struct verify_named *v)
{
	const char *hash = dtx_db_get_text(rows, 0), *enc = dtx_db_get_text(rows, 1);
	const char *kind = dtx_db_get_text(rows, 5);
	struct dtx_str bytes = dtx_db_get_bytes(rows, 2);
	char got[DTX_SHA256_HEX];
	int64_t gone = dtx_db_get_int(rows, 3);

	if (v->as && !json_object_get(v->known, hash))
		return "no event of the ledger names these bytes";
	if (v->as && (!kind || !verify_kind(v, hash, kind)))
		return "the ledger names these bytes as ones of another kind";
	if (gone && v->as && !json_object_get(v->purged, hash))
		return "these bytes are missing, and the ledger records no purge";
	if (gone) /* its hash can no longer be checked */
		return bytes.len || (v->as && !verify_purged(v, hash, gone)) || !enc ||
		                       strcmp(enc, "raw")
		               ? "what is left of these purged bytes was changed"
		               : NULL;
	dtx_sha256_hex(bytes.ptr, bytes.len, got);
	return !strcmp(got, hash) && dtx_db_get_int(rows, 4) == (int64_t)bytes.len && enc &&
	                       !strcmp(enc, "raw")
	               ? NULL
	               : "these bytes are not the ones that were stored";
}

static json_t *verify_finding(const char *hash, const char *text)
{
	return json_pack("{ss so ss}", "finding", "blob_mismatch", "hash", dtx_json_ascii(hash),
	                 "text", text);
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
		if (v->as && hash && json_object_get(v->purged, hash) &&
		    !dtx_json_set(v->size, hash, json_integer(dtx_db_get_int(rows, 4))))
			DTX_FAIL_MEM(err);
	}
out:
	dtx_db_done(rows);
	return rc;
}

/* An event that purged bodies contains the sum of their sizes. */
static enum dtx_code verify_sizes(const struct verify_named *v, json_t *findings,
                                  struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	json_t *purge, *hash;
	size_t i, k;

	json_array_foreach(v->purges, i, purge)
	{
		const char *last = "";
		int64_t bytes = 0;

		json_array_foreach(json_object_get(purge, "hashes"), k, hash)
		{
			last = json_is_string(hash) ? json_string_value(hash) : "";
			bytes += dtx_json_int(v->size, last, 0);
		}
		if (bytes != dtx_json_int(purge, "bytes", bytes))
			DTX_TRY(verify_add(findings,
			                   verify_finding(last, "the sizes of bodies that were "
			                                        "purged, this one and those "
			                                        "with it, are not what the "
			                                        "ledger says"),
			                   err));
	}
out:
	return rc;
}

/* Everything that the events name must exist.  If the ledger cannot be read (a large event body was
 * changed), the bodies are only checked against their own hashes. */
static enum dtx_code verify_blobs(struct dtx_db *db, json_t *findings, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK, walked = DTX_OK;
	struct verify_named v = { .as = NULL };
	struct dtx_err unread = DTX_ERR_INIT;
	const char *hash;
	json_t *bits;

	if (!json_array_size(findings)) {
		DTX_TRY(verify_named_init(&v, err));
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
	json_object_foreach(v.as, hash, bits) DTX_TRY(verify_add(
		findings,
		verify_finding(hash, "the ledger names these bytes, but they are missing"), err));
	if (v.as)
		DTX_TRY(verify_sizes(&v, findings, err));
out:
	dtx_err_clear(&unread);
	verify_named_clear(&v);
	return rc;
}

static enum dtx_code verify_head_read(const char *text, int64_t *seq, struct dtx_str *hex,
                                      struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_str rest = dtx_str_of(text), tag, seq_text;

	if (!dtx_str_next(&rest, ':', &tag) || !dtx_str_is(tag, "dtx1") ||
	    !dtx_str_next(&rest, ':', &seq_text) || !dtx_str_next(&rest, ':', hex) ||
	    hex->len != DTX_SHA256_HEX - 1 || !dtx_num_parse_i64(seq_text.ptr, seq_text.len, seq))
		DTX_FAIL(err, DTX_E_USAGE, "'%s' is not a head: expected dtx1:NUMBER:64 hex digits",
		         text);
out:
	return rc;
}

static enum dtx_code verify_head(struct dtx_db *db, const char *text, json_t *findings,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_str hex;
	uint8_t hash[DTX_SHA256_SIZE];
	char have[DTX_SHA256_HEX];
	int64_t seq;
	bool found;

	DTX_TRY(verify_head_read(text, &seq, &hex, err));
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

/* What SQLite itself finds wrong with its pages and with its indexes, which contain a second copy
 * of their columns. */
static enum dtx_code verify_pages(struct dtx_db *db, json_t *findings, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_db_rows *rows = NULL;
	const char *text;
	bool more;

	DTX_TRY(dtx_db_query(db, DTX_SQL_INTEGRITY, NULL, 0, &rows, err));
	for (;;) {
		DTX_TRY(dtx_db_next(db, rows, &more, err));
		if (!more)
			break;
		text = dtx_db_get_text(rows, 0);
		if (text && strcmp(text, "ok") != 0)
			DTX_TRY(verify_add(findings,
			                   json_pack("{ss so}", "finding", "page_damaged", "text",
			                             dtx_json_ascii(text)),
			                   err));
	}
out:
	dtx_db_done(rows);
	return rc;
}

/* Leases come and go with runs and no event records them, so only their form can be checked. */
static enum dtx_code verify_leases(struct dtx_db *db, json_t *findings, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_db_rows *rows = NULL;
	bool odd = false;

	DTX_TRY(dtx_db_query(db, DTX_SQL_LEASE_ODD, NULL, 0, &rows, err));
	DTX_TRY(dtx_db_next(db, rows, &odd, err));
	if (odd)
		DTX_TRY(verify_add(findings,
		                   json_pack("{ss ss ss}", "finding", "index_differs", "table",
		                             "lease", "text",
		                             "it has a lease of a run that the ledger does not "
		                             "know"),
		                   err));
out:
	dtx_db_done(rows);
	return rc;
}

/* Whether the tables from which everything else is derived are intact. */
static bool verify_readable(const json_t *findings)
{
	json_t *one;
	size_t i;

	json_array_foreach((json_t *)(uintptr_t)findings, i, one)
	{
		if (dtx_str_in_list("table ledger,table blob", dtx_json_text(one, "name", "")))
			return false;
	}
	return true;
}

static enum dtx_code verify_rest(struct dtx_store *s, const struct dtx_verify_opts *opts,
                                 json_t *list, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_db *db = dtx_store_db(s);
	json_t *ledger = json_array();

	if (!ledger)
		DTX_FAIL_MEM(err);
	if (!opts->skip_index)
		DTX_TRY(dtx_rebuild_definitions(s, list, err));
	if (!verify_readable(list))
		goto out;
	DTX_TRY(verify_chain(db, opts->since, ledger, err));
	DTX_TRY(verify_blobs(db, ledger, err));
	if (opts->head)
		DTX_TRY(verify_head(db, opts->head, ledger, err));
	/* a broken ledger may not be readable, and then says nothing about the index */
	if (!opts->skip_index && !json_array_size(ledger)) {
		DTX_TRY(dtx_rebuild_compare(s, list, err));
		if (!json_array_size(list)) /* only in tables that are intact */
			DTX_TRY(verify_leases(db, list, err));
	}
	if (json_array_extend(list, ledger) < 0)
		DTX_FAIL_MEM(err);
out:
	json_decref(ledger);
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
	if (opts->log)
		DTX_TRY(verify_add(
			list, json_pack("{ss ss}", "finding", "log_damaged", "text", opts->log),
			err));
	DTX_TRY(dtx_db_begin_read(db, err));
	if (!opts->skip_index)
		DTX_TRY(verify_pages(db, list, err));
	if (json_array_size(list) == (opts->log != NULL))
		DTX_TRY(verify_rest(s, opts, list, err));
	*findings = list;
	list = NULL;
out:
	dtx_db_rollback(db);
	json_decref(list);
	return rc;
}

/* --- one run --- */

struct verify_run {
	const char *run_id;
	struct verify_named named;
	struct dtx_db *fresh; /* the derived rows that the events of the run make */
};

/* Called for the events of the run, and for purges, which explain why its bodies may be gone. */
static enum dtx_code verify_run_event(void *arg, const struct dtx_event *event, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct verify_run *r = arg;

	DTX_TRY(verify_event(&r->named, event, err));
	if (!strcmp(event->run_id, r->run_id))
		DTX_TRY(dtx_derive_apply(r->fresh, event, err));
out:
	return rc;
}

/* The event from which the chain is hashed: the first of the run, or an earlier one that was asked
 * for.  0: there is no such run. */
static enum dtx_code verify_run_from(struct dtx_db *db, const struct dtx_verify_opts *opts,
                                     const char *run_id, int64_t *from, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_db_val val = dtx_db_text(run_id);
	struct dtx_db_rows *rows = NULL;
	struct dtx_str hex;
	int64_t head = INT64_MAX;
	bool more = false;

	*from = 0;
	if (opts->head)
		DTX_TRY(verify_head_read(opts->head, &head, &hex, err));
	DTX_TRY(dtx_db_query(db, DTX_SQL_RUN_BY_ID, &val, 1, &rows, err));
	DTX_TRY(dtx_db_next(db, rows, &more, err));
	if (!more)
		goto out;
	*from = DTX_MIN(dtx_db_get_int(rows, 0), head);
	if (opts->since > 0)
		*from = DTX_MIN(*from, opts->since);
	*from = DTX_MAX(*from, 1);
out:
	dtx_db_done(rows);
	return rc;
}

static enum dtx_code verify_run_bodies(struct dtx_db *db, const struct verify_named *named,
                                       bool *whole, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_db_rows *rows = NULL;
	const char *hash;
	json_t *bits;
	bool more;

	json_object_foreach(named->as, hash, bits)
	{
		const struct dtx_db_val val = dtx_db_text(hash);

		DTX_TRY(dtx_db_query(db, DTX_SQL_BLOB_ONE, &val, 1, &rows, err));
		DTX_TRY(dtx_db_next(db, rows, &more, err));
		*whole = *whole && more && !verify_body(rows, named);
		dtx_db_done(rows);
		rows = NULL;
	}
out:
	dtx_db_done(rows);
	return rc;
}

static enum dtx_code verify_run(struct dtx_store *s, const struct dtx_verify_opts *opts,
                                struct verify_run *r, json_t *list, bool *whole,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_db *db = dtx_store_db(s);
	int64_t from, bad = 0;

	DTX_TRY(verify_run_from(db, opts, r->run_id, &from, err));
	if (!from)
		goto out;
	DTX_TRY(dtx_db_create(":memory:", false, &r->fresh, err));
	DTX_TRY(verify_named_init(&r->named, err));
	DTX_TRY(dtx_ledger_check_run(db, from, r->run_id, verify_run_event, r, &bad, err));
	if (bad)
		goto out;
	if (opts->head)
		DTX_TRY(verify_head(db, opts->head, list, err));
	DTX_TRY(dtx_rebuild_compare_run(s, r->fresh, r->run_id, list, err));
	*whole = !json_array_size(list);
	DTX_TRY(verify_run_bodies(db, &r->named, whole, err));
out:
	return rc;
}

enum dtx_code dtx_verify_run(struct dtx_store *s, const char *run_id,
                             const struct dtx_verify_opts *opts, bool *whole, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct verify_run r = { .run_id = run_id };
	struct dtx_err unread = DTX_ERR_INIT;
	json_t *list = json_array();

	*whole = false;
	if (!list)
		DTX_FAIL_MEM(err);
	if (opts->log)
		goto out;
	rc = dtx_db_begin_read(dtx_store_db(s), &unread);
	if (rc == DTX_OK)
		rc = verify_run(s, opts, &r, list, whole, &unread);
	dtx_db_rollback(dtx_store_db(s));
	*whole = *whole && rc == DTX_OK;
	if (rc == DTX_E_NO_MEMORY)
		dtx_err_move(err, &unread);
	else
		rc = DTX_OK; /* dtx_verify says what cannot be read, and why */
out:
	dtx_err_clear(&unread);
	verify_named_clear(&r.named);
	dtx_db_close(r.fresh);
	json_decref(list);
	return rc;
}
