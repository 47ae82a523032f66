/* Makes every named system call of this machine under the real programs.  The supervisor receives
 * it with its name and refuses it, or the process is ended. */
#include "tests/t.h"

#include <errno.h>
#include <poll.h>
#include <seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/policy/filter.h"
#include "sandbox/policy/notify.h"
#include "sandbox/policy/policy.h"
#include "sandbox/role.h"
#include "sandbox/wire.h"

#define NR_END    512
#define FD_TO     6
#define ANSWER_MS 60000

/* The calls that have a row, in the order of the sets; negative where this machine has no such
 * call. */
#define A(call, n, c0, c1, c2, c3, reason) SCMP_SYS(call),
static const int sealed_calls[] = { DTX_POLICY_ALLOW(A) };
static const int lib_calls[] = { DTX_POLICY_LIB(A) };
#undef A

static bool is_among(const int *call, size_t n, int nr)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (call[i] == nr)
			return true;
	return false;
}

static bool is_skipped(enum dtx_filter_set set, int nr)
{
	char name[64];

	if (is_among(sealed_calls, DTX_COUNT(sealed_calls), nr) ||
	    (set != DTX_FILTER_SEALED && is_among(lib_calls, DTX_COUNT(lib_calls), nr)))
		return true;
	dtx_filter_name(nr, name, sizeof(name));
	return !strcmp(name, "unknown");
}

/* Makes all calls from `nr` on; the listener goes to the parent. */
static _Noreturn void victim(const struct dtx_filters *f, enum dtx_filter_set set, int to, int nr)
{
	struct rlimit none = { 0, 0 };
	struct dtx_wire w = { .fd = FD_TO };
	uint32_t audit = 1;
	int listener = -1;

	if (dup2(to, FD_TO) != FD_TO || setrlimit(RLIMIT_CORE, &none) ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || dtx_filter_load(f, DTX_FILTER_Z, NULL) ||
	    dtx_filter_load(f, DTX_FILTER_A, &listener) ||
	    !dtx_wire_send(&w, DTX_WIRE_LOCKED, &audit, sizeof(audit), &listener, 1) ||
	    dtx_filter_load(f, DTX_FILTER_B, NULL))
		_exit(1);
	for (; nr < NR_END; nr++)
		if (!is_skipped(set, nr))
			syscall(nr, 99, 0, 0, 0, 0, 0);
	_exit(0);
}

static pid_t start(const struct dtx_filters *f, enum dtx_filter_set set, int nr, int *listener)
{
	struct dtx_wire w;
	struct dtx_wire_msg msg;
	size_t n = 1;
	int pair[2];
	pid_t pid;

	T_INT(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
	pid = fork();
	if (pid == 0)
		victim(f, set, pair[1], nr);
	close(pair[1]);
	w = (struct dtx_wire){ .fd = pair[0] };
	T_INT(dtx_wire_recv(&w, &msg, listener, &n), 1);
	close(pair[0]);
	return pid;
}

/* The next call of the victim; -1: it has made all of them.  *go: it was refused and continues. */
static int next_call(int listener, bool *go)
{
	struct pollfd p = { .fd = listener, .events = POLLIN };
	struct dtx_jail_report r;
	char name[64];
	int nr = -1;

	T_INT(poll(&p, 1, ANSWER_MS), 1);
	if (!(p.revents & POLLIN))
		return -1;
	dtx_jail_report_init(&r);
	*go = dtx_notify_answer(listener, 0, 0, &r);
	if (r.ndenied == 1) {
		nr = r.denied[0].nr;
		dtx_filter_name(nr, name, sizeof(name));
		T_STR(r.denied[0].name, name);
		T_INT(r.denied[0].args[0], 99);
		T_INT(r.denied[0].verdict, *go ? DTX_JAIL_REFUSED : DTX_JAIL_KILLED);
		T_INT(*go, dtx_filter_refusal(nr) != 0);
	}
	dtx_jail_report_clear(&r);
	return nr;
}

static void names_every_call(enum dtx_filter_set set)
{
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_filters f;
	bool seen[NR_END] = { false }, go;
	int listener = -1, nr = 0, missing = 0, i;
	pid_t pid;

	T_OK(dtx_filters_build(&f, set, &err), &err);
	fflush(stdout);
	pid = start(&f, set, 0, &listener);
	while ((nr = next_call(listener, &go)) >= 0 && nr < NR_END) {
		seen[nr] = true;
		if (go)
			continue;
		T_INT(kill(pid, SIGKILL), 0);
		T_INT(waitpid(pid, NULL, 0), pid);
		close(listener);
		pid = start(&f, set, nr + 1, &listener);
	}
	T_INT(waitpid(pid, &i, 0), pid);
	T_INT(i, 0);
	close(listener);
	for (i = 0; i < NR_END; i++)
		missing += !is_skipped(set, i) && !seen[i];
	T_INT(missing, 0);
	dtx_filters_clear(&f);
}

void test_jail_filter_names_every_call(void)
{
	if (DTX_SANITIZED) {
		t_skip("a sanitizer's own calls die behind the filter");
		return;
	}
	if (t_is_filtered()) {
		t_skip("a filter of this container answers some calls first");
		return;
	}
	names_every_call(DTX_FILTER_SEALED);
	names_every_call(DTX_FILTER_LIB_CODE);
}
