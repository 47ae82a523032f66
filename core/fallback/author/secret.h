/* Texts that must not leave the process: keys of authors, values of variables that hold keys. */
#ifndef DTX_FALLBACK_AUTHOR_SECRET_H
#define DTX_FALLBACK_AUTHOR_SECRET_H

#include "core/base/buf.h"

#define DTX_SECRETS_MAX 1024
#define DTX_SECRET_MIN  8 /* shorter values are words, not keys */

struct dtx_secrets { /* values borrowed */
	const char *value[DTX_SECRETS_MAX];
	size_t n;
};
/* Moves the environment to memory of the process and empties the block that the kernel shows in
 * /proc/PID/environ to the user's other programs and to whatever collects the state of processes.
 * Once, before other threads. */
void dtx_secrets_leave_block(void);
/* From here on neither the user's other programs nor a dump of a crash read this process. */
void dtx_secrets_shut_memory(void);
/* One more; NULL, short or known ones are left out.  False: there are too many to keep. */
DTX_MUSTUSE bool dtx_secrets_add(struct dtx_secrets *s, const char *value);
/* Values of the variables ("NAME=value", NULL at the end) whose names speak of a key, token, secret
 * or password.  False: too many. */
DTX_MUSTUSE bool dtx_secrets_find(struct dtx_secrets *s, char *const *environment);
/* `text` with "<secret>" in the place of each.  secrets may be NULL. */
void dtx_secrets_scrub(const struct dtx_secrets *s, struct dtx_str text, struct dtx_buf *out);
/* The same in place, for content that is kept. */
void dtx_secrets_scrub_buf(const struct dtx_secrets *s, struct dtx_buf *text);
/* The same into `size` bytes, which may be those of `text`: a secret is gone before the cut, which
 * would leave a part of it. */
void dtx_secrets_copy(const struct dtx_secrets *s, struct dtx_str text, char *out, size_t size);

#endif
