/* Gives the pages of a mapped file back beside what a process still does at its end: to take half a
 * gigabyte out of its tables takes 20 ms, which else one core does alone when it exits. */
#ifndef DTX_IO_SOURCE_RELEASE_PAGES_H
#define DTX_IO_SOURCE_RELEASE_PAGES_H

#include "core/base/err.h"

struct dtx_release_pages {
	const char *data;
	size_t size;
	struct dtx_task *task; /* NULL: none was started */
};

/* Starts a thread, unless the bytes are so few that it would take more time.  They stay readable:
 * the file is asked again.  Once. */
void dtx_release_pages_start(struct dtx_release_pages *g, const char *data, size_t size);
/* Waits for the thread. */
void dtx_release_pages_stop(struct dtx_release_pages *g);

#endif
