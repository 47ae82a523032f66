/* Finds and removes snippets that are no longer needed; looks up what an author was asked for
 * one. */
#include "core/store/cache/snippet_gc.h"

#include "core/base/log.h"
#include "core/store/ledger/ledger.h"

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
