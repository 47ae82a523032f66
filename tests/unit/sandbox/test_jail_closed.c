/* The jail fails closed: each layer is made to fail in turn, by a filter around the whole program.
 * The answer is a refusal, or a run with the other layers that its report names. */
#include "tests/t.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/main/jail.h"
#include "sandbox/policy/landlock.h"
#include "sandbox/policy/limits.h"
#include "sandbox/policy/ns.h"
#include "sandbox/role.h"
#include "tests/unit/tablemake.h"

struct denial {
	int nr;
	int arg;               /* its low 32 bits are compared; -1: any call */
	uint32_t bits, equals; /* deny if (arg & bits) == equals */
	int sys_errno;
};
#define ALWAYS(nr, code)                                                                           \
	{                                                                                          \
		nr, -1, 0, 0, code                                                                 \
	}

static struct sock_filter statement(uint16_t code, uint32_t k)
{
	return (struct sock_filter){ code, 0, 0, k };
}

static struct sock_filter jump(uint16_t code, uint32_t k, uint8_t yes, uint8_t no)
{
	return (struct sock_filter){ code, yes, no, k };
}

/* Loads a program with one denial.  Several programs may deny a call. */
static bool deny(const struct denial *d)
{
	uint32_t arg = (uint32_t)offsetof(struct seccomp_data, args) +
	               (d->arg < 0 ? 0 : (uint32_t)d->arg * 8);
	struct sock_filter code[] = {
		statement(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		jump(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)d->nr, 0, 4),
		statement(BPF_LD | BPF_W | BPF_ABS, arg),
		statement(BPF_ALU | BPF_AND | BPF_K, d->bits),
		jump(BPF_JMP | BPF_JEQ | BPF_K, d->equals, 0, 1),
		statement(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (uint32_t)d->sys_errno),
		statement(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { DTX_COUNT(code), code };

	return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
	       !syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &prog);
}

#define NEWUSER 0x10000000u
#define FORK    0x01200011u
static const struct denial no_userns = { SYS_unshare, 0, NEWUSER, NEWUSER, EPERM };
static const struct denial no_unshare = ALWAYS(SYS_unshare, EPERM);
static const struct denial unknown_unshare = ALWAYS(SYS_unshare, ENOSYS);
static const struct denial no_clone3 = ALWAYS(SYS_clone3, ENOSYS);
static const struct denial no_userfaultfd = ALWAYS(SYS_userfaultfd, EPERM);
static const struct denial no_ptrace = ALWAYS(SYS_ptrace, EPERM);
static const struct denial no_vm_readv = ALWAYS(SYS_process_vm_readv, EPERM);
static const struct denial no_mount = ALWAYS(SYS_mount, EACCES);
static const struct denial no_landlock = ALWAYS(SYS_landlock_create_ruleset, ENOSYS);
static const struct denial no_rule = ALWAYS(SYS_landlock_add_rule, EPERM);
static const struct denial no_restrict = ALWAYS(SYS_landlock_restrict_self, EPERM);
static const struct denial no_seccomp = ALWAYS(SYS_seccomp, EINVAL);
static const struct denial no_listener = { SYS_seccomp, 1, 8, 8, EBUSY };
static const struct denial no_prlimit = ALWAYS(SYS_prlimit64, EPERM);
static const struct denial no_memfd = ALWAYS(SYS_memfd_create, ENOSYS);
static const struct denial no_pidfd = ALWAYS(SYS_pidfd_open, ENOSYS);
static const struct denial no_fork = { SYS_clone, 0, FORK, FORK, EAGAIN };
static const struct denial no_close_range = ALWAYS(SYS_close_range, ENOSYS);
static const struct denial no_close = { SYS_close, 0, ~0u, 4, EIO };
static const struct denial no_capset = ALWAYS(SYS_capset, EPERM);
static const struct denial no_socketpair = ALWAYS(SYS_socketpair, EMFILE);
static const struct denial no_seals = { SYS_fcntl, 1, ~0u, 1033, EPERM };
static const struct denial no_pivot = ALWAYS(SYS_pivot_root, EPERM);
static const struct denial no_setuid = ALWAYS(SYS_setresuid, EPERM);

static const struct closed {
	const char *what;
	const struct denial *deny[2];
	const char *refused; /* layer of the refusal; NULL: it runs */
	const char *layers;  /* if it runs */
	const char *audit;
} cases[] = {
	{ "nothing",
	  { NULL, NULL },
	  NULL,
	  "userns,mountns,pidns,netns,ipcns,utsns,landlock*,rlimits,seccomp,notify",
	  "full" },
	{ "user namespaces", { &no_userns }, NULL, "landlock*,rlimits,seccomp,notify", "full" },
	{ "unshare", { &no_unshare }, NULL, "landlock*,rlimits,seccomp,notify", "full" },
	{ "a kernel that has unshare",
	  { &unknown_unshare },
	  NULL,
	  "landlock*,rlimits,seccomp,notify",
	  "full" },
	{ "unshare and clone3",
	  { &no_unshare, &no_clone3 },
	  NULL,
	  "landlock*,rlimits,seccomp,notify",
	  "full" },
	{ "unshare and ptrace",
	  { &no_unshare, &no_ptrace },
	  NULL,
	  "landlock*,rlimits,seccomp,notify",
	  "full" },
	{ "userfaultfd and reading memory",
	  { &no_userfaultfd, &no_vm_readv },
	  NULL,
	  "userns,mountns,pidns,netns,ipcns,utsns,landlock*,rlimits,seccomp,notify",
	  "full" },
	{ "unshare and landlock", { &no_unshare, &no_landlock }, "userns", NULL, NULL },
	{ "mounts", { &no_mount }, NULL, "landlock*,rlimits,seccomp,notify", "full" },
	{ "pivot_root", { &no_pivot }, NULL, "landlock*,rlimits,seccomp,notify", "full" },
	{ "landlock",
	  { &no_landlock },
	  NULL,
	  "userns,mountns,pidns,netns,ipcns,utsns,rlimits,seccomp,notify",
	  "full" },
	{ "namespaces and landlock", { &no_userns, &no_landlock }, "userns", NULL, NULL },
	{ "landlock half way", { &no_restrict }, "landlock", NULL, NULL },
	{ "landlock's rules", { &no_rule }, "landlock", NULL, NULL },
	{ "seccomp", { &no_seccomp }, "seccomp", NULL, NULL },
	{ "the listener",
	  { &no_listener },
	  NULL,
	  "userns,mountns,pidns,netns,ipcns,utsns,landlock*,rlimits,seccomp",
	  "degraded" },
	{ "limits", { &no_prlimit }, "rlimits", NULL, NULL },
	{ "memory files", { &no_memfd }, "*", NULL, NULL },
	{ "process descriptors", { &no_pidfd }, "pidfd", NULL, NULL },
	{ "fork", { &no_fork }, "*", NULL, NULL },
	{ "closing descriptors", { &no_close_range }, "descriptors", NULL, NULL },
	{ "closing one that was opened", { &no_close }, "descriptors", NULL, NULL },
	{ "dropping capabilities", { &no_capset }, "capabilities", NULL, NULL },
	{ "sockets", { &no_socketpair }, "launch", NULL, NULL },
	{ "seals", { &no_seals }, "seal", NULL, NULL },
};

/* "landlock*" stands for any ABI; "*" for anything. */
static bool alike(const char *got, const char *want)
{
	const char *star = strchr(want, '*');

	if (!star)
		return !strcmp(got, want);
	if (strncmp(got, want, (size_t)(star - want)))
		return false;
	if (!star[1])
		return true;
	got += star - want;
	while (*got >= '0' && *got <= '9')
		got++;
	return !strcmp(got, star + 1);
}

/* A screen has every layer that a run has, but does not take the time for pandas. */
static enum dtx_code screen(struct dtx_jail_report *r, struct dtx_err *err)
{
	static const char code[] = "def transform(tables, params):\n    return tables['main']\n";
	const struct dtx_jail_spec spec = { .mode = DTX_JAIL_CHECK, .no_warm = true };
	struct dtx_box *box = NULL;
	enum dtx_code rc;

	dtx_jail_report_init(r);
	rc = dtx_provider_local.open(&spec, &box, err);
	if (rc == DTX_OK)
		rc = dtx_provider_local.exec(box, dtx_str_of(code), NULL, r, err);
	dtx_provider_local.close(box);
	return rc;
}

/* What a program under lib-ro finds: it ends well if everything is as it should be. */
#define FIND                                                                                       \
	"import ctypes, posix, sys\n"                                                              \
	"def fails(call, *args):\n"                                                                \
	"    try:\n"                                                                               \
	"        call(*args)\n"                                                                    \
	"    except (OSError, ImportError) as error:\n"                                            \
	"        return type(error).__name__\n"                                                    \
	"    return 'nothing'\n"                                                                   \
	"def is_in(name): return name in sys.modules\n"                                            \
	"assert not is_in('lib2to3') and not is_in('xxlimited')\n"                                 \
	"import lib2to3.pytree\n"                                                                  \
	"assert lib2to3.pytree.__file__.startswith('/usr/lib/')\n"                                 \
	"assert posix.open(lib2to3.__file__, posix.O_RDONLY) == 6\n"                               \
	"assert fails(posix.open, '/etc/passwd', posix.O_RDONLY) == NO_FILE\n"                     \
	"assert fails(posix.open, '/tmp', posix.O_RDONLY) == NO_FILE\n"                            \
	"assert fails(posix.open, '/proc/self/maps', posix.O_RDONLY) == NO_FILE\n"
#define FIND_CODE "import xxlimited\nassert xxlimited.foo(1, 2) == 3\n"
/* here /proc shows the worker itself; its result can be opened again, but is not code */
#define FIND_NO_CODE                                                                               \
	"assert fails(__import__, 'xxlimited') == 'ModuleNotFoundError'\n"                         \
	"fd = posix.open('/proc/self/fd/5', posix.O_RDONLY)\n"                                     \
	"libc = ctypes.CDLL(None)\n"                                                               \
	"libc.mmap.restype = ctypes.c_void_p\n"                                                    \
	"print('mapped', flush=True)\n"                                                            \
	"libc.mmap(None, 4096, 5, 2, fd, ctypes.c_long(0))\n"                                      \
	"print('run', flush=True)\n"
#define OWN_ROOT "NO_FILE = 'FileNotFoundError'\n" FIND FIND_CODE
#define HOSTS    "NO_FILE = 'PermissionError'\n" FIND FIND_NO_CODE
static const struct {
	struct closed closed;
	const char *code; /* a program, which must end well */
} lib_ro[] = {
	{ { "nothing",
	    { NULL, NULL },
	    NULL,
	    "userns,mountns,pidns,netns,ipcns,utsns,landlock*,rlimits,seccomp,notify",
	    "full" },
	  OWN_ROOT },
	{ { "user namespaces", { &no_userns }, NULL, "landlock*,rlimits,seccomp,notify", "full" },
	  HOSTS },
	{ { "landlock",
	    { &no_landlock },
	    NULL,
	    "userns,mountns,pidns,netns,ipcns,utsns,rlimits,seccomp,notify",
	    "full" },
	  OWN_ROOT },
	{ { "the listener",
	    { &no_listener },
	    NULL,
	    "userns,mountns,pidns,netns,ipcns,utsns,landlock*,rlimits,seccomp",
	    "degraded" },
	  OWN_ROOT },
	{ { "namespaces and landlock", { &no_userns, &no_landlock }, "userns", NULL, NULL },
	  "print('on')" },
	{ { "landlock half way", { &no_restrict }, "landlock", NULL, NULL }, "print('on')" },
	{ { "limits", { &no_prlimit }, "rlimits", NULL, NULL }, "print('on')" },
};

/* Runs the code as a snippet, whose jail takes half the time of a program's to start. */
static enum dtx_code start(enum dtx_jail_profile profile, const char *code,
                           struct dtx_jail_report *r, struct dtx_err *err)
{
	static const char end[] = "def transform(tables, params):\n    return tables['main']\n";
	const struct dtx_jail_spec spec = { .mode = DTX_JAIL_RUN,
		                            .no_warm = true,
		                            .limits = { .profile = profile } };
	struct dtx_box *box = NULL;
	struct dtx_table *t = NULL;
	char text[4000];
	enum dtx_code rc;

	snprintf(text, sizeof(text), "%s\n%s", code, end);
	dtx_jail_report_init(r);
	rc = tm_table(3, false, &t, err);
	if (rc == DTX_OK)
		rc = dtx_provider_local.open(&spec, &box, err);
	if (rc == DTX_OK)
		rc = dtx_provider_local.put(box, "main", t, err);
	if (rc == DTX_OK)
		rc = dtx_provider_local.exec(box, dtx_str_of(text), NULL, r, err);
	dtx_provider_local.close(box);
	dtx_table_unref(t);
	return rc;
}

static enum dtx_code program(const char *code, struct dtx_jail_report *r, struct dtx_err *err)
{
	enum dtx_code rc = start(DTX_JAIL_LIB_RO, code, r, err);

	/* the forbidden call ends it, and is named */
	if (rc == DTX_E_SNIPPET_DENIED_SYSCALL && strstr(code, FIND_NO_CODE) && r->ndenied &&
	    !strcmp(r->denied[r->ndenied - 1].name, "mmap") && r->out.kept == 7)
		rc = DTX_OK;
	if (rc == DTX_OK && strcmp(r->profile, "lib-ro") != 0)
		rc = DTX_E_ASSERT_FAILED;
	return rc;
}

/* Runs in a child of the test: how the screen, or the program, ends. */
static bool judge(const struct closed *c, const char *code)
{
	struct dtx_jail_report r;
	struct dtx_err err = DTX_ERR_INIT;
	enum dtx_code rc = code ? program(code, &r, &err) : screen(&r, &err);
	bool ok;

	if (c->refused && !r.layer[0]) /* refused before there was a box */
		ok = rc == DTX_E_SNIPPET_SETUP_REFUSED &&
		     !strncmp(err.msg, c->refused, strlen(c->refused));
	else if (c->refused)
		ok = rc == DTX_E_SNIPPET_SETUP_REFUSED && alike(r.layer, c->refused);
	else
		ok = rc == DTX_OK && alike(r.layers, c->layers) && !strcmp(r.audit, c->audit);
	if (!ok)
		printf("# without %s: %s, layer '%s', layers '%s', audit '%s': %s\n", c->what,
		       dtx_code_name(rc), r.layer, r.layers, r.audit, err.msg);
	dtx_jail_report_clear(&r);
	dtx_err_clear(&err);
	fflush(stdout);
	return ok;
}

static int in_child(const struct closed *c, const char *code, uid_t uid)
{
	pid_t pid = fork();
	int status = -1, i;

	if (pid == 0) {
		if (uid &&
		    (setgroups(0, NULL) || setresgid(uid, uid, uid) || setresuid(uid, uid, uid)))
			_exit(3);
		for (i = 0; i < 2; i++)
			if (c->deny[i] && !deny(c->deny[i]))
				_exit(2);
		_exit(judge(c, code) ? 0 : 1);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 100 + WTERMSIG(status);
}

/* What a case with namespaces ends in can be seen only on a machine that has them; the cases
 * without them are tested everywhere. */
static bool shows_here(const struct closed *c)
{
	if (!c->layers || strncmp(c->layers, "userns", 6) != 0 || t_has_namespaces())
		return true;
	printf("# not tested, user namespaces are denied here: without %s\n", c->what);
	return false;
}

/* Children print as well. */
static bool has_jail(void)
{
	if (DTX_SANITIZED)
		t_skip("a sanitizer build has no jail");
	fflush(stdout);
	return !DTX_SANITIZED;
}

void test_jail_fails_closed(void)
{
	size_t i;

	if (!has_jail())
		return;
	for (i = 0; i < DTX_COUNT(cases); i++)
		if (shows_here(&cases[i]))
			T_INT(in_child(&cases[i], NULL, 0), 0);
}

/* The same for workers that read the library trees: the remaining layers confine them. */
void test_jail_libraries_fail_closed(void)
{
	size_t i;

	if (!has_jail())
		return;
	for (i = 0; i < DTX_COUNT(lib_ro); i++)
		if (shows_here(&lib_ro[i].closed))
			T_INT(in_child(&lib_ro[i].closed, lib_ro[i].code, 0), 0);
	/* those of an ordinary user */
	for (i = 0; i < 3 && geteuid() == 0; i++)
		if (shows_here(&lib_ro[i].closed))
			T_INT(in_child(&lib_ro[i].closed, lib_ro[i].code, 65534), 0);
}

/* The option that a refused import suggests would have let the worker use the module. */
static bool suggests(enum dtx_jail_profile profile, const char *code, const char *hint)
{
	struct dtx_jail_report r;
	struct dtx_err err = DTX_ERR_INIT;
	bool ok =
		start(profile, code, &r, &err) == DTX_E_SNIPPET_EXCEPTION && strstr(err.hint, hint);

	if (!ok)
		printf("# '%s': %s, hint '%s'\n", code, err.msg, err.hint);
	dtx_jail_report_clear(&r);
	dtx_err_clear(&err);
	fflush(stdout);
	return ok;
}

void test_jail_suggests_what_would_do(void)
{
	static const struct {
		bool userns;
		enum dtx_jail_profile profile;
		const char *code, *hint;
	} tries[] = {
		{ true, DTX_JAIL_SEALED, "import lib2to3", "lib-ro reads modules of this" },
		{ true, DTX_JAIL_SEALED, "import xxlimited", "lib-ro reads modules of this" },
		{ false, DTX_JAIL_SEALED, "import lib2to3", "but no extension modules" },
		{ false, DTX_JAIL_SEALED, "import xxlimited", "this is an extension module" },
		{ false, DTX_JAIL_LIB_RO, "import xxlimited", "this is an extension module" },
		{ false, DTX_JAIL_LIB_RO, "import no_such_module",
		  "it is not installed from a Debian package" },
	};
	size_t i;
	int status;
	pid_t pid;

	if (!has_jail())
		return;
	for (i = 0; i < DTX_COUNT(tries); i++) {
		if (tries[i].userns && !t_has_namespaces())
			continue;
		pid = fork();
		if (pid == 0)
			_exit((tries[i].userns || deny(&no_userns)) &&
			                      suggests(tries[i].profile, tries[i].code,
			                               tries[i].hint)
			              ? 0
			              : 1);
		T_CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && !status);
	}
}

/* Root that cannot become another user needs a user namespace.  Root without CAP_SYS_ADMIN, as in a
 * container, has all layers through it. */
void test_jail_as_bound_root(void)
{
	static const struct closed bound[] = {
		{ "becoming nobody",
		  { &no_setuid },
		  NULL,
		  "userns,mountns,pidns,netns,ipcns,utsns,landlock*,rlimits,seccomp,notify",
		  "full" },
		{ "becoming nobody and namespaces",
		  { &no_setuid, &no_userns },
		  "user",
		  NULL,
		  NULL },
	};
	const struct closed *left;
	pid_t pid;
	int status = -1;
	size_t i;

	if (DTX_SANITIZED || geteuid() != 0) {
		t_skip(DTX_SANITIZED ? "a sanitizer build has no jail"
		                     : "this is an ordinary user");
		return;
	}
	fflush(stdout);
	for (i = 0; i < DTX_COUNT(bound); i++)
		if (shows_here(&bound[i]))
			T_INT(in_child(&bound[i], NULL, 0), 0);
	left = t_has_namespaces() ? &cases[0] : &cases[1];
	pid = fork();
	if (pid == 0)
		_exit(prctl(PR_CAPBSET_DROP, CAP_SYS_ADMIN, 0, 0, 0) ? 2 : in_child(left, NULL, 0));
	T_CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
	T_INT(status, 0);
}

/* The Landlock features that an older kernel has are used: files are closed with the first
 * version. */
void test_jail_with_older_landlock(void)
{
	unsigned abi, newest = dtx_landlock_abi();
	int status;
	pid_t pid;

	if (!newest)
		t_skip("there is no landlock here");
	fflush(stdout);
	for (abi = 1; abi <= newest; abi++) {
		pid = fork();
		if (pid == 0)
			_exit(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
			      dtx_landlock_restrict(abi, dtx_jail_trees) ||
			      open("/etc/passwd", O_RDONLY) >= 0 || errno != EACCES ||
			      open("/usr/lib/python3/dist-packages", O_RDONLY) < 0 ||
			      creat("/usr/lib/python3/x", 0600) >= 0);
		T_CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
		T_INT(status, 0);
	}
}

/* An ordinary user has the same layers as root. */
void test_jail_as_nobody(void)
{
	size_t i;

	if (DTX_SANITIZED || geteuid() != 0) {
		t_skip(DTX_SANITIZED ? "a sanitizer build has no jail"
		                     : "this is an ordinary user");
		return;
	}
	fflush(stdout);
	for (i = 0; i <= 4; i++)
		if (shows_here(&cases[i]))
			T_INT(in_child(&cases[i], NULL, 65534), 0);
}

/* Descriptors that are open in addition to the known ones are found, whatever their number. */
void test_jail_finds_stray_descriptors(void)
{
	const int known[] = { -1, 7 };
	int status = -1;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		bool ok = !syscall(SYS_close_range, 4u, ~0u, 0u) && dup2(0, 7) == 7 &&
		          dtx_limits_stray_fd(known, 2) == -1 &&
		          dtx_limits_stray_fd(known, 1) == 7 && dup2(0, 1023) == 1023 &&
		          dtx_limits_stray_fd(known, 2) == 1023 && dup2(0, 4) == 4 &&
		          dtx_limits_stray_fd(known, 2) == 4;

		_exit(!ok);
	}
	T_CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
	T_INT(status, 0);
}

/* --- nothing is left running --- */

#define GONE_NS ((int64_t)60 * 1000000000)

/* A main whose snippet never ends; it writes a byte once the snippet runs. */
static _Noreturn void endless_main(int said)
{
	static const char code[] = "def transform(tables, params):\n    print('on', flush=True)\n"
				   "    while True: pass\n";
	const struct dtx_jail_spec spec = { .mode = DTX_JAIL_RUN, .no_warm = true };
	struct dtx_jail_report r;
	struct dtx_table *t = NULL;
	struct dtx_box *box = NULL;

	if (tm_table(3, false, &t, NULL) != DTX_OK ||
	    dtx_provider_local.open(&spec, &box, NULL) != DTX_OK ||
	    dtx_provider_local.put(box, "main", t, NULL) != DTX_OK || write(said, "x", 1) != 1)
		_exit(1);
	_exit(dtx_provider_local.exec(box, dtx_str_of(code), NULL, &r, NULL) != DTX_OK);
}

/* Reaps children until none is left, or the time is over. */
static bool all_gone(void)
{
	int64_t until = dtx_now_ns() + GONE_NS;
	pid_t pid;

	do {
		pid = waitpid(-1, NULL, WNOHANG);
		if (pid < 0 && errno == ECHILD)
			return true;
		poll(NULL, 0, 1);
	} while (dtx_now_ns() < until);
	return false;
}

/* Main is killed at several points of a run.  This process is its subreaper and inherits the
 * processes that it leaves. */
void test_jail_dies_with_main(void)
{
	static const int after_ms[] = { 0, 5, 50, 600 };
	size_t i;

	if (!has_jail())
		return;
	T_INT(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
	for (i = 0; i < DTX_COUNT(after_ms); i++) {
		int said[2];
		char byte;
		pid_t pid;

		T_INT(pipe(said), 0);
		pid = fork();
		if (pid == 0)
			endless_main(said[1]);
		T_INT(read(said[0], &byte, 1), 1);
		poll(NULL, 0, after_ms[i]);
		T_INT(kill(pid, SIGKILL), 0);
		T_CHECK(all_gone());
		close(said[0]);
		close(said[1]);
	}
	T_INT(prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0), 0);
}

static pid_t only_child_of(pid_t pid)
{
	char path[64], text[32] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)pid);
	f = fopen(path, "r");
	if (f && !fgets(text, sizeof(text), f))
		text[0] = 0;
	if (f)
		fclose(f);
	return (pid_t)strtol(text, NULL, 10);
}

/* A run without end, and how main reports it after its zygote was killed. */
static enum dtx_jail_status endless_status(int said)
{
	static const char code[] = "def transform(tables, params):\n    while True: pass\n";
	const struct dtx_jail_spec spec = { .mode = DTX_JAIL_RUN, .no_warm = true };
	struct dtx_jail_report r;
	struct dtx_table *t = NULL;
	struct dtx_box *box = NULL;

	dtx_jail_report_init(&r);
	if (tm_table(3, false, &t, NULL) != DTX_OK ||
	    dtx_provider_local.open(&spec, &box, NULL) != DTX_OK ||
	    dtx_provider_local.put(box, "main", t, NULL) != DTX_OK || write(said, "x", 1) != 1 ||
	    dtx_provider_local.exec(box, dtx_str_of(code), NULL, &r, NULL) == DTX_OK)
		return DTX_JAIL_OK;
	return r.status;
}

static int status_without_zygote(int after_ms)
{
	int status = -1, said[2];
	char byte;
	pid_t pid, zygote;

	T_INT(pipe(said), 0);
	pid = fork();
	if (pid == 0)
		_exit((int)endless_status(said[1]));
	T_INT(read(said[0], &byte, 1), 1);
	poll(NULL, 0, after_ms);
	zygote = only_child_of(pid);
	T_CHECK(zygote > 0 && kill(zygote, SIGKILL) == 0);
	T_CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
	close(said[0]);
	close(said[1]);
	return WEXITSTATUS(status);
}

/* A zygote that is killed takes its worker with it, and main reports it; as a refusal as long as
 * there is no worker. */
void test_jail_dies_with_its_zygote(void)
{
	static const int after_ms[] = { 0, 1500, 6000, 15000 };
	int got = -1;
	size_t i;

	if (!has_jail())
		return;
	for (i = 0; i < DTX_COUNT(after_ms) && got != DTX_JAIL_SIGNALED; i++) {
		got = status_without_zygote(after_ms[i]);
		T_CHECK(got == DTX_JAIL_SETUP_REFUSED || got == DTX_JAIL_SIGNALED);
	}
	T_INT(got, DTX_JAIL_SIGNALED);
}

/* Root's workers have a user id that no service has, if the machine reserves a range for root. */
void test_jail_worker_id(void)
{
	static const struct {
		const char *text;
		uint32_t id;
	} list[] = {
		{ "", 65534 },
		{ "alice:100000:65536\n", 65534 },
		{ "alice:100000:65536\nroot:165536:65536\n", 231071 },
		{ "rooty:100000:5\nroot:200000:1\n", 200000 },
		{ "root:0:65536\n", 65534 },
		{ "root:100000:0\n", 65534 },
		{ "root:4294967290:100\n", 65534 },
		{ "root:-1:1\n", 65534 },
		{ "root:99999999999999999999:1\nroot:300000:2\n", 300001 },
	};
	uint32_t id;

	for (size_t i = 0; i < DTX_COUNT(list); i++) {
		char path[] = "/tmp/dtx-subuid-XXXXXX";
		int fd = mkstemp(path);

		T_CHECK(fd >= 0 && write(fd, list[i].text, strlen(list[i].text)) >= 0);
		T_CHECK(dtx_ns_worker_id(path, &id) == (list[i].id != 65534));
		T_INT(id, list[i].id);
		close(fd);
		unlink(path);
	}
	T_CHECK(!dtx_ns_worker_id("/nonexistent/subuid", &id));
	T_INT(id, 65534);
}
