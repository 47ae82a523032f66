/* Calls whose result is the value of another row.  The kernels return the number of that row, and
 * the value is copied unchanged. */
#include "core/base/mem.h"
#include "core/expr/window/win.h"

static void give(struct dtx_win *w, uint32_t k, uint32_t from_row)
{
	w->place[w->rows->order[k]] = from_row;
}

/* lag, lead: the row that is n rows away, else the default. */
static enum dtx_code shift(struct dtx_win *w, uint32_t from, uint32_t to)
{
	int64_t n = w->c->kind == (int)DTX_WIN_LAG ? -w->c->n : w->c->n;

	for (uint32_t k = from; k < to; k++) {
		int64_t at = (int64_t)k + n;

		give(w, k, at >= from && at < to ? w->rows->order[at] : (uint32_t)DTX_WIN_DEFAULT);
	}
	return DTX_OK;
}

static enum dtx_code of_frame(struct dtx_win *w, uint32_t from, uint32_t to)
{
	for (uint32_t k = from; k < to; k++) {
		uint32_t lo, hi;
		int64_t at;

		dtx_win_frame(w, from, to, k, &lo, &hi);
		at = w->c->kind == (int)DTX_WIN_LAST_VALUE  ? (int64_t)hi - 1
		     : w->c->kind == (int)DTX_WIN_NTH_VALUE ? (int64_t)lo + w->c->n - 1
		                                            : lo;
		give(w, k, at >= lo && at < hi ? w->rows->order[at] : (uint32_t)DTX_WIN_NULL);
	}
	return DTX_OK;
}

static enum dtx_code fill_down(struct dtx_win *w, uint32_t from, uint32_t to)
{
	uint32_t last = DTX_WIN_NULL;

	for (uint32_t k = from; k < to; k++) {
		if (!dtx_win_null(w->arg[0], w->rows->order[k]))
			last = w->rows->order[k];
		give(w, k, last);
	}
	return DTX_OK;
}

static enum dtx_code fill_up(struct dtx_win *w, uint32_t from, uint32_t to)
{
	uint32_t next = DTX_WIN_NULL;

	for (uint32_t k = to; k-- > from;) {
		if (!dtx_win_null(w->arg[0], w->rows->order[k]))
			next = w->rows->order[k];
		give(w, k, next);
	}
	return DTX_OK;
}

/* --- smallest and largest --- */

/* Whether row a has a smaller (or larger, if max is set) value than row b. */
static bool beats(const struct dtx_win *w, uint32_t a, uint32_t b, bool max)
{
	struct dtx_val x = { 0 }, y = { 0 };
	int c;

	dtx_val_get(w->arg[0], a, &x);
	dtx_val_get(w->arg[0], b, &y);
	c = dtx_val_cmp(w->arg[0]->type.type, &x, &y);
	return max ? c > 0 : c < 0;
}

static enum dtx_code cum_extreme(struct dtx_win *w, uint32_t from, uint32_t to)
{
	bool max = w->c->kind == (int)DTX_WIN_CUM_MAX;
	uint32_t best = DTX_WIN_NULL;

	for (uint32_t k = from; k < to; k++) {
		uint32_t row = w->rows->order[k];

		if (dtx_win_null(w->arg[0], row)) {
			give(w, k, DTX_WIN_NULL);
			continue;
		}
		if (best == DTX_WIN_NULL || beats(w, row, best, max))
			best = row;
		give(w, k, best);
	}
	return DTX_OK;
}

/* Keeps a queue of candidates, best first (a monotonic queue): a row that a later row beats can
 * never win again and is removed. */
static enum dtx_code roll_extreme(struct dtx_win *w, uint32_t from, uint32_t to)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_err *err = w->err;
	bool max = w->c->kind == (int)DTX_WIN_ROLL_MAX;
	uint32_t *queue = dtx_mem_alloc((size_t)(to - from) + 1, sizeof(*queue));
	uint32_t head = 0, tail = 0, values = 0, size = (uint32_t)w->c->n;

	if (!queue)
		DTX_FAIL_MEM(err);
	for (uint32_t k = from; k < to; k++) {
		uint32_t row = w->rows->order[k];

		if (k - from >= size) {
			values -= !dtx_win_null(w->arg[0], w->rows->order[k - size]);
			head += head < tail && queue[head] == k - size;
		}
		if (!dtx_win_null(w->arg[0], row)) {
			values++;
			while (tail > head && !beats(w, w->rows->order[queue[tail - 1]], row, max))
				tail--;
			queue[tail++] = k;
		}
		give(w, k,
		     values >= w->c->min && head < tail ? w->rows->order[queue[head]]
		                                        : (uint32_t)DTX_WIN_NULL);
	}
out:
	dtx_mem_free(queue);
	return rc;
}

const struct dtx_winkernel dtx_win_place[] = {
	[DTX_WIN_LAG] = { .gives = DTX_WIN_PLACE, .part = shift },
	[DTX_WIN_LEAD] = { .gives = DTX_WIN_PLACE, .part = shift },
	[DTX_WIN_FIRST_VALUE] = { .gives = DTX_WIN_PLACE, .framed = true, .part = of_frame },
	[DTX_WIN_LAST_VALUE] = { .gives = DTX_WIN_PLACE, .framed = true, .part = of_frame },
	[DTX_WIN_NTH_VALUE] = { .gives = DTX_WIN_PLACE, .framed = true, .part = of_frame },
	[DTX_WIN_FILL_DOWN] = { .gives = DTX_WIN_PLACE, .part = fill_down },
	[DTX_WIN_FILL_UP] = { .gives = DTX_WIN_PLACE, .part = fill_up },
	[DTX_WIN_CUM_MIN] = { .gives = DTX_WIN_PLACE, .part = cum_extreme },
	[DTX_WIN_CUM_MAX] = { .gives = DTX_WIN_PLACE, .part = cum_extreme },
	[DTX_WIN_ROLL_MIN] = { .gives = DTX_WIN_PLACE, .part = roll_extreme },
	[DTX_WIN_ROLL_MAX] = { .gives = DTX_WIN_PLACE, .part = roll_extreme },
};
