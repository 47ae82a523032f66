/* Tasks: what leaves the ordered part of a pipeline is carried on by whichever worker has time. */
#include "core/plan/pipe/pipe_parts.h"

#include "core/base/mem.h"

bool dtx_pipe_tail_open(struct worker *tail, const struct worker *w)
{
	unsigned npass = w->p->now->npass;

	*tail = (struct worker){ .p = w->p, .id = w->id, .ring = &w->p->tail };
	tail->cut = w->p->end.eat ? npass + 1 : npass;
	tail->sub = dtx_mem_zalloc(npass + 1, sizeof(*tail->sub));
	return tail->sub != NULL;
}

/* An error belongs to the morsel that the task came from.  Tasks behind it are not put any more,
 * nor waited for; those before it are: where a morsel failed behind a limit, they are the result.
 */
static void run_task(struct worker *tail, struct dtx_reorder_item *task)
{
	struct dtx_pipe *p = tail->p;
	struct dtx_err err = DTX_ERR_INIT;
	enum dtx_code rc = DTX_OK;
	uint64_t at = task->seq;

	if (!dtx_pipe_unwanted(p, task->seq)) {
		dtx_pipe_begin(tail, task->out);
		rc = dtx_pipe_feed(tail, p->back, task->batch, &err);
		if (rc == DTX_OK)
			rc = dtx_pipe_finish(tail, &at, &err);
	}
	if (rc != DTX_OK) {
		dtx_pipe_fail(p, task->seq, true, &err);
		dtx_reorder_stop(&p->tail, task->out);
	}
	dtx_reorder_done(&p->ring, task);
}

void dtx_pipe_tasks(struct worker *w, bool last)
{
	struct dtx_reorder_item *task;

	while (w->tail && (task = dtx_reorder_task(&w->p->ring, last)))
		run_task(w->tail, task);
}

enum dtx_code dtx_pipe_hand(struct worker *w, const struct dtx_batch *b, struct dtx_err *err)
{
	struct dtx_pipe *p = w->p;
	struct dtx_reorder_item *task = dtx_reorder_item(&p->ring);
	enum dtx_code rc = DTX_OK;

	if (!task)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_batch_copy(b, &task->batch, err));
	task->seq = p->order_seq;
	task->out = p->out_seq++;
	if (dtx_reorder_hand(&p->ring, task)) {
		int64_t start = dtx_now_ns();

		task = dtx_reorder_task(&p->ring, false);
		if (task)
			run_task(w->tail, task);
		w->child_ns += dtx_now_ns() - start;
	}
	task = NULL;
out:
	if (task)
		dtx_reorder_done(&p->ring, task);
	return rc;
}
