/* Resource limits of a worker. */
#ifndef DTX_SANDBOX_POLICY_LIMITS_H
#define DTX_SANDBOX_POLICY_LIMITS_H

#include <sys/types.h>

#include "core/base/base.h"

/* In the worker before its filter: no core, no locked memory, no files, no processes. 0 or errno;
 * *which names the limit. */
DTX_MUSTUSE int dtx_limits_lock(const char **which);
/* From outside: descriptors down to those a worker has; with `libs` some more, for modules. */
#define DTX_LIMITS_LIB_FDS 32
DTX_MUSTUSE int dtx_limits_seal_fds(pid_t pid, bool libs);
/* A descriptor of this process, from 4 on, that is none of `known` (-1 among them: none); -1 when
 * there is no such.  Numbers that no library is given are not asked about one by one: there is
 * none. */
DTX_MUSTUSE int dtx_limits_stray_fd(const int *known, size_t n);
/* From outside, when a run is armed; the values are read back into *as and *cpu. */
DTX_MUSTUSE int dtx_limits_arm(pid_t pid, uint64_t *as, uint64_t *cpu);

#endif
