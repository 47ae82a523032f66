/* Running a pipeline in two parts: morsels and legs (pipe.c), a batch's way through the maps to the
 * end (pipe_feed.c). */
#ifndef DTX_PLAN_PIPE_PARTS_H
#define DTX_PLAN_PIPE_PARTS_H

#include "core/plan/pipe.h"

struct worker {
	struct dtx_pipe *p;
	unsigned id;
	bool in_order; /* it has the right, and is behind the cut */
	uint64_t seq;
	bool mid;      /* inside a morsel */
	uint32_t *sub; /* next sub number, per pass */
	struct dtx_ring_list pending;
	int64_t child_ns; /* time of the maps behind the one that runs */
	uint64_t seqs;    /* one more than the largest seq of the leg */
};

struct pipe_emit {
	struct dtx_emit base;
	struct worker *w;
	unsigned to;           /* next pass */
	struct dtx_link *link; /* who emits */
	const struct dtx_pass *pass;
	const struct dtx_opctx *ox;
};

/* pipe_feed.c */
/* Batch b comes to pass i, or behind the last to the end. */
DTX_MUSTUSE enum dtx_code dtx_pipe_feed(struct worker *w, unsigned i, struct dtx_batch *b,
                                        struct dtx_err *err);
/* What pass i of the leg emits into. */
struct pipe_emit dtx_pipe_emit(struct worker *w, unsigned i);
/* The rows of b leave the step that emits them. */
DTX_MUSTUSE enum dtx_code dtx_pipe_count(const struct pipe_emit *pe, struct dtx_batch *b,
                                         struct dtx_err *err);
/* struct dtx_emit's `full`. */
bool dtx_pipe_full(const struct dtx_emit *e);
/* Nothing more is read: who waits for the bytes of a stream need not. */
void dtx_pipe_enough(const struct dtx_pipe *p);
/* Names the step in an error of its op. */
void dtx_pipe_blame(const struct dtx_opctx *ox, const struct dtx_op *op, struct dtx_err *err);
/* Items of a list that the worker has the right for. */
DTX_MUSTUSE enum dtx_code dtx_pipe_list(struct worker *w, uint64_t seq, struct dtx_ring_list *list,
                                        struct dtx_err *err);

#endif
