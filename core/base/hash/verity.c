/* Builds the hash tree from left to right: of each level it keeps only the last block, which is not
 * full yet. */
#include "core/base/hash/verity.h"

#include <string.h>

#include "core/base/cpu.h"
#include "core/base/hash/sha_many.h"
#include "core/base/hash/sha_two.h"
#include "core/base/hash/sha_words.h"

static void verity_be32(uint8_t out[4], uint32_t v)
{
	out[0] = (uint8_t)(v >> 24);
	out[1] = (uint8_t)(v >> 16);
	out[2] = (uint8_t)(v >> 8);
	out[3] = (uint8_t)v;
}

static void verity_sha256(const void *bytes, size_t len, uint8_t out[DTX_SHA256_SIZE])
{
	struct dtx_sha256 s;

	dtx_sha256_init(&s);
	dtx_sha256_add(&s, bytes, len);
	dtx_sha256_done(&s, out);
}

/* --- units --- */

/* SHA-256 of two blocks that follow each other; their two hashes follow each other too. */
static void verity_two(const uint8_t *blocks, uint8_t out[2 * DTX_SHA256_SIZE])
{
	/* the padding that FIPS 180-4, 5.1.1 adds to 4,096 bytes */
	static const uint8_t end[64] = { [0] = 0x80, [62] = 0x80 };
	uint32_t h[2][8];

	memcpy(h[0], dtx_sha_first, sizeof(h[0]));
	memcpy(h[1], dtx_sha_first, sizeof(h[1]));
	dtx_sha_two(h[0], blocks, h[1], blocks + DTX_VERITY_BLOCK, DTX_VERITY_BLOCK / sizeof(end));
	dtx_sha_two(h[0], end, h[1], end, 1);
	for (int i = 0; i < 16; i++)
		verity_be32(out + 4 * i, h[i / 8][i % 8]);
}

static void verity_blocks(const uint8_t *blocks, unsigned lanes, uint8_t *out)
{
	if (lanes == DTX_SHA_MANY)
		dtx_sha_many(blocks, DTX_VERITY_BLOCK, out);
	else if (lanes == 2)
		verity_two(blocks, out);
	else
		verity_sha256(blocks, DTX_VERITY_BLOCK, out);
}

unsigned dtx_verity_lanes(void)
{
	if (dtx_cpu_best() == DTX_CPU_AVX512)
		return DTX_SHA_MANY;
	return dtx_sha256_pairs() ? 2 : 1;
}

void dtx_verity_unit(const void *unit, unsigned lanes, uint8_t out[DTX_SHA256_SIZE])
{
	const uint8_t *at = unit;
	uint8_t hashes[DTX_VERITY_BLOCK];

	for (size_t i = 0; i < DTX_VERITY_FANOUT; i += lanes)
		verity_blocks(at + i * DTX_VERITY_BLOCK, lanes, hashes + i * DTX_SHA256_SIZE);
	verity_sha256(hashes, sizeof(hashes), out);
}

/* --- the tree --- */

void dtx_verity_init(struct dtx_verity *v)
{
	v->lanes = dtx_verity_lanes();
	v->size = 0;
	for (size_t i = 0; i < DTX_VERITY_LEVELS; i++) {
		v->level[i].passed = false;
		v->level[i].fill = 0;
	}
}

/* Adds a hash to a level.  A block that this fills is hashed, and its hash is added to the level
 * above. */
static void verity_push(struct dtx_verity *v, size_t level, const uint8_t hash[DTX_SHA256_SIZE])
{
	struct dtx_verity_level *l = &v->level[level];
	uint8_t up[DTX_SHA256_SIZE];

	memcpy(up, hash, sizeof(up));
	for (;; l++) {
		memcpy(l->block + l->fill, up, sizeof(up));
		l->fill += sizeof(up);
		if (l->fill < DTX_VERITY_BLOCK)
			return;
		verity_sha256(l->block, DTX_VERITY_BLOCK, up);
		l->fill = 0;
		l->passed = true;
	}
}

static void verity_leaf(struct dtx_verity *v, const uint8_t *block)
{
	uint8_t hash[DTX_SHA256_SIZE];

	verity_sha256(block, DTX_VERITY_BLOCK, hash);
	verity_push(v, 1, hash);
}

void dtx_verity_add_unit(struct dtx_verity *v, const uint8_t hash[DTX_SHA256_SIZE])
{
	v->size += DTX_VERITY_UNIT;
	v->level[1].passed = true;
	verity_push(v, 2, hash);
}

/* Whether all that was added so far is whole units, so that the next unit can be added by its
 * hash. */
static bool verity_even(const struct dtx_verity *v)
{
	return !v->level[0].fill && !v->level[1].fill;
}

/* Collects bytes of a block that is not complete.  Returns how many it took. */
static size_t verity_gather(struct dtx_verity *v, const uint8_t *bytes, size_t len)
{
	struct dtx_verity_level *l = &v->level[0];
	size_t n = DTX_MIN(len, DTX_VERITY_BLOCK - l->fill);

	memcpy(l->block + l->fill, bytes, n);
	l->fill += n;
	if (l->fill == DTX_VERITY_BLOCK) {
		verity_leaf(v, l->block);
		l->fill = 0;
	}
	v->size += n;
	return n;
}

void dtx_verity_add(struct dtx_verity *v, const void *bytes, size_t len)
{
	const uint8_t *at = bytes;
	uint8_t hash[DTX_SHA256_SIZE];

	for (size_t n; len; at += n, len -= n) {
		if (verity_even(v) && len >= DTX_VERITY_UNIT) {
			n = DTX_VERITY_UNIT;
			dtx_verity_unit(at, v->lanes, hash);
			dtx_verity_add_unit(v, hash);
		} else if (!v->level[0].fill && len >= DTX_VERITY_BLOCK) {
			n = DTX_VERITY_BLOCK;
			verity_leaf(v, at);
			v->size += n;
		} else {
			n = verity_gather(v, at, len);
		}
	}
}

/* Pads the last block of each level with zeros and hashes it, up to the level that has a single
 * hash: the root. */
static void verity_root(struct dtx_verity *v, uint8_t out[DTX_SHA256_SIZE])
{
	memset(out, 0, DTX_SHA256_SIZE);
	if (!v->size)
		return;
	for (struct dtx_verity_level *l = v->level;; l++) {
		bool hashes = l != v->level;

		if (hashes && !l->passed && l->fill == DTX_SHA256_SIZE) {
			memcpy(out, l->block, DTX_SHA256_SIZE);
			return;
		}
		if (!l->fill)
			continue;
		memset(l->block + l->fill, 0, DTX_VERITY_BLOCK - l->fill);
		verity_sha256(l->block, DTX_VERITY_BLOCK, out);
		verity_push(v, (size_t)(l - v->level) + 1, out);
	}
}

void dtx_verity_done(struct dtx_verity *v, uint8_t out[DTX_SHA256_SIZE])
{
	/* version 1, SHA-256, log2 of the block size, no salt; the size goes to byte 8 (little
	 * endian), the root to byte 16 */
	uint8_t descriptor[256] = { 1, 1, 12 };

	for (int i = 0; i < 8; i++)
		descriptor[8 + i] = (uint8_t)(v->size >> (8 * i));
	verity_root(v, descriptor + 16);
	verity_sha256(descriptor, sizeof(descriptor), out);
}
