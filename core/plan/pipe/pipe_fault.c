/* Errors before a limit: they count if the limit wants the row that failed.
 *
 * A batch that fails is run again in parts, up to the row.  Where the limit's turn is yet to come,
 * the error waits in the order of the batches and counts when it gets there. */
#include "core/plan/pipe/pipe_parts.h"

#include "core/base/mem.h"

bool dtx_pipe_is_limit(const struct dtx_operator *l)
{
	return l->op->wants && l->op->wants(l->ox[0].args) >= 0;
}

void dtx_pipe_limited(struct dtx_pipe_source *leg)
{
	bool limited = false;

	for (unsigned i = leg->npass; i-- > 0;) {
		leg->pass[i].limited = limited && !leg->pass[i].link->ordered;
		limited |= dtx_pipe_is_limit(leg->pass[i].link);
	}
	leg->limited = limited;
}

bool dtx_pipe_has_enough(const struct dtx_pipe *p, uint64_t seq)
{
	return atomic_load_explicit(&p->stop, memory_order_acquire) &&
	       atomic_load(&p->full_at) <= seq;
}

enum dtx_code dtx_pipe_fault(const struct dtx_pipe *p, uint64_t seq, struct dtx_reorder_item *item,
                             struct dtx_err *err)
{
	enum dtx_code rc = item->fault->code;

	if (dtx_pipe_has_enough(p, seq))
		return DTX_OK;
	if (err)
		dtx_err_move(err, item->fault);
	return rc;
}

/* Whether the data are to blame: they may be rows that nobody wants. */
static bool is_of_data(enum dtx_code rc)
{
	return dtx_code_exit(rc, true) == dtx_code_exit(DTX_E_CAST_FAILED, true);
}

/* Whether it was the map itself that failed. */
static bool is_its_own(const struct worker *w, enum dtx_code rc)
{
	return !w->beyond && is_of_data(rc);
}

static enum dtx_code map(struct worker *w, unsigned i, struct dtx_batch *b, struct dtx_err *err)
{
	w->beyond = false;
	return dtx_pipe_map(w, i, b, err);
}

static void count_less(struct worker *w, unsigned i, uint32_t rows)
{
	const struct dtx_pass *pass = &w->p->now->pass[i];

	atomic_fetch_sub(&pass->link->ox[pass->input].stat->rows_in, rows);
}

/* Live rows from..to of all through the map. */
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

/* Rows from..to, halved where they fail, up to the row that does or until no more are wanted. */
static enum dtx_code map_parts(struct worker *w, unsigned i, const struct dtx_batch *all,
                               uint32_t from, uint32_t to, struct dtx_err *err)
{
	uint32_t middle = from + (to - from) / 2;
	enum dtx_code rc;

	if (dtx_pipe_has_enough(w->p, w->in_order ? w->p->order_seq : w->seq))
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

/* The error waits for its turn. */
static enum dtx_code leave_fault(struct worker *w, struct dtx_err *failed, struct dtx_err *err)
{
	struct dtx_reorder_item *item = dtx_reorder_item(w->ring);
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
		dtx_reorder_done(w->ring, item);
	return rc;
}

enum dtx_code dtx_pipe_wait(struct worker *w, uint64_t *at, struct dtx_err *err)
{
	struct dtx_err failed = DTX_ERR_INIT;
	enum dtx_code rc = err->code;

	if (!is_of_data(rc) || w->cut > w->p->now->npass)
		return rc;
	dtx_err_move(&failed, err);
	DTX_TRY(leave_fault(w, &failed, err));
	DTX_TRY(dtx_pipe_finish(w, at, err));
out:
	dtx_err_clear(&failed);
	return rc;
}

/* The rows of a batch before the one that failed; then whether it counts. */
static enum dtx_code settle(struct worker *w, unsigned i, const struct dtx_batch *all,
                            struct dtx_err *failed, struct dtx_err *err)
{
	struct dtx_err e = DTX_ERR_INIT;
	enum dtx_code rc;

	count_less(w, i, all->nsel);
	rc = map_parts(w, i, all, 0, all->nsel, &e);
	if (rc != DTX_OK && !is_its_own(w, rc))
		dtx_err_move(failed, &e);
	else if (!w->in_order)
		rc = leave_fault(w, failed, failed);
	else
		rc = dtx_pipe_has_enough(w->p, w->p->order_seq) ? DTX_OK : failed->code;
	dtx_err_clear(&e);
	if (rc != DTX_OK && err)
		dtx_err_move(err, failed);
	return rc;
}

enum dtx_code dtx_pipe_map_limited(struct worker *w, unsigned i, struct dtx_batch *b,
                                   struct dtx_err *err)
{
	struct dtx_err failed = DTX_ERR_INIT;
	struct dtx_batch *all = NULL;
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_batch_copy(b, &all, err));
	rc = map(w, i, b, &failed);
	if (rc != DTX_OK && is_its_own(w, rc))
		rc = settle(w, i, all, &failed, err);
	else if (rc != DTX_OK && err)
		dtx_err_move(err, &failed);
out:
	dtx_err_clear(&failed);
	dtx_batch_free(all);
	return rc;
}
