/* freq: how often values are there. */
#include "ops/kit/opkit.h"

struct freq_args {
	struct dtx_cols *cols;
	int64_t n;
	bool sort;
};

#define AT(member) .offset = offsetof(struct freq_args, member)
static const struct dtx_param freq_params[] = {
	{ .name = "cols",
	  .kind = DTX_P_COLUMNS,
	  .required = true,
	  .nonempty = true,
	  AT(cols),
	  .aliases = "columns,by,column,col",
	  .help = "columns whose values are counted together" },
	{ .name = "n",
	  .kind = DTX_P_INT,
	  AT(n),
	  .aliases = "count",
	  .min = 1,
	  .max = INT64_MAX,
	  .help = "at most this many rows" },
	{ .name = "sort",
	  .kind = DTX_P_BOOL,
	  AT(sort),
	  .def = "true",
	  .help = "most frequent first" },
};
static const struct dtx_example freq_examples[] = {
	{ .step = DTX_JSON({ "op" : "freq", "cols" : ["k"] }),
	  .in = "k,v\na,1\nb,2\nb,3\n,4\n",
	  .out = "k,count,share\nb,2,0.5\na,1,0.25\n,1,0.25\n" },
	{ .step = DTX_JSON(
		  { "op" : "value_counts", "cols" : [ "k", "v" ], "sort" : false, "n" : 2 }),
	  .in = "k,v\na,1.50\na,2\nb,1\na,2.0\n",
	  .out = "k,v,count,share\na,1.50,1,0.25\na,2,2,0.5\n" },
	{ .step = DTX_JSON({ "op" : "freq", "cols" : ["count"] }),
	  .in = "count\n1\n",
	  .error = "name_collision",
	  .message = "two columns would be called 'count'" },
};

/* Both columns are made by group_by, where a key of one of their names is an error; the share comes
 * to its own later. */
static const char freq_macro[] = DTX_JSON([
	{
		"op" : "group_by",
		"by" : "$cols",
		"agg" : [
			{ "as" : "count", "expr" : "count()" },
			{ "as" : "share", "expr" : "count()" }
		]
	},
	{ "op" : "window", "set" : [ { "as" : "share", "expr" : "share(count)" } ] },
	{ "if" : "$sort", "op" : "sort", "by" : [ { "col" : "count", "desc" : true } ] },
	{ "if" : "$n", "op" : "limit", "n" : "$n" }
]);

static void freq_explain(const void *args, struct dtx_buf *out)
{
	const struct freq_args *a = args;

	dtx_buf_add(out, "count how often each value of ");
	dtx_cols_print(a->cols, out);
	dtx_buf_add(out, " occurs");
	if (a->n)
		dtx_buf_printf(out, ", the first %lld%s", (long long)a->n,
		               a->sort ? " by count" : "");
}

const struct dtx_op dtx_op_freq = {
	.name = "freq",
	.aliases = "value_counts,tabulate",
	.ninputs = 1,
	.flags = DTX_OP_MAY_TRIGGER | DTX_OP_DX,
	.summary = "Count how often each value occurs",
	.notes = "Columns: the counted ones, count, share of all rows. Null is counted; equally "
		 "frequent values come in order of first appearance.",
	.params = freq_params,
	.nparams = DTX_COUNT(freq_params),
	.examples = freq_examples,
	.nexamples = DTX_COUNT(freq_examples),
	.args_size = sizeof(struct freq_args),
	.macro = freq_macro,
	.explain = freq_explain,
};
