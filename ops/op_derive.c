/* derive: computed columns, left to right.
 *
 * Stage k evaluates over the columns made so far; an existing name is overwritten in place, so
 * every stage has a schema of its own (they share one field array until a field changes). */
#include "ops/opkit.h"

struct derive_item {
	const char *as;
	struct dtx_expr *expr;
};
struct derive_args {
	struct dtx_plist set;
	const char *after;
};
struct stage {
	const struct dtx_schema *schema; /* what it sees */
	struct dtx_bound *bound;
	uint32_t target; /* working column it makes */
	bool *uses;      /* earlier stages it reads */
	/* at bind: */
	int32_t *col; /* uses of input columns, earlier stages' included */
	uint8_t *demand;
	uint32_t ncols, cap;
};
struct derive_state {
	struct stage *stage;
	uint32_t nstages, nwork, nin;
	uint32_t *place; /* per output column its working column */
	int32_t *maker;  /* per output column the stage that made it last, -1 */
	const struct dtx_schema *work;
	uint32_t nout;
};

static const struct dtx_param derive_item_rows[] = {
	{ .name = "as",
	  .kind = DTX_P_TEXT,
	  .required = true,
	  .offset = offsetof(struct derive_item, as),
	  .aliases = "new_name,name",
	  .help = "name of the column" },
	{ .name = "expr",
	  .kind = DTX_P_EXPR,
	  .required = true,
	  .offset = offsetof(struct derive_item, expr),
	  .aliases = "expression,formula",
	  .help = "formula" },
};
static const struct dtx_param derive_params[] = {
	{ .name = "set",
	  .kind = DTX_P_LIST,
	  .required = true,
	  .nonempty = true,
	  .offset = offsetof(struct derive_args, set),
	  .rows = derive_item_rows,
	  .nrows = DTX_COUNT(derive_item_rows),
	  .item_size = sizeof(struct derive_item),
	  .sugar = DTX_SUGAR_MAP,
	  .help = "columns to compute, left to right" },
	{ .name = "after",
	  .kind = DTX_P_COLUMN,
	  .offset = offsetof(struct derive_args, after),
	  .help = "column behind which new columns go (default: last)" },
};
static const struct dtx_example derive_examples[] = {
	{ .step = DTX_JSON({
		  "op" : "derive",
		  "set" : [ { "as" : "c", "expr" : "a + b" }, { "as" : "d", "expr" : "c * 2" } ]
	  }),
	  .in = "a,b\n1,2\n3,\n",
	  .out = "a,b,c,d\n1,2,3,6\n3,,,\n" },
	{ .step = DTX_JSON({ "op" : "mutate", "set" : { "a" : "a * 10" } }),
	  .in = "a,b\n1,1.50\n2,2\n",
	  .out = "a,b\n10,1.50\n20,2\n" },
	{ .step = DTX_JSON({ "op" : "derive", "set" : { "x" : "b / a" }, "after" : "a" }),
	  .in = "a,b\n4,1\n0,1\n",
	  .out = "a,x,b\n4,0.25,1\n0,,1\n" },
	{ .step = DTX_JSON({
		  "op" : "derive",
		  "set" : [
			  { "as" : "k", "expr" : "concat(k, '!')" },
			  { "as" : "n", "expr" : "length(k)" }
		  ]
	  }),
	  .in = "k\nab\n\"\"\n",
	  .out = "k,n\nab!,3\n!,1\n" },
	{ .step = DTX_JSON({ "op" : "derive", "set" : { "x" : "sum(a)" } }),
	  .in = "a\n1\n",
	  .error = "unsupported_param" },
};

/* --- binding --- */

struct binder {
	struct dtx_bind *b;
	struct derive_state *s;
	struct dtx_field *field; /* working fields so far */
	int32_t *maker;          /* per working column the stage that made it, -1: input */
	struct stage *now;
	bool failed;
};

static void stage_use(struct binder *d, struct stage *st, int32_t col, uint8_t demand)
{
	struct dtx_arena *arena = d->b->arena;

	for (uint32_t i = 0; i < st->ncols; i++) {
		if (st->col[i] != col)
			continue;
		st->demand[i] = DTX_MAX(st->demand[i], demand);
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
	st->col[st->ncols] = col;
	st->demand[st->ncols++] = demand;
}

/* A stage that reads a made column reads what that column was made from. */
static void on_use(void *arg, int32_t col, enum dtx_demand demand)
{
	struct binder *d = arg;
	int32_t maker = d->maker[col];

	if (maker < 0) {
		stage_use(d, d->now, col, (uint8_t)demand);
		return;
	}
	d->now->uses[maker] = true;
	for (uint32_t i = 0; i < d->s->stage[maker].ncols; i++)
		stage_use(d, d->now, d->s->stage[maker].col[i], d->s->stage[maker].demand[i]);
}

static int32_t work_find(const struct binder *d, const char *name)
{
	for (uint32_t i = 0; i < d->s->nwork; i++)
		if (strcmp(d->field[i].name, name) == 0)
			return (int32_t)i;
	return -1;
}

/* Schema over the working fields as they are now. */
static const struct dtx_schema *work_schema(struct binder *d)
{
	struct dtx_schema *s = dtx_arena_zalloc(d->b->arena, 1, sizeof(*s));

	if (!s)
		return NULL;
	s->nfields = d->s->nwork;
	s->open = d->b->in[0]->open;
	s->field = d->field;
	return s;
}

/* Working column `name` gets a new type: earlier schemas keep the old field. */
static bool work_set(struct binder *d, const struct derive_args *a, uint32_t k, const char *name,
                     struct dtx_typeref type)
{
	int32_t at = work_find(d, name);
	size_t cap = (size_t)d->b->in[0]->nfields + a->set.n + 1;

	if (at >= 0) {
		struct dtx_field *copy = dtx_arena_zalloc(d->b->arena, cap, sizeof(*copy));

		if (!copy)
			return false;
		memcpy(copy, d->field, d->s->nwork * sizeof(*copy));
		d->field = copy;
	} else {
		at = (int32_t)d->s->nwork++;
	}
	d->field[at] = (struct dtx_field){ .name = name, .type = type };
	d->maker[at] = (int32_t)k;
	d->s->stage[k].target = (uint32_t)at;
	return true;
}

static enum dtx_code bind_stage(struct binder *d, const struct derive_args *a, uint32_t k,
                                struct dtx_err *err)
{
	const struct derive_item *item = (const struct derive_item *)a->set.item + k;
	const struct dtx_typeref any = { .type = DTX_T_UNKNOWN };
	enum dtx_code rc = DTX_OK;
	struct stage *st = &d->s->stage[k];
	struct dtx_typeref type = any;
	char sub[48];

	d->now = st;
	if (dtx_param_is_hole(item->as))
		DTX_TRY(dtx_bind_would_make(d->b, item->as, err));
	st->uses = dtx_arena_zalloc(d->b->arena, a->set.n + 1, sizeof(bool));
	st->schema = work_schema(d);
	if (!st->uses || !st->schema)
		DTX_FAIL_MEM(err);
	snprintf(sub, sizeof(sub), "/set/%u/expr", k);
	if (dtx_expr_has_aggregate(item->expr)) {
		DTX_TRY(dtx_bind_fail(d->b, DTX_E_UNSUPPORTED_PARAM, sub, err,
		                      "aggregates in derive are not built in"));
	} else {
		DTX_TRY(dtx_bind_expr_over(d->b, st->schema, item->expr, sub, any, on_use, d,
		                           &st->bound, err));
	}
	if (st->bound)
		type = dtx_bound_type(st->bound);
	/* an open input may have grown while the expression was bound */
	if (d->failed || !work_set(d, a, k, item->as, type))
		DTX_FAIL_MEM(err);
out:
	return rc;
}

/* Output column for working column w. */
static enum dtx_code bind_out(struct binder *d, const struct derive_args *a, uint32_t w,
                              struct dtx_err *err)
{
	const struct derive_item *item = a->set.item;
	enum dtx_code rc = DTX_OK;
	struct dtx_bind *b = d->b;
	int32_t k = d->maker[w];
	uint32_t out = b->ncols;

	if (k < 0) {
		DTX_TRY(dtx_bind_pass(b, 0, (int32_t)w, NULL, err));
	} else {
		const struct stage *st = &d->s->stage[k];

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

static enum dtx_code bind_outputs(struct binder *d, const struct derive_args *a,
                                  struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct derive_state *s = d->s;
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

/* Columns that an open input gains because expressions name them, before the stages are laid out:
 * working columns are input columns first, so the input must not grow afterwards. */
struct grow {
	struct dtx_bind *b;
	const struct derive_args *a;
	uint32_t upto;
	struct dtx_err *err;
	enum dtx_code rc;
};

static void on_name(void *arg, const char *name)
{
	struct grow *g = arg;
	const struct derive_item *item = g->a->set.item;

	for (uint32_t i = 0; i < g->upto; i++)
		if (strcmp(item[i].as, name) == 0)
			return;
	if (g->rc == DTX_OK)
		g->rc = dtx_bind_grow(g->b, 0, name, g->err);
}

static enum dtx_code grow_input(struct dtx_bind *b, const struct derive_args *a,
                                struct dtx_err *err)
{
	const struct derive_item *item = a->set.item;
	struct grow g = { b, a, 0, err, DTX_OK };

	if (!b->in[0]->open)
		return DTX_OK;
	for (; g.upto < a->set.n; g.upto++)
		dtx_expr_columns(item[g.upto].expr, on_name, &g);
	if (g.rc == DTX_OK && !dtx_param_is_hole(a->after))
		g.rc = dtx_bind_grow(b, 0, a->after, err);
	return g.rc;
}

static enum dtx_code derive_bind(struct dtx_bind *b, void *args, struct dtx_err *err)
{
	const struct derive_args *a = args;
	enum dtx_code rc = DTX_OK;
	struct derive_state *s = dtx_bind_state(b, sizeof(*s));
	struct binder d = { .b = b, .s = s };
	size_t cap;

	if (!s)
		DTX_FAIL_MEM(err);
	DTX_TRY(grow_input(b, a, err));
	cap = (size_t)b->in[0]->nfields + a->set.n + 1;
	s->nin = s->nwork = b->in[0]->nfields;
	s->nstages = (uint32_t)a->set.n;
	s->stage = dtx_arena_zalloc(b->arena, a->set.n + 1, sizeof(*s->stage));
	s->place = dtx_arena_zalloc(b->arena, cap, sizeof(*s->place));
	s->maker = dtx_arena_alloc(b->arena, cap, sizeof(*s->maker));
	d.field = dtx_arena_zalloc(b->arena, cap, sizeof(*d.field));
	d.maker = dtx_arena_alloc(b->arena, cap, sizeof(*d.maker));
	if (!s->stage || !s->place || !s->maker || !d.field || !d.maker)
		DTX_FAIL_MEM(err);
	for (uint32_t i = 0; i < s->nin; i++) {
		d.field[i] = b->in[0]->field[i];
		d.maker[i] = -1;
	}
	for (uint32_t k = 0; k < a->set.n; k++)
		DTX_TRY(bind_stage(&d, a, k, err));
	DTX_TRY(bind_outputs(&d, a, err));
	if (!a->set.n)
		dtx_bind_unsure(b);
out:
	return rc;
}

/* --- running --- */

/* Stages whose column somebody wants, or that such a stage reads. */
static void live_stages(const struct dtx_opctx *ox, const struct derive_state *s, bool *live)
{
	memset(live, 0, s->nstages);
	for (uint32_t i = 0; i < s->nout; i++)
		if (s->maker[i] >= 0 && dtx_op_wants(ox, i))
			live[s->maker[i]] = true;
	for (uint32_t k = s->nstages; k-- > 0;)
		for (uint32_t j = 0; live[k] && j < k; j++)
			live[j] = live[j] || s->stage[k].uses[j];
}

/* The batch with room for the working columns. */
static enum dtx_code widen(const struct derive_state *s, struct dtx_batch *in, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_column **col = dtx_mem_zalloc((size_t)s->nwork + 1, sizeof(struct dtx_column *));

	if (!col)
		DTX_FAIL_MEM(err);
	memcpy(col, in->col, in->ncols * sizeof(struct dtx_column *));
	dtx_mem_free(in->col);
	in->col = col;
	in->ncols = s->nwork;
out:
	return rc;
}

static enum dtx_code place_columns(const struct dtx_opctx *ox, const struct derive_state *s,
                                   struct dtx_batch *in, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_column **col = dtx_mem_zalloc((size_t)s->nout + 1, sizeof(struct dtx_column *));

	if (!col)
		DTX_FAIL_MEM(err);
	for (uint32_t i = 0; i < s->nout; i++)
		col[i] = dtx_column_ref(in->col[s->place[i]]);
	for (uint32_t i = 0; i < in->ncols; i++)
		dtx_column_unref(in->col[i]);
	dtx_mem_free(in->col);
	in->col = col;
	in->ncols = s->nout;
	in->schema = ox->out;
out:
	return rc;
}

static enum dtx_code derive_batch(const struct dtx_opctx *ox, void *local, struct dtx_batch *in,
                                  struct dtx_emit *out, struct dtx_err *err)
{
	const struct derive_state *s = ox->bound;
	enum dtx_code rc = DTX_OK;
	bool *live = dtx_mem_zalloc((size_t)s->nstages + 1, sizeof(*live));

	(void)local;
	if (!live)
		DTX_FAIL_MEM(err);
	live_stages(ox, s, live);
	DTX_TRY(widen(s, in, err));
	for (uint32_t k = 0; k < s->nstages; k++) {
		struct dtx_column *made = NULL;

		if (!live[k])
			continue;
		in->schema = s->stage[k].schema;
		DTX_TRY(dtx_op_eval(ox, s->stage[k].bound, in, &made, err));
		dtx_batch_put(in, s->stage[k].target, made);
	}
	in->schema = s->work;
	DTX_TRY(place_columns(ox, s, in, err));
	DTX_TRY(dtx_emit_batch(out, in, err));
out:
	dtx_mem_free(live);
	return rc;
}

static void derive_explain(const void *args, struct dtx_buf *out)
{
	const struct derive_args *a = args;
	const struct derive_item *item = a->set.item;

	for (size_t i = 0; i < a->set.n; i++) {
		dtx_buf_printf(out, "%s%s = ", i ? ", " : "", item[i].as);
		dtx_expr_print(item[i].expr, out);
	}
}

static bool repeats(const struct derive_item *item, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < i; k++)
			if (!strcmp(item[i].as, item[k].as))
				return true;
	return false;
}

/* assign() takes keywords; lambdas make later ones see earlier ones and any name possible. */
static bool derive_pandas(const void *args, struct dtx_buf *out)
{
	const struct derive_args *a = args;
	const struct derive_item *item = a->set.item;

	if (a->after || repeats(item, a->set.n))
		return false;
	dtx_buf_add(out, "df0.assign(**{");
	for (size_t i = 0; i < a->set.n; i++) {
		dtx_buf_add(out, i ? ", " : "");
		dtx_py_text(out, item[i].as);
		dtx_buf_add(out, ": lambda t: ");
		if (!dtx_expr_pandas(item[i].expr, "t", out))
			return false;
	}
	dtx_buf_add(out, "})");
	return true;
}

static const struct dtx_map derive_map = { .batch = derive_batch };

const struct dtx_op dtx_op_derive = {
	.name = "derive",
	.aliases = "mutate,assign,with_columns,add_column,calculate",
	.ninputs = 1,
	.flags = DTX_OP_TAKES_SEL | DTX_OP_MAY_TRIGGER | DTX_OP_DX,
	.summary = "Compute columns from formulas",
	.notes = "Left to right, later formulas see earlier ones. An existing name is overwritten "
		 "in "
		 "place; new columns go last, or behind `after`.",
	.params = derive_params,
	.nparams = DTX_COUNT(derive_params),
	.examples = derive_examples,
	.nexamples = DTX_COUNT(derive_examples),
	.args_size = sizeof(struct derive_args),
	.unsupported = "by",
	.bind = derive_bind,
	.map = &derive_map,
	.explain = derive_explain,
	.pandas = derive_pandas,
};
