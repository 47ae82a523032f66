/* Base64, differences of texts, similar names, statistics. */
#include "cli/compare/udiff.h"
#include "core/base/text/base64.h"
#include "core/fallback/similar_snippets.h"
#include "core/fallback/retry.h"
#include "core/store/db.h"
#include "core/store/ledger/lease.h"
#include "core/store/ledger/process.h"
#include "core/store/query/recur.h"
#include "tests/unit/fallbackmake.h"

void test_base64(void)
{
	static const char *const pair[][2] = {
		{ "", "" },        { "f", "Zg==" },        { "fo", "Zm8=" },
		{ "foo", "Zm9v" }, { "foob", "Zm9vYg==" }, { "\xff\xfe\xfd", "//79" }
	};
	static const char *const bad[] = { "Z", "Zg=", "Zg==Zg==", "Zh==", "Z===", "Zm9*", "=Zm9" };
	struct dtx_buf out = DTX_BUF_INIT(1 << 10);
	size_t i;

	for (i = 0; i < DTX_COUNT(pair); i++) {
		dtx_buf_reset(&out);
		dtx_base64_put(dtx_str_of(pair[i][0]), &out);
		T_STR(dtx_buf_text(&out), pair[i][1]);
		dtx_buf_reset(&out);
		T_CHECK(dtx_base64_get(dtx_str_of(pair[i][1]), &out));
		T_STR(dtx_buf_text(&out), pair[i][0]);
	}
	for (i = 0; i < DTX_COUNT(bad); i++) {
		dtx_buf_reset(&out);
		T_CHECK(!dtx_base64_get(dtx_str_of(bad[i]), &out));
	}
	dtx_buf_clear(&out);
}

static void diff_is(const char *a, const char *b, const char *want)
{
	struct dtx_buf out = DTX_BUF_INIT(1 << 16);
	struct dtx_err err = DTX_ERR_INIT;

	T_OK(dtx_udiff("A", dtx_str_of(a), "B", dtx_str_of(b), &out, &err), &err);
	T_STR(dtx_buf_text(&out), want);
	dtx_buf_clear(&out);
}

void test_udiff_too_long(void)
{
	struct dtx_buf text = DTX_BUF_INIT(1 << 16), out = DTX_BUF_INIT(1 << 16);
	struct dtx_err err = DTX_ERR_INIT;

	while (text.len < (size_t)2 * 4001)
		dtx_buf_add(&text, "x\n");
	T_CODE(dtx_udiff("A", DTX_STR(""), "B", dtx_buf_str(&text), &out, &err), DTX_E_CELL_LIMIT,
	       &err);
	T_STR(err.msg, "more than 4000 lines to compare");
	dtx_buf_clear(&text);
	dtx_buf_clear(&out);
	dtx_err_clear(&err);
}

/* The expected texts are those of `diff -u`. */
void test_udiff(void)
{
	diff_is("a\nb\n", "a\nb\n", "");
	diff_is("", "", "");
	diff_is("a\n", "b\n", "--- A\n+++ B\n@@ -1,1 +1,1 @@\n-a\n+b\n");
	diff_is("", "b\n", "--- A\n+++ B\n@@ -0,0 +1,1 @@\n+b\n");
	diff_is("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nx\n6\n7\n8\n9\n",
	        "--- A\n+++ B\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+x\n 6\n 7\n 8\n");
	diff_is("1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n", "x\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\ny\n",
	        "--- A\n+++ B\n@@ -1,4 +1,4 @@\n-1\n+x\n 2\n 3\n 4\n"
	        "@@ -9,4 +9,4 @@\n 9\n 10\n 11\n-12\n+y\n");
}

static enum dtx_code diff_once(void)
{
	struct dtx_buf out = DTX_BUF_INIT(1 << 16);
	enum dtx_code rc = dtx_udiff("A", DTX_STR("1\n2\n"), "B", DTX_STR("2\n3\n"), &out, NULL);

	rc = rc == DTX_OK ? dtx_buf_check(&out, "diff", NULL) : rc;
	dtx_buf_clear(&out);
	return rc;
}

void test_udiff_alloc_fails(void)
{
	T_EVERY_ALLOC_FAILS(diff_once());
}

/* --- similar names --- */

static json_t *cols(const char *text)
{
	return json_loads(text, 0, NULL);
}

#define TABLES(list) "{\"tables\":[{\"alias\":\"main\",\"cols\":[" list "]}]}"

void test_near(void)
{
	static const struct {
		const char *have;
		double low, high;
		size_t pairs;
	} row[] = {
		{ TABLES("[\"team\",\"text\"],[\"hours\",\"num\"]"), 1, 1, 0 },
		{ TABLES("[\"team\",\"text\"],[\"hours booked\",\"num\"]"), 0.7, 0.8, 1 },
		{ TABLES("[\"team\",\"text\"],[\"Hours\",\"num\"]"), 1, 1, 1 },
		{ TABLES("[\"team\",\"text\"],[\"hours\",\"any\"]"), 0.94, 0.96, 0 },
		{ TABLES("[\"team\",\"text\"],[\"hours\",\"text\"]"), 0.69, 0.71, 0 },
		{ TABLES("[\"team\",\"text\"]"), 0.5, 0.5, 0 },
		{ TABLES(""), 0, 0, 0 },
	};
	json_t *needs = cols(TABLES("[\"team\",\"text\"],[\"hours\",\"num\"]")), *have;
	struct dtx_similar_pair pair[4];
	size_t i, n;

	for (i = 0; i < DTX_COUNT(row); i++) {
		double score;

		have = cols(row[i].have);
		score = dtx_similar_score(needs, have, pair, DTX_COUNT(pair), &n);
		if (score < row[i].low - 1e-6 || score > row[i].high + 1e-6)
			t_fail(__FILE__, __LINE__, "%s: %f", row[i].have, score);
		T_INT(n, row[i].pairs);
		if (n)
			T_STR(pair[0].need, "hours");
		json_decref(have);
	}
	json_decref(needs);
	T_CHECK(dtx_similar_names("hours_booked", "Booked hours") == 1);
	T_CHECK(dtx_similar_names("abc", "xyz") == 0);
	T_CHECK(dtx_similar_names("", "") == 1);
}

/* --- statistics --- */

void test_stats(void)
{
	static const char *const answers[] = { MODULE("#reads k\n"), "no code", NULL };
	static const char *const both[] = { MODULE("#ok 1\n"), MODULE("#ok 2\n"), NULL };
	struct fallbackmake m;
	struct dtx_err err = DTX_ERR_INIT;
	json_t *groups = NULL;
	const json_t *g;

	fallbackmake_init(&m, "stats");
	m.answer = answers;
	m.r.author = &m.author;
	T_OK(fallbackmake_run(&m, PLANCASE("{\"op\":\"frob\",\"by\":[\"k\"]}"), "k\na\n"),
	     &m.run.err);
	m.r.author = NULL;
	T_OK(fallbackmake_run(&m, PLANCASE("{\"op\":\"frob\",\"by\":[\"k\"]}"), "k\na\n"),
	     &m.run.err);
	m.r.author = &m.author;
	m.r.budget.attempts = 1;
	T_CODE(fallbackmake_run(&m, PLANCASE("{\"op\":\"twist\",\"n\":\"secret\"}"), "k\na\n"),
	       DTX_E_SNIPPET_NO_CODE, &m.run.err);
	T_OK(dtx_recur_groups(m.store, 0, NULL, &groups, &err), &err);
	T_INT(json_array_size(groups), 2);
	g = json_array_get(groups, 0);
	T_STR(dtx_json_text(g, "op", ""), "frob");
	T_STR(dtx_json_text(json_object_get(g, "params"), "by", ""), "array");
	T_INT(dtx_json_int(g, "runs", 0), 2);
	T_INT(dtx_json_int(g, "snippets", 0), 1);
	T_INT(dtx_json_int(g, "tokens", 0), 110);
	T_STR(dtx_json_text(g, "cost", ""), "0.001000");
	T_CHECK(json_is_false(json_object_get(g, "wanted")));
	T_INT(json_array_size(json_object_get(g, "code_hashes")), 1);
	g = json_array_get(groups, 1);
	T_STR(dtx_json_text(g, "op", ""), "twist");
	T_INT(dtx_json_int(g, "failed", 0), 1);
	/* names and types of parameters, never their values */
	T_STR(dtx_json_text(json_object_get(g, "params"), "n", ""), "string");
	json_decref(groups);
	T_OK(dtx_recur_groups(m.store, 0, "twist", &groups, &err), &err);
	T_INT(json_array_size(groups), 1);
	json_decref(groups);
	/* two regions in one run: each has its own snippet */
	m.r.budget.attempts = 0;
	m.asked = 0;
	m.answer = both;
	T_OK(fallbackmake_run(
		     &m, PLANCASE("{\"op\":\"bend\"},{\"op\":\"limit\",\"n\":9},{\"op\":\"warp\"}"),
		     "k\na\n"),
	     &m.run.err);
	T_OK(dtx_recur_groups(m.store, 0, "bend", &groups, &err), &err);
	T_INT(json_array_size(groups), 1);
	T_INT(dtx_json_int(json_array_get(groups, 0), "snippets", 0), 1);
	json_decref(groups);
	T_OK(dtx_recur_groups(m.store, INT64_MAX, NULL, &groups, &err), &err);
	T_INT(json_array_size(groups), 0);
	json_decref(groups);
	fallbackmake_clear(&m);
}

/* --- what a prompt discloses of real cells --- */

void test_sample_policies(void)
{
	static const char csv[] = "k,v\nAb1-\xc3\xa9,12\nCd2-x,7\nAb1-\xc3\xa9,\nEf3,5\n";
	static const char *const answers[] = { MODULE("#ok\n"), NULL };
	static const struct {
		enum dtx_sample sample;
		const char *has, *lacks;
		int rows;
	} row[] = {
		{ DTX_SAMPLE_NONE, "{\"name\":\"k\",\"type\":\"text\"}", "_row", 0 },
		{ DTX_SAMPLE_SYNTHETIC, "made_up_row", "Ab1-", 0 },
		{ DTX_SAMPLE_MASKED, "{\"masked_row\":[\"Xx9-x\",\"99\"]}", "Ab1-", 3 },
		{ DTX_SAMPLE_ROWS_1, "{\"row\":[\"Ab1-\xc3\xa9\",12]}", "Ef3", 1 },
		{ DTX_SAMPLE_ROWS_5, "\"frequent\":[\"Ab1-\xc3\xa9\"],\"name\":\"k\"", "made_up",
		  4 },
	};
	static const char *const deny[] = { "[vw]" };
	struct fallbackmake m;
	char name[32];
	size_t i;

	for (i = 0; i < DTX_COUNT(row); i++) {
		snprintf(name, sizeof(name), "sample%zu", i);
		fallbackmake_init(&m, name);
		m.answer = answers;
		m.r.author = &m.author;
		m.r.sample = row[i].sample;
		T_OK(fallbackmake_run(&m, PLANCASE("{\"op\":\"frob\"}"), csv), &m.run.err);
		T_CHECK(strstr(dtx_buf_text(&m.last_prompt), row[i].has));
		T_CHECK(!strstr(dtx_buf_text(&m.last_prompt), row[i].lacks));
		m.r.ns = "denied";
		m.asked = 0;
		m.r.deny = deny;
		m.r.ndeny = 1;
		T_OK(fallbackmake_run(&m, PLANCASE("{\"op\":\"frob\"}"), csv), &m.run.err);
		T_CHECK(!strstr(dtx_buf_text(&m.last_prompt), "\"name\":\"v\""));
		T_CHECK(strstr(dtx_buf_text(&m.last_prompt), "\"name\":\"k\""));
		fallbackmake_clear(&m);
	}
}

/* --- one process asks the author, others wait --- */

void test_lease(void)
{
	char path[4096];
	struct dtx_store *s = NULL;
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_process gone;
	struct dtx_db_val val[5];
	bool ours = false;

	snprintf(path, sizeof(path), "%s/lease.db", t_dir());
	T_OK(dtx_store_open(path, DTX_STORE_WRITE, &s, &err), &err);
	T_OK(dtx_lease_claim(s, "author:k", "run-1", &ours, &err), &err);
	T_CHECK(ours);
	T_OK(dtx_lease_claim(s, "author:k", "run-2", &ours, &err), &err);
	T_CHECK(!ours);
	T_OK(dtx_lease_claim(s, "author:other", "run-2", &ours, &err), &err);
	T_CHECK(ours);
	/* only its holder can release it */
	T_OK(dtx_lease_drop(s, "author:k", "run-2", &err), &err);
	T_OK(dtx_lease_claim(s, "author:k", "run-2", &ours, &err), &err);
	T_CHECK(!ours);
	T_OK(dtx_lease_drop(s, "author:k", "run-1", &err), &err);
	T_OK(dtx_lease_claim(s, "author:k", "run-2", &ours, &err), &err);
	T_CHECK(ours);
	/* a lease whose holder was killed is free */
	dtx_process_self(&gone);
	val[0] = dtx_db_text("author:dead");
	val[1] = dtx_db_text("run-1");
	val[2] = DTX_DBI(gone.pid);
	val[3] = dtx_db_text(gone.boot);
	val[4] = DTX_DBI(gone.start + 1); /* another process that had this pid */
	T_OK(dtx_db_run(dtx_store_db(s), DTX_SQL_LEASE_PUT, val, DTX_COUNT(val), &err), &err);
	T_OK(dtx_lease_claim(s, "author:dead", "run-2", &ours, &err), &err);
	T_CHECK(ours);
	dtx_store_free(s);
}
