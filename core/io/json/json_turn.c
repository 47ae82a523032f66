/* Rewrites an object of arrays, one for each column, as rows. The values keep their bytes; only
 * their order changes.
 *
 * The rows are a new text next to the input, which can be cut into morsels and read by several
 * workers like any other layout. */
#include "core/base/mem.h"
#include "core/io/json/json_rows.h"

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

enum dtx_code dtx_jturned(struct dtx_jrows *r, struct dtx_buf *made, const char *list,
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

enum dtx_code dtx_jturn(struct dtx_jrows *r, struct dtx_jscan object, bool *done,
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
	DTX_TRY(dtx_jturned(r, &t.text, t.first, DTX_JL_ROWS, err));
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
