/* rank: places of values, a short form of window. */
#include "ops/window/shortwin.h"

enum { METHOD_MIN, METHOD_DENSE, METHOD_FIRST, METHOD_PERCENT, METHOD_AVERAGE };
struct rank_args {
	struct dtx_expr *expr;
	const char *as;
	int method;
	bool desc;
	struct dtx_cols *by;
};

#define AT(member) .offset = offsetof(struct rank_args, member)
static const struct dtx_param rank_params[] = {
	{ .name = "expr",
	  .kind = DTX_P_EXPR,
	  .required = true,
	  AT(expr),
	  .aliases = "expression,formula,column,col",
	  .help = "what is ranked" },
	{ .name = "as",
	  .kind = DTX_P_TEXT,
	  AT(as),
	  .aliases = "new_name,name",
	  .def = "\"rank\"",
	  .help = "name of the new column" },
	{ .name = "method",
	  .kind = DTX_P_CHOICE,
	  AT(method),
	  .choices = "min,dense,first,percent,average",
	  .def = "\"min\"",
	  .help = "equal values: with gaps, without, numbered in table order; 0 to 1; the mean of "
	          "their places" },
	{ .name = "desc", .kind = DTX_P_BOOL, AT(desc), .def = "false", .help = "greatest first" },
	DTX_SHORT_BY(struct rank_args),
};
static const struct dtx_example rank_examples[] = {
	{ .step = DTX_JSON({ "op" : "rank", "expr" : "v", "desc" : true }),
	  .in = "v\n5\n7\n\n7\n",
	  .out = "v,rank\n5,3\n7,1\n,\n7,1\n" },
	{ .step = DTX_JSON({
		  "op" : "ranking",
		  "expr" : "v / n",
		  "as" : "place",
		  "method" : "dense",
		  "by" : ["k"]
	  }),
	  .in = "k,v,n\na,4,2\nb,1,1\na,2,1\na,9,3\n",
	  .out = "k,v,n,place\na,4,2,1\nb,1,1,1\na,2,1,1\na,9,3,2\n" },
	{ .step = DTX_JSON({ "op" : "rank", "expr" : "v", "method" : "first" }),
	  .in = "v\nb\n\na\nb\n",
	  .out = "v,rank\nb,2\n,\na,1\nb,3\n" },
	{ .step = DTX_JSON({ "op" : "rank", "expr" : "v", "method" : "percent" }),
	  .in = "v\n1\n3\n2\n",
	  .out = "v,rank\n1,0.0\n3,1.0\n2,0.5\n" },
	{ .step = DTX_JSON({ "op" : "rank", "expr" : "v", "method" : "average" }),
	  .in = "v\n5\n2\n5\n\n7\n",
	  .out = "v,rank\n5,2.5\n2,1.0\n5,2.5\n,\n7,4.0\n" },
	{ .step = DTX_JSON({ "op" : "rank", "expr" : "v", "as" : "v" }),
	  .in = "v\n1\n",
	  .error = "name_collision",
	  .message = "two columns would be called 'v'" },
};

static void rank_formula(const struct rank_args *a, struct dtx_buf *out)
{
	static const char *const calls[] = { "rank()", "dense_rank()", "row_number()",
		                             "percent_rank()", "average_rank()" };

	/* row_number() counts every row, the others pass over nulls */
	dtx_buf_add(out, a->method == METHOD_FIRST ? "if((" : calls[a->method]);
	if (a->method != METHOD_FIRST)
		return;
	dtx_expr_print(a->expr, out);
	dtx_buf_printf(out, ") is null, null, %s)", calls[a->method]);
}

static enum dtx_code rank_bind(struct dtx_bind *b, void *args, struct dtx_err *err)
{
	const struct dtx_typeref any = { .type = DTX_T_UNKNOWN };
	const struct rank_args *a = args;
	struct dtx_shortwin w = { .b = NULL };
	enum dtx_code rc = DTX_OK;
	struct dtx_order_item *key = dtx_arena_zalloc(b->arena, 1, sizeof(*key));
	struct dtx_plist order = { key, 1 };
	struct dtx_bound *bound = NULL;

	if (!key)
		DTX_FAIL_MEM(err);
	key->expr = a->expr;
	key->desc = a->desc;
	DTX_TRY(dtx_bind_expr(b, 0, a->expr, "/expr", any, DTX_USE_ROWS, &bound, err));
	order.n = bound != NULL;
	DTX_TRY(dtx_shortwin_open(&w, b, a->by, &order, 1, err));
	if (bound) {
		rank_formula(a, &w.text);
		DTX_TRY(dtx_shortwin_add(&w, a->as, "/as", err));
	}
	DTX_TRY(dtx_shortwin_bind(&w, "/expr", err));
	if (!bound && !dtx_param_is_hole(a->as))
		DTX_TRY(dtx_bind_would_make(b, a->as, err));
out:
	dtx_shortwin_close(&w);
	return rc;
}

static void rank_explain(const void *args, struct dtx_buf *out)
{
	static const char *const how[] = { "", ", without gaps", ", equal ones in table order",
		                           ", from 0 to 1",
		                           ", equal ones with the mean of their places" };
	const struct rank_args *a = args;

	dtx_buf_printf(out, "%s = rank of ", a->as);
	dtx_expr_print(a->expr, out);
	dtx_buf_printf(out, ", %s first%s", a->desc ? "greatest" : "least", how[a->method]);
	dtx_short_explain(a->by, NULL, out);
}

const struct dtx_op dtx_op_rank = {
	.name = "rank",
	.aliases = "ranking",
	.ninputs = 1,
	.flags = DTX_OP_TAKES_SEL | DTX_OP_MAY_TRIGGER | DTX_OP_DX,
	.summary = "Number rows by the order of a value",
	.notes = "A short form of window with rank() and similar functions, in the order of "
		 "`expr`. Rows stay where they are; null has no rank.",
	.facts = { .rows = DTX_ROWS_WINDOW, .groups = "by", .lo = INT64_MIN, .hi = INT64_MAX },
	.params = rank_params,
	.nparams = DTX_COUNT(rank_params),
	.examples = rank_examples,
	.nexamples = DTX_COUNT(rank_examples),
	.args_size = sizeof(struct rank_args),
	.bind = rank_bind,
	.map = &dtx_short_map,
	.keys = dtx_derive_keys,
	.whole = dtx_derive_whole,
	.explain = rank_explain,
	.sql = dtx_derive_sql,
};
