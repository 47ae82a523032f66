/* Rolling windows over the last n rows: one value is added and one removed per row, and the sums
 * stay exact. */
#include "core/base/cancel.h"
#include "core/base/mem.h"
#include "core/expr/window/win.h"

/* --- sum and mean --- */

static enum dtx_code roll_sum(struct dtx_win *w, uint32_t from, uint32_t to)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_winsum sum = { 0 };
	uint32_t size = (uint32_t)w->c->n;

	for (uint32_t k = from; k < to; k++) {
		uint32_t row = w->rows->order[k];

		if (k % DTX_CANCEL_ROWS == 0)
			DTX_TRY(dtx_cancel_look(w->err));
		if (k - from >= size && !dtx_win_null(w->arg[0], w->rows->order[k - size]))
			DTX_TRY(dtx_winsum_step(w, &sum, w->rows->order[k - size], -1));
		if (!dtx_win_null(w->arg[0], row))
			DTX_TRY(dtx_winsum_step(w, &sum, row, 1));
		if (sum.n == 0 || sum.n < w->c->min)
			continue;
		if (w->c->kind == (int)DTX_WIN_ROLL_MEAN)
			dtx_win_put(w, row, dtx_winsum_mean(w, &sum, sum.n));
		else
			DTX_TRY(dtx_winsum_put(w, &sum, row));
	}
out:
	dtx_fsum_free(&sum.real);
	return rc;
}

/* Sample standard deviation; null for fewer than two values. */
static enum dtx_code roll_std(struct dtx_win *w, uint32_t from, uint32_t to)
{
	const struct dtx_column *x = w->arg[0];
	enum dtx_code rc = DTX_OK;
	struct dtx_fspread s = { 0 };
	uint32_t size = (uint32_t)w->c->n;
	double var;

	for (uint32_t k = from; k < to; k++) {
		uint32_t row = w->rows->order[k], gone = k - from >= size ? k - size : to;

		if (k % DTX_CANCEL_ROWS == 0)
			DTX_TRY(dtx_cancel_look(w->err));
		if (gone != to && !dtx_win_null(x, w->rows->order[gone]) &&
		    !dtx_fspread_drop(&s, dtx_win_float(x, w->rows->order[gone])))
			DTX_FAIL_MEM(w->err);
		if (!dtx_win_null(x, row) && !dtx_fspread_add(&s, dtx_win_float(x, row)))
			DTX_FAIL_MEM(w->err);
		if (s.n >= w->c->min && dtx_fspread_var(&s, &var))
			dtx_win_put(w, row, sqrt(var));
	}
out:
	dtx_fspread_free(&s);
	return rc;
}

/* --- median: keeps the values of the window sorted --- */

static uint32_t place_of(const double *v, uint32_t n, double x)
{
	uint32_t lo = 0, hi = n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (v[mid] < x)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static void sorted_add(double *v, uint32_t *n, double x)
{
	uint32_t at = place_of(v, *n, x);

	memmove(v + at + 1, v + at, (*n - at) * sizeof(*v));
	v[at] = x;
	(*n)++;
}

static void sorted_drop(double *v, uint32_t *n, double x)
{
	uint32_t at = place_of(v, *n, x);

	(*n)--;
	memmove(v + at, v + at + 1, (*n - at) * sizeof(*v));
}

static enum dtx_code roll_median(struct dtx_win *w, uint32_t from, uint32_t to)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_err *err = w->err;
	uint32_t size = (uint32_t)DTX_MIN((int64_t)(to - from), w->c->n), n = 0;
	double *v = dtx_mem_alloc((size_t)size + 1, sizeof(*v));

	if (!v)
		DTX_FAIL_MEM(err);
	for (uint32_t k = from; k < to; k++) {
		uint32_t row = w->rows->order[k];

		if (k % DTX_CANCEL_ROWS == 0)
			DTX_TRY(dtx_cancel_look(w->err));
		if (k - from >= size && !dtx_win_null(w->arg[0], w->rows->order[k - size]))
			sorted_drop(v, &n, dtx_win_float(w->arg[0], w->rows->order[k - size]));
		if (!dtx_win_null(w->arg[0], row))
			sorted_add(v, &n, dtx_win_float(w->arg[0], row));
		if (n && n >= w->c->min)
			dtx_win_put(w, row, dtx_agg_between(v[(n - 1) / 2], v[n / 2], 0.5));
	}
out:
	dtx_mem_free(v);
	return rc;
}

const struct dtx_winkernel dtx_win_roll[] = {
	[DTX_WIN_ROLL_SUM] = { .gives = DTX_WIN_EXACT, .part = roll_sum },
	[DTX_WIN_ROLL_MEAN] = { .gives = DTX_WIN_FLOAT, .part = roll_sum },
	[DTX_WIN_ROLL_STD] = { .gives = DTX_WIN_FLOAT, .part = roll_std },
	[DTX_WIN_ROLL_MEDIAN] = { .gives = DTX_WIN_FLOAT, .part = roll_median },
};
