/* percent_of: shares of a sum, a short form of window. */
#include "ops/group/table/groupvals.h"
#include "ops/window/shortwin.h"

struct percent_args {
	const char *col, *as;
	struct dtx_cols *by;
};

#define AT(member) .offset = offsetof(struct percent_args, member)
static const struct dtx_param percent_params[] = {
	{ .name = "col",
	  .kind = DTX_P_COLUMN,
	  .required = true,
	  AT(col),
	  .aliases = "column",
	  .help = "number column" },
	{ .name = "as",
	  .kind = DTX_P_TEXT,
	  .required = true,
	  AT(as),
	  .aliases = "new_name,name",
	  .help = "name of the new column" },
	DTX_SHORT_BY(struct percent_args),
};
static const struct dtx_example percent_examples[] = {
	{ .step = DTX_JSON({ "op" : "percent_of", "col" : "v", "as" : "p" }),
	  .in = "v\n1\n3\n\n",
	  .out = "v,p\n1,0.25\n3,0.75\n,\n" },
	{ .step = DTX_JSON({ "op" : "share", "col" : "v", "as" : "p", "by" : ["k"] }),
	  .in = "k,v\na,1\nb,5\na,3\n",
	  .out = "k,v,p\na,1,0.25\nb,5,1.0\na,3,0.75\n" },
	{ .step = DTX_JSON({ "op" : "percent_of", "col" : "t", "as" : "p" }),
	  .in = "t\nx\n",
	  .error = "type_mismatch",
	  .message = "percent_of needs numbers, 't' is text" },
};

static enum dtx_code percent_bind(struct dtx_bind *b, void *args, struct dtx_err *err)
{
	const struct percent_args *a = args;
	struct dtx_shortwin w = { .b = NULL };
	enum dtx_code rc = DTX_OK;
	size_t before;
	int32_t col;

	DTX_TRY(dtx_bind_column(b, 0, a->col, "/col", &col, err));
	before = b->nfindings;
	if (col >= 0)
		DTX_TRY(dtx_bind_number(b, col, "/col", err));
	DTX_TRY(dtx_shortwin_open(&w, b, a->by, NULL, 1, err));
	if (col >= 0 && b->nfindings == before) {
		dtx_buf_add(&w.text, "share(");
		dtx_expr_print_name(a->col, &w.text);
		dtx_buf_addc(&w.text, ')');
		DTX_TRY(dtx_shortwin_add(&w, a->as, "/as", err));
	}
	DTX_TRY(dtx_shortwin_bind(&w, "/col", err));
	if (!w.window->set.n && !dtx_param_is_hole(a->as))
		DTX_TRY(dtx_bind_would_make(b, a->as, err));
out:
	dtx_shortwin_close(&w);
	return rc;
}

static void percent_explain(const void *args, struct dtx_buf *out)
{
	const struct percent_args *a = args;

	dtx_buf_printf(out, "%s = share of %s in its sum", a->as, a->col);
	dtx_short_explain(a->by, NULL, out);
}

const struct dtx_op dtx_op_percent_of = {
	.name = "percent_of",
	.aliases = "share",
	.ninputs = 1,
	.flags = DTX_OP_TAKES_SEL | DTX_OP_MAY_TRIGGER | DTX_OP_DX,
	.summary = "Share of each value in the sum of its group",
	.notes = "A short form of window with share(col): 0.25 is a quarter. Rows stay where they "
		 "are; where the sum is 0 the result is null.",
	.facts = { .rows = DTX_ROWS_WINDOW, .groups = "by", .lo = INT64_MIN, .hi = INT64_MAX },
	.params = percent_params,
	.nparams = DTX_COUNT(percent_params),
	.examples = percent_examples,
	.nexamples = DTX_COUNT(percent_examples),
	.args_size = sizeof(struct percent_args),
	.bind = percent_bind,
	.map = &dtx_short_map,
	.keys = dtx_derive_keys,
	.whole = dtx_derive_whole,
	.explain = percent_explain,
	.sql = dtx_derive_sql,
};
