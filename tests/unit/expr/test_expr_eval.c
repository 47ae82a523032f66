/* Formula language: binding and evaluation. */
#include "tests/t.h"
#include "tests/unit/expr_env.h"

#include "core/base/thread/cancel.h"
#include "core/base/log.h"
#include "core/expr/fn/fn.h"

struct row {
	const char *text, *want;
};

static void run_rows(const struct row *rows, size_t n)
{
	struct expr_env v;
	size_t i;

	expr_env_init(&v);
	for (i = 0; i < n; i++) {
		const char *got = expr_env_run(&v, rows[i].text);

		if (strcmp(got, rows[i].want))
			t_fail(__FILE__, __LINE__, "%s: got [%s], expected [%s]: %s%s",
			       rows[i].text, got, rows[i].want, v.err.msg,
			       v.errs.n ? v.errs.item[0].msg : "");
		else
			T_CHECK(true);
	}
	expr_env_clear(&v);
}

void test_eval_arithmetic(void)
{
	static const struct row rows[] = {
		{ "i", "1|-2|~" },
		{ "i + j", "11|-2|~" },
		{ "i - 1", "0|-3|~" },
		{ "i * j", "10|0|~" },
		{ "i / j", "0.1|~|~" },
		{ "7 / 2", "3.5|3.5|3.5" },
		{ "-7 // 2", "-4|-4|-4" },
		{ "-7 % 2", "1|1|1" },
		{ "7 % -2", "-1|-1|-1" },
		{ "j // 0", "~|~|~" },
		{ "-i", "-1|2|~" },
		{ "2 ** 10", "1024.0|1024.0|1024.0" },
		{ "i + f", "2.5|-2.0|~" },
		{ "f * 0 - 0.0", "0.0|0.0|~" },
		{ "-7.5 // 2.0", "-4.0|-4.0|-4.0" },
		{ "-7.5 % 2.0", "0.5|0.5|0.5" },
		{ "9223372036854775807 + j", "overflow row 0" },
		{ "9223372036854775807 * i", "overflow row 1" },
		{ "0 - 9223372036854775807 - 1 - j", "overflow row 0" },
		{ "m + 1", "13.50|0.95|~" },
		{ "m * 2", "25.00|-0.10|~" },
		{ "m + 0.125", "12.625|0.075|~" },
		{ "m / 2", "6.25|-0.025|~" },
		{ "m // 1", "12|-1|~" },
		{ "m % 1", "0.50|0.95|~" },
		{ "-m", "-12.50|0.05|~" },
		{ "d + 1", "2024-02-01|~|2023-12-02" },
		{ "1 + d", "2024-02-01|~|2023-12-02" },
		{ "d - 31", "2023-12-31|~|2023-10-31" },
		{ "d - d", "0|~|0" },
		{ "d - '2024-01-01'", "30|~|-31" },
		{ "n + 1", "~|~|~" },
		{ "null + null", "~|~|~" },
		{ "p + 1", "8.0|2.5|~" },
		{ "u + 1", "unknown" },
	};

	run_rows(rows, DTX_COUNT(rows));
}

void test_eval_compare(void)
{
	static const struct row rows[] = {
		{ "i < j", "true|true|~" },
		{ "i == 1.0", "true|false|~" },
		{ "9007199254740993 == 9007199254740992.0", "false|false|false" },
		{ "t == 'abc'", "true|~|false" },
		{ "t != 'abc'", "false|~|true" },
		{ "t < 'b'", "true|~|true" },
		{ "s == 'x'", "true|false|true" },
		{ "s > 'x'", "false|true|false" },
		{ "s in ('y', 'z')", "false|true|false" },
		{ "k == 'a\"b'", "false|true|~" },
		{ "k in ('de', null)", "true|~|~" },
		{ "k != 'zz'", "true|true|~" },
		{ "p == 7", "true|false|~" },
		{ "d > '2024-01-01'", "true|~|false" },
		{ "d < at", "true|~|false" },
		{ "m == 12.5", "true|false|~" },
		{ "m > 12", "true|false|~" },
		{ "b == c", "true|~|true" },
		{ "b < true", "false|~|true" },
		{ "i in (1, 2.5)", "true|false|~" },
		{ "i in (1, null)", "true|~|~" },
		{ "i in (j, 1)", "true|false|~" },
		{ "f in (1, 1.5)", "true|false|~" },
		{ "i not in (1)", "false|true|~" },
		{ "d in ('2024-01-31')", "true|~|false" },
		{ "i between -2 and 0", "false|true|~" },
		{ "i not between -2 and 0", "true|false|~" },
		{ "n == 1", "~|~|~" },
		{ "i == null", "~|~|~" },
		{ "is_distinct(i, 1)", "false|true|true" },
		{ "is_distinct(i, null)", "true|true|false" },
		{ "u == 1", "" },
	};

	run_rows(rows, DTX_COUNT(rows) - 1);
}

void test_eval_logic(void)
{
	static const struct row rows[] = {
		{ "b and c", "true|false|false" },
		{ "b and true", "true|~|false" },
		{ "b or c", "true|~|false" },
		{ "b or true", "true|true|true" },
		{ "not b", "false|~|true" },
		{ "null and false", "false|false|false" },
		{ "null or null", "~|~|~" },
		{ "i is null", "false|false|true" },
		{ "t is not null", "true|false|true" },
		{ "n is null", "true|true|true" },
		{ "p is null", "false|false|true" },
		/* the right side is computed only for rows that need it */
		{ "i > 0 and 9223372036854775807 - i * 0 + j * 0 > 0", "true|false|~" },
		{ "j == 10 or 9223372036854775807 + j > 0", "overflow row 2" },
		{ "j >= 3 or 9223372036854775807 + j > 0", "true|true|true" },
		{ "case when i > 0 then 'pos' when i < 0 then 'neg' end", "pos|neg|~" },
		{ "case when i > 0 then 1 else 2.5 end", "1.0|2.5|2.5" },
		{ "case when j > 0 then 0 else 9223372036854775807 + j end",
		  "0|9223372036854775807|0" },
		{ "if(b, t, 'no')", "abc|no|no" },
		{ "coalesce(i, j)", "1|-2|3" },
		{ "coalesce(n, null, f)", "1.5|0.0|~" },
		{ "nullif(j, 0)", "10|~|3" },
		{ "switch(s, 'x', 1, 'y', 2)", "1|2|1" },
		{ "switch(i, 1, 'one', 'many')", "one|many|many" },
		{ "try(9223372036854775807 + j, -1)", "-1|9223372036854775807|-1" },
		{ "is_blank(t)", "false|true|true" },
		{ "is_blank(k)", "false|false|true" },
		{ "if(d > '2024-01-01', d, '2000-01-01')", "2024-01-31|2000-01-01|2000-01-01" },
	};

	run_rows(rows, DTX_COUNT(rows));
}

/* Where tools disagree: one line for each such question about formulas. */
void test_eval_where_tools_disagree(void)
{
	static const struct row rows[] = {
		{ "9223372036854775807 + i", "overflow row 0" }, /* int overflow: error */
		{ "j / 0", "~|~|~" },                            /* division by zero: null */
		{ "7 / 2", "3.5|3.5|3.5" },
		{ "-7 // 2", "-4|-4|-4" },
		{ "-7 % 2", "1|1|1" },
		{ "round(-2.5)", "-3|-3|-3" },                          /* half away from zero */
		{ "round(2.675, 2)", "2.68|2.68|2.68" },                /* on the decimal digits */
		{ "'Z' < 'a' and 'z' < '\xc3\xa9'", "true|true|true" }, /* text by bytes */
		{ "i == '1'", "type_mismatch 0 8" },                    /* text against number */
		{ "null and false", "false|false|false" },              /* Kleene */
		{ "i in (5, null)", "~|~|~" },
		{ "i != 1", "false|true|~" }, /* null stays null */
		{ "is_distinct(i, 1)", "false|true|true" },
		{ "concat('a', null, 'b')", "ab|ab|ab" }, /* concat skips null */
		{ "max(1, null)", "1|1|1" },              /* row-wise max skips null */
		{ "int('12.7')", "cast_failed row 0" },
		{ "int(' 12 ')", "12|12|12" },
		{ "int('1,234')", "cast_failed row 0" },
		{ "bool('yes')", "cast_failed row 0" },
		{ "date('03/04/2024')", "ambiguous_date row 0" },
		{ "text(100.0)", "100.0|100.0|100.0" }, /* floats stay floats */
		{ "mid('abc', 1, 1)", "a|a|a" },        /* mid from 1, slice from 0 */
		{ "slice('abc', 1)", "bc|bc|bc" },
		{ "date_add('2024-01-31', 1, 'month')", "2024-02-29|2024-02-29|2024-02-29" },
		{ "weekday('2024-01-01')", "1|1|1" }, /* Monday is 1 */
	};

	run_rows(rows, DTX_COUNT(rows));
}

void test_bind_codes(void)
{
	static const struct row rows[] = {
		{ "i + zz", "unknown_column 4 6" },
		{ "x.i", "unknown_column 0 3" },
		{ "i + t", "type_mismatch 0 5" },
		{ "t + t", "type_mismatch 0 5" },
		{ "at + 1", "type_mismatch 0 6" },
		{ "i == 'x'", "type_mismatch 0 8" },
		{ "i in (1, 'x')", "type_mismatch 9 12" },
		{ "d == 'soon'", "bad_literal 5 11" },
		{ "i and b", "not_boolean 0 1" },
		{ "not t", "not_boolean 4 5" },
		{ "if(i, 1, 2)", "not_boolean 3 4" },
		{ "if(b, 1, 'x')", "type_mismatch 0 13" },
		{ "if(b)", "bad_arity 0 5" },
		{ "nosuch(i)", "unknown_function 0 9" },
		{ "to_zone(at, t)", "unknown_function 0 14" },
		{ "sum(i)", "aggregate_not_allowed 0 6" },
		{ "coalesce(i, where: b)", "bad_arity 19 20" },
		{ "coalesce(i, width: 1)", "bad_arity 19 20" },
		{ "-t", "type_mismatch 1 2" },
		{ "coalesce(i, t)", "type_mismatch 0 14" },
		{ "i between 'a' and 3", "type_mismatch 0 19" },
	};

	run_rows(rows, DTX_COUNT(rows));
}

void test_bind_tells_all(void)
{
	struct expr_env v;

	expr_env_init(&v);
	T_CHECK(!expr_env_bind(&v, "zz + 1 > 2 and yy + t == 3 or i", NULL));
	T_INT(v.errs.n, 3);
	T_INT(v.errs.item[0].code, DTX_E_UNKNOWN_COLUMN);
	T_INT(v.errs.item[1].code, DTX_E_UNKNOWN_COLUMN);
	T_INT(v.errs.item[2].code, DTX_E_NOT_BOOLEAN);
	/* sugar that binds an operand twice reports a finding once */
	T_CHECK(!expr_env_bind(&v, "zz between 1 and 2", NULL));
	T_INT(v.errs.n, 1);
	T_CHECK(!expr_env_bind(&v, "coalesc(i)", NULL));
	T_STR(v.errs.item[0].did_you_mean[0], "coalesce");
	T_INT(v.errs.item[0].severity, DTX_SEV_ERROR); /* a misspelling is not a reason for a
	                                                * snippet */
	T_CHECK(!expr_env_bind(&v, "frobnicate(i)", NULL));
	T_INT(v.errs.item[0].severity, DTX_SEV_FALLBACK);
	T_CHECK(!expr_env_bind(&v, "in_tz('2024-01-01', 'Nowhere/At_All')", NULL));
	T_STR(v.errs.item[0].msg, "there is no time zone 'Nowhere/At_All' in /usr/share/zoneinfo");
	expr_env_clear(&v);
}

/* Cells that are quoted by another character than the double quote. */
void test_eval_compares_raw_cells(void)
{
	struct expr_env v;

	expr_env_init(&v);
	T_STR(expr_env_run(&v, "k == 'a\"b'"), "false|true|~");
	v.batch->col[12]->dialect.quote = '\'';
	T_STR(expr_env_run(&v, "k == 'a\"\"b'"), "false|true|~");
	T_STR(expr_env_run(&v, "k > 'b'"), "true|false|~");
	expr_env_clear(&v);
}

void test_eval_counts_and_options(void)
{
	struct expr_env v;

	expr_env_init(&v);
	T_STR(expr_env_run(&v, "1 / j"), "0.1|~|0.3333333333333333");
	T_INT(v.counts.div_zero, 1);
	T_STR(expr_env_run(&v, "1e308 * j"), "~|0.0|~");
	T_INT(v.counts.not_finite, 2);
	T_STR(expr_env_run(&v, "try(9223372036854775807 + j)"), "~|9223372036854775807|~");
	T_INT(v.counts.tried, 2);
	v.scope.div_zero_error = true;
	T_STR(expr_env_run(&v, "1 / j"), "div_zero row 1");
	T_STR(expr_env_run(&v, "try(1 / j, 0.0)"), "0.1|0.0|0.3333333333333333");
	v.scope.overflow = DTX_OVERFLOW_NULL;
	T_STR(expr_env_run(&v, "9223372036854775807 + j"), "~|9223372036854775807|~");
	v.scope.overflow = DTX_OVERFLOW_FLOAT;
	T_STR(expr_env_run(&v, "9223372036854775807 * j"),
	      "9.223372036854776e19|0.0|2.7670116110564327e19");
	expr_env_clear(&v);
}

/* An error about a row says how many rows fail, and what helps. */
void test_eval_failures_are_counted(void)
{
	static const struct {
		const char *text, *want, *hint;
		int64_t count;
	} rows[] = {
		{ "int(t)", "cast_failed row 0", "parse_number", 2 },
		{ "i + int(t)", "cast_failed row 0", "parse_number", 2 },
		{ "float(s)", "cast_failed row 0", "parse_number", 3 },
		{ "date(t, '%d.%m.%Y')", "cast_failed row 0", "parse_date", 2 },
		{ "number(s)", "cast_failed row 0", "try(", 3 },
		{ "bool(s)", "cast_failed row 0", "try(", 3 },
		{ "date('03/04/2024')", "ambiguous_date row 0", "format", 3 },
		{ "9223372036854775807 + j", "overflow row 0", "float", 2 },
		{ "abs(j - 9223372036854775807 - 4)", "overflow row 1", "float", 2 },
		{ "char(i)", "cast_failed row 1", "try(", 1 },
		{ "if(c, i, int(s))", "cast_failed row 1", "parse_number", 2 },
	};
	struct expr_env v;

	expr_env_init(&v);
	for (size_t i = 0; i < DTX_COUNT(rows); i++) {
		T_STR(expr_env_run(&v, rows[i].text), rows[i].want);
		T_INT(v.err.count, rows[i].count);
		T_CHECK(strstr(v.err.hint, rows[i].hint) != NULL);
		T_CHECK(v.err.count_open);
	}
	v.scope.div_zero_error = true;
	T_STR(expr_env_run(&v, "1 // j"), "div_zero row 1");
	T_INT(v.err.count, 1);
	T_CHECK(strstr(v.err.hint, "safe_div") != NULL);
	expr_env_clear(&v);
}

void test_eval_keep_narrows(void)
{
	struct expr_env v;
	struct dtx_bound *b;
	int64_t falses = 0, nulls = 0;

	expr_env_init(&v);
	b = expr_env_bind(&v, "true", NULL);
	T_OK(dtx_eval_keep(b, v.batch, &falses, &nulls, &v.counts, &v.err), &v.err);
	T_INT(v.batch->nsel, 3);
	b = expr_env_bind(&v, "i > 0", NULL);
	T_OK(dtx_eval_keep(b, v.batch, &falses, &nulls, &v.counts, &v.err), &v.err);
	T_INT(v.batch->nsel, 1);
	T_INT(v.batch->sel[0], 0);
	T_INT(falses, 1);
	T_INT(nulls, 1);
	/* a row that was filtered out raises nothing */
	b = expr_env_bind(&v, "9223372036854775807 - j + i * 0 + 5 > 0", NULL);
	T_OK(dtx_eval_keep(b, v.batch, &falses, &nulls, &v.counts, &v.err), &v.err);
	T_INT(v.batch->nsel, 1);
	b = expr_env_bind(&v, "null", NULL);
	T_OK(dtx_eval_keep(b, v.batch, &falses, &nulls, &v.counts, &v.err), &v.err);
	T_INT(v.batch->nsel, 0);
	T_INT(nulls, 2);
	expr_env_clear(&v);
}

/* A time limit that passes during the first rows: they alone would take a second. */
void test_eval_is_cancelled(void)
{
	static const char *const text[] = {
		"levenshtein(repeat(s, 5000), repeat('xy', 5000))", "i + j", /* each node looks */
	};
	struct expr_env v;

	expr_env_init(&v);
	for (size_t i = 0; i < DTX_COUNT(text); i++) {
		struct dtx_bound *b = expr_env_bind(&v, text[i], NULL);
		struct dtx_cancel clock = { NULL, i ? 1 : dtx_now_ns() + 20000000 };
		const struct dtx_cancel *before = dtx_cancel_set(&clock);
		struct dtx_column *c = NULL;

		T_CHECK(b);
		T_CODE(dtx_eval(b, v.batch, &c, &v.counts, &v.err), DTX_E_TIME_LIMIT, &v.err);
		dtx_cancel_set(before);
		dtx_column_unref(c);
		dtx_err_clear(&v.err);
	}
	expr_env_clear(&v);
}

static enum dtx_code bind_and_run(struct expr_env *v, const char *text)
{
	struct dtx_arena a = DTX_ARENA_INIT;
	struct dtx_errlist errs = DTX_ERRLIST_INIT;
	struct dtx_expr *e;
	struct dtx_bound *b = NULL;
	struct dtx_column *c = NULL;
	enum dtx_code rc;

	rc = dtx_expr_parse(&a, dtx_str_of(text), &e, NULL);
	if (rc == DTX_OK)
		rc = dtx_expr_bind(&a, e, &v->scope, (struct dtx_typeref){ .type = DTX_T_UNKNOWN },
		                   NULL, &b, &errs, NULL);
	if (rc == DTX_OK && b)
		rc = dtx_eval(b, v->batch, &c, &v->counts, NULL);
	dtx_column_unref(c);
	dtx_errlist_clear(&errs);
	dtx_arena_clear(&a);
	return rc;
}

void test_eval_alloc(void)
{
	static const char *const texts[] = {
		"i + j * 2 > f and not (s in ('x', 'y'))",
		"case when b then i when c then 2.5 else f end",
		"coalesce(t, k, 'x') == 'abc' or is_distinct(d, '2024-01-31')",
		"zz + 1 > 2 and nosuch(t)",
		"try(9223372036854775807 + j, -1)",
	};
	struct expr_env v;
	size_t i;

	expr_env_init(&v);
	for (i = 0; i < DTX_COUNT(texts); i++)
		T_EVERY_ALLOC_FAILS(bind_and_run(&v, texts[i]));
	expr_env_clear(&v);
}

/* The type that a caller wants, and values that do not fit it. */
void test_expr_bind_for_a_caller(void)
{
	static const struct dtx_typeref want = { .type = DTX_T_INT64 };
	struct dtx_bound *b = NULL;
	struct dtx_expr *e = NULL;
	struct expr_env v;

	expr_env_init(&v);
	T_OK(dtx_expr_parse(&v.arena, DTX_STR("upper(t)"), &e, &v.err), &v.err);
	T_OK(dtx_expr_bind(&v.arena, e, &v.scope, want, NULL, &b, &v.errs, &v.err), &v.err);
	T_CHECK(!b && v.errs.n == 1);
	T_STR(v.errs.item[0].msg, "expected int, got text");
	T_INT(v.errs.item[0].span[1], 8);
	v.scope.allow |= DTX_ALLOW_AGG;
	T_CHECK(!expr_env_bind(&v, "sum(i)", NULL));
	T_STR(v.errs.item[0].msg, "this build has no aggregates here: sum()");
	expr_env_clear(&v);
}

/* A function is called once for each entry of a dictionary; what fails there for lack of memory
 * must be told. */
void test_expr_eval_dictionary_every_alloc_fails(void)
{
	struct expr_env v;
	struct dtx_bound *b;
	long short_runs = 0;

	expr_env_init(&v);
	b = expr_env_bind(&v, "upper(s)", NULL);
	T_CHECK(b != NULL);
	for (long k = 0; b && k < 60; k++) {
		struct dtx_column *c = NULL;
		enum dtx_code rc;

		dtx_err_clear(&v.err);
		dtx_mem_fail_at(k);
		rc = dtx_eval(b, v.batch, &c, &v.counts, &v.err);
		dtx_mem_fail_at(-1);
		T_CHECK(rc == DTX_OK || rc == DTX_E_NO_MEMORY);
		T_INT(v.err.code, rc);
		short_runs += rc == DTX_E_NO_MEMORY;
		dtx_column_unref(c);
	}
	T_CHECK(short_runs > 2);
	expr_env_clear(&v);
}
