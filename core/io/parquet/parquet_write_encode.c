/* Encodings of values and levels, see Encodings.md of apache/parquet-format. */
#include "core/io/parquet/parquet_write.h"

enum {
	GROUP = 8,              /* values that are packed together */
	RUN_MIN = 8,            /* equal values that are worth a run */
	BLOCK = 128,            /* distances in a block of DELTA_BINARY_PACKED, */
	SMALL = 32,             /* in each of its small blocks, */
	SMALLS = BLOCK / SMALL, /* and how many of these it has */
	SLACK = 8               /* bytes that packing may write after the last one */
};

unsigned dtx_pqw_width(uint64_t most)
{
	return most ? 64 - (unsigned)__builtin_clzll(most) : 0;
}

/* --- packed bits, from the lowest --- */

struct bits {
	char *to;
	uint64_t word;
	unsigned used; /* bits of `word`, below 64 */
};

static inline void bits_add(struct bits *b, uint64_t v, unsigned width)
{
	b->word |= v << b->used;
	b->used += width;
	if (b->used < 64)
		return;
	memcpy(b->to, &b->word, 8);
	b->to += 8;
	b->used -= 64;
	b->word = b->used ? v >> (width - b->used) : 0;
}

/* Appends n values as `size` bytes, the rest of which are zero. */
static void pack(struct dtx_buf *to, const uint32_t *v, size_t n, unsigned width, size_t size)
{
	struct bits b = { 0 };

	if (!dtx_buf_room(to, size + SLACK))
		return;
	b.to = to->ptr + to->len;
	for (size_t i = 0; i < n; i++)
		bits_add(&b, v[i], width);
	memcpy(b.to, &b.word, 8);
	b.to += (b.used + 7) / 8;
	to->len += size;
	if (b.to < to->ptr + to->len)
		memset(b.to, 0, (size_t)(to->ptr + to->len - b.to));
}

void dtx_pqw_bits(struct dtx_buf *to, const uint8_t *v, size_t n)
{
	struct bits b = { 0 };

	if (!dtx_buf_room(to, n / 8 + 1 + SLACK))
		return;
	b.to = to->ptr + to->len;
	for (size_t i = 0; i < n; i++)
		bits_add(&b, v[i], 1);
	memcpy(b.to, &b.word, 8);
	to->len += (n + 7) / 8;
}

/* --- runs --- */

static void put_packed(struct dtx_buf *to, const uint32_t *v, size_t n, unsigned width)
{
	size_t groups = (n + GROUP - 1) / GROUP;

	if (!n)
		return;
	dtx_varint_put(to, (uint64_t)groups << 1 | 1);
	pack(to, v, n, width, groups * width);
}

static void put_run(struct dtx_buf *to, uint32_t v, size_t n, unsigned width)
{
	dtx_varint_put(to, (uint64_t)n << 1);
	for (unsigned i = 0; i < (width + 7) / 8; i++)
		dtx_buf_addc(to, (char)(v >> 8 * i & 0xff));
}

/* Values that are packed come in groups; only the last ones of a page may be fewer. So the first
 * values of a run fill the group before it. */
void dtx_pqw_runs(struct dtx_buf *to, const uint32_t *v, size_t n, unsigned width)
{
	size_t from = 0, i = 0, run, fill;

	while (i < n) {
		for (run = 1; i + run < n && v[i + run] == v[i];)
			run++;
		fill = (GROUP - (i - from) % GROUP) % GROUP;
		if (run >= fill + RUN_MIN) {
			put_packed(to, v + from, i + fill - from, width);
			put_run(to, v[i], run - fill, width);
			from = i + run;
		}
		i += run;
	}
	put_packed(to, v + from, n - from, width);
}

/* --- distances --- */

/* A block of distances, as integers of 4 or 8 bytes that wrap around. */
struct block {
	uint64_t step[BLOCK];
	unsigned n;
	uint64_t least;
	uint8_t width[SMALLS];
};

static inline uint64_t load(const char *v, size_t i, uint32_t width)
{
	uint64_t a;
	uint32_t b;

	if (width == 4) {
		memcpy(&b, v + 4 * i, 4);
		return (uint64_t)(int64_t)(int32_t)b;
	}
	memcpy(&a, v + 8 * i, 8);
	return a;
}

/* Makes the block of the distances from value i - 1 on, at most those to value n - 1. */
static inline void block_fill(struct block *b, const char *v, size_t i, size_t n, uint32_t width)
{
	uint64_t last = load(v, i - 1, width), all, mask = width == 4 ? UINT32_MAX : UINT64_MAX;
	int64_t least = INT64_MAX;
	unsigned k, j;

	b->n = (unsigned)DTX_MIN(n - i, (size_t)BLOCK);
	for (k = 0; k < b->n; k++) {
		uint64_t next = load(v, i + k, width), step = next - last;

		step = width == 4 ? (uint64_t)(int64_t)(int32_t)step : step;
		b->step[k] = step;
		least = DTX_MIN(least, (int64_t)step);
		last = next;
	}
	b->least = (uint64_t)least;
	for (j = 0; j < SMALLS; j++) {
		for (all = 0, k = j * SMALL; k < DTX_MIN(b->n, (j + 1) * SMALL); k++) {
			b->step[k] = (b->step[k] - b->least) & mask;
			all |= b->step[k];
		}
		b->width[j] = (uint8_t)dtx_pqw_width(all);
	}
}

static inline void block_put(struct dtx_buf *to, const struct block *b)
{
	dtx_zigzag_put(to, (int64_t)b->least);
	dtx_buf_addn(to, b->width, SMALLS);
	for (unsigned j = 0; j * SMALL < b->n; j++) {
		struct bits bits = { 0 };
		size_t size = (size_t)b->width[j] * SMALL / 8;

		if (!dtx_buf_room(to, size + SLACK))
			return;
		bits.to = to->ptr + to->len;
		for (unsigned k = j * SMALL; k < (j + 1) * SMALL; k++)
			bits_add(&bits, k < b->n ? b->step[k] : 0, b->width[j]);
		memcpy(bits.to, &bits.word, 8);
		to->len += size;
	}
}

void dtx_pqw_delta(struct dtx_buf *to, const char *v, size_t n, uint32_t width)
{
	struct block b;

	dtx_varint_put(to, BLOCK);
	dtx_varint_put(to, SMALLS);
	dtx_varint_put(to, n);
	dtx_zigzag_put(to, n ? (int64_t)load(v, 0, width) : 0);
	for (size_t i = 1; i < n; i += BLOCK) {
		if (width == 4)
			block_fill(&b, v, i, n, 4);
		else
			block_fill(&b, v, i, n, 8);
		block_put(to, &b);
	}
}

uint64_t dtx_pqw_delta_size(const char *v, size_t n, uint32_t width)
{
	struct block b;
	uint64_t size = 0;

	for (size_t i = 1; i < n; i += BLOCK) {
		if (width == 4)
			block_fill(&b, v, i, n, 4);
		else
			block_fill(&b, v, i, n, 8);
		size += SMALLS + 2;
		for (unsigned j = 0; j * SMALL < b.n; j++)
			size += (uint64_t)b.width[j] * SMALL / 8;
	}
	return size;
}
