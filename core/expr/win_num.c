/* Running and relative numbers: exact for ints and decimals, two doubles wide for floats. */
#include <math.h>

#include "core/expr/fsum.h"
#include "core/expr/win.h"

static enum dtx_code diff(struct dtx_win *w, uint32_t from, uint32_t to)
{
	const struct dtx_column *x = w->arg[0];
	enum dtx_code rc = DTX_OK;

	for (uint32_t k = from; k < to; k++) {
		int64_t at = (int64_t)k - w->n;
		uint32_t row = w->rows->order[k], before;

		if (at < from || at >= to || dtx_win_null(x, row))
			continue;
		before = w->rows->order[at];
		if (dtx_win_null(x, before))
			continue;
		if (w->c->kind == (int)DTX_WIN_PCT_CHANGE)
			DTX_TRY(dtx_win_divide(w, row,
			                       dtx_win_float(x, row) - dtx_win_float(x, before),
			                       dtx_win_float(x, before)));
		else if (dtx_win_floats(w))
			dtx_win_put(w, row, dtx_win_float(x, row) - dtx_win_float(x, before));
		else
			DTX_TRY(dtx_win_put_exact(
				w, row, dtx_win_exact(x, row) - dtx_win_exact(x, before)));
	}
out:
	return rc;
}

/* --- from the start to here; null at a null --- */

static enum dtx_code cum_exact(struct dtx_win *w, uint32_t from, uint32_t to)
{
	enum dtx_code rc = DTX_OK;
	dtx_i128 sum = 0;

	for (uint32_t k = from; k < to; k++) {
		uint32_t row = w->rows->order[k];

		if (dtx_win_null(w->arg[0], row))
			continue;
		sum += dtx_win_exact(w->arg[0], row);
		DTX_TRY(dtx_win_put_exact(w, row, sum));
	}
out:
	return rc;
}

static enum dtx_code cum_float(struct dtx_win *w, uint32_t from, uint32_t to)
{
	struct dtx_fsum sum = { 0 };
	enum dtx_code rc = DTX_OK;
	struct dtx_err *err = w->err;
	bool mean = w->c->kind == (int)DTX_WIN_CUM_MEAN;
	uint32_t n = 0;

	for (uint32_t k = from; k < to; k++) {
		uint32_t row = w->rows->order[k];

		if (dtx_win_null(w->arg[0], row))
			continue;
		if (!dtx_fsum_add(&sum, dtx_win_float(w->arg[0], row)))
			DTX_FAIL_MEM(err);
		n++;
		dtx_win_put(w, row, mean ? dtx_fsum_round(&sum) / n : dtx_fsum_round(&sum));
	}
out:
	dtx_fsum_free(&sum);
	return rc;
}

static enum dtx_code cum_sum(struct dtx_win *w, uint32_t from, uint32_t to)
{
	return dtx_win_floats(w) ? cum_float(w, from, to) : cum_exact(w, from, to);
}

static enum dtx_code cum_prod(struct dtx_win *w, uint32_t from, uint32_t to)
{
	enum dtx_code rc = DTX_OK;
	dtx_i128 exact = 1;
	double real = 1;

	for (uint32_t k = from; k < to; k++) {
		uint32_t row = w->rows->order[k];

		if (dtx_win_null(w->arg[0], row))
			continue;
		if (dtx_win_floats(w)) {
			real *= dtx_win_float(w->arg[0], row);
			dtx_win_put(w, row, real);
			continue;
		}
		/* once too large it stays too large, but for a zero */
		if (__builtin_mul_overflow(exact, dtx_win_exact(w->arg[0], row), &exact) ||
		    exact != (int64_t)exact)
			exact = (dtx_i128)1 << 100;
		DTX_TRY(dtx_win_put_exact(w, row, exact));
	}
out:
	return rc;
}

static enum dtx_code cum_count(struct dtx_win *w, uint32_t from, uint32_t to)
{
	int64_t n = 0;

	for (uint32_t k = from; k < to; k++) {
		uint32_t row = w->rows->order[k];

		if (!w->arg[0] || !dtx_win_null(w->arg[0], row))
			dtx_win_int(w, row, ++n);
	}
	return DTX_OK;
}

/* --- of the whole partition --- */

static enum dtx_code share(struct dtx_win *w, uint32_t from, uint32_t to)
{
	struct dtx_fsum sum = { 0 };
	enum dtx_code rc = DTX_OK;
	struct dtx_err *err = w->err;
	double all;

	for (uint32_t k = from; k < to; k++) {
		uint32_t row = w->rows->order[k];

		if (!dtx_win_null(w->arg[0], row) &&
		    !dtx_fsum_add(&sum, dtx_win_float(w->arg[0], row)))
			DTX_FAIL_MEM(err);
	}
	all = dtx_fsum_round(&sum);
	for (uint32_t k = from; k < to; k++) {
		uint32_t row = w->rows->order[k];

		if (!dtx_win_null(w->arg[0], row))
			DTX_TRY(dtx_win_divide(w, row, dtx_win_float(w->arg[0], row), all));
	}
out:
	dtx_fsum_free(&sum);
	return rc;
}

/* Weights 1, 1-a, (1-a)^2 ... back from here; a null weighs nothing but moves the others on. */
static enum dtx_code ewm_mean(struct dtx_win *w, uint32_t from, uint32_t to)
{
	double sum = 0, weight = 0, keep = 1 - w->alpha;

	for (uint32_t k = from; k < to; k++) {
		uint32_t row = w->rows->order[k];

		sum *= keep;
		weight *= keep;
		if (dtx_win_null(w->arg[0], row))
			continue;
		sum += dtx_win_float(w->arg[0], row);
		weight += 1;
		dtx_win_put(w, row, sum / weight);
	}
	return DTX_OK;
}

static void between(struct dtx_win *w, uint32_t left, uint32_t right)
{
	double x = dtx_win_float(w->arg[0], w->rows->order[left]);
	double y = dtx_win_float(w->arg[0], w->rows->order[right]);

	for (uint32_t k = left + 1; k < right; k++)
		dtx_win_put(w, w->rows->order[k], x + (y - x) * (k - left) / (right - left));
}

static enum dtx_code interpolate(struct dtx_win *w, uint32_t from, uint32_t to)
{
	uint32_t last = UINT32_MAX;

	for (uint32_t k = from; k < to; k++) {
		uint32_t row = w->rows->order[k];

		if (dtx_win_null(w->arg[0], row))
			continue;
		dtx_win_put(w, row, dtx_win_float(w->arg[0], row));
		if (last != UINT32_MAX)
			between(w, last, k);
		last = k;
	}
	return DTX_OK;
}

const struct dtx_winkernel dtx_win_num[] = {
	[DTX_WIN_DIFF] = { .gives = DTX_WIN_EXACT, .part = diff },
	[DTX_WIN_PCT_CHANGE] = { .gives = DTX_WIN_FLOAT, .part = diff },
	[DTX_WIN_CUM_SUM] = { .gives = DTX_WIN_EXACT, .part = cum_sum },
	[DTX_WIN_CUM_MEAN] = { .gives = DTX_WIN_FLOAT, .part = cum_float },
	[DTX_WIN_CUM_PROD] = { .gives = DTX_WIN_EXACT, .part = cum_prod },
	[DTX_WIN_CUM_COUNT] = { .gives = DTX_WIN_INT, .part = cum_count },
	[DTX_WIN_SHARE] = { .gives = DTX_WIN_FLOAT, .part = share },
	[DTX_WIN_EWM_MEAN] = { .gives = DTX_WIN_FLOAT, .part = ewm_mean },
	[DTX_WIN_INTERPOLATE] = { .gives = DTX_WIN_FLOAT, .part = interpolate },
};
