/* Computed columns with aggregates and window calls: processes the whole table, one stage after the
 * other. */
#include "ops/window/derive.h"

struct work {
	const struct dtx_opctx *ox;
	const struct dtx_derive_state *s;
	struct dtx_table *t;
	struct dtx_windowrows rows;
	struct dtx_rangekeys keys; /* from the table as it came, because a stage may overwrite the
	                            * column */
	uint32_t *lo, *hi;         /* frames by range of a stage */
	struct dtx_derive_view view;
	struct dtx_err *err;
};

static const struct dtx_row_frame *stage_frame(const struct work *w, uint32_t k)
{
	const struct dtx_derive_args *a = w->s->args;

	return &((const struct dtx_derive_item *)a->set.item)[k].frame;
}

/* The results of a stage's calls, each over all rows. */
static enum dtx_code eval_calls(struct work *w, uint32_t k, struct dtx_column **result)
{
	const struct dtx_derive_stage *st = &w->s->stage[k];
	struct dtx_winrows rows = w->rows.rows;
	struct dtx_eval_counts counts = { 0 };
	enum dtx_code rc = DTX_OK;

	if (st->range.set) {
		dtx_rangeframe_places(&st->range, &w->keys, &rows, w->lo, w->hi);
		rows.lo = w->lo;
		rows.hi = w->hi;
	}
	for (size_t i = 0; i < st->calls.n; i++)
		DTX_TRY(dtx_window_eval(st->calls.call[i], &rows, stage_frame(w, k), w->t, &counts,
		                        &result[i], w->err));
	dtx_op_evals(w->ox, &counts);
out:
	return rc;
}

/* The column of a stage for one batch, whose first row is row `first` of the table.  Until it is
 * computed the results of its calls stand where the columns of later stages will be. */
static enum dtx_code eval_stage(struct work *w, const struct dtx_derive_stage *st,
                                struct dtx_batch *b, struct dtx_column *const *result,
                                uint32_t first, struct dtx_column **out)
{
	const struct dtx_schema with = dtx_derive_view_wide(&w->view, st), *own = b->schema;
	const uint32_t nown = w->view.schema.nfields, ncols = b->ncols;
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_cancel_look(w->err));
	b->schema = &with;
	b->ncols = with.nfields;
	for (size_t i = 0; i < st->calls.n; i++)
		DTX_TRY(dtx_column_slice(result[i], first, b->nrows, &b->col[nown + i], w->err));
	DTX_TRY(dtx_op_eval(w->ox, st->bound, b, out, w->err));
out:
	for (size_t i = 0; i < st->calls.n; i++)
		dtx_batch_put(b, nown + (uint32_t)i, NULL);
	b->schema = own;
	b->ncols = ncols;
	return rc;
}

static enum dtx_code run_stage(struct work *w, uint32_t k)
{
	const struct dtx_derive_stage *st = &w->s->stage[k];
	enum dtx_code rc = DTX_OK;
	struct dtx_err *err = w->err;
	struct dtx_column **result = dtx_mem_zalloc(st->calls.n + 1, sizeof(struct dtx_column *));
	uint32_t first = 0;

	if (!result)
		DTX_FAIL_MEM(err);
	dtx_derive_view_to(&w->view, w->s, k);
	for (size_t i = 0; i < w->t->nbatches; i++)
		w->t->batch[i]->schema = &w->view.schema;
	DTX_TRY(eval_calls(w, k, result));
	for (size_t i = 0; i < w->t->nbatches; i++) {
		struct dtx_column *made = NULL;

		DTX_TRY(eval_stage(w, st, w->t->batch[i], result, first, &made));
		dtx_batch_put(w->t->batch[i], st->target, made);
		first += w->t->batch[i]->nrows;
	}
out:
	for (size_t i = 0; result && i < st->calls.n; i++)
		dtx_column_unref(result[i]);
	dtx_mem_free(result);
	return rc;
}

static enum dtx_code run_stages(struct work *w)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_err *err = w->err;
	bool *live = dtx_mem_zalloc((size_t)w->s->nstages + 1, sizeof(*live));

	if (!live)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_derive_view_open(&w->view, w->s, err));
	dtx_derive_live(w->ox, w->s, live);
	for (size_t i = 0; i < w->t->nbatches; i++)
		DTX_TRY(dtx_derive_widen(w->s, w->t->batch[i], err));
	for (uint32_t k = 0; k < w->s->nstages; k++)
		if (live[k])
			DTX_TRY(run_stage(w, k));
out:
	for (size_t i = 0; i < w->t->nbatches; i++)
		if (w->t->batch[i]->schema == &w->view.schema)
			w->t->batch[i]->schema = w->s->work;
	dtx_mem_free(live);
	return rc;
}

static enum dtx_code open_ranges(struct work *w)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_err *err = w->err;

	if (!w->s->ranged)
		return DTX_OK;
	DTX_TRY(dtx_rangekeys_open(&w->keys, w->ox, &w->s->order, w->t, err));
	w->lo = dtx_mem_alloc((size_t)w->t->nrows + 1, sizeof(*w->lo));
	w->hi = dtx_mem_alloc((size_t)w->t->nrows + 1, sizeof(*w->hi));
	if (!w->lo || !w->hi)
		DTX_FAIL_MEM(err);
out:
	return rc;
}

enum dtx_code dtx_derive_whole(const struct dtx_opctx *ox, struct dtx_table *t,
                               struct dtx_emit *out, struct dtx_err *err)
{
	return dtx_derive_whole_then(ox, t, NULL, out, err);
}

enum dtx_code dtx_derive_whole_then(const struct dtx_opctx *ox, struct dtx_table *t,
                                    enum dtx_code (*then)(const struct dtx_opctx *,
                                                          struct dtx_batch *, struct dtx_err *),
                                    struct dtx_emit *out, struct dtx_err *err)
{
	struct work w = { .ox = ox, .s = ox->bound, .t = t, .err = err };
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_table_dense(t, err));
	DTX_TRY(dtx_windowrows_make(&w.rows, ox, &w.s->by, &w.s->order, t, err));
	DTX_TRY(open_ranges(&w));
	DTX_TRY(run_stages(&w));
	for (size_t i = 0; i < t->nbatches && !dtx_emit_full(out); i++) {
		if (then)
			DTX_TRY(then(ox, t->batch[i], err));
		DTX_TRY(dtx_derive_place(ox, w.s, t->batch[i], err));
		DTX_TRY(dtx_emit_batch(out, t->batch[i], err));
	}
out:
	dtx_derive_view_close(&w.view);
	dtx_windowrows_clear(&w.rows);
	dtx_rangekeys_close(&w.keys);
	dtx_mem_free(w.lo);
	dtx_mem_free(w.hi);
	return rc;
}

enum dtx_code dtx_derive_keys(const struct dtx_opctx *ox, unsigned input, struct dtx_batch *b,
                              struct dtx_column ***col, uint32_t *n, struct dtx_err *err)
{
	const struct dtx_derive_state *s = ox->bound;

	(void)input;
	*n = s->windowed ? s->by.n : 0;
	return b ? dtx_groupkeys_flat(&s->by, b, col, err) : DTX_OK;
}
