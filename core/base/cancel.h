/* Whether the work of a thread is to end: the run was cancelled, or its time is over.  Kept per
 * thread, so that a loop deep in a whole-table step can look without being told of the run. Threads
 * of dtx_pool_run have that of the thread which called it. */
#ifndef DTX_BASE_CANCEL_H
#define DTX_BASE_CANCEL_H

#include <stdatomic.h>

#include "core/base/err.h"

struct dtx_cancel {
	const atomic_bool *cancel; /* NULL: it is never cancelled */
	int64_t deadline_ns;       /* in dtx_now_ns(); 0: none */
};

/* Loops over rows look once in so many. */
#define DTX_CANCEL_ROWS 8192
/* Those that go through all columns of each row: a table may be wide. */
#define DTX_CANCEL_LINES 64

/* From now on for this thread; NULL: nothing ends it.  Gives what was set before, to be set again.
 * Borrowed until then. */
const struct dtx_cancel *dtx_cancel_set(const struct dtx_cancel *halt);
const struct dtx_cancel *dtx_cancel_get(void);
/* For loops that cannot fail: they leave, and whoever called them asks with dtx_cancel_look. */
bool dtx_cancel_now(void);
/* cancelled or time_limit when the work is to end.  Costs about as much as reading the clock: once
 * in a few thousand rows. */
DTX_MUSTUSE enum dtx_code dtx_cancel_look(struct dtx_err *err);
/* The same for row or name number n of a loop: looks once in DTX_CANCEL_ROWS. */
DTX_MUSTUSE static inline enum dtx_code dtx_cancel_row(uint64_t n, struct dtx_err *err)
{
	return n % DTX_CANCEL_ROWS ? DTX_OK : dtx_cancel_look(err);
}
/* The same where a row is all of its cells. */
DTX_MUSTUSE static inline enum dtx_code dtx_cancel_line(uint64_t n, struct dtx_err *err)
{
	return n % DTX_CANCEL_LINES ? DTX_OK : dtx_cancel_look(err);
}

#endif
