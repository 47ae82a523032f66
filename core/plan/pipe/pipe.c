/* Runs a pipeline on all workers: one source after the other, each morsel by morsel.
 *
 * The way of a batch: work() claims it, pipe_feed() hands it to the next stage, pipe_map() runs the
 * map, which emits through pipe_take() into pipe_feed() again, and so on down to the end. The
 * recursion is as deep as the pipeline is long, and the batch stays in the worker's cache all the
 * way. Where the ordered part begins (at_cut), the batch goes on at once if it is the worker's
 * turn; otherwise it waits in the worker's list, and pipe_finish() leaves the list in the reorder
 * buffer when the morsel is complete.
 *
 * A limit stops the source early, and must also decide which errors count: an error in a row that
 * the limit would not have kept must not be reported, or the result would depend on timing. How
 * that is done stands before pipe_is_limit(). */
#include <time.h>

#include "core/base/thread/cancel.h"
#include "core/base/memory/mem.h"
#include "core/base/thread/pool.h"
#include "core/plan/exec/outputs.h"
#include "core/plan/lineage/origin_map.h"
#include "core/plan/pipe/pipe.h"

struct worker {
	struct dtx_pipe *p;
	unsigned id;
	bool in_order; /* it runs the ordered part and is beyond the cut */
	unsigned cut;  /* the pipe's cut; of a worker for tasks: the end, or none */
	struct dtx_reorder *reorder;
	/* runs this thread's tasks; NULL if none, or this is one itself */
	struct worker *tail;
	uint64_t seq;
	bool mid;      /* inside a morsel */
	bool beyond;   /* the last error came from after the map that emitted */
	uint32_t *sub; /* next batch number within the morsel, per stage */
	struct dtx_reorder_list pending;
	int64_t child_ns; /* time spent in the stages that follow the one that runs */
	uint64_t seqs;    /* one more than the largest seq that it saw of the source */
};

struct pipe_emit {
	struct dtx_emit base;
	struct worker *w;
	unsigned to;               /* index of the next stage */
	struct dtx_operator *oper; /* the operator that emits */
	const struct dtx_stage *stage;
	const struct dtx_opctx *ox;
};

/* Passes batch b to stage i, or after the last stage to the end. */
static DTX_MUSTUSE enum dtx_code pipe_feed(struct worker *w, unsigned i, struct dtx_batch *b,
                                           struct dtx_err *err);
/* Nothing more is read: wakes a reader that waits for the bytes of a stream. */
static void pipe_enough(const struct dtx_pipe *p);
/* The morsel (or task) is complete: its list goes to the reorder buffer, or is run together with
 * all lists that are ready after it. *at: the morsel that ran last, for an error. */
static DTX_MUSTUSE enum dtx_code pipe_finish(struct worker *w, uint64_t *at, struct dtx_err *err);
/* The worker starts on morsel seq, unless it is inside it. */
static void pipe_begin(struct worker *w, uint64_t seq);
/* Records an error. exact: it is of morsel seq; otherwise of a reader, in some morsel from seq on.
 */
static void pipe_fail(struct dtx_pipe *p, uint64_t seq, bool exact, struct dtx_err *err);
/* Whether morsel seq needs no work: an earlier one failed, or a limit is full. */
static bool pipe_unwanted(struct dtx_pipe *p, uint64_t seq);

/* Runs the map of stage i on batch b, and all that follows. */
static DTX_MUSTUSE enum dtx_code pipe_map(struct worker *w, unsigned i, struct dtx_batch *b,
                                          struct dtx_err *err);

/* Hands a batch that leaves the ordered part to the workers, as a task. */
static DTX_MUSTUSE enum dtx_code pipe_hand(struct worker *w, const struct dtx_batch *b,
                                           struct dtx_err *err);

/* Errors before a limit count only if the limit wants the row that failed.
 *
 * A batch that fails before a limit is run again in halves, up to the row that fails, so that all
 * rows before it reach the limit, whatever the size of batches. If the limit is not full then, the
 * error counts. Where the limit belongs to the ordered part and its turn is yet to come, the error
 * is put into the list of the morsel like a batch, and counts when the ordered part gets to it. */

static bool pipe_is_limit(const struct dtx_operator *l)
{
	return l->op->wants && l->op->wants(l->ox[0].args) >= 0;
}

/* Marks the stages of the source that a limit follows. */
static void pipe_limited(struct dtx_pipe_source *source)
{
	bool limited = false;

	for (unsigned i = source->nstages; i-- > 0;) {
		source->stage[i].limited = limited && !source->stage[i].oper->ordered;
		limited |= pipe_is_limit(source->stage[i].oper);
	}
	source->limited = limited;
}

/* Whether a limit was full at seq or before. */
static bool pipe_has_enough(const struct dtx_pipe *p, uint64_t seq)
{
	return atomic_load_explicit(&p->stop, memory_order_acquire) &&
	       atomic_load(&p->full_at) <= seq;
}

/* The error of an item, unless a limit is full by now. */
static enum dtx_code pipe_fault(const struct dtx_pipe *p, uint64_t seq,
                                struct dtx_reorder_item *item, struct dtx_err *err)
{
	enum dtx_code rc = item->fault->code;

	if (pipe_has_enough(p, seq))
		return DTX_OK;
	if (err)
		dtx_err_move(err, item->fault);
	return rc;
}

/* Whether the error is about data: it may be in a row that is not wanted. */
static bool is_of_data(enum dtx_code rc)
{
	return dtx_code_exit(rc, true) == dtx_code_exit(DTX_E_CAST_FAILED, true);
}

/* Whether the map itself failed, and not one that follows it. */
static bool is_its_own(const struct worker *w, enum dtx_code rc)
{
	return !w->beyond && is_of_data(rc);
}

static enum dtx_code map(struct worker *w, unsigned i, struct dtx_batch *b, struct dtx_err *err)
{
	w->beyond = false;
	return pipe_map(w, i, b, err);
}

/* Takes rows back from a step's count, before they are run again. */
static void count_less(struct worker *w, unsigned i, uint32_t rows)
{
	const struct dtx_stage *stage = &w->p->now->stage[i];

	atomic_fetch_sub(&stage->oper->ox[stage->input].stat->rows_in, rows);
}

/* Runs the map on the selected rows from..to of `all`. */
static enum dtx_code map_part(struct worker *w, unsigned i, const struct dtx_batch *all,
                              uint32_t from, uint32_t to, struct dtx_err *err)
{
	struct dtx_batch *part = NULL;
	enum dtx_code rc = DTX_OK;
	uint16_t *sel;

	DTX_TRY(dtx_batch_copy(all, &part, err));
	DTX_TRY(dtx_batch_sel(part, &sel, err));
	memmove(sel, sel + from, (to - from) * sizeof(*sel));
	part->nsel = to - from;
	rc = map(w, i, part, err);
out:
	dtx_batch_free(part);
	return rc;
}

/* Runs the map on rows from..to, halving where it fails, up to the row that fails or until the
 * limit is full. */
static enum dtx_code map_parts(struct worker *w, unsigned i, const struct dtx_batch *all,
                               uint32_t from, uint32_t to, struct dtx_err *err)
{
	uint32_t middle = from + (to - from) / 2;
	enum dtx_code rc;

	if (pipe_has_enough(w->p, w->in_order ? w->p->order_seq : w->seq))
		return DTX_OK;
	rc = map_part(w, i, all, from, to, err);
	if (rc == DTX_OK || !is_its_own(w, rc))
		return rc;
	count_less(w, i, to - from);
	if (to - from == 1)
		return rc;
	dtx_err_clear(err);
	rc = map_parts(w, i, all, from, middle, err);
	return rc == DTX_OK ? map_parts(w, i, all, middle, to, err) : rc;
}

/* Puts the error into the morsel's list, where it waits for its turn. */
static enum dtx_code defer_error(struct worker *w, struct dtx_err *failed, struct dtx_err *err)
{
	struct dtx_reorder_item *item = dtx_reorder_item(w->reorder);
	enum dtx_code rc = DTX_OK;

	if (!item)
		DTX_FAIL_MEM(err);
	item->fault = dtx_mem_zalloc(1, sizeof(*item->fault));
	if (!item->fault)
		DTX_FAIL_MEM(err);
	dtx_err_move(item->fault, failed);
	dtx_reorder_push(&w->pending, item);
	item = NULL;
out:
	if (item)
		dtx_reorder_done(w->reorder, item);
	return rc;
}

/* The reader failed in morsel w->seq, and a limit follows: the error counts if the rows before it
 * have passed and the limit is still not full. */
static enum dtx_code defer_source_error(struct worker *w, uint64_t *at, struct dtx_err *err)
{
	struct dtx_err failed = DTX_ERR_INIT;
	enum dtx_code rc = err->code;

	if (!is_of_data(rc) || w->cut > w->p->now->nstages)
		return rc;
	dtx_err_move(&failed, err);
	DTX_TRY(defer_error(w, &failed, err));
	DTX_TRY(pipe_finish(w, at, err));
out:
	dtx_err_clear(&failed);
	return rc;
}

/* Runs the rows before the one that failed, and decides whether the error counts. */
static enum dtx_code rerun_rows(struct worker *w, unsigned i, const struct dtx_batch *all,
                                struct dtx_err *failed, struct dtx_err *err)
{
	struct dtx_err e = DTX_ERR_INIT;
	enum dtx_code rc;

	count_less(w, i, all->nsel);
	rc = map_parts(w, i, all, 0, all->nsel, &e);
	if (rc != DTX_OK && !is_its_own(w, rc))
		dtx_err_move(failed, &e);
	else if (!w->in_order)
		rc = defer_error(w, failed, failed);
	else
		rc = pipe_has_enough(w->p, w->p->order_seq) ? DTX_OK : failed->code;
	dtx_err_clear(&e);
	if (rc != DTX_OK && err)
		dtx_err_move(err, failed);
	return rc;
}

/* pipe_map for a stage that a limit follows. */
static enum dtx_code pipe_map_limited(struct worker *w, unsigned i, struct dtx_batch *b,
                                      struct dtx_err *err)
{
	struct dtx_err failed = DTX_ERR_INIT;
	struct dtx_batch *all = NULL;
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_batch_copy(b, &all, err));
	rc = map(w, i, b, &failed);
	if (rc != DTX_OK && is_its_own(w, rc))
		rc = rerun_rows(w, i, all, &failed, err);
	else if (rc != DTX_OK && err)
		dtx_err_move(err, &failed);
out:
	dtx_err_clear(&failed);
	dtx_batch_free(all);
	return rc;
}

/* --- emitting --- */

enum dtx_code dtx_emit_batch(struct dtx_emit *out, struct dtx_batch *b, struct dtx_err *err)
{
	enum dtx_code rc = dtx_cancel_look(err);

	return rc == DTX_OK && b->nsel ? out->take(out, b, err) : rc;
}

bool dtx_emit_full(const struct dtx_emit *out)
{
	return out->full && out->full(out);
}

void dtx_emit_stop(struct dtx_emit *out)
{
	if (out->stop)
		out->stop(out);
}

/* Counts the rows of b as output of the step that emits them. */
static enum dtx_code pipe_count(const struct pipe_emit *pe, struct dtx_batch *b,
                                struct dtx_err *err)
{
	int64_t most = pe->w->p->run->max_rows;
	int64_t rows = atomic_fetch_add(&pe->ox->stat->rows_out, b->nsel) + b->nsel;
	enum dtx_code rc = DTX_OK;

	DTX_ASSERT(b->ncols == pe->ox->out->nfields, err);
	b->schema = pe->ox->out;
	if (most >= 0 && rows > most)
		DTX_FAIL(err, DTX_E_ROW_LIMIT, "more than %lld rows", (long long)most);
out:
	return rc;
}

/* Notes the last row that a limit let through. Limits are ordered: only the holder of the right is
 * here. */
static void note_last(struct dtx_operator *limit, const struct dtx_batch *b)
{
	uint32_t row = b->sel ? b->sel[b->nsel - 1] : b->nsel - 1;

	if (!dtx_batch_id(b, row, &limit->last_id))
		limit->last_id = DTX_NO_ROW;
}

static enum dtx_code pipe_take(struct dtx_emit *e, struct dtx_batch *b, struct dtx_err *err)
{
	struct pipe_emit *pe = (struct pipe_emit *)e;
	enum dtx_code rc = DTX_OK;

	if (b->origin == pe->stage->in)
		b->origin = pe->stage->out;
	DTX_TRY(pipe_count(pe, b, err));
	DTX_TRY(dtx_checks_batch(pe->oper->checks, b, err));
	if (pipe_is_limit(pe->oper))
		note_last(pe->oper, b);
	rc = pipe_feed(pe->w, pe->to, b, err);
	pe->w->beyond |= rc != DTX_OK;
out:
	return rc;
}

/* struct dtx_emit's `full`: the map may skip the rest of its batch. */
static bool pipe_full(const struct dtx_emit *e)
{
	const struct pipe_emit *pe = (const struct pipe_emit *)e;

	/* tasks are made of rows that the limit let through: all are wanted */
	return pe->w->reorder == &pe->w->p->reorder &&
	       atomic_load_explicit(&pe->w->p->stop, memory_order_relaxed) &&
	       atomic_load(&pe->w->p->full_at) <= pe->w->seq;
}

/* Whether a step before the one that emits must see every row, so that reading cannot stop early.
 */
static bool is_judged(const struct dtx_pipe_source *source, unsigned to)
{
	if (source->made.op && dtx_checks_is_on(source->made.checks))
		return true;
	for (unsigned i = 0; i + 1 < to; i++)
		if (source->stage[i].oper->sees_all ||
		    dtx_checks_is_on(source->stage[i].oper->checks))
			return true;
	return false;
}

/* struct dtx_emit's `stop`: a limit is full, later morsels are not wanted and errors in them do not
 * count. */
static void pipe_stop(struct dtx_emit *e)
{
	struct pipe_emit *pe = (struct pipe_emit *)e;
	struct dtx_pipe *p = pe->w->p;

	if (!pe->w->in_order || p->order_seq >= atomic_load(&p->full_at) ||
	    is_judged(p->now, pe->to))
		return;
	/* only the holder of the right writes these; they are written before the flag, so that a
	 * thread that sees the flag sees them */
	p->full_id = pe->oper->last_id;
	p->now->cut = pe->to;
	atomic_store(&p->full_at, p->order_seq);
	atomic_store(&p->stop, true);
	pipe_enough(p);
	dtx_reorder_stop(&p->reorder, p->order_seq + 1);
}

/* The emitter of stage i. */
static struct pipe_emit dtx_pipe_emit(struct worker *w, unsigned i)
{
	const struct dtx_stage *stage = &w->p->now->stage[i];

	return (struct pipe_emit){ .base = { pipe_take, pipe_full, pipe_stop },
		                   .w = w,
		                   .to = i + 1,
		                   .oper = stage->oper,
		                   .stage = stage,
		                   .ox = &stage->oper->ox[stage->input] };
}

/* --- through the maps --- */

static void pipe_set_step(const struct dtx_opctx *ox, const struct dtx_op *op, struct dtx_err *err)
{
	if (!err)
		return;
	if (!dtx_outputs_caused(err)) /* an output refused the value: the step only passed it on */
		dtx_err_step(err, ox->step, op->name);
	err->run_time = true;
}

static enum dtx_code pipe_map(struct worker *w, unsigned i, struct dtx_batch *b,
                              struct dtx_err *err)
{
	struct pipe_emit emit = dtx_pipe_emit(w, i);
	struct dtx_operator *l = emit.oper;
	const struct dtx_opctx *ox = emit.ox;
	int64_t start = dtx_now_ns(), outer = w->child_ns, all;
	enum dtx_code rc = DTX_OK;

	w->child_ns = 0;
	atomic_fetch_add(&ox->stat->rows_in, b->nsel);
	if (b->sel && !(l->op->flags & DTX_OP_TAKES_SEL))
		DTX_TRY(dtx_batch_dense(b, err));
	rc = l->op->map->batch(ox, l->local[w->in_order ? 0 : w->id], b, &emit.base, err);
	if (rc != DTX_OK)
		pipe_set_step(ox, l->op, err);
out:
	all = dtx_now_ns() - start;
	atomic_fetch_add(&ox->stat->ns, all - w->child_ns);
	w->child_ns = outer + all;
	return rc;
}

/* --- the end --- */

static enum dtx_code end_direct(struct worker *w, struct dtx_batch *b, struct dtx_err *err)
{
	struct dtx_pipe *p = w->p;
	struct dtx_reorder_item *item;
	enum dtx_code rc = DTX_OK;

	if (p->end.eat)
		return p->end.eat(p->end.arg, w->in_order ? 0 : w->id, b, err);
	item = dtx_reorder_item(&p->reorder);
	if (!item)
		DTX_FAIL_MEM(err);
	if (p->end.prepare)
		DTX_TRY(p->end.prepare(p->end.arg, w->in_order ? 0 : w->id, b, item, err));
	DTX_TRY(p->end.put(p->end.arg, b, item, err));
out:
	if (item)
		dtx_reorder_done(&p->reorder, item);
	return rc;
}

/* Runs an item that is beyond the cut: through the rest of the maps, or into the end. */
static enum dtx_code run_item(struct worker *w, uint64_t seq, struct dtx_batch *b,
                              struct dtx_reorder_item *item, struct dtx_err *err)
{
	struct dtx_pipe *p = w->p;
	enum dtx_code rc;

	if (item->fault)
		return pipe_fault(p, seq, item, err);
	if (w->cut == p->now->nstages)
		return p->end.put(p->end.arg, b, item, err);
	if (p->order_seq != seq) {
		p->order_seq = seq;
		memset(p->order_sub, 0, (p->now->nstages + 1) * sizeof(*p->order_sub));
	}
	w->in_order = true;
	rc = pipe_feed(w, p->cut, b, err);
	w->in_order = false;
	return rc;
}

/* Runs the items of a list in order; the worker holds the right. */
static enum dtx_code pipe_list(struct worker *w, uint64_t seq, struct dtx_reorder_list *list,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	while (list->first && rc == DTX_OK) {
		struct dtx_reorder_item *item = list->first;

		list->first = item->next;
		if (!list->first)
			list->last = NULL;
		rc = dtx_cancel_look(err);
		if (rc == DTX_OK)
			rc = run_item(w, seq, item->batch, item, err);
		dtx_reorder_done(w->reorder, item);
	}
	return rc;
}

/* A batch waits for its turn: the first ordered map may prepare for it meanwhile (hash its keys).
 */
static void look_ahead(const struct worker *w, struct dtx_batch *b)
{
	const struct dtx_stage *stage;

	if (w->cut == w->p->now->nstages)
		return;
	stage = &w->p->now->stage[w->cut];
	if (stage->oper->op->map->ahead)
		stage->oper->op->map->ahead(&stage->oper->ox[stage->input], stage->oper->local[0],
		                            b);
}

/* The batch reaches the ordered part: it runs at once if it is the morsel's turn, else it waits in
 * the worker's list. */
static enum dtx_code at_cut(struct worker *w, struct dtx_batch *b, struct dtx_err *err)
{
	struct dtx_pipe *p = w->p;
	struct dtx_reorder_item *item;
	enum dtx_code rc = DTX_OK;
	bool mine;

	dtx_reorder_await(w->reorder, w->seq);
	mine = dtx_reorder_mine(w->reorder, w->seq);
	item = dtx_reorder_item(w->reorder);
	if (!item)
		DTX_FAIL_MEM(err);
	if (w->cut == p->now->nstages && p->end.prepare)
		DTX_TRY(p->end.prepare(p->end.arg, w->id, b, item, err));
	if (mine) {
		DTX_TRY(pipe_list(w, w->seq, &w->pending, err));
		DTX_TRY(run_item(w, w->seq, b, item, err));
	} else {
		look_ahead(w, b);
		DTX_TRY(dtx_batch_copy(b, &item->batch, err));
		dtx_reorder_push(&w->pending, item);
		item = NULL;
	}
out:
	if (item)
		dtx_reorder_done(w->reorder, item);
	return rc;
}

static enum dtx_code pipe_feed(struct worker *w, unsigned i, struct dtx_batch *b,
                               struct dtx_err *err)
{
	struct dtx_pipe *p = w->p;

	if (!b->nsel)
		return DTX_OK;
	if (w->in_order && w->tail && i == p->back)
		return pipe_hand(w, b, err);
	b->seq = w->in_order ? p->order_seq : w->seq;
	b->sub = w->in_order ? p->order_sub[i]++ : w->sub[i]++;
	if (i == w->cut && !w->in_order)
		return at_cut(w, b, err);
	if (i == p->now->nstages)
		return end_direct(w, b, err);
	return p->now->stage[i].limited ? pipe_map_limited(w, i, b, err) : pipe_map(w, i, b, err);
}

/* Tasks: batches that leave the ordered part are carried on by whichever worker has time. */

static bool pipe_tail_open(struct worker *tail, const struct worker *w)
{
	unsigned nstages = w->p->now->nstages;

	*tail = (struct worker){ .p = w->p, .id = w->id, .reorder = &w->p->task_reorder };
	tail->cut = w->p->end.eat ? nstages + 1 : nstages;
	tail->sub = dtx_mem_zalloc(nstages + 1, sizeof(*tail->sub));
	return tail->sub != NULL;
}

/* An error belongs to the morsel that the task came from. Later tasks are neither run nor waited
 * for; earlier ones are, since they are part of the result where a limit makes the error
 * irrelevant. */
static void run_task(struct worker *tail, struct dtx_reorder_item *task)
{
	struct dtx_pipe *p = tail->p;
	struct dtx_err err = DTX_ERR_INIT;
	enum dtx_code rc = DTX_OK;
	uint64_t at = task->seq;

	if (!pipe_unwanted(p, task->seq)) {
		pipe_begin(tail, task->out);
		rc = pipe_feed(tail, p->back, task->batch, &err);
		if (rc == DTX_OK)
			rc = pipe_finish(tail, &at, &err);
	}
	if (rc != DTX_OK) {
		pipe_fail(p, task->seq, true, &err);
		dtx_reorder_stop(&p->task_reorder, task->out);
	}
	dtx_reorder_done(&p->reorder, task);
}

/* Runs the tasks that are there; last: also all that are still to come. */
static void pipe_tasks(struct worker *w, bool last)
{
	struct dtx_reorder_item *task;

	while (w->tail && (task = dtx_reorder_task(&w->p->reorder, last)))
		run_task(w->tail, task);
}

static enum dtx_code pipe_hand(struct worker *w, const struct dtx_batch *b, struct dtx_err *err)
{
	struct dtx_pipe *p = w->p;
	struct dtx_reorder_item *task = dtx_reorder_item(&p->reorder);
	enum dtx_code rc = DTX_OK;

	if (!task)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_batch_copy(b, &task->batch, err));
	task->seq = p->order_seq;
	task->out = p->out_seq++;
	if (dtx_reorder_hand(&p->reorder, task)) {
		int64_t start = dtx_now_ns();

		task = dtx_reorder_task(&p->reorder, false);
		if (task)
			run_task(w->tail, task);
		w->child_ns += dtx_now_ns() - start;
	}
	task = NULL;
out:
	if (task)
		dtx_reorder_done(&p->reorder, task);
	return rc;
}

/* --- morsels --- */

/* Whether error a comes before b: by position where both are of the same input, else by morsel. */
static bool earlier(const struct dtx_err *a, uint64_t aseq, const struct dtx_err *b, uint64_t bseq)
{
	if (strcmp(a->input, b->input) == 0 && a->byte >= 0 && b->byte >= 0)
		return a->byte < b->byte;
	if (strcmp(a->input, b->input) == 0 && a->row >= 0 && b->row >= 0)
		return a->row < b->row;
	return aseq < bseq;
}

static void pipe_enough(const struct dtx_pipe *p)
{
	if (p->now->reader && p->now->reader->src)
		dtx_source_stop(p->now->reader->src);
}

/* Without an exact morsel the others still go on to the end of theirs: one may fail earlier. */
static void pipe_fail(struct dtx_pipe *p, uint64_t seq, bool exact, struct dtx_err *err)
{
	bool wins;

	pthread_mutex_lock(&p->lock);
	wins = !p->failed || earlier(err, seq, &p->err, p->err_seq);
	if (p->failed && (p->err.code == DTX_E_RETYPE) != (err->code == DTX_E_RETYPE))
		wins = err->code == DTX_E_RETYPE;
	if (wins) {
		dtx_err_move(&p->err, err);
		p->err_seq = seq;
	}
	if (exact && seq < p->failed_at)
		p->failed_at = seq;
	p->failed = true;
	pthread_mutex_unlock(&p->lock);
	atomic_store(&p->stop, true);
	pipe_enough(p);
	dtx_reorder_stop(&p->reorder, seq);
	dtx_err_clear(err);
}

static bool pipe_unwanted(struct dtx_pipe *p, uint64_t seq)
{
	bool yes;

	if (!atomic_load_explicit(&p->stop, memory_order_acquire))
		return false;
	pthread_mutex_lock(&p->lock);
	yes = seq > p->failed_at || seq > atomic_load(&p->full_at);
	pthread_mutex_unlock(&p->lock);
	return yes;
}

static enum dtx_code table_next(struct dtx_pipe *p, struct dtx_batch **out, struct dtx_err *err)
{
	struct dtx_table *t = p->now->table;
	uint64_t i = atomic_fetch_add(&p->claim, 1);
	enum dtx_code rc = DTX_OK;

	*out = NULL;
	if (i >= t->nbatches)
		goto out;
	DTX_TRY(dtx_batch_copy(t->batch[i], out, err));
	(*out)->seq = i;
	(*out)->last = true;
	(*out)->schema = p->now->schema ? p->now->schema : (*out)->schema;
out:
	return rc;
}

static uint64_t source_seqs(const struct dtx_pipe_source *source)
{
	return source->table ? source->table->nbatches : source->made.nparts;
}

static enum dtx_code next_batch(struct worker *w, struct dtx_batch **out, struct dtx_err *err)
{
	struct dtx_pipe *p = w->p;
	enum dtx_code rc = DTX_OK;

	*out = NULL;
	DTX_TRY(dtx_cancel_look(err));
	if (p->now->reader) {
		rc = p->now->reader->cls->next(p->now->reader, w->id, out, err);
		if (p->now->reader->src)
			rc = dtx_source_check_truncated(p->now->reader->src, rc, err);
		DTX_TRY(rc);
	} else {
		DTX_TRY(table_next(p, out, err));
	}
	if (*out) {
		(*out)->seq += p->base;
		if (p->run->progress && p->now->reader && p->now->reader->src)
			dtx_reader_note(p->now->reader, (*out)->nrows, p->run->progress);
	}
out:
	if (rc != DTX_OK) {
		dtx_batch_free(*out);
		*out = NULL;
	}
	if (rc != DTX_OK && err)
		err->run_time = true;
	return rc;
}

static void pipe_begin(struct worker *w, uint64_t seq)
{
	if (w->mid && w->seq == seq)
		return;
	w->seq = seq;
	w->mid = true;
	memset(w->sub, 0, (w->p->now->nstages + 1) * sizeof(*w->sub));
	if (seq - w->p->base + 1 > w->seqs)
		w->seqs = seq - w->p->base + 1;
}

static enum dtx_code pipe_finish(struct worker *w, uint64_t *at, struct dtx_err *err)
{
	struct dtx_pipe *p = w->p;
	enum dtx_reorder_left left = DTX_REORDER_KEPT;
	enum dtx_code rc = DTX_OK;
	uint64_t seq = w->seq;

	w->mid = false;
	if (w->cut > p->now->nstages)
		return DTX_OK;
	while (!dtx_reorder_mine(w->reorder, seq) &&
	       (left = dtx_reorder_leave(w->reorder, seq, &w->pending)) == DTX_REORDER_HELP)
		pipe_tasks(w, false);
	if (left == DTX_REORDER_LEFT || !dtx_reorder_mine(w->reorder, seq))
		return DTX_OK; /* another worker runs it, or it is not wanted any more */
	do {
		*at = seq++;
		rc = pipe_list(w, *at, &w->pending, err);
		if (rc != DTX_OK || (w->reorder == &p->reorder && pipe_unwanted(p, seq)))
			break;
	} while (dtx_reorder_next(w->reorder, &w->pending));
	return rc;
}

/* What a worker does next, and the morsel that an error belongs to. */
struct turn {
	uint64_t at;
	bool exact, more;
};

/* The reader failed: finds the morsel, and whether the error counts. */
static enum dtx_code source_failed(struct worker *w, struct turn *t, enum dtx_code rc,
                                   struct dtx_err *err)
{
	t->more = false;
	if (!w->mid && err->seq >= 0)
		pipe_begin(w, w->p->base + (uint64_t)err->seq);
	if (!w->mid)
		return rc;
	t->at = w->seq;
	t->exact = true;
	return w->p->now->limited ? defer_source_error(w, &t->at, err) : rc;
}

/* Takes the next batch of a reader or a table through the maps. */
static enum dtx_code take_batch(struct worker *w, struct turn *t, struct dtx_err *err)
{
	struct dtx_batch *b = NULL;
	enum dtx_code rc = next_batch(w, &b, err);
	bool last;

	if (rc != DTX_OK)
		return source_failed(w, t, rc, err);
	t->more = b != NULL;
	if (!b)
		goto out;
	pipe_begin(w, b->seq);
	t->at = w->seq;
	t->exact = true;
	last = b->last;
	DTX_TRY(pipe_feed(w, 0, b, err));
	if (last)
		DTX_TRY(pipe_finish(w, &t->at, err));
out:
	dtx_batch_free(b);
	return rc;
}

/* struct dtx_emit's `take`, for batches of a part as the sink makes them. */
static enum dtx_code made_take(struct dtx_emit *e, struct dtx_batch *b, struct dtx_err *err)
{
	struct pipe_emit *pe = (struct pipe_emit *)e;
	enum dtx_code rc = DTX_OK;

	DTX_TRY(pipe_count(pe, b, err));
	DTX_TRY(dtx_checks_batch(pe->w->p->now->made.checks, b, err));
	DTX_TRY(pipe_feed(pe->w, 0, b, err));
out:
	return rc;
}

/* Takes the next part of a sink's result through the maps. */
static enum dtx_code take_part(struct worker *w, struct turn *t, struct dtx_err *err)
{
	struct dtx_pipe *p = w->p;
	const struct dtx_made *m = &p->now->made;
	struct pipe_emit emit = { .base = { made_take, pipe_full, NULL }, .w = w, .ox = m->ox };
	uint64_t part = atomic_fetch_add(&p->claim, 1);
	int64_t start = dtx_now_ns();
	enum dtx_code rc = DTX_OK;

	t->more = part < m->nparts;
	if (!t->more)
		goto out;
	DTX_TRY(dtx_cancel_look(err));
	pipe_begin(w, p->base + part);
	t->at = w->seq;
	t->exact = true;
	w->child_ns = 0;
	rc = m->op->sink->make(m->ox, part, &emit.base, err);
	atomic_fetch_add(&m->ox->stat->ns, dtx_now_ns() - start - w->child_ns);
	if (rc != DTX_OK)
		pipe_set_step(m->ox, m->op, err);
	DTX_TRY(rc);
	DTX_TRY(pipe_finish(w, &t->at, err));
out:
	return rc;
}

/* Leaves a core to the thread that hashes the input. While the hash lags, workers for which there
 * is no other core claim nothing. No other thread waits for them, as they are not inside a morsel.
 */
static void yield_core(const struct worker *w)
{
	static const struct timespec nap = { .tv_nsec = 1000000 };
	const struct dtx_pipe *p = w->p;

	while (w->id >= p->beside && !w->mid && p->now->reader &&
	       dtx_reader_hash_lags(p->now->reader) &&
	       !atomic_load_explicit(&p->dry, memory_order_relaxed) && !atomic_load(&p->stop))
		nanosleep(&nap, NULL);
}

static void work(struct worker *w)
{
	struct dtx_pipe *p = w->p;
	struct dtx_err err = DTX_ERR_INIT;
	struct turn t = { .at = p->base, .more = true };
	enum dtx_code rc = DTX_OK;

	while (w->mid ? !pipe_unwanted(p, w->seq) && !pipe_has_enough(p, w->seq)
	              : !atomic_load(&p->stop)) {
		yield_core(w);
		pipe_tasks(w, false);
		t.exact = w->mid;
		t.at = w->mid ? w->seq : p->base + w->seqs;
		rc = p->now->made.op ? take_part(w, &t, &err) : take_batch(w, &t, &err);
		if (rc != DTX_OK || !t.more)
			break;
	}
	atomic_store_explicit(&p->dry, true, memory_order_relaxed);
	if (rc != DTX_OK)
		pipe_fail(p, t.at, t.exact, &err);
}

static void pipe_worker_clear(struct worker *w)
{
	while (w->pending.first) {
		struct dtx_reorder_item *item = w->pending.first;

		w->pending.first = item->next;
		dtx_reorder_done(w->reorder, item);
	}
	dtx_mem_free(w->sub);
}

static bool worker_open(struct worker *w, struct worker *tail, struct dtx_pipe *p, unsigned id)
{
	*w = (struct worker){ .p = p, .id = id, .cut = p->cut, .reorder = &p->reorder };
	w->sub = dtx_mem_zalloc(p->now->nstages + 1, sizeof(*w->sub));
	if (!w->sub || (p->back <= p->now->nstages && !pipe_tail_open(tail, w)))
		return false;
	w->tail = p->back <= p->now->nstages ? tail : NULL;
	return true;
}

static enum dtx_code work_thread(void *arg, unsigned id, struct dtx_err *err)
{
	struct dtx_pipe *p = arg;
	struct worker w, tail = { .p = NULL };
	struct dtx_err e = DTX_ERR_INIT;
	uint64_t seen;

	(void)err;
	/* threads that could not be started add no tasks */
	for (unsigned i = id ? 0 : dtx_pool_absent(); i; i--)
		dtx_reorder_retire(&p->reorder);
	if (worker_open(&w, &tail, p, id)) {
		work(&w);
	} else {
		dtx_err_set(&e, DTX_E_NO_MEMORY, __FILE__, __LINE__, "out of memory");
		pipe_fail(p, p->base, true, &e);
	}
	dtx_reorder_retire(&p->reorder);
	pipe_tasks(&w, true);
	pipe_worker_clear(&tail);
	pipe_worker_clear(&w);
	seen = atomic_load(&p->seqs);
	while (w.seqs > seen && !atomic_compare_exchange_weak(&p->seqs, &seen, w.seqs))
		;
	return DTX_OK;
}

/* --- sources --- */

/* The stage with which the ordered part begins. */
static unsigned first_ordered(const struct dtx_pipe *p, const struct dtx_pipe_source *source)
{
	for (unsigned i = 0; i < source->nstages; i++)
		if (source->stage[i].oper->ordered)
			return i;
	return p->end.eat ? source->nstages + 1 : source->nstages;
}

/* The stage after the last ordered map, from which on workers can share the batches. */
static unsigned first_shared(const struct dtx_pipe_source *source, unsigned workers)
{
	for (unsigned i = source->nstages; workers > 1 && i > 0; i--)
		if (source->stage[i - 1].oper->ordered)
			return i;
	return source->nstages + 2;
}

static enum dtx_code pipe_error(struct dtx_pipe *p, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (p->failed &&
	    (p->err_seq <= atomic_load(&p->full_at) || p->err.code == DTX_E_CANCELLED)) {
		rc = p->err.code;
		if (err)
			dtx_err_move(err, &p->err);
	}
	dtx_err_clear(&p->err);
	p->failed = false;
	return rc;
}

/* Emits what maps kept until all rows were seen (unmatched rows of a join). */
static enum dtx_code flush_source(struct dtx_pipe *p, struct dtx_err *err)
{
	struct worker w = { .p = p, .in_order = true, .cut = p->cut, .reorder = &p->reorder };
	uint32_t n = (uint32_t)(p->now - p->source);
	enum dtx_code rc = DTX_OK;

	for (unsigned i = 0; i < p->now->nstages; i++) {
		struct pipe_emit emit = dtx_pipe_emit(&w, i);
		struct dtx_operator *l = emit.oper;

		if (l->last_source != n || !l->op->map->flush || l->saved)
			continue;
		emit.base.stop = NULL; /* everything is read: there is no morsel to stop */
		p->order_seq = p->base++;
		memset(p->order_sub, 0, (p->now->nstages + 1) * sizeof(*p->order_sub));
		rc = l->op->map->flush(emit.ox, l->local, l->nlocals, &emit.base, err);
		if (rc != DTX_OK)
			pipe_set_step(emit.ox, l->op, err);
		DTX_TRY(rc);
	}
out:
	return rc;
}

static enum dtx_code start_source(struct dtx_pipe *p, unsigned workers, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	pipe_limited(p->now);
	p->cut = first_ordered(p, p->now);
	p->back = first_shared(p->now, workers);
	p->out_seq = p->base;
	p->beside = DTX_MAX(dtx_pool_cpus(), 2) - 1;
	atomic_store(&p->dry, false);
	atomic_store(&p->stop, false);
	atomic_store(&p->full_at, UINT64_MAX);
	p->full_id = DTX_NO_ROW;
	for (unsigned i = 0; i < p->now->nstages; i++)
		p->now->stage[i].oper->last_id = DTX_NO_ROW;
	p->failed_at = UINT64_MAX;
	atomic_store(&p->claim, 0);
	atomic_store(&p->seqs, 0);
	dtx_mem_free(p->order_sub);
	p->order_sub = dtx_mem_zalloc(p->now->nstages + 1, sizeof(*p->order_sub));
	p->order_seq = UINT64_MAX;
	dtx_reorder_clear(&p->reorder);
	DTX_TRY(dtx_reorder_init(&p->reorder, p->workers, p->base, err));
	p->reorder.carriers = workers;
	dtx_reorder_clear(&p->task_reorder);
	DTX_TRY(dtx_reorder_init(&p->task_reorder, p->workers, p->base, err));
	if (!p->order_sub)
		DTX_FAIL_MEM(err);
	if (p->now->reader)
		DTX_TRY(p->now->reader->cls->start(p->now->reader, p->now->scan, err));
	DTX_TRY(dtx_origin_map_source(p->now, p->arena, err));
out:
	return rc;
}

static enum dtx_code run_source(struct dtx_pipe *p, struct dtx_err *err)
{
	unsigned workers = p->workers;
	uint64_t seqs = source_seqs(p->now);
	enum dtx_code rc = DTX_OK;

	if (!p->now->reader && seqs < workers)
		workers = seqs ? (unsigned)seqs : 1;
	DTX_TRY(start_source(p, workers, err));
	DTX_TRY(dtx_pool_run(workers, work_thread, p, err));
	DTX_TRY(pipe_error(p, err));
	p->now->stopped = atomic_load(&p->full_at) != UINT64_MAX;
	if (p->now->stopped && p->now->reader)
		dtx_reader_cut(p->now->reader, p->full_id);
	p->base = DTX_MAX(p->base + atomic_load(&p->seqs), p->out_seq);
	DTX_TRY(flush_source(p, err));
out:
	return rc;
}

/* An operator that several sources share is flushed once, after the last of them. */
static void find_last_sources(struct dtx_pipe *p)
{
	for (uint32_t i = 0; i < p->nsources; i++)
		for (unsigned k = 0; k < p->source[i].nstages; k++)
			p->source[i].stage[k].oper->last_source = i;
}

enum dtx_code dtx_pipe_run(struct dtx_pipe *p, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	find_last_sources(p);
	for (uint32_t i = 0; i < p->nsources; i++) {
		p->now = &p->source[i];
		DTX_TRY(run_source(p, err));
	}
out:
	return rc;
}

/* --- setup --- */

void dtx_pipe_init(struct dtx_pipe *p, const struct dtx_run *run, unsigned workers)
{
	*p = (struct dtx_pipe){ .run = run, .workers = workers, .err = DTX_ERR_INIT };
	pthread_mutex_init(&p->lock, NULL);
}

void dtx_pipe_clear(struct dtx_pipe *p)
{
	for (uint32_t i = 0; i < p->nsources; i++)
		dtx_mem_free(p->source[i].stage);
	dtx_mem_free(p->source);
	dtx_mem_free(p->order_sub);
	dtx_reorder_clear(&p->reorder);
	dtx_reorder_clear(&p->task_reorder);
	dtx_err_clear(&p->err);
	pthread_mutex_destroy(&p->lock);
}

struct dtx_pipe_source *dtx_pipe_add_source(struct dtx_pipe *p)
{
	size_t cap = p->cap_sources;

	if (!dtx_mem_reserve(&p->source, &cap, p->nsources + 1u, sizeof(*p->source)))
		return NULL;
	p->cap_sources = (uint32_t)cap;
	p->source[p->nsources] = (struct dtx_pipe_source){ .table_id = -1 };
	return &p->source[p->nsources++];
}

bool dtx_pipe_source_add_stage(struct dtx_pipe_source *source, struct dtx_operator *oper,
                               unsigned input)
{
	size_t cap = source->cap;

	if (!dtx_mem_reserve(&source->stage, &cap, source->nstages + 1u, sizeof(*source->stage)))
		return false;
	source->cap = (unsigned)cap;
	source->stage[source->nstages++] = (struct dtx_stage){ .oper = oper, .input = input };
	return true;
}
