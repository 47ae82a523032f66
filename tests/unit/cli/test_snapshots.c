/* Stored inputs that cannot be restored as files: what is reported, and that no file of them is
 * left. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/run/snapshots.h"
#include "core/base/text/json.h"
#include "core/store/blob.h"
#include "tests/t.h"

static const char *snapshots_path(const char *name)
{
	static char path[400];

	snprintf(path, sizeof(path), "%s/%s", t_dir(), name);
	return path;
}

/* A store with the bytes of an input whose file is gone, and the record that names them. */
static void snapshots_make(struct dtx_store **store, json_t **record)
{
	struct dtx_err err = DTX_ERR_INIT;
	char hash[DTX_SHA256_HEX];

	T_OK(dtx_store_open(snapshots_path("store.db"), DTX_STORE_WRITE, store, &err), &err);
	T_OK(dtx_blob_put(dtx_store_db(*store), DTX_SNAPSHOTS_KIND, DTX_STR("a\n1\n"), hash, &err),
	     &err);
	*record = json_pack("{s[{ssss}]}", "inputs", "uri", snapshots_path("in.csv"), "snapshot",
	                    hash);
	T_CHECK(*record != NULL);
}

/* Restores into the folder that TMPDIR names, as a run of the program does. */
static enum dtx_code snapshots_restore(struct dtx_store *store, json_t *record, const char *dir,
                                       struct dtx_snapshots *kept, struct dtx_err *err)
{
	const char *was = getenv("TMPDIR");
	char *before = was ? strdup(was) : NULL;
	enum dtx_code rc;

	setenv("TMPDIR", dir, 1);
	rc = dtx_snapshots_restore(store, record, kept, err);
	if (before)
		setenv("TMPDIR", before, 1);
	else
		unsetenv("TMPDIR");
	free(before);
	return rc;
}

void test_snapshots_without_a_folder(void)
{
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_snapshots kept = { .n = 0 };
	struct dtx_store *store = NULL;
	json_t *record = NULL;
	char dir[320], want[400];

	snapshots_make(&store, &record);
	snprintf(dir, sizeof(dir), "%s", snapshots_path("none"));
	T_CODE(snapshots_restore(store, record, dir, &kept, &err), DTX_E_OUTPUT_IO, &err);
	snprintf(want, sizeof(want), "cannot make a folder in '%s': %s", dir, strerror(ENOENT));
	T_STR(err.msg, want);
	memset(dir, 'd', sizeof(dir) - 1);
	dir[0] = '/';
	dir[sizeof(dir) - 1] = '\0';
	errno = 0;
	T_CODE(snapshots_restore(store, record, dir, &kept, &err), DTX_E_OUTPUT_IO, &err);
	T_CHECK(strstr(err.msg, strerror(ENAMETOOLONG)));
	T_CHECK(!kept.n && !kept.dir.path[0]);
	dtx_snapshots_clear(&kept);
	json_decref(record);
	dtx_store_free(store);
	dtx_err_clear(&err);
}

/* The calls for one file fail, each of all calls that restoring makes. */
void test_snapshots_without_a_file(void)
{
	static const struct {
		const char *call;
		int error;
	} list[] = { { "open", EMFILE }, { "fstat", EIO } };
	struct dtx_store *store = NULL;
	json_t *record = NULL;

	snapshots_make(&store, &record);
	for (size_t i = 0; i < DTX_COUNT(list); i++) {
		struct dtx_err err = DTX_ERR_INIT;
		bool told = false;

		for (int nth = 0; !told && nth < 20; nth++) {
			json_t *copy = json_deep_copy(record);
			struct dtx_snapshots kept = { .n = 0 };
			char dir[sizeof(kept.dir.path)];

			t_fail_call(list[i].call, nth, list[i].error);
			told = snapshots_restore(store, copy, t_dir(), &kept, &err) ==
			               DTX_E_OUTPUT_IO &&
			       strstr(err.msg, "/0-in.csv': ") &&
			       strstr(err.msg, strerror(list[i].error));
			t_failed_call();
			snprintf(dir, sizeof(dir), "%s", kept.dir.path);
			dtx_snapshots_clear(&kept);
			T_CHECK(!dir[0] || access(dir, F_OK) < 0);
			json_decref(copy);
		}
		T_CHECK(told);
		dtx_err_clear(&err);
	}
	json_decref(record);
	dtx_store_free(store);
}

/* A folder that a killed process left is removed by the next process; one that is in use stays. */
void test_tempdir_sweeps(void)
{
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_tempdir used = { .fd = 0 }, next = { .fd = 0 };
	char left[400], file[420];
	int fd;

	setenv("TMPDIR", t_dir(), 1);
	snprintf(left, sizeof(left), "%s/dtx-inputs-left00", t_dir());
	snprintf(file, sizeof(file), "%s/0-in.csv", left);
	T_INT(mkdir(left, 0700), 0);
	fd = open(file, O_WRONLY | O_CREAT, 0600);
	T_CHECK(fd >= 0 && close(fd) == 0);
	T_OK(dtx_tempdir_make(&used, "inputs", &err), &err);
	T_CHECK(access(left, F_OK) < 0);
	T_OK(dtx_tempdir_make(&next, "inputs", &err), &err);
	T_CHECK(access(used.path, F_OK) == 0);
	dtx_tempdir_remove(&used);
	T_CHECK(!used.path[0]);
	dtx_tempdir_remove(&next);
	t_fail_call("open", 0, EMFILE);
	T_CODE(dtx_tempdir_make(&next, "inputs", &err), DTX_E_OUTPUT_IO, &err);
	T_CHECK(t_failed_call() && strstr(err.msg, "cannot lock the folder '"));
	T_CHECK(!next.path[0]);
	unsetenv("TMPDIR");
	dtx_err_clear(&err);
}
