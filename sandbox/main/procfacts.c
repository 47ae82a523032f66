/* Reads from outside what the kernel says about a worker: its filters, limits, memory and times.
 * What a worker says about itself is never used for a decision about its lock-down. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "core/base/text/num.h"
#include "sandbox/main/super.h"

#define STATUS_MAX 8192

/* Filters that a locked process has in addition to those that main inherited. */
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

/* Returns the number after "\nNAME:" in base 10 or 16, or -1 if none. */
static int64_t field(const char *text, const char *name, int base)
{
	char key[40];
	const char *at;

	snprintf(key, sizeof(key), "\n%s:", name);
	at = strstr(text, key);
	return at ? strtoll(at + strlen(key), NULL, base) : -1;
}

pid_t dtx_procfacts_pid(int pidfd)
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

static bool read_status(pid_t pid, char *text, size_t room, char *what, size_t size)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	if (slurp(path, text, room))
		return true;
	snprintf(what, size, "cannot read '%s': %s", path, strerror(errno));
	return false;
}

/* A process without a filter needs no look at /proc, which would make each run slower. */
int64_t dtx_procfacts_own_filters(void)
{
	char own[STATUS_MAX];

	if (prctl(PR_GET_SECCOMP) == 0)
		return 0;
	return slurp("/proc/self/status", own, sizeof(own)) ? field(own, "Seccomp_filters", 10)
	                                                    : -1;
}

/* In a container every process has at least one filter already, so only the number of filters
 * shows whether ours are loaded. */
static bool filters_hold(const char *text, int64_t ours, char *what, size_t size)
{
	int64_t inherited = dtx_procfacts_own_filters();
	int64_t have = field(text, "Seccomp_filters", 10);

	if (inherited < 0 || have == inherited + ours)
		return true;
	snprintf(what, size, "Seccomp_filters is %lld, expected %lld", (long long)have,
	         (long long)(inherited + ours));
	return false;
}

bool dtx_procfacts_reader(pid_t pid, char *what, size_t size)
{
	static const struct fact facts[] = { { "NoNewPrivs", 10, 1 }, { "Seccomp", 10, 2 } };
	char text[STATUS_MAX];

	return read_status(pid, text, sizeof(text), what, size) &&
	       facts_hold(text, facts, DTX_COUNT(facts), what, size) &&
	       filters_hold(text, FILTERS_OF_A_READER, what, size);
}

/* Returns the last number of a line like "NSpid:\t4711\t7": the pid in the process's own
 * namespace. */
static pid_t inner_pid(const char *text, pid_t pid)
{
	const char *at = strstr(text, "\nNSpid:");
	long last = pid;
	char *end;

	for (at = at ? at + 7 : ""; *at == '\t'; at = end)
		last = strtol(at + 1, &end, 10);
	return last > 0 && last <= INT32_MAX ? (pid_t)last : pid;
}

bool dtx_procfacts_status(pid_t pid, uint64_t *vm_size, pid_t *inner, char *what, size_t size)
{
	char text[STATUS_MAX];
	int64_t vm;
	static const struct fact wants[] = {
		{ "NoNewPrivs", 10, 1 }, { "Seccomp", 10, 2 }, { "CapEff", 16, 0 },
		{ "CapPrm", 16, 0 },     { "CapInh", 16, 0 },  { "CapAmb", 16, 0 },
		{ "Threads", 10, 1 },
	};

	if (!read_status(pid, text, sizeof(text), what, size) ||
	    !facts_hold(text, wants, DTX_COUNT(wants), what, size) ||
	    !filters_hold(text, FILTERS_OF_A_WORKER, what, size))
		return false;
	vm = field(text, "VmSize", 10);
	*vm_size = vm > 0 ? (uint64_t)vm << 10 : 0;
	*inner = inner_pid(text, pid);
	if (vm <= 0) /* the process has ended; of a zombie the kernel shows little more */
		snprintf(what, size, "it has ended");
	return vm > 0;
}

bool dtx_procfacts_hidden(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	return access(path, R_OK) != 0 && access("/proc/self/status", R_OK) == 0;
}

/* The kernel gives user and system time in ticks, but their sum exactly. */
bool dtx_procfacts_used(pid_t pid, struct dtx_wire_exited *used, uint64_t *anon)
{
	char path[64], text[STATUS_MAX], what[120];
	struct timespec all;
	clockid_t clock;
	long long ticks;
	int64_t us, hwm, rss, tick_us = 1000000 / sysconf(_SC_CLK_TCK);
	const char *at;

	if (pid <= 0 || clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &all))
		return false;
	us = all.tv_sec * 1000000 + all.tv_nsec / 1000;
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	at = slurp(path, text, sizeof(text)) ? strrchr(text, ')') : NULL;
	if (!at ||
	    sscanf(at, ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %lld", &ticks) != 1)
		return false;
	if (!read_status(pid, text, sizeof(text), what, sizeof(what)))
		return false;
	hwm = field(text, "VmHWM", 10);
	rss = field(text, "RssAnon", 10);
	if (hwm < 0 || rss < 0)
		return false;
	*anon = (uint64_t)rss << 10;
	*used = (struct dtx_wire_exited){ .sys_us = DTX_MIN(ticks * tick_us, us),
		                          .max_rss = hwm << 10 };
	used->user_us = us - used->sys_us;
	return true;
}

/* Reads the state and the flags of the kernel from /proc/PID/stat; 0 if they cannot be read. */
static char state_of(pid_t pid, unsigned *flags)
{
	char path[64], text[STATUS_MAX], state;
	const char *at;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	at = slurp(path, text, sizeof(text)) ? strrchr(text, ')') : NULL;
	if (!at || sscanf(at, ") %c %*d %*d %*d %*d %*d %u", &state, flags) != 2)
		return 0;
	return state;
}

bool dtx_procfacts_exiting(pid_t pid)
{
	enum { EXITING = 4 }; /* PF_EXITING of the kernel */
	unsigned flags = 0;
	char state = state_of(pid, &flags);

	return state == 'Z' || state == 'X' || (flags & EXITING);
}

bool dtx_procfacts_stopped(pid_t pid)
{
	unsigned flags;

	return pid > 0 && state_of(pid, &flags) == 'T';
}

struct dtx_resident dtx_procfacts_resident(pid_t pid)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	char path[64], text[256];
	long long total, resident, shared;

	snprintf(path, sizeof(path), "/proc/%d/statm", (int)pid);
	if (!slurp(path, text, sizeof(text)) ||
	    sscanf(text, "%lld %lld %lld", &total, &resident, &shared) != 3 || resident < shared)
		return (struct dtx_resident){ 0, 0 };
	return (struct dtx_resident){ (uint64_t)resident * page,
		                      (uint64_t)(resident - shared) * page };
}
