/* Checks every row of the policy both ways by running the programs themselves: what a row allows
 * passes, and what differs in one bit does not.  For each machine that dtx has a table for. */
#include "tests/t.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "sandbox/policy/filter.h"
#include "sandbox/policy/policy.h"

#define KILL  SECCOMP_RET_KILL_PROCESS
#define ALLOW SECCOMP_RET_ALLOW
#define ASK   SECCOMP_RET_USER_NOTIF
#define TRACE SECCOMP_RET_TRACE

static const uint32_t machines[] = { AUDIT_ARCH_X86_64, AUDIT_ARCH_AARCH64 };

/* The kernel's virtual machine for such programs, as far as they use it. */
static uint32_t run_bpf(const struct dtx_filter *f, const struct seccomp_data *data)
{
	const struct sock_filter *code = f->bpf;
	uint32_t a = 0;
	size_t pc = 0;

	while (pc < f->n) {
		const struct sock_filter *i = &code[pc++];
		bool yes = false;

		switch (i->code) {
		case BPF_LD | BPF_W | BPF_ABS:
			memcpy(&a, (const char *)data + i->k, sizeof(a));
			continue;
		case BPF_ALU | BPF_AND | BPF_K: a &= i->k; continue;
		case BPF_JMP | BPF_JA: pc += i->k; continue;
		case BPF_RET | BPF_K: return i->k;
		case BPF_JMP | BPF_JEQ | BPF_K: yes = a == i->k; break;
		case BPF_JMP | BPF_JGT | BPF_K: yes = a > i->k; break;
		case BPF_JMP | BPF_JGE | BPF_K: yes = a >= i->k; break;
		case BPF_JMP | BPF_JSET | BPF_K: yes = (a & i->k) != 0; break;
		default: t_fail(__FILE__, __LINE__, "instruction %u", i->code); return 0;
		}
		pc += yes ? i->jt : i->jf;
	}
	t_fail(__FILE__, __LINE__, "the program has no end");
	return 0;
}

enum how { NONE, EQ, LE, IN, BITS, IS, OPEN };
struct cond {
	enum how how;
	unsigned arg;
	uint64_t a, b;
};
struct row {
	const char *call;
	unsigned n;
	struct cond cond[4];
};
#define D_NONE                                                                                     \
	{                                                                                          \
		NONE, 0, 0, 0                                                                      \
	}
#define D_EQ(arg, v)                                                                               \
	{                                                                                          \
		EQ, arg, v, 0                                                                      \
	}
#define D_LE(arg, v)                                                                               \
	{                                                                                          \
		LE, arg, v, 0                                                                      \
	}
#define D_IN(arg, mask)                                                                            \
	{                                                                                          \
		IN, arg, mask, 0                                                                   \
	}
#define D_BITS(arg, optional, v)                                                                   \
	{                                                                                          \
		BITS, arg, v, optional                                                             \
	}
#define D_IS(arg, v)                                                                               \
	{                                                                                          \
		IS, arg, v, 0                                                                      \
	}
#define D_OPEN(arg)                                                                                \
	{                                                                                          \
		OPEN, arg, 0, 0                                                                    \
	}
#define A(call, n, c0, c1, c2, c3, reason) { #call, n, { c0, c1, c2, c3 } },
static const struct row sealed_rows[] = { DTX_POLICY_ALLOW(A) };
static const struct row lib_rows[] = { DTX_POLICY_LIB(A) };
static const struct row code_rows[] = { DTX_POLICY_LIB_CODE(A) };
#undef A
/* What a set adds to the sets before it. */
static const struct {
	const struct row *row;
	size_t n;
} sets[DTX_FILTER_SETS] = {
	{ sealed_rows, DTX_COUNT(sealed_rows) },
	{ lib_rows, DTX_COUNT(lib_rows) },
	{ code_rows, DTX_COUNT(code_rows) },
};
static const struct {
	const char *call;
	int code;
} refusals[] = {
#define R(call, code, reason) { #call, code },
	DTX_POLICY_REFUSE(R)
#undef R
};
static const char *const zygote_calls[] = {
#define Z(call) #call,
	DTX_POLICY_ZYGOTE(Z)
#undef Z
};

struct tally {
	const struct dtx_filters *f;
	enum dtx_filter_set set;
	uint32_t arch;
	int nr;
	const char *call;
	int wrong, passed, stopped;
};

/* CLOEXEC, NONBLOCK, DIRECTORY and NOFOLLOW of <asm/fcntl.h>.  Flags that open a file in another
 * way (for writing, or to keep it), and O_DIRECT on ARM, are other bits. */
static uint32_t open_bits(uint32_t arch)
{
	return arch == AUDIT_ARCH_AARCH64 ? 0x8c800 : 0xb0800;
}

/* Whether a condition holds in the meaning of the policy: ints have 32 bits. */
static bool holds(const struct cond *c, uint32_t arch, const uint64_t args[6])
{
	uint64_t v = args[c->arg];

	switch (c->how) {
	case EQ: return (uint32_t)v == (uint32_t)c->a;
	case LE: return v <= c->a;
	case IN: return (v & ~c->a) == 0;
	case BITS: return ((uint32_t)v & ~(uint32_t)c->b) == (uint32_t)c->a;
	case IS: return v == c->a;
	case OPEN: return ((uint32_t)v & ~open_bits(arch)) == 0;
	case NONE: break;
	}
	return true;
}

static bool row_allows(const struct row *row, const struct tally *t, const uint64_t args[6])
{
	bool all = !strcmp(row->call, t->call);
	unsigned k;

	for (k = 0; all && k < row->n; k++)
		all = holds(&row->cond[k], t->arch, args);
	return all;
}

static bool any_row_allows(const struct tally *t, const uint64_t args[6])
{
	size_t i, k;

	for (k = 0; k <= (size_t)t->set; k++)
		for (i = 0; i < sets[k].n; i++)
			if (row_allows(&sets[k].row[i], t, args))
				return true;
	return false;
}

/* Values of an argument that satisfy a condition. */
static size_t good_values(const struct cond *c, uint64_t out[4])
{
	out[0] = c->how == LE || c->how == IN ? 0 : c->a;
	out[1] = c->how == BITS ? c->a | c->b : c->a;
	out[2] = c->how == EQ || c->how == BITS || c->how == OPEN ? c->a | (uint64_t)1 << 40 : c->a;
	return 3;
}

static void try(struct tally *t, const uint64_t args[6])
{
	struct seccomp_data d = { .nr = t->nr, .arch = t->arch };
	bool want = any_row_allows(t, args);
	uint32_t a, plain;
	unsigned i;

	for (i = 0; i < 6; i++)
		d.args[i] = args[i];
	a = run_bpf(&t->f->of[DTX_FILTER_A], &d);
	plain = run_bpf(&t->f->of[DTX_FILTER_A_PLAIN], &d);
	t->wrong += a != (want ? ALLOW : ASK) || plain != (want ? ALLOW : KILL) ||
	            run_bpf(&t->f->of[DTX_FILTER_Z], &d) != ALLOW ||
	            run_bpf(&t->f->of[DTX_FILTER_B], &d) != ALLOW;
	t->passed += want;
	t->stopped += !want;
}

/* All valid values of all conditions pass; then each of the 64 bits of each argument is flipped. */
static void try_row(struct tally *t, const struct row *row)
{
	uint64_t args[6] = { 0 }, good[4];
	unsigned k, bit;
	size_t i;

	for (k = 0; k < row->n; k++)
		args[row->cond[k].arg] = row->cond[k].a;
	try(t, args);
	for (k = 0; k < row->n; k++) {
		uint64_t *arg = &args[row->cond[k].arg], keep = *arg;

		for (i = good_values(&row->cond[k], good); i-- > 0;) {
			*arg = good[i];
			try(t, args);
		}
		for (bit = 0; bit < 64; bit++) {
			*arg = keep ^ (uint64_t)1 << bit;
			try(t, args);
		}
		*arg = keep + 1;
		try(t, args);
		*arg = keep - 1;
		try(t, args);
		*arg = keep;
	}
}

static void row_both_ways(struct tally t, const struct row *row)
{
	t.call = row->call;
	t.nr = seccomp_syscall_resolve_name_arch(t.arch, row->call);
	if (t.nr < 0) /* some machines do not have time() */
		return;
	try_row(&t, row);
	if (t.wrong)
		t_fail(__FILE__, __LINE__, "%s on %x, set %d: %d wrong", row->call, t.arch,
		       (int)t.set, t.wrong);
	T_CHECK(t.passed > 0 && (t.stopped > 0 || row->n == 0 || t.set > DTX_FILTER_SEALED));
}

void test_filter_rows_both_ways(void)
{
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_filters f;
	size_t m, i, k;
	int set;

	for (m = 0; m < DTX_COUNT(machines); m++)
		for (set = 0; set < DTX_FILTER_SETS; set++) {
			const struct tally t = { .f = &f,
				                 .arch = machines[m],
				                 .set = (enum dtx_filter_set)set };

			T_OK(dtx_filters_build_for(machines[m], t.set, &f, &err), &err);
			for (k = 0; k <= (size_t)set; k++)
				for (i = 0; i < sets[k].n; i++)
					row_both_ways(t, &sets[k].row[i]);
			dtx_filters_clear(&f);
		}
}

/* The descriptors that openat can return under a limit of 32, and no others, whatever the half of
 * the register contains that the kernel does not read. */
void test_filter_rows_descriptors_of_files(void)
{
	static const char *const calls[] = { "read", "pread64", "lseek", "fstat", "mmap" };
	static const uint64_t upper[] = { 0, (uint64_t)1 << 32, ~(uint64_t)0xffffffffu };
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_filters f;
	size_t m, i, k;
	int64_t fd;

	for (m = 0; m < DTX_COUNT(machines); m++) {
		T_OK(dtx_filters_build_for(machines[m], DTX_FILTER_LIB_CODE, &f, &err), &err);
		for (i = 0; i < DTX_COUNT(calls); i++)
			for (fd = -70; fd < 300; fd++)
				for (k = 0; k < DTX_COUNT(upper); k++) {
					bool map = !strcmp(calls[i], "mmap");
					uint64_t at = (uint64_t)(uint32_t)fd | upper[k];
					struct seccomp_data d = { .arch = machines[m] };

					/* memory that is mapped to be run: nothing of 4 and 5 may
					 * be */
					d.args[0] = map ? 0 : at;
					d.args[2] = map ? 5 : 0;
					d.args[3] = map ? 2 : 0;
					d.args[4] = map ? at : 0;
					d.nr = seccomp_syscall_resolve_name_arch(machines[m],
					                                         calls[i]);
					if ((run_bpf(&f.of[DTX_FILTER_A], &d) == ALLOW) !=
					    ((fd >= 6 && fd < 32) ||
					     (!strcmp(calls[i], "read") && (fd == 0 || fd == 3))))
						t_fail(__FILE__, __LINE__, "%s of %d on %x",
						       calls[i], (int)fd, machines[m]);
				}
		dtx_filters_clear(&f);
	}
}

/* No arguments make memory that is both writable and executable: code is mapped from a file as it
 * is, and a mapping keeps its protection. */
void test_filter_rows_make_no_code(void)
{
	static const uint64_t fds[] = { 0, 3, 4, 5, 6, 15, 31, 32, 0xffffffffu };
	static const uint64_t flags[] = { 1, 2, 3, 0x12, 0x22, 0x32, 0x812, 0x4022, 0x100022 };
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_filters f;
	size_t m, i, k;
	uint64_t prot;
	int set, runs = 0;

	for (m = 0; m < DTX_COUNT(machines); m++)
		for (set = 0; set < DTX_FILTER_SETS; set++) {
			struct seccomp_data d = { .arch = machines[m] };

			T_OK(dtx_filters_build_for(machines[m], (enum dtx_filter_set)set, &f, &err),
			     &err);
			for (prot = 4; prot < 8; prot++) {
				d.args[2] = prot;
				d.nr = seccomp_syscall_resolve_name_arch(machines[m], "mprotect");
				T_INT(run_bpf(&f.of[DTX_FILTER_A], &d), ASK);
				d.nr = seccomp_syscall_resolve_name_arch(machines[m], "mmap");
				for (i = 0; i < DTX_COUNT(fds); i++)
					for (k = 0; k < DTX_COUNT(flags); k++) {
						bool file = fds[i] >= 6 && fds[i] < 32;
						bool may = set == DTX_FILTER_LIB_CODE && file &&
						           prot == 5 &&
						           (flags[k] & ~(uint64_t)0x810) == 2;

						d.args[3] = flags[k];
						d.args[4] = fds[i];
						T_INT(run_bpf(&f.of[DTX_FILTER_A], &d),
						      may ? ALLOW : ASK);
						runs += may;
					}
			}
			dtx_filters_clear(&f);
		}
	T_INT(runs, 2 * 3 * 3);
}

static int refusal_of(const char *call)
{
	size_t i;

	for (i = 0; i < DTX_COUNT(refusals); i++)
		if (!strcmp(refusals[i].call, call))
			return refusals[i].code;
	return 0;
}

static bool is_allowed(enum dtx_filter_set set, const char *call)
{
	size_t i, k;

	for (k = 0; k <= (size_t)set; k++)
		for (i = 0; i < sets[k].n; i++)
			if (!strcmp(sets[k].row[i].call, call))
				return true;
	return false;
}

static bool is_zygotes(const char *call)
{
	size_t i;

	for (i = 0; i < DTX_COUNT(zygote_calls); i++)
		if (!strcmp(zygote_calls[i], call))
			return true;
	return !strcmp(call, "clone") || !strcmp(call, "socketpair");
}

/* The required answer for a call that has no row: named, and refused or ended. */
static int judge_other(const struct dtx_filters *f, struct seccomp_data *d, const char *name)
{
	int code = refusal_of(name);
	uint32_t z = run_bpf(&f->of[DTX_FILTER_Z], d);
	uint32_t want = code ? SECCOMP_RET_ERRNO | (uint32_t)code : KILL;
	bool a = run_bpf(&f->of[DTX_FILTER_A], d) == ASK;
	bool plain = run_bpf(&f->of[DTX_FILTER_A_PLAIN], d) == want;
	bool b = run_bpf(&f->of[DTX_FILTER_B], d) == ALLOW;

	return !a || !plain || !b || (z != ALLOW && z != TRACE) ||
	       (z == ALLOW && !is_zygotes(name));
}

/* Every number that has a name, and those that have none, on each machine.  Numbers of another
 * machine, and x32, end the process. */
void test_filter_rows_every_number(void)
{
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_filters f;
	size_t at;
	int nr;

	for (at = 0; at < DTX_COUNT(machines) * DTX_FILTER_SETS; at++) {
		enum dtx_filter_set set = (enum dtx_filter_set)(at / DTX_COUNT(machines));
		size_t m = at % DTX_COUNT(machines);
		int named = 0, unnamed = 0, wrong = 0;

		T_OK(dtx_filters_build_for(machines[m], set, &f, &err), &err);
		for (nr = 0; nr < 1024; nr++) {
			struct seccomp_data d = { .nr = nr, .arch = machines[m], .args = { 99 } };
			char *name = seccomp_syscall_resolve_num_arch(machines[m], nr);

			if (!name) {
				unnamed++;
				wrong += judge_other(&f, &d, "");
				continue;
			}
			named++;
			if (!is_allowed(set, name) && judge_other(&f, &d, name)) {
				wrong++;
				printf("# %s on %x\n", name, machines[m]);
			}
			d.arch = machines[!m];
			wrong += run_bpf(&f.of[DTX_FILTER_Z], &d) != KILL ||
			         run_bpf(&f.of[DTX_FILTER_A], &d) != KILL;
			d.arch = machines[m];
			d.nr |= 0x40000000;
			wrong += run_bpf(&f.of[DTX_FILTER_Z], &d) !=
			         (machines[m] == SCMP_ARCH_X86_64 ? KILL : TRACE);
			free(name);
		}
		T_CHECK(named > 280 && unnamed > 400);
		T_INT(wrong, 0);
		dtx_filters_clear(&f);
	}
}

/* The two calls of the lock-down: program A allows them in one form, which program B ends; with any
 * other bit they are named. */
void test_filter_rows_of_the_lock_down(void)
{
	static const struct {
		const char *call;
		unsigned arg, bits;
		uint64_t good;
	} sealed[] = { { "sendmsg", 0, 32, 6 }, { "seccomp", 3, 64, 0x4c41455358544444 } };
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_filters f;
	size_t m, i;
	unsigned bit;

	for (m = 0; m < DTX_COUNT(machines); m++) {
		T_OK(dtx_filters_build_for(machines[m], DTX_FILTER_SEALED, &f, &err), &err);
		for (i = 0; i < DTX_COUNT(sealed); i++) {
			struct seccomp_data d = { .arch = machines[m] };

			d.nr = seccomp_syscall_resolve_name_arch(machines[m], sealed[i].call);
			d.args[sealed[i].arg] = sealed[i].good;
			T_INT(run_bpf(&f.of[DTX_FILTER_A], &d), ALLOW);
			T_INT(run_bpf(&f.of[DTX_FILTER_A_PLAIN], &d), ALLOW);
			T_INT(run_bpf(&f.of[DTX_FILTER_B], &d), KILL);
			for (bit = 0; bit < sealed[i].bits; bit++) {
				d.args[sealed[i].arg] = sealed[i].good ^ (uint64_t)1 << bit;
				T_INT(run_bpf(&f.of[DTX_FILTER_A], &d), ASK);
				T_INT(run_bpf(&f.of[DTX_FILTER_A_PLAIN], &d), KILL);
			}
		}
		dtx_filters_clear(&f);
	}
}

/* fork() and unix socket pairs as the zygote makes them, and nothing similar. */
void test_filter_rows_of_the_zygote(void)
{
	static const struct {
		const char *call;
		uint64_t good;
	} exact[] = {
		{ "clone", SIGCHLD | CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID },
		{ "socketpair", AF_UNIX },
	};
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_filters f;
	size_t m, i;
	unsigned bit;

	for (m = 0; m < DTX_COUNT(machines); m++) {
		T_OK(dtx_filters_build_for(machines[m], DTX_FILTER_SEALED, &f, &err), &err);
		for (i = 0; i < DTX_COUNT(exact); i++) {
			struct seccomp_data d = { .arch = machines[m] };

			d.nr = seccomp_syscall_resolve_name_arch(machines[m], exact[i].call);
			d.args[0] = exact[i].good;
			T_INT(run_bpf(&f.of[DTX_FILTER_Z], &d), ALLOW);
			for (bit = 0; bit < 64; bit++) {
				d.args[0] = exact[i].good ^ (uint64_t)1 << bit;
				T_INT(run_bpf(&f.of[DTX_FILTER_Z], &d) & ~0xffffu, TRACE);
			}
		}
		dtx_filters_clear(&f);
	}
}
