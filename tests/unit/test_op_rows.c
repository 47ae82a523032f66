/* Operations on rows, at the edges: nulls, groups, empty tables, odd values, broken plans. */
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
		/* pieces are text until cast; numbers come apart by their writing */
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

/* About the share that was asked for, and a larger sample holds the smaller one. */
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
