/* The reader process: locks itself down, then parses a container (workbook, gzip,
 * Parquet, SQLite) for main. Each step
 * of the lock-down says what it stops. Their order is fixed, because each step takes away what
 * the steps before it needed. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/base/log.h"
#include "core/base/memory/malloc_tuning.h"
#include "core/base/memory/mem.h"
#include "core/base/text/num.h"
#include "core/base/thread/pool.h"
#include "core/io/archive/inflate.h"
#include "core/io/isolate/isolate.h"
#include "core/io/encoding/codepage.h"
#include "core/io/parquet/parquet.h"
#include "core/io/sheet/xls/read_freexl.h"
#include "sandbox/policy/filter.h"
#include "sandbox/policy/landlock.h"
#include "sandbox/policy/notify.h"
#include "sandbox/reader/reader_super.h"
#include "sandbox/wire.h"

enum { FD_CONTROL = 3, FD_INPUT = 4, FD_END = 5, FDS_MAX = 8, THREADS = 3, STATUS_LOST = 3 };
#define TICK_NS ((int64_t)100 * 1000 * 1000)
/* of address space, in addition to the limit of the heap */
#define SPARE_BYTES ((uint64_t)256 << 20)

/* --- lock-down --- */

static _Noreturn void refuse(struct dtx_wire *w, const char *layer, int code)
{
	struct dtx_wire_refused r = { (uint32_t)code, "", "" };

	dtx_str_copy(r.layer, sizeof(r.layer), dtx_str_of(layer));
	dtx_str_copy(r.text, sizeof(r.text), dtx_str_of("the reader process cannot be locked"));
	_exit(dtx_wire_send(w, DTX_WIRE_REFUSED, &r, sizeof(r), NULL, 0) ? 1 : 2);
}

/* Bytes of address space in use by the program and its libraries. */
static uint64_t own_size(void)
{
	char text[64] = "";
	int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	return n > 0 ? strtoull(text, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
}

/* Stops: floods of memory and CPU time, written files, and core files that would contain cells
 * of the input. */
static int limit(uint64_t own, uint64_t memory, uint64_t cpu_s)
{
	const struct {
		int what;
		rlim_t soft, hard;
	} limits[] = {
		{ RLIMIT_AS, own + memory + SPARE_BYTES, own + memory + SPARE_BYTES },
		{ RLIMIT_CPU, cpu_s, cpu_s + 1 },
		{ RLIMIT_FSIZE, 0, 0 },
		{ RLIMIT_CORE, 0, 0 },
		{ RLIMIT_NOFILE, FDS_MAX, FDS_MAX },
	};
	size_t i;

	for (i = 0; i < DTX_COUNT(limits); i++) {
		struct rlimit have, want;

		/* If the limits of the caller are tighter, those stay. */
		if (getrlimit((enum __rlimit_resource)limits[i].what, &have))
			return errno;
		want.rlim_max = DTX_MIN(limits[i].hard, have.rlim_max);
		want.rlim_cur = DTX_MIN(limits[i].soft, want.rlim_max);
		if (setrlimit((enum __rlimit_resource)limits[i].what, &want))
			return errno;
	}
	return 0;
}

/* Stops: every call that the policy does not allow, in every thread. If the kernel gives a
 * listener, main names the call; otherwise the kernel ends the process without a message. */
static int load_filter(struct dtx_filter *filter, uint32_t *named, int *listener)
{
	int rc = dtx_filter_load_reader(filter, false, listener);

	*named = !rc;
	if (!rc)
		return 0;
	dtx_filter_make_plain(filter);
	return dtx_filter_load_reader(filter, true, listener);
}

static int compare_bytes(const void *a, const void *b)
{
	return *(const char *)a - *(const char *)b;
}

/* Calls qsort once: the C library then asks how much memory the machine has, which the filter
 * would deny later. */
static void warm_qsort(void)
{
	char many[2048] = { 0 };

	qsort(many, sizeof(many), 1, compare_bytes);
}

struct role {
	pid_t parent;
	uint64_t memory, cpu_s;
	uint64_t page; /* code page that may be needed */
	size_t size;   /* bytes of the input */
	bool freexl;   /* FreeXL is used, which opens the input by its name */
	bool codecs;   /* the libraries of Parquet's codecs are used */
};

/* Stops: FreeXL, the only library here that opens files, from reading any file but the input.
 * Must be done before there are other threads, which would not be restricted. */
static void only_input(struct dtx_wire *w)
{
	static const char *const input[] = { DTX_ISOLATE_INPUT, NULL };
	unsigned abi = dtx_landlock_abi();
	int rc;

	if (dtx_freexl_warm(NULL) != DTX_OK)
		refuse(w, "libfreexl1", ENOENT);
	rc = abi ? dtx_landlock_restrict(abi, input) : ENOSYS;
	if (rc)
		refuse(w, "landlock", rc);
}

static void lock_down(struct dtx_wire *w, struct role *r)
{
	struct dtx_filter filter;
	uint32_t named = 0;
	int listener = -1, rc;
	uint64_t own;
	struct stat st;

	/* Stops: outliving main, also if it died a moment ago. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) || getppid() != r->parent)
		_exit(STATUS_LOST);
	/* Stops: use of other descriptors, a debugger, a set-uid program. */
	if (syscall(SYS_close_range, (unsigned)FD_END, ~0u, 0u) ||
	    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		refuse(w, "process", errno);
	if (fstat(FD_INPUT, &st))
		refuse(w, "input", errno);
	r->size = (size_t)st.st_size;
	/* Does what needs calls that are denied later: a seed for hash tables, tables of the
	 * converter, loading libraries, threads. */
	warm_qsort();
	dtx_malloc_tuning_start();
	dtx_json_init();
	(void)dtx_inflate_best();
	if (r->page)
		dtx_codepage_load((unsigned)r->page);
	own = own_size();
	if (r->freexl)
		only_input(w);
	if (r->codecs)
		dtx_pq_codecs_warm();
	if (dtx_filter_build_reader(&filter, r->freexl, NULL) != DTX_OK)
		refuse(w, "seccomp", EINVAL);
	dtx_task_reserve(THREADS);
	dtx_mem_set_limit(r->memory);
	rc = limit(own, r->memory, r->cpu_s);
	if (rc)
		refuse(w, "rlimits", rc);
	rc = load_filter(&filter, &named, &listener);
	if (rc)
		refuse(w, "seccomp", rc);
	if (!dtx_wire_send(w, DTX_WIRE_LOCKED, &named, sizeof(named), &listener, named))
		_exit(STATUS_LOST);
	if (named)
		close(listener);
}

/* --- messages --- */

struct channel {
	pthread_mutex_t lock; /* for sending: progress may come from any thread */
	int64_t ticked;       /* when progress was last sent */
	struct dtx_wire wire;
	struct dtx_wire_ask ask; /* the request in work, or the next one */
	int args;                /* memory with its arguments; -1: no request waits */
	void *frame;             /* mapped memory of main, to be filled */
	uint64_t len;
	void *slot; /* the same for small frames; NULL until the first */
};

static bool tell(struct channel *c, uint16_t type, const void *payload, size_t len)
{
	bool ok;

	pthread_mutex_lock(&c->lock);
	ok = dtx_wire_send(&c->wire, type, payload, len, NULL, 0);
	pthread_mutex_unlock(&c->lock);
	return ok;
}

/* Sends progress, at most ten times a second, so that it never fills the socket. */
static void channel_tick(void *arg, uint64_t done, uint64_t of)
{
	struct channel *c = arg;
	int64_t now = dtx_now_ns();

	pthread_mutex_lock(&c->lock);
	if (now - c->ticked >= TICK_NS) {
		struct dtx_wire_tick t = { c->ask.gen, 0, done, of };

		c->ticked = now;
		if (!dtx_wire_send(&c->wire, DTX_WIRE_TICK, &t, sizeof(t), NULL, 0))
			_exit(STATUS_LOST);
	}
	pthread_mutex_unlock(&c->lock);
}

/* Makes a call that the filter denies. Main asks for that where it cannot read what the kernel
 * says about this process, and sees the call at its listener. */
static void answer_probe(struct channel *c, const struct dtx_wire_msg *msg)
{
	struct dtx_wire_probe p;
	uint32_t code;

	memcpy(&p, msg->payload, sizeof(p));
	code = syscall(DTX_NOTIFY_PROBE, p.nonce[0], p.nonce[1], 0, 0) < 0 ? (uint32_t)errno : 0;
	if (!tell(c, DTX_WIRE_PROBED, &code, sizeof(code)))
		_exit(STATUS_LOST);
}

/* Reads the next message with its descriptor, if it has one. Ends the process if none. */
static void receive(struct channel *c, struct dtx_wire_msg *msg, int *fd)
{
	size_t n;

	do {
		n = 1;
		*fd = -1;
		if (dtx_wire_recv(&c->wire, msg, fd, &n) != 1)
			_exit(0); /* main is gone or has no more requests */
		if (msg->type == DTX_WIRE_PROBE)
			answer_probe(c, msg);
	} while (msg->type == DTX_WIRE_PROBE);
}

static void keep_ask(struct channel *c, const struct dtx_wire_msg *msg, int fd)
{
	if (msg->type != DTX_WIRE_ASK || fd < 0)
		_exit(STATUS_LOST);
	pthread_mutex_lock(&c->lock);
	memcpy(&c->ask, msg->payload, sizeof(c->ask));
	pthread_mutex_unlock(&c->lock);
	c->args = fd;
}

/* Maps memory of main. Closes fd. */
static enum dtx_code map_shared(int fd, uint64_t n, int flags, void **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	void *map = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED | flags, fd, 0);

	close(fd);
	if (map == MAP_FAILED)
		DTX_FAIL_MEM(err);
	*out = map;
out:
	return rc;
}

/* Gets memory to fill. The slot is mapped once and used again for each small frame; larger
 * memory is filled once, so its pages are taken at once. */
static enum dtx_code take_memory(struct channel *c, int fd, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (c->len > DTX_WIRE_SLOT)
		return map_shared(fd, c->len, MAP_POPULATE, &c->frame, err);
	if (fd >= 0)
		DTX_TRY(map_shared(fd, DTX_WIRE_SLOT, 0, &c->slot, err));
	if (!c->slot)
		_exit(STATUS_LOST);
	c->frame = c->slot;
out:
	return rc;
}

static enum dtx_code frame_room(void *arg, uint64_t n, void **to, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct channel *c = arg;
	struct dtx_wire_memory m = { c->ask.gen, 0, n };
	struct dtx_wire_msg msg;
	int fd = -1;

	if (!tell(c, DTX_WIRE_NEED, &m, sizeof(m)))
		_exit(STATUS_LOST);
	receive(c, &msg, &fd);
	if (msg.type != DTX_WIRE_GIVE) {
		keep_ask(c, &msg, fd);
		DTX_FAIL(err, DTX_E_CANCELLED, "another request");
	}
	c->len = n;
	DTX_TRY(take_memory(c, fd, err));
	*to = c->frame;
out:
	return rc;
}

static void drop_frame(struct channel *c)
{
	if (c->frame && c->frame != c->slot)
		munmap(c->frame, c->len);
	c->frame = NULL;
}

static enum dtx_code frame_send(void *arg, struct dtx_err *err)
{
	struct channel *c = arg;
	struct dtx_wire_memory m = { c->ask.gen, 0, c->len };

	(void)err;
	drop_frame(c);
	if (!tell(c, DTX_WIRE_FRAME, &m, sizeof(m)))
		_exit(STATUS_LOST);
	return DTX_OK;
}

static bool fail_text(const struct dtx_err *err, struct dtx_wire_fail *f)
{
	struct dtx_buf text = DTX_BUF_INIT(sizeof(f->json));
	json_t *o = dtx_isolate_err_json(err);
	bool ok;

	dtx_json_print(o, 0, &text);
	ok = o && dtx_buf_ok(&text);
	if (ok) {
		memcpy(f->json, text.ptr, text.len);
		f->len = (uint32_t)text.len;
	}
	json_decref(o);
	dtx_buf_clear(&text);
	return ok;
}

/* Sends an error. If it is too long, or memory is out, leaves out what is not essential. */
static void send_fail(struct channel *c, struct dtx_err *err)
{
	static const char starved[] = "{\"code\":\"no_memory\",\"severity\":0}";
	struct dtx_wire_fail f = { .gen = c->ask.gen };

	if (!fail_text(err, &f)) {
		dtx_mem_free(err->more);
		err->more = NULL;
		err->hint[0] = err->did_you_mean[0][0] = '\0';
		if (!fail_text(err, &f)) {
			memcpy(f.json, starved, sizeof(starved));
			f.len = sizeof(starved) - 1;
		}
	}
	if (!tell(c, DTX_WIRE_FAIL, &f, sizeof(f)))
		_exit(STATUS_LOST);
}

static enum dtx_code serve_one(struct channel *c, struct dtx_isolate_server *s, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint64_t len = c->ask.len;
	void *map = mmap(NULL, len, PROT_READ, MAP_PRIVATE, c->args, 0);

	close(c->args);
	c->args = -1;
	if (map == MAP_FAILED)
		DTX_FAIL_MEM(err);
	rc = dtx_isolate_serve(s, (enum dtx_ask)c->ask.ask, (struct dtx_str){ map, len }, err);
	munmap(map, len);
out:
	drop_frame(c); /* one that was not finished */
	return rc;
}

static _Noreturn void serve(struct channel *c, struct dtx_isolate_server *s)
{
	for (;;) {
		struct dtx_err err = DTX_ERR_INIT;
		struct dtx_wire_msg msg;
		enum dtx_code rc;
		int fd = -1;

		if (c->args < 0) {
			receive(c, &msg, &fd);
			keep_ask(c, &msg, fd);
		}
		rc = serve_one(c, s, &err);
		if (rc != DTX_OK && rc != DTX_E_CANCELLED)
			send_fail(c, &err);
		else if (rc == DTX_OK && !tell(c, DTX_WIRE_END, &c->ask.gen, sizeof(c->ask.gen)))
			_exit(STATUS_LOST);
		dtx_err_clear(&err);
	}
}

static bool number(const char *text, uint64_t *out)
{
	int64_t v;

	if (!dtx_num_parse_i64(text, strlen(text), &v) || v < 0)
		return false;
	*out = (uint64_t)v;
	return true;
}

int dtx_reader_main(int argc, char **argv)
{
	static struct channel c = { .lock = PTHREAD_MUTEX_INITIALIZER,
		                    .wire = { .fd = FD_CONTROL },
		                    .args = -1 };
	const struct dtx_isolate_sink sink = { &c, frame_room, frame_send, channel_tick };
	struct dtx_isolate_server *s;
	struct role r = { 0 };
	uint64_t parent;

	r.freexl = argc == 6 && strcmp(argv[5], "freexl") == 0;
	r.codecs = argc == 6 && strcmp(argv[5], "codecs") == 0;
	if (argc != 5 + (r.freexl || r.codecs) || !number(argv[1], &parent) ||
	    !number(argv[2], &r.memory) || !number(argv[3], &r.cpu_s) || !number(argv[4], &r.page))
		return 2;
	r.parent = (pid_t)parent;
	lock_down(&c.wire, &r);
	if (dtx_isolate_server_new(FD_INPUT, r.size, &sink, &s, NULL) != DTX_OK)
		_exit(STATUS_LOST);
	serve(&c, s);
}
