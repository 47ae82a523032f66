/* snippet: the cache of modules that stand in for steps. */
#include <stdlib.h>
#include <string.h>

#include "cli/runner.h"
#include "core/store/snippet.h"

struct snippet_args {
	struct dtx_run_args run; /* first: `add` is a run up to the approval */
	const char *plan, *state, *note;
	bool json, code;
};

#define AT(member) .offset = offsetof(struct snippet_args, member)
static const struct dtx_opt snippet_opts[] = {
	{ .name = "plan",
	  .kind = DTX_O_TEXT,
	  .metavar = "PLAN",
	  AT(plan),
	  .help = "add: the plan whose step the module does" },
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

/* One call of a verb, with what every verb needs. */
struct snippet_call {
	const struct dtx_cli *cli;
	struct snippet_args *args;
	struct dtx_store *store;
	struct dtx_arena arena;
	struct dtx_buf out;
	int argc;
	char **argv; /* behind the verb */
};

static enum dtx_code snippet_list(struct snippet_call *c, struct dtx_err *err)
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
			dtx_buf_printf(&c->out, "%.8s  %-10s %-20s hits %-4lld fails %-4lld %s\n",
			               item[i].id, item[i].state, item[i].op ? item[i].op : "-",
			               (long long)item[i].hits, (long long)item[i].fails,
			               item[i].ns);
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
	if (value)
		dtx_buf_printf(out, "%-12s%s\n", label, value);
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
	snippet_row(out, "formulas", s->formulas);
	snippet_row(out, "runtime", s->abi);
	snippet_row(out, "origin", s->origin);
	dtx_buf_printf(out, "%-12s%lld hits, %lld fails\n", "used", (long long)s->hits,
	               (long long)s->fails);
}

static enum dtx_code snippet_show(struct snippet_call *c, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_snippet s;
	json_t *row = NULL;

	DTX_TRY(dtx_snippet_get(c->store, c->argv[0], &c->arena, &s, err));
	if (c->args->json) {
		row = dtx_snippet_json(&s);
		dtx_json_print(row, 1, &c->out);
		dtx_buf_add(&c->out, "\n");
		goto out;
	}
	if (!c->args->code) {
		snippet_screen(&s, &c->out);
		dtx_buf_add(&c->out, "\n");
	}
	DTX_TRY(dtx_snippet_code(c->store, s.code_hash, &c->out, err));
out:
	json_decref(row);
	return rc;
}

static enum dtx_code snippet_act(struct snippet_call *c, enum dtx_snippet_act act,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const char *user = getenv("USER");
	struct dtx_snippet s;
	int i;

	for (i = 0; i < c->argc; i++) {
		DTX_TRY(dtx_snippet_get(c->store, c->argv[i], &c->arena, &s, err));
		DTX_TRY(dtx_snippet_act(c->store, "", s.id, act, user ? user : "unknown",
		                        c->args->note, err));
	}
out:
	return rc;
}

static enum dtx_code snippet_rm(struct snippet_call *c, struct dtx_err *err)
{
	return snippet_act(c, DTX_SNIPPET_REMOVE, err);
}

static enum dtx_code snippet_approve(struct snippet_call *c, struct dtx_err *err)
{
	return snippet_act(c, DTX_SNIPPET_APPROVE, err);
}

static enum dtx_code snippet_revoke(struct snippet_call *c, struct dtx_err *err)
{
	return snippet_act(c, DTX_SNIPPET_REVOKE, err);
}

/* Extracted, screened, run under two hash seeds on the real tables, kept as pending. */
static int snippet_add(const struct dtx_cli *cli, struct snippet_args *a, int argc, char **argv)
{
	struct dtx_runner r = {
		.cli = cli, .args = &a->run, .plan_path = a->plan, .command = "snippet add"
	};
	struct dtx_err err = DTX_ERR_INIT;
	int status;

	if (!a->plan) {
		dtx_err_set(&err, DTX_E_USAGE, __FILE__, __LINE__,
		            "'dtx snippet add' wants --plan PLAN: the step the module stands for");
		return dtx_out_fail(cli, &err);
	}
	a->run.snippet = argv[0];
	a->run.approve = "require";
	a->run.output = "-";
	status = dtx_runner_main(&r, argc - 1, argv + 1);
	dtx_runner_clear(&r);
	/* waiting for approval is what `add` is for */
	return status == dtx_code_exit(DTX_E_NEEDS_APPROVAL, true) ? 0 : status;
}

static const struct {
	const char *verb;
	enum dtx_store_mode mode;
	bool operand;
	enum dtx_code (*run)(struct snippet_call *c, struct dtx_err *err);
} verbs[] = {
	{ "list", DTX_STORE_READ, false, snippet_list },
	{ "show", DTX_STORE_READ, true, snippet_show },
	{ "rm", DTX_STORE_WRITE, true, snippet_rm },
	{ "approve", DTX_STORE_WRITE, true, snippet_approve },
	{ "revoke", DTX_STORE_WRITE, true, snippet_revoke },
};

static enum dtx_code snippet_verb(struct snippet_call *c, const char *verb, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const char *names[DTX_COUNT(verbs) + 1] = { "add" };
	size_t i;

	for (i = 0; i < DTX_COUNT(verbs); i++) {
		names[i + 1] = verbs[i].verb;
		if (strcmp(verbs[i].verb, verb) != 0)
			continue;
		if (verbs[i].operand && !c->argc)
			DTX_FAIL(err, DTX_E_USAGE, "'dtx snippet %s' wants an ID", verb);
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
	struct snippet_call c = { .cli = cli, .args = args, .argc = argc - 1, .argv = argv + 1 };
	struct dtx_err err = DTX_ERR_INIT;
	enum dtx_code rc;
	int status;

	if (!strcmp(argv[0], "add") && argc > 1)
		return snippet_add(cli, args, argc - 1, argv + 1);
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
		 "rm ID...",
	.summary = "List, show, add, approve and remove cached snippets",
	.notes = "`add` screens the module and runs it in the jail on the real inputs; it then "
		 "waits\n"
		 "for `approve`.  Revoked code stays refused in its namespace.",
	.exits = "0 done; 2 usage; 4 no such snippet; 7 the module failed; 8 jail; 9 store",
	.opts = snippet_opts,
	.nopts = DTX_COUNT(snippet_opts),
	.args_size = sizeof(struct snippet_args),
	.min_args = 1,
	.max_args = -1,
	.run = snippet_run,
};
