/* The only caller of malloc.  The budget counts usable sizes as malloc reports them, so freeing a
 * block needs no header with its size. */
#include "core/base/memory/mem.h"

#include <malloc.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory/malloc_tuning.h"

/* Process-wide: there is one heap and one budget.  Relaxed order is enough, because the numbers are
 * only compared with the limit and no other data is published through them. */
static atomic_size_t mem_used, mem_peak, mem_limit;
/* mem_most: the limit, or the ceiling if there is no limit. */
static atomic_size_t mem_ceiling, mem_most;
static atomic_size_t mem_laps_peak; /* the largest peak of the laps before this one */
static atomic_long mem_fail_at = -1;

static bool mem_injected(void)
{
	long k = atomic_load_explicit(&mem_fail_at, memory_order_relaxed);

	if (DTX_LIKELY(k < 0))
		return false;
	return atomic_fetch_sub(&mem_fail_at, 1) == 0;
}

static bool mem_fits(size_t n, size_t size, size_t *bytes)
{
	size_t limit = atomic_load_explicit(&mem_most, memory_order_relaxed);

	if (__builtin_mul_overflow(n, size, bytes) || *bytes > PTRDIFF_MAX)
		return false;
	if (*bytes == 0)
		*bytes = 1;
	if (limit && atomic_load_explicit(&mem_used, memory_order_relaxed) + *bytes > limit)
		return false;
	return !mem_injected();
}

static void mem_add(size_t bytes)
{
	size_t used = bytes + atomic_fetch_add_explicit(&mem_used, bytes, memory_order_relaxed);
	size_t peak = atomic_load_explicit(&mem_peak, memory_order_relaxed);

	while (used > peak && !atomic_compare_exchange_weak(&mem_peak, &peak, used))
		;
}

static void *mem_count(void *ptr)
{
	size_t bytes;

	if (!ptr)
		return NULL;
	bytes = malloc_usable_size(ptr);
	mem_add(bytes);
	dtx_malloc_tuning_block(ptr, bytes);
	return ptr;
}

bool dtx_mem_charge(size_t bytes)
{
	size_t n;

	if (!mem_fits(bytes, 1, &n))
		return false;
	mem_add(bytes);
	return true;
}

void dtx_mem_discharge(size_t bytes)
{
	atomic_fetch_sub_explicit(&mem_used, bytes, memory_order_relaxed);
}

void *dtx_mem_alloc(size_t n, size_t size)
{
	size_t bytes;

	return mem_fits(n, size, &bytes) ? mem_count(malloc(bytes)) : NULL;
}

void *dtx_mem_overdraw(size_t size)
{
	return mem_count(malloc(size ? size : 1));
}

void *dtx_mem_zalloc(size_t n, size_t size)
{
	size_t bytes;

	return mem_fits(n, size, &bytes) ? mem_count(calloc(1, bytes)) : NULL;
}

void *dtx_mem_alloc64(size_t n, size_t size)
{
	size_t bytes;

	if (!mem_fits(n, size, &bytes) || bytes > PTRDIFF_MAX - 63)
		return NULL;
	return mem_count(aligned_alloc(64, (bytes + 63) & ~(size_t)63));
}

char *dtx_mem_strndup(const char *text, size_t len)
{
	char *copy = dtx_mem_alloc(len + 1, 1);

	if (!copy)
		return NULL;
	if (len)
		memcpy(copy, text, len);
	copy[len] = '\0';
	return copy;
}

char *dtx_mem_strdup(const char *text)
{
	return dtx_mem_strndup(text, strlen(text));
}

void dtx_mem_free(void *ptr)
{
	if (!ptr)
		return;
	atomic_fetch_sub_explicit(&mem_used, malloc_usable_size(ptr), memory_order_relaxed);
	free(ptr);
}

static void *mem_resize(void *ptr, size_t n, size_t size)
{
	size_t bytes, old = ptr ? malloc_usable_size(ptr) : 0;
	void *moved;

	if (!mem_fits(n, size, &bytes))
		return NULL;
	moved = realloc(ptr, bytes);
	if (!moved)
		return NULL;
	atomic_fetch_sub_explicit(&mem_used, old, memory_order_relaxed);
	return mem_count(moved);
}

bool dtx_mem_grow(void *items, size_t n, size_t size)
{
	void *ptr, *moved;

	memcpy(&ptr, items, sizeof(ptr));
	moved = mem_resize(ptr, n, size);
	if (!moved)
		return false;
	memcpy(items, &moved, sizeof(moved));
	return true;
}

bool dtx_mem_reserve(void *items, size_t *cap, size_t n, size_t size)
{
	size_t want = *cap < 8 ? 8 : *cap;

	if (n <= *cap)
		return true;
	while (want < n) {
		if (want > SIZE_MAX / 2)
			return false;
		want *= 2;
	}
	if (!dtx_mem_grow(items, want, size))
		return false;
	*cap = want;
	return true;
}

void *dtx_mem_hook_alloc(size_t size)
{
	return dtx_mem_alloc(size, 1);
}

void *dtx_mem_hook_realloc(void *ptr, size_t size)
{
	return mem_resize(ptr, size, 1);
}

static void mem_set_most(void)
{
	size_t limit = atomic_load(&mem_limit);

	atomic_store(&mem_most, limit ? limit : atomic_load(&mem_ceiling));
}

void dtx_mem_set_ceiling(size_t bytes)
{
	atomic_store(&mem_ceiling, bytes);
	mem_set_most();
}

size_t dtx_mem_ceiling(void)
{
	return atomic_load(&mem_limit) ? 0 : atomic_load(&mem_ceiling);
}

void dtx_mem_set_limit(size_t bytes)
{
	atomic_store(&mem_limit, bytes);
	mem_set_most();
}

size_t dtx_mem_share(size_t most, unsigned parts)
{
	const size_t limit = dtx_mem_limit();

	return limit ? DTX_MIN(most, limit / parts) : most;
}

size_t dtx_mem_limit(void)
{
	return atomic_load(&mem_limit);
}

size_t dtx_mem_used(void)
{
	return atomic_load(&mem_used);
}

size_t dtx_mem_peak(void)
{
	size_t lap = atomic_load_explicit(&mem_peak, memory_order_relaxed);
	size_t laps = atomic_load_explicit(&mem_laps_peak, memory_order_relaxed);

	return lap > laps ? lap : laps;
}

size_t dtx_mem_lap(void)
{
	size_t lap = atomic_load_explicit(&mem_peak, memory_order_relaxed);

	atomic_store_explicit(&mem_laps_peak, dtx_mem_peak(), memory_order_relaxed);
	atomic_store_explicit(&mem_peak, dtx_mem_used(), memory_order_relaxed);
	return lap;
}

bool dtx_mem_tight(void)
{
	size_t limit = atomic_load_explicit(&mem_limit, memory_order_relaxed);

	return limit && atomic_load_explicit(&mem_used, memory_order_relaxed) > limit / 4 * 3;
}

long dtx_mem_fail_at(long k)
{
	return atomic_exchange(&mem_fail_at, k);
}
