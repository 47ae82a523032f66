/* Files of this process that no output may replace: what it reads (the plan, inputs, a snippet),
 * what it keeps (the store, settings), and its other outputs.
 *
 * A file is identified by its path with links resolved and, if it exists, by device and inode,
 * as they were when it was reserved and as they are now. So a link, a hard link or a rename in
 * between is found. Devices and pipes are not reserved, because several outputs may go there.
 *
 * There is one list for the process. The main thread fills it. dtx_outfile_open and
 * dtx_outfile_commit check it, so that a reserved file is safe from every output. */
#ifndef DTX_IO_WRITE_RESERVE_H
#define DTX_IO_WRITE_RESERVE_H

#include "core/base/err.h"

/* Reserves a file. `what` says what it is ("the plan of this run") and is not copied; the path
 * "-" is stdin. Error: usage, if an output is reserved that would replace it. */
DTX_MUSTUSE enum dtx_code dtx_reserve(const char *path, const char *what, struct dtx_err *err);
/* Reserves an output, "-" for stdout. `what` as above; `name` is for the message ("the
 * rejects"). Error: usage, if the file is reserved or another output goes there. */
DTX_MUSTUSE enum dtx_code dtx_reserve_output(const char *path, const char *name, const char *what,
                                             struct dtx_err *err);
/* Fails if a reserved file would be replaced; other outputs do not count. Error: usage. */
DTX_MUSTUSE enum dtx_code dtx_reserve_check(const char *path, struct dtx_err *err);
void dtx_reserve_clear(void);

#endif
