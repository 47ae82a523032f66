/* Rows of a table in partitions and in their order. */
#include "ops/windowrows.h"

#include "ops/sorter.h"
#include "ops/tablekeys.h"

struct maker {
	const struct dtx_opctx *ox;
	const struct dtx_groupkeys *by;
	const struct dtx_orderkeys *order;
	struct dtx_table *t;
	struct dtx_windowrows *w;
	uint32_t n;
	struct dtx_tablekeys group;
	struct dtx_sorter sorter;
	uint32_t *first; /* first row of each batch */
	struct dtx_err *err;
};

void dtx_windowrows_clear(struct dtx_windowrows *w)
{
	dtx_mem_free(w->order);
	dtx_mem_free(w->start);
	dtx_mem_free(w->peer);
	dtx_mem_free(w->unranked);
	*w = (struct dtx_windowrows)DTX_WINDOWROWS_INIT;
}

/* --- order --- */

static void note_unranked(struct maker *m, const struct dtx_column *key, uint32_t first, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		m->w->unranked[first + i] = dtx_column_is_null(key, i);
}

static enum dtx_code add_batch(struct maker *m, size_t i, uint32_t first)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_err *err = m->err;
	struct dtx_batch *b = m->t->batch[i];
	struct dtx_column **key =
		dtx_mem_zalloc((size_t)m->order->n + 1, sizeof(struct dtx_column *));

	if (!key)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_orderkeys_eval(m->ox, m->order, b, key, err));
	note_unranked(m, key[0], first, b->nrows);
	DTX_TRY(dtx_sorter_add(&m->sorter, b, key, m->order->order, m->order->n, err));
	m->first[i] = first;
out:
	for (uint32_t k = 0; key && k < m->order->n; k++)
		dtx_column_unref(key[k]);
	dtx_mem_free(key);
	return rc;
}

/* Rows in order over the whole table, and which of them are peers: of equal keys, by the place of
 * the first of them. */
static enum dtx_code sort_rows(struct maker *m, uint32_t *sorted, uint32_t *peer)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_sorted run;
	uint32_t first = 0;

	for (size_t i = 0; i < m->t->nbatches; i++) {
		DTX_TRY(add_batch(m, i, first));
		first += m->t->batch[i]->nrows;
	}
	DTX_TRY(dtx_sorter_sort_by(&m->sorter, m->ox->run ? m->ox->run->workers : 1, m->err));
	run = dtx_sorter_run(&m->sorter);
	for (uint32_t k = 0; k < m->n; k++) {
		const struct dtx_sort_row *r = &run.row[k];

		sorted[k] = m->first[r->batch] + r->row;
		peer[k] = k && dtx_sorted_same(&run, r - 1, &run, r) ? peer[k - 1] : k;
	}
out:
	return rc;
}

/* --- partitions --- */

/* Stable: rows of a partition stay in the order of `sorted` (NULL: the table's). */
static void partition(struct maker *m, const uint32_t *sorted, const uint32_t *peer)
{
	struct dtx_windowrows *w = m->w;
	uint32_t ngroups = m->group.n;
	uint32_t *at = w->start;

	for (uint32_t i = 0; i < m->n; i++)
		at[dtx_tablekeys_id(&m->group, i) + 1]++;
	for (uint32_t p = 0; p < ngroups; p++)
		at[p + 1] += at[p];
	for (uint32_t k = 0; k < m->n; k++) {
		uint32_t row = sorted ? sorted[k] : k, p = dtx_tablekeys_id(&m->group, row);
		uint32_t place = at[p]++;

		w->order[place] = row;
		if (peer)
			w->peer[place] = peer[k];
	}
	memmove(at + 1, at, ngroups * sizeof(*at));
	at[0] = 0;
}

/* Equal keys of the whole table become the first place in the partition that has them. */
static void local_peers(struct dtx_windowrows *w, uint32_t ngroups)
{
	for (uint32_t p = 0; p < ngroups; p++) {
		uint32_t last = UINT32_MAX, first = 0;

		for (uint32_t k = w->start[p]; k < w->start[p + 1]; k++) {
			if (w->peer[k] != last || k == w->start[p]) {
				last = w->peer[k];
				first = k;
			}
			w->peer[k] = first;
		}
	}
}

static enum dtx_code make_rows(struct maker *m)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_err *err = m->err;
	struct dtx_windowrows *w = m->w;
	uint32_t *sorted = NULL, *peer = NULL;
	size_t n = (size_t)m->n + 1;

	DTX_TRY(dtx_tablekeys_open(&m->group, m->by, m->t, err));
	w->order = dtx_mem_alloc(n, sizeof(*w->order));
	w->start = dtx_mem_zalloc((size_t)m->group.n + 2, sizeof(*w->start));
	if (!w->order || !w->start)
		DTX_FAIL_MEM(err);
	if (m->order->n) {
		sorted = dtx_mem_alloc(n, sizeof(*sorted));
		peer = dtx_mem_alloc(n, sizeof(*peer));
		w->peer = dtx_mem_alloc(n, sizeof(*w->peer));
		w->unranked = dtx_mem_alloc(n, sizeof(*w->unranked));
		m->first = dtx_mem_alloc(m->t->nbatches + 1, sizeof(*m->first));
		if (!sorted || !peer || !w->peer || !w->unranked || !m->first)
			DTX_FAIL_MEM(err);
		DTX_TRY(sort_rows(m, sorted, peer));
	}
	partition(m, sorted, peer);
	if (w->peer)
		local_peers(w, m->group.n);
	w->rows = (struct dtx_winrows){ .n = m->n,
		                        .nparts = m->group.n,
		                        .order = w->order,
		                        .start = w->start,
		                        .peer = w->peer,
		                        .unranked = w->unranked,
		                        .workers = m->ox->run ? m->ox->run->workers : 1 };
out:
	dtx_mem_free(sorted);
	dtx_mem_free(peer);
	return rc;
}

enum dtx_code dtx_windowrows_make(struct dtx_windowrows *w, const struct dtx_opctx *ox,
                                  const struct dtx_groupkeys *by, const struct dtx_orderkeys *order,
                                  struct dtx_table *t, struct dtx_err *err)
{
	struct maker m = { .ox = ox, .by = by, .order = order, .t = t, .w = w, .err = err };
	enum dtx_code rc = DTX_OK;

	if (t->nrows > (int64_t)DTX_WINDOW_ROWS_MAX)
		DTX_FAIL(err, DTX_E_ROW_LIMIT, "%lld rows are too many for window calls",
		         (long long)t->nrows);
	m.n = (uint32_t)t->nrows;
	dtx_sorter_init(&m.sorter, SIZE_MAX);
	rc = make_rows(&m);
	dtx_sorter_clear(&m.sorter);
	dtx_tablekeys_close(&m.group);
	dtx_mem_free(m.first);
out:
	return rc;
}
