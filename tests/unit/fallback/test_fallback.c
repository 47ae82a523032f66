/* The fallback loop, step by step: transitions, ledger events, codes. */
#include "core/plan/exec/region.h"
#include "tests/unit/fallbackmake.h"

/* One run with an empty cache and an author that gives these answers. */
static const struct fallback_state states[] = {
	/* passes at once */
	{ NULL, { MODULE("#ok\n") }, NULL, DTX_OK, ASKED FINE, 0, false, false },
	/* no author, or none allowed */
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
	/* extraction, screen, run, contract: each is tried again, and is the end if it fails
	 * again */
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
	  { MODULE("#assumes nosuch > 1\n"), MODULE("#ok\n") },
	  NULL,
	  DTX_OK,
	  ASKED RUNS " snippet.candidate attempt.end:assumption " SENT FINE,
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
	/* one attempt is allowed: the class of the failure decides the exit */
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
	/* failures that another attempt cannot repair */
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
	/* repetition: the same code, or other code with the same failure */
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
	/* three attempts at most */
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
	/* the second call of the author fails */
	{ NULL,
	  { "no code", "!down" },
	  NULL,
	  DTX_E_AUTHOR_FAILED,
	  ASKED "attempt.end:no_code author.sent author.got:failed",
	  0,
	  false,
	  false },
};

void test_fallback_states(void)
{
	size_t i;

	for (i = 0; i < DTX_COUNT(states); i++)
		fallbackmake_state(&states[i], i);
}

/* --- the retry prompt --- */

/* Cells must not come back to the author, whatever the code does with them. */
void test_fallback_canary(void)
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
	struct fallbackmake m;
	char name[32];
	size_t s, i, n;

	for (s = 0; s < DTX_COUNT(samples); s++) {
		for (n = 1; n <= 3; n++) {
			snprintf(name, sizeof(name), "canary%zu%zu", s, n);
			fallbackmake_init(&m, name);
			m.answer = answers;
			m.r.author = &m.author;
			m.r.sample = samples[s];
			m.r.budget.attempts = (unsigned)n;
			T_CHECK(fallbackmake_run(&m, PLAN, csv) != DTX_OK);
			T_INT(m.asked, n);
			T_CHECK(n == 1 || strstr(dtx_buf_text(&m.last_prompt), "PREVIOUS ATTEMPT"));
			for (i = 0; i < DTX_COUNT(canaries); i++)
				T_CHECK(!strstr(dtx_buf_text(&m.last_prompt), canaries[i]));
			fallbackmake_lacks(&m, canaries, DTX_COUNT(canaries));
			fallbackmake_clear(&m);
		}
	}
}

void test_fallback_retry_prompt(void)
{
	static const char *const answers[] = {
		MODULE("x = 1\n#raise no column 'Zanzibar' in Kwyjibo\n"), MODULE("#ok\n"), NULL
	};
	struct fallbackmake m;
	const char *text, *at;

	fallbackmake_init(&m, "retryprompt");
	m.answer = answers;
	m.r.author = &m.author;
	T_OK(fallbackmake_run(&m, PLAN, CSV), &m.run.err);
	text = dtx_buf_text(&m.last_prompt);
	at = strstr(text, "PREVIOUS ATTEMPT\nThis module failed: exception.\nDATA ");
	T_CHECK(at != NULL);
	/* the author knows its own text, so nothing in it is hidden */
	T_CHECK(at && strstr(at, "x = 1\n#raise no column 'Zanzibar' in Kwyjibo\n"));
	T_CHECK(at && strstr(at, "Answer with a corrected whole module.\n"));
	T_CHECK(at && strstr(at, "`x = 1`"));
	T_CHECK(strcmp(m.prompts[0], m.prompts[1]) != 0);
	fallbackmake_clear(&m);
}

/* --- memory of failures, limits --- */

void test_fallback_recent_failure(void)
{
	static const char *const bad[] = { "no code", NULL };
	static const char *const good[] = { MODULE("#ok\n"), NULL };
	struct fallbackmake m;

	fallbackmake_init(&m, "recent");
	m.answer = bad;
	m.r.author = &m.author;
	m.r.budget.attempts = 1;
	T_CODE(fallbackmake_run(&m, PLAN, CSV), DTX_E_SNIPPET_NO_CODE, &m.run.err);
	m.answer = good;
	m.asked = 0;
	T_CODE(fallbackmake_run(&m, PLAN, CSV), DTX_E_AUTHOR_FAILED, &m.run.err);
	T_INT(m.asked, 0);
	T_CHECK(strstr(m.run.err.hint, "--retry-author"));
	/* another prompt is another question, and so is another option */
	m.r.sample = DTX_SAMPLE_NONE;
	m.r.gate.policy = DTX_APPROVE_REQUIRE;
	T_CODE(fallbackmake_run(&m, PLAN, CSV), DTX_E_NEEDS_APPROVAL, &m.run.err);
	m.r.ns = "other";
	m.asked = 0;
	m.r.sample = DTX_SAMPLE_SYNTHETIC;
	m.r.gate.policy = DTX_APPROVE_AUTO;
	m.r.retry_author = true;
	T_OK(fallbackmake_run(&m, PLAN, CSV), &m.run.err);
	T_INT(m.asked, 1);
	fallbackmake_clear(&m);
}

void test_fallback_down_author_is_asked_again(void)
{
	static const char *const answers[] = { "!down", MODULE("#ok\n"), NULL };
	struct fallbackmake m;

	fallbackmake_init(&m, "down");
	m.answer = answers;
	m.r.author = &m.author;
	T_CODE(fallbackmake_run(&m, PLAN, CSV), DTX_E_AUTHOR_FAILED, &m.run.err);
	T_OK(fallbackmake_run(&m, PLAN, CSV), &m.run.err);
	fallbackmake_clear(&m);
}

void test_fallback_ceilings(void)
{
	static const char *const answers[] = { "no code", MODULE("#ok\n"), NULL };
	struct fallbackmake m;

	/* the first prompt is too long already */
	fallbackmake_init(&m, "tokens");
	m.answer = answers;
	m.r.author = &m.author;
	m.r.budget.tokens = 10;
	T_CODE(fallbackmake_run(&m, PLAN, CSV), DTX_E_AUTHOR_FAILED, &m.run.err);
	T_INT(m.asked, 0);
	T_CHECK(strstr(m.run.err.hint, "--max-tokens"));
	/* the second prompt: the error shows what is known about the failure, and the limit */
	m.r.budget = (struct dtx_budget){ .cost = 1000 };
	T_CODE(fallbackmake_run(&m, PLAN, CSV), DTX_E_SNIPPET_NO_CODE, &m.run.err);
	T_INT(m.asked, 1);
	T_CHECK(strstr(m.run.err.hint, "0.001000 of at most 0.001000 are spent"));
	T_INT(m.r.budget.spent_tokens, 110);
	T_INT(m.r.budget.spent_cost, 1000);
	fallbackmake_clear(&m);
}

/* --- approval in two commands --- */

void test_fallback_approve_then_run(void)
{
	static const char *const answers[] = { MODULE("#ok\n"), NULL };
	struct fallbackmake m;
	struct dtx_arena arena = DTX_ARENA_INIT;
	struct dtx_snippet *item;
	size_t n;

	fallbackmake_init(&m, "approve");
	m.answer = answers;
	m.r.author = &m.author;
	m.r.gate.policy = DTX_APPROVE_REQUIRE;
	T_CODE(fallbackmake_run(&m, PLAN, CSV), DTX_E_NEEDS_APPROVAL, &m.run.err);
	/* again: it waits; no author is asked and nothing runs */
	m.jailed = 0;
	T_CODE(fallbackmake_run(&m, PLAN, CSV), DTX_E_NEEDS_APPROVAL, &m.run.err);
	T_STR(dtx_buf_text(&m.events), "run.trigger:unknown_op run.cache:pending");
	T_INT(m.jailed, 0);
	T_OK(dtx_snippet_list(m.store, NULL, &arena, &item, &n, NULL), NULL);
	T_INT(n, 1);
	T_STR(item[0].origin, "script");
	T_CHECK(item[0].call_id != NULL);
	T_OK(dtx_snippet_act(m.store, "", item[0].id, DTX_SNIPPET_APPROVE, "etl", NULL, NULL),
	     NULL);
	T_OK(fallbackmake_run(&m, PLAN, CSV), &m.run.err);
	T_STR(dtx_buf_text(&m.events), "run.trigger:unknown_op run.cache:exact jail.end");
	T_INT(m.asked, 1);
	/* revoked: the same bytes stay refused */
	T_OK(dtx_snippet_act(m.store, "", item[0].id, DTX_SNIPPET_REVOKE, "etl", NULL, NULL), NULL);
	m.asked = 0;
	T_CODE(fallbackmake_run(&m, PLAN, CSV), DTX_E_SNIPPET_REVOKED, &m.run.err);
	dtx_arena_clear(&arena);
	fallbackmake_clear(&m);
}

static enum dtx_code person_yes(void *arg, const struct dtx_approval_view *view, bool *yes,
                                struct dtx_err *err)
{
	(void)err;
	++*(int *)arg;
	T_STR(view->op, "frob");
	T_CHECK(dtx_str_find(view->code, DTX_STR("def transform"), 0) >= 0);
	*yes = true;
	return DTX_OK;
}

void test_fallback_pending_is_asked_for(void)
{
	static const char *const answers[] = { MODULE("#ok\n"), NULL };
	struct fallbackmake m;
	int asked = 0;

	fallbackmake_init(&m, "ask");
	m.answer = answers;
	m.r.author = &m.author;
	m.r.gate.policy = DTX_APPROVE_REQUIRE;
	T_CODE(fallbackmake_run(&m, PLAN, CSV), DTX_E_NEEDS_APPROVAL, &m.run.err);
	m.r.gate = (struct dtx_approval){ DTX_APPROVE_ASK, "etl", person_yes, &asked };
	T_OK(fallbackmake_run(&m, PLAN, CSV), &m.run.err);
	T_STR(dtx_buf_text(&m.events),
	      "run.trigger:unknown_op run.cache:pending snippet.approved:etl jail.end");
	T_INT(asked, 1);
	fallbackmake_clear(&m);
}

/* No code runs before a person has approved it. */
void test_fallback_trial_off(void)
{
	static const char *const answers[] = { MODULE("#ok\n"), NULL };
	struct fallbackmake m;

	fallbackmake_init(&m, "trial");
	m.answer = answers;
	m.r.author = &m.author;
	m.r.trial_off = true;
	m.r.gate.policy = DTX_APPROVE_REQUIRE;
	T_CODE(fallbackmake_run(&m, PLAN, CSV), DTX_E_NEEDS_APPROVAL, &m.run.err);
	T_STR(dtx_buf_text(&m.events), ASKED "jail.end snippet.candidate snippet.pending:dtx");
	m.r.ns = "other";
	m.asked = 0;
	m.r.gate.policy = DTX_APPROVE_AUTO;
	T_OK(fallbackmake_run(&m, PLAN, CSV), &m.run.err);
	T_STR(dtx_buf_text(&m.events), ASKED "jail.end snippet.candidate snippet.pending:dtx "
	                                     "jail.end jail.end snippet.approved:policy:auto");
	fallbackmake_clear(&m);
}

/* --- the number of regions --- */

#define CAST ",{\"op\":\"derive\",\"set\":{\"m\":\"int(t)\"}}"

/* A step that needs a snippet only when rows come is one more region; if the limit is reached, the
 * run ends. */
void test_fallback_regions(void)
{
	static const char *const answers[] = { MODULE("#columns n m\n"),
		                               MODULE("#columns n m\n#x\n"), NULL };
	static const char csv[] = "k,t\na,x\nb,y\n";
	struct fallbackmake m;

	fallbackmake_init(&m, "regions");
	m.answer = answers;
	m.r.author = &m.author;
	T_OK(fallbackmake_run(&m,
	                      PLANCASE("{\"op\":\"filter\",\"where\":\"k <> 'z'\"}" CAST
	                               ",{\"op\":\"twist\"}"),
	                      csv),
	     &m.run.err);
	T_INT(m.asked, 2);
	m.max_regions = 1;
	m.asked = 0;
	m.r.ns = "other";
	T_CODE(fallbackmake_run(&m,
	                        PLANCASE("{\"op\":\"filter\",\"where\":\"k <> 'z'\"}" CAST
	                                 ",{\"op\":\"filter\",\"where\":\"true\"}"
	                                 ",{\"op\":\"twist\"}"),
	                        csv),
	       DTX_E_SNIPPET_CANNOT, &m.run.err);
	T_CHECK(strstr(m.run.err.msg, "the plan needs a snippet in more than 1 part"));
	m.asked = 0;
	T_CODE(fallbackmake_run(&m,
	                        PLANCASE("{\"op\":\"twist\"},{\"op\":\"filter\",\"where\":\"true\"}"
	                                 ",{\"op\":\"twist\"}"),
	                        csv),
	       DTX_E_SNIPPET_CANNOT, &m.run.err);
	T_STR(m.run.err.msg, "the plan needs a snippet in more than 1 part");
	T_INT(m.asked, 0); /* the limit is noticed before there is anything to ask */
	fallbackmake_clear(&m);
}

/* An answer that the run does not use in the end was not tested by any step, so it waits for a
 * person. */
void test_fallback_dropped(void)
{
	static const char *const answers[] = { MODULE("#ok\n"), MODULE("#ok\n#x\n"), NULL };
	struct fallbackmake m;

	fallbackmake_init(&m, "dropped");
	m.answer = answers;
	m.r.author = &m.author;
	m.dropped = 1;
	T_OK(fallbackmake_run(
		     &m,
		     PLANCASE(FROB ",{\"op\":\"filter\",\"where\":\"n > 1\"},{\"op\":\"twist\"}"),
		     CSV),
	     &m.run.err);
	T_INT(m.asked, 2);
	/* the second is approved; the first is approved neither when the second is asked for nor in
	 * the end */
	T_STR(dtx_buf_text(&m.events),
	      ASKED RUNS " snippet.candidate run.trigger:unknown_op run.cache:none " SENT RUNS
	                 " snippet.candidate snippet.pending:dtx snippet.pending:dtx "
	                 "snippet.approved:policy:auto");
	fallbackmake_clear(&m);
}

/* Regions exist as long as their tables are used. */
void test_fallback_stands(void)
{
	struct dtx_regions r = { .n = 0 };
	struct dtx_err why = DTX_ERR_INIT;
	struct planrun p;

	planrun_init(&p, PLANCASE("{\"op\":\"limit\",\"n\":1}"), CSV);
	p.keep = true;
	T_OK(planrun(&p), &p.err);
	T_CHECK(dtx_regions_add(&r, p.parsed, DTX_FALLBACK_STEP, 0, &why, 4));
	T_CHECK(dtx_regions_add_input(&r, 0, &why, 4));
	T_INT((int)dtx_regions_stand(&r), 0);
	r.item[0].table = dtx_table_ref(p.result->output[0].table);
	r.item[1].table = dtx_table_ref(p.result->output[0].table);
	T_INT((int)dtx_regions_stand(&r), 3);
	dtx_regions_forget(&r);
	T_INT((int)dtx_regions_stand(&r), 2);
	r.item[1].broken = true;
	T_INT((int)dtx_regions_stand(&r), 0);
	dtx_regions_clear(&r);
	planrun_clear(&p);
}
