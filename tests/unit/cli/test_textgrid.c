/* Tables as texts, and the steps that are tried on them. */
#include "cli/suggest/example/byexample.h"

#include "tests/tables.h"
#include "tests/t.h"

static void grid(struct dtx_textgrid *g, const char *columns, const char *rows)
{
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_table *t = t_table(columns, rows);

	T_OK(dtx_textgrid_make(g, t, &err), &err);
	dtx_table_unref(t);
}

void test_textgrid_match(void)
{
	static const struct {
		const char *columns, *rows;
		double score;
	} row[] = {
		{ "k:text,v:int", "a,1\nb,2\n", 1 },     { "k:text,v:float", "a,1.0\nb,2.0\n", 1 },
		{ "k:text,v:text", "a,1.00\nb,2\n", 1 }, { "k:text,v:int", "b,2\na,1\n", 0.9 },
		{ "k:text,v:int", "a,1\nb,3\n", 0 },     { "k:text,v:int", "a,1\n", 0 },
		{ "k:text,v:int", "a,1\nb,\n", 0 },      { "k:text,v:int", "a,1\na,1\n", 0 },
	};
	static const uint32_t col[] = { 0, 1 };
	struct dtx_textgrid want = DTX_TEXTGRID_INIT;
	size_t i;

	grid(&want, "k:text,v:int", "a,1\nb,2\n");
	for (i = 0; i < DTX_COUNT(row); i++) {
		struct dtx_textgrid g = DTX_TEXTGRID_INIT;
		double score;

		grid(&g, row[i].columns, row[i].rows);
		score = dtx_textgrid_match(&g, col, &want);
		if (score != row[i].score)
			t_fail(__FILE__, __LINE__, "row %zu: %f", i, score);
		dtx_textgrid_clear(&g);
	}
	T_INT(dtx_textgrid_find(&want, "v"), 1);
	T_INT(dtx_textgrid_find(&want, "w"), -1);
	dtx_textgrid_clear(&want);
}

void test_textgrid_too_large(void)
{
	struct dtx_textgrid g = DTX_TEXTGRID_INIT;
	struct dtx_table *t = t_table("k:text,v:int", "a,1\n");
	struct dtx_err err = DTX_ERR_INIT;

	t->nrows = DTX_TEXTGRID_CELLS / 2 + 1;
	T_CODE(dtx_textgrid_make(&g, t, &err), DTX_E_CELL_LIMIT, &err);
	T_STR(err.msg, "1000001 rows are too many to try plans on");
	dtx_textgrid_clear(&g);
	dtx_table_unref(t);
	dtx_err_clear(&err);
}

static enum dtx_code search_once(void)
{
	struct dtx_textgrid have = DTX_TEXTGRID_INIT, want = DTX_TEXTGRID_INIT;
	struct dtx_table *a = t_table("k:text,x:int,y:int", "a,1,2\n");
	struct dtx_table *b = t_table("k:text,n:text,v:int", "a,x,1\na,y,2\n");
	json_t *found = json_array();
	int runs = 20;
	enum dtx_code rc = DTX_E_NO_MEMORY;

	if (a && b && found)
		rc = dtx_textgrid_make(&have, a, NULL);
	if (rc == DTX_OK)
		rc = dtx_textgrid_make(&want, b, NULL);
	if (rc == DTX_OK)
		rc = dtx_byexample(&have, &want, false, false, &runs, found, NULL);
	if (rc == DTX_OK) {
		T_CHECK(json_array_size(found) >= 1);
		T_STR(dtx_json_text(
			      json_array_get(json_object_get(json_array_get(found, 0), "steps"), 0),
			      "op", ""),
		      "pivot_longer");
		T_CHECK(runs < 20);
	}
	json_decref(found);
	dtx_textgrid_clear(&have);
	dtx_textgrid_clear(&want);
	dtx_table_unref(a);
	dtx_table_unref(b);
	return rc;
}

void test_byexample(void)
{
	T_OK(search_once(), NULL);
}
