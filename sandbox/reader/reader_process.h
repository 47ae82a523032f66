/* A reader process as main sees it. Private to reader_super.c and reader_memory.c. */
#ifndef DTX_SANDBOX_READER_READER_PROCESS_H
#define DTX_SANDBOX_READER_READER_PROCESS_H

#include <sys/types.h>

#include "core/io/isolate/isolate.h"
#include "sandbox/wire.h"

struct dtx_isolate {
	struct dtx_source *src;
	struct dtx_isolate_limits limits;
	pid_t pid;
	struct dtx_wire wire;
	int listener; /* of its filter; -1: none */
	uint32_t gen, ticks;
	bool ended;      /* the request has been answered completely */
	uint64_t len;    /* bytes of the memory it is filling, 0: none */
	int memory;      /* that memory; -1: it is the slot */
	void *slot;      /* mapped; NULL until the first small frame */
	int64_t left;    /* ns that main may still wait for this request */
	char denied[64]; /* name of the call that ended it */
	bool timed_out;
};

/* Both set and return the error: `broke` ends the process because it violated the protocol, as
 * `what` says; `died` finds out why it ended. */
enum dtx_code dtx_reader_broke(struct dtx_isolate *p, const char *what, struct dtx_err *err);
enum dtx_code dtx_reader_died(struct dtx_isolate *p, struct dtx_err *err);

/* Makes memory of exactly `len` bytes, whose size is sealed. The caller closes *out. */
DTX_MUSTUSE enum dtx_code dtx_reader_memory(uint64_t len, int *out, struct dtx_err *err);
/* `give` sends the process memory to fill, which counts against the budget. `take` gets back
 * what it has filled; the bytes of *out can then no longer change, whatever the process does. */
DTX_MUSTUSE enum dtx_code dtx_reader_give(struct dtx_isolate *p, const struct dtx_wire_memory *m,
                                          struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_reader_take(struct dtx_isolate *p, struct dtx_sealed *out,
                                          struct dtx_err *err);
void dtx_reader_drop_memory(struct dtx_isolate *p);
void dtx_reader_drop_slot(struct dtx_isolate *p);

#endif
