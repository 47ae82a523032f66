/* transpose: rows become columns. */
#include "ops/kit/relayout.h"

struct transpose_args {
	bool header;
	const char *names_to;
};

static const struct dtx_param transpose_params[] = {
	{ .name = "header",
	  .kind = DTX_P_BOOL,
	  .offset = offsetof(struct transpose_args, header),
	  .def = "true",
	  .help = "the first column gives the new names, the old names become the first column" },
	{ .name = "names_to",
	  .kind = DTX_P_TEXT,
	  .offset = offsetof(struct transpose_args, names_to),
	  .aliases = "var_name,variable_name",
	  .def = "\"column\"",
	  .help = "name of the column of old names" },
};
static const struct dtx_example transpose_examples[] = {
	{ .step = DTX_JSON({ "op" : "transpose" }),
	  .in = "k,Jan,Feb\nhours,1.50,2\ncost,x,\n",
	  .out = "column,hours,cost\nJan,1.50,x\nFeb,2,\n" },
	{ .step = DTX_JSON({ "op" : "t", "names_to" : "month" }),
	  .in = "k,Jan\n,1\na b,2\na b,3\n",
	  .out = "month,column_2,a b,a b_2\nJan,1,2,3\n" },
	{ .step = DTX_JSON({ "op" : "flip", "header" : false }),
	  .in = "a,b\n1,x\n2,\n",
	  .out = "column_1,column_2\n1,2\nx,\n" },
	{ .step = DTX_JSON({ "op" : "transpose", "header" : false, "names_to" : "x" }),
	  .in = "a\n1\n",
	  .error = "param_conflict",
	  .message = "transpose: with header false no names are used, so names_to has no effect" },
	{ .step = DTX_JSON({ "op" : "transpose" }), .in = "k,a,b\n", .out = "column\na\nb\n" },
};

static enum dtx_code transpose_check(const void *args, struct dtx_err *err)
{
	const struct transpose_args *a = args;
	enum dtx_code rc = DTX_OK;

	if (!a->header && strcmp(a->names_to, "column") != 0)
		DTX_PARAM_FAIL(err, DTX_E_PARAM_CONFLICT, "/names_to",
		               "transpose: with header false no names are used, so names_to has no "
		               "effect");
out:
	return rc;
}

/* The new names come from the rows, so the result's columns are not known when binding. */
static enum dtx_code transpose_bind(struct dtx_bind *b, void *args, struct dtx_err *err)
{
	(void)args;
	return dtx_raw_bind(b, err);
}

/* Makes column `to` of the result from row `row`, starting at input column `first`. */
static enum dtx_code row_to_column(struct dtx_relayout *m, uint32_t to, int64_t row, uint32_t first,
                                   struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_relayout_cells(m, to, err));
	for (uint32_t c = first; c < m->raw.ncols; c++)
		m->out[to].cell[c - first] = (struct dtx_from){ row, (int32_t)c };
out:
	return rc;
}

static enum dtx_code lay_plain(struct dtx_relayout *m, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int64_t rows = m->raw.table->nrows;

	/* without rows the result is empty: rows without columns would be lines without cells */
	DTX_TRY(dtx_relayout_size(m, rows ? m->raw.ncols : 0,
	                          (uint32_t)DTX_MIN(rows, (int64_t)UINT32_MAX - 1), err));
	for (uint32_t c = 0; c < m->ncols; c++)
		DTX_TRY(row_to_column(m, c, c, 0, err));
out:
	return rc;
}

static enum dtx_code lay_named(struct dtx_relayout *m, const char *names_to, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_buf scratch = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	int64_t rows = m->raw.table->nrows;
	uint32_t n = m->raw.ncols ? m->raw.ncols - 1 : 0;

	DTX_TRY(dtx_relayout_size(m, n, (uint32_t)DTX_MIN(rows + 1, (int64_t)UINT32_MAX - 1), err));
	m->out[0].name = names_to;
	DTX_TRY(dtx_relayout_cells(m, 0, err));
	for (uint32_t c = 0; c < n; c++)
		m->out[0].cell[c] =
			dtx_relayout_text(m, dtx_str_of(m->raw.table->schema->field[c + 1].name));
	for (uint32_t c = 1; c < m->ncols; c++) {
		dtx_buf_reset(&scratch);
		if (m->raw.ncols)
			DTX_TRY(dtx_relayout_name(m, dtx_raw_text(&m->raw, c - 1, 0, &scratch),
			                          &m->out[c].name, err));
		DTX_TRY(row_to_column(m, c, c - 1, 1, err));
	}
out:
	dtx_buf_clear(&scratch);
	return rc;
}

static enum dtx_code transpose_lay(struct dtx_relayout *m, struct dtx_err *err)
{
	const struct transpose_args *a = m->ox->args;
	enum dtx_code rc = DTX_OK;

	DTX_TRY(a->header ? lay_named(m, a->names_to, err) : lay_plain(m, err));
	DTX_TRY(dtx_relayout_rows(m, err));
	for (int64_t r = 0; r < m->nrows; r++)
		m->row[r] = -1;
	DTX_TRY(dtx_relayout_tidy(m, err));
out:
	return rc;
}

static enum dtx_code transpose_schema(const struct dtx_opctx *ox, struct dtx_table *t,
                                      struct dtx_arena *arena, const struct dtx_schema **out,
                                      struct dtx_err *err)
{
	return dtx_relayout_schema(ox, t, arena, out, transpose_lay, err);
}

static enum dtx_code transpose_whole(const struct dtx_opctx *ox, struct dtx_table *t,
                                     struct dtx_emit *out, struct dtx_err *err)
{
	return dtx_relayout_whole(ox, t, out, transpose_lay, err);
}

static void transpose_explain(const void *args, struct dtx_buf *out)
{
	const struct transpose_args *a = args;

	dtx_buf_add(out, "turn rows into columns");
	if (a->header)
		dtx_buf_printf(out, ", named by the first column; old names go to %s", a->names_to);
}

const struct dtx_op dtx_op_transpose = {
	.name = "transpose",
	.aliases = "t,flip",
	.ninputs = 1,
	.flags = DTX_OP_OPEN | DTX_OP_RAW | DTX_OP_MAY_TRIGGER | DTX_OP_DX,
	.summary = "Turn rows into columns",
	.notes =
		"The first column gives the new names, the old names become the first column; with "
		"header false no names are used. A blank name is column_N, repeated ones get _2. "
		"Column types are found again.",
	.facts = { .cells = true },
	.params = transpose_params,
	.nparams = DTX_COUNT(transpose_params),
	.examples = transpose_examples,
	.nexamples = DTX_COUNT(transpose_examples),
	.args_size = sizeof(struct transpose_args),
	.check = transpose_check,
	.bind = transpose_bind,
	.whole = transpose_whole,
	.whole_schema = transpose_schema,
	.explain = transpose_explain,
};
