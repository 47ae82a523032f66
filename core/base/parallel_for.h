/* Numbered pieces of work, shared by threads. */
#ifndef DTX_BASE_PARALLEL_FOR_H
#define DTX_BASE_PARALLEL_FOR_H

#include "core/base/pool.h"

/* Runs fn(arg, i) for i of [0, n) on at most `workers` threads (0, 1: the caller's), each taking
 * the next i.  After a failure no more are begun; the error of the smallest i that failed wins,
 * so it does not depend on the threads.  Looks at dtx_cancel before each. */
typedef enum dtx_code (*dtx_parallel_for_fn)(void *arg, uint64_t i, struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_parallel_for(unsigned workers, uint64_t n, dtx_parallel_for_fn fn,
                                           void *arg, struct dtx_err *err);

#endif
