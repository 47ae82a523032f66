/* help: prints the overview, the help of one command, or a page of the manual in troff. */
#include "cli/help/complete.h"
#include "cli/help/help.h"
#include "cli/out.h"
#include "core/plan/op.h"

struct help_args {
	const char *man;
	const char *completion, *complete;
};

static const struct dtx_opt help_opts[] = {
	{ .name = "man",
	  .kind = DTX_O_TEXT,
	  .metavar = "PAGE",
	  .offset = offsetof(struct help_args, man),
	  .help = "print a manual page as troff: dtx.1, dtx-plan.5, dtx-config.5, dtx-ops.7, "
	          "dtx-tutorial.7, dtx-cluster.7" },
	{ .name = "completion",
	  .kind = DTX_O_TEXT,
	  .choices = "bash,zsh,fish",
	  .offset = offsetof(struct help_args, completion),
	  .help = "print the completion script for a shell" },
	{ .name = "complete",
	  .kind = DTX_O_TEXT,
	  .metavar = "LINE",
	  .offset = offsetof(struct help_args, complete),
	  .help = "print what the last word of a command line may be, for these scripts" },
};

static int help_missing(const struct dtx_cli *cli, const char *what, const char *name)
{
	struct dtx_err err = DTX_ERR_INIT;

	dtx_err_set(&err, DTX_E_USAGE, __FILE__, __LINE__, "no %s '%s'", what, name);
	dtx_err_hint(&err, "dtx help");
	return dtx_out_fail(cli, &err);
}

static int help_run(const struct dtx_cli *cli, void *args, int argc, char **argv)
{
	const struct help_args *a = args;
	const struct dtx_cmd *cmd = argc ? dtx_cmd_find(argv[0]) : NULL;
	const struct dtx_op *op = argc && !cmd ? dtx_op_find(argv[0], NULL) : NULL;
	struct dtx_buf out = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	int status;

	if (a->complete)
		return dtx_complete(cli, a->complete);
	if (a->completion && !dtx_complete_script(a->completion))
		return help_missing(cli, "completion for the shell", a->completion);
	if (argc && dtx_help_topic(argv[0], &out))
		goto print;
	if (argc && !cmd && !op)
		return help_missing(cli, "command, operation or topic", argv[0]);
	if (a->man && !dtx_help_man(a->man, &out))
		return help_missing(cli, "manual page", a->man);
	if (a->completion)
		dtx_buf_add(&out, dtx_complete_script(a->completion));
	else if (cmd)
		dtx_help_cmd(cmd, false, &out);
	else if (op)
		dtx_help_op(op, &out);
	else if (!a->man)
		dtx_help_overview(&out);
print:
	status = dtx_out_print(cli, &out);
	dtx_buf_clear(&out);
	return status;
}

const struct dtx_cmd dtx_cmd_help = {
	.name = "help",
	.usage = "[COMMAND | OPERATION | tutorial | plan | functions | codes | config]",
	.summary = "Show the commands, one command, operation or topic, or a manual page",
	.opts = help_opts,
	.nopts = DTX_COUNT(help_opts),
	.args_size = sizeof(struct help_args),
	.max_args = 1,
	.any_settings = true,
	.run = help_run,
};
