/* Prints trees as pandas code and as SQL, from templates: "{0}" is an operand, "{*}" all of
 * them. */
#include "core/data/schema.h"
#include "core/expr/fn/fn.h"
#include "core/expr/parse/tree.h"

enum code_kind { CODE_PANDAS, CODE_SQL };

struct coder {
	enum code_kind kind;
	const char *frame;              /* pandas: name of the table */
	const struct dtx_schema *types; /* SQL: types of the columns; NULL: unknown */
	const char *keys; /* pandas: name of the group's keys; NULL outside of groups */
	struct dtx_buf *out;
	const struct dtx_expr *where; /* SQL: condition of the aggregate that is being printed;
	                               * NULL */
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
		                   .allow = DTX_ALLOW_AGG };
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

/* The rows that an aggregate sees. */
static void code_filter(struct coder *c)
{
	if (!c->where)
		return;
	add(c, " FILTER (WHERE ");
	code(c, c->where);
	add(c, ")");
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

/* Argument i in SQL, where its own form would be another value. SQLite stores bools as numbers. */
static void code_arg_sql(struct coder *c, const struct dtx_expr *e, uint32_t i)
{
	const char *before = "", *after = "";

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

static void code_binary(struct coder *c, const struct dtx_expr *e, int op)
{
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

static void code_agg_sql(struct coder *c, const struct dtx_expr *e, const struct dtx_fn *fn,
                         const struct dtx_expr *where)
{
	if (!fn->sql) {
		lacks(c, fn->name, "()");
		return;
	}
	c->where = where;
	fill(c, e->nargs || strcmp(fn->name, "count") ? fn->sql : "count(*)", e);
	if (!strstr(fn->sql, "{w}"))
		code_filter(c);
	c->where = NULL;
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
	else if (fn->form == DTX_FORM_IF)
		fill_form(c, &if_form, e);
	else if (fn->form == DTX_FORM_SWITCH)
		code_branches(c, e, 1);
	else if (fn->form == DTX_FORM_BIN)
		code_binary(c, e, fn->detail);
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

/* SQLite stores dates as text, so it cannot do arithmetic on them. */
static bool has_date(const struct coder *c, const struct dtx_expr *e)
{
	enum dtx_type type = e->kind == DTX_EX_COL ? type_of(c, e) : DTX_T_UNKNOWN;
	bool found = type == DTX_T_DATE || type == DTX_T_DATETIME;

	for (uint32_t i = 0; !found && i < e->nargs; i++)
		found = has_date(c, e->arg[i]);
	return found;
}

static void code(struct coder *c, const struct dtx_expr *e)
{
	/* Forms such as that of // hold an argument several times, so nested ones grow as a power:
	 * where the text has no room left, what follows is not made. */
	if (!dtx_buf_ok(c->out))
		return;
	if (c->kind == CODE_SQL && (e->kind == DTX_EX_BIN || e->kind == DTX_EX_NEG) &&
	    has_date(c, e))
		lacks(c, "counting with dates", "");
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
	struct coder c = { .kind = CODE_SQL, .types = types, .out = out, .ok = true };

	code(&c, e);
	return c.ok;
}
