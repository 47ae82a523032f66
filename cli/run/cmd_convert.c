/* convert: a run of a plan without steps. */
#include "cli/run/runner.h"

static int convert_run(const struct dtx_cli *cli, void *args, int argc, char **argv)
{
	struct dtx_run_args *a = args;
	struct dtx_runner r = { .cli = cli, .args = a, .command = "convert" };
	struct dtx_err err = DTX_ERR_INIT;
	int status;

	if (argc > 1 && a->output) {
		dtx_err_set(&err, DTX_E_USAGE, __FILE__, __LINE__,
		            "the output is given twice: '%s' and -o '%s'", argv[1], a->output);
		return dtx_out_fail(cli, &err);
	}
	a->positional = argc > 1;
	if (argc > 1)
		a->output = argv[1];
	a->fallback = DTX_FALLBACK_OFF + 1; /* there is no step that a snippet could do */
	status = dtx_runner_main(&r, 1, argv);
	dtx_runner_clear(&r);
	return status;
}

const struct dtx_cmd dtx_cmd_convert = {
	.name = "convert",
	.usage = "IN [OUT]",
	.summary = "Convert a file to another format: a run without steps, recorded as well",
	.notes = "An OUT that is there already is not replaced without --force; -o replaces it.\n\n"
		 "  dtx convert book.xlsx -o book.csv --sheet 2\n"
		 "  dtx convert export.csv book.xlsx\n"
		 "  dtx convert accounts.xls -o accounts.csv\n"
		 "  cat log.jsonl | dtx convert - --to csv",
	.exits = "0 done; 4 input; 8 limit; 9 output or store; 130 cancelled",
	.opts = dtx_run_opts,
	.nopts = DTX_CONVERT_OPTS,
	.args_size = sizeof(struct dtx_run_args),
	.min_args = 1,
	.max_args = 2,
	.run = convert_run,
};
