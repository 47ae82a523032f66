/* Finds the pages that every run needs and takes them in advance, see prefault_child.h. It reads
 * /proc/self/maps and /proc/self/pagemap; the formats are in proc(5) and in the kernel's
 * Documentation/admin-guide/mm/pagemap.rst. */
#include "sandbox/zygote/prefault_child.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/base/file.h"

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

#define HUGE_SIZE ((uintptr_t)2 << 20)
/* with fewer bytes in use, copying the rest costs more than it saves */
#define HUGE_MIN (HUGE_SIZE / 8)

#define PAGE_PRESENT   (1ull << 63)
#define PAGE_OF_FILE   (1ull << 61)
#define PAGE_EXCLUSIVE (1ull << 56) /* mapped once: the child has its own copy */

#define LINES   8192 /* bytes of maps that are read at a time, more than one line can have */
#define ENTRIES 512  /* entries of pagemap that are read at a time */

void dtx_prefault_child_open(struct dtx_prefault_child *hot, int proc)
{
	hot->n = 0;
	hot->maps = proc < 0 ? -1 : openat(proc, "self/maps", O_RDONLY | O_CLOEXEC);
	hot->pagemap = proc < 0 ? -1 : openat(proc, "self/pagemap", O_RDONLY | O_CLOEXEC);
}

void dtx_prefault_child_close(struct dtx_prefault_child *hot)
{
	dtx_file_close(&hot->maps);
	dtx_file_close(&hot->pagemap);
}

/* Adds a page to the list, joined with the last one if they touch. Returns false if the list is
 * full. */
static bool add(struct dtx_prefault_child *hot, uintptr_t at, size_t len, int how)
{
	struct dtx_prefault_child_run *last = hot->n ? &hot->run[hot->n - 1] : NULL;

	if (last && last->at + last->len == at && last->how == how) {
		last->len += len;
		return true;
	}
	if (hot->n == DTX_PREFAULT_CHILD_RUNS)
		return false;
	hot->run[hot->n++] = (struct dtx_prefault_child_run){ at, len, how };
	return true;
}

/* Which pages of which mappings to list, and what to do with them later: pages of private memory
 * that the child has written to are copied, pages of files are mapped. */
struct rule {
	const char *access;
	uint64_t mask, want; /* bits of a page's entry in pagemap */
	int how;
};

#define FILE_PAGE PAGE_PRESENT | PAGE_OF_FILE, PAGE_PRESENT | PAGE_OF_FILE

static const struct rule learning[] = {
	{ " rw-p", PAGE_PRESENT | PAGE_OF_FILE | PAGE_EXCLUSIVE, PAGE_PRESENT | PAGE_EXCLUSIVE,
	  MADV_POPULATE_WRITE },
	{ " r-xp", FILE_PAGE, MADV_POPULATE_READ },
	{ " r--p", FILE_PAGE, MADV_POPULATE_READ },
	{ .access = NULL },
};
static const struct rule forgetting[] = {
	{ " r-xp", FILE_PAGE, MADV_DONTNEED },
	{ " r--p", FILE_PAGE, MADV_DONTNEED },
	{ .access = NULL },
};

/* Lists the pages of one mapping. */
static bool scan(struct dtx_prefault_child *hot, const struct rule *rule, uintptr_t from,
                 uintptr_t to, size_t page)
{
	uint64_t entry[ENTRIES];

	if (lseek(hot->pagemap, (off_t)(from / page * sizeof(entry[0])), SEEK_SET) < 0)
		return false;
	while (from < to) {
		size_t want = DTX_MIN((to - from) / page, (size_t)ENTRIES), i;
		ssize_t n = read(hot->pagemap, entry, want * sizeof(entry[0]));

		if (n < (ssize_t)sizeof(entry[0]))
			return false;
		for (i = 0; i < (size_t)n / sizeof(entry[0]); i++, from += page)
			if ((entry[i] & rule->mask) == rule->want &&
			    !add(hot, from, page, rule->how))
				return false;
	}
	return true;
}

/* Handles one line of maps, "7f12-7f34 rw-p ...". */
static bool scan_line(struct dtx_prefault_child *hot, const struct rule *rule, const char *line,
                      size_t page)
{
	char *end;
	uintptr_t from = strtoul(line, &end, 16), to;

	if (*end != '-')
		return false;
	to = strtoul(end + 1, &end, 16);
	while (rule->access && strncmp(end, rule->access, strlen(rule->access)) != 0)
		rule++;
	return !rule->access || scan(hot, rule, from, to, page);
}

/* Handles all whole lines of `text`; *used becomes the number of their bytes. */
static bool scan_lines(struct dtx_prefault_child *hot, const struct rule *rules, char *text,
                       size_t *used, size_t page)
{
	char *line = text, *end;

	while ((end = strchr(line, '\n'))) {
		*end = 0;
		if (!scan_line(hot, rules, line, page))
			return false;
		line = end + 1;
	}
	*used = (size_t)(line - text);
	return true;
}

/* Lists all pages of this process for which there is a rule. Returns false if none. */
static bool list(struct dtx_prefault_child *hot, const struct rule *rules)
{
	char text[LINES + 1];
	size_t len = 0, used, page = (size_t)sysconf(_SC_PAGESIZE);
	ssize_t n = -1;

	hot->n = 0;
	if (hot->maps < 0 || hot->pagemap < 0 || lseek(hot->maps, 0, SEEK_SET) < 0)
		return false;
	while (len < LINES && (n = read(hot->maps, text + len, LINES - len)) > 0) {
		len += (size_t)n;
		text[len] = 0;
		if (!scan_lines(hot, rules, text, &used, page))
			break;
		memmove(text, text + used, len - used);
		len -= used;
	}
	if (n != 0)
		hot->n = 0; /* A partial list would be the wrong pages: better to have none. */
	return hot->n > 0;
}

void dtx_prefault_child_forget(struct dtx_prefault_child *hot)
{
	size_t i;

	list(hot, forgetting);
	for (i = 0; i < hot->n; i++) {
		const struct dtx_prefault_child_run *r = &hot->run[i];

		/* A page that stays mapped costs a little time and nothing else. */
		if (madvise((void *)r->at, r->len, r->how))
			errno = 0;
	}
	hot->n = 0;
}

bool dtx_prefault_child_learn(struct dtx_prefault_child *hot)
{
	return list(hot, learning);
}

bool dtx_prefault_child_here(void)
{
	return madvise(NULL, 0, MADV_POPULATE_WRITE) == 0;
}

size_t dtx_prefault_child_pages(const struct dtx_prefault_child *hot)
{
	size_t i, bytes = 0;

	for (i = 0; i < hot->n; i++)
		bytes += hot->run[i].len;
	return bytes / (size_t)sysconf(_SC_PAGESIZE);
}

bool dtx_prefault_child_copy(const struct dtx_prefault_child *hot)
{
	size_t i;

	for (i = 0; i < hot->n; i++) {
		const struct dtx_prefault_child_run *r = &hot->run[i];

		/* ENOMEM: the zygote has freed that memory in the meantime. */
		if (madvise((void *)r->at, r->len, r->how) && errno != ENOMEM)
			return false;
	}
	return hot->n > 0;
}

/* Makes one large page if enough of it has been copied. */
static void gather(uintptr_t at, size_t copied)
{
	if (copied >= HUGE_MIN && madvise((void *)at, HUGE_SIZE, MADV_COLLAPSE))
		errno = 0; /* a kernel before 6.1, or memory too fragmented */
}

void dtx_prefault_child_gather(const struct dtx_prefault_child *hot)
{
	uintptr_t at = 0;
	size_t i, copied = 0;

	for (i = 0; i < hot->n; i++) {
		uintptr_t from = hot->run[i].at, end = from + hot->run[i].len;

		while (hot->run[i].how == MADV_POPULATE_WRITE && from < end) {
			uintptr_t huge = from / HUGE_SIZE * HUGE_SIZE;
			uintptr_t to = DTX_MIN(end, huge + HUGE_SIZE);

			if (huge != at) {
				gather(at, copied);
				at = huge;
				copied = 0;
			}
			copied += to - from;
			from = to;
		}
	}
	gather(at, copied);
}
