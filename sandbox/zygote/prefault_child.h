/* Pages that every run needs.  A forked worker shares all memory with its zygote until it writes,
 * and has no library mapped until it looks; taking page by page, a fault each, is most of the time
 * of a short run.  The zygote learns from one child which pages are written to, and later ones copy
 * these at once, and map those parts of libraries that the zygote has used.
 *
 * All of it is a matter of time only: without /proc, or on a kernel before 5.14, nothing is known
 * and nothing is copied.  One thread. */
#ifndef DTX_SANDBOX_ZYGOTE_PREFAULT_CHILD_H
#define DTX_SANDBOX_ZYGOTE_PREFAULT_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DTX_PREFAULT_CHILD_RUNS 8192

struct dtx_prefault_child_run {
	uintptr_t at;
	size_t len;
	int how; /* madvise */
};
struct dtx_prefault_child {
	int maps, pagemap; /* what the kernel says of this process; -1 */
	size_t n;          /* 0: nothing is known */
	struct dtx_prefault_child_run run[DTX_PREFAULT_CHILD_RUNS];
};

/* `proc` is a descriptor of /proc, -1 for none; this process is the one that will fork. */
void dtx_prefault_child_open(struct dtx_prefault_child *hot, int proc);
void dtx_prefault_child_close(struct dtx_prefault_child *hot);
/* Takes the files' pages off this process: those that it uses from here on come back, and are what
 * dtx_prefault_child_learn finds. */
void dtx_prefault_child_forget(struct dtx_prefault_child *hot);
/* To be called while one child lives that has done what runs do, and no other: what it has copied
 * is no longer shared.  False when nothing could be learnt. */
bool dtx_prefault_child_learn(struct dtx_prefault_child *hot);
/* Whether this kernel copies and maps pages when asked to. */
bool dtx_prefault_child_here(void);
/* How many there are. */
size_t dtx_prefault_child_pages(const struct dtx_prefault_child *hot);
/* In a new child.  False when it could not be done, wholly or in part. */
bool dtx_prefault_child_copy(const struct dtx_prefault_child *hot);
/* After it, where nobody waits: what was copied close together becomes large pages.  A core keeps
 * the places of few small ones in mind, and has forgotten them when a run comes. */
void dtx_prefault_child_gather(const struct dtx_prefault_child *hot);

#endif
