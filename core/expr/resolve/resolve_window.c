/* Window calls: where they are allowed, their arguments and types.
 *
 * As with aggregates (resolve_agg.c), a call becomes a column of the formula around it. */
#include "core/expr/window/win.h"

#define T(t) ((struct dtx_typeref){ .type = (t) })

static enum dtx_code window_allowed(struct dtx_binder *bd, const struct dtx_expr *e,
                                    const struct dtx_winkernel *kernel, bool *ok)
{
	*ok = false;
	if (bd->in_agg)
		return dtx_resolve_fail(bd, e, "compute the inner one in a step before",
		                        DTX_E_NESTED_AGGREGATE, "%s() is inside another call",
		                        e->name);
	if (!(bd->scope->allow & DTX_ALLOW_WINDOW) || !bd->aggs)
		return dtx_resolve_fail(bd, e, "make it a column in a window or derive step before",
		                        DTX_E_WINDOW_NOT_ALLOWED,
		                        "window function %s() is not allowed here", e->name);
	if (kernel->ordered && !bd->scope->ordered)
		return dtx_resolve_fail(bd, e, "a window step has one: \"order\": [\"day\"]",
		                        DTX_E_ORDER_REQUIRED, "%s() needs an order", e->name);
	*ok = true;
	return DTX_OK;
}

static enum dtx_code constant_int(struct dtx_binder *bd, const struct dtx_expr *e,
                                  const struct dtx_expr *at, const struct dtx_bound *b,
                                  int64_t least, int64_t *out, bool *ok)
{
	*out = b->value.null ? 0 : b->value.u.i;
	if (*out >= least && *out <= INT32_MAX && !b->value.null)
		return DTX_OK;
	*ok = false;
	return dtx_resolve_fail(bd, at, NULL, DTX_E_BAD_LITERAL,
	                        "%s() takes a number from %lld to %d", e->name, (long long)least,
	                        INT32_MAX);
}

static bool is_shift(enum dtx_winkind k)
{
	return k == DTX_WIN_LAG || k == DTX_WIN_LEAD || k == DTX_WIN_DIFF ||
	       k == DTX_WIN_PCT_CHANGE;
}

static bool is_roll(enum dtx_winkind k)
{
	return k == DTX_WIN_ROLL_MIN || k == DTX_WIN_ROLL_MAX || k >= DTX_WIN_ROLL_SUM;
}

/* Distances, sizes and weights must be constants. */
static enum dtx_code constants(struct dtx_binder *bd, const struct dtx_expr *e,
                               const struct dtx_expr *const *at, struct dtx_aggcall *c, bool *ok)
{
	enum dtx_winkind kind = (enum dtx_winkind)c->kind;
	struct dtx_bound **b = c->args;
	enum dtx_code rc = DTX_OK;
	int64_t min;

	if (kind == DTX_WIN_NTILE)
		DTX_TRY(constant_int(bd, e, at[0], b[0], 1, &c->n, ok));
	else if (is_shift(kind))
		DTX_TRY(constant_int(bd, e, at[1] ? at[1] : e, b[1], -INT32_MAX, &c->n, ok));
	else if (is_roll(kind) || kind == DTX_WIN_NTH_VALUE)
		DTX_TRY(constant_int(bd, e, at[1], b[1], 1, &c->n, ok));
	c->min = (uint32_t)c->n;
	if (is_roll(kind) && c->nargs > 2 && b[2]) {
		DTX_TRY(constant_int(bd, e, at[2], b[2], 1, &min, ok));
		c->min = (uint32_t)min;
		if (*ok && min > c->n) {
			*ok = false;
			return dtx_resolve_fail(bd, at[2], NULL, DTX_E_BAD_LITERAL,
			                        "%s(): %lld rows never hold %lld values", e->name,
			                        (long long)c->n, (long long)min);
		}
	}
	if ((kind == DTX_WIN_LAG || kind == DTX_WIN_LEAD) && c->nargs > 3 && b[3])
		c->values = !b[3]->value.null && b[3]->value.u.b;
	if (kind != DTX_WIN_EWM_MEAN)
		return DTX_OK;
	c->p = b[1]->value.null ? 0 : b[1]->value.u.f;
	if (c->p > 0 && c->p <= 1)
		return DTX_OK;
	*ok = false;
	return dtx_resolve_fail(bd, at[1], NULL, DTX_E_BAD_LITERAL,
	                        "%s(): alpha must be above 0 and at most 1", e->name);
out:
	return rc;
}

/* lag, lead: gives value and default one type; literals follow the usual rules. */
static enum dtx_code with_default(struct dtx_binder *bd, const struct dtx_expr *e,
                                  const struct dtx_expr *const *at, struct dtx_aggcall *c, bool *ok)
{
	const struct dtx_expr *const trees[2] = { at[0], at[2] };
	struct dtx_bound *pair[2] = { c->args[0], c->nargs > 2 ? c->args[2] : NULL };
	enum dtx_code rc = DTX_OK;
	struct dtx_typeref type;

	if (!pair[1])
		return DTX_OK;
	DTX_TRY(dtx_bind_literals(bd, trees, pair, 2, ok));
	if (*ok)
		DTX_TRY(dtx_bind_common(bd, e, pair, 2, ok, &type));
	c->args[0] = pair[0];
	c->args[2] = pair[1];
out:
	return rc;
}

/* cum_sum: gives value and limits one type. */
static enum dtx_code with_limits(struct dtx_binder *bd, const struct dtx_expr *e,
                                 const struct dtx_expr *const *at, struct dtx_aggcall *c, bool *ok)
{
	const struct dtx_expr *trees[3];
	struct dtx_bound *same[3];
	uint32_t place[3], n = 0;
	enum dtx_code rc = DTX_OK;
	struct dtx_typeref type;

	for (uint32_t i = 0; i < 3 && i < c->nargs; i++) {
		if (i && (!c->args[i] || c->args[i]->type.type == DTX_T_NULL))
			continue;
		trees[n] = at[i];
		same[n] = c->args[i];
		place[n++] = i;
	}
	if (n < 2)
		return DTX_OK;
	DTX_TRY(dtx_bind_literals(bd, trees, same, n, ok));
	if (*ok)
		DTX_TRY(dtx_bind_common(bd, e, same, n, ok, &type));
	for (uint32_t i = 0; i < n; i++)
		c->args[place[i]] = same[i];
out:
	return rc;
}

static struct dtx_typeref result_type(const struct dtx_aggcall *c)
{
	struct dtx_typeref x = c->nargs && c->args[0] ? c->args[0]->type : T(DTX_T_NULL);
	enum dtx_winkind kind = (enum dtx_winkind)c->kind;

	switch (c->win->gives) {
	case DTX_WIN_INT: return T(DTX_T_INT64);
	case DTX_WIN_FLOAT: return T(DTX_T_FLOAT64);
	case DTX_WIN_PLACE: return x;
	default: break;
	}
	if (x.type == DTX_T_INT64 && c->overflow == DTX_OVERFLOW_FLOAT)
		return T(DTX_T_FLOAT64);
	if (x.type == DTX_T_DECIMAL && kind == DTX_WIN_CUM_PROD)
		return T(DTX_T_FLOAT64);
	return x.type == DTX_T_DECIMAL ? (struct dtx_typeref){ DTX_T_DECIMAL, 38, x.scale } : x;
}

static enum dtx_code window_make(struct dtx_binder *bd, const struct dtx_expr *e,
                                 const struct dtx_fn *fn, const struct dtx_expr *const *at,
                                 uint32_t n, struct dtx_aggcall **out)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_aggcall *c = dtx_arena_zalloc(bd->arena, 1, sizeof(*c));
	bool ok = true;

	if (!c)
		DTX_FAIL_MEM(bd->err);
	DTX_TRY(dtx_bind_args(bd, e, fn, at, &n, &c->args, &ok));
	if (!ok)
		return DTX_OK;
	c->expr = e;
	c->name = fn->name;
	c->kind = (enum dtx_aggkind)fn->detail;
	c->win = dtx_winkernel((enum dtx_winkind)fn->detail);
	c->nargs = n;
	c->overflow = (uint8_t)bd->scope->overflow;
	c->div_zero_error = bd->scope->div_zero_error;
	DTX_TRY(constants(bd, e, at, c, &ok));
	if (ok && (fn->detail == DTX_WIN_LAG || fn->detail == DTX_WIN_LEAD))
		DTX_TRY(with_default(bd, e, at, c, &ok));
	if (ok && fn->detail == DTX_WIN_CUM_SUM)
		DTX_TRY(with_limits(bd, e, at, c, &ok));
	c->type = result_type(c);
	*out = ok ? c : NULL;
out:
	return rc;
}

enum dtx_code dtx_resolve_window(struct dtx_binder *bd, const struct dtx_expr *e,
                                 const struct dtx_fn *fn, struct dtx_bound **out)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_expr **at = NULL, *where = NULL;
	struct dtx_aggcall *c = NULL;
	uint32_t n = 0;
	bool ok;

	DTX_TRY(window_allowed(bd, e, dtx_winkernel((enum dtx_winkind)fn->detail), &ok));
	if (ok)
		DTX_TRY(dtx_bind_place(bd, e, fn, &at, &n, &where, &ok));
	if (!ok)
		return DTX_OK;
	if (dtx_resolve_made(bd, e, out))
		return DTX_OK;
	bd->in_agg = true;
	rc = window_make(bd, e, fn, at, n, &c);
	bd->in_agg = false;
	if (rc == DTX_OK && c)
		rc = dtx_resolve_append(bd, e, c, out);
out:
	return rc;
}
