/* The types of literals, and the common type of several operands. */
#include "core/expr/bound.h"

#include "core/base/text/num.h"
#include "core/data/cast/decimal.h"
#include "core/data/time/time.h"

#define T(t) ((struct dtx_typeref){ .type = (t) })

enum dtx_code dtx_bind_literal(struct dtx_binder *bd, const struct dtx_expr *e,
                               struct dtx_bound **out)
{
	static const enum dtx_type types[] = { DTX_T_NULL,  DTX_T_BOOL,    DTX_T_BOOL,
		                               DTX_T_INT64, DTX_T_FLOAT64, DTX_T_FLOAT64,
		                               DTX_T_TEXT };
	enum dtx_code rc = DTX_OK;
	struct dtx_bound *b = dtx_bound_new(bd, e, DTX_BD_CONST, T(types[e->op]), 0);
	bool ok = true;

	if (!b)
		DTX_FAIL_MEM(bd->err);
	b->literal = b->quiet = true;
	b->lit = (enum dtx_elit)e->op;
	b->written = e->text;
	b->value.null = e->op == DTX_LIT_NULL;
	if (e->op == DTX_LIT_TEXT)
		b->value.u.s = e->text;
	else if (e->op == DTX_LIT_INT)
		ok = dtx_num_parse_i64(e->text.ptr, e->text.len, &b->value.u.i);
	else if (e->op >= DTX_LIT_POINT)
		ok = dtx_num_parse_f64(e->text.ptr, e->text.len, &b->value.u.f);
	else
		b->value.u.b = e->op == DTX_LIT_TRUE;
	DTX_ASSERT(ok, bd->err); /* the lexer refuses numbers that do not fit */
	*out = b;
out:
	return rc;
}

/* '2024-01-31' next to a date. */
bool dtx_bind_literal_date(struct dtx_bound *b)
{
	int64_t us;
	int32_t day;
	bool zoned;

	if (dtx_day_parse(b->written, &day)) {
		b->type = T(DTX_T_DATE);
		b->value.u.day = day;
		return true;
	}
	if (dtx_datetime_parse(b->written, &us, &zoned)) {
		b->type = zoned ? DTX_TYPE_UTC : T(DTX_T_DATETIME);
		b->value.u.i = us;
		return true;
	}
	return false;
}

/* 12.50 next to a decimal is decimal(4,2). */
static void literal_decimal(struct dtx_bound *b)
{
	const char *point = memchr(b->written.ptr, '.', b->written.len);
	struct dtx_typeref t = { .type = DTX_T_DECIMAL };
	struct dtx_dec128 d;

	if (!point || b->written.len > 39)
		return;
	t.precision = (uint8_t)(b->written.len - 1);
	t.scale = (uint8_t)(b->written.ptr + b->written.len - point - 1);
	if (!dtx_dec_parse(b->written, t, &d))
		return;
	b->type = t;
	b->value.u.dec = dtx_dec_get(d);
}

enum dtx_code dtx_bind_literals(struct dtx_binder *bd, const struct dtx_expr *const *e,
                                struct dtx_bound **b, uint32_t n, bool *ok)
{
	enum dtx_code rc = DTX_OK;
	bool date = false, dec = false;
	uint32_t i;

	for (i = 0; i < n; i++) {
		date |= dtx_type_class(b[i]->type.type) == DTX_CLASS_DATE;
		dec |= b[i]->type.type == DTX_T_DECIMAL;
	}
	for (i = 0; i < n; i++) {
		if (!b[i]->literal)
			continue;
		if (dec && b[i]->lit == DTX_LIT_POINT)
			literal_decimal(b[i]);
		if (!date || b[i]->lit != DTX_LIT_TEXT || b[i]->type.type != DTX_T_TEXT)
			continue;
		if (!dtx_bind_literal_date(b[i])) {
			*ok = false;
			DTX_TRY(dtx_resolve_fail(
				bd, e[i], "write it as '2024-01-31'", DTX_E_BAD_LITERAL,
				"'%.*s' is not an ISO 8601 date",
				(int)DTX_MIN(b[i]->written.len, 60), b[i]->written.ptr));
		}
	}
out:
	return rc;
}

enum dtx_code dtx_bind_common(struct dtx_binder *bd, const struct dtx_expr *at,
                              struct dtx_bound **b, uint32_t n, bool *ok, struct dtx_typeref *type)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_typeref all = T(DTX_T_NULL), next;
	char left[32], right[32];
	bool unknown = false, literals = true;
	uint32_t i;

	*type = all;
	for (i = 0; i < n; i++) {
		if (b[i]->type.type == DTX_T_UNKNOWN) {
			unknown = true;
			continue;
		}
		if (!dtx_type_widen(all, b[i]->type, &next)) {
			*ok = false;
			return dtx_resolve_fail(
				bd, at, "convert them to one type, with text() or a cast",
				DTX_E_TYPE_MISMATCH, "%s and %s have no common type",
				dtx_bind_type_text(all, left),
				dtx_bind_type_text(b[i]->type, right));
		}
		all = next;
		literals = literals && b[i]->literal;
	}
	for (i = 0; i < n; i++) {
		if (b[i]->kind == DTX_BD_COL && b[i]->type.type == DTX_T_UNKNOWN)
			dtx_resolve_use(bd, b[i], DTX_DEMAND_VALUE,
			                literals && all.type == DTX_T_TEXT
			                        ? DTX_CLASS_TEXT | DTX_CLASS_DATE
			                        : dtx_type_class(all.type));
		if (!unknown)
			DTX_TRY(dtx_bind_widen(bd, &b[i], all));
	}
	*type = unknown ? T(DTX_T_UNKNOWN) : all;
out:
	return rc;
}
