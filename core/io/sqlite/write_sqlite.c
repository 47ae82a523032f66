/* Writes tables of an SQLite database.
 *
 * A new database is made in a temporary file, whose bytes become the output: it replaces nothing
 * and is there whole or not at all. A database that is there is changed in place, in one
 * transaction that ends with the commit of the output: other programs may have it open, and its
 * other tables stay. It may come from anywhere, so nothing in its schema is trusted.
 *
 * No value is converted: decimals are texts, bools 0 and 1, dates ISO texts. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/memory/mem.h"
#include "core/base/thread/cancel.h"
#include "core/data/cast/cast.h"
#include "core/data/cast/cell_num.h"
#include "core/io/sqlite/sqlite_db.h"
#include "core/io/write/writer.h"

enum { BUSY_TRIES = 100, BUSY_MS = 20, COPY_BYTES = 256 << 10, NAMES_MAX = 400 };

/* A connection to the database. */
struct session {
	sqlite3 *sqlite;
	struct dtx_sqlite_vfs file; /* of a new database */
	int fd;                     /* its temporary file; -1: none */
	const char *path;           /* for messages; the outfile's */
};
struct sqlite_writer {
	struct dtx_writer head;
	struct session *to; /* the outfile's, if `in_place` */
	bool in_place;
	char *table;
	sqlite3_stmt *insert;
	bool *real; /* per column: it holds floats, so that an int becomes one */
	uint64_t rows;
	struct dtx_buf text;
};

extern const struct dtx_writer_class dtx_write_sqlite;

static struct sqlite_writer *of(struct dtx_writer *w)
{
	return (struct sqlite_writer *)w; /* head is the first member */
}

/* --- errors --- */

static enum dtx_code session_fail(const struct session *s, int got, struct dtx_err *err)
{
	const char *why = s->sqlite ? sqlite3_errmsg(s->sqlite) : sqlite3_errstr(got);
	enum dtx_code rc = DTX_OK;

	switch (got & 0xff) {
	case SQLITE_NOMEM: DTX_FAIL_MEM(err);
	case SQLITE_INTERRUPT: DTX_TRY(dtx_cancel_look(err)); break;
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		DTX_TRY(dtx_cancel_look(err)); /* which ends the wait for the lock, too */
		DTX_FAIL_NEXT(err, DTX_E_OUTPUT_IO,
		              "run again when that program has ended its transaction; the database "
		              "is as it was",
		              "cannot change '%s': another program has locked it", s->path);
	case SQLITE_FULL: DTX_FAIL(err, DTX_E_DISK_FULL, "cannot write '%s': %s", s->path, why);
	case SQLITE_NOTADB:
		DTX_FAIL_NEXT(err, DTX_E_OUTPUT_IO, "name another file, or move this one away",
		              "'%s' is there already, and is not an SQLite database", s->path);
	case SQLITE_CORRUPT:
		DTX_FAIL_NEXT(err, DTX_E_OUTPUT_IO,
		              "sqlite3 FILE 'PRAGMA integrity_check' says more",
		              "'%s' is not a whole SQLite database: %s", s->path, why);
	default: break;
	}
	DTX_FAIL_NEXT(err, DTX_E_OUTPUT_IO, "the database is as it was",
	              "cannot write '%s': SQLite says: %s", s->path, why);
out:
	return rc;
}

static enum dtx_code session_exec(const struct session *s, const char *sql, struct dtx_err *err)
{
	int got = sqlite3_exec(s->sqlite, sql, NULL, NULL, NULL);

	return got == SQLITE_OK ? DTX_OK : session_fail(s, got, err);
}

/* Prepares a statement and binds the table's name to ?1, if it has that. */
static enum dtx_code session_prepare(const struct session *s, const char *sql, const char *table,
                                     sqlite3_stmt **out, struct dtx_err *err)
{
	int got = sqlite3_prepare_v2(s->sqlite, sql, -1, out, NULL);

	if (got == SQLITE_OK && table)
		got = sqlite3_bind_text(*out, 1, table, -1, SQLITE_STATIC);
	return got == SQLITE_OK ? DTX_OK : session_fail(s, got, err);
}

/* Steps a query. */
static enum dtx_code session_step(const struct session *s, sqlite3_stmt *stmt, bool *row,
                                  struct dtx_err *err)
{
	int got = sqlite3_step(stmt);

	*row = got == SQLITE_ROW;
	return got == SQLITE_ROW || got == SQLITE_DONE ? DTX_OK : session_fail(s, got, err);
}

/* The text of a cell of a query; "" for null. */
static const char *cell_text(sqlite3_stmt *stmt, int i)
{
	const char *text = (const char *)sqlite3_column_text(stmt, i);

	return text ? text : "";
}

/* --- the connection --- */

static void session_drop(void *arg)
{
	struct session *s = arg;

	/* an open transaction is rolled back */
	(void)sqlite3_close_v2(s->sqlite);
	dtx_sqlite_vfs_remove(&s->file);
	dtx_file_close(&s->fd);
	dtx_mem_free(s);
}

static enum dtx_code session_commit(void *arg, struct dtx_err *err)
{
	return session_exec(arg, "COMMIT", err);
}

/* Waits for the lock of another process, at most two seconds in all. */
static int session_wait(void *arg, int tries)
{
	struct timespec turn = { .tv_nsec = BUSY_MS * 1000000L };

	(void)arg;
	if (tries >= BUSY_TRIES || dtx_cancel_now())
		return 0;
	(void)nanosleep(&turn, NULL);
	return 1;
}

/* SQLite would apply a journal or log that an old database has left to the new one. */
static enum dtx_code refuse_left(const char *path, struct dtx_err *err)
{
	static const char *const after[] = { "-journal", "-wal" };
	enum dtx_code rc = DTX_OK;
	char left[PATH_MAX];

	for (size_t i = 0; i < DTX_COUNT(after); i++) {
		snprintf(left, sizeof(left), "%s%s", path, after[i]);
		if (access(left, F_OK) == 0)
			DTX_FAIL_NEXT(err, DTX_E_OUTPUT_IO, "remove it, or name another file",
			              "cannot write '%s': '%s' is left of another database", path,
			              left);
	}
out:
	return rc;
}

static enum dtx_code open_new(struct session *s, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int got;

	DTX_TRY(refuse_left(s->path, err));
	DTX_TRY(dtx_file_temp(NULL, &s->fd, err));
	s->file.fd = s->fd;
	got = dtx_sqlite_vfs_add(&s->file);
	if (got == SQLITE_OK)
		got = sqlite3_open_v2("output", &s->sqlite,
		                      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE |
		                              SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE,
		                      s->file.name);
	if (got != SQLITE_OK)
		DTX_TRY(session_fail(s, got, err));
	/* the file is thrown away if it is not finished */
	DTX_TRY(session_exec(s,
	                     "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; "
	                     "PRAGMA locking_mode=EXCLUSIVE",
	                     err));
	got = dtx_sqlite_harden(s->sqlite);
	if (got != SQLITE_OK)
		DTX_TRY(session_fail(s, got, err));
	DTX_TRY(session_exec(s, "BEGIN", err));
out:
	return rc;
}

static enum dtx_code open_there(struct session *s, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int got = sqlite3_open_v2(s->path, &s->sqlite,
	                          SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX |
	                                  SQLITE_OPEN_PRIVATECACHE | SQLITE_OPEN_NOFOLLOW,
	                          NULL);

	if (got == SQLITE_OK)
		got = sqlite3_busy_handler(s->sqlite, session_wait, NULL);
	if (got == SQLITE_OK)
		got = dtx_sqlite_harden(s->sqlite);
	if (got != SQLITE_OK)
		DTX_TRY(session_fail(s, got, err));
	DTX_TRY(session_exec(s, "BEGIN IMMEDIATE", err));
out:
	return rc;
}

static bool has_content(const struct dtx_outfile_info *file)
{
	struct stat st;

	return file->atomic && stat(file->path, &st) == 0 && st.st_size > 0;
}

static enum dtx_code open_session(struct sqlite_writer *w, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct session *s = dtx_mem_zalloc(1, sizeof(*s));

	if (!s)
		DTX_FAIL_MEM(err);
	s->fd = s->file.fd = -1;
	s->path = dtx_outfile_info(w->head.out)->path;
	w->to = s;
	DTX_TRY(dtx_outfile_await(w->head.out, err));
	w->in_place = has_content(dtx_outfile_info(w->head.out));
	if (w->in_place) {
		dtx_outfile_in_place(w->head.out, session_commit, session_drop, s);
		DTX_TRY(open_there(s, err));
	} else {
		DTX_TRY(open_new(s, err));
	}
out:
	return rc;
}

/* --- the table --- */

static const char *declared_type(enum dtx_type type)
{
	switch (type) {
	case DTX_T_BOOL: return "BOOLEAN";
	case DTX_T_INT64: return "INTEGER";
	case DTX_T_FLOAT64: return "REAL";
	case DTX_T_DATE: return "DATE";
	case DTX_T_DATETIME: return "DATETIME";
	default: return "TEXT";
	}
}

/* The statement that makes the table, as SQLite keeps it; NULL: out of memory. */
static char *create_sql(const struct sqlite_writer *w)
{
	const struct dtx_schema *s = w->head.schema;
	sqlite3_str *sql = sqlite3_str_new(NULL);

	sqlite3_str_appendf(sql, "CREATE TABLE \"%w\"(", w->table);
	for (uint32_t i = 0; i < s->nfields; i++)
		sqlite3_str_appendf(sql, "%s\"%w\" %s", i ? ", " : "", s->field[i].name,
		                    declared_type(s->field[i].type.type));
	sqlite3_str_appendall(sql, ")");
	return sqlite3_str_finish(sql);
}

static char *insert_sql(const struct sqlite_writer *w)
{
	const struct dtx_schema *s = w->head.schema;
	sqlite3_str *sql = sqlite3_str_new(NULL);

	sqlite3_str_appendf(sql, "INSERT INTO \"%w\"(", w->table);
	for (uint32_t i = 0; i < s->nfields; i++)
		sqlite3_str_appendf(sql, "%s\"%w\"", i ? ", " : "", s->field[i].name);
	sqlite3_str_appendall(sql, ") VALUES (");
	for (uint32_t i = 0; i < s->nfields; i++)
		sqlite3_str_appendall(sql, i ? ", ?" : "?");
	sqlite3_str_appendall(sql, ")");
	return sqlite3_str_finish(sql);
}

/* Runs a statement that is made of `format` and the name of the table. */
static enum dtx_code on_table(const struct sqlite_writer *w, const char *format,
                              struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	char *sql = sqlite3_mprintf(format, w->table);

	if (!sql)
		DTX_FAIL_MEM(err);
	DTX_TRY(session_exec(w->to, sql, err));
out:
	sqlite3_free(sql);
	return rc;
}

static enum dtx_code create(const struct sqlite_writer *w, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	char *sql = create_sql(w);

	if (!sql)
		DTX_FAIL_MEM(err);
	DTX_TRY(session_exec(w->to, sql, err));
out:
	sqlite3_free(sql);
	return rc;
}

/* Fails if the query names something that belongs to the table. */
static enum dtx_code refuse_found(const struct sqlite_writer *w, const char *sql, const char *what,
                                  const char *next, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	sqlite3_stmt *stmt = NULL;
	bool row;

	DTX_TRY(session_prepare(w->to, sql, w->table, &stmt, err));
	DTX_TRY(session_step(w->to, stmt, &row, err));
	if (row)
		DTX_FAIL_NEXT(err, DTX_E_OUTPUT_IO, next, "'%s': table '%.60s' has %s '%.60s'",
		              w->to->path, w->table, what, cell_text(stmt, 0));
out:
	(void)sqlite3_finalize(stmt);
	return rc;
}

/* --- a table that is there --- */

/* How SQLite converts a value that is put into a column of this declaration; see "Datatypes In
 * SQLite", 3.1. */
enum affinity { AFFINITY_INTEGER, AFFINITY_TEXT, AFFINITY_NONE, AFFINITY_REAL, AFFINITY_NUMERIC };

static enum affinity affinity_of(const char *declared)
{
	static const struct {
		const char *like;
		enum affinity is;
	} rule[] = { { "%int%", AFFINITY_INTEGER }, { "%char%", AFFINITY_TEXT },
		     { "%clob%", AFFINITY_TEXT },   { "%text%", AFFINITY_TEXT },
		     { "%blob%", AFFINITY_NONE },   { "%real%", AFFINITY_REAL },
		     { "%floa%", AFFINITY_REAL },   { "%doub%", AFFINITY_REAL } };

	if (!*declared)
		return AFFINITY_NONE;
	for (size_t i = 0; i < DTX_COUNT(rule); i++)
		if (!sqlite3_strlike(rule[i].like, declared, 0))
			return rule[i].is;
	return AFFINITY_NUMERIC;
}

/* Whether values of the type stay what they are in such a column. */
static bool is_kept(enum dtx_type type, enum affinity a)
{
	switch (type) {
	case DTX_T_NULL: return true;
	case DTX_T_BOOL: return a != AFFINITY_TEXT && a != AFFINITY_REAL;
	case DTX_T_INT64: return a != AFFINITY_TEXT; /* a float that is not equal is refused */
	case DTX_T_FLOAT64: return a != AFFINITY_TEXT && a != AFFINITY_INTEGER;
	case DTX_T_DATE:
	case DTX_T_DATETIME:
		return a == AFFINITY_TEXT || a == AFFINITY_NONE || a == AFFINITY_NUMERIC;
	default: return a == AFFINITY_TEXT || a == AFFINITY_NONE;
	}
}

/* Finds a column by its name as SQLite compares names; -1: no field has it. */
static int64_t field_named(const struct dtx_schema *s, const char *name)
{
	for (uint32_t i = 0; i < s->nfields; i++)
		if (!sqlite3_stricmp(s->field[i].name, name))
			return i;
	return -1;
}

static void add_misfit(struct dtx_buf *out, const char *name, const char *what, const char *more)
{
	if (out->len < NAMES_MAX)
		dtx_buf_printf(out, "%s'%.60s' (%s%.30s)", out->len ? ", " : "", name, what, more);
}

/* Compares one column of the table with the result. `seen` are fields that the table has. */
static void compare_column(struct sqlite_writer *w, sqlite3_stmt *column, bool *seen,
                           struct dtx_buf *misfits)
{
	const char *name = cell_text(column, 0), *declared = cell_text(column, 1);
	bool made = sqlite3_column_int(column, 3) != 0; /* computed from other columns */
	bool numbered = sqlite3_column_int(column, 2) && !sqlite3_stricmp(declared, "INTEGER");
	int64_t i = field_named(w->head.schema, name);
	enum dtx_type type;

	if (i < 0 || made) {
		/* SQLite itself gives a number to the rows of an INTEGER PRIMARY KEY */
		if (!made && !numbered)
			add_misfit(misfits, name, "missing in the result", "");
		return;
	}
	seen[i] = true;
	type = w->head.schema->field[i].type.type;
	w->real[i] = affinity_of(declared) == AFFINITY_REAL;
	if (!is_kept(type, affinity_of(declared)))
		add_misfit(misfits, name, dtx_type_name(type), " is not kept in that column");
}

/* Lists the columns with which the rows of the result do not fit the table. */
static enum dtx_code compare_columns(struct sqlite_writer *w, struct dtx_buf *misfits,
                                     struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_schema *s = w->head.schema;
	bool *seen = dtx_mem_zalloc((size_t)s->nfields + 1, sizeof(*seen)), row = true;
	sqlite3_stmt *stmt = NULL;

	if (!seen)
		DTX_FAIL_MEM(err);
	DTX_TRY(session_prepare(w->to, "SELECT name, type, pk, hidden FROM pragma_table_xinfo(?1)",
	                        w->table, &stmt, err));
	for (;;) {
		DTX_TRY(session_step(w->to, stmt, &row, err));
		if (!row)
			break;
		compare_column(w, stmt, seen, misfits);
	}
	for (uint32_t i = 0; i < s->nfields; i++)
		if (!seen[i])
			add_misfit(misfits, s->field[i].name, "not in the table", "");
	DTX_TRY(dtx_buf_check(misfits, "names of columns", err));
out:
	(void)sqlite3_finalize(stmt);
	dtx_mem_free(seen);
	return rc;
}

/* Removes the rows if the table takes those of the result: its indexes and rules stay. Otherwise
 * makes another table if nothing is lost with it. */
static enum dtx_code replace(struct sqlite_writer *w, bool fits, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (fits) {
		DTX_TRY(on_table(w, "DELETE FROM \"%w\"", err));
		goto out;
	}
	DTX_TRY(refuse_found(w,
	                     "SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT "
	                     "NULL AND tbl_name = ?1 COLLATE NOCASE",
	                     "other columns than the result, and would lose the index",
	                     "drop the index first, or name another table with \"into\"", err));
	DTX_TRY(on_table(w, "DROP TABLE \"%w\"", err));
	DTX_TRY(create(w, err));
	memset(w->real, 0, w->head.schema->nfields * sizeof(*w->real));
out:
	return rc;
}

/* The table is there already. */
static enum dtx_code use_table(struct sqlite_writer *w, const char *type, const char *sql,
                               const struct dtx_write_opts *opts, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_buf misfits = DTX_BUF_INIT(1 << 12);

	if (strcmp(type, "table") != 0 || !sqlite3_strlike("create virtual%", sql, 0))
		DTX_FAIL_NEXT(err, DTX_E_OUTPUT_IO, "name another table with \"into\"",
		              "'%s': '%.60s' is a %s, and gets no rows", w->to->path, w->table,
		              strcmp(type, "table") ? "view" : "virtual table");
	if (opts->if_exists == DTX_IF_EXISTS_FAIL)
		DTX_FAIL_NEXT(err, DTX_E_OUTPUT_IO,
		              "\"if_exists\" (--if-exists): \"append\" adds the rows, \"replace\" "
		              "puts them in the place of its rows; \"into\" (--into) names another "
		              "table",
		              "'%s' has a table '%.60s' already", w->to->path, w->table);
	/* a trigger would do what the file says, and without it the database may not agree */
	DTX_TRY(refuse_found(w,
	                     "SELECT name FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = "
	                     "?1 COLLATE NOCASE",
	                     "the trigger", "write to a table without triggers, and copy its rows",
	                     err));
	DTX_TRY(compare_columns(w, &misfits, err));
	if (opts->if_exists == DTX_IF_EXISTS_REPLACE)
		rc = replace(w, !misfits.len, err);
	else if (misfits.len)
		DTX_FAIL_NEXT(err, DTX_E_COLUMNS_DIFFER,
		              "a select, rename or cast step makes the columns those of the table",
		              "'%s': the rows do not fit table '%.60s': %s", w->to->path, w->table,
		              dtx_buf_text(&misfits));
out:
	dtx_buf_clear(&misfits);
	return rc;
}

static enum dtx_code sqlite_begin(struct dtx_writer *writer, const struct dtx_write_opts *opts,
                                  const struct dtx_schema *schema, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct sqlite_writer *w = of(writer);
	sqlite3_stmt *there = NULL;
	char *sql = NULL, *was = NULL, type[8];
	bool row;

	writer->schema = schema;
	w->rows = 0;
	dtx_mem_free(w->table);
	dtx_mem_free(w->real);
	w->table = dtx_mem_strdup(opts->into ? opts->into : "result");
	w->real = dtx_mem_zalloc((size_t)schema->nfields + 1, sizeof(*w->real));
	if (!w->table || !w->real)
		DTX_FAIL_MEM(err);
	if (!schema->nfields)
		DTX_FAIL(err, DTX_E_OUTPUT_IO, "'%s': a table of SQLite has at least one column",
		         w->to->path);
	DTX_TRY(session_prepare(w->to,
	                        "SELECT type, sql FROM sqlite_schema WHERE name = ?1 COLLATE "
	                        "NOCASE AND type IN ('table', 'view')",
	                        w->table, &there, err));
	DTX_TRY(session_step(w->to, there, &row, err));
	if (row) {
		snprintf(type, sizeof(type), "%s", cell_text(there, 0));
		was = sqlite3_mprintf("%s", cell_text(there, 1));
		/* a table is not dropped while it is read */
		(void)sqlite3_reset(there);
		if (!was)
			DTX_FAIL_MEM(err);
		DTX_TRY(use_table(w, type, was, opts, err));
	} else {
		DTX_TRY(create(w, err));
	}
	sql = insert_sql(w);
	if (!sql)
		DTX_FAIL_MEM(err);
	DTX_TRY(session_prepare(w->to, sql, NULL, &w->insert, err));
out:
	(void)sqlite3_finalize(there);
	sqlite3_free(sql);
	sqlite3_free(was);
	return rc;
}

/* --- rows --- */

/* Workers make the values; put is called by one thread. */
static enum dtx_code sqlite_format(struct dtx_writer *writer, struct dtx_batch *b,
                                   struct dtx_buf *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_column *c;

	(void)writer;
	(void)out;
	for (uint32_t i = 0; i < b->ncols; i++)
		DTX_TRY(dtx_batch_value(b, i, &c, err));
out:
	return rc;
}

static enum dtx_code row_fail(const struct sqlite_writer *w, int got, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int kind = got & 0xff;

	if (kind != SQLITE_CONSTRAINT && kind != SQLITE_TOOBIG && kind != SQLITE_MISMATCH)
		return session_fail(w->to, got, err);
	DTX_FAIL_NEXT(err, DTX_E_OUTPUT_IO,
	              "a filter or distinct step leaves such rows out; the database is as it was",
	              "'%s': table '%.60s' does not take row %llu of the result: %s", w->to->path,
	              w->table, (unsigned long long)w->rows + 1, sqlite3_errmsg(w->to->sqlite));
out:
	return rc;
}

static enum dtx_code bind_int(struct sqlite_writer *w, uint32_t i, int64_t v, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int got;

	if (w->real[i] && !dtx_cell_whole_is_f64(v))
		DTX_FAIL_NEXT(
			err, DTX_E_OUTPUT_IO, "cast the column to text or float in a step",
			"'%s': column '%.60s' of table '%.60s' holds floats, and none is %lld",
			w->to->path, w->head.schema->field[i].name, w->table, (long long)v);
	got = sqlite3_bind_int64(w->insert, (int)i + 1, v);
	if (got != SQLITE_OK)
		DTX_TRY(row_fail(w, got, err));
out:
	return rc;
}

static enum dtx_code bind_text(struct sqlite_writer *w, uint32_t i, const struct dtx_column *c,
                               uint32_t row, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	bool printed = c->type.type != DTX_T_TEXT;
	struct dtx_str s;
	int got;

	if (printed) {
		dtx_buf_reset(&w->text);
		dtx_cast_print(c, row, &w->text);
		DTX_TRY(dtx_buf_check(&w->text, "a cell", err));
	}
	s = printed ? dtx_buf_str(&w->text) : dtx_column_text(c, row);
	/* a text of the column stays where it is until the row is done */
	got = sqlite3_bind_text64(w->insert, (int)i + 1, s.len ? s.ptr : "", s.len,
	                          printed ? SQLITE_TRANSIENT : SQLITE_STATIC, SQLITE_UTF8);
	if (got != SQLITE_OK)
		DTX_TRY(row_fail(w, got, err));
out:
	return rc;
}

static enum dtx_code bind_value(struct sqlite_writer *w, uint32_t i, const struct dtx_column *c,
                                uint32_t row, struct dtx_err *err)
{
	int got = SQLITE_OK;

	if (dtx_column_is_null(c, row))
		got = sqlite3_bind_null(w->insert, (int)i + 1);
	else if (c->type.type == DTX_T_BOOL)
		return bind_int(w, i, dtx_bit(c->v.bits, row), err);
	else if (c->type.type == DTX_T_INT64)
		return bind_int(w, i, c->v.i64[row], err);
	else if (c->type.type == DTX_T_FLOAT64)
		got = sqlite3_bind_double(w->insert, (int)i + 1, c->v.f64[row]);
	else
		return bind_text(w, i, c, row, err);
	return got == SQLITE_OK ? DTX_OK : row_fail(w, got, err);
}

static enum dtx_code put_row(struct sqlite_writer *w, struct dtx_column *const *col, uint32_t ncols,
                             uint32_t row, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int got;

	for (uint32_t i = 0; i < ncols; i++)
		DTX_TRY(bind_value(w, i, col[i], row, err));
	got = sqlite3_step(w->insert);
	if (got != SQLITE_DONE)
		DTX_TRY(row_fail(w, got, err));
	(void)sqlite3_reset(w->insert);
	w->rows++;
out:
	return rc;
}

static enum dtx_code sqlite_put(struct dtx_writer *writer, struct dtx_batch *b,
                                const struct dtx_buf *bytes, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct sqlite_writer *w = of(writer);
	struct dtx_column **flat = dtx_mem_zalloc(b->ncols, sizeof(struct dtx_column *)), *value;

	(void)bytes;
	if (!flat)
		DTX_FAIL_MEM(err);
	for (uint32_t i = 0; i < b->ncols; i++) {
		DTX_TRY(dtx_batch_value(b, i, &value, err));
		DTX_TRY(dtx_column_flat(value, &flat[i], err));
	}
	for (uint32_t i = 0; i < b->nsel; i++) {
		DTX_TRY(dtx_cancel_line(i, err));
		DTX_TRY(put_row(w, flat, b->ncols, b->sel ? b->sel[i] : i, err));
	}
out:
	/* the statement refers to texts of the columns */
	(void)sqlite3_clear_bindings(w->insert);
	for (uint32_t i = 0; flat && i < b->ncols; i++)
		dtx_column_unref(flat[i]);
	dtx_mem_free(flat);
	return rc;
}

static enum dtx_code sqlite_end(struct dtx_writer *writer, struct dtx_err *err)
{
	struct sqlite_writer *w = of(writer);

	(void)err;
	(void)sqlite3_finalize(w->insert);
	w->insert = NULL;
	return DTX_OK;
}

/* --- the file --- */

static enum dtx_code copy_bytes(struct sqlite_writer *w, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	char *window = dtx_mem_alloc(COPY_BYTES, 1);
	off_t at = 0;
	ssize_t n;

	if (!window)
		DTX_FAIL_MEM(err);
	for (;;) {
		DTX_TRY(dtx_cancel_look(err));
		n = pread(w->to->fd, window, COPY_BYTES, at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			DTX_FAIL(err, DTX_E_OUTPUT_IO, "cannot read the new database back: %s",
			         strerror(errno));
		if (!n)
			break;
		DTX_TRY(dtx_outfile_write(w->head.out, window, (size_t)n, err));
		at += n;
	}
out:
	dtx_mem_free(window);
	return rc;
}

static enum dtx_code sqlite_finish(struct dtx_writer *writer, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct sqlite_writer *w = of(writer);

	if (w->in_place) /* the outfile commits */
		return DTX_OK;
	DTX_TRY(session_commit(w->to, err));
	DTX_TRY(copy_bytes(w, err));
out:
	return rc;
}

static void sqlite_writer_close(struct dtx_writer *writer)
{
	struct sqlite_writer *w = of(writer);

	(void)sqlite3_finalize(w->insert);
	if (w->to && !w->in_place)
		session_drop(w->to);
	dtx_errlist_clear(&writer->diags);
	dtx_buf_clear(&w->text);
	dtx_mem_free(w->table);
	dtx_mem_free(w->real);
	dtx_mem_free(w);
}

static enum dtx_code sqlite_writer_open(struct dtx_outfile *out, const struct dtx_write_opts *opts,
                                        const struct dtx_schema *schema, struct dtx_writer **made,
                                        struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct sqlite_writer *w = dtx_mem_zalloc(1, sizeof(*w));

	if (!w)
		DTX_FAIL_MEM(err);
	w->head = (struct dtx_writer){ .cls = &dtx_write_sqlite, .out = out, .schema = schema };
	dtx_buf_init(&w->text, DTX_BUF_TEXT_MAX);
	DTX_TRY(open_session(w, err));
	DTX_TRY(sqlite_begin(&w->head, opts, schema, err));
	*made = &w->head;
	w = NULL;
out:
	if (w)
		sqlite_writer_close(&w->head);
	return rc;
}

const struct dtx_writer_class dtx_write_sqlite = {
	.name = "sqlite",
	.formats = "sqlite",
	.suffixes = "db,sqlite,sqlite3",
	.uses = "into,if_exists",
	.values = true,
	.binary = true,
	.open = sqlite_writer_open,
	.format = sqlite_format,
	.put = sqlite_put,
	.begin = sqlite_begin,
	.end = sqlite_end,
	.finish = sqlite_finish,
	.close = sqlite_writer_close,
};
