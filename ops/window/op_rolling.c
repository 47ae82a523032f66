/* rolling: moving means and the like, a short form of window. */
#include "ops/window/shortwin.h"

static const char *const functions[] = { "mean", "sum", "min", "max", "std", "median" };
struct rolling_args {
	struct dtx_cols *cols, *by;
	struct dtx_plist order;
	int fn;
	int64_t n, min;
	const char *suffix;
};

#define ROWS_MAX   1000000000
#define AT(member) .offset = offsetof(struct rolling_args, member)
static const struct dtx_param rolling_params[] = {
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
	  .choices = "mean,sum,min,max,std,median",
	  .def = "\"mean\"",
	  .aliases = "func,function,agg",
	  .help = "of the last n rows" },
	{ .name = "n",
	  .kind = DTX_P_INT,
	  .required = true,
	  AT(n),
	  .aliases = "count,window",
	  .min = 1,
	  .max = ROWS_MAX,
	  .help = "how many rows, this one the last" },
	{ .name = "min",
	  .kind = DTX_P_INT,
	  AT(min),
	  .aliases = "min_periods",
	  .min = 1,
	  .max = ROWS_MAX,
	  .help = "values needed for a result, else null (default: n)" },
	DTX_SHORT_BY(struct rolling_args),
	DTX_SHORT_ORDER(struct rolling_args),
	{ .name = "suffix",
	  .kind = DTX_P_TEXT,
	  AT(suffix),
	  .def = "\"_roll\"",
	  .help = "added to the column's name" },
};
static const struct dtx_example rolling_examples[] = {
	{ .step = DTX_JSON({ "op" : "rolling", "cols" : ["v"], "n" : 2 }),
	  .in = "v\n1\n4\n\n2\n",
	  .out = "v,v_roll\n1,\n4,2.5\n,\n2,\n" },
	{ .step = DTX_JSON({
		  "op" : "moving_average",
		  "cols" : ["v"],
		  "fn" : "sum",
		  "n" : 3,
		  "min" : 1,
		  "by" : ["k"],
		  "order" : ["t"]
	  }),
	  .in = "k,t,v\na,3,1\na,1,5\nb,1,2\na,2,\n",
	  .out = "k,t,v,v_roll\na,3,1,6\na,1,5,5\nb,1,2,2\na,2,,5\n" },
	{ .step = DTX_JSON({ "op" : "rolling", "cols" : ["v"], "n" : 2, "min" : 3 }),
	  .in = "v\n1\n",
	  .error = "bad_param_value",
	  .message = "rolling: 2 rows never hold 3 values: min is at most n" },
	{ .step = DTX_JSON({ "op" : "rolling", "cols" : ["t"], "n" : 2 }),
	  .in = "t\nx\n",
	  .error = "type_mismatch",
	  .message = "rolling needs numbers, 't' is text" },
};

static enum dtx_code rolling_check(const void *args, struct dtx_err *err)
{
	const struct rolling_args *a = args;
	enum dtx_code rc = DTX_OK;

	if (a->min > a->n)
		DTX_PARAM_FAIL(err, DTX_E_BAD_PARAM_VALUE, "/min",
		               "rolling: %lld rows never hold %lld values: min is at most n",
		               (long long)a->n, (long long)a->min);
	DTX_TRY(dtx_orderkeys_check(&a->order, "rolling", "/order", err));
out:
	return rc;
}

static enum dtx_code rolling_bind(struct dtx_bind *b, void *args, struct dtx_err *err)
{
	const struct rolling_args *a = args;
	int64_t n = DTX_MAX(a->n, 1);
	enum dtx_code rc = DTX_OK;
	struct dtx_short_cols s = {
		.cols = a->cols, .by = a->by, .order = &a->order, .numbers = true
	};

	s.fn = dtx_arena_printf(b->arena, "roll_%s", functions[a->fn]);
	s.more = dtx_arena_printf(b->arena, ", %lld, min: %lld", (long long)n,
	                          (long long)(a->min ? DTX_MIN(a->min, n) : n));
	if (!s.fn || !s.more)
		DTX_FAIL_MEM(err);
	s.suffix = a->suffix;
	DTX_TRY(dtx_short_cols_bind(b, &s, err));
out:
	return rc;
}

static void rolling_explain(const void *args, struct dtx_buf *out)
{
	static const char *const words[] = {
		"mean", "sum", "minimum", "maximum", "standard deviation", "median"
	};
	const struct rolling_args *a = args;

	dtx_buf_printf(out, "%s of the last %lld rows of ", words[a->fn], (long long)a->n);
	dtx_cols_print(a->cols, out);
	dtx_buf_printf(out, " as column + '%s'", a->suffix);
	if (a->min)
		dtx_buf_printf(out, ", of at least %lld values", (long long)a->min);
	dtx_short_explain(a->by, &a->order, out);
}

static void rolling_facts(const json_t *canonical, struct dtx_op_facts *facts)
{
	facts->lo = 1 - dtx_json_int(canonical, "n", 1);
}

const struct dtx_op dtx_op_rolling = {
	.name = "rolling",
	.aliases = "moving_average",
	.ninputs = 1,
	.flags = DTX_OP_TAKES_SEL | DTX_OP_MAY_TRIGGER | DTX_OP_DX,
	.summary = "Means, sums and the like of the last n rows",
	.notes = "A short form of window with roll_mean(col, n, min: m) and so on. Rows stay where "
		 "they are; where fewer than `min` of the n rows have a value the result is null.",
	.facts = { .rows = DTX_ROWS_WINDOW, .groups = "by" },
	.facts_of = rolling_facts,
	.params = rolling_params,
	.nparams = DTX_COUNT(rolling_params),
	.examples = rolling_examples,
	.nexamples = DTX_COUNT(rolling_examples),
	.args_size = sizeof(struct rolling_args),
	.check = rolling_check,
	.bind = rolling_bind,
	.map = &dtx_short_map,
	.keys = dtx_derive_keys,
	.whole = dtx_derive_whole,
	.explain = rolling_explain,
	.sql = dtx_derive_sql,
};
