/* ops: prints the catalogue of ops, made from their descriptors. */
#include "cli/help/help.h"
#include "cli/out.h"
#include "core/expr/fn/fn.h"
#include "core/plan/op.h"

struct ops_args {
	bool json, functions;
};

static const struct dtx_opt ops_opts[] = {
	{ .name = "json",
	  .kind = DTX_O_FLAG,
	  .offset = offsetof(struct ops_args, json),
	  .help = "as JSON, with the schema of the parameters" },
	{ .name = "functions",
	  .kind = DTX_O_FLAG,
	  .offset = offsetof(struct ops_args, functions),
	  .help = "list the functions of the formula language instead" },
};

static json_t *ops_json(const struct dtx_op *op)
{
	json_t *examples = json_array();
	size_t i;

	for (i = 0; examples && i < op->nexamples; i++) {
		const struct dtx_example *e = &op->examples[i];

		json_array_append_new(examples, json_pack("{so ss ss* ss* ss* ss*}", "step",
		                                          json_loads(e->step, 0, NULL), "in", e->in,
		                                          "with", e->with, "out", e->out, "error",
		                                          e->error, "message", e->message));
	}
	return json_pack("{ss ss* ss ss* ss so so}", "name", op->name, "aliases", op->aliases,
	                 "summary", op->summary, "notes", op->notes, "kind", dtx_help_op_kind(op),
	                 "params", dtx_param_schema(op->params, op->nparams), "examples", examples);
}

#define SIGNATURE_WIDTH 36

static void ops_function(const struct dtx_fn *fn, struct dtx_buf *out)
{
	size_t start = out->len, width;

	dtx_buf_add(out, "  ");
	dtx_fn_signature(fn, out);
	width = out->len - start;
	dtx_buf_printf(out, "%*s %s\n",
	               (int)(width < SIGNATURE_WIDTH ? SIGNATURE_WIDTH - width : 0), "",
	               dtx_fn_help(fn));
}

static void ops_functions(struct dtx_buf *out)
{
	const struct dtx_fn_table *const *t;
	size_t i;

	for (t = dtx_fns; *t; t++) {
		dtx_buf_printf(out, "%s%s\n", t == dtx_fns ? "" : "\n", (*t)->title);
		for (i = 0; i < (*t)->n; i++) {
			ops_function(dtx_fn_at(*t, i), out);
		}
	}
}

static int ops_unknown(const struct dtx_cli *cli, const char *name)
{
	struct dtx_err err = DTX_ERR_INIT;
	const char *names[256];

	dtx_err_set(&err, DTX_E_USAGE, __FILE__, __LINE__, "no op '%s'", name);
	dtx_err_suggest(&err, name, names, dtx_op_names(names, DTX_COUNT(names)));
	dtx_err_hint(&err, "dtx ops lists them");
	return dtx_out_fail(cli, &err);
}

static int ops_all_json(const struct dtx_cli *cli, const struct dtx_op *only)
{
	json_t *list = only ? ops_json(only) : json_array();
	const struct dtx_op *const *op;
	int status;

	for (op = dtx_ops; !only && *op; op++)
		json_array_append_new(list, ops_json(*op));
	status = dtx_out_json(cli, list, 1);
	json_decref(list);
	return status;
}

static int ops_run(const struct dtx_cli *cli, void *args, int argc, char **argv)
{
	const struct ops_args *a = args;
	struct dtx_buf out = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	const char *preset;
	const struct dtx_op *op = argc ? dtx_op_find(argv[0], &preset) : NULL;
	int status;

	if (argc && !op)
		return ops_unknown(cli, argv[0]);
	if (a->json)
		return ops_all_json(cli, op);
	if (a->functions)
		ops_functions(&out);
	else if (op)
		dtx_help_op(op, &out);
	else
		dtx_help_ops(&out);
	status = dtx_out_print(cli, &out);
	dtx_buf_clear(&out);
	return status;
}

const struct dtx_cmd dtx_cmd_ops = {
	.name = "ops",
	.usage = "[OPERATION]",
	.summary = "List the operations, or explain one with its parameters and examples",
	.exits = "0 done; 2 no such op",
	.opts = ops_opts,
	.nopts = DTX_COUNT(ops_opts),
	.args_size = sizeof(struct ops_args),
	.max_args = 1,
	.run = ops_run,
};
