/* Main's way to a zygote that already runs: one pool per user, program, Python and environment.
 *
 * Its folder has mode 0700 and belongs to the user, its socket has mode 0600, and a listener of
 * another user is not used. If any of that does not hold, there is no pool, and the run starts a
 * zygote of its own. */
#ifndef DTX_SANDBOX_MAIN_WARMPOOL_H
#define DTX_SANDBOX_MAIN_WARMPOOL_H

#include "core/base/err.h"
#include "sandbox/zygote/launch.h"
#include "sandbox/wire.h"

#define DTX_WARMPOOL_IDLE_S 300 /* default of DTX_POOL_IDLE, in seconds without a client */

struct dtx_warmpool {
	enum dtx_zkind kind;
	uint32_t hash_seed;
	int fd;                     /* connected; -1: no pool */
	bool starting;              /* its zygote may be about to import pandas still */
	char key[DTX_WIRE_KEY + 4]; /* the zygote must have the same */
	char why[160];              /* with fd -1: why there is no pool */
	char folder[200];
};
enum dtx_warmpool_how {
	DTX_WARMPOOL_FIND,  /* only use a pool that is there */
	DTX_WARMPOOL_START, /* or start one, and wait in its queue */
	DTX_WARMPOOL_RENEW  /* start a successor, or put a ready one in place; fd is -1 */
};
/* Opens a connection to the pool for this kind of zygote; SCREEN uses the pool of RUN. `wait_ms`
 * is the time to wait for a place in its queue. It cannot fail: without a pool, p->fd is -1 and
 * p->why says why. If DTX_NO_WARM is in the environment there is no pool. The caller closes
 * p->fd. */
void dtx_warmpool_open(struct dtx_warmpool *p, enum dtx_zkind kind, uint32_t hash_seed,
                       enum dtx_warmpool_how how, int64_t wait_ms);

/* Sends HELLO and waits up to `wait_ms` for WELCOME. Returns false if no ready pool answers. */
DTX_MUSTUSE bool dtx_warmpool_ask(const struct dtx_warmpool *p, int wait_ms,
                                  struct dtx_wire_welcome *w);

#endif
