/* What makes an input or a step a region, and what a snippet is then given. */
#include "core/data/builder.h"
#include "tests/unit/bookmake.h"
#include "tests/unit/planrun.h"

/* What the host was asked for; it answers with the table n = 10, 11. */
struct asked {
	int calls, max; /* more than max are refused; 0: no limit */
	char at[24], code[40], need[200], raw[400], families[100];
	size_t ntables;
};

static enum dtx_code answer(struct dtx_table **out, struct dtx_err *err)
{
	static const struct dtx_field field = { .name = "n", .type = { DTX_T_INT64, 0, 0 } };
	static const struct dtx_schema schema = { .nfields = 1, .field = &field };
	struct dtx_builder b;
	struct dtx_batch *batch = NULL;
	struct dtx_table *t = NULL;
	enum dtx_code rc = DTX_OK;

	dtx_builder_init(&b, field.type, 2);
	dtx_builder_i64(&b, 10);
	dtx_builder_i64(&b, 11);
	DTX_TRY(dtx_table_new(&schema, &t, err));
	DTX_TRY(dtx_batch_new(t->schema, 2, &batch, err));
	DTX_TRY(dtx_builder_finish(&b, NULL, &batch->col[0], err));
	rc = dtx_table_take(t, batch, err);
	batch = NULL;
	DTX_TRY(rc);
	*out = t;
	t = NULL;
out:
	dtx_builder_clear(&b);
	dtx_batch_free(batch);
	dtx_table_unref(t);
	return rc;
}

static void note_raw(struct asked *a, const struct dtx_rawgrid *g)
{
	size_t n = (size_t)snprintf(a->raw, sizeof(a->raw), "%ux%u %s", g->nrows, g->ncols,
	                            g->sheet ? g->sheet : "-");

	for (size_t i = 0; i < g->ncells && i < 10 && g->cell[i].kind == DTX_RAW_TEXT; i++) {
		struct dtx_str s = dtx_rawgrid_str(g, &g->cell[i]);

		n += (size_t)snprintf(a->raw + n, sizeof(a->raw) - n, " %u,%u=%.*s", g->cell[i].row,
		                      g->cell[i].col, (int)s.len, s.ptr);
	}
}

static enum dtx_code host_fallback(void *arg, const struct dtx_fallback_request *r,
                                   struct dtx_table **out, struct dtx_err *err)
{
	struct asked *a = arg;

	if (a->max && a->calls == a->max)
		return dtx_err_set(err, DTX_E_NEEDS_SNIPPET, __FILE__, __LINE__, "nobody");
	a->calls++;
	a->ntables = r->ntables;
	snprintf(a->at, sizeof(a->at), "%s", r->at);
	snprintf(a->code, sizeof(a->code), "%s", dtx_code_name(r->trigger->code));
	a->need[0] = a->raw[0] = '\0';
	for (size_t i = 0; i < r->nneed; i++)
		snprintf(a->need + strlen(a->need), sizeof(a->need) - strlen(a->need), "%s:%u ",
		         r->need[i].name, r->need[i].cls);
	if (r->raw)
		note_raw(a, r->raw);
	if (r->ntables && r->table[0].families) {
		char *text = json_dumps(r->table[0].families, JSON_COMPACT);

		snprintf(a->families, sizeof(a->families), "%s", text);
		dtx_mem_free(text);
	}
	return answer(out, err);
}

static enum dtx_code run(struct planrun *p, struct asked *a)
{
	struct dtx_host host = { .arg = a, .fallback = host_fallback };
	enum dtx_code rc;

	p->host = &host;
	p->keep = true;
	rc = planrun(p);
	p->host = NULL;
	return rc;
}

/* --- every code that starts the fallback --- */

#define INPUT(members, steps)                                                                      \
	"{\"dtx\":1,\"inputs\":[{\"name\":\"main\"" members "}],\"steps\":[" steps "]}"
#define DERIVE(expr) "{\"op\":\"derive\",\"set\":{\"n\":\"" expr "\"}}"

static const struct trigger {
	const char *code, *at, *plan, *in;
} triggers[] = {
	{ "unknown_op", "/steps/0", INPUT("", "{\"op\":\"frob\"}"), "a\n1\n" },
	{ "unknown_function", "/steps/0", INPUT("", DERIVE("frob(a)")), "a\n1\n" },
	{ "unsupported_param", "/steps/0", INPUT("", DERIVE("matches(t, '(?=x)')")), "t\nx\n" },
	{ "missing_column", "/steps/0", INPUT("", DERIVE("zz + 1")), "a\n1\n" },
	{ "missing_column", "/inputs/0", INPUT(",\"requires\":[\"zz\"]", DERIVE("1")), "a\n1\n" },
	{ "ambiguous_column", "/inputs/0", INPUT(",\"names\":\"error\"", DERIVE("1")),
	  "a,a\n1,2\n" },
	{ "type_mismatch", "/steps/0", INPUT("", DERIVE("t + 1")), "t\nx\n" },
	{ "cast_failed", "/steps/0", INPUT("", DERIVE("int(t)")), "t\nx\n" },
	{ "cast_failed", "/inputs/0",
	  INPUT(",\"types\":[{\"name\":\"t\",\"type\":\"int\"}]", DERIVE("t + 1")), "t\nx\n" },
	{ "ambiguous_date", "/steps/0", INPUT("", DERIVE("date(t)")),
	  "t\n01/02/2024\n03/04/2024\n" },
	{ "pivot_not_unique", "/steps/0",
	  INPUT("", "{\"op\":\"pivot_wider\",\"names_from\":\"k\",\"values_from\":\"v\"}"),
	  "i,k,v\na,x,1\na,x,2\n" },
	{ "ragged_rows", "/inputs/0", INPUT("", DERIVE("1")), "a,b\n1,2\n3,4\n5\n" },
	{ "header_not_found", "/inputs/0", INPUT("", DERIVE("1")), "1,2\n3,4\n" },
	{ "ambiguous_dialect", "/inputs/0", INPUT("", DERIVE("1")),
	  "a;b,c\nd;e,f\ng;h,i\nj;k,l\n" },
};

void test_ingest_every_trigger_reaches_the_host(void)
{
	for (size_t i = 0; i < DTX_COUNT(triggers); i++) {
		const struct trigger *t = &triggers[i];
		struct asked a = { .max = 1 };
		struct planrun p;

		planrun_init(&p, t->plan, t->in);
		/* the answer has no column t, so the next step becomes a region too */
		T_CODE(run(&p, &a),
		       strstr(t->plan, "\"t + 1") && strstr(t->plan, "types") ? DTX_E_NEEDS_SNIPPET
		                                                              : DTX_OK,
		       &p.err);
		T_STR(a.code, t->code);
		T_STR(a.at, t->at);
		T_INT(a.calls, 1);
		T_CHECK((a.raw[0] != 0) == !strncmp(t->at, "/inputs", 7));
		planrun_clear(&p);
	}
}

/* Without a fallback the same inputs fail with their own code. */
void test_ingest_off_keeps_the_error(void)
{
	for (size_t i = 0; i < DTX_COUNT(triggers); i++) {
		struct asked a = { 0 };
		struct planrun p;

		planrun_init(&p, triggers[i].plan, triggers[i].in);
		p.fallback = DTX_FALLBACK_OFF;
		T_CHECK(run(&p, &a) != DTX_OK);
		T_STR(dtx_code_name(p.err.code), triggers[i].code);
		T_INT(a.calls, 0);
		planrun_clear(&p);
	}
}

void test_ingest_several_tables_on_a_sheet(void)
{
	static const struct book b = {
		.sheet = "<sheetData>"
			 "<row r=\"1\"><c r=\"A1\" t=\"inlineStr\"><is><t>k</t></is></c>"
			 "<c r=\"B1\" t=\"inlineStr\"><is><t>v</t></is></c></row>"
			 "<row r=\"2\"><c r=\"A2\"><v>1</v></c><c r=\"B2\"><v>2</v></c></row>"
			 "<row r=\"3\"><c r=\"A3\"><v>1</v></c><c r=\"B3\"><v>2</v></c></row>"
			 "<row r=\"6\"><c r=\"A6\" t=\"inlineStr\"><is><t>other</t></is></c>"
			 "<c r=\"B6\" t=\"inlineStr\"><is><t>w</t></is></c></row>"
			 "<row r=\"7\"><c r=\"A7\"><v>1</v></c><c r=\"B7\"><v>2</v></c></row>"
			 "</sheetData>",
	};
	struct dtx_buf bytes = DTX_BUF_INIT((size_t)1 << 20);
	struct asked a = { 0 };
	struct planrun p;

	book_make(&b, &bytes);
	planrun_init(&p, INPUT("", "{\"op\":\"filter\",\"where\":\"n > 10\"}"), NULL);
	p.book = &bytes;
	T_OK(run(&p, &a), &p.err);
	T_STR(dtx_buf_text(&p.out), "n\n11\n");
	T_STR(a.code, "multiple_tables");
	T_STR(a.raw, "7x2 One 0,0=k 0,1=v");
	planrun_clear(&p);
	dtx_buf_clear(&bytes);
}

/* --- the extent of a region --- */

void test_ingest_region_is_the_input_alone(void)
{
	struct asked a = { 0 };
	struct planrun p;
	const struct dtx_exec_lineage *l;

	planrun_init(&p, INPUT("", "{\"op\":\"filter\",\"where\":\"n > 10\"}," DERIVE("n * 2")),
	             "1,2\n3,x\n");
	T_OK(run(&p, &a), &p.err);
	T_STR(dtx_buf_text(&p.out), "n\n22\n");
	T_STR(a.raw, "2x2 - 0,0=1 0,1=2 1,0=3 1,1=x");
	T_STR(a.need, "n:1 ");
	T_INT(a.ntables, 0);
	T_INT(p.result->nregions, 1);
	T_INT(p.result->region[0].input, 0);
	T_INT(p.result->region[0].count, 0);
	T_STR(p.result->step[0].kind, "map");
	T_STR(p.result->input[0].reader, "snippet");
	T_INT(p.result->input[0].stats.rows_out, 2);
	l = &p.result->lineage[0];
	T_STR(l->cls, "exact after the snippet");
	planrun_clear(&p);
}

/* Ragged rows appear when half of the plan has run; other inputs are read as usual. */
void test_ingest_failure_while_rows_flow(void)
{
	struct asked a = { 0 };
	struct planrun p;

	planrun_init(&p,
	             "{\"dtx\":1,\"inputs\":[{\"name\":\"main\"},{\"name\":\"b\"}],\"steps\":["
	             "{\"op\":\"union\",\"with\":[\"b\"]}]}",
	             "n\n1\n2\n");
	p.input[1] = "n,m\n3,1\n4,1\n5\n";
	p.workers = 2;
	T_OK(run(&p, &a), &p.err);
	T_STR(a.at, "/inputs/1");
	T_STR(dtx_buf_text(&p.out), "n\n1\n2\n10\n11\n");
	T_INT(p.result->restarts, 1);
	T_STR(p.result->input[0].reader, "csv");
	planrun_clear(&p);
}

/* An input and a step: the snippet that reads the input is asked twice to add the missing column
 * before the step gets a snippet of its own. */
void test_ingest_then_a_step(void)
{
	struct asked a = { 0 };
	struct planrun p;

	planrun_init(&p, INPUT("", DERIVE("zz + 1")), "1,2\n3,x\n");
	T_OK(run(&p, &a), &p.err);
	T_INT(a.calls, 4);
	T_STR(a.at, "/steps/0");
	T_INT(p.result->nregions, 2);
	planrun_clear(&p);
	a.calls = 0;
	planrun_init(&p,
	             "{\"dtx\":1,\"fallback\":\"plan\",\"inputs\":[{\"name\":\"main\"}],\"steps\":"
	             "[" DERIVE("zz + 1") "]}",
	             "1,2\n3,x\n");
	T_OK(run(&p, &a), &p.err);
	T_INT(a.calls, 4);
	planrun_clear(&p);
}

void test_ingest_families_reach_the_region(void)
{
	struct asked a = { 0 };
	struct planrun p;

	planrun_init(
		&p,
		INPUT(",\"families\":[\"{yyyy}\"]", "{\"op\":\"limit\",\"n\":1},{\"op\":\"frob\"}"),
		"a,2024\n1,2\n");
	T_OK(run(&p, &a), &p.err);
	T_STR(a.families, "[\"{yyyy}\"]");
	planrun_clear(&p);
}

static enum dtx_code run_whole(void)
{
	struct asked a = { 0 };
	struct planrun p;
	enum dtx_code rc;

	planrun_init(&p, INPUT("", DERIVE("n * 2")), "1,2\n3,x\n");
	rc = run(&p, &a);
	planrun_clear(&p);
	return rc;
}

void test_ingest_every_allocation_fails(void)
{
	T_EVERY_ALLOC_FAILS(run_whole());
}

/* An input that is too large for a snippet keeps the error of its reader, which says so. */
void test_ingest_too_large_keeps_the_error(void)
{
	struct dtx_buf text = DTX_BUF_INIT((size_t)1 << 20);
	struct asked a = { 0 };
	struct planrun p;

	for (int i = 0; i < 16000; i++)
		dtx_buf_add(&text, i ? ",a" : "k");
	for (int i = 0; i < 1400; i++)
		dtx_buf_add(&text, "\n1");
	planrun_init(&p, INPUT(",\"dialect\":{\"delimiter\":\",\"}", "{\"op\":\"limit\",\"n\":9}"),
	             dtx_buf_text(&text));
	T_CODE(run(&p, &a), DTX_E_RAGGED_ROWS, &p.err);
	T_INT(a.calls, 0);
	T_CHECK(strstr(p.err.hint, "pad") && strstr(p.err.hint, "a snippet is given at most"));
	planrun_clear(&p);
	dtx_buf_clear(&text);
}
