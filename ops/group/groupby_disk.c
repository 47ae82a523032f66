/* group_by when memory is short: rows without a group go to disk, and the result
 * is made from there.  It processes one partition at a time and sorts the rows
 * of its result into their order. */
#include <stdlib.h>

#include "ops/group/first_row.h"
#include "ops/group/groupby.h"
#include "ops/kit/opkit.h"
#include "ops/sort/ordered.h"

/* Rows of group_by that wait on disk. */

#define GROUPS_MIN 4096u /* fewer groups do not make memory short, unless their states grow */

bool dtx_gb_any_spilled(struct dtx_gb_local *const *l, unsigned n)
{
	for (unsigned w = 0; w < n; w++)
		if (l[w]->spilled)
			return true;
	return false;
}

/* Estimated bytes of a new group: its key and its place in tables; its states; what states hold at
 * first. */
#define KEY_BYTES   96u
#define GROWS_BYTES 2048u

/* Whether there might be too little memory for one batch per worker in which every row is a new
 * group. */
static bool is_tiny(const struct dtx_opctx *ox, const struct dtx_gb_local *l, uint32_t rows)
{
	const struct dtx_gb_state *s = l->state;
	size_t group =
		s->stride + (s->nkeys + 1u) * KEY_BYTES + (s->grows ? s->nouts * GROWS_BYTES : 0);
	size_t limit = dtx_mem_limit();

	return limit && dtx_mem_used() + ox->run->workers * rows * group > limit / 8 * 7;
}

#define LATE_MAX 3u /* times that rows go to disk; 2^18 partitions are enough */

/* Whether rows that come from disk go to disk again.  The groups of the workers stay in memory
 * until all partitions are done, so only the rest is available: it continues until it would ask for
 * more than that. */
static bool late_spills(const struct dtx_gb_local *l, uint32_t rows)
{
	size_t more = 0;

	if (l->late >= LATE_MAX || l->state->grows || !l->n)
		return false;
	if (l->n + rows > l->cap_states)
		more = 2 * l->cap_states * l->state->stride;
	return (l->n >= GROUPS_MIN && dtx_mem_tight()) ||
	       dtx_mem_used() + more > dtx_mem_limit() / 8 * 7;
}

bool dtx_gb_spills(const struct dtx_opctx *ox, const struct dtx_gb_local *l, uint32_t rows)
{
	if (l->spilled)
		return true;
	if (l->late)
		return late_spills(l, rows);
	if (!ox->run || !ox->run->spill || !l->state->nkeys)
		return false;
	if (is_tiny(ox, l, rows))
		return true;
	return l->n && (l->n >= GROUPS_MIN || l->state->grows) && dtx_spill_states(ox->run->spill);
}

/* --- writing rows to disk --- */

/* The ids of the live rows; DTX_GROUP_NONE for all rows that go to disk.  States that grow with
 * every row are not smaller for known groups, so then all rows go. */
static enum dtx_code known_ids(struct dtx_gb_local *l, struct dtx_batch *in,
                               struct dtx_column *const *key, struct dtx_err *err)
{
	if (!l->state->grows)
		return dtx_groups_look(l->groups, &l->spilled->probe, key, in, l->id, err);
	for (uint32_t k = 0; k < in->nsel; k++)
		l->id[k] = DTX_GROUP_NONE;
	return DTX_OK;
}

enum dtx_code dtx_gb_spill_rows(const struct dtx_opctx *ox, struct dtx_gb_local *l,
                                struct dtx_batch *in, struct dtx_column *const *key,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint16_t *sel;
	uint32_t n = 0;

	if (!l->spilled) {
		l->spilled = dtx_mem_zalloc(1, sizeof(*l->spilled));
		/* no more groups come, so reserve now what combining needs later */
		if (!l->spilled || !dtx_gb_links(l))
			DTX_FAIL_MEM(err);
		l->spilled->shift = l->late * DTX_DISK_BITS;
	}
	DTX_TRY(known_ids(l, in, key, err));
	DTX_TRY(dtx_diskparts_put(ox, l->spilled, l->groups, key, in, l->id, l->at, err));
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

/* --- reading them back --- */

static enum dtx_code take_piece(const struct dtx_opctx *ox, struct dtx_gb_local *late,
                                struct dtx_batch *b, struct dtx_err *err)
{
	enum dtx_code rc;

	late->at = dtx_diskparts_places(b);
	b->ncols--;
	rc = dtx_gb_consume(ox, late, b, err);
	late->at = NULL;
	b->ncols++;
	return rc;
}

/* Rows are read in the order of their places, so a group gets its first row first. */
enum dtx_code dtx_gb_late(const struct dtx_opctx *ox, struct dtx_diskparts *const *from, unsigned n,
                          unsigned part, unsigned late, struct dtx_gb_local **out,
                          struct dtx_err *err)
{
	struct dtx_disk_piece *piece = NULL;
	struct dtx_batch *b = NULL;
	enum dtx_code rc = DTX_OK;
	void *local = NULL;
	size_t npieces = 0;

	DTX_TRY(dtx_gb_init_local(ox, &local, err));
	((struct dtx_gb_local *)local)->late = late;
	DTX_TRY(dtx_diskparts_pieces(from, n, part, &piece, &npieces, err));
	for (size_t i = 0; i < npieces; i++) {
		DTX_TRY(dtx_cancel_look(err));
		DTX_TRY(dtx_disk_piece_read(&piece[i], &b, err));
		DTX_TRY(take_piece(ox, local, b, err));
		dtx_batch_free(b);
		b = NULL;
	}
	*out = local;
	local = NULL;
out:
	dtx_batch_free(b);
	dtx_mem_free(piece);
	dtx_gb_free_local(ox, local);
	return rc;
}

/* Collects the first rows in the partition that belong to workers [from, to). */
static enum dtx_code part_first_rows(struct dtx_gb_result *r, unsigned part, unsigned from,
                                     unsigned to, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t cap = 0;

	dtx_mem_free(r->first_row);
	r->first_row = NULL;
	r->nfirst_rows = 0;
	for (unsigned w = from; w < to; w++) {
		for (uint32_t id = dtx_gb_next_first_row(r->l[w], 0); id < r->l[w]->n;
		     id = dtx_gb_next_first_row(r->l[w], id + 1)) {
			if (dtx_groups_part(r->l[w]->groups, id, DTX_DISK_BITS) != part)
				continue;
			if (!dtx_mem_reserve(&r->first_row, &cap, r->nfirst_rows + 1,
			                     sizeof(*r->first_row)))
				DTX_FAIL_MEM(err);
			r->first_row[r->nfirst_rows++] =
				(struct dtx_gb_first_row){ r->l[w]->pos[id], w, id };
		}
	}
	if (r->nfirst_rows)
		qsort(r->first_row, r->nfirst_rows, sizeof(*r->first_row), dtx_gb_first_row_cmp);
out:
	return rc;
}

/* A column with the position of each live row's group. */
static enum dtx_code place_column(const struct dtx_batch *b,
                                  const struct dtx_gb_first_row *first_row, struct dtx_column **out,
                                  struct dtx_err *err)
{
	struct dtx_builder place;

	dtx_builder_init(&place, (struct dtx_typeref){ DTX_T_INT64, 0, 0 }, b->nsel);
	for (uint32_t k = 0; k < b->nsel; k++)
		dtx_builder_i64(&place, (int64_t)first_row[dtx_batch_row(b, k)].pos);
	return dtx_builder_finish(&place, NULL, out, err);
}

static enum dtx_code order_rows(const struct dtx_opctx *ox, const struct dtx_gb_result *r,
                                struct dtx_ordered *o, struct dtx_batch *b,
                                const struct dtx_gb_first_row *first_row, struct dtx_err *err)
{
	uint32_t nkeys = r->s->order == DTX_GB_SORTED ? r->s->nkeys : 0;
	struct dtx_column **key = dtx_mem_zalloc(nkeys + 1u, sizeof(struct dtx_column *));
	struct dtx_key_order *order = dtx_mem_zalloc(nkeys + 1u, sizeof(*order));
	enum dtx_code rc = DTX_OK;

	if (!key || !order)
		DTX_FAIL_MEM(err);
	DTX_TRY(place_column(b, first_row, &key[nkeys], err));
	DTX_TRY(dtx_batch_dense(b, err));
	for (uint32_t i = 0; i < nkeys; i++)
		DTX_TRY(dtx_batch_flat(b, i, &key[i], err));
	DTX_TRY(dtx_ordered_add(o, ox, b, key, order, nkeys + 1u, err));
out:
	for (uint32_t i = 0; key && i <= nkeys; i++)
		dtx_column_unref(key[i]);
	dtx_mem_free(key);
	dtx_mem_free(order);
	return rc;
}

/* Frees the states of a partition once its rows are made. */
static void drop_states(struct dtx_gb_result *r, unsigned part)
{
	for (unsigned w = 0; r->s->grows && w < r->n; w++)
		for (uint32_t id = 0; id < r->l[w]->n; id++)
			if (dtx_groups_part(r->l[w]->groups, id, DTX_DISK_BITS) == part)
				dtx_gb_drop_state(r->l[w], id);
}

struct part {
	const struct dtx_opctx *ox;
	struct dtx_gb_result *r;
	struct dtx_ordered *o;
	unsigned at, nworkers;
};

/* Makes the rows of the groups whose first rows are in locals [from, to). */
static enum dtx_code part_rows(const struct part *p, unsigned from, unsigned to,
                               struct dtx_err *err)
{
	struct dtx_gb_result *r = p->r;
	struct dtx_gb_scratch x = { .which = NULL };
	struct dtx_batch *b = NULL;
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_gb_scratch_init(&x, r, DTX_GB_PART_ROWS, err));
	DTX_TRY(part_first_rows(r, p->at, from, to, err));
	for (size_t at = 0; at < r->nfirst_rows; at += DTX_GB_PART_ROWS) {
		uint32_t n = (uint32_t)DTX_MIN(DTX_GB_PART_ROWS, r->nfirst_rows - at);

		DTX_TRY(dtx_gb_make_rows(p->ox, r, &x, r->first_row + at, n, &b, err));
		DTX_TRY(order_rows(p->ox, r, p->o, b, r->first_row + at, err));
		dtx_batch_free(b);
		b = NULL;
	}
out:
	dtx_batch_free(b);
	dtx_gb_scratch_clear(&x);
	return rc;
}

/* Makes the rows of groups that were on disk.  Rows that do not fit into memory belong to other
 * groups, so the groups that are there are complete. */
static enum dtx_code late_rows(const struct part *p, struct dtx_diskparts *const *from, unsigned n,
                               unsigned sub, unsigned late, struct dtx_err *err)
{
	struct dtx_gb_result *r = p->r;
	struct dtx_diskparts *rest = NULL;
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_gb_late(p->ox, from, n, sub, late, &r->l[p->nworkers], err));
	r->n = p->nworkers + 1;
	DTX_TRY(dtx_gb_finish_keys(r->l[p->nworkers], err));
	rest = r->l[p->nworkers]->spilled;
	r->l[p->nworkers]->spilled = NULL;
	DTX_TRY(dtx_gb_combine_one(r->l, p->nworkers, p->at, DTX_DISK_BITS, err));
	DTX_TRY(part_rows(p, p->nworkers, r->n, err));
	dtx_gb_free_local(p->ox, r->l[p->nworkers]);
	r->n = p->nworkers;
	for (unsigned i = 0; rest && i < DTX_DISK_PARTS; i++)
		DTX_TRY(late_rows(p, &rest, 1, i, late + 1, err));
out:
	dtx_diskparts_free(rest);
	return rc;
}

/* The groups that the workers have in memory come last, because a group from disk may be one of
 * them. */
static enum dtx_code disk_part(const struct part *p, struct dtx_diskparts *const *from,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_gb_combine_part(p->r->l, p->nworkers, p->at, DTX_DISK_BITS, err));
	DTX_TRY(late_rows(p, from, p->nworkers, p->at, 1, err));
	DTX_TRY(part_rows(p, 0, p->nworkers, err));
	drop_states(p->r, p->at);
out:
	return rc;
}

static enum dtx_code disk_parts(const struct dtx_opctx *ox, struct dtx_gb_result *r,
                                struct dtx_ordered *o, struct dtx_err *err)
{
	struct part p = { ox, r, o, 0, r->n };
	enum dtx_code rc = DTX_OK;
	struct dtx_diskparts **from = dtx_mem_alloc(r->n + 1u, sizeof(struct dtx_diskparts *));

	if (!from)
		DTX_FAIL_MEM(err);
	for (unsigned w = 0; w < r->n; w++)
		from[w] = r->l[w]->spilled;
	for (; p.at < DTX_DISK_PARTS; p.at++)
		DTX_TRY(disk_part(&p, from, err));
out:
	dtx_mem_free(from);
	return rc;
}

enum dtx_code dtx_gb_from_disk(const struct dtx_opctx *ox, struct dtx_gb_result *r,
                               struct dtx_err *err)
{
	struct dtx_ordered o, *all = &o;
	enum dtx_code rc = DTX_OK;

	dtx_ordered_init(&o, SIZE_MAX);
	r->from = dtx_mem_alloc(ox->out->nfields + 1u, sizeof(*r->from));
	if (!r->from)
		DTX_FAIL_MEM(err);
	for (uint32_t i = 0; i < ox->out->nfields; i++)
		r->from[i] = (int32_t)i;
	for (unsigned w = 0; w < r->n; w++) {
		dtx_gb_drop_scratch(r->l[w]);
		DTX_TRY(dtx_gb_finish_keys(r->l[w], err));
	}
	DTX_TRY(disk_parts(ox, r, &o, err));
	dtx_gb_drop_locals(ox, r);
	DTX_TRY(dtx_sorter_sort(&o.sorter, err));
	DTX_TRY(dtx_ordered_take(&all, 1, SIZE_MAX, &r->rows, err));
out:
	dtx_ordered_clear(&o);
	return rc;
}
