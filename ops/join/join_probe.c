/* The left side of join, which streams past the finished right side.
 *
 * A left batch becomes output batches of pairs (left row, right row).  Left columns are gathered
 * within the batch, right columns from the kept batches.  Right rows without a match are emitted
 * last, when all left batches were seen.
 *
 * A pair is three numbers until its batch is made: the left row, and the batch and row on the
 * right.  If each left row has exactly one match, the left columns are passed on as they are and
 * nothing is gathered. */
#include "core/base/memory/prefetch.h"
#include "core/data/cells.h"
#include "ops/join/join.h"

void dtx_join_probe_free(const struct dtx_opctx *ox, void *local)
{
	const struct dtx_join_state *s = ox->bound;
	struct dtx_join_local *l = local;

	if (!l)
		return;
	dtx_join_probe_clear(&l->probe, s->key.left.n);
	dtx_groups_free(l->seen);
	dtx_mem_free(l->seen_id);
	dtx_mem_free(l->lrow);
	dtx_mem_free(l->which);
	dtx_mem_free(l->rrow);
	dtx_mem_free(l);
}

enum dtx_code dtx_join_probe_init(const struct dtx_opctx *ox, void **local, struct dtx_err *err)
{
	const struct dtx_join_state *s = ox->bound;
	enum dtx_code rc = DTX_OK;
	struct dtx_join_local *l = dtx_mem_zalloc(1, sizeof(*l));
	uint32_t most = dtx_op_batch_rows(ox);

	if (!l)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_join_probe_new(s->key.left.n, &l->probe, err));
	l->lrow = dtx_mem_alloc(most, sizeof(*l->lrow));
	l->which = dtx_mem_alloc(most, sizeof(*l->which));
	l->rrow = dtx_mem_alloc(most, sizeof(*l->rrow));
	if (!l->lrow || !l->which || !l->rrow)
		DTX_FAIL_MEM(err);
	l->room = most;
	l->most = DTX_MIN(most, DTX_PICK_ROWS);
	if (s->left_unique) {
		l->seen_id = dtx_mem_alloc(DTX_BATCH_ROWS, sizeof(*l->seen_id));
		if (!l->seen_id)
			DTX_FAIL_MEM(err);
		DTX_TRY(dtx_groupkeys_groups(&s->key.left, &l->seen, err));
	}
	*local = l;
	l = NULL;
out:
	dtx_join_probe_free(ox, l);
	return rc;
}

/* "both" or "left_only" for each row. */
static enum dtx_code side_column(const struct dtx_join_local *l, struct dtx_column **out,
                                 struct dtx_err *err)
{
	struct dtx_builder b;

	dtx_builder_init(&b, (struct dtx_typeref){ DTX_T_TEXT, 0, 0 }, l->n);
	for (uint32_t i = 0; i < l->n; i++)
		dtx_builder_text(&b, l->which[i] == DTX_NOWHERE ? DTX_STR("left_only")
		                                                : DTX_STR("both"));
	return dtx_builder_finish(&b, NULL, out, err);
}

/* The same side for n rows. */
static enum dtx_code side_of_all(struct dtx_str side, uint32_t n, struct dtx_column **out,
                                 struct dtx_err *err)
{
	struct dtx_builder b;

	dtx_builder_init(&b, (struct dtx_typeref){ DTX_T_TEXT, 0, 0 }, n);
	for (uint32_t i = 0; i < n; i++)
		dtx_builder_text(&b, side);
	return dtx_builder_finish(&b, NULL, out, err);
}

/* Whether every row of the batch has one pair: then its columns and row ids can be used as they
 * are. */
static bool left_whole(const struct dtx_join_local *l, const struct dtx_batch *in)
{
	return !in->sel && l->n == in->nrows && l->n > l->most;
}

static enum dtx_code left_columns(const struct dtx_opctx *ox, const struct dtx_join_local *l,
                                  struct dtx_batch *in, struct dtx_batch *b, struct dtx_err *err)
{
	const struct dtx_join_state *s = ox->bound;
	bool whole = left_whole(l, in);
	enum dtx_code rc = DTX_OK;

	for (uint32_t i = 0; i < s->lmap.n; i++) {
		struct dtx_column *c, *made = NULL;

		if (s->lmap.from[i] < 0 || !dtx_op_wants(ox, i) || !in->col[s->lmap.from[i]])
			continue;
		c = in->col[s->lmap.from[i]];
		if (whole)
			b->col[i] = dtx_column_ref(c);
		else
			DTX_TRY(dtx_column_gather(c, l->lrow, l->n, &b->col[i], err));
		if (!s->refit[i])
			continue;
		DTX_TRY(dtx_cells_fit(b->col[i], &b->schema->field[i], &made, err));
		dtx_batch_put(b, i, made);
	}
out:
	return rc;
}

/* Sets the row ids of the left rows, so that errors of later steps name their place. */
static enum dtx_code left_ids(const struct dtx_join_local *l, const struct dtx_batch *in,
                              struct dtx_batch *b, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint64_t *id;

	if (!in->origin)
		return DTX_OK;
	if (left_whole(l, in)) {
		b->rec_owner = dtx_owner_ref(in->rec_owner);
		b->rec = in->rec;
		b->first_row = in->first_row;
		b->origin = in->origin;
		return DTX_OK;
	}
	id = dtx_mem_alloc(l->n ? l->n : 1, sizeof(*id));
	if (!id)
		DTX_FAIL_MEM(err);
	for (uint32_t i = 0; i < l->n; i++)
		id[i] = in->rec ? in->rec[l->lrow[i]] : in->first_row + l->lrow[i];
	b->rec_owner = dtx_owner_take(id);
	if (!b->rec_owner)
		DTX_FAIL_MEM(err);
	b->rec = id;
	b->origin = in->origin;
out:
	return rc;
}

static enum dtx_code emit_pairs(const struct dtx_opctx *ox, struct dtx_join_local *l,
                                struct dtx_batch *in, struct dtx_emit *out, struct dtx_err *err)
{
	const struct dtx_join_state *s = ox->bound;
	const struct dtx_join_shared *sh = ox->shared;
	struct dtx_pick pick = { sh->table->kept.batch,
		                 (uint32_t)sh->table->kept.n,
		                 l->which,
		                 l->rrow,
		                 l->n,
		                 sh->held,
		                 NULL,
		                 NULL };
	enum dtx_code rc = DTX_OK;
	struct dtx_batch *b = NULL;

	if (!l->n)
		return DTX_OK;
	DTX_TRY(dtx_batch_new(ox->out, l->n, &b, err));
	b->seq = in->seq;
	DTX_TRY(left_columns(ox, l, in, b, err));
	DTX_TRY(left_ids(l, in, b, err));
	DTX_TRY(dtx_build_pick(ox, sh->table, &s->rmap, &pick, b, err));
	if (s->indicator >= 0 && dtx_op_wants(ox, (uint32_t)s->indicator))
		DTX_TRY(side_column(l, &b->col[s->indicator], err));
	DTX_TRY(dtx_emit_batch(out, b, err));
	l->n = 0;
out:
	dtx_batch_free(b);
	return rc;
}

/* Limits the number of output rows.  The exact limit is checked at the end; at 16 times the limit
 * the work is stopped. */
static enum dtx_code check_growth(const struct dtx_opctx *ox, int64_t in, int64_t out,
                                  int64_t slack, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	dtx_i128 most;

	if (!ox->run || ox->run->growth < 0)
		return DTX_OK;
	most = ((dtx_i128)ox->run->growth * in + 1000000) * slack;
	if ((dtx_i128)out > most) {
		rc = dtx_err_set(err, DTX_E_ROW_GROWTH, __FILE__, __LINE__,
		                 "join: %lld rows in make %lld rows, more than the limit growth "
		                 "(%lld) allows",
		                 (long long)in, (long long)out, (long long)ox->run->growth);
		dtx_err_hint(err,
		             "a key may occur often on both sides: cardinality m:1 shows which");
	}
	return rc;
}

static enum dtx_code pair(const struct dtx_opctx *ox, struct dtx_join_local *l,
                          struct dtx_batch *in, uint32_t lrow, struct dtx_rowref r, uint32_t most,
                          struct dtx_emit *out, struct dtx_err *err)
{
	l->lrow[l->n] = (uint16_t)lrow;
	l->which[l->n] = r.batch;
	l->rrow[l->n++] = r.row;
	return l->n == most ? emit_pairs(ox, l, in, out, err) : DTX_OK;
}

/* Matches are in random places: prefetch those of later rows while earlier rows are paired. */
#define AHEAD 48u

static void pair_near(const struct dtx_join_table *t, const uint32_t *id, uint32_t n, uint32_t k)
{
	if (!t->unique && k + 2 * AHEAD < n && id[k + 2 * AHEAD] != DTX_GROUP_NONE)
		DTX_PREFETCH(&t->start[id[k + 2 * AHEAD]]);
	if (t->ref && k + AHEAD < n && id[k + AHEAD] != DTX_GROUP_NONE)
		DTX_PREFETCH(&t->ref[dtx_join_start(t, id[k + AHEAD])]);
}

/* Whether each row has one match and all pairs fit into the room.  Only then more than `most` pairs
 * are made at once, because left columns need not be gathered. */
static bool pair_ones(const struct dtx_join_local *l, const struct dtx_join_table *t,
                      const struct dtx_batch *in)
{
	return !in->sel && in->nrows <= l->room && l->probe.matches == in->nrows &&
	       (t->unique || t->nrows == 1);
}

static enum dtx_code pair_rows(const struct dtx_opctx *ox, struct dtx_join_local *l,
                               struct dtx_batch *in, struct dtx_emit *out, struct dtx_err *err)
{
	const struct dtx_join_state *s = ox->bound;
	struct dtx_join_shared *sh = ox->shared;
	const struct dtx_join_table *t = sh->table;
	const struct dtx_rowref no_match = { DTX_NOWHERE, 0 };
	bool keep = s->how == DTX_JOIN_LEFT || s->how == DTX_JOIN_FULL;
	uint32_t most = pair_ones(l, t, in) ? in->nrows : l->most;
	int64_t made = (int64_t)l->probe.matches, rows_out, rows_in;
	enum dtx_code rc = DTX_OK;

	rows_out = atomic_fetch_add_explicit(&sh->rows_out, made, memory_order_relaxed) + made;
	rows_in =
		atomic_fetch_add_explicit(&sh->rows_in, in->nsel, memory_order_relaxed) + in->nsel;
	DTX_TRY(check_growth(ox, rows_in + t->nrows, rows_out, 16, err));
	for (uint32_t k = 0; k < in->nsel; k++) {
		uint32_t id = l->probe.id[k], row = dtx_batch_row(in, k), at, end;

		pair_near(t, l->probe.id, in->nsel, k);
		if (id == DTX_GROUP_NONE && keep)
			DTX_TRY(pair(ox, l, in, row, no_match, most, out, err));
		if (id == DTX_GROUP_NONE)
			continue;
		at = dtx_join_start(t, id);
		for (end = at + dtx_join_matches(t, id); at < end; at++)
			DTX_TRY(pair(ox, l, in, row, dtx_join_ref(t, at), most, out, err));
	}
	DTX_TRY(emit_pairs(ox, l, in, out, err));
out:
	return rc;
}

/* semi and anti: keeps or drops left rows. */
static enum dtx_code filter_rows(const struct dtx_opctx *ox, struct dtx_join_local *l,
                                 struct dtx_batch *in, struct dtx_emit *out, struct dtx_err *err)
{
	const struct dtx_join_state *s = ox->bound;
	bool want = s->how == DTX_JOIN_SEMI;
	enum dtx_code rc = DTX_OK;
	uint32_t n = 0;
	uint16_t *sel;

	DTX_TRY(dtx_batch_sel(in, &sel, err));
	for (uint32_t k = 0; k < in->nsel; k++)
		if ((l->probe.id[k] != DTX_GROUP_NONE) == want)
			sel[n++] = sel[k];
	dtx_op_count(ox, want ? "unmatched" : "matched", (int64_t)in->nsel - n);
	in->nsel = n;
	DTX_TRY(dtx_colmap_apply(ox, &s->lmap, in, err));
	if (s->indicator >= 0 && dtx_op_wants(ox, (uint32_t)s->indicator))
		DTX_TRY(side_of_all(want ? DTX_STR("both") : DTX_STR("left_only"), in->nrows,
		                    &in->col[s->indicator], err));
	DTX_TRY(dtx_emit_batch(out, in, err));
out:
	return rc;
}

enum dtx_code dtx_join_batch(const struct dtx_opctx *ox, void *local, struct dtx_batch *in,
                             struct dtx_emit *out, struct dtx_err *err)
{
	const struct dtx_join_state *s = ox->bound;
	struct dtx_join_shared *sh = ox->shared;
	struct dtx_join_local *l = local;
	const struct dtx_schema *own = in->schema;
	enum dtx_code rc = DTX_OK;
	int64_t before = l->unmatched;

	l->n = 0;
	DTX_TRY(dtx_keys_widen(ox, &s->key.made[0], in, err));
	DTX_TRY(dtx_join_look(sh->table, &s->key.left, s->nulls_equal, &l->probe, in, err));
	DTX_TRY(dtx_join_watch(s, l, in, err));
	dtx_keys_narrow(&s->key.made[0], own, in);
	if (s->how == DTX_JOIN_SEMI || s->how == DTX_JOIN_ANTI) {
		DTX_TRY(filter_rows(ox, l, in, out, err));
		goto out;
	}
	/* they were dropped, or kept without a match */
	if (s->how == DTX_JOIN_INNER || s->how == DTX_JOIN_RIGHT)
		dtx_op_count(ox, "unmatched", l->unmatched - before);
	else if (s->how == DTX_JOIN_LEFT || s->how == DTX_JOIN_FULL)
		dtx_op_count(ox, "unmatched_left", l->unmatched - before);
	DTX_TRY(dtx_build_under(ox, &s->lmap, in, err));
	DTX_TRY(pair_rows(ox, l, in, out, err));
out:
	return rc;
}

/* --- right rows without a match --- */

static enum dtx_code right_only(const struct dtx_opctx *ox, const struct dtx_rowref *ref,
                                uint32_t n, struct dtx_join_local *l, struct dtx_emit *out,
                                struct dtx_err *err)
{
	const struct dtx_join_state *s = ox->bound;
	const struct dtx_join_shared *sh = ox->shared;
	struct dtx_pick pick = { sh->table->kept.batch,
		                 (uint32_t)sh->table->kept.n,
		                 l->which,
		                 l->rrow,
		                 n,
		                 sh->held,
		                 NULL,
		                 NULL };
	enum dtx_code rc = DTX_OK;
	struct dtx_batch *b = NULL;

	for (uint32_t i = 0; i < n; i++) {
		l->which[i] = ref[i].batch;
		l->rrow[i] = ref[i].row;
	}
	DTX_TRY(dtx_batch_new(ox->out, n, &b, err));
	DTX_TRY(dtx_pick_into(ox, &s->right_only, &pick, b, err));
	for (uint32_t i = 0; i < b->ncols; i++) {
		struct dtx_column *c = NULL;

		if (!dtx_op_wants(ox, i) || (int32_t)i == s->indicator)
			continue;
		if (!b->col[i])
			DTX_TRY(dtx_column_nulls(ox->out->field[i].type, n, &c, err));
		else
			DTX_TRY(dtx_cells_fit(b->col[i], &ox->out->field[i], &c, err));
		dtx_batch_put(b, i, c);
	}
	if (s->indicator >= 0 && dtx_op_wants(ox, (uint32_t)s->indicator))
		DTX_TRY(side_of_all(DTX_STR("right_only"), n, &b->col[s->indicator], err));
	DTX_TRY(dtx_emit_batch(out, b, err));
out:
	dtx_batch_free(b);
	return rc;
}

enum dtx_code dtx_join_flush(const struct dtx_opctx *ox, void *const *locals, unsigned n,
                             struct dtx_emit *out, struct dtx_err *err)
{
	const struct dtx_join_state *s = ox->bound;
	struct dtx_join_shared *sh = ox->shared;
	struct dtx_join_local *const *l = (struct dtx_join_local *const *)locals;
	enum dtx_code rc = DTX_OK;
	struct dtx_rowref *ref = NULL;
	size_t rows = 0;
	uint32_t most = dtx_op_batch_rows(ox);

	DTX_TRY(dtx_join_check_end(s, l, n, sh->table, err));
	DTX_TRY(dtx_join_warn_apart(ox, l, n, err));
	DTX_TRY(check_growth(ox, sh->rows_in + sh->table->nrows, sh->rows_out, 1, err));
	if (s->how == DTX_JOIN_SEMI || s->how == DTX_JOIN_ANTI)
		goto out;
	if (s->how != DTX_JOIN_CROSS)
		dtx_op_count(ox, "unmatched_right", (int64_t)dtx_join_count_unmatched(sh->table));
	if (s->how == DTX_JOIN_INNER || s->how == DTX_JOIN_LEFT)
		goto out;
	if (s->how == DTX_JOIN_CROSS)
		goto out;
	DTX_TRY(dtx_join_unmatched(sh->table, &ref, &rows, err));
	/* not stopped by a limit of a later step: that would be the reason why these rows have no
	 * match */
	for (size_t at = 0; at < rows; at += most)
		DTX_TRY(right_only(ox, ref + at, (uint32_t)DTX_MIN(most, rows - at), l[0], out,
		                   err));
out:
	dtx_mem_free(ref);
	return rc;
}
