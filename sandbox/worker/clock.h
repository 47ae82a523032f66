/* The clock of a worker. The program exports clock_gettime, gettimeofday and time, so that
 * Python and its libraries call these instead of the C library's. In a worker they give the
 * start time of the run, so that a run can be repeated; elsewhere they forward to the C library. */
#ifndef DTX_SANDBOX_WORKER_CLOCK_H
#define DTX_SANDBOX_WORKER_CLOCK_H

#include "core/base/base.h"

/* From now on the wall clocks of this process stand at `us` microseconds since 1970 (UTC);
 * monotonic clocks run on. Only a worker calls this, once, before the snippet starts. */
void dtx_clock_freeze(int64_t us);

#endif
