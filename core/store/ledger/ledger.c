/* The hash chain: see ledger.h.
 *
 * The numbers and texts of an event are hashed with their lengths, so that no two different events
 * give the same bytes.  Appending reads the last hash and writes the new event in one transaction;
 * the tables that are derived from the ledger change in the same transaction, so they cannot
 * disagree with it after a crash. */
#include "core/store/ledger/ledger.h"

#include <sys/random.h>

#include "core/base/log.h"
#include "core/base/memory/mem.h"
#include "core/store/blob.h"
#include "core/store/ledger/derive.h"

static const uint8_t ledger_zero[DTX_SHA256_SIZE];

/* --- hash --- */

static void ledger_add_be(struct dtx_sha256 *sha, uint64_t v, unsigned bytes)
{
	uint8_t out[8];
	unsigned i;

	for (i = 0; i < bytes; i++)
		out[i] = (uint8_t)(v >> (8 * (bytes - 1 - i)));
	dtx_sha256_add(sha, out, bytes);
}

static void ledger_add_text(struct dtx_sha256 *sha, struct dtx_str s)
{
	ledger_add_be(sha, s.len, 4);
	dtx_sha256_add(sha, s.ptr, s.len);
}

/* An event as it is in the table. */
struct ledger_row {
	int64_t seq, ts_us;
	struct dtx_str kind, run_id, body, prev, hash;
};

static void ledger_hash(const struct ledger_row *row, uint8_t out[DTX_SHA256_SIZE])
{
	static const char tag[] = "dtx-ledger-1"; /* including its NUL */
	struct dtx_sha256 sha;

	dtx_sha256_init(&sha);
	dtx_sha256_add(&sha, tag, sizeof(tag));
	dtx_sha256_add(&sha, row->prev.ptr, row->prev.len);
	ledger_add_be(&sha, (uint64_t)row->seq, 8);
	ledger_add_be(&sha, (uint64_t)row->ts_us, 8);
	ledger_add_text(&sha, row->kind);
	ledger_add_text(&sha, row->run_id);
	ledger_add_text(&sha, row->body);
	dtx_sha256_done(&sha, out);
}

/* A text column with its full length, because a NUL inside of it is one of its bytes. */
static struct dtx_str ledger_text(struct dtx_db_rows *rows, int column)
{
	const char *text = dtx_db_get_text(rows, column);

	return (struct dtx_str){ text ? text : "", dtx_db_get_bytes(rows, column).len };
}

static void ledger_row_read(struct dtx_db_rows *rows, struct ledger_row *row)
{
	row->seq = dtx_db_get_int(rows, 0);
	row->ts_us = dtx_db_get_int(rows, 1);
	row->kind = ledger_text(rows, 2);
	row->run_id = ledger_text(rows, 3);
	row->body = dtx_db_get_bytes(rows, 4);
	row->prev = dtx_db_get_bytes(rows, 5);
	row->hash = dtx_db_get_bytes(rows, 6);
}

/* --- append --- */

enum dtx_code dtx_ledger_head(struct dtx_db *db, struct dtx_ledger_head *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_db_rows *rows = NULL;
	struct dtx_str hash;
	bool more = false;

	memset(out, 0, sizeof(*out));
	DTX_TRY(dtx_db_query(db, DTX_SQL_LAST, NULL, 0, &rows, err));
	DTX_TRY(dtx_db_next(db, rows, &more, err));
	if (!more)
		goto out;
	hash = dtx_db_get_bytes(rows, 1);
	if (hash.len != DTX_SHA256_SIZE)
		DTX_FAIL(err, DTX_E_STORE_IO, "the ledger's last hash has %zu bytes", hash.len);
	out->seq = dtx_db_get_int(rows, 0);
	memcpy(out->hash, hash.ptr, hash.len);
out:
	dtx_db_done(rows);
	return rc;
}

/* Names of members are ours, so they are ASCII. */
static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Prints one member like dtx_json_canonical.  A list may be long, so a run can be cancelled in
 * between. */
static enum dtx_code member_print(const char *name, const json_t *value, struct dtx_buf *out,
                                  struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	json_t *item;
	size_t i;

	dtx_buf_json(out, dtx_str_of(name));
	dtx_buf_addc(out, ':');
	if (!json_is_array(value)) {
		dtx_json_canonical(value, out);
		goto out;
	}
	dtx_buf_addc(out, '[');
	json_array_foreach(value, i, item)
	{
		DTX_TRY(dtx_db_cancel_row(i, err));
		if (i)
			dtx_buf_addc(out, ',');
		dtx_json_canonical(item, out);
	}
	dtx_buf_addc(out, ']');
out:
	return rc;
}

static enum dtx_code body_print(const json_t *body, struct dtx_buf *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t n = json_object_size(body), i = 0;
	const char **name = dtx_mem_alloc(n + 1, sizeof(*name)), *key;
	json_t *value;

	if (!name)
		DTX_FAIL_MEM(err);
	json_object_foreach((json_t *)(uintptr_t)body, key, value) name[i++] = key;
	qsort(name, n, sizeof(*name), by_name);
	dtx_buf_addc(out, '{');
	for (i = 0; i < n; i++) {
		if (i)
			dtx_buf_addc(out, ',');
		DTX_TRY(member_print(name[i], json_object_get(body, name[i]), out, err));
	}
	dtx_buf_addc(out, '}');
	DTX_TRY(dtx_buf_check(out, "record", err));
out:
	dtx_mem_free(name);
	return rc;
}

/* The canonical text of the body; if it is too long, a reference to the blob that has it. */
static enum dtx_code ledger_body(struct dtx_db *db, const json_t *body, struct dtx_buf *out,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	char hash[DTX_SHA256_HEX];

	DTX_TRY(body_print(body, out, err));
	if (out->len <= DTX_LEDGER_BODY_MAX)
		goto out;
	DTX_TRY(dtx_blob_put(db, "body", (struct dtx_str){ out->ptr, out->len }, hash, err));
	dtx_buf_reset(out);
	dtx_buf_printf(out, "{\"blob\":\"%s\"}", hash);
	DTX_TRY(dtx_buf_check(out, "record", err));
out:
	return rc;
}

enum dtx_code dtx_ledger_append(struct dtx_db *db, struct dtx_event *event, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	struct dtx_ledger_head last;
	struct ledger_row row;
	struct dtx_db_val val[7];
	uint8_t hash[DTX_SHA256_SIZE];

	DTX_TRY(ledger_body(db, event->body, &text, err));
	DTX_TRY(dtx_ledger_head(db, &last, err));
	event->seq = last.seq + 1;
	if (!event->ts_us)
		event->ts_us = dtx_wall_us();
	row = (struct ledger_row){ event->seq,
		                   event->ts_us,
		                   dtx_str_of(event->kind),
		                   dtx_str_of(event->run_id),
		                   { dtx_buf_text(&text), dtx_buf_len(&text) },
		                   { (const char *)last.hash, sizeof(last.hash) },
		                   { NULL, 0 } };
	ledger_hash(&row, hash);
	val[0] = DTX_DBI(event->seq);
	val[1] = DTX_DBI(event->ts_us);
	val[2] = dtx_db_text(event->kind);
	val[3] = dtx_db_text(event->run_id);
	val[4] = dtx_db_text(dtx_buf_text(&text));
	val[5] = dtx_db_blob(last.hash, sizeof(last.hash));
	val[6] = dtx_db_blob(hash, sizeof(hash));
	DTX_TRY(dtx_db_run(db, DTX_SQL_APPEND, val, DTX_COUNT(val), err));
	DTX_TRY(dtx_derive_apply(db, event, err));
out:
	dtx_buf_clear(&text);
	return rc;
}

enum dtx_code dtx_ledger_add(struct dtx_db *db, const char *kind, const char *run_id, json_t *body,
                             struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_event event = { 0, 0, kind, run_id, body };

	if (!body)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_db_begin(db, err));
	DTX_TRY(dtx_ledger_append(db, &event, err));
	DTX_TRY(dtx_db_commit(db, err));
out:
	if (rc != DTX_OK)
		dtx_db_rollback(db);
	json_decref(body);
	return rc;
}

enum dtx_code dtx_ledger_genesis(struct dtx_db *db, const char *after, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint8_t random[16];
	char id[33];

	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
		DTX_FAIL(err, DTX_E_STORE_IO, "no random bytes for the store's id");
	dtx_hex(random, sizeof(random), id);
	DTX_TRY(dtx_ledger_add(db, "genesis", "",
	                       json_pack("{ss si ss*}", "store", id, "version", 1, "after", after),
	                       err));
out:
	return rc;
}

/* --- walk --- */

static enum dtx_code ledger_whole_body(struct dtx_db *db, struct dtx_str text, json_t **out,
                                       struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_json_limits limits = { DTX_BUF_TEXT_MAX, 64 };
	struct dtx_buf big = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	json_t *body = NULL;
	const char *hash;

	DTX_TRY(dtx_json_parse(text, limits, &body, err));
	hash = dtx_json_text(body, "blob", NULL);
	if (hash && json_object_size(body) == 1) {
		DTX_TRY(dtx_blob_get(db, hash, &big, err));
		json_decref(body);
		body = NULL;
		DTX_TRY(dtx_json_parse((struct dtx_str){ big.ptr, big.len }, limits, &body, err));
	}
	*out = body;
	body = NULL;
out:
	json_decref(body);
	dtx_buf_clear(&big);
	return rc;
}

static enum dtx_code ledger_visit(struct dtx_db *db, const struct ledger_row *row, dtx_ledger_fn fn,
                                  void *arg, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_event event = { row->seq, row->ts_us, row->kind.ptr, row->run_id.ptr, NULL };
	json_t *body = NULL;

	DTX_TRY(ledger_whole_body(db, row->body, &body, err));
	event.body = body;
	DTX_TRY(fn(arg, &event, err));
out:
	json_decref(body);
	return rc;
}

static enum dtx_code ledger_each(struct dtx_db *db, struct dtx_db_rows *rows, dtx_ledger_fn fn,
                                 void *arg, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct ledger_row row;
	bool more;

	for (;;) {
		DTX_TRY(dtx_db_next(db, rows, &more, err));
		if (!more)
			break;
		ledger_row_read(rows, &row);
		DTX_TRY(ledger_visit(db, &row, fn, arg, err));
	}
out:
	return rc;
}

enum dtx_code dtx_ledger_walk(struct dtx_db *db, int64_t from, dtx_ledger_fn fn, void *arg,
                              struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_db_val val = DTX_DBI(from);
	struct dtx_db_rows *rows = NULL;

	DTX_TRY(dtx_db_query(db, DTX_SQL_EVENTS, &val, 1, &rows, err));
	DTX_TRY(ledger_each(db, rows, fn, arg, err));
out:
	dtx_db_done(rows);
	return rc;
}

enum dtx_code dtx_ledger_walk_run(struct dtx_db *db, const char *run_id, dtx_ledger_fn fn,
                                  void *arg, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_db_val val[3] = { dtx_db_text(run_id) };
	struct dtx_db_rows *rows = NULL;
	bool more = false;

	DTX_TRY(dtx_db_query(db, DTX_SQL_RUN_BY_ID, val, 1, &rows, err));
	DTX_TRY(dtx_db_next(db, rows, &more, err));
	if (!more)
		DTX_FAIL(err, DTX_E_NO_RECORD, "the store has no run '%s'", run_id);
	val[1] = DTX_DBI(dtx_db_get_int(rows, 0));
	val[2] = DTX_DBI(dtx_db_get_int(rows, 1));
	dtx_db_done(rows);
	rows = NULL;
	DTX_TRY(dtx_db_query(db, DTX_SQL_RUN_EVENTS, val, DTX_COUNT(val), &rows, err));
	DTX_TRY(ledger_each(db, rows, fn, arg, err));
out:
	dtx_db_done(rows);
	return rc;
}

/* Whether the event belongs to the chain, as far as its own hash and those of its two neighbours
 * show. */
static bool ledger_chained(const struct ledger_row *row, struct dtx_str before,
                           struct dtx_str after)
{
	uint8_t want[DTX_SHA256_SIZE];

	ledger_hash(row, want);
	return dtx_str_eq(row->prev, before) && row->hash.len == sizeof(want) &&
	       !memcmp(row->hash.ptr, want, sizeof(want)) &&
	       (!after.len || dtx_str_eq(row->hash, after));
}

enum dtx_code dtx_ledger_walk_snippets(struct dtx_db *db, dtx_ledger_fn fn, void *arg,
                                       struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_db_rows *rows = NULL;
	struct ledger_row row;
	bool more;

	DTX_TRY(dtx_db_query(db, DTX_SQL_SNIPPET_EVENTS, NULL, 0, &rows, err));
	for (;;) {
		DTX_TRY(dtx_db_next(db, rows, &more, err));
		if (!more)
			break;
		ledger_row_read(rows, &row);
		if (!ledger_chained(&row, dtx_db_get_bytes(rows, 7), dtx_db_get_bytes(rows, 8))) {
			rc = dtx_err_set(err, DTX_E_STORE_IO, __FILE__, __LINE__,
			                 "the ledger was changed: event %lld, %.32s, does not fit "
			                 "in the chain",
			                 (long long)row.seq, row.kind.ptr);
			dtx_err_hint(err, "dtx verify shows what was changed; go on with an "
			                  "earlier copy, or with another store (--store FILE)");
			goto out;
		}
		DTX_TRY(ledger_visit(db, &row, fn, arg, err));
	}
out:
	dtx_db_done(rows);
	return rc;
}

/* --- verify --- */

static bool ledger_fits(const struct ledger_row *row, const struct dtx_ledger_head *before)
{
	uint8_t want[DTX_SHA256_SIZE];

	if (row->seq != before->seq + 1 || row->prev.len != DTX_SHA256_SIZE ||
	    row->hash.len != DTX_SHA256_SIZE ||
	    memcmp(row->prev.ptr, before->hash, DTX_SHA256_SIZE))
		return false;
	ledger_hash(row, want);
	return !memcmp(row->hash.ptr, want, sizeof(want));
}

enum dtx_code dtx_ledger_hash_at(struct dtx_db *db, int64_t seq, uint8_t hash[DTX_SHA256_SIZE],
                                 bool *found, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_db_val val = DTX_DBI(seq);
	struct dtx_db_rows *rows = NULL;
	struct ledger_row row;
	bool more = false;

	*found = false;
	DTX_TRY(dtx_db_query(db, DTX_SQL_EVENTS, &val, 1, &rows, err));
	DTX_TRY(dtx_db_next(db, rows, &more, err));
	if (!more)
		goto out;
	ledger_row_read(rows, &row);
	if (row.seq != seq || row.hash.len != DTX_SHA256_SIZE)
		goto out;
	memcpy(hash, row.hash.ptr, row.hash.len);
	*found = true;
out:
	dtx_db_done(rows);
	return rc;
}

/* The events that a check passes on; NULL: none. */
struct ledger_wanted {
	const char *run_id;
	dtx_ledger_fn fn;
	void *arg;
};

static bool ledger_wants(const struct ledger_wanted *w, const struct ledger_row *row)
{
	return w && (!strcmp(row->run_id.ptr, w->run_id) || !strcmp(row->kind.ptr, "purge"));
}

static enum dtx_code ledger_check(struct dtx_db *db, int64_t from,
                                  const struct ledger_wanted *wanted, int64_t *bad,
                                  struct dtx_ledger_head *head, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_db_val val = DTX_DBI(from);
	struct dtx_db_rows *rows = NULL;
	struct ledger_row row;
	bool more = true, found;

	*bad = 0;
	head->seq = from - 1;
	memcpy(head->hash, ledger_zero, sizeof(head->hash));
	if (from > 1) {
		DTX_TRY(dtx_ledger_hash_at(db, from - 1, head->hash, &found, err));
		if (!found)
			*bad = from - 1;
	}
	DTX_TRY(dtx_db_query(db, DTX_SQL_EVENTS, &val, 1, &rows, err));
	while (!*bad) {
		DTX_TRY(dtx_db_next(db, rows, &more, err));
		if (!more)
			break;
		ledger_row_read(rows, &row);
		if (!ledger_fits(&row, head)) {
			*bad = head->seq + 1;
			break;
		}
		head->seq = row.seq;
		memcpy(head->hash, row.hash.ptr, sizeof(head->hash));
		if (ledger_wants(wanted, &row))
			DTX_TRY(ledger_visit(db, &row, wanted->fn, wanted->arg, err));
	}
	if (!*bad && !head->seq)
		*bad = 1; /* not even the first event is there */
out:
	dtx_db_done(rows);
	return rc;
}

enum dtx_code dtx_ledger_check(struct dtx_db *db, int64_t from, int64_t *bad,
                               struct dtx_ledger_head *head, struct dtx_err *err)
{
	return ledger_check(db, from, NULL, bad, head, err);
}

enum dtx_code dtx_ledger_check_run(struct dtx_db *db, int64_t from, const char *run_id,
                                   dtx_ledger_fn fn, void *arg, int64_t *bad, struct dtx_err *err)
{
	const struct ledger_wanted wanted = { run_id, fn, arg };
	struct dtx_ledger_head head;

	return ledger_check(db, from, &wanted, bad, &head, err);
}
