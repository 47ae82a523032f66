/* Landlock: files, TCP, device ioctls, abstract sockets and signals, as far as the kernel's ABI
 * goes. */
#ifndef DTX_SANDBOX_POLICY_LANDLOCK_H
#define DTX_SANDBOX_POLICY_LANDLOCK_H

#include "core/base/base.h"

/* ABI of this kernel, 0: none. */
unsigned dtx_landlock_abi(void);
/* Restricts the calling thread to reading below `trees` (NULL-terminated; NULL: nothing at all).
 * no_new_privs must be set.  Returns 0 or errno. */
DTX_MUSTUSE int dtx_landlock_restrict(unsigned abi, const char *const *trees);

#endif
