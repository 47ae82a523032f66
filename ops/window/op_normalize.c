/* normalize: numbers on a common scale, by formulas of a window. */
#include "ops/kit/compose.h"
#include "ops/window/shortwin.h"

enum { METHOD_ZSCORE, METHOD_MINMAX, METHOD_ROBUST, METHOD_SHARE };
struct normalize_args {
	struct dtx_cols *cols, *by;
	int method;
};

#define AT(member) .offset = offsetof(struct normalize_args, member)
static const struct dtx_param normalize_params[] = {
	{ .name = "cols",
	  .kind = DTX_P_COLUMNS,
	  .required = true,
	  .nonempty = true,
	  AT(cols),
	  .aliases = "columns,column,col",
	  .help = "number columns to scale, in place" },
	{ .name = "method",
	  .kind = DTX_P_CHOICE,
	  AT(method),
	  .choices = "zscore,minmax,robust,share",
	  .def = "\"zscore\"",
	  .help = "(x - mean) / sd; 0 to 1; (x - median) / (q3 - q1); x / sum" },
	{ .name = "by",
	  .kind = DTX_P_COLUMNS,
	  AT(by),
	  .aliases = "group_by,groupby,keys",
	  .help = "within groups of these columns" },
};
static const struct dtx_example normalize_examples[] = {
	{ .step = DTX_JSON({ "op" : "normalize", "cols" : ["v"] }),
	  .in = "k,v\na,1\nb,2\nc,3\nd,\n",
	  .out = "k,v\na,-1.0\nb,0.0\nc,1.0\nd,\n" },
	{ .step = DTX_JSON({ "op" : "scale", "cols" : ["v"], "method" : "share", "by" : ["k"] }),
	  .in = "k,v\na,1\nb,5\na,3\nc,0\n",
	  .out = "k,v\na,0.25\nb,1.0\na,0.75\nc,\n" },
	{ .step = DTX_JSON({ "op" : "standardize", "cols" : ["v"], "method" : "minmax" }),
	  .in = "v\n2\n4\n3\n",
	  .out = "v\n0.0\n1.0\n0.5\n" },
	{ .step = DTX_JSON({ "op" : "normalize", "cols" : ["v"] }),
	  .in = "k,v\na,0.1\nb,0.1\nc,0.1\n",
	  .out = "k,v\na,\nb,\nc,\n" },
	{ .step = DTX_JSON({ "op" : "normalize", "cols" : ["t"] }),
	  .in = "t\nx\n",
	  .error = "type_mismatch",
	  .message = "normalize needs numbers, 't' is text" },
};

/* What x, the column as a float, is measured from, and in which unit: @ is x. */
static const struct {
	const char *from, *unit;
} scales[] = {
	[METHOD_ZSCORE] = { "mean(@)", "std(@)" },
	[METHOD_MINMAX] = { "min(@)", "(max(@) - min(@))" },
	[METHOD_ROBUST] = { "median(@)", "(quantile(@, 0.75) - quantile(@, 0.25))" },
	[METHOD_SHARE] = { "0.0", "sum(@)" },
};

static const char normalize_macro[] =
	DTX_JSON([ { "op" : "window", "by" : "$by", "set" : [ { "as" : "x", "expr" : "1" } ] } ]);

static enum dtx_code normalize_compose(struct dtx_bind *b, const void *args, json_t *const *step,
                                       size_t n, struct dtx_err *err)
{
	const struct normalize_args *a = args;
	const char *unit = scales[a->method].unit;
	struct dtx_compose c = { b, step, n, false };
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	json_t *set = json_array();
	enum dtx_code rc = DTX_OK;
	const char *formula;
	int32_t *col, *by;
	uint32_t ncol, nby;

	formula = dtx_compose_text(&c, "if(abs(%s) > 0, (@ - %s) / %s, null)", unit,
	                           scales[a->method].from, unit);
	DTX_TRY(dtx_bind_cols(b, 0, a->cols, "/cols", &col, &ncol, err));
	for (uint32_t i = 0; i < ncol; i++) {
		if (col[i] < 0)
			continue;
		DTX_TRY(dtx_bind_number(b, col[i], "/cols", err));
		dtx_buf_reset(&text);
		dtx_short_floats(&text, formula, &b->in[0]->field[col[i]]);
		DTX_TRY(dtx_buf_check(&text, "a formula", err));
		dtx_compose_add(
			&c, set,
			dtx_compose_item(b->in[0]->field[col[i]].name, dtx_buf_text(&text)));
	}
	if (a->by && a->by->n)
		DTX_TRY(dtx_bind_cols(b, 0, a->by, "/by", &by, &nby, err));
	if (json_array_size(set))
		dtx_compose_set(&c, "window", "set", json_incref(set));
	else
		dtx_compose_unknown(&c, n);
	rc = dtx_compose_end(&c, err);
out:
	dtx_buf_clear(&text);
	json_decref(set);
	return rc;
}

static void normalize_explain(const void *args, struct dtx_buf *out)
{
	static const char *const how[] = { "their distance from the mean in standard deviations",
		                           "0 to 1",
		                           "their distance from the median in quartile ranges",
		                           "shares of their sum" };
	const struct normalize_args *a = args;

	dtx_buf_add(out, "scale ");
	dtx_cols_print(a->cols, out);
	dtx_buf_printf(out, " to %s", how[a->method]);
	if (a->by) {
		dtx_buf_add(out, " within ");
		dtx_cols_print(a->by, out);
	}
}

const struct dtx_op dtx_op_normalize = {
	.name = "normalize",
	.aliases = "scale,standardize",
	.ninputs = 1,
	.flags = DTX_OP_MAY_TRIGGER | DTX_OP_DX,
	.summary = "Put numbers on a common scale",
	.notes = "A short form of window: rows stay where they are. The standard deviation is the "
		 "sample's, quartiles are of type 7. Where a group has no spread (or no sum) the "
		 "result is null.",
	.params = normalize_params,
	.nparams = DTX_COUNT(normalize_params),
	.examples = normalize_examples,
	.nexamples = DTX_COUNT(normalize_examples),
	.args_size = sizeof(struct normalize_args),
	.macro = normalize_macro,
	.compose = normalize_compose,
	.explain = normalize_explain,
};
