/* What programs that dtx starts have in common: see child_setup.h. */
#include "core/base/child_setup.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "core/base/memory/mem.h"

int dtx_child_signals(posix_spawnattr_t *attr)
{
	sigset_t none, all;
	int rc;

	sigemptyset(&none);
	sigfillset(&all);
	rc = posix_spawnattr_setsigmask(attr, &none);
	if (!rc)
		rc = posix_spawnattr_setsigdefault(attr, &all);
	if (!rc)
		rc = posix_spawnattr_setflags(attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
		                                            POSIX_SPAWN_SETPGROUP);
	return rc;
}

char **dtx_child_environment(bool (*hides)(const char *variable, const void *arg), const void *arg)
{
	size_t n = 0, k = 0;
	char **out;

	while (environ[n])
		n++;
	out = dtx_mem_alloc(n + 1, sizeof(*out));
	for (size_t i = 0; out && i < n; i++)
		if (!hides(environ[i], arg))
			out[k++] = environ[i];
	if (out)
		out[k] = NULL;
	return out;
}

const char *dtx_child_failure(int failed)
{
	/* the C library tries another call only after ENOSYS */
	if (failed == EPERM)
		return "Operation not permitted; a filter of system calls that denies clone3 must "
		       "answer with ENOSYS";
	if (failed == ENOENT && access("/proc/self", F_OK) < 0)
		return "/proc is not mounted: mount -t proc proc /proc";
	return strerror(failed);
}
