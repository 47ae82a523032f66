/* Parts of formulas: conditions joined by `and`, the rows that window calls read, literals. */
#include "core/expr/parse/formula_parts.h"

#include "core/base/text/num.h"
#include "core/expr/fn/fn.h"
#include "core/expr/parse/tree.h"

/* --- conditions --- */

size_t dtx_expr_conjuncts(const struct dtx_expr *e, const struct dtx_expr **part, size_t most)
{
	size_t n = 0;

	/* The parser makes `and` chains that lean to the left, or one node with all parts.  If
	 * there is no room for all parts, some stay together; none is left out. */
	if (e->kind == DTX_EX_AND && most >= e->nargs) {
		for (uint32_t i = 0; i < e->nargs; i++)
			n += dtx_expr_conjuncts(e->arg[i], part + n, most - n - (e->nargs - i - 1));
		return n;
	}
	part[0] = e;
	return 1;
}

/* --- windows --- */

enum reach_kind { REACH_ALL, REACH_AT_N, REACH_TO_N, REACH_BACK, REACH_FORTH, REACH_LAST_N };
static const struct {
	const char *name;
	enum reach_kind kind;
	int sign;   /* sign of n */
	bool loose; /* one or some of the rows in the reach count, not all */
} reach_calls[] = {
	{ "lag", REACH_AT_N, -1, false },          { "lead", REACH_AT_N, 1, false },
	{ "diff", REACH_TO_N, -1, false },         { "pct_change", REACH_TO_N, -1, false },
	{ "cum_sum", REACH_BACK, 0, false },       { "cum_mean", REACH_BACK, 0, false },
	{ "cum_min", REACH_BACK, 0, false },       { "cum_max", REACH_BACK, 0, false },
	{ "cum_count", REACH_BACK, 0, false },     { "cum_prod", REACH_BACK, 0, false },
	{ "ewm_mean", REACH_BACK, 0, false },      { "roll_sum", REACH_LAST_N, 0, false },
	{ "roll_mean", REACH_LAST_N, 0, false },   { "roll_min", REACH_LAST_N, 0, false },
	{ "roll_max", REACH_LAST_N, 0, false },    { "roll_std", REACH_LAST_N, 0, false },
	{ "roll_median", REACH_LAST_N, 0, false }, { "fill_down", REACH_BACK, 0, true },
	{ "fill_up", REACH_FORTH, 0, true },       { "first_value", REACH_ALL, 0, true },
	{ "last_value", REACH_ALL, 0, true },      { "nth_value", REACH_ALL, 0, true },
	{ "interpolate", REACH_ALL, 0, true },
};

static void reach_widen(struct dtx_expr_reach *r, int64_t lo, int64_t hi)
{
	r->lo = DTX_MIN(r->lo, lo);
	r->hi = DTX_MAX(r->hi, hi);
}

/* Argument i of a call, which may be given by its name; NULL: it is not given. */
static const struct dtx_expr *reach_arg(const struct dtx_expr *e, uint32_t i, const char *name)
{
	for (uint32_t k = 0; k < e->nargs; k++) {
		const char *given = e->argname ? e->argname[k] : NULL;

		if (given ? !strcmp(given, name) : k == i)
			return e->arg[k];
	}
	return NULL;
}

/* The argument n, a constant.  False: it is not a whole number. */
static bool reach_n(const struct dtx_expr *e, int64_t *n)
{
	const struct dtx_expr *arg = reach_arg(e, 1, "n");
	bool minus = arg && arg->kind == DTX_EX_NEG;

	*n = 1;
	if (!arg)
		return true;
	arg = minus ? arg->arg[0] : arg;
	if (arg->kind != DTX_EX_LIT || arg->op != DTX_LIT_INT ||
	    !dtx_num_parse_i64(arg->text.ptr, arg->text.len, n) || *n > INT32_MAX)
		return false;
	*n = minus ? -*n : *n;
	return true;
}

static void reach_window(const struct dtx_expr *e, struct dtx_expr_reach *r)
{
	enum reach_kind kind = REACH_ALL;
	int64_t n = 1;
	int sign = 0;
	bool known;

	for (size_t i = 0; i < DTX_COUNT(reach_calls); i++) {
		if (strcmp(reach_calls[i].name, e->name) != 0)
			continue;
		kind = reach_calls[i].kind;
		sign = reach_calls[i].sign;
		r->loose |= reach_calls[i].loose;
	}
	if (kind == REACH_AT_N && reach_arg(e, 3, "ignore_nulls")) { /* nulls do not count */
		kind = REACH_ALL;
		r->loose = true;
	}
	known = kind == REACH_ALL || kind == REACH_BACK || kind == REACH_FORTH || reach_n(e, &n);
	r->loose |= !known;
	if (!known || kind == REACH_ALL)
		reach_widen(r, INT64_MIN, INT64_MAX);
	else if (kind == REACH_BACK || kind == REACH_FORTH)
		reach_widen(r, kind == REACH_BACK ? INT64_MIN : 0,
		            kind == REACH_BACK ? 0 : INT64_MAX);
	else if (kind == REACH_LAST_N)
		reach_widen(r, 1 - n, 0);
	else
		reach_widen(r, sign * n, sign * n);
	if (kind == REACH_TO_N) {
		reach_widen(r, 0, 0);
		r->loose |= n > 1 || n < -1; /* the rows between do not count */
	}
}

void dtx_expr_reach(const struct dtx_expr *e, bool ordered, const int64_t frame[2],
                    struct dtx_expr_reach *reach)
{
	const struct dtx_fn *fn = NULL;
	uint32_t n;

	if (e->kind == DTX_EX_CALL) {
		(void)dtx_expr_where(e, &n);
		fn = dtx_fn_find(dtx_str_of(e->name), n);
	}
	if (fn && fn->kind == DTX_FN_WINDOW) {
		reach->calls++;
		reach_window(e, reach);
	} else if (fn && fn->kind == DTX_FN_AGG) {
		reach->calls++;
		reach_widen(reach, frame ? frame[0] : INT64_MIN,
		            frame     ? frame[1]
		            : ordered ? 0
		                      : INT64_MAX);
	}
	for (uint32_t i = 0; i < e->nargs; i++)
		dtx_expr_reach(e->arg[i], ordered, frame, reach);
}

const char *dtx_expr_is_call(const struct dtx_expr *e)
{
	return e->kind == DTX_EX_CALL ? e->name : NULL;
}

/* --- aggregates over some rows: sum(x, where: c) --- */

struct some {
	struct dtx_buf any, one, arg, args; /* "(a) or (b)"; scratch; what the calls aggregate */
	unsigned n;                         /* number of conditions */
	bool every;                         /* a call has no condition */
	bool apart;                         /* the calls aggregate different formulas */
};

/* Adds a condition, unless it is equal to one that is there already. */
static void some_where(struct some *s, const struct dtx_expr *where)
{
	dtx_buf_reset(&s->one);
	dtx_buf_addc(&s->one, '(');
	dtx_expr_print(where, &s->one);
	dtx_buf_addc(&s->one, ')');
	if (s->n && !strcmp(dtx_buf_text(&s->any), dtx_buf_text(&s->one)))
		return;
	dtx_buf_printf(&s->any, "%s%s", s->n++ ? " or " : "", dtx_buf_text(&s->one));
}

static void some_args(struct some *s, const struct dtx_expr *e, uint32_t n, bool first)
{
	dtx_buf_reset(&s->arg);
	for (uint32_t i = 0; i < n; i++) {
		dtx_expr_print(e->arg[i], &s->arg);
		dtx_buf_addc(&s->arg, ',');
	}
	if (first)
		dtx_buf_add(&s->args, dtx_buf_text(&s->arg));
	s->apart |= strcmp(dtx_buf_text(&s->args), dtx_buf_text(&s->arg)) != 0;
}

/* A count() reads no cell, so the conditions of the other calls decide. */
static void some_calls(struct some *s, const struct dtx_expr *e)
{
	const struct dtx_expr *where = NULL;
	const struct dtx_fn *fn = NULL;
	uint32_t n = 0;

	if (e->kind == DTX_EX_CALL) {
		where = dtx_expr_where(e, &n);
		fn = dtx_fn_find(dtx_str_of(e->name), n);
	}
	for (uint32_t i = 0; (!fn || fn->kind != DTX_FN_AGG) && i < e->nargs; i++)
		some_calls(s, e->arg[i]);
	if (!fn || fn->kind != DTX_FN_AGG)
		return;
	if (where)
		some_where(s, where);
	s->every |= !where && n;
	if (n)
		some_args(s, e, n, !dtx_buf_len(&s->args));
}

bool dtx_expr_some(const struct dtx_expr *e, struct dtx_buf *out, bool *loose)
{
	struct some s = { .any = DTX_BUF_INIT(DTX_BUF_TEXT_MAX),
		          .one = DTX_BUF_INIT(DTX_BUF_TEXT_MAX),
		          .arg = DTX_BUF_INIT(DTX_BUF_TEXT_MAX),
		          .args = DTX_BUF_INIT(DTX_BUF_TEXT_MAX) };
	bool some;

	some_calls(&s, e);
	some = s.n && !s.every && dtx_buf_ok(&s.any) && dtx_buf_ok(&s.one);
	*loose |= s.apart && s.n + s.every > 1;
	*loose |= s.n && !s.every && !some;
	if (some)
		dtx_buf_add(out, dtx_buf_text(&s.any));
	dtx_buf_clear(&s.any);
	dtx_buf_clear(&s.one);
	dtx_buf_clear(&s.arg);
	dtx_buf_clear(&s.args);
	return some;
}

bool dtx_expr_one_aggregate(const struct dtx_expr *e, const char **name, const struct dtx_expr **of,
                            const struct dtx_expr **where)
{
	uint32_t n;

	if (!dtx_expr_is_aggregate(e))
		return false;
	*where = dtx_expr_where(e, &n);
	*name = e->name;
	*of = n == 1 ? e->arg[0] : NULL;
	return n == 1;
}

/* --- literals --- */

struct dtx_expr *dtx_expr_literal(struct dtx_arena *a, const char *text, bool number)
{
	struct dtx_expr *e = dtx_expr_node(a, DTX_EX_LIT, 0), *minus;

	if (!e)
		return NULL;
	e->op = !text ? DTX_LIT_NULL : number ? DTX_LIT_POINT : DTX_LIT_TEXT;
	if (number && text && *text == '-') {
		minus = dtx_expr_node(a, DTX_EX_NEG, 1);
		if (!minus)
			return NULL;
		minus->arg[0] = e;
		text++;
	} else {
		minus = e;
	}
	e->text.ptr = text ? dtx_arena_strdup(a, text) : "";
	e->text.len = text ? strlen(text) : 0;
	dtx_expr_measure(minus);
	return e->text.ptr ? minus : NULL;
}
