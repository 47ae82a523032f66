/* prompt: prints the prompt that would be sent to an author, for a plan or for a run that needed
 * a snippet. */
#include <string.h>
#include <unistd.h>

#include "cli/run/runner.h"
#include "core/base/memory/mem.h"
#include "core/store/query/query.h"

static int prompt_make(const struct dtx_cli *cli, struct dtx_run_args *args, const char *plan,
                       const struct dtx_words *words, int argc, char **argv)
{
	struct dtx_prompt prompt;
	struct dtx_runner r = { .cli = cli,
		                .args = args,
		                .plan_path = plan,
		                .words = words,
		                .command = "prompt",
		                .prompt = &prompt };
	struct dtx_err err = DTX_ERR_INIT;
	int status;

	dtx_prompt_init(&prompt);
	/* The run ends where it would ask an author, so no output is written. */
	args->output = args->output ? args->output : "-";
	status = dtx_runner_main(&r, argc, argv);
	if (prompt.text.len) {
		status = dtx_out_print(cli, &prompt.text);
	} else if (status == 0) {
		dtx_err_set(&err, DTX_E_NO_RECORD, __FILE__, __LINE__,
		            "the plan runs without a snippet: there is nothing to ask for");
		dtx_err_hint(&err, "dtx run runs it");
		status = dtx_out_fail(cli, &err);
	}
	dtx_prompt_clear(&prompt);
	dtx_runner_clear(&r);
	return status;
}

/* The recorded command line, whose options are parsed again. */
struct prompt_line {
	json_t *record, *list;
	const char *command;
	char **argv;
	int argc, nwords;
};

static enum dtx_code prompt_line(const struct dtx_cli *cli, const char *what,
                                 struct prompt_line *line, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_store *store = NULL;
	struct dtx_found found;
	const json_t *run;
	const char *text;
	size_t i;

	DTX_TRY(dtx_store_open(cli->store, DTX_STORE_READ, &store, err));
	DTX_TRY(dtx_query_find(store, what, NULL, NULL, NULL, &found, err));
	DTX_TRY(dtx_query_record(store, found.run_id, false, &found, &line->record, err));
	run = json_object_get(line->record, "run");
	line->list = json_object_get(run, "argv");
	line->argv = dtx_mem_zalloc(json_array_size(line->list) + 1, sizeof(*line->argv));
	if (!line->argv)
		DTX_FAIL_MEM(err);
	for (i = 2; i < json_array_size(line->list); i++) {
		text = json_string_value(json_array_get(line->list, i));
		if (text)
			memcpy(&line->argv[line->argc++], &text, sizeof(text));
	}
	text = dtx_json_text(run, "cwd", NULL);
	/* operands of another command have another meaning */
	line->command = dtx_json_text(run, "command", "");
	if (!line->argc || !dtx_str_in_list("run,pipe", line->command))
		DTX_FAIL(err, DTX_E_NO_RECORD, "run '%s' is one of 'dtx %s': it has no prompt",
		         what, line->command);
	if (text && chdir(text) != 0)
		DTX_FAIL(err, DTX_E_INPUT_NOT_FOUND, "'%s', where run '%s' was started, is gone",
		         text, what);
out:
	dtx_store_free(store);
	return rc;
}

static int prompt_run_id(const struct dtx_cli *cli, const char *what)
{
	struct prompt_line line = { 0 };
	struct dtx_words words = { .nfiles = 0 };
	struct dtx_cli old = { 0 };
	struct dtx_run_args args = { 0 };
	struct dtx_opttable tables[] = { { dtx_run_opts + DTX_CONVERT_ONLY, DTX_RUN_OPTS, &args },
		                         { dtx_common_opts, dtx_ncommon_opts, &old } };
	struct dtx_err err = DTX_ERR_INIT;
	enum dtx_code rc = DTX_OK;
	int status;

	DTX_TRY(prompt_line(cli, what, &line, &err));
	DTX_TRY(dtx_runner_options(line.command, tables, DTX_COUNT(tables), &line.argc, line.argv,
	                           &line.nwords, &err));
	args.output = NULL;
	args.snippet = NULL;
	dtx_runner_forget_author(&args);
	if (line.nwords) {
		int nfiles = line.argc - line.nwords;

		DTX_TRY(dtx_words_parse(&words, nfiles, line.argv, line.nwords, line.argv + nfiles,
		                        &err));
		status = prompt_make(cli, &args, NULL, &words, nfiles, line.argv);
	} else {
		status = prompt_make(cli, &args, line.argv[0], NULL, line.argc - 1, line.argv + 1);
	}
out:
	if (rc != DTX_OK)
		status = dtx_out_fail(cli, &err);
	dtx_words_clear(&words);
	dtx_mem_free(line.argv);
	json_decref(line.record);
	dtx_err_clear(&err);
	return status;
}

static int prompt_run(const struct dtx_cli *cli, void *args, int argc, char **argv)
{
	if (argc == 1 && access(argv[0], F_OK) != 0)
		return prompt_run_id(cli, argv[0]);
	return prompt_make(cli, args, argv[0], NULL, argc - 1, argv + 1);
}

const struct dtx_cmd dtx_cmd_prompt = {
	.name = "prompt",
	.usage = "PLAN [FILE | NAME=FILE]... | RUN",
	.summary = "Print the whole prompt for the step that needs a snippet",
	.notes = "Give the text to a colleague or to any model; put the answer in a file and run\n"
		 "`dtx run PLAN FILE --snippet answer.txt`.  Cell values are not shown: columns "
		 "and\n"
		 "rows made from their patterns are (--sample none leaves those out too).",
	.exits = "0 done; 4 nothing needs a snippet, or no such run; 3 the plan is invalid",
	.opts = dtx_run_opts + DTX_CONVERT_ONLY,
	.nopts = DTX_RUN_OPTS,
	.args_size = sizeof(struct dtx_run_args),
	.min_args = 1,
	.max_args = -1,
	.run = prompt_run,
};
