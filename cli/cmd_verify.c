/* verify: whether the ledger and the outputs are what they were. */
#include <stdio.h>
#include <string.h>

#include "cli/lookup.h"
#include "cli/out.h"
#include "core/base/file.h"
#include "core/base/mem.h"
#include "core/plan/exec.h"
#include "core/store/verify.h"

struct verify_args {
	struct dtx_verify_opts opts;
	const char *receipt;
	bool json;
};

static const struct dtx_opt verify_opts[] = {
	{ .name = "head",
	  .kind = DTX_O_TEXT,
	  .metavar = "TEXT",
	  .offset = offsetof(struct verify_args, opts.head),
	  .help = "the chain must contain this head, as `dtx provenance head` printed it" },
	{ .name = "receipt",
	  .kind = DTX_O_TEXT,
	  .metavar = "FILE",
	  .offset = offsetof(struct verify_args, receipt),
	  .help = "the record must be the one in this receipt, as `run --receipt` wrote it" },
	{ .name = "since",
	  .kind = DTX_O_INT,
	  .metavar = "SEQ",
	  .offset = offsetof(struct verify_args, opts.since),
	  .min = 1,
	  .max = INT64_MAX,
	  .help = "check the chain from this event on" },
	{ .name = "json",
	  .kind = DTX_O_FLAG,
	  .offset = offsetof(struct verify_args, json),
	  .help = "findings as JSON" },
};

static enum dtx_code verify_add(json_t *findings, json_t *one, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (json_array_append_new(findings, one) < 0)
		DTX_FAIL_MEM(err);
out:
	return rc;
}

/* --- the outputs of a run --- */

/* Whether a changed file still has the recorded table: quotes or line ends alone differ. */
static bool verify_table(const char *path, const json_t *output)
{
	static const char text[] = "{\"dtx\":1,\"inputs\":[{\"name\":\"main\",\"header_rows\":1}],"
				   "\"steps\":[{\"op\":\"filter\",\"where\":\"true\"}]}";
	struct dtx_errlist findings = DTX_ERRLIST_INIT;
	struct dtx_exec_opts opts = DTX_EXEC_OPTS_INIT;
	struct dtx_exec_result *result = NULL;
	struct dtx_plan *plan = NULL;
	struct dtx_source *src = NULL;
	bool equal = false;

	opts.input = &src;
	opts.fallback = DTX_FALLBACK_OFF;
	opts.table_hash = true;
	if (dtx_source_open(path, &src, NULL) == DTX_OK &&
	    dtx_plan_parse(dtx_str_of(text), NULL, &findings, &plan, NULL) == DTX_OK &&
	    dtx_plan_check(plan, &findings, NULL) == DTX_OK &&
	    dtx_exec(plan, &opts, NULL, &findings, &result, NULL) == DTX_OK)
		equal = !strcmp(result->output[0].table_hash,
		                dtx_json_text(output, "table_hash", ""));
	dtx_exec_free(result);
	dtx_plan_free(plan);
	dtx_source_free(src);
	dtx_errlist_clear(&findings);
	return equal;
}

static enum dtx_code verify_output(const json_t *output, const char *run, json_t *findings,
                                   struct dtx_err *err)
{
	const char *state = dtx_json_text(output, "file", NULL);
	const char *path = dtx_json_text(output, "path", "-");
	const char *format = dtx_json_text(json_object_get(output, "writer"), "format", "");
	bool equal = false;

	if (!state || !strcmp(state, "unchanged"))
		return DTX_OK;
	if (!strcmp(state, "changed") && (!strcmp(format, "csv") || !strcmp(format, "tsv")))
		equal = verify_table(path, output);
	return verify_add(
		findings,
		json_pack("{ss ss sb so}", "finding", "output_changed", "path", path, "same_table",
	                  equal, "text",
	                  json_sprintf("'%s', written by run %s, is %s%s", path, run, state,
	                               equal ? "; its table is still the same" : "")),
		err);
}

/* A copy that was asked about stands for the output whose bytes it has, wherever that is now. */
static enum dtx_code verify_copy(const char *what, json_t *record, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const json_t *found = json_object_get(record, "found");
	json_t *output = json_array_get(json_object_get(record, "outputs"),
	                                (size_t)dtx_json_int(found, "output", -1));
	char *path = NULL;

	if (!output || dtx_json_bool(found, "file_changed", true))
		goto out;
	path = dtx_file_absolute(what);
	if (!path || !dtx_json_set(output, "file", json_string("unchanged")) ||
	    !dtx_json_set(output, "path", json_string(path)))
		DTX_FAIL_MEM(err);
out:
	dtx_mem_free(path);
	return rc;
}

static enum dtx_code verify_run(struct dtx_store *store, const char *what, json_t **record,
                                json_t *findings, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	json_t *output;
	size_t i;

	DTX_TRY(dtx_lookup(store, what, false, record, err));
	DTX_TRY(dtx_query_files(*record, err));
	DTX_TRY(verify_copy(what, *record, err));
	json_array_foreach(json_object_get(*record, "outputs"), i, output) DTX_TRY(
		verify_output(output, dtx_json_text(json_object_get(*record, "run"), "short", ""),
	                      findings, err));
out:
	return rc;
}

/* --- a receipt --- */

static enum dtx_code verify_differs(json_t *findings, const char *path, const char *text,
                                    struct dtx_err *err)
{
	return verify_add(findings,
	                  json_pack("{ss ss so}", "finding", "receipt_differs", "path", path,
	                            "text", json_sprintf("'%s': %s", path, text)),
	                  err);
}

/* A record without what goes on after its run: the head, and what became of its snippets. */
static json_t *verify_settled(const json_t *record)
{
	json_t *copy = json_deep_copy(record), *region;
	size_t i;

	json_object_del(copy, "found");
	json_object_del(json_object_get(copy, "chain"), "head");
	json_array_foreach(json_object_get(copy, "regions"), i, region)
		json_object_del(region, "cell");
	return copy;
}

static enum dtx_code verify_same(const char *receipt, const json_t *kept, const json_t *record,
                                 json_t *findings, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	json_t *was = verify_settled(kept), *is = verify_settled(record), *value;
	const char *key;
	char text[80];

	if (!was || !is)
		DTX_FAIL_MEM(err);
	json_object_foreach(is, key, value)
	{
		if (json_equal(json_object_get(was, key), value))
			continue;
		snprintf(text, sizeof(text), "the record of this run has another '%.20s'", key);
		DTX_TRY(verify_differs(findings, receipt, text, err));
	}
	json_object_foreach(was, key, value)
	{
		if (json_object_get(is, key))
			continue;
		snprintf(text, sizeof(text), "the record of this run has no '%.20s'", key);
		DTX_TRY(verify_differs(findings, receipt, text, err));
	}
out:
	json_decref(was);
	json_decref(is);
	return rc;
}

/* The head in it must be in the chain, its outputs in the record of its run. */
static enum dtx_code verify_subjects(const json_t *receipt, const json_t *record, json_t *findings,
                                     struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	json_t *subject, *output;
	size_t i, k;

	json_array_foreach(json_object_get(receipt, "subject"), i, subject)
	{
		const char *sha = dtx_json_text(json_object_get(subject, "digest"), "sha256", "");
		bool found = false;

		json_array_foreach(json_object_get(record, "outputs"), k, output) found |=
			!strcmp(dtx_json_text(output, "sha", ""), sha);
		if (!found)
			DTX_TRY(verify_differs(findings, dtx_json_text(subject, "name", ""),
			                       "the record of this run has no such output", err));
	}
out:
	return rc;
}

static enum dtx_code verify_receipt(struct dtx_store *store, struct verify_args *a,
                                    const json_t *asked, json_t **receipt, json_t *findings,
                                    struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_json_limits limits = { DTX_BUF_TEXT_MAX, 64 };
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	const json_t *predicate;
	json_t *record = NULL;
	const char *run;

	DTX_TRY(dtx_file_slurp(a->receipt, &text, err));
	rc = dtx_json_parse(dtx_buf_str(&text), limits, receipt, err);
	if (rc != DTX_OK) {
		dtx_str_copy(err->input, sizeof(err->input), dtx_str_of(a->receipt));
		goto out;
	}
	predicate = json_object_get(*receipt, "predicate");
	run = dtx_json_text(json_object_get(json_object_get(predicate, "record"), "run"), "run_id",
	                    NULL);
	a->opts.head = dtx_json_text(predicate, "head", NULL);
	if (!run || !a->opts.head)
		DTX_FAIL(err, DTX_E_USAGE, "'%s' is no receipt of dtx", a->receipt);
	DTX_TRY(dtx_lookup(store, run, false, &record, err));
	DTX_TRY(verify_subjects(*receipt, record, findings, err));
	DTX_TRY(verify_same(a->receipt, json_object_get(predicate, "record"), record, findings,
	                    err));
	if (asked && strcmp(run, dtx_json_text(json_object_get(asked, "run"), "run_id", "")) != 0)
		DTX_TRY(verify_differs(findings, a->receipt, "the receipt is of another run", err));
out:
	json_decref(record);
	dtx_buf_clear(&text);
	return rc;
}

/* --- the command --- */

static void verify_print(const json_t *record, const json_t *findings, const char *head,
                         struct dtx_buf *out)
{
	json_t *f;
	size_t i;

	json_array_foreach((json_t *)(uintptr_t)findings, i, f)
	{
		dtx_buf_printf(out, "%-16s", dtx_json_text(f, "finding", ""));
		if (json_object_get(f, "seq"))
			dtx_buf_printf(out, "event %lld: ", (long long)dtx_json_int(f, "seq", 0));
		else if (dtx_json_text(f, "hash", NULL))
			dtx_buf_printf(out, "blob %.12s: ", dtx_json_text(f, "hash", ""));
		else if (dtx_json_text(f, "table", NULL))
			dtx_buf_printf(out, "table %s: ", dtx_json_text(f, "table", ""));
		dtx_buf_printf(out, "%s\n", dtx_json_text(f, "text", ""));
	}
	if (i)
		return;
	dtx_buf_printf(out, "ok          the chain and all that it names are whole: %s\n", head);
	json_array_foreach(json_object_get(record, "outputs"), i, f)
	{
		if (dtx_json_text(f, "file", NULL))
			dtx_buf_printf(out, "%-12s%s is as run %s wrote it\n", "",
			               dtx_json_text(f, "path", ""),
			               dtx_json_text(json_object_get(record, "run"), "short", ""));
	}
}

static int verify_main(const struct dtx_cli *cli, void *args, int argc, char **argv)
{
	struct verify_args *a = args;
	struct dtx_buf out = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_store *store = NULL;
	json_t *found = json_array(), *all = NULL, *record = NULL, *receipt = NULL;
	char head[DTX_HEAD_LINE];
	enum dtx_code rc = DTX_OK;
	int status;

	if (!found)
		DTX_FAIL_MEM(&err);
	if (a->receipt && a->opts.head)
		DTX_FAIL(&err, DTX_E_USAGE, "a receipt has its own head: --head is one too many");
	DTX_TRY(dtx_store_open(cli->store, DTX_STORE_READ, &store, &err));
	if (argc)
		DTX_TRY(verify_run(store, argv[0], &record, found, &err));
	if (a->receipt)
		DTX_TRY(verify_receipt(store, a, record, &receipt, found, &err));
	DTX_TRY(dtx_verify(store, &a->opts, &all, &err));
	DTX_TRY(dtx_query_head(store, head, &err));
	if (json_array_extend(all, found) < 0)
		DTX_FAIL_MEM(&err);
	if (a->json) {
		dtx_json_print(all, 1, &out);
		dtx_buf_add(&out, "\n");
	} else {
		verify_print(record, all, head, &out);
	}
out:
	status = rc == DTX_OK ? dtx_out_print(cli, &out) : dtx_out_fail(cli, &err);
	if (rc == DTX_OK && !status && json_array_size(all))
		status = 1;
	json_decref(found);
	json_decref(all);
	json_decref(record);
	json_decref(receipt);
	dtx_store_free(store);
	dtx_buf_clear(&out);
	dtx_err_clear(&err);
	return status;
}

const struct dtx_cmd dtx_cmd_verify = {
	.name = "verify",
	.usage = "[RUN | FILE]",
	.summary = "Check that the ledger, and the outputs of a run, are what they were",
	.notes = "The chain is hashed again, then every body it names, then the tables made from "
		 "it.  With\n"
		 "RUN or FILE also the outputs of that run.  Findings: chain_broken, "
		 "blob_mismatch,\n"
		 "index_differs, output_changed, truncated, receipt_differs.\n\n"
		 "What it cannot detect by itself: a ledger cut off at its end, or written anew as "
		 "a whole\n"
		 "by somebody who may write the file.  A head or a receipt kept elsewhere shows "
		 "both.\n\n"
		 "  dtx provenance head > head.txt\n"
		 "  dtx verify --head \"$(cat head.txt)\"\n"
		 "  dtx verify out.csv",
	.exits = "0 all good; 1 findings; 4 no record; 9 the store cannot be read",
	.opts = verify_opts,
	.nopts = DTX_COUNT(verify_opts),
	.args_size = sizeof(struct verify_args),
	.max_args = 1,
	.run = verify_main,
};
