/* A connection to an SQLite database whose bytes are in memory. The file may be hostile: SQL can
 * only SELECT, nothing is written or attached, no other file is opened, and what the schema
 * contains is not trusted. One thread at a time. */
#ifndef DTX_IO_SQLITE_SQLITE_DB_H
#define DTX_IO_SQLITE_SQLITE_DB_H

#include "core/io/archive/archive_limits.h"
#include "core/io/sqlite/sqlite_vfs.h"

struct dtx_sqlite_db {
	const char *label;                       /* name of the file, for messages; borrowed */
	const struct dtx_archive_limits *limits; /* borrowed */
	sqlite3 *sqlite;
	struct dtx_sqlite_vfs file;
	char refused[96]; /* what the SQL may not do; "": nothing was refused */
};

/* Opens the database. `db` must not move until dtx_sqlite_db_close, which is allowed after a
 * failure, and for a zeroed `db`. Errors: corrupt_file, no_memory. */
DTX_MUSTUSE enum dtx_code dtx_sqlite_db_open(struct dtx_sqlite_db *db, const char *label,
                                             const struct dtx_archive_limits *limits,
                                             const void *bytes, size_t size, struct dtx_err *err);
void dtx_sqlite_db_close(struct dtx_sqlite_db *db);
/* Prepares one SELECT. A statement that does something else, a second statement, and SQL with
 * an error are bad_param_value. */
DTX_MUSTUSE enum dtx_code dtx_sqlite_db_prepare(struct dtx_sqlite_db *db, const char *sql,
                                                sqlite3_stmt **out, struct dtx_err *err);
/* Steps. Errors: corrupt_file, no_memory, archive_limit (a value or row that is too long),
 * bad_param_value if an expression fails or asks for the time of now. */
DTX_MUSTUSE enum dtx_code dtx_sqlite_db_step(struct dtx_sqlite_db *db, sqlite3_stmt *stmt,
                                             bool *row, struct dtx_err *err);

/* Settings of any connection, before SQL runs: what the schema of the file contains is not trusted,
 * no trigger runs, no file is attached, and a cancelled run interrupts. Returns SQLite's code. */
DTX_MUSTUSE int dtx_sqlite_harden(sqlite3 *sqlite);

#endif
