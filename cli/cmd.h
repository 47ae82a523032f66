/* A command: one const descriptor per cli/cmd_*.c; usage, completion and man text come from it. */
#ifndef DTX_CLI_CMD_H
#define DTX_CLI_CMD_H

#include "cli/opt.h"

/* The invocation: options every command takes, and the command line for the record. */
struct dtx_cli {
	int errors; /* 0 text, 1 json */
	bool help, quiet, verbose;
	const char *store;   /* NULL: default place */
	const char *command; /* its name; NULL: none yet */
	int argc;
	char **argv;
};

struct dtx_cmd {
	const char *name;
	const char *usage;   /* operands: "PLAN [FILE | NAME=FILE]..." */
	const char *summary; /* one line */
	const char *notes;   /* paragraphs for --help and the man page; NULL */
	const char *exits;   /* exit statuses of its own, beside the common table; NULL */
	const struct dtx_opt *opts;
	size_t nopts, args_size;
	int min_args, max_args; /* operands; max -1: any number */
	/* Operands are argv[0 .. argc); prints its own errors; returns the exit status. */
	int (*run)(const struct dtx_cli *cli, void *args, int argc, char **argv);
};
extern const struct dtx_cmd *const dtx_cmds[]; /* generated, NULL at the end */

extern const struct dtx_opt dtx_common_opts[];
extern const size_t dtx_ncommon_opts;

#endif
