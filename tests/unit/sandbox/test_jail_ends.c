/* How runs in the jail end, and what becomes of a worker that lies about it. */
#include <dirent.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sandbox/main/report.h"
#include "sandbox/main/super.h"
#include "sandbox/worker/worker.h"
#include "tests/unit/jailrun.h"

/* How a run can end: code, status, and a part of the reason. */
static const struct ending {
	const char *body;
	enum dtx_jail_status status;
	enum dtx_code code;
	const char *reason;
	struct dtx_jail_limits limits;
} endings[] = {
	{ "    return tables['nope']",
	  DTX_JAIL_SNIPPET_ERROR,
	  DTX_E_SNIPPET_EXCEPTION,
	  "line 6: KeyError: 'nope'",
	  { 0 } },
	{ "    raise ValueError('DTX_CANNOT: too vague')",
	  DTX_JAIL_SNIPPET_ERROR,
	  DTX_E_SNIPPET_CANNOT,
	  "too vague",
	  { 0 } },
	{ "    return 5",
	  DTX_JAIL_BAD_RESULT,
	  DTX_E_SNIPPET_BAD_RESULT,
	  "expected a DataFrame",
	  { 0 } },
	{ "    return pd.DataFrame({'a': [1, 'x']})",
	  DTX_JAIL_BAD_RESULT,
	  DTX_E_SNIPPET_BAD_RESULT,
	  "column 'a' mixes int (row 0) and text (row 1)",
	  { 0 } },
	{ "    return pd.DataFrame([[1, 2]], columns=['a', 'a'])",
	  DTX_JAIL_BAD_RESULT,
	  DTX_E_SNIPPET_BAD_RESULT,
	  "two columns are named 'a'",
	  { 0 } },
	{ "    return pd.DataFrame({'a': "
	  "pd.to_datetime(['2024-01-01']).tz_localize('Europe/Berlin')})",
	  DTX_JAIL_BAD_RESULT,
	  DTX_E_SNIPPET_BAD_RESULT,
	  "has a time zone",
	  { 0 } },
	{ "    return pd.DataFrame({'a': [2**63]})",
	  DTX_JAIL_BAD_RESULT,
	  DTX_E_SNIPPET_BAD_RESULT,
	  "beyond 64 bits",
	  { 0 } },
	{ "    while True: pass",
	  DTX_JAIL_TIMEOUT,
	  DTX_E_SNIPPET_TIMEOUT,
	  "500 ms",
	  { .wall_ms = 500 } },
	{ "    while True: pass",
	  DTX_JAIL_CPU_LIMIT,
	  DTX_E_SNIPPET_CPU_LIMIT,
	  "CPU",
	  { .cpu_ms = 1000 } },
	{ "    return pd.DataFrame({'a': np.ones(40 << 20)})",
	  DTX_JAIL_MEMORY_LIMIT,
	  DTX_E_SNIPPET_MEMORY_LIMIT,
	  "MiB",
	  { .memory = 64u << 20, .output = 1u << 20 } },
	/* code that fills memory and ignores the error about it */
	{ "    a = []\n    while True:\n        try: a.append(np.ones(1 << 18))\n"
	  "        except MemoryError: pass",
	  DTX_JAIL_MEMORY_LIMIT,
	  DTX_E_SNIPPET_MEMORY_LIMIT,
	  "MiB",
	  { .memory = 64u << 20, .output = 1u << 20 } },
	{ "    a = []\n    while True:\n        try: a.append(np.empty(1 << 22))\n"
	  "        except MemoryError: pass",
	  DTX_JAIL_TIMEOUT,
	  DTX_E_SNIPPET_TIMEOUT,
	  "1000 ms",
	  { .wall_ms = 1000, .memory = 64u << 20, .output = 1u << 20 } },
	{ "    return pd.DataFrame({'a': np.ones(1 << 20)})",
	  DTX_JAIL_OUTPUT_LIMIT,
	  DTX_E_SNIPPET_OUTPUT_LIMIT,
	  "1 MiB",
	  { .output = 1u << 20 } },
	{ "    import ctypes\n    ctypes.CDLL(None).free(ctypes.c_void_p(id(pd) + 8))",
	  DTX_JAIL_SIGNALED,
	  DTX_E_SNIPPET_CRASH,
	  "it aborted (signal 6)",
	  { 0 } },
	{ "    import ctypes\n    a = np.ones(59 << 17)\n"
	  "    ctypes.CDLL(None).free(ctypes.c_void_p(id(pd) + 8))",
	  DTX_JAIL_MEMORY_LIMIT,
	  DTX_E_SNIPPET_MEMORY_LIMIT,
	  "of 64 MiB and crashed",
	  { .memory = 64u << 20 } },
	{ "    ctypes.string_at(0)",
	  DTX_JAIL_SNIPPET_ERROR,
	  DTX_E_SNIPPET_EXCEPTION,
	  "NameError",
	  { 0 } },
};

void test_jail_endings(void)
{
	char code[1000];
	size_t i;

	SKIP_SANITIZED();
	for (i = 0; i < DTX_COUNT(endings); i++) {
		const struct ending *e = &endings[i];
		struct run run = { .spec = { .limits = e->limits } };

		snprintf(code, sizeof(code),
		         "import pandas as pd\nimport numpy as np\n\n\n"
		         "def transform(tables, params):\n%s\n",
		         e->body);
		T_CODE(run_code(&run, code), e->code, &run.err);
		T_STR(dtx_jail_status_name(run.r.status), dtx_jail_status_name(e->status));
		if (!strstr(run.r.reason, e->reason) || !strstr(run.err.msg, e->reason))
			t_fail(__FILE__, __LINE__, "%s: got '%s', expected '%s'", e->body,
			       run.r.reason, e->reason);
		run_clear(&run);
	}
}

/* The wait status of a process that was killed by `sig`, or that ended with `code`. */
#define KILLED(sig)  (sig)
#define EXITED(code) ((code) << 8)

/* A worker that is dying closes its socket first, on a busy machine long before it ends. */
void test_jail_mute(void)
{
	static const struct {
		enum dtx_kill kill;
		int status;
		enum dtx_jail_status is;
		const char *reason;
		int64_t overdue_us, cpu_us, rss;
	} ends[] = {
		/* memory was filled until the time was over: the zygote that ended it closed the
		 * socket */
		{ DTX_KILL_MUTE, KILLED(SIGKILL), DTX_JAIL_TIMEOUT, "longer than 1000 ms", 5, 0,
		  0 },
		{ DTX_KILL_MUTE, KILLED(SIGKILL), DTX_JAIL_CPU_LIMIT, "of CPU", 0, 1000001, 0 },
		{ DTX_KILL_NONE, KILLED(SIGKILL), DTX_JAIL_MEMORY_LIMIT, "MiB and crashed", 0, 0,
		  900 << 20 },
		{ DTX_KILL_MUTE, KILLED(SIGSEGV), DTX_JAIL_SIGNALED, "it crashed (signal 11)", 0, 0,
		  0 },
		{ DTX_KILL_MUTE, KILLED(SIGXCPU), DTX_JAIL_CPU_LIMIT, "of CPU", 0, 0, 0 },
		{ DTX_KILL_MUTE, EXITED(3), DTX_JAIL_ENDED, "with status 3", 0, 0, 0 },
		{ DTX_KILL_MUTE, EXITED(DTX_WORKER_CUT), DTX_JAIL_ENDED, "closed descriptor 3", 0,
		  0, 0 },
		{ DTX_KILL_MUTE, KILLED(SIGKILL), DTX_JAIL_ENDED, "closed descriptor 3", 0, 0, 0 },
		{ DTX_KILL_NONE, KILLED(SIGKILL), DTX_JAIL_SIGNALED, "ended from outside", 0, 0,
		  0 },
		{ DTX_KILL_PROTOCOL, KILLED(SIGSEGV), DTX_JAIL_BAD_RESULT, "the job socket", 0, 0,
		  0 },
	};
	struct dtx_jail_report r;
	size_t i;

	for (i = 0; i < DTX_COUNT(ends); i++) {
		struct dtx_box *b = dtx_mem_zalloc(1, sizeof(*b));

		dtx_jail_report_init(&r);
		b->spec.limits.memory = 1u << 30;
		b->kill = ends[i].kill;
		b->dead = b->has_exited = true;
		b->exited.status = ends[i].status;
		b->exited.user_us = ends[i].cpu_us;
		b->exited.max_rss = ends[i].rss;
		b->spec.limits.cpu_ms = 1000;
		b->spec.limits.wall_ms = 1000;
		r.us.overdue = ends[i].overdue_us;
		dtx_report_outcome(b, &r);
		T_STR(dtx_jail_status_name(r.status), dtx_jail_status_name(ends[i].is));
		T_CHECK(strstr(r.reason, ends[i].reason));
		dtx_jail_report_clear(&r);
		dtx_mem_free(b);
	}
}

/* --- a worker that forges its messages --- */

/* Reaches the job socket and the result from Python, without the C code of the worker. */
#define FORGE                                                                                      \
	"import pandas as pd, numpy as np, struct\n"                                               \
	"os = pd.io.common.os\n"                                                                   \
	"def message(kind, serial, payload):\n"                                                    \
	"    return struct.pack('<IHHII', 0x4a585444, 1, kind, len(payload), serial) + payload\n"  \
	"def done(code, used, serial=3):\n"                                                        \
	"    os.write(3, message(20, serial, struct.pack('<IIQ', code, 0, used)))\n"               \
	"def result():\n"                                                                          \
	"    frame = os.sys._getframe()\n"                                                         \
	"    while not hasattr(frame.f_locals.get('self'), 'out'):\n"                              \
	"        frame = frame.f_back\n"                                                           \
	"    return frame.f_locals['self'].out\n"                                                  \
	"def transform(tables, params):\n"

static const struct forgery {
	const char *body;
	enum dtx_jail_status status;
	const char *reason;
} forgeries[] = {
	{ "    os.write(3, b'garbage')\n    while True: pass", DTX_JAIL_BAD_RESULT, "protocol" },
	{ "    done(0, 1 << 60)\n    while True: pass", DTX_JAIL_BAD_RESULT, "protocol" },
	{ "    done(77, 0)\n    while True: pass", DTX_JAIL_BAD_RESULT, "protocol" },
	{ "    done(0, 0, 4)\n    while True: pass", DTX_JAIL_BAD_RESULT, "protocol" },
	{ "    done(0, 0)\n    os._exit(0)", DTX_JAIL_BAD_RESULT, "malformed" },
	{ "    r = result()\n    r[:4096] = np.random.bytes(4096)\n    done(0, 4096)\n    "
	  "os._exit(0)",
	  DTX_JAIL_BAD_RESULT, "malformed" },
	{ "    done(1, 0)\n    os._exit(0)", DTX_JAIL_BAD_RESULT, "malformed" },
	{ "    done(0, 0)\n    while True: pass", DTX_JAIL_BAD_RESULT, "" },
	/* the code that reports is gone, which must not look like lack of memory */
	{ "    os.sys.modules.clear()\n    return tables['main']", DTX_JAIL_BAD_RESULT,
	  "malformed" },
	{ "    os._exit(0)", DTX_JAIL_ENDED, "with status 0" },
	{ "    os._exit(9)", DTX_JAIL_ENDED, "with status 9" },
	{ "    os.close(3)\n    return tables['main']", DTX_JAIL_ENDED, "closed descriptor 3" },
	{ "    os.close(3)\n    while True: pass", DTX_JAIL_ENDED, "closed descriptor 3" },
	{ "    os.sys.exit(9)", DTX_JAIL_SNIPPET_ERROR, "SystemExit: 9" },
	{ "    os.kill(os.getpid(), 9)", DTX_JAIL_DENIED_SYSCALL, "kill" },
	{ "    os.sys.modules['ctypes'].string_at(8)", DTX_JAIL_SIGNALED, "signal 11" },
	{ "    os.abort()", DTX_JAIL_SIGNALED, "signal 6" },
	{ "    while True:\n        try: os.getuid()\n        except OSError: pass",
	  DTX_JAIL_DENIED_SYSCALL, "getuid" },
};

void test_jail_believes_nothing(void)
{
	char code[3000];
	size_t i;

	SKIP_SANITIZED();
	for (i = 0; i < DTX_COUNT(forgeries); i++) {
		const struct forgery *f = &forgeries[i];
		struct run run = { .spec = { .limits = { .wall_ms = 10000, .output = 1 << 20 } } };

		snprintf(code, sizeof(code), "%s%s\n", FORGE, f->body);
		T_CHECK(run_code(&run, code) != DTX_OK);
		if (run.r.status != f->status || !strstr(run.r.reason, f->reason))
			t_fail(__FILE__, __LINE__, "%s: got %s '%s', expected %s '%s'", f->body,
			       dtx_jail_status_name(run.r.status), run.r.reason,
			       dtx_jail_status_name(f->status), f->reason);
		T_CHECK(!run.table);
		run_clear(&run);
	}
}

static size_t open_files(void)
{
	DIR *d = opendir("/proc/self/fd");
	size_t n = 0;

	T_CHECK(d);
	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n;
}

/* A zygote that sends descriptors with a message that has none leaves none of them open here. */
void test_jail_closes_descriptors_of_another_message(void)
{
	const struct dtx_wire_welcome welcome = { 0 };
	const struct dtx_wire_arm arm = { 0 };
	struct dtx_box b = { .ctl = { .fd = -1 } };
	struct dtx_jail_report report = { 0 };
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_wire peer = { .fd = -1 };
	int ends[2] = { -1, -1 }, sent[2];
	size_t before;

	T_INT(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
	b.ctl.fd = ends[0];
	peer.fd = ends[1];
	sent[0] = sent[1] = ends[1];
	before = open_files();
	T_CHECK(dtx_wire_send(&peer, DTX_WIRE_WELCOME, &welcome, sizeof(welcome), NULL, 0));
	T_CHECK(dtx_wire_send(&peer, DTX_WIRE_ARMED, &arm, sizeof(arm), sent, 2));
	T_CODE(dtx_super_ready(&b, &report, &err), DTX_E_SNIPPET_SETUP_REFUSED, &err);
	T_CHECK(strstr(err.msg, "cannot be read"));
	T_INT(open_files(), before);
	dtx_err_clear(&err);
	close(ends[0]);
	close(ends[1]);
}
