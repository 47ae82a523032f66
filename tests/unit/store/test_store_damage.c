/* Stores that are damaged, in use, or cannot be made: what is reported. */
#include <errno.h>
#include <sqlite3.h>
#include <unistd.h>

#include "core/base/text/json.h"
#include "core/store/blob.h"
#include "core/store/ledger/ledger.h"
#include "core/store/query/query.h"
#include "core/store/cache/snippet.h"
#include "core/store/ledger/verify.h"
#include "tests/t.h"

static const char *store_path(void)
{
	static char path[200];

	snprintf(path, sizeof(path), "%s/store.db", t_dir());
	return path;
}

static struct dtx_store *store_open(void)
{
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_store *s = NULL;

	T_OK(dtx_store_open(store_path(), DTX_STORE_WRITE, &s, &err), &err);
	return s;
}

static void store_change(const char *sql)
{
	sqlite3 *db = NULL;

	T_INT(sqlite3_open(store_path(), &db), SQLITE_OK);
	T_INT(sqlite3_exec(db, "DROP TRIGGER IF EXISTS ledger_u", NULL, NULL, NULL), SQLITE_OK);
	T_INT(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

static enum dtx_code store_run(struct dtx_store *s, struct dtx_err *err)
{
	char word[] = "dtx", *argv[] = { word, NULL }, id[DTX_RUN_ID];
	struct dtx_run_info info = { .run_id = id, .command = "run", .argc = 1, .argv = argv };
	struct dtx_record *r = NULL;
	enum dtx_code rc = DTX_OK;

	dtx_run_id_new(id);
	DTX_TRY(dtx_record_start(s, &info, &r, err));
	DTX_TRY(dtx_record_end(r, "ok", NULL, 0, NULL, err));
out:
	dtx_record_free(r);
	return rc;
}

static void said(enum dtx_code got, enum dtx_code want, const char *says, struct dtx_err *err)
{
	T_CODE(got, want, err);
	if (!strstr(err->msg, says))
		t_fail(__FILE__, __LINE__, "'%s' lacks '%s'", err->msg, says);
	dtx_err_clear(err);
}

void test_store_damage_of_bytes(void)
{
	static const struct {
		const char *sql;
		enum dtx_code code;
		const char *says;
	} list[] = {
		{ "UPDATE blob SET enc='zz'", DTX_E_STORE_IO, "has the unknown encoding 'zz'" },
		{ "UPDATE blob SET enc='raw', data=x'00'", DTX_E_STORE_IO,
		  "does not match its hash" },
		{ "UPDATE blob SET purged_us=1", DTX_E_NO_RECORD, "were purged" },
		{ "DELETE FROM blob", DTX_E_NO_RECORD, "the store has no bytes with hash " },
	};
	struct dtx_store *s = store_open();
	struct dtx_db *db = dtx_store_db(s);
	struct dtx_buf got = DTX_BUF_INIT(1000);
	struct dtx_err err = DTX_ERR_INIT;
	char hash[DTX_SHA256_HEX];

	T_OK(dtx_blob_put(db, "code", DTX_STR("same"), hash, &err), &err);
	for (size_t i = 0; i < DTX_COUNT(list); i++) {
		store_change(list[i].sql);
		said(dtx_blob_get(db, hash, &got, &err), list[i].code, list[i].says, &err);
	}
	said(dtx_blob_put(db, "code", (struct dtx_str){ "", DTX_BLOB_MAX + 1 }, hash, &err),
	     DTX_E_STORE_IO, "code of 268435457 bytes is too large for the store", &err);
	dtx_buf_clear(&got);
	dtx_store_free(s);
}

void test_store_damage_of_runs(void)
{
	struct dtx_store *s = store_open();
	struct dtx_db *db = dtx_store_db(s);
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_found found;
	struct dtx_ledger_head head;

	T_OK(store_run(s, &err), &err);
	T_OK(store_run(s, &err), &err);
	store_change("UPDATE run SET run_id=rowid || '-00abcdef'");
	said(dtx_query_find(s, "abcdef", "/", NULL, NULL, &found, &err), DTX_E_NO_RECORD,
	     "several runs end with 'abcdef'", &err);
	said(dtx_ledger_walk_run(db, "zz", NULL, NULL, &err), DTX_E_NO_RECORD,
	     "the store has no run 'zz'", &err);
	store_change("UPDATE ledger SET hash=x'00'");
	said(dtx_ledger_head(db, &head, &err), DTX_E_STORE_IO, "the ledger's last hash has 1 byte",
	     &err);
	dtx_store_free(s);
}

void test_store_damage_of_snippets(void)
{
	struct dtx_snippet_new make = { .key = { "ns", "f", "i1:x" },
		                        .code = DTX_STR("x"),
		                        .contract_hash = "00",
		                        .op = "zap",
		                        .abi = "py3.11",
		                        .needs = "{}",
		                        .flags = "[]",
		                        .col_order = "{}",
		                        .origin = "supplied" };
	struct dtx_store *s = store_open();
	struct dtx_arena arena = DTX_ARENA_INIT;
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_snippet_call call;
	struct dtx_snippet got;
	char id[DTX_SNIPPET_ID];

	T_OK(dtx_snippet_add(s, "", &make, id, &err), &err);
	make.key.fingerprint = "g";
	make.code = DTX_STR("y");
	T_OK(dtx_snippet_add(s, "", &make, id, &err), &err);
	store_change("UPDATE pipeline_cell_provenance SET cell_id='abcd' || rowid");
	said(dtx_snippet_get(s, "abcd", &arena, &got, &err), DTX_E_NO_RECORD,
	     "several snippets begin with 'abcd'", &err);
	said(dtx_snippet_call(s, "c1", &arena, &call, &err), DTX_E_NO_RECORD,
	     "no author was asked for this snippet", &err);
	make.code.len = DTX_SNIPPET_CODE_MAX + 1;
	said(dtx_snippet_add(s, "", &make, id, &err), DTX_E_SNIPPET_SCREEN_DENIED,
	     "a snippet has at most 65536 bytes, got 65537", &err);
	dtx_arena_clear(&arena);
	dtx_store_free(s);
}

void test_store_damage_without_a_place(void)
{
	struct dtx_err err = DTX_ERR_INIT;
	char *path = NULL, *home = getenv("HOME"), *state = getenv("XDG_STATE_HOME"),
	     *named = getenv("DTX_STORE");

	home = home ? strdup(home) : NULL;
	state = state ? strdup(state) : NULL;
	named = named ? strdup(named) : NULL;
	unsetenv("HOME");
	unsetenv("XDG_STATE_HOME");
	unsetenv("DTX_STORE");
	said(dtx_store_resolve(NULL, &path, &err), DTX_E_STORE_IO, "HOME is not set", &err);
	T_CHECK(!path);
	if (home)
		setenv("HOME", home, 1);
	if (state)
		setenv("XDG_STATE_HOME", state, 1);
	if (named)
		setenv("DTX_STORE", named, 1);
	free(home);
	free(state);
	free(named);
}

/* Its folder is made, but the file, its name or its id cannot be. */
void test_store_damage_when_made(void)
{
	static const struct {
		const char *call;
		int error;
		const char *says;
	} list[] = {
		{ "open", EROFS, "cannot make '" },
		{ "link", EPERM, "cannot make '" },
		{ "getrandom", ENOSYS, "no random bytes for the store's id" },
	};

	for (size_t i = 0; i < DTX_COUNT(list); i++) {
		struct dtx_err err = DTX_ERR_INIT;
		struct dtx_store *s = NULL;
		bool told = false;

		for (int nth = 0; !told && nth < 20; nth++) {
			unlink(store_path());
			t_fail_call(list[i].call, nth, list[i].error);
			told = dtx_store_open(store_path(), DTX_STORE_WRITE, &s, &err) ==
			               DTX_E_STORE_IO &&
			       strstr(err.msg, list[i].says);
			t_failed_call();
			dtx_store_free(s);
			s = NULL;
		}
		T_CHECK(told);
		dtx_err_clear(&err);
	}
}

/* A store stays where it was, complete and with one name, if the new one cannot take its place. */
void test_store_damage_of_archive(void)
{
	struct dtx_store *s = store_open();
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_verify_opts opts = { .since = 0 };
	char to[200], head[DTX_HEAD_LINE];
	json_t *list = NULL;

	snprintf(to, sizeof(to), "%s/away.db", t_dir());
	T_OK(store_run(s, &err), &err);
	t_fail_call("rename", 0, EIO);
	said(dtx_store_archive(s, to, head, &err), DTX_E_STORE_IO, "/store.db': Input/output error",
	     &err);
	T_CHECK(t_failed_call());
	T_CHECK(access(to, F_OK) < 0);
	T_OK(store_run(s, &err), &err);
	T_OK(dtx_verify(s, &opts, &list, &err), &err);
	T_INT(json_array_size(list), 0);
	json_decref(list);
	T_CHECK(unlink(store_path()) == 0);
	said(dtx_store_archive(s, to, head, &err), DTX_E_STORE_IO,
	     "/store.db': No such file or directory", &err);
	T_CHECK(access(to, F_OK) < 0);
	dtx_store_free(s);
}

static int no_sleep(sqlite3_vfs *vfs, int us)
{
	(void)vfs;
	return us;
}

/* Another process holds it for longer than dtx waits; the waiting itself takes no time here. */
void test_store_damage_held(void)
{
	sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
	int (*sleep_as_before)(sqlite3_vfs *, int) = vfs->xSleep;
	struct dtx_store *s = store_open();
	struct dtx_err err = DTX_ERR_INIT;
	sqlite3 *db = NULL;

	T_INT(sqlite3_open(store_path(), &db), SQLITE_OK);
	T_INT(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
	vfs->xSleep = no_sleep;
	said(store_run(s, &err), DTX_E_STORE_BUSY, "store.db' is held by another process", &err);
	vfs->xSleep = sleep_as_before;
	T_INT(sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
	T_OK(store_run(s, &err), &err);
	sqlite3_close(db);
	dtx_store_free(s);
}
