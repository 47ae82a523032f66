/* SHA-256 of sixteen messages at once, one per lane of an AVX-512 register.  On one core it has
 * twice the throughput of sha_two.h, which uses the SHA instructions of x86.  Source: S. Gueron and
 * V. Krasnov, "Simultaneous hashing of multiple messages" (2012). */
#ifndef DTX_BASE_HASH_SHA_MANY_H
#define DTX_BASE_HASH_SHA_MANY_H

#include "core/base/base.h"

#define DTX_SHA_MANY 16

/* Hashes sixteen messages of len bytes each (a multiple of 64), which follow each other in memory;
 * their hashes are written in the same order.  Only where the processor has the instructions
 * (DTX_CPU_AVX512). */
void dtx_sha_many(const void *messages, size_t len, uint8_t out[DTX_SHA_MANY * 32]);

#endif
