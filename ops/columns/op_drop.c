/* drop: all columns except the listed ones. */
#include "ops/kit/opkit.h"
#include "core/plan/compile/pytext.h"
#include "core/plan/compile/sqltext.h"

enum { MISSING_ERROR, MISSING_IGNORE };
struct drop_args {
	struct dtx_cols *cols;
	int missing;
};

static const struct dtx_param drop_params[] = {
	{ .name = "cols",
	  .kind = DTX_P_COLUMNS,
	  .required = true,
	  .nonempty = true,
	  .offset = offsetof(struct drop_args, cols),
	  .aliases = "columns,column,col,fields",
	  .help = "columns to leave out" },
	{ .name = "missing",
	  .kind = DTX_P_CHOICE,
	  .offset = offsetof(struct drop_args, missing),
	  .choices = "error,ignore",
	  .def = "\"error\"",
	  .help = "what to do if a listed column does not exist" },
};
static const struct dtx_example drop_examples[] = {
	{ .step = DTX_JSON({ "op" : "drop", "cols" : ["b"] }),
	  .in = "a,b,c\n1,2,3\n\"x\",,0.50\n",
	  .out = "a,c\n1,3\n\"x\",0.50\n" },
	{ .step = DTX_JSON({ "op" : "remove", "columns" : [ "b", "z" ], "missing" : "ignore" }),
	  .in = "a,b\n1,2\n",
	  .out = "a\n1\n" },
	{ .step = DTX_JSON(
		  { "op" : "drop", "cols" : [ { "regex" : "^z" } ], "missing" : "ignore" }),
	  .in = "a,b\n1,2\n",
	  .out = "a,b\n1,2\n" },
	{ .step = DTX_JSON({ "op" : "drop", "cols" : ["*"] }),
	  .in = "a,b\n1,2\n",
	  .error = "bad_param_value",
	  .message = "this drops every column" },
};

/* Whether a listed name exists. Other kinds of items always count. */
static bool item_exists(const struct dtx_bind *b, const struct dtx_col_item *item)
{
	return item->kind != DTX_COL_NAME || dtx_schema_find(b->in[0], item->a) >= 0;
}

static enum dtx_code drop_present(struct dtx_bind *b, const struct dtx_cols *all,
                                  struct dtx_cols *some, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	some->n = 0;
	some->item = dtx_arena_alloc(b->arena, all->n + 1, sizeof(*some->item));
	if (!some->item)
		DTX_FAIL_MEM(err);
	for (size_t i = 0; i < all->n; i++)
		if (item_exists(b, &all->item[i]))
			some->item[some->n++] = all->item[i];
out:
	return rc;
}

static enum dtx_code drop_keep(struct dtx_bind *b, const int32_t *col, uint32_t n,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t fields = b->in[0]->nfields;
	bool *gone = dtx_arena_zalloc(b->arena, fields + 1, sizeof(*gone));

	if (!gone)
		DTX_FAIL_MEM(err);
	for (uint32_t i = 0; i < n; i++)
		if (col[i] >= 0)
			gone[col[i]] = true;
	for (uint32_t i = 0; i < fields; i++)
		if (!gone[i])
			DTX_TRY(dtx_bind_pass(b, 0, (int32_t)i, NULL, err));
	if (b->ncols == 0 && (b->typed || !b->in[0]->open))
		DTX_TRY(dtx_bind_fail(b, DTX_E_BAD_PARAM_VALUE, "/cols", err,
		                      "this drops every column"));
out:
	return rc;
}

static enum dtx_code drop_bind(struct dtx_bind *b, void *args, struct dtx_err *err)
{
	const struct drop_args *a = args;
	enum dtx_code rc = DTX_OK;
	struct dtx_colmap *map = dtx_bind_state(b, sizeof(*map));
	struct dtx_cols some = *a->cols;
	int32_t *col = NULL;
	uint32_t n = 0;

	if (!map)
		DTX_FAIL_MEM(err);
	if (a->missing == MISSING_IGNORE)
		DTX_TRY(drop_present(b, a->cols, &some, err));
	if (a->missing == MISSING_IGNORE)
		DTX_TRY(dtx_bind_cols_any(b, 0, &some, "/cols", &col, &n, err));
	else
		DTX_TRY(dtx_bind_cols(b, 0, &some, "/cols", &col, &n, err));
	DTX_TRY(drop_keep(b, col, n, err));
	DTX_TRY(dtx_colmap_bind(b, 0, map, err));
out:
	return rc;
}

static void drop_explain(const void *args, struct dtx_buf *out)
{
	dtx_buf_add(out, "drop columns ");
	dtx_cols_print(((const struct drop_args *)args)->cols, out);
}

/* Writes a selector that may match no column. */
static void drop_pandas_any(const struct drop_args *a, struct dtx_buf *out)
{
	json_t *json = dtx_cols_json(a->cols);

	dtx_buf_add(out, "dx.drop(df0, cols=dx.cols(df0, ");
	dtx_py_value(out, json);
	dtx_buf_add(out, ", missing=\"ignore\"), missing=\"ignore\")");
	json_decref(json);
}

static bool drop_pandas(const void *args, struct dtx_buf *out)
{
	const struct drop_args *a = args;
	bool ignore = a->missing == MISSING_IGNORE;
	struct dtx_buf names = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	bool plain = dtx_cols_pandas(a->cols, &names);

	if (plain)
		dtx_buf_printf(out, "df0.drop(columns=%s%s)", dtx_buf_text(&names),
		               ignore ? ", errors=\"ignore\"" : "");
	else if (ignore)
		drop_pandas_any(a, out);
	dtx_buf_clear(&names);
	return plain || ignore;
}

const struct dtx_op dtx_op_drop = {
	.name = "drop",
	.aliases = "drop_columns,remove",
	.ninputs = 1,
	.flags = DTX_OP_TAKES_SEL | DTX_OP_MAY_TRIGGER | DTX_OP_SAME_ROWS | DTX_OP_DX,
	.summary = "Leave out the listed columns",
	.notes = "The other columns keep their order. Dropping all columns is an error.",
	.facts = { .rows = DTX_ROWS_SAME, .values = DTX_VALUES_UNLISTED },
	.params = drop_params,
	.nparams = DTX_COUNT(drop_params),
	.examples = drop_examples,
	.nexamples = DTX_COUNT(drop_examples),
	.args_size = sizeof(struct drop_args),
	.bind = drop_bind,
	.map = &dtx_colmap_move,
	.explain = drop_explain,
	.sql = dtx_sql_project,
	.pandas = drop_pandas,
};
