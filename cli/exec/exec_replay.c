/* Runs a recorded program, or the calls of a session, again and compares the results. */
#include "cli/exec/exec_replay.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/exec/exec_run.h"
#include "core/base/memory/arena.h"
#include "core/base/memory/mem.h"
#include "core/base/tempdir.h"
#include "core/store/query/query.h"

struct exec_replay {
	const struct dtx_cli *cli;
	struct dtx_store *store;
	const char *into; /* NULL: outputs are compared and removed */
	struct dtx_tempdir temp;
	char session[DTX_SESSION_NAME]; /* that the calls run in; "": a single program */
	json_t *report;
	bool differs;
};

/* --- what was recorded --- */

static const json_t *event_of(const json_t *record, const char *kind)
{
	const json_t *events = json_object_get(record, "events"), *event;
	size_t i;

	json_array_foreach((json_t *)(uintptr_t)events, i, event)
	{
		if (!strcmp(dtx_json_text(event, "kind", ""), kind))
			return json_object_get(event, "body");
	}
	return NULL;
}

static enum dtx_code add_item(struct dtx_optlist *list, struct dtx_arena *arena,
                              const json_t *input, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);

	if (list->n >= DTX_OPTLIST_MAX)
		DTX_FAIL(err, DTX_E_NO_RECORD, "the record has more than %d tables or files",
		         DTX_OPTLIST_MAX);
	dtx_buf_printf(&text, "%s=%s", dtx_json_text(input, "alias", ""),
	               dtx_json_text(input, "uri", ""));
	list->item[list->n] =
		dtx_buf_ok(&text) ? dtx_arena_strdup(arena, dtx_buf_text(&text)) : NULL;
	if (!list->item[list->n++])
		DTX_FAIL_MEM(err);
out:
	dtx_buf_clear(&text);
	return rc;
}

/* The tables and files of a call. Each must still have the recorded bytes. */
static enum dtx_code take_inputs(const json_t *record, struct dtx_exec_args *args,
                                 struct dtx_arena *arena, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	json_t *input;
	size_t i;

	json_array_foreach(json_object_get(record, "inputs"), i, input)
	{
		const char *state = dtx_json_text(input, "file", "gone");

		if (strcmp(state, "unchanged") != 0)
			DTX_FAIL_NEXT(err, DTX_E_INPUT_CHANGED,
			              "put the file with the old content back",
			              "the input '%s' is not as the call read it: %s",
			              dtx_json_text(input, "uri", "-"), state);
		DTX_TRY(add_item(json_is_object(json_object_get(input, "reader")) ? &args->table
		                                                                  : &args->file,
		                 arena, input, err));
	}
out:
	return rc;
}

/* The limits of the call, from its report. */
static void take_limits(const json_t *end, struct dtx_jail_given *given)
{
	const json_t *jail = json_object_get(json_object_get(end, "report"), "jail");
	const json_t *limits = json_object_get(jail, "limits");

	given->wall = (dtx_json_int(limits, "wall_ms", 0) + 999) / 1000;
	given->cpu = (dtx_json_int(limits, "cpu_ms", 0) + 999) / 1000;
	given->memory = dtx_json_int(limits, "memory", 0);
	given->output = dtx_json_int(limits, "output", 0);
	given->profile = strcmp(dtx_json_text(jail, "profile", ""), "lib-ro") ? 0 : 1;
	given->profile = given->profile ? DTX_JAIL_LIB_RO + 1 : DTX_JAIL_SEALED + 1;
}

/* --- one call --- */

static json_t *find_file(const json_t *files, const char *name)
{
	json_t *file;
	size_t i;

	json_array_foreach((json_t *)(uintptr_t)files, i, file)
	{
		if (!strcmp(dtx_json_text(file, "name", ""), name))
			return file;
	}
	return NULL;
}

/* Lists what differs: status, stdout, stderr, value, and files by name. */
static json_t *differences(const json_t *was, const json_t *is)
{
	static const char *const keys[] = { "status", "stdout", "stderr", "value" };
	const json_t *old = json_object_get(was, "files"), *new = json_object_get(is, "files");
	json_t *out = json_array(), *file, *other;
	size_t i;

	for (i = 0; out && i < DTX_COUNT(keys); i++) {
		const json_t *a = json_object_get(was, keys[i]), *b = json_object_get(is, keys[i]);

		if (a && b && !json_equal(a, b))
			json_array_append_new(out, json_string(keys[i]));
	}
	json_array_foreach((json_t *)(uintptr_t)old, i, file)
	{
		other = find_file(new, dtx_json_text(file, "name", ""));
		if (!other || !json_equal(file, other))
			json_array_append(out, json_object_get(file, "name"));
	}
	json_array_foreach((json_t *)(uintptr_t) new, i, file)
	{
		if (!find_file(old, dtx_json_text(file, "name", "")))
			json_array_append(out, json_object_get(file, "name"));
	}
	return out;
}

static enum dtx_code add_call(struct exec_replay *p, int64_t call, const char *run,
                              const char *again, const json_t *was, const json_t *is,
                              struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	json_t *differs = differences(was, is), *row;
	bool same = !json_array_size(differs);

	row = json_pack("{sI ss ss ss sI so}", "call", (json_int_t)call, "run", run, "run_id",
	                again, "verdict", same ? "identical" : "different", "files",
	                (json_int_t)json_array_size(json_object_get(is, "files")), "differs",
	                differs);
	p->differs |= !same;
	if (json_array_append_new(json_object_get(p->report, "calls"), row) < 0)
		DTX_FAIL_MEM(err);
out:
	return rc;
}

/* Adds a verdict for each file that the recorded call wrote to its --out. */
static enum dtx_code add_outputs(struct exec_replay *p, const json_t *record, const json_t *is,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	json_t *output, *file, *row;
	size_t i, k;

	json_array_foreach(json_object_get(record, "outputs"), i, output)
	{
		const char *sha = dtx_json_text(output, "sha", ""), *verdict = "different";

		json_array_foreach(json_object_get(is, "files"), k, file)
		{
			if (!strcmp(dtx_json_text(file, "sha", "-"), sha))
				verdict = "identical";
		}
		row = json_pack("{ss ss ss}", "path", dtx_json_text(output, "path", ""), "verdict",
		                verdict, "sha", sha);
		if (json_array_append_new(json_object_get(p->report, "outputs"), row) < 0)
			DTX_FAIL_MEM(err);
	}
out:
	return rc;
}

/* Runs one call. What the program prints is compared and not shown; that it fails as it did is no
 * error. */
static enum dtx_code run_again(struct exec_replay *p, const json_t *record, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const json_t *run = json_object_get(record, "run"), *argv = json_object_get(run, "argv");
	const json_t *start = event_of(record, "exec.start"), *end = event_of(record, "jail.end");
	const json_t *was = json_object_get(end, "result");
	const char *run_id = dtx_json_text(run, "run_id", "");
	size_t argc = (size_t)DTX_MAX(dtx_json_int(start, "argc", 0), (int64_t)0), i;
	size_t all = json_array_size(argv);
	struct dtx_execution *x = dtx_mem_zalloc(1, sizeof(*x));
	char **words = dtx_mem_zalloc(argc + 1, sizeof(*words));
	struct dtx_exec_args args = { .session = p->session[0] ? p->session : NULL };
	struct dtx_arena arena = DTX_ARENA_INIT;
	struct dtx_err own = DTX_ERR_INIT;
	json_t *is = NULL;
	char dir[PATH_MAX];

	if (!x || !words)
		DTX_FAIL_MEM(err);
	if (!start || !was || argc > all)
		DTX_FAIL(err, DTX_E_NO_RECORD, "run %s has no result to compare with",
		         dtx_run_id_short(run_id));
	for (i = 0; i < argc; i++)
		words[i] =
			(char *)(uintptr_t)json_string_value(json_array_get(argv, all - argc + i));
	DTX_TRY(take_inputs(record, &args, &arena, err));
	take_limits(end, &args.jail);
	snprintf(dir, sizeof(dir), "%s/call-%lld", p->into ? p->into : p->temp.path,
	         (long long)dtx_json_int(json_object_get(record, "session"), "call", 1));
	args.out = dir;
	x->cli = p->cli;
	x->args = &args;
	x->argc = (int)argc;
	x->argv = words;
	x->replay_of = run_id;
	x->now_us = dtx_json_int(start, "now_us", 0);
	dtx_buf_init(&x->code, DTX_BUF_TEXT_MAX);
	DTX_TRY(dtx_query_blob(p->store, dtx_json_text(start, "code", ""), &x->code, err));
	rc = dtx_execution_run(x, &own);
	is = x->ran && rc != DTX_E_CANCELLED ? dtx_execution_result(x) : NULL;
	if (!is) { /* it did not run */
		dtx_err_move(err, &own);
		goto out;
	}
	rc = DTX_OK;
	DTX_TRY(add_call(p, x->call ? x->call : 1, run_id, x->run_id, was, is, err));
	DTX_TRY(add_outputs(p, record, is, err));
out:
	if (x)
		dtx_execution_clear(x);
	json_decref(is);
	dtx_mem_free(x);
	dtx_mem_free(words);
	dtx_arena_clear(&arena);
	dtx_err_clear(&own);
	return rc;
}

static enum dtx_code one(struct exec_replay *p, const char *run_id, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	json_t *record = NULL;

	DTX_TRY(dtx_query_record(p->store, run_id, true, NULL, &record, err));
	DTX_TRY(dtx_query_files(record, err));
	DTX_TRY(run_again(p, record, err));
out:
	json_decref(record);
	return rc;
}

enum dtx_code dtx_exec_replay(const struct dtx_cli *cli, struct dtx_store *store,
                              const json_t *record, const char *into, json_t **report,
                              bool *differs, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const json_t *session = json_object_get(record, "session");
	const char *run = dtx_json_text(json_object_get(record, "run"), "run_id", "");
	struct exec_replay p = { .cli = cli, .store = store, .into = into };
	struct dtx_wire_session stopped;
	char id[DTX_RUN_ID];
	json_t *call;
	size_t i;

	p.report = json_pack("{ss s[] s[] s[]}", "replay_of", run, "changed", "outputs", "calls");
	if (!p.report)
		DTX_FAIL_MEM(err);
	if (!into)
		DTX_TRY(dtx_tempdir_make(&p.temp, "replay", err));
	if (!session) {
		DTX_TRY(one(&p, run, err));
	} else {
		dtx_run_id_new(id);
		snprintf(p.session, sizeof(p.session), "replay-%s", dtx_run_id_short(id));
		json_array_foreach(json_object_get(session, "calls"), i, call)
			DTX_TRY(one(&p, dtx_json_text(call, "run_id", ""), err));
	}
	*differs = p.differs;
	*report = json_incref(p.report);
out:
	/* it may have ended with its last call, as the recorded one did */
	if (p.session[0] && dtx_session_stop(p.session, &stopped, NULL) != DTX_OK)
		p.session[0] = 0;
	dtx_tempdir_remove(&p.temp);
	json_decref(p.report);
	return rc;
}

void dtx_exec_replay_print(const json_t *report, struct dtx_buf *out)
{
	json_t *call, *what;
	size_t i, k;

	dtx_buf_printf(out, "%-12s%s\n", "replay",
	               dtx_run_id_short(dtx_json_text(report, "replay_of", "")));
	json_array_foreach(json_object_get(report, "calls"), i, call)
	{
		json_t *differs = json_object_get(call, "differs");

		dtx_buf_printf(out, "%-12scall %lld, %s as %s; %lld files",
		               dtx_json_text(call, "verdict", ""),
		               (long long)dtx_json_int(call, "call", 0),
		               dtx_run_id_short(dtx_json_text(call, "run", "")),
		               dtx_run_id_short(dtx_json_text(call, "run_id", "")),
		               (long long)dtx_json_int(call, "files", 0));
		json_array_foreach(differs, k, what)
		{
			dtx_buf_add(out, k ? ", " : "; differs: ");
			dtx_out_safe(out, json_string_value(what), false);
		}
		dtx_buf_addc(out, '\n');
	}
}
