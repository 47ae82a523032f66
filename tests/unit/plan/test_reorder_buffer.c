/* The buffer that restores the order of batches in a pipeline. */
#include <pthread.h>

#include "core/base/memory/mem.h"
#include "core/plan/pipe/reorder_buffer.h"
#include "tests/t.h"

struct carrier {
	struct dtx_reorder *ring;
	uint64_t seq;
	struct dtx_reorder_list list;
	bool left;
};

static void *carry(void *arg)
{
	struct carrier *c = arg;

	c->left = dtx_reorder_leave(c->ring, c->seq, &c->list) == DTX_REORDER_LEFT;
	return NULL;
}

/* The worker with seq 1 leaves its list while seq 0 is still being processed; if memory is short it
 * waits for its turn.  What was emptied keeps no buffer. */
void test_reorder_buffer_waits_when_memory_is_short(void)
{
	for (int tight = 0; tight <= 1; tight++) {
		struct dtx_err err = DTX_ERR_INIT;
		struct dtx_reorder r = { .nslots = 0 };
		struct carrier c = { .ring = &r, .seq = 1 };
		struct dtx_reorder_list none = { NULL, NULL };
		struct dtx_reorder_item *item;
		pthread_t t;

		T_OK(dtx_reorder_init(&r, 2, 0, &err), &err);
		item = dtx_reorder_item(&r);
		T_CHECK(dtx_buf_room(&item->text, 5000));
		dtx_mem_set_limit(tight ? dtx_mem_used() + 1000 : 0);
		T_INT(dtx_mem_tight(), tight);
		T_INT(pthread_create(&t, NULL, carry, &c), 0);
		if (!tight) /* it left before the head moves */
			T_INT(pthread_join(t, NULL), 0);
		T_INT(dtx_reorder_next(&r, &none), !tight);
		if (tight)
			T_INT(pthread_join(t, NULL), 0);
		T_INT(c.left, !tight);
		dtx_reorder_done(&r, item);
		T_INT(item->text.cap != 0, !tight);
		dtx_mem_set_limit(0);
		dtx_reorder_clear(&r);
	}
}
