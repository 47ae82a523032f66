/* fill_null: nulls take a value. */
#include "core/base/memory/mem.h"
#include "core/expr/agg/agg.h"
#include "core/data/cells.h"
#include "ops/kit/text/jsonvalue.h"
#include "ops/kit/opkit.h"
#include "ops/kit/origins.h"
#include "core/plan/compile/sqltext.h"

enum { FILL_ZERO, FILL_MEAN }; /* of `strategy`, -1: none; from MEAN on aggregates */
struct fill_args {
	struct dtx_cols *cols;
	const json_t *value;
	struct dtx_expr *expr;
	int strategy;
};
struct fill_state {
	int32_t *col;
	uint32_t n;
	struct dtx_bound *expr;
	struct dtx_field *field;    /* per listed column */
	struct dtx_aggcalls *calls; /* the same: one call; NULL: no aggregate fills */
};

#define AT(member) .offset = offsetof(struct fill_args, member)
static const struct dtx_param null_params[] = {
	{ .name = "cols",
	  .kind = DTX_P_COLUMNS,
	  .required = true,
	  .nonempty = true,
	  AT(cols),
	  .aliases = "columns,column,col,subset",
	  .help = "columns to fill" },
	{ .name = "value", .kind = DTX_P_VALUE, AT(value), .help = "the value" },
	{ .name = "expr",
	  .kind = DTX_P_EXPR,
	  AT(expr),
	  .aliases = "expression,formula",
	  .help = "formula of the value, row by row" },
	{ .name = "strategy",
	  .kind = DTX_P_CHOICE,
	  AT(strategy),
	  .choices = "zero,mean,median,mode,min,max",
	  .aliases = "method",
	  .help = "0, or a value computed from the column" },
};
static const struct dtx_example null_examples[] = {
	{ .step = DTX_JSON({ "op" : "fill_null", "cols" : ["a"], "value" : 0 }),
	  .in = "a,b\n1,x\n,y\n",
	  .out = "a,b\n1,x\n0,y\n" },
	{ .step = DTX_JSON({ "op" : "fillna", "cols" : ["k"], "value" : "none" }),
	  .in = "k,v\na,1\n,2\n\"\",3\n",
	  .out = "k,v\na,1\nnone,2\n\"\",3\n" },
	{ .step = DTX_JSON({ "op" : "fill_null", "cols" : ["a"], "expr" : "b * 2" }),
	  .in = "a,b\n1.50,1\n,2\n,\n",
	  .out = "a,b\n1.50,1\n4.0,2\n,\n" },
	{ .step = DTX_JSON({ "op" : "fill_null", "cols" : ["a"], "value" : "x" }),
	  .in = "a,b\n1,x\n,y\n",
	  .error = "type_mismatch",
	  .message = "value does not fit column 'a' of type int" },
	{ .step = DTX_JSON({ "op" : "impute", "cols" : [ "a", "b" ], "strategy" : "mean" }),
	  .in = "a,b,k\n1.50,1,x\n,2,\n2.5,,y\n",
	  .out = "a,b,k\n1.50,1,x\n2.0,2,\n2.5,1.5,y\n" },
	{ .step = DTX_JSON({ "op" : "fill_null", "cols" : [ "k", "d" ], "strategy" : "mode" }),
	  .in = "k,d\nx,2024-01-31\n,\ny,2024-02-29\ny,\n",
	  .out = "k,d\nx,2024-01-31\ny,2024-01-31\ny,2024-02-29\ny,2024-01-31\n" },
	{ .step = DTX_JSON({ "op" : "fill_null", "cols" : ["a"], "strategy" : "zero" }),
	  .in = "a,b\n1,x\n,y\n",
	  .out = "a,b\n1,x\n0,y\n" },
	{ .step = DTX_JSON({ "op" : "fill_null", "cols" : ["k"], "strategy" : "median" }),
	  .in = "k\nx\n",
	  .error = "type_mismatch",
	  .message = "expected a number, got text" },
};

static const char *const aggregates[] = { NULL, "mean", "median", "mode", "min", "max" };

static enum dtx_code null_check(const void *args, struct dtx_err *err)
{
	const struct fill_args *a = args;
	int given = (a->value != NULL) + (a->expr != NULL) + (a->strategy >= 0);
	enum dtx_code rc = DTX_OK;

	if (given != 1)
		DTX_FAIL(err, given ? DTX_E_PARAM_CONFLICT : DTX_E_MISSING_PARAM,
		         "fill_null needs one of value, expr or strategy");
out:
	return rc;
}

static enum dtx_code bind_one(struct dtx_bind *b, const struct fill_args *a, struct fill_state *s,
                              uint32_t i, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_field *f = &s->field[i];
	struct dtx_typeref type, want;

	*f = b->in[0]->field[s->col[i]];
	if (a->value && f->type.type == DTX_T_NULL)
		f->type.type = dtx_json_type(a->value);
	if (a->value && !dtx_json_fits(a->value, f->type.type))
		DTX_TRY(dtx_bind_misfit(b, "value", f, "/value", err));
	if (!s->expr && (!s->calls || !s->calls[i].n))
		goto out;
	want = s->expr ? dtx_bound_type(s->expr) : dtx_agg_type(s->calls[i].call[0]);
	if (f->type.type == DTX_T_UNKNOWN || want.type == DTX_T_UNKNOWN)
		f->type = (struct dtx_typeref){ DTX_T_UNKNOWN, 0, 0 };
	else if (dtx_type_widen(f->type, want, &type))
		f->type = type;
	else
		DTX_TRY(dtx_bind_fail_next(b, DTX_E_TYPE_MISMATCH, a->expr ? "/expr" : "/strategy",
		                           "cast the value or, in a step before, the column", err,
		                           "a value of type %s does not fit column '%s' of type %s",
		                           dtx_type_name(want.type), f->name,
		                           dtx_type_name(f->type.type)));
out:
	return rc;
}

/* What fills each column, of the column itself. */
static enum dtx_code bind_aggregates(struct dtx_bind *b, const struct fill_args *a,
                                     struct fill_state *s, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_expr *call;
	struct dtx_bound *bound;

	s->calls = dtx_arena_zalloc(b->arena, (size_t)s->n + 1, sizeof(*s->calls));
	if (!s->calls)
		DTX_FAIL_MEM(err);
	for (uint32_t i = 0; i < s->n; i++) {
		if (s->col[i] < 0)
			continue;
		call = dtx_expr_call1(b->arena, aggregates[a->strategy],
		                      b->in[0]->field[s->col[i]].name);
		if (!call)
			DTX_FAIL_MEM(err);
		DTX_TRY(dtx_bind_agg(b, 0, call, "/strategy", NULL, 0, DTX_USE_ROWS, &s->calls[i],
		                     &bound, err));
	}
	dtx_bind_kind(b, DTX_KIND_WHOLE);
out:
	return rc;
}

static enum dtx_code bind_filling(struct dtx_bind *b, const struct fill_args *a,
                                  struct fill_state *s, struct dtx_err *err)
{
	const struct dtx_typeref any = { .type = DTX_T_UNKNOWN };
	enum dtx_code rc = DTX_OK;
	struct dtx_expr *zero = NULL;

	dtx_bind_kind(b, DTX_KIND_MAP);
	if (a->strategy >= FILL_MEAN)
		return bind_aggregates(b, a, s, err);
	if (a->strategy == FILL_ZERO)
		DTX_TRY(dtx_expr_parse(b->arena, DTX_STR("0"), &zero, err));
	if (zero || a->expr)
		DTX_TRY(dtx_bind_expr(b, 0, zero ? zero : a->expr, zero ? "/strategy" : "/expr",
		                      any, DTX_USE_ROWS, &s->expr, err));
out:
	return rc;
}

/* What the formula reads is read for every filled column. */
static enum dtx_code bind_uses(struct dtx_bind *b, size_t from, size_t to, uint32_t out,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	for (size_t i = from; i < to; i++) {
		struct dtx_bind_use u = b->use[i];

		DTX_TRY(dtx_bind_use(b, (int32_t)out, u.table, (int32_t)u.col,
		                     (enum dtx_demand)u.demand, err));
	}
out:
	return rc;
}

/* "coalesce(`v`, 0)"; NULL where the values of the column give what fills it. */
static enum dtx_code fill_formula(struct dtx_bind *b, const struct fill_args *a, const char *name,
                                  struct dtx_expr **out, struct dtx_err *err)
{
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	enum dtx_code rc = DTX_OK;

	*out = NULL;
	if (a->strategy >= FILL_MEAN)
		goto out;
	dtx_buf_add(&text, "coalesce(");
	dtx_expr_print_name(name, &text);
	dtx_buf_add(&text, ", ");
	if (a->value)
		dtx_expr_print_scalar(a->value, &text);
	else if (a->expr)
		dtx_expr_print(a->expr, &text);
	else
		dtx_buf_addc(&text, '0');
	dtx_buf_addc(&text, ')');
	DTX_TRY(dtx_buf_check(&text, "formula", err));
	DTX_TRY(dtx_expr_parse(b->arena, dtx_buf_str(&text), out, err));
out:
	dtx_buf_clear(&text);
	return rc;
}

static enum dtx_code null_bind(struct dtx_bind *b, void *args, struct dtx_err *err)
{
	const struct fill_args *a = args;
	enum dtx_code rc = DTX_OK;
	int32_t *place;
	struct fill_state *s = dtx_bind_state(b, sizeof(*s));
	struct dtx_expr *formula;
	size_t from = b->nuses, to;

	if (!s)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_bind_cols(b, 0, a->cols, "/cols", &s->col, &s->n, err));
	DTX_TRY(bind_filling(b, a, s, err));
	to = b->nuses;
	s->field = dtx_arena_zalloc(b->arena, (size_t)s->n + 1, sizeof(*s->field));
	if (!s->field)
		DTX_FAIL_MEM(err);
	for (uint32_t i = 0; i < s->n; i++)
		if (s->col[i] >= 0)
			DTX_TRY(bind_one(b, a, s, i, err));
	/* an open input gains columns up to here */
	place = dtx_cols_places(b->arena, s->col, s->n, b->in[0]->nfields);
	if (!place)
		DTX_FAIL_MEM(err);
	for (uint32_t i = 0; i < b->in[0]->nfields; i++) {
		uint32_t out = b->ncols;
		int32_t at = place[i];

		DTX_TRY(dtx_bind_pass(b, 0, (int32_t)i, NULL, err));
		if (at < 0 || b->ncols == out)
			continue;
		b->col[out].field = s->field[at];
		DTX_TRY(fill_formula(b, a, s->field[at].name, &formula, err));
		DTX_TRY(dtx_bind_alter(b, out, formula, err));
		if (s->expr)
			DTX_TRY(bind_uses(b, from, to, out, err));
	}
out:
	return rc;
}

/* Rows of `cell` that are null come from row[] of `fill` (one row: all from it). */
static enum dtx_code merge(struct dtx_column *cell, struct dtx_column *fill,
                           const struct dtx_field *field, struct dtx_column **out, int64_t *filled,
                           struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t n = cell->len;
	uint32_t *which = dtx_mem_alloc((size_t)n + 1, sizeof(*which));
	uint32_t *row = dtx_mem_alloc((size_t)n + 1, sizeof(*row));
	struct dtx_column *src[2] = { NULL, NULL };

	if (!which || !row)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_cells_fit(cell, field, &src[0], err));
	DTX_TRY(dtx_cells_fit(fill, field, &src[1], err));
	for (uint32_t i = 0; i < n; i++) {
		bool null = dtx_column_is_null(cell, i);

		which[i] = null;
		row[i] = null && fill->len == 1 ? 0 : i;
		*filled += null;
	}
	if (*filled)
		DTX_TRY(dtx_cells_gather(src, 2, which, row, n, field, out, err));
	else
		*out = dtx_column_ref(src[0]);
out:
	dtx_column_unref(src[0]);
	dtx_column_unref(src[1]);
	dtx_mem_free(which);
	dtx_mem_free(row);
	return rc;
}

static enum dtx_code null_batch(const struct dtx_opctx *ox, void *local, struct dtx_batch *in,
                                struct dtx_emit *out, struct dtx_err *err)
{
	const struct fill_args *a = ox->args;
	const struct fill_state *s = ox->bound;
	enum dtx_code rc = DTX_OK;
	struct dtx_column *fill = NULL, *made = NULL;

	(void)local;
	if (s->expr)
		DTX_TRY(dtx_op_eval(ox, s->expr, in, &fill, err));
	for (uint32_t i = 0; i < s->n; i++) {
		int64_t filled = 0;

		if (!dtx_op_wants(ox, (uint32_t)s->col[i]) || !in->col[s->col[i]])
			continue;
		if (a->value)
			DTX_TRY(dtx_json_column(a->value, &s->field[i], &fill, err));
		DTX_TRY(merge(in->col[s->col[i]], fill, &s->field[i], &made, &filled, err));
		dtx_batch_put(in, (uint32_t)s->col[i], made);
		if (a->value) {
			dtx_column_unref(fill);
			fill = NULL;
		}
	}
	in->schema = ox->out;
	DTX_TRY(dtx_emit_batch(out, in, err));
out:
	dtx_column_unref(fill);
	return rc;
}

/* --- what the values of a column give --- */

static enum dtx_code aggregate(const struct dtx_opctx *ox, struct dtx_table *t,
                               const struct dtx_aggcall *call, struct dtx_column **out,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_eval_counts counts = { 0 };
	uint32_t *group = dtx_mem_zalloc(DTX_BATCH_ROWS, sizeof(*group));
	void *state = dtx_mem_alloc(1, dtx_agg_state_size(call));

	if (!group || !state)
		DTX_FAIL_MEM(err);
	dtx_agg_init(call, state, dtx_agg_state_size(call), 0, 1);
	for (size_t i = 0; i < t->nbatches && rc == DTX_OK; i++)
		rc = dtx_agg_add(call, state, dtx_agg_state_size(call), group, NULL, t->batch[i],
		                 &counts, err);
	if (rc == DTX_OK)
		rc = dtx_agg_final(call, &state, 1, &counts, out, err);
	dtx_agg_free(call, state, dtx_agg_state_size(call), 1);
	dtx_op_evals(ox, &counts);
out:
	dtx_mem_free(group);
	dtx_mem_free(state);
	return rc;
}

static enum dtx_code fill_column(const struct dtx_opctx *ox, struct dtx_table *t,
                                 struct dtx_kept *kept, uint32_t i, struct dtx_err *err)
{
	const struct fill_state *s = ox->bound;
	enum dtx_code rc = DTX_OK;
	struct dtx_column *fill = NULL, *made = NULL;

	DTX_TRY(aggregate(ox, t, s->calls[i].call[0], &fill, err));
	for (size_t k = 0; k < kept->n; k++) {
		struct dtx_batch *b = kept->batch[k];
		int64_t filled = 0;

		DTX_TRY(merge(b->col[s->col[i]], fill, &s->field[i], &made, &filled, err));
		dtx_batch_put(b, (uint32_t)s->col[i], made);
	}
out:
	dtx_column_unref(fill);
	return rc;
}

/* Where the cells of one column in a batch come from, whose first row has the number `at`; nothing
 * else is needed then. */
static enum dtx_code null_origins(const struct dtx_opctx *ox, const struct dtx_batch *in,
                                  int64_t at, struct dtx_emit *out, struct dtx_err *err)
{
	const struct fill_state *s = ox->bound;
	int32_t c = dtx_schema_find(ox->in[0], ox->cells);
	bool filled = dtx_cols_find(s->col, s->n, c) >= 0;
	struct dtx_batch *b = NULL;
	enum dtx_code rc = DTX_OK;
	struct dtx_origins to;

	DTX_TRY(dtx_batch_new(ox->out, in->nrows, &b, err));
	dtx_origins_init(&to, b->nrows);
	for (uint32_t i = 0; i < b->nrows; i++)
		dtx_origins_add(&to, at + i, NULL,
		                filled && dtx_column_is_null(in->col[c], i) ? "all" : "cell");
	DTX_TRY(dtx_origins_put(&to, b, err));
	DTX_TRY(dtx_emit_batch(out, b, err));
out:
	dtx_batch_free(b);
	return rc;
}

static enum dtx_code null_whole(const struct dtx_opctx *ox, struct dtx_table *t,
                                struct dtx_emit *out, struct dtx_err *err)
{
	const struct fill_state *s = ox->bound;
	enum dtx_code rc = DTX_OK;
	struct dtx_kept kept = { NULL, 0, 0 };
	int64_t at = 0;

	for (size_t i = 0; i < t->nbatches; i++)
		DTX_TRY(dtx_kept_add(&kept, t->batch[i], err));
	for (size_t i = 0; i < kept.n && ox->cells && !dtx_emit_full(out); i++) {
		DTX_TRY(null_origins(ox, kept.batch[i], at, out, err));
		at += kept.batch[i]->nrows;
	}
	for (uint32_t i = 0; i < s->n && !ox->cells; i++)
		if (dtx_op_wants(ox, (uint32_t)s->col[i]))
			DTX_TRY(fill_column(ox, t, &kept, i, err));
	for (size_t i = 0; i < kept.n && !ox->cells && !dtx_emit_full(out); i++) {
		kept.batch[i]->schema = ox->out;
		DTX_TRY(dtx_emit_batch(out, kept.batch[i], err));
	}
out:
	dtx_kept_clear(&kept);
	return rc;
}

static void null_explain(const void *args, struct dtx_buf *out)
{
	const struct fill_args *a = args;

	dtx_buf_add(out, "fill nulls of ");
	dtx_cols_print(a->cols, out);
	dtx_buf_add(out, " with ");
	if (a->strategy >= FILL_MEAN)
		dtx_buf_printf(out, "the %s of each", aggregates[a->strategy]);
	else if (a->strategy == FILL_ZERO)
		dtx_buf_add(out, "0");
	else if (a->expr)
		dtx_expr_print(a->expr, out);
	else
		dtx_json_print(a->value, 0, out);
}

static const struct dtx_map null_map = { .batch = null_batch };

static bool null_sql(const struct dtx_sql_step *s, struct dtx_buf *out)
{
	const struct fill_args *a = s->args;
	const struct fill_state *st = s->bind->state;
	enum dtx_type from = a->expr && st->expr ? dtx_bound_type(st->expr).type : DTX_T_UNKNOWN;
	bool ok = true;

	if (!a->value && !a->expr)
		return false;
	dtx_buf_add(out, "SELECT \"_row\"");
	for (uint32_t i = 0; i < s->bind->in[0]->nfields; i++) {
		const struct dtx_field *f = &s->bind->in[0]->field[i];
		int32_t at = dtx_cols_find(st->col, st->n, (int32_t)i);
		enum dtx_type to = at < 0 ? f->type.type : st->field[at].type.type;

		dtx_buf_add(out, at < 0 ? ", " : ", coalesce(");
		dtx_sql_column(out, f, to);
		if (at < 0)
			continue;
		dtx_buf_add(out, ", ");
		dtx_sql_open(out, from, to);
		ok = (a->expr ? dtx_expr_sql(a->expr, s->bind->in[0], out)
		              : dtx_sql_value(out, a->value, to)) &&
		     ok;
		dtx_sql_close(out, from, to);
		dtx_buf_add(out, ") AS ");
		dtx_sql_name(out, f->name);
	}
	dtx_buf_printf(out, " FROM %s", s->from[0]);
	return ok;
}

/* A formula takes other columns, a strategy other rows. */
static void null_facts(const json_t *canonical, struct dtx_op_facts *facts)
{
	if (json_object_get(canonical, "expr"))
		facts->values = DTX_VALUES_ANY;
	facts->borrows = strcmp(dtx_json_text(canonical, "strategy", "zero"), "zero") != 0;
	facts->cells = facts->borrows;
	facts->groups = facts->borrows ? "by" : NULL; /* one group: there is no such parameter */
}

const struct dtx_op dtx_op_fill_null = {
	.name = "fill_null",
	.aliases = "fillna,replace_na,impute",
	.ninputs = 1,
	.flags = DTX_OP_MAY_TRIGGER | DTX_OP_DX,
	.summary = "Fill nulls with a value",
	.notes = "Only nulls: blank text stays. A value that does not fit the column's type is "
		 "type_mismatch; a mean makes an int column float. Of equally frequent values mode "
		 "takes the first seen. Other cells keep their bytes.",
	.facts = { .rows = DTX_ROWS_SAME, .values = DTX_VALUES_CHANGED },
	.facts_of = null_facts,
	.params = null_params,
	.nparams = DTX_COUNT(null_params),
	.examples = null_examples,
	.nexamples = DTX_COUNT(null_examples),
	.args_size = sizeof(struct fill_args),
	.check = null_check,
	.bind = null_bind,
	.map = &null_map,
	.whole = null_whole,
	.explain = null_explain,
	.sql = null_sql,
};
