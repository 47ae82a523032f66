/* The fallback loop with cached snippets: ones that fail, are judged again, or meet other
 * headers. */
#include "core/base/hash/hash.h"
#include "core/store/ledger/lease.h"
#include "tests/unit/fallbackmake.h"

/* --- a cached snippet fails --- */

void test_fallback_repair(void)
{
	static const char *const answers[] = { MODULE("#assumes v < 3\n"), MODULE("#ok\n"), NULL };
	struct fallbackmake m;

	fallbackmake_init(&m, "repair");
	m.answer = answers;
	m.r.author = &m.author;
	T_OK(fallbackmake_run(&m, PLAN, CSV), &m.run.err);
	/* values that it was not written for; no author may be asked */
	m.r.cache_only = true;
	T_CODE(fallbackmake_run(&m, PLAN, "k,v\na,1\nb,7\n"), DTX_E_SNIPPET_ASSUMPTION, &m.run.err);
	T_STR(dtx_buf_text(&m.events),
	      "run.trigger:unknown_op run.cache:exact jail.end attempt.end:assumption");
	m.r.cache_only = false;
	T_OK(fallbackmake_run(&m, PLAN, "k,v\na,1\nb,7\n"), &m.run.err);
	T_STR(dtx_buf_text(&m.events), "run.trigger:unknown_op run.cache:exact jail.end "
	                               "attempt.end:assumption " SENT FINE);
	T_CHECK(strstr(dtx_buf_text(&m.last_prompt), "This module failed: assumption."));
	/* the new one is the live one */
	T_OK(fallbackmake_run(&m, PLAN, "k,v\na,1\nb,9\n"), &m.run.err);
	T_INT(m.asked, 2);
	fallbackmake_clear(&m);
}

/* Under another jail policy, cached code has to show again that its result does not depend on the
 * hash seed. */
void test_fallback_admitted_again(void)
{
	static const char *const answers[] = { MODULE("#ok\n"), NULL };
	static const char again[] = "run.trigger:unknown_op run.cache:exact jail.end jail.end";
	static const char once[] = "run.trigger:unknown_op run.cache:exact jail.end";
	struct fallbackmake m;

	fallbackmake_init(&m, "policy");
	m.answer = answers;
	m.r.author = &m.author;
	m.policy = "aa";
	T_OK(fallbackmake_run(&m, PLAN, CSV), &m.run.err);
	T_OK(fallbackmake_run(&m, PLAN, CSV), &m.run.err);
	T_STR(dtx_buf_text(&m.events), once);
	m.policy = "bb";
	T_OK(fallbackmake_run(&m, PLAN, CSV), &m.run.err);
	T_STR(dtx_buf_text(&m.events), again);
	T_OK(fallbackmake_run(&m, PLAN, CSV), &m.run.err);
	T_STR(dtx_buf_text(&m.events), once);
	T_INT(m.asked, 1);
	fallbackmake_clear(&m);
}

/* Code that fails under the new policy is repaired, or the run ends; having failed does not admit
 * it. */
void test_fallback_not_admitted_again(void)
{
	static const char *const answers[] = { MODULE("#seeded bb\n"), NULL };
	struct fallbackmake m;

	fallbackmake_init(&m, "policybad");
	m.answer = answers;
	m.r.author = &m.author;
	m.policy = "aa";
	T_OK(fallbackmake_run(&m, PLANCASE(FROB), CSV), &m.run.err);
	m.policy = "bb";
	m.r.author = NULL;
	T_CODE(fallbackmake_run(&m, PLANCASE(FROB), CSV), DTX_E_SNIPPET_NONDETERMINISTIC,
	       &m.run.err);
	T_CODE(fallbackmake_run(&m, PLANCASE(FROB), CSV), DTX_E_SNIPPET_NONDETERMINISTIC,
	       &m.run.err);
	T_STR(dtx_buf_text(&m.events), "run.trigger:unknown_op run.cache:exact jail.end jail.end "
	                               "attempt.end:nondeterministic");
	fallbackmake_clear(&m);
}

static void lease_key(const struct dtx_snippet *s, char key[80])
{
	struct dtx_buf text = DTX_BUF_INIT(1 << 12);
	char hash[DTX_SHA256_HEX];

	dtx_buf_printf(&text, "%s|%s|%s", s->ns, s->fingerprint, s->intent);
	dtx_sha256_hex(dtx_buf_text(&text), text.len, hash);
	snprintf(key, 80, "author:%s", hash);
	dtx_buf_clear(&text);
}

/* Another run holds the lease; while this one waits, it repairs the snippet. */
static void repaired_by_another(void *arg, const char *text)
{
	static const char code[] = "def transform(tables, params):\n#ok\n";
	struct fallbackmake *m = arg;
	struct dtx_arena arena = DTX_ARENA_INIT;
	struct dtx_snippet *old;
	struct dtx_snippet_new add = { .code = { code, sizeof(code) - 1 }, .origin = "cmd" };
	char id[DTX_SNIPPET_ID], key[80];
	size_t n;

	if (!strstr(text, "waiting"))
		return;
	T_OK(dtx_snippet_list(m->store, "approved", &arena, &old, &n, NULL), NULL);
	add.key = (struct dtx_snippet_key){ old->ns, old->fingerprint, old->intent };
	add.contract_hash = old->contract_hash;
	add.op = old->op;
	add.abi = old->abi;
	T_OK(dtx_snippet_add(m->store, "", &add, id, NULL), NULL);
	T_OK(dtx_snippet_act(m->store, "", id, DTX_SNIPPET_APPROVE, "etl", NULL, NULL), NULL);
	lease_key(old, key);
	T_OK(dtx_lease_drop(m->store, key, "another", NULL), NULL);
	dtx_arena_clear(&arena);
}

void test_fallback_repair_waits(void)
{
	static const char *const answers[] = { MODULE("#assumes v < 3\n"), MODULE("#ok\n"), NULL };
	struct dtx_arena arena = DTX_ARENA_INIT;
	struct dtx_snippet *old;
	struct fallbackmake m;
	bool ours = false;
	char key[80];
	size_t n;

	fallbackmake_init(&m, "repairwaits");
	m.answer = answers;
	m.r.author = &m.author;
	T_OK(fallbackmake_run(&m, PLAN, CSV), &m.run.err);
	T_OK(dtx_snippet_list(m.store, "approved", &arena, &old, &n, NULL), NULL);
	lease_key(old, key);
	T_OK(dtx_lease_claim(m.store, key, "another", &ours, NULL), NULL);
	T_CHECK(ours);
	m.r.say = repaired_by_another;
	m.r.say_arg = &m;
	T_OK(fallbackmake_run(&m, PLAN, "k,v\na,1\nb,7\n"), &m.run.err);
	T_STR(dtx_buf_text(&m.events), "run.trigger:unknown_op run.cache:exact jail.end "
	                               "attempt.end:assumption run.cache:exact jail.end");
	T_INT(m.asked, 1);
	dtx_arena_clear(&arena);
	fallbackmake_clear(&m);
}

/* --- drift --- */

static const char base_csv[] = "k,v,w\na,1,5\nb,2,6\n";

/* The effect of a changed file on a snippet that reads k and v. */
static const struct drift_row {
	const char *csv, *flags, *cache; /* cache: outcome of run.cache */
	enum dtx_code code;
	bool strict;
} drifts[] = {
	{ "k,v,w\nx,7,8\n", "", "exact", DTX_OK, false },
	{ "w,k,v\n5,a,1\n", "", "exact", DTX_OK, false },          /* another order */
	{ "k,v\na,1\n", "", "compatible", DTX_OK, false },         /* a column that is not read is
	                                                            * gone */
	{ "k,v,w,x\na,1,5,9\n", "", "compatible", DTX_OK, false }, /* a new column that is not
	                                                            * read */
	{ "k,v\na,1\n", "", "none", DTX_E_NEEDS_SNIPPET, true },   /* --strict-schema */
	{ "k,v\na,1\n", "whole_frame", "none", DTX_E_NEEDS_SNIPPET, false },
	{ "k,v,w,x\na,1,5,9\n", "positional", "none", DTX_E_NEEDS_SNIPPET, false },
	{ "w,k,v\n5,a,1\n", "positional", "none", DTX_E_NEEDS_SNIPPET, false },
	{ "k,v,w\n,7,8\n", "", "compatible", DTX_OK, false },          /* the class any equals all
	                                                                * classes */
	{ "k,vv,w\na,1,5\n", "", "near", DTX_E_NEEDS_SNIPPET, false }, /* renamed */
	{ "k,v,w\na,x,5\n", "", "none", DTX_E_NEEDS_SNIPPET, false },  /* another class */
	{ "x,y,z\n1,2,3\n", "", "none", DTX_E_NEEDS_SNIPPET, false },  /* the columns are gone */
};

void test_fallback_drift(void)
{
	struct fallbackmake m;
	char name[32], want[80], module[200];
	const char *answers[] = { module, NULL };
	size_t i;

	for (i = 0; i < DTX_COUNT(drifts); i++) {
		const struct drift_row *row = &drifts[i];
		enum dtx_code rc;

		snprintf(name, sizeof(name), "drift%zu", i);
		fallbackmake_init(&m, name);
		snprintf(module, sizeof(module),
		         "```python\ndef transform(tables, params):\n#reads k v\n%s%s\n```\n",
		         row->flags[0] ? "#flags " : "", row->flags);
		m.answer = answers;
		m.r.author = &m.author;
		T_OK(fallbackmake_run(&m, PLAN, base_csv), &m.run.err);
		m.r.author = NULL;
		m.r.strict_schema = row->strict;
		rc = fallbackmake_run(&m, PLAN, row->csv);
		T_CODE(rc, row->code, &m.run.err);
		snprintf(want, sizeof(want), "run.cache:%s", row->cache);
		if (!strstr(dtx_buf_text(&m.events), want))
			t_fail(__FILE__, __LINE__, "row %zu: %s", i, dtx_buf_text(&m.events));
		T_INT(json_array_size(m.r.near) > 0, !strcmp(row->cache, "near"));
		fallbackmake_clear(&m);
	}
}

/* Columns of periods come and go; code that names one of them is refused. */
void test_fallback_sliding_headers(void)
{
	static const char *const answers[] = { MODULE("#reads k 2024-02\n"), MODULE("#reads k\n"),
		                               NULL };
	struct fallbackmake m;

	fallbackmake_init(&m, "sliding");
	m.answer = answers;
	m.r.author = &m.author;
	T_OK(fallbackmake_run(&m, PLAN, "k,2024-01,2024-02,2024-03\na,1,2,3\n"), &m.run.err);
	T_STR(dtx_buf_text(&m.events), ASKED RUNS " attempt.end:family_literal " SENT FINE);
	T_OK(fallbackmake_run(&m, PLAN, "k,2024-02,2024-03,2024-04,2024-05\na,1,2,3,4\n"),
	     &m.run.err);
	T_STR(dtx_buf_text(&m.events), "run.trigger:unknown_op run.cache:exact jail.end");
	fallbackmake_clear(&m);
}

/* A near snippet is adopted: the same code with renamed columns, pending.  Then it runs, and the
 * schema changes again. */
void test_fallback_adopt(void)
{
	static const char *const answers[] = { MODULE("#reads k hours\n"), NULL };
	static const char drifted[] = "k,hours_booked,w\na,1,5\n";
	struct dtx_arena arena = DTX_ARENA_INIT;
	struct dtx_snippet *item, old;
	struct dtx_buf code = DTX_BUF_INIT(1 << 16);
	struct fallbackmake m;
	const json_t *near;
	size_t n;

	fallbackmake_init(&m, "adopt");
	m.answer = answers;
	m.r.author = &m.author;
	T_OK(fallbackmake_run(&m, PLAN, "k,hours,w\na,1,5\n"), &m.run.err);
	m.r.author = NULL;
	/* whatever a header contains, the shell takes it as text */
	T_CODE(fallbackmake_run(&m, PLAN, "k,hours' $(x),w\na,1,5\n"), DTX_E_NEEDS_SNIPPET,
	       &m.run.err);
	T_CHECK(strstr(dtx_json_text(json_array_get(m.r.near, 0), "adopt", ""),
	               " --rename 'hours=hours'\\'' $(x)' --plan "));
	T_CODE(fallbackmake_run(&m, PLAN, drifted), DTX_E_NEEDS_SNIPPET, &m.run.err);
	near = json_array_get(m.r.near, 0);
	T_CHECK(strstr(dtx_json_text(near, "adopt", ""),
	               " --rename hours=hours_booked --plan plan.json in.csv"));
	T_OK(dtx_snippet_get(m.store, dtx_json_text(near, "snippet", ""), &arena, &old, NULL),
	     NULL);
	T_OK(dtx_snippet_code(m.store, old.code_hash, &code, NULL), NULL);
	m.r.supplied = (struct dtx_str){ code.ptr, code.len };
	m.r.adapter = "{\"hours\":\"hours_booked\"}";
	m.r.gate.policy = DTX_APPROVE_REQUIRE;
	T_CODE(fallbackmake_run(&m, PLAN, drifted), DTX_E_NEEDS_APPROVAL, &m.run.err);
	T_STR(m.columns, "k hours w ");
	T_OK(dtx_snippet_list(m.store, "pending", &arena, &item, &n, NULL), NULL);
	T_INT(n, 1);
	T_STR(item[0].adapter, "{\"hours\":\"hours_booked\"}");
	T_STR(item[0].code_hash, old.code_hash);
	T_CHECK(strcmp(item[0].id, old.id) != 0);
	T_OK(dtx_snippet_act(m.store, "", item[0].id, DTX_SNIPPET_APPROVE, "etl", NULL, NULL),
	     NULL);
	m.r.supplied = (struct dtx_str){ NULL, 0 };
	m.r.adapter = NULL;
	T_OK(fallbackmake_run(&m, PLAN, drifted), &m.run.err);
	T_STR(dtx_buf_text(&m.events), "run.trigger:unknown_op run.cache:exact jail.end");
	T_STR(m.columns, "k hours w ");
	/* what it reads is recorded by the names of the input, so a column that it does not read
	 * may go */
	T_OK(fallbackmake_run(&m, PLAN, "k,hours_booked\na,1\n"), &m.run.err);
	T_CHECK(strstr(dtx_buf_text(&m.events), "run.cache:compatible"));
	T_STR(m.columns, "k hours ");
	dtx_arena_clear(&arena);
	dtx_buf_clear(&code);
	fallbackmake_clear(&m);
}
