/* Prints trees as pandas code and as SQL, from templates: "{0}" is an operand, "{*}" all of
 * them. */
#include "core/expr/parse/print_code.h"

#include <stdlib.h>

#include "core/data/schema.h"
#include "core/expr/parse/print_date.h"
#include "core/expr/parse/tree.h"
#include "core/expr/window/win.h"

enum code_kind { CODE_PANDAS, CODE_SQL };

struct coder {
	enum code_kind kind;
	const char *frame;              /* pandas: name of the table */
	const struct dtx_schema *types; /* SQL: types of the columns; NULL: unknown */
	const char *keys; /* pandas: name of the group's keys; NULL outside of groups */
	struct dtx_buf *out;
	const struct dtx_expr *where; /* SQL: condition of the aggregate that is being printed;
	                               * NULL */
	struct dtx_sql_over *over;    /* SQL: the rows of window calls; NULL: no windows here */
	bool adds;                    /* SQL: that aggregate adds up values */
	bool in_agg;                  /* inside of an aggregate's arguments */
	bool ok;                      /* false: a node has no form */
};

static void code(struct coder *c, const struct dtx_expr *e);
static void code_arg(struct coder *c, const struct dtx_expr *e, uint32_t i);

static void add(struct coder *c, const char *text)
{
	dtx_buf_add(c->out, text);
}

/* Records that a part has no form.  The text so far is of no use then; callers look only for the
 * name of the part in it. */
static void lacks(struct coder *c, const char *what, const char *suffix)
{
	c->ok = false;
	dtx_buf_printf(c->out, DTX_EXPR_LACKS "%s%s" DTX_EXPR_LACKS, what, suffix);
}

/* --- leaves --- */

static void python_text(struct dtx_buf *out, struct dtx_str s)
{
	size_t i;

	dtx_buf_addc(out, '"');
	for (i = 0; i < s.len; i++) {
		unsigned char ch = (unsigned char)s.ptr[i];

		if (ch == '"' || ch == '\\')
			dtx_buf_printf(out, "\\%c", ch);
		else if (ch == '\n')
			dtx_buf_add(out, "\\n");
		else if (ch < 0x20 || ch == 0x7f)
			dtx_buf_printf(out, "\\x%02x", ch);
		else
			dtx_buf_addc(out, (char)ch);
	}
	dtx_buf_addc(out, '"');
}

static void sql_quoted(struct dtx_buf *out, struct dtx_str s, char quote)
{
	size_t i;

	dtx_buf_addc(out, quote);
	for (i = 0; i < s.len; i++) {
		dtx_buf_addc(out, s.ptr[i]);
		if (s.ptr[i] == quote)
			dtx_buf_addc(out, quote);
	}
	dtx_buf_addc(out, quote);
}

static void code_literal(struct coder *c, const struct dtx_expr *e)
{
	static const char *const words[2][3] = { { "dx.NULL", "False", "True" },
		                                 { "NULL", "FALSE", "TRUE" } };

	if (e->op <= DTX_LIT_TRUE)
		add(c, words[c->kind][e->op]);
	else if (e->op == DTX_LIT_FLOAT && c->kind == CODE_PANDAS)
		dtx_buf_printf(c->out, "dx.Float(%.*s)", (int)e->text.len, e->text.ptr);
	else if (e->op != DTX_LIT_TEXT)
		dtx_buf_adds(c->out, e->text);
	else if (c->kind == CODE_PANDAS)
		python_text(c->out, e->text);
	else
		sql_quoted(c->out, e->text, '\'');
}

static void code_column(struct coder *c, const struct dtx_expr *e)
{
	if (e->table)
		lacks(c, "columns of the left table", "");
	if (c->kind == CODE_SQL) {
		sql_quoted(c->out, dtx_str_of(e->name), '"');
		return;
	}
	dtx_buf_printf(c->out, "%s[", c->keys && !c->in_agg ? c->keys : c->frame);
	python_text(c->out, dtx_str_of(e->name));
	add(c, "]");
}

/* --- types, where the printed form depends on them --- */

static int32_t type_column(void *arg, const char *name, struct dtx_field *field,
                           struct dtx_err *err)
{
	const struct coder *c = arg;
	int32_t at = dtx_schema_find(c->types, name);

	if (at < 0)
		(void)dtx_err_set(err, DTX_E_UNKNOWN_COLUMN, __FILE__, __LINE__, "%s", name);
	else
		*field = c->types->field[at];
	return at;
}

static void type_use(void *arg, int32_t column, enum dtx_demand demand, enum dtx_class cls)
{
	(void)arg;
	(void)column;
	(void)demand;
	(void)cls;
}

/* UNKNOWN: the columns are unknown, or the part does not bind on its own. */
static enum dtx_type type_of(const struct coder *c, const struct dtx_expr *e)
{
	struct dtx_scope scope = { .arg = (void *)(uintptr_t)c,
		                   .column = type_column,
		                   .use = type_use,
		                   .allow = DTX_ALLOW_AGG | DTX_ALLOW_WINDOW,
		                   .ordered = true };
	struct dtx_aggcalls aggs = { .n = 0 };
	struct dtx_errlist errs = DTX_ERRLIST_INIT;
	enum dtx_type type = DTX_T_UNKNOWN;
	struct dtx_bound *bound = NULL;
	struct dtx_arena arena = DTX_ARENA_INIT;

	if (!c->types)
		return DTX_T_UNKNOWN;
	if (dtx_expr_bind(&arena, e, &scope, (struct dtx_typeref){ .type = DTX_T_UNKNOWN }, &aggs,
	                  &bound, &errs, NULL) == DTX_OK &&
	    bound)
		type = dtx_bound_type(bound).type;
	dtx_errlist_clear(&errs);
	dtx_arena_clear(&arena);
	return type;
}

static bool is_date(enum dtx_type type)
{
	return type == DTX_T_DATE || type == DTX_T_DATETIME;
}

/* --- operators --- */

/* Operands are always in parentheses or inside of a call, so no precedence is needed. */
struct form {
	const char *pandas, *sql;
};
/* For ints; % of SQL truncates towards 0. */
#define SQL_MOD "(({0} % nullif({1}, 0) + {1}) % nullif({1}, 0))"
static const struct form bin_forms[] = {
	[DTX_BIN_ADD] = { "dx.add({0}, {1})", "({0} + {1})" },
	[DTX_BIN_SUB] = { "dx.sub({0}, {1})", "({0} - {1})" },
	[DTX_BIN_MUL] = { "dx.mul({0}, {1})", "({0} * {1})" },
	[DTX_BIN_DIV] = { "dx.div({0}, {1})", "(CAST({0} AS DOUBLE) / nullif({1}, 0))" },
	[DTX_BIN_FLOORDIV] = { "dx.floordiv({0}, {1})",
	                       "CAST(({0} - " SQL_MOD ") / nullif({1}, 0) AS BIGINT)" },
	[DTX_BIN_MOD] = { "dx.mod({0}, {1})", SQL_MOD },
	[DTX_BIN_POW] = { "dx.power({0}, {1})", "pow({0}, {1})" },
};
static const struct form cmp_forms[] = {
	[DTX_CMP_EQ] = { "dx.eq({0}, {1})", "({0} = {1})" },
	[DTX_CMP_NE] = { "dx.ne({0}, {1})", "({0} <> {1})" },
	[DTX_CMP_LT] = { "dx.lt({0}, {1})", "({0} < {1})" },
	[DTX_CMP_LE] = { "dx.le({0}, {1})", "({0} <= {1})" },
	[DTX_CMP_GT] = { "dx.gt({0}, {1})", "({0} > {1})" },
	[DTX_CMP_GE] = { "dx.ge({0}, {1})", "({0} >= {1})" },
};
static const struct form node_forms[] = {
	[DTX_EX_NEG] = { "dx.sub(0, {0})", "(-{0})" },
	[DTX_EX_AND] = { "dx.and_({0}, {1})", "({0} AND {1})" },
	[DTX_EX_OR] = { "dx.or_({0}, {1})", "({0} OR {1})" },
	[DTX_EX_NOT] = { "dx.not_({0})", "(NOT {0})" },
	[DTX_EX_BETWEEN] = { "dx.and_(dx.ge({0}, {1}), dx.le({0}, {2}))",
	                     "({0} BETWEEN {1} AND {2})" },
	[DTX_EX_ISNULL] = { "dx.is_null({0})", "({0} IS NULL)" },
};

static void code_all(struct coder *c, const struct dtx_expr *e, uint32_t from)
{
	uint32_t i;

	for (i = from; i < e->nargs; i++) {
		add(c, i > from ? ", " : "");
		code_arg(c, e, i);
	}
}

/* --- SQL: the rows that a call sees --- */

static bool is_windowed(const struct coder *c)
{
	return c->over && !c->over->grouped;
}

/* Writes "PARTITION BY k, more ", or nothing. */
static void partition(struct coder *c, const char *more)
{
	const char *part = c->over->part;

	if (*part || *more)
		dtx_buf_printf(c->out, "PARTITION BY %s%s%s ", part, *part && *more ? ", " : "",
		               more);
}

/* Writes the rows of the partition in their order, which is total, and a frame of them. */
static void in_order_of(struct coder *c, const char *frame)
{
	const char *order = c->over->order;

	add(c, " OVER (");
	partition(c, "");
	dtx_buf_printf(c->out, "ORDER BY %s%s\"_row\"%s)", order, *order ? ", " : "", frame);
}

#define SQL_SO_FAR " ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"
#define SQL_ONWARD " ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING"
#define SQL_ALL    " ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING"
/* Excludes nothing, as no two rows are equal in an order that ends in "_row". It makes SQLite add
 * up each frame from its first row: else it subtracts what leaves a frame, and floats keep an
 * error from a large value that has left. */
#define SQL_AFRESH " EXCLUDE TIES"

static void whole_partition(struct coder *c)
{
	add(c, " OVER (");
	partition(c, "");
	add(c, ")");
}

static void frame_edge(struct dtx_buf *out, const struct dtx_winedge *edge, const char *open)
{
	long long n = edge->rows;

	if (edge->open)
		dtx_buf_printf(out, "UNBOUNDED %s", open);
	else if (n == 0)
		dtx_buf_add(out, "CURRENT ROW");
	else
		dtx_buf_printf(out, "%lld %s", n < 0 ? -n : n, n < 0 ? "PRECEDING" : "FOLLOWING");
}

/* The frame of the step. `adds`: the call adds up values. */
static void frame_rows(struct coder *c, const struct dtx_row_frame *frame, bool adds)
{
	struct dtx_buf text = DTX_BUF_INIT(200);

	if (frame->range)
		lacks(c, "a frame by range", "");
	dtx_buf_add(&text, " ROWS BETWEEN ");
	frame_edge(&text, &frame->from, "PRECEDING");
	dtx_buf_add(&text, " AND ");
	frame_edge(&text, &frame->to, "FOLLOWING");
	dtx_buf_add(&text, adds && !frame->from.open ? SQL_AFRESH : "");
	in_order_of(c, dtx_buf_text(&text));
	dtx_buf_clear(&text);
}

/* The rows that an aggregate sees. */
static void code_filter(struct coder *c)
{
	if (c->where) {
		add(c, " FILTER (WHERE ");
		code(c, c->where);
		add(c, ")");
	}
	if (!is_windowed(c))
		return;
	if (c->over->frame && c->over->frame->set)
		frame_rows(c, c->over->frame, c->adds);
	else if (*c->over->order)
		in_order_of(c, SQL_SO_FAR);
	else
		whole_partition(c);
}

/* Whether the call converts its argument i to text. */
static bool shows(const struct dtx_expr *e, uint32_t i)
{
	const struct dtx_fn *fn =
		e->kind == DTX_EX_CALL ? dtx_fn_find(dtx_str_of(e->name), e->nargs) : NULL;
	struct dtx_fnparam p;

	return fn && dtx_fn_param(fn, i, &p) && (p.cls == 'V' || !strcmp(fn->name, "text"));
}

/* SQL compares dates and times as texts, so a date next to a datetime becomes its midnight, as in
 * dtx. */
static bool is_midnight(struct coder *c, const struct dtx_expr *e, uint32_t i)
{
	const struct dtx_expr *arg = e->arg[i];
	bool compares = e->kind == DTX_EX_CMP || e->kind == DTX_EX_BETWEEN || e->kind == DTX_EX_IN;
	bool text = arg->kind == DTX_EX_LIT && arg->op == DTX_LIT_TEXT, times = false;

	for (uint32_t k = 0; compares && k < e->nargs; k++)
		times = times || type_of(c, e->arg[k]) == DTX_T_DATETIME;
	if (!times)
		return false;
	if (text && arg->text.len > 10 && arg->text.ptr[10] != 'T')
		lacks(c, "a time that is not written as 2024-01-31T10:00:00", "");
	return text ? arg->text.len == 10 : type_of(c, arg) == DTX_T_DATE;
}

/* Whether argument i may become the value of e. */
static bool is_result(const struct dtx_expr *e, uint32_t i)
{
	bool last = i + 1 == e->nargs;
	const struct dtx_fn *fn;
	struct dtx_fnparam p;

	if (e->kind == DTX_EX_CASE)
		return i % 2 || last;
	fn = e->kind == DTX_EX_CALL ? dtx_fn_find(dtx_str_of(e->name), e->nargs) : NULL;
	if (!fn)
		return false;
	if (fn->kind == DTX_FN_WINDOW)
		return (fn->detail == DTX_WIN_LAG || fn->detail == DTX_WIN_LEAD) && i != 1;
	if (fn->form == DTX_FORM_IF)
		return i > 0;
	if (fn->form == DTX_FORM_SWITCH)
		return i > 0 && (i % 2 == 0 || last);
	return dtx_fn_param(fn, i, &p) && p.cls == 'W';
}

/* A value of SQLite has a type of its own, so an int beside floats is converted, as in dtx. */
static bool is_widened(const struct coder *c, const struct dtx_expr *e, uint32_t i)
{
	return is_result(e, i) && type_of(c, e->arg[i]) == DTX_T_INT64 &&
	       type_of(c, e) == DTX_T_FLOAT64;
}

/* SQL reads dates as texts of one shape. */
static void check_date(struct coder *c, const struct dtx_expr *e, uint32_t i)
{
	const struct dtx_expr *arg = e->arg[i];
	const struct dtx_fn *fn =
		e->kind == DTX_EX_CALL ? dtx_fn_find(dtx_str_of(e->name), e->nargs) : NULL;
	struct dtx_fnparam p;

	if (fn && arg->kind == DTX_EX_LIT && arg->op == DTX_LIT_TEXT && dtx_fn_param(fn, i, &p) &&
	    (p.cls == 'S' || p.cls == 'D') && !dtx_sql_date_literal(arg->text))
		lacks(c, "a date that is not written as 2024-01-31", "");
}

/* Argument i in SQL, where its own form would be another value. SQLite stores bools as numbers. */
static void code_arg_sql(struct coder *c, const struct dtx_expr *e, uint32_t i)
{
	const char *before = "", *after = "";

	check_date(c, e, i);
	if (is_midnight(c, e, i))
		before = "(", after = " || 'T00:00:00')";
	else if (shows(e, i) && type_of(c, e->arg[i]) == DTX_T_BOOL)
		before = "CASE ", after = " WHEN 1 THEN 'true' WHEN 0 THEN 'false' END";
	else if (is_widened(c, e, i) && e->arg[i]->kind == DTX_EX_LIT)
		after = ".0";
	else if (is_widened(c, e, i))
		before = "CAST(", after = " AS DOUBLE)";
	add(c, before);
	code(c, e->arg[i]);
	add(c, after);
}

static void code_arg(struct coder *c, const struct dtx_expr *e, uint32_t i)
{
	if (c->kind == CODE_SQL)
		code_arg_sql(c, e, i);
	else
		code(c, e->arg[i]);
}

static void fill(struct coder *c, const char *form, const struct dtx_expr *e)
{
	const char *p;

	for (p = form; *p; p++) {
		if (*p != '{') {
			dtx_buf_addc(c->out, *p);
			continue;
		}
		p++;
		if (*p == '*')
			code_all(c, e, 0);
		else if (*p == 'w')
			code_filter(c);
		else if ((uint32_t)(*p - '0') < e->nargs)
			code_arg(c, e, (uint32_t)(*p - '0'));
		else
			lacks(c, e->name ? e->name : "an operator", " without all arguments");
		p++;
	}
}

static void fill_form(struct coder *c, const struct form *f, const struct dtx_expr *e)
{
	fill(c, c->kind == CODE_PANDAS ? f->pandas : f->sql, e);
}

/* SQL cannot work on the decimal digits of a double, so its // and % of floats and decimals would
 * differ from ours. */
static bool only_ints(struct coder *c, const struct dtx_expr *e)
{
	for (uint32_t i = 0; i < e->nargs; i++)
		if (type_of(c, e->arg[i]) != DTX_T_INT64)
			return false;
	return true;
}

/* SQLite adds decimals as floats, so that 0.1 + 0.2 is not equal to 0.3, for ranks and groups. */
static bool no_decimal(struct coder *c, const struct dtx_expr *e)
{
	for (uint32_t i = 0; i < e->nargs; i++) {
		if (type_of(c, e->arg[i]) == DTX_T_DECIMAL) {
			lacks(c, "exact arithmetic of decimals", "");
			return false;
		}
	}
	return true;
}

static void code_binary(struct coder *c, const struct dtx_expr *e, int op)
{
	if (c->kind == CODE_SQL && (op == DTX_BIN_ADD || op == DTX_BIN_SUB || op == DTX_BIN_MUL) &&
	    !no_decimal(c, e))
		return;
	if (c->kind == CODE_SQL && (op == DTX_BIN_FLOORDIV || op == DTX_BIN_MOD) &&
	    !only_ints(c, e))
		lacks(c, op == DTX_BIN_MOD ? "%" : "//", " of numbers that are not int");
	fill_form(c, &bin_forms[op], e);
}

static void code_in(struct coder *c, const struct dtx_expr *e)
{
	add(c, c->kind == CODE_PANDAS ? "dx.isin(" : "(");
	code_arg(c, e, 0);
	add(c, c->kind == CODE_PANDAS ? ", [" : " IN (");
	code_all(c, e, 1);
	add(c, c->kind == CODE_PANDAS ? "])" : "))");
}

/* --- branches --- */

/* Argument i, or, for a switch, whether it equals the first argument. */
static void code_cond(struct coder *c, const struct dtx_expr *e, uint32_t i)
{
	const struct dtx_expr *arg[2] = { e->arg[0], e->arg[i] };
	struct dtx_expr same = *e;

	same.kind = DTX_EX_CMP;
	same.op = DTX_CMP_EQ;
	same.arg = arg;
	same.nargs = 2;
	if (e->kind == DTX_EX_CASE)
		code_arg(c, e, i);
	else
		code(c, &same);
}

/* Pairs of a condition and a value from argument `from` on, then perhaps a value without one. */
static void code_branches(struct coder *c, const struct dtx_expr *e, uint32_t from)
{
	bool pandas = c->kind == CODE_PANDAS;
	uint32_t i;

	add(c, pandas ? "dx.case(" : "CASE");
	for (i = from; i + 1 < e->nargs; i += 2) {
		add(c, !pandas ? " WHEN " : i > from ? ", (" : "(");
		code_cond(c, e, i);
		add(c, pandas ? ", " : " THEN ");
		code_arg(c, e, i + 1);
		add(c, pandas ? ")" : "");
	}
	if (i < e->nargs) {
		add(c, pandas ? ", default=" : " ELSE ");
		code_arg(c, e, i);
	}
	add(c, pandas ? ")" : " END");
}

/* --- calls --- */

/* dx.agg("sum", group, x, where=condition) for a group; dx.over("sum", table, x) for each row */
static void code_agg_pandas(struct coder *c, const struct dtx_expr *e, const struct dtx_fn *fn,
                            const struct dtx_expr *where)
{
	if (c->in_agg || (c->keys && fn->kind == DTX_FN_WINDOW)) {
		lacks(c, fn->name, "() of a group or an aggregate");
		return;
	}
	c->in_agg = true;
	dtx_buf_printf(c->out, "dx.%s(\"%s\", %s", c->keys ? "agg" : "over", fn->name, c->frame);
	for (uint32_t i = 0; i < e->nargs; i++) {
		const char *name = e->argname ? e->argname[i] : NULL;

		if (name && !strcmp(name, "where"))
			continue;
		dtx_buf_printf(c->out, ", %s%s", name ? name : "", name ? "=" : "");
		code(c, e->arg[i]);
	}
	if (where) {
		add(c, ", where=");
		code(c, where);
	}
	add(c, ")");
	c->in_agg = false;
}

/* Makes a column in a SELECT below the formula's: ends what the caller has written to `below` with
 * its name.  Returns the number in the name. */
static uint32_t name_below(struct coder *c)
{
	dtx_buf_printf(c->over->below, " AS \"_w%u\"", ++c->over->nbelow);
	return c->over->nbelow;
}

/* Argument 0 where it counts: under the condition of the aggregate. */
static void code_value(struct coder *c, const struct dtx_expr *e)
{
	if (c->where) {
		add(c, "CASE WHEN ");
		code(c, c->where);
		add(c, " THEN ");
	}
	code_arg(c, e, 0);
	add(c, c->where ? " END" : "");
}

/* The mean of the value or two values in the middle: places in the order of the values, and the
 * number of values, are made in a SELECT below. Nulls come last and are not counted. */
static void code_median(struct coder *c, const struct dtx_expr *e)
{
	struct dtx_buf *out = c->out;
	uint32_t place, all;

	c->out = c->over->below;
	add(c, ", row_number() OVER (");
	partition(c, "");
	add(c, "ORDER BY ");
	code_value(c, e);
	add(c, " NULLS LAST)");
	place = name_below(c);
	add(c, ", count(");
	code_value(c, e);
	add(c, ")");
	whole_partition(c);
	all = name_below(c);
	c->out = out;
	dtx_buf_printf(out, "avg(CASE WHEN 2 * \"_w%u\" BETWEEN \"_w%u\" AND \"_w%u\" + 2 THEN ",
	               place, all, all);
	code_value(c, e);
	add(c, " END)");
}

/* first, last: the number of the row is found in a SELECT below. */
static void code_first(struct coder *c, const struct dtx_expr *e, bool last)
{
	struct dtx_buf *out = c->out;
	uint32_t row;

	c->out = c->over->below;
	add(c, last ? ", max(CASE WHEN " : ", min(CASE WHEN ");
	code_value(c, e);
	add(c, " IS NOT NULL THEN \"_row\" END)");
	whole_partition(c);
	row = name_below(c);
	c->out = out;
	dtx_buf_printf(out, "max(CASE WHEN \"_row\" = \"_w%u\" THEN ", row);
	code_arg(c, e, 0);
	add(c, " END)");
}

/* Writes an aggregate that SQL has no function for. False: the call is another one. */
static bool code_agg_below(struct coder *c, const struct dtx_expr *e, const struct dtx_fn *fn)
{
	bool framed =
		is_windowed(c) && (*c->over->order || (c->over->frame && c->over->frame->set));

	if (fn->detail != DTX_AGG_MEDIAN && fn->detail != DTX_AGG_FIRST &&
	    fn->detail != DTX_AGG_LAST)
		return false;
	if (!c->over)
		lacks(c, fn->name, "()");
	else if (framed)
		lacks(c, fn->name, "() of a frame or in an order");
	else if (fn->detail == DTX_AGG_MEDIAN)
		code_median(c, e);
	else
		code_first(c, e, fn->detail == DTX_AGG_LAST);
	if (is_windowed(c))
		whole_partition(c);
	return true;
}

static void code_agg_sql(struct coder *c, const struct dtx_expr *e, const struct dtx_fn *fn,
                         const struct dtx_expr *where)
{
	enum dtx_type type = e->nargs ? type_of(c, e->arg[0]) : DTX_T_NULL;

	c->where = where;
	if (code_agg_below(c, e, fn)) {
		c->where = NULL;
		return;
	}
	if (!fn->sql || (fn->detail == DTX_AGG_COUNT_DISTINCT && is_windowed(c)) ||
	    (fn->detail == DTX_AGG_RANGE && is_date(type))) {
		lacks(c, fn->name, fn->sql && is_windowed(c) ? "() of a window" : "()");
		return;
	}
	if ((fn->detail == DTX_AGG_SUM || fn->detail == DTX_AGG_RANGE) && !no_decimal(c, e)) {
		c->where = NULL;
		return;
	}
	c->adds = fn->detail == DTX_AGG_SUM || fn->detail == DTX_AGG_MEAN;
	fill(c, e->nargs || strcmp(fn->name, "count") ? fn->sql : "count(*)", e);
	if (!strstr(fn->sql, "{w}"))
		code_filter(c);
	c->where = NULL;
}

/* --- SQL: window calls --- */

/* The constant argument i. False: it is not written as a number. */
static bool int_arg(const struct dtx_expr *e, uint32_t i, long long *out)
{
	const struct dtx_expr *arg = i < e->nargs ? e->arg[i] : NULL;
	bool minus = arg && arg->kind == DTX_EX_NEG;
	char digits[24];

	arg = minus ? arg->arg[0] : arg;
	if (!arg || arg->kind != DTX_EX_LIT || arg->op != DTX_LIT_INT ||
	    arg->text.len >= sizeof(digits))
		return false;
	memcpy(digits, arg->text.ptr, arg->text.len);
	digits[arg->text.len] = '\0';
	*out = strtoll(digits, NULL, 10) * (minus ? -1 : 1);
	return true;
}

/* A row whose first order key is null has no rank and is not counted: it is in a partition of its
 * own.  `call` is written with the rows before `rest`; total: equal rows are in table order. */
static void code_rank(struct coder *c, const char *call, bool total, const char *rest)
{
	struct dtx_buf null = DTX_BUF_INIT(DTX_PRINT_SQL_MAX);

	dtx_buf_printf(&null, "%s IS NULL", c->over->first);
	dtx_buf_printf(c->out, "CASE WHEN %s IS NOT NULL THEN %s OVER (", c->over->first, call);
	partition(c, dtx_buf_text(&null));
	dtx_buf_printf(c->out, "ORDER BY %s%s)", c->over->order, total ? ", \"_row\"" : "");
	if (*rest) { /* rows of equal rank */
		add(c, " + (count(*) OVER (");
		partition(c, c->over->keys);
		add(c, rest);
	}
	add(c, " END");
	dtx_buf_clear(&null);
}

/* lag(x, n) or lead(x, n); with_default: its third argument, too. */
static void code_shift(struct coder *c, const struct dtx_expr *e, bool lead, bool with_default)
{
	enum dtx_type type = type_of(c, e->arg[0]);
	long long n = 1;

	if (e->nargs > 1 && !int_arg(e, 1, &n))
		lacks(c, e->name, "() with a distance that is not a number");
	if (e->nargs > 3)
		lacks(c, e->name, "() with ignore_nulls");
	add(c, (n < 0) == lead ? "lag(" : "lead(");
	code_arg(c, e, 0);
	dtx_buf_printf(c->out, ", %lld", n < 0 ? -n : n);
	if (with_default && e->nargs > 2) {
		if (is_date(type))
			lacks(c, e->name, "() of dates with a default");
		add(c, ", ");
		code_arg(c, e, 2);
	}
	add(c, ")");
	in_order_of(c, "");
}

static void code_change(struct coder *c, const struct dtx_expr *e, bool relative)
{
	add(c, relative ? "(CAST(" : "(");
	code_arg(c, e, 0);
	add(c, " - ");
	code_shift(c, e, false, false);
	if (relative) {
		add(c, " AS DOUBLE) / nullif(");
		code_shift(c, e, false, false);
		add(c, ", 0)");
	}
	add(c, ")");
}

/* The last n rows, if enough of them have a value. */
static void code_roll(struct coder *c, const struct dtx_expr *e, const char *call)
{
	char frame[100];
	long long n, least;

	if (!int_arg(e, 1, &n) || (e->nargs > 2 && !int_arg(e, 2, &least))) {
		lacks(c, e->name, "() with a size that is not a number");
		return;
	}
	snprintf(frame, sizeof(frame), " ROWS BETWEEN %lld PRECEDING AND CURRENT ROW", n - 1);
	add(c, "CASE WHEN count(");
	code_arg(c, e, 0);
	add(c, ")");
	in_order_of(c, frame);
	dtx_buf_printf(c->out, " >= %lld THEN %s(", e->nargs > 2 ? least : n, call);
	code_arg(c, e, 0);
	add(c, ")");
	if (call[0] != 'm') /* sum, avg */
		snprintf(frame + strlen(frame), sizeof(frame) - strlen(frame), SQL_AFRESH);
	in_order_of(c, frame);
	add(c, " END");
}

/* From the first row of the partition to this one; null where the value is null. */
static void code_running(struct coder *c, const struct dtx_expr *e, const char *call)
{
	if (e->nargs > 1) {
		lacks(c, e->name, "() with limits or reset");
		return;
	}
	add(c, "CASE WHEN ");
	code_arg(c, e, 0);
	dtx_buf_printf(c->out, " IS NOT NULL THEN %s(", call);
	code_arg(c, e, 0);
	add(c, ")");
	in_order_of(c, SQL_SO_FAR);
	add(c, " END");
}

/* In a SELECT below, rows are numbered by how many values there are up to them (from them on):
 * those with the same number have one value. */
static void code_fill(struct coder *c, const struct dtx_expr *e, bool down)
{
	struct dtx_buf *out = c->out;
	char run[24];

	c->out = c->over->below;
	add(c, ", count(");
	code_arg(c, e, 0);
	add(c, ")");
	in_order_of(c, down ? SQL_SO_FAR : SQL_ONWARD);
	snprintf(run, sizeof(run), "\"_w%u\"", name_below(c));
	c->out = out;
	add(c, "max(");
	code_arg(c, e, 0);
	add(c, ") OVER (");
	partition(c, run);
	add(c, ")");
}

static void code_of_frame(struct coder *c, const struct dtx_expr *e, const char *call)
{
	const struct dtx_row_frame *frame = c->over->frame;

	dtx_buf_printf(c->out, "%s(", call);
	code_all(c, e, 0);
	add(c, ")");
	if (frame && frame->set)
		frame_rows(c, frame, false);
	else
		in_order_of(c, *c->over->order ? SQL_SO_FAR : SQL_ALL);
}

static void code_share(struct coder *c, const struct dtx_expr *e)
{
	add(c, "(CAST(");
	code_arg(c, e, 0);
	add(c, " AS DOUBLE) / nullif(sum(");
	code_arg(c, e, 0);
	add(c, ")");
	whole_partition(c);
	add(c, ", 0))");
}

static void code_window_sql(struct coder *c, const struct dtx_expr *e, const struct dtx_fn *fn)
{
	enum dtx_winkind kind = (enum dtx_winkind)fn->detail;
	char call[40];

	if (!is_windowed(c)) {
		lacks(c, fn->name, "()");
		return;
	}
	if ((kind == DTX_WIN_CUM_SUM || kind == DTX_WIN_ROLL_SUM || kind == DTX_WIN_DIFF) &&
	    !no_decimal(c, e))
		return;
	snprintf(call, sizeof(call), "%s()", fn->name);
	switch (kind) {
	case DTX_WIN_ROW_NUMBER:
		add(c, "row_number()");
		in_order_of(c, "");
		break;
	case DTX_WIN_RANK:
	case DTX_WIN_DENSE_RANK:
	case DTX_WIN_PERCENT_RANK:
	case DTX_WIN_CUME_DIST: code_rank(c, call, false, ""); break;
	case DTX_WIN_AVERAGE_RANK: code_rank(c, "rank()", false, ") - 1) / 2.0"); break;
	case DTX_WIN_NTILE: {
		long long n = 0;

		if (!int_arg(e, 0, &n))
			lacks(c, fn->name, "() of what is not a number");
		snprintf(call, sizeof(call), "ntile(%lld)", n);
		code_rank(c, call, true, "");
		break;
	}
	case DTX_WIN_LAG:
	case DTX_WIN_LEAD: code_shift(c, e, kind == DTX_WIN_LEAD, true); break;
	case DTX_WIN_DIFF:
	case DTX_WIN_PCT_CHANGE: code_change(c, e, kind == DTX_WIN_PCT_CHANGE); break;
	case DTX_WIN_FIRST_VALUE:
	case DTX_WIN_LAST_VALUE:
	case DTX_WIN_NTH_VALUE: code_of_frame(c, e, fn->name); break;
	case DTX_WIN_FILL_DOWN:
	case DTX_WIN_FILL_UP: code_fill(c, e, kind == DTX_WIN_FILL_DOWN); break;
	case DTX_WIN_CUM_SUM: code_running(c, e, "sum"); break;
	case DTX_WIN_CUM_MEAN: code_running(c, e, "avg"); break;
	case DTX_WIN_CUM_MIN: code_running(c, e, "min"); break;
	case DTX_WIN_CUM_MAX: code_running(c, e, "max"); break;
	case DTX_WIN_CUM_COUNT:
		if (e->nargs) {
			code_running(c, e, "count");
		} else {
			add(c, "row_number()");
			in_order_of(c, "");
		}
		break;
	case DTX_WIN_ROLL_SUM: code_roll(c, e, "sum"); break;
	case DTX_WIN_ROLL_MEAN: code_roll(c, e, "avg"); break;
	case DTX_WIN_ROLL_MIN: code_roll(c, e, "min"); break;
	case DTX_WIN_ROLL_MAX: code_roll(c, e, "max"); break;
	case DTX_WIN_SHARE: code_share(c, e); break;
	default: lacks(c, fn->name, "()");
	}
}

/* The number of the parameter that argument i of a call is for. */
static uint32_t place_of(const struct dtx_expr *e, const struct dtx_fn *fn, uint32_t i)
{
	struct dtx_fnparam p;
	uint32_t at;

	if (!e->argname || !e->argname[i])
		return i;
	for (at = 0; at < e->nargs && dtx_fn_param(fn, at, &p); at++)
		if (dtx_str_is(p.name, e->argname[i]))
			return at;
	return e->nargs;
}

/* The arguments in the order of the signature.  False if one in the middle is omitted. */
static bool in_order(const struct dtx_expr *e, const struct dtx_fn *fn, uint32_t n,
                     const struct dtx_expr **arg)
{
	for (uint32_t i = 0; i < n; i++)
		arg[i] = NULL;
	for (uint32_t i = 0, k = 0; i < e->nargs && k < n; i++) {
		uint32_t at = place_of(e, fn, i);

		if (e->argname && e->argname[i] && !strcmp(e->argname[i], "where"))
			continue;
		if (at >= n || arg[at])
			return false;
		arg[at] = e->arg[i];
		k++;
	}
	for (uint32_t i = 0; i < n; i++)
		if (!arg[i])
			return false;
	return true;
}

/* A text next to a date, or as the argument of a date function, is one. */
static enum dtx_type date_type(const struct coder *c, const struct dtx_expr *e)
{
	if (e->kind == DTX_EX_LIT && e->op == DTX_LIT_TEXT && dtx_sql_date_literal(e->text))
		return e->text.len == 10 ? DTX_T_DATE : DTX_T_DATETIME;
	return type_of(c, e);
}

static void code_date_call(struct coder *c, const struct dtx_expr *e, const struct dtx_fn *fn)
{
	struct dtx_buf form = DTX_BUF_INIT(DTX_PRINT_SQL_MAX), lack = DTX_BUF_INIT(200);
	enum dtx_type type[2] = { date_type(c, e->arg[0]),
		                  e->nargs > 1 ? date_type(c, e->arg[1]) : DTX_T_NULL };
	const char *why;

	if (dtx_sql_date_form(fn->name, e, type, &form, &why)) {
		fill(c, dtx_buf_text(&form), e);
	} else {
		dtx_buf_printf(&lack, "() %s", why);
		lacks(c, fn->name, dtx_buf_text(&lack));
	}
	dtx_buf_clear(&form);
	dtx_buf_clear(&lack);
}

/* A cast of SQL takes any value: int('12 t') is 12, int(2.7) is 2, and the text of a float has 15
 * digits.  So only those that cannot differ have a form. */
static void code_cast_sql(struct coder *c, const struct dtx_expr *e, const struct dtx_fn *fn)
{
	enum dtx_type to = (enum dtx_type)fn->detail, from = type_of(c, e->arg[0]);
	bool whole = from == DTX_T_INT64 || from == DTX_T_BOOL || from == DTX_T_NULL;
	bool number = from == DTX_T_FLOAT64 || from == DTX_T_DECIMAL, same = false;
	struct dtx_buf lack = DTX_BUF_INIT(200);

	if (to == DTX_T_INT64)
		same = whole;
	else if (to == DTX_T_FLOAT64)
		same = whole || number;
	else if (to == DTX_T_TEXT)
		same = whole || from == DTX_T_TEXT || is_date(from);
	if (to == DTX_T_DATE && date_type(c, e->arg[0]) == DTX_T_DATE) {
		code_arg(c, e, 0);
	} else if (same && fn->sql) {
		fill(c, fn->sql, e);
	} else {
		dtx_buf_printf(&lack, "() of %s", dtx_type_name(from));
		lacks(c, fn->name, fn->sql ? dtx_buf_text(&lack) : "()");
	}
	dtx_buf_clear(&lack);
}

static void code_form(struct coder *c, const struct dtx_expr *e, const struct dtx_fn *fn,
                      const struct dtx_expr *where)
{
	static const struct form if_form = { "dx.if_({0}, {1}, {2})",
		                             "CASE WHEN {0} THEN {1} ELSE {2} END" };
	const char *form = c->kind == CODE_PANDAS ? fn->pandas : fn->sql;

	if (fn->kind != DTX_FN_SCALAR && c->kind == CODE_PANDAS)
		code_agg_pandas(c, e, fn, where);
	else if (fn->kind == DTX_FN_AGG)
		code_agg_sql(c, e, fn, where);
	else if (fn->kind == DTX_FN_WINDOW)
		code_window_sql(c, e, fn);
	else if (fn->form == DTX_FORM_IF)
		fill_form(c, &if_form, e);
	else if (fn->form == DTX_FORM_SWITCH)
		code_branches(c, e, 1);
	else if (fn->form == DTX_FORM_BIN)
		code_binary(c, e, fn->detail);
	else if (c->kind == CODE_SQL && dtx_sql_date_has(fn->name))
		code_date_call(c, e, fn);
	else if (c->kind == CODE_SQL && fn->form == DTX_FORM_CAST)
		code_cast_sql(c, e, fn);
	else if (form)
		fill(c, form, e);
	else
		lacks(c, fn->name, "()");
}

#define ORDER_MAX 16 /* for named arguments: no function has so many parameters */

static void code_call(struct coder *c, const struct dtx_expr *e)
{
	const struct dtx_expr *arg[ORDER_MAX], *where;
	struct dtx_expr plain = *e;
	const struct dtx_fn *fn;
	uint32_t n;

	where = dtx_expr_where(e, &n);
	fn = dtx_fn_find(dtx_str_of(e->name), n);
	plain.nargs = n;
	plain.argname = NULL;
	if (fn && e->argname && n <= ORDER_MAX && in_order(e, fn, n, arg))
		plain.arg = arg;
	else if (fn && e->argname && fn->kind == DTX_FN_WINDOW && c->kind == CODE_PANDAS)
		plain = *e; /* dx takes arguments of window calls by the same names */
	else if (fn && e->argname)
		fn = NULL;
	if (fn)
		code_form(c, &plain, fn, where);
	else
		lacks(c, e->name, "()");
}

/* Whether a column or a call in it makes a date. */
static bool has_date(const struct coder *c, const struct dtx_expr *e)
{
	const struct dtx_fn *fn =
		e->kind == DTX_EX_CALL ? dtx_fn_find(dtx_str_of(e->name), e->nargs) : NULL;
	bool found = (e->kind == DTX_EX_COL && is_date(type_of(c, e))) ||
	             (fn && fn->result && strchr("ds", fn->result[0]));

	for (uint32_t i = 0; !found && i < e->nargs; i++)
		found = has_date(c, e->arg[i]);
	return found;
}

/* Writes arithmetic with dates, which SQLite stores as text. False: it has no dates. */
static bool code_dates(struct coder *c, const struct dtx_expr *e)
{
	enum dtx_type a, b;

	if (c->kind != CODE_SQL || (e->kind != DTX_EX_BIN && e->kind != DTX_EX_NEG) ||
	    !has_date(c, e))
		return false;
	a = type_of(c, e->arg[0]);
	b = e->nargs > 1 ? type_of(c, e->arg[1]) : DTX_T_INT64;
	if (!is_date(a) && !is_date(b) && a != DTX_T_UNKNOWN && b != DTX_T_UNKNOWN)
		return false;
	if (e->kind == DTX_EX_BIN && e->op == DTX_BIN_SUB && a == DTX_T_DATE && b == DTX_T_DATE)
		fill(c, dtx_sql_days_between, e);
	else
		lacks(c, "counting with dates", "");
	return true;
}

static void code(struct coder *c, const struct dtx_expr *e)
{
	/* Forms such as that of // hold an argument several times, so nested ones grow as a power:
	 * where the text has no room left, what follows is not made. */
	if (!dtx_buf_ok(c->out))
		return;
	if (code_dates(c, e))
		return;
	switch (e->kind) {
	case DTX_EX_LIT: code_literal(c, e); break;
	case DTX_EX_COL: code_column(c, e); break;
	case DTX_EX_CALL: code_call(c, e); break;
	case DTX_EX_BIN: code_binary(c, e, e->op); break;
	case DTX_EX_CMP: fill_form(c, &cmp_forms[e->op], e); break;
	case DTX_EX_IN: code_in(c, e); break;
	case DTX_EX_CASE: code_branches(c, e, 0); break;
	case DTX_EX_NEG:
	case DTX_EX_AND:
	case DTX_EX_OR:
	case DTX_EX_NOT:
	case DTX_EX_BETWEEN:
	case DTX_EX_ISNULL: fill_form(c, &node_forms[e->kind], e); break;
	}
}

bool dtx_expr_pandas(const struct dtx_expr *e, const char *frame, struct dtx_buf *out)
{
	struct coder c = { .kind = CODE_PANDAS, .frame = frame, .out = out, .ok = true };

	code(&c, e);
	return c.ok;
}

bool dtx_expr_pandas_group(const struct dtx_expr *e, const char *frame, const char *keys,
                           struct dtx_buf *out)
{
	struct coder c = {
		.kind = CODE_PANDAS, .frame = frame, .keys = keys, .out = out, .ok = true
	};

	code(&c, e);
	return c.ok;
}

bool dtx_expr_sql(const struct dtx_expr *e, const struct dtx_schema *types, struct dtx_buf *out)
{
	return dtx_expr_sql_over(e, types, NULL, out);
}

bool dtx_expr_sql_over(const struct dtx_expr *e, const struct dtx_schema *types,
                       struct dtx_sql_over *over, struct dtx_buf *out)
{
	struct coder c = { .kind = CODE_SQL, .types = types, .over = over, .out = out, .ok = true };

	code(&c, e);
	return c.ok;
}
