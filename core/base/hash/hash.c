/* Row hashes by xxhash, SHA-256 and MD5 by OpenSSL.  It uses OpenSSL's low-level functions, though
 * they are deprecated: they need no provider and no set-up, link only three small members of the
 * archive, and are a tenth faster than those of nettle. */
#define OPENSSL_SUPPRESS_DEPRECATED /* the successor, EVP, looks an algorithm up at each use */
#include "core/base/hash/hash.h"

#include <openssl/md5.h>
#include <openssl/sha.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#if defined(__x86_64__)
#include <sys/platform/x86.h>
#endif

#include "core/base/cpu.h"
#include "core/base/hash/sha_two.h"

_Static_assert(sizeof(XXH3_state_t) <= sizeof(struct dtx_weak), "room for xxhash's state");
_Static_assert(sizeof(SHA256_CTX) <= sizeof(struct dtx_sha256), "room for OpenSSL's context");

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

static SHA256_CTX *sha256_ctx_of(struct dtx_sha256 *s)
{
	return (SHA256_CTX *)(void *)s->state;
}

void dtx_sha256_init(struct dtx_sha256 *s)
{
	SHA256_Init(sha256_ctx_of(s));
}

void dtx_sha256_add(struct dtx_sha256 *s, const void *bytes, size_t len)
{
	if (len)
		SHA256_Update(sha256_ctx_of(s), bytes, len);
}

#if defined(__x86_64__)
bool dtx_sha256_pairs(void)
{
	return dtx_cpu_best() != DTX_CPU_ANY && CPU_FEATURE_ACTIVE(SSE4_1) &&
	       CPU_FEATURE_ACTIVE(SSSE3) && CPU_FEATURE_ACTIVE(SHA);
}
#else
bool dtx_sha256_pairs(void)
{
	return false;
}
#endif

#define SHA256_BLOCK 64u

/* Adds the bytes that complete a partly filled block.  Returns how many those are. */
static size_t sha256_align(struct dtx_sha256 *s, const void *bytes, size_t len)
{
	size_t n = sha256_ctx_of(s)->num;

	n = n ? DTX_MIN(SHA256_BLOCK - n, len) : 0;
	dtx_sha256_add(s, bytes, n);
	return n;
}

static void sha256_count(SHA256_CTX *c, size_t len)
{
	uint64_t bits = ((uint64_t)c->Nh << 32 | c->Nl) + (uint64_t)len * 8;

	c->Nl = (SHA_LONG)bits;
	c->Nh = (SHA_LONG)(bits >> 32);
}

void dtx_sha256_add_two(struct dtx_sha256 *a, const void *x, size_t nx, struct dtx_sha256 *b,
                        const void *y, size_t ny)
{
	size_t i = sha256_align(a, x, nx), k = sha256_align(b, y, ny);
	size_t len = DTX_MIN(nx - i, ny - k) / SHA256_BLOCK * SHA256_BLOCK;
	const char *p = x, *q = y;

	if (len) { /* now both contexts are at the start of a block */
		dtx_sha_two(sha256_ctx_of(a)->h, p + i, sha256_ctx_of(b)->h, q + k,
		            len / SHA256_BLOCK);
		sha256_count(sha256_ctx_of(a), len);
		sha256_count(sha256_ctx_of(b), len);
		i += len;
		k += len;
	}
	if (nx > i)
		dtx_sha256_add(a, p + i, nx - i);
	if (ny > k)
		dtx_sha256_add(b, q + k, ny - k);
}

void dtx_sha256_done(struct dtx_sha256 *s, uint8_t out[DTX_SHA256_SIZE])
{
	SHA256_Final(out, sha256_ctx_of(s));
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
	MD5_CTX s;
	uint8_t digest[MD5_DIGEST_LENGTH];

	MD5_Init(&s);
	if (len)
		MD5_Update(&s, bytes, len);
	MD5_Final(digest, &s);
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
