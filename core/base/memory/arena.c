/* Bump allocator over a list of blocks.  The first has 256 bytes or 4 KiB; each block is twice as
 * large as the one before it, up to 1 MiB; once all blocks together have 8 MiB, a new block has an
 * eighth of their total size, so that large arenas consist of few large blocks, which the kernel
 * can back with large pages.  A request that is larger than the next block gets a block of its own
 * size. */
#include "core/base/memory/arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/base/memory/mem.h"

/* An arena that begins with a few bytes may get no more: there is one for each group of a
 * count_distinct of texts.  For one million groups of one text a first block of 4 KiB took 4.7 GB.
 */
#define ARENA_FEW   64u
#define ARENA_FIRST 256u

struct dtx_arena_block {
	struct dtx_arena_block *next;
	size_t size, all; /* all: bytes of this block and of all blocks before it */
	_Alignas(16) char data[];
};

static bool arena_block(struct dtx_arena *a, size_t bytes)
{
	size_t size = a->head ? a->head->size * 2 : bytes <= ARENA_FEW ? ARENA_FIRST : 4096;
	struct dtx_arena_block *b;

	if (size > 1 << 20)
		size = DTX_MAX((size_t)1 << 20, a->head->all / 8);
	if (size < bytes)
		size = bytes;
	if (a->spare && a->spare->size >= bytes) {
		b = a->spare;
		a->spare = b->next;
	} else {
		if (size > SIZE_MAX - sizeof(*b))
			return false;
		b = dtx_mem_alloc(1, sizeof(*b) + size);
		if (!b)
			return false;
		b->size = size;
	}
	b->next = a->head;
	b->all = b->size + (a->head ? a->head->all : 0);
	a->head = b;
	a->used = 0;
	return true;
}

void *dtx_arena_alloc(struct dtx_arena *a, size_t n, size_t size)
{
	size_t bytes;
	char *p;

	if (__builtin_mul_overflow(n, size, &bytes) || bytes > PTRDIFF_MAX - 16)
		return NULL;
	bytes = (bytes + 15) & ~(size_t)15;
	a->used = (a->used + 15) & ~(size_t)15; /* dtx_arena_pack leaves `used` at any byte */
	if (!a->head || a->used > a->head->size || a->head->size - a->used < bytes) {
		if (!arena_block(a, bytes ? bytes : 16))
			return NULL;
	}
	p = a->head->data + a->used;
	a->used += bytes;
	return p;
}

char *dtx_arena_bytes(struct dtx_arena *a, size_t n)
{
	char *p;

	if (n > PTRDIFF_MAX - 16 ||
	    ((!a->head || a->head->size - a->used < n) && !arena_block(a, n ? n : 1)))
		return NULL;
	p = a->head->data + a->used;
	a->used += n;
	return p;
}

char *dtx_arena_pack(struct dtx_arena *a, const char *bytes, size_t n)
{
	char *p = dtx_arena_bytes(a, n);

	return p ? memcpy(p, bytes, n) : NULL;
}

void *dtx_arena_zalloc(struct dtx_arena *a, size_t n, size_t size)
{
	void *p = dtx_arena_alloc(a, n, size);

	if (p)
		memset(p, 0, n * size);
	return p;
}

bool dtx_arena_reserve(struct dtx_arena *a, void *items, size_t *cap, size_t n, size_t size)
{
	size_t want = *cap < SIZE_MAX / 2 ? DTX_MAX(n, *cap * 2) : n;
	void *fresh, *old;

	if (n <= *cap)
		return true;
	want = DTX_MAX(want, 8);
	fresh = dtx_arena_zalloc(a, want, size);
	if (!fresh)
		return false;
	memcpy(&old, items, sizeof(old));
	if (*cap)
		memcpy(fresh, old, *cap * size);
	memcpy(items, &fresh, sizeof(fresh));
	*cap = want;
	return true;
}

char *dtx_arena_strndup(struct dtx_arena *a, const char *text, size_t len)
{
	char *p = len < SIZE_MAX ? dtx_arena_alloc(a, len + 1, 1) : NULL;

	if (!p)
		return NULL;
	if (len)
		memcpy(p, text, len);
	p[len] = '\0';
	return p;
}

char *dtx_arena_strdup(struct dtx_arena *a, const char *text)
{
	return dtx_arena_strndup(a, text, strlen(text));
}

char *dtx_arena_printf(struct dtx_arena *a, const char *fmt, ...)
{
	va_list ap;
	int n;
	char *p;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0)
		return NULL;
	p = dtx_arena_alloc(a, (size_t)n + 1, 1);
	if (!p)
		return NULL;
	va_start(ap, fmt);
	vsnprintf(p, (size_t)n + 1, fmt, ap);
	va_end(ap);
	return p;
}

struct dtx_arena_mark dtx_arena_mark(const struct dtx_arena *a)
{
	return (struct dtx_arena_mark){ a->head, a->used };
}

void dtx_arena_rewind(struct dtx_arena *a, struct dtx_arena_mark mark)
{
	while (a->head && a->head != mark.head) {
		struct dtx_arena_block *b = a->head;

		a->head = b->next;
		b->next = a->spare;
		a->spare = b;
	}
	a->used = mark.used;
}

size_t dtx_arena_size(const struct dtx_arena *a)
{
	return a->head ? a->head->all : 0;
}

const void *dtx_arena_block(const struct dtx_arena *a, size_t *used, size_t *size)
{
	*used = a->head ? a->used : 0;
	*size = a->head ? a->head->size : 0;
	return a->head ? a->head->data : NULL;
}

static void arena_free_list(struct dtx_arena_block *b)
{
	while (b) {
		struct dtx_arena_block *next = b->next;

		dtx_mem_free(b);
		b = next;
	}
}

void dtx_arena_clear(struct dtx_arena *a)
{
	arena_free_list(a->head);
	arena_free_list(a->spare);
	a->head = a->spare = NULL;
	a->used = 0;
}
