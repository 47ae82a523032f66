/* Binding of group_by: keys, aggregates, the layout of a group's record. */
#include "ops/group/groupby.h"

#include <stdio.h>

#include "core/data/key.h"
#include "ops/kit/opkit.h"

/* Whether the text of a value may differ from how its cell is written.  Texts, ints and ISO dates
 * are printed as they are written; for other types the cell is kept. */
static bool written_differs(const struct dtx_field *f)
{
	switch (f->type.type) {
	case DTX_T_TEXT:
	case DTX_T_NULL: return false;
	case DTX_T_INT64: return f->group != 0;
	case DTX_T_DATE: return f->format != NULL;
	default: return true;
	}
}

static enum dtx_code bind_key(struct dtx_bind *b, const struct dtx_agg_item *item, size_t k,
                              struct dtx_gb_key *key, struct dtx_err *err)
{
	const struct dtx_typeref any = { .type = DTX_T_UNKNOWN };
	enum dtx_code rc = DTX_OK;
	struct dtx_typeref type = any;
	char sub[48];

	key->col = -1;
	if (item->expr) {
		snprintf(sub, sizeof(sub), "/by/%zu/expr", k);
		DTX_TRY(dtx_bind_expr(b, 0, item->expr, sub, any, DTX_USE_ROWS, &key->bound, err));
		if (key->bound)
			type = dtx_bound_type(key->bound);
		key->field = (struct dtx_field){ .name = item->as, .type = type };
		DTX_TRY(dtx_bind_make(b, item->as, type, item->expr, "key", err));
		goto out;
	}
	snprintf(sub, sizeof(sub), "/by/%zu", k);
	DTX_TRY(dtx_bind_column(b, 0, item->as, sub, &key->col, err));
	if (key->col < 0)
		goto out;
	DTX_TRY(dtx_bind_use(b, DTX_USE_ROWS, 0, key->col, DTX_DEMAND_VALUE, err));
	DTX_TRY(dtx_bind_pass(b, 0, key->col, NULL, err));
	key->field = b->in[0]->field[key->col];
	key->written = key->field.source && written_differs(&key->field);
out:
	return rc;
}

static enum dtx_code bind_keys(struct dtx_bind *b, const struct dtx_gb_args *a,
                               struct dtx_gb_state *s, struct dtx_err *err)
{
	const struct dtx_agg_item *item = a->by.item;
	enum dtx_code rc = DTX_OK;
	char sub[48];

	for (size_t k = 0; k < a->by.n; k++) {
		struct dtx_gb_key *key = &s->key[s->nkeys];

		snprintf(sub, sizeof(sub), "/by/%zu", k);
		if (dtx_bind_out(b, item[k].as) >= 0) {
			DTX_TRY(dtx_bind_taken(b, item[k].as, sub, err));
			continue;
		}
		DTX_TRY(bind_key(b, &item[k], k, key, err));
		s->key_type[s->nkeys] = key->field.type;
		if (key->col >= 0 || item[k].expr)
			s->nkeys++;
	}
out:
	return rc;
}

enum dtx_code dtx_gb_lay_out(struct dtx_bind *b, struct dtx_gb_state *s, struct dtx_gb_out *o,
                             const struct dtx_field *keys, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	o->offset = dtx_arena_alloc(b->arena, o->calls.n + 1, sizeof(*o->offset));
	o->inner = dtx_agg_inner(b, keys, s->nkeys, &o->calls);
	if (!o->offset || !o->inner)
		DTX_FAIL_MEM(err);
	for (size_t i = 0; i < o->calls.n; i++) {
		o->offset[i] = s->stride;
		s->stride += dtx_agg_state_size(o->calls.call[i]);
		s->grows = s->grows || dtx_agg_grows(o->calls.call[i]);
	}
out:
	return rc;
}

static enum dtx_code bind_out(struct dtx_bind *b, const struct dtx_agg_item *item, size_t k,
                              const struct dtx_field *keys, struct dtx_gb_state *s,
                              struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_gb_out *o = &s->out[s->nouts];
	struct dtx_typeref type = { .type = DTX_T_UNKNOWN };
	char sub[48];

	if (dtx_bind_out(b, item->as) >= 0) {
		snprintf(sub, sizeof(sub), "/agg/%zu/as", k);
		DTX_TRY(dtx_bind_taken(b, item->as, sub, err));
		goto out;
	}
	snprintf(sub, sizeof(sub), "/agg/%zu/expr", k);
	DTX_TRY(dtx_bind_agg(b, 0, item->expr, sub, keys, s->nkeys, (int32_t)b->ncols, &o->calls,
	                     &o->bound, err));
	if (o->bound)
		type = dtx_bound_type(o->bound);
	DTX_TRY(dtx_bind_make(b, item->as, type, item->expr, "by", err));
	if (!o->bound)
		goto out;
	DTX_TRY(dtx_gb_lay_out(b, s, o, keys, err));
	s->nouts++;
out:
	return rc;
}

/* `having` reads output columns, so the input columns that these are made of decide which rows the
 * result has. */
static void on_having(void *arg, int32_t col, enum dtx_demand demand)
{
	bool *used = arg;

	(void)demand;
	used[col] = true;
}

static enum dtx_code bind_having(struct dtx_bind *b, const struct dtx_gb_args *a,
                                 struct dtx_gb_state *s, struct dtx_err *err)
{
	const struct dtx_typeref want = { .type = DTX_T_BOOL };
	enum dtx_code rc = DTX_OK;
	struct dtx_field *field = dtx_arena_zalloc(b->arena, (size_t)b->ncols + 1, sizeof(*field));
	bool *used = dtx_arena_zalloc(b->arena, (size_t)b->ncols + 1, sizeof(*used));
	struct dtx_schema schema = { .nfields = b->ncols, .field = field };
	size_t nuses = b->nuses, before = b->errs->n;

	if (!field || !used)
		DTX_FAIL_MEM(err);
	for (uint32_t i = 0; i < b->ncols; i++)
		field[i] = b->col[i].field;
	b->result = true;
	rc = dtx_bind_expr_over(b, &schema, a->having, "/having", want, on_having, used, &s->having,
	                        err);
	b->result = false;
	if (rc != DTX_OK)
		goto out;
	for (size_t i = before; i < b->errs->n; i++)
		if (b->errs->item[i].code == DTX_E_AGGREGATE_NOT_ALLOWED)
			dtx_err_hint(&b->errs->item[i],
			             "having reads the columns of agg: give the aggregate a name "
			             "there, \"agg\": {\"total\": \"sum(x)\"}, and write that "
			             "name here, \"having\": \"total > 12\"");
	for (size_t i = 0; i < nuses; i++) {
		struct dtx_bind_use u = b->use[i];

		if (u.out >= 0 && used[u.out])
			DTX_TRY(dtx_bind_use(b, DTX_USE_ROWS, u.table, (int32_t)u.col,
			                     (enum dtx_demand)u.demand, err));
	}
out:
	return rc;
}

/* The name of a row's set.  Which keys are in a set does not depend on any column. */
static enum dtx_code bind_sets_as(struct dtx_bind *b, const struct dtx_gb_args *a,
                                  struct dtx_err *err)
{
	if (dtx_bind_out(b, a->sets_as) >= 0)
		return dtx_bind_taken(b, a->sets_as, "/sets_as", err);
	return dtx_bind_make(b, a->sets_as, (struct dtx_typeref){ .type = DTX_T_TEXT }, NULL,
	                     "keys of the set", err);
}

/* Whether values can be read back from the keys of the groups.  Only several keys are stored as
 * bytes, and sorting by value needs columns. */
static bool keys_tell(const struct dtx_gb_state *s)
{
	if (s->nkeys < 2 || s->set || s->order == DTX_GB_SORTED)
		return false;
	for (uint32_t i = 0; i < s->nkeys; i++)
		if (s->key[i].written || !dtx_key_tells(s->key[i].field.type.type))
			return false;
	return true;
}

enum dtx_code dtx_gb_bind(struct dtx_bind *b, void *args, struct dtx_err *err)
{
	const struct dtx_gb_args *a = args;
	const struct dtx_agg_item *agg = a->agg.item;
	enum dtx_code rc = DTX_OK;
	struct dtx_gb_state *s = dtx_bind_state(b, sizeof(*s));
	struct dtx_field *keys;

	if (!s)
		DTX_FAIL_MEM(err);
	s->null_keys = a->null_keys;
	s->order = a->order;
	s->key = dtx_arena_zalloc(b->arena, a->by.n + 1, sizeof(*s->key));
	s->key_type = dtx_arena_zalloc(b->arena, a->by.n + 2, sizeof(*s->key_type));
	s->out = dtx_arena_zalloc(b->arena, a->agg.n + 1, sizeof(*s->out));
	keys = dtx_arena_zalloc(b->arena, a->by.n + 1, sizeof(*keys));
	if (!s->key || !s->key_type || !s->out || !keys)
		DTX_FAIL_MEM(err);
	DTX_TRY(bind_keys(b, a, s, err));
	DTX_TRY(dtx_gb_bind_sets(b, a, s, err));
	s->tells = keys_tell(s);
	for (uint32_t i = 0; i < s->nkeys; i++)
		keys[i] = s->key[i].field;
	for (size_t k = 0; k < a->agg.n; k++)
		DTX_TRY(bind_out(b, &agg[k], k, keys, s, err));
	if (!a->agg.n)
		dtx_bind_unsure(b);
	if (a->sets_as)
		DTX_TRY(bind_sets_as(b, a, err));
	if (a->having)
		DTX_TRY(bind_having(b, a, s, err));
	dtx_bind_close(b);
out:
	return rc;
}

bool dtx_gb_wants(const struct dtx_opctx *ox, const struct dtx_gb_state *s, uint32_t i)
{
	return s->having || dtx_op_wants(ox, s->nkeys + i);
}
