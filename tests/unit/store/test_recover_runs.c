/* Runs that are killed: the output is the old or the new one, complete, and the record says
 * which. */
#include "core/store/ledger/recover_runs.h"

#include <dirent.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/log.h"
#include "core/io/write/outfile.h"
#include "core/store/query/query.h"
#include "core/store/ledger/verify.h"
#include "tests/t.h"

static const char *in_dir(const char *name)
{
	static char path[4][512];
	static int turn;

	turn = (turn + 1) % 4;
	snprintf(path[turn], sizeof(path[turn]), "%s/%s", t_dir(), name);
	return path[turn];
}

static void put_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	T_CHECK(f && fputs(text, f) >= 0);
	if (f)
		fclose(f);
}

/* Checks that verify finds nothing. */
static void check_sound(struct dtx_store *s)
{
	struct dtx_verify_opts opts = { .since = 0 };
	struct dtx_err err = DTX_ERR_INIT;
	json_t *list = NULL;

	T_OK(dtx_verify(s, &opts, &list, &err), &err);
	T_INT(json_array_size(list), 0);
	json_decref(list);
}

/* --- killed at every numbered action --- */

enum kill_point {
	KILL_AFTER_START,
	KILL_HALF_TEMP,
	KILL_AFTER_FINISH,
	KILL_AFTER_RECORD,
	KILL_AFTER_RENAME,
	KILL_NEVER
};

static void kill_here(enum kill_point now, enum kill_point at)
{
	if (now == at)
		kill(getpid(), SIGKILL);
}

static int killed_child(const char *store, const char *path, enum kill_point at)
{
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_store *s = NULL;
	struct dtx_record *r = NULL;
	struct dtx_outfile *o = NULL;
	struct dtx_run_info info = { .command = "run" };
	const struct dtx_outfile_info *oi;
	char id[DTX_RUN_ID], *real = NULL, *temp = NULL;
	enum dtx_code rc = DTX_OK;

	dtx_run_id_new(id);
	info.run_id = id;
	DTX_TRY(dtx_store_open(store, DTX_STORE_WRITE, &s, &err));
	DTX_TRY(dtx_outfile_target(path, id, &real, &temp, &err));
	info.targets = json_pack("[{s:s,s:s}]", "path", real, "temp", temp);
	DTX_TRY(dtx_record_start(s, &info, &r, &err));
	kill_here(KILL_AFTER_START, at);
	DTX_TRY(dtx_outfile_open(path, id, DTX_OUTFILE_STREAM, &o, &err));
	DTX_TRY(dtx_outfile_write(o, "new text\n", 9, &err));
	kill_here(KILL_HALF_TEMP, at);
	DTX_TRY(dtx_outfile_finish(o, &err));
	kill_here(KILL_AFTER_FINISH, at);
	oi = dtx_outfile_info(o);
	DTX_TRY(dtx_record_output(r,
	                          json_pack("[{s:s,s:s,s:b,s:s,s:I}]", "path", oi->path, "temp",
	                                    oi->temp, "atomic", oi->atomic, "sha", oi->sha, "bytes",
	                                    (json_int_t)oi->size),
	                          &err));
	kill_here(KILL_AFTER_RECORD, at);
	DTX_TRY(dtx_outfile_commit(o, &err));
	kill_here(KILL_AFTER_RENAME, at);
	DTX_TRY(dtx_record_end(r, "ok", NULL, 0, NULL, &err));
out:
	dtx_mem_free(real);
	dtx_mem_free(temp);
	dtx_outfile_free(o);
	dtx_record_free(r);
	dtx_store_free(s);
	return rc == DTX_OK ? 0 : 1;
}

static int count_hidden(void)
{
	DIR *d = opendir(t_dir());
	const struct dirent *e;
	int n = 0;

	while (d && (e = readdir(d)))
		n += e->d_name[0] == '.' && strcmp(e->d_name, ".") && strcmp(e->d_name, "..");
	if (d)
		closedir(d);
	return n;
}

static json_t *last_record(struct dtx_store *s)
{
	struct dtx_log_filter all = { 0, NULL, NULL, NULL, 1 };
	struct dtx_err err = DTX_ERR_INIT;
	json_t *log = NULL, *record = NULL;

	T_OK(dtx_query_log(s, &all, &log, &err), &err);
	T_OK(dtx_query_record(s, dtx_json_text(json_array_get(log, 0), "run_id", ""), false, NULL,
	                      &record, &err),
	     &err);
	json_decref(log);
	return record;
}

static void check_text(const char *path, const char *want)
{
	struct dtx_buf b = DTX_BUF_INIT(1 << 16);

	T_OK(dtx_file_slurp(path, &b, NULL), NULL);
	T_STR(dtx_buf_text(&b), want);
	dtx_buf_clear(&b);
}

static void kill_once(enum kill_point at, bool replace, const char *content, const char *status,
                      const char *judged)
{
	const char *path = in_dir("out.csv"), *store = in_dir("store.db");
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_store *s = NULL;
	json_t *record;
	const json_t *run;
	int how = 0;
	pid_t pid;

	put_file(path, "old\n");
	fflush(stdout);
	pid = fork();
	if (pid == 0)
		_exit(killed_child(store, path, at));
	T_CHECK(waitpid(pid, &how, 0) == pid);
	T_CHECK(at == KILL_NEVER ? WIFEXITED(how) && !WEXITSTATUS(how)
	                         : WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL);
	if (replace)
		put_file(path, "someone else\n");
	T_OK(dtx_store_open(store, DTX_STORE_READ, &s, &err), &err);
	check_text(path, content);
	record = last_record(s);
	run = json_object_get(record, "run");
	T_STR(dtx_json_text(run, "status", ""), status);
	if (judged)
		T_STR(dtx_json_text(json_array_get(json_object_get(run, "judged"), 0), "output",
		                    ""),
		      judged);
	T_INT(count_hidden(), 0);
	check_sound(s);
	json_decref(record);
	dtx_store_free(s);
}

void test_recover_runs_killed_anywhere(void)
{
	kill_once(KILL_AFTER_START, false, "old\n", "abandoned", "old");
	kill_once(KILL_HALF_TEMP, false, "old\n", "abandoned", "old");
	kill_once(KILL_AFTER_FINISH, false, "old\n", "abandoned", "old");
	kill_once(KILL_AFTER_RECORD, false, "old\n", "abandoned", "old");
	kill_once(KILL_AFTER_RENAME, false, "new text\n", "ok", "new");
	kill_once(KILL_AFTER_RENAME, true, "someone else\n", "abandoned", "replaced");
	kill_once(KILL_NEVER, false, "new text\n", "ok", NULL);
}

/* Killed by the parent at an arbitrary time, many times. */
void test_recover_runs_killed_at_random(void)
{
	const char *path = in_dir("out.csv"), *store = in_dir("store.db");
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_store *s = NULL;
	int i;

	T_OK(dtx_store_open(store, DTX_STORE_WRITE, &s, &err), &err);
	dtx_store_free(s);
	for (i = 0; i < 40; i++) {
		struct dtx_buf b = DTX_BUF_INIT(1 << 16);
		int64_t instant;
		json_t *record;
		const char *judged, *status;
		bool is_new;
		pid_t pid;

		put_file(path, "old\n");
		fflush(stdout);
		pid = fork();
		if (pid == 0)
			_exit(killed_child(store, path, KILL_NEVER));
		instant = dtx_now_ns() + 60000 * i;
		while (dtx_now_ns() < instant)
			;
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		T_OK(dtx_store_open(store, DTX_STORE_WRITE, &s, &err), &err);
		T_OK(dtx_file_slurp(path, &b, &err), &err);
		is_new = !strcmp(dtx_buf_text(&b), "new text\n");
		T_CHECK(is_new || !strcmp(dtx_buf_text(&b), "old\n"));
		if (is_new) {
			record = last_record(s);
			status = dtx_json_text(json_object_get(record, "run"), "status", "");
			judged = dtx_json_text(
				json_array_get(
					json_object_get(json_object_get(record, "run"), "judged"),
					0),
				"output", "new");
			T_STR(status, "ok");
			T_STR(judged, "new");
			json_decref(record);
		}
		T_INT(count_hidden(), 0);
		dtx_buf_clear(&b);
		dtx_store_free(s);
	}
	T_OK(dtx_store_open(store, DTX_STORE_WRITE, &s, &err), &err);
	check_sound(s);
	dtx_store_free(s);
}
