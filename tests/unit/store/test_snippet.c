/* The snippet cache: lookup and states. */
#include "core/store/cache/snippet.h"

#include "core/base/file.h"
#include "core/store/cache/gc.h"
#include "core/store/ledger/ledger.h"
#include "core/store/ledger/record.h"
#include "core/store/ledger/verify.h"
#include "tests/t.h"

#define HASH  "00000000000000000000000000000000000000000000000000000000000000aa"
#define NEEDS "{\"tables\":[{\"alias\":\"main\",\"cols\":[[\"hours\",\"num\"]]}]}"

static struct dtx_store *open_store(void)
{
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_store *s = NULL;

	T_OK(dtx_store_open(":memory:", DTX_STORE_WRITE, &s, &err), &err);
	return s;
}

static struct dtx_snippet_new make(const char *fingerprint, const char *code, const char *flags)
{
	return (struct dtx_snippet_new){ .key = { "ns", fingerprint, "i1:x" },
		                         .code = dtx_str_of(code),
		                         .contract_hash = HASH,
		                         .op = "weekly_balance",
		                         .abi = "py3.11",
		                         .needs = NEEDS,
		                         .flags = flags,
		                         .col_order = "{\"main\":[\"a\",\"b\"]}",
		                         .origin = "supplied",
		                         .template_version = 1 };
}

static void add(struct dtx_store *s, const struct dtx_snippet_new *n, bool approve,
                char id[DTX_SNIPPET_ID])
{
	struct dtx_err err = DTX_ERR_INIT;

	T_OK(dtx_snippet_add(s, "", n, id, &err), &err);
	if (approve)
		T_OK(dtx_snippet_act(s, "", id, DTX_SNIPPET_APPROVE, "etl", NULL, &err), &err);
}

static enum dtx_rung ask(struct dtx_store *s, const char *fingerprint, const char *tables,
                         const char *order, char id[DTX_SNIPPET_ID])
{
	json_t *doc = tables ? json_loads(tables, 0, NULL) : NULL;
	struct dtx_snippet_ask q = { { "ns", fingerprint, "i1:x" }, doc, order, false };
	struct dtx_arena arena = DTX_ARENA_INIT;
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_snippet got = { .id = NULL };
	enum dtx_rung rung = DTX_RUNG_NONE;

	T_OK(dtx_snippet_resolve(s, &q, &arena, &got, &rung, &err), &err);
	if (id)
		snprintf(id, DTX_SNIPPET_ID, "%s", rung ? got.id : "");
	json_decref(doc);
	dtx_arena_clear(&arena);
	return rung;
}

static void state_is(struct dtx_store *s, const char *id, const char *want)
{
	struct dtx_arena arena = DTX_ARENA_INIT;
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_snippet got;

	T_OK(dtx_snippet_get(s, id, &arena, &got, &err), &err);
	T_STR(got.state, want);
	dtx_arena_clear(&arena);
}

void test_snippet_ladder(void)
{
	struct dtx_store *s = open_store();
	struct dtx_snippet_new n = make("f1:a", "def transform(tables, params): pass\n", NULL);
	char id[DTX_SNIPPET_ID], got[DTX_SNIPPET_ID];

	T_INT(ask(s, "f1:a", NULL, NULL, NULL), DTX_RUNG_NONE);
	add(s, &n, false, id);
	T_INT(ask(s, "f1:a", NULL, NULL, NULL), DTX_RUNG_NONE);
	T_OK(dtx_snippet_act(s, "", id, DTX_SNIPPET_PENDING, NULL, NULL, NULL), NULL);
	T_INT(ask(s, "f1:a", NULL, NULL, got), DTX_RUNG_PENDING);
	T_OK(dtx_snippet_act(s, "", id, DTX_SNIPPET_APPROVE, "etl", "read it", NULL), NULL);
	T_INT(ask(s, "f1:a", NULL, NULL, got), DTX_RUNG_EXACT);
	T_STR(got, id);
	/* another schema: the columns that the code reads must exist, with their classes */
	T_INT(ask(s, "f1:b", NULL, NULL, NULL), DTX_RUNG_NONE);
	T_INT(ask(s, "f1:b",
	          "{\"tables\":[{\"alias\":\"main\",\"cols\":[[\"x\",\"text\"],"
	          "[\"hours\",\"num\"]]}]}",
	          NULL, NULL),
	      DTX_RUNG_COMPATIBLE);
	T_INT(ask(s, "f1:b", "{\"tables\":[{\"alias\":\"main\",\"cols\":[[\"hours\",\"any\"]]}]}",
	          NULL, NULL),
	      DTX_RUNG_COMPATIBLE);
	T_INT(ask(s, "f1:b", "{\"tables\":[{\"alias\":\"main\",\"cols\":[[\"hours\",\"text\"]]}]}",
	          NULL, NULL),
	      DTX_RUNG_NONE);
	T_INT(ask(s, "f1:b", "{\"tables\":[{\"alias\":\"main\",\"cols\":[[\"hour\",\"num\"]]}]}",
	          NULL, NULL),
	      DTX_RUNG_NONE);
	T_INT(ask(s, "f1:b", "{\"tables\":[{\"alias\":\"hc\",\"cols\":[[\"hours\",\"num\"]]}]}",
	          NULL, NULL),
	      DTX_RUNG_NONE);
	dtx_store_free(s);
}

void test_snippet_positional_needs_order(void)
{
	struct dtx_store *s = open_store();
	struct dtx_snippet_new n = make("f1:a", "code\n", "[\"positional\"]");
	const char *tables = "{\"tables\":[{\"alias\":\"main\",\"cols\":[[\"hours\",\"num\"]]}]}";
	char id[DTX_SNIPPET_ID];

	add(s, &n, true, id);
	T_INT(ask(s, "f1:a", tables, "{\"main\":[\"a\",\"b\"]}", NULL), DTX_RUNG_EXACT);
	T_INT(ask(s, "f1:a", tables, "{\"main\":[\"b\",\"a\"]}", NULL), DTX_RUNG_NONE);
	T_INT(ask(s, "f1:b", tables, NULL, NULL), DTX_RUNG_NONE);
	dtx_store_free(s);
}

void test_snippet_states(void)
{
	struct dtx_store *s = open_store();
	struct dtx_verify_opts opts = { .since = 0 };
	struct dtx_snippet_new a = make("f1:a", "one\n", NULL), b = make("f1:a", "two\n", NULL);
	struct dtx_arena arena = DTX_ARENA_INIT;
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_snippet got, *list;
	struct dtx_buf code = DTX_BUF_INIT(1 << 16);
	char ida[DTX_SNIPPET_ID], idb[DTX_SNIPPET_ID], again[DTX_SNIPPET_ID];
	json_t *found = NULL;
	size_t n;

	add(s, &a, true, ida);
	add(s, &b, true, idb);
	state_is(s, ida, "superseded");
	T_OK(dtx_snippet_get(s, idb, &arena, &got, &err), &err);
	T_STR(got.supersedes, ida);
	T_STR(got.state_by, "etl");
	T_OK(dtx_snippet_code(s, got.code_hash, &code, &err), &err);
	T_STR(dtx_buf_text(&code), "two\n");
	/* a removed snippet may come back, a revoked one may not */
	T_OK(dtx_snippet_act(s, "", idb, DTX_SNIPPET_REMOVE, "etl", NULL, &err), &err);
	T_INT(ask(s, "f1:a", NULL, NULL, NULL), DTX_RUNG_NONE);
	T_OK(dtx_snippet_list(s, NULL, &arena, &list, &n, &err), &err);
	T_INT(n, 1);
	add(s, &b, true, again);
	T_STR(again, idb);
	state_is(s, idb, "approved");
	T_OK(dtx_snippet_act(s, "", idb, DTX_SNIPPET_REVOKE, "etl", "wrong", &err), &err);
	T_CODE(dtx_snippet_add(s, "", &b, again, &err), DTX_E_SNIPPET_REVOKED, &err);
	b.key.fingerprint = "f1:other";
	T_CODE(dtx_snippet_add(s, "", &b, again, &err), DTX_E_SNIPPET_REVOKED, &err);
	b.key.ns = "elsewhere";
	T_OK(dtx_snippet_add(s, "", &b, again, &err), &err);
	/* prefixes */
	again[5] = '\0';
	T_OK(dtx_snippet_get(s, again, &arena, &got, &err), &err);
	T_CODE(dtx_snippet_get(s, "abc", &arena, &got, &err), DTX_E_NO_RECORD, &err);
	T_CODE(dtx_snippet_get(s, "00000000", &arena, &got, &err), DTX_E_NO_RECORD, &err);
	T_CHECK(err.hint[0] != 0);
	T_OK(dtx_verify(s, &opts, &found, &err), &err);
	T_INT(json_array_size(found), 0);
	json_decref(found);
	dtx_buf_clear(&code);
	dtx_arena_clear(&arena);
	dtx_store_free(s);
}

void test_snippet_hits_and_fails(void)
{
	struct dtx_store *s = open_store();
	struct dtx_snippet_new a = make("f1:a", "one\n", NULL);
	struct dtx_run_info info = { .command = "run" };
	struct dtx_arena arena = DTX_ARENA_INIT;
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_record *r = NULL;
	struct dtx_snippet got;
	char id[DTX_SNIPPET_ID], run[DTX_RUN_ID];

	add(s, &a, true, id);
	dtx_run_id_new(run);
	info.run_id = run;
	T_OK(dtx_record_start(s, &info, &r, &err), &err);
	T_OK(dtx_record_event(r, "run.cache",
	                      json_pack("{s:s,s:s}", "outcome", "exact", "cell_id", id), &err),
	     &err);
	T_OK(dtx_record_event(r, "run.cache", json_pack("{s:s}", "outcome", "none"), &err), &err);
	T_OK(dtx_record_event(r, "attempt.end", json_pack("{s:s}", "cell_id", id), &err), &err);
	T_OK(dtx_snippet_get(s, id, &arena, &got, &err), &err);
	T_INT(got.hits, 1);
	T_INT(got.fails, 1);
	T_CHECK(got.last_hit_us > 0);
	dtx_record_free(r);
	dtx_arena_clear(&arena);
	dtx_store_free(s);
}

static enum dtx_code all_of_it(void)
{
	struct dtx_snippet_new a = make("f1:a", "one\n", NULL);
	struct dtx_snippet_ask q = { { "ns", "f1:a", "i1:x" }, NULL, NULL, false };
	struct dtx_arena arena = DTX_ARENA_INIT;
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_store *s = NULL;
	struct dtx_snippet got;
	enum dtx_rung rung;
	char id[DTX_SNIPPET_ID];
	enum dtx_code rc;

	DTX_TRY(dtx_store_open(":memory:", DTX_STORE_WRITE, &s, &err));
	DTX_TRY(dtx_snippet_add(s, "", &a, id, &err));
	DTX_TRY(dtx_snippet_act(s, "", id, DTX_SNIPPET_APPROVE, "etl", NULL, &err));
	DTX_TRY(dtx_snippet_resolve(s, &q, &arena, &got, &rung, &err));
out:
	dtx_arena_clear(&arena);
	dtx_store_free(s);
	return rc;
}

void test_snippet_alloc_fails(void)
{
	T_EVERY_ALLOC_FAILS(all_of_it());
}

/* An answer without a fence is the module itself: one body, stored under the kind that came
 * first. */
void test_snippet_code_is_answer(void)
{
	static const char code[] = "def transform(tables):\n    return tables\n";
	struct dtx_snippet_new n = make("s1:1", code, NULL);
	struct dtx_gc_opts opts = { .apply = true };
	struct dtx_run_info info = { .run_id = "0198f2c4-8d1e-7a41-9c11-5a5e70ecc9aa" };
	struct dtx_store *s = open_store();
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_record *r = NULL;
	struct dtx_arena arena = DTX_ARENA_INIT;
	struct dtx_snippet got;
	struct dtx_buf text = DTX_BUF_INIT(4096);
	char hash[DTX_SHA256_HEX], id[DTX_SNIPPET_ID];
	json_t *report = NULL;

	T_OK(dtx_record_start(s, &info, &r, &err), &err);
	T_OK(dtx_record_blob(r, "answer", dtx_str_of(code), hash, &err), &err);
	T_OK(dtx_record_event(r, "author.got",
	                      json_pack("{s:s, s:s}", "call_id", "c", "answer_hash", hash), &err),
	     &err);
	add(s, &n, true, id);
	T_OK(dtx_record_end(r, "ok", NULL, 0, NULL, &err), &err);
	dtx_record_free(r);
	T_OK(dtx_gc(s, &opts, &report, &err), &err);
	json_decref(report);
	T_OK(dtx_snippet_get(s, id, &arena, &got, &err), &err);
	T_OK(dtx_snippet_code(s, got.code_hash, &text, &err), &err);
	T_STR(dtx_buf_text(&text), code);
	dtx_buf_clear(&text);
	dtx_arena_clear(&arena);
	dtx_store_free(s);
}

static enum dtx_code purge_seen(void *arg, const struct dtx_event *e, struct dtx_err *err)
{
	(void)err;
	if (!strcmp(e->kind, "purge"))
		json_array_extend(arg, json_object_get(e->body, "hashes"));
	return DTX_OK;
}

static bool file_has(const char *path, const char *text)
{
	struct dtx_buf bytes = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	bool has = dtx_file_slurp(path, &bytes, NULL) == DTX_OK &&
	           dtx_str_find(dtx_buf_str(&bytes), dtx_str_of(text), 0) >= 0;

	dtx_buf_clear(&bytes);
	return has;
}

/* Bodies that gc drops leave no bytes in the file, and the ledger tells what they were. */
void test_snippet_gc_purges(void)
{
	struct dtx_snippet_new dead = make("s1:dead", "Kwyjibo = 1\n", NULL);
	struct dtx_snippet_new live = make("s1:live", "Zanzibar = 1\n", NULL);
	struct dtx_verify_opts opts = { 0 };
	struct dtx_arena arena = DTX_ARENA_INIT;
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_store *s = NULL;
	struct dtx_snippet *item;
	json_t *hashes = json_array(), *findings = NULL;
	char path[4096], wal[4200], id[DTX_SNIPPET_ID];
	size_t n;

	snprintf(path, sizeof(path), "%s/gc.db", t_dir());
	snprintf(wal, sizeof(wal), "%s-wal", path);
	T_OK(dtx_store_open(path, DTX_STORE_WRITE, &s, &err), &err);
	add(s, &dead, false, id);
	add(s, &live, true, id);
	T_CHECK(file_has(path, "Kwyjibo") || file_has(wal, "Kwyjibo"));
	T_OK(dtx_snippet_dead(s, INT64_MAX, false, "etl", &arena, &item, &n, &err), &err);
	T_INT(n, 1);
	T_OK(dtx_ledger_walk(dtx_store_db(s), 1, purge_seen, hashes, &err), &err);
	T_INT(json_array_size(hashes), 0);
	T_OK(dtx_snippet_dead(s, INT64_MAX, true, "etl", &arena, &item, &n, &err), &err);
	T_OK(dtx_ledger_walk(dtx_store_db(s), 1, purge_seen, hashes, &err), &err);
	T_INT(json_array_size(hashes), 1);
	T_CHECK(!file_has(path, "Kwyjibo") && !file_has(wal, "Kwyjibo"));
	T_CHECK(file_has(path, "Zanzibar"));
	T_OK(dtx_verify(s, &opts, &findings, &err), &err);
	T_INT(json_array_size(findings), 0);
	json_decref(findings);
	json_decref(hashes);
	dtx_arena_clear(&arena);
	dtx_store_free(s);
}
