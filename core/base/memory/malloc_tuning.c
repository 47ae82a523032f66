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
/* With a smaller budget than this, the heap is common too, on small pages, and keeps little.  Six
 * keys of 2 million rows with a budget of 32 MiB: 36 MiB resident; 48 with a heap per thread. */
#define LEAST_OWN  (128 * MIB)
#define SMALL_KEPT MIB
#define HEAP_LOOK  (MIB / 32) /* allocations from this size on check whether the heap has grown */
#define HEAP_STEP  (8 << 20)  /* the heap grows by this at a time */
#define HEAP_KEPT  (32 << 20) /* and keeps this much free memory instead of returning it */
#define MAP_BLOCK  (4 << 20)  /* blocks from this size on are mapped */

/* Process-wide, as the heap is. */
/* Address where large pages begin; 0: threads have their own heaps. */
static atomic_uintptr_t heap_huge;
static atomic_uintptr_t heap_end; /* end of the range that was asked for */

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

void dtx_malloc_tuning_block(void *ptr, size_t bytes)
{
	if (bytes >= HEAP_LOOK)
		look();
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
	}
	if ((limit && limit < LEAST_ONE) || atomic_load(&heap_huge))
		return;
	mallopt(M_ARENA_MAX, 1);
	mallopt(M_TOP_PAD, HEAP_STEP);
	atomic_store(&heap_end, first);
	atomic_store(&heap_huge, first);
}
