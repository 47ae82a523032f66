/* The scanner for x86-64 with AVX2, BMI2 and carry-less multiplication. */
#include "core/io/csv/scan/scan.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define SCAN_FNS  dtx_scan_avx2
#define SCAN_NAME "avx2"

struct scan_block {
	__m256i low, high;
};

static inline struct scan_block scan_load(const char *p)
{
	return (struct scan_block){ _mm256_loadu_si256((const __m256i *)(const void *)p),
		                    _mm256_loadu_si256((const __m256i *)(const void *)(p + 32)) };
}

static inline uint64_t scan_high(struct scan_block b)
{
	return (uint64_t)(uint32_t)_mm256_movemask_epi8(b.low) |
	       (uint64_t)(uint32_t)_mm256_movemask_epi8(b.high) << 32;
}

static inline uint64_t scan_eq(struct scan_block b, char c)
{
	__m256i same = _mm256_set1_epi8(c);

	return scan_high((struct scan_block){ _mm256_cmpeq_epi8(b.low, same),
	                                      _mm256_cmpeq_epi8(b.high, same) });
}

static inline uint64_t scan_prefix_xor(uint64_t m)
{
	__m128i all = _mm_clmulepi64_si128(_mm_cvtsi64_si128((long long)m), _mm_set1_epi8(-1), 0);

	return (uint64_t)_mm_cvtsi128_si64(all);
}

/* For each byte the numbers of its bits, the lowest first, one in each byte. BITS_i makes those of
 * all values of bits i to 0 after `v`, the numbers of the higher ones. */
#define BITS_0(v) (v), (v) << 8
#define BITS_1(v) BITS_0(v), BITS_0((v) << 8 | 1)
#define BITS_2(v) BITS_1(v), BITS_1((v) << 8 | 2)
#define BITS_3(v) BITS_2(v), BITS_2((v) << 8 | 3)
#define BITS_4(v) BITS_3(v), BITS_3((v) << 8 | 4)
#define BITS_5(v) BITS_4(v), BITS_4((v) << 8 | 5)
#define BITS_6(v) BITS_5(v), BITS_5((v) << 8 | 6)
#define BITS_7(v) BITS_6(v), BITS_6((v) << 8 | 7)
static const uint64_t bits_of[256] = { BITS_7((uint64_t)0) };

/* Writes eight items, of which those of bits in `part` count. Returns the place of the next one. */
static inline uint32_t *scan_emit_byte(uint32_t *to, uint32_t base, uint8_t part)
{
	__m128i found = _mm_loadl_epi64((const __m128i *)(const void *)&bits_of[part]);
	__m256i at = _mm256_add_epi32(_mm256_cvtepu8_epi32(found), _mm256_set1_epi32((int)base));

	_mm256_storeu_si256((__m256i *)(void *)to, at);
	return to + __builtin_popcount(part);
}

/* Without a branch that depends on the data, and unrolled, which gcc does not do at -O2: a CSV of
 * 9 columns is indexed in 0.13 ms a MiB; bit by bit in a loop it takes 0.29, unrolled 0.23. */
static inline void scan_emit(uint32_t *to, uint32_t base, uint64_t bits)
{
	to = scan_emit_byte(to, base, (uint8_t)bits);
	to = scan_emit_byte(to, base + 8, (uint8_t)(bits >> 8));
	to = scan_emit_byte(to, base + 16, (uint8_t)(bits >> 16));
	to = scan_emit_byte(to, base + 24, (uint8_t)(bits >> 24));
	to = scan_emit_byte(to, base + 32, (uint8_t)(bits >> 32));
	to = scan_emit_byte(to, base + 40, (uint8_t)(bits >> 40));
	to = scan_emit_byte(to, base + 48, (uint8_t)(bits >> 48));
	(void)scan_emit_byte(to, base + 56, (uint8_t)(bits >> 56));
}

#include "core/io/csv/scan/scan_kernel.h"
#else
typedef int scan_avx2_unused; /* ISO C requires a declaration in every file */
#endif
