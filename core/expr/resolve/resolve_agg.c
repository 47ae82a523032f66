/* Aggregate calls: where they are allowed, their arguments, and one shared call for equal formulas.
 *
 * A formula over aggregates, such as sum(a) / count(), is bound in two layers.  Each call goes into
 * a list and is computed over the rows of a group; in the formula it becomes a column that holds
 * its result (call_column), so the formula around it is evaluated like any other, with one row per
 * group. */
#include "core/expr/agg/aggcall.h"

#define T(t) ((struct dtx_typeref){ .type = (t) })

static enum dtx_code agg_allowed(struct dtx_binder *bd, const struct dtx_expr *e, bool *ok)
{
	*ok = false;
	if (bd->in_agg)
		return dtx_resolve_fail(bd, e, "compute the inner one in a step before",
		                        DTX_E_NESTED_AGGREGATE, "%s() is inside another aggregate",
		                        e->name);
	if (!(bd->scope->allow & DTX_ALLOW_AGG))
		return dtx_resolve_fail(
			bd, e, "make it a column in a derive step before, or use group_by",
			DTX_E_AGGREGATE_NOT_ALLOWED, "aggregate %s() is not allowed here", e->name);
	if (!bd->aggs)
		return dtx_resolve_fail(bd, e, "use group_by and join its result",
		                        DTX_E_UNSUPPORTED_PARAM,
		                        "this build has no aggregates here: %s()", e->name);
	*ok = true;
	return DTX_OK;
}

static enum dtx_code agg_constants(struct dtx_binder *bd, const struct dtx_expr *e,
                                   struct dtx_aggcall *c, struct dtx_bound *const *b, uint32_t n,
                                   bool *ok)
{
	if (c->kind == DTX_AGG_CONCAT)
		c->sep = n > 1 && !b[1]->value.null ? b[1]->value.u.s : DTX_STR("");
	if (c->kind == DTX_AGG_MEDIAN)
		c->p = 0.5;
	if (c->kind != DTX_AGG_QUANTILE && c->kind != DTX_AGG_QUANTILE_DISC)
		return DTX_OK;
	c->p = b[1]->value.null ? -1 : b[1]->value.u.f;
	if (c->p >= 0 && c->p <= 1)
		return DTX_OK;
	*ok = false;
	return dtx_resolve_fail(bd, e->arg[1], NULL, DTX_E_BAD_LITERAL,
	                        "a quantile must be between 0 and 1");
}

static enum dtx_code agg_make(struct dtx_binder *bd, const struct dtx_expr *e,
                              const struct dtx_fn *fn, const struct dtx_expr *const *at, uint32_t n,
                              const struct dtx_expr *where, struct dtx_aggcall **out)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_aggcall *c = dtx_arena_zalloc(bd->arena, 1, sizeof(*c));
	struct dtx_bound **b = NULL;
	struct dtx_fnparam second;
	char text[32];
	bool ok = true;

	if (!c)
		DTX_FAIL_MEM(bd->err);
	DTX_TRY(dtx_bind_args(bd, e, fn, at, &n, &b, &ok));
	if (where) {
		DTX_TRY(dtx_bind_class(bd, where, DTX_CLASS_BOOL, &c->where));
		ok = ok && c->where;
		if (ok)
			DTX_TRY(dtx_bind_widen(bd, &c->where, T(DTX_T_BOOL)));
	}
	if (!ok)
		return DTX_OK;
	c->expr = e;
	c->name = fn->name;
	c->kind = (enum dtx_aggkind)fn->detail;
	c->arg = n ? b[0] : NULL;
	c->argtype = n ? b[0]->type : T(DTX_T_NULL);
	if (n > 1 && dtx_fn_param(fn, 1, &second) && !second.constant)
		c->arg2 = b[1];
	c->overflow = (uint8_t)bd->scope->overflow;
	DTX_TRY(agg_constants(bd, e, c, b, n, &ok));
	if (ok && !dtx_agg_pick(c))
		return dtx_resolve_fail(bd, at[0], NULL, DTX_E_TYPE_MISMATCH,
		                        "%s() does not take %s", fn->name,
		                        dtx_bind_type_text(c->argtype, text));
	*out = ok ? c : NULL;
out:
	return rc;
}

static struct dtx_bound *call_column(struct dtx_binder *bd, const struct dtx_expr *e, size_t i)
{
	struct dtx_bound *b = dtx_bound_new(bd, e, DTX_BD_COL, bd->aggs->call[i]->type, 0);

	if (b) {
		b->column = (int32_t)(bd->scope->nkeys + i);
		b->quiet = true;
	}
	return b;
}

bool dtx_resolve_made(struct dtx_binder *bd, const struct dtx_expr *e, struct dtx_bound **out)
{
	for (size_t i = 0; i < bd->aggs->n; i++) {
		if (!dtx_expr_equal(bd->aggs->call[i]->expr, e))
			continue;
		*out = call_column(bd, e, i);
		return *out != NULL;
	}
	return false;
}

enum dtx_code dtx_resolve_append(struct dtx_binder *bd, const struct dtx_expr *e,
                                 struct dtx_aggcall *c, struct dtx_bound **out)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_aggcalls *list = bd->aggs;

	if (list->n == list->cap) {
		size_t cap = list->cap ? list->cap * 2 : 8;
		struct dtx_aggcall **call = dtx_arena_alloc(bd->arena, cap, sizeof(*call));

		if (!call)
			DTX_FAIL_MEM(bd->err);
		if (list->n)
			memcpy(call, list->call, list->n * sizeof(*call));
		list->call = call;
		list->cap = cap;
	}
	list->call[list->n++] = c;
	*out = call_column(bd, e, list->n - 1);
	if (!*out)
		DTX_FAIL_MEM(bd->err);
out:
	return rc;
}

enum dtx_code dtx_resolve_agg(struct dtx_binder *bd, const struct dtx_expr *e,
                              const struct dtx_fn *fn, struct dtx_bound **out)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_expr **at = NULL, *where = NULL;
	struct dtx_aggcall *c = NULL;
	uint32_t n = 0;
	bool ok;

	DTX_TRY(agg_allowed(bd, e, &ok));
	if (!ok)
		return DTX_OK;
	DTX_TRY(dtx_bind_place(bd, e, fn, &at, &n, &where, &ok));
	if (!ok || dtx_resolve_made(bd, e, out))
		return DTX_OK;
	bd->in_agg = true;
	rc = agg_make(bd, e, fn, at, n, where, &c);
	bd->in_agg = false;
	if (rc == DTX_OK && c)
		rc = dtx_resolve_append(bd, e, c, out);
out:
	return rc;
}
