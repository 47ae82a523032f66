/* The reader process: what the kernel answers under its filter, what happens to one that does
 * forbidden things, and to one that breaks the protocol. */
#include "tests/t.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/thread/cancel.h"
#include "core/base/file.h"
#include "core/base/log.h"
#include "core/io/isolate/isolated.h"
#include "sandbox/policy/filter.h"
#include "sandbox/policy/policy.h"
#include "sandbox/reader/reader_super.h"
#include "sandbox/role.h"
#include "sandbox/wire.h"
#include "tests/unit/bookmake.h"

static bool skipped(void)
{
	if (DTX_SANITIZED)
		t_skip("a sanitizer build cannot lock a process");
	return DTX_SANITIZED;
}

/* --- the filter --- */

struct attempt {
	const char *name; /* name of the call, as main reports it */
	long nr, a0, a1, a2, a3, a4, a5;
	bool allowed;
};
#define RW   (PROT_READ | PROT_WRITE)
#define ANON (MAP_PRIVATE | MAP_ANONYMOUS)
static const struct attempt attempts[] = {
	{ "mmap", SYS_mmap, 0, 4096, RW, ANON, -1, 0, true },
	{ "mmap", SYS_mmap, 0, 4096, PROT_READ | PROT_EXEC, ANON, -1, 0, false },
	{ "mprotect", SYS_mprotect, 0, 0, PROT_NONE, 0, 0, 0, true },
	{ "mprotect", SYS_mprotect, 0, 0, PROT_EXEC, 0, 0, 0, false },
	{ "mmap", SYS_mmap, 0, 4096, PROT_READ, MAP_PRIVATE, 4, 0, true }, /* the input */
	{ "read", SYS_read, 4, 0, 0, 0, 0, 0, false },
	{ "read", SYS_read, 0, 0, 0, 0, 0, 0, false },
	{ "pread64", SYS_pread64, 4, 0, 0, 0, 0, 0, false },
	{ "lseek", SYS_lseek, 4, 0, 0, 0, 0, 0, false },
	{ "madvise", SYS_madvise, 0, 0, 4, 0, 0, 0, true },
	{ "madvise", SYS_madvise, 0, 0, 14, 0, 0, 0, true },
	{ "madvise", SYS_madvise, 0, 0, 9, 0, 0, 0, false },
	{ "write", SYS_write, 1, 0, 0, 0, 0, 0, false },
	{ "pwrite64", SYS_pwrite64, 4, 0, 0, 0, 0, 0, false },
	{ "sendmsg", SYS_sendmsg, 5, 0, 0, 0, 0, 0, false },
	{ "recvmsg", SYS_recvmsg, 4, 0, 0, 0, 0, 0, false },
	{ "futex", SYS_futex, 0, 1 | 128, 0, 0, 0, 0, true },
	{ "futex", SYS_futex, 0, 6, 0, 0, 0, 0, false },
	{ "clock_gettime", SYS_clock_gettime, 1, 0, 0, 0, 0, 0, true },
	{ "close", SYS_close, 9, 0, 0, 0, 0, 0, true },
#ifdef SYS_open
	{ "open", SYS_open, 0, 0, 0, 0, 0, 0, false },
#endif
	{ "openat", SYS_openat, -100, 0, 0, 0, 0, 0, false },
	{ "newfstatat", SYS_newfstatat, -100, 0, 0, 0, 0, 0, false },
#ifdef SYS_unlink
	{ "unlink", SYS_unlink, 0, 0, 0, 0, 0, 0, false },
#endif
	{ "socket", SYS_socket, AF_INET, SOCK_STREAM, 0, 0, 0, 0, false },
	{ "connect", SYS_connect, 3, 0, 0, 0, 0, 0, false },
	{ "execve", SYS_execve, 0, 0, 0, 0, 0, 0, false },
	{ "execveat", SYS_execveat, 4, 0, 0, 0, 0, 0, false },
	{ "clone", SYS_clone, 17, 0, 0, 0, 0, 0, false },
	{ "clone3", SYS_clone3, 0, 0, 0, 0, 0, 0, false },
#ifdef SYS_fork
	{ "fork", SYS_fork, 0, 0, 0, 0, 0, 0, false },
#endif
	{ "ptrace", SYS_ptrace, 16, 0, 0, 0, 0, 0, false },
	{ "process_vm_readv", SYS_process_vm_readv, 1, 0, 0, 0, 0, 0, false },
	{ "kill", SYS_kill, 0, 0, 0, 0, 0, 0, false },
	{ "prctl", SYS_prctl, 4, 1, 0, 0, 0, 0, false },
	{ "setrlimit", SYS_setrlimit, 0, 0, 0, 0, 0, 0, false },
	{ "rt_sigaction", SYS_rt_sigaction, 31, 0, 0, 8, 0, 0, false },
	{ "memfd_create", SYS_memfd_create, 0, 0, 0, 0, 0, 0, false },
	{ "ftruncate", SYS_ftruncate, 4, 0, 0, 0, 0, 0, false },
	{ "dup", SYS_dup, 4, 0, 0, 0, 0, 0, false },
	{ "ioctl", SYS_ioctl, 4, 0, 0, 0, 0, 0, false },
	{ "bpf", SYS_bpf, 0, 0, 0, 0, 0, 0, false },
	{ "io_uring_setup", SYS_io_uring_setup, 1, 0, 0, 0, 0, 0, false },
	{ "userfaultfd", SYS_userfaultfd, 0, 0, 0, 0, 0, 0, false },
	{ "seccomp", SYS_seccomp, 0, 0, 0, 0, 0, 0, false },
	{ "mount", SYS_mount, 0, 0, 0, 0, 0, 0, false },
	{ "unshare", SYS_unshare, 0, 0, 0, 0, 0, 0, false },
};

static long attempt_make(const struct attempt *a)
{
	return syscall(a->nr, a->a0, a->a1, a->a2, a->a3, a->a4, a->a5);
}

static bool lock_child(bool plain, int *listener)
{
	struct rlimit none = { 0, 0 };
	struct dtx_filter f;

	if (setrlimit(RLIMIT_CORE, &none) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    dtx_filter_build_reader(&f, false, NULL) != DTX_OK)
		return false;
	if (plain)
		dtx_filter_make_plain(&f);
	return !dtx_filter_load_reader(&f, plain, listener);
}

/* Without main: the kernel alone answers. */
void test_reader_filter_answers_of_the_kernel(void)
{
	size_t i;

	if (skipped())
		return;
	for (i = 0; i < DTX_COUNT(attempts); i++) {
		pid_t pid = fork();
		int status = 0;

		if (pid == 0) {
			if (!lock_child(true, NULL))
				_exit(200);
			(void)attempt_make(&attempts[i]);
			syscall(SYS_exit_group, 0);
		}
		T_CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
		if (attempts[i].allowed ? status != 0 : !WIFSIGNALED(status))
			t_fail(__FILE__, __LINE__, "%s: status %x", attempts[i].name, status);
	}
}

/* The manual shows every row. */
void test_reader_filter_manual_is_current(void)
{
	static const struct {
		const char *call, *reason;
	} rows[] = {
#define A(call, n, c0, c1, c2, c3, reason) { #call, reason },
		DTX_POLICY_READER(A) DTX_POLICY_READER_FILE(A)
#undef A
	};
	struct dtx_buf page = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	struct dtx_err err = DTX_ERR_INIT;
	const char *from;
	size_t i;

	T_OK(dtx_file_slurp("man/dtx-sandbox.7", &page, &err), &err);
	from = strstr(dtx_buf_text(&page), ".SH READER PROCESS");
	T_CHECK(from);
	for (i = 0; from && i < DTX_COUNT(rows); i++)
		if (!strstr(from, rows[i].call) || !strstr(from, rows[i].reason))
			t_fail(__FILE__, __LINE__, "'%s' (%s) is not in man/dtx-sandbox.7",
			       rows[i].call, rows[i].reason);
	dtx_buf_clear(&page);
	dtx_err_clear(&err);
}

/* --- a hostile process --- */

struct villain {
	struct dtx_wire wire;
	struct dtx_wire_ask ask;
	const struct attempt *attempt;
};

static bool villain_wait(struct villain *v, uint16_t type, int *fd)
{
	struct dtx_wire_msg msg;
	size_t n = 1;

	*fd = -1;
	if (dtx_wire_recv(&v->wire, &msg, fd, &n) != 1 || msg.type != type)
		return false;
	if (type == DTX_WIRE_ASK)
		memcpy(&v->ask, msg.payload, sizeof(v->ask));
	return true;
}

/* Reports that it is locked, receives a request, then does `act`. */
static _Noreturn void villain_main(int fd, bool named, void (*act)(struct villain *v),
                                   const struct attempt *attempt)
{
	struct villain v = { .wire = { .fd = 3 }, .attempt = attempt };
	uint32_t yes = named;
	int listener = -1, args;

	if (dup2(fd, 3) != 3 || !lock_child(!named, &listener) ||
	    !dtx_wire_send(&v.wire, DTX_WIRE_LOCKED, &yes, sizeof(yes), &listener, named) ||
	    !villain_wait(&v, DTX_WIRE_ASK, &args))
		_exit(200);
	close(args);
	if (fd != 3)
		close(fd);
	act(&v);
	syscall(SYS_exit_group, 0);
	_exit(201);
}

/* What main reports about it; returns the code. */
static enum dtx_code meet_within(const struct dtx_isolate_limits *limits, bool named,
                                 void (*act)(struct villain *v), const struct attempt *attempt,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_source *src = NULL;
	struct dtx_isolate *p = NULL;
	struct dtx_sealed got = { 0 };
	json_t *args = json_object();
	int pair[2];
	pid_t pid;

	T_INT(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	DTX_TRY(dtx_source_bytes("b.xlsx", "PK", 2, &src, err));
	pid = fork();
	if (pid == 0)
		villain_main(pair[1], named, act, attempt);
	close(pair[1]);
	DTX_TRY(dtx_reader_adopt(src, limits, pid, pair[0], &p, err));
	DTX_TRY(dtx_isolate_process.ask(p, DTX_ASK_SHEETS, args, err));
	do {
		dtx_owner_unref(got.owner);
		got.owner = NULL;
		rc = dtx_isolate_process.next(p, &got, err);
	} while (rc == DTX_OK && got.owner);
out:
	json_decref(args);
	dtx_isolate_process.stop(p);
	dtx_source_free(src);
	return rc;
}

static enum dtx_code meet(bool named, void (*act)(struct villain *v), const struct attempt *attempt,
                          struct dtx_err *err)
{
	static const struct dtx_isolate_limits limits = DTX_ISOLATE_LIMITS;

	return meet_within(&limits, named, act, attempt, err);
}

static void act_attempt(struct villain *v)
{
	(void)attempt_make(v->attempt);
}

void test_reader_process_is_stopped_and_the_call_named(void)
{
	struct dtx_err err = DTX_ERR_INIT;
	size_t i;

	if (skipped())
		return;
	if (t_is_filtered()) {
		t_skip("the filter of this container answers first");
		return;
	}
	for (i = 0; i < DTX_COUNT(attempts); i++) {
		char want[64];

		if (attempts[i].allowed)
			continue;
		T_CODE(meet(true, act_attempt, &attempts[i], &err), DTX_E_CORRUPT_FILE, &err);
		snprintf(want, sizeof(want), "asked for '%s'", attempts[i].name);
		if (!strstr(err.msg, want))
			t_fail(__FILE__, __LINE__, "expected %s in: %s", want, err.msg);
	}
	/* its name is unknown, so the signal is reported */
	T_CODE(meet(false, act_attempt, &attempts[1], &err), DTX_E_CORRUPT_FILE, &err);
	T_CHECK(strstr(err.msg, "died (SIGSYS)"));
	dtx_err_clear(&err);
}

static void act_crash(struct villain *v)
{
	(void)v;
	__builtin_trap();
}

static void act_leave(struct villain *v)
{
	(void)v;
}

static void need(struct villain *v, uint64_t len)
{
	struct dtx_wire_memory m = { v->ask.gen, 0, len };

	(void)!dtx_wire_send(&v->wire, DTX_WIRE_NEED, &m, sizeof(m), NULL, 0);
}

static void frame(struct villain *v, uint64_t len)
{
	struct dtx_wire_memory m = { v->ask.gen, 0, len };

	(void)!dtx_wire_send(&v->wire, DTX_WIRE_FRAME, &m, sizeof(m), NULL, 0);
}

static void wait_end(struct villain *v)
{
	int fd;

	(void)!villain_wait(v, DTX_WIRE_ASK, &fd);
}

static void act_flood(struct villain *v)
{
	need(v, (uint64_t)1 << 40);
	wait_end(v);
}

static void act_no_memory(struct villain *v)
{
	frame(v, 4096);
	wait_end(v);
}

static void act_other_length(struct villain *v)
{
	int fd;

	need(v, 4096);
	if (villain_wait(v, DTX_WIRE_GIVE, &fd))
		frame(v, 8192);
	wait_end(v);
}

/* Memory that it could still change after main has checked it. */
static void act_keep_mapping(struct villain *v)
{
	int fd;

	need(v, 2 * DTX_WIRE_SLOT);
	if (villain_wait(v, DTX_WIRE_GIVE, &fd) &&
	    mmap(NULL, 4096, RW, MAP_SHARED, fd, 0) != MAP_FAILED)
		frame(v, 2 * DTX_WIRE_SLOT);
	wait_end(v);
}

static void act_two_needs(struct villain *v)
{
	need(v, 4096);
	need(v, 4096);
	wait_end(v);
}

static void act_false_error(struct villain *v)
{
	struct dtx_wire_fail f = { v->ask.gen, 9000, "" };

	(void)!dtx_wire_send(&v->wire, DTX_WIRE_FAIL, &f, sizeof(f), NULL, 0);
	wait_end(v);
}

static void act_tick(struct villain *v, uint64_t done, uint64_t of)
{
	struct dtx_wire_tick t = { v->ask.gen, 0, done, of };

	(void)!dtx_wire_send(&v->wire, DTX_WIRE_TICK, &t, sizeof(t), NULL, 0);
}

static void act_tick_too_far(struct villain *v)
{
	act_tick(v, 2, 1);
	wait_end(v);
}

static void act_tick_for_ever(struct villain *v)
{
	for (;;)
		act_tick(v, 1, 2);
}

static void act_speak_as_main(struct villain *v)
{
	(void)!dtx_wire_send(&v->wire, DTX_WIRE_QUIT, NULL, 0, NULL, 0);
	wait_end(v);
}

static void act_skip_a_serial(struct villain *v)
{
	v->wire.sent++;
	frame(v, 4096);
	wait_end(v);
}

/* It uses no processor time and sends nothing more. */
static void act_hang_up(struct villain *v)
{
	static int forever;

	close(v->wire.fd);
	syscall(SYS_futex, &forever, 0, 0, NULL, NULL, 0);
}

void test_reader_process_breaks_the_protocol(void)
{
	static const struct {
		void (*act)(struct villain *v);
		const char *says;
	} cases[] = {
		{ act_crash, "died (SIGILL)" },
		{ act_leave, "ended without an answer" },
		{ act_no_memory, "a frame without memory" },
		{ act_other_length, "a frame without memory" },
		{ act_keep_mapping, "keeps what it has sent" },
		{ act_two_needs, "no memory, or twice" },
		{ act_false_error, "its error is malformed" },
		{ act_tick_too_far, "too many or wrong progress messages" },
		{ act_tick_for_ever, "too many or wrong progress messages" },
		{ act_speak_as_main, "not its own" },
		{ act_skip_a_serial, "no message" },
		{ act_hang_up, "closed the connection and did not end" },
	};
	struct dtx_err err = DTX_ERR_INIT;
	size_t i;

	if (skipped())
		return;
	for (i = 0; i < DTX_COUNT(cases); i++) {
		T_CODE(meet(true, cases[i].act, NULL, &err), DTX_E_CORRUPT_FILE, &err);
		if (!strstr(err.msg, cases[i].says))
			t_fail(__FILE__, __LINE__, "expected %s in: %s", cases[i].says, err.msg);
	}
	dtx_err_clear(&err);
}

/* It reports that it has no memory, in a few bytes. */
static void act_starve(struct villain *v)
{
	struct dtx_wire_fail f = { .gen = v->ask.gen };

	f.len = (uint32_t)snprintf(f.json, sizeof(f.json),
	                           "{\"code\":\"no_memory\",\"severity\":0}");
	(void)!dtx_wire_send(&v->wire, DTX_WIRE_FAIL, &f, sizeof(f), NULL, 0);
	wait_end(v);
}

/* If it exceeds its memory or its time, the error names the limit. */
void test_reader_process_limits_are_named(void)
{
	static const struct dtx_isolate_limits limits = DTX_ISOLATE_LIMITS;
	struct dtx_isolate_limits none = limits;
	struct dtx_err err = DTX_ERR_INIT;

	if (skipped())
		return;
	T_CODE(meet(true, act_flood, NULL, &err), DTX_E_ARCHIVE_LIMIT, &err);
	T_CHECK(strstr(err.msg, "reading it takes more than"));
	T_CODE(meet(true, act_starve, NULL, &err), DTX_E_ARCHIVE_LIMIT, &err);
	T_CHECK(strstr(err.msg, "'b.xlsx': reading it takes more than ") &&
	        strstr(err.msg, " MiB (limit 'archive.memory')"));
	none.cpu_s = 0;
	T_CODE(meet_within(&none, true, wait_end, NULL, &err), DTX_E_ARCHIVE_LIMIT, &err);
	T_STR(err.msg, "'b.xlsx': reading it takes more than 0 s (limit 'archive.time')");
	dtx_err_clear(&err);
}

static void act_one_frame(struct villain *v)
{
	int fd;

	need(v, 4096);
	if (villain_wait(v, DTX_WIRE_GIVE, &fd) && !close(fd))
		frame(v, 4096);
	(void)!dtx_wire_send(&v->wire, DTX_WIRE_END, &v->ask.gen, sizeof(v->ask.gen), NULL, 0);
	wait_end(v);
}

/* A villain that has received a request. */
static void asked(void (*act)(struct villain *v), const struct dtx_isolate_limits *limits,
                  struct dtx_source **src, struct dtx_isolate **p)
{
	struct dtx_err err = DTX_ERR_INIT;
	json_t *args = json_object();
	int pair[2];
	pid_t pid;

	T_INT(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	T_OK(dtx_source_bytes("b.xlsx", "PK", 2, src, &err), &err);
	pid = fork();
	if (pid == 0)
		villain_main(pair[1], true, act, NULL);
	close(pair[1]);
	T_OK(dtx_reader_adopt(*src, limits, pid, pair[0], p, &err), &err);
	T_OK(dtx_isolate_process.ask(*p, DTX_ASK_SHEETS, args, &err), &err);
	json_decref(args);
	dtx_err_clear(&err);
}

/* The limit is for the process: a caller that takes the answers may be slow. */
void test_reader_process_waits_for_main(void)
{
	struct dtx_isolate_limits limits = { .memory = 1 << 20, .cpu_s = 1 };
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_source *src;
	struct dtx_isolate *p;
	struct dtx_sealed got;

	if (skipped())
		return;
	asked(act_one_frame, &limits, &src, &p);
	T_OK(dtx_isolate_process.next(p, &got, &err), &err);
	T_CHECK(got.owner);
	dtx_owner_unref(got.owner);
	(void)poll(NULL, 0, 1100); /* main works */
	T_OK(dtx_isolate_process.next(p, &got, &err), &err);
	T_CHECK(!got.owner);
	dtx_isolate_process.stop(p);
	dtx_source_free(src);
	dtx_err_clear(&err);
}

/* The wait for an answer ends when the run has to: its time is over, or a signal has come. */
void test_reader_process_is_left_when_the_run_ends(void)
{
	static atomic_bool signal_came = true;
	const struct dtx_cancel late = { NULL, dtx_now_ns() + 1000000 }, user = { &signal_came, 0 };
	struct dtx_isolate_limits limits = { .memory = 1 << 20, .cpu_s = 600 };
	struct dtx_err err = DTX_ERR_INIT;

	if (skipped())
		return;
	for (unsigned i = 0; i < 2; i++) {
		struct dtx_source *src;
		struct dtx_isolate *p;
		struct dtx_sealed got;
		const struct dtx_cancel *before;

		asked(wait_end, &limits, &src, &p);
		before = dtx_cancel_set(i ? &user : &late);
		T_CODE(dtx_isolate_process.next(p, &got, &err),
		       i ? DTX_E_CANCELLED : DTX_E_TIME_LIMIT, &err);
		dtx_cancel_set(before);
		dtx_isolate_process.stop(p);
		dtx_source_free(src);
	}
	dtx_err_clear(&err);
}

/* The second frame uses the same memory as the first one. */
static void act_write_again(struct villain *v)
{
	char *slot = MAP_FAILED;
	int fd;

	need(v, 4096);
	if (villain_wait(v, DTX_WIRE_GIVE, &fd))
		slot = mmap(NULL, 4096, RW, MAP_SHARED, fd, 0);
	if (slot == MAP_FAILED)
		return;
	memset(slot, 'a', 4096);
	frame(v, 4096);
	need(v, 4096);
	if (!villain_wait(v, DTX_WIRE_GIVE, &fd) || fd >= 0)
		return;
	memset(slot, 'b', 4096);
	frame(v, 4096);
	wait_end(v);
}

/* Main has its own copy of a small frame, whatever is written to the memory later. */
void test_reader_process_frames_are_copies(void)
{
	struct dtx_isolate_limits limits = { .memory = 1 << 20, .cpu_s = 10 };
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_sealed got[2] = { 0 };
	struct dtx_source *src;
	struct dtx_isolate *p;
	int i;

	if (skipped())
		return;
	asked(act_write_again, &limits, &src, &p);
	for (i = 0; i < 2; i++)
		T_OK(dtx_isolate_process.next(p, &got[i], &err), &err);
	dtx_isolate_process.stop(p);
	for (i = 0; i < 2; i++) {
		T_INT(got[i].len, 4096);
		T_CHECK(*(const char *)got[i].ptr == 'a' + i);
		T_CHECK(!memcmp(got[i].ptr, (const char *)got[i].ptr + 1, 4095));
		dtx_owner_unref(got[i].owner);
	}
	dtx_source_free(src);
	dtx_err_clear(&err);
}

/* Its report of progress arrives before any row does. */
void test_reader_process_ticks(void)
{
	struct dtx_read_opts opts = DTX_READ_OPTS_INIT;
	struct book book = { .sheet = "<sheetData><row r=\"1\"><c r=\"A1\" "
		                      "t=\"inlineStr\"><is><t>a</t></is></c></row>"
		                      "<row r=\"2\"><c r=\"A2\"><v>1</v></c></row></sheetData>" };
	struct dtx_buf bytes = DTX_BUF_INIT(1 << 20);
	struct dtx_progress watch = { .rows = 0 };
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_source *src = NULL;
	struct dtx_reader *r = NULL;
	char path[] = "/tmp/dtx-tick-XXXXXX";
	int fd = mkstemp(path);

	if (skipped())
		goto out;
	book_make(&book, &bytes);
	T_INT(write(fd, bytes.ptr, bytes.len), (long long)bytes.len);
	T_OK(dtx_source_open(path, &src, &err), &err);
	dtx_source_watch(src, &watch);
	T_OK(dtx_reader_open(src, &opts, &r, &err), &err);
	T_CHECK(watch.of > 0 && watch.done <= watch.of && watch.input);
	T_STR(watch.input, path);
out:
	dtx_reader_close(r);
	dtx_source_free(src);
	unlink(path);
	close(fd);
	dtx_buf_clear(&bytes);
	dtx_err_clear(&err);
}
