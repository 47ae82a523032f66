/* Hashes of rows (XXH3, fast) and of files (SHA-256, MD5). */
#ifndef DTX_BASE_HASH_HASH_H
#define DTX_BASE_HASH_HASH_H

#include "core/base/base.h"

#define DTX_SHA256_SIZE 32
#define DTX_SHA256_HEX  65 /* 64 hex digits and a terminator */

uint64_t dtx_hash64(const void *bytes, size_t len, uint64_t seed);
/* 128-bit XXH3: out[0] is the low half, out[1] the high half. */
void dtx_hash128(const void *bytes, size_t len, uint64_t out[2]);
/* Mixes two words into one hash by a 128-bit product (as in wyhash).  For keys that fit into a
 * word. */
static inline uint64_t dtx_hash_mix(uint64_t a, uint64_t b)
{
	dtx_u128 p = (dtx_u128)(a ^ 0x9e3779b97f4a7c15u) * (b ^ 0xbf58476d1ce4e5b9u);
	return (uint64_t)p ^ (uint64_t)(p >> 64);
}

/* SHA-256 in the usual three calls.  The struct holds no memory and may be copied. */
struct dtx_sha256 {
	_Alignas(16) unsigned char state[112]; /* OpenSSL's SHA256_CTX */
};
void dtx_sha256_init(struct dtx_sha256 *s);
void dtx_sha256_add(struct dtx_sha256 *s, const void *bytes, size_t len);
void dtx_sha256_done(struct dtx_sha256 *s, uint8_t out[DTX_SHA256_SIZE]);
/* Whether this machine can hash two messages at once in hardly more time than one (see sha_two.h).
 * The function queries the processor: call it once, not per message. */
bool dtx_sha256_pairs(void);
/* dtx_sha256_add for two different contexts at once.  Only where dtx_sha256_pairs is true. */
void dtx_sha256_add_two(struct dtx_sha256 *a, const void *x, size_t nx, struct dtx_sha256 *b,
                        const void *y, size_t ny);
/* SHA-256 of n bytes in one call, as lower-case hex with a terminator. */
void dtx_sha256_hex(const void *bytes, size_t len, char out[DTX_SHA256_HEX]);
/* With terminator; only as a key that other systems expect: MD5 is not collision-resistant. */
#define DTX_MD5_HEX 33
void dtx_md5_hex(const void *bytes, size_t len, char out[DTX_MD5_HEX]);
/* An identity that is ten times as fast as SHA-256.  It detects accidental changes, but not
 * forgery.  The text is "xxh3:" and 32 hex digits; it fits into the room of a SHA-256. */
#define DTX_WEAK_MARK "xxh3:"
struct dtx_weak {
	_Alignas(64) unsigned char state[640]; /* XXH3_state_t */
};
void dtx_weak_init(struct dtx_weak *w);
void dtx_weak_add(struct dtx_weak *w, const void *bytes, size_t len);
void dtx_weak_done(struct dtx_weak *w, char out[DTX_SHA256_HEX]);
/* lower-case hex; out has room for 2n + 1 characters. */
void dtx_hex(const uint8_t *bytes, size_t n, char *out);

#endif
