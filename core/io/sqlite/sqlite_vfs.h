/* The file of an SQLite database, where it is not a path: bytes in memory, which are read, or a
 * descriptor, which is written. SQLite sees a file system with this one file: it opens no other,
 * finds no journal, and has no clock and no random numbers. */
#ifndef DTX_IO_SQLITE_SQLITE_VFS_H
#define DTX_IO_SQLITE_SQLITE_VFS_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>

struct dtx_sqlite_vfs {
	const void *bytes; /* borrowed; NULL: the descriptor */
	size_t size;
	int fd;          /* borrowed; -1: the bytes */
	bool asked_time; /* SQL asked what time it is now */
	sqlite3_vfs vfs;
	char name[32]; /* for sqlite3_open_v2 */
};

/* Makes the file known to SQLite under v->name, for any path. `v` must not move until it is
 * removed. Returns SQLite's code. */
int dtx_sqlite_vfs_add(struct dtx_sqlite_vfs *v);
/* After the connection is closed; allowed if it was never added. */
void dtx_sqlite_vfs_remove(struct dtx_sqlite_vfs *v);

#endif
