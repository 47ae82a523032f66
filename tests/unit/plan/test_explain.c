/* The physical plan: what explain prints is what the run does. */
#include "core/plan/explain/explain.h"
#include "tests/unit/planrun.h"

static struct dtx_exec_result *bound(struct dtx_plan **plan, struct dtx_source **source,
                                     const char *text, const char *csv)
{
	struct dtx_exec_opts opts = DTX_EXEC_OPTS_INIT;
	struct dtx_errlist findings = DTX_ERRLIST_INIT;
	struct dtx_exec_result *r = NULL;
	struct dtx_err err = DTX_ERR_INIT;

	*plan = NULL;
	*source = NULL;
	T_OK(dtx_plan_parse(dtx_str_of(text), NULL, &findings, plan, &err), &err);
	T_OK(dtx_plan_check(*plan, &findings, &err), &err);
	opts.workers = 2;
	if (csv) {
		T_OK(dtx_source_bytes("x", csv, strlen(csv), source, &err), &err);
		opts.input = source;
		T_OK(dtx_exec_bind(*plan, &opts, &findings, &r, &err), &err);
	} else {
		T_OK(dtx_exec_static(*plan, &opts, &r, &err), &err);
	}
	dtx_errlist_clear(&findings);
	dtx_err_clear(&err);
	return r;
}

/* Checks that each of the words is in the explanation, in this order. */
static void says(const char *plan_text, const char *csv, const char *const *words, size_t n)
{
	struct dtx_plan *plan;
	struct dtx_source *source;
	struct dtx_buf out = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_exec_result *r = bound(&plan, &source, plan_text, csv);
	json_t *json = dtx_explain_json(plan, r);
	const char *at;

	T_OK(dtx_explain_text(plan, r, &out, &err), &err);
	at = dtx_buf_text(&out);
	for (size_t i = 0; i < n && at; i++) {
		const char *found = strstr(at, words[i]);

		if (!found)
			T_STR(at, words[i]);
		at = found;
	}
	T_CHECK(at && json);
	json_decref(json);
	dtx_buf_clear(&out);
	dtx_exec_free(r);
	dtx_plan_free(plan);
	dtx_source_free(source);
}
#define SAYS(plan, csv, ...)                                                                       \
	says(plan, csv, (const char *const[]){ __VA_ARGS__ },                                      \
	     sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *))

void test_explain_reader(void)
{
	SAYS("{\"dtx\":1,\"inputs\":[{\"name\":\"main\",\"types\":[{\"name\":\"d\",\"type\":"
	     "\"date\",\"format\":\"%d/%m/%Y\"}]}],\"steps\":[{\"op\":\"filter\",\"where\":\"a > "
	     "1\"},{\"op\":\"derive\",\"set\":{\"y\":\"year(d)\"}},{\"op\":\"limit\",\"n\":5,"
	     "\"offset\":2},{\"op\":\"select\",\"cols\":[\"y\"]}]}",
	     "a,d,unread\n1,01/02/2024,x\n2,02/03/2024,y\n", "delimiter ','",
	     "declared, format %d/%m/%Y; read as value", "filter  step 1 in the reader",
	     "step 3: the reader stops after 7 rows", "may fall back: ragged_rows",
	     "may fall back: cast_failed", "y = year(d)",
	     "input main > 1 filter (in the reader) > 2 derive > 3 limit > 4 select > output -");
}

void test_explain_without_input(void)
{
	SAYS("[{\"op\":\"filter\",\"where\":\"a > 1\"},{\"op\":\"group_by\",\"by\":[\"k\"],"
	     "\"agg\":{\"n\":\"count()\",\"t\":\"sum(a * 2)\"}}]",
	     NULL, "used so by the steps", "filter  step 1 in the reader",
	     "may fall back: header_not_found", "t = sum(a * 2), by k",
	     "pipeline 1: input main > 1 filter (in the reader) > sink of 2 group_by",
	     "pipeline 2: result of 2 group_by > output -", "2 threads");
}

/* An assertion prevents that a filter moves into the reader, and that the reader stops early. */
void test_explain_promises(void)
{
	struct dtx_plan *plan;
	struct dtx_source *source;
	struct dtx_exec_result *r =
		bound(&plan, &source,
	              "{\"dtx\":1,\"steps\":[{\"op\":\"filter\",\"where\":\"a > 1\",\"expect\":{"
	              "\"rows\":{\"min\":1}}},{\"op\":\"limit\",\"n\":1}]}",
	              "a\n1\n2\n");

	T_INT(r->phys.npipes, 1);
	T_INT(r->phys.pipe[0].source[0].nsteps, 2);
	T_CHECK(!r->phys.pipe[0].source[0].narrowed);
	T_INT(r->phys.pipe[0].source[0].limit, -1);
	dtx_exec_free(r);
	dtx_plan_free(plan);
	dtx_source_free(source);
}

void test_explain_shared_and_regions(void)
{
	SAYS("{\"dtx\":1,\"steps\":[{\"op\":\"derive\",\"set\":{\"b\":\"a + 1\"},\"out\":\"t\"},"
	     "{\"op\":\"join\",\"in\":\"t\",\"with\":\"t\",\"on\":[\"b\"]},{\"op\":\"zap\"},"
	     "{\"op\":\"limit\",\"n\":1}]}",
	     "a\n1\n", "needs a snippet: unknown_op",
	     "pipeline 1: input main > 1 derive > table of 1 derive",
	     "pipeline 2: result of 1 derive > sink of 2 join",
	     "pipeline 3: result of 1 derive > 2 join > snippet of 3 zap",
	     "pipeline 4: result of 3 zap > 4 limit > output -");
	SAYS("[{\"op\":\"filter\",\"where\":\"zz > 1\"}]", "a\n1\n",
	     "needs a snippet: missing_column");
}

void test_explain_codes_of_casts(void)
{
	struct dtx_plan *plan;
	struct dtx_source *source;
	struct dtx_exec_result *r =
		bound(&plan, &source,
	              "[{\"op\":\"derive\",\"set\":{\"b\":\"int(t)\"}},{\"op\":\"derive\",\"set\":"
	              "{\"c\":\"try(int(t), 0)\",\"d\":\"text(a)\"}},{\"op\":\"derive\",\"set\":{"
	              "\"e\":\"1 + number(t)\"}}]",
	              "a,t\n1,x\n");

	T_STR(r->step[0].triggers, "cast_failed,ambiguous_date");
	T_STR(r->step[1].triggers, "");
	T_STR(r->step[2].triggers, "cast_failed,ambiguous_date");
	T_INT(dtx_explain_pipe(&r->phys, 2), 1);
	T_INT(dtx_explain_reader(&r->phys, 0), -1);
	dtx_exec_free(r);
	dtx_plan_free(plan);
	dtx_source_free(source);
}

static enum dtx_code static_once(struct dtx_plan *plan, struct dtx_err *err)
{
	struct dtx_exec_opts opts = DTX_EXEC_OPTS_INIT;
	struct dtx_exec_result *r = NULL;
	struct dtx_buf out = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	enum dtx_code rc = dtx_exec_static(plan, &opts, &r, err);

	if (rc == DTX_OK)
		rc = dtx_explain_text(plan, r, &out, err);
	dtx_buf_clear(&out);
	dtx_exec_free(r);
	return rc;
}

void test_explain_every_alloc_fails(void)
{
	struct dtx_plan *plan = NULL;
	struct dtx_errlist findings = DTX_ERRLIST_INIT;
	struct dtx_err err = DTX_ERR_INIT;

	T_OK(dtx_plan_parse(DTX_STR("[{\"op\":\"derive\",\"set\":{\"b\":\"a + 1\"}},{\"op\":"
	                            "\"sort\",\"by\":[\"b\"]}]"),
	                    NULL, &findings, &plan, &err),
	     &err);
	T_EVERY_ALLOC_FAILS(static_once(plan, &err));
	dtx_plan_free(plan);
	dtx_errlist_clear(&findings);
	dtx_err_clear(&err);
}

/* The counts of a run: that the reader stopped, memory and rows. */
void test_explain_of_a_run(void)
{
	struct planrun p;
	struct dtx_buf csv = DTX_BUF_INIT(1 << 20), out = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	struct dtx_err err = DTX_ERR_INIT;

	dtx_buf_add(&csv, "a\n");
	for (int i = 0; i < 100; i++)
		dtx_buf_printf(&csv, "%d\n", i);
	planrun_init(&p, "[{\"op\":\"limit\",\"n\":3},{\"op\":\"sort\",\"by\":\"-a\"}]",
	             dtx_buf_text(&csv));
	p.keep = true;
	p.batch_rows = 7;
	p.workers = 1;
	T_OK(planrun(&p), &p.err);
	T_CHECK(p.result->input[0].stats.stopped_early);
	T_INT(p.result->step[0].rows_out, 3);
	T_CHECK(p.result->step[1].bytes > 0);
	T_OK(dtx_explain_text(p.parsed, p.result, &out, &err), &err);
	T_CHECK(strstr(dtx_buf_text(&out), "3 rows in, 3 out") &&
	        strstr(dtx_buf_text(&out), "it ran: "));
	planrun_clear(&p);
	dtx_buf_clear(&csv);
	dtx_buf_clear(&out);
	dtx_err_clear(&err);
}
