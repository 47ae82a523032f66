/* Aggregates that need every number: quantiles, products, moments. */
#include "core/expr/aggcall.h"

#include <stdlib.h>

#include "core/base/mem.h"
#include "core/expr/fsum.h"

#define STATE(type, k) ((type *)(void *)(states + (size_t)r->group[k] * stride))
#define AHEAD          16u
#define ROW(k)         (r->row ? r->row[k] : (k))

struct numbers {
	double *v;
	size_t n, cap;
};

/* Groups come in any order: a state, then the end of its list, is on the way while others are added
 * to. */
static inline void numbers_near(char *states, size_t stride, const struct dtx_aggrows *r,
                                uint32_t k)
{
	const struct numbers *soon;

	if (k + 2 * AHEAD >= r->n)
		return;
	__builtin_prefetch(STATE(struct numbers, k + 2 * AHEAD), 1);
	soon = STATE(struct numbers, k + AHEAD);
	if (soon->v)
		__builtin_prefetch(soon->v + soon->n, 1);
}

static enum dtx_code numbers_rows(const struct dtx_aggcall *c, char *states, size_t stride,
                                  const struct dtx_aggrows *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t k, i;

	(void)c;
	for (k = 0; k < r->n; k++) {
		struct numbers *s = STATE(struct numbers, k);

		numbers_near(states, stride, r, k);
		i = ROW(k);
		if (s->n == s->cap && !dtx_mem_reserve(&s->v, &s->cap, s->n + 1, sizeof(*s->v)))
			DTX_FAIL_MEM(err);
		s->v[s->n++] = dtx_agg_number(r->col, i);
	}
out:
	return rc;
}

static void numbers_free(void *state)
{
	struct numbers *s = state;

	dtx_mem_free(s->v);
	memset(s, 0, sizeof(*s));
}

static enum dtx_code numbers_merge(const struct dtx_aggcall *c, void *to, void *from,
                                   struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct numbers *a = to, *b = from;

	(void)c;
	if (!b->n)
		return DTX_OK;
	if (!dtx_mem_reserve(&a->v, &a->cap, a->n + b->n, sizeof(*a->v)))
		DTX_FAIL_MEM(err);
	memcpy(a->v + a->n, b->v, b->n * sizeof(*a->v));
	a->n += b->n;
	numbers_free(b);
out:
	return rc;
}

static void swap(double *a, double *b)
{
	double t = *a;

	*a = *b;
	*b = t;
}

/* Puts the k-th smallest at v[k], smaller ones before it (Hoare). */
static void nth_element(double *v, size_t n, size_t k)
{
	size_t low = 0, high = n - 1;

	while (low < high) {
		double pivot = v[low + (high - low) / 2];
		size_t i = low, j = high;

		while (i <= j) {
			while (v[i] < pivot)
				i++;
			while (v[j] > pivot)
				j--;
			if (i <= j) {
				swap(&v[i++], &v[j]);
				if (j-- == 0)
					break;
			}
		}
		if (j != SIZE_MAX && k <= j)
			high = j;
		else if (k >= i)
			low = i;
		else
			return;
	}
}

/* --- results: of n values, n above 0, whose order may be changed --- */

/* Type 7: linear between the two nearest. */
static double quantile(struct numbers *s, double p)
{
	double at = p * (double)(s->n - 1), part = at - floor(at), value, next;
	size_t k = (size_t)floor(at), i;

	nth_element(s->v, s->n, k);
	value = s->v[k];
	if (part == 0)
		return value;
	next = s->v[k + 1];
	for (i = k + 2; i < s->n; i++)
		next = fmin(next, s->v[i]);
	return dtx_agg_between(value, next, part);
}

/* Median distance from the median. */
static double distance(struct numbers *s)
{
	double middle = quantile(s, 0.5);

	for (size_t i = 0; i < s->n; i++)
		s->v[i] = fabs(s->v[i] - middle);
	return quantile(s, 0.5);
}

static int cmp_numbers(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* In order of size, so that the rounding is the same whoever ate which rows; no part of it is too
 * large or too small for a float. */
static double product(struct numbers *s)
{
	double part = 1;
	int64_t exp = 0;
	int e, shift;

	qsort(s->v, s->n, sizeof(*s->v), cmp_numbers);
	for (size_t i = 0; i < s->n; i++) {
		part = frexp(part * frexp(s->v[i], &e), &shift);
		exp += e + shift;
	}
	return ldexp(part, (int)DTX_MAX(DTX_MIN(exp, 9999), -9999));
}

/* The exact sum of what `term` makes of each value; a NaN where one of them is beyond the floats,
 * since two of those may cancel out. */
static bool sum_of(const struct numbers *s, double (*term)(double v, double middle), double middle,
                   double *out)
{
	struct dtx_fsum sum = { 0, 0, NULL };
	bool ok = true, finite = true;

	for (size_t i = 0; i < s->n && ok; i++) {
		double v = term(s->v[i], middle);

		finite = finite && isfinite(v);
		ok = !finite || dtx_fsum_add(&sum, v);
	}
	*out = finite ? dtx_fsum_round(&sum) : NAN;
	dtx_fsum_free(&sum);
	return ok;
}

static double term_log(double v, double middle)
{
	(void)middle;
	return v > 0 ? log(v) : 0;
}

static double term_inverse(double v, double middle)
{
	(void)middle;
	return v > 0 ? 1 / v : 0;
}

static double term_value(double v, double middle)
{
	(void)middle;
	return v;
}

static double term_square(double v, double middle)
{
	return (v - middle) * (v - middle);
}

static double term_cube(double v, double middle)
{
	return (v - middle) * (v - middle) * (v - middle);
}

static double term_fourth(double v, double middle)
{
	double square = (v - middle) * (v - middle);

	return square * square;
}

/* Geometric and harmonic means are of numbers above zero. */
static bool positive_mean(const struct dtx_aggcall *c, const struct numbers *s, struct dtx_val *out)
{
	bool geo = c->kind == DTX_AGG_GMEAN;
	double sum;

	for (size_t i = 0; i < s->n && !out->null; i++)
		out->null = !(s->v[i] > 0);
	if (!sum_of(s, geo ? term_log : term_inverse, 0, &sum))
		return false;
	out->u.f = geo ? exp(sum / (double)s->n) : (double)s->n / sum;
	return true;
}

/* The sample forms that pandas has: skew from three values on, kurtosis (of a normal one 0) from
 * four. */
static bool moment(const struct dtx_aggcall *c, const struct numbers *s, struct dtx_val *out)
{
	bool skew = c->kind == DTX_AGG_SKEW;
	double n = (double)s->n, sum, m2, mk;

	if (!sum_of(s, term_value, 0, &sum) || !sum_of(s, term_square, sum / n, &m2) ||
	    !sum_of(s, skew ? term_cube : term_fourth, sum / n, &mk))
		return false;
	out->null = n < (skew ? 3 : 4);
	if (out->null)
		return true;
	if (m2 == 0)
		out->u.f = 0;
	else if (skew)
		out->u.f = n * sqrt(n - 1) / (n - 2) * mk / pow(m2, 1.5);
	else
		out->u.f = n * (n + 1) * (n - 1) * mk / ((n - 2) * (n - 3) * m2 * m2) -
		           3 * (n - 1) * (n - 1) / ((n - 2) * (n - 3));
	return true;
}

static enum dtx_code numbers_final(const struct dtx_aggcall *c, void *state, struct dtx_fnrun *run,
                                   struct dtx_val *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct numbers *s = state;
	bool ok = true;

	(void)run;
	out->null = s->n == 0;
	if (!s->n)
		return DTX_OK;
	switch (c->kind) {
	case DTX_AGG_IQR: out->u.f = quantile(s, 0.75) - quantile(s, 0.25); break;
	case DTX_AGG_MAD: out->u.f = distance(s); break;
	case DTX_AGG_PRODUCT: out->u.f = product(s); break;
	case DTX_AGG_GMEAN:
	case DTX_AGG_HMEAN: ok = positive_mean(c, s, out); break;
	case DTX_AGG_SKEW:
	case DTX_AGG_KURT: ok = moment(c, s, out); break;
	default: out->u.f = quantile(s, c->p); break;
	}
	if (!ok)
		DTX_FAIL_MEM(err);
out:
	return rc;
}

static const struct dtx_aggkernel numbers = { .size = sizeof(struct numbers),
	                                      .frees = true,
	                                      .grows = true,
	                                      .add = numbers_rows,
	                                      .merge = numbers_merge,
	                                      .final = numbers_final,
	                                      .free = numbers_free };

const struct dtx_aggkernel *dtx_aggkernel_numbers(const struct dtx_aggcall *c)
{
	(void)c;
	return &numbers;
}
