/* Binding of computed columns. */
#include <stdio.h>

#include "core/expr/agg/agg.h"
#include "ops/window/derive.h"

struct binder {
	struct dtx_bind *b;
	struct dtx_derive_state *s;
	struct dtx_field *field; /* the working fields so far */
	struct dtx_schema work;  /* the same as a schema; the stages share its index */
	int32_t *maker;          /* for each working column the stage that made it; -1: input */
	struct dtx_derive_stage *now;
	uint32_t *used_by; /* per input column: the last stage that used it, from 1, */
	uint32_t *used_at; /* and where in its list */
	bool failed;
};

static void stage_use(struct binder *d, struct dtx_derive_stage *st, int32_t col, uint8_t demand)
{
	struct dtx_arena *arena = d->b->arena;
	const uint32_t stage = (uint32_t)(st - d->s->stage) + 1;

	if (d->used_by[col] == stage) {
		uint32_t at = d->used_at[col];

		st->demand[at] = DTX_MAX(st->demand[at], demand);
		return;
	}
	if (st->ncols == st->cap) {
		uint32_t cap = st->cap ? st->cap * 2 : 8;
		int32_t *c = dtx_arena_alloc(arena, cap, sizeof(*c));
		uint8_t *q = dtx_arena_alloc(arena, cap, sizeof(*q));

		if (!c || !q) {
			d->failed = true;
			return;
		}
		if (st->ncols) {
			memcpy(c, st->col, st->ncols * sizeof(*c));
			memcpy(q, st->demand, st->ncols * sizeof(*q));
		}
		st->col = c;
		st->demand = q;
		st->cap = cap;
	}
	d->used_by[col] = stage;
	d->used_at[col] = st->ncols;
	st->col[st->ncols] = col;
	st->demand[st->ncols++] = demand;
}

static void stage_reads(struct binder *d, struct dtx_derive_stage *st, uint32_t maker)
{
	uint32_t cap = st->readscap ? 2 * st->readscap : 4, *reads;

	for (uint32_t i = 0; i < st->nreads; i++)
		if (st->reads[i] == maker)
			return;
	if (st->nreads == st->readscap) {
		reads = dtx_arena_alloc(d->b->arena, cap, sizeof(*reads));
		if (!reads) {
			d->failed = true;
			return;
		}
		if (st->nreads)
			memcpy(reads, st->reads, st->nreads * sizeof(*reads));
		st->reads = reads;
		st->readscap = cap;
	}
	st->reads[st->nreads++] = maker;
}

/* A stage that reads a column of an earlier stage also reads what that column was made from. */
static void on_use(void *arg, int32_t col, enum dtx_demand demand)
{
	struct binder *d = arg;
	int32_t maker = d->maker[col];

	if (maker < 0) {
		stage_use(d, d->now, col, (uint8_t)demand);
		return;
	}
	stage_reads(d, d->now, (uint32_t)maker);
	for (uint32_t i = 0; i < d->s->stage[maker].ncols; i++)
		stage_use(d, d->now, d->s->stage[maker].col[i], d->s->stage[maker].demand[i]);
}

/* The schema of the working fields as they are now. */
static const struct dtx_schema *work_schema(struct binder *d)
{
	struct dtx_schema *s = dtx_arena_zalloc(d->b->arena, 1, sizeof(*s));

	if (s)
		*s = d->work;
	return s;
}

/* Gives working column `name` a new type.  Later stages cannot use what it was before. */
static void work_set(struct binder *d, uint32_t k, const char *name, struct dtx_typeref type)
{
	int32_t at = dtx_schema_find(&d->work, name);
	bool fresh = at < 0;

	if (fresh)
		at = (int32_t)d->s->nwork++;
	d->field[at] = (struct dtx_field){ .name = name, .type = type };
	d->work.nfields = d->s->nwork;
	if (fresh)
		dtx_schema_index_last(&d->work);
	d->maker[at] = (int32_t)k;
	d->s->stage[k].target = (uint32_t)at;
	d->s->stage[k].made = d->field[at];
}

static enum dtx_code bind_calls(struct binder *d, const struct dtx_derive_item *item, uint32_t k,
                                struct dtx_derive_stage *st, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	bool framed = !item->frame.set;
	char sub[48];

	for (size_t i = 0; i < st->calls.n; i++)
		framed = framed || dtx_window_framed(st->calls.call[i]);
	snprintf(sub, sizeof(sub), "/set/%u/frame", k);
	if (st->bound && !framed) {
		DTX_TRY(dtx_bind_fail(d->b, DTX_E_BAD_PARAM_VALUE, sub, err,
		                      "no call of '%s' reads a frame: aggregates, first_value, "
		                      "last_value and nth_value do",
		                      item->as));
	}
	DTX_TRY(dtx_rangeframe_bind(d->b, &item->frame, &d->s->order, sub, &st->range, err));
	d->s->windowed = d->s->windowed || st->calls.n;
	d->s->ranged = d->s->ranged || st->range.set;
	d->s->ncalls = DTX_MAX(d->s->ncalls, (uint32_t)st->calls.n);
out:
	return rc;
}

static enum dtx_code bind_stage(struct binder *d, const struct dtx_derive_args *a, uint32_t k,
                                struct dtx_err *err)
{
	const struct dtx_derive_item *item = (const struct dtx_derive_item *)a->set.item + k;
	enum dtx_code rc = DTX_OK;
	struct dtx_derive_stage *st = &d->s->stage[k];
	struct dtx_typeref type = { .type = DTX_T_UNKNOWN };
	char sub[48];

	d->now = st;
	if (dtx_param_is_hole(item->as))
		DTX_TRY(dtx_bind_would_make(d->b, item->as, err));
	snprintf(sub, sizeof(sub), "/set/%u/expr", k);
	DTX_TRY(dtx_bind_window_over(d->b, &d->work, item->expr, a->at ? a->at : sub,
	                             a->order.n > 0 || d->b->broken, on_use, d, &st->calls,
	                             &st->bound, err));
	DTX_TRY(bind_calls(d, item, k, st, err));
	if (st->bound)
		type = dtx_bound_type(st->bound);
	/* an open input may have grown while the expression was bound */
	if (d->failed)
		DTX_FAIL_MEM(err);
	work_set(d, k, item->as, type);
out:
	return rc;
}

/* The output column for working column w. */
static enum dtx_code bind_out(struct binder *d, const struct dtx_derive_args *a, uint32_t w,
                              struct dtx_err *err)
{
	const struct dtx_derive_item *item = a->set.item;
	enum dtx_code rc = DTX_OK;
	struct dtx_bind *b = d->b;
	int32_t k = d->maker[w];
	uint32_t out = b->ncols;

	if (k < 0) {
		DTX_TRY(dtx_bind_pass(b, 0, (int32_t)w, NULL, err));
	} else {
		const struct dtx_derive_stage *st = &d->s->stage[k];

		for (uint32_t i = 0; i < st->ncols; i++)
			DTX_TRY(dtx_bind_use(b, (int32_t)out, 0, st->col[i],
			                     (enum dtx_demand)st->demand[i], err));
		DTX_TRY(dtx_bind_make(b, d->field[w].name, d->field[w].type, item[k].expr, NULL,
		                      err));
	}
	if (b->ncols > out) {
		d->s->place[out] = w;
		d->s->maker[out] = k;
	}
out:
	return rc;
}

static enum dtx_code bind_outputs(struct binder *d, const struct dtx_derive_args *a,
                                  struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_derive_state *s = d->s;
	const struct dtx_derive_item *item = a->set.item;
	uint32_t nin = s->nin, split = nin;
	int32_t after = -1;

	if (a->after) {
		DTX_TRY(dtx_bind_column(d->b, 0, a->after, "/after", &after, err));
		if (after >= 0)
			split = (uint32_t)after + 1;
	}
	for (uint32_t w = 0; w < split; w++)
		DTX_TRY(bind_out(d, a, w, err));
	for (uint32_t w = nin; w < s->nwork; w++)
		if (!item[d->maker[w]].hidden)
			DTX_TRY(bind_out(d, a, w, err));
	for (uint32_t w = split; w < nin; w++)
		DTX_TRY(bind_out(d, a, w, err));
	s->nout = d->b->ncols;
	s->work = work_schema(d);
	if (!s->work)
		DTX_FAIL_MEM(err);
out:
	return rc;
}

/* An open input gains the columns that expressions name.  That must happen before the stages are
 * laid out, because the working columns begin with the input columns. */
struct grow {
	struct dtx_bind *b;
	struct dtx_strmap made; /* names of columns that the step has made so far */
	struct dtx_err *err;
	enum dtx_code rc;
};

static void on_name(void *arg, const char *name)
{
	struct grow *g = arg;

	if (g->rc == DTX_OK && dtx_strmap_get(&g->made, dtx_str_of(name)) == DTX_STRMAP_NONE)
		g->rc = dtx_bind_grow(g->b, 0, name, g->err);
}

static enum dtx_code grow_input(struct dtx_bind *b, const struct dtx_derive_args *a,
                                struct dtx_err *err)
{
	const struct dtx_derive_item *item = a->set.item;
	struct grow g = { b, DTX_STRMAP_INIT, err, DTX_OK };
	enum dtx_code rc = DTX_OK;
	uint32_t at;

	if (!b->in[0]->open)
		goto out;
	for (size_t i = 0; i < a->set.n; i++) {
		dtx_expr_columns(item[i].expr, on_name, &g);
		if (!dtx_strmap_put(&g.made, dtx_str_of(item[i].as), 0, &at))
			DTX_FAIL_MEM(err);
	}
	DTX_TRY(g.rc);
	if (!dtx_param_is_hole(a->after))
		DTX_TRY(dtx_bind_grow(b, 0, a->after, err));
out:
	dtx_strmap_clear(&g.made);
	return rc;
}

/* Called before the stages are laid out, because an open input may gain the columns that are named
 * here. */
static enum dtx_code bind_keys(struct dtx_bind *b, const struct dtx_derive_args *a,
                               struct dtx_derive_state *s, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (a->by)
		DTX_TRY(dtx_groupkeys_bind(b, 0, a->by, "/by", &s->by, err));
	DTX_TRY(dtx_orderkeys_bind(b, &a->order, "/order", &s->order, err));
out:
	return rc;
}

enum dtx_code dtx_derive_bind(struct dtx_bind *b, void *args, struct dtx_err *err)
{
	const struct dtx_derive_args *a = args;
	enum dtx_code rc = DTX_OK;
	struct dtx_derive_state *s = dtx_bind_state(b, sizeof(*s));
	struct binder d = { .b = b, .s = s };
	size_t cap;

	if (!s)
		DTX_FAIL_MEM(err);
	s->args = a;
	DTX_TRY(bind_keys(b, a, s, err));
	DTX_TRY(grow_input(b, a, err));
	cap = (size_t)b->in[0]->nfields + a->set.n + 1;
	s->nin = s->nwork = b->in[0]->nfields;
	s->nstages = (uint32_t)a->set.n;
	s->stage = dtx_arena_zalloc(b->arena, a->set.n + 1, sizeof(*s->stage));
	s->place = dtx_arena_zalloc(b->arena, cap, sizeof(*s->place));
	s->maker = dtx_arena_alloc(b->arena, cap, sizeof(*s->maker));
	d.field = dtx_arena_zalloc(b->arena, cap, sizeof(*d.field));
	d.maker = dtx_arena_alloc(b->arena, cap, sizeof(*d.maker));
	d.used_by = dtx_arena_zalloc(b->arena, s->nin + 1u, sizeof(*d.used_by));
	d.used_at = dtx_arena_alloc(b->arena, s->nin + 1u, sizeof(*d.used_at));
	if (!s->stage || !s->place || !s->maker || !d.field || !d.maker || !d.used_by || !d.used_at)
		DTX_FAIL_MEM(err);
	for (uint32_t i = 0; i < s->nin; i++) {
		d.field[i] = b->in[0]->field[i];
		d.maker[i] = -1;
	}
	s->start = b->in[0]->field;
	d.work = (struct dtx_schema){ .nfields = s->nwork,
		                      .open = b->in[0]->open,
		                      .field = d.field };
	dtx_schema_index(b->arena, &d.work, (uint32_t)cap);
	for (uint32_t k = 0; k < a->set.n; k++)
		DTX_TRY(bind_stage(&d, a, k, err));
	dtx_bind_kind(b, s->windowed ? DTX_KIND_WHOLE : DTX_KIND_MAP);
	DTX_TRY(bind_outputs(&d, a, err));
	if (!a->set.n)
		dtx_bind_unsure(b);
out:
	return rc;
}
