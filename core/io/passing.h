/* Bytes that pass once: a descriptor that is read as they come, counted and hashed, kept nowhere.
 */
#ifndef DTX_IO_PASSING_H
#define DTX_IO_PASSING_H

#include <stdatomic.h>

#include "core/base/err.h"
#include "core/base/hash.h"

struct dtx_passing {
	int fd;
	bool weak; /* which identity is wanted; before the first pull */
	struct dtx_sha256 sha;
	struct dtx_weak xxh;
	atomic_size_t passed; /* read by who shows progress: no order with anything else */
	const atomic_bool *cancel;
	atomic_bool stop;    /* nobody wants more: what comes next is its end */
	int64_t deadline_ns; /* 0: none */
};

/* Takes fd.  NULL: out of memory, fd is closed. */
DTX_MUSTUSE struct dtx_passing *dtx_passing_new(int fd);
void dtx_passing_free(struct dtx_passing *p); /* NULL is fine */
/* The next bytes, at most n; *got is 0 at the end.  name: for messages. */
DTX_MUSTUSE enum dtx_code dtx_passing_pull(struct dtx_passing *p, const char *name, char *to,
                                           size_t n, size_t *got, struct dtx_err *err);
/* Identity of what has passed; after the last pull, once. */
void dtx_passing_hex(struct dtx_passing *p, char out[DTX_SHA256_HEX]);

#endif
