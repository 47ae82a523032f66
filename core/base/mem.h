/* The only allocator: checked sizes, a budget for the process, fault injection.
 *
 * All functions are thread safe.  The budget counts what the allocator holds, mapped input does
 * not count. */
#ifndef DTX_BASE_MEM_H
#define DTX_BASE_MEM_H

#include "core/base/base.h"

/* n * size bytes, NULL when memory or budget is out or the product overflows.  n or size 0 gives
 * a pointer that may be freed. */
DTX_MUSTUSE void *dtx_mem_alloc(size_t n, size_t size);
DTX_MUSTUSE void *dtx_mem_zalloc(size_t n, size_t size);
/* Aligned to 64 bytes, for column buffers; freed with dtx_mem_free. */
DTX_MUSTUSE void *dtx_mem_alloc64(size_t n, size_t size);
DTX_MUSTUSE char *dtx_mem_strdup(const char *text);
DTX_MUSTUSE char *dtx_mem_strndup(const char *text, size_t len);
void dtx_mem_free(void *ptr);
/* Room for n items.  On failure *items is untouched and still the caller's,
 * which is why the pointer is passed by address (items is a T **). */
DTX_MUSTUSE bool dtx_mem_grow(void *items, size_t n, size_t size);
/* Grows *items to hold at least n items, doubling *cap (also by address). */
DTX_MUSTUSE bool dtx_mem_reserve(void *items, size_t *cap, size_t n, size_t size);

/* malloc, realloc, free in the shape that libraries with hooks want. */
void *dtx_mem_hook_alloc(size_t size);
void *dtx_mem_hook_realloc(void *ptr, size_t size);

/* Beyond the budget, for a library that does not survive a failed allocation: its caller has
 * seen one fail and reports it as soon as the library returns.  Counted, freed with dtx_mem_free.
 */
void *dtx_mem_overdraw(size_t size);

/* Counts memory that is not the allocator's (a memfd) against the budget; false: it does not fit
 * and was not counted. */
DTX_MUSTUSE bool dtx_mem_charge(size_t bytes);
void dtx_mem_discharge(size_t bytes);

/* Budget in bytes; 0: none. */
void dtx_mem_set_limit(size_t bytes);
size_t dtx_mem_limit(void);
/* The most there may be without a budget: an allocation fails before the system ends the process.
 * Unlike a budget it sends nothing to disk.  0: none, also while there is a budget. */
void dtx_mem_set_ceiling(size_t bytes);
size_t dtx_mem_ceiling(void);
size_t dtx_mem_used(void);
size_t dtx_mem_peak(void);
/* Most memory since the last call (or the start), which begins the next lap. */
size_t dtx_mem_lap(void);
/* True when less than a quarter of the budget is left: sinks spill or refuse. */
bool dtx_mem_tight(void);

/* Tests: the k-th allocation from now on (0 is the next) fails, and no other; -1 turns it off.
 * Returns how many were still to come before the one set earlier: below 0 where that one failed. */
long dtx_mem_fail_at(long k);

#endif
