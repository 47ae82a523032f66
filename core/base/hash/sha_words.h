/* The constants of SHA-256 for the variants that hash several messages at once.  Source: FIPS
 * 180-4, 4.2.2 and 5.3.3. */
#ifndef DTX_BASE_HASH_SHA_WORDS_H
#define DTX_BASE_HASH_SHA_WORDS_H

#include "core/base/base.h"

extern const uint32_t dtx_sha_k[64]; /* round constants; aligned to 16 bytes */
/* initial hash value */
extern const uint32_t dtx_sha_first[8];

#endif
