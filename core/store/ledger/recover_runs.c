/* Closes the records of runs that were killed: see recover_runs.h. */
#include "core/store/ledger/recover_runs.h"

#include <stdio.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/log.h"
#include "core/base/memory/mem.h"
#include "core/store/ledger/ledger.h"
#include "core/store/ledger/process.h"
#include "core/store/ledger/record.h"

void dtx_lease_key(const char *run_id, char key[DTX_LEASE_KEY])
{
	snprintf(key, DTX_LEASE_KEY, "run:%s", run_id);
}

struct sweep_lease {
	char run_id[DTX_RUN_ID];
	struct dtx_process owner;
};

/* What the ledger knows about a run. */
struct sweep_run {
	char run_id[DTX_RUN_ID];
	json_t *start, *output; /* bodies of these events */
	bool ended;
};

static enum dtx_code sweep_note(void *arg, const struct dtx_event *event, struct dtx_err *err)
{
	struct sweep_run *run = arg;

	(void)err;
	if (!strcmp(event->kind, "run.start"))
		run->start = json_incref((json_t *)(uintptr_t)event->body);
	else if (!strcmp(event->kind, "run.output") && !run->output)
		run->output = json_incref((json_t *)(uintptr_t)event->body);
	else if (!strcmp(event->kind, "run.end"))
		run->ended = true;
	return DTX_OK;
}

/* Removes a temporary file if its name is one that this run would have made. */
static bool sweep_temp(const struct sweep_run *run, const char *temp)
{
	const char *base;
	char want[32];

	if (!temp || !temp[0])
		return false;
	base = dtx_file_basename(temp);
	snprintf(want, sizeof(want), ".%s.tmp", dtx_run_id_short(run->run_id));
	if (base[0] != '.' || !dtx_str_ends(dtx_str_of(base), dtx_str_of(want)))
		return false;
	return unlink(temp) == 0;
}

static bool sweep_hash_is(const char *path, const char *sha)
{
	static const size_t chunk = (size_t)1 << 20;
	struct dtx_sha256 state;
	uint8_t digest[DTX_SHA256_SIZE];
	char hex[DTX_SHA256_HEX] = "";
	char *buf = dtx_mem_alloc(chunk, 1);
	ssize_t n = -1;
	int fd = -1;

	if (!buf || dtx_file_open(path, &fd, NULL) != DTX_OK)
		goto out;
	dtx_sha256_init(&state);
	while ((n = read(fd, buf, chunk)) > 0)
		dtx_sha256_add(&state, buf, (size_t)n);
	dtx_sha256_done(&state, digest);
	dtx_hex(digest, sizeof(digest), hex);
out:
	dtx_file_close(&fd);
	dtx_mem_free(buf);
	return n == 0 && !strcmp(hex, sha);
}

static const char *sweep_judge(const struct sweep_run *run, const json_t *output)
{
	if (!dtx_json_bool(output, "atomic", true))
		return "new"; /* its bytes had been written out before they were recorded */
	if (dtx_json_bool(json_object_get(output, "writer"), "in_place", false))
		return "unfinished"; /* the database has the rows, or is as it was */
	if (sweep_temp(run, dtx_json_text(output, "temp", NULL)))
		return "old";
	if (sweep_hash_is(dtx_json_text(output, "path", ""), dtx_json_text(output, "sha", "")))
		return "new";
	return "replaced";
}

/* What became of an output. */
static const char *sweep_output(const struct sweep_run *run, const json_t *item)
{
	if (run->output)
		return sweep_judge(run, item);
	/* bytes that were written to a pipe or device cannot be taken back */
	if (!strcmp(dtx_json_text(item, "path", ""), "-"))
		return "unfinished";
	(void)sweep_temp(run, dtx_json_text(item, "temp", NULL));
	return "old";
}

/* [{"path","output"}].  *all_new stays true only if every output is new.  NULL: out of memory. */
static json_t *sweep_outputs(const struct sweep_run *run, bool *all_new)
{
	const json_t *list = run->output ? json_object_get(run->output, "outputs")
	                                 : json_object_get(run->start, "targets");
	json_t *out = json_array(), *item;
	size_t i;

	*all_new = run->output != NULL;
	json_array_foreach(list, i, item)
	{
		/* of a file with several outputs, the temporary file is gone after the first */
		const json_t *same = dtx_json_find(out, "path", dtx_json_text(item, "path", ""));
		const char *verdict = dtx_json_text(same, "output", NULL);

		if (!verdict)
			verdict = sweep_output(run, item);
		*all_new = *all_new && !strcmp(verdict, "new");
		if (json_array_append_new(out, json_pack("{s:s, s:s}", "path",
		                                         dtx_json_text(item, "path", ""), "output",
		                                         verdict)) < 0) {
			json_decref(out);
			return NULL;
		}
	}
	return out;
}

/* Another process may have been faster: only the one that still finds the lease writes. */
static enum dtx_code sweep_write(struct dtx_db *db, const struct sweep_run *run, json_t *body,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_event event = { 0, 0, "run.end", run->run_id, body };
	struct dtx_db_rows *rows = NULL;
	struct dtx_db_val key;
	char text[DTX_LEASE_KEY];
	bool there = false;

	dtx_lease_key(run->run_id, text);
	key = dtx_db_text(text);
	DTX_TRY(dtx_db_begin(db, err));
	DTX_TRY(dtx_db_query(db, DTX_SQL_LEASE_GET, &key, 1, &rows, err));
	DTX_TRY(dtx_db_next(db, rows, &there, err));
	dtx_db_done(rows);
	rows = NULL;
	if (there && !run->ended)
		DTX_TRY(dtx_ledger_append(db, &event, err));
	DTX_TRY(dtx_db_run(db, DTX_SQL_LEASE_DROP, &key, 1, err));
	DTX_TRY(dtx_db_commit(db, err));
out:
	dtx_db_done(rows);
	if (rc != DTX_OK)
		dtx_db_rollback(db);
	return rc;
}

static enum dtx_code sweep_close(struct dtx_db *db, const struct sweep_run *run,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	json_t *outputs, *body = NULL;
	bool ok = false;

	outputs = sweep_outputs(run, &ok);
	if (!outputs)
		DTX_FAIL_MEM(err);
	body = json_pack("{s:s, s:b, s:o, s:I}", "status", ok ? "ok" : "abandoned", "swept", 1,
	                 "judged", outputs, "end_us", (json_int_t)dtx_wall_us());
	if (!body)
		DTX_FAIL_MEM(err);
	DTX_TRY(sweep_write(db, run, body, err));
out:
	json_decref(body);
	return rc;
}

static void sweep_run_clear(struct sweep_run *run)
{
	json_decref(run->start);
	json_decref(run->output);
	memset(run, 0, sizeof(*run));
}

/* Only one process may judge a run: a second one would find the temporary file gone and report that
 * the target was replaced. */
static enum dtx_code sweep_claim(struct dtx_db *db, const struct sweep_lease *lease,
                                 const struct dtx_process *self, bool *ours, struct dtx_err *err)
{
	struct dtx_db_val val[7];
	char key[DTX_LEASE_KEY];
	enum dtx_code rc;

	dtx_lease_key(lease->run_id, key);
	val[0] = dtx_db_text(key);
	val[1] = DTX_DBI(self->pid);
	val[2] = dtx_db_text(self->boot);
	val[3] = DTX_DBI(self->start);
	val[4] = DTX_DBI(lease->owner.pid);
	val[5] = dtx_db_text(lease->owner.boot);
	val[6] = DTX_DBI(lease->owner.start);
	rc = dtx_db_run(db, DTX_SQL_LEASE_CLAIM, val, DTX_COUNT(val), err);
	*ours = rc == DTX_OK && dtx_db_changed(db) == 1;
	return rc;
}

static enum dtx_code sweep_one(struct dtx_db *db, const struct sweep_lease *lease,
                               const struct dtx_process *self, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct sweep_run run = { .start = NULL };
	bool ours;

	dtx_str_copy(run.run_id, sizeof(run.run_id), dtx_str_of(lease->run_id));
	DTX_TRY(sweep_claim(db, lease, self, &ours, err));
	if (!ours)
		goto out;
	DTX_TRY(dtx_ledger_walk_run(db, run.run_id, sweep_note, &run, err));
	DTX_TRY(sweep_close(db, &run, err));
out:
	sweep_run_clear(&run);
	return rc;
}

/* Finds leases whose process has ended, at most DTX_RECOVER_RUNS_MAX. */
static enum dtx_code sweep_find(struct dtx_db *db, const struct dtx_process *self,
                                struct sweep_lease *lease, size_t *n, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_db_rows *rows = NULL;
	bool more;

	*n = 0;
	DTX_TRY(dtx_db_query(db, DTX_SQL_LEASES, NULL, 0, &rows, err));
	while (*n < DTX_RECOVER_RUNS_MAX) {
		struct sweep_lease *l = &lease[*n];

		DTX_TRY(dtx_db_next(db, rows, &more, err));
		if (!more)
			break;
		memset(l, 0, sizeof(*l));
		dtx_str_copy(l->run_id, DTX_RUN_ID, dtx_db_get_bytes(rows, 0));
		l->owner.pid = dtx_db_get_int(rows, 1);
		dtx_str_copy(l->owner.boot, sizeof(l->owner.boot), dtx_db_get_bytes(rows, 2));
		l->owner.start = dtx_db_get_int(rows, 3);
		dtx_str_copy(l->owner.host, sizeof(l->owner.host), dtx_db_get_bytes(rows, 4));
		*n += !dtx_process_alive(&l->owner, self);
	}
out:
	dtx_db_done(rows);
	return rc;
}

void dtx_recover_runs(struct dtx_db *db, const char *path, bool read_only)
{
	enum dtx_code rc = DTX_OK;
	struct sweep_lease lease[DTX_RECOVER_RUNS_MAX];
	struct dtx_db *own = NULL;
	struct dtx_process self;
	size_t n = 0, i;

	dtx_process_self(&self);
	DTX_TRY(sweep_find(db, &self, lease, &n, NULL));
	if (!n)
		goto out;
	if (read_only) {
		DTX_TRY(dtx_db_open(path, false, false, &own, NULL));
		db = own;
	}
	for (i = 0; i < n; i++)
		DTX_TRY(sweep_one(db, &lease[i], &self, NULL));
out:
	dtx_db_close(own);
}

enum dtx_code dtx_lease_put(struct dtx_db *db, const char *run_id, const struct dtx_process *p,
                            struct dtx_err *err)
{
	struct dtx_db_val val[5];
	char key[DTX_LEASE_KEY];

	dtx_lease_key(run_id, key);
	val[0] = dtx_db_text(key);
	val[1] = dtx_db_text(run_id);
	val[2] = DTX_DBI(p->pid);
	val[3] = dtx_db_text(p->boot);
	val[4] = DTX_DBI(p->start);
	return dtx_db_run(db, DTX_SQL_LEASE_PUT, val, DTX_COUNT(val), err);
}
