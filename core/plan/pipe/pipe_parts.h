/* Running a pipeline in four parts: morsels and legs (pipe.c), a batch's way through the maps to
 * the end (pipe_feed.c), errors before a limit (pipe_fault.c), what is shared again behind the
 * ordered part (pipe_tail.c). */
#ifndef DTX_PLAN_PIPE_PIPE_PARTS_H
#define DTX_PLAN_PIPE_PIPE_PARTS_H

#include "core/plan/pipe/pipe.h"

struct worker {
	struct dtx_pipe *p;
	unsigned id;
	bool in_order; /* it has the right, and is behind the cut */
	unsigned cut;  /* the pipe's; of one for tasks the end, or none */
	struct dtx_reorder *ring;
	struct worker *tail; /* does the thread's tasks; NULL: there are none, or it is one */
	uint64_t seq;
	bool mid;      /* inside a morsel */
	bool beyond;   /* the last error came from behind the map that emitted */
	uint32_t *sub; /* next sub number, per pass */
	struct dtx_reorder_list pending;
	int64_t child_ns; /* time of the maps behind the one that runs */
	uint64_t seqs;    /* one more than the largest seq of the leg */
};

struct pipe_emit {
	struct dtx_emit base;
	struct worker *w;
	unsigned to;               /* next pass */
	struct dtx_operator *link; /* who emits */
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
/* The morsel or task is complete: what waits goes to the ring, or runs with all that is ready
 * behind it.  *at: where it is. */
DTX_MUSTUSE enum dtx_code dtx_pipe_finish(struct worker *w, uint64_t *at, struct dtx_err *err);
/* The worker goes on with seq. */
void dtx_pipe_begin(struct worker *w, uint64_t seq);
/* An error of seq, or (not exact) of a reader in some seq from there on. */
void dtx_pipe_fail(struct dtx_pipe *p, uint64_t seq, bool exact, struct dtx_err *err);
/* Whether seq need not be worked on: an earlier one failed, or a limit is full. */
bool dtx_pipe_unwanted(struct dtx_pipe *p, uint64_t seq);

/* Batch b through the map of pass i, and on. */
DTX_MUSTUSE enum dtx_code dtx_pipe_map(struct worker *w, unsigned i, struct dtx_batch *b,
                                       struct dtx_err *err);

/* pipe_fault.c */
bool dtx_pipe_is_limit(const struct dtx_operator *l);
/* Which passes of the leg have a limit behind them. */
void dtx_pipe_limited(struct dtx_pipe_source *leg);
/* dtx_pipe_map where a limit follows: an error counts only if the rows before the one that failed
 * do not fill the limit, however many came in one batch. */
DTX_MUSTUSE enum dtx_code dtx_pipe_map_limited(struct worker *w, unsigned i, struct dtx_batch *b,
                                               struct dtx_err *err);
/* An error of the reader in w->seq, where a limit follows: it counts when the rows before it have
 * gone their way and the limit is not full. */
DTX_MUSTUSE enum dtx_code dtx_pipe_wait(struct worker *w, uint64_t *at, struct dtx_err *err);
/* The error of an item, unless the limit is full. */
DTX_MUSTUSE enum dtx_code dtx_pipe_fault(const struct dtx_pipe *p, uint64_t seq,
                                         struct dtx_reorder_item *item, struct dtx_err *err);
/* Whether a limit has all it wants of seq and those behind it. */
bool dtx_pipe_has_enough(const struct dtx_pipe *p, uint64_t seq);

/* pipe_tail.c */
/* The batch leaves the ordered part as a task. */
DTX_MUSTUSE enum dtx_code dtx_pipe_hand(struct worker *w, const struct dtx_batch *b,
                                        struct dtx_err *err);
/* Tasks that are there; with `last` all that will come. */
void dtx_pipe_tasks(struct worker *w, bool last);
/* A thread's worker for tasks. */
DTX_MUSTUSE bool dtx_pipe_tail_open(struct worker *tail, const struct worker *w);
void dtx_pipe_worker_clear(struct worker *w);

/* Items of a list that the worker has the right for. */
DTX_MUSTUSE enum dtx_code dtx_pipe_list(struct worker *w, uint64_t seq,
                                        struct dtx_reorder_list *list, struct dtx_err *err);

#endif
