/* Calls: arguments against signatures, special forms, aggregates. */
#include "core/expr/aggcall.h"

#include <stdio.h>

#include "core/data/cast.h"
#include "core/data/time.h"

#define T(t) ((struct dtx_typeref){ .type = (t) })

/* --- arguments in signature order --- */

static enum dtx_code bad_arity(struct dtx_binder *bd, const struct dtx_expr *e,
			       const struct dtx_fn *fn, const char *fmt, const char *what)
{
	enum dtx_code rc;
	struct dtx_buf sig = DTX_BUF_INIT(400);

	dtx_fn_signature(fn, &sig);
	rc = dtx_resolve_fail(bd, e, dtx_buf_text(&sig), DTX_E_BAD_ARITY, "%s%s%s", fn->name, fmt,
			   what);
	dtx_buf_clear(&sig);
	return rc;
}

static enum dtx_code wrong_count(struct dtx_binder *bd, const struct dtx_expr *e,
				 const struct dtx_fn *fn, size_t got)
{
	char text[80];
	size_t min, max;

	dtx_fn_arity(fn, &min, &max);
	if (max == SIZE_MAX)
		snprintf(text, sizeof(text), "%zu or more, got %zu", min, got);
	else if (min == max)
		snprintf(text, sizeof(text), "%zu, got %zu", min, got);
	else
		snprintf(text, sizeof(text), "%zu to %zu, got %zu", min, max, got);
	return bad_arity(bd, e, fn, ": arguments expected: ", text);
}

static size_t param_index(const struct dtx_fn *fn, const char *name)
{
	struct dtx_fnparam p;
	size_t i;

	for (i = 0; dtx_fn_param(fn, i, &p) && !p.variadic; i++) {
		if (dtx_str_is(p.name, name))
			return i;
	}
	return SIZE_MAX;
}

/* Puts arguments in their places, missing ones NULL; *n is 0 .. the last one given.  *where is the
 * condition of an aggregate.  *ok is false after a finding. */
static enum dtx_code place_args(struct dtx_binder *bd, const struct dtx_expr *e,
				const struct dtx_fn *fn, const struct dtx_expr ***out, uint32_t *n,
				const struct dtx_expr **where, bool *ok)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_expr **at;
	struct dtx_fnparam p;
	size_t min, max, i, k;
	uint32_t nargs;

	*ok = false;
	*where = dtx_expr_where(e, &nargs);
	if (*where && fn->kind != DTX_FN_AGG)
		return bad_arity(bd, *where, fn, ": 'where:' is for aggregates", "");
	dtx_fn_arity(fn, &min, &max);
	if (nargs > max)
		return wrong_count(bd, e, fn, nargs);
	at = dtx_arena_zalloc(bd->arena, max == SIZE_MAX ? (size_t)nargs + 1 : max + 1, sizeof(*at));
	if (!at)
		DTX_FAIL_MEM(bd->err);
	for (*n = 0, i = 0; i < nargs; i++) {
		const char *name = e->argname ? e->argname[i] : NULL;

		k = name ? param_index(fn, name) : i;
		if (k == SIZE_MAX)
			return bad_arity(bd, e->arg[i], fn, " has no argument ", name);
		if (at[k])
			return bad_arity(bd, e->arg[i], fn, " is given twice: ", name);
		at[k] = e->arg[i];
		*n = DTX_MAX(*n, (uint32_t)k + 1);
	}
	for (i = 0; i < min; i++) {
		if (!at[i] && dtx_fn_param(fn, i, &p) && !p.optional)
			return wrong_count(bd, e, fn, nargs);
	}
	*out = at;
	*ok = true;
out:
	return rc;
}

static enum dtx_code make_default(struct dtx_binder *bd, const struct dtx_expr *e,
				  struct dtx_str text, struct dtx_bound **out)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_expr *lit;

	if (!text.ptr)
		text = DTX_STR("null");
	DTX_TRY(dtx_expr_parse(bd->arena, text, &lit, bd->err));
	memcpy(lit->span, e->span, sizeof(lit->span));
	DTX_TRY(dtx_bind_node(bd, lit, out));
out:
	return rc;
}

/* --- one argument --- */

static enum dtx_code arg_mismatch(struct dtx_binder *bd, const struct dtx_expr *at,
				  const struct dtx_fn *fn, const struct dtx_fnparam *p,
				  const char *want, struct dtx_typeref got)
{
	char text[32];

	return dtx_resolve_fail(bd, at, NULL, DTX_E_TYPE_MISMATCH,
			     "argument '%.*s' of %s wants %s, got %s", (int)p->name.len,
			     p->name.ptr, fn->name, want, dtx_bind_type_text(got, text));
}

/* A date, or text that a date is read from. */
static enum dtx_code bind_date_or_text(struct dtx_binder *bd, const struct dtx_expr *at,
				       struct dtx_bound **out)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_bound *b;
	enum dtx_class cls;

	DTX_TRY(dtx_bind_node(bd, at, &b));
	if (!b)
		return DTX_OK;
	cls = dtx_type_class(b->type.type);
	if (cls == DTX_CLASS_DATE || b->type.type == DTX_T_UNKNOWN || b->type.type == DTX_T_NULL) {
		dtx_resolve_use(bd, b, DTX_DEMAND_VALUE, DTX_CLASS_ANY);
		*out = b;
		return DTX_OK;
	}
	DTX_TRY(dtx_bind_text(bd, at, false, out));
out:
	return rc;
}

static enum dtx_code bind_date(struct dtx_binder *bd, const struct dtx_expr *at,
			       struct dtx_bound **out)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_bound *b;

	if (at->kind == DTX_EX_LIT && at->op == DTX_LIT_TEXT) {
		DTX_TRY(dtx_bind_node(bd, at, &b));
		if (dtx_bind_literal_date(b)) {
			*out = b;
			return DTX_OK;
		}
	}
	DTX_TRY(dtx_bind_class(bd, at, DTX_CLASS_DATE, out));
out:
	return rc;
}

static enum dtx_code bind_class_of(struct dtx_binder *bd, const struct dtx_expr *at, char cls,
				   struct dtx_bound **out)
{
	switch (cls) {
	case 'T': return dtx_bind_text(bd, at, false, out);
	case 'V': return dtx_bind_text(bd, at, true, out);
	case 'I':
	case 'N':
	case 'F': return dtx_bind_class(bd, at, DTX_CLASS_NUMBER, out);
	case 'B': return dtx_bind_class(bd, at, DTX_CLASS_BOOL, out);
	case 'D':
	case 'S': return bind_date(bd, at, out);
	case 'L': return bind_date_or_text(bd, at, out);
	default: return dtx_bind_class(bd, at, DTX_CLASS_ANY, out);
	}
}

/* The type a value of the class is computed with; UNKNOWN: as it is. */
static struct dtx_typeref class_type(char cls, struct dtx_typeref have)
{
	bool null = have.type == DTX_T_NULL;

	switch (cls) {
	case 'T':
	case 'V': return T(DTX_T_TEXT);
	case 'F': return T(DTX_T_FLOAT64);
	case 'S': return T(DTX_T_DATETIME);
	case 'B': return T(DTX_T_BOOL);
	case 'I':
	case 'N': return null ? T(DTX_T_INT64) : have;
	case 'D': return null ? T(DTX_T_DATE) : have;
	case 'L': return null ? T(DTX_T_TEXT) : have;
	default: return T(DTX_T_UNKNOWN);
	}
}

static enum dtx_code bind_arg(struct dtx_binder *bd, const struct dtx_expr *at,
			      const struct dtx_fn *fn, const struct dtx_fnparam *p,
			      struct dtx_bound **out)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_bound *b = NULL;

	*out = NULL;
	DTX_TRY(bind_class_of(bd, at, p->cls, &b));
	if (!b)
		return DTX_OK;
	if (p->cls == 'I' && b->type.type != DTX_T_INT64 && b->type.type != DTX_T_UNKNOWN &&
	    b->type.type != DTX_T_NULL)
		return arg_mismatch(bd, at, fn, p, "an int", b->type);
	DTX_TRY(dtx_bind_widen(bd, &b, class_type(p->cls, b->type)));
	if (p->constant && b->kind != DTX_BD_CONST) {
		DTX_TRY(dtx_resolve_fail(bd, at, "write it as a literal", DTX_E_UNSUPPORTED_PARAM,
				      "argument '%.*s' of %s must be a constant", (int)p->name.len,
				      p->name.ptr, fn->name));
		return DTX_OK;
	}
	*out = b;
out:
	return rc;
}

/* Binds all arguments of a call to b[0..n); missing ones get their default. */
static enum dtx_code bind_args(struct dtx_binder *bd, const struct dtx_expr *e,
			       const struct dtx_fn *fn, const struct dtx_expr *const *at,
			       uint32_t *n, struct dtx_bound ***out, bool *ok)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_bound **b;
	struct dtx_fnparam p;
	uint32_t i, all = *n;

	/* parameters with a default are always there */
	while (dtx_fn_param(fn, all, &p) && !p.variadic && p.def.ptr)
		all++;
	b = dtx_arena_zalloc(bd->arena, (size_t)all + 1, sizeof(struct dtx_bound *));
	if (!b)
		DTX_FAIL_MEM(bd->err);
	for (i = 0; i < all; i++) {
		if (!dtx_fn_param(fn, i, &p))
			break;
		if (i < *n && at[i]) {
			DTX_TRY(bind_arg(bd, at[i], fn, &p, &b[i]));
		} else {
			DTX_TRY(make_default(bd, e, p.def, &b[i]));
			DTX_TRY(dtx_bind_widen(bd, &b[i], class_type(p.cls, b[i]->type)));
		}
		*ok = *ok && b[i];
	}
	*n = all;
	*out = b;
out:
	return rc;
}

/* --- rows --- */

/* All W arguments become one type. */
static enum dtx_code widen_common(struct dtx_binder *bd, const struct dtx_expr *e,
				  const struct dtx_fn *fn, const struct dtx_expr *const *at,
				  struct dtx_bound **b, uint32_t n, struct dtx_typeref *type,
				  bool *ok)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_fnparam p;
	uint32_t i, first = n, last = 0;

	*type = T(DTX_T_NULL);
	for (i = 0; i < n; i++) {
		if (!dtx_fn_param(fn, i, &p) || p.cls != 'W')
			continue;
		first = DTX_MIN(first, i);
		last = i + 1;
	}
	if (first >= last)
		return DTX_OK;
	/* literals of defaults have no tree of their own; they are null */
	DTX_TRY(dtx_bind_literals(bd, at + first, b + first, last - first, ok));
	if (*ok)
		DTX_TRY(dtx_bind_common(bd, e, b + first, last - first, ok, type));
out:
	return rc;
}

static struct dtx_typeref result_type(const struct dtx_fncall *c, struct dtx_typeref common)
{
	switch (c->fn->result[0]) {
	case 'T': return T(DTX_T_TEXT);
	case 'I': return T(DTX_T_INT64);
	case 'F': return T(DTX_T_FLOAT64);
	case 'B': return T(DTX_T_BOOL);
	case 'd': return T(DTX_T_DATE);
	case 's': return T(DTX_T_DATETIME);
	case '0': return c->argtype[0];
	case '1': return c->argtype[1];
	default: return common;
	}
}

/* The constant that preparing a call has found fault with: the first one it takes. */
static const struct dtx_expr *constant_of(const struct dtx_expr *e, const struct dtx_fn *fn)
{
	struct dtx_fnparam p;
	uint32_t i;

	for (i = 0; i < e->nargs && dtx_fn_param(fn, i, &p); i++) {
		if (p.constant && !(e->argname && e->argname[i]))
			return e->arg[i];
	}
	return e;
}

static enum dtx_code make_call(struct dtx_binder *bd, const struct dtx_expr *e,
			       const struct dtx_fn *fn, struct dtx_bound **b, uint32_t n,
			       struct dtx_typeref common, struct dtx_bound **out)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_err found = DTX_ERR_INIT;
	struct dtx_fncall *c = dtx_arena_zalloc(bd->arena, 1, sizeof(*c));
	struct dtx_typeref *types = dtx_arena_zalloc(bd->arena, (size_t)n + 1, sizeof(*types));
	const struct dtx_val **konst = dtx_arena_zalloc(bd->arena, (size_t)n + 1, sizeof(*konst));
	struct dtx_bound *made = dtx_bound_new(bd, e, DTX_BD_CALL, T(DTX_T_UNKNOWN), 0);
	uint32_t i;

	if (!c || !types || !konst || !made)
		DTX_FAIL_MEM(bd->err);
	for (i = 0; i < n; i++) {
		types[i] = b[i]->type;
		konst[i] = b[i]->kind == DTX_BD_CONST ? &b[i]->value : NULL;
	}
	c->fn = fn;
	c->nargs = n;
	c->argtype = types;
	c->konst = konst;
	c->run_date = bd->scope->run_date;
	c->overflow = (uint8_t)bd->scope->overflow;
	c->div_zero_error = bd->scope->div_zero_error;
	if (fn->result)
		c->type = result_type(c, common);
	else if (!fn->type(c, &found))
		return dtx_bind_report(bd, constant_of(e, fn), &found);
	if (fn->prep && fn->prep(bd->arena, c, &found) != DTX_OK)
		return dtx_bind_report(bd, constant_of(e, fn), &found);
	made->call = c;
	made->type = c->type;
	made->arg = b;
	made->nargs = n;
	*out = made;
out:
	return rc;
}

static enum dtx_code bind_row(struct dtx_binder *bd, const struct dtx_expr *e,
			      const struct dtx_fn *fn, const struct dtx_expr *const *at, uint32_t n,
			      struct dtx_bound **out)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_typeref common = T(DTX_T_NULL);
	struct dtx_bound **b = NULL;
	bool ok = true;

	DTX_TRY(bind_args(bd, e, fn, at, &n, &b, &ok));
	if (ok)
		DTX_TRY(widen_common(bd, e, fn, at, b, n, &common, &ok));
	if (!ok)
		return DTX_OK;
	DTX_TRY(make_call(bd, e, fn, b, n, common, out));
	if (*out && fn->form == DTX_FORM_COALESCE) {
		(*out)->kind = DTX_BD_COALESCE;
		(*out)->call = NULL;
	}
out:
	return rc;
}

/* --- forms: trees that say the same --- */

static enum dtx_code tree_node(struct dtx_binder *bd, const struct dtx_expr *e,
			       enum dtx_ekind kind, int op, uint32_t nargs, struct dtx_expr **out)
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

static enum dtx_code tree_two(struct dtx_binder *bd, const struct dtx_expr *e,
			      enum dtx_ekind kind, int op, const struct dtx_expr *a,
			      const struct dtx_expr *b, struct dtx_expr **out)
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
		DTX_TRY(make_default(bd, e, DTX_STR("null"), &b[1]));
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

typedef enum dtx_code form_fn(struct dtx_binder *bd, const struct dtx_expr *e,
			      const struct dtx_expr *const *at, uint32_t n, struct dtx_bound **out);
static form_fn *const forms[] = {
	[DTX_FORM_IF] = form_if,	 [DTX_FORM_NULLIF] = form_nullif,
	[DTX_FORM_SWITCH] = form_switch, [DTX_FORM_DISTINCT] = form_distinct,
	[DTX_FORM_TRY] = form_try,	 [DTX_FORM_RUN_DATE] = form_run_date,
};

/* pow(a, b): a ** b */
static enum dtx_code bind_bin(struct dtx_binder *bd, const struct dtx_expr *e,
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

	spec->to = T((enum dtx_type)fn->detail);
	if (fn->detail == DTX_T_DECIMAL) {
		spec->to.precision = (uint8_t)(p->u.i >= 1 && p->u.i <= 38 ? p->u.i : 0);
		spec->to.scale = (uint8_t)(s->u.i >= 0 && s->u.i <= p->u.i ? s->u.i : 99);
		*ok = !p->null && !s->null && spec->to.precision &&
		      spec->to.scale <= spec->to.precision;
		if (!*ok)
			return dtx_resolve_fail(bd, e, "as in decimal(x, 12, 2)", DTX_E_BAD_LITERAL,
					     "a decimal has 1 to 38 digits, as many or fewer "
					     "behind the point");
	} else if (p && !p->null) {
		spec->format = p->u.s.ptr;
		*ok = dtx_time_format_ok(p->u.s);
		if (!*ok)
			return dtx_resolve_fail(bd, e->arg[1], "as in '%d.%m.%Y'", DTX_E_BAD_FORMAT,
					     "'%.60s' is no date format", spec->format);
	}
	return DTX_OK;
}

static enum dtx_code bind_cast(struct dtx_binder *bd, const struct dtx_expr *e,
			       const struct dtx_fn *fn, const struct dtx_expr *const *at, uint32_t n,
			       struct dtx_bound **out)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_cast_spec *spec = dtx_arena_zalloc(bd->arena, 1, sizeof(*spec));
	struct dtx_bound **b = NULL;
	char from[32], to[32];
	bool ok = true;

	if (!spec)
		DTX_FAIL_MEM(bd->err);
	DTX_TRY(bind_args(bd, e, fn, at, &n, &b, &ok));
	if (ok)
		DTX_TRY(cast_spec(bd, e, fn, b, n, spec, &ok));
	if (!ok)
		return DTX_OK;
	if (!dtx_cast_possible(b[0]->type.type, spec->to.type))
		return dtx_resolve_fail(bd, at[0], NULL, DTX_E_TYPE_MISMATCH,
				     "%s cannot be made from %s",
				     dtx_bind_type_text(spec->to, to),
				     dtx_bind_type_text(b[0]->type, from));
	/* nothing to convert: not even a note of a failure */
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

/* --- aggregates --- */

static enum dtx_code agg_allowed(struct dtx_binder *bd, const struct dtx_expr *e, bool *ok)
{
	*ok = false;
	if (bd->in_agg)
		return dtx_resolve_fail(bd, e, "compute the inner one in a step before",
				     DTX_E_NESTED_AGGREGATE,
				     "%s() stands inside another aggregate", e->name);
	if (!(bd->scope->allow & DTX_ALLOW_AGG))
		return dtx_resolve_fail(bd, e, "use it in group_by",
				     DTX_E_AGGREGATE_NOT_ALLOWED,
				     "aggregate %s() is not allowed here", e->name);
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
	if (c->kind != DTX_AGG_QUANTILE)
		return DTX_OK;
	c->p = b[1]->value.null ? -1 : b[1]->value.u.f;
	if (c->p >= 0 && c->p <= 1)
		return DTX_OK;
	*ok = false;
	return dtx_resolve_fail(bd, e->arg[1], NULL, DTX_E_BAD_LITERAL,
			     "a quantile lies between 0 and 1");
}

static enum dtx_code agg_make(struct dtx_binder *bd, const struct dtx_expr *e,
			      const struct dtx_fn *fn, const struct dtx_expr *const *at, uint32_t n,
			      const struct dtx_expr *where, struct dtx_aggcall **out)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_aggcall *c = dtx_arena_zalloc(bd->arena, 1, sizeof(*c));
	struct dtx_bound **b = NULL;
	char text[32];
	bool ok = true;

	if (!c)
		DTX_FAIL_MEM(bd->err);
	DTX_TRY(bind_args(bd, e, fn, at, &n, &b, &ok));
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
	c->overflow = (uint8_t)bd->scope->overflow;
	DTX_TRY(agg_constants(bd, e, c, b, n, &ok));
	if (ok && !dtx_agg_pick(c))
		return dtx_resolve_fail(bd, at[0], NULL, DTX_E_TYPE_MISMATCH, "no %s() of %s",
				     fn->name, dtx_bind_type_text(c->argtype, text));
	*out = ok ? c : NULL;
out:
	return rc;
}

static enum dtx_code agg_append(struct dtx_binder *bd, struct dtx_aggcall *c)
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
	size_t i;

	DTX_TRY(agg_allowed(bd, e, &ok));
	if (!ok)
		return DTX_OK;
	DTX_TRY(place_args(bd, e, fn, &at, &n, &where, &ok));
	if (!ok)
		return DTX_OK;
	for (i = 0; i < bd->aggs->n && !dtx_expr_equal(bd->aggs->call[i]->expr, e); i++)
		;
	if (i == bd->aggs->n) {
		bd->in_agg = true;
		rc = agg_make(bd, e, fn, at, n, where, &c);
		bd->in_agg = false;
		if (rc != DTX_OK || !c)
			return rc;
		DTX_TRY(agg_append(bd, c));
	}
	*out = dtx_bound_new(bd, e, DTX_BD_COL, bd->aggs->call[i]->type, 0);
	if (!*out)
		DTX_FAIL_MEM(bd->err);
	(*out)->column = (int32_t)(bd->scope->nkeys + i);
	(*out)->quiet = true;
out:
	return rc;
}

/* --- any call --- */

static enum dtx_code unknown_function(struct dtx_binder *bd, const struct dtx_expr *e)
{
	struct dtx_err found = DTX_ERR_INIT;

	if (dtx_fn_is_planned(e->name)) {
		dtx_err_set(&found, DTX_E_UNKNOWN_FUNCTION, __FILE__, __LINE__,
			    "this build lacks the function %s()", e->name);
	} else {
		dtx_err_set(&found, DTX_E_UNKNOWN_FUNCTION, __FILE__, __LINE__,
			    "no function %s()", e->name);
		dtx_fn_suggest(e->name, &found);
	}
	dtx_err_hint(&found, "a snippet can do what this build lacks");
	return dtx_bind_report(bd, e, &found);
}

static enum dtx_code window_call(struct dtx_binder *bd, const struct dtx_expr *e)
{
	if (bd->scope->allow & DTX_ALLOW_WINDOW)
		return dtx_resolve_fail(bd, e, NULL, DTX_E_UNSUPPORTED_PARAM,
				     "window function %s() is not built yet", e->name);
	return dtx_resolve_fail(bd, e, "use it in window", DTX_E_WINDOW_NOT_ALLOWED,
			     "window function %s() is not allowed here", e->name);
}

enum dtx_code dtx_bind_call(struct dtx_binder *bd, const struct dtx_expr *e,
			    struct dtx_bound **out)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_expr **at = NULL, *where;
	const struct dtx_fn *fn;
	uint32_t n;
	bool ok;

	(void)dtx_expr_where(e, &n);
	fn = dtx_fn_find(dtx_str_of(e->name), n);
	if (!fn)
		return unknown_function(bd, e);
	if (fn->kind == DTX_FN_WINDOW)
		return window_call(bd, e);
	if (fn->kind == DTX_FN_AGG)
		return dtx_resolve_agg(bd, e, fn, out);
	DTX_TRY(place_args(bd, e, fn, &at, &n, &where, &ok));
	if (!ok)
		return DTX_OK;
	if (fn->form == DTX_FORM_ROW || fn->form == DTX_FORM_COALESCE)
		DTX_TRY(bind_row(bd, e, fn, at, n, out));
	else if (fn->form == DTX_FORM_BIN)
		DTX_TRY(bind_bin(bd, e, fn, at, out));
	else if (fn->form == DTX_FORM_CAST)
		DTX_TRY(bind_cast(bd, e, fn, at, n, out));
	else
		DTX_TRY(forms[fn->form](bd, e, at, n, out));
out:
	return rc;
}
