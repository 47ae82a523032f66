/* The right side of a join: the table of its rows and keys, built in memory or on disk, and the
 * lookups in it. */
#include "core/base/thread/parallel_for.h"
#include "core/base/memory/prefetch.h"
#include "core/data/spill/spill_column.h"
#include "ops/join/hashjoin.h"

/* Rows whose keys are processed together: those of one partition. */
struct dtx_join_rows {
	uint32_t *id; /* key of each row; NULL if they are 0, 1, 2 and so on */
	struct dtx_rowref *ref, *unkeyed;
	size_t n, nunkeyed, cap_id, cap_ref, cap_unkeyed;
	uint32_t first; /* number of the first row among all partitions, once it is known */
	bool lent;      /* ref is a range of the array for all partitions */
};

/* A partitioned batch: the rows of partition p are row[end[p - 1] .. end[p]). */
struct dtx_join_split {
	uint16_t *row;
	uint32_t *end;
	uint32_t *id; /* dense: key of each entry of `row` */
	struct dtx_column **key;
	int64_t least, most; /* of a single key of whole numbers */
};

/* Where the rows of partition p begin. */
static inline uint32_t join_split_begin(const struct dtx_join_split *s, uint64_t p)
{
	return p ? s->end[p - 1] : 0;
}

/* The state of a build. */
struct dtx_join_making {
	struct dtx_join_table *t;
	const struct dtx_opctx *ox;
	const struct dtx_groupkeys *key;
	const struct dtx_typeref *type;
	bool nulls_equal;
	/* in memory: per batch, per partition */
	struct dtx_join_split *split;
	struct dtx_join_rows *rows;
	_Atomic uint64_t seen_rows, seen_keys; /* of the partitions that are built; relaxed, used as
	                                        * an estimate */
	const struct dtx_groups *like;
	struct dtx_rowref *part_ref; /* all rows by partition */
	uint32_t *all_start;         /* sorted by key */
	struct dtx_rowref *all_ref;
	const uint32_t *part_first;      /* dense: number of rows before each partition */
	atomic_bool uneven;              /* dense: a key has no row or several; relaxed */
	struct dtx_row_store_set *cells; /* records, if rows are used only through them; NULL */
	struct dtx_row_store *in_order;  /* the same records, sorted by key */
	/* on disk */
	struct dtx_column **flat; /* scratch: the keys of a batch */
	struct dtx_spill *spill;
	struct dtx_spill_count *count;
	struct dtx_piece start, ref;
	const uint8_t **of; /* per batch: the partition of each row */
	struct dtx_owner **of_owner;
};

static void join_rows_clear(struct dtx_join_rows *r);
/* Adds a row without a key. */
static DTX_MUSTUSE bool join_rows_unkeyed(struct dtx_join_rows *r, struct dtx_rowref ref);
/* Gives the unkeyed rows to the table too. */
static DTX_MUSTUSE enum dtx_code
join_keep_unkeyed(struct dtx_join_table *t, const struct dtx_join_rows *r, struct dtx_err *err);
/* Whether each key has one row, provided that every key has a row. */
static inline bool join_is_unique(const struct dtx_join_table *t)
{
	return !t->nunkeyed && t->nkeys == t->nrows;
}

/* Unique keys: sorts w->cells by key. */
static DTX_MUSTUSE enum dtx_code join_order(struct dtx_join_making *w, struct dtx_err *err);

/* --- dense keys ---
 *
 * Whole numbers close to each other, as in a numbered table: the id of a key is its distance from
 * the smallest one, and no hash table is needed. */

#define DENSE_KEYS 2    /* most possible keys for each row, */
#define DENSE_FEW  1024 /* and in addition */

/* The smallest and the largest key of a batch.  least > most: it has none. */
static void join_dense_ends(const struct dtx_column *key, const struct dtx_batch *b, int64_t *least,
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

/* Decides, by the smallest and largest keys of all batches, whether keys are dense, and sets the
 * range of ids. */
static bool join_dense(struct dtx_join_making *w)
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

static enum dtx_code dense_split_batch(void *arg, uint64_t i, struct dtx_err *err)
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

		for (uint32_t k = join_split_begin(s, p); k < s->end[p]; k++)
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

		for (uint32_t k = join_split_begin(s, p); k < s->end[p]; k++)
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

		for (uint32_t k = join_split_begin(s, p); k < s->end[p]; k++)
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

		for (uint32_t k = join_split_begin(s, w->t->nparts); k < s->end[w->t->nparts]; k++)
			if (!join_rows_unkeyed(&r, (struct dtx_rowref){ i, s->row[k] }))
				DTX_FAIL_MEM(err);
	}
	DTX_TRY(join_keep_unkeyed(w->t, &r, err));
out:
	join_rows_clear(&r);
	return rc;
}

/* The number of rows before each partition. */
static void dense_place_parts(const struct dtx_join_making *w, uint32_t *first)
{
	for (unsigned p = 0; p < w->t->nparts; p++) {
		first[p + 1] = first[p];
		for (size_t i = 0; i < w->t->kept.n; i++)
			first[p + 1] += w->split[i].end[p] - join_split_begin(&w->split[i], p);
	}
}

static enum dtx_code join_dense_build(struct dtx_join_making *w, struct dtx_err *err)
{
	struct dtx_join_table *t = w->t;
	unsigned workers = dtx_op_workers(w->ox);
	uint32_t *first = dtx_mem_zalloc((size_t)t->nparts + 1, sizeof(*first));
	enum dtx_code rc = DTX_OK;

	if (!first)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_parallel_for(workers, t->kept.n, dense_split_batch, w, err));
	DTX_TRY(keep_unkeyed(w, err));
	dense_place_parts(w, first);
	w->part_first = first;
	DTX_TRY(dtx_parallel_for(workers, t->nparts, part_even, w, err));
	t->unique = !t->nunkeyed && !atomic_load(&w->uneven);
	if (t->unique && w->cells && dtx_row_store_movable(w->cells)) {
		DTX_TRY(join_order(w, err));
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

static DTX_MUSTUSE enum dtx_code join_parts_new(struct dtx_join_table *t, unsigned bits,
                                                struct dtx_err *err);

/* Counting sort of rows by key.  Rows with the same key keep their order.  The rows of key i begin
 * at start[i] among all rows, and here at ref[start[i] - r->first]. */
static void join_rows_sort(const struct dtx_join_rows *r, uint32_t nkeys, uint32_t *start,
                           struct dtx_rowref *ref);

/* Adds the live rows of batch i.  Their key ids are already stored at the end of r->id, with room
 * reserved.  Rows without a key become unkeyed rows. */
static DTX_MUSTUSE enum dtx_code join_rows_add(struct dtx_join_rows *r, uint32_t i,
                                               const struct dtx_join_making *w,
                                               struct dtx_column *const *key,
                                               const struct dtx_batch *b, struct dtx_err *err);

/* Makes room for n rows. */
static DTX_MUSTUSE bool join_rows_reserve(struct dtx_join_rows *r, size_t n);

/* Sorts the records of the right rows by key.  If rows are used only through their records and each
 * key has one row, the id of a key is then the place of its record.  Picking a row costs one cache
 * miss instead of two, because no table of places is needed. */

/* Sorts the records of a batch by partition while they are in a cache.  Each partition then reads
 * its own records in order. */
static enum dtx_code order_batch(void *arg, uint64_t i, struct dtx_err *err)
{
	const struct dtx_join_making *w = arg;

	return dtx_row_store_permute(w->cells->batch[i], w->split[i].row, w->t->kept.batch[i]->nsel,
	                             err);
}

static enum dtx_code order_part(void *arg, uint64_t p, struct dtx_err *err)
{
	const struct dtx_join_making *w = arg;

	(void)err;
	for (size_t i = 0; i < w->t->kept.n; i++) {
		const struct dtx_join_split *s = &w->split[i];
		const struct dtx_row_store *r = w->cells->batch[i];

		for (uint32_t k = join_split_begin(s, p); k < s->end[p]; k++)
			dtx_row_store_one_put(w->in_order, s->id[k], r,
			                      r->rec + (size_t)k * r->stride);
	}
	return DTX_OK;
}

static enum dtx_code join_order(struct dtx_join_making *w, struct dtx_err *err)
{
	unsigned workers = dtx_op_workers(w->ox);
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_parallel_for(workers, w->t->kept.n, order_batch, w, err));
	DTX_TRY(dtx_row_store_one_new(w->cells, w->t->nkeys, &w->in_order, err));
	DTX_TRY(dtx_parallel_for(workers, w->t->nparts, order_part, w, err));
	dtx_row_store_set_one(w->cells, w->in_order);
	w->in_order = NULL;
out:
	return rc;
}

/* Looks up rows in the right side of a join. */

void dtx_join_keys_clear(struct dtx_column **key, uint32_t n)
{
	for (uint32_t i = 0; key && i < n; i++) {
		dtx_column_unref(key[i]);
		key[i] = NULL;
	}
}

enum dtx_code dtx_join_keys(const struct dtx_groupkeys *k, struct dtx_batch *b,
                            struct dtx_column **key, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	for (uint32_t i = 0; i < k->n; i++)
		DTX_TRY(dtx_batch_flat(b, (uint32_t)k->col[i], &key[i], err));
out:
	return rc;
}

static bool any_null(struct dtx_column *const *key, uint32_t n, uint32_t row)
{
	for (uint32_t i = 0; i < n; i++)
		if (key[i]->valid && !dtx_bit(key[i]->valid, row))
			return true;
	return false;
}

static bool all_valid(struct dtx_column *const *key, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (key[i]->valid || key[i]->type.type == DTX_T_NULL)
			return false;
	return true;
}

void dtx_join_forget_nulls(struct dtx_column *const *key, uint32_t n, const struct dtx_batch *b,
                           uint32_t *id)
{
	if (all_valid(key, n))
		return;
	for (uint32_t k = 0; k < b->nsel; k++) {
		uint32_t row = dtx_batch_row(b, k);
		bool null = any_null(key, n, row);

		for (uint32_t i = 0; !null && i < n; i++)
			null = dtx_column_is_null(key[i], row);
		if (null)
			id[k] = DTX_GROUP_NONE;
	}
}

enum dtx_code dtx_join_probe_new(uint32_t nkeys, struct dtx_join_probe *p, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	p->id = dtx_mem_alloc(DTX_BATCH_ROWS, sizeof(*p->id));
	p->of = dtx_mem_alloc(DTX_BATCH_ROWS, sizeof(*p->of));
	p->row = dtx_mem_alloc(DTX_BATCH_ROWS, sizeof(*p->row));
	p->part_id = dtx_mem_alloc(DTX_BATCH_ROWS, sizeof(*p->part_id));
	p->key = dtx_mem_zalloc((size_t)nkeys + 1, sizeof(struct dtx_column *));
	if (!p->id || !p->of || !p->row || !p->part_id || !p->key)
		DTX_FAIL_MEM(err);
out:
	return rc;
}

void dtx_join_probe_clear(struct dtx_join_probe *p, uint32_t nkeys)
{
	dtx_join_keys_clear(p->key, nkeys);
	dtx_mem_free(p->id);
	dtx_mem_free(p->of);
	dtx_mem_free(p->row);
	dtx_mem_free(p->part_id);
	dtx_mem_free(p->key);
	dtx_buf_clear(&p->probe.bytes);
}

/* Looks up one partition after the other: collects its rows and their keys, and puts the ids back
 * to their places. */
static enum dtx_code look_parts(struct dtx_join_table *t, struct dtx_join_probe *p,
                                struct dtx_batch *left, struct dtx_err *err)
{
	struct dtx_batch some = *left;
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_groups_rowparts(t->part[0], &p->probe, p->key, left, 0, t->bits, p->of, err));
	for (unsigned part = 0; part < t->nparts; part++) {
		uint32_t n = 0;

		for (uint32_t k = 0; k < left->nsel; k++) {
			p->row[n] = (uint16_t)dtx_batch_row(left, k);
			n += p->of[k] == part;
		}
		if (!n)
			continue;
		some.sel = p->row;
		some.nsel = n;
		DTX_TRY(dtx_groups_look(t->part[part], &p->probe, p->key, &some, p->part_id, err));
		n = 0;
		for (uint32_t k = 0; k < left->nsel; k++) {
			if (p->of[k] != part)
				continue;
			p->id[k] = p->part_id[n] == DTX_GROUP_NONE ? DTX_GROUP_NONE
			                                           : p->part_id[n] + t->first[part];
			n++;
		}
	}
out:
	return rc;
}

/* The entries of keys are in random places: prefetch those of later rows while earlier rows are
 * counted. */
#define AHEAD 48u

static void look_near(const struct dtx_join_table *t, uint32_t id)
{
	if (id == DTX_GROUP_NONE)
		return;
	if (!t->unique)
		DTX_PREFETCH(&t->start[id]);
	DTX_PREFETCH((const void *)&t->hit[id]);
}

static void count_hits(struct dtx_join_table *t, struct dtx_join_probe *p, uint32_t n)
{
	p->matches = 0;
	for (uint32_t k = 0; k < n; k++) {
		uint32_t id = p->id[k], rows = dtx_join_matches(t, id);

		if (k + AHEAD < n)
			look_near(t, p->id[k + AHEAD]);
		p->matches += rows;
		if (!rows) /* or a key that only rows with nulls have */
			p->id[k] = DTX_GROUP_NONE;
		else if (!atomic_load_explicit(&t->hit[id], memory_order_relaxed))
			atomic_store_explicit(&t->hit[id], 1, memory_order_relaxed);
	}
}

enum dtx_code dtx_join_look(struct dtx_join_table *t, const struct dtx_groupkeys *key,
                            bool nulls_equal, struct dtx_join_probe *p, struct dtx_batch *left,
                            struct dtx_err *err)
{
	const struct dtx_group_parts parts = { t->part, t->first, t->bits };
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_join_keys(key, left, p->key, err));
	if (t->dense)
		dtx_join_dense_ids(t, p->key[0], left, p->id);
	else if (t->on_disk)
		DTX_TRY(look_parts(t, p, left, err));
	else
		DTX_TRY(dtx_groups_lookparts(&parts, &p->probe, p->key, left, p->id, err));
	if (!nulls_equal && !t->dense)
		dtx_join_forget_nulls(p->key, key->n, left, p->id);
	count_hits(t, p, left->nsel);
out:
	dtx_join_keys_clear(p->key, key->n);
	return rc;
}

/* Builds the right side of a join in memory: all workers build partitions that are so small that
 * their tables stay in a cache. */

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
		join_dense_ends(s->key[0], b, &s->least, &s->most);
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
	if (!join_rows_reserve(r, n))
		DTX_FAIL_MEM(err);
	DTX_TRY(part_groups(w, n, &t->part[p], err));
	for (uint64_t i = 0; i < t->kept.n; i++) {
		struct dtx_column *const *key = w->split[i].key;

		DTX_TRY(dtx_cancel_look(err));
		split_part(w, i, p, &some);
		DTX_TRY(dtx_groups_ids(t->part[p], key, &some, r->id + r->n, err));
		DTX_TRY(join_rows_add(r, (uint32_t)i, w, key, &some, err));
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
		DTX_TRY(join_keep_unkeyed(t, &w->rows[p], err));
	}
	if (join_is_unique(t)) {
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
	join_rows_sort(r, dtx_groups_count(t->part[p]), w->all_start + t->first[p],
	               w->all_ref + r->first);
	join_rows_clear(r);
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
	t->unique = join_is_unique(t);
out:
	dtx_groups_free(like);
	return rc;
}

/* Builds in memory: all workers build partitions that are so small that their tables stay in a
 * cache. */
static enum dtx_code join_in_memory(struct dtx_join_making *w, struct dtx_err *err)
{
	struct dtx_join_table *t = w->t;
	enum dtx_code rc = DTX_OK;

	DTX_TRY(join_parts_new(t, w->key->n ? split_bits(w) : 0, err));
	w->split = dtx_mem_zalloc(t->kept.n + 1, sizeof(*w->split));
	if (!w->split)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_parallel_for(dtx_op_workers(w->ox), t->kept.n, read_keys, w, err));
	t->dense = join_dense(w);
	DTX_TRY(t->dense ? join_dense_build(w, err) : build_hashed(w, err));
out:
	return rc;
}

/* Builds the right side of a join on disk, one partition after the other, each small enough for its
 * tables to fit into memory. */

#define ROW_BYTES 128u /* estimated memory per row while its partition is built */

/* Of a build on disk, one partition after the other, each small enough for its tables to fit into
 * memory: the number of partitions as bits.  0: memory is enough. */
static unsigned join_disk_bits(const struct dtx_opctx *ox, int64_t nrows)
{
	size_t limit = dtx_mem_limit(), need = (size_t)nrows * ROW_BYTES;
	unsigned bits = 2;

	if (!ox->run || !ox->run->spill || !limit || dtx_mem_used() + need < limit / 2)
		return 0;
	while (bits < 8 && need >> bits > limit / 8)
		bits++;
	return bits;
}

/* Finds the partition of each row and writes it to disk. */
static enum dtx_code find_parts(struct dtx_join_making *w, const struct dtx_groups *like,
                                struct dtx_err *err)
{
	struct dtx_join_table *t = w->t;
	struct dtx_group_probe probe = { .bytes = { .max = 0 } };
	uint8_t *of = dtx_mem_alloc(DTX_BATCH_ROWS, 1);
	enum dtx_code rc = DTX_OK;
	const void *at;

	w->of = dtx_mem_zalloc(t->kept.n + 1, sizeof(*w->of));
	w->of_owner = dtx_mem_zalloc(t->kept.n + 1, sizeof(struct dtx_owner *));
	if (!of || !w->of || !w->of_owner)
		DTX_FAIL_MEM(err);
	for (size_t i = 0; i < t->kept.n; i++) {
		struct dtx_batch *b = t->kept.batch[i];

		DTX_TRY(dtx_cancel_look(err));
		DTX_TRY(dtx_join_keys(w->key, b, w->flat, err));
		DTX_TRY(dtx_groups_rowparts(like, &probe, w->flat, b, 0, t->bits, of, err));
		dtx_join_keys_clear(w->flat, w->key->n);
		DTX_TRY(dtx_spill_bytes(w->spill, of, b->nrows, &at, &w->of_owner[i], w->count,
		                        err));
		w->of[i] = at;
	}
out:
	dtx_buf_clear(&probe.bytes);
	dtx_mem_free(of);
	return rc;
}

/* The rows of batch i that are in partition p. */
static enum dtx_code part_of_batch(struct dtx_join_making *w, unsigned p, uint32_t i,
                                   struct dtx_join_rows *r, struct dtx_err *err)
{
	struct dtx_batch *b = NULL;
	enum dtx_code rc = DTX_OK;
	uint32_t n = 0;
	uint16_t *sel;

	DTX_TRY(dtx_batch_copy(w->t->kept.batch[i], &b, err));
	DTX_TRY(dtx_batch_sel(b, &sel, err));
	for (uint32_t row = 0; row < b->nrows; row++) {
		sel[n] = (uint16_t)row;
		n += w->of[i][row] == p;
	}
	b->nsel = n;
	if (!n)
		goto out;
	DTX_TRY(dtx_join_keys(w->key, b, w->flat, err));
	if (!join_rows_reserve(r, r->n + n))
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_groups_ids(w->t->part[p], w->flat, b, r->id + r->n, err));
	DTX_TRY(join_rows_add(r, i, w, w->flat, b, err));
out:
	dtx_join_keys_clear(w->flat, w->key->n);
	dtx_batch_free(b);
	return rc;
}

static enum dtx_code build_part(struct dtx_join_making *w, unsigned p, uint32_t *rows,
                                struct dtx_err *err)
{
	struct dtx_join_table *t = w->t;
	struct dtx_join_rows r = { .n = 0 };
	struct dtx_rowref *ref = NULL;
	uint32_t *start = NULL, n;
	enum dtx_code rc = DTX_OK;
	const void *at;

	r.first = *rows;
	DTX_TRY(dtx_groups_new(w->type, w->key->n, &t->part[p], err));
	for (uint32_t i = 0; i < t->kept.n; i++)
		DTX_TRY(part_of_batch(w, p, i, &r, err));
	n = dtx_groups_count(t->part[p]);
	t->first[p] = t->nkeys;
	t->nkeys += n;
	DTX_TRY(join_keep_unkeyed(t, &r, err));
	start = dtx_mem_alloc((size_t)n + 1, sizeof(*start));
	ref = dtx_mem_alloc(r.n + 1, sizeof(*ref));
	if (!start || !ref)
		DTX_FAIL_MEM(err);
	join_rows_sort(&r, n, start, ref);
	DTX_TRY(dtx_piece_add(&w->start, start, n * sizeof(*start), &at, err));
	DTX_TRY(dtx_piece_add(&w->ref, ref, r.n * sizeof(*ref), &at, err));
	*rows += (uint32_t)r.n;
	DTX_TRY(dtx_groups_spill(t->part[p], w->spill, w->count, err));
out:
	join_rows_clear(&r);
	dtx_mem_free(start);
	dtx_mem_free(ref);
	return rc;
}

static enum dtx_code join_on_disk(struct dtx_join_making *w, unsigned bits, struct dtx_err *err)
{
	struct dtx_join_table *t = w->t;
	const struct dtx_opctx *ox = w->ox;
	size_t n = (size_t)t->nrows + 2;
	struct dtx_groups *like = NULL;
	enum dtx_code rc = DTX_OK;
	uint32_t rows = 0;
	const void *at;

	t->on_disk = true;
	w->spill = ox->run->spill;
	w->count = &ox->stat->spilled;
	DTX_TRY(join_parts_new(t, bits, err));
	DTX_TRY(dtx_groups_new(w->type, w->key->n, &like, err));
	DTX_TRY(find_parts(w, like, err));
	DTX_TRY(dtx_spill_reserve(w->spill, n * sizeof(*t->start), &w->start, err));
	DTX_TRY(dtx_spill_reserve(w->spill, n * sizeof(*t->ref), &w->ref, err));
	for (unsigned p = 0; p < t->nparts; p++)
		DTX_TRY(build_part(w, p, &rows, err));
	DTX_TRY(dtx_piece_add(&w->start, &rows, sizeof(rows), &at, err));
	t->start = (const uint32_t *)(const void *)w->start.base;
	t->ref = (const struct dtx_rowref *)(const void *)w->ref.base;
	t->unique = join_is_unique(t);
out:
	dtx_groups_free(like);
	t->start_owner = w->start.owner;
	t->ref_owner = w->ref.owner;
	return rc;
}

void dtx_join_free(struct dtx_join_table *t)
{
	if (!t)
		return;
	dtx_kept_clear(&t->kept);
	dtx_row_store_set_free(t->cells);
	dtx_mem_free(t->rest_from);
	for (unsigned p = 0; t->part && p < t->nparts; p++)
		dtx_groups_free(t->part[p]);
	dtx_mem_free(t->part);
	dtx_mem_free(t->first);
	if (!t->start_owner)
		dtx_mem_free((void *)(uintptr_t)t->start);
	if (!t->ref_owner)
		dtx_mem_free((void *)(uintptr_t)t->ref);
	dtx_owner_unref(t->start_owner);
	dtx_owner_unref(t->ref_owner);
	dtx_mem_free(t->unkeyed);
	dtx_mem_free((void *)t->hit);
	dtx_mem_free(t);
}

/* --- rows and keys --- */

static void join_rows_clear(struct dtx_join_rows *r)
{
	dtx_mem_free(r->id);
	if (!r->lent)
		dtx_mem_free(r->ref);
	dtx_mem_free(r->unkeyed);
	*r = (struct dtx_join_rows){ .n = 0 };
}

static bool join_rows_reserve(struct dtx_join_rows *r, size_t n)
{
	return dtx_mem_reserve(&r->id, &r->cap_id, n + 1, sizeof(*r->id)) &&
	       (r->lent || dtx_mem_reserve(&r->ref, &r->cap_ref, n + 1, sizeof(*r->ref)));
}

static bool join_rows_unkeyed(struct dtx_join_rows *r, struct dtx_rowref ref)
{
	if (!dtx_mem_reserve(&r->unkeyed, &r->cap_unkeyed, r->nunkeyed + 1, sizeof(*r->unkeyed)))
		return false;
	r->unkeyed[r->nunkeyed++] = ref;
	return true;
}

static enum dtx_code join_rows_add(struct dtx_join_rows *r, uint32_t i,
                                   const struct dtx_join_making *w, struct dtx_column *const *key,
                                   const struct dtx_batch *b, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t *id = r->id + r->n;

	if (!w->nulls_equal)
		dtx_join_forget_nulls(key, w->key->n, b, id);
	for (uint32_t k = 0; k < b->nsel; k++) {
		struct dtx_rowref ref = { i, dtx_batch_row(b, k) };
		uint32_t row_id = id[k];

		if (row_id == DTX_GROUP_NONE && !join_rows_unkeyed(r, ref))
			DTX_FAIL_MEM(err);
		if (row_id == DTX_GROUP_NONE)
			continue;
		r->id[r->n] = row_id;
		r->ref[r->n++] = ref;
	}
out:
	return rc;
}

static void join_rows_sort(const struct dtx_join_rows *r, uint32_t nkeys, uint32_t *start,
                           struct dtx_rowref *ref)
{
	if (!nkeys)
		return;
	if (!r->id) {
		for (uint32_t k = 0; k < nkeys; k++)
			start[k] = r->first + k;
		memcpy(ref, r->ref, r->n * sizeof(*ref));
		return;
	}
	memset(start, 0, nkeys * sizeof(*start));
	for (size_t i = 0; i < r->n; i++)
		start[r->id[i]]++;
	dtx_counts_to_starts(start, nkeys, r->first);
	for (size_t i = 0; i < r->n; i++)
		ref[start[r->id[i]]++ - r->first] = r->ref[i];
	dtx_ends_to_starts(start, nkeys, r->first);
}

static enum dtx_code join_keep_unkeyed(struct dtx_join_table *t, const struct dtx_join_rows *r,
                                       struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (!dtx_mem_reserve(&t->unkeyed, &t->cap_unkeyed, t->nunkeyed + r->nunkeyed + 1,
	                     sizeof(*t->unkeyed)))
		DTX_FAIL_MEM(err);
	for (size_t i = 0; i < r->nunkeyed; i++)
		t->unkeyed[t->nunkeyed++] = r->unkeyed[i];
out:
	return rc;
}

static enum dtx_code join_parts_new(struct dtx_join_table *t, unsigned bits, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	t->bits = bits;
	t->nparts = 1u << bits;
	t->part = dtx_mem_zalloc(t->nparts, sizeof(struct dtx_groups *));
	t->first = dtx_mem_zalloc(t->nparts, sizeof(*t->first));
	if (!t->part || !t->first)
		DTX_FAIL_MEM(err);
out:
	return rc;
}

/* --- the whole table --- */

static void making_clear(struct dtx_join_making *w)
{
	if (w->flat)
		dtx_join_keys_clear(w->flat, w->key->n);
	dtx_mem_free(w->flat);
	for (size_t i = 0; w->of_owner && w->t && i < w->t->kept.n; i++)
		dtx_owner_unref(w->of_owner[i]);
	dtx_mem_free(w->of);
	dtx_mem_free(w->of_owner);
	for (size_t i = 0; w->split && i < w->t->kept.n; i++) {
		dtx_join_keys_clear(w->split[i].key, w->key->n);
		dtx_mem_free(w->split[i].key);
		dtx_mem_free(w->split[i].row);
		dtx_mem_free(w->split[i].id);
		dtx_mem_free(w->split[i].end);
	}
	dtx_mem_free(w->split);
	for (unsigned p = 0; w->rows && p < w->t->nparts; p++)
		join_rows_clear(&w->rows[p]);
	dtx_mem_free(w->rows);
	dtx_mem_free(w->part_ref);
	dtx_row_store_free(w->in_order);
}

enum dtx_code dtx_join_build(const struct dtx_opctx *ox, struct dtx_kept *kept,
                             const struct dtx_groupkeys *key, const struct dtx_typeref *type,
                             bool nulls_equal, struct dtx_row_store_set *cells,
                             struct dtx_join_table **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_join_table *t = dtx_mem_zalloc(1, sizeof(*t));
	struct dtx_join_making w = { t,
		                     ox,
		                     key,
		                     type,
		                     nulls_equal,
		                     .cells = cells,
		                     .start = { .fd = -1 },
		                     .ref = { .fd = -1 } };
	unsigned bits;

	if (!t)
		DTX_FAIL_MEM(err);
	t->kept = *kept;
	*kept = (struct dtx_kept){ NULL, 0, 0 };
	for (size_t i = 0; i < t->kept.n; i++)
		t->nrows += t->kept.batch[i]->nrows;
	if (t->nrows >= UINT32_MAX)
		DTX_FAIL(err, DTX_E_ROW_LIMIT,
		         "join: the right table has more than 4 billion rows");
	w.flat = dtx_mem_zalloc((size_t)key->n + 1, sizeof(struct dtx_column *));
	if (!w.flat)
		DTX_FAIL_MEM(err);
	bits = key->n ? join_disk_bits(ox, t->nrows) : 0;
	DTX_TRY(bits ? join_on_disk(&w, bits, err) : join_in_memory(&w, err));
	t->hit = dtx_mem_zalloc((size_t)t->nkeys + 1, sizeof(*t->hit));
	if (!t->hit)
		DTX_FAIL_MEM(err);
	*out = t;
out:
	making_clear(&w);
	if (rc != DTX_OK)
		dtx_join_free(t);
	return rc;
}
