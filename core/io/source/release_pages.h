/* Gives the pages of a mapped file back while the process does its last work. Removing half a
 * gigabyte from the page tables takes 20 ms, which one core would otherwise do alone at exit. */
#ifndef DTX_IO_SOURCE_RELEASE_PAGES_H
#define DTX_IO_SOURCE_RELEASE_PAGES_H

#include "core/base/err.h"

struct dtx_release_pages {
	const char *data;
	size_t size;
	struct dtx_task *task; /* NULL: no thread was started */
};

/* Starts a thread, unless there are so few bytes that it would take longer. The bytes stay
 * readable, because the kernel reads them from the file again. Call it once. */
void dtx_release_pages_start(struct dtx_release_pages *g, const char *data, size_t size);
/* Waits for the thread. */
void dtx_release_pages_stop(struct dtx_release_pages *g);

#endif
