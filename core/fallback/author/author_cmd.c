/* An author that is a command. It gets the prompt on stdin, writes the answer to stdout, and may
 * write its usage as JSON to descriptor 3. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/child_setup.h"
#include "core/base/file.h"
#include "core/base/log.h"
#include "core/base/memory/mem.h"
#include "core/fallback/author/author.h"

#define CMD_USAGE_MAX ((size_t)4 << 10)
#define CMD_POLL_MS   100
#define CMD_PIPE_MAX  ((size_t)1 << 20) /* bytes that a pipe can hold */
#define CMD_FDS       4                 /* stdin, stdout, stderr, usage */

struct cmd {
	pid_t pid;
	int process;        /* readable when the command has ended */
	int child[CMD_FDS]; /* the command's ends */
	int ours[CMD_FDS];  /* our ends; [0] is unused */
	struct dtx_buf *into[CMD_FDS];
	struct dtx_buf usage;
	int status;
};

/* Moves a descriptor away from 0 to 3, which the child will use. */
static int cmd_high(int fd)
{
	int high = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 10);

	dtx_file_close(&fd);
	return high;
}

static enum dtx_code cmd_pipe(struct cmd *c, int i, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int end[2];

	if (pipe2(end, O_CLOEXEC) < 0)
		DTX_FAIL(err, DTX_E_AUTHOR_FAILED, "cannot make a pipe: %s", strerror(errno));
	c->ours[i] = cmd_high(end[0]);
	c->child[i] = cmd_high(end[1]);
	if (c->ours[i] < 0 || c->child[i] < 0 || fcntl(c->ours[i], F_SETFL, O_NONBLOCK) < 0)
		DTX_FAIL(err, DTX_E_AUTHOR_FAILED, "cannot make a pipe: %s", strerror(errno));
out:
	return rc;
}

/* Makes the command's stdin: a memory file with the prompt. Unlike a pipe, it cannot block us if
 * the command does not read it. */
static enum dtx_code cmd_stdin(struct cmd *c, struct dtx_str prompt, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	c->child[0] = cmd_high(memfd_create("prompt", MFD_CLOEXEC));
	if (c->child[0] < 0)
		DTX_FAIL(err, DTX_E_AUTHOR_FAILED, "cannot keep the prompt: %s", strerror(errno));
	DTX_TRY(dtx_file_write(c->child[0], prompt.ptr, prompt.len, "prompt", err));
	(void)lseek(c->child[0], 0, SEEK_SET);
out:
	return rc;
}

/* Whether it is the variable that holds the key of a server. */
static bool is_key(const char *variable, const void *hide)
{
	size_t len = hide ? strlen(hide) : 0;

	return hide && !strncmp(variable, hide, len) && variable[len] == '=';
}

static int cmd_prepare(const struct cmd *c, posix_spawn_file_actions_t *actions,
                       posix_spawnattr_t *attr)
{
	int rc = 0, i;

	for (i = 0; i < CMD_FDS && !rc; i++)
		rc = posix_spawn_file_actions_adddup2(actions, c->child[i], i);
	if (!rc)
		rc = posix_spawn_file_actions_addclosefrom_np(actions, CMD_FDS);
	return rc ? rc : dtx_child_signals(attr);
}

static enum dtx_code cmd_spawn(struct cmd *c, const struct dtx_author *a, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	char *argv[] = { (char *)"sh", (char *)"-c", (char *)(uintptr_t)a->command, NULL };
	char **envp = dtx_child_environment(is_key, a->hide);
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	int failed, i;

	if (!envp)
		DTX_FAIL_MEM(err);
	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attr);
	failed = cmd_prepare(c, &actions, &attr);
	if (!failed)
		failed = posix_spawn(&c->pid, "/bin/sh", &actions, &attr, argv, envp);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attr);
	for (i = 0; i < CMD_FDS; i++)
		dtx_file_close(&c->child[i]);
	if (failed) {
		c->pid = 0;
		DTX_FAIL(err, DTX_E_AUTHOR_FAILED, "cannot start /bin/sh: %s",
		         dtx_child_failure(failed));
	}
	c->process = (int)syscall(SYS_pidfd_open, c->pid, 0);
	if (c->process < 0)
		DTX_FAIL(err, DTX_E_AUTHOR_FAILED, "cannot watch the author: pidfd_open: %s",
		         strerror(errno));
out:
	dtx_mem_free(envp);
	return rc;
}

/* Reads what is available, and closes the pipe at its end. It reads no more than a pipe holds,
 * so that a command that writes without end cannot keep us from checking the deadline. */
static void cmd_read(struct cmd *c, int i)
{
	char bytes[4096];
	size_t left;
	ssize_t n;

	for (left = CMD_PIPE_MAX / sizeof(bytes); left && c->ours[i] >= 0; left--) {
		n = read(c->ours[i], bytes, sizeof(bytes));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return;
		if (n <= 0)
			dtx_file_close(&c->ours[i]);
		else if (i == 1 || c->into[i]->len + (size_t)n <= c->into[i]->max)
			dtx_buf_addn(c->into[i], bytes, (size_t)n);
	}
}

static bool cmd_ended(const struct cmd *c)
{
	struct pollfd p[CMD_FDS];
	int i;

	for (i = 1; i < CMD_FDS; i++)
		p[i - 1] = (struct pollfd){ c->ours[i], POLLIN, 0 };
	p[CMD_FDS - 1] = (struct pollfd){ c->process, POLLIN, 0 };
	return poll(p, CMD_FDS, CMD_POLL_MS) > 0 && p[CMD_FDS - 1].revents;
}

static enum dtx_code cmd_wait(struct cmd *c, const struct dtx_author_ask *ask,
                              struct dtx_author_answer *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int64_t deadline = dtx_now_ns() + ask->timeout_ms * 1000000;
	bool ended = false;
	int i;

	while (!ended) {
		DTX_TRY(dtx_author_alive(ask, deadline, out, err));
		ended = cmd_ended(c);
		for (i = 1; i < CMD_FDS; i++)
			cmd_read(c, i);
		if (!dtx_buf_ok(&out->text))
			DTX_FAIL(err, DTX_E_AUTHOR_FAILED, "the answer has more than %zu KiB",
			         out->text.max >> 10);
	}
	/* ends what it left running, before its process group's number can be used again */
	kill(-c->pid, SIGKILL);
	if (waitpid(c->pid, &c->status, 0) != c->pid)
		DTX_FAIL(err, DTX_E_AUTHOR_FAILED, "the author is gone: %s", strerror(errno));
	c->pid = 0;
out:
	return rc;
}

/* The last line that the command printed, which usually says most. */
static struct dtx_str cmd_last_line(const struct dtx_buf *said)
{
	size_t end = said->len, start;

	while (end && strchr("\n\r ", said->ptr[end - 1]))
		end--;
	start = end;
	while (start && said->ptr[start - 1] != '\n')
		start--;
	return (struct dtx_str){ said->ptr ? said->ptr + start : "", end - start };
}

static enum dtx_code cmd_status(const struct cmd *c, const struct dtx_author_answer *out,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_str last = cmd_last_line(&out->said);
	char shown[160];

	dtx_str_copy(shown, sizeof(shown), last);
	if (WIFSIGNALED(c->status))
		DTX_FAIL(err, DTX_E_AUTHOR_FAILED, "the author was ended by signal %d",
		         WTERMSIG(c->status));
	if (WEXITSTATUS(c->status))
		DTX_FAIL(err, DTX_E_AUTHOR_FAILED, "the author ended with status %d%s%s",
		         WEXITSTATUS(c->status), shown[0] ? ": " : "", shown);
out:
	return rc;
}

static void cmd_usage(struct cmd *c, struct dtx_author_answer *out)
{
	struct dtx_json_limits limits = { CMD_USAGE_MAX, 4 };
	json_t *usage = NULL;

	if (c->usage.len && dtx_json_parse((struct dtx_str){ c->usage.ptr, c->usage.len }, limits,
	                                   &usage, NULL) == DTX_OK)
		dtx_author_usage(usage, out);
	json_decref(usage);
}

static void cmd_clear(struct cmd *c)
{
	int i;

	if (c->pid > 0) {
		kill(-c->pid, SIGKILL);
		(void)waitpid(c->pid, NULL, 0);
	}
	for (i = 0; i < CMD_FDS; i++) {
		dtx_file_close(&c->child[i]);
		dtx_file_close(&c->ours[i]);
	}
	dtx_file_close(&c->process);
	dtx_buf_clear(&c->usage);
}

static enum dtx_code cmd_ask(const struct dtx_author *a, const struct dtx_author_ask *ask,
                             struct dtx_author_answer *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct cmd c = { .process = -1,
		         .child = { -1, -1, -1, -1 },
		         .ours = { -1, -1, -1, -1 },
		         .into = { NULL, &out->text, &out->said, &c.usage },
		         .usage = DTX_BUF_INIT(CMD_USAGE_MAX) };
	int i;

	DTX_TRY(cmd_stdin(&c, ask->prompt, err));
	for (i = 1; i < CMD_FDS; i++)
		DTX_TRY(cmd_pipe(&c, i, err));
	DTX_TRY(cmd_spawn(&c, a, err));
	DTX_TRY(cmd_wait(&c, ask, out, err));
	cmd_usage(&c, out);
	dtx_secrets_scrub_buf(a->secrets, &out->said); /* before a line of it is cut out */
	DTX_TRY(cmd_status(&c, out, err));
out:
	if (rc != DTX_OK && !out->outcome[0] && WIFEXITED(c.status) && WEXITSTATUS(c.status))
		snprintf(out->outcome, sizeof(out->outcome), "status %d", WEXITSTATUS(c.status));
	cmd_clear(&c);
	return rc;
}

void dtx_author_cmd(struct dtx_author *a, const char *command, const char *hide)
{
	a->transport = "cmd";
	a->model = a->model ? a->model : "";
	a->ask = cmd_ask;
	a->command = command;
	a->hide = hide;
}
