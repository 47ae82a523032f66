/* What a look at a run prints. */
#include "cli/progress.h"

#include "tests/t.h"

static void expect(const struct dtx_ticker *t, int64_t elapsed, const char *want)
{
	struct dtx_buf b = DTX_BUF_INIT(4096);

	dtx_ticker_line(t, elapsed, &b);
	T_STR(dtx_buf_text(&b), want);
	dtx_buf_clear(&b);
}

void test_progress_line(void)
{
	struct dtx_ticker t = { .first = "in/book.xlsx" };

	expect(&t, 1200000000, "book.xlsx  1 s");
	atomic_store(&t.now.input, "in/sales.csv");
	atomic_store(&t.now.rows, 1900000);
	atomic_store(&t.now.done, 62);
	atomic_store(&t.now.of, 100);
	atomic_store(&t.now.bytes, 1000000000);
	expect(&t, 2000000000, "sales.csv  62%  1.9 M rows  310 MB/s  2 s");
	atomic_store(&t.now.done, 120);
	expect(&t, 5000000000, "sales.csv  100%  1.9 M rows  5 s");
	atomic_store(&t.now.of, 0);
	atomic_store(&t.now.rows, 7);
	expect(&t, 5000000000, "sales.csv  7 rows  5 s");
}

void test_progress_json(void)
{
	struct dtx_ticker t = { .how = DTX_PROGRESS_JSON };

	expect(&t, 1500000000, "{\"progress\":{\"input\":null,\"rows\":0,\"elapsed_ms\":1500}}\n");
	atomic_store(&t.now.input, "a.csv");
	atomic_store(&t.now.of, 4);
	atomic_store(&t.now.done, 1);
	expect(&t, 2000000000,
	       "{\"progress\":{\"input\":\"a.csv\",\"rows\":0,\"elapsed_ms\":2000,\"share\":0.25}}"
	       "\n");
}

void test_progress_thread_ends_at_once(void)
{
	struct dtx_cli cli = { .quiet = true };
	struct dtx_ticker t = { .running = false };

	dtx_ticker_start(&t, &cli, DTX_PROGRESS_JSON, "a.csv");
	T_CHECK(t.running);
	dtx_ticker_stop(&t);
	T_CHECK(!t.running && !t.shown);
	dtx_ticker_start(&t, &cli, DTX_PROGRESS_AUTO, "a.csv");
	T_CHECK(!t.running);
	dtx_ticker_stop(&t);
}
