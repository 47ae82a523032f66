/* What operations share: moving columns, keeping batches, emitting rows that are picked from
 * them. */
#include "ops/kit/opkit.h"

#include <stdlib.h>

#include "core/data/cast/cast.h"
#include "core/data/cells.h"
#include "ops/sort/packed.h"

enum dtx_code dtx_colmap_bind(struct dtx_bind *b, unsigned t, struct dtx_colmap *map,
                              struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int32_t *from = dtx_arena_alloc(b->arena, b->ncols ? b->ncols : 1, sizeof(*from));

	if (!from)
		DTX_FAIL_MEM(err);
	for (uint32_t i = 0; i < b->ncols; i++)
		from[i] = b->col[i].from_table == (int32_t)t ? b->col[i].from_col : -1;
	*map = (struct dtx_colmap){ b->ncols, from };
out:
	return rc;
}

bool dtx_colmap_moves(const struct dtx_opctx *ox, const struct dtx_colmap *map)
{
	for (uint32_t i = 0; i < map->n; i++)
		if (map->from[i] >= 0 && dtx_op_wants(ox, i))
			return true;
	return false;
}

enum dtx_code dtx_colmap_apply(const struct dtx_opctx *ox, const struct dtx_colmap *map,
                               struct dtx_batch *b, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t n = ox->out->nfields;
	struct dtx_column **col = dtx_mem_zalloc(n ? n : 1, sizeof(struct dtx_column *));

	if (!col)
		DTX_FAIL_MEM(err);
	for (uint32_t i = 0; i < n && i < map->n; i++)
		if (map->from[i] >= 0 && (uint32_t)map->from[i] < b->ncols)
			col[i] = dtx_column_ref(b->col[map->from[i]]);
	for (uint32_t i = 0; i < b->ncols; i++)
		dtx_column_unref(b->col[i]);
	dtx_mem_free(b->col);
	b->col = col;
	b->ncols = n;
	b->schema = ox->out;
out:
	return rc;
}

static enum dtx_code move_batch(const struct dtx_opctx *ox, void *local, struct dtx_batch *in,
                                struct dtx_emit *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	(void)local;
	DTX_TRY(dtx_colmap_apply(ox, ox->bound, in, err));
	DTX_TRY(dtx_emit_batch(out, in, err));
out:
	return rc;
}

const struct dtx_map dtx_colmap_move = { .batch = move_batch };

void dtx_batch_put(struct dtx_batch *b, uint32_t i, struct dtx_column *c)
{
	dtx_column_unref(b->col[i]);
	b->col[i] = c;
}

enum dtx_code dtx_batch_flat(struct dtx_batch *b, uint32_t i, struct dtx_column **out,
                             struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_column *c;

	DTX_TRY(dtx_batch_value(b, i, &c, err));
	DTX_TRY(dtx_column_flat(c, out, err));
out:
	return rc;
}

int32_t *dtx_cols_places(struct dtx_arena *arena, const int32_t *col, uint32_t ncol, uint32_t n)
{
	int32_t *place = dtx_arena_alloc(arena, (size_t)n + 1, sizeof(*place));

	for (uint32_t i = 0; place && i < n; i++)
		place[i] = -1;
	for (uint32_t i = ncol; place && i-- > 0;)
		if (col[i] >= 0)
			place[col[i]] = (int32_t)i;
	return place;
}

enum dtx_code dtx_op_eval(const struct dtx_opctx *ox, const struct dtx_bound *e,
                          struct dtx_batch *b, struct dtx_column **out, struct dtx_err *err)
{
	struct dtx_eval_counts counts = { 0 };
	enum dtx_code rc = dtx_eval(e, b, out, &counts, err);

	dtx_op_evals(ox, &counts);
	return rc;
}

enum dtx_code dtx_kept_add(struct dtx_kept *k, const struct dtx_batch *b, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_batch *copy = NULL;

	if (!dtx_mem_reserve(&k->batch, &k->cap, k->n + 1, sizeof(struct dtx_batch *)))
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_batch_copy(b, &copy, err));
	DTX_TRY(dtx_batch_dense(copy, err));
	k->batch[k->n++] = copy;
	copy = NULL;
out:
	dtx_batch_free(copy);
	return rc;
}

void dtx_kept_clear(struct dtx_kept *k)
{
	for (size_t i = 0; i < k->n; i++)
		dtx_batch_free(k->batch[i]);
	dtx_mem_free(k->batch);
	*k = (struct dtx_kept){ NULL, 0, 0 };
}

int dtx_batch_cmp(const void *a, const void *b)
{
	const struct dtx_batch *x = *(struct dtx_batch *const *)a;
	const struct dtx_batch *y = *(struct dtx_batch *const *)b;
	uint64_t p = dtx_batch_pos(x, 0), q = dtx_batch_pos(y, 0);

	return p < q ? -1 : p > q;
}

void dtx_kept_sort(struct dtx_kept *k)
{
	if (k->n > 1)
		qsort(k->batch, k->n, sizeof(struct dtx_batch *), dtx_batch_cmp);
}

uint32_t dtx_op_batch_rows(const struct dtx_opctx *ox)
{
	uint32_t n = ox->run ? ox->run->batch_rows : 0;

	return n && n < DTX_BATCH_ROWS ? n : DTX_BATCH_ROWS;
}

unsigned dtx_op_workers(const struct dtx_opctx *ox)
{
	return ox->run && ox->run->workers ? ox->run->workers : 1;
}

/* --- rows picked from batches --- */

static const struct dtx_origin *one_origin(struct dtx_batch *const *batch, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (batch[i]->origin != batch[0]->origin)
			return NULL;
	return n ? batch[0]->origin : NULL;
}

/* origin: common to all batches. */
static enum dtx_code pick_ids(const struct dtx_pick *p, const struct dtx_origin *origin,
                              struct dtx_batch *b, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint64_t *id = NULL;

	if (!origin)
		goto out;
	id = dtx_mem_alloc64(p->n ? p->n : 1, sizeof(*id));
	if (!id)
		DTX_FAIL_MEM(err);
	for (uint32_t i = 0; i < p->n; i++) {
		bool made = p->which[i] >= p->nbatches;

		id[i] = DTX_NO_ROW;
		if (!made)
			(void)dtx_batch_id(p->batch[p->which[i]], p->row[i], &id[i]);
	}
	b->rec_owner = dtx_owner_take(id);
	if (!b->rec_owner)
		DTX_FAIL_MEM(err);
	b->rec = id;
	b->origin = origin;
out:
	return rc;
}

enum dtx_code dtx_pick_ids(const struct dtx_pick *p, struct dtx_batch *b, struct dtx_err *err)
{
	return pick_ids(p, one_origin(p->batch, p->nbatches), b, err);
}

/* Picks the columns that are packed. */
static enum dtx_code pick_packed(const struct dtx_opctx *ox, const struct dtx_colmap *map,
                                 const struct dtx_pick *p, struct dtx_batch *b, struct dtx_err *err)
{
	struct dtx_packed_cells cells = { .owner = NULL };
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_packed_pick(p, &cells, err));
	for (uint32_t i = 0; i < map->n && i < b->ncols; i++) {
		struct dtx_column *made;

		if (map->from[i] < 0 || !dtx_op_wants(ox, i) ||
		    p->packed->cols->place[map->from[i]] < 0)
			continue;
		DTX_TRY(dtx_packed_column(p, (uint32_t)p->packed->cols->place[map->from[i]],
		                          b->schema->field[i].type, &cells, &made, err));
		dtx_batch_put(b, i, made);
	}
out:
	dtx_owner_unref(cells.owner);
	return rc;
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* Only the batches that contain picked rows, numbered again.  If a table has more batches than rows
 * are picked at a time, looking at all batches for each pick would take quadratic time. */
struct few {
	struct dtx_pick pick;
	uint32_t *which, *used;
	struct dtx_batch **batch;
};

static void few_clear(struct few *f)
{
	dtx_mem_free(f->which);
	dtx_mem_free(f->used);
	dtx_mem_free(f->batch);
}

static enum dtx_code few_make(const struct dtx_pick *p, struct few *f, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t n = 0, *at;

	f->which = dtx_mem_alloc(p->n, sizeof(*f->which));
	f->used = dtx_mem_alloc(p->n, sizeof(*f->used));
	f->batch = dtx_mem_alloc(p->n, sizeof(struct dtx_batch *));
	if (!f->which || !f->used || !f->batch)
		DTX_FAIL_MEM(err);
	memcpy(f->used, p->which, p->n * sizeof(*f->used));
	qsort(f->used, p->n, sizeof(*f->used), by_number);
	for (uint32_t i = 0; i < p->n && f->used[i] < p->nbatches; i++)
		if (!n || f->used[n - 1] != f->used[i])
			f->used[n++] = f->used[i];
	for (uint32_t i = 0; i < n; i++)
		f->batch[i] = p->batch[f->used[i]];
	for (uint32_t i = 0; i < p->n; i++) {
		at = bsearch(&p->which[i], f->used, n, sizeof(*at), by_number);
		f->which[i] = at ? (uint32_t)(at - f->used) : DTX_NOWHERE;
	}
	f->pick = *p;
	f->pick.batch = f->batch;
	f->pick.nbatches = n;
	f->pick.which = f->which;
out:
	return rc;
}

/* Column `col` of the batches.  False: no batch has it, because no step needs it. */
static bool pick_sources(const struct dtx_pick *p, int32_t col, struct dtx_column **src)
{
	bool any = false;

	for (uint32_t k = 0; k < p->nbatches; k++) {
		src[k] = p->batch[k]->col[col];
		any = any || src[k];
	}
	return any;
}

/* Whether any batch has the column; those that contain the picked rows may lack it. */
static bool has_column(const struct dtx_pick *all, int32_t col)
{
	for (uint32_t k = 0; k < all->nbatches; k++)
		if (all->batch[k]->col[col])
			return true;
	return all->nbatches == 0;
}

enum dtx_code dtx_pick_into(const struct dtx_opctx *ox, const struct dtx_colmap *map,
                            const struct dtx_pick *all, struct dtx_batch *b, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct few few = { .pick = *all };
	const struct dtx_pick *p = &few.pick;
	struct dtx_column **src = NULL;

	if (all->packed)
		DTX_TRY(pick_packed(ox, map, all, b, err));
	if (all->n && all->nbatches / 2 > all->n)
		DTX_TRY(few_make(all, &few, err));
	src = dtx_mem_alloc(p->nbatches + 1, sizeof(struct dtx_column *));
	if (!src)
		DTX_FAIL_MEM(err);
	for (uint32_t i = 0; i < map->n && i < b->ncols; i++) {
		struct dtx_column *made = NULL;

		if (map->from[i] < 0 || !dtx_op_wants(ox, i) ||
		    (all->packed && all->packed->cols->place[map->from[i]] >= 0))
			continue;
		if (!pick_sources(p, map->from[i], src) && !has_column(all, map->from[i]))
			continue;
		DTX_TRY(dtx_cancel_look(err));
		DTX_TRY(dtx_cells_gather_held(src, p->nbatches, p->which, p->row, p->n,
		                              &b->schema->field[i], p->held, &made, err));
		dtx_batch_put(b, i, made);
	}
out:
	few_clear(&few);
	dtx_mem_free(src);
	return rc;
}

static enum dtx_code pick_batch(const struct dtx_opctx *ox, const struct dtx_colmap *map,
                                const struct dtx_pick *pick, const struct dtx_origin *origin,
                                struct dtx_batch **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_batch *b = NULL;

	DTX_TRY(dtx_batch_new(ox->out, pick->n, &b, err));
	DTX_TRY(dtx_pick_into(ox, map, pick, b, err));
	DTX_TRY(pick_ids(pick, origin, b, err));
	*out = b;
	b = NULL;
out:
	dtx_batch_free(b);
	return rc;
}

enum dtx_code dtx_pick_batch(const struct dtx_opctx *ox, const struct dtx_colmap *map,
                             const struct dtx_pick *pick, struct dtx_batch **out,
                             struct dtx_err *err)
{
	return pick_batch(ox, map, pick, one_origin(pick->batch, pick->nbatches), out, err);
}

enum dtx_code dtx_table_dense(struct dtx_table *t, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	for (size_t i = 0; i < t->nbatches; i++)
		DTX_TRY(dtx_batch_dense(t->batch[i], err));
out:
	return rc;
}

/* The number of the first row of each batch. */
static enum dtx_code table_starts(const struct dtx_table *t, int64_t **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int64_t *start = dtx_mem_alloc(t->nbatches + 1, sizeof(*start));

	if (!start)
		DTX_FAIL_MEM(err);
	start[0] = 0;
	for (size_t i = 0; i < t->nbatches; i++)
		start[i + 1] = start[i] + t->batch[i]->nrows;
	*out = start;
out:
	return rc;
}

/* The batch of row `row`: the last one that starts at or before it. */
static uint32_t starts_find(const int64_t *start, size_t n, int64_t row, uint32_t hint)
{
	size_t lo = 0, hi = n;

	if (hint < n && start[hint] <= row && row < start[hint + 1])
		return hint;
	while (lo + 1 < hi) {
		size_t mid = (lo + hi) / 2;

		if (start[mid] <= row)
			lo = mid;
		else
			hi = mid;
	}
	while (lo + 1 < n && start[lo + 1] <= row)
		lo++;
	return (uint32_t)lo;
}

enum dtx_code dtx_rowcursor_open(struct dtx_rowcursor *c, const struct dtx_opctx *ox,
                                 struct dtx_table *t, const struct dtx_colmap *map,
                                 const int64_t *rows, int64_t n, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	*c = (struct dtx_rowcursor){ .ox = ox,
		                     .map = map,
		                     .table = t,
		                     .rows = rows,
		                     .n = n,
		                     .most = dtx_op_batch_rows(ox) };
	DTX_TRY(dtx_table_dense(t, err));
	DTX_TRY(table_starts(t, &c->start, err));
	c->origin = one_origin(t->batch, t->nbatches);
	c->which = dtx_mem_alloc(c->most, sizeof(*c->which));
	c->row = dtx_mem_alloc(c->most, sizeof(*c->row));
	if (!c->which || !c->row)
		DTX_FAIL_MEM(err);
out:
	return rc;
}

enum dtx_code dtx_rowcursor_next(struct dtx_rowcursor *c, struct dtx_batch **out,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_pick pick = {
		c->table->batch, (uint32_t)c->table->nbatches, c->which, c->row, 0, NULL, NULL, NULL
	};

	*out = NULL;
	DTX_TRY(dtx_cancel_look(err));
	for (; pick.n < c->most && c->at < c->n; pick.n++, c->at++) {
		int64_t row = c->rows ? c->rows[c->at] : c->first + c->at;

		c->hint = starts_find(c->start, c->table->nbatches, row, c->hint);
		c->which[pick.n] = c->hint;
		c->row[pick.n] = (uint32_t)(row - c->start[c->hint]);
	}
	if (!pick.n)
		goto out;
	DTX_TRY(pick_batch(c->ox, c->map, &pick, c->origin, out, err));
	(*out)->seq = c->seq++;
out:
	return rc;
}

void dtx_rowcursor_close(struct dtx_rowcursor *c)
{
	dtx_mem_free(c->start);
	dtx_mem_free(c->which);
	dtx_mem_free(c->row);
	*c = (struct dtx_rowcursor)DTX_ROWCURSOR_INIT;
}

enum dtx_code dtx_table_fill(const struct dtx_opctx *ox, struct dtx_table *t,
                             const struct dtx_colmap *map, const int64_t *rows, int64_t n,
                             const struct dtx_rowfill *fill, struct dtx_emit *out,
                             struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_rowcursor c = DTX_ROWCURSOR_INIT;
	struct dtx_batch *b = NULL;

	DTX_TRY(dtx_rowcursor_open(&c, ox, t, map, rows, n, err));
	if (fill && fill->most)
		c.most = DTX_MIN(c.most, fill->most);
	while (!dtx_emit_full(out)) {
		int64_t at = c.at;

		DTX_TRY(dtx_rowcursor_next(&c, &b, err));
		if (!b)
			break;
		if (fill)
			DTX_TRY(fill->fill(fill->ctx, b, at, err));
		DTX_TRY(dtx_emit_batch(out, b, err));
		dtx_batch_free(b);
		b = NULL;
	}
out:
	dtx_batch_free(b);
	dtx_rowcursor_close(&c);
	return rc;
}

enum dtx_code dtx_table_emit(const struct dtx_opctx *ox, struct dtx_table *t,
                             const struct dtx_colmap *map, const int64_t *rows, int64_t n,
                             struct dtx_emit *out, struct dtx_err *err)
{
	return dtx_table_fill(ox, t, map, rows, n, NULL, out, err);
}

/* --- text --- */

struct dtx_str dtx_cell_text(const struct dtx_column *c, uint32_t row, struct dtx_buf *scratch,
                             bool *null)
{
	size_t from = scratch->len;

	*null = dtx_column_is_null(c, row);
	if (*null)
		return (struct dtx_str){ "", 0 };
	if (c->form == DTX_F_SPAN)
		return dtx_span_text(c->base, c->v.span[row], scratch);
	if (c->form != DTX_F_CELL && c->type.type == DTX_T_TEXT)
		return dtx_column_text(c, row);
	dtx_cast_print(c, row, scratch);
	if (!dtx_buf_ok(scratch))
		return (struct dtx_str){ "", 0 };
	return (struct dtx_str){ scratch->ptr + from, scratch->len - from };
}

enum dtx_code dtx_bind_number(struct dtx_bind *b, int32_t col, const char *sub, struct dtx_err *err)
{
	enum dtx_type type = col < 0 ? DTX_T_UNKNOWN : b->in[0]->field[col].type.type;

	if (type == DTX_T_UNKNOWN || type == DTX_T_NULL || dtx_type_is_number(type))
		return DTX_OK;
	return dtx_bind_fail_next(b, DTX_E_TYPE_MISMATCH, sub,
	                          "choose another column, or make numbers of it in a step before "
	                          "(parse_number or cast)",
	                          err, "%s needs numbers, '%s' is %s", b->op,
	                          b->in[0]->field[col].name, dtx_type_name(type));
}

enum dtx_code dtx_bind_misfit(struct dtx_bind *b, const char *what, const struct dtx_field *f,
                              const char *sub, struct dtx_err *err)
{
	return dtx_bind_fail_next(b, DTX_E_TYPE_MISMATCH, sub,
	                          "give a value of that type, or cast the column in a step before",
	                          err, "%s does not fit column '%s' of type %s", what, f->name,
	                          dtx_type_name(f->type.type));
}
