/* unstack_blocks: every `every` rows become one row. */
#include "ops/kit/relayout.h"

struct blocks_args {
	int64_t every;
};

static const struct dtx_param blocks_params[] = {
	{ .name = "every",
	  .kind = DTX_P_INT,
	  .required = true,
	  .offset = offsetof(struct blocks_args, every),
	  .min = 1,
	  .max = INT32_MAX,
	  .aliases = "n,count",
	  .help = "number of rows in a block" },
};
static const struct dtx_example blocks_examples[] = {
	{ .step = DTX_JSON({ "op" : "unstack_blocks", "every" : 3 }),
	  .in = "c\nAnn\n31\nRome\nBob\n7\n",
	  .out = "c_1,c_2,c_3\nAnn,31,Rome\nBob,7,\n" },
	{ .step = DTX_JSON({ "op" : "wrap_rows", "every" : 2 }),
	  .in = "a,b\n1,x\n2.50,y\n3,z\n",
	  .out = "a_1,b_1,a_2,b_2\n1,x,2.50,y\n3,z,,\n" },
};

static enum dtx_code blocks_bind(struct dtx_bind *b, void *args, struct dtx_err *err)
{
	(void)args;
	return dtx_raw_bind(b, err);
}

static enum dtx_code block_column(struct dtx_relayout *m, uint32_t k, uint32_t c, int64_t every,
                                  struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t to = k * m->raw.ncols + c;
	const char *name = m->raw.table->schema->field[c].name;

	m->out[to].name = dtx_arena_printf(&m->arena, "%s_%u", name, k + 1);
	if (!m->out[to].name)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_relayout_cells(m, to, err));
	for (int64_t r = 0; r < m->nrows; r++)
		if (r * every + k < m->raw.table->nrows)
			m->out[to].cell[r] = (struct dtx_from){ r * every + k, (int32_t)c };
out:
	return rc;
}

static enum dtx_code blocks_lay(struct dtx_relayout *m, struct dtx_err *err)
{
	const struct blocks_args *a = m->ox->args;
	int64_t all = m->raw.table->nrows, cols = a->every * m->raw.ncols;
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_relayout_size(m, all / a->every + (all % a->every != 0),
	                          (uint32_t)DTX_MIN(cols, (int64_t)UINT32_MAX - 1), err));
	DTX_TRY(dtx_relayout_rows(m, err));
	for (int64_t r = 0; r < m->nrows; r++)
		m->row[r] = r * a->every;
	for (uint32_t k = 0; k < (uint32_t)a->every; k++)
		for (uint32_t c = 0; c < m->raw.ncols; c++)
			DTX_TRY(block_column(m, k, c, a->every, err));
	DTX_TRY(dtx_relayout_tidy(m, err));
out:
	return rc;
}

static enum dtx_code blocks_schema(const struct dtx_opctx *ox, struct dtx_table *t,
                                   struct dtx_arena *arena, const struct dtx_schema **out,
                                   struct dtx_err *err)
{
	return dtx_relayout_schema(ox, t, arena, out, blocks_lay, err);
}

static enum dtx_code blocks_whole(const struct dtx_opctx *ox, struct dtx_table *t,
                                  struct dtx_emit *out, struct dtx_err *err)
{
	return dtx_relayout_whole(ox, t, out, blocks_lay, err);
}

static void blocks_explain(const void *args, struct dtx_buf *out)
{
	dtx_buf_printf(out, "make one row of every %lld",
	               (long long)((const struct blocks_args *)args)->every);
}

const struct dtx_op dtx_op_unstack_blocks = {
	.name = "unstack_blocks",
	.aliases = "wrap_rows",
	.ninputs = 1,
	.flags = DTX_OP_OPEN | DTX_OP_RAW | DTX_OP_MAY_TRIGGER | DTX_OP_DX,
	.summary = "Turn each block of rows into one row",
	.notes = "Columns are named by their old name and the row in the block: a_1, b_1, a_2, "
		 "b_2. Cells that a short last block lacks are null. Column types are found "
		 "again.",
	.facts = { .cells = true },
	.params = blocks_params,
	.nparams = DTX_COUNT(blocks_params),
	.examples = blocks_examples,
	.nexamples = DTX_COUNT(blocks_examples),
	.args_size = sizeof(struct blocks_args),
	.bind = blocks_bind,
	.whole = blocks_whole,
	.whole_schema = blocks_schema,
	.explain = blocks_explain,
};
