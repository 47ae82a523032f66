/* The mappings are kept in a fixed table, so that the signal handler needs no lock: an entry is
 * complete before its mapping is used.  The table is process-wide, as the signal is. */
#include "core/base/sigbus_guard.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

static struct slot {
	atomic_uintptr_t start, end; /* end 0: the entry is free; `end` is written last and read
	                              * first */
	atomic_bool taken, cut;
} slots[DTX_SIGBUS_GUARD_MAX];
static uintptr_t page_size; /* set before the handler is installed */

/* Replaces everything from the missing page to the end of the mapping by zeros: the file has
 * nothing there any more. */
static bool guard_patch(struct slot *s, uintptr_t at, uintptr_t end)
{
	uintptr_t page = at & ~(page_size - 1);

	atomic_store(&s->cut, true);
	return mmap((void *)page, end - page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
	            -1, 0) != MAP_FAILED;
}

static void guard_handler(int sig, siginfo_t *info, void *context)
{
	uintptr_t at = (uintptr_t)info->si_addr;
	size_t i;

	(void)context;
	for (i = 0; i < DTX_SIGBUS_GUARD_MAX; i++) {
		uintptr_t end = atomic_load(&slots[i].end);

		if (at < end && at >= atomic_load(&slots[i].start) &&
		    guard_patch(&slots[i], at, end))
			return;
	}
	/* Not one of our mappings: with the default action, the access is repeated and ends the
	 * program as it would have without the handler. */
	signal(sig, SIG_DFL);
}

static void guard_install(void)
{
	struct sigaction act = { .sa_sigaction = guard_handler,
		                 .sa_flags = SA_SIGINFO | SA_RESTART };

	page_size = (uintptr_t)sysconf(_SC_PAGESIZE);
	sigemptyset(&act.sa_mask);
	sigaction(SIGBUS, &act, NULL);
}

int dtx_sigbus_guard_add(const void *ptr, size_t len)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	static atomic_uint next; /* slots are taken in turn, so this one is probably free */
	uintptr_t size;
	unsigned k, i;

	pthread_once(&once, guard_install);
	size = (len + page_size - 1) & ~(page_size - 1);
	for (k = 0; k < DTX_SIGBUS_GUARD_MAX; k++) {
		i = atomic_fetch_add(&next, 1) % DTX_SIGBUS_GUARD_MAX;
		if (atomic_exchange(&slots[i].taken, true))
			continue;
		atomic_store(&slots[i].cut, false);
		atomic_store(&slots[i].start, (uintptr_t)ptr);
		atomic_store(&slots[i].end, (uintptr_t)ptr + size);
		return (int)i;
	}
	return -1;
}

void dtx_sigbus_guard_remove(int guard)
{
	if (guard < 0)
		return;
	atomic_store(&slots[guard].end, 0);
	atomic_store(&slots[guard].taken, false);
}

bool dtx_sigbus_guard_cut(int guard)
{
	return guard >= 0 && atomic_load(&slots[guard].cut);
}
