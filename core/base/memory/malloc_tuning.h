/* Settings of the C library's heap: how it grows and shrinks, and which of its memory has large
 * pages.
 *
 * Sources: mallopt(3), madvise(2) on MADV_HUGEPAGE, and malloc.c of the C library.  Only the main
 * heap, which brk(2) extends, grows in steps of a chosen size (M_TOP_PAD).  The heaps of other
 * threads grow by what is asked for, which never makes a large page.
 *
 * What large pages bring: without them a sort of all columns takes 7 % more processor time, six
 * keys and distinct 3 % (medians of 9 paired runs on 2 million rows, 2 cores). */
#ifndef DTX_BASE_MALLOC_TUNING_H
#define DTX_BASE_MALLOC_TUNING_H

#include "core/base/base.h"

/* Lets the process keep some MiB of freed memory, because each batch takes and frees about the same
 * amount and would otherwise ask the kernel for it again.  Call it before other threads start. */
void dtx_malloc_tuning_start(void);
/* Makes all threads that start later share one heap, because memory that is free in the heap of one
 * thread is lost to the others.  They take few and large blocks, so they hardly wait for each
 * other.  It has large pages, unless there is a budget of `limit` bytes that is small, and threads
 * have heaps of their own with some budgets between, where gaps in one heap would matter.  limit 0:
 * no budget.  Only the first call that makes the heap common has an effect. */
void dtx_malloc_tuning_one(size_t limit);
/* mem.c calls this with each block that malloc has returned; it may ask for large pages. */
void dtx_malloc_tuning_block(void *ptr, size_t bytes);

#endif
