/* Bytes that pass once: a descriptor that is read as they come, counted and hashed, kept nowhere.
 */
#ifndef DTX_IO_SOURCE_PIPE_INPUT_H
#define DTX_IO_SOURCE_PIPE_INPUT_H

#include <stdatomic.h>

#include "core/base/err.h"
#include "core/base/hash/identity.h"

struct dtx_pipe_input {
	int fd;
	struct dtx_identity identity; /* of what has passed; another kind: before the first pull */
	atomic_size_t passed;         /* read by who shows progress: no order with anything else */
	const atomic_bool *cancel;
	atomic_bool stop;    /* nobody wants more: what comes next is its end */
	int64_t deadline_ns; /* 0: none */
};

/* Takes fd.  NULL: out of memory, fd is closed. */
DTX_MUSTUSE struct dtx_pipe_input *dtx_pipe_input_new(int fd);
void dtx_pipe_input_free(struct dtx_pipe_input *p); /* NULL is fine */
/* The next bytes, at most n; *got is 0 at the end.  name: for messages. */
DTX_MUSTUSE enum dtx_code dtx_pipe_input_pull(struct dtx_pipe_input *p, const char *name, char *to,
                                              size_t n, size_t *got, struct dtx_err *err);

#endif
