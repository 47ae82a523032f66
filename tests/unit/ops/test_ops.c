/* Every operation's own examples, with every batch size and number of workers; and what every
 * operation must handle: empty and one-row tables, failing allocations. */
#include "sandbox/role.h"
#include "tests/unit/planrun.h"

static const uint32_t batches[] = { 1, 7, 65536 };
static const unsigned workers[] = { 1, 2, 8 };

static void example_plan(const struct dtx_example *e, struct dtx_buf *out)
{
	dtx_buf_add(out, "{\"dtx\":1,\"inputs\":[{\"name\":\"main\"}");
	if (e->with)
		dtx_buf_add(out, ",{\"name\":\"other\"}");
	dtx_buf_printf(out, "],\"steps\":[%s]}", e->step);
}

static void example_run(const struct dtx_op *op, const struct dtx_example *e, const char *plan,
                        uint32_t batch, unsigned nworkers)
{
	enum dtx_code want = e->error ? dtx_code_find(e->error) : DTX_OK, got;
	struct planrun p;

	planrun_init(&p, plan, e->in);
	p.input[1] = e->with;
	p.batch_rows = batch;
	p.workers = nworkers;
	p.keep = true;
	got = planrun(&p);
	if (got != DTX_OK)
		got = p.err.code;
	T_CODE(got, want, &p.err);
	if (got != want)
		t_fail(__FILE__, __LINE__, "%s: %s", op->name, e->step);
	T_STR(got != DTX_OK ? p.err.msg : "", e->error ? e->message : "");
	if (got == DTX_OK && e->out) {
		T_STR(dtx_buf_text(&p.out), e->out);
		if (strcmp(dtx_buf_text(&p.out), e->out) != 0)
			t_fail(__FILE__, __LINE__, "%s: %s, batches of %u, %u workers", op->name,
			       e->step, (unsigned)batch, nworkers);
	}
	planrun_clear(&p);
}

void test_ops_examples(void)
{
	for (size_t i = 0; dtx_ops[i]; i++)
		for (size_t k = 0; k < dtx_ops[i]->nexamples; k++) {
			const struct dtx_example *e = &dtx_ops[i]->examples[k];
			struct dtx_buf plan = DTX_BUF_INIT(1 << 20);

			example_plan(e, &plan);
			for (size_t b = 0; b < DTX_COUNT(batches); b++)
				for (size_t w = 0; w < DTX_COUNT(workers); w++) {
					/* a sanitizer build has each size and number once */
					if (DTX_SANITIZED && w != (b + k) % DTX_COUNT(workers))
						continue;
					example_run(dtx_ops[i], e, dtx_buf_text(&plan), batches[b],
					            workers[w]);
				}
			dtx_buf_clear(&plan);
		}
}

/* Only the first line, or the first two, of the example's tables. */
static void shorten(const char *csv, int lines, char *out, size_t size)
{
	size_t n = 0;

	for (; csv && csv[n] && lines > 0 && n + 1 < size; n++) {
		out[n] = csv[n];
		lines -= csv[n] == '\n';
	}
	out[n] = '\0';
}

static const char *short_run(const struct dtx_example *e, int lines, unsigned nworkers,
                             struct planrun *p)
{
	static char in[4096], with[4096];
	struct dtx_buf plan = DTX_BUF_INIT(1 << 20);
	enum dtx_code rc;

	example_plan(e, &plan);
	shorten(e->in, lines, in, sizeof(in));
	shorten(e->with, lines, with, sizeof(with));
	planrun_init(p, dtx_buf_text(&plan), in);
	p->input[1] = e->with ? with : NULL;
	p->workers = nworkers;
	p->batch_rows = 7;
	rc = planrun(p);
	dtx_buf_clear(&plan);
	return dtx_code_name(rc);
}

void test_ops_short_tables(void)
{
	for (size_t i = 0; dtx_ops[i]; i++)
		for (size_t k = 0; k < dtx_ops[i]->nexamples; k++)
			for (int lines = 1; lines <= 2; lines++) {
				const struct dtx_example *e = &dtx_ops[i]->examples[k];
				struct planrun one, eight;

				T_STR(short_run(e, lines, 1, &one), short_run(e, lines, 8, &eight));
				T_STR(dtx_buf_text(&one.out), dtx_buf_text(&eight.out));
				planrun_clear(&one);
				planrun_clear(&eight);
			}
}

static enum dtx_code example_once(const struct dtx_example *e, const char *plan)
{
	struct planrun p;
	enum dtx_code rc;

	planrun_init(&p, plan, e->in);
	p.input[1] = e->with;
	rc = planrun(&p);
	if (rc == DTX_E_NO_MEMORY)
		T_INT(p.err.code, DTX_E_NO_MEMORY);
	planrun_clear(&p);
	return rc;
}

void test_ops_every_allocation_fails(void)
{
	for (size_t i = 0; dtx_ops[i]; i++) {
		const struct dtx_example *e = NULL;
		struct dtx_buf plan = DTX_BUF_INIT(1 << 20);

		for (size_t k = 0; k < dtx_ops[i]->nexamples && !e; k++)
			if (!dtx_ops[i]->examples[k].error)
				e = &dtx_ops[i]->examples[k];
		if (!e)
			continue;
		example_plan(e, &plan);
		T_EVERY_ALLOC_FAILS(example_once(e, dtx_buf_text(&plan)));
		dtx_buf_clear(&plan);
	}
}

void test_ops_descriptors_are_whole(void)
{
	for (size_t i = 0; dtx_ops[i]; i++) {
		const struct dtx_op *op = dtx_ops[i];

		T_CHECK(op->name && op->summary && (op->bind || op->macro) && op->explain);
		T_CHECK(op->macro || op->map || op->sink || op->whole);
		T_CHECK(op->nexamples >= 2);
		T_CHECK(dtx_op_find(op->name, NULL) == op);
	}
}
