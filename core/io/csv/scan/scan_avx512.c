/* The scanner for x86-64 with AVX-512 F, BW and VL. */
#include "core/io/csv/scan/scan.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define SCAN_FNS  dtx_scan_avx512
#define SCAN_NAME "avx512"

struct scan_block {
	__m512i all;
};

static inline struct scan_block scan_load(const char *p)
{
	return (struct scan_block){ _mm512_loadu_si512(p) };
}

static inline uint64_t scan_high(struct scan_block b)
{
	return _mm512_movepi8_mask(b.all);
}

static inline uint64_t scan_eq(struct scan_block b, char c)
{
	return _mm512_cmpeq_epi8_mask(b.all, _mm512_set1_epi8(c));
}

static inline uint64_t scan_prefix_xor(uint64_t m)
{
	__m128i all = _mm_clmulepi64_si128(_mm_cvtsi64_si128((long long)m), _mm_set1_epi8(-1), 0);

	return (uint64_t)_mm_cvtsi128_si64(all);
}

/* Each quarter packs the numbers of its lanes. The next one overwrites those that are too many. */
static inline void scan_emit(uint32_t *to, uint32_t base, uint64_t bits)
{
	const __m512i lanes =
		_mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
	int i;

	for (i = 0; i < 4; i++) {
		__mmask16 quarter = (__mmask16)(bits >> 16 * i);
		__m512i at = _mm512_add_epi32(lanes, _mm512_set1_epi32((int)base + 16 * i));

		_mm512_storeu_si512(to, _mm512_maskz_compress_epi32(quarter, at));
		to += __builtin_popcount(quarter);
	}
}

#include "core/io/csv/scan/scan_kernel.h"
#else
typedef int scan_avx512_unused; /* ISO C requires a declaration in every file */
#endif
