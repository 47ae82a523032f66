/* The even sample of rows that the charts of a report are drawn from. */
#include "core/plan/exec/stats/colsample.h"
#include "tests/t.h"
#include "tests/unit/planrun.h"

/* The canonical statistics of a table that is read in batches of this many rows. */
static void stats_by(const char *plan, const char *csv, uint32_t batch_rows, struct dtx_buf *out)
{
	struct planrun p;
	struct dtx_colsample s;
	const struct dtx_table *t;
	json_t *stats;

	planrun_init(&p, plan, csv);
	p.batch_rows = batch_rows;
	p.workers = 2;
	p.keep = true;
	T_OK(planrun(&p), &p.err);
	t = p.result->output[0].table;
	T_OK(dtx_colsample_init(&s, t->schema, NULL), NULL);
	for (size_t i = 0; i < t->nbatches; i++)
		T_OK(dtx_colsample_batch(&s, t->batch[i], NULL), NULL);
	stats = dtx_colsample_json(&s);
	dtx_buf_reset(out);
	dtx_json_canonical(stats, out);
	json_decref(stats);
	dtx_colsample_clear(&s);
	planrun_clear(&p);
}

static void stats_of(const char *csv, uint32_t batch_rows, struct dtx_buf *out)
{
	stats_by(PLANCASE("{\"op\":\"filter\",\"where\":\"true\"}"), csv, batch_rows, out);
}

void test_colsample_kinds(void)
{
	struct dtx_buf out = DTX_BUF_INIT(10000);

	stats_of("n,d,b,t,e\n1,2024-01-01,true,x,\n9,2024-01-03,false,,\n-3,,true,y,\n", 0, &out);
	T_STR(dtx_buf_text(&out),
	      "[{\"bars\":[1,0,1,0,0,0,1],\"kind\":\"number\",\"low\":\"-4\",\"name\":"
	      "\"n\","
	      "\"nulls\":0,\"rows\":3,\"width\":\"2\"},"
	      "{\"bars\":[1,0,1],\"kind\":\"day\",\"low\":\"19723\",\"name\":\"d\",\"nulls\":1,"
	      "\"rows\":3,\"width\":\"1\"},"
	      "{\"bars\":[1,2],\"kind\":\"bool\",\"name\":\"b\",\"nulls\":0,\"rows\":3},"
	      "{\"bars\":[1,1],\"distinct\":2,\"kind\":\"text\",\"name\":\"t\",\"nulls\":1,"
	      "\"rows\":3},{\"name\":\"e\",\"nulls\":3,\"rows\":3}]");
	/* the most common value first */
	stats_of("t\na\nb\nb\nc\nb\nc\n", 0, &out);
	T_CHECK(strstr(dtx_buf_text(&out), "\"bars\":[3,2,1],\"distinct\":3") != NULL);
	/* one value; no row at all */
	stats_of("n\n40\n40\n", 0, &out);
	T_CHECK(strstr(dtx_buf_text(&out), "\"bars\":[2]") != NULL);
	stats_of("n\n", 0, &out);
	T_STR(dtx_buf_text(&out), "[{\"name\":\"n\",\"nulls\":0,\"rows\":0}]");
	dtx_buf_clear(&out);
}

/* The sample has the same rows whatever the size of batches. */
void test_colsample_batches(void)
{
	struct dtx_buf csv = DTX_BUF_INIT(1 << 20), one = DTX_BUF_INIT(10000),
		       other = DTX_BUF_INIT(10000);

	dtx_buf_add(&csv, "n,m\n");
	for (int i = 0; i < 5000; i++)
		dtx_buf_printf(&csv, "%d,%s\n", i * 7 % 5000, i % 3 ? "1.5" : "");
	stats_of(dtx_buf_text(&csv), 1, &one);
	stats_of(dtx_buf_text(&csv), 7, &other);
	T_STR(dtx_buf_text(&other), dtx_buf_text(&one));
	stats_of(dtx_buf_text(&csv), 65536, &other);
	T_STR(dtx_buf_text(&other), dtx_buf_text(&one));
	T_CHECK(strstr(dtx_buf_text(&one), "\"rows\":313") != NULL);
	dtx_buf_clear(&csv);
	dtx_buf_clear(&one);
	dtx_buf_clear(&other);
}

/* Cells that no step has converted are read as their field says. */
void test_colsample_written(void)
{
	struct dtx_buf out = DTX_BUF_INIT(10000);

	stats_by("{\"dtx\":1,\"inputs\":[{\"name\":\"main\",\"dialect\":{\"decimal\":\",\","
	         "\"group\":\".\"},"
	         "\"types\":{\"x\":\"float\",\"k\":\"int\",\"b\":\"bool\","
	         "\"d\":{\"type\":\"date\",\"format\":\"%d.%m.%Y\"}}}],"
	         "\"steps\":[{\"op\":\"filter\",\"where\":\"true\"}]}",
	         "x;k;b;d\n1,5; 1.000;TRUE;31.12.2024\n2,5;2.000;0;01.01.2025\n;;;\n", 0, &out);
	T_STR(dtx_buf_text(&out),
	      "[{\"bars\":[1,0,0,0,0,0,0,0,0,0,1],\"kind\":\"number\",\"low\":\"1.5\",\"name\":"
	      "\"x\",\"nulls\":1,\"rows\":3,\"width\":\"0.1\"},"
	      "{\"bars\":[1,0,0,0,0,0,0,0,0,0,1],\"kind\":\"number\",\"low\":\"1000\",\"name\":"
	      "\"k\",\"nulls\":1,\"rows\":3,\"width\":\"100\"},"
	      "{\"bars\":[1,1],\"kind\":\"bool\",\"name\":\"b\",\"nulls\":1,\"rows\":3},"
	      "{\"bars\":[1,1],\"kind\":\"day\",\"low\":\"20088\",\"name\":\"d\",\"nulls\":1,"
	      "\"rows\":3,\"width\":\"1\"}]");
	dtx_buf_clear(&out);
}

/* Samples of parts of the rows, one after the other, make a sample of all: even, of rows of which
 * each is at most one step of its part before the one that is due. */
void test_colsample_parts(void)
{
	static const uint64_t part[] = { 3, 100000, 700, 1, 40000, 5 };
	struct dtx_field field = { .name = "n", .type = { .type = DTX_T_INT64 } };
	const struct dtx_schema schema = { .field = &field, .nfields = 1 };
	struct dtx_colsample all;
	uint64_t base = 0;

	T_OK(dtx_colsample_init(&all, &schema, NULL), NULL);
	for (size_t i = 0; i < DTX_COUNT(part); i++) {
		double value[DTX_COLSAMPLE_ROWS];
		uint64_t step = 1;
		uint32_t n = 0;

		while ((part[i] - 1) / step >= DTX_COLSAMPLE_ROWS)
			step *= 2;
		for (uint64_t row = 0; row < part[i]; row += step)
			value[n++] = (double)(base + row);
		dtx_colsample_add(&all, value, n, step, part[i]);
		base += part[i];
	}
	T_INT((int64_t)all.seen, (int64_t)base);
	T_INT((int64_t)all.step, 512);
	T_INT(all.n, (int64_t)(base + 511) / 512);
	for (uint32_t i = 0; i < all.n; i++) {
		double due = 512.0 * i;

		T_CHECK(all.value[i] <= due && all.value[i] > due - 256);
	}
	dtx_colsample_clear(&all);
}
