/* The table in which rows are looked up: its keys, its rows, and the columns that are attached from
 * it.
 *
 * A key may be a formula.  Its values become a column after the columns of its side while keys are
 * compared (dtx_keys_widen), and are removed afterwards (dtx_keys_narrow), so the code that hashes
 * and compares keys knows only columns. */
#include "ops/join/buildside.h"

#include <stdio.h>

#include "core/data/cells.h"

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

/* Whether two types can be compared: equal types, two number types, or one of them is only null. */
static bool key_type(struct dtx_typeref l, struct dtx_typeref r, struct dtx_typeref *as)
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

struct key_end {     /* one side of a pair of keys */
	int32_t col; /* -1: unknown; MADE and above: a formula */
	struct dtx_typeref type;
	const char *name;
};
#define MADE (1 << 24)

/* How to make text comparable with numbers or times, as a hint for the side that is text. */
static const char *hint_of(const struct key_end *l, const struct key_end *r)
{
	bool left = l->type.type == DTX_T_TEXT;
	enum dtx_type other = left ? r->type.type : l->type.type;

	if (other == DTX_T_DATE || other == DTX_T_DATETIME)
		return "convert the text to dates with parse_date in a step before";
	return "cast one of them in a step before, or join on a formula: {\"left_expr\": "
	       "\"int(code)\", \"right\": ...}";
}

static enum dtx_code bind_type(struct dtx_bind *b, const struct key_end *l, const struct key_end *r,
                               const char *sub, struct dtx_typeref *type, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (l->col < 0 || r->col < 0 || key_type(l->type, r->type, type))
		goto out;
	DTX_TRY(dtx_bind_fail_next(b, DTX_E_TYPE_MISMATCH, sub, hint_of(l, r), err,
	                           "keys '%s' (%s) and '%s' (%s) cannot be compared", l->name,
	                           dtx_type_name(l->type.type), r->name,
	                           dtx_type_name(r->type.type)));
out:
	return rc;
}

static struct key_end column_end(const struct dtx_bind *b, unsigned t, int32_t col)
{
	struct key_end e = { .col = col };

	if (col >= 0) {
		e.type = b->in[t]->field[col].type;
		e.name = b->in[t]->field[col].name;
	}
	return e;
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

/* --- formulas as keys --- */

static const char *expr_name(struct dtx_bind *b, const struct dtx_expr *e)
{
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	const char *name = NULL;

	dtx_expr_print(e, &text);
	if (dtx_buf_ok(&text))
		name = dtx_arena_strndup(b->arena, text.ptr, text.len);
	dtx_buf_clear(&text);
	return name;
}

static enum dtx_code bind_made(struct dtx_bind *b, unsigned t, const struct dtx_expr *expr,
                               const char *sub, struct dtx_key_made *m, struct key_end *e,
                               struct dtx_err *err)
{
	const struct dtx_typeref any = { .type = DTX_T_UNKNOWN };
	enum dtx_code rc = DTX_OK;
	struct dtx_bound *bound = NULL;

	*e = (struct key_end){ .col = -1 };
	DTX_TRY(dtx_bind_expr(b, t, expr, sub, any, DTX_USE_ROWS, &bound, err));
	if (!bound)
		goto out;
	*e = (struct key_end){ MADE + (int32_t)m->n, dtx_bound_type(bound), expr_name(b, expr) };
	if (!e->name)
		DTX_FAIL_MEM(err);
	m->bound[m->n++] = bound;
out:
	return rc;
}

/* Binds one side of a pair: a column or a formula. */
static enum dtx_code bind_end(struct dtx_bind *b, unsigned t, const struct dtx_key_pair *p,
                              const char *sub, struct dtx_key_made *m, struct key_end *e,
                              struct dtx_err *err)
{
	const struct dtx_expr *expr = t ? p->right_expr : p->left_expr;
	const char *name = t ? p->right : p->left, *side = t ? "right" : "left";
	enum dtx_code rc = DTX_OK;
	char at[80];
	int32_t col;

	*e = (struct key_end){ .col = -1 };
	if (!name == !expr && !b->broken)
		return dtx_bind_fail(b, name ? DTX_E_PARAM_CONFLICT : DTX_E_MISSING_PARAM, sub, err,
		                     "a pair of keys needs either %s or %s_expr", side, side);
	snprintf(at, sizeof(at), "%s/%s%s", sub, side, expr ? "_expr" : "");
	if (expr)
		return bind_made(b, t, expr, at, m, e, err);
	DTX_TRY(dtx_bind_column(b, t, name, at, &col, err));
	*e = column_end(b, t, col);
out:
	return rc;
}

/* Formulas become columns after those of their side, once the side has all of its own columns. */
static enum dtx_code place_made(struct dtx_bind *b, unsigned t, const struct key_end *end,
                                size_t npairs, struct dtx_groupkeys *k, struct dtx_key_made *m,
                                struct dtx_err *err)
{
	uint32_t nown = b->in[t]->nfields;
	struct dtx_schema *wide = dtx_arena_zalloc(b->arena, 1, sizeof(*wide));
	struct dtx_field *field =
		dtx_arena_zalloc(b->arena, (size_t)nown + m->n + 1, sizeof(*field));
	enum dtx_code rc = DTX_OK;

	if (!wide || !field)
		DTX_FAIL_MEM(err);
	memcpy(field, b->in[t]->field, nown * sizeof(*field));
	k->n = 0;
	for (size_t i = 0; i < npairs; i++) {
		int32_t col = end[i].col < MADE ? end[i].col : (int32_t)nown + end[i].col - MADE;

		if (col < 0)
			continue;
		k->col[k->n] = col;
		k->type[k->n++] = end[i].type;
		if (end[i].col >= MADE)
			field[col] = (struct dtx_field){ .name = end[i].name, .type = end[i].type };
		else
			DTX_TRY(dtx_bind_use(b, DTX_USE_ROWS, t, col, DTX_DEMAND_VALUE, err));
	}
	wide->nfields = nown + m->n;
	wide->field = field;
	m->wide = wide;
out:
	return rc;
}

static bool sides_new(struct dtx_bind *b, size_t n, struct dtx_key_sides *s)
{
	struct dtx_groupkeys *k[] = { &s->left, &s->right };
	bool ok = true;

	s->type = dtx_arena_zalloc(b->arena, n + 1, sizeof(*s->type));
	for (unsigned t = 0; t < 2; t++) {
		k[t]->col = dtx_arena_alloc(b->arena, n + 1, sizeof(*k[t]->col));
		k[t]->type = dtx_arena_alloc(b->arena, n + 1, sizeof(*k[t]->type));
		s->made[t].bound = dtx_arena_alloc(b->arena, n + 1, sizeof(struct dtx_bound *));
		ok = ok && k[t]->col && k[t]->type && s->made[t].bound;
	}
	return ok && s->type;
}

enum dtx_code dtx_keysides_bind(struct dtx_bind *b, const struct dtx_plist *pairs, const char *name,
                                struct dtx_key_sides *s, struct dtx_err *err)
{
	const struct dtx_key_pair *pair = pairs->item;
	enum dtx_code rc = DTX_OK;
	struct key_end *l = dtx_arena_alloc(b->arena, pairs->n + 1, sizeof(*l));
	struct key_end *r = dtx_arena_alloc(b->arena, pairs->n + 1, sizeof(*r));
	char sub[64];

	if (!l || !r || !sides_new(b, pairs->n, s))
		DTX_FAIL_MEM(err);
	for (size_t i = 0; i < pairs->n; i++) {
		snprintf(sub, sizeof(sub), "/%s/%zu", name, i);
		DTX_TRY(bind_end(b, 1, &pair[i], sub, &s->made[1], &r[i], err));
		DTX_TRY(bind_end(b, 0, &pair[i], sub, &s->made[0], &l[i], err));
		snprintf(sub, sizeof(sub), "/%s/%zu/left%s", name, i,
		         pair[i].left_expr ? "_expr" : "");
		DTX_TRY(bind_type(b, &l[i], &r[i], sub, &s->type[i], err));
	}
	DTX_TRY(place_made(b, 0, l, pairs->n, &s->left, &s->made[0], err));
	DTX_TRY(place_made(b, 1, r, pairs->n, &s->right, &s->made[1], err));
out:
	return rc;
}

bool dtx_keysides_plain(const struct dtx_key_sides *s, uint32_t k)
{
	const struct dtx_key_made *l = &s->made[0], *r = &s->made[1];

	return k < s->left.n && k < s->right.n &&
	       (!l->n || (uint32_t)s->left.col[k] < l->wide->nfields - l->n) &&
	       (!r->n || (uint32_t)s->right.col[k] < r->wide->nfields - r->n);
}

enum dtx_code dtx_keysides_columns(struct dtx_bind *b, const int32_t *l, const int32_t *r,
                                   uint32_t n, struct dtx_key_sides *s, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	s->type = dtx_arena_zalloc(b->arena, (size_t)n + 1, sizeof(*s->type));
	if (!s->type)
		DTX_FAIL_MEM(err);
	for (uint32_t i = 0; i < n; i++) {
		struct key_end left = column_end(b, 0, l[i]), right = column_end(b, 1, r[i]);

		DTX_TRY(bind_type(b, &left, &right, "/cols", &s->type[i], err));
	}
	DTX_TRY(bind_sides(b, l, r, n, s, err));
out:
	return rc;
}

enum dtx_code dtx_keys_widen(const struct dtx_opctx *ox, const struct dtx_key_made *m,
                             struct dtx_batch *b, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (!m->n)
		return DTX_OK;
	if (!dtx_mem_grow(&b->col, (size_t)b->ncols + m->n, sizeof(struct dtx_column *)))
		DTX_FAIL_MEM(err);
	for (uint32_t i = 0; i < m->n; i++) {
		struct dtx_column *made = NULL;

		DTX_TRY(dtx_op_eval(ox, m->bound[i], b, &made, err));
		b->col[b->ncols++] = made;
	}
	b->schema = m->wide;
out:
	return rc;
}

void dtx_keys_narrow(const struct dtx_key_made *m, const struct dtx_schema *own,
                     struct dtx_batch *b)
{
	for (uint32_t i = 0; i < m->n; i++)
		dtx_column_unref(b->col[--b->ncols]);
	b->schema = own;
}

/* Prints "upper(k)" or the name of the column. */
static void end_explain(const char *col, const struct dtx_expr *expr, struct dtx_buf *out)
{
	if (expr)
		dtx_expr_print(expr, out);
	else
		dtx_buf_add(out, col);
}

void dtx_keypairs_explain(const struct dtx_plist *pairs, struct dtx_buf *out)
{
	const struct dtx_key_pair *pair = pairs->item;

	for (size_t i = 0; i < pairs->n; i++) {
		dtx_buf_add(out, i ? ", " : "");
		end_explain(pair[i].left, pair[i].left_expr, out);
		if (pair[i].left_expr || pair[i].right_expr ||
		    strcmp(pair[i].left, pair[i].right) != 0) {
			dtx_buf_add(out, " = ");
			end_explain(pair[i].right, pair[i].right_expr, out);
		}
	}
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

enum dtx_code dtx_build_local_make(const struct dtx_key_sides *keys, struct dtx_build_local **out,
                                   struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_build_local *l = dtx_mem_zalloc(1, sizeof(*l));

	if (!l)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_build_local_new(keys, l, err));
	*out = l;
	l = NULL;
out:
	dtx_build_local_free(keys, l);
	return rc;
}

void dtx_build_local_free(const struct dtx_key_sides *keys, struct dtx_build_local *l)
{
	if (!l)
		return;
	dtx_build_local_clear(keys, l);
	dtx_mem_free(l);
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

/* The columns that the table has as records. */
static enum dtx_code pick_cells(const struct dtx_opctx *ox, const struct dtx_row_store_set *cells,
                                const struct dtx_colmap *map, const struct dtx_pick *pick,
                                struct dtx_batch *b, struct dtx_err *err)
{
	struct dtx_typeref *type = dtx_mem_zalloc(cells->n, sizeof(*type));
	struct dtx_column **made = dtx_mem_zalloc(cells->n, sizeof(struct dtx_column *));
	enum dtx_code rc = DTX_OK;

	if (!type || !made)
		DTX_FAIL_MEM(err);
	for (uint32_t i = 0; i < map->n; i++)
		if (map->from[i] >= 0 && cells->place[map->from[i]] >= 0)
			type[cells->place[map->from[i]]] = ox->out->field[i].type;
	DTX_TRY(dtx_row_store_pick(cells, pick->which, pick->row, pick->n, type, made, err));
	for (uint32_t i = 0; i < map->n; i++)
		if (map->from[i] >= 0 && cells->place[map->from[i]] >= 0 && dtx_op_wants(ox, i))
			dtx_batch_put(b, i, dtx_column_ref(made[cells->place[map->from[i]]]));
out:
	for (uint32_t k = 0; made && k < cells->n; k++)
		dtx_column_unref(made[k]);
	dtx_mem_free(type);
	dtx_mem_free(made);
	return rc;
}

enum dtx_code dtx_build_pick(const struct dtx_opctx *ox, const struct dtx_join_table *t,
                             const struct dtx_colmap *map, const struct dtx_pick *pick,
                             struct dtx_batch *b, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (!t->cells)
		return dtx_pick_into(ox, map, pick, b, err);
	DTX_TRY(pick_cells(ox, t->cells, map, pick, b, err));
	if (dtx_colmap_moves(ox, &t->rest))
		DTX_TRY(dtx_pick_into(ox, &t->rest, pick, b, err));
out:
	return rc;
}

enum dtx_code dtx_build_attach(const struct dtx_opctx *ox, const struct dtx_join_table *t,
                               const struct dtx_build_local *l, const struct dtx_colmap *lmap,
                               const struct dtx_colmap *rmap, struct dtx_batch *in,
                               struct dtx_err *err)
{
	struct dtx_pick pick = {
		t->kept.batch, (uint32_t)t->kept.n, l->which, l->row, in->nrows, NULL, NULL, NULL
	};
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_colmap_apply(ox, lmap, in, err));
	DTX_TRY(dtx_build_pick(ox, t, rmap, &pick, in, err));
out:
	return rc;
}

/* The sink of the table in which rows are looked up: keeps its batches, and short cells as
 * records. */

enum dtx_code dtx_build_init(const struct dtx_opctx *ox, void **local, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	(void)ox;
	*local = dtx_mem_zalloc(1, sizeof(struct dtx_build_side));
	if (!*local)
		DTX_FAIL_MEM(err);
out:
	return rc;
}

void dtx_build_free(const struct dtx_opctx *ox, void *local)
{
	struct dtx_build_side *l = local;

	(void)ox;
	if (!l)
		return;
	for (size_t i = 0; l->cells && i < l->kept.n; i++)
		dtx_row_store_free(l->cells[i]);
	dtx_kept_clear(&l->kept);
	dtx_mem_free(l->cells);
	dtx_mem_free(l->taken);
	dtx_mem_free(l);
}

/* Whether the cells of output column i may be copied as they are written. */
static bool can_take(const struct dtx_opctx *ox, const struct dtx_colmap *attach,
                     const bool *is_key, uint32_t i)
{
	const struct dtx_field *to = &ox->out->field[i], *from;

	if (attach->from[i] < 0 || !dtx_op_wants(ox, i) || is_key[attach->from[i]])
		return false;
	from = &ox->in[1]->field[attach->from[i]];
	return to->type.type == DTX_T_TEXT || dtx_field_same_rules(to, from);
}

enum dtx_code dtx_build_takes(const struct dtx_opctx *ox, const struct dtx_colmap *attach,
                              const struct dtx_groupkeys *key, void *local, struct dtx_err *err)
{
	struct dtx_build_side *l = local;
	uint32_t i, n = ox->in[1]->nfields;
	bool *is_key = dtx_mem_zalloc((size_t)n + 1, sizeof(*is_key));
	enum dtx_code rc = DTX_OK;

	l->attach = attach;
	l->taken = dtx_mem_alloc((size_t)attach->n + 1, sizeof(*l->taken));
	if (!l->taken || !is_key)
		DTX_FAIL_MEM(err);
	for (i = 0; i < key->n; i++)
		if ((uint32_t)key->col[i] < n) /* the others are computed */
			is_key[key->col[i]] = true;
	for (i = 0; i < attach->n; i++)
		if (can_take(ox, attach, is_key, i))
			l->taken[l->ntaken++] = (uint32_t)attach->from[i];
out:
	dtx_mem_free(is_key);
	return rc;
}

static bool reserve_cells(struct dtx_build_side *l)
{
	size_t n = l->kept.n, cap = l->cap_cells;

	if (!dtx_mem_reserve(&l->cells, &l->cap_cells, n, sizeof(struct dtx_row_store *)))
		return false;
	for (; cap < l->cap_cells; cap++)
		l->cells[cap] = NULL;
	return true;
}

enum dtx_code dtx_build_consume(const struct dtx_opctx *ox, void *local, struct dtx_batch *in,
                                struct dtx_err *err)
{
	struct dtx_build_side *l = local;
	struct dtx_spill *spill = ox->run ? ox->run->spill : NULL;
	enum dtx_code rc = DTX_OK;
	struct dtx_batch *b;

	DTX_TRY(dtx_kept_add(&l->kept, in, err));
	b = l->kept.batch[l->kept.n - 1];
	if (dtx_spill_tables(spill))
		return dtx_spill_batch(spill, b, &ox->stat->spilled, err);
	if (!l->ntaken || l->untaken)
		return DTX_OK;
	if (!reserve_cells(l))
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_row_store_take(b, l->taken, l->ntaken, &l->cells[l->kept.n - 1], err));
	l->untaken = !l->cells[l->kept.n - 1]; /* it is not tried again */
out:
	return rc;
}

/* --- the whole table --- */

struct part {                    /* a batch and its records */
	struct dtx_batch *batch; /* must be the first member, for dtx_batch_cmp */
	struct dtx_row_store *cells;
};

/* Moves what all workers have kept here, in order. */
static enum dtx_code gather_parts(void *const *locals, unsigned n, struct part **part,
                                  size_t *nparts, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t most = 0;

	for (unsigned w = 0; w < n; w++)
		most += ((struct dtx_build_side *)locals[w])->kept.n;
	*part = dtx_mem_alloc(most + 1, sizeof(**part));
	if (!*part)
		DTX_FAIL_MEM(err);
	for (unsigned w = 0; w < n; w++) {
		struct dtx_build_side *l = locals[w];

		for (size_t i = 0; i < l->kept.n; i++)
			(*part)[(*nparts)++] =
				(struct part){ l->kept.batch[i],
				               i < l->cap_cells ? l->cells[i] : NULL };
		l->kept.n = 0;
	}
	qsort(*part, *nparts, sizeof(**part), dtx_batch_cmp);
out:
	return rc;
}

/* Restores the cells of batches that have records, because some other batch has none. */
static enum dtx_code give_back(const struct dtx_opctx *ox, const struct dtx_build_side *l,
                               struct part *part, size_t n, struct dtx_err *err)
{
	struct dtx_spill *spill = ox->run ? ox->run->spill : NULL;
	enum dtx_code rc = DTX_OK;

	for (size_t i = 0; i < n; i++) {
		if (!part[i].cells)
			continue;
		DTX_TRY(dtx_row_store_back(part[i].cells, l->taken, l->ntaken, part[i].batch, err));
		part[i].cells = NULL;
		if (dtx_spill_tables(spill))
			DTX_TRY(dtx_spill_batch(spill, part[i].batch, &ox->stat->spilled, err));
	}
out:
	return rc;
}

/* The records of all batches; or, if some batch has none, all get their cells back and *out stays
 * NULL. */
static enum dtx_code collect_cells(const struct dtx_opctx *ox, const struct dtx_build_side *l,
                                   struct part *part, size_t n, struct dtx_row_store_set **out,
                                   struct dtx_err *err)
{
	struct dtx_row_store **cells = dtx_mem_alloc(n + 1, sizeof(struct dtx_row_store *));
	enum dtx_code rc = DTX_OK;

	if (!cells)
		DTX_FAIL_MEM(err);
	for (size_t i = 0; i < n; i++)
		cells[i] = part[i].cells;
	if (!dtx_row_store_alike(cells, n)) {
		DTX_TRY(give_back(ox, l, part, n, err));
		goto out;
	}
	for (size_t i = 0; i < n; i++)
		part[i].cells = NULL;
	rc = dtx_row_store_set_new(l->taken, l->ntaken, part[0].batch->ncols, cells, (uint32_t)n,
	                           out, err);
	cells = NULL;
out:
	dtx_mem_free(cells);
	return rc;
}

/* The map of columns that have no records and must be picked from the batches. */
static enum dtx_code rest_map(const struct dtx_colmap *attach,
                              const struct dtx_row_store_set *cells, int32_t **from,
                              struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	*from = dtx_mem_alloc((size_t)attach->n + 1, sizeof(**from));
	if (!*from)
		DTX_FAIL_MEM(err);
	for (uint32_t i = 0; i < attach->n; i++) {
		int32_t col = attach->from[i];

		(*from)[i] = col >= 0 && cells->place[col] >= 0 ? -1 : col;
	}
out:
	return rc;
}

static enum dtx_code keep_parts(struct part *part, size_t n, struct dtx_kept *all,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (!dtx_mem_reserve(&all->batch, &all->cap, n + 1, sizeof(struct dtx_batch *)))
		DTX_FAIL_MEM(err);
	for (; all->n < n; all->n++) {
		all->batch[all->n] = part[all->n].batch;
		part[all->n].batch = NULL;
	}
out:
	return rc;
}

enum dtx_code dtx_build_table(const struct dtx_opctx *ox, void *const *locals, unsigned n,
                              const struct dtx_key_sides *keys, bool nulls_equal,
                              struct dtx_join_table **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_kept all = { NULL, 0, 0 };
	const struct dtx_build_side *side = locals[0];
	struct dtx_row_store_set *cells = NULL;
	struct dtx_join_table *t = NULL;
	struct part *part = NULL;
	size_t nparts = 0;
	struct dtx_colmap rest = { 0, NULL };
	int32_t *rest_from = NULL;

	DTX_TRY(gather_parts(locals, n, &part, &nparts, err));
	DTX_TRY(collect_cells(ox, side, part, nparts, &cells, err));
	DTX_TRY(keep_parts(part, nparts, &all, err));
	if (cells) {
		DTX_TRY(rest_map(side->attach, cells, &rest_from, err));
		rest = (struct dtx_colmap){ side->attach->n, rest_from };
	}
	DTX_TRY(dtx_join_build(ox, &all, &keys->right, keys->type, nulls_equal,
	                       dtx_colmap_moves(ox, &rest) ? NULL : cells, &t, err));
	t->cells = cells;
	t->rest = rest;
	t->rest_from = rest_from;
	cells = NULL;
	rest_from = NULL;
	*out = t;
	t = NULL;
out:
	dtx_join_free(t);
	for (size_t i = 0; i < nparts; i++) {
		dtx_batch_free(part[i].batch);
		dtx_row_store_free(part[i].cells);
	}
	dtx_mem_free(part);
	dtx_row_store_set_free(cells);
	dtx_mem_free(rest_from);
	dtx_kept_clear(&all);
	return rc;
}
