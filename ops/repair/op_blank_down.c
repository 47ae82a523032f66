/* blank_down: makes a value null where it equals the one above. */
#include "ops/group/table/groupkeys.h"
#include "ops/kit/relayout.h"

struct blank_args {
	struct dtx_cols *cols;
};
struct blank_state {
	int32_t *col;
	uint32_t n;
	struct dtx_groupkeys *key; /* per column, to compare values */
};

static const struct dtx_param blank_params[] = {
	{ .name = "cols",
	  .kind = DTX_P_COLUMNS,
	  .required = true,
	  .nonempty = true,
	  .offset = offsetof(struct blank_args, cols),
	  .aliases = "columns",
	  .help = "columns to blank" },
};
static const struct dtx_example blank_examples[] = {
	{ .step = DTX_JSON({ "op" : "blank_down", "cols" : ["k"] }),
	  .in = "k,v\nx,1\nx,1\n,2\ny,2\ny,2\nx,3\n",
	  .out = "k,v\nx,1\n,1\n,2\ny,2\n,2\nx,3\n" },
	{ .step = DTX_JSON({ "op" : "blank_down", "cols" : [ "a", "b" ] }),
	  .in = "a,b\n1.50,x\n1.5,x\n2,x\n",
	  .out = "a,b\n1.50,x\n,\n2,\n" },
};

static enum dtx_code blank_bind(struct dtx_bind *b, void *args, struct dtx_err *err)
{
	const struct blank_args *a = args;
	struct blank_state *s = dtx_bind_state(b, sizeof(*s));
	enum dtx_code rc = DTX_OK;

	if (!s)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_bind_cols(b, 0, a->cols, "/cols", &s->col, &s->n, err));
	DTX_TRY(dtx_groupkeys_each(b, 0, s->col, s->n, &s->key, err));
	DTX_TRY(dtx_bind_keep_all(b, 0, err));
	DTX_TRY(dtx_bind_alter_some(b, s->col, s->n, err));
	DTX_TRY(dtx_raw_bind(b, err));
out:
	return rc;
}

/* Compares values by the ids of their groups: equal ids are equal values. */
static enum dtx_code blank_column(struct dtx_relayout *m, const struct dtx_groupkeys *key,
                                  uint32_t c, uint32_t *id, int64_t *blanked, struct dtx_err *err)
{
	const struct dtx_table *t = m->raw.table;
	enum dtx_code rc = DTX_OK;
	struct dtx_groups *g = NULL;

	DTX_TRY(dtx_groupkeys_groups(key, &g, err));
	for (size_t i = 0; i < t->nbatches; i++)
		DTX_TRY(dtx_groupkeys_ids(key, g, t->batch[i], id + m->raw.start[i], err));
	DTX_TRY(dtx_relayout_cells(m, c, err));
	for (int64_t r = 0; r < m->nrows; r++) {
		if (!r || id[r] != id[r - 1])
			m->out[c].cell[r] = (struct dtx_from){ r, (int32_t)c };
		else
			(*blanked)++;
	}
out:
	dtx_groups_free(g);
	return rc;
}

static enum dtx_code blank_lay(struct dtx_relayout *m, struct dtx_err *err)
{
	const struct blank_state *s = m->ox->bound;
	enum dtx_code rc = DTX_OK;
	int64_t blanked = 0;
	uint32_t *id = dtx_mem_alloc((size_t)m->raw.table->nrows + 1, sizeof(*id));

	if (!id)
		DTX_FAIL_MEM(err);
	m->pairs = true;
	DTX_TRY(dtx_relayout_same(m, m->raw.table->nrows, err));
	for (uint32_t i = 0; i < s->n; i++)
		DTX_TRY(blank_column(m, &s->key[i], (uint32_t)s->col[i], id, &blanked, err));
	dtx_relayout_count(m, "repeated", blanked);
out:
	dtx_mem_free(id);
	return rc;
}

static enum dtx_code blank_schema(const struct dtx_opctx *ox, struct dtx_table *t,
                                  struct dtx_arena *arena, const struct dtx_schema **out,
                                  struct dtx_err *err)
{
	return dtx_relayout_schema(ox, t, arena, out, blank_lay, err);
}

static enum dtx_code blank_whole(const struct dtx_opctx *ox, struct dtx_table *t,
                                 struct dtx_emit *out, struct dtx_err *err)
{
	return dtx_relayout_whole(ox, t, out, blank_lay, err);
}

static void blank_explain(const void *args, struct dtx_buf *out)
{
	dtx_buf_add(out, "blank values of ");
	dtx_cols_print(((const struct blank_args *)args)->cols, out);
	dtx_buf_add(out, " that are equal to the one above");
}

const struct dtx_op dtx_op_blank_down = {
	.name = "blank_down",
	.ninputs = 1,
	.flags = DTX_OP_OPEN | DTX_OP_RAW | DTX_OP_RETYPES | DTX_OP_MAY_TRIGGER | DTX_OP_DX,
	.summary = "Blank values that repeat the one above",
	.notes = "Values are compared, not the way they are written: 1.50 equals 1.5. The "
		 "inverse of fill. Column types are found again.",
	.facts = { .rows = DTX_ROWS_SAME,
	           .values = DTX_VALUES_CHANGED,
	           .borrows = true,
	           .cells = true },
	.params = blank_params,
	.nparams = DTX_COUNT(blank_params),
	.examples = blank_examples,
	.nexamples = DTX_COUNT(blank_examples),
	.args_size = sizeof(struct blank_args),
	.bind = blank_bind,
	.whole = blank_whole,
	.whole_schema = blank_schema,
	.explain = blank_explain,
};
