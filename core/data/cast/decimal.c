/* 128-bit fixed-point numbers. */
#include "core/data/cast/decimal.h"

#include "core/base/text/num.h"

#define DEC_DIGITS 38

dtx_i128 dtx_dec_pow10(unsigned n)
{
	dtx_i128 p = 1;

	while (n--)
		p *= 10;
	return p;
}

bool dtx_dec_fits(dtx_i128 v, unsigned precision)
{
	dtx_i128 limit = dtx_dec_pow10(precision);

	return v < limit && v > -limit;
}

bool dtx_dec_rescale(dtx_i128 v, unsigned from, unsigned to, dtx_i128 *out)
{
	dtx_i128 p;

	if (to >= from)
		return to - from <= DEC_DIGITS &&
		       !__builtin_mul_overflow(v, dtx_dec_pow10(to - from), out);
	p = dtx_dec_pow10(from - to);
	*out = v / p;
	v %= p;
	if (v >= p - v)
		++*out;
	else if (v < 0 && -v >= p + v)
		--*out;
	return true;
}

/* Writes the decimal digits of v and returns their number. */
static size_t dec_digits(dtx_u128 v, char out[40])
{
	char text[40];
	size_t at = sizeof(text), n;

	do {
		text[--at] = (char)('0' + (int)(v % 10));
		v /= 10;
	} while (v);
	n = sizeof(text) - at;
	memcpy(out, text + at, n);
	return n;
}

size_t dtx_dec_print(char out[48], struct dtx_dec128 d, unsigned scale)
{
	dtx_i128 v = dtx_dec_get(d);
	char digits[40], *p = out;
	size_t n = dec_digits(v < 0 ? 0 - (dtx_u128)v : (dtx_u128)v, digits), i;

	if (v < 0)
		*p++ = '-';
	for (i = n; i <= scale; i++) {
		*p++ = '0';
		if (i == n && scale)
			*p++ = '.';
	}
	if (n > scale) {
		memcpy(p, digits, n - scale);
		p += n - scale;
		if (scale)
			*p++ = '.';
		memcpy(p, digits + n - scale, scale);
		p += scale;
	} else {
		memcpy(p, digits, n);
		p += n;
	}
	*p = '\0';
	return (size_t)(p - out);
}

bool dtx_dec_parse(struct dtx_str s, struct dtx_typeref t, struct dtx_dec128 *out)
{
	bool neg = s.len && s.ptr[0] == '-', point = false, any = false;
	size_t i = neg || (s.len && s.ptr[0] == '+');
	unsigned scale = 0;
	dtx_i128 v = 0;

	for (; i < s.len; i++) {
		unsigned d = (unsigned char)s.ptr[i] - '0';

		if (s.ptr[i] == '.' && !point && any) {
			point = true;
			continue;
		}
		if (d > 9)
			return false;
		any = true;
		if (point && scale == t.scale) { /* more digits than the scale: they must be
			                          * zeros */
			if (d)
				return false;
			continue;
		}
		if (!dtx_dec_fits(v, DEC_DIGITS - 1))
			return false;
		v = v * 10 + (int)d;
		scale += point;
	}
	if (!any || (point && s.ptr[s.len - 1] == '.') || !dtx_dec_rescale(v, scale, t.scale, &v) ||
	    !dtx_dec_fits(v, t.precision))
		return false;
	*out = dtx_dec_put(neg ? -v : v);
	return true;
}

double dtx_dec_to_f64(struct dtx_dec128 d, unsigned scale)
{
	char text[48];
	double v = 0;
	dtx_i128 i = dtx_dec_get(d);

	if (!scale && i >= INT64_MIN && i <= INT64_MAX)
		return (double)(int64_t)i;
	/* By way of text, so that it is rounded only once.  Every 128-bit value fits a double. */
	if (!dtx_num_parse_f64(text, dtx_dec_print(text, d, scale), &v))
		return 0;
	return v + 0.0;
}
