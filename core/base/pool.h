/* Worker threads: run one function on n threads and join. */
#ifndef DTX_BASE_POOL_H
#define DTX_BASE_POOL_H

#include <stdatomic.h>

#include "core/base/err.h"

/* Number of threads to use by default: the CPUs this process may run on, at most 256. */
unsigned dtx_pool_cpus(void);

/* Runs fn(arg, worker) for worker 0..n-1, worker 0 on the calling thread.  Where the machine allows
 * fewer threads (RLIMIT_NPROC, the limit of a container, too little address space), the workers of
 * the highest numbers are left out: what they would have done the others do, so fn takes its share
 * of the work as it goes, never by its number.  All that start have started before one of them
 * works.  Joined before it returns.  The error of the lowest failing worker wins. */
typedef enum dtx_code (*dtx_pool_fn)(void *arg, unsigned worker, struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_pool_run(unsigned n, dtx_pool_fn fn, void *arg, struct dtx_err *err);

/* How many workers of the dtx_pool_run that the caller works for could not start. */
unsigned dtx_pool_absent(void);

/* One thread of its own beside the caller (input hash, store).  fn's code comes back at join.
 * *out is NULL where no thread can be had: then the caller does the work at once, or without. */
struct dtx_task;
DTX_MUSTUSE enum dtx_code dtx_task_start(enum dtx_code (*fn)(void *arg, struct dtx_err *err),
                                         void *arg, struct dtx_task **out, struct dtx_err *err);
/* Starts n <= DTX_TASK_RESERVE threads now, or as many as can be had, for the tasks to come,
 * because this process will soon not be allowed to start any; then dtx_pool_cpus is 1 and a task
 * beyond them gets none.  Once, before any other thread. */
#define DTX_TASK_RESERVE 4
void dtx_task_reserve(unsigned n);
/* Processors that one more task could use: also behind a reserve, which dtx_pool_run cannot use; 1
 * when all of the reserve are busy. */
unsigned dtx_task_cpus(void);
/* Waits and frees; NULL gives DTX_OK. */
enum dtx_code dtx_task_join(struct dtx_task *task, struct dtx_err *err);

#endif
