/* The rectangle of pivot_wider: fills it and emits its rows.
 *
 * Every input row belongs to one cell of a rectangle of ids and new columns.  The rectangle stores
 * row numbers, not values; the cells of a column are then gathered from the input batches by these
 * numbers, so their source bytes are kept.  With an aggregate, rows were grouped before, and the
 * input here is the grouped table with one row per cell.  Workers make batches of consecutive ids
 * in parallel. */
#include "ops/reshape/wider.h"

#include "core/base/thread/parallel_for.h"

#define CELLS_MAX ((uint64_t)1 << 32)

struct rect {
	const struct dtx_opctx *ox;
	struct dtx_table *t;
	struct dtx_wider_plan plan;
	uint32_t *cell;           /* [id * ncols + column]: row + 1; 0: absent */
	int64_t *start;           /* first row of each batch */
	struct dtx_column **fill; /* for each value: content of absent cells; NULL: null */
};

static void rect_clear(struct rect *r)
{
	dtx_mem_free(r->cell);
	dtx_mem_free(r->start);
	dtx_wider_plan_clear(&r->plan);
}

/* --- filling --- */

static enum dtx_code not_unique(struct rect *r, struct dtx_batch *b, uint32_t row,
                                struct dtx_err *err)
{
	const struct dtx_wider_state *s = r->ox->bound;
	struct dtx_buf text = DTX_BUF_INIT(1024);

	dtx_groupkeys_print(&s->id, b, row, &text);
	dtx_buf_add(&text, s->id.n ? ", " : "");
	dtx_groupkeys_print(&s->names, b, row, &text);
	dtx_err_set(err, DTX_E_PIVOT_NOT_UNIQUE, __FILE__, __LINE__,
	            "pivot_wider: two rows for the cell %s", dtx_buf_text(&text));
	dtx_err_hint(err, "give agg (\"sum\", \"first\" ...) to combine the rows of a cell");
	dtx_batch_set_position(b, row, -1, err);
	dtx_buf_clear(&text);
	return DTX_E_PIVOT_NOT_UNIQUE;
}

static size_t cell_at(const struct rect *r, int64_t row)
{
	const struct dtx_wider_plan *p = &r->plan;

	return (size_t)dtx_tablekeys_id(&p->id, row) * p->ncols +
	       p->place[dtx_tablekeys_id(&p->name, row)];
}

static enum dtx_code fill_rows(struct rect *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int64_t at = 0;

	for (size_t i = 0; i < r->t->nbatches; i++) {
		struct dtx_batch *b = r->t->batch[i];

		DTX_TRY(dtx_cancel_look(err));
		for (uint32_t k = 0; k < b->nrows; k++, at++) {
			uint32_t *cell = &r->cell[cell_at(r, at)];

			if (*cell)
				return not_unique(r, b, k, err);
			*cell = (uint32_t)at + 1;
		}
	}
out:
	return rc;
}

static enum dtx_code rect_init(struct rect *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_wider_plan(r->ox, r->t, &r->plan, err));
	if ((uint64_t)r->plan.nids * r->plan.ncols > CELLS_MAX || r->t->nrows >= UINT32_MAX)
		DTX_FAIL(err, DTX_E_PIVOT_TOO_WIDE,
		         "pivot_wider: %u rows of %u columns are too many", r->plan.nids,
		         r->plan.ncols);
	r->cell = dtx_mem_zalloc((size_t)r->plan.nids * r->plan.ncols + 1, sizeof(*r->cell));
	r->start = dtx_mem_alloc(r->t->nbatches + 1, sizeof(*r->start));
	if (!r->cell || !r->start)
		DTX_FAIL_MEM(err);
	r->start[0] = 0;
	for (size_t i = 0; i < r->t->nbatches; i++)
		r->start[i + 1] = r->start[i] + r->t->batch[i]->nrows;
	DTX_TRY(fill_rows(r, err));
out:
	return rc;
}

/* --- columns --- */

struct chunk {
	uint32_t from, n; /* ids [from, from + n) */
	uint32_t *which, *row;
	struct dtx_column **src; /* columns of the batches, then `fill` */
};

/* The batch of a row.  Rows of consecutive ids are often in one batch, so `near` is tried first. */
static uint32_t batch_of(const struct rect *r, int64_t row, uint32_t near)
{
	size_t lo = 0, hi = r->t->nbatches;

	if (near < hi && r->start[near] <= row && row < r->start[near + 1])
		return near;
	while (lo + 1 < hi) {
		size_t mid = (lo + hi) / 2;

		if (r->start[mid] <= row)
			lo = mid;
		else
			hi = mid;
	}
	while (r->start[lo + 1] <= row)
		lo++;
	return (uint32_t)lo;
}

static enum dtx_code moved_column(struct rect *r, struct chunk *c, uint32_t v, uint32_t col,
                                  struct dtx_column *fill, const struct dtx_field *field,
                                  struct dtx_column **out, struct dtx_err *err)
{
	const struct dtx_wider_state *s = r->ox->bound;
	uint32_t n = (uint32_t)r->t->nbatches, near = 0;

	for (uint32_t i = 0; i < n; i++)
		c->src[i] = r->t->batch[i]->col[s->value[v].col];
	c->src[n] = fill;
	for (uint32_t k = 0; k < c->n; k++) {
		uint32_t cell = r->cell[(size_t)(c->from + k) * r->plan.ncols + col];

		near = cell ? batch_of(r, (int64_t)cell - 1, near) : near;
		c->which[k] = cell ? near : n;
		c->row[k] = cell ? (uint32_t)((int64_t)cell - 1 - r->start[c->which[k]]) : 0;
	}
	return dtx_cells_gather(c->src, n + 1, c->which, c->row, c->n, field, out, err);
}

static enum dtx_code id_columns(struct rect *r, struct chunk *c, struct dtx_batch *b,
                                struct dtx_err *err)
{
	const struct dtx_wider_state *s = r->ox->bound;
	struct dtx_pick pick = {
		r->t->batch, (uint32_t)r->t->nbatches, c->which, c->row, c->n, NULL, NULL, NULL
	};
	uint32_t near = 0;

	for (uint32_t k = 0; k < c->n; k++) {
		int64_t row = r->plan.id.first[c->from + k];

		near = c->which[k] = batch_of(r, row, near);
		c->row[k] = (uint32_t)(row - r->start[c->which[k]]);
	}
	return dtx_pick_into(r->ox, &s->id_map, &pick, b, err);
}

static enum dtx_code make_columns(struct rect *r, struct chunk *c, struct dtx_batch *b,
                                  struct dtx_err *err)
{
	const struct dtx_wider_state *s = r->ox->bound;
	enum dtx_code rc = DTX_OK;

	DTX_TRY(id_columns(r, c, b, err));
	for (uint32_t v = 0; v < s->nvalues; v++) {
		for (uint32_t col = 0; col < r->plan.ncols; col++) {
			uint32_t at = s->id.n + v * r->plan.ncols + col;

			if (dtx_op_wants(r->ox, at))
				DTX_TRY(moved_column(r, c, v, col, r->fill[v],
				                     &r->ox->out->field[at], &b->col[at], err));
		}
	}
out:
	return rc;
}

/* A group of consecutive batches, each made by one worker. */
struct made {
	struct rect *r;
	uint32_t from, most; /* first id; ids per batch */
	struct dtx_batch **batch;
};

static enum dtx_code make_chunk(void *arg, uint64_t i, struct dtx_err *err)
{
	struct made *m = arg;
	struct rect *r = m->r;
	uint32_t from = m->from + (uint32_t)i * m->most;
	struct chunk c = { .from = from, .n = DTX_MIN(m->most, r->plan.nids - from) };
	enum dtx_code rc = DTX_OK;

	c.which = dtx_mem_alloc(c.n, sizeof(*c.which));
	c.row = dtx_mem_alloc(c.n, sizeof(*c.row));
	c.src = dtx_mem_zalloc(r->t->nbatches + 2, sizeof(struct dtx_column *));
	if (!c.which || !c.row || !c.src)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_batch_new(r->ox->out, c.n, &m->batch[i], err));
	DTX_TRY(make_columns(r, &c, m->batch[i], err));
out:
	dtx_mem_free(c.which);
	dtx_mem_free(c.row);
	dtx_mem_free(c.src);
	return rc;
}

static enum dtx_code make_fills(struct rect *r, struct dtx_err *err)
{
	const struct dtx_wider_args *a = r->ox->args;
	const struct dtx_wider_state *s = r->ox->bound;
	enum dtx_code rc = DTX_OK;

	for (uint32_t v = 0; v < s->nvalues && r->plan.ncols && a->fill; v++)
		DTX_TRY(dtx_json_column(a->fill, &r->ox->out->field[s->id.n + v * r->plan.ncols],
		                        &r->fill[v], err));
out:
	return rc;
}

static enum dtx_code emit_all(struct rect *r, struct dtx_emit *out, struct dtx_err *err)
{
	unsigned workers = dtx_op_workers(r->ox);
	struct made m = { .r = r, .most = dtx_op_batch_rows(r->ox) };
	enum dtx_code rc = DTX_OK;
	uint64_t seq = 0;

	m.batch = dtx_mem_zalloc(workers, sizeof(struct dtx_batch *));
	if (!m.batch)
		DTX_FAIL_MEM(err);
	DTX_TRY(make_fills(r, err));
	while (m.from < r->plan.nids && !dtx_emit_full(out)) {
		uint32_t left = (r->plan.nids - m.from - 1) / m.most + 1;
		uint32_t n = DTX_MIN(workers, left);

		DTX_TRY(dtx_parallel_for(n, n, make_chunk, &m, err));
		for (uint32_t i = 0; i < n; i++) {
			m.batch[i]->seq = seq++;
			if (!dtx_emit_full(out))
				DTX_TRY(dtx_emit_batch(out, m.batch[i], err));
			dtx_batch_free(m.batch[i]);
			m.batch[i] = NULL;
		}
		m.from = n < left ? m.from + n * m.most : r->plan.nids;
	}
out:
	for (unsigned i = 0; m.batch && i < workers; i++)
		dtx_batch_free(m.batch[i]);
	dtx_mem_free(m.batch);
	return rc;
}

enum dtx_code dtx_wider_whole(const struct dtx_opctx *ox, struct dtx_table *t, struct dtx_emit *out,
                              struct dtx_err *err)
{
	const struct dtx_opctx over = dtx_wider_over(ox);
	const struct dtx_wider_state *s = over.bound;
	enum dtx_code rc = DTX_OK;
	struct rect r = { .ox = &over, .t = t };

	r.fill = dtx_mem_zalloc((size_t)s->nvalues + 1, sizeof(struct dtx_column *));
	if (!r.fill)
		DTX_FAIL_MEM(err);
	DTX_TRY(rect_init(&r, err));
	DTX_TRY(emit_all(&r, out, err));
out:
	for (uint32_t v = 0; r.fill && v < s->nvalues; v++)
		dtx_column_unref(r.fill[v]);
	dtx_mem_free(r.fill);
	rect_clear(&r);
	return rc;
}
