/* Little-endian numbers at any address, also unaligned. */
#ifndef DTX_BASE_TEXT_LE_H
#define DTX_BASE_TEXT_LE_H

#include <string.h>

#include "core/base/base.h"

static inline uint16_t dtx_le_u16(const uint8_t *p)
{
	return (uint16_t)(p[0] | p[1] << 8);
}
static inline uint32_t dtx_le_u32(const uint8_t *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}
static inline uint64_t dtx_le_u64(const uint8_t *p)
{
	return dtx_le_u32(p) | (uint64_t)dtx_le_u32(p + 4) << 32;
}
static inline double dtx_le_f64(const uint8_t *p)
{
	uint64_t bits = dtx_le_u64(p);
	double v;

	memcpy(&v, &bits, sizeof(v));
	return v;
}

#endif
