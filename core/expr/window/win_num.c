/* Running and relative numbers: exact for ints and decimals, rounded once for floats. */
#include "core/expr/window/win.h"

/* x minus its value in the row `before`; exact if x is exact. */
static enum dtx_code change(struct dtx_win *w, uint32_t row, uint32_t before)
{
	struct dtx_winsum less = { 0 };
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_winsum_step(w, &less, row, 1));
	DTX_TRY(dtx_winsum_step(w, &less, before, -1));
	if (w->c->kind == (int)DTX_WIN_PCT_CHANGE)
		DTX_TRY(dtx_win_divide(w, row, dtx_winsum_units(w, &less),
		                       dtx_win_units(w->arg[0], before)));
	else
		DTX_TRY(dtx_winsum_put(w, &less, row));
out:
	dtx_fsum_free(&less.real);
	return rc;
}

static enum dtx_code diff(struct dtx_win *w, uint32_t from, uint32_t to)
{
	const struct dtx_column *x = w->arg[0];
	enum dtx_code rc = DTX_OK;

	for (uint32_t k = from; k < to; k++) {
		int64_t at = (int64_t)k - w->c->n;
		uint32_t row = w->rows->order[k];

		if (at >= from && at < to && !dtx_win_null(x, row) &&
		    !dtx_win_null(x, w->rows->order[at]))
			DTX_TRY(change(w, row, w->rows->order[at]));
	}
out:
	return rc;
}

/* --- from the start of the partition to the current row; null where the value is null --- */

static enum dtx_code cum_sum(struct dtx_win *w, uint32_t from, uint32_t to)
{
	struct dtx_winsum sum = { 0 };
	enum dtx_code rc = DTX_OK;

	for (uint32_t k = from; k < to; k++) {
		uint32_t row = w->rows->order[k];

		if (dtx_win_null(w->arg[0], row))
			continue;
		DTX_TRY(dtx_winsum_step(w, &sum, row, 1));
		if (w->c->kind == (int)DTX_WIN_CUM_MEAN)
			dtx_win_put(w, row, dtx_winsum_mean(w, &sum, sum.n));
		else
			DTX_TRY(dtx_winsum_put(w, &sum, row));
	}
out:
	dtx_fsum_free(&sum.real);
	return rc;
}

static enum dtx_code cum_prod(struct dtx_win *w, uint32_t from, uint32_t to)
{
	enum dtx_code rc = DTX_OK;
	dtx_i128 exact = 1;
	double real = 1;

	for (uint32_t k = from; k < to; k++) {
		uint32_t row = w->rows->order[k];
		struct dtx_wsum product = { 0 };

		if (dtx_win_null(w->arg[0], row))
			continue;
		if (w->c->type.type == DTX_T_FLOAT64) {
			real *= dtx_win_float(w->arg[0], row);
			dtx_win_put(w, row, real);
			continue;
		}
		/* a product that is once too large stays so, unless it is multiplied by zero */
		if (__builtin_mul_overflow(exact, dtx_win_exact(w->arg[0], row), &exact) ||
		    exact != (int64_t)exact)
			exact = (dtx_i128)1 << 100;
		dtx_wsum_add(&product, exact);
		DTX_TRY(dtx_win_put_exact(w, row, &product));
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
	struct dtx_winsum sum = { 0 };
	enum dtx_code rc = DTX_OK;
	double all;

	for (uint32_t k = from; k < to; k++)
		if (!dtx_win_null(w->arg[0], w->rows->order[k]))
			DTX_TRY(dtx_winsum_step(w, &sum, w->rows->order[k], 1));
	all = dtx_winsum_units(w, &sum);
	for (uint32_t k = from; k < to; k++) {
		uint32_t row = w->rows->order[k];

		if (dtx_win_null(w->arg[0], row))
			continue;
		if (isfinite(all))
			DTX_TRY(dtx_win_divide(w, row, dtx_win_units(w->arg[0], row), all));
		else /* not 0, which the division would give */
			dtx_win_put(w, row, all);
	}
out:
	dtx_fsum_free(&sum.real);
	return rc;
}

/* Weights 1, 1-a, (1-a)^2 and so on, going back from the current row.  A null has no weight, but
 * the weights of the values before it still decrease. */
static enum dtx_code ewm_mean(struct dtx_win *w, uint32_t from, uint32_t to)
{
	double sum = 0, weight = 0, keep = 1 - w->c->p;

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
	[DTX_WIN_CUM_MEAN] = { .gives = DTX_WIN_FLOAT, .part = cum_sum },
	[DTX_WIN_CUM_PROD] = { .gives = DTX_WIN_EXACT, .part = cum_prod },
	[DTX_WIN_CUM_COUNT] = { .gives = DTX_WIN_INT, .part = cum_count },
	[DTX_WIN_SHARE] = { .gives = DTX_WIN_FLOAT, .part = share },
	[DTX_WIN_EWM_MEAN] = { .gives = DTX_WIN_FLOAT, .part = ewm_mean },
	[DTX_WIN_INTERPOLATE] = { .gives = DTX_WIN_FLOAT, .part = interpolate },
};
