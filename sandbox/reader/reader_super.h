/* The reader process: core/io/isolate/isolate.h filled with this binary in another role.  Main's
 * side is reader_super.c, the process itself reader_main.c. */
#ifndef DTX_SANDBOX_READER_READER_SUPER_H
#define DTX_SANDBOX_READER_READER_SUPER_H

#include <sys/types.h>

#include "core/io/isolate/isolate.h"

/* The role.  Locks itself down, then answers until its socket closes. */
int dtx_reader_main(int argc, char **argv);

/* The second half of a start: takes a child process and the socket to it, waits until it says that
 * it is locked and has that confirmed by the kernel.  Both are ended also on failure. */
DTX_MUSTUSE enum dtx_code dtx_reader_adopt(struct dtx_source *src,
                                           const struct dtx_isolate_limits *limits, pid_t pid,
                                           int control, struct dtx_isolate **out,
                                           struct dtx_err *err);
/* Starts and verifies one on a few bytes; microseconds from the call to the verified lock, and
 * whether the calls it is denied can be named.  Code: jail_unavailable. */
DTX_MUSTUSE enum dtx_code dtx_reader_selftest(int64_t *us, bool *named, struct dtx_err *err);

#endif
