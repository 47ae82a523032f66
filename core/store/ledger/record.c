/* Writes the record of one run: see record.h. */
#include "core/store/ledger/record.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/log.h"
#include "core/base/memory/mem.h"
#include "core/base/text/utf8.h"
#include "core/store/blob.h"
#include "core/store/ledger/ledger.h"
#include "core/store/ledger/process.h"
#include "core/store/ledger/recover_runs.h"

/* Number of events at the end of the ledger that are checked before a run is added. */
#define RECORD_LOOKS_BACK 32

struct record_blob {
	char *kind, *bytes;
	size_t len;
};

/* An event that is written in the transaction of the next one. */
struct record_event {
	const char *kind;
	json_t *body;
};
#define RECORD_WAITING 4

struct dtx_record {
	struct dtx_store *store;
	char id[DTX_RUN_ID];
	struct record_event waiting[RECORD_WAITING];
	size_t nwaiting;
	bool unleased;                 /* run.start waits, and the lease with it */
	json_t *part[DTX_PART_COUNT];  /* details that are not written yet */
	int64_t index[DTX_PART_COUNT]; /* number of the next detail */
	bool snippet;                  /* a region was recorded */
	struct record_blob *blob;
	size_t nblobs, cap_blobs;
};

/* The member of an event's body, and the column that numbers its rows. */
static const struct {
	const char *member, *index;
} record_parts[DTX_PART_COUNT] = {
	[DTX_PART_INPUT] = { "inputs", "ord" },   [DTX_PART_STEP] = { "steps", "idx" },
	[DTX_PART_REGION] = { "regions", "idx" }, [DTX_PART_CHECK] = { "checks", "idx" },
	[DTX_PART_LINEAGE] = { "lineage", NULL },
};

/* --- ids --- */

/* UUIDv7: 48 bits of milliseconds, 12 bits of microseconds within, 62 random bits. */
void dtx_run_id_new(char id[DTX_RUN_ID])
{
	int64_t us = dtx_wall_us();
	uint64_t ms = (uint64_t)(us / 1000), part = (uint64_t)(us % 1000) * 4096 / 1000;
	uint8_t b[16];
	char hex[33];
	size_t i;

	if (getrandom(b, sizeof(b), 0) != (ssize_t)sizeof(b))
		memset(b, 0, sizeof(b)); /* the time still makes it unique on one machine */
	for (i = 0; i < 6; i++)
		b[i] = (uint8_t)(ms >> (8 * (5 - i)));
	b[6] = (uint8_t)(0x70 | part >> 8);
	b[7] = (uint8_t)part;
	b[8] = (uint8_t)(0x80 | (b[8] & 0x3f));
	dtx_hex(b, sizeof(b), hex);
	snprintf(id, DTX_RUN_ID, "%.8s-%.4s-%.4s-%.4s-%.12s", hex, hex + 8, hex + 12, hex + 16,
	         hex + 20);
}

enum dtx_code dtx_run_id_take(const char *given, char id[DTX_RUN_ID], struct dtx_err *err)
{
	static const char form[] = "xxxxxxxx-xxxx-7xxx-vxxx-xxxxxxxxxxxx";
	enum dtx_code rc = DTX_OK;
	size_t i = 0;

	if (!given) {
		dtx_run_id_new(id);
		goto out;
	}
	for (; form[i] && given[i]; i++) {
		const char *may = form[i] == 'x'   ? "0123456789abcdef"
		                  : form[i] == 'v' ? "89ab"
		                  : form[i] == '7' ? "7"
		                                   : "-";

		if (!strchr(may, given[i]))
			break;
	}
	if (form[i] || given[i])
		DTX_FAIL(err, DTX_E_USAGE,
		         "option '--run-id' takes a UUID of version 7 in lower case, got '%.60s'",
		         given);
	memcpy(id, given, DTX_RUN_ID);
out:
	return rc;
}

const char *dtx_run_id_short(const char *id)
{
	size_t len = strlen(id);

	return len > 8 ? id + len - 8 : id;
}

const char *dtx_record_id(const struct dtx_record *r)
{
	return r->id;
}

/* --- blobs --- */

enum dtx_code dtx_record_blob(struct dtx_record *r, const char *kind, struct dtx_str bytes,
                              char hash[DTX_SHA256_HEX], struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct record_blob b = { NULL, NULL, bytes.len };

	b.kind = dtx_mem_strdup(kind);
	b.bytes = dtx_mem_strndup(bytes.ptr, bytes.len);
	if (!b.kind || !b.bytes ||
	    !dtx_mem_reserve(&r->blob, &r->cap_blobs, r->nblobs + 1, sizeof(*r->blob)))
		DTX_FAIL_MEM(err);
	dtx_sha256_hex(bytes.ptr, bytes.len, hash);
	r->blob[r->nblobs++] = b;
	memset(&b, 0, sizeof(b));
out:
	dtx_mem_free(b.kind);
	dtx_mem_free(b.bytes);
	return rc;
}

static void record_blobs_clear(struct dtx_record *r)
{
	while (r->nblobs) {
		r->nblobs--;
		dtx_mem_free(r->blob[r->nblobs].kind);
		dtx_mem_free(r->blob[r->nblobs].bytes);
	}
}

/* --- events --- */

enum record_lease { RECORD_LEASE_KEEP, RECORD_LEASE_PUT, RECORD_LEASE_DROP };

static enum dtx_code record_lease(struct dtx_record *r, enum record_lease lease,
                                  struct dtx_err *err)
{
	struct dtx_db *db = dtx_store_db(r->store);
	struct dtx_process self;
	struct dtx_db_val val;
	char key[DTX_LEASE_KEY];

	if (lease == RECORD_LEASE_KEEP)
		return DTX_OK;
	if (lease == RECORD_LEASE_PUT) {
		dtx_process_self(&self);
		return dtx_lease_put(db, r->id, &self, err);
	}
	dtx_lease_key(r->id, key);
	val = dtx_db_text(key);
	return dtx_db_run(db, DTX_SQL_LEASE_DROP, &val, 1, err);
}

static void record_waiting_clear(struct dtx_record *r)
{
	while (r->nwaiting)
		json_decref(r->waiting[--r->nwaiting].body);
}

/* Writes blobs, events, derived rows and lease within the transaction that has begun. */
static enum dtx_code record_commit(struct dtx_record *r, const char *kind, const json_t *body,
                                   enum record_lease lease, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_db *db = dtx_store_db(r->store);
	struct dtx_event event = { 0, 0, kind, r->id, body };
	char hash[DTX_SHA256_HEX];
	size_t i;

	for (i = 0; i < r->nblobs; i++) {
		const struct record_blob *b = &r->blob[i];

		DTX_TRY(dtx_blob_put(db, b->kind, (struct dtx_str){ b->bytes, b->len }, hash, err));
	}
	for (i = 0; i < r->nwaiting; i++) {
		struct dtx_event before = { 0, 0, r->waiting[i].kind, r->id, r->waiting[i].body };

		DTX_TRY(dtx_ledger_append(db, &before, err));
	}
	DTX_TRY(dtx_ledger_append(db, &event, err));
	if (r->unleased && lease != RECORD_LEASE_DROP)
		lease = RECORD_LEASE_PUT;
	DTX_TRY(record_lease(r, lease, err));
	DTX_TRY(dtx_db_commit(db, err));
	r->unleased = false;
	record_blobs_clear(r);
	record_waiting_clear(r);
out:
	if (rc != DTX_OK)
		dtx_db_rollback(db);
	return rc;
}

static enum dtx_code record_write(struct dtx_record *r, const char *kind, const json_t *body,
                                  struct dtx_err *err)
{
	enum dtx_code rc = dtx_db_begin(dtx_store_db(r->store), err);

	return rc == DTX_OK ? record_commit(r, kind, body, RECORD_LEASE_KEEP, err) : rc;
}

/* The event survives a crash of the process, but the commit does not wait until it is on disk. */
static enum dtx_code record_write_soon(struct dtx_record *r, const char *kind, const json_t *body,
                                       enum record_lease lease, struct dtx_err *err)
{
	enum dtx_code rc = dtx_db_begin_soon(dtx_store_db(r->store), err);

	return rc == DTX_OK ? record_commit(r, kind, body, lease, err) : rc;
}

static enum dtx_code record_event(struct dtx_record *r, const char *kind, json_t *body, bool soon,
                                  struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (!body)
		DTX_FAIL_MEM(err);
	rc = soon ? record_write_soon(r, kind, body, RECORD_LEASE_KEEP, err)
	          : record_write(r, kind, body, err);
out:
	json_decref(body);
	return rc;
}

enum dtx_code dtx_record_event_soon(struct dtx_record *r, const char *kind, json_t *body,
                                    struct dtx_err *err)
{
	return record_event(r, kind, body, true, err);
}

enum dtx_code dtx_record_event(struct dtx_record *r, const char *kind, json_t *body,
                               struct dtx_err *err)
{
	return record_event(r, kind, body, false, err);
}

enum dtx_code dtx_record_event_next(struct dtx_record *r, const char *kind, json_t *body,
                                    struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (r->nwaiting == RECORD_WAITING)
		return dtx_record_event_soon(r, kind, body, err);
	if (!body)
		DTX_FAIL_MEM(err);
	r->waiting[r->nwaiting++] = (struct record_event){ kind, json_incref(body) };
out:
	json_decref(body);
	return rc;
}

enum dtx_code dtx_record_sync(struct dtx_record *r, struct dtx_err *err)
{
	return dtx_db_sync(dtx_store_db(r->store), err);
}

/* --- start --- */

/* Arguments and paths are bytes; those that are not UTF-8 become U+FFFD. */
static json_t *record_string(const char *text)
{
	struct dtx_buf b = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	size_t len = strlen(text), pos = 0;
	json_t *out = NULL;
	char cp[4];

	if (dtx_utf8_bad(text, len) < 0)
		return json_stringn_nocheck(text, len);
	while (pos < len)
		dtx_buf_addn(&b, cp, dtx_utf8_put(cp, dtx_utf8_next(text, len, &pos)));
	if (dtx_buf_ok(&b))
		out = json_stringn_nocheck(b.ptr, b.len);
	dtx_buf_clear(&b);
	return out;
}

static json_t *record_argv(const struct dtx_run_info *info)
{
	json_t *list = json_array();
	int i;

	for (i = 0; i < info->argc && list; i++) {
		if (json_array_append_new(list, record_string(info->argv[i])) < 0) {
			json_decref(list);
			list = NULL;
		}
	}
	return list;
}

/* $USER if it differs from the name of the user, else NULL. */
static const char *record_user_env(void)
{
	const char *name = getenv("USER");

	return name && name[0] && strcmp(name, dtx_process_user()) != 0 ? name : NULL;
}

static bool record_set(json_t *body, const char *key, const char *text)
{
	return !text || dtx_json_set(body, key, record_string(text));
}

static bool record_start_actor(json_t *body, const struct dtx_run_info *info)
{
	struct dtx_process self;
	char cwd[4096];

	dtx_process_self(&self);
	if (!getcwd(cwd, sizeof(cwd)))
		cwd[0] = '\0';
	return record_set(body, "user", dtx_process_user()) &&
	       record_set(body, "user_env", record_user_env()) &&
	       record_set(body, "host", self.host) && record_set(body, "cwd", cwd) &&
	       record_set(body, "command", info->command) &&
	       record_set(body, "namespace", info->ns ? info->ns : "default") &&
	       record_set(body, "parent", info->parent) &&
	       record_set(body, "replay_of", info->replay_of) &&
	       record_set(body, "traceparent", info->traceparent) &&
	       dtx_json_set(body, "process", dtx_process_json(&self)) &&
	       dtx_json_set(body, "argv", record_argv(info));
}

static enum dtx_code record_start_plan(struct dtx_record *r, json_t *body,
                                       const struct dtx_run_info *info, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	char hash[DTX_SHA256_HEX] = "", source[DTX_SHA256_HEX] = "";
	json_t *plan = json_object();

	if (info->plan.len)
		DTX_TRY(dtx_record_blob(r, "plan", info->plan, hash, err));
	if (info->plan_source.len)
		DTX_TRY(dtx_record_blob(r, "plan", info->plan_source, source, err));
	if (!record_set(plan, "name", info->plan_name) ||
	    !record_set(plan, "file", info->plan_file) ||
	    !record_set(plan, "canonical", hash[0] ? hash : NULL) ||
	    !record_set(plan, "source", source[0] ? source : NULL) ||
	    !dtx_json_set(plan, "steps", json_integer(info->nsteps)) ||
	    (info->params &&
	     !dtx_json_set(plan, "params", json_incref((json_t *)(uintptr_t)info->params))) ||
	    !record_set(body, "plan_hash",
	                info->plan_hash ? info->plan_hash
	                : hash[0]       ? hash
	                                : NULL))
		DTX_FAIL_MEM(err);
	if (!dtx_json_set(body, "plan", json_incref(plan)))
		DTX_FAIL_MEM(err);
out:
	json_decref(plan);
	return rc;
}

static enum dtx_code record_start_env(struct dtx_record *r, json_t *body, const json_t *env,
                                      struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	char hash[DTX_SHA256_HEX];

	if (!env)
		DTX_FAIL_MEM(err);
	dtx_json_canonical(env, &text);
	DTX_TRY(dtx_buf_check(&text, "environment", err));
	DTX_TRY(dtx_record_blob(r, "env", (struct dtx_str){ text.ptr, text.len }, hash, err));
	if (!record_set(body, "env_hash", hash))
		DTX_FAIL_MEM(err);
out:
	dtx_buf_clear(&text);
	return rc;
}

static enum dtx_code record_start_body(struct dtx_record *r, const struct dtx_run_info *info,
                                       const json_t *env, json_t *body, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int64_t start = info->start_us ? info->start_us : dtx_wall_us();

	if (!body || !record_start_actor(body, info) ||
	    !dtx_json_set(body, "start_us", json_integer(start)))
		DTX_FAIL_MEM(err);
	if (info->pins && !dtx_json_set(body, "pins", json_incref(info->pins)))
		DTX_FAIL_MEM(err);
	if (info->targets && !dtx_json_set(body, "targets", json_incref(info->targets)))
		DTX_FAIL_MEM(err);
	DTX_TRY(record_start_plan(r, body, info, err));
	DTX_TRY(record_start_env(r, body, env, err));
out:
	return rc;
}

/* Refuses to add a run to a ledger that was changed.  A chain that continues after the change would
 * make it look older than it is, and only `dtx verify` would show it.  Only the last events are
 * checked, because checking all would take longer than most runs. */
static enum dtx_code record_chain_fits(struct dtx_store *store, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_db *db = dtx_store_db(store);
	struct dtx_ledger_head last, head;
	int64_t bad = 0;

	DTX_TRY(dtx_ledger_head(db, &last, err));
	DTX_TRY(dtx_ledger_check(db, DTX_MAX(last.seq - RECORD_LOOKS_BACK, 1), &bad, &head, err));
	if (!bad)
		goto out;
	rc = dtx_err_set(err, DTX_E_STORE_IO, __FILE__, __LINE__,
	                 "store '%s' is damaged: event %lld of the ledger was changed; no run is "
	                 "added to it",
	                 dtx_store_path(store), (long long)bad);
	dtx_err_hint(err, "dtx verify shows what was changed; go on with an earlier copy, or with "
	                  "another store (--store FILE)");
out:
	return rc;
}

/* An id that is used twice would join two runs to one. */
static enum dtx_code record_id_free(struct dtx_store *store, const char *run_id,
                                    struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_db *db = dtx_store_db(store);
	struct dtx_db_val val = dtx_db_text(run_id);
	struct dtx_db_rows *rows = NULL;
	bool found = false;

	DTX_TRY(dtx_db_query(db, DTX_SQL_RUN_BY_ID, &val, 1, &rows, err));
	DTX_TRY(dtx_db_next(db, rows, &found, err));
	if (found)
		DTX_FAIL(err, DTX_E_USAGE, "the store has a run with the id '%s'", run_id);
out:
	dtx_db_done(rows);
	return rc;
}

enum dtx_code dtx_record_start(struct dtx_store *store, const struct dtx_run_info *info,
                               struct dtx_record **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_record *r = dtx_mem_zalloc(1, sizeof(*r));
	json_t *body = json_object();
	json_t *env = info->env ? json_incref(info->env) : dtx_env_describe();

	if (!r)
		DTX_FAIL_MEM(err);
	r->store = store;
	dtx_str_copy(r->id, sizeof(r->id), dtx_str_of(info->run_id));
	if (info->id_given)
		DTX_TRY(record_id_free(store, info->run_id, err));
	DTX_TRY(record_start_body(r, info, env, body, err));
	DTX_TRY(record_chain_fits(store, err));
	/* A power failure may undo this event as long as the run has no result; the next event
	 * makes it durable. */
	if (info->with_next) {
		r->unleased = true;
		DTX_TRY(dtx_record_event_next(r, "run.start", json_incref(body), err));
	} else {
		DTX_TRY(record_write_soon(r, "run.start", body, RECORD_LEASE_PUT, err));
	}
	*out = r;
	r = NULL;
out:
	json_decref(body);
	json_decref(env);
	json_decref(info->env);
	json_decref(info->pins);
	json_decref(info->targets);
	dtx_record_free(r);
	return rc;
}

/* --- details --- */

enum dtx_code dtx_record_add(struct dtx_record *r, enum dtx_part part, json_t *row,
                             struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const char *index = record_parts[part].index;

	if (!row)
		DTX_FAIL_MEM(err);
	if (!r->part[part])
		r->part[part] = json_array();
	if (index && !dtx_json_set(row, index, json_integer(r->index[part])))
		DTX_FAIL_MEM(err);
	if (!r->part[part] || json_array_append(r->part[part], row) < 0)
		DTX_FAIL_MEM(err);
	r->index[part]++;
	r->snippet = r->snippet || part == DTX_PART_REGION;
out:
	json_decref(row);
	return rc;
}

void dtx_record_discard(struct dtx_record *r)
{
	json_decref(r->part[DTX_PART_INPUT]);
	r->part[DTX_PART_INPUT] = NULL;
	/* Not freed: these can be millions of small objects, and the process ends soon. */
	r->part[DTX_PART_LINEAGE] = NULL;
	record_blobs_clear(r);
}

static bool record_take_parts(struct dtx_record *r, json_t *body)
{
	size_t i;

	for (i = 0; i < DTX_PART_COUNT; i++) {
		if (r->part[i] &&
		    !dtx_json_set(body, record_parts[i].member, json_incref(r->part[i])))
			return false;
	}
	return true;
}

static void record_drop_parts(struct dtx_record *r)
{
	size_t i;

	for (i = 0; i < DTX_PART_COUNT; i++) {
		json_decref(r->part[i]);
		r->part[i] = NULL;
	}
}

enum dtx_code dtx_record_output(struct dtx_record *r, json_t *outputs, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	json_t *body = json_object(), *item;
	size_t i;

	if (!outputs || !body)
		DTX_FAIL_MEM(err);
	json_array_foreach(outputs, i, item)
	{
		if (!dtx_json_set(item, "ord", json_integer((json_int_t)i)))
			DTX_FAIL_MEM(err);
	}
	if (!dtx_json_set(body, "outputs", json_incref(outputs)) || !record_take_parts(r, body))
		DTX_FAIL_MEM(err);
	/* Outputs are renamed later, so the run can still be cancelled. */
	dtx_db_cancels(true);
	rc = record_write(r, "run.output", body, err);
	dtx_db_cancels(false);
	DTX_TRY(rc);
	record_drop_parts(r);
out:
	json_decref(outputs);
	json_decref(body);
	return rc;
}

enum dtx_code dtx_record_end(struct dtx_record *r, const char *status, const char *code,
                             int exit_status, json_t *extra, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	json_t *body = extra ? json_incref(extra) : json_object();

	if (!body || !record_set(body, "status", status) || !record_set(body, "code", code) ||
	    !dtx_json_set(body, "exit", json_integer(exit_status)) ||
	    !dtx_json_set(body, "end_us", json_integer(dtx_wall_us())) ||
	    !record_set(body, "path", r->snippet ? "snippet" : "typed") ||
	    !record_take_parts(r, body))
		DTX_FAIL_MEM(err);
	/* If a power failure undoes this event, the run is closed again by the next command,
	 * because run.output says what it had done. */
	DTX_TRY(record_write_soon(r, "run.end", body, RECORD_LEASE_DROP, err));
	record_drop_parts(r);
out:
	json_decref(body);
	json_decref(extra);
	return rc;
}

void dtx_record_free(struct dtx_record *r)
{
	if (!r)
		return;
	record_drop_parts(r);
	record_blobs_clear(r);
	record_waiting_clear(r);
	dtx_mem_free(r->blob);
	dtx_mem_free(r);
}
