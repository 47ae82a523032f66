/* replay: repeats a recorded run and compares the results. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/exec/exec_replay.h"
#include "cli/signal_flag.h"
#include "cli/compare/compare.h"
#include "cli/run/snapshots.h"
#include "cli/store/lookup.h"
#include "cli/run/runner.h"
#include "core/base/file.h"
#include "core/base/memory/mem.h"
#include "core/base/tempdir.h"
#include "core/io/write/reserve.h"

enum verdict { IDENTICAL, SAME_TABLE, SAME_ROWS, CLOSE, DIFFERENT };
static const char *const verdict_name[] = { "identical", "same-table", "same-rows", "close",
	                                    "different" };

struct replay_args {
	const char *into;
	int inputs; /* 0: recorded, 1: here */
	struct dtx_optlist map;
	int accept; /* 0: default, otherwise enum verdict + 1 */
	bool json;
};

static const struct dtx_opt replay_opts[] = {
	{ .name = "into",
	  .kind = DTX_O_TEXT,
	  .metavar = "DIR",
	  .offset = offsetof(struct replay_args, into),
	  .help = "keep the results in this folder (default: they are compared and removed)" },
	{ .name = "inputs",
	  .kind = DTX_O_CHOICE,
	  .choices = "recorded,here",
	  .offset = offsetof(struct replay_args, inputs),
	  .help = "recorded: only files with the recorded bytes; here: the files as they are now" },
	{ .name = "map",
	  .kind = DTX_O_LIST,
	  .metavar = "OLD=NEW",
	  .offset = offsetof(struct replay_args, map),
	  .help = "an input or its folder was moved" },
	{ .name = "accept",
	  .kind = DTX_O_CHOICE,
	  .choices = "default,identical,same-table,same-rows,close,different",
	  .offset = offsetof(struct replay_args, accept),
	  .help = "the least verdict with exit status 0 (same-table)" },
	{ .name = "json",
	  .kind = DTX_O_FLAG,
	  .offset = offsetof(struct replay_args, json),
	  .help = "verdicts as JSON" },
};

struct replay {
	const struct dtx_cli *cli;
	const struct replay_args *args;
	json_t *record, *report;
	struct dtx_tempdir temp; /* for results without --into; removed at the end */
	char dir[4096];
	struct dtx_snapshots kept;
	enum verdict worst;
	bool changed; /* a recorded output on disk is not what the run wrote */
};

/* --- inputs --- */

/* OLD is the file, or a folder above it. */
static enum dtx_code replay_map_one(json_t *input, const char *map, bool *used, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const char *uri = dtx_json_text(input, "uri", ""), *eq = strchr(map, '=');
	size_t len = eq ? (size_t)(eq - map) : 0;
	struct dtx_buf path = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);

	if (!len || !eq[1])
		DTX_FAIL(err, DTX_E_USAGE, "option '--map' takes OLD=NEW, got '%s'", map);
	while (len > 1 && map[len - 1] == '/')
		len--;
	if (strncmp(uri, map, len) != 0 || (uri[len] && uri[len] != '/'))
		goto out;
	*used = true;
	dtx_buf_printf(&path, "%s%s", eq + 1, uri + len);
	if (!dtx_buf_ok(&path) || !dtx_json_set(input, "uri", json_string(dtx_buf_text(&path))))
		DTX_FAIL_MEM(err);
out:
	dtx_buf_clear(&path);
	return rc;
}

static enum dtx_code replay_map(struct replay *p, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	json_t *input;
	size_t i, k;

	for (k = 0; k < p->args->map.n; k++) {
		const char *map = p->args->map.item[k];
		char *whole = NULL;
		bool used = false;

		json_array_foreach(json_object_get(p->record, "inputs"), i, input)
			DTX_TRY(replay_map_one(input, map, &used, err));
		/* OLD may be relative to the current folder, as file names are elsewhere */
		if (!used && *map != '/' && strchr(map, '='))
			whole = dtx_file_absolute(map);
		for (i = 0; whole && rc == DTX_OK &&
		            i < json_array_size(json_object_get(p->record, "inputs"));
		     i++)
			rc = replay_map_one(json_array_get(json_object_get(p->record, "inputs"), i),
			                    whole, &used, err);
		dtx_mem_free(whole);
		DTX_TRY(rc);
		if (used || !strchr(map, '='))
			continue;
		rc = dtx_err_set(err, DTX_E_USAGE, __FILE__, __LINE__,
		                 "option '--map %s': no recorded input is or was below '%.*s'", map,
		                 (int)strcspn(map, "="), map);
		dtx_err_hint(err, "give whole paths as `dtx provenance RUN --json` has them");
		goto out;
	}
out:
	return rc;
}

static enum dtx_code replay_inputs(struct replay *p, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	json_t *input;
	size_t i;

	json_array_foreach(json_object_get(p->record, "inputs"), i, input)
	{
		const char *uri = dtx_json_text(input, "uri", "-");
		const char *state = dtx_json_text(input, "file", "not kept");

		if (!strcmp(state, "unchanged") || (p->args->inputs && strcmp(uri, "-") != 0))
			continue;
		dtx_snapshots_lost(input, state, err);
		if (!strcmp(state, "not kept"))
			dtx_err_hint(err, "--map %s=FILE that holds them; %s", uri,
			             dtx_snapshots_way(input));
		else
			dtx_err_hint(
				err,
				"--map %s=FILE names a file with the old content, --inputs here "
				"takes the files as they are",
				uri);
		return DTX_E_INPUT_CHANGED;
	}
	return rc;
}

/* --- the run --- */

static enum dtx_code replay_dir(struct replay *p, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	if (p->args->into) {
		snprintf(p->dir, sizeof(p->dir), "%s", p->args->into);
		if (mkdir(p->dir, 0777) < 0 && errno != EEXIST)
			DTX_FAIL_NEXT(err, DTX_E_OUTPUT_IO, "name another folder with --into",
			              "cannot make the folder '%s': %s", p->dir, strerror(errno));
		goto out;
	}
	DTX_TRY(dtx_tempdir_make(&p->temp, "replay", err));
	snprintf(p->dir, sizeof(p->dir), "%s", p->temp.path);
out:
	return rc;
}

/* Reserves the recorded files, because the results are compared with them. */
static enum dtx_code replay_reserve(const struct replay *p, const char *list, const char *key,
                                    const char *what, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	json_t *file;
	size_t i;

	json_array_foreach(json_object_get(p->record, list), i, file)
	{
		const char *path = dtx_json_text(file, key, "-");

		if (strcmp(path, "-") != 0)
			DTX_TRY(dtx_reserve(path, what, err));
	}
out:
	return rc;
}

/* --- verdicts --- */

static bool replay_equal(const json_t *was, const char *key, const char *is)
{
	const char *text = dtx_json_text(was, key, NULL);

	return text && is && !strcmp(text, is);
}

/* Compares cells. The recorded file is read only if hashes are not enough, and only if it is
 * unchanged. */
static enum verdict replay_cells(const json_t *was, const char *is, char *text, size_t size)
{
	struct dtx_compare c;
	struct dtx_err err = DTX_ERR_INIT;
	enum verdict v = DIFFERENT;
	const char *path = dtx_json_text(was, "path", "-");
	const char *format = dtx_json_text(json_object_get(was, "writer"), "format", "");

	if (dtx_str_in_list("md,text", format)) {
		snprintf(text, size, "%s is for people: no cell is named", format);
		return v;
	}
	snprintf(text, size, "the recorded file is not at hand to name a cell");
	if (strcmp(dtx_json_text(was, "file", ""), "unchanged") != 0)
		return v;
	if (dtx_compare_files(path, is, &c, &err) != DTX_OK) {
		snprintf(text, size, "the files cannot be compared: %s", err.msg);
	} else if (c.how == DTX_COMPARE_CLOSE || c.how == DTX_COMPARE_EQUAL) {
		v = CLOSE;
		snprintf(text, size, "numbers within 4 units in the last place");
	} else if (c.how == DTX_COMPARE_SHAPE) {
		snprintf(text, size, "%s", c.text);
	} else {
		snprintf(text, size, "row %lld, column '%s': '%s', was '%s'", (long long)c.row,
		         c.column, c.is, c.was);
	}
	dtx_err_clear(&err);
	return v;
}

static enum dtx_code replay_judge(struct replay *p, const struct dtx_runner *r, uint32_t i,
                                  struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const json_t *was = json_array_get(json_object_get(p->record, "outputs"), i);
	const struct dtx_exec_output *x = &r->result->output[i];
	const struct dtx_outfile_info *f = dtx_outfile_info(x->file);
	char text[480] = "";
	enum verdict v;

	if (replay_equal(was, "sha", f->sha))
		v = IDENTICAL;
	else if (replay_equal(was, "table_hash", x->table_hash))
		v = SAME_TABLE;
	else if (replay_equal(was, "rows_hash", x->rows_hash))
		v = SAME_ROWS;
	else
		v = replay_cells(was, f->path, text, sizeof(text));
	p->worst = DTX_MAX(p->worst, v);
	if (json_array_append_new(
		    json_object_get(p->report, "outputs"),
		    json_pack("{ss ss ss ss? ss?}", "path", dtx_json_text(was, "path", "-"),
	                      "verdict", verdict_name[v], "sha", f->sha, "detail",
	                      text[0] ? text : NULL, "into", p->temp.path[0] ? NULL : f->path)) < 0)
		DTX_FAIL_MEM(err);
out:
	return rc;
}

/* Lists the members of `now` that differ from `then`. */
static enum dtx_code replay_differs(struct replay *p, const json_t *then, const json_t *now,
                                    struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	json_t *list = json_object_get(p->report, "environment"), *value;
	const char *key;

	json_object_foreach((json_t *)(uintptr_t)now, key, value)
	{
		const json_t *was = json_object_get(then, key);

		if (json_equal(was, value))
			continue;
		if (json_array_append_new(list, json_pack("{ss sO? sO}", "key", key, "was", was,
		                                          "is", value)) < 0)
			DTX_FAIL_MEM(err);
	}
out:
	return rc;
}

/* Compares the program and the machine with those of the recorded run. */
static enum dtx_code replay_environment(struct replay *p, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	json_t *now = dtx_env_describe();

	if (!now)
		DTX_FAIL_MEM(err);
	DTX_TRY(replay_differs(p, json_object_get(p->record, "env"), now, err));
out:
	json_decref(now);
	return rc;
}

/* The runtime of a snippet: versions of python, pandas, numpy. */
static const json_t *replay_region(const json_t *record, size_t i)
{
	const json_t *region = json_array_get(json_object_get(record, "regions"), i);
	const json_t *jail = json_object_get(json_object_get(region, "jail"), "jail");

	return json_object_get(jail, "runtime");
}

/* Compares the runtimes of snippets; those of the replay are in its own record. */
static enum dtx_code replay_runtime(struct replay *p, const char *run_id, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_store *store = NULL;
	json_t *now = NULL;

	if (!replay_region(p->record, 0))
		return DTX_OK;
	DTX_TRY(dtx_store_open(p->cli->store, DTX_STORE_READ, &store, err));
	DTX_TRY(dtx_query_record(store, run_id, false, NULL, &now, err));
	for (size_t i = 0; replay_region(p->record, i); i++)
		DTX_TRY(replay_differs(p, replay_region(p->record, i), replay_region(now, i), err));
out:
	dtx_store_free(store);
	json_decref(now);
	return rc;
}

/* Printed first, because a verdict does not include it. */
static void replay_print_changed(const struct replay *p, struct dtx_buf *out)
{
	const char *run = dtx_run_id_short(dtx_json_text(p->report, "replay_of", ""));
	json_t *row;
	size_t i;

	json_array_foreach(json_object_get(p->report, "changed"), i, row)
	{
		const char *by = dtx_json_text(row, "written_by", NULL);

		dtx_buf_printf(out, "%-12s", by ? "rewritten" : "changed");
		dtx_out_safe(out, dtx_json_text(row, "path", ""), false);
		if (by)
			dtx_buf_printf(out, " has now what run %s wrote, not what run %s did\n",
			               dtx_run_id_short(by), run);
		else
			dtx_buf_printf(out,
			               " is not as run %s wrote it (sha256 %.8s); replay "
			               "compares with what the run wrote\n",
			               run, dtx_json_text(row, "was", ""));
	}
}

static void replay_print(const struct replay *p, struct dtx_buf *out)
{
	json_t *row;
	size_t i;

	replay_print_changed(p, out);
	dtx_buf_printf(out, "%-12s%s as %s\n", "replay",
	               dtx_run_id_short(dtx_json_text(p->report, "replay_of", "")),
	               dtx_run_id_short(dtx_json_text(p->report, "run_id", "")));
	json_array_foreach(json_object_get(p->report, "environment"), i, row)
	{
		dtx_buf_printf(out, "%-12s%s %s, was %s\n", i ? "" : "environment",
		               dtx_json_text(row, "key", ""), dtx_json_text(row, "is", "none"),
		               dtx_json_text(row, "was", "none"));
	}
	json_array_foreach(json_object_get(p->report, "outputs"), i, row)
	{
		const char *detail = dtx_json_text(row, "detail", NULL);

		dtx_buf_printf(out, "%-12s%s  sha256 %.8s%s%s\n", dtx_json_text(row, "verdict", ""),
		               dtx_json_text(row, "path", "-"), dtx_json_text(row, "sha", ""),
		               detail ? "  " : "", detail ? detail : "");
	}
}

/* --- the command --- */

/* Finds the run that wrote the bytes in the file now; "" if none is known. */
static enum dtx_code replay_wrote(struct dtx_store *store, const char *path, const char *run,
                                  char by[DTX_RUN_ID], struct dtx_err *err)
{
	struct dtx_found found = { .output = -1 };
	enum dtx_code rc = dtx_query_find(store, path, NULL, NULL, NULL, &found, err);

	by[0] = '\0';
	if (rc == DTX_E_NO_RECORD) {
		dtx_err_clear(err);
		return DTX_OK;
	}
	if (rc == DTX_OK && !found.file_changed && strcmp(found.run_id, run) != 0)
		memcpy(by, found.run_id, DTX_RUN_ID);
	return rc;
}

/* Lists outputs whose file is not what the run wrote: even if the replay makes equal bytes
 * again, the file is another one. A file that a later run wrote under the same name is listed,
 * but is not a fault. */
static enum dtx_code replay_changed(struct replay *p, struct dtx_store *store, const char *what,
                                    struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const json_t *found = json_object_get(p->record, "found");
	const char *run = dtx_json_text(json_object_get(p->record, "run"), "run_id", "");
	json_t *output;
	char by[DTX_RUN_ID];
	size_t i;

	json_array_foreach(json_object_get(p->record, "outputs"), i, output)
	{
		const char *path = dtx_json_text(output, "path", "-");
		const char *state = dtx_json_text(output, "file", "");

		if (found && dtx_json_int(found, "output", -1) == (int64_t)i &&
		    access(what, F_OK) == 0) { /* the operand was a copy */
			path = what;
			state = dtx_json_bool(found, "file_changed", false) ? "changed" : "";
		}
		if (strcmp(state, "changed") != 0)
			continue;
		DTX_TRY(replay_wrote(store, path, run, by, err));
		p->changed |= !by[0];
		if (json_array_append_new(json_object_get(p->report, "changed"),
		                          json_pack("{ss ss ss*}", "path", path, "was",
		                                    dtx_json_text(output, "sha", ""), "written_by",
		                                    by[0] ? by : NULL)) < 0)
			DTX_FAIL_MEM(err);
	}
out:
	return rc;
}

static bool replay_is_program(const struct replay *p)
{
	return !strcmp(dtx_json_text(json_object_get(p->record, "run"), "command", ""), "exec");
}

static enum dtx_code replay_find(struct replay *p, const char *what, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_store *store = NULL;
	const json_t *run;

	DTX_TRY(dtx_store_open(p->cli->store, DTX_STORE_READ, &store, err));
	DTX_TRY(dtx_lookup(store, what, true, &p->record, err));
	DTX_TRY(dtx_lookup_model(store, p->record, err));
	run = json_object_get(p->record, "run");
	if (replay_is_program(p))
		goto out;
	if (strcmp(dtx_json_text(run, "status", ""), "ok") != 0)
		DTX_FAIL(err, DTX_E_NO_RECORD,
		         "cannot: run %s ended '%s': it has no result to compare with",
		         dtx_json_text(run, "short", ""), dtx_json_text(run, "status", "open"));
	DTX_TRY(replay_map(p, err));
	DTX_TRY(dtx_query_files(p->record, err));
	p->report = json_pack("{ss s[] s[] s[]}", "replay_of", dtx_json_text(run, "run_id", ""),
	                      "changed", "environment", "outputs");
	if (!p->report)
		DTX_FAIL_MEM(err);
	DTX_TRY(replay_changed(p, store, what, err));
	if (!p->args->inputs)
		DTX_TRY(dtx_snapshots_restore(store, p->record, &p->kept, err));
	DTX_TRY(replay_inputs(p, err));
	DTX_TRY(replay_environment(p, err));
out:
	dtx_store_free(store);
	return rc;
}

static enum dtx_code replay_again(struct replay *p, int *status, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const json_t *run = json_object_get(p->record, "run");
	const char *file = dtx_json_text(json_object_get(run, "plan"), "file", NULL);
	struct dtx_run_args args = { .output = NULL };
	struct dtx_runner_replay replay = { .record = p->record, .dir = p->dir };
	struct dtx_runner r = { .cli = p->cli,
		                .args = &args,
		                .plan_path = file,
		                .command = "replay",
		                .replay = &replay };
	uint32_t i;

	DTX_TRY(dtx_runner_replay_options(p->record, &args, err));
	dtx_cancel_catch(); /* from here on there is something to clean up */
	DTX_TRY(replay_dir(p, err));
	DTX_TRY(replay_reserve(p, "outputs", "path", "a result of the recorded run", err));
	DTX_TRY(replay_reserve(p, "inputs", "uri", "an input of the recorded run", err));
	*status = dtx_runner_main(&r, 0, NULL);
	if (*status)
		goto out;
	if (!dtx_json_set(p->report, "run_id", json_string(r.run_id)))
		DTX_FAIL_MEM(err);
	DTX_TRY(replay_runtime(p, r.run_id, err));
	for (i = 0; i < r.result->noutputs; i++)
		DTX_TRY(replay_judge(p, &r, i, err));
	*status = p->changed ||
	          p->worst > (p->args->accept ? (enum verdict)(p->args->accept - 1) : SAME_TABLE);
out:
	dtx_runner_clear(&r);
	return rc;
}

/* A program of `dtx exec`, or the calls of a session. */
static enum dtx_code replay_program(struct replay *p, int *status, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_store *store = NULL;
	json_t *report = NULL;
	bool differs = false;

	if (p->args->inputs || p->args->map.n || p->args->accept)
		DTX_FAIL(err, DTX_E_USAGE,
		         "options '--inputs', '--map' and '--accept' are for runs of plans, and "
		         "this is one of dtx exec");
	dtx_cancel_catch();
	DTX_TRY(dtx_store_open(p->cli->store, DTX_STORE_READ, &store, err));
	DTX_TRY(dtx_exec_replay(p->cli, store, p->record, p->args->into, &report, &differs, err));
	json_decref(p->report);
	p->report = report;
	*status = differs;
out:
	dtx_store_free(store);
	return rc;
}

static int replay_main(const struct dtx_cli *cli, void *args, int argc, char **argv)
{
	struct replay p = { .cli = cli, .args = args };
	struct dtx_buf out = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	struct dtx_err err = DTX_ERR_INIT;
	enum dtx_code rc = DTX_OK;
	int status = 0, printed = 0;

	DTX_TRY(replay_find(&p, argc ? argv[0] : NULL, &err));
	if (replay_is_program(&p)) {
		DTX_TRY(replay_program(&p, &status, &err));
	} else {
		DTX_TRY(replay_again(&p, &status, &err));
		if (!json_object_get(p.report, "run_id"))
			goto out; /* the run has printed the reason */
	}
	if (p.args->json) {
		dtx_json_print(p.report, 1, &out);
		dtx_buf_add(&out, "\n");
	} else if (replay_is_program(&p)) {
		dtx_exec_replay_print(p.report, &out);
	} else {
		replay_print(&p, &out);
	}
	printed = dtx_out_print(cli, &out);
	status = printed ? printed : status;
out:
	if (!printed && !out.len && p.report) { /* there is no verdict, but this is known anyway */
		replay_print_changed(&p, &out);
		if (out.len)
			dtx_out_note(cli, "%s", dtx_buf_text(&out));
	}
	if (rc != DTX_OK)
		status = dtx_out_fail(cli, &err);
	dtx_tempdir_remove(&p.temp);
	dtx_snapshots_clear(&p.kept);
	json_decref(p.record);
	json_decref(p.report);
	dtx_buf_clear(&out);
	dtx_err_clear(&err);
	return status;
}

const struct dtx_cmd dtx_cmd_replay = {
	.name = "replay",
	.usage = "[RUN | FILE]",
	.summary = "Do a recorded run again and compare the results",
	.notes = "The recorded plan, options, code and clock are used, on the recorded inputs: a "
		 "file is\n"
		 "taken only if it has the recorded bytes; what `run --snapshot-inputs` kept comes "
		 "from the\n"
		 "store.  Verdicts, best first: identical (the "
		 "bytes),\n"
		 "same-table (the values), same-rows (the values in another order), close (numbers "
		 "within\n"
		 "4 units in the last place), different (with the first cell).  What differs in "
		 "the\n"
		 "environment is listed first, and before it each file of a result that is not "
		 "what the run\n"
		 "wrote: the exit status is 1 then, whatever the verdict.\n"
		 "Of a call of a session (`dtx exec --session`) all calls up to it run again, and "
		 "each is compared:\n"
		 "status, output, value and files; so is a single program of `dtx exec`.\n\n"
		 "  dtx replay out.csv\n"
		 "  dtx replay 70ecc9a9 --map /data/2025=/archive/2025 --into again",
	.exits = "0 identical or same-table; 1 another verdict, or the file of a result was "
		 "changed since; 4 an input is changed or gone; 7 "
		 "the code is revoked; 8 no jail; 9 plan or code is not in the store",
	.opts = replay_opts,
	.nopts = DTX_COUNT(replay_opts),
	.args_size = sizeof(struct replay_args),
	.max_args = 1,
	.run = replay_main,
};
