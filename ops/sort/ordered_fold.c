/* Rows that wait to be sorted have records (ops/kit/rowspans) instead of spans.  Records take a
 * fourth of the memory, and they are made while the spans are in cache. */
#include "ops/sort/ordered.h"
#include "ops/sort/packed.h"

/* Smallest budget of a worker that has room for a batch in both forms. */
#define FOLD_LEAST ((size_t)20 << 20)

/* --- what to keep --- */

static void clear_rows(struct dtx_fold *f)
{
	for (size_t i = 0; i < f->n; i++)
		dtx_rowspans_clear(&f->row[i]);
	f->n = 0;
}

void dtx_fold_clear(struct dtx_fold *f)
{
	clear_rows(f);
	dtx_mem_free(f->row);
	dtx_mem_free(f->want);
	dtx_mem_free(f->wanted);
	dtx_rowspans_cols_clear(&f->cols);
	*f = (struct dtx_fold){ .on = false };
}

enum dtx_code dtx_ordered_fold(struct dtx_ordered *o, const struct dtx_opctx *ox,
                               const struct dtx_colmap *map, struct dtx_err *err)
{
	struct dtx_fold *f = &o->fold;
	enum dtx_code rc = DTX_OK;

	for (uint32_t i = 0; i < map->n; i++)
		if (map->from[i] >= 0)
			f->ncols = DTX_MAX(f->ncols, (uint32_t)map->from[i] + 1);
	f->wanted = dtx_mem_zalloc((size_t)f->ncols + 1, sizeof(*f->wanted));
	f->want = dtx_mem_alloc((size_t)f->ncols + 1, sizeof(*f->want));
	if (!f->wanted || !f->want)
		DTX_FAIL_MEM(err);
	for (uint32_t i = 0; i < map->n; i++)
		if (map->from[i] >= 0 && dtx_op_wants(ox, i))
			f->wanted[map->from[i]] = true;
	for (uint32_t i = 0; i < f->ncols; i++)
		if (f->wanted[i])
			f->want[f->nwant++] = i;
	f->on = !dtx_mem_limit() || dtx_mem_limit() / dtx_op_workers(ox) >= FOLD_LEAST;
out:
	return rc;
}

/* --- back to spans --- */

enum dtx_code dtx_fold_spill(struct dtx_ordered *o, const struct dtx_opctx *ox, struct dtx_err *err)
{
	struct dtx_fold *f = &o->fold;
	struct dtx_packed *packed = NULL;
	enum dtx_code rc = DTX_OK;

	if (f->n)
		DTX_TRY(dtx_packed_new(&f->cols, o->sorter.kept.batch, f->row, (uint32_t)f->n,
		                       DTX_PACKED_REACH, &packed, err));
	DTX_TRY(dtx_runs_spill(&o->runs, ox, &o->sorter, packed, err));
	clear_rows(f);
out:
	dtx_packed_free(packed);
	return rc;
}

/* Whether there is room for spans, which need more memory than records.  If not, rows wait on
 * disk. */
static bool has_room(const struct dtx_ordered *o)
{
	size_t limit = dtx_mem_limit();

	return !limit || dtx_mem_used() + o->sorter.n * o->fold.cols.n * sizeof(struct dtx_span) <
	                         limit / 4 * 3;
}

static enum dtx_code unfold(struct dtx_ordered *o, const struct dtx_opctx *ox, struct dtx_err *err)
{
	struct dtx_fold *f = &o->fold;
	enum dtx_code rc = DTX_OK;

	f->on = false;
	if (f->n && ox->run && !has_room(o)) {
		DTX_TRY(dtx_fold_spill(o, ox, err));
		goto out;
	}
	for (size_t i = 0; i < f->n; i++)
		DTX_TRY(dtx_rowspans_restore(&f->cols, &f->row[i], o->sorter.kept.batch[i], err));
	clear_rows(f);
out:
	return rc;
}

/* --- batches that come --- */

enum dtx_code dtx_fold_make(struct dtx_ordered *o, const struct dtx_opctx *ox,
                            const struct dtx_batch *b, struct dtx_rowspans *out,
                            struct dtx_err *err)
{
	struct dtx_fold *f = &o->fold;
	enum dtx_code rc = DTX_OK;

	if (!f->cols.n && !o->sorter.kept.n)
		DTX_TRY(dtx_rowspans_choose(b, f->want, f->nwant, &f->cols, err));
	if (f->cols.n && (!f->n || dtx_rowspans_alike(&f->cols, o->sorter.kept.batch[0], b)))
		DTX_TRY(dtx_rowspans_make(&f->cols, b, out, err));
	if (!out->rec)
		DTX_TRY(unfold(o, ox, err));
out:
	return rc;
}

enum dtx_code dtx_fold_last(struct dtx_ordered *o, struct dtx_rowspans *row, struct dtx_err *err)
{
	struct dtx_fold *f = &o->fold;
	struct dtx_batch *b = o->sorter.kept.batch[o->sorter.kept.n - 1];
	enum dtx_code rc = DTX_OK;

	if (!dtx_mem_reserve(&f->row, &f->cap, f->n + 1, sizeof(*f->row)))
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_rowspans_strip(&f->cols, b, err));
	for (uint32_t i = 0; i < b->ncols; i++)
		if (i >= f->ncols || !f->wanted[i])
			dtx_batch_put(b, i, NULL);
	f->row[f->n++] = *row;
	row->rec = NULL;
out:
	return rc;
}

/* --- all workers --- */

static bool folds_alike(const struct dtx_ordered *a, const struct dtx_ordered *b)
{
	const struct dtx_rowspans_cols *x = &a->fold.cols, *y = &b->fold.cols;

	return x->n == y->n && memcmp(x->col, y->col, x->n * sizeof(*x->col)) == 0 &&
	       dtx_rowspans_alike(x, a->sorter.kept.batch[0], b->sorter.kept.batch[0]);
}

static bool agree(struct dtx_ordered *const *o, unsigned n)
{
	const struct dtx_ordered *first = NULL;

	for (unsigned w = 0; w < n; w++) {
		if (o[w]->runs.n || (o[w]->sorter.kept.n && !o[w]->fold.n))
			return false;
		if (!o[w]->fold.n)
			continue;
		if (first && !folds_alike(first, o[w]))
			return false;
		first = first ? first : o[w];
	}
	return true;
}

enum dtx_code dtx_ordered_agree(struct dtx_ordered *const *o, unsigned n,
                                const struct dtx_opctx *ox, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (agree(o, n))
		return DTX_OK;
	for (unsigned w = 0; w < n; w++)
		DTX_TRY(unfold(o[w], ox, err));
out:
	return rc;
}

enum dtx_code dtx_fold_pack(const struct dtx_ordered *o, unsigned n, struct dtx_merge *m,
                            struct dtx_err *err)
{
	const struct dtx_rowspans_cols *cols = NULL;
	struct dtx_rowspans *row = dtx_mem_alloc((size_t)m->nbatches + 1, sizeof(*row));
	enum dtx_code rc = DTX_OK;
	size_t at = 0;

	if (!row)
		DTX_FAIL_MEM(err);
	for (unsigned w = 0; w < n; w++) {
		for (size_t i = 0; i < o[w].fold.n; i++)
			row[at++] = o[w].fold.row[i];
		cols = o[w].fold.n ? &o[w].fold.cols : cols;
	}
	if (cols)
		DTX_TRY(dtx_merge_pack(m, cols, row, err));
out:
	dtx_mem_free(row);
	return rc;
}
