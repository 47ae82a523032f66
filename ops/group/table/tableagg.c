/* Aggregates over groups of rows of a complete table.
 *
 * The groups of all rows are known before the first row is added, so the states of each call are
 * one array, indexed by group. */
#include "ops/group/table/tableagg.h"

#define AT(member) .offset = offsetof(struct dtx_agg_item, member)
const struct dtx_param dtx_agg_rows[DTX_AGG_ROWS] = {
	{ .name = "as",
	  .kind = DTX_P_TEXT,
	  .required = true,
	  AT(as),
	  .aliases = "new_name,name",
	  .help = "name of the result" },
	{ .name = "expr",
	  .kind = DTX_P_EXPR,
	  .required = true,
	  AT(expr),
	  .aliases = "expression,formula",
	  .help = "formula with aggregates" },
};

/* --- binding --- */

const struct dtx_schema *dtx_agg_inner(struct dtx_bind *b, const struct dtx_field *keys,
                                       uint32_t nkeys, const struct dtx_aggcalls *calls)
{
	struct dtx_schema *schema = dtx_arena_zalloc(b->arena, 1, sizeof(*schema));
	uint32_t n = nkeys + (uint32_t)calls->n;
	struct dtx_field *field = dtx_arena_zalloc(b->arena, (size_t)n + 1, sizeof(*field));

	if (!schema || !field)
		return NULL;
	for (uint32_t i = 0; i < nkeys; i++)
		field[i] = keys[i];
	for (size_t i = 0; i < calls->n; i++) {
		field[nkeys + i].name = dtx_agg_name(calls->call[i]);
		field[nkeys + i].type = dtx_agg_type(calls->call[i]);
	}
	schema->nfields = n;
	schema->field = field;
	return schema;
}

enum dtx_code dtx_tableagg_bind(struct dtx_bind *b, const struct dtx_expr *expr, const char *sub,
                                const struct dtx_field *keys, uint32_t nkeys, int32_t out,
                                struct dtx_tableagg_out *o, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_bind_agg(b, 0, expr, sub, keys, nkeys, out, &o->calls, &o->bound, err));
	o->inner = dtx_agg_inner(b, keys, nkeys, &o->calls);
	if (!o->inner)
		DTX_FAIL_MEM(err);
out:
	return rc;
}

/* --- states --- */

/* Makes all states or none, because states are freed group by group. */
static enum dtx_code new_states(const struct dtx_aggcall *call, uint32_t ngroups, char **out,
                                struct dtx_err *err)
{
	size_t size = dtx_agg_state_size(call), to;
	char *states = dtx_mem_alloc((size_t)ngroups + 1, size);
	enum dtx_code rc = DTX_OK;

	if (!states)
		DTX_FAIL_MEM(err);
	for (size_t from = 0; from < ngroups; from = to) {
		to = DTX_MIN(from + DTX_BATCH_ROWS, (size_t)ngroups);
		DTX_TRY(dtx_cancel_look(err));
		dtx_agg_init(call, states, size, from, to);
	}
	*out = states;
	states = NULL;
out:
	dtx_mem_free(states);
	return rc;
}

enum dtx_code dtx_tableagg_open(struct dtx_tableagg_run *r, const struct dtx_opctx *ox,
                                const struct dtx_tableagg *agg, uint32_t ngroups,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	*r = (struct dtx_tableagg_run){ .ox = ox, .agg = agg, .ngroups = ngroups };
	r->states = dtx_mem_zalloc((size_t)agg->nouts + 1, sizeof(char **));
	if (!r->states)
		DTX_FAIL_MEM(err);
	for (uint32_t i = 0; i < agg->nouts; i++) {
		const struct dtx_aggcalls *calls = &agg->out[i].calls;

		r->states[i] = dtx_mem_zalloc(calls->n + 1, sizeof(char *));
		for (size_t k = 0; r->states[i] && k < calls->n; k++) {
			DTX_TRY(new_states(calls->call[k], ngroups, &r->states[i][k], err));
		}
		if (!r->states[i])
			DTX_FAIL_MEM(err);
	}
out:
	return rc;
}

void dtx_tableagg_close(struct dtx_tableagg_run *r)
{
	for (uint32_t i = 0; r->states && i < r->agg->nouts; i++) {
		const struct dtx_aggcalls *calls = &r->agg->out[i].calls;

		for (size_t k = 0; r->states[i] && k < calls->n; k++) {
			if (r->states[i][k] && dtx_agg_needs_free(calls->call[k]))
				dtx_agg_free(calls->call[k], r->states[i][k],
				             dtx_agg_state_size(calls->call[k]), r->ngroups);
			dtx_mem_free(r->states[i][k]);
		}
		dtx_mem_free(r->states[i]);
	}
	dtx_mem_free(r->states);
	r->states = NULL;
}

/* The rows of the batch that are in a group: a view of its columns, and their groups in `dense`. */
static enum dtx_code live_rows(const struct dtx_batch *b, const uint32_t *group, uint32_t *dense,
                               struct dtx_batch **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_batch *view = NULL;
	uint32_t n = 0;
	uint16_t *sel;

	DTX_TRY(dtx_batch_new(b->schema, b->nrows, &view, err));
	for (uint32_t i = 0; i < b->ncols; i++)
		view->col[i] = dtx_column_ref(b->col[i]);
	view->seq = b->seq;
	view->sub = b->sub;
	view->origin = b->origin;
	view->first_row = b->first_row;
	view->rec = b->rec;
	view->rec_owner = dtx_owner_ref(b->rec_owner);
	DTX_TRY(dtx_batch_sel(view, &sel, err));
	for (uint32_t i = 0; i < b->nrows; i++) {
		if (group[i] == DTX_NOWHERE)
			continue;
		dense[n] = group[i];
		sel[n++] = (uint16_t)i;
	}
	view->nsel = n;
	*out = view;
	view = NULL;
out:
	dtx_batch_free(view);
	return rc;
}

static enum dtx_code add_batch(struct dtx_tableagg_run *r, struct dtx_batch *b,
                               const uint32_t *group, struct dtx_err *err)
{
	struct dtx_eval_counts counts = { 0 };
	enum dtx_code rc = DTX_OK;

	for (uint32_t i = 0; i < r->agg->nouts; i++) {
		const struct dtx_aggcalls *calls = &r->agg->out[i].calls;

		for (size_t k = 0; k < calls->n; k++)
			DTX_TRY(dtx_agg_add(calls->call[k], r->states[i][k],
			                    dtx_agg_state_size(calls->call[k]), group, NULL, b,
			                    &counts, err));
	}
	dtx_op_evals(r->ox, &counts);
out:
	return rc;
}

enum dtx_code dtx_tableagg_add(struct dtx_tableagg_run *r, struct dtx_table *t,
                               const uint32_t *group, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t *dense = dtx_mem_alloc(DTX_BATCH_ROWS, sizeof(*dense));
	struct dtx_batch *view = NULL;
	int64_t at = 0;

	if (!dense)
		DTX_FAIL_MEM(err);
	for (size_t i = 0; i < t->nbatches; i++) {
		DTX_TRY(dtx_cancel_look(err));
		DTX_TRY(live_rows(t->batch[i], group + at, dense, &view, err));
		DTX_TRY(add_batch(r, view, dense, err));
		dtx_batch_free(view);
		view = NULL;
		at += t->batch[i]->nrows;
	}
out:
	dtx_batch_free(view);
	dtx_mem_free(dense);
	return rc;
}

enum dtx_code dtx_tableagg_final(struct dtx_tableagg_run *r, uint32_t i, uint32_t from, uint32_t n,
                                 struct dtx_column *const *keys, struct dtx_column **out,
                                 struct dtx_err *err)
{
	const struct dtx_tableagg_out *o = &r->agg->out[i];
	uint32_t nkeys = o->inner->nfields - (uint32_t)o->calls.n;
	enum dtx_code rc = DTX_OK;
	void **state = dtx_mem_alloc((size_t)n + 1, sizeof(void *));
	struct dtx_eval_counts counts = { 0 };
	struct dtx_batch *inner = NULL;

	if (!state)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_batch_new(o->inner, n, &inner, err));
	for (uint32_t k = 0; k < nkeys; k++)
		inner->col[k] = dtx_column_ref(keys[k]);
	for (size_t k = 0; k < o->calls.n; k++) {
		size_t size = dtx_agg_state_size(o->calls.call[k]);

		for (uint32_t g = 0; g < n; g++)
			state[g] = r->states[i][k] + (size_t)(from + g) * size;
		DTX_TRY(dtx_agg_final(o->calls.call[k], state, n, &counts, &inner->col[nkeys + k],
		                      err));
	}
	dtx_op_evals(r->ox, &counts);
	DTX_TRY(dtx_op_eval(r->ox, o->bound, inner, out, err));
out:
	dtx_batch_free(inner);
	dtx_mem_free(state);
	return rc;
}
