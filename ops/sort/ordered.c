/* Rows in the order of their keys, in memory or on disk: see ordered.h. */
#include "ops/sort/ordered.h"

void dtx_ordered_init(struct dtx_ordered *o, size_t keep)
{
	*o = (struct dtx_ordered){ .runs = DTX_RUNS_INIT };
	dtx_sorter_init(&o->sorter, keep);
}

void dtx_ordered_clear(struct dtx_ordered *o)
{
	dtx_sorter_clear(&o->sorter);
	dtx_runs_clear(&o->runs);
	dtx_fold_clear(&o->fold);
}

enum dtx_code dtx_ordered_add(struct dtx_ordered *o, const struct dtx_opctx *ox,
                              const struct dtx_batch *b, struct dtx_column *const *key,
                              const struct dtx_key_order *order, size_t nkeys, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_rowspans row = { .rec = NULL };

	if (o->fold.on)
		DTX_TRY(dtx_fold_make(o, ox, b, &row, err));
	DTX_TRY(dtx_sorter_add(&o->sorter, b, key, order, nkeys, err));
	o->rows += b->nrows;
	if (row.rec)
		DTX_TRY(dtx_fold_last(o, &row, err));
	if (dtx_runs_wanted(ox, &o->sorter, dtx_fold_coming(&o->fold)))
		DTX_TRY(dtx_fold_spill(o, ox, err));
out:
	dtx_rowspans_clear(&row);
	return rc;
}

void dtx_ordered_free(struct dtx_ordered_rows *r)
{
	if (!r)
		return;
	dtx_merge_close(&r->merge);
	for (unsigned w = 0; w < r->n; w++)
		dtx_ordered_clear(&r->part[w]);
	dtx_mem_free(r->part);
	dtx_mem_free(r->run);
	dtx_mem_free(r);
}

static enum dtx_code take_parts(struct dtx_ordered_rows *r, struct dtx_ordered *const *from,
                                unsigned n, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t nruns = n;

	for (unsigned w = 0; w < n; w++)
		nruns += from[w]->runs.n;
	r->part = dtx_mem_alloc((size_t)n + 1, sizeof(*r->part));
	r->run = dtx_mem_alloc(nruns + 1, sizeof(*r->run));
	if (!r->part || !r->run)
		DTX_FAIL_MEM(err);
	for (; r->n < n; r->n++) {
		struct dtx_ordered *to = &r->part[r->n];

		*to = *from[r->n];
		dtx_ordered_init(from[r->n], 0);
		r->run[r->nruns++] = dtx_sorter_run(&to->sorter);
		for (size_t i = 0; i < to->runs.n; i++)
			r->run[r->nruns++] = dtx_runs_view(&to->runs, i);
	}
out:
	return rc;
}

enum dtx_code dtx_ordered_take(struct dtx_ordered *const *from, unsigned n, size_t limit,
                               struct dtx_spill *spill, struct dtx_ordered_rows **out,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_ordered_rows *r = dtx_mem_zalloc(1, sizeof(*r));

	if (!r)
		DTX_FAIL_MEM(err);
	DTX_TRY(take_parts(r, from, n, err));
	DTX_TRY(dtx_merge_open(&r->merge, r->run, r->nruns, limit, spill, err));
	DTX_TRY(dtx_fold_pack(r->part, r->n, &r->merge, err));
	*out = r;
	r = NULL;
out:
	dtx_ordered_free(r);
	return rc;
}
