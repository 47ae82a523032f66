/* The right side of a join. */
#include "ops/hashjoin.h"

#include "core/data/spill_column.h"

static void flat_keys_clear(struct dtx_column **key, uint32_t n)
{
	for (uint32_t i = 0; key && i < n; i++) {
		dtx_column_unref(key[i]);
		key[i] = NULL;
	}
}

static enum dtx_code flat_keys(const struct dtx_groupkeys *k, struct dtx_batch *b,
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

/* Rows with a null in the key match nothing. */
static void forget_nulls(struct dtx_column *const *key, uint32_t n, const struct dtx_batch *b,
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

/* --- building --- */

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

/* Rows whose keys are looked at together: all of the table, or those of a part. */
struct rows {
	uint32_t *id;
	struct dtx_rowref *ref;
	size_t n, cap_id, cap_ref;
};

static void rows_clear(struct rows *r)
{
	dtx_mem_free(r->id);
	dtx_mem_free(r->ref);
}

static bool add_unkeyed(struct dtx_join_table *t, struct dtx_rowref ref)
{
	if (!dtx_mem_reserve(&t->unkeyed, &t->cap_unkeyed, t->nunkeyed + 1, sizeof(*t->unkeyed)))
		return false;
	t->unkeyed[t->nunkeyed++] = ref;
	return true;
}

/* Key ids of the live rows of batch i, which follow those that are there. */
static enum dtx_code add_rows(struct dtx_join_table *t, struct dtx_groups *g, uint32_t i,
                              struct dtx_column *const *key, uint32_t nkeys, bool nulls_equal,
                              struct dtx_batch *b, struct rows *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t *id;

	if (!dtx_mem_reserve(&r->id, &r->cap_id, r->n + b->nsel + 1, sizeof(*r->id)) ||
	    !dtx_mem_reserve(&r->ref, &r->cap_ref, r->n + b->nsel + 1, sizeof(*r->ref)))
		DTX_FAIL_MEM(err);
	id = r->id + r->n;
	DTX_TRY(dtx_groups_ids(g, key, b, id, err));
	if (!nulls_equal)
		forget_nulls(key, nkeys, b, id);
	for (uint32_t k = 0; k < b->nsel; k++) {
		struct dtx_rowref ref = { i, dtx_batch_row(b, k) };
		uint32_t row_id = id[k];

		if (row_id == DTX_GROUP_NONE && !add_unkeyed(t, ref))
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
 * start[i]. */
static enum dtx_code sort_rows(const struct rows *r, uint32_t nkeys, uint32_t **start,
                               struct dtx_rowref **ref, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	*start = dtx_mem_zalloc((size_t)nkeys + 2, sizeof(**start));
	*ref = dtx_mem_alloc(r->n + 1, sizeof(**ref));
	if (!*start || !*ref)
		DTX_FAIL_MEM(err);
	/* two places on: while rows are put, each is where its key goes on */
	for (size_t i = 0; i < r->n; i++)
		(*start)[r->id[i] + 2]++;
	for (uint32_t k = 2; k <= nkeys; k++)
		(*start)[k] += (*start)[k - 1];
	for (size_t i = 0; i < r->n; i++)
		(*ref)[(*start)[r->id[i] + 1]++] = r->ref[i];
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

/* What a build looks at. */
struct build {
	struct dtx_join_table *t;
	const struct dtx_groupkeys *key;
	const struct dtx_typeref *type;
	bool nulls_equal;
	struct dtx_column **flat; /* scratch: the keys of a batch */
	/* on disk */
	struct dtx_spill *spill;
	struct dtx_spill_count *count;
	struct dtx_piece start, ref;
	const uint8_t **of; /* per batch: the part of each row */
	struct dtx_owner **of_owner;
};

static enum dtx_code in_memory(struct build *w, struct dtx_err *err)
{
	struct dtx_join_table *t = w->t;
	struct rows r = { .n = 0 };
	struct dtx_rowref *ref = NULL;
	uint32_t *start = NULL;
	enum dtx_code rc = DTX_OK;

	DTX_TRY(new_parts(t, 0, err));
	DTX_TRY(dtx_groups_new(w->type, w->key->n, &t->part[0], err));
	for (uint32_t i = 0; i < t->kept.n; i++) {
		DTX_TRY(flat_keys(w->key, t->kept.batch[i], w->flat, err));
		DTX_TRY(add_rows(t, t->part[0], i, w->flat, w->key->n, w->nulls_equal,
		                 t->kept.batch[i], &r, err));
		flat_keys_clear(w->flat, w->key->n);
	}
	t->nkeys = dtx_groups_count(t->part[0]);
	DTX_TRY(sort_rows(&r, t->nkeys, &start, &ref, err));
out:
	t->start = start;
	t->ref = ref;
	rows_clear(&r);
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

		DTX_TRY(flat_keys(w->key, b, w->flat, err));
		DTX_TRY(dtx_groups_rowparts(like, &probe, w->flat, b, t->bits, of, err));
		flat_keys_clear(w->flat, w->key->n);
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
	DTX_TRY(flat_keys(w->key, b, w->flat, err));
	DTX_TRY(add_rows(w->t, w->t->part[p], i, w->flat, w->key->n, w->nulls_equal, b, r, err));
out:
	flat_keys_clear(w->flat, w->key->n);
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

	DTX_TRY(dtx_groups_new(w->type, w->key->n, &t->part[p], err));
	for (uint32_t i = 0; i < t->kept.n; i++)
		DTX_TRY(part_of_batch(w, p, i, &r, err));
	n = dtx_groups_count(t->part[p]);
	t->first[p] = t->nkeys;
	t->nkeys += n;
	DTX_TRY(sort_rows(&r, n, &start, &ref, err));
	for (uint32_t k = 0; k < n; k++)
		start[k] += *rows;
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

static enum dtx_code on_disk(struct build *w, const struct dtx_opctx *ox, unsigned bits,
                             struct dtx_err *err)
{
	struct dtx_join_table *t = w->t;
	size_t n = (size_t)t->nrows + 2;
	struct dtx_groups *like = NULL;
	enum dtx_code rc = DTX_OK;
	uint32_t rows = 0;
	const void *at;

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
		flat_keys_clear(w->flat, w->key->n);
	dtx_mem_free(w->flat);
	for (size_t i = 0; w->of_owner && w->t && i < w->t->kept.n; i++)
		dtx_owner_unref(w->of_owner[i]);
	dtx_mem_free(w->of);
	dtx_mem_free(w->of_owner);
}

enum dtx_code dtx_join_build(const struct dtx_opctx *ox, struct dtx_kept *kept,
                             const struct dtx_groupkeys *key, const struct dtx_typeref *type,
                             bool nulls_equal, struct dtx_join_table **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_join_table *t = dtx_mem_zalloc(1, sizeof(*t));
	struct build w = { t, key, type, nulls_equal, .start = { .fd = -1 }, .ref = { .fd = -1 } };
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
	DTX_TRY(bits ? on_disk(&w, ox, bits, err) : in_memory(&w, err));
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

/* --- probing --- */

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
	flat_keys_clear(p->key, nkeys);
	dtx_mem_free(p->id);
	dtx_mem_free(p->of);
	dtx_mem_free(p->row);
	dtx_mem_free(p->part_id);
	dtx_mem_free(p->key);
	dtx_buf_clear(&p->probe.bytes);
}

/* Part by part: the rows of one, their keys, back to their places. */
static enum dtx_code look_parts(struct dtx_join_table *t, struct dtx_join_probe *p,
                                struct dtx_batch *left, struct dtx_err *err)
{
	struct dtx_batch some = *left;
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_groups_rowparts(t->part[0], &p->probe, p->key, left, t->bits, p->of, err));
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

enum dtx_code dtx_join_look(struct dtx_join_table *t, const struct dtx_groupkeys *key,
                            bool nulls_equal, struct dtx_join_probe *p, struct dtx_batch *left,
                            struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	DTX_TRY(flat_keys(key, left, p->key, err));
	if (t->bits)
		DTX_TRY(look_parts(t, p, left, err));
	else
		DTX_TRY(dtx_groups_look(t->part[0], &p->probe, p->key, left, p->id, err));
	if (!nulls_equal)
		forget_nulls(p->key, key->n, left, p->id);
	for (uint32_t k = 0; k < left->nsel; k++) {
		if (p->id[k] == DTX_GROUP_NONE)
			continue;
		if (!dtx_join_matches(t, p->id[k])) /* a key of null rows only */
			p->id[k] = DTX_GROUP_NONE;
		else if (!atomic_load_explicit(&t->hit[p->id[k]], memory_order_relaxed))
			atomic_store_explicit(&t->hit[p->id[k]], 1, memory_order_relaxed);
	}
out:
	flat_keys_clear(p->key, key->n);
	return rc;
}
