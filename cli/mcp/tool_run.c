/* The tools that run a plan: run_plan and submit_code. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/mcp/tools.h"
#include "core/base/file.h"
#include "core/io/formats.h"

#define ATTEMPTS     3
#define WARNINGS_MAX 50

enum stage { STAGE_RUN, STAGE_PROMPT, STAGE_PREVIEW, STAGE_CHECK, STAGE_EXPLAIN };

/* --- the plan and its files --- */

static enum dtx_code set_text(json_t *object, const char *key, const char *text,
                              struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (!dtx_json_set(object, key, json_string(text)))
		DTX_FAIL_MEM(err);
out:
	return rc;
}

/* One path, or a list of them, as absolute paths below the root. New reference. */
static enum dtx_code resolve_files(const struct dtx_mcp_call *c, const json_t *files, json_t **out,
                                   struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	char path[PATH_MAX];
	json_t *item;
	size_t i;

	*out = NULL;
	if (json_is_string(files)) {
		DTX_TRY(dtx_mcp_path_in(c->server, json_string_value(files), path, err));
		*out = json_string(path);
		goto out;
	}
	if (!json_is_array(files))
		DTX_FAIL(err, DTX_E_USAGE, "a path must be a text or a list of texts");
	*out = json_array();
	json_array_foreach((json_t *)(uintptr_t)files, i, item)
	{
		if (!json_is_string(item))
			DTX_FAIL(err, DTX_E_USAGE, "a path must be a text");
		DTX_TRY(dtx_mcp_path_in(c->server, json_string_value(item), path, err));
		json_array_append_new(*out, json_string(path));
	}
out:
	if (rc == DTX_OK && !*out)
		rc = dtx_err_set(err, DTX_E_NO_MEMORY, __FILE__, __LINE__, "out of memory");
	if (rc != DTX_OK) {
		json_decref(*out);
		*out = NULL;
	}
	return rc;
}

/* Puts the files into the plan's inputs. An input that the plan does not declare is added, so that
 * a plan without inputs gets them in the order of the call. */
static enum dtx_code set_inputs(const struct dtx_mcp_call *c, json_t *plan, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	json_t *inputs = json_object_get(plan, "inputs"), *files, *item, *one = NULL;
	bool replace = json_is_true(json_object_get(c->args, "replace"));
	char path[PATH_MAX];
	const char *name;
	size_t i;

	if (!inputs) {
		inputs = json_array();
		if (!dtx_json_set(plan, "inputs", inputs))
			DTX_FAIL_MEM(err);
	}
	if (!json_is_array(inputs))
		goto out; /* dtx says what is wrong with it */
	json_array_foreach(inputs, i, item)
	{
		if (json_object_get(item, "path")) {
			DTX_TRY(resolve_files(c, json_object_get(item, "path"), &one, err));
			if (!dtx_json_set(item, "path", one))
				DTX_FAIL_MEM(err);
		}
		if (json_is_string(json_object_get(item, "rejects"))) {
			DTX_TRY(dtx_mcp_path_out(c->server, dtx_json_text(item, "rejects", ""),
			                         replace, path, err));
			DTX_TRY(set_text(item, "rejects", path, err));
		}
	}
	files = json_object_get(c->args, "files");
	json_object_foreach(files, name, item)
	{
		json_t *input = dtx_json_find(inputs, "name", name);

		DTX_TRY(resolve_files(c, item, &one, err));
		if (!input) {
			input = json_pack("{ss}", "name", name);
			if (json_array_append_new(inputs, input) < 0)
				DTX_FAIL_MEM(err);
		}
		if (!dtx_json_set(input, "path", one))
			DTX_FAIL_MEM(err);
	}
	if (!json_array_size(inputs))
		json_object_del(plan, "inputs");
out:
	return rc;
}

/* Sets where one output goes. The plan's own path, else that of the call, else a file of the
 * server. */
static enum dtx_code set_output(const struct dtx_mcp_call *c, json_t *output, const char *wanted,
                                size_t number, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	bool replace = json_is_true(json_object_get(c->args, "replace"));
	const char *format = dtx_json_text(output, "format", "auto");
	bool known = strcmp(format, "auto") != 0 && dtx_str_in_list(dtx_write_formats, format);
	char path[PATH_MAX];
	size_t n;

	wanted = wanted ? wanted : dtx_json_text(output, "path", NULL);
	if (wanted && strcmp(wanted, "-") != 0) {
		DTX_TRY(dtx_mcp_path_out(c->server, wanted, replace, path, err));
	} else {
		snprintf(path, sizeof(path), "%s/%s", c->server->scratch.path, c->run_id);
		if (mkdir(path, 0700) && errno != EEXIST)
			DTX_FAIL_FILE(err, dtx_file_write_code(errno), "make", path);
		n = strlen(path);
		if (known)
			snprintf(path + n, sizeof(path) - n, "/result%zu.%s", number + 1, format);
		else
			snprintf(path + n, sizeof(path) - n, "/result%zu.csv", number + 1);
	}
	DTX_TRY(set_text(output, "path", path, err));
out:
	return rc;
}

static enum dtx_code set_outputs(const struct dtx_mcp_call *c, json_t *plan, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const char *wanted = dtx_json_text(c->args, "output", NULL);
	json_t *output = json_object_get(plan, "output"), *item;
	size_t i;

	if (!output) {
		output = json_object();
		if (!dtx_json_set(plan, "output", output))
			DTX_FAIL_MEM(err);
	}
	if (json_is_object(output))
		DTX_TRY(set_output(c, output, wanted, 0, err));
	if (wanted && json_array_size(output) > 1)
		DTX_FAIL_NEXT(err, DTX_E_USAGE, "give each output of the plan its \"path\"",
		              "'output' names one file, and the plan has %zu outputs",
		              json_array_size(output));
	json_array_foreach(output, i, item) if (json_is_object(item))
		DTX_TRY(set_output(c, item, wanted, i, err));
out:
	return rc;
}

static enum dtx_code scratch_json(const struct dtx_mcp_call *c, const char *name,
                                  const json_t *value, char path[PATH_MAX], struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);

	dtx_json_print(value, 1, &text);
	DTX_TRY(dtx_buf_check(&text, name, err));
	DTX_TRY(dtx_mcp_scratch(c, name, dtx_buf_str(&text), path, err));
out:
	dtx_buf_clear(&text);
	return rc;
}

/* Writes the plan with its resolved paths, which c->kept then holds. */
static enum dtx_code write_plan(struct dtx_mcp_call *c, char path[PATH_MAX], struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	json_t *plan = json_deep_copy(json_object_get(c->args, "plan"));

	if (!plan)
		DTX_FAIL_MEM(err);
	DTX_TRY(set_inputs(c, plan, err));
	DTX_TRY(set_outputs(c, plan, err));
	DTX_TRY(scratch_json(c, "plan.json", plan, path, err));
	json_decref(c->kept);
	c->kept = json_incref(plan);
out:
	json_decref(plan);
	return rc;
}

/* --- children --- */

static enum dtx_code add_params(struct dtx_mcp_call *c, struct dtx_mcp_argv *a, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const json_t *params = json_object_get(c->args, "params");
	char path[PATH_MAX];

	if (!json_object_size(params))
		goto out;
	DTX_TRY(scratch_json(c, "params.json", params, path, err));
	dtx_mcp_argv_option(a, "--params", path);
out:
	return rc;
}

static void record_path(const struct dtx_mcp_call *c, char path[PATH_MAX])
{
	snprintf(path, PATH_MAX, "%s/%s-record.json", c->server->scratch.path, c->run_id);
}

static enum dtx_code start_run(struct dtx_mcp_call *c, const char *code, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_mcp_argv a = { .n = 0 };
	char plan[PATH_MAX], record[PATH_MAX], answer[PATH_MAX];

	DTX_TRY(write_plan(c, plan, err));
	record_path(c, record);
	dtx_mcp_argv_words(&a, "run --errors json --progress off --cache-only");
	dtx_mcp_argv_option(&a, "--run-id", c->run_id);
	dtx_mcp_argv_option(&a, "--record", record);
	DTX_TRY(add_params(c, &a, err));
	if (code) {
		DTX_TRY(dtx_mcp_scratch(c, "answer.py", dtx_str_of(code), answer, err));
		dtx_mcp_argv_option(&a, "--snippet", answer);
		/* a model's code is not approved by being handed in */
		dtx_mcp_argv_option(&a, "--approve",
		                    c->server->policy.approve_auto ? "auto" : "require");
	}
	dtx_mcp_argv_add(&a, plan);
	c->stage = STAGE_RUN;
	rc = dtx_mcp_call_spawn(c, &a, err);
out:
	dtx_mcp_argv_clear(&a);
	return rc;
}

/* Names the files of the plan again, which check and explain read only where they are named. Of an
 * input of several files the first one shows the columns. */
static enum dtx_code add_operands(const struct dtx_mcp_call *c, struct dtx_mcp_argv *a,
                                  struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	json_t *item;
	size_t i;

	json_array_foreach(json_object_get(c->kept, "inputs"), i, item)
	{
		json_t *path = json_object_get(item, "path");

		path = json_is_array(path) ? json_array_get(path, 0) : path;
		if (!json_is_string(path) || !json_is_string(json_object_get(item, "name")))
			continue;
		dtx_buf_reset(&text);
		dtx_buf_printf(&text, "%s=%s", dtx_json_text(item, "name", ""),
		               json_string_value(path));
		DTX_TRY(dtx_buf_check(&text, "name of a file", err));
		dtx_mcp_argv_add(a, dtx_buf_text(&text));
	}
out:
	dtx_buf_clear(&text);
	return rc;
}

static enum dtx_code start_dry(struct dtx_mcp_call *c, enum stage stage, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_mcp_argv a = { .n = 0 };
	char plan[PATH_MAX];

	DTX_TRY(write_plan(c, plan, err));
	dtx_mcp_argv_words(&a, stage == STAGE_CHECK ? "check --errors json"
	                                            : "explain --json --errors json");
	DTX_TRY(add_params(c, &a, err));
	dtx_mcp_argv_add(&a, "--");
	dtx_mcp_argv_add(&a, plan);
	DTX_TRY(add_operands(c, &a, err));
	c->stage = (int)stage;
	rc = dtx_mcp_call_spawn(c, &a, err);
out:
	dtx_mcp_argv_clear(&a);
	return rc;
}

/* --- results --- */

static json_t *base_result(const struct dtx_mcp_call *c, const char *status, const json_t *findings)
{
	const struct dtx_mcp_policy *p = &c->server->policy;
	json_t *out = json_pack("{ss ss}", "status", status, "run_id", c->run_id);
	json_t *errors = dtx_mcp_show_findings(p, findings, false, c->kept);
	json_t *warnings = dtx_mcp_show_findings(p, findings, true, c->kept);

	if (!json_array_size(errors) && !strcmp(status, "failed"))
		json_array_append_new(errors, dtx_mcp_ended_without(c));
	if (json_array_size(errors))
		json_object_set(out, "errors", errors);
	if (json_array_size(warnings))
		json_object_set(out, "warnings", warnings);
	json_decref(errors);
	json_decref(warnings);
	return out;
}

static json_t *outputs_of(const struct dtx_mcp_call *c, const json_t *record, json_t *links)
{
	json_t *out = dtx_mcp_show_outputs(&c->server->policy, record, c->kept), *one;
	struct dtx_buf uri = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	size_t i;

	json_array_foreach(out, i, one)
	{
		const char *name = dtx_file_basename(dtx_json_text(one, "path", ""));

		dtx_buf_reset(&uri);
		dtx_mcp_uri_out(c->run_id, name, &uri);
		json_object_set_new(one, "name", json_string(name));
		json_object_set_new(one, "uri", json_string(dtx_buf_text(&uri)));
		json_array_append_new(links, dtx_mcp_link(name, dtx_buf_text(&uri),
		                                          dtx_json_int(one, "bytes", 0)));
	}
	dtx_buf_clear(&uri);
	return out;
}

/* Reads the record of a run that ended well, and asks for a preview if the policy allows one. */
static enum dtx_code end_ok(struct dtx_mcp_call *c, const json_t *findings, struct dtx_err *err)
{
	const struct dtx_json_limits limits = { DTX_BUF_TEXT_MAX, 32 };
	enum dtx_code rc = DTX_OK;
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	struct dtx_mcp_argv a = { .n = 0 };
	json_t *record = NULL, *outputs;
	const char *first;
	char path[PATH_MAX], rows[16];

	record_path(c, path);
	DTX_TRY(dtx_file_slurp(path, &text, err));
	DTX_TRY(dtx_json_parse(dtx_buf_str(&text), limits, &record, err));
	c->result = base_result(c, "ok", findings);
	c->content = json_array();
	outputs = outputs_of(c, record, c->content);
	json_object_set_new(c->result, "outputs", outputs);
	json_object_set_new(
		c->result, "steps",
		dtx_mcp_pick_each(json_object_get(record, "steps"), "idx,op,rows_in,rows_out"));
	first = dtx_json_text(json_array_get(outputs, 0), "path", NULL);
	if (!first || !c->server->policy.rows) {
		c->finished = true;
		goto out;
	}
	snprintf(rows, sizeof(rows), "%d", c->server->policy.rows);
	dtx_mcp_argv_words(&a, "inspect --json --errors json");
	dtx_mcp_argv_option(&a, "--rows", rows);
	dtx_mcp_argv_add(&a, first);
	c->stage = STAGE_PREVIEW;
	rc = dtx_mcp_call_spawn(c, &a, err);
out:
	dtx_mcp_argv_clear(&a);
	dtx_buf_clear(&text);
	json_decref(record);
	return rc;
}

/* Adds the first rows of the first output. An output that cannot be read as a table, such as
 * HTML, has no preview. */
static void end_preview(struct dtx_mcp_call *c)
{
	json_t *inspect = dtx_mcp_stdout_json(c);
	json_t *sample = json_object_get(inspect, "sample");
	struct dtx_buf text = DTX_BUF_INIT(DTX_MCP_PREVIEW_MAX);

	dtx_json_print(sample, 0, &text);
	if (c->child.status == 0 && json_is_array(sample) && dtx_buf_ok(&text))
		json_object_set(json_array_get(json_object_get(c->result, "outputs"), 0), "preview",
		                sample);
	dtx_buf_clear(&text);
	json_decref(inspect);
	c->finished = true;
}

static struct dtx_mcp_ticket *ticket_find(struct dtx_mcp_server *s, const char *id)
{
	for (size_t i = 0; i < DTX_MCP_TICKETS_MAX; i++)
		if (*id && !strcmp(s->ticket[i].id, id))
			return &s->ticket[i];
	return NULL;
}

/* The ticket of a call: its own, or the one that it was made with. The oldest makes room. */
static struct dtx_mcp_ticket *ticket_of(struct dtx_mcp_call *c)
{
	struct dtx_mcp_server *s = c->server;
	struct dtx_mcp_ticket *t = ticket_find(s, dtx_json_text(c->args, "ticket", ""));

	if (t)
		return t;
	t = &s->ticket[s->next_ticket++ % DTX_MCP_TICKETS_MAX];
	json_decref(t->args);
	*t = (struct dtx_mcp_ticket){ .args = json_incref(c->args), .attempts = ATTEMPTS };
	memcpy(t->id, c->run_id, sizeof(t->id));
	return t;
}

static void add_ticket(struct dtx_mcp_call *c, json_t *result)
{
	struct dtx_mcp_ticket *t = ticket_of(c);

	json_object_set_new(result, "ticket", json_string(t->id));
	json_object_set_new(result, "attempts_left", json_integer(t->attempts));
}

/* A step needs code: gets the prompt for it from the record of the run. */
static enum dtx_code start_prompt(struct dtx_mcp_call *c, json_t *result, const json_t *offer,
                                  struct dtx_err *err)
{
	struct dtx_mcp_argv a = { .n = 0 };

	if (!c->server->policy.rows &&
	    dtx_mcp_makes_columns(c->kept, (size_t)dtx_json_int(offer, "step", 0))) {
		/* a prompt names all columns of its table */
		json_object_set_new(result, "prompt",
		                    json_string("(withheld: columns of the table have names that "
		                                "steps before made of cells) Write a Python module "
		                                "with transform(tables, params) that returns one "
		                                "DataFrame; tables[\"main\"] is the table."));
		dtx_mcp_call_result(c, result, NULL);
		return DTX_OK;
	}
	c->result = result;
	dtx_mcp_argv_add(&a, "prompt");
	dtx_mcp_argv_add(&a, c->run_id);
	dtx_mcp_argv_words(&a, "--errors json");
	if (c->server->policy.sample)
		dtx_mcp_argv_option(&a, "--sample", c->server->policy.sample);
	c->stage = STAGE_PROMPT;
	return dtx_mcp_call_spawn(c, &a, err);
}

static void end_prompt(struct dtx_mcp_call *c)
{
	if (c->child.status == 0)
		json_object_set_new(c->result, "prompt",
		                    json_string(dtx_buf_text(&c->child.stdout_text)));
	c->finished = true;
}

static enum dtx_code end_run(struct dtx_mcp_call *c, struct dtx_err *err)
{
	json_t *findings = dtx_mcp_findings(dtx_buf_str(&c->child.stderr_text));
	const json_t *offer = dtx_json_find(findings, "code", "needs_snippet");
	bool submits = json_object_get(c->args, "ticket") != NULL;
	enum dtx_code rc = DTX_OK;
	json_t *result;

	if (c->child.status == 0) {
		rc = end_ok(c, findings, err);
	} else if (c->child.status == dtx_code_exit(DTX_E_NEEDS_APPROVAL, true)) {
		result = base_result(c, "needs_approval", findings);
		dtx_mcp_call_result(c, result, NULL);
	} else if (!submits && offer) {
		result = base_result(c, "needs_code", findings);
		add_ticket(c, result);
		rc = start_prompt(c, result, offer, err);
	} else {
		result = base_result(c, "failed", findings);
		if (submits)
			add_ticket(c, result);
		dtx_mcp_call_result(c, result, NULL);
	}
	json_decref(findings);
	return rc;
}

/* --- dry runs --- */

static enum dtx_code end_check(struct dtx_mcp_call *c, struct dtx_err *err)
{
	json_t *findings = dtx_mcp_findings(dtx_buf_str(&c->child.stderr_text));
	int status = c->child.status;
	enum dtx_code rc = DTX_OK;

	if (status == 0)
		rc = start_dry(c, STAGE_EXPLAIN, err);
	else
		dtx_mcp_call_result(
			c,
			base_result(c,
		                    status == dtx_code_exit(DTX_E_NEEDS_SNIPPET, true)
		                            ? "needs_code"
		                    : status == dtx_code_exit(DTX_E_NEEDS_APPROVAL, true)
		                            ? "needs_approval"
		                            : "failed",
		                    findings),
			NULL);
	json_decref(findings);
	return rc;
}

static void end_explain(struct dtx_mcp_call *c)
{
	json_t *findings = dtx_mcp_findings(dtx_buf_str(&c->child.stderr_text));
	json_t *explain = dtx_mcp_stdout_json(c);
	json_t *result = base_result(c, c->child.status ? "failed" : "ok", findings);

	json_object_set_new(result, "steps",
	                    dtx_mcp_pick_each(json_object_get(explain, "steps"),
	                                      "step,op,text,columns,needs_snippet"));
	dtx_mcp_call_result(c, result, NULL);
	json_decref(explain);
	json_decref(findings);
}

/* --- the tools --- */

enum dtx_code dtx_mcp_run_plan_start(struct dtx_mcp_call *c, struct dtx_err *err)
{
	if (json_is_true(json_object_get(c->args, "dry_run")))
		return start_dry(c, STAGE_CHECK, err);
	return start_run(c, NULL, err);
}

enum dtx_code dtx_mcp_run_plan_ended(struct dtx_mcp_call *c, struct dtx_err *err)
{
	switch ((enum stage)c->stage) {
	case STAGE_RUN: return end_run(c, err);
	case STAGE_CHECK: return end_check(c, err);
	case STAGE_EXPLAIN: end_explain(c); break;
	case STAGE_PROMPT: end_prompt(c); break;
	case STAGE_PREVIEW: end_preview(c); break;
	}
	return DTX_OK;
}

/* The arguments of the run that gave the ticket are taken over; `ticket` stays with them. */
enum dtx_code dtx_mcp_submit_code_start(struct dtx_mcp_call *c, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_mcp_ticket *t = ticket_find(c->server, dtx_json_text(c->args, "ticket", ""));
	json_t *args = NULL;

	if (!t)
		DTX_FAIL_NEXT(err, DTX_E_USAGE, "call run_plan again",
		              "there is no such ticket: it is of another server, or 64 newer ones "
		              "took its place");
	if (!t->attempts)
		DTX_FAIL_NEXT(err, DTX_E_USAGE, "change the plan, or call run_plan again",
		              "no attempt is left for this ticket");
	t->attempts--;
	args = json_copy(t->args);
	if (!args || json_object_update(args, c->args) < 0)
		DTX_FAIL_MEM(err);
	json_decref(c->args);
	c->args = json_incref(args);
	rc = start_run(c, dtx_json_text(c->args, "code", ""), err);
out:
	json_decref(args);
	return rc;
}
