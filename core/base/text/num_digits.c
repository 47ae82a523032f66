/* The shortest digits that read back as a double: Raffaello Giulietti's Schubfach ("The Schubfach
 * way to render doubles", 2021).  Of all decimals that round to v it takes one with the fewest
 * digits, and of those the closest to v. */
#include <math.h>
#include <string.h>

#include "core/base/text/num.h"
#include "core/base/text/num_pow10.h"

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
