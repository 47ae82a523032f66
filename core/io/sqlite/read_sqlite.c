/* Reads a table, a view or a query of an SQLite database.
 *
 * SQLite types values, not columns, so a first pass over the rows finds the type of each column:
 * int, float or text by the values; a date or datetime where the column is declared as one and all
 * of its texts are. Values are never converted: a column of numbers and texts is text, with a
 * note. A second pass delivers the rows as CELL columns.
 *
 * The id of a row is its rowid less one; where there is no usable one (views, queries, tables
 * WITHOUT ROWID, rowids below 1), its place in the result, from 0. */
#include <math.h>
#include <pthread.h>

#include "core/base/memory/arena.h"
#include "core/base/memory/mem.h"
#include "core/base/text/utf8.h"
#include "core/base/thread/cancel.h"
#include "core/data/cast/cell_num.h"
#include "core/data/cast/infer.h"
#include "core/io/columns.h"
#include "core/io/sqlite/sqlite_db.h"

#define TEXT_MAX  ((size_t)64 << 20) /* bytes of texts in a batch, from which on it ends */
#define ROWID_MAX ((sqlite3_int64)1 << 47)

enum { BATCH_CELLS_MAX = 4 << 20, BATCH_ROWS_MIN = 256, TABLES_MAX = 64 };
/* Of a small --memory: a cell of a batch for so many bytes, and texts of a batch. */
enum { CELL_SHARE = 256, TEXT_SHARE = 16 };

/* What the values of a column are. */
struct values {
	int at; /* column of the statement */
	uint64_t ints, reals, texts;
	bool wide;                    /* an int that no float holds */
	bool moment;                  /* declared as a date or time */
	bool truth;                   /* declared as a bool, and all values are 0 or 1 */
	struct dtx_infer infer;       /* of its texts, if `moment` */
	int64_t text_row, number_row; /* ids of the first of them */
};
struct sqlite_reader {
	struct dtx_reader head;
	struct dtx_read_opts opts;
	struct dtx_sqlite_db db;
	sqlite3_stmt *stmt;
	const char *table; /* or "query" */
	bool rowids;       /* column 0 of the statement is the rowid */
	struct dtx_schema schema;
	struct dtx_field *field;
	struct values *values; /* per field */
	int64_t rows;
	struct dtx_scan scan;
	pthread_mutex_t lock; /* for what follows, and for the statement */
	uint64_t seq;
	int64_t done, kept; /* kept: rows that passed the pushed filter */
	bool ended;
};

extern const struct dtx_reader_class dtx_read_sqlite;

static struct sqlite_reader *of(struct dtx_reader *r)
{
	return (struct sqlite_reader *)r; /* head is the first member */
}

static int sqlite_sniff(const void *head, size_t len, const char *path)
{
	(void)path;
	return len >= 16 && !memcmp(head, "SQLite format 3", 16) ? 100 : 0;
}

static void sqlite_close(struct dtx_reader *reader)
{
	struct sqlite_reader *r = of(reader);

	(void)sqlite3_finalize(r->stmt);
	dtx_sqlite_db_close(&r->db);
	dtx_errlist_clear(&reader->diags);
	dtx_arena_clear(&reader->arena);
	pthread_mutex_destroy(&r->lock);
	dtx_mem_free(r);
}

/* --- which rows --- */

/* Lists the tables and views. */
static enum dtx_code list_tables(struct sqlite_reader *r, const char **name, size_t *n,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	sqlite3_stmt *s = NULL;
	bool row;

	*n = 0;
	DTX_TRY(dtx_sqlite_db_prepare(&r->db,
	                              "SELECT name FROM sqlite_schema WHERE type IN ('table', "
	                              "'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY "
	                              "rowid",
	                              &s, err));
	for (;;) {
		const char *text;

		DTX_TRY(dtx_sqlite_db_step(&r->db, s, &row, err));
		if (!row || *n == TABLES_MAX)
			break;
		text = (const char *)sqlite3_column_text(s, 0);
		if (!text || dtx_utf8_bad(text, strlen(text)) >= 0)
			continue;
		name[*n] = dtx_arena_strdup(&r->head.arena, text);
		if (!name[(*n)++])
			DTX_FAIL_MEM(err);
	}
out:
	(void)sqlite3_finalize(s);
	return rc;
}

static void hint_tables(const char *const *name, size_t n, bool named, struct dtx_err *err)
{
	struct dtx_buf list = DTX_BUF_INIT(1 << 12);

	for (size_t i = 0; i < n && list.len < 200; i++)
		dtx_buf_printf(&list, "%s%.60s", i ? ", " : "", name[i]);
	if (named)
		dtx_err_hint(err, "its tables and views are %s%s", dtx_buf_text(&list),
		             n == TABLES_MAX ? " ..." : "");
	else
		dtx_err_hint(err, "\"table\": \"%s\" reads the first of %s%s", name[0],
		             dtx_buf_text(&list), n == TABLES_MAX ? " ..." : "");
	dtx_buf_clear(&list);
}

/* Finds the table that is asked for, else the only one. */
static enum dtx_code choose_table(struct sqlite_reader *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const char *want = r->opts.table ? r->opts.table : r->opts.sheet;
	const char *name[TABLES_MAX];
	size_t n;

	DTX_TRY(list_tables(r, name, &n, err));
	for (size_t i = 0; want && i < n; i++)
		if (!sqlite3_stricmp(want, name[i]))
			r->table = name[i];
	if (!want && n == 1)
		r->table = name[0];
	if (r->table)
		goto out;
	if (!n)
		DTX_FAIL(err, DTX_E_SHEET_NOT_FOUND, "'%s' has no table", r->db.label);
	if (want) {
		rc = dtx_err_set(err, DTX_E_SHEET_NOT_FOUND, __FILE__, __LINE__,
		                 "'%s' has no table '%.60s'", r->db.label, want);
		dtx_err_suggest(err, want, name, n);
		hint_tables(name, n, true, err);
	} else {
		rc = dtx_err_set(err, DTX_E_SHEET_NOT_FOUND, __FILE__, __LINE__,
		                 "'%s' has %s%zu tables and views, and none is named", r->db.label,
		                 n == TABLES_MAX ? "at least " : "", n);
		hint_tables(name, n, false, err);
	}
out:
	return rc;
}

/* Prepares the table in the order of its rowids; false: it has none, or a column has its name. */
static bool prepare_rowids(struct sqlite_reader *r)
{
	char *sql = sqlite3_mprintf("SELECT _rowid_, * FROM \"%w\" ORDER BY _rowid_", r->table);
	sqlite3_stmt *s = NULL;
	bool ok = sql && dtx_sqlite_db_prepare(&r->db, sql, &s, NULL) == DTX_OK;

	sqlite3_free(sql);
	for (int i = 1; ok && i < sqlite3_column_count(s); i++)
		ok = sqlite3_stricmp(sqlite3_column_name(s, i), "_rowid_") != 0;
	if (!ok) {
		(void)sqlite3_finalize(s);
		return false;
	}
	r->stmt = s;
	r->rowids = true;
	return true;
}

static enum dtx_code prepare_all(struct sqlite_reader *r, struct dtx_err *err)
{
	char *sql = sqlite3_mprintf("SELECT * FROM \"%w\"", r->table);
	enum dtx_code rc = DTX_OK;

	if (!sql)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_sqlite_db_prepare(&r->db, sql, &r->stmt, err));
out:
	sqlite3_free(sql);
	return rc;
}

static enum dtx_code prepare(struct sqlite_reader *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (r->opts.query && (r->opts.table || r->opts.sheet))
		DTX_FAIL(err, DTX_E_PARAM_CONFLICT,
		         "'%s': 'query' and 'table' both say which rows are read", r->db.label);
	if (r->opts.query) {
		r->table = "query";
		DTX_TRY(dtx_sqlite_db_prepare(&r->db, r->opts.query, &r->stmt, err));
		goto out;
	}
	DTX_TRY(choose_table(r, err));
	if (!prepare_rowids(r))
		DTX_TRY(prepare_all(r, err));
out:
	return rc;
}

/* --- columns --- */

static bool is_moment(const char *declared)
{
	return declared &&
	       (!sqlite3_strlike("%date%", declared, 0) || !sqlite3_strlike("%time%", declared, 0));
}

static bool is_truth(const char *declared)
{
	return declared && !sqlite3_strlike("bool%", declared, 0);
}

static enum dtx_code check_names(const struct sqlite_reader *r, const char *const *name, uint32_t n,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t i, k;

	for (i = 0; i < n; i++) {
		if (!*name[i] || dtx_utf8_bad(name[i], strlen(name[i])) >= 0)
			DTX_FAIL_NEXT(err, DTX_E_BAD_ENCODING,
			              "a query can name it: SELECT ... AS name",
			              "'%s': column %u of '%s' has no name in UTF-8", r->db.label,
			              (unsigned)i + 1, r->table);
		for (k = 0; k < i; k++)
			if (!strcmp(name[i], name[k]))
				DTX_FAIL_NEXT(
					err, DTX_E_BAD_PARAM_VALUE,
					"give one of them a name with AS",
					"'%s': columns %u and %u of '%s' are both named '%.60s'",
					r->db.label, (unsigned)k + 1, (unsigned)i + 1, r->table,
					name[i]);
	}
out:
	return rc;
}

/* Chooses the columns and makes their fields, as yet without types. */
static enum dtx_code make_fields(struct sqlite_reader *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_arena *a = &r->head.arena;
	uint32_t n = (uint32_t)sqlite3_column_count(r->stmt) - r->rowids, i, k = 0;
	const char **name = dtx_arena_zalloc(a, n + 1, sizeof(*name));
	bool *keep = dtx_arena_zalloc(a, n + 1, sizeof(*keep));

	r->field = dtx_arena_zalloc(a, n + 1, sizeof(*r->field));
	r->values = dtx_arena_zalloc(a, n + 1, sizeof(*r->values));
	if (!name || !keep || !r->field || !r->values)
		DTX_FAIL_MEM(err);
	for (i = 0; i < n; i++) {
		const char *text = sqlite3_column_name(r->stmt, (int)i + r->rowids);

		name[i] = text ? dtx_arena_strdup(a, text) : NULL;
		if (!name[i])
			DTX_FAIL_MEM(err);
	}
	DTX_TRY(check_names(r, name, n, err));
	DTX_TRY(dtx_columns_choose(&r->opts, r->db.label, name, n, keep, err));
	for (i = 0; i < n; i++) {
		int at = (int)i + r->rowids;
		const char *declared = sqlite3_column_decltype(r->stmt, at);

		if (!keep[i])
			continue;
		r->field[k] = (struct dtx_field){ .name = name[i], .source = true };
		r->values[k++] = (struct values){ .at = at,
			                          .moment = is_moment(declared),
			                          .truth = is_truth(declared) };
	}
	r->schema = (struct dtx_schema){ .nfields = k, .field = r->field };
out:
	return rc;
}

/* --- values --- */

static uint64_t row_id(const struct sqlite_reader *r)
{
	return r->rowids ? (uint64_t)sqlite3_column_int64(r->stmt, 0) - 1 : (uint64_t)r->done;
}

/* Sets the place of an error or a note. */
static void set_place(const struct sqlite_reader *r, uint32_t field, int64_t row,
                      struct dtx_err *err)
{
	if (!err)
		return;
	dtx_err_row(err, row, r->field[field].name);
	dtx_str_copy(err->input, sizeof(err->input),
	             dtx_str_of(r->opts.alias ? r->opts.alias : r->db.label));
	dtx_str_copy(err->sheet, sizeof(err->sheet), dtx_str_of(r->table));
	/* the mask changes no id, but bounds the length of the text for the compiler */
	snprintf(err->cell, sizeof(err->cell), "row %lld", (long long)(row & (ROWID_MAX - 1)) + 1);
}

static enum dtx_code bad_value(const struct sqlite_reader *r, uint32_t field, enum dtx_code code,
                               const char *what, const char *next, struct dtx_err *err)
{
	int64_t row = (int64_t)row_id(r);

	dtx_err_set(err, code, __FILE__, __LINE__,
	            "'%s': column '%.60s' of '%.60s' has %s in %s %lld", r->db.label,
	            r->field[field].name, r->table, what, r->rowids ? "rowid" : "row",
	            (long long)row + 1);
	dtx_err_hint(err, "%s", next);
	set_place(r, field, row, err);
	return code;
}

static bool is_null_text(const struct sqlite_reader *r, struct dtx_str s)
{
	for (size_t i = 0; i < r->opts.nnull_values; i++)
		if (dtx_str_is(s, r->opts.null_values[i]))
			return true;
	return false;
}

/* Gets the kind of a value, and its text if it is one. What no column can hold is an error. */
static enum dtx_code get_value(struct sqlite_reader *r, uint32_t field, int *kind,
                               struct dtx_str *text, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int at = r->values[field].at;

	*kind = sqlite3_column_type(r->stmt, at);
	if (*kind == SQLITE_BLOB)
		rc = bad_value(r, field, DTX_E_UNSUPPORTED_FORMAT, "bytes that are no text",
		               "a \"query\" can leave the column out, or take hex(column)", err);
	if (*kind == SQLITE_FLOAT && !isfinite(sqlite3_column_double(r->stmt, at)))
		rc = bad_value(r, field, DTX_E_UNSUPPORTED_FORMAT, "an infinite number",
		               "a \"query\" can give it another value", err);
	if (*kind != SQLITE_TEXT || rc != DTX_OK)
		goto out;
	text->ptr = (const char *)sqlite3_column_text(r->stmt, at);
	text->len = (size_t)sqlite3_column_bytes(r->stmt, at);
	if (!text->ptr)
		DTX_FAIL_MEM(err);
	if (text->len > dtx_source_limits(r->head.src)->text)
		rc = dtx_archive_limits_fail(err, dtx_source_limits(r->head.src), "text",
		                             "'%s': column '%.100s': a text of %zu bytes",
		                             dtx_source_name(r->head.src),
		                             r->schema.field[field].name, text->len);
	else if (dtx_utf8_bad(text->ptr, text->len) >= 0)
		rc = bad_value(r, field, DTX_E_BAD_ENCODING, "a text that is not UTF-8",
		               "a \"query\" can leave the column out, or take hex(column)", err);
	else if (memchr(text->ptr, 0, text->len))
		rc = bad_value(r, field, DTX_E_BAD_ENCODING, "a text with a NUL character",
		               "a \"query\" can take replace(column, char(0), '')", err);
	else if (is_null_text(r, *text))
		*kind = SQLITE_NULL;
out:
	return rc;
}

static void note_value(struct values *v, int kind, sqlite3_int64 whole, struct dtx_str text,
                       int64_t row)
{
	bool number = kind == SQLITE_INTEGER || kind == SQLITE_FLOAT;

	if (number && !(v->ints + v->reals))
		v->number_row = row;
	if (kind == SQLITE_TEXT && !v->texts)
		v->text_row = row;
	v->ints += kind == SQLITE_INTEGER;
	v->reals += kind == SQLITE_FLOAT;
	v->texts += kind == SQLITE_TEXT;
	if (kind == SQLITE_INTEGER && !dtx_cell_whole_is_f64(whole))
		v->wide = true;
	if (kind != SQLITE_NULL && (kind != SQLITE_INTEGER || (uint64_t)whole > 1))
		v->truth = false;
	if (kind == SQLITE_TEXT && v->moment)
		dtx_infer_text(&v->infer, text, false, row);
}

/* The rowids of a table ascend; a virtual table may give any. */
static enum dtx_code check_rowid(const struct sqlite_reader *r, uint64_t last, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (r->done && row_id(r) <= last)
		DTX_FAIL_NEXT(err, DTX_E_CORRUPT_FILE,
		              "sqlite3 FILE 'PRAGMA integrity_check' says more; a \"query\" reads "
		              "the rows by their position",
		              "'%s': in '%.60s' rowid %llu follows rowid %llu", r->db.label,
		              r->table, (unsigned long long)row_id(r) + 1,
		              (unsigned long long)last + 1);
out:
	return rc;
}

/* The first pass: counts the rows and looks at all values. */
static enum dtx_code look_at_rows(struct sqlite_reader *r, bool *usable, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_str text = { NULL, 0 };
	uint64_t last = 0;
	bool row;
	int kind;

	*usable = true;
	for (r->done = 0;; r->done++) {
		DTX_TRY(dtx_cancel_row((uint64_t)r->done, err));
		DTX_TRY(dtx_sqlite_db_step(&r->db, r->stmt, &row, err));
		if (!row)
			break;
		if (r->rowids && row_id(r) >= ROWID_MAX) {
			*usable = false;
			break;
		}
		if (r->rowids)
			DTX_TRY(check_rowid(r, last, err));
		last = row_id(r);
		for (uint32_t i = 0; i < r->schema.nfields; i++) {
			struct values *v = &r->values[i];

			DTX_TRY(get_value(r, i, &kind, &text, err));
			note_value(v, kind,
			           kind == SQLITE_INTEGER ? sqlite3_column_int64(r->stmt, v->at)
			                                  : 0,
			           text, (int64_t)row_id(r));
		}
	}
	r->rows = r->done;
out:
	(void)sqlite3_reset(r->stmt);
	return rc;
}

static struct dtx_typeref plain(enum dtx_type type)
{
	return (struct dtx_typeref){ .type = type };
}

/* The type of a column that has no value: that of its declaration. */
static struct dtx_typeref empty_type(const char *declared)
{
	static const struct {
		const char *like;
		enum dtx_type type;
	} affinity[] = {
		{ "%int%", DTX_T_INT64 },    { "%real%", DTX_T_FLOAT64 },
		{ "%floa%", DTX_T_FLOAT64 }, { "%doub%", DTX_T_FLOAT64 },
		{ "bool%", DTX_T_BOOL },
	};

	for (size_t i = 0; declared && i < DTX_COUNT(affinity); i++)
		if (!sqlite3_strlike(affinity[i].like, declared, 0))
			return plain(affinity[i].type);
	return plain(DTX_T_TEXT);
}

static struct dtx_typeref value_type(const struct sqlite_reader *r, struct values *v)
{
	struct dtx_typeref moment = dtx_infer_type(&v->infer);

	v->moment = v->moment && v->texts && !(v->ints + v->reals) &&
	            dtx_type_class(moment.type) == DTX_CLASS_DATE;
	if (!(v->texts + v->ints + v->reals))
		return empty_type(sqlite3_column_decltype(r->stmt, v->at));
	if (v->moment)
		return moment;
	if (v->truth)
		return plain(DTX_T_BOOL);
	if (v->texts || (v->reals && v->wide))
		return plain(DTX_T_TEXT);
	return plain(v->reals ? DTX_T_FLOAT64 : DTX_T_INT64);
}

/* Notes that a column of numbers became text. */
static enum dtx_code note_mixed(struct sqlite_reader *r, uint32_t i, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct values *v = &r->values[i];
	const char *declared = sqlite3_column_decltype(r->stmt, v->at);
	bool few_texts = v->texts && v->texts <= v->ints + v->reals;
	int64_t row = few_texts ? v->text_row : v->number_row;
	struct dtx_err w = DTX_ERR_INIT;

	dtx_err_set(
		&w, DTX_W_MIXED_TYPES, __FILE__, __LINE__,
		"'%s': column '%.60s'%s%.30s of '%.60s' is read as text: it has %llu numbers and "
		"%llu texts; the first %s is in %s %lld",
		r->db.label, r->field[i].name, declared ? " " : "", declared ? declared : "",
		r->table, (unsigned long long)(v->ints + v->reals), (unsigned long long)v->texts,
		!v->texts   ? "one of the numbers, which no float holds all,"
		: few_texts ? "text"
			    : "number",
		r->rowids ? "rowid" : "row", (long long)row + 1);
	dtx_err_hint(&w, "a type in \"types\" converts the values, and says which do not fit");
	w.severity = DTX_SEV_WARNING;
	w.run_time = true;
	w.count = (int64_t)(few_texts ? v->texts : v->ints + v->reals);
	set_place(r, i, row, &w);
	if (!dtx_errlist_take(&r->head.diags, &w))
		DTX_FAIL_MEM(err);
out:
	return rc;
}

static enum dtx_code set_types(struct sqlite_reader *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	for (uint32_t i = 0; i < r->schema.nfields; i++) {
		struct dtx_field *f = &r->field[i];
		const struct dtx_read_type *d = dtx_columns_declared(&r->opts, f->name);
		struct values *v = &r->values[i];

		v->truth = v->truth && !d; /* a declared type sees the numbers */
		f->type = value_type(r, v);
		if (!d && f->type.type == DTX_T_TEXT && v->ints + v->reals)
			DTX_TRY(note_mixed(r, i, err));
		if (!d)
			continue;
		f->declared = true;
		f->input_name = f->name;
		f->type = d->on_error == DTX_CAST_KEEP_TEXT ? plain(DTX_T_TEXT) : d->type;
		f->format = d->format;
	}
out:
	return rc;
}

/* --- opening --- */

static void locate(const struct dtx_origin *o, uint64_t id, struct dtx_place *out)
{
	(void)o;
	*out = (struct dtx_place){ (int64_t)id, -1 };
}

static enum dtx_code set_origin(struct sqlite_reader *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t n = r->schema.nfields;
	uint32_t *col = dtx_arena_zalloc(&r->head.arena, n + 1, sizeof(*col));
	char *alias = dtx_arena_strdup(&r->head.arena, r->opts.alias ? r->opts.alias : "main");

	if (!col || !alias)
		DTX_FAIL_MEM(err);
	for (uint32_t i = 0; i < n; i++)
		col[i] = UINT32_MAX; /* columns are known by their names, not by letters */
	r->head.origin = (struct dtx_origin){ .locate = locate,
		                              .file = r->db.label,
		                              .alias = alias,
		                              .sheet = r->table,
		                              .physical_col = col,
		                              .ncols = n };
out:
	return rc;
}

/* Prepares the statement, makes the fields and looks at all rows. */
static enum dtx_code open_rows(struct sqlite_reader *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	bool usable;

	DTX_TRY(prepare(r, err));
	DTX_TRY(make_fields(r, err));
	DTX_TRY(look_at_rows(r, &usable, err));
	if (usable)
		goto out;
	(void)sqlite3_finalize(r->stmt);
	r->stmt = NULL;
	r->rowids = false;
	DTX_TRY(prepare_all(r, err));
	DTX_TRY(make_fields(r, err));
	DTX_TRY(look_at_rows(r, &usable, err));
out:
	return rc;
}

static enum dtx_code sqlite_open(struct dtx_source *src, const struct dtx_read_opts *opts,
                                 struct dtx_reader **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct sqlite_reader *r = dtx_mem_zalloc(1, sizeof(*r));

	if (!r)
		DTX_FAIL_MEM(err);
	pthread_mutex_init(&r->lock, NULL);
	r->head.src = src;
	r->opts = *opts;
	DTX_TRY(dtx_sqlite_db_open(&r->db, dtx_source_name(src), dtx_source_limits(src),
	                           dtx_source_data(src), dtx_source_size(src), err));
	DTX_TRY(open_rows(r, err));
	DTX_TRY(set_types(r, err));
	DTX_TRY(set_origin(r, err));
	*out = &r->head;
	r = NULL;
out:
	if (r)
		sqlite_close(&r->head);
	return rc;
}

static enum dtx_code sqlite_schema(struct dtx_reader *reader, const struct dtx_schema **out,
                                   struct dtx_err *err)
{
	(void)err;
	*out = &of(reader)->schema;
	return DTX_OK;
}

static enum dtx_code sqlite_start(struct dtx_reader *reader, const struct dtx_scan *scan,
                                  struct dtx_err *err)
{
	struct sqlite_reader *r = of(reader);
	uint32_t rows = scan->batch_rows ? scan->batch_rows : DTX_BATCH_ROWS, wanted = 1, most;

	(void)err;
	for (uint32_t i = 0; i < r->schema.nfields; i++)
		wanted += scan->need[i] != DTX_NEED_SKIP;
	r->scan = *scan;
	most = (uint32_t)dtx_mem_share(BATCH_CELLS_MAX, CELL_SHARE);
	r->scan.batch_rows = DTX_MIN(rows, DTX_MAX(most / wanted, (uint32_t)BATCH_ROWS_MIN));
	r->seq = 0;
	r->done = r->kept = 0;
	r->ended = false;
	reader->stats = (struct dtx_read_stats){ 0 };
	reader->misfits = reader->offsets = 0;
	(void)sqlite3_reset(r->stmt);
	return DTX_OK;
}

/* --- batches --- */

/* The memory of the columns of a batch. */
struct block {
	struct dtx_arena text;
	struct dtx_str *item; /* in `text`, as are the arrays */
	size_t cap, bytes;
	struct dtx_strings strings;
	uint64_t *id;
	uint8_t **tag;               /* per field; NULL: not needed */
	union dtx_payload **payload; /* per field */
	uint32_t n;
};

static void block_free(void *arg)
{
	struct block *b = arg;

	dtx_arena_clear(&b->text);
	dtx_mem_free(b);
}

static bool is_needed(const struct sqlite_reader *r, uint32_t i)
{
	return r->scan.need[i] != DTX_NEED_SKIP || (r->scan.keep && r->scan.keep_need[i]);
}

/* Makes an empty block and its owner. */
static enum dtx_code block_new(const struct sqlite_reader *r, struct block **out,
                               struct dtx_owner **owner, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct block *b = dtx_mem_zalloc(1, sizeof(*b));
	size_t rows = (size_t)DTX_MIN(r->rows - r->done, (int64_t)r->scan.batch_rows) + 1;
	uint32_t n = r->schema.nfields, i;
	bool ok = b;

	if (ok) {
		b->id = dtx_arena_zalloc(&b->text, rows, sizeof(*b->id));
		b->tag = dtx_arena_zalloc(&b->text, n + 1, sizeof(*b->tag));
		b->payload = dtx_arena_zalloc(&b->text, n + 1, sizeof(*b->payload));
		ok = b->id && b->tag && b->payload;
	}
	for (i = 0; ok && i < n; i++) {
		if (!is_needed(r, i))
			continue;
		b->tag[i] = dtx_arena_zalloc(&b->text, rows, 1);
		b->payload[i] = dtx_arena_zalloc(&b->text, rows, sizeof(**b->payload));
		ok = b->tag[i] && b->payload[i];
	}
	*owner = ok ? dtx_owner_new(block_free, b) : NULL;
	if (!*owner) {
		if (b)
			block_free(b);
		DTX_FAIL_MEM(err);
	}
	*out = b;
out:
	return rc;
}

static enum dtx_code put_text(struct block *b, struct dtx_str text, uint64_t *id,
                              struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	char *copy = dtx_arena_pack(&b->text, text.ptr, text.len);

	if (!copy ||
	    !dtx_arena_reserve(&b->text, &b->item, &b->cap, b->strings.n + 1, sizeof(*b->item)))
		DTX_FAIL_MEM(err);
	*id = b->strings.n;
	b->item[b->strings.n++] = (struct dtx_str){ copy, text.len };
	b->strings.item = b->item;
	b->bytes += text.len;
out:
	return rc;
}

static enum dtx_code put_value(struct sqlite_reader *r, struct block *b, uint32_t i,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct values *v = &r->values[i];
	union dtx_payload *to = &b->payload[i][b->n];
	uint8_t tag = DTX_CELL_BLANK;
	struct dtx_str text;
	int kind;

	DTX_TRY(get_value(r, i, &kind, &text, err));
	if (kind == SQLITE_TEXT) {
		tag = v->moment ? DTX_CELL_ISO : DTX_CELL_TEXT;
		DTX_TRY(put_text(b, text, &to->id, err));
	} else if (kind == SQLITE_FLOAT) {
		tag = DTX_CELL_NUMBER;
		to->num = sqlite3_column_double(r->stmt, v->at);
	} else if (kind == SQLITE_INTEGER) {
		sqlite3_int64 whole = sqlite3_column_int64(r->stmt, v->at);

		bool exact = whole >= -DTX_CELL_EXACT && whole <= DTX_CELL_EXACT;

		tag = v->truth ? DTX_CELL_BOOL : exact ? DTX_CELL_NUMBER : DTX_CELL_WHOLE;
		if (v->truth)
			to->id = (uint64_t)whole;
		else if (exact)
			to->num = (double)whole;
		else
			to->whole = whole;
	}
	b->tag[i][b->n] = tag;
out:
	return rc;
}

/* Fills the block with the next rows. */
static enum dtx_code fill(struct sqlite_reader *r, struct block *b, struct dtx_err *err)
{
	const size_t text = dtx_mem_share(TEXT_MAX, TEXT_SHARE);
	enum dtx_code rc = DTX_OK;
	bool row;

	while (b->n < r->scan.batch_rows && b->bytes < text && r->done < r->rows) {
		DTX_TRY(dtx_cancel_row(b->n, err));
		DTX_TRY(dtx_sqlite_db_step(&r->db, r->stmt, &row, err));
		DTX_ASSERT(row, err); /* the bytes are those of the first pass */
		b->id[b->n] = row_id(r);
		for (uint32_t i = 0; i < r->schema.nfields; i++)
			if (b->tag[i])
				DTX_TRY(put_value(r, b, i, err));
		b->n++;
		r->done++;
	}
	r->ended = r->done == r->rows;
	r->head.stats.rows_read = r->head.stats.rows_out = r->done;
	r->head.stats.stopped_early = !r->ended;
	dtx_reader_progress(&r->head, (uint64_t)r->done, (uint64_t)r->rows);
out:
	return rc;
}

/* Takes the next rows; an empty block at the end. */
static enum dtx_code claim(struct sqlite_reader *r, struct block **b, struct dtx_owner **owner,
                           uint64_t *seq, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	pthread_mutex_lock(&r->lock);
	DTX_TRY(block_new(r, b, owner, err));
	if (!r->ended && (r->scan.limit < 0 || r->kept < r->scan.limit))
		rc = fill(r, *b, err);
	if (rc != DTX_OK)
		r->ended = true;
	*seq = r->seq;
	r->seq += (*b)->n > 0;
out:
	pthread_mutex_unlock(&r->lock);
	return rc;
}

static enum dtx_code make_columns(const struct sqlite_reader *r, const struct block *block,
                                  struct dtx_owner *owner, struct dtx_batch *b, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	for (uint32_t i = 0; i < b->ncols; i++) {
		struct dtx_column *c;

		if (!block->tag[i])
			continue;
		c = dtx_column_new(DTX_F_CELL, r->scan.schema->field[i].type, b->nrows,
		                   dtx_owner_ref(owner));
		if (!c)
			DTX_FAIL_MEM(err);
		c->nulls = UINT32_MAX;
		c->v.payload = block->payload[i];
		c->tag = block->tag[i];
		c->strings = &block->strings;
		b->col[i] = c;
	}
out:
	return rc;
}

static enum dtx_code sqlite_next(struct dtx_reader *reader, unsigned worker, struct dtx_batch **out,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct sqlite_reader *r = of(reader);
	struct dtx_owner *owner = NULL;
	struct dtx_batch *b = NULL;
	struct block *block = NULL;
	uint64_t seq;

	(void)worker;
	*out = NULL;
	DTX_TRY(claim(r, &block, &owner, &seq, err));
	if (!block->n)
		goto out;
	DTX_TRY(dtx_batch_new(r->scan.schema, block->n, &b, err));
	b->seq = seq;
	b->last = true;
	b->origin = &reader->origin;
	b->first_row = block->id[0];
	b->rec = block->id;
	b->rec_owner = dtx_owner_ref(owner);
	DTX_TRY(make_columns(r, block, owner, b, err));
	for (uint32_t i = 0; i < b->ncols; i++)
		if (b->col[i] && r->scan.need[i] == DTX_NEED_VALUE)
			DTX_TRY(dtx_columns_cast(reader, &r->opts, b, i, NULL, err));
	if (r->scan.keep)
		DTX_TRY(r->scan.keep(r->scan.keep_arg, b, err));
	pthread_mutex_lock(&r->lock);
	r->kept += b->nsel;
	pthread_mutex_unlock(&r->lock);
	*out = b;
	b = NULL;
out:
	dtx_batch_free(b);
	dtx_owner_unref(owner);
	return rc;
}

static json_t *sqlite_describe(struct dtx_reader *reader)
{
	const struct sqlite_reader *r = of(reader);

	return json_pack("{s:s, s:s, s:s?, s:I, s:s}", "format", dtx_read_sqlite.name, "sheet",
	                 r->table, "query", r->opts.query, "rows", (json_int_t)r->rows, "rows_by",
	                 r->rowids ? "rowid" : "position");
}

/* A database has no raw cells that another reading would find. */
static enum dtx_code sqlite_raw(struct dtx_source *src, const struct dtx_read_opts *opts,
                                struct dtx_rawgrid *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	(void)opts;
	(void)out;
	DTX_FAIL_NEXT(err, DTX_E_UNSUPPORTED_FORMAT,
	              "name what is read with \"table\" or \"query\"",
	              "'%s': a database is not handed over as raw cells", dtx_source_name(src));
out:
	return rc;
}

static const struct dtx_manual manual = {
	"TABLES OF A DATABASE",
	"An output named .db, .sqlite or .sqlite3 is a table of an SQLite database: bool as 0 and "
	"1, dates and times as ISO texts in columns DATE and DATETIME, decimals as texts, so that "
	"no digit is lost; dtx reads the same values back. A database that is there is changed in "
	"one transaction, at the end of the run: its other tables stay, a run that fails or is "
	"killed changes nothing, and a lock of another program is an error after two seconds. If "
	"the table is there, if_exists must say replace or append. Rows are added only to a table "
	"whose columns have the names of the result, in any order, and keep its values as they "
	"are; replace keeps such a table with its indexes, and makes another one otherwise. Views, "
	"virtual tables and tables with triggers get no rows.",
	"$ printf 'city,n\\nRome,2\\nOslo,3\\n' > sales.csv\n"
	"$ dtx convert sales.csv -o shop.db --into sales\n"
	"$ dtx convert sales.csv -o shop.db --into sales --if-exists append\n"
	"$ dtx convert shop.db --read query='SELECT sum(n) AS n FROM sales' -o -\n"
	"n\n"
	"10\n"
};

const struct dtx_reader_class dtx_read_sqlite = {
	.name = "sqlite",
	.formats = "sqlite",
	.suffixes = "db,sqlite,sqlite3",
	.what = "an SQLite database",
	.manual = &manual,
	.uses = "sheet,table,query",
	.places = DTX_PLACES_ROWS,
	.beside = "-wal,-journal",
	.isolated = true,
	.sniff = sqlite_sniff,
	.open = sqlite_open,
	.schema = sqlite_schema,
	.start = sqlite_start,
	.next = sqlite_next,
	.describe = sqlite_describe,
	.close = sqlite_close,
	.raw = sqlite_raw,
};
