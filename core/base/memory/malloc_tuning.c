/* Asks the kernel for large pages where they help: there are fewer page faults, and fewer TLB
 * misses when cells are read in random order.  All of this is advice to the kernel, so its failures
 * are ignored. */
#include "core/base/memory/malloc_tuning.h"

#include <malloc.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

#define MIB        ((size_t)1 << 20)
#define HUGE_PAGE  (2 * MIB)
#define HUGE_BLOCK MIB /* blocks from this size on get large pages of their own */
/* This much of the heap stays on small pages, which the kernel provides faster. */
#define HEAP_SMALL (256 * MIB)
/* Smallest budget with one common heap on large pages: gaps between blocks took up to 60 MiB. */
#define LEAST_ONE (256 * MIB)
/* With a smaller budget than this, the heap is common too, on small pages, and keeps little. Arrays
 * that grow leave gaps in it, which are not in use but resident: once the heap has grown to three
 * quarters of the budget, its free pages are returned after every TRIM_EVERY bytes of new blocks.
 * Six keys of 2 million rows with a budget of 32 MiB: 29 MiB resident; 37 to 45 without that, for
 * 8 % less processor time. */
#define LEAST_OWN  (128 * MIB)
#define SMALL_KEPT MIB
#define TRIM_EVERY (8 * MIB)
#define HEAP_LOOK  (MIB / 32) /* allocations from this size on check whether the heap has grown */
#define HEAP_STEP  (8 << 20)  /* the heap grows by this at a time */
#define HEAP_KEPT  (32 << 20) /* and keeps this much free memory instead of returning it */
#define MAP_BLOCK  (4 << 20)  /* blocks from this size on are mapped */

/* Process-wide, as the heap is. */
/* Address where large pages begin; 0: threads have their own heaps. */
static atomic_uintptr_t heap_huge;
static atomic_uintptr_t heap_end; /* end of the range that was asked for */
/* Address up to which the heap may grow before free pages are returned; 0: it keeps them. */
static atomic_uintptr_t heap_most;
static atomic_size_t heap_new; /* bytes of new blocks since they were returned */

/* Asks for large pages for a range.  The pages at both ends are included, although they also hold
 * other memory: the blocks beside it are usually of the same kind. */
static void ask(uintptr_t from, uintptr_t to)
{
	from &= ~(HUGE_PAGE - 1);
	to = (to + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1);
	(void)madvise((void *)from, to - from, MADV_HUGEPAGE);
}

/* Asks for large pages for the part by which the heap has grown, before most of it is touched.  The
 * blocks of batches are smaller than a large page, so the kernel would give them none otherwise. */
static void look(void)
{
	uintptr_t first = atomic_load_explicit(&heap_huge, memory_order_relaxed), from, end;

	if (!first)
		return;
	end = DTX_MAX((uintptr_t)sbrk(0), first);
	from = atomic_load_explicit(&heap_end, memory_order_relaxed);
	if (end != from && atomic_compare_exchange_strong(&heap_end, &from, end) && end > from)
		ask(from, end);
}

/* Returns the free pages of a heap that is too large for a small budget. */
static void shrink(size_t bytes)
{
	uintptr_t most = atomic_load_explicit(&heap_most, memory_order_relaxed);

	if (!most || (uintptr_t)sbrk(0) < most ||
	    atomic_fetch_add_explicit(&heap_new, bytes, memory_order_relaxed) < TRIM_EVERY)
		return;
	atomic_store_explicit(&heap_new, 0, memory_order_relaxed);
	malloc_trim(0);
}

void dtx_malloc_tuning_block(void *ptr, size_t bytes)
{
	if (bytes >= HEAP_LOOK) {
		look();
		shrink(bytes);
	}
	if (DTX_UNLIKELY(bytes >= HUGE_BLOCK))
		ask((uintptr_t)ptr, (uintptr_t)ptr + bytes);
}

void dtx_malloc_tuning_start(void)
{
	/* Setting the trim threshold turns off the dynamic mmap threshold of malloc: without the
	 * second call every block over 128 KiB would be mapped and unmapped each time. */
	mallopt(M_TRIM_THRESHOLD, HEAP_KEPT);
	mallopt(M_MMAP_THRESHOLD, MAP_BLOCK);
}

void dtx_malloc_tuning_one(size_t limit)
{
	uintptr_t first = (uintptr_t)sbrk(0) + HEAP_SMALL;

	if (limit && limit < LEAST_OWN) {
		mallopt(M_ARENA_MAX, 1);
		mallopt(M_TRIM_THRESHOLD, SMALL_KEPT);
		atomic_store(&heap_most, (uintptr_t)sbrk(0) + limit / 4 * 3);
	}
	if ((limit && limit < LEAST_ONE) || atomic_load(&heap_huge))
		return;
	mallopt(M_ARENA_MAX, 1);
	mallopt(M_TOP_PAD, HEAP_STEP);
	atomic_store(&heap_end, first);
	atomic_store(&heap_huge, first);
}
