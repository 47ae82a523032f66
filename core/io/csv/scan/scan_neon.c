/* The scanner for arm64. */
#include "core/io/csv/scan/scan.h"

#if defined(__aarch64__)
#include <arm_neon.h>

#define SCAN_FNS  dtx_scan_neon
#define SCAN_NAME "neon"

struct scan_block {
	uint8x16_t part[4];
};

static inline struct scan_block scan_load(const char *p)
{
	const uint8_t *b = (const uint8_t *)p;

	return (struct scan_block){ { vld1q_u8(b), vld1q_u8(b + 16), vld1q_u8(b + 32),
		                      vld1q_u8(b + 48) } };
}

/* Turns lanes of all ones or zeros into bits: each lane keeps one bit, and three pairwise sums
 * collect them. */
static inline uint64_t scan_pack(uint8x16_t a, uint8x16_t b, uint8x16_t c, uint8x16_t d)
{
	const uint8x16_t bit = { 1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128 };
	uint8x16_t low = vpaddq_u8(vandq_u8(a, bit), vandq_u8(b, bit));
	uint8x16_t high = vpaddq_u8(vandq_u8(c, bit), vandq_u8(d, bit));
	uint8x16_t sum = vpaddq_u8(low, high);

	sum = vpaddq_u8(sum, sum);
	return vgetq_lane_u64(vreinterpretq_u64_u8(sum), 0);
}

static inline uint64_t scan_eq(struct scan_block b, char c)
{
	uint8x16_t same = vdupq_n_u8((uint8_t)c);

	return scan_pack(vceqq_u8(b.part[0], same), vceqq_u8(b.part[1], same),
	                 vceqq_u8(b.part[2], same), vceqq_u8(b.part[3], same));
}

static inline uint64_t scan_high(struct scan_block b)
{
	uint8x16_t top = vdupq_n_u8(0x7f);

	return scan_pack(vcgtq_u8(b.part[0], top), vcgtq_u8(b.part[1], top),
	                 vcgtq_u8(b.part[2], top), vcgtq_u8(b.part[3], top));
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
typedef int scan_neon_unused; /* ISO C requires a declaration in every file */
#endif
