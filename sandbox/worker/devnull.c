/* A library that wants nobody to read its messages opens /dev/null, which the jail has not: here it
 * is a stream of no file.  matplotlib's triangulation is one; libraries are built with fopen64.
 * scipy's writes them to what tempfile.mkstemp opened, reads them again if it fails, and ends the
 * process where it cannot: numbers of no descriptor (guest/science.py) are streams of memory. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "core/base/lib.h"

#define EXPORTED __attribute__((visibility("default")))

enum { NUMBERS = 1 << 20, MESSAGES = 1 << 16 }; /* the first of them; bytes of messages */

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

/* Puts the C library's own function at *real, a pointer to one. */
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

	/* of one that is not read here, what is written would be lost: that fails */
	if (fd >= NUMBERS && strchr(mode, '+'))
		return fmemopen(NULL, MESSAGES, mode);
	return find("fdopen", &real) ? real(fd, mode) : NULL;
}
