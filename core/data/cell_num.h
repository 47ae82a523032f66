/* Numbers of text cells by the ingest rules (narrower than the cast functions): no leading zeros,
 * no plus sign, at most 17 significant digits.  Inline: the inner loop of typed reading. */
#ifndef DTX_DATA_CELL_NUM_H
#define DTX_DATA_CELL_NUM_H

#include "core/base/num.h"

#define DTX_CELL_EXACT ((int64_t)1 << 53)

/* -?(0|[1-9][0-9]*) within int64, not -0. */
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
	/* Up to 15 digits, a digit on both sides of the point, no needless zero: exact. */
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

/* Undoes a declared decimal comma and group mark: the number in plain form in out, 0 if the text
 * does not keep to them. */
size_t dtx_cell_plain(struct dtx_str s, bool decimal_comma, char group, char out[64]);

#endif
