/* Usage and shell completion, made from the rows of commands and options. */
#include "cli/help/help.h"
#include "cli/wrap.h"

#include <string.h>

#include "cli/pipe/step_words.h"

const struct dtx_exit_row dtx_exit_rows[] = {
	{ 0, "done" },
	{ 1, "findings (a check or comparison that found a difference)" },
	{ 2, "wrong command line" },
	{ 3, "the plan is invalid" },
	{ 4, "the input cannot be read, or its data break a rule of the plan" },
	{ 5, "a snippet is needed and none is at hand" },
	{ 6, "a snippet waits for approval" },
	{ 7, "the snippet failed or its result does not fit" },
	{ 8, "a limit was reached, or the jail could not be set up" },
	{ 9, "the output or the store could not be written" },
	{ 10, "a check that the plan asks for failed" },
	{ 70, "a bug in dtx" },
	{ 130, "cancelled" },
	{ 141, "the reader of stdout ended before it had all (dtx ... | head); no message" },
	{ 0, NULL },
};

const struct dtx_opt dtx_common_opts[] = {
	{ .name = "help",
	  .key = 'h',
	  .kind = DTX_O_FLAG,
	  .offset = offsetof(struct dtx_cli, help),
	  .help = "show this help" },
	{ .name = "help-all",
	  .kind = DTX_O_FLAG,
	  .offset = offsetof(struct dtx_cli, help_all),
	  .help = "show it with all options" },
	{ .name = "quiet",
	  .key = 'q',
	  .kind = DTX_O_FLAG,
	  .offset = offsetof(struct dtx_cli, quiet),
	  .help = "errors only, no warnings or notes" },
	{ .name = "verbose",
	  .kind = DTX_O_FLAG,
	  .offset = offsetof(struct dtx_cli, verbose),
	  .help = "also how many rows were read and what became of them, and warnings that the "
	          "result does not depend on" },
	{ .name = "pager",
	  .kind = DTX_O_FLAG,
	  .offset = offsetof(struct dtx_cli, pager),
	  .help = "on a terminal: show all of the output in $PAGER (less)" },
	{ .name = "errors",
	  .kind = DTX_O_CHOICE,
	  .choices = "text,json",
	  .offset = offsetof(struct dtx_cli, errors),
	  .help = "findings on stderr as text, or as one JSON object per line" },
	{ .name = "store",
	  .kind = DTX_O_TEXT,
	  .metavar = "FILE",
	  .offset = offsetof(struct dtx_cli, store),
	  .help = "the store (default $DTX_STORE, else ~/.local/state/dtx/store.db)" },
};
const size_t dtx_ncommon_opts = DTX_COUNT(dtx_common_opts);

const struct dtx_cmd *dtx_cmd_find(const char *name)
{
	const struct dtx_cmd *const *c;

	for (c = dtx_cmds; *c; c++) {
		if (!strcmp((*c)->name, name))
			return *c;
	}
	return NULL;
}

static void help_exits(struct dtx_buf *out)
{
	const struct dtx_exit_row *e;

	for (e = dtx_exit_rows; e->meaning; e++)
		dtx_buf_printf(out, "  %3d  %s\n", e->status, e->meaning);
}

void dtx_help_overview(struct dtx_buf *out)
{
	const struct dtx_cmd *const *c;

	dtx_buf_add(out,
	            "usage: dtx COMMAND [OPTIONS] ...\n\n"
	            "Typed data transforms from a JSON plan, with a pandas fallback in a jail\n"
	            "and a provenance record of every run.\n\ncommands:\n");
	for (c = dtx_cmds; *c; c++)
		dtx_buf_printf(out, "  %-12s %s\n", (*c)->name, (*c)->summary);
	dtx_buf_add(
		out,
		"\n`dtx COMMAND --help` explains one; `dtx help tutorial` shows them at work in "
		"15 minutes.\n"
		"dtx(1), dtx-plan(5), dtx-config(5), dtx-ops(7), dtx-sandbox(7) and dtx-cluster(7) "
		"are the\nmanual; where no man is: `dtx help plan`, functions, codes, config, "
		"cluster.\n\nexit status:\n");
	help_exits(out);
}

/* Paragraphs after an empty line; text may be NULL. */
static void help_text(const char *text, struct dtx_buf *out)
{
	if (!text)
		return;
	dtx_buf_addc(out, '\n');
	dtx_wrap_text(text, DTX_WRAP_WIDTH, out);
	dtx_buf_addc(out, '\n');
}

/* The options of every command: explained with --help-all and in dtx(1), else only named. */
static void help_common(bool all, struct dtx_buf *out)
{
	struct dtx_buf names = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);

	if (all) {
		dtx_buf_add(out, "\ncommon options:\n");
		dtx_opt_help(dtx_common_opts, dtx_ncommon_opts, all, out);
		return;
	}
	for (size_t i = 0; i < dtx_ncommon_opts; i++)
		dtx_buf_printf(&names, "%s--%s", i ? ", " : "", dtx_common_opts[i].name);
	dtx_buf_add(out, "\ncommon options (--help-all, dtx(1)):\n  ");
	dtx_wrap_words(dtx_buf_text(&names), 2, 2, DTX_WRAP_WIDTH, out);
	dtx_buf_addc(out, '\n');
	dtx_buf_clear(&names);
}

void dtx_help_cmd(const struct dtx_cmd *cmd, bool all, struct dtx_buf *out)
{
	struct dtx_buf usage = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);

	dtx_buf_printf(&usage, "usage: dtx %s [OPTIONS] %s", cmd->name, cmd->usage);
	dtx_wrap_words(dtx_buf_text(&usage), 0, 7, DTX_WRAP_WIDTH, out);
	dtx_buf_clear(&usage);
	dtx_buf_printf(out, "\n\n%s.\n", cmd->summary);
	help_text(cmd->notes, out);
	if (all)
		help_text(cmd->details, out);
	if (cmd->nopts) {
		dtx_buf_add(out, "\noptions:\n");
		dtx_opt_help(cmd->opts, cmd->nopts, all, out);
	}
	help_common(all, out);
	dtx_buf_add(out, "\nexit status: ");
	dtx_wrap_words(cmd->exits ? cmd->exits : "0 done; 2 usage", 13, 13, DTX_WRAP_WIDTH, out);
	dtx_buf_addc(out, '\n');
}

static const char *const kind_name[] = { "map", "sink", "whole" };

const char *dtx_help_op_kind(const struct dtx_op *op)
{
	if (op->macro)
		return "macro";
	if (op->sink && !(op->flags & DTX_OP_BUILD))
		return kind_name[DTX_KIND_SINK];
	return kind_name[op->map ? DTX_KIND_MAP : op->sink ? DTX_KIND_SINK : DTX_KIND_WHOLE];
}

/* The step as JSON, and as words of a pipe; its tables, and what it gives. */
static void help_example(const struct dtx_example *e, struct dtx_buf *out)
{
	struct dtx_buf words = DTX_BUF_INIT(DTX_BUF_TEXT_MAX),
		       text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	json_t *step = json_loads(e->step, 0, NULL);

	dtx_help_step(e, &text);
	dtx_buf_add(out, "\n  ");
	dtx_wrap_words(dtx_buf_text(&text), 2, 6, DTX_WRAP_WIDTH, out);
	dtx_buf_add(out, "\n");
	if (step && dtx_words_say(step, &words))
		dtx_buf_printf(out, "  %s\n", dtx_buf_text(&words));
	dtx_buf_printf(out, "\n%s", e->in);
	if (e->with)
		dtx_buf_printf(out, "\n  with the table other\n\n%s", e->with);
	if (e->error) {
		dtx_buf_printf(out, "\n  fails with %s:\n    ", e->error);
		dtx_wrap_words(e->message, 4, 4, DTX_WRAP_WIDTH, out);
		dtx_buf_addc(out, '\n');
	} else {
		dtx_buf_printf(out, "\n  gives\n\n%s", e->out);
	}
	json_decref(step);
	dtx_buf_clear(&words);
	dtx_buf_clear(&text);
}

/* "a,b" as "a, b", which can be filled. */
void dtx_help_aliases(const struct dtx_op *op, struct dtx_buf *out)
{
	struct dtx_str rest = dtx_str_of(op->aliases), word;

	for (size_t i = 0; dtx_str_next(&rest, ',', &word); i++) {
		dtx_buf_add(out, i ? ", " : "");
		dtx_buf_adds(out, word);
	}
}

void dtx_help_op(const struct dtx_op *op, struct dtx_buf *out)
{
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	size_t i;

	dtx_buf_printf(&text, "%s: %s (%s)", op->name, op->summary, dtx_help_op_kind(op));
	dtx_wrap_words(dtx_buf_text(&text), 0, 4, DTX_WRAP_WIDTH, out);
	dtx_buf_addc(out, '\n');
	dtx_buf_reset(&text);
	if (op->aliases) {
		dtx_buf_add(&text, "also: ");
		dtx_help_aliases(op, &text);
		dtx_wrap_words(dtx_buf_text(&text), 0, 6, DTX_WRAP_WIDTH, out);
		dtx_buf_addc(out, '\n');
		dtx_buf_reset(&text);
	}
	dtx_buf_add(&text, "in a pipe: ");
	dtx_words_usage(op, &text);
	dtx_wrap_words(dtx_buf_text(&text), 0, 11, DTX_WRAP_WIDTH, out);
	dtx_buf_addc(out, '\n');
	dtx_buf_reset(&text);
	help_text(op->notes, out);
	dtx_buf_add(out, "\nparameters:\n");
	dtx_param_help(op->params, op->nparams, &text);
	dtx_wrap_text(dtx_buf_text(&text), DTX_WRAP_WIDTH, out);
	dtx_buf_clear(&text);
	if (op->nexamples)
		dtx_buf_add(out, "\nexamples:\n");
	for (i = 0; i < op->nexamples; i++)
		help_example(&op->examples[i], out);
}

void dtx_help_each_op(void (*group)(const char *name, struct dtx_buf *out),
                      void (*each)(const struct dtx_op *op, struct dtx_buf *out),
                      struct dtx_buf *out)
{
	size_t i, k;

	for (i = 0; dtx_ops[i]; i++) {
		for (k = 0; k < i && strcmp(dtx_op_groups[k], dtx_op_groups[i]) != 0; k++)
			;
		if (k < i)
			continue; /* its group was shown */
		group(dtx_op_groups[i], out);
		for (k = i; dtx_ops[k]; k++)
			if (!strcmp(dtx_op_groups[k], dtx_op_groups[i]))
				each(dtx_ops[k], out);
	}
}

static void help_op_group(const char *name, struct dtx_buf *out)
{
	dtx_buf_printf(out, "%s%s:\n", out->len ? "\n" : "", name);
}

static void help_op_line(const struct dtx_op *op, struct dtx_buf *out)
{
	dtx_buf_printf(out, "  %-18s %s\n", op->name, op->summary);
}

void dtx_help_ops(struct dtx_buf *out)
{
	dtx_help_each_op(help_op_group, help_op_line, out);
}
