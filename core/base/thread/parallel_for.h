/* A loop whose iterations are shared by several threads. */
#ifndef DTX_BASE_PARALLEL_FOR_H
#define DTX_BASE_PARALLEL_FOR_H

#include "core/base/thread/pool.h"

/* Runs fn(arg, i) for every i in [0, n) on at most `workers` threads (0 or 1: on the calling thread
 * only); a thread that is free takes the next i.  After a failure no further i is started.  The
 * error of the smallest i that failed is returned, so the result does not depend on the timing of
 * threads.  Before each i the cancel flag is checked. */
typedef enum dtx_code (*dtx_parallel_for_fn)(void *arg, uint64_t i, struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_parallel_for(unsigned workers, uint64_t n, dtx_parallel_for_fn fn,
                                           void *arg, struct dtx_err *err);

#endif
