/* Worker threads: run one function on n threads and wait for all of them; or run one task beside
 * the caller. */
#ifndef DTX_BASE_POOL_H
#define DTX_BASE_POOL_H

#include <stdatomic.h>

#include "core/base/err.h"

/* The default number of threads: the CPUs that this process may run on, at most 256. */
unsigned dtx_pool_cpus(void);

/* Runs fn(arg, worker) for workers 0 to n - 1, worker 0 on the calling thread, and returns when all
 * have ended.  No worker begins before all threads have started.
 *
 * If the machine allows fewer threads (RLIMIT_NPROC, the limit of a container, too little address
 * space; with a reserve, see below, too few idle threads), the workers with the highest numbers are
 * left out.  fn must therefore take its share of the work step by step from a common counter or
 * queue, and never divide it by worker number.  The error of the lowest failing worker is
 * returned. */
typedef enum dtx_code (*dtx_pool_fn)(void *arg, unsigned worker, struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_pool_run(unsigned n, dtx_pool_fn fn, void *arg, struct dtx_err *err);

/* How many workers could not start in the dtx_pool_run whose worker 0 is the caller. */
unsigned dtx_pool_absent(void);

/* Starts one task beside the caller (hashing of an input, writing to the store).  dtx_task_join
 * returns fn's code.  *out is NULL if no thread is available; the caller then does the work itself,
 * or does without. */
struct dtx_task;
DTX_MUSTUSE enum dtx_code dtx_task_start(enum dtx_code (*fn)(void *arg, struct dtx_err *err),
                                         void *arg, struct dtx_task **out, struct dtx_err *err);
/* Starts n <= DTX_TASK_RESERVE threads now, or as many as the system allows, for tasks that are
 * started later, because the sandbox will soon forbid new threads.  After this call dtx_pool_cpus
 * returns 1, and a task that finds no idle thread of the reserve gets none.  Call it once, before
 * any other thread exists. */
#define DTX_TASK_RESERVE 4
void dtx_task_reserve(unsigned n);
/* The number of processors that one more task could use; with a reserve it is 1 while all threads
 * of the reserve are busy. */
unsigned dtx_task_cpus(void);
/* Waits for the task and frees it.  NULL gives DTX_OK. */
enum dtx_code dtx_task_join(struct dtx_task *task, struct dtx_err *err);

#endif
