/* A command: one const descriptor for each cli/cmd_*.c. Usage, shell completion and the man page
 * are made from it. */
#ifndef DTX_CLI_CMD_H
#define DTX_CLI_CMD_H

#include "cli/opt.h"

/* The invocation: the options that every command has, and the command line for the record. */
struct dtx_cli {
	int errors; /* 0 text, 1 json */
	bool help, help_all, quiet, verbose, pager;
	int pager_pid;       /* of the pager that reads stdout; 0 or less: none */
	const char *store;   /* NULL: the default place */
	const char *command; /* name of the command; NULL: not known yet */
	int argc;
	char **argv;
	int nwords; /* operands after "--", for a command with `words` */
};

struct dtx_cmd {
	const char *name;
	const char *usage;   /* operands: "PLAN [FILE | NAME=FILE]..." */
	const char *summary; /* one line */
	const char *notes;   /* paragraphs for --help and the man page; NULL: none */
	const char *details; /* more of them, for --help-all and the man page; NULL: none */
	const char *exits;   /* exit statuses in addition to the common table; NULL: none */
	const struct dtx_opt *opts;
	size_t nopts, args_size;
	int min_args, max_args; /* number of operands; max -1: no limit */
	/* Runs even if a file of settings has a mistake, and may write the user's. */
	bool any_settings;
	/* The word that separates steps, if what follows "--" is words of steps
	 * (dtx_opt_parse_words); NULL: operands. */
	const char *words;
	/* The operands are argv[0 .. argc). Prints its own errors and returns the exit status. */
	int (*run)(const struct dtx_cli *cli, void *args, int argc, char **argv);
};
extern const struct dtx_cmd *const dtx_cmds[]; /* generated; ends with NULL */

extern const struct dtx_opt dtx_common_opts[];
extern const size_t dtx_ncommon_opts;

#endif
