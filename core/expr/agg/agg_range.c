/* range, product, share_null. */
#include "core/expr/agg/aggcall.h"

#define STATE(type, k) ((type *)(void *)(states + (size_t)r->group[k] * stride))
#define ROW(k)         (r->row ? r->row[k] : (k))

/* --- range --- */

/* States are aligned to 8 bytes only, so 128-bit numbers are kept as two words. */
struct ends { /* exact for ints, days and decimals; floats are kept as floats */
	struct dtx_dec128 low, high;
	double flow, fhigh;
	uint64_t seen;
};

static void ends_add(struct ends *s, const struct ends *v)
{
	if (!v->seen)
		return;
	if (!s->seen) {
		*s = *v;
		return;
	}
	if (dtx_dec_get(v->low) < dtx_dec_get(s->low))
		s->low = v->low;
	if (dtx_dec_get(v->high) > dtx_dec_get(s->high))
		s->high = v->high;
	s->flow = fmin(s->flow, v->flow);
	s->fhigh = fmax(s->fhigh, v->fhigh);
}

static enum dtx_code ends_rows(const struct dtx_aggcall *c, char *states, size_t stride,
                               const struct dtx_aggrows *r, struct dtx_err *err)
{
	(void)c, (void)err;
	for (uint32_t k = 0; k < r->n; k++) {
		uint32_t i = ROW(k);
		struct ends one = { .seen = 1 };

		switch (r->col->type.type) {
		case DTX_T_FLOAT64: one.flow = one.fhigh = r->col->v.f64[i]; break;
		case DTX_T_DECIMAL: one.low = r->col->v.dec[i]; break;
		case DTX_T_DATE: one.low = dtx_dec_put(r->col->v.day[i]); break;
		default: one.low = dtx_dec_put(r->col->v.i64[i]); break;
		}
		one.high = one.low;
		ends_add(STATE(struct ends, k), &one);
	}
	return DTX_OK;
}

static enum dtx_code ends_merge(const struct dtx_aggcall *c, void *to, void *from,
                                struct dtx_err *err)
{
	(void)c, (void)err;
	ends_add(to, from);
	return DTX_OK;
}

static enum dtx_code ends_final(const struct dtx_aggcall *c, void *state, struct dtx_fnrun *run,
                                struct dtx_val *out, struct dtx_err *err)
{
	const struct ends *s = state;
	dtx_i128 v;
	/* twice the largest decimal has more than 128 bits */
	bool over = __builtin_sub_overflow(dtx_dec_get(s->high), dtx_dec_get(s->low), &v);

	(void)run;
	out->null = !s->seen;
	if (c->argtype.type == DTX_T_FLOAT64)
		out->u.f = s->fhigh - s->flow;
	else if (c->type.type == DTX_T_FLOAT64)
		out->u.f = (double)v;
	else if (over || (c->type.type == DTX_T_DECIMAL ? !dtx_dec_fits(v, 38) : v > INT64_MAX))
		return dtx_agg_overflow(c, out, err);
	else if (c->type.type == DTX_T_DECIMAL)
		out->u.dec = v;
	else
		out->u.i = (int64_t)v;
	return DTX_OK;
}

static const struct dtx_aggkernel ends = {
	.size = sizeof(struct ends), .add = ends_rows, .merge = ends_merge, .final = ends_final
};

/* --- product of ints --- */

struct iproduct { /* exact: a product beyond 128 bits stays out of range unless a zero follows */
	struct dtx_dec128 v;
	uint64_t seen, zero, over;
};

static void iproduct_join(struct iproduct *s, dtx_i128 v)
{
	dtx_i128 got = s->seen ? dtx_dec_get(s->v) : 1;

	s->seen = 1;
	s->zero |= v == 0;
	if (v != 0)
		s->over |= __builtin_mul_overflow(got, v, &got);
	s->v = dtx_dec_put(got);
}

static enum dtx_code iproduct_rows(const struct dtx_aggcall *c, char *states, size_t stride,
                                   const struct dtx_aggrows *r, struct dtx_err *err)
{
	(void)c, (void)err;
	for (uint32_t k = 0; k < r->n; k++)
		iproduct_join(STATE(struct iproduct, k), r->col->v.i64[ROW(k)]);
	return DTX_OK;
}

static enum dtx_code iproduct_merge(const struct dtx_aggcall *c, void *to, void *from,
                                    struct dtx_err *err)
{
	struct iproduct *a = to;
	const struct iproduct *b = from;

	(void)c, (void)err;
	if (b->seen && !b->over)
		iproduct_join(a, dtx_dec_get(b->v));
	a->seen |= b->seen;
	a->zero |= b->zero;
	a->over |= b->over;
	return DTX_OK;
}

static enum dtx_code iproduct_final(const struct dtx_aggcall *c, void *state, struct dtx_fnrun *run,
                                    struct dtx_val *out, struct dtx_err *err)
{
	const struct iproduct *s = state;
	dtx_i128 v = dtx_dec_get(s->v);

	(void)run;
	out->null = !s->seen;
	if (s->zero)
		out->u.i = 0;
	else if (s->over || v > INT64_MAX || v < INT64_MIN)
		return dtx_agg_overflow(c, out, err);
	else
		out->u.i = (int64_t)v;
	return DTX_OK;
}

static const struct dtx_aggkernel iproduct = { .size = sizeof(struct iproduct),
	                                       .add = iproduct_rows,
	                                       .merge = iproduct_merge,
	                                       .final = iproduct_final };

/* --- share of nulls --- */

struct nulls {
	uint64_t n, null;
};

static enum dtx_code nulls_rows(const struct dtx_aggcall *c, char *states, size_t stride,
                                const struct dtx_aggrows *r, struct dtx_err *err)
{
	(void)c, (void)err;
	for (uint32_t k = 0; k < r->n; k++) {
		struct nulls *s = STATE(struct nulls, k);

		s->n++;
		s->null += r->col->type.type == DTX_T_NULL || dtx_column_is_null(r->col, ROW(k));
	}
	return DTX_OK;
}

static enum dtx_code nulls_merge(const struct dtx_aggcall *c, void *to, void *from,
                                 struct dtx_err *err)
{
	struct nulls *a = to, *b = from;

	(void)c, (void)err;
	a->n += b->n;
	a->null += b->null;
	return DTX_OK;
}

static enum dtx_code nulls_final(const struct dtx_aggcall *c, void *state, struct dtx_fnrun *run,
                                 struct dtx_val *out, struct dtx_err *err)
{
	const struct nulls *s = state;

	(void)c, (void)run, (void)err;
	out->null = s->n == 0;
	if (s->n)
		out->u.f = (double)s->null / (double)s->n;
	return DTX_OK;
}

static const struct dtx_aggkernel share_null = { .size = sizeof(struct nulls),
	                                         .nulls = true,
	                                         .add = nulls_rows,
	                                         .merge = nulls_merge,
	                                         .final = nulls_final };

const struct dtx_aggkernel *dtx_aggkernel_range(const struct dtx_aggcall *c)
{
	if (c->kind == DTX_AGG_SHARE_NULL)
		return &share_null;
	if (c->kind == DTX_AGG_RANGE)
		return &ends;
	/* for other numbers, and for ints whose product may become a float, all factors are kept */
	return c->type.type == DTX_T_INT64 ? &iproduct : dtx_aggkernel_numbers(c);
}
