/* The derived tables from the ledger alone. */
#include "core/store/rebuild.h"

#include "core/store/dbtable.h"
#include "core/store/derive.h"

static enum dtx_code rebuild_apply(void *arg, const struct dtx_event *event, struct dtx_err *err)
{
	return dtx_derive_apply(arg, event, err);
}

enum dtx_code dtx_rebuild(struct dtx_store *s, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_db *db = dtx_store_db(s);
	size_t i;

	DTX_TRY(dtx_db_begin(db, err));
	for (i = 0; i < DTX_TAB_COUNT; i++)
		DTX_TRY(dtx_db_empty(db, (enum dtx_sql_table)i, err));
	DTX_TRY(dtx_ledger_walk(db, 1, rebuild_apply, db, err));
	DTX_TRY(dtx_db_commit(db, err));
out:
	if (rc != DTX_OK)
		dtx_db_rollback(db);
	return rc;
}

enum dtx_code dtx_rebuild_compare(struct dtx_store *s, const char **table, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_db *live = dtx_store_db(s), *fresh = NULL;
	char want[65], got[65];
	size_t i;

	*table = NULL;
	DTX_TRY(dtx_db_create(":memory:", false, &fresh, err));
	DTX_TRY(dtx_ledger_walk(live, 1, rebuild_apply, fresh, err));
	for (i = 0; i < DTX_TAB_COUNT && !*table; i++) {
		DTX_TRY(dtx_db_digest(fresh, (enum dtx_sql_table)i, want, err));
		DTX_TRY(dtx_db_digest(live, (enum dtx_sql_table)i, got, err));
		if (strcmp(want, got))
			*table = dtx_dbtable_name((enum dtx_sql_table)i);
	}
out:
	dtx_db_close(fresh);
	return rc;
}
