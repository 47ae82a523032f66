/* The fallback loop, station by station: transitions, ledger events, codes. */
#include "core/base/file.h"
#include "core/base/hash.h"
#include "core/store/lease.h"
#include "tests/unit/rescuemake.h"

#define FROB    "{\"op\":\"frob\",\"by\":[\"k\"]}"
#define PLAN    PLANCASE(FROB ",{\"op\":\"filter\",\"where\":\"n > 10\"}")
#define EXPECTS PLANCASE("{\"op\":\"frob\",\"expect\":{\"rows\":{\"min\":5}}}")
#define CSV     "k,v\na,1\nb,2\n"

#define RUNS   "jail.end jail.end"
#define SENT   "author.sent author.got:ok "
#define ASKED  "run.trigger:unknown_op run.cache:none " SENT
#define STORED " snippet.candidate snippet.pending:dtx "
#define FINE   RUNS STORED "snippet.approved:policy:auto"

/* One run with an empty cache and an author that answers so. */
static const struct state_row {
	const char *plan; /* NULL: PLAN */
	const char *answer[4];
	const char *approve; /* NULL: auto */
	enum dtx_code code;
	const char *events;
	unsigned attempts; /* allowed; 0: 3 */
	bool nobody, cache_only;
} states[] = {
	/* passes at once */
	{ NULL, { MODULE("#ok\n") }, NULL, DTX_OK, ASKED FINE, 0, false, false },
	/* nobody to ask, or not allowed to */
	{ NULL,
	  { NULL },
	  NULL,
	  DTX_E_NEEDS_SNIPPET,
	  "run.trigger:unknown_op run.cache:none",
	  0,
	  true,
	  false },
	{ NULL,
	  { NULL },
	  NULL,
	  DTX_E_NEEDS_SNIPPET,
	  "run.trigger:unknown_op run.cache:none",
	  0,
	  false,
	  true },
	/* the author fails */
	{ NULL,
	  { "!down" },
	  NULL,
	  DTX_E_AUTHOR_FAILED,
	  "run.trigger:unknown_op run.cache:none author.sent author.got:failed",
	  0,
	  false,
	  false },
	/* approval */
	{ NULL,
	  { MODULE("#ok\n") },
	  "require",
	  DTX_E_NEEDS_APPROVAL,
	  ASKED RUNS " snippet.candidate snippet.pending:dtx",
	  0,
	  false,
	  false },
	/* extraction, screen, run, contract: each is tried again, and ends so */
	{ NULL,
	  { "no code", MODULE("#ok\n") },
	  NULL,
	  DTX_OK,
	  ASKED "attempt.end:no_code " SENT FINE,
	  0,
	  false,
	  false },
	{ NULL,
	  { "~```python\nx", MODULE("#ok\n") },
	  NULL,
	  DTX_OK,
	  ASKED "attempt.end:truncated " SENT FINE,
	  0,
	  false,
	  false },
	{ NULL,
	  { "```python\ndef transform(", MODULE("#ok\n") },
	  NULL,
	  DTX_OK,
	  ASKED "attempt.end:truncated " SENT FINE,
	  0,
	  false,
	  false },
	{ NULL,
	  { MODULE("#screen import_denied\n"), MODULE("#ok\n") },
	  NULL,
	  DTX_OK,
	  ASKED "jail.end jail.end attempt.end:import_denied " SENT FINE,
	  0,
	  false,
	  false },
	{ NULL,
	  { MODULE("#raise x\n"), MODULE("#ok\n") },
	  NULL,
	  DTX_OK,
	  ASKED RUNS " snippet.candidate attempt.end:exception " SENT FINE,
	  0,
	  false,
	  false },
	{ NULL,
	  { MODULE("#columns m\n"), MODULE("#ok\n") },
	  NULL,
	  DTX_OK,
	  ASKED RUNS " snippet.candidate attempt.end:contract " SENT FINE,
	  0,
	  false,
	  false },
	{ NULL,
	  { MODULE("#seeded\n"), MODULE("#ok\n") },
	  NULL,
	  DTX_OK,
	  ASKED RUNS " snippet.candidate attempt.end:nondeterministic " SENT FINE,
	  0,
	  false,
	  false },
	{ NULL,
	  { MODULE("#assumes v > 1\n"), MODULE("#ok\n") },
	  NULL,
	  DTX_OK,
	  ASKED RUNS " snippet.candidate attempt.end:assumption " SENT FINE,
	  0,
	  false,
	  false },
	{ NULL,
	  { MODULE("#formula n n + 1\n"), MODULE("#formula n n * 1\n") },
	  NULL,
	  DTX_OK,
	  ASKED RUNS " snippet.candidate attempt.end:contract " SENT FINE,
	  0,
	  false,
	  false },
	{ NULL,
	  { MODULE("#status timeout\n"), MODULE("#ok\n") },
	  NULL,
	  DTX_OK,
	  ASKED RUNS " snippet.candidate attempt.end:timeout " SENT FINE,
	  0,
	  false,
	  false },
	/* one attempt is allowed: the class is the exit */
	{ NULL,
	  { "no code" },
	  NULL,
	  DTX_E_SNIPPET_NO_CODE,
	  ASKED "attempt.end:no_code",
	  1,
	  false,
	  false },
	{ NULL,
	  { MODULE("#status memory_limit\n") },
	  NULL,
	  DTX_E_SNIPPET_MEMORY_LIMIT,
	  ASKED RUNS " snippet.candidate attempt.end:memory_limit",
	  1,
	  false,
	  false },
	{ NULL,
	  { MODULE("#status denied_syscall\n") },
	  NULL,
	  DTX_E_SNIPPET_DENIED_SYSCALL,
	  ASKED RUNS " snippet.candidate attempt.end:denied_syscall",
	  1,
	  false,
	  false },
	{ NULL,
	  { MODULE("#assumes v > 1\n") },
	  NULL,
	  DTX_E_SNIPPET_ASSUMPTION,
	  ASKED RUNS " snippet.candidate attempt.end:assumption",
	  1,
	  false,
	  false },
	{ EXPECTS,
	  { MODULE("#ok\n") },
	  NULL,
	  DTX_E_EXPECT_FAILED,
	  ASKED RUNS " snippet.candidate attempt.end:contract",
	  1,
	  false,
	  false },
	/* what another attempt cannot cure */
	{ NULL,
	  { MODULE("#raise DTX_CANNOT: no\n"), MODULE("#ok\n") },
	  NULL,
	  DTX_E_SNIPPET_CANNOT,
	  ASKED RUNS " snippet.candidate attempt.end:cannot",
	  0,
	  false,
	  false },
	{ NULL,
	  { MODULE("#status setup_refused\n"), MODULE("#ok\n") },
	  NULL,
	  DTX_E_SNIPPET_SETUP_REFUSED,
	  ASKED RUNS " snippet.candidate attempt.end:setup_refused",
	  0,
	  false,
	  false },
	/* repetition: the same code, the same failure of another one */
	{ NULL,
	  { MODULE("#columns m\n"), MODULE("#columns m\n"), MODULE("#ok\n") },
	  NULL,
	  DTX_E_SNIPPET_CONTRACT,
	  ASKED RUNS " snippet.candidate attempt.end:contract " SENT RUNS " attempt.end:contract",
	  0,
	  false,
	  false },
	{ NULL,
	  { MODULE("x = 1\n#raise a\n"), MODULE("y = 2\nx = 1\n#raise b\n"), MODULE("#ok\n") },
	  NULL,
	  DTX_E_SNIPPET_EXCEPTION,
	  ASKED RUNS " snippet.candidate attempt.end:exception " SENT RUNS
	             " snippet.candidate attempt.end:exception",
	  0,
	  false,
	  false },
	/* three at most */
	{ NULL,
	  { "no code", MODULE("#raise x\n"), MODULE("#columns m\n"), MODULE("#ok\n") },
	  NULL,
	  DTX_E_SNIPPET_CONTRACT,
	  ASKED "attempt.end:no_code " SENT RUNS
	        " snippet.candidate attempt.end:exception " SENT RUNS
	        " snippet.candidate attempt.end:contract",
	  0,
	  false,
	  false },
	/* the fourth station of a failing second call */
	{ NULL,
	  { "no code", "!down" },
	  NULL,
	  DTX_E_AUTHOR_FAILED,
	  ASKED "attempt.end:no_code author.sent author.got:failed",
	  0,
	  false,
	  false },
};

static void state_run(const struct state_row *row, size_t i)
{
	struct rescuemake m;
	enum dtx_code rc;
	char name[32];

	snprintf(name, sizeof(name), "state%zu", i);
	rescuemake_init(&m, name);
	m.answer = row->answer;
	m.r.author = row->nobody ? NULL : &m.author;
	m.r.cache_only = row->cache_only;
	m.r.budget.attempts = row->attempts;
	if (row->approve)
		T_OK(dtx_approve_parse(row->approve, &m.r.gate.policy, NULL), NULL);
	rc = rescuemake_run(&m, row->plan ? row->plan : PLAN, CSV);
	T_CODE(rc, row->code, &m.run.err);
	if (strcmp(dtx_buf_text(&m.events), row->events) != 0)
		t_fail(__FILE__, __LINE__, "row %zu: %s\n   wanted %s", i, dtx_buf_text(&m.events),
		       row->events);
	if (rc == DTX_OK)
		T_STR(dtx_buf_text(&m.run.out), row->plan ? "n,m\n10,10\n11,11\n" : "n\n11\n");
	T_INT(m.r.budget.spent_attempts, m.asked - (rc == DTX_E_AUTHOR_FAILED));
	rescuemake_clear(&m);
}

void test_rescue_states(void)
{
	size_t i;

	for (i = 0; i < DTX_COUNT(states); i++)
		state_run(&states[i], i);
}

/* --- the retry prompt --- */

/* Nor to the store. */
static void lacks(const char *path, const char *const *canary, size_t n)
{
	struct dtx_buf bytes = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	size_t i;

	if (dtx_file_slurp(path, &bytes, NULL) == DTX_OK)
		for (i = 0; i < n; i++)
			T_CHECK(dtx_str_find((struct dtx_str){ dtx_buf_text(&bytes), bytes.len },
			                     dtx_str_of(canary[i]), 0) < 0);
	dtx_buf_clear(&bytes);
}

static void store_lacks(const char *path, const char *const *canary, size_t n)
{
	char wal[4200];

	snprintf(wal, sizeof(wal), "%s-wal", path);
	lacks(path, canary, n);
	lacks(wal, canary, n);
}

/* Cells must not come back to the author, whatever the code makes of them. */
void test_rescue_canary(void)
{
	static const char *const canaries[] = { "Zanzibar", "QX7781", "Kwyjibo", "2031-07-09",
		                                "zx@example.org" };
	static const char csv[] = "k,v\nZanzibar,1\n\"QX7781 'Kwyjibo\",2\n2031-07-09,3\n"
				  "zx@example.org,4\n";
	static const char *const answers[] = {
		MODULE("#leak could not convert string to float:\n"),
		MODULE("a = 1\n#leak Unknown string format\n"),
		MODULE("b = 2\n#leak KeyError\n"),
		NULL,
	};
	static const enum dtx_sample samples[] = { DTX_SAMPLE_NONE, DTX_SAMPLE_SYNTHETIC,
		                                   DTX_SAMPLE_MASKED };
	struct rescuemake m;
	char name[32];
	size_t s, i, n;

	for (s = 0; s < DTX_COUNT(samples); s++) {
		for (n = 1; n <= 3; n++) {
			snprintf(name, sizeof(name), "canary%zu%zu", s, n);
			rescuemake_init(&m, name);
			m.answer = answers;
			m.r.author = &m.author;
			m.r.sample = samples[s];
			m.r.budget.attempts = (unsigned)n;
			T_CHECK(rescuemake_run(&m, PLAN, csv) != DTX_OK);
			T_INT(m.asked, n);
			T_CHECK(n == 1 || strstr(dtx_buf_text(&m.last_prompt), "PREVIOUS ATTEMPT"));
			for (i = 0; i < DTX_COUNT(canaries); i++)
				T_CHECK(!strstr(dtx_buf_text(&m.last_prompt), canaries[i]));
			store_lacks(m.store_path, canaries, DTX_COUNT(canaries));
			rescuemake_clear(&m);
		}
	}
}

void test_rescue_retry_prompt(void)
{
	static const char *const answers[] = {
		MODULE("x = 1\n#raise no column 'Zanzibar' in Kwyjibo\n"), MODULE("#ok\n"), NULL
	};
	struct rescuemake m;
	const char *text, *at;

	rescuemake_init(&m, "retryprompt");
	m.answer = answers;
	m.r.author = &m.author;
	T_OK(rescuemake_run(&m, PLAN, CSV), &m.run.err);
	text = dtx_buf_text(&m.last_prompt);
	at = strstr(text, "PREVIOUS ATTEMPT\nThis module failed: exception.\nDATA ");
	T_CHECK(at != NULL);
	/* the author's own text is known to it: nothing of it is hidden */
	T_CHECK(at && strstr(at, "x = 1\n#raise no column 'Zanzibar' in Kwyjibo\n"));
	T_CHECK(at && strstr(at, "Answer with a corrected whole module.\n"));
	T_CHECK(at && strstr(at, "`x = 1`"));
	T_CHECK(strcmp(m.prompts[0], m.prompts[1]) != 0);
	rescuemake_clear(&m);
}

/* --- the typed steps behind a region --- */

#define CASTS PLANCASE(FROB ",{\"op\":\"derive\",\"set\":{\"m\":\"int(n)\"}}")
#define BROKE RUNS " snippet.candidate attempt.end:contract "

/* What they cannot use goes back to the author, before anybody approves it. */
static const struct state_row suffixes[] = {
	{ CASTS,
	  { MODULE("#text Zanzibar\n"), MODULE("#ok\n") },
	  NULL,
	  DTX_OK,
	  ASKED BROKE SENT FINE,
	  0,
	  false,
	  false },
	{ CASTS,
	  { MODULE("#text x\n"), MODULE("#ok\n") },
	  "require",
	  DTX_E_NEEDS_APPROVAL,
	  ASKED BROKE SENT RUNS " snippet.candidate snippet.pending:dtx",
	  0,
	  false,
	  false },
	/* an attempt like others: at most as many as are allowed, and no failure twice */
	{ CASTS,
	  { MODULE("#text x\n"), MODULE("#ok\n") },
	  NULL,
	  DTX_E_SNIPPET_CONTRACT,
	  ASKED RUNS " snippet.candidate attempt.end:contract",
	  1,
	  false,
	  false },
	{ CASTS,
	  { MODULE("#text x\n"), MODULE("#text y\n"), MODULE("#ok\n") },
	  NULL,
	  DTX_E_SNIPPET_CONTRACT,
	  ASKED BROKE SENT RUNS " snippet.candidate attempt.end:contract",
	  0,
	  false,
	  false },
	{ CASTS,
	  { "no code", MODULE("#text y\n"), MODULE("#raise z\n"), MODULE("#ok\n") },
	  NULL,
	  DTX_E_SNIPPET_EXCEPTION,
	  ASKED "attempt.end:no_code " SENT BROKE SENT RUNS
	        " snippet.candidate attempt.end:exception",
	  0,
	  false,
	  false },
	/* the author is gone by then */
	{ CASTS,
	  { MODULE("#text x\n"), "!down" },
	  NULL,
	  DTX_E_AUTHOR_FAILED,
	  ASKED BROKE "author.sent author.got:failed",
	  0,
	  false,
	  false },
	/* a run that fails for another reason leaves the code to a person */
	{ PLANCASE(
		  FROB
		  ",{\"op\":\"assert\",\"rules\":[{\"rule\":\"expression\",\"expr\":\"n > 10\"}]}"),
	  { MODULE("#ok\n") },
	  NULL,
	  DTX_E_ASSERT_FAILED,
	  ASKED RUNS " snippet.candidate snippet.pending:dtx",
	  0,
	  false,
	  false },
};

void test_rescue_suffix_states(void)
{
	size_t i;

	for (i = 0; i < DTX_COUNT(suffixes); i++)
		state_run(&suffixes[i], 100 + i);
}

/* The next prompt has the error, and no cell. */
void test_rescue_suffix_prompt(void)
{
	static const char *const answers[] = { MODULE("#text Zanzibar\n"), MODULE("#ok\n"), NULL };
	static const char *const canary[] = { "Kwyjibo" };
	struct rescuemake m;
	const char *at;

	rescuemake_init(&m, "suffixprompt");
	m.answer = answers;
	m.r.author = &m.author;
	T_OK(rescuemake_run(&m, CASTS, "k,v\nKwyjibo,1\n"), &m.run.err);
	T_STR(dtx_buf_text(&m.run.out), "n,m\n10,10\n11,11\n");
	at = strstr(dtx_buf_text(&m.last_prompt), "This module failed: contract.");
	T_CHECK(at && strstr(at, "cast_failed") &&
	        strstr(at, "{\"op\":\"derive\",\"set\":[{\"as\":\"m\",\"expr\":\"int(n)\"}]}"));
	store_lacks(m.store_path, canary, 1);
	rescuemake_clear(&m);
}

/* An approved snippet whose result no longer suits: mended, or the end. */
void test_rescue_suffix_of_cached(void)
{
	static const char *const answers[] = { MODULE("#text 7\n"), MODULE("#ok\n"), NULL };
	static const char plan[] = PLANCASE(FROB ",{\"op\":\"derive\",\"set\":{\"m\":\"int(n)\"}},"
	                                         "{\"op\":\"derive\",\"set\":{\"o\":\"date(n)\"}}");
	struct rescuemake m;

	rescuemake_init(&m, "suffixcached");
	m.answer = answers;
	m.r.author = &m.author;
	m.r.trial_off = true; /* approved before anything has run */
	m.r.cache_only = false;
	m.r.budget.attempts = 1;
	T_CODE(rescuemake_run(&m, plan, CSV), DTX_E_SNIPPET_CONTRACT, &m.run.err);
	T_CHECK(strstr(m.run.err.msg, "step 3, 'derive', cannot use"));
	T_INT(m.run.err.step, 0);
	m.r.cache_only = true;
	T_CODE(rescuemake_run(&m, plan, CSV), DTX_E_SNIPPET_CONTRACT, &m.run.err);
	T_STR(dtx_buf_text(&m.events),
	      "run.trigger:unknown_op run.cache:exact jail.end attempt.end:contract");
	rescuemake_clear(&m);
}

/* What a column brings along from before the snippet is none of its making. */
void test_rescue_suffix_of_others(void)
{
	static const char *const answers[] = { MODULE("#columns n k\n#text x\n"),
		                               MODULE("#columns n m k\n"), NULL };
	struct rescuemake m;

	rescuemake_init(&m, "suffixothers");
	m.answer = answers;
	m.r.author = &m.author;
	T_OK(rescuemake_run(&m, PLANCASE(FROB ",{\"op\":\"derive\",\"set\":{\"m\":\"int(k)\"}}"),
	                    CSV),
	     &m.run.err);
	T_CHECK(strstr(dtx_buf_text(&m.events), "run.trigger:cast_failed"));
	T_CHECK(!strstr(dtx_buf_text(&m.events), "attempt.end"));
	rescuemake_clear(&m);
}

/* --- memory of failures, ceilings --- */

void test_rescue_recent_failure(void)
{
	static const char *const bad[] = { "no code", NULL };
	static const char *const good[] = { MODULE("#ok\n"), NULL };
	struct rescuemake m;

	rescuemake_init(&m, "recent");
	m.answer = bad;
	m.r.author = &m.author;
	m.r.budget.attempts = 1;
	T_CODE(rescuemake_run(&m, PLAN, CSV), DTX_E_SNIPPET_NO_CODE, &m.run.err);
	m.answer = good;
	m.asked = 0;
	T_CODE(rescuemake_run(&m, PLAN, CSV), DTX_E_AUTHOR_FAILED, &m.run.err);
	T_INT(m.asked, 0);
	T_CHECK(strstr(m.run.err.hint, "--retry-author"));
	/* another prompt is another matter, and so is the wish */
	m.r.sample = DTX_SAMPLE_NONE;
	m.r.gate.policy = DTX_APPROVE_REQUIRE;
	T_CODE(rescuemake_run(&m, PLAN, CSV), DTX_E_NEEDS_APPROVAL, &m.run.err);
	m.r.ns = "other";
	m.asked = 0;
	m.r.sample = DTX_SAMPLE_SYNTHETIC;
	m.r.gate.policy = DTX_APPROVE_AUTO;
	m.r.retry_author = true;
	T_OK(rescuemake_run(&m, PLAN, CSV), &m.run.err);
	T_INT(m.asked, 1);
	rescuemake_clear(&m);
}

void test_rescue_down_author_is_asked_again(void)
{
	static const char *const answers[] = { "!down", MODULE("#ok\n"), NULL };
	struct rescuemake m;

	rescuemake_init(&m, "down");
	m.answer = answers;
	m.r.author = &m.author;
	T_CODE(rescuemake_run(&m, PLAN, CSV), DTX_E_AUTHOR_FAILED, &m.run.err);
	T_OK(rescuemake_run(&m, PLAN, CSV), &m.run.err);
	rescuemake_clear(&m);
}

void test_rescue_ceilings(void)
{
	static const char *const answers[] = { "no code", MODULE("#ok\n"), NULL };
	struct rescuemake m;

	/* the first prompt is too long already */
	rescuemake_init(&m, "tokens");
	m.answer = answers;
	m.r.author = &m.author;
	m.r.budget.tokens = 10;
	T_CODE(rescuemake_run(&m, PLAN, CSV), DTX_E_AUTHOR_FAILED, &m.run.err);
	T_INT(m.asked, 0);
	T_CHECK(strstr(m.run.err.hint, "--max-tokens"));
	/* the second: what there is of failure is told, with the ceiling */
	m.r.budget = (struct dtx_budget){ .cost = 1000 };
	T_CODE(rescuemake_run(&m, PLAN, CSV), DTX_E_SNIPPET_NO_CODE, &m.run.err);
	T_INT(m.asked, 1);
	T_CHECK(strstr(m.run.err.hint, "0.001000 of at most 0.001000 are spent"));
	T_INT(m.r.budget.spent_tokens, 110);
	T_INT(m.r.budget.spent_cost, 1000);
	rescuemake_clear(&m);
}

/* --- approval over two commands --- */

void test_rescue_approve_then_run(void)
{
	static const char *const answers[] = { MODULE("#ok\n"), NULL };
	struct rescuemake m;
	struct dtx_arena arena = DTX_ARENA_INIT;
	struct dtx_snippet *item;
	size_t n;

	rescuemake_init(&m, "approve");
	m.answer = answers;
	m.r.author = &m.author;
	m.r.gate.policy = DTX_APPROVE_REQUIRE;
	T_CODE(rescuemake_run(&m, PLAN, CSV), DTX_E_NEEDS_APPROVAL, &m.run.err);
	/* again: it waits, nobody is asked, nothing runs */
	m.jailed = 0;
	T_CODE(rescuemake_run(&m, PLAN, CSV), DTX_E_NEEDS_APPROVAL, &m.run.err);
	T_STR(dtx_buf_text(&m.events), "run.trigger:unknown_op run.cache:pending");
	T_INT(m.jailed, 0);
	T_OK(dtx_snippet_list(m.store, NULL, &arena, &item, &n, NULL), NULL);
	T_INT(n, 1);
	T_STR(item[0].origin, "script");
	T_CHECK(item[0].call_id != NULL);
	T_OK(dtx_snippet_act(m.store, "", item[0].id, DTX_SNIPPET_APPROVE, "etl", NULL, NULL),
	     NULL);
	T_OK(rescuemake_run(&m, PLAN, CSV), &m.run.err);
	T_STR(dtx_buf_text(&m.events), "run.trigger:unknown_op run.cache:exact jail.end");
	T_INT(m.asked, 1);
	/* revoked: the same bytes stay refused */
	T_OK(dtx_snippet_act(m.store, "", item[0].id, DTX_SNIPPET_REVOKE, "etl", NULL, NULL), NULL);
	m.asked = 0;
	T_CODE(rescuemake_run(&m, PLAN, CSV), DTX_E_SNIPPET_REVOKED, &m.run.err);
	dtx_arena_clear(&arena);
	rescuemake_clear(&m);
}

static enum dtx_code person_yes(void *arg, const struct dtx_gate_view *view, bool *yes,
                                struct dtx_err *err)
{
	(void)err;
	++*(int *)arg;
	T_STR(view->op, "frob");
	T_CHECK(dtx_str_find(view->code, DTX_STR("def transform"), 0) >= 0);
	*yes = true;
	return DTX_OK;
}

void test_rescue_pending_is_asked_for(void)
{
	static const char *const answers[] = { MODULE("#ok\n"), NULL };
	struct rescuemake m;
	int asked = 0;

	rescuemake_init(&m, "ask");
	m.answer = answers;
	m.r.author = &m.author;
	m.r.gate.policy = DTX_APPROVE_REQUIRE;
	T_CODE(rescuemake_run(&m, PLAN, CSV), DTX_E_NEEDS_APPROVAL, &m.run.err);
	m.r.gate = (struct dtx_gate){ DTX_APPROVE_ASK, "etl", person_yes, &asked };
	T_OK(rescuemake_run(&m, PLAN, CSV), &m.run.err);
	T_STR(dtx_buf_text(&m.events),
	      "run.trigger:unknown_op run.cache:pending snippet.approved:etl jail.end");
	T_INT(asked, 1);
	rescuemake_clear(&m);
}

/* No code runs before a person has said yes. */
void test_rescue_trial_off(void)
{
	static const char *const answers[] = { MODULE("#ok\n"), NULL };
	struct rescuemake m;

	rescuemake_init(&m, "trial");
	m.answer = answers;
	m.r.author = &m.author;
	m.r.trial_off = true;
	m.r.gate.policy = DTX_APPROVE_REQUIRE;
	T_CODE(rescuemake_run(&m, PLAN, CSV), DTX_E_NEEDS_APPROVAL, &m.run.err);
	T_STR(dtx_buf_text(&m.events), ASKED "jail.end snippet.candidate snippet.pending:dtx");
	m.r.ns = "other";
	m.asked = 0;
	m.r.gate.policy = DTX_APPROVE_AUTO;
	T_OK(rescuemake_run(&m, PLAN, CSV), &m.run.err);
	T_STR(dtx_buf_text(&m.events), ASKED "jail.end snippet.candidate snippet.pending:dtx "
	                                     "jail.end jail.end snippet.approved:policy:auto");
	rescuemake_clear(&m);
}

/* --- a cached snippet fails --- */

void test_rescue_repair(void)
{
	static const char *const answers[] = { MODULE("#assumes v < 3\n"), MODULE("#ok\n"), NULL };
	struct rescuemake m;

	rescuemake_init(&m, "repair");
	m.answer = answers;
	m.r.author = &m.author;
	T_OK(rescuemake_run(&m, PLAN, CSV), &m.run.err);
	/* values it was not written for; nobody may be asked */
	m.r.cache_only = true;
	T_CODE(rescuemake_run(&m, PLAN, "k,v\na,1\nb,7\n"), DTX_E_SNIPPET_ASSUMPTION, &m.run.err);
	T_STR(dtx_buf_text(&m.events),
	      "run.trigger:unknown_op run.cache:exact jail.end attempt.end:assumption");
	m.r.cache_only = false;
	T_OK(rescuemake_run(&m, PLAN, "k,v\na,1\nb,7\n"), &m.run.err);
	T_STR(dtx_buf_text(&m.events), "run.trigger:unknown_op run.cache:exact jail.end "
	                               "attempt.end:assumption " SENT FINE);
	T_CHECK(strstr(dtx_buf_text(&m.last_prompt), "This module failed: assumption."));
	/* the new one is the live one */
	T_OK(rescuemake_run(&m, PLAN, "k,v\na,1\nb,9\n"), &m.run.err);
	T_INT(m.asked, 2);
	rescuemake_clear(&m);
}

/* Another jail policy: cached code has to show once more that its result does not depend on the
 * hash seed. */
void test_rescue_admitted_again(void)
{
	static const char *const answers[] = { MODULE("#ok\n"), NULL };
	static const char again[] = "run.trigger:unknown_op run.cache:exact jail.end jail.end";
	static const char once[] = "run.trigger:unknown_op run.cache:exact jail.end";
	struct rescuemake m;

	rescuemake_init(&m, "policy");
	m.answer = answers;
	m.r.author = &m.author;
	m.policy = "aa";
	T_OK(rescuemake_run(&m, PLAN, CSV), &m.run.err);
	T_OK(rescuemake_run(&m, PLAN, CSV), &m.run.err);
	T_STR(dtx_buf_text(&m.events), once);
	m.policy = "bb";
	T_OK(rescuemake_run(&m, PLAN, CSV), &m.run.err);
	T_STR(dtx_buf_text(&m.events), again);
	T_OK(rescuemake_run(&m, PLAN, CSV), &m.run.err);
	T_STR(dtx_buf_text(&m.events), once);
	T_INT(m.asked, 1);
	rescuemake_clear(&m);
}

/* What does not hold under the new one is mended, or the end; it is not admitted by having failed.
 */
void test_rescue_not_admitted_again(void)
{
	static const char *const answers[] = { MODULE("#seeded bb\n"), NULL };
	struct rescuemake m;

	rescuemake_init(&m, "policybad");
	m.answer = answers;
	m.r.author = &m.author;
	m.policy = "aa";
	T_OK(rescuemake_run(&m, PLANCASE(FROB), CSV), &m.run.err);
	m.policy = "bb";
	m.r.author = NULL;
	T_CODE(rescuemake_run(&m, PLANCASE(FROB), CSV), DTX_E_SNIPPET_NONDETERMINISTIC, &m.run.err);
	T_CODE(rescuemake_run(&m, PLANCASE(FROB), CSV), DTX_E_SNIPPET_NONDETERMINISTIC, &m.run.err);
	T_STR(dtx_buf_text(&m.events), "run.trigger:unknown_op run.cache:exact jail.end jail.end "
	                               "attempt.end:nondeterministic");
	rescuemake_clear(&m);
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

/* Another run holds the lease; when it is waited for it has repaired the snippet. */
static void repaired_by_another(void *arg, const char *text)
{
	static const char code[] = "def transform(tables, params):\n#ok\n";
	struct rescuemake *m = arg;
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

void test_rescue_repair_waits(void)
{
	static const char *const answers[] = { MODULE("#assumes v < 3\n"), MODULE("#ok\n"), NULL };
	struct dtx_arena arena = DTX_ARENA_INIT;
	struct dtx_snippet *old;
	struct rescuemake m;
	bool ours = false;
	char key[80];
	size_t n;

	rescuemake_init(&m, "repairwaits");
	m.answer = answers;
	m.r.author = &m.author;
	T_OK(rescuemake_run(&m, PLAN, CSV), &m.run.err);
	T_OK(dtx_snippet_list(m.store, "approved", &arena, &old, &n, NULL), NULL);
	lease_key(old, key);
	T_OK(dtx_lease_claim(m.store, key, "another", &ours, NULL), NULL);
	T_CHECK(ours);
	m.r.say = repaired_by_another;
	m.r.say_arg = &m;
	T_OK(rescuemake_run(&m, PLAN, "k,v\na,1\nb,7\n"), &m.run.err);
	T_STR(dtx_buf_text(&m.events), "run.trigger:unknown_op run.cache:exact jail.end "
	                               "attempt.end:assumption run.cache:exact jail.end");
	T_INT(m.asked, 1);
	dtx_arena_clear(&arena);
	rescuemake_clear(&m);
}

/* --- drift --- */

static const char base_csv[] = "k,v,w\na,1,5\nb,2,6\n";

/* What a changed file does to a snippet that reads k and v. */
static const struct drift_row {
	const char *csv, *flags, *cache; /* outcome of run.cache */
	enum dtx_code code;
	bool strict;
} drifts[] = {
	{ "k,v,w\nx,7,8\n", "", "exact", DTX_OK, false },
	{ "w,k,v\n5,a,1\n", "", "exact", DTX_OK, false },          /* order */
	{ "k,v\na,1\n", "", "compatible", DTX_OK, false },         /* unread one gone */
	{ "k,v,w,x\na,1,5,9\n", "", "compatible", DTX_OK, false }, /* unread one new */
	{ "k,v\na,1\n", "", "none", DTX_E_NEEDS_SNIPPET, true },   /* --strict-schema */
	{ "k,v\na,1\n", "whole_frame", "none", DTX_E_NEEDS_SNIPPET, false },
	{ "k,v,w,x\na,1,5,9\n", "positional", "none", DTX_E_NEEDS_SNIPPET, false },
	{ "w,k,v\n5,a,1\n", "positional", "none", DTX_E_NEEDS_SNIPPET, false },
	{ "k,v,w\n,7,8\n", "", "compatible", DTX_OK, false },          /* any equals all */
	{ "k,vv,w\na,1,5\n", "", "near", DTX_E_NEEDS_SNIPPET, false }, /* renamed */
	{ "k,v,w\na,x,5\n", "", "none", DTX_E_NEEDS_SNIPPET, false },  /* another class */
	{ "x,y,z\n1,2,3\n", "", "none", DTX_E_NEEDS_SNIPPET, false },  /* gone */
};

void test_rescue_drift(void)
{
	struct rescuemake m;
	char name[32], want[80], module[200];
	const char *answers[] = { module, NULL };
	size_t i;

	for (i = 0; i < DTX_COUNT(drifts); i++) {
		const struct drift_row *row = &drifts[i];
		enum dtx_code rc;

		snprintf(name, sizeof(name), "drift%zu", i);
		rescuemake_init(&m, name);
		snprintf(module, sizeof(module),
		         "```python\ndef transform(tables, params):\n#reads k v\n%s%s\n```\n",
		         row->flags[0] ? "#flags " : "", row->flags);
		m.answer = answers;
		m.r.author = &m.author;
		T_OK(rescuemake_run(&m, PLAN, base_csv), &m.run.err);
		m.r.author = NULL;
		m.r.strict_schema = row->strict;
		rc = rescuemake_run(&m, PLAN, row->csv);
		T_CODE(rc, row->code, &m.run.err);
		snprintf(want, sizeof(want), "run.cache:%s", row->cache);
		if (!strstr(dtx_buf_text(&m.events), want))
			t_fail(__FILE__, __LINE__, "row %zu: %s", i, dtx_buf_text(&m.events));
		T_INT(json_array_size(m.r.near) > 0, !strcmp(row->cache, "near"));
		rescuemake_clear(&m);
	}
}

/* Period columns come and go; code that names one is refused. */
void test_rescue_sliding_headers(void)
{
	static const char *const answers[] = { MODULE("#reads k 2024-02\n"), MODULE("#reads k\n"),
		                               NULL };
	struct rescuemake m;

	rescuemake_init(&m, "sliding");
	m.answer = answers;
	m.r.author = &m.author;
	T_OK(rescuemake_run(&m, PLAN, "k,2024-01,2024-02,2024-03\na,1,2,3\n"), &m.run.err);
	T_STR(dtx_buf_text(&m.events), ASKED RUNS " attempt.end:family_literal " SENT FINE);
	T_OK(rescuemake_run(&m, PLAN, "k,2024-02,2024-03,2024-04,2024-05\na,1,2,3,4\n"),
	     &m.run.err);
	T_STR(dtx_buf_text(&m.events), "run.trigger:unknown_op run.cache:exact jail.end");
	rescuemake_clear(&m);
}

/* A near one is adopted: same code, renamed columns, pending; then it runs and drifts on. */
void test_rescue_adopt(void)
{
	static const char *const answers[] = { MODULE("#reads k hours\n"), NULL };
	static const char drifted[] = "k,hours_booked,w\na,1,5\n";
	struct dtx_arena arena = DTX_ARENA_INIT;
	struct dtx_snippet *item, old;
	struct dtx_buf code = DTX_BUF_INIT(1 << 16);
	struct rescuemake m;
	const json_t *near;
	size_t n;

	rescuemake_init(&m, "adopt");
	m.answer = answers;
	m.r.author = &m.author;
	T_OK(rescuemake_run(&m, PLAN, "k,hours,w\na,1,5\n"), &m.run.err);
	m.r.author = NULL;
	/* a header is text for the shell, whatever it holds */
	T_CODE(rescuemake_run(&m, PLAN, "k,hours' $(x),w\na,1,5\n"), DTX_E_NEEDS_SNIPPET,
	       &m.run.err);
	T_CHECK(strstr(dtx_json_text(json_array_get(m.r.near, 0), "adopt", ""),
	               " --rename 'hours=hours'\\'' $(x)' --plan "));
	T_CODE(rescuemake_run(&m, PLAN, drifted), DTX_E_NEEDS_SNIPPET, &m.run.err);
	near = json_array_get(m.r.near, 0);
	T_CHECK(strstr(dtx_json_text(near, "adopt", ""),
	               " --rename 'hours=hours_booked' --plan plan.json in.csv"));
	T_OK(dtx_snippet_get(m.store, dtx_json_text(near, "snippet", ""), &arena, &old, NULL),
	     NULL);
	T_OK(dtx_snippet_code(m.store, old.code_hash, &code, NULL), NULL);
	m.r.supplied = (struct dtx_str){ code.ptr, code.len };
	m.r.adapter = "{\"hours\":\"hours_booked\"}";
	m.r.gate.policy = DTX_APPROVE_REQUIRE;
	T_CODE(rescuemake_run(&m, PLAN, drifted), DTX_E_NEEDS_APPROVAL, &m.run.err);
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
	T_OK(rescuemake_run(&m, PLAN, drifted), &m.run.err);
	T_STR(dtx_buf_text(&m.events), "run.trigger:unknown_op run.cache:exact jail.end");
	T_STR(m.columns, "k hours w ");
	/* what it reads is kept by the names of the input: an unread column may go */
	T_OK(rescuemake_run(&m, PLAN, "k,hours_booked\na,1\n"), &m.run.err);
	T_CHECK(strstr(dtx_buf_text(&m.events), "run.cache:compatible"));
	T_STR(m.columns, "k hours ");
	dtx_arena_clear(&arena);
	dtx_buf_clear(&code);
	rescuemake_clear(&m);
}

/* --- how many --- */

#define CAST ",{\"op\":\"derive\",\"set\":{\"m\":\"int(t)\"}}"

/* A step that comes up while rows flow is one region more; the last allowed one is the end. */
void test_rescue_regions(void)
{
	static const char *const answers[] = { MODULE("#columns n m\n"),
		                               MODULE("#columns n m\n#x\n"), NULL };
	static const char csv[] = "k,t\na,x\nb,y\n";
	struct rescuemake m;

	rescuemake_init(&m, "regions");
	m.answer = answers;
	m.r.author = &m.author;
	T_OK(rescuemake_run(&m,
	                    PLANCASE("{\"op\":\"filter\",\"where\":\"k <> 'z'\"}" CAST
	                             ",{\"op\":\"twist\"}"),
	                    csv),
	     &m.run.err);
	T_INT(m.asked, 2);
	m.max_regions = 1;
	m.asked = 0;
	m.r.ns = "other";
	T_CODE(rescuemake_run(&m,
	                      PLANCASE("{\"op\":\"filter\",\"where\":\"k <> 'z'\"}" CAST
	                               ",{\"op\":\"filter\",\"where\":\"true\"}"
	                               ",{\"op\":\"twist\"}"),
	                      csv),
	       DTX_E_SNIPPET_CANNOT, &m.run.err);
	T_CHECK(strstr(m.run.err.msg, "more than 1 parts of the plan need a snippet"));
	rescuemake_clear(&m);
}
