/* What main reads about a worker before it sends a byte: each fact that does not hold is
 * detected. */
#include "tests/t.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/role.h"
#include "sandbox/policy/notify.h"
#include "sandbox/main/super.h"

enum { FILTERS = 3 };

struct state {
	const char *what;
	bool privs, caps, thread; /* what it should not have any more */
	int filters;
	const char *says; /* NULL: it is as a worker must be */
};

static long load(unsigned flags, struct sock_filter *code, unsigned short n)
{
	struct sock_fprog prog = { n, code };

	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &prog);
}

static void *wait_here(void *arg)
{
	poll(NULL, 0, -1);
	return arg;
}

static bool become(const struct state *s)
{
	struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct none[2] = { { 0 } };
	struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	pthread_t thread;
	int i;

	if (s->thread && pthread_create(&thread, NULL, wait_here, NULL))
		return false;
	if (!s->caps && syscall(SYS_capset, &head, none))
		return false;
	if (!s->privs && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return false;
	for (i = 0; i < s->filters; i++)
		if (load(0, &allow, 1))
			return false;
	return true;
}

static void check(const struct state *s)
{
	char what[120] = "", byte;
	uint64_t vm = 0;
	int ready[2], status;
	pid_t pid, inner = 0;
	bool holds;

	T_INT(pipe(ready), 0);
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		if (become(s) && write(ready[1], "x", 1) == 1)
			poll(NULL, 0, -1);
		_exit(1);
	}
	close(ready[1]);
	T_INT(read(ready[0], &byte, 1), 1);
	holds = dtx_procfacts_status(pid, &vm, &inner, what, sizeof(what));
	if (holds != !s->says || (s->says && strncmp(what, s->says, strlen(s->says)) != 0))
		t_fail(__FILE__, __LINE__, "%s: %d, '%s'", s->what, holds, what);
	T_CHECK(!holds || (vm > 0 && inner > 0));
	T_INT(kill(pid, SIGKILL), 0);
	T_INT(waitpid(pid, &status, 0), pid);
	close(ready[0]);
}

void test_jail_facts_of_a_worker(void)
{
	static const struct state states[] = {
		{ "locked", false, false, false, FILTERS, NULL },
		{ "may gain privileges", true, false, false, 0, "NoNewPrivs is 0" },
		{ "no filter", false, false, false, 0, "Seccomp" },
		{ "a filter too few", false, false, false, FILTERS - 1, "Seccomp_filters is" },
		{ "a filter too many", false, false, false, FILTERS + 1, "Seccomp_filters is" },
		{ "a thread", false, false, true, FILTERS, "Threads is 2" },
		{ "capabilities", false, true, false, FILTERS, "CapEff is" },
	};
	size_t i, n = DTX_COUNT(states) - (geteuid() != 0);

	if (DTX_SANITIZED) {
		t_skip("a sanitizer starts threads");
		return;
	}
	for (i = 0; i < n; i++)
		if (!states[i].privs ||
		    !t_is_filtered()) /* the filter of the container is named first */
			check(&states[i]);
}

/* A process whose filter asks main about the probe call, and that makes this call. */
static pid_t start_prober(const uint64_t nonce[2], int *listener)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, DTX_NOTIFY_PROBE, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	int ends[2], fd = -1, pidfd;
	pid_t pid;

	T_INT(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
			_exit(1);
		fd = (int)load(SECCOMP_FILTER_FLAG_NEW_LISTENER, code, DTX_COUNT(code));
		/* main has it before it is closed */
		if (write(ends[1], &fd, sizeof(fd)) != sizeof(fd) ||
		    read(ends[1], &pid, sizeof(pid)) != sizeof(pid) || close(fd))
			_exit(2);
		_exit(syscall(DTX_NOTIFY_PROBE, nonce[0], nonce[1], 0, 0) < 0 ? errno : 0);
	}
	T_INT(read(ends[0], &fd, sizeof(fd)), sizeof(fd));
	pidfd = (int)syscall(SYS_pidfd_open, pid, 0u);
	*listener = fd < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, pidfd, fd, 0u);
	T_INT(write(ends[0], &pid, sizeof(pid)), sizeof(pid));
	close(pidfd);
	close(ends[0]);
	close(ends[1]);
	return pid;
}

void test_jail_probe_of_a_worker(void)
{
	static const uint64_t nonce[2] = { 0x1122334455667788u, 0x99aabbccddeeff00u };
	static const uint64_t first[2] = { 1, 0x99aabbccddeeff00u };
	static const uint64_t second[2] = { 0x1122334455667788u, 1 };
	const struct {
		const uint64_t *made;
		bool other; /* the call of another process */
		bool holds;
	} probes[] = {
		{ nonce, false, true },
		{ first, false, false },
		{ second, false, false },
		{ nonce, true, false },
	};
	size_t i;

	for (i = 0; i < DTX_COUNT(probes); i++) {
		int listener = -1, status = 0;
		pid_t pid = start_prober(probes[i].made, &listener);

		if (listener < 0) {
			t_skip("there is no listener here");
			T_INT(waitpid(pid, &status, 0), pid);
			return;
		}
		T_INT(dtx_notify_probe(listener, probes[i].other ? getpid() : pid, nonce),
		      probes[i].holds);
		close(listener);
		T_INT(waitpid(pid, &status, 0), pid);
		/* a call that is not the probe gets no answer; without a listener the kernel
		 * answers */
		T_INT(WEXITSTATUS(status), probes[i].holds ? EPERM : ENOSYS);
	}
}
