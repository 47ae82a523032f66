/* A loop on several threads: each number runs once, and the error of the smallest number is
 * returned. */
#include "core/base/thread/parallel_for.h"
#include "tests/t.h"

#define PIECES 1000

struct pieces {
	_Atomic int done[PIECES];
	uint64_t bad_from; /* numbers from here on fail */
};

static enum dtx_code piece(void *arg, uint64_t i, struct dtx_err *err)
{
	struct pieces *p = arg;
	enum dtx_code rc = DTX_OK;

	atomic_fetch_add(&p->done[i], 1);
	if (i >= p->bad_from)
		DTX_FAIL(err, DTX_E_OVERFLOW, "piece %d", (int)i);
out:
	return rc;
}

void test_parallel_for_does_every_piece_once(void)
{
	for (unsigned workers = 0; workers < 5; workers++) {
		struct pieces p = { .bad_from = PIECES };

		T_OK(dtx_parallel_for(workers, PIECES, piece, &p, NULL), NULL);
		for (int i = 0; i < PIECES; i++)
			T_INT(p.done[i], 1);
	}
	T_OK(dtx_parallel_for(3, 0, piece, NULL, NULL), NULL);
}

void test_parallel_for_gives_the_first_error(void)
{
	for (unsigned workers = 1; workers < 5; workers++) {
		struct pieces p = { .bad_from = 100 };
		struct dtx_err err = DTX_ERR_INIT;

		T_INT(dtx_parallel_for(workers, PIECES, piece, &p, &err), DTX_E_OVERFLOW);
		T_STR(err.msg, "piece 100");
		T_INT(p.done[99], 1);
		T_INT(p.done[PIECES - 1], 0);
		dtx_err_clear(&err);
	}
}
