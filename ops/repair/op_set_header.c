/* set_header: new names for all columns. */
#include "ops/kit/opkit.h"

struct header_args {
	struct dtx_plist names;
	bool allow_short;
};

static const struct dtx_param header_params[] = {
	{ .name = "names",
	  .kind = DTX_P_TEXTS,
	  .required = true,
	  .nonempty = true,
	  .offset = offsetof(struct header_args, names),
	  .help = "the names, left to right" },
	{ .name = "allow_short",
	  .kind = DTX_P_BOOL,
	  .offset = offsetof(struct header_args, allow_short),
	  .def = "false",
	  .help = "columns after the last name keep their names" },
};
static const struct dtx_example header_examples[] = {
	{ .step = DTX_JSON({ "op" : "set_header", "names" : [ "id", "amount" ] }),
	  .in = "a,b\n1,2.50\n",
	  .out = "id,amount\n1,2.50\n" },
	{ .step = DTX_JSON({ "op" : "colnames", "names" : ["b"], "allow_short" : true }),
	  .in = "a,c\n1,x\n",
	  .out = "b,c\n1,x\n" },
	{ .step = DTX_JSON({ "op" : "set_header", "names" : ["id"] }),
	  .in = "a,b\n1,2\n",
	  .error = "length_mismatch",
	  .message = "set_header gives 1 name, the table has 2 columns" },
	{ .step = DTX_JSON({ "op" : "set_header", "names" : [ "x", "x" ] }),
	  .in = "a,b\n1,2\n",
	  .error = "name_collision",
	  .message = "two columns would be called 'x'" },
};

/* Before the input is open the names are known, but not the columns that get them. */
static enum dtx_code bind_open(struct dtx_bind *b, const struct header_args *a, struct dtx_err *err)
{
	const char *const *name = a->names.item;
	const struct dtx_typeref any = { .type = DTX_T_UNKNOWN };
	enum dtx_code rc = DTX_OK;

	for (size_t i = 0; i < a->names.n; i++)
		DTX_TRY(dtx_bind_make(b, name[i], any, NULL, "renamed", err));
	if (!a->allow_short)
		dtx_bind_close(b);
out:
	return rc;
}

static enum dtx_code header_bind(struct dtx_bind *b, void *args, struct dtx_err *err)
{
	const struct header_args *a = args;
	const char *const *name = a->names.item;
	struct dtx_colmap *map = dtx_bind_state(b, sizeof(*map));
	uint32_t n = b->in[0]->nfields;
	enum dtx_code rc = DTX_OK;

	if (!map)
		DTX_FAIL_MEM(err);
	if (!b->typed && b->in[0]->open)
		return bind_open(b, a, err);
	if (a->names.n > n || (a->names.n < n && !a->allow_short))
		DTX_TRY(dtx_bind_fail(b, DTX_E_LENGTH_MISMATCH, "/names", err,
		                      "set_header gives %zu names, the table has %u columns",
		                      a->names.n, n));
	for (uint32_t i = 0; i < n; i++)
		DTX_TRY(dtx_bind_pass(b, 0, (int32_t)i, i < a->names.n ? name[i] : NULL, err));
	DTX_TRY(dtx_colmap_bind(b, 0, map, err));
out:
	return rc;
}

static void header_explain(const void *args, struct dtx_buf *out)
{
	const struct header_args *a = args;
	const char *const *name = a->names.item;

	dtx_buf_add(out, "call the columns ");
	for (size_t i = 0; i < a->names.n; i++)
		dtx_buf_printf(out, "%s%s", i ? ", " : "", name[i]);
}

static bool header_pandas(const void *args, struct dtx_buf *out)
{
	const struct header_args *a = args;

	dtx_buf_add(out, "df0.set_axis(");
	dtx_py_names(out, &a->names);
	if (a->allow_short)
		dtx_buf_printf(out, " + list(df0.columns[%zu:])", a->names.n);
	dtx_buf_add(out, ", axis=1)");
	return true;
}

const struct dtx_op dtx_op_set_header = {
	.name = "set_header",
	.aliases = "header,colnames",
	.ninputs = 1,
	.flags = DTX_OP_TAKES_SEL | DTX_OP_MAY_TRIGGER,
	.summary = "Replace all column names",
	.notes = "The number of names must fit, else length_mismatch; with allow_short there may "
		 "be fewer. Equal names are name_collision.",
	.facts = { .rows = DTX_ROWS_SAME, .values = DTX_VALUES_RENAMED },
	.params = header_params,
	.nparams = DTX_COUNT(header_params),
	.examples = header_examples,
	.nexamples = DTX_COUNT(header_examples),
	.args_size = sizeof(struct header_args),
	.bind = header_bind,
	.map = &dtx_colmap_move,
	.explain = header_explain,
	.pandas = header_pandas,
};
