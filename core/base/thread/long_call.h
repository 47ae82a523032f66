/* Runs a call of a library that may take long and has no way to be interrupted, so that the caller
 * still ends in time when its run is cancelled. */
#ifndef DTX_BASE_LONG_CALL_H
#define DTX_BASE_LONG_CALL_H

#include "core/base/err.h"

/* Runs fn(arg) on a thread of its own and waits until it has ended.  Without a thread, or if
 * nothing can end the work of the caller (core/base/thread/cancel.h), fn runs on the calling
 * thread.
 *
 * Codes: cancelled, time_limit, no_memory.  After the first two *left says whether fn was left
 * running, which it does until the process ends.  Everything that it uses, arg and open files
 * included, must then stay as it is and never be freed; what it makes must have no name that others
 * could find.  If *left is false and the call fails, fn was not started. */
DTX_MUSTUSE enum dtx_code dtx_long_call(void (*fn)(void *arg), void *arg, bool *left,
                                        struct dtx_err *err);

#endif
