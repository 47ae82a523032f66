/* The folder is created, locked, cleaned up and removed through descriptors, so that a link which
 * another process puts in its place has no effect. */
#include "core/base/tempdir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/file.h"

enum { TEMPDIR_TURNS = 20, TEMPDIR_DEPTH = 32 };

/* Removes what is in a folder, and in the folders there. */
static void tempdir_empty(int fd, int depth)
{
	int copy = dup(fd);
	DIR *dir = copy < 0 ? NULL : fdopendir(copy);
	struct dirent *e;
	int inner;

	if (!dir) {
		dtx_file_close(&copy);
		return;
	}
	rewinddir(dir);
	while ((e = readdir(dir))) {
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, "..") ||
		    !unlinkat(fd, e->d_name, 0) || !depth)
			continue;
		inner = openat(fd, e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (inner < 0)
			continue;
		tempdir_empty(inner, depth - 1);
		dtx_file_close(&inner);
		(void)unlinkat(fd, e->d_name, AT_REMOVEDIR);
	}
	closedir(dir);
}

/* Removes a folder that belongs to the same user and that no process has locked. */
static void tempdir_sweep_one(int base, const char *name)
{
	int fd = openat(base, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd >= 0 && fstat(fd, &st) == 0 && st.st_uid == geteuid() &&
	    flock(fd, LOCK_EX | LOCK_NB) == 0) {
		tempdir_empty(fd, TEMPDIR_DEPTH);
		(void)unlinkat(base, name, AT_REMOVEDIR);
	}
	dtx_file_close(&fd);
}

static void tempdir_sweep(const char *base, const char *prefix)
{
	DIR *dir = opendir(base);
	struct dirent *e;

	while (dir && (e = readdir(dir)))
		if (!strncmp(e->d_name, prefix, strlen(prefix)))
			tempdir_sweep_one(dirfd(dir), e->d_name);
	if (dir)
		closedir(dir);
}

enum dtx_code dtx_tempdir_make(struct dtx_tempdir *d, const char *kind, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const char *base = getenv("TMPDIR");
	char prefix[64];
	struct stat st;
	int n;

	base = base && *base ? base : "/tmp";
	snprintf(prefix, sizeof(prefix), "dtx-%s-", kind);
	tempdir_sweep(base, prefix);
	for (int turn = 0; turn < TEMPDIR_TURNS; turn++) {
		n = snprintf(d->path, sizeof(d->path), "%s/%sXXXXXX", base, prefix);
		if (n >= (int)sizeof(d->path))
			errno = ENAMETOOLONG;
		if (n >= (int)sizeof(d->path) || !mkdtemp(d->path)) {
			d->path[0] = '\0';
			DTX_FAIL_NEXT(err, dtx_file_write_code(errno),
			              "name another folder for temporary files with TMPDIR",
			              "cannot make a folder in '%s': %s", base, strerror(errno));
		}
		d->fd = open(d->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (d->fd >= 0 && flock(d->fd, LOCK_EX | LOCK_NB) == 0 && fstat(d->fd, &st) == 0 &&
		    st.st_nlink > 0)
			goto out;
		/* Another process cleaned up between mkdir and the lock, and took this folder for
		 * an abandoned one.  Try again. */
		if (d->fd < 0 && errno != ENOENT)
			break;
		dtx_file_close(&d->fd);
	}
	rc = dtx_err_set(err, DTX_E_OUTPUT_IO, __FILE__, __LINE__,
	                 "cannot lock the folder '%s': %s", d->path, strerror(errno));
	dtx_err_hint(err, "try again, or name another folder with TMPDIR");
	dtx_tempdir_remove(d);
out:
	return rc;
}

void dtx_tempdir_remove(struct dtx_tempdir *d)
{
	if (!d->path[0])
		return;
	if (d->fd >= 0)
		tempdir_empty(d->fd, TEMPDIR_DEPTH);
	(void)rmdir(d->path);
	dtx_file_close(&d->fd);
	d->path[0] = '\0';
}
