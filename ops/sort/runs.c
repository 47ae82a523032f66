/* Sorted runs on disk: see runs.h. */
#include "ops/sort/runs.h"

#include "core/data/cells.h"
#include "ops/sort/packed.h"

#define RUN_ROWS_MIN   32768u
#define RUN_ROWS_LEAST 4096u /* fewest rows of a run, unless rows are wide */
#define RUN_BATCH_ROWS 4096u

/* The memory that the sorter may need next: another batch, then a sort.  A batch is taken to be as
 * large as this worker's share of what is in use, per row; arrays double, and the old and the new
 * one exist together for a moment. */
static size_t next_need(const struct dtx_opctx *ox, const struct dtx_sorter *s)
{
	const size_t rows = s->n + DTX_BATCH_ROWS;
	size_t batch = dtx_mem_used() / dtx_op_workers(ox) / s->n * DTX_BATCH_ROWS;
	size_t keys = s->bytes.len / s->n * DTX_BATCH_ROWS;
	size_t row = rows > s->cap ? s->cap * sizeof(*s->row) : 0;
	size_t key = s->bytes.len + keys > s->bytes.cap ? s->bytes.cap : 0;
	size_t sort = rows * (sizeof(*s->row) + sizeof(uint64_t));

	return batch + DTX_MAX(2 * row, row + DTX_MAX(2 * key, key + sort));
}

/* Whether memory will soon be short, assuming that all workers have as much as this one. */
static bool soon_short(const struct dtx_opctx *ox, const struct dtx_sorter *s, size_t coming)
{
	size_t limit = dtx_mem_limit();

	return limit &&
	       dtx_mem_used() + (coming + next_need(ox, s)) * dtx_op_workers(ox) > limit / 8 * 7;
}

/* Whether the few rows of this run take much memory all the same. */
static bool rows_are_wide(const struct dtx_opctx *ox, const struct dtx_sorter *s)
{
	size_t used = dtx_mem_used();

	return used > s->before && (used - s->before) * dtx_op_workers(ox) > dtx_mem_limit() / 8;
}

bool dtx_runs_wanted(const struct dtx_opctx *ox, const struct dtx_sorter *s, size_t coming)
{
	if (!ox->run || !ox->run->spill || !s->n ||
	    (s->n < RUN_ROWS_LEAST && !rows_are_wide(ox, s)))
		return false;
	if (soon_short(ox, s, coming))
		return true;
	return s->n >= (dtx_mem_tight() ? RUN_ROWS_LEAST : RUN_ROWS_MIN) &&
	       dtx_spill_states(ox->run->spill);
}

static void run_clear(struct dtx_run_file *f)
{
	dtx_kept_clear(&f->kept);
	for (size_t i = 0; i < DTX_COUNT(f->owner); i++)
		dtx_owner_unref(f->owner[i]);
}

void dtx_runs_clear(struct dtx_runs *r)
{
	for (size_t i = 0; i < r->n; i++)
		run_clear(&r->run[i]);
	dtx_mem_free(r->run);
	*r = (struct dtx_runs)DTX_RUNS_INIT;
}

struct dtx_sorted dtx_runs_view(const struct dtx_runs *r, size_t i)
{
	const struct dtx_run_file *f = &r->run[i];

	return (struct dtx_sorted){ f->row, f->n, f->bytes, f->kept.batch, f->kept.n, f->pos };
}

/* --- from memory to disk --- */

struct mover {
	const struct dtx_opctx *ox;
	struct dtx_sorter *s;
	struct dtx_run_file *f;
	uint32_t *which, *row;
	uint32_t most;                   /* rows of a batch on disk */
	uint32_t *batch;                 /* for each kept batch its number */
	struct dtx_column **src;         /* and its column */
	const struct dtx_packed *packed; /* NULL: they have their spans */
	struct dtx_owner *held;          /* if packed is not NULL: owns the memory of all batches */
};

/* Picks the columns that have records. */
static enum dtx_code gather_packed(const struct dtx_pick *pick, struct dtx_batch *b,
                                   struct dtx_err *err)
{
	const struct dtx_rowspans_cols *cols = pick->packed->cols;
	struct dtx_packed_cells cells = { .owner = NULL };
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_packed_pick(pick, &cells, err));
	for (uint32_t k = 0; k < cols->n; k++)
		DTX_TRY(dtx_packed_column(pick, k, b->schema->field[cols->col[k]].type, &cells,
		                          &b->col[cols->col[k]], err));
out:
	dtx_owner_unref(cells.owner);
	return rc;
}

static enum dtx_code gather_column(struct mover *m, uint32_t c, struct dtx_batch *b,
                                   struct dtx_err *err)
{
	const struct dtx_kept *k = &m->s->kept;
	bool any = false;

	for (size_t i = 0; i < k->n; i++) {
		m->src[i] = k->batch[i]->col[c];
		any = any || m->src[i];
	}
	if (!any)
		return DTX_OK;
	return dtx_cells_gather(m->src, (uint32_t)k->n, m->which, m->row, b->nrows,
	                        &b->schema->field[c], &b->col[c], err);
}

/* Writes rows [at, at + n) of the run as a batch on disk. */
static enum dtx_code move_batch(struct mover *m, size_t at, uint32_t n, struct dtx_err *err)
{
	struct dtx_sort_row *from = m->s->row + at;
	struct dtx_pick pick = {
		m->s->kept.batch, (uint32_t)m->s->kept.n, m->which, m->row, n, m->held, m->packed,
		m->batch
	};
	struct dtx_kept *to = &m->f->kept;
	enum dtx_code rc = DTX_OK;
	struct dtx_batch *b = NULL;

	for (uint32_t i = 0; i < n; i++) {
		m->which[i] = from[i].batch;
		m->row[i] = from[i].row;
	}
	DTX_TRY(dtx_batch_new(m->s->kept.batch[0]->schema, n, &b, err));
	if (m->packed)
		DTX_TRY(gather_packed(&pick, b, err));
	for (uint32_t c = 0; c < b->ncols; c++)
		if (!b->col[c])
			DTX_TRY(gather_column(m, c, b, err));
	DTX_TRY(dtx_pick_ids(&pick, b, err));
	DTX_TRY(dtx_spill_batch(m->ox->run->spill, b, &m->ox->stat->spilled, err));
	if (!dtx_mem_reserve(&to->batch, &to->cap, to->n + 1, sizeof(struct dtx_batch *)))
		DTX_FAIL_MEM(err);
	to->batch[to->n++] = b;
	b = NULL;
out:
	dtx_batch_free(b);
	return rc;
}

static enum dtx_code put(struct mover *m, unsigned i, const void *bytes, size_t n, const void **out,
                         struct dtx_err *err)
{
	return dtx_spill_bytes(m->ox->run->spill, bytes, n, out, &m->f->owner[i],
	                       &m->ox->stat->spilled, err);
}

/* Writes keys and positions.  The rows now refer to the run's own batches. */
static enum dtx_code move_keys(struct mover *m, struct dtx_err *err)
{
	struct dtx_sorter *s = m->s;
	enum dtx_code rc = DTX_OK;
	uint64_t *pos = dtx_mem_alloc(s->n, sizeof(*pos));
	const void *at;

	if (!pos)
		DTX_FAIL_MEM(err);
	for (size_t i = 0; i < s->n; i++) {
		pos[i] = dtx_batch_pos(s->kept.batch[s->row[i].batch], s->row[i].row);
		s->row[i].batch = (uint32_t)(i / m->most);
		s->row[i].row = (uint32_t)(i % m->most);
	}
	DTX_TRY(put(m, 0, pos, s->n * sizeof(*pos), &at, err));
	m->f->pos = at;
	DTX_TRY(put(m, 1, s->row, s->n * sizeof(*s->row), &at, err));
	m->f->row = at;
	m->f->n = s->n;
	if (!s->bytes.len)
		goto out;
	DTX_TRY(put(m, 2, s->bytes.ptr, s->bytes.len, &at, err));
	m->f->bytes = at;
out:
	dtx_mem_free(pos);
	return rc;
}

/* How many rows are copied at once. A copy of a run of few wide rows in one piece would need as
 * much memory again; but each batch on disk keeps a little memory for each of its columns. */
static uint32_t rows_to_copy(const struct dtx_opctx *ox, const struct dtx_sorter *s)
{
	const size_t used = dtx_mem_used(), share = dtx_mem_limit() / 16 / dtx_op_workers(ox);
	const size_t row = used > s->before ? (used - s->before) / s->n + 1 : 1;

	return (uint32_t)DTX_MIN(RUN_BATCH_ROWS, DTX_MAX(s->n / 8, share / row) + 1);
}

static enum dtx_code mover_open(struct mover *m, struct dtx_err *err)
{
	const struct dtx_kept *kept = &m->s->kept;
	enum dtx_code rc = DTX_OK;

	m->most = rows_to_copy(m->ox, m->s);
	m->which = dtx_mem_alloc(m->most, sizeof(*m->which));
	m->row = dtx_mem_alloc(m->most, sizeof(*m->row));
	m->src = dtx_mem_alloc(kept->n + 1, sizeof(struct dtx_column *));
	m->batch = dtx_mem_alloc(kept->n + 1, sizeof(*m->batch));
	if (!m->which || !m->row || !m->src || !m->batch)
		DTX_FAIL_MEM(err);
	for (uint32_t i = 0; i < kept->n; i++)
		m->batch[i] = i;
	if (m->packed)
		DTX_TRY(dtx_cells_hold(kept->batch, kept->n, &m->held, err));
out:
	return rc;
}

static void mover_close(struct mover *m)
{
	dtx_owner_unref(m->held);
	dtx_mem_free(m->which);
	dtx_mem_free(m->row);
	dtx_mem_free(m->src);
	dtx_mem_free(m->batch);
}

enum dtx_code dtx_runs_spill(struct dtx_runs *r, const struct dtx_opctx *ox, struct dtx_sorter *s,
                             const struct dtx_packed *packed, struct dtx_err *err)
{
	struct dtx_run_file file = { .n = 0 };
	struct mover m = { .ox = ox, .s = s, .f = &file, .packed = packed };
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_sorter_sort(s, err));
	DTX_TRY(mover_open(&m, err));
	if (!dtx_mem_reserve(&r->run, &r->cap, r->n + 1, sizeof(*r->run)))
		DTX_FAIL_MEM(err);
	for (size_t at = 0; at < s->n; at += m.most)
		DTX_TRY(move_batch(&m, at, (uint32_t)DTX_MIN(m.most, s->n - at), err));
	DTX_TRY(move_keys(&m, err));
	r->run[r->n++] = file;
	file = (struct dtx_run_file){ .n = 0 };
	dtx_sorter_reset(s);
out:
	run_clear(&file);
	mover_close(&m);
	return rc;
}
