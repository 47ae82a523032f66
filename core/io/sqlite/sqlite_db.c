/* A read-only SQLite connection to bytes in memory, see sqlite_db.h. */
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

/* --- the file: a VFS that has one file, the bytes in memory --- */

struct image {
	sqlite3_file head;
	const struct dtx_sqlite_db *db;
};

static int image_close(sqlite3_file *f)
{
	(void)f;
	return SQLITE_OK;
}

static int image_read(sqlite3_file *f, void *to, int n, sqlite3_int64 at)
{
	const struct dtx_sqlite_db *db = ((struct image *)f)->db;
	size_t want = (size_t)n, from = (size_t)at, have;

	have = at < 0 || from > db->size ? 0 : DTX_MIN(want, db->size - from);
	if (have)
		memcpy(to, (const char *)db->bytes + from, have);
	if (have == want)
		return SQLITE_OK;
	memset((char *)to + have, 0, want - have);
	return SQLITE_IOERR_SHORT_READ;
}

static int image_write(sqlite3_file *f, const void *from, int n, sqlite3_int64 at)
{
	(void)f;
	(void)from;
	(void)n;
	(void)at;
	return SQLITE_READONLY;
}

static int image_truncate(sqlite3_file *f, sqlite3_int64 size)
{
	(void)f;
	(void)size;
	return SQLITE_READONLY;
}

static int image_ignore(sqlite3_file *f, int flags)
{
	(void)f;
	(void)flags;
	return SQLITE_OK;
}

static int image_size(sqlite3_file *f, sqlite3_int64 *size)
{
	*size = (sqlite3_int64)((struct image *)f)->db->size;
	return SQLITE_OK;
}

static int image_no(sqlite3_file *f, int *out)
{
	(void)f;
	*out = 0;
	return SQLITE_OK;
}

static int image_control(sqlite3_file *f, int op, void *arg)
{
	(void)f;
	(void)op;
	(void)arg;
	return SQLITE_NOTFOUND;
}

static int image_sector(sqlite3_file *f)
{
	(void)f;
	return 4096;
}

/* The bytes do not change, so SQLite looks for no lock, no journal and no log. */
static int image_device(sqlite3_file *f)
{
	(void)f;
	return SQLITE_IOCAP_IMMUTABLE;
}

static int image_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *f, int flags, int *got)
{
	static const sqlite3_io_methods methods = {
		.iVersion = 1,
		.xClose = image_close,
		.xRead = image_read,
		.xWrite = image_write,
		.xTruncate = image_truncate,
		.xSync = image_ignore,
		.xFileSize = image_size,
		.xLock = image_ignore,
		.xUnlock = image_ignore,
		.xCheckReservedLock = image_no,
		.xFileControl = image_control,
		.xSectorSize = image_sector,
		.xDeviceCharacteristics = image_device,
	};
	struct image *m = (struct image *)f;

	(void)name;
	m->head.pMethods = NULL;
	/* temporary files are not needed: temp_store says memory */
	if (!(flags & SQLITE_OPEN_MAIN_DB))
		return SQLITE_CANTOPEN;
	m->head.pMethods = &methods;
	m->db = vfs->pAppData;
	if (got)
		*got = SQLITE_OPEN_READONLY;
	return SQLITE_OK;
}

static int image_delete(sqlite3_vfs *vfs, const char *name, int sync)
{
	(void)vfs;
	(void)name;
	(void)sync;
	return SQLITE_READONLY;
}

static int image_access(sqlite3_vfs *vfs, const char *name, int flags, int *out)
{
	(void)vfs;
	(void)name;
	(void)flags;
	*out = 0;
	return SQLITE_OK;
}

static int image_path(sqlite3_vfs *vfs, const char *name, int n, char *out)
{
	(void)vfs;
	snprintf(out, (size_t)n, "%s", name);
	return SQLITE_OK;
}

static int image_random(sqlite3_vfs *vfs, int n, char *out)
{
	(void)vfs;
	memset(out, 0, (size_t)n);
	return n;
}

static int image_sleep(sqlite3_vfs *vfs, int us)
{
	(void)vfs;
	return us;
}

/* The result of a run must not depend on when it ran, or a replay differs. */
static int image_time(sqlite3_vfs *vfs, double *out)
{
	((struct dtx_sqlite_db *)vfs->pAppData)->asked_time = true;
	*out = 0;
	return SQLITE_ERROR;
}

static int image_last(sqlite3_vfs *vfs, int n, char *out)
{
	(void)vfs;
	(void)n;
	(void)out;
	return 0;
}

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

/* Settings before any SQL runs; each says what it stops. */
static int settle(sqlite3 *sqlite, const struct dtx_archive_limits *limits)
{
	uint64_t length = DTX_MIN(DTX_MAX(limits->text, (uint64_t)LENGTH_MIN), (uint64_t)INT_MAX);
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
	static const struct {
		int what, value;
	} limit[] = {
		{ SQLITE_LIMIT_SQL_LENGTH, SQL_MAX },       { SQLITE_LIMIT_ATTACHED, 0 },
		{ SQLITE_LIMIT_VARIABLE_NUMBER, 0 },        { SQLITE_LIMIT_VDBE_OP, 250000 },
		{ SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1000 }, { SQLITE_LIMIT_TRIGGER_DEPTH, 1 },
		{ SQLITE_LIMIT_WORKER_THREADS, 0 },
	};
	int got = SQLITE_OK;

	for (size_t i = 0; i < DTX_COUNT(config) && got == SQLITE_OK; i++)
		got = sqlite3_db_config(sqlite, config[i].what, config[i].value, NULL);
	for (size_t i = 0; i < DTX_COUNT(limit); i++)
		(void)sqlite3_limit(sqlite, limit[i].what, limit[i].value);
	(void)sqlite3_limit(sqlite, SQLITE_LIMIT_LENGTH, (int)length);
	if (got == SQLITE_OK)
		got = sqlite3_exec(sqlite,
		                   "PRAGMA temp_store=MEMORY; PRAGMA cell_size_check=ON; "
		                   "PRAGMA mmap_size=0; PRAGMA query_only=ON",
		                   NULL, NULL, NULL);
	return got;
}

enum dtx_code dtx_sqlite_db_open(struct dtx_sqlite_db *db, const char *label,
                                 const struct dtx_archive_limits *limits, const void *bytes,
                                 size_t size, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int got;

	*db = (struct dtx_sqlite_db){
		.label = label, .limits = limits, .bytes = bytes, .size = size
	};
	/* one per connection, as it holds the bytes */
	snprintf(db->name, sizeof(db->name), "dtx-%p", (void *)db);
	db->vfs = (sqlite3_vfs){
		.iVersion = 1,
		.szOsFile = sizeof(struct image),
		.mxPathname = 64,
		.zName = db->name,
		.pAppData = db,
		.xOpen = image_open,
		.xDelete = image_delete,
		.xAccess = image_access,
		.xFullPathname = image_path,
		.xRandomness = image_random,
		.xSleep = image_sleep,
		.xCurrentTime = image_time,
		.xGetLastError = image_last,
	};
	got = sqlite3_vfs_register(&db->vfs, 0);
	if (got == SQLITE_OK)
		got = sqlite3_open_v2("input", &db->sqlite,
		                      SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX |
		                              SQLITE_OPEN_PRIVATECACHE,
		                      db->name);
	if (got == SQLITE_OK)
		got = settle(db->sqlite, limits);
	if (got != SQLITE_OK)
		DTX_TRY(db_fail(db, got, err));
	sqlite3_progress_handler(db->sqlite, LOOK_AFTER, look, NULL);
	(void)sqlite3_set_authorizer(db->sqlite, authorize, db);
out:
	return rc;
}

void dtx_sqlite_db_close(struct dtx_sqlite_db *db)
{
	(void)sqlite3_close_v2(db->sqlite);
	if (db->vfs.zName)
		(void)sqlite3_vfs_unregister(&db->vfs);
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
	if (db->asked_time)
		DTX_FAIL_NEXT(err, DTX_E_BAD_PARAM_VALUE,
		              "select the times, and compare them with run_date() in a step",
		              "'%s': a query may not ask what time it is now", db->label);
out:
	return rc;
}
