/* Makes rows of the result of group_by from its groups. */
#include "ops/group/first_row.h"

#include "core/base/memory/mem.h"
#include "core/data/key.h"
#include "ops/kit/opkit.h"

static void *state_of(const struct dtx_gb_result *r, const struct dtx_gb_first_row *f)
{
	const struct dtx_gb_local *l = r->l[f->local];
	uint64_t link = dtx_gb_link(l, f->id);

	if ((link & DTX_GB_KIND) == DTX_GB_FIRST_ROW) {
		const struct dtx_gb_local *h = r->l[dtx_gb_ref_local(link)];

		return h->states + (size_t)(uint32_t)link * r->s->stride;
	}
	return l->states + (size_t)f->id * r->s->stride;
}

enum dtx_code dtx_gb_scratch_init(struct dtx_gb_scratch *x, const struct dtx_gb_result *r,
                                  uint32_t most, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	x->which = dtx_mem_alloc(most, sizeof(*x->which));
	x->row = dtx_mem_alloc(most, sizeof(*x->row));
	x->pos = dtx_mem_alloc(r->s->names_sets ? most : 1, sizeof(*x->pos));
	x->state = dtx_mem_alloc(most, sizeof(void *));
	x->src = dtx_mem_zalloc((size_t)r->n + 2, sizeof(struct dtx_column *));
	x->key = dtx_mem_alloc(r->s->from_keys ? most : 1, sizeof(char *));
	if (!x->which || !x->row || !x->pos || !x->state || !x->src || !x->key)
		DTX_FAIL_MEM(err);
out:
	return rc;
}

void dtx_gb_scratch_clear(struct dtx_gb_scratch *x)
{
	dtx_mem_free(x->which);
	dtx_mem_free(x->row);
	dtx_mem_free(x->pos);
	dtx_mem_free(x->state);
	dtx_mem_free(x->src);
	dtx_mem_free(x->key);
}

/* Key i, read from the keys of the groups.  The keys before it must have been read already. */
static enum dtx_code told_column(const struct dtx_gb_result *r, struct dtx_gb_scratch *x,
                                 uint32_t i, uint32_t n, struct dtx_column **out,
                                 struct dtx_err *err)
{
	struct dtx_builder b;

	dtx_builder_init(&b, r->s->key[i].field.type, 0);
	dtx_key_values(x->key, n, &b);
	return dtx_builder_finish(&b, NULL, out, err);
}

static enum dtx_code key_column(const struct dtx_gb_result *r, struct dtx_gb_scratch *x, uint32_t i,
                                uint32_t n, struct dtx_column **out, struct dtx_err *err)
{
	if (r->s->from_keys)
		return told_column(r, x, i, n, out, err);
	if (r->l[0]->from)
		return dtx_gb_late_cells(r->l[0], i, x->row, n, out, err);
	for (unsigned w = 0; w < r->n; w++)
		x->src[w] = r->l[w]->n ? r->l[w]->column[i] : NULL;
	return dtx_cells_gather(x->src, r->n, x->which, x->row, n, &r->s->key[i].field, out, err);
}

/* Result i for the given groups: the results of its calls, then the formula around them. */
static enum dtx_code out_column(const struct dtx_opctx *ox, const struct dtx_gb_result *r,
                                struct dtx_gb_scratch *x, uint32_t i,
                                const struct dtx_gb_first_row *first_row,
                                const struct dtx_batch *keys, struct dtx_column **out,
                                struct dtx_err *err)
{
	const struct dtx_gb_out *o = &r->s->out[i];
	uint32_t n = keys->nrows;
	enum dtx_code rc = DTX_OK;
	struct dtx_eval_counts counts = { 0 };
	struct dtx_batch *inner = NULL;
	int32_t plain = o->bound ? dtx_bound_column(o->bound) : (int32_t)r->s->nkeys;

	DTX_TRY(dtx_batch_new(o->inner, n, &inner, err));
	for (uint32_t k = 0; k < r->s->nkeys; k++)
		inner->col[k] = dtx_column_ref(keys->col[k]);
	for (size_t c = 0; c < o->calls.n; c++) {
		for (uint32_t k = 0; k < n; k++)
			x->state[k] = (char *)state_of(r, &first_row[k]) + o->offset[c];
		DTX_TRY(dtx_agg_final(o->calls.call[c], x->state, n, &counts,
		                      &inner->col[r->s->nkeys + c], err));
	}
	dtx_op_evals(ox, &counts);
	if (plain >= 0 && inner->col[plain])
		*out = dtx_column_ref(inner->col[plain]);
	else
		DTX_TRY(dtx_op_eval(ox, o->bound, inner, out, err));
out:
	dtx_batch_free(inner);
	return rc;
}

/* Narrows b to the rows for which `having` is true. */
static enum dtx_code having(const struct dtx_opctx *ox, const struct dtx_gb_result *r,
                            struct dtx_batch *b, struct dtx_err *err)
{
	struct dtx_eval_counts counts = { 0 };
	int64_t falses = 0, nulls = 0;
	enum dtx_code rc = DTX_OK;

	if (!r->s->having)
		goto out;
	DTX_TRY(dtx_eval_keep(r->s->having, b, &falses, &nulls, &counts, err));
	dtx_op_count(ox, "having", falses + nulls);
	dtx_op_evals(ox, &counts);
out:
	return rc;
}

enum dtx_code dtx_gb_make_rows(const struct dtx_opctx *ox, const struct dtx_gb_result *r,
                               struct dtx_gb_scratch *x, const struct dtx_gb_first_row *first_row,
                               uint32_t n, struct dtx_batch **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_batch *b = NULL;

	DTX_TRY(dtx_batch_new(ox->out, n, &b, err));
	for (uint32_t k = 0; k < n; k++) {
		x->which[k] = first_row[k].local;
		x->row[k] = first_row[k].id;
		if (r->s->names_sets)
			x->pos[k] = first_row[k].pos;
		if (r->s->from_keys)
			x->key[k] =
				dtx_groups_row(r->l[first_row[k].local]->groups, first_row[k].id);
	}
	for (uint32_t i = 0; i < r->s->nkeys; i++)
		DTX_TRY(key_column(r, x, i, n, &b->col[i], err));
	for (uint32_t i = 0; i < r->s->nouts; i++)
		if (dtx_gb_wants(ox, r->s, i))
			DTX_TRY(out_column(ox, r, x, i, first_row, b, &b->col[r->s->nkeys + i],
			                   err));
	if (r->s->names_sets)
		DTX_TRY(dtx_gb_set_names(r->s, x->pos, n, &b->col[r->s->nkeys + r->s->nouts], err));
	DTX_TRY(having(ox, r, b, err));
	*out = b;
	b = NULL;
out:
	dtx_batch_free(b);
	return rc;
}
