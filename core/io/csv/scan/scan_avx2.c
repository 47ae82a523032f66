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

/* Writes eight items at a time, without a branch for each. The next step overwrites those that are
 * too many. */
static inline void scan_emit(uint32_t *to, uint32_t base, uint64_t bits)
{
	int left, i;

	for (left = __builtin_popcountll(bits); left > 0; left -= 8, to += 8) {
		for (i = 0; i < 8; i++) {
			to[i] = base + (uint32_t)_tzcnt_u64(bits);
			bits = _blsr_u64(bits);
		}
	}
}

#include "core/io/csv/scan/scan_kernel.h"
#else
typedef int scan_avx2_unused; /* ISO C requires a declaration in every file */
#endif
