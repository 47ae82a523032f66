/* The snippet cache: lookup by key, states, approvals.
 *
 * A snippet is looked up by its exact key first.  If that finds none, an approved snippet for the
 * same namespace and intent may run for another schema, provided that every column it reads is
 * there with a class that fits; code that reads columns by position or the whole frame never does.
 *
 * The table of snippets only makes the lookup fast.  What decides whether code may run is the
 * ledger: before a snippet is returned, its events are replayed and must lead to the state and the
 * texts in the table. */
#include "core/store/cache/snippet.h"

#include <stdio.h>

#include "core/base/log.h"
#include "core/base/memory/mem.h"
#include "core/store/blob.h"
#include "core/store/ledger/ledger.h"

static const char *const snippet_rungs[] = {
	[DTX_RUNG_NONE] = "none",
	[DTX_RUNG_EXACT] = "exact",
	[DTX_RUNG_COMPATIBLE] = "compatible",
	[DTX_RUNG_NEAR] = "near",
	[DTX_RUNG_PENDING] = "pending",
	[DTX_RUNG_SUPPLIED] = "supplied",
	[DTX_RUNG_RECORDED] = "recorded",
};

const char *dtx_rung_name(enum dtx_rung rung)
{
	return snippet_rungs[rung];
}

/* --- rows --- */

/* The members of the struct in the order of DTX_SQL_CELL_COLS. */
static const struct {
	const char *name;
	size_t offset;
	bool integer, json;
} snippet_cols[] = {
#define TEXT(name, member)                                                                         \
	{                                                                                          \
		name, offsetof(struct dtx_snippet, member), false, false                           \
	}
#define JSON(name, member)                                                                         \
	{                                                                                          \
		name, offsetof(struct dtx_snippet, member), false, true                            \
	}
#define INT(name, member)                                                                          \
	{                                                                                          \
		name, offsetof(struct dtx_snippet, member), true, false                            \
	}
	TEXT("cell_id", id),
	TEXT("namespace", ns),
	TEXT("source_schema_fingerprint", fingerprint),
	TEXT("intent_hash", intent),
	TEXT("contract_hash", contract_hash),
	TEXT("code_hash", code_hash),
	TEXT("op", op),
	INT("template", template_version),
	TEXT("abi", abi),
	JSON("needs", needs),
	JSON("flags", flags),
	JSON("col_order", col_order),
	JSON("adapter", adapter),
	JSON("formulas", formulas),
	TEXT("origin", origin),
	TEXT("state", state),
	INT("state_us", state_us),
	TEXT("state_by", state_by),
	TEXT("note", note),
	TEXT("supersedes", supersedes),
	TEXT("call_id", call_id),
	INT("hits", hits),
	INT("fails", fails),
	INT("last_hit_us", last_hit_us),
#undef TEXT
#undef JSON
#undef INT
};

static const char **snippet_text_at(const struct dtx_snippet *s, size_t i)
{
	return (const char **)((uintptr_t)s + snippet_cols[i].offset);
}

static int64_t *snippet_int_at(const struct dtx_snippet *s, size_t i)
{
	return (int64_t *)((uintptr_t)s + snippet_cols[i].offset);
}

static enum dtx_code snippet_read(struct dtx_db_rows *rows, struct dtx_arena *arena,
                                  struct dtx_snippet *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t i;

	for (i = 0; i < DTX_COUNT(snippet_cols); i++) {
		const char *text;

		if (snippet_cols[i].integer) {
			*snippet_int_at(out, i) = dtx_db_get_int(rows, (int)i);
			continue;
		}
		text = dtx_db_get_text(rows, (int)i);
		*snippet_text_at(out, i) = text ? dtx_arena_strdup(arena, text) : NULL;
		if (text && !*snippet_text_at(out, i))
			DTX_FAIL_MEM(err);
	}
out:
	return rc;
}

/* A member in the form in which it is stored: JSON columns as JSON.  NULL: out of memory. */
static json_t *snippet_member(const struct dtx_snippet *s, size_t i)
{
	const struct dtx_json_limits limits = { (size_t)1 << 20, 32 };
	const char *text;
	json_t *value = NULL;

	if (snippet_cols[i].integer)
		return json_integer(*snippet_int_at(s, i));
	text = *snippet_text_at(s, i);
	if (!text)
		return json_null();
	if (snippet_cols[i].json &&
	    dtx_json_parse(dtx_str_of(text), limits, &value, NULL) == DTX_OK)
		return value;
	return json_string(text);
}

json_t *dtx_snippet_json(const struct dtx_snippet *snippet)
{
	json_t *out = json_object();
	size_t i;

	for (i = 0; i < DTX_COUNT(snippet_cols) && out; i++) {
		json_t *value = snippet_member(snippet, i);

		if (json_is_null(value))
			continue;
		if (!dtx_json_set(out, snippet_cols[i].name, value)) {
			json_decref(out);
			out = NULL;
		}
	}
	return out;
}

/* The first row of a query; *found says whether there is one. */
static enum dtx_code snippet_first(struct dtx_db *db, enum dtx_sql sql,
                                   const struct dtx_db_val *val, size_t n, struct dtx_arena *arena,
                                   struct dtx_snippet *out, bool *found, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_db_rows *rows = NULL;

	DTX_TRY(dtx_db_query(db, sql, val, n, &rows, err));
	DTX_TRY(dtx_db_next(db, rows, found, err));
	if (*found)
		DTX_TRY(snippet_read(rows, arena, out, err));
out:
	dtx_db_done(rows);
	return rc;
}

static bool snippet_is_import(const char *origin)
{
	return origin && !strcmp(origin, "import");
}

/* --- proof by the ledger --- */

/* What the events say about one snippet.  `same`: ids of the other snippets with its key. */
struct snippet_proof {
	const struct dtx_snippet *of;
	json_t *candidate, *same;
	const char *state;
};

static bool snippet_same_key(const struct dtx_snippet *s, const json_t *body)
{
	return !strcmp(dtx_json_text(body, "namespace", ""), s->ns) &&
	       !strcmp(dtx_json_text(body, "source_schema_fingerprint", ""), s->fingerprint) &&
	       !strcmp(dtx_json_text(body, "intent_hash", ""), s->intent);
}

/* Whether code that was imported is now added from here: the same rule as in DTX_SQL_CELL_RENEW. */
static bool snippet_replaces(const json_t *old, const json_t *body)
{
	return snippet_is_import(dtx_json_text(old, "origin", NULL)) &&
	       dtx_json_text(body, "origin", NULL) &&
	       !snippet_is_import(dtx_json_text(body, "origin", NULL));
}

static enum dtx_code snippet_prove(void *arg, const struct dtx_event *e, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct snippet_proof *p = arg;
	const char *id = dtx_json_text(e->body, "cell_id", "");
	bool mine = !strcmp(id, p->of->id);

	if (!strcmp(e->kind, "snippet.candidate")) {
		if (mine && (!p->candidate || !strcmp(p->state, "removed") ||
		             snippet_replaces(p->candidate, e->body))) {
			json_decref(p->candidate);
			p->candidate = json_incref((json_t *)(uintptr_t)e->body);
			p->state = "candidate";
		} else if (!mine && snippet_same_key(p->of, e->body) &&
		           !dtx_json_set(p->same, id, json_true())) {
			DTX_FAIL_MEM(err);
		}
	} else if (!strcmp(e->kind, "snippet.approved")) {
		if (mine)
			p->state = "approved";
		else if (p->state && !strcmp(p->state, "approved") && json_object_get(p->same, id))
			p->state = "superseded";
	} else if (mine && !strcmp(e->kind, "snippet.pending")) {
		p->state = "pending";
	} else if (mine && !strcmp(e->kind, "snippet.revoked")) {
		p->state = dtx_json_bool(e->body, "refuse", true) ? "revoked" : "removed";
	}
out:
	return rc;
}

/* Whether the row agrees with the ledger: its texts are those with which it was added, its state is
 * the one that the events lead to, and its id is derived from its code. */
static bool snippet_is_proven(const struct snippet_proof *p)
{
	const struct dtx_snippet *s = p->of;
	const struct dtx_snippet_key key = { s->ns, s->fingerprint, s->intent };
	static const char *const kept[] = { "contract_hash", "op",       "abi",
		                            "needs",         "flags",    "adapter",
		                            "col_order",     "formulas", "origin" };
	char id[DTX_SNIPPET_ID];

	dtx_snippet_id(&key, s->code_hash, s->adapter, id);
	if (strcmp(id, s->id) != 0 || !p->candidate || !p->state || strcmp(p->state, s->state) != 0)
		return false;
	for (size_t i = 0; i < DTX_COUNT(snippet_cols); i++) {
		const char *text = snippet_cols[i].integer ? NULL : *snippet_text_at(s, i);

		for (size_t k = 0; k < DTX_COUNT(kept); k++) {
			if (!strcmp(kept[k], snippet_cols[i].name) &&
			    strcmp(dtx_json_text(p->candidate, kept[k], ""), text ? text : "") != 0)
				return false;
		}
	}
	return true;
}

/* The table of snippets is derived from the ledger, and anyone who can write to the file could
 * change it unnoticed.  A snippet that is about to run is therefore compared with the hash
 * chain. */
static enum dtx_code snippet_proven(struct dtx_db *db, const struct dtx_snippet *s,
                                    struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct snippet_proof p = { .of = s, .same = json_object() };

	if (!p.same)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_ledger_walk_snippets(db, snippet_prove, &p, err));
	if (snippet_is_proven(&p))
		goto out;
	rc = dtx_err_set(err, DTX_E_STORE_IO, __FILE__, __LINE__,
	                 "snippet %.8s is kept as %s, but the ledger says otherwise: the store was "
	                 "changed without dtx",
	                 s->id, s->state);
	dtx_err_hint(err, "dtx verify shows what was changed; dtx store rebuild makes the list of "
	                  "snippets again from the ledger");
out:
	json_decref(p.candidate);
	json_decref(p.same);
	return rc;
}

/* --- lookup: exact, then compatible --- */

static bool snippet_flagged(const struct dtx_snippet *s, const char *flag)
{
	char quoted[40];

	snprintf(quoted, sizeof(quoted), "\"%s\"", flag);
	return s->flags && strstr(s->flags, quoted);
}

static bool snippet_order_fits(const struct dtx_snippet *s, const char *col_order)
{
	if (!snippet_flagged(s, "positional"))
		return true;
	return s->col_order && col_order && !strcmp(s->col_order, col_order);
}

const json_t *dtx_snippet_cols(const json_t *tables, const char *alias)
{
	const json_t *list = json_object_get(tables, "tables");

	return json_object_get(dtx_json_find(list, "alias", alias), "cols");
}

/* The class `any` (all values are null) fits every class. */
static bool snippet_col_fits(const json_t *need, const json_t *have)
{
	const char *want = json_string_value(json_array_get(need, 1));
	const char *got = json_string_value(json_array_get(have, 1));

	return want && got && (!strcmp(want, got) || !strcmp(want, "any") || !strcmp(got, "any"));
}

static bool snippet_col_in(const json_t *need, const json_t *cols)
{
	const char *name = json_string_value(json_array_get(need, 0));
	json_t *have;
	size_t i;

	json_array_foreach(cols, i, have)
	{
		const char *other = json_string_value(json_array_get(have, 0));

		if (name && other && !strcmp(name, other))
			return snippet_col_fits(need, have);
	}
	return false;
}

/* Whether every column that the code reads is in the new schema. */
static bool snippet_needs_fit(const char *needs, const json_t *tables)
{
	const struct dtx_json_limits limits = { (size_t)1 << 20, 8 };
	json_t *doc = NULL, *table, *need;
	bool fits = true;
	size_t i, k, known = 0;

	if (!needs || dtx_json_parse(dtx_str_of(needs), limits, &doc, NULL) != DTX_OK)
		return false;
	json_array_foreach(json_object_get(doc, "tables"), i, table)
	{
		const json_t *cols = dtx_snippet_cols(tables, dtx_json_text(table, "alias", ""));

		json_array_foreach(json_object_get(table, "cols"), k, need)
		{
			fits = fits && snippet_col_in(need, cols);
			known++;
		}
	}
	json_decref(doc);
	return fits && known; /* nothing is known about code that names no column */
}

/* Whether a snippet may run for another schema.  Not if it was imported: what the imported file
 * says about the columns that the code reads cannot be checked here, so such a snippet runs only
 * for the schema in its key. */
static bool snippet_compatible(const struct dtx_snippet *s, const struct dtx_snippet_ask *ask)
{
	return !snippet_is_import(s->origin) && !snippet_flagged(s, "positional") &&
	       !snippet_flagged(s, "whole_frame") && snippet_needs_fit(s->needs, ask->tables);
}

static enum dtx_code snippet_find_compatible(struct dtx_db *db, const struct dtx_snippet_ask *ask,
                                             struct dtx_arena *arena, struct dtx_snippet *out,
                                             enum dtx_rung *rung, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_db_val val[2] = { dtx_db_text(ask->key.ns), dtx_db_text(ask->key.intent) };
	struct dtx_db_rows *rows = NULL;
	struct dtx_snippet one;
	bool more;

	DTX_TRY(dtx_db_query(db, DTX_SQL_CELL_INTENT, val, DTX_COUNT(val), &rows, err));
	while (*rung == DTX_RUNG_NONE) {
		DTX_TRY(dtx_db_next(db, rows, &more, err));
		if (!more)
			break;
		DTX_TRY(snippet_read(rows, arena, &one, err));
		if (!snippet_compatible(&one, ask))
			continue;
		*out = one;
		*rung = DTX_RUNG_COMPATIBLE;
	}
out:
	dtx_db_done(rows);
	return rc;
}

enum dtx_code dtx_snippet_resolve(struct dtx_store *s, const struct dtx_snippet_ask *ask,
                                  struct dtx_arena *arena, struct dtx_snippet *out,
                                  enum dtx_rung *rung, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_db *db = dtx_store_db(s);
	struct dtx_db_val key[3] = { dtx_db_text(ask->key.ns), dtx_db_text(ask->key.fingerprint),
		                     dtx_db_text(ask->key.intent) };
	struct dtx_snippet one;
	bool found = false;

	*rung = DTX_RUNG_NONE;
	DTX_TRY(snippet_first(db, DTX_SQL_CELL_KEY, key, DTX_COUNT(key), arena, &one, &found, err));
	if (found && snippet_order_fits(&one, ask->col_order)) {
		*out = one;
		*rung = strcmp(one.state, "approved") ? DTX_RUNG_PENDING : DTX_RUNG_EXACT;
	}
	if (*rung == DTX_RUNG_NONE && ask->tables && !ask->strict)
		DTX_TRY(snippet_find_compatible(db, ask, arena, out, rung, err));
	if (*rung != DTX_RUNG_NONE)
		DTX_TRY(snippet_proven(db, out, err));
out:
	return rc;
}

/* --- changes --- */

void dtx_snippet_id(const struct dtx_snippet_key *key, const char *code_hash, const char *adapter,
                    char id[DTX_SNIPPET_ID])
{
	const char *const part[] = { key->ns, key->fingerprint, key->intent, code_hash, adapter };
	size_t n = DTX_COUNT(part) - !adapter;
	struct dtx_sha256 sha;
	uint8_t digest[DTX_SHA256_SIZE];
	size_t i;

	dtx_sha256_init(&sha);
	for (i = 0; i < n; i++) /* a NUL between two parts, none at the end */
		dtx_sha256_add(&sha, part[i], strlen(part[i]) + (i + 1 < n));
	dtx_sha256_done(&sha, digest);
	dtx_hex(digest, (DTX_SNIPPET_ID - 1) / 2, id);
}

static json_t *snippet_candidate_body(const struct dtx_snippet_new *add, const char *id,
                                      const char *code_hash)
{
	return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s?, s:I, s:s?, s:s?, s:s?, s:s?, s:s?, "
	                 "s:s?, s:s?}",
	                 "cell_id", id, "namespace", add->key.ns, "source_schema_fingerprint",
	                 add->key.fingerprint, "intent_hash", add->key.intent, "contract_hash",
	                 add->contract_hash, "code_hash", code_hash, "op", add->op, "template",
	                 (json_int_t)add->template_version, "abi", add->abi, "needs", add->needs,
	                 "flags", add->flags, "col_order", add->col_order, "adapter", add->adapter,
	                 "origin", add->origin, "call_id", add->call_id);
}

static enum dtx_code snippet_add_body(const struct dtx_snippet_new *add, const char *id,
                                      const char *code_hash, json_t **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	json_t *body = snippet_candidate_body(add, id, code_hash);

	if (!body)
		DTX_FAIL_MEM(err);
	if (add->formulas && !dtx_json_set(body, "formulas", json_string(add->formulas)))
		DTX_FAIL_MEM(err);
	*out = body;
	body = NULL;
out:
	json_decref(body);
	return rc;
}

/* Fails if a person has revoked this code: the same bytes must not come back under another key. */
static enum dtx_code snippet_refuse(struct dtx_db *db, const char *ns, const char *code_hash,
                                    struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_db_val val[2] = { dtx_db_text(ns), dtx_db_text(code_hash) };
	struct dtx_db_rows *rows = NULL;
	bool more = false;

	DTX_TRY(dtx_db_query(db, DTX_SQL_CELL_REFUSED, val, DTX_COUNT(val), &rows, err));
	DTX_TRY(dtx_db_next(db, rows, &more, err));
	if (more) {
		rc = dtx_err_set(err, DTX_E_SNIPPET_REVOKED, __FILE__, __LINE__,
		                 "this code was revoked in namespace '%s' (snippet %s)", ns,
		                 dtx_db_get_text(rows, 0));
		dtx_err_hint(err, "change the code, or use another --namespace");
	}
out:
	dtx_db_done(rows);
	return rc;
}

static enum dtx_code snippet_by_id(struct dtx_db *db, const char *id, struct dtx_arena *arena,
                                   struct dtx_snippet *out, bool *found, struct dtx_err *err)
{
	struct dtx_db_val val = dtx_db_text(id);

	return snippet_first(db, DTX_SQL_CELL_PREFIX, &val, 1, arena, out, found, err);
}

enum dtx_code dtx_snippet_add(struct dtx_store *s, const char *run_id,
                              const struct dtx_snippet_new *add, char id[DTX_SNIPPET_ID],
                              struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_db *db = dtx_store_db(s);
	struct dtx_event event = { 0, 0, "snippet.candidate", run_id, NULL };
	struct dtx_arena arena = DTX_ARENA_INIT;
	struct dtx_snippet old;
	char code_hash[DTX_SHA256_HEX];
	json_t *body = NULL;
	bool found = false;

	if (add->code.len > DTX_SNIPPET_CODE_MAX)
		DTX_FAIL(err, DTX_E_SNIPPET_SCREEN_DENIED,
		         "a snippet has at most %zu bytes, got %zu", DTX_SNIPPET_CODE_MAX,
		         add->code.len);
	dtx_sha256_hex(add->code.ptr, add->code.len, code_hash);
	dtx_snippet_id(&add->key, code_hash, add->adapter, id);
	DTX_TRY(snippet_add_body(add, id, code_hash, &body, err));
	event.body = body;
	DTX_TRY(dtx_db_begin(db, err));
	DTX_TRY(snippet_refuse(db, add->key.ns, code_hash, err));
	DTX_TRY(snippet_by_id(db, id, &arena, &old, &found, err));
	/* also for known code, because its bytes may have been purged */
	DTX_TRY(dtx_blob_put(db, "code", add->code, code_hash, err));
	if (!found || !strcmp(old.state, "removed") ||
	    (snippet_is_import(old.origin) && !snippet_is_import(add->origin)))
		DTX_TRY(dtx_ledger_append(db, &event, err));
	DTX_TRY(dtx_db_commit(db, err));
out:
	if (rc != DTX_OK)
		dtx_db_rollback(db);
	json_decref(body);
	dtx_arena_clear(&arena);
	return rc;
}

static const struct {
	const char *kind, *state;
	bool refuse;
} snippet_acts[] = {
	[DTX_SNIPPET_PENDING] = { "snippet.pending", "pending", true },
	[DTX_SNIPPET_APPROVE] = { "snippet.approved", "approved", true },
	[DTX_SNIPPET_REVOKE] = { "snippet.revoked", "revoked", true },
	[DTX_SNIPPET_REMOVE] = { "snippet.revoked", "removed", false },
};

/* Fails if the code of a snippet is missing: an approved snippet without code would stop every run
 * with its key. */
static enum dtx_code snippet_has_code(struct dtx_db *db, const struct dtx_snippet *s,
                                      struct dtx_err *err)
{
	struct dtx_buf code = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	enum dtx_code rc = dtx_blob_get(db, s->code_hash, &code, err);

	dtx_buf_clear(&code);
	if (rc == DTX_E_NO_RECORD)
		dtx_err_hint(err, "dtx run --snippet or dtx snippet add with the same bytes brings "
		                  "them back");
	return rc;
}

enum dtx_code dtx_snippet_act_in(struct dtx_store *s, const char *run_id, const char *id,
                                 enum dtx_snippet_act act, const char *by, const char *note,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_event event = { .kind = snippet_acts[act].kind, .run_id = run_id };
	struct dtx_arena arena = DTX_ARENA_INIT;
	struct dtx_snippet old;
	json_t *body = NULL;

	DTX_TRY(dtx_snippet_get(s, id, &arena, &old, err));
	if (!strcmp(old.state, snippet_acts[act].state))
		goto out;
	if (act == DTX_SNIPPET_APPROVE || act == DTX_SNIPPET_PENDING)
		DTX_TRY(snippet_has_code(dtx_store_db(s), &old, err));
	body = json_pack("{s:s, s:s?, s:s?, s:b}", "cell_id", old.id, "by", by, "note", note,
	                 "refuse", snippet_acts[act].refuse);
	if (!body)
		DTX_FAIL_MEM(err);
	event.body = body;
	DTX_TRY(dtx_ledger_append(dtx_store_db(s), &event, err));
out:
	json_decref(body);
	dtx_arena_clear(&arena);
	return rc;
}

enum dtx_code dtx_snippet_act(struct dtx_store *s, const char *run_id, const char *id,
                              enum dtx_snippet_act act, const char *by, const char *note,
                              struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_db *db = dtx_store_db(s);

	DTX_TRY(dtx_db_begin(db, err));
	DTX_TRY(dtx_snippet_act_in(s, run_id, id, act, by, note, err));
	DTX_TRY(dtx_db_commit(db, err));
out:
	if (rc != DTX_OK)
		dtx_db_rollback(db);
	return rc;
}

/* --- reading --- */

static bool snippet_id_ok(const char *id)
{
	size_t len = strlen(id);

	return len >= 4 && len < DTX_SNIPPET_ID && strspn(id, "0123456789abcdef") == len;
}

enum dtx_code dtx_snippet_get(struct dtx_store *s, const char *id, struct dtx_arena *arena,
                              struct dtx_snippet *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_db *db = dtx_store_db(s);
	struct dtx_db_val val = dtx_db_text(id);
	struct dtx_db_rows *rows = NULL;
	bool more = false;

	if (!snippet_id_ok(id))
		DTX_FAIL(err, DTX_E_NO_RECORD,
		         "'%s' is not a snippet id: expected 4 to 16 hex digits", id);
	DTX_TRY(dtx_db_query(db, DTX_SQL_CELL_PREFIX, &val, 1, &rows, err));
	DTX_TRY(dtx_db_next(db, rows, &more, err));
	if (!more)
		DTX_FAIL(err, DTX_E_NO_RECORD, "no snippet '%s'", id);
	DTX_TRY(snippet_read(rows, arena, out, err));
	DTX_TRY(dtx_db_next(db, rows, &more, err));
	if (more)
		DTX_FAIL(err, DTX_E_NO_RECORD, "several snippets begin with '%s'", id);
out:
	if (rc == DTX_E_NO_RECORD)
		dtx_err_hint(err, "dtx snippet list shows the ids");
	dtx_db_done(rows);
	return rc;
}

enum dtx_code dtx_snippet_query(struct dtx_store *s, enum dtx_sql sql, const struct dtx_db_val *val,
                                size_t nvals, struct dtx_arena *arena, struct dtx_snippet **item,
                                size_t *n, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_db *db = dtx_store_db(s);
	struct dtx_db_rows *rows = NULL;
	struct dtx_snippet *list = NULL;
	size_t cap = 0, count = 0;
	bool more;

	DTX_TRY(dtx_db_query(db, sql, val, nvals, &rows, err));
	for (;;) {
		DTX_TRY(dtx_db_next(db, rows, &more, err));
		if (!more)
			break;
		if (!dtx_mem_reserve(&list, &cap, count + 1, sizeof(*list)))
			DTX_FAIL_MEM(err);
		DTX_TRY(snippet_read(rows, arena, &list[count], err));
		count++;
	}
	*item = dtx_arena_alloc(arena, count, sizeof(**item));
	if (!*item)
		DTX_FAIL_MEM(err);
	if (count)
		memcpy(*item, list, count * sizeof(*list));
	*n = count;
out:
	dtx_db_done(rows);
	dtx_mem_free(list);
	return rc;
}

enum dtx_code dtx_snippet_list(struct dtx_store *s, const char *state, struct dtx_arena *arena,
                               struct dtx_snippet **item, size_t *n, struct dtx_err *err)
{
	struct dtx_db_val val = dtx_db_text(state);

	return dtx_snippet_query(s, DTX_SQL_CELL_LIST, &val, 1, arena, item, n, err);
}

enum dtx_code dtx_snippet_siblings(struct dtx_store *s, const char *ns, const char *intent,
                                   struct dtx_arena *arena, struct dtx_snippet **item, size_t *n,
                                   struct dtx_err *err)
{
	struct dtx_db_val val[2] = { dtx_db_text(ns), dtx_db_text(intent) };

	return dtx_snippet_query(s, DTX_SQL_CELL_INTENT, val, DTX_COUNT(val), arena, item, n, err);
}

enum dtx_code dtx_snippet_failed(struct dtx_store *s, const char *prompt_hash,
                                 const char *transport, const char *model, int64_t since_us,
                                 char run_id[40], struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_db *db = dtx_store_db(s);
	struct dtx_db_val val[4] = { dtx_db_text(prompt_hash), dtx_db_text(transport),
		                     dtx_db_text(model), DTX_DBI(since_us) };
	struct dtx_db_rows *rows = NULL;
	bool found = false;

	run_id[0] = '\0';
	DTX_TRY(dtx_db_query(db, DTX_SQL_AUTHOR_FAILED, val, DTX_COUNT(val), &rows, err));
	DTX_TRY(dtx_db_next(db, rows, &found, err));
	if (found)
		dtx_str_copy(run_id, 40, dtx_db_get_bytes(rows, 0));
out:
	dtx_db_done(rows);
	return rc;
}

enum dtx_code dtx_snippet_code(struct dtx_store *s, const char *code_hash, struct dtx_buf *out,
                               struct dtx_err *err)
{
	return dtx_blob_get(dtx_store_db(s), code_hash, out, err);
}

/* Finds and removes snippets that are no longer needed; looks up what an author was asked for
 * one. */

/* Empties the body of code that no snippet uses any more and adds its hash to the list. */
static enum dtx_code gc_empty(struct dtx_db *db, const char *hash, int64_t us, json_t *hashes,
                              int64_t *bytes, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_db_val val[2] = { dtx_db_text(hash), DTX_DBI(us) };
	struct dtx_db_rows *rows = NULL;
	bool found = false;

	DTX_TRY(dtx_db_query(db, DTX_SQL_CELL_PURGE, val, DTX_COUNT(val), &rows, err));
	DTX_TRY(dtx_db_next(db, rows, &found, err));
	if (!found)
		goto out;
	*bytes += dtx_db_get_int(rows, 0);
	if (json_array_append_new(hashes, json_string(hash)) < 0)
		DTX_FAIL_MEM(err);
out:
	dtx_db_done(rows);
	return rc;
}

/* Removes the bodies of code; call it inside of a transaction, so that the event which lists them
 * and their removal belong together. */
static enum dtx_code gc_purge(struct dtx_db *db, const struct dtx_snippet *item, size_t n,
                              struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	json_t *hashes = json_array();
	struct dtx_event event = { .kind = "purge", .run_id = "" };
	int64_t bytes = 0, us = dtx_wall_us();
	size_t i;

	if (!hashes)
		DTX_FAIL_MEM(err);
	for (i = 0; i < n; i++)
		DTX_TRY(gc_empty(db, item[i].code_hash, us, hashes, &bytes, err));
	event.body = json_pack("{ss sO sI sI}", "reason", "snippet gc", "hashes", hashes, "bytes",
	                       (json_int_t)bytes, "us", (json_int_t)us);
	if (!event.body)
		DTX_FAIL_MEM(err);
	if (json_array_size(hashes))
		DTX_TRY(dtx_ledger_append(db, &event, err));
out:
	json_decref((json_t *)(uintptr_t)event.body);
	json_decref(hashes);
	return rc;
}

enum dtx_code dtx_snippet_dead(struct dtx_store *s, int64_t before_us, bool drop, const char *by,
                               struct dtx_arena *arena, struct dtx_snippet **item, size_t *n,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_db *db = dtx_store_db(s);
	struct dtx_db_val val = DTX_DBI(before_us);
	size_t i;

	if (drop) /* One transaction, so that what is listed is what is removed, and no run can use
	           * a snippet in between. */
		DTX_TRY(dtx_db_begin(db, err));
	DTX_TRY(dtx_snippet_query(s, DTX_SQL_CELL_DEAD, &val, 1, arena, item, n, err));
	for (i = 0; i < *n && drop; i++)
		DTX_TRY(dtx_snippet_act_in(s, "", (*item)[i].id, DTX_SNIPPET_REMOVE, by, "gc",
		                           err));
	if (drop && *n)
		DTX_TRY(gc_purge(db, *item, *n, err));
	if (drop) {
		DTX_TRY(dtx_db_commit(db, err));
		DTX_TRY(dtx_db_shrink(db, err));
	}
out:
	if (rc != DTX_OK && drop)
		dtx_db_rollback(db);
	return rc;
}

enum dtx_code dtx_snippet_call(struct dtx_store *s, const char *call_id, struct dtx_arena *arena,
                               struct dtx_snippet_call *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_db *db = dtx_store_db(s);
	struct dtx_db_val val = dtx_db_text(call_id);
	struct dtx_db_rows *rows = NULL;
	const char *text[3];
	size_t i;
	bool found = false;

	DTX_TRY(dtx_db_query(db, DTX_SQL_CALL_PROMPT, &val, 1, &rows, err));
	DTX_TRY(dtx_db_next(db, rows, &found, err));
	if (!found)
		DTX_FAIL(err, DTX_E_NO_RECORD, "no author was asked for this snippet");
	for (i = 0; i < DTX_COUNT(text); i++) {
		static const int column[] = { 0, 1, 6 };
		const char *t = dtx_db_get_text(rows, column[i]);

		text[i] = dtx_arena_strdup(arena, t ? t : "");
		if (!text[i])
			DTX_FAIL_MEM(err);
	}
	*out = (struct dtx_snippet_call){ text[0],
		                          text[1],
		                          text[2],
		                          dtx_db_get_int(rows, 2),
		                          dtx_db_get_int(rows, 3),
		                          dtx_db_get_int(rows, 4),
		                          dtx_db_get_int(rows, 5) };
out:
	dtx_db_done(rows);
	return rc;
}

enum dtx_code dtx_snippet_policy(struct dtx_store *s, const char *id, char policy[65],
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_db_val val = dtx_db_text(id);
	struct dtx_db_rows *rows = NULL;
	bool found = false;

	policy[0] = '\0';
	DTX_TRY(dtx_db_query(dtx_store_db(s), DTX_SQL_CELL_POLICY, &val, 1, &rows, err));
	DTX_TRY(dtx_db_next(dtx_store_db(s), rows, &found, err));
	if (found)
		dtx_str_copy(policy, 65, dtx_db_get_bytes(rows, 0));
out:
	dtx_db_done(rows);
	return rc;
}
