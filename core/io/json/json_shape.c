/* Recognises objects that are tables, but not lists of records:
 *
 *   split    {"columns":["a","b"],"data":[[1,"x"],[2,"y"]]}, perhaps with an "index"
 *   keyed    {"k1":{"a":1,"b":"x"},"k2":{"a":2,"b":"y"}}: each record is a member
 *   columns  {"a":{"k1":1,"k2":2},"b":{"k1":"x","k2":"y"}}: each column is an object of cells
 *   arrays   {"a":[1,2],"b":["x","y"]}: they are rewritten as rows
 *
 * pandas writes the first three with to_json(orient="split", "index" and "columns"). A file may
 * fit several of them, and may also be a single record; so a note says what was assumed. All
 * scans here are over a document whose syntax has been checked. */
#include "core/base/memory/mem.h"

#include "core/base/text/num.h"
#include "core/io/json/json_rows.h"

/* Rewrites an object of arrays, one for each column, as rows. The values keep their bytes; only
 * their order changes.
 *
 * The rows are a new text next to the input, which can be cut into morsels and read by several
 * workers like any other layout. */

struct turn {
	struct dtx_jscan *column; /* each is at the next value of its array */
	size_t n, cap;
	const char *first; /* the first array */
	struct dtx_buf text;
};

static bool add_key(struct turn *t, struct dtx_str key, bool first)
{
	dtx_buf_add(&t->text, first ? "[\"" : ",\"");
	dtx_buf_adds(&t->text, key);
	dtx_buf_addc(&t->text, '"');
	return dtx_buf_ok(&t->text);
}

/* Finds the start of each array; the keys become the first row. */
static enum dtx_code begin(struct turn *t, struct dtx_jscan s, bool *arrays, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_jvalue key, v;
	bool more = true;

	*arrays = dtx_jscan_char(&s, '{', NULL);
	while (*arrays && more) {
		dtx_jscan_blanks(&s);
		*arrays = dtx_jscan_string(&s, &key) && dtx_jscan_char(&s, ':', NULL) &&
		          dtx_jscan_value(&s, &v) && v.kind == DTX_J_ARRAY;
		if (!*arrays)
			break;
		if (!add_key(t, key.raw, !t->n) ||
		    !dtx_mem_reserve(&t->column, &t->cap, t->n + 1, sizeof(*t->column)))
			DTX_FAIL_MEM(err);
		t->first = t->n ? t->first : v.raw.ptr;
		t->column[t->n++] = (struct dtx_jscan){ .p = v.raw.ptr + 1,
			                                .end = v.raw.ptr + v.raw.len,
			                                .lenient = s.lenient };
		*arrays = dtx_jscan_more(&s, '}', &more);
	}
	dtx_buf_add(&t->text, "]");
out:
	return rc;
}

/* Gets the next value of one column, after its comma; returns false at the end of the array. */
static bool next_value(struct dtx_jscan *s, bool first, struct dtx_jvalue *v)
{
	if (dtx_jscan_close(s, ']', false))
		return false;
	if (!first && (!dtx_jscan_char(s, ',', NULL) || dtx_jscan_close(s, ']', true)))
		return false;
	dtx_jscan_blanks(s);
	return dtx_jscan_value(s, v);
}

/* Writes one row; *n is the number of columns that had a value. */
static void add_row(struct turn *t, bool first, size_t *n)
{
	struct dtx_jvalue v;
	size_t i;

	*n = 0;
	for (i = 0; i < t->n; i++) {
		bool text;

		if (!next_value(&t->column[i], first, &v))
			continue;
		text = v.kind == DTX_J_STRING;
		dtx_buf_add(&t->text, (*n)++ ? "," : ",\n[");
		dtx_buf_addn(&t->text, v.raw.ptr - text, v.raw.len + 2 * (size_t)text);
	}
	if (*n)
		dtx_buf_add(&t->text, "]");
}

static enum dtx_code jturned(struct dtx_jrows *r, struct dtx_buf *made, const char *list,
                             enum dtx_jlayout layout, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t len = made->len;
	char *text;

	DTX_TRY(dtx_buf_check(made, "the rows of a JSON document", err));
	text = dtx_buf_steal(made);
	if (text)
		r->turned = dtx_owner_take(text);
	if (!r->turned)
		DTX_FAIL_MEM(err);
	r->turned_from = (struct dtx_str){ r->base, (size_t)(r->area.end - r->base) };
	r->turned_at = list;
	r->base = text;
	r->area = (struct dtx_jscan){ .p = text, .end = text + len, .lenient = r->area.lenient };
	r->layout = layout;
	r->array = r->inside = true;
out:
	return rc;
}

/* Rewrites an object of arrays with equal lengths as rows with a header. *done
 * is false if it is not one. */
static enum dtx_code jturn(struct dtx_jrows *r, struct dtx_jscan object, bool *done,
                           struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct turn t = { .text = DTX_BUF_INIT(DTX_JTURN_MAX) };
	size_t n = 0, rows;

	*done = false;
	DTX_TRY(begin(&t, object, done, err));
	for (rows = 0; *done && t.n; rows++) {
		add_row(&t, !rows, &n);
		*done = n == t.n || !n;
		if (!n)
			break;
	}
	if (!*done)
		goto out;
	dtx_buf_add(&t.text, "]");
	DTX_TRY(jturned(r, &t.text, t.first, DTX_JL_ROWS, err));
	DTX_TRY(dtx_jhead_read(r, true, err));
	r->header = false; /* it was not a row */
	if (r->clash.n && r->opts->duplicate_keys == DTX_KEYS_ERROR)
		rc = dtx_jrows_repeated(r, r->turned_at, err);
out:
	dtx_mem_free(t.column);
	dtx_buf_clear(&t.text);
	return rc;
}

const char *dtx_jturn_place(const struct dtx_jrows *r, uint64_t row)
{
	struct dtx_jscan s = { .p = r->turned_at + 1,
		               .end = r->turned_from.ptr + r->turned_from.len,
		               .lenient = r->area.lenient };
	bool object = *r->turned_at == '{', more = true;
	struct dtx_jvalue v;
	const char *at;
	uint64_t i;

	for (i = 0; more; i++) {
		dtx_jscan_blanks(&s);
		at = s.p;
		if (object && (!dtx_jscan_string(&s, &v) || !dtx_jscan_char(&s, ':', NULL)))
			break;
		if (i == row)
			return at;
		if (!dtx_jscan_value(&s, &v) || !dtx_jscan_more(&s, object ? '}' : ']', &more))
			break;
	}
	return r->turned_at;
}

/* --- members of a container --- */

struct members {
	struct dtx_jscan s;
	bool object, more;
};

static struct members members_of(const struct dtx_jscan *like, struct dtx_str raw)
{
	struct members m = {
		.s = { .p = raw.ptr + 1, .end = raw.ptr + raw.len, .lenient = like->lenient },
		.object = raw.ptr[0] == '{'
	};

	m.more = !dtx_jscan_close(&m.s, m.object ? '}' : ']', false);
	return m;
}

/* Gets the next member; `key` is set for an object. */
static bool next_member(struct members *m, struct dtx_jvalue *key, struct dtx_jvalue *v)
{
	if (!m->more)
		return false;
	dtx_jscan_blanks(&m->s);
	if (m->object && (!dtx_jscan_string(&m->s, key) || !dtx_jscan_char(&m->s, ':', NULL)))
		return false;
	dtx_jscan_blanks(&m->s);
	return dtx_jscan_value(&m->s, v) && dtx_jscan_more(&m->s, m->object ? '}' : ']', &m->more);
}

static struct dtx_str raw_of(const struct dtx_jvalue *v)
{
	size_t quote = v->kind == DTX_J_STRING;

	return (struct dtx_str){ v->raw.ptr - quote, v->raw.len + 2 * quote };
}

static bool is_scalar(const struct dtx_jvalue *v)
{
	return v->kind != DTX_J_ARRAY && v->kind != DTX_J_OBJECT;
}

/* Whether the text is number i of "0", "1", "2" and so on: a mere counter is not data. */
static bool is_count(struct dtx_str text, uint64_t i)
{
	char digits[DTX_NUM_TEXT];

	return dtx_str_eq(text, (struct dtx_str){ digits, dtx_num_print_u64(digits, i) });
}

static uint64_t count_members(const struct dtx_jscan *like, struct dtx_str raw)
{
	struct members m = members_of(like, raw);
	struct dtx_jvalue key, v;
	uint64_t n = 0;

	while (next_member(&m, &key, &v))
		n++;
	return n;
}

/* Notes the assumption. A pointer in the options names the place of the table, but not its
 * layout. */
static void say(struct dtx_jrows *r, const char *what)
{
	r->assumed = what;
	r->otherwise = r->opts->records ? NULL : DTX_J_ONE_RECORD;
}

/* --- split --- */

struct split {
	struct dtx_jvalue names, rows, index; /* NULL if none */
	uint64_t nnames, nrows;
};

/* Whether it is a non-empty array of scalars. */
static bool are_names(const struct dtx_jscan *like, const struct dtx_jvalue *v, uint64_t *n)
{
	struct members m = members_of(like, v->raw);
	struct dtx_jvalue key, name;

	for (*n = 0; next_member(&m, &key, &name); ++*n)
		if (!is_scalar(&name))
			return false;
	return *n > 0;
}

/* Whether it is an array of arrays, the first of which has `width` cells. */
static bool are_rows(const struct dtx_jscan *like, const struct dtx_jvalue *v, uint64_t width,
                     uint64_t *n)
{
	struct members m = members_of(like, v->raw);
	struct dtx_jvalue key, row;

	for (*n = 0; next_member(&m, &key, &row); ++*n)
		if (row.kind != DTX_J_ARRAY || (!*n && count_members(like, row.raw) != width))
			return false;
	return true;
}

static bool find_split(const struct dtx_jscan *like, struct dtx_str object, struct split *out)
{
	struct members m = members_of(like, object);
	struct dtx_jvalue key, v;

	*out = (struct split){ { 0 }, { 0 }, { 0 }, 0, 0 };
	while (next_member(&m, &key, &v)) {
		if (v.kind != DTX_J_ARRAY)
			continue;
		if (dtx_str_is(key.raw, "columns"))
			out->names = v;
		else if (dtx_str_is(key.raw, "data") || dtx_str_is(key.raw, "rows"))
			out->rows = v;
		else if (dtx_str_is(key.raw, "index"))
			out->index = v;
	}
	return out->names.raw.ptr && out->rows.raw.ptr &&
	       are_names(like, &out->names, &out->nnames) &&
	       are_rows(like, &out->rows, out->nnames, &out->nrows);
}

static bool only_counts(const struct dtx_jscan *like, const struct dtx_jvalue *index)
{
	struct members m = members_of(like, index->raw);
	struct dtx_jvalue key, v;
	uint64_t i;

	for (i = 0; next_member(&m, &key, &v); i++)
		if (v.kind != DTX_J_NUMBER || !is_count(v.raw, i))
			return false;
	return true;
}

/* Writes the rows with their index as the first cell. */
static enum dtx_code split_with_index(struct dtx_jrows *r, const struct split *s,
                                      struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_buf text = DTX_BUF_INIT(DTX_JTURN_MAX);
	struct members index = members_of(&r->area, s->index.raw);
	struct members rows = members_of(&r->area, s->rows.raw);
	struct dtx_str names = { s->names.raw.ptr + 1, s->names.raw.len - 1 };
	struct dtx_jvalue key, at, row;

	dtx_buf_add(&text, "[\"index\",");
	dtx_buf_adds(&text, names);
	while (next_member(&index, &key, &at) && next_member(&rows, &key, &row)) {
		dtx_buf_add(&text, ",\n[");
		dtx_buf_adds(&text, raw_of(&at));
		if (count_members(&r->area, row.raw))
			dtx_buf_addc(&text, ',');
		dtx_buf_addn(&text, row.raw.ptr + 1, row.raw.len - 1);
	}
	dtx_buf_add(&text, "]");
	DTX_TRY(jturned(r, &text, s->rows.raw.ptr, DTX_JL_ROWS, err));
	DTX_TRY(dtx_jhead_read(r, true, err));
out:
	dtx_buf_clear(&text);
	return rc;
}

static enum dtx_code take_split(struct dtx_jrows *r, struct dtx_str object, bool *done,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct split s;
	bool index;

	*done = find_split(&r->area, object, &s);
	if (!*done)
		goto out;
	index = s.index.raw.ptr && count_members(&r->area, s.index.raw) == s.nrows &&
	        !only_counts(&r->area, &s.index);
	say(r, index ? "'columns' was taken as the column names, and 'index' as the first column"
	             : "'columns' was taken as the column names");
	if (index) {
		DTX_TRY(split_with_index(r, &s, err));
	} else {
		DTX_TRY(dtx_jhead_names(r, s.names.raw, err));
		dtx_jrows_inside(r, s.rows.raw);
		r->layout = DTX_JL_ROWS;
	}
	r->header = false; /* it was not a row */
out:
	return rc;
}

/* --- objects inside an object --- */

/* What the members of an object of objects have in common. */
struct keyed {
	struct dtx_strmap names; /* names of the inner members; value: number of objects with it */
	uint64_t *has;
	unsigned *kinds; /* per name: a bit for each kind of value */
	size_t has_cap, kinds_cap;
	uint64_t n, cells;
	bool alike;    /* all have the same names in the same order */
	bool counted;  /* and these are 0, 1, 2 and so on */
	bool by_outer; /* within each object, all values have the same kind */
	bool by_inner; /* for each name, all values have the same kind */
};

static void keyed_clear(struct keyed *k)
{
	dtx_strmap_clear(&k->names);
	dtx_mem_free(k->has);
	dtx_mem_free(k->kinds);
}

static unsigned kind_bit(enum dtx_jkind kind)
{
	return kind == DTX_J_NULL ? 0 : 1u << (kind == DTX_J_FALSE ? DTX_J_TRUE : kind);
}

static bool one_bit(unsigned bits)
{
	return !(bits & (bits - 1));
}

static enum dtx_code see_inner(struct keyed *k, const struct dtx_jscan *like, struct dtx_str raw,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct members m = members_of(like, raw);
	struct dtx_jvalue key, v;
	unsigned kinds = 0;
	uint32_t i;
	uint64_t at;

	for (at = 0; next_member(&m, &key, &v); at++) {
		size_t next = k->names.n;

		if (next == DTX_JROWS_COLS_MAX) { /* so many names must be those of rows */
			i = dtx_strmap_get(&k->names, key.raw);
			k->alike &= i == at;
		} else if (!dtx_strmap_put(&k->names, key.raw, (uint32_t)next, &i) ||
		           !dtx_mem_reserve(&k->has, &k->has_cap, next + 1, sizeof(*k->has)) ||
		           !dtx_mem_reserve(&k->kinds, &k->kinds_cap, next + 1,
		                            sizeof(*k->kinds))) {
			DTX_FAIL_MEM(err);
		}
		if (i == next && next < DTX_JROWS_COLS_MAX) {
			k->has[i] = k->kinds[i] = 0;
			k->alike &= !k->n;
			k->counted &= is_count(key.raw, at);
		}
		k->alike &= i == at;
		kinds |= kind_bit(v.kind);
		k->cells++;
		if (i < k->names.n) {
			k->has[i]++;
			k->kinds[i] |= kind_bit(v.kind);
		}
	}
	k->alike &= at == k->names.n;
	k->by_outer &= one_bit(kinds);
	k->n++;
out:
	return rc;
}

/* Collects that. *ok is false unless it is an object of at least two objects. */
static enum dtx_code see_keyed(struct keyed *k, const struct dtx_jscan *like, struct dtx_str object,
                               bool *ok, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct members m = members_of(like, object);
	struct dtx_jvalue key, v;
	size_t i;

	*k = (struct keyed){ .alike = true, .counted = true, .by_outer = true, .by_inner = true };
	*ok = true;
	while (*ok && next_member(&m, &key, &v)) {
		*ok = v.kind == DTX_J_OBJECT;
		if (*ok)
			DTX_TRY(see_inner(k, like, v.raw, err));
	}
	for (i = 0; i < k->names.n; i++)
		k->by_inner &= one_bit(k->kinds[i]);
	*ok = *ok && k->n > 1 && k->names.n;
out:
	return rc;
}

/* Whether these are records by key: at least half of the cells exist, and one name is in all of
 * them. */
static bool is_keyed(const struct keyed *k)
{
	uint64_t most = 0;
	size_t i;

	for (i = 0; i < k->names.n; i++)
		most = DTX_MAX(most, k->has[i]);
	return most == k->n && k->cells >= k->n * k->names.n / 2;
}

/* Whether these are columns, if they could also be records. */
static bool is_by_column(const struct keyed *k)
{
	return k->alike && (k->counted || (k->by_outer && !k->by_inner));
}

/* A name for the column of keys that no record uses. */
static const char *key_name(const struct keyed *k, char name[24])
{
	unsigned i;

	snprintf(name, 24, "key");
	for (i = 2; dtx_strmap_get(&k->names, dtx_str_of(name)) != DTX_STRMAP_NONE; i++)
		snprintf(name, 24, "key_%u", i);
	return name;
}

static enum dtx_code take_keyed(struct dtx_jrows *r, const struct keyed *k, struct dtx_str object,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_buf text = DTX_BUF_INIT(DTX_JTURN_MAX);
	struct members m = members_of(&r->area, object);
	struct dtx_jvalue key, v;
	char name[24];

	key_name(k, name);
	while (next_member(&m, &key, &v)) {
		dtx_buf_printf(&text, "%s{\"%s\":", text.len ? ",\n" : "", name);
		dtx_buf_adds(&text, raw_of(&key));
		if (count_members(&r->area, v.raw))
			dtx_buf_addc(&text, ',');
		dtx_buf_addn(&text, v.raw.ptr + 1, v.raw.len - 1);
	}
	dtx_buf_add(&text, "]");
	say(r, "the document's members were taken as records, and their keys as a column");
	DTX_TRY(jturned(r, &text, object.ptr, DTX_JL_OBJECTS, err));
out:
	dtx_buf_clear(&text);
	return rc;
}

/* Writes one cell of each column as a row. */
static bool add_cells(struct members *col, uint64_t n, bool keys, struct dtx_buf *text)
{
	struct dtx_jvalue key, v;
	uint64_t i;

	for (i = 0; i < n; i++) {
		if (!next_member(&col[i], &key, &v))
			return false;
		dtx_buf_add(text, i ? "," : ",\n[");
		if (!i && keys) {
			dtx_buf_adds(text, raw_of(&key));
			dtx_buf_addc(text, ',');
		}
		dtx_buf_adds(text, raw_of(&v));
	}
	dtx_buf_addc(text, ']');
	return true;
}

static enum dtx_code take_columns(struct dtx_jrows *r, const struct keyed *k, struct dtx_str object,
                                  struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_buf text = DTX_BUF_INIT(DTX_JTURN_MAX);
	struct members m = members_of(&r->area, object), *col = NULL;
	const char *first = NULL;
	struct dtx_jvalue key, v;
	uint64_t n = 0;

	col = dtx_mem_alloc((size_t)k->n, sizeof(*col));
	if (!col)
		DTX_FAIL_MEM(err);
	dtx_buf_add(&text, k->counted ? "[" : "[\"key\",");
	for (; next_member(&m, &key, &v); n++) {
		first = first ? first : v.raw.ptr;
		col[n] = members_of(&r->area, v.raw);
		if (n)
			dtx_buf_addc(&text, ',');
		dtx_buf_adds(&text, raw_of(&key));
	}
	dtx_buf_addc(&text, ']');
	while (add_cells(col, n, !k->counted, &text))
		;
	dtx_buf_addc(&text, ']');
	say(r, "the document's members were taken as columns");
	DTX_TRY(jturned(r, &text, first, DTX_JL_ROWS, err));
	DTX_TRY(dtx_jhead_read(r, true, err));
	r->header = false; /* it was not a row */
out:
	dtx_mem_free(col);
	dtx_buf_clear(&text);
	return rc;
}

static enum dtx_code take_objects(struct dtx_jrows *r, struct dtx_str object, bool *done,
                                  struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct keyed k = { .names = DTX_STRMAP_INIT };

	DTX_TRY(see_keyed(&k, &r->area, object, done, err));
	*done = *done && (is_by_column(&k) || is_keyed(&k));
	if (*done && is_by_column(&k))
		DTX_TRY(take_columns(r, &k, object, err));
	else if (*done)
		DTX_TRY(take_keyed(r, &k, object, err));
out:
	keyed_clear(&k);
	return rc;
}

/* --- arrays inside an object --- */

static bool are_arrays(const struct dtx_jscan *like, struct dtx_str object)
{
	struct members m = members_of(like, object);
	struct dtx_jvalue key, v;
	bool any = false;

	while (next_member(&m, &key, &v)) {
		if (v.kind != DTX_J_ARRAY)
			return false;
		any = true;
	}
	return any;
}

enum dtx_code dtx_jshape(struct dtx_jrows *r, struct dtx_str object, bool *done,
                         struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_jscan s = r->area;

	DTX_TRY(take_split(r, object, done, err));
	if (!*done)
		DTX_TRY(take_objects(r, object, done, err));
	if (*done || !are_arrays(&r->area, object))
		goto out;
	s.p = object.ptr;
	s.end = object.ptr + object.len;
	DTX_TRY(jturn(r, s, done, err));
	if (*done)
		say(r, "the document's members were taken as columns");
out:
	return rc;
}

/* --- other content of an object --- */

void dtx_jpointer_add(struct dtx_buf *out, struct dtx_str key)
{
	struct dtx_buf name = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	size_t i;

	dtx_jscan_unescape(key, &name);
	dtx_buf_addc(out, '/');
	for (i = 0; i < dtx_buf_len(&name); i++) {
		char c = name.ptr[i];

		if (c == '~' || c == '/')
			dtx_buf_add(out, c == '~' ? "~0" : "~1");
		else
			dtx_buf_addc(out, c);
	}
	if (!dtx_buf_ok(&name))
		out->fail = name.fail;
	dtx_buf_clear(&name);
}

/* Notes the value at the pointer f->at. */
static void note_find(struct dtx_jfinds *f, enum dtx_jfind what, const struct dtx_jvalue *v)
{
	if (!f->n[what]++) {
		dtx_buf_reset(&f->first[what]);
		dtx_buf_adds(&f->first[what], dtx_buf_str(&f->at));
		f->value[what] = *v;
	}
	if (!f->listed)
		dtx_buf_adds(&f->best, dtx_buf_str(&f->at));
	if (f->listed < DTX_JFINDS_LISTED) {
		dtx_buf_printf(&f->list, "%s'%.60s'", f->listed ? ", " : "", dtx_buf_text(&f->at));
		f->listed++;
	}
}

static void note_array(struct dtx_jfinds *f, const struct dtx_jscan *like,
                       const struct dtx_jvalue *array)
{
	struct members m = members_of(like, array->raw);
	struct dtx_jvalue key, first;

	if (!next_member(&m, &key, &first))
		note_find(f, DTX_JF_EMPTY, array);
	else if (!is_scalar(&first))
		note_find(f, first.kind == DTX_J_OBJECT ? DTX_JF_RECORDS : DTX_JF_GRID, array);
}

/* Whether it has arrays of scalars only, perhaps of different lengths. */
static bool are_columns(const struct dtx_jscan *like, struct dtx_str object)
{
	struct members m = members_of(like, object);
	struct dtx_jvalue key, v;
	uint64_t n, i;

	for (n = 0; next_member(&m, &key, &v); n++)
		if (v.kind != DTX_J_ARRAY || !are_names(like, &v, &i))
			return false;
	return n > 1;
}

/* Whether dtx_jshape would accept it. */
static enum dtx_code is_table(const struct dtx_jscan *like, struct dtx_str object, bool *table,
                              struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct keyed k = { .names = DTX_STRMAP_INIT };
	struct split s;

	DTX_TRY(see_keyed(&k, like, object, table, err));
	*table = (*table && is_keyed(&k)) || find_split(like, object, &s) ||
	         are_columns(like, object);
out:
	keyed_clear(&k);
	return rc;
}

enum dtx_code dtx_jshape_find(struct dtx_jrows *r, struct dtx_str object, unsigned nest,
                              struct dtx_jfinds *f, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct members m = members_of(&r->area, object);
	size_t prefix = f->at.len;
	struct dtx_jvalue key, v;
	bool table;

	while (next_member(&m, &key, &v)) {
		if (is_scalar(&v))
			continue;
		f->at.len = prefix;
		dtx_jpointer_add(&f->at, key.raw);
		DTX_TRY(dtx_buf_check(&f->at, "a JSON pointer", err));
		if (v.kind == DTX_J_ARRAY) {
			note_array(f, &r->area, &v);
			continue;
		}
		DTX_TRY(is_table(&r->area, v.raw, &table, err));
		if (table)
			note_find(f, DTX_JF_TABLE, &v);
		else if (nest < DTX_JROWS_NEST)
			DTX_TRY(dtx_jshape_find(r, v.raw, nest + 1, f, err));
	}
out:
	f->at.len = prefix;
	return rc;
}

void dtx_jfinds_init(struct dtx_jfinds *f)
{
	size_t i;

	*f = (struct dtx_jfinds){ .n = { 0 } };
	dtx_buf_init(&f->at, DTX_BUF_TEXT_MAX);
	dtx_buf_init(&f->list, DTX_BUF_TEXT_MAX);
	dtx_buf_init(&f->best, DTX_BUF_TEXT_MAX);
	for (i = 0; i < DTX_JF_COUNT; i++)
		dtx_buf_init(&f->first[i], DTX_BUF_TEXT_MAX);
}

void dtx_jfinds_clear(struct dtx_jfinds *f)
{
	size_t i;

	dtx_buf_clear(&f->at);
	dtx_buf_clear(&f->list);
	dtx_buf_clear(&f->best);
	for (i = 0; i < DTX_JF_COUNT; i++)
		dtx_buf_clear(&f->first[i]);
}

enum dtx_code dtx_jfinds_check(const struct dtx_jfinds *f, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t i;

	DTX_TRY(dtx_buf_check(&f->list, "a list of JSON pointers", err));
	DTX_TRY(dtx_buf_check(&f->best, "a JSON pointer", err));
	for (i = 0; i < DTX_JF_COUNT; i++)
		DTX_TRY(dtx_buf_check(&f->first[i], "a JSON pointer", err));
out:
	return rc;
}
