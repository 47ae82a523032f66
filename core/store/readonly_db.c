/* Stores that are only read.  A log of changes next to the file, or a folder in which a log could
 * be made, means that the store may change. */
#include "core/store/readonly_db.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/memory/mem.h"

/* Offsets in the header of a database: the version that writers need, which is 2 if they use a
 * write-ahead log. */
enum { STILL_HEAD = 20, STILL_VERSION = 18, STILL_LOGS = 2 };

static bool still_is(const char *path)
{
	char other[PATH_MAX];
	struct stat st;
	const char *slash = strrchr(path, '/');

	snprintf(other, sizeof(other), "%.*s", slash ? (int)(slash - path) + 1 : 1,
	         slash ? path : ".");
	if (access(other, W_OK) == 0 || (errno != EACCES && errno != EROFS))
		return false;
	snprintf(other, sizeof(other), "%s-wal", path);
	return stat(other, &st) < 0 ? errno == ENOENT : st.st_size == 0;
}

bool dtx_readonly_db_name(const char *path, struct dtx_buf *out)
{
	if (!still_is(path))
		return false;
	dtx_buf_add(out, "file:");
	for (; *path; path++) {
		if (strchr("%?#", *path))
			dtx_buf_printf(out, "%%%02X", (unsigned char)*path);
		else
			dtx_buf_addc(out, *path);
	}
	dtx_buf_add(out, "?immutable=1");
	return true;
}

bool dtx_readonly_db_bare(const char *path)
{
	uint8_t head[STILL_HEAD] = { 0 };
	char log[PATH_MAX];
	struct stat st;
	int fd = -1;
	bool logs;

	if (dtx_file_open(path, &fd, NULL) != DTX_OK)
		return false;
	logs = read(fd, head, sizeof(head)) == STILL_HEAD && head[STILL_VERSION] == STILL_LOGS;
	dtx_file_close(&fd);
	snprintf(log, sizeof(log), "%s-wal", path);
	return logs && (stat(log, &st) < 0 || st.st_size == 0);
}

/* --- the log --- */

/* Sizes and offsets from https://www.sqlite.org/fileformat2.html; all numbers are big-endian. */
enum {
	LOG_HEAD = 32,
	LOG_FRAME = 24,
	LOG_PAGE_MAX = 65536,
	LOG_FORMAT = 3007000,
	LOG_LOOKS = 10,
	LOG_WAIT_NS = 20000000
};
/* If its last bit is set, checksums are computed from big-endian words. */
#define LOG_MAGIC 0x377f0682u

struct still_log {
	int fd;
	uint8_t *page; /* header and page of a frame */
	uint32_t size, salt[2], sum[2];
	bool big;
};
/* What a look at the log has found. */
struct still_seen {
	bool head;      /* the header does not fit */
	uint64_t frame; /* the first frame that does not fit, from 1; 0: all fit */
	uint64_t lost;  /* number of frames from there on that are marked as a commit */
	off_t bytes;
};

static uint32_t log_be(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static uint32_t log_le(const uint8_t *p)
{
	return (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0];
}

static void log_sum(struct still_log *l, const uint8_t *p, size_t n)
{
	for (size_t i = 0; i + 8 <= n; i += 8) {
		l->sum[0] += (l->big ? log_be(p + i) : log_le(p + i)) + l->sum[1];
		l->sum[1] += (l->big ? log_be(p + i + 4) : log_le(p + i + 4)) + l->sum[0];
	}
}

static bool log_head(struct still_log *l)
{
	uint8_t head[LOG_HEAD];

	if (pread(l->fd, head, sizeof(head), 0) != LOG_HEAD)
		return false;
	l->big = log_be(head) & 1;
	l->size = log_be(head + 8);
	l->salt[0] = log_be(head + 16);
	l->salt[1] = log_be(head + 20);
	l->sum[0] = l->sum[1] = 0;
	log_sum(l, head, LOG_FRAME);
	return (log_be(head) & ~1u) == LOG_MAGIC && log_be(head + 4) == LOG_FORMAT &&
	       l->size >= 512 && l->size <= LOG_PAGE_MAX && !(l->size & (l->size - 1)) &&
	       l->sum[0] == log_be(head + 24) && l->sum[1] == log_be(head + 28);
}

/* Whether the frame in l->page continues the log. */
static bool log_fits(struct still_log *l)
{
	const uint8_t *f = l->page;

	log_sum(l, f, 8);
	log_sum(l, f + LOG_FRAME, l->size);
	return log_be(f) != 0 && log_be(f + 8) == l->salt[0] && log_be(f + 12) == l->salt[1] &&
	       log_be(f + 16) == l->sum[0] && log_be(f + 20) == l->sum[1];
}

/* Whether the frame is a commit of this log.  A frame of an older log that this log overwrites
 * differs in both places, so changing one of them does not hide a commit. */
static bool log_commits(const struct still_log *l)
{
	const uint8_t *f = l->page;

	return log_be(f + 4) != 0 && (log_be(f + 8) == l->salt[0] || log_be(f + 12) == l->salt[1]);
}

static void log_look(struct still_log *l, struct still_seen *seen)
{
	struct stat st;
	size_t whole;
	uint64_t bad = 0;

	*seen = (struct still_seen){ .frame = 0 };
	if (fstat(l->fd, &st) < 0 || st.st_size < LOG_HEAD)
		return;
	seen->bytes = st.st_size;
	seen->head = !log_head(l);
	whole = LOG_FRAME + l->size;
	for (uint64_t i = 0; !seen->head; i++) {
		off_t at = LOG_HEAD + (off_t)(i * whole);

		if (at + (off_t)whole > st.st_size ||
		    pread(l->fd, l->page, whole, at) != (ssize_t)whole)
			break;
		if (!bad && !log_fits(l))
			bad = i + 1;
		if (bad && log_commits(l))
			seen->lost++;
	}
	seen->frame = seen->lost ? bad : 0;
}

/* A writer may be active: a problem counts only if it is seen twice, with nothing written in
 * between. */
void dtx_readonly_db_log(const char *path, struct dtx_buf *said)
{
	const struct timespec wait = { 0, LOG_WAIT_NS };
	struct still_log l = { .fd = -1 };
	struct still_seen seen, again;
	char name[PATH_MAX];
	bool same = false;

	snprintf(name, sizeof(name), "%s-wal", path);
	l.page = dtx_mem_alloc(LOG_FRAME + LOG_PAGE_MAX, 1);
	if (!l.page || access(name, F_OK) < 0 || dtx_file_open(name, &l.fd, NULL) != DTX_OK)
		goto out;
	log_look(&l, &seen);
	for (int i = 0; i < LOG_LOOKS && !same && (seen.head || seen.frame); i++) {
		nanosleep(&wait, NULL);
		log_look(&l, &again);
		same = seen.head == again.head && seen.frame == again.frame &&
		       seen.lost == again.lost && seen.bytes == again.bytes;
		seen = again;
	}
	if (seen.head)
		dtx_buf_printf(said, "the header of the store's log does not fit: what the log has "
		                     "is left out");
	else if (seen.frame)
		dtx_buf_printf(said, "the store's log does not fit from its page %llu on: ",
		               (unsigned long long)seen.frame);
	if (seen.frame && seen.lost == 1)
		dtx_buf_add(said, "the last transaction is left out; a write that was interrupted "
		                  "leaves the same, until the next run");
	else if (seen.frame)
		dtx_buf_printf(said, "%llu transactions at its end are left out",
		               (unsigned long long)seen.lost);
out:
	dtx_file_close(&l.fd);
	dtx_mem_free(l.page);
}
