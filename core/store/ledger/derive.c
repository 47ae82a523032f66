/* Derives the rows of the other tables from an event. */
#include "core/store/ledger/derive.h"

typedef enum dtx_code (*derive_fn)(struct dtx_db *db, const struct dtx_event *e,
                                   struct dtx_err *err);

/* --- runs --- */

static enum dtx_code derive_run_start(struct dtx_db *db, const struct dtx_event *e,
                                      struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	json_t *fixed =
		json_pack("{s:s, s:I}", "run_id", e->run_id, "seq_start", (json_int_t)e->seq);

	if (!fixed)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_db_insert(db, DTX_TAB_RUN, false, e->body, fixed, err));
out:
	json_decref(fixed);
	return rc;
}

/* Details of a run: members of run.output and run.end that are lists, with one row per item. */
static const struct {
	const char *member;
	enum dtx_sql_table table;
} derive_parts[] = {
	{ "outputs", DTX_TAB_OUTPUT }, { "inputs", DTX_TAB_INPUT }, { "steps", DTX_TAB_STEP },
	{ "regions", DTX_TAB_REGION }, { "checks", DTX_TAB_CHECK }, { "lineage", DTX_TAB_LINEAGE },
};

/* Remembers the identities that this run computed itself: `sha_run` names the run from which a hash
 * was taken over, and a file that was changed just now has no `mark`.  Of several kinds of identity
 * the last one counts. */
static enum dtx_code derive_seen(struct dtx_db *db, const struct dtx_event *e, const json_t *fixed,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	json_t *row;
	size_t i;

	json_array_foreach(json_object_get(e->body, "inputs"), i, row)
	{
		if (json_object_get(row, "mark") && !json_object_get(row, "sha_run"))
			DTX_TRY(dtx_db_insert(db, DTX_TAB_SEEN, false, row, fixed, err));
	}
out:
	return rc;
}

static enum dtx_code derive_parts_rows(struct dtx_db *db, const struct dtx_event *e,
                                       struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	json_t *fixed = json_pack("{s:s}", "run_id", e->run_id), *row;
	size_t i, k;

	if (!fixed)
		DTX_FAIL_MEM(err);
	for (i = 0; i < DTX_COUNT(derive_parts); i++) {
		json_array_foreach(json_object_get(e->body, derive_parts[i].member), k, row)
		{
			DTX_TRY(dtx_db_cancel_row(k, err));
			DTX_TRY(dtx_db_insert(db, derive_parts[i].table, false, row, fixed, err));
		}
	}
	DTX_TRY(derive_seen(db, e, fixed, err));
out:
	json_decref(fixed);
	return rc;
}

static enum dtx_code derive_run_end(struct dtx_db *db, const struct dtx_event *e,
                                    struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_db_val val[7];

	DTX_TRY(derive_parts_rows(db, e, err));
	val[0] = dtx_db_text(e->run_id);
	val[1] = dtx_db_text(dtx_json_text(e->body, "status", NULL));
	val[2] = dtx_db_text(dtx_json_text(e->body, "code", NULL));
	val[3] = (struct dtx_db_val){ DTX_DB_NULL, 0, { NULL, 0 } };
	if (json_is_integer(json_object_get(e->body, "exit")))
		val[3] = DTX_DBI(dtx_json_int(e->body, "exit", 0));
	val[4] = DTX_DBI(dtx_json_int(e->body, "end_us", e->ts_us));
	val[5] = dtx_db_text(dtx_json_text(e->body, "path", NULL));
	val[6] = DTX_DBI(e->seq);
	DTX_TRY(dtx_db_run(db, DTX_SQL_RUN_END, val, DTX_COUNT(val), err));
out:
	return rc;
}

static enum dtx_code derive_author(struct dtx_db *db, const struct dtx_event *e,
                                   struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	json_t *fixed = json_pack("{s:s}", "run_id", e->run_id);

	if (!fixed)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_db_insert(db, DTX_TAB_AUTHOR, false, e->body, fixed, err));
out:
	json_decref(fixed);
	return rc;
}

/* --- snippets --- */

static enum dtx_code derive_cell_touch(struct dtx_db *db, const struct dtx_event *e,
                                       enum dtx_sql sql, size_t nvals, struct dtx_err *err)
{
	const char *id = dtx_json_text(e->body, "cell_id", NULL);
	struct dtx_db_val val[2] = { dtx_db_text(id), DTX_DBI(e->ts_us) };

	return id ? dtx_db_run(db, sql, val, nvals, err) : DTX_OK;
}

static enum dtx_code derive_cache(struct dtx_db *db, const struct dtx_event *e, struct dtx_err *err)
{
	const char *outcome = dtx_json_text(e->body, "outcome", "");

	if (strcmp(outcome, "exact") && strcmp(outcome, "compatible"))
		return DTX_OK;
	return derive_cell_touch(db, e, DTX_SQL_CELL_HIT, 2, err);
}

static enum dtx_code derive_attempt(struct dtx_db *db, const struct dtx_event *e,
                                    struct dtx_err *err)
{
	return derive_cell_touch(db, e, DTX_SQL_CELL_MISS, 1, err);
}

/* Updates what is known about code that is added again: after its removal, or from here after an
 * import. */
static enum dtx_code derive_renew(struct dtx_db *db, const struct dtx_event *e, struct dtx_err *err)
{
	static const char *const member[] = { "contract_hash", "op",     "abi",
		                              "needs",         "flags",  "col_order",
		                              "formulas",      "origin", "call_id" };
	struct dtx_db_val val[2 + DTX_COUNT(member)] = {
		dtx_db_text(dtx_json_text(e->body, "cell_id", NULL)), DTX_DBI(e->ts_us)
	};

	for (size_t i = 0; i < DTX_COUNT(member); i++)
		val[2 + i] = dtx_db_text(dtx_json_text(e->body, member[i], NULL));
	return dtx_db_run(db, DTX_SQL_CELL_RENEW, val, DTX_COUNT(val), err);
}

static enum dtx_code derive_candidate(struct dtx_db *db, const struct dtx_event *e,
                                      struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	json_t *fixed = json_pack("{s:s, s:I, s:i, s:i}", "state", "candidate", "state_us",
	                          (json_int_t)e->ts_us, "hits", 0, "fails", 0);

	if (!fixed)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_db_insert(db, DTX_TAB_CELL, true, e->body, fixed, err));
	DTX_TRY(derive_renew(db, e, err));
out:
	json_decref(fixed);
	return rc;
}

static enum dtx_code derive_state(struct dtx_db *db, const struct dtx_event *e, const char *id,
                                  const char *state, const char *supersedes, struct dtx_err *err)
{
	struct dtx_db_val val[6];

	val[0] = dtx_db_text(id);
	val[1] = dtx_db_text(state);
	val[2] = DTX_DBI(e->ts_us);
	val[3] = dtx_db_text(dtx_json_text(e->body, "by", NULL));
	val[4] = dtx_db_text(dtx_json_text(e->body, "note", NULL));
	val[5] = dtx_db_text(supersedes);
	return dtx_db_run(db, DTX_SQL_CELL_STATE, val, DTX_COUNT(val), err);
}

static enum dtx_code derive_pending(struct dtx_db *db, const struct dtx_event *e,
                                    struct dtx_err *err)
{
	return derive_state(db, e, dtx_json_text(e->body, "cell_id", ""), "pending", NULL, err);
}

/* The snippet that was approved under this key so far is superseded first, because a key has only
 * one live snippet. */
static enum dtx_code derive_approved(struct dtx_db *db, const struct dtx_event *e,
                                     struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const char *id = dtx_json_text(e->body, "cell_id", "");
	struct dtx_db_val val = dtx_db_text(id);
	struct dtx_db_rows *rows = NULL;
	char old[32] = "";
	bool more = false;

	DTX_TRY(dtx_db_query(db, DTX_SQL_CELL_LIVE, &val, 1, &rows, err));
	DTX_TRY(dtx_db_next(db, rows, &more, err));
	if (more)
		dtx_str_copy(old, sizeof(old), dtx_db_get_bytes(rows, 0));
	dtx_db_done(rows);
	rows = NULL;
	if (old[0])
		DTX_TRY(derive_state(db, e, old, "superseded", NULL, err));
	DTX_TRY(derive_state(db, e, id, "approved", old[0] ? old : NULL, err));
out:
	dtx_db_done(rows);
	return rc;
}

static enum dtx_code derive_revoked(struct dtx_db *db, const struct dtx_event *e,
                                    struct dtx_err *err)
{
	bool refuse = dtx_json_bool(e->body, "refuse", true);

	return derive_state(db, e, dtx_json_text(e->body, "cell_id", ""),
	                    refuse ? "revoked" : "removed", NULL, err);
}

static const struct {
	const char *kind;
	derive_fn fn;
} derive_kinds[] = {
	{ "run.start", derive_run_start },         { "run.cache", derive_cache },
	{ "run.output", derive_parts_rows },       { "run.end", derive_run_end },
	{ "attempt.end", derive_attempt },         { "author.got", derive_author },
	{ "snippet.candidate", derive_candidate }, { "snippet.pending", derive_pending },
	{ "snippet.approved", derive_approved },   { "snippet.revoked", derive_revoked },
};

enum dtx_code dtx_derive_apply(struct dtx_db *db, const struct dtx_event *event,
                               struct dtx_err *err)
{
	size_t i;

	for (i = 0; i < DTX_COUNT(derive_kinds); i++) {
		if (!strcmp(derive_kinds[i].kind, event->kind))
			return derive_kinds[i].fn(db, event, err);
	}
	return DTX_OK;
}
