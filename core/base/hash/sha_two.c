/* Two SHA-256 at once, with the SHA instructions of x86: see sha_two.h. */
#include "core/base/hash/sha_two.h"

#include "core/base/hash/sha_words.h"

#if defined(__x86_64__)

#include <immintrin.h>

/* One message: the state in the order that sha256rnds2 expects (ABEF and CDGH), and the last 16
 * words of the message schedule. */
struct lane {
	__m128i abef, cdgh, w[4];
};

static inline __m128i sha_load(const void *p)
{
	return _mm_loadu_si128((const __m128i *)p);
}

static inline void sha_open(struct lane *l, const uint32_t h[8])
{
	__m128i badc = _mm_shuffle_epi32(sha_load(h), 0xb1);
	__m128i hgfe = _mm_shuffle_epi32(sha_load(h + 4), 0x1b);

	l->abef = _mm_alignr_epi8(badc, hgfe, 8);
	l->cdgh = _mm_blend_epi16(hgfe, badc, 0xf0);
}

static inline void sha_close(const struct lane *l, uint32_t h[8])
{
	__m128i feba = _mm_shuffle_epi32(l->abef, 0x1b);
	__m128i dchg = _mm_shuffle_epi32(l->cdgh, 0xb1);

	_mm_storeu_si128((__m128i *)(void *)h, _mm_blend_epi16(feba, dchg, 0xf0));
	_mm_storeu_si128((__m128i *)(void *)(h + 4), _mm_alignr_epi8(dchg, feba, 8));
}

static inline void sha_words(struct lane *l, const char *p)
{
	const __m128i big_endian = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);

	for (int i = 0; i < 4; i++)
		l->w[i] = _mm_shuffle_epi8(sha_load(p + 16 * i), big_endian);
}

/* Rounds 4 i to 4 i + 3, and the words that the schedule needs four groups of rounds later. */
static inline void sha_rounds(struct lane *l, int i)
{
	__m128i w = l->w[i & 3], last = l->w[(i + 3) & 3], next;
	__m128i x = _mm_add_epi32(w, _mm_load_si128((const __m128i *)(const void *)dtx_sha_k + i));

	l->cdgh = _mm_sha256rnds2_epu32(l->cdgh, l->abef, x);
	l->abef = _mm_sha256rnds2_epu32(l->abef, l->cdgh, _mm_shuffle_epi32(x, 0x0e));
	if (i >= 12)
		return;
	next = _mm_sha256msg1_epu32(w, l->w[(i + 1) & 3]);
	next = _mm_add_epi32(next, _mm_alignr_epi8(last, l->w[(i + 2) & 3], 4));
	l->w[i & 3] = _mm_sha256msg2_epu32(next, last);
}

static inline void sha_sum(struct lane *l, const struct lane *before)
{
	l->abef = _mm_add_epi32(l->abef, before->abef);
	l->cdgh = _mm_add_epi32(l->cdgh, before->cdgh);
}

#define ROUNDS(i)  sha_rounds(&a, (i)), sha_rounds(&b, (i))
#define ROUNDS4(i) ROUNDS(i), ROUNDS((i) + 1), ROUNDS((i) + 2), ROUNDS((i) + 3)

void dtx_sha_two(uint32_t ha[8], const void *x, uint32_t hb[8], const void *y, size_t blocks)
{
	const char *p = x, *q = y;
	struct lane a, b;

	sha_open(&a, ha);
	sha_open(&b, hb);
	for (; blocks; blocks--, p += 64, q += 64) {
		const struct lane a0 = a, b0 = b;

		sha_words(&a, p);
		sha_words(&b, q);
		ROUNDS4(0), ROUNDS4(4), ROUNDS4(8), ROUNDS4(12);
		sha_sum(&a, &a0);
		sha_sum(&b, &b0);
	}
	sha_close(&a, ha);
	sha_close(&b, hb);
}

#else

void dtx_sha_two(uint32_t a[8], const void *x, uint32_t b[8], const void *y, size_t blocks)
{
	(void)a, (void)x, (void)b, (void)y, (void)blocks;
}

#endif
