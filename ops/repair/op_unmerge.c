/* unmerge: every cell of a merged range takes the value of the range's first cell. */
#include "ops/kit/relayout.h"

enum { AXIS_BOTH, AXIS_ROWS, AXIS_COLS };
struct unmerge_args {
	struct dtx_cols *cols;
	int axis;
};
struct unmerge_state {
	int32_t *col;
	uint32_t n;
};

static const struct dtx_param unmerge_params[] = {
	{ .name = "cols",
	  .kind = DTX_P_COLUMNS,
	  .offset = offsetof(struct unmerge_args, cols),
	  .aliases = "columns",
	  .help = "columns to fill (default: all)" },
	{ .name = "axis",
	  .kind = DTX_P_CHOICE,
	  .offset = offsetof(struct unmerge_args, axis),
	  .choices = "both,rows,cols",
	  .def = "\"both\"",
	  .help = "rows: only down, within a column; cols: only along a row" },
};
static const struct dtx_example unmerge_examples[] = {
	{ .step = DTX_JSON({ "op" : "unmerge" }), .in = "a,b\nx,\n,1\n", .out = "a,b\nx,\n,1\n" },
	{ .step = DTX_JSON({ "op" : "unmerge", "cols" : ["a"], "axis" : "rows" }),
	  .in = "a,b\n1.50,\n",
	  .out = "a,b\n1.50,\n" },
	{ .step = DTX_JSON({ "op" : "unmerge", "cols" : ["z"] }),
	  .in = "a\n1\n",
	  .error = "missing_column",
	  .message = "no column 'z' here" },
};

static enum dtx_code unmerge_bind(struct dtx_bind *b, void *args, struct dtx_err *err)
{
	const struct unmerge_args *a = args;
	struct unmerge_state *s = dtx_bind_state(b, sizeof(*s));
	enum dtx_code rc = DTX_OK;

	if (!s)
		DTX_FAIL_MEM(err);
	if (a->cols)
		DTX_TRY(dtx_bind_cols(b, 0, a->cols, "/cols", &s->col, &s->n, err));
	DTX_TRY(dtx_bind_keep_all(b, 0, err));
	DTX_TRY(dtx_raw_bind(b, err));
out:
	return rc;
}

/* Updates left[r], the column where the merged cells start that row r has at column c, from its
 * value for the column before. Walking back from each cell would be quadratic, and a range may
 * cover a whole sheet. */
static void note_left(struct dtx_relayout *m, uint32_t c, uint32_t *left)
{
	for (int64_t r = 0; r < m->nrows; r++)
		if (!(dtx_raw_merge(&m->raw, r, c) & DTX_CELL_MERGE_LEFT))
			left[r] = c;
}

/* Fills column c. A cell stays as it is if the axis does not lead to the first cell of its
 * range. */
static enum dtx_code fill_column(struct dtx_relayout *m, uint32_t c, int axis, const uint32_t *left,
                                 struct dtx_err *err)
{
	static const uint8_t along[] = { DTX_CELL_MERGE_UP | DTX_CELL_MERGE_LEFT, DTX_CELL_MERGE_UP,
		                         DTX_CELL_MERGE_LEFT };
	enum dtx_code rc = DTX_OK;
	int64_t row = 0;
	uint32_t col;

	DTX_TRY(dtx_relayout_cells(m, c, err));
	for (int64_t r = 0; r < m->nrows; r++) {
		/* a cell merged with the one above starts where that one does */
		if (!(dtx_raw_merge(&m->raw, r, c) & along[axis] & DTX_CELL_MERGE_UP))
			row = r;
		col = dtx_raw_merge(&m->raw, row, c) & along[axis] & DTX_CELL_MERGE_LEFT ? left[row]
		                                                                         : c;
		m->out[c].cell[r] = dtx_raw_merge(&m->raw, row, col)
		                            ? (struct dtx_from){ r, (int32_t)c }
		                            : (struct dtx_from){ row, (int32_t)col };
	}
out:
	return rc;
}

static enum dtx_code unmerge_lay(struct dtx_relayout *m, struct dtx_err *err)
{
	const struct unmerge_args *a = m->ox->args;
	const struct unmerge_state *s = m->ox->bound;
	enum dtx_code rc = DTX_OK;
	uint32_t *left = NULL;
	bool *fill = NULL;

	DTX_TRY(dtx_relayout_same(m, m->raw.table->nrows, err));
	if (!dtx_raw_is_sheet(&m->raw))
		goto out;
	left = dtx_mem_zalloc((size_t)m->nrows + 1, sizeof(*left));
	fill = dtx_mem_zalloc((size_t)m->ncols + 1, sizeof(*fill));
	if (!left || !fill)
		DTX_FAIL_MEM(err);
	for (uint32_t i = 0; i < (a->cols ? s->n : m->ncols); i++)
		fill[a->cols ? (uint32_t)s->col[i] : i] = true;
	for (uint32_t c = 0; c < m->ncols; c++) {
		note_left(m, c, left);
		if (fill[c])
			DTX_TRY(fill_column(m, c, a->axis, left, err));
	}
out:
	dtx_mem_free(left);
	dtx_mem_free(fill);
	return rc;
}

static enum dtx_code unmerge_schema(const struct dtx_opctx *ox, struct dtx_table *t,
                                    struct dtx_arena *arena, const struct dtx_schema **out,
                                    struct dtx_err *err)
{
	return dtx_relayout_schema(ox, t, arena, out, unmerge_lay, err);
}

static enum dtx_code unmerge_whole(const struct dtx_opctx *ox, struct dtx_table *t,
                                   struct dtx_emit *out, struct dtx_err *err)
{
	return dtx_relayout_whole(ox, t, out, unmerge_lay, err);
}

static void unmerge_explain(const void *args, struct dtx_buf *out)
{
	const struct unmerge_args *a = args;
	static const char *const where[] = { "", " down the rows", " along the rows" };

	dtx_buf_printf(out, "give merged cells the value of the first one%s", where[a->axis]);
	if (a->cols) {
		dtx_buf_add(out, " in ");
		dtx_cols_print(a->cols, out);
	}
}

/* A pandas table has no merged cells; a snippet, however, is given them with the raw cells. */
static bool unmerge_pandas(const void *args, struct dtx_buf *out)
{
	const struct unmerge_args *a = args;

	dtx_buf_add(out, "dx.unmerge(df0, params.get(\"raw\")");
	if (a->cols) {
		dtx_buf_add(out, ", cols=");
		if (!dtx_cols_pandas(a->cols, out))
			return false;
	}
	dtx_buf_addc(out, ')');
	return true;
}

/* Down the rows, values stay in their column. */
static void unmerge_facts(const json_t *canonical, struct dtx_op_facts *facts)
{
	bool rows = !strcmp(dtx_json_text(canonical, "axis", "both"), "rows");

	facts->values = rows ? DTX_VALUES_CHANGED : DTX_VALUES_ANY;
}

const struct dtx_op dtx_op_unmerge = {
	.name = "unmerge",
	.ninputs = 1,
	.flags = DTX_OP_OPEN | DTX_OP_RAW | DTX_OP_RETYPES | DTX_OP_MAY_TRIGGER,
	.summary = "Give all cells of a merged range its value",
	.notes = "Text files have no merged ranges. Column types are found again.",
	.facts = { .rows = DTX_ROWS_SAME,
	           .values = DTX_VALUES_CHANGED,
	           .as_read = true,
	           .borrows = true,
	           .cells = true },
	.facts_of = unmerge_facts,
	.params = unmerge_params,
	.nparams = DTX_COUNT(unmerge_params),
	.examples = unmerge_examples,
	.nexamples = DTX_COUNT(unmerge_examples),
	.args_size = sizeof(struct unmerge_args),
	.bind = unmerge_bind,
	.whole = unmerge_whole,
	.whole_schema = unmerge_schema,
	.explain = unmerge_explain,
	.pandas = unmerge_pandas,
};
