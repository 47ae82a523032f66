/* A cancelled run, or one whose time is over, ends inside of whole-table steps. */
#include <unistd.h>

#include "core/base/thread/cancel.h"
#include "core/base/log.h"
#include "core/base/thread/long_call.h"
#include "core/base/thread/parallel_for.h"
#include "ops/sort/sorter.h"
#include "tests/t.h"

static atomic_bool stop;

void test_cancel_tells_who_ends_it(void)
{
	struct dtx_cancel nobody = { NULL, 0 }, user = { &stop, 0 }, clock = { NULL, 1 };
	struct dtx_cancel patient = { &stop, dtx_now_ns() + 3600 * (int64_t)1000000000 };
	struct dtx_err err = DTX_ERR_INIT;
	const struct dtx_cancel *before = dtx_cancel_set(NULL);

	atomic_store(&stop, false);
	T_OK(dtx_cancel_look(&err), &err);
	T_CHECK(dtx_cancel_set(&nobody) == NULL);
	T_OK(dtx_cancel_look(&err), &err);
	T_CHECK(dtx_cancel_set(&patient) == &nobody);
	T_OK(dtx_cancel_look(&err), &err);
	atomic_store(&stop, true);
	T_CODE(dtx_cancel_look(&err), DTX_E_CANCELLED, &err);
	dtx_cancel_set(&user);
	T_CHECK(dtx_cancel_now());
	dtx_cancel_set(&clock);
	T_CHECK(dtx_cancel_now());
	T_CODE(dtx_cancel_look(&err), DTX_E_TIME_LIMIT, &err);
	dtx_cancel_set(before);
	dtx_err_clear(&err);
}

static enum dtx_code end_at(void *arg, uint64_t i, struct dtx_err *err)
{
	(void)err;
	atomic_fetch_add((_Atomic int *)arg, 1);
	if (i == 3)
		atomic_store(&stop, true);
	return DTX_OK;
}

/* Also if other threads than the one that has the flag do the work. */
void test_cancel_ends_pieces_of_work(void)
{
	const struct dtx_cancel user = { &stop, 0 };

	for (unsigned workers = 1; workers < 5; workers++) {
		const struct dtx_cancel *before = dtx_cancel_set(&user);
		struct dtx_err err = DTX_ERR_INIT;
		_Atomic int done = 0;

		atomic_store(&stop, false);
		T_CODE(dtx_parallel_for(workers, 1000000, end_at, &done, &err), DTX_E_CANCELLED,
		       &err);
		T_CHECK(done >= 4 && done < 1000000);
		dtx_cancel_set(before);
		dtx_err_clear(&err);
	}
}

#define SORT_ROWS 100000u

/* Rows whose keys differ in the first bytes, and rows whose keys are all equal there. */
void test_cancel_ends_a_sort(void)
{
	const struct dtx_cancel user = { &stop, 0 };
	struct dtx_sort_row *row = dtx_mem_zalloc(SORT_ROWS, sizeof(*row));
	struct dtx_sort_row *tmp = dtx_mem_zalloc(SORT_ROWS, sizeof(*tmp));
	struct dtx_batch all = { .nrows = SORT_ROWS }, *batch[1] = { &all };

	T_CHECK(row && tmp);
	atomic_store(&stop, true);
	for (unsigned k = 0; k < 4; k++) {
		struct dtx_sorted view = { row, SORT_ROWS, NULL, batch, 1, NULL };
		const struct dtx_cancel *before;
		struct dtx_err err = DTX_ERR_INIT;

		for (uint32_t i = 0; i < SORT_ROWS; i++)
			row[i] = (struct dtx_sort_row){ .key = { k / 2 ? i * 2654435761u : 7 },
				                        .row = i };
		before = dtx_cancel_set(&user);
		T_CODE(dtx_sort_rows(&view, row, tmp, SORT_ROWS, 1 + k % 2, &err), DTX_E_CANCELLED,
		       &err);
		dtx_cancel_set(before);
		dtx_err_clear(&err);
	}
	dtx_mem_free(tmp);
	dtx_mem_free(row);
}

/* A call that ends only when the test lets it. */
struct stuck {
	int gate[2], over[2];
	bool asks; /* sets the cancel flag when it has begun */
	_Atomic int runs;
};

static void get_stuck(void *arg)
{
	struct stuck *s = arg;
	char byte;

	atomic_fetch_add(&s->runs, 1);
	if (s->asks)
		atomic_store(&stop, true);
	else
		close(s->gate[1]);
	T_INT(read(s->gate[0], &byte, 1), 0);
	close(s->over[1]);
}

void test_cancel_leaves_a_call_of_a_library(void)
{
	const struct dtx_cancel user = { &stop, 0 }, *before = dtx_cancel_set(&user);
	struct dtx_err err = DTX_ERR_INIT;
	bool left = true;

	for (int k = 0; k < 3; k++) {
		struct stuck s = { .asks = k == 1 };
		char byte;

		T_CHECK(!pipe(s.gate) && !pipe(s.over));
		atomic_store(&stop, k == 2);
		if (k == 0) {
			T_OK(dtx_long_call(get_stuck, &s, &left, &err), &err);
		} else {
			T_CODE(dtx_long_call(get_stuck, &s, &left, &err), DTX_E_CANCELLED, &err);
			close(s.gate[1]);
		}
		T_INT(left, k == 1);
		T_INT(s.runs, k < 2);
		if (k == 2)
			close(s.over[1]);
		T_INT(read(s.over[0], &byte, 1), 0); /* the call that was left has ended */
		close(s.gate[0]);
		close(s.over[0]);
		dtx_err_clear(&err);
	}
	dtx_cancel_set(before);
}
