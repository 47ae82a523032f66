/* Calls that are replaced by other trees, and casts. */
#include "core/expr/bound.h"

#include "core/data/cast/cast.h"
#include "core/data/time/time.h"

#define T(t) ((struct dtx_typeref){ .type = (t) })

/* --- forms: calls with an equivalent tree --- */

static enum dtx_code tree_node(struct dtx_binder *bd, const struct dtx_expr *e, enum dtx_ekind kind,
                               int op, uint32_t nargs, struct dtx_expr **out)
{
	enum dtx_code rc = DTX_OK;

	*out = dtx_expr_node(bd->arena, kind, nargs);
	if (!*out)
		DTX_FAIL_MEM(bd->err);
	(*out)->op = op;
	memcpy((*out)->span, e->span, sizeof(e->span));
out:
	return rc;
}

static enum dtx_code tree_two(struct dtx_binder *bd, const struct dtx_expr *e, enum dtx_ekind kind,
                              int op, const struct dtx_expr *a, const struct dtx_expr *b,
                              struct dtx_expr **out)
{
	enum dtx_code rc = DTX_OK;

	DTX_TRY(tree_node(bd, e, kind, op, 2, out));
	(*out)->arg[0] = a;
	(*out)->arg[1] = b;
out:
	return rc;
}

/* if(c, a, b): case when c then a else b end */
static enum dtx_code form_if(struct dtx_binder *bd, const struct dtx_expr *e,
                             const struct dtx_expr *const *at, uint32_t n, struct dtx_bound **out)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_expr *made;

	DTX_TRY(tree_node(bd, e, DTX_EX_CASE, 0, n, &made));
	memcpy(made->arg, at, n * sizeof(*at));
	DTX_TRY(dtx_bind_node(bd, made, out));
out:
	return rc;
}

/* nullif(a, b): case when a == b then null else a end */
static enum dtx_code form_nullif(struct dtx_binder *bd, const struct dtx_expr *e,
                                 const struct dtx_expr *const *at, uint32_t n,
                                 struct dtx_bound **out)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_expr *made, *same, *null;

	(void)n;
	DTX_TRY(tree_two(bd, e, DTX_EX_CMP, DTX_CMP_EQ, at[0], at[1], &same));
	DTX_TRY(tree_node(bd, e, DTX_EX_LIT, DTX_LIT_NULL, 0, &null));
	DTX_TRY(tree_node(bd, e, DTX_EX_CASE, 0, 3, &made));
	made->arg[0] = same;
	made->arg[1] = null;
	made->arg[2] = at[0];
	DTX_TRY(dtx_bind_node(bd, made, out));
out:
	return rc;
}

/* switch(x, a, r, b, s, d): case when x == a then r when x == b then s else d end */
static enum dtx_code form_switch(struct dtx_binder *bd, const struct dtx_expr *e,
                                 const struct dtx_expr *const *at, uint32_t n,
                                 struct dtx_bound **out)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_expr *made, *same;
	uint32_t i;

	DTX_TRY(tree_node(bd, e, DTX_EX_CASE, 0, n - 1, &made));
	for (i = 1; i + 1 < n; i += 2) {
		DTX_TRY(tree_two(bd, e, DTX_EX_CMP, DTX_CMP_EQ, at[0], at[i], &same));
		made->arg[i - 1] = same;
		made->arg[i] = at[i + 1];
	}
	if (i < n)
		made->arg[i - 1] = at[i];
	DTX_TRY(dtx_bind_node(bd, made, out));
out:
	return rc;
}

static enum dtx_code form_distinct(struct dtx_binder *bd, const struct dtx_expr *e,
                                   const struct dtx_expr *const *at, uint32_t n,
                                   struct dtx_bound **out)
{
	(void)n;
	return dtx_bind_cmp(bd, e, at[0], at[1], DTX_CMP_NE, DTX_BD_DISTINCT, out);
}

static enum dtx_code form_try(struct dtx_binder *bd, const struct dtx_expr *e,
                              const struct dtx_expr *const *at, uint32_t n, struct dtx_bound **out)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_bound *b[2] = { NULL, NULL };
	const struct dtx_expr *trees[2] = { at[0], n > 1 ? at[1] : e };
	struct dtx_typeref type;
	bool ok = true;

	DTX_TRY(dtx_bind_class(bd, at[0], DTX_CLASS_ANY, &b[0]));
	if (n > 1)
		DTX_TRY(dtx_bind_class(bd, at[1], DTX_CLASS_ANY, &b[1]));
	else
		DTX_TRY(dtx_bind_default(bd, e, DTX_STR("null"), &b[1]));
	if (!b[0] || !b[1])
		return DTX_OK;
	DTX_TRY(dtx_bind_literals(bd, trees, b, 2, &ok));
	if (ok)
		DTX_TRY(dtx_bind_common(bd, e, b, 2, &ok, &type));
	if (!ok)
		return DTX_OK;
	*out = dtx_bound_two(bd, e, DTX_BD_TRY, type, b[0], b[1]);
	if (!*out)
		DTX_FAIL_MEM(bd->err);
	(*out)->quiet = false;
out:
	return rc;
}

static enum dtx_code form_run_date(struct dtx_binder *bd, const struct dtx_expr *e,
                                   const struct dtx_expr *const *at, uint32_t n,
                                   struct dtx_bound **out)
{
	enum dtx_code rc = DTX_OK;

	(void)at, (void)n;
	*out = dtx_bound_new(bd, e, DTX_BD_CONST, T(DTX_T_DATE), 0);
	if (!*out)
		DTX_FAIL_MEM(bd->err);
	(*out)->value.u.day = bd->scope->run_date;
	(*out)->quiet = true;
out:
	return rc;
}

static enum dtx_code form_place(struct dtx_binder *bd, const struct dtx_expr *e,
                                const struct dtx_fn *fn, struct dtx_bound **out)
{
	enum dtx_code rc = DTX_OK;

	*out = dtx_bound_new(bd, e, DTX_BD_PLACE,
	                     T(fn->detail == DTX_PLACE_ROW ? DTX_T_INT64 : DTX_T_TEXT), 0);
	if (!*out)
		DTX_FAIL_MEM(bd->err);
	(*out)->op = fn->detail;
	(*out)->quiet = true;
out:
	return rc;
}

typedef enum dtx_code form_fn(struct dtx_binder *bd, const struct dtx_expr *e,
                              const struct dtx_expr *const *at, uint32_t n, struct dtx_bound **out);
static form_fn *const forms[] = {
	[DTX_FORM_IF] = form_if,         [DTX_FORM_NULLIF] = form_nullif,
	[DTX_FORM_SWITCH] = form_switch, [DTX_FORM_DISTINCT] = form_distinct,
	[DTX_FORM_TRY] = form_try,       [DTX_FORM_RUN_DATE] = form_run_date,
};

/* pow(a, b): a ** b */
static enum dtx_code form_bin(struct dtx_binder *bd, const struct dtx_expr *e,
                              const struct dtx_fn *fn, const struct dtx_expr *const *at,
                              struct dtx_bound **out)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_expr *made;

	DTX_TRY(tree_two(bd, e, DTX_EX_BIN, fn->detail, at[0], at[1], &made));
	DTX_TRY(dtx_bind_node(bd, made, out));
out:
	return rc;
}

/* --- casts --- */

static enum dtx_code cast_spec(struct dtx_binder *bd, const struct dtx_expr *e,
                               const struct dtx_fn *fn, struct dtx_bound *const *b, uint32_t n,
                               struct dtx_cast_spec *spec, bool *ok)
{
	const struct dtx_val *p = n > 1 ? &b[1]->value : NULL, *s = n > 2 ? &b[2]->value : NULL;
	struct dtx_format_fault fault;

	spec->to = T((enum dtx_type)fn->detail);
	if (fn->detail == DTX_T_DECIMAL) {
		spec->to.precision = (uint8_t)(p->u.i >= 1 && p->u.i <= 38 ? p->u.i : 0);
		spec->to.scale = (uint8_t)(s->u.i >= 0 && s->u.i <= p->u.i ? s->u.i : 99);
		*ok = !p->null && !s->null && spec->to.precision &&
		      spec->to.scale <= spec->to.precision;
		if (!*ok)
			return dtx_resolve_fail(bd, e, "as in decimal(x, 12, 2)", DTX_E_BAD_LITERAL,
			                        "a decimal has 1 to 38 digits, as many or fewer "
			                        "after the point");
	} else if (p && !p->null) {
		spec->format = p->u.s.ptr;
		*ok = dtx_time_format_check(p->u.s, DTX_FORMAT_READ, &fault);
		if (!*ok)
			return dtx_resolve_fail(bd, e->arg[1], fault.hint, DTX_E_BAD_FORMAT, "%s",
			                        fault.what);
	}
	return DTX_OK;
}

static enum dtx_code form_cast(struct dtx_binder *bd, const struct dtx_expr *e,
                               const struct dtx_fn *fn, const struct dtx_expr *const *at,
                               uint32_t n, struct dtx_bound **out)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_cast_spec *spec = dtx_arena_zalloc(bd->arena, 1, sizeof(*spec));
	struct dtx_bound **b = NULL;
	char from[32], to[32];
	bool ok = true;

	if (!spec)
		DTX_FAIL_MEM(bd->err);
	DTX_TRY(dtx_bind_args(bd, e, fn, at, &n, &b, &ok));
	if (ok)
		DTX_TRY(cast_spec(bd, e, fn, b, n, spec, &ok));
	if (!ok)
		return DTX_OK;
	/* A format describes the text of the cell, even if the cell was read as an ISO date. */
	if (spec->format && b[0]->kind == DTX_BD_COL && b[0]->source &&
	    dtx_type_class(b[0]->type.type) == DTX_CLASS_DATE) {
		b[0]->kind = DTX_BD_SOURCE;
		b[0]->type = T(DTX_T_TEXT);
		dtx_resolve_use(bd, b[0], DTX_DEMAND_BYTES, DTX_CLASS_ANY);
	}
	if (!dtx_cast_possible(b[0]->type.type, spec->to.type))
		return dtx_resolve_fail(
			bd, at[0], NULL, DTX_E_TYPE_MISMATCH, "%s cannot be made from %s",
			dtx_bind_type_text(spec->to, to), dtx_bind_type_text(b[0]->type, from));
	if (spec->to.type == DTX_T_DATETIME && b[0]->kind == DTX_BD_CONST && !spec->format &&
	    b[0]->type.type == DTX_T_TEXT && !b[0]->value.null &&
	    dtx_cast_text_zoned(b[0]->value.u.s))
		spec->to = DTX_TYPE_UTC;
	/* There is nothing to convert, so there is nothing that could fail. */
	if (b[0]->type.type == spec->to.type && spec->to.type != DTX_T_DECIMAL) {
		*out = b[0];
		return DTX_OK;
	}
	*out = dtx_bound_two(bd, e, DTX_BD_CAST, spec->to, b[0], NULL);
	if (!*out)
		DTX_FAIL_MEM(bd->err);
	(*out)->cast = spec;
	(*out)->quiet = spec->to.type == DTX_T_TEXT && b[0]->quiet;
out:
	return rc;
}

enum dtx_code dtx_bind_form(struct dtx_binder *bd, const struct dtx_expr *e,
                            const struct dtx_fn *fn, const struct dtx_expr *const *at, uint32_t n,
                            struct dtx_bound **out)
{
	if (fn->form == DTX_FORM_BIN)
		return form_bin(bd, e, fn, at, out);
	if (fn->form == DTX_FORM_PLACE)
		return form_place(bd, e, fn, out);
	if (fn->form == DTX_FORM_CAST)
		return form_cast(bd, e, fn, at, n, out);
	return forms[fn->form](bd, e, at, n, out);
}
