/* Which texts look like formulas, in columns of every form. */
#include "core/io/write/csv_formula.h"

#include "tests/t.h"
#include "tests/unit/planrun.h"

void test_csv_formula_texts(void)
{
	static const char *const are[] = { "=1+2", "=A1",   "@SUM(A1)", "+A1", "-cmd|x",
		                           "-(1)", "+$A$1", "-@x",      "+=1" };
	static const char *const not [] = { "",   "=",   "-",  "-5",  "+49 30 1", "- none", "-.5",
		                            "==", "= b", "--", "a=1", " =1",      "@ home", "5-a" };

	for (size_t i = 0; i < DTX_COUNT(are); i++)
		T_CHECK(dtx_csv_formula_is(dtx_str_of(are[i])));
	for (size_t i = 0; i < DTX_COUNT(not ); i++)
		T_CHECK(!dtx_csv_formula_is(dtx_str_of(not [i])));
}

static void counts(const char *steps, const char *in, uint64_t n, uint32_t col)
{
	struct dtx_csv_formulas f = { 0 };
	char plan[512];
	struct planrun p;
	struct dtx_table *t;

	snprintf(plan, sizeof(plan), PLANCASE("%s"), steps);
	planrun_init(&p, plan, in);
	p.keep = true;
	T_OK(planrun(&p), &p.err);
	t = p.result ? p.result->output[0].table : NULL;
	for (size_t i = 0; t && i < t->nbatches; i++)
		dtx_csv_formula_count(t->batch[i], &f);
	T_INT(atomic_load(&f.n), n);
	T_INT(atomic_load(&f.col), col);
	planrun_clear(&p);
}

void test_csv_formula_forms(void)
{
	static const char in[] = "n,a,b\n-1,x,\"=1\"\n-2,@y,\n3,+b,=2\n";

	counts("{\"op\":\"filter\",\"where\":\"true\"}", in, 4, 2);
	counts("{\"op\":\"filter\",\"where\":\"n > 0\"}", in, 2, 2);
	counts("{\"op\":\"select\",\"cols\":[\"n\",\"b\"]}", in, 2, 2);
	counts("{\"op\":\"derive\",\"set\":{\"a\":\"upper(a)\",\"c\":\"'=k'\"}}", in, 7, 2);
	counts("{\"op\":\"nullify\",\"cols\":[\"b\"],\"values\":[\"=2\"]}", in, 3, 2);
}

void test_csv_formula_note(void)
{
	static const struct dtx_field field[] = { { .name = "n" }, { .name = "a" } };
	const struct dtx_schema s = { .nfields = 2, .field = field };
	struct dtx_csv_formulas f = { 0 };
	struct dtx_errlist diags = DTX_ERRLIST_INIT;
	struct dtx_err err = DTX_ERR_INIT;

	T_OK(dtx_csv_formula_note(&f, &s, &diags, &err), &err);
	T_INT(diags.n, 0);
	atomic_store(&f.n, 1);
	atomic_store(&f.col, 2);
	T_OK(dtx_csv_formula_note(&f, &s, &diags, &err), &err);
	T_INT(diags.n, 1);
	T_STR(diags.item[0].msg,
	      "formula_like: 1 text of the output, in column 'a' first, begins as a formula does "
	      "(= + - @): a spreadsheet program that opens it runs them");
	dtx_errlist_clear(&diags);
}
