/* What examples cannot show: counts by reason, equal results for any number of threads over many
 * batches, messages about violated expectations, limits. */
#include "tests/unit/planrun.h"

static void run_is(const char *plan, const char *in, const char *with, uint32_t batch,
                   unsigned workers, struct planrun *p)
{
	planrun_init(p, plan, in);
	p->input[1] = with;
	p->batch_rows = batch;
	p->workers = workers;
	p->keep = true;
	(void)!planrun(p);
}

static int64_t dropped(const struct planrun *p, uint32_t step, const char *reason)
{
	const struct dtx_exec_step *s = &p->result->step[step];

	for (uint32_t i = 0; i < s->ndrops; i++)
		if (strcmp(s->drop[i].reason, reason) == 0)
			return s->drop[i].n;
	return 0;
}

#define ONE(step) "{\"dtx\":1,\"inputs\":[{\"name\":\"main\"}],\"steps\":[" step "]}"
#define TWO(step)                                                                                  \
	"{\"dtx\":1,\"inputs\":[{\"name\":\"main\"},{\"name\":\"other\"}],\"steps\":[" step "]}"

void test_op_semantics_drop_counts(void)
{
	struct planrun p;

	run_is(ONE("{\"op\":\"filter\",\"where\":\"a > 1\"}"), "a,b\n1,x\n2,y\n,z\n,w\n", NULL, 7,
	       2, &p);
	T_INT(dropped(&p, 0, "false"), 1);
	T_INT(dropped(&p, 0, "null"), 2);
	planrun_clear(&p);
	run_is(ONE("{\"op\":\"distinct\",\"cols\":[\"a\"]}"), "a,b\n1,x\n1,y\n2,z\n1,w\n", NULL, 1,
	       2, &p);
	T_INT(dropped(&p, 0, "duplicate"), 2);
	planrun_clear(&p);
	run_is(ONE("{\"op\":\"drop_rows\",\"kinds\":[\"blank\",\"totals\",\"footnotes\"]}"),
	       "a,b\nx,1\n,\ny,2\nTotal,3\nnote,\n", NULL, 7, 1, &p);
	T_INT(dropped(&p, 0, "blank"), 1);
	T_INT(dropped(&p, 0, "total"), 1);
	T_INT(dropped(&p, 0, "footnote"), 1);
	planrun_clear(&p);
	run_is(TWO("{\"op\":\"join\",\"with\":\"other\",\"on\":\"k\"}"), "k,v\na,1\nb,2\n,3\n",
	       "k,w\na,1\nc,2\n", 7, 2, &p);
	T_INT(dropped(&p, 0, "unmatched"), 2);
	T_INT(dropped(&p, 0, "unmatched_right"), 1);
	planrun_clear(&p);
}

/* 3,000 rows with keys that repeat, some of them null. */
static char *many_rows(void)
{
	struct dtx_buf b = DTX_BUF_INIT(1 << 20);

	dtx_buf_add(&b, "k,n,x\n");
	for (int i = 0; i < 3000; i++) {
		if (i % 11)
			dtx_buf_printf(&b, "k%d", i * 7919 % 101);
		dtx_buf_printf(&b, ",%d,%d.%d0\n", i * 31 % 17, i % 50, i % 10);
	}
	return dtx_buf_steal(&b);
}

void test_op_semantics_threads_agree(void)
{
	static const char *const step[] = {
		ONE("{\"op\":\"group_by\",\"by\":[\"k\"],\"agg\":[{\"as\":\"s\",\"expr\":\"sum(x)"
		    "\"},{\"as\":\"f\",\"expr\":\"first(n)\"},{\"as\":\"c\",\"expr\":\"count_"
		    "distinct(x)\"}]}"),
		ONE("{\"op\":\"group_by\",\"by\":[\"k\",\"n\"],\"agg\":{\"m\":\"median(x)\"},"
		    "\"order\":\"sorted\"}"),
		ONE("{\"op\":\"group_by\",\"by\":[\"x\"],\"agg\":{\"c\":\"count()\"}}"),
		ONE("{\"op\":\"sort\",\"by\":[\"-x\",\"k\"]}"),
		ONE("{\"op\":\"sort\",\"by\":[\"n\"],\"limit\":40}"),
		ONE("{\"op\":\"distinct\",\"cols\":[\"k\"],\"keep\":\"last\"}"),
		ONE("{\"op\":\"limit\",\"n\":2,\"by\":[\"k\"],\"from\":\"end\"}"),
		TWO("{\"op\":\"join\",\"with\":\"other\",\"on\":\"k\",\"how\":\"full\"}"),
		ONE("{\"op\":\"pivot_wider\",\"id\":[\"k\"],\"names_from\":[\"n\"],\"values_from\":"
		    "[\"x\"],\"agg\":\"sum\"}"),
		ONE("{\"op\":\"pivot_longer\",\"cols\":[\"n\",\"x\"]}"),
		ONE("{\"op\":\"fill\",\"cols\":[\"k\"]}"),
	};
	char *rows = many_rows();

	for (size_t i = 0; i < DTX_COUNT(step); i++) {
		const char *with =
			strstr(step[i], "other") ? "k,w\nk1,a\nk2,b\nzz,c\nk1,d\n" : NULL;
		struct planrun one, eight;

		run_is(step[i], rows, with, 65536, 1, &one);
		run_is(step[i], rows, with, 13, 8, &eight);
		T_INT(one.err.code, DTX_OK);
		T_CHECK(one.out.len > 20);
		T_CHECK(one.out.len == eight.out.len &&
		        memcmp(one.out.ptr, eight.out.ptr, one.out.len) == 0);
		planrun_clear(&one);
		planrun_clear(&eight);
	}
	dtx_mem_free(rows);
}

/* A filled column has cells of the file in one batch and none in the next. */
void test_op_semantics_fill_in_one_form(void)
{
	static const struct plancase list[] = {
		{ PLANCASE("{\"op\":\"derive\",\"set\":{\"m\":\"n - 3\"}},"
		           "{\"op\":\"fill\",\"cols\":[\"i\",\"m\"],\"dir\":\"right\"},"
		           "{\"op\":\"derive\",\"set\":{\"f\":\"i / 2\"}},"
		           "{\"op\":\"select\",\"cols\":[\"m\",\"f\"]},"
		           "{\"op\":\"pivot_longer\",\"cols\":[\"m\",\"f\"]}"),
		  "i,n\n1,\n2,5\n", "name,value\nm,1\nf,0.5\nm,2\nf,1.0\n" },
	};

	plancases(list, DTX_COUNT(list), NULL);
}

void test_op_semantics_promises_name_keys(void)
{
	struct planrun p;

	run_is(TWO("{\"op\":\"join\",\"with\":\"other\",\"on\":\"k\",\"cardinality\":\"m:1\"}"),
	       "k,v\na,1\n", "k,w\na,1\nb,2\na,3\nb,4\nb,5\n,6\n,7\n", 1, 2, &p);
	T_INT(p.err.code, DTX_E_JOIN_CARDINALITY);
	T_INT(p.err.count, 2);
	T_CHECK(strstr(p.err.msg, "k = 'a' at L4 (2); k = 'b' at L5 (3)") != NULL);
	planrun_clear(&p);
	run_is(TWO("{\"op\":\"join\",\"with\":\"other\",\"on\":\"k\",\"match\":\"all_left\"}"),
	       "k,v\na,1\nb,2\n,3\n", "k,w\na,1\n", 1, 2, &p);
	T_INT(p.err.code, DTX_E_JOIN_UNMATCHED);
	T_CHECK(strstr(p.err.msg, "2 left rows") &&
	        strstr(p.err.msg, "k = 'b' at L3; k = null at L4"));
	T_STR(p.err.input, "main");
	T_INT(p.err.row, 2);
	planrun_clear(&p);
}

void test_op_semantics_first_pivot_key(void)
{
	struct planrun p;

	run_is(ONE("{\"op\":\"pivot_wider\",\"names_from\":[\"q\"],\"values_from\":[\"v\"]}"),
	       "id,q,v\na,x,1\nb,x,2\na,x,3\n", NULL, 1, 1, &p);
	T_INT(p.err.code, DTX_E_PIVOT_NOT_UNIQUE);
	T_CHECK(strstr(p.err.msg, "id = 'a', q = 'x'") != NULL);
	planrun_clear(&p);
}

/* With an aggregate, ids and names are also shown as in their first rows; a cell without a value is
 * not an absent cell; a column may be id, name and value at once. */
void test_op_semantics_pivot_of_groups(void)
{
	static const struct plancase list[] = {
		{ PLANCASE("{\"op\":\"pivot_wider\",\"id\":[\"k\"],\"names_from\":[\"x\"],"
		           "\"values_from\":[\"n\"],\"agg\":\"sum\",\"fill\":0}"),
		  "k,x,n\n\"007\",1.50,1\nb,2,\n\"007\",1.5,2\n,2.0,3\nb,,4\n",
		  "k,1.50,2,null\n\"007\",3,0,0\nb,0,,4\n,0,3,0\n" },
		{ PLANCASE("{\"op\":\"pivot_wider\",\"id\":[\"x\"],\"names_from\":[\"x\"],"
		           "\"values_from\":[\"x\",\"k\"],\"agg\":\"max\",\"names_order\":"
		           "\"sorted\"}"),
		  "k,x\na,2.50\nb,1\nc,2.5\n",
		  "x,x_1,x_2.50,k_1,k_2.50\n2.50,,2.5,,c\n1,1.0,,b,\n" },
		{ PLANCASE("{\"op\":\"pivot_wider\",\"names_from\":[\"k\"],"
		           "\"values_from\":[\"x\"],\"agg\":\"first\",\"names\":[\"b\",\"a\"]}"),
		  "k,x\na,2.50\nb,1\na,3\n", "b,a\n1.0,2.5\n" },
		{ PLANCASE("{\"op\":\"derive\",\"set\":{\"m\":\"n * 2\"}},"
		           "{\"op\":\"pivot_wider\",\"id\":[\"m\"],\"names_from\":[\"k\"],"
		           "\"values_from\":[\"n\"],\"agg\":\"count\"},"
		           "{\"op\":\"sort\",\"by\":[\"-m\"]}"),
		  "k,n\na,1\nb,2\na,1\n", "m,a,b\n4,,1\n2,2,\n" },
		{ PLANCASE("{\"op\":\"pivot_wider\",\"id\":[\"k\"],\"names_from\":[\"x\"],"
		           "\"values_from\":[\"n\"],\"agg\":\"sum\"}"),
		  "k,x,n\n", "k\n" },
	};

	plancases(list, DTX_COUNT(list), NULL);
}

/* The rows of such a pivot are not kept. */
void test_op_semantics_pivot_keeps_no_rows(void)
{
	enum { ROWS = 1500000 };
	struct dtx_buf csv = DTX_BUF_INIT((size_t)1 << 24);
	struct planrun p;
	int64_t before;

	dtx_buf_add(&csv, "k,q,v\n");
	for (int i = 0; i < ROWS; i++)
		dtx_buf_printf(&csv, "%d,%d,%d\n", i % 10, i % 3, i % 7);
	before = (int64_t)dtx_mem_used();
	planrun_init(&p,
	             ONE("{\"op\":\"pivot_wider\",\"id\":[\"k\"],\"names_from\":[\"q\"],"
	                 "\"values_from\":[\"v\"],\"agg\":\"sum\"}"),
	             dtx_buf_text(&csv));
	p.batch_rows = 1000;
	p.workers = 2;
	p.keep = true;
	T_OK(planrun(&p), &p.err);
	T_INT(p.result->step[0].rows_in, ROWS);
	T_INT(p.result->step[0].rows_out, 10);
	T_CHECK(p.result->step[0].bytes - before < ROWS * 16);
	planrun_clear(&p);
	dtx_buf_clear(&csv);
}

/* Cells that are not changed keep quotes and trailing zeros when they move. */
void test_op_semantics_bytes_stay(void)
{
	struct planrun p;

	run_is(TWO("{\"op\":\"union\",\"with\":[\"other\"]},{\"op\":\"sort\",\"by\":[\"n\"]},"
	           "{\"op\":\"pivot_longer\",\"cols\":[\"x\",\"y\"]}"),
	       "n,x,y\n2,1.50,\"007\"\n", "n,x,y\n1,1e3,\"a,b\"\n", 1, 2, &p);
	T_INT(p.err.code, DTX_OK);
	T_STR(dtx_buf_text(&p.out), "n,name,value\n1,x,1e3\n1,y,\"a,b\"\n2,x,1.50\n2,y,\"007\"\n");
	planrun_clear(&p);
}

/* Numbers that come into a text column from a column of floats are texts there, like the others. */
void test_op_semantics_text_of_floats(void)
{
	struct planrun p;

	run_is(TWO("{\"op\":\"union\",\"with\":[\"other\"]},"
	           "{\"op\":\"cast\",\"types\":[{\"name\":\"a\",\"type\":\"int\",\"on_error\":"
	           "\"null\"}]}"),
	       "a,n\nx,1\n2.0,2\n3,3\n", "a,n\n2.0,4\n3.5,5\n", 65536, 1, &p);
	T_STR(dtx_buf_text(&p.out), "a,n\n,1\n,2\n3,3\n,4\n,5\n");
	planrun_clear(&p);
}

void test_op_semantics_totals(void)
{
	struct planrun p;

	/* a wrong sum stays, with a warning; rounding within the written digits is accepted */
	run_is(ONE("{\"op\":\"drop_rows\",\"kinds\":[\"totals\"]}"),
	       "k,a,b\nx,1.24,5\ny,1.24,6\nSubtotal,2.5,11\nz,3,1\nSum:,9,9\nGrand Total,5.5,12\n",
	       NULL, 7, 1, &p);
	T_INT(p.err.code, DTX_OK);
	T_STR(dtx_buf_text(&p.out),
	      "k,a,b\nx,1.24,5\ny,1.24,6\nz,3,1\nSum:,9,9\nGrand Total,5.5,12\n");
	T_INT(p.result->warnings.n, 2);
	for (size_t i = 0; i < 2; i++)
		T_INT(p.result->warnings.item[i].code, DTX_W_TOTAL_NOT_VERIFIED);
	T_STR(p.result->warnings.item[0].msg, "a dropped total differs by rounding in one of its "
	                                      "columns: it has 2.5, the sum is 2.48");
	T_STR(p.result->warnings.item[0].column, "a");
	T_INT(p.result->warnings.item[0].row, 3);
	T_INT(p.result->warnings.item[1].row, 5);
	T_INT(p.result->warnings.item[1].count, 2);
	planrun_clear(&p);
}

/* A declared type survives the repair of rows; a detected type is detected again. */
void test_op_semantics_declared_types_stay(void)
{
	static const char *const plan =
		"{\"dtx\":1,\"inputs\":[{\"name\":\"main\",\"types\":[{\"name\":\"c\",\"type\":"
		"\"text\"}]}],"
		"\"steps\":[{\"op\":\"skip_rows\",\"head\":1},"
		"{\"op\":\"derive\",\"set\":[{\"as\":\"d\",\"expr\":\"length(c) + n\"}]}]}";
	struct planrun p;

	run_is(plan, "c,n\nx,note\n12,3\n", NULL, 7, 1, &p);
	T_INT(p.err.code, DTX_OK);
	T_STR(dtx_buf_text(&p.out), "c,n,d\n12,3,5\n");
	planrun_clear(&p);
}
