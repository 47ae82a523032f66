/* Random bytes for C libraries in a worker. The program exports arc4random_buf and arc4random,
 * so that libraries call these (libexpat does for each parser). The C library's own versions
 * abort when the kernel gives no entropy, and a worker gets none. Outside a worker they ask the
 * kernel. */
#ifndef DTX_SANDBOX_WORKER_ENTROPY_H
#define DTX_SANDBOX_WORKER_ENTROPY_H

#include "core/base/base.h"

/* From now on both functions give the stream that belongs to `seed`, so that runs repeat. Only a
 * worker calls this, once. */
void dtx_entropy_pin(uint64_t seed);

#endif
