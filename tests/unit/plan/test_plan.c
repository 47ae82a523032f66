/* Plans: canonical form, ids, findings with pointers and spans, schema flow. */
#include "core/plan/plan.h"

#include "tests/t.h"

struct parsed {
	struct dtx_plan *plan;
	struct dtx_errlist findings;
	struct dtx_err err;
	enum dtx_code rc;
};

static void parse(struct parsed *p, const char *text)
{
	*p = (struct parsed){ .err = DTX_ERR_INIT };
	p->rc = dtx_plan_parse(dtx_str_of(text), NULL, &p->findings, &p->plan, &p->err);
	if (p->rc == DTX_OK)
		p->rc = dtx_plan_check(p->plan, &p->findings, &p->err);
}

static void clear(struct parsed *p)
{
	dtx_plan_free(p->plan);
	dtx_errlist_clear(&p->findings);
	dtx_err_clear(&p->err);
}

static void step_is(const char *step, const char *canonical, const char *hash)
{
	struct dtx_buf plan = DTX_BUF_INIT(1 << 16), text = DTX_BUF_INIT(1 << 16);
	struct parsed p;

	dtx_buf_printf(&plan, "{\"dtx\":1,\"steps\":[%s]}", step);
	parse(&p, dtx_buf_text(&plan));
	T_OK(p.rc, &p.err);
	T_INT(p.findings.n, 0);
	if (p.plan && p.findings.n == 0) {
		dtx_json_canonical(p.plan->step[0].canonical, &text);
		T_STR(dtx_buf_text(&text), canonical);
		if (hash)
			T_STR(p.plan->step[0].hash, hash);
	}
	clear(&p);
	dtx_buf_clear(&plan);
	dtx_buf_clear(&text);
}

void test_plan_step_hash_vectors(void)
{
	step_is("{\"op\":\"where\",\"where\":\"a>1 && b<>'x'\",\"note\":\"n\"}",
	        "{\"keep\":\"true\",\"op\":\"filter\",\"where\":\"a > 1 and b != 'x'\"}",
	        "eeee7186c3da79cf17361d744ebd44f480894253fa4c371cd695de5e32e56332");
	step_is("{\"op\":\"order_by\",\"by\":\"-a\"}",
	        "{\"by\":[{\"col\":\"a\",\"collate\":\"binary\",\"desc\":true,\"nulls\":\"last\"}],"
	        "\"op\":\"sort\"}",
	        "08952b5f98a6f08afb5c927d36d8662cd660f4a246ff9858002cbaa9224d9752");
}

void test_plan_canonical_sugar(void)
{
	step_is("{\"op\":\"mutate\",\"set\":{\"util\":\"a/b\"},\"x-me\":1,\"after\":null}",
	        "{\"op\":\"derive\",\"set\":[{\"as\":\"util\",\"expr\":\"a / b\"}]}", NULL);
	step_is("{\"op\":\"select\",\"cols\":[\"a..d\",\"*\",{\"name\":\"x..y\"}]}",
	        "{\"cols\":[{\"range\":[\"a\",\"d\"]},{\"all\":true},{\"name\":\"x..y\"}],"
	        "\"op\":\"select\"}",
	        NULL);
}

static void same_id(const char *a, const char *b, bool same)
{
	struct parsed p, q;

	parse(&p, a);
	parse(&q, b);
	T_OK(p.rc, &p.err);
	T_OK(q.rc, &q.err);
	if (p.plan && q.plan)
		T_CHECK((strcmp(p.plan->id, q.plan->id) == 0) == same);
	clear(&p);
	clear(&q);
}

void test_plan_id_ignores_what_does_not_matter(void)
{
	const char *base = "[{\"op\":\"filter\",\"where\":\"a > 1\"}]";

	same_id(base,
	        "{\"dtx\":1,\"name\":\"n\",\"x-a\":2,\"steps\":[{\"note\":\"w\",\"op\":\"query\","
	        "\"where\":\"(a>1)\"}],\"limits\":{\"rows\":5},\"inputs\":null}",
	        true);
	same_id(base, "[{\"op\":\"filter\",\"where\":\"a > 2\"}]", false);
	same_id(base,
	        "{\"dtx\":1,\"steps\":[{\"op\":\"filter\",\"where\":\"a > 1\"}],"
	        "\"inputs\":[{\"name\":\"main\",\"path\":\"x.csv\"}],\"output\":{\"path\":\"o."
	        "csv\"}}",
	        true);
	same_id(base,
	        "{\"dtx\":1,\"steps\":[{\"op\":\"filter\",\"where\":\"a > 1\"}],"
	        "\"inputs\":[{\"name\":\"main\",\"skip\":2}]}",
	        false);
}

/* A text that is not a plan at all. */
static void refused(const char *text, enum dtx_code code)
{
	struct parsed p;

	parse(&p, text);
	T_CODE(p.rc, code, &p.err);
	T_CHECK(p.plan == NULL);
	clear(&p);
}

void test_plan_refuses_what_is_no_plan(void)
{
	refused("{", DTX_E_JSON_SYNTAX);
	refused("{\"dtx\":1,\"dtx\":1}", DTX_E_JSON_DUPLICATE_KEY);
	refused("{\"steps\":[{}]}", DTX_E_PLAN_VERSION);
	refused("{\"dtx\":2,\"steps\":[{}]}", DTX_E_PLAN_VERSION);
	refused("{\"dtx\":1}", DTX_E_EMPTY_PLAN);
	refused("[]", DTX_E_EMPTY_PLAN);
	refused("7", DTX_E_BAD_PARAM_TYPE);
	refused("{\"dtx\":1,\"steps\":{}}", DTX_E_BAD_PARAM_TYPE);
}

struct want {
	const char *plan, *code, *at;
	int from, to; /* span; -1: none */
};

static void finds(const struct want *w)
{
	struct parsed p;
	bool hit = false;

	parse(&p, w->plan);
	T_OK(p.rc, &p.err);
	for (size_t i = 0; i < p.findings.n; i++) {
		const struct dtx_err *f = &p.findings.item[i];

		hit |= strcmp(dtx_code_name(f->code), w->code) == 0 && strcmp(f->at, w->at) == 0 &&
		       f->span[0] == w->from && f->span[1] == w->to;
	}
	T_CHECK(hit);
	if (!hit) {
		t_fail(__FILE__, __LINE__, "wanted %s at %s [%d, %d] in %s", w->code, w->at,
		       w->from, w->to, w->plan);
		for (size_t i = 0; i < p.findings.n; i++)
			t_fail(__FILE__, __LINE__, "found %s at %s [%d, %d]: %s",
			       dtx_code_name(p.findings.item[i].code), p.findings.item[i].at,
			       p.findings.item[i].span[0], p.findings.item[i].span[1],
			       p.findings.item[i].msg);
	}
	clear(&p);
}

#define IN_A        "\"inputs\":[{\"name\":\"main\",\"requires\":[\"a\",\"b\"],\"extra\":\"drop\"}]"
#define PLAN(steps) "{\"dtx\":1," IN_A ",\"steps\":[" steps "]}"

void test_plan_findings_have_places(void)
{
	static const struct want rows[] = {
		{ "[{\"op\":\"fliter\",\"where\":\"a\"}]", "unknown_op", "/0/op", -1, -1 },
		{ "{\"dtx\":1,\"stepz\":1,\"steps\":[{\"op\":\"limit\",\"n\":1}]}", "unknown_param",
		  "/stepz", -1, -1 },
		{ PLAN("{\"op\":\"filter\",\"wher\":\"a\"}"), "unknown_param", "/steps/0/wher", -1,
		  -1 },
		{ PLAN("{\"op\":\"filter\"}"), "missing_param", "/steps/0", -1, -1 },
		{ PLAN("{\"op\":\"filter\",\"where\":3}"), "bad_param_type", "/steps/0/where", -1,
		  -1 },
		{ PLAN("{\"op\":\"filter\",\"where\":\"a >\"}"), "expr_syntax", "/steps/0/where", 3,
		  3 },
		{ PLAN("{\"op\":\"filter\",\"where\":\"hour > 1\"}"), "unknown_column",
		  "/steps/0/where", 0, 4 },
		{ PLAN("{\"op\":\"filter\",\"condition\":\"a > 1 and hour > 1\"}"),
		  "unknown_column", "/steps/0/condition", 10, 14 },
		{ PLAN("{\"op\":\"filter\",\"where\":\"1 + 1\"}"), "not_boolean", "/steps/0/where",
		  0, 5 },
		{ PLAN("{\"op\":\"derive\",\"set\":{\"c\":\"zz + 1\"}}"), "unknown_column",
		  "/steps/0/set/c", 0, 2 },
		{ PLAN("{\"op\":\"select\",\"cols\":[\"a\",\"zz\"]}"), "unknown_column",
		  "/steps/0/cols/1", -1, -1 },
		{ PLAN("{\"op\":\"select\",\"cols\":\"zz\"}"), "unknown_column", "/steps/0/cols",
		  -1, -1 },
		{ PLAN("{\"op\":\"limit\",\"n\":1,\"in\":\"nope\"}"), "unknown_table",
		  "/steps/0/in", -1, -1 },
		{ PLAN("{\"op\":\"limit\",\"n\":1,\"out\":\"main\"}"), "duplicate_table",
		  "/steps/0/out", -1, -1 },
		{ PLAN("{\"op\":\"limit\",\"n\":1,\"out\":\"7x\"}"), "bad_param_value",
		  "/steps/0/out", -1, -1 },
		{ PLAN("{\"op\":\"derive\",\"set\":{\"c\":\"frobnicate(a)\"}}"), "unknown_function",
		  "/steps/0/set/c", 0, 13 },
		{ PLAN("{\"op\":\"drop\",\"cols\":\"a\"},{\"op\":\"filter\",\"where\":\"a > 1\"}"),
		  "unknown_column", "/steps/1/where", 0, 1 },
		{ PLAN("7"), "bad_param_type", "/steps/0", -1, -1 },
		{ PLAN("{\"n\":1}"), "missing_param", "/steps/0/op", -1, -1 },
		{ "{\"dtx\":1,\"inputs\":[{\"name\":\"a "
		  "b\"}],\"steps\":[{\"op\":\"limit\",\"n\":1}]}",
		  "bad_param_value", "/inputs/0/name", -1, -1 },
		{ "{\"dtx\":1,\"inputs\":[{\"name\":\"a\"},{\"name\":\"a\"}],\"steps\":"
		  "[{\"op\":\"limit\",\"n\":1}]}",
		  "duplicate_table", "/inputs/1/name", -1, -1 },
		{ "{\"dtx\":1,\"inputs\":[{\"name\":\"a\"},{\"name\":\"b\"}],\"steps\":"
		  "[{\"op\":\"limit\",\"n\":1}]}",
		  "unused_input", "/inputs/1", -1, -1 },
		{ "{\"dtx\":1,\"inputs\":[{\"name\":\"a\",\"types\":{\"x\":\"flot\"}}],\"steps\":"
		  "[{\"op\":\"limit\",\"n\":1}]}",
		  "bad_param_value", "/inputs/0/types/x", -1, -1 },
		{ "{\"dtx\":1,\"fallback\":\"maybe\",\"steps\":[{\"op\":\"limit\",\"n\":1}]}",
		  "bad_param_value", "/fallback", -1, -1 },
		{ "{\"dtx\":1,\"steps\":[{\"op\":\"limit\",\"n\":1}],\"limits\":{\"cols\":0}}",
		  "bad_param_value", "/limits/cols", -1, -1 },
		{ "{\"dtx\":1,\"output\":{\"table\":\"x\"},\"steps\":[{\"op\":\"limit\",\"n\":1}]}",
		  "unknown_table", "/output/table", -1, -1 },
	};

	for (size_t i = 0; i < DTX_COUNT(rows); i++)
		finds(&rows[i]);
}

void test_plan_finds_all_at_once(void)
{
	struct parsed p;

	parse(&p, PLAN("{\"op\":\"filter\",\"where\":\"x1 > x2\"},{\"op\":\"frob\"},"
	               "{\"op\":\"limit\",\"n\":-1},{\"op\":\"select\",\"cols\":[\"zz\"]}"));
	T_OK(p.rc, &p.err);
	/* x1, x2, frob, n; after frob any column may exist */
	T_INT(p.findings.n, 4);
	T_INT(p.plan->step[1].trigger, DTX_E_UNKNOWN_OP);
	clear(&p);
}

void test_plan_open_input_takes_any_name_until_dropped(void)
{
	static const struct want gone = {
		"[{\"op\":\"filter\",\"where\":\"a > 1\"},{\"op\":\"drop\",\"cols\":\"b\"},"
		"{\"op\":\"filter\",\"where\":\"c > 1 and b > 2\"}]",
		"unknown_column", "/2/where", 10, 11
	};
	struct parsed p;

	finds(&gone);
	parse(&p, gone.plan);
	T_INT(p.findings.n, 1);
	clear(&p);
	parse(&p, "[{\"op\":\"select\",\"cols\":[\"a\"]},{\"op\":\"filter\",\"where\":\"b > 2\"}]");
	T_INT(p.findings.n, 1);
	clear(&p);
}

void test_plan_fallback_off_makes_errors(void)
{
	struct parsed p;

	parse(&p, "{\"dtx\":1,\"fallback\":\"off\",\"steps\":[{\"op\":\"frob\"}]}");
	T_INT(p.findings.item[0].severity, DTX_SEV_ERROR);
	clear(&p);
	parse(&p, "[{\"op\":\"frob\",\"fallback\":\"off\"}]");
	T_INT(p.findings.item[0].severity, DTX_SEV_ERROR);
	clear(&p);
	parse(&p, "[{\"op\":\"frob\"}]");
	T_INT(p.findings.item[0].severity, DTX_SEV_FALLBACK);
	clear(&p);
}

static enum dtx_code parse_once(void)
{
	struct parsed p;
	enum dtx_code rc;

	parse(&p, PLAN("{\"op\":\"filter\",\"where\":\"a > 1 and zz == 2\",\"out\":\"t\"},"
	               "{\"op\":\"frob\",\"with\":\"t\",\"x\":[1,{\"y\":null}]},"
	               "{\"op\":\"select\",\"cols\":[\"a..b\"],\"in\":\"t\"}"));
	rc = p.rc;
	clear(&p);
	return rc;
}

void test_plan_every_allocation_fails(void)
{
	T_EVERY_ALLOC_FAILS(parse_once());
}
