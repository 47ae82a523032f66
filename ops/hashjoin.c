/* The right side of a join. */
#include "ops/hashjoin.h"

#include "core/base/each.h"
#include "core/data/spill_column.h"

void dtx_join_free(struct dtx_join_table *t)
{
	if (!t)
		return;
	dtx_kept_clear(&t->kept);
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

/* Rows whose keys are looked at together: those of a part. */
struct rows {
	uint32_t *id; /* key of each; NULL once they are 0, 1, 2 ... */
	struct dtx_rowref *ref, *unkeyed;
	size_t n, nunkeyed, cap_id, cap_ref, cap_unkeyed;
	uint32_t first; /* of those of all parts, once it is known */
	bool lent;      /* ref is a part of all parts' */
};

static void rows_clear(struct rows *r)
{
	dtx_mem_free(r->id);
	if (!r->lent)
		dtx_mem_free(r->ref);
	dtx_mem_free(r->unkeyed);
	*r = (struct rows){ .n = 0 };
}

static bool rows_reserve(struct rows *r, size_t n)
{
	return dtx_mem_reserve(&r->id, &r->cap_id, n + 1, sizeof(*r->id)) &&
	       (r->lent || dtx_mem_reserve(&r->ref, &r->cap_ref, n + 1, sizeof(*r->ref)));
}

static bool add_unkeyed(struct rows *r, struct dtx_rowref ref)
{
	if (!dtx_mem_reserve(&r->unkeyed, &r->cap_unkeyed, r->nunkeyed + 1, sizeof(*r->unkeyed)))
		return false;
	r->unkeyed[r->nunkeyed++] = ref;
	return true;
}

/* Key ids in g of the live rows of batch i, which follow those that are there. */
static enum dtx_code add_rows(struct dtx_groups *g, uint32_t i, struct dtx_column *const *key,
                              uint32_t nkeys, bool nulls_equal, const struct dtx_batch *b,
                              struct rows *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t *id;

	if (!rows_reserve(r, r->n + b->nsel))
		DTX_FAIL_MEM(err);
	id = r->id + r->n;
	DTX_TRY(dtx_groups_ids(g, key, b, id, err));
	if (!nulls_equal)
		dtx_join_forget_nulls(key, nkeys, b, id);
	for (uint32_t k = 0; k < b->nsel; k++) {
		struct dtx_rowref ref = { i, dtx_batch_row(b, k) };
		uint32_t row_id = id[k];

		if (row_id == DTX_GROUP_NONE && !add_unkeyed(r, ref))
			DTX_FAIL_MEM(err);
		if (row_id == DTX_GROUP_NONE)
			continue;
		r->id[r->n] = row_id;
		r->ref[r->n++] = ref;
	}
out:
	return rc;
}

/* Counting sort of rows by key: rows of a key stay in right order, those of key i begin at
 * start[i] of all rows, here at ref[start[i] - r->first]. */
static void sort_rows(const struct rows *r, uint32_t nkeys, uint32_t *start, struct dtx_rowref *ref)
{
	uint32_t at = r->first;

	if (!nkeys)
		return;
	if (!r->id) {
		for (uint32_t k = 0; k < nkeys; k++)
			start[k] = at + k;
		memcpy(ref, r->ref, r->n * sizeof(*ref));
		return;
	}
	memset(start, 0, nkeys * sizeof(*start));
	for (size_t i = 0; i < r->n; i++)
		start[r->id[i]]++;
	for (uint32_t k = 0; k < nkeys; k++) {
		uint32_t rows = start[k];

		start[k] = at;
		at += rows;
	}
	for (size_t i = 0; i < r->n; i++)
		ref[start[r->id[i]]++ - r->first] = r->ref[i];
	/* each is now where the next one begins */
	memmove(start + 1, start, (nkeys - 1) * sizeof(*start));
	start[0] = r->first;
}

static enum dtx_code keep_unkeyed(struct dtx_join_table *t, const struct rows *r,
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

static enum dtx_code new_parts(struct dtx_join_table *t, unsigned bits, struct dtx_err *err)
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

/* A batch apart: rows of part p are row[end[p - 1] .. end[p]). */
struct split {
	uint16_t *row;
	uint32_t *end;
	struct dtx_column **key;
};

/* What a build looks at. */
struct build {
	struct dtx_join_table *t;
	const struct dtx_opctx *ox;
	const struct dtx_groupkeys *key;
	const struct dtx_typeref *type;
	bool nulls_equal;
	/* in memory: per batch, per part */
	struct split *split;
	struct rows *rows;
	_Atomic uint64_t seen_rows, seen_keys; /* of the parts that are built; relaxed, a guess */
	const struct dtx_groups *like;
	struct dtx_rowref *part_ref; /* of all rows, part by part */
	uint32_t *all_start;         /* in order of keys */
	struct dtx_rowref *all_ref;
	/* on disk */
	struct dtx_column **flat; /* scratch: the keys of a batch */
	struct dtx_spill *spill;
	struct dtx_spill_count *count;
	struct dtx_piece start, ref;
	const uint8_t **of; /* per batch: the part of each row */
	struct dtx_owner **of_owner;
};

/* --- building in memory: parts so small that their tables stay in a cache, by all workers --- */

#define PART_ROWS  19 /* bits: of a part at most, while parts are few */
#define FEW_ROWS   15 /* of a part at least, */
#define SPLIT_ROWS 16 /* and in a batch, else parts cost more than they save */

static unsigned split_bits(const struct build *w)
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

/* Rows of batch b by part, in order. */
static void split_rows(const struct dtx_batch *b, const uint8_t *of, unsigned nparts,
                       struct split *s)
{
	uint32_t at = 0;

	for (uint32_t k = 0; k < b->nsel; k++)
		s->end[of[k]]++;
	for (unsigned p = 0; p < nparts; p++) {
		uint32_t rows = s->end[p];

		s->end[p] = at;
		at += rows;
	}
	for (uint32_t k = 0; k < b->nsel; k++)
		s->row[s->end[of[k]]++] = (uint16_t)dtx_batch_row(b, k);
}

static enum dtx_code split_batch(void *arg, uint64_t i, struct dtx_err *err)
{
	struct build *w = arg;
	struct split *s = &w->split[i];
	struct dtx_batch *b = w->t->kept.batch[i];
	struct dtx_group_probe probe = { .bytes = { .max = 0 } };
	enum dtx_code rc = DTX_OK;
	uint8_t *of = NULL;

	s->key = dtx_mem_zalloc((size_t)w->key->n + 1, sizeof(struct dtx_column *));
	if (!s->key)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_join_keys(w->key, b, s->key, err));
	if (!w->t->bits)
		goto out;
	of = dtx_mem_alloc((size_t)b->nsel + 1, 1);
	s->row = dtx_mem_alloc((size_t)b->nsel + 1, sizeof(*s->row));
	s->end = dtx_mem_zalloc(w->t->nparts, sizeof(*s->end));
	if (!of || !s->row || !s->end)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_groups_rowparts(w->like, &probe, s->key, b, w->t->bits, of, err));
	split_rows(b, of, w->t->nparts, s);
out:
	dtx_buf_clear(&probe.bytes);
	dtx_mem_free(of);
	return rc;
}

static uint32_t split_rows_of(const struct build *w, uint64_t i, uint64_t p)
{
	const struct split *s = &w->split[i];

	return s->end ? s->end[p] - (p ? s->end[p - 1] : 0) : w->t->kept.batch[i]->nsel;
}

/* The rows of batch i that are in part p: *some borrows from it. */
static void split_part(const struct build *w, uint64_t i, uint64_t p, struct dtx_batch *some)
{
	const struct split *s = &w->split[i];

	*some = *w->t->kept.batch[i];
	if (!s->end)
		return;
	some->sel = s->row + (p ? s->end[p - 1] : 0);
	some->nsel = split_rows_of(w, i, p);
}

/* A table for as many keys as parts of n rows have had so far. */
static enum dtx_code part_groups(struct build *w, size_t n, struct dtx_groups **out,
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

/* Each part gets the places of as many rows as it has. */
static enum dtx_code place_parts(struct build *w, struct dtx_err *err)
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
	struct build *w = arg;
	const struct dtx_join_table *t = w->t;
	struct rows *r = &w->rows[p];
	enum dtx_code rc = DTX_OK;
	struct dtx_batch some;
	size_t n = r->cap_ref;

	DTX_TRY(dtx_halt_look(err));
	if (!rows_reserve(r, n))
		DTX_FAIL_MEM(err);
	DTX_TRY(part_groups(w, n, &t->part[p], err));
	for (uint64_t i = 0; i < t->kept.n; i++) {
		split_part(w, i, p, &some);
		DTX_TRY(add_rows(t->part[p], (uint32_t)i, w->split[i].key, w->key->n,
		                 w->nulls_equal, &some, r, err));
	}
	atomic_fetch_add_explicit(&w->seen_keys, dtx_groups_count(t->part[p]),
	                          memory_order_relaxed);
	atomic_fetch_add_explicit(&w->seen_rows, n, memory_order_relaxed);
	if (!r->nunkeyed && dtx_groups_count(t->part[p]) == n) { /* each was new when it came */
		dtx_mem_free(r->id);
		r->id = NULL;
	}
out:
	return rc;
}

static bool is_unique(const struct dtx_join_table *t)
{
	return !t->nunkeyed && t->nkeys == t->nrows;
}

/* Numbers the keys of all parts, and their rows, which are in the order of unique keys as it is. */
static enum dtx_code number_parts(struct build *w, struct dtx_err *err)
{
	struct dtx_join_table *t = w->t;
	enum dtx_code rc = DTX_OK;
	uint32_t rows = 0;

	for (unsigned p = 0; p < t->nparts; p++) {
		t->first[p] = t->nkeys;
		t->nkeys += dtx_groups_count(t->part[p]);
		w->rows[p].first = rows;
		rows += (uint32_t)w->rows[p].n;
		DTX_TRY(keep_unkeyed(t, &w->rows[p], err));
	}
	if (is_unique(t)) {
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
	struct build *w = arg;
	const struct dtx_join_table *t = w->t;
	struct rows *r = &w->rows[p];

	(void)err;
	sort_rows(r, dtx_groups_count(t->part[p]), w->all_start + t->first[p],
	          w->all_ref + r->first);
	rows_clear(r);
	return DTX_OK;
}

static enum dtx_code in_memory(struct build *w, struct dtx_err *err)
{
	struct dtx_join_table *t = w->t;
	unsigned workers = dtx_op_workers(w->ox);
	struct dtx_groups *like = NULL;
	enum dtx_code rc = DTX_OK;

	DTX_TRY(new_parts(t, w->key->n ? split_bits(w) : 0, err));
	w->split = dtx_mem_zalloc(t->kept.n + 1, sizeof(*w->split));
	w->rows = dtx_mem_zalloc(t->nparts, sizeof(*w->rows));
	if (!w->split || !w->rows)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_groups_new(w->type, w->key->n, &like, err));
	w->like = like;
	DTX_TRY(dtx_each(workers, t->kept.n, split_batch, w, err));
	DTX_TRY(place_parts(w, err));
	DTX_TRY(dtx_each(workers, t->nparts, group_part, w, err));
	DTX_TRY(number_parts(w, err));
	if (w->all_start)
		DTX_TRY(dtx_each(workers, t->nparts, sort_part, w, err));
out:
	dtx_groups_free(like);
	return rc;
}

/* --- building on disk: part by part, each so small that its tables fit --- */

#define ROW_BYTES 128u /* of a row while its part is built */

/* 0: the tables fit memory. */
static unsigned part_bits(const struct dtx_opctx *ox, int64_t nrows)
{
	size_t limit = dtx_mem_limit(), need = (size_t)nrows * ROW_BYTES;
	unsigned bits = 2;

	if (!ox->run || !ox->run->spill || !limit || dtx_mem_used() + need < limit / 2)
		return 0;
	while (bits < 8 && need >> bits > limit / 8)
		bits++;
	return bits;
}

/* The part of each row, also on disk. */
static enum dtx_code find_parts(struct build *w, const struct dtx_groups *like, struct dtx_err *err)
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

		DTX_TRY(dtx_halt_look(err));
		DTX_TRY(dtx_join_keys(w->key, b, w->flat, err));
		DTX_TRY(dtx_groups_rowparts(like, &probe, w->flat, b, t->bits, of, err));
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

/* The rows of batch i that are in part p. */
static enum dtx_code part_of_batch(struct build *w, unsigned p, uint32_t i, struct rows *r,
                                   struct dtx_err *err)
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
	DTX_TRY(add_rows(w->t->part[p], i, w->flat, w->key->n, w->nulls_equal, b, r, err));
out:
	dtx_join_keys_clear(w->flat, w->key->n);
	dtx_batch_free(b);
	return rc;
}

static enum dtx_code build_part(struct build *w, unsigned p, uint32_t *rows, struct dtx_err *err)
{
	struct dtx_join_table *t = w->t;
	struct rows r = { .n = 0 };
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
	DTX_TRY(keep_unkeyed(t, &r, err));
	start = dtx_mem_alloc((size_t)n + 1, sizeof(*start));
	ref = dtx_mem_alloc(r.n + 1, sizeof(*ref));
	if (!start || !ref)
		DTX_FAIL_MEM(err);
	sort_rows(&r, n, start, ref);
	DTX_TRY(dtx_piece_add(&w->start, start, n * sizeof(*start), &at, err));
	DTX_TRY(dtx_piece_add(&w->ref, ref, r.n * sizeof(*ref), &at, err));
	*rows += (uint32_t)r.n;
	DTX_TRY(dtx_groups_spill(t->part[p], w->spill, w->count, err));
out:
	rows_clear(&r);
	dtx_mem_free(start);
	dtx_mem_free(ref);
	return rc;
}

static enum dtx_code on_disk(struct build *w, unsigned bits, struct dtx_err *err)
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
	DTX_TRY(new_parts(t, bits, err));
	DTX_TRY(dtx_groups_new(w->type, w->key->n, &like, err));
	DTX_TRY(find_parts(w, like, err));
	DTX_TRY(dtx_spill_reserve(w->spill, n * sizeof(*t->start), &w->start, err));
	DTX_TRY(dtx_spill_reserve(w->spill, n * sizeof(*t->ref), &w->ref, err));
	for (unsigned p = 0; p < t->nparts; p++)
		DTX_TRY(build_part(w, p, &rows, err));
	DTX_TRY(dtx_piece_add(&w->start, &rows, sizeof(rows), &at, err));
	t->start = (const uint32_t *)(const void *)w->start.base;
	t->ref = (const struct dtx_rowref *)(const void *)w->ref.base;
out:
	dtx_groups_free(like);
	t->start_owner = w->start.owner;
	t->ref_owner = w->ref.owner;
	return rc;
}

static void build_clear(struct build *w)
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
		dtx_mem_free(w->split[i].end);
	}
	dtx_mem_free(w->split);
	for (unsigned p = 0; w->rows && p < w->t->nparts; p++)
		rows_clear(&w->rows[p]);
	dtx_mem_free(w->rows);
	dtx_mem_free(w->part_ref);
}

enum dtx_code dtx_join_build(const struct dtx_opctx *ox, struct dtx_kept *kept,
                             const struct dtx_groupkeys *key, const struct dtx_typeref *type,
                             bool nulls_equal, struct dtx_join_table **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_join_table *t = dtx_mem_zalloc(1, sizeof(*t));
	struct build w = {
		t, ox, key, type, nulls_equal, .start = { .fd = -1 }, .ref = { .fd = -1 }
	};
	unsigned bits;

	if (!t)
		DTX_FAIL_MEM(err);
	t->kept = *kept;
	*kept = (struct dtx_kept){ NULL, 0, 0 };
	dtx_kept_sort(&t->kept);
	for (size_t i = 0; i < t->kept.n; i++)
		t->nrows += t->kept.batch[i]->nrows;
	if (t->nrows >= UINT32_MAX)
		DTX_FAIL(err, DTX_E_ROW_LIMIT,
		         "join: the right table has more than 4 billion rows");
	w.flat = dtx_mem_zalloc((size_t)key->n + 1, sizeof(struct dtx_column *));
	if (!w.flat)
		DTX_FAIL_MEM(err);
	bits = key->n ? part_bits(ox, t->nrows) : 0;
	DTX_TRY(bits ? on_disk(&w, bits, err) : in_memory(&w, err));
	t->unique = is_unique(t);
	t->hit = dtx_mem_zalloc((size_t)t->nkeys + 1, sizeof(*t->hit));
	if (!t->hit)
		DTX_FAIL_MEM(err);
	*out = t;
out:
	build_clear(&w);
	if (rc != DTX_OK)
		dtx_join_free(t);
	return rc;
}
