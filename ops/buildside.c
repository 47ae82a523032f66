/* The table a row is looked up in: its keys, its rows, what is attached from it. */
#include "ops/buildside.h"

#include <stdio.h>

#include "ops/cells.h"

const struct dtx_param dtx_key_pair_rows[2] = {
	{ .name = "left",
	  .kind = DTX_P_COLUMN,
	  .required = true,
	  .offset = offsetof(struct dtx_key_pair, left),
	  .help = "key column of the current table" },
	{ .name = "right",
	  .kind = DTX_P_COLUMN,
	  .required = true,
	  .offset = offsetof(struct dtx_key_pair, right),
	  .help = "key column of the other table" },
};

/* --- keys --- */

bool dtx_key_type(struct dtx_typeref l, struct dtx_typeref r, struct dtx_typeref *as)
{
	const struct dtx_typeref by_bytes = { .type = DTX_T_DECIMAL };

	*as = l;
	if (l.type == DTX_T_UNKNOWN || r.type == DTX_T_UNKNOWN)
		return true;
	if (l.type == r.type && l.scale == r.scale)
		return true;
	*as = by_bytes; /* any type whose rows are compared by their normalised bytes */
	return l.type == DTX_T_NULL || r.type == DTX_T_NULL || l.type == r.type ||
	       (dtx_type_is_number(l.type) && dtx_type_is_number(r.type));
}

static enum dtx_code bind_type(struct dtx_bind *b, int32_t l, int32_t r, const char *sub,
                               struct dtx_typeref *type, struct dtx_err *err)
{
	const struct dtx_field *lf, *rf;

	if (l < 0 || r < 0)
		return DTX_OK;
	lf = &b->in[0]->field[l];
	rf = &b->in[1]->field[r];
	if (dtx_key_type(lf->type, rf->type, type))
		return DTX_OK;
	return dtx_bind_fail(b, DTX_E_TYPE_MISMATCH, sub, err,
	                     "keys '%s' (%s) and '%s' (%s) cannot be compared", lf->name,
	                     dtx_type_name(lf->type.type), rf->name, dtx_type_name(rf->type.type));
}

static enum dtx_code bind_sides(struct dtx_bind *b, const int32_t *l, const int32_t *r, uint32_t n,
                                struct dtx_key_sides *s, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_groupkeys_columns(b, 0, l, n, &s->left, err));
	DTX_TRY(dtx_groupkeys_columns(b, 1, r, n, &s->right, err));
out:
	return rc;
}

enum dtx_code dtx_keysides_bind(struct dtx_bind *b, const struct dtx_plist *pairs, const char *name,
                                struct dtx_key_sides *s, struct dtx_err *err)
{
	const struct dtx_key_pair *pair = pairs->item;
	enum dtx_code rc = DTX_OK;
	int32_t *l = dtx_arena_alloc(b->arena, pairs->n + 1, sizeof(*l));
	int32_t *r = dtx_arena_alloc(b->arena, pairs->n + 1, sizeof(*r));
	char sub[64];

	s->type = dtx_arena_zalloc(b->arena, pairs->n + 1, sizeof(*s->type));
	if (!l || !r || !s->type)
		DTX_FAIL_MEM(err);
	for (size_t i = 0; i < pairs->n; i++) {
		snprintf(sub, sizeof(sub), "/%s/%zu/right", name, i);
		DTX_TRY(dtx_bind_column(b, 1, pair[i].right, sub, &r[i], err));
		snprintf(sub, sizeof(sub), "/%s/%zu/left", name, i);
		DTX_TRY(dtx_bind_column(b, 0, pair[i].left, sub, &l[i], err));
		DTX_TRY(bind_type(b, l[i], r[i], sub, &s->type[i], err));
	}
	DTX_TRY(bind_sides(b, l, r, (uint32_t)pairs->n, s, err));
out:
	return rc;
}

enum dtx_code dtx_keysides_columns(struct dtx_bind *b, const int32_t *l, const int32_t *r,
                                   uint32_t n, struct dtx_key_sides *s, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	s->type = dtx_arena_zalloc(b->arena, (size_t)n + 1, sizeof(*s->type));
	if (!s->type)
		DTX_FAIL_MEM(err);
	for (uint32_t i = 0; i < n; i++)
		DTX_TRY(bind_type(b, l[i], r[i], "/cols", &s->type[i], err));
	DTX_TRY(bind_sides(b, l, r, n, s, err));
out:
	return rc;
}

void dtx_keypairs_explain(const struct dtx_plist *pairs, struct dtx_buf *out)
{
	const struct dtx_key_pair *pair = pairs->item;

	for (size_t i = 0; i < pairs->n; i++) {
		dtx_buf_printf(out, "%s%s", i ? ", " : "", pair[i].left);
		if (strcmp(pair[i].left, pair[i].right) != 0)
			dtx_buf_printf(out, " = %s", pair[i].right);
	}
}

/* --- the sink --- */

enum dtx_code dtx_build_init(const struct dtx_opctx *ox, void **local, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	(void)ox;
	*local = dtx_mem_zalloc(1, sizeof(struct dtx_kept));
	if (!*local)
		DTX_FAIL_MEM(err);
out:
	return rc;
}

void dtx_build_free(const struct dtx_opctx *ox, void *local)
{
	(void)ox;
	if (!local)
		return;
	dtx_kept_clear(local);
	dtx_mem_free(local);
}

enum dtx_code dtx_build_consume(const struct dtx_opctx *ox, void *local, struct dtx_batch *in,
                                struct dtx_err *err)
{
	struct dtx_kept *k = local;
	struct dtx_spill *spill = ox->run ? ox->run->spill : NULL;
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_kept_add(k, in, err));
	if (dtx_spill_tables(spill))
		DTX_TRY(dtx_spill_batch(spill, k->batch[k->n - 1], &ox->stat->spilled, err));
out:
	return rc;
}

enum dtx_code dtx_build_table(const struct dtx_opctx *ox, void *const *locals, unsigned n,
                              const struct dtx_key_sides *keys, bool nulls_equal,
                              struct dtx_join_table **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_kept all = { NULL, 0, 0 };

	for (unsigned w = 0; w < n; w++) {
		struct dtx_kept *k = locals[w];

		if (!dtx_mem_reserve(&all.batch, &all.cap, all.n + k->n + 1,
		                     sizeof(struct dtx_batch *)))
			DTX_FAIL_MEM(err);
		for (size_t i = 0; i < k->n; i++)
			all.batch[all.n++] = k->batch[i];
		k->n = 0;
	}
	DTX_TRY(dtx_join_build(ox, &all, &keys->right, keys->type, nulls_equal, out, err));
out:
	dtx_kept_clear(&all);
	return rc;
}

/* --- the map --- */

enum dtx_code dtx_build_local_new(const struct dtx_key_sides *keys, struct dtx_build_local *l,
                                  struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_join_probe_new(keys->left.n, &l->probe, err));
	l->which = dtx_mem_alloc(DTX_BATCH_ROWS, sizeof(*l->which));
	l->row = dtx_mem_alloc(DTX_BATCH_ROWS, sizeof(*l->row));
	if (!l->which || !l->row)
		DTX_FAIL_MEM(err);
out:
	return rc;
}

void dtx_build_local_clear(const struct dtx_key_sides *keys, struct dtx_build_local *l)
{
	dtx_join_probe_clear(&l->probe, keys->left.n);
	dtx_mem_free(l->which);
	dtx_mem_free(l->row);
}

enum dtx_code dtx_build_under(const struct dtx_opctx *ox, const struct dtx_colmap *map,
                              struct dtx_batch *b, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_column *c;

	for (uint32_t i = 0; i < map->n; i++) {
		if (map->from[i] < 0 || !b->col[map->from[i]])
			continue;
		DTX_TRY(dtx_cells_under(b, (uint32_t)map->from[i], &ox->out->field[i], &c, err));
		dtx_batch_put(b, (uint32_t)map->from[i], dtx_column_ref(c));
	}
out:
	return rc;
}

enum dtx_code dtx_build_attach(const struct dtx_opctx *ox, const struct dtx_join_table *t,
                               const struct dtx_build_local *l, const struct dtx_colmap *lmap,
                               const struct dtx_colmap *rmap, struct dtx_batch *in,
                               struct dtx_err *err)
{
	struct dtx_pick pick = { t->kept.batch, (uint32_t)t->kept.n, l->which, l->row, in->nrows };
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_colmap_apply(ox, lmap, in, err));
	DTX_TRY(dtx_pick_into(ox, rmap, &pick, in, err));
out:
	return rc;
}
