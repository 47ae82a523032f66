/* Gives pages back in pieces, so that other threads can change mappings in between. See
 * release_pages.h. */
#include "core/io/source/release_pages.h"

#include <sys/mman.h>

#include "core/base/thread/pool.h"

#define RELEASE_LEAST ((size_t)32 << 20)
#define RELEASE_PIECE ((size_t)16 << 20)

static enum dtx_code release_main(void *arg, struct dtx_err *err)
{
	const struct dtx_release_pages *g = arg;

	(void)err;
	for (size_t at = 0; at < g->size; at += RELEASE_PIECE)
		(void)madvise((void *)(uintptr_t)(g->data + at),
		              DTX_MIN(RELEASE_PIECE, g->size - at), MADV_DONTNEED);
	return DTX_OK;
}

void dtx_release_pages_start(struct dtx_release_pages *g, const char *data, size_t size)
{
	if (size < RELEASE_LEAST || g->size)
		return;
	g->data = data;
	g->size = size;
	if (dtx_task_start(release_main, g, &g->task, NULL) != DTX_OK)
		g->task = NULL; /* then exiting does it */
}

void dtx_release_pages_stop(struct dtx_release_pages *g)
{
	(void)dtx_task_join(g->task, NULL);
	g->task = NULL;
}
