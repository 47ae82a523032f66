/* The right side of a join whose key is whole numbers close to each other, as in a numbered table:
 * the id of a key is its distance from the smallest one, and no hash table is needed. */
#include "core/base/parallel_for.h"
#include "ops/join/hashjoin_impl.h"

#define DENSE_KEYS 2    /* most possible keys for each row, */
#define DENSE_FEW  1024 /* and in addition */

void dtx_join_dense_ends(const struct dtx_column *key, const struct dtx_batch *b, int64_t *least,
                         int64_t *most)
{
	int64_t lo = INT64_MAX, hi = INT64_MIN;

	for (uint32_t k = 0; k < b->nsel; k++) {
		uint32_t row = dtx_batch_row(b, k);
		bool there = !key->valid || dtx_bit(key->valid, row);
		int64_t v = key->v.i64[row];

		lo = there && v < lo ? v : lo;
		hi = there && v > hi ? v : hi;
	}
	*least = lo;
	*most = hi;
}

/* The null key, if it matches, is after all others. */
static uint32_t null_id(const struct dtx_join_table *t)
{
	return t->nkeys > t->dense_keys ? t->dense_keys : DTX_GROUP_NONE;
}

bool dtx_join_dense(struct dtx_join_making *w)
{
	struct dtx_join_table *t = w->t;
	int64_t least = INT64_MAX, most = INT64_MIN;
	uint64_t keys;

	if (w->key->n != 1 || w->type[0].type != DTX_T_INT64)
		return false;
	for (size_t i = 0; i < t->kept.n; i++) {
		least = DTX_MIN(least, w->split[i].least);
		most = DTX_MAX(most, w->split[i].most);
	}
	keys = (uint64_t)most - (uint64_t)least;
	if (least > most || keys >= (uint64_t)t->nrows * DENSE_KEYS + DENSE_FEW ||
	    keys >= UINT32_MAX - 2)
		return false;
	t->least = least;
	t->dense_keys = (uint32_t)keys + 1;
	t->nkeys = t->dense_keys + w->nulls_equal;
	while ((t->nkeys - 1) >> t->shift >= t->nparts)
		t->shift++;
	return true;
}

void dtx_join_dense_ids(const struct dtx_join_table *t, const struct dtx_column *key,
                        const struct dtx_batch *b, uint32_t *id)
{
	uint32_t null = null_id(t);

	for (uint32_t k = 0; k < b->nsel; k++) {
		uint32_t row = dtx_batch_row(b, k);
		uint64_t at = (uint64_t)key->v.i64[row] - (uint64_t)t->least;

		id[k] = at < t->dense_keys ? (uint32_t)at : DTX_GROUP_NONE;
		if (key->valid && !dtx_bit(key->valid, row))
			id[k] = null;
	}
}

/* --- the build: rows are partitioned by id, so that the keys of a partition stay in a cache --- */

static inline unsigned part_of(const struct dtx_join_table *t, uint32_t id)
{
	return id == DTX_GROUP_NONE ? t->nparts : id >> t->shift; /* unkeyed rows come after all
	                                                           * others */
}

static inline uint32_t part_begin(const struct dtx_join_table *t, uint64_t p)
{
	return (uint32_t)DTX_MIN(p << t->shift, t->nkeys);
}

/* Sorts the rows of a batch and their ids by partition; the order within a partition stays. */
static void split_ids(const struct dtx_join_table *t, const struct dtx_batch *b, const uint32_t *id,
                      struct dtx_join_split *s)
{
	for (uint32_t k = 0; k < b->nsel; k++)
		s->end[part_of(t, id[k])]++;
	dtx_counts_to_starts(s->end, t->nparts + 1, 0);
	for (uint32_t k = 0; k < b->nsel; k++) {
		uint32_t to = s->end[part_of(t, id[k])]++;

		s->row[to] = (uint16_t)dtx_batch_row(b, k);
		s->id[to] = id[k];
	}
}

static enum dtx_code split_batch(void *arg, uint64_t i, struct dtx_err *err)
{
	struct dtx_join_making *w = arg;
	struct dtx_join_split *s = &w->split[i];
	const struct dtx_batch *b = w->t->kept.batch[i];
	uint32_t *id = dtx_mem_alloc((size_t)b->nsel + 1, sizeof(*id));
	enum dtx_code rc = DTX_OK;

	s->row = dtx_mem_alloc((size_t)b->nsel + 1, sizeof(*s->row));
	s->id = dtx_mem_alloc((size_t)b->nsel + 1, sizeof(*s->id));
	s->end = dtx_mem_zalloc((size_t)w->t->nparts + 1, sizeof(*s->end));
	if (!id || !s->row || !s->id || !s->end)
		DTX_FAIL_MEM(err);
	dtx_join_dense_ids(w->t, s->key[0], b, id);
	split_ids(w->t, b, id, s);
	dtx_join_keys_clear(s->key, w->key->n);
out:
	dtx_mem_free(id);
	return rc;
}

/* Counts the rows of each key in partition p. */
static void count_rows(const struct dtx_join_making *w, uint64_t p, uint32_t *count)
{
	uint32_t first = part_begin(w->t, p);

	for (size_t i = 0; i < w->t->kept.n; i++) {
		const struct dtx_join_split *s = &w->split[i];

		for (uint32_t k = dtx_join_split_begin(s, p); k < s->end[p]; k++)
			count[s->id[k] - first]++;
	}
}

/* Checks whether each key of partition p has exactly one row, as in a numbered table. */
static enum dtx_code part_even(void *arg, uint64_t p, struct dtx_err *err)
{
	struct dtx_join_making *w = arg;
	uint32_t nkeys = part_begin(w->t, p + 1) - part_begin(w->t, p);
	uint32_t rows = w->part_first[p + 1] - w->part_first[p], *count = NULL;
	enum dtx_code rc = DTX_OK;
	bool even = rows == nkeys;

	if (atomic_load_explicit(&w->uneven, memory_order_relaxed))
		return DTX_OK;
	count = even ? dtx_mem_zalloc((size_t)nkeys + 1, sizeof(*count)) : NULL;
	if (even && !count)
		DTX_FAIL_MEM(err);
	if (even)
		count_rows(w, p, count);
	for (uint32_t k = 0; even && k < nkeys; k++)
		even = count[k] == 1;
	if (!even)
		atomic_store_explicit(&w->uneven, true, memory_order_relaxed);
out:
	dtx_mem_free(count);
	return rc;
}

/* Stores each row of partition p at its key. */
static enum dtx_code part_single(void *arg, uint64_t p, struct dtx_err *err)
{
	const struct dtx_join_making *w = arg;

	(void)err;
	for (uint32_t i = 0; i < w->t->kept.n; i++) {
		const struct dtx_join_split *s = &w->split[i];

		for (uint32_t k = dtx_join_split_begin(s, p); k < s->end[p]; k++)
			w->all_ref[s->id[k]] = (struct dtx_rowref){ i, s->row[k] };
	}
	return DTX_OK;
}

static enum dtx_code part_sorted(void *arg, uint64_t p, struct dtx_err *err)
{
	const struct dtx_join_making *w = arg;
	uint32_t first = part_begin(w->t, p), nkeys = part_begin(w->t, p + 1) - first;
	uint32_t *start = w->all_start + first;

	(void)err;
	if (!nkeys)
		return DTX_OK;
	memset(start, 0, nkeys * sizeof(*start));
	count_rows(w, p, start);
	dtx_counts_to_starts(start, nkeys, w->part_first[p]);
	for (uint32_t i = 0; i < w->t->kept.n; i++) {
		const struct dtx_join_split *s = &w->split[i];

		for (uint32_t k = dtx_join_split_begin(s, p); k < s->end[p]; k++)
			w->all_ref[start[s->id[k] - first]++] = (struct dtx_rowref){ i, s->row[k] };
	}
	dtx_ends_to_starts(start, nkeys, w->part_first[p]);
	return DTX_OK;
}

/* Keeps the rows that have no key. */
static enum dtx_code keep_unkeyed(struct dtx_join_making *w, struct dtx_err *err)
{
	struct dtx_join_rows r = { .n = 0 };
	enum dtx_code rc = DTX_OK;

	for (uint32_t i = 0; i < w->t->kept.n; i++) {
		const struct dtx_join_split *s = &w->split[i];

		for (uint32_t k = dtx_join_split_begin(s, w->t->nparts); k < s->end[w->t->nparts];
		     k++)
			if (!dtx_join_rows_unkeyed(&r, (struct dtx_rowref){ i, s->row[k] }))
				DTX_FAIL_MEM(err);
	}
	DTX_TRY(dtx_join_keep_unkeyed(w->t, &r, err));
out:
	dtx_join_rows_clear(&r);
	return rc;
}

/* The number of rows before each partition. */
static void place_parts(const struct dtx_join_making *w, uint32_t *first)
{
	for (unsigned p = 0; p < w->t->nparts; p++) {
		first[p + 1] = first[p];
		for (size_t i = 0; i < w->t->kept.n; i++)
			first[p + 1] += w->split[i].end[p] - dtx_join_split_begin(&w->split[i], p);
	}
}

enum dtx_code dtx_join_dense_build(struct dtx_join_making *w, struct dtx_err *err)
{
	struct dtx_join_table *t = w->t;
	unsigned workers = dtx_op_workers(w->ox);
	uint32_t *first = dtx_mem_zalloc((size_t)t->nparts + 1, sizeof(*first));
	enum dtx_code rc = DTX_OK;

	if (!first)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_parallel_for(workers, t->kept.n, split_batch, w, err));
	DTX_TRY(keep_unkeyed(w, err));
	place_parts(w, first);
	w->part_first = first;
	DTX_TRY(dtx_parallel_for(workers, t->nparts, part_even, w, err));
	t->unique = !t->nunkeyed && !atomic_load(&w->uneven);
	if (t->unique && w->cells && dtx_row_store_movable(w->cells)) {
		DTX_TRY(dtx_join_order(w, err));
		goto out;
	}
	t->ref = w->all_ref = dtx_mem_alloc((size_t)first[t->nparts] + 1, sizeof(*w->all_ref));
	if (!t->ref)
		DTX_FAIL_MEM(err);
	if (t->unique) {
		DTX_TRY(dtx_parallel_for(workers, t->nparts, part_single, w, err));
		goto out;
	}
	t->start = w->all_start = dtx_mem_alloc((size_t)t->nkeys + 1, sizeof(*w->all_start));
	if (!t->start)
		DTX_FAIL_MEM(err);
	w->all_start[t->nkeys] = first[t->nparts];
	DTX_TRY(dtx_parallel_for(workers, t->nparts, part_sorted, w, err));
out:
	w->part_first = NULL;
	dtx_mem_free(first);
	return rc;
}
