/* Finds runs and reads from the store: see query.h. */
#include "core/store/query/query.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/hash/identity.h"
#include "core/base/memory/mem.h"
#include "core/store/blob.h"
#include "core/store/ledger/ledger.h"
#include "core/store/cache/snippet.h"

/* --- which run --- */

/* The identity of a file, of the recorded kind; "" if the file cannot be read. */
static void query_hash_file(const char *path, enum dtx_identity_kind kind,
                            char text[DTX_IDENTITY_TEXT])
{
	static const size_t chunk = (size_t)1 << 20;
	struct dtx_identity id;
	char *buf = dtx_mem_alloc(chunk, 1);
	ssize_t n;
	int fd = -1;

	text[0] = '\0';
	if (!buf || dtx_file_passes(path) || dtx_file_open(path, &fd, NULL) != DTX_OK)
		goto out;
	dtx_identity_init(&id, kind);
	while ((n = read(fd, buf, chunk)) > 0)
		dtx_identity_add(&id, buf, (size_t)n);
	if (n == 0)
		dtx_identity_done(&id, text);
out:
	dtx_file_close(&fd);
	dtx_mem_free(buf);
}

/* The first row of a query by one text: run id, number of the output, number of rows. */
static enum dtx_code query_one(struct dtx_store *s, enum dtx_sql sql, const char *text,
                               const char *path, struct dtx_found *out, bool *found,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_db *db = dtx_store_db(s);
	struct dtx_db_val val[] = { dtx_db_text(text), dtx_db_text(path) };
	struct dtx_db_rows *rows = NULL;

	DTX_TRY(dtx_db_query(db, sql, val, path ? 2 : 1, &rows, err));
	DTX_TRY(dtx_db_next(db, rows, found, err));
	if (!*found)
		goto out;
	dtx_str_copy(out->run_id, sizeof(out->run_id), dtx_db_get_bytes(rows, 0));
	if (sql == DTX_SQL_RUN_BY_SHA || sql == DTX_SQL_RUN_BY_PATH) {
		out->output = (int)dtx_db_get_int(rows, 1);
		out->others = dtx_db_get_int(rows, 2) - 1;
	}
out:
	dtx_db_done(rows);
	return rc;
}

static enum dtx_code query_last(struct dtx_store *s, const char *cwd, struct dtx_found *out,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	bool found = false;

	DTX_TRY(query_one(s, DTX_SQL_RUN_BY_CWD, cwd, NULL, out, &found, err));
	if (!found)
		DTX_FAIL(err, DTX_E_NO_RECORD, "no run from folder '%s' is recorded", cwd);
out:
	if (rc == DTX_E_NO_RECORD)
		dtx_err_hint(err, "name a run or a file; dtx provenance log lists the runs");
	return rc;
}

static bool query_is_id(const char *what)
{
	size_t len = strlen(what);

	return len >= 4 && len < DTX_RUN_ID && strspn(what, "0123456789abcdef-") == len;
}

static enum dtx_code query_suffix(struct dtx_store *s, const char *what, struct dtx_found *out,
                                  bool *found, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_db *db = dtx_store_db(s);
	struct dtx_db_val val = dtx_db_text(what);
	struct dtx_db_rows *rows = NULL;
	bool more = false;

	*found = false;
	if (!query_is_id(what))
		return DTX_OK;
	DTX_TRY(dtx_db_query(db, DTX_SQL_RUN_BY_SUFFIX, &val, 1, &rows, err));
	DTX_TRY(dtx_db_next(db, rows, found, err));
	if (!*found)
		goto out;
	dtx_str_copy(out->run_id, sizeof(out->run_id), dtx_db_get_bytes(rows, 0));
	DTX_TRY(dtx_db_next(db, rows, &more, err));
	if (more) {
		rc = dtx_err_set(err, DTX_E_NO_RECORD, __FILE__, __LINE__,
		                 "several runs end with '%s'", what);
		dtx_err_hint(err, "give more digits of the run id");
	}
out:
	dtx_db_done(rows);
	return rc;
}

/* Which output of its run a file is if only the stamp inside names the run: the one with its path,
 * else the first. */
static enum dtx_code query_stamped(struct dtx_store *s, const char *path, struct dtx_found *out,
                                   struct dtx_err *err)
{
	struct dtx_found there = { .output = 0 };
	enum dtx_code rc = DTX_OK;
	bool found = false;

	DTX_TRY(query_one(s, DTX_SQL_RUN_BY_PATH, path, NULL, &there, &found, err));
	out->output = found && !strcmp(there.run_id, out->run_id) ? there.output : 0;
out:
	return rc;
}

/* Finds a file by its bytes, else by the stamp inside, else by the path to which it was written. */
static enum dtx_code query_file(struct dtx_store *s, const char *path, dtx_stamp_fn stamp,
                                void *stamp_arg, struct dtx_found *out, bool *found,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	char sha[DTX_IDENTITY_TEXT], run_id[DTX_RUN_ID], real[PATH_MAX];
	char *absolute = NULL;

	*found = false;
	absolute = realpath(path, real) ? dtx_mem_strdup(real) : dtx_file_absolute(path);
	if (!absolute)
		DTX_FAIL_MEM(err);
	query_hash_file(path, DTX_IDENTITY_SHA256, sha);
	if (sha[0])
		DTX_TRY(query_one(s, DTX_SQL_RUN_BY_SHA, sha, absolute, out, found, err));
	if (*found)
		goto out;
	out->file_changed = true;
	if (sha[0] && stamp && stamp(stamp_arg, path, run_id))
		DTX_TRY(query_suffix(s, run_id, out, found, err));
	if (*found) {
		DTX_TRY(query_stamped(s, absolute, out, err));
		goto out;
	}
	DTX_TRY(query_one(s, DTX_SQL_RUN_BY_PATH, absolute, NULL, out, found, err));
out:
	dtx_mem_free(absolute);
	return rc;
}

enum dtx_code dtx_query_find(struct dtx_store *s, const char *what, const char *cwd,
                             dtx_stamp_fn stamp, void *stamp_arg, struct dtx_found *out,
                             struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	bool found = false, there;

	memset(out, 0, sizeof(*out));
	out->output = -1;
	if (!what)
		return query_last(s, cwd, out, err);
	there = access(what, F_OK) == 0;
	if (there)
		DTX_TRY(query_file(s, what, stamp, stamp_arg, out, &found, err));
	if (!found) {
		struct dtx_found by_id = { .output = -1 };

		DTX_TRY(query_suffix(s, what, &by_id, &found, err));
		if (found)
			*out = by_id;
	}
	if (!found && !there)
		DTX_TRY(query_file(s, what, NULL, NULL, out, &found, err));
	if (!found) {
		rc = dtx_err_set(
			err, DTX_E_NO_RECORD, __FILE__, __LINE__,
			there ? "no recorded run wrote '%s'"
			      : "'%s' is neither a run id nor a file that a recorded run wrote",
			what);
		dtx_err_hint(err, "dtx provenance log lists the runs; --store names another store");
	}
out:
	return rc;
}

/* --- files as they are now --- */

const char *dtx_query_file(const char *path, const json_t *item)
{
	const char *sha = dtx_json_text(item, "sha", "");
	char now[DTX_IDENTITY_TEXT];

	if (access(path, F_OK) < 0)
		return "gone";
	if (dtx_file_passes(path))
		return "not kept";
	query_hash_file(path, dtx_identity_kind(sha), now);
	if (!now[0])
		return "unreadable";
	return strcmp(now, sha) ? "changed" : "unchanged";
}

enum dtx_code dtx_query_files(json_t *record, struct dtx_err *err)
{
	static const struct {
		const char *list, *path;
	} kinds[] = { { "inputs", "uri" }, { "outputs", "path" } };
	enum dtx_code rc = DTX_OK;
	json_t *item;
	size_t k, i;

	for (k = 0; k < DTX_COUNT(kinds); k++) {
		json_array_foreach(json_object_get(record, kinds[k].list), i, item)
		{
			const char *path = dtx_json_text(item, kinds[k].path, "-");

			/* a database that is changed in place is changed by others, too */
			if (strcmp(path, "-") &&
			    !dtx_json_bool(json_object_get(item, "writer"), "in_place", false) &&
			    !dtx_json_set(item, "file", json_string(dtx_query_file(path, item))))
				DTX_FAIL_MEM(err);
		}
	}
out:
	return rc;
}

/* --- lists --- */

static json_t *query_log_row(struct dtx_db_rows *rows)
{
	static const char *const text[] = { "run_id", "namespace", "plan_hash", "path",   "status",
		                            "code",   NULL,        NULL,        NULL,     "user",
		                            "host",   "cwd",       "argv",      "output", "plan" };
	static const char *const number[] = { [6] = "exit", [7] = "start_us", [8] = "end_us" };
	json_t *row = json_object();
	size_t i;

	for (i = 0; i < DTX_COUNT(text) && row; i++) {
		const char *value = dtx_db_get_text(rows, (int)i);
		bool ok = true;

		if (value && text[i])
			ok = dtx_json_set(row, text[i], json_string(value));
		else if (value)
			ok = dtx_json_set(row, number[i],
			                  json_integer(dtx_db_get_int(rows, (int)i)));
		if (!ok) {
			json_decref(row);
			row = NULL;
		}
	}
	return row;
}

enum dtx_code dtx_query_log(struct dtx_store *s, const struct dtx_log_filter *filter, json_t **out,
                            struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_db *db = dtx_store_db(s);
	struct dtx_db_val val[5] = { DTX_DBI(filter->since_us), dtx_db_text(filter->status),
		                     dtx_db_text(filter->path), dtx_db_text(filter->ns),
		                     DTX_DBI(filter->limit ? filter->limit : 1000) };
	struct dtx_db_rows *rows = NULL;
	json_t *list = json_array();
	bool more;

	if (!list)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_db_query(db, DTX_SQL_RUN_LOG, val, DTX_COUNT(val), &rows, err));
	for (;;) {
		DTX_TRY(dtx_db_next(db, rows, &more, err));
		if (!more)
			break;
		if (json_array_append_new(list, query_log_row(rows)) < 0)
			DTX_FAIL_MEM(err);
	}
	*out = list;
	list = NULL;
out:
	dtx_db_done(rows);
	json_decref(list);
	return rc;
}

enum dtx_code dtx_query_head(struct dtx_store *s, char out[DTX_HEAD_LINE], struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_ledger_head head;
	char hex[DTX_SHA256_HEX];

	DTX_TRY(dtx_ledger_head(dtx_store_db(s), &head, err));
	dtx_hex(head.hash, sizeof(head.hash), hex);
	snprintf(out, DTX_HEAD_LINE, "dtx1:%lld:%s", (long long)head.seq, hex);
out:
	return rc;
}

enum dtx_code dtx_query_store_id(struct dtx_store *s, char out[DTX_STORE_ID], struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_json_limits limits = { DTX_BUF_TEXT_MAX, 64 };
	struct dtx_db *db = dtx_store_db(s);
	struct dtx_db_val first = DTX_DBI(1);
	struct dtx_db_rows *rows = NULL;
	json_t *body = NULL;
	bool there;

	out[0] = '\0';
	DTX_TRY(dtx_db_query(db, DTX_SQL_EVENTS, &first, 1, &rows, err));
	DTX_TRY(dtx_db_next(db, rows, &there, err));
	if (there && dtx_json_parse(dtx_db_get_bytes(rows, 4), limits, &body, NULL) == DTX_OK)
		dtx_str_copy(out, DTX_STORE_ID, dtx_str_of(dtx_json_text(body, "store", "")));
out:
	json_decref(body);
	dtx_db_done(rows);
	return rc;
}

enum dtx_code dtx_query_blob(struct dtx_store *s, const char *hash, struct dtx_buf *out,
                             struct dtx_err *err)
{
	return dtx_blob_get(dtx_store_db(s), hash, out, err);
}
