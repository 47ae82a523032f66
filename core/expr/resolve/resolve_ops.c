/* The types of operators: arithmetic, comparison, `in`. */
#include "core/expr/bound.h"

#include <math.h>

#include "core/base/memory/mem.h"
#include "core/base/text/num.h"
#include "core/data/time/time.h"

#define T(t) ((struct dtx_typeref){ .type = (t) })

/* --- arithmetic --- */

/* A date plus or minus days is a date; the difference of two dates is days.  UNKNOWN: no rule for
 * dates applies. */
static struct dtx_typeref date_result(const struct dtx_expr *e, enum dtx_type a, enum dtx_type b)
{
	bool days = b == DTX_T_INT64 || b == DTX_T_NULL;

	if (e->op == DTX_BIN_SUB && a == DTX_T_DATE && b == DTX_T_DATE)
		return T(DTX_T_INT64);
	if ((e->op == DTX_BIN_ADD || e->op == DTX_BIN_SUB) && a == DTX_T_DATE && days)
		return T(DTX_T_DATE);
	if (e->op == DTX_BIN_ADD && b == DTX_T_DATE && (a == DTX_T_INT64 || a == DTX_T_NULL))
		return T(DTX_T_DATE);
	return T(DTX_T_UNKNOWN);
}

static struct dtx_typeref as_decimal(struct dtx_typeref t)
{
	return t.type == DTX_T_DECIMAL
	               ? t
	               : (struct dtx_typeref){ .type = DTX_T_DECIMAL, .precision = 19 };
}

static struct dtx_typeref decimal_result(int op, struct dtx_typeref a, struct dtx_typeref b)
{
	struct dtx_typeref t = { .type = DTX_T_DECIMAL };
	unsigned s = DTX_MAX(a.scale, b.scale), p;
	int whole = DTX_MAX(a.precision - a.scale, b.precision - b.scale);

	if (op == DTX_BIN_MUL) {
		s = (unsigned)a.scale + b.scale;
		p = (unsigned)a.precision + b.precision;
		if (s > 38)
			return T(DTX_T_FLOAT64);
	} else if (op == DTX_BIN_FLOORDIV) {
		s = 0;
		p = 38;
	} else {
		p = (unsigned)whole + s + 1;
	}
	t.precision = (uint8_t)DTX_MIN(p, 38u);
	t.scale = (uint8_t)s;
	return t;
}

static struct dtx_typeref number_result(const struct dtx_binder *bd, int op, struct dtx_typeref a,
                                        struct dtx_typeref b)
{
	bool may_grow = op != DTX_BIN_FLOORDIV && op != DTX_BIN_MOD;

	if (op == DTX_BIN_DIV || op == DTX_BIN_POW || a.type == DTX_T_FLOAT64 ||
	    b.type == DTX_T_FLOAT64)
		return T(DTX_T_FLOAT64);
	if (a.type == DTX_T_UNKNOWN || b.type == DTX_T_UNKNOWN)
		return T(DTX_T_UNKNOWN);
	if (may_grow && bd->scope->overflow == DTX_OVERFLOW_FLOAT &&
	    !(a.type == DTX_T_NULL && b.type == DTX_T_NULL))
		return T(DTX_T_FLOAT64);
	if (a.type == DTX_T_DECIMAL || b.type == DTX_T_DECIMAL)
		return decimal_result(op, as_decimal(a), as_decimal(b));
	return a.type == DTX_T_NULL ? b : T(DTX_T_INT64);
}

static enum dtx_code arith_mismatch(struct dtx_binder *bd, const struct dtx_expr *e,
                                    struct dtx_typeref a, struct dtx_typeref b)
{
	static const char *const words[] = { "+", "-", "*", "/", "//", "%", "**" };
	const char *hint = "cast it first, with int(), float() or number()";
	char left[32], right[32];

	if (e->op == DTX_BIN_ADD && (a.type == DTX_T_TEXT || a.type == DTX_T_UNKNOWN) &&
	    (b.type == DTX_T_TEXT || b.type == DTX_T_UNKNOWN))
		hint = "concat(a, b) joins texts";
	else if (a.type == DTX_T_DATETIME || b.type == DTX_T_DATETIME)
		hint = "use date_add(d, n, unit) and date_diff(a, b, unit)";
	return dtx_resolve_fail(bd, e, hint, DTX_E_TYPE_MISMATCH,
	                        "'%s' does not work with %s and %s", words[e->op],
	                        dtx_bind_type_text(a, left), dtx_bind_type_text(b, right));
}

static bool is_numeric(enum dtx_type t)
{
	return t == DTX_T_UNKNOWN || t == DTX_T_NULL || dtx_type_class(t) == DTX_CLASS_NUMBER;
}

static enum dtx_code arith_operands(struct dtx_binder *bd, const struct dtx_expr *e,
                                    struct dtx_bound **b, uint32_t n)
{
	enum dtx_code rc = DTX_OK;
	uint32_t i;

	for (i = 0; i < n; i++)
		DTX_TRY(dtx_bind_node(bd, e->arg[i], &b[i]));
out:
	return rc;
}

static enum dtx_code bind_neg(struct dtx_binder *bd, const struct dtx_expr *e,
                              struct dtx_bound **out)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_bound *a, *b;

	DTX_TRY(dtx_bind_class(bd, e->arg[0], DTX_CLASS_NUMBER, &a));
	if (!a)
		return DTX_OK;
	b = dtx_bound_two(bd, e, DTX_BD_NEG, a->type, a, NULL);
	if (!b)
		DTX_FAIL_MEM(bd->err);
	b->quiet = a->quiet && a->type.type == DTX_T_FLOAT64;
	*out = b;
out:
	return rc;
}

/* Widens the operands as the result needs them: both float, or both int; decimals keep their
 * scales. */
static enum dtx_code arith_widen(struct dtx_binder *bd, struct dtx_bound **b,
                                 struct dtx_typeref type)
{
	enum dtx_code rc = DTX_OK;
	int i;

	for (i = 0; i < 2; i++) {
		if (type.type == DTX_T_DECIMAL)
			DTX_TRY(dtx_bind_widen(bd, &b[i], as_decimal(b[i]->type)));
		else if (type.type != DTX_T_UNKNOWN)
			DTX_TRY(dtx_bind_widen(bd, &b[i], type));
	}
out:
	return rc;
}

static enum dtx_code date_widen(struct dtx_binder *bd, struct dtx_bound **b)
{
	enum dtx_code rc = DTX_OK;
	int i;

	for (i = 0; i < 2; i++) {
		if (b[i]->type.type == DTX_T_NULL)
			DTX_TRY(dtx_bind_widen(bd, &b[i], T(DTX_T_INT64)));
	}
out:
	return rc;
}

static bool is_date_op(const struct dtx_expr *e, struct dtx_bound *const *b)
{
	enum dtx_type x = b[0]->type.type, y = b[1]->type.type;

	return (x == DTX_T_DATE || y == DTX_T_DATE) && (x == DTX_T_UNKNOWN || y == DTX_T_UNKNOWN ||
	                                                date_result(e, x, y).type != DTX_T_UNKNOWN);
}

/* The class that operand b must have.  An unknown one may turn out to be a date to which days are
 * added. */
static enum dtx_class arith_class(const struct dtx_expr *e, const struct dtx_bound *b, bool dates)
{
	if (dates)
		return DTX_CLASS_ANY;
	if (b->type.type == DTX_T_UNKNOWN && (e->op == DTX_BIN_ADD || e->op == DTX_BIN_SUB))
		return DTX_CLASS_NUMBER | DTX_CLASS_DATE;
	return DTX_CLASS_NUMBER;
}

enum dtx_code dtx_bind_arith(struct dtx_binder *bd, const struct dtx_expr *e,
                             struct dtx_bound **out)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_bound *b[2] = { NULL, NULL };
	struct dtx_typeref type;
	bool ok = true, dates;

	if (e->kind == DTX_EX_NEG)
		return bind_neg(bd, e, out);
	DTX_TRY(arith_operands(bd, e, b, 2));
	if (!b[0] || !b[1])
		return DTX_OK;
	if (e->op == DTX_BIN_SUB ||
	    (b[0]->type.type != DTX_T_DATE && b[1]->type.type != DTX_T_DATE))
		DTX_TRY(dtx_bind_literals(bd, e->arg, b, 2, &ok));
	if (!ok)
		return DTX_OK;
	dates = is_date_op(e, b);
	if (!dates && (!is_numeric(b[0]->type.type) || !is_numeric(b[1]->type.type)))
		return arith_mismatch(bd, e, b[0]->type, b[1]->type);
	dtx_resolve_use(bd, b[0], DTX_DEMAND_VALUE, arith_class(e, b[0], dates));
	dtx_resolve_use(bd, b[1], DTX_DEMAND_VALUE, arith_class(e, b[1], dates));
	if (dates) {
		type = date_result(e, b[0]->type.type, b[1]->type.type);
		DTX_TRY(date_widen(bd, b));
	} else {
		type = number_result(bd, e->op, b[0]->type, b[1]->type);
		DTX_TRY(arith_widen(bd, b, type));
	}
	*out = dtx_bound_two(bd, e, DTX_BD_ARITH, type, b[0], b[1]);
	if (!*out)
		DTX_FAIL_MEM(bd->err);
	(*out)->op = e->op;
	(*out)->quiet = false;
out:
	return rc;
}

/* --- comparison --- */

static bool is_pair(const struct dtx_bound *a, const struct dtx_bound *b, enum dtx_type x,
                    enum dtx_type y)
{
	return (a->type.type == x && b->type.type == y) || (a->type.type == y && b->type.type == x);
}

static enum dtx_code cmp_mismatch(struct dtx_binder *bd, const struct dtx_expr *e,
                                  struct dtx_typeref a, struct dtx_typeref b)
{
	char left[32], right[32];
	bool text = a.type == DTX_T_TEXT || b.type == DTX_T_TEXT;

	return dtx_resolve_fail(
		bd, e, text ? "cast one side: int(x), float(x), date(x), text(x)" : "cast one side",
		DTX_E_TYPE_MISMATCH, "cannot compare %s with %s", dtx_bind_type_text(a, left),
		dtx_bind_type_text(b, right));
}

/* Makes the operands one type, or leaves two types that compare exactly. */
static enum dtx_code cmp_types(struct dtx_binder *bd, const struct dtx_expr *e,
                               struct dtx_bound **b, bool *ok)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_typeref type;

	if (is_pair(b[0], b[1], DTX_T_INT64, DTX_T_FLOAT64) ||
	    is_pair(b[0], b[1], DTX_T_DECIMAL, DTX_T_DECIMAL))
		return DTX_OK;
	if (is_pair(b[0], b[1], DTX_T_INT64, DTX_T_DECIMAL)) {
		int i = b[0]->type.type != DTX_T_INT64;

		return dtx_bind_widen(bd, &b[i], as_decimal(b[i]->type));
	}
	if (b[0]->type.type != DTX_T_UNKNOWN && b[1]->type.type != DTX_T_UNKNOWN &&
	    !dtx_type_widen(b[0]->type, b[1]->type, &type)) {
		*ok = false;
		return cmp_mismatch(bd, e, b[0]->type, b[1]->type);
	}
	DTX_TRY(dtx_bind_common(bd, e, b, 2, ok, &type));
out:
	return rc;
}

/* A text literal that is compared with a column of unknown type may turn out to be compared with a
 * date. */
static enum dtx_class demand_of(const struct dtx_bound *other)
{
	return other->literal && other->lit == DTX_LIT_TEXT && other->type.type == DTX_T_TEXT
	               ? DTX_CLASS_ANY
	               : dtx_type_class(other->type.type);
}

static bool is_number_text(const struct dtx_bound *b)
{
	double x;

	return b->literal && b->lit == DTX_LIT_TEXT && b->type.type == DTX_T_TEXT &&
	       !b->value.null && dtx_num_parse_f64(b->value.u.s.ptr, b->value.u.s.len, &x);
}

/* Warns if text is compared by order with a number that is written as text: '9' > '10'. */
static enum dtx_code warn_order(struct dtx_binder *bd, const struct dtx_expr *e,
                                struct dtx_bound *const *b, int op)
{
	const struct dtx_bound *lit = is_number_text(b[0]) ? b[0] : b[1];

	if (op == DTX_CMP_EQ || op == DTX_CMP_NE || b[0]->type.type != DTX_T_TEXT ||
	    b[1]->type.type != DTX_T_TEXT || is_number_text(b[0]) == is_number_text(b[1]))
		return DTX_OK;
	return dtx_resolve_fail(
		bd, e, "compare numbers: float(x) > 10, or cast the column", DTX_W_TEXT_NUMERIC,
		"text is compared with '%.*s' letter by letter, so '9' is above '10'",
		(int)DTX_MIN(lit->value.u.s.len, (size_t)40), lit->value.u.s.ptr);
}

/* Whether it is a date as ISO 8601 or as people write it. */
static bool is_date_text(const struct dtx_bound *b, bool *iso)
{
	bool zoned;
	int32_t day;
	int64_t us;

	if (!b->literal || b->lit != DTX_LIT_TEXT || b->type.type != DTX_T_TEXT || b->value.null)
		return false;
	*iso = dtx_day_parse(b->value.u.s, &day) || dtx_datetime_parse(b->value.u.s, &us, &zoned);
	return *iso || dtx_date_reads_dmy(b->value.u.s, &day) ||
	       dtx_date_reads_mdy(b->value.u.s, &day);
}

/* Warns if the text of a cell is compared with a date by order: '31/12/2023' is above '2024-01-01'.
 * Equality is a sensible question, unless the date is in ISO form: cells with ISO dates would have
 * been read as dates, so no cell equals it unless the column is declared as text. */
static enum dtx_code warn_date(struct dtx_binder *bd, const struct dtx_expr *e,
                               const struct dtx_bound *column, const struct dtx_bound *lit, int op)
{
	bool order = op != DTX_CMP_EQ && op != DTX_CMP_NE, iso;

	if ((column->kind != DTX_BD_COL && column->kind != DTX_BD_SOURCE) || !column->source ||
	    column->type.type != DTX_T_TEXT || !is_date_text(lit, &iso) ||
	    (!order && (!iso || column->declared)))
		return DTX_OK;
	return dtx_resolve_fail(
		bd, e,
		"convert the texts to dates first: {\"op\": \"parse_date\", \"cols\": [...], "
		"\"order\": \"dmy\"} in a step before, or date(x, '%d/%m/%Y')",
		DTX_W_TEXT_DATE,
		order ? "a text column is compared with '%.*s' letter by letter, not as dates"
		      : "a text column is compared with '%.*s': '1/2/2024' is a different text",
		(int)DTX_MIN(lit->value.u.s.len, (size_t)40), lit->value.u.s.ptr);
}

static bool is_null_literal(const struct dtx_expr *e)
{
	return e->kind == DTX_EX_LIT && e->op == DTX_LIT_NULL;
}

/* Warns about x == null, which is null for every x. */
static enum dtx_code warn_null(struct dtx_binder *bd, const struct dtx_expr *e,
                               const struct dtx_expr *left, const struct dtx_expr *right)
{
	if (is_null_literal(left) == is_null_literal(right))
		return DTX_OK;
	return dtx_resolve_fail(bd, e, "write x is null or x is not null", DTX_W_CONSTANT_FILTER,
	                        "compared with null, this is null in every row");
}

enum dtx_code dtx_bind_cmp(struct dtx_binder *bd, const struct dtx_expr *e,
                           const struct dtx_expr *left, const struct dtx_expr *right, int op,
                           enum dtx_bkind kind, struct dtx_bound **out)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_expr *at[2] = { left, right };
	struct dtx_bound *b[2] = { NULL, NULL };
	bool ok = true;

	*out = NULL;
	DTX_TRY(dtx_bind_node(bd, left, &b[0]));
	DTX_TRY(dtx_bind_node(bd, right, &b[1]));
	if (!b[0] || !b[1])
		return DTX_OK;
	DTX_TRY(dtx_bind_literals(bd, at, b, 2, &ok));
	if (!ok)
		return DTX_OK;
	dtx_resolve_use(bd, b[0], DTX_DEMAND_VALUE, demand_of(b[1]));
	dtx_resolve_use(bd, b[1], DTX_DEMAND_VALUE, demand_of(b[0]));
	DTX_TRY(cmp_types(bd, e, b, &ok));
	if (!ok)
		return DTX_OK;
	if (kind == DTX_BD_CMP) {
		DTX_TRY(warn_order(bd, e, b, op));
		DTX_TRY(warn_date(bd, e, b[0], b[1], op));
		DTX_TRY(warn_date(bd, e, b[1], b[0], op));
		DTX_TRY(warn_null(bd, e, left, right));
	}
	*out = dtx_bound_two(bd, e, kind, T(DTX_T_BOOL), b[0], b[1]);
	if (!*out)
		DTX_FAIL_MEM(bd->err);
	(*out)->op = op;
out:
	return rc;
}

/* --- in --- */

/* The constant as a value of the tested type.  False if there is no such value (2.5 among ints). */
static bool inset_value(struct dtx_typeref type, const struct dtx_bound *c, struct dtx_val *out)
{
	*out = c->value;
	if (type.type == DTX_T_INT64 && c->type.type == DTX_T_FLOAT64) {
		if (c->value.u.f != floor(c->value.u.f) ||
		    dtx_cmp_i64_f64(INT64_MAX, c->value.u.f) < 0 ||
		    dtx_cmp_i64_f64(INT64_MIN, c->value.u.f) > 0)
			return false;
		out->u.i = (int64_t)c->value.u.f;
	}
	if (type.type == DTX_T_FLOAT64 && c->type.type == DTX_T_INT64) {
		out->u.f = (double)c->value.u.i;
		return dtx_cmp_i64_f64(c->value.u.i, out->u.f) == 0;
	}
	return true;
}

static int cmp_ref(const void *a, const void *b, void *type)
{
	return dtx_val_cmp(*(enum dtx_type *)type, a, b);
}

static bool mixes_numbers(struct dtx_typeref a, struct dtx_typeref b)
{
	return (a.type == DTX_T_INT64 && b.type == DTX_T_FLOAT64) ||
	       (a.type == DTX_T_FLOAT64 && b.type == DTX_T_INT64);
}

/* Moves the constants into a sorted set; the other elements stay in b[1..*n). */
static enum dtx_code inset_make(struct dtx_binder *bd, struct dtx_bound **b, uint32_t *n,
                                struct dtx_inset **out)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_inset *set = dtx_arena_zalloc(bd->arena, 1, sizeof(*set));
	struct dtx_typeref type = b[0]->type;
	uint32_t i, rest = 1;

	if (!set)
		DTX_FAIL_MEM(bd->err);
	set->item = dtx_arena_zalloc(bd->arena, *n, sizeof(*set->item));
	if (!set->item)
		DTX_FAIL_MEM(bd->err);
	for (i = 1; i < *n; i++) {
		if (b[i]->kind != DTX_BD_CONST)
			b[rest++] = b[i];
		else if (b[i]->value.null)
			set->has_null = true;
		else if (inset_value(type, b[i], &set->item[set->n]))
			set->n++;
	}
	qsort_r(set->item, set->n, sizeof(*set->item), cmp_ref, &type.type);
	*n = rest;
	*out = set;
out:
	return rc;
}

/* Finds the types of value and list: ints and floats stay as they are, everything else is
 * widened. */
static enum dtx_code in_types(struct dtx_binder *bd, const struct dtx_expr *e, struct dtx_bound **b,
                              uint32_t n, bool *ok, bool *unknown)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_typeref type = b[0]->type, next;
	uint32_t i;

	*unknown = type.type == DTX_T_UNKNOWN;
	for (i = 1; i < n; i++) {
		*unknown = *unknown || b[i]->type.type == DTX_T_UNKNOWN;
		if (*unknown || mixes_numbers(type, b[i]->type))
			continue;
		if (!dtx_type_widen(type, b[i]->type, &next)) {
			*ok = false;
			return cmp_mismatch(bd, e->arg[i], type, b[i]->type);
		}
		type = next;
	}
	for (i = 0; i < n && !*unknown; i++) {
		if (!mixes_numbers(type, b[i]->type))
			DTX_TRY(dtx_bind_widen(bd, &b[i], type));
	}
out:
	return rc;
}

static enum dtx_code in_any_of(struct dtx_binder *bd, const struct dtx_expr *e,
                               struct dtx_bound **part, uint32_t n, struct dtx_bound **out)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_bound *a, *b;

	if (n == 1) {
		*out = part[0];
		return DTX_OK;
	}
	DTX_TRY(in_any_of(bd, e, part, n / 2, &a));
	DTX_TRY(in_any_of(bd, e, part + n / 2, n - n / 2, &b));
	*out = dtx_bound_two(bd, e, DTX_BD_OR, T(DTX_T_BOOL), a, b);
	if (!*out)
		DTX_FAIL_MEM(bd->err);
out:
	return rc;
}

/* Combines the set by `or` with a comparison for each element that is not a constant. */
static enum dtx_code in_parts(struct dtx_binder *bd, const struct dtx_expr *e, struct dtx_bound **b,
                              uint32_t n, struct dtx_bound **out)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_inset *set = NULL;
	uint32_t i;

	DTX_TRY(inset_make(bd, b, &n, &set));
	for (i = 1; i < n; i++) {
		b[i] = dtx_bound_two(bd, e, DTX_BD_CMP, T(DTX_T_BOOL), b[0], b[i]);
		if (!b[i])
			DTX_FAIL_MEM(bd->err);
		b[i]->op = DTX_CMP_EQ;
	}
	b[0] = dtx_bound_two(bd, e, DTX_BD_IN, T(DTX_T_BOOL), b[0], NULL);
	if (!b[0])
		DTX_FAIL_MEM(bd->err);
	b[0]->set = set;
	DTX_TRY(in_any_of(bd, e, b, n, out));
out:
	return rc;
}

enum dtx_code dtx_bind_in(struct dtx_binder *bd, const struct dtx_expr *e, struct dtx_bound **out)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_bound **b = dtx_arena_zalloc(bd->arena, e->nargs, sizeof(struct dtx_bound *));
	bool ok = true, unknown = false;
	uint32_t i;

	if (!b)
		DTX_FAIL_MEM(bd->err);
	for (i = 0; i < e->nargs; i++) {
		DTX_TRY(dtx_bind_node(bd, e->arg[i], &b[i]));
		ok = ok && b[i];
	}
	if (ok)
		DTX_TRY(dtx_bind_literals(bd, e->arg, b, e->nargs, &ok));
	for (i = 0; ok && i < e->nargs; i++)
		dtx_resolve_use(bd, b[i], DTX_DEMAND_VALUE, demand_of(b[i ? 0 : 1]));
	if (ok)
		DTX_TRY(in_types(bd, e, b, e->nargs, &ok, &unknown));
	if (!ok)
		return DTX_OK;
	if (unknown) {
		/* until the input is known, only the type of this node is needed */
		*out = dtx_bound_two(bd, e, DTX_BD_IN, T(DTX_T_BOOL), b[0], NULL);
		if (!*out)
			DTX_FAIL_MEM(bd->err);
		return DTX_OK;
	}
	for (i = 1; i < e->nargs; i++)
		DTX_TRY(warn_date(bd, e, b[0], b[i], DTX_CMP_EQ));
	DTX_TRY(in_parts(bd, e, b, e->nargs, out));
out:
	return rc;
}
