/* Every operation's own examples over long tables: the same bytes for any number of workers and
 * rows in a batch, with memory and without, where everything that can waits on disk. */
#include "tests/unit/planrun.h"

/* A sanitizer build runs one example of each op; the plain build runs all of them. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define FEW true
#else
#define FEW false
#endif

#define ROWS    4500u /* more groups than fit into memory when it is short */
#define LIMIT   ((size_t)256 << 20)
#define BALLAST ((size_t)230 << 20) /* more than 7 / 8 of the budget */

static void add_line(struct dtx_buf *out, const char *line, size_t n, unsigned turn, bool vary)
{
	static const char digits[] = "0123456789";
	size_t i = 0;

	/* the first whole number of the line grows, so that numeric keys are new keys */
	while (vary && i < n) {
		size_t word = strspn(line + i, digits), end = i + word;

		if (word && word < 6 && (i == 0 || line[i - 1] == ',') &&
		    (end == n || line[end] == ',')) {
			dtx_buf_addn(out, line, i);
			dtx_buf_printf(out, "%lld", atoll(line + i) + 3LL * turn);
			dtx_buf_addn(out, line + end, n - end);
			return;
		}
		i = end + strcspn(line + end, ",");
		i += i < n;
		if (i > n)
			break;
	}
	dtx_buf_addn(out, line, n);
}

/* Repeats the rows of the example.  False: it has none. */
static bool lengthen(const char *csv, unsigned lines, bool vary, struct dtx_buf *out)
{
	const char *rows = csv ? strchr(csv, '\n') : NULL;
	unsigned made = 0;

	if (!rows || !*++rows)
		return false;
	dtx_buf_addn(out, csv, (size_t)(rows - csv));
	for (unsigned turn = 0; made < lines; turn++)
		for (const char *line = rows; *line; made++) {
			size_t n = strcspn(line, "\n");

			add_line(out, line, n, turn, vary);
			dtx_buf_addc(out, '\n');
			line += n + (line[n] == '\n');
		}
	return true;
}

struct way {
	unsigned workers;
	uint32_t batch;
	bool tight;
};

/* Bytes that went to disk. */
static int64_t run_way(struct planrun *p, const char *plan, const char *in, const char *with,
                       struct way way)
{
	size_t ballast = way.tight ? BALLAST : 0;
	int64_t spilled = 0;

	planrun_init(p, plan, in);
	p->input[1] = with;
	p->workers = way.workers;
	p->batch_rows = way.batch;
	p->keep = true;
	T_CHECK(dtx_mem_charge(ballast));
	dtx_mem_set_limit(way.tight ? LIMIT : 0);
	if (planrun(p) == DTX_OK)
		spilled = p->result->step[0].spilled;
	dtx_mem_set_limit(0);
	dtx_mem_discharge(ballast);
	return spilled;
}

static int64_t compare_ways(const struct dtx_op *op, const struct dtx_example *e, const char *in,
                            size_t nways)
{
	static const struct way ways[] = { { 8, 7, false }, { 1, 65536, true }, { 2, 500, true } };
	struct dtx_buf plan = DTX_BUF_INIT(1 << 20);
	struct planrun first, other;
	int64_t spilled = 0;

	dtx_buf_printf(&plan, "{\"dtx\":1,\"inputs\":[{\"name\":\"main\"}%s],\"steps\":[%s]}",
	               e->with ? ",{\"name\":\"other\"}" : "", e->step);
	run_way(&first, dtx_buf_text(&plan), in, e->with, (struct way){ 1, 65536, false });
	T_CHECK(dtx_buf_ok(&first.out));
	for (size_t i = 0; i < DTX_MIN(nways, DTX_COUNT(ways)); i++) {
		spilled += run_way(&other, dtx_buf_text(&plan), in, e->with, ways[i]);
		if (other.err.code != first.err.code ||
		    strcmp(dtx_buf_text(&first.out), dtx_buf_text(&other.out)) != 0)
			t_fail(__FILE__, __LINE__,
			       "%s: %s: %s, then %s (%s) with %u workers, %u rows%s", op->name,
			       e->step, dtx_code_name(first.err.code),
			       dtx_code_name(other.err.code), other.err.msg, ways[i].workers,
			       (unsigned)ways[i].batch, ways[i].tight ? ", no memory" : "");
		planrun_clear(&other);
	}
	planrun_clear(&first);
	dtx_buf_clear(&plan);
	return spilled;
}

void test_ops_examples_long(void)
{
	/* the results of these grow with the length of their tables, or with what a cell says */
	static const char grow[] = "transpose,dummies,repeat";
	unsigned spilled = 0;

	for (size_t i = 0; dtx_ops[i]; i++) {
		unsigned lines = dtx_str_in_list(grow, dtx_ops[i]->name) ? 60 : ROWS;
		int64_t bytes = 0;
		bool done = false;

		for (size_t k = 0; k < dtx_ops[i]->nexamples; k++)
			for (int vary = 0; vary < 2; vary++) {
				const struct dtx_example *e = &dtx_ops[i]->examples[k];
				struct dtx_buf in = DTX_BUF_INIT(1 << 20);

				if (!e->error && !(FEW && (done || !vary)) &&
				    (done = lengthen(e->in, lines, vary, &in)))
					bytes += compare_ways(dtx_ops[i], e, dtx_buf_text(&in),
					                      vary ? 3 : 1);
				dtx_buf_clear(&in);
			}
		spilled += bytes != 0;
	}
	T_CHECK(spilled >= (FEW ? 30 : 40));
}
