/* Takes the pages that every run needs before a client waits for them.
 *
 * A forked worker shares all memory with its zygote until it writes, and has no library mapped
 * until it uses it. Taking each page with a fault of its own is most of the time of a short run.
 * So the zygote learns from one child which pages a run writes to. Later workers copy these
 * pages at once, and map the parts of libraries that the zygote has used.
 *
 * This only saves time: without /proc, or on a kernel before 5.14, nothing is learned and
 * nothing is copied. One thread only. */
#ifndef DTX_SANDBOX_ZYGOTE_PREFAULT_CHILD_H
#define DTX_SANDBOX_ZYGOTE_PREFAULT_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DTX_PREFAULT_CHILD_RUNS 8192

struct dtx_prefault_child_run {
	uintptr_t at;
	size_t len;
	int how; /* the advice for madvise */
};
struct dtx_prefault_child {
	int maps, pagemap; /* /proc/self/maps and pagemap, opened early; -1 if missing */
	size_t n;          /* 0 if nothing is known */
	struct dtx_prefault_child_run run[DTX_PREFAULT_CHILD_RUNS];
};

/* Opens the kernel's files about this process, the one that will fork. `proc` is a descriptor of
 * /proc, or -1. */
void dtx_prefault_child_open(struct dtx_prefault_child *hot, int proc);
void dtx_prefault_child_close(struct dtx_prefault_child *hot);
/* Unmaps the pages of files in this process. The pages that it uses from here on come back, and
 * these are the ones that dtx_prefault_child_learn finds. */
void dtx_prefault_child_forget(struct dtx_prefault_child *hot);
/* Lists the pages that a run needs. Must be called while exactly one child lives, which has done
 * what runs do: the pages that it copied are no longer shared. Returns false if nothing could be
 * learned. */
bool dtx_prefault_child_learn(struct dtx_prefault_child *hot);
/* Whether this kernel has the madvise calls that copy and map pages on request. */
bool dtx_prefault_child_here(void);
/* The number of pages in the list. */
size_t dtx_prefault_child_pages(const struct dtx_prefault_child *hot);
/* Copies and maps the listed pages; called in a new child. Returns false if not all of it was
 * done. */
bool dtx_prefault_child_copy(const struct dtx_prefault_child *hot);
/* Turns pages that were copied close together into large pages. Called after
 * dtx_prefault_child_copy, in a worker that no client waits for yet. It saves TLB misses: a core
 * remembers the places of only a few small pages. */
void dtx_prefault_child_gather(const struct dtx_prefault_child *hot);

#endif
