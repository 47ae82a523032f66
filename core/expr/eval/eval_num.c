/* Arithmetic and widening: a fast loop without branches, then a slow loop if a row went wrong.
 *
 * The fast loop computes every live row, even if it is null, and collects in one variable whether
 * any row overflowed or is not finite.  A compiler can vectorise it.  Rows that went wrong are
 * rare, so finding out which ones, whether they are null after all, and what options.overflow says
 * about them is left to a second loop over the same rows. */
#include "core/expr/bound.h"

#include <math.h>

#include "core/base/text/num.h"
#include "core/data/cast/cast.h"
#include "core/data/cast/decimal.h"
#include "core/data/time/time.h"

static const char *const words[] = { "+", "-", "*", "/", "//", "%", "**" };

/* Handles a result that does not fit its type. */
static enum dtx_code overflowed(struct dtx_ev *ev, const struct dtx_bound *b, struct dtx_vec *vec,
                                uint32_t row, const char *op)
{
	char type[32];

	if (b->overflow == DTX_OVERFLOW_NULL) {
		dtx_vec_null(vec, row);
		return DTX_OK;
	}
	dtx_err_set(ev->err, DTX_E_OVERFLOW, __FILE__, __LINE__, "result of '%s' does not fit %s",
	            op, dtx_bind_type_text(b->type, type));
	dtx_err_hint(ev->err,
	             "compute with float(x), or set options.overflow to 'float' or 'null'");
	return dtx_ev_row(ev, DTX_E_OVERFLOW, b, vec, row);
}

static enum dtx_code divided_by_zero(struct dtx_ev *ev, const struct dtx_bound *b,
                                     struct dtx_vec *vec, uint32_t row)
{
	dtx_vec_null(vec, row);
	if (!b->div_zero_error) {
		ev->counts->div_zero++;
		return DTX_OK;
	}
	dtx_err_set(ev->err, DTX_E_DIV_ZERO, __FILE__, __LINE__, "division by zero");
	return dtx_ev_row(ev, DTX_E_DIV_ZERO, b, vec, row);
}

/* --- int --- */

struct pair {
	const struct dtx_column *a, *b;
};

static bool int_overflows(int op, int64_t x, int64_t y)
{
	int64_t r;

	switch (op) {
	case DTX_BIN_ADD: return __builtin_add_overflow(x, y, &r);
	case DTX_BIN_SUB: return __builtin_sub_overflow(x, y, &r);
	case DTX_BIN_MUL: return __builtin_mul_overflow(x, y, &r);
	default: return x == INT64_MIN && y == -1;
	}
}

static enum dtx_code int_slow(struct dtx_ev *ev, const struct dtx_bound *b, struct pair p,
                              struct dtx_vec *vec)
{
	enum dtx_code rc = DTX_OK;
	uint32_t ma = dtx_col_mask(p.a), mb = dtx_col_mask(p.b);

	DTX_ROWS(ev, i, {
		int64_t x = p.a->v.i64[i & ma];
		int64_t y = p.b->v.i64[i & mb];

		if (!dtx_bit(vec->valid, i))
			continue;
		if (y == 0 && (b->op == DTX_BIN_FLOORDIV || b->op == DTX_BIN_MOD))
			DTX_TRY(divided_by_zero(ev, b, vec, i));
		else if (b->op != DTX_BIN_MOD && int_overflows(b->op, x, y))
			DTX_TRY(overflowed(ev, b, vec, i, words[b->op]));
	});
out:
	return rc;
}

static int64_t int_floordiv(int64_t x, int64_t y)
{
	int64_t q;

	if (y == 0 || (x == INT64_MIN && y == -1))
		return 0;
	q = x / y;
	return q - (x % y != 0 && (x < 0) != (y < 0));
}

static int64_t int_mod(int64_t x, int64_t y)
{
	int64_t r;

	if (y == 0 || y == -1)
		return 0;
	r = x % y;
	return r != 0 && (r < 0) != (y < 0) ? r + y : r;
}

static enum dtx_code arith_int(struct dtx_ev *ev, const struct dtx_bound *b, struct pair p,
                               struct dtx_vec *vec)
{
	const int64_t *x = p.a->v.i64, *y = p.b->v.i64;
	uint32_t ma = dtx_col_mask(p.a), mb = dtx_col_mask(p.b);
	int64_t *r = vec->v, bad = 0;

	switch (b->op) {
	case DTX_BIN_ADD:
		DTX_ROWS(ev, i, {
			int64_t u = x[i & ma];
			int64_t v = y[i & mb];

			r[i] = (int64_t)((uint64_t)u + (uint64_t)v);
			bad |= (u ^ r[i]) & (v ^ r[i]);
		});
		break;
	case DTX_BIN_SUB:
		DTX_ROWS(ev, i, {
			int64_t u = x[i & ma];
			int64_t v = y[i & mb];

			r[i] = (int64_t)((uint64_t)u - (uint64_t)v);
			bad |= (u ^ v) & (u ^ r[i]);
		});
		break;
	case DTX_BIN_MUL:
		DTX_ROWS(ev, i,
		         { bad |= -(int64_t)__builtin_mul_overflow(x[i & ma], y[i & mb], &r[i]); });
		break;
	case DTX_BIN_FLOORDIV:
		DTX_ROWS(ev, i, {
			int64_t v = y[i & mb];

			r[i] = int_floordiv(x[i & ma], v);
			bad |= -(int64_t)(v == 0 || v == -1);
		});
		break;
	default:
		DTX_ROWS(ev, i, {
			int64_t v = y[i & mb];

			r[i] = int_mod(x[i & ma], v);
			bad |= -(int64_t)(v == 0);
		});
		break;
	}
	return bad < 0 ? int_slow(ev, b, p, vec) : DTX_OK;
}

/* --- float --- */

/* Results that are not finite become null and are counted. */
static enum dtx_code float_slow(struct dtx_ev *ev, const struct dtx_bound *b,
                                const struct dtx_column *divisor, struct dtx_vec *vec)
{
	enum dtx_code rc = DTX_OK;
	double *r = vec->v;
	bool divides = b->op == DTX_BIN_DIV || b->op == DTX_BIN_FLOORDIV || b->op == DTX_BIN_MOD;

	DTX_ROWS(ev, i, {
		if (isfinite(r[i]))
			continue;
		r[i] = 0;
		if (!dtx_bit(vec->valid, i))
			continue;
		if (divides && divisor->v.f64[i & dtx_col_mask(divisor)] == 0) {
			DTX_TRY(divided_by_zero(ev, b, vec, i));
		} else {
			dtx_vec_null(vec, i);
			ev->counts->not_finite++;
		}
	});
out:
	return rc;
}

/* x - x is 0 only if x is finite; + 0.0 turns -0.0 into 0.0. */
#define FLOAT_LOOP(expr)                                                                           \
	DTX_ROWS(ev, i, {                                                                          \
		double u = x[i & ma];                                                              \
		double v = y[i & mb];                                                              \
                                                                                                   \
		r[i] = (expr) + 0.0;                                                               \
		bad += r[i] - r[i];                                                                \
	})

static enum dtx_code arith_float(struct dtx_ev *ev, const struct dtx_bound *b, struct pair p,
                                 struct dtx_vec *vec)
{
	const double *x = p.a->v.f64, *y = p.b->v.f64;
	uint32_t ma = dtx_col_mask(p.a), mb = dtx_col_mask(p.b);
	double *r = vec->v, bad = 0;

	switch (b->op) {
	case DTX_BIN_ADD: FLOAT_LOOP(u + v); break;
	case DTX_BIN_SUB: FLOAT_LOOP(u - v); break;
	case DTX_BIN_MUL: FLOAT_LOOP(u * v); break;
	case DTX_BIN_DIV: FLOAT_LOOP(u / v); break;
	case DTX_BIN_FLOORDIV: FLOAT_LOOP(dtx_num_floordiv(u, v)); break;
	case DTX_BIN_MOD: FLOAT_LOOP(dtx_num_mod(u, v)); break;
	default: FLOAT_LOOP(pow(u, v)); break;
	}
	return bad == 0 ? DTX_OK : float_slow(ev, b, p.b, vec);
}

/* --- decimal --- */

static dtx_i128 dec_floordiv(dtx_i128 x, dtx_i128 y)
{
	dtx_i128 q = x / y;

	return q - (x % y != 0 && (x < 0) != (y < 0));
}

/* False: the result does not fit.  y must not be zero for // and %. */
static bool dec_op(const struct dtx_bound *b, dtx_i128 x, dtx_i128 y, dtx_i128 *r)
{
	unsigned sx = b->arg[0]->type.scale, sy = b->arg[1]->type.scale, s = DTX_MAX(sx, sy);

	if (b->op == DTX_BIN_MUL)
		return !__builtin_mul_overflow(x, y, r) && dtx_dec_fits(*r, 38);
	if (!dtx_dec_rescale(x, sx, s, &x) || !dtx_dec_rescale(y, sy, s, &y))
		return false;
	switch (b->op) {
	case DTX_BIN_ADD: *r = x + y; break;
	case DTX_BIN_SUB: *r = x - y; break;
	case DTX_BIN_FLOORDIV: *r = dec_floordiv(x, y); break;
	default: *r = x - dec_floordiv(x, y) * y; break;
	}
	return dtx_dec_fits(*r, 38);
}

static enum dtx_code arith_decimal(struct dtx_ev *ev, const struct dtx_bound *b, struct pair p,
                                   struct dtx_vec *vec)
{
	enum dtx_code rc = DTX_OK;
	uint32_t ma = dtx_col_mask(p.a), mb = dtx_col_mask(p.b);
	struct dtx_dec128 *r = vec->v;
	bool divides = b->op == DTX_BIN_FLOORDIV || b->op == DTX_BIN_MOD;

	DTX_ROWS(ev, i, {
		dtx_i128 y = dtx_dec_get(p.b->v.dec[i & mb]);
		dtx_i128 got = 0;

		r[i] = dtx_dec_put(0);
		if (!dtx_bit(vec->valid, i))
			continue;
		if (divides && y == 0) {
			DTX_TRY(divided_by_zero(ev, b, vec, i));
			continue;
		}
		if (!dec_op(b, dtx_dec_get(p.a->v.dec[i & ma]), y, &got))
			DTX_TRY(overflowed(ev, b, vec, i, words[b->op]));
		r[i] = dtx_dec_put(got);
	});
out:
	return rc;
}

/* --- dates --- */

static enum dtx_code date_shift(struct dtx_ev *ev, const struct dtx_bound *b, struct pair p,
                                struct dtx_vec *vec)
{
	enum dtx_code rc = DTX_OK;
	bool swapped = p.b->type.type == DTX_T_DATE;
	const struct dtx_column *d = swapped ? p.b : p.a, *n = swapped ? p.a : p.b;
	int32_t *r = vec->v;

	DTX_ROWS(ev, i, {
		int64_t days = n->v.i64[i & dtx_col_mask(n)];
		int64_t got = 0;
		int32_t day = d->v.day[i & dtx_col_mask(d)];
		bool over = b->op == DTX_BIN_ADD ? __builtin_add_overflow(day, days, &got)
		                                 : __builtin_sub_overflow(day, days, &got);

		r[i] = (int32_t)got;
		if ((over || !dtx_day_ok(got)) && dtx_bit(vec->valid, i))
			DTX_TRY(overflowed(ev, b, vec, i, words[b->op]));
	});
out:
	return rc;
}

static enum dtx_code date_days(struct dtx_ev *ev, struct pair p, struct dtx_vec *vec)
{
	int64_t *r = vec->v;

	DTX_ROWS(ev, i, {
		r[i] = (int64_t)p.a->v.day[i & dtx_col_mask(p.a)] -
		       p.b->v.day[i & dtx_col_mask(p.b)];
	});
	return DTX_OK;
}

static enum dtx_code arith_kind(struct dtx_ev *ev, const struct dtx_bound *b, struct pair p,
                                struct dtx_vec *vec)
{
	if (b->type.type == DTX_T_DATE)
		return date_shift(ev, b, p, vec);
	if (p.a->type.type == DTX_T_DATE)
		return date_days(ev, p, vec);
	if (b->type.type == DTX_T_INT64)
		return arith_int(ev, b, p, vec);
	if (b->type.type == DTX_T_DECIMAL)
		return arith_decimal(ev, b, p, vec);
	return arith_float(ev, b, p, vec);
}

enum dtx_code dtx_ev_arith(struct dtx_ev *ev, const struct dtx_bound *b, struct dtx_column **out)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_column *x = NULL, *y = NULL;
	struct dtx_vec vec = { NULL, NULL, NULL };

	DTX_TRY(dtx_ev_node(ev, b->arg[0], &x));
	DTX_TRY(dtx_ev_node(ev, b->arg[1], &y));
	/* A column that has nothing but nulls has no values to compute with. */
	if ((x->form == DTX_F_CONST && x->nulls) || (y->form == DTX_F_CONST && y->nulls)) {
		DTX_TRY(dtx_column_nulls(b->type, ev->nrows, out, ev->err));
		goto out;
	}
	DTX_TRY(dtx_vec_new(ev, b->type, &vec));
	dtx_vec_and(&vec, x);
	dtx_vec_and(&vec, y);
	DTX_TRY(arith_kind(ev, b, (struct pair){ x, y }, &vec));
	*out = dtx_vec_done(&vec);
out:
	dtx_vec_drop(&vec);
	dtx_column_unref(x);
	dtx_column_unref(y);
	return rc;
}

enum dtx_code dtx_ev_neg(struct dtx_ev *ev, const struct dtx_bound *b, struct dtx_column **out)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_column *a = NULL;
	struct dtx_vec vec = { NULL, NULL, NULL };
	uint32_t m;

	DTX_TRY(dtx_ev_node(ev, b->arg[0], &a));
	if (a->form == DTX_F_CONST && a->nulls) {
		*out = dtx_column_ref(a);
		goto out;
	}
	DTX_TRY(dtx_vec_new(ev, b->type, &vec));
	dtx_vec_and(&vec, a);
	m = dtx_col_mask(a);
	DTX_ROWS(ev, i, {
		if (b->type.type == DTX_T_FLOAT64) {
			((double *)vec.v)[i] = 0.0 - a->v.f64[i & m];
		} else if (b->type.type == DTX_T_DECIMAL) {
			((struct dtx_dec128 *)vec.v)[i] =
				dtx_dec_put(-dtx_dec_get(a->v.dec[i & m]));
		} else {
			int64_t v = a->v.i64[i & m];

			((int64_t *)vec.v)[i] = (int64_t)(0 - (uint64_t)v);
			if (v == INT64_MIN && dtx_bit(vec.valid, i))
				DTX_TRY(overflowed(ev, b, &vec, i, "-"));
		}
	});
	*out = dtx_vec_done(&vec);
out:
	dtx_vec_drop(&vec);
	dtx_column_unref(a);
	return rc;
}

/* --- widening --- */

static enum dtx_code widen_decimal(struct dtx_ev *ev, const struct dtx_bound *b,
                                   const struct dtx_column *a, struct dtx_vec *vec)
{
	enum dtx_code rc = DTX_OK;
	uint32_t m = dtx_col_mask(a);
	bool from_int = a->type.type == DTX_T_INT64;
	struct dtx_dec128 *r = vec->v;

	DTX_ROWS(ev, i, {
		dtx_i128 v = from_int ? a->v.i64[i & m] : dtx_dec_get(a->v.dec[i & m]);
		dtx_i128 got = 0;

		if (!dtx_dec_rescale(v, from_int ? 0 : a->type.scale, b->type.scale, &got) &&
		    dtx_bit(vec->valid, i))
			DTX_TRY(overflowed(ev, b, vec, i, "widening"));
		r[i] = dtx_dec_put(got);
	});
out:
	return rc;
}

static enum dtx_code widen_flat(struct dtx_ev *ev, const struct dtx_bound *b,
                                const struct dtx_column *a, struct dtx_vec *vec)
{
	uint32_t m = dtx_col_mask(a);
	bool from_int = a->type.type == DTX_T_INT64;

	if (b->type.type == DTX_T_DECIMAL)
		return widen_decimal(ev, b, a, vec);
	if (a->type.type == DTX_T_DATETIME)
		DTX_ROWS(ev, i, { ((int64_t *)vec->v)[i] = a->v.i64[i & m]; });
	else if (b->type.type == DTX_T_DATETIME)
		DTX_ROWS(ev, i, {
			int64_t day = a->v.day[i & m];

			((int64_t *)vec->v)[i] = (int64_t)((uint64_t)day * DTX_DAY_US);
		});
	else if (from_int)
		DTX_ROWS(ev, i, { ((double *)vec->v)[i] = (double)a->v.i64[i & m]; });
	else
		DTX_ROWS(ev, i, {
			((double *)vec->v)[i] = dtx_dec_to_f64(a->v.dec[i & m], a->type.scale);
		});
	return DTX_OK;
}

enum dtx_code dtx_ev_widen(struct dtx_ev *ev, const struct dtx_bound *b, struct dtx_column **out)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_column *a = NULL;
	struct dtx_vec vec = { NULL, NULL, NULL };

	DTX_TRY(dtx_ev_node(ev, b->arg[0], &a));
	if (a->type.type == DTX_T_NULL || (a->form == DTX_F_CONST && a->nulls)) {
		DTX_TRY(dtx_column_nulls(b->type, ev->nrows, out, ev->err));
		goto out;
	}
	if (b->type.type == DTX_T_TEXT) {
		DTX_TRY(dtx_cast_to_text(a, out, ev->err));
		goto out;
	}
	DTX_TRY(dtx_vec_new(ev, b->type, &vec));
	dtx_vec_and(&vec, a);
	DTX_TRY(widen_flat(ev, b, a, &vec));
	*out = dtx_vec_done(&vec);
out:
	dtx_vec_drop(&vec);
	dtx_column_unref(a);
	return rc;
}
