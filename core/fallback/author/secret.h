/* Texts that must not leave the process: keys of authors, and values of environment variables
 * that hold keys. */
#ifndef DTX_FALLBACK_AUTHOR_SECRET_H
#define DTX_FALLBACK_AUTHOR_SECRET_H

#include "core/base/memory/buf.h"

#define DTX_SECRETS_MAX 1024
#define DTX_SECRET_MIN  8 /* shorter values are words, not keys */

struct dtx_secrets { /* the values are borrowed */
	const char *value[DTX_SECRETS_MAX];
	size_t n;
};
/* Moves the environment to other memory and erases the original block, which the kernel shows in
 * /proc/PID/environ to the user's other programs. Must be called once, before other threads
 * start. */
void dtx_secrets_leave_block(void);
/* From here on, the user's other programs cannot read this process, and a crash writes no core
 * dump. */
void dtx_secrets_shut_memory(void);
/* Adds a secret. NULL, short values and known ones are ignored. Returns false if there are too
 * many. */
DTX_MUSTUSE bool dtx_secrets_add(struct dtx_secrets *s, const char *value);
/* Adds the values of the variables ("NAME=value", ending with NULL) whose names contain KEY,
 * TOKEN, SECRET or PASSWORD. Returns false if there are too many. */
DTX_MUSTUSE bool dtx_secrets_find(struct dtx_secrets *s, char *const *environment);
/* Appends `text` with each secret replaced by "<secret>". `s` may be NULL. */
void dtx_secrets_scrub(const struct dtx_secrets *s, struct dtx_str text, struct dtx_buf *out);
/* The same in place. */
void dtx_secrets_scrub_buf(const struct dtx_secrets *s, struct dtx_buf *text);
/* The same into `size` bytes, which may be those of `text`. Secrets are replaced before the text
 * is cut, because a cut could leave a part of one. */
void dtx_secrets_copy(const struct dtx_secrets *s, struct dtx_str text, char *out, size_t size);

#endif
