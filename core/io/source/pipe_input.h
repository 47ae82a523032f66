/* Input that can be read only once: a descriptor whose bytes are counted and hashed as they
 * come, but not kept. */
#ifndef DTX_IO_SOURCE_PIPE_INPUT_H
#define DTX_IO_SOURCE_PIPE_INPUT_H

#include <stdatomic.h>

#include "core/base/err.h"
#include "core/base/hash/identity.h"

struct dtx_pipe_input {
	int fd;
	/* of the bytes so far; the kind can be changed before the first pull */
	struct dtx_identity identity;
	atomic_size_t passed; /* read by the progress display, so no order is needed */
	const atomic_bool *cancel;
	atomic_bool stop;    /* no more is wanted: the next read is at the end */
	int64_t deadline_ns; /* 0: no deadline */
};

/* Takes fd. NULL: out of memory, and fd is closed. */
DTX_MUSTUSE struct dtx_pipe_input *dtx_pipe_input_new(int fd);
void dtx_pipe_input_free(struct dtx_pipe_input *p); /* NULL is fine */
/* Reads the next bytes, at most n; *got is 0 at the end. `name` is used in messages. */
DTX_MUSTUSE enum dtx_code dtx_pipe_input_pull(struct dtx_pipe_input *p, const char *name, char *to,
                                              size_t n, size_t *got, struct dtx_err *err);

#endif
