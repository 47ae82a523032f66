/* The C library's heap as dtx wants it: how it grows and shrinks, and on which pages it lies.
 *
 * Sources: mallopt(3), madvise(2) MADV_HUGEPAGE, and the C library's malloc.c: only the heap that
 * brk(2) grows does so by steps of one's own; those of other threads grow by what is asked for,
 * which never makes a large page. */
#ifndef DTX_BASE_MALLOC_TUNING_H
#define DTX_BASE_MALLOC_TUNING_H

#include "core/base/base.h"

/* Some MiB of what is freed stay with the process: what each batch takes and gives back is not to
 * be asked of the kernel again and again.  Before other threads. */
void dtx_malloc_tuning_start(void);
/* One heap for the threads to come, which take few blocks and large ones from it, unless the budget
 * of `limit` bytes is small: what is free between the blocks of one is lost to the others.  limit
 * 0: no budget.  The first call that makes it counts. */
void dtx_malloc_tuning_one(size_t limit);
/* Looks after the pages of a block that malloc has just given. */
void dtx_malloc_tuning_block(void *ptr, size_t bytes);

#endif
