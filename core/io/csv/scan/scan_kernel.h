/* The scanner itself. A variant includes this file after it has defined:
 *
 *   SCAN_FNS                          name of its struct dtx_scan_fns
 *   SCAN_NAME                         "avx2"
 *   struct scan_block                 64 bytes
 *   scan_load(p) -> struct scan_block
 *   scan_eq(b, c) -> uint64_t         bit i: byte i is c
 *   scan_high(b) -> uint64_t          bit i: byte i is above 7F
 *   scan_prefix_xor(m) -> uint64_t    bit i: parity of bits 0..i
 *   scan_emit(to, base, bits)         base + i for each bit i, ascending; may write 64 items
 */
#ifndef DTX_IO_CSV_SCAN_SCAN_KERNEL_H
#define DTX_IO_CSV_SCAN_SCAN_KERNEL_H

#include <string.h>

#include "core/io/csv/scan/scan.h"

/* What a step of 64 bytes passes on to the next. */
struct scan_carry {
	uint64_t inside; /* all ones: inside quotes */
	uint64_t free;   /* 1: an opening quote may come next */
	uint64_t closed; /* 1: the last byte was a closing quote */
	uint64_t bad;    /* bits of irregular quotes */
};

static inline struct scan_block scan_get(const char *p, size_t left)
{
	char buf[64];

	if (DTX_LIKELY(left >= 64))
		return scan_load(p);
	memset(buf, 0, sizeof(buf));
	memcpy(buf, p, left);
	return scan_load(buf);
}

static inline uint64_t scan_valid(size_t left)
{
	return left < 64 ? ((uint64_t)1 << left) - 1 : ~(uint64_t)0;
}

/* Updates the state for the quotes and structure bytes of a step with `left` bytes. Returns the
 * mask of bytes inside quotes, which includes an opening quote but not a closing one. */
static inline uint64_t scan_quotes(struct scan_carry *c, uint64_t quote, uint64_t structure,
                                   size_t left)
{
	uint64_t in = scan_prefix_xor(quote) ^ c->inside;
	uint64_t outer = structure & ~in, open = quote & in, close = quote & ~in;
	unsigned last = left < 64 ? (unsigned)left - 1 : 63;

	c->bad |= open & ~((outer | close) << 1 | c->free);
	c->bad |= (close << 1 | c->closed) & ~(outer | open) & scan_valid(left);
	c->free = (outer | close) >> last & 1;
	c->closed = close >> last & 1;
	c->inside = (uint64_t)((int64_t)in >> 63);
	return in;
}

static inline bool scan_is_structure(int c, struct dtx_scan_set set)
{
	return c == '\n' || c == '\r' || c == (unsigned char)set.delim;
}

/* Whether all quotes are regular, for a chunk that begins outside and one that begins inside
 * quotes. */
static void scan_regular(const char *p, size_t n, struct dtx_scan_set set, char before, int after,
                         bool regular[2])
{
	uint64_t free = scan_is_structure((unsigned char)before, set) || before == set.quote;
	struct scan_carry out = { 0, free, 0, 0 }, in = { ~(uint64_t)0, 0, 0, 0 };
	bool open_end =
		after < 0 || scan_is_structure(after, set) || after == (unsigned char)set.quote;
	size_t at;

	for (at = 0; at < n; at += 64) {
		struct scan_block b = scan_get(p + at, n - at);
		uint64_t quote = scan_eq(b, set.quote);
		uint64_t structure = scan_eq(b, '\n') | scan_eq(b, '\r') | scan_eq(b, set.delim);

		(void)scan_quotes(&out, quote, structure, n - at);
		(void)scan_quotes(&in, quote, structure, n - at);
	}
	regular[0] = !out.bad && (open_end || !out.closed);
	regular[1] = !in.bad && (open_end || !in.closed);
}

static void scan_count(const char *p, size_t n, struct dtx_scan_set set, char before, int after,
                       struct dtx_scan_chunk *out)
{
	uint64_t high = 0, lines = 0, quotes = 0, keep = set.quotes ? ~(uint64_t)0 : 0;
	size_t at;

	for (at = 0; at < n; at += 64) {
		struct scan_block b = scan_get(p + at, n - at);
		uint64_t line = scan_eq(b, '\n') | scan_eq(b, '\r');

		high |= scan_high(b);
		lines += (uint64_t)__builtin_popcountll(line);
		quotes += (uint64_t)__builtin_popcountll(scan_eq(b, set.quote) & keep);
	}
	*out = (struct dtx_scan_chunk){ .odd = quotes & 1,
		                        .regular = { true, true },
		                        .high = high != 0,
		                        .newlines = (uint32_t)lines };
	if (quotes)
		scan_regular(p, n, set, before, after, out->regular);
}

/* Indexes whole steps up to the first that has a quote or a CR. Most text has neither, and then
 * there is little to keep in registers. Returns the number of bytes done. */
static inline size_t scan_index_plain(const char *p, size_t n, struct dtx_scan_set set,
                                      uint32_t **pos, uint64_t *records)
{
	const uint64_t keep = set.quotes ? ~(uint64_t)0 : 0;
	uint32_t *to = *pos;
	uint64_t lines = 0;
	size_t at;

	for (at = 0; at + 64 <= n; at += 64) {
		struct scan_block b = scan_load(p + at);
		uint64_t line = scan_eq(b, '\n'), both = line | scan_eq(b, set.delim);

		if ((scan_eq(b, set.quote) & keep) | scan_eq(b, '\r'))
			break;
		lines += (uint64_t)__builtin_popcountll(line);
		scan_emit(to, (uint32_t)at, both);
		to += __builtin_popcountll(both);
	}
	*pos = to;
	*records = lines;
	return at;
}

static void scan_index(const char *p, size_t n, struct dtx_scan_set set, uint32_t *pos,
                       struct dtx_scan_index *out)
{
	struct scan_carry carry = { 0, 1, 0, 0 };
	uint64_t keep = set.quotes ? ~(uint64_t)0 : 0, quotes = 0, crs = 0, after_cr = 0;
	uint32_t *to = pos;
	uint64_t records = 0;
	size_t at = scan_index_plain(p, n, set, &to, &records);

	if (at)
		carry.free = scan_is_structure((unsigned char)p[at - 1], set);
	for (; at < n; at += 64) {
		struct scan_block b = scan_get(p + at, n - at);
		uint64_t valid = scan_valid(n - at), in = 0;
		uint64_t quote = scan_eq(b, set.quote) & keep,
			 delim = scan_eq(b, set.delim) & valid;
		uint64_t lf = scan_eq(b, '\n'), cr = scan_eq(b, '\r'), line;

		quotes |= quote;
		if (quotes)
			in = scan_quotes(&carry, quote, delim | lf | cr, n - at);
		else
			carry.free = (delim | lf | cr) >> 63;
		lf &= ~(cr << 1 | after_cr); /* in CRLF, the CR is the end */
		after_cr = cr >> 63;
		cr &= ~in;
		crs |= cr;
		line = (lf | cr) & ~in;
		/* If there is no delimiter, both bytes are LF; do not count the LF of a CRLF again
		 * as delimiter. */
		delim = set.delim == '\n' ? 0 : delim & ~in;
		records += (uint64_t)__builtin_popcountll(line);
		scan_emit(to, (uint32_t)at, delim | line);
		to += __builtin_popcountll(delim | line);
	}
	*out = (struct dtx_scan_index){ .n = (uint32_t)(to - pos),
		                        .records = (uint32_t)records,
		                        .quotes = quotes != 0,
		                        .cr = crs != 0,
		                        .irregular = carry.bad != 0,
		                        .inside = carry.inside != 0 };
}

static bool scan_plain(const char *p, size_t n, struct dtx_scan_set set, uint32_t width,
                       uint32_t *records, size_t *end)
{
	uint64_t keep = set.quotes ? ~(uint64_t)0 : 0;
	uint32_t have = 1;
	size_t at;

	*records = 0;
	*end = 0;
	for (at = 0; at < n; at += 64) {
		struct scan_block b = scan_get(p + at, n - at);
		uint64_t lf = scan_eq(b, '\n'), delim = scan_eq(b, set.delim), below;

		if (scan_eq(b, '\r') | (scan_eq(b, set.quote) & keep))
			return false;
		for (; lf; lf &= lf - 1) {
			below = (lf & -lf) - 1;
			have += (uint32_t)__builtin_popcountll(delim & below);
			if (have != width)
				return false;
			have = 1;
			delim &= ~below;
			++*records;
			*end = at + (size_t)__builtin_ctzll(lf) + 1;
		}
		have += (uint32_t)__builtin_popcountll(delim);
	}
	return true;
}

const struct dtx_scan_fns SCAN_FNS = { SCAN_NAME, scan_count, scan_index, scan_plain };

#endif
