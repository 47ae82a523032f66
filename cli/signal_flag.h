/* Signals that ask the program to end: Ctrl-C, a shutdown, a terminal that is closed. */
#ifndef DTX_CLI_SIGNAL_FLAG_H
#define DTX_CLI_SIGNAL_FLAG_H

#include "core/base/thread/cancel.h"

/* From now on SIGINT, SIGTERM, SIGHUP and SIGQUIT set the flag below, so that work ends in an
 * orderly way. A second request, at least half a second later, ends the process at once. A
 * signal that is ignored (nohup, a background job of a shell) stays ignored. */
void dtx_cancel_catch(void);
/* The flag, for the executor and for waits. */
const atomic_bool *dtx_cancel_flag(void);
/* The same as a callback; `arg` is not used. */
bool dtx_cancel_asked(void *arg);

#endif
