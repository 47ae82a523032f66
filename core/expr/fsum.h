/* Exact sums of floats: rounded once, at the end, so the order of adding never shows.
 *
 * A sum is hi + lo + more.  Adding is error-free (TwoSum): what does not fit hi and lo goes to a
 * wide fixed-point accumulator on the heap, which ordinary data never needs.
 * Sources: Shewchuk (1997), Neal (2015). */
#ifndef DTX_EXPR_FSUM_H
#define DTX_EXPR_FSUM_H

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

#endif
