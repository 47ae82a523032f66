/* Row hashes (XXH3) and identities (SHA-256, MD5).  [xxhash] [openssl] */
#ifndef DTX_BASE_HASH_HASH_H
#define DTX_BASE_HASH_HASH_H

#include "core/base/base.h"

#define DTX_SHA256_SIZE 32
#define DTX_SHA256_HEX  65 /* with terminator */

uint64_t dtx_hash64(const void *bytes, size_t len, uint64_t seed);
/* 128-bit XXH3: out[0] low, out[1] high. */
void dtx_hash128(const void *bytes, size_t len, uint64_t out[2]);
/* Mixes two words into one hash; for inline keys. */
static inline uint64_t dtx_hash_mix(uint64_t a, uint64_t b)
{
	dtx_u128 p = (dtx_u128)(a ^ 0x9e3779b97f4a7c15u) * (b ^ 0xbf58476d1ce4e5b9u);
	return (uint64_t)p ^ (uint64_t)(p >> 64);
}

struct dtx_sha256 {
	_Alignas(16) unsigned char state[112]; /* OpenSSL's context */
};
void dtx_sha256_init(struct dtx_sha256 *s);
void dtx_sha256_add(struct dtx_sha256 *s, const void *bytes, size_t len);
void dtx_sha256_done(struct dtx_sha256 *s, uint8_t out[DTX_SHA256_SIZE]);
/* Whether this machine adds to two of them at once in hardly more time than to one.  Asks the
 * processor: not for each of many calls. */
bool dtx_sha256_pairs(void);
/* Adds to two different ones; only where they pair. */
void dtx_sha256_add_two(struct dtx_sha256 *a, const void *x, size_t nx, struct dtx_sha256 *b,
                        const void *y, size_t ny);
/* In one go, as lower-case hex with terminator. */
void dtx_sha256_hex(const void *bytes, size_t len, char out[DTX_SHA256_HEX]);
#define DTX_MD5_HEX 33 /* with terminator; only for keys of other systems, it proves nothing */
void dtx_md5_hex(const void *bytes, size_t len, char out[DTX_MD5_HEX]);
/* An identity that is ten times as quick and shows accidents, not forgery: "xxh3:" and 32 digits.
 * As long as a SHA-256 at most. */
#define DTX_WEAK_MARK "xxh3:"
struct dtx_weak {
	_Alignas(64) unsigned char state[640]; /* xxhash's state */
};
void dtx_weak_init(struct dtx_weak *w);
void dtx_weak_add(struct dtx_weak *w, const void *bytes, size_t len);
void dtx_weak_done(struct dtx_weak *w, char out[DTX_SHA256_HEX]);
void dtx_hex(const uint8_t *bytes, size_t n, char *out); /* 2n + 1 characters */

#endif
