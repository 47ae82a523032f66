/* Exact sums of floats: rounded once, at the end, so the order of adding never shows.
 *
 * A sum is hi + lo + more.  Adding is error-free (TwoSum): what does not fit hi and lo goes to a
 * wide fixed-point accumulator on the heap, which ordinary data never needs.
 * Sources: Shewchuk (1997), Neal (2015). */
#ifndef DTX_EXPR_AGG_FSUM_H
#define DTX_EXPR_AGG_FSUM_H

#include <math.h>

#include "core/base/base.h"

struct dtx_fwide;
struct dtx_fsum { /* all zero: empty */
	double hi, lo;
	struct dtx_fwide *more;
};

/* The parts of x + y: their rounded sum, and exactly what that lost. */
static inline double dtx_two_sum(double x, double y, double *lost)
{
	double s = x + y, part = s - x;

	*lost = (x - (s - part)) + (y - part);
	return s;
}
/* Slow end of dtx_fsum_add: hi and lo as before x. False: out of memory. */
DTX_MUSTUSE bool dtx_fsum_spill(struct dtx_fsum *s, double hi, double lo, double x);
static inline bool dtx_fsum_add(struct dtx_fsum *s, double x)
{
	double lost, rest, hi = s->hi, lo = s->lo;

	s->hi = dtx_two_sum(hi, x, &lost);
	s->lo = dtx_two_sum(lo, lost, &rest);
	/* an overflow to infinity makes rest a NaN, which is not 0 either */
	return DTX_LIKELY(rest == 0) || dtx_fsum_spill(s, hi, lo, x);
}
/* from is left empty. */
DTX_MUSTUSE bool dtx_fsum_merge(struct dtx_fsum *to, struct dtx_fsum *from);
/* The sum, rounded once; infinite when it is too large. The state may be used on. */
double dtx_fsum_round(struct dtx_fsum *s);
/* The sum as two doubles, 106 bits of it. */
double dtx_fsum_round2(struct dtx_fsum *s, double *low);
void dtx_fsum_free(struct dtx_fsum *s);

/* Exact sums of x, of y and of their products, whose lower halves may be apart. */
struct dtx_fcross {
	struct dtx_fsum *x, *y, *xy;
	const struct dtx_fsum *low; /* or NULL */
};
/* Sum of (x - mean of x) * (y - mean of y) over n rows: 0 where it is 0. */
double dtx_fsum_cross(const struct dtx_fcross *c, double n);

/* The exact sums of x and of x * x that a variance is made of.  A square has twice the digits of a
 * float: its upper and its lower half are summed apart, where each sum fits its two words. */
struct dtx_fspread { /* all zero: empty */
	struct dtx_fsum x, xx, low;
	uint64_t n;
	uint64_t huge; /* squares beyond the largest float: no variance while one is in */
};

/* sign 1: x comes, -1: it goes again. */
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
/* from is left empty. */
DTX_MUSTUSE bool dtx_fspread_merge(struct dtx_fspread *to, struct dtx_fspread *from);
/* Sum of the squared deviations of n > 0 values from their mean, infinite beyond the floats. */
double dtx_fspread_squares(struct dtx_fspread *s);
/* Variance of the sample, infinite beyond the floats; false: none, of fewer than two values. */
bool dtx_fspread_var(struct dtx_fspread *s, double *var);
void dtx_fspread_free(struct dtx_fspread *s);

#endif
