/* diff_tables: what changed from another table to this one.
 *
 * The other table is kept in two hash tables: by its key, and by key and compared columns together.
 * A row of the current table whose key is in the first is unchanged if the second has it, too. */
#include "core/data/builder.h"
#include "ops/join/buildside.h"
#include "core/data/cells.h"
#include "ops/join/join.h"

struct diff_args {
	const char *with;
	struct dtx_plist key;
	struct dtx_cols *cols;
};
struct diff_state {
	struct dtx_key_sides key, all;
	/* Columns of the current table, of the other table, and of a row that only the other table
	 * has. */
	struct dtx_colmap lmap, rmap, removed;
	bool *merged; /* output columns that are keys of both tables */
};
struct diff_shared {
	struct dtx_join_table *key, *all;
};
struct diff_local {
	struct dtx_build_local build;
	struct dtx_join_probe all;
	struct dtx_groups *seen; /* keys of the current table so far */
	uint32_t *id;
	bool *changed; /* per row of the batch */
};

#define AT(member) .offset = offsetof(struct diff_args, member)
static const struct dtx_param diff_params[] = {
	{ .name = "with",
	  .kind = DTX_P_TABLE,
	  .required = true,
	  AT(with),
	  .aliases = "right,table,other",
	  .help = "the table as it was before" },
	{ .name = "key",
	  .kind = DTX_P_LIST,
	  .required = true,
	  .nonempty = true,
	  AT(key),
	  .rows = dtx_key_pair_rows,
	  .nrows = DTX_COUNT(dtx_key_pair_rows),
	  .item_size = sizeof(struct dtx_key_pair),
	  .sugar = DTX_SUGAR_BOTH,
	  .aliases = "on,by,keys",
	  .help = "columns that identify a row" },
	{ .name = "cols",
	  .kind = DTX_P_COLUMNS,
	  AT(cols),
	  .aliases = "columns",
	  .def = "[\"*\"]",
	  .help = "columns to compare; both tables must have them" },
};
static const struct dtx_example diff_examples[] = {
	{ .step = DTX_JSON({ "op" : "diff_tables", "with" : "other", "key" : "id" }),
	  .in = "id,v\na,1\nb,2\nc,3.0\n",
	  .with = "id,v\nc,3\nd,4\nb,5\n",
	  .out = "_change,id,v,v_old\nadded,a,1,\nchanged,b,2,5\nremoved,d,,4\n" },
	{ .step = DTX_JSON(
		  { "op" : "compare", "with" : "other", "key" : [ "k", "n" ], "cols" : ["t"] }),
	  .in = "k,n,t,x\na,1,p,1\n,1,q,2\na,2,,3\n",
	  .with = "t,n,k\nz,1,a\nq,1,\n,2,a\n",
	  .out = "_change,k,n,t,t_old\nchanged,a,1,p,z\n" },
	{ .step = DTX_JSON({ "op" : "diff_tables", "with" : "other", "key" : "id" }),
	  .in = "id\n1\n2\n",
	  .with = "id\n2\n1.5\n",
	  .out = "_change,id\nadded,1\nremoved,1.5\n" },
	{ .step = DTX_JSON({ "op" : "diff_tables", "with" : "other", "key" : "id" }),
	  .in = "id,v\na,1\na,2\n",
	  .with = "id,v\na,1\n",
	  .error = "join_cardinality",
	  .message = "diff_tables: a key of the current table occurs more than once: id = 'a'" },
	{ .step = DTX_JSON({ "op" : "diff_tables", "with" : "other", "key" : "id" }),
	  .in = "id,v\na,1\n",
	  .with = "id,v\na,1\na,1\n",
	  .error = "join_cardinality",
	  .message = "diff_tables: 1 key of the right table occurs more than once: id = 'a' at L3 "
	             "(2)" },
	{ .step = DTX_JSON({ "op" : "diff_tables", "with" : "other", "key" : "id" }),
	  .in = "id,v\na,1\n",
	  .with = "id\na\n",
	  .error = "missing_column",
	  .message = "no column 'v' here" },
};

static size_t diff_tables(const void *args, const char **names, size_t max)
{
	if (!max)
		return 0;
	names[0] = ((const struct diff_args *)args)->with;
	return 1;
}

/* --- binding --- */

/* Binds the compared columns of both tables, after the keys. */
static enum dtx_code bind_values(struct dtx_bind *b, const struct diff_args *a,
                                 struct diff_state *s, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t before = b->nfindings;
	int32_t *col, *l, *r;
	uint32_t n, used = s->key.left.n;

	DTX_TRY(dtx_bind_cols(b, 0, a->cols, "/cols", &col, &n, err));
	l = dtx_arena_alloc(b->arena, (size_t)n + used + 1, sizeof(*l));
	r = dtx_arena_alloc(b->arena, (size_t)n + used + 1, sizeof(*r));
	if (!l || !r)
		DTX_FAIL_MEM(err);
	for (uint32_t i = 0; i < used; i++) {
		l[i] = s->key.left.col[i];
		r[i] = i < s->key.right.n ? s->key.right.col[i] : -1;
	}
	for (uint32_t i = 0; i < n; i++) {
		if (col[i] < 0 || dtx_cols_find(l, s->key.left.n, col[i]) >= 0)
			continue;
		l[used] = col[i];
		DTX_TRY(dtx_bind_column(b, 1, b->in[0]->field[col[i]].name, "/cols", &r[used],
		                        err));
		used += r[used] >= 0;
	}
	if (b->nfindings == before)
		DTX_TRY(dtx_keysides_columns(b, l, r, used, &s->all, err));
out:
	return rc;
}

/* Binds a key column of the result, which shows the keys of both tables. */
static enum dtx_code bind_key(struct dtx_bind *b, struct diff_state *s, uint32_t k,
                              struct dtx_err *err)
{
	const struct dtx_field *r = &b->in[1]->field[s->key.right.col[k]];
	uint32_t out = b->ncols;
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_bind_pass(b, 0, s->key.left.col[k], NULL, err));
	if (b->ncols == out)
		goto out;
	dtx_field_merge(&b->col[out].field, r);
	s->merged[out] = true;
	DTX_TRY(dtx_bind_use(b, (int32_t)out, 1, s->key.right.col[k], DTX_DEMAND_VALUE, err));
out:
	return rc;
}

static enum dtx_code bind_outputs(struct dtx_bind *b, struct diff_state *s, struct dtx_err *err)
{
	const struct dtx_typeref text = { .type = DTX_T_TEXT };
	uint32_t nkeys = DTX_MIN(s->key.left.n, s->key.right.n);
	enum dtx_code rc = DTX_OK;

	s->merged = dtx_arena_zalloc(b->arena, (size_t)s->all.left.n * 2 + nkeys + 2,
	                             sizeof(*s->merged));
	if (!s->merged)
		DTX_FAIL_MEM(err);
	for (uint32_t i = 0; i < s->all.left.n && i < s->all.right.n; i++) {
		DTX_TRY(dtx_bind_use(b, (int32_t)b->ncols, 0, s->all.left.col[i], DTX_DEMAND_VALUE,
		                     err));
		DTX_TRY(dtx_bind_use(b, (int32_t)b->ncols, 1, s->all.right.col[i], DTX_DEMAND_VALUE,
		                     err));
	}
	DTX_TRY(dtx_bind_make(b, "_change", text, NULL, "kind of change", err));
	for (uint32_t k = 0; k < nkeys; k++)
		DTX_TRY(bind_key(b, s, k, err));
	for (uint32_t i = nkeys; i < s->all.left.n; i++)
		DTX_TRY(dtx_bind_pass(b, 0, s->all.left.col[i], NULL, err));
	/* a key that was not found has its finding, and has no column on the right */
	for (uint32_t i = nkeys; i < DTX_MIN(s->all.left.n, s->all.right.n); i++) {
		const char *name = b->in[0]->field[s->all.left.col[i]].name;
		name = dtx_arena_printf(b->arena, "%s_old", name);
		if (!name)
			DTX_FAIL_MEM(err);
		DTX_TRY(dtx_bind_pass(b, 1, s->all.right.col[i], name, err));
	}
	DTX_TRY(dtx_colmap_bind(b, 0, &s->lmap, err));
	DTX_TRY(dtx_colmap_bind(b, 1, &s->rmap, err));
out:
	return rc;
}

/* Binds the columns of a removed row: its key and the old values. */
static enum dtx_code bind_removed(struct dtx_bind *b, struct diff_state *s, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int32_t *from = dtx_arena_alloc(b->arena, (size_t)b->ncols + 1, sizeof(*from));
	uint32_t key = 0;

	if (!from)
		DTX_FAIL_MEM(err);
	for (uint32_t i = 0; i < b->ncols; i++)
		from[i] = s->merged[i] ? s->key.right.col[key++] : s->rmap.from[i];
	s->removed = (struct dtx_colmap){ b->ncols, from };
out:
	return rc;
}

static enum dtx_code diff_bind(struct dtx_bind *b, void *args, struct dtx_err *err)
{
	const struct diff_args *a = args;
	struct diff_state *s = dtx_bind_state(b, sizeof(*s));
	enum dtx_code rc = DTX_OK;

	if (!s)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_keysides_bind(b, &a->key, "key", &s->key, err));
	DTX_TRY(bind_values(b, a, s, err));
	DTX_TRY(bind_outputs(b, s, err));
	DTX_TRY(bind_removed(b, s, err));
	dtx_bind_unsure(b);
	b->ordered = true;
	b->sees_all = true; /* a repeated key is an error, in whatever row it is */
	if (dtx_cols_static(a->cols, b->in[0]))
		dtx_bind_close(b);
out:
	return rc;
}

/* --- the other table --- */

static void shared_free(const struct dtx_opctx *ox, void *shared)
{
	struct diff_shared *d = shared;

	(void)ox;
	if (!d)
		return;
	dtx_join_free(d->key);
	dtx_join_free(d->all);
	dtx_mem_free(d);
}

static enum dtx_code diff_finalize(const struct dtx_opctx *ox, void *const *locals, unsigned n,
                                   void **shared, struct dtx_emit *out, struct dtx_err *err)
{
	const struct diff_state *s = ox->bound;
	struct dtx_kept again = { NULL, 0, 0 };
	struct diff_shared *d = dtx_mem_zalloc(1, sizeof(*d));
	enum dtx_code rc = DTX_OK;

	(void)out;
	if (!d)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_build_table(ox, locals, n, &s->key, true, &d->key, err));
	DTX_TRY(dtx_build_unique(d->key, &s->key.right, "diff_tables", err));
	for (size_t i = 0; i < d->key->kept.n; i++) {
		DTX_TRY(dtx_build_under(ox, &s->removed, d->key->kept.batch[i], err));
		DTX_TRY(dtx_kept_add(&again, d->key->kept.batch[i], err));
	}
	DTX_TRY(dtx_join_build(ox, &again, &s->all.right, s->all.type, true, NULL, &d->all, err));
	*shared = d;
	d = NULL;
out:
	dtx_kept_clear(&again);
	shared_free(ox, d);
	return rc;
}

static const struct dtx_sink diff_sink = {
	.init_local = dtx_build_init,
	.consume = dtx_build_consume,
	.finalize = diff_finalize,
	.free_local = dtx_build_free,
	.free_shared = shared_free,
};

/* --- the current table --- */

static void diff_free(const struct dtx_opctx *ox, void *local)
{
	const struct diff_state *s = ox->bound;
	struct diff_local *l = local;

	if (!l)
		return;
	dtx_build_local_clear(&s->key, &l->build);
	dtx_join_probe_clear(&l->all, s->all.left.n);
	dtx_groups_free(l->seen);
	dtx_mem_free(l->id);
	dtx_mem_free(l->changed);
	dtx_mem_free(l);
}

static enum dtx_code diff_init(const struct dtx_opctx *ox, void **local, struct dtx_err *err)
{
	const struct diff_state *s = ox->bound;
	enum dtx_code rc = DTX_OK;
	struct diff_local *l = dtx_mem_zalloc(1, sizeof(*l));

	if (!l)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_build_local_new(&s->key, &l->build, err));
	DTX_TRY(dtx_join_probe_new(s->all.left.n, &l->all, err));
	DTX_TRY(dtx_groupkeys_groups(&s->key.left, &l->seen, err));
	l->id = dtx_mem_alloc(DTX_BATCH_ROWS, sizeof(*l->id));
	l->changed = dtx_mem_alloc(DTX_BATCH_ROWS, sizeof(*l->changed));
	if (!l->id || !l->changed)
		DTX_FAIL_MEM(err);
	*local = l;
	l = NULL;
out:
	diff_free(ox, l);
	return rc;
}

/* Fails if a key of the batch has appeared before. */
static enum dtx_code watch_keys(const struct diff_state *s, struct diff_local *l,
                                struct dtx_batch *in, struct dtx_err *err)
{
	struct dtx_buf text = DTX_BUF_INIT(1024);
	enum dtx_code rc = DTX_OK;
	uint32_t next = dtx_groups_count(l->seen);

	DTX_TRY(dtx_groupkeys_ids(&s->key.left, l->seen, in, l->id, err));
	for (uint32_t k = 0; k < in->nsel; k++) {
		if (l->id[k] == next) {
			next++;
			continue;
		}
		dtx_groupkeys_print(&s->key.left, in, dtx_batch_row(in, k), &text);
		rc = dtx_err_set(
			err, DTX_E_JOIN_CARDINALITY, __FILE__, __LINE__,
			"diff_tables: a key of the current table occurs more than once: %s",
			dtx_buf_text(&text));
		dtx_err_hint(err, "a key must identify one row: name more columns, or remove "
		                  "repeats with distinct");
		dtx_batch_set_position(in, dtx_batch_row(in, k), -1, err);
		goto out;
	}
out:
	dtx_buf_clear(&text);
	return rc;
}

/* Selects the rows that are new or changed, and finds the old row of each. */
static enum dtx_code find_changes(const struct dtx_opctx *ox, struct diff_local *l,
                                  struct dtx_batch *in, struct dtx_err *err)
{
	const struct diff_shared *d = ox->shared;
	struct dtx_build_local *old = &l->build;
	enum dtx_code rc = DTX_OK;
	uint32_t n = 0;
	uint16_t *sel;

	DTX_TRY(dtx_batch_sel(in, &sel, err));
	for (uint32_t i = 0; i < in->nrows; i++)
		old->which[i] = DTX_NOWHERE;
	for (uint32_t k = 0; k < in->nsel; k++) {
		uint32_t row = sel[k], id = old->probe.id[k];
		bool there = id != DTX_GROUP_NONE;

		if (there && l->all.id[k] != DTX_GROUP_NONE)
			continue;
		l->changed[row] = there;
		if (there) {
			old->which[row] = d->key->ref[dtx_join_start(d->key, id)].batch;
			old->row[row] = d->key->ref[dtx_join_start(d->key, id)].row;
		}
		sel[n++] = (uint16_t)row;
	}
	dtx_op_count(ox, "equal", (int64_t)in->nsel - n);
	in->nsel = n;
out:
	return rc;
}

/* Sets _change of n rows: as changed[] says, or, where that is NULL, "removed". */
static enum dtx_code put_change(struct dtx_batch *b, const bool *changed, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_column *made = NULL;
	struct dtx_builder to;

	dtx_builder_init(&to, (struct dtx_typeref){ DTX_T_TEXT, 0, 0 }, b->nrows);
	for (uint32_t i = 0; i < b->nrows; i++)
		dtx_builder_text(&to, !changed     ? DTX_STR("removed")
		                      : changed[i] ? DTX_STR("changed")
		                                   : DTX_STR("added"));
	DTX_TRY(dtx_builder_finish(&to, NULL, &made, err));
	dtx_batch_put(b, 0, made);
out:
	dtx_builder_clear(&to);
	return rc;
}

/* Converts the keys of one table to the type that holds those of both; columns that the table lacks
 * become null. */
static enum dtx_code fit_columns(const struct dtx_opctx *ox, struct dtx_batch *b,
                                 struct dtx_err *err)
{
	const struct diff_state *s = ox->bound;
	enum dtx_code rc = DTX_OK;

	for (uint32_t i = 1; i < b->ncols; i++) {
		struct dtx_column *c = NULL;

		if (!dtx_op_wants(ox, i) || (b->col[i] && !s->merged[i]))
			continue;
		if (b->col[i])
			DTX_TRY(dtx_cells_fit(b->col[i], &b->schema->field[i], &c, err));
		else
			DTX_TRY(dtx_column_nulls(ox->out->field[i].type, b->nrows, &c, err));
		dtx_batch_put(b, i, c);
	}
out:
	return rc;
}

static enum dtx_code diff_batch(const struct dtx_opctx *ox, void *local, struct dtx_batch *in,
                                struct dtx_emit *out, struct dtx_err *err)
{
	const struct diff_state *s = ox->bound;
	struct diff_shared *d = ox->shared;
	struct diff_local *l = local;
	enum dtx_code rc = DTX_OK;

	DTX_TRY(watch_keys(s, l, in, err));
	DTX_TRY(dtx_join_look(d->key, &s->key.left, true, &l->build.probe, in, err));
	DTX_TRY(dtx_join_look(d->all, &s->all.left, true, &l->all, in, err));
	memset(l->changed, 0, DTX_BATCH_ROWS * sizeof(*l->changed));
	DTX_TRY(find_changes(ox, l, in, err));
	DTX_TRY(dtx_build_under(ox, &s->lmap, in, err));
	DTX_TRY(dtx_build_attach(ox, d->key, &l->build, &s->lmap, &s->rmap, in, err));
	DTX_TRY(put_change(in, l->changed, err));
	DTX_TRY(fit_columns(ox, in, err));
	DTX_TRY(dtx_emit_batch(out, in, err));
out:
	return rc;
}

/* --- removed rows --- */

static enum dtx_code emit_removed(const struct dtx_opctx *ox, struct dtx_rowref *ref, uint32_t n,
                                  uint32_t *which, uint32_t *row, struct dtx_emit *out,
                                  struct dtx_err *err)
{
	const struct diff_state *s = ox->bound;
	const struct dtx_kept *kept = &((struct diff_shared *)ox->shared)->key->kept;
	struct dtx_pick pick = { kept->batch, (uint32_t)kept->n, which, row, n, NULL, NULL, NULL };
	enum dtx_code rc = DTX_OK;
	struct dtx_batch *b = NULL;

	for (uint32_t i = 0; i < n; i++) {
		which[i] = ref[i].batch;
		row[i] = ref[i].row;
	}
	DTX_TRY(dtx_batch_new(ox->out, n, &b, err));
	DTX_TRY(dtx_pick_into(ox, &s->removed, &pick, b, err));
	DTX_TRY(put_change(b, NULL, err));
	DTX_TRY(fit_columns(ox, b, err));
	DTX_TRY(dtx_emit_batch(out, b, err));
out:
	dtx_batch_free(b);
	return rc;
}

static enum dtx_code diff_flush(const struct dtx_opctx *ox, void *const *locals, unsigned nlocals,
                                struct dtx_emit *out, struct dtx_err *err)
{
	const struct diff_shared *d = ox->shared;
	uint32_t most = dtx_op_batch_rows(ox), n;
	enum dtx_code rc = DTX_OK;
	uint32_t *which = dtx_mem_alloc(most, sizeof(*which));
	uint32_t *row = dtx_mem_alloc(most, sizeof(*row));
	struct dtx_rowref *ref = NULL;
	size_t all = 0;

	(void)locals;
	(void)nlocals;
	if (!which || !row)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_join_unmatched(d->key, &ref, &all, err));
	for (size_t at = 0; at < all && !dtx_emit_full(out); at += n) {
		n = (uint32_t)DTX_MIN(all - at, (size_t)most);
		DTX_TRY(emit_removed(ox, ref + at, n, which, row, out, err));
	}
out:
	dtx_mem_free(ref);
	dtx_mem_free(which);
	dtx_mem_free(row);
	return rc;
}

static const struct dtx_map diff_map = {
	.init_local = diff_init,
	.batch = diff_batch,
	.flush = diff_flush,
	.free_local = diff_free,
};

static void diff_explain(const void *args, struct dtx_buf *out)
{
	const struct diff_args *a = args;

	dtx_buf_printf(out, "keep what changed since %s, rows identified by ", a->with);
	dtx_keypairs_explain(&a->key, out);
	dtx_buf_add(out, ", in ");
	dtx_cols_print(a->cols, out);
}

const struct dtx_op dtx_op_diff_tables = {
	.name = "diff_tables",
	.aliases = "compare",
	.ninputs = 2,
	.flags = DTX_OP_BUILD | DTX_OP_TAKES_SEL | DTX_OP_MAY_TRIGGER | DTX_OP_DX,
	.summary = "Show what changed from another table to this one",
	.notes = "The current table is the new one, `with` the old one. Columns: _change (added, "
		 "changed or removed), the key, the compared columns, and their old values with "
		 "_old. Rows of the current table come first, in its order, then the removed ones "
		 "in theirs. Values are compared, not how they are written; null equals null; rows "
		 "that are equal are left out, and counted.",
	.facts = { .groups = "key" },
	.params = diff_params,
	.nparams = DTX_COUNT(diff_params),
	.examples = diff_examples,
	.nexamples = DTX_COUNT(diff_examples),
	.args_size = sizeof(struct diff_args),
	.tables = diff_tables,
	.bind = diff_bind,
	.map = &diff_map,
	.sink = &diff_sink,
	.explain = diff_explain,
};
