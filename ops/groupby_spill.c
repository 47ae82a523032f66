/* Rows of group_by that wait on disk. */
#include <stdlib.h>

#include "ops/groupby.h"
#include "ops/opkit.h"

#define GROUPS_MIN 4096u /* fewer never leave memory short */

struct dtx_gb_spilled {
	struct dtx_kept part[DTX_GB_SPILL_PARTS]; /* behind the columns stands the place of rows */
	struct dtx_group_probe probe;
	/* scratch of a batch */
	uint8_t of[DTX_BATCH_ROWS];
	uint16_t row[DTX_BATCH_ROWS];
};

void dtx_gb_spilled_free(struct dtx_gb_spilled *sp)
{
	if (!sp)
		return;
	for (unsigned p = 0; p < DTX_GB_SPILL_PARTS; p++)
		dtx_kept_clear(&sp->part[p]);
	dtx_buf_clear(&sp->probe.bytes);
	dtx_mem_free(sp);
}

bool dtx_gb_any_spilled(struct dtx_gb_local *const *l, unsigned n)
{
	for (unsigned w = 0; w < n; w++)
		if (l[w]->spilled)
			return true;
	return false;
}

bool dtx_gb_spills(const struct dtx_opctx *ox, const struct dtx_gb_local *l)
{
	if (l->spilled)
		return true;
	return !l->late && ox->run && l->state->nkeys && l->n >= GROUPS_MIN &&
	       dtx_spill_states(ox->run->spill);
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
static void sort_rows(struct dtx_gb_spilled *sp, const struct dtx_batch *in, const uint32_t *id,
                      uint32_t *end)
{
	uint32_t at = 0;

	for (uint32_t k = 0; k < in->nsel; k++)
		if (id[k] == DTX_GROUP_NONE)
			end[sp->of[k]]++;
	for (unsigned p = 0; p < DTX_GB_SPILL_PARTS; p++) {
		uint32_t rows = end[p];

		end[p] = at;
		at += rows;
	}
	for (uint32_t k = 0; k < in->nsel; k++)
		if (id[k] == DTX_GROUP_NONE)
			sp->row[end[sp->of[k]]++] = (uint16_t)dtx_batch_row(in, k);
}

enum dtx_code dtx_gb_spill_rows(const struct dtx_opctx *ox, struct dtx_gb_local *l,
                                struct dtx_batch *in, struct dtx_column *const *key,
                                struct dtx_err *err)
{
	uint32_t end[DTX_GB_SPILL_PARTS] = { 0 }, n = 0;
	struct dtx_gb_spilled *sp = l->spilled;
	enum dtx_code rc = DTX_OK;
	uint16_t *sel;

	if (!sp)
		sp = l->spilled = dtx_mem_zalloc(1, sizeof(*sp));
	if (!sp)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_groups_look(l->groups, &sp->probe, key, in, l->id, err));
	DTX_TRY(dtx_groups_rowparts(l->groups, &sp->probe, key, in, DTX_GB_SPILL_BITS, sp->of,
	                            err));
	sort_rows(sp, in, l->id, end);
	for (unsigned p = 0, from = 0; p < DTX_GB_SPILL_PARTS; from = end[p++])
		if (end[p] > from)
			DTX_TRY(put_piece(ox, &sp->part[p], in, sp->row + from, end[p] - from,
			                  err));
	DTX_TRY(dtx_batch_sel(in, &sel, err));
	for (uint32_t k = 0; k < in->nsel; k++) {
		if (l->id[k] == DTX_GROUP_NONE)
			continue;
		sel[n] = sel[k];
		l->id[n++] = l->id[k];
	}
	in->nsel = n;
out:
	return rc;
}

/* --- taking --- */

static int64_t place_of(const struct dtx_batch *b)
{
	return b->col[b->ncols - 1]->v.i64[0];
}

static int piece_cmp(const void *a, const void *b)
{
	int64_t p = place_of(*(struct dtx_batch *const *)a);
	int64_t q = place_of(*(struct dtx_batch *const *)b);

	return p < q ? -1 : p > q;
}

static enum dtx_code take_piece(const struct dtx_opctx *ox, struct dtx_gb_local *late,
                                struct dtx_batch *b, struct dtx_err *err)
{
	enum dtx_code rc;

	b->ncols--;
	late->at = b->col[b->ncols]->v.i64;
	rc = dtx_gb_consume(ox, late, b, err);
	late->at = NULL;
	b->ncols++;
	return rc;
}

/* All pieces of a partition in order of place: a batch was one worker's, so their ranges do not
 * overlap, and a group meets its first row first. */
static enum dtx_code move_pieces(struct dtx_gb_local *const *l, unsigned n, unsigned part,
                                 struct dtx_kept *all, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	for (unsigned w = 0; w < n; w++) {
		struct dtx_kept *k = l[w]->spilled ? &l[w]->spilled->part[part] : NULL;

		if (!k)
			continue;
		if (!dtx_mem_reserve(&all->batch, &all->cap, all->n + k->n + 1,
		                     sizeof(struct dtx_batch *)))
			DTX_FAIL_MEM(err);
		for (size_t i = 0; i < k->n; i++)
			all->batch[all->n++] = k->batch[i];
		k->n = 0;
	}
	if (all->n > 1)
		qsort(all->batch, all->n, sizeof(struct dtx_batch *), piece_cmp);
out:
	return rc;
}

enum dtx_code dtx_gb_late(const struct dtx_opctx *ox, struct dtx_gb_local *const *l, unsigned n,
                          unsigned part, struct dtx_gb_local **out, struct dtx_err *err)
{
	struct dtx_kept all = { NULL, 0, 0 };
	enum dtx_code rc = DTX_OK;
	void *late = NULL;

	DTX_TRY(dtx_gb_init_local(ox, &late, err));
	((struct dtx_gb_local *)late)->late = true;
	DTX_TRY(move_pieces(l, n, part, &all, err));
	for (size_t i = 0; i < all.n; i++) {
		DTX_TRY(take_piece(ox, late, all.batch[i], err));
		dtx_batch_free(all.batch[i]);
		all.batch[i] = NULL;
	}
	*out = late;
	late = NULL;
out:
	dtx_kept_clear(&all);
	dtx_gb_free_local(ox, late);
	return rc;
}
