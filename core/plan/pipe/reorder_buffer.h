/* Puts batches back in order: 4 slots per worker, one per seq.
 *
 * The worker that carries seq == head has the right to run the ordered part of a pipeline: nobody
 * else can, as the head's slot is not full.  When it is done it moves the head and takes over what
 * others have left in the following slots. */
#ifndef DTX_PLAN_PIPE_REORDER_BUFFER_H
#define DTX_PLAN_PIPE_REORDER_BUFFER_H

#include <pthread.h>

#include "core/base/buf.h"
#include "core/data/batch.h"
#include "core/data/tablehash.h"

/* A batch on its way to the ordered part, with what the workers made of it. */
struct dtx_reorder_item {
	struct dtx_batch *batch;
	struct dtx_buf text;
	struct dtx_rowhash hash;
	struct dtx_err *fault; /* no batch: here the morsel failed */
	uint64_t seq, out;     /* of a task: the morsel it came from, its own number */
	struct dtx_reorder_item *next;
};
struct dtx_reorder_list {
	struct dtx_reorder_item *first, *last;
};
struct dtx_reorder_slot {
	struct dtx_reorder_list list;
	bool full;
};
struct dtx_reorder {
	pthread_mutex_t lock;
	pthread_cond_t moved;
	_Atomic uint64_t head; /* written under the lock; the owner of a seq reads it without */
	struct dtx_reorder_slot *slot;
	uint64_t nslots;
	struct dtx_reorder_item *spare; /* emptied items: their buffers are used again */
	uint64_t stop_at;               /* seqs from here on are not wanted; UINT64_MAX: all are */
	/* what the ordered part hands on, for whoever has time */
	struct dtx_reorder_list task;
	uint64_t ntasks;
	unsigned carriers; /* workers that may bring more of them */
};

DTX_MUSTUSE enum dtx_code dtx_reorder_init(struct dtx_reorder *r, unsigned workers, uint64_t head,
                                           struct dtx_err *err);
void dtx_reorder_clear(struct dtx_reorder *r);
/* An empty item; NULL: out of memory. */
struct dtx_reorder_item *dtx_reorder_item(struct dtx_reorder *r);
/* Frees the batch and gives the item back. */
void dtx_reorder_done(struct dtx_reorder *r, struct dtx_reorder_item *item);
static inline void dtx_reorder_push(struct dtx_reorder_list *l, struct dtx_reorder_item *item)
{
	item->next = NULL;
	if (l->last)
		l->last->next = item;
	else
		l->first = item;
	l->last = item;
}
/* Whether the carrier of seq has the right. */
static inline bool dtx_reorder_mine(struct dtx_reorder *r, uint64_t seq)
{
	/* acquire: sees all that the last holder of the right did */
	return atomic_load_explicit(&r->head, memory_order_acquire) == seq;
}
/* Waits, where memory is short, for the right of seq: what comes of it beforehand would be kept.
 * Returns at once where there is memory, or a task to do. */
void dtx_reorder_await(struct dtx_reorder *r, uint64_t seq);
/* Leaves the complete list of a seq, waiting while it is a full ring ahead.  HELP: there is a task
 * to do instead of waiting.  KEPT: the right came to the caller meanwhile (or the seq is not wanted
 * any more), the list stays its own. */
enum dtx_reorder_left { DTX_REORDER_LEFT, DTX_REORDER_KEPT, DTX_REORDER_HELP };
enum dtx_reorder_left dtx_reorder_leave(struct dtx_reorder *r, uint64_t seq,
                                        struct dtx_reorder_list *list);
/* Moves the head; true when the next seq was there already: its list goes to the caller, who keeps
 * the right. */
bool dtx_reorder_next(struct dtx_reorder *r, struct dtx_reorder_list *list);
/* Seqs from `seq` on are not wanted: waiting carriers of such go on. */
void dtx_reorder_stop(struct dtx_reorder *r, uint64_t seq);

/* Tasks are taken in the order they are handed.  dtx_reorder_hand gives whether there are more than
 * enough: then the caller does some first. */
DTX_MUSTUSE bool dtx_reorder_hand(struct dtx_reorder *r, struct dtx_reorder_item *task);
/* The next task, the caller's until dtx_reorder_done; NULL: none now.  With `last` it waits until
 * there is one or no carrier is left. */
struct dtx_reorder_item *dtx_reorder_task(struct dtx_reorder *r, bool last);
/* A carrier brings no more. */
void dtx_reorder_retire(struct dtx_reorder *r);

#endif
