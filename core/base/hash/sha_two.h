/* Two SHA-256 at once, with the instructions that x86 has for it: each waits for its own last step,
 * and the processor has room for the other meanwhile. */
#ifndef DTX_BASE_HASH_SHA_TWO_H
#define DTX_BASE_HASH_SHA_TWO_H

#include "core/base/base.h"

/* Blocks of 64 bytes from x into a, from y into b.  Only where the processor has the instructions:
 * see dtx_sha256_pairs. */
void dtx_sha_two(uint32_t a[8], const void *x, uint32_t b[8], const void *y, size_t blocks);

#endif
