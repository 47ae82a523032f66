/* reorder: moves columns to another place. */
#include "ops/kit/opkit.h"
#include "core/plan/compile/sqltext.h"

enum { TO_FIRST, TO_LAST, TO_BEFORE, TO_AFTER };
struct reorder_args {
	struct dtx_cols *cols;
	int to;
	const char *anchor;
};

#define AT(member) .offset = offsetof(struct reorder_args, member)
static const struct dtx_param reorder_params[] = {
	{ .name = "cols",
	  .kind = DTX_P_COLUMNS,
	  .required = true,
	  .nonempty = true,
	  AT(cols),
	  .aliases = "columns",
	  .help = "columns to move, in this order" },
	{ .name = "to",
	  .kind = DTX_P_CHOICE,
	  AT(to),
	  .choices = "first,last,before,after",
	  .def = "\"first\"",
	  .help = "where to" },
	{ .name = "anchor",
	  .kind = DTX_P_COLUMN,
	  AT(anchor),
	  .help = "the column before or after which they go" },
};
static const struct dtx_example reorder_examples[] = {
	{ .step = DTX_JSON({ "op" : "reorder", "cols" : [ "c", "b" ] }),
	  .in = "a,b,c\n1,2,3.50\n",
	  .out = "c,b,a\n3.50,2,1\n" },
	{ .step = DTX_JSON({ "op" : "relocate", "cols" : ["a"], "to" : "after", "anchor" : "b" }),
	  .in = "a,b,c\n1,2,3\n",
	  .out = "b,a,c\n2,1,3\n" },
	{ .step = DTX_JSON({ "op" : "move", "cols" : ["a"], "to" : "last" }),
	  .in = "a,b\n1,2\n",
	  .out = "b,a\n2,1\n" },
	{ .step = DTX_JSON({ "op" : "reorder", "cols" : ["a"], "to" : "before" }),
	  .in = "a,b\n1,2\n",
	  .error = "missing_param",
	  .message = "reorder to before or after needs anchor" },
};

static enum dtx_code reorder_check(const void *args, struct dtx_err *err)
{
	const struct reorder_args *a = args;
	bool wants = a->to == TO_BEFORE || a->to == TO_AFTER;
	enum dtx_code rc = DTX_OK;

	if (wants && !a->anchor)
		DTX_FAIL(err, DTX_E_MISSING_PARAM, "reorder to before or after needs anchor");
	if (!wants && a->anchor)
		DTX_FAIL(err, DTX_E_PARAM_CONFLICT, "reorder to first or last takes no anchor");
out:
	return rc;
}

static enum dtx_code pass_moved(struct dtx_bind *b, const int32_t *col, uint32_t n,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	for (uint32_t i = 0; i < n; i++)
		if (col[i] >= 0)
			DTX_TRY(dtx_bind_pass(b, 0, col[i], NULL, err));
out:
	return rc;
}

static enum dtx_code reorder_bind(struct dtx_bind *b, void *args, struct dtx_err *err)
{
	const struct reorder_args *a = args;
	struct dtx_colmap *map = dtx_bind_state(b, sizeof(*map));
	enum dtx_code rc = DTX_OK;
	int32_t *place;
	int32_t *col, anchor = -1;
	uint32_t n;

	if (!map)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_bind_cols(b, 0, a->cols, "/cols", &col, &n, err));
	if (a->anchor)
		DTX_TRY(dtx_bind_column(b, 0, a->anchor, "/anchor", &anchor, err));
	if (anchor >= 0 && dtx_cols_find(col, n, anchor) >= 0)
		DTX_TRY(dtx_bind_fail(b, DTX_E_BAD_PARAM_VALUE, "/anchor", err,
		                      "anchor '%s' is one of the columns that move", a->anchor));
	place = dtx_cols_places(b->arena, col, n, b->in[0]->nfields);
	if (!place)
		DTX_FAIL_MEM(err);
	if (a->to == TO_FIRST)
		DTX_TRY(pass_moved(b, col, n, err));
	for (int32_t i = 0; i < (int32_t)b->in[0]->nfields; i++) {
		if (i == anchor && a->to == TO_BEFORE)
			DTX_TRY(pass_moved(b, col, n, err));
		if (place[i] < 0)
			DTX_TRY(dtx_bind_pass(b, 0, i, NULL, err));
		if (i == anchor && a->to == TO_AFTER)
			DTX_TRY(pass_moved(b, col, n, err));
	}
	if (a->to == TO_LAST)
		DTX_TRY(pass_moved(b, col, n, err));
	DTX_TRY(dtx_colmap_bind(b, 0, map, err));
out:
	return rc;
}

static void reorder_explain(const void *args, struct dtx_buf *out)
{
	static const char *const to[] = { "to the front", "to the end", "before", "after" };
	const struct reorder_args *a = args;

	dtx_buf_add(out, "move ");
	dtx_cols_print(a->cols, out);
	dtx_buf_printf(out, " %s", to[a->to]);
	if (a->anchor)
		dtx_buf_printf(out, " %s", a->anchor);
}

static bool reorder_pandas(const void *args, struct dtx_buf *out)
{
	static const char *const form[] = {
		"(lambda d, m: d[m + [c for c in d.columns if c not in m]])(df0, ",
		"(lambda d, m: d[[c for c in d.columns if c not in m] + m])(df0, ",
		"(lambda d, m, a: d[[x for c in d.columns for x in (m + [c] if c == a else [] if c "
		"in "
		"m else [c])]])(df0, ",
		"(lambda d, m, a: d[[x for c in d.columns for x in ([c] + m if c == a else [] if c "
		"in "
		"m else [c])]])(df0, ",
	};
	const struct reorder_args *a = args;
	bool ok;

	dtx_buf_add(out, form[a->to]);
	ok = dtx_cols_pandas(a->cols, out);
	if (a->anchor) {
		dtx_buf_add(out, ", ");
		dtx_py_text(out, a->anchor);
	}
	dtx_buf_add(out, ")");
	return ok;
}

const struct dtx_op dtx_op_reorder = {
	.name = "reorder",
	.aliases = "relocate,move",
	.ninputs = 1,
	.flags = DTX_OP_TAKES_SEL | DTX_OP_MAY_TRIGGER | DTX_OP_SAME_ROWS,
	.summary = "Move columns to another place",
	.notes = "The other columns keep their order. Cells are written back byte for byte.",
	.facts = { .rows = DTX_ROWS_SAME, .values = DTX_VALUES_KEPT },
	.params = reorder_params,
	.nparams = DTX_COUNT(reorder_params),
	.examples = reorder_examples,
	.nexamples = DTX_COUNT(reorder_examples),
	.args_size = sizeof(struct reorder_args),
	.check = reorder_check,
	.bind = reorder_bind,
	.map = &dtx_colmap_move,
	.explain = reorder_explain,
	.sql = dtx_sql_project,
	.pandas = reorder_pandas,
};
