/* System calls on files.  Only this file handles EINTR, short reads and writes, and the texts of
 * errno. */
#include "core/base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "core/base/thread/cancel.h"
#include "core/base/memory/mem.h"

#define FILE_TURN_MS 100
#define FILE_CHUNK   ((size_t)64 << 10)
#define FILE_LINKS   40 /* the limit that Linux itself has */

bool dtx_file_passes(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

static bool folder_gone(int code, const char *path)
{
	char *cwd = code == ENOENT && path[0] != '/' ? getcwd(NULL, 0) : NULL;
	bool gone = code == ENOENT && path[0] != '/' && !cwd && errno == ENOENT;

	free(cwd);
	return gone;
}

const char *dtx_file_why(int code, const char *path)
{
	return folder_gone(code, path) ? "the current folder was deleted" : strerror(code);
}

void dtx_file_next(struct dtx_err *err, int code, const char *path)
{
	struct rlimit limit;

	if (folder_gone(code, path))
		dtx_err_hint(err, "change to a folder that there is, or name files from / on");
	else if (code == EMFILE && !getrlimit(RLIMIT_NOFILE, &limit))
		dtx_err_hint(err, "%llu files may be open here: ulimit -n 256 allows more",
		             (unsigned long long)limit.rlim_cur);
}

enum dtx_code dtx_file_open(const char *path, int *fd, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct stat st;
	int got;

	do
		got = open(path, O_RDONLY | O_CLOEXEC);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		DTX_FAIL_FILE(err,
		              errno == ENOENT || errno == ENOTDIR ? DTX_E_INPUT_NOT_FOUND
		                                                  : DTX_E_INPUT_IO,
		              "open", path);
	if (fstat(got, &st) < 0)
		DTX_FAIL(err, DTX_E_INPUT_IO, "cannot stat '%s': %s", path, strerror(errno));
	if (S_ISDIR(st.st_mode))
		DTX_FAIL_NEXT(err, DTX_E_INPUT_IO, "name a file in it, or several: 'folder/*.csv'",
		              "'%s' is a directory", path);
	*fd = got;
	got = -1;
out:
	if (rc == DTX_E_INPUT_NOT_FOUND)
		dtx_file_suggest(path, err);
	dtx_file_close(&got);
	return rc;
}

static size_t file_hint(int fd)
{
	struct stat st;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size <= 0)
		return FILE_CHUNK;
	return (size_t)st.st_size + 1; /* one more byte, so that read() reports the end of the file
	                                * without a larger buffer */
}

static enum dtx_code file_slurp_fd(int fd, const char *name, struct dtx_buf *out,
                                   struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t want = file_hint(fd);

	for (;;) {
		size_t left = out->max - out->len;
		char probe;
		ssize_t n;

		if (!left) { /* The buffer is full, which is fine only at the end of the file. */
			n = read(fd, &probe, 1);
			if (n > 0)
				DTX_FAIL(err, DTX_E_CELL_LIMIT, "'%s' is larger than %zu bytes",
				         name, out->max);
		} else {
			if (!dtx_buf_room(out, DTX_MIN(want, left)))
				DTX_FAIL_MEM(err);
			n = read(fd, out->ptr + out->len, DTX_MIN(want, left));
		}
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			DTX_FAIL(err, DTX_E_INPUT_IO, "cannot read '%s': %s", name,
			         strerror(errno));
		if (n == 0)
			break;
		out->len += (size_t)n;
		want = FILE_CHUNK;
	}
out:
	return rc;
}

enum dtx_code dtx_file_slurp(const char *path, struct dtx_buf *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int fd = -1;

	if (!strcmp(path, "-"))
		return file_slurp_fd(STDIN_FILENO, "stdin", out, err);
	DTX_TRY(dtx_file_open(path, &fd, err));
	DTX_TRY(file_slurp_fd(fd, path, out, err));
out:
	dtx_file_close(&fd);
	return rc;
}

enum dtx_code dtx_file_write_code(int error)
{
	if (error == EPIPE)
		return DTX_E_OUTPUT_CLOSED;
	return error == ENOSPC || error == EDQUOT || error == EFBIG ? DTX_E_DISK_FULL
	                                                            : DTX_E_OUTPUT_IO;
}

/* A pipe, a terminal or a socket may accept nothing for any length of time.  A thread that can be
 * cancelled must not block in write(); it waits in short turns instead and looks at its cancel flag
 * after each. */
static bool file_may_wait(int fd)
{
	struct stat st;

	return dtx_cancel_get() && fstat(fd, &st) == 0 &&
	       (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode) || isatty(fd));
}

static ssize_t file_write_waiting(int fd, const char *p, size_t n)
{
	struct iovec piece = { (void *)(uintptr_t)p, n };
	ssize_t done = pwritev2(fd, &piece, 1, -1, RWF_NOWAIT);
	struct pollfd ready = { .fd = fd, .events = POLLOUT };
	bool waits;

	if (done >= 0 || (errno != EAGAIN && errno != EOPNOTSUPP))
		return done;
	waits = errno == EOPNOTSUPP; /* A terminal has no RWF_NOWAIT.  When poll() reports it as
	                              * ready, a write of PIPE_BUF bytes does not block. */
	if (poll(&ready, 1, FILE_TURN_MS) == 1 && waits)
		return write(fd, p, DTX_MIN(n, (size_t)PIPE_BUF));
	errno = EINTR;
	return -1;
}

static bool is_fifo(const char *path)
{
	struct stat st;
	int before = errno;
	bool fifo = stat(path, &st) == 0 && S_ISFIFO(st.st_mode);

	errno = before;
	return fifo;
}

enum dtx_code dtx_file_open_out(const char *path, int *fd, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct timespec turn = { 0, FILE_TURN_MS * 1000000L };
	int got, flags;

	/* open() fails with ENXIO for a FIFO that has no reader yet, and for every socket. */
	while ((got = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC)) < 0 && errno == ENXIO &&
	       is_fifo(path)) {
		DTX_TRY(dtx_cancel_look(err));
		nanosleep(&turn, NULL);
	}
	flags = got < 0 ? -1 : fcntl(got, F_GETFL);
	if (flags < 0 || fcntl(got, F_SETFL, flags & ~O_NONBLOCK) < 0) {
		rc = dtx_err_set(err, DTX_E_OUTPUT_IO, __FILE__, __LINE__, "cannot write '%s': %s",
		                 path, strerror(errno));
		dtx_err_hint(err, "write to a file, a FIFO or stdout");
		dtx_file_close(&got);
		goto out;
	}
	*fd = got;
out:
	return rc;
}

enum dtx_code dtx_file_write(int fd, const void *bytes, size_t n, const char *name,
                             struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const char *p = bytes;
	bool waits = n && file_may_wait(fd);

	while (n) {
		ssize_t done = waits ? file_write_waiting(fd, p, n) : write(fd, p, n);

		if (done < 0 && errno == EINTR) {
			DTX_TRY(dtx_cancel_look(err));
			continue;
		}
		if (done < 0)
			DTX_FAIL(err, dtx_file_write_code(errno), "cannot write '%s': %s", name,
			         strerror(errno));
		p += done;
		n -= (size_t)done;
	}
out:
	return rc;
}

enum dtx_code dtx_file_append(const char *path, int *fd, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int got;

	/* a FIFO without a reader lets it wait */
	while ((got = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666)) < 0 &&
	       errno == EINTR)
		DTX_TRY(dtx_cancel_look(err));
	if (got < 0)
		DTX_FAIL(err, dtx_file_write_code(errno), "cannot open '%s' to add to it: %s", path,
		         strerror(errno));
	*fd = got;
out:
	return rc;
}

enum dtx_code dtx_file_temp(const char *dir, int *fd, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	char *path = NULL;
	size_t size;
	int got;

	if (!dir)
		dir = getenv("TMPDIR");
	if (!dir || !dir[0])
		dir = "/tmp";
	got = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (got < 0) { /* file systems without O_TMPFILE */
		size = strlen(dir) + sizeof("/dtx-XXXXXX");
		path = dtx_mem_alloc(size, 1);
		if (!path)
			DTX_FAIL_MEM(err);
		snprintf(path, size, "%s/dtx-XXXXXX", dir);
		got = mkostemp(path, O_CLOEXEC);
		if (got < 0)
			DTX_FAIL(err, dtx_file_write_code(errno),
			         "cannot make a temporary file in '%s': %s", dir, strerror(errno));
		unlink(path);
	}
	*fd = got;
out:
	dtx_mem_free(path);
	return rc;
}

enum dtx_code dtx_file_sync(int fd, const char *name, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int failed;

	do
		failed = fsync(fd);
	while (failed && errno == EINTR);
	/* Pipes and special files cannot be synced: they fail with EINVAL or EROFS. */
	if (failed && errno != EINVAL && errno != EROFS)
		DTX_FAIL(err, dtx_file_write_code(errno), "cannot sync '%s': %s", name,
		         strerror(errno));
out:
	return rc;
}

enum dtx_code dtx_file_sync_dir(const char *path, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t size = strlen(path) + 2;
	char *dir = dtx_mem_alloc(size, 1);
	int fd = -1;

	if (!dir)
		DTX_FAIL_MEM(err);
	dtx_file_dirname(path, dir, size);
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		DTX_FAIL_FILE(err, DTX_E_OUTPUT_IO, "open", dir);
	DTX_TRY(dtx_file_sync(fd, dir, err));
out:
	dtx_file_close(&fd);
	dtx_mem_free(dir);
	return rc;
}

int dtx_file_make_folders(char *path, unsigned mode)
{
	for (char *p = strchr(path + 1, '/'); p; p = strchr(p + 1, '/')) {
		*p = '\0';
		if (mkdir(path, mode) && errno != EEXIST)
			return errno;
		*p = '/';
	}
	return 0;
}

void dtx_file_dirname(const char *path, char *out, size_t size)
{
	const char *slash = strrchr(path, '/');
	struct dtx_str dir = DTX_STR(".");

	if (slash == path)
		dir = DTX_STR("/");
	else if (slash)
		dir = (struct dtx_str){ path, (size_t)(slash - path) };
	dtx_str_copy(out, size, dir);
}

const char *dtx_file_basename(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Whether the suffix is that of a packed file. */
static bool is_suffix_packed(const char *from, const char *end)
{
	return (end - from == 3 && !strncasecmp(from, ".gz", 3)) ||
	       (end - from == 4 && !strncasecmp(from, ".zst", 4));
}

/* The last dot before `end`; NULL if none, or if it is the first character of the name. */
static const char *dot_before(const char *name, const char *end)
{
	const char *dot = end;

	while (dot > name && *--dot != '.') {
	}
	return dot > name ? dot : NULL;
}

void dtx_file_suffix(const char *path, char out[DTX_FILE_SUFFIX])
{
	const char *name = dtx_file_basename(path), *end = name + strlen(name);
	const char *dot = dot_before(name, end), *inner;
	size_t n = 0;

	if (dot && is_suffix_packed(dot, end)) {
		inner = dot_before(name, dot);
		end = inner ? dot : end;
		dot = inner ? inner : dot;
	}
	if (dot && end - dot <= DTX_FILE_SUFFIX) {
		for (dot++; dot < end; dot++)
			out[n++] = (char)(*dot >= 'A' && *dot <= 'Z' ? *dot | 32 : *dot);
	}
	out[n] = '\0';
}

char *dtx_file_absolute(const char *path)
{
	char *cwd, *out;
	size_t size;

	if (path[0] == '/')
		return dtx_mem_strdup(path);
	cwd = getcwd(NULL, 0);
	if (!cwd)
		return dtx_mem_strdup(path);
	size = strlen(cwd) + strlen(path) + 2;
	out = dtx_mem_alloc(size, 1);
	if (out)
		snprintf(out, size, "%s/%s", cwd, path);
	free(cwd);
	return out;
}

/* Such a name may stand for a file that other programs write to at the same time (`>>log`).  dtx
 * writes to the open descriptor, because a new file under that name would replace what the others
 * wrote. */
int dtx_file_out_fd(const char *path)
{
	static const char *const folder[] = { "/dev/fd/", "/proc/self/fd/" };
	const char *digits = NULL;
	int fd = 0;

	if (!strcmp(path, "-") || !strcmp(path, "/dev/stdout"))
		return STDOUT_FILENO;
	if (!strcmp(path, "/dev/stderr"))
		return STDERR_FILENO;
	for (size_t i = 0; i < DTX_COUNT(folder); i++)
		if (!strncmp(path, folder[i], strlen(folder[i])))
			digits = path + strlen(folder[i]);
	if (!digits || !*digits || strlen(digits) > 6)
		return -1;
	for (; *digits >= '0' && *digits <= '9'; digits++)
		fd = fd * 10 + (*digits - '0');
	return *digits ? -1 : fd;
}

/* Replaces path by the target of the link that it is.  False if it is not a link or the target does
 * not fit. */
static bool file_follow(char *path)
{
	char to[PATH_MAX], next[2 * PATH_MAX];
	ssize_t n = readlink(path, to, sizeof(to) - 1);
	int dir = (int)(dtx_file_basename(path) - path);

	if (n <= 0)
		return false;
	to[n] = '\0';
	snprintf(next, sizeof(next), "%.*s%s", to[0] == '/' ? 0 : dir, path, to);
	if (strlen(next) >= PATH_MAX)
		return false;
	memcpy(path, next, strlen(next) + 1);
	return true;
}

/* The same rule as the kernel's fs.protected_symlinks.  The kernel applies it only when it follows
 * the link itself, which it does not do when dtx renames a new file to the place of the link's
 * target. */
bool dtx_file_planted_link(const char *given, char link[PATH_MAX])
{
	const mode_t shared = S_ISVTX | S_IWOTH;
	char dir[PATH_MAX];
	struct stat in, at;

	dtx_str_copy(link, PATH_MAX, dtx_str_of(given));
	for (int links = 0; links < FILE_LINKS; links++) {
		dtx_file_dirname(link, dir, sizeof(dir));
		if (lstat(link, &at) || !S_ISLNK(at.st_mode))
			return false;
		if (!stat(dir, &in) && (in.st_mode & shared) == shared && at.st_uid != geteuid() &&
		    at.st_uid != in.st_uid)
			return true;
		if (!file_follow(link))
			return false;
	}
	return false;
}

char *dtx_file_real(const char *given)
{
	char real[PATH_MAX], dir[PATH_MAX], path[PATH_MAX];
	struct dtx_buf b = DTX_BUF_INIT(PATH_MAX + NAME_MAX);

	if (realpath(given, real))
		return dtx_mem_strdup(real);
	dtx_str_copy(path, sizeof(path), dtx_str_of(given));
	for (int links = 0; links < FILE_LINKS && file_follow(path);)
		links++;
	dtx_file_dirname(path, dir, sizeof(dir));
	if (!realpath(dir, real))
		return dtx_file_absolute(path);
	dtx_buf_printf(&b, "%s/%s", !strcmp(real, "/") ? "" : real, dtx_file_basename(path));
	if (dtx_buf_ok(&b))
		return dtx_buf_steal(&b);
	dtx_buf_clear(&b);
	return NULL;
}

void dtx_file_close(int *fd)
{
	int saved = errno;

	if (*fd >= 0)
		close(*fd);
	*fd = -1;
	errno = saved;
}

/* Suggestions for a file that was not found: similar names in the same folder. */

#define SIMILAR_FILES 512 /* at most this many names of the folder are compared */
#define SIMILAR_NAME  64  /* size of one entry of did_you_mean */

struct similar_names {
	char text[SIMILAR_FILES][SIMILAR_NAME];
	const char *name[SIMILAR_FILES];
	size_t n;
};

static int similar_cmp(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void similar_read(DIR *dir, struct similar_names *names)
{
	const struct dirent *entry;

	while (names->n < SIMILAR_FILES && (entry = readdir(dir)) != NULL) {
		if (entry->d_name[0] == '.' || strlen(entry->d_name) >= SIMILAR_NAME)
			continue;
		names->name[names->n] = names->text[names->n];
		dtx_str_copy(names->text[names->n++], SIMILAR_NAME, dtx_str_of(entry->d_name));
	}
	/* readdir returns names in no fixed order; sorting makes the suggestions repeatable. */
	qsort(names->name, names->n, sizeof(*names->name), similar_cmp);
}

void dtx_file_suggest(const char *path, struct dtx_err *err)
{
	struct similar_names *names;
	char folder[PATH_MAX];
	DIR *dir;

	if (!err || err->hint[0])
		return;
	dtx_file_dirname(path, folder, sizeof(folder));
	dir = opendir(folder);
	if (!dir) {
		dtx_err_hint(err, "there is no folder '%.200s'", folder);
		return;
	}
	names = dtx_mem_zalloc(1, sizeof(*names));
	if (names) {
		similar_read(dir, names);
		dtx_err_suggest(err, dtx_file_basename(path), names->name, names->n);
	}
	dtx_mem_free(names);
	closedir(dir);
}
