/* Expectations about a table: parsing and results. */
#include "core/data/expect/expect.h"

#include "core/data/builder.h"
#include "core/data/time/time.h"
#include "core/plan/bind/rules.h"
#include "tests/t.h"
#include "tests/tables.h"

static json_t *j(const char *text)
{
	json_t *out = NULL;
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_json_limits limits = { 0, 16 };

	T_OK(dtx_json_parse(dtx_str_of(text), limits, &out, &err), &err);
	return out;
}

static const struct dtx_field fields[] = {
	{ .name = "k", .type = { DTX_T_TEXT, 0, 0 } },
	{ .name = "n", .type = { DTX_T_INT64, 0, 0 } },
	{ .name = "d", .type = { DTX_T_DATE, 0, 0 } },
};
static const struct dtx_schema schema = { .nfields = 3, .field = fields };

/* k: a b b; n: 1 5 null; d: 2024-01-01 2024-06-01 2024-12-31 */
static enum dtx_code small(struct dtx_table **out)
{
	static const char *const day[] = { "2024-01-01", "2024-06-01", "2024-12-31" };
	static const char *const key[] = { "a", "b", "b" };
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_builder b[3];
	struct dtx_batch *batch = NULL;
	struct dtx_table *t = NULL;
	enum dtx_code rc;
	int32_t when;
	int i;

	for (i = 0; i < 3; i++)
		dtx_builder_init(&b[i], fields[i].type, 3);
	for (i = 0; i < 3; i++) {
		dtx_builder_text(&b[0], dtx_str_of(key[i]));
		if (i == 2)
			dtx_builder_null(&b[1]);
		else
			dtx_builder_i64(&b[1], i ? 5 : 1);
		T_CHECK(dtx_day_parse(dtx_str_of(day[i]), &when));
		dtx_builder_day(&b[2], when);
	}
	DTX_TRY(dtx_table_new(&schema, &t, &err));
	DTX_TRY(dtx_batch_new(&schema, 3, &batch, &err));
	for (i = 0; i < 3; i++)
		DTX_TRY(dtx_builder_finish(&b[i], NULL, &batch->col[i], &err));
	rc = dtx_table_take(t, batch, &err);
	batch = NULL;
	if (rc != DTX_OK)
		goto out;
	*out = t;
	t = NULL;
out:
	for (i = 0; i < 3; i++)
		dtx_builder_clear(&b[i]);
	dtx_batch_free(batch);
	dtx_table_unref(t);
	return rc;
}

static enum dtx_code check(const char *expect, char *first, size_t size, int64_t *failed)
{
	struct dtx_arena arena = DTX_ARENA_INIT;
	struct dtx_errlist errs = DTX_ERRLIST_INIT;
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_expect *e = NULL;
	struct dtx_table *t = NULL;
	json_t *object = NULL, *checks = NULL;
	enum dtx_code rc = DTX_OK;

	*failed = 0;
	object = json_loads(expect, 0, NULL);
	checks = json_array();
	if (!object || !checks)
		DTX_FAIL_MEM(&err);
	DTX_TRY(dtx_expect_parse(object, "/expect", &arena, &errs, &e, &err));
	T_INT(errs.n, 0);
	DTX_TRY(small(&t));
	DTX_TRY(dtx_expect_table(e, t, 3, checks, failed, &err));
	if (*failed && first) {
		rc = dtx_expect_fail(checks, DTX_E_EXPECT_FAILED, "/expect", &err);
		T_CODE(rc, DTX_E_EXPECT_FAILED, &err);
		snprintf(first, size, "%s", err.msg);
		rc = DTX_OK;
	}
out:
	json_decref(object);
	json_decref(checks);
	dtx_table_unref(t);
	dtx_errlist_clear(&errs);
	dtx_arena_clear(&arena);
	return rc;
}

void test_expect_verdicts(void)
{
	static const struct {
		const char *expect, *first; /* NULL: all pass */
	} row[] = {
		{ "{}", NULL },
		{ "{\"columns\":[{\"name\":\"k\",\"type\":\"text\"},{\"name\":\"n\"}]}", NULL },
		{ "{\"columns\":[{\"name\":\"x\"}]}", "column 'x' is missing, expected present" },
		{ "{\"columns\":[{\"name\":\"n\",\"type\":\"float\"}]}", NULL },
		{ "{\"columns\":[{\"name\":\"n\",\"type\":\"text\"}]}",
		  "column 'n' is int, expected text" },
		{ "{\"columns\":[{\"name\":\"n\",\"nullable\":false}]}",
		  "column 'n' has 1 null, expected no nulls" },
		{ "{\"columns\":[{\"name\":\"k\",\"nullable\":false}]}", NULL },
		{ "{\"columns\":[{\"name\":\"k\",\"unique\":true}]}",
		  "column 'k' has 1 repeat, expected no repeats" },
		{ "{\"columns\":[{\"name\":\"n\",\"unique\":true}]}", NULL },
		{ "{\"columns\":[{\"name\":\"n\",\"min\":1,\"max\":5}]}", NULL },
		{ "{\"columns\":[{\"name\":\"n\",\"min\":2}]}",
		  "column 'n' has 1 value below, expected min 2" },
		{ "{\"columns\":[{\"name\":\"n\",\"max\":4.5}]}",
		  "column 'n' has 1 value above, expected max 4.5" },
		{ "{\"columns\":[{\"name\":\"d\",\"min\":\"2024-01-01\",\"max\":\"2024-12-31\"}]}",
		  NULL },
		{ "{\"columns\":[{\"name\":\"d\",\"max\":\"2024-06-01\"}]}",
		  "column 'd' has 1 value above, expected max 2024-06-01" },
		{ "{\"columns\":[{\"name\":\"k\",\"enum\":[\"a\",\"b\"]}]}", NULL },
		{ "{\"columns\":[{\"name\":\"k\",\"enum\":[\"a\"]}]}",
		  "column 'k' has 2 other values, expected listed values" },
		{ "{\"columns\":[{\"name\":\"n\",\"enum\":[1,5.0]}]}", NULL },
		{ "{\"columns\":[{\"name\":\"k\"},{\"name\":\"n\"}],\"extra\":\"forbid\"}",
		  "column 'd' is not expected" },
		{ "{\"rows\":{\"min\":3,\"max\":3,\"equals\":3}}", NULL },
		{ "{\"rows\":{\"min\":4}}", "the result has 3 rows, expected at least 4" },
		{ "{\"rows\":{\"equals\":\"main\"}}", NULL },
	};
	char first[400];
	int64_t failed;
	size_t i;

	for (i = 0; i < DTX_COUNT(row); i++) {
		first[0] = '\0';
		T_OK(check(row[i].expect, first, sizeof(first), &failed), NULL);
		T_STR(first, row[i].first ? row[i].first : "");
		T_INT(failed, row[i].first ? 1 : 0);
	}
}

void test_expect_bad_objects(void)
{
	static const struct {
		const char *expect, *at;
		enum dtx_code code;
	} row[] = {
		{ "[]", "/expect", DTX_E_BAD_PARAM_TYPE },
		{ "{\"colums\":[]}", "/expect/colums", DTX_E_UNKNOWN_PARAM },
		{ "{\"columns\":{}}", "/expect/columns", DTX_E_BAD_PARAM_TYPE },
		{ "{\"columns\":[1]}", "/expect/columns/0", DTX_E_BAD_PARAM_TYPE },
		{ "{\"columns\":[{}]}", "/expect/columns/0/name", DTX_E_MISSING_PARAM },
		{ "{\"columns\":[{\"name\":\"a\",\"type\":\"integr\"}]}", "/expect/columns/0/type",
		  DTX_E_BAD_PARAM_VALUE },
		{ "{\"columns\":[{\"name\":\"a\",\"min\":[]}]}", "/expect/columns/0/min",
		  DTX_E_BAD_PARAM_TYPE },
		{ "{\"columns\":[{\"name\":\"a\",\"enum\":[]}]}", "/expect/columns/0/enum",
		  DTX_E_BAD_PARAM_TYPE },
		{ "{\"columns\":[{\"name\":\"a\",\"nullable\":1}]}", "/expect/columns/0/nullable",
		  DTX_E_BAD_PARAM_TYPE },
		{ "{\"extra\":\"maybe\"}", "/expect/extra", DTX_E_BAD_PARAM_VALUE },
		{ "{\"rows\":{\"min\":-1}}", "/expect/rows/min", DTX_E_BAD_PARAM_TYPE },
		{ "{\"rows\":{\"least\":1}}", "/expect/rows/least", DTX_E_UNKNOWN_PARAM },
	};
	size_t i;

	for (i = 0; i < DTX_COUNT(row); i++) {
		struct dtx_arena arena = DTX_ARENA_INIT;
		struct dtx_errlist errs = DTX_ERRLIST_INIT;
		struct dtx_expect *e = NULL;
		json_t *object = j(row[i].expect);

		T_OK(dtx_expect_parse(object, "/expect", &arena, &errs, &e, NULL), NULL);
		T_INT(errs.n, 1);
		if (errs.n) {
			T_STR(dtx_code_name(errs.item[0].code), dtx_code_name(row[i].code));
			T_STR(errs.item[0].at, row[i].at);
		}
		json_decref(object);
		dtx_errlist_clear(&errs);
		dtx_arena_clear(&arena);
	}
}

static enum dtx_code check_once(void)
{
	int64_t failed;

	return check("{\"columns\":[{\"name\":\"k\",\"unique\":true,\"enum\":[\"a\"]}],\"rows\":{"
	             "\"min\":1}}",
	             NULL, 0, &failed);
}

void test_expect_alloc_fails(void)
{
	T_EVERY_ALLOC_FAILS(check_once());
}

/* Rules that only a plan can check: the contract of a snippet knows one table and no date. */
void test_expect_rules_of_a_plan(void)
{
	json_t *expect = j("{\"rules\":[{\"rule\":\"recency\",\"col\":\"d\",\"max_age\":\"1d\"}]}");
	struct dtx_table *t = t_table("d:text", "x\n");
	json_t *checks = json_array();
	struct dtx_err err = DTX_ERR_INIT;
	int64_t failed = 0;

	T_CODE(dtx_rules_table(expect, t, checks, &failed, &err), DTX_E_UNSUPPORTED_PARAM, &err);
	T_STR(err.msg, "rule recency is for a plan: a snippet's contract has no date");
	T_STR(err.hint, "an assert step after it checks that");
	json_decref(expect);
	json_decref(checks);
	dtx_table_unref(t);
	dtx_err_clear(&err);
}

/* If a word does not name a rule, that is what is reported, whatever else is in the object. */
void test_expect_no_such_rule(void)
{
	json_t *expect = j("{\"rules\":[{\"rule\":\"nope\",\"col\":\"d\",\"with\":\"other\"}]}");
	struct dtx_table *t = t_table("d:text", "x\n");
	json_t *checks = json_array();
	struct dtx_err err = DTX_ERR_INIT;
	int64_t failed = 0;

	T_CODE(dtx_rules_table(expect, t, checks, &failed, &err), DTX_E_BAD_PARAM_VALUE, &err);
	T_STR(err.at, "/expect/rules/0/rule");
	json_decref(expect);
	json_decref(checks);
	dtx_table_unref(t);
	dtx_err_clear(&err);
}
