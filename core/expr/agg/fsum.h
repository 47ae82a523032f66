/* Exact sums of floats, which are rounded only once, at the end.  The result therefore does not
 * depend on the order of additions or on the number of threads.
 *
 * A sum is hi + lo + more.  Each addition is error-free (Knuth's TwoSum).  What does not fit hi and
 * lo goes to a wide fixed-point accumulator on the heap, which ordinary data never needs.  Sources:
 * J. R. Shewchuk, "Adaptive precision floating-point arithmetic" (1997); R. M. Neal, "Fast exact
 * summation using small and large superaccumulators" (2015). */
#ifndef DTX_EXPR_AGG_FSUM_H
#define DTX_EXPR_AGG_FSUM_H

#include <math.h>

#include "core/base/base.h"

struct dtx_buf;

struct dtx_fwide;
struct dtx_fsum { /* all zero: empty */
	double hi, lo;
	struct dtx_fwide *more;
};

/* x + y exactly: the result is the rounded sum, *lost is what rounding dropped. */
static inline double dtx_two_sum(double x, double y, double *lost)
{
	double s = x + y, part = s - x;

	*lost = (x - (s - part)) + (y - part);
	return s;
}
/* The slow path of dtx_fsum_add: hi and lo are the values before x was added.  False: out of
 * memory. */
DTX_MUSTUSE bool dtx_fsum_spill(struct dtx_fsum *s, double hi, double lo, double x);
static inline bool dtx_fsum_add(struct dtx_fsum *s, double x)
{
	double lost, rest, hi = s->hi, lo = s->lo;

	s->hi = dtx_two_sum(hi, x, &lost);
	s->lo = dtx_two_sum(lo, lost, &rest);
	/* An overflow to infinity makes `rest` NaN, which is not 0 either. */
	return DTX_LIKELY(rest == 0) || dtx_fsum_spill(s, hi, lo, x);
}
/* Adds `from` to `to`; `from` is left empty.  False: out of memory. */
DTX_MUSTUSE bool dtx_fsum_merge(struct dtx_fsum *to, struct dtx_fsum *from);
/* The sum, rounded once; infinite if it is too large.  More values may be added afterwards. */
double dtx_fsum_round(struct dtx_fsum *s);
/* The sum as two doubles, which have 106 bits of it. */
double dtx_fsum_round2(struct dtx_fsum *s, double *low);
void dtx_fsum_free(struct dtx_fsum *s);
/* As bytes (aggsave.h), and back into an empty sum; false: out of memory. */
void dtx_fsum_save(const struct dtx_fsum *s, struct dtx_buf *out);
DTX_MUSTUSE bool dtx_fsum_load(struct dtx_fsum *s, const char **at);

/* Exact sums of x, of y and of their products.  The lower halves of the products may be a sum of
 * their own. */
struct dtx_fcross {
	struct dtx_fsum *x, *y, *xy;
	const struct dtx_fsum *low; /* NULL if none */
};
/* The sum of (x - mean of x) * (y - mean of y) over n rows; exactly 0 if the true value is 0. */
double dtx_fsum_cross(const struct dtx_fcross *c, double n);

/* Exact sums of x and of x * x, from which a variance is computed.  A square has twice as many
 * digits as a float, so its upper and lower halves are summed separately; each of these sums
 * usually fits into two doubles. */
struct dtx_fspread { /* all zero: empty */
	struct dtx_fsum x, xx, low;
	uint64_t n;
	uint64_t huge; /* number of squares beyond the largest float: while there is one, the
	                * variance is infinite */
};

/* Adds x (sign 1) or removes it again (sign -1). */
static inline bool dtx_fspread_step(struct dtx_fspread *s, double x, int sign)
{
	double square = x * x, lost = fma(x, x, -square);

	s->n += (uint64_t)(int64_t)sign;
	if (!dtx_fsum_add(&s->x, sign * x))
		return false;
	if (!isfinite(square)) {
		s->huge += (uint64_t)(int64_t)sign;
		return true;
	}
	return dtx_fsum_add(&s->xx, sign * square) && dtx_fsum_add(&s->low, sign * lost);
}
DTX_MUSTUSE static inline bool dtx_fspread_add(struct dtx_fspread *s, double x)
{
	return dtx_fspread_step(s, x, 1);
}
DTX_MUSTUSE static inline bool dtx_fspread_drop(struct dtx_fspread *s, double x)
{
	return dtx_fspread_step(s, x, -1);
}
/* Adds `from` to `to`; `from` is left empty.  False: out of memory. */
DTX_MUSTUSE bool dtx_fspread_merge(struct dtx_fspread *to, struct dtx_fspread *from);
/* The sum of the squared deviations of n > 0 values from their mean; infinite if it is beyond the
 * floats. */
double dtx_fspread_squares(struct dtx_fspread *s);
/* The variance of a sample; infinite if it is beyond the floats.  False: fewer than two values have
 * none. */
bool dtx_fspread_var(struct dtx_fspread *s, double *var);
void dtx_fspread_free(struct dtx_fspread *s);
void dtx_fspread_save(const struct dtx_fspread *s, struct dtx_buf *out);
DTX_MUSTUSE bool dtx_fspread_load(struct dtx_fspread *s, const char **at);

#endif
