/* window: values per row computed from the rows of its group, in an order. The rows stay where they
 * are; binding and running are in ops/window. */
#include "ops/window/derive.h"

static const struct dtx_param window_item_rows[] = {
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
	  .help = "formula with window calls and aggregates" },
	{ .name = "frame",
	  .kind = DTX_P_FRAME,
	  .offset = offsetof(struct dtx_derive_item, frame),
	  .help = "rows that aggregates see (default: the group; with order, from its start to "
	          "here)" },
};
static const struct dtx_param window_params[] = {
	{ .name = "by",
	  .kind = DTX_P_COLUMNS,
	  .offset = offsetof(struct dtx_derive_args, by),
	  .aliases = "group_by,groupby,keys,partition_by",
	  .help = "groups (default: the whole table)" },
	{ .name = "order",
	  .kind = DTX_P_LIST,
	  .offset = offsetof(struct dtx_derive_args, order),
	  .rows = dtx_order_rows,
	  .nrows = DTX_ORDER_ROWS,
	  .item_size = sizeof(struct dtx_order_item),
	  .sugar = DTX_SUGAR_SORT,
	  .aliases = "order_by,sort_by,sort",
	  .help = "order within a group (default: the table's)" },
	{ .name = "set",
	  .kind = DTX_P_LIST,
	  .required = true,
	  .nonempty = true,
	  .offset = offsetof(struct dtx_derive_args, set),
	  .rows = window_item_rows,
	  .nrows = DTX_COUNT(window_item_rows),
	  .item_size = sizeof(struct dtx_derive_item),
	  .sugar = DTX_SUGAR_MAP,
	  .help = "columns to compute, left to right" },
	DTX_ACROSS_PARAM(struct dtx_derive_args),
};
static const struct dtx_example window_examples[] = {
	{ .step = DTX_JSON({
		  "op" : "window",
		  "by" : ["k"],
		  "order" : ["-n"],
		  "set" : { "r" : "rank()", "next" : "lead(n)" }
	  }),
	  .in = "k,n\na,1\nb,5\na,3\na,3\n",
	  .out = "k,n,r,next\na,1,3,\nb,5,1,\na,3,1,3\na,3,1,1\n" },
	{ .step = DTX_JSON({
		  "op" : "over",
		  "order" : ["t"],
		  "set" : [ { "as" : "m", "expr" : "mean(v)", "frame" : { "rows" : [ -1, 0 ] } } ]
	  }),
	  .in = "t,v\n3,9\n1,1\n2,4\n",
	  .out = "t,v,m\n3,9,6.5\n1,1,1.0\n2,4,2.5\n" },
	{ .step = DTX_JSON({
		  "op" : "window",
		  "by" : ["k"],
		  "order" : ["n"],
		  "set" : { "running" : "sum(n)", "total" : "cum_sum(n)" }
	  }),
	  .in = "k,n\na,2\na,1\nb,4\na,\n",
	  .out = "k,n,running,total\na,2,3,3\na,1,1,1\nb,4,4,4\na,,3,\n" },
	{ .step = DTX_JSON({
		  "op" : "window",
		  "order" : ["n"],
		  "set" : { "d" : "dense_rank()", "p" : "percent_rank()", "q" : "ntile(2)" }
	  }),
	  .in = "n\n7\n\n7\n1\n",
	  .out = "n,d,p,q\n7,2,0.5,1\n,,,\n7,2,0.5,2\n1,1,0.0,1\n" },
	{ .step = DTX_JSON({
		  "op" : "window",
		  "set" : {
			  "s" : "roll_sum(n, 2)",
			  "m" : "roll_max(n, 3, min: 1)",
			  "f" : "fill_down(n)"
		  }
	  }),
	  .in = "n\n1\n5\n\n2\n",
	  .out = "n,s,m,f\n1,,1,1\n5,6,5,5\n,,5,5\n2,,5,2\n" },
	{ .step = DTX_JSON({
		  "op" : "window",
		  "order" : ["t"],
		  "across" : [ "a", "b" ],
		  "set" : { "{col}_before" : "lag(_)" }
	  }),
	  .in = "t,a,b\n2,5,x\n1,3,y\n",
	  .out = "t,a,b,a_before,b_before\n2,5,x,3,y\n1,3,y,,\n" },
	{ .step = DTX_JSON({
		  "op" : "window",
		  "order" : ["d"],
		  "set" : {
			  "stock" : "cum_sum(n, low: 0, high: 10)",
			  "of month" : "cum_sum(n, reset: day(d) = 1)",
			  "before" : "lag(n, ignore_nulls: true)",
			  "place" : "average_rank()"
		  }
	  }),
	  .in = "d,n\n2024-01-30,4\n2024-01-31,-6\n2024-02-01,3\n2024-02-01,\n2024-02-03,9\n",
	  .out = "d,n,stock,of "
	         "month,before,place\n2024-01-30,4,4,4,,1.0\n2024-01-31,-6,0,-2,4,2.0\n"
	         "2024-02-01,3,3,3,-6,3.5\n2024-02-01,,,,3,3.5\n2024-02-03,9,10,9,3,5.0\n" },
	{ .step = DTX_JSON({ "op" : "window", "set" : { "x" : "sum(cum_sum(n))" } }),
	  .in = "n\n1\n",
	  .error = "nested_aggregate",
	  .message = "cum_sum() is inside another call" },
	{ .step = DTX_JSON({
		  "op" : "window",
		  "set" : [ { "as" : "x", "expr" : "lag(n)", "frame" : { "rows" : [ -1, 0 ] } } ]
	  }),
	  .in = "n\n1\n",
	  .error = "bad_param_value",
	  .message = "no call of 'x' reads a frame: aggregates, first_value, last_value and "
	             "nth_value do" },
	{ .step = DTX_JSON({
		  "op" : "window",
		  "by" : ["k"],
		  "order" : ["d"],
		  "set" : [ {
			  "as" : "week",
			  "expr" : "sum(v)",
			  "frame" : { "range" : [ "-7d", "0d" ] }
		  } ]
	  }),
	  .in = "k,d,v\na,2024-01-01,1\na,2024-01-07,2\na,2024-01-08,4\nb,2024-01-08,8\n"
	        "a,2024-01-08,16\na,,32\n",
	  .out = "k,d,v,week\na,2024-01-01,1,1\na,2024-01-07,2,3\na,2024-01-08,4,22\n"
	         "b,2024-01-08,8,8\na,2024-01-08,16,22\na,,32,\n" },
	{ .step = DTX_JSON({
		  "op" : "window",
		  "order" : ["-x"],
		  "set" : [
			  { "as" : "n", "expr" : "count()", "frame" : { "range" : [ -1.5, 2 ] } }, {
				  "as" : "last",
				  "expr" : "last_value(x)",
				  "frame" : { "range" : [ null, 0 ] }
			  }
		  ]
	  }),
	  .in = "x\n1\n4\n2\n3\n2\n",
	  .out = "x,n,last\n1,3,1\n4,4,4\n2,4,2\n3,5,3\n2,4,2\n" },
	{ .step = DTX_JSON({
		  "op" : "window",
		  "set" : [ { "as" : "x", "expr" : "sum(n)", "frame" : { "range" : [ -1, 0 ] } } ]
	  }),
	  .in = "n\n1\n",
	  .error = "order_required",
	  .message = "a frame by range needs one order key, there are 0" },
	{ .step = DTX_JSON({
		  "op" : "window",
		  "order" : ["n"],
		  "set" : [
			  { "as" : "x", "expr" : "sum(n)", "frame" : { "range" : [ "-1d",
						                                   "0d" ] } }
		  ]
	  }),
	  .in = "n\n1\n",
	  .error = "type_mismatch",
	  .message = "the order is of int: the frame needs numbers, not durations" },
};

static enum dtx_code window_check(const void *args, struct dtx_err *err)
{
	const struct dtx_derive_args *a = args;

	return dtx_orderkeys_check(&a->order, "window", "/order", err);
}

static void window_explain(const void *args, struct dtx_buf *out)
{
	const struct dtx_derive_args *a = args;

	if (a->by) {
		dtx_buf_add(out, "within ");
		dtx_cols_print(a->by, out);
		dtx_buf_add(out, a->order.n ? ", " : ": ");
	}
	if (a->order.n) {
		dtx_buf_add(out, "by order of ");
		dtx_orderkeys_print(&a->order, out);
		dtx_buf_add(out, ": ");
	}
	dtx_derive_explain(args, out);
}

static const struct dtx_map window_map = { .batch = dtx_derive_batch };

const struct dtx_op dtx_op_window = {
	.name = "window",
	.aliases = "over,transform",
	.ninputs = 1,
	.flags = DTX_OP_TAKES_SEL | DTX_OP_MAY_TRIGGER | DTX_OP_DX,
	.summary = "Compute columns from the rows of a group, in an order",
	.notes = "Rows stay where they are. Ranks, lag and lead, running, rolling and relative "
		 "numbers, and every aggregate. With `order` an aggregate runs from the start of "
		 "the group to the row; `frame` changes that: by number of rows, or by range, "
		 "which takes the rows whose order value is in (row + from, row + to], with "
		 "numbers or, for times, durations (-7d, 1mo). A row with null as its first "
		 "order value has no rank, and no frame by range." DTX_ACROSS_NOTE,
	.across = "set",
	.facts = { .rows = DTX_ROWS_WINDOW,
	           .values = DTX_VALUES_SET,
	           .decides = "by,order",
	           .groups = "by" },
	.params = window_params,
	.nparams = DTX_COUNT(window_params),
	.examples = window_examples,
	.nexamples = DTX_COUNT(window_examples),
	.args_size = sizeof(struct dtx_derive_args),
	.check = window_check,
	.bind = dtx_derive_bind,
	.map = &window_map,
	.keys = dtx_derive_keys,
	.whole = dtx_derive_whole,
	.explain = window_explain,
	.sql = dtx_derive_sql,
};
