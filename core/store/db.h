/* One connection to the SQLite database: open, transactions, and the statements of
 * core/store/sql.h.
 *
 * All functions can fail with store_io, store_busy, disk_full or no_memory.  A connection must be
 * used by one thread at a time. */
#ifndef DTX_STORE_DB_H
#define DTX_STORE_DB_H

#include "core/base/text/json.h"
#include "core/store/sql.h"

struct dtx_db;

/* Opens an existing store; with read_only the file is not changed.  Triggers and views that dtx
 * does not make are refused (store_io).  With `suspect`, for a caller that searches for them or
 * removes them, they are accepted but have no effect. */
DTX_MUSTUSE enum dtx_code dtx_db_open(const char *path, bool read_only, bool suspect,
                                      struct dtx_db **out, struct dtx_err *err);
/* Makes an empty database with the schema at `path`, which must not exist.  For ":memory:" it is
 * returned open in *out; otherwise *out is NULL.  wal: use a write-ahead log, which needs shared
 * memory. */
DTX_MUSTUSE enum dtx_code dtx_db_create(const char *path, bool wal, struct dtx_db **out,
                                        struct dtx_err *err);
void dtx_db_close(struct dtx_db *db); /* NULL is allowed */

/* Moves the write-ahead log into the file, which is then complete on its own. */
DTX_MUSTUSE enum dtx_code dtx_db_fold(struct dtx_db *db, struct dtx_err *err);

/* Begins a transaction in a file without log and shared memory, which belong to the name of the
 * file; no other process can read meanwhile.  store_busy while another process has the file
 * open. */
DTX_MUSTUSE enum dtx_code dtx_db_begin_alone(struct dtx_db *db, struct dtx_err *err);
/* Waits until what was committed is on disk, in a store with a log. Without one each commit has
 * waited. May run on another thread while the connection is not used. */
DTX_MUSTUSE enum dtx_code dtx_db_sync(struct dtx_db *db, struct dtx_err *err);
/* Whether the file has a write-ahead log. */
bool dtx_db_logs(struct dtx_db *db);
/* Call it outside of a transaction: gives the file its log again, also after a dtx_db_begin_alone
 * that failed half way. */
void dtx_db_log(struct dtx_db *db);

/* Returns pages that are not in use to the file system. */
DTX_MUSTUSE enum dtx_code dtx_db_shrink(struct dtx_db *db, struct dtx_err *err);

/* Begins a transaction that writes; waits for other writers.  Its commit waits until the data is on
 * disk.  dtx_db_rollback is allowed outside of a transaction. */
DTX_MUSTUSE enum dtx_code dtx_db_begin(struct dtx_db *db, struct dtx_err *err);
/* The same, but the commit does not wait for the disk: a power failure may undo it, a crash of the
 * process cannot. */
DTX_MUSTUSE enum dtx_code dtx_db_begin_soon(struct dtx_db *db, struct dtx_err *err);
/* Begins a transaction that reads: all of its statements see the same state of the store. */
DTX_MUSTUSE enum dtx_code dtx_db_begin_read(struct dtx_db *db, struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_db_commit(struct dtx_db *db, struct dtx_err *err);
void dtx_db_rollback(struct dtx_db *db);
/* While on, the cancel flag of this thread (core/base/thread/cancel.h) ends statements and commits
 * that write: with cancelled or time_limit, the caller rolls back.  Only for a transaction that a
 * cancelled run does not need. */
void dtx_db_cancels(bool on);
/* For row number n of a loop: dtx_cancel_row while dtx_db_cancels is on, else ok. */
DTX_MUSTUSE enum dtx_code dtx_db_cancel_row(uint64_t n, struct dtx_err *err);

struct dtx_db_val {
	enum { DTX_DB_NULL, DTX_DB_INT, DTX_DB_TEXT, DTX_DB_BLOB } kind;
	int64_t i;
	struct dtx_str s; /* borrowed until the statement is done */
};
#define DTX_DBI(value) ((struct dtx_db_val){ DTX_DB_INT, (value), { NULL, 0 } })
struct dtx_db_val dtx_db_text(const char *text); /* NULL: null */
struct dtx_db_val dtx_db_blob(const void *bytes, size_t n);

/* Runs a statement that returns no rows. */
DTX_MUSTUSE enum dtx_code dtx_db_run(struct dtx_db *db, enum dtx_sql sql,
                                     const struct dtx_db_val *val, size_t n, struct dtx_err *err);
/* The number of rows that the last statement changed. */
int64_t dtx_db_changed(struct dtx_db *db);
/* Runs a statement that returns rows.  There may be one cursor per statement at a time.  Texts and
 * blobs of a row are valid until the next step. */
struct dtx_db_rows;
DTX_MUSTUSE enum dtx_code dtx_db_query(struct dtx_db *db, enum dtx_sql sql,
                                       const struct dtx_db_val *val, size_t n,
                                       struct dtx_db_rows **out, struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_db_next(struct dtx_db *db, struct dtx_db_rows *rows, bool *more,
                                      struct dtx_err *err);
int64_t dtx_db_get_int(struct dtx_db_rows *rows, int column);      /* 0 when null */
const char *dtx_db_get_text(struct dtx_db_rows *rows, int column); /* NULL when null */
struct dtx_str dtx_db_get_bytes(struct dtx_db_rows *rows, int column);
void dtx_db_done(struct dtx_db_rows *rows); /* NULL is allowed */

/* Inserts a row from those members of `row` that are columns; with `ignore` an existing row stays
 * as it is.  JSON that is not a text goes into text columns as canonical text.  Members of `fixed`
 * (may be NULL) override those of row. */
DTX_MUSTUSE enum dtx_code dtx_db_insert(struct dtx_db *db, enum dtx_sql_table table, bool ignore,
                                        const json_t *row, const json_t *fixed,
                                        struct dtx_err *err);
/* Compares all rows of a table of `got`, or those of one run (run_id; NULL: all), with those of
 * `want` as sets: every column with its type, read from the table itself and not from an index.
 * Appends to `said` how they differ; nothing if they are equal. */
DTX_MUSTUSE enum dtx_code dtx_db_compare(struct dtx_db *want, struct dtx_db *got,
                                         enum dtx_sql_table table, const char *run_id,
                                         struct dtx_buf *said, struct dtx_err *err);
/* Drops everything in the schema except the tables ledger, blob and lease, and makes it again,
 * empty, by the schema of this build.  Call it inside of a transaction. */
DTX_MUSTUSE enum dtx_code dtx_db_remake(struct dtx_db *db, struct dtx_err *err);

#endif
