/* Tells a thread whether it has to end its work: because the run was cancelled, or because its time
 * limit has passed.
 *
 * The flag and the deadline are kept per thread, so that a loop deep inside a whole-table step can
 * look at them without a parameter that is passed all the way down.  The threads of dtx_pool_run
 * take over what is set for the thread that called it. */
#ifndef DTX_BASE_CANCEL_H
#define DTX_BASE_CANCEL_H

#include <stdatomic.h>

#include "core/base/err.h"

struct dtx_cancel {
	const atomic_bool *cancel; /* NULL: this run cannot be cancelled */
	int64_t deadline_ns;       /* on the clock of dtx_now_ns(); 0: no time limit */
};

/* A loop over rows looks once per this many rows. */
#define DTX_CANCEL_ROWS 8192
/* A loop that visits all cells of each row looks more often, because a table may have many
 * columns. */
#define DTX_CANCEL_LINES 64

/* Sets what holds for this thread from now on; NULL: nothing ends its work.  Returns the previous
 * value, which the caller sets again when it is done.  `halt` is borrowed until then. */
const struct dtx_cancel *dtx_cancel_set(const struct dtx_cancel *halt);
const struct dtx_cancel *dtx_cancel_get(void);
/* For loops that cannot return an error: they leave early, and the caller asks with
 * dtx_cancel_look. */
bool dtx_cancel_now(void);
/* Fails with cancelled or time_limit if the work has to end.  Costs about as much as reading the
 * clock, so a loop calls it once per a few thousand rows. */
DTX_MUSTUSE enum dtx_code dtx_cancel_look(struct dtx_err *err);
/* dtx_cancel_look for row (or name) number n of a loop; it looks only once per DTX_CANCEL_ROWS. */
DTX_MUSTUSE static inline enum dtx_code dtx_cancel_row(uint64_t n, struct dtx_err *err)
{
	return n % DTX_CANCEL_ROWS ? DTX_OK : dtx_cancel_look(err);
}
/* The same for a loop that visits all cells of a row: it looks once per DTX_CANCEL_LINES. */
DTX_MUSTUSE static inline enum dtx_code dtx_cancel_line(uint64_t n, struct dtx_err *err)
{
	return n % DTX_CANCEL_LINES ? DTX_OK : dtx_cancel_look(err);
}

#endif
