/* The progress of a run, for another thread that shows it.  Workers update it once per batch.  Each
 * member is meaningful without the others, so the order of writes does not matter (relaxed). */
#ifndef DTX_BASE_PROGRESS_H
#define DTX_BASE_PROGRESS_H

#include <stdatomic.h>

#include "core/base/base.h"

struct dtx_progress {
	_Atomic(const char *) input;   /* the input that is being read; NULL: none yet; outlives the
	                                * run */
	atomic_uint_fast64_t rows;     /* rows read from all inputs so far */
	atomic_uint_fast64_t done, of; /* parts of this input that are done, and all of them; of 0:
	                                * unknown */
	atomic_uint_fast64_t bytes;    /* bytes read of this input */
	/* For a run of several inputs: the reader that works (compared, never read), the size of
	 * its input, how many there have been, and the bytes of those before it. */
	_Atomic(const void *) reader;
	atomic_uint_fast64_t reader_bytes, readers, passed;
	/* 1 + index of the step that collects its rows; 0: none does, rows go to an output. The
	 * main thread sets it, and calls `moved` (NULL: not needed) when such a step begins and
	 * ends. */
	atomic_int step;
	void (*moved)(void *arg, int step, bool ended, int64_t rows);
	void *moved_arg;
};

#endif
