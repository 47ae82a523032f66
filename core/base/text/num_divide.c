/* Floor division, remainder and steps of doubles on the decimal digits that they are written with:
 * 1.0 // 0.1 is 10 and 1.0 % 0.1 is 0, although the double 0.1 is slightly more than a tenth. */
#include "core/base/text/num.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

#define WHOLE_MAX 9007199254740992.0 /* 2^53: doubles hold every whole number up to it */

struct digits {
	int64_t m; /* below 10^17 */
	int exp10; /* the value is m * 10^exp10 */
};

static bool is_whole(double v)
{
	return fabs(v) <= WHOLE_MAX && v == trunc(v);
}

/* The shortest digits that read back as v.  If there are at most 15, they are the digits that the
 * user wrote, because no two numbers of 15 digits are the same double. */
static struct digits digits_of(double v)
{
	struct digits d = { 0, 0 };
	char text[20];
	size_t n;
	int k;

	for (k = 0; k <= 6; k++) {
		double scaled = rint(v * dtx_num_pow10[k]);

		if (fabs(scaled) < 1e15 && scaled / dtx_num_pow10[k] == v)
			return (struct digits){ (int64_t)scaled, -k };
	}
	n = dtx_num_digits(v, text, &d.exp10);
	for (size_t i = 0; i < n; i++)
		d.m = d.m * 10 + (text[i] - '0');
	d.exp10 -= (int)n;
	d.m = v < 0 ? -d.m : d.m;
	return d;
}

static bool scale_up(dtx_i128 *v, int n)
{
	for (; n > 0; n--)
		if (__builtin_mul_overflow(*v, 10, v))
			return false;
	return true;
}

/* Brings both to one exponent.  False: that would need more than 128 bits. */
static bool aligned(double x, double y, dtx_i128 *a, dtx_i128 *b, int *exp10)
{
	struct digits dx = digits_of(x), dy = digits_of(y);

	*a = dx.m;
	*b = dy.m;
	*exp10 = DTX_MIN(dx.exp10, dy.exp10);
	return scale_up(a, dx.exp10 - *exp10) && scale_up(b, dy.exp10 - *exp10);
}

/* The remainder has the sign of b, as in Python. */
static dtx_i128 floor_divided(dtx_i128 a, dtx_i128 b, dtx_i128 *rest)
{
	dtx_i128 q = a / b;

	*rest = a % b;
	if (*rest && (*rest < 0) != (b < 0)) {
		*rest += b;
		q--;
	}
	return q;
}

/* v * 10^exp10, rounded once. */
static double double_of(dtx_i128 v, int exp10)
{
	dtx_u128 rest = v < 0 ? -(dtx_u128)v : (dtx_u128)v;
	char text[64], *at = text + 48;
	double got = 0;
	int n;

	if (rest <= (dtx_u128)WHOLE_MAX && exp10 <= 0 && exp10 >= -22)
		return (double)v / dtx_num_pow10[-exp10];
	n = snprintf(at, sizeof(text) - 48, "e%d", exp10);
	do
		*--at = (char)('0' + (int)(rest % 10));
	while (rest /= 10);
	if (!dtx_num_parse_f64(at, (size_t)(text + 48 + n - at), &got))
		got = INFINITY;
	return v < 0 ? -got : got;
}

/* The remainder if 128 bits cannot hold both: |x| is far smaller or far larger than |y|. */
static double far_rest(double x, double y)
{
	struct digits dx = digits_of(x), dy = digits_of(y);
	dtx_i128 rest = dx.m;

	if (fabs(x) < fabs(y))
		return x != 0 && (x < 0) != (y < 0) ? x + y : x;
	for (int n = dx.exp10 - dy.exp10; n > 0; n--)
		rest = rest * 10 % dy.m;
	(void)floor_divided(rest, dy.m, &rest);
	return double_of(rest, dy.exp10);
}

double dtx_num_floordiv(double x, double y)
{
	double q = x / y, whole = rint(q);
	dtx_i128 a, b, rest;
	int exp10;

	/* The quotient of the decimal digits differs from that of the doubles by less than this, so
	 * the doubles decide. */
	if (fabs(q - whole) > fabs(q) * (8 * DBL_EPSILON) && fabs(x) > 1e-290 && fabs(y) > 1e-290)
		return floor(q);
	if (!(fabs(q) < WHOLE_MAX)) /* already whole, or not finite */
		return q;
	if (is_whole(x) && is_whole(y))
		return (double)floor_divided((dtx_i128)x, (dtx_i128)y, &rest);
	if (aligned(x, y, &a, &b, &exp10))
		return (double)floor_divided(a, b, &rest);
	return x != 0 && (x < 0) != (y < 0) ? -1 : 0; /* |x| is far smaller than |y| */
}

double dtx_num_mod(double x, double y)
{
	dtx_i128 a, b, rest;
	int exp10;

	if (y == 0 || !isfinite(x) || !isfinite(y))
		return NAN;
	if (is_whole(x) && is_whole(y)) {
		(void)floor_divided((dtx_i128)x, (dtx_i128)y, &rest);
		return (double)rest;
	}
	if (!aligned(x, y, &a, &b, &exp10))
		return far_rest(x, y);
	(void)floor_divided(a, b, &rest);
	return double_of(rest, exp10);
}

double dtx_num_floor_to(double x, double width)
{
	dtx_i128 a, b, rest;
	int exp10;

	if (!aligned(x, width, &a, &b, &exp10))
		return x - far_rest(x, width);
	(void)floor_divided(a, b, &rest);
	return double_of(a - rest, exp10);
}

double dtx_num_step(double from, int64_t k, double step)
{
	dtx_i128 a, b, way;
	int exp10;

	if (!aligned(from, step, &a, &b, &exp10) || __builtin_mul_overflow(b, k, &way) ||
	    __builtin_add_overflow(a, way, &a))
		return from + (double)k * step;
	return double_of(a, exp10);
}
