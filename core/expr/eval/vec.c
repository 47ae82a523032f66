/* Columns and single values that evaluation makes.
 *
 * A dtx_vec is a FLAT column while a node fills it: one block holds the values and, after them, the
 * validity bits, which begin as all valid.  A node takes away the bits of rows where an argument is
 * null and of rows that have no result.  If all bits are still set at the end, the column is passed
 * on without them. */
#include "core/expr/bound.h"

#include <math.h>

#include "core/base/memory/mem.h"
#include "core/data/cast/decimal.h"

static const size_t value_size[DTX_TYPE_COUNT] = {
	[DTX_T_INT64] = sizeof(int64_t),
	[DTX_T_FLOAT64] = sizeof(double),
	[DTX_T_DECIMAL] = sizeof(struct dtx_dec128),
	[DTX_T_DATE] = sizeof(int32_t),
	[DTX_T_DATETIME] = sizeof(int64_t),
	[DTX_T_TEXT] = sizeof(struct dtx_text),
};

enum dtx_code dtx_vec_new(const struct dtx_ev *ev, struct dtx_typeref type, struct dtx_vec *out)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_err *err = ev->err;
	size_t words = dtx_bit_words(ev->nrows) + 1;
	size_t bytes = type.type == DTX_T_BOOL ? words * 8 : value_size[type.type] * ev->nrows;
	char *block;
	struct dtx_owner *owner;

	out->col = NULL;
	bytes = (bytes + 63) & ~(size_t)63;
	block = dtx_mem_alloc64(1, bytes + words * 8);
	if (!block)
		DTX_FAIL_MEM(err);
	owner = dtx_owner_take(block);
	if (!owner)
		DTX_FAIL_MEM(err);
	out->col = dtx_column_new(DTX_F_FLAT, type, ev->nrows, owner);
	if (!out->col)
		DTX_FAIL_MEM(err);
	out->v = block;
	out->valid = (uint64_t *)(void *)(block + bytes);
	out->col->v.any = block;
	memset(out->valid, 0xff, words * 8);
	/* Rows that do not count must still have a readable value. */
	if (ev->sel || type.type == DTX_T_BOOL || type.type == DTX_T_TEXT)
		memset(block, 0, bytes);
out:
	return rc;
}

void dtx_vec_and(struct dtx_vec *v, const struct dtx_column *c)
{
	size_t i, words = dtx_bit_words(v->col->len);

	if (!c->valid)
		return;
	if (c->form == DTX_F_CONST) {
		if (!dtx_bit(c->valid, 0))
			memset(v->valid, 0, words * 8);
		return;
	}
	for (i = 0; i < words; i++)
		v->valid[i] &= c->valid[i];
}

struct dtx_column *dtx_vec_done(struct dtx_vec *v)
{
	struct dtx_column *c = v->col;
	size_t i, words = dtx_bit_words(c->len), present = 0;

	if (c->len & 63)
		v->valid[words - 1] &= ((uint64_t)1 << (c->len & 63)) - 1;
	for (i = 0; i < words; i++)
		present += (size_t)__builtin_popcountll(v->valid[i]);
	c->nulls = (uint32_t)(c->len - present);
	c->valid = c->nulls ? v->valid : NULL;
	v->col = NULL;
	return c;
}

void dtx_vec_drop(struct dtx_vec *v)
{
	dtx_column_unref(v->col);
	v->col = NULL;
}

void dtx_val_get(const struct dtx_column *c, uint32_t row, struct dtx_val *out)
{
	out->null = dtx_column_is_null(c, row);
	if (out->null || c->type.type == DTX_T_NULL) {
		out->null = true;
		return;
	}
	row &= dtx_col_mask(c);
	switch (c->type.type) {
	case DTX_T_BOOL: out->u.b = dtx_bit(c->v.bits, row); break;
	case DTX_T_INT64:
	case DTX_T_DATETIME: out->u.i = c->v.i64[row]; break;
	case DTX_T_FLOAT64: out->u.f = c->v.f64[row]; break;
	case DTX_T_DECIMAL: out->u.dec = dtx_dec_get(c->v.dec[row]); break;
	case DTX_T_DATE: out->u.day = c->v.day[row]; break;
	case DTX_T_TEXT: out->u.s = dtx_column_text(c, row); break;
	case DTX_T_UNKNOWN:
	case DTX_T_NULL: break;
	}
}

void dtx_val_add(struct dtx_builder *b, struct dtx_typeref type, const struct dtx_val *v)
{
	if (v->null) {
		dtx_builder_null(b);
		return;
	}
	switch (type.type) {
	case DTX_T_BOOL: dtx_builder_bool(b, v->u.b); break;
	case DTX_T_INT64:
	case DTX_T_DATETIME: dtx_builder_i64(b, v->u.i); break;
	case DTX_T_FLOAT64: dtx_builder_f64(b, v->u.f); break;
	case DTX_T_DECIMAL: dtx_builder_dec(b, dtx_dec_put(v->u.dec)); break;
	case DTX_T_DATE: dtx_builder_day(b, v->u.day); break;
	case DTX_T_TEXT: dtx_builder_text(b, v->u.s); break;
	case DTX_T_UNKNOWN:
	case DTX_T_NULL: dtx_builder_null(b); break;
	}
}

enum dtx_code dtx_val_column(struct dtx_typeref type, const struct dtx_val *v, uint32_t n,
                             struct dtx_column **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_builder b;
	struct dtx_column *c;

	if (v->null || type.type == DTX_T_NULL)
		return dtx_column_nulls(type, n, out, err);
	dtx_builder_init(&b, type, 1);
	dtx_val_add(&b, type, v);
	DTX_TRY(dtx_builder_finish(&b, NULL, &c, err));
	c->form = DTX_F_CONST;
	c->len = n;
	*out = c;
out:
	dtx_builder_clear(&b);
	return rc;
}

int dtx_cmp_i64_f64(int64_t a, double b)
{
	double whole = trunc(b);
	int64_t ib;

	if (whole >= 9223372036854775808.0)
		return -1;
	if (whole < -9223372036854775808.0)
		return 1;
	ib = (int64_t)whole;
	if (a != ib)
		return a < ib ? -1 : 1;
	return b > whole ? -1 : b < whole;
}

int dtx_cmp_dec(dtx_i128 a, unsigned sa, dtx_i128 b, unsigned sb)
{
	unsigned s = DTX_MAX(sa, sb);
	bool up = sa < sb;
	dtx_i128 wide;

	if (sa != sb) {
		/* No decimal of 38 digits holds it at the other scale, so its absolute value is the
		 * larger one. */
		if (!dtx_dec_rescale(up ? a : b, up ? sa : sb, s, &wide))
			return (up ? a > 0 : b < 0) ? 1 : -1;
		if (up)
			a = wide;
		else
			b = wide;
	}
	return (a > b) - (a < b);
}

int dtx_val_cmp(enum dtx_type type, const struct dtx_val *a, const struct dtx_val *b)
{
	switch (type) {
	case DTX_T_BOOL: return (int)a->u.b - (int)b->u.b;
	case DTX_T_INT64:
	case DTX_T_DATETIME: return (a->u.i > b->u.i) - (a->u.i < b->u.i);
	case DTX_T_FLOAT64: return (a->u.f > b->u.f) - (a->u.f < b->u.f);
	case DTX_T_DECIMAL: return (a->u.dec > b->u.dec) - (a->u.dec < b->u.dec);
	case DTX_T_DATE: return (a->u.day > b->u.day) - (a->u.day < b->u.day);
	case DTX_T_TEXT: return dtx_str_cmp(a->u.s, b->u.s);
	case DTX_T_UNKNOWN:
	case DTX_T_NULL: break;
	}
	return 0;
}
