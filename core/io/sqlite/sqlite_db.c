/* A read-only SQLite connection to bytes in memory, and the settings of all connections. */
#include "core/io/sqlite/sqlite_db.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "core/base/text/str.h"
#include "core/base/thread/cancel.h"

/* The bytes that a row, a text or a blob may always have. A value that takes part in an expression
 * may be longer than a cell, and the function printf gives null instead of a longer text. */
enum { LENGTH_MIN = 256 << 20 };

/* Steps of SQLite's machine between two looks at the cancel flag. */
enum { LOOK_AFTER = 100000, SQL_MAX = 1 << 20 };

/* --- what SQL may do --- */

/* Functions whose result differs from run to run, or that reach out of the database. */
static bool function_refused(const char *name)
{
	static const char *const no[] = { "random",           "randomblob", "load_extension",
		                          "fts3_tokenizer",   "changes",    "total_changes",
		                          "last_insert_rowid" };

	for (size_t i = 0; i < DTX_COUNT(no); i++)
		if (name && !sqlite3_stricmp(name, no[i]))
			return true;
	return false;
}

static int authorize(void *arg, int action, const char *a, const char *b, const char *c,
                     const char *d)
{
	struct dtx_sqlite_db *db = arg;
	bool function = action == SQLITE_FUNCTION;

	(void)a;
	(void)c;
	(void)d;
	if (action == SQLITE_SELECT || action == SQLITE_READ || action == SQLITE_RECURSIVE ||
	    (function && !function_refused(b)))
		return SQLITE_OK;
	if (function)
		snprintf(db->refused, sizeof(db->refused), "the function %.60s()", b ? b : "");
	else
		snprintf(db->refused, sizeof(db->refused), "anything but SELECT");
	return SQLITE_DENY;
}

static int look(void *arg)
{
	(void)arg;
	return dtx_cancel_now() != 0;
}

/* --- errors --- */

static enum dtx_code db_fail(struct dtx_sqlite_db *db, int got, struct dtx_err *err)
{
	const char *why = db->sqlite ? sqlite3_errmsg(db->sqlite) : sqlite3_errstr(got);
	enum dtx_code rc = DTX_OK;

	switch (got & 0xff) {
	case SQLITE_NOMEM: DTX_FAIL_MEM(err);
	case SQLITE_INTERRUPT: DTX_TRY(dtx_cancel_look(err)); break;
	case SQLITE_TOOBIG:
		rc = dtx_archive_limits_fail(err, db->limits, "text",
		                             "'%s': a value or a row of over %d bytes", db->label,
		                             sqlite3_limit(db->sqlite, SQLITE_LIMIT_LENGTH, -1));
		goto out;
	case SQLITE_NOTADB:
	case SQLITE_CORRUPT:
	case SQLITE_IOERR:
	case SQLITE_CANTOPEN:
		DTX_FAIL_NEXT(err, DTX_E_CORRUPT_FILE,
		              "sqlite3 FILE 'PRAGMA integrity_check' says more; encrypted "
		              "databases are not read",
		              "'%s' is not a whole SQLite database: %s", db->label, why);
	default: break;
	}
	if (db->refused[0])
		DTX_FAIL_NEXT(err, DTX_E_BAD_PARAM_VALUE,
		              "a query is one SELECT that gives the same rows each time",
		              "'%s': a query may not use %s", db->label, db->refused);
	DTX_FAIL(err, DTX_E_BAD_PARAM_VALUE, "'%s': SQLite says: %s", db->label, why);
out:
	return rc;
}

/* --- the connection --- */

int dtx_sqlite_harden(sqlite3 *sqlite)
{
	static const struct {
		int what, value;
	} config[] = {
		/* functions and virtual tables with side effects in views of the file */
		{ SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0 },
		/* writes to shadow tables and the schema */
		{ SQLITE_DBCONFIG_DEFENSIVE, 1 },
		{ SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0 },
		{ SQLITE_DBCONFIG_ENABLE_TRIGGER, 0 },
		/* "name" that is no column is an error, not a text */
		{ SQLITE_DBCONFIG_DQS_DML, 0 },
	};
	int got = SQLITE_OK;

	for (size_t i = 0; i < DTX_COUNT(config) && got == SQLITE_OK; i++)
		got = sqlite3_db_config(sqlite, config[i].what, config[i].value, NULL);
	(void)sqlite3_limit(sqlite, SQLITE_LIMIT_ATTACHED, 0);
	(void)sqlite3_limit(sqlite, SQLITE_LIMIT_WORKER_THREADS, 0);
	sqlite3_progress_handler(sqlite, LOOK_AFTER, look, NULL);
	if (got == SQLITE_OK)
		got = sqlite3_exec(sqlite,
		                   "PRAGMA temp_store=MEMORY; PRAGMA cell_size_check=ON; "
		                   "PRAGMA mmap_size=0",
		                   NULL, NULL, NULL);
	return got;
}

/* The settings of a connection that reads. */
static int settle(sqlite3 *sqlite, const struct dtx_archive_limits *limits)
{
	uint64_t length = DTX_MIN(DTX_MAX(limits->text, (uint64_t)LENGTH_MIN), (uint64_t)INT_MAX);
	static const struct {
		int what, value;
	} limit[] = {
		{ SQLITE_LIMIT_SQL_LENGTH, SQL_MAX }, { SQLITE_LIMIT_VARIABLE_NUMBER, 0 },
		{ SQLITE_LIMIT_VDBE_OP, 250000 },     { SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1000 },
		{ SQLITE_LIMIT_TRIGGER_DEPTH, 1 },
	};
	int got = dtx_sqlite_harden(sqlite);

	for (size_t i = 0; i < DTX_COUNT(limit); i++)
		(void)sqlite3_limit(sqlite, limit[i].what, limit[i].value);
	(void)sqlite3_limit(sqlite, SQLITE_LIMIT_LENGTH, (int)length);
	if (got == SQLITE_OK)
		got = sqlite3_exec(sqlite, "PRAGMA query_only=ON", NULL, NULL, NULL);
	return got;
}

enum dtx_code dtx_sqlite_db_open(struct dtx_sqlite_db *db, const char *label,
                                 const struct dtx_archive_limits *limits, const void *bytes,
                                 size_t size, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int got;

	*db = (struct dtx_sqlite_db){ .label = label, .limits = limits };
	db->file = (struct dtx_sqlite_vfs){ .bytes = bytes, .size = size, .fd = -1 };
	got = dtx_sqlite_vfs_add(&db->file);
	if (got == SQLITE_OK)
		got = sqlite3_open_v2("input", &db->sqlite,
		                      SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX |
		                              SQLITE_OPEN_PRIVATECACHE,
		                      db->file.name);
	if (got == SQLITE_OK)
		got = settle(db->sqlite, limits);
	if (got != SQLITE_OK)
		DTX_TRY(db_fail(db, got, err));
	(void)sqlite3_set_authorizer(db->sqlite, authorize, db);
out:
	return rc;
}

void dtx_sqlite_db_close(struct dtx_sqlite_db *db)
{
	(void)sqlite3_close_v2(db->sqlite);
	dtx_sqlite_vfs_remove(&db->file);
	*db = (struct dtx_sqlite_db){ .label = NULL };
}

static bool is_blank(const char *sql)
{
	return !dtx_str_trim(dtx_str_of(sql)).len || !strcmp(sql, ";");
}

enum dtx_code dtx_sqlite_db_prepare(struct dtx_sqlite_db *db, const char *sql, sqlite3_stmt **out,
                                    struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	sqlite3_stmt *stmt = NULL;
	const char *rest = "";
	int got;

	db->refused[0] = '\0';
	got = sqlite3_prepare_v2(db->sqlite, sql, -1, &stmt, &rest);
	if (got != SQLITE_OK)
		DTX_TRY(db_fail(db, got, err));
	if (!stmt || !is_blank(rest))
		DTX_FAIL(err, DTX_E_BAD_PARAM_VALUE, "'%s': a query is one SELECT, not %s",
		         db->label, stmt ? "several statements" : "nothing");
	if (!sqlite3_stmt_readonly(stmt) || !sqlite3_column_count(stmt))
		DTX_FAIL(err, DTX_E_BAD_PARAM_VALUE, "'%s': a query is one SELECT", db->label);
	*out = stmt;
	stmt = NULL;
out:
	(void)sqlite3_finalize(stmt);
	return rc;
}

enum dtx_code dtx_sqlite_db_step(struct dtx_sqlite_db *db, sqlite3_stmt *stmt, bool *row,
                                 struct dtx_err *err)
{
	int got = sqlite3_step(stmt);
	enum dtx_code rc = DTX_OK;

	*row = got == SQLITE_ROW;
	if (got != SQLITE_ROW && got != SQLITE_DONE)
		DTX_TRY(db_fail(db, got, err));
	if (db->file.asked_time)
		DTX_FAIL_NEXT(err, DTX_E_BAD_PARAM_VALUE,
		              "select the times, and compare them with run_date() in a step",
		              "'%s': a query may not ask what time it is now", db->label);
out:
	return rc;
}
