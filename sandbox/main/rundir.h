/* The folder of this user for sockets, and sockets and locks in it.
 *
 * It is $XDG_RUNTIME_DIR/dtx, otherwise /run/user/UID/dtx (of root: /run/dtx), otherwise
 * /tmp/dtx-UID. It has mode 0700 and belongs to the user, or it is not used. All paths go through a
 * descriptor of it: nothing can replace the folder between the check and the use, and no path is
 * too long for a unix socket. */
#ifndef DTX_SANDBOX_MAIN_RUNDIR_H
#define DTX_SANDBOX_MAIN_RUNDIR_H

#include <stddef.h>

#include "core/base/base.h"

#define DTX_RUNDIR_PATH 200

/* Opens the folder, and makes it where it is missing. *path becomes its name. Returns a descriptor,
 * which the caller closes, or -1 with errno. */
DTX_MUSTUSE int dtx_rundir_open(char *path, size_t size);
/* Connects to the socket `name` (SEQPACKET), and waits up to `wait_ms` for a place in its queue.
 * Returns -1 with errno if that fails, or if the listener belongs to another user (EPERM). */
DTX_MUSTUSE int dtx_rundir_join(int folder, const char *name, int wait_ms);
/* Makes a listening socket with mode 0600; it does not block. Returns -1 with errno. */
DTX_MUSTUSE int dtx_rundir_listen(int folder, const char *name);
/* Takes the lock `name`, which its holder gives up by closing the descriptor. Returns -1 if another
 * process holds it for longer than `wait_ms`. */
DTX_MUSTUSE int dtx_rundir_lock(int folder, const char *name, int wait_ms);

#endif
