/* The pool of warm workers: which runs may use it, when it starts, when it ends. */
#include "tests/t.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/base/file.h"
#include "sandbox/zygote/prefault_child.h"
#include "sandbox/main/jail.h"
#include "sandbox/role.h"
#include "sandbox/main/warmpool.h"
#include "sandbox/zygote/zygote.h"
#include "tests/unit/jailrun.h"

#define PATIENCE_NS ((int64_t)60 * 1000000000)

/* A folder for the pool of one test. */
static void begin(const char *idle)
{
	T_INT(chmod(t_dir(), 0700), 0);
	T_INT(setenv("XDG_RUNTIME_DIR", t_dir(), 1), 0);
	T_INT(setenv("DTX_POOL_IDLE", idle, 1), 0);
}

static void end(void)
{
	unsetenv("XDG_RUNTIME_DIR");
	setenv("DTX_POOL_IDLE", "5", 1);
}

/* One run; -1: it failed; else whether its worker was warm. */
static int run_one(const char *body, struct dtx_jail_spec spec)
{
	char code[500];
	struct dtx_jail_report r;
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_table *in = NULL, *got = NULL;
	struct dtx_box *box = NULL;
	enum dtx_code rc;
	int warm;

	snprintf(code, sizeof(code), "def transform(tables, params):\n%s\n", body);
	spec.mode = DTX_JAIL_RUN;
	dtx_jail_report_init(&r);
	rc = tm_table(5, false, &in, &err);
	if (rc == DTX_OK)
		rc = dtx_provider_local.open(&spec, &box, &err);
	if (rc == DTX_OK)
		rc = dtx_provider_local.put(box, "main", in, &err);
	if (rc == DTX_OK)
		rc = dtx_provider_local.exec(box, dtx_str_of(code), NULL, &r, &err);
	if (rc == DTX_OK)
		rc = dtx_provider_local.get(box, &got, &err);
	if (rc != DTX_OK && rc != DTX_E_SNIPPET_CRASH)
		printf("# %s: %s\n", dtx_code_name(rc), err.msg);
	warm = rc == DTX_OK && got && got->nrows == 5 ? r.warm : -1;
	dtx_provider_local.close(box);
	dtx_jail_report_clear(&r);
	dtx_table_unref(in);
	dtx_table_unref(got);
	dtx_err_clear(&err);
	return warm;
}

static int plain_run(void)
{
	return run_one("    return tables['main']", (struct dtx_jail_spec){ 0 });
}

/* The state of the pool; false if none answers. */
static bool ask(struct dtx_wire_welcome *w, struct dtx_warmpool *p)
{
	bool here;

	dtx_warmpool_open(p, DTX_ZYGOTE_RUN, 0, DTX_WARMPOOL_FIND, 10000);
	here = dtx_warmpool_ask(p, 5000, w);
	dtx_file_close(&p->fd);
	return here;
}

/* Waits until there are this many idle and busy workers. */
static bool settles(uint32_t idle, uint32_t busy)
{
	int64_t until = dtx_now_ns() + PATIENCE_NS;
	struct dtx_wire_welcome w;
	struct dtx_warmpool p;
	bool here = false;

	while (dtx_now_ns() < until) {
		here = ask(&w, &p);
		if (here && w.idle >= idle && w.busy == busy)
			return true;
		poll(NULL, 0, 5);
	}
	if (here)
		fprintf(stderr, "# %u workers wait, %u are busy\n", w.idle, w.busy);
	else
		fprintf(stderr, "# there is no pool\n");
	return false;
}

/* Waits until the pages are known. The pool learns them while no client has a worker, and does the
 * rest of its warm-up only after a pause, so the pauses between these runs become longer: on a slow
 * machine the pool makes the next worker before the client has gone. */
static bool learns(void)
{
	int64_t until = dtx_now_ns() + 2 * PATIENCE_NS;
	struct dtx_wire_welcome w;
	struct dtx_warmpool p;
	int pause_ms = 20;

	for (; dtx_now_ns() < until; pause_ms = DTX_MIN(2 * pause_ms, 4000)) {
		if (ask(&w, &p) && w.pages > 0)
			return true;
		if (plain_run() < 0)
			return false;
		poll(NULL, 0, pause_ms);
	}
	return false;
}

static bool goes_away(void)
{
	int64_t until = dtx_now_ns() + PATIENCE_NS;
	struct dtx_warmpool p;

	do {
		dtx_warmpool_open(&p, DTX_ZYGOTE_RUN, 0, DTX_WARMPOOL_FIND, 10000);
		dtx_file_close(&p.fd);
		poll(NULL, 0, 5);
	} while (!p.why[0] && dtx_now_ns() < until);
	return p.why[0] != 0;
}

static unsigned mode_of(const char *name)
{
	char path[200];
	struct stat st;

	snprintf(path, sizeof(path), "%s/dtx/%s", t_dir(), name);
	return stat(path, &st) ? 0 : st.st_mode & 0777;
}

/* The first run starts the pool, the next runs find workers ready; many clients share it; a run
 * that asks for none gets none. */
void test_jail_pool_serves(void)
{
	struct dtx_wire_welcome before, after;
	struct dtx_warmpool p;
	char socket_name[64];
	int i, status, bad = 0;

	SKIP_SANITIZED();
	begin("30");
	T_INT(plain_run(), 0);
	T_CHECK(settles(1, 0));
	T_INT(plain_run(), 1);
	T_INT(mode_of(""), 0700);
	T_CHECK(ask(&before, &p));
	T_CHECK(!dtx_prefault_child_here() || learns());
	T_CHECK(ask(&before, &p) && before.cold == 0);
	T_CHECK(before.rounds > 0 || !dtx_prefault_child_here());
	snprintf(socket_name, sizeof(socket_name), "pool-%s.sock", p.key);
	T_INT(mode_of(socket_name), 0600);
	T_INT(run_one("    return tables['main']", (struct dtx_jail_spec){ .no_warm = true }), 0);
	T_INT(setenv("DTX_NO_WARM", "1", 1), 0);
	T_INT(plain_run(), 0);
	unsetenv("DTX_NO_WARM");
	fflush(stdout);
	for (i = 0; i < 6; i++)
		if (fork() == 0)
			_exit(plain_run() < 0);
	for (i = 0; i < 6; i++)
		bad += wait(&status) < 0 || status;
	T_INT(bad, 0);
	T_CHECK(ask(&after, &p) && after.workers > before.workers);
	T_CHECK(after.up_ms >= before.up_ms);
	end();
}

/* A client that dies takes its worker with it and nothing else; a zygote that dies takes its
 * workers, and the next run starts another one. */
void test_jail_pool_outlives_its_clients(void)
{
	struct dtx_wire_welcome w;
	struct dtx_warmpool p;
	struct ucred cred;
	socklen_t len = sizeof(cred);
	pid_t pid;

	SKIP_SANITIZED();
	begin("30");
	T_INT(plain_run(), 0);
	fflush(stdout);
	pid = fork();
	if (pid == 0)
		_exit(run_one("    while True: pass", (struct dtx_jail_spec){ 0 }) < 0);
	T_CHECK(settles(0, 1));
	T_INT(kill(pid, SIGKILL), 0);
	T_INT(waitpid(pid, NULL, 0), pid);
	T_CHECK(settles(1, 0));
	T_INT(plain_run(), 1);
	dtx_warmpool_open(&p, DTX_ZYGOTE_RUN, 0, DTX_WARMPOOL_FIND, 10000);
	T_INT(getsockopt(p.fd, SOL_SOCKET, SO_PEERCRED, &cred, &len), 0);
	T_INT(cred.uid, geteuid());
	dtx_file_close(&p.fd);
	T_CHECK(ask(&w, &p));
	end();
}

/* The socket of a pool that is gone. */
static void stale(const char *name)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	snprintf(at.sun_path, sizeof(at.sun_path), "%.60s/dtx/%.40s", t_dir(), name);
	T_INT(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	close(fd);
	T_CHECK(mode_of(name) != 0);
}

/* The pool ends when no run needs it, even if another process looks all the time whether it is
 * there.  A stale socket is replaced.  If no folder is safe there is no pool, and runs do
 * without. */
void test_jail_pool_comes_and_goes(void)
{
	struct dtx_warmpool p;
	char path[200], folder[200];
	int fd;

	SKIP_SANITIZED();
	begin("1");
	T_INT(plain_run(), 0);
	T_CHECK(goes_away());
	stale("pool-0123456789abcdef.sock");
	stale("pool-0123456789abcdef.sock.next");
	stale("pool-00000000deadbeef.sock");
	snprintf(path, sizeof(path), "%s/dtx/pool-00000000deadbeef.lock", t_dir());
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	T_INT(flock(fd, LOCK_EX), 0);
	begin("30");
	T_INT(plain_run(), 0);
	T_INT(mode_of("pool-0123456789abcdef.sock"), 0);
	T_INT(mode_of("pool-0123456789abcdef.sock.next"), 0);
	T_INT(mode_of("pool-0123456789abcdef.lock"), 0);
	T_CHECK(mode_of("pool-00000000deadbeef.sock") != 0); /* it is being started */
	close(fd);
	T_CHECK(settles(1, 0));
	T_INT(plain_run(), 1);
	snprintf(folder, sizeof(folder), "%s/dtx", t_dir());
	T_INT(chmod(folder, 0755), 0);
	dtx_warmpool_open(&p, DTX_ZYGOTE_RUN, 0, DTX_WARMPOOL_FIND, 10000);
	T_CHECK(strcmp(p.folder, folder) != 0);
	dtx_file_close(&p.fd);
	T_INT(chmod(folder, 0700), 0);
	snprintf(path, sizeof(path), "%s/elsewhere", t_dir());
	T_INT(rename(folder, path), 0);
	T_INT(symlink(path, folder), 0);
	dtx_warmpool_open(&p, DTX_ZYGOTE_RUN, 0, DTX_WARMPOOL_FIND, 10000);
	T_CHECK(strcmp(p.folder, folder) != 0);
	dtx_file_close(&p.fd);
	end();
}

/* A listener of another user in our own folder: no run talks to it, and it is replaced. */
void test_jail_pool_speaks_to_nobody_else(void)
{
	struct dtx_warmpool p;
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	char path[300];
	int fd, i, ready[2];
	pid_t pid;
	char byte;

	SKIP_SANITIZED();
	if (geteuid() != 0) {
		t_skip("only root can be two users");
		return;
	}
	begin("0");
	dtx_warmpool_open(&p, DTX_ZYGOTE_RUN, 0, DTX_WARMPOOL_FIND, 10000);
	snprintf(path, sizeof(path), "%s/dtx/pool-%s.sock", t_dir(), p.key);
	T_CHECK(strlen(path) < sizeof(at.sun_path));
	memcpy(at.sun_path, path, DTX_MIN(strlen(path), sizeof(at.sun_path) - 1));
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	T_INT(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	T_INT(pipe(ready), 0);
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		if (setresuid(65534, 65534, 65534) || listen(fd, 5) || write(ready[1], "x", 1) != 1)
			_exit(1);
		for (i = 0; i < 2; i++) {
			int got = accept(fd, NULL, NULL);

			/* a client that connects and says nothing */
			if (got < 0 || read(got, &byte, 1) != 0)
				_exit(2);
			close(got);
		}
		_exit(0);
	}
	T_INT(read(ready[0], &byte, 1), 1);
	dtx_warmpool_open(&p, DTX_ZYGOTE_RUN, 0, DTX_WARMPOOL_FIND, 10000);
	T_INT(p.fd, -1);
	T_CHECK(strstr(p.why, "none is there"));
	dtx_warmpool_open(&p, DTX_ZYGOTE_RUN, 0, DTX_WARMPOOL_FIND, 10000);
	T_INT(p.fd, -1);
	T_INT(waitpid(pid, &i, 0), pid);
	T_INT(i, 0);
	T_INT(plain_run(), 0);
	close(fd);
	close(ready[0]);
	close(ready[1]);
	end();
}

/* A run that is still reading its input has no worker: a lease that is not used ends, and others
 * wait.  The idle time begins when the last client leaves, however long its run was. */
void test_jail_pool_lends_to_runs(void)
{
	const struct dtx_jail_spec spec = { .mode = DTX_JAIL_RUN };
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_box *box = NULL;
	struct dtx_wire_welcome w;
	struct dtx_warmpool p;

	SKIP_SANITIZED();
	begin("15");
	T_INT(plain_run(), 0);
	T_CHECK(settles(1, 0)); /* a pool that is not ready in time would not get the next run */
	/* it would have ended during the run; a busy machine may take as long to notice */
	T_INT(run_one("    import time\n    time.sleep(16)\n    return tables['main']",
	              (struct dtx_jail_spec){ 0 }),
	      1);
	/* still there, without the worker */
	T_CHECK(settles(0, 0));
	T_OK(dtx_provider_local.open(&spec, &box, &err), &err);
	T_CHECK(ask(&w, &p));
	T_INT(w.busy, 0);
	dtx_provider_local.close(box);
	dtx_err_clear(&err);
	end();
}

/* A pool that exists but does not answer: the run soon does without it, and it gets a successor. */
void test_jail_pool_that_is_stuck(void)
{
	const struct timeval long_ago[2] = { { 1, 0 }, { 1, 0 } };
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	struct dtx_wire_welcome w;
	struct dtx_warmpool p;
	int64_t start, until;
	int fd;

	SKIP_SANITIZED();
	begin("30");
	dtx_warmpool_open(&p, DTX_ZYGOTE_RUN, 0, DTX_WARMPOOL_FIND, 10000);
	T_INT(p.fd, -1);
	snprintf(at.sun_path, sizeof(at.sun_path), "%.60s/dtx/pool-%.20s.sock", t_dir(), p.key);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	T_INT(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	T_INT(listen(fd, 5), 0);
	T_INT(utimes(at.sun_path, long_ago), 0); /* one that is starting would be waited for */
	start = dtx_now_ns();
	T_INT(plain_run(), 0);
	T_CHECK(dtx_now_ns() - start < PATIENCE_NS / 2);
	until = dtx_now_ns() + PATIENCE_NS;
	do {
		dtx_warmpool_open(&p, DTX_ZYGOTE_RUN, 0, DTX_WARMPOOL_RENEW, 0);
		T_CHECK(strcmp(p.why, "successor: started")); /* the run did that itself */
		poll(NULL, 0, 5);
	} while (strcmp(p.why, "successor: in place") != 0 && dtx_now_ns() < until);
	T_STR(p.why, "successor: in place");
	T_CHECK(ask(&w, &p));
	close(fd);
	end();
}

/* How a run ends that waits `queue_ms` for its worker. */
static enum dtx_jail_status run_status(int64_t queue_ms)
{
	const struct dtx_jail_spec spec = { .mode = DTX_JAIL_EXEC,
		                            .limits = { .queue_ms = queue_ms } };
	struct dtx_jail_report r;
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_box *box = NULL;
	enum dtx_jail_status status;

	dtx_jail_report_init(&r);
	T_OK(dtx_provider_local.open(&spec, &box, &err), &err);
	if (dtx_provider_local.exec(box, DTX_STR("1"), NULL, &r, &err) ==
	    DTX_E_SNIPPET_SETUP_REFUSED)
		T_CHECK(strstr(err.msg, "busy:"));
	status = r.status;
	dtx_provider_local.close(box);
	dtx_jail_report_clear(&r);
	dtx_err_clear(&err);
	return status;
}

/* Clients that keep a lease, or only a connection. */
static void hold(int *fd, size_t n, bool leases)
{
	struct dtx_warmpool p;
	size_t i;

	for (i = 0; i < n; i++) {
		dtx_warmpool_open(&p, DTX_ZYGOTE_EXEC, 0, DTX_WARMPOOL_START, 10000);
		fd[i] = p.fd;
		T_CHECK(p.fd >= 0);
		if (leases) {
			struct dtx_wire w = { .fd = p.fd };
			struct dtx_wire_hello hello = { .hash_seed = 0 };

			memcpy(hello.key, p.key, sizeof(p.key));
			T_CHECK(dtx_wire_send(&w, DTX_WIRE_HELLO, &hello, sizeof(hello), NULL, 0));
			T_CHECK(dtx_wire_send(&w, DTX_WIRE_LEASE, NULL, 0, NULL, 0));
		}
	}
}

static void release(int *fd, size_t n)
{
	while (n)
		dtx_file_close(&fd[--n]);
}

/* Runs that find every worker busy wait, and then fail: a Python process for each of them would be
 * as many processes as there are runs. */
void test_jail_pool_that_is_full(void)
{
	int fd[DTX_ZYGOTE_CLIENTS];
	int64_t start;

	SKIP_SANITIZED();
	begin("30");
	T_INT(run_status(0), DTX_JAIL_OK);
	hold(fd, DTX_ZYGOTE_WORKERS, true); /* all workers, or more than there may be */
	start = dtx_now_ns();
	T_INT(run_status(300), DTX_JAIL_BUSY);
	T_CHECK(dtx_now_ns() - start < PATIENCE_NS / 2);
	release(fd, DTX_ZYGOTE_WORKERS);
	T_INT(run_status(60000), DTX_JAIL_OK);
	hold(fd, DTX_COUNT(fd), false); /* no place to wait either */
	T_INT(run_status(300), DTX_JAIL_BUSY);
	release(fd, DTX_COUNT(fd));
	T_INT(run_status(60000), DTX_JAIL_OK);
	end();
}

struct held {
	int fd[DTX_ZYGOTE_WORKERS];
	int64_t until;
};

/* Cancelled while the run waits: the other runs continue after a while. */
static bool let_go(void *arg)
{
	struct held *h = arg;

	if (dtx_now_ns() > h->until)
		release(h->fd, DTX_COUNT(h->fd));
	return false;
}

/* The report tells how long a run has waited for others. */
void test_jail_pool_queue_is_timed(void)
{
	enum { WAIT_US = 200000 };
	struct held h;
	struct dtx_jail_spec spec = { .mode = DTX_JAIL_EXEC,
		                      .cancelled = let_go,
		                      .cancel_arg = &h };
	struct dtx_jail_report r;
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_box *box = NULL;

	SKIP_SANITIZED();
	begin("30");
	T_INT(run_status(0), DTX_JAIL_OK);
	hold(h.fd, DTX_COUNT(h.fd), true);
	h.until = dtx_now_ns() + WAIT_US * INT64_C(1000);
	dtx_jail_report_init(&r);
	T_OK(dtx_provider_local.open(&spec, &box, &err), &err);
	T_OK(dtx_provider_local.exec(box, DTX_STR("1"), NULL, &r, &err), &err);
	T_CHECK(r.us.queue >= WAIT_US / 2 && r.us.queue <= r.us.lease);
	dtx_provider_local.close(box);
	dtx_jail_report_clear(&r);
	dtx_err_clear(&err);
	end();
}

/* Many clients ask whether a successor is ready, more than its queue has room for.  They do not
 * start another one in its place, unless this lasts for minutes. */
void test_jail_pool_has_one_successor(void)
{
	enum { VISITS = 5, MINUTES_S = 120 };
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	struct dtx_warmpool p;
	struct timespec times[2];
	int fd, i;

	SKIP_SANITIZED();
	begin("0");
	dtx_warmpool_open(&p, DTX_ZYGOTE_RUN, 0, DTX_WARMPOOL_FIND, 10000);
	snprintf(at.sun_path, sizeof(at.sun_path), "%.60s/dtx/pool-%.20s.sock.next", t_dir(),
	         p.key);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	T_INT(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	T_INT(listen(fd, 1), 0);
	for (i = 0; i < VISITS; i++) {
		dtx_warmpool_open(&p, DTX_ZYGOTE_RUN, 0, DTX_WARMPOOL_RENEW, 0);
		T_STR(p.why, i < 2 ? "" : "successor: starting");
	}
	T_INT(clock_gettime(CLOCK_REALTIME, &times[0]), 0);
	times[0].tv_sec -= MINUTES_S;
	times[1] = times[0];
	T_INT(utimensat(AT_FDCWD, at.sun_path, times, 0), 0);
	dtx_warmpool_open(&p, DTX_ZYGOTE_RUN, 0, DTX_WARMPOOL_RENEW, 0);
	T_STR(p.why, "successor: started");
	close(fd);
	end();
}

/* A successor replaces a pool without a gap. */
void test_jail_pool_is_renewed(void)
{
	struct dtx_wire_welcome old, new = { .up_ms = INT64_MAX };
	struct dtx_warmpool p;
	int64_t until = dtx_now_ns() + PATIENCE_NS;

	SKIP_SANITIZED();
	begin("30");
	T_INT(plain_run(), 0);
	T_CHECK(ask(&old, &p));
	dtx_warmpool_open(&p, DTX_ZYGOTE_RUN, 0, DTX_WARMPOOL_RENEW, 0);
	T_STR(p.why, "successor: started");
	T_CHECK(ask(&new, &p) && new.workers >= old.workers);
	do {
		dtx_warmpool_open(&p, DTX_ZYGOTE_RUN, 0, DTX_WARMPOOL_RENEW, 0);
		poll(NULL, 0, 5);
	} while (strcmp(p.why, "successor: in place") != 0 && dtx_now_ns() < until);
	T_STR(p.why, "successor: in place");
	T_CHECK(ask(&new, &p));
	T_CHECK(new.up_ms <= (dtx_now_ns() - (until - PATIENCE_NS)) / 1000000);
	T_CHECK(plain_run() >= 0);
	end();
}
