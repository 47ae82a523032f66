/* Protects the reading of mapped files that another program makes shorter.  The kernel answers an
 * access beyond the new end with SIGBUS, which would end the process.  With a guard the missing
 * bytes read as zeros and the guard remembers it; after reading, the caller asks
 * dtx_sigbus_guard_cut and fails if the file was cut. */
#ifndef DTX_BASE_SIGBUS_GUARD_H
#define DTX_BASE_SIGBUS_GUARD_H

#include "core/base/base.h"

/* The number of mappings at a time: half of what Linux allows a process. */
#define DTX_SIGBUS_GUARD_MAX 32768

/* Returns the number of the guard, or -1 if there are too many.  The first call installs the
 * handler.  All functions here are thread safe. */
DTX_MUSTUSE int dtx_sigbus_guard_add(const void *ptr, size_t len);
/* Call it before the mapping is unmapped.  -1 is allowed. */
void dtx_sigbus_guard_remove(int guard);
/* Whether bytes of the mapping were missing when they were read. */
bool dtx_sigbus_guard_cut(int guard);

#endif
