/* Leases by key: see lease.h. */
#include "core/store/ledger/lease.h"

#include "core/base/log.h"
#include "core/store/db.h"
#include "core/store/ledger/process.h"

/* Call it inside of a transaction. */
static enum dtx_code lease_free(struct dtx_db *db, const char *key, const char *run_id,
                                const struct dtx_process *self, bool *free, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_db_val val = dtx_db_text(key);
	struct dtx_db_rows *rows = NULL;
	struct dtx_process owner = { .pid = 0 };
	const char *host;
	bool found = false;

	DTX_TRY(dtx_db_query(db, DTX_SQL_LEASE_OWNER, &val, 1, &rows, err));
	DTX_TRY(dtx_db_next(db, rows, &found, err));
	*free = !found;
	if (!found)
		goto out;
	owner.pid = dtx_db_get_int(rows, 0);
	dtx_str_copy(owner.boot, sizeof(owner.boot), dtx_db_get_bytes(rows, 1));
	owner.start = dtx_db_get_int(rows, 2);
	host = dtx_db_get_text(rows, 3);
	dtx_str_copy(owner.host, sizeof(owner.host), dtx_str_of(host ? host : self->host));
	*free = !strcmp(dtx_db_get_text(rows, 4), run_id) || !dtx_process_alive(&owner, self);
out:
	dtx_db_done(rows);
	return rc;
}

enum dtx_code dtx_lease_claim(struct dtx_store *s, const char *key, const char *run_id, bool *ours,
                              struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_db *db = dtx_store_db(s);
	struct dtx_process self;
	struct dtx_db_val val[5];

	dtx_process_self(&self);
	val[0] = dtx_db_text(key);
	val[1] = dtx_db_text(run_id);
	val[2] = DTX_DBI(self.pid);
	val[3] = dtx_db_text(self.boot);
	val[4] = DTX_DBI(self.start);
	DTX_TRY(dtx_db_begin(db, err));
	DTX_TRY(lease_free(db, key, run_id, &self, ours, err));
	if (*ours)
		DTX_TRY(dtx_db_run(db, DTX_SQL_LEASE_PUT, val, DTX_COUNT(val), err));
	DTX_TRY(dtx_db_commit(db, err));
out:
	if (rc != DTX_OK)
		dtx_db_rollback(db);
	return rc;
}

enum dtx_code dtx_lease_drop(struct dtx_store *s, const char *key, const char *run_id,
                             struct dtx_err *err)
{
	struct dtx_db_val val[2] = { dtx_db_text(key), dtx_db_text(run_id) };

	return dtx_db_run(dtx_store_db(s), DTX_SQL_LEASE_END, val, DTX_COUNT(val), err);
}

/* Such a lease belongs to no process.  until_us is the time from which the message may be
 * repeated. */
enum dtx_code dtx_lease_once(struct dtx_store *s, const char *key, const char *run_id, int64_t us,
                             bool *first, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_db *db = dtx_store_db(s);
	int64_t now = dtx_wall_us(), until = 0;
	struct dtx_db_val val[] = { dtx_db_text(key), dtx_db_text(run_id), DTX_DBI(0),
		                    dtx_db_text(""), DTX_DBI(now + us) };
	struct dtx_db_rows *rows = NULL;
	bool found;

	DTX_TRY(dtx_db_begin(db, err));
	DTX_TRY(dtx_db_query(db, DTX_SQL_LEASE_OWNER, val, 1, &rows, err));
	DTX_TRY(dtx_db_next(db, rows, &found, err));
	if (found)
		until = dtx_db_get_int(rows, 2);
	dtx_db_done(rows);
	rows = NULL;
	/* a clock that was set back must not suppress the message for long */
	*first = until <= now || until > now + us;
	if (*first)
		DTX_TRY(dtx_db_run(db, DTX_SQL_LEASE_PUT, val, DTX_COUNT(val), err));
	DTX_TRY(dtx_db_commit(db, err));
out:
	dtx_db_done(rows);
	if (rc != DTX_OK)
		dtx_db_rollback(db);
	return rc;
}
