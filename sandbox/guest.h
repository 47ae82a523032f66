/* The files of sandbox/guest, which run inside the jail's Python. core/gen/gen-guest.sh links
 * them into the binary, so that the jail reads no file of the machine to start. */
#ifndef DTX_SANDBOX_GUEST_H
#define DTX_SANDBOX_GUEST_H

#include <stddef.h>

struct dtx_guest_file {
	const char *name; /* relative: "frames.py", "warm/groupby.py" */
	const char *text; /* NUL-terminated */
	size_t len;
};
extern const struct dtx_guest_file dtx_guest_files[]; /* ends with a NULL name */
/* `sys.version` of the Python that compiled the ".pyc" entries of the table. The guest uses them
 * only when its own Python has the same version. */
extern const char dtx_guest_python[];
/* The first 8 hex digits of a SHA-256 over the files whose behaviour a snippet may rely on
 * (dx*.py, screen.py). It is part of the key of a cached snippet. */
extern const char dtx_guest_abi[];

#endif
