/* The only allocator of dtx.  It checks sizes for overflow, keeps a memory budget for the process
 * and can inject failures for tests.
 *
 * All functions are thread safe.  The budget counts the memory that the allocator holds; mapped
 * input files do not count. */
#ifndef DTX_BASE_MEM_H
#define DTX_BASE_MEM_H

#include "core/base/base.h"

/* n * size bytes; dtx_mem_zalloc sets them to zero.  NULL when memory or budget is out, or when the
 * product overflows.  If n or size is 0 the result is still a pointer that can be freed. */
DTX_MUSTUSE void *dtx_mem_alloc(size_t n, size_t size);
DTX_MUSTUSE void *dtx_mem_zalloc(size_t n, size_t size);
/* Aligned to 64 bytes, for the buffers of columns.  Freed with dtx_mem_free. */
DTX_MUSTUSE void *dtx_mem_alloc64(size_t n, size_t size);
DTX_MUSTUSE char *dtx_mem_strdup(const char *text);
DTX_MUSTUSE char *dtx_mem_strndup(const char *text, size_t len);
void dtx_mem_free(void *ptr);
/* Resizes *items (items is a T **) to n items.  On failure *items is untouched and still belongs to
 * the caller, which is why the pointer is passed by address. */
DTX_MUSTUSE bool dtx_mem_grow(void *items, size_t n, size_t size);
/* Grows *items to at least n items if *cap is smaller; doubles *cap.  On failure both are
 * untouched. */
DTX_MUSTUSE bool dtx_mem_reserve(void *items, size_t *cap, size_t n, size_t size);

/* malloc and realloc in the form that libraries with allocator hooks expect. */
void *dtx_mem_hook_alloc(size_t size);
void *dtx_mem_hook_realloc(void *ptr, size_t size);

/* Allocates even beyond the budget, for a library that would crash after a failed allocation.  The
 * caller has seen one failure already and reports it as soon as the library returns.  The memory is
 * counted and freed with dtx_mem_free. */
void *dtx_mem_overdraw(size_t size);

/* Counts memory that does not come from the allocator (a memfd) against the budget.  False: it does
 * not fit, and it was not counted. */
DTX_MUSTUSE bool dtx_mem_charge(size_t bytes);
void dtx_mem_discharge(size_t bytes);

/* The budget in bytes; 0: none. */
void dtx_mem_set_limit(size_t bytes);
size_t dtx_mem_limit(void);
/* A size for a buffer: `most`, but with a budget at most that share, 1 / parts, of it. */
size_t dtx_mem_share(size_t most, unsigned parts);
/* The most that the process may use when there is no budget, so that an allocation fails before the
 * system kills the process.  Unlike a budget it makes no operator write to disk.  dtx_mem_ceiling
 * returns 0 if none, and also while there is a budget. */
void dtx_mem_set_ceiling(size_t bytes);
size_t dtx_mem_ceiling(void);
/* Bytes in use now, and the most that were in use so far. */
size_t dtx_mem_used(void);
size_t dtx_mem_peak(void);
/* The most that was in use since the last call (or the start).  The call begins a new lap. */
size_t dtx_mem_lap(void);
/* Whether more than three quarters of the budget are in use: operators that collect rows then write
 * to disk or refuse. */
bool dtx_mem_tight(void);

/* For tests: the k-th allocation from now on (0 is the next one) fails, and no other; -1 turns this
 * off.  Returns the number of allocations that were still left before the failure that was set
 * earlier; it is negative if that failure has happened. */
long dtx_mem_fail_at(long k);

#endif
