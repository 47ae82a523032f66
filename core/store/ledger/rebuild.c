/* Rebuilds the derived tables from the ledger: see rebuild.h. */
#include "core/store/ledger/rebuild.h"

#include <string.h>

#include "core/store/dbtable.h"
#include "core/store/ledger/derive.h"

static enum dtx_code rebuild_apply(void *arg, const struct dtx_event *event, struct dtx_err *err)
{
	return dtx_derive_apply(arg, event, err);
}

enum dtx_code dtx_rebuild(struct dtx_store *s, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_db *db = dtx_store_db(s);

	DTX_TRY(dtx_db_begin(db, err));
	DTX_TRY(dtx_db_remake(db, err));
	DTX_TRY(dtx_ledger_walk(db, 1, rebuild_apply, db, err));
	DTX_TRY(dtx_db_commit(db, err));
out:
	if (rc != DTX_OK)
		dtx_db_rollback(db);
	return rc;
}

/* --- definitions --- */

/* A text may no longer be UTF-8 if one of its bytes was changed. */
static json_t *rebuild_bytes(const char *text)
{
	return text ? json_string_nocheck(text) : NULL;
}

/* {"table run": {"of": "run", "sql": "CREATE ..."}}, from sqlite_schema. */
static enum dtx_code rebuild_schema(struct dtx_db *db, json_t **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_db_rows *rows = NULL;
	json_t *schema = json_object(), *one;
	struct dtx_buf key = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	bool more;

	if (!schema)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_db_query(db, DTX_SQL_SCHEMA, NULL, 0, &rows, err));
	for (;;) {
		const char *text[4];

		DTX_TRY(dtx_db_next(db, rows, &more, err));
		if (!more)
			break;
		for (int i = 0; i < 4; i++)
			text[i] = dtx_db_get_text(rows, i);
		dtx_buf_reset(&key);
		dtx_buf_printf(&key, "%s %s", text[0] ? text[0] : "", text[1] ? text[1] : "");
		DTX_TRY(dtx_buf_check(&key, "schema", err));
		one = json_pack("{so? so?}", "of", rebuild_bytes(text[2]), "sql",
		                rebuild_bytes(text[3]));
		if (!one || json_object_set_new_nocheck(schema, dtx_buf_text(&key), one) < 0)
			DTX_FAIL_MEM(err);
	}
	*out = schema;
	schema = NULL;
out:
	dtx_db_done(rows);
	dtx_buf_clear(&key);
	json_decref(schema);
	return rc;
}

static enum dtx_code rebuild_says(json_t *findings, const char *name, const char *text,
                                  struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	json_t *shown = dtx_json_ascii(name);

	if (json_array_append_new(
		    findings,
		    json_pack("{ss sO so}", "finding", "schema_differs", "name", shown, "text",
	                      json_sprintf("%s %s", json_string_value(shown), text))) < 0)
		DTX_FAIL_MEM(err);
out:
	json_decref(shown);
	return rc;
}

static enum dtx_code rebuild_definitions(struct dtx_db *want, struct dtx_db *got, json_t *findings,
                                         struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	json_t *should = NULL, *is = NULL, *one;
	const char *key;

	DTX_TRY(rebuild_schema(want, &should, err));
	DTX_TRY(rebuild_schema(got, &is, err));
	json_object_foreach(should, key, one)
	{
		const json_t *other = json_object_get(is, key);

		if (!other && !strcmp(key, "index ledger_snippet"))
			continue; /* a store that is only read may be from an older version */
		if (!other)
			DTX_TRY(rebuild_says(findings, key, "is missing", err));
		else if (!json_equal(one, other))
			DTX_TRY(rebuild_says(findings, key, "is not defined as dtx defines it",
			                     err));
	}
	json_object_foreach(is, key, one)
	{
		if (!json_object_get(should, key))
			DTX_TRY(rebuild_says(findings, key, "is not one that dtx makes", err));
	}
out:
	json_decref(should);
	json_decref(is);
	return rc;
}

/* --- rows --- */

static enum dtx_code rebuild_table(struct dtx_db *want, struct dtx_db *got,
                                   enum dtx_sql_table table, const char *run_id, json_t *findings,
                                   struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_buf said = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);

	DTX_TRY(dtx_db_compare(want, got, table, run_id, &said, err));
	if (said.len &&
	    json_array_append_new(findings,
	                          json_pack("{ss ss so}", "finding", "index_differs", "table",
	                                    dtx_dbtable_name(table), "text",
	                                    json_sprintf("this table is not what the ledger says: "
	                                                 "%s",
	                                                 dtx_buf_text(&said)))) < 0)
		DTX_FAIL_MEM(err);
out:
	dtx_buf_clear(&said);
	return rc;
}

static bool rebuild_is_named(const json_t *findings, enum dtx_sql_table table)
{
	const char *name = dtx_dbtable_name(table);
	json_t *one;
	size_t i;

	json_array_foreach((json_t *)(uintptr_t)findings, i, one)
	{
		const char *of = dtx_json_text(one, "name", "");

		if (!strncmp(of, "table ", 6) && !strcmp(of + 6, name))
			return true;
	}
	return false;
}

enum dtx_code dtx_rebuild_definitions(struct dtx_store *s, json_t *findings, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_db *fresh = NULL;

	DTX_TRY(dtx_db_create(":memory:", false, &fresh, err));
	DTX_TRY(rebuild_definitions(fresh, dtx_store_db(s), findings, err));
out:
	dtx_db_close(fresh);
	return rc;
}

enum dtx_code dtx_rebuild_compare(struct dtx_store *s, json_t *findings, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_db *live = dtx_store_db(s), *fresh = NULL;

	DTX_TRY(dtx_db_create(":memory:", false, &fresh, err));
	DTX_TRY(dtx_ledger_walk(live, 1, rebuild_apply, fresh, err));
	for (size_t i = 0; i < DTX_TAB_COUNT; i++) {
		/* a table with other columns was reported already */
		if (!rebuild_is_named(findings, (enum dtx_sql_table)i))
			DTX_TRY(rebuild_table(fresh, live, (enum dtx_sql_table)i, NULL, findings,
			                      err));
	}
out:
	dtx_db_close(fresh);
	return rc;
}

static bool rebuild_has_run(enum dtx_sql_table table)
{
	struct dtx_dbtable_column column[DTX_DBTABLE_COLUMNS];
	size_t n = dtx_dbtable_columns(table, column);

	for (size_t i = 0; i < n; i++) {
		if (!strcmp(column[i].name, "run_id"))
			return true;
	}
	return false;
}

enum dtx_code dtx_rebuild_compare_run(struct dtx_store *s, struct dtx_db *fresh, const char *run_id,
                                      json_t *findings, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_db *live = dtx_store_db(s);

	DTX_TRY(rebuild_definitions(fresh, live, findings, err));
	for (size_t i = 0; i < DTX_TAB_COUNT && !json_array_size(findings); i++) {
		enum dtx_sql_table table = (enum dtx_sql_table)i;

		if (table != DTX_TAB_SEEN && rebuild_has_run(table))
			DTX_TRY(rebuild_table(fresh, live, table, run_id, findings, err));
	}
out:
	return rc;
}
