/* Reads a stream ahead on its own thread into a few windows, so that one thread unpacks while
 * another parses. */
#ifndef DTX_IO_SOURCE_READ_AHEAD_H
#define DTX_IO_SOURCE_READ_AHEAD_H

#include "core/base/err.h"

/* The reader may write so many bytes before and after what it was lent. */
enum { DTX_READ_AHEAD_FRONT = 4096, DTX_READ_AHEAD_BEHIND = 64 };

struct dtx_read_ahead;
typedef enum dtx_code (*dtx_read_ahead_fn)(void *arg, void *to, size_t cap, size_t *got,
                                           struct dtx_err *err);
/* Computes a property of bytes that can be found without context. */
typedef bool (*dtx_read_ahead_judge)(const char *bytes, size_t len);

/* Starts a thread, which alone calls `read(arg, ...)` until close; *got is 0 at the end of the
 * stream. *out is NULL if no thread can be started: the caller then reads for itself. */
DTX_MUSTUSE enum dtx_code dtx_read_ahead_open(dtx_read_ahead_fn read, void *arg,
                                              dtx_read_ahead_judge judge,
                                              struct dtx_read_ahead **out, struct dtx_err *err);
/* Like `read`. An error of the stream is returned at the place where it happened. If *judged is
 * set, the thread judges windows from now on; *judged becomes the judgement of the window that
 * the bytes belong to. */
DTX_MUSTUSE enum dtx_code dtx_read_ahead_read(struct dtx_read_ahead *a, void *to, size_t cap,
                                              size_t *got, bool *judged, struct dtx_err *err);
/* The same without a copy: lends the rest of a window. The reader may write to it, and to the
 * bytes around it as given above, until the next call. */
DTX_MUSTUSE enum dtx_code dtx_read_ahead_lend(struct dtx_read_ahead *a, char **at, size_t *got,
                                              bool *judged, struct dtx_err *err);
/* Stops and joins the thread; NULL is fine. */
void dtx_read_ahead_close(struct dtx_read_ahead *a);

#endif
