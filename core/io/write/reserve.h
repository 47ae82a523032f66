/* Files of this process that no output may take the place of: what it reads (the plan, inputs, a
 * snippet), what it keeps (the store, settings), and its other outputs.
 *
 * A file is known by its path with links resolved and, where it exists, by device and inode as they
 * were when it was reserved and as they are now: a link, a hard link or a rename in between is
 * found. Devices and pipes are not reserved, they take from everybody.
 *
 * The list belongs to the process. It is filled by the main thread; dtx_outfile_open and
 * dtx_outfile_commit look at it, so a file that is reserved is safe from every output. */
#ifndef DTX_IO_WRITE_RESERVE_H
#define DTX_IO_WRITE_RESERVE_H

#include "core/base/err.h"

/* `what` says what the file is ("the plan of this run") and is not copied; path "-" is stdin.
 * Codes: usage, where an output has been claimed that would replace it. */
DTX_MUSTUSE enum dtx_code dtx_reserve(const char *path, const char *what, struct dtx_err *err);
/* An output that is to be written there, "-" for stdout.  `what` as above, `name` is for the
 * message
 * ("the rejects").  Codes: usage, where the file is reserved or another output goes there. */
DTX_MUSTUSE enum dtx_code dtx_reserve_output(const char *path, const char *name, const char *what,
                                             struct dtx_err *err);
/* Whether a reserved file would be replaced; other outputs do not count.  Codes: usage. */
DTX_MUSTUSE enum dtx_code dtx_reserve_check(const char *path, struct dtx_err *err);
void dtx_reserve_clear(void);

#endif
