/* A reorder buffer: workers finish morsels in any order, and the ordered part of a pipeline gets
 * them by number.
 *
 * It has four slots per worker; the morsel with number seq uses slot seq modulo their number.
 * `head` is the number whose turn it is. The worker that carries it has "the right": it alone may
 * run the ordered part, without a lock, since the slot of the head is never full. When it is done
 * it moves the head on and takes over the lists that other workers have left in the slots that
 * follow. So the ordered part moves from worker to worker, and no thread is reserved for it.
 *
 * A worker that is more than all slots ahead waits (dtx_reorder_leave), which bounds the memory of
 * what is finished too early. When memory is short the bound is one morsel.
 *
 * Threads: all functions may be called by any worker unless they say otherwise. */
#ifndef DTX_PLAN_PIPE_REORDER_BUFFER_H
#define DTX_PLAN_PIPE_REORDER_BUFFER_H

#include <pthread.h>

#include "core/base/memory/buf.h"
#include "core/data/batch.h"
#include "core/data/tablehash.h"

/* A batch on its way to the ordered part, with the text and hashes that the workers made of it. */
struct dtx_reorder_item {
	struct dtx_batch *batch;
	struct dtx_buf text;
	struct dtx_rowhash hash;
	struct dtx_err *fault; /* set instead of a batch: the morsel failed at this place */
	uint64_t seq, out;     /* of a task: the morsel that it came from, and its own number */
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
	_Atomic uint64_t
		head; /* written under the lock; the worker whose turn it is reads it without */
	struct dtx_reorder_slot *slot;
	uint64_t nslots;
	struct dtx_reorder_item *spare; /* emptied items, kept for their buffers */
	uint64_t stop_at; /* numbers from here on are not wanted; UINT64_MAX: all are */
	/* batches that the ordered part hands back to the workers */
	struct dtx_reorder_list task;
	uint64_t ntasks;
	unsigned carriers; /* workers that may still add tasks */
};

/* head: the first number. Codes: no_memory. Clearing a buffer that was not opened (all zero) is
 * fine. */
DTX_MUSTUSE enum dtx_code dtx_reorder_init(struct dtx_reorder *r, unsigned workers, uint64_t head,
                                           struct dtx_err *err);
void dtx_reorder_clear(struct dtx_reorder *r);
/* An empty item, which the caller fills and gives back with dtx_reorder_done; NULL: out of memory.
 */
struct dtx_reorder_item *dtx_reorder_item(struct dtx_reorder *r);
/* Frees the item's batch and error, and keeps the item for another use. */
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
/* Whether it is the turn of seq, which the caller carries. */
static inline bool dtx_reorder_mine(struct dtx_reorder *r, uint64_t seq)
{
	/* acquire: the caller sees all that the previous holder of the right wrote */
	return atomic_load_explicit(&r->head, memory_order_acquire) == seq;
}
/* Where memory is short, waits for the turn of seq before the caller makes something that would
 * have to be kept until then. Returns at once where there is memory, or where a task can be done.
 */
void dtx_reorder_await(struct dtx_reorder *r, uint64_t seq);
/* Leaves the complete list of morsel seq for the worker whose turn comes first. Waits while seq is
 * too far ahead.
 *
 * LEFT: the list is in its slot, *list is empty. KEPT: the turn of seq came meanwhile, or seq is
 * not wanted any more; the list is still the caller's. HELP: the caller should run a task and call
 * again. */
enum dtx_reorder_left { DTX_REORDER_LEFT, DTX_REORDER_KEPT, DTX_REORDER_HELP };
enum dtx_reorder_left dtx_reorder_leave(struct dtx_reorder *r, uint64_t seq,
                                        struct dtx_reorder_list *list);
/* Ends the turn of the head. Where the next number has been left already, its list moves to *list
 * and the caller keeps the right: true. Only the holder of the right may call it. */
bool dtx_reorder_next(struct dtx_reorder *r, struct dtx_reorder_list *list);
/* Says that numbers from `seq` on are not wanted: workers that wait with one of these go on. */
void dtx_reorder_stop(struct dtx_reorder *r, uint64_t seq);

/* Adds a task; tasks are taken in the order in which they were added. True: there are more than the
 * workers can soon take, and the caller should run one itself first. */
DTX_MUSTUSE bool dtx_reorder_hand(struct dtx_reorder *r, struct dtx_reorder_item *task);
/* Takes the next task, which the caller gives back with dtx_reorder_done. NULL: no task is ready.
 * last: waits until there is a task, or no worker is left that could add one. */
struct dtx_reorder_item *dtx_reorder_task(struct dtx_reorder *r, bool last);
/* The calling worker adds no more tasks. */
void dtx_reorder_retire(struct dtx_reorder *r);

#endif
