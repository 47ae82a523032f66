/* The C library's random bytes in a worker.  The program exports arc4random_buf and arc4random, so
 * that libraries bind to them (libexpat does, for each parser): the C library's own end the process
 * where the kernel gives no entropy.  Outside a worker they ask the kernel. */
#ifndef DTX_SANDBOX_WORKER_ENTROPY_H
#define DTX_SANDBOX_WORKER_ENTROPY_H

#include "core/base/base.h"

/* From now on they give a stream of `seed`: runs repeat.  Only a worker calls this, once. */
void dtx_entropy_pin(uint64_t seed);

#endif
