/* Parts of formulas: conditions, rows that windows read, literals. */
#include "core/expr/parse/formula_parts.h"
#include "tests/t.h"

static struct dtx_expr *parsed(struct dtx_arena *a, const char *text)
{
	struct dtx_expr *e = NULL;

	T_OK(dtx_expr_parse(a, dtx_str_of(text), &e, NULL), NULL);
	return e;
}

void test_parts_conjuncts(void)
{
	struct dtx_arena a = DTX_ARENA_INIT;
	struct dtx_buf out = DTX_BUF_INIT(1000);
	const struct dtx_expr *part[3];

	T_INT(dtx_expr_conjuncts(parsed(&a, "x > 1 and (y or z) and w == 'a'"), part, 3), 3);
	dtx_expr_print(part[1], &out);
	T_STR(dtx_buf_text(&out), "y or z");
	T_INT(dtx_expr_conjuncts(parsed(&a, "x or y"), part, 3), 1);
	/* a formula with too many parts stays whole */
	T_INT(dtx_expr_conjuncts(parsed(&a, "a and b and c and d"), part, 1), 1);
	dtx_buf_reset(&out);
	dtx_expr_print(part[0], &out);
	T_STR(dtx_buf_text(&out), "a and b and c and d");
	/* if there is room for some parts, nothing is left out */
	T_INT(dtx_expr_conjuncts(parsed(&a, "(a and b) and (c and d)"), part, 3), 3);
	dtx_buf_reset(&out);
	dtx_expr_print(part[2], &out);
	T_STR(dtx_buf_text(&out), "c and d");
	T_INT(dtx_expr_conjuncts(parsed(&a, "a and b and c and d"), part, 3), 3);
	dtx_buf_reset(&out);
	dtx_expr_print(part[0], &out);
	T_STR(dtx_buf_text(&out), "a and b");
	dtx_buf_clear(&out);
	dtx_arena_clear(&a);
}

static const struct {
	const char *formula;
	int64_t lo, hi;
	unsigned calls;
	bool loose;
} reaches[] = {
	{ "v + 1", INT64_MAX, INT64_MIN, 0, false },
	{ "lag(v)", -1, -1, 1, false },
	{ "lead(v, 3)", 3, 3, 1, false },
	{ "lag(v, -2)", 2, 2, 1, false },
	{ "diff(v)", -1, 0, 1, false },
	{ "diff(v, 3)", -3, 0, 1, true },
	{ "cum_sum(v)", INT64_MIN, 0, 1, false },
	{ "roll_mean(v, 4)", -3, 0, 1, false },
	{ "roll_mean(v, n)", INT64_MIN, INT64_MAX, 1, true },
	{ "fill_up(v)", 0, INT64_MAX, 1, true },
	{ "rank()", INT64_MIN, INT64_MAX, 1, false },
	{ "sum(v)", INT64_MIN, INT64_MAX, 1, false },
	{ "v / lag(v) + lead(v)", -1, 1, 2, false },
	{ "min(v, w)", INT64_MAX, INT64_MIN, 0, false },
};

void test_parts_reach(void)
{
	static const int64_t frame[2] = { -1, 1 };
	struct dtx_arena a = DTX_ARENA_INIT;
	struct dtx_expr_reach r = DTX_EXPR_REACH_INIT;

	for (size_t i = 0; i < DTX_COUNT(reaches); i++) {
		r = (struct dtx_expr_reach)DTX_EXPR_REACH_INIT;
		dtx_expr_reach(parsed(&a, reaches[i].formula), false, NULL, &r);
		T_CHECK(r.lo == reaches[i].lo && r.hi == reaches[i].hi);
		T_INT(r.calls, reaches[i].calls);
		T_INT(r.loose, reaches[i].loose);
	}
	r = (struct dtx_expr_reach)DTX_EXPR_REACH_INIT;
	dtx_expr_reach(parsed(&a, "sum(v)"), true, NULL, &r);
	T_CHECK(r.lo == INT64_MIN && r.hi == 0);
	r = (struct dtx_expr_reach)DTX_EXPR_REACH_INIT;
	dtx_expr_reach(parsed(&a, "sum(v)"), true, frame, &r);
	T_CHECK(r.lo == -1 && r.hi == 1);
	dtx_arena_clear(&a);
}

void test_parts_literals(void)
{
	struct dtx_arena a = DTX_ARENA_INIT;
	struct dtx_buf out = DTX_BUF_INIT(1000);
	static const struct {
		const char *text, *want;
		bool number;
	} cases[] = {
		{ "12", "12", true },           { "-0.5", "-0.5", true },
		{ "1.5e+30", "1.5e+30", true }, { "it's", "'it''s'", false },
		{ NULL, "null", false },        { NULL, "null", true },
	};

	for (size_t i = 0; i < DTX_COUNT(cases); i++) {
		dtx_buf_reset(&out);
		dtx_expr_print(dtx_expr_literal(&a, cases[i].text, cases[i].number), &out);
		T_STR(dtx_buf_text(&out), cases[i].want);
	}
	dtx_buf_clear(&out);
	dtx_arena_clear(&a);
}
