/* A folder of one process below $TMPDIR, which holds files only.
 *
 * It is locked while it is in use; the next process that makes one removes those that a killed
 * process left. */
#ifndef DTX_BASE_TEMPDIR_H
#define DTX_BASE_TEMPDIR_H

#include "core/base/err.h"

/* All zero: not made. */
struct dtx_tempdir {
	char path[300];
	int fd; /* holds the lock */
};

/* Makes $TMPDIR/dtx-KIND-XXXXXX (0700; /tmp where TMPDIR is not set), after removing such folders
 * of the same user and KIND that no process locks.  Codes: output_io, disk_full. */
DTX_MUSTUSE enum dtx_code dtx_tempdir_make(struct dtx_tempdir *d, const char *kind,
                                           struct dtx_err *err);
/* Removes it with its files; nothing when it was not made. */
void dtx_tempdir_remove(struct dtx_tempdir *d);

#endif
