/* Children of the server: this binary with an ordinary command line. So their policy, jail, record
 * and limits are those of the command line, and ending one ends all that it does. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/mcp/mcp.h"
#include "core/base/child_setup.h"
#include "core/base/file.h"
#include "core/base/log.h"
#include "core/base/memory/mem.h"

#define STDOUT_MAX ((size_t)64 << 20)
#define STDERR_MAX ((size_t)4 << 20)
#define READ_MAX   ((size_t)1 << 20) /* bytes that are read before others have their turn */
#define GRACE_NS   ((int64_t)1000000000)

/* Whether a variable may hold a key. A child runs code that a model wrote, and asks no author. */
static bool is_secret(const char *variable, const void *arg)
{
	static const char *const words[] = { "KEY",      "TOKEN",      "SECRET",
		                             "PASSWORD", "CREDENTIAL", "DTX_AUTHOR" };
	const char *end = strchr(variable, '=');
	struct dtx_str name = { variable, end ? (size_t)(end - variable) : strlen(variable) };

	(void)arg;
	for (size_t i = 0; i < DTX_COUNT(words); i++) {
		for (size_t at = 0; at + strlen(words[i]) <= name.len; at++)
			if (!strncasecmp(name.ptr + at, words[i], strlen(words[i])))
				return true;
	}
	return false;
}

static int prepare(posix_spawn_file_actions_t *actions, posix_spawnattr_t *attr, const char *dir,
                   int out, int err)
{
	int rc;

	rc = posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	if (!rc)
		rc = posix_spawn_file_actions_adddup2(actions, out, STDOUT_FILENO);
	if (!rc)
		rc = posix_spawn_file_actions_adddup2(actions, err, STDERR_FILENO);
	if (!rc)
		rc = posix_spawn_file_actions_addclosefrom_np(actions, STDERR_FILENO + 1);
	if (!rc)
		rc = posix_spawn_file_actions_addchdir_np(actions, dir);
	return rc ? rc : dtx_child_signals(attr);
}

enum dtx_code dtx_mcp_child_start(struct dtx_mcp_child *c, const char *dir, char *const *argv,
                                  struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int out[2] = { -1, -1 }, error[2] = { -1, -1 }, failed;
	char **envp = dtx_child_environment(is_secret, NULL);
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;

	*c = (struct dtx_mcp_child){ .process = -1, .out = -1, .err = -1 };
	dtx_buf_init(&c->stdout_text, STDOUT_MAX);
	dtx_buf_init(&c->stderr_text, STDERR_MAX);
	if (!envp)
		DTX_FAIL_MEM(err);
	if (pipe2(out, O_CLOEXEC) < 0 || pipe2(error, O_CLOEXEC) < 0)
		DTX_FAIL(err, DTX_E_NO_MEMORY, "cannot make a pipe: %s", strerror(errno));
	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attr);
	failed = prepare(&actions, &attr, dir, out[1], error[1]);
	if (!failed)
		failed = posix_spawn(&c->pid, "/proc/self/exe", &actions, &attr, argv, envp);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attr);
	if (failed) {
		c->pid = 0;
		DTX_FAIL(err, DTX_E_NO_MEMORY, "cannot start dtx in '%s': %s", dir,
		         dtx_child_failure(failed));
	}
	c->process = (int)syscall(SYS_pidfd_open, c->pid, 0);
	if (c->process < 0 || fcntl(out[0], F_SETFL, O_NONBLOCK) < 0 ||
	    fcntl(error[0], F_SETFL, O_NONBLOCK) < 0) {
		failed = errno;
		dtx_mcp_child_kill(c);
		DTX_FAIL(err, DTX_E_NO_MEMORY, "cannot watch dtx: pidfd_open: %s",
		         strerror(failed));
	}
	c->out = out[0];
	c->err = error[0];
	out[0] = error[0] = -1;
out:
	for (int i = 0; i < 2; i++) {
		dtx_file_close(&out[i]);
		dtx_file_close(&error[i]);
	}
	dtx_mem_free(envp);
	return rc;
}

/* Reads what is there; what goes beyond the limit is dropped, and the buffer has failed. */
static void read_some(int *fd, struct dtx_buf *into)
{
	char bytes[16384];

	for (size_t left = READ_MAX / sizeof(bytes); left && *fd >= 0; left--) {
		ssize_t n = read(*fd, bytes, sizeof(bytes));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return;
		if (n <= 0)
			dtx_file_close(fd);
		else
			dtx_buf_addn(into, bytes, (size_t)n);
	}
}

bool dtx_mcp_child_read(struct dtx_mcp_child *c)
{
	struct pollfd ended = { c->process, POLLIN, 0 };
	int status = 0;

	/* asked first: what it wrote before it ended is then read completely */
	(void)poll(&ended, 1, 0);
	read_some(&c->out, &c->stdout_text);
	read_some(&c->err, &c->stderr_text);
	if (!ended.revents) {
		if (c->kill_ns && dtx_now_ns() >= c->kill_ns)
			kill(-c->pid, SIGKILL);
		return false;
	}
	/* A process that it left running may still hold the pipes; it is not waited for. */
	kill(-c->pid, SIGKILL);
	for (int i = 0; i < 64 && c->out >= 0; i++)
		read_some(&c->out, &c->stdout_text);
	if (waitpid(c->pid, &status, 0) == c->pid)
		c->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	c->pid = 0;
	dtx_file_close(&c->process);
	dtx_file_close(&c->out);
	dtx_file_close(&c->err);
	return true;
}

void dtx_mcp_child_stop(struct dtx_mcp_child *c)
{
	if (!c->pid || c->kill_ns)
		return;
	kill(c->pid, SIGTERM); /* dtx ends its jail and its record in order */
	c->kill_ns = dtx_now_ns() + GRACE_NS;
}

void dtx_mcp_child_kill(struct dtx_mcp_child *c)
{
	if (!c->pid)
		return;
	kill(-c->pid, SIGKILL);
	(void)waitpid(c->pid, &c->status, 0);
	c->pid = 0;
}

void dtx_mcp_child_clear(struct dtx_mcp_child *c)
{
	dtx_mcp_child_kill(c);
	dtx_file_close(&c->process);
	dtx_file_close(&c->out);
	dtx_file_close(&c->err);
	dtx_buf_clear(&c->stdout_text);
	dtx_buf_clear(&c->stderr_text);
}

void dtx_mcp_argv_add(struct dtx_mcp_argv *a, const char *text)
{
	char *copy = a->n < DTX_MCP_ARGV_MAX ? dtx_mem_strdup(text) : NULL;

	if (copy)
		a->item[a->n++] = copy;
	else
		a->full = true;
}

void dtx_mcp_argv_clear(struct dtx_mcp_argv *a)
{
	while (a->n)
		dtx_mem_free(a->item[--a->n]);
}
