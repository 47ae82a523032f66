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
};

#endif
