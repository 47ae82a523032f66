/* pipe: runs a plan that is written as words of the command line. */
#include "cli/run/read_opts.h"
#include "cli/run/runner.h"

/* Adds to the plan what the command line says about files, so that dtx run needs no more. */
static enum dtx_code pipe_whole(const struct dtx_runner *r, json_t *plan, struct dtx_err *err)
{
	static const char *const fallback[] = { "step", "plan", "off" };
	enum dtx_code rc = DTX_OK;
	const struct dtx_run_args *a = r->args;
	json_t *inputs = json_object_get(plan, "inputs"), *output = json_object();

	for (uint32_t i = 0; i < r->plan->ninputs; i++)
		if (r->plan->input[i].path && !dtx_json_set(json_array_get(inputs, i), "path",
		                                            json_string(r->plan->input[i].path)))
			DTX_FAIL_MEM(err);
	DTX_TRY(dtx_read_opts_plan(a, json_array_get(inputs, 0), err));
	if ((a->output && !dtx_json_set(output, "path", json_string(a->output))) ||
	    (a->to && !dtx_json_set(output, "format", json_string(a->to))) ||
	    (json_object_size(output) && json_object_set(plan, "output", output) != 0) ||
	    (a->fallback &&
	     !dtx_json_set(plan, "fallback", json_string(fallback[a->fallback - 1]))))
		DTX_FAIL_MEM(err);
out:
	json_decref(output);
	return rc;
}

static int pipe_print(struct dtx_runner *r, int argc, char **argv)
{
	struct dtx_out_where where = { .words = r->words };
	struct dtx_err err = DTX_ERR_INIT;
	const struct dtx_err *worst;
	json_t *plan = json_deep_copy(r->words->plan);
	enum dtx_code rc;
	int status = 0;

	rc = dtx_runner_plan(r, &err);
	where.plan = r->plan ? r->plan->json : NULL;
	where.inputs = r->plan;
	if (rc == DTX_OK)
		rc = dtx_runner_inputs(r, argc, argv, &err);
	worst = dtx_errlist_worst(&r->findings);
	if (worst && worst->severity == DTX_SEV_ERROR) {
		dtx_out_errors(r->cli, &r->findings, &where);
		status = dtx_code_exit(worst->code, worst->run_time);
		goto out;
	}
	DTX_TRY(rc);
	DTX_TRY(pipe_whole(r, plan, &err));
	status = dtx_out_json(r->cli, plan, 1);
out:
	if (rc != DTX_OK && !(worst && worst->severity == DTX_SEV_ERROR)) {
		dtx_out_error(r->cli, &err, &where);
		status = dtx_code_exit(rc, err.run_time);
	}
	json_decref(plan);
	dtx_err_clear(&err);
	return status;
}

static int pipe_run(const struct dtx_cli *cli, void *args, int argc, char **argv)
{
	static char from_stdin[] = "-";
	char *none[] = { from_stdin };
	struct dtx_run_args *a = args;
	struct dtx_words words = { .nfiles = 0 };
	struct dtx_runner r = { .cli = cli, .args = a, .words = &words, .command = "pipe" };
	struct dtx_out_where where = { .words = &words };
	struct dtx_err err = DTX_ERR_INIT;
	int nfiles = argc - cli->nwords, status;

	if (dtx_words_parse(&words, nfiles, argv, cli->nwords, argv + nfiles, &err) != DTX_OK) {
		dtx_out_error(cli, &err, &where);
		status = dtx_code_exit(err.code, err.run_time);
	} else {
		argv = nfiles ? argv : none;
		nfiles = nfiles ? nfiles : 1;
		status = a->print_plan ? pipe_print(&r, nfiles, argv)
		                       : dtx_runner_main(&r, nfiles, argv);
	}
	dtx_runner_leave(status);
	dtx_runner_clear(&r);
	dtx_words_clear(&words);
	dtx_err_clear(&err);
	return status;
}

const struct dtx_cmd dtx_cmd_pipe = {
	.name = "pipe",
	.usage = "[FILE | NAME=FILE]... -- STEP [then STEP]...",
	.summary = "Run steps that are written on the command line, as dtx run does a plan",
	.notes = "A step is an operation and its parameters, by name (n=10) or in the order of\n"
		 "`dtx help OPERATION`.  NAME=FORMULA makes a column where the operation makes "
		 "some.\n"
		 "Lists have commas (a,b); -a sorts downwards; where a list is expected a word may "
		 "be\n"
		 "JSON: '[\"a, b\"]'.  A table to join is a file, or a NAME=FILE before --.\n"
		 "@out=NAME names the result of a step, @in=NAME lets a step read it; @note=TEXT.\n"
		 "Without a FILE stdin is read.  Options come before --, or last of all; what "
		 "looks\n"
		 "like one there (-o, --a) is a column only by name: by=-o.\n\n"
		 "  dtx pipe stock.csv -- filter 'quantity > 0' then group_by city \\\n"
		 "      n='count()' value='sum(value)' then sort -value then head 10 -o top.csv\n"
		 "  dtx pipe sales.csv -- join rates.csv code \\\n"
		 "      then derive 'net price=price * rate'\n"
		 "  dtx pipe book.xlsx --sheet 2 -- clean_names then select 'id,b..d'\n"
		 "  dtx pipe sales.csv -- count region --print-plan > plan.json",
	.exits = "as dtx run: 0 done; 2 command line; 3 a step is wrong; 4 input; 5 needs a "
		 "snippet; "
		 "6 needs approval; 7 snippet failed; 8 limit or jail; 9 output or store; 10 a "
		 "check failed; 130 cancelled",
	.opts = dtx_run_opts + DTX_CONVERT_ONLY,
	.nopts = DTX_PIPE_OPTS,
	.args_size = sizeof(struct dtx_run_args),
	.max_args = -1,
	.words = DTX_WORDS_SEP,
	.run = pipe_run,
};
