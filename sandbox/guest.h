/* Files that run inside the jail's Python, linked into the binary. */
#ifndef DTX_SANDBOX_GUEST_H
#define DTX_SANDBOX_GUEST_H

#include <stddef.h>

struct dtx_guest_file {
	const char *name; /* relative: "frames.py", "warm/groupby.py" */
	const char *text; /* NUL-terminated */
	size_t len;
};
extern const struct dtx_guest_file dtx_guest_files[]; /* ends with a NULL name */
/* Version text of the Python that compiled the ".pyc" of them: no other reads those. */
extern const char dtx_guest_python[];
extern const char dtx_guest_abi[]; /* 8 hex digits of the SHA-256 of what a snippet may rely on */

#endif
