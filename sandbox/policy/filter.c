/* Builds the seccomp programs of the jail from the tables in policy.h, and loads them.
 *
 * This is the only file that includes libseccomp. The tables become arrays of `struct allow` and
 * `struct refuse` here; a filter is a default action plus one libseccomp rule per row. */
#include "sandbox/policy/filter.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/base/memory/mem.h"
#include "core/base/text/str.h"
#include "sandbox/policy/policy.h"

#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif

/* An upper bound for system call numbers: no architecture's table reaches it today. */
#define NR_MAX 1024
/* marks our own call of seccomp(): the kernel ignores a fourth argument */
#define SEAL_WORD  0x4c41455358544444ul
#define FORK_FLAGS ((uint64_t)(SIGCHLD | CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID))

struct cond {
	unsigned arg;
	enum scmp_compare op;
	uint64_t a, b;
};
struct allow {
	int nr;
	unsigned n;
	struct cond cond[4];
};
struct refuse {
	int nr, sys_errno;
};

/* The conditions of policy.h. The kernel reads an int argument as 32 bits, so D_EQ and D_BITS
 * must ignore the upper half of the register: a caller can put anything there. */
#define D_NONE                                                                                     \
	{                                                                                          \
		0, SCMP_CMP_EQ, 0, 0                                                               \
	}
#define D_EQ(arg, v)                                                                               \
	{                                                                                          \
		arg, SCMP_CMP_MASKED_EQ, 0xffffffffu, v                                            \
	}
#define D_LE(arg, v)                                                                               \
	{                                                                                          \
		arg, SCMP_CMP_LE, v, 0                                                             \
	}
#define D_IN(arg, mask)                                                                            \
	{                                                                                          \
		arg, SCMP_CMP_MASKED_EQ, ~(uint64_t)(mask), 0                                      \
	}
#define D_BITS(arg, optional, v)                                                                   \
	{                                                                                          \
		arg, SCMP_CMP_MASKED_EQ, 0xffffffffu & ~(uint64_t)(optional), v                    \
	}
#define D_IS(arg, v)                                                                               \
	{                                                                                          \
		arg, SCMP_CMP_EQ, v, 0                                                             \
	}
/* Marks a condition whose mask depends on the architecture; compare() fills it in. No real
 * condition can have this value, because a masked comparison with mask 0 can only equal 0. */
#define OPEN_MARK (~(uint64_t)0)
#define D_OPEN(arg)                                                                                \
	{                                                                                          \
		arg, SCMP_CMP_MASKED_EQ, 0, OPEN_MARK                                              \
	}

static const struct allow allows[] = {
#define A(call, n, c0, c1, c2, c3, reason) { SCMP_SYS(call), n, { c0, c1, c2, c3 } },
	DTX_POLICY_ALLOW(A)
#undef A
};
static const struct allow lib_allows[] = {
#define A(call, n, c0, c1, c2, c3, reason) { SCMP_SYS(call), n, { c0, c1, c2, c3 } },
	DTX_POLICY_LIB(A)
#undef A
};
static const struct allow code_allows[] = {
#define A(call, n, c0, c1, c2, c3, reason) { SCMP_SYS(call), n, { c0, c1, c2, c3 } },
	DTX_POLICY_LIB_CODE(A)
#undef A
};
/* Each set allows its own rows and the rows of all sets before it. */
static const struct {
	const struct allow *row;
	size_t n;
} sets[DTX_FILTER_SETS] = {
	[DTX_FILTER_SEALED] = { allows, DTX_COUNT(allows) },
	[DTX_FILTER_LIB] = { lib_allows, DTX_COUNT(lib_allows) },
	[DTX_FILTER_LIB_CODE] = { code_allows, DTX_COUNT(code_allows) },
};
static const struct allow reader_allows[] = {
#define A(call, n, c0, c1, c2, c3, reason) { SCMP_SYS(call), n, { c0, c1, c2, c3 } },
	DTX_POLICY_READER(A)
#undef A
};
static const struct allow reader_file_allows[] = {
#define A(call, n, c0, c1, c2, c3, reason) { SCMP_SYS(call), n, { c0, c1, c2, c3 } },
	DTX_POLICY_READER_FILE(A)
#undef A
};
static const struct refuse refuses[] = {
#define R(call, code, reason) { SCMP_SYS(call), code },
	DTX_POLICY_REFUSE(R)
#undef R
};
static const int zygote_calls[] = {
#define Z(call) SCMP_SYS(call),
	DTX_POLICY_ZYGOTE(Z)
#undef Z
};

static bool in_allows(enum dtx_filter_set set, int nr)
{
	size_t i, k;

	for (k = 0; k <= (size_t)set; k++)
		for (i = 0; i < sets[k].n; i++)
			if (sets[k].row[i].nr == nr)
				return true;
	return false;
}

static bool in_zygote(int nr)
{
	size_t i;

	for (i = 0; i < DTX_COUNT(zygote_calls); i++)
		if (zygote_calls[i] == nr)
			return true;
	return false;
}

int dtx_filter_refusal(int nr)
{
	size_t i;

	for (i = 0; i < DTX_COUNT(refuses); i++)
		if (refuses[i].nr == nr)
			return refuses[i].sys_errno;
	return 0;
}

bool dtx_filter_is_abort(int nr, const uint64_t args[6], int self)
{
	if (nr == SCMP_SYS(writev)) /* glibc prints "corrupted ..." before it aborts */
		return (int)args[0] == STDERR_FILENO;
	return nr == SCMP_SYS(tgkill) && (int)args[0] == self && (int)args[1] == self &&
	       (int)args[2] == SIGABRT;
}

/* System calls that are newer than the libseccomp of Debian 12. From 451 on, a call has the same
 * number on every architecture, so one table of names is enough. */
#define YOUNG 451
static const char *const young[] = {
	"cachestat",         "fchmodat2",         "map_shadow_stack", "futex_wake",
	"futex_wait",        "futex_requeue",     "statmount",        "listmount",
	"lsm_get_self_attr", "lsm_set_self_attr", "lsm_list_modules", "mseal",
	"setxattrat",        "getxattrat",        "listxattrat",      "removexattrat",
	"open_tree_attr",    "file_getattr",      "file_setattr",     "listns",
};

void dtx_filter_name(int nr, char *out, size_t size)
{
	char *name = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, nr);
	bool is_young = nr >= YOUNG && nr < YOUNG + (int)DTX_COUNT(young);

	dtx_str_copy(out, size, dtx_str_of(name ? name : is_young ? young[nr - YOUNG] : "unknown"));
	free(name); /* libseccomp allocated it with malloc */
}

/* --- building --- */

/* What a filter is built for: the architecture, and what the worker may do with library files. */
struct target {
	uint32_t arch;
	enum dtx_filter_set set;
};

/* O_CLOEXEC, O_NONBLOCK, O_DIRECTORY and O_NOFOLLOW as numbers of the target, which need not be
 * the machine that builds. */
static uint64_t open_flags(uint32_t arch)
{
	return arch == SCMP_ARCH_AARCH64 ? 0x80000u | 0x800u | 0x4000u | 0x8000u
	                                 : 0x80000u | 0x800u | 0x10000u | 0x20000u;
}

static struct scmp_arg_cmp compare(const struct cond *c, uint32_t arch)
{
	if (c->b == OPEN_MARK)
		return (struct scmp_arg_cmp){ c->arg, c->op, 0xffffffffu & ~open_flags(arch), 0 };
	return (struct scmp_arg_cmp){ c->arg, c->op, c->a, c->b };
}

static int add_rows(scmp_filter_ctx ctx, uint32_t arch, const struct allow *row, size_t n)
{
	size_t i;
	int rc = 0;

	for (i = 0; !rc && i < n; i++) {
		const struct allow *a = &row[i];
		struct scmp_arg_cmp cmp[4];
		unsigned k;

		for (k = 0; k < a->n; k++)
			cmp[k] = compare(&a->cond[k], arch);
		rc = seccomp_rule_add_array(ctx, SCMP_ACT_ALLOW, a->nr, a->n, cmp);
	}
	return rc;
}

static int add_allows(scmp_filter_ctx ctx, struct target t)
{
	size_t k;
	int rc = 0;

	for (k = 0; !rc && k <= (size_t)t.set; k++)
		rc = add_rows(ctx, t.arch, sets[k].row, sets[k].n);
	return rc;
}

static int build_reader(scmp_filter_ctx ctx, struct target t)
{
	return add_rows(ctx, t.arch, reader_allows, DTX_COUNT(reader_allows));
}

static int build_reader_file(scmp_filter_ctx ctx, struct target t)
{
	int rc = build_reader(ctx, t);

	return rc ? rc : add_rows(ctx, t.arch, reader_file_allows, DTX_COUNT(reader_file_allows));
}

/* Adds a rule about the first argument. libseccomp's own SCMP_A0() macros are not ISO C. */
static int add_on_first(scmp_filter_ctx ctx, uint32_t action, int nr, enum scmp_compare op,
                        uint64_t a, uint64_t b)
{
	const struct scmp_arg_cmp cmp = { 0, op, a, b };

	return seccomp_rule_add_array(ctx, action, nr, 1, &cmp);
}

/* The two calls that the lock-down still makes after A is loaded: it sends A's listener to main,
 * and it loads B. A allows them, B kills them. They are matched by exact arguments, so that the
 * same calls in any other form stay denied by A and get a name in the report. */
static int add_sealed(scmp_filter_ctx ctx, uint32_t action)
{
	const struct scmp_arg_cmp ours = { 3, SCMP_CMP_EQ, SEAL_WORD, 0 };
	int rc = add_on_first(ctx, action, SCMP_SYS(sendmsg), SCMP_CMP_MASKED_EQ, 0xffffffffu, 6);

	return rc ? rc : seccomp_rule_add_array(ctx, action, SCMP_SYS(seccomp), 1, &ours);
}

static int build_a(scmp_filter_ctx ctx, struct target t)
{
	int rc = add_allows(ctx, t);

	return rc ? rc : add_sealed(ctx, SCMP_ACT_ALLOW);
}

/* The variant of A for kernels that give no listener. The kernel refuses or kills without asking
 * the supervisor, so the report cannot name the call. */
static int build_a_plain(scmp_filter_ctx ctx, struct target t)
{
	size_t i;
	int rc = build_a(ctx, t);

	for (i = 0; !rc && i < DTX_COUNT(refuses); i++)
		if (!in_allows(t.set, refuses[i].nr))
			rc = seccomp_rule_add(ctx, SCMP_ACT_ERRNO((uint16_t)refuses[i].sys_errno),
			                      refuses[i].nr, 0);
	return rc;
}

static int build_b(scmp_filter_ctx ctx, struct target t)
{
	(void)t;
	return add_sealed(ctx, SCMP_ACT_KILL_PROCESS);
}

/* The filter of the zygote, which its workers inherit. It traces by default; without a tracer
 * such a call fails with ENOSYS. That also holds for calls of future kernels, and it does not
 * hide A's verdict, because the kernel obeys the strictest action and USER_NOTIF is stricter
 * than TRACE.
 *
 * `at` counts numbers of t.arch, but libseccomp wants the number on the building machine, hence
 * the way through the name. */
static int build_z(scmp_filter_ctx ctx, struct target t)
{
	int rc = add_on_first(ctx, SCMP_ACT_ALLOW, SCMP_SYS(clone), SCMP_CMP_EQ, FORK_FLAGS, 0), at;

	if (!rc)
		rc = add_on_first(ctx, SCMP_ACT_ALLOW, SCMP_SYS(socketpair), SCMP_CMP_EQ, AF_UNIX,
		                  0);
	for (at = 0; !rc && at < NR_MAX; at++) {
		char *name = seccomp_syscall_resolve_num_arch(t.arch, at);
		int nr = name ? seccomp_syscall_resolve_name(name) : __NR_SCMP_ERROR;

		if (nr != __NR_SCMP_ERROR && (in_allows(t.set, nr) || in_zygote(nr)))
			rc = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, nr, 0);
		free(name);
	}
	return rc;
}

/* libseccomp can export a program only to a file descriptor, so this goes through a memory file. */
static int read_back(scmp_filter_ctx ctx, struct dtx_filter *out)
{
	int fd = memfd_create("bpf", MFD_CLOEXEC), rc;
	struct stat st;

	if (fd < 0)
		return -errno;
	rc = seccomp_export_bpf(ctx, fd);
	if (!rc && fstat(fd, &st))
		rc = -errno;
	if (!rc) {
		out->n = (size_t)st.st_size / sizeof(struct sock_filter);
		out->bpf = dtx_mem_alloc(out->n, sizeof(struct sock_filter));
		if (!out->bpf || !out->n || out->n > BPF_MAXINSNS ||
		    pread(fd, out->bpf, (size_t)st.st_size, 0) != st.st_size)
			rc = -ENOMEM;
	}
	close(fd);
	return rc;
}

static const struct recipe {
	const char *name;
	uint32_t otherwise;
	int (*build)(scmp_filter_ctx ctx, struct target t);
} recipes[DTX_FILTER_COUNT] = {
	[DTX_FILTER_Z] = { "zygote", SCMP_ACT_TRACE(0), build_z },
	[DTX_FILTER_A] = { "policy", SCMP_ACT_NOTIFY, build_a },
	[DTX_FILTER_A_PLAIN] = { "plain policy", SCMP_ACT_KILL_PROCESS, build_a_plain },
	[DTX_FILTER_B] = { "seal", SCMP_ACT_ALLOW, build_b },
};

static int build_one(const struct recipe *r, struct target t, struct dtx_filter *out)
{
	scmp_filter_ctx ctx = seccomp_init(r->otherwise);
	int rc = 0;

	if (!ctx)
		return -ENOMEM;
	if (t.arch != seccomp_arch_native()) {
		rc = seccomp_arch_add(ctx, t.arch);
		if (!rc)
			rc = seccomp_arch_remove(ctx, SCMP_ARCH_NATIVE);
	}
	if (!rc)
		rc = seccomp_attr_set(ctx, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
	if (!rc)
		rc = seccomp_attr_set(ctx, SCMP_FLTATR_CTL_OPTIMIZE, 2);
	if (!rc)
		rc = r->build(ctx, t);
	if (!rc)
		rc = read_back(ctx, out);
	seccomp_release(ctx);
	return rc;
}

/* Loads a NULL filter. A kernel that can load filters looks at the address first and fails with
 * EFAULT; any other errno means that it cannot, or that a container's filter forbids it. */
int dtx_filter_missing(const char **layer, const char **call)
{
	int fd = memfd_create("bpf", MFD_CLOEXEC);

	*layer = "memfd";
	*call = "memfd_create";
	if (fd < 0 && errno == EMFILE)
		*layer = "ulimit -n";
	if (fd < 0)
		return errno;
	close(fd);
	*layer = *call = "seccomp";
	(void)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, NULL);
	return errno == EFAULT ? 0 : errno;
}

enum dtx_code dtx_filters_build(struct dtx_filters *f, enum dtx_filter_set set, struct dtx_err *err)
{
	return dtx_filters_build_for(seccomp_arch_native(), set, f, err);
}

enum dtx_code dtx_filters_build_for(uint32_t arch, enum dtx_filter_set set, struct dtx_filters *f,
                                    struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct target t = { arch, set };
	struct dtx_sha256 sha;
	uint8_t digest[DTX_SHA256_SIZE];
	const char *layer, *call;
	int missing = dtx_filter_missing(&layer, &call);
	size_t i;

	memset(f, 0, sizeof(*f));
	if (missing)
		DTX_FAIL(err, DTX_E_SNIPPET_SETUP_REFUSED, "%s: the call %s: %s", layer, call,
		         strerror(missing));
	dtx_sha256_init(&sha);
	for (i = 0; i < DTX_FILTER_COUNT; i++) {
		int bad = build_one(&recipes[i], t, &f->of[i]);

		if (bad)
			DTX_FAIL(err, DTX_E_SNIPPET_SETUP_REFUSED,
			         "seccomp: the %s filter cannot be built: %s", recipes[i].name,
			         strerror(-bad));
		if (i != DTX_FILTER_A_PLAIN)
			dtx_sha256_add(&sha, f->of[i].bpf, f->of[i].n * sizeof(struct sock_filter));
	}
	dtx_sha256_done(&sha, digest);
	dtx_hex(digest, sizeof(digest), f->hash);
out:
	if (rc != DTX_OK)
		dtx_filters_clear(f);
	return rc;
}

void dtx_filters_clear(struct dtx_filters *f)
{
	size_t i;

	for (i = 0; i < DTX_FILTER_COUNT; i++)
		dtx_mem_free(f->of[i].bpf);
	memset(f, 0, sizeof(*f));
}

int dtx_filter_load(const struct dtx_filters *f, enum dtx_filter_id id, int *listener)
{
	struct sock_fprog prog = { (unsigned short)f->of[id].n, f->of[id].bpf };
	unsigned long flags = 0;
	long got;

	if (id == DTX_FILTER_A)
		flags = SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
	got = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &prog, SEAL_WORD);
	if (got < 0)
		return errno;
	if (id == DTX_FILTER_A)
		*listener = (int)got;
	return 0;
}

enum dtx_code dtx_filter_build_reader(struct dtx_filter *out, bool file, struct dtx_err *err)
{
	static const struct recipe kinds[] = {
		{ "reader", SCMP_ACT_NOTIFY, build_reader },
		{ "reader with a file", SCMP_ACT_NOTIFY, build_reader_file },
	};
	enum dtx_code rc = DTX_OK;
	const struct target t = { seccomp_arch_native(), DTX_FILTER_SEALED };
	int bad = build_one(&kinds[file], t, out);

	if (bad)
		DTX_FAIL(err, DTX_E_JAIL_UNAVAILABLE,
		         "seccomp: the reader's filter cannot be built: %s", strerror(-bad));
out:
	return rc;
}

void dtx_filter_make_plain(struct dtx_filter *f)
{
	struct sock_filter *code = f->bpf;
	size_t i;

	for (i = 0; i < f->n; i++)
		if (code[i].code == (BPF_RET | BPF_K) && code[i].k == SECCOMP_RET_USER_NOTIF)
			code[i].k = SECCOMP_RET_KILL_PROCESS;
}

int dtx_filter_load_reader(const struct dtx_filter *f, bool plain, int *listener)
{
	struct sock_fprog prog = { (unsigned short)f->n, f->bpf };
	unsigned long flags = SECCOMP_FILTER_FLAG_TSYNC;
	long got;

	/* Without TSYNC_ESRCH the call returns the id of a thread that cannot be synchronised,
	 * which could be mistaken for a listener. With it, that case is the error ESRCH. */
	if (!plain)
		flags |= SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_TSYNC_ESRCH |
		         SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
	got = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &prog);
	if (got < 0)
		return errno;
	if (!plain)
		*listener = (int)got;
	return plain && got ? ESRCH : 0;
}
