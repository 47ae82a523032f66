/* Rows that wait on disk, partitioned by the hash of their key: see diskparts.h. */
#include "ops/group/diskparts.h"

#include <stdlib.h>

#include "core/data/builder.h"

void dtx_diskparts_free(struct dtx_diskparts *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < d->n; i++)
		dtx_batch_free(d->batch[i].b);
	dtx_mem_free(d->batch);
	dtx_buf_clear(&d->probe.bytes);
	dtx_mem_free(d);
}

/* --- writing rows to disk --- */

/* Appends a column that the schema of the batch does not have.  Takes the reference. */
static enum dtx_code add_column(struct dtx_batch *b, struct dtx_column *c, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (!dtx_mem_grow(&b->col, b->ncols + 1u, sizeof(struct dtx_column *))) {
		dtx_column_unref(c);
		DTX_FAIL_MEM(err);
	}
	b->col[b->ncols++] = c;
out:
	return rc;
}

static enum dtx_code add_places(struct dtx_batch *b, const struct dtx_batch *in,
                                const uint16_t *row, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_column *c = NULL;
	struct dtx_builder place;

	dtx_builder_init(&place, (struct dtx_typeref){ DTX_T_INT64, 0, 0 }, b->nrows);
	for (uint32_t i = 0; i < b->nrows; i++)
		dtx_builder_i64(&place, (int64_t)dtx_batch_pos(in, row[i]));
	DTX_TRY(dtx_builder_finish(&place, NULL, &c, err));
	DTX_TRY(add_column(b, c, err));
out:
	return rc;
}

/* Writes n rows of `in`, in the order of `row`, to disk.  It is one batch with the rows of all
 * partitions, because the description of a batch stays in memory. */
static enum dtx_code put_rows(const struct dtx_opctx *ox, const struct dtx_batch *in,
                              const uint16_t *row, uint32_t n, struct dtx_batch **out,
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
	*out = b;
	b = NULL;
out:
	dtx_batch_free(b);
	return rc;
}

/* Sorts the rows without an id by partition and keeps their order within each.  The rows of
 * partition p are row[start[p] .. start[p + 1]). */
static void sort_rows(struct dtx_diskparts *d, const struct dtx_batch *in, const uint32_t *id,
                      uint32_t *start)
{
	uint32_t *end = start + 1; /* at first where each partition begins, after the loop where it
	                            * ends */

	memset(start, 0, (DTX_DISK_PARTS + 1) * sizeof(*start));
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
	enum dtx_code rc = DTX_OK;
	struct dtx_disk_batch *to;

	DTX_TRY(dtx_groups_rowparts(g, &d->probe, key, in, 0, DTX_DISK_BITS, d->of, err));
	if (!dtx_mem_reserve(&d->batch, &d->cap, d->n + 1, sizeof(*d->batch)))
		DTX_FAIL_MEM(err);
	to = &d->batch[d->n];
	sort_rows(d, in, id, to->start);
	if (!to->start[DTX_DISK_PARTS])
		goto out;
	DTX_TRY(put_rows(ox, in, d->row, to->start[DTX_DISK_PARTS], &to->b, err));
	d->n++;
out:
	return rc;
}

/* --- reading them back --- */

static int64_t piece_place(const struct dtx_disk_piece *p)
{
	return dtx_diskparts_places(p->b)[p->from];
}

static int piece_cmp(const void *a, const void *b)
{
	int64_t p = piece_place(a), q = piece_place(b);

	return p < q ? -1 : p > q;
}

/* Each batch was processed by one worker, so the ranges of the pieces do not overlap. */
enum dtx_code dtx_diskparts_pieces(struct dtx_diskparts *const *d, unsigned n, unsigned part,
                                   struct dtx_disk_piece **pieces, size_t *npieces,
                                   struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_disk_piece *made;
	size_t most = 0, some = 0;

	for (unsigned w = 0; w < n; w++)
		most += d[w] ? d[w]->n : 0;
	made = dtx_mem_alloc(most + 1, sizeof(*made));
	if (!made)
		DTX_FAIL_MEM(err);
	for (unsigned w = 0; w < n; w++) {
		for (size_t i = 0; d[w] && i < d[w]->n; i++) {
			const struct dtx_disk_batch *from = &d[w]->batch[i];
			uint32_t at = from->start[part];

			made[some] =
				(struct dtx_disk_piece){ from->b, at, from->start[part + 1] - at };
			some += made[some].n > 0;
		}
	}
	qsort(made, some, sizeof(*made), piece_cmp);
	*pieces = made;
	*npieces = some;
out:
	return rc;
}

enum dtx_code dtx_disk_piece_read(const struct dtx_disk_piece *piece, struct dtx_batch **out,
                                  struct dtx_err *err)
{
	struct dtx_batch cells = *piece->b, *b = NULL;
	struct dtx_column *place = NULL;
	enum dtx_code rc = DTX_OK;
	uint16_t *sel;

	cells.ncols--;
	DTX_TRY(dtx_batch_copy(&cells, &b, err));
	DTX_TRY(dtx_batch_sel(b, &sel, err));
	for (uint32_t k = 0; k < piece->n; k++)
		sel[k] = (uint16_t)(piece->from + k);
	b->nsel = piece->n;
	DTX_TRY(dtx_batch_dense(b, err));
	DTX_TRY(dtx_column_slice(piece->b->col[cells.ncols], piece->from, piece->n, &place, err));
	DTX_TRY(add_column(b, place, err));
	*out = b;
	b = NULL;
out:
	dtx_batch_free(b);
	return rc;
}
