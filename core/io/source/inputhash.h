/* The identity of a range of bytes, computed beside their use. */
#ifndef DTX_IO_SOURCE_INPUTHASH_H
#define DTX_IO_SOURCE_INPUTHASH_H

#include <stdatomic.h>

#include "core/base/err.h"
#include "core/base/hash/identity.h"

struct dtx_inputhash {
	const char *data;
	size_t size;
	enum dtx_identity_kind kind; /* what text is to be */
	unsigned threads;            /* 0: as there are cores */
	struct dtx_task *task;
	atomic_size_t hashed; /* bytes; relaxed, no data hangs on it */
	atomic_bool unwanted; /* nobody will ask for it any more */
	char text[DTX_IDENTITY_TEXT];
};

/* Starts as many threads as it can use, at most so many (0: as there are cores), unless the bytes
 * are so few that `wait` takes less time than one; borrows them. */
void dtx_inputhash_start(struct dtx_inputhash *h, const char *data, size_t size,
                         enum dtx_identity_kind kind, unsigned threads);
/* The identity; computed at once if it was not started: of the kind `auto`. */
DTX_MUSTUSE enum dtx_code dtx_inputhash_wait(struct dtx_inputhash *h, const char *data, size_t size,
                                             char text[DTX_IDENTITY_TEXT], struct dtx_err *err);
/* SHA-256, one chain for one thread, is under way and not ahead of who is through with `done` parts
 * of `of`. */
bool dtx_inputhash_behind(const struct dtx_inputhash *h, uint64_t done, uint64_t of);
/* A thread still reads the bytes. */
bool dtx_inputhash_reads(const struct dtx_inputhash *h);
/* Ends the threads. */
void dtx_inputhash_stop(struct dtx_inputhash *h);

#endif
