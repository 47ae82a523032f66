/* filter: keeps the rows for which an expression is true.
 *
 * It selects rows of the batch in place and moves no cell, so it may run inside the reader
 * (DTX_OP_NARROWS), before the other columns are made. */
#include "ops/kit/opkit.h"
#include "core/plan/compile/sqltext.h"

enum { KEEP_TRUE, KEEP_NOT_TRUE };
struct filter_args {
	struct dtx_expr *where;
	int keep;
};
struct filter_state {
	struct dtx_bound *where;
};

static const struct dtx_param filter_params[] = {
	{ .name = "where",
	  .kind = DTX_P_EXPR,
	  .required = true,
	  .offset = offsetof(struct filter_args, where),
	  .aliases = "condition,predicate,filter,expr,expression,formula",
	  .help = "condition on a row" },
	{ .name = "keep",
	  .kind = DTX_P_CHOICE,
	  .offset = offsetof(struct filter_args, keep),
	  .choices = "true,not_true",
	  .def = "\"true\"",
	  .help = "true: rows where it is true; not_true: where it is false or null" },
};
static const struct dtx_example filter_examples[] = {
	{ .step = DTX_JSON({ "op" : "filter", "where" : "n > 1" }),
	  .in = "n,k\n1,a\n2,b\n,c\n3,\"d\"\n",
	  .out = "n,k\n2,b\n3,\"d\"\n" },
	{ .step = DTX_JSON({ "op" : "filter", "where" : "n > 1", "keep" : "not_true" }),
	  .in = "n,k\n1,a\n2,b\n,c\n",
	  .out = "n,k\n1,a\n,c\n" },
	{ .step = DTX_JSON({ "op" : "where", "condition" : "k != 'b'" }),
	  .in = "n,k\n1,a\n2,b\n3,\n",
	  .out = "n,k\n1,a\n" },
	{ .step = DTX_JSON({ "op" : "filter", "where" : "false" }), .in = "n\n1\n", .out = "n\n" },
	{ .step = DTX_JSON({ "op" : "filter", "where" : "n + 1" }),
	  .in = "n\n1\n",
	  .error = "not_boolean",
	  .message = "a condition must be bool, this is int" },
};

static enum dtx_code filter_bind(struct dtx_bind *b, void *args, struct dtx_err *err)
{
	const struct filter_args *a = args;
	const struct dtx_typeref want = { .type = DTX_T_BOOL };
	enum dtx_code rc = DTX_OK;
	struct filter_state *s = dtx_bind_state(b, sizeof(*s));

	if (!s)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_bind_keep_all(b, 0, err));
	DTX_TRY(dtx_bind_expr(b, 0, a->where, "/where", want, DTX_USE_ROWS, &s->where, err));
out:
	return rc;
}

/* Keeps the rows where the condition is false or null. */
static enum dtx_code keep_not_true(const struct dtx_opctx *ox, const struct dtx_bound *where,
                                   struct dtx_batch *in, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_column *c = NULL, *flat = NULL;
	uint16_t *sel;
	uint32_t n = 0;

	DTX_TRY(dtx_op_eval(ox, where, in, &c, err));
	DTX_TRY(dtx_column_flat(c, &flat, err));
	DTX_TRY(dtx_batch_sel(in, &sel, err));
	for (uint32_t k = 0; k < in->nsel; k++)
		if (dtx_column_is_null(flat, sel[k]) || flat->type.type != DTX_T_BOOL ||
		    !dtx_bit(flat->v.bits, sel[k]))
			sel[n++] = sel[k];
	dtx_op_count(ox, "true", (int64_t)in->nsel - n);
	in->nsel = n;
out:
	dtx_column_unref(c);
	dtx_column_unref(flat);
	return rc;
}

static enum dtx_code keep_true(const struct dtx_opctx *ox, const struct dtx_bound *where,
                               struct dtx_batch *in, struct dtx_err *err)
{
	struct dtx_eval_counts counts = { 0 };
	int64_t falses = 0, nulls = 0;
	enum dtx_code rc = dtx_eval_keep(where, in, &falses, &nulls, &counts, err);

	dtx_op_count(ox, "false", falses);
	dtx_op_count(ox, "null", nulls);
	dtx_op_evals(ox, &counts);
	return rc;
}

static enum dtx_code filter_batch(const struct dtx_opctx *ox, void *local, struct dtx_batch *in,
                                  struct dtx_emit *out, struct dtx_err *err)
{
	const struct filter_args *a = ox->args;
	const struct filter_state *s = ox->bound;
	enum dtx_code rc = DTX_OK;

	(void)local;
	if (a->keep == KEEP_TRUE)
		DTX_TRY(keep_true(ox, s->where, in, err));
	else
		DTX_TRY(keep_not_true(ox, s->where, in, err));
	in->schema = ox->out;
	DTX_TRY(dtx_emit_batch(out, in, err));
out:
	return rc;
}

static void filter_explain(const void *args, struct dtx_buf *out)
{
	const struct filter_args *a = args;

	dtx_buf_add(out, a->keep == KEEP_TRUE ? "keep rows where " : "drop rows where ");
	dtx_expr_print(a->where, out);
}

static bool filter_pandas(const void *args, struct dtx_buf *out)
{
	const struct filter_args *a = args;
	bool ok;

	dtx_buf_printf(out, "df0[%sdx.is_true(df0, ", a->keep == KEEP_TRUE ? "" : "~");
	ok = dtx_expr_pandas(a->where, "df0", out);
	dtx_buf_add(out, ")]");
	return ok;
}

static const struct dtx_bound *filter_condition(const struct dtx_opctx *ox)
{
	const struct filter_args *a = ox->args;
	const struct filter_state *s = ox->bound;

	return a->keep == KEEP_TRUE ? s->where : NULL;
}

static void filter_left_out(const struct dtx_opctx *ox, int64_t rows)
{
	dtx_op_count(ox, "false", rows);
}

static const struct dtx_map filter_map = { .batch = filter_batch,
	                                   .condition = filter_condition,
	                                   .left_out = filter_left_out };

static bool filter_sql(const struct dtx_sql_step *s, struct dtx_buf *out)
{
	const struct filter_args *a = s->args;
	bool ok;

	dtx_sql_all(s, out);
	dtx_buf_add(out, " WHERE ");
	ok = dtx_expr_sql(a->where, s->bind->in[0], out);
	dtx_buf_add(out, a->keep == KEEP_TRUE ? "" : " IS NOT TRUE");
	return ok;
}

const struct dtx_op dtx_op_filter = {
	.name = "filter",
	.aliases = "where,query,subset,dropna,drop_nulls,drop_na",
	.ninputs = 1,
	.flags = DTX_OP_TAKES_SEL | DTX_OP_MAY_TRIGGER | DTX_OP_NARROWS,
	.summary = "Keep rows for which a condition is true",
	.notes = "A row is dropped where the condition is null; such rows are counted "
		 "separately.",
	.facts = { .rows = DTX_ROWS_FILTERED, .values = DTX_VALUES_KEPT, .decides = "where" },
	.params = filter_params,
	.nparams = DTX_COUNT(filter_params),
	.examples = filter_examples,
	.nexamples = DTX_COUNT(filter_examples),
	.args_size = sizeof(struct filter_args),
	.bind = filter_bind,
	.map = &filter_map,
	.explain = filter_explain,
	.sql = filter_sql,
	.pandas = filter_pandas,
};
