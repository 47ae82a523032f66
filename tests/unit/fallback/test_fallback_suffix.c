/* The fallback loop: results that the typed steps after a region cannot use. */
#include "tests/unit/fallbackmake.h"

#define CASTS PLANCASE(FROB ",{\"op\":\"derive\",\"set\":{\"m\":\"int(n)\"}}")
#define BROKE RUNS " snippet.candidate attempt.end:contract "

/* A result that they cannot use goes back to the author before anybody approves it. */
static const struct fallback_state suffixes[] = {
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
	/* it counts as an attempt like others: no more than are allowed, and not twice with the
	 * same failure */
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
	/* the author cannot be reached any more */
	{ CASTS,
	  { MODULE("#text x\n"), "!down" },
	  NULL,
	  DTX_E_AUTHOR_FAILED,
	  ASKED BROKE "author.sent author.got:failed",
	  0,
	  false,
	  false },
	/* if the run fails for another reason, a person decides about the code */
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

void test_fallback_suffix_states(void)
{
	size_t i;

	for (i = 0; i < DTX_COUNT(suffixes); i++)
		fallbackmake_state(&suffixes[i], 100 + i);
}

/* The next prompt contains the error, but no cell. */
void test_fallback_suffix_prompt(void)
{
	static const char *const answers[] = { MODULE("#text Zanzibar\n"), MODULE("#ok\n"), NULL };
	static const char *const canary[] = { "Kwyjibo" };
	struct fallbackmake m;
	const char *at;

	fallbackmake_init(&m, "suffixprompt");
	m.answer = answers;
	m.r.author = &m.author;
	T_OK(fallbackmake_run(&m, CASTS, "k,v\nKwyjibo,1\n"), &m.run.err);
	T_STR(dtx_buf_text(&m.run.out), "n,m\n10,10\n11,11\n");
	at = strstr(dtx_buf_text(&m.last_prompt), "This module failed: contract.");
	T_CHECK(at && strstr(at, "cast_failed") &&
	        strstr(at, "{\"op\":\"derive\",\"set\":[{\"as\":\"m\",\"expr\":\"int(n)\"}]}"));
	fallbackmake_lacks(&m, canary, 1);
	fallbackmake_clear(&m);
}

/* An approved snippet whose result no longer fits: it is repaired, or the run ends. */
void test_fallback_suffix_of_cached(void)
{
	static const char *const answers[] = { MODULE("#text 7\n"), MODULE("#ok\n"), NULL };
	static const char plan[] = PLANCASE(FROB ",{\"op\":\"derive\",\"set\":{\"m\":\"int(n)\"}},"
	                                         "{\"op\":\"derive\",\"set\":{\"o\":\"date(n)\"}}");
	struct fallbackmake m;

	fallbackmake_init(&m, "suffixcached");
	m.answer = answers;
	m.r.author = &m.author;
	m.r.trial_off = true; /* approved before anything has run */
	m.r.cache_only = false;
	m.r.budget.attempts = 1;
	T_CODE(fallbackmake_run(&m, plan, CSV), DTX_E_SNIPPET_CONTRACT, &m.run.err);
	T_CHECK(strstr(m.run.err.msg, "step 3, 'derive', cannot use"));
	T_INT(m.run.err.step, 0);
	m.r.cache_only = true;
	T_CODE(fallbackmake_run(&m, plan, CSV), DTX_E_SNIPPET_CONTRACT, &m.run.err);
	T_STR(dtx_buf_text(&m.events),
	      "run.trigger:unknown_op run.cache:exact jail.end attempt.end:contract");
	fallbackmake_clear(&m);
}

/* A module given by hand fails, then an approved one fails: there is no other. */
void test_fallback_suffix_of_cached_behind_supplied(void)
{
	static const char *const answers[] = { MODULE("#text 7\n"), NULL };
	static const char *const given[] = { MODULE("#raise z\n"), MODULE("#text 8\n") };
	static const char plan[] =
		PLANCASE(FROB ",{\"op\":\"derive\",\"set\":{\"o\":\"date(n)\"}}");
	struct fallbackmake m;

	fallbackmake_init(&m, "suffixsupplied");
	m.answer = answers;
	m.r.author = &m.author;
	m.r.trial_off = true; /* approved before anything has run */
	m.r.budget.attempts = 1;
	T_CODE(fallbackmake_run(&m, plan, CSV), DTX_E_SNIPPET_CONTRACT, &m.run.err);
	m.r.author = NULL;
	m.r.trial_off = false;
	m.r.budget.attempts = 0;
	for (size_t i = 0; i < DTX_COUNT(given); i++) {
		const char *events;

		m.r.supplied = dtx_str_of(given[i]);
		T_CODE(fallbackmake_run(&m, plan, CSV), DTX_E_SNIPPET_CONTRACT, &m.run.err);
		events = strstr(dtx_buf_text(&m.events), "run.cache:exact ");
		T_STR(events ? events : dtx_buf_text(&m.events),
		      "run.cache:exact jail.end attempt.end:contract");
	}
	fallbackmake_clear(&m);
}

/* What a column has from before the snippet is not the fault of the snippet. */
void test_fallback_suffix_of_others(void)
{
	static const char *const answers[] = { MODULE("#columns n k\n#text x\n"),
		                               MODULE("#columns n m k\n"), NULL };
	struct fallbackmake m;

	fallbackmake_init(&m, "suffixothers");
	m.answer = answers;
	m.r.author = &m.author;
	T_OK(fallbackmake_run(&m, PLANCASE(FROB ",{\"op\":\"derive\",\"set\":{\"m\":\"int(k)\"}}"),
	                      CSV),
	     &m.run.err);
	T_CHECK(strstr(dtx_buf_text(&m.events), "run.trigger:cast_failed"));
	T_CHECK(!strstr(dtx_buf_text(&m.events), "attempt.end"));
	fallbackmake_clear(&m);
}
