/* What the progress display of a run prints. */
#include "cli/progress.h"

#include "tests/t.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

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

void test_progress_many_files(void)
{
	static const char text[] =
		"{\"dtx\":1,\"inputs\":[{\"name\":\"main\"}],\"steps\":[{\"op\":\"limit\","
		"\"n\":1},{\"op\":\"sort\",\"by\":[\"a\"],\"out\":\"ranked\"}]}";
	struct dtx_ticker t = { .total = 4000000, .ninputs = 12 };
	struct dtx_errlist findings = DTX_ERRLIST_INIT;
	struct dtx_plan *plan = NULL;

	T_CHECK(dtx_plan_parse(dtx_str_of(text), NULL, &findings, &plan, NULL) == DTX_OK);
	t.plan = plan;
	atomic_store(&t.now.input, "in/may.csv");
	atomic_store(&t.now.readers, 3);
	atomic_store(&t.now.passed, 1000000);
	atomic_store(&t.now.reader_bytes, 2000000);
	atomic_store(&t.now.done, 5);
	atomic_store(&t.now.of, 10);
	expect(&t, 2000000000, "may.csv (3 of 12)  50%  1 MB/s  2 s");
	atomic_store(&t.now.step, 2);
	expect(&t, 4000000000, "may.csv (3 of 12)  50%  0 MB/s  step 2 (sort, out ranked)  4 s");
	t.how = DTX_PROGRESS_JSON;
	expect(&t, 4000000000,
	       "{\"progress\":{\"input\":\"in/"
	       "may.csv\",\"rows\":0,\"elapsed_ms\":4000,\"share\":0.5,"
	       "\"file\":3,\"files\":12,\"step\":2,\"op\":\"sort\"}}\n");
	t.how = DTX_PROGRESS_AUTO;
	plan->step[1].number = -1; /* not a step of the user */
	expect(&t, 4000000000, "may.csv (3 of 12)  50%  0 MB/s  4 s");
	dtx_plan_free(plan);
	dtx_errlist_clear(&findings);
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

/* Reads from the terminal until `text` has come, for at most ten seconds. */
static bool terminal_shows(int fd, const char *text, struct dtx_buf *seen)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char bytes[256];

	while (!strstr(dtx_buf_text(seen), text)) {
		ssize_t n = poll(&p, 1, 10000) == 1 ? read(fd, bytes, sizeof(bytes)) : -1;

		if (n <= 0)
			return false;
		dtx_buf_addn(seen, bytes, (size_t)n);
	}
	return true;
}

/* On a terminal a line appears and is removed at the end; elsewhere nothing is printed. */
void test_progress_on_a_terminal(void)
{
	struct dtx_buf seen = DTX_BUF_INIT(1 << 16);
	struct dtx_cli cli = { .quiet = false };
	struct dtx_ticker t = { .running = false };
	int pty = posix_openpt(O_RDWR | O_NOCTTY), kept = dup(STDERR_FILENO), tty, none;

	T_CHECK(pty >= 0 && !grantpt(pty) && !unlockpt(pty));
	tty = open(ptsname(pty), O_RDWR | O_NOCTTY);
	none = open("/dev/null", O_WRONLY);
	dup2(none, STDERR_FILENO);
	dtx_ticker_start(&t, &cli, DTX_PROGRESS_AUTO, "a.csv");
	dup2(tty, STDERR_FILENO);
	T_CHECK(!t.running);
	dtx_ticker_start(&t, &cli, DTX_PROGRESS_AUTO, "a.csv");
	T_CHECK(t.running);
	T_CHECK(terminal_shows(pty, "a.csv", &seen));
	dtx_ticker_hold(&t, true); /* a question is asked: the line is removed, and stays so */
	T_CHECK(!t.shown);
	T_CHECK(write(tty, "sure?", 5) == 5 && terminal_shows(pty, "\r\033[Ksure?", &seen));
	dtx_buf_reset(&seen);
	dtx_ticker_hold(&t, false);
	T_CHECK(terminal_shows(pty, "a.csv", &seen));
	dtx_ticker_stop(&t);
	T_CHECK(t.shown);
	T_CHECK(write(tty, "end", 3) == 3 && terminal_shows(pty, "\r\033[Kend", &seen));
	dup2(kept, STDERR_FILENO);
	close(tty);
	close(none);
	close(kept);
	close(pty);
	dtx_buf_clear(&seen);
}
