/* Numbers in text cells by the ingest rules, which accept less than the cast functions: no leading
 * zeros, no plus sign, at most 17 significant digits.  The functions are inline, because they are
 * the inner loop of reading typed text. */
#ifndef DTX_DATA_CAST_CELL_NUM_H
#define DTX_DATA_CAST_CELL_NUM_H

#include "core/base/text/num.h"

#define DTX_CELL_EXACT ((int64_t)1 << 53)
/* Whether a double holds the int exactly although it is beyond 2^53, as it does 10^18. */
static inline bool dtx_cell_whole_is_f64(int64_t i)
{
	double v = (double)i;

	return v < 0x1p63 && (int64_t)v == i;
}

/* -?(0|[1-9][0-9]*) within int64, but not -0. */
static inline bool dtx_cell_i64(const char *p, size_t n, int64_t *out)
{
	size_t neg = n && p[0] == '-', i;
	uint64_t v = 0;

	p += neg;
	n -= neg;
	if (!n || n > 19 || (p[0] == '0' && (n > 1 || neg)))
		return false;
	if (n == 19)
		return dtx_num_parse_i64(p - neg, n + neg, out);
	for (i = 0; i < n; i++) {
		unsigned d = (unsigned char)p[i] - '0';

		if (d > 9)
			return false;
		v = v * 10 + d;
	}
	*out = neg ? -(int64_t)v : (int64_t)v;
	return true;
}

/* The general case of dtx_cell_f64. */
bool dtx_cell_f64_slow(const char *p, size_t n, double *out);

/* A float, or an int that a float holds exactly. */
static inline bool dtx_cell_f64(const char *p, size_t n, double *out)
{
	size_t neg = n && p[0] == '-', i = neg, whole;
	uint64_t m = 0;
	double v;

	for (; i < n; i++) {
		unsigned d = (unsigned char)p[i] - '0';

		if (d > 9)
			break;
		m = m * 10 + d;
	}
	whole = i - neg;
	if (i < n && p[i] == '.') {
		for (i++; i < n; i++) {
			unsigned d = (unsigned char)p[i] - '0';

			if (d > 9)
				break;
			m = m * 10 + d;
		}
	}
	/* With up to 15 digits, at least one on each side of the point, and no superfluous zero,
	 * the quotient below is exact. */
	if (i < n || n > 16 || !whole || p[i - 1] == '.' || (p[neg] == '0' && whole > 1))
		return dtx_cell_f64_slow(p, n, out);
	if (i == neg + whole) { /* an int */
		if ((neg && !m) || m > (uint64_t)DTX_CELL_EXACT)
			return false;
		v = (double)m;
	} else {
		v = (double)m / dtx_num_pow10[i - neg - whole - 1];
	}
	*out = neg && m ? -v : v;
	return true;
}

/* Reads eight digits at once.  w holds the last n <= 8 characters of a number (see dtx_cell_word);
 * the bytes before them are '0'.  False: a character is not a digit.  The idea of the three
 * multiplications is from D. Lemire, "Quickly parsing eight digits" (2018). */
static inline bool dtx_cell_swar(uint64_t w, uint64_t *out)
{
	const uint64_t high = 0xf0f0f0f0f0f0f0f0u, zeros = 0x3030303030303030u;

	if ((w & high) != zeros || ((w + 0x0606060606060606u) & high) != zeros)
		return false;
	w = (w & 0x0f0f0f0f0f0f0f0fu) * 2561 >> 8;
	w = (w & 0x00ff00ff00ff00ffu) * 6553601 >> 16;
	*out = (w & 0x0000ffff0000ffffu) * 42949672960001u >> 32;
	return true;
}

/* Loads the n <= 8 characters before `end`, of which 8 bytes must be readable, and replaces the
 * bytes before them by '0'. */
static inline uint64_t dtx_cell_word(const char *end, size_t n)
{
	unsigned shift = (unsigned)(8 - n) * 8;
	uint64_t w;

	memcpy(&w, end - 8, sizeof(w));
	return (w >> shift) << shift | (0x3030303030303030u & (((uint64_t)1 << shift) - 1));
}

/* dtx_cell_i64 for little-endian machines and cells with 8 readable bytes before their end. */
static inline bool dtx_cell_i64_wide(const char *p, size_t n, int64_t *out)
{
	size_t neg = n && p[0] == '-', m = n - neg;
	uint64_t v;

	if (DTX_UNLIKELY(m - 1 >= 8 || (p[neg] == '0' && n > 1)))
		return dtx_cell_i64(p, n, out);
	if (!dtx_cell_swar(dtx_cell_word(p + n, m), &v))
		return false;
	*out = neg ? -(int64_t)v : (int64_t)v;
	return true;
}

/* dtx_cell_f64 for the same cells. */
static inline bool dtx_cell_f64_wide(const char *p, size_t n, double *out)
{
	size_t neg = n && p[0] == '-', m = n - neg;
	uint64_t w, x, low, v;
	unsigned at;

	if (DTX_UNLIKELY(m - 2 >= 7 || (p[neg] == '0' && p[neg + 1] != '.')))
		return dtx_cell_f64(p, n, out);
	w = dtx_cell_word(p + n, m);
	x = w ^ 0x2e2e2e2e2e2e2e2eu; /* zero where the point is */
	x = (x - 0x0101010101010101u) & ~x & 0x8080808080808080u;
	if (x) {
		at = (unsigned)__builtin_ctzll(x) / 8;
		if (DTX_UNLIKELY(at == 7 || at + m == 8)) /* no digit on one side */
			return dtx_cell_f64(p, n, out);
		low = ((uint64_t)1 << at * 8) - 1;
		w = (w & ~(low << 8 | 0xff)) | (w & low) << 8 | 0x30;
		if (!dtx_cell_swar(w, &v))
			return dtx_cell_f64(p, n, out);
		*out = (double)v / dtx_num_pow10[7 - at];
	} else {
		if (!dtx_cell_swar(w, &v))
			return dtx_cell_f64(p, n, out);
		*out = (double)v;
	}
	if (neg)
		*out = v ? -*out : 0;
	return true;
}

/* Reads the group mark of a plan: "" (*group is 0), an ASCII character, or a blank.  One kind of
 * blank stands for all that are used in numbers: ' ', U+00A0, U+2009, U+202F.  False: it is another
 * text. */
DTX_MUSTUSE bool dtx_group_mark(const char *text, char *group);
/* Length in bytes of a group mark at the start of `s`; 0 if none. */
size_t dtx_group_at(struct dtx_str s, char group);
/* Rewrites a number with a declared decimal comma and group mark to the plain form in out.  Returns
 * its length; 0 if the text does not follow the declaration. */
size_t dtx_cell_plain(struct dtx_str s, bool decimal_comma, char group, char out[64]);

#endif
