/* Finds, makes and opens the store. */
#include "core/store/store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <time.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/memory/mem.h"
#include "core/store/ledger/ledger.h"
#include "core/store/query/query.h"
#include "core/store/ledger/recover_runs.h"

struct dtx_store {
	struct dtx_db *db;
	char *path;
	bool memory;
};

/* --- path --- */

static char *store_join(const char *a, const char *b)
{
	struct dtx_buf buf = DTX_BUF_INIT(8192);

	dtx_buf_add(&buf, a);
	dtx_buf_add(&buf, b);
	return dtx_buf_steal(&buf);
}

enum dtx_code dtx_store_resolve(const char *option, char **path, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const char *named = option ? option : getenv("DTX_STORE");
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");

	if (named && dtx_str_in_list("off,none,no,false,-", named)) {
		rc = dtx_err_set(err, DTX_E_USAGE, __FILE__, __LINE__,
		                 "the store is a file, which cannot be switched off: '%s'", named);
		dtx_err_hint(err, "--store :memory: keeps no record; a file of this name: ./%s",
		             named);
		goto out;
	}
	if (named && named[0])
		*path = !strcmp(named, ":memory:") ? dtx_mem_strdup(named)
		                                   : dtx_file_absolute(named);
	else if (state && state[0] == '/')
		*path = store_join(state, "/dtx/store.db");
	else if (home && home[0])
		*path = store_join(home, "/.local/state/dtx/store.db");
	else
		DTX_FAIL(err, DTX_E_STORE_IO, "no place for the store: HOME is not set");
	if (!*path)
		DTX_FAIL_MEM(err);
out:
	if (rc == DTX_E_STORE_IO)
		dtx_err_hint(err, "name one with --store FILE or DTX_STORE");
	return rc;
}

/* --- making a store --- */

/* Makes every missing folder above `path`, accessible to its owner only. */
static enum dtx_code store_make_dirs(char *path, struct dtx_err *err)
{
	int failed = dtx_file_make_folders(path, 0700);
	enum dtx_code rc = DTX_OK;

	if (failed)
		DTX_FAIL_NEXT(err, DTX_E_STORE_IO,
		              "name another store with --store FILE or DTX_STORE",
		              "cannot make the store's folder '%s': %s", path, strerror(failed));
out:
	return rc;
}

static enum dtx_code store_reserve(const char *path, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd < 0) {
		int failed = errno;

		rc = dtx_err_set(err, DTX_E_STORE_IO, __FILE__, __LINE__, "cannot make '%s': %s",
		                 path, dtx_file_why(failed, path));
		dtx_err_hint(err, "name another store with --store FILE or DTX_STORE");
		dtx_file_next(err, failed, path);
	}
	dtx_file_close(&fd);
	return rc;
}

/* A write-ahead log needs shared memory, which a network file system does not have. */
static bool store_on_network(const char *path)
{
	static const long magic[] = { 0x6969,     0x517B,     (long)0xFF534D42, (long)0xFE534D42,
		                      0x01021997, 0x00C36400, 0x5346414F };
	struct statfs fs;
	char dir[4096];
	size_t i;

	dtx_file_dirname(path, dir, sizeof(dir));
	if (statfs(dir, &fs) < 0)
		return false;
	for (i = 0; i < DTX_COUNT(magic); i++) {
		if ((unsigned)fs.f_type == (unsigned)magic[i])
			return true;
	}
	return false;
}

/* Makes a store in a new file beside `path`.  *fresh (dtx_mem) is its name, also on failure. */
static enum dtx_code store_make_fresh(const char *path, const char *after, char **fresh,
                                      struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_db *db = NULL;
	char suffix[32];

	snprintf(suffix, sizeof(suffix), ".%ld.new", (long)getpid());
	*fresh = store_join(path, suffix);
	if (!*fresh)
		DTX_FAIL_MEM(err);
	(void)unlink(*fresh);
	DTX_TRY(store_reserve(*fresh, err));
	DTX_TRY(dtx_db_create(*fresh, !store_on_network(path), &db, err));
	DTX_TRY(dtx_db_open(*fresh, false, false, &db, err));
	DTX_TRY(dtx_ledger_genesis(db, after, err));
	DTX_TRY(dtx_db_fold(db, err));
out:
	dtx_db_close(db);
	return rc;
}

/* A complete store appears under its name at once, so that two first runs cannot meet in a
 * half-made store: the second one uses the store of the first. */
static enum dtx_code store_make(char *path, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	char *fresh = NULL;

	DTX_TRY(store_make_dirs(path, err));
	DTX_TRY(store_make_fresh(path, NULL, &fresh, err));
	if (link(fresh, path) < 0 && errno != EEXIST)
		DTX_FAIL(err, DTX_E_STORE_IO, "cannot make '%s': %s", path, strerror(errno));
out:
	if (fresh)
		(void)unlink(fresh);
	dtx_mem_free(fresh);
	return rc;
}

static enum dtx_code store_open_memory(struct dtx_store *s, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	s->memory = true;
	DTX_TRY(dtx_db_create(s->path, false, &s->db, err));
	DTX_TRY(dtx_ledger_genesis(s->db, NULL, err));
out:
	return rc;
}

static enum dtx_code store_open_file(struct dtx_store *s, enum dtx_store_mode mode,
                                     struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	bool reads = mode == DTX_STORE_READ || mode == DTX_STORE_CHECK;
	bool suspect = mode == DTX_STORE_CHECK || mode == DTX_STORE_REPAIR;

	if (access(s->path, F_OK) < 0) {
		if (reads) {
			rc = dtx_err_set(err, DTX_E_NO_RECORD, __FILE__, __LINE__,
			                 "there is no store '%s' yet", s->path);
			dtx_err_hint(err, "the first dtx run makes it; --store FILE names another");
			goto out;
		}
		DTX_TRY(store_make(s->path, err));
	}
	DTX_TRY(dtx_db_open(s->path, reads, suspect, &s->db, err));
	/* an archive that was killed leaves the store without its log */
	if (!reads && !dtx_db_logs(s->db) && !store_on_network(s->path))
		dtx_db_log(s->db);
	if (!suspect) /* dtx_recover_runs writes to the store */
		dtx_recover_runs(s->db, s->path, reads);
out:
	return rc;
}

enum dtx_code dtx_store_open(const char *option, enum dtx_store_mode mode, struct dtx_store **out,
                             struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_store *s = dtx_mem_zalloc(1, sizeof(*s));

	if (!s)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_store_resolve(option, &s->path, err));
	if (!strcmp(s->path, ":memory:"))
		DTX_TRY(store_open_memory(s, err));
	else
		DTX_TRY(store_open_file(s, mode, err));
	*out = s;
	s = NULL;
out:
	dtx_store_free(s);
	return rc;
}

void dtx_store_free(struct dtx_store *s)
{
	if (!s)
		return;
	dtx_db_close(s->db);
	dtx_mem_free(s->path);
	dtx_mem_free(s);
}

const char *dtx_store_path(const struct dtx_store *s)
{
	return s->path;
}

bool dtx_store_is_memory(const struct dtx_store *s)
{
	return s->memory;
}

struct dtx_db *dtx_store_db(struct dtx_store *s)
{
	return s->db;
}

/* --- files that were left --- */

enum { STORE_FOREIGN_H = 1 }; /* hours after which a file of another host counts as abandoned */

/* The process that made "NAME.PID.new", or a file that SQLite has beside it. */
static long store_maker(const char *name, const char *base)
{
	static const char *const ends[] = { ".new", ".new-journal", ".new-wal", ".new-shm" };
	size_t len = strlen(base), i;
	char *end;
	long pid;

	if (strncmp(name, base, len) != 0 || name[len] != '.' || name[len + 1] < '1' ||
	    name[len + 1] > '9')
		return 0;
	pid = strtol(name + len + 1, &end, 10);
	for (i = 0; i < DTX_COUNT(ends); i++) {
		if (!strcmp(end, ends[i]))
			return pid;
	}
	return 0;
}

/* Whether the process that made the file is gone.  On a network file system it may be on another
 * host, so the file must be old as well. */
static bool store_forsaken(long pid, const struct stat *st, bool network)
{
	if (kill((pid_t)pid, 0) == 0 || errno != ESRCH)
		return false;
	return !network || time(NULL) - st->st_mtim.tv_sec > STORE_FOREIGN_H * 3600;
}

static enum dtx_code store_left_one(const char *path, bool remove, const struct stat *st,
                                    json_t *list, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (remove && unlink(path) < 0 && errno != ENOENT)
		DTX_FAIL(err, DTX_E_STORE_IO, "cannot remove '%s': %s", path, strerror(errno));
	if (json_array_append_new(
		    list, json_pack("{ss sI}", "path", path, "bytes", (json_int_t)st->st_size)) < 0)
		DTX_FAIL_MEM(err);
out:
	return rc;
}

static enum dtx_code store_left_in(const char *real, bool remove, json_t *list, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const char *base = dtx_file_basename(real);
	bool network = store_on_network(real);
	char dir[PATH_MAX], path[PATH_MAX + 256];
	struct dirent *e;
	struct stat st;
	DIR *d;

	dtx_file_dirname(real, dir, sizeof(dir));
	d = opendir(dir);
	while (d && (e = readdir(d)) != NULL) {
		long pid = store_maker(e->d_name, base);

		if (!pid)
			continue;
		snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
		if (lstat(path, &st) == 0 && S_ISREG(st.st_mode) &&
		    store_forsaken(pid, &st, network))
			DTX_TRY(store_left_one(path, remove, &st, list, err));
	}
out:
	if (d)
		closedir(d);
	return rc;
}

enum dtx_code dtx_store_left_over(const struct dtx_store *s, bool remove, json_t **out,
                                  struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	json_t *list = json_array();
	char real[PATH_MAX];

	if (!list)
		DTX_FAIL_MEM(err);
	if (!s->memory && realpath(s->path, real)) /* new stores are made beside the file, not
	                                            * beside a link to it */
		DTX_TRY(store_left_in(real, remove, list, err));
	*out = list;
	list = NULL;
out:
	json_decref(list);
	return rc;
}

/* --- archive --- */

/* The old file receives its second name, then the new file receives the first one.  No process sees
 * either step half done: in between, the store is there under both names. */
static enum dtx_code store_swap(const char *path, const char *fresh, const char *to,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	bool linked = link(path, to) == 0;

	if (!linked) {
		rc = dtx_err_set(err, DTX_E_STORE_IO, __FILE__, __LINE__,
		                 "cannot move the store to '%s': %s", to, strerror(errno));
		dtx_err_hint(err, "name a new file on the file system of the store");
		goto out;
	}
	DTX_TRY(dtx_file_sync_dir(to, err)); /* otherwise a power failure could leave the file
	                                      * without a name */
	if (rename(fresh, path) < 0)
		DTX_FAIL(err, DTX_E_STORE_IO, "cannot make '%s': %s", path, strerror(errno));
out:
	if (rc != DTX_OK && linked)
		(void)unlink(to);
	return rc;
}

enum dtx_code dtx_store_archive(struct dtx_store *s, const char *to, char *head,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	char path[PATH_MAX], *fresh = NULL; /* what is archived is the store itself, not a link to
	                                     * it */

	if (!realpath(s->path, path))
		DTX_FAIL(err, DTX_E_STORE_IO, "cannot find '%s': %s", s->path, strerror(errno));
	rc = dtx_db_begin_alone(s->db, err);
	if (rc == DTX_E_STORE_BUSY)
		dtx_err_hint(err,
		             "a run or another command has the store open: wait until it ends");
	if (rc == DTX_OK)
		rc = dtx_query_head(s, head, err);
	if (rc == DTX_OK)
		rc = store_make_fresh(path, head, &fresh, err);
	if (rc == DTX_OK)
		rc = store_swap(path, fresh, to, err);
	dtx_db_rollback(s->db);
	if (rc != DTX_OK && !store_on_network(path))
		dtx_db_log(s->db); /* after a success the file has another name, and a log would
		                    * still have the old one */
out:
	if (fresh)
		(void)unlink(fresh);
	dtx_mem_free(fresh);
	return rc;
}
