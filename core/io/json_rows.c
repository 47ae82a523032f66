/* Walks records and flattens their members to columns. */
#include "core/io/json_rows.h"

#include "core/base/mem.h"

enum { NEST_SEP = '\x1f', PATH_MAX_BYTES = 64 << 10 };

static int64_t line_of(const char *base, const char *p)
{
	int64_t n = 1;

	while ((base = memchr(base, '\n', (size_t)(p - base))) != NULL) {
		base++;
		n++;
	}
	return n;
}

enum dtx_code dtx_jrows_fail(const struct dtx_jrows *r, const struct dtx_jscan *s,
                             struct dtx_err *err)
{
	int64_t line = line_of(r->base, s->p);
	int64_t byte = s->p - r->base;
	size_t left = (size_t)(s->end - s->p), n = DTX_MIN(left, (size_t)12);

	while (n && ((unsigned char)s->p[n - 1] >= 0x80 || (unsigned char)s->p[n - 1] < 0x20))
		n--;
	dtx_err_set(err, DTX_E_CORRUPT_FILE, __FILE__, __LINE__,
	            "'%s': line %lld (byte %lld): expected %s, got %s%.*s%s", r->label,
	            (long long)line, (long long)byte, s->why ? s->why : "JSON",
	            left ? "'" : "the end", (int)n, s->p, left ? "'" : "");
	if (err) {
		err->byte = byte;
		err->row = line - 1;
		snprintf(err->cell, sizeof(err->cell), "L%lld", (long long)line);
	}
	return DTX_E_CORRUPT_FILE;
}

void dtx_jwalk_init(struct dtx_jwalk *w, struct dtx_jrows *rows, bool learn, dtx_jrow_fn fn,
                    void *arg)
{
	*w = (struct dtx_jwalk){ .rows = rows, .learn = learn, .fn = fn, .arg = arg };
	dtx_buf_init(&w->path, PATH_MAX_BYTES);
	dtx_buf_init(&w->text, (size_t)1 << 30);
}

void dtx_jwalk_clear(struct dtx_jwalk *w)
{
	dtx_buf_clear(&w->path);
	dtx_buf_clear(&w->text);
}

/* The column of the path; a new one in pass one. */
static enum dtx_code column_of(struct dtx_jwalk *w, uint32_t *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_jrows *r = w->rows;
	struct dtx_str path = { dtx_buf_text(&w->path), w->path.len };
	uint32_t i = w->guess;

	DTX_TRY(dtx_buf_check(&w->path, "the names of nested members", err));
	if (i >= r->ncols || !dtx_str_eq(r->col[i].path, path))
		i = dtx_strmap_get(&r->map, path);
	if (i == DTX_STRMAP_NONE && !w->learn)
		DTX_FAIL(err, DTX_E_INPUT_CHANGED, "'%s' changed while it was read", r->label);
	if (i == DTX_STRMAP_NONE) {
		if (r->ncols == DTX_JROWS_COLS_MAX)
			DTX_FAIL(err, DTX_E_COL_LIMIT, "'%s': over %d different members", r->label,
			         DTX_JROWS_COLS_MAX);
		if (!dtx_mem_reserve(&r->col, &r->cols_cap, r->ncols + 1, sizeof(*r->col)) ||
		    !dtx_strmap_put(&r->map, path, (uint32_t)r->ncols, &i))
			DTX_FAIL_MEM(err);
		r->col[i] = (struct dtx_jcol){ .path = r->map.entry[r->map.n - 1].key };
		r->ncols++;
	}
	w->guess = i + 1;
	*out = i;
out:
	return rc;
}

static enum dtx_code walk_object(struct dtx_jwalk *w, struct dtx_jscan *s, unsigned nest,
                                 struct dtx_err *err);

/* The value of the member whose path is in w->path. */
static enum dtx_code walk_member(struct dtx_jwalk *w, struct dtx_jscan *s, unsigned nest,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_jvalue v;
	uint32_t col = 0;

	dtx_jscan_blanks(s);
	if (s->p < s->end && *s->p == '{' && nest < DTX_JROWS_NEST) {
		dtx_buf_addc(&w->path, NEST_SEP);
		DTX_TRY(walk_object(w, s, nest + 1, err));
		goto out;
	}
	if (!dtx_jscan_value(s, &v)) {
		rc = dtx_jrows_fail(w->rows, s, err);
		goto out;
	}
	DTX_TRY(column_of(w, &col, err));
	DTX_TRY(w->fn(w->arg, col, &v, err));
out:
	return rc;
}

/* Key and colon; the key goes to the end of w->path. */
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
	bool ok = dtx_jscan_char(s, '{', "an object");

	dtx_jscan_blanks(s);
	if (ok && s->p < s->end && *s->p == '}') {
		s->p++;
		goto out;
	}
	while (ok) {
		w->path.len = prefix;
		ok = walk_key(w, s);
		if (!ok)
			break;
		DTX_TRY(walk_member(w, s, nest, err));
		dtx_jscan_blanks(s);
		if (s->p < s->end && *s->p == ',')
			s->p++;
		else {
			ok = dtx_jscan_char(s, '}', "',' or '}'");
			break;
		}
	}
	if (!ok)
		rc = dtx_jrows_fail(w->rows, s, err);
out:
	w->path.len = prefix;
	return rc;
}

enum dtx_code dtx_jwalk_record(struct dtx_jwalk *w, struct dtx_jscan *s, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	w->guess = 0;
	dtx_buf_reset(&w->path);
	dtx_jscan_blanks(s);
	if (s->p < s->end && *s->p == '[') {
		rc = dtx_jrows_fail(w->rows, s, err);
		dtx_err_hint(err, "records are objects; arrays of arrays are not read");
		goto out;
	}
	DTX_TRY(walk_object(w, s, 0, err));
out:
	return rc;
}

struct dtx_str dtx_jrows_text(const struct dtx_jvalue *v, struct dtx_buf *scratch)
{
	if (v->kind != DTX_J_STRING || !v->escaped)
		return v->raw;
	dtx_buf_reset(scratch);
	dtx_jscan_unescape(v->raw, scratch);
	return (struct dtx_str){ dtx_buf_text(scratch), scratch->len };
}

bool dtx_jrows_null(const struct dtx_jrows *r, const struct dtx_jvalue *v, struct dtx_str text)
{
	size_t i;

	for (i = 0; i < r->opts->nnull_values; i++) {
		if (dtx_str_is(text, r->opts->null_values[i]))
			return true;
	}
	return v->kind == DTX_J_NULL;
}

/* --- pass one --- */

struct pass {
	struct dtx_jwalk walk;
	struct dtx_jrows *rows;
};

static enum dtx_code see_value(void *arg, uint32_t col, const struct dtx_jvalue *v,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct pass *p = arg;
	struct dtx_jrows *r = p->rows;
	struct dtx_jcol *c = &r->col[col];
	struct dtx_str text = dtx_jrows_text(v, &p->walk.text);
	bool null = dtx_jrows_null(r, v, text);
	int64_t row = (int64_t)r->nrows;

	if (c->last_row == r->nrows + 1) {
		struct dtx_jscan at = { v->raw.ptr, v->raw.ptr + v->raw.len,
			                "each key once in a record" };

		rc = dtx_jrows_fail(r, &at, err);
		goto out;
	}
	c->last_row = r->nrows + 1;
	c->json += v->kind == DTX_J_ARRAY || v->kind == DTX_J_OBJECT;
	if (null)
		c->seen.nulls++;
	else if (v->kind == DTX_J_TRUE || v->kind == DTX_J_FALSE)
		c->seen.bools++;
	else if (v->kind == DTX_J_NUMBER ||
	         (v->kind == DTX_J_STRING && !v->escaped && text.len >= 10 && text.ptr[4] == '-'))
		dtx_infer_text(&c->seen, text, false, row);
	else
		c->seen.texts++;
out:
	return rc;
}

enum dtx_code dtx_jrows_next(const struct dtx_jrows *r, struct dtx_jscan *s, bool first, bool *more,
                             struct dtx_err *err)
{
	dtx_jscan_blanks(s);
	if (!r->array) {
		*more = s->p < s->end;
		return DTX_OK;
	}
	if (s->p < s->end && *s->p == ']') {
		*more = false;
		return DTX_OK;
	}
	*more = true;
	return first || dtx_jscan_char(s, ',', "',' or ']'") ? DTX_OK : dtx_jrows_fail(r, s, err);
}

static enum dtx_code note_morsel(struct dtx_jrows *r, const char *p, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_jmorsel *last = r->nmorsels ? &r->morsel[r->nmorsels - 1] : NULL;
	uint64_t byte = (uint64_t)(p - r->base);

	if (last && byte - last->byte < DTX_JROWS_MORSEL_BYTES && last->rows < DTX_BATCH_ROWS) {
		last->rows++;
		goto out;
	}
	if (!dtx_mem_reserve(&r->morsel, &r->morsels_cap, r->nmorsels + 1, sizeof(*r->morsel)))
		DTX_FAIL_MEM(err);
	r->morsel[r->nmorsels++] = (struct dtx_jmorsel){ byte, r->nrows, 1 };
out:
	return rc;
}

static enum dtx_code pass_over(struct dtx_jrows *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct pass p = { .rows = r };
	struct dtx_jscan s = r->area;
	bool more;

	dtx_jwalk_init(&p.walk, r, true, see_value, &p);
	for (;;) {
		DTX_TRY(dtx_jrows_next(r, &s, !r->nrows, &more, err));
		if (!more)
			break;
		dtx_jscan_blanks(&s);
		DTX_TRY(note_morsel(r, s.p, err));
		DTX_TRY(dtx_jwalk_record(&p.walk, &s, err));
		if ((uint64_t)(s.p - r->base) - r->morsel[r->nmorsels - 1].byte > DTX_SPAN_LEN)
			DTX_FAIL(err, DTX_E_CELL_LIMIT, "'%s': a record of over 2 GiB", r->label);
		r->nrows++;
	}
	if (!r->array || r->assumed)
		goto out;
	s.p++;
	dtx_jscan_blanks(&s);
	s.why = "nothing behind the array";
	if (s.p < s.end)
		rc = dtx_jrows_fail(r, &s, err);
out:
	dtx_jwalk_clear(&p.walk);
	return rc;
}

/* A single object whose only array of objects holds the records. */
static bool find_member(struct dtx_jrows *r)
{
	struct dtx_jscan s = r->area;
	struct dtx_jvalue key, v, found = { 0 };
	unsigned arrays = 0;

	if (!dtx_jscan_char(&s, '{', NULL))
		return false;
	do {
		dtx_jscan_blanks(&s);
		if (!dtx_jscan_string(&s, &key) || !dtx_jscan_char(&s, ':', NULL) ||
		    !dtx_jscan_value(&s, &v))
			return false;
		if (v.kind == DTX_J_ARRAY) {
			struct dtx_jscan in = { v.raw.ptr + 1, v.raw.ptr + v.raw.len, NULL };

			dtx_jscan_blanks(&in);
			if (*in.p == '{') {
				arrays++;
				found = v;
				r->member = key.raw;
			}
		}
	} while (dtx_jscan_char(&s, ',', NULL));
	if (arrays != 1 || !dtx_jscan_char(&s, '}', NULL))
		return false;
	dtx_jscan_blanks(&s);
	if (s.p < s.end)
		return false;
	r->area = (struct dtx_jscan){ found.raw.ptr + 1, found.raw.ptr + found.raw.len, NULL };
	r->array = r->assumed = true;
	return true;
}

enum dtx_code dtx_jrows_open(struct dtx_jrows *r, const char *label, struct dtx_str bytes,
                             const struct dtx_read_opts *opts, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_jscan *s = &r->area;

	*r = (struct dtx_jrows){ .label = label, .base = bytes.ptr, .opts = opts };
	*s = (struct dtx_jscan){ bytes.ptr, bytes.ptr + bytes.len, NULL };
	if (dtx_str_starts(bytes, DTX_STR("\xef\xbb\xbf")))
		s->p += 3;
	dtx_jscan_blanks(s);
	if (s->p == s->end)
		DTX_FAIL(err, DTX_E_EMPTY_INPUT, "'%s' is empty", label);
	if (*s->p == '[') {
		r->array = true;
		s->p++;
	} else {
		find_member(r);
	}
	DTX_TRY(pass_over(r, err));
	if (!r->ncols)
		DTX_FAIL(err, DTX_E_NO_RECORD, "'%s' has no record with a member", label);
out:
	return rc;
}

void dtx_jrows_clear(struct dtx_jrows *r)
{
	dtx_strmap_clear(&r->map);
	dtx_mem_free(r->col);
	dtx_mem_free(r->morsel);
	*r = (struct dtx_jrows){ 0 };
}
