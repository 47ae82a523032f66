/* Regions that end before a snippet runs: no store, a replay without its code, another run that
 * asks for the same, names and limits that do not fit. */
#include "core/fallback/adapter.h"
#include "core/fallback/retry.h"
#include "tests/tables.h"
#include "tests/unit/fallbackmake.h"

void test_fallback_without_a_store(void)
{
	struct fallbackmake m;

	fallbackmake_init(&m, "none");
	m.r.store = NULL;
	T_CODE(fallbackmake_run(&m, PLAN, CSV), DTX_E_STORE_IO, &m.run.err);
	T_STR(m.run.err.msg, "a snippet runs only where a store keeps the record of the run");
	fallbackmake_clear(&m);
}

void test_fallback_replay_without_its_code(void)
{
	json_t *recorded = json_pack("[{ss ss s{ss}}]", "pointer", "/steps/0", "cell_id",
	                             "0123456789abcdef", "cell", "state", "active");
	struct fallbackmake m;

	fallbackmake_init(&m, "lost");
	m.r.recorded = recorded;
	T_CODE(fallbackmake_run(&m, PLAN, CSV), DTX_E_STORE_IO, &m.run.err);
	T_STR(m.run.err.msg, "the code of snippet 01234567 is not in the store");
	T_INT(m.jailed, 0);
	fallbackmake_clear(&m);
	json_decref(recorded);
}

static bool at_once(void *arg)
{
	(void)arg;
	return true;
}

/* While one run asks the author, another run asks for the same and is cancelled. */
static enum dtx_code ask_meanwhile(const struct dtx_author *a, const struct dtx_author_ask *ask,
                                   struct dtx_author_answer *out, struct dtx_err *err)
{
	struct fallbackmake *m = a->pause_arg, other;

	(void)ask;
	fallbackmake_init(&other, "same");
	other.r.author = &other.author;
	other.r.cancelled = at_once;
	T_CODE(fallbackmake_run(&other, PLAN, CSV), DTX_E_CANCELLED, &other.run.err);
	T_STR(other.run.err.msg, "cancelled while waiting for another run");
	T_INT(other.asked, 0);
	fallbackmake_clear(&other);
	fallbackmake_use(m);
	m->asked++;
	dtx_buf_add(&out->text, MODULE("#ok\n"));
	(void)err;
	return DTX_OK;
}

void test_fallback_waits_for_another_run(void)
{
	struct fallbackmake m;

	fallbackmake_init(&m, "same");
	m.author.ask = ask_meanwhile;
	m.r.author = &m.author;
	T_OK(fallbackmake_run(&m, PLAN, CSV), &m.run.err);
	T_INT(m.asked, 1);
	fallbackmake_clear(&m);
}

void test_adapter_refuses(void)
{
	static const char *const bad[] = { "a", "=b", "a=" };
	struct dtx_table *t = t_table("have:int,need:int", "1,2\n"), *got = NULL;
	json_t *adapter = json_pack("{ss}", "need", "have");
	struct dtx_err err = DTX_ERR_INIT;
	char *text = NULL;

	for (size_t i = 0; i < DTX_COUNT(bad); i++) {
		T_CODE(dtx_adapter_make(&bad[i], 1, NULL, &text, &err), DTX_E_USAGE, &err);
		T_CHECK(strstr(err.msg, "option '--rename' takes NEED=HAVE, got '"));
	}
	T_CODE(dtx_adapter_table(adapter, t, &got, &err), DTX_E_NAME_COLLISION, &err);
	T_STR(err.msg, "'have' cannot be used as 'need': there already is a column of that name");
	T_CHECK(!text && !got);
	json_decref(adapter);
	dtx_table_unref(t);
	dtx_err_clear(&err);
}

/* With a limit on cost, an author that does not report its cost is asked only once. */
void test_budget_of_unknown_cost(void)
{
	struct dtx_budget b = { .cost = 1000 };
	struct dtx_err err = DTX_ERR_INIT;

	T_OK(dtx_budget_check(&b, 10, &err), &err);
	dtx_budget_spend(&b, 10, -1);
	T_CODE(dtx_budget_check(&b, 10, &err), DTX_E_AUTHOR_FAILED, &err);
	T_STR(err.msg, "the author did not say what the last answer cost, and --max-cost is set");
	T_STR(err.hint, "without --max-cost the tokens are counted, see --max-tokens");
	dtx_err_clear(&err);
}

/* A snippet for steps that read more tables than a jail can be given. */
void test_fallback_of_many_tables(void)
{
	struct dtx_buf plan = DTX_BUF_INIT(1 << 16);
	struct fallbackmake m;

	dtx_buf_add(&plan, "{\"dtx\":1,\"inputs\":[{\"name\":\"main\"}],\"steps\":[");
	for (int i = 0; i < 70; i++)
		dtx_buf_printf(&plan, "{\"op\":\"limit\",\"n\":1,\"in\":\"main\",\"out\":\"t%d\"},",
		               i);
	dtx_buf_add(&plan, "{\"op\":\"frob\",\"in\":\"t0\",\"with\":[\"t1\"");
	for (int i = 2; i < 70; i++)
		dtx_buf_printf(&plan,
		               i == 40 ? "]},{\"op\":\"frob\",\"with\":[\"t%d\"" : ",\"t%d\"", i);
	dtx_buf_add(&plan, "]}]}");
	fallbackmake_init(&m, "many");
	T_CODE(fallbackmake_run(&m, dtx_buf_text(&plan), CSV), DTX_E_PLAN_TOO_LARGE, &m.run.err);
	T_STR(m.run.err.msg, "a snippet reads at most 64 tables");
	T_STR(m.run.err.hint, "union or join some of them in a step before");
	fallbackmake_clear(&m);
	dtx_buf_clear(&plan);
}
