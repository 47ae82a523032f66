/* range_join: the pairs of rows of two tables for which a condition over both is true.
 *
 * The condition may be any formula, so every left row is tested against every right row: for one
 * left row the condition is evaluated over a whole batch of the right table at once. */
#include <stdatomic.h>

#include "core/plan/compile/pytext.h"
#include "ops/join/buildside.h"

enum { HOW_INNER, HOW_LEFT };
struct range_args {
	const char *with;
	struct dtx_expr *where;
	int how;
	const char *suffix;
};
struct range_state {
	const struct dtx_schema *pair; /* schema of a pair: left.a ..., right.b ... */
	uint32_t nleft;
	bool *used; /* which of its columns the condition reads */
	struct dtx_bound *where;
	struct dtx_colmap lmap, rmap;
};
struct range_shared {
	struct dtx_kept kept;
	/* [batch * columns + column]: FLAT; only the columns that are read */
	struct dtx_column **value;
	int64_t nrows;
	/* for the growth limit; relaxed, as it is only an estimate until the end */
	_Atomic int64_t rows_in, rows_out;
};
struct range_local { /* pairs of the batch that is being made */
	uint32_t *zero, *lrow, *which, *rrow;
	uint32_t n;
	struct dtx_column **value; /* of the left batch */
};

#define AT(member) .offset = offsetof(struct range_args, member)
static const struct dtx_param range_params[] = {
	{ .name = "with",
	  .kind = DTX_P_TABLE,
	  .required = true,
	  AT(with),
	  .aliases = "right,table,other",
	  .help = "the other table" },
	{ .name = "where",
	  .kind = DTX_P_EXPR,
	  .required = true,
	  AT(where),
	  .aliases = "condition,predicate,filter,on",
	  .help = "condition on a pair of rows: columns are left.NAME and right.NAME" },
	{ .name = "how",
	  .kind = DTX_P_CHOICE,
	  AT(how),
	  .choices = "inner,left",
	  .def = "\"inner\"",
	  .help = "drop or keep rows without a match" },
	{ .name = "suffix",
	  .kind = DTX_P_TEXT,
	  AT(suffix),
	  .def = "\"_right\"",
	  .help = "added to a column of the other table whose name is taken" },
};
#define BANDS "lo,hi,v\n0,10,a\n5,20,b\n"
static const struct dtx_example range_examples[] = {
	{ .step = DTX_JSON({
		  "op" : "range_join",
		  "with" : "other",
		  "where" : "left.n >= right.lo and left.n < right.hi"
	  }),
	  .in = "n\n7\n30\n1.50\n",
	  .with = BANDS,
	  .out = "n,lo,hi,v\n7,0,10,a\n7,5,20,b\n1.50,0,10,a\n" },
	{ .step = DTX_JSON({
		  "op" : "non_equi_join",
		  "with" : "other",
		  "where" : "left.v == right.v and left.lo > right.lo",
		  "how" : "left"
	  }),
	  .in = "v,lo\na,3\nb,\nb,9\n",
	  .with = BANDS,
	  .out = "v,lo,lo_right,hi,v_right\na,3,0,10,a\nb,,,,\nb,9,5,20,b\n" },
	{ .step = DTX_JSON({
		  "op" : "range_join",
		  "with" : "other",
		  "where" : "left.lo == right.lo",
		  "suffix" : "_band"
	  }),
	  .in = "lo,lo_right\n5,x\n",
	  .with = BANDS,
	  .out = "lo,lo_right,lo_band,hi,v\n5,x,5,20,b\n" },
	{ .step = DTX_JSON(
		  { "op" : "range_join", "with" : "other", "where" : "left.n > right.price" }),
	  .in = "n\n1\n",
	  .with = BANDS,
	  .error = "missing_column",
	  .message = "no column 'right.price' here" },
	{ .step = DTX_JSON({ "op" : "range_join", "with" : "other", "where" : "left.n + 1" }),
	  .in = "n\n1\n",
	  .with = BANDS,
	  .error = "not_boolean",
	  .message = "a condition must be bool, this is int" },
};

static size_t range_tables(const void *args, const char **names, size_t max)
{
	if (!max)
		return 0;
	names[0] = ((const struct range_args *)args)->with;
	return 1;
}

/* --- binding --- */

/* The side of a name such as "left.a", and its column; -1: it has no side. */
static int side_of(const char *name, const char **column)
{
	static const char *const side[] = { "left.", "right." };

	for (int i = 0; i < 2; i++) {
		size_t n = strlen(side[i]);

		if (strncmp(name, side[i], n) == 0) {
			*column = name + n;
			return i;
		}
	}
	return -1;
}

struct grow {
	struct dtx_bind *b;
	const char *bare; /* a column written without a side */
	struct dtx_err *err;
	enum dtx_code rc;
};

/* Adds the columns that the condition names to an open table. */
static void on_name(void *arg, const char *name)
{
	struct grow *g = arg;
	const char *column;
	int t = side_of(name, &column);

	if (t < 0)
		g->bare = name;
	else if (g->rc == DTX_OK)
		g->rc = dtx_bind_grow(g->b, (unsigned)t, column, g->err);
}

static enum dtx_code pair_schema(struct dtx_bind *b, struct range_state *s, struct dtx_err *err)
{
	struct dtx_schema *schema = dtx_arena_zalloc(b->arena, 1, sizeof(*schema));
	uint32_t n = b->in[0]->nfields + b->in[1]->nfields;
	struct dtx_field *field = dtx_arena_zalloc(b->arena, (size_t)n + 1, sizeof(*field));
	enum dtx_code rc = DTX_OK;

	s->used = dtx_arena_zalloc(b->arena, (size_t)n + 1, sizeof(*s->used));
	if (!schema || !field || !s->used)
		DTX_FAIL_MEM(err);
	s->nleft = b->in[0]->nfields;
	for (uint32_t i = 0; i < n; i++) {
		bool left = i < s->nleft;
		const struct dtx_field *f =
			left ? &b->in[0]->field[i] : &b->in[1]->field[i - s->nleft];

		field[i].name = dtx_arena_printf(b->arena, left ? "left.%s" : "right.%s", f->name);
		field[i].type = f->type;
		if (!field[i].name)
			DTX_FAIL_MEM(err);
	}
	*schema = (struct dtx_schema){ .nfields = n, .field = field };
	s->pair = schema;
out:
	return rc;
}

static void on_use(void *arg, int32_t col, enum dtx_demand demand)
{
	bool *used = arg;

	(void)demand;
	used[col] = true;
}

static enum dtx_code bind_where(struct dtx_bind *b, const struct range_args *a,
                                struct range_state *s, struct dtx_err *err)
{
	const struct dtx_typeref want = { .type = DTX_T_BOOL };
	struct grow g = { b, NULL, err, DTX_OK };
	enum dtx_code rc = DTX_OK;
	struct dtx_expr *e;

	if (!a->where || a->where == &dtx_expr_hole) {
		DTX_TRY(pair_schema(b, s, err));
		goto out;
	}
	e = dtx_expr_qualified(b->arena, a->where);
	if (!e)
		DTX_FAIL_MEM(err);
	dtx_expr_columns(e, on_name, &g);
	DTX_TRY(g.rc);
	DTX_TRY(pair_schema(b, s, err));
	if (g.bare) {
		DTX_TRY(dtx_bind_fail(b, DTX_E_UNKNOWN_COLUMN, "/where", err,
		                      "column '%s' is in neither table: write left.%s or right.%s",
		                      g.bare, g.bare, g.bare));
		goto out;
	}
	DTX_TRY(dtx_bind_expr_over(b, s->pair, e, "/where", want, on_use, s->used, &s->where, err));
	for (uint32_t i = 0; i < s->pair->nfields; i++)
		if (s->used[i])
			DTX_TRY(dtx_bind_use(b, DTX_USE_ROWS, i >= s->nleft,
			                     (int32_t)(i < s->nleft ? i : i - s->nleft),
			                     DTX_DEMAND_VALUE, err));
out:
	return rc;
}

static enum dtx_code range_bind(struct dtx_bind *b, void *args, struct dtx_err *err)
{
	const struct range_args *a = args;
	struct range_state *s = dtx_bind_state(b, sizeof(*s));
	enum dtx_code rc = DTX_OK;

	if (!s)
		DTX_FAIL_MEM(err);
	DTX_TRY(bind_where(b, a, s, err));
	DTX_TRY(dtx_bind_keep_all(b, 0, err));
	b->suffix = a->suffix;
	for (uint32_t i = 0; i < b->in[1]->nfields; i++)
		DTX_TRY(dtx_bind_pass_right(b, (int32_t)i, err));
	DTX_TRY(dtx_colmap_bind(b, 0, &s->lmap, err));
	DTX_TRY(dtx_colmap_bind(b, 1, &s->rmap, err));
out:
	return rc;
}

/* --- the other table --- */

static uint32_t nright(const struct range_state *s)
{
	return s->pair->nfields - s->nleft;
}

static void shared_free(const struct dtx_opctx *ox, void *shared)
{
	const struct range_state *s = ox->bound;
	struct range_shared *sh = shared;

	if (!sh)
		return;
	for (size_t i = 0; sh->value && i < sh->kept.n * nright(s); i++)
		dtx_column_unref(sh->value[i]);
	dtx_mem_free(sh->value);
	dtx_kept_clear(&sh->kept);
	dtx_mem_free(sh);
}

static enum dtx_code take_batches(struct range_shared *sh, void *const *locals, unsigned n,
                                  struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	for (unsigned w = 0; w < n; w++) {
		struct dtx_kept *k = locals[w];

		if (!dtx_mem_reserve(&sh->kept.batch, &sh->kept.cap, sh->kept.n + k->n + 1,
		                     sizeof(struct dtx_batch *)))
			DTX_FAIL_MEM(err);
		for (size_t i = 0; i < k->n; i++) {
			sh->nrows += k->batch[i]->nrows;
			sh->kept.batch[sh->kept.n++] = k->batch[i];
		}
		k->n = 0;
	}
	dtx_kept_sort(&sh->kept);
out:
	return rc;
}

static enum dtx_code range_finalize(const struct dtx_opctx *ox, void *const *locals, unsigned n,
                                    void **shared, struct dtx_emit *out, struct dtx_err *err)
{
	const struct range_state *s = ox->bound;
	enum dtx_code rc = DTX_OK;
	struct range_shared *sh = dtx_mem_zalloc(1, sizeof(*sh));

	(void)out;
	if (!sh)
		DTX_FAIL_MEM(err);
	DTX_TRY(take_batches(sh, locals, n, err));
	sh->value = dtx_mem_zalloc(sh->kept.n * nright(s) + 1, sizeof(struct dtx_column *));
	if (!sh->value)
		DTX_FAIL_MEM(err);
	for (size_t i = 0; i < sh->kept.n; i++)
		for (uint32_t c = 0; c < nright(s); c++)
			if (s->used[s->nleft + c])
				DTX_TRY(dtx_batch_flat(sh->kept.batch[i], c,
				                       &sh->value[i * nright(s) + c], err));
	*shared = sh;
	sh = NULL;
out:
	shared_free(ox, sh);
	return rc;
}

static const struct dtx_sink range_sink = {
	.init_local = dtx_build_init,
	.consume = dtx_build_consume,
	.finalize = range_finalize,
	.free_local = dtx_build_free,
	.free_shared = shared_free,
};

/* --- pairs --- */

static void range_free(const struct dtx_opctx *ox, void *local)
{
	struct range_local *l = local;

	(void)ox;
	if (!l)
		return;
	dtx_mem_free(l->zero);
	dtx_mem_free(l->lrow);
	dtx_mem_free(l->which);
	dtx_mem_free(l->rrow);
	dtx_mem_free(l->value);
	dtx_mem_free(l);
}

static enum dtx_code range_init(const struct dtx_opctx *ox, void **local, struct dtx_err *err)
{
	const struct range_state *s = ox->bound;
	uint32_t most = dtx_op_batch_rows(ox);
	enum dtx_code rc = DTX_OK;
	struct range_local *l = dtx_mem_zalloc(1, sizeof(*l));

	if (!l)
		DTX_FAIL_MEM(err);
	l->zero = dtx_mem_zalloc(most, sizeof(*l->zero));
	l->lrow = dtx_mem_alloc(most, sizeof(*l->lrow));
	l->which = dtx_mem_alloc(most, sizeof(*l->which));
	l->rrow = dtx_mem_alloc(most, sizeof(*l->rrow));
	l->value = dtx_mem_zalloc((size_t)s->nleft + 1, sizeof(struct dtx_column *));
	if (!l->zero || !l->lrow || !l->which || !l->rrow || !l->value)
		DTX_FAIL_MEM(err);
	*local = l;
	l = NULL;
out:
	range_free(ox, l);
	return rc;
}

static enum dtx_code emit_pairs(const struct dtx_opctx *ox, struct range_local *l,
                                struct dtx_batch *in, struct dtx_emit *out, struct dtx_err *err)
{
	const struct range_state *s = ox->bound;
	struct range_shared *sh = ox->shared;
	struct dtx_pick left = { &in, 1, l->zero, l->lrow, l->n, NULL, NULL, NULL };
	struct dtx_pick right = {
		sh->kept.batch, (uint32_t)sh->kept.n, l->which, l->rrow, l->n, NULL, NULL, NULL
	};
	enum dtx_code rc = DTX_OK;
	struct dtx_batch *b = NULL;

	if (!l->n)
		goto out;
	DTX_TRY(dtx_batch_new(ox->out, l->n, &b, err));
	b->seq = in->seq;
	DTX_TRY(dtx_pick_into(ox, &s->lmap, &left, b, err));
	DTX_TRY(dtx_pick_into(ox, &s->rmap, &right, b, err));
	DTX_TRY(dtx_pick_ids(&left, b, err));
	atomic_fetch_add_explicit(&sh->rows_out, l->n, memory_order_relaxed);
	l->n = 0;
	DTX_TRY(dtx_emit_batch(out, b, err));
out:
	dtx_batch_free(b);
	return rc;
}

static enum dtx_code add_pair(const struct dtx_opctx *ox, struct range_local *l,
                              struct dtx_batch *in, uint32_t lrow, uint32_t which, uint32_t rrow,
                              struct dtx_emit *out, struct dtx_err *err)
{
	l->lrow[l->n] = lrow;
	l->which[l->n] = which;
	l->rrow[l->n++] = rrow;
	return l->n == dtx_op_batch_rows(ox) ? emit_pairs(ox, l, in, out, err) : DTX_OK;
}

/* Makes a FLAT column that has one value in n rows. */
static enum dtx_code repeat_value(struct dtx_column *c, uint32_t row, uint32_t n,
                                  struct dtx_column **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	bool null = dtx_column_is_null(c, row);

	DTX_TRY(dtx_column_slice(c, row, 1, out, err));
	(*out)->form = DTX_F_CONST;
	(*out)->len = n;
	(*out)->nulls = null ? n : 0;
out:
	return rc;
}

/* Finds the rows of right batch i that the left row matches: the selection of *out. */
static enum dtx_code meet_batch(const struct dtx_opctx *ox, struct range_local *l, uint32_t lrow,
                                size_t i, struct dtx_batch **out, struct dtx_err *err)
{
	const struct range_state *s = ox->bound;
	const struct range_shared *sh = ox->shared;
	struct dtx_eval_counts counts = { 0 };
	uint32_t n = sh->kept.batch[i]->nrows;
	enum dtx_code rc = DTX_OK;
	struct dtx_batch *b = NULL;
	int64_t falses = 0, nulls = 0;

	DTX_TRY(dtx_batch_new(s->pair, n, &b, err));
	for (uint32_t c = 0; c < s->pair->nfields; c++) {
		if (!s->used[c])
			continue;
		if (c < s->nleft)
			DTX_TRY(repeat_value(l->value[c], lrow, n, &b->col[c], err));
		else
			b->col[c] = dtx_column_ref(sh->value[i * nright(s) + c - s->nleft]);
	}
	DTX_TRY(dtx_eval_keep(s->where, b, &falses, &nulls, &counts, err));
	dtx_op_evals(ox, &counts);
	*out = b;
	b = NULL;
out:
	dtx_batch_free(b);
	return rc;
}

static enum dtx_code meet_row(const struct dtx_opctx *ox, struct range_local *l,
                              struct dtx_batch *in, uint32_t lrow, struct dtx_emit *out,
                              struct dtx_err *err)
{
	const struct range_args *a = ox->args;
	const struct range_shared *sh = ox->shared;
	enum dtx_code rc = DTX_OK;
	struct dtx_batch *met = NULL;
	bool any = false;

	for (size_t i = 0; i < sh->kept.n; i++) {
		DTX_TRY(dtx_cancel_look(err));
		DTX_TRY(meet_batch(ox, l, lrow, i, &met, err));
		for (uint32_t k = 0; k < met->nsel; k++)
			DTX_TRY(add_pair(ox, l, in, lrow, (uint32_t)i, dtx_batch_row(met, k), out,
			                 err));
		any = any || met->nsel;
		dtx_batch_free(met);
		met = NULL;
	}
	if (!any)
		dtx_op_count(ox, a->how == HOW_LEFT ? "unmatched_left" : "unmatched", 1);
	if (!any && a->how == HOW_LEFT)
		DTX_TRY(add_pair(ox, l, in, lrow, DTX_NOWHERE, 0, out, err));
out:
	dtx_batch_free(met);
	return rc;
}

/* slack 1: the limit itself, tested at the end. While the join runs, 16 times the limit ends it. */
static enum dtx_code check_growth(const struct dtx_opctx *ox, int64_t slack, struct dtx_err *err)
{
	struct range_shared *sh = ox->shared;
	int64_t in = atomic_load_explicit(&sh->rows_in, memory_order_relaxed) + sh->nrows;
	int64_t made = atomic_load_explicit(&sh->rows_out, memory_order_relaxed);
	enum dtx_code rc = DTX_OK;

	if (!ox->run || ox->run->growth < 0 ||
	    (dtx_i128)made <= ((dtx_i128)ox->run->growth * in + 1000000) * slack)
		goto out;
	rc = dtx_err_set(err, DTX_E_ROW_GROWTH, __FILE__, __LINE__,
	                 "range_join: %lld rows in make %lld rows, more than the limit growth "
	                 "(%lld) allows",
	                 (long long)in, (long long)made, (long long)ox->run->growth);
	dtx_err_hint(err, "write a narrower condition, or raise \"growth\" of the plan's limits");
out:
	return rc;
}

static enum dtx_code range_batch(const struct dtx_opctx *ox, void *local, struct dtx_batch *in,
                                 struct dtx_emit *out, struct dtx_err *err)
{
	const struct range_state *s = ox->bound;
	struct range_shared *sh = ox->shared;
	struct range_local *l = local;
	enum dtx_code rc = DTX_OK;

	for (uint32_t c = 0; c < s->nleft; c++)
		if (s->used[c])
			DTX_TRY(dtx_batch_flat(in, c, &l->value[c], err));
	atomic_fetch_add_explicit(&sh->rows_in, in->nsel, memory_order_relaxed);
	for (uint32_t k = 0; k < in->nsel && !dtx_emit_full(out); k++) {
		DTX_TRY(meet_row(ox, l, in, dtx_batch_row(in, k), out, err));
		DTX_TRY(check_growth(ox, 16, err));
	}
	DTX_TRY(emit_pairs(ox, l, in, out, err));
out:
	for (uint32_t c = 0; c < s->nleft; c++) {
		dtx_column_unref(l->value[c]);
		l->value[c] = NULL;
	}
	return rc;
}

static enum dtx_code range_flush(const struct dtx_opctx *ox, void *const *locals, unsigned n,
                                 struct dtx_emit *out, struct dtx_err *err)
{
	(void)locals;
	(void)n;
	(void)out;
	return check_growth(ox, 1, err);
}

static const struct dtx_map range_map = {
	.init_local = range_init,
	.batch = range_batch,
	.flush = range_flush,
	.free_local = range_free,
};

static void range_explain(const void *args, struct dtx_buf *out)
{
	const struct range_args *a = args;

	dtx_buf_printf(out, "%s rows of %s where ",
	               a->how == HOW_LEFT ? "left join with" : "join with", a->with);
	dtx_expr_print(a->where, out);
}

static bool range_pandas(const void *args, struct dtx_buf *out)
{
	const struct range_args *a = args;
	struct dtx_arena arena = DTX_ARENA_INIT;
	struct dtx_expr *e = dtx_expr_qualified(&arena, a->where);
	bool ok;

	dtx_buf_add(out, "dx.range_join(df0, df1, where=lambda t: ");
	ok = e && dtx_expr_pandas(e, "t", out);
	dtx_buf_add(out, a->how == HOW_LEFT ? ", how=\"left\"" : "");
	if (strcmp(a->suffix, "_right") != 0) {
		dtx_buf_add(out, ", suffix=");
		dtx_py_text(out, a->suffix);
	}
	dtx_buf_addc(out, ')');
	dtx_arena_clear(&arena);
	return ok;
}

const struct dtx_op dtx_op_range_join = {
	.name = "range_join",
	.aliases = "non_equi_join",
	.ninputs = 2,
	.flags = DTX_OP_BUILD | DTX_OP_TAKES_SEL | DTX_OP_MAY_TRIGGER,
	.summary = "Join two tables on any condition",
	.notes = "Every pair of rows is tested, so the tables should not be large: join and "
		 "asof_join are faster where they can do the same. Rows come in left order, "
		 "matches in right order; a null condition is not a match. A name that is taken "
		 "gets the suffix.",
	.facts = { .rows = DTX_ROWS_JOINED, .decides = "where" },
	.params = range_params,
	.nparams = DTX_COUNT(range_params),
	.examples = range_examples,
	.nexamples = DTX_COUNT(range_examples),
	.args_size = sizeof(struct range_args),
	.tables = range_tables,
	.bind = range_bind,
	.map = &range_map,
	.sink = &range_sink,
	.explain = range_explain,
	.pandas = range_pandas,
};
