/* Landlock: restricts files, TCP, device ioctls, abstract sockets and signals, as far as the ABI
 * version of the running kernel supports each of them. */
#ifndef DTX_SANDBOX_POLICY_LANDLOCK_H
#define DTX_SANDBOX_POLICY_LANDLOCK_H

#include "core/base/base.h"

/* Landlock's ABI version in this kernel, or 0 if there is no Landlock. */
unsigned dtx_landlock_abi(void);
/* Restricts the calling thread to reading files below `trees`, a list that ends with NULL;
 * without a list it can open nothing. A path that does not exist is ignored. no_new_privs must
 * be set before. The restriction cannot be undone. Returns 0 or errno. */
DTX_MUSTUSE int dtx_landlock_restrict(unsigned abi, const char *const *trees);

#endif
