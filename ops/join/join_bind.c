/* Binding of join: the keys of both sides and the columns of the result. */
#include "ops/join/join.h"

#include <stdio.h>

#include "core/data/cells.h"

static bool from_right(enum dtx_join_how how)
{
	return how == DTX_JOIN_RIGHT || how == DTX_JOIN_FULL;
}

static enum dtx_code bind_keys(struct dtx_bind *b, const struct dtx_join_args *a,
                               struct dtx_join_state *s, struct dtx_err *err)
{
	const char *const *using = a->using.item;
	enum dtx_code rc = DTX_OK;
	struct dtx_plist pairs = a->on;
	struct dtx_key_pair *pair;

	if (a->using.n) {
		pair = dtx_arena_alloc(b->arena, a->using.n, sizeof(*pair));
		if (!pair)
			DTX_FAIL_MEM(err);
		for (size_t i = 0; i < a->using.n; i++)
			pair[i] = (struct dtx_key_pair){ .left = using[i], .right = using[i] };
		pairs = (struct dtx_plist){ pair, a->using.n };
	}
	DTX_TRY(dtx_keysides_bind(b, &pairs, a->using.n ? "using" : "on", &s->key, err));
out:
	return rc;
}

/* --- columns of the result --- */

/* Per column of the given side: the first pair of two columns that has it; -1: none. */
static enum dtx_code keys_by_column(struct dtx_bind *b, const struct dtx_key_sides *s,
                                    unsigned side, int32_t **out, struct dtx_err *err)
{
	const struct dtx_groupkeys *k = side ? &s->right : &s->left;
	uint32_t i, n = b->in[side]->nfields;
	enum dtx_code rc = DTX_OK;
	int32_t *key = dtx_arena_alloc(b->arena, (size_t)n + 1, sizeof(*key));

	if (!key)
		DTX_FAIL_MEM(err);
	for (i = 0; i < n; i++)
		key[i] = -1;
	for (i = k->n; i-- > 0;)
		if (dtx_keysides_plain(s, i))
			key[k->col[i]] = (int32_t)i;
	*out = key;
out:
	return rc;
}

/* The type of a left key column that right-only rows fill too: it must fit both sides. */
static enum dtx_code widen_key(struct dtx_bind *b, struct dtx_join_state *s, uint32_t out,
                               int32_t key, struct dtx_err *err)
{
	const struct dtx_field *r = &b->in[1]->field[s->key.right.col[key]];
	struct dtx_field *f = &b->col[out].field;
	enum dtx_code rc = DTX_OK;

	s->key_out[key] = (int32_t)out;
	dtx_field_merge(f, r);
	s->refit[out] = true;
	DTX_TRY(dtx_bind_use(b, (int32_t)out, 1, s->key.right.col[key], DTX_DEMAND_VALUE, err));
out:
	return rc;
}

static enum dtx_code bind_left(struct dtx_bind *b, const struct dtx_join_args *a,
                               struct dtx_join_state *s, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int32_t *keys;

	DTX_TRY(keys_by_column(b, &s->key, 0, &keys, err));
	for (uint32_t i = 0; i < b->in[0]->nfields; i++) {
		uint32_t out = b->ncols;
		int32_t key = keys[i];

		DTX_TRY(dtx_bind_pass(b, 0, (int32_t)i, NULL, err));
		if (key >= 0 && from_right(s->how) && a->coalesce_keys && b->ncols > out)
			DTX_TRY(widen_key(b, s, out, key, err));
	}
out:
	return rc;
}

static enum dtx_code bind_right(struct dtx_bind *b, const struct dtx_join_args *a,
                                struct dtx_join_state *s, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	bool keep = from_right(s->how) && !a->coalesce_keys;
	int32_t *keys;

	DTX_TRY(keys_by_column(b, &s->key, 1, &keys, err));
	b->suffix = a->suffix;
	for (uint32_t i = 0; i < b->in[1]->nfields; i++)
		if (keep || keys[i] < 0)
			DTX_TRY(dtx_bind_pass_right(b, (int32_t)i, err));
out:
	return rc;
}

static enum dtx_code bind_arrays(struct dtx_bind *b, struct dtx_join_state *s, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t most = (size_t)b->in[0]->nfields + b->in[1]->nfields + 2;

	s->key_out = dtx_arena_alloc(b->arena, (size_t)s->key.left.n + 1, sizeof(*s->key_out));
	s->refit = dtx_arena_zalloc(b->arena, most, sizeof(*s->refit));
	if (!s->key_out || !s->refit)
		DTX_FAIL_MEM(err);
	for (uint32_t i = 0; i < s->key.left.n; i++)
		s->key_out[i] = -1;
	s->indicator = -1;
out:
	return rc;
}

static enum dtx_code bind_shown(struct dtx_bind *b, struct dtx_join_state *s, struct dtx_err *err)
{
	const struct dtx_groupkeys *key = &s->key.right;
	enum dtx_code rc = DTX_OK;
	uint32_t i, n = b->in[1]->nfields;
	bool *moved = dtx_arena_zalloc(b->arena, (size_t)n + 1, sizeof(*moved));

	s->shown = dtx_arena_zalloc(b->arena, (size_t)key->n + 1, sizeof(*s->shown));
	if (!moved || !s->shown)
		DTX_FAIL_MEM(err);
	for (i = 0; i < s->rmap.n; i++)
		if (s->rmap.from[i] >= 0)
			moved[s->rmap.from[i]] = true;
	for (i = 0; i < key->n; i++)
		s->shown[i] = (uint32_t)key->col[i] < n && moved[key->col[i]];
out:
	return rc;
}

static enum dtx_code bind_maps(struct dtx_bind *b, struct dtx_join_state *s, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int32_t *from = dtx_arena_alloc(b->arena, (size_t)b->ncols + 1, sizeof(*from));

	if (!from)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_colmap_bind(b, 0, &s->lmap, err));
	DTX_TRY(dtx_colmap_bind(b, 1, &s->rmap, err));
	memcpy(from, s->rmap.from, s->rmap.n * sizeof(*from));
	for (uint32_t k = 0; k < s->key.left.n; k++)
		if (s->key_out[k] >= 0)
			from[s->key_out[k]] = s->key.right.col[k];
	s->right_only = (struct dtx_colmap){ s->rmap.n, from };
	DTX_TRY(bind_shown(b, s, err));
out:
	return rc;
}

static void bind_promises(const struct dtx_join_args *a, struct dtx_join_state *s)
{
	s->how = (enum dtx_join_how)a->how;
	s->left_unique = a->cardinality == DTX_JOIN_1M || a->cardinality == DTX_JOIN_11;
	s->right_unique = a->cardinality == DTX_JOIN_M1 || a->cardinality == DTX_JOIN_11;
	s->all_left = a->match == DTX_MATCH_ALL_LEFT || a->match == DTX_MATCH_ALL;
	s->all_right = a->match == DTX_MATCH_ALL_RIGHT || a->match == DTX_MATCH_ALL;
	s->nulls_equal = a->nulls_equal;
}

enum dtx_code dtx_join_bind(struct dtx_bind *b, void *args, struct dtx_err *err)
{
	const struct dtx_join_args *a = args;
	const struct dtx_typeref text = { .type = DTX_T_TEXT };
	enum dtx_code rc = DTX_OK;
	struct dtx_join_state *s = dtx_bind_state(b, sizeof(*s));

	if (!s)
		DTX_FAIL_MEM(err);
	bind_promises(a, s);
	DTX_TRY(bind_keys(b, a, s, err));
	DTX_TRY(bind_arrays(b, s, err));
	DTX_TRY(bind_left(b, a, s, err));
	if (s->how != DTX_JOIN_SEMI && s->how != DTX_JOIN_ANTI)
		DTX_TRY(bind_right(b, a, s, err));
	DTX_TRY(bind_maps(b, s, err));
	if (a->indicator_as) {
		s->indicator = (int32_t)b->ncols;
		DTX_TRY(dtx_bind_make(b, a->indicator_as, text, NULL, "side of", err));
	}
	b->ordered = s->left_unique;
	b->sees_all = s->left_unique || s->all_left || s->all_right;
out:
	return rc;
}
