/* Every error of a plan at once: complete lists of findings, without those that only follow from
 * another one. */
#include "core/plan/plan.h"

#include "tests/t.h"

#define INPUT                                                                                      \
	"\"inputs\":[{\"name\":\"main\",\"requires\":[\"region\",\"grade\",\"hours\",\"rate\"],"   \
	"\"extra\":\"drop\"},"                                                                     \
	"{\"name\":\"rates\",\"requires\":[\"grade\",\"price\"],\"extra\":\"drop\"}]"

struct broken {
	const char *steps;    /* over INPUT; or, in braces, a whole plan */
	const char *findings; /* "code pointer span" per line, without warnings */
};

static const struct broken broken[] = {
	{ "[{\"op\":\"derive\",\"set\":[{\"as\":\"x\",\"expr\":\"hours "
	  "*\"},{\"as\":\"y\",\"expr\":\"hour + x\"},"
	  "{\"as\":\"z\",\"expr\":\"x + y + hours\"}]},{\"op\":\"filter\",\"where\":\"x > 1 and y "
	  "> 2 and "
	  "zz > 3\"}]",
	  "expr_syntax /steps/0/set/0/expr 7-7\n"
	  "unknown_column /steps/0/set/1/expr 0-4 ?hours\n"
	  "unknown_column /steps/1/where 20-22 ?z" },
	{ "[{\"op\":\"mutate\",\"set\":{\"a\":\"upper(hour)\",\"b\":\"a + "
	  "nope\",\"a2\":5}},{\"op\":\"select\","
	  "\"cols\":[\"a\",\"b\",\"a2\",\"c\"]}]",
	  "unknown_column /steps/0/set/a 6-10 ?hours\n"
	  "unknown_column /steps/0/set/b 4-8\n"
	  "bad_param_type /steps/0/set/a2\n"
	  "unknown_column /steps/1/cols/3 ?a ?b" },
	{ "[{\"op\":\"derive\",\"set\":[{\"as\":\"a\",\"expr\":\"rate "
	  "+\"},{\"expr\":\"hours\"},{\"as\":\"b\"}],"
	  "\"after\":\"hourz\"},{\"op\":\"sort\",\"by\":[\"b\",\"anything\"]}]",
	  "expr_syntax /steps/0/set/0/expr 6-6\n"
	  "missing_param /steps/0/set/1\n"
	  "missing_param /steps/0/set/2\n"
	  "unknown_column /steps/0/after ?hours" },
	{ "[{\"op\":\"derive\",\"set\":[{\"as\":\"f\",\"expr\":\"frobnicate(hours)\"},{\"as\":"
	  "\"g\","
	  "\"expr\":\"hour\"}]},{\"op\":\"sort\",\"by\":[\"f\",\"g\",\"h\"]}]",
	  "unknown_function /steps/0/set/0/expr 0-17\n"
	  "unknown_column /steps/0/set/1/expr 0-4 ?hours" },
	{ "[{\"op\":\"group_by\",\"by\":[\"regoin\",\"grade\"],\"agg\":[{\"as\":\"a\",\"expr\":"
	  "\"sum(hour)\"},"
	  "{\"as\":\"b\",\"expr\":\"sum(hours\"},{\"as\":\"c\",\"expr\":\"mean(rate)\"}]},{\"op\":"
	  "\"sort\","
	  "\"by\":[\"region\",\"-a\",\"b\",\"hours\",\"cc\"]}]",
	  "unknown_column /steps/0/by/0 ?region\n"
	  "unknown_column /steps/0/agg/0/expr 4-8 ?hours\n"
	  "expr_syntax /steps/0/agg/1/expr 9-9\n"
	  "unknown_column /steps/1/by/3\n"
	  "unknown_column /steps/1/by/4 ?c" },
	{ "[{\"op\":\"group_by\",\"by\":[{\"as\":\"m\",\"expr\":\"month(\"},\"grade\"],\"agg\":[{"
	  "\"as\":\"a\","
	  "\"expr\":\"m + sum(hours)\"},{\"as\":\"b\",\"expr\":\"hours\"}],\"having\":\"a > 1 and "
	  "m = 2 "
	  "and q = 3\"},{\"op\":\"filter\",\"where\":\"m > 1 and rate > 1\"}]",
	  "expr_syntax /steps/0/by/0/expr 6-6\n"
	  "aggregate_required /steps/0/agg/1/expr 0-5\n"
	  "unknown_column /steps/0/having 20-21 ?m ?a ?b\n"
	  "unknown_column /steps/1/where 10-14" },
	{ "[{\"op\":\"summarise\",\"by\":5,\"aggs\":{\"a\":\"sum(hours)\"},\"order\":\"soted\"},"
	  "{\"op\":\"select\",\"cols\":[\"a\",\"region\",\"zzz\"]}]",
	  "bad_param_type /steps/0/by\n"
	  "bad_param_value /steps/0/order ?sorted\n"
	  "unknown_column /steps/1/cols/2" },
	{ "[{\"op\":\"select\",\"cols\":[\"regions\",\"hourss\",\"rate\",5,{\"regex\":\"(\"},{"
	  "\"not\":[\"x\"]}"
	  "]},{\"op\":\"sort\",\"by\":[\"hours\",{\"col\":\"nope\",\"desc\":1}],\"limit\":\"x\"}]",
	  "unknown_column /steps/0/cols/0 ?region\n"
	  "unknown_column /steps/0/cols/1 ?hours\n"
	  "bad_param_type /steps/0/cols/3\n"
	  "regex_syntax /steps/0/cols/4/regex\n"
	  "unknown_column /steps/1/by/1/col\n"
	  "bad_param_type /steps/1/by/1/desc\n"
	  "bad_param_type /steps/1/limit" },
	{ "[{\"op\":\"drop\",\"cols\":[\"hourz\",{\"tipe\":\"x\"}]},{\"op\":\"filter\",\"where\":"
	  "\"hours > 1 "
	  "and hourz > 1\"}]",
	  "unknown_column /steps/0/cols/0 ?hours\n"
	  "bad_param_value /steps/0/cols/1/tipe\n"
	  "unknown_column /steps/1/where 14-19 ?hours" },
	{ "[{\"op\":\"rename\",\"map\":{\"regoin\":\"area\",\"rate\":\"r\"}},{\"op\":\"select\","
	  "\"cols\":[\"area\",\"r\",\"rate\",\"hours\"]}]",
	  "unknown_column /steps/0/map/regoin ?region\n"
	  "unknown_column /steps/1/cols/2" },
	{ "[{\"op\":\"rename\",\"map\":[{\"from\":\"hour\",\"to\":5},{\"from\":\"rate\",\"to\":"
	  "\"grade\"}]},"
	  "{\"op\":\"sort\",\"by\":[\"any\"]}]",
	  "unknown_column /steps/0/map/0/from ?hours\n"
	  "bad_param_type /steps/0/map/0/to\n"
	  "name_collision /steps/0/map/1/to" },
	{ "[{\"op\":\"cast\",\"types\":[{\"name\":\"hours\",\"type\":\"integr\"},{\"name\":\"rat\"}"
	  ","
	  "{\"type\":\"int\"}]},{\"op\":\"drop\",\"cols\":[\"rate\",\"foo\"]},{\"op\":\"sort\","
	  "\"by\":\"rate\"}]",
	  "bad_param_value /steps/0/types/0/type\n"
	  "missing_param /steps/0/types/1\n"
	  "unknown_column /steps/0/types/1/name ?rate\n"
	  "missing_param /steps/0/types/2\n"
	  "unknown_column /steps/1/cols/1\n"
	  "unknown_column /steps/2/by" },
	{ "[{\"op\":\"join\",\"with\":\"rate\",\"on\":[{\"left\":\"gade\",\"right\":\"g\"}],"
	  "\"how\":\"lift\"},"
	  "{\"op\":\"filter\",\"where\":\"price > 1 and hourz > 1\"}]",
	  "unknown_table /steps/0/with ?rates\n"
	  "unknown_column /steps/0/on/0/left ?grade\n"
	  "bad_param_value /steps/0/how ?left" },
	{ "[{\"op\":\"join\",\"with\":\"rates\",\"on\":[{\"left\":\"gade\",\"right\":\"grde\"},"
	  "{\"left\":\"region\",\"right\":\"pric\"}],\"bogus\":1},{\"op\":\"filter\",\"where\":"
	  "\"price > 1 "
	  "and hourz > 1\"}]",
	  "unknown_column /steps/0/on/0/left ?grade\n"
	  "unknown_column /steps/0/on/0/right ?grade\n"
	  "unknown_column /steps/0/on/1/right ?price\n"
	  "unknown_param /steps/0/bogus\n"
	  "unknown_column /steps/1/where 14-19 ?hours" },
	{ "[{\"op\":\"select\",\"cols\":[\"grade\",\"hourz\"],\"out\":\"9x\"},{\"op\":\"union\","
	  "\"with\":[\"rates\",\"nope\",7]},{\"op\":\"sort\",\"by\":\"prize\"},{\"op\":\"limit\","
	  "\"in\":\"nowhere\",\"n\":-1,\"by\":[\"q\"]}]",
	  "unknown_column /steps/0/cols/1 ?hours\n"
	  "bad_param_value /steps/0/out\n"
	  "unknown_table /steps/1/with/1\n"
	  "bad_param_type /steps/1/with/2\n"
	  "unknown_table /steps/3/in\n"
	  "bad_param_value /steps/3/n" },
	{ "[{\"op\":\"filter\",\"out\":\"rates\",\"where\":\"hours\"},{\"op\":\"sort\",\"in\":"
	  "\"rates\","
	  "\"by\":\"pric\"}]",
	  "duplicate_table /steps/0/out\n"
	  "unknown_column /steps/1/by ?price" },
	{ "[{\"op\":\"pivot_wider\",\"id\":[\"regoin\"],\"names_from\":[\"grad\"],"
	  "\"values_from\":[\"hourz\"],\"names\":[\"Q1\",\"Q2\"]},{\"op\":\"sort\",\"by\":[\"Q1\","
	  "\"Q9\"]}]",
	  "unknown_column /steps/0/id/0 ?region\n"
	  "unknown_column /steps/0/names_from/0 ?grade\n"
	  "unknown_column /steps/0/values_from/0 ?hours" },
	{ "[{\"op\":\"melt\",\"value_vars\":[\"hours\",\"ratee\"],\"var_name\":[\"k\"],\"value_"
	  "name\":\"v\"},"
	  "{\"op\":\"filter\",\"where\":\"k = 'x' and v > 1 and hours > 1\"}]",
	  "unknown_column /steps/0/value_vars/1 ?rate\n"
	  "unknown_column /steps/1/where 22-27" },
	{ "[{\"op\":\"pivot_longer\",\"cols\":[\"hours\"],\"names_to\":[\"a\",\"b\"],"
	  "\"names_sep\":\"_\",\"names_pattern\":\"(a)(b)\"},"
	  "{\"op\":\"sort\",\"by\":\"c\"}]",
	  "param_conflict /steps/0/names_pattern" },
	{ "[{\"op\":\"frobnicate\",\"cols\":[\"nope\"]},{\"op\":\"sort\",\"by\":[\"new\",{\"col\":"
	  "\"x\","
	  "\"desc\":\"no\"}]}]",
	  "unknown_op /steps/0/op\n"
	  "bad_param_type /steps/1/by/1/desc" },
	{ "[{\"op\":\"group_by\",\"by\":[\"regoin\"],\"agg\":{\"a\":\"sum(hours)\"},\"sets\":"
	  "\"cube\"},"
	  "{\"op\":\"filter\",\"where\":\"a > 1 and later > 2\"}]",
	  "unknown_column /steps/0/by/0 ?region\n"
	  "unknown_column /steps/1/where 10-15" },
	{ "[{\"op\":\"fill_null\",\"cols\":[\"hours\",\"x\"],\"value\":1,\"expr\":\"rat + 1\"},"
	  "{\"op\":\"limit\"},{\"op\":\"replace_values\",\"cols\":[\"grde\"],\"map\":5,\"regex\":"
	  "\"yes\"},7,"
	  "{\"op\":\"distinct\",\"cols\":[\"regionn\"],\"keep\":\"frst\",\"count_as\":5}]",
	  "param_conflict /steps/0\n"
	  "unknown_column /steps/0/cols/1\n"
	  "unknown_column /steps/0/expr 0-3 ?rate\n"
	  "missing_param /steps/1\n"
	  "unknown_column /steps/2/cols/0 ?grade\n"
	  "bad_param_type /steps/2/map\n"
	  "bad_param_type /steps/2/regex\n"
	  "bad_param_type /steps/3\n"
	  "bad_param_value /steps/4/keep ?first\n"
	  "bad_param_type /steps/4/count_as" },
	{ "[{\"op\":\"filter\",\"where\":\"hours > 'x' and nope\",\"note\":5,\"in\":\"rats\","
	  "\"fallback\":\"on\"},{\"wher\":\"x\"},{\"op\":3}]",
	  "bad_param_type /steps/0/note\n"
	  "unknown_table /steps/0/in ?rates\n"
	  "bad_param_value /steps/0/fallback\n"
	  "missing_param /steps/1/op\n"
	  "bad_param_type /steps/2/op" },
	{ "{\"steps\":[{\"op\":\"sort\",\"by\":\"x\",\"expect\":{\"columns\":[{\"nam\":\"a\"}]}},"
	  "{\"op\":\"selct\"}],\"expect\":{\"rows\":{\"min\":\"one\"}},\"dtx\":1,\"fallbak\":"
	  "\"off\","
	  "\"output\":{\"table\":\"nope\",\"forma\":\"csv\"},\"limits\":{\"rows\":-5},"
	  "\"inputs\":[{\"name\":5,\"requires\":[\"a\",\"b\"],\"extra\":\"drop\",\"types\":[{"
	  "\"name\":\"a\","
	  "\"type\":\"nope\"},{\"name\":7}]},{\"nam\":\"b\",\"ragged\":\"maybe\"}]}",
	  "unknown_param /steps/0/expect/columns/0/nam ?name\n"
	  "missing_param /steps/0/expect/columns/0/name\n"
	  "unknown_op /steps/1/op ?select\n"
	  "bad_param_type /expect/rows/min\n"
	  "unknown_param /fallbak ?fallback\n"
	  "unknown_table /output/table\n"
	  "unknown_param /output/forma ?format\n"
	  "bad_param_value /limits/rows\n"
	  "bad_param_type /inputs/0/name\n"
	  "bad_param_value /inputs/0/types/0/type\n"
	  "missing_param /inputs/0/types/1\n"
	  "bad_param_type /inputs/0/types/1/name\n"
	  "missing_param /inputs/1\n"
	  "unknown_param /inputs/1/nam ?name\n"
	  "bad_param_value /inputs/1/ragged" },
	{ "{\"inputs\":{\"name\":\"main\",\"requires\":[\"a\",\"b\"],\"extra\":\"drop\",\"typs\":[]"
	  "},\"dtx\":1,"
	  "\"steps\":[{\"op\":\"sort\",\"by\":\"c\"}]}",
	  "unknown_param /inputs/typs ?types" },
	{ "[{\"op\":\"fill\",\"cols\":[\"regoin\",\"grade\"]},{\"op\":\"drop_rows\",\"kinds\":["
	  "\"totals\","
	  "\"blnk\"],\"where\":\"hours > \"},{\"op\":\"skip_rows\",\"head\":1,\"until\":\"(\"},"
	  "{\"op\":\"sort\",\"by\":[\"hours\",\"hourz\"]}]",
	  "unknown_column /steps/0/cols/0 ?region\n"
	  "bad_param_value /steps/1/kinds/1\n"
	  "expr_syntax /steps/1/where 8-8\n"
	  "regex_syntax /steps/2/until\n"
	  "unknown_column /steps/3/by/1 ?hours" },
};

static void print_findings(const struct dtx_errlist *list, struct dtx_buf *out)
{
	for (size_t i = 0; i < list->n; i++) {
		const struct dtx_err *f = &list->item[i];

		if (f->severity == DTX_SEV_WARNING)
			continue;
		dtx_buf_printf(out, "%s%s %s", out->len ? "\n" : "", dtx_code_name(f->code), f->at);
		if (f->span[0] >= 0)
			dtx_buf_printf(out, " %d-%d", f->span[0], f->span[1]);
		for (size_t k = 0; k < DTX_COUNT(f->did_you_mean) && f->did_you_mean[k][0]; k++)
			dtx_buf_printf(out, " ?%s", f->did_you_mean[k]);
	}
}

static void check_broken(const struct broken *b)
{
	struct dtx_buf text = DTX_BUF_INIT(1 << 20), got = DTX_BUF_INIT(1 << 20);
	struct dtx_errlist findings = DTX_ERRLIST_INIT;
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_plan *plan = NULL;

	dtx_buf_printf(&text, b->steps[0] == '{' ? "%.0s%s" : "{\"dtx\":1,%s,\"steps\":%s}", INPUT,
	               b->steps);
	T_OK(dtx_plan_parse((struct dtx_str){ text.ptr, text.len }, NULL, &findings, &plan, &err),
	     &err);
	if (plan)
		T_OK(dtx_plan_check(plan, &findings, &err), &err);
	print_findings(&findings, &got);
	T_STR(dtx_buf_text(&got), b->findings);
	dtx_plan_free(plan);
	dtx_errlist_clear(&findings);
	dtx_err_clear(&err);
	dtx_buf_clear(&got);
	dtx_buf_clear(&text);
}

void test_findings_complete(void)
{
	for (size_t i = 0; i < DTX_COUNT(broken); i++)
		check_broken(&broken[i]);
}

static enum dtx_code check_all(const char *text)
{
	struct dtx_errlist findings = DTX_ERRLIST_INIT;
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_plan *plan = NULL;
	enum dtx_code rc = dtx_plan_parse(dtx_str_of(text), NULL, &findings, &plan, &err);

	if (rc == DTX_OK)
		rc = dtx_plan_check(plan, &findings, &err);
	dtx_plan_free(plan);
	dtx_errlist_clear(&findings);
	dtx_err_clear(&err);
	return rc;
}

void test_findings_every_allocation_fails(void)
{
	T_EVERY_ALLOC_FAILS(check_all("{\"dtx\":1," INPUT ",\"steps\":["
	                              "{\"op\":\"group_by\",\"by\":[\"regoin\"],\"agg\":{\"a\":"
	                              "\"sum(\",\"b\":\"sum(x)\"}},"
	                              "{\"op\":\"rename\",\"map\":{\"q\":\"b2\"}},"
	                              "{\"op\":\"select\",\"cols\":[5,\"a\",\"zz\"]}]}"));
}

/* --- any parameter of any op may be damaged: no crash, and no other member is blamed --- */

static bool is_inside(const char *below, const char *above)
{
	size_t len = strlen(above);

	return strncmp(below, above, len) == 0 && (below[len] == '\0' || below[len] == '/');
}

/* The step with one damaged member, and a step after it that uses a column that does not exist. */
static void check_spoilt(const char *op, json_t *step, const char *key)
{
	char *text;
	struct dtx_errlist findings = DTX_ERRLIST_INIT;
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_plan *plan = NULL;
	char at[128] = "/steps/0";
	json_t *json = json_pack("{s:i,s:[{s:s},{s:s}],s:[O]}", "dtx", 1, "inputs", "name", "main",
	                         "name", "other", "steps", step);

	text = json_dumps(json, 0);
	dtx_json_pointer_add(at, sizeof(at), key);
	T_OK(dtx_plan_parse(dtx_str_of(text), NULL, &findings, &plan, &err), &err);
	if (plan)
		T_OK(dtx_plan_check(plan, &findings, &err), &err);
	for (size_t i = 0; i < findings.n; i++) {
		const struct dtx_err *f = &findings.item[i];

		/* An object may be a map, and a text a pattern: then other members are at fault.  A
		 * rank without an order is the fault of the rank, and a name may be free only
		 * together with the member. */
		if (f->code != DTX_E_ORDER_REQUIRED && f->code != DTX_E_NAME_COLLISION &&
		    !json_is_object(json_object_get(step, key)) &&
		    !json_is_string(json_object_get(step, key)) && f->severity != DTX_SEV_WARNING &&
		    !is_inside(f->at, at) && strcmp(f->at, "/steps/0") != 0) {
			char blame[640];

			snprintf(blame, sizeof(blame), "%s without '%s' blames %s: %s", op, key,
			         f->at, f->msg);
			T_STR(blame, "");
		}
	}
	dtx_plan_free(plan);
	dtx_errlist_clear(&findings);
	dtx_err_clear(&err);
	json_decref(json);
	free(text);
}

static void spoil(const char *op, const json_t *step, const char *key, json_t *value)
{
	json_t *copy = json_deep_copy(step);

	if (value)
		json_object_set_new(copy, key, value);
	else
		json_object_del(copy, key);
	check_spoilt(op, copy, key);
	json_decref(copy);
}

void test_findings_any_parameter_spoilt(void)
{
	for (size_t i = 0; dtx_ops[i]; i++)
		for (size_t k = 0; k < dtx_ops[i]->nexamples; k++) {
			const struct dtx_example *x = &dtx_ops[i]->examples[k];
			json_t *step = json_loads(x->step, 0, NULL), *v;
			const char *key;

			if (x->error) {
				json_decref(step);
				continue;
			}
			json_object_foreach(step, key, v)
			{
				if (strcmp(key, "op") == 0)
					continue;
				spoil(dtx_ops[i]->name, step, key, NULL);
				spoil(dtx_ops[i]->name, step, key, json_pack("{s:i}", "no", 1));
				spoil(dtx_ops[i]->name, step, key, json_pack("[[n]]"));
				spoil(dtx_ops[i]->name, step, key, json_real(1.5));
				spoil(dtx_ops[i]->name, step, key, json_string("1 +"));
			}
			json_decref(step);
		}
}
