/* The encodings of values and levels. All of them are read in pieces, so that a few bytes that
 * stand for many values take no memory.
 * Source: Encodings.md of apache/parquet-format. */
#include "core/base/text/le.h"
#include "core/io/parquet/parquet.h"

enum {
	PLAIN = 0,
	PLAIN_DICTIONARY = 2,
	RLE = 3,
	DELTA_BINARY = 5,
	DELTA_LENGTH = 6,
	DELTA_BYTES = 7,
	RLE_DICTIONARY = 8,
	SPLIT = 9,
	SHORT_RUN = 64,      /* shorter runs of levels are read with those around them */
	MADE_VALUES = 64,    /* texts that are put together at a time */
	BLOCK_MAX = 1 << 24, /* values of a delta block */
	MADE_MAX = 1 << 30   /* bytes of the values of one slice that are put together */
};

const char dtx_pq_no_memory[] = "out of memory";
const char dtx_pq_too_long[] = "a text is too long";
static const char ends_early[] = "its bytes end early";

/* --- bits --- */

/* Bits [at, at + width) from p on, the lowest first; width is at most 64, and all bits are before
 * `end`. */
static inline uint64_t bits_at(const uint8_t *p, const uint8_t *end, uint64_t at, unsigned width)
{
	unsigned shift = (unsigned)(at & 7);
	uint64_t v = 0;
	uint8_t more = 0;

	p += at >> 3;
	if (end - p >= 9) {
		v = dtx_le_u64(p);
		more = p[8];
	} else {
		uint8_t part[9] = { 0 };

		memcpy(part, p, (size_t)(end - p));
		v = dtx_le_u64(part);
		more = part[8];
	}
	v >>= shift;
	if (shift)
		v |= (uint64_t)more << (64 - shift);
	return width == 64 ? v : v & (((uint64_t)1 << width) - 1);
}

static bool varint(const uint8_t **p, const uint8_t *end, uint64_t *out)
{
	uint64_t v = 0;
	unsigned shift;

	for (shift = 0; shift < 64 && *p < end; shift += 7) {
		uint8_t b = *(*p)++;

		if (shift == 63 && b > 1)
			return false;
		v |= (uint64_t)(b & 0x7f) << shift;
		if (!(b & 0x80)) {
			*out = v;
			return true;
		}
	}
	return false;
}

/* --- runs --- */

/* Begins the next run. Some writers cut the last run of packed values short. */
static bool next_run(struct dtx_pq_runs *r)
{
	uint64_t head, bytes;
	unsigned width = (r->width + 7) / 8, i;

	if (!varint(&r->p, r->end, &head) || head >> 1 > UINT32_MAX)
		return false;
	r->packed = head & 1;
	r->left = head >> 1;
	if (r->packed) {
		bytes = r->left * r->width; /* 8 values take `width` bytes */
		r->left *= 8;
		if (bytes > (uint64_t)(r->end - r->p)) {
			bytes = (uint64_t)(r->end - r->p);
			r->left = bytes * 8 / r->width;
		}
		r->bit = r->p;
		r->at = 0;
		r->p += bytes;
		return true;
	}
	if (width > (size_t)(r->end - r->p))
		return false;
	r->value = 0;
	for (i = 0; i < width; i++)
		r->value |= (uint32_t)*r->p++ << 8 * i;
	return r->width == 32 || r->value >> r->width == 0;
}

static bool old_levels(struct dtx_pq_runs *r, uint32_t *out, size_t n)
{
	unsigned k;

	for (; n; n--, out++) {
		*out = 0;
		for (k = 0; k < r->width; k++, r->at++) {
			if (r->at >> 3 >= (uint64_t)(r->end - r->p))
				return false;
			*out = *out << 1 | (r->p[r->at >> 3] >> (7 - (r->at & 7)) & 1);
		}
	}
	return true;
}

/* Eight values of `width` bits from p on, of which 8 bytes after the last may be read. The width is
 * a constant of the caller, so that places and shifts are, too. Up to 8 bits each, all are moved to
 * bytes at once: each step halves groups of 4, 2 and 1 values and moves the upper half up. */
static inline void unpack_8(const uint8_t *p, uint32_t *out, unsigned width)
{
	const uint64_t mask = ((uint64_t)1 << width) - 1;
	const uint64_t low4 = ((uint64_t)1 << 4 * (width & 15)) - 1; /* 4 values, if width <= 8 */
	const uint64_t low2 = (((uint64_t)1 << 2 * width) - 1) * 0x0000000100000001u;
	const uint64_t low1 = mask * 0x0001000100010001u;
	uint64_t x = dtx_le_u64(p);
	uint8_t byte[8];

	if (width <= 8) {
		x = (x & low4) | (x >> 4 * width & low4) << 32;
		x = (x & low2) | (x << (16 - 2 * width) & low2 << 16);
		x = (x & low1) | (x << (8 - width) & low1 << 8);
		memcpy(byte, &x, sizeof(byte)); /* the machine is little-endian, as frames are */
		for (unsigned i = 0; i < 8; i++)
			out[i] = byte[i];
		return;
	}
#pragma GCC unroll 8
	for (unsigned i = 0; i < 8; i++)
		out[i] = (uint32_t)(dtx_le_u64(p + (i * width >> 3)) >> (i * width & 7) & mask);
}

/* Unpacks values, eight at a time, as long as there are 8 bytes after them. Returns how many. */
static size_t unpack_many(const uint8_t *p, const uint8_t *end, unsigned width, uint32_t *out,
                          size_t n)
{
	size_t bytes = (size_t)(end - p);
	size_t most = bytes < 8 || !width ? 0 : (bytes - 8) / width * 8, i;

	n = DTX_MIN(n, most) & ~(size_t)7;
#define WIDTH(w)                                                                                   \
	case w:                                                                                    \
		for (i = 0; i < n; i += 8, p += (w))                                               \
			unpack_8(p, out + i, w);                                                   \
		break;
#define WIDTHS_4(w) WIDTH(w) WIDTH((w) + 1) WIDTH((w) + 2) WIDTH((w) + 3)
	switch (width) {
		WIDTHS_4(1)
		WIDTHS_4(5)
		WIDTHS_4(9)
		WIDTHS_4(13)
		WIDTHS_4(17)
	default: return 0; /* wider ones are rare */
	}
#undef WIDTHS_4
#undef WIDTH
	return n;
}

/* The next n values of packed ones: up to 32 bits at any place are in 8 bytes. Those may be bytes
 * after the run, whose end is therefore not a slow one: many writers' runs have only 504 values. */
static void unpack_bits(struct dtx_pq_runs *r, uint32_t *out, size_t n)
{
	const uint8_t *p = r->bit, *end = r->end;
	const unsigned width = r->width;
	uint64_t mask = ((uint64_t)1 << width) - 1, at = r->at;
	uint64_t len = (uint64_t)(end - p), last = len < 8 ? 0 : (len - 8) * 8 + 7;
	size_t i = 0, k;

	for (; i < n && at & 7; i++, at += width) /* up to the next byte */
		out[i] = (uint32_t)bits_at(p, end, at, width);
	k = unpack_many(p + (at >> 3), end, width, out + i, n - i);
	i += k;
	at += (uint64_t)k * width;
	for (; i < n && len >= 8 && at <= last; i++, at += width)
		out[i] = (uint32_t)(dtx_le_u64(p + (at >> 3)) >> (at & 7) & mask);
	for (; i < n; i++, at += width)
		out[i] = (uint32_t)bits_at(p, end, at, width);
	r->at = at;
}

size_t dtx_pq_runs_pass(struct dtx_pq_runs *r, uint32_t value, size_t n)
{
	if (r->high_first)
		return 0;
	if (!r->left && !next_run(r)) { /* dtx_pq_runs_get will report it */
		r->left = 0;
		r->p = r->end;
		return 0;
	}
	if (r->packed || r->value != value || r->left < DTX_MIN(n, (size_t)SHORT_RUN))
		return 0;
	n = r->left < n ? (size_t)r->left : n;
	r->left -= n;
	return n;
}

bool dtx_pq_runs_get(struct dtx_pq_runs *r, uint32_t *out, size_t n)
{
	size_t k, i;

	if (r->high_first)
		return old_levels(r, out, n);
	while (n) {
		if (!r->left) {
			if (!next_run(r))
				return false;
			continue;
		}
		k = r->left < n ? (size_t)r->left : n;
		if (r->packed) {
			unpack_bits(r, out, k);
		} else {
			for (i = 0; i < k; i++)
				out[i] = r->value;
		}
		r->left -= k;
		out += k;
		n -= k;
	}
	return true;
}

/* --- deltas --- */

static bool delta_open(struct dtx_pq_delta *d, const uint8_t *p, const uint8_t *end)
{
	uint64_t small, first;

	*d = (struct dtx_pq_delta){ .p = p, .end = end, .first = true };
	if (!varint(&d->p, end, &d->block) || !varint(&d->p, end, &small) ||
	    !varint(&d->p, end, &d->left) || !varint(&d->p, end, &first))
		return false;
	if (!d->block || d->block > BLOCK_MAX || !small || d->block % small || d->block / small % 8)
		return false;
	d->last = first >> 1 ^ (~(first & 1) + 1);
	d->nsmall = d->small = small;
	d->per = d->block / small;
	return true;
}

/* Begins the next small block, and before the first of a block reads the block's head. */
static bool delta_next_small(struct dtx_pq_delta *d)
{
	uint64_t least, bytes;

	if (d->small == d->nsmall) {
		if (!varint(&d->p, d->end, &least) || d->nsmall > (uint64_t)(d->end - d->p))
			return false;
		d->least = least >> 1 ^ (~(least & 1) + 1);
		d->widths = d->p;
		d->p += d->nsmall;
		d->small = 0;
	}
	d->width = d->widths[d->small++];
	bytes = d->per / 8 * d->width;
	if (d->width > 64 || bytes > (uint64_t)(d->end - d->p))
		return false;
	d->bit = d->p;
	d->at = 0;
	d->p += bytes;
	d->in_small = d->per;
	return true;
}

/* The next value; arithmetic wraps, as the format says. */
static bool delta_get(struct dtx_pq_delta *d, uint64_t *out)
{
	if (!d->left)
		return false;
	d->left--;
	if (d->first) {
		d->first = false;
	} else {
		if (!d->in_small && !delta_next_small(d))
			return false;
		d->in_small--;
		d->last += d->least;
		if (d->width)
			d->last += bits_at(d->bit, d->p, d->at, d->width);
		d->at += d->width;
	}
	*out = d->last;
	return true;
}

/* Where the bytes after the deltas begin: goes through the small blocks, not through their values,
 * of which a few bytes can stand for billions. */
static const uint8_t *delta_after(struct dtx_pq_delta d)
{
	uint64_t left = d.left - (d.left > 0); /* the first is in the head */

	for (; left; left -= DTX_MIN(left, d.per))
		if (!delta_next_small(&d))
			return NULL;
	return d.p;
}

/* --- start --- */

static const char *start_dictionary(struct dtx_pq_decoder *d)
{
	if (!d->dict)
		return "its values are in a dictionary, which the column does not have";
	if (d->p == d->end)
		return NULL; /* a page without values */
	d->runs = (struct dtx_pq_runs){ .p = d->p + 1, .end = d->end, .width = *d->p };
	return *d->p > 32 ? "its codes have more than 32 bits" : NULL;
}

static const char *start_booleans(struct dtx_pq_decoder *d)
{
	uint32_t n;

	if (d->end == d->p)
		return NULL;
	if (d->end - d->p < 4)
		return ends_early;
	n = dtx_le_u32(d->p);
	if (n > (size_t)(d->end - d->p) - 4)
		return ends_early;
	d->runs = (struct dtx_pq_runs){ .p = d->p + 4, .end = d->p + 4 + n, .width = 1 };
	return NULL;
}

static const char *start_delta(struct dtx_pq_decoder *d)
{
	if (d->p == d->end)
		return NULL;
	if (!delta_open(&d->delta, d->p, d->end) || d->delta.left > d->most)
		return "its distances have no valid head";
	if (d->encoding == DELTA_BINARY)
		return NULL;
	d->p = delta_after(d->delta);
	if (!d->p)
		return ends_early;
	if (d->encoding == DELTA_LENGTH)
		return NULL;
	if (!delta_open(&d->lengths, d->p, d->end) || d->lengths.left > d->most)
		return "its lengths have no valid head";
	d->p = delta_after(d->lengths);
	return d->p ? NULL : ends_early;
}

static unsigned size_of(const struct dtx_pq_decoder *d)
{
	static const unsigned sizes[] = { 0, 4, 8, 12, 4, 8, 0, 0 };

	return d->type == DTX_PQ_FIXED ? d->width : sizes[d->type];
}

static const char *start_split(struct dtx_pq_decoder *d)
{
	size_t len = (size_t)(d->end - d->p);
	unsigned size = size_of(d);

	d->n = 0;
	d->stride = size ? len / size : 0;
	return size && len % size ? "its bytes are not a whole number of values" : NULL;
}

/* Whether values of a type can be in an encoding. */
static bool encodes(unsigned encoding, enum dtx_pq_type type)
{
	bool whole = type == DTX_PQ_INT32 || type == DTX_PQ_INT64;

	switch (encoding) {
	case PLAIN: return true;
	case PLAIN_DICTIONARY:
	case RLE_DICTIONARY: return type != DTX_PQ_BOOLEAN;
	case RLE: return type == DTX_PQ_BOOLEAN;
	case DELTA_BINARY: return whole;
	case DELTA_LENGTH: return type == DTX_PQ_BYTES;
	case DELTA_BYTES: return type == DTX_PQ_BYTES || type == DTX_PQ_FIXED;
	case SPLIT:
		return whole || type == DTX_PQ_FLOAT || type == DTX_PQ_DOUBLE ||
		       type == DTX_PQ_FIXED;
	default: return false;
	}
}

const char *dtx_pq_decoder_start(struct dtx_pq_decoder *d, unsigned encoding, const uint8_t *p,
                                 const uint8_t *end, uint64_t most)
{
	if (!encodes(encoding, d->type))
		return "its values are in an encoding that their type does not have";
	d->encoding = encoding;
	d->p = p;
	d->end = end;
	d->most = most;
	d->bit = 0;
	d->runs = (struct dtx_pq_runs){ 0 };
	d->delta = d->lengths = (struct dtx_pq_delta){ 0 };
	dtx_buf_reset(&d->last);
	d->made.max = d->last.max = MADE_MAX;
	switch (encoding) {
	case PLAIN_DICTIONARY:
	case RLE_DICTIONARY: return start_dictionary(d);
	case RLE: return start_booleans(d);
	case DELTA_BINARY:
	case DELTA_LENGTH:
	case DELTA_BYTES: return start_delta(d);
	case SPLIT: return start_split(d);
	default: return NULL;
	}
}

void dtx_pq_decoder_clear(struct dtx_pq_decoder *d)
{
	dtx_buf_clear(&d->made);
	dtx_buf_clear(&d->last);
}

/* --- values --- */

static double float_of(const uint8_t *p)
{
	uint32_t bits = dtx_le_u32(p);
	float v;

	memcpy(&v, &bits, sizeof(v));
	return (double)v;
}

/* Stores the value at p, whose type has a fixed size. */
static inline void store(const struct dtx_pq_decoder *d, union dtx_pq_values out, size_t i,
                         const uint8_t *p)
{
	switch (d->type) {
	case DTX_PQ_INT32: out.i[i] = (int32_t)dtx_le_u32(p); break;
	case DTX_PQ_INT64: out.i[i] = (int64_t)dtx_le_u64(p); break;
	case DTX_PQ_FLOAT: out.f[i] = float_of(p); break;
	case DTX_PQ_DOUBLE: out.f[i] = dtx_le_f64(p); break;
	default: out.s[i] = (struct dtx_str){ (const char *)p, size_of(d) };
	}
}

/* Stores n values, one after the other. The loops are here, so that the compiler can make them
 * wide. */
static void store_all(const struct dtx_pq_decoder *d, union dtx_pq_values out, const uint8_t *p,
                      size_t n)
{
	size_t i;

	switch (d->type) {
	case DTX_PQ_INT32:
		for (i = 0; i < n; i++)
			out.i[i] = (int32_t)dtx_le_u32(p + 4 * i);
		break;
	case DTX_PQ_INT64:
		for (i = 0; i < n; i++)
			out.i[i] = (int64_t)dtx_le_u64(p + 8 * i);
		break;
	case DTX_PQ_DOUBLE:
		for (i = 0; i < n; i++)
			out.f[i] = dtx_le_f64(p + 8 * i);
		break;
	default:
		for (i = 0; i < n; i++)
			store(d, out, i, p + i * size_of(d));
	}
}

static const char *plain_texts(struct dtx_pq_decoder *d, struct dtx_str *out, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		size_t left = (size_t)(d->end - d->p);
		uint32_t len = left < 4 ? 0 : dtx_le_u32(d->p);

		if (left < 4 || len > left - 4)
			return ends_early;
		out[i] = (struct dtx_str){ (const char *)d->p + 4, len };
		d->p += 4 + (size_t)len;
	}
	return NULL;
}

static const char *plain(struct dtx_pq_decoder *d, union dtx_pq_values out, size_t n)
{
	size_t size = size_of(d), i;

	if (d->type == DTX_PQ_BYTES)
		return plain_texts(d, out.s, n);
	if (d->type == DTX_PQ_BOOLEAN) {
		for (i = 0; i < n; i++, d->bit++) {
			if (d->bit >> 3 >= (uint64_t)(d->end - d->p))
				return ends_early;
			out.i[i] = d->p[d->bit >> 3] >> (d->bit & 7) & 1;
		}
		return NULL;
	}
	if (n > (size_t)(d->end - d->p) / size)
		return ends_early;
	store_all(d, out, d->p, n);
	d->p += n * size;
	return NULL;
}

static const char *booleans(struct dtx_pq_decoder *d, int64_t *out, size_t n)
{
	uint32_t v;
	size_t i;

	for (i = 0; i < n; i++) {
		if (!dtx_pq_runs_get(&d->runs, &v, 1))
			return ends_early;
		out[i] = v;
	}
	return NULL;
}

const char *dtx_pq_decode_codes(struct dtx_pq_decoder *d, uint32_t *out, size_t n)
{
	const uint32_t known = d->dict->n; /* here, so that stores to `out` cannot change it */
	uint32_t beyond = 0;
	size_t i;

	if (!dtx_pq_runs_get(&d->runs, out, n))
		return ends_early;
	for (i = 0; i < n; i++)
		beyond |= out[i] >= known;
	return beyond ? "a code is beyond its dictionary" : NULL;
}

static const char *coded(struct dtx_pq_decoder *d, union dtx_pq_values out, size_t n)
{
	const union dtx_pq_values from = d->dict->v;
	const enum dtx_pq_type type = d->type;
	uint32_t code[1024];
	const char *bad;
	size_t done, k, i;

	for (done = 0; done < n; done += k) {
		k = DTX_MIN(n - done, DTX_COUNT(code));
		bad = dtx_pq_decode_codes(d, code, k);
		if (bad)
			return bad;
		if (type == DTX_PQ_INT32 || type == DTX_PQ_INT64) {
			for (i = 0; i < k; i++)
				out.i[done + i] = from.i[code[i]];
		} else if (type == DTX_PQ_FLOAT || type == DTX_PQ_DOUBLE) {
			for (i = 0; i < k; i++)
				out.f[done + i] = from.f[code[i]];
		} else {
			for (i = 0; i < k; i++)
				out.s[done + i] = from.s[code[i]];
		}
	}
	return NULL;
}

static const char *deltas(struct dtx_pq_decoder *d, int64_t *out, size_t n)
{
	uint64_t v;
	size_t i;

	for (i = 0; i < n; i++) {
		if (!delta_get(&d->delta, &v))
			return ends_early;
		out[i] = d->type == DTX_PQ_INT32 ? (int32_t)(uint32_t)v : (int64_t)v;
	}
	return NULL;
}

/* The next n bytes of the page. */
static const char *take(struct dtx_pq_decoder *d, uint64_t n, struct dtx_str *out)
{
	if (n > (uint64_t)(d->end - d->p))
		return ends_early;
	*out = (struct dtx_str){ (const char *)d->p, (size_t)n };
	d->p += n;
	return NULL;
}

static const char *by_length(struct dtx_pq_decoder *d, struct dtx_str *out, size_t n)
{
	const char *bad = NULL;
	uint64_t len;
	size_t i;

	for (i = 0; i < n && !bad; i++)
		bad = delta_get(&d->delta, &len) ? take(d, len, &out[i]) : ends_early;
	return bad;
}

/* Values of which each has only what follows the beginning that it shares with the last one. */
static const char *by_prefix(struct dtx_pq_decoder *d, struct dtx_str *out, size_t n)
{
	const char *bad = NULL;
	uint64_t shared, len;
	struct dtx_str rest;
	size_t i, at = 0;

	dtx_buf_reset(&d->made);
	for (i = 0; i < n; i++) {
		if (!delta_get(&d->delta, &shared) || !delta_get(&d->lengths, &len))
			return ends_early;
		bad = take(d, len, &rest);
		if (!bad && shared > d->last.len)
			bad = "a value shares more than the value before it has";
		if (!bad && rest.len > d->text - DTX_MIN(shared, d->text))
			bad = dtx_pq_too_long;
		if (bad)
			return bad;
		d->last.len = (size_t)shared;
		dtx_buf_adds(&d->last, rest);
		dtx_buf_addn(&d->made, d->last.ptr, d->last.len);
		if (!dtx_buf_ok(&d->last) || !dtx_buf_ok(&d->made))
			return dtx_pq_no_memory;
		if (d->type == DTX_PQ_FIXED && d->last.len != d->width)
			return "a value has another length than its type";
		out[i] = (struct dtx_str){ NULL, d->last.len };
	}
	/* now that the bytes no longer move */
	for (i = 0; i < n; at += out[i++].len)
		out[i].ptr = d->made.ptr ? d->made.ptr + at : "";
	return NULL;
}

/* Values whose first bytes come first, then their second ones, and so on. */
static const char *split(struct dtx_pq_decoder *d, union dtx_pq_values out, size_t n)
{
	unsigned size = size_of(d), k;
	uint8_t *to;
	size_t i;

	if (n > d->stride - d->n)
		return ends_early;
	dtx_buf_reset(&d->made);
	if (!dtx_buf_room(&d->made, n * size))
		return dtx_pq_no_memory;
	to = (uint8_t *)d->made.ptr;
	for (i = 0; i < n; i++, d->n++, to += size) {
		for (k = 0; k < size; k++)
			to[k] = d->p[k * d->stride + d->n];
		store(d, out, i, to);
	}
	return NULL;
}

bool dtx_pq_decoder_coded(const struct dtx_pq_decoder *d)
{
	return d->encoding == PLAIN_DICTIONARY || d->encoding == RLE_DICTIONARY;
}

uint32_t dtx_pq_decoder_most(const struct dtx_pq_decoder *d)
{
	return d->encoding == DELTA_BYTES ? MADE_VALUES : DTX_PQ_SLICE;
}

const char *dtx_pq_decode(struct dtx_pq_decoder *d, union dtx_pq_values out, size_t n)
{
	if (!n)
		return NULL;
	switch (d->encoding) {
	case PLAIN: return plain(d, out, n);
	case RLE: return booleans(d, out.i, n);
	case DELTA_BINARY: return deltas(d, out.i, n);
	case DELTA_LENGTH: return by_length(d, out.s, n);
	case DELTA_BYTES: return by_prefix(d, out.s, n);
	case SPLIT: return split(d, out, n);
	default: return coded(d, out, n);
	}
}
