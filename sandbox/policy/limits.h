/* Resource limits of a worker. Functions return 0 or errno. Each limit is read back after it was
 * set, because a limit that silently did not hold would be a hole. */
#ifndef DTX_SANDBOX_POLICY_LIMITS_H
#define DTX_SANDBOX_POLICY_LIMITS_H

#include <sys/types.h>

#include "core/base/base.h"

/* Called in the worker before it loads its filter: no core dumps, no locked memory, no files to
 * write, no new processes. On failure *which names the limit. */
DTX_MUSTUSE int dtx_limits_lock(const char **which);
/* Called by the zygote for a locked worker: lowers the number of descriptors to what a worker
 * has, or to DTX_LIMITS_LIB_FDS if it may open modules of libraries. */
#define DTX_LIMITS_LIB_FDS 32
DTX_MUSTUSE int dtx_limits_seal_fds(pid_t pid, bool libs);
/* Looks for an open descriptor, from 4 on, that is not in `known` (entries of -1 are ignored),
 * and returns it; returns -1 if none. Descriptors beyond 1023 are closed without
 * looking. */
DTX_MUSTUSE int dtx_limits_stray_fd(const int *known, size_t n);
/* Called by the zygote when a run is armed: limits the address space in bytes and the CPU time
 * in seconds. `as` and `cpu` become what the kernel says is in force. The worker of a session is
 * armed again for each call: as_hard and cpu_hard are the most that such a call may set. 0: the
 * limits are final. */
struct dtx_limits {
	uint64_t as, cpu, as_hard, cpu_hard;
};
DTX_MUSTUSE int dtx_limits_arm(pid_t pid, struct dtx_limits *l);

#endif
