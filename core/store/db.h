/* [sqlite3] One connection: open, transactions, statements of core/store/sql.h.
 *
 * Errors: store_io, store_busy, disk_full, no_memory.  One thread at a time. */
#ifndef DTX_STORE_DB_H
#define DTX_STORE_DB_H

#include "core/base/text/json.h"
#include "core/store/sql.h"

struct dtx_db;

/* An existing store; read_only leaves the file as it is.  Triggers and views that dtx does not make
 * are refused (store_io), except where the caller looks for them or removes them (suspect): there
 * they have no effect. */
DTX_MUSTUSE enum dtx_code dtx_db_open(const char *path, bool read_only, bool suspect,
                                      struct dtx_db **out, struct dtx_err *err);
/* Makes an empty database with the schema at `path`, which must not exist (":memory:" is fine, it
 * is returned open in *out; else *out is NULL).  wal: writers log ahead, which needs shared memory.
 */
DTX_MUSTUSE enum dtx_code dtx_db_create(const char *path, bool wal, struct dtx_db **out,
                                        struct dtx_err *err);
void dtx_db_close(struct dtx_db *db); /* NULL is fine */

/* Folds the write-ahead log into the file, which then stands alone. */
DTX_MUSTUSE enum dtx_code dtx_db_fold(struct dtx_db *db, struct dtx_err *err);

/* A transaction that nobody can look into, in a file that stands alone: without log and shared
 * memory, which go by the file's name.  store_busy while another process has it open. */
DTX_MUSTUSE enum dtx_code dtx_db_begin_alone(struct dtx_db *db, struct dtx_err *err);
/* Whether the file has a log. */
bool dtx_db_logs(struct dtx_db *db);
/* Outside a transaction: the file has its log again, also after a begin that failed half way. */
void dtx_db_log(struct dtx_db *db);

/* Gives pages that hold nothing back to the file system. */
DTX_MUSTUSE enum dtx_code dtx_db_shrink(struct dtx_db *db, struct dtx_err *err);

/* A writing transaction: waits for other writers.  rollback is fine outside one. */
DTX_MUSTUSE enum dtx_code dtx_db_begin(struct dtx_db *db, struct dtx_err *err);
/* One whose commit does not wait for the disk: a power cut may take it back, nothing else. */
DTX_MUSTUSE enum dtx_code dtx_db_begin_soon(struct dtx_db *db, struct dtx_err *err);
/* One that reads: all of its statements see one state of the store. */
DTX_MUSTUSE enum dtx_code dtx_db_begin_read(struct dtx_db *db, struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_db_commit(struct dtx_db *db, struct dtx_err *err);
void dtx_db_rollback(struct dtx_db *db);

struct dtx_db_val {
	enum { DTX_DB_NULL, DTX_DB_INT, DTX_DB_TEXT, DTX_DB_BLOB } kind;
	int64_t i;
	struct dtx_str s; /* borrowed until the statement is done */
};
#define DTX_DBI(value) ((struct dtx_db_val){ DTX_DB_INT, (value), { NULL, 0 } })
struct dtx_db_val dtx_db_text(const char *text); /* NULL: null */
struct dtx_db_val dtx_db_blob(const void *bytes, size_t n);

/* A statement without rows. */
DTX_MUSTUSE enum dtx_code dtx_db_run(struct dtx_db *db, enum dtx_sql sql,
                                     const struct dtx_db_val *val, size_t n, struct dtx_err *err);
/* Rows that the last statement changed. */
int64_t dtx_db_changed(struct dtx_db *db);
/* A statement with rows; one cursor per statement at a time.  Texts and blobs of a row are valid
 * until the next step. */
struct dtx_db_rows;
DTX_MUSTUSE enum dtx_code dtx_db_query(struct dtx_db *db, enum dtx_sql sql,
                                       const struct dtx_db_val *val, size_t n,
                                       struct dtx_db_rows **out, struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_db_next(struct dtx_db *db, struct dtx_db_rows *rows, bool *more,
                                      struct dtx_err *err);
int64_t dtx_db_get_int(struct dtx_db_rows *rows, int column);      /* 0 when null */
const char *dtx_db_get_text(struct dtx_db_rows *rows, int column); /* NULL when null */
struct dtx_str dtx_db_get_bytes(struct dtx_db_rows *rows, int column);
void dtx_db_done(struct dtx_db_rows *rows); /* NULL is fine */

/* Adds (or leaves alone, with `ignore`) a row from the members of `row` that are columns; text
 * columns take other JSON as canonical text.  `fixed` members win over those of row (may be
 * NULL). */
DTX_MUSTUSE enum dtx_code dtx_db_insert(struct dtx_db *db, enum dtx_sql_table table, bool ignore,
                                        const json_t *row, const json_t *fixed,
                                        struct dtx_err *err);
/* Compares all rows of a table of `got` with those of `want`, as sets: every column, with its type,
 * read from the table itself and not from an index.  Appends to `said` how they differ, nothing
 * where they are equal. */
DTX_MUSTUSE enum dtx_code dtx_db_compare(struct dtx_db *want, struct dtx_db *got,
                                         enum dtx_sql_table table, struct dtx_buf *said,
                                         struct dtx_err *err);
/* Drops everything that the schema has besides the tables ledger, blob and lease, and makes it
 * again by the schema of this build, empty.  Inside a transaction. */
DTX_MUSTUSE enum dtx_code dtx_db_remake(struct dtx_db *db, struct dtx_err *err);

#endif
