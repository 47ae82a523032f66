/* Opening, reading and writing of files.
 *
 * The functions retry after EINTR, complete short reads and writes, and put the reason of errno
 * into the message.  Descriptors that they return are close-on-exec and belong to the caller. */
#ifndef DTX_BASE_FILE_H
#define DTX_BASE_FILE_H

#include <limits.h>

#include "core/base/memory/buf.h"

/* For an input_not_found error: suggests names in the same folder that are spelt alike, or says
 * that the folder does not exist. */
void dtx_file_suggest(const char *path, struct dtx_err *err);
/* Opens a file for reading.  Codes: input_not_found; input_io, also for a directory. */
DTX_MUSTUSE enum dtx_code dtx_file_open(const char *path, int *fd, struct dtx_err *err);
/* Appends a whole file ("-" is stdin) to `out`.  Fails with cell_limit if it has more than out->max
 * bytes. */
DTX_MUSTUSE enum dtx_code dtx_file_slurp(const char *path, struct dtx_buf *out,
                                         struct dtx_err *err);
/* Writes all n bytes.  `name` is for the message.  Codes: disk_full (ENOSPC, EDQUOT, EFBIG),
 * output_closed (EPIPE), output_io.  If the thread can be cancelled (core/base/thread/cancel.h),
 * waiting for the reader of a pipe, socket or terminal ends with cancelled or time_limit. */
DTX_MUSTUSE enum dtx_code dtx_file_write(int fd, const void *bytes, size_t n, const char *name,
                                         struct dtx_err *err);
/* The code for a write that failed with errno `error`: disk_full, output_closed or output_io. */
enum dtx_code dtx_file_write_code(int error);
/* A temporary file without a name, mode 0600, in `dir` (NULL: $TMPDIR, else /tmp).  The kernel
 * frees it when the descriptor is closed. */
DTX_MUSTUSE enum dtx_code dtx_file_temp(const char *dir, int *fd, struct dtx_err *err);
/* Whether path is a pipe, device or socket: its bytes can be read only once, and open() may
 * block. */
bool dtx_file_passes(const char *path);
/* Opens an existing output that is not a regular file, such as a device or a FIFO.  For a FIFO it
 * waits until somebody reads from it, or until the thread is cancelled.  Codes: output_io,
 * cancelled, time_limit. */
DTX_MUSTUSE enum dtx_code dtx_file_open_out(const char *path, int *fd, struct dtx_err *err);
/* Opens a file for appending and creates it if it is missing.  Codes: output_io. */
DTX_MUSTUSE enum dtx_code dtx_file_append(const char *path, int *fd, struct dtx_err *err);
/* fsync of a file, or of the folder that contains `path`. */
DTX_MUSTUSE enum dtx_code dtx_file_sync(int fd, const char *name, struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_file_sync_dir(const char *path, struct dtx_err *err);
/* Makes every missing folder above `path` with this mode.  Returns 0, or errno, with path cut after
 * the folder that could not be made. */
DTX_MUSTUSE int dtx_file_make_folders(char *path, unsigned mode);
/* Writes the directory part of path to out; "." if none. */
void dtx_file_dirname(const char *path, char *out, size_t size);
const char *dtx_file_basename(const char *path);
/* The suffix that names the format of a file, without its dot and in lower case.  Of "a.csv.gz"
 * and "a.csv.zst" it is "csv".  Empty if none, or if it is longer than the suffix of any format. */
enum { DTX_FILE_SUFFIX = 12 };
void dtx_file_suffix(const char *path, char out[DTX_FILE_SUFFIX]);
/* The reason why a call on `path` failed with errno `code`.  Unlike strerror it recognizes that the
 * current folder was deleted, which makes every relative name fail. */
const char *dtx_file_why(int code, const char *path);
/* Adds a hint where the cause is not the file itself: the limit of open files, or the current
 * folder.  Adds nothing otherwise. */
void dtx_file_next(struct dtx_err *err, int code, const char *path);
/* For the call that has just set errno: fails with "cannot DOING 'PATH': reason" and the hint. */
#define DTX_FAIL_FILE(err, code, doing, path)                                                      \
	do {                                                                                       \
		int errno_ = errno;                                                                \
		rc = dtx_err_set((err), (code), __FILE__, __LINE__, "cannot %s '%s': %s", (doing), \
		                 (path), dtx_file_why(errno_, (path)));                            \
		dtx_file_next((err), errno_, (path));                                              \
		goto out;                                                                          \
	} while (0)
/* The absolute form of path; links are not resolved.  dtx_mem memory; NULL when out of memory. */
DTX_MUSTUSE char *dtx_file_absolute(const char *path);
/* The path of the file that a chain of links leads to.  If it does not exist yet, its absolute
 * path.  dtx_mem memory; NULL when out of memory. */
DTX_MUSTUSE char *dtx_file_real(const char *path);
/* Whether writing to `path` would follow a link that another user has placed in a folder that
 * everyone may write to, such as /tmp.  That is the case if the owner of the link is neither the
 * caller nor the owner of the folder.  `link` receives the path of that link. */
bool dtx_file_planted_link(const char *path, char link[PATH_MAX]);
/* The descriptor that an output name stands for: "-", "/dev/stdout", "/dev/fd/3" and the like.  -1
 * if the name stands for none. */
int dtx_file_out_fd(const char *path);
/* Closes *fd and keeps errno.  A negative descriptor is allowed. */
void dtx_file_close(int *fd);

#endif
