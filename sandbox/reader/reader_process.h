/* A reader process as main sees it.  Nobody but reader_super.c and reader_memory.c includes this.
 */
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
	int listener; /* of the filter, -1: none */
	uint32_t gen, ticks;
	bool ended;      /* the request has its whole answer */
	uint64_t len;    /* of the memory that is given to be filled, 0: none is */
	int memory;      /* its own, -1: it is the slot's */
	void *slot;      /* mapped; NULL until a frame was small enough */
	int64_t left;    /* ns that it may still be waited for, of the request */
	char denied[64]; /* the call it was stopped at */
	bool timed_out;
};

/* Ends it, since it broke the protocol, or says why it is no more: the error, set. */
enum dtx_code dtx_reader_broke(struct dtx_isolate *p, const char *what, struct dtx_err *err);
enum dtx_code dtx_reader_died(struct dtx_isolate *p, struct dtx_err *err);

/* reader_memory.c: memory of exactly so many bytes, for good; *out is the caller's to close. */
DTX_MUSTUSE enum dtx_code dtx_reader_memory(uint64_t len, int *out, struct dtx_err *err);
/* ... gives it memory to fill, which counts against the budget; takes what it filled.
 * The bytes of *out stay as they are, whatever the process does. */
DTX_MUSTUSE enum dtx_code dtx_reader_give(struct dtx_isolate *p, const struct dtx_wire_memory *m,
                                          struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_reader_take(struct dtx_isolate *p, struct dtx_sealed *out,
                                          struct dtx_err *err);
void dtx_reader_drop_memory(struct dtx_isolate *p);
void dtx_reader_drop_slot(struct dtx_isolate *p);

#endif
