/* What is known of the terminal that stdout is: its size, whether it gets colours, and a pager in
 * front of it. */
#ifndef DTX_CLI_TERMINAL_H
#define DTX_CLI_TERMINAL_H

#include "cli/cmd.h"
#include "core/io/write/writer.h"

/* Whether a person reads stdout: a terminal, or a pager that dtx started. */
bool dtx_terminal(const struct dtx_cli *cli);
/* Whether stdout gets colours: a terminal without NO_COLOR (https://no-color.org) that is not
 * TERM=dumb. */
bool dtx_terminal_colours(const struct dtx_cli *cli);
/* Lets a table for people fit the terminal; nothing with a pager, which scrolls, or if
 * stdout is not a terminal. */
void dtx_terminal_fit(const struct dtx_cli *cli, struct dtx_write_opts *opts);
/* Starts $DTX_PAGER, $PAGER or less with stdout as its input, if stdout is a terminal and --pager
 * was given. Without a pager, stdout stays as it is. */
void dtx_terminal_page(struct dtx_cli *cli);
/* Ends the input of the pager and waits until the user leaves it. */
void dtx_terminal_close(const struct dtx_cli *cli);

#endif
