/* Operations on rows, at the edges: nulls, groups, empty tables, odd values, broken plans. */
#include "ops/kit/opkit.h"
#include "tests/unit/planrun.h"

void test_op_rows_explode(void)
{
	static const struct plancase list[] = {
		{ PLANCASE("{\"op\":\"explode\",\"cols\":[\"t\"],\"sep\":\"; \",\"trim\":false,"
		           "\"index_as\":\"i\"}"),
		  "k,t\nä,x;  y; z\nö,\n", "k,t,i\nä,x,1\nä, y,2\nä,z,3\nö,,1\n" },
		{ PLANCASE("{\"op\":\"explode\",\"cols\":[\"t\"],\"sep\":\",\"}"), "k,t\n",
		  "k,t\n" },
		{ PLANCASE("{\"op\":\"explode\",\"cols\":[\"t\"],\"json\":true}"), "t\n{}\n",
		  "bad_split" },
		{ PLANCASE("{\"op\":\"explode\",\"cols\":[\"t\"],\"json\":true}"), "t\n[1\n",
		  "bad_split" },
		{ PLANCASE("{\"op\":\"explode\",\"cols\":[\"t\"],\"json\":true,\"sep\":\",\"}"),
		  "t\n1\n", "param_conflict" },
		/* pieces are text until they are cast; numbers are split as they are written */
		{ PLANCASE("{\"op\":\"explode\",\"cols\":[\"v\"],\"sep\":\".\"},{\"op\":\"derive\","
		           "\"set\":[{\"as\":\"n\",\"expr\":\"len(v)\"}]}"),
		  "v\n1.250\n", "v,n\n1,1\n250,3\n" },
		{ PLANCASE(
			  "{\"op\":\"explode\",\"cols\":[\"a\"],\"sep\":\" \"},{\"op\":\"implode\","
			  "\"by\":[\"k\"],\"col\":\"a\",\"sep\":\" \"}"),
		  "k,a\n1,x y\n2,z\n", "k,a\n1,x y\n2,z\n" },
	};

	plancases(list, DTX_COUNT(list), NULL);
}

void test_op_rows_top_and_sample(void)
{
	static const struct plancase list[] = {
		{ PLANCASE("{\"op\":\"top\",\"n\":2,\"expr\":\"v\",\"by\":[\"k\"],\"ties\":"
		           "\"all\"}"),
		  "k,v\na,1\n,9\na,3\na,2\na,2.0\n,8\n,7\nb,\n", "k,v\na,3\na,2\na,2.0\n,9\n,8\n" },
		{ PLANCASE("{\"op\":\"top\",\"n\":9,\"expr\":\"v\",\"desc\":false}"),
		  "v\nb\na\n\n\"\"\n", "v\n\"\"\na\nb\n" },
		{ PLANCASE("{\"op\":\"top\",\"n\":1,\"expr\":\"v\",\"by\":[\"k\"]}"), "k,v\n",
		  "k,v\n" },
		{ PLANCASE("{\"op\":\"top\",\"n\":0,\"expr\":\"v\"}"), "v\n1\n",
		  "bad_param_value" },
		{ PLANCASE("{\"op\":\"sample\",\"n\":5,\"seed\":1}"), "v\n1\n2\n", "v\n1\n2\n" },
		{ PLANCASE("{\"op\":\"sample\",\"frac\":0.5,\"seed\":1,\"by\":[\"k\"]}"), "k,v\n",
		  "k,v\n" },
		{ PLANCASE("{\"op\":\"sample\",\"frac\":1.5,\"seed\":1}"), "v\n1\n",
		  "bad_param_value" },
		{ PLANCASE("{\"op\":\"sample\",\"frac\":0.5,\"n\":1,\"seed\":1}"), "v\n1\n",
		  "param_conflict" },
		{ PLANCASE("{\"op\":\"sample\",\"n\":3,\"seed\":-4,\"replace\":true}"), "v\n",
		  "v\n" },
	};

	plancases(list, DTX_COUNT(list), NULL);
}

/* The sample has about the requested share, and a larger sample contains the smaller one. */
void test_op_rows_samples_are_fair(void)
{
	struct dtx_buf in = DTX_BUF_INIT(1 << 20);
	const char *plan[] = {
		PLANCASE("{\"op\":\"sample\",\"frac\":0.25,\"seed\":42}"),
		PLANCASE("{\"op\":\"sample\",\"n\":100,\"seed\":42}"),
		PLANCASE("{\"op\":\"sample\",\"n\":101,\"seed\":42}"),
	};
	int64_t rows[3];

	dtx_buf_add(&in, "v\n");
	for (int i = 0; i < 4000; i++)
		dtx_buf_printf(&in, "%d\n", i);
	for (int i = 0; i < 3; i++) {
		struct planrun p;

		planrun_init(&p, plan[i], dtx_buf_text(&in));
		p.keep = true;
		T_OK(planrun(&p), &p.err);
		rows[i] = p.result ? p.result->output[0].table->nrows : 0;
		planrun_clear(&p);
	}
	T_CHECK(rows[0] > 900 && rows[0] < 1100);
	T_INT(rows[1], 100);
	T_INT(rows[2], 101);
	dtx_buf_clear(&in);
}

void test_op_rows_others(void)
{
	static const struct plancase list[] = {
		{ PLANCASE("{\"op\":\"repeat\",\"n\":3},{\"op\":\"limit\",\"n\":4}"),
		  "a\n1\n2\n3\n", "a\n1\n1\n1\n2\n" },
		{ PLANCASE("{\"op\":\"repeat\",\"col\":\"n\"}"), "n\n", "n\n" },
		{ PLANCASE("{\"op\":\"repeat\",\"col\":\"n\"}"), "n\nx\n", "type_mismatch" },
		{ PLANCASE("{\"op\":\"repeat\"}"), "n\n1\n", "missing_param" },
		{ PLANCASE("{\"op\":\"implode\",\"by\":[\"k\"],\"col\":\"v\",\"distinct\":true}"),
		  "k,v\na,2\nb,1\na,1\na,2.0\na,1\n", "k,v\na,\"2,1\"\nb,1\n" },
		{ PLANCASE("{\"op\":\"implode\",\"by\":[\"k\"],\"col\":\"v\",\"sort\":true}"),
		  "k,v\na,b\na,a\na,\na,b\n", "k,v\na,\"a,b,b\"\n" },
		{ PLANCASE("{\"op\":\"implode\",\"by\":[\"k\"],\"col\":\"v\"}"), "k,v\n", "k,v\n" },
	};

	plancases(list, DTX_COUNT(list), NULL);
}

void test_op_rows_complete(void)
{
	static const struct plancase list[] = {
		{ PLANCASE("{\"op\":\"complete\",\"cols\":[\"a\",\"b\"]}"), "a,b\n", "a,b\n" },
		/* null is a value, the last one */
		{ PLANCASE("{\"op\":\"complete\",\"cols\":[\"a\",\"b\"]}"),
		  "a,b,c\n2,,x\n,p,y\n10,p,z\n", "a,b,c\n2,,x\n,p,y\n10,p,z\n2,p,\n10,,\n,,\n" },
		{ PLANCASE("{\"op\":\"complete\",\"cols\":[\"n\"],\"seq\":{\"n\":0.5}},{\"op\":"
		           "\"derive\",\"set\":[{\"as\":\"x\",\"expr\":\"n * 2\"}]}"),
		  "n\n1.0\n2.25\n\n", "n,x\n1.0,2.0\n2.25,4.5\n,\n1.5,3.0\n2.0,4.0\n" },
		{ PLANCASE("{\"op\":\"complete\",\"cols\":[\"n\"],\"seq\":{\"n\":1}}"), "n\n5\n",
		  "n\n5\n" },
		/* no step fits between two dates, however often it would be taken */
		{ PLANCASE("{\"op\":\"complete\",\"cols\":[\"d\"],\"seq\":{\"d\":"
		           "9223372036854775807}}"),
		  "d\n2024-01-31\n2024-03-31\n", "d\n2024-01-31\n2024-03-31\n" },
		{ PLANCASE("{\"op\":\"complete\",\"cols\":[\"n\"],\"seq\":{\"n\":0}}"), "n\n5\n",
		  "type_mismatch" },
		{ PLANCASE("{\"op\":\"complete\",\"cols\":[\"n\"],\"seq\":{\"k\":1}}"),
		  "n,k\n5,1\n", "bad_param_value" },
		{ PLANCASE(
			  "{\"op\":\"complete\",\"cols\":[\"n\"],\"seq\":{\"n\":1},\"fill\":{\"v\":"
			  "\"x\"}}"),
		  "n,v\n5,1\n", "type_mismatch" },
		/* a column of nulls takes the type of the fill value */
		{ PLANCASE("{\"op\":\"complete\",\"cols\":[\"a\",\"b\"],\"fill\":{\"v\":\"x\"}},"
		           "{\"op\":\"derive\",\"set\":{\"w\":\"upper(v)\"}}"),
		  "a,b,v\n1,p,\n2,q,\n", "a,b,v,w\n1,p,,\n2,q,,\n1,q,x,X\n2,p,x,X\n" },
		{ PLANCASE("{\"op\":\"complete\",\"cols\":[\"n\"],\"fill\":{\"n\":1}}"), "n\n5\n",
		  "bad_param_value" },
		/* a step that is too small to change the value must end */
		{ PLANCASE("{\"op\":\"complete\",\"cols\":[\"n\"],\"seq\":{\"n\":1}}"),
		  "n\n1.0e300\n", "row_limit" },
		/* a fill value among computed values */
		{ PLANCASE(
			  "{\"op\":\"derive\",\"set\":[{\"as\":\"x\",\"expr\":\"n / 2\"}]},{\"op\":"
			  "\"complete\",\"cols\":[\"n\"],\"seq\":{\"n\":1},\"fill\":{\"x\":0.5}},"
			  "{\"op\":\"derive\",\"set\":[{\"as\":\"y\",\"expr\":\"x + 1\"}]}"),
		  "n\n1\n3\n", "n,x,y\n1,0.5,1.5\n3,1.5,2.5\n2,0.5,1.5\n" },
	};

	plancases(list, DTX_COUNT(list), NULL);
}

/* Values that steps write into columns with cells: both are read in the same way. */
void test_op_rows_written_by_the_rules(void)
{
#define COMMA                                                                                      \
	"{\"dtx\":1,\"inputs\":[{\"name\":\"main\",\"dialect\":{\"delimiter\":\";\",\"decimal\":"  \
	"\",\""                                                                                    \
	"}}],\"steps\":["
#define DATES                                                                                      \
	"{\"dtx\":1,\"inputs\":[{\"name\":\"main\",\"types\":[{\"name\":\"d\",\"type\":\"date\","  \
	"\"format\":\"%d.%m.%Y\"}]}],\"steps\":["
	static const struct plancase list[] = {
		{ COMMA "{\"op\":\"fill_null\",\"cols\":[\"v\"],\"value\":0.5},{\"op\":\"derive\","
		        "\"set\":{\"z\":\"v * 2\"}}]}",
		  "k;v\n1;1,5\n2;\n", "k,v,z\n1,\"1,5\",3.0\n2,\"0,5\",1.0\n" },
		{ COMMA "{\"op\":\"complete\",\"cols\":[\"v\"],\"seq\":{\"v\":0.5},\"fill\":{\"k\":"
		        "2.5}},{\"op\":\"derive\",\"set\":{\"z\":\"v * k\"}}]}",
		  "k;v\n1,5;1,5\n2;2,5\n",
		  "k,v,z\n\"1,5\",\"1,5\",2.25\n2,\"2,5\",5.0\n\"2,5\",\"2,0\",5.0\n" },
		{ DATES "{\"op\":\"fill_null\",\"cols\":[\"d\"],\"value\":\"2024-02-03\"},{\"op\":"
		        "\"derive\",\"set\":{\"m\":\"month(d)\"}}]}",
		  "d,v\n05.01.2024,1\n,2\n", "d,v,m\n05.01.2024,1,1\n03.02.2024,2,2\n" },
		{ DATES
		  "{\"op\":\"complete\",\"cols\":[\"d\"],\"seq\":{\"d\":1}},{\"op\":\"derive\","
		  "\"set\":{\"m\":\"day(d)\"}}]}",
		  "d\n05.01.2024\n07.01.2024\n",
		  "d,m\n05.01.2024,5\n07.01.2024,7\n06.01.2024,6\n" },
		{ COMMA "{\"op\":\"add_totals\"},{\"op\":\"sort\",\"by\":[\"-v\"]}]}",
		  "k;v\na;1,5\nb;\n", "k,v\na,\"1,5\"\nTotal,\"1,5\"\nb,\n" },
		/* cells of columns with different rules are combined as values */
		{ DATES "{\"op\":\"coalesce\",\"cols\":[\"d\",\"e\"],\"as\":\"c\"},{\"op\":"
		        "\"derive\",\"set\":{\"m\":\"month(c)\"}}]}",
		  "d,e\n05.01.2024,\n,2024-02-03\n",
		  "d,e,c,m\n05.01.2024,,2024-01-05,1\n,2024-02-03,2024-02-03,2\n" },
		{ DATES
		  "{\"op\":\"join\",\"with\":\"main\",\"on\":{\"left\":\"d\",\"right\":\"e\"},"
		  "\"how\":\"full\"}]}",
		  "d,e\n05.01.2024,2024-01-07\n",
		  "d,e,d_right\n2024-01-05,2024-01-07,\n2024-01-07,,05.01.2024\n" },
		{ DATES "{\"op\":\"diff_tables\",\"with\":\"main\",\"key\":{\"left\":\"d\","
		        "\"right\":\"e\"},\"cols\":[\"v\"]}]}",
		  "d,e,v\n05.01.2024,2024-01-07,1\n",
		  "_change,d,v,v_old\nadded,2024-01-05,1,\nremoved,2024-01-07,,1\n" },
	};

	plancases(list, DTX_COUNT(list), NULL);
}

void test_op_rows_numbers(void)
{
	static const struct plancase list[] = {
		{ PLANCASE("{\"op\":\"normalize\",\"cols\":[\"v\"],\"method\":\"robust\"}"),
		  "v\n1\n2\n3\n4\n5\n", "v\n-1.0\n-0.5\n0.0\n0.5\n1.0\n" },
		{ PLANCASE("{\"op\":\"normalize\",\"cols\":[\"v\"]}"), "v\n7\n7\n", "v\n\n\n" },
		{ PLANCASE("{\"op\":\"normalize\",\"cols\":[\"v\"]}"), "v\n7\n", "v\n\n" },
		{ PLANCASE("{\"op\":\"normalize\",\"cols\":[\"v\"]}"), "v\n", "v\n" },
		{ PLANCASE("{\"op\":\"normalize\",\"cols\":[\"v\",\"w\"],\"method\":\"minmax\","
		           "\"by\":"
		           "[\"k\"]}"),
		  "k,v,w\na,1,2.5\n,5,1\na,3,3.5\n,,2\n",
		  "k,v,w\na,0.0,0.0\n,,0.0\na,1.0,1.0\n,,1.0\n" },
		{ PLANCASE("{\"op\":\"outliers\",\"cols\":[\"v\"],\"method\":\"zscore\",\"k\":1,"
		           "\"action\":\"null\"}"),
		  "v\n0\n0\n0\n9\n", "v\n0\n0\n0\n\n" },
		{ PLANCASE("{\"op\":\"outliers\",\"cols\":[\"v\"]}"), "v\n", "v,v_outlier\n" },
		{ PLANCASE("{\"op\":\"outliers\",\"cols\":[\"v\"],\"by\":[\"k\"]}"),
		  "k,v\na,1\nb,9\n", "k,v,v_outlier\na,1,false\nb,9,false\n" },
		{ PLANCASE("{\"op\":\"bin\",\"col\":\"v\",\"as\":\"b\",\"n\":3}"), "v\n5\n5\n",
		  "v,b\n5,\"[5,5]\"\n5,\"[5,5]\"\n" },
		{ PLANCASE("{\"op\":\"bin\",\"col\":\"v\",\"as\":\"b\",\"n\":3}"), "v\n\n",
		  "v,b\n,\n" },
		{ PLANCASE(
			  "{\"op\":\"bin\",\"col\":\"v\",\"as\":\"b\",\"n\":2,\"method\":\"log\"}"),
		  "v\n1\n9\n10\n100\n",
		  "v,b\n1,\"[1,10)\"\n9,\"[1,10)\"\n10,\"[10,100]\"\n100,\"[10,100]\"\n" },
		{ PLANCASE(
			  "{\"op\":\"bin\",\"col\":\"v\",\"as\":\"b\",\"n\":2,\"method\":\"log\"}"),
		  "v\n0\n1\n", "unexpected_value" },
		{ PLANCASE("{\"op\":\"bin\",\"col\":\"v\",\"as\":\"b\",\"breaks\":[0,1,2],"
		           "\"closed\":"
		           "\"right\"}"),
		  "v\n0\n1\n1.5\n2\n-1\n",
		  "v,b\n0,\"[0,1]\"\n1,\"[0,1]\"\n1.5,\"(1,2]\"\n2,\"(1,2]\"\n-1,\n" },
		{ PLANCASE(
			  "{\"op\":\"bin\",\"col\":\"v\",\"as\":\"b\",\"n\":2,\"labels\":[\"x\"]}"),
		  "v\n1\n", "length_mismatch" },
		{ PLANCASE("{\"op\":\"dummies\",\"cols\":[\"k\",\"b\"]}"), "k,b\nx,true\ny,false\n",
		  "k_x,k_y,b_false,b_true\ntrue,false,false,true\nfalse,true,true,false\n" },
		{ PLANCASE("{\"op\":\"dummies\",\"cols\":[\"k\"]},{\"op\":\"filter\",\"where\":\"k_"
		           "x\"}"),
		  "k,v\nx,1\ny,2\n", "k_x,k_y,v\ntrue,false,1\n" },
		{ PLANCASE("{\"op\":\"dummies\",\"cols\":[\"k\"]}"), "k,v\n", "v\n" },
		{ PLANCASE("{\"op\":\"freq\",\"cols\":[\"k\"]}"), "k\n", "k,count,share\n" },
	};

	plancases(list, DTX_COUNT(list), NULL);
}

/* Messages are those of the op, not of a formula that it makes or of the pairs that it compares. */
void test_op_rows_say_what_they_want(void)
{
	static const struct plancase list[] = {
		{ PLANCASE("{\"op\":\"rolling\",\"cols\":[\"t\"],\"n\":2,\"fn\":\"max\"}"),
		  "t\nx\n", "rolling needs numbers, 't' is text" },
		{ PLANCASE("{\"op\":\"range_join\",\"with\":\"main\",\"where\":\"t < right.t\"}"),
		  "t\nx\n", "column 't' is in neither table: write left.t or right.t" },
	};

	for (size_t i = 0; i < DTX_COUNT(list); i++) {
		struct planrun p;

		planrun_init(&p, list[i].plan, list[i].in);
		T_CHECK(planrun(&p) != DTX_OK);
		T_STR(p.err.msg, list[i].out);
		planrun_clear(&p);
	}
}

/* A checkpoint sees the whole table, even before a limit; its hash is that of the table that is
 * written. */
void test_checkpoint_hashes_the_table(void)
{
	static const char *const plans[] = {
		PLANCASE("{\"op\":\"checkpoint\",\"label\":\"here\"}"),
		PLANCASE("{\"op\":\"checkpoint\",\"label\":\"here\"},{\"op\":\"limit\",\"n\":1}"),
		PLANCASE("{\"op\":\"checkpoint\",\"label\":\"here\"},"
		         "{\"op\":\"select\",\"cols\":[\"a\"]}"),
	};
	char first[DTX_TABLEHASH_TEXT] = "";

	for (size_t i = 0; i < DTX_COUNT(plans); i++) {
		struct planrun p;

		planrun_init(&p, plans[i], "a,b\n1.50,x\n2,y\n3,z\n");
		p.batch_rows = 1;
		p.keep = true;
		T_INT(planrun(&p), DTX_OK);
		T_CHECK(strncmp(p.result->step[0].table_hash, "t1:", 3) == 0);
		if (i)
			T_STR(p.result->step[0].table_hash, first);
		dtx_str_copy(first, sizeof(first), dtx_str_of(p.result->step[0].table_hash));
		T_INT(p.result->step[0].rows_in, 3);
		planrun_clear(&p);
	}
}

/* A limit that is reached does not hide rows from a step that judges them all. */
void test_assert_before_a_limit(void)
{
	static const struct plancase list[] = {
		{ PLANCASE("{\"op\":\"assert\",\"rules\":[{\"rule\":\"expression\","
		           "\"expr\":\"n < 3\"}]},{\"op\":\"limit\",\"n\":1}"),
		  "n\n1\n2\n3\n", "assert_failed" },
		{ PLANCASE("{\"op\":\"derive\",\"set\":{\"m\":\"n\"},"
		           "\"expect\":{\"rows\":{\"max\":2}}},{\"op\":\"limit\",\"n\":1}"),
		  "n\n1\n2\n3\n", "expect_failed" },
		{ PLANCASE("{\"op\":\"assert\",\"rules\":[{\"rule\":\"expression\","
		           "\"expr\":\"n < 4\"}]},{\"op\":\"limit\",\"n\":1}"),
		  "n\n1\n2\n3\n", "n\n1\n" },
	};

	plancases(list, DTX_COUNT(list), NULL);
}

/* The same where the reader could stop: after its first chunk. */
void test_assert_before_a_limit_of_the_reader(void)
{
	struct dtx_buf in = DTX_BUF_INIT(1 << 24);
	struct planrun p;

	dtx_buf_add(&in, "n\n");
	for (int i = 0; i < 1000000; i++)
		dtx_buf_add(&in, i < 999999 ? "1\n" : "2\n");
	planrun_init(&p,
	             PLANCASE("{\"op\":\"assert\",\"rules\":[{\"rule\":\"expression\",\"expr\":"
	                      "\"n < 2\"}]},{\"op\":\"limit\",\"n\":1}"),
	             dtx_buf_text(&in));
	T_CODE(planrun(&p), DTX_E_ASSERT_FAILED, &p.err);
	planrun_clear(&p);
	dtx_buf_clear(&in);
}
