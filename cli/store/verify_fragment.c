/* Does one fragment of a run again, see verify_fragment.h. */
#include "cli/store/verify_fragment.h"

#include <string.h>

#include "core/base/tempdir.h"
#include "core/cluster/fragment.h"
#include "core/io/isolate/isolate.h"

#define PRINTED_MAX ((size_t)16 << 20)
#define WHOLE       "dtx replay does the whole run again"

/* Finds fragment n, the text of its job, and the number of its stage. */
static enum dtx_code find(const json_t *record, int64_t n, const json_t **fragment,
                          const json_t **job, size_t *of_stage, struct dtx_err *err)
{
	const json_t *run = json_object_get(record, "run"), *f;
	const char *of = dtx_json_text(run, "short", "");
	int64_t all = 0;
	json_t *stage;
	enum dtx_code rc = DTX_OK;
	size_t i;

	*fragment = *job = NULL;
	json_array_foreach(json_object_get(json_object_get(run, "engine"), "stages"), i, stage)
	{
		const json_t *list = json_object_get(stage, "fragments");

		f = json_array_get(list, (size_t)(n - all - 1));
		all += (int64_t)json_array_size(list);
		if (n > all || *fragment)
			continue;
		*fragment = f;
		*of_stage = i;
		*job = json_object_get(json_object_get(stage, "jobs"),
		                       dtx_json_text(json_object_get(f, "spec"), "job", ""));
	}
	if (!all)
		DTX_FAIL(err, DTX_E_USAGE, "run %s has no fragments: one process did it", of);
	if (!*fragment)
		DTX_FAIL(err, DTX_E_USAGE, "run %s has the fragments 1 to %lld, not %lld", of,
		         (long long)all, (long long)n);
	if (!*job)
		DTX_FAIL(err, DTX_E_USAGE,
		         "the record of run %s does not have the job of fragment %lld, which is "
		         "too large",
		         of, (long long)n);
out:
	return rc;
}

static enum dtx_code do_again(const json_t *record, size_t of_stage, const json_t *fragment,
                              const json_t *job, const char *folder, struct dtx_buf *printed,
                              struct dtx_err *err);

/* Does the fragments of these files again, whose rows one of stage `before` reads. They are of
 * earlier stages, so this ends, whatever a record says. */
static enum dtx_code do_files(const json_t *record, size_t before, const json_t *files,
                              const char *folder, struct dtx_err *err)
{
	struct dtx_buf printed = DTX_BUF_INIT(PRINTED_MAX);
	const json_t *one, *stages, *stage, *f, *job;
	size_t i, k, m;
	enum dtx_code rc = DTX_OK;

	stages = json_object_get(json_object_get(json_object_get(record, "run"), "engine"),
	                         "stages");
	json_array_foreach(files, i, one)
	{
		const char *name = json_string_value(json_array_get(one, 0));
		json_t *there = name ? dtx_manifest_read(folder, name) : NULL;
		bool found = there != NULL;

		json_decref(there);
		json_array_foreach(stages, k, stage)
			json_array_foreach(json_object_get(stage, "fragments"), m, f)
		{
			if (found || k >= before || !name ||
			    strcmp(name, dtx_json_text(f, "fragment", "")) != 0)
				continue;
			job = json_object_get(json_object_get(stage, "jobs"),
			                      dtx_json_text(json_object_get(f, "spec"), "job", ""));
			dtx_buf_reset(&printed);
			DTX_TRY(do_again(record, k, f, job, folder, &printed, err));
			found = true;
		}
		if (!found)
			DTX_FAIL_NEXT(err, DTX_E_USAGE, WHOLE,
			              "the record does not have all fragments whose rows this "
			              "one reads");
	}
out:
	dtx_buf_clear(&printed);
	return rc;
}

/* A job may name tables in the exchange folder, which the record does not have, and files of other
 * fragments, which are done again. */
static enum dtx_code make_files(const json_t *record, size_t of_stage, struct dtx_str job,
                                const char *folder, struct dtx_err *err)
{
	const struct dtx_json_limits limits = { .bytes = PRINTED_MAX, .depth = 64 };
	const json_t *one;
	json_t *o = NULL;
	size_t i;
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_json_parse(job, limits, &o, err));
	if (json_array_size(json_object_get(o, "sides")))
		DTX_FAIL_NEXT(err, DTX_E_USAGE, WHOLE,
		              "the fragment joins with a table that the record does not have");
	json_array_foreach(json_object_get(json_object_get(o, "gather"), "inputs"), i, one)
		DTX_TRY(do_files(record, of_stage, json_object_get(one, "files"), folder, err));
	json_array_foreach(json_object_get(o, "merged"), i, one)
		DTX_TRY(do_files(record, of_stage, json_object_get(one, "files"), folder, err));
out:
	json_decref(o);
	return rc;
}

/* The spec of the fragment, in another folder. */
static enum dtx_code put_spec(const json_t *fragment, const char *exchange, struct dtx_buf *out,
                              struct dtx_err *err)
{
	json_t *spec = json_copy(json_object_get(fragment, "spec"));
	enum dtx_code rc = DTX_OK;

	if (!spec || !dtx_json_set(spec, "exchange", json_string(exchange)))
		DTX_FAIL_MEM(err);
	dtx_json_canonical(spec, out);
	DTX_TRY(dtx_buf_check(out, "the spec of a fragment", err));
out:
	json_decref(spec);
	return rc;
}

static enum dtx_code do_again(const json_t *record, size_t of_stage, const json_t *fragment,
                              const json_t *job, const char *folder, struct dtx_buf *printed,
                              struct dtx_err *err)
{
	struct dtx_str text = { json_string_value(job), json_string_length(job) };
	struct dtx_buf spec = DTX_BUF_INIT(PRINTED_MAX);
	enum dtx_code rc = DTX_OK;

	if (!text.ptr)
		DTX_FAIL_NEXT(err, DTX_E_USAGE, WHOLE,
		              "the record does not have the job of a fragment, which is too "
		              "large");
	DTX_TRY(make_files(record, of_stage, text, folder, err));
	DTX_TRY(dtx_exchange_put(folder,
	                         dtx_json_text(json_object_get(fragment, "spec"), "job", ""), "job",
	                         text, err));
	DTX_TRY(put_spec(fragment, folder, &spec, err));
	(void)dtx_fragment_run(dtx_buf_str(&spec), printed); /* which also says its class */
out:
	dtx_buf_clear(&spec);
	return rc;
}

static enum dtx_code compare(const json_t *fragment, struct dtx_str printed, int64_t n,
                             json_t *findings, const char **hash, struct dtx_err *err)
{
	const struct dtx_json_limits limits = { .bytes = PRINTED_MAX, .depth = 16 };
	json_t *said = NULL;
	const char *now;
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_json_parse(printed, limits, &said, err));
	*hash = dtx_json_text(fragment, "hash", "");
	now = dtx_json_text(said, "hash", "");
	if (!strcmp(*hash, now))
		goto out;
	if (dtx_json_int(said, "class", 0) != DTX_FRAGMENT_OK) {
		if (!dtx_isolate_err_read(json_object_get(said, "error"), err))
			DTX_FAIL(err, DTX_E_INPUT_CHANGED,
			         "fragment %lld cannot be done alone any more: its rows or their "
			         "types have changed",
			         (long long)n);
		rc = err->code;
		goto out;
	}
	if (json_array_append_new(
		    findings, json_pack("{ss sI so}", "finding", "fragment_differs", "fragment",
	                                (json_int_t)n, "text",
	                                json_sprintf("fragment %lld gave %s in the run, and now %s",
	                                             (long long)n, *hash, now))))
		DTX_FAIL_MEM(err);
out:
	json_decref(said);
	return rc;
}

enum dtx_code dtx_verify_fragment(const json_t *record, int64_t n, json_t *findings,
                                  const char **hash, struct dtx_err *err)
{
	struct dtx_buf printed = DTX_BUF_INIT(PRINTED_MAX);
	struct dtx_tempdir temp = { .path = "" };
	const json_t *fragment, *job;
	size_t stage = 0;
	enum dtx_code rc = DTX_OK;

	DTX_TRY(find(record, n, &fragment, &job, &stage, err));
	DTX_TRY(dtx_tempdir_make(&temp, "exchange", err));
	DTX_TRY(do_again(record, stage, fragment, job, temp.path, &printed, err));
	DTX_TRY(compare(fragment, dtx_buf_str(&printed), n, findings, hash, err));
out:
	dtx_tempdir_remove(&temp);
	dtx_buf_clear(&printed);
	return rc;
}
