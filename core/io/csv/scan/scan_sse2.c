/* The scanner for every x86-64 machine. */
#include "core/io/csv/scan/scan.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define SCAN_FNS  dtx_scan_sse2
#define SCAN_NAME "sse2"

struct scan_block {
	__m128i part[4];
};

static inline struct scan_block scan_load(const char *p)
{
	struct scan_block b;
	int i;

	for (i = 0; i < 4; i++)
		b.part[i] = _mm_loadu_si128((const __m128i *)(const void *)(p + 16 * i));
	return b;
}

static inline uint64_t scan_high(struct scan_block b)
{
	uint64_t mask = 0;
	int i;

	for (i = 0; i < 4; i++)
		mask |= (uint64_t)(uint32_t)_mm_movemask_epi8(b.part[i]) << 16 * i;
	return mask;
}

static inline uint64_t scan_eq(struct scan_block b, char c)
{
	__m128i same = _mm_set1_epi8(c);
	int i;

	for (i = 0; i < 4; i++)
		b.part[i] = _mm_cmpeq_epi8(b.part[i], same);
	return scan_high(b);
}

static inline uint64_t scan_prefix_xor(uint64_t m)
{
	unsigned shift;

	for (shift = 1; shift < 64; shift *= 2)
		m ^= m << shift;
	return m;
}

static inline void scan_emit(uint32_t *to, uint32_t base, uint64_t bits)
{
	for (; bits; bits &= bits - 1)
		*to++ = base + (uint32_t)__builtin_ctzll(bits);
}

#include "core/io/csv/scan/scan_kernel.h"
#else
typedef int scan_sse2_unused; /* ISO C requires a declaration in every file */
#endif
