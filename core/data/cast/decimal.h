/* 128-bit fixed-point numbers: a value is an integer that is scaled by 10^scale.  The scale is part
 * of the column's type, not of the value. */
#ifndef DTX_DATA_CAST_DECIMAL_H
#define DTX_DATA_CAST_DECIMAL_H

#include "core/data/column.h"

static inline dtx_i128 dtx_dec_get(struct dtx_dec128 d)
{
	return (dtx_i128)((dtx_u128)(uint64_t)d.hi << 64 | d.lo);
}
static inline struct dtx_dec128 dtx_dec_put(dtx_i128 v)
{
	return (struct dtx_dec128){ (uint64_t)v, (int64_t)(v >> 64) };
}
/* 10^n for n from 0 to 38. */
dtx_i128 dtx_dec_pow10(unsigned n);
/* Whether v has at most `precision` digits. */
bool dtx_dec_fits(dtx_i128 v, unsigned precision);
/* Changes the scale; digits that are dropped are rounded half away from zero.  False on
 * overflow. */
DTX_MUSTUSE bool dtx_dec_rescale(dtx_i128 v, unsigned from, unsigned to, dtx_i128 *out);
size_t dtx_dec_print(char out[48], struct dtx_dec128 d, unsigned scale);
/* Exact: a text with more digits than the type has is refused. */
DTX_MUSTUSE bool dtx_dec_parse(struct dtx_str s, struct dtx_typeref t, struct dtx_dec128 *out);
double dtx_dec_to_f64(struct dtx_dec128 d, unsigned scale);

#endif
