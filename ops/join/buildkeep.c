/* The sink of the table in which rows are looked up: keeps its batches, and short cells as
 * records. */
#include "ops/join/buildside.h"
#include "core/data/cells.h"

enum dtx_code dtx_build_init(const struct dtx_opctx *ox, void **local, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	(void)ox;
	*local = dtx_mem_zalloc(1, sizeof(struct dtx_build_side));
	if (!*local)
		DTX_FAIL_MEM(err);
out:
	return rc;
}

void dtx_build_free(const struct dtx_opctx *ox, void *local)
{
	struct dtx_build_side *l = local;

	(void)ox;
	if (!l)
		return;
	for (size_t i = 0; l->cells && i < l->kept.n; i++)
		dtx_row_store_free(l->cells[i]);
	dtx_kept_clear(&l->kept);
	dtx_mem_free(l->cells);
	dtx_mem_free(l->taken);
	dtx_mem_free(l);
}

/* Whether the cells of output column i may be copied as they are written. */
static bool can_take(const struct dtx_opctx *ox, const struct dtx_colmap *attach,
                     const struct dtx_groupkeys *key, uint32_t i)
{
	const struct dtx_field *to = &ox->out->field[i], *from;

	if (attach->from[i] < 0 || !dtx_op_wants(ox, i) ||
	    dtx_cols_find(key->col, key->n, attach->from[i]) >= 0)
		return false;
	from = &ox->in[1]->field[attach->from[i]];
	return to->type.type == DTX_T_TEXT || dtx_field_same_rules(to, from);
}

enum dtx_code dtx_build_takes(const struct dtx_opctx *ox, const struct dtx_colmap *attach,
                              const struct dtx_groupkeys *key, void *local, struct dtx_err *err)
{
	struct dtx_build_side *l = local;
	enum dtx_code rc = DTX_OK;

	l->attach = attach;
	l->taken = dtx_mem_alloc((size_t)attach->n + 1, sizeof(*l->taken));
	if (!l->taken)
		DTX_FAIL_MEM(err);
	for (uint32_t i = 0; i < attach->n; i++)
		if (can_take(ox, attach, key, i))
			l->taken[l->ntaken++] = (uint32_t)attach->from[i];
out:
	return rc;
}

static bool reserve_cells(struct dtx_build_side *l)
{
	size_t n = l->kept.n, cap = l->cap_cells;

	if (!dtx_mem_reserve(&l->cells, &l->cap_cells, n, sizeof(struct dtx_row_store *)))
		return false;
	for (; cap < l->cap_cells; cap++)
		l->cells[cap] = NULL;
	return true;
}

enum dtx_code dtx_build_consume(const struct dtx_opctx *ox, void *local, struct dtx_batch *in,
                                struct dtx_err *err)
{
	struct dtx_build_side *l = local;
	struct dtx_spill *spill = ox->run ? ox->run->spill : NULL;
	enum dtx_code rc = DTX_OK;
	struct dtx_batch *b;

	DTX_TRY(dtx_kept_add(&l->kept, in, err));
	b = l->kept.batch[l->kept.n - 1];
	if (dtx_spill_tables(spill))
		return dtx_spill_batch(spill, b, &ox->stat->spilled, err);
	if (!l->ntaken || l->untaken)
		return DTX_OK;
	if (!reserve_cells(l))
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_row_store_take(b, l->taken, l->ntaken, &l->cells[l->kept.n - 1], err));
	l->untaken = !l->cells[l->kept.n - 1]; /* it is not tried again */
out:
	return rc;
}

/* --- the whole table --- */

struct part {                    /* a batch and its records */
	struct dtx_batch *batch; /* must be the first member, for dtx_batch_cmp */
	struct dtx_row_store *cells;
};

/* Moves what all workers have kept here, in order. */
static enum dtx_code gather_parts(void *const *locals, unsigned n, struct part **part,
                                  size_t *nparts, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t most = 0;

	for (unsigned w = 0; w < n; w++)
		most += ((struct dtx_build_side *)locals[w])->kept.n;
	*part = dtx_mem_alloc(most + 1, sizeof(**part));
	if (!*part)
		DTX_FAIL_MEM(err);
	for (unsigned w = 0; w < n; w++) {
		struct dtx_build_side *l = locals[w];

		for (size_t i = 0; i < l->kept.n; i++)
			(*part)[(*nparts)++] =
				(struct part){ l->kept.batch[i],
				               i < l->cap_cells ? l->cells[i] : NULL };
		l->kept.n = 0;
	}
	qsort(*part, *nparts, sizeof(**part), dtx_batch_cmp);
out:
	return rc;
}

/* Restores the cells of batches that have records, because some other batch has none. */
static enum dtx_code give_back(const struct dtx_opctx *ox, const struct dtx_build_side *l,
                               struct part *part, size_t n, struct dtx_err *err)
{
	struct dtx_spill *spill = ox->run ? ox->run->spill : NULL;
	enum dtx_code rc = DTX_OK;

	for (size_t i = 0; i < n; i++) {
		if (!part[i].cells)
			continue;
		DTX_TRY(dtx_row_store_back(part[i].cells, l->taken, l->ntaken, part[i].batch, err));
		part[i].cells = NULL;
		if (dtx_spill_tables(spill))
			DTX_TRY(dtx_spill_batch(spill, part[i].batch, &ox->stat->spilled, err));
	}
out:
	return rc;
}

/* The records of all batches; or, if some batch has none, all get their cells back and *out stays
 * NULL. */
static enum dtx_code settle_cells(const struct dtx_opctx *ox, const struct dtx_build_side *l,
                                  struct part *part, size_t n, struct dtx_row_store_set **out,
                                  struct dtx_err *err)
{
	struct dtx_row_store **cells = dtx_mem_alloc(n + 1, sizeof(struct dtx_row_store *));
	enum dtx_code rc = DTX_OK;

	if (!cells)
		DTX_FAIL_MEM(err);
	for (size_t i = 0; i < n; i++)
		cells[i] = part[i].cells;
	if (!dtx_row_store_alike(cells, n)) {
		DTX_TRY(give_back(ox, l, part, n, err));
		goto out;
	}
	for (size_t i = 0; i < n; i++)
		part[i].cells = NULL;
	rc = dtx_row_store_set_new(l->taken, l->ntaken, part[0].batch->ncols, cells, (uint32_t)n,
	                           out, err);
	cells = NULL;
out:
	dtx_mem_free(cells);
	return rc;
}

/* The map of columns that have no records and must be picked from the batches. */
static enum dtx_code rest_map(const struct dtx_colmap *attach,
                              const struct dtx_row_store_set *cells, int32_t **from,
                              struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	*from = dtx_mem_alloc((size_t)attach->n + 1, sizeof(**from));
	if (!*from)
		DTX_FAIL_MEM(err);
	for (uint32_t i = 0; i < attach->n; i++) {
		int32_t col = attach->from[i];

		(*from)[i] = col >= 0 && cells->place[col] >= 0 ? -1 : col;
	}
out:
	return rc;
}

static enum dtx_code keep_parts(struct part *part, size_t n, struct dtx_kept *all,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (!dtx_mem_reserve(&all->batch, &all->cap, n + 1, sizeof(struct dtx_batch *)))
		DTX_FAIL_MEM(err);
	for (; all->n < n; all->n++) {
		all->batch[all->n] = part[all->n].batch;
		part[all->n].batch = NULL;
	}
out:
	return rc;
}

enum dtx_code dtx_build_table(const struct dtx_opctx *ox, void *const *locals, unsigned n,
                              const struct dtx_key_sides *keys, bool nulls_equal,
                              struct dtx_join_table **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_kept all = { NULL, 0, 0 };
	const struct dtx_build_side *side = locals[0];
	struct dtx_row_store_set *cells = NULL;
	struct dtx_join_table *t = NULL;
	struct part *part = NULL;
	size_t nparts = 0;
	struct dtx_colmap rest = { 0, NULL };
	int32_t *rest_from = NULL;

	DTX_TRY(gather_parts(locals, n, &part, &nparts, err));
	DTX_TRY(settle_cells(ox, side, part, nparts, &cells, err));
	DTX_TRY(keep_parts(part, nparts, &all, err));
	if (cells) {
		DTX_TRY(rest_map(side->attach, cells, &rest_from, err));
		rest = (struct dtx_colmap){ side->attach->n, rest_from };
	}
	DTX_TRY(dtx_join_build(ox, &all, &keys->right, keys->type, nulls_equal,
	                       dtx_colmap_moves(ox, &rest) ? NULL : cells, &t, err));
	t->cells = cells;
	t->rest = rest;
	t->rest_from = rest_from;
	cells = NULL;
	rest_from = NULL;
	*out = t;
	t = NULL;
out:
	dtx_join_free(t);
	for (size_t i = 0; i < nparts; i++) {
		dtx_batch_free(part[i].batch);
		dtx_row_store_free(part[i].cells);
	}
	dtx_mem_free(part);
	dtx_row_store_set_free(cells);
	dtx_mem_free(rest_from);
	dtx_kept_clear(&all);
	return rc;
}
