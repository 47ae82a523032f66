/* The executor: order, workers, restarts, regions, named tables, checks, lineage. */
#include "core/data/builder.h"
#include "core/plan/exec/host.h"
#include "tests/unit/planrun.h"

static const uint32_t batches[] = { 1, 7, 65536 };
static const unsigned workers[] = { 1, 2, 8 };

/* The result is the same for every batch size and number of workers. */
static void gives(const char *plan, const char *a, const char *b, const char *want)
{
	for (size_t i = 0; i < DTX_COUNT(batches); i++)
		for (size_t k = 0; k < DTX_COUNT(workers); k++) {
			struct planrun p;

			planrun_init(&p, plan, a);
			p.input[1] = b;
			p.batch_rows = batches[i];
			p.workers = workers[k];
			T_OK(planrun(&p), &p.err);
			T_STR(dtx_buf_text(&p.out), want);
			planrun_clear(&p);
		}
}

static void fails(const char *plan, const char *a, enum dtx_code code, const char *at)
{
	for (size_t i = 0; i < DTX_COUNT(batches); i++)
		for (size_t k = 0; k < DTX_COUNT(workers); k++) {
			struct planrun p;

			planrun_init(&p, plan, a);
			p.batch_rows = batches[i];
			p.workers = workers[k];
			T_CODE(planrun(&p), code, &p.err);
			T_INT(p.err.code, code);
			if (at)
				T_STR(p.err.at, at);
			planrun_clear(&p);
		}
}

void test_exec_maps_keep_order(void)
{
	gives("[{\"op\":\"filter\",\"where\":\"a % 2 == 1\"},{\"op\":\"derive\",\"set\":{\"b\":\"a "
	      "* 10\"}},"
	      "{\"op\":\"limit\",\"n\":3,\"offset\":1},{\"op\":\"select\",\"cols\":[\"b\",\"a\"]}]",
	      "a\n1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n", NULL, "b,a\n30,3\n50,5\n70,7\n");
}

void test_exec_sink_then_maps(void)
{
	gives("[{\"op\":\"group_by\",\"by\":[\"k\"],\"agg\":{\"s\":\"sum(v)\"}},"
	      "{\"op\":\"filter\",\"where\":\"s > 2\"},{\"op\":\"sort\",\"by\":\"-s\"}]",
	      "k,v\na,1\nb,2\na,3\nc,5\nb,1\n,1\n", NULL, "k,s\nc,5\na,4\nb,3\n");
}

void test_exec_named_tables(void)
{
	gives("{\"dtx\":1,\"inputs\":[{\"name\":\"main\"},{\"name\":\"r\"}],\"steps\":["
	      "{\"op\":\"filter\",\"where\":\"v > 1\",\"out\":\"big\"},"
	      "{\"op\":\"join\",\"with\":\"r\",\"on\":\"k\",\"how\":\"left\"},"
	      "{\"op\":\"union\",\"with\":[\"big\",\"big\"]}]}",
	      "k,v\na,1\nb,2\n", "k,w\na,9\n", "k,v,w\na,1,9\nb,2,\nb,2,\nb,2,\n");
}

void test_exec_input_read_twice(void)
{
	gives("[{\"op\":\"union\",\"with\":[\"main\"]},{\"op\":\"filter\",\"where\":\"a > 1\"}]",
	      "a\n1\n2\n3\n", NULL, "a\n2\n3\n2\n3\n");
}

/* A step that adds columns to its table does not change the table that another step gets. */
void test_exec_table_read_twice(void)
{
	gives("[{\"op\":\"sort\",\"by\":[\"a\"],\"out\":\"x\"},"
	      "{\"op\":\"rank\",\"expr\":\"a\",\"as\":\"r\",\"in\":\"x\",\"out\":\"y\"},"
	      "{\"op\":\"filter\",\"where\":\"a > 1\",\"in\":\"x\",\"out\":\"z\"},"
	      "{\"op\":\"join\",\"with\":\"z\",\"using\":[\"a\"],\"in\":\"y\"}]",
	      "a,b\n3,u\n1,v\n2,w\n", NULL, "a,b,r,b_right\n2,w,2,w\n3,u,3,u\n");
}

/* The sample does not contain the last row, so the guess is wrong and the run starts again with
 * wider types. */
void test_exec_wrong_guess_widens(void)
{
	struct dtx_buf csv = DTX_BUF_INIT((size_t)1 << 26);
	struct planrun p;

	dtx_buf_add(&csv, "id,v\n");
	for (int i = 0; i < 300000; i++)
		dtx_buf_printf(&csv, "%d,%d\n", i, i % 7);
	dtx_buf_add(&csv, "x,0.5\n");
	for (size_t k = 0; k < DTX_COUNT(workers); k++) {
		planrun_init(&p,
		             "[{\"op\":\"group_by\",\"by\":[],\"agg\":{\"s\":\"sum(v)\",\"n\":"
		             "\"count()\"}}]",
		             dtx_buf_text(&csv));
		p.workers = workers[k];
		p.keep = true;
		T_OK(planrun(&p), &p.err);
		T_STR(dtx_buf_text(&p.out), "s,n\n899997.5,300001\n");
		if (p.result)
			T_INT(p.result->restarts, 1);
		planrun_clear(&p);
	}
	dtx_buf_clear(&csv);
}

void test_exec_smallest_error_wins(void)
{
	fails("[{\"op\":\"filter\",\"where\":\"a > "
	      "0\"},{\"op\":\"derive\",\"set\":{\"b\":\"int(t)\"},"
	      "\"fallback\":\"off\"}]",
	      "a,t\n1,1\n2,x\n3,4\n4,y\n5,1\n6,z\n", DTX_E_CAST_FAILED, NULL);
}

void test_exec_missing_column(void)
{
	fails("[{\"op\":\"limit\",\"n\":3},{\"op\":\"filter\",\"where\":\"zz > 0\"}]", "a\n1\n",
	      DTX_E_MISSING_COLUMN, "/1/where");
}

void test_exec_row_growth(void)
{
	fails("{\"dtx\":1,\"limits\":{\"rows\":2},\"steps\":[{\"op\":\"filter\",\"where\":\"a > "
	      "0\"}]}",
	      "a\n1\n2\n3\n", DTX_E_ROW_LIMIT, NULL);
}

/* A limit on rows is enforced while rows are made, not when all of them exist. */
void test_exec_no_rows_made(void)
{
	static const struct {
		const char *step, *in, *says;
	} item[] = {
		{ "{\"op\":\"complete\",\"cols\":[\"a\"],\"seq\":{\"a\":1}}", "a\n1\n5\n",
		  "complete: more than 0 rows" },
		{ "{\"op\":\"pad_time\",\"col\":\"a\",\"every\":\"day\"}",
		  "a\n2024-01-01\n2024-01-05\n", "pad_time: more than 0 rows" },
		{ "{\"op\":\"resample\",\"col\":\"a\",\"every\":\"day\",\"agg\":{\"n\":\"count()\"}"
		  "}",
		  "a\n2024-01-01\n2024-01-05\n", "more than 0 rows" },
		{ "{\"op\":\"sample\",\"n\":2147483647,\"replace\":true,\"seed\":1}", "a\n1\n",
		  "sample: more than 0 rows" },
	};

	for (size_t i = 0; i < DTX_COUNT(item); i++) {
		struct planrun p;
		char plan[256];

		snprintf(plan, sizeof(plan), "{\"dtx\":1,\"limits\":{\"rows\":0},\"steps\":[%s]}",
		         item[i].step);
		planrun_init(&p, plan, item[i].in);
		T_CODE(planrun(&p), DTX_E_ROW_LIMIT, &p.err);
		T_STR(p.err.msg, item[i].says);
		planrun_clear(&p);
	}
}

void test_exec_expect(void)
{
	fails("{\"dtx\":1,\"steps\":[{\"op\":\"limit\",\"n\":3}],\"expect\":{\"rows\":{\"min\":2}}"
	      "}",
	      "a\n1\n", DTX_E_EXPECT_FAILED, NULL);
	fails("{\"dtx\":1,\"steps\":[{\"op\":\"limit\",\"n\":3,\"expect\":{\"columns\":"
	      "[{\"name\":\"a\",\"nullable\":false}]}},{\"op\":\"limit\",\"n\":1}]}",
	      "a,b\n1,1\n,2\n", DTX_E_EXPECT_FAILED, NULL);
	gives("{\"dtx\":1,\"steps\":[{\"op\":\"limit\",\"n\":3}],\"expect\":{\"rows\":{\"min\":1}}"
	      "}",
	      "a\n1\n", NULL, "a\n1\n");
}

/* An assertion after a step is about all its rows, even if a limit after it wants only one of
 * them. */
void test_exec_expect_before_limit(void)
{
	gives("{\"dtx\":1,\"steps\":[{\"op\":\"derive\",\"set\":{\"b\":\"a\"},\"expect\":{\"rows\":"
	      "{\"equals\":9}}},{\"op\":\"limit\",\"n\":1}]}",
	      "a\n1\n2\n3\n4\n5\n6\n7\n8\n9\n", NULL, "a,b\n1,1\n");
	fails("{\"dtx\":1,\"steps\":[{\"op\":\"derive\",\"set\":{\"b\":\"a\"},\"expect\":{"
	      "\"columns\":"
	      "[{\"name\":\"b\",\"max\":8}]}},{\"op\":\"limit\",\"n\":1}]}",
	      "a\n1\n2\n3\n4\n5\n6\n7\n8\n9\n", DTX_E_EXPECT_FAILED, NULL);
}

void test_exec_unread_results_still_check(void)
{
	fails("{\"dtx\":1,\"steps\":[{\"op\":\"limit\",\"n\":3,\"out\":\"t\",\"expect\":{\"rows\":"
	      "{\"equals\":1}}},{\"op\":\"limit\",\"n\":1}]}",
	      "a\n1\n2\n", DTX_E_EXPECT_FAILED, NULL);
}

/* An assertion about the result holds even if only other tables are written. */
void test_exec_expect_without_output(void)
{
	fails("{\"dtx\":1,\"steps\":[{\"op\":\"limit\",\"n\":3,\"out\":\"t\"},{\"op\":"
	      "\"limit\",\"n\":1}],\"output\":{\"table\":\"t\"},\"expect\":{\"rows\":{\"min\":2}}}",
	      "a\n1\n2\n", DTX_E_EXPECT_FAILED, "/expect/rows/min");
	fails("{\"dtx\":1,\"steps\":[{\"op\":\"limit\",\"n\":3},{\"op\":\"limit\",\"n\":1,"
	      "\"out\":\"t\"}],\"output\":{\"table\":\"t\"},\"expect\":{\"keys\":[\"a\"]}}",
	      "a\n1\n1\n", DTX_E_EXPECT_FAILED, "/expect/keys");
	fails("{\"dtx\":1,\"inputs\":[{\"name\":\"main\"}],\"steps\":[{\"op\":\"limit\",\"n\":1,"
	      "\"out\":\"t\"}],\"output\":{\"table\":\"t\"},\"expect\":{\"columns\":[{\"name\":"
	      "\"a\",\"max\":1}]}}",
	      "a\n1\n2\n", DTX_E_EXPECT_FAILED, "/expect/columns/0");
	gives("{\"dtx\":1,\"steps\":[{\"op\":\"limit\",\"n\":3,\"out\":\"t\"},{\"op\":"
	      "\"limit\",\"n\":1}],\"output\":{\"table\":\"t\"},\"expect\":{\"rows\":{\"equals\":1}"
	      "}}",
	      "a\n1\n2\n", NULL, "a\n1\n2\n");
}

/* The error names the row wherever batches end. */
void test_exec_sorted_names_the_row(void)
{
	for (size_t i = 0; i < DTX_COUNT(batches); i++)
		for (size_t k = 0; k < DTX_COUNT(workers); k++) {
			struct planrun p;

			planrun_init(&p,
			             "{\"dtx\":1,\"steps\":[{\"op\":\"limit\",\"n\":9}],"
			             "\"expect\":{\"order_by\":[\"a\"]}}",
			             "a\n1\n2\n5\n3\n4\n1\n");
			p.batch_rows = batches[i];
			p.workers = workers[k];
			T_CODE(planrun(&p), DTX_E_EXPECT_FAILED, &p.err);
			T_STR(p.err.at, "/expect/order_by");
			T_STR(p.err.cell, "L5");
			planrun_clear(&p);
		}
}

/* --- regions --- */

struct helper {
	int calls;
	size_t ntables;
	int64_t rows;
	char need[64];
	char at[24];
	bool refuse;
};

static struct dtx_column *int_column(int64_t value, uint32_t n)
{
	struct dtx_builder b;
	struct dtx_column *c = NULL;
	struct dtx_err err = DTX_ERR_INIT;

	dtx_builder_init(&b, (struct dtx_typeref){ DTX_T_INT64, 0, 0 }, n);
	for (uint32_t i = 0; i < n; i++)
		dtx_builder_i64(&b, value + i);
	T_OK(dtx_builder_finish(&b, NULL, &c, &err), &err);
	return c;
}

/* Answers every region with the table n = 10, 11. */
static enum dtx_code helper_fallback(void *arg, const struct dtx_fallback_request *r,
                                     struct dtx_table **out, struct dtx_err *err)
{
	static const struct dtx_field field = { .name = "n", .type = { DTX_T_INT64, 0, 0 } };
	static const struct dtx_schema schema = { .nfields = 1, .field = &field };
	struct helper *h = arg;
	struct dtx_batch *b = NULL;

	h->calls++;
	h->ntables = r->ntables;
	h->rows = r->ntables ? r->table[0].table->nrows : -1;
	snprintf(h->at, sizeof(h->at), "%s", r->at);
	h->need[0] = '\0';
	for (size_t i = 0; i < r->nneed; i++)
		snprintf(h->need + strlen(h->need), sizeof(h->need) - strlen(h->need), "%s:%u ",
		         r->need[i].name, r->need[i].cls);
	if (h->refuse)
		return dtx_err_set(err, DTX_E_NEEDS_SNIPPET, __FILE__, __LINE__, "nobody");
	T_OK(dtx_batch_new(&schema, 2, &b, err), err);
	b->col[0] = int_column(10, 2);
	T_OK(dtx_table_new(&schema, out, err), err);
	return dtx_table_take(*out, b, err);
}

static enum dtx_code by_snippet(const char *plan, const char *in, struct helper *h,
                                struct planrun *p)
{
	struct dtx_host host = { .arg = h, .fallback = helper_fallback };

	planrun_init(p, plan, in);
	p->host = &host;
	p->workers = 2;
	p->keep = true;
	return planrun(p);
}

void test_exec_unknown_op_is_a_region(void)
{
	struct helper h = { 0 };
	struct planrun p;

	T_OK(by_snippet("[{\"op\":\"filter\",\"where\":\"a > "
	                "1\"},{\"op\":\"frob\"},{\"op\":\"twist\"},"
	                "{\"op\":\"filter\",\"where\":\"n > 10\"}]",
	                "a\n1\n2\n3\n", &h, &p),
	     &p.err);
	T_STR(dtx_buf_text(&p.out), "n\n11\n");
	T_INT(h.calls, 1);
	T_INT(h.ntables, 1);
	T_INT(h.rows, 2);
	T_STR(h.at, "/1");
	T_STR(h.need, "n:1 ");
	T_INT(p.result->nregions, 1);
	T_INT(p.result->region[0].count, 2);
	T_STR(p.result->step[1].kind, "snippet");
	planrun_clear(&p);
}

/* An assertion about the result of a step is checked if a snippet makes that result. */
void test_exec_promise_ends_a_region(void)
{
	struct helper h = { 0 };
	struct planrun p;

	T_OK(by_snippet("[{\"op\":\"frob\",\"expect\":{\"rows\":{\"min\":1}}},{\"op\":\"twist\"}]",
	                "a\n1\n2\n3\n", &h, &p),
	     &p.err);
	T_INT(h.calls, 2);
	T_INT(p.result->nregions, 2);
	planrun_clear(&p);
}

void test_exec_run_time_trigger_is_a_region(void)
{
	struct helper h = { 0 };
	struct planrun p;

	T_OK(by_snippet("[{\"op\":\"filter\",\"where\":\"a > "
	                "1\"},{\"op\":\"derive\",\"set\":{\"n\":\"int(t)\"}},"
	                "{\"op\":\"select\",\"cols\":[\"n\"]}]",
	                "a,t\n1,x\n2,1\n3,y\n", &h, &p),
	     &p.err);
	T_STR(dtx_buf_text(&p.out), "n\n10\n11\n");
	T_INT(h.calls, 1);
	T_INT(h.rows, 2);
	T_INT(p.result->restarts, 1);
	T_INT(p.result->region[0].trigger.code, DTX_E_CAST_FAILED);
	planrun_clear(&p);
}

void test_exec_missing_column_is_a_region(void)
{
	struct helper h = { 0 };
	struct planrun p;

	T_OK(by_snippet("[{\"op\":\"filter\",\"where\":\"zz > "
	                "1\"},{\"op\":\"select\",\"cols\":[\"n\"]}]",
	                "a,t\n1,x\n2,1\n3,y\n", &h, &p),
	     &p.err);
	T_STR(dtx_buf_text(&p.out), "n\n10\n11\n");
	T_INT(h.rows, 3);
	planrun_clear(&p);
}

void test_exec_whole_plan_is_a_region(void)
{
	struct helper h = { 0 };
	struct planrun p;

	T_OK(by_snippet(
		     "{\"dtx\":1,\"fallback\":\"plan\",\"steps\":[{\"op\":\"filter\",\"where\":\"a "
		     "> 1\"},"
		     "{\"op\":\"frob\"},{\"op\":\"limit\",\"n\":1}]}",
		     "a\n1\n2\n3\n", &h, &p),
	     &p.err);
	T_STR(dtx_buf_text(&p.out), "n\n10\n11\n");
	T_INT(h.rows, 3);
	T_INT(p.result->region[0].count, 3);
	planrun_clear(&p);
}

void test_exec_nobody_helps(void)
{
	struct helper h = { .refuse = true };
	struct planrun p;

	T_CODE(by_snippet("[{\"op\":\"frob\"}]", "a\n1\n", &h, &p), DTX_E_NEEDS_SNIPPET, &p.err);
	planrun_clear(&p);
	T_CODE(by_snippet("[{\"op\":\"frob\",\"fallback\":\"off\"}]", "a\n1\n", &h, &p),
	       DTX_E_UNKNOWN_OP, &p.err);
	T_INT(h.calls, 1);
	planrun_clear(&p);
}

/* --- lineage --- */

static const struct dtx_exec_lineage *lineage_of(const struct planrun *p, const char *col)
{
	for (size_t i = 0; p->result && i < p->result->nlineage; i++)
		if (p->result->lineage[i].out_col &&
		    strcmp(p->result->lineage[i].out_col, col) == 0)
			return &p->result->lineage[i];
	return NULL;
}

void test_exec_formulas_compose(void)
{
	const struct dtx_exec_lineage *l;
	struct planrun p;

	planrun_init(&p,
	             "[{\"op\":\"derive\",\"set\":[{\"as\":\"paid\",\"expr\":\"headcount * 40 * "
	             "weeks\"}]},"
	             "{\"op\":\"rename\",\"map\":{\"hours\":\"h\"}},"
	             "{\"op\":\"derive\",\"set\":{\"utilization\":\"h / paid\"}},"
	             "{\"op\":\"filter\",\"where\":\"region == 'N'\"}]",
	             "region,headcount,weeks,hours\nN,2,1,40\nS,1,1,1\n");
	p.keep = true;
	T_OK(planrun(&p), &p.err);
	l = lineage_of(&p, "utilization");
	T_CHECK(l && l->formula && l->composed);
	if (l) {
		T_STR(l->formula, "h / paid");
		T_STR(l->composed, "hours / (headcount * 40 * weeks)");
		T_STR(l->subtype, "TRANSFORMATION");
	}
	l = lineage_of(&p, "h");
	T_CHECK(l && l->in_col && strcmp(l->in_col, "hours") == 0 && !l->formula);
	planrun_clear(&p);
}

void test_exec_aggregates_name_their_keys(void)
{
	const struct dtx_exec_lineage *l;
	struct planrun p;

	planrun_init(
		&p,
		"[{\"op\":\"group_by\",\"by\":[\"region\"],\"agg\":{\"cost\":\"sum(h * rate)\"}}]",
		"region,h,rate\nN,2,1\n");
	p.keep = true;
	T_OK(planrun(&p), &p.err);
	l = lineage_of(&p, "cost");
	T_CHECK(l && l->composed && strcmp(l->composed, "sum(h * rate), by region") == 0);
	planrun_clear(&p);
}

void test_exec_bind_tells_schemas(void)
{
	struct dtx_exec_opts opts = DTX_EXEC_OPTS_INIT;
	struct dtx_source *source = NULL;
	struct dtx_exec_result *r = NULL;
	struct dtx_plan *plan = NULL;
	struct dtx_errlist findings = DTX_ERRLIST_INIT;
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_buf text = DTX_BUF_INIT(1 << 16);

	T_OK(dtx_plan_parse(DTX_STR("[{\"op\":\"derive\",\"set\":{\"c\":\"a + 1\"}}]"), NULL,
	                    &findings, &plan, &err),
	     &err);
	T_OK(dtx_source_bytes("x", "a,b\n1,2\n", 8, &source, &err), &err);
	opts.input = &source;
	T_OK(dtx_exec_bind(plan, &opts, &findings, &r, &err), &err);
	T_INT(r->step[0].schema->nfields, 3);
	T_INT(r->step[0].schema->field[2].type.type, DTX_T_INT64);
	T_INT(r->input[0].need[0], DTX_NEED_VALUE);
	T_INT(r->input[0].need[1], DTX_NEED_BYTES);
	T_OK(dtx_explain_text(plan, r, &text, &err), &err);
	T_CHECK(strstr(dtx_buf_text(&text), "derive") != NULL);
	dtx_buf_clear(&text);
	dtx_exec_free(r);
	dtx_plan_free(plan);
	dtx_source_free(source);
	dtx_errlist_clear(&findings);
}

void test_exec_bind_marks_snippets(void)
{
	struct dtx_exec_opts opts = DTX_EXEC_OPTS_INIT;
	struct dtx_source *source = NULL;
	struct dtx_exec_result *r = NULL;
	struct dtx_plan *plan = NULL;
	struct dtx_errlist findings = DTX_ERRLIST_INIT;
	struct dtx_err err = DTX_ERR_INIT;

	T_OK(dtx_plan_parse(DTX_STR("[{\"op\":\"filter\",\"where\":\"zz > 1\"},{\"op\":\"frob\"},"
	                            "{\"op\":\"limit\",\"n\":1}]"),
	                    NULL, &findings, &plan, &err),
	     &err);
	T_OK(dtx_plan_check(plan, &findings, &err), &err);
	T_OK(dtx_source_bytes("x", "a,b\n1,2\n", 8, &source, &err), &err);
	opts.input = &source;
	T_OK(dtx_exec_bind(plan, &opts, &findings, &r, &err), &err);
	T_STR(r->step[0].kind, "snippet");
	T_STR(r->step[1].kind, "snippet");
	T_CHECK(dtx_errlist_worst(&findings)->severity == DTX_SEV_FALLBACK);
	dtx_exec_free(r);
	dtx_plan_free(plan);
	dtx_source_free(source);
	dtx_errlist_clear(&findings);
	dtx_err_clear(&err);
}

void test_exec_whole_plan_has_no_inner_tables(void)
{
	struct helper h = { 0 };
	struct planrun p;

	T_CODE(by_snippet(
		       "{\"dtx\":1,\"fallback\":\"plan\",\"output\":{\"table\":\"t\"},\"steps\":["
		       "{\"op\":\"limit\",\"n\":1,\"out\":\"t\"},{\"op\":\"frob\"}]}",
		       "a\n1\n", &h, &p),
	       DTX_E_PARAM_CONFLICT, &p.err);
	planrun_clear(&p);
}

void test_exec_limit_stops_reading(void)
{
	struct dtx_buf csv = DTX_BUF_INIT((size_t)1 << 26);
	struct planrun p;

	dtx_buf_add(&csv, "a\n");
	for (int i = 0; i < 400000; i++)
		dtx_buf_printf(&csv, "%d00000000\n", i);
	for (size_t k = 0; k < DTX_COUNT(workers); k++) {
		planrun_init(&p,
		             "[{\"op\":\"limit\",\"n\":2},{\"op\":\"union\",\"with\":[\"main\"]},"
		             "{\"op\":\"limit\",\"n\":3}]",
		             dtx_buf_text(&csv));
		p.workers = workers[k];
		p.keep = true;
		T_OK(planrun(&p), &p.err);
		T_STR(dtx_buf_text(&p.out), "a\n000000000\n100000000\n000000000\n");
		T_CHECK(p.result && p.result->input[0].stats.stopped_early);
		planrun_clear(&p);
	}
	dtx_buf_clear(&csv);
}

/* Places of rows after blank lines, cells of two lines and other line ends. */
void test_exec_places_far_down(void)
{
	static const char *const odd[] = { "\n", "\"a\nb\",1,x\n", "c,1,\"x\"\r\n", "d,1,x\r\n" };
	static const int bad[] = { 2, 700, 701, 3100, 4444, 9999 };

	for (size_t k = 0; k < DTX_COUNT(bad); k++) {
		struct dtx_buf csv = DTX_BUF_INIT((size_t)1 << 22);
		struct planrun p;
		int line = 1, want = 0;

		dtx_buf_add(&csv, "k,v,t\n");
		for (int i = 0; i < 10000; i++) {
			const char *extra = i % 600 == 599 ? odd[i / 600 % 4] : "";

			dtx_buf_add(&csv, extra);
			line += *extra ? 1 + (extra[0] == '"') : 0;
			line++;
			dtx_buf_printf(&csv, "key%d,%s,%d\n", i, i == bad[k] ? "?" : "1", i * 37);
			want = i == bad[k] ? line : want;
		}
		planrun_init(&p,
		             "[{\"op\":\"derive\",\"set\":{\"b\":\"int(text(v))\"},\"fallback\":"
		             "\"off\"}]",
		             dtx_buf_text(&csv));
		T_CHECK(planrun(&p) != DTX_OK);
		T_INT(p.err.row + 1, want);
		planrun_clear(&p);
		dtx_buf_clear(&csv);
	}
}

void test_exec_is_cancelled(void)
{
	static const char *const plans[] = {
		"[{\"op\":\"filter\",\"where\":\"a > 0\"},{\"op\":\"sort\",\"by\":\"a\"}]",
		"[{\"op\":\"transpose\"}]",
	};
	const atomic_bool cancel = true;

	for (size_t i = 0; i < DTX_COUNT(plans); i++) {
		struct planrun p;

		planrun_init(&p, plans[i], "a\n1\n2\n");
		p.cancel = &cancel;
		T_CODE(planrun(&p), DTX_E_CANCELLED, &p.err);
		T_STR(p.err.msg, "the run was interrupted");
		planrun_clear(&p);
	}
}
