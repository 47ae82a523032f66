/* Numbers of rows: row_number, ranks, ntile.  A row whose first order key is null has no rank and
 * is not counted. */
#include "core/expr/window/win.h"

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
	[DTX_WIN_NTILE] = { .gives = DTX_WIN_INT, .ordered = true, .part = ntile },
};
