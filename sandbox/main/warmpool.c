/* Finds, starts and replaces warm pools, see warmpool.h. */
#include "sandbox/main/warmpool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/hash/hash.h"
#include "core/base/log.h"
#include "core/base/text/num.h"
#include "core/base/text/str.h"
#include "sandbox/guest.h"
#include "sandbox/main/rundir.h"
#include "sandbox/zygote/launch.h"
#include "sandbox/zygote/pyhost.h"
#include "sandbox/main/super.h"

#define LOCK_MS     2000 /* how long to wait if another process is starting the pool */
#define SWEEP_MS    1    /* a pool that is stuck has a full queue and does not answer */
#define READY_MS    20
#define STARTING_S  60 /* a successor that has taken no client for so long never will */
#define SWEEP_MAX   1000
#define IDLE_MAX    86400
#define NAME_MAX_OF (DTX_WIRE_KEY + 16)
#define STEM        (5 + DTX_WIRE_KEY) /* length of "pool-" and the key */

static void say(struct dtx_warmpool *p, const char *what, const char *detail)
{
	snprintf(p->why, sizeof(p->why), "%.60s: %.90s", what, detail);
}

/* --- the key --- */

static void add_file(struct dtx_sha256 *sha, const char *path)
{
	struct stat st;
	char text[160];
	int n = 0;

	if (!stat(path, &st))
		n = snprintf(text, sizeof(text), "%s %llu %llu %lld %lld.%09ld\n", path,
		             (unsigned long long)st.st_dev, (unsigned long long)st.st_ino,
		             (long long)st.st_size, (long long)st.st_mtim.tv_sec,
		             (long)st.st_mtim.tv_nsec);
	if (n > 0)
		dtx_sha256_add(sha, text, DTX_MIN((size_t)n, sizeof(text) - 1));
}

/* Adds what a zygote inherits to the key: a zygote under other limits or filters, or in another
 * container, is not the one that this process would start. */
static void add_surroundings(struct dtx_sha256 *sha)
{
	static const int limits[] = { RLIMIT_AS,    RLIMIT_CPU,    RLIMIT_DATA, RLIMIT_FSIZE,
		                      RLIMIT_STACK, RLIMIT_NOFILE, RLIMIT_NPROC };
	static const char *const spaces[] = { "/proc/self/ns/user", "/proc/self/ns/pid",
		                              "/proc/self/ns/mnt", "/proc/self/ns/net" };
	int64_t filters = dtx_procfacts_own_filters();
	size_t i;

	for (i = 0; i < DTX_COUNT(limits); i++) {
		struct rlimit r = { 0, 0 };

		if (!getrlimit((enum __rlimit_resource)limits[i], &r))
			dtx_sha256_add(sha, &r, sizeof(r));
	}
	for (i = 0; i < DTX_COUNT(spaces); i++) {
		char to[64];
		ssize_t n = readlink(spaces[i], to, sizeof(to));

		dtx_sha256_add(sha, to, n > 0 ? (size_t)n : 0);
	}
	dtx_sha256_add(sha, &filters, sizeof(filters));
}

static void make_key(struct dtx_warmpool *p)
{
	struct dtx_sha256 sha;
	uint8_t digest[DTX_SHA256_SIZE];
	char hex[DTX_SHA256_HEX];
	size_t i;

	dtx_sha256_init(&sha);
	dtx_sha256_add(&sha, dtx_guest_abi, strlen(dtx_guest_abi));
	dtx_sha256_add(&sha, &p->hash_seed, sizeof(p->hash_seed));
	dtx_sha256_add(&sha, &p->kind, sizeof(p->kind));
	add_file(&sha, "/proc/self/exe");
	for (i = 0; dtx_py_files[i]; i++)
		add_file(&sha, dtx_py_files[i]);
	add_surroundings(&sha);
	dtx_sha256_done(&sha, digest);
	dtx_hex(digest, sizeof(digest), hex);
	memcpy(p->key, hex, DTX_WIRE_KEY);
	p->key[DTX_WIRE_KEY] = 0;
}

/* --- the socket --- */

static uint32_t idle_seconds(void)
{
	const char *text = getenv("DTX_POOL_IDLE");
	int64_t n;

	if (text && dtx_num_parse_i64(text, strlen(text), &n) && n >= 0 && n <= IDLE_MAX)
		return (uint32_t)n;
	return DTX_WARMPOOL_IDLE_S;
}

/* Starts a zygote at `name`. Its socket already listens before the zygote runs, so that other
 * clients wait in its queue instead of starting more. */
static bool launch_at(struct dtx_warmpool *p, int folder, const char *name)
{
	struct dtx_err err = DTX_ERR_INIT;
	bool ok = false;
	int at;

	unlinkat(folder, name, 0);
	at = dtx_rundir_listen(folder, name);
	if (at < 0) {
		say(p, "its socket", strerror(errno));
		return false;
	}
	if (dtx_launch_pool(p->kind, p->hash_seed, p->key, idle_seconds(), at, &err) == DTX_OK)
		ok = true;
	else
		say(p, "its start", err.msg);
	close(at);
	dtx_err_clear(&err);
	return ok;
}

static bool is_socket_name(const char *name)
{
	return !strncmp(name, "pool-", 5) && strlen(name) > STEM &&
	       (!strcmp(name + STEM, ".sock") || !strcmp(name + STEM, ".sock.next"));
}

/* Removes one socket without a zygote. Skipped while a process holds the lock to start that
 * pool: its socket exists before it listens. */
static void sweep_one(int folder, const char *name)
{
	char lock[NAME_MAX_OF];
	int locked, fd = -1;

	snprintf(lock, sizeof(lock), "%.*s.lock", STEM, name);
	locked = dtx_rundir_lock(folder, lock, 0);
	if (locked >= 0)
		fd = dtx_rundir_join(folder, name, SWEEP_MS);
	if (locked >= 0 && fd < 0 && errno == ECONNREFUSED) {
		unlinkat(folder, name, 0);
		unlinkat(folder, lock, 0);
	}
	dtx_file_close(&fd);
	dtx_file_close(&locked);
}

/* Removes sockets of pools whose zygotes are gone, for instance of other versions of dtx or
 * Python. A process that waits for such a lock at this moment will start a pool that no process
 * finds; it ends after its idle time. */
static void sweep(int folder, const char *own)
{
	int list = fcntl(folder, F_DUPFD_CLOEXEC, 0), left = SWEEP_MAX;
	DIR *dir = list >= 0 ? fdopendir(list) : NULL;
	const struct dirent *e;

	if (!dir) {
		dtx_file_close(&list);
		return;
	}
	while (left-- > 0 && (e = readdir(dir)))
		if (is_socket_name(e->d_name) && strncmp(e->d_name, own, STEM) != 0)
			sweep_one(folder, e->d_name);
	closedir(dir);
}

/* Whether the pool was started a short time ago. Its zygote may be busy with its imports still;
 * another one in its place would need the same time, and then yet another. After that time it is
 * stuck. */
static bool is_young(int folder, const char *name)
{
	struct stat st;

	return !fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) &&
	       time(NULL) - st.st_mtim.tv_sec < STARTING_S;
}

/* The same of a pool whose queue is full, after an attempt to join it. */
static bool is_starting(int folder, const char *name)
{
	return errno == EAGAIN && is_young(folder, name);
}

/* Called with the lock held: joins the pool that is there now, or starts one. It does not wait
 * for a place in the pool's queue, because other processes wait for the lock. */
static int start_pool(struct dtx_warmpool *p, int folder, const char *name)
{
	int fd = dtx_rundir_join(folder, name, READY_MS);

	if (fd >= 0)
		return fd;
	if (is_starting(folder, name)) {
		say(p, "its queue", "it is full");
		return -1;
	}
	sweep(folder, name);
	if (launch_at(p, folder, name)) {
		fd = dtx_rundir_join(folder, name, READY_MS);
		if (fd < 0)
			say(p, "its socket", strerror(errno));
	}
	return fd;
}

bool dtx_warmpool_ask(const struct dtx_warmpool *p, int wait_ms, struct dtx_wire_welcome *w)
{
	struct dtx_wire wire = { .fd = p->fd };
	struct dtx_wire_hello hello = { .hash_seed = p->hash_seed };
	struct dtx_wire_msg msg;
	struct pollfd answer = { .fd = p->fd, .events = POLLIN };

	memcpy(hello.key, p->key, sizeof(p->key));
	if (p->fd < 0 || !dtx_wire_send(&wire, DTX_WIRE_HELLO, &hello, sizeof(hello), NULL, 0) ||
	    poll(&answer, 1, wait_ms) != 1 || dtx_wire_recv(&wire, &msg, NULL, NULL) != 1 ||
	    msg.type != DTX_WIRE_WELCOME)
		return false;
	memcpy(w, msg.payload, sizeof(*w));
	return true;
}

/* Called with the lock held. Replaces a pool in two calls: the first starts a successor beside
 * it, and the call that finds the successor ready puts it in the pool's place. */
static void renew(struct dtx_warmpool *p, int folder, const char *name)
{
	char next[NAME_MAX_OF + 8];
	struct dtx_wire_welcome w;

	snprintf(next, sizeof(next), "%s.next", name);
	p->fd = dtx_rundir_join(folder, next, READY_MS);
	if (p->fd < 0 && is_starting(folder, next)) {
		say(p, "successor", "starting");
	} else if (p->fd < 0) {
		if (launch_at(p, folder, next))
			say(p, "successor", "started");
	} else if (dtx_warmpool_ask(p, READY_MS, &w)) {
		if (renameat(folder, next, folder, name))
			say(p, "its socket", strerror(errno));
		else
			say(p, "successor", "in place");
	}
	dtx_file_close(&p->fd);
}

/* Joins the pool. If that fails, the first process to get the lock starts one, and the others
 * join it. */
static void join_or_start(struct dtx_warmpool *p, int folder, const char *name, const char *lock,
                          int64_t wait_ms)
{
	int64_t deadline = dtx_now_ns() + wait_ms * 1000000, left;
	int locked;

	p->fd = dtx_rundir_join(folder, name, (int)wait_ms);
	if (p->fd >= 0)
		return;
	locked = dtx_rundir_lock(folder, lock, LOCK_MS);
	if (locked < 0)
		say(p, "its lock", "held by another process");
	else
		p->fd = start_pool(p, folder, name);
	dtx_file_close(&locked);
	left = (deadline - dtx_now_ns()) / 1000000;
	if (p->fd < 0 && left > 0)
		p->fd = dtx_rundir_join(folder, name, (int)left);
}

/* A successor is not urgent: if the lock is taken, the next run tries again. */
static void renew_locked(struct dtx_warmpool *p, int folder, const char *name, const char *lock)
{
	int locked = dtx_rundir_lock(folder, lock, 0);

	if (locked < 0)
		say(p, "its lock", "held by another process");
	else
		renew(p, folder, name);
	dtx_file_close(&locked);
}

void dtx_warmpool_open(struct dtx_warmpool *p, enum dtx_zkind kind, uint32_t hash_seed,
                       enum dtx_warmpool_how how, int64_t wait_ms)
{
	char name[NAME_MAX_OF], lock[NAME_MAX_OF];
	const char *off = getenv("DTX_NO_WARM");
	int folder;

	*p = (struct dtx_warmpool){ .fd = -1, .kind = kind, .hash_seed = hash_seed };
	if (kind == DTX_ZYGOTE_SCREEN)
		p->kind = DTX_ZYGOTE_RUN;
	if (off && off[0] && strcmp(off, "0") != 0) {
		say(p, "DTX_NO_WARM", "it is not wanted");
		return;
	}
	folder = dtx_rundir_open(p->folder, sizeof(p->folder));
	if (folder < 0) {
		say(p, "no folder of its own", strerror(errno));
		return;
	}
	make_key(p);
	snprintf(name, sizeof(name), "pool-%s.sock", p->key);
	snprintf(lock, sizeof(lock), "pool-%s.lock", p->key);
	if (how == DTX_WARMPOOL_START) {
		join_or_start(p, folder, name, lock, wait_ms);
		p->starting = is_young(folder, name);
	} else if (how == DTX_WARMPOOL_RENEW) {
		renew_locked(p, folder, name, lock);
	} else {
		p->fd = dtx_rundir_join(folder, name, (int)wait_ms);
		if (p->fd < 0)
			say(p, "none is there", strerror(errno));
	}
	dtx_file_close(&folder);
}
