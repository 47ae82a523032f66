/* Finds the command, parses its options and runs it. A role of the jail is recognised by argv[0]
 * before that and has no command line. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cli/settings/config.h"
#include "cli/terminal.h"
#include "cli/help/help.h"
#include "cli/out.h"
#include "core/base/memory/malloc_tuning.h"
#include "core/base/memory/mem.h"
#include "core/base/thread/stack.h"
#include "core/base/text/utf8.h"
#include "core/fallback/author/secret.h"
#include "core/io/write/reserve.h"
#include "core/plan/op.h"
#include "core/store/store.h"
#include "sandbox/role.h"

#define ARGS_MAX     4096
#define FILES_WANTED 256

/* Other names for commands: verbs that manage the store are also found under `provenance`. */
static const struct main_alias {
	const char *name, *verbs; /* NULL: any; what follows stays */
	const char *cmd, *verb;   /* NULL: the verb that was given */
} main_aliases[] = {
	{ "provenance", "path,check,rebuild,gc,forget,archive", "store", NULL },
	{ "provenance", "cells", "snippet", "list" },
	{ "diff", NULL, "provenance", "diff" },
};

/* Changes *argc and *argv (after the command) to those of the command that is meant, and returns
 * its name. */
static const char *main_meant(const char *name, int *argc, char ***argv)
{
	for (size_t i = 0; i < DTX_COUNT(main_aliases); i++) {
		const struct main_alias *a = &main_aliases[i];

		if (strcmp(a->name, name) != 0 ||
		    (a->verbs && (*argc < 1 || !dtx_str_in_list(a->verbs, (*argv)[0]))))
			continue;
		if (!a->verbs) { /* the place of its own name is used for the verb */
			(*argc)++;
			(*argv)--;
		}
		if (a->verb)
			(*argv)[0] = (char *)(uintptr_t)a->verb;
		return a->cmd;
	}
	return name;
}

static int main_usage(const struct dtx_cli *cli, struct dtx_err *err)
{
	int status = dtx_out_fail(cli, err);

	dtx_err_clear(err);
	return status;
}

static int main_help(const struct dtx_cli *cli, const struct dtx_cmd *cmd)
{
	struct dtx_buf out = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	int status;

	dtx_help_cmd(cmd, cli->help_all, &out);
	status = dtx_out_print(cli, &out);
	dtx_buf_clear(&out);
	return status;
}

static enum dtx_code main_count(const struct dtx_cmd *cmd, int argc, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (argc < cmd->min_args) {
		dtx_err_set(err, DTX_E_USAGE, __FILE__, __LINE__, "'dtx %s' needs %s", cmd->name,
		            cmd->usage);
		rc = DTX_E_USAGE;
	} else if (cmd->max_args >= 0 && argc > cmd->max_args) {
		dtx_err_set(err, DTX_E_USAGE, __FILE__, __LINE__,
		            "'dtx %s' takes at most %d operands, got %d", cmd->name, cmd->max_args,
		            argc);
		rc = DTX_E_USAGE;
	}
	return rc;
}

/* Refuses arguments that are not UTF-8: plans, records and errors are JSON, which cannot contain
 * them. */
static enum dtx_code main_utf8(const struct dtx_cli *cli, struct dtx_err *err)
{
	int i;

	for (i = 1; i < cli->argc; i++) {
		if (dtx_utf8_bad(cli->argv[i], strlen(cli->argv[i])) < 0)
			continue;
		dtx_err_set(err, DTX_E_USAGE, __FILE__, __LINE__, "argument '%s' is not UTF-8",
		            cli->argv[i]);
		dtx_err_hint(err, "rename the file, or give it as stdin: dtx ... - < FILE");
		return DTX_E_USAGE;
	}
	return DTX_OK;
}

/* A mistake in a file of settings is an error of every command: if the settings were only read
 * where they are used, a misspelt lock or limit would go unnoticed. */
static enum dtx_code main_settings(struct dtx_err *err)
{
	struct dtx_config config;
	enum dtx_code rc = dtx_config_open(&config, err);

	dtx_config_clear(&config);
	return rc;
}

/* Reserves files of settings and of the store, so that no output can replace them. */
static enum dtx_code main_reserve(const struct dtx_cli *cli, struct dtx_err *err)
{
	static const char *const with[] = { "", "-wal", "-shm", "-journal" };
	enum dtx_code rc = DTX_OK;
	char path[4096], file[4096 + 16];
	char *store = NULL;

	DTX_TRY(dtx_reserve(DTX_CONFIG_SYSTEM, "a file of settings", err));
	if (dtx_config_path(path, sizeof(path)))
		DTX_TRY(dtx_reserve(path, "a file of settings", err));
	/* commands that need a store report a bad name themselves */
	if (dtx_store_resolve(cli->store, &store, NULL) != DTX_OK || !strcmp(store, ":memory:"))
		goto out;
	for (size_t i = 0; i < DTX_COUNT(with); i++) {
		snprintf(file, sizeof(file), "%s%s", store, with[i]);
		DTX_TRY(dtx_reserve(file, "a file of the store", err));
	}
out:
	dtx_mem_free(store);
	return rc;
}

/* Whether the arguments lack the "--" before the words of steps, and do not ask for help. */
static bool main_lacks_words(int argc, char **argv)
{
	for (int i = 0; i < argc; i++)
		if (!strcmp(argv[i], "--") || !strcmp(argv[i], "--help") || !strcmp(argv[i], "-h"))
			return false;
	return true;
}

/* Says where "--" goes: before the first argument that is the name of an op. */
static enum dtx_code main_where_words(const struct dtx_cmd *cmd, int argc, char **argv,
                                      struct dtx_err *err)
{
	struct dtx_buf line = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	bool marked = false;

	dtx_err_set(err, DTX_E_USAGE, __FILE__, __LINE__,
	            "'dtx %s' needs '--' between the files and the steps", cmd->name);
	for (int i = 0; i < argc; i++) {
		if (!marked && dtx_op_find(argv[i], NULL)) {
			dtx_buf_add(&line, " --");
			marked = true;
		}
		dtx_buf_addc(&line, ' ');
		dtx_buf_word(&line, argv[i]);
	}
	if (marked)
		dtx_err_hint(err, "dtx %s%s", cmd->name, dtx_buf_text(&line));
	dtx_buf_clear(&line);
	return DTX_E_USAGE;
}

static int main_run(struct dtx_cli *cli, const struct dtx_cmd *cmd, int argc, char **argv)
{
	_Alignas(max_align_t) char args[ARGS_MAX] = { 0 };
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_opttable tables[] = { { cmd->opts, cmd->nopts, args },
		                         { dtx_common_opts, dtx_ncommon_opts, cli } };
	enum dtx_code rc = DTX_OK;
	int status;

	cli->command = cmd->name;
	DTX_ASSERT(cmd->args_size <= sizeof(args), &err);
	if (cmd->words && main_lacks_words(argc, argv))
		DTX_TRY(main_where_words(cmd, argc, argv, &err));
	if (cmd->words)
		DTX_TRY(dtx_opt_parse_words(tables, DTX_COUNT(tables), cmd->words, &argc, argv,
		                            &cli->nwords, &err));
	else
		DTX_TRY(dtx_opt_parse(tables, DTX_COUNT(tables), &argc, argv, &err));
	DTX_TRY(main_utf8(cli, &err));
	if (cli->help || cli->help_all) {
		dtx_terminal_page(cli);
		status = main_help(cli, cmd);
		dtx_terminal_close(cli);
		return status;
	}
	DTX_TRY(main_count(cmd, argc, &err));
	if (!cmd->any_settings) {
		DTX_TRY(main_settings(&err));
		DTX_TRY(main_reserve(cli, &err));
	}
	dtx_terminal_page(cli);
	status = cmd->run(cli, args, argc, argv);
	dtx_terminal_close(cli);
	return status;
out:
	return rc == DTX_OK ? 0 : main_usage(cli, &err);
}

static int main_unknown(const struct dtx_cli *cli, const char *name)
{
	struct dtx_err err = DTX_ERR_INIT;
	const char *names[64];
	size_t n;

	for (n = 0; n < DTX_COUNT(names) && dtx_cmds[n]; n++)
		names[n] = dtx_cmds[n]->name;
	dtx_err_set(&err, DTX_E_USAGE, __FILE__, __LINE__, "no command '%s'", name);
	dtx_err_suggest(&err, name, names, n);
	dtx_err_hint(&err, "dtx help");
	return main_usage(cli, &err);
}

/* Copies argv: the option parser moves operands to the front, but the record needs the line as
 * it was typed. */
static char **main_argv(int argc, char **argv)
{
	char **copy = dtx_mem_alloc((size_t)argc + 1, sizeof(*copy));

	if (copy)
		memcpy(copy, argv, ((size_t)argc + 1) * sizeof(*copy));
	return copy;
}

/* Finds --errors before the options are parsed, because an error in them must be printed that
 * way, too. */
static int main_errors(int argc, char **argv)
{
	int errors = 0;

	for (int i = 1; i < argc && strcmp(argv[i], "--"); i++) {
		if (!strncmp(argv[i], "--errors=", 9))
			errors = !strcmp(argv[i] + 9, "json");
		else if (!strcmp(argv[i], "--errors") && i + 1 < argc)
			errors = !strcmp(argv[i + 1], "json");
	}
	return errors;
}

/* If a standard descriptor was closed at the start, the next file that is opened would get its
 * number, and output for stdout would be written into that file. So the number is taken by a
 * descriptor on which that write fails. */
static void main_descriptors(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF &&
		    open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0)
			return;
}

static int main_on_stack(int argc, char **argv)
{
	struct dtx_cli cli = { .argc = argc, .errors = main_errors(argc, argv) };
	const struct dtx_cmd *cmd;
	const char *name = argc > 1 ? argv[1] : "help";
	int role = dtx_sandbox_role(argc, argv), status;

	if (role >= 0)
		return role;
	dtx_secrets_leave_block();
	if (getenv("DTX_AUTHOR_KEY"))
		dtx_secrets_shut_memory(); /* also where no author will be asked */
	main_descriptors();
	/* A closed pipe, or a file at its size limit, becomes an error of the write, with a
	 * message and an exit status. */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	dtx_malloc_tuning_start();
	dtx_json_init();
	cli.argv = main_argv(argc, argv);
	if (!cli.argv)
		return dtx_code_exit(DTX_E_NO_MEMORY, true);
	if (!strcmp(name, "--version") || !strcmp(name, "-V"))
		name = "version";
	if (!strcmp(name, "--help") || !strcmp(name, "-h"))
		name = "help";
	argc = DTX_MAX(argc - 2, 0);
	argv += DTX_MIN(cli.argc, 2);
	cmd = dtx_cmd_find(main_meant(name, &argc, &argv));
	status = !cmd ? main_unknown(&cli, name) : main_run(&cli, cmd, argc, argv);
	dtx_mem_free(cli.argv);
	return status;
}

/* Raises the soft limit of open files, which is often only a default; the hard limit is
 * respected. */
static void main_limits(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= FILES_WANTED)
		return;
	limit.rlim_cur = DTX_MIN(limit.rlim_max, FILES_WANTED);
	(void)setrlimit(RLIMIT_NOFILE, &limit);
}

int main(int argc, char **argv)
{
	main_limits();
	return dtx_stack_run(main_on_stack, argc, argv);
}
