/* What the kernel says about a worker, read from outside: nothing the worker claims counts. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "core/base/num.h"
#include "sandbox/super.h"

/* On top of what main itself inherited. */
#define FILTERS_OF_A_WORKER 3 /* Z, A, B */
#define FILTERS_OF_A_READER 1

static bool slurp(const char *path, char *out, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return false;
	n = read(fd, out, size - 1);
	close(fd);
	out[n > 0 ? n : 0] = 0;
	return n > 0;
}

/* Number after "\nNAME:" in base 10 or 16, -1 if there is none. */
static int64_t field(const char *text, const char *name, int base)
{
	char key[40];
	const char *at;

	snprintf(key, sizeof(key), "\n%s:", name);
	at = strstr(text, key);
	return at ? strtoll(at + strlen(key), NULL, base) : -1;
}

pid_t dtx_facts_pid(int pidfd)
{
	char path[64], text[1024];
	int64_t pid;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", pidfd);
	if (!slurp(path, text, sizeof(text)))
		return 0;
	pid = field(text, "Pid", 10);
	return pid > 0 && pid <= INT32_MAX ? (pid_t)pid : 0;
}

struct fact {
	const char *name;
	int base;
	int64_t want;
};

static bool facts_hold(const char *text, const struct fact *fact, size_t n, char *what, size_t size)
{
	size_t i;

	for (i = 0; i < n; i++) {
		int64_t have = field(text, fact[i].name, fact[i].base);

		if (have == fact[i].want)
			continue;
		snprintf(what, size, "%s is %lld, expected %lld", fact[i].name, (long long)have,
		         (long long)fact[i].want);
		return false;
	}
	return true;
}

struct status {
	char of[8192], own[8192];
};

static bool read_status(pid_t pid, struct status *s, char *what, size_t size)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	if (slurp(path, s->of, sizeof(s->of)) && slurp("/proc/self/status", s->own, sizeof(s->own)))
		return true;
	snprintf(what, size, "cannot read '%s': %s", path, strerror(errno));
	return false;
}

/* Behind a filter of a container every process has one: only their number tells. */
static bool filters_hold(const struct status *s, int64_t ours, char *what, size_t size)
{
	int64_t inherited = field(s->own, "Seccomp_filters", 10);
	int64_t have = field(s->of, "Seccomp_filters", 10);

	if (inherited < 0 || have == inherited + ours)
		return true;
	snprintf(what, size, "Seccomp_filters is %lld, expected %lld", (long long)have,
	         (long long)(inherited + ours));
	return false;
}

int64_t dtx_facts_own_filters(void)
{
	char own[8192];

	return slurp("/proc/self/status", own, sizeof(own)) ? field(own, "Seccomp_filters", 10)
	                                                    : -1;
}

bool dtx_facts_reader(pid_t pid, char *what, size_t size)
{
	static const struct fact facts[] = { { "NoNewPrivs", 10, 1 }, { "Seccomp", 10, 2 } };
	struct status s;

	return read_status(pid, &s, what, size) &&
	       facts_hold(s.of, facts, DTX_COUNT(facts), what, size) &&
	       filters_hold(&s, FILTERS_OF_A_READER, what, size);
}

/* The last of "NSpid:\t4711\t7": what its own namespace calls it. */
static pid_t inner_pid(const char *text, pid_t pid)
{
	const char *at = strstr(text, "\nNSpid:");
	long last = pid;
	char *end;

	for (at = at ? at + 7 : ""; *at == '\t'; at = end)
		last = strtol(at + 1, &end, 10);
	return last > 0 && last <= INT32_MAX ? (pid_t)last : pid;
}

bool dtx_facts_status(pid_t pid, uint64_t *vm_size, pid_t *inner, char *what, size_t size)
{
	struct status s;
	int64_t vm;
	static const struct fact wants[] = {
		{ "NoNewPrivs", 10, 1 }, { "Seccomp", 10, 2 }, { "CapEff", 16, 0 },
		{ "CapPrm", 16, 0 },     { "CapInh", 16, 0 },  { "CapAmb", 16, 0 },
		{ "Threads", 10, 1 },
	};

	if (!read_status(pid, &s, what, size) ||
	    !facts_hold(s.of, wants, DTX_COUNT(wants), what, size) ||
	    !filters_hold(&s, FILTERS_OF_A_WORKER, what, size))
		return false;
	vm = field(s.of, "VmSize", 10);
	*vm_size = vm > 0 ? (uint64_t)vm << 10 : 0;
	*inner = inner_pid(s.of, pid);
	return vm > 0;
}

/* The kernel tells user and system time in ticks, their sum exactly. */
bool dtx_facts_used(pid_t pid, struct dtx_wire_exited *used)
{
	char path[64], text[8192];
	struct timespec all;
	clockid_t clock;
	long long ticks;
	int64_t us, hwm, tick_us = 1000000 / sysconf(_SC_CLK_TCK);
	const char *at;

	if (pid <= 0 || clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &all))
		return false;
	us = all.tv_sec * 1000000 + all.tv_nsec / 1000;
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	at = slurp(path, text, sizeof(text)) ? strrchr(text, ')') : NULL;
	if (!at ||
	    sscanf(at, ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %lld", &ticks) != 1)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	hwm = slurp(path, text, sizeof(text)) ? field(text, "VmHWM", 10) : -1;
	if (hwm < 0)
		return false;
	*used = (struct dtx_wire_exited){ .sys_us = DTX_MIN(ticks * tick_us, us),
		                          .max_rss = hwm << 10 };
	used->user_us = us - used->sys_us;
	return true;
}

uint64_t dtx_facts_anon(pid_t pid)
{
	char path[64], text[256];
	long long total, resident, shared;

	snprintf(path, sizeof(path), "/proc/%d/statm", (int)pid);
	if (!slurp(path, text, sizeof(text)) ||
	    sscanf(text, "%lld %lld %lld", &total, &resident, &shared) != 3 || resident < shared)
		return 0;
	return (uint64_t)(resident - shared) * (uint64_t)sysconf(_SC_PAGESIZE);
}
