/* Calls of functions: matches arguments to the signature and binds them. */
#include "core/expr/bound.h"

#include <stdio.h>

#define T(t) ((struct dtx_typeref){ .type = (t) })

/* --- arguments in the order of the signature --- */

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
		snprintf(text, sizeof(text), "%zu or more arguments, got %zu", min, got);
	else if (min == max)
		snprintf(text, sizeof(text), "%zu argument%s, got %zu", min, min == 1 ? "" : "s",
		         got);
	else
		snprintf(text, sizeof(text), "%zu to %zu arguments, got %zu", min, max, got);
	return bad_arity(bd, e, fn, "() takes ", text);
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

/* Sorts the arguments into their places; those that are missing are NULL.  *n is one more than the
 * last place that is filled.  *where is the condition of an aggregate.  *ok is false after a
 * finding. */
enum dtx_code dtx_bind_place(struct dtx_binder *bd, const struct dtx_expr *e,
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
	at = dtx_arena_zalloc(bd->arena, max == SIZE_MAX ? (size_t)nargs + 1 : max + 1,
	                      sizeof(*at));
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

enum dtx_code dtx_bind_default(struct dtx_binder *bd, const struct dtx_expr *e, struct dtx_str text,
                               struct dtx_bound **out)
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
	                        "argument '%.*s' of %s must be %s, got %s", (int)p->name.len,
	                        p->name.ptr, fn->name, want, dtx_bind_type_text(got, text));
}

/* A date, or a text from which a date is read. */
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

/* The type in which a value of the class is computed.  UNKNOWN: it stays as it is. */
static struct dtx_typeref class_type(char cls, struct dtx_typeref have)
{
	bool null = have.type == DTX_T_NULL;

	switch (cls) {
	case 'T':
	case 'V': return T(DTX_T_TEXT);
	case 'F': return T(DTX_T_FLOAT64);
	case 'S': return have.type == DTX_T_DATETIME ? have : T(DTX_T_DATETIME);
	case 'B': return T(DTX_T_BOOL);
	case 'I':
	case 'N': return null ? T(DTX_T_INT64) : have;
	case 'D': return null ? T(DTX_T_DATE) : have;
	case 'L': return null ? T(DTX_T_TEXT) : have;
	default: return T(DTX_T_UNKNOWN);
	}
}

static void hint_signature(const struct dtx_fn *fn, struct dtx_err *found)
{
	struct dtx_buf sig = DTX_BUF_INIT(200);

	dtx_fn_signature(fn, &sig);
	dtx_err_hint(found, "%s", dtx_buf_text(&sig));
	dtx_buf_clear(&sig);
}

/* Whether a text was given where a date or a number is needed.  In most cases the arguments are in
 * the wrong order. */
static bool is_other_kind(const struct dtx_expr *at, const struct dtx_fnparam *p)
{
	return at->kind == DTX_EX_LIT && at->op == DTX_LIT_TEXT && strchr("INFBDS", p->cls);
}

static enum dtx_code bind_arg(struct dtx_binder *bd, const struct dtx_expr *at,
                              const struct dtx_fn *fn, const struct dtx_fnparam *p,
                              struct dtx_bound **out)
{
	enum dtx_code rc = DTX_OK;
	size_t before = bd->errs->n;
	struct dtx_bound *b = NULL;

	*out = NULL;
	DTX_TRY(bind_class_of(bd, at, p->cls, &b));
	if (!b && before < bd->errs->n && is_other_kind(at, p))
		hint_signature(fn, &bd->errs->item[bd->errs->n - 1]);
	if (!b)
		return DTX_OK;
	if (p->cls == 'I' && b->type.type != DTX_T_INT64 && b->type.type != DTX_T_UNKNOWN &&
	    b->type.type != DTX_T_NULL)
		return arg_mismatch(bd, at, fn, p, "an int", b->type);
	DTX_TRY(dtx_bind_widen(bd, &b, class_type(p->cls, b->type)));
	if (p->constant && b->kind != DTX_BD_CONST) {
		DTX_TRY(dtx_resolve_fail(bd, at, "write it as a literal", DTX_E_UNSUPPORTED_PARAM,
		                         "argument '%.*s' of %s must be a constant",
		                         (int)p->name.len, p->name.ptr, fn->name));
		return DTX_OK;
	}
	*out = b;
out:
	return rc;
}

/* Binds all arguments of a call to b[0..n).  Missing ones get their default. */
enum dtx_code dtx_bind_args(struct dtx_binder *bd, const struct dtx_expr *e,
                            const struct dtx_fn *fn, const struct dtx_expr *const *at, uint32_t *n,
                            struct dtx_bound ***out, bool *ok)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_bound **b;
	struct dtx_fnparam p;
	uint32_t i, all = *n;

	/* parameters with a default always have a value */
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
			DTX_TRY(dtx_bind_default(bd, e, p.def, &b[i]));
			DTX_TRY(dtx_bind_widen(bd, &b[i], class_type(p.cls, b[i]->type)));
		}
		*ok = *ok && b[i];
	}
	*n = all;
	*out = b;
out:
	return rc;
}

/* --- calls that are computed row by row --- */

/* Widens all W arguments to one type. */
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
	/* Defaults have no tree of their own (NULL), so they count as literals without one. */
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

/* The argument that an error of `prep` is about: the first positional one that must be a
 * constant. */
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

	DTX_TRY(dtx_bind_args(bd, e, fn, at, &n, &b, &ok));
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

/* --- any call --- */

static enum dtx_code unknown_function(struct dtx_binder *bd, const struct dtx_expr *e)
{
	struct dtx_err found = DTX_ERR_INIT;

	dtx_err_set(&found, DTX_E_UNKNOWN_FUNCTION, __FILE__, __LINE__, "no function %s()",
	            e->name);
	dtx_fn_suggest(e->name, &found);
	if (!found.hint[0])
		dtx_err_hint(&found, "dtx ops --functions lists them%s",
		             found.misnamed ? "" : "; what dtx lacks, only a snippet can do");
	return dtx_bind_report(bd, e, &found);
}

enum dtx_code dtx_bind_call(struct dtx_binder *bd, const struct dtx_expr *e, struct dtx_bound **out)
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
		return dtx_resolve_window(bd, e, fn, out);
	if (fn->kind == DTX_FN_AGG)
		return dtx_resolve_agg(bd, e, fn, out);
	DTX_TRY(dtx_bind_place(bd, e, fn, &at, &n, &where, &ok));
	if (!ok)
		return DTX_OK;
	if (fn->form == DTX_FORM_ROW || fn->form == DTX_FORM_COALESCE)
		DTX_TRY(bind_row(bd, e, fn, at, n, out));
	else
		DTX_TRY(dtx_bind_form(bd, e, fn, at, n, out));
out:
	return rc;
}
