/* For a replay: takes the plan, the operands and the clock from a recorded run. */
#include "cli/run/runner.h"

#include "cli/help/help.h"

#include <string.h>

#include "core/base/file.h"
#include "core/base/memory/mem.h"

static const json_t *replay_run(const struct dtx_runner *r)
{
	return json_object_get(r->replay->record, "run");
}

/* For a record of a replay, returns the original run: the command line of a replay is not that
 * of a run, and its clock was taken over. */
const json_t *dtx_runner_model(const json_t *record)
{
	const json_t *model = json_object_get(record, "model");

	return model ? model : json_object_get(record, "run");
}

int64_t dtx_runner_clock(const struct dtx_runner *r)
{
	if (!r->replay)
		return r->start_us;
	return dtx_json_int(dtx_runner_model(r->replay->record), "start_us", r->start_us);
}

json_t *dtx_runner_replay_params(const struct dtx_runner *r)
{
	return json_incref(json_object_get(json_object_get(replay_run(r), "plan"), "params"));
}

enum dtx_code dtx_runner_replay_plan(struct dtx_runner *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const json_t *text = json_object_get(json_object_get(replay_run(r), "plan"), "text");
	bool convert = !strcmp(dtx_json_text(dtx_runner_model(r->replay->record), "command", ""),
	                       "convert");

	if (convert)
		return DTX_OK;
	if (!json_is_string(text))
		DTX_FAIL(err, DTX_E_STORE_IO, "the plan of this run is not in the store");
	dtx_buf_addn(&r->plan_text, json_string_value(text), json_string_length(text));
	DTX_TRY(dtx_buf_check(&r->plan_text, "plan", err));
out:
	return rc;
}

/* The first output of the file of output i: one file may hold several. */
static size_t first_of_file(const json_t *outputs, size_t i)
{
	const char *path = dtx_json_text(json_array_get(outputs, i), "path", "-");
	size_t k = 0;

	while (k < i && (!strcmp(path, "-") ||
	                 strcmp(dtx_json_text(json_array_get(outputs, k), "path", ""), path) != 0))
		k++;
	return k;
}

/* Several outputs may have the same name in different folders, so each gets its number. */
static char *runner_replay_target(const json_t *record, size_t i, const char *dir)
{
	const json_t *outputs = json_object_get(record, "outputs");
	const char *path = dtx_json_text(json_array_get(outputs, i), "path", "-");
	const char *name = strcmp(path, "-") ? dtx_file_basename(path) : "stdout";
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	char *made = NULL;

	if (dir)
		dtx_buf_printf(&text, "%s/", dir);
	if (json_array_size(outputs) > 1)
		dtx_buf_printf(&text, "%zu-", first_of_file(outputs, i) + 1);
	dtx_buf_add(&text, name);
	if (dtx_buf_ok(&text))
		made = dtx_mem_strdup(dtx_buf_text(&text));
	dtx_buf_clear(&text);
	return made;
}

static enum dtx_code replay_output(struct dtx_runner *r, uint32_t i, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const json_t *row = json_array_get(json_object_get(r->replay->record, "outputs"), i);
	const json_t *writer = json_object_get(row, "writer");
	char *path = runner_replay_target(r->replay->record, i, r->replay->dir);

	r->plan->output[i].path = path ? dtx_arena_strdup(&r->plan->arena, path) : NULL;
	dtx_mem_free(path);
	if (!r->plan->output[i].path)
		DTX_FAIL_MEM(err);
	/* the format may have come from the suffix, or from a terminal */
	r->plan->output[i].format = dtx_json_text(writer, "format", NULL);
	r->plan->output[i].opts.into = dtx_json_text(writer, "table", NULL);
out:
	return rc;
}

enum dtx_code dtx_runner_replay_places(struct dtx_runner *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t i;

	for (i = 0; i < r->plan->ninputs; i++) {
		const json_t *row = dtx_json_find(json_object_get(r->replay->record, "inputs"),
		                                  "alias", r->plan->input[i].name);

		if (row)
			r->plan->input[i].path = dtx_json_text(row, "uri", NULL);
		else
			DTX_TRY(dtx_runner_replay_files(r, i, err));
		r->plan->input[i].opts.rejects = NULL;
	}
	if (json_array_size(json_object_get(r->replay->record, "outputs")) != r->plan->noutputs)
		DTX_FAIL(err, DTX_E_STORE_IO, "the record does not have the outputs of its plan");
	for (i = 0; i < r->plan->noutputs; i++)
		DTX_TRY(replay_output(r, i, err));
out:
	return rc;
}

enum dtx_code dtx_runner_options(const char *command, const struct dtx_opttable *table, size_t n,
                                 int *argc, char **argv, int *nwords, struct dtx_err *err)
{
	const struct dtx_cmd *cmd = dtx_cmd_find(command);

	*nwords = 0;
	if (cmd && cmd->words)
		return dtx_opt_parse_words(table, n, cmd->words, argc, argv, nwords, err);
	return dtx_opt_parse(table, n, argc, argv, err);
}

/* Parses the recorded command line again. */
enum dtx_code dtx_runner_replay_options(const json_t *record, struct dtx_run_args *args,
                                        struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const json_t *run = dtx_runner_model(record), *list = json_object_get(run, "argv");
	const char *command = dtx_json_text(run, "command", "");
	bool convert = !strcmp(command, "convert");
	struct dtx_cli unused = { .argc = 0 };
	struct dtx_opttable tables[] = { { dtx_run_opts + (convert ? 0 : DTX_CONVERT_ONLY),
		                           convert ? DTX_CONVERT_OPTS : DTX_RUN_OPTS, args },
		                         { dtx_common_opts, dtx_ncommon_opts, &unused } };
	int n = (int)json_array_size(list), count = DTX_MAX(n - 2, 0), words, i;
	char **argv = dtx_mem_zalloc((size_t)n + 1, sizeof(*argv));

	if (!argv)
		DTX_FAIL_MEM(err);
	for (i = 0; i < n; i++) /* the parser moves pointers and does not write to the text */
		argv[i] = (char *)(uintptr_t)json_string_value(json_array_get(list, (size_t)i));
	DTX_TRY(dtx_runner_options(command, tables, DTX_COUNT(tables), &count, argv + DTX_MIN(n, 2),
	                           &words, err));
	args->output = args->snippet = args->approve = args->record = args->head_file = NULL;
	args->receipt = args->snapshot = args->force = false;
	args->lineage = 0;
	dtx_runner_forget_author(args);
	args->progress = 0;
out:
	dtx_mem_free(argv);
	return rc;
}
