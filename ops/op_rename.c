/* rename: new names for columns, all at once. */
#include "ops/opkit.h"

struct rename_pair {
	const char *from, *to;
};
struct rename_args {
	struct dtx_plist map;
};
struct rename_state {
	struct dtx_colmap map;
};

static const struct dtx_param rename_pair_rows[] = {
	{ .name = "from", .kind = DTX_P_COLUMN, .required = true,
	  .offset = offsetof(struct rename_pair, from), .help = "name now" },
	{ .name = "to", .kind = DTX_P_TEXT, .required = true,
	  .offset = offsetof(struct rename_pair, to), .help = "new name" },
};
static const struct dtx_param rename_params[] = {
	{ .name = "map", .kind = DTX_P_LIST, .required = true, .nonempty = true,
	  .offset = offsetof(struct rename_args, map), .aliases = "columns,mapping",
	  .rows = rename_pair_rows, .nrows = DTX_COUNT(rename_pair_rows),
	  .item_size = sizeof(struct rename_pair), .sugar = DTX_SUGAR_MAP,
	  .help = "old and new names" },
};
static const struct dtx_example rename_examples[] = {
	{ .step = DTX_JSON({"op":"rename","map":[{"from":"a","to":"b"},{"from":"b","to":"a"}]}),
	  .in = "a,b,c\n1,2,3\n", .out = "b,a,c\n1,2,3\n" },
	{ .step = DTX_JSON({"op":"relabel","columns":{"a":"first name"}}),
	  .in = "a,b\n,0.10\n", .out = "first name,b\n,0.10\n" },
	{ .step = DTX_JSON({"op":"rename","map":{"a":"b"}}), .in = "a,b\n1,2\n",
	  .error = "name_collision" },
};

/* Index of the pair that renames column i, -1: it keeps its name. */
static int64_t pair_of(const int32_t *col, size_t n, uint32_t i)
{
	for (size_t k = 0; k < n; k++)
		if (col[k] == (int32_t)i)
			return (int64_t)k;
	return -1;
}

static enum dtx_code rename_columns(struct dtx_bind *b, const struct rename_args *a,
				    int32_t *col, struct dtx_err *err)
{
	const struct rename_pair *pair = a->map.item;
	enum dtx_code rc = DTX_OK;
	char sub[48];

	for (size_t k = 0; k < a->map.n; k++) {
		snprintf(sub, sizeof(sub), "/map/%zu/from", k);
		DTX_TRY(dtx_bind_column(b, 0, pair[k].from, sub, &col[k], err));
		if (col[k] >= 0 && pair_of(col, k, (uint32_t)col[k]) >= 0)
			DTX_TRY(dtx_bind_fail(b, DTX_E_BAD_PARAM_VALUE, sub, err,
					      "column '%s' is renamed twice", pair[k].from));
	}
out:
	return rc;
}

static enum dtx_code rename_bind(struct dtx_bind *b, void *args, struct dtx_err *err)
{
	const struct rename_args *a = args;
	const struct rename_pair *pair = a->map.item;
	enum dtx_code rc = DTX_OK;
	struct rename_state *s = dtx_bind_state(b, sizeof(*s));
	int32_t *col = dtx_arena_alloc(b->arena, a->map.n + 1, sizeof(*col));
	char sub[48];

	if (!s || !col)
		DTX_FAIL_MEM(err);
	DTX_TRY(rename_columns(b, a, col, err));
	for (uint32_t i = 0; i < b->in[0]->nfields; i++) {
		int64_t k = pair_of(col, a->map.n, i);
		const char *name = k < 0 ? b->in[0]->field[i].name : pair[k].to;

		snprintf(sub, sizeof(sub), k < 0 ? "/map" : "/map/%lld/to", (long long)k);
		if (dtx_bind_out(b, name) >= 0)
			DTX_TRY(dtx_bind_fail(b, DTX_E_NAME_COLLISION, sub, err,
					      "two columns would be called '%s'", name));
		else
			DTX_TRY(dtx_bind_pass(b, 0, (int32_t)i, name, err));
	}
	DTX_TRY(dtx_colmap_bind(b, 0, &s->map, err));
out:
	return rc;
}

static enum dtx_code rename_batch(const struct dtx_opctx *ox, void *local, struct dtx_batch *in,
				  struct dtx_emit *out, struct dtx_err *err)
{
	const struct rename_state *s = ox->bound;
	enum dtx_code rc = DTX_OK;

	(void)local;
	DTX_TRY(dtx_colmap_apply(ox, &s->map, in, err));
	DTX_TRY(dtx_emit_batch(out, in, err));
out:
	return rc;
}

static void rename_explain(const void *args, struct dtx_buf *out)
{
	const struct rename_args *a = args;
	const struct rename_pair *pair = a->map.item;

	dtx_buf_add(out, "rename ");
	for (size_t i = 0; i < a->map.n; i++)
		dtx_buf_printf(out, "%s%s to %s", i ? ", " : "", pair[i].from, pair[i].to);
}

static bool rename_pandas(const void *args, struct dtx_buf *out)
{
	const struct rename_args *a = args;
	const struct rename_pair *pair = a->map.item;

	dtx_buf_add(out, "df0.rename(columns={");
	for (size_t i = 0; i < a->map.n; i++) {
		dtx_buf_add(out, i ? ", " : "");
		dtx_py_text(out, pair[i].from);
		dtx_buf_add(out, ": ");
		dtx_py_text(out, pair[i].to);
	}
	dtx_buf_add(out, "})");
	return true;
}

static const struct dtx_map rename_map = { .batch = rename_batch };

const struct dtx_op dtx_op_rename = {
	.name = "rename", .aliases = "relabel", .ninputs = 1, .flags = DTX_OP_TAKES_SEL | DTX_OP_MAY_TRIGGER,
	.summary = "Give columns new names",
	.notes = "All names change at once, so a swap works. Two equal results are name_collision.",
	.params = rename_params, .nparams = DTX_COUNT(rename_params),
	.examples = rename_examples, .nexamples = DTX_COUNT(rename_examples),
	.args_size = sizeof(struct rename_args), .unsupported = "regex,replace,cols",
	.bind = rename_bind, .map = &rename_map,
	.explain = rename_explain, .pandas = rename_pandas,
};
