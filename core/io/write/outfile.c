/* Writes outputs, see outfile.h: a temp file that is renamed for files, direct or spooled bytes
 * for everything else. */
#include "core/io/write/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/memory/mem.h"
#include "core/io/archive/gzip_writer.h"
#include "core/io/archive/zstd.h"
#include "core/io/write/reserve.h"

#define OUTFILE_BUFFER ((size_t)256 << 10)
#define OUTFILE_PUSH   ((off_t)4 << 20)

struct dtx_outfile {
	struct dtx_outfile_info info;
	char *path, *temp; /* point to info */
	int fd;            /* the destination; -1: only `mem` */
	int dir_fd;        /* the folder of the temp file, even if it is moved; -1: none */
	bool spool;        /* bytes are kept in mem, then in spool_fd */
	bool finished, committed, made_temp;
	/* space is reserved after the end */
	bool room;
	/* an existing file must not be replaced */
	bool fresh_only;
	/* called once before the temp file is made */
	enum dtx_code (*first)(void *arg, struct dtx_err *err);
	void *first_arg;
	void (*last)(void *arg);
	void *last_arg;
	/* of a file that is changed in place; NULL: it is replaced */
	enum dtx_code (*change)(void *arg, struct dtx_err *err);
	void (*drop)(void *arg);
	void *change_arg;
	/* for a terminal; NULL: none */
	void (*show)(void *arg, const char *bytes, size_t n, struct dtx_buf *shown);
	void *show_arg;
	struct dtx_gzip_writer *gzip; /* both NULL: bytes are written as they are */
	struct dtx_zstd_writer *zstd;
	int spool_fd;
	struct dtx_buf mem;   /* write buffer, or the spool */
	struct dtx_buf *sink; /* for tests; borrowed */
	struct dtx_sha256 sha;
	struct dtx_sha256 *beside; /* another hash, */
	const void *beside_bytes;  /* and the bytes to add to it with the next write */
	size_t beside_n;
	off_t pushed, fresh; /* bytes of fd being written to disk, and bytes after them */
};

/* Adds a hint what to do. The lower level has set what happened. */
static enum dtx_code outfile_hint(const struct dtx_outfile *o, enum dtx_code rc,
                                  struct dtx_err *err)
{
	/* A reader may close stdout when it has enough, but a file must be complete. */
	if (rc == DTX_E_OUTPUT_CLOSED && dtx_file_out_fd(o->info.path) != STDOUT_FILENO) {
		rc = DTX_E_OUTPUT_IO;
		if (err)
			err->code = rc;
	}
	if (rc == DTX_E_DISK_FULL && o->info.atomic)
		dtx_err_hint(err, "free some space or write elsewhere with -o; '%s' is as it was",
		             o->info.path);
	else if (rc == DTX_E_DISK_FULL)
		dtx_err_hint(err,
		             "free some space; what was written to '%s' is not whole: with -o "
		             "FILE there is a whole file or none",
		             o->info.path);
	else if (err && err->hint[0])
		return rc;
	else if (rc == DTX_E_OUTPUT_IO && !o->info.atomic)
		dtx_err_hint(err, "the program that reads '%s' may have ended", o->info.path);
	else if (rc == DTX_E_OUTPUT_IO)
		dtx_err_hint(err,
		             "check the folder's permissions, or name a file in another folder");
	return rc;
}

/* --- targets --- */

/* The content, or NULL if memory ran out. */
static char *outfile_text(struct dtx_buf *b)
{
	if (dtx_buf_ok(b))
		return dtx_buf_steal(b);
	dtx_buf_clear(b);
	return NULL;
}

static char *outfile_temp_name(const char *real, const char *run_id)
{
	const char *base = dtx_file_basename(real);
	size_t id = strlen(run_id), dir = (size_t)(base - real), room;
	struct dtx_buf b = DTX_BUF_INIT(PATH_MAX + NAME_MAX);

	run_id += id > 8 ? id - 8 : 0;
	room = NAME_MAX - strlen(run_id) - 6;
	dtx_buf_addn(&b, real, dir);
	dtx_buf_printf(&b, ".%.*s.%s.tmp", (int)DTX_MIN(strlen(base), room), base, run_id);
	return outfile_text(&b);
}

enum dtx_code dtx_outfile_target(const char *path, const char *run_id, char **real, char **temp,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	char link[PATH_MAX];
	struct stat st;
	bool there;

	*real = *temp = NULL;
	if (!*path) {
		rc = dtx_err_set(err, DTX_E_USAGE, __FILE__, __LINE__,
		                 "the name of an output is empty");
		dtx_err_hint(err, "name a file, or '-' for stdout");
		goto out;
	}
	if (dtx_file_out_fd(path) >= 0) {
		*real = dtx_mem_strdup(dtx_file_out_fd(path) == STDOUT_FILENO ? "-" : path);
		if (!*real)
			DTX_FAIL_MEM(err);
		goto out;
	}
	if (dtx_file_planted_link(path, link)) {
		rc = dtx_err_set(err, DTX_E_OUTPUT_IO, __FILE__, __LINE__,
		                 "cannot write '%s': '%s' is a link that another user made in a "
		                 "folder that all may write to",
		                 path, link);
		dtx_err_hint(err, "name the file that is meant, or a file in another folder");
		goto out;
	}
	*real = dtx_file_real(path);
	if (!*real)
		DTX_FAIL_MEM(err);
	there = stat(*real, &st) == 0;
	if (!there && (errno == ELOOP || errno == ENAMETOOLONG)) {
		rc = dtx_err_set(err, DTX_E_OUTPUT_IO, __FILE__, __LINE__, "cannot write '%s': %s",
		                 path, strerror(errno));
		dtx_err_hint(err, "name another file");
		goto out;
	}
	if (there && S_ISDIR(st.st_mode)) {
		rc = dtx_err_set(err, DTX_E_OUTPUT_IO, __FILE__, __LINE__,
		                 "cannot write '%s': it is a folder", path);
		dtx_err_hint(err, "name a file in it: %s%sNAME.csv", path,
		             dtx_str_ends(dtx_str_of(path), DTX_STR("/")) ? "" : "/");
		goto out;
	}
	if (there && !S_ISREG(st.st_mode))
		goto out; /* a device or a pipe cannot be replaced by rename */
	*temp = outfile_temp_name(*real, run_id);
	if (!*temp)
		DTX_FAIL_MEM(err);
out:
	if (rc != DTX_OK) {
		dtx_mem_free(*real);
		*real = NULL;
	}
	return rc;
}

/* --- open --- */

/* The folder does not accept a file: it is missing, or we may not write to it. */
static enum dtx_code outfile_refused(const char *path, const char *dir, struct dtx_err *err)
{
	int why = errno;
	struct stat st;
	bool there = stat(dir, &st) == 0;

	if (there && !S_ISDIR(st.st_mode)) {
		dtx_err_set(err, DTX_E_OUTPUT_IO, __FILE__, __LINE__,
		            "cannot write '%s': '%s' is a file, not a folder", path, dir);
		dtx_err_hint(err, dtx_str_ends(dtx_str_of(path), DTX_STR("/"))
		                          ? "leave the '/' at the end out, or name a file in a "
		                            "folder"
		                          : "name a file in a folder");
		return DTX_E_OUTPUT_IO;
	}
	if (why != ENOENT && why != ENOTDIR)
		return dtx_err_set(err, DTX_E_OUTPUT_IO, __FILE__, __LINE__,
		                   "cannot write '%s': the folder '%s' takes no new file: %s", path,
		                   dir, strerror(why));
	dtx_err_set(err, DTX_E_OUTPUT_IO, __FILE__, __LINE__,
	            "cannot write '%s': there is no folder '%s'", path, dir);
	dtx_err_hint(err, "make it with: mkdir -p '%.200s', or name a file in another folder", dir);
	return DTX_E_OUTPUT_IO;
}

/* A file without write permission is kept, although rename could replace it. */
static enum dtx_code outfile_read_only(const char *path, struct dtx_err *err)
{
	struct stat st;

	if (stat(path, &st) != 0 ||
	    ((st.st_mode & 0222) && faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) == 0))
		return DTX_OK;
	dtx_err_set(err, DTX_E_OUTPUT_IO, __FILE__, __LINE__, "cannot write '%s': it is read-only",
	            path);
	dtx_err_hint(err, "name another file, or allow it with: chmod u+w '%.200s'", path);
	return DTX_E_OUTPUT_IO;
}

/* Finds out before rows are computed what would prevent the temp file. */
static enum dtx_code outfile_look(const char *path, const char *temp, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	char dir[PATH_MAX];

	dtx_file_dirname(temp, dir, sizeof(dir));
	if (faccessat(AT_FDCWD, dir, W_OK | X_OK, AT_EACCESS) < 0)
		DTX_TRY(outfile_refused(path, dir, err));
	DTX_TRY(outfile_read_only(path, err));
out:
	return rc;
}

enum dtx_code dtx_outfile_claim(const char *path, const char *name, const char *what,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_outfile seen = { .fd = -1 };

	DTX_TRY(dtx_reserve_output(path, name, what, err));
	DTX_TRY(dtx_outfile_target(path, "", &seen.path, &seen.temp, err));
	seen.info.path = seen.path;
	seen.info.atomic = seen.temp != NULL;
	if (seen.temp)
		rc = outfile_hint(&seen, outfile_look(seen.path, seen.temp, err), err);
out:
	dtx_mem_free(seen.path);
	dtx_mem_free(seen.temp);
	return rc;
}

/* Whether there is a file with content at the path. */
static bool outfile_holds(const char *path, bool *there)
{
	struct stat st;

	*there = stat(path, &st) == 0;
	return *there && S_ISREG(st.st_mode) && st.st_size > 0;
}

enum dtx_code dtx_outfile_absent(const char *path, const char *hint, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	bool there;

	if (dtx_file_out_fd(path) >= 0 || !outfile_holds(path, &there))
		return DTX_OK;
	rc = dtx_err_set(err, DTX_E_USAGE, __FILE__, __LINE__,
	                 "'%s' is there already and is not replaced", path);
	dtx_err_hint(err, "%s", hint);
	return rc;
}

void dtx_outfile_fresh(struct dtx_outfile *o)
{
	o->fresh_only = true;
}

static enum dtx_code outfile_open_temp(struct dtx_outfile *o, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	char dir[PATH_MAX];

	if (o->first)
		DTX_TRY(o->first(o->first_arg, err));
	/* Only the owner can read it until it gets its mode, because the file that it replaces
	 * may be private. */
	o->fd = open(o->temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (o->fd < 0)
		DTX_FAIL_FILE(
			err, errno == ENOSPC || errno == EDQUOT ? DTX_E_DISK_FULL : DTX_E_OUTPUT_IO,
			"make", o->temp);
	o->made_temp = true;
	dtx_file_dirname(o->temp, dir, sizeof(dir));
	o->dir_fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
out:
	return rc;
}

static bool outfile_writable(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	return flags >= 0 && (flags & O_ACCMODE) != O_RDONLY;
}

/* How much is kept in memory before a file is used: only a small part of a small budget. */
static size_t spool_room(void)
{
	size_t limit = dtx_mem_limit();

	if (!limit)
		return DTX_OUTFILE_SPOOL_MAX;
	return DTX_MIN(DTX_OUTFILE_SPOOL_MAX, DTX_MAX(limit / 16, OUTFILE_BUFFER));
}

static enum dtx_code outfile_open_fd(struct dtx_outfile *o, enum dtx_outfile_mode mode,
                                     struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (o->temp) {
		o->info.atomic = true;
		return outfile_look(o->path, o->temp, err);
	}
	o->spool = mode == DTX_OUTFILE_SPOOL;
	o->mem.max = o->spool ? spool_room() : OUTFILE_BUFFER;
	if (dtx_file_out_fd(o->path) >= 0)
		o->fd = fcntl(dtx_file_out_fd(o->path), F_DUPFD_CLOEXEC, 3);
	else
		DTX_TRY(dtx_file_open_out(o->path, &o->fd, err));
	if (!strcmp(o->path, "-") && (o->fd < 0 ? errno == EBADF : !outfile_writable(o->fd))) {
		rc = dtx_err_set(err, DTX_E_OUTPUT_IO, __FILE__, __LINE__, "stdout is closed");
		dtx_err_hint(err, "open it, or write to a file with -o FILE");
		goto out;
	}
	if (o->fd < 0)
		DTX_FAIL(err, DTX_E_OUTPUT_IO, "cannot write '%s': %s", o->path, strerror(errno));
out:
	return rc;
}

static struct dtx_outfile *outfile_new(void)
{
	struct dtx_outfile *o = dtx_mem_zalloc(1, sizeof(*o));

	if (!o)
		return NULL;
	o->fd = o->dir_fd = o->spool_fd = -1;
	dtx_buf_init(&o->mem, OUTFILE_BUFFER);
	dtx_sha256_init(&o->sha);
	return o;
}

enum dtx_code dtx_outfile_open(const char *path, const char *run_id, enum dtx_outfile_mode mode,
                               struct dtx_outfile **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_outfile *o = outfile_new();

	if (!o)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_reserve_check(path, err));
	DTX_TRY(dtx_outfile_target(path, run_id, &o->path, &o->temp, err));
	o->info.path = o->path;
	o->info.temp = o->temp;
	rc = outfile_hint(o, outfile_open_fd(o, mode, err), err);
	if (rc == DTX_OK) {
		*out = o;
		o = NULL;
	}
out:
	dtx_outfile_free(o);
	return rc;
}

void dtx_outfile_shown(struct dtx_outfile *o,
                       void (*fn)(void *arg, const char *bytes, size_t n, struct dtx_buf *shown),
                       void *arg)
{
	o->show = fn;
	o->show_arg = arg;
}

enum dtx_code dtx_outfile_await(struct dtx_outfile *o, struct dtx_err *err)
{
	return o->first ? o->first(o->first_arg, err) : DTX_OK;
}

void dtx_outfile_in_place(struct dtx_outfile *o,
                          enum dtx_code (*commit)(void *arg, struct dtx_err *err),
                          void (*drop)(void *arg), void *arg)
{
	o->change = commit;
	o->drop = drop;
	o->change_arg = arg;
	o->info.in_place = true;
	o->info.temp = NULL;
}

void dtx_outfile_last(struct dtx_outfile *o, void (*fn)(void *arg), void *arg)
{
	o->last = fn;
	o->last_arg = arg;
}

void dtx_outfile_first(struct dtx_outfile *o, enum dtx_code (*fn)(void *arg, struct dtx_err *err),
                       void *arg)
{
	o->first = fn;
	o->first_arg = arg;
}

enum dtx_code dtx_outfile_memory(struct dtx_buf *sink, struct dtx_outfile **out,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_outfile *o = outfile_new();

	if (!o)
		DTX_FAIL_MEM(err);
	o->spool = true;
	o->mem.max = DTX_OUTFILE_SPOOL_MAX;
	o->sink = sink;
	o->info.path = "-";
	*out = o;
out:
	return rc;
}

/* --- bytes --- */

/* The temp file is made at the first write, or at the end. */
static enum dtx_code outfile_ready(struct dtx_outfile *o, struct dtx_err *err)
{
	return o->temp && o->fd < 0 ? outfile_open_temp(o, err) : DTX_OK;
}

enum dtx_code dtx_outfile_prepare(struct dtx_outfile *o, size_t room, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	bool fits;

	DTX_TRY(outfile_ready(o, err));
	/* writing no bytes fails only on a device that is full */
	fits = o->temp ? fallocate(o->fd, FALLOC_FL_KEEP_SIZE, 0, (off_t)room) == 0
	               : write(o->fd, "", 0) == 0;
	o->room = o->temp && fits;
	/* a file system without reservations fails when it is written */
	if (!fits && errno != EOPNOTSUPP && errno != ENOSYS && errno != EINTR && errno != EINVAL)
		DTX_FAIL(err, dtx_file_write_code(errno), "cannot write '%s': %s", o->path,
		         strerror(errno));
out:
	return outfile_hint(o, rc, err);
}

/* Starts to write to disk while the rest is computed, so that the sync at the end has little to
 * do. Errors are reported by that sync. */
static void outfile_push(struct dtx_outfile *o, size_t n)
{
	if (!o->temp)
		return;
	o->fresh += (off_t)n;
	if (o->fresh < OUTFILE_PUSH)
		return;
	(void)sync_file_range(o->fd, o->pushed, o->fresh, SYNC_FILE_RANGE_WRITE);
	o->pushed += o->fresh;
	o->fresh = 0;
}

static enum dtx_code outfile_put(struct dtx_outfile *o, int fd, const void *bytes, size_t n,
                                 struct dtx_err *err)
{
	enum dtx_code rc = dtx_file_write(fd, bytes, n, o->info.path, err);

	if (rc == DTX_OK)
		outfile_push(o, n);
	return rc;
}

static enum dtx_code outfile_flush(struct dtx_outfile *o, int fd, struct dtx_err *err)
{
	enum dtx_code rc = outfile_put(o, fd, o->mem.ptr, o->mem.len, err);

	dtx_buf_reset(&o->mem);
	return rc;
}

/* The spool is full: moves its content, and everything that follows, to an unlinked file. */
static enum dtx_code outfile_spill(struct dtx_outfile *o, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (o->spool_fd < 0)
		DTX_TRY(dtx_file_temp(NULL, &o->spool_fd, err));
	DTX_TRY(outfile_flush(o, o->spool_fd, err));
	dtx_buf_clear(&o->mem);
	o->mem.max = OUTFILE_BUFFER;
out:
	return rc;
}

void dtx_outfile_beside(struct dtx_outfile *o, struct dtx_sha256 *sha, const void *bytes, size_t n)
{
	if (o->beside_n)
		dtx_sha256_add(o->beside, o->beside_bytes, o->beside_n);
	o->beside = sha;
	o->beside_bytes = bytes;
	o->beside_n = n;
}

static void outfile_hash(struct dtx_outfile *o, const void *bytes, size_t n)
{
	if (o->beside_n)
		dtx_sha256_add_two(&o->sha, bytes, n, o->beside, o->beside_bytes, o->beside_n);
	else
		dtx_sha256_add(&o->sha, bytes, n);
	o->beside_n = 0;
}

static enum dtx_code outfile_append(struct dtx_outfile *o, const void *bytes, size_t n,
                                    struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	bool fits;

	outfile_hash(o, bytes, n);
	o->info.size += n;
	fits = o->mem.len + n <= o->mem.max;
	if (!fits)
		DTX_TRY(outfile_ready(o, err));
	if (!fits && o->spool)
		DTX_TRY(outfile_spill(o, err));
	else if (!fits)
		DTX_TRY(outfile_flush(o, o->fd, err));
	if (n > o->mem.max) {
		DTX_TRY(outfile_put(o, o->spool ? o->spool_fd : o->fd, bytes, n, err));
		goto out;
	}
	dtx_buf_addn(&o->mem, bytes, n);
	if (!dtx_buf_ok(&o->mem))
		DTX_FAIL_MEM(err);
out:
	return rc;
}

static enum dtx_code outfile_packed(void *arg, struct dtx_str packed, struct dtx_err *err)
{
	return outfile_append(arg, packed.ptr, packed.len, err);
}

enum dtx_code dtx_outfile_pack(struct dtx_outfile *o, enum dtx_packing how, unsigned workers,
                               struct dtx_err *err)
{
	switch (how) {
	case DTX_PACK_GZIP: return dtx_gzip_writer_new(workers, outfile_packed, o, &o->gzip, err);
	case DTX_PACK_ZSTD: return dtx_zstd_writer_new(outfile_packed, o, &o->zstd, err);
	default: return DTX_OK;
	}
}

enum dtx_code dtx_outfile_write(struct dtx_outfile *o, const void *bytes, size_t n,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	DTX_ASSERT(!o->finished, err);
	if (o->gzip)
		DTX_TRY(dtx_gzip_writer_add(o->gzip, (struct dtx_str){ bytes, n }, err));
	else if (o->zstd)
		DTX_TRY(dtx_zstd_writer_add(o->zstd, (struct dtx_str){ bytes, n }, err));
	else
		DTX_TRY(outfile_append(o, bytes, n, err));
out:
	return outfile_hint(o, rc, err);
}

/* Writes what is still in memory, and waits until all is on disk. */
static enum dtx_code outfile_end(struct dtx_outfile *o, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (o->gzip)
		DTX_TRY(dtx_gzip_writer_finish(o->gzip, err));
	if (o->zstd)
		DTX_TRY(dtx_zstd_writer_finish(o->zstd, err));
	DTX_TRY(outfile_ready(o, err));
	if (!o->spool)
		DTX_TRY(outfile_flush(o, o->fd, err));
	else if (o->spool_fd >= 0)
		DTX_TRY(outfile_flush(o, o->spool_fd, err));
	if (o->last)
		o->last(o->last_arg);
	if (o->room && ftruncate(o->fd, lseek(o->fd, 0, SEEK_CUR)) < 0)
		DTX_FAIL(err, DTX_E_OUTPUT_IO, "cannot cut '%s': %s", o->temp, strerror(errno));
	if (o->temp)
		DTX_TRY(dtx_file_sync(o->fd, o->temp, err));
out:
	return rc;
}

enum dtx_code dtx_outfile_finish(struct dtx_outfile *o, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint8_t digest[DTX_SHA256_SIZE];

	DTX_ASSERT(!o->finished, err);
	if (o->change) /* a hash that no file has */
		dtx_sha256_add(&o->sha, o->path, strlen(o->path));
	else
		DTX_TRY(outfile_end(o, err));
	dtx_sha256_done(&o->sha, digest);
	dtx_hex(digest, sizeof(digest), o->info.sha);
	o->finished = true;
out:
	return outfile_hint(o, rc, err);
}

/* --- commit --- */

/* Like rename, but fails with EEXIST if a file has appeared at the path. */
static int outfile_rename_fresh(const struct dtx_outfile *o)
{
	bool there;

	if (outfile_holds(o->path, &there)) {
		errno = EEXIST;
		return -1;
	}
	if (there)
		return rename(o->temp, o->path);
	if (renameat2(AT_FDCWD, o->temp, AT_FDCWD, o->path, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -1;
	/* a file system without that feature */
	return rename(o->temp, o->path);
}

/* The permissions that the umask gives to a new file. */
static mode_t outfile_default_mode(void)
{
	mode_t mask = umask(077); /* umask() can only be read by setting it */

	umask(mask);
	return 0666 & ~mask;
}

/* An output keeps the permissions of the file that it replaces if the owner is the same, but
 * never setuid, setgid or sticky, which were meant for other content. The group's permissions
 * are kept only if the group is the same. */
static enum dtx_code outfile_set_mode(const struct dtx_outfile *o, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	mode_t mode = outfile_default_mode();
	struct stat old, made;

	if (stat(o->path, &old) == 0 && old.st_uid == geteuid()) {
		mode = old.st_mode & 0777;
		if (!fstat(o->fd, &made) && made.st_gid != old.st_gid &&
		    fchown(o->fd, (uid_t)-1, old.st_gid) < 0)
			mode &= ~(mode_t)S_IRWXG;
	}
	if (fchmod(o->fd, mode) < 0)
		DTX_FAIL(err, DTX_E_OUTPUT_IO, "cannot give '%s' its permissions: %s", o->temp,
		         strerror(errno));
out:
	return rc;
}

/* Whether the folder was moved, so that the requested path is no longer there. */
static bool outfile_dir_moved(const struct dtx_outfile *o, char dir[PATH_MAX])
{
	struct stat was, is;

	dtx_file_dirname(o->temp, dir, PATH_MAX);
	return o->dir_fd >= 0 && fstat(o->dir_fd, &was) == 0 &&
	       (stat(dir, &is) < 0 || is.st_ino != was.st_ino || is.st_dev != was.st_dev);
}

static enum dtx_code outfile_rename(struct dtx_outfile *o, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	char dir[PATH_MAX];

	/* a file that this run reads may have been moved there */
	DTX_TRY(dtx_reserve_check(o->path, err));
	if (outfile_dir_moved(o, dir)) {
		rc = dtx_err_set(
			err, DTX_E_OUTPUT_IO, __FILE__, __LINE__,
			"cannot write '%s': the folder '%s' was moved or removed meanwhile",
			o->path, dir);
		dtx_err_hint(err, "run again; nothing is left in the folder that was moved");
		goto out;
	}
	DTX_TRY(outfile_set_mode(o, err));
	if ((o->fresh_only ? outfile_rename_fresh(o) : rename(o->temp, o->path)) < 0) {
		if (o->fresh_only && errno == EEXIST) {
			rc = dtx_err_set(err, DTX_E_OUTPUT_IO, __FILE__, __LINE__,
			                 "'%s' has appeared meanwhile and is not replaced",
			                 o->path);
			dtx_err_hint(err, "name another file, or replace this one with --force");
			goto out;
		}
		DTX_FAIL(err, DTX_E_OUTPUT_IO, "cannot rename '%s' to '%s': %s", o->temp, o->path,
		         strerror(errno));
	}
	o->made_temp = false;
	DTX_TRY(dtx_file_sync_dir(o->path, err));
out:
	return rc;
}

/* The bytes without a last character that may be cut, and without a return that may belong to the
 * next line feed. */
static size_t outfile_whole(const char *bytes, size_t n)
{
	size_t end = n - 1;

	while (end && ((uint8_t)bytes[end] & 0xc0) == 0x80)
		end--;
	while (end && bytes[end - 1] == '\r')
		end--;
	return end ? end : n;
}

/* Writes a piece of the spool to its destination. */
static enum dtx_code outfile_emit(struct dtx_outfile *o, const char *bytes, size_t n,
                                  struct dtx_err *err)
{
	struct dtx_buf shown = DTX_BUF_INIT(SIZE_MAX);
	enum dtx_code rc = DTX_OK;

	if (!o->show)
		return dtx_file_write(o->fd, bytes, n, o->info.path, err);
	o->show(o->show_arg, bytes, n, &shown);
	DTX_TRY(dtx_buf_check(&shown, "the output", err));
	rc = dtx_file_write(o->fd, shown.ptr, shown.len, o->info.path, err);
out:
	dtx_buf_clear(&shown);
	return rc;
}

static enum dtx_code outfile_unspool(struct dtx_outfile *o, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint64_t left = o->info.size;
	off_t at = 0;

	if (o->spool_fd < 0)
		return outfile_emit(o, o->mem.ptr, o->mem.len, err);
	dtx_buf_reset(&o->mem);
	if (!dtx_buf_room(&o->mem, OUTFILE_BUFFER))
		DTX_FAIL_MEM(err);
	while (left) {
		ssize_t n = pread(o->spool_fd, o->mem.ptr, OUTFILE_BUFFER, at);
		size_t piece;

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			DTX_FAIL(err, DTX_E_OUTPUT_IO, "cannot read the spool of '%s' back: %s",
			         o->info.path, n ? strerror(errno) : "it was cut");
		piece = (uint64_t)n < left ? outfile_whole(o->mem.ptr, (size_t)n) : (size_t)n;
		DTX_TRY(outfile_emit(o, o->mem.ptr, piece, err));
		at += (off_t)piece;
		left -= piece;
	}
out:
	return rc;
}

enum dtx_code dtx_outfile_commit(struct dtx_outfile *o, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	DTX_ASSERT(o->finished && !o->committed, err);
	if (o->change) {
		DTX_TRY(dtx_reserve_check(o->path, err));
		DTX_TRY(o->change(o->change_arg, err));
	} else if (o->sink) {
		dtx_buf_addn(o->sink, o->mem.ptr, o->mem.len);
		DTX_TRY(dtx_buf_check(o->sink, "output", err));
	} else if (o->temp) {
		DTX_TRY(outfile_rename(o, err));
	} else if (o->spool) {
		DTX_TRY(outfile_unspool(o, err));
	}
	o->committed = true;
out:
	return outfile_hint(o, rc, err);
}

const struct dtx_outfile_info *dtx_outfile_info(const struct dtx_outfile *o)
{
	return &o->info;
}

void dtx_outfile_free(struct dtx_outfile *o)
{
	if (!o)
		return;
	if (o->drop)
		o->drop(o->change_arg);
	if (o->made_temp && o->dir_fd >= 0)
		unlinkat(o->dir_fd, dtx_file_basename(o->temp), 0);
	else if (o->made_temp)
		unlink(o->temp);
	dtx_file_close(&o->dir_fd);
	dtx_file_close(&o->fd);
	dtx_file_close(&o->spool_fd);
	dtx_gzip_writer_free(o->gzip);
	dtx_zstd_writer_free(o->zstd);
	dtx_buf_clear(&o->mem);
	dtx_mem_free(o->path);
	dtx_mem_free(o->temp);
	dtx_mem_free(o);
}
