/* Aggregates over partitions: one result for all rows of a partition, or one per frame.
 *
 * While a frame only grows at its end, as it does for running totals, rows are added to a state
 * that is kept from row to row.  States cannot remove rows, so a frame whose start moves is
 * computed again from its first row, which takes time in proportion to its length. (win_functions.c
 * has rolling sums that can remove a row.) */
#include "core/base/thread/cancel.h"
#include "core/base/memory/mem.h"
#include "core/expr/agg/aggfill.h"
#include "core/expr/window/win.h"

struct over { /* an aggregate over the rows of a table */
	const struct dtx_aggcall *c;
	struct dtx_win w; /* rows and frame, to find its edges */
	struct dtx_table *t;
	struct dtx_column **arg, **arg2, **where; /* for each batch, FLAT; NULL: not given */
	uint32_t *batch_of;                       /* for each row its batch */
	uint32_t *first;                          /* the first row of each batch */
	struct dtx_builder results;
	uint32_t *result_of; /* for each row the number of its result */
	uint32_t added;      /* rows added to states; a frame may add a row many times */
	struct dtx_buf buf;
	struct dtx_eval_counts *counts;
	struct dtx_err *err;
};

/* Adds the result of a state over rows; `row` is one of them. */
static enum dtx_code add_result(struct over *o, void *state, uint32_t row)
{
	enum dtx_code rc = dtx_agg_final_one(o->c, state, &o->buf, &o->results, o->counts, o->err);

	if (rc != DTX_OK)
		dtx_win_set_position(o->t, row, o->err);
	return rc;
}

/* --- one result per partition --- */

static enum dtx_code by_partition(struct over *o)
{
	const struct dtx_winrows *rows = o->w.rows;
	const struct dtx_aggcall *c = o->c;
	enum dtx_code rc = DTX_OK;
	struct dtx_err *err = o->err;
	size_t stride = dtx_agg_state_size(c);
	char *states = dtx_mem_zalloc((size_t)rows->nparts + 1, stride);
	struct dtx_aggfill fill = { &c, 1, &states, rows->nparts, o->t, o->result_of };

	if (!states)
		DTX_FAIL_MEM(err);
	dtx_agg_init(c, states, stride, 0, rows->nparts);
	for (uint32_t p = 0; p < rows->nparts; p++)
		for (uint32_t k = rows->start[p]; k < rows->start[p + 1]; k++)
			o->result_of[rows->order[k]] = p;
	DTX_TRY(dtx_agg_fill(&fill, rows->workers, o->counts, err));
	for (uint32_t p = 0; p < rows->nparts; p++)
		DTX_TRY(add_result(o, states + p * stride, rows->order[rows->start[p]]));
out:
	if (states)
		dtx_agg_free(c, states, stride, rows->nparts);
	dtx_mem_free(states);
	return rc;
}

/* --- one result per frame --- */

static enum dtx_code batch_columns(struct over *o, const struct dtx_bound *e,
                                   struct dtx_column ***out)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_err *err = o->err;

	*out = dtx_mem_zalloc(o->t->nbatches + 1, sizeof(struct dtx_column *));
	if (!*out)
		DTX_FAIL_MEM(err);
	for (size_t i = 0; i < o->t->nbatches; i++) {
		struct dtx_column *made = NULL;

		DTX_TRY(dtx_eval(e, o->t->batch[i], &made, o->counts, err));
		rc = dtx_column_flat(made, &(*out)[i], err);
		dtx_column_unref(made);
		if (rc != DTX_OK)
			goto out;
	}
out:
	return rc;
}

static enum dtx_code number_batches(struct over *o)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_err *err = o->err;
	uint32_t row = 0;

	o->batch_of = dtx_mem_alloc((size_t)o->t->nrows + 1, sizeof(*o->batch_of));
	o->first = dtx_mem_alloc(o->t->nbatches + 1, sizeof(*o->first));
	if (!o->batch_of || !o->first)
		DTX_FAIL_MEM(err);
	for (uint32_t i = 0; i < o->t->nbatches; i++) {
		o->first[i] = row;
		for (uint32_t k = 0; k < o->t->batch[i]->nrows; k++)
			o->batch_of[row++] = i;
	}
out:
	return rc;
}

static bool counts_here(const struct over *o, uint32_t batch, uint32_t at)
{
	if (o->where &&
	    (dtx_win_null(o->where[batch], at) || !dtx_bit(o->where[batch]->v.bits, at)))
		return false;
	if (o->c->kernel->nulls)
		return true;
	return (!o->arg || !dtx_win_null(o->arg[batch], at)) &&
	       (!o->arg2 || !dtx_win_null(o->arg2[batch], at));
}

static enum dtx_code add_row(struct over *o, char *state, uint32_t row)
{
	static const uint32_t group = 0;
	uint32_t batch = o->batch_of[row];
	uint16_t at = (uint16_t)(row - o->first[batch]);
	struct dtx_aggrows r = {
		o->arg ? o->arg[batch] : NULL,   &at, &group, 1, o->t->batch[batch],
		o->arg2 ? o->arg2[batch] : NULL, NULL
	};

	if (o->added++ % DTX_CANCEL_ROWS == 0 && dtx_cancel_now())
		return dtx_cancel_look(o->err);
	if (!counts_here(o, batch, at))
		return DTX_OK;
	return o->c->kernel->add(o->c, state, 0, &r, o->err);
}

struct running {
	char *state;
	uint32_t lo, hi; /* the places that it contains */
};

static void restart(struct over *o, struct running *s, uint32_t lo)
{
	size_t size = dtx_agg_state_size(o->c);

	dtx_agg_free(o->c, s->state, size, 1);
	memset(s->state, 0, size);
	dtx_agg_init(o->c, s->state, size, 0, 1);
	s->lo = s->hi = lo;
}

static enum dtx_code frames_of(struct over *o, struct running *s, uint32_t from, uint32_t to)
{
	const uint32_t *order = o->w.rows->order;
	enum dtx_code rc = DTX_OK;

	restart(o, s, from);
	for (uint32_t k = from; k < to; k++) {
		uint32_t lo, hi;

		dtx_win_frame(&o->w, from, to, k, &lo, &hi);
		if (lo != s->lo || hi < s->hi)
			restart(o, s, lo);
		for (; s->hi < hi; s->hi++)
			DTX_TRY(add_row(o, s->state, order[s->hi]));
		o->result_of[order[k]] = k;
		DTX_TRY(add_result(o, s->state, order[k]));
	}
out:
	return rc;
}

static enum dtx_code by_frame(struct over *o)
{
	const struct dtx_winrows *rows = o->w.rows;
	enum dtx_code rc = DTX_OK;
	struct dtx_err *err = o->err;
	struct running s = { dtx_mem_zalloc(1, dtx_agg_state_size(o->c)), 0, 0 };

	if (!s.state)
		DTX_FAIL_MEM(err);
	DTX_TRY(number_batches(o));
	if (o->c->arg)
		DTX_TRY(batch_columns(o, o->c->arg, &o->arg));
	if (o->c->arg2)
		DTX_TRY(batch_columns(o, o->c->arg2, &o->arg2));
	if (o->c->where)
		DTX_TRY(batch_columns(o, o->c->where, &o->where));
	for (uint32_t p = 0; p < rows->nparts; p++)
		DTX_TRY(frames_of(o, &s, rows->start[p], rows->start[p + 1]));
out:
	if (s.state)
		dtx_agg_free(o->c, s.state, dtx_agg_state_size(o->c), 1);
	dtx_mem_free(s.state);
	return rc;
}

/* --- both --- */

static bool is_plain(const struct dtx_column *c)
{
	return !c->valid && (c->type.type == DTX_T_INT64 || c->type.type == DTX_T_FLOAT64);
}

/* Adds numbers without nulls as words. */
static void give_words(const struct over *o, const struct dtx_column *value, struct dtx_builder *b)
{
	int64_t *to = dtx_builder_bulk(b, o->w.rows->n);

	for (uint32_t row = 0; to && row < o->w.rows->n; row++)
		to[row] = value->v.i64[o->result_of[row]];
}

static enum dtx_code give_rows(struct over *o, struct dtx_column **out)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_column *value = NULL;
	struct dtx_builder b;

	dtx_builder_init(&b, dtx_agg_type(o->c), o->w.rows->n);
	DTX_TRY(dtx_builder_finish(&o->results, NULL, &value, o->err));
	if (is_plain(value) && o->w.rows->n)
		give_words(o, value, &b);
	else
		for (uint32_t row = 0; row < o->w.rows->n; row++)
			dtx_builder_copy(&b, value, o->result_of[row]);
	DTX_TRY(dtx_builder_finish(&b, NULL, out, o->err));
out:
	dtx_builder_clear(&b);
	dtx_column_unref(value);
	return rc;
}

static void drop_columns(const struct over *o, struct dtx_column **col)
{
	for (size_t i = 0; col && i < o->t->nbatches; i++)
		dtx_column_unref(col[i]);
	dtx_mem_free(col);
}

enum dtx_code dtx_window_agg(const struct dtx_aggcall *c, const struct dtx_winrows *rows,
                             const struct dtx_row_frame *frame, struct dtx_table *t,
                             struct dtx_eval_counts *counts, struct dtx_column **out,
                             struct dtx_err *err)
{
	struct over o = { .c = c, .t = t, .counts = counts, .err = err };
	bool framed = frame->set || rows->peer;
	enum dtx_code rc = DTX_OK;

	o.w = (struct dtx_win){ .c = c, .rows = rows, .frame = frame };
	o.buf = (struct dtx_buf)DTX_BUF_INIT(DTX_AGG_TEXT_MAX);
	o.result_of = dtx_mem_alloc((size_t)rows->n + 1, sizeof(*o.result_of));
	dtx_builder_init(&o.results, dtx_agg_type(c), framed ? rows->n : rows->nparts);
	if (!o.result_of)
		DTX_FAIL_MEM(err);
	DTX_TRY(framed ? by_frame(&o) : by_partition(&o));
	DTX_TRY(give_rows(&o, out));
out:
	dtx_builder_clear(&o.results);
	dtx_buf_clear(&o.buf);
	drop_columns(&o, o.arg);
	drop_columns(&o, o.arg2);
	drop_columns(&o, o.where);
	dtx_mem_free(o.result_of);
	dtx_mem_free(o.batch_of);
	dtx_mem_free(o.first);
	return rc;
}
