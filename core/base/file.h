/* Files: open, read, map, write fully; EINTR and short writes handled; errno in messages. */
#ifndef DTX_BASE_FILE_H
#define DTX_BASE_FILE_H

#include <limits.h>

#include "core/base/buf.h"

/* For input_not_found: names in that folder that are spelt alike, or that there is no such folder.
 */
void dtx_file_near(const char *path, struct dtx_err *err);
/* Codes: input_not_found, input_io.  Directories are refused.  *fd is close-on-exec. */
DTX_MUSTUSE enum dtx_code dtx_file_open(const char *path, int *fd, struct dtx_err *err);
/* The whole file (or "-" for stdin) into `out`, at most out->max bytes (else cell_limit). */
DTX_MUSTUSE enum dtx_code dtx_file_slurp(const char *path, struct dtx_buf *out,
                                         struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_file_slurp_fd(int fd, const char *name, struct dtx_buf *out,
                                            struct dtx_err *err);
/* All n bytes.  Codes: disk_full (ENOSPC, EDQUOT, EFBIG), output_closed (EPIPE), output_io.  `name`
 * is for the text.  In a thread that can be cancelled (core/base/cancel.h) a wait for the reader of
 * a pipe, socket or terminal ends with cancelled or time_limit. */
DTX_MUSTUSE enum dtx_code dtx_file_write(int fd, const void *bytes, size_t n, const char *name,
                                         struct dtx_err *err);
/* The code of a failed write: disk_full, output_closed or output_io. */
enum dtx_code dtx_file_write_code(int error);
/* Unlinked temp file in `dir` (NULL: $TMPDIR, else /tmp), close-on-exec, 0600. */
DTX_MUSTUSE enum dtx_code dtx_file_temp(const char *dir, int *fd, struct dtx_err *err);
/* A pipe, device or socket: its bytes do not stay, and to open it may wait for ever. */
bool dtx_file_passes(const char *path);
/* An output that is there and is no regular file: a device, a FIFO (waits for its reader until the
 * thread is cancelled).  Codes: output_io, cancelled, time_limit. */
DTX_MUSTUSE enum dtx_code dtx_file_open_out(const char *path, int *fd, struct dtx_err *err);
/* For writing at its end, made when missing. Codes: output_io. */
DTX_MUSTUSE enum dtx_code dtx_file_append(const char *path, int *fd, struct dtx_err *err);
/* fsync of a file or of the folder that holds `path`. */
DTX_MUSTUSE enum dtx_code dtx_file_sync(int fd, const char *name, struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_file_sync_dir(const char *path, struct dtx_err *err);
/* Directory part of path into out ("." when none). */
void dtx_file_dirname(const char *path, char *out, size_t size);
const char *dtx_file_basename(const char *path);
/* The suffix that names the format of a file: the last one without its dot, in small letters, that
 * before ".gz" when there are two.  Empty: there is none, or it is longer than any format's. */
enum { DTX_FILE_SUFFIX = 12 };
void dtx_file_suffix(const char *path, char out[DTX_FILE_SUFFIX]);
/* Why a call on `path` failed with errno `code`: a name that counts from a folder that was deleted
 * is not just missing. */
const char *dtx_file_why(int code, const char *path);
/* The next step where the cause is not the file: open files, the current folder.  Else no hint. */
void dtx_file_next(struct dtx_err *err, int code, const char *path);
/* Fails with "cannot DOING 'PATH': why" and the next step, of the call that just set errno. */
#define DTX_FAIL_FILE(err, code, doing, path)                                                      \
	do {                                                                                       \
		int errno_ = errno;                                                                \
		rc = dtx_err_set((err), (code), __FILE__, __LINE__, "cannot %s '%s': %s", (doing), \
		                 (path), dtx_file_why(errno_, (path)));                            \
		dtx_file_next((err), errno_, (path));                                              \
		goto out;                                                                          \
	} while (0)
/* Absolute form of path without resolving links; dtx_mem, NULL when out of memory. */
DTX_MUSTUSE char *dtx_file_absolute(const char *path);
/* The file that a chain of links leads to, or the absolute path of what does not exist yet;
 * dtx_mem, NULL when out of memory. */
DTX_MUSTUSE char *dtx_file_real(const char *path);
/* Whether writing to `path` would follow a link that another user left in a folder that all may
 * write to, such as /tmp: its owner is neither the caller nor the owner of the folder.  `link` gets
 * the path of that link. */
bool dtx_file_planted_link(const char *path, char link[PATH_MAX]);
/* The descriptor that an output is named by: "-", "/dev/stdout", "/dev/fd/3" and the like; -1:
 * none. */
int dtx_file_out_fd(const char *path);
/* close() that keeps errno; fd < 0 is fine. */
void dtx_file_close(int *fd);

#endif
