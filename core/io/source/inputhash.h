/* The identity of a range of bytes, computed on threads while the bytes are used. */
#ifndef DTX_IO_SOURCE_INPUTHASH_H
#define DTX_IO_SOURCE_INPUTHASH_H

#include <stdatomic.h>

#include "core/base/err.h"
#include "core/base/hash/identity.h"

struct dtx_inputhash {
	const char *data;
	size_t size;
	enum dtx_identity_kind kind; /* the kind that `text` will have */
	unsigned threads;            /* 0: one per core */
	struct dtx_task *task;
	atomic_size_t hashed; /* bytes; relaxed order, because no other data depends on it */
	atomic_bool unwanted; /* the result is not needed any more */
	/* The bytes are those of a mapped file that nothing else here reads: hashed ones are given
	 * back, so they do not count as memory of the process. */
	atomic_bool release;
	char text[DTX_IDENTITY_TEXT];
};

/* Starts as many threads as are useful, at most `threads` (0: one per core). Starts none if
 * there are so few bytes that computing them in `wait` is faster. The bytes are borrowed. */
void dtx_inputhash_start(struct dtx_inputhash *h, const char *data, size_t size,
                         enum dtx_identity_kind kind, unsigned threads);
/* Waits for the identity. If it was not started, computes it now, of the kind `auto`. */
DTX_MUSTUSE enum dtx_code dtx_inputhash_wait(struct dtx_inputhash *h, const char *data, size_t size,
                                             char text[DTX_IDENTITY_TEXT], struct dtx_err *err);
/* Whether SHA-256, which can use only one thread, is running and not ahead of a reader that has
 * read `done` of `of` units. */
bool dtx_inputhash_lags(const struct dtx_inputhash *h, uint64_t done, uint64_t of);
/* Whether a thread still reads the bytes. */
bool dtx_inputhash_reads(const struct dtx_inputhash *h);
/* Ends the threads. */
void dtx_inputhash_stop(struct dtx_inputhash *h);

#endif
