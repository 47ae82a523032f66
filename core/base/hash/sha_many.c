/* Sixteen SHA-256 at once: word i of all messages is in one register of 16 lanes. */
#include "core/base/hash/sha_many.h"

#include "core/base/hash/sha_words.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define BLOCK 64u
/* Prefetch distance in bytes: sixteen streams are too many for the hardware prefetcher. */
#define AHEAD 128u

typedef __m512i words; /* one 32-bit word of each of the sixteen messages */

static inline words many_xor(words a, words b, words c)
{
	return _mm512_ternarylogic_epi32(a, b, c, 0x96);
}

#define ROTATED(x, i, k, l)                                                                        \
	many_xor(_mm512_ror_epi32(x, i), _mm512_ror_epi32(x, k), _mm512_ror_epi32(x, l))
#define SHIFTED(x, i, k, l)                                                                        \
	many_xor(_mm512_ror_epi32(x, i), _mm512_ror_epi32(x, k), _mm512_srli_epi32(x, l))

static inline words many_add(words a, words b)
{
	return _mm512_add_epi32(a, b);
}

/* One round.  The caller rotates the eight letters by passing them in another order.  Each sum adds
 * its terms in the order in which they become available: the chain from one e to the next, and from
 * one a to the next, is then only three operations long. */
static inline void many_round(words a, words b, words c, words *d, words e, words f, words g,
                              words *h, words w, uint32_t k)
{
	words choose = _mm512_ternarylogic_epi32(e, f, g, 0xca);
	words most = _mm512_ternarylogic_epi32(a, b, c, 0xe8);
	words x = many_add(*h, many_add(w, _mm512_set1_epi32((int)k)));
	words sum = ROTATED(e, 6, 11, 25);

	*d = many_add(many_add(many_add(*d, x), choose), sum);
	*h = many_add(many_add(many_add(many_add(x, choose), sum), most), ROTATED(a, 2, 13, 22));
}

/* Computes word i of the next sixteen words of the message schedule, in place of the word sixteen
 * before. */
static inline void many_next(words w[16], int i)
{
	words far = many_add(w[i], w[(i + 9) & 15]);

	w[i] = many_add(many_add(far, SHIFTED(w[(i + 1) & 15], 7, 18, 3)),
	                SHIFTED(w[(i + 14) & 15], 17, 19, 10));
}

#define ROUND(i, a, b, c, d, e, f, g, h)                                                           \
	many_round(s[a], s[b], s[c], &s[d], s[e], s[f], s[g], &s[h], w[i], k[i])
#define NEXT(i) many_next(w, i)
#define EIGHT(prepare, i)                                                                          \
	prepare((i) + 0), ROUND((i) + 0, 0, 1, 2, 3, 4, 5, 6, 7);                                  \
	prepare((i) + 1), ROUND((i) + 1, 7, 0, 1, 2, 3, 4, 5, 6);                                  \
	prepare((i) + 2), ROUND((i) + 2, 6, 7, 0, 1, 2, 3, 4, 5);                                  \
	prepare((i) + 3), ROUND((i) + 3, 5, 6, 7, 0, 1, 2, 3, 4);                                  \
	prepare((i) + 4), ROUND((i) + 4, 4, 5, 6, 7, 0, 1, 2, 3);                                  \
	prepare((i) + 5), ROUND((i) + 5, 3, 4, 5, 6, 7, 0, 1, 2);                                  \
	prepare((i) + 6), ROUND((i) + 6, 2, 3, 4, 5, 6, 7, 0, 1);                                  \
	prepare((i) + 7), ROUND((i) + 7, 1, 2, 3, 4, 5, 6, 7, 0)

static inline void many_block(words state[8], words w[16])
{
	const uint32_t *k = dtx_sha_k;
	words s[8];

	for (int i = 0; i < 8; i++)
		s[i] = state[i];
	EIGHT((void), 0);
	EIGHT((void), 8);
	for (k += 16; k < dtx_sha_k + 64; k += 16) {
		EIGHT(NEXT, 0);
		EIGHT(NEXT, 8);
	}
	for (int i = 0; i < 8; i++)
		state[i] = many_add(state[i], s[i]);
}

/* Transposes the 16 x 16 words of sixteen messages, in four steps: single words, pairs of words,
 * and quadruples twice. */
static inline void many_transpose(words r[16])
{
	words t[16];

	for (int i = 0; i < 16; i += 2) {
		t[i] = _mm512_unpacklo_epi32(r[i], r[i + 1]);
		t[i + 1] = _mm512_unpackhi_epi32(r[i], r[i + 1]);
	}
	for (int i = 0; i < 16; i += 4) {
		r[i] = _mm512_unpacklo_epi64(t[i], t[i + 2]);
		r[i + 1] = _mm512_unpackhi_epi64(t[i], t[i + 2]);
		r[i + 2] = _mm512_unpacklo_epi64(t[i + 1], t[i + 3]);
		r[i + 3] = _mm512_unpackhi_epi64(t[i + 1], t[i + 3]);
	}
	for (int i = 0; i < 4; i++) {
		t[i] = _mm512_shuffle_i32x4(r[i], r[i + 4], 0x88);
		t[i + 4] = _mm512_shuffle_i32x4(r[i], r[i + 4], 0xdd);
		t[i + 8] = _mm512_shuffle_i32x4(r[i + 8], r[i + 12], 0x88);
		t[i + 12] = _mm512_shuffle_i32x4(r[i + 8], r[i + 12], 0xdd);
	}
	for (int i = 0; i < 4; i++) {
		r[i] = _mm512_shuffle_i32x4(t[i], t[i + 8], 0x88);
		r[i + 8] = _mm512_shuffle_i32x4(t[i], t[i + 8], 0xdd);
		r[i + 4] = _mm512_shuffle_i32x4(t[i + 4], t[i + 12], 0x88);
		r[i + 12] = _mm512_shuffle_i32x4(t[i + 4], t[i + 12], 0xdd);
	}
}

static inline words many_big_endian(words x)
{
	const __m128i order = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);

	return _mm512_shuffle_epi8(x, _mm512_broadcast_i32x4(order));
}

static inline void many_load(words w[16], const char *at, size_t stride)
{
	for (size_t i = 0; i < 16; i++) {
		w[i] = many_big_endian(_mm512_loadu_si512(at + i * stride));
		_mm_prefetch(at + i * stride + AHEAD, _MM_HINT_T0);
	}
	many_transpose(w);
}

/* Writes the padding that FIPS 180-4, 5.1.1 adds to a message of whole blocks. */
static inline void many_end(words w[16], size_t len)
{
	for (int i = 0; i < 16; i++)
		w[i] = _mm512_setzero_si512();
	w[0] = _mm512_set1_epi32((int)0x80000000);
	w[14] = _mm512_set1_epi32((int)(uint32_t)((uint64_t)len >> 29));
	w[15] = _mm512_set1_epi32((int)(uint32_t)((uint64_t)len << 3));
}

void dtx_sha_many(const void *messages, size_t len, uint8_t out[DTX_SHA_MANY * 32])
{
	const char *p = messages;
	words state[16], w[16];

	for (int i = 0; i < 8; i++)
		state[i] = _mm512_set1_epi32((int)dtx_sha_first[i]);
	for (size_t at = 0; at <= len; at += BLOCK) {
		if (at < len)
			many_load(w, p + at, len);
		else
			many_end(w, len);
		many_block(state, w);
	}
	for (int i = 8; i < 16; i++)
		state[i] = _mm512_setzero_si512();
	many_transpose(state);
	for (int i = 0; i < 16; i++)
		_mm256_storeu_si256((__m256i *)(void *)(out + 32 * i),
		                    _mm512_castsi512_si256(many_big_endian(state[i])));
}

#else

void dtx_sha_many(const void *messages, size_t len, uint8_t out[DTX_SHA_MANY * 32])
{
	(void)messages, (void)len, (void)out;
}

#endif
