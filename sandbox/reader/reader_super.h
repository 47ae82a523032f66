/* Parsers of workbooks and archives in a locked process: implements core/io/isolate/isolate.h
 * with this binary in the role "dtx-reader". Main's side is reader_super.c, the process itself
 * reader_main.c. */
#ifndef DTX_SANDBOX_READER_READER_SUPER_H
#define DTX_SANDBOX_READER_READER_SUPER_H

#include <sys/types.h>

#include "core/io/isolate/isolate.h"

/* The role. Locks itself down, then answers requests until its socket closes. Returns the exit
 * status. */
int dtx_reader_main(int argc, char **argv);

/* The second half of a start: takes over a child process and its socket, waits until it says
 * that it is locked, and verifies that. On failure both are ended. */
DTX_MUSTUSE enum dtx_code dtx_reader_adopt(struct dtx_source *src,
                                           const struct dtx_isolate_limits *limits, pid_t pid,
                                           int control, struct dtx_isolate **out,
                                           struct dtx_err *err);
/* Starts and verifies a reader process on a few bytes. *us is the time in microseconds until it
 * was verified, *named says whether calls that it is denied can be named. Error:
 * jail_unavailable. */
DTX_MUSTUSE enum dtx_code dtx_reader_selftest(int64_t *us, bool *named, struct dtx_err *err);

#endif
