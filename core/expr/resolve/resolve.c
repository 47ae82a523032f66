/* Resolves names and types: makes a bound tree from a parsed tree and reports all independent
 * findings in one pass. */
#include "core/expr/bound.h"

#include <stdarg.h>
#include <stdio.h>

#define T(t) ((struct dtx_typeref){ .type = (t) })

const char *dtx_bind_type_text(struct dtx_typeref t, char out[32])
{
	if (t.type == DTX_T_DECIMAL)
		snprintf(out, 32, "decimal(%u,%u)", t.precision, t.scale);
	else
		snprintf(out, 32, "%s", dtx_type_name(t.type));
	return out;
}

/* Whether the finding was reported already.  Some operands are bound twice, but a finding must be
 * reported once. */
static bool is_reported(const struct dtx_binder *bd, const struct dtx_err *found)
{
	size_t i = bd->errs->n > bd->nerrs ? bd->errs->n - bd->nerrs : 0;

	for (; i < bd->errs->n; i++) {
		const struct dtx_err *e = &bd->errs->item[i];

		if (e->code == found->code && e->span[0] == found->span[0] &&
		    e->span[1] == found->span[1] && !strcmp(e->msg, found->msg))
			return true;
	}
	return false;
}

/* Names the column that is text where another type is needed: the expression itself, or an operand
 * of it. */
static void name_text(struct dtx_binder *bd, const struct dtx_expr *e, struct dtx_err *found)
{
	struct dtx_err quiet = DTX_ERR_INIT;
	struct dtx_field field = { 0 };

	for (uint32_t i = 0; e->kind != DTX_EX_COL && i < e->nargs && !found->column[0]; i++)
		if (e->arg[i] && e->arg[i]->kind == DTX_EX_COL)
			name_text(bd, e->arg[i], found);
	if (e->kind != DTX_EX_COL || e->table ||
	    bd->scope->column(bd->scope->arg, e->name, &field, &quiet) < 0 ||
	    field.type.type != DTX_T_TEXT)
		goto out;
	dtx_err_row(found, -1, e->name);
out:
	dtx_err_clear(&quiet);
}

/* A text in ", which in SQL would be the name of a column: e, or an operand of it.  NULL: there is
 * none. */
static const struct dtx_expr *quoted_name(const struct dtx_expr *e)
{
	uint32_t i;

	if (e->kind == DTX_EX_LIT && e->double_quoted)
		return e;
	for (i = 0; i < e->nargs; i++) {
		if (e->arg[i] && e->arg[i]->kind == DTX_EX_LIT && e->arg[i]->double_quoted)
			return e->arg[i];
	}
	return NULL;
}

static void hint_quoted(const struct dtx_expr *e, struct dtx_err *found)
{
	const struct dtx_expr *quoted = quoted_name(e);

	if (quoted)
		dtx_err_hint(found, "\"%.*s\" is a text; a column of that name is `%.*s`",
		             (int)DTX_MIN(quoted->text.len, (size_t)60), quoted->text.ptr,
		             (int)DTX_MIN(quoted->text.len, (size_t)60), quoted->text.ptr);
}

enum dtx_code dtx_bind_report(struct dtx_binder *bd, const struct dtx_expr *e,
                              struct dtx_err *found)
{
	enum dtx_code rc = DTX_OK;
	bool memory = found->code == DTX_E_NO_MEMORY;

	dtx_err_span(found, e->span[0], e->span[1]);
	if (found->code == DTX_E_TYPE_MISMATCH || found->code == DTX_E_NOT_BOOLEAN)
		name_text(bd, e, found);
	if (found->code == DTX_E_TYPE_MISMATCH || found->code == DTX_E_NOT_BOOLEAN)
		hint_quoted(e, found);
	if (is_reported(bd, found)) {
		dtx_err_clear(found);
		return DTX_OK;
	}
	found->severity = dtx_err_severity(found, false);
	bd->nerrs++;
	if (memory || !dtx_errlist_take(bd->errs, found)) {
		dtx_err_clear(found);
		DTX_FAIL_MEM(bd->err);
	}
out:
	return rc;
}

enum dtx_code dtx_resolve_fail(struct dtx_binder *bd, const struct dtx_expr *e, const char *hint,
                               enum dtx_code code, const char *fmt, ...)
{
	struct dtx_err found = DTX_ERR_INIT;
	char text[sizeof(found.msg)];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	dtx_err_set(&found, code, __FILE__, __LINE__, "%s", text);
	if (hint)
		dtx_err_hint(&found, "%s", hint);
	return dtx_bind_report(bd, e, &found);
}

struct dtx_bound *dtx_bound_new(struct dtx_binder *bd, const struct dtx_expr *e,
                                enum dtx_bkind kind, struct dtx_typeref type, uint32_t nargs)
{
	struct dtx_bound *b = dtx_arena_zalloc(bd->arena, 1, sizeof(*b));

	if (!b)
		return NULL;
	b->kind = kind;
	b->type = type;
	b->column = -1;
	b->nargs = nargs;
	b->overflow = (uint8_t)bd->scope->overflow;
	b->div_zero_error = bd->scope->div_zero_error;
	memcpy(b->span, e->span, sizeof(b->span));
	if (nargs) {
		b->arg = dtx_arena_zalloc(bd->arena, nargs, sizeof(*b->arg));
		if (!b->arg)
			return NULL;
	}
	return b;
}

struct dtx_bound *dtx_bound_two(struct dtx_binder *bd, const struct dtx_expr *e,
                                enum dtx_bkind kind, struct dtx_typeref type, struct dtx_bound *a,
                                struct dtx_bound *b)
{
	struct dtx_bound *made = dtx_bound_new(bd, e, kind, type, b ? 2 : 1);

	if (!made)
		return NULL;
	made->arg[0] = a;
	if (b)
		made->arg[1] = b;
	made->quiet = a->quiet && (!b || b->quiet);
	return made;
}

/* --- constants --- */

/* Copies a value so that it outlives the batch on which it was computed. */
static enum dtx_code val_keep(struct dtx_binder *bd, struct dtx_typeref type, struct dtx_val *v)
{
	enum dtx_code rc = DTX_OK;

	if (!v->null && type.type == DTX_T_TEXT) {
		v->u.s.ptr = dtx_arena_strndup(bd->arena, v->u.s.ptr, v->u.s.len);
		if (!v->u.s.ptr)
			DTX_FAIL_MEM(bd->err);
	}
out:
	return rc;
}

static bool foldable(const struct dtx_bound *b)
{
	uint32_t i;

	if (b->kind == DTX_BD_CONST || b->kind == DTX_BD_PLACE || b->type.type == DTX_T_UNKNOWN)
		return false;
	if (b->kind == DTX_BD_IN && !b->set)
		return false;
	if (b->call && (b->call->fn->flags & DTX_FN_NOFOLD))
		return false;
	for (i = 0; i < b->nargs; i++) {
		if (b->arg[i]->kind != DTX_BD_CONST)
			return false;
	}
	return b->column < 0;
}

/* Replaces a node by its value if its operands are constants.  If computing it fails, the node
 * stays. */
static enum dtx_code fold_constant(struct dtx_binder *bd, struct dtx_bound *b)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_batch one = { .nrows = 1, .nsel = 1 };
	struct dtx_eval_counts counts = { 0 };
	struct dtx_err quiet = DTX_ERR_INIT;
	struct dtx_column *c = NULL;

	if (!foldable(b))
		return DTX_OK;
	rc = dtx_eval(b, &one, &c, &counts, &quiet);
	if (rc == DTX_E_NO_MEMORY)
		DTX_FAIL_MEM(bd->err);
	/* A computation that fails or is counted must do so for each row, so it is not replaced by
	 * a constant. */
	if (rc != DTX_OK || counts.div_zero || counts.not_finite || counts.tried ||
	    counts.offsets) {
		rc = DTX_OK;
		goto out;
	}
	dtx_val_get(c, 0, &b->value);
	DTX_TRY(val_keep(bd, b->type, &b->value));
	b->kind = DTX_BD_CONST;
	b->nargs = 0;
	b->quiet = true;
out:
	dtx_err_clear(&quiet);
	dtx_column_unref(c);
	return rc;
}

enum dtx_code dtx_bind_widen(struct dtx_binder *bd, struct dtx_bound **io, struct dtx_typeref to)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_bound *from = *io, *b;
	struct dtx_expr at;

	if (to.type == DTX_T_UNKNOWN || from->type.type == DTX_T_UNKNOWN ||
	    (from->type.type == to.type &&
	     (to.type != DTX_T_DECIMAL || from->type.scale == to.scale) &&
	     (!dtx_type_is_utc(to) || dtx_type_is_utc(from->type))))
		return DTX_OK;
	memcpy(at.span, from->span, sizeof(at.span));
	b = dtx_bound_two(bd, &at, DTX_BD_WIDEN, to, from, NULL);
	if (!b)
		DTX_FAIL_MEM(bd->err);
	/* a decimal may be too small for the digits */
	b->quiet = from->quiet && to.type != DTX_T_DECIMAL;
	DTX_TRY(fold_constant(bd, b));
	*io = b;
out:
	return rc;
}

/* --- columns --- */

void dtx_resolve_use(struct dtx_binder *bd, const struct dtx_bound *b, enum dtx_demand demand,
                     enum dtx_class cls)
{
	if (bd->scope->use && (b->kind == DTX_BD_COL || b->kind == DTX_BD_SOURCE) &&
	    (bd->in_agg || !bd->scope->grouped))
		bd->scope->use(bd->scope->arg, b->column, demand, cls);
}

static int32_t key_index(const struct dtx_scope *sc, const char *name)
{
	size_t i;

	for (i = 0; i < sc->nkeys; i++) {
		if (!strcmp(sc->keys[i].name, name))
			return (int32_t)i;
	}
	return -1;
}

/* Adds a hint if the name of an aggregate, or of a function without arguments, is written as a
 * column: count for count(). */
static void hint_call(const char *name, struct dtx_err *f)
{
	const struct dtx_fn *fn = dtx_fn_find(dtx_str_of(name), 0);
	char columns[sizeof(f->hint)];
	size_t min, max;

	if (!fn && !dtx_fn_may_be_agg(dtx_str_of(name), 1))
		return;
	fn = fn ? fn : dtx_fn_find(dtx_str_of(name), 1);
	if (!fn)
		return;
	dtx_fn_arity(fn, &min, &max);
	dtx_str_copy(columns, sizeof(columns), dtx_str_of(f->more ? f->hint : ""));
	dtx_err_hint(f, "%s is a function: write %s%s%s%.200s", name, name, min ? "(column)" : "()",
	             columns[0] ? "; " : "", columns);
}

/* Adds a hint if the name is a value that a column is compared with: city == Berlin. */
static void hint_value(const struct dtx_binder *bd, const struct dtx_expr *e, struct dtx_err *f)
{
	const struct dtx_expr *by = bd->comparison;
	char columns[sizeof(f->hint)];
	bool is_value = false;

	if (!by || by->arg[0]->kind != DTX_EX_COL || strchr(e->name, '\''))
		return;
	for (uint32_t i = 1; i < by->nargs; i++)
		is_value = is_value || by->arg[i] == e;
	if (!is_value)
		return;
	dtx_str_copy(columns, sizeof(columns), dtx_str_of(f->hint));
	dtx_err_hint(f, "a text is written in quotes: '%.60s'%s%.200s", e->name,
	             columns[0] ? "; " : "", columns);
}

static enum dtx_code bind_column(struct dtx_binder *bd, const struct dtx_expr *e,
                                 struct dtx_bound **out)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_err found = DTX_ERR_INIT;
	struct dtx_field field = { 0 };
	struct dtx_bound *b;
	bool grouped = bd->scope->grouped && !bd->in_agg;
	int32_t key = grouped ? key_index(bd->scope, e->name) : -1, index = key;

	if (e->table) {
		dtx_err_set(&found, DTX_E_UNKNOWN_COLUMN, __FILE__, __LINE__,
		            "no column '%s.%s' here: there is one table", e->table, e->name);
		dtx_err_hint(&found,
		             "a column whose name has the point is written `%.100s.%.100s`; else "
		             "write %.60s alone",
		             e->table, e->name, e->name);
		return dtx_bind_report(bd, e, &found);
	}
	/* A computed key may have the name of an input column, but another type. */
	if (key >= 0)
		field = bd->scope->keys[key];
	else
		index = bd->scope->column(bd->scope->arg, e->name, &field, &found);
	if (index >= 0 && grouped && key < 0) {
		dtx_err_set(&found, DTX_E_AGGREGATE_REQUIRED, __FILE__, __LINE__,
		            "column '%s' is neither a key nor in an aggregate", e->name);
		dtx_err_hint(&found, "put it into an aggregate such as first(), or add it to the "
		                     "keys; only the next step can use a result of this one");
	}
	if (found.code != DTX_OK) {
		if (!found.did_you_mean[0][0] && found.code != DTX_E_AGGREGATE_REQUIRED)
			hint_value(bd, e, &found);
		if (!found.did_you_mean[0][0])
			hint_call(e->name, &found);
		return dtx_bind_report(bd, e, &found);
	}
	field.source = field.source && !grouped;
	b = dtx_bound_new(bd, e, DTX_BD_COL, field.type, 0);
	if (!b)
		DTX_FAIL_MEM(bd->err);
	b->column = index;
	b->source = field.source;
	b->declared = field.declared;
	b->quiet = true;
	*out = b;
out:
	return rc;
}

/* --- classes --- */

static const char *class_name(enum dtx_class cls)
{
	switch (cls) {
	case DTX_CLASS_NUMBER: return "a number";
	case DTX_CLASS_TEXT: return "text";
	case DTX_CLASS_BOOL: return "a bool";
	case DTX_CLASS_DATE: return "a date";
	case DTX_CLASS_ANY: break;
	}
	return "a value";
}

static enum dtx_code check_class(struct dtx_binder *bd, const struct dtx_expr *e,
                                 enum dtx_class cls, struct dtx_bound **io)
{
	enum dtx_type type = (*io)->type.type;
	char text[32];

	if (cls == DTX_CLASS_ANY || type == DTX_T_UNKNOWN || type == DTX_T_NULL ||
	    (dtx_type_class(type) & cls))
		return DTX_OK;
	dtx_bind_type_text((*io)->type, text);
	*io = NULL;
	if (cls == DTX_CLASS_BOOL)
		return dtx_resolve_fail(
			bd, e,
			type == DTX_T_TEXT ? "compare it, as in x == 'a'; concat(a, b) joins texts"
					   : "compare it, as in x > 0",
			DTX_E_NOT_BOOLEAN, "a condition must be bool, this is %s", text);
	return dtx_resolve_fail(bd, e,
	                        cls == DTX_CLASS_TEXT
	                                ? "text(x) makes text of a computed value"
	                                : "cast it first, with int(), float() or date()",
	                        DTX_E_TYPE_MISMATCH, "expected %s, got %s", class_name(cls), text);
}

enum dtx_code dtx_bind_class(struct dtx_binder *bd, const struct dtx_expr *e, enum dtx_class cls,
                             struct dtx_bound **out)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_bound *b = NULL;

	*out = NULL;
	DTX_TRY(dtx_bind_node(bd, e, &b));
	if (!b)
		return DTX_OK;
	DTX_TRY(check_class(bd, e, cls, &b));
	if (b)
		dtx_resolve_use(bd, b, DTX_DEMAND_VALUE, cls);
	*out = b;
out:
	return rc;
}

enum dtx_code dtx_bind_text(struct dtx_binder *bd, const struct dtx_expr *e, bool any,
                            struct dtx_bound **out)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_bound *b = NULL;
	enum dtx_type type;

	*out = NULL;
	DTX_TRY(dtx_bind_node(bd, e, &b));
	if (!b)
		return DTX_OK;
	type = b->type.type;
	if (b->kind == DTX_BD_COL && type != DTX_T_TEXT && type != DTX_T_NULL &&
	    (b->source || type == DTX_T_UNKNOWN)) {
		b->kind = DTX_BD_SOURCE;
		b->type = T(DTX_T_TEXT);
		dtx_resolve_use(bd, b, DTX_DEMAND_BYTES, any ? DTX_CLASS_ANY : DTX_CLASS_TEXT);
	} else {
		if (!any)
			DTX_TRY(check_class(bd, e, DTX_CLASS_TEXT, &b));
		if (b)
			dtx_resolve_use(bd, b, DTX_DEMAND_VALUE,
			                any ? DTX_CLASS_ANY : DTX_CLASS_TEXT);
	}
	*out = b;
out:
	return rc;
}

/* --- logic, null tests, branches --- */

static enum dtx_code bind_logic(struct dtx_binder *bd, const struct dtx_expr *e,
                                struct dtx_bound **out)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_bound *a, *b = NULL;
	enum dtx_bkind kind = e->kind == DTX_EX_AND  ? DTX_BD_AND
	                      : e->kind == DTX_EX_OR ? DTX_BD_OR
	                                             : DTX_BD_NOT;

	DTX_TRY(dtx_bind_class(bd, e->arg[0], DTX_CLASS_BOOL, &a));
	if (e->nargs > 1)
		DTX_TRY(dtx_bind_class(bd, e->arg[1], DTX_CLASS_BOOL, &b));
	if (!a || (e->nargs > 1 && !b))
		return DTX_OK;
	DTX_TRY(dtx_bind_widen(bd, &a, T(DTX_T_BOOL)));
	if (b)
		DTX_TRY(dtx_bind_widen(bd, &b, T(DTX_T_BOOL)));
	*out = dtx_bound_two(bd, e, kind, T(DTX_T_BOOL), a, b);
	if (!*out)
		DTX_FAIL_MEM(bd->err);
out:
	return rc;
}

static enum dtx_code bind_isnull(struct dtx_binder *bd, const struct dtx_expr *e,
                                 struct dtx_bound **out)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_bound *a;

	DTX_TRY(dtx_bind_class(bd, e->arg[0], DTX_CLASS_ANY, &a));
	if (!a)
		return DTX_OK;
	*out = dtx_bound_two(bd, e, DTX_BD_ISNULL, T(DTX_T_BOOL), a, NULL);
	if (!*out)
		DTX_FAIL_MEM(bd->err);
out:
	return rc;
}

/* x between a and b: x >= a and x <= b */
static enum dtx_code bind_between(struct dtx_binder *bd, const struct dtx_expr *e,
                                  struct dtx_bound **out)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_bound *low = NULL, *high = NULL;

	DTX_TRY(dtx_bind_cmp(bd, e, e->arg[0], e->arg[1], DTX_CMP_GE, DTX_BD_CMP, &low));
	DTX_TRY(dtx_bind_cmp(bd, e, e->arg[0], e->arg[2], DTX_CMP_LE, DTX_BD_CMP, &high));
	if (!low || !high)
		return DTX_OK;
	*out = dtx_bound_two(bd, e, DTX_BD_AND, T(DTX_T_BOOL), low, high);
	if (!*out)
		DTX_FAIL_MEM(bd->err);
out:
	return rc;
}

static enum dtx_code bind_case(struct dtx_binder *bd, const struct dtx_expr *e,
                               struct dtx_bound **out)
{
	enum dtx_code rc = DTX_OK;
	uint32_t i, n = e->nargs, nvalues = n / 2 + (n & 1);
	struct dtx_bound *b = dtx_bound_new(bd, e, DTX_BD_CASE, T(DTX_T_NULL), n);
	struct dtx_bound **value = dtx_arena_zalloc(bd->arena, nvalues, sizeof(struct dtx_bound *));
	const struct dtx_expr **at = dtx_arena_zalloc(bd->arena, nvalues, sizeof(*at));
	bool ok = true;

	if (!b || !value || !at)
		DTX_FAIL_MEM(bd->err);
	b->quiet = true;
	for (i = 0; i < n; i++) {
		bool cond = i + 1 < n && !(i & 1);

		DTX_TRY(dtx_bind_class(bd, e->arg[i], cond ? DTX_CLASS_BOOL : DTX_CLASS_ANY,
		                       &b->arg[i]));
		ok = ok && b->arg[i];
		if (ok && cond)
			DTX_TRY(dtx_bind_widen(bd, &b->arg[i], T(DTX_T_BOOL)));
		if (!cond) {
			value[i / 2] = b->arg[i];
			at[i / 2] = e->arg[i];
		}
		b->quiet = b->quiet && ok && b->arg[i]->quiet;
	}
	if (ok)
		DTX_TRY(dtx_bind_literals(bd, at, value, nvalues, &ok));
	if (ok)
		DTX_TRY(dtx_bind_common(bd, e, value, nvalues, &ok, &b->type));
	for (i = 0; i < n; i++) {
		if (!(i + 1 < n && !(i & 1)))
			b->arg[i] = value[i / 2];
	}
	*out = ok ? b : NULL;
out:
	return rc;
}

/* --- the tree --- */

enum dtx_code dtx_bind_node(struct dtx_binder *bd, const struct dtx_expr *e, struct dtx_bound **out)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_expr *outer = bd->comparison;

	*out = NULL;
	if (e->kind == DTX_EX_CMP || e->kind == DTX_EX_IN)
		bd->comparison = e;
	switch (e->kind) {
	case DTX_EX_LIT: DTX_TRY(dtx_bind_literal(bd, e, out)); break;
	case DTX_EX_COL: DTX_TRY(bind_column(bd, e, out)); break;
	case DTX_EX_CALL: DTX_TRY(dtx_bind_call(bd, e, out)); break;
	case DTX_EX_NEG:
	case DTX_EX_BIN: DTX_TRY(dtx_bind_arith(bd, e, out)); break;
	case DTX_EX_CMP:
		DTX_TRY(dtx_bind_cmp(bd, e, e->arg[0], e->arg[1], e->op, DTX_BD_CMP, out));
		break;
	case DTX_EX_AND:
	case DTX_EX_OR:
	case DTX_EX_NOT: DTX_TRY(bind_logic(bd, e, out)); break;
	case DTX_EX_IN: DTX_TRY(dtx_bind_in(bd, e, out)); break;
	case DTX_EX_BETWEEN: DTX_TRY(bind_between(bd, e, out)); break;
	case DTX_EX_ISNULL: DTX_TRY(bind_isnull(bd, e, out)); break;
	case DTX_EX_CASE: DTX_TRY(bind_case(bd, e, out)); break;
	}
	if (*out)
		DTX_TRY(fold_constant(bd, *out));
out:
	bd->comparison = outer;
	return rc;
}

enum dtx_code dtx_expr_bind(struct dtx_arena *a, const struct dtx_expr *e,
                            const struct dtx_scope *scope, struct dtx_typeref want,
                            struct dtx_aggcalls *aggs, struct dtx_bound **out,
                            struct dtx_errlist *errs, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_binder bd = {
		.arena = a, .scope = scope, .aggs = aggs, .errs = errs, .err = err
	};
	struct dtx_typeref wide;
	struct dtx_bound *b = NULL;
	char got[32], wanted[32];

	*out = NULL;
	DTX_TRY(dtx_bind_class(&bd, e, want.type == DTX_T_BOOL ? DTX_CLASS_BOOL : DTX_CLASS_ANY,
	                       &b));
	if (!b)
		return DTX_OK;
	if (want.type != DTX_T_UNKNOWN && b->type.type != DTX_T_UNKNOWN) {
		if (!dtx_type_widen(b->type, want, &wide) || wide.type != want.type)
			return dtx_resolve_fail(
				&bd, e, NULL, DTX_E_TYPE_MISMATCH, "expected %s, got %s",
				dtx_bind_type_text(want, wanted), dtx_bind_type_text(b->type, got));
		DTX_TRY(dtx_bind_widen(&bd, &b, want));
	}
	*out = b;
out:
	return rc;
}

struct dtx_typeref dtx_bound_type(const struct dtx_bound *b)
{
	return b->type;
}

bool dtx_bound_is_const(const struct dtx_bound *b)
{
	return b->kind == DTX_BD_CONST;
}

void dtx_bound_place(struct dtx_bound *b, const char *at)
{
	b->at = at;
}

int32_t dtx_bound_column(const struct dtx_bound *b)
{
	return b->kind == DTX_BD_COL ? b->column : -1;
}
