/* Builds the right side of a join on disk, one partition after the other, each small enough for its
 * tables to fit into memory. */
#include "ops/join/hashjoin_impl.h"

#define ROW_BYTES 128u /* estimated memory per row while its partition is built */

/* 0: the tables fit into memory. */
unsigned dtx_join_disk_bits(const struct dtx_opctx *ox, int64_t nrows)
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
	if (!dtx_join_rows_reserve(r, r->n + n))
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_groups_ids(w->t->part[p], w->flat, b, r->id + r->n, err));
	DTX_TRY(dtx_join_rows_add(r, i, w, w->flat, b, err));
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
	DTX_TRY(dtx_join_keep_unkeyed(t, &r, err));
	start = dtx_mem_alloc((size_t)n + 1, sizeof(*start));
	ref = dtx_mem_alloc(r.n + 1, sizeof(*ref));
	if (!start || !ref)
		DTX_FAIL_MEM(err);
	dtx_join_rows_sort(&r, n, start, ref);
	DTX_TRY(dtx_piece_add(&w->start, start, n * sizeof(*start), &at, err));
	DTX_TRY(dtx_piece_add(&w->ref, ref, r.n * sizeof(*ref), &at, err));
	*rows += (uint32_t)r.n;
	DTX_TRY(dtx_groups_spill(t->part[p], w->spill, w->count, err));
out:
	dtx_join_rows_clear(&r);
	dtx_mem_free(start);
	dtx_mem_free(ref);
	return rc;
}

enum dtx_code dtx_join_on_disk(struct dtx_join_making *w, unsigned bits, struct dtx_err *err)
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
	DTX_TRY(dtx_join_parts_new(t, bits, err));
	DTX_TRY(dtx_groups_new(w->type, w->key->n, &like, err));
	DTX_TRY(find_parts(w, like, err));
	DTX_TRY(dtx_spill_reserve(w->spill, n * sizeof(*t->start), &w->start, err));
	DTX_TRY(dtx_spill_reserve(w->spill, n * sizeof(*t->ref), &w->ref, err));
	for (unsigned p = 0; p < t->nparts; p++)
		DTX_TRY(build_part(w, p, &rows, err));
	DTX_TRY(dtx_piece_add(&w->start, &rows, sizeof(rows), &at, err));
	t->start = (const uint32_t *)(const void *)w->start.base;
	t->ref = (const struct dtx_rowref *)(const void *)w->ref.base;
	t->unique = dtx_join_is_unique(t);
out:
	dtx_groups_free(like);
	t->start_owner = w->start.owner;
	t->ref_owner = w->ref.owner;
	return rc;
}
