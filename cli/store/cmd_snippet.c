/* snippet: manages the cache of Python modules that do the work of steps. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/store/snippets.h"
#include "core/base/log.h"
#include "core/base/memory/mem.h"
#include "core/fallback/adapter.h"
#include "core/store/ledger/process.h"
#include "core/store/query/query.h"

#define GC_DAYS 30

#define AT(member) .offset = offsetof(struct dtx_snippets_args, member)
static const struct dtx_opt snippet_opts[] = {
	{ .name = "plan",
	  .kind = DTX_O_TEXT,
	  .metavar = "PLAN",
	  AT(plan),
	  .help = "add, adopt: the plan whose step the module does" },
	{ .name = "state",
	  .kind = DTX_O_TEXT,
	  .metavar = "STATE",
	  AT(state),
	  .help = "list: candidate, pending, approved, superseded or revoked" },
	{ .name = "note",
	  .kind = DTX_O_TEXT,
	  .metavar = "TEXT",
	  AT(note),
	  .help = "approve, revoke: why" },
	{ .name = "json", .kind = DTX_O_FLAG, AT(json), .help = "list, show: as JSON" },
	{ .name = "code", .kind = DTX_O_FLAG, AT(code), .help = "show: the module alone" },
	{ .name = "prompt",
	  .kind = DTX_O_FLAG,
	  AT(prompt),
	  .help = "show: the very text that its author was given" },
	{ .name = "checks",
	  .kind = DTX_O_FLAG,
	  AT(checks),
	  .help = "show: what the run that made it checked" },
	{ .name = "rename",
	  .kind = DTX_O_LIST,
	  .metavar = "NEED=HAVE",
	  AT(rename),
	  .help = "adopt: column NEED of the code is column HAVE of the input" },
	{ .name = "older-than",
	  .kind = DTX_O_TEXT,
	  .metavar = "Nd",
	  AT(older_than),
	  .help = "gc: days since the last change of state (30d)" },
	{ .name = "apply",
	  .kind = DTX_O_FLAG,
	  AT(apply),
	  .help = "gc: do it (default: only say what would go)" },
	{ .name = "namespace",
	  .kind = DTX_O_TEXT,
	  .metavar = "NAME",
	  AT(run.ns),
	  .help = "add: namespace of the cache (default: the plan's name)" },
	{ .name = "sheet",
	  .kind = DTX_O_TEXT,
	  .metavar = "NAME|N",
	  AT(run.sheet),
	  .help = "add: sheet of the first input" },
};

const char *dtx_snippets_user(void)
{
	return dtx_process_user();
}

static int64_t snippet_tokens(struct dtx_snippets *c, const struct dtx_snippet *s)
{
	struct dtx_snippet_call call;

	if (!s->call_id || dtx_snippet_call(c->store, s->call_id, &c->arena, &call, NULL) != DTX_OK)
		return 0;
	return call.in_tokens + call.out_tokens;
}

static enum dtx_code snippet_list(struct dtx_snippets *c, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_snippet *item;
	json_t *list = json_array();
	size_t n, i;

	DTX_TRY(dtx_snippet_list(c->store, c->args->state, &c->arena, &item, &n, err));
	for (i = 0; i < n; i++) {
		if (c->args->json)
			json_array_append_new(list, dtx_snippet_json(&item[i]));
		else
			dtx_buf_printf(
				&c->out,
				"%.8s  %-10s %-20s hits %-4lld fails %-4lld tokens %-6lld %s\n",
				item[i].id, item[i].state, item[i].op ? item[i].op : "-",
				(long long)item[i].hits, (long long)item[i].fails,
				(long long)snippet_tokens(c, &item[i]), item[i].ns);
	}
	if (c->args->json) {
		dtx_json_print(list, 1, &c->out);
		dtx_buf_add(&c->out, "\n");
	}
out:
	json_decref(list);
	return rc;
}

static void snippet_row(struct dtx_buf *out, const char *label, const char *value)
{
	if (!value)
		return;
	dtx_buf_printf(out, "%-12s", label);
	dtx_out_safe(out, value, false);
	dtx_buf_addc(out, '\n');
}

static void snippet_screen(const struct dtx_snippet *s, struct dtx_buf *out)
{
	snippet_row(out, "snippet", s->id);
	snippet_row(out, "state", s->state);
	snippet_row(out, "by", s->state_by);
	snippet_row(out, "note", s->note);
	snippet_row(out, "op", s->op);
	snippet_row(out, "namespace", s->ns);
	snippet_row(out, "fingerprint", s->fingerprint);
	snippet_row(out, "intent", s->intent);
	snippet_row(out, "needs", s->needs);
	snippet_row(out, "flags", s->flags);
	if (s->flags && strstr(s->flags, "\"positional\""))
		snippet_row(out, "order", s->col_order);
	snippet_row(out, "formulas", s->formulas);
	snippet_row(out, "renames", s->adapter);
	snippet_row(out, "runtime", s->abi);
	snippet_row(out, "origin", s->origin);
	dtx_buf_printf(out, "%-12s%lld hits, %lld fails\n", "used", (long long)s->hits,
	               (long long)s->fails);
}

static enum dtx_code snippet_call(struct dtx_snippets *c, const struct dtx_snippet *s,
                                  struct dtx_snippet_call *call, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (!s->call_id)
		DTX_FAIL(err, DTX_E_NO_RECORD,
		         "snippet %.8s was given by hand: no author was asked", s->id);
	DTX_TRY(dtx_snippet_call(c->store, s->call_id, &c->arena, call, err));
out:
	return rc;
}

static enum dtx_code snippet_show_prompt(struct dtx_snippets *c, const struct dtx_snippet *s,
                                         struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_snippet_call call;

	DTX_TRY(snippet_call(c, s, &call, err));
	DTX_TRY(dtx_query_blob(c->store, call.prompt_hash, &c->out, err));
out:
	return rc;
}

/* Prints the checks of the run in which the author was asked for this snippet. */
static enum dtx_code snippet_show_checks(struct dtx_snippets *c, const struct dtx_snippet *s,
                                         struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	char run[DTX_RUN_ID];
	json_t *record = NULL, *row;
	size_t i;

	if (!s->call_id)
		DTX_FAIL(err, DTX_E_NO_RECORD,
		         "snippet %.8s was given by hand: see the record of "
		         "the run it was given to",
		         s->id);
	dtx_str_copy(run, sizeof(run), dtx_str_of(s->call_id)); /* RUN/REGION/ATTEMPT */
	DTX_TRY(dtx_query_record(c->store, run, false, NULL, &record, err));
	json_array_foreach(json_object_get(record, "checks"), i, row) dtx_buf_printf(
		&c->out, "%-5s %s %s: expected %s, got %s\n", dtx_json_text(row, "status", ""),
		dtx_json_text(row, "name", ""), dtx_json_text(row, "col", ""),
		dtx_json_text(row, "expected", ""), dtx_json_text(row, "actual", ""));
out:
	json_decref(record);
	return rc;
}

static void snippet_asked(struct dtx_snippets *c, const struct dtx_snippet *s)
{
	struct dtx_snippet_call call;

	if (!s->call_id || dtx_snippet_call(c->store, s->call_id, &c->arena, &call, NULL) != DTX_OK)
		return;
	snippet_row(&c->out, "model", call.model[0] ? call.model : NULL);
	dtx_buf_printf(&c->out,
	               "%-12s%lld column names, %lld rows (--sample %s); %lld + %lld tokens\n",
	               "disclosed", (long long)call.cols, (long long)call.rows, call.policy,
	               (long long)call.in_tokens, (long long)call.out_tokens);
}

static enum dtx_code snippet_show(struct dtx_snippets *c, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_buf code = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	struct dtx_snippet s;
	json_t *row = NULL;

	DTX_TRY(dtx_snippet_get(c->store, c->argv[0], &c->arena, &s, err));
	if (c->args->json) {
		row = dtx_snippet_json(&s);
		dtx_json_print(row, 1, &c->out);
		dtx_buf_add(&c->out, "\n");
		goto out;
	}
	if (c->args->prompt || c->args->checks) {
		rc = c->args->prompt ? snippet_show_prompt(c, &s, err)
		                     : snippet_show_checks(c, &s, err);
		goto out;
	}
	if (!c->args->code) {
		snippet_screen(&s, &c->out);
		snippet_asked(c, &s);
		dtx_buf_add(&c->out, "\n");
	}
	DTX_TRY(dtx_snippet_code(c->store, s.code_hash, &code, err));
	if (c->args->code && !isatty(STDOUT_FILENO))
		dtx_buf_adds(&c->out, dtx_buf_str(&code));
	else /* a person who reads it to approve it must see all of it */
		dtx_out_safe(&c->out, dtx_buf_text(&code), true);
out:
	dtx_buf_clear(&code);
	json_decref(row);
	return rc;
}

static enum dtx_code snippet_act(struct dtx_snippets *c, enum dtx_snippet_act act,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_snippet s;
	int i;

	for (i = 0; i < c->argc; i++) {
		DTX_TRY(dtx_snippet_get(c->store, c->argv[i], &c->arena, &s, err));
		DTX_TRY(dtx_snippet_act(c->store, "", s.id, act, dtx_snippets_user(), c->args->note,
		                        err));
	}
out:
	return rc;
}

static enum dtx_code snippet_rm(struct dtx_snippets *c, struct dtx_err *err)
{
	return snippet_act(c, DTX_SNIPPET_REMOVE, err);
}

static enum dtx_code snippet_approve(struct dtx_snippets *c, struct dtx_err *err)
{
	return snippet_act(c, DTX_SNIPPET_APPROVE, err);
}

static enum dtx_code snippet_revoke(struct dtx_snippets *c, struct dtx_err *err)
{
	return snippet_act(c, DTX_SNIPPET_REVOKE, err);
}

/* Extracts and screens a module, runs it under two hash seeds on the real tables, and keeps it
 * as pending. */
static int snippet_add(const struct dtx_cli *cli, struct dtx_snippets_args *a, int argc,
                       char **argv)
{
	struct dtx_runner r = {
		.cli = cli, .args = &a->run, .plan_path = a->plan, .command = "snippet add"
	};
	struct dtx_err err = DTX_ERR_INIT;
	int status;

	if (!a->plan) {
		dtx_err_set(&err, DTX_E_USAGE, __FILE__, __LINE__,
		            "'dtx snippet add' needs --plan PLAN: the step the module stands for");
		return dtx_out_fail(cli, &err);
	}
	a->run.snippet = argv[0];
	a->run.approve = "require";
	a->run.output = "-";
	status = dtx_runner_main(&r, argc - 1, argv + 1);
	dtx_runner_clear(&r);
	/* `add` ends with a snippet that waits for approval, so that is a success */
	return status == dtx_code_exit(DTX_E_NEEDS_APPROVAL, true) ? 0 : status;
}

/* Tries the code of snippet ID, with columns renamed, as a new snippet on the inputs; it ends as
 * pending. */
static enum dtx_code snippet_adopt_code(const struct dtx_cli *cli, struct dtx_snippets_args *a,
                                        const char *id, struct dtx_runner *r, char **adapter,
                                        struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_arena arena = DTX_ARENA_INIT;
	struct dtx_store *store = NULL;
	struct dtx_snippet s;

	dtx_buf_init(&r->snippet, DTX_SNIPPET_CODE_MAX * 4);
	DTX_TRY(dtx_store_open(cli->store, DTX_STORE_READ, &store, err));
	DTX_TRY(dtx_snippet_get(store, id, &arena, &s, err));
	if (!strcmp(s.state, "revoked"))
		DTX_FAIL(err, DTX_E_SNIPPET_REVOKED, "snippet %.8s was revoked", s.id);
	DTX_TRY(dtx_snippet_code(store, s.code_hash, &r->snippet, err));
	DTX_TRY(dtx_adapter_make(a->rename.item, a->rename.n, s.adapter, adapter, err));
	r->fallback.supplied = dtx_buf_str(&r->snippet);
	r->fallback.adapter = *adapter;
	if (!a->run.ns && strcmp(s.ns, "default"))
		a->run.ns = dtx_arena_strdup(&r->texts, s.ns);
out:
	dtx_store_free(store);
	dtx_arena_clear(&arena);
	return rc;
}

static int snippet_adopt(const struct dtx_cli *cli, struct dtx_snippets_args *a, int argc,
                         char **argv)
{
	struct dtx_runner r = {
		.cli = cli, .args = &a->run, .plan_path = a->plan, .command = "snippet adopt"
	};
	struct dtx_err err = DTX_ERR_INIT;
	char *adapter = NULL;
	int status;

	if (!a->plan || !a->rename.n) {
		dtx_err_set(&err, DTX_E_USAGE, __FILE__, __LINE__,
		            "'dtx snippet adopt' needs --rename NEED=HAVE and --plan PLAN");
		return dtx_out_fail(cli, &err);
	}
	a->run.approve = "require";
	a->run.output = "-";
	if (snippet_adopt_code(cli, a, argv[0], &r, &adapter, &err) != DTX_OK)
		status = dtx_out_fail(cli, &err);
	else
		status = dtx_runner_main(&r, argc - 1, argv + 1);
	dtx_runner_clear(&r);
	dtx_mem_free(adapter);
	dtx_err_clear(&err);
	return status == dtx_code_exit(DTX_E_NEEDS_APPROVAL, true) ? 0 : status;
}

static enum dtx_code snippet_days(const char *text, int64_t *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	char *end;
	long long days;

	*out = GC_DAYS;
	if (!text)
		goto out;
	days = strtoll(text, &end, 10);
	if (end == text || strcmp(end, "d") || days < 0 || days > 36500)
		DTX_FAIL(err, DTX_E_USAGE, "--older-than '%s': expected days, such as 30d", text);
	*out = days;
out:
	return rc;
}

static enum dtx_code snippet_gc(struct dtx_snippets *c, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_snippet *item;
	int64_t days;
	size_t n, i;

	DTX_TRY(snippet_days(c->args->older_than, &days, err));
	DTX_TRY(dtx_snippet_dead(c->store, dtx_wall_us() - days * 86400 * 1000000 + !days,
	                         c->args->apply, dtx_snippets_user(), &c->arena, &item, &n, err));
	for (i = 0; i < n; i++)
		dtx_buf_printf(&c->out, "%s %.8s  %-10s %s\n",
		               c->args->apply ? "dropped" : "would drop", item[i].id, item[i].state,
		               item[i].op ? item[i].op : "-");
	if (!n)
		dtx_buf_add(&c->out, "nothing to drop\n");
out:
	return rc;
}

static const struct {
	const char *verb;
	enum dtx_store_mode mode;
	bool operand;
	enum dtx_code (*run)(struct dtx_snippets *c, struct dtx_err *err);
} verbs[] = {
	{ "list", DTX_STORE_READ, false, snippet_list },
	{ "show", DTX_STORE_READ, true, snippet_show },
	{ "rm", DTX_STORE_WRITE, true, snippet_rm },
	{ "approve", DTX_STORE_WRITE, true, snippet_approve },
	{ "revoke", DTX_STORE_WRITE, true, snippet_revoke },
	{ "export", DTX_STORE_READ, false, dtx_snippets_export },
	{ "import", DTX_STORE_WRITE, true, dtx_snippets_import },
	{ "diff", DTX_STORE_READ, true, dtx_snippets_diff },
	{ "gc", DTX_STORE_WRITE, false, snippet_gc },
};

static enum dtx_code snippet_verb(struct dtx_snippets *c, const char *verb, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const char *names[DTX_COUNT(verbs) + 2] = { "add", "adopt" };
	size_t i;

	for (i = 0; i < DTX_COUNT(verbs); i++) {
		names[i + 2] = verbs[i].verb;
		if (strcmp(verbs[i].verb, verb) != 0)
			continue;
		if (verbs[i].operand && !c->argc)
			DTX_FAIL(err, DTX_E_USAGE, "'dtx snippet %s' needs an ID", verb);
		DTX_TRY(dtx_store_open(c->cli->store, verbs[i].mode, &c->store, err));
		DTX_TRY(verbs[i].run(c, err));
		goto out;
	}
	dtx_err_set(err, DTX_E_USAGE, __FILE__, __LINE__, "no verb '%s' here", verb);
	dtx_err_suggest(err, verb, names, DTX_COUNT(names));
	rc = DTX_E_USAGE;
out:
	return rc;
}

static int snippet_run(const struct dtx_cli *cli, void *args, int argc, char **argv)
{
	struct dtx_snippets c = { .cli = cli, .args = args, .argc = argc - 1, .argv = argv + 1 };
	struct dtx_err err = DTX_ERR_INIT;
	enum dtx_code rc;
	int status;

	if (!strcmp(argv[0], "add") && argc > 1)
		return snippet_add(cli, args, argc - 1, argv + 1);
	if (!strcmp(argv[0], "adopt") && argc > 1)
		return snippet_adopt(cli, args, argc - 1, argv + 1);
	dtx_buf_init(&c.out, DTX_BUF_TEXT_MAX);
	rc = snippet_verb(&c, argv[0], &err);
	status = rc == DTX_OK ? dtx_out_print(cli, &c.out) : dtx_out_fail(cli, &err);
	dtx_store_free(c.store);
	dtx_arena_clear(&c.arena);
	dtx_buf_clear(&c.out);
	dtx_err_clear(&err);
	return status;
}

const struct dtx_cmd dtx_cmd_snippet = {
	.name = "snippet",
	.usage = "list | show ID | add FILE --plan PLAN INPUT... | approve ID... | revoke ID... | "
		 "rm ID... |\n       adopt ID --rename NEED=HAVE... --plan PLAN INPUT... | diff ID "
		 "ID | "
		 "export [ID...] |\n       import FILE | gc [--older-than 30d] [--apply]",
	.summary = "List, show, add, approve, adopt, exchange and remove cached snippets",
	.notes =
		"`add` screens the module and runs it in the jail on the real inputs; it then "
		"waits\n"
		"for `approve`.  `adopt` does the same with the code of another snippet whose "
		"columns\n"
		"have other names now.  Revoked code stays refused in its namespace.  `export` "
		"writes\n"
		"JSON lines; what `import` reads from them waits for approval, and runs only on\n"
		"tables with the very columns that it was made for.  Where its flags, formulas or\n"
		"columns are not those of its code it does not run.",
	.exits = "0 done; 2 usage; 4 no such snippet; 7 the module failed; 8 jail; 9 store",
	.opts = snippet_opts,
	.nopts = DTX_COUNT(snippet_opts),
	.args_size = sizeof(struct dtx_snippets_args),
	.min_args = 1,
	.max_args = -1,
	.run = snippet_run,
};
