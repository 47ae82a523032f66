/* How many workers a pool keeps ready before a client asks. */
#include "tests/t.h"

#include "core/base/log.h"
#include "sandbox/zygote/zygote.h"

enum { NOW = 1, LONG = 1000 }; /* milliseconds since a run began */

/* One letter per worker: i idle, s starting, l leased, r running, R running for long. */
static void set_workers(struct dtx_zygote *z, const char *states)
{
	size_t i;

	for (i = 0; i < DTX_ZYGOTE_WORKERS; i++) {
		char c = *states ? *states++ : 0;
		int64_t ms = c == 'R' ? LONG : NOW;

		z->worker[i] = (struct dtx_zworker){
			.state = c == 'i'   ? DTX_Z_IDLE
			         : c == 's' ? DTX_Z_STARTING
			         : c        ? DTX_Z_LEASED
			                    : DTX_Z_NONE,
			.armed = c == 'r' || c == 'R',
			.since_ns = dtx_now_ns() - ms * 1000000,
		};
	}
}

void test_jail_pool_reserve(void)
{
	static const struct {
		const char *workers;
		bool used; /* a client was here a moment ago */
		size_t want;
	} cases[] = {
		{ "", false, 2 },  { "", true, 0 },
		{ "ir", true, 0 }, /* the run has the cores to itself, and one worker is ready for
		                    * the next */
		{ "r", true, 1 },  /* runs follow each other */
		{ "sr", true, 0 }, /* one is being started */
		{ "l", true, 0 },  /* its client waits for an answer */
		{ "rr", true, 0 }, /* all cores are busy */
		{ "R", true, 2 },  { "RR", true, 0 },
	};
	static struct dtx_zygote z;
	size_t i;

	z.pooled = true;
	z.cores = 2;
	z.born_ns = dtx_now_ns();
	z.born_rss = (uint64_t)1 << 60;
	for (i = 0; i < DTX_COUNT(cases); i++) {
		set_workers(&z, cases[i].workers);
		z.used_ns = dtx_now_ns() + (cases[i].used ? 1000 : -1000) * (int64_t)1000000;
		T_INT(dtx_zygote_reserve(&z), cases[i].want);
	}
	set_workers(&z, "");
	z.pooled = false;
	T_INT(dtx_zygote_reserve(&z), 0);
}
