/* What a shell offers when the user presses Tab, and the scripts that let bash, zsh and fish ask.
 * All of it comes from the tables of commands, options, settings and operations, and from the
 * store. */
#ifndef DTX_CLI_HELP_COMPLETE_H
#define DTX_CLI_HELP_COMPLETE_H

#include "cli/cmd.h"

enum { DTX_COMPLETE_WORDS = 512 };
/* A command line up to the cursor. */
struct dtx_complete_line {
	char *word[DTX_COMPLETE_WORDS]; /* in an arena; the last one is at the cursor */
	int n;
	size_t shown; /* what bash has of the last word already, up to a break */
};

/* Prints what the last word of a command line may be, one candidate on a line, each without what
 * stands before the last '=' of the word; ":files" last of all if names of files may stand there.
 * Returns the exit status. */
int dtx_complete(const struct dtx_cli *cli, const char *line);
/* The script for "bash", "zsh" or "fish"; NULL: another shell. */
const char *dtx_complete_script(const char *shell);

#endif
