/* Rows that wait on disk, apart by the hash of their key. */
#include "ops/diskparts.h"

#include <stdlib.h>

#include "core/data/builder.h"

void dtx_diskparts_free(struct dtx_diskparts *d)
{
	if (!d)
		return;
	for (unsigned p = 0; p < DTX_DISK_PARTS; p++)
		dtx_kept_clear(&d->part[p]);
	dtx_buf_clear(&d->probe.bytes);
	dtx_mem_free(d);
}

/* --- putting --- */

/* The place of each row as one more column. */
static enum dtx_code add_places(struct dtx_batch *b, const struct dtx_batch *in,
                                const uint16_t *row, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_builder place;

	if (!dtx_mem_grow(&b->col, b->ncols + 1u, sizeof(struct dtx_column *)))
		DTX_FAIL_MEM(err);
	b->col[b->ncols] = NULL;
	dtx_builder_init(&place, (struct dtx_typeref){ DTX_T_INT64, 0, 0 }, b->nrows);
	for (uint32_t i = 0; i < b->nrows; i++)
		dtx_builder_i64(&place, (int64_t)dtx_batch_pos(in, row[i]));
	DTX_TRY(dtx_builder_finish(&place, NULL, &b->col[b->ncols], err));
	b->ncols++;
out:
	return rc;
}

static enum dtx_code put_piece(const struct dtx_opctx *ox, struct dtx_kept *to,
                               const struct dtx_batch *in, const uint16_t *row, uint32_t n,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_batch *b = NULL;
	uint16_t *sel;

	DTX_TRY(dtx_batch_copy(in, &b, err));
	DTX_TRY(dtx_batch_sel(b, &sel, err));
	memcpy(sel, row, n * sizeof(*sel));
	b->nsel = n;
	DTX_TRY(dtx_batch_dense(b, err));
	DTX_TRY(add_places(b, in, row, err));
	DTX_TRY(dtx_spill_batch(ox->run->spill, b, &ox->stat->spilled, err));
	if (!dtx_mem_reserve(&to->batch, &to->cap, to->n + 1, sizeof(struct dtx_batch *)))
		DTX_FAIL_MEM(err);
	to->batch[to->n++] = b;
	b = NULL;
out:
	dtx_batch_free(b);
	return rc;
}

/* Rows without an id by partition, in order: rows of p are row[end[p - 1] .. end[p]). */
static void sort_rows(struct dtx_diskparts *d, const struct dtx_batch *in, const uint32_t *id,
                      uint32_t *end)
{
	for (uint32_t k = 0; k < in->nsel; k++)
		if (id[k] == DTX_GROUP_NONE)
			end[d->of[k]]++;
	dtx_counts_to_starts(end, DTX_DISK_PARTS, 0);
	for (uint32_t k = 0; k < in->nsel; k++)
		if (id[k] == DTX_GROUP_NONE)
			d->row[end[d->of[k]]++] = (uint16_t)dtx_batch_row(in, k);
}

enum dtx_code dtx_diskparts_put(const struct dtx_opctx *ox, struct dtx_diskparts *d,
                                const struct dtx_groups *g, struct dtx_column *const *key,
                                const struct dtx_batch *in, const uint32_t *id, struct dtx_err *err)
{
	uint32_t end[DTX_DISK_PARTS] = { 0 };
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_groups_rowparts(g, &d->probe, key, in, DTX_DISK_BITS, d->of, err));
	sort_rows(d, in, id, end);
	for (unsigned p = 0, from = 0; p < DTX_DISK_PARTS; from = end[p++])
		if (end[p] > from)
			DTX_TRY(put_piece(ox, &d->part[p], in, d->row + from, end[p] - from, err));
out:
	return rc;
}

/* --- taking --- */

static int piece_cmp(const void *a, const void *b)
{
	int64_t p = dtx_diskparts_places(*(struct dtx_batch *const *)a)[0];
	int64_t q = dtx_diskparts_places(*(struct dtx_batch *const *)b)[0];

	return p < q ? -1 : p > q;
}

/* A batch was one worker's, so the ranges of the pieces do not overlap. */
enum dtx_code dtx_diskparts_take(struct dtx_diskparts *const *d, unsigned n, unsigned part,
                                 struct dtx_kept *all, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	for (unsigned w = 0; w < n; w++) {
		struct dtx_kept *k = d[w] ? &d[w]->part[part] : NULL;

		if (!k)
			continue;
		if (!dtx_mem_reserve(&all->batch, &all->cap, all->n + k->n + 1,
		                     sizeof(struct dtx_batch *)))
			DTX_FAIL_MEM(err);
		for (size_t i = 0; i < k->n; i++)
			all->batch[all->n++] = k->batch[i];
		dtx_mem_free(k->batch);
		*k = (struct dtx_kept){ NULL, 0, 0 };
	}
	if (all->n > 1)
		qsort(all->batch, all->n, sizeof(struct dtx_batch *), piece_cmp);
out:
	return rc;
}
