/* mcp: serves the Model Context Protocol on stdin and stdout. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/mcp/mcp.h"
#include "cli/out.h"
#include "cli/settings/config.h"
#include "cli/signal_flag.h"
#include "core/base/file.h"
#include "core/base/memory/mem.h"
#include "core/fallback/prompt/disclose.h"

#define ROWS_OF_ALL    20
#define ANSWER_SECONDS 45 /* clients give up after 60 */
#define NS             ((int64_t)1000000000)

struct mcp_args {
	const char *root, *sample;
	int64_t answer;
};

#define AT(member) .offset = offsetof(struct mcp_args, member)
static const struct dtx_opt mcp_opts[] = {
	{ .name = "root",
	  .kind = DTX_O_TEXT,
	  .metavar = "DIR",
	  AT(root),
	  .help = "the folder below which the client may name files (default: the current one)" },
	{ .name = "sample",
	  .kind = DTX_O_TEXT,
	  .metavar = "none|synthetic|masked|rows:N|all",
	  AT(sample),
	  .help = "what results may show of the data. none, synthetic (default) and masked: no "
	          "cell "
	          "in any result, a prompt as with dtx prompt; rows:N: previews of N rows, and "
	          "messages that quote cells; all: 20 rows, what a program prints, its figures, "
	          "and "
	          "whole outputs" },
	{ .name = "answer-within",
	  .kind = DTX_O_INT,
	  .metavar = "SECONDS",
	  AT(answer),
	  .min = 1,
	  .max = 3600,
	  .help = "answer a call after so long with status running, less than the client waits "
	          "(45)" },
};

/* From here on only the protocol can reach the client: what else writes to stdout goes to stderr.
 */
static enum dtx_code take_stdout(struct dtx_mcp_server *s, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	s->in = STDIN_FILENO;
	s->out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	if (s->out < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
		DTX_FAIL(err, DTX_E_OUTPUT_IO, "stdout cannot be used for the protocol");
out:
	return rc;
}

static enum dtx_code find_root(struct dtx_mcp_server *s, const char *root, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct stat st;

	root = root ? root : ".";
	if (!realpath(root, s->root))
		DTX_FAIL_FILE(err, DTX_E_USAGE, "use the root", root);
	if (stat(s->root, &st) || !S_ISDIR(st.st_mode))
		DTX_FAIL_NEXT(err, DTX_E_USAGE, "name a folder with --root",
		              "the root '%s' is no folder", root);
	if (strpbrk(s->root, DTX_MCP_PATTERNS))
		DTX_FAIL_NEXT(
			err, DTX_E_USAGE, "rename the folder, or name another with --root",
			"the root '%s' has *, ?, [ or $ in its name, which plans use for patterns",
			s->root);
out:
	return rc;
}

/* The policy: --sample, or the settings, or their locks. */
static enum dtx_code find_policy(struct dtx_mcp_server *s, struct dtx_config *config,
                                 const char *option, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_mcp_policy *p = &s->policy;
	const char *text = dtx_config_get(config, "sample", option, NULL);
	const char *approve = dtx_config_get(config, "approve", NULL, NULL);
	enum dtx_sample sample = DTX_SAMPLE_SYNTHETIC;

	p->approve_auto = approve && !strcmp(approve, "auto");
	p->all = text && !strcmp(text, "all");
	if (p->all) {
		p->sample = "rows:5";
		p->rows = ROWS_OF_ALL;
	} else if (text) {
		if (dtx_sample_parse(text, &sample, NULL) != DTX_OK)
			DTX_FAIL_NEXT(err, DTX_E_USAGE, "dtx mcp --help",
			              "option '--sample' takes none, synthetic, masked, rows:1 to "
			              "rows:5 or all, got '%s'",
			              text);
		p->sample = dtx_sample_name(sample);
		p->rows = sample >= DTX_SAMPLE_ROWS_1 ? (int)sample - DTX_SAMPLE_ROWS_1 + 1 : 0;
	}
	if (dtx_config_locks(config))
		dtx_out_note(s->cli, "dtx: %s\n", dtx_config_locks(config));
out:
	return rc;
}

static enum dtx_code serve(struct dtx_mcp_server *s, const struct mcp_args *args,
                           struct dtx_config *config, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	DTX_TRY(take_stdout(s, err));
	DTX_TRY(dtx_config_open(config, err));
	DTX_TRY(find_policy(s, config, args->sample, err));
	DTX_TRY(find_root(s, args->root, err));
	DTX_TRY(dtx_tempdir_make(&s->scratch, "mcp", err));
	s->tools = dtx_mcp_tools_list();
	if (!s->tools)
		DTX_FAIL_MEM(err);
	rc = dtx_mcp_serve(s, err);
out:
	return rc;
}

static int mcp_run(const struct dtx_cli *cli, void *args, int argc, char **argv)
{
	struct dtx_mcp_server *s = dtx_mem_zalloc(1, sizeof(*s));
	const struct mcp_args *given = args;
	struct dtx_config config = { .user = NULL };
	struct dtx_err err = DTX_ERR_INIT;
	int status = 0;

	(void)argc;
	(void)argv;
	if (!s)
		return dtx_code_exit(DTX_E_NO_MEMORY, true);
	s->cli = cli;
	s->answer_ns = NS * (given->answer ? given->answer : ANSWER_SECONDS);
	dtx_cancel_catch();
	if (serve(s, given, &config, &err) != DTX_OK)
		status = dtx_out_fail(cli, &err);
	dtx_mcp_sessions_end(s);
	dtx_tempdir_remove(&s->scratch);
	for (size_t i = 0; i < DTX_MCP_TICKETS_MAX; i++)
		json_decref(s->ticket[i].args);
	json_decref(s->tools);
	dtx_config_clear(&config);
	dtx_err_clear(&err);
	dtx_mem_free(s);
	return status;
}

const struct dtx_cmd dtx_cmd_mcp = {
	.name = "mcp",
	.usage = "",
	.summary = "Serve the Model Context Protocol on stdin and stdout, for agents",
	.notes =
		"An agent's client starts it, with this in its configuration:\n"
		"  {\"command\": \"dtx\", \"args\": [\"mcp\", \"--root\", \".\"]}\n"
		"\n"
		"It offers the tools describe, run_plan, submit_code, run_python, open_session, "
		"close_session, wait, list, provenance, why and replay, and runs, outputs, "
		"snippets and the schema of plans "
		"as "
		"resources. Each call runs dtx as a person would on the command line: with the "
		"same "
		"jail, limits, settings and record. Files are only read and written below the "
		"root. "
		"No tool replaces a file unless it is asked to, none approves code (a person does, "
		"with dtx snippet approve), and no author is asked.",
	.details =
		"The protocol is that of 2026-07-28, without a session, and of 2025-11-25, after "
		"initialize; one message a line, 8 MiB at most. Four calls run at a time, others "
		"wait. A call that takes longer than --answer-within is answered with status "
		"running "
		"and "
		"goes on: the tool wait has its result. notifications/cancelled ends a call; the "
		"end "
		"of stdin ends all. An output without a path is kept until the server ends. "
		"Children "
		"get no variable whose name contains KEY, TOKEN, SECRET or PASSWORD.\n\n"
		"Without --sample rows:N or all, no result, error or log holds a cell: messages "
		"that "
		"may quote one are replaced by a sentence about their code, and of a program that "
		"was "
		"given tables or files come its status, the type and line of its exception, and "
		"the "
		"names of files that its code names. Of a result, names of columns are left out "
		"that "
		"steps made of cells.\n\n"
		"That keeps data out of what a model reads in its work. It does not stop one that "
		"is "
		"after them: how many rows a filter keeps says something, and the header of a "
		"file "
		"that it wrote may be made of cells. Data that the model must not learn do not "
		"belong "
		"below the root.",
	.exits = "0 stdin ended; 2 usage; 9 no folder for temporary files",
	.opts = mcp_opts,
	.nopts = DTX_COUNT(mcp_opts),
	.args_size = sizeof(struct mcp_args),
	.run = mcp_run,
};
