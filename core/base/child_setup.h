/* What programs that dtx starts have in common: their signals and their environment. */
#ifndef DTX_BASE_CHILD_SETUP_H
#define DTX_BASE_CHILD_SETUP_H

#include <spawn.h>

#include "core/base/base.h"

/* A child gets a process group of its own, no blocked signals and all signals as they are by
 * default.  Returns 0 or an errno. */
int dtx_child_signals(posix_spawnattr_t *attr);
/* A copy of the environment without the variables for which `hides` is true: the caller frees the
 * array, not its texts.  NULL: out of memory. */
char **dtx_child_environment(bool (*hides)(const char *variable, const void *arg), const void *arg);

/* Why posix_spawn failed with this errno, with what to do where that is known.  A static text. */
const char *dtx_child_failure(int failed);

#endif
