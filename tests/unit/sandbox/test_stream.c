/* Output of a worker: the first and the last bytes are kept. */
#include "tests/t.h"

#include <signal.h>

#include "sandbox/main/report.h"
#include "sandbox/main/stream.h"

/* Sends `n` bytes in pieces; returns what is kept of 0123456789012... */
static void check(size_t keep, size_t n, size_t piece)
{
	struct dtx_stream s;
	struct dtx_arena arena = DTX_ARENA_INIT;
	struct dtx_jail_stream out = { 0 };
	size_t head = keep - keep / 4, at, i, wrong = 0;

	dtx_stream_init(&s, keep);
	for (at = 0; at < n; at += piece) {
		char bytes[64];
		size_t len = DTX_MIN(piece, n - at);

		for (i = 0; i < len; i++)
			bytes[i] = (char)('0' + (at + i) % 10);
		dtx_stream_add(&s, bytes, len);
	}
	dtx_stream_report(&s, &arena, &out);
	T_INT(out.total, n);
	T_INT(out.kept, DTX_MIN(n, keep));
	T_INT(out.truncated, n > keep);
	for (i = 0; i < out.kept; i++) {
		size_t from = i < head || n <= keep ? i : n - out.kept + i;

		wrong += out.bytes[i] != (char)('0' + from % 10);
	}
	T_INT(wrong, 0);
	dtx_stream_clear(&s);
	dtx_arena_clear(&arena);
}

void test_stream_keeps_head_and_tail(void)
{
	static const size_t sizes[] = { 0, 1, 29, 30, 31, 39, 40, 41, 55, 100, 1000 };
	static const size_t pieces[] = { 1, 7, 13, 64 };
	size_t i, k;

	for (i = 0; i < DTX_COUNT(sizes); i++)
		for (k = 0; k < DTX_COUNT(pieces); k++)
			check(40, sizes[i], pieces[k]);
}

/* A far side reports how many bytes there were in all; for bytes that it did not send no memory is
 * used. */
void test_stream_shows_what_came_only(void)
{
	static const char bytes[31] = "0123456789012345678901234567890";
	struct dtx_stream s;
	struct dtx_arena arena = DTX_ARENA_INIT;
	struct dtx_jail_stream out = { 0 };

	dtx_stream_init(&s, 40);
	dtx_stream_add(&s, bytes, sizeof(bytes));
	s.total = (uint64_t)1 << 60;
	dtx_stream_report(&s, &arena, &out);
	T_INT(out.kept, sizeof(bytes));
	T_CHECK(out.truncated && !memcmp(out.bytes, bytes, sizeof(bytes)));
	dtx_stream_clear(&s);
	dtx_arena_clear(&arena);
}

static struct dtx_jail_report parse(const char *json, char bad[100])
{
	struct dtx_jail_report r;

	dtx_jail_report_init(&r);
	bad[0] = 0;
	dtx_report_parse(&r, dtx_str_of(json), bad, 100);
	return r;
}

void test_report_of_a_worker_is_hostile(void)
{
	static const char *const odd[] = {
		"",
		"[]",
		"{",
		"{\"exception\":5}",
		"{\"exception\":{\"type\":7,\"frames\":{}}}",
		"{\"us\":[1]}",
		"{\"us\":{\"exec\":-5}}",
		"{\"check\":[],\"notes\":\"x\"}",
		"{\"a\":[[[[[[[[[[[[1]]]]]]]]]]]]}",
		"{\"exception\":{\"line\":99999999999}}",
	};
	struct dtx_jail_report r;
	char bad[100];
	size_t i;

	for (i = 0; i < DTX_COUNT(odd); i++) {
		r = parse(odd[i], bad);
		T_CHECK(!r.check_json && !r.notes_json && r.us.exec == 0 && !r.exception.line);
		dtx_jail_report_clear(&r);
	}
	r = parse("{\"exception\":{\"type\":\"E\",\"message\":\"m\",\"line\":2,\"frames\":[{"
	          "\"line\":2,"
	          "\"function\":\"f\",\"text\":\"t\"},7]},\"bad\":\"why\",\"notes\":{\"a\": 1},"
	          "\"us\":{\"load\":1,\"exec\":2,\"store\":3}}",
	          bad);
	T_STR(r.exception.type, "E");
	T_INT(r.exception.nframes, 2);
	T_STR(r.exception.frame[0].text, "t");
	T_STR(bad, "why");
	T_STR(r.notes_json, "{\"a\":1}");
	T_INT(r.us.store, 3);
	dtx_jail_report_clear(&r);
}

/* A worker that the zygote killed because main was suspended was late; it did not crash. */
void test_report_of_an_end_that_was_late(void)
{
	static struct dtx_box b = { .dead = true, .has_exited = true, .exited.status = SIGKILL };
	struct dtx_jail_report r;

	dtx_jail_report_init(&r);
	b.spec.limits.wall_ms = b.spec.limits.cpu_ms = 1000;
	dtx_stream_init(&b.stream[0], 40);
	dtx_stream_init(&b.stream[1], 40);
	r.us.overdue = -1;
	dtx_report_outcome(&b, &r);
	T_INT(r.status, DTX_JAIL_SIGNALED);
	r.us.overdue = 1;
	dtx_report_outcome(&b, &r);
	T_INT(r.status, DTX_JAIL_TIMEOUT);
	dtx_stream_clear(&b.stream[0]);
	dtx_stream_clear(&b.stream[1]);
	dtx_jail_report_clear(&r);
}
