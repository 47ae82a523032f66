/* Reads one record and flattens its members to columns. */
#include "core/base/mem.h"
#include "core/io/json/json_rows.h"

enum { NEST_SEP = '\x1f', PATH_MAX_BYTES = 64 << 10 };

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

enum dtx_code dtx_jwalk_record(struct dtx_jwalk *w, struct dtx_jscan *s, struct dtx_err *err)
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
