/* The clock of a worker.  The program exports clock_gettime, gettimeofday and time, so that
 * Python and its libraries bind to them; outside a worker they forward to the C library. */
#ifndef DTX_SANDBOX_WORKER_CLOCK_H
#define DTX_SANDBOX_WORKER_CLOCK_H

#include "core/base/base.h"

/* From now on the wall clocks of this process say `us` (since 1970, UTC); monotonic ones run on.
 * Only a worker calls this, once, before the snippet. */
void dtx_clock_freeze(int64_t us);

#endif
