/* A folder of one process below $TMPDIR.
 *
 * A process keeps its folder locked while it uses it.  The next process that creates one removes
 * the folders of processes that were killed, which no process has locked. */
#ifndef DTX_BASE_TEMPDIR_H
#define DTX_BASE_TEMPDIR_H

#include "core/base/err.h"

/* All zero: not created. */
struct dtx_tempdir {
	char path[300];
	int fd; /* holds the lock */
};

/* Creates $TMPDIR/dtx-KIND-XXXXXX (mode 0700; below /tmp if TMPDIR is not set), after removing
 * unlocked folders of the same user and KIND.  Codes: output_io, disk_full. */
DTX_MUSTUSE enum dtx_code dtx_tempdir_make(struct dtx_tempdir *d, const char *kind,
                                           struct dtx_err *err);
/* Removes the folder with all that is in it.  Does nothing if it was not created. */
void dtx_tempdir_remove(struct dtx_tempdir *d);

#endif
