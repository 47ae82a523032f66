/* schema: prints the JSON Schema of plans and steps, for editors and models. */
#include "cli/out.h"
#include "cli/report/record_schema.h"
#include "core/plan/exec/exec.h"

struct schema_args {
	bool strict, explain, record;
	const char *op;
};

static const struct dtx_opt schema_opts[] = {
	{ .name = "strict",
	  .kind = DTX_O_FLAG,
	  .offset = offsetof(struct schema_args, strict),
	  .help = "for model output: all members required, no sugar" },
	{ .name = "op",
	  .kind = DTX_O_TEXT,
	  .metavar = "NAME",
	  .offset = offsetof(struct schema_args, op),
	  .help = "of one step of this operation" },
	{ .name = "explain",
	  .kind = DTX_O_FLAG,
	  .offset = offsetof(struct schema_args, explain),
	  .help = "of what `dtx explain --json` prints" },
	{ .name = "record",
	  .kind = DTX_O_FLAG,
	  .offset = offsetof(struct schema_args, record),
	  .help = "of what `dtx provenance --json` prints" },
};

static int schema_unknown(const struct dtx_cli *cli, const char *name)
{
	const char *names[512];
	struct dtx_err err = DTX_ERR_INIT;
	int status;

	dtx_err_set(&err, DTX_E_USAGE, __FILE__, __LINE__, "no operation '%s'", name);
	dtx_err_suggest(&err, name, names, dtx_op_names(names, DTX_COUNT(names)));
	status = dtx_out_fail(cli, &err);
	dtx_err_clear(&err);
	return status;
}

static int schema_both(const struct dtx_cli *cli)
{
	struct dtx_err err = DTX_ERR_INIT;

	dtx_err_set(&err, DTX_E_USAGE, __FILE__, __LINE__,
	            "--explain and --record have one schema each: they go without other options");
	return dtx_out_fail(cli, &err);
}

static int schema_run(const struct dtx_cli *cli, void *args, int argc, char **argv)
{
	const struct schema_args *a = args;
	struct dtx_err err = DTX_ERR_INIT;
	json_t *schema;
	int status;

	(void)argc;
	(void)argv;
	if (a->op && !dtx_op_find(a->op, NULL))
		return schema_unknown(cli, a->op);
	if ((a->explain && (a->op || a->strict || a->record)) ||
	    (a->record && (a->op || a->strict)))
		return schema_both(cli);
	if (a->explain)
		schema = dtx_explain_schema();
	else if (a->record)
		schema = dtx_record_schema();
	else
		schema = a->strict ? dtx_plan_schema_strict(a->op) : dtx_plan_schema(a->op);
	if (!schema) {
		dtx_err_set(&err, DTX_E_NO_MEMORY, __FILE__, __LINE__, "out of memory");
		return dtx_out_fail(cli, &err);
	}
	status = dtx_out_json(cli, schema, 1);
	json_decref(schema);
	return status;
}

const struct dtx_cmd dtx_cmd_schema = {
	.name = "schema",
	.usage = "",
	.summary = "Print the JSON Schema of plans, of one step, an explanation or a record",
	.exits = "0 done; 2 no such operation",
	.opts = schema_opts,
	.nopts = DTX_COUNT(schema_opts),
	.args_size = sizeof(struct schema_args),
	.max_args = 0,
	.run = schema_run,
};
