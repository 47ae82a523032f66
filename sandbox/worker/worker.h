/* A worker: one run of a snippet. It locks itself down in a fixed order, proves it to main, runs
 * the snippet and exits. */
#ifndef DTX_SANDBOX_WORKER_WORKER_H
#define DTX_SANDBOX_WORKER_WORKER_H

#include <sys/types.h>

#include "sandbox/policy/filter.h"
#include "sandbox/zygote/prefault_child.h"

/* Descriptors that the zygote made for the worker, in the order of their final numbers. */
struct dtx_worker_fds {
	int out, err, job, in, result, handover; /* become 1 2 3 4 5 6 */
};
struct dtx_worker_spec {
	const struct dtx_filters *filters;
	unsigned landlock;        /* Landlock ABI */
	const char *const *trees; /* what it may read; NULL: nothing */
	pid_t zygote;
	const struct dtx_prefault_child *hot; /* pages to copy at the start */
	/* if there are no such pages: touch what a run will need before a client waits */
	bool prefault;
};
/* Exit status of a worker that cannot report its result because its job socket is gone. */
#define DTX_WORKER_CUT 117
/* Runs the worker. Called in the forked child; never returns. */
_Noreturn void dtx_worker_main(const struct dtx_worker_fds *fds,
                               const struct dtx_worker_spec *spec);

#endif
