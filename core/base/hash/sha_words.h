/* The constants of SHA-256, for who computes several at once.  Source: FIPS 180-4, 4.2.2 and 5.3.3.
 */
#ifndef DTX_BASE_HASH_SHA_WORDS_H
#define DTX_BASE_HASH_SHA_WORDS_H

#include "core/base/base.h"

extern const uint32_t dtx_sha_k[64]; /* of the rounds; on an address that 16 divides */
extern const uint32_t dtx_sha_first[8];

#endif
