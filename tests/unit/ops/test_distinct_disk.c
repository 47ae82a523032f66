/* distinct whose keys do not fit into memory: the same rows as with memory, in the same order. */
#include "tests/unit/planrun.h"

#define LIMIT ((size_t)1 << 30)
#define ROOM  ((size_t)100 << 20) /* less than an eighth of it: memory is short at once */
/* Enough keys that those of each partition go to disk again when they are read. */
#define KEYS 290000u
#define ROWS (KEYS + KEYS / 3)

static void make_rows(struct dtx_buf *out)
{
	dtx_buf_add(out, "i,n,t,few\n");
	for (unsigned i = 0; i < ROWS; i++) {
		unsigned k = (unsigned)((uint64_t)i * 7919 % KEYS);

		dtx_buf_printf(out, "%u,", i);
		if (k % 1000)
			dtx_buf_printf(out, "%u,\"a long, quoted text %u\"", k, k);
		else
			dtx_buf_add(out, ",");
		dtx_buf_printf(out, ",%u\n", k % 7);
	}
}

/* Bytes that went to disk. */
static int64_t run(struct planrun *p, const char *plan, const struct dtx_buf *in, bool tight,
                   unsigned workers)
{
	size_t ballast = tight ? LIMIT - ROOM - dtx_mem_used() : 0;
	int64_t spilled = 0;

	planrun_init(p, plan, in->ptr);
	p->workers = workers;
	p->keep = true;
	T_CHECK(dtx_mem_charge(ballast));
	dtx_mem_set_limit(tight ? LIMIT : 0);
	if (planrun(p) == DTX_OK)
		spilled = p->result->step[0].spilled;
	dtx_mem_set_limit(0);
	dtx_mem_discharge(ballast);
	return spilled;
}

static void compare(const char *plan, const struct dtx_buf *in, unsigned workers, int64_t least)
{
	struct planrun whole, less;

	T_INT(run(&whole, plan, in, false, 1), 0);
	T_OK(whole.err.code, &whole.err);
	T_CHECK(run(&less, plan, in, true, workers) >= least);
	T_OK(less.err.code, &less.err);
	T_CHECK(whole.out.len > 20 && whole.out.len == less.out.len &&
	        memcmp(whole.out.ptr, less.out.ptr, less.out.len) == 0);
	planrun_clear(&whole);
	planrun_clear(&less);
}

void test_distinct_disk(void)
{
	struct dtx_buf in = DTX_BUF_INIT(64 << 20);

	make_rows(&in);
	T_CHECK(*dtx_buf_text(&in));
	/* texts; their rows, and each key twice, as its partition goes to disk again */
	compare(PLANCASE("{\"op\":\"distinct\",\"cols\":[\"t\"]}"), &in, 2, KEYS * (60 + 2 * 25));
	/* numbers, without the columns that no later step needs */
	compare(PLANCASE("{\"op\":\"distinct\",\"cols\":[\"n\"]},"
	                 "{\"op\":\"select\",\"cols\":[\"i\",\"few\"]}"),
	        &in, 1, KEYS);
	/* a later step needs the values of the keys, and one ends the rows early */
	compare(PLANCASE("{\"op\":\"distinct\",\"cols\":[\"few\",\"n\",\"t\"]},"
	                 "{\"op\":\"filter\",\"where\":\"n % 3 = 1\"},"
	                 "{\"op\":\"limit\",\"n\":50000}"),
	        &in, 2, KEYS);
	dtx_buf_clear(&in);
}
