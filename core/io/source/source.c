/* Inputs as one range of bytes. A file is mapped; a pipe is read completely, into memory while
 * it is small and into an unlinked temp file otherwise. */
#include "core/io/source/source.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/sigbus_guard.h"
#include "core/base/thread/cancel.h"
#include "core/base/memory/mem.h"
#include "core/io/source/stat_signature.h"
#include "core/io/source/inputhash.h"
#include "core/io/source/release_pages.h"
#include "core/io/source/pipe_input.h"

#define SOURCE_SPOOL_MEM ((size_t)64 << 20)
#define SOURCE_BLOCK     ((size_t)1 << 20)
#define SOURCE_TURN_MS   100
/* A file of at most so many bytes is read when it is opened, and needs neither a mapping nor a
 * descriptor. So an input may consist of more files than a process may have open. */
#define SOURCE_SMALL ((size_t)16 << 10)

/* What an owner frees: a mapping or a block on the heap. */
struct source_bytes {
	char *ptr;
	size_t len;
	bool mapped;
	int guard; /* index of the SIGBUS guard for a mapped file that others may change; -1 */
};

struct dtx_source {
	char *name;
	const char *data;
	size_t size;
	int64_t mtime_us;
	struct dtx_stat_signature mark; /* of a file, when it was opened */
	/* its file system notes changes, see dtx_stat_signature_noted */
	bool noted;
	bool file;   /* can be checked for changes */
	bool direct; /* see dtx_source_direct */
	/* of what is mapped; -1: the bytes are on the heap, or the file is opened again when
	 * needed */
	int fd;
	struct source_bytes *bytes; /* of the owner */
	struct dtx_archive_limits limits;
	struct dtx_progress *watch;  /* NULL: progress is not needed */
	struct dtx_source *inner;    /* the content of a packed file; NULL */
	struct dtx_pipe_input *pipe; /* for a source that is read once; NULL */
	bool part;                   /* a part of another source, at this place */
	int64_t byte0, line0;
	struct dtx_owner *owner;
	struct dtx_inputhash hash;
	struct dtx_release_pages release;
};

static void source_bytes_free(void *arg)
{
	struct source_bytes *b = arg;

	dtx_sigbus_guard_remove(b->guard);
	if (b->mapped)
		munmap(b->ptr, b->len);
	else
		dtx_mem_free(b->ptr);
	dtx_mem_free(b);
}

static int64_t source_mtime(const struct stat *st)
{
	return (int64_t)st->st_mtim.tv_sec * 1000000 + st->st_mtim.tv_nsec / 1000;
}

/* Takes the bytes, also on failure. */
static enum dtx_code source_take(struct dtx_source *s, char *ptr, size_t len, bool mapped,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct source_bytes *b = dtx_mem_alloc(1, sizeof(*b));

	if (b) {
		*b = (struct source_bytes){ ptr, len, mapped, -1 };
		s->owner = dtx_owner_new(source_bytes_free, b);
	}
	if (!s->owner) {
		if (mapped)
			munmap(ptr, len);
		else
			dtx_mem_free(ptr);
		dtx_mem_free(b);
		DTX_FAIL_MEM(err);
	}
	s->data = ptr;
	s->size = len;
	s->bytes = b;
out:
	return rc;
}

/* Leaves the upper half of the allowed descriptors to other files. */
static bool source_may_keep(int fd)
{
	struct rlimit most;

	return getrlimit(RLIMIT_NOFILE, &most) < 0 || most.rlim_cur == RLIM_INFINITY ||
	       (rlim_t)fd < most.rlim_cur / 2;
}

static enum dtx_code source_map(struct dtx_source *s, int fd, size_t len, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	void *ptr;

	if (!len)
		goto out;
	ptr = mmap(NULL, len, PROT_READ, MAP_PRIVATE, fd, 0);
	if (ptr == MAP_FAILED)
		DTX_FAIL(err, DTX_E_INPUT_IO, "cannot map '%s': %s", s->name, strerror(errno));
	DTX_TRY(source_take(s, ptr, len, true, err));
	s->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (s->file && (s->fd < 0 || !source_may_keep(s->fd)))
		dtx_file_close(&s->fd);
	else if (s->fd < 0)
		DTX_FAIL_FILE(err, DTX_E_INPUT_IO, "keep", s->name);
out:
	return rc;
}

/* Reads a small file to the heap. If it has become shorter, that is noticed like any other
 * change. */
static enum dtx_code source_small(struct dtx_source *s, int fd, size_t len, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	char *ptr = NULL;
	ssize_t k = 1;
	size_t n = 0;

	if (!len)
		goto out;
	ptr = dtx_mem_alloc(len, 1);
	if (!ptr)
		DTX_FAIL_MEM(err);
	while (n < len && k) {
		k = read(fd, ptr + n, len - n);
		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0)
			DTX_FAIL(err, DTX_E_INPUT_IO, "cannot read '%s': %s", s->name,
			         strerror(errno));
		n += (size_t)k;
	}
	memset(ptr + n, 0, len - n);
	rc = source_take(s, ptr, len, false, err);
	ptr = NULL;
out:
	dtx_mem_free(ptr);
	return rc;
}

/* Guards the mapping, because another program may cut the file short while it is read. */
static enum dtx_code source_guard(struct dtx_source *s, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (!s->bytes)
		goto out;
	s->bytes->guard = dtx_sigbus_guard_add(s->data, s->size);
	if (s->bytes->guard < 0) {
		rc = dtx_err_set(err, DTX_E_INPUT_IO, __FILE__, __LINE__,
		                 "'%s' is one of more than %d files of over %zu bytes", s->name,
		                 DTX_SIGBUS_GUARD_MAX, SOURCE_SMALL);
		dtx_err_hint(err, "convert them in groups first");
	}
out:
	return rc;
}

/* Waits for bytes. A pipe may be silent for ever, so this also looks for cancellation. */
static enum dtx_code source_wait(int fd, struct dtx_err *err)
{
	struct pollfd at = { .fd = fd, .events = POLLIN };
	enum dtx_code rc = DTX_OK;
	int n;

	do {
		DTX_TRY(dtx_cancel_look(err));
		n = poll(&at, 1, SOURCE_TURN_MS);
	} while (n == 0 || (n < 0 && errno == EINTR));
out:
	return rc;
}

static enum dtx_code source_read(const struct dtx_source *s, int fd, char *to, size_t n,
                                 size_t *got, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	ssize_t k;

	do {
		DTX_TRY(source_wait(fd, err));
		k = read(fd, to, n);
	} while (k < 0 && (errno == EINTR || errno == EAGAIN));
	if (k < 0)
		DTX_FAIL(err, DTX_E_INPUT_IO, "cannot read '%s': %s", s->name, strerror(errno));
	*got = (size_t)k;
out:
	return rc;
}

/* Moves what was read so far, and the rest of fd, to a temp file and maps that. */
static enum dtx_code source_spill(struct dtx_source *s, int fd, struct dtx_buf *head,
                                  struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int tmp = -1;
	size_t total = head->len, got;

	DTX_TRY(dtx_file_temp(NULL, &tmp, err));
	DTX_TRY(dtx_file_write(tmp, head->ptr, head->len, "temp file", err));
	do {
		DTX_TRY(source_read(s, fd, head->ptr, SOURCE_BLOCK, &got, err));
		DTX_TRY(dtx_file_write(tmp, head->ptr, got, "temp file", err));
		total += got;
	} while (got);
	DTX_TRY(source_map(s, tmp, total, err));
out:
	dtx_file_close(&tmp);
	return rc;
}

static enum dtx_code source_spool(struct dtx_source *s, int fd, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_buf buf = DTX_BUF_INIT(SOURCE_SPOOL_MEM + SOURCE_BLOCK);
	size_t got, len;
	char *ptr;

	do {
		if (buf.len >= SOURCE_SPOOL_MEM) {
			rc = source_spill(s, fd, &buf, err);
			goto out;
		}
		if (!dtx_buf_room(&buf, SOURCE_BLOCK))
			DTX_FAIL_MEM(err);
		DTX_TRY(source_read(s, fd, buf.ptr + buf.len, SOURCE_BLOCK, &got, err));
		buf.len += got;
	} while (got);
	len = buf.len;
	ptr = dtx_buf_steal(&buf);
	if (!ptr)
		DTX_FAIL_MEM(err);
	DTX_TRY(source_take(s, ptr, len, false, err));
out:
	dtx_buf_clear(&buf);
	return rc;
}

static enum dtx_code source_new(const char *name, struct dtx_source **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_source *s = dtx_mem_zalloc(1, sizeof(*s));

	if (!s)
		DTX_FAIL_MEM(err);
	s->data = "";
	s->limits = dtx_archive_limits_default;
	s->mtime_us = -1;
	s->fd = -1;
	s->name = dtx_mem_strdup(name);
	if (!s->name)
		DTX_FAIL_MEM(err);
	*out = s;
	s = NULL;
out:
	dtx_source_free(s);
	return rc;
}

/* Opens a named pipe without waiting. A normal open would wait for a writer and ignore Ctrl-C
 * and the time limit; later reads wait for the first byte instead. */
static enum dtx_code source_fd(const char *path, int *fd, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct stat st;
	int flags;

	if (stat(path, &st) < 0 || !S_ISFIFO(st.st_mode))
		return dtx_file_open(path, fd, err);
	*fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	flags = *fd < 0 ? -1 : fcntl(*fd, F_GETFL);
	if (flags < 0 || fcntl(*fd, F_SETFL, flags & ~O_NONBLOCK) < 0)
		DTX_FAIL(err, DTX_E_INPUT_IO, "cannot open '%s': %s", path, strerror(errno));
out:
	return rc;
}

enum dtx_code dtx_source_open(const char *path, struct dtx_source **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_source *s = NULL;
	struct stat st;
	int fd = -1;

	DTX_TRY(source_new(path, &s, err));
	if (!strcmp(path, "-")) {
		DTX_TRY(source_spool(s, STDIN_FILENO, err));
		*out = s;
		s = NULL;
		goto out;
	}
	DTX_TRY(source_fd(path, &fd, err));
	if (fstat(fd, &st) < 0)
		DTX_FAIL(err, DTX_E_INPUT_IO, "cannot stat '%s': %s", path, strerror(errno));
	if (S_ISREG(st.st_mode)) {
		s->file = true;
		s->mtime_us = source_mtime(&st);
		dtx_stat_signature_of(&st, &s->mark);
		s->noted = dtx_stat_signature_noted(fd);
		rc = (uint64_t)st.st_size <= SOURCE_SMALL
		             ? source_small(s, fd, (size_t)st.st_size, err)
		             : source_map(s, fd, (size_t)st.st_size, err);
		DTX_TRY(rc);
		if (s->bytes && s->bytes->mapped)
			DTX_TRY(source_guard(s, err));
	} else {
		DTX_TRY(source_spool(s, fd, err));
	}
	*out = s;
	s = NULL;
out:
	dtx_file_close(&fd);
	dtx_source_free(s);
	return rc;
}

enum dtx_code dtx_source_stream(const char *path, struct dtx_source **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_source *s = NULL;
	int fd = -1;

	DTX_TRY(source_new(path, &s, err));
	if (strcmp(path, "-") != 0)
		DTX_TRY(source_fd(path, &fd, err));
	else
		fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
	if (fd < 0)
		DTX_FAIL(err, DTX_E_INPUT_IO, "cannot read '%s': %s", path, strerror(errno));
	s->pipe = dtx_pipe_input_new(fd);
	fd = -1;
	if (!s->pipe)
		DTX_FAIL_MEM(err);
	*out = s;
	s = NULL;
out:
	dtx_file_close(&fd);
	dtx_source_free(s);
	return rc;
}

bool dtx_source_passes(const struct dtx_source *s)
{
	return s->pipe != NULL;
}

void dtx_source_patience(struct dtx_source *s, const atomic_bool *cancel, int64_t deadline_ns)
{
	if (!s->pipe)
		return;
	s->pipe->cancel = cancel;
	s->pipe->deadline_ns = deadline_ns;
}

enum dtx_code dtx_source_pull(struct dtx_source *s, char *to, size_t n, size_t *got,
                              struct dtx_err *err)
{
	return dtx_pipe_input_pull(s->pipe, s->name, to, n, got, err);
}

void dtx_source_stop(struct dtx_source *s)
{
	if (s->pipe)
		atomic_store_explicit(&s->pipe->stop, true, memory_order_relaxed);
}

bool dtx_source_stopped(const struct dtx_source *s)
{
	return s->pipe && atomic_load_explicit(&s->pipe->stop, memory_order_relaxed);
}

enum dtx_code dtx_source_part(const struct dtx_source *of, char *bytes, size_t len, int64_t byte,
                              int64_t line, struct dtx_source **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_source *s = NULL;
	char *own = bytes;

	DTX_TRY(source_new(of->name, &s, err));
	own = NULL;
	DTX_TRY(source_take(s, bytes, len, false, err));
	s->part = true;
	s->byte0 = byte;
	s->line0 = line;
	s->limits = of->limits;
	*out = s;
	s = NULL;
out:
	dtx_mem_free(own);
	dtx_source_free(s);
	return rc;
}

bool dtx_source_is_part(const struct dtx_source *s)
{
	return s->part;
}

int64_t dtx_source_byte0(const struct dtx_source *s)
{
	return s->byte0;
}

int64_t dtx_source_line0(const struct dtx_source *s)
{
	return s->line0;
}

enum dtx_code dtx_source_bytes(const char *name, const void *bytes, size_t len,
                               struct dtx_source **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_source *s = NULL;
	char *copy;

	DTX_TRY(source_new(name, &s, err));
	copy = dtx_mem_alloc(len, 1);
	if (!copy)
		DTX_FAIL_MEM(err);
	if (len)
		memcpy(copy, bytes, len);
	DTX_TRY(source_take(s, copy, len, false, err));
	s->direct = true;
	*out = s;
	s = NULL;
out:
	dtx_source_free(s);
	return rc;
}

enum dtx_code dtx_source_fd(const char *name, int fd, size_t size, struct dtx_source **out,
                            struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_source *s = NULL;
	void *ptr;

	DTX_TRY(source_new(name, &s, err));
	s->direct = true;
	if (size) {
		ptr = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (ptr == MAP_FAILED)
			DTX_FAIL(err, DTX_E_INPUT_IO, "cannot map '%s': %s", name, strerror(errno));
		DTX_TRY(source_take(s, ptr, size, true, err));
	}
	*out = s;
	s = NULL;
out:
	dtx_source_free(s);
	return rc;
}

void dtx_source_free(struct dtx_source *s)
{
	if (!s)
		return;
	dtx_inputhash_stop(&s->hash);
	dtx_release_pages_stop(&s->release);
	dtx_source_free(s->inner);
	dtx_pipe_input_free(s->pipe);
	dtx_owner_unref(s->owner);
	dtx_file_close(&s->fd);
	dtx_mem_free(s->name);
	dtx_mem_free(s);
}

void dtx_source_let_go(struct dtx_source *s)
{
	if (s->bytes && s->bytes->mapped && !dtx_inputhash_reads(&s->hash))
		dtx_release_pages_start(&s->release, s->bytes->ptr, s->bytes->len);
}

const char *dtx_source_name(const struct dtx_source *s)
{
	return s->name;
}

const char *dtx_source_data(const struct dtx_source *s)
{
	return s->data;
}

size_t dtx_source_size(const struct dtx_source *s)
{
	if (s->pipe)
		return atomic_load_explicit(&s->pipe->passed, memory_order_relaxed);
	return s->size;
}

int64_t dtx_source_mtime_us(const struct dtx_source *s)
{
	return s->mtime_us;
}

struct dtx_owner *dtx_source_owner(const struct dtx_source *s)
{
	return s->owner;
}

enum dtx_code dtx_source_hold(struct dtx_source *s, int fd, size_t size, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_source *inner = NULL;

	DTX_TRY(source_new(s->name, &inner, err));
	inner->direct = s->direct;
	inner->limits = s->limits;
	inner->watch = s->watch;
	DTX_TRY(source_map(inner, fd, size, err));
	s->inner = inner;
	inner = NULL;
out:
	dtx_source_free(inner);
	return rc;
}

const struct dtx_archive_limits *dtx_source_limits(const struct dtx_source *s)
{
	return &s->limits;
}

void dtx_source_watch(struct dtx_source *s, struct dtx_progress *watch)
{
	s->watch = watch;
	if (s->inner)
		s->inner->watch = watch;
}

void dtx_source_tick(const struct dtx_source *s, uint64_t done, uint64_t of)
{
	if (!s->watch)
		return;
	atomic_store_explicit(&s->watch->input, s->name, memory_order_relaxed);
	atomic_store_explicit(&s->watch->bytes, dtx_source_size(s), memory_order_relaxed);
	atomic_store_explicit(&s->watch->done, done, memory_order_relaxed);
	atomic_store_explicit(&s->watch->of, of, memory_order_relaxed);
}

void dtx_source_limit(struct dtx_source *s, const struct dtx_archive_limits *limits)
{
	s->limits = *limits;
}

struct dtx_source *dtx_source_inner(const struct dtx_source *s)
{
	return s->inner;
}

bool dtx_source_direct(const struct dtx_source *s)
{
	return s->direct;
}

/* Opens the same bytes again, read-only: whoever gets the descriptor must not write to what is
 * mapped here. */
static enum dtx_code source_reopen(const struct dtx_source *s, int from, int *fd,
                                   struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	char path[40];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", from);
	*fd = open(path, O_RDONLY | O_CLOEXEC);
	if (*fd < 0)
		DTX_FAIL_FILE(err, DTX_E_INPUT_IO, "keep", s->name);
out:
	return rc;
}

/* Copies bytes on the heap to memory that has a descriptor. */
static enum dtx_code source_copy(const struct dtx_source *s, int *fd, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int made = memfd_create("dtx-input", MFD_CLOEXEC);

	if (made < 0)
		DTX_FAIL(err, DTX_E_INPUT_IO, "cannot keep '%s' in memory: %s", s->name,
		         strerror(errno));
	DTX_TRY(dtx_file_write(made, s->data, s->size, "memory", err));
	DTX_TRY(source_reopen(s, made, fd, err));
out:
	dtx_file_close(&made);
	return rc;
}

/* Opens the mapped file by its name. */
static enum dtx_code source_again(const struct dtx_source *s, int *fd, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_file_open(s->name, fd, err));
	rc = dtx_source_unchanged(s, err);
	if (rc != DTX_OK)
		dtx_file_close(fd);
out:
	return rc;
}

enum dtx_code dtx_source_dup(const struct dtx_source *s, int *fd, struct dtx_err *err)
{
	if (s->fd >= 0)
		return source_reopen(s, s->fd, fd, err);
	if (s->bytes && s->bytes->mapped)
		return source_again(s, fd, err);
	return source_copy(s, fd, err);
}

bool dtx_source_hash_lags(const struct dtx_source *s, uint64_t done, uint64_t of)
{
	return dtx_inputhash_lags(&s->hash, done, of);
}

void dtx_source_hash_start(struct dtx_source *s, enum dtx_identity_kind kind, unsigned threads)
{
	if (!s->pipe)
		dtx_inputhash_start(&s->hash, s->data, s->size, kind, threads);
	else if (!dtx_source_size(s)) /* before any byte has come */
		dtx_identity_init(&s->pipe->identity, kind);
}

enum dtx_code dtx_source_hash_wait(struct dtx_source *s, char text[DTX_IDENTITY_TEXT],
                                   struct dtx_err *err)
{
	if (!s->pipe)
		return dtx_inputhash_wait(&s->hash, s->data, s->size, text, err);
	if (!s->hash.text[0]) /* it can be computed only once */
		dtx_identity_done(&s->pipe->identity, s->hash.text);
	memcpy(text, s->hash.text, DTX_IDENTITY_TEXT);
	return DTX_OK;
}

void dtx_source_read_elsewhere(struct dtx_source *s)
{
	if (s->bytes && s->bytes->mapped)
		atomic_store_explicit(&s->hash.release, true, memory_order_relaxed);
}

static bool source_cut(const struct dtx_source *s)
{
	return s->bytes && dtx_sigbus_guard_cut(s->bytes->guard);
}

enum dtx_code dtx_source_check_truncated(const struct dtx_source *s, enum dtx_code rc,
                                         struct dtx_err *err)
{
	return source_cut(s) ? dtx_source_unchanged(s, err) : rc;
}

enum dtx_code dtx_source_unchanged(const struct dtx_source *s, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct stat st;

	if (!s->file)
		goto out;
	if (source_cut(s) || stat(s->name, &st) < 0 || (uint64_t)st.st_size != s->size ||
	    source_mtime(&st) != s->mtime_us || st.st_ino != s->mark.ino ||
	    st.st_dev != s->mark.dev) {
		rc = dtx_err_set(err, DTX_E_INPUT_CHANGED, __FILE__, __LINE__,
		                 "'%s' was changed while it was read", s->name);
		dtx_err_hint(err, "run again when nothing writes to it");
	}
out:
	return rc;
}

const struct dtx_stat_signature *dtx_source_mark(const struct dtx_source *s)
{
	struct dtx_stat_signature now;
	struct stat st;

	if (!s->file || !s->noted || !s->size ||
	    (s->fd < 0 ? stat(s->name, &st) : fstat(s->fd, &st)) < 0)
		return NULL;
	dtx_stat_signature_of(&st, &now);
	return dtx_stat_signature_equal(&now, &s->mark) ? &s->mark : NULL;
}
