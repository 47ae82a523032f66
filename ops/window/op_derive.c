/* derive: computed columns, from left to right. Binding and running are in ops/window. */
#include "ops/window/derive.h"
#include "core/plan/compile/sqltext.h"

static const struct dtx_param derive_item_rows[] = {
	{ .name = "as",
	  .kind = DTX_P_TEXT,
	  .required = true,
	  .offset = offsetof(struct dtx_derive_item, as),
	  .aliases = "new_name,name",
	  .help = "name of the column" },
	{ .name = "expr",
	  .kind = DTX_P_EXPR,
	  .required = true,
	  .offset = offsetof(struct dtx_derive_item, expr),
	  .aliases = "expression,formula",
	  .help = "formula" },
};
static const struct dtx_param derive_params[] = {
	{ .name = "set",
	  .kind = DTX_P_LIST,
	  .required = true,
	  .nonempty = true,
	  .offset = offsetof(struct dtx_derive_args, set),
	  .rows = derive_item_rows,
	  .nrows = DTX_COUNT(derive_item_rows),
	  .item_size = sizeof(struct dtx_derive_item),
	  .sugar = DTX_SUGAR_MAP,
	  .aliases = "columns,new_columns",
	  .help = "columns to compute, left to right" },
	{ .name = "by",
	  .kind = DTX_P_COLUMNS,
	  .offset = offsetof(struct dtx_derive_args, by),
	  .aliases = "group_by,groupby,keys",
	  .help = "groups that aggregates and window calls run over (default: the whole table)" },
	DTX_ACROSS_PARAM(struct dtx_derive_args),
	{ .name = "after",
	  .kind = DTX_P_COLUMN,
	  .offset = offsetof(struct dtx_derive_args, after),
	  .help = "column after which new columns go (default: last)" },
};
static const struct dtx_example derive_examples[] = {
	{ .step = DTX_JSON({ "op" : "derive", "set" : { "c" : "a + b", "d" : "c * 2" } }),
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
	{ .step = DTX_JSON({
		  "op" : "derive",
		  "by" : ["k"],
		  "set" : { "share" : "n / sum(n)", "before" : "lag(n)" }
	  }),
	  .in = "k,n\na,1\nb,5\na,3\n",
	  .out = "k,n,share,before\na,1,0.25,\nb,5,1.0,\na,3,0.75,1\n" },
	{ .step = DTX_JSON({
		  "op" : "derive",
		  "across" : [ "a", "b" ],
		  "set" : { "{col}" : "round(_, 1)", "{col}_share" : "_ / t" }
	  }),
	  .in = "k,a,b,t\nx,1.25,2,4\ny,,0.5,2\n",
	  .out = "k,a,b,t,a_share,b_share\nx,1.3,2.0,4,0.325,0.5\ny,,0.5,2,,0.25\n" },
	{ .step = DTX_JSON({
		  "op" : "derive",
		  "across" : ["q1..q3"],
		  "set" : {
			  "total" : "row_sum(_)",
			  "mean" : "row_mean(_)",
			  "best" : "row_max(_)",
			  "answered" : "row_count(_)"
		  }
	  }),
	  .in = "id,q1,q2,q3\n1,3,,5\n2,,,\n",
	  .out = "id,q1,q2,q3,total,mean,best,answered\n1,3,,5,8,4.0,5,2\n2,,,,,,,0\n" },
	{ .step = DTX_JSON(
		  { "op" : "derive", "across" : [ "a", "b" ], "set" : { "x" : "round(_, 1)" } }),
	  .in = "a,b\n1,2\n",
	  .error = "bad_arity",
	  .message = "round() takes 1 to 2 arguments, got 3" },
	{ .step = DTX_JSON({ "op" : "derive", "across" : ["a"], "set" : { "x" : "_ + 1" } }),
	  .in = "a\n1\n",
	  .error = "bad_param_value",
	  .message = "the name 'x' has no {col}, so _ stands for all columns of 'across': it can "
	             "only be an argument of a function of the values of one row" },
	{ .step = DTX_JSON({ "op" : "derive", "set" : { "r" : "rank()" } }),
	  .in = "a\n1\n",
	  .error = "order_required",
	  .message = "rank() needs an order" },
};

static bool repeats(const struct dtx_derive_item *item, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < i; k++)
			if (!strcmp(item[i].as, item[k].as))
				return true;
	return false;
}

/* assign() takes keywords; as lambdas, later formulas see earlier columns, and any name is
 * possible. */
static bool derive_pandas(const void *args, struct dtx_buf *out)
{
	const struct dtx_derive_args *a = args;
	const struct dtx_derive_item *item = a->set.item;

	if (a->after || a->by || repeats(item, a->set.n))
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

static const struct dtx_map derive_map = { .batch = dtx_derive_batch };

const struct dtx_op dtx_op_derive = {
	.name = "derive",
	.aliases = "mutate,assign,with_columns,add_column,calculate",
	.ninputs = 1,
	.flags = DTX_OP_TAKES_SEL | DTX_OP_MAY_TRIGGER | DTX_OP_SAME_ROWS | DTX_OP_DX,
	.summary = "Compute columns from formulas",
	.notes = "Formulas are computed from left to right, and later ones see earlier ones. An "
		 "existing column is overwritten in place; new columns go last, or after the "
		 "column `after`. Aggregates and window calls run over the rows of the `by` "
		 "group, in table order." DTX_ACROSS_NOTE,
	.across = "set",
	.facts = { .rows = DTX_ROWS_SAME, .values = DTX_VALUES_SET },
	.params = derive_params,
	.nparams = DTX_COUNT(derive_params),
	.examples = derive_examples,
	.nexamples = DTX_COUNT(derive_examples),
	.args_size = sizeof(struct dtx_derive_args),
	.bind = dtx_derive_bind,
	.map = &derive_map,
	.keys = dtx_derive_keys,
	.whole = dtx_derive_whole,
	.explain = dtx_derive_explain,
	.sql = dtx_derive_sql,
	.pandas = derive_pandas,
};
