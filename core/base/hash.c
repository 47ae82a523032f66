/* [xxhash] row hashes, [nettle] SHA-256, MD5. */
#include "core/base/hash.h"

#include <nettle/md5.h>
#include <nettle/sha2.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

_Static_assert(sizeof(XXH3_state_t) <= sizeof(struct dtx_weak), "room for xxhash's state");
_Static_assert(sizeof(struct sha256_ctx) <= sizeof(struct dtx_sha256), "room for nettle's context");

uint64_t dtx_hash64(const void *bytes, size_t len, uint64_t seed)
{
	return XXH3_64bits_withSeed(bytes, len, seed);
}

void dtx_hash128(const void *bytes, size_t len, uint64_t out[2])
{
	XXH128_hash_t h = XXH3_128bits(bytes, len);

	out[0] = h.low64;
	out[1] = h.high64;
}

static XXH3_state_t *weak_state(struct dtx_weak *w)
{
	return (XXH3_state_t *)(void *)w->state;
}

void dtx_weak_init(struct dtx_weak *w)
{
	XXH3_INITSTATE(weak_state(w));
	XXH3_128bits_reset(weak_state(w));
}

void dtx_weak_add(struct dtx_weak *w, const void *bytes, size_t len)
{
	if (len)
		XXH3_128bits_update(weak_state(w), bytes, len);
}

void dtx_weak_done(struct dtx_weak *w, char out[DTX_SHA256_HEX])
{
	XXH128_canonical_t text;

	XXH128_canonicalFromHash(&text, XXH3_128bits_digest(weak_state(w)));
	memcpy(out, DTX_WEAK_MARK, sizeof(DTX_WEAK_MARK) - 1);
	dtx_hex(text.digest, sizeof(text.digest), out + sizeof(DTX_WEAK_MARK) - 1);
}

static struct sha256_ctx *sha256_ctx_of(struct dtx_sha256 *s)
{
	return (struct sha256_ctx *)(void *)s->state;
}

void dtx_sha256_init(struct dtx_sha256 *s)
{
	sha256_init(sha256_ctx_of(s));
}

void dtx_sha256_add(struct dtx_sha256 *s, const void *bytes, size_t len)
{
	if (len)
		sha256_update(sha256_ctx_of(s), len, bytes);
}

void dtx_sha256_done(struct dtx_sha256 *s, uint8_t out[DTX_SHA256_SIZE])
{
	sha256_digest(sha256_ctx_of(s), DTX_SHA256_SIZE, out);
}

void dtx_sha256_hex(const void *bytes, size_t len, char out[DTX_SHA256_HEX])
{
	struct dtx_sha256 s;
	uint8_t digest[DTX_SHA256_SIZE];

	dtx_sha256_init(&s);
	dtx_sha256_add(&s, bytes, len);
	dtx_sha256_done(&s, digest);
	dtx_hex(digest, sizeof(digest), out);
}

void dtx_md5_hex(const void *bytes, size_t len, char out[DTX_MD5_HEX])
{
	struct md5_ctx s;
	uint8_t digest[MD5_DIGEST_SIZE];

	md5_init(&s);
	if (len)
		md5_update(&s, len, bytes);
	md5_digest(&s, sizeof(digest), digest);
	dtx_hex(digest, sizeof(digest), out);
}

void dtx_hex(const uint8_t *bytes, size_t n, char *out)
{
	static const char digits[] = "0123456789abcdef";
	size_t i;

	for (i = 0; i < n; i++) {
		out[2 * i] = digits[bytes[i] >> 4];
		out[2 * i + 1] = digits[bytes[i] & 15];
	}
	out[2 * n] = '\0';
}
