/* SQLite's view of one file, see sqlite_vfs.h. */
#include "core/io/sqlite/sqlite_vfs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/text/str.h"

/* --- the file --- */

struct image {
	sqlite3_file head;
	const struct dtx_sqlite_vfs *v;
};

static const struct dtx_sqlite_vfs *of(const sqlite3_file *f)
{
	return ((const struct image *)f)->v; /* head is the first member */
}

static int image_close(sqlite3_file *f)
{
	(void)f;
	return SQLITE_OK;
}

/* Reads as much as there is; negative: an error. */
static ssize_t read_at(const struct dtx_sqlite_vfs *v, void *to, size_t n, sqlite3_int64 at)
{
	size_t have = 0;

	if (v->fd < 0) {
		size_t from = (size_t)at;

		have = at < 0 || from > v->size ? 0 : DTX_MIN(n, v->size - from);
		if (have)
			memcpy(to, (const char *)v->bytes + from, have);
		return (ssize_t)have;
	}
	while (have < n) {
		ssize_t got = pread(v->fd, (char *)to + have, n - have, at + (off_t)have);

		if (got < 0 && errno != EINTR)
			return -1;
		if (!got)
			break;
		have += got > 0 ? (size_t)got : 0;
	}
	return (ssize_t)have;
}

static int image_read(sqlite3_file *f, void *to, int n, sqlite3_int64 at)
{
	ssize_t have = read_at(of(f), to, (size_t)n, at);

	if (have < 0)
		return SQLITE_IOERR_READ;
	if (have == n)
		return SQLITE_OK;
	memset((char *)to + have, 0, (size_t)(n - have));
	return SQLITE_IOERR_SHORT_READ;
}

static int image_write(sqlite3_file *f, const void *from, int n, sqlite3_int64 at)
{
	int fd = of(f)->fd;

	if (fd < 0)
		return SQLITE_READONLY;
	for (ssize_t done = 0; done < n;) {
		ssize_t got = pwrite(fd, (const char *)from + done, (size_t)(n - done), at + done);

		if (got < 0 && errno != EINTR)
			return errno == ENOSPC || errno == EDQUOT ? SQLITE_FULL
			                                          : SQLITE_IOERR_WRITE;
		done += got > 0 ? got : 0;
	}
	return SQLITE_OK;
}

static int image_truncate(sqlite3_file *f, sqlite3_int64 size)
{
	if (of(f)->fd < 0)
		return SQLITE_READONLY;
	return ftruncate(of(f)->fd, size) < 0 ? SQLITE_IOERR_TRUNCATE : SQLITE_OK;
}

static int image_ignore(sqlite3_file *f, int flags)
{
	(void)f;
	(void)flags;
	return SQLITE_OK;
}

static int image_size(sqlite3_file *f, sqlite3_int64 *size)
{
	const struct dtx_sqlite_vfs *v = of(f);
	struct stat st;

	if (v->fd >= 0 && fstat(v->fd, &st) < 0)
		return SQLITE_IOERR_FSTAT;
	*size = v->fd < 0 ? (sqlite3_int64)v->size : st.st_size;
	return SQLITE_OK;
}

static int image_no(sqlite3_file *f, int *out)
{
	(void)f;
	*out = 0;
	return SQLITE_OK;
}

static int image_control(sqlite3_file *f, int op, void *arg)
{
	(void)f;
	(void)op;
	(void)arg;
	return SQLITE_NOTFOUND;
}

static int image_sector(sqlite3_file *f)
{
	(void)f;
	return 4096;
}

/* Bytes in memory do not change, so SQLite looks for no lock, no journal and no log. */
static int image_device(sqlite3_file *f)
{
	return of(f)->fd < 0 ? SQLITE_IOCAP_IMMUTABLE : 0;
}

static int image_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *f, int flags, int *got)
{
	static const sqlite3_io_methods methods = {
		.iVersion = 1,
		.xClose = image_close,
		.xRead = image_read,
		.xWrite = image_write,
		.xTruncate = image_truncate,
		.xSync = image_ignore,
		.xFileSize = image_size,
		.xLock = image_ignore,
		.xUnlock = image_ignore,
		.xCheckReservedLock = image_no,
		.xFileControl = image_control,
		.xSectorSize = image_sector,
		.xDeviceCharacteristics = image_device,
	};
	struct image *m = (struct image *)f;
	const struct dtx_sqlite_vfs *v = vfs->pAppData;

	(void)name;
	m->head.pMethods = NULL;
	/* temporary files are not needed: temp_store says memory */
	if (!(flags & SQLITE_OPEN_MAIN_DB))
		return SQLITE_CANTOPEN;
	m->head.pMethods = &methods;
	m->v = v;
	if (got)
		*got = v->fd < 0 ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
	return SQLITE_OK;
}

/* --- the file system --- */

static int image_delete(sqlite3_vfs *vfs, const char *name, int sync)
{
	(void)vfs;
	(void)name;
	(void)sync;
	return SQLITE_READONLY;
}

static int image_access(sqlite3_vfs *vfs, const char *name, int flags, int *out)
{
	(void)vfs;
	(void)name;
	(void)flags;
	*out = 0;
	return SQLITE_OK;
}

static int image_path(sqlite3_vfs *vfs, const char *name, int n, char *out)
{
	(void)vfs;
	snprintf(out, (size_t)n, "%s", name);
	return SQLITE_OK;
}

static int image_random(sqlite3_vfs *vfs, int n, char *out)
{
	(void)vfs;
	memset(out, 0, (size_t)n);
	return n;
}

static int image_sleep(sqlite3_vfs *vfs, int us)
{
	(void)vfs;
	return us;
}

/* The result of a run must not depend on when it ran, or a replay differs. */
static int image_time(sqlite3_vfs *vfs, double *out)
{
	((struct dtx_sqlite_vfs *)vfs->pAppData)->asked_time = true;
	*out = 0;
	return SQLITE_ERROR;
}

static int image_last(sqlite3_vfs *vfs, int n, char *out)
{
	(void)vfs;
	(void)n;
	(void)out;
	return 0;
}

int dtx_sqlite_vfs_add(struct dtx_sqlite_vfs *v)
{
	/* one per connection, as it holds the file */
	snprintf(v->name, sizeof(v->name), "dtx-%p", (void *)v);
	v->asked_time = false;
	v->vfs = (sqlite3_vfs){
		.iVersion = 1,
		.szOsFile = sizeof(struct image),
		.mxPathname = 64,
		.zName = v->name,
		.pAppData = v,
		.xOpen = image_open,
		.xDelete = image_delete,
		.xAccess = image_access,
		.xFullPathname = image_path,
		.xRandomness = image_random,
		.xSleep = image_sleep,
		.xCurrentTime = image_time,
		.xGetLastError = image_last,
	};
	return sqlite3_vfs_register(&v->vfs, 0);
}

void dtx_sqlite_vfs_remove(struct dtx_sqlite_vfs *v)
{
	if (v->vfs.zName)
		(void)sqlite3_vfs_unregister(&v->vfs);
	v->vfs.zName = NULL;
}
