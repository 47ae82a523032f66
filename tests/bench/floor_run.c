/* The floor of a small run: the system calls, page faults and waits for the disk of `dtx run` on a
 * CSV of three rows, counted with strace and perf, without any of its work.  It is linked to libc
 * alone, so the start of a program of dtx's size comes on top.
 *
 * Usage: floor_run FOLDER */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { READS = 140, WRITES = 72, LOOKS = 90, PAGES = 200, PAGE = 1024 };

static void *idle(void *arg)
{
	return arg;
}

/* The thread that opens the store; then the store's reads and writes, and looks at files. */
static int store(int log)
{
	static char page[PAGE];
	pthread_t thread;
	struct stat st;
	int i;

	if (pthread_create(&thread, NULL, idle, NULL) || pthread_join(thread, NULL))
		return 1;
	for (i = 0; i < READS; i++)
		if (pread(log, page, sizeof(page), (off_t)i * PAGE) < 0)
			return 1;
	for (i = 0; i < WRITES; i++)
		if (pwrite(log, page, sizeof(page), (off_t)i * PAGE) < 0)
			return 1;
	for (i = 0; i < LOOKS; i++)
		if (fstat(log, &st))
			return 1;
	return 0;
}

/* Memory that is touched for the first time. */
static int touch(void)
{
	volatile char *memory = malloc((size_t)PAGES * 4096);
	int i;

	for (i = 0; memory && i < PAGES; i++)
		memory[(size_t)i * 4096] = 1;
	return !memory;
}

/* An output: written, waited for, recorded, given its name, and its folder waited for. */
static int output(int log)
{
	int folder = open(".", O_RDONLY | O_DIRECTORY);
	int out = open(".floor.tmp", O_WRONLY | O_CREAT | O_TRUNC, 0600);

	return folder < 0 || out < 0 || write(out, "g,s\na,4\nb,2\n", 12) != 12 || fsync(out) ||
	       fdatasync(log) || rename(".floor.tmp", "floor.csv") || fsync(folder);
}

int main(int argc, char **argv)
{
	int log;

	if (argc != 2 || chdir(argv[1]))
		return 2;
	log = open("floor.log", O_RDWR | O_CREAT, 0600);
	return log < 0 || store(log) || touch() || output(log);
}
