/* Large pages where they help: fewer faults, and fewer misses when cells are read in any order.  A
 * mere advice throughout: that it is not taken is no failure. */
#include "core/base/malloc_tuning.h"

#include <malloc.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

#define MIB        ((size_t)1 << 20)
#define HUGE_PAGE  (2 * MIB)
#define HUGE_BLOCK MIB         /* a block so large has large pages of its own */
#define HEAP_SMALL (256 * MIB) /* of the heap on small pages: sooner at hand */
#define LEAST_ONE  (256 * MIB) /* budget with one heap: gaps took up to 60 MiB */
#define HEAP_LOOK  (MIB / 32)  /* a block so large looks whether the heap has grown */
#define HEAP_STEP  (8 << 20)   /* which it does by this at a time, */
#define HEAP_KEPT  (32 << 20)  /* and keeps this when it is free */
#define MAP_BLOCK  (4 << 20)   /* blocks so large are mapped */

/* Process-wide as the heap is. */
static atomic_uintptr_t heap_huge; /* where its large pages begin; 0: threads have their own */
static atomic_uintptr_t heap_end;  /* of those asked for */

/* The pages at both ends count too: blocks of one kind lie side by side. */
static void ask(uintptr_t from, uintptr_t to)
{
	from &= ~(HUGE_PAGE - 1);
	to = (to + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1);
	(void)madvise((void *)from, to - from, MADV_HUGEPAGE);
}

/* What the heap has grown by, before most of it is touched: a block that is smaller than a large
 * page, as those of batches are, gets none by itself. */
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
	/* the first alone would have every block over 128 KiB mapped and unmapped */
	mallopt(M_TRIM_THRESHOLD, HEAP_KEPT);
	mallopt(M_MMAP_THRESHOLD, MAP_BLOCK);
}

void dtx_malloc_tuning_one(size_t limit)
{
	uintptr_t first = (uintptr_t)sbrk(0) + HEAP_SMALL;

	if ((limit && limit < LEAST_ONE) || atomic_load(&heap_huge))
		return;
	mallopt(M_ARENA_MAX, 1);
	mallopt(M_TOP_PAD, HEAP_STEP);
	atomic_store(&heap_end, first);
	atomic_store(&heap_huge, first);
}
