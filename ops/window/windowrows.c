/* The rows of a table by partition and in order.  Workers first make keys and places for blocks of
 * batches, then sort each partition separately. */
#include "ops/window/windowrows.h"

#include "core/base/thread/parallel_for.h"
#include "core/data/blocks.h"
#include "ops/group/table/places.h"
#include "ops/sort/sorter.h"

#define SHARED_MIN 65536u /* with fewer rows one worker is as fast */
#define CHUNK_ROWS 16384u /* a worker takes so many rows at a time, or one partition */

struct maker;
struct block { /* batches whose sort keys one worker makes */
	struct maker *m;
	struct dtx_block is;
	struct dtx_buf bytes; /* of long keys */
};
struct maker {
	const struct dtx_opctx *ox;
	const struct dtx_orderkeys *order;
	struct dtx_table *t;
	struct dtx_windowrows *w;
	struct dtx_tablekeys group;
	struct dtx_places places;
	uint32_t n, *first; /* first row of each batch */
	struct block *block;
	unsigned nblocks;
	struct dtx_sort_row *row, *tmp; /* row: first by row number, then by place; tmp: scratch
	                                 * memory */
	struct dtx_buf bytes;           /* of all blocks */
	struct dtx_sorted view;
	uint32_t *chunk; /* partitions [chunk[i], chunk[i + 1]) are sorted by one worker */
	uint32_t nchunks;
};

void dtx_windowrows_clear(struct dtx_windowrows *w)
{
	dtx_mem_free(w->order);
	dtx_mem_free(w->start);
	dtx_mem_free(w->peer);
	dtx_mem_free(w->unranked);
	*w = (struct dtx_windowrows)DTX_WINDOWROWS_INIT;
}

static enum dtx_code place_rows(void *arg, uint64_t i, struct dtx_err *err)
{
	struct maker *m = arg;

	(void)err;
	for (int64_t row = m->places.row[i]; row < m->places.row[i + 1]; row++) {
		int64_t place = dtx_places_next(&m->places, i, row);

		if (m->row)
			m->row[place] = m->tmp[row];
		else
			m->w->order[place] = (uint32_t)row;
	}
	return DTX_OK;
}

/* --- order --- */

static enum dtx_code cut_blocks(struct maker *m, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t row = 0;

	m->nblocks = m->n < SHARED_MIN ? 1 : dtx_op_workers(m->ox);
	m->block = dtx_mem_zalloc(m->nblocks, sizeof(*m->block));
	m->first = dtx_mem_alloc(m->t->nbatches + 1, sizeof(*m->first));
	if (!m->block || !m->first)
		DTX_FAIL_MEM(err);
	for (unsigned i = 0; i < m->nblocks; i++) {
		m->block[i] = (struct block){ .m = m, .is = dtx_block_of(m->t, m->nblocks, i) };
		dtx_buf_init(&m->block[i].bytes, SIZE_MAX / 2);
	}
	for (size_t i = 0; i < m->t->nbatches; i++) {
		m->first[i] = row;
		row += m->t->batch[i]->nrows;
	}
out:
	return rc;
}

static enum dtx_code batch_keys(struct block *b, size_t i, struct dtx_buf *one, struct dtx_err *err)
{
	struct maker *m = b->m;
	const struct dtx_orderkeys *by = m->order;
	struct dtx_batch *in = m->t->batch[i];
	struct dtx_sort_row *r = m->tmp + m->first[i];
	enum dtx_code rc = DTX_OK;
	struct dtx_column **key = dtx_mem_zalloc((size_t)by->n + 1, sizeof(struct dtx_column *));

	if (!key)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_cancel_look(err));
	DTX_TRY(dtx_orderkeys_eval(m->ox, by, in, key, err));
	for (uint32_t row = 0; row < in->nrows; row++, r++) {
		m->w->unranked[m->first[i] + row] = dtx_column_is_null(key[0], row);
		if (!dtx_sort_key(key, by->order, by->n, row, one, &b->bytes, r))
			DTX_FAIL_MEM(err);
		r->batch = (uint32_t)i;
		r->row = row;
	}
out:
	for (uint32_t k = 0; key && k < by->n; k++)
		dtx_column_unref(key[k]);
	dtx_mem_free(key);
	return rc;
}

static enum dtx_code block_keys(void *arg, uint64_t i, struct dtx_err *err)
{
	struct block *b = &((struct maker *)arg)->block[i];
	struct dtx_buf one = DTX_BUF_INIT(SIZE_MAX / 2);
	enum dtx_code rc = DTX_OK;

	for (size_t k = b->is.from; k < b->is.to; k++)
		DTX_TRY(batch_keys(b, k, &one, err));
out:
	dtx_buf_clear(&one);
	return rc;
}

/* Joins the long keys of all blocks, one block after the other. */
static enum dtx_code join_bytes(struct maker *m, struct dtx_err *err)
{
	for (unsigned i = 0; i < m->nblocks; i++) {
		struct block *b = &m->block[i];
		size_t base = m->bytes.len;

		for (int64_t row = b->is.at; base && row < b->is.end; row++)
			m->tmp[row].rest += m->tmp[row].rest ? base : 0;
		dtx_buf_addn(&m->bytes, b->bytes.ptr ? b->bytes.ptr : "", b->bytes.len);
		dtx_buf_clear(&b->bytes);
	}
	return dtx_buf_check(&m->bytes, "sort keys", err);
}

static enum dtx_code make_keys(struct maker *m, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t n = (size_t)m->n + 1;

	DTX_TRY(cut_blocks(m, err));
	m->w->peer = dtx_mem_alloc(n, sizeof(*m->w->peer));
	m->w->unranked = dtx_mem_alloc(n, sizeof(*m->w->unranked));
	m->row = dtx_mem_alloc(n, sizeof(*m->row));
	m->tmp = dtx_mem_alloc(n, sizeof(*m->tmp));
	if (!m->w->peer || !m->w->unranked || !m->row || !m->tmp)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_parallel_for(m->nblocks, m->nblocks, block_keys, m, err));
	DTX_TRY(join_bytes(m, err));
	m->view = (struct dtx_sorted){
		m->row, m->n, m->bytes.ptr, m->t->batch, m->t->nbatches, NULL
	};
out:
	return rc;
}

/* Sorts the partition [from, to) and stores for each place the first place with equal keys. */
static enum dtx_code sort_part(struct maker *m, uint32_t from, uint32_t to, unsigned workers,
                               struct dtx_err *err)
{
	struct dtx_windowrows *w = m->w;
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_sort_rows(&m->view, m->row + from, m->tmp + from, to - from, workers, err));
	for (uint32_t k = from; k < to; k++) {
		const struct dtx_sort_row *r = &m->row[k];
		bool same = k > from && dtx_sorted_same(&m->view, r - 1, &m->view, r);

		w->order[k] = m->first[r->batch] + r->row;
		w->peer[k] = same ? w->peer[k - 1] : k;
	}
out:
	return rc;
}

/* Whether a partition is so large that one worker would be left sorting it alone. */
static bool is_large(const struct maker *m, uint32_t p)
{
	return m->w->start[p + 1] - m->w->start[p] > m->n / (2 * m->nblocks);
}

static enum dtx_code sort_chunk(void *arg, uint64_t i, struct dtx_err *err)
{
	struct maker *m = arg;
	enum dtx_code rc = DTX_OK;

	for (uint32_t p = m->chunk[i]; p < m->chunk[i + 1]; p++) {
		DTX_TRY(dtx_cancel_look(err));
		if (m->nblocks == 1 || !is_large(m, p))
			DTX_TRY(sort_part(m, m->w->start[p], m->w->start[p + 1], 1, err));
	}
out:
	return rc;
}

static enum dtx_code sort_parts(struct maker *m, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const uint32_t *start = m->w->start;

	m->chunk = dtx_mem_alloc((size_t)m->n / CHUNK_ROWS + 3, sizeof(*m->chunk));
	if (!m->chunk)
		DTX_FAIL_MEM(err);
	m->chunk[0] = 0;
	for (uint32_t p = 0; p < m->group.n; p++) {
		if (m->nblocks > 1 && is_large(m, p))
			DTX_TRY(sort_part(m, start[p], start[p + 1], m->nblocks, err));
		if (start[p + 1] - start[m->chunk[m->nchunks]] >= CHUNK_ROWS || p + 1 == m->group.n)
			m->chunk[++m->nchunks] = p + 1;
	}
	DTX_TRY(dtx_parallel_for(m->nblocks, m->nchunks, sort_chunk, m, err));
out:
	return rc;
}

/* --- everything --- */

static enum dtx_code make_rows(struct maker *m, const struct dtx_groupkeys *by, struct dtx_err *err)
{
	struct dtx_windowrows *w = m->w;
	unsigned workers = dtx_op_workers(m->ox);
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_tablekeys_open(&m->group, m->ox, by, m->t, err));
	DTX_TRY(dtx_places_open(&m->places, &m->group, workers, err));
	w->order = dtx_mem_alloc((size_t)m->n + 1, sizeof(*w->order));
	w->start = dtx_mem_alloc((size_t)m->group.n + 1, sizeof(*w->start));
	if (!w->order || !w->start)
		DTX_FAIL_MEM(err);
	for (uint32_t p = 0; p <= m->group.n; p++)
		w->start[p] = (uint32_t)m->places.start[p];
	if (m->order->n)
		DTX_TRY(make_keys(m, err));
	DTX_TRY(dtx_parallel_for(m->places.nblocks, m->places.nblocks, place_rows, m, err));
	if (m->order->n)
		DTX_TRY(sort_parts(m, err));
	w->rows = (struct dtx_winrows){ .n = m->n,
		                        .nparts = m->group.n,
		                        .order = w->order,
		                        .start = w->start,
		                        .peer = w->peer,
		                        .unranked = w->unranked,
		                        .workers = workers };
out:
	return rc;
}

static void maker_clear(struct maker *m)
{
	for (unsigned i = 0; m->block && i < m->nblocks; i++)
		dtx_buf_clear(&m->block[i].bytes);
	dtx_mem_free(m->block);
	dtx_mem_free(m->first);
	dtx_mem_free(m->row);
	dtx_mem_free(m->tmp);
	dtx_mem_free(m->chunk);
	dtx_buf_clear(&m->bytes);
	dtx_places_close(&m->places);
	dtx_tablekeys_close(&m->group);
}

enum dtx_code dtx_windowrows_make(struct dtx_windowrows *w, const struct dtx_opctx *ox,
                                  const struct dtx_groupkeys *by, const struct dtx_orderkeys *order,
                                  struct dtx_table *t, struct dtx_err *err)
{
	struct maker m = { .ox = ox, .order = order, .t = t, .w = w };
	enum dtx_code rc = DTX_OK;

	if (t->nrows > (int64_t)DTX_WINDOW_ROWS_MAX)
		DTX_FAIL(err, DTX_E_ROW_LIMIT, "%lld rows are too many for window calls",
		         (long long)t->nrows);
	m.n = (uint32_t)t->nrows;
	dtx_buf_init(&m.bytes, SIZE_MAX / 2);
	rc = make_rows(&m, by, err);
	maker_clear(&m);
out:
	return rc;
}
