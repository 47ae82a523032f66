/* The terminal, see terminal.h. */
#include "cli/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/out.h"

extern char **environ;

bool dtx_terminal(const struct dtx_cli *cli)
{
	return cli->pager_pid > 0 || isatty(STDOUT_FILENO);
}

bool dtx_terminal_colours(const struct dtx_cli *cli)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	return dtx_terminal(cli) && !(no && *no) && term && *term && strcmp(term, "dumb") != 0;
}

/* A number from the environment, as a shell may set it; 0: none. */
static unsigned terminal_number(const char *name)
{
	const char *text = getenv(name);
	long n = text ? strtol(text, NULL, 10) : 0;

	return n > 0 && n < 100000 ? (unsigned)n : 0;
}

void dtx_terminal_fit(const struct dtx_cli *cli, struct dtx_write_opts *opts)
{
	struct winsize size = { 0 };

	opts->colour = dtx_terminal_colours(cli);
	if (cli->pager_pid > 0 || !isatty(STDOUT_FILENO))
		return;
	(void)ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
	opts->width = terminal_number("COLUMNS");
	opts->height = terminal_number("LINES");
	opts->width = opts->width ? opts->width : size.ws_col ? size.ws_col : 80;
	opts->height = opts->height ? opts->height : size.ws_row ? size.ws_row : 24;
}

/* --- pager --- */

static pid_t terminal_spawn(int in)
{
	const char *command = getenv("DTX_PAGER");
	char *argv[] = { (char *)(uintptr_t) "sh", (char *)(uintptr_t) "-c", NULL, NULL };
	posix_spawn_file_actions_t files;
	pid_t pid = -1;

	command = command && *command ? command : getenv("PAGER");
	argv[2] = (char *)(uintptr_t)(command && *command ? command : "less");
	/* as git does: colours pass, lines are not folded, a short text does not wait for a key */
	setenv("LESS", "FRSX", 0);
	if (posix_spawn_file_actions_init(&files))
		return -1;
	if (posix_spawn_file_actions_adddup2(&files, in, STDIN_FILENO) ||
	    posix_spawnp(&pid, "sh", &files, NULL, argv, environ))
		pid = -1;
	posix_spawn_file_actions_destroy(&files);
	return pid;
}

void dtx_terminal_page(struct dtx_cli *cli)
{
	int end[2];

	if (!cli->pager || !isatty(STDOUT_FILENO) || pipe2(end, O_CLOEXEC))
		return;
	cli->pager_pid = terminal_spawn(end[0]);
	if (cli->pager_pid > 0)
		(void)dup2(end[1], STDOUT_FILENO);
	close(end[0]);
	close(end[1]);
}

void dtx_terminal_close(const struct dtx_cli *cli)
{
	if (cli->pager_pid <= 0)
		return;
	close(STDOUT_FILENO);
	signal(SIGINT, SIG_IGN); /* means the pager's search, for example */
	while (waitpid(cli->pager_pid, NULL, 0) < 0 && errno == EINTR)
		;
}
