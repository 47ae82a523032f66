/* Mapped files that somebody cuts short while they are read: the kernel answers with SIGBUS, which
 * would end the program.  Instead the missing bytes read as zeros and the mapping remembers it;
 * who asks afterwards knows that what was read is not the file. */
#ifndef DTX_BASE_SIGBUS_GUARD_H
#define DTX_BASE_SIGBUS_GUARD_H

#include "core/base/base.h"

/* Mappings at a time: half of what Linux lets a process have. */
#define DTX_SIGBUS_GUARD_MAX 32768

/* Number of the guard, -1 when there are too many.  The first call installs the handler; all of
 * them are thread safe. */
DTX_MUSTUSE int dtx_sigbus_guard_add(const void *ptr, size_t len);
/* Before the mapping goes; -1 is fine. */
void dtx_sigbus_guard_remove(int guard);
/* Whether bytes of it were missing. */
bool dtx_sigbus_guard_cut(int guard);

#endif
