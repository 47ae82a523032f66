/* The sink of group_by: the groups of one worker, and how the groups of all workers are combined.
 *
 * Each worker groups the rows that it gets.  Then workers combine their groups in parallel, one
 * partition of hashes each: entries with equal keys are merged into one (see the links in
 * groupby.h).  Partitions need no locks, because equal keys have equal hashes and so are in the
 * same partition.
 *
 * A lookup in the table of another worker is a cache miss or two.  Entries are therefore combined
 * in blocks of 32, in three passes: prefetch the slots of the tables, look up and prefetch the
 * states, merge. */
#include "ops/group/groupby.h"

#include <stdatomic.h>
#include <stdio.h>

#include "core/base/memory/prefetch.h"
#include "core/data/key.h"
#include "ops/kit/opkit.h"

/* Grouping sets of group_by: rollup, cube, or a list. */

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
			                      "this set is listed already"));
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

/* Reads `sets` after the keys are bound. */
static enum dtx_code gb_bind_sets(struct dtx_bind *b, const struct dtx_gb_args *a,
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

/* The key columns as the set sees them, and the number of the set: to[0 .. nkeys], each with a
 * reference. */
static enum dtx_code gb_set_keys(const struct dtx_gb_state *s, uint32_t set,
                                 struct dtx_column *const *key, uint32_t nrows,
                                 struct dtx_column **to, struct dtx_err *err)
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

/* Binding of group_by: keys, aggregates, the layout of a group's record. */

/* Whether the text of a value may differ from how its cell is written.  Texts, ints and ISO dates
 * are printed as they are written; for other types the cell is kept. */
static bool written_differs(const struct dtx_field *f)
{
	switch (f->type.type) {
	case DTX_T_TEXT:
	case DTX_T_NULL: return false;
	case DTX_T_INT64: return f->group != 0;
	case DTX_T_DATE: return f->format != NULL;
	default: return true;
	}
}

static enum dtx_code bind_key(struct dtx_bind *b, const struct dtx_agg_item *item, size_t k,
                              struct dtx_gb_key *key, struct dtx_err *err)
{
	const struct dtx_typeref any = { .type = DTX_T_UNKNOWN };
	enum dtx_code rc = DTX_OK;
	struct dtx_typeref type = any;
	char sub[48];

	key->col = -1;
	if (item->expr) {
		snprintf(sub, sizeof(sub), "/by/%zu/expr", k);
		DTX_TRY(dtx_bind_expr(b, 0, item->expr, sub, any, DTX_USE_ROWS, &key->bound, err));
		if (key->bound)
			type = dtx_bound_type(key->bound);
		key->field = (struct dtx_field){ .name = item->as, .type = type };
		DTX_TRY(dtx_bind_make(b, item->as, type, item->expr, "key", err));
		goto out;
	}
	snprintf(sub, sizeof(sub), "/by/%zu", k);
	DTX_TRY(dtx_bind_column(b, 0, item->as, sub, &key->col, err));
	if (key->col < 0)
		goto out;
	DTX_TRY(dtx_bind_use(b, DTX_USE_ROWS, 0, key->col, DTX_DEMAND_VALUE, err));
	DTX_TRY(dtx_bind_pass(b, 0, key->col, NULL, err));
	key->field = b->in[0]->field[key->col];
	key->written = key->field.source && written_differs(&key->field);
out:
	return rc;
}

static enum dtx_code bind_keys(struct dtx_bind *b, const struct dtx_gb_args *a,
                               struct dtx_gb_state *s, struct dtx_err *err)
{
	const struct dtx_agg_item *item = a->by.item;
	enum dtx_code rc = DTX_OK;
	char sub[48];

	for (size_t k = 0; k < a->by.n; k++) {
		struct dtx_gb_key *key = &s->key[s->nkeys];

		snprintf(sub, sizeof(sub), "/by/%zu", k);
		if (dtx_bind_out(b, item[k].as) >= 0) {
			DTX_TRY(dtx_bind_taken(b, item[k].as, sub, err));
			continue;
		}
		DTX_TRY(bind_key(b, &item[k], k, key, err));
		s->key_type[s->nkeys] = key->field.type;
		if (key->col >= 0 || item[k].expr)
			s->nkeys++;
	}
out:
	return rc;
}

enum dtx_code dtx_gb_lay_out(struct dtx_bind *b, struct dtx_gb_state *s, struct dtx_gb_out *o,
                             const struct dtx_field *keys, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	o->offset = dtx_arena_alloc(b->arena, o->calls.n + 1, sizeof(*o->offset));
	o->inner = dtx_agg_inner(b, keys, s->nkeys, &o->calls);
	if (!o->offset || !o->inner)
		DTX_FAIL_MEM(err);
	for (size_t i = 0; i < o->calls.n; i++) {
		o->offset[i] = s->stride;
		s->stride += dtx_agg_state_size(o->calls.call[i]);
		s->grows = s->grows || dtx_agg_grows(o->calls.call[i]);
	}
out:
	return rc;
}

static enum dtx_code bind_out(struct dtx_bind *b, const struct dtx_agg_item *item, size_t k,
                              const struct dtx_field *keys, struct dtx_gb_state *s,
                              struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_gb_out *o = &s->out[s->nouts];
	struct dtx_typeref type = { .type = DTX_T_UNKNOWN };
	char sub[48];

	if (dtx_bind_out(b, item->as) >= 0) {
		snprintf(sub, sizeof(sub), "/agg/%zu/as", k);
		DTX_TRY(dtx_bind_taken(b, item->as, sub, err));
		goto out;
	}
	snprintf(sub, sizeof(sub), "/agg/%zu/expr", k);
	DTX_TRY(dtx_bind_agg(b, 0, item->expr, sub, keys, s->nkeys, (int32_t)b->ncols, &o->calls,
	                     &o->bound, err));
	if (o->bound)
		type = dtx_bound_type(o->bound);
	DTX_TRY(dtx_bind_make(b, item->as, type, item->expr, "by", err));
	if (!o->bound)
		goto out;
	DTX_TRY(dtx_gb_lay_out(b, s, o, keys, err));
	s->nouts++;
out:
	return rc;
}

/* `having` reads output columns, so the input columns that these are made of decide which rows the
 * result has. */
static void on_having(void *arg, int32_t col, enum dtx_demand demand)
{
	bool *used = arg;

	(void)demand;
	used[col] = true;
}

static enum dtx_code bind_having(struct dtx_bind *b, const struct dtx_gb_args *a,
                                 struct dtx_gb_state *s, struct dtx_err *err)
{
	const struct dtx_typeref want = { .type = DTX_T_BOOL };
	enum dtx_code rc = DTX_OK;
	struct dtx_field *field = dtx_arena_zalloc(b->arena, (size_t)b->ncols + 1, sizeof(*field));
	bool *used = dtx_arena_zalloc(b->arena, (size_t)b->ncols + 1, sizeof(*used));
	struct dtx_schema schema = { .nfields = b->ncols, .field = field };
	size_t nuses = b->nuses, before = b->errs->n;

	if (!field || !used)
		DTX_FAIL_MEM(err);
	for (uint32_t i = 0; i < b->ncols; i++)
		field[i] = b->col[i].field;
	b->result = true;
	rc = dtx_bind_expr_over(b, &schema, a->having, "/having", want, on_having, used, &s->having,
	                        err);
	b->result = false;
	if (rc != DTX_OK)
		goto out;
	for (size_t i = before; i < b->errs->n; i++)
		if (b->errs->item[i].code == DTX_E_AGGREGATE_NOT_ALLOWED)
			dtx_err_hint(&b->errs->item[i],
			             "having reads the columns of agg: give the aggregate a name "
			             "there, \"agg\": {\"total\": \"sum(x)\"}, and write that "
			             "name here, \"having\": \"total > 12\"");
	for (size_t i = 0; i < nuses; i++) {
		struct dtx_bind_use u = b->use[i];

		if (u.out >= 0 && used[u.out])
			DTX_TRY(dtx_bind_use(b, DTX_USE_ROWS, u.table, (int32_t)u.col,
			                     (enum dtx_demand)u.demand, err));
	}
out:
	return rc;
}

/* The name of a row's set.  Which keys are in a set does not depend on any column. */
static enum dtx_code bind_sets_as(struct dtx_bind *b, const struct dtx_gb_args *a,
                                  struct dtx_err *err)
{
	if (dtx_bind_out(b, a->sets_as) >= 0)
		return dtx_bind_taken(b, a->sets_as, "/sets_as", err);
	return dtx_bind_make(b, a->sets_as, (struct dtx_typeref){ .type = DTX_T_TEXT }, NULL,
	                     "keys of the set", err);
}

/* Whether values can be read back from the keys of the groups.  Only several keys are stored as
 * bytes, and sorting by value needs columns. */
static bool keys_tell(const struct dtx_gb_state *s)
{
	if (s->nkeys < 2 || s->set || s->order == DTX_GB_SORTED)
		return false;
	for (uint32_t i = 0; i < s->nkeys; i++)
		if (s->key[i].written || !dtx_key_is_reversible(s->key[i].field.type.type))
			return false;
	return true;
}

enum dtx_code dtx_gb_bind(struct dtx_bind *b, void *args, struct dtx_err *err)
{
	const struct dtx_gb_args *a = args;
	const struct dtx_agg_item *agg = a->agg.item;
	enum dtx_code rc = DTX_OK;
	struct dtx_gb_state *s = dtx_bind_state(b, sizeof(*s));
	struct dtx_field *keys;

	if (!s)
		DTX_FAIL_MEM(err);
	s->null_keys = a->null_keys;
	s->order = a->order;
	s->key = dtx_arena_zalloc(b->arena, a->by.n + 1, sizeof(*s->key));
	s->key_type = dtx_arena_zalloc(b->arena, a->by.n + 2, sizeof(*s->key_type));
	s->out = dtx_arena_zalloc(b->arena, a->agg.n + 1, sizeof(*s->out));
	keys = dtx_arena_zalloc(b->arena, a->by.n + 1, sizeof(*keys));
	if (!s->key || !s->key_type || !s->out || !keys)
		DTX_FAIL_MEM(err);
	DTX_TRY(bind_keys(b, a, s, err));
	DTX_TRY(gb_bind_sets(b, a, s, err));
	s->from_keys = keys_tell(s);
	for (uint32_t i = 0; i < s->nkeys; i++)
		keys[i] = s->key[i].field;
	for (size_t k = 0; k < a->agg.n; k++)
		DTX_TRY(bind_out(b, &agg[k], k, keys, s, err));
	if (!a->agg.n)
		dtx_bind_unsure(b);
	if (a->sets_as)
		DTX_TRY(bind_sets_as(b, a, err));
	if (a->having)
		DTX_TRY(bind_having(b, a, s, err));
	dtx_bind_close(b);
out:
	return rc;
}

bool dtx_gb_wants(const struct dtx_opctx *ox, const struct dtx_gb_state *s, uint32_t i)
{
	return s->having || dtx_op_wants(ox, s->nkeys + i);
}

static void local_keys_free(struct dtx_gb_local *l)
{
	for (uint32_t i = 0; i < l->state->nkeys; i++) {
		if (l->value)
			dtx_builder_clear(&l->value[i]);
		if (l->written)
			dtx_spanbuf_clear(&l->written[i]);
		if (l->column)
			dtx_column_unref(l->column[i]);
	}
	dtx_mem_free(l->value);
	dtx_mem_free(l->written);
	dtx_mem_free(l->column);
}

/* Frees what the states of groups [from, from + n) hold. */
static void free_states(struct dtx_gb_local *l, uint32_t from, uint32_t n)
{
	size_t stride = l->state->stride;

	for (uint32_t i = 0; l->states && i < l->state->nouts; i++) {
		const struct dtx_gb_out *o = &l->state->out[i];

		for (size_t c = 0; c < o->calls.n; c++)
			if (dtx_agg_needs_free(o->calls.call[c]))
				dtx_agg_free(o->calls.call[c],
				             l->states + from * stride + o->offset[c], stride, n);
	}
}

void dtx_gb_drop_state(struct dtx_gb_local *l, uint32_t id)
{
	free_states(l, id, 1);
}

static void local_states_free(struct dtx_gb_local *l)
{
	free_states(l, 0, l->n);
	dtx_mem_free(l->states);
	dtx_arena_clear(&l->pool);
}

void dtx_gb_drop_scratch(struct dtx_gb_local *l)
{
	dtx_mem_free(l->id);
	dtx_mem_free(l->row);
	l->id = NULL;
	l->row = NULL;
}

void dtx_gb_free_local(const struct dtx_opctx *ox, void *local)
{
	struct dtx_gb_local *l = local;

	(void)ox;
	if (!l)
		return;
	local_states_free(l);
	local_keys_free(l);
	dtx_gb_disk_free(l->state, l->disk);
	dtx_mem_free(l->from);
	dtx_mem_free(l->chunk);
	dtx_groups_free(l->groups);
	dtx_mem_free(l->pos);
	dtx_mem_free(l->link);
	dtx_gb_drop_scratch(l);
	dtx_mem_free(l);
}

enum dtx_code dtx_gb_init_local(const struct dtx_opctx *ox, void **local, struct dtx_err *err)
{
	const struct dtx_gb_state *s = ox->bound;
	enum dtx_code rc = DTX_OK;
	struct dtx_gb_local *l = dtx_mem_zalloc(1, sizeof(*l));

	if (!l)
		DTX_FAIL_MEM(err);
	l->state = s;
	l->value = dtx_mem_zalloc((size_t)s->nkeys + 1, sizeof(*l->value));
	l->written = dtx_mem_zalloc((size_t)s->nkeys + 1, sizeof(*l->written));
	l->column = dtx_mem_zalloc((size_t)s->nkeys + 1, sizeof(struct dtx_column *));
	l->id = dtx_mem_alloc(DTX_BATCH_ROWS, sizeof(*l->id));
	l->row = dtx_mem_alloc(DTX_BATCH_ROWS, sizeof(*l->row));
	if (!l->value || !l->written || !l->column || !l->id || !l->row)
		DTX_FAIL_MEM(err);
	for (uint32_t i = 0; i < s->nkeys; i++) {
		dtx_builder_init(&l->value[i], s->key[i].field.type, 0);
		dtx_spanbuf_init(&l->written[i], DTX_CELLDIALECT_CSV);
	}
	DTX_TRY(dtx_groups_new(s->key_type, dtx_gb_ngroupkeys(s), &l->groups, err));
	*local = l;
	l = NULL;
out:
	dtx_gb_free_local(ox, l);
	return rc;
}

enum dtx_code dtx_gb_drop_groups(struct dtx_gb_local *l, struct dtx_err *err)
{
	const struct dtx_gb_state *s = l->state;
	enum dtx_code rc = DTX_OK;

	local_states_free(l);
	l->states = NULL;
	dtx_mem_free(l->pos);
	dtx_mem_free(l->from);
	l->pos = l->from = NULL;
	l->n = 0;
	l->cap_pos = l->cap_states = l->cap_from = 0;
	for (uint32_t i = 0; i < s->nkeys; i++) {
		dtx_builder_clear(&l->value[i]);
		dtx_builder_init(&l->value[i], s->key[i].field.type, 0);
		dtx_spanbuf_clear(&l->written[i]);
		dtx_spanbuf_init(&l->written[i], DTX_CELLDIALECT_CSV);
		dtx_column_unref(l->column[i]);
		l->column[i] = NULL;
	}
	dtx_groups_free(l->groups);
	l->groups = NULL;
	DTX_TRY(dtx_groups_new(s->key_type, dtx_gb_ngroupkeys(s), &l->groups, err));
out:
	return rc;
}

/* --- adding rows --- */

static enum dtx_code key_columns(const struct dtx_opctx *ox, const struct dtx_gb_state *s,
                                 struct dtx_batch *in, struct dtx_column **key, struct dtx_err *err)
{
	struct dtx_eval_counts counts = { 0 };
	enum dtx_code rc = DTX_OK;

	for (uint32_t i = 0; i < s->nkeys; i++) {
		struct dtx_column *c = NULL;

		if (s->key[i].col >= 0) {
			DTX_TRY(dtx_batch_value(in, (uint32_t)s->key[i].col, &c, err));
			if (c->form == DTX_F_DICT) /* the table of groups finds ids by code */
				key[i] = dtx_column_ref(c);
			else
				DTX_TRY(dtx_column_flat(c, &key[i], err));
			continue;
		}
		DTX_TRY(dtx_eval(s->key[i].bound, in, &c, &counts, err));
		rc = dtx_column_flat(c, &key[i], err);
		dtx_column_unref(c);
		if (rc != DTX_OK)
			goto out;
	}
	dtx_op_evals(ox, &counts);
out:
	return rc;
}

static bool null_in_key(struct dtx_column *const *key, uint32_t n, uint32_t row)
{
	for (uint32_t i = 0; i < n; i++)
		if (dtx_column_is_null(key[i], row))
			return true;
	return false;
}

/* Removes rows with a null in the key from the batch, or fails at the first one. */
static enum dtx_code drop_null_keys(const struct dtx_opctx *ox, const struct dtx_gb_state *s,
                                    struct dtx_batch *in, struct dtx_column *const *key,
                                    struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint16_t *sel;
	uint32_t n = 0;

	DTX_TRY(dtx_batch_sel(in, &sel, err));
	for (uint32_t k = 0; k < in->nsel; k++) {
		if (!null_in_key(key, s->nkeys, sel[k])) {
			sel[n++] = sel[k];
			continue;
		}
		if (s->null_keys == DTX_GB_NULL_DROP)
			continue;
		rc = dtx_err_set(err, DTX_E_NULL_KEY, __FILE__, __LINE__,
		                 "group_by: a key is null");
		dtx_err_hint(err,
		             "\"null_keys\": \"keep\" makes null a group, \"drop\" leaves the rows "
		             "out");
		dtx_batch_set_position(in, sel[k], s->key[0].col, err);
		goto out;
	}
	dtx_op_count(ox, "null_key", (int64_t)in->nsel - n);
	in->nsel = n;
out:
	return rc;
}

/* Keeps the cell of a key as it is written, for keys whose value does not determine it.  Null in
 * sets that do not have the key. */
static void keep_written(struct dtx_gb_local *l, uint32_t i, const struct dtx_column *cell,
                         uint32_t row)
{
	struct dtx_spanbuf *w = &l->written[i];

	if (w->n == 0 && w->bytes.len == 0)
		dtx_spanbuf_init(w, dtx_column_dialect(cell));
	if (l->state->set && !l->state->set[l->set].in[i])
		dtx_spanbuf_null(w);
	else
		dtx_spanbuf_add(w, cell, row);
}

/* Whether the values of key i are kept: the result or its order needs them. */
static bool keeps_value(const struct dtx_gb_state *s, uint32_t i)
{
	return !s->from_keys && (!s->key[i].written || s->order == DTX_GB_SORTED);
}

/* Fills the arrays for the groups that are new in this batch: [l->n, count). */
static enum dtx_code add_groups(struct dtx_gb_local *l, struct dtx_batch *in,
                                struct dtx_column *const *key, struct dtx_err *err)
{
	const struct dtx_gb_state *s = l->state;
	enum dtx_code rc = DTX_OK;
	uint32_t count = dtx_groups_count(l->groups), next = l->n, fresh = 0;

	if (count == l->n)
		goto out;
	if (!dtx_mem_reserve(&l->pos, &l->cap_pos, count, sizeof(*l->pos)) ||
	    (s->stride && !dtx_mem_reserve(&l->states, &l->cap_states, count, s->stride)))
		DTX_FAIL_MEM(err);
	for (uint32_t i = 0; s->stride && i < s->nouts; i++)
		for (size_t c = 0; c < s->out[i].calls.n; c++)
			dtx_agg_init(s->out[i].calls.call[c], l->states + s->out[i].offset[c],
			             s->stride, l->n, count);
	l->n = count;
	for (uint32_t k = 0; next < count && k < in->nsel; k++) {
		uint16_t row = (uint16_t)dtx_batch_row(in, k);

		if (l->id[k] != next)
			continue;
		l->row[fresh++] = row;
		l->pos[next] = dtx_batch_pos(in, row);
		if (next && l->pos[next] < l->pos[next - 1])
			l->unordered = true;
		next++;
	}
	DTX_ASSERT(next == count, err);
	for (uint32_t i = 0; i < s->nkeys; i++) {
		if (keeps_value(s, i))
			dtx_builder_rows(&l->value[i], key[i], l->row, fresh);
		for (uint32_t k = 0; s->key[i].written && k < fresh; k++)
			keep_written(l, i, in->col[s->key[i].col], l->row[k]);
	}
out:
	return rc;
}

static enum dtx_code add_states(const struct dtx_opctx *ox, struct dtx_gb_local *l,
                                struct dtx_batch *in, struct dtx_err *err)
{
	const struct dtx_gb_state *s = l->state;
	struct dtx_eval_counts counts = { 0 };
	/* with a memory budget the memory of a group must be freed with the group */
	struct dtx_arena *pool = dtx_mem_limit() ? NULL : &l->pool;
	enum dtx_code rc = DTX_OK;

	for (uint32_t i = 0; i < s->nouts; i++) {
		const struct dtx_gb_out *o = &s->out[i];

		if (!dtx_gb_wants(ox, s, i))
			continue;
		for (size_t c = 0; c < o->calls.n; c++)
			DTX_TRY(dtx_agg_add(o->calls.call[c], l->states + o->offset[c], s->stride,
			                    l->id, pool, in, &counts, err));
	}
	dtx_op_evals(ox, &counts);
out:
	return rc;
}

static enum dtx_code add_batch(const struct dtx_opctx *ox, struct dtx_gb_local *l,
                               struct dtx_batch *in, struct dtx_column *const *key,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_groups_ids(l->groups, key, in, l->id, err));
	DTX_TRY(add_groups(l, in, key, err));
	DTX_TRY(add_states(ox, l, in, err));
out:
	return rc;
}

/* Adds the live rows to their groups: all at once, or, when memory is short, as many at a time as
 * there is room for. */
static enum dtx_code add_rows(const struct dtx_opctx *ox, struct dtx_gb_local *l,
                              struct dtx_batch *in, struct dtx_column *const *key,
                              struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_batch *some = NULL;
	uint32_t n = 0;

	for (uint32_t at = 0; at < in->nsel; at += n) {
		uint16_t *sel;

		DTX_TRY(dtx_gb_make_room(ox, l, in->nsel - at, &n, err));
		if (n == in->nsel) {
			DTX_TRY(add_batch(ox, l, in, key, err));
			break;
		}
		DTX_TRY(dtx_batch_copy(in, &some, err));
		DTX_TRY(dtx_batch_sel(some, &sel, err));
		memmove(sel, sel + at, n * sizeof(*sel));
		some->nsel = n;
		DTX_TRY(add_batch(ox, l, some, key, err));
		dtx_batch_free(some);
		some = NULL;
	}
out:
	dtx_batch_free(some);
	return rc;
}

/* Adds the rows again, with the keys as one grouping set sees them. */
static enum dtx_code add_set(const struct dtx_opctx *ox, struct dtx_gb_local *l,
                             const struct dtx_batch *in, struct dtx_column *const *key,
                             struct dtx_err *err)
{
	const struct dtx_gb_state *s = l->state;
	enum dtx_code rc = DTX_OK;
	struct dtx_batch *view = NULL;
	struct dtx_column **seen =
		dtx_mem_zalloc((size_t)s->nkeys + 1, sizeof(struct dtx_column *));

	if (!seen)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_batch_copy(in, &view, err));
	view->seq |= (uint64_t)l->set << DTX_GB_SET_SEQ;
	DTX_TRY(gb_set_keys(s, l->set, key, in->nrows, seen, err));
	DTX_TRY(add_rows(ox, l, view, seen, err));
out:
	for (uint32_t i = 0; seen && i <= s->nkeys; i++)
		dtx_column_unref(seen[i]);
	dtx_mem_free(seen);
	dtx_batch_free(view);
	return rc;
}

static enum dtx_code add_sets(const struct dtx_opctx *ox, struct dtx_gb_local *l,
                              const struct dtx_batch *in, struct dtx_column *const *key,
                              struct dtx_err *err)
{
	const struct dtx_gb_state *s = l->state;
	enum dtx_code rc = DTX_OK;

	if (in->seq >> DTX_GB_SET_SEQ)
		DTX_FAIL(err, DTX_E_ROW_LIMIT, "group_by: too many rows for grouping sets");
	for (l->set = 0; l->set < s->nsets; l->set++)
		DTX_TRY(add_set(ox, l, in, key, err));
out:
	return rc;
}

enum dtx_code dtx_gb_consume(const struct dtx_opctx *ox, void *local, struct dtx_batch *in,
                             struct dtx_err *err)
{
	const struct dtx_gb_state *s = ox->bound;
	struct dtx_gb_local *l = local;
	enum dtx_code rc = DTX_OK;
	struct dtx_column **key = dtx_mem_zalloc((size_t)s->nkeys + 1, sizeof(struct dtx_column *));

	if (!key)
		DTX_FAIL_MEM(err);
	DTX_TRY(key_columns(ox, s, in, key, err));
	if (s->null_keys != DTX_GB_NULL_KEEP)
		DTX_TRY(drop_null_keys(ox, s, in, key, err));
	DTX_TRY(s->set ? add_sets(ox, l, in, key, err) : add_rows(ox, l, in, key, err));
out:
	for (uint32_t i = 0; key && i < s->nkeys; i++)
		dtx_column_unref(key[i]);
	dtx_mem_free(key);
	return rc;
}

/* --- combining the groups of all workers --- */

static enum dtx_code merge_states(struct dtx_gb_local *owner, uint32_t at,
                                  struct dtx_gb_local *from, uint32_t id, struct dtx_err *err)
{
	const struct dtx_gb_state *s = owner->state;
	enum dtx_code rc = DTX_OK;

	for (uint32_t i = 0; i < s->nouts; i++) {
		const struct dtx_gb_out *o = &s->out[i];

		for (size_t c = 0; c < o->calls.n; c++)
			DTX_TRY(dtx_agg_merge(o->calls.call[c],
			                      owner->states + at * s->stride + o->offset[c],
			                      from->states + id * s->stride + o->offset[c], err));
	}
out:
	return rc;
}

/* Zero means DTX_GB_SELF, so pages of links that are never written to cost nothing. */
uint64_t *dtx_gb_links(struct dtx_gb_local *l)
{
	uint64_t *have = l->link, *made;

	if (have)
		return have;
	made = dtx_mem_zalloc((size_t)l->n + 1, sizeof(*made));
	if (!made || atomic_compare_exchange_strong(&l->link, &have, made))
		return made;
	dtx_mem_free(made); /* another partition was faster */
	return have;
}

/* Entry `id` of worker w is the same group as entry `at` of worker h < w.  Its states are merged
 * into those of `at`; the entry with the smaller position becomes (or stays) the first row. */
static enum dtx_code join_entry(struct dtx_gb_local *const *l, unsigned h, uint32_t at, unsigned w,
                                uint32_t id, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint64_t *owner = dtx_gb_links(l[h]), *mine = dtx_gb_links(l[w]), *first_row;
	uint64_t first_pos = l[h]->pos[at];

	if (!owner || !mine)
		DTX_FAIL_MEM(err);
	first_row = owner += at;
	mine += id;
	DTX_TRY(merge_states(l[h], at, l[w], id, err));
	if ((*owner & DTX_GB_KIND) == DTX_GB_STATE_OWNER) {
		unsigned fl = dtx_gb_ref_local(*owner);

		first_row = l[fl]->link + (uint32_t)*owner;
		first_pos = l[fl]->pos[(uint32_t)*owner];
	}
	if (first_pos < l[w]->pos[id]) {
		*mine = DTX_GB_DEAD;
		goto out;
	}
	if (first_row != owner)
		*first_row = DTX_GB_DEAD;
	*owner = DTX_GB_STATE_OWNER | dtx_gb_ref(w, id);
	*mine = DTX_GB_FIRST_ROW | dtx_gb_ref(h, at);
out:
	return rc;
}

#define NEAR 32u /* entries that are prefetched before the first one is looked up */

struct state_owner { /* where the group of an entry is among the workers before its own */
	unsigned h;
	uint32_t at; /* DTX_GROUP_NONE: no worker has it */
};

static struct state_owner find_state_owner(struct dtx_gb_local *const *l, unsigned w, uint32_t id)
{
	struct state_owner x = { 0, DTX_GROUP_NONE };

	for (unsigned h = 0; h < w && x.at == DTX_GROUP_NONE; h++)
		x = (struct state_owner){ h, dtx_groups_find(l[h]->groups, l[w]->groups, id) };
	return x;
}

static void prefetch_state_owner(const struct dtx_gb_local *l, uint32_t at)
{
	size_t stride = l->state->stride;

	DTX_PREFETCH(&l->pos[at]);
	if (!stride)
		return;
	DTX_PREFETCH(l->states + at * stride);
	DTX_PREFETCH(l->states + at * stride + stride - 1);
}

/* Looks up entries of worker w, at most NEAR, among those of the workers before it. */
static enum dtx_code join_entries(struct dtx_gb_local *const *l, unsigned w, const uint32_t *ids,
                                  uint32_t n, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct state_owner owner[NEAR];

	for (unsigned h = 0; h < w; h++)
		for (uint32_t i = 0; i < n; i++)
			dtx_groups_near(l[h]->groups, l[w]->groups, ids[i]);
	for (uint32_t i = 0; i < n; i++) {
		owner[i] = find_state_owner(l, w, ids[i]);
		if (owner[i].at != DTX_GROUP_NONE)
			prefetch_state_owner(l[owner[i].h], owner[i].at);
	}
	for (uint32_t i = 0; i < n; i++)
		if (owner[i].at != DTX_GROUP_NONE)
			DTX_TRY(join_entry(l, owner[i].h, owner[i].at, w, ids[i], err));
out:
	return rc;
}

/* Combines the entries of worker w in one partition with those of the workers before it. */
static enum dtx_code combine_one(struct dtx_gb_local *const *l, unsigned w, unsigned part,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t ids[NEAR], some = 0;

	for (uint32_t id = 0; id < l[w]->n; id++) {
		if (id % DTX_CANCEL_ROWS == 0)
			DTX_TRY(dtx_cancel_look(err));
		ids[some] = id;
		some += dtx_groups_part(l[w]->groups, id, 0, DTX_GROUP_BITS) == part;
		if (some < NEAR)
			continue;
		DTX_TRY(join_entries(l, w, ids, some, err));
		some = 0;
	}
	DTX_TRY(join_entries(l, w, ids, some, err));
out:
	return rc;
}

static enum dtx_code combine_part(struct dtx_gb_local *const *l, unsigned n, unsigned part,
                                  struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	for (unsigned w = 1; w < n; w++)
		DTX_TRY(combine_one(l, w, part, err));
out:
	return rc;
}

/* With two workers, an entry can only meet entries of the other worker, so any range of entries may
 * serve as a partition. */
static enum dtx_code combine_two(struct dtx_gb_local *const *l, unsigned part, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t end = (uint32_t)((uint64_t)l[1]->n * (part + 1) / DTX_GROUP_PARTS), ids[NEAR];

	for (uint32_t id = (uint32_t)((uint64_t)l[1]->n * part / DTX_GROUP_PARTS); id < end;) {
		uint32_t some = 0;

		for (; some < NEAR && id < end; id++) {
			if (id % DTX_CANCEL_ROWS == 0)
				DTX_TRY(dtx_cancel_look(err));
			ids[some++] = id;
		}
		DTX_TRY(join_entries(l, 1, ids, some, err));
	}
out:
	return rc;
}

enum dtx_code dtx_gb_combine(const struct dtx_opctx *ox, unsigned part, void *const *locals,
                             unsigned n, struct dtx_err *err)
{
	struct dtx_gb_local *const *l = (struct dtx_gb_local *const *)locals;

	enum dtx_code rc = DTX_OK;

	if (!dtx_gb_any_spilled(l, n))
		return n == 2 ? combine_two(l, part, err) : combine_part(l, n, part, err);
	/* groups are combined when they are read back from disk */
	for (unsigned w = part; w < n; w += DTX_GROUP_PARTS)
		if (l[w]->n)
			DTX_TRY(dtx_gb_flush(ox, l[w], err));
out:
	return rc;
}
