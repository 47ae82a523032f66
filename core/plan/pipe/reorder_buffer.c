/* The reorder buffer: a mutex, a condition variable and a ring of slots. See the header for the
 * idea. */
#include "core/plan/pipe/reorder_buffer.h"

#include "core/base/memory/mem.h"

/* Slots absorb morsels of unequal cost: a worker may be this many morsels ahead before it waits. */
#define SLOTS_PER_WORKER 4
#define TEXT_MAX         ((size_t)4 << 30)

enum dtx_code dtx_reorder_init(struct dtx_reorder *r, unsigned workers, uint64_t head,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	r->nslots = (uint64_t)workers * SLOTS_PER_WORKER;
	r->spare = NULL;
	r->task = (struct dtx_reorder_list){ NULL, NULL };
	r->ntasks = 0;
	r->carriers = 0;
	r->stop_at = UINT64_MAX;
	atomic_init(&r->head, head);
	pthread_mutex_init(&r->lock, NULL);
	pthread_cond_init(&r->moved, NULL);
	r->slot = dtx_mem_zalloc(r->nslots, sizeof(*r->slot));
	if (!r->slot)
		DTX_FAIL_MEM(err);
out:
	return rc;
}

static void free_fault(struct dtx_reorder_item *item)
{
	if (item->fault)
		dtx_err_clear(item->fault);
	dtx_mem_free(item->fault);
	item->fault = NULL;
}

static void free_item(struct dtx_reorder_item *item)
{
	dtx_batch_free(item->batch);
	free_fault(item);
	dtx_buf_clear(&item->text);
	dtx_rowhash_clear(&item->hash);
	dtx_mem_free(item);
}

static void free_list(struct dtx_reorder_item *item)
{
	while (item) {
		struct dtx_reorder_item *next = item->next;

		free_item(item);
		item = next;
	}
}

void dtx_reorder_clear(struct dtx_reorder *r)
{
	if (!r->nslots)
		return;
	for (uint64_t i = 0; r->slot && i < r->nslots; i++)
		free_list(r->slot[i].list.first);
	free_list(r->spare);
	free_list(r->task.first);
	dtx_mem_free(r->slot);
	pthread_cond_destroy(&r->moved);
	pthread_mutex_destroy(&r->lock);
	*r = (struct dtx_reorder){ .nslots = 0 };
}

struct dtx_reorder_item *dtx_reorder_item(struct dtx_reorder *r)
{
	struct dtx_reorder_item *item;

	pthread_mutex_lock(&r->lock);
	item = r->spare;
	if (item)
		r->spare = item->next;
	pthread_mutex_unlock(&r->lock);
	if (item)
		return item;
	item = dtx_mem_zalloc(1, sizeof(*item));
	if (item)
		dtx_buf_init(&item->text, TEXT_MAX);
	return item;
}

void dtx_reorder_done(struct dtx_reorder *r, struct dtx_reorder_item *item)
{
	dtx_batch_free(item->batch);
	item->batch = NULL;
	free_fault(item);
	if (dtx_mem_tight()) {
		dtx_buf_clear(&item->text);
		dtx_rowhash_clear(&item->hash);
	} else {
		dtx_buf_reset(&item->text);
	}
	pthread_mutex_lock(&r->lock);
	item->next = r->spare;
	r->spare = item;
	pthread_mutex_unlock(&r->lock);
}

/* Whether seq is too far ahead to be left: no slot is free, or memory is short and what is left
 * would make it shorter. The number whose turn it is is never too far, so the ordered part always
 * proceeds. */
static bool too_far(const struct dtx_reorder *r, uint64_t seq)
{
	uint64_t head = atomic_load(&r->head);

	return seq >= head + (dtx_mem_tight() ? 1 : r->nslots) && seq < r->stop_at;
}

void dtx_reorder_await(struct dtx_reorder *r, uint64_t seq)
{
	if (dtx_reorder_mine(r, seq) || !dtx_mem_tight())
		return;
	pthread_mutex_lock(&r->lock);
	while (seq > atomic_load(&r->head) && seq < r->stop_at && dtx_mem_tight() && !r->ntasks)
		pthread_cond_wait(&r->moved, &r->lock);
	pthread_mutex_unlock(&r->lock);
}

enum dtx_reorder_left dtx_reorder_leave(struct dtx_reorder *r, uint64_t seq,
                                        struct dtx_reorder_list *list)
{
	struct dtx_reorder_slot *slot = &r->slot[seq % r->nslots];
	enum dtx_reorder_left left = DTX_REORDER_KEPT;

	pthread_mutex_lock(&r->lock);
	while (too_far(r, seq) && !r->ntasks)
		pthread_cond_wait(&r->moved, &r->lock);
	if (too_far(r, seq)) {
		left = DTX_REORDER_HELP;
	} else if (atomic_load(&r->head) != seq && seq < r->stop_at) {
		slot->list = *list;
		slot->full = true;
		*list = (struct dtx_reorder_list){ NULL, NULL };
		left = DTX_REORDER_LEFT;
	}
	pthread_mutex_unlock(&r->lock);
	return left;
}

bool dtx_reorder_next(struct dtx_reorder *r, struct dtx_reorder_list *list)
{
	struct dtx_reorder_slot *slot;
	uint64_t head;
	bool there;

	pthread_mutex_lock(&r->lock);
	head = atomic_load(&r->head) + 1;
	slot = &r->slot[head % r->nslots];
	there = slot->full;
	if (there) {
		*list = slot->list;
		*slot = (struct dtx_reorder_slot){ .full = false };
	}
	/* release: the next holder of the right sees what this one wrote */
	atomic_store_explicit(&r->head, head, memory_order_release);
	pthread_cond_broadcast(&r->moved);
	pthread_mutex_unlock(&r->lock);
	return there;
}

void dtx_reorder_stop(struct dtx_reorder *r, uint64_t seq)
{
	pthread_mutex_lock(&r->lock);
	if (seq < r->stop_at)
		r->stop_at = seq;
	pthread_cond_broadcast(&r->moved);
	pthread_mutex_unlock(&r->lock);
}

/* --- tasks --- */

bool dtx_reorder_hand(struct dtx_reorder *r, struct dtx_reorder_item *task)
{
	bool enough;

	pthread_mutex_lock(&r->lock);
	dtx_reorder_push(&r->task, task);
	r->ntasks++;
	enough = r->ntasks > (dtx_mem_tight() ? 1 : r->nslots);
	pthread_cond_broadcast(&r->moved);
	pthread_mutex_unlock(&r->lock);
	return enough;
}

struct dtx_reorder_item *dtx_reorder_task(struct dtx_reorder *r, bool last)
{
	struct dtx_reorder_item *task;

	pthread_mutex_lock(&r->lock);
	while (last && !r->ntasks && r->carriers)
		pthread_cond_wait(&r->moved, &r->lock);
	task = r->task.first;
	if (task) {
		r->task.first = task->next;
		if (!r->task.first)
			r->task.last = NULL;
		r->ntasks--;
	}
	pthread_mutex_unlock(&r->lock);
	return task;
}

void dtx_reorder_retire(struct dtx_reorder *r)
{
	pthread_mutex_lock(&r->lock);
	r->carriers--;
	pthread_cond_broadcast(&r->moved);
	pthread_mutex_unlock(&r->lock);
}
