/* The wide accumulator of exact sums: a fixed-point number that covers the range of all doubles, in
 * the manner of Neal's superaccumulators.  Its 32-bit digits are in 64-bit words, so that carries
 * can be propagated later, once per many additions.  Adding to it has no rounding error; it is
 * rounded once, in wide_round. */
#include "core/expr/agg/fsum.h"

#include <math.h>
#include <string.h>

#include "core/base/memory/mem.h"
#include "core/expr/agg/aggsave.h"

/* Digit i has weight 2^(32 i - 1074), which covers all finite doubles.  Two more digits hold the
 * growth of any number of additions. */
#define DIGITS   70
#define ADDS_MAX ((int64_t)1 << 30)
#define WORDS    8 /* of a sum that takes part in a product: more than 400 bits of it */
#define CANCELS  0x1p-40

struct dtx_fwide {
	int64_t digit[DIGITS];
	int64_t adds; /* since carries were last propagated */
};

static void wide_carry(struct dtx_fwide *w)
{
	int i;

	for (i = 0; i + 1 < DIGITS; i++) {
		int64_t carry = w->digit[i] >> 32;

		w->digit[i] &= 0xffffffff;
		w->digit[i + 1] += carry;
	}
	w->adds = 0;
}

/* x is finite. */
static void wide_add(struct dtx_fwide *w, double x)
{
	uint64_t bits, m;
	unsigned e;
	dtx_u128 v;
	int i;

	memcpy(&bits, &x, sizeof(bits));
	e = (unsigned)(bits >> 52) & 0x7ff;
	m = bits & 0xfffffffffffffu;
	if (e)
		m |= (uint64_t)1 << 52;
	else
		e = 1;
	e--;
	v = (dtx_u128)m << (e % 32);
	for (i = 0; i < 3; i++) {
		int64_t part = (int64_t)(uint64_t)(v & 0xffffffff);

		w->digit[e / 32 + (unsigned)i] += bits >> 63 ? -part : part;
		v >>= 32;
	}
	if (++w->adds >= ADDS_MAX)
		wide_carry(w);
}

/* The correctly rounded value. */
static double wide_round(const struct dtx_fwide *from)
{
	struct dtx_fwide w = *from;
	bool negative;
	dtx_u128 m;
	uint64_t sticky = 0;
	double r;
	int h, i;

	wide_carry(&w);
	negative = w.digit[DIGITS - 1] < 0;
	for (i = 0; negative && i < DIGITS; i++)
		w.digit[i] = -w.digit[i];
	if (negative)
		wide_carry(&w);
	for (h = DIGITS - 1; h > 2 && w.digit[h] == 0; h--)
		;
	m = (dtx_u128)(uint64_t)w.digit[h] << 64 | (dtx_u128)(uint64_t)w.digit[h - 1] << 32 |
	    (uint64_t)w.digit[h - 2];
	for (i = 0; i < h - 2; i++)
		sticky |= (uint64_t)w.digit[i];
	/* Together with the lower digits there are more than 64 bits; one sticky bit represents
	 * them. */
	m |= sticky != 0;
	r = ldexp((double)m, 32 * (h - 2) - 1074);
	return negative ? -r : r;
}

static bool need_wide(struct dtx_fsum *s)
{
	if (!s->more)
		s->more = dtx_mem_zalloc(1, sizeof(*s->more));
	return s->more != NULL;
}

bool dtx_fsum_spill(struct dtx_fsum *s, double hi, double lo, double x)
{
	double lost, rest;

	if (!need_wide(s)) {
		s->hi = hi;
		s->lo = lo;
		return false;
	}
	if (!isfinite(s->hi) || !isfinite(s->lo)) {
		wide_add(s->more, hi);
		wide_add(s->more, lo);
		s->hi = x;
		s->lo = 0;
		return true;
	}
	s->hi = dtx_two_sum(hi, x, &lost);
	s->lo = dtx_two_sum(lo, lost, &rest);
	wide_add(s->more, rest);
	return true;
}

bool dtx_fsum_merge(struct dtx_fsum *to, struct dtx_fsum *from)
{
	int i;

	if (from->more) {
		if (!need_wide(to))
			return false;
		wide_carry(to->more);
		wide_carry(from->more);
		for (i = 0; i < DIGITS; i++)
			to->more->digit[i] += from->more->digit[i];
		dtx_fsum_free(from);
	}
	if (!dtx_fsum_add(to, from->hi))
		return false;
	from->hi = 0;
	if (!dtx_fsum_add(to, from->lo))
		return false;
	from->lo = 0;
	return true;
}

static void wide_add_sum(struct dtx_fwide *w, const struct dtx_fsum *s)
{
	wide_add(w, s->hi);
	wide_add(w, s->lo);
	if (!s->more)
		return;
	wide_carry(w);
	wide_carry(s->more);
	for (int i = 0; i < DIGITS; i++)
		w->digit[i] += s->more->digit[i];
}

/* The rounded value of a + b - minus; b NULL: 0. */
static double round_with(const struct dtx_fsum *a, const struct dtx_fsum *b, double minus)
{
	struct dtx_fwide w;

	memset(&w, 0, sizeof(w));
	wide_add_sum(&w, a);
	if (b)
		wide_add_sum(&w, b);
	wide_add(&w, -minus);
	return wide_round(&w);
}

double dtx_fsum_round(struct dtx_fsum *s)
{
	return s->more ? round_with(s, NULL, 0) : s->hi + s->lo;
}

double dtx_fsum_round2(struct dtx_fsum *s, double *low)
{
	double high;

	if (!s->more)
		return dtx_two_sum(s->hi, s->lo, low);
	high = round_with(s, NULL, 0);
	*low = isfinite(high) ? round_with(s, NULL, high) : 0;
	return high;
}

void dtx_fsum_free(struct dtx_fsum *s)
{
	dtx_mem_free(s->more);
	s->more = NULL;
}

bool dtx_fspread_merge(struct dtx_fspread *to, struct dtx_fspread *from)
{
	if (!dtx_fsum_merge(&to->x, &from->x) || !dtx_fsum_merge(&to->xx, &from->xx) ||
	    !dtx_fsum_merge(&to->low, &from->low))
		return false;
	to->n += from->n;
	to->huge += from->huge;
	from->n = from->huge = 0;
	return true;
}

/* The sum of both as two doubles without any loss.  False: two are not enough. */
static bool sum_both(const struct dtx_fsum *a, const struct dtx_fsum *b, double *high, double *low)
{
	double lost, rest, hi = a->hi, lo = a->lo;

	if (a->more || b->more)
		return false;
	hi = dtx_two_sum(hi, b->hi, &lost);
	lo = dtx_two_sum(lo, lost, &rest);
	if (rest != 0)
		return false;
	hi = dtx_two_sum(hi, b->lo, &lost);
	lo = dtx_two_sum(lo, lost, &rest);
	*high = dtx_two_sum(hi, lo, low);
	return rest == 0;
}

/* dtx_fsum_round2 of a + b. */
static double round2_both(const struct dtx_fsum *a, const struct dtx_fsum *b, double *low)
{
	double high;

	if (sum_both(a, b, &high, low))
		return high;
	high = round_with(a, b, 0);
	*low = isfinite(high) ? round_with(a, b, high) : 0;
	return high;
}

/* Words whose sum is a + b; b NULL: 0.  Returns their number; WORDS means that the sum needs
 * more. */
static int words_of(const struct dtx_fsum *a, const struct dtx_fsum *b, double *word)
{
	struct dtx_fwide w;
	int n;

	memset(&w, 0, sizeof(w));
	wide_add_sum(&w, a);
	if (b)
		wide_add_sum(&w, b);
	for (n = 0; n < WORDS; n++) {
		word[n] = wide_round(&w);
		if (word[n] == 0 || !isfinite(word[n]))
			break;
		wide_add(&w, -word[n]);
	}
	return n;
}

/* Adds both halves of x * y.  False: the product is beyond the range of floats. */
static bool wide_add_product(struct dtx_fwide *w, double x, double y)
{
	double part = x * y;

	if (!isfinite(part))
		return false;
	wide_add(w, part);
	wide_add(w, fma(x, y, -part));
	return true;
}

/* xy - x * y / n without any loss.  False: a part is beyond the range of floats. */
static bool cross_exact(const struct dtx_fcross *c, double n, double *out)
{
	struct dtx_fwide w;
	double xy[WORDS], x[WORDS], y[WORDS];
	int nxy = words_of(c->xy, c->low, xy), nx = words_of(c->x, NULL, x),
	    ny = words_of(c->y, NULL, y);

	memset(&w, 0, sizeof(w));
	for (int i = 0; i < nxy; i++) {
		if (!wide_add_product(&w, n, xy[i]))
			return false;
	}
	for (int i = 0; i < nx * ny; i++) {
		if (!wide_add_product(&w, -x[i / ny], y[i % ny]))
			return false;
	}
	*out = wide_round(&w) / n;
	return true;
}

/* Computes in twice the precision of a float.  If nearly all digits cancel out that is not enough,
 * and the exact computation follows. */
double dtx_fsum_cross(const struct dtx_fcross *c, double n)
{
	double xl, yl, xyl, x = dtx_fsum_round2(c->x, &xl), y = dtx_fsum_round2(c->y, &yl);
	double xy = c->low ? round2_both(c->xy, c->low, &xyl) : dtx_fsum_round2(c->xy, &xyl);
	double mean = x / n, ml = (fma(-mean, n, x) + xl) / n;
	double part = mean * y, lost = fma(mean, y, -part) + mean * yl + ml * y;
	double rest, most = dtx_two_sum(xy, -part, &rest), got = most + (rest + (xyl - lost));

	if (fabs(got) < CANCELS * (fabs(xy) + fabs(part)))
		(void)cross_exact(c, n, &got);
	return got;
}

double dtx_fspread_squares(struct dtx_fspread *s)
{
	const struct dtx_fcross c = { &s->x, &s->x, &s->xx, &s->low };
	double got = s->huge ? INFINITY : dtx_fsum_cross(&c, (double)s->n);

	return got < 0 ? 0 : got;
}

bool dtx_fspread_var(struct dtx_fspread *s, double *var)
{
	if (s->n < 2)
		return false;
	*var = dtx_fspread_squares(s) / ((double)s->n - 1);
	return true;
}

void dtx_fspread_free(struct dtx_fspread *s)
{
	dtx_fsum_free(&s->x);
	dtx_fsum_free(&s->xx);
	dtx_fsum_free(&s->low);
}

/* --- as bytes --- */

void dtx_fsum_save(const struct dtx_fsum *s, struct dtx_buf *out)
{
	uint64_t word[3] = { 0, 0, s->more != NULL };

	memcpy(&word[0], &s->hi, sizeof(s->hi));
	memcpy(&word[1], &s->lo, sizeof(s->lo));
	dtx_words_save(word, 3, out);
	if (s->more)
		dtx_buf_addn(out, s->more, sizeof(*s->more));
}

bool dtx_fsum_load(struct dtx_fsum *s, const char **at)
{
	uint64_t word[3];

	dtx_words_load(at, word, 3);
	if (word[2] && !need_wide(s))
		return false;
	memcpy(&s->hi, &word[0], sizeof(s->hi));
	memcpy(&s->lo, &word[1], sizeof(s->lo));
	if (!word[2])
		return true;
	memcpy(s->more, *at, sizeof(*s->more));
	*at += sizeof(*s->more);
	return true;
}

void dtx_fspread_save(const struct dtx_fspread *s, struct dtx_buf *out)
{
	const uint64_t word[2] = { s->n, s->huge };

	dtx_fsum_save(&s->x, out);
	dtx_fsum_save(&s->xx, out);
	dtx_fsum_save(&s->low, out);
	dtx_words_save(word, 2, out);
}

bool dtx_fspread_load(struct dtx_fspread *s, const char **at)
{
	uint64_t word[2];

	if (!dtx_fsum_load(&s->x, at) || !dtx_fsum_load(&s->xx, at) || !dtx_fsum_load(&s->low, at))
		return false;
	dtx_words_load(at, word, 2);
	s->n = word[0];
	s->huge = word[1];
	return true;
}
