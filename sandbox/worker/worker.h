/* One run: locks itself down in a fixed order, proves it, runs one snippet, exits. */
#ifndef DTX_SANDBOX_WORKER_WORKER_H
#define DTX_SANDBOX_WORKER_WORKER_H

#include <sys/types.h>

#include "sandbox/policy/filter.h"
#include "sandbox/zygote/prefault_child.h"

/* Descriptors of the worker as the zygote made them, in the order of their final numbers. */
struct dtx_worker_fds {
	int out, err, job, in, result, handover; /* become 1 2 3 4 5 6 */
};
struct dtx_worker_spec {
	const struct dtx_filters *filters;
	unsigned landlock;        /* ABI */
	const char *const *trees; /* that it may read; NULL: nothing */
	pid_t zygote;
	const struct dtx_prefault_child *hot; /* pages to copy at once */
	bool prefault; /* without them: touch what a run will touch, before anybody waits */
};
/* Exit status of one that cannot tell its result: its job socket is gone. */
#define DTX_WORKER_CUT 117
/* Called in the forked child; never returns. */
_Noreturn void dtx_worker_main(const struct dtx_worker_fds *fds,
                               const struct dtx_worker_spec *spec);

#endif
