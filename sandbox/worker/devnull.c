/* Replacements for fopen64 and fdopen of the C library. They let two libraries work that write
 * messages to a file, although the jail has no files.
 *
 * matplotlib's triangulation (qhull) opens /dev/null to discard its messages; here that is a
 * stream without a file. scipy's copy of qhull writes to a file from tempfile.mkstemp, reads it
 * after a failure, and ends the process if it cannot. guest/science.py returns descriptor
 * numbers from NUMBERS on for such files, and fdopen turns them into streams in memory. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "core/base/lib.h"

#define EXPORTED __attribute__((visibility("default")))

/* first number of such files; bytes of messages that fit */
enum { NUMBERS = 1 << 20, MESSAGES = 1 << 16 };

EXPORTED FILE *fdopen(int fd, const char *mode);
EXPORTED FILE *fopen64(const char *restrict path, const char *restrict mode);

static ssize_t read_nothing(void *cookie, char *buf, size_t size)
{
	(void)cookie;
	(void)buf;
	(void)size;
	return 0;
}

static ssize_t write_nowhere(void *cookie, const char *buf, size_t size)
{
	(void)cookie;
	(void)buf;
	return (ssize_t)size;
}

/* Sets *real, a pointer to a function pointer, to the C library's own function of this name. */
static bool find(const char *name, void *real)
{
	void *at = dtx_lib_next(name);

	if (!at)
		errno = ENOSYS;
	memcpy(real, &at, sizeof(at));
	return at != NULL;
}

EXPORTED FILE *fopen64(const char *restrict path, const char *restrict mode)
{
	static const cookie_io_functions_t nothing = { .read = read_nothing,
		                                       .write = write_nowhere };
	FILE *(*real)(const char *, const char *);

	if (!strcmp(path, "/dev/null"))
		return fopencookie(NULL, mode, nothing);
	return find("fopen64", &real) ? real(path, mode) : NULL;
}

EXPORTED FILE *fdopen(int fd, const char *mode)
{
	FILE *(*real)(int, const char *);

	/* Only for a file that is also read: what a library writes to a file that it never reads
	 * back would be lost, so that case fails. */
	if (fd >= NUMBERS && strchr(mode, '+'))
		return fmemopen(NULL, MESSAGES, mode);
	return find("fdopen", &real) ? real(fd, mode) : NULL;
}
