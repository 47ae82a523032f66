/* Computed columns of batches that stream through.
 *
 * Stages whose column is needed neither by the output nor by a later stage are not evaluated
 * (dtx_derive_live).  All others add their column to the batch in order; at the end the batch gets
 * the columns of the output. */
#include "core/expr/agg/agg.h"
#include "ops/window/derive.h"

void dtx_derive_live(const struct dtx_opctx *ox, const struct dtx_derive_state *s, bool *live)
{
	const struct dtx_derive_item *item = s->args->set.item;

	for (uint32_t k = 0; k < s->nstages; k++)
		live[k] = item[k].hidden;
	for (uint32_t i = 0; i < s->nout; i++)
		if (s->maker[i] >= 0 && dtx_op_wants(ox, i))
			live[s->maker[i]] = true;
	for (uint32_t k = s->nstages; k-- > 0;)
		for (uint32_t j = 0; live[k] && j < s->stage[k].nreads; j++)
			live[s->stage[k].reads[j]] = true;
}

enum dtx_code dtx_derive_widen(const struct dtx_derive_state *s, struct dtx_batch *in,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_column **col =
		dtx_mem_zalloc((size_t)s->nwork + s->ncalls + 1, sizeof(struct dtx_column *));

	if (!col)
		DTX_FAIL_MEM(err);
	memcpy(col, in->col, in->ncols * sizeof(struct dtx_column *));
	dtx_mem_free(in->col);
	in->col = col;
	in->ncols = s->nwork;
out:
	return rc;
}

enum dtx_code dtx_derive_place(const struct dtx_opctx *ox, const struct dtx_derive_state *s,
                               struct dtx_batch *in, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_column **col = dtx_mem_zalloc((size_t)s->nout + 1, sizeof(struct dtx_column *));

	if (!col)
		DTX_FAIL_MEM(err);
	for (uint32_t i = 0; i < s->nout; i++)
		col[i] = dtx_column_ref(in->col[s->place[i]]);
	for (uint32_t i = 0; i < in->ncols; i++)
		dtx_column_unref(in->col[i]);
	dtx_mem_free(in->col);
	in->col = col;
	in->ncols = s->nout;
	in->schema = ox->out;
out:
	return rc;
}

enum dtx_code dtx_derive_view_open(struct dtx_derive_view *v, const struct dtx_derive_state *s,
                                   struct dtx_err *err)
{
	size_t n = (size_t)s->nwork + s->ncalls + 1;
	enum dtx_code rc = DTX_OK;

	v->field = dtx_mem_alloc(n, sizeof(*v->field));
	if (!v->field)
		DTX_FAIL_MEM(err);
	memcpy(v->field, s->start, s->nin * sizeof(*v->field));
	v->schema = (struct dtx_schema){ .nfields = s->nin, .field = v->field };
	v->stage = 0;
out:
	return rc;
}

void dtx_derive_view_close(struct dtx_derive_view *v)
{
	dtx_mem_free(v->field);
	v->field = NULL;
}

void dtx_derive_view_to(struct dtx_derive_view *v, const struct dtx_derive_state *s, uint32_t k)
{
	for (; v->stage < k; v->stage++) {
		const struct dtx_derive_stage *st = &s->stage[v->stage];

		v->field[st->target] = st->made;
		v->schema.nfields = DTX_MAX(v->schema.nfields, st->target + 1);
	}
}

struct dtx_schema dtx_derive_view_wide(struct dtx_derive_view *v, const struct dtx_derive_stage *st)
{
	uint32_t n = v->schema.nfields;

	for (size_t i = 0; i < st->calls.n; i++)
		v->field[n + i] = (struct dtx_field){ .name = dtx_agg_name(st->calls.call[i]),
			                              .type = dtx_agg_type(st->calls.call[i]) };
	return (struct dtx_schema){ .nfields = n + (uint32_t)st->calls.n, .field = v->field };
}

enum dtx_code dtx_derive_batch(const struct dtx_opctx *ox, void *local, struct dtx_batch *in,
                               struct dtx_emit *out, struct dtx_err *err)
{
	const struct dtx_derive_state *s = ox->bound;
	enum dtx_code rc = DTX_OK;
	struct dtx_derive_view view = DTX_DERIVE_VIEW_INIT;
	bool *live = dtx_mem_zalloc((size_t)s->nstages + 1, sizeof(*live));

	(void)local;
	if (!live)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_derive_view_open(&view, s, err));
	dtx_derive_live(ox, s, live);
	DTX_TRY(dtx_derive_widen(s, in, err));
	for (uint32_t k = 0; k < s->nstages; k++) {
		struct dtx_column *made = NULL;

		if (!live[k])
			continue;
		DTX_TRY(dtx_cancel_look(err));
		dtx_derive_view_to(&view, s, k);
		in->schema = &view.schema;
		DTX_TRY(dtx_op_eval(ox, s->stage[k].bound, in, &made, err));
		dtx_batch_put(in, s->stage[k].target, made);
	}
	DTX_TRY(dtx_derive_place(ox, s, in, err));
	DTX_TRY(dtx_emit_batch(out, in, err));
out:
	if (in->schema == &view.schema)
		in->schema = s->work;
	dtx_derive_view_close(&view);
	dtx_mem_free(live);
	return rc;
}

void dtx_derive_explain(const void *args, struct dtx_buf *out)
{
	const struct dtx_derive_args *a = args;
	const struct dtx_derive_item *item = a->set.item;

	for (size_t i = 0; i < a->set.n; i++) {
		dtx_buf_printf(out, "%s%s = ", i ? ", " : "", item[i].as);
		dtx_expr_print(item[i].expr, out);
	}
}
