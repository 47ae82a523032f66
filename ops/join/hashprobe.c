/* Looks up rows in the right side of a join. */
#include "ops/join/hashjoin.h"

#include "core/base/prefetch.h"

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
