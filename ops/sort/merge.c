/* Merges sorted runs, in parts that workers make in parallel: see merge.h.
 *
 * The bounds of the parts come from samples.  Every 2048th row of each run is a sample, and a merge
 * of the samples alone gives an estimate of the result: 32 samples stand for about 65536 rows.  The
 * row at which a part begins is then looked up in every run by binary search, so the bounds are
 * exact although the size of a part is only estimated.  The order of rows is total (equal keys are
 * ordered by position), so each row belongs to exactly one part. */
#include "ops/sort/merge.h"

#include "core/data/cells.h"
#include "ops/sort/packed.h"

#define PART_ROWS  65536u
#define PICK_CELLS 131072u /* of a batch that is made: wide rows take much memory */
/* Every row with a multiple of this number is a sample. */
#define SAMPLE_STEP 2048u
#define PART_STEPS  (PART_ROWS / SAMPLE_STEP) /* samples per part */
#define TRIM_PARTS  4u /* the kernel maps 64 KiB around a sample that is on disk */

/* The runs by their next row, smallest first: a binary heap of run numbers. */
struct heap {
	const struct dtx_sorted *run;
	size_t *at, *end; /* per run */
	unsigned *id, n;
};

static bool heap_less(const struct heap *h, unsigned a, unsigned b)
{
	return dtx_sorted_cmp(&h->run[a], &h->run[a].row[h->at[a]], &h->run[b],
	                      &h->run[b].row[h->at[b]]) < 0;
}

static void heap_sift(struct heap *h, unsigned i)
{
	unsigned id = h->id[i];

	for (;;) {
		unsigned child = 2 * i + 1;

		if (child >= h->n)
			break;
		if (child + 1 < h->n && heap_less(h, h->id[child + 1], h->id[child]))
			child++;
		if (!heap_less(h, h->id[child], id))
			break;
		h->id[i] = h->id[child];
		i = child;
	}
	h->id[i] = id;
}

static void heap_close(struct heap *h)
{
	dtx_mem_free(h->at);
	dtx_mem_free(h->end);
	dtx_mem_free(h->id);
}

/* Starts with rows [from[r], to[r]) of each run.  NULL: from the first row, to the last. */
static enum dtx_code heap_open(struct heap *h, const struct dtx_merge *m, const size_t *from,
                               const size_t *to, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	*h = (struct heap){ .run = m->run };
	h->at = dtx_mem_alloc((size_t)m->n + 1, sizeof(*h->at));
	h->end = dtx_mem_alloc((size_t)m->n + 1, sizeof(*h->end));
	h->id = dtx_mem_alloc((size_t)m->n + 1, sizeof(*h->id));
	if (!h->at || !h->end || !h->id)
		DTX_FAIL_MEM(err);
	for (unsigned r = 0; r < m->n; r++) {
		h->at[r] = from ? from[r] : 0;
		h->end[r] = to ? to[r] : m->run[r].n;
		if (h->at[r] < h->end[r])
			h->id[h->n++] = r;
	}
	for (unsigned i = h->n; i-- > 0;)
		heap_sift(h, i);
out:
	return rc;
}

/* Moves the run with the smallest row forward by `step` rows. */
static void heap_next(struct heap *h, size_t step)
{
	unsigned r = h->id[0];

	h->at[r] += DTX_MIN(step, h->end[r] - h->at[r]);
	if (h->at[r] == h->end[r])
		h->id[0] = h->id[--h->n];
	if (h->n)
		heap_sift(h, 0);
}

/* --- parts --- */

/* The first row of run r, from `lo` on, that does not come before row x of run `of`. */
static size_t lower_bound(const struct dtx_merge *m, unsigned r, size_t lo, unsigned of, size_t x)
{
	const struct dtx_sorted *run = &m->run[r], *other = &m->run[of];
	size_t hi = run->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (dtx_sorted_cmp(run, &run->row[mid], other, &other->row[x]) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Merges the samples of all runs; a part begins at every PART_STEPS-th sample. */
static enum dtx_code find_bounds(struct dtx_merge *m, size_t total, struct dtx_spill *spill,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t most = total / PART_ROWS + 2, steps = 0, part = 1;
	struct heap h = { 0 };

	m->bound = dtx_mem_zalloc(most * m->n + 1, sizeof(*m->bound));
	if (!m->bound)
		DTX_FAIL_MEM(err);
	DTX_TRY(heap_open(&h, m, NULL, NULL, err));
	for (; h.n && part + 1 < most; heap_next(&h, SAMPLE_STEP)) {
		unsigned of = h.id[0];
		size_t *bound = m->bound + part * m->n, *last = bound - m->n;

		if (++steps % PART_STEPS != 0)
			continue;
		DTX_TRY(dtx_cancel_look(err));
		for (unsigned r = 0; r < m->n; r++)
			bound[r] = lower_bound(m, r, last[r], of, h.at[of]);
		part++;
		if (part % TRIM_PARTS == 0)
			dtx_spill_trim(spill);
	}
	for (unsigned r = 0; r < m->n; r++)
		m->bound[part * m->n + r] = m->run[r].n;
	m->nparts = part;
out:
	heap_close(&h);
	return rc;
}

/* A result that is limited to `limit` rows is a single part.  Its end is found by merging up to
 * there. */
static enum dtx_code cut_bounds(struct dtx_merge *m, size_t limit, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct heap h = { 0 };

	m->bound = dtx_mem_zalloc((size_t)m->n * 2 + 1, sizeof(*m->bound));
	if (!m->bound)
		DTX_FAIL_MEM(err);
	DTX_TRY(heap_open(&h, m, NULL, NULL, err));
	for (; limit; limit--) {
		if (limit % DTX_CANCEL_ROWS == 0)
			DTX_TRY(dtx_cancel_look(err));
		heap_next(&h, 1);
	}
	memcpy(m->bound + m->n, h.at, m->n * sizeof(*h.at));
	m->nparts = 1;
out:
	heap_close(&h);
	return rc;
}

static const struct dtx_origin *common_origin(const struct dtx_merge *m)
{
	for (uint32_t i = 1; i < m->nbatches; i++)
		if (m->batch[i]->origin != m->batch[0]->origin)
			return NULL;
	return m->nbatches ? m->batch[0]->origin : NULL;
}

enum dtx_code dtx_merge_open(struct dtx_merge *m, const struct dtx_sorted *run, unsigned n,
                             size_t limit, struct dtx_spill *spill, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t rows = 0, batches = 0;

	*m = (struct dtx_merge){ .run = run, .n = n };
	for (unsigned r = 0; r < n; r++) {
		rows += run[r].n;
		batches += run[r].nbatches;
	}
	m->first = dtx_mem_zalloc((size_t)n + 1, sizeof(*m->first));
	m->batch = dtx_mem_alloc(batches + 1, sizeof(struct dtx_batch *));
	if (!m->first || !m->batch)
		DTX_FAIL_MEM(err);
	for (unsigned r = 0; r < n; r++) {
		m->first[r] = m->nbatches;
		for (size_t i = 0; i < run[r].nbatches; i++)
			m->batch[m->nbatches++] = run[r].batch[i];
	}
	m->origin = common_origin(m);
	DTX_TRY(dtx_cells_hold(m->batch, m->nbatches, &m->held, err));
	DTX_TRY(limit < rows ? cut_bounds(m, limit, err) : find_bounds(m, rows, spill, err));
	dtx_spill_trim(spill);
out:
	return rc;
}

enum dtx_code dtx_merge_pack(struct dtx_merge *m, const struct dtx_rowspans_cols *cols,
                             const struct dtx_rowspans *row, struct dtx_err *err)
{
	return dtx_packed_new(cols, m->batch, row, m->nbatches, DTX_PACKED_REACH, &m->packed, err);
}

void dtx_merge_close(struct dtx_merge *m)
{
	dtx_packed_free(m->packed);
	dtx_owner_unref(m->held);
	dtx_mem_free(m->bound);
	dtx_mem_free(m->batch);
	dtx_mem_free(m->first);
	*m = (struct dtx_merge){ .n = 0 };
}

/* --- making a part --- */

/* The rows of a batch that is being made, and the few source batches that they come from. */
struct chunk {
	uint32_t *which, *row; /* which: index into batch */
	struct dtx_batch **batch;
	uint32_t nbatches, n;
	uint32_t *place; /* for each batch of the merge: its index in batch + 1; 0: it is not
	                  * there */
	uint32_t *used;  /* batches of the merge that are in batch */
};

static void chunk_close(struct chunk *c)
{
	dtx_mem_free(c->which);
	dtx_mem_free(c->row);
	dtx_mem_free(c->batch);
	dtx_mem_free(c->place);
	dtx_mem_free(c->used);
}

static enum dtx_code chunk_open(struct chunk *c, const struct dtx_merge *m, uint32_t most,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	c->which = dtx_mem_alloc(most, sizeof(*c->which));
	c->row = dtx_mem_alloc(most, sizeof(*c->row));
	c->batch = dtx_mem_alloc(most, sizeof(struct dtx_batch *));
	c->used = dtx_mem_alloc(most, sizeof(*c->used));
	c->place = dtx_mem_zalloc(m->nbatches + 1u, sizeof(*c->place));
	if (!c->which || !c->row || !c->batch || !c->used || !c->place)
		DTX_FAIL_MEM(err);
out:
	return rc;
}

/* Collects the next rows.  False if none. */
static bool chunk_fill(struct chunk *c, const struct dtx_merge *m, struct heap *h, uint32_t most)
{
	for (uint32_t i = 0; i < c->nbatches; i++)
		c->place[c->used[i]] = 0;
	c->nbatches = 0;
	for (c->n = 0; c->n < most && h->n; c->n++) {
		unsigned r = h->id[0];
		const struct dtx_sort_row *from = &m->run[r].row[h->at[r]];
		uint32_t b = m->first[r] + from->batch;

		if (!c->place[b]) {
			c->used[c->nbatches] = b;
			c->batch[c->nbatches++] = m->batch[b];
			c->place[b] = c->nbatches;
		}
		c->which[c->n] = c->place[b] - 1;
		c->row[c->n] = from->row;
		heap_next(h, 1);
	}
	return c->n > 0;
}

enum dtx_code dtx_merge_part(const struct dtx_merge *m, uint64_t part, const struct dtx_opctx *ox,
                             const struct dtx_colmap *map, struct dtx_emit *out,
                             struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t rows = DTX_MIN(dtx_op_batch_rows(ox), DTX_PICK_ROWS);
	uint32_t most = DTX_MIN(rows, PICK_CELLS / (map->n + 1) + 1);
	const size_t *from = m->bound + part * m->n;
	struct chunk c = { .n = 0 };
	struct dtx_batch *b = NULL;
	struct heap h = { 0 };

	DTX_TRY(chunk_open(&c, m, most, err));
	DTX_TRY(heap_open(&h, m, from, from + m->n, err));
	while (!dtx_emit_full(out) && chunk_fill(&c, m, &h, most)) {
		/* if it uses few batches of many, it should not keep the others alive */
		bool most_used = c.nbatches > m->nbatches / 2;
		struct dtx_pick pick = { c.batch,   c.nbatches, c.which,
			                 c.row,     c.n,        most_used ? m->held : NULL,
			                 m->packed, c.used };

		DTX_TRY(dtx_pick_batch(ox, map, &pick, &b, err));
		if (!m->origin) /* the row ids of a batch must not depend on its size, so none has
		                 * them */
			b->origin = NULL;
		DTX_TRY(dtx_emit_batch(out, b, err));
		dtx_batch_free(b);
		b = NULL;
	}
	if (ox->run)
		dtx_spill_trim(ox->run->spill);
out:
	dtx_batch_free(b);
	heap_close(&h);
	chunk_close(&c);
	return rc;
}
