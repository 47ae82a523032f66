/* Numbers to and from text.  strtod and snprintf are used for rare cases only; both run in the C
 * locale, because nothing in dtx calls setlocale. */
#include "core/base/text/num.h"

#include <endian.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/text/num_pow10.h"

const double dtx_num_pow10[23] = { 1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
	                           1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
	                           1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };
#define NUM_POW10_MAX 22
#define NUM_EXACT     ((uint64_t)1 << 53)
/* The first 768 significant digits, and whether any digit after them is not zero, determine the
 * nearest double. */
#define NUM_SIG_MAX 770
#define NUM_EXP_MAX 100000

bool dtx_num_parse_i64(const char *text, size_t len, int64_t *out)
{
	bool neg = len && text[0] == '-';
	size_t i = neg || (len && text[0] == '+');
	uint64_t v = 0, limit = (uint64_t)INT64_MAX + neg;

	if (i == len)
		return false;
	for (; i < len; i++) {
		unsigned d = (unsigned char)text[i] - '0';

		if (d > 9 || v > (limit - d) / 10)
			return false;
		v = v * 10 + d;
	}
	*out = neg ? (int64_t)(0 - v) : (int64_t)v;
	return true;
}

struct num_scan {
	uint64_t mant; /* the first 19 significant digits */
	int digits;    /* number of significant digits, at most 20 */
	long exp10;    /* exponent of mant, valid if digits <= 19 */
	bool neg;
};

/* Checks the grammar and collects the first 19 digits in one pass. */
static bool num_scan(const char *p, const char *end, struct num_scan *s)
{
	bool any = false, point = false, eneg;
	long e = 0;

	*s = (struct num_scan){ 0, 0, 0, false };
	if (p < end && (*p == '-' || *p == '+'))
		s->neg = *p++ == '-';
	for (; p < end; p++) {
		unsigned d = (unsigned char)*p - '0';

		if (d > 9) {
			if (*p != '.' || point)
				break;
			point = true;
			continue;
		}
		any = true;
		if (s->digits < 19) {
			s->mant = s->mant * 10 + d;
			s->digits += s->mant != 0;
			s->exp10 -= point;
		} else {
			s->digits = 20;
		}
	}
	if (!any || (point && p[-1] == '.'))
		return false;
	if (p == end)
		return true;
	if ((*p | 32) != 'e' || ++p == end)
		return false;
	eneg = *p == '-';
	if (*p == '-' || *p == '+')
		p++;
	if (p == end)
		return false;
	for (; p < end; p++) {
		unsigned d = (unsigned char)*p - '0';

		if (d > 9)
			return false;
		e = DTX_MIN(e * 10 + (long)d, NUM_EXP_MAX);
	}
	s->exp10 += eneg ? -e : e;
	return true;
}

/* Clinger's fast path: if the mantissa and the power of ten are both exact doubles, one operation
 * gives the correctly rounded result. */
static bool num_clinger(const struct num_scan *s, double *out)
{
	double v;

	if (s->digits > 19 || s->mant > NUM_EXACT || s->exp10 < -NUM_POW10_MAX ||
	    s->exp10 > NUM_POW10_MAX)
		return false;
	v = (double)s->mant;
	v = s->exp10 < 0 ? v / dtx_num_pow10[-s->exp10] : v * dtx_num_pow10[s->exp10];
	*out = s->neg ? -v : v;
	return true;
}

#if LDBL_MANT_DIG == 64 && defined(__x86_64__)
/* The same with 64-bit precision (long double) for up to 19 digits.  Its result is rounded a second
 * time, to 53 bits.  That is safe unless the 11 bits that are dropped are next to a tie. */
static bool num_extended(const struct num_scan *s, double *out)
{
	static const long double pow10l[] = {
		1e0L,  1e1L,  1e2L,  1e3L,  1e4L,  1e5L,  1e6L,  1e7L,  1e8L,  1e9L,
		1e10L, 1e11L, 1e12L, 1e13L, 1e14L, 1e15L, 1e16L, 1e17L, 1e18L, 1e19L,
		1e20L, 1e21L, 1e22L, 1e23L, 1e24L, 1e25L, 1e26L, 1e27L,
	};
	long double v = (long double)s->mant;
	uint64_t bits;

	if (s->digits > 19 || s->exp10 < -27 || s->exp10 > 27)
		return false;
	v = s->exp10 < 0 ? v / pow10l[-s->exp10] : v * pow10l[s->exp10];
	memcpy(&bits, &v, sizeof(bits));
	bits &= 0x7ff;
	if (bits >= 0x3ff && bits <= 0x401)
		return false;
	*out = s->neg ? -(double)v : (double)v;
	return true;
}
#else
static bool num_extended(const struct num_scan *s, double *out)
{
	(void)s, (void)out;
	return false;
}
#endif

/* A text of any length: it drops leading zeros, keeps at most NUM_SIG_MAX digits and replaces a
 * rest that is not zero by a single 1.  Then strtod reads it. */
static double num_strtod(const char *text, size_t len)
{
	char copy[NUM_SIG_MAX + 40];
	size_t n = 0, sig = 0, i;
	long exp10 = 0, e = 0;
	bool point = false, sticky = false;

	for (i = 0; i < len && (text[i] | 32) != 'e'; i++) {
		if (text[i] == '-')
			copy[n++] = '-';
		if (text[i] == '.')
			point = true;
		if (text[i] < '0' || text[i] > '9')
			continue;
		if (sig < NUM_SIG_MAX && (sig || text[i] != '0')) {
			copy[n++] = text[i];
			sig++;
			exp10 -= point;
		} else if (sig) {
			sticky |= text[i] != '0';
			exp10 += !point;
		} else {
			exp10 -= point;
		}
	}
	if (!sig)
		copy[n++] = '0';
	if (sticky) {
		copy[n++] = '1';
		exp10--;
	}
	if (i < len) {
		bool neg = text[++i] == '-';

		for (i += neg || text[i] == '+'; i < len; i++)
			e = DTX_MIN(e * 10 + (text[i] - '0'), NUM_EXP_MAX);
		e = neg ? -e : e;
	}
	snprintf(copy + n, sizeof(copy) - n, "e%ld", exp10 + e);
	return strtod(copy, NULL);
}

bool dtx_num_parse_f64(const char *text, size_t len, double *out)
{
	struct num_scan s;

	if (!num_scan(text, text + len, &s))
		return false;
	if (DTX_UNLIKELY(!num_clinger(&s, out)) && !num_extended(&s, out))
		*out = num_strtod(text, len);
	return isfinite(*out);
}

#define NUM_EIGHT 100000000u
#define NUM_ZEROS 0x3030303030303030u /* eight digits "0" */

/* The digits of v < 10^8 as eight bytes, the first digit in the lowest byte.  It splits v into two
 * halves of four digits, then all halves into pairs and all pairs into digits, each step for all
 * parts at once. */
static inline uint64_t num_eight(uint32_t v)
{
	uint64_t fours = v / 10000 | (uint64_t)(v % 10000) << 32;
	uint64_t hundreds = fours * 10486 >> 20 & 0x7f0000007fu;
	uint64_t twos = hundreds | (fours - hundreds * 100) << 16;
	uint64_t tens = twos * 103 >> 10 & 0x000f000f000f000fu;

	return tens | (twos - tens * 10) << 8;
}

static inline void num_store(char *out, uint64_t digits)
{
	digits = htole64(digits);
	memcpy(out, &digits, sizeof(digits));
}

/* Writes the digits of v.  It always stores eight bytes at a time, so up to seven bytes after the
 * number are overwritten; the buffer has room for that. */
static size_t num_put_u64(char *out, uint64_t v)
{
	uint64_t digits;
	unsigned skip;
	size_t n;

	if (v < 100) {
		digits = v / 10 | (v % 10) << 8 | (NUM_ZEROS & 0xffff);
		num_store(out, digits >> (v < 10) * 8);
		n = 2 - (v < 10);
	} else if (v < NUM_EIGHT) {
		digits = num_eight((uint32_t)v);
		skip = (unsigned)__builtin_ctzll(digits) & ~7u;
		num_store(out, (digits | NUM_ZEROS) >> skip);
		n = 8 - skip / 8;
	} else {
		n = num_put_u64(out, v / NUM_EIGHT) + 8;
		num_store(out + n - 8, num_eight((uint32_t)(v % NUM_EIGHT)) | NUM_ZEROS);
	}
	out[n] = '\0';
	return n;
}

size_t dtx_num_print_u64(char out[DTX_NUM_TEXT], uint64_t v)
{
	return num_put_u64(out, v);
}

static size_t num_put_i64(char *out, int64_t v)
{
	if (v >= 0)
		return num_put_u64(out, (uint64_t)v);
	out[0] = '-';
	return 1 + num_put_u64(out + 1, 0 - (uint64_t)v);
}

size_t dtx_num_print_i64(char out[DTX_NUM_TEXT], int64_t v)
{
	return num_put_i64(out, v);
}

static char *num_zeros(char *p, int n)
{
	for (; n > 0; n--)
		*p++ = '0';
	return p;
}

static char *num_copy(char *p, const char *digits, size_t n)
{
	memcpy(p, digits, n);
	return p + n;
}

/* Digits with the decimal point after `exp10` of them.  Without a fraction there is no point. */
static char *num_plain(char *p, const char *digits, size_t n, int exp10)
{
	if (exp10 <= 0) {
		*p++ = '0';
		*p++ = '.';
		return num_copy(num_zeros(p, -exp10), digits, n);
	}
	if ((size_t)exp10 >= n)
		return num_zeros(num_copy(p, digits, n), exp10 - (int)n);
	p = num_copy(p, digits, (size_t)exp10);
	*p++ = '.';
	return num_copy(p, digits + exp10, n - (size_t)exp10);
}

static char *num_scientific(char *p, const char *digits, size_t n, int exp10, bool plus)
{
	*p++ = digits[0];
	if (n > 1) {
		*p++ = '.';
		p = num_copy(p, digits + 1, n - 1);
	}
	*p++ = 'e';
	if (plus && exp10 > 0)
		*p++ = '+';
	return p + num_put_i64(p, exp10 - 1);
}

/* Whether v = *m / power exactly as doubles.  *m has at most 15 digits, and no two decimals of 15
 * digits read back as the same double, so *m is the shortest text of v except for zeros at its
 * end. */
static inline bool num_is_few(double v, double power, uint64_t *m)
{
	double whole = (double)(int64_t)(v * power + 0.5);

	*m = (uint64_t)whole;
	return whole / power == v;
}

/* Writes a whole number and the digits after its point, which are eight bytes with the first digit
 * in the lowest. */
static size_t num_put_point(char *out, uint64_t whole, uint64_t digits)
{
	uint64_t before = whole < NUM_EIGHT ? num_eight((uint32_t)whole) : 0;
	unsigned skip = (unsigned)__builtin_ctzll(before | (uint64_t)1 << 56) & ~7u;
	unsigned last = (unsigned)__builtin_clzll(digits | 1);
	size_t n;

	if (whole < NUM_EIGHT) { /* like num_put_u64, but without a branch for small numbers */
		num_store(out, (before | NUM_ZEROS) >> skip);
		n = 8 - skip / 8;
	} else {
		n = num_put_u64(out, whole);
	}
	out[n++] = '.';
	num_store(out + n, digits | NUM_ZEROS);
	n += 8 - last / 8; /* drop the zeros at the end */
	out[n] = '\0';
	return n;
}

/* The fast path for usual cells: numbers with up to six decimals, large ones with up to two, are
 * printed from an integer.  Returns 0 if v is not one of them. */
static size_t num_print_few(char *out, double v)
{
	double a = fabs(v);
	size_t n = v < 0;
	uint64_t m;

	out[0] = '-';
	if (a >= 1 && a < 1e9 && num_is_few(a, 1e6, &m))
		return n + num_put_point(out + n, m / 1000000,
		                         num_eight((uint32_t)(m % 1000000)) >> 16);
	if (a >= 1e9 && a < 1e13 && num_is_few(a, 1e2, &m))
		return n + num_put_point(out + n, m / 100, num_eight((uint32_t)(m % 100)) >> 48);
	return 0;
}

size_t dtx_num_print_f64(char out[DTX_NUM_TEXT], double v)
{
	char digits[20], *p = out;
	int exp10;
	size_t n = num_print_few(out, v);

	if (n)
		return n;
	n = dtx_num_digits(v, digits, &exp10);
	if (v < 0)
		*p++ = '-';
	if (v == 0 || (exp10 > -5 && exp10 <= 16)) {
		p = num_plain(p, digits, n, exp10);
		if (exp10 > 0 && (size_t)exp10 >= n)
			p = num_copy(p, ".0", 2);
	} else {
		p = num_scientific(p, digits, n, exp10, false);
	}
	*p = '\0';
	return (size_t)(p - out);
}

size_t dtx_num_print_json(char out[DTX_NUM_TEXT], double v)
{
	char digits[20], *p = out;
	int exp10;
	size_t n = dtx_num_digits(v, digits, &exp10);

	if (v < 0)
		*p++ = '-';
	if (exp10 > -6 && exp10 <= 21)
		p = num_plain(p, digits, n, exp10);
	else
		p = num_scientific(p, digits, n, exp10, true);
	*p = '\0';
	return (size_t)(p - out);
}

size_t dtx_num_print_grouped(char out[DTX_NUM_TEXT], int64_t v)
{
	char text[DTX_NUM_TEXT], *p = out;
	size_t n = dtx_num_print_i64(text, v), i;

	for (i = 0; i < n; i++) {
		*p++ = text[i];
		if (text[i] != '-' && i + 1 < n && (n - i - 1) % 3 == 0)
			*p++ = ',';
	}
	*p = '\0';
	return (size_t)(p - out);
}

/* The shortest digits that read back as a double: Raffaello Giulietti's Schubfach ("The Schubfach
 * way to render doubles", 2021).  Of all decimals that round to v it takes one with the fewest
 * digits, and of those the closest to v. */

/* floor(log2(10^e)) for |e| <= 1233. */
static int digits_log2_pow10(int e)
{
	return (e * 1741647) >> 19;
}

/* The upper 64 bits of g * cp.  The last bit is also set if any of the lower bits is not zero. */
static uint64_t digits_round_to_odd(const uint64_t g[2], uint64_t cp)
{
	dtx_u128 x = (dtx_u128)g[1] * cp;
	dtx_u128 y = (dtx_u128)g[0] * cp + (uint64_t)(x >> 64);

	return (uint64_t)(y >> 64) | ((uint64_t)y > 1);
}

/* v = *m * 10^*exp10, for finite v > 0. */
static void digits_shortest(double v, uint64_t *m, int *exp10)
{
	uint64_t bits, c, f, vbl, vb, vbr, lower, upper, s;
	const uint64_t *g;
	int e, q, k, h;
	bool closer, odd, inside[2];

	memcpy(&bits, &v, sizeof(bits));
	f = bits & (((uint64_t)1 << 52) - 1);
	e = (int)(bits >> 52 & 0x7ff);
	c = e ? f | (uint64_t)1 << 52 : f;
	q = (e ? e : 1) - 1075;
	odd = c & 1;              /* the ends of the interval round to v only if c is even */
	closer = f == 0 && e > 1; /* below a power of two the gap is half as wide */
	k = (q * 1262611 - (closer ? 524031 : 0)) >> 22;
	h = q + digits_log2_pow10(-k) + 1;
	g = num_pow10_bits[-k - NUM_POW10_MIN];
	vbl = digits_round_to_odd(g, (4 * c - 2 + closer) << h);
	vb = digits_round_to_odd(g, (4 * c) << h);
	vbr = digits_round_to_odd(g, (4 * c + 2) << h);
	lower = vbl + odd;
	upper = vbr - odd;
	s = vb / 4;
	*exp10 = k;
	if (s >= 10) { /* can it do with one digit less? */
		uint64_t sp = s / 10;

		inside[0] = lower <= 40 * sp;
		inside[1] = 40 * sp + 40 <= upper;
		if (inside[0] != inside[1]) {
			*m = sp + inside[1];
			*exp10 = k + 1;
			return;
		}
	}
	inside[0] = lower <= 4 * s;
	inside[1] = 4 * s + 4 <= upper;
	if (inside[0] != inside[1])
		*m = s + inside[1];
	else
		*m = s + (vb > 4 * s + 2 || (vb == 4 * s + 2 && (s & 1)));
}

size_t dtx_num_digits(double v, char digits[20], int *exp10)
{
	char text[DTX_NUM_TEXT];
	uint64_t m;
	size_t n;
	int e;

	v = fabs(v);
	if (v == 0) {
		digits[0] = '0';
		*exp10 = 1;
		return 1;
	}
	digits_shortest(v, &m, &e);
	n = dtx_num_print_u64(text, m);
	*exp10 = (int)n + e;
	while (n > 1 && text[n - 1] == '0')
		n--;
	memcpy(digits, text, n);
	return n;
}

/* Floor division, remainder and steps of doubles on the decimal digits that they are written with:
 * 1.0 // 0.1 is 10 and 1.0 % 0.1 is 0, although the double 0.1 is slightly more than a tenth. */

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
