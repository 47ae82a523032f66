/* provenance: how a result came about. */
#include <string.h>
#include <time.h>

#include "cli/html.h"
#include "cli/lookup.h"
#include "cli/out.h"
#include "core/io/outfile.h"

struct provenance_args {
	bool json, full, code;
	bool log, head;   /* verbs */
	const char *html; /* where the report goes */
	int64_t limit;
};

static const struct dtx_opt provenance_opts[] = {
	{ .name = "json",
	  .kind = DTX_O_FLAG,
	  .offset = offsetof(struct provenance_args, json),
	  .help = "the whole record as JSON" },
	{ .name = "full",
	  .kind = DTX_O_FLAG,
	  .offset = offsetof(struct provenance_args, full),
	  .help = "with --json: plan and code inline instead of by hash" },
	{ .name = "code",
	  .kind = DTX_O_FLAG,
	  .offset = offsetof(struct provenance_args, code),
	  .help = "print the snippet that ran" },
	{ .name = "html",
	  .kind = DTX_O_TEXT,
	  .metavar = "FILE",
	  .offset = offsetof(struct provenance_args, html),
	  .help = "write a report for a browser: one file, without cell values" },
	{ .name = "limit",
	  .kind = DTX_O_INT,
	  .metavar = "N",
	  .offset = offsetof(struct provenance_args, limit),
	  .min = 1,
	  .max = 1000000,
	  .help = "log: at most N runs" },
};

static void provenance_log_line(const json_t *run, struct dtx_buf *out)
{
	const char *id = dtx_json_text(run, "run_id", "");
	int64_t us = dtx_json_int(run, "start_us", 0);
	time_t s = (time_t)(us / 1000000);
	struct tm tm;
	char when[32] = "";

	if (gmtime_r(&s, &tm))
		strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%SZ", &tm);
	dtx_buf_printf(out, "%s  %s  %-9s %-8s %s\n", dtx_run_id_short(id), when,
	               dtx_json_text(run, "status", "open"), dtx_json_text(run, "path", ""),
	               dtx_json_text(run, "namespace", ""));
}

static enum dtx_code provenance_log(struct dtx_store *store, const struct provenance_args *a,
                                    struct dtx_buf *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_log_filter filter = { .limit = a->limit };
	json_t *runs = NULL, *run;
	size_t i;

	DTX_TRY(dtx_query_log(store, &filter, &runs, err));
	if (a->json)
		dtx_json_print(runs, 1, out);
	json_array_foreach(runs, i, run)
	{
		if (!a->json)
			provenance_log_line(run, out);
	}
out:
	json_decref(runs);
	return rc;
}

static enum dtx_code provenance_code(struct dtx_store *store, const json_t *record,
                                     struct dtx_buf *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const json_t *region, *regions = json_object_get(record, "regions");
	size_t i;

	json_array_foreach(regions, i, region)
	{
		const char *hash =
			dtx_json_text(json_object_get(region, "cell"), "code_hash", NULL);

		if (hash)
			DTX_TRY(dtx_query_blob(store, hash, out, err));
	}
	if (!out->len)
		DTX_FAIL(err, DTX_E_NO_RECORD, "no snippet ran in this run");
out:
	return rc;
}

/* The page goes to its file; "-" is stdout. */
static enum dtx_code provenance_html(const json_t *record, const char *path, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_buf page = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	struct dtx_outfile *file = NULL;
	char id[DTX_RUN_ID];

	dtx_run_id_new(id);
	dtx_html_report(record, &page);
	DTX_TRY(dtx_buf_check(&page, "report", err));
	DTX_TRY(dtx_outfile_open(path, id, DTX_OUTFILE_STREAM, &file, err));
	DTX_TRY(dtx_outfile_write(file, page.ptr, page.len, err));
	DTX_TRY(dtx_outfile_finish(file, err));
	DTX_TRY(dtx_outfile_commit(file, err));
out:
	dtx_outfile_free(file);
	dtx_buf_clear(&page);
	return rc;
}

static enum dtx_code provenance_record(struct dtx_store *store, const struct provenance_args *a,
                                       const char *what, struct dtx_buf *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	json_t *record = NULL;

	DTX_TRY(dtx_lookup(store, what, a->full || a->html, &record, err));
	DTX_TRY(dtx_query_files(record, err));
	if (a->html)
		DTX_TRY(provenance_html(record, a->html, err));
	else if (a->code)
		DTX_TRY(provenance_code(store, record, out, err));
	else if (a->json)
		dtx_json_print(record, 1, out);
	else
		dtx_query_screen(record, out);
	if (a->json && !a->code && !a->html)
		dtx_buf_add(out, "\n");
out:
	json_decref(record);
	return rc;
}

static enum dtx_code provenance_head(struct dtx_store *store, struct dtx_buf *out,
                                     struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	char head[DTX_HEAD_LINE];

	DTX_TRY(dtx_query_head(store, head, err));
	dtx_buf_printf(out, "%s\n", head);
out:
	return rc;
}

static int provenance_run(const struct dtx_cli *cli, void *args, int argc, char **argv)
{
	struct provenance_args *a = args;
	struct dtx_buf out = DTX_BUF_INIT((size_t)1 << 30);
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_store *store = NULL;
	enum dtx_code rc = DTX_OK;
	int status;

	/* the verbs stand where a run or a file would */
	a->head = argc && !strcmp(argv[0], "head");
	a->log = argc && !strcmp(argv[0], "log");
	if (a->html && (a->head || a->log || a->json || a->code))
		DTX_FAIL(&err, DTX_E_USAGE,
		         "option '--html' stands for a whole report: it goes "
		         "with no '%s'",
		         a->head || a->log ? argv[0]
		         : a->json         ? "--json"
		                           : "--code");
	DTX_TRY(dtx_store_open(cli->store, DTX_STORE_READ, &store, &err));
	if (a->head)
		DTX_TRY(provenance_head(store, &out, &err));
	else if (a->log)
		DTX_TRY(provenance_log(store, a, &out, &err));
	else
		DTX_TRY(provenance_record(store, a, argc ? argv[0] : NULL, &out, &err));
out:
	status = rc == DTX_OK ? dtx_out_print(cli, &out) : dtx_out_fail(cli, &err);
	dtx_store_free(store);
	dtx_buf_clear(&out);
	dtx_err_clear(&err);
	return status;
}

const struct dtx_cmd dtx_cmd_provenance = {
	.name = "provenance",
	.usage = "[RUN | FILE | log | head]",
	.summary = "Show how a result came about, by run or by output file",
	.notes = "Without an operand: the last run from this folder.  A file is found by its "
		 "content,\n"
		 "then by the run id inside an .xlsx, then by its name.  `log` prints a line per "
		 "run,\n"
		 "newest first; `head` the head of the ledger, to keep elsewhere.\n\n"
		 "  dtx provenance out.csv\n"
		 "  dtx provenance out.csv --json | jq .lineage\n"
		 "  dtx provenance log --limit 20",
	.exits = "0 done; 4 no record; 9 the store cannot be read",
	.opts = provenance_opts,
	.nopts = DTX_COUNT(provenance_opts),
	.args_size = sizeof(struct provenance_args),
	.max_args = 1,
	.run = provenance_run,
};
