/* The right side of a join. */
#include "ops/hashjoin.h"

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
	dtx_groups_free(t->groups);
	dtx_mem_free(t->start);
	dtx_mem_free(t->ref);
	dtx_mem_free(t->unkeyed);
	dtx_mem_free((void *)t->hit);
	dtx_mem_free(t);
}

/* Key ids of all rows, in order. */
static enum dtx_code build_ids(struct dtx_join_table *t, const struct dtx_groupkeys *k,
                               bool nulls_equal, uint32_t *id, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_column **key = dtx_mem_zalloc((size_t)k->n + 1, sizeof(struct dtx_column *));

	if (!key)
		DTX_FAIL_MEM(err);
	for (size_t i = 0; i < t->kept.n; i++) {
		struct dtx_batch *b = t->kept.batch[i];

		DTX_TRY(flat_keys(k, b, key, err));
		DTX_TRY(dtx_groups_ids(t->groups, key, b, id, err));
		if (!nulls_equal)
			forget_nulls(key, k->n, b, id);
		flat_keys_clear(key, k->n);
		id += b->nrows;
	}
out:
	flat_keys_clear(key, k->n);
	dtx_mem_free(key);
	return rc;
}

/* Counting sort of rows by key: rows of a key stay in right order. */
static enum dtx_code build_refs(struct dtx_join_table *t, const uint32_t *id, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t n = (size_t)t->nrows, at = 0;
	uint32_t *fill = NULL;

	t->nkeys = dtx_groups_count(t->groups);
	t->start = dtx_mem_zalloc((size_t)t->nkeys + 2, sizeof(*t->start));
	t->ref = dtx_mem_alloc(n + 1, sizeof(*t->ref));
	t->unkeyed = dtx_mem_alloc(n + 1, sizeof(*t->unkeyed));
	t->hit = dtx_mem_zalloc((size_t)t->nkeys + 1, sizeof(*t->hit));
	fill = dtx_mem_alloc((size_t)t->nkeys + 1, sizeof(*fill));
	if (!t->start || !t->ref || !t->unkeyed || !t->hit || !fill)
		DTX_FAIL_MEM(err);
	for (size_t i = 0; i < n; i++)
		if (id[i] != DTX_GROUP_NONE)
			t->start[id[i] + 1]++;
	for (uint32_t k = 0; k < t->nkeys; k++) {
		t->start[k + 1] += t->start[k];
		fill[k] = t->start[k];
	}
	for (size_t i = 0; i < t->kept.n; i++) {
		for (uint32_t row = 0; row < t->kept.batch[i]->nrows; row++, at++) {
			struct dtx_rowref ref = { (uint32_t)i, row };

			if (id[at] == DTX_GROUP_NONE)
				t->unkeyed[t->nunkeyed++] = ref;
			else
				t->ref[fill[id[at]]++] = ref;
		}
	}
out:
	dtx_mem_free(fill);
	return rc;
}

enum dtx_code dtx_join_build(struct dtx_kept *kept, const struct dtx_groupkeys *key,
                             const struct dtx_typeref *type, bool nulls_equal,
                             struct dtx_join_table **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_join_table *t = dtx_mem_zalloc(1, sizeof(*t));
	uint32_t *id = NULL;

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
	id = dtx_mem_alloc((size_t)t->nrows + 1, sizeof(*id));
	if (!id)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_groups_new(type, key->n, &t->groups, err));
	DTX_TRY(build_ids(t, key, nulls_equal, id, err));
	DTX_TRY(build_refs(t, id, err));
	*out = t;
	t = NULL;
out:
	dtx_mem_free(id);
	dtx_join_free(t);
	return rc;
}

/* --- probing --- */

enum dtx_code dtx_join_probe_new(uint32_t nkeys, struct dtx_join_probe *p, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	p->id = dtx_mem_alloc(DTX_BATCH_ROWS, sizeof(*p->id));
	p->key = dtx_mem_zalloc((size_t)nkeys + 1, sizeof(struct dtx_column *));
	if (!p->id || !p->key)
		DTX_FAIL_MEM(err);
out:
	return rc;
}

void dtx_join_probe_clear(struct dtx_join_probe *p, uint32_t nkeys)
{
	flat_keys_clear(p->key, nkeys);
	dtx_mem_free(p->id);
	dtx_mem_free(p->key);
	dtx_buf_clear(&p->probe.bytes);
}

enum dtx_code dtx_join_look(struct dtx_join_table *t, const struct dtx_groupkeys *key,
                            bool nulls_equal, struct dtx_join_probe *p, struct dtx_batch *left,
                            struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	DTX_TRY(flat_keys(key, left, p->key, err));
	DTX_TRY(dtx_groups_look(t->groups, &p->probe, p->key, left, p->id, err));
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
