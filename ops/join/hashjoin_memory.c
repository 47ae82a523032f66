/* Builds the right side of a join in memory: all workers build partitions that are so small that
 * their tables stay in a cache. */
#include "core/base/parallel_for.h"
#include "ops/join/hashjoin_impl.h"

#define PART_ROWS 19 /* most rows of a partition, as bits, while there are few partitions */
#define FEW_ROWS  15 /* fewest rows of a partition, as bits; */
/* Fewest rows of a partition in a batch, as bits: below, partitions cost more than they save. */
#define SPLIT_ROWS 16

static unsigned split_bits(const struct dtx_join_making *w)
{
	const struct dtx_join_table *t = w->t;
	int64_t parts = DTX_MIN(4 * (int64_t)dtx_op_workers(w->ox), t->nrows >> FEW_ROWS);
	unsigned bits = 0;

	parts = DTX_MAX(parts, t->nrows >> PART_ROWS);
	parts = DTX_MIN(parts, t->nrows / SPLIT_ROWS / (int64_t)(t->kept.n + 1));
	while (bits < 8 && (int64_t)1 << bits < parts)
		bits++;
	return bits;
}

/* Sorts the rows of batch b by partition; the order within a partition stays. */
static void split_rows(const struct dtx_batch *b, const uint8_t *of, unsigned nparts,
                       struct dtx_join_split *s)
{
	for (uint32_t k = 0; k < b->nsel; k++)
		s->end[of[k]]++;
	dtx_counts_to_starts(s->end, nparts, 0);
	for (uint32_t k = 0; k < b->nsel; k++)
		s->row[s->end[of[k]]++] = (uint16_t)dtx_batch_row(b, k);
}

static enum dtx_code read_keys(void *arg, uint64_t i, struct dtx_err *err)
{
	struct dtx_join_making *w = arg;
	struct dtx_join_split *s = &w->split[i];
	struct dtx_batch *b = w->t->kept.batch[i];
	enum dtx_code rc = DTX_OK;

	s->key = dtx_mem_zalloc((size_t)w->key->n + 1, sizeof(struct dtx_column *));
	if (!s->key)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_join_keys(w->key, b, s->key, err));
	if (w->key->n == 1 && w->type[0].type == DTX_T_INT64)
		dtx_join_dense_ends(s->key[0], b, &s->least, &s->most);
out:
	return rc;
}

static enum dtx_code split_batch(void *arg, uint64_t i, struct dtx_err *err)
{
	struct dtx_join_making *w = arg;
	struct dtx_join_split *s = &w->split[i];
	struct dtx_batch *b = w->t->kept.batch[i];
	struct dtx_group_probe probe = { .bytes = { .max = 0 } };
	enum dtx_code rc = DTX_OK;
	uint8_t *of;

	of = dtx_mem_alloc((size_t)b->nsel + 1, 1);
	s->row = dtx_mem_alloc((size_t)b->nsel + 1, sizeof(*s->row));
	s->end = dtx_mem_zalloc(w->t->nparts, sizeof(*s->end));
	if (!of || !s->row || !s->end)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_groups_rowparts(w->like, &probe, s->key, b, 0, w->t->bits, of, err));
	split_rows(b, of, w->t->nparts, s);
out:
	dtx_buf_clear(&probe.bytes);
	dtx_mem_free(of);
	return rc;
}

static uint32_t split_rows_of(const struct dtx_join_making *w, uint64_t i, uint64_t p)
{
	const struct dtx_join_split *s = &w->split[i];

	return s->end ? s->end[p] - (p ? s->end[p - 1] : 0) : w->t->kept.batch[i]->nsel;
}

/* The rows of batch i that are in partition p; *some borrows from the batch. */
static void split_part(const struct dtx_join_making *w, uint64_t i, uint64_t p,
                       struct dtx_batch *some)
{
	const struct dtx_join_split *s = &w->split[i];

	*some = *w->t->kept.batch[i];
	if (!s->end)
		return;
	some->sel = s->row + (p ? s->end[p - 1] : 0);
	some->nsel = split_rows_of(w, i, p);
}

/* Groups with room for as many keys as partitions of n rows have had so far. */
static enum dtx_code part_groups(struct dtx_join_making *w, size_t n, struct dtx_groups **out,
                                 struct dtx_err *err)
{
	uint64_t keys = atomic_load_explicit(&w->seen_keys, memory_order_relaxed);
	uint64_t rows = atomic_load_explicit(&w->seen_rows, memory_order_relaxed);
	enum dtx_code rc = DTX_OK;
	double most;

	DTX_TRY(dtx_groups_new(w->type, w->key->n, out, err));
	if (!rows)
		goto out;
	most = (double)n * (double)keys / (double)rows * 1.05;
	DTX_TRY(dtx_groups_expect(*out, (uint32_t)DTX_MIN(most, (double)n), err));
out:
	return rc;
}

/* Assigns to each partition the places for its rows. */
static enum dtx_code place_parts(struct dtx_join_making *w, struct dtx_err *err)
{
	const struct dtx_join_table *t = w->t;
	enum dtx_code rc = DTX_OK;
	size_t at = 0;

	w->part_ref = dtx_mem_alloc((size_t)t->nrows + 1, sizeof(*w->part_ref));
	if (!w->part_ref)
		DTX_FAIL_MEM(err);
	for (unsigned p = 0; p < t->nparts; p++) {
		w->rows[p].lent = true;
		w->rows[p].ref = w->part_ref + at;
		for (uint64_t i = 0; i < t->kept.n; i++)
			at += split_rows_of(w, i, p);
		w->rows[p].cap_ref = (size_t)(w->part_ref + at - w->rows[p].ref);
	}
out:
	return rc;
}

static enum dtx_code group_part(void *arg, uint64_t p, struct dtx_err *err)
{
	struct dtx_join_making *w = arg;
	const struct dtx_join_table *t = w->t;
	struct dtx_join_rows *r = &w->rows[p];
	enum dtx_code rc = DTX_OK;
	struct dtx_batch some;
	size_t n = r->cap_ref;

	DTX_TRY(dtx_cancel_look(err));
	if (!dtx_join_rows_reserve(r, n))
		DTX_FAIL_MEM(err);
	DTX_TRY(part_groups(w, n, &t->part[p], err));
	for (uint64_t i = 0; i < t->kept.n; i++) {
		struct dtx_column *const *key = w->split[i].key;

		split_part(w, i, p, &some);
		DTX_TRY(dtx_groups_ids(t->part[p], key, &some, r->id + r->n, err));
		DTX_TRY(dtx_join_rows_add(r, (uint32_t)i, w, key, &some, err));
	}
	atomic_fetch_add_explicit(&w->seen_keys, dtx_groups_count(t->part[p]),
	                          memory_order_relaxed);
	atomic_fetch_add_explicit(&w->seen_rows, n, memory_order_relaxed);
	if (!r->nunkeyed && dtx_groups_count(t->part[p]) == n) { /* every key was new when it came,
		                                                  * so keys are unique */
		dtx_mem_free(r->id);
		r->id = NULL;
	}
out:
	return rc;
}

/* Numbers the keys of all partitions, and their rows.  If keys are unique, the rows are in this
 * order already. */
static enum dtx_code number_parts(struct dtx_join_making *w, struct dtx_err *err)
{
	struct dtx_join_table *t = w->t;
	enum dtx_code rc = DTX_OK;
	uint32_t rows = 0;

	for (unsigned p = 0; p < t->nparts; p++) {
		t->first[p] = t->nkeys;
		t->nkeys += dtx_groups_count(t->part[p]);
		w->rows[p].first = rows;
		rows += (uint32_t)w->rows[p].n;
		DTX_TRY(dtx_join_keep_unkeyed(t, &w->rows[p], err));
	}
	if (dtx_join_is_unique(t)) {
		t->ref = w->part_ref;
		w->part_ref = NULL;
		goto out;
	}
	w->all_start = dtx_mem_alloc((size_t)t->nkeys + 1, sizeof(*w->all_start));
	w->all_ref = dtx_mem_alloc((size_t)rows + 1, sizeof(*w->all_ref));
	t->start = w->all_start;
	t->ref = w->all_ref;
	if (!t->start || !t->ref)
		DTX_FAIL_MEM(err);
	w->all_start[t->nkeys] = rows;
out:
	return rc;
}

static enum dtx_code sort_part(void *arg, uint64_t p, struct dtx_err *err)
{
	struct dtx_join_making *w = arg;
	const struct dtx_join_table *t = w->t;
	struct dtx_join_rows *r = &w->rows[p];

	(void)err;
	dtx_join_rows_sort(r, dtx_groups_count(t->part[p]), w->all_start + t->first[p],
	                   w->all_ref + r->first);
	dtx_join_rows_clear(r);
	return DTX_OK;
}

/* Builds the table by the hashes of the keys. */
static enum dtx_code build_hashed(struct dtx_join_making *w, struct dtx_err *err)
{
	struct dtx_join_table *t = w->t;
	unsigned workers = dtx_op_workers(w->ox);
	struct dtx_groups *like = NULL;
	enum dtx_code rc = DTX_OK;

	w->rows = dtx_mem_zalloc(t->nparts, sizeof(*w->rows));
	if (!w->rows)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_groups_new(w->type, w->key->n, &like, err));
	w->like = like;
	if (t->bits)
		DTX_TRY(dtx_parallel_for(workers, t->kept.n, split_batch, w, err));
	DTX_TRY(place_parts(w, err));
	DTX_TRY(dtx_parallel_for(workers, t->nparts, group_part, w, err));
	DTX_TRY(number_parts(w, err));
	if (w->all_start)
		DTX_TRY(dtx_parallel_for(workers, t->nparts, sort_part, w, err));
	t->unique = dtx_join_is_unique(t);
out:
	dtx_groups_free(like);
	return rc;
}

enum dtx_code dtx_join_in_memory(struct dtx_join_making *w, struct dtx_err *err)
{
	struct dtx_join_table *t = w->t;
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_join_parts_new(t, w->key->n ? split_bits(w) : 0, err));
	w->split = dtx_mem_zalloc(t->kept.n + 1, sizeof(*w->split));
	if (!w->split)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_parallel_for(dtx_op_workers(w->ox), t->kept.n, read_keys, w, err));
	t->dense = dtx_join_dense(w);
	DTX_TRY(t->dense ? dtx_join_dense_build(w, err) : build_hashed(w, err));
out:
	return rc;
}
