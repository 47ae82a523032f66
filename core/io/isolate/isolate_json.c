/* Options, schemas, errors and counts as JSON between main and a reader process. What comes from
 * the process is only accepted if every part of it is valid. */
#include "core/base/memory/mem.h"
#include "core/base/text/utf8.h"
#include "core/io/columns.h"
#include "core/io/sheet/cellref.h"
#include "core/io/isolate/isolate.h"

/* A bound for counts and places that is larger than any file, and small enough to add them
 * without overflow. */
#define COUNT_MAX ((int64_t)1 << 48)

/* Whether this is a valid count; -1 is allowed if `unknown`. */
static bool count_fits(int64_t n, bool unknown)
{
	return n >= (unknown ? -1 : 0) && n <= COUNT_MAX;
}

/* --- members of plain structures --- */

enum kind { TEXT, NAME, INT, I64, BOOL, CHAR }; /* NAME: a text in an array within the struct */
struct row {
	const char *name;
	enum kind kind;
	size_t offset, size;
};
#define ROW(type, member, k)                                                                       \
	{                                                                                          \
#member, (k), offsetof(struct type, member), sizeof(((struct type *)0)->member)    \
	}

/* A message may be cut inside a character; only the text before that is used. */
static json_t *text_json(const char *text)
{
	ptrdiff_t bad = dtx_utf8_bad(text, strlen(text));

	return bad < 0 ? json_string(text) : json_stringn(text, (size_t)bad);
}

static json_t *row_json(const struct row *r, const char *at)
{
	const char *text;
	int64_t i64;
	int i;

	switch (r->kind) {
	case TEXT: memcpy(&text, at, sizeof(text)); return text ? text_json(text) : json_null();
	case NAME: return text_json(at);
	case INT: memcpy(&i, at, sizeof(i)); return json_integer(i);
	case I64: memcpy(&i64, at, sizeof(i64)); return json_integer(i64);
	case BOOL: return json_boolean(*at);
	case CHAR: return json_integer((unsigned char)*at);
	}
	return NULL;
}

static bool row_read(const struct row *r, const json_t *v, char *at)
{
	const char *text = json_string_value(v);
	int64_t i64 = json_integer_value(v);
	int i = (int)i64;

	switch (r->kind) {
	case TEXT: memcpy(at, &text, sizeof(text)); return text || json_is_null(v);
	case NAME:
		if (text)
			dtx_str_copy(at, r->size, dtx_str_of(text));
		return text;
	case INT: memcpy(at, &i, sizeof(i)); return json_is_integer(v) && i == i64;
	case I64: memcpy(at, &i64, sizeof(i64)); return json_is_integer(v);
	case BOOL: *at = json_is_true(v); return json_is_boolean(v);
	case CHAR: *at = (char)i64; return json_is_integer(v) && i64 >= 0 && i64 < 256;
	}
	return false;
}

static json_t *rows_json(const struct row *row, size_t n, const void *from)
{
	json_t *o = json_object();
	size_t i;

	for (i = 0; o && i < n; i++) {
		if (!dtx_json_set(o, row[i].name,
		                  row_json(&row[i], (const char *)from + row[i].offset))) {
			json_decref(o);
			return NULL;
		}
	}
	return o;
}

static bool rows_read(const struct row *row, size_t n, const json_t *from, void *to)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (!row_read(&row[i], json_object_get(from, row[i].name),
		              (char *)to + row[i].offset))
			return false;
	}
	return true;
}

/* Adds v, which is taken. On failure frees the object and returns NULL. */
static json_t *with(json_t *o, const char *key, json_t *v)
{
	if (o && dtx_json_set(o, key, v))
		return o;
	if (!o)
		json_decref(v);
	json_decref(o);
	return NULL;
}

/* --- types and schemas --- */

static json_t *isolate_type_json(struct dtx_typeref type)
{
	return json_pack("[iii]", (int)type.type, (int)type.precision, (int)type.scale);
}

static bool isolate_type_read(const json_t *from, struct dtx_typeref *type)
{
	int64_t t = json_integer_value(json_array_get(from, 0));
	int64_t precision = json_integer_value(json_array_get(from, 1));
	int64_t scale = json_integer_value(json_array_get(from, 2));

	if (json_array_size(from) != 3 || t < 0 || t >= DTX_TYPE_COUNT || precision < 0 ||
	    precision > 38 || scale < 0 || scale > precision || (t == DTX_T_DECIMAL && !precision))
		return false;
	*type = (struct dtx_typeref){ (enum dtx_type)t, (uint8_t)precision, (uint8_t)scale };
	return true;
}

static const struct row field_rows[] = {
	ROW(dtx_field, name, TEXT),          ROW(dtx_field, format, TEXT),
	ROW(dtx_field, guessed, BOOL),       ROW(dtx_field, declared, BOOL),
	ROW(dtx_field, source, BOOL),        ROW(dtx_field, decimal_comma, BOOL),
	ROW(dtx_field, group, CHAR),         ROW(dtx_field, json, BOOL),
	ROW(dtx_field, mixed_offsets, BOOL),
};
/* A new member needs a new row, except for input_name, which is the name here. */
_Static_assert(sizeof(struct dtx_field) == 40, "field_rows lists the members of dtx_field");

json_t *dtx_isolate_schema_json(const struct dtx_schema *schema)
{
	json_t *list = json_array();
	uint32_t i;

	for (i = 0; list && i < schema->nfields; i++) {
		json_t *o = rows_json(field_rows, DTX_COUNT(field_rows), &schema->field[i]);

		o = with(o, "type", isolate_type_json(schema->field[i].type));
		if (!o || json_array_append_new(list, o)) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

enum dtx_code dtx_isolate_schema_read(const json_t *from, struct dtx_arena *a,
                                      struct dtx_schema *schema, struct dtx_err *err)
{
	size_t n = json_array_size(from), i;
	struct dtx_field *f;
	enum dtx_code rc = DTX_OK;

	if (!json_is_array(from) || n > DTX_SHEET_COLS)
		DTX_FAIL(err, DTX_E_SNIPPET_BAD_RESULT, "the schema is malformed");
	f = dtx_arena_zalloc(a, n + 1, sizeof(*f));
	if (!f)
		DTX_FAIL_MEM(err);
	for (i = 0; i < n; i++) {
		const json_t *o = json_array_get(from, i);

		if (!rows_read(field_rows, DTX_COUNT(field_rows), o, &f[i]) || !f[i].name ||
		    !isolate_type_read(json_object_get(o, "type"), &f[i].type))
			DTX_FAIL(err, DTX_E_SNIPPET_BAD_RESULT,
			         "column %zu of the schema is malformed", i);
		f[i].name = dtx_arena_strdup(a, f[i].name);
		if (!f[i].name)
			DTX_FAIL_MEM(err);
		f[i].input_name = f[i].declared ? f[i].name : NULL;
		if (!f[i].format)
			continue;
		f[i].format = dtx_arena_strdup(a, f[i].format);
		if (!f[i].format)
			DTX_FAIL_MEM(err);
	}
	*schema = (struct dtx_schema){ .nfields = (uint32_t)n, .field = f };
out:
	return rc;
}

/* --- options --- */

static const struct row opts_rows[] = {
	ROW(dtx_read_opts, alias, TEXT),
	ROW(dtx_read_opts, format, TEXT),
	ROW(dtx_read_opts, sheet, TEXT),
	ROW(dtx_read_opts, range, TEXT),
	ROW(dtx_read_opts, reader, TEXT),
	ROW(dtx_read_opts, header_rows, INT),
	ROW(dtx_read_opts, header_sep, TEXT),
	ROW(dtx_read_opts, header_fill, INT),
	ROW(dtx_read_opts, names_unique_error, BOOL),
	ROW(dtx_read_opts, skip, I64),
	ROW(dtx_read_opts, skip_tail, I64),
	ROW(dtx_read_opts, encoding, TEXT),
	ROW(dtx_read_opts, delimiter, TEXT),
	ROW(dtx_read_opts, quote, TEXT),
	ROW(dtx_read_opts, escape, TEXT),
	ROW(dtx_read_opts, comment, TEXT),
	ROW(dtx_read_opts, quotes, TEXT),
	ROW(dtx_read_opts, trim, BOOL),
	ROW(dtx_read_opts, decimal, CHAR),
	ROW(dtx_read_opts, group, CHAR),
	ROW(dtx_read_opts, home, CHAR),
	ROW(dtx_read_opts, extra, INT),
	ROW(dtx_read_opts, ragged, INT),
	ROW(dtx_read_opts, hidden_drop, BOOL),
	ROW(dtx_read_opts, merged_fill, BOOL),
	ROW(dtx_read_opts, merged_known, BOOL),
	ROW(dtx_read_opts, bad_cells, INT),
	ROW(dtx_read_opts, hold_cells, INT),
	ROW(dtx_read_opts, terminator, TEXT),
	ROW(dtx_read_opts, rejects, TEXT),
	ROW(dtx_read_opts, max_rejects, I64),
	ROW(dtx_read_opts, table, TEXT),
	ROW(dtx_read_opts, query, TEXT),
	ROW(dtx_read_opts, records, TEXT),
	ROW(dtx_read_opts, duplicate_keys, INT),
	ROW(dtx_read_opts, json_lenient, BOOL),
	ROW(dtx_read_opts, headers_drop, BOOL),
	ROW(dtx_read_opts, mixed, BOOL),
	ROW(dtx_read_opts, strays, BOOL),
	ROW(dtx_read_opts, margins, BOOL),
	ROW(dtx_read_opts, piece_bytes, INT),
};
/* A new member needs a new row, or the process would ignore it. */
_Static_assert(sizeof(struct dtx_read_opts) == 280, "opts_rows lists the members of dtx_read_opts");

static const struct row type_rows[] = {
	ROW(dtx_read_type, name, TEXT),
	ROW(dtx_read_type, format, TEXT),
	ROW(dtx_read_type, on_error, INT),
};

static json_t *texts_json(const char *const *text, size_t n)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; list && i < n; i++) {
		if (json_array_append_new(list, json_string(text[i]))) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

static bool texts_read(const json_t *from, struct dtx_arena *a, const char *const **out, size_t *n)
{
	size_t i;
	const char **list;

	*n = json_array_size(from);
	list = dtx_arena_zalloc(a, *n + 1, sizeof(*list));
	*out = list;
	for (i = 0; list && i < *n; i++) {
		list[i] = json_string_value(json_array_get(from, i));
		if (!list[i])
			return false;
	}
	return list;
}

static json_t *types_json(const struct dtx_read_opts *o)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; list && i < o->ntypes; i++) {
		json_t *t = rows_json(type_rows, DTX_COUNT(type_rows), &o->types[i]);

		t = with(t, "type", isolate_type_json(o->types[i].type));
		if (!t || json_array_append_new(list, t)) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

static bool types_read(const json_t *from, struct dtx_arena *a, struct dtx_read_opts *o)
{
	struct dtx_read_type *t;
	size_t i;

	o->ntypes = json_array_size(from);
	t = dtx_arena_zalloc(a, o->ntypes + 1, sizeof(*t));
	o->types = t;
	for (i = 0; t && i < o->ntypes; i++) {
		const json_t *v = json_array_get(from, i);

		if (!rows_read(type_rows, DTX_COUNT(type_rows), v, &t[i]) ||
		    !isolate_type_read(json_object_get(v, "type"), &t[i].type))
			return false;
	}
	if (t)
		dtx_columns_index(a, o);
	return t;
}

json_t *dtx_isolate_opts_json(const struct dtx_read_opts *o)
{
	json_t *j = rows_json(opts_rows, DTX_COUNT(opts_rows), o);

	j = with(j, "null_values", texts_json(o->null_values, o->nnull_values));
	j = with(j, "requires", texts_json(o->requires, o->nrequires));
	return with(j, "types", types_json(o));
}

bool dtx_isolate_opts_read(const json_t *from, struct dtx_arena *a, struct dtx_read_opts *o)
{
	memset(o, 0, sizeof(*o));
	return rows_read(opts_rows, DTX_COUNT(opts_rows), from, o) &&
	       texts_read(json_object_get(from, "null_values"), a, &o->null_values,
	                  &o->nnull_values) &&
	       texts_read(json_object_get(from, "requires"), a, &o->requires, &o->nrequires) &&
	       types_read(json_object_get(from, "types"), a, o);
}

/* --- errors --- */

static const struct row err_rows[] = {
	ROW(dtx_err, run_time, BOOL), ROW(dtx_err, row, I64),       ROW(dtx_err, byte, I64),
	ROW(dtx_err, count, I64),     ROW(dtx_err, input, NAME),    ROW(dtx_err, sheet, NAME),
	ROW(dtx_err, cell, NAME),     ROW(dtx_err, column, NAME),   ROW(dtx_err, msg, NAME),
	ROW(dtx_err, hint, NAME),     ROW(dtx_err, declared, NAME),
};

json_t *dtx_isolate_err_json(const struct dtx_err *err)
{
	json_t *o = rows_json(err_rows, DTX_COUNT(err_rows), err);
	json_t *near = json_array();
	size_t i;

	for (i = 0; near && i < DTX_COUNT(err->did_you_mean); i++) {
		if (err->did_you_mean[i][0] &&
		    json_array_append_new(near, text_json(err->did_you_mean[i]))) {
			json_decref(near);
			near = NULL;
		}
	}
	o = with(o, "did_you_mean", near);
	o = with(o, "severity", json_integer(err->severity));
	o = with(o, "more", err->more ? json_string(err->more) : json_null());
	return with(o, "code", json_string(dtx_code_name(err->code)));
}

/* Only errors that end a read, and warnings, may come from a reader. */
static bool code_fits(enum dtx_code code, int64_t severity)
{
	int status = code < DTX_CODE_COUNT ? dtx_code_exit(code, true) : -1;

	if (severity == DTX_SEV_WARNING)
		return status == 0 && code != DTX_OK;
	return severity == DTX_SEV_ERROR && status > 0 && code != DTX_E_RETYPE;
}

bool dtx_isolate_err_read(const json_t *from, struct dtx_err *err)
{
	const char *name = json_string_value(json_object_get(from, "code"));
	const char *more = json_string_value(json_object_get(from, "more"));
	enum dtx_code code = name ? dtx_code_find(name) : DTX_CODE_COUNT;
	int64_t severity = dtx_json_int(from, "severity", -1);
	const json_t *near = json_object_get(from, "did_you_mean");
	size_t i;

	/* a warning may have the same name as an error; the first match is the error */
	if (code == DTX_E_DIV_ZERO && severity == DTX_SEV_WARNING)
		code = DTX_W_DIV_ZERO;
	if (!code_fits(code, severity))
		return false;
	dtx_err_set(err, code, __FILE__, __LINE__, "reader");
	if (!err)
		return true;
	err->severity = (enum dtx_severity)severity;
	for (i = 0; i < DTX_COUNT(err->did_you_mean); i++) {
		const char *text = json_string_value(json_array_get(near, i));

		if (text)
			dtx_str_copy(err->did_you_mean[i], sizeof(err->did_you_mean[i]),
			             dtx_str_of(text));
	}
	if (more)
		dtx_err_more(err, dtx_mem_strdup(more));
	return rows_read(err_rows, DTX_COUNT(err_rows), from, err) && count_fits(err->row, true) &&
	       count_fits(err->byte, true) && count_fits(err->count, true);
}

/* --- counts --- */

json_t *dtx_isolate_stats_json(const struct dtx_read_stats *s)
{
	json_t *list = json_pack("[IIbI]", (json_int_t)s->rows_read, (json_int_t)s->rows_out,
	                         s->stopped_early, (json_int_t)s->left_out);
	int i;

	for (i = 0; list && i < DTX_DROP_COUNT; i++) {
		if (json_array_append_new(list, json_integer(s->dropped[i]))) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

bool dtx_isolate_stats_read(const json_t *from, struct dtx_read_stats *s)
{
	size_t i;

	if (json_array_size(from) != 4 + DTX_DROP_COUNT ||
	    !json_is_boolean(json_array_get(from, 2)))
		return false;
	for (i = 0; i < 4 + DTX_DROP_COUNT; i++) {
		const json_t *v = json_array_get(from, i);

		if (i != 2 && (!json_is_integer(v) || !count_fits(json_integer_value(v), false)))
			return false;
	}
	s->rows_read = json_integer_value(json_array_get(from, 0));
	s->rows_out = json_integer_value(json_array_get(from, 1));
	s->stopped_early = json_is_true(json_array_get(from, 2));
	s->left_out = json_integer_value(json_array_get(from, 3));
	for (i = 0; i < DTX_DROP_COUNT; i++)
		s->dropped[i] = json_integer_value(json_array_get(from, 4 + i));
	return true;
}
