/* The right side of a join: the table of its rows and keys. */
#include "ops/join/hashjoin_impl.h"

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

void dtx_join_rows_clear(struct dtx_join_rows *r)
{
	dtx_mem_free(r->id);
	if (!r->lent)
		dtx_mem_free(r->ref);
	dtx_mem_free(r->unkeyed);
	*r = (struct dtx_join_rows){ .n = 0 };
}

bool dtx_join_rows_reserve(struct dtx_join_rows *r, size_t n)
{
	return dtx_mem_reserve(&r->id, &r->cap_id, n + 1, sizeof(*r->id)) &&
	       (r->lent || dtx_mem_reserve(&r->ref, &r->cap_ref, n + 1, sizeof(*r->ref)));
}

bool dtx_join_rows_unkeyed(struct dtx_join_rows *r, struct dtx_rowref ref)
{
	if (!dtx_mem_reserve(&r->unkeyed, &r->cap_unkeyed, r->nunkeyed + 1, sizeof(*r->unkeyed)))
		return false;
	r->unkeyed[r->nunkeyed++] = ref;
	return true;
}

enum dtx_code dtx_join_rows_add(struct dtx_join_rows *r, uint32_t i,
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

		if (row_id == DTX_GROUP_NONE && !dtx_join_rows_unkeyed(r, ref))
			DTX_FAIL_MEM(err);
		if (row_id == DTX_GROUP_NONE)
			continue;
		r->id[r->n] = row_id;
		r->ref[r->n++] = ref;
	}
out:
	return rc;
}

void dtx_join_rows_sort(const struct dtx_join_rows *r, uint32_t nkeys, uint32_t *start,
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

enum dtx_code dtx_join_keep_unkeyed(struct dtx_join_table *t, const struct dtx_join_rows *r,
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

enum dtx_code dtx_join_parts_new(struct dtx_join_table *t, unsigned bits, struct dtx_err *err)
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
		dtx_join_rows_clear(&w->rows[p]);
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
	bits = key->n ? dtx_join_disk_bits(ox, t->nrows) : 0;
	DTX_TRY(bits ? dtx_join_on_disk(&w, bits, err) : dtx_join_in_memory(&w, err));
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
