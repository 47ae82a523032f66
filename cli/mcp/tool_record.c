/* The tools that look at files and at runs: describe, list, provenance, why and replay. */
#include <string.h>

#include "cli/mcp/tools.h"

#define SNIPPETS_MAX 20

enum stage { STAGE_RECORD, STAGE_WORK };

/* --- what tools share --- */

json_t *dtx_mcp_stdout_json(struct dtx_mcp_call *c)
{
	const struct dtx_json_limits limits = { DTX_BUF_TEXT_MAX, 64 };
	json_t *out = NULL;

	if (dtx_json_parse(dtx_buf_str(&c->child.stdout_text), limits, &out, NULL) != DTX_OK)
		return NULL;
	return out;
}

json_t *dtx_mcp_link(const char *name, const char *uri, int64_t bytes)
{
	return json_pack("{ss ss ss sI}", "type", "resource_link", "name", name, "uri", uri, "size",
	                 (json_int_t)bytes);
}

void dtx_mcp_argv_words(struct dtx_mcp_argv *a, const char *words)
{
	struct dtx_str rest = dtx_str_of(words), word;
	char text[64];

	while (dtx_str_next(&rest, ' ', &word)) {
		dtx_str_copy(text, sizeof(text), word);
		dtx_mcp_argv_add(a, text);
	}
}

void dtx_mcp_argv_option(struct dtx_mcp_argv *a, const char *option, const char *value)
{
	dtx_mcp_argv_add(a, option);
	dtx_mcp_argv_add(a, value);
}

/* A mistake of the call, not of the data: no such run, row or column. */
static bool is_refusal(const json_t *error)
{
	const char *code = dtx_json_text(error, "code", "");

	return !strcmp(code, "usage") || !strcmp(code, "no_record");
}

json_t *dtx_mcp_ended_without(const struct dtx_mcp_call *c)
{
	char text[80];

	snprintf(text, sizeof(text), "the command ended with status %d and said nothing",
	         c->child.status);
	return json_pack("{ss ss ss}", "code", dtx_code_name(DTX_E_BUG), "severity", "error",
	                 "message", text);
}

enum dtx_code dtx_mcp_failed(struct dtx_mcp_call *c, struct dtx_err *err)
{
	const struct dtx_mcp_policy *p = &c->server->policy;
	json_t *findings = dtx_mcp_findings(dtx_buf_str(&c->child.stderr_text));
	json_t *errors = dtx_mcp_show_findings(p, findings, false, NULL);
	const json_t *first = json_array_get(errors, 0);
	const char *hint = dtx_json_text(first, "hint", "");
	enum dtx_code rc = DTX_OK;

	if (!first)
		json_array_append_new(errors, dtx_mcp_ended_without(c));
	if (is_refusal(first)) {
		rc = dtx_err_set(err, DTX_E_USAGE, __FILE__, __LINE__, "%s",
		                 dtx_json_text(first, "message", "the arguments do not fit"));
		/* "dtx why --help" is of no use to one who has no command line */
		dtx_err_hint(err, "%s",
		             *hint && !strstr(hint, "--") ? hint
		                                          : "correct the arguments; provenance "
		                                            "has the columns of a result");
		json_decref(errors);
	} else {
		dtx_mcp_call_result(c,
		                    json_pack("{ss ss so}", "status", "failed", "run_id", c->run_id,
		                              "errors", errors),
		                    NULL);
	}
	json_decref(findings);
	return rc;
}

/* Finishes a call with {"status": "ok", name: value} (taken). */
static void end_with(struct dtx_mcp_call *c, const char *name, json_t *value)
{
	dtx_mcp_call_result(c, value ? json_pack("{ss so}", "status", "ok", name, value) : NULL,
	                    NULL);
}

/* --- a file --- */

enum dtx_code dtx_mcp_describe_start(struct dtx_mcp_call *c, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_mcp_argv a = { .n = 0 };
	const char *sheet = dtx_json_text(c->args, "sheet", NULL);
	char path[PATH_MAX], rows[16];

	DTX_TRY(dtx_mcp_path_in(c->server, dtx_json_text(c->args, "path", ""), path, err));
	dtx_mcp_argv_words(&a, "inspect --json --errors json --progress off");
	if (c->server->policy.rows) {
		snprintf(rows, sizeof(rows), "%d", c->server->policy.rows);
		dtx_mcp_argv_option(&a, "--rows", rows);
	}
	if (sheet)
		dtx_mcp_argv_option(&a, "--sheet", sheet);
	dtx_mcp_argv_add(&a, path);
	rc = dtx_mcp_call_spawn(c, &a, err);
out:
	dtx_mcp_argv_clear(&a);
	return rc;
}

/* The columns that a snippet reads, if it reads one table and the file has all of them; else NULL.
 */
static json_t *snippet_columns(const json_t *snippet, const json_t *file)
{
	const json_t *tables = json_object_get(json_object_get(snippet, "needs"), "tables");
	const json_t *need = json_object_get(json_array_get(tables, 0), "cols");
	json_t *out = json_array(), *one;
	size_t i;

	json_array_foreach(need, i, one)
	{
		json_t *name = json_array_get(one, 0); /* [name, class] */

		if (!json_is_string(name) || !dtx_json_find(json_object_get(file, "columns"),
		                                            "name", json_string_value(name)))
			break;
		json_array_append(out, name);
	}
	if (json_array_size(tables) == 1 && i && i == json_array_size(need))
		return out;
	json_decref(out);
	return NULL;
}

/* The approved snippets that fit a file: a plan with such a step needs no new code for it. The code
 * may have cells of other files in it, so without leave to show cells it is not named. */
static json_t *snippets_for(const struct dtx_mcp_call *c, const json_t *file, const json_t *all)
{
	json_t *out = json_array(), *snippet, *row, *columns;
	char uri[128];
	size_t i;

	json_array_foreach(all, i, snippet)
	{
		columns = snippet_columns(snippet, file);
		if (!columns || json_array_size(out) >= SNIPPETS_MAX) {
			json_decref(columns);
			continue;
		}
		row = dtx_mcp_pick(snippet, "op");
		json_object_set_new(row, "columns", columns);
		snprintf(uri, sizeof(uri), "dtx://snippet/%.64s/code",
		         dtx_json_text(snippet, "cell_id", ""));
		if (c->server->policy.all)
			json_object_set_new(row, "uri", json_string(uri));
		json_array_append_new(out, row);
	}
	return out;
}

enum dtx_code dtx_mcp_describe_ended(struct dtx_mcp_call *c, struct dtx_err *err)
{
	json_t *said = c->child.status ? NULL : dtx_mcp_stdout_json(c);
	struct dtx_mcp_argv a = { .n = 0 };
	enum dtx_code rc = DTX_OK;

	if (c->stage == STAGE_WORK) { /* before the first run there is no store, and no snippet */
		json_object_set_new(c->kept, "snippets", snippets_for(c, c->kept, said));
		end_with(c, "file", json_incref(c->kept));
	} else if (!said) {
		rc = dtx_mcp_failed(c, err);
	} else {
		c->kept = dtx_mcp_show_inspect(&c->server->policy, said);
		c->stage = STAGE_WORK;
		dtx_mcp_argv_words(&a, "snippet list --state approved --json --errors json");
		rc = dtx_mcp_call_spawn(c, &a, err);
	}
	json_decref(said);
	return rc;
}

/* --- all runs --- */

enum dtx_code dtx_mcp_list_start(struct dtx_mcp_call *c, struct dtx_err *err)
{
	struct dtx_mcp_argv a = { .n = 0 };

	/* more than are asked for, as those of other folders are left out */
	dtx_mcp_argv_words(&a, "provenance log --json --errors json --limit 1000");
	if (json_is_string(json_object_get(c->args, "status")))
		dtx_mcp_argv_option(&a, "--status", dtx_json_text(c->args, "status", ""));
	return dtx_mcp_call_spawn(c, &a, err);
}

/* A run of the list. Of a program no file is named, as that name may be a cell. */
static json_t *run_row(const struct dtx_mcp_call *c, const json_t *run)
{
	bool program = strstr(dtx_json_text(run, "argv", ""), "\"exec\"") != NULL;
	json_t *out = dtx_mcp_pick(run, program && !c->server->policy.all
	                                        ? "run_id,namespace,path,status,code,exit,start_us,"
	                                          "end_us"
	                                        : "run_id,namespace,path,status,code,exit,start_us,"
	                                          "end_us,output");

	if (!json_object_get(out, "status"))
		json_object_set_new(out, "status", json_string("running"));
	return out;
}

enum dtx_code dtx_mcp_list_ended(struct dtx_mcp_call *c, struct dtx_err *err)
{
	json_t *all = c->child.status ? NULL : dtx_mcp_stdout_json(c), *run, *runs;
	json_t *findings = dtx_mcp_findings(dtx_buf_str(&c->child.stderr_text));
	size_t limit = (size_t)dtx_json_int(c->args, "limit", 20), i;
	enum dtx_code rc = DTX_OK;

	/* before the first run there is no store */
	if (!all && !dtx_json_find(findings, "code", "no_record")) {
		rc = dtx_mcp_failed(c, err);
		goto out;
	}
	runs = json_array();
	json_array_foreach(all, i, run)
	{
		if (json_array_size(runs) < limit &&
		    dtx_mcp_path_inside(c->server, dtx_json_text(run, "cwd", "")))
			json_array_append_new(runs, run_row(c, run));
	}
	end_with(c, "runs", runs);
out:
	json_decref(findings);
	json_decref(all);
	return rc;
}

/* --- one run --- */

static bool is_run_id(const char *text)
{
	return strlen(text) == DTX_RUN_ID - 1 &&
	       strspn(text, "0123456789abcdef-") == DTX_RUN_ID - 1;
}

/* A run id, or the resolved path of an output. */
static enum dtx_code run_or_path(const struct dtx_mcp_call *c, const char *run, char out[PATH_MAX],
                                 struct dtx_err *err)
{
	if (!is_run_id(run))
		return dtx_mcp_path_in(c->server, run, out, err);
	snprintf(out, PATH_MAX, "%s", run);
	return DTX_OK;
}

enum dtx_code dtx_mcp_record_start(struct dtx_mcp_call *c, const char *run, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_mcp_argv a = { .n = 0 };
	char word[PATH_MAX];

	DTX_TRY(run_or_path(c, run, word, err));
	dtx_mcp_argv_words(&a, "provenance --json --full --errors json");
	dtx_mcp_argv_add(&a, word);
	c->stage = STAGE_RECORD;
	rc = dtx_mcp_call_spawn(c, &a, err);
out:
	dtx_mcp_argv_clear(&a);
	return rc;
}

/* A run of another folder, or of files outside, is not there for this client. */
static bool is_inside(const struct dtx_mcp_server *s, const json_t *record)
{
	const json_t *run = json_object_get(record, "run");
	json_t *input;
	size_t i;

	if (!dtx_mcp_path_inside(s, dtx_json_text(run, "cwd", "")))
		return false;
	json_array_foreach(json_object_get(record, "inputs"), i, input)
	{
		const char *uri = dtx_json_text(input, "uri", "");

		if (strcmp(uri, "-") != 0 && !dtx_mcp_path_inside(s, uri))
			return false;
	}
	return true;
}

enum dtx_code dtx_mcp_record_ended(struct dtx_mcp_call *c, json_t **record, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	*record = c->child.status ? NULL : dtx_mcp_stdout_json(c);
	if (!*record || !is_inside(c->server, *record)) {
		json_decref(*record);
		*record = NULL;
		rc = dtx_err_set(err, DTX_E_USAGE, __FILE__, __LINE__,
		                 "there is no such run of this folder");
		dtx_err_hint(err, "the tool list has the runs there are");
	}
	return rc;
}

static enum dtx_code start_record(struct dtx_mcp_call *c, struct dtx_err *err)
{
	return dtx_mcp_record_start(c, dtx_json_text(c->args, "run", ""), err);
}

enum dtx_code dtx_mcp_provenance_start(struct dtx_mcp_call *c, struct dtx_err *err)
{
	return start_record(c, err);
}

enum dtx_code dtx_mcp_provenance_ended(struct dtx_mcp_call *c, struct dtx_err *err)
{
	json_t *record;
	enum dtx_code rc = dtx_mcp_record_ended(c, &record, err);

	if (rc == DTX_OK)
		end_with(c, "record", dtx_mcp_show_record(&c->server->policy, record));
	json_decref(record);
	return rc;
}

/* Checks the record, then starts the command itself. */
static enum dtx_code next_command(struct dtx_mcp_call *c, struct dtx_mcp_argv *a,
                                  struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	json_t *record = NULL;
	char word[PATH_MAX];

	DTX_TRY(dtx_mcp_record_ended(c, &record, err));
	DTX_TRY(run_or_path(c, dtx_json_text(c->args, "run", ""), word, err));
	dtx_mcp_argv_add(a, word);
	c->stage = STAGE_WORK;
	rc = dtx_mcp_call_spawn(c, a, err);
out:
	json_decref(record);
	dtx_mcp_argv_clear(a);
	return rc;
}

enum dtx_code dtx_mcp_why_start(struct dtx_mcp_call *c, struct dtx_err *err)
{
	return start_record(c, err);
}

static enum dtx_code next_why(struct dtx_mcp_call *c, struct dtx_err *err)
{
	struct dtx_mcp_argv a = { .n = 0 };
	const json_t *key = json_object_get(c->args, "key");
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	const char *name;
	char row[24];
	json_t *value;

	dtx_mcp_argv_words(&a, "why --json --errors json");
	if (!c->server->policy.rows)
		dtx_mcp_argv_add(&a, "--no-values");
	if (json_object_get(c->args, "row")) {
		snprintf(row, sizeof(row), "%lld", (long long)dtx_json_int(c->args, "row", 1));
		dtx_mcp_argv_option(&a, "--row", row);
	}
	dtx_mcp_argv_option(&a, "--col", dtx_json_text(c->args, "column", ""));
	json_object_foreach((json_t *)(uintptr_t)key, name, value)
	{
		dtx_buf_reset(&text);
		dtx_buf_printf(&text, "%s=%s", name, json_string_value(value));
		dtx_mcp_argv_option(&a, "--key", dtx_buf_text(&text));
	}
	dtx_buf_clear(&text);
	return next_command(c, &a, err);
}

enum dtx_code dtx_mcp_why_ended(struct dtx_mcp_call *c, struct dtx_err *err)
{
	json_t *why;

	if (c->stage == STAGE_RECORD)
		return next_why(c, err);
	why = c->child.status ? NULL : dtx_mcp_stdout_json(c);
	if (!why)
		return dtx_mcp_failed(c, err);
	end_with(c, "why",
	         dtx_mcp_pick(why, "run,row,line,column,value,formula,composed,class,"
	                           "cells,decided_by"));
	json_decref(why);
	return DTX_OK;
}

enum dtx_code dtx_mcp_replay_start(struct dtx_mcp_call *c, struct dtx_err *err)
{
	return start_record(c, err);
}

enum dtx_code dtx_mcp_replay_ended(struct dtx_mcp_call *c, struct dtx_err *err)
{
	struct dtx_mcp_argv a = { .n = 0 };
	json_t *replay, *out;

	if (c->stage == STAGE_RECORD) {
		dtx_mcp_argv_words(&a, "replay --json --errors json");
		return next_command(c, &a, err);
	}
	/* 1: done, with another verdict */
	replay = c->child.status > 1 ? NULL : dtx_mcp_stdout_json(c);
	if (!replay)
		return dtx_mcp_failed(c, err);
	out = dtx_mcp_pick(replay, "replay_of,run_id,changed,environment");
	json_object_set_new(out, "outputs",
	                    dtx_mcp_pick_each(json_object_get(replay, "outputs"),
	                                      c->server->policy.rows ? "path,verdict,sha,detail"
	                                                             : "path,verdict,sha"));
	end_with(c, "replay", out);
	json_decref(replay);
	return DTX_OK;
}
