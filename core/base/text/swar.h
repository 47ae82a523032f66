/* Looks at several bytes of a text at once, in portable C (SIMD within a register).
 *
 * All functions read ahead: 16 bytes after the given address must be readable. */
#ifndef DTX_BASE_TEXT_SWAR_H
#define DTX_BASE_TEXT_SWAR_H

#include <endian.h>
#include <string.h>

#include "core/base/base.h"

static inline uint64_t dtx_swar_load(const char *p)
{
	uint64_t w;

	memcpy(&w, p, sizeof(w));
	return le64toh(w);
}

static const uint64_t dtx_swar_pow10[9] = { 1,      10,      100,      1000,     10000,
	                                    100000, 1000000, 10000000, 100000000 };

/* Reads up to 8 digits at p as a number.  Returns how many digits there are. */
static inline unsigned dtx_swar_digits(const char *p, uint64_t *out)
{
	const uint64_t pair = 0x000000ff000000ff;
	uint64_t w = dtx_swar_load(p) ^ 0x3030303030303030;
	/* Sets the top bit of each byte that is not a digit; only the lowest such bit is
	 * reliable. */
	uint64_t other = ((w + 0x7676767676767676) | w) & 0x8080808080808080;
	unsigned n = other ? (unsigned)__builtin_ctzll(other) / 8 : 8;

	if (!n) {
		*out = 0;
		return 0;
	}
	w <<= 64 - 8 * n; /* zeros before the digits */
	w = w * 10 + (w >> 8);
	*out = ((w & pair) * 0x000f424000000064 + (w >> 16 & pair) * 0x0000271000000001) >> 32 &
	       UINT32_MAX;
	return n;
}

typedef uint8_t dtx_swar_block __attribute__((vector_size(16)));
typedef int8_t dtx_swar_signed __attribute__((vector_size(16)));

static inline dtx_swar_block dtx_swar_block_load(const char *p)
{
	dtx_swar_block b;

	memcpy(&b, p, sizeof(b));
	return b;
}

/* Index of the first byte that is not 0; 16 if all are 0. */
static inline unsigned dtx_swar_first(dtx_swar_block b)
{
	uint64_t w[2];

	memcpy(w, &b, sizeof(w));
	if (w[0])
		return (unsigned)__builtin_ctzll(le64toh(w[0])) / 8;
	return w[1] ? 8 + (unsigned)__builtin_ctzll(le64toh(w[1])) / 8 : 16;
}

/* The end of plain ASCII text in XML: the first byte that is not printable ASCII, or that needs
 * attention (< & _). */
static inline const char *dtx_swar_ascii_end(const char *p)
{
	for (;; p += 16) {
		dtx_swar_block b = dtx_swar_block_load(p);
		/* in signed bytes, 0x80 and above and control characters are all below a blank */
		dtx_swar_signed below = (dtx_swar_signed)b < 0x20;
		unsigned at = dtx_swar_first(
			(dtx_swar_block)(below | (b == '<') | (b == '&') | (b == '_')));

		if (at < 16)
			return p + at;
	}
}

/* The end of plain text in XML: the first of < & _ CR or NUL.  One of them must follow. */
static inline const char *dtx_swar_text_end(const char *p)
{
	for (;; p += 16) {
		dtx_swar_block b = dtx_swar_block_load(p);
		unsigned at = dtx_swar_first((dtx_swar_block)((b == '<') | (b == '&') | (b == '_') |
		                                              (b == '\r') | (b == 0)));

		if (at < 16)
			return p + at;
	}
}

#endif
