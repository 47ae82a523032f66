/* How a reader process starts.  It must be locked, and prove it, before it is asked anything.  The
 * real one is locked, and reads. */
#include "tests/t.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/io/isolate/isolated.h"
#include "sandbox/policy/notify.h"
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

/* --- not locked --- */

static void unlocked_main(int fd, bool filter)
{
	struct dtx_wire w = { .fd = fd };
	uint32_t no = 0;
	struct dtx_wire_msg msg;

	if (filter)
		(void)!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	(void)!dtx_wire_send(&w, DTX_WIRE_LOCKED, &no, sizeof(no), NULL, 0);
	(void)!dtx_wire_recv(&w, &msg, NULL, NULL);
	_exit(0);
}

/* It reports that it is locked, but is not: main asks the kernel. */
void test_reader_process_must_be_locked(void)
{
	static const struct dtx_isolate_limits limits = DTX_ISOLATE_LIMITS;
	/* under the filter of a container, a process without a filter of its own has that one */
	const char *unfiltered = t_is_filtered() ? "Seccomp_filters is " : "Seccomp is 0";
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_source *src;
	struct dtx_isolate *p;
	int half;

	if (skipped())
		return;
	T_OK(dtx_source_bytes("b.xlsx", "PK", 2, &src, &err), &err);
	for (half = 0; half < 2; half++) {
		int pair[2];
		pid_t pid;

		T_INT(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
		pid = fork();
		if (pid == 0)
			unlocked_main(pair[1], half);
		close(pair[1]);
		T_CODE(dtx_reader_adopt(src, &limits, pid, pair[0], &p, &err),
		       DTX_E_JAIL_UNAVAILABLE, &err);
		T_CHECK(strstr(err.msg, half ? unfiltered : "NoNewPrivs is 0"));
	}
	dtx_source_free(src);
	dtx_err_clear(&err);
}

/* Main itself runs under a filter, as in a container: then a process without a filter of its own
 * has one too. */
void test_reader_process_must_be_locked_by_itself(void)
{
	static const struct dtx_isolate_limits limits = DTX_ISOLATE_LIMITS;
	static struct sock_filter all = { BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW };
	const struct sock_fprog prog = { 1, &all };
	struct dtx_source *src;
	struct dtx_isolate *p;
	int pair[2], status = 0;
	pid_t pid, main_pid;

	if (skipped())
		return;
	if (t_is_filtered()) {
		t_skip("the filter of this container is the one in question");
		return;
	}
	main_pid = fork();
	if (main_pid == 0) {
		struct dtx_err err = DTX_ERR_INIT;

		if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
		    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &prog) ||
		    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) ||
		    dtx_source_bytes("b.xlsx", "PK", 2, &src, NULL) != DTX_OK)
			_exit(200);
		pid = fork();
		if (pid == 0)
			unlocked_main(pair[1], true);
		close(pair[1]);
		_exit(dtx_reader_adopt(src, &limits, pid, pair[0], &p, &err) ==
		                              DTX_E_JAIL_UNAVAILABLE &&
		                      strstr(err.msg, "Seccomp_filters is 1, expected 2")
		              ? 0
		              : 201);
	}
	T_CHECK(main_pid > 0 && waitpid(main_pid, &status, 0) == main_pid);
	T_INT(WEXITSTATUS(status), 0);
	T_CHECK(WIFEXITED(status));
}

/* --- facts that the kernel does not tell --- */

enum prober { PROBE_NO_PEER, PROBE_OTHER, PROBE_NO_ANSWER, PROBE_ALLOWED, PROBE_REFUSED };

/* A filter that asks main about the probe call, loaded after another one, so that there is one
 * filter too many for a reader. */
static int ask_of_probe(void)
{
	static struct sock_filter all = { BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW };
	static struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, DTX_NOTIFY_PROBE, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog under = { 1, &all }, over = { DTX_COUNT(code), code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &under))
		return -1;
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
	                    &over);
}

/* Reports that it is locked, and then does as much of what it is asked as it was told to do. */
static void prober_main(int fd, enum prober does)
{
	struct dtx_wire w = { .fd = fd };
	struct dtx_wire_probe asked;
	struct dtx_wire_msg msg;
	uint32_t one = 1, code;
	int listener = ask_of_probe();

	if (does == PROBE_NO_PEER) /* nothing can be sent to it any more */
		(void)!shutdown(fd, SHUT_RD);
	if (listener < 0 || !dtx_wire_send(&w, DTX_WIRE_LOCKED, &one, sizeof(one), &listener, 1))
		_exit(1);
	close(listener);
	if (does == PROBE_NO_PEER)
		pause();
	if (dtx_wire_recv(&w, &msg, NULL, NULL) != 1)
		_exit(2);
	memcpy(&asked, msg.payload, sizeof(asked));
	asked.nonce[0] ^= does == PROBE_OTHER;
	code = syscall(DTX_NOTIFY_PROBE, asked.nonce[0], asked.nonce[1], 0, 0) < 0 ? (uint32_t)errno
	                                                                           : 0;
	code = does == PROBE_ALLOWED ? 0 : code;
	if (does != PROBE_NO_ANSWER &&
	    dtx_wire_send(&w, DTX_WIRE_PROBED, &code, sizeof(code), NULL, 0))
		(void)!dtx_wire_recv(&w, &msg, NULL, NULL);
	_exit(0);
}

/* If its facts cannot be read, a process must make the call that main asks for, and be refused.  A
 * process that does less is not locked. */
void test_reader_process_must_show_its_filter(void)
{
	static const struct dtx_isolate_limits limits = DTX_ISOLATE_LIMITS;
	static const char *const says[] = { [PROBE_NO_PEER] = ": verify: Broken pipe",
		                            [PROBE_OTHER] = "the filter does not show the probe",
		                            [PROBE_NO_ANSWER] = "the probe has no answer",
		                            [PROBE_ALLOWED] = "the probe was not refused",
		                            [PROBE_REFUSED] = NULL };
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_source *src;

	if (skipped())
		return;
	T_OK(dtx_source_bytes("b.xlsx", "PK", 2, &src, &err), &err);
	for (size_t i = 0; i < DTX_COUNT(says); i++) {
		struct dtx_isolate *p = NULL;
		int pair[2];
		pid_t pid;

		T_INT(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
		pid = fork();
		if (pid == 0) {
			close(pair[0]);
			prober_main(pair[1], (enum prober)i);
		}
		close(pair[1]);
		t_fail_call("access", 0, ENOENT); /* the facts about it */
		T_CODE(dtx_reader_adopt(src, &limits, pid, pair[0], &p, &err),
		       says[i] ? DTX_E_JAIL_UNAVAILABLE : DTX_OK, &err);
		T_CHECK(t_failed_call());
		T_CHECK(!says[i] || strstr(err.msg, says[i]));
		dtx_err_clear(&err);
		dtx_isolate_process.stop(p);
	}
	dtx_source_free(src);
}

/* --- the real one --- */

static enum dtx_code file_dump(const char *path, struct dtx_buf *out, struct dtx_err *err)
{
	struct dtx_read_opts opts = DTX_READ_OPTS_INIT;
	enum dtx_code rc = DTX_OK;
	struct dtx_source *src = NULL;
	struct dtx_reader *r = NULL;

	DTX_TRY(dtx_source_open(path, &src, err));
	T_CHECK(!dtx_source_direct(src));
	DTX_TRY(dtx_reader_open(src, &opts, &r, err));
	DTX_TRY(table_dump(r, 2, true, out, err));
out:
	dtx_reader_close(r);
	dtx_source_free(src);
	return rc;
}

void test_reader_process_reads(void)
{
	struct book book = {
		.sheet = "<sheetData><row r=\"1\"><c r=\"A1\" t=\"s\"><v>0</v></c></row><row "
			 "r=\"2\"><c r=\"A2\" t=\"s\"><v>1</v></c></row><row r=\"3\"><c r=\"A3\" "
			 "t=\"inlineStr\"><is><t>x</t></is></c></row><row r=\"4\"><c r=\"A4\" "
			 "t=\"s\"><v>1</v></c></row></sheetData>"
	};
	struct dtx_buf bytes = DTX_BUF_INIT(1 << 20), out = DTX_BUF_INIT(1 << 16);
	struct dtx_err err = DTX_ERR_INIT;
	char path[512];
	int fd;

	if (skipped())
		return;
	book_make(&book, &bytes);
	snprintf(path, sizeof(path), "%s/b.xlsx", t_dir());
	fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	T_OK(dtx_file_write(fd, bytes.ptr, bytes.len, path, &err), &err);
	close(fd);
	T_OK(file_dump(path, &out, &err), &err);
	T_STR(dtx_buf_text(&out), "name:text\nrich\nx\nrich\n");
	/* compressed data is cut: what the parser reports inside is reported here */
	T_INT(truncate(path, (off_t)bytes.len / 2), 0);
	T_CODE(file_dump(path, &out, &err), DTX_E_CORRUPT_FILE, &err);
	T_CHECK(strstr(err.msg, path) && !strstr(err.msg, "process"));
	dtx_buf_clear(&bytes);
	dtx_buf_clear(&out);
	dtx_err_clear(&err);
}

/* A request that comes while the answer to another one is made replaces it. */
void test_reader_process_is_asked_again(void)
{
	static const struct dtx_isolate_limits limits = DTX_ISOLATE_LIMITS;
	struct book book = { .sheet = "<sheetData/>" };
	struct dtx_buf bytes = DTX_BUF_INIT(1 << 20);
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_source *src = NULL;
	struct dtx_isolate *p = NULL;
	struct dtx_sealed got = { 0 };
	json_t *args = json_object();
	int frames = 0;

	if (skipped())
		goto out;
	book_make(&book, &bytes);
	T_OK(dtx_source_bytes("b.xlsx", bytes.ptr, bytes.len, &src, &err), &err);
	T_OK(dtx_isolate_process.start(src, &limits, &p, &err), &err);
	T_OK(dtx_isolate_process.ask(p, DTX_ASK_SHEETS, args, &err), &err);
	T_OK(dtx_isolate_process.ask(p, DTX_ASK_SHEETS, args, &err), &err);
	for (;;) {
		T_OK(dtx_isolate_process.next(p, &got, &err), &err);
		if (!got.owner)
			break;
		frames++;
		dtx_owner_unref(got.owner);
		got.owner = NULL;
	}
	T_INT(frames, 1);
	dtx_isolate_process.stop(p);
	dtx_source_free(src);
out:
	json_decref(args);
	dtx_buf_clear(&bytes);
	dtx_err_clear(&err);
}

void test_reader_process_selftest(void)
{
	struct dtx_err err = DTX_ERR_INIT;
	int64_t us = -1;
	bool named;

	if (DTX_SANITIZED) { /* refused, not done without the lock */
		T_CODE(dtx_reader_selftest(&us, &named, &err), DTX_E_JAIL_UNAVAILABLE, &err);
	} else {
		T_OK(dtx_reader_selftest(&us, &named, &err), &err);
		T_CHECK(us > 0);
	}
	dtx_err_clear(&err);
}

/* A limit of the caller that cannot be raised is kept. */
void test_reader_process_under_tighter_limits(void)
{
	int status = 0;
	pid_t pid;

	if (skipped())
		return;
	pid = fork();
	if (pid == 0) {
		struct rlimit tight = { 100, 100 };
		int64_t us;
		bool named;

		_exit(setrlimit(RLIMIT_CPU, &tight) ||
		      dtx_reader_selftest(&us, &named, NULL) != DTX_OK);
	}
	T_CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
	T_INT(status, 0);
}
