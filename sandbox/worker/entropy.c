/* Seeded random bytes for C libraries in a worker, see entropy.h. The state is global because
 * the functions that it serves are. */
#include "sandbox/worker/entropy.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define EXPORTED __attribute__((visibility("default")))

/* Older C libraries do not declare these. */
void arc4random_buf(void *out, size_t n);
uint32_t arc4random(void);

static struct {
	atomic_bool pinned;
	uint64_t state; /* used by a worker only, which has one thread */
} entropy;

void dtx_entropy_pin(uint64_t seed)
{
	entropy.state = seed;
	atomic_store_explicit(&entropy.pinned, true, memory_order_release);
}

/* splitmix64. Its callers in a worker (libexpat's hash salt) need numbers that differ, not
 * secrets. */
static uint64_t next_word(void)
{
	uint64_t z = entropy.state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

static void fill_pinned(unsigned char *out, size_t n)
{
	while (n) {
		uint64_t word = next_word();
		size_t part = DTX_MIN(n, sizeof(word));

		memcpy(out, &word, part);
		out += part;
		n -= part;
	}
}

EXPORTED void arc4random_buf(void *out, size_t n)
{
	unsigned char *at = out;

	if (atomic_load_explicit(&entropy.pinned, memory_order_acquire)) {
		fill_pinned(at, n);
		return;
	}
	while (n) {
		ssize_t got = getrandom(at, n, 0);

		if (got < 0 && errno != EINTR)
			/* the C library does the same: no caller may continue without entropy */
			abort();
		at += got > 0 ? got : 0;
		n -= got > 0 ? (size_t)got : 0;
	}
}

EXPORTED uint32_t arc4random(void)
{
	uint32_t word;

	arc4random_buf(&word, sizeof(word));
	return word;
}
