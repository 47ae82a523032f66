/* select: the listed columns, in the listed order. */
#include "ops/kit/opkit.h"
#include "core/plan/compile/sqltext.h"

struct select_args {
	struct dtx_cols *cols;
};

static const struct dtx_param select_params[] = {
	{ .name = "cols",
	  .kind = DTX_P_COLUMNS,
	  .required = true,
	  .nonempty = true,
	  .offset = offsetof(struct select_args, cols),
	  .aliases = "columns,fields,names",
	  .help = "columns to keep, in this order" },
};
static const struct dtx_example select_examples[] = {
	{ .step = DTX_JSON({ "op" : "select", "cols" : [ "c", "a" ] }),
	  .in = "a,b,c\n1,2,3.50\n,x,\n",
	  .out = "c,a\n3.50,1\n,\n" },
	{ .step = DTX_JSON({ "op" : "keep", "columns" : ["b..d"] }),
	  .in = "a,b,c,d\n1,2,3,4\n",
	  .out = "b,c,d\n2,3,4\n" },
	{ .step = DTX_JSON({ "op" : "select", "cols" : [ { "not" : ["b"] } ] }),
	  .in = "a,b,c\n1,2,3\n",
	  .out = "a,c\n1,3\n" },
	{ .step = DTX_JSON({ "op" : "select", "cols" : ["z"] }),
	  .in = "a\n1\n",
	  .error = "missing_column",
	  .message = "no column 'z' here" },
};

static enum dtx_code select_bind(struct dtx_bind *b, void *args, struct dtx_err *err)
{
	const struct select_args *a = args;
	enum dtx_code rc = DTX_OK;
	struct dtx_colmap *map = dtx_bind_state(b, sizeof(*map));
	int32_t *col;
	uint32_t n;

	if (!map)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_bind_cols(b, 0, a->cols, "/cols", &col, &n, err));
	for (uint32_t i = 0; i < n; i++)
		if (col[i] >= 0)
			DTX_TRY(dtx_bind_pass(b, 0, col[i], NULL, err));
	if (dtx_cols_static(a->cols, b->in[0]))
		dtx_bind_close(b);
	DTX_TRY(dtx_colmap_bind(b, 0, map, err));
out:
	return rc;
}

static void select_explain(const void *args, struct dtx_buf *out)
{
	dtx_buf_add(out, "keep columns ");
	dtx_cols_print(((const struct select_args *)args)->cols, out);
}

static bool select_pandas(const void *args, struct dtx_buf *out)
{
	bool ok;

	dtx_buf_add(out, "df0[");
	ok = dtx_cols_pandas(((const struct select_args *)args)->cols, out);
	dtx_buf_add(out, "]");
	return ok;
}

const struct dtx_op dtx_op_select = {
	.name = "select",
	.aliases = "keep,columns",
	.ninputs = 1,
	.flags = DTX_OP_TAKES_SEL | DTX_OP_MAY_TRIGGER | DTX_OP_SAME_ROWS | DTX_OP_DX,
	.summary = "Keep the listed columns, in the listed order",
	.notes = "Cells are only moved: they are written back byte for byte.",
	.facts = { .rows = DTX_ROWS_SAME, .values = DTX_VALUES_LISTED },
	.params = select_params,
	.nparams = DTX_COUNT(select_params),
	.examples = select_examples,
	.nexamples = DTX_COUNT(select_examples),
	.args_size = sizeof(struct select_args),
	.bind = select_bind,
	.map = &dtx_colmap_move,
	.explain = select_explain,
	.sql = dtx_sql_project,
	.pandas = select_pandas,
};
