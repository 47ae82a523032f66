/* Exact sums of ints and decimals in three words (192 bits), which no number or order of additions
 * can overflow. */
#ifndef DTX_EXPR_AGG_WSUM_H
#define DTX_EXPR_AGG_WSUM_H

#include <math.h>

#include "core/data/cast/decimal.h"

struct dtx_wsum { /* all zero: 0 */
	uint64_t lo, mid;
	int64_t hi;
};

static inline void dtx_wsum_words(struct dtx_wsum *s, uint64_t lo, uint64_t mid, int64_t hi)
{
	uint64_t c0 = __builtin_add_overflow(s->lo, lo, &s->lo);
	uint64_t c1 = __builtin_add_overflow(s->mid, mid, &s->mid);

	c1 += __builtin_add_overflow(s->mid, c0, &s->mid);
	s->hi = (int64_t)((uint64_t)s->hi + (uint64_t)hi + c1);
}
static inline void dtx_wsum_add(struct dtx_wsum *s, dtx_i128 v)
{
	dtx_wsum_words(s, (uint64_t)v, (uint64_t)(v >> 64), v < 0 ? -1 : 0);
}
static inline void dtx_wsum_merge(struct dtx_wsum *to, const struct dtx_wsum *from)
{
	dtx_wsum_words(to, from->lo, from->mid, from->hi);
}
/* False: the sum has more than 128 bits. */
static inline bool dtx_wsum_get(const struct dtx_wsum *s, dtx_i128 *out)
{
	*out = (dtx_i128)((dtx_u128)s->mid << 64 | s->lo);
	return s->hi == (int64_t)s->mid >> 63;
}
/* sum / n.  If a double holds the sum exactly there is only one rounding. */
static inline double dtx_wsum_ratio(dtx_i128 sum, uint64_t n)
{
	dtx_i128 q = sum / (dtx_i128)n;

	if (sum <= ((dtx_i128)1 << 53) && sum >= -((dtx_i128)1 << 53))
		return (double)sum / (double)n;
	return (double)q + (double)(sum - q * (dtx_i128)n) / (double)n;
}
static inline double dtx_wsum_mean(const struct dtx_wsum *s, uint64_t n, unsigned scale)
{
	dtx_i128 v;
	bool fits = dtx_wsum_get(s, &v);
	dtx_i128 unit = dtx_dec_pow10(scale);
	double wide = ldexp((double)s->hi, 128) + (double)(dtx_u128)v;

	if (fits && unit < ((dtx_i128)1 << 53) / (dtx_i128)n) /* divide only once, so that 70.00 / 3
	                                                       * is rounded once */
		return dtx_wsum_ratio(v, n * (uint64_t)unit);
	return (fits ? dtx_wsum_ratio(v, n) : wide / (double)n) / (double)unit;
}

#endif
