/* The seccomp programs: their content, and each answer of the kernel in a child process. */
#include "tests/t.h"

#include <errno.h>
#include <fcntl.h>
#include <seccomp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/file.h"
#include "sandbox/policy/filter.h"
#include "sandbox/policy/policy.h"
#include "sandbox/role.h"

void test_filter_builds(void)
{
	struct dtx_filters f, g;
	struct dtx_err err = DTX_ERR_INIT;
	int i;

	T_OK(dtx_filters_build(&f, DTX_FILTER_SEALED, &err), &err);
	T_OK(dtx_filters_build(&g, DTX_FILTER_SEALED, &err), &err);
	for (i = 0; i < DTX_FILTER_COUNT; i++)
		T_CHECK(f.of[i].n > 4 && f.of[i].n == g.of[i].n);
	T_STR(f.hash, g.hash);
	T_INT(strlen(f.hash), 64);
	dtx_filters_clear(&g);
	T_OK(dtx_filters_build(&g, DTX_FILTER_LIB, &err), &err);
	T_CHECK(strcmp(f.hash, g.hash) != 0);
	dtx_filters_clear(&f);
	T_OK(dtx_filters_build(&f, DTX_FILTER_LIB_CODE, &err), &err);
	T_CHECK(strcmp(f.hash, g.hash) != 0);
	dtx_filters_clear(&f);
	dtx_filters_clear(&g);
}

void test_filter_counts_of_the_policy(void)
{
	static const char *const rows[] = {
#define A(call, n, c0, c1, c2, c3, reason) #call,
		DTX_POLICY_ALLOW(A)
#undef A
	};
	static const int conditions[] = {
#define A(call, n, c0, c1, c2, c3, reason) n,
		DTX_POLICY_ALLOW(A)
#undef A
	};
	int calls = 0, filtered = 0;
	size_t i;

	for (i = 0; i < DTX_COUNT(rows); i++) {
		if (i && !strcmp(rows[i], rows[i - 1]))
			continue;
		calls++;
		filtered += conditions[i] > 0;
	}
	T_CHECK(calls <= 30);
	T_CHECK(filtered >= 8);
}

void test_filter_verdicts(void)
{
	const uint64_t abort_args[6] = { 1, 1, SIGABRT }, kill_args[6] = { 1, 1, SIGKILL },
		       words_args[6] = { 2 };
	char name[32];

#define R(call, code, reason) T_INT(dtx_filter_refusal(SCMP_SYS(call)), code);
	DTX_POLICY_REFUSE(R)
#undef R
	T_INT(dtx_filter_refusal(SYS_execve), 0);
	T_INT(dtx_filter_refusal(SYS_ptrace), 0);
	T_INT(dtx_filter_refusal(SYS_kill), 0);
	T_CHECK(dtx_filter_is_abort(SYS_tgkill, abort_args, 1));
	T_CHECK(!dtx_filter_is_abort(SYS_tgkill, abort_args, 2));
	T_CHECK(!dtx_filter_is_abort(SYS_tgkill, kill_args, 1));
	T_CHECK(dtx_filter_is_abort(SYS_writev, words_args, 1));
	T_CHECK(!dtx_filter_is_abort(SYS_writev, abort_args, 1));
	dtx_filter_name(SYS_io_uring_setup, name, sizeof(name));
	T_STR(name, "io_uring_setup");
	dtx_filter_name(100000, name, sizeof(name));
	T_STR(name, "unknown");
}

/* The manual shows every row: the reason after a tab, after the name of the call. */
void test_filter_manual_is_current(void)
{
	static const struct {
		const char *call, *reason;
	} rows[] = {
#define A(call, n, c0, c1, c2, c3, reason) { #call, reason },
		DTX_POLICY_ALLOW(A) DTX_POLICY_LIB(A) DTX_POLICY_LIB_CODE(A)
#undef A
#define R(call, code, reason) { #call, reason },
			DTX_POLICY_REFUSE(R)
#undef R
	};
	struct dtx_buf page = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	struct dtx_err err = DTX_ERR_INIT;
	size_t i, k;

	T_OK(dtx_file_slurp("man/dtx-sandbox.7", &page, &err), &err);
	for (i = 0; i < DTX_COUNT(rows); i++) {
		char reason[80], plain[80];

		snprintf(plain, sizeof(plain), "\t%s\n", rows[i].reason);
		for (k = 0; plain[k] && plain[k] != '-'; k++)
			;
		snprintf(reason, sizeof(reason), "%.*s", (int)k, plain);
		if (!strstr(dtx_buf_text(&page), rows[i].call) ||
		    !strstr(dtx_buf_text(&page), reason))
			t_fail(__FILE__, __LINE__, "'%s' (%s) is not in man/dtx-sandbox.7",
			       rows[i].call, rows[i].reason);
	}
	dtx_buf_clear(&page);
	dtx_err_clear(&err);
}

/* --- in a child under the plain policy: the answer of the kernel itself --- */

struct attempt {
	const char *what;
	long nr, a0, a1, a2, a3, a4, a5;
	int want; /* errno; 0: allowed; -1: death by SIGSYS */
};
#define RWX  (PROT_READ | PROT_WRITE | PROT_EXEC)
#define ANON (MAP_PRIVATE | MAP_ANONYMOUS)
static const struct attempt attempts[] = {
	{ "getpid", SYS_getpid, 0, 0, 0, 0, 0, 0, 0 },
	{ "mmap rw", SYS_mmap, 0, 4096, PROT_READ | PROT_WRITE, ANON, -1, 0, 0 },
	{ "mmap rwx", SYS_mmap, 0, 4096, RWX, ANON, -1, 0, -1 },
	{ "mmap shared anonymous", SYS_mmap, 0, 4096, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0,
	  -1 },
	{ "mmap fixed", SYS_mmap, 0, 4096, PROT_READ, ANON | MAP_FIXED, -1, 0, -1 },
	{ "mmap another descriptor", SYS_mmap, 0, 4096, PROT_READ, MAP_PRIVATE, 3, 0, -1 },
	{ "mprotect exec", SYS_mprotect, 0, 0, PROT_EXEC, 0, 0, 0, -1 },
	{ "mprotect none", SYS_mprotect, 0, 0, PROT_NONE, 0, 0, 0, 0 },
	{ "read fd 0", SYS_read, 0, 0, 0, 0, 0, 0, 0 },
	{ "read fd 1", SYS_read, 1, 0, 0, 0, 0, 0, -1 },
	{ "read fd 4", SYS_read, 4, 0, 0, 0, 0, 0, -1 },
	{ "write fd 2", SYS_write, 2, 0, 0, 0, 0, 0, 0 },
	{ "write fd 5", SYS_write, 5, 0, 0, 0, 0, 0, -1 },
	{ "futex wake", SYS_futex, 0, 1 | 128, 0, 0, 0, 0, 0 },
	{ "futex requeue", SYS_futex, 0, 3, 0, 0, 0, 0, -1 },
	{ "futex lock pi", SYS_futex, 0, 6, 0, 0, 0, 0, -1 },
	{ "clock 7", SYS_clock_gettime, 7, 0, 0, 0, 0, 0, EFAULT },
	{ "clock 8", SYS_clock_gettime, 8, 0, 0, 0, 0, 0, -1 },
	{ "clock of another process", SYS_clock_gettime, -6, 0, 0, 0, 0, 0, -1 },
	{ "getrusage self", SYS_getrusage, 0, 0, 0, 0, 0, 0, EFAULT },
	{ "getrusage children", SYS_getrusage, -1, 0, 0, 0, 0, 0, -1 },
	{ "madvise dontneed", SYS_madvise, 0, 0, 4, 0, 0, 0, 0 },
	{ "madvise remove", SYS_madvise, 0, 0, 9, 0, 0, 0, -1 },
	{ "madvise hwpoison", SYS_madvise, 0, 0, 100, 0, 0, 0, -1 },
	{ "mremap fixed", SYS_mremap, 0, 0, 0, 3, 0, 0, -1 },
	{ "openat", SYS_openat, -100, 0, 0, 0, 0, 0, ENOENT },
	{ "socket", SYS_socket, AF_INET, SOCK_STREAM, 0, 0, 0, 0, EACCES },
	{ "clone", SYS_clone, 17, 0, 0, 0, 0, 0, EAGAIN },
	{ "clone3", SYS_clone3, 0, 0, 0, 0, 0, 0, ENOSYS },
	{ "getrandom", SYS_getrandom, 0, 0, 0, 0, 0, 0, ENOSYS },
#ifdef SYS_unlink
	{ "unlink", SYS_unlink, 0, 0, 0, 0, 0, 0, EROFS },
#endif
	{ "dup", SYS_dup, 1, 0, 0, 0, 0, 0, EMFILE },
	{ "ioctl", SYS_ioctl, 0, 0x5412, 0, 0, 0, 0, ENOTTY },
	{ "execve", SYS_execve, 0, 0, 0, 0, 0, 0, -1 },
	{ "ptrace", SYS_ptrace, 0, 0, 0, 0, 0, 0, -1 },
	{ "process_vm_readv", SYS_process_vm_readv, 1, 0, 0, 0, 0, 0, -1 },
	{ "bpf", SYS_bpf, 0, 0, 0, 0, 0, 0, -1 },
	{ "io_uring_setup", SYS_io_uring_setup, 1, 0, 0, 0, 0, 0, -1 },
	{ "userfaultfd", SYS_userfaultfd, 0, 0, 0, 0, 0, 0, -1 },
	{ "keyctl", SYS_keyctl, 0, 0, 0, 0, 0, 0, -1 },
	{ "mount", SYS_mount, 0, 0, 0, 0, 0, 0, -1 },
	{ "unshare", SYS_unshare, 0, 0, 0, 0, 0, 0, -1 },
	{ "setns", SYS_setns, 0, 0, 0, 0, 0, 0, -1 },
	{ "prctl", SYS_prctl, 4, 0, 0, 0, 0, 0, -1 },
	{ "kill", SYS_kill, 1, 0, 0, 0, 0, 0, -1 },
	{ "pidfd_open", SYS_pidfd_open, 1, 0, 0, 0, 0, 0, -1 },
	{ "recvmsg", SYS_recvmsg, 3, 0, 0, 0, 0, 0, -1 },
	{ "sendmsg after the seal", SYS_sendmsg, 6, 0, 0, 0, 0, 0, -1 },
	{ "sendmsg elsewhere", SYS_sendmsg, 3, 0, 0, 0, 0, 0, -1 },
	{ "seccomp", SYS_seccomp, 0, 0, 0, 0, 0, 0, -1 },
	{ "seccomp of the lock-down", SYS_seccomp, 1, 0, 0, 0x4c41455358544444, 0, 0, -1 },
	{ "a number of nobody", 9999, 0, 0, 0, 0, 0, 0, -1 },
	{ "x32 getpid", 0x40000000 | SYS_getpid, 0, 0, 0, 0, 0, 0, -1 },
};

/* lib-ro: what it allows in addition, and what is close to that.  The kernel's filter alone kills
 * where a supervisor would refuse. */
#define RX       (PROT_READ | PROT_EXEC)
#define FD_FILE  6
#define FD_OTHER 32
static const struct attempt lib_attempts[] = {
	{ "openat", SYS_openat, -100, (long)"/usr/lib/python3.11/os.py", O_CLOEXEC, 0, 0, 0, 0 },
	{ "openat a folder", SYS_openat, -100, (long)"/usr/lib",
	  O_DIRECTORY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW, 0, 0, 0, 0 },
	{ "openat to write", SYS_openat, -100, (long)"/dev/null", O_WRONLY, 0, 0, 0, -1 },
	{ "openat for both", SYS_openat, -100, (long)"/dev/null", O_RDWR, 0, 0, 0, -1 },
	{ "openat to make", SYS_openat, -100, (long)"/nonexistent/x", O_CREAT, 0600, 0, 0, -1 },
	{ "openat to empty", SYS_openat, -100, (long)"/nonexistent/x", O_TRUNC, 0, 0, 0, -1 },
	{ "openat of a place", SYS_openat, -100, (long)"/usr", O_PATH, 0, 0, 0, -1 },
	{ "openat of nothing", SYS_openat, -100, (long)"/tmp", O_TMPFILE | O_RDWR, 0600, 0, 0, -1 },
	{ "openat direct", SYS_openat, -100, (long)"/usr", O_DIRECT, 0, 0, 0, -1 },
	{ "openat2", SYS_openat2, -100, (long)"/usr", 0, 0, 0, 0, ENOENT },
#ifdef SYS_open
	{ "open", SYS_open, (long)"/usr", 0, 0, 0, 0, 0, ENOENT },
#endif
	{ "newfstatat", SYS_newfstatat, -100, (long)"/usr", 0, 0, 0, 0, EFAULT },
	{ "read of the file", SYS_read, FD_FILE, 0, 0, 0, 0, 0, 0 },
	{ "read of the input", SYS_read, 4, 0, 0, 0, 0, 0, -1 },
	{ "read beyond the limit", SYS_read, FD_OTHER, 0, 0, 0, 0, 0, -1 },
	{ "pread64 of the file", SYS_pread64, FD_FILE, 0, 0, 0, 0, 0, 0 },
	{ "pread64 of the input", SYS_pread64, 4, 0, 0, 0, 0, 0, -1 },
	{ "lseek of the file", SYS_lseek, FD_FILE, 0, SEEK_SET, 0, 0, 0, 0 },
	{ "lseek of the result", SYS_lseek, 5, 0, SEEK_SET, 0, 0, 0, -1 },
	{ "fstat of the file", SYS_fstat, FD_FILE, 0, 0, 0, 0, 0, EFAULT },
	{ "fstat of the job socket", SYS_fstat, 3, 0, 0, 0, 0, 0, -1 },
	{ "getdents64", SYS_getdents64, FD_FILE, 0, 0, 0, 0, 0, ENOTDIR },
	{ "write to the file", SYS_write, FD_FILE, 0, 0, 0, 0, 0, -1 },
	{ "mmap of the file", SYS_mmap, 0, 4096, PROT_READ, MAP_PRIVATE, FD_FILE, 0, 0 },
	{ "mmap of the file rw", SYS_mmap, 0, 4096, PROT_READ | PROT_WRITE,
	  MAP_PRIVATE | MAP_DENYWRITE, FD_FILE, 0, 0 },
	{ "mmap of the file rx", SYS_mmap, 0, 4096, RX, MAP_PRIVATE | MAP_DENYWRITE, FD_FILE, 0,
	  0 },
	{ "mmap of the file rwx", SYS_mmap, 0, 4096, RWX, MAP_PRIVATE, FD_FILE, 0, -1 },
	{ "mmap of the file x", SYS_mmap, 0, 4096, PROT_EXEC, MAP_PRIVATE, FD_FILE, 0, -1 },
	{ "mmap of the file shared", SYS_mmap, 0, 4096, PROT_READ, MAP_SHARED, FD_FILE, 0, -1 },
	{ "mmap of the input rx", SYS_mmap, 0, 4096, RX, MAP_PRIVATE, 4, 0, -1 },
	{ "mmap of the result rx", SYS_mmap, 0, 4096, RX, MAP_PRIVATE, 5, 0, -1 },
	{ "mmap anonymous rx", SYS_mmap, 0, 4096, RX, ANON, -1, 0, -1 },
	{ "mmap anonymous fixed", SYS_mmap, 0x100000, 4096, PROT_READ | PROT_WRITE,
	  ANON | MAP_FIXED, -1, 0, 0 },
	{ "mmap anonymous fixed rx", SYS_mmap, 0x100000, 4096, RX, ANON | MAP_FIXED, -1, 0, -1 },
	{ "mprotect exec", SYS_mprotect, 0, 0, PROT_EXEC, 0, 0, 0, -1 },
	{ "mprotect rx", SYS_mprotect, 0, 0, RX, 0, 0, 0, -1 },
	{ "pkey_mprotect", SYS_pkey_mprotect, 0, 0, RX, -1, 0, 0, -1 },
	{ "remap_file_pages", SYS_remap_file_pages, 0, 0, 0, 0, 0, 0, -1 },
	{ "shmat", SYS_shmat, 0, 0, 0, 0, 0, 0, -1 },
	{ "memfd_create", SYS_memfd_create, 0, 0, 0, 0, 0, 0, EMFILE },
	{ "dup", SYS_dup, 5, 0, 0, 0, 0, 0, EMFILE },
	{ "fcntl", SYS_fcntl, 5, F_DUPFD, 6, 0, 0, 0, EPERM },
	{ "sendfile", SYS_sendfile, 1, FD_FILE, 0, 0, 0, 0, -1 },
#ifdef SYS_readlink
	{ "readlink", SYS_readlink, (long)"/lib", 0, 0, 0, 0, 0, ENOENT },
#endif
	{ "execveat", SYS_execveat, FD_FILE, (long)"", 0, 0, AT_EMPTY_PATH, 0, -1 },
	{ "a handle", SYS_open_by_handle_at, FD_FILE, 0, 0, 0, 0, 0, -1 },
	{ "io_uring_setup", SYS_io_uring_setup, 1, 0, 0, 0, 0, 0, -1 },
};

static _Noreturn void victim(const struct dtx_filters *f, const struct attempt *a)
{
	struct rlimit none = { 0, 0 };
	long got;

	if (dup2(open("/usr/lib/python3.11/os.py", O_RDONLY), FD_FILE) != FD_FILE ||
	    setrlimit(RLIMIT_CORE, &none) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    dtx_filter_load(f, DTX_FILTER_Z, NULL) ||
	    dtx_filter_load(f, DTX_FILTER_A_PLAIN, NULL) || dtx_filter_load(f, DTX_FILTER_B, NULL))
		_exit(200);
	got = syscall(a->nr, a->a0, a->a1, a->a2, a->a3, a->a4, a->a5);
	_exit(got < 0 ? errno : 0);
}

static void answers(enum dtx_filter_set set, const struct attempt *attempt, size_t n)
{
	struct dtx_filters f;
	struct dtx_err err = DTX_ERR_INIT;
	size_t i;

	T_OK(dtx_filters_build(&f, set, &err), &err);
	for (i = 0; i < n; i++) {
		const struct attempt *a = &attempt[i];
		pid_t pid = fork();
		int status = 0, got;

		if (pid == 0)
			victim(&f, a);
		T_CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
		got = WIFSIGNALED(status) ? (WTERMSIG(status) == SIGSYS ? -1 : -2)
		                          : WEXITSTATUS(status);
		if (got != a->want)
			t_fail(__FILE__, __LINE__, "%s: got %d, expected %d", a->what, got,
			       a->want);
	}
	dtx_filters_clear(&f);
}

void test_jail_filter_answers_of_the_kernel(void)
{
	if (DTX_SANITIZED) {
		t_skip("a sanitizer's own calls die behind the filter");
		return;
	}
	answers(DTX_FILTER_SEALED, attempts, DTX_COUNT(attempts));
	answers(DTX_FILTER_LIB_CODE, lib_attempts, DTX_COUNT(lib_attempts));
}

/* --- when main is gone, so that nothing answers --- */

static const int unanswered[] = {
#define R(call, code, reason) SCMP_SYS(call),
	DTX_POLICY_REFUSE(R)
#undef R
	/* and some for which a supervisor would end the process */
	SYS_execve,
	SYS_ptrace,
	SYS_kill,
	SYS_prctl,
	SYS_mount,
	SYS_unshare,
	SYS_bpf,
	SYS_setns,
	SYS_mlock,
	SYS_recvmsg,
	SYS_io_uring_setup,
	SYS_pidfd_open,
	SYS_keyctl,
	SYS_shmget,
	SYS_wait4,
	SYS_sendfile,
	SYS_process_vm_readv,
};

/* Ends with the index of the first call that had another answer; 0 if there was none. */
static _Noreturn void orphan(const struct dtx_filters *f)
{
	const struct rlimit none = { 0, 0 };
	int listener = -1;
	size_t i;

	if (setrlimit(RLIMIT_CORE, &none) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    dtx_filter_load(f, DTX_FILTER_Z, NULL) || dtx_filter_load(f, DTX_FILTER_A, &listener) ||
	    dtx_filter_load(f, DTX_FILTER_B, NULL) || close(listener))
		_exit(255);
	for (i = 0; i < DTX_COUNT(unanswered); i++)
		if (syscall(unanswered[i], 0, 0, 0, 0, 0, 0) != -1 || errno != ENOSYS)
			_exit((int)i + 1);
	if (mmap(NULL, 4096, RWX, ANON, -1, 0) != MAP_FAILED || errno != ENOSYS || getpid() <= 0)
		_exit(254);
	_exit(0);
}

/* What the policy does not allow has no effect either: the kernel answers that there is no such
 * call. */
void test_jail_filter_after_the_end_of_main(void)
{
	struct dtx_filters f;
	struct dtx_err err = DTX_ERR_INIT;
	int status = -1;
	pid_t pid;

	if (DTX_SANITIZED) {
		t_skip("a sanitizer's own calls die behind the filter");
		return;
	}
	if (t_is_filtered()) {
		t_skip("a filter of this container answers some calls first");
		return;
	}
	T_OK(dtx_filters_build(&f, DTX_FILTER_SEALED, &err), &err);
	pid = fork();
	if (pid == 0)
		orphan(&f);
	T_CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
	T_INT(status, 0);
	dtx_filters_clear(&f);
}
