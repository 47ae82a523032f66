/* Which pages a child has copied, and copying them at once. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/file.h"
#include "sandbox/zygote/prefault_child.h"
#include "sandbox/zygote/pyhost.h"
#include "sandbox/role.h"
#include "tests/t.h"

enum { PAGES = 64 };

static size_t page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

static void write_some(char *memory)
{
	size_t i;

	for (i = 0; i < PAGES; i += 4)
		memory[i * page_size()] = 2;
}

/* Learns from a child that writes to every fourth page. */
static bool learn_from(struct dtx_prefault_child *hot, char *memory)
{
	int done[2], status;
	bool learnt;
	char byte;
	pid_t pid;

	if (pipe(done))
		return false;
	pid = fork();
	if (pid == 0) {
		close(done[0]);
		write_some(memory);
		_exit(write(done[1], "", 1) == 1 && pause());
	}
	close(done[1]);
	learnt = pid > 0 && read(done[0], &byte, 1) == 1 && dtx_prefault_child_learn(hot);
	close(done[0]);
	if (pid > 0)
		kill(pid, SIGKILL);
	return pid > 0 && waitpid(pid, &status, 0) == pid && learnt;
}

static size_t count_in(const struct dtx_prefault_child *hot, const char *memory)
{
	uintptr_t from = (uintptr_t)memory, to = from + PAGES * page_size();
	size_t i, n = 0;

	for (i = 0; i < hot->n; i++)
		if (hot->run[i].at >= from && hot->run[i].at < to)
			n += hot->run[i].len / page_size();
	return n;
}

static long faults(void)
{
	struct rusage ru;

	return getrusage(RUSAGE_SELF, &ru) ? 0 : ru.ru_minflt;
}

/* In a child: once pages are copied, they are written to without a fault. */
static int copies(const struct dtx_prefault_child *hot, char *memory)
{
	long before;

	if (!dtx_prefault_child_copy(hot))
		return 1;
	write_some(memory + 1); /* pages that the code itself needs exist now */
	before = faults();
	write_some(memory);
	return faults() != before;
}

void test_jail_hot_pages_are_copied(void)
{
	static struct dtx_prefault_child hot;
	size_t size = PAGES * page_size();
	int proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC), status = -1;
	char *memory;
	pid_t pid;

	dtx_prefault_child_open(&hot, proc);
	dtx_file_close(&proc);
	/* looking through the shadow memory of a sanitizer takes half a minute */
	if (DTX_SANITIZED || hot.pagemap < 0 || !dtx_prefault_child_here()) {
		dtx_prefault_child_close(&hot);
		t_skip(DTX_SANITIZED ? "a sanitizer build has no jail"
		                     : "this kernel tells nothing about pages");
		return;
	}
	memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED) {
		T_CHECK(false);
		return;
	}
	madvise(memory, size, MADV_NOHUGEPAGE);
	memset(memory, 1, size);
	T_CHECK(learn_from(&hot, memory));
	T_INT(count_in(&hot, memory), PAGES / 4);
	T_CHECK(dtx_prefault_child_pages(&hot) >= PAGES / 4);
	pid = fork();
	if (pid == 0)
		_exit(copies(&hot, memory));
	T_CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
	T_INT(status, 0);
	dtx_prefault_child_close(&hot);
	munmap(memory, size);
}

/* Whether the memory at `at` is one large page now, as the kernel reports. */
static bool is_large(const char *at)
{
	FILE *f = fopen("/proc/self/smaps", "r");
	unsigned long from, to, kb;
	bool here = false, large = false;
	char line[512];

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%lx-%lx ", &from, &to) == 2)
			here = (uintptr_t)at >= from && (uintptr_t)at < to;
		else if (here && sscanf(line, "AnonHugePages: %lu kB", &kb) == 1)
			large = kb > 0;
	}
	if (f)
		fclose(f);
	return large;
}

/* A mapping of small pages, of which `pages` are listed, at the start of a large page. */
static bool gathers(size_t pages)
{
	static struct dtx_prefault_child hot;
	const size_t huge = (size_t)2 << 20;
	char *room = mmap(NULL, 2 * huge, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
	                  0),
	     *at;
	bool large;

	if (room == MAP_FAILED)
		return false;
	at = room + (huge - (uintptr_t)room % huge) % huge;
	memset(room, 1, 2 * huge);
	hot.n = 1;
	hot.run[0] = (struct dtx_prefault_child_run){ (uintptr_t)at, pages * page_size(), 23 };
	dtx_prefault_child_gather(&hot);
	large = is_large(at);
	T_INT(at[0] + at[huge - 1], 2);
	munmap(room, 2 * huge);
	return large;
}

void test_prefault_child_pages_become_large_ones_where_there_are_many(void)
{
	if (DTX_SANITIZED || !gathers(512)) {
		t_skip("this kernel gathers no pages");
		return;
	}
	T_CHECK(gathers(128));
	T_CHECK(!gathers(8));
}

/* Without /proc nothing is learned and nothing is copied. */
void test_prefault_child_without_proc(void)
{
	static struct dtx_prefault_child hot;

	dtx_prefault_child_open(&hot, -1);
	T_CHECK(!dtx_prefault_child_learn(&hot));
	T_INT(dtx_prefault_child_pages(&hot), 0);
	T_CHECK(!dtx_prefault_child_copy(&hot));
	dtx_prefault_child_close(&hot);
}

/* An interpreter that only reads texts has no pandas to warm up. */
static int cold(void)
{
	struct dtx_py_info info;

	if (dtx_py_start(0, DTX_ZYGOTE_SCREEN, DTX_FILTER_SEALED, &info, NULL) != DTX_OK)
		return 2;
	return dtx_py_warm(DTX_PY_ROUND) || dtx_py_warm(DTX_PY_TOUCHES);
}

void test_warm_up_tells_that_it_failed(void)
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0)
		_exit(cold());
	T_CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
	T_INT(status, 0);
}
