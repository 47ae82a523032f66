/* Rows of group_by that wait on disk. */
#include "ops/group/groupby.h"
#include "ops/kit/opkit.h"

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
