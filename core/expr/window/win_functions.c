/* Window functions of rows: the value of another row, ranks, statistics of the last n rows, and
 * running and relative numbers (exact for ints and decimals, rounded once for floats). */
#include "core/expr/window/win.h"

#include "core/base/thread/cancel.h"
#include "core/base/memory/mem.h"

/* Calls whose result is the value of another row.  The kernels return the number of that row, and
 * the value is copied unchanged. */

static void give(struct dtx_win *w, uint32_t k, uint32_t from_row)
{
	w->place[w->rows->order[k]] = from_row;
}

/* lag, lead with ignore_nulls: the n-th row with a value before or after, else the default. */
static enum dtx_code shift_values(struct dtx_win *w, uint32_t from, uint32_t to, int64_t n)
{
	uint32_t *known = dtx_mem_alloc((size_t)(to - from) + 1, sizeof(*known));
	enum dtx_code rc = DTX_OK;
	struct dtx_err *err = w->err;
	uint32_t all = 0, before = 0;

	if (!known)
		DTX_FAIL_MEM(err);
	for (uint32_t k = from; k < to; k++)
		if (!dtx_win_null(w->arg[0], w->rows->order[k]))
			known[all++] = w->rows->order[k];
	for (uint32_t k = from; k < to; k++) {
		bool here = !dtx_win_null(w->arg[0], w->rows->order[k]);
		int64_t at = n < 0 ? before + n : (int64_t)before + here + n - 1;

		if (n == 0)
			give(w, k, w->rows->order[k]);
		else
			give(w, k, at >= 0 && at < all ? known[at] : (uint32_t)DTX_WIN_DEFAULT);
		before += here;
	}
out:
	dtx_mem_free(known);
	return rc;
}

/* lag, lead: the row that is n rows away, else the default. */
static enum dtx_code shift(struct dtx_win *w, uint32_t from, uint32_t to)
{
	int64_t n = w->c->kind == (int)DTX_WIN_LAG ? -w->c->n : w->c->n;

	if (w->c->values)
		return shift_values(w, from, to, n);
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

/* Numbers of rows: row_number, ranks, ntile.  A row whose first order key is null has no rank and
 * is not counted. */

static enum dtx_code row_number(struct dtx_win *w, uint32_t from, uint32_t to)
{
	for (uint32_t k = from; k < to; k++)
		dtx_win_int(w, w->rows->order[k], (int64_t)k - from + 1);
	return DTX_OK;
}

static bool ranked(const struct dtx_win *w, uint32_t k)
{
	return !w->rows->unranked[w->rows->order[k]];
}

static uint32_t count_ranked(const struct dtx_win *w, uint32_t from, uint32_t to)
{
	uint32_t n = 0;

	for (uint32_t k = from; k < to; k++)
		n += ranked(w, k);
	return n;
}

static void give_rank(struct dtx_win *w, uint32_t row, uint32_t seen, uint32_t dense, uint32_t last,
                      uint32_t all)
{
	switch ((enum dtx_winkind)w->c->kind) {
	case DTX_WIN_RANK: dtx_win_int(w, row, seen); break;
	case DTX_WIN_DENSE_RANK: dtx_win_int(w, row, dense); break;
	case DTX_WIN_CUME_DIST: dtx_win_put(w, row, (double)last / all); break;
	case DTX_WIN_AVERAGE_RANK: dtx_win_put(w, row, ((double)seen + last) / 2); break;
	default: dtx_win_put(w, row, all > 1 ? (seen - 1.0) / (all - 1.0) : 0);
	}
}

static enum dtx_code ranks(struct dtx_win *w, uint32_t from, uint32_t to)
{
	const uint32_t *peer = w->rows->peer;
	uint32_t all = count_ranked(w, from, to), before = 0, dense = 0;

	for (uint32_t k = from, end; k < to; k = end) {
		for (end = k + 1; end < to && peer[end] == peer[k]; end++)
			;
		if (!ranked(w, k))
			continue;
		dense++;
		for (uint32_t p = k; p < end; p++)
			give_rank(w, w->rows->order[p], before + 1, dense, before + (end - k), all);
		before += end - k;
	}
	return DTX_OK;
}

/* If the rows cannot be divided evenly, the first groups get one row more. */
static enum dtx_code ntile(struct dtx_win *w, uint32_t from, uint32_t to)
{
	uint64_t all = count_ranked(w, from, to), at = 0, tiles = (uint64_t)w->c->n;
	uint64_t size = all / tiles, more = all % tiles, big = more * (size + 1);

	for (uint32_t k = from; k < to; k++) {
		if (!ranked(w, k))
			continue;
		dtx_win_int(w, w->rows->order[k],
		            (int64_t)(at < big ? at / (size + 1) : more + (at - big) / size) + 1);
		at++;
	}
	return DTX_OK;
}

const struct dtx_winkernel dtx_win_rank[] = {
	[DTX_WIN_ROW_NUMBER] = { .gives = DTX_WIN_INT, .part = row_number },
	[DTX_WIN_RANK] = { .gives = DTX_WIN_INT, .ordered = true, .part = ranks },
	[DTX_WIN_DENSE_RANK] = { .gives = DTX_WIN_INT, .ordered = true, .part = ranks },
	[DTX_WIN_PERCENT_RANK] = { .gives = DTX_WIN_FLOAT, .ordered = true, .part = ranks },
	[DTX_WIN_CUME_DIST] = { .gives = DTX_WIN_FLOAT, .ordered = true, .part = ranks },
	[DTX_WIN_AVERAGE_RANK] = { .gives = DTX_WIN_FLOAT, .ordered = true, .part = ranks },
	[DTX_WIN_NTILE] = { .gives = DTX_WIN_INT, .ordered = true, .part = ntile },
};

/* Rolling windows over the last n rows: one value is added and one removed per row, and the sums
 * stay exact. */

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

/* Holds a running sum at a limit (argument i): `side` is -1 for the lowest value, 1 for the
 * highest. */
static enum dtx_code hold(struct dtx_win *w, struct dtx_winsum *sum, unsigned i, int side,
                          uint32_t row)
{
	const struct dtx_column *limit = w->arg[i];
	enum dtx_code rc = DTX_OK;
	struct dtx_err *err = w->err;
	double d;
	dtx_i128 v;

	if (!limit || dtx_win_null(limit, row))
		goto out;
	if (limit->type.type == DTX_T_FLOAT64) {
		d = dtx_fsum_round(&sum->real) - limit->v.f64[row];
		if (!(side < 0 ? d < 0 : d > 0))
			goto out;
		dtx_fsum_free(&sum->real);
		sum->real = (struct dtx_fsum){ 0 };
		if (!dtx_fsum_add(&sum->real, limit->v.f64[row]))
			DTX_FAIL_MEM(err);
		goto out;
	}
	/* the sum fits 128 bits: otherwise the row before would have been an error or null */
	if (!dtx_wsum_get(&sum->exact, &v) ||
	    (side < 0 ? v >= dtx_win_exact(limit, row) : v <= dtx_win_exact(limit, row)))
		goto out;
	sum->exact = (struct dtx_wsum){ 0 };
	dtx_wsum_add(&sum->exact, dtx_win_exact(limit, row));
out:
	return rc;
}

static void start_again(struct dtx_win *w, struct dtx_winsum *sum, uint32_t row)
{
	const struct dtx_column *reset = w->arg[3];

	if (!reset || dtx_win_null(reset, row) || !dtx_bit(reset->v.bits, row))
		return;
	dtx_fsum_free(&sum->real);
	*sum = (struct dtx_winsum){ 0 };
}

static enum dtx_code cum_sum(struct dtx_win *w, uint32_t from, uint32_t to)
{
	struct dtx_winsum sum = { 0 };
	enum dtx_code rc = DTX_OK;

	for (uint32_t k = from; k < to; k++) {
		uint32_t row = w->rows->order[k];

		start_again(w, &sum, row);
		if (dtx_win_null(w->arg[0], row))
			continue;
		DTX_TRY(dtx_winsum_step(w, &sum, row, 1));
		DTX_TRY(hold(w, &sum, 2, 1, row));
		DTX_TRY(hold(w, &sum, 1, -1, row));
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
