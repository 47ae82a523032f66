/* run: executes a plan. */
#include "cli/run/runner.h"

static int run_run(const struct dtx_cli *cli, void *args, int argc, char **argv)
{
	struct dtx_runner r = { .cli = cli, .args = args, .plan_path = argv[0], .command = "run" };
	int status = dtx_runner_main(&r, argc - 1, argv + 1);

	dtx_runner_leave(status);
	dtx_runner_clear(&r);
	return status;
}

const struct dtx_cmd dtx_cmd_run = {
	.name = "run",
	.usage = "PLAN [FILE | NAME=FILE]...",
	.summary = "Run a plan on its inputs, with a snippet in the jail where the engine cannot",
	.notes = "A bare FILE is the plan's first input, `-` is stdin.  The result goes to -o "
		 "FILE, to\n"
		 "the plan's output, or to stdout as CSV.\n\n"
		 "  dtx run plan.json report.xlsx -o tidy.csv\n"
		 "  dtx run plan.json hours.csv rates=rates.csv | head\n"
		 "  dtx run plan.json data.csv -o out.csv --log-json runs.jsonl\n"
		 "  dtx run plan.json report.xlsx --snippet answer.txt -o out.csv",
	.details =
		"--lineage rows runs the plan a second time, to number its rows: on 1.5 million "
		"rows of CSV that took 2.7 (a filter) to 6.5 times (a join, then a group_by) the "
		"processor time of the run alone, and 0.6 to 7 MB of the store.\n\n"
		"--log-json adds lines to FILE, each an object with time, event and run (its id). "
		"Events:\n"
		"  run_started     command, plan; log: version of the lines, 1\n"
		"  step_started,\n"
		"  step_ended      a step collects its rows (sort, group_by, the second table\n"
		"                  of a join) or goes to a snippet: step, op, out; rows_in,\n"
		"                  seconds\n"
		"  fallback        why a snippet is needed, as an error\n"
		"  step            each step, when all rows are done: rows_in, rows_out,\n"
		"                  work_seconds of all threads\n"
		"  warning, error  code, message, hint, at, input, step, op; a message may quote\n"
		"                  a cell, as on stderr\n"
		"  output_written  path, rows, columns\n"
		"  run_ended       status (ok, failed, cancelled), exit, seconds",
	.exits = "0 done; 3 plan invalid; 4 input; 5 needs a snippet; 6 needs approval; 7 snippet "
		 "failed; 8 limit or jail; 9 output or store; 10 a check failed; 130 cancelled",
	.opts = dtx_run_opts + DTX_CONVERT_ONLY,
	.nopts = DTX_RUN_OPTS,
	.args_size = sizeof(struct dtx_run_args),
	.min_args = 1,
	.max_args = -1,
	.run = run_run,
};
