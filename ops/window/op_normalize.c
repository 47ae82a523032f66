/* normalize: numbers on a common scale, a short form of window. */
#include "ops/group/table/groupvals.h"
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

static enum dtx_code normalize_bind(struct dtx_bind *b, void *args, struct dtx_err *err)
{
	const struct normalize_args *a = args;
	const char *unit = scales[a->method].unit;
	struct dtx_shortwin w = { .b = NULL };
	enum dtx_code rc = DTX_OK;
	const char *formula;
	int32_t *col;
	uint32_t n;

	formula = dtx_arena_printf(b->arena, "if(abs(%s) > 0, (@ - %s) / %s, null)", unit,
	                           scales[a->method].from, unit);
	if (!formula)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_bind_cols(b, 0, a->cols, "/cols", &col, &n, err));
	DTX_TRY(dtx_shortwin_open(&w, b, a->by, NULL, n, err));
	for (uint32_t i = 0; i < n; i++) {
		size_t before = b->nfindings;

		if (col[i] >= 0)
			DTX_TRY(dtx_bind_number(b, col[i], "/cols", err));
		if (col[i] < 0 || b->nfindings > before)
			continue;
		dtx_short_floats(&w.text, formula, &b->in[0]->field[col[i]]);
		DTX_TRY(dtx_shortwin_set(&w, b->in[0]->field[col[i]].name, err));
	}
	DTX_TRY(dtx_shortwin_bind(&w, "/cols", err));
out:
	dtx_shortwin_close(&w);
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
	.flags = DTX_OP_TAKES_SEL | DTX_OP_MAY_TRIGGER | DTX_OP_DX,
	.summary = "Put numbers on a common scale",
	.notes = "A short form of window: rows stay where they are. The standard deviation is the "
		 "sample's, quartiles are of type 7. Where a group has no spread (or no sum) the "
		 "result is null.",
	.params = normalize_params,
	.nparams = DTX_COUNT(normalize_params),
	.examples = normalize_examples,
	.nexamples = DTX_COUNT(normalize_examples),
	.args_size = sizeof(struct normalize_args),
	.bind = normalize_bind,
	.map = &dtx_short_map,
	.whole = dtx_derive_whole,
	.explain = normalize_explain,
};
