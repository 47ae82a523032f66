/* Inputs that are kept in the store, see snapshots.h. They are given back as files, so that
 * workbooks and packed files are read in a locked process like any others. */
#include "cli/run/snapshots.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/memory/mem.h"
#include "core/store/query/query.h"

enum { KEPT_NAME = 200 }; /* bytes of an input's name */

enum dtx_code dtx_snapshots_check(const struct dtx_runner *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t total = 0;

	for (uint32_t i = 0; r->args->snapshot && i < r->plan->ninputs; i++) {
		if (dtx_source_passes(r->source[i]))
			DTX_FAIL(err, DTX_E_USAGE,
			         "--snapshot-inputs cannot keep input '%s': its bytes pass once",
			         r->plan->input[i].name);
		total += dtx_source_size(r->source[i]);
		if (total <= DTX_SNAPSHOTS_MAX)
			continue;
		rc = dtx_err_set(err, DTX_E_INPUT_LIMIT, __FILE__, __LINE__,
		                 "--snapshot-inputs keeps 256 MiB of inputs at most, got %zu MiB "
		                 "with input '%s'",
		                 total >> 20, r->plan->input[i].name);
		dtx_err_hint(err, "without it the record has their hashes, which prove as much "
		                  "while the files are kept elsewhere");
		goto out;
	}
out:
	return rc;
}

enum dtx_code dtx_snapshots_put(struct dtx_runner *r, const struct dtx_source *src, json_t *row,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_str bytes = { dtx_source_data(src), dtx_source_size(src) };
	char hash[DTX_SHA256_HEX];

	if (!r->args->snapshot)
		return DTX_OK;
	DTX_TRY(dtx_record_blob(r->record, DTX_SNAPSHOTS_KIND, bytes, hash, err));
	if (!dtx_json_set(row, "snapshot", json_string(hash)))
		DTX_FAIL_MEM(err);
out:
	return rc;
}

/* --- giving them back --- */

static enum dtx_code kept_write(const char *path, struct dtx_str bytes, int64_t *mtime_us,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	struct stat st;

	if (fd < 0)
		DTX_FAIL(err, DTX_E_OUTPUT_IO, "cannot make '%s': %s", path, strerror(errno));
	DTX_TRY(dtx_file_write(fd, bytes.ptr, bytes.len, path, err));
	if (fstat(fd, &st) < 0)
		DTX_FAIL(err, DTX_E_OUTPUT_IO, "cannot make '%s': %s", path, strerror(errno));
	*mtime_us = (int64_t)st.st_mtim.tv_sec * 1000000 + st.st_mtim.tv_nsec / 1000;
out:
	dtx_file_close(&fd);
	return rc;
}

/* The file keeps its name, or the end of a long one, because the suffix may decide the format. */
static const char *kept_name(const char *uri)
{
	const char *name = strcmp(uri, "-") ? dtx_file_basename(uri) : "stdin";
	size_t len = strlen(name);

	if (len <= KEPT_NAME)
		return name;
	name += len - KEPT_NAME;
	while ((*name & 0xc0) == 0x80) /* inside a character */
		name++;
	return name;
}

/* Writes one file, whose name begins with a number. */
static enum dtx_code kept_file(struct dtx_snapshots *k, json_t *input, struct dtx_str bytes,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const char *uri = dtx_json_text(input, "uri", "-");
	struct dtx_buf path = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	int64_t mtime = 0;
	bool made = false;

	if (!dtx_mem_grow(&k->file, k->n + 1, sizeof(*k->file)))
		DTX_FAIL_MEM(err);
	k->file[k->n] = NULL;
	dtx_buf_printf(&path, "%s/%zu-%s", k->dir.path, k->n, kept_name(uri));
	k->file[k->n] = dtx_buf_ok(&path) ? dtx_mem_strdup(dtx_buf_text(&path)) : NULL;
	made = k->file[k->n] != NULL;
	if (!made)
		DTX_FAIL_MEM(err);
	DTX_TRY(kept_write(k->file[k->n], bytes, &mtime, err));
	if (!dtx_json_set(input, "uri", json_string(k->file[k->n])) ||
	    !dtx_json_set(input, "mtime_us", json_integer((json_int_t)mtime)) ||
	    !dtx_json_set(input, "file", json_string("unchanged")))
		DTX_FAIL_MEM(err);
out:
	k->n += made;
	dtx_buf_clear(&path);
	return rc;
}

static bool kept_there(const json_t *input)
{
	const char *uri = dtx_json_text(input, "uri", "-");
	const char *state = dtx_json_text(input, "file", NULL);

	if (!strcmp(uri, "-"))
		return false;
	return !strcmp(state ? state : dtx_query_file(uri, input), "unchanged");
}

enum dtx_code dtx_snapshots_restore(struct dtx_store *store, json_t *record,
                                    struct dtx_snapshots *kept, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_buf bytes = DTX_BUF_INIT(DTX_SNAPSHOTS_MAX);
	json_t *input;
	size_t i;

	json_array_foreach(json_object_get(record, "inputs"), i, input)
	{
		const char *hash = dtx_json_text(input, "snapshot", NULL);

		if (!hash || kept_there(input))
			continue;
		dtx_buf_reset(&bytes);
		rc = dtx_query_blob(store, hash, &bytes, err);
		if (rc == DTX_E_NO_RECORD) { /* it was purged, so the input counts as not kept */
			dtx_err_clear(err);
			rc = DTX_OK;
			continue;
		}
		DTX_TRY(rc);
		if (!kept->dir.path[0])
			DTX_TRY(dtx_tempdir_make(&kept->dir, "inputs", err));
		DTX_TRY(kept_file(kept, input, dtx_buf_str(&bytes), err));
	}
out:
	dtx_buf_clear(&bytes);
	return rc;
}

void dtx_snapshots_clear(struct dtx_snapshots *kept)
{
	for (size_t i = 0; i < kept->n; i++)
		dtx_mem_free(kept->file[i]);
	dtx_mem_free(kept->file);
	dtx_tempdir_remove(&kept->dir);
	*kept = (struct dtx_snapshots){ .n = 0 };
}

enum dtx_code dtx_snapshots_lost(const json_t *input, const char *state, struct dtx_err *err)
{
	const char *uri = dtx_json_text(input, "uri", "-");
	const char *verb = !strcmp(state, "changed")    ? "has "
	                   : !strcmp(state, "not kept") ? "was "
	                                                : "is ";

	return dtx_err_set(err, DTX_E_INPUT_CHANGED, __FILE__, __LINE__,
	                   "input '%s' is no longer there as the run read it: '%s' %s%s",
	                   dtx_json_text(input, "alias", ""), strcmp(uri, "-") ? uri : "stdin",
	                   verb, state);
}

const char *dtx_snapshots_way(const json_t *input)
{
	const json_t *reader = json_object_get(input, "reader");

	if (json_is_true(json_object_get(reader, "stream")))
		return "a \"stream\" is not kept; without it dtx run --snapshot-inputs keeps "
		       "what is piped in";
	return "dtx run --snapshot-inputs keeps what is piped in";
}
