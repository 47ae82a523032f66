/* The reader of SQLite databases, on databases made in memory. */
#include <sqlite3.h>

#include "tests/t.h"
#include "tests/unit/bookmake.h"

static void make(const char *sql, struct dtx_buf *out)
{
	sqlite3_int64 size = 0;
	unsigned char *bytes;
	sqlite3 *db = NULL;

	T_INT(sqlite3_open(":memory:", &db), SQLITE_OK);
	T_INT(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	bytes = sqlite3_serialize(db, "main", &size, 0);
	T_CHECK(bytes && size > 0);
	dtx_buf_addn(out, (const char *)bytes, (size_t)size);
	sqlite3_free(bytes);
	(void)sqlite3_close(db);
}

static enum dtx_code dump(const struct dtx_buf *db, const struct dtx_read_opts *opts,
                          uint32_t batch_rows, struct dtx_buf *out, struct dtx_err *err)
{
	dtx_err_clear(err);
	dtx_buf_clear(out);
	return bytes_dump("t.db", db, opts, batch_rows, true, out, err);
}

static const char mixed[] = "create table t(a integer, b text, c real, d date);"
			    "insert into t values(1, 'x', 0.5, '2024-01-05'), (9007199254740993, "
			    "null, 2, '2024-01-06'),"
			    "(null, '', null, null);"
			    "delete from t where rowid = 0";

void test_read_sqlite_batches(void)
{
	struct dtx_read_opts opts = DTX_READ_OPTS_INIT;
	struct dtx_buf db = DTX_BUF_INIT(1 << 20), first = DTX_BUF_INIT(1 << 16);
	struct dtx_buf again = DTX_BUF_INIT(1 << 16);
	struct dtx_err err = DTX_ERR_INIT;

	make(mixed, &db);
	T_OK(dump(&db, &opts, 0, &first, &err), &err);
	T_CHECK(strstr(dtx_buf_text(&first), "9007199254740993") != NULL);
	T_CHECK(strstr(dtx_buf_text(&first), "2024-01-06") != NULL);
	for (uint32_t rows = 1; rows < 4; rows++) {
		T_OK(dump(&db, &opts, rows, &again, &err), &err);
		T_STR(dtx_buf_text(&again), dtx_buf_text(&first));
	}
	dtx_buf_clear(&db);
	dtx_buf_clear(&first);
	dtx_buf_clear(&again);
	dtx_err_clear(&err);
}

/* A rowid below 1 is no place of a row: rows are then numbered. */
void test_read_sqlite_rowids(void)
{
	struct dtx_read_opts opts = DTX_READ_OPTS_INIT;
	struct dtx_buf db = DTX_BUF_INIT(1 << 20), out = DTX_BUF_INIT(1 << 16);
	struct dtx_err err = DTX_ERR_INIT;

	make("create table t(a); insert into t(rowid, a) values(-1 << 63, 1), (0, 2), (1 << 60, 3)",
	     &db);
	T_OK(dump(&db, &opts, 2, &out, &err), &err);
	opts.types = &(struct dtx_read_type){ .name = "a", .type = { .type = DTX_T_BOOL } };
	opts.ntypes = 1;
	T_CODE(dump(&db, &opts, 2, &out, &err), DTX_E_CAST_FAILED, &err);
	T_STR(err.cell, "row 2");
	dtx_buf_clear(&db);
	dtx_buf_clear(&out);
	dtx_err_clear(&err);
}

/* Two rows with one rowid: the database is damaged. */
void test_read_sqlite_rowid_twice(void)
{
	static const char second[] = "\x05\x02\x02\x13" /* length, rowid, header */
				     "bbb";
	struct dtx_read_opts opts = DTX_READ_OPTS_INIT;
	struct dtx_buf db = DTX_BUF_INIT(1 << 20), out = DTX_BUF_INIT(1 << 16);
	struct dtx_err err = DTX_ERR_INIT;
	char *cell;

	make("create table t(a); insert into t values('aaa'), ('bbb')", &db);
	cell = memmem(db.ptr, db.len, second, sizeof(second) - 1);
	T_CHECK(cell != NULL);
	if (cell)
		cell[1] = 1;
	T_CODE(dump(&db, &opts, 0, &out, &err), DTX_E_CORRUPT_FILE, &err);
	T_STR(err.msg, "'t.db': in 't' rowid 1 follows rowid 1");
	opts.query = "select * from t";
	T_OK(dump(&db, &opts, 0, &out, &err), &err);
	dtx_buf_clear(&db);
	dtx_buf_clear(&out);
	dtx_err_clear(&err);
}

void test_read_sqlite_allocation_fails(void)
{
	struct dtx_read_opts opts = DTX_READ_OPTS_INIT;
	struct dtx_buf db = DTX_BUF_INIT(1 << 20), out = DTX_BUF_INIT(1 << 16);
	struct dtx_err err = DTX_ERR_INIT;

	make(mixed, &db);
	T_EVERY_ALLOC_FAILS(dump(&db, &opts, 2, &out, &err) == DTX_OK && out.fail == DTX_BUF_MEM
	                            ? DTX_E_NO_MEMORY
	                            : err.code);
	dtx_buf_clear(&db);
	dtx_buf_clear(&out);
	dtx_err_clear(&err);
}
