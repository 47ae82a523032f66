/* Passes over all records: finds columns, types and morsels, and counts irregularities. */
#include "core/io/json/json_rows.h"

#include "core/base/thread/cancel.h"
#include "core/base/memory/mem.h"
#include "core/data/builder.h"
#include "core/io/columns.h"
#include "core/io/json/json_reader.h"
#include "core/io/repair.h"

/* Whether the value is JSON null or one of the null values. */
static bool jrows_null(const struct dtx_jrows *r, const struct dtx_jvalue *v, struct dtx_str text);

/* Reads one record and flattens its members to columns. */

enum { NEST_SEP = '\x1f', PATH_MAX_BYTES = 64 << 10 };

static void jwalk_init(struct dtx_jwalk *w, struct dtx_jrows *rows, bool learn, dtx_jrow_fn fn,
                       void *arg)
{
	*w = (struct dtx_jwalk){ .rows = rows, .learn = learn, .fn = fn, .arg = arg };
	dtx_buf_init(&w->path, PATH_MAX_BYTES);
	dtx_buf_init(&w->text, (size_t)1 << 30);
}

static void jwalk_clear(struct dtx_jwalk *w)
{
	dtx_buf_clear(&w->path);
	dtx_buf_clear(&w->text);
	dtx_mem_free(w->pending);
	dtx_mem_free(w->slot);
}

/* --- columns --- */

static struct dtx_str path_of(struct dtx_jwalk *w)
{
	return dtx_buf_str(&w->path);
}

enum dtx_code dtx_jcol_add(struct dtx_jrows *r, struct dtx_str path, uint32_t *out,
                           struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t object;

	if (r->ncols == DTX_JROWS_COLS_MAX)
		DTX_FAIL_NEXT(err, DTX_E_INPUT_LIMIT,
		              "\"records\" reads a part of the document; names that are data are "
		              "better values",
		              "'%s': over %d different members", r->label, DTX_JROWS_COLS_MAX);
	if (!dtx_mem_reserve(&r->col, &r->cols_cap, r->ncols + 1, sizeof(*r->col)) ||
	    !dtx_strmap_put(&r->map, path, (uint32_t)r->ncols, out))
		DTX_FAIL_MEM(err);
	object = dtx_strmap_get(&r->objects, path);
	r->col[*out] = (struct dtx_jcol){ .path = r->map.entry[r->map.n - 1].key,
		                          .object = object == DTX_STRMAP_NONE ? 0 : object + 1 };
	if (object != DTX_STRMAP_NONE)
		r->object[object].col = *out;
	r->ncols++;
out:
	return rc;
}

/* Finds the column of the path; adds it in the first pass. */
static enum dtx_code column_of(struct dtx_jwalk *w, uint32_t *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_jrows *r = w->rows;
	struct dtx_str path = path_of(w);
	uint32_t i = w->guess;

	DTX_TRY(dtx_buf_check(&w->path, "the names of nested members", err));
	if (i >= r->ncols || !dtx_str_eq(r->col[i].path, path))
		i = dtx_strmap_get(&r->map, path);
	if (i == DTX_STRMAP_NONE && !w->learn)
		DTX_FAIL(err, DTX_E_INPUT_CHANGED, "'%s' changed while it was read", r->label);
	if (i == DTX_STRMAP_NONE)
		DTX_TRY(dtx_jcol_add(r, path, &i, err));
	w->guess = i + 1;
	*out = i;
out:
	return rc;
}

/* --- repeated keys --- */

enum dtx_code dtx_jrows_repeated(const struct dtx_jrows *r, const char *at, struct dtx_err *err)
{
	enum dtx_code rc = dtx_jrows_refuse(r, DTX_E_CORRUPT_FILE, at,
	                                    "expected each key once in a record", err);

	dtx_err_hint(
		err,
		"\"duplicate_keys\": \"last\" or \"duplicate_keys\": \"first\" takes one of them");
	return rc;
}

/* In the first pass: notes a nested object. Each key must come once, for an object or for a
 * value. */
static enum dtx_code see_object(struct dtx_jwalk *w, const char *at, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_jrows *r = w->rows;
	struct dtx_str path = path_of(w);
	struct dtx_jobject *o;
	uint32_t i;

	DTX_TRY(dtx_buf_check(&w->path, "the names of nested members", err));
	i = dtx_strmap_get(&r->objects, path);
	if (i == DTX_STRMAP_NONE) {
		if (r->objects.n == DTX_JROWS_COLS_MAX)
			DTX_FAIL(err, DTX_E_INPUT_LIMIT, "'%s': over %d different members",
			         r->label, DTX_JROWS_COLS_MAX);
		if (!dtx_mem_reserve(&r->object, &r->objects_cap, r->objects.n + 1,
		                     sizeof(*r->object)) ||
		    !dtx_strmap_put(&r->objects, path, (uint32_t)r->objects.n, &i))
			DTX_FAIL_MEM(err);
		r->object[i] = (struct dtx_jobject){ 0, dtx_strmap_get(&r->map, path) };
		if (r->object[i].col != DTX_STRMAP_NONE)
			r->col[r->object[i].col].object = i + 1;
	}
	o = &r->object[i];
	if (r->opts->duplicate_keys != DTX_KEYS_ERROR)
		goto out;
	if (o->last_row == r->nrows + 1 ||
	    (o->col != DTX_STRMAP_NONE && r->col[o->col].last_row == r->nrows + 1))
		return dtx_jrows_repeated(r, at, err);
	o->last_row = r->nrows + 1;
out:
	return rc;
}

static enum dtx_code see_column(struct dtx_jrows *r, uint32_t col, const char *at,
                                struct dtx_err *err)
{
	struct dtx_jcol *c = &r->col[col];
	uint64_t now = r->nrows + 1;

	if (c->last_row == now || (c->object && r->object[c->object - 1].last_row == now))
		return dtx_jrows_repeated(r, at, err);
	c->last_row = now;
	return DTX_OK;
}

static void count(struct dtx_joddity *o, const char *at)
{
	if (!o->n++)
		o->at = at;
}

/* Holds the value until the record ends; of two values for one column, keeps the one that is
 * wanted. */
static enum dtx_code hold_back(struct dtx_jwalk *w, uint32_t col, const struct dtx_jvalue *v,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t had = w->nslots;
	uint32_t at;

	if (col >= w->nslots) {
		if (!dtx_mem_reserve(&w->slot, &w->nslots, (size_t)col + 1, sizeof(*w->slot)))
			DTX_FAIL_MEM(err);
		memset(w->slot + had, 0, (w->nslots - had) * sizeof(*w->slot));
	}
	at = w->slot[col];
	if (at && at <= w->npending && w->pending[at - 1].col == col) {
		if (w->learn)
			count(&w->rows->repeated, v->raw.ptr);
		if (w->rows->opts->duplicate_keys == DTX_KEYS_LAST)
			w->pending[at - 1].v = *v;
		goto out;
	}
	if (!dtx_mem_reserve(&w->pending, &w->pending_cap, w->npending + 1, sizeof(*w->pending)))
		DTX_FAIL_MEM(err);
	w->pending[w->npending++] = (struct dtx_jpending){ col, *v };
	w->slot[col] = (uint32_t)w->npending;
out:
	return rc;
}

static enum dtx_code hand_over(struct dtx_jwalk *w, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t i, n = w->npending;

	w->npending = 0;
	for (i = 0; i < n; i++)
		DTX_TRY(w->fn(w->arg, w->pending[i].col, &w->pending[i].v, err));
out:
	return rc;
}

/* --- members --- */

static enum dtx_code walk_object(struct dtx_jwalk *w, struct dtx_jscan *s, unsigned nest,
                                 struct dtx_err *err);

static bool is_next(const struct dtx_jscan *s, char c)
{
	return s->p < s->end && *s->p == c;
}

/* Reads the value of the member whose path is in w->path. */
static enum dtx_code walk_member(struct dtx_jwalk *w, struct dtx_jscan *s, unsigned nest,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	bool once = w->rows->opts->duplicate_keys == DTX_KEYS_ERROR;
	struct dtx_jvalue v;
	uint32_t col = 0;

	dtx_jscan_blanks(s);
	if (is_next(s, '{') && nest < DTX_JROWS_NEST) {
		if (w->learn)
			DTX_TRY(see_object(w, s->p, err));
		dtx_buf_addc(&w->path, NEST_SEP);
		DTX_TRY(walk_object(w, s, nest + 1, err));
		goto out;
	}
	s->most = DTX_JROWS_VALUE_MAX;
	if (!dtx_jscan_value(s, &v)) {
		rc = dtx_jrows_fail(w->rows, s, err);
		goto out;
	}
	s->most = 0;
	DTX_TRY(column_of(w, &col, err));
	if (!once) {
		DTX_TRY(hold_back(w, col, &v, err));
		goto out;
	}
	if (w->learn)
		DTX_TRY(see_column(w->rows, col, v.raw.ptr, err));
	DTX_TRY(w->fn(w->arg, col, &v, err));
out:
	return rc;
}

/* Reads a key and its colon, and appends the key to w->path. */
static bool walk_key(struct dtx_jwalk *w, struct dtx_jscan *s)
{
	struct dtx_jvalue key;

	dtx_jscan_blanks(s);
	if (!dtx_jscan_string(s, &key))
		return false;
	if (key.escaped)
		dtx_jscan_unescape(key.raw, &w->path);
	else
		dtx_buf_adds(&w->path, key.raw);
	return dtx_jscan_char(s, ':', "':'");
}

static enum dtx_code walk_object(struct dtx_jwalk *w, struct dtx_jscan *s, unsigned nest,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t prefix = w->path.len;
	bool ok = dtx_jscan_char(s, '{', "an object"), more;

	more = ok && !dtx_jscan_close(s, '}', false);
	while (ok && more) {
		w->path.len = prefix;
		ok = walk_key(w, s);
		if (!ok)
			break;
		DTX_TRY(walk_member(w, s, nest, err));
		ok = dtx_jscan_more(s, '}', &more);
	}
	if (!ok)
		rc = dtx_jrows_fail(w->rows, s, err);
out:
	w->path.len = prefix;
	return rc;
}

/* --- arrays of cells --- */

/* Reads cells beyond the header: they get a name, or are left out. */
static enum dtx_code walk_spare_cell(struct dtx_jwalk *w, struct dtx_jscan *s, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_jrows *r = w->rows;
	bool named = r->opts->ragged == DTX_RAGGED_PAD && r->nheads < DTX_JROWS_COLS_MAX;
	struct dtx_jvalue v;

	if (named) {
		DTX_TRY(dtx_jhead_add(r, (struct dtx_str){ NULL, 0 }, err));
		dtx_buf_reset(&w->path);
		dtx_buf_adds(&w->path, r->head[r->nheads - 1]);
		DTX_TRY(walk_member(w, s, 0, err));
	} else if (!dtx_jscan_value(s, &v)) {
		rc = dtx_jrows_fail(r, s, err);
	}
out:
	return rc;
}

static enum dtx_code walk_row(struct dtx_jwalk *w, struct dtx_jscan *s, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_jrows *r = w->rows;
	const char *from = s->p;
	bool ok = dtx_jscan_char(s, '[', "an array"), more;
	uint32_t i;

	more = ok && !dtx_jscan_close(s, ']', false);
	for (i = 0; ok && more; i++) {
		dtx_buf_reset(&w->path);
		if (i < r->nheads) {
			dtx_buf_adds(&w->path, r->head[i]);
			DTX_TRY(walk_member(w, s, 0, err));
		} else {
			DTX_TRY(walk_spare_cell(w, s, err));
		}
		ok = dtx_jscan_more(s, ']', &more);
	}
	if (!ok)
		rc = dtx_jrows_fail(r, s, err);
	else if (w->learn && i != r->width)
		count(&r->ragged, from);
out:
	return rc;
}

/* Reads the record at s->p and calls fn for every member; s->p moves past it. */
static enum dtx_code jwalk_record(struct dtx_jwalk *w, struct dtx_jscan *s, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_jrows *r = w->rows;

	w->guess = 0;
	w->npending = 0;
	dtx_buf_reset(&w->path);
	dtx_jscan_blanks(s);
	if (is_next(s, '[') && r->layout == DTX_JL_ROWS) {
		DTX_TRY(walk_row(w, s, err));
	} else if (is_next(s, '{') || (r->layout == DTX_JL_OBJECTS && !s->lenient)) {
		DTX_TRY(walk_object(w, s, 0, err));
	} else if (r->layout == DTX_JL_VALUES || s->lenient) {
		dtx_buf_add(&w->path, "value");
		DTX_TRY(walk_member(w, s, 0, err));
	} else {
		s->why = "an array";
		rc = dtx_jrows_fail(r, s, err);
	}
	if (rc == DTX_OK)
		DTX_TRY(hand_over(w, err));
out:
	return rc;
}

/* Makes batches of records. Numbers, bools and dates stay spans of the source; texts point into
 * it unless they contain escapes. */

/* A column of the batch being made: spans, or texts. */
struct making {
	struct dtx_span *span;
	struct dtx_builder text;
	bool wanted, as_text;
};
struct filling {
	struct dtx_json *r;
	struct dtx_jwalk walk;
	struct making *col;
	const char *base;
	uint32_t row;
	struct dtx_cast_found *found;
};

static enum dtx_code fill_value(void *arg, uint32_t col, const struct dtx_jvalue *v,
                                struct dtx_err *err)
{
	struct filling *f = arg;
	uint32_t field = f->r->field_of[col];
	struct making *m;
	struct dtx_str text;

	(void)err;
	if (field == UINT32_MAX || !f->col[field].wanted)
		return DTX_OK;
	m = &f->col[field];
	text = dtx_jrows_text(v, &f->walk.text);
	if (jrows_null(&f->r->rows, v, text))
		return DTX_OK;
	if (!m->as_text) {
		m->span[f->row] =
			(struct dtx_span){ (uint32_t)(v->raw.ptr - f->base), (uint32_t)v->raw.len };
		return DTX_OK;
	}
	/* Records before this one that lack the member have null. */
	while (m->text.len < f->row && !m->text.failed)
		dtx_builder_null(&m->text);
	if (v->kind == DTX_J_STRING && v->escaped)
		dtx_builder_text(&m->text, text);
	else
		dtx_builder_text_borrow(&m->text, text);
	return DTX_OK;
}

static enum dtx_code begin_columns(struct filling *f, const struct dtx_batch *b,
                                   const uint8_t *pick, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	static const struct dtx_typeref text = { .type = DTX_T_TEXT };
	uint32_t i;

	f->col = dtx_mem_zalloc(b->ncols, sizeof(*f->col));
	if (!f->col)
		DTX_FAIL_MEM(err);
	for (i = 0; i < b->ncols; i++) {
		struct making *m = &f->col[i];

		dtx_builder_init(&m->text, text, b->nrows);
		if (!pick[i] || b->col[i])
			continue;
		m->wanted = true;
		m->as_text =
			f->r->declared[i] || f->r->scan.schema->field[i].type.type == DTX_T_TEXT;
		if (!m->as_text)
			m->span = dtx_mem_zalloc(b->nrows, sizeof(*m->span));
		if (!m->as_text && !m->span)
			DTX_FAIL_MEM(err);
	}
out:
	return rc;
}

/* The owner of the text that values point into. */
static struct dtx_owner *text_owner(const struct dtx_json *r)
{
	return r->rows.turned ? r->rows.turned : r->enc.owner;
}

static enum dtx_code span_column(struct filling *f, uint32_t col, uint32_t n,
                                 struct dtx_column **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct making *m = &f->col[col];
	struct dtx_span *span = m->span;
	void *block[] = { span };
	struct dtx_owner *owner = dtx_owner_blocks(block, 1, text_owner(f->r));
	struct dtx_column *c;

	m->span = NULL;
	if (!owner)
		DTX_FAIL_MEM(err);
	c = dtx_column_new(DTX_F_SPAN, f->r->scan.schema->field[col].type, n, owner);
	if (!c)
		DTX_FAIL_MEM(err);
	c->nulls = UINT32_MAX;
	c->v.span = span;
	c->base = f->base;
	c->dialect = DTX_CELLDIALECT_CSV;
	*out = c;
out:
	return rc;
}

static enum dtx_code end_columns(struct filling *f, struct dtx_batch *b, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_owner *text = text_owner(f->r);
	uint32_t i;

	for (i = 0; i < b->ncols; i++) {
		struct making *m = &f->col[i];

		if (!m->wanted)
			continue;
		if (!m->as_text) {
			DTX_TRY(span_column(f, i, b->nrows, &b->col[i], err));
			continue;
		}
		while (m->text.len < b->nrows && !m->text.failed)
			dtx_builder_null(&m->text);
		DTX_TRY(dtx_builder_finish(&m->text, text, &b->col[i], err));
		DTX_TRY(dtx_columns_cast(&f->r->head, &f->r->opts, b, i, f->found, err));
	}
out:
	return rc;
}

/* Reads b->nrows records from `from` on, and makes the columns in `pick`. *from moves to the
 * next record. */
static enum dtx_code make_columns(struct dtx_json *r, struct dtx_batch *b, const uint8_t *pick,
                                  struct dtx_jscan *from, bool first, struct dtx_cast_found *found,
                                  struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct filling f = { .r = r, .base = from->p, .found = found };
	bool more = true;
	uint32_t i;

	jwalk_init(&f.walk, &r->rows, false, fill_value, &f);
	DTX_TRY(begin_columns(&f, b, pick, err));
	for (f.row = 0; f.row < b->nrows; f.row++) {
		if (f.row || !first)
			DTX_TRY(dtx_jrows_next(&r->rows, from, false, &more, err));
		DTX_TRY(jwalk_record(&f.walk, from, err));
	}
	DTX_TRY(end_columns(&f, b, err));
out:
	for (i = 0; f.col && i < b->ncols; i++) {
		dtx_mem_free(f.col[i].span);
		dtx_builder_clear(&f.col[i].text);
	}
	dtx_mem_free(f.col);
	jwalk_clear(&f.walk);
	return rc;
}

enum dtx_code dtx_json_batch(struct dtx_json *r, struct dtx_json_worker *w, struct dtx_batch *b,
                             struct dtx_cast_found *found, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_jscan again = w->at;
	bool first = !w->done;

	if (r->scan.keep) {
		DTX_TRY(make_columns(r, b, r->scan.keep_need, &again, first, found, err));
		DTX_TRY(r->scan.keep(r->scan.keep_arg, b, err));
	}
	DTX_TRY(make_columns(r, b, r->scan.need, &w->at, first, found, err));
out:
	return rc;
}

#define NOTHING_MORE "nothing after the array"
#define TICK_ROWS    4096 /* rows between two updates of the progress */

static int64_t line_of(const char *base, const char *p)
{
	int64_t n = 1;

	while ((base = memchr(base, '\n', (size_t)(p - base))) != NULL) {
		base++;
		n++;
	}
	return n;
}

void dtx_jrows_place(const struct dtx_jrows *r, const char *at, int64_t *line, int64_t *byte)
{
	struct dtx_str from = r->turned_from;
	const char *base = from.ptr ? from.ptr : r->base;

	if (from.ptr && (at < from.ptr || at > from.ptr + from.len))
		at = r->turned_at; /* the place is in rows that were rearranged */
	*line = line_of(base, at);
	*byte = at - base;
	if (r->src) {
		*line += dtx_source_line0(r->src);
		*byte += dtx_source_byte0(r->src);
	}
}

enum dtx_code dtx_jrows_refuse(const struct dtx_jrows *r, enum dtx_code code, const char *at,
                               const char *what, struct dtx_err *err)
{
	int64_t line, byte;

	dtx_jrows_place(r, at, &line, &byte);
	dtx_err_set(err, code, __FILE__, __LINE__, "'%s': line %lld (byte %lld): %s", r->label,
	            (long long)line, (long long)byte, what);
	if (err) {
		err->byte = byte;
		err->row = line - 1;
		snprintf(err->cell, sizeof(err->cell), "L%lld", (long long)line);
	}
	return code;
}

static bool is_letter(char c)
{
	return ((c | 32) >= 'a' && (c | 32) <= 'z') || c == '_' || c == '$';
}

/* A hint for text that is nearly JSON. */
static const char *nearly_json(const struct dtx_jrows *r, const struct dtx_jscan *s)
{
	struct dtx_str rest = { s->p, (size_t)(s->end - s->p) };
	bool begins = rest.ptr == r->area.p;

	if (!rest.len)
		return "the file ends within a value: get the whole of it again";
	if (s->why && !strcmp(s->why, "a string") && is_letter(rest.ptr[0]))
		return "JSON has names in double quotes";
	if (s->why && !strcmp(s->why, NOTHING_MORE))
		return "leave out what follows the array";
	if (dtx_str_starts(rest, DTX_STR("'")) || dtx_str_starts(rest, DTX_STR("(")) ||
	    dtx_str_starts(rest, DTX_STR("None")) || dtx_str_starts(rest, DTX_STR("True")) ||
	    dtx_str_starts(rest, DTX_STR("False")))
		return "JSON has names and texts in double quotes; Python writes them so with "
		       "json.dumps";
	if (dtx_str_starts(rest, DTX_STR("//")) || dtx_str_starts(rest, DTX_STR("/*")) ||
	    dtx_str_starts(rest, DTX_STR("#")))
		return "JSON has no comments: leave them out";
	if (dtx_str_starts(rest, DTX_STR("<")))
		return "this begins as a page or XML does, not as data";
	if (s->why && !strcmp(s->why, "a value") && strchr("+.0123456789", rest.ptr[0]))
		return "JSON writes numbers as 0.5 and 12: a digit before the point, and neither + "
		       "nor 0 before other digits";
	if (begins && is_letter(rest.ptr[0]) &&
	    memchr(rest.ptr, '(', DTX_MIN(rest.len, (size_t)80)))
		return "leave out the call around the JSON, its name and its brackets";
	if (begins && is_letter(rest.ptr[0]) &&
	    memchr(rest.ptr, '=', DTX_MIN(rest.len, (size_t)80)))
		return "leave out the name before the JSON and its '='";
	if (begins)
		return "\"format\": \"csv\" if it is no JSON but a table of text";
	return "correct the file there, or get it again from what wrote it";
}

enum dtx_code dtx_jrows_fail(const struct dtx_jrows *r, const struct dtx_jscan *s,
                             struct dtx_err *err)
{
	size_t left = (size_t)(s->end - s->p), n = 0;
	enum dtx_code rc;
	char what[160];

	if (s->too_long)
		return dtx_jrows_refuse(r, DTX_E_INPUT_LIMIT, s->p, "a value is larger than 16 MiB",
		                        err);
	while (n < DTX_MIN(left, (size_t)12) && (unsigned char)s->p[n] >= 0x20 &&
	       (unsigned char)s->p[n] < 0x80)
		n++;
	snprintf(what, sizeof(what), "expected %s, got %s%.*s%s",
	         s->p == r->area.p && !r->inside ? "JSON, which begins with '{' or '['"
	         : s->why                        ? s->why
	                                         : "JSON",
	         left ? "'" : "the end", (int)n, s->p, left ? "'" : "");
	rc = dtx_jrows_refuse(r, DTX_E_CORRUPT_FILE, s->p, what, err);
	dtx_err_hint(err, "%s", nearly_json(r, s));
	return rc;
}

struct dtx_str dtx_jrows_text(const struct dtx_jvalue *v, struct dtx_buf *scratch)
{
	if (v->kind != DTX_J_STRING || !v->escaped)
		return v->raw;
	dtx_buf_reset(scratch);
	dtx_jscan_unescape(v->raw, scratch);
	return dtx_buf_str(scratch);
}

static bool jrows_null(const struct dtx_jrows *r, const struct dtx_jvalue *v, struct dtx_str text)
{
	size_t i;

	for (i = 0; i < r->opts->nnull_values; i++) {
		if (dtx_str_is(text, r->opts->null_values[i]))
			return true;
	}
	return v->kind == DTX_J_NULL;
}

/* --- the first pass --- */

struct pass {
	struct dtx_jwalk walk;
	struct dtx_jrows *rows;
};

static void see_kind(struct dtx_jcol *c, enum dtx_jkind kind, uint64_t row)
{
	uint64_t *count[] = { &c->strings, &c->numbers, &c->bools, &c->nested };
	int i = kind == DTX_J_STRING                        ? 0
	        : kind == DTX_J_NUMBER                      ? 1
	        : kind == DTX_J_TRUE || kind == DTX_J_FALSE ? 2
	                                                    : 3;

	if (!(*count[i])++)
		c->first[i] = row + 1;
}

static enum dtx_code see_value(void *arg, uint32_t col, const struct dtx_jvalue *v,
                               struct dtx_err *err)
{
	struct pass *p = arg;
	struct dtx_jrows *r = p->rows;
	struct dtx_jcol *c = &r->col[col];
	struct dtx_str text = dtx_jrows_text(v, &p->walk.text);

	(void)err;
	if (jrows_null(r, v, text)) {
		c->seen.nulls++;
		return DTX_OK;
	}
	see_kind(c, v->kind, r->nrows);
	if (v->kind == DTX_J_TRUE || v->kind == DTX_J_FALSE) {
		c->seen.bools++;
	} else if (v->kind == DTX_J_NUMBER || (v->kind == DTX_J_STRING && !v->escaped &&
	                                       text.len >= 10 && text.ptr[4] == '-')) {
		c->seen.no_codes = true; /* a number in JSON is always a number */
		dtx_infer_text(&c->seen, text, false, (int64_t)r->nrows);
	} else {
		c->seen.texts++;
	}
	return DTX_OK;
}

void dtx_jrows_gap(const struct dtx_jrows *r, struct dtx_jscan *s)
{
	dtx_jscan_blanks(s);
	while (!r->array && s->p < s->end && *s->p == DTX_J_RECORD) {
		s->p++;
		dtx_jscan_blanks(s);
	}
}

enum dtx_code dtx_jrows_next(const struct dtx_jrows *r, struct dtx_jscan *s, bool first, bool *more,
                             struct dtx_err *err)
{
	*more = true;
	dtx_jrows_gap(r, s);
	if (!r->array) {
		*more = s->p < s->end;
		return DTX_OK;
	}
	if (s->p < s->end && *s->p == ']') {
		*more = false;
		return DTX_OK;
	}
	if (first)
		return DTX_OK;
	if (!dtx_jscan_char(s, ',', "',' or ']'"))
		return dtx_jrows_fail(r, s, err);
	if (dtx_jscan_close(s, ']', true)) {
		s->p--;
		*more = false;
	}
	return DTX_OK;
}

/* Notes the start of a morsel. `fresh`: the bytes before this record are not a record. */
static enum dtx_code note_morsel(struct dtx_jrows *r, const char *p, bool fresh,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_jmorsel *last = r->nmorsels ? &r->morsel[r->nmorsels - 1] : NULL;
	uint64_t byte = (uint64_t)(p - r->base);

	if (last && !fresh && byte - last->byte < DTX_JROWS_MORSEL_BYTES &&
	    last->rows < DTX_BATCH_ROWS) {
		last->rows++;
		goto out;
	}
	if (!dtx_mem_reserve(&r->morsel, &r->morsels_cap, r->nmorsels + 1, sizeof(*r->morsel)))
		DTX_FAIL_MEM(err);
	r->morsel[r->nmorsels++] = (struct dtx_jmorsel){ byte, r->nrows, 1 };
out:
	return rc;
}

/* In lenient mode, skips a line that is not JSON, or the last record if the file ends inside it.
 * Returns false if it cannot continue. */
static bool skip_unread(struct dtx_jrows *r, struct dtx_jscan *s, const struct dtx_jscan *failed)
{
	const char *eol = memchr(s->p, '\n', (size_t)(s->end - s->p));

	if (r->array && s->end - failed->p > DTX_JROWS_CUT_BYTES)
		return false;
	if (!r->unread.n++)
		r->unread.at = s->p;
	s->p = r->array || !eol ? s->end : eol + 1;
	return true;
}

/* Reads one record at s->p. */
static enum dtx_code pass_record(struct pass *p, struct dtx_jscan *s, bool *fresh,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_jrows *r = p->rows;
	struct dtx_jscan dry = *s;
	struct dtx_jvalue v;

	if (s->lenient && !dtx_jscan_value(&dry, &v)) {
		if (!skip_unread(r, s, &dry))
			rc = dtx_jrows_fail(r, &dry, err);
		*fresh = true;
		goto out;
	}
	DTX_TRY(note_morsel(r, s->p, *fresh, err));
	*fresh = false;
	DTX_TRY(jwalk_record(&p->walk, s, err));
	if ((uint64_t)(s->p - r->base) - r->morsel[r->nmorsels - 1].byte > DTX_SPAN_LEN)
		DTX_FAIL(err, DTX_E_INPUT_LIMIT, "'%s': a record of over 2 GiB", r->label);
	r->nrows++;
out:
	return rc;
}

/* Checks what follows the last record of the document. */
static enum dtx_code pass_end(struct dtx_jrows *r, struct dtx_jscan *s, struct dtx_err *err)
{
	if (!r->inside)
		r->mended = (struct dtx_joddity){ s->mended, s->mended_at };
	if (!r->array || r->inside || (r->unread.n && s->p == s->end))
		return DTX_OK;
	s->p++;
	dtx_jscan_blanks(s);
	s->why = NOTHING_MORE;
	return s->p < s->end ? dtx_jrows_fail(r, s, err) : DTX_OK;
}

static enum dtx_code pass_over(struct dtx_jrows *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct pass p = { .rows = r };
	struct dtx_jscan s = r->area;
	bool more, fresh = true;

	jwalk_init(&p.walk, r, true, see_value, &p);
	for (uint64_t n = 0;; n++) {
		DTX_TRY(dtx_cancel_line(n, err));
		if (r->unread.n && s.p == s.end)
			break;
		DTX_TRY(dtx_jrows_next(r, &s, !r->nrows, &more, err));
		if (!more)
			break;
		dtx_jscan_blanks(&s);
		DTX_TRY(pass_record(&p, &s, &fresh, err));
		if (r->src && !(r->nrows % TICK_ROWS))
			dtx_source_tick(r->src, (uint64_t)(s.p - r->base),
			                (uint64_t)(s.end - r->base));
	}
	DTX_TRY(pass_end(r, &s, err));
	/* quarantine is for lines of text, so it is an error here */
	if (r->ragged.n &&
	    (r->opts->ragged == DTX_RAGGED_ERROR || r->opts->ragged == DTX_RAGGED_QUARANTINE)) {
		char what[120];

		snprintf(what, sizeof(what), "%llu of %llu rows do not have %u cells",
		         (unsigned long long)r->ragged.n, (unsigned long long)r->nrows, r->width);
		rc = dtx_jrows_refuse(r, DTX_E_RAGGED_ROWS, r->ragged.at, what, err);
		dtx_err_hint(err, "\"ragged\": \"pad\" keeps all cells");
	}
out:
	jwalk_clear(&p.walk);
	return rc;
}

/* Whether not a single record is JSON; *s is where the first one fails. */
static bool none_read(const struct dtx_jrows *r, struct dtx_jscan *s)
{
	struct dtx_jvalue v;

	if (r->ncols || !r->unread.n)
		return false;
	*s = r->area;
	s->p = r->unread.at;
	return !dtx_jscan_value(s, &v);
}

static enum dtx_code open_rows(struct dtx_jrows *r, const struct dtx_source *src, const char *label,
                               struct dtx_str bytes, const struct dtx_read_opts *opts,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_jscan s;

	*r = (struct dtx_jrows){ .src = src, .label = label, .base = bytes.ptr, .opts = opts };
	r->area = (struct dtx_jscan){ .p = bytes.ptr,
		                      .end = bytes.ptr + bytes.len,
		                      .lenient = opts->json_lenient };
	DTX_TRY(dtx_jlayout_find(r, err));
	DTX_TRY(pass_over(r, err));
	if (none_read(r, &s))
		rc = dtx_jrows_fail(r, &s, err);
	else if (!r->ncols)
		DTX_FAIL(err, DTX_E_NO_RECORD, "'%s' has no record with a member", label);
out:
	return rc;
}

/* Adds the remedy to an error, if there is one. */
static void advise_json(const char *label, struct dtx_str bytes, const struct dtx_read_opts *opts,
                        struct dtx_err *err)
{
	struct dtx_read_opts other = *opts;
	bool again = strstr(err->hint, "duplicate_keys");
	struct dtx_jrows trial;

	other.json_lenient = true;
	other.duplicate_keys = DTX_KEYS_LAST;
	other.ragged = DTX_RAGGED_PAD;
	/* A file that is mostly not JSON is not repaired by leaving most of it out. */
	if (open_rows(&trial, NULL, label, bytes, &other, NULL) == DTX_OK &&
	    trial.nrows >= trial.unread.n)
		dtx_repair_advise(err, again ? "{\"duplicate_keys\":\"last\"}"
		                             : "{\"syntax\":\"lenient\"}");
	dtx_jrows_clear(&trial);
}

enum dtx_code dtx_jrows_open(struct dtx_jrows *r, const struct dtx_source *src,
                             struct dtx_str bytes, const struct dtx_read_opts *opts,
                             struct dtx_err *err)
{
	const char *label = dtx_source_name(src);
	enum dtx_code rc = open_rows(r, src, label, bytes, opts, err);

	if (rc == DTX_E_CORRUPT_FILE && err)
		advise_json(label, bytes, opts, err);
	return rc;
}

void dtx_jrows_clear(struct dtx_jrows *r)
{
	dtx_strmap_clear(&r->map);
	dtx_strmap_clear(&r->objects);
	dtx_arena_clear(&r->arena);
	dtx_owner_unref(r->turned);
	dtx_mem_free(r->object);
	dtx_mem_free(r->head);
	dtx_mem_free(r->col);
	dtx_mem_free(r->morsel);
	*r = (struct dtx_jrows){ 0 };
}
