/* demote_header: the names become the first row. */
#include "ops/kit/relayout.h"

static const struct dtx_example demote_examples[] = {
	{ .step = DTX_JSON({ "op" : "demote_header" }),
	  .in = "Ann,hours\nBob,7.50\n",
	  .out = "column_1,column_2\nAnn,hours\nBob,7.50\n" },
	{ .step = DTX_JSON({ "op" : "names_to_row" }),
	  .in = "a,\"b,c\"\n",
	  .out = "column_1,column_2\na,\"b,c\"\n" },
};

static enum dtx_code demote_bind(struct dtx_bind *b, void *args, struct dtx_err *err)
{
	(void)args;
	return dtx_raw_bind(b, err);
}

static enum dtx_code demote_lay(struct dtx_relayout *m, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_relayout_size(m, m->raw.table->nrows + 1, m->raw.ncols, err));
	DTX_TRY(dtx_relayout_rows(m, err));
	for (int64_t r = 0; r < m->nrows; r++)
		m->row[r] = r - 1;
	for (uint32_t c = 0; c < m->ncols; c++) {
		DTX_TRY(dtx_relayout_cells(m, c, err));
		m->out[c].cell[0] =
			dtx_relayout_text(m, dtx_str_of(m->raw.table->schema->field[c].name));
		for (int64_t r = 1; r < m->nrows; r++)
			m->out[c].cell[r] = (struct dtx_from){ r - 1, (int32_t)c };
	}
	DTX_TRY(dtx_relayout_tidy(m, err));
out:
	return rc;
}

static enum dtx_code demote_schema(const struct dtx_opctx *ox, struct dtx_table *t,
                                   struct dtx_arena *arena, const struct dtx_schema **out,
                                   struct dtx_err *err)
{
	return dtx_relayout_schema(ox, t, arena, out, demote_lay, err);
}

static enum dtx_code demote_whole(const struct dtx_opctx *ox, struct dtx_table *t,
                                  struct dtx_emit *out, struct dtx_err *err)
{
	return dtx_relayout_whole(ox, t, out, demote_lay, err);
}

static void demote_explain(const void *args, struct dtx_buf *out)
{
	(void)args;
	dtx_buf_add(out, "make the column names the first row");
}

const struct dtx_op dtx_op_demote_header = {
	.name = "demote_header",
	.aliases = "names_to_row",
	.ninputs = 1,
	.flags = DTX_OP_OPEN | DTX_OP_RAW | DTX_OP_MAY_TRIGGER | DTX_OP_DX,
	.summary = "Make the column names the first row",
	.notes = "For a file without a header whose first row was taken for one. Columns are "
		 "called column_1, column_2; their types are found again.",
	.facts = { .cells = true },
	.examples = demote_examples,
	.nexamples = DTX_COUNT(demote_examples),
	.args_size = 1,
	.bind = demote_bind,
	.whole = demote_whole,
	.whole_schema = demote_schema,
	.explain = demote_explain,
};
