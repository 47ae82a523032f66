/* The scanner for any machine. The other variants must give the same results. */
#include "core/io/csv/scan/scan.h"

#include <string.h>

#define SCAN_FNS  dtx_scan_any
#define SCAN_NAME "any"

#define SCAN_ONES  0x0101010101010101u
#define SCAN_HIGHS 0x8080808080808080u

struct scan_block {
	uint64_t word[8];
};

static inline struct scan_block scan_load(const char *p)
{
	struct scan_block b;
	size_t i, k;

	for (i = 0; i < 8; i++) {
		b.word[i] = 0;
		for (k = 0; k < 8; k++)
			b.word[i] |= (uint64_t)(unsigned char)p[8 * i + k] << 8 * k;
	}
	return b;
}

/* Packs the top bits of eight bytes into eight bits. */
static inline uint64_t scan_pack(uint64_t highs)
{
	return (highs >> 7) * 0x0102040810204080u >> 56;
}

static inline uint64_t scan_eq(struct scan_block b, char c)
{
	uint64_t same = SCAN_ONES * (unsigned char)c, mask = 0;
	size_t i;

	for (i = 0; i < 8; i++) {
		uint64_t x = b.word[i] ^ same;
		uint64_t nonzero = ((x & ~SCAN_HIGHS) + ~SCAN_HIGHS) | x;

		mask |= scan_pack(~nonzero & SCAN_HIGHS) << 8 * i;
	}
	return mask;
}

static inline uint64_t scan_high(struct scan_block b)
{
	uint64_t mask = 0;
	size_t i;

	for (i = 0; i < 8; i++)
		mask |= scan_pack(b.word[i] & SCAN_HIGHS) << 8 * i;
	return mask;
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

static const struct dtx_scan_fns *const scan_variants[] = {
	[DTX_CPU_ANY] = &dtx_scan_any,
#if defined(__x86_64__)
	[DTX_CPU_SSE2] = &dtx_scan_sse2,
	[DTX_CPU_AVX2] = &dtx_scan_avx2,
	[DTX_CPU_AVX512] = &dtx_scan_avx512,
#elif defined(__aarch64__)
	[DTX_CPU_NEON] = &dtx_scan_neon,
#endif
};

const struct dtx_scan_fns *dtx_scan_pick(enum dtx_cpu cpu)
{
	if ((size_t)cpu >= DTX_COUNT(scan_variants) || !scan_variants[cpu])
		return &dtx_scan_any;
	return scan_variants[cpu];
}
