/* Identifies the process that a run belongs to: see process.h. */
#include "core/store/ledger/process.h"

#include <fcntl.h>
#include <pthread.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/base/text/num.h"

/* The first bytes of a small file of /proc, as a string. */
static bool process_read(const char *path, char *out, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	out[0] = '\0';
	if (fd < 0)
		return false;
	n = read(fd, out, size - 1);
	close(fd);
	if (n <= 0)
		return false;
	out[n] = '\0';
	return true;
}

/* The state letter and the start time of a process; 0 if it does not exist. */
static char process_stat(int64_t pid, int64_t *start)
{
	char path[64], text[1024];
	struct dtx_str rest, word = { NULL, 0 };
	const char *end;
	int i;

	snprintf(path, sizeof(path), "/proc/%lld/stat", (long long)pid);
	if (!process_read(path, text, sizeof(text)))
		return 0;
	end = strrchr(text, ')'); /* the name before it may contain any character */
	if (!end || strlen(end) < 3)
		return 0;
	rest = dtx_str_of(end + 2);
	for (i = 3; i <= 22; i++) { /* fields are counted from 1: 3 is the state, 22 the start */
		if (!dtx_str_next(&rest, ' ', &word))
			return 0;
	}
	if (!dtx_num_parse_i64(word.ptr, word.len, start))
		*start = 0;
	return end[2];
}

static void process_find_self(struct dtx_process *p)
{
	memset(p, 0, sizeof(*p));
	p->pid = getpid();
	if (process_read("/proc/sys/kernel/random/boot_id", p->boot, sizeof(p->boot)))
		p->boot[strcspn(p->boot, "\n")] = '\0';
	(void)process_stat(p->pid, &p->start);
	if (gethostname(p->host, sizeof(p->host) - 1) < 0)
		p->host[0] = '\0';
}

/* A run asks several times, and two files of /proc are read for an answer, so it is kept. */
void dtx_process_self(struct dtx_process *p)
{
	static _Thread_local struct dtx_process self;

	if (self.pid != getpid()) /* the first question, or after a fork */
		process_find_self(&self);
	*p = self;
}

static char process_name[64];

static void process_find_user(void)
{
	struct passwd pw, *found = NULL;
	char text[4096];
	uid_t id = getuid();

	if (getpwuid_r(id, &pw, text, sizeof(text), &found) == 0 && found && found->pw_name[0])
		dtx_str_copy(process_name, sizeof(process_name), dtx_str_of(found->pw_name));
	else
		snprintf(process_name, sizeof(process_name), "uid %ld", (long)id);
}

const char *dtx_process_user(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	(void)pthread_once(&once, process_find_user);
	return process_name;
}

bool dtx_process_alive(const struct dtx_process *p, const struct dtx_process *self)
{
	int64_t start = 0;
	char state;

	if (strcmp(p->host, self->host) || !p->boot[0] || !self->boot[0])
		return true; /* a process of another host cannot be examined */
	if (strcmp(p->boot, self->boot))
		return false;
	state = process_stat(p->pid, &start);
	return state && state != 'Z' && state != 'X' && start == p->start;
}

json_t *dtx_process_json(const struct dtx_process *p)
{
	return json_pack("{s:s, s:I, s:I}", "boot", p->boot, "pid", (json_int_t)p->pid, "start",
	                 (json_int_t)p->start);
}
