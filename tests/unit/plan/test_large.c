/* Tables of many batches: results are made in parts, and do not depend on the number of workers. */
#include "tests/unit/planrun.h"

#include <stdlib.h>

#define ROWS 140000u

/* k: 0..996; v: up to six digits with ties; t: a text that is longer than the 16 bytes of a sort
 * key. */
static void large_table(struct dtx_buf *csv)
{
	dtx_buf_init(csv, (size_t)1 << 30);
	dtx_buf_add(csv, "i,k,v,t\n");
	for (uint32_t i = 0; i < ROWS; i++) {
		uint32_t x = i * 2654435761u;

		dtx_buf_printf(csv, "%u,%u,%u.5,a text of some length %u\n", i, x % 997,
		               (x >> 8) % 50000, (x >> 12) % 70000);
	}
}

static void run_large(const char *plan, struct dtx_buf *csv, unsigned workers, struct dtx_buf *out)
{
	struct planrun p;

	planrun_init(&p, plan, dtx_buf_text(csv));
	p.workers = workers;
	T_OK(planrun(&p), &p.err);
	dtx_buf_reset(out);
	dtx_buf_adds(out, (struct dtx_str){ p.out.ptr, p.out.len });
	planrun_clear(&p);
}

static const char *const large_plans[] = {
	PLANCASE("{\"op\":\"sort\",\"by\":[\"-v\"]}"),
	PLANCASE("{\"op\":\"sort\",\"by\":[\"t\",\"k\"]},{\"op\":\"derive\",\"set\":{\"n\":\"i+1\"}"
	         "}"),
	PLANCASE("{\"op\":\"sort\",\"by\":[\"k\"],\"limit\":70000}"),
	PLANCASE("{\"op\":\"group_by\",\"by\":[\"v\",\"t\"],\"agg\":{\"n\":\"count()\",\"s\":\"sum("
	         "k)\"}}"),
	/* small partitions, and one that has all rows; long sort keys */
	PLANCASE("{\"op\":\"window\",\"by\":[\"k\"],\"order\":[\"t\",\"-v\"],\"set\":{\"r\":\"rank("
	         ")\",\"n\":"
	         "\"row_number()\"}}"),
	PLANCASE("{\"op\":\"window\",\"order\":[\"v\"],\"set\":{\"r\":\"rank()\",\"l\":\"lag(i)\"}"
	         "}"),
	PLANCASE("{\"op\":\"window\",\"by\":[\"k\"],\"set\":{\"s\":\"sum(v)\",\"f\":\"first(t)\","
	         "\"m\":\"median(v)"
	         "\"}}"),
	PLANCASE("{\"op\":\"top\",\"n\":40,\"expr\":\"v\",\"by\":[\"k\"]}"),
	PLANCASE("{\"op\":\"top\",\"n\":2,\"expr\":\"t\",\"by\":[\"k\"],\"ties\":\"all\"}"),
	PLANCASE("{\"op\":\"derive\",\"set\":{\"c\":\"k % 7\",\"d\":\"k // "
	         "7\"}},{\"op\":\"pivot_wider\","
	         "\"id\":[\"d\"],\"names_from\":[\"c\"],\"values_from\":[\"v\",\"t\"],\"agg\":"
	         "\"last\"}"),
	PLANCASE("{\"op\":\"derive\",\"set\":{\"c\":\"k % "
	         "7\"}},{\"op\":\"crosstab\",\"rows\":[\"k\"],\"cols\":[\"c\"],\"values\":\"v\","
	         "\"agg\":\"sum\"}"),
	/* shared work again, after a map that needs order */
	PLANCASE("{\"op\":\"distinct\",\"cols\":[\"v\"]},{\"op\":\"derive\",\"set\":{\"w\":\"v * "
	         "2\"}},{\"op\":\"pivot_longer\",\"cols\":[\"v\",\"w\"]}"),
	PLANCASE("{\"op\":\"distinct\",\"cols\":[\"v\"]},{\"op\":\"group_by\",\"by\":[\"k\"],"
	         "\"agg\":{\"n\":\"count()\",\"f\":\"first(t)\"}}"),
	PLANCASE("{\"op\":\"distinct\",\"cols\":[\"v\"]},{\"op\":\"limit\",\"n\":40000},{\"op\":"
	         "\"pivot_longer\",\"cols\":[\"i\",\"v\"]},{\"op\":\"filter\",\"where\":\"k != "
	         "3\"}"),
	PLANCASE("{\"op\":\"distinct\",\"cols\":[\"v\"]},{\"op\":\"sort\",\"by\":[\"t\"]},{\"op\":"
	         "\"distinct\",\"cols\":[\"k\"]}"),
	/* nearly as many groups as rows */
	PLANCASE("{\"op\":\"window\",\"by\":[\"t\",\"k\"],\"order\":[\"v\"],\"set\":{\"r\":\"rank()"
	         "\"}}"),
};

/* A sanitizer build runs some of the plans; the plain build runs all of them. */
#if defined(__SANITIZE_ADDRESS__)
#define EVERY 3
#else
#define EVERY 1
#endif

void test_large_same_for_any_workers(void)
{
	static const unsigned workers[] = { 3 };
	struct dtx_buf csv, one = DTX_BUF_INIT((size_t)1 << 30),
			    many = DTX_BUF_INIT((size_t)1 << 30);

	large_table(&csv);
	for (size_t i = 0; i < DTX_COUNT(large_plans); i += EVERY) {
		run_large(large_plans[i], &csv, 1, &one);
		T_CHECK(one.len > 4000);
		for (size_t k = 0; k < DTX_COUNT(workers); k++) {
			run_large(large_plans[i], &csv, workers[k], &many);
			T_CHECK(one.len == many.len && !memcmp(one.ptr, many.ptr, one.len));
		}
	}
	dtx_buf_clear(&csv);
	dtx_buf_clear(&one);
	dtx_buf_clear(&many);
}

/* The second column is in descending order, and equal rows keep the order of the first. */
void test_large_sort_is_stable(void)
{
	struct dtx_buf csv, out = DTX_BUF_INIT((size_t)1 << 30);
	double last = 1e9;
	unsigned long last_i = 0, rows = 0;

	large_table(&csv);
	run_large(large_plans[0], &csv, 2, &out);
	for (const char *at = strchr(dtx_buf_text(&out), '\n') + 1; *at; rows++) {
		char *end;
		unsigned long i = strtoul(at, &end, 10);
		double v = strtod(strchr(end + 1, ',') + 1, NULL);

		if (v > last || (v == last && i < last_i))
			break;
		last = v;
		last_i = i;
		at = strchr(at, '\n') + 1;
	}
	T_INT(rows, ROWS);
	dtx_buf_clear(&csv);
	dtx_buf_clear(&out);
}

/* A failure after a limit is reached does not remove the rows before it, which are still on their
 * way at that time. */
void test_large_fails_behind_a_limit(void)
{
	struct dtx_buf csv;
	struct planrun p;
	size_t rows = 0;

	large_table(&csv);
	planrun_init(&p,
	             PLANCASE("{\"op\":\"derive\",\"set\":{\"x\":\"int(if(i = 50000, 'x', "
	                      "'1'))\"}},{\"op\":\"limit\",\"n\":40000},{\"op\":\"derive\",\"set\":"
	                      "{\"y\":\"levenshtein(t, repeat(t, 3))\"}}"),
	             dtx_buf_text(&csv));
	p.workers = 4;
	p.batch_rows = 500;
	T_OK(planrun(&p), &p.err);
	for (size_t i = 0; i < p.out.len; i++)
		rows += p.out.ptr[i] == '\n';
	T_INT(rows, 40001);
	planrun_clear(&p);
	dtx_buf_clear(&csv);
}
