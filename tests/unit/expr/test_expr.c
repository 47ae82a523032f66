/* Formula language: parsing, canonical text, spans of syntax errors. */
#include "tests/t.h"

#include "core/expr/fn/fn.h"
#include "core/expr/parse/tree.h"

static void prints(const char *text, const char *want)
{
	struct dtx_arena a = DTX_ARENA_INIT;
	struct dtx_buf out = DTX_BUF_INIT(1 << 20);
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_expr *e = NULL, *again = NULL;

	T_OK(dtx_expr_parse(&a, dtx_str_of(text), &e, &err), &err);
	if (e) {
		dtx_expr_print(e, &out);
		T_STR(dtx_buf_text(&out), want);
		T_OK(dtx_expr_parse(&a, dtx_str_of(want), &again, &err), &err);
		T_CHECK(again && dtx_expr_equal(e, again));
	}
	dtx_buf_clear(&out);
	dtx_err_clear(&err);
	dtx_arena_clear(&a);
}

void test_expr_canonical(void)
{
	static const char *const rows[][2] = {
		{ "hours/((headcount*40)*weeks)", "hours / (headcount * 40 * weeks)" },
		{ "a + (b + c)", "a + (b + c)" },
		{ "(a+b)+c", "a + b + c" },
		{ "-2 ** 2", "-2 ** 2" },
		{ "(-2) ** 2", "(-2) ** 2" },
		{ "2 ** -3 ** 4", "2 ** -3 ** 4" },
		{ "(2 ** 3) ** 4", "(2 ** 3) ** 4" },
		{ "- - x", "-(-x)" },
		{ "-(a*b)", "-(a * b)" },
		{ "a = 1 && !b || c <> 'it''s'", "a == 1 and not b or c != 'it''s'" },
		{ "a and (b or c)", "a and (b or c)" },
		{ "a and (b and c)", "a and (b and c)" },
		{ "\"say \"\"hi\"\"\"", "'say \"hi\"'" },
		{ "x NOT IN [1,2]", "x not in (1, 2)" },
		{ "not (x in (1))", "x not in (1)" },
		{ "not x not in (1)", "not x not in (1)" },
		{ "x IS NOT NULL", "x is not null" },
		{ "is_null(x)", "x is null" },
		{ "not is_null(x)", "x is not null" },
		{ "x not between 1+1 and 2 and y", "x not between 1 + 1 and 2 and y" },
		{ "(a == b) == c", "(a == b) == c" },
		{ "(a is null) == (b is null)", "(a is null) == (b is null)" },
		{ "case when a then 1 when b then 2 else 3 end + 1",
		  "case when a then 1 when b then 2 else 3 end + 1" },
		{ "`Hours|Jan` + `a``b` + `end`", "`Hours|Jan` + `a``b` + `end`" },
		{ "`plain`", "plain" },
		{ "umsatz_für_2024", "umsatz_für_2024" },
		{ "left.a == right.b", "left.a == right.b" },
		{ "UNKNOWN_fn(a, width: 3)", "unknown_fn(a, width: 3)" },
		{ "matches(a, 'x')", "matches(a, 'x')" },
		{ "1.50 + 2e-3", "1.50 + 2e-3" },
		{ "not a == b", "not a == b" },
		{ "(not a) == b", "(not a) == b" },
		{ "a - (b - c) - d", "a - (b - c) - d" },
		{ "null", "null" },
		{ "TRUE and False", "true and false" },
	};
	size_t i;

	for (i = 0; i < DTX_COUNT(rows); i++)
		prints(rows[i][0], rows[i][1]);
}

void test_expr_syntax_spans(void)
{
	static const struct {
		const char *text;
		enum dtx_code code;
		int start, end;
		const char *msg;
	} rows[] = {
		{ "", DTX_E_EXPR_SYNTAX, 0, 0, "the formula ends too early: expected a value" },
		{ "a +", DTX_E_EXPR_SYNTAX, 3, 3, "the formula ends too early: expected a value" },
		{ "a b", DTX_E_EXPR_SYNTAX, 2, 3,
		  "unexpected 'b': expected an operator or the end" },
		{ "a < b < c", DTX_E_EXPR_SYNTAX, 6, 7,
		  "unexpected '<': expected an operator or the end" },
		{ "(a", DTX_E_EXPR_SYNTAX, 2, 2,
		  "the formula ends too early: expected ')' or an operator" },
		{ "f(a,", DTX_E_EXPR_SYNTAX, 4, 4, "the formula ends too early: expected a value" },
		{ "f(x: 1, 2)", DTX_E_EXPR_SYNTAX, 8, 9,
		  "unexpected '2': expected a named argument, as the one before it" },
		{ "a # b", DTX_E_EXPR_SYNTAX, 2, 3, "unexpected character '#'" },
		{ "'abc", DTX_E_EXPR_SYNTAX, 0, 4, "text is not closed: expected '" },
		{ "``", DTX_E_EXPR_SYNTAX, 0, 2, "a name in backticks is empty" },
		{ "007", DTX_E_BAD_LITERAL, 0, 3, "number '007' has a leading zero" },
		{ "12abc", DTX_E_EXPR_SYNTAX, 0, 3, "number '12a' is followed by a letter" },
		{ "9223372036854775808", DTX_E_BAD_LITERAL, 0, 19,
		  "number '9223372036854775808' is too large for an int" },
		{ "1e999", DTX_E_BAD_LITERAL, 0, 5, "number '1e999' is too large for a float" },
		{ "x in ()", DTX_E_EXPR_SYNTAX, 6, 7, "unexpected ')': expected a value" },
		{ "x is 3", DTX_E_EXPR_SYNTAX, 5, 6,
		  "unexpected '3': expected 'null' or 'not null'" },
		{ "sum(*)", DTX_E_EXPR_SYNTAX, 4, 5,
		  "unexpected '*': expected an argument ('*' is for count only)" },
		{ "case a end", DTX_E_EXPR_SYNTAX, 5, 6, "unexpected 'a': expected 'when'" },
		{ "x::3", DTX_E_EXPR_SYNTAX, 3, 4, "unexpected '3': expected a type name" },
		{ "a\xff", DTX_E_EXPR_SYNTAX, 1, 2, "byte 1 of the expression is not UTF-8 text" },
	};
	struct dtx_arena a = DTX_ARENA_INIT;
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_expr *e = NULL;
	size_t i;

	for (i = 0; i < DTX_COUNT(rows); i++) {
		T_CODE(dtx_expr_parse(&a, dtx_str_of(rows[i].text), &e, &err), rows[i].code, &err);
		T_INT(err.span[0], rows[i].start);
		T_INT(err.span[1], rows[i].end);
		T_STR(err.msg, rows[i].msg);
	}
	dtx_err_clear(&err);
	dtx_arena_clear(&a);
}

static enum dtx_code parse_repeated(const char *head, const char *part, int n, const char *tail)
{
	struct dtx_arena a = DTX_ARENA_INIT;
	struct dtx_buf text = DTX_BUF_INIT(1 << 20);
	struct dtx_expr *e = NULL;
	enum dtx_code rc;

	dtx_buf_add(&text, head);
	while (n-- > 0)
		dtx_buf_add(&text, part);
	dtx_buf_add(&text, tail);
	rc = dtx_expr_parse(&a, dtx_str_of(dtx_buf_text(&text)), &e, NULL);
	dtx_buf_clear(&text);
	dtx_arena_clear(&a);
	return rc;
}

void test_expr_limits(void)
{
	T_INT(parse_repeated("", "(", 300, "a"), DTX_E_EXPR_LIMIT);
	T_INT(parse_repeated("", "-", 300, "a"), DTX_E_EXPR_LIMIT);
	T_INT(parse_repeated("", "not ", 300, "a"), DTX_E_EXPR_LIMIT);
	T_INT(parse_repeated("", "f(", 300, "a"), DTX_E_EXPR_LIMIT);
	T_INT(parse_repeated("a", "::int", 300, ""), DTX_E_EXPR_LIMIT);
	T_INT(parse_repeated("a", " + a", 900, ""), DTX_OK);
	T_INT(parse_repeated("a", " + a", 1100, ""), DTX_E_EXPR_LIMIT);
	T_INT(parse_repeated("x in (1", ",2", 9999, ")"), DTX_OK);
	T_INT(parse_repeated("x in (1", ",2", 10000, ")"), DTX_E_EXPR_LIMIT);
	T_INT(parse_repeated("f(a", ",b", 10000, ")"), DTX_E_EXPR_LIMIT);
	T_INT(parse_repeated("'", "aaaaaaaaaaaaaaaa", 4096, "'"), DTX_E_EXPR_LIMIT);
	/* the printed form must fit */
	T_INT(parse_repeated("\"", "''", 20000, "\""), DTX_E_EXPR_LIMIT);
}

/* --- random trees --- */

struct random_trees {
	struct dtx_arena *arena;
	uint64_t state;
};

static uint32_t pick(struct random_trees *r, uint32_t n)
{
	r->state = r->state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(r->state >> 33) % n;
}

static struct dtx_expr *tree(struct random_trees *r, int depth);

static struct dtx_expr *leaf(struct random_trees *r)
{
	static const char *const names[] = { "a", "b c", "end", "ü", "x`y", "_1", "Null", "in" };
	static const char *const texts[] = { "",           "it's", "\"",
		                             "a b",        "\\d",  "é",
		                             "2024-02-29", "7d",   "2024-01-31T09:30:00",
		                             "%d.%m.%Y" };
	static const char *const ints[] = { "0", "1", "9223372036854775807" };
	struct dtx_expr *e = dtx_expr_node(r->arena, DTX_EX_COL, 0);

	if (pick(r, 2)) {
		e->name = names[pick(r, DTX_COUNT(names))];
		if (!pick(r, 8))
			e->table = names[pick(r, DTX_COUNT(names))];
		return e;
	}
	e->kind = DTX_EX_LIT;
	e->op = (int)pick(r, 7);
	if (e->op == DTX_LIT_TEXT)
		e->text = dtx_str_of(texts[pick(r, DTX_COUNT(texts))]);
	else if (e->op == DTX_LIT_INT)
		e->text = dtx_str_of(ints[pick(r, DTX_COUNT(ints))]);
	else if (e->op == DTX_LIT_POINT)
		e->text =
			pick(r, 2) ? DTX_STR("1.50") : DTX_STR("0.000000000000000000000000000001");
	else if (e->op == DTX_LIT_FLOAT)
		e->text = DTX_STR("2.5e-3");
	return e;
}

/* Any function of the language, with a valid number of arguments. */
static struct dtx_expr *call(struct random_trees *r, int depth)
{
	const struct dtx_fn_table *t;
	const struct dtx_fn *fn;
	const char **names;
	struct dtx_expr *e;
	size_t ntables = 0, min, max;
	uint32_t i, n;

	while (dtx_fns[ntables])
		ntables++;
	t = dtx_fns[pick(r, (uint32_t)ntables)];
	fn = dtx_fn_at(t, pick(r, (uint32_t)t->n));
	dtx_fn_arity(fn, &min, &max);
	n = (uint32_t)min + pick(r, (uint32_t)(DTX_MIN(max, min + 2) - min) + 1);
	e = dtx_expr_node(r->arena, DTX_EX_CALL, n);
	e->name = fn->name;
	for (i = 0; i < n; i++)
		e->arg[i] = tree(r, depth - 1);
	/* other names stay only if an argument before them is omitted */
	if (n && fn->kind == DTX_FN_AGG && !pick(r, 3)) {
		names = dtx_arena_zalloc(r->arena, n, sizeof(*names));
		names[n - 1] = "where";
		e->argname = names;
	}
	dtx_expr_measure(e);
	return e;
}

static struct dtx_expr *tree(struct random_trees *r, int depth)
{
	static const struct {
		enum dtx_ekind kind;
		uint32_t nargs, more, ops;
	} shapes[] = {
		{ DTX_EX_CALL, 0, 3, 1 }, { DTX_EX_NEG, 1, 1, 1 },    { DTX_EX_BIN, 2, 1, 7 },
		{ DTX_EX_CMP, 2, 1, 6 },  { DTX_EX_AND, 2, 1, 1 },    { DTX_EX_OR, 2, 1, 1 },
		{ DTX_EX_NOT, 1, 1, 1 },  { DTX_EX_IN, 2, 3, 1 },     { DTX_EX_BETWEEN, 3, 1, 1 },
		{ DTX_EX_CASE, 2, 4, 1 }, { DTX_EX_ISNULL, 1, 1, 1 }, { DTX_EX_BIN, 2, 1, 7 },
	};
	struct dtx_expr *e;
	const char **names;
	uint32_t i, s = pick(r, DTX_COUNT(shapes)), n;

	if (depth == 0 || !pick(r, 6))
		return leaf(r);
	if (shapes[s].kind == DTX_EX_CALL && pick(r, 4))
		return call(r, depth);
	n = shapes[s].nargs + pick(r, shapes[s].more);
	e = dtx_expr_node(r->arena, shapes[s].kind, n);
	e->op = (int)pick(r, shapes[s].ops);
	for (i = 0; i < n; i++)
		e->arg[i] = tree(r, depth - 1);
	if (e->kind == DTX_EX_CALL) {
		e->name = pick(r, 3) ? "f_x" : "like";
		if (n && !pick(r, 3)) {
			names = dtx_arena_zalloc(r->arena, n, sizeof(*names));
			names[n - 1] = "where";
			e->argname = names;
		}
	}
	dtx_expr_measure(e);
	return e;
}

void test_expr_random_round_trip(void)
{
	struct dtx_arena a = DTX_ARENA_INIT;
	struct dtx_buf text = DTX_BUF_INIT(1 << 20);
	struct dtx_err err = DTX_ERR_INIT;
	struct random_trees r = { &a, 7 };
	int i;

	for (i = 0; i < 20000; i++) {
		struct dtx_arena_mark mark = dtx_arena_mark(&a);
		struct dtx_expr *e = tree(&r, 1 + i % 5), *back = NULL;

		dtx_buf_reset(&text);
		dtx_expr_print(e, &text);
		if (dtx_expr_parse(&a, dtx_str_of(dtx_buf_text(&text)), &back, &err) != DTX_OK ||
		    !dtx_expr_equal(e, back)) {
			t_fail(__FILE__, __LINE__, "%s: %s", dtx_buf_text(&text), err.msg);
			break;
		}
		dtx_arena_rewind(&a, mark);
	}
	T_INT(i, 20000);
	dtx_err_clear(&err);
	dtx_buf_clear(&text);
	dtx_arena_clear(&a);
}

static const struct dtx_expr *put_product(void *arg, const char *name)
{
	return strcmp(name, "paid") ? NULL : arg;
}

static void count_name(void *arg, const char *name)
{
	*(int *)arg += strcmp(name, "hours") == 0;
}

void test_expr_compose(void)
{
	struct dtx_arena a = DTX_ARENA_INIT;
	struct dtx_buf out = DTX_BUF_INIT(1000);
	struct dtx_expr *whole, *part, *made;
	int hours = 0;

	T_OK(dtx_expr_parse(&a, DTX_STR("hours / paid"), &whole, NULL), NULL);
	T_OK(dtx_expr_parse(&a, DTX_STR("headcount * 40 * weeks"), &part, NULL), NULL);
	made = dtx_expr_replace(&a, whole, put_product, part);
	dtx_expr_print(made, &out);
	T_STR(dtx_buf_text(&out), "hours / (headcount * 40 * weeks)");
	dtx_expr_columns(made, count_name, &hours);
	T_INT(hours, 1);
	T_STR(dtx_expr_is_column(dtx_expr_column(&a, "x y")), "x y");
	T_CHECK(!dtx_expr_is_column(made));
	dtx_buf_reset(&out);
	dtx_expr_print(dtx_expr_call1(&a, "SUM", "x y"), &out);
	T_CHECK(!strcasecmp(dtx_buf_text(&out), "sum(`x y`)"));
	dtx_buf_clear(&out);
	dtx_arena_clear(&a);
}

static enum dtx_code parse_and_clear(const char *text)
{
	struct dtx_arena a = DTX_ARENA_INIT;
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_expr *e;
	enum dtx_code rc = dtx_expr_parse(&a, dtx_str_of(text), &e, &err);

	dtx_err_clear(&err);
	dtx_arena_clear(&a);
	return rc;
}

static bool may_cast(const char *text)
{
	struct dtx_arena a = DTX_ARENA_INIT;
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_expr *e = NULL;
	bool got = false;

	T_OK(dtx_expr_parse(&a, dtx_str_of(text), &e, &err), &err);
	if (e)
		got = dtx_expr_may_cast(e);
	dtx_err_clear(&err);
	dtx_arena_clear(&a);
	return got;
}

void test_expr_may_cast(void)
{
	static const char *const yes[] = { "1 + int(t)",          "number(t)",
		                           "make_date(a, b, c)",  "char(n)",
		                           "format_number(x, n)", "from_excel_serial(n)",
		                           "json_get(t, 'a')",    "json_len(t)",
		                           "try(t, int(s))" };
	static const char *const no[] = { "text(n)", "try(int(t))", "try(int(t), 0)", "a / b" };

	for (size_t i = 0; i < DTX_COUNT(yes); i++)
		if (!may_cast(yes[i]))
			t_fail(__FILE__, __LINE__, "%s raises nothing", yes[i]);
	for (size_t i = 0; i < DTX_COUNT(no); i++)
		T_CHECK(!may_cast(no[i]));
}

void test_expr_parse_alloc(void)
{
	char text[9000];
	size_t n = 0;

	/* long enough to need several blocks */
	for (n = 0; n + 40 < sizeof(text);)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%sf('it''s', `a b`, 1.5)",
		                      n ? " + " : "");
	T_EVERY_ALLOC_FAILS(parse_and_clear(text));
}

void test_expr_pandas_and_sql(void)
{
	static const char *const rows[][3] = {
		{ "a / b", "dx.div(df0[\"a\"], df0[\"b\"])",
		  "(CAST(\"a\" AS DOUBLE) / nullif(\"b\", 0))" },
		{ "a == 'p' and not c", "dx.and_(dx.eq(df0[\"a\"], \"p\"), dx.not_(df0[\"c\"]))",
		  "((\"a\" = 'p') AND (NOT \"c\"))" },
		{ "x in ('p', 1)", "dx.isin(df0[\"x\"], [\"p\", 1])", "(\"x\" IN ('p', 1))" },
		{ "x is not null", "dx.not_(dx.is_null(df0[\"x\"]))", "(NOT (\"x\" IS NULL))" },
		{ "if(c, a, null)", "dx.if_(df0[\"c\"], df0[\"a\"], dx.NULL)",
		  "CASE WHEN \"c\" THEN \"a\" ELSE NULL END" },
		{ "case when c then 1 else 2 end", "dx.case((df0[\"c\"], 1), default=2)",
		  "CASE WHEN \"c\" THEN 1 ELSE 2 END" },
		{ "switch(a, 1, 'x', 'y')", "dx.case((dx.eq(df0[\"a\"], 1), \"x\"), default=\"y\")",
		  "CASE WHEN (\"a\" = 1) THEN 'x' ELSE 'y' END" },
		{ "left(`a\"b`, 2)", "dx.fn(\"left\", df0[\"a\\\"b\"], 2)", "" },
		{ "sum(x, where: c)", "dx.over(\"sum\", df0, df0[\"x\"], where=df0[\"c\"])",
		  "sum(\"x\") FILTER (WHERE \"c\")" },
		{ "count()", "dx.over(\"count\", df0)", "count(*)" },
		{ "a between 1 and 2", "dx.and_(dx.ge(df0[\"a\"], 1), dx.le(df0[\"a\"], 2))",
		  "(\"a\" BETWEEN 1 AND 2)" },
		{ "t.a", "", "" },
		{ "nosuch(a)", "", "" },
	};
	struct dtx_arena a = DTX_ARENA_INIT;
	struct dtx_buf out = DTX_BUF_INIT(1000);
	struct dtx_expr *e;
	size_t i;

	for (i = 0; i < DTX_COUNT(rows); i++) {
		T_OK(dtx_expr_parse(&a, dtx_str_of(rows[i][0]), &e, NULL), NULL);
		dtx_buf_reset(&out);
		T_STR(dtx_expr_pandas(e, "df0", &out) ? dtx_buf_text(&out) : "", rows[i][1]);
		dtx_buf_reset(&out);
		T_STR(dtx_expr_sql(e, NULL, &out) ? dtx_buf_text(&out) : "", rows[i][2]);
	}
	dtx_buf_clear(&out);
	dtx_arena_clear(&a);
}
