/* Looks up the table of signatures: see hash_cache.h. */
#include "core/store/cache/hash_cache.h"

#include "core/store/db.h"

enum dtx_code dtx_hash_cache_find(struct dtx_store *s, const char *mark,
                                  char sha[DTX_IDENTITY_TEXT], char run_id[DTX_RUN_ID],
                                  struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_db *db = dtx_store_db(s);
	struct dtx_db_val val = dtx_db_text(mark);
	struct dtx_db_rows *rows = NULL;
	bool more = false;

	sha[0] = run_id[0] = '\0';
	DTX_TRY(dtx_db_query(db, DTX_SQL_SEEN, &val, 1, &rows, err));
	DTX_TRY(dtx_db_next(db, rows, &more, err));
	if (more) {
		dtx_str_copy(sha, DTX_IDENTITY_TEXT, dtx_db_get_bytes(rows, 0));
		dtx_str_copy(run_id, DTX_RUN_ID, dtx_db_get_bytes(rows, 1));
	}
out:
	dtx_db_done(rows);
	return rc;
}
