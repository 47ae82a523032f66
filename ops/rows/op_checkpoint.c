/* checkpoint: records the row count and the hash of the table at this step. */
#include "core/data/tablehash.h"
#include "ops/kit/opkit.h"

struct checkpoint_args {
	const char *label;
};

static const struct dtx_param checkpoint_params[] = {
	{ .name = "label",
	  .kind = DTX_P_TEXT,
	  .required = true,
	  .offset = offsetof(struct checkpoint_args, label),
	  .aliases = "name",
	  .help = "name for this state of the table" },
};
static const struct dtx_example checkpoint_examples[] = {
	{ .step = DTX_JSON({ "op" : "checkpoint", "label" : "as delivered" }),
	  .in = "a,b\n1.50,x\n,y\n",
	  .out = "a,b\n1.50,x\n,y\n" },
	{ .step = DTX_JSON({ "op" : "checkpoint", "label" : "empty" }), .in = "a\n", .out = "a\n" },
	{ .step = DTX_JSON({ "op" : "checkpoint" }),
	  .in = "a\n1\n",
	  .error = "missing_param",
	  .message = "checkpoint: 'label' is missing: text" },
};

static enum dtx_code checkpoint_bind(struct dtx_bind *b, void *args, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	(void)args;
	DTX_TRY(dtx_bind_keep_all(b, 0, err));
	/* the hash covers every cell as it is written */
	for (uint32_t i = 0; i < b->in[0]->nfields; i++)
		DTX_TRY(dtx_bind_use(b, DTX_USE_ROWS, 0, (int32_t)i, DTX_DEMAND_BYTES, err));
	/* a whole-table op, because a later limit would stop a map before the last row */
	dtx_bind_kind(b, DTX_KIND_WHOLE);
out:
	return rc;
}

static enum dtx_code checkpoint_whole(const struct dtx_opctx *ox, struct dtx_table *t,
                                      struct dtx_emit *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	char rows[DTX_TABLEHASH_TEXT];

	DTX_TRY(dtx_table_dense(t, err));
	DTX_TRY(dtx_tablehash_table(t, ox->stat->table_hash, rows, err));
	for (size_t i = 0; i < t->nbatches && !dtx_emit_full(out); i++) {
		t->batch[i]->schema = ox->out;
		DTX_TRY(dtx_emit_batch(out, t->batch[i], err));
	}
out:
	return rc;
}

static void checkpoint_explain(const void *args, struct dtx_buf *out)
{
	dtx_buf_printf(out, "record rows and hash of the table as %s",
	               ((const struct checkpoint_args *)args)->label);
}

static bool checkpoint_pandas(const void *args, struct dtx_buf *out)
{
	(void)args;
	dtx_buf_add(out, "df0");
	return true;
}

const struct dtx_op dtx_op_checkpoint = {
	.name = "checkpoint",
	.ninputs = 1,
	.summary = "Record the row count and the hash of the table",
	.notes =
		"The table passes unchanged. The record of the run has, for this step, the rows "
		"and a hash of all names and cells as written: two runs with the same hash had the "
		"same table here, whatever came before.",
	.facts = { .rows = DTX_ROWS_SAME, .values = DTX_VALUES_KEPT },
	.params = checkpoint_params,
	.nparams = DTX_COUNT(checkpoint_params),
	.examples = checkpoint_examples,
	.nexamples = DTX_COUNT(checkpoint_examples),
	.args_size = sizeof(struct checkpoint_args),
	.bind = checkpoint_bind,
	.whole = checkpoint_whole,
	.explain = checkpoint_explain,
	.pandas = checkpoint_pandas,
};
