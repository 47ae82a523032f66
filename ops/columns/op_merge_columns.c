/* merge_columns: the texts of several columns as one.  It is not a macro: a formula would not see
 * the text of the cells as written. */
#include "core/data/builder.h"
#include "ops/kit/opkit.h"

struct merge_args {
	struct dtx_cols *cols;
	const char *as, *sep;
	bool skip_null, drop;
};
struct merge_state {
	int32_t *col;
	uint32_t n, at; /* at: the new column */
	struct dtx_colmap map;
};

#define AT(member) .offset = offsetof(struct merge_args, member)
static const struct dtx_param merge_params[] = {
	{ .name = "cols",
	  .kind = DTX_P_COLUMNS,
	  .required = true,
	  .nonempty = true,
	  AT(cols),
	  .aliases = "columns",
	  .help = "columns to merge, in this order" },
	{ .name = "as",
	  .kind = DTX_P_TEXT,
	  .required = true,
	  AT(as),
	  .aliases = "name,new_name,into,new_column",
	  .help = "name of the result" },
	{ .name = "sep",
	  .kind = DTX_P_TEXT,
	  AT(sep),
	  .aliases = "delimiter,separator",
	  .def = "\" \"",
	  .help = "text between the parts" },
	{ .name = "skip_null",
	  .kind = DTX_P_BOOL,
	  AT(skip_null),
	  .def = "true",
	  .help = "leave nulls out; false: one null makes the result null" },
	{ .name = "drop",
	  .kind = DTX_P_BOOL,
	  AT(drop),
	  .def = "true",
	  .help = "drop the merged columns" },
};
static const struct dtx_example merge_examples[] = {
	{ .step = DTX_JSON({ "op" : "merge_columns", "cols" : [ "f", "l" ], "as" : "name" }),
	  .in = "id,f,x,l\n1,Ann,p,Doe\n2,,q,Roe\n3,,r,\n",
	  .out = "id,name,x\n1,Ann Doe,p\n2,Roe,q\n3,,r\n" },
	{ .step = DTX_JSON({
		  "op" : "unite",
		  "cols" : [ "b", "a" ],
		  "as" : "k",
		  "sep" : "-",
		  "skip_null" : false,
		  "drop" : false
	  }),
	  .in = "a,b\n1.50,x\n,y\n",
	  .out = "a,k,b\n1.50,x-1.50,x\n,,y\n" },
	{ .step = DTX_JSON({ "op" : "merge_columns", "cols" : [ "a", "b" ], "as" : "a" }),
	  .in = "a,b\nx,y\n",
	  .out = "a\nx y\n" },
	{ .step = DTX_JSON({ "op" : "merge_columns", "cols" : [ "a", "b" ], "as" : "c" }),
	  .in = "a,b,c\nx,y,z\n",
	  .error = "name_collision",
	  .message = "two columns would be called 'c'" },
};

/* Leftmost of the merged columns. */
static int32_t leftmost(const struct merge_state *s)
{
	int32_t at = -1;

	for (uint32_t i = 0; i < s->n; i++)
		if (s->col[i] >= 0 && (at < 0 || s->col[i] < at))
			at = s->col[i];
	return at;
}

static enum dtx_code bind_result(struct dtx_bind *b, const struct merge_args *a,
                                 struct merge_state *s, struct dtx_err *err)
{
	const struct dtx_typeref text = { .type = DTX_T_TEXT };
	enum dtx_code rc = DTX_OK;

	s->at = b->ncols;
	for (uint32_t k = 0; k < s->n; k++)
		DTX_TRY(dtx_bind_use(b, (int32_t)b->ncols, 0, s->col[k], DTX_DEMAND_BYTES, err));
	DTX_TRY(dtx_bind_make(b, a->as, text, NULL, "merged", err));
out:
	return rc;
}

/* The result takes the place of the leftmost merged column; if the merged columns are kept, it
 * comes after that one. */
static enum dtx_code merge_bind(struct dtx_bind *b, void *args, struct dtx_err *err)
{
	const struct merge_args *a = args;
	struct merge_state *s = dtx_bind_state(b, sizeof(*s));
	enum dtx_code rc = DTX_OK;
	int32_t *place;
	int32_t first;

	if (!s)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_bind_cols(b, 0, a->cols, "/cols", &s->col, &s->n, err));
	place = dtx_cols_places(b->arena, s->col, s->n, b->in[0]->nfields);
	if (!place)
		DTX_FAIL_MEM(err);
	first = leftmost(s);
	for (int32_t i = 0; i < (int32_t)b->in[0]->nfields; i++) {
		if (!a->drop || place[i] < 0)
			DTX_TRY(dtx_bind_pass(b, 0, i, NULL, err));
		if (i == first)
			DTX_TRY(bind_result(b, a, s, err));
	}
	DTX_TRY(dtx_colmap_bind(b, 0, &s->map, err));
out:
	return rc;
}

/* The parts of a row joined; false: null. */
static bool merge_row(const struct merge_args *a, const struct merge_state *s,
                      const struct dtx_batch *in, uint32_t row, struct dtx_buf *scratch,
                      struct dtx_buf *text)
{
	bool any = false, null;

	dtx_buf_reset(text);
	for (uint32_t k = 0; k < s->n; k++) {
		struct dtx_str part;

		dtx_buf_reset(scratch);
		part = dtx_cell_text(in->col[s->col[k]], row, scratch, &null);
		if (null && !a->skip_null)
			return false;
		if (null)
			continue;
		if (any)
			dtx_buf_add(text, a->sep);
		dtx_buf_adds(text, part);
		any = true;
	}
	return any;
}

static enum dtx_code merge_batch(const struct dtx_opctx *ox, void *local, struct dtx_batch *in,
                                 struct dtx_emit *out, struct dtx_err *err)
{
	const struct merge_args *a = ox->args;
	const struct merge_state *s = ox->bound;
	const struct dtx_typeref type = { .type = DTX_T_TEXT };
	struct dtx_buf scratch = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	enum dtx_code rc = DTX_OK;
	struct dtx_column *made = NULL;
	struct dtx_builder to;

	(void)local;
	dtx_builder_init(&to, type, in->nrows);
	for (uint32_t row = 0; dtx_op_wants(ox, s->at) && row < in->nrows; row++) {
		if (merge_row(a, s, in, row, &scratch, &text))
			dtx_builder_text(&to, dtx_buf_str(&text));
		else
			dtx_builder_null(&to);
		if (!dtx_buf_ok(&scratch) || !dtx_buf_ok(&text))
			DTX_FAIL_MEM(err);
	}
	DTX_TRY(dtx_colmap_apply(ox, &s->map, in, err));
	if (dtx_op_wants(ox, s->at)) {
		DTX_TRY(dtx_builder_finish(&to, NULL, &made, err));
		dtx_batch_put(in, s->at, made);
	}
	DTX_TRY(dtx_emit_batch(out, in, err));
out:
	dtx_builder_clear(&to);
	dtx_buf_clear(&scratch);
	dtx_buf_clear(&text);
	return rc;
}

static void merge_explain(const void *args, struct dtx_buf *out)
{
	const struct merge_args *a = args;

	dtx_buf_add(out, "join the texts of ");
	dtx_cols_print(a->cols, out);
	dtx_buf_printf(out, " with '%s' into %s", a->sep, a->as);
}

static const struct dtx_map merge_map = { .batch = merge_batch };

const struct dtx_op dtx_op_merge_columns = {
	.name = "merge_columns",
	.aliases = "unite,join_columns,concat_columns,combine_columns",
	.ninputs = 1,
	.flags = DTX_OP_MAY_TRIGGER | DTX_OP_DX,
	.summary = "Join the texts of columns into one",
	.notes = "Texts as written, in selector order; where all are null the result is null. The "
		 "result takes the place of the leftmost of the columns, or comes after it if they "
		 "stay.",
	.facts = { .rows = DTX_ROWS_SAME },
	.params = merge_params,
	.nparams = DTX_COUNT(merge_params),
	.examples = merge_examples,
	.nexamples = DTX_COUNT(merge_examples),
	.args_size = sizeof(struct merge_args),
	.bind = merge_bind,
	.map = &merge_map,
	.explain = merge_explain,
};
