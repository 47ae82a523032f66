/* Makes pages ahead of their use, by madvise(2) with MADV_POPULATE_WRITE.  It exists since Linux
 * 5.14; older kernels refuse it, and nothing happens. */
#include "core/base/memory/prefault.h"

#include <string.h>
#include <sys/mman.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

#define PIECE    ((uintptr_t)2 << 20) /* made at a time: a large page */
#define SPAN_MIN ((size_t)16 << 20)   /* smaller blocks may share their pages with others */

void dtx_prefault_init(struct dtx_prefault *p)
{
	memset(p, 0, sizeof(*p));
	pthread_mutex_init(&p->lock, NULL);
}

void dtx_prefault_clear(struct dtx_prefault *p)
{
	pthread_mutex_destroy(&p->lock);
}

void dtx_prefault_hold(struct dtx_prefault *p)
{
	pthread_mutex_lock(&p->lock);
	memset(p->span, 0, sizeof(p->span));
}

void dtx_prefault_drop(struct dtx_prefault *p)
{
	pthread_mutex_unlock(&p->lock);
}

void dtx_prefault_report_used(struct dtx_prefault *p, unsigned span, const void *block, size_t used,
                              size_t more, size_t size)
{
	struct dtx_prefault_span *s = &p->span[span];
	uintptr_t at = (uintptr_t)block + used;

	if (size < SPAN_MIN)
		return;
	if (pthread_mutex_trylock(&p->lock))
		return; /* Another thread is making pages.  The owner must not wait for it; it
		         * reports again soon. */
	if (s->end != (uintptr_t)block + size || s->made < at)
		s->made = (at + PIECE - 1) & ~(PIECE - 1);
	s->end = (uintptr_t)block + size;
	s->want = at + DTX_MIN(more, size - used);
	pthread_mutex_unlock(&p->lock);
}

/* Makes one piece.  It holds the lock during that time, because the block must not be freed
 * meanwhile; one piece is small enough for that. */
static bool make_piece(struct dtx_prefault *p, struct dtx_prefault_span *s)
{
	bool more;

	pthread_mutex_lock(&p->lock);
	more = s->made < s->want && s->made + PIECE <= s->end;
	if (more) {
		(void)madvise((void *)s->made, PIECE, MADV_POPULATE_WRITE);
		s->made += PIECE;
	}
	pthread_mutex_unlock(&p->lock);
	return more;
}

void dtx_prefault_make(struct dtx_prefault *p)
{
	for (unsigned i = 0; i < DTX_PREFAULT_SPANS; i++)
		while (make_piece(p, &p->span[i]))
			;
}
