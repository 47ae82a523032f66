/* Traced plans: made while memory is short, refused if rows cannot be followed. */
#include "core/base/text/json.h"
#include "core/plan/lineage/why_not_plan.h"
#include "core/plan/lineage/trace.h"
#include "tests/t.h"
#include "tests/unit/planrun.h"

static const char trace_steps[] =
	PLANCASE("{\"op\":\"drop_rows\",\"kinds\":[\"blank\"]},"
                 "{\"op\":\"filter\",\"where\":\"v > 0 and k != 'z'\"},"
                 "{\"op\":\"window\",\"by\":[\"k\"],\"order\":[\"v\"],\"set\":{\"c\":\"lag(v)\"}},"
                 "{\"op\":\"group_by\",\"by\":[\"k\"],\"agg\":{\"c\":\"sum(c)\"}},"
                 "{\"op\":\"derive\",\"set\":{\"d\":\"c * 2\"}}");
static const char trace_rows[] = "k,v\na,1\na,2\nb,3\n";

static enum dtx_code trace_once(const struct planrun *p)
{
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_trace trace = { .plan = NULL };
	json_t *columns = json_pack("[sss]", "k", "c", "d");
	struct dtx_trace_ask ask = { .columns = columns, .column = "d", .row = 1 };
	enum dtx_code rc = DTX_OK;

	if (!columns)
		return DTX_E_NO_MEMORY;
	DTX_TRY(dtx_trace_plan(p->parsed, p->result, &ask, &trace, &err));
	T_CHECK(trace.noutputs >= 3);
	T_CHECK(trace.output[2].part == DTX_TRACE_TERMS);
out:
	dtx_err_clear(&err);
	dtx_trace_clear(&trace);
	json_decref(columns);
	return rc;
}

/* The steps run only on the rows of group a. */
static enum dtx_code pin_once(const struct planrun *p)
{
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_trace trace = { .plan = NULL };
	json_t *columns = json_pack("[sss]", "k", "c", "d");
	json_t *known = json_pack("{s{ss ss}}", "k", "text", "a", "type", "text");
	json_t *types = json_pack("{s{ss ss}}", "main", "k", "text", "v", "int");
	struct dtx_trace_ask ask = {
		.columns = columns, .column = "d", .row = 1, .known = known, .types = types
	};
	const json_t *first;
	enum dtx_code rc = columns && known && types ? DTX_OK : DTX_E_NO_MEMORY;

	if (rc != DTX_OK)
		goto out;
	DTX_TRY(dtx_trace_plan(p->parsed, p->result, &ask, &trace, &err));
	/* a formula that cannot be read may read any row */
	first = json_array_get(json_object_get(trace.plan, "steps"), 0);
	T_CHECK(!trace.pinned || strcmp(dtx_json_text(first, "where", ""), "k == 'a'") == 0);
out:
	dtx_err_clear(&err);
	dtx_trace_clear(&trace);
	json_decref(columns);
	json_decref(known);
	json_decref(types);
	return rc;
}

static enum dtx_code follow_once(const struct planrun *p)
{
	static const int64_t row = 2;
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_why_not_plan_stages stages = { .plan = NULL };
	struct dtx_why_not_plan follow = { .plan = NULL };
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_why_not_plan_stages(p->parsed, p->result, 0, 0, NULL, &stages, &err));
	T_CHECK(stages.n == 3 && stages.step[1] == 0);
	DTX_TRY(dtx_why_not_plan_build(p->parsed, p->result, 0, &row, 1, 0, &follow, &err));
	T_CHECK(follow.reaches && follow.plan);
out:
	dtx_err_clear(&err);
	dtx_why_not_plan_stages_clear(&stages);
	dtx_why_not_plan_clear(&follow);
	return rc;
}

static enum dtx_code rows_once(const struct planrun *p)
{
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_trace_rows rows = { .plan = NULL };
	json_t *columns = json_pack("[sss]", "k", "c", "d");
	struct dtx_trace_ask ask = { .columns = columns };
	enum dtx_code rc = DTX_OK;

	if (!columns)
		return DTX_E_NO_MEMORY;
	DTX_TRY(dtx_trace_rows(p->parsed, p->result, &ask, &rows, &err));
	T_CHECK(rows.noutputs == 4 && rows.input[2] == 0);
	T_CHECK(json_array_size(json_object_get(rows.head, "blocks")) >= 5);
	T_CHECK(json_object_size(json_object_get(rows.head, "columns")) == 3);
out:
	dtx_err_clear(&err);
	dtx_trace_rows_clear(&rows);
	json_decref(columns);
	return rc;
}

/* One allocation fails, anywhere: the result is no_memory, or a plan that names no fewer rows (a
 * formula that cannot be read is assumed to read all rows). */
static void short_of_memory(enum dtx_code (*once)(const struct planrun *), const struct planrun *p)
{
	long short_runs = 0;

	for (long k = 0; k < 4000; k += 3 + k / 128) {
		enum dtx_code rc;

		dtx_mem_fail_at(k);
		rc = once(p);
		if (dtx_mem_fail_at(-1) >= 0)
			break; /* it makes no more allocations */
		T_CHECK(rc == DTX_OK || rc == DTX_E_NO_MEMORY);
		short_runs += rc == DTX_E_NO_MEMORY;
	}
	T_CHECK(short_runs > 200);
}

void test_trace_every_alloc_fails(void)
{
	struct planrun p;

	planrun_init(&p, trace_steps, trace_rows);
	p.keep = true;
	T_OK(planrun(&p), &p.err);
	short_of_memory(trace_once, &p);
	short_of_memory(follow_once, &p);
	short_of_memory(rows_once, &p);
	planrun_clear(&p);
}

static const char pin_steps[] =
	PLANCASE("{\"op\":\"filter\",\"where\":\"v > 0 and k != 'z'\"},"
                 "{\"op\":\"window\",\"by\":[\"k\"],\"order\":[\"v\"],\"set\":{\"c\":\"lag(v)\"}},"
                 "{\"op\":\"group_by\",\"by\":[\"k\"],\"agg\":{\"c\":\"sum(c)\"}},"
                 "{\"op\":\"derive\",\"set\":{\"d\":\"c * 2\"}}");

void test_trace_pin_every_alloc_fails(void)
{
	struct planrun p;

	planrun_init(&p, pin_steps, trace_rows);
	p.keep = true;
	T_OK(planrun(&p), &p.err);
	T_CHECK(pin_once(&p) == DTX_OK);
	short_of_memory(pin_once, &p);
	planrun_clear(&p);
}

/* Whether a filter on the known cells may be placed before the steps. */
void test_trace_pins(void)
{
	static const struct {
		const char *plan;
		bool pinned;
	} cases[] = {
		{ PLANCASE("{\"op\":\"sort\",\"by\":[\"v\"]}"), true },
		{ PLANCASE("{\"op\":\"sort\",\"by\":[\"v\"],\"limit\":2}"), true },
		{ PLANCASE("{\"op\":\"sort\",\"by\":[\"v\"],\"limit\":2},"
		           "{\"op\":\"filter\",\"where\":\"v > 0\"}"),
		  true },
		/* after these steps other rows would come in between, or be counted */
		{ PLANCASE("{\"op\":\"sort\",\"by\":[\"v\"],\"limit\":2},"
		           "{\"op\":\"sort\",\"by\":[\"k\"]}"),
		  false },
		{ PLANCASE("{\"op\":\"limit\",\"n\":2},"
		           "{\"op\":\"group_by\",\"by\":[\"k\"],\"agg\":{\"v\":\"max(v)\"}}"),
		  false },
		{ PLANCASE("{\"op\":\"limit\",\"n\":2},"
		           "{\"op\":\"derive\",\"set\":{\"c\":\"share(v)\"}}"),
		  false },
		{ PLANCASE("{\"op\":\"limit\",\"n\":1,\"offset\":1}"), false },
		{ PLANCASE("{\"op\":\"limit\",\"n\":1,\"from\":\"end\"}"), false },
		{ PLANCASE("{\"op\":\"top\",\"n\":1,\"expr\":\"v\"}"), true },
		{ PLANCASE("{\"op\":\"top\",\"n\":1,\"expr\":\"v\",\"by\":[\"k\"]}"), true },
		{ PLANCASE("{\"op\":\"top\",\"n\":1,\"expr\":\"v\",\"by\":[\"v\"]},"
		           "{\"op\":\"sort\",\"by\":[\"k\"]}"),
		  false },
		{ PLANCASE("{\"op\":\"distinct\",\"cols\":[\"k\"]}"), true },
		{ PLANCASE("{\"op\":\"distinct\",\"cols\":[\"v\"]}"), false },
		{ PLANCASE("{\"op\":\"limit\",\"n\":1}"), true },
		{ PLANCASE("{\"op\":\"derive\",\"set\":{\"k\":\"upper(k)\"}}"), false },
		{ PLANCASE("{\"op\":\"derive\",\"set\":{\"c\":\"share(v)\"}}"), false },
		{ PLANCASE("{\"op\":\"rename\",\"map\":{\"k\":\"v\",\"v\":\"k\"}}"), false },
		{ PLANCASE("{\"op\":\"rename\",\"map\":{\"v\":\"n\"}}"), true },
		{ PLANCASE("{\"op\":\"group_by\",\"by\":[\"k\"],\"agg\":{\"v\":\"sum(v)\"}}"),
		  true },
		{ PLANCASE("{\"op\":\"group_by\",\"by\":[\"v\"],\"agg\":{\"k\":\"max(k)\"}}"),
		  false },
		{ PLANCASE("{\"op\":\"fill\",\"cols\":[\"k\"]}"), false },
	};

	for (size_t i = 0; i < DTX_COUNT(cases); i++) {
		struct dtx_trace trace = { .plan = NULL };
		struct dtx_err err = DTX_ERR_INIT;
		json_t *columns = json_pack("[s]", "k");
		json_t *known = json_pack("{s{ss ss}}", "k", "text", "a", "type", "text");
		json_t *types = json_pack("{s{ss ss}}", "main", "k", "text", "v", "int");
		struct dtx_trace_ask ask = {
			.columns = columns, .column = "k", .row = 1, .known = known, .types = types
		};
		struct planrun p;

		planrun_init(&p, cases[i].plan, trace_rows);
		p.keep = true;
		T_OK(planrun(&p), &p.err);
		T_OK(dtx_trace_plan(p.parsed, p.result, &ask, &trace, &err), &err);
		T_CHECK(trace.pinned == cases[i].pinned);
		dtx_trace_clear(&trace);
		json_decref(columns);
		json_decref(known);
		json_decref(types);
		planrun_clear(&p);
	}
}

/* A list of columns is reduced to what its readers need: neither the rows of the group nor the row
 * itself, which has its source columns unchanged, needs a number. */
void test_trace_pins_numbers(void)
{
	struct dtx_trace trace = { .plan = NULL };
	struct dtx_err err = DTX_ERR_INIT;
	json_t *columns = json_pack("[sss]", "k", "v", "r"), *step, *one;
	json_t *known = json_pack("{s{ss ss}}", "k", "text", "a", "type", "text");
	json_t *types = json_pack("{s{ss ss}}", "main", "k", "text", "v", "int");
	json_t *sources = json_pack("{s{sb sb}}", "main", "k", true, "v", true);
	struct dtx_trace_ask ask = { .columns = columns,
		                     .column = "r",
		                     .row = 1,
		                     .known = known,
		                     .types = types,
		                     .sources = sources };
	struct planrun p;
	size_t i, k, numbers = 0;

	planrun_init(&p, PLANCASE("{\"op\":\"rank\",\"by\":[\"k\"],\"expr\":\"v\",\"as\":\"r\"}"),
	             trace_rows);
	p.keep = true;
	T_OK(planrun(&p), &p.err);
	T_OK(dtx_trace_plan(p.parsed, p.result, &ask, &trace, &err), &err);
	json_array_foreach(json_object_get(trace.plan, "steps"), i, step)
	{
		if (strcmp(dtx_json_text(step, "op", ""), "select") != 0)
			continue;
		json_array_foreach(json_object_get(step, "cols"), k, one) numbers +=
			!strcmp(json_string_value(one), "dtx_r0");
	}
	T_CHECK(trace.pinned && numbers == 0);
	dtx_trace_clear(&trace);
	json_decref(columns);
	json_decref(known);
	json_decref(types);
	json_decref(sources);
	planrun_clear(&p);
}

void test_trace_maker(void)
{
	const char *formula = NULL;
	struct planrun p;

	planrun_init(&p, trace_steps, trace_rows);
	p.keep = true;
	T_OK(planrun(&p), &p.err);
	T_INT(dtx_trace_maker(p.parsed, 0, "d", &formula), 4);
	T_STR(formula, "c * 2");
	T_INT(dtx_trace_maker(p.parsed, 0, "c", &formula), -1); /* rows of several inputs are one
	                                                         * column further */
	planrun_clear(&p);
}

/* Names that dtx itself uses, and a table that comes to its own rows again. */
void test_trace_refuses(void)
{
	static const char *const plans[] = {
		PLANCASE("{\"op\":\"derive\",\"set\":{\"dtx_a\":\"1\"}}"),
		PLANCASE("{\"op\":\"join\",\"with\":\"main\",\"using\":[\"k\"]}"),
	};

	for (size_t i = 0; i < DTX_COUNT(plans); i++) {
		struct dtx_trace trace = { .plan = NULL };
		struct dtx_err err = DTX_ERR_INIT;
		json_t *columns = json_pack("[s]", "k");
		struct dtx_trace_ask ask = { .columns = columns, .column = "k", .row = 1 };
		struct planrun p;

		planrun_init(&p, plans[i], trace_rows);
		p.keep = true;
		T_OK(planrun(&p), &p.err);
		T_CODE(dtx_trace_plan(p.parsed, p.result, &ask, &trace, &err), DTX_E_NO_TRANSLATION,
		       &err);
		dtx_err_clear(&err);
		dtx_trace_clear(&trace);
		json_decref(columns);
		planrun_clear(&p);
	}
}

/* Steps of a pattern, with their number, and the steps around them. */
static void many_steps(struct dtx_buf *plan, int n, const char *each, const char *last)
{
	dtx_buf_add(plan, "{\"dtx\":1,\"inputs\":[{\"name\":\"main\"}],\"steps\":[");
	for (int i = 0; i < n; i++)
		dtx_buf_printf(
			plan,
			"%s{\"op\":\"group_by\",\"by\":[\"k\"],%s%d\",\"agg\":{\"v\":\"sum(v)\"}}",
			i ? "," : "", each, i);
	dtx_buf_printf(plan, "%s]}", last);
}

/* A plan has too many tables to follow. */
void test_trace_of_many_tables(void)
{
	static const struct {
		int n;
		const char *each, *last, *says;
	} row[] = {
		{ 64, "\"out\":\"g", "", "more than 64 tables to follow" },
	};

	for (size_t i = 0; i < DTX_COUNT(row); i++) {
		struct dtx_buf plan = DTX_BUF_INIT(1 << 16);
		struct dtx_trace trace = { .plan = NULL };
		struct dtx_err err = DTX_ERR_INIT;
		json_t *columns = json_pack("[ss]", "k", "v");
		struct dtx_trace_ask ask = { .columns = columns, .column = "v", .row = 1 };
		struct planrun p;

		many_steps(&plan, row[i].n, row[i].each, row[i].last);
		planrun_init(&p, dtx_buf_text(&plan), trace_rows);
		p.keep = true;
		T_OK(planrun(&p), &p.err);
		T_CODE(dtx_trace_plan(p.parsed, p.result, &ask, &trace, &err), DTX_E_NO_TRANSLATION,
		       &err);
		T_STR(err.msg, row[i].says);
		dtx_err_clear(&err);
		dtx_trace_clear(&trace);
		json_decref(columns);
		planrun_clear(&p);
		dtx_buf_clear(&plan);
	}
}

/* An input of many files counts as many inputs. */
void test_trace_of_many_inputs(void)
{
	struct dtx_trace trace = { .plan = NULL };
	struct dtx_err err = DTX_ERR_INIT;
	json_t *columns = json_pack("[ss]", "k", "v");
	struct dtx_trace_ask ask = { .columns = columns, .column = "v", .row = 1 };
	struct planrun p;

	planrun_init(&p, PLANCASE("{\"op\":\"distinct\"}"), trace_rows);
	p.keep = true;
	T_OK(planrun(&p), &p.err);
	p.parsed->ninputs += 64; /* it reads none of them */
	T_CODE(dtx_trace_plan(p.parsed, p.result, &ask, &trace, &err), DTX_E_NO_TRANSLATION, &err);
	T_STR(err.msg, "more than 64 tables to follow");
	p.parsed->ninputs -= 64;
	dtx_err_clear(&err);
	dtx_trace_clear(&trace);
	json_decref(columns);
	planrun_clear(&p);
}

/* The traced plan of a row's column, one step per line: "op in out". */
static void trace_lines(const char *plan, const char *rows, const char *column, struct dtx_buf *out)
{
	struct dtx_trace trace = { .plan = NULL };
	struct dtx_err err = DTX_ERR_INIT;
	json_t *columns = json_pack("[ss]", "k", column), *step;
	const int64_t bytes[] = { 1000, 10 };
	struct dtx_trace_ask ask = {
		.columns = columns, .column = column, .row = 2, .bytes = bytes
	};
	struct planrun p;
	size_t i;

	planrun_init(&p, plan, rows);
	p.input[1] = "k,w\na,5\n";
	p.keep = true;
	T_OK(planrun(&p), &p.err);
	T_OK(dtx_trace_plan(p.parsed, p.result, &ask, &trace, &err), &err);
	json_array_foreach(json_object_get(trace.plan, "steps"), i, step)
	{
		dtx_buf_printf(out, "%s %s %s\n", dtx_json_text(step, "op", ""),
		               dtx_json_text(step, "in", ""), dtx_json_text(step, "out", ""));
	}
	dtx_err_clear(&err);
	dtx_trace_clear(&trace);
	json_decref(columns);
	planrun_clear(&p);
}

/* The rows of a group are searched for in the input and need no number: they are the answer, with
 * what its sum read. */
void test_trace_lean_group(void)
{
	struct dtx_buf got = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);

	trace_lines(PLANCASE("{\"op\":\"group_by\",\"by\":[\"k\"],\"agg\":{\"c\":\"sum(v)\"}}"),
	            trace_rows, "c", &got);
	T_STR(dtx_buf_text(&got), "group_by main dtx_b1\n"
	                          "select dtx_b1 dtx_check\n"
	                          "add_id dtx_b1 dtx_rows\n"
	                          "limit dtx_rows dtx_first\n"
	                          "filter dtx_first dtx_w0\n"
	                          "join main dtx_z3\n"
	                          "limit dtx_z3 dtx_v2\n"
	                          "derive dtx_v2 dtx_v3\n"
	                          "select dtx_v3 dtx_v4\n");
	dtx_buf_clear(&got);
}

/* Only the left rows of the group are joined; what an assertion is about stays one table. */
void test_trace_lean_join(void)
{
	static const char plan[] =
		"{\"dtx\":1,\"inputs\":[{\"name\":\"main\"},{\"name\":\"r\"}],\"steps\":["
		"{\"op\":\"join\",\"with\":\"r\",\"on\":\"k\",\"how\":\"left\"%s},"
		"{\"op\":\"group_by\",\"by\":[\"k\"],\"agg\":{\"c\":\"sum(w)\"}}]}";
	static const char *const extra[] = { "", ",\"expect\":{\"rows\":{\"min\":3}}" };

	for (size_t i = 0; i < DTX_COUNT(extra); i++) {
		struct dtx_buf got = DTX_BUF_INIT(DTX_BUF_TEXT_MAX), text = got;

		dtx_buf_printf(&text, plan, extra[i]);
		trace_lines(dtx_buf_text(&text), trace_rows, "c", &got);
		T_INT(strstr(dtx_buf_text(&got), "join main dtx_z9") != NULL, i == 0);
		T_INT(strstr(dtx_buf_text(&got), "join dtx_t2 dtx_w161") != NULL, i == 1);
		/* the joined rows have the cells of the left, which are not searched for again */
		T_CHECK(!strstr(dtx_buf_text(&got), "add_id main"));
		T_CHECK(!strstr(dtx_buf_text(&got), "dtx_i1"));
		dtx_buf_clear(&got);
		dtx_buf_clear(&text);
	}
}

/* The number of semi joins by keys in a traced plan, if the zone of the row is known. */
static size_t tied_semis(const char *join, const char *sets)
{
	struct dtx_buf plan = DTX_BUF_INIT(1 << 16);
	struct dtx_trace trace = { .plan = NULL };
	struct dtx_err err = DTX_ERR_INIT;
	json_t *columns = json_pack("[ss]", "zone", "s"), *step;
	json_t *known =
		json_pack("{s{ss ss si}}", "zone", "text", "n", "type", "text", "differ", 2);
	json_t *types = json_pack("{s{ss ss} s{ss ss}}", "main", "k", "text", "v", "int", "d", "k",
	                          "text", "zone", "text");
	struct dtx_trace_ask ask = {
		.columns = columns, .column = "s", .row = 1, .known = known, .types = types
	};
	struct planrun p;
	size_t i, n = 0;

	dtx_buf_printf(&plan,
	               "{\"dtx\":1,\"inputs\":[{\"name\":\"main\"},{\"name\":\"d\"}],\"steps\":["
	               "{\"op\":\"join\",\"with\":\"d\",\"on\":[\"k\"],\"how\":\"%s\"}%s,"
	               "{\"op\":\"group_by\",\"by\":[\"zone\"],\"agg\":{\"s\":\"sum(v)\"}}]}",
	               join, sets);
	planrun_init(&p, dtx_buf_text(&plan), trace_rows);
	p.input[1] = "k,zone\na,n\nb,m\n";
	p.keep = true;
	T_OK(planrun(&p), &p.err);
	T_OK(dtx_trace_plan(p.parsed, p.result, &ask, &trace, &err), &err);
	json_array_foreach(json_object_get(trace.plan, "steps"), i, step)
	{
		n += !strcmp(dtx_json_text(step, "how", ""), "semi") && json_object_get(step, "on");
	}
	json_decref(columns);
	json_decref(known);
	json_decref(types);
	dtx_trace_clear(&trace);
	planrun_clear(&p);
	dtx_buf_clear(&plan);
	return n;
}

/* All rows that the filter on the zone keeps are in the group, so they are not searched for. */
void test_trace_tied(void)
{
	T_CHECK(tied_semis("inner", "") == 0);
	T_CHECK(tied_semis("inner", ",{\"op\":\"filter\",\"where\":\"v > 0\"}") == 0);
	T_CHECK(tied_semis("inner", ",{\"op\":\"derive\",\"set\":{\"c\":\"v\"}}") == 0);
	/* rows without a match have no zone and are not made; another column has its name */
	T_CHECK(tied_semis("left", "") == 0);
	T_CHECK(tied_semis("full", "") == 1);
	T_CHECK(tied_semis("inner", ",{\"op\":\"derive\",\"set\":{\"zone\":\"upper(zone)\"}}") ==
	        1);
}
