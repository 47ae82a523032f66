/* cumulative: running sums and the like, a short form of window. */
#include "ops/window/shortwin.h"

static const char *const functions[] = { "sum", "min", "max", "count", "mean", "prod" };
enum { FN_SUM, FN_MIN, FN_MAX, FN_COUNT };
struct cumulative_args {
	struct dtx_cols *cols, *by;
	struct dtx_plist order;
	int fn;
	const char *suffix;
};

#define AT(member) .offset = offsetof(struct cumulative_args, member)
static const struct dtx_param cumulative_params[] = {
	{ .name = "cols",
	  .kind = DTX_P_COLUMNS,
	  .required = true,
	  .nonempty = true,
	  AT(cols),
	  .aliases = "columns,column,col",
	  .help = "columns to run over" },
	{ .name = "fn",
	  .kind = DTX_P_CHOICE,
	  AT(fn),
	  .choices = "sum,min,max,count,mean,prod",
	  .def = "\"sum\"",
	  .aliases = "func,function,agg",
	  .help = "of the values so far" },
	DTX_SHORT_BY(struct cumulative_args),
	DTX_SHORT_ORDER(struct cumulative_args),
	{ .name = "suffix",
	  .kind = DTX_P_TEXT,
	  AT(suffix),
	  .def = "\"_cum\"",
	  .help = "added to the column's name" },
};
static const struct dtx_example cumulative_examples[] = {
	{ .step = DTX_JSON({ "op" : "cumulative", "cols" : ["n"] }),
	  .in = "k,n\na,1\nb,\na,3\n",
	  .out = "k,n,n_cum\na,1,1\nb,,\na,3,4\n" },
	{ .step = DTX_JSON({
		  "op" : "running_total",
		  "cols" : [ "n", "m" ],
		  "fn" : "max",
		  "by" : ["k"],
		  "order" : ["t"],
		  "suffix" : " so far"
	  }),
	  .in = "k,t,n,m\na,2,1,1.50\na,1,5,1\nb,1,2,7\n",
	  .out = "k,t,n,m,n so far,m so far\na,2,1,1.50,5,1.5\na,1,5,1,5,1.0\nb,1,2,7,2,7.0\n" },
	{ .step = DTX_JSON({ "op" : "cumsum", "cols" : ["t"] }),
	  .in = "t\nx\n",
	  .error = "type_mismatch",
	  .message = "cumulative needs numbers, 't' is text" },
	{ .step = DTX_JSON({ "op" : "cumulative", "cols" : ["n"] }),
	  .in = "n,n_cum\n1,1\n",
	  .error = "name_collision",
	  .message = "two columns would be called 'n_cum'" },
};

static enum dtx_code cumulative_check(const void *args, struct dtx_err *err)
{
	const struct cumulative_args *a = args;

	return dtx_orderkeys_check(&a->order, "cumulative", "/order", err);
}

static enum dtx_code cumulative_bind(struct dtx_bind *b, void *args, struct dtx_err *err)
{
	const struct cumulative_args *a = args;
	enum dtx_code rc = DTX_OK;
	struct dtx_short_cols s = { .cols = a->cols, .by = a->by, .order = &a->order, .more = "" };

	s.fn = dtx_arena_printf(b->arena, "cum_%s", functions[a->fn]);
	if (!s.fn)
		DTX_FAIL_MEM(err);
	s.suffix = a->suffix;
	s.numbers = a->fn != FN_MIN && a->fn != FN_MAX && a->fn != FN_COUNT;
	DTX_TRY(dtx_short_cols_bind(b, &s, err));
out:
	return rc;
}

static void cumulative_explain(const void *args, struct dtx_buf *out)
{
	static const char *const words[] = {
		"sum", "minimum", "maximum", "count", "mean", "product"
	};
	const struct cumulative_args *a = args;

	dtx_buf_printf(out, "running %s of ", words[a->fn]);
	dtx_cols_print(a->cols, out);
	dtx_buf_printf(out, " as column + '%s'", a->suffix);
	dtx_short_explain(a->by, &a->order, out);
}

const struct dtx_op dtx_op_cumulative = {
	.name = "cumulative",
	.aliases = "cumsum,running_total",
	.ninputs = 1,
	.flags = DTX_OP_TAKES_SEL | DTX_OP_MAY_TRIGGER | DTX_OP_DX,
	.summary = "Running sums, minima, maxima, counts, means or products",
	.notes = "A short form of window with cum_sum(col) and so on. Rows stay where they are; at "
		 "a null the result is null, and the next value goes on from before it.",
	.facts = { .rows = DTX_ROWS_WINDOW, .groups = "by", .lo = INT64_MIN },
	.params = cumulative_params,
	.nparams = DTX_COUNT(cumulative_params),
	.examples = cumulative_examples,
	.nexamples = DTX_COUNT(cumulative_examples),
	.args_size = sizeof(struct cumulative_args),
	.check = cumulative_check,
	.bind = cumulative_bind,
	.map = &dtx_short_map,
	.keys = dtx_derive_keys,
	.whole = dtx_derive_whole,
	.explain = cumulative_explain,
	.sql = dtx_derive_sql,
};
