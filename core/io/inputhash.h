/* The identity of a range of bytes, computed on a thread beside their use. */
#ifndef DTX_IO_INPUTHASH_H
#define DTX_IO_INPUTHASH_H

#include <stdatomic.h>

#include "core/base/err.h"
#include "core/base/hash.h"

struct dtx_inputhash {
	const char *data;
	size_t size;
	bool weak; /* what hex is to be */
	struct dtx_task *task;
	atomic_size_t hashed; /* bytes; relaxed, no data hangs on it */
	atomic_bool unwanted; /* nobody will ask for it any more */
	char hex[DTX_SHA256_HEX];
};

/* Starts a thread, unless the bytes are so few that `wait` takes less time than one; borrows them.
 */
void dtx_inputhash_start(struct dtx_inputhash *h, const char *data, size_t size, bool weak);
/* Lower-case hex; computed at once if it was not started: SHA-256. */
DTX_MUSTUSE enum dtx_code dtx_inputhash_wait(struct dtx_inputhash *h, const char *data, size_t size,
                                             char hex[DTX_SHA256_HEX], struct dtx_err *err);
/* SHA-256 is under way and not ahead of who is through with `done` parts of `of`. */
bool dtx_inputhash_behind(const struct dtx_inputhash *h, uint64_t done, uint64_t of);
/* Ends the thread. */
void dtx_inputhash_stop(struct dtx_inputhash *h);

#endif
