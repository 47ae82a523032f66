/* Collects everything about one run from its events.
 *
 * The record is assembled by one walk over the run's events: lists in run.start, run.output and
 * run.end are appended to the lists of the record, and all their other members describe the run.
 * What the events only name by its hash is added at the end, unless it was purged. */
#include <stdio.h>

#include "core/base/memory/mem.h"
#include "core/store/blob.h"
#include "core/store/ledger/ledger.h"
#include "core/store/query/query.h"
#include "core/store/cache/snippet.h"

static const char *const query_parts[] = { "inputs", "steps",   "regions",
	                                   "checks", "lineage", "outputs" };

struct query_build {
	json_t *record, *run, *events, *author;
	int64_t first, last;
};

static bool query_is_part(const char *key)
{
	size_t i;

	for (i = 0; i < DTX_COUNT(query_parts); i++) {
		if (!strcmp(query_parts[i], key))
			return true;
	}
	return false;
}

/* Lists in the body are appended to those of the record; all other members describe the run. */
static bool query_take_body(struct query_build *q, const json_t *body)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)(uintptr_t)body, key, value)
	{
		if (query_is_part(key)) {
			if (json_array_extend(json_object_get(q->record, key), value) < 0)
				return false;
		} else if (json_object_set(q->run, key, value) < 0) {
			return false;
		}
	}
	return true;
}

static bool query_is_state(const char *kind)
{
	return !strcmp(kind, "run.start") || !strcmp(kind, "run.output") ||
	       !strcmp(kind, "run.end");
}

static enum dtx_code query_event(void *arg, const struct dtx_event *event, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct query_build *q = arg;
	json_t *body = (json_t *)(uintptr_t)event->body, *note;
	bool state = query_is_state(event->kind);

	if (!q->first)
		q->first = event->seq;
	q->last = event->seq;
	note = json_pack("{s:I, s:I, s:s}", "seq", (json_int_t)event->seq, "ts_us",
	                 (json_int_t)event->ts_us, "kind", event->kind);
	if (note && !state && json_object_set(note, "body", body) < 0) {
		json_decref(note);
		note = NULL;
	}
	if (json_array_append_new(q->events, note) < 0)
		DTX_FAIL_MEM(err);
	if (state && !query_take_body(q, body))
		DTX_FAIL_MEM(err);
	if (!strncmp(event->kind, "author.", 7) && json_array_append(q->author, body) < 0)
		DTX_FAIL_MEM(err);
out:
	return rc;
}

static bool query_skeleton(struct query_build *q, const char *run_id)
{
	size_t i;

	q->run = json_pack("{s:s, s:s, s:s}", "run_id", run_id, "short", dtx_run_id_short(run_id),
	                   "status", "running");
	q->events = json_array();
	q->author = json_array();
	q->record = json_pack("{s:i}", "dtx_record", 1);
	if (!q->record || !dtx_json_set(q->record, "run", json_incref(q->run)))
		return false;
	for (i = 0; i < DTX_COUNT(query_parts); i++) {
		if (!dtx_json_set(q->record, query_parts[i], json_array()))
			return false;
	}
	return dtx_json_set(q->record, "events", json_incref(q->events)) &&
	       dtx_json_set(q->record, "author", json_incref(q->author));
}

/* --- what is stored by hash --- */

/* Sets object[key] to the text of the blob, parsed if it is JSON.  Purged bytes are left out. */
static enum dtx_code query_inline(struct dtx_store *s, const char *hash, bool is_json,
                                  json_t *object, const char *key, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_json_limits limits = { DTX_BUF_TEXT_MAX, 64 };
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	json_t *value = NULL;

	if (!hash)
		goto out;
	rc = dtx_blob_get(dtx_store_db(s), hash, &text, err);
	if (rc == DTX_E_NO_RECORD) {
		rc = DTX_OK;
		goto out;
	}
	if (rc != DTX_OK)
		goto out;
	if (is_json)
		DTX_TRY(dtx_json_parse((struct dtx_str){ text.ptr, text.len }, limits, &value,
		                       err));
	else
		value = json_stringn(dtx_buf_text(&text), dtx_buf_len(&text));
	if (!value)
		DTX_FAIL_MEM(err);
	if (!dtx_json_set(object, key, json_incref(value)))
		DTX_FAIL_MEM(err);
out:
	json_decref(value);
	dtx_buf_clear(&text);
	return rc;
}

static enum dtx_code query_cell(struct dtx_store *s, json_t *region, bool full, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_arena arena = DTX_ARENA_INIT;
	const char *id = dtx_json_text(region, "cell_id", NULL);
	struct dtx_snippet row;
	json_t *cell = NULL;

	if (!id)
		goto out;
	rc = dtx_snippet_get(s, id, &arena, &row, err);
	if (rc != DTX_OK) {
		rc = rc == DTX_E_NO_RECORD ? DTX_OK : rc;
		goto out;
	}
	cell = dtx_snippet_json(&row);
	if (!cell)
		DTX_FAIL_MEM(err);
	if (full)
		DTX_TRY(query_inline(s, row.code_hash, false, cell, "code", err));
	if (!dtx_json_set(region, "cell", json_incref(cell)))
		DTX_FAIL_MEM(err);
out:
	json_decref(cell);
	dtx_arena_clear(&arena);
	return rc;
}

static enum dtx_code query_bodies(struct dtx_store *s, struct query_build *q, bool full,
                                  struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	json_t *plan = json_object_get(q->run, "plan"), *region;
	size_t i;

	DTX_TRY(query_inline(s, dtx_json_text(q->run, "env_hash", NULL), true, q->record, "env",
	                     err));
	json_array_foreach(json_object_get(q->record, "regions"), i, region)
		DTX_TRY(query_cell(s, region, full, err));
	if (full && plan) {
		DTX_TRY(query_inline(s, dtx_json_text(plan, "canonical", NULL), true, plan, "plan",
		                     err));
		DTX_TRY(query_inline(s, dtx_json_text(plan, "source", NULL), false, plan, "text",
		                     err));
	}
out:
	return rc;
}

static bool query_chain(struct query_build *q, const char *head)
{
	return dtx_json_set(q->record, "chain",
	                    json_pack("{s:I, s:I, s:s}", "seq_start", (json_int_t)q->first,
	                              "seq_end", (json_int_t)q->last, "head", head));
}

static bool query_found(struct query_build *q, const struct dtx_found *found)
{
	if (!found || found->output < 0)
		return true;
	return dtx_json_set(q->record, "found",
	                    json_pack("{s:i, s:b, s:I}", "output", found->output, "file_changed",
	                              found->file_changed, "others", (json_int_t)found->others));
}

/* --- the calls of a session --- */

/* What the record has of one call of a session. */
struct query_call {
	json_t *row;     /* {"call","run_id","short","status","start_us"} */
	json_t *session; /* {"id","name","call","previous"}; NULL: it is not a call of a session */
};

static enum dtx_code query_call(void *arg, const struct dtx_event *event, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct query_call *c = arg;
	const json_t *body = event->body, *value;

	if (!strcmp(event->kind, "exec.start") &&
	    json_is_object(value = json_object_get(body, "session"))) {
		json_decref(c->session);
		c->session = json_incref((json_t *)(uintptr_t)value);
	}
	value = json_object_get(body, "start_us");
	if (!strcmp(event->kind, "run.start") && value &&
	    json_object_set(c->row, "start_us", (json_t *)(uintptr_t)value) < 0)
		DTX_FAIL_MEM(err);
	value = json_object_get(body, "status");
	if (!strcmp(event->kind, "run.end") && value &&
	    json_object_set(c->row, "status", (json_t *)(uintptr_t)value) < 0)
		DTX_FAIL_MEM(err);
out:
	return rc;
}

static enum dtx_code query_call_of(struct dtx_store *s, const char *run_id, struct query_call *c,
                                   struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	*c = (struct query_call){ .row = json_pack("{ss ss ss}", "run_id", run_id, "short",
		                                   dtx_run_id_short(run_id), "status", "running") };
	if (!c->row)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_ledger_walk_run(dtx_store_db(s), run_id, query_call, c, err));
	if (c->session &&
	    !dtx_json_set(c->row, "call", json_integer(dtx_json_int(c->session, "call", 0))))
		DTX_FAIL_MEM(err);
out:
	return rc;
}

static void query_call_clear(struct query_call *c)
{
	json_decref(c->row);
	json_decref(c->session);
	*c = (struct query_call){ NULL, NULL };
}

/* Follows the calls back from this one. Each names the one before it; the numbers count down, so
 * this ends whatever a record says. */
static enum dtx_code query_session(struct dtx_store *s, struct query_build *q, const char *run_id,
                                   struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct query_call c = { NULL, NULL };
	json_t *session = NULL, *calls = NULL;
	char id[DTX_RUN_ID];
	int64_t number = INT64_MAX;

	dtx_str_copy(id, sizeof(id), dtx_str_of(run_id));
	while (id[0]) {
		DTX_TRY(query_call_of(s, id, &c, err));
		if (!c.session || dtx_json_int(c.session, "call", 0) >= number ||
		    (session && strcmp(dtx_json_text(c.session, "id", ""),
		                       dtx_json_text(session, "id", "")) != 0))
			break;
		if (!session) {
			session = json_pack(
				"{ss ss sI s[]}", "id", dtx_json_text(c.session, "id", ""), "name",
				dtx_json_text(c.session, "name", ""), "call",
				(json_int_t)dtx_json_int(c.session, "call", 0), "calls");
			calls = json_object_get(session, "calls");
		}
		if (json_array_insert(calls, 0, c.row) < 0)
			DTX_FAIL_MEM(err);
		number = dtx_json_int(c.session, "call", 0);
		dtx_str_copy(id, sizeof(id), dtx_str_of(dtx_json_text(c.session, "previous", "")));
		query_call_clear(&c);
	}
	if (session && !dtx_json_set(q->record, "session", json_incref(session)))
		DTX_FAIL_MEM(err);
out:
	query_call_clear(&c);
	json_decref(session);
	return rc;
}

enum dtx_code dtx_query_record(struct dtx_store *s, const char *run_id, bool full,
                               const struct dtx_found *found, json_t **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct query_build q = { .record = NULL };
	char head[DTX_HEAD_LINE];

	if (!query_skeleton(&q, run_id))
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_ledger_walk_run(dtx_store_db(s), run_id, query_event, &q, err));
	DTX_TRY(query_bodies(s, &q, full, err));
	DTX_TRY(query_session(s, &q, run_id, err));
	DTX_TRY(dtx_query_head(s, head, err));
	if (!query_chain(&q, head) || !query_found(&q, found))
		DTX_FAIL_MEM(err);
	*out = json_incref(q.record);
out:
	json_decref(q.record);
	json_decref(q.run);
	json_decref(q.events);
	json_decref(q.author);
	return rc;
}
