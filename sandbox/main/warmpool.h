/* Main's way to a zygote that is already there: one per user, program, Python and environment.
 *
 * Its folder is 0700 and the user's own, its socket 0600; a listener of another user is not spoken
 * to.  Where any of that does not hold there is no pool, and the run starts a zygote of its own. */
#ifndef DTX_SANDBOX_MAIN_WARMPOOL_H
#define DTX_SANDBOX_MAIN_WARMPOOL_H

#include "core/base/err.h"
#include "sandbox/zygote/launch.h"
#include "sandbox/wire.h"

#define DTX_WARMPOOL_IDLE_S 300 /* default of DTX_POOL_IDLE: seconds without a client */

struct dtx_warmpool {
	enum dtx_zkind kind;
	uint32_t hash_seed;
	int fd;                     /* connected; -1: no pool */
	char key[DTX_WIRE_KEY + 4]; /* what the zygote must have, too */
	char why[160];              /* fd -1: why there is none */
	char folder[200];
};
enum dtx_warmpool_how {
	DTX_WARMPOOL_FIND,  /* only one that is there */
	DTX_WARMPOOL_START, /* or start one, and wait in its queue */
	DTX_WARMPOOL_RENEW  /* start a successor, or put one that is ready in the place; fd is -1 */
};
/* A SCREEN uses the pool of runs.  Never fails: without a pool fd is -1.  DTX_NO_WARM in the
 * environment: there is none.  wait_ms: for a place in its queue. */
void dtx_warmpool_open(struct dtx_warmpool *p, enum dtx_zkind kind, uint32_t hash_seed,
                       enum dtx_warmpool_how how, int64_t wait_ms);

/* Says HELLO and waits so long for the answer of one that is ready; false if there is none. */
DTX_MUSTUSE bool dtx_warmpool_ask(const struct dtx_warmpool *p, int wait_ms,
                                  struct dtx_wire_welcome *w);

#endif
