/* A batch's way through the maps of its leg to the end, in order where order counts. */
#include "core/plan/pipe/pipe_parts.h"

#include "core/base/cancel.h"
#include "core/plan/exec/outputs.h"

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

enum dtx_code dtx_pipe_count(const struct pipe_emit *pe, struct dtx_batch *b, struct dtx_err *err)
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

/* Only the holder of the right comes here with a limit. */
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

	if (b->origin == pe->pass->in)
		b->origin = pe->pass->out;
	DTX_TRY(dtx_pipe_count(pe, b, err));
	DTX_TRY(dtx_checks_batch(pe->link->tap, b, err));
	if (dtx_pipe_is_limit(pe->link))
		note_last(pe->link, b);
	rc = dtx_pipe_feed(pe->w, pe->to, b, err);
	pe->w->beyond |= rc != DTX_OK;
out:
	return rc;
}

bool dtx_pipe_full(const struct dtx_emit *e)
{
	const struct pipe_emit *pe = (const struct pipe_emit *)e;

	/* what is a task already is wanted */
	return pe->w->ring == &pe->w->p->ring &&
	       atomic_load_explicit(&pe->w->p->stop, memory_order_relaxed) &&
	       atomic_load(&pe->w->p->full_at) <= pe->w->seq;
}

/* A step before the one that emits has something to say about every row. */
static bool is_judged(const struct dtx_pipe_source *leg, unsigned to)
{
	if (leg->made.op && dtx_checks_is_on(leg->made.tap))
		return true;
	for (unsigned i = 0; i + 1 < to; i++)
		if (leg->pass[i].link->sees_all || dtx_checks_is_on(leg->pass[i].link->tap))
			return true;
	return false;
}

/* Later seqs are not wanted: errors there do not count either. */
static void pipe_stop(struct dtx_emit *e)
{
	struct pipe_emit *pe = (struct pipe_emit *)e;
	struct dtx_pipe *p = pe->w->p;

	if (!pe->w->in_order || p->order_seq >= atomic_load(&p->full_at) ||
	    is_judged(p->now, pe->to))
		return;
	/* only the holder of the right writes it; before the flag, so that who sees the flag
	 * sees the place */
	p->full_id = pe->link->last_id;
	p->now->cut = pe->to;
	atomic_store(&p->full_at, p->order_seq);
	atomic_store(&p->stop, true);
	dtx_pipe_enough(p);
	dtx_reorder_stop(&p->ring, p->order_seq + 1);
}

struct pipe_emit dtx_pipe_emit(struct worker *w, unsigned i)
{
	const struct dtx_pass *pass = &w->p->now->pass[i];

	return (struct pipe_emit){ .base = { pipe_take, dtx_pipe_full, pipe_stop },
		                   .w = w,
		                   .to = i + 1,
		                   .link = pass->link,
		                   .pass = pass,
		                   .ox = &pass->link->ox[pass->input] };
}

/* --- through the maps --- */

void dtx_pipe_blame(const struct dtx_opctx *ox, const struct dtx_op *op, struct dtx_err *err)
{
	if (!err)
		return;
	if (!dtx_outputs_blamed(err)) /* the step only handed on what an output cannot take */
		dtx_err_step(err, ox->step, op->name);
	err->run_time = true;
}

enum dtx_code dtx_pipe_map(struct worker *w, unsigned i, struct dtx_batch *b, struct dtx_err *err)
{
	struct pipe_emit emit = dtx_pipe_emit(w, i);
	struct dtx_operator *l = emit.link;
	const struct dtx_opctx *ox = emit.ox;
	int64_t start = dtx_now_ns(), outer = w->child_ns, all;
	enum dtx_code rc = DTX_OK;

	w->child_ns = 0;
	atomic_fetch_add(&ox->stat->rows_in, b->nsel);
	if (b->sel && !(l->op->flags & DTX_OP_TAKES_SEL))
		DTX_TRY(dtx_batch_dense(b, err));
	rc = l->op->map->batch(ox, l->local[w->in_order ? 0 : w->id], b, &emit.base, err);
	if (rc != DTX_OK)
		dtx_pipe_blame(ox, l->op, err);
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
	item = dtx_reorder_item(&p->ring);
	if (!item)
		DTX_FAIL_MEM(err);
	if (p->end.prepare)
		DTX_TRY(p->end.prepare(p->end.arg, w->in_order ? 0 : w->id, b, item, err));
	DTX_TRY(p->end.put(p->end.arg, b, item, err));
out:
	if (item)
		dtx_reorder_done(&p->ring, item);
	return rc;
}

/* An item behind the cut: the rest of the maps, or the end. */
static enum dtx_code run_item(struct worker *w, uint64_t seq, struct dtx_batch *b,
                              struct dtx_reorder_item *item, struct dtx_err *err)
{
	struct dtx_pipe *p = w->p;
	enum dtx_code rc;

	if (item->fault)
		return dtx_pipe_fault(p, seq, item, err);
	if (w->cut == p->now->npass)
		return p->end.put(p->end.arg, b, item, err);
	if (p->order_seq != seq) {
		p->order_seq = seq;
		memset(p->order_sub, 0, (p->now->npass + 1) * sizeof(*p->order_sub));
	}
	w->in_order = true;
	rc = dtx_pipe_feed(w, p->cut, b, err);
	w->in_order = false;
	return rc;
}

enum dtx_code dtx_pipe_list(struct worker *w, uint64_t seq, struct dtx_reorder_list *list,
                            struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	while (list->first && rc == DTX_OK) {
		struct dtx_reorder_item *item = list->first;

		list->first = item->next;
		if (!list->first)
			list->last = NULL;
		rc = run_item(w, seq, item->batch, item, err);
		dtx_reorder_done(w->ring, item);
	}
	return rc;
}

static void look_ahead(const struct worker *w, struct dtx_batch *b)
{
	const struct dtx_pass *pass;

	if (w->cut == w->p->now->npass)
		return;
	pass = &w->p->now->pass[w->cut];
	if (pass->link->op->map->ahead)
		pass->link->op->map->ahead(&pass->link->ox[pass->input], pass->link->local[0], b);
}

/* The batch reaches the ordered part: at once with the right, else it waits in the worker's list.
 */
static enum dtx_code at_cut(struct worker *w, struct dtx_batch *b, struct dtx_err *err)
{
	struct dtx_pipe *p = w->p;
	struct dtx_reorder_item *item;
	enum dtx_code rc = DTX_OK;
	bool mine;

	dtx_reorder_await(w->ring, w->seq);
	mine = dtx_reorder_mine(w->ring, w->seq);
	item = dtx_reorder_item(w->ring);
	if (!item)
		DTX_FAIL_MEM(err);
	if (w->cut == p->now->npass && p->end.prepare)
		DTX_TRY(p->end.prepare(p->end.arg, w->id, b, item, err));
	if (mine) {
		DTX_TRY(dtx_pipe_list(w, w->seq, &w->pending, err));
		DTX_TRY(run_item(w, w->seq, b, item, err));
	} else {
		look_ahead(w, b);
		DTX_TRY(dtx_batch_copy(b, &item->batch, err));
		dtx_reorder_push(&w->pending, item);
		item = NULL;
	}
out:
	if (item)
		dtx_reorder_done(w->ring, item);
	return rc;
}

enum dtx_code dtx_pipe_feed(struct worker *w, unsigned i, struct dtx_batch *b, struct dtx_err *err)
{
	struct dtx_pipe *p = w->p;

	if (!b->nsel)
		return DTX_OK;
	if (w->in_order && w->tail && i == p->back)
		return dtx_pipe_hand(w, b, err);
	b->seq = w->in_order ? p->order_seq : w->seq;
	b->sub = w->in_order ? p->order_sub[i]++ : w->sub[i]++;
	if (i == w->cut && !w->in_order)
		return at_cut(w, b, err);
	if (i == p->now->npass)
		return end_direct(w, b, err);
	return p->now->pass[i].limited ? dtx_pipe_map_limited(w, i, b, err)
	                               : dtx_pipe_map(w, i, b, err);
}
