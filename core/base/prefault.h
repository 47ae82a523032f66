/* Fresh pages of blocks that one thread fills from their start, made by threads that have time.
 *
 * The kernel clears a page when it is first written to, which may take longer than to fill it: the
 * thread that all others wait for should find its pages made.  Nothing is ever written here, so
 * what a block holds does not change; that a page is not made ahead is no failure. */
#ifndef DTX_BASE_PREFAULT_H
#define DTX_BASE_PREFAULT_H

#include <pthread.h>

#include "core/base/base.h"

#define DTX_PREFAULT_SPANS 4u

struct dtx_prefault {
	pthread_mutex_t lock; /* of all below */
	struct dtx_prefault_span {
		uintptr_t made;      /* up to here pages are there, or being asked for */
		uintptr_t want, end; /* up to here they soon have to be; the block ends */
	} span[DTX_PREFAULT_SPANS];
};

void dtx_prefault_init(struct dtx_prefault *p);
void dtx_prefault_clear(struct dtx_prefault *p); /* when no other thread makes pages any more */
/* The owner: bytes [block, block + used) of a block of `size` are written to, about `more` are
 * next. A block of NULL has no pages. */
void dtx_prefault_tell(struct dtx_prefault *p, unsigned span, const void *block, size_t used,
                       size_t more, size_t size);
/* The owner, around what moves or frees a block; to be told anew before the end. */
void dtx_prefault_hold(struct dtx_prefault *p);
void dtx_prefault_drop(struct dtx_prefault *p);
/* Any other thread: makes what will be wanted soon. */
void dtx_prefault_make(struct dtx_prefault *p);

#endif
