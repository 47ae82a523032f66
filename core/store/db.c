/* The connection to SQLite.  Statements are prepared when they are first needed and kept until the
 * connection is closed. */
#include "core/store/db.h"

#include <sqlite3.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/base/thread/cancel.h"
#include "core/base/hash/hash.h"
#include "core/base/file.h"
#include "core/base/memory/mem.h"
#include "core/store/dbtable.h"
#include "core/store/readonly_db.h"

#define DB_BUSY_MS    10000
#define DB_BUSY_TRIES 3
#define DB_LOG_PAGES  256
#define DB_INSERTS    (2 * DTX_TAB_COUNT)

struct dtx_db {
	sqlite3 *sqlite;
	bool in_transaction;
	bool waits;     /* commits wait until the data is on disk */
	char path[256]; /* for messages */
	sqlite3_stmt *stmt[DTX_SQL_COUNT];
	sqlite3_stmt *insert[DB_INSERTS];
};

static const char *const db_sql[] = {
#define X(symbol, text) text,
	DTX_SQL_STATEMENTS(X)
#undef X
};

/* --- writing can be cancelled --- */

/* Whether the transaction of this thread ends when its work is cancelled. */
static _Thread_local bool db_may_end;

/* SQLite has no hook within a statement that writes one large value, so a write is made to fail.
 * SQLite then undoes the transaction, as on a disk that fails. */
static ssize_t db_write(int fd, const void *bytes, size_t n, off_t at)
{
	if (db_may_end && dtx_cancel_now()) {
		errno = ECANCELED;
		return -1;
	}
	return pwrite(fd, bytes, n, at);
}

/* --- a run waits for the disk once --- */

static bool db_is_log(const char *path)
{
	return dtx_str_ends(dtx_str_of(path), DTX_STR("-wal"));
}

/* The first time that a connection makes a log durable, SQLite also waits until the log's name in
 * its folder is: the log may be new. That wait costs as much as the first one, and every run is a
 * connection. So it is done here, and only for a log that is empty: whoever writes its first byte
 * has waited before, and a log that has bytes has a name on disk. */
static int db_open_file(const char *path, int flags, int mode)
{
	int fd = open(path, flags, mode);
	struct stat st;

	if (fd >= 0 && (flags & O_CREAT) && db_is_log(path) && !fstat(fd, &st) && !st.st_size &&
	    dtx_file_sync_dir(path, NULL) != DTX_OK)
		errno = 0; /* SQLite does not report it either */
	return fd;
}

/* Says of a log that its folder cannot be opened, after which SQLite goes on without that wait. */
static int db_open_folder(const char *path, int *fd)
{
	char dir[PATH_MAX];

	if (db_is_log(path))
		return SQLITE_CANTOPEN;
	dtx_file_dirname(path, dir, sizeof(dir));
	*fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return *fd >= 0 ? SQLITE_OK : SQLITE_CANTOPEN;
}

static void db_set_calls(void)
{
	static const struct {
		const char *name;
		sqlite3_syscall_ptr call;
	} own[] = {
		{ "pwrite", (sqlite3_syscall_ptr)db_write },
		{ "pwrite64", (sqlite3_syscall_ptr)db_write },
		{ "open", (sqlite3_syscall_ptr)db_open_file },
		{ "openDirectory", (sqlite3_syscall_ptr)db_open_folder },
	};
	sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
	size_t i;

	for (i = 0; vfs && vfs->iVersion >= 3 && i < DTX_COUNT(own); i++)
		(void)vfs->xSetSystemCall(vfs, own[i].name, own[i].call);
}

void dtx_db_cancels(bool on)
{
	db_may_end = on;
}

enum dtx_code dtx_db_cancel_row(uint64_t n, struct dtx_err *err)
{
	return db_may_end ? dtx_cancel_row(n, err) : DTX_OK;
}

/* --- SQLite allocates through dtx_mem --- */

#define DB_MEM_HEAD 16 /* holds the size of the block and keeps the alignment */

static void *db_mem_alloc(int n)
{
	char *p = dtx_mem_hook_alloc((size_t)n + DB_MEM_HEAD);

	if (!p)
		return NULL;
	*(int *)(void *)p = n;
	return p + DB_MEM_HEAD;
}

static void db_mem_free(void *p)
{
	dtx_mem_free(p ? (char *)p - DB_MEM_HEAD : NULL);
}

static void *db_mem_realloc(void *p, int n)
{
	char *q = dtx_mem_hook_realloc(p ? (char *)p - DB_MEM_HEAD : NULL, (size_t)n + DB_MEM_HEAD);

	if (!q)
		return NULL;
	*(int *)(void *)q = n;
	return q + DB_MEM_HEAD;
}

static int db_mem_size(void *p)
{
	return p ? *(int *)(void *)((char *)p - DB_MEM_HEAD) : 0;
}

static int db_mem_round(int n)
{
	return (n + 7) & ~7;
}

static int db_mem_init(void *arg)
{
	(void)arg;
	return SQLITE_OK;
}

static void db_mem_end(void *arg)
{
	(void)arg;
}

/* Must come before the first open.  SQLite refuses later calls, which does no harm. */
static void db_configure(void)
{
	static const sqlite3_mem_methods methods = { db_mem_alloc, db_mem_free,  db_mem_realloc,
		                                     db_mem_size,  db_mem_round, db_mem_init,
		                                     db_mem_end,   NULL };

	if (sqlite3_config(SQLITE_CONFIG_MALLOC, &methods) != SQLITE_OK)
		return;
	(void)sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
	db_set_calls();
}

/* --- errors --- */

static enum dtx_code db_fail(const struct dtx_db *db, int got, const char *doing,
                             struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const char *why = db->sqlite ? sqlite3_errmsg(db->sqlite) : sqlite3_errstr(got);
	int failed;

	if ((got & 0xff) == SQLITE_IOERR && db_may_end)
		DTX_TRY(dtx_cancel_look(err));
	if (got == SQLITE_READONLY_DBMOVED) {
		rc = dtx_err_set(err, DTX_E_STORE_BUSY, __FILE__, __LINE__,
		                 "store '%s' was moved away in the meantime", db->path);
		dtx_err_hint(err, "run it again: another store is in its place");
		goto out;
	}
	switch (got & 0xff) {
	case SQLITE_NOMEM: DTX_FAIL_MEM(err);
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		rc = dtx_err_set(err, DTX_E_STORE_BUSY, __FILE__, __LINE__,
		                 "store '%s' is held by another process", db->path);
		dtx_err_hint(err, "try again, or use another store with --store FILE");
		break;
	case SQLITE_FULL:
		rc = dtx_err_set(err, DTX_E_DISK_FULL, __FILE__, __LINE__, "store '%s' cannot grow",
		                 db->path);
		dtx_err_hint(err, "free some space or use another store with --store FILE");
		break;
	case SQLITE_READONLY:
		rc = dtx_err_set(err, DTX_E_STORE_IO, __FILE__, __LINE__,
		                 "store '%s' may be read here, but not written to", db->path);
		dtx_err_hint(err, "use another store with --store FILE or DTX_STORE");
		break;
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
		rc = dtx_err_set(err, DTX_E_STORE_IO, __FILE__, __LINE__,
		                 "store '%s' is damaged: %s", db->path, why);
		dtx_err_hint(err, "move it away; dtx makes a new one");
		break;
	default:
		/* SQLite says what failed, the system says why. */
		failed = db->sqlite ? sqlite3_system_errno(db->sqlite) : 0;
		rc = dtx_err_set(err, DTX_E_STORE_IO, __FILE__, __LINE__, "store '%s': %s: %s",
		                 db->path, doing, failed ? dtx_file_why(failed, db->path) : why);
		dtx_err_hint(err, "use another store with --store FILE or DTX_STORE");
		dtx_file_next(err, failed, db->path);
	}
out:
	return rc;
}

static enum dtx_code db_exec(struct dtx_db *db, const char *sql, const char *doing,
                             struct dtx_err *err)
{
	int got = sqlite3_exec(db->sqlite, sql, NULL, NULL, NULL);

	return got == SQLITE_OK ? DTX_OK : db_fail(db, got, doing, err);
}

/* --- statements --- */

static enum dtx_code db_prepare(struct dtx_db *db, const char *text, sqlite3_stmt **slot,
                                struct dtx_err *err)
{
	int got = SQLITE_OK;

	if (!*slot)
		got = sqlite3_prepare_v3(db->sqlite, text, -1, SQLITE_PREPARE_PERSISTENT, slot,
		                         NULL);
	return got == SQLITE_OK ? DTX_OK : db_fail(db, got, "prepare", err);
}

struct dtx_db_val dtx_db_text(const char *text)
{
	struct dtx_db_val v = { DTX_DB_NULL, 0, { NULL, 0 } };

	if (text) {
		v.kind = DTX_DB_TEXT;
		v.s = dtx_str_of(text);
	}
	return v;
}

struct dtx_db_val dtx_db_blob(const void *bytes, size_t n)
{
	return (struct dtx_db_val){ DTX_DB_BLOB, 0, { bytes, n } };
}

static enum dtx_code db_bind(struct dtx_db *db, sqlite3_stmt *st, const struct dtx_db_val *val,
                             size_t n, struct dtx_err *err)
{
	int got = SQLITE_OK;
	size_t i;

	for (i = 0; i < n && got == SQLITE_OK; i++) {
		const struct dtx_db_val *v = &val[i];
		int at = (int)i + 1;

		switch (v->kind) {
		case DTX_DB_INT: got = sqlite3_bind_int64(st, at, v->i); break;
		case DTX_DB_TEXT:
			got = sqlite3_bind_text64(st, at, v->s.ptr, v->s.len, SQLITE_STATIC,
			                          SQLITE_UTF8);
			break;
		case DTX_DB_BLOB:
			got = sqlite3_bind_blob64(st, at, v->s.ptr ? v->s.ptr : "", v->s.len,
			                          SQLITE_STATIC);
			break;
		default: got = sqlite3_bind_null(st, at);
		}
	}
	return got == SQLITE_OK ? DTX_OK : db_fail(db, got, "bind", err);
}

static void db_reset(sqlite3_stmt *st)
{
	if (!st)
		return;
	sqlite3_reset(st);
	sqlite3_clear_bindings(st);
}

static enum dtx_code db_step_all(struct dtx_db *db, sqlite3_stmt *st, struct dtx_err *err)
{
	int got;

	do
		got = sqlite3_step(st);
	while (got == SQLITE_ROW);
	return got == SQLITE_DONE ? DTX_OK : db_fail(db, got, "write", err);
}

enum dtx_code dtx_db_run(struct dtx_db *db, enum dtx_sql sql, const struct dtx_db_val *val,
                         size_t n, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	DTX_TRY(db_prepare(db, db_sql[sql], &db->stmt[sql], err));
	DTX_TRY(db_bind(db, db->stmt[sql], val, n, err));
	DTX_TRY(db_step_all(db, db->stmt[sql], err));
out:
	db_reset(db->stmt[sql]);
	return rc;
}

int64_t dtx_db_changed(struct dtx_db *db)
{
	return sqlite3_changes(db->sqlite);
}

/* The cursor is the statement itself. */
enum dtx_code dtx_db_query(struct dtx_db *db, enum dtx_sql sql, const struct dtx_db_val *val,
                           size_t n, struct dtx_db_rows **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	DTX_TRY(db_prepare(db, db_sql[sql], &db->stmt[sql], err));
	DTX_TRY(db_bind(db, db->stmt[sql], val, n, err));
	*out = (struct dtx_db_rows *)db->stmt[sql];
out:
	return rc;
}

enum dtx_code dtx_db_next(struct dtx_db *db, struct dtx_db_rows *rows, bool *more,
                          struct dtx_err *err)
{
	int got = sqlite3_step((sqlite3_stmt *)rows);

	*more = got == SQLITE_ROW;
	return *more || got == SQLITE_DONE ? DTX_OK : db_fail(db, got, "read", err);
}

int64_t dtx_db_get_int(struct dtx_db_rows *rows, int column)
{
	return sqlite3_column_int64((sqlite3_stmt *)rows, column);
}

const char *dtx_db_get_text(struct dtx_db_rows *rows, int column)
{
	return (const char *)sqlite3_column_text((sqlite3_stmt *)rows, column);
}

struct dtx_str dtx_db_get_bytes(struct dtx_db_rows *rows, int column)
{
	const char *p = sqlite3_column_blob((sqlite3_stmt *)rows, column);

	return (struct dtx_str){ p ? p : "",
		                 (size_t)sqlite3_column_bytes((sqlite3_stmt *)rows, column) };
}

void dtx_db_done(struct dtx_db_rows *rows)
{
	db_reset((sqlite3_stmt *)rows);
}

/* --- transactions --- */

static enum dtx_code db_wait(struct dtx_db *db, bool wait, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (db->waits != wait)
		rc = db_exec(db, wait ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=NORMAL",
		             "settings", err);
	if (rc == DTX_OK)
		db->waits = wait;
	return rc;
}

static enum dtx_code db_begin(struct dtx_db *db, struct dtx_err *err)
{
	enum dtx_code rc;
	int tries = 0;

	/* SQLite waits for other writers on its own.  The additional tries are for states in which
	 * it does not wait. */
	do {
		rc = dtx_db_run(db, DTX_SQL_BEGIN, NULL, 0, err);
		if (rc == DTX_E_STORE_BUSY && tries + 1 < DB_BUSY_TRIES) {
			unsigned char jitter;

			sqlite3_randomness(1, &jitter);
			sqlite3_sleep(5 + jitter / 4);
		}
	} while (rc == DTX_E_STORE_BUSY && ++tries < DB_BUSY_TRIES);
	db->in_transaction = rc == DTX_OK;
	return rc;
}

/* Whether commits wait for the disk is set at each begin, and not reset at the end, so that a
 * failure in between cannot leave the next transaction without waiting. */
enum dtx_code dtx_db_begin(struct dtx_db *db, struct dtx_err *err)
{
	enum dtx_code rc = db_wait(db, true, err);

	return rc == DTX_OK ? db_begin(db, err) : rc;
}

enum dtx_code dtx_db_begin_soon(struct dtx_db *db, struct dtx_err *err)
{
	enum dtx_code rc = db_wait(db, false, err);

	return rc == DTX_OK ? db_begin(db, err) : rc;
}

enum dtx_code dtx_db_begin_read(struct dtx_db *db, struct dtx_err *err)
{
	enum dtx_code rc = dtx_db_run(db, DTX_SQL_BEGIN_READ, NULL, 0, err);

	db->in_transaction = rc == DTX_OK;
	return rc;
}

enum dtx_code dtx_db_commit(struct dtx_db *db, struct dtx_err *err)
{
	enum dtx_code rc = dtx_db_run(db, DTX_SQL_COMMIT, NULL, 0, err);

	if (rc == DTX_OK)
		db->in_transaction = false;
	return rc;
}

enum dtx_code dtx_db_sync(struct dtx_db *db, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	sqlite3_file *log = NULL;
	int got = sqlite3_file_control(db->sqlite, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);

	if (got == SQLITE_OK && log && log->pMethods)
		got = log->pMethods->xSync(log, SQLITE_SYNC_NORMAL | SQLITE_SYNC_DATAONLY);
	if (got == SQLITE_OK)
		goto out;
	/* The connection does not know of this call, so only errno says why it failed. */
	rc = dtx_file_write_code(errno) == DTX_E_DISK_FULL ? DTX_E_DISK_FULL : DTX_E_STORE_IO;
	DTX_FAIL_NEXT(err, rc, "free some space, or use another store with --store FILE",
	              "store '%s' cannot be made durable: %s", db->path, strerror(errno));
out:
	return rc;
}

void dtx_db_rollback(struct dtx_db *db)
{
	/* After some errors SQLite has rolled back already. */
	if (db->in_transaction && !sqlite3_get_autocommit(db->sqlite))
		(void)sqlite3_exec(db->sqlite, "ROLLBACK", NULL, NULL, NULL);
	db->in_transaction = false;
}

/* --- open --- */

static int db_open(const char *path, int flags, sqlite3 **out)
{
	struct dtx_buf name = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	bool still = (flags & SQLITE_OPEN_READONLY) && dtx_readonly_db_name(path, &name);
	int got = SQLITE_NOMEM;

	flags |= SQLITE_OPEN_NOMUTEX | (still ? SQLITE_OPEN_URI : 0);
	if (!still || dtx_buf_ok(&name))
		got = sqlite3_open_v2(still ? dtx_buf_text(&name) : path, out, flags, NULL);
	dtx_buf_clear(&name);
	return got;
}

static enum dtx_code db_connect(const char *path, int flags, struct dtx_db **out,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_db *db;
	int got;

	db_configure();
	db = dtx_mem_zalloc(1, sizeof(*db));
	if (!db)
		DTX_FAIL_MEM(err);
	dtx_str_copy(db->path, sizeof(db->path), dtx_str_of(path));
	got = db_open(path, flags, &db->sqlite);
	if (got != SQLITE_OK) {
		rc = db_fail(db, got, "open", err);
		goto out;
	}
	sqlite3_extended_result_codes(db->sqlite, 1);
	sqlite3_busy_timeout(db->sqlite, DB_BUSY_MS);
	/* Whoever opens the store next has to read the whole log, and reading a long one costs more
	 * than moving it into the file now. */
	sqlite3_wal_autocheckpoint(db->sqlite, DB_LOG_PAGES);
	/* The file may come from somewhere else.  These settings forbid that its definitions run
	 * functions with effects outside of it, and that a statement writes to the schema
	 * itself. */
	sqlite3_db_config(db->sqlite, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(db->sqlite, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(db->sqlite, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
	/* A checkpoint at the close would wait for the disk at the end of every run. */
	sqlite3_db_config(db->sqlite, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
	*out = db;
	db = NULL;
out:
	dtx_db_close(db);
	return rc;
}

/* Reads the number that a statement gives; 0 if it gives no row. */
static enum dtx_code db_number(struct dtx_db *db, enum dtx_sql sql, int64_t *out,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_db_rows *rows = NULL;
	bool more = false;

	*out = 0;
	DTX_TRY(dtx_db_query(db, sql, NULL, 0, &rows, err));
	DTX_TRY(dtx_db_next(db, rows, &more, err));
	if (more)
		*out = dtx_db_get_int(rows, 0);
out:
	dtx_db_done(rows);
	return rc;
}

static enum dtx_code db_version(struct dtx_db *db, int64_t *version, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int64_t application;

	DTX_TRY(db_number(db, DTX_SQL_APPLICATION_ID, &application, err));
	DTX_TRY(db_number(db, DTX_SQL_USER_VERSION, version, err));
	if (application != DTX_SQL_APPLICATION) {
		rc = dtx_err_set(err, DTX_E_STORE_IO, __FILE__, __LINE__,
		                 "'%s' is not a store of dtx", db->path);
		dtx_err_hint(err, "name another file with --store FILE");
		goto out;
	}
	if (*version < 1 || *version > DTX_SQL_VERSION) {
		rc = dtx_err_set(err, DTX_E_STORE_IO, __FILE__, __LINE__,
		                 "store '%s' has version %lld, this dtx reads version %d", db->path,
		                 (long long)*version, DTX_SQL_VERSION);
		dtx_err_hint(err, "use the dtx that made it, or another store with --store FILE");
	}
out:
	return rc;
}

/* Adds the tables that an older store lacks.  They are empty: new runs add rows, `dtx rebuild` adds
 * the old ones.  It uses a connection of its own, because a connection that only reads cannot do
 * it. */
static enum dtx_code db_upgrade(const char *path, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_db *db = NULL;
	char sql[1024];

	snprintf(sql, sizeof(sql),
	         "BEGIN IMMEDIATE;" DTX_SQL_DERIVED_2 "PRAGMA user_version=%d;COMMIT",
	         DTX_SQL_VERSION);
	DTX_TRY(db_connect(path, SQLITE_OPEN_READWRITE, &db, err));
	DTX_TRY(db_exec(db, sql, "bring the store to this version", err));
out:
	dtx_db_close(db);
	return rc;
}

/* Triggers and views that dtx did not make could change what it writes and reads, so such a store
 * is refused. */
static enum dtx_code db_refuse_foreign(struct dtx_db *db, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_db_rows *rows = NULL;
	bool more = false;

	DTX_TRY(dtx_db_query(db, DTX_SQL_SCHEMA_FOREIGN, NULL, 0, &rows, err));
	DTX_TRY(dtx_db_next(db, rows, &more, err));
	if (!more)
		goto out;
	rc = dtx_err_set(err, DTX_E_STORE_IO, __FILE__, __LINE__,
	                 "store '%s' has a %.16s that dtx did not make: '%.64s'", db->path,
	                 dtx_db_get_text(rows, 0), dtx_db_get_text(rows, 1));
	dtx_err_hint(err, "dtx verify lists what was changed; dtx store rebuild removes it and "
	                  "makes the tables again from the ledger");
out:
	dtx_db_done(rows);
	return rc;
}

static enum dtx_code db_check_version(struct dtx_db *db, bool suspect, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_db_rows *rows = NULL;
	int64_t version = 0;
	bool more = false;

	DTX_TRY(db_version(db, &version, err));
	if (!suspect)
		DTX_TRY(db_refuse_foreign(db, err));
	if (version == DTX_SQL_VERSION)
		goto out;
	/* An upgrade sets the version number and makes the tables in one transaction, so a store
	 * with this number has the tables. */
	DTX_TRY(dtx_db_query(db, DTX_SQL_HAS_VERSION_2, NULL, 0, &rows, err));
	DTX_TRY(dtx_db_next(db, rows, &more, err));
	dtx_db_done(rows);
	rows = NULL;
	if (more) {
		rc = dtx_err_set(err, DTX_E_STORE_IO, __FILE__, __LINE__,
		                 "store '%s' is damaged: it says that its version is %lld, and has "
		                 "the tables of version %d",
		                 db->path, (long long)version, DTX_SQL_VERSION);
		dtx_err_hint(err, "move it away; dtx makes a new one");
		goto out;
	}
	DTX_TRY(db_upgrade(db->path, err));
out:
	dtx_db_done(rows);
	return rc;
}

/* On a network file system, and while a store is archived, SQLite writes a journal instead of a
 * log.  If such a writer is killed, only a connection that may write can roll its journal back. */
static void db_take_back(const char *path)
{
	char journal[PATH_MAX];
	struct dtx_db *db = NULL;
	int64_t version;

	snprintf(journal, sizeof(journal), "%s-journal", path);
	if (access(journal, F_OK) == 0 &&
	    db_connect(path, SQLITE_OPEN_READWRITE, &db, NULL) == DTX_OK)
		(void)!db_version(db, &version, NULL);
	dtx_db_close(db);
}

enum dtx_code dtx_db_open(const char *path, bool read_only, bool suspect, struct dtx_db **out,
                          struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_db *db = NULL;

	if (read_only)
		db_take_back(path);
	DTX_TRY(db_connect(path, read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE, &db,
	                   err));
	if (suspect) /* triggers and views may be there, but they must have no effect */
		sqlite3_db_config(db->sqlite, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	DTX_TRY(db_check_version(db, suspect, err));
	if (!read_only) { /* purged bytes must not stay in free pages */
		DTX_TRY(db_exec(db, "PRAGMA secure_delete=ON", "settings", err));
		DTX_TRY(db_exec(db, DTX_SQL_SNIPPET_INDEX, "index", err));
		DTX_TRY(db_wait(db, true, err));
	}
	*out = db;
	db = NULL;
out:
	dtx_db_close(db);
	return rc;
}

enum dtx_code dtx_db_create(const char *path, bool wal, struct dtx_db **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_db *db = NULL;
	bool memory = !strcmp(path, ":memory:");
	char versions[192];

	*out = NULL;
	/* A run changes a few rows in several places, so small pages keep the log short.  No write
	 * here waits for the disk: the file gets its name only after the first event has been
	 * written with dtx_db_open, and that write waits for the whole file. */
	snprintf(versions, sizeof(versions),
	         "PRAGMA synchronous=OFF; PRAGMA page_size=1024; PRAGMA auto_vacuum=INCREMENTAL; "
	         "BEGIN; PRAGMA application_id=%d; PRAGMA user_version=%d;",
	         DTX_SQL_APPLICATION, DTX_SQL_VERSION);
	DTX_TRY(db_connect(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, &db, err));
	DTX_TRY(db_exec(db, versions, "settings", err));
	DTX_TRY(db_exec(db, DTX_SQL_LEDGER DTX_SQL_DERIVED "COMMIT", "schema", err));
	if (memory) {
		*out = db;
		db = NULL;
		goto out;
	}
	/* The mode is stored in the file.  The log of a new file is moved into it when it is
	 * closed. */
	sqlite3_db_config(db->sqlite, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, NULL);
	if (wal)
		DTX_TRY(db_exec(db, "PRAGMA journal_mode=WAL", "settings", err));
out:
	dtx_db_close(db);
	return rc;
}

enum dtx_code dtx_db_fold(struct dtx_db *db, struct dtx_err *err)
{
	sqlite3_db_config(db->sqlite, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, NULL);
	return db_exec(db, "PRAGMA wal_checkpoint(TRUNCATE)", "checkpoint", err);
}

enum dtx_code dtx_db_begin_alone(struct dtx_db *db, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	DTX_TRY(db_exec(db, "PRAGMA journal_mode=DELETE", "settings", err));
	DTX_TRY(db_exec(db, "BEGIN EXCLUSIVE", "begin", err));
	db->in_transaction = true;
out:
	return rc;
}

bool dtx_db_logs(struct dtx_db *db)
{
	sqlite3_stmt *mode = NULL;
	bool logs = sqlite3_prepare_v2(db->sqlite, "PRAGMA journal_mode", -1, &mode, NULL) ==
	                    SQLITE_OK &&
	            sqlite3_step(mode) == SQLITE_ROW &&
	            !strcmp((const char *)sqlite3_column_text(mode, 0), "wal");

	sqlite3_finalize(mode);
	return logs;
}

void dtx_db_log(struct dtx_db *db)
{
	(void)sqlite3_exec(db->sqlite, "PRAGMA journal_mode=WAL", NULL, NULL, NULL);
}

enum dtx_code dtx_db_shrink(struct dtx_db *db, struct dtx_err *err)
{
	enum dtx_code rc = db_exec(db, "PRAGMA incremental_vacuum", "vacuum", err);

	return rc == DTX_OK ? db_exec(db, "PRAGMA wal_checkpoint(TRUNCATE)", "checkpoint", err)
	                    : rc;
}

void dtx_db_close(struct dtx_db *db)
{
	size_t i;

	if (!db)
		return;
	for (i = 0; i < DTX_SQL_COUNT; i++)
		sqlite3_finalize(db->stmt[i]);
	for (i = 0; i < DB_INSERTS; i++)
		sqlite3_finalize(db->insert[i]);
	sqlite3_close_v2(db->sqlite);
	dtx_mem_free(db);
}

/* --- derived tables --- */

enum dtx_code dtx_db_insert(struct dtx_db *db, enum dtx_sql_table table, bool ignore,
                            const json_t *row, const json_t *fixed, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_dbtable_column column[DTX_DBTABLE_COLUMNS];
	struct dtx_db_val val[DTX_DBTABLE_COLUMNS];
	struct dtx_buf text[DTX_DBTABLE_COLUMNS];
	struct dtx_buf sql = DTX_BUF_INIT(512);
	sqlite3_stmt **slot = &db->insert[2 * table + (ignore ? 1 : 0)];
	size_t n = dtx_dbtable_columns(table, column), i;

	for (i = 0; i < n; i++)
		dtx_buf_init(&text[i], DTX_BUF_TEXT_MAX);
	if (!*slot) {
		dtx_dbtable_insert(table, ignore, n, &sql);
		DTX_TRY(dtx_buf_check(&sql, "statement", err));
		DTX_TRY(db_prepare(db, dtx_buf_text(&sql), slot, err));
	}
	for (i = 0; i < n; i++) {
		const json_t *v = json_object_get(fixed, column[i].name);

		val[i] = dtx_dbtable_value(v ? v : json_object_get(row, column[i].name), &column[i],
		                           &text[i]);
		DTX_TRY(dtx_buf_check(&text[i], "record", err));
	}
	DTX_TRY(db_bind(db, *slot, val, n, err));
	DTX_TRY(db_step_all(db, *slot, err));
out:
	db_reset(*slot);
	for (i = 0; i < n; i++)
		dtx_buf_clear(&text[i]);
	dtx_buf_clear(&sql);
	return rc;
}

/* All rows, or those of one run, sorted by all columns.  NOT INDEXED, because an index contains a
 * second copy of some columns, and a query that the index covers would not look at the table
 * itself. An index may find the rows of the run, but what is compared is read from the table. */
static enum dtx_code db_sorted(struct dtx_db *db, enum dtx_sql_table table, const char *run_id,
                               sqlite3_stmt **st, struct dtx_err *err)
{
	struct dtx_dbtable_column column[DTX_DBTABLE_COLUMNS];
	const struct dtx_db_val val = dtx_db_text(run_id);
	size_t n = dtx_dbtable_columns(table, column), i;
	struct dtx_buf sql = DTX_BUF_INIT(1024);
	enum dtx_code rc = DTX_OK;

	dtx_buf_printf(&sql, "SELECT * FROM %s NOT INDEXED", dtx_dbtable_name(table));
	if (run_id)
		dtx_buf_printf(&sql, " WHERE rowid IN (SELECT rowid FROM %s WHERE run_id=?1)",
		               dtx_dbtable_name(table));
	dtx_buf_add(&sql, " ORDER BY 1");
	for (i = 1; i < n; i++)
		dtx_buf_printf(&sql, ",%zu", i + 1);
	DTX_TRY(dtx_buf_check(&sql, "statement", err));
	DTX_TRY(db_prepare(db, dtx_buf_text(&sql), st, err));
	if (run_id)
		DTX_TRY(db_bind(db, *st, &val, 1, err));
out:
	dtx_buf_clear(&sql);
	return rc;
}

/* One of the two cursors of a comparison. */
struct db_side {
	struct dtx_db *db;
	sqlite3_stmt *st;
	int64_t rows;
	bool more;
};

static enum dtx_code db_side_next(struct db_side *s, struct dtx_err *err)
{
	int got = sqlite3_step(s->st);

	s->more = got == SQLITE_ROW;
	s->rows += s->more;
	return s->more || got == SQLITE_DONE ? DTX_OK : db_fail(s->db, got, "read", err);
}

static bool db_same_row(sqlite3_stmt *a, sqlite3_stmt *b)
{
	int n = sqlite3_column_count(a), i;

	if (n != sqlite3_column_count(b))
		return false;
	for (i = 0; i < n; i++) {
		const void *x, *y;

		if (sqlite3_column_type(a, i) != sqlite3_column_type(b, i))
			return false;
		x = sqlite3_column_blob(a, i);
		y = sqlite3_column_blob(b, i);
		if (sqlite3_column_bytes(a, i) != sqlite3_column_bytes(b, i) ||
		    (x && y && memcmp(x, y, (size_t)sqlite3_column_bytes(a, i)) != 0))
			return false;
	}
	return true;
}

enum dtx_code dtx_db_compare(struct dtx_db *want, struct dtx_db *got, enum dtx_sql_table table,
                             const char *run_id, struct dtx_buf *said, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct db_side side[2] = { { want, NULL, 0, true }, { got, NULL, 0, true } };
	int64_t first = 0; /* the first row that differs, from 1 */

	for (int i = 0; i < 2; i++)
		DTX_TRY(db_sorted(side[i].db, table, run_id, &side[i].st, err));
	while (side[0].more || side[1].more) {
		for (int i = 0; i < 2; i++) {
			if (side[i].more)
				DTX_TRY(db_side_next(&side[i], err));
		}
		if (!first && (side[0].more != side[1].more ||
		               (side[0].more && !db_same_row(side[0].st, side[1].st))))
			first = DTX_MAX(side[0].rows, side[1].rows);
	}
	if (first && side[0].rows != side[1].rows)
		dtx_buf_printf(said, "it has %lld rows, and the ledger makes %lld",
		               (long long)side[1].rows, (long long)side[0].rows);
	else if (first)
		dtx_buf_printf(said,
		               "of %lld rows, sorted, number %lld is the first that the ledger "
		               "does not make",
		               (long long)side[1].rows, (long long)first);
	DTX_TRY(dtx_buf_check(said, "finding", err));
out:
	for (int i = 0; i < 2; i++)
		sqlite3_finalize(side[i].st);
	return rc;
}

enum dtx_code dtx_db_remake(struct dtx_db *db, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_buf drop = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	struct dtx_db_rows *rows = NULL;
	bool more;

	DTX_TRY(dtx_db_query(db, DTX_SQL_SCHEMA_OTHERS, NULL, 0, &rows, err));
	for (;;) {
		DTX_TRY(dtx_db_next(db, rows, &more, err));
		if (!more)
			break;
		dtx_buf_add(&drop, dtx_db_get_text(rows, 0));
	}
	dtx_db_done(rows);
	rows = NULL;
	DTX_TRY(dtx_buf_check(&drop, "statement", err));
	DTX_TRY(db_exec(db, dtx_buf_text(&drop), "rebuild", err));
	DTX_TRY(db_exec(db, DTX_SQL_LEDGER_TRIGGERS DTX_SQL_DERIVED, "rebuild", err));
out:
	dtx_db_done(rows);
	dtx_buf_clear(&drop);
	return rc;
}
