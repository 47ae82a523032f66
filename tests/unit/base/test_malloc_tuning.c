/* The pages of the heap, as the kernel reports them, in processes of their own. */
#include "tests/t.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/memory/malloc_tuning.h"
#include "core/base/memory/mem.h"
#include "sandbox/role.h"

#define BLOCKS 700
#define BYTES  ((size_t)512 << 10)

/* Whether large pages are requested at p: "hg" is among the flags of its mapping. */
static bool is_huge(const void *p)
{
	FILE *f = fopen("/proc/self/smaps", "re");
	char line[512];
	bool here = false, huge = false;

	while (f && fgets(line, sizeof(line), f)) {
		unsigned long from, to;

		if (sscanf(line, "%lx-%lx ", &from, &to) == 2)
			here = from <= (unsigned long)(uintptr_t)p &&
			       (unsigned long)(uintptr_t)p < to;
		else if (here && !strncmp(line, "VmFlags:", 8))
			huge = strstr(line, " hg") != NULL;
	}
	if (f)
		fclose(f);
	return huge;
}

/* Allocates blocks in a process that may have this much memory.  The result has bit 1 if a block
 * 100 MiB further is on large pages, bit 2 if the last one is. */
static int pages_with(size_t limit)
{
	pid_t pid = fork();
	int status = -1;

	if (pid == 0) {
		char *end = sbrk(0), *block = NULL;
		int huge = 0;

		dtx_malloc_tuning_start();
		dtx_malloc_tuning_one(limit);
		for (size_t i = 0; i < BLOCKS && block < end + (100 << 20); i++)
			block = dtx_mem_alloc(BYTES, 1);
		huge = is_huge(block);
		for (size_t i = 0; i < BLOCKS; i++)
			block = dtx_mem_alloc(BYTES, 1);
		_exit(huge | is_huge(block) << 1);
	}
	T_INT(waitpid(pid, &status, 0), pid);
	T_CHECK(WIFEXITED(status));
	return WEXITSTATUS(status);
}

void test_large_heap(void)
{
	if (DTX_SANITIZED || access("/sys/kernel/mm/transparent_hugepage", F_OK)) {
		t_skip("no large pages: the kernel has none, or the sanitizer its own heap");
		return;
	}
	T_INT(pages_with(0), 2);
	T_INT(pages_with((size_t)1 << 30), 2);
	T_INT(pages_with((size_t)64 << 20), 0);
}

/* MiB in memory of a process of its own, with a budget of `limit`, after it has freed half of many
 * blocks, which leaves gaps, and then allocated some more. */
static int resident_with(size_t limit)
{
	pid_t pid = fork();
	int status = -1;

	if (pid == 0) {
		static char *block[BLOCKS / 10];
		long pages = 0;
		FILE *f;

		dtx_malloc_tuning_start();
		dtx_malloc_tuning_one(limit);
		for (size_t i = 0; i < DTX_COUNT(block); i++) {
			block[i] = dtx_mem_alloc(BYTES, 1);
			memset(block[i], 1, BYTES);
		}
		for (size_t i = 0; i < DTX_COUNT(block); i += 2)
			dtx_mem_free(block[i]);
		for (size_t i = 0; i < 40; i++) {
			char *larger = dtx_mem_alloc(2 * BYTES, 1);

			larger[0] = 1;
			dtx_mem_free(larger);
		}
		f = fopen("/proc/self/statm", "re");
		if (!f || fscanf(f, "%*d %ld", &pages) != 1)
			_exit(255);
		_exit((int)(pages * sysconf(_SC_PAGESIZE) >> 20));
	}
	T_INT(waitpid(pid, &status, 0), pid);
	T_CHECK(WIFEXITED(status));
	return WEXITSTATUS(status);
}

void test_small_heap(void)
{
	int kept, small;

	if (DTX_SANITIZED) {
		t_skip("the sanitizer has its own heap");
		return;
	}
	kept = resident_with((size_t)128 << 20);
	small = resident_with((size_t)32 << 20);
	T_CHECK(kept < 255 && small < kept - 10);
}
