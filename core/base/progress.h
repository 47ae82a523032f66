/* How far a run is, for somebody who looks from another thread.  Written by the workers once per
 * batch; each member stands for itself, so the order of writes does not matter (relaxed). */
#ifndef DTX_BASE_PROGRESS_H
#define DTX_BASE_PROGRESS_H

#include <stdatomic.h>

#include "core/base/base.h"

struct dtx_progress {
	_Atomic(const char *) input;   /* being read; NULL: none yet; outlives the run */
	atomic_uint_fast64_t rows;     /* read from inputs so far */
	atomic_uint_fast64_t done, of; /* parts of this input; of 0: not known */
	atomic_uint_fast64_t bytes;    /* of this input */
};

#endif
