/* The store: hash chain, derived tables, records of killed runs, many writers. */
#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/thread/cancel.h"
#include "core/base/file.h"
#include "core/base/text/json.h"
#include "core/store/db.h"
#include "core/store/dbtable.h"
#include "core/store/cache/gc.h"
#include "core/store/query/query.h"
#include "core/store/ledger/ledger.h"
#include "core/store/ledger/rebuild.h"
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

static enum dtx_code start_run(struct dtx_store *s, json_t *targets, struct dtx_record **out,
                               struct dtx_err *err)
{
	char id[DTX_RUN_ID];
	static char word[3][12] = { "dtx", "run", "util.json" };
	char *argv[] = { word[0], word[1], word[2], NULL };
	struct dtx_run_info info = { .command = "run",
		                     .plan = DTX_STR("{\"steps\":[]}"),
		                     .plan_name = "util",
		                     .plan_file = "util.json",
		                     .nsteps = 5,
		                     .argc = 3,
		                     .argv = argv,
		                     .targets = targets };

	dtx_run_id_new(id);
	info.run_id = id;
	return dtx_record_start(s, &info, out, err);
}

#define INPUT_ROW                                                                                  \
	"{\"alias\":\"main\",\"uri\":\"/d/"                                                        \
	"input.xlsx\",\"label\":\"input.xlsx!Q1\",\"sha\":\"ab12c07e00\","                         \
	"\"bytes\":10,\"mtime_us\":5,\"reader\":{\"format\":\"xlsx\"},\"rows\":5000,\"columns\":"  \
	"7}"
#define STEP_ROW                                                                                   \
	"{\"op\":\"filter\",\"rows_in\":5000,\"rows_out\":4488,"                                   \
	"\"detail\":{\"counts\":{\"false\":509,\"null\":3}},\"dur_us\":12}"

/* A whole typed run, with or without an end. */
static enum dtx_code whole_run(struct dtx_store *s, char id[DTX_RUN_ID], struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_record *r = NULL;

	DTX_TRY(start_run(s, NULL, &r, err));
	if (id)
		snprintf(id, DTX_RUN_ID, "%s", dtx_record_id(r));
	DTX_TRY(dtx_record_add(r, DTX_PART_INPUT, json_loads(INPUT_ROW, 0, NULL), err));
	DTX_TRY(dtx_record_add(r, DTX_PART_STEP, json_loads(STEP_ROW, 0, NULL), err));
	DTX_TRY(dtx_record_add(
		r, DTX_PART_CHECK,
		json_pack("{s:s,s:s,s:s}", "name", "rows", "severity", "error", "status", "pass"),
		err));
	DTX_TRY(dtx_record_add(
		r, DTX_PART_LINEAGE,
		json_pack("{s:i,s:s,s:s,s:s,s:s,s:s}", "output", 0, "out_col", "utilization",
	                  "formula", "hours / (headcount * 40 * weeks)", "composed",
	                  "sum(hours) / (headcount * 40 * count_distinct(week)), by region",
	                  "class", "exact", "in_col", "hours"),
		err));
	DTX_TRY(dtx_record_output(r,
	                          json_pack("[{s:s,s:b,s:s,s:i,s:i,s:i}]", "path", "/d/out.csv",
	                                    "atomic", 1, "sha", "3f9c41d2aa", "bytes", 128, "rows",
	                                    4, "columns", 4),
	                          err));
	DTX_TRY(dtx_record_end(r, "ok", NULL, 0,
	                       json_pack("{s:i,s:i}", "threads", 2, "peak_bytes", 31000000), err));
out:
	dtx_record_free(r);
	return rc;
}

static struct dtx_store *open_store(const char *name)
{
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_store *s = NULL;

	T_OK(dtx_store_open(in_dir(name), DTX_STORE_WRITE, &s, &err), &err);
	return s;
}

static size_t findings(struct dtx_store *s, const char *first)
{
	struct dtx_verify_opts opts = { .since = 0 };
	struct dtx_err err = DTX_ERR_INIT;
	json_t *list = NULL;
	size_t n;

	T_OK(dtx_verify(s, &opts, &list, &err), &err);
	n = json_array_size(list);
	if (first)
		T_STR(dtx_json_text(json_array_get(list, 0), "finding", "none"), first);
	json_decref(list);
	return n;
}

static void tamper(const char *path, const char *sql)
{
	sqlite3 *db = NULL;
	char *message = NULL;

	T_INT(sqlite3_open(path, &db), SQLITE_OK);
	T_INT(sqlite3_exec(db, sql, NULL, NULL, &message), SQLITE_OK);
	if (message)
		printf("# %s\n", message);
	sqlite3_free(message);
	sqlite3_close(db);
}

void test_store_made_private(void)
{
	struct dtx_store *s = open_store("a/b/store.db");
	struct stat st;

	T_INT(stat(in_dir("a/b/store.db"), &st), 0);
	T_INT(st.st_mode & 0777, 0600);
	T_INT(stat(in_dir("a/b"), &st), 0);
	T_INT(st.st_mode & 0777, 0700);
	T_INT(findings(s, NULL), 0);
	dtx_store_free(s);
}

void test_store_resolve(void)
{
	struct dtx_err err = DTX_ERR_INIT;
	char *path = NULL;

	setenv("DTX_STORE", "/x/env.db", 1);
	T_OK(dtx_store_resolve("/x/opt.db", &path, &err), &err);
	T_STR(path, "/x/opt.db");
	dtx_mem_free(path);
	T_OK(dtx_store_resolve(NULL, &path, &err), &err);
	T_STR(path, "/x/env.db");
	dtx_mem_free(path);
	unsetenv("DTX_STORE");
	setenv("XDG_STATE_HOME", "/x/state", 1);
	T_OK(dtx_store_resolve(NULL, &path, &err), &err);
	T_STR(path, "/x/state/dtx/store.db");
	dtx_mem_free(path);
	unsetenv("XDG_STATE_HOME");
}

void test_store_refuses_strangers(void)
{
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_store *s = NULL;

	T_CODE(dtx_store_open(in_dir("none.db"), DTX_STORE_READ, &s, &err), DTX_E_NO_RECORD, &err);
	tamper(in_dir("other.db"), "CREATE TABLE x(a)");
	T_CODE(dtx_store_open(in_dir("other.db"), DTX_STORE_WRITE, &s, &err), DTX_E_STORE_IO, &err);
	tamper(in_dir("new.db"), "PRAGMA application_id=0x44545831; PRAGMA user_version=9");
	T_CODE(dtx_store_open(in_dir("new.db"), DTX_STORE_WRITE, &s, &err), DTX_E_STORE_IO, &err);
	T_CHECK(err.hint[0] != 0);
}

/* The rows that dtx_db_insert fills are the columns of the schema. */
void test_store_columns_match_schema(void)
{
	struct dtx_store *s = open_store("store.db");
	struct dtx_dbtable_column column[DTX_DBTABLE_COLUMNS];
	sqlite3 *db = NULL;
	sqlite3_stmt *st = NULL;
	size_t t, n, i;

	T_INT(sqlite3_open(in_dir("store.db"), &db), SQLITE_OK);
	for (t = 0; t < DTX_TAB_COUNT; t++) {
		char sql[128];

		snprintf(sql, sizeof(sql), "SELECT name,type FROM pragma_table_info('%s')",
		         dtx_dbtable_name((enum dtx_sql_table)t));
		T_INT(sqlite3_prepare_v2(db, sql, -1, &st, NULL), SQLITE_OK);
		n = dtx_dbtable_columns((enum dtx_sql_table)t, column);
		for (i = 0; i < n; i++) {
			T_INT(sqlite3_step(st), SQLITE_ROW);
			T_STR((const char *)sqlite3_column_text(st, 0), column[i].name);
			T_STR((const char *)sqlite3_column_text(st, 1),
			      column[i].integer ? "INTEGER" : "TEXT");
		}
		T_INT(sqlite3_step(st), SQLITE_DONE);
		sqlite3_finalize(st);
	}
	sqlite3_close(db);
	dtx_store_free(s);
}

/* The version of the time zone data is the first line of its source, if the system has it. */
void test_store_env_names_the_zones(void)
{
	FILE *f = fopen("/usr/share/zoneinfo/tzdata.zi", "r");
	json_t *env = dtx_env_describe();
	char line[64] = "";

	T_CHECK(env != NULL);
	if (!f || !fgets(line, sizeof(line), f)) {
		T_CHECK(json_is_null(json_object_get(env, "tzdata")));
	} else {
		line[strcspn(line, "\n")] = 0;
		T_CHECK(!strncmp(line, "# version ", 10));
		T_STR(json_string_value(json_object_get(env, "tzdata")), line + 10);
	}
	if (f)
		fclose(f);
	json_decref(env);
}

void test_store_record_and_screen(void)
{
	struct dtx_store *s = open_store("store.db");
	struct dtx_buf screen = DTX_BUF_INIT(1 << 20);
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_found found;
	char id[DTX_RUN_ID], want[2000], day[32];
	json_t *record = NULL;
	const json_t *run;
	char *text;

	T_OK(whole_run(s, id, &err), &err);
	T_OK(dtx_query_find(s, id + 30, NULL, NULL, NULL, &found, &err), &err);
	T_STR(found.run_id, id);
	T_OK(dtx_query_record(s, id, true, &found, &record, &err), &err);
	run = json_object_get(record, "run");
	T_STR(dtx_json_text(run, "path", ""), "typed");
	T_CHECK(json_is_object(json_object_get(json_object_get(run, "plan"), "plan")));
	dtx_query_screen(record, &screen);
	text = strstr(dtx_buf_text(&screen), "ok  ");
	T_CHECK(text != NULL);
	snprintf(day, sizeof(day), "%.20s", strstr(dtx_buf_text(&screen), "run         ") + 22);
	snprintf(want, sizeof(want),
	         "out.csv     4 rows x 4 columns  128 bytes  sha256 3f9c41d2\n"
	         "run         %s  %s  ok  %.3f s  user %s  plan util.json %.8s\n"
	         "how         TYPED  5 of 5 steps; no Python, no model\n"
	         "from        main  input.xlsx!Q1  5,000 rows x 7 columns  sha256 ab12c07e\n"
	         "rows        5,000 > filter 4,488 (509 false, 3 null)\n"
	         "formula     utilization = hours / (headcount * 40 * weeks)  [exact]\n"
	         "            = sum(hours) / (headcount * 40 * count_distinct(week)), by region\n"
	         "checks      1 pass, 0 warn, 0 fail\n"
	         "disclosed   nothing\n"
	         "ran in      dtx " DTX_VERSION ", 2 threads, 31 MB\n"
	         "more        dtx why %s --row 1 --col utilization; dtx replay %s; dtx verify %s\n",
	         dtx_run_id_short(id), day,
	         (double)(dtx_json_int(run, "end_us", 0) - dtx_json_int(run, "start_us", 0)) / 1e6,
	         dtx_json_text(run, "user", ""), dtx_json_text(run, "plan_hash", ""),
	         dtx_run_id_short(id), dtx_run_id_short(id), dtx_run_id_short(id));
	T_STR(dtx_buf_text(&screen), want);
	json_decref(record);
	dtx_buf_clear(&screen);
	dtx_store_free(s);
}

void test_store_rebuild_equals_live(void)
{
	struct dtx_store *s = open_store("store.db");
	struct dtx_err err = DTX_ERR_INIT;
	json_t *list = json_array();

	T_OK(whole_run(s, NULL, &err), &err);
	T_OK(whole_run(s, NULL, &err), &err);
	T_OK(dtx_rebuild_compare(s, list, &err), &err);
	T_INT(json_array_size(list), 0);
	json_decref(list);
	tamper(in_dir("store.db"), "UPDATE run_step SET rows_out=1");
	T_INT(findings(s, "index_differs"), 1);
	T_OK(dtx_rebuild(s, &err), &err);
	T_INT(findings(s, NULL), 0);
	tamper(in_dir("store.db"),
	       "DROP TABLE run_step; DROP INDEX output_sha; DROP TRIGGER ledger_u;"
	       "CREATE VIEW \"a \"\"b\" AS SELECT 1");
	T_INT(findings(s, "schema_differs"), 5); /* also the table's own index */
	T_OK(dtx_rebuild(s, &err), &err);
	T_INT(findings(s, NULL), 0);
	dtx_store_free(s);
}

/* One change each; `drop` first removes the triggers, as a forger would. */
void test_store_tamper_is_found(void)
{
	static const struct {
		const char *sql, *finding;
	} row[] = {
		{ "UPDATE ledger SET ts_us=ts_us+1 WHERE seq=3", "chain_broken" },
		{ "UPDATE ledger SET kind='run.End' WHERE seq=4", "chain_broken" },
		{ "UPDATE ledger SET run_id='x' WHERE seq=2", "chain_broken" },
		{ "UPDATE ledger SET body=replace(body,'4488','4489')", "chain_broken" },
		{ "UPDATE ledger SET prev=zeroblob(32) WHERE seq=3", "chain_broken" },
		{ "UPDATE ledger SET hash=zeroblob(32) WHERE seq=4", "chain_broken" },
		{ "DELETE FROM ledger WHERE seq=3", "chain_broken" },
		{ "DELETE FROM ledger", "chain_broken" },
		{ "UPDATE blob SET data=x'00' WHERE kind='plan'", "blob_mismatch" },
		{ "UPDATE blob SET enc='rawx' WHERE kind='plan'", "blob_mismatch" },
		{ "UPDATE blob SET kind='input' WHERE kind='plan'", "blob_mismatch" },
		{ "UPDATE blob SET kind='code' WHERE kind='env'", "blob_mismatch" },
		{ "UPDATE blob SET data=NULL, purged_us=1 WHERE kind='plan'", "blob_mismatch" },
		{ "DELETE FROM blob WHERE kind='plan'", "blob_mismatch" },
		{ "DELETE FROM run", "index_differs" },
		{ "UPDATE run_input SET sha='x'", "index_differs" },
		{ "UPDATE run_output SET rows=7", "index_differs" },
		{ "DELETE FROM run_check", "index_differs" },
		{ "UPDATE col_lineage SET formula='0'", "index_differs" },
		{ "UPDATE ledger SET kind=kind || char(0) WHERE seq=4", "chain_broken" },
		{ "UPDATE blob SET hash='0' || substr(hash, 2) WHERE kind='plan'",
		  "blob_mismatch" },
		{ "INSERT INTO blob SELECT replace(hash,'0','1'),kind,1,'raw',x'00',NULL FROM blob"
		  " LIMIT 1",
		  "blob_mismatch" },
		/* keys of the derived tables */
		{ "UPDATE run SET run_id='x'", "index_differs" },
		{ "UPDATE run_input SET ord=ord+1", "index_differs" },
		{ "UPDATE run_output SET ord=ord+1", "index_differs" },
		{ "UPDATE run_step SET idx=idx+1", "index_differs" },
		{ "UPDATE run_check SET idx=idx+1", "index_differs" },
		{ "INSERT INTO run_region(run_id, idx) VALUES('x', 0)", "index_differs" },
		{ "INSERT INTO author_call(call_id) VALUES('x')", "index_differs" },
		{ "INSERT INTO file_seen VALUES('x', 'y', 'z')", "index_differs" },
		{ "INSERT INTO lease VALUES('run:x', 'x', 1, 'b', 1)", "index_differs" },
		{ "INSERT INTO col_lineage SELECT * FROM col_lineage LIMIT 1", "index_differs" },
		/* definitions */
		{ "DROP INDEX output_sha", "schema_differs" },
		{ "DROP INDEX run_seq; CREATE INDEX run_seq ON run(seq_end)", "schema_differs" },
		{ "CREATE INDEX more ON run(host)", "schema_differs" },
		{ "CREATE TRIGGER more AFTER INSERT ON ledger BEGIN DELETE FROM run_check; END",
		  "schema_differs" },
		{ "CREATE TRIGGER ledger_u BEFORE UPDATE ON ledger BEGIN SELECT 1; END;"
		  "CREATE TRIGGER ledger_d BEFORE DELETE ON ledger BEGIN SELECT 1; END",
		  "schema_differs" },
		{ "CREATE VIEW more AS SELECT * FROM run", "schema_differs" },
		{ "CREATE TABLE more(a)", "schema_differs" },
		{ "ALTER TABLE run ADD COLUMN more TEXT", "schema_differs" },
		{ "ALTER TABLE ledger ADD COLUMN more TEXT", "schema_differs" },
		{ "ALTER TABLE run_check RENAME COLUMN col TO more", "schema_differs" },
		{ "DROP TABLE run; CREATE VIEW run AS SELECT 1 AS run_id", "schema_differs" },
		{ "ANALYZE", "schema_differs" },
	};
	struct dtx_err err = DTX_ERR_INIT;
	size_t i;

	for (i = 0; i < DTX_COUNT(row); i++) {
		char name[32];
		struct dtx_store *s;

		snprintf(name, sizeof(name), "t%zu.db", i);
		s = open_store(name);
		T_OK(whole_run(s, NULL, &err), &err);
		tamper(in_dir(name), "DROP TRIGGER ledger_u; DROP TRIGGER ledger_d");
		tamper(in_dir(name), row[i].sql);
		if (!strstr(row[i].sql, "ledger_u"))
			tamper(in_dir(name), DTX_SQL_LEDGER_TRIGGERS);
		T_CHECK(findings(s, row[i].finding) >= 1);
		dtx_store_free(s);
	}
}

void test_store_append_only(void)
{
	struct dtx_store *s = open_store("store.db");
	sqlite3 *db = NULL;

	T_INT(sqlite3_open(in_dir("store.db"), &db), SQLITE_OK);
	T_CHECK(sqlite3_exec(db, "UPDATE ledger SET body='{}'", NULL, NULL, NULL) != SQLITE_OK);
	T_CHECK(sqlite3_exec(db, "DELETE FROM ledger", NULL, NULL, NULL) != SQLITE_OK);
	sqlite3_close(db);
	dtx_store_free(s);
}

static enum dtx_code name_event(void *arg, const struct dtx_event *event, struct dtx_err *err)
{
	(void)err;
	dtx_buf_printf(arg, " %s", event->kind);
	return DTX_OK;
}

/* Events that wait are written with the next one, in order; a disk that refuses is an error. */
void test_store_events_wait_for_the_next(void)
{
	struct dtx_store *s = open_store("store.db");
	struct dtx_buf kinds = DTX_BUF_INIT(4096);
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_record *r = NULL;
	struct dtx_run_info info = { .command = "exec", .with_next = true };
	char id[DTX_RUN_ID];
	int i;

	dtx_run_id_new(id);
	info.run_id = id;
	T_OK(dtx_record_start(s, &info, &r, &err), &err);
	T_OK(dtx_ledger_walk(dtx_store_db(s), 1, name_event, &kinds, &err), &err);
	T_STR(dtx_buf_text(&kinds), " genesis");
	T_OK(dtx_record_event_soon(r, "exec.start", json_object(), &err), &err);
	T_OK(dtx_record_sync(r, &err), &err);
	t_fail_call("fdatasync", 0, EIO);
	T_CODE(dtx_record_sync(r, &err), DTX_E_STORE_IO, &err);
	T_CHECK(t_failed_call());
	for (i = 0; i < 5; i++) /* one more than may wait */
		T_OK(dtx_record_event_next(r, "jail.end", json_pack("{s:i}", "idx", i), &err),
		     &err);
	T_OK(dtx_record_end(r, "ok", NULL, 0, NULL, &err), &err);
	dtx_buf_reset(&kinds);
	T_OK(dtx_ledger_walk(dtx_store_db(s), 1, name_event, &kinds, &err), &err);
	T_STR(dtx_buf_text(&kinds), " genesis run.start exec.start jail.end jail.end jail.end "
	                            "jail.end jail.end run.end");
	T_INT(findings(s, NULL), 0);
	dtx_record_free(r);
	dtx_store_free(s);
	dtx_buf_clear(&kinds);
	dtx_err_clear(&err);
}

void test_store_head(void)
{
	struct dtx_store *s = open_store("store.db");
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_verify_opts opts = { .skip_index = true };
	char head[DTX_HEAD_LINE];
	json_t *list = NULL;

	T_OK(whole_run(s, NULL, &err), &err);
	T_OK(dtx_query_head(s, head, &err), &err);
	opts.head = head;
	T_OK(dtx_verify(s, &opts, &list, &err), &err);
	T_INT(json_array_size(list), 0);
	json_decref(list);
	/* After its tail is cut off the chain is still valid; only the head that was kept elsewhere
	 * shows it. */
	tamper(in_dir("store.db"), "DROP TRIGGER ledger_d; DELETE FROM ledger WHERE seq=4");
	T_OK(dtx_verify(s, &opts, &list, &err), &err);
	T_STR(dtx_json_text(json_array_get(list, 0), "finding", ""), "truncated");
	json_decref(list);
	opts.head = "dtx1:x";
	T_CODE(dtx_verify(s, &opts, &list, &err), DTX_E_USAGE, &err);
	dtx_store_free(s);
}

/* A store without a log cannot tell that another process has it open. */
void test_store_archive_behind_a_writer(void)
{
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_store *s, *late;
	char head[DTX_HEAD_LINE], id[DTX_RUN_ID];

	t_network(true);
	s = open_store("store.db");
	late = open_store("store.db");
	T_OK(dtx_store_archive(s, in_dir("away.db"), head, &err), &err);
	T_CODE(whole_run(late, id, &err), DTX_E_STORE_BUSY, &err);
	T_CHECK(strstr(err.msg, "was moved away in the meantime"));
	dtx_err_clear(&err);
	dtx_store_free(late);
	dtx_store_free(s);
	s = open_store("store.db");
	T_INT(findings(s, NULL), 0);
	dtx_store_free(s);
	s = open_store("away.db");
	T_INT(findings(s, NULL), 0);
	dtx_store_free(s);
	t_network(false);
}

/* Files that a process which is gone was making are named and removed; those of a living process
 * are not.  The store has its log again if a process was killed while there was none. */
void test_store_left_over(void)
{
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_store *s = open_store("store.db");
	json_t *list = NULL;
	char mine[64];
	static const char *const names[] = { "store.db.999999999.new", "store.db.999999999.new-wal",
		                             "store.db.x.new", "other.db.999999999.new" };

	dtx_store_free(s);
	tamper(in_dir("store.db"), "PRAGMA journal_mode=DELETE");
	snprintf(mine, sizeof(mine), "store.db.%ld.new", (long)getpid());
	for (size_t i = 0; i <= DTX_COUNT(names); i++) {
		FILE *f = fopen(in_dir(i < DTX_COUNT(names) ? names[i] : mine), "w");

		T_CHECK(f && fclose(f) == 0);
	}
	s = open_store("store.db");
	T_CHECK(dtx_db_logs(dtx_store_db(s)));
	for (int remove = 0; remove < 2; remove++) {
		T_OK(dtx_store_left_over(s, remove, &list, &err), &err);
		T_INT(json_array_size(list), 2);
		json_decref(list);
	}
	T_OK(dtx_store_left_over(s, true, &list, &err), &err);
	T_INT(json_array_size(list), 0);
	json_decref(list);
	T_CHECK(access(in_dir(mine), F_OK) == 0 && access(in_dir(names[2]), F_OK) == 0 &&
	        access(in_dir(names[3]), F_OK) == 0 && access(in_dir(names[0]), F_OK) < 0);
	dtx_store_free(s);
	t_network(true);
	{
		FILE *f = fopen(in_dir(names[0]), "w");

		T_CHECK(f && fclose(f) == 0);
	}
	s = open_store("store.db");
	T_OK(dtx_store_left_over(s, true, &list, &err), &err); /* a process of another host may be
	                                                        * using it */
	T_INT(json_array_size(list), 0);
	json_decref(list);
	dtx_store_free(s);
	t_network(false);
}

/* A file that cannot be removed is reported, and nothing is reported as removed. */
void test_store_left_over_that_stays(void)
{
	static const char left[] = "store.db.999999999.new";
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_store *s = open_store("store.db");
	json_t *list = NULL;
	FILE *f = fopen(in_dir(left), "w");

	T_CHECK(f && fclose(f) == 0);
	t_fail_call("unlink", 0, EPERM);
	T_CODE(dtx_store_left_over(s, true, &list, &err), DTX_E_STORE_IO, &err);
	T_CHECK(t_failed_call() && !list);
	T_CHECK(!strncmp(err.msg, "cannot remove '", 15) && strstr(err.msg, left) &&
	        strstr(err.msg, "': Operation not permitted"));
	dtx_err_clear(&err);
	dtx_store_free(s);
}

void test_store_large_body_and_blobs(void)
{
	struct dtx_store *s = open_store("store.db");
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_record *r = NULL;
	char *big = dtx_mem_alloc(100001, 1), hash[DTX_SHA256_HEX], id[DTX_RUN_ID];
	json_t *record = NULL, *body;
	struct dtx_buf got = DTX_BUF_INIT(1 << 20);
	sqlite3 *db = NULL;
	sqlite3_stmt *st = NULL;

	memset(big, 'x', 100000);
	big[100000] = '\0';
	T_OK(start_run(s, NULL, &r, &err), &err);
	snprintf(id, sizeof(id), "%s", dtx_record_id(r));
	T_OK(dtx_record_blob(r, "code", DTX_STR("same"), hash, &err), &err);
	T_OK(dtx_record_blob(r, "code", DTX_STR("same"), hash, &err), &err);
	T_OK(dtx_record_event(r, "run.trigger",
	                      json_pack("{s:s, s:s}", "note", big, "code_hash", hash), &err),
	     &err);
	T_OK(dtx_record_end(r, "ok", NULL, 0, NULL, &err), &err);
	dtx_record_free(r);
	T_OK(dtx_query_record(s, id, false, NULL, &record, &err), &err);
	body = json_object_get(json_array_get(json_object_get(record, "events"), 1), "body");
	T_INT(strlen(dtx_json_text(body, "note", "")), 100000);
	T_OK(dtx_query_blob(s, hash, &got, &err), &err);
	T_STR(dtx_buf_text(&got), "same");
	T_INT(sqlite3_open(in_dir("store.db"), &db), SQLITE_OK);
	T_INT(sqlite3_prepare_v2(db, "SELECT count(*) FROM blob WHERE kind='code'", -1, &st, NULL),
	      SQLITE_OK);
	T_INT(sqlite3_step(st), SQLITE_ROW);
	T_INT(sqlite3_column_int(st, 0), 1);
	sqlite3_finalize(st);
	T_INT(findings(s, NULL), 0);
	/* under another kind, a body of the ledger could be purged */
	T_INT(sqlite3_exec(db, "UPDATE blob SET kind='input' WHERE kind='body'", NULL, NULL, NULL),
	      SQLITE_OK);
	T_INT(findings(s, "blob_mismatch"), 1);
	sqlite3_close(db);
	json_decref(record);
	dtx_buf_clear(&got);
	dtx_mem_free(big);
	dtx_store_free(s);
}

/* Bytes that take long to write: a run that is cancelled while they are written leaves none of
 * them, and its end is recorded. */
void test_store_write_is_cancelled(void)
{
	static atomic_bool stop;
	const struct dtx_cancel user = { &stop, 0 }, *before;
	struct dtx_store *s = open_store("store.db");
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_record *r = NULL;
	struct dtx_buf got = DTX_BUF_INIT(1 << 20);
	char *big = dtx_mem_zalloc(1 << 20, 1), hash[DTX_SHA256_HEX];

	T_OK(start_run(s, NULL, &r, &err), &err);
	T_OK(dtx_record_blob(r, "input", (struct dtx_str){ big, 1 << 20 }, hash, &err), &err);
	T_OK(dtx_record_add(r, DTX_PART_INPUT, json_loads(INPUT_ROW, 0, NULL), &err), &err);
	atomic_store(&stop, true);
	before = dtx_cancel_set(&user);
	T_CODE(dtx_record_output(r, json_pack("[{s:s}]", "path", "/d/out.csv"), &err),
	       DTX_E_CANCELLED, &err);
	dtx_err_clear(&err);
	dtx_record_discard(r);
	T_OK(dtx_record_end(r, "cancelled", NULL, 130, NULL, &err), &err);
	dtx_cancel_set(before);
	dtx_record_free(r);
	T_CODE(dtx_query_blob(s, hash, &got, &err), DTX_E_NO_RECORD, &err);
	dtx_err_clear(&err);
	T_INT(findings(s, NULL), 0);
	dtx_buf_clear(&got);
	dtx_mem_free(big);
	dtx_store_free(s);
}

static void put_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	T_CHECK(f && fputs(text, f) >= 0);
	if (f)
		fclose(f);
}

void test_store_find(void)
{
	struct dtx_store *s = open_store("store.db");
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_found found;
	struct dtx_record *r = NULL;
	char id[DTX_RUN_ID], cwd[4096], sha[DTX_SHA256_HEX];
	const char *path = in_dir("result.csv");

	dtx_sha256_hex("a\n1\n", 4, sha);
	T_OK(whole_run(s, NULL, &err), &err);
	T_OK(start_run(s, NULL, &r, &err), &err);
	snprintf(id, sizeof(id), "%s", dtx_record_id(r));
	T_OK(dtx_record_output(r, json_pack("[{s:s,s:s}]", "path", path, "sha", sha), &err), &err);
	T_OK(dtx_record_end(r, "ok", NULL, 0, NULL, &err), &err);
	dtx_record_free(r);
	T_CHECK(getcwd(cwd, sizeof(cwd)) != NULL);
	T_OK(dtx_query_find(s, NULL, cwd, NULL, NULL, &found, &err), &err);
	T_STR(found.run_id, id);
	T_CODE(dtx_query_find(s, NULL, "/nowhere", NULL, NULL, &found, &err), DTX_E_NO_RECORD,
	       &err);
	put_file(in_dir("copy.csv"), "a\n1\n");
	T_OK(dtx_query_find(s, in_dir("copy.csv"), cwd, NULL, NULL, &found, &err), &err);
	T_STR(found.run_id, id);
	T_CHECK(!found.file_changed && found.output == 0);
	put_file(path, "a\n2\n");
	T_OK(dtx_query_find(s, path, cwd, NULL, NULL, &found, &err), &err);
	T_STR(found.run_id, id);
	T_CHECK(found.file_changed);
	unlink(path);
	T_OK(dtx_query_find(s, path, cwd, NULL, NULL, &found, &err), &err);
	T_CHECK(found.file_changed);
	T_CODE(dtx_query_find(s, in_dir("other.csv"), cwd, NULL, NULL, &found, &err),
	       DTX_E_NO_RECORD, &err);
	T_CODE(dtx_query_find(s, "abc", cwd, NULL, NULL, &found, &err), DTX_E_NO_RECORD, &err);
	T_CHECK(err.hint[0] != 0);
	dtx_store_free(s);
}

/* Many processes start at the same time without a store: it is made once and the chain is valid. */
void test_store_many_writers(void)
{
	enum { PROCESSES = 8, RUNS = 20 };
	struct dtx_log_filter all = { 0, "ok", NULL, NULL, 0 };
	const char *store = in_dir("store.db");
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_store *s = NULL;
	json_t *log = NULL;
	pid_t pid[PROCESSES];
	int i, k, how;

	fflush(stdout);
	for (i = 0; i < PROCESSES; i++) {
		pid[i] = fork();
		if (pid[i])
			continue;
		for (k = 0; k < RUNS; k++) {
			if (dtx_store_open(store, DTX_STORE_WRITE, &s, &err) != DTX_OK ||
			    whole_run(s, NULL, &err) != DTX_OK) {
				fprintf(stderr, "# %s\n", err.msg);
				_exit(1);
			}
			dtx_store_free(s);
		}
		_exit(0);
	}
	for (i = 0; i < PROCESSES; i++)
		T_CHECK(waitpid(pid[i], &how, 0) == pid[i] && WIFEXITED(how) && !WEXITSTATUS(how));
	T_OK(dtx_store_open(store, DTX_STORE_READ, &s, &err), &err);
	T_OK(dtx_query_log(s, &all, &log, &err), &err);
	T_INT(json_array_size(log), PROCESSES * RUNS);
	T_INT(findings(s, NULL), 0);
	json_decref(log);
	dtx_store_free(s);
}

/* --- every allocation fails --- */

static enum dtx_code memory_run(void)
{
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_store *s = NULL;
	struct dtx_record *r = NULL;
	json_t *record = NULL;
	char id[DTX_RUN_ID];
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_store_open(":memory:", DTX_STORE_WRITE, &s, &err));
	DTX_TRY(whole_run(s, id, &err));
	DTX_TRY(dtx_query_record(s, id, true, NULL, &record, &err));
out:
	json_decref(record);
	dtx_record_free(r);
	dtx_store_free(s);
	return rc;
}

void test_store_alloc_fails(void)
{
	T_EVERY_ALLOC_FAILS(memory_run());
}

/* --- what may be purged --- */

/* A run that sent a prompt, and the effect of purging everything. */
static enum dtx_code prompt_run(struct dtx_store *s, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_record *r = NULL;
	char hash[DTX_SHA256_HEX];

	DTX_TRY(start_run(s, NULL, &r, err));
	DTX_TRY(dtx_record_blob(r, "prompt", DTX_STR("what was asked"), hash, err));
	DTX_TRY(dtx_record_event(r, "author.sent", json_pack("{s:s}", "prompt_hash", hash), err));
	DTX_TRY(dtx_record_end(r, "ok", NULL, 0, NULL, err));
out:
	dtx_record_free(r);
	return rc;
}

static enum dtx_code memory_gc(json_t **report, json_t **stats, bool verify)
{
	struct dtx_gc_opts opts = { .kinds = "prompt", .apply = true };
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_store *s = NULL;
	enum dtx_code rc = DTX_OK;

	*report = *stats = NULL;
	DTX_TRY(dtx_store_open(":memory:", DTX_STORE_WRITE, &s, &err));
	DTX_TRY(prompt_run(s, &err));
	DTX_TRY(dtx_gc(s, &opts, report, &err));
	DTX_TRY(dtx_store_stats(s, stats, &err));
	if (verify)
		T_INT(findings(s, NULL), 0);
out:
	if (rc != DTX_OK) {
		json_decref(*report);
		*report = NULL;
	}
	dtx_store_free(s);
	return rc;
}

static enum dtx_code memory_gc_once(void)
{
	json_t *report, *stats;
	enum dtx_code rc = memory_gc(&report, &stats, false);

	json_decref(report);
	json_decref(stats);
	return rc;
}

void test_store_gc(void)
{
	json_t *report, *stats, *kind;

	T_OK(memory_gc(&report, &stats, true), NULL);
	T_INT(dtx_json_int(report, "blobs", 0), 1);
	T_INT(dtx_json_int(report, "bytes", 0), 14);
	kind = json_array_get(json_object_get(stats, "blobs"), 2);
	T_STR(dtx_json_text(kind, "kind", ""), "prompt");
	T_INT(dtx_json_int(kind, "purged", 0), 1);
	T_INT(dtx_json_int(kind, "bytes", -1), 0);
	json_decref(report);
	json_decref(stats);
	T_EVERY_ALLOC_FAILS(memory_gc_once());
}

/* Live code, and what the last runs name, stays. */
void test_store_gc_keeps(void)
{
	struct dtx_gc_opts opts = { .keep_last = 1, .apply = true };
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_store *s = NULL;
	json_t *report = NULL;

	T_OK(dtx_store_open(":memory:", DTX_STORE_WRITE, &s, &err), &err);
	T_OK(prompt_run(s, &err), &err);
	T_OK(dtx_gc(s, &opts, &report, &err), &err);
	T_INT(dtx_json_int(report, "blobs", -1), 0);
	json_decref(report);
	opts.keep_last = 0;
	opts.older_us = (int64_t)3600 * 1000000;
	T_OK(dtx_gc(s, &opts, &report, &err), &err);
	T_INT(dtx_json_int(report, "blobs", -1), 0);
	json_decref(report);
	opts.older_us = 0;
	opts.max_bytes = 1 << 20;
	T_OK(dtx_gc(s, &opts, &report, &err), &err);
	T_INT(dtx_json_int(report, "blobs", -1), 0);
	json_decref(report);
	opts.kinds = "plan";
	T_CODE(dtx_gc(s, &opts, &report, &err), DTX_E_USAGE, &err);
	dtx_err_clear(&err);
	dtx_store_free(s);
}

void test_store_memory_keeps_nothing(void)
{
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_store *s = NULL;

	T_OK(dtx_store_open(":memory:", DTX_STORE_WRITE, &s, &err), &err);
	T_CHECK(dtx_store_is_memory(s));
	T_OK(whole_run(s, NULL, &err), &err);
	T_INT(findings(s, NULL), 0);
	dtx_store_free(s);
}
