/* intersect: rows of the current table that another table has too.  It is not a macro, for the
 * reasons that except gives. */
#include "ops/join/setop.h"

#define LEFT  "a,b\n1,x\n1,x\n2,y\n,z\n"
#define RIGHT "b,a\nx,1\nz,\nw,3\n"
static const struct dtx_example intersect_examples[] = {
	{ .step = DTX_JSON({ "op" : "intersect", "with" : "other" }),
	  .in = LEFT,
	  .with = RIGHT,
	  .out = "a,b\n1,x\n,z\n" },
	{ .step = DTX_JSON({ "op" : "intersect", "with" : "other", "all" : true }),
	  .in = LEFT,
	  .with = RIGHT,
	  .out = "a,b\n1,x\n,z\n" },
	{ .step = DTX_JSON({ "op" : "intersect", "with" : "other", "cols" : ["a"], "all" : true }),
	  .in = "a,b\n1.0,x\n2,y\n1,z\n",
	  .with = "a\n1\n",
	  .out = "a,b\n1.0,x\n" },
	{ .step = DTX_JSON({ "op" : "intersect", "with" : "other" }),
	  .in = "a,c\n1,2\n",
	  .with = RIGHT,
	  .error = "missing_column",
	  .message = "no column 'c' here" },
};

static enum dtx_code intersect_bind(struct dtx_bind *b, void *args, struct dtx_err *err)
{
	return dtx_setop_bind(b, args, true, err);
}

static void intersect_explain(const void *args, struct dtx_buf *out)
{
	dtx_setop_explain(args, "is in", out);
}

static void intersect_dropped(const json_t *canonical, const char *with, struct dtx_buf *out)
{
	bool all = dtx_json_bool(canonical, "all", false);

	dtx_buf_printf(out, "intersect: '%.80s' has no row like it%s", with,
	               all ? "" : ", or a row above is the same");
}

const struct dtx_op dtx_op_intersect = {
	.name = "intersect",
	.ninputs = 2,
	.flags = DTX_OP_BUILD | DTX_OP_TAKES_SEL | DTX_OP_MAY_TRIGGER | DTX_OP_DX,
	.summary = "Keep rows that another table has too",
	.notes = "null equals null. Rows keep the order of the current table; repeats are dropped "
		 "unless all is true.",
	.facts = { .rows = DTX_ROWS_SEMI, .values = DTX_VALUES_KEPT, .decides = "cols" },
	.dropped = intersect_dropped,
	.params = dtx_setop_params,
	.nparams = DTX_COUNT(dtx_setop_params),
	.examples = intersect_examples,
	.nexamples = DTX_COUNT(intersect_examples),
	.args_size = sizeof(struct dtx_setop_args),
	.tables = dtx_setop_tables,
	.bind = intersect_bind,
	.map = &dtx_setop_map,
	.sink = &dtx_setop_sink,
	.explain = intersect_explain,
	.sql = dtx_setop_sql,
};
