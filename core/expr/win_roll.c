/* The last n rows: sums as differences of running sums, kept so wide that nothing shows. */
#include <math.h>

#include "core/base/mem.h"
#include "core/expr/fsum.h"
#include "core/expr/win.h"

/* Two doubles; adding a double loses nothing that 106 bits can hold. Source: Dekker (1971). */
struct wide {
	double hi, lo;
};

static struct wide wide_add(struct wide a, struct wide b)
{
	double lost, s = dtx_two_sum(a.hi, b.hi, &lost);
	struct wide r;

	lost += a.lo + b.lo;
	r.hi = dtx_two_sum(s, lost, &r.lo);
	return r;
}

static struct wide wide_less(struct wide a, struct wide b)
{
	return wide_add(a, (struct wide){ -b.hi, -b.lo });
}

static struct wide wide_square(double x)
{
	double p = x * x;

	return (struct wide){ p, fma(x, x, -p) };
}

/* What a window of rows holds. */
struct sums {
	uint32_t n; /* values that are not null */
	dtx_i128 exact;
	struct wide sum, squares; /* of x - base */
};
struct roll {
	struct dtx_win *w;
	double base; /* keeps squares small */
};

static void roll_step(const struct roll *r, struct sums *s, uint32_t row, bool in)
{
	const struct dtx_column *x = r->w->arg[0];
	double v;
	struct wide sq;

	if (dtx_win_null(x, row))
		return;
	s->n += in ? 1u : UINT32_MAX;
	if (r->w->c->kind == (int)DTX_WIN_ROLL_SUM && !dtx_win_floats(r->w)) {
		s->exact += in ? dtx_win_exact(x, row) : -dtx_win_exact(x, row);
		return;
	}
	v = dtx_win_float(x, row) - r->base;
	sq = wide_square(v);
	s->sum = in ? wide_add(s->sum, (struct wide){ v, 0 })
	            : wide_less(s->sum, (struct wide){ v, 0 });
	s->squares = in ? wide_add(s->squares, sq) : wide_less(s->squares, sq);
	if (s->n == 0)
		s->sum = s->squares = (struct wide){ 0, 0 };
}

/* Sample standard deviation; null below two values. */
static void give_std(struct dtx_win *w, uint32_t row, const struct sums *s)
{
	double mean = s->sum.hi / s->n;
	struct wide spread =
		wide_less(s->squares, (struct wide){ s->sum.hi * mean,
	                                             fma(s->sum.hi, mean, -s->sum.hi * mean) });

	if (s->n > 1)
		dtx_win_put(w, row, sqrt(fmax(spread.hi, 0) / (s->n - 1)));
}

static enum dtx_code give(const struct roll *r, uint32_t row, const struct sums *s)
{
	struct dtx_win *w = r->w;

	if (s->n < w->min || s->n == 0)
		return DTX_OK;
	switch ((enum dtx_winkind)w->c->kind) {
	case DTX_WIN_ROLL_MEAN: dtx_win_put(w, row, r->base + s->sum.hi / s->n); break;
	case DTX_WIN_ROLL_STD: give_std(w, row, s); break;
	default:
		if (!dtx_win_floats(w))
			return dtx_win_put_exact(w, row, s->exact);
		dtx_win_put(w, row, s->sum.hi);
	}
	return DTX_OK;
}

static double first_value(const struct dtx_win *w, uint32_t from, uint32_t to)
{
	for (uint32_t k = from; k < to; k++)
		if (!dtx_win_null(w->arg[0], w->rows->order[k]))
			return dtx_win_float(w->arg[0], w->rows->order[k]);
	return 0;
}

static enum dtx_code roll(struct dtx_win *w, uint32_t from, uint32_t to)
{
	enum dtx_code rc = DTX_OK;
	struct roll r = { w, 0 };
	struct sums s = { 0 };
	uint32_t size = (uint32_t)w->n;

	if (w->c->kind != (int)DTX_WIN_ROLL_SUM)
		r.base = first_value(w, from, to);
	for (uint32_t k = from; k < to; k++) {
		if (k - from >= size)
			roll_step(&r, &s, w->rows->order[k - size], false);
		roll_step(&r, &s, w->rows->order[k], true);
		DTX_TRY(give(&r, w->rows->order[k], &s));
	}
out:
	return rc;
}

/* --- median: the window's values in order --- */

static uint32_t place_of(const double *v, uint32_t n, double x)
{
	uint32_t lo = 0, hi = n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (v[mid] < x)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static void sorted_add(double *v, uint32_t *n, double x)
{
	uint32_t at = place_of(v, *n, x);

	memmove(v + at + 1, v + at, (*n - at) * sizeof(*v));
	v[at] = x;
	(*n)++;
}

static void sorted_drop(double *v, uint32_t *n, double x)
{
	uint32_t at = place_of(v, *n, x);

	(*n)--;
	memmove(v + at, v + at + 1, (*n - at) * sizeof(*v));
}

static enum dtx_code roll_median(struct dtx_win *w, uint32_t from, uint32_t to)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_err *err = w->err;
	uint32_t size = (uint32_t)DTX_MIN((int64_t)(to - from), w->n), n = 0;
	double *v = dtx_mem_alloc((size_t)size + 1, sizeof(*v));

	if (!v)
		DTX_FAIL_MEM(err);
	for (uint32_t k = from; k < to; k++) {
		uint32_t row = w->rows->order[k];

		if (k - from >= size && !dtx_win_null(w->arg[0], w->rows->order[k - size]))
			sorted_drop(v, &n, dtx_win_float(w->arg[0], w->rows->order[k - size]));
		if (!dtx_win_null(w->arg[0], row))
			sorted_add(v, &n, dtx_win_float(w->arg[0], row));
		if (n && n >= w->min)
			dtx_win_put(w, row, v[(n - 1) / 2] + (v[n / 2] - v[(n - 1) / 2]) / 2);
	}
out:
	dtx_mem_free(v);
	return rc;
}

const struct dtx_winkernel dtx_win_roll[] = {
	[DTX_WIN_ROLL_SUM] = { .gives = DTX_WIN_EXACT, .part = roll },
	[DTX_WIN_ROLL_MEAN] = { .gives = DTX_WIN_FLOAT, .part = roll },
	[DTX_WIN_ROLL_STD] = { .gives = DTX_WIN_FLOAT, .part = roll },
	[DTX_WIN_ROLL_MEDIAN] = { .gives = DTX_WIN_FLOAT, .part = roll_median },
};
