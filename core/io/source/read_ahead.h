/* Reads a stream ahead on a thread of its own, into a few windows: one thread inflates while
 * another scans. */
#ifndef DTX_IO_SOURCE_READ_AHEAD_H
#define DTX_IO_SOURCE_READ_AHEAD_H

#include "core/base/err.h"

/* Bytes of the reader's before and behind what is lent. */
enum { DTX_READ_AHEAD_FRONT = 4096, DTX_READ_AHEAD_BEHIND = 64 };

struct dtx_read_ahead;
typedef enum dtx_code (*dtx_read_ahead_fn)(void *arg, void *to, size_t cap, size_t *got,
                                           struct dtx_err *err);
/* Something that can be said about bytes by themselves. */
typedef bool (*dtx_read_ahead_judge)(const char *bytes, size_t len);

/* `read(arg, ...)` is called by the thread alone until close.  It gives *got == 0 at the end.
 * *out is NULL where no thread can be had: the caller reads it all. */
DTX_MUSTUSE enum dtx_code dtx_read_ahead_open(dtx_read_ahead_fn read, void *arg,
                                              dtx_read_ahead_judge judge,
                                              struct dtx_read_ahead **out, struct dtx_err *err);
/* As `read`; its failure comes back in the place where it happened.  With *judged the thread judges
 * windows from now on; it becomes what was said about the window that the bytes are of. */
DTX_MUSTUSE enum dtx_code dtx_read_ahead_read(struct dtx_read_ahead *a, void *to, size_t cap,
                                              size_t *got, bool *judged, struct dtx_err *err);
/* The same without a copy: the rest of a window, which is the reader's to write until the next
 * call, with as many bytes around it as said above. */
DTX_MUSTUSE enum dtx_code dtx_read_ahead_lend(struct dtx_read_ahead *a, char **at, size_t *got,
                                              bool *judged, struct dtx_err *err);
/* Stops and joins the thread; NULL is fine. */
void dtx_read_ahead_close(struct dtx_read_ahead *a);

#endif
