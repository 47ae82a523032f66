/* Reads a frame that a hostile process may have written.  First the structure is checked (header,
 * directory, ranges), then the values of a table or the cells of a workbook, when they are read. */
#include <math.h>
#include <stdlib.h>

#include "core/base/memory/mem.h"
#include "core/base/text/utf8.h"
#include "core/data/cast/decimal.h"
#include "core/data/frame/frame.h"
#include "core/data/time/time.h"

/* Checks cells of a workbook and their texts, which a hostile process may have written. */

#define BAD(err, ...) DTX_FAIL((err), DTX_E_SNIPPET_BAD_RESULT, __VA_ARGS__)

/* A payload is valid if its bits under the mask are below the limit: ids are below a count, and
 * numbers have an exponent that is neither infinity nor NaN.  A kind that does not exist has limit
 * 0. */
#define NUMBER_MASK (UINT64_MAX >> 1)
#define NUMBER_END  ((uint64_t)0x7ff << 52)

struct cell_rule {
	uint64_t mask, limit;
};

static void make_rules(struct cell_rule rule[DTX_CELL_KIND + 1], uint64_t nstrings)
{
	static const uint8_t numbers[] = { DTX_CELL_NUMBER, DTX_CELL_DATE, DTX_CELL_DATETIME,
		                           DTX_CELL_TIME, DTX_CELL_DURATION };
	size_t i;

	memset(rule, 0, (DTX_CELL_KIND + 1) * sizeof(*rule));
	for (i = 0; i < DTX_COUNT(numbers); i++)
		rule[numbers[i]] = (struct cell_rule){ NUMBER_MASK, NUMBER_END };
	rule[DTX_CELL_BLANK] = (struct cell_rule){ 0, 1 };
	rule[DTX_CELL_BOOL] = (struct cell_rule){ UINT64_MAX, 2 };
	rule[DTX_CELL_WHOLE] = (struct cell_rule){ 0, 1 }; /* every bit pattern is an int */
	rule[DTX_CELL_ERROR] = (struct cell_rule){ 0, 1 }; /* every id has a name */
	rule[DTX_CELL_TEXT] = rule[DTX_CELL_ISO] = (struct cell_rule){ UINT64_MAX, nstrings };
}

enum dtx_code dtx_frame_cells(const struct dtx_frame_view *view,
                              const struct dtx_frame_entry *entry, uint64_t rows, uint64_t nstrings,
                              const uint8_t **tag, const union dtx_payload **value,
                              struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct cell_rule rule[DTX_CELL_KIND + 1];
	const uint8_t *t = view->ptr + entry->a_off;
	const union dtx_payload *v =
		(const union dtx_payload *)(const void *)(view->ptr + entry->b_off);
	uint64_t i, bad = 0;

	if (entry->rows != rows || entry->a_len != rows || entry->b_len != rows * sizeof(*v) ||
	    entry->v_len || entry->flags)
		BAD(err, "cells of column %u: %llu tags and %llu bytes for %llu rows", entry->id,
		    (unsigned long long)entry->a_len, (unsigned long long)entry->b_len,
		    (unsigned long long)rows);
	make_rules(rule, nstrings);
	for (i = 0; i < rows; i++) {
		const struct cell_rule *r = &rule[t[i] & DTX_CELL_KIND];

		bad += (v[i].id & r->mask) >= r->limit;
	}
	if (bad)
		BAD(err, "cells of column %u: %llu of %llu are not cells", entry->id,
		    (unsigned long long)bad, (unsigned long long)rows);
	*tag = t;
	*value = v;
out:
	return rc;
}

enum dtx_code dtx_frame_strings(const struct dtx_frame_view *view,
                                const struct dtx_frame_entry *entry, struct dtx_str *to,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const uint32_t *len = (const uint32_t *)(const void *)(view->ptr + entry->a_off);
	const char *bytes = (const char *)view->ptr + entry->b_off;
	uint64_t at = 0, i;

	if (entry->a_len != entry->rows * sizeof(*len) || entry->v_len || entry->flags)
		BAD(err, "texts: %llu bytes of lengths for %llu texts",
		    (unsigned long long)entry->a_len, (unsigned long long)entry->rows);
	for (i = 0; i < entry->rows; i++) {
		if (len[i] > entry->b_len - at)
			BAD(err, "text %llu ends outside", (unsigned long long)i);
		to[i] = (struct dtx_str){ bytes + at, len[i] };
		/* Each text is checked on its own, because a border between two must not cut a
		 * character. */
		if (dtx_utf8_bad(to[i].ptr, to[i].len) >= 0)
			BAD(err, "text %llu is not UTF-8", (unsigned long long)i);
		at += len[i];
	}
	if (at != entry->b_len || (at && memchr(bytes, 0, (size_t)at)))
		BAD(err, "texts: %llu bytes where lengths say %llu, or a NUL among them",
		    (unsigned long long)entry->b_len, (unsigned long long)at);
out:
	return rc;
}

/* Reads the tables of a frame that a hostile process may have written: every value is checked. */

_Static_assert(sizeof(struct dtx_text) == 16, "views are their file layout");

/* Limit for columns times batches that have no bytes in the frame. */
#define NULL_SLOTS_MAX ((uint64_t)1 << 18)
/* Limit for rows of nulls, which a list of None in the worker makes. */
#define NULL_ROWS_MAX ((uint64_t)1 << 27)

#define BAD(err, ...) DTX_FAIL((err), DTX_E_SNIPPET_BAD_RESULT, __VA_ARGS__)

/* --- values --- */

/* The dictionaries of a table. */
struct dicts {
	const struct dtx_frame_entry **entry; /* sorted by id */
	uint32_t n;
	struct dtx_column **made; /* by section, counted: columns with the same dictionary share
	                           * it */
};

/* A column while it is checked. */
struct col {
	const struct dtx_frame_view *view;
	const struct dtx_frame_entry *e, *dict;
	const char *name;
	struct dtx_typeref type;
	const void *a;
	const uint64_t *v;
	struct dtx_owner *owner;     /* owner of `values`; counted */
	const void *values;          /* what the columns point to: buffer a, or views with
	                              * pointers */
	struct dtx_column *dict_col; /* counted */
	struct dicts *dicts;
};

static bool present(const struct col *c, uint64_t row)
{
	return !c->v || dtx_bit(c->v, (size_t)row);
}

static bool spare_zero(const uint64_t *bits, uint64_t rows)
{
	return !(rows % 64) || !(bits[rows / 64] >> (rows % 64));
}

static enum dtx_code check_valid(const struct col *c, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint64_t want = dtx_bit_words(c->e->rows) * 8, present_n = 0, i;

	if (c->type.type == DTX_T_NULL) {
		if (c->e->v_len || c->e->nulls != c->e->rows)
			BAD(err, "column '%s' of nulls has values", c->name);
		goto out;
	}
	if (!c->e->v_len) {
		if (c->e->nulls)
			BAD(err, "column '%s' has nulls without bits", c->name);
		goto out;
	}
	if (c->e->v_len != want || !spare_zero(c->v, c->e->rows))
		BAD(err, "column '%s': validity has %llu bytes, expected %llu with spare bits 0",
		    c->name, (unsigned long long)c->e->v_len, (unsigned long long)want);
	for (i = 0; i < want / 8; i++)
		present_n += (uint64_t)__builtin_popcountll(c->v[i]);
	if (present_n + c->e->nulls != c->e->rows)
		BAD(err, "column '%s': %llu values and %llu nulls are not %llu rows", c->name,
		    (unsigned long long)present_n, (unsigned long long)c->e->nulls,
		    (unsigned long long)c->e->rows);
out:
	return rc;
}

static bool ok_f64(const struct col *c, uint64_t row)
{
	double v = ((const double *)c->a)[row];

	return isfinite(v) && !(v == 0 && signbit(v));
}

static bool ok_day(const struct col *c, uint64_t row)
{
	return dtx_day_ok(((const int32_t *)c->a)[row]);
}

static bool ok_us(const struct col *c, uint64_t row)
{
	return dtx_us_ok(((const int64_t *)c->a)[row]);
}

static bool ok_dec(const struct col *c, uint64_t row)
{
	return dtx_dec_fits(dtx_dec_get(((const struct dtx_dec128 *)c->a)[row]), c->type.precision);
}

/* The bytes of a text view whose pointer is still an offset into b. */
static bool text_bytes(const struct col *c, const struct dtx_text *t, const char **ptr)
{
	uint64_t off;

	*ptr = t->head;
	if (t->len <= DTX_TEXT_INLINE)
		return true;
	memcpy(&off, t->u.tail, 8);
	if (off > c->e->b_len || t->len > c->e->b_len - off)
		return false;
	*ptr = (const char *)c->view->ptr + c->e->b_off + off;
	return true;
}

static bool ok_text(const struct col *c, uint64_t row)
{
	static const char zero[DTX_TEXT_INLINE];
	const struct dtx_text *t = (const struct dtx_text *)c->a + row;
	const char *ptr;

	if (!text_bytes(c, t, &ptr) || dtx_utf8_bad(ptr, t->len) >= 0)
		return false;
	if (t->len > DTX_TEXT_INLINE)
		return !memcmp(t->head, ptr, 4);
	return !memcmp((const char *)t + 4 + t->len, zero, DTX_TEXT_INLINE - t->len);
}

/* The texts that are most of them: at most 12 bytes, all ASCII, with zeros after them. */
static bool ok_short(const struct dtx_text *t)
{
	static const uint32_t heads[] = { 0, 0xff, 0xffff, 0xffffff, 0xffffffff };
	uint64_t tail, spare = 0;
	uint32_t head;

	if (t->len > DTX_TEXT_INLINE)
		return false;
	memcpy(&head, t->head, 4);
	memcpy(&tail, t->u.tail, 8);
	if (t->len < 4)
		spare = tail | (head & ~heads[t->len]);
	else if (t->len < DTX_TEXT_INLINE)
		spare = tail >> (t->len - 4) * 8;
	return !(spare | (tail & 0x8080808080808080u) | (head & 0x80808080u));
}

static bool ok_texts(const struct col *c)
{
	const struct dtx_text *t = c->a;
	uint64_t i;

	for (i = 0; i < c->e->rows; i++)
		if (!ok_short(&t[i]) && present(c, i) && !ok_text(c, i))
			return false;
	return true;
}

/* Most columns of floats are all right: a loop without branches finds that out. */
static bool ok_floats(const struct col *c)
{
	const uint64_t *v = c->a, one = (uint64_t)1 << 52;
	uint64_t odd = 0, i;

	/* the highest bit is set by an exponent of ones, and by -0.0 */
	for (i = 0; i < c->e->rows; i++)
		odd |= ((v[i] & 0x7ff0000000000000u) + one) | (v[i] & ~(v[i] - 1));
	return !(odd >> 63);
}

static const struct rule {
	uint32_t width; /* bytes per value; 0: bits */
	bool (*ok)(const struct col *c, uint64_t row);
	const char *want;
} rules[DTX_TYPE_COUNT] = {
	[DTX_T_BOOL] = { 0, NULL, NULL },
	[DTX_T_INT64] = { 8, NULL, NULL },
	[DTX_T_FLOAT64] = { 8, ok_f64, "a finite number that is not -0.0" },
	[DTX_T_DECIMAL] = { 16, ok_dec, "a decimal of its precision" },
	[DTX_T_DATE] = { 4, ok_day, "a date of years 1 to 9999" },
	[DTX_T_DATETIME] = { 8, ok_us, "a time of years 1 to 9999" },
	[DTX_T_TEXT] = { 16, ok_text, "UTF-8 text inside its buffer" },
};

/* Limits the sum of all texts: views may overlap, so a few bytes could stand for more text than
 * fits into memory. */
static enum dtx_code check_extent(const struct col *c, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_text *t = c->a;
	uint64_t left = c->e->b_len, i;

	if (c->type.type != DTX_T_TEXT || c->e->a_len != c->e->rows * sizeof(*t))
		goto out;
	for (i = 0; i < c->e->rows; i++) {
		if (t[i].len <= DTX_TEXT_INLINE || !present(c, i))
			continue;
		if (t[i].len > left)
			BAD(err, "column '%s' row %llu: not UTF-8 text inside its buffer", c->name,
			    (unsigned long long)i);
		left -= t[i].len;
	}
out:
	return rc;
}

static enum dtx_code check_values(const struct col *c, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct rule *r = &rules[c->type.type];
	uint64_t want = r->width ? c->e->rows * r->width : dtx_bit_words(c->e->rows) * 8, i;

	if (c->type.type == DTX_T_NULL)
		want = 0;
	if (c->e->a_len != want)
		BAD(err, "column '%s': values have %llu bytes, expected %llu", c->name,
		    (unsigned long long)c->e->a_len, (unsigned long long)want);
	if (c->e->b_len && c->type.type != DTX_T_TEXT)
		BAD(err, "column '%s' has bytes that its type does not need", c->name);
	if (c->type.type == DTX_T_BOOL && want && !spare_zero(c->a, c->e->rows))
		BAD(err, "column '%s': spare bits are not 0", c->name);
	DTX_TRY(check_extent(c, err));
	if (c->type.type == DTX_T_TEXT && ok_texts(c))
		goto out;
	if (c->type.type == DTX_T_FLOAT64 && ok_floats(c))
		goto out;
	for (i = 0; r->ok && i < c->e->rows; i++)
		if (present(c, i) && !r->ok(c, i))
			BAD(err, "column '%s' row %llu: not %s", c->name, (unsigned long long)i,
			    r->want);
out:
	return rc;
}

static unsigned code_bytes(const struct col *c)
{
	return c->e->flags & DTX_FRAME_F_NARROW ? 1 : 4;
}

static enum dtx_code check_narrow(const struct col *c, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const uint8_t *code = c->a;
	const uint64_t n = c->e->rows;
	uint8_t most = 0;
	uint64_t i;

	for (i = 0; i < n; i++)
		most = DTX_MAX(most, code[i]);
	if (c->e->rows && most >= c->dict->rows)
		BAD(err, "column '%s': code %u of %llu", c->name, most,
		    (unsigned long long)c->dict->rows);
out:
	return rc;
}

/* Codes must be valid even where the value is null, so that no reader depends on the validity
 * bit. */
static enum dtx_code check_codes(const struct col *c, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const uint32_t *code = c->a;
	const uint32_t last = (uint32_t)DTX_MIN(c->dict->rows - 1, (uint64_t)INT32_MAX);
	uint32_t beyond = 0;
	uint64_t i;

	if (c->e->a_len != c->e->rows * code_bytes(c) || (c->e->rows && !c->dict->rows))
		BAD(err, "column '%s': codes have %llu bytes for %llu rows", c->name,
		    (unsigned long long)c->e->a_len, (unsigned long long)c->e->rows);
	if (code_bytes(c) == 1) {
		DTX_TRY(check_narrow(c, err));
		goto out;
	}
	/* Most frames are right, which a loop without branches finds out: the highest bit is set if
	 * the code has it, or is more than the last. */
	for (i = 0; i < c->e->rows; i++)
		beyond |= code[i] | (last - code[i]);
	for (i = 0; beyond >> 31 && i < c->e->rows; i++)
		if (code[i] >= c->dict->rows)
			BAD(err, "column '%s' row %llu: code %u of %llu", c->name,
			    (unsigned long long)i, code[i], (unsigned long long)c->dict->rows);
out:
	return rc;
}

/* --- columns --- */

struct views {
	struct dtx_text *text;
	struct dtx_owner *bytes;
};

static void views_free(void *arg)
{
	struct views *v = arg;

	dtx_mem_free(v->text);
	if (v->bytes)
		dtx_owner_unref(v->bytes);
	dtx_mem_free(v);
}

/* Whether views can be used as they are: all texts are in them, and there are no nulls, whose views
 * nothing has checked. */
static bool views_whole(const struct col *c)
{
	const struct dtx_text *t = c->a;
	uint32_t longest = 0;
	uint64_t i;

	if (c->e->b_len || c->v)
		return false;
	for (i = 0; i < c->e->rows; i++)
		longest = DTX_MAX(longest, t[i].len);
	return longest <= DTX_TEXT_INLINE;
}

/* Turns offsets into pointers, in an array of our own beside the frame. */
static enum dtx_code make_views(struct col *c, struct dtx_owner *keep, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct views *v = dtx_mem_zalloc(1, sizeof(*v));
	const struct dtx_text *from = c->a;
	uint64_t i;

	if (!v)
		DTX_FAIL_MEM(err);
	v->bytes = dtx_owner_ref(keep);
	v->text = dtx_mem_alloc64((size_t)c->e->rows, sizeof(*v->text));
	if (!v->text)
		DTX_FAIL_MEM(err);
	for (i = 0; i < c->e->rows; i++) {
		const char *ptr;

		v->text[i] = (struct dtx_text){ 0 };
		if (present(c, i) && text_bytes(c, &from[i], &ptr))
			v->text[i] = dtx_text_of(ptr, from[i].len);
	}
	c->values = v->text;
	c->owner = dtx_owner_new(views_free, v);
	if (!c->owner)
		DTX_FAIL_MEM(err);
	v = NULL;
out:
	if (v)
		views_free(v);
	return rc;
}

static void col_bind(struct col *c, const struct dtx_frame_view *view,
                     const struct dtx_frame_entry *e)
{
	c->view = view;
	c->e = e;
	c->a = view->ptr + e->a_off;
	c->v = e->v_len ? (const uint64_t *)(const void *)(view->ptr + e->v_off) : NULL;
	c->values = c->a;
}

static enum dtx_code make_dict(struct col *c, struct dtx_column **out, struct dtx_owner *keep,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct col d = { .name = c->name, .type = { DTX_T_TEXT, 0, 0 } };

	col_bind(&d, c->view, c->dict);
	DTX_TRY(check_values(&d, err));
	DTX_TRY(make_views(&d, keep, err));
	*out = dtx_column_new(DTX_F_FLAT, d.type, (uint32_t)c->dict->rows, d.owner);
	if (!*out)
		DTX_FAIL_MEM(err);
	(*out)->v.any = d.values;
out:
	return rc;
}

/* Makes codes of 4 bytes of those of one, in an array of our own. */
static enum dtx_code widen_codes(struct col *c, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const uint8_t *code = c->a;
	const uint64_t n = c->e->rows;
	uint32_t *to = dtx_mem_alloc64((size_t)n + 1, sizeof(*to));
	uint64_t i;

	if (!to)
		DTX_FAIL_MEM(err);
	for (i = 0; i < n; i++)
		to[i] = code[i];
	c->values = to;
	c->owner = dtx_owner_take(to);
	if (!c->owner)
		DTX_FAIL_MEM(err);
out:
	return rc;
}

/* Puts numbers in place of their codes: the column has no dictionary any more. */
static enum dtx_code put_numbers(struct col *c, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct col d = { .name = c->name, .type = c->type };
	const uint8_t *code = c->a;
	int64_t number[DTX_FRAME_NARROW_MAX] = { 0 };
	const uint64_t n = c->e->rows;
	int64_t *to = NULL;
	uint64_t i;

	col_bind(&d, c->view, c->dict);
	DTX_TRY(check_values(&d, err));
	memcpy(number, d.a, d.e->a_len);
	to = dtx_mem_alloc64((size_t)n + 1, sizeof(*to));
	if (!to)
		DTX_FAIL_MEM(err);
	for (i = 0; i < n; i++)
		to[i] = number[code[i]];
	for (i = 0; c->v && i < n; i++)
		if (!present(c, i))
			to[i] = 0;
	c->values = to;
	c->dict = NULL;
	c->owner = dtx_owner_take(to);
	if (!c->owner)
		DTX_FAIL_MEM(err);
out:
	return rc;
}

static int dict_cmp(const void *a, const void *b)
{
	const struct dtx_frame_entry *x = *(const struct dtx_frame_entry *const *)a;
	const struct dtx_frame_entry *y = *(const struct dtx_frame_entry *const *)b;

	return x->id < y->id ? -1 : x->id > y->id;
}

/* Sorted once, because searching the directory for each column would take quadratic time. */
static enum dtx_code list_dicts(const struct dtx_frame_view *view,
                                const struct dtx_frame_entry *table, struct dicts *d,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t i;

	d->made = dtx_mem_zalloc(view->n, sizeof(struct dtx_column *));
	d->entry = dtx_mem_alloc(view->n, sizeof(const struct dtx_frame_entry *));
	if (!d->made || !d->entry)
		DTX_FAIL_MEM(err);
	for (i = 0; i < view->n; i++)
		if (view->entry[i].kind == DTX_FRAME_DICT && view->entry[i].parent == table->id)
			d->entry[d->n++] = &view->entry[i];
	qsort(d->entry, d->n, sizeof(const struct dtx_frame_entry *), dict_cmp);
out:
	return rc;
}

static void dicts_clear(struct dicts *d, uint32_t sections)
{
	uint32_t i;

	for (i = 0; d->made && i < sections; i++)
		if (d->made[i])
			dtx_column_unref(d->made[i]);
	dtx_mem_free(d->made);
	dtx_mem_free(d->entry);
}

static const struct dtx_frame_entry *find_dict(const struct col *c)
{
	const struct dtx_frame_entry key = { .id = (uint32_t)c->e->b_off }, *want = &key;
	const struct dtx_frame_entry **at;

	if (c->e->b_off > UINT32_MAX)
		return NULL;
	at = bsearch(&want, c->dicts->entry, c->dicts->n, sizeof(want), dict_cmp);
	return at ? *at : NULL;
}

static bool may_have_dict(const struct col *c)
{
	if (c->e->flags & DTX_FRAME_F_NARROW && c->dict->rows > DTX_FRAME_NARROW_MAX)
		return false;
	switch (c->type.type) {
	case DTX_T_TEXT: return true;
	case DTX_T_INT64:
	case DTX_T_FLOAT64:
	case DTX_T_DATETIME: return c->e->flags & DTX_FRAME_F_NARROW;
	default: return false;
	}
}

static enum dtx_code open_dict(struct col *c, struct dtx_owner *keep, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_column **made;

	c->dict = find_dict(c);
	if (!c->dict || c->dict->type != (uint32_t)c->type.type || !may_have_dict(c) ||
	    c->dict->nulls || c->dict->v_len || c->dict->flags || c->dict->rows > UINT32_MAX)
		BAD(err, "column '%s': its dictionary is missing or malformed", c->name);
	DTX_TRY(check_codes(c, err));
	if (c->type.type != DTX_T_TEXT) {
		DTX_TRY(put_numbers(c, err));
		goto out;
	}
	if (code_bytes(c) == 1)
		DTX_TRY(widen_codes(c, err));
	else
		c->owner = dtx_owner_ref(keep);
	made = &c->dicts->made[c->dict - c->view->entry];
	if (!*made)
		DTX_TRY(make_dict(c, made, keep, err));
	c->dict_col = dtx_column_ref(*made);
out:
	return rc;
}

static enum dtx_code open_column(struct col *c, struct dtx_owner *keep, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	DTX_TRY(check_valid(c, err));
	if (c->e->flags & DTX_FRAME_F_DICT) {
		DTX_TRY(open_dict(c, keep, err));
		goto out;
	}
	DTX_TRY(check_values(c, err));
	if (c->type.type == DTX_T_TEXT && !views_whole(c))
		DTX_TRY(make_views(c, keep, err));
	else
		c->owner = dtx_owner_ref(keep);
out:
	return rc;
}

static const void *values_at(const struct col *c, uint64_t row)
{
	uint32_t width = c->dict ? 4 : rules[c->type.type].width;

	return (const char *)c->values + (width ? row * width : row / 8);
}

/* Rows [from, from + n); `from` is a multiple of 64. */
static enum dtx_code make_slice(const struct col *c, uint64_t from, uint32_t n,
                                struct dtx_column **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_column *made;
	uint32_t i;

	if (c->type.type == DTX_T_NULL) {
		DTX_TRY(dtx_column_nulls(c->type, n, out, err));
		goto out;
	}
	made = dtx_column_new(c->dict ? DTX_F_DICT : DTX_F_FLAT, c->type, n,
	                      dtx_owner_ref(c->owner));
	if (!made)
		DTX_FAIL_MEM(err);
	made->v.any = values_at(c, from);
	made->dict = dtx_column_ref(c->dict_col);
	if (c->v) {
		uint32_t some = 0;

		made->valid = c->v + from / 64;
		for (i = 0; i < dtx_bit_words(n); i++)
			some += (uint32_t)__builtin_popcountll(made->valid[i]);
		made->nulls = n - some;
	}
	*out = made;
out:
	return rc;
}

/* --- table --- */

static bool type_ok(const struct dtx_frame_entry *e, struct dtx_typeref *t)
{
	t->type = (enum dtx_type)e->type;
	t->scale = (uint8_t)(e->flags >> 8);
	t->precision = (uint8_t)(e->flags >> 16);
	if (e->type <= DTX_T_UNKNOWN || e->type >= DTX_TYPE_COUNT || e->flags >> 24)
		return false;
	if (e->type != DTX_T_DECIMAL)
		return !t->scale && !t->precision && !(e->flags & 0xfc) &&
		       (e->flags & 3) != DTX_FRAME_F_NARROW;
	return t->precision >= 1 && t->precision <= 38 && t->scale <= t->precision &&
	       !(e->flags & 0xff);
}

static bool name_ok(const struct dtx_frame_view *view, const struct dtx_frame_entry *e)
{
	const char *name = (const char *)view->ptr + e->name_off;

	return e->name_len && !memchr(name, 0, e->name_len) && dtx_utf8_bad(name, e->name_len) < 0;
}

static int name_cmp(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static enum dtx_code check_names(const struct col *col, uint32_t n, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const char **name = dtx_mem_alloc(n, sizeof(*name));
	uint32_t i;

	if (!name)
		DTX_FAIL_MEM(err);
	for (i = 0; i < n; i++)
		name[i] = col[i].name;
	qsort(name, n, sizeof(*name), name_cmp);
	for (i = 1; i < n; i++)
		if (!strcmp(name[i], name[i - 1]))
			BAD(err, "two columns are named '%s'", name[i]);
out:
	dtx_mem_free(name);
	return rc;
}

/* The columns of a table in the order of the directory, checked. */
static enum dtx_code open_columns(const struct dtx_frame_view *view,
                                  const struct dtx_frame_entry *table, struct dtx_owner *keep,
                                  struct dtx_arena *arena, struct col *col, uint32_t *n,
                                  struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t i;

	for (i = 0; i < view->n; i++) {
		const struct dtx_frame_entry *e = &view->entry[i];
		struct col *c = &col[*n];

		if (e->kind != DTX_FRAME_COLUMN || e->parent != table->id)
			continue;
		if (!name_ok(view, e))
			BAD(err, "name of column %u is empty or not text", *n);
		if (!type_ok(e, &c->type) || e->rows != table->rows)
			BAD(err, "column %u has no known type or not the table's rows", *n);
		c->name = dtx_arena_strndup(arena, (const char *)view->ptr + e->name_off,
		                            e->name_len);
		if (!c->name)
			DTX_FAIL_MEM(err);
		col_bind(c, view, e);
		(*n)++;
		DTX_TRY(open_column(c, keep, err));
	}
	if (!*n && table->rows)
		BAD(err, "a table without columns has rows");
	DTX_TRY(check_names(col, *n, err));
out:
	return rc;
}

static enum dtx_code take_batch(struct dtx_table *t, const struct col *col, uint64_t from,
                                uint32_t nrows, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_batch *b = NULL;
	uint32_t i;

	DTX_TRY(dtx_batch_new(t->schema, nrows, &b, err));
	for (i = 0; i < t->schema->nfields; i++)
		DTX_TRY(make_slice(&col[i], from, nrows, &b->col[i], err));
	rc = dtx_table_take(t, b, err);
	b = NULL;
out:
	dtx_batch_free(b);
	return rc;
}

static enum dtx_code make_table(const struct dtx_frame_entry *e, const struct col *col, uint32_t n,
                                struct dtx_arena *arena, struct dtx_owner *keep,
                                struct dtx_table **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_field *field = dtx_arena_zalloc(arena, n + 1, sizeof(*field));
	struct dtx_schema schema = { .nfields = n, .field = field };
	struct dtx_table *t = NULL;
	uint64_t from;
	uint32_t i;

	if (!field)
		DTX_FAIL_MEM(err);
	for (i = 0; i < n; i++) {
		field[i].name = col[i].name;
		field[i].type = col[i].type;
	}
	DTX_TRY(dtx_table_new(&schema, &t, err));
	t->keep = dtx_owner_ref(keep);
	for (from = 0; from < e->rows; from += DTX_BATCH_ROWS)
		DTX_TRY(take_batch(t, col, from,
		                   (uint32_t)DTX_MIN(e->rows - from, (uint64_t)DTX_BATCH_ROWS),
		                   err));
	*out = t;
	t = NULL;
out:
	if (t)
		dtx_table_unref(t);
	return rc;
}

/* Columns of nulls need no bytes in the frame but do need memory here. */
static enum dtx_code check_nulls(const struct dtx_frame_entry *table, const struct col *col,
                                 uint32_t n, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint64_t batches = (table->rows + DTX_BATCH_ROWS - 1) / DTX_BATCH_ROWS, nulls = 0;
	uint32_t i;

	for (i = 0; i < n; i++)
		nulls += col[i].type.type == DTX_T_NULL;
	if (nulls * batches > NULL_SLOTS_MAX)
		BAD(err, "%llu columns of nulls with %llu rows are too many",
		    (unsigned long long)nulls, (unsigned long long)table->rows);
	/* otherwise a few hundred bytes could become gigabytes of output lines */
	if (nulls == n && table->rows > NULL_ROWS_MAX)
		BAD(err, "%llu rows of nothing but nulls are too many",
		    (unsigned long long)table->rows);
out:
	return rc;
}

enum dtx_code dtx_frame_table(const struct dtx_frame_view *view,
                              const struct dtx_frame_entry *entry, struct dtx_owner *keep,
                              struct dtx_table **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_arena arena = DTX_ARENA_INIT;
	struct col *col = dtx_mem_zalloc(view->n, sizeof(*col));
	struct dicts dicts = { NULL, 0, NULL };
	uint32_t n = 0, i;

	if (!col)
		DTX_FAIL_MEM(err);
	DTX_TRY(list_dicts(view, entry, &dicts, err));
	for (i = 0; i < view->n; i++)
		col[i].dicts = &dicts;
	DTX_TRY(open_columns(view, entry, keep, &arena, col, &n, err));
	DTX_TRY(check_nulls(entry, col, n, err));
	DTX_TRY(make_table(entry, col, n, &arena, keep, out, err));
out:
	for (i = 0; i < n; i++) {
		if (col[i].owner)
			dtx_owner_unref(col[i].owner);
		if (col[i].dict_col)
			dtx_column_unref(col[i].dict_col);
	}
	dicts_clear(&dicts, view->n);
	dtx_mem_free(col);
	dtx_arena_clear(&arena);
	return rc;
}

_Static_assert(sizeof(struct dtx_frame_entry) == DTX_FRAME_ENTRY, "entry is its file layout");

#define BAD(err, ...) DTX_FAIL((err), DTX_E_SNIPPET_BAD_RESULT, __VA_ARGS__)

/* Checks the structure of a frame that a hostile process may have written: header, directory,
 * ranges.
 *
 * The header and the directory are copied before they are checked, so what was checked cannot
 * change afterwards.  After dtx_frame_open every buffer is within the frame and overlaps no other
 * one; what the buffers contain is checked by those who read them. */

struct range {
	uint64_t off, len;
};

static int range_cmp(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return x->off < y->off ? -1 : x->off > y->off;
}

/* An empty buffer has offset 0; others are aligned and after the header and the directory. */
static bool range_ok(uint64_t off, uint64_t len, uint64_t from, uint64_t total, uint64_t align)
{
	if (!len)
		return off == 0;
	return off >= from && off % align == 0 && off <= total && len <= total - off;
}

static bool entry_ok(const struct dtx_frame_entry *e, uint64_t from, uint64_t total)
{
	/* b_off is an offset, except in a column of codes, where it is the id of the dictionary */
	bool code = e->kind == DTX_FRAME_COLUMN && e->flags & DTX_FRAME_F_DICT;

	return range_ok(e->name_off, e->name_len, from, total, 1) &&
	       e->name_len <= DTX_FRAME_NAME_MAX &&
	       range_ok(e->a_off, e->a_len, from, total, DTX_FRAME_ALIGN) &&
	       (code ? !e->b_len : range_ok(e->b_off, e->b_len, from, total, DTX_FRAME_ALIGN)) &&
	       range_ok(e->v_off, e->v_len, from, total, DTX_FRAME_ALIGN) &&
	       e->rows <= DTX_FRAME_ROWS_MAX && e->nulls <= e->rows;
}

/* Sorts all buffers by offset; then each must end before the next one begins. */
static enum dtx_code check_disjoint(const struct dtx_frame_view *view, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct range *r = dtx_mem_alloc((size_t)view->n * 4, sizeof(*r));
	size_t n = 0, i;

	if (!r)
		DTX_FAIL_MEM(err);
	for (i = 0; i < view->n; i++) {
		const struct dtx_frame_entry *e = &view->entry[i];
		const struct range four[] = { { e->name_off, e->name_len },
			                      { e->a_off, e->a_len },
			                      { e->b_off, e->b_len },
			                      { e->v_off, e->v_len } };
		size_t k;

		for (k = 0; k < 4; k++)
			if (four[k].len)
				r[n++] = four[k];
	}
	qsort(r, n, sizeof(*r), range_cmp);
	for (i = 1; i < n; i++)
		if (r[i].off - r[i - 1].off < r[i - 1].len)
			BAD(err, "frame: buffers overlap at byte %llu",
			    (unsigned long long)r[i].off);
out:
	dtx_mem_free(r);
	return rc;
}

struct header {
	char magic[8];
	uint32_t size, n;
	uint64_t total, dir;
	uint32_t entry, flags;
	unsigned char zero[24];
};

static enum dtx_code check_header(const struct header *h, uint64_t len, struct dtx_err *err)
{
	static const unsigned char zero[24];
	enum dtx_code rc = DTX_OK;

	if (memcmp(h->magic, DTX_FRAME_MAGIC, 8) || h->size != DTX_FRAME_HEADER ||
	    h->entry != DTX_FRAME_ENTRY || h->flags || memcmp(h->zero, zero, sizeof(zero)))
		BAD(err, "frame: header is not one of this version");
	if (h->total != len)
		BAD(err, "frame: header says %llu bytes, there are %llu",
		    (unsigned long long)h->total, (unsigned long long)len);
	if (!h->n || h->n > DTX_FRAME_SECTIONS_MAX)
		BAD(err, "frame: %u sections, expected 1 to %u", h->n, DTX_FRAME_SECTIONS_MAX);
	if (h->dir != DTX_FRAME_HEADER || (len - DTX_FRAME_HEADER) / DTX_FRAME_ENTRY < h->n)
		BAD(err, "frame: directory lies outside");
out:
	return rc;
}

enum dtx_code dtx_frame_open(const void *ptr, uint64_t len, struct dtx_frame_view *view,
                             struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_frame_view got = { ptr, len, 0, NULL };
	struct header h;
	uint32_t i;

	if (len < DTX_FRAME_HEADER)
		BAD(err, "frame: %llu bytes are not a frame", (unsigned long long)len);
	memcpy(&h, ptr, sizeof(h));
	DTX_TRY(check_header(&h, len, err));
	got.n = h.n;
	got.entry = dtx_mem_alloc(h.n, sizeof(*got.entry));
	if (!got.entry)
		DTX_FAIL_MEM(err);
	memcpy(got.entry, got.ptr + DTX_FRAME_HEADER, (size_t)h.n * DTX_FRAME_ENTRY);
	for (i = 0; i < h.n; i++)
		if (!entry_ok(&got.entry[i], DTX_FRAME_HEADER + (uint64_t)h.n * DTX_FRAME_ENTRY,
		              len))
			BAD(err, "frame: section %u lies outside or is malformed", i);
	DTX_TRY(check_disjoint(&got, err));
	*view = got;
	got.entry = NULL;
out:
	dtx_mem_free(got.entry);
	return rc;
}

void dtx_frame_close(struct dtx_frame_view *view)
{
	dtx_mem_free(view->entry);
	*view = (struct dtx_frame_view)DTX_FRAME_VIEW_INIT;
}

const struct dtx_frame_entry *dtx_frame_find(const struct dtx_frame_view *view,
                                             enum dtx_frame_kind kind)
{
	uint32_t i;

	for (i = 0; i < view->n; i++)
		if (view->entry[i].kind == (uint32_t)kind)
			return &view->entry[i];
	return NULL;
}

struct dtx_str dtx_frame_bytes(const struct dtx_frame_view *view,
                               const struct dtx_frame_entry *entry)
{
	return (struct dtx_str){ (const char *)view->ptr + entry->a_off, (size_t)entry->a_len };
}
