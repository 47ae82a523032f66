/* Sorts the records of the right rows by key.  If rows are used only through their records and each
 * key has one row, the id of a key is then the place of its record.  Picking a row costs one cache
 * miss instead of two, because no table of places is needed. */
#include "core/base/parallel_for.h"
#include "ops/join/hashjoin_impl.h"

/* Sorts the records of a batch by partition while they are in a cache.  Each partition then reads
 * its own records in order. */
static enum dtx_code order_batch(void *arg, uint64_t i, struct dtx_err *err)
{
	const struct dtx_join_making *w = arg;

	return dtx_row_store_permute(w->cells->batch[i], w->split[i].row, w->t->kept.batch[i]->nsel,
	                             err);
}

static enum dtx_code order_part(void *arg, uint64_t p, struct dtx_err *err)
{
	const struct dtx_join_making *w = arg;

	(void)err;
	for (size_t i = 0; i < w->t->kept.n; i++) {
		const struct dtx_join_split *s = &w->split[i];
		const struct dtx_row_store *r = w->cells->batch[i];

		for (uint32_t k = dtx_join_split_begin(s, p); k < s->end[p]; k++)
			dtx_row_store_one_put(w->in_order, s->id[k], r,
			                      r->rec + (size_t)k * r->stride);
	}
	return DTX_OK;
}

enum dtx_code dtx_join_order(struct dtx_join_making *w, struct dtx_err *err)
{
	unsigned workers = dtx_op_workers(w->ox);
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_parallel_for(workers, w->t->kept.n, order_batch, w, err));
	DTX_TRY(dtx_row_store_one_new(w->cells, w->t->nkeys, &w->in_order, err));
	DTX_TRY(dtx_parallel_for(workers, w->t->nparts, order_part, w, err));
	dtx_row_store_set_one(w->cells, w->in_order);
	w->in_order = NULL;
out:
	return rc;
}
