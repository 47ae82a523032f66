/* Grouping sets of group_by: rollup, cube, or a list. */
#include <stdio.h>

#include "ops/group/groupby.h"
#include "ops/kit/opkit.h"

#define SETS_MEMBERS 30u /* keys of listed sets are bits of a mask */

/* --- binding --- */

/* Makes the set of the keys in a mask, with its name "a,b". */
static enum dtx_code make_set(struct dtx_bind *b, const struct dtx_gb_state *s, uint32_t mask,
                              struct dtx_gb_set *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_buf name = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	bool *in = dtx_arena_zalloc(b->arena, (size_t)s->nkeys + 1, sizeof(*in));

	if (!in)
		DTX_FAIL_MEM(err);
	for (uint32_t k = 0; k < s->nkeys; k++) {
		in[k] = mask >> k & 1;
		if (in[k])
			dtx_buf_printf(&name, "%s%s", name.len ? "," : "", s->key[k].field.name);
	}
	DTX_TRY(dtx_buf_check(&name, "the names of a set", err));
	*out = (struct dtx_gb_set){ in, dtx_arena_strdup(b->arena, dtx_buf_text(&name)), !mask };
	if (!out->name)
		DTX_FAIL_MEM(err);
out:
	dtx_buf_clear(&name);
	return rc;
}

static enum dtx_code listed_mask(struct dtx_bind *b, const struct dtx_gb_state *s,
                                 const struct dtx_plist *names, size_t i, uint32_t *mask,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	char sub[48];

	*mask = 0;
	for (size_t n = 0; n < names->n; n++) {
		const char *name = ((const char *const *)names->item)[n];
		uint32_t k = 0;

		if (dtx_param_is_hole(name))
			continue;
		while (k < s->nkeys && strcmp(s->key[k].field.name, name) != 0)
			k++;
		snprintf(sub, sizeof(sub), "/sets/%zu/%zu", i, n);
		if (k == s->nkeys)
			DTX_TRY(dtx_bind_fail(b, DTX_E_BAD_PARAM_VALUE, sub, err,
			                      "'%s' is not among the keys in 'by'", name));
		else
			*mask |= 1u << k;
	}
out:
	return rc;
}

/* The masks in order: rollup drops keys from the end, cube goes through all subsets from the full
 * set. */
static uint32_t word_masks(enum dtx_psets_how how, uint32_t nkeys, uint32_t *mask)
{
	uint32_t n = 0;

	if (how == DTX_SETS_ROLLUP) {
		for (uint32_t k = nkeys + 1; k-- > 0;)
			mask[n++] = (1u << k) - 1;
		return n;
	}
	for (uint32_t left = 1u << nkeys; left-- > 0;) {
		uint32_t turned = 0; /* the first key is dropped last */

		for (uint32_t k = 0; k < nkeys; k++)
			turned |= (left >> k & 1) << (nkeys - 1 - k);
		mask[n++] = turned;
	}
	return n;
}

static enum dtx_code list_masks(struct dtx_bind *b, const struct dtx_gb_state *s,
                                const struct dtx_psets *sets, uint32_t *mask, uint32_t *n,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	char sub[48];

	for (size_t i = 0; i < sets->n; i++) {
		size_t before = b->nfindings;

		DTX_TRY(listed_mask(b, s, &sets->set[i], i, &mask[*n], err));
		for (uint32_t other = 0; other < *n && b->nfindings == before; other++) {
			if (mask[other] != mask[*n])
				continue;
			snprintf(sub, sizeof(sub), "/sets/%zu", i);
			DTX_TRY(dtx_bind_fail(b, DTX_E_BAD_PARAM_VALUE, sub, err,
			                      "this set is there already"));
			break;
		}
		++*n;
	}
out:
	return rc;
}

static size_t sets_wanted(const struct dtx_psets *sets, uint32_t nkeys)
{
	if (sets->how == DTX_SETS_LIST)
		return nkeys > SETS_MEMBERS ? SIZE_MAX : sets->n;
	if (sets->how == DTX_SETS_ROLLUP)
		return (size_t)nkeys + 1;
	return nkeys > 5 ? SIZE_MAX : (size_t)1 << nkeys;
}

enum dtx_code dtx_gb_bind_sets(struct dtx_bind *b, const struct dtx_gb_args *a,
                               struct dtx_gb_state *s, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t mask[DTX_GB_SETS_MAX], n = 0;
	size_t want = sets_wanted(&a->sets, s->nkeys);

	if (a->sets.how == DTX_SETS_NONE || s->nkeys < a->by.n || b->broken)
		return DTX_OK;
	if (!want || want > DTX_GB_SETS_MAX)
		return dtx_bind_fail(b, DTX_E_BAD_PARAM_VALUE, "/sets", err,
		                     want ? "there are more than %u sets" : "there is no set",
		                     DTX_GB_SETS_MAX);
	if (a->sets.how == DTX_SETS_LIST)
		DTX_TRY(list_masks(b, s, &a->sets, mask, &n, err));
	else
		n = word_masks(a->sets.how, s->nkeys, mask);
	s->set = dtx_arena_zalloc(b->arena, n, sizeof(*s->set));
	if (!s->set)
		DTX_FAIL_MEM(err);
	s->nsets = n;
	s->names_sets = a->sets_as != NULL;
	s->key_type[s->nkeys] = (struct dtx_typeref){ .type = DTX_T_INT64 };
	for (uint32_t i = 0; i < n; i++)
		DTX_TRY(make_set(b, s, mask[i], &s->set[i], err));
out:
	return rc;
}

/* --- running --- */

enum dtx_code dtx_gb_set_keys(const struct dtx_gb_state *s, uint32_t set,
                              struct dtx_column *const *key, uint32_t nrows, struct dtx_column **to,
                              struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_builder number;
	int64_t *v;

	dtx_builder_init(&number, (struct dtx_typeref){ .type = DTX_T_INT64 }, nrows);
	for (uint32_t k = 0; k < s->nkeys; k++) {
		if (s->set[set].in[k])
			to[k] = dtx_column_ref(key[k]);
		else
			DTX_TRY(dtx_column_nulls(s->key[k].field.type, nrows, &to[k], err));
	}
	v = dtx_builder_bulk(&number, nrows);
	for (uint32_t i = 0; v && i < nrows; i++)
		v[i] = set;
	DTX_TRY(dtx_builder_finish(&number, NULL, &to[s->nkeys], err));
out:
	dtx_builder_clear(&number);
	return rc;
}

enum dtx_code dtx_gb_set_names(const struct dtx_gb_state *s, const uint64_t *pos, uint32_t n,
                               struct dtx_column **out, struct dtx_err *err)
{
	enum dtx_code rc;
	struct dtx_builder name;

	dtx_builder_init(&name, (struct dtx_typeref){ .type = DTX_T_TEXT }, n);
	for (uint32_t i = 0; i < n; i++)
		dtx_builder_text(&name, dtx_str_of(s->set[dtx_gb_set_of(pos[i])].name));
	rc = dtx_builder_finish(&name, NULL, out, err);
	dtx_builder_clear(&name);
	return rc;
}
