/* provenance: shows how a result came about. */
#include <string.h>

#include "cli/relative_time.h"
#include "cli/why/citation.h"
#include "cli/report/html.h"
#include "cli/store/lookup.h"
#include "cli/report/openlineage.h"
#include "cli/out.h"
#include "cli/report/provjson.h"
#include "cli/compare/rundiff.h"
#include "core/io/write/outfile.h"
#include "core/io/write/reserve.h"
#include "core/store/cache/gc.h"
#include "core/store/query/screen.h"

struct provenance_args {
	bool json, full, code, prompt, openlineage, prov, force;
	const char *html; /* where the report is written */
	const char *cite; /* a column */
	int64_t limit, sample;
	const char *since, *status, *path, *ns;
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
	{ .name = "prompt",
	  .kind = DTX_O_FLAG,
	  .offset = offsetof(struct provenance_args, prompt),
	  .help = "print what was sent to a model, byte for byte" },
	{ .name = "html",
	  .kind = DTX_O_TEXT,
	  .metavar = "FILE",
	  .offset = offsetof(struct provenance_args, html),
	  .help = "write a report for a browser: one file, without cell values" },
	{ .name = "force",
	  .kind = DTX_O_FLAG,
	  .offset = offsetof(struct provenance_args, force),
	  .help = "with --html: replace FILE if it is there" },
	{ .name = "with-sample",
	  .kind = DTX_O_INT,
	  .metavar = "N",
	  .offset = offsetof(struct provenance_args, sample),
	  .min = 1,
	  .max = 1000,
	  .help = "with --html: also show the first N rows of the result to all readers of the "
	          "report" },
	{ .name = "cite",
	  .kind = DTX_O_TEXT,
	  .metavar = "COLUMN",
	  .offset = offsetof(struct provenance_args, cite),
	  .help = "one line for a report: the column's formula, its sources and the run" },
	{ .name = "openlineage",
	  .kind = DTX_O_FLAG,
	  .offset = offsetof(struct provenance_args, openlineage),
	  .help = "as OpenLineage run events, one a line" },
	{ .name = "prov",
	  .kind = DTX_O_FLAG,
	  .offset = offsetof(struct provenance_args, prov),
	  .help = "as a W3C PROV document (PROV-JSON)" },
	{ .name = "since",
	  .kind = DTX_O_TEXT,
	  .metavar = "TIME",
	  .offset = offsetof(struct provenance_args, since),
	  .help = "log: runs since 2026-11-21, 2026-11-21T14:30:00 (UTC), or 7d ago" },
	{ .name = "status",
	  .kind = DTX_O_TEXT,
	  .metavar = "STATUS",
	  .offset = offsetof(struct provenance_args, status),
	  .help = "log: ok, failed, cancelled or abandoned runs" },
	{ .name = "path",
	  .kind = DTX_O_TEXT,
	  .metavar = "PATH",
	  .offset = offsetof(struct provenance_args, path),
	  .help = "log: runs done so: typed or snippet" },
	{ .name = "namespace",
	  .kind = DTX_O_TEXT,
	  .metavar = "NAME",
	  .offset = offsetof(struct provenance_args, ns),
	  .help = "log: runs of this namespace" },
	{ .name = "limit",
	  .kind = DTX_O_INT,
	  .metavar = "N",
	  .offset = offsetof(struct provenance_args, limit),
	  .min = 1,
	  .max = 1000000,
	  .help = "log: at most N runs" },
};

struct provenance_call {
	const struct dtx_cli *cli;
	const struct provenance_args *args;
	struct dtx_store *store;
	int argc;
	char **argv;
	struct dtx_buf out;
	bool findings; /* exit status 1 */
};

/* --- verbs --- */

static void provenance_log_line(const json_t *run, struct dtx_buf *out)
{
	const char *ns = dtx_json_text(run, "namespace", "");

	dtx_buf_printf(out, "%s  ", dtx_run_id_short(dtx_json_text(run, "run_id", "")));
	dtx_screen_time(out, dtx_json_int(run, "start_us", 0), true);
	dtx_buf_printf(out, "  %-9s %-8s ", dtx_json_text(run, "status", "open"),
	               dtx_json_text(run, "path", ""));
	/* a conversion has the namespace that is used for all runs without a plan's name */
	dtx_out_safe(out, strcmp(ns, "default") ? ns : dtx_json_text(run, "plan", ns), false);
	dtx_buf_addc(out, '\n');
}

static enum dtx_code provenance_log(struct provenance_call *c, struct dtx_err *err)
{
	static const char *const known = "ok,failed,cancelled,abandoned", *const ways =
										  "typed,snippet";
	enum dtx_code rc = DTX_OK;
	const struct provenance_args *a = c->args;
	struct dtx_log_filter filter = {
		.status = a->status, .path = a->path, .ns = a->ns, .limit = a->limit
	};
	json_t *runs = NULL, *run;
	size_t i;

	if (a->status && !dtx_str_in_list(known, a->status))
		DTX_FAIL(err, DTX_E_USAGE, "option '--status' takes one of %s, got '%s'", known,
		         a->status);
	if (a->path && !dtx_str_in_list(ways, a->path))
		DTX_FAIL(err, DTX_E_USAGE, "option '--path' takes one of %s, got '%s'", ways,
		         a->path);
	if (a->since)
		DTX_TRY(dtx_since_parse(a->since, "since", &filter.since_us, err));
	DTX_TRY(dtx_query_log(c->store, &filter, &runs, err));
	if (a->json) {
		dtx_json_print(runs, 1, &c->out);
		goto out;
	}
	json_array_foreach(runs, i, run) provenance_log_line(run, &c->out);
out:
	json_decref(runs);
	return rc;
}

/* Compares what the runs wrote, not what the files contain now. */
static void provenance_diff_notes(const struct provenance_call *c, const json_t *a, const json_t *b)
{
	const json_t *of[] = { a, b };

	for (size_t i = 0; i < DTX_COUNT(of); i++) {
		if (dtx_json_bool(json_object_get(of[i], "found"), "file_changed", false))
			dtx_out_note(
				c->cli,
				"dtx: %s is not as the run wrote it: what it wrote is compared\n",
				c->argv[i + 1]);
	}
	if (json_equal(json_object_get(json_object_get(a, "run"), "run_id"),
	               json_object_get(json_object_get(b, "run"), "run_id")))
		dtx_out_note(c->cli, "dtx: both are of one run, which is compared with itself\n");
}

static enum dtx_code provenance_diff(struct provenance_call *c, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	json_t *a = NULL, *b = NULL, *diff = NULL;

	DTX_TRY(dtx_lookup(c->store, c->argv[1], true, &a, err));
	DTX_TRY(dtx_lookup(c->store, c->argv[2], true, &b, err));
	DTX_TRY(dtx_query_files(a, err));
	DTX_TRY(dtx_query_files(b, err));
	provenance_diff_notes(c, a, b);
	diff = dtx_rundiff(a, b);
	if (!diff)
		DTX_FAIL_MEM(err);
	c->findings = json_array_size(json_object_get(diff, "differences")) > 0;
	if (c->args->json)
		dtx_json_print(diff, 1, &c->out);
	else
		dtx_rundiff_print(diff, &c->out);
out:
	json_decref(a);
	json_decref(b);
	json_decref(diff);
	return rc;
}

static enum dtx_code provenance_head(struct provenance_call *c, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	char head[DTX_HEAD_LINE];

	DTX_TRY(dtx_query_head(c->store, head, err));
	dtx_buf_printf(&c->out, "%s\n", head);
out:
	return rc;
}

/* Prints a table of the statistics, one line per row: first the texts, then the numbers with
 * their names. */
static void provenance_stats_table(const json_t *stats, const char *name, struct dtx_buf *out)
{
	json_t *row, *value;
	const char *key;
	size_t i;

	json_array_foreach(json_object_get(stats, name), i, row)
	{
		dtx_screen_label(out, i ? "" : name);
		json_object_foreach(row, key, value)
		{
			if (json_is_string(value) && !strcmp(key, "cost"))
				dtx_buf_printf(out, "cost %-15s", json_string_value(value));
			else if (json_is_string(value))
				dtx_buf_printf(out, "%-20s", json_string_value(value));
			else
				dtx_buf_printf(out, "%8lld %-16s",
				               (long long)json_integer_value(value), key);
		}
		while (out->len && out->ptr[out->len - 1] == ' ')
			out->len--;
		dtx_buf_addc(out, '\n');
	}
}

static enum dtx_code provenance_stats(struct provenance_call *c, struct dtx_err *err)
{
	static const char *const tables[] = { "runs", "events", "blobs", "snippets", "author" };
	enum dtx_code rc = DTX_OK;
	json_t *stats = NULL;

	DTX_TRY(dtx_store_stats(c->store, &stats, err));
	if (c->args->json) {
		dtx_json_print(stats, 1, &c->out);
		goto out;
	}
	dtx_screen_label(&c->out, "store");
	dtx_out_safe(&c->out, dtx_json_text(stats, "store", ""), false);
	dtx_buf_printf(&c->out, "  %lld bytes, %lld of them free\n",
	               (long long)dtx_json_int(stats, "bytes", 0),
	               (long long)dtx_json_int(stats, "free_bytes", 0));
	for (size_t i = 0; i < DTX_COUNT(tables); i++)
		provenance_stats_table(stats, tables[i], &c->out);
out:
	json_decref(stats);
	return rc;
}

/* --- one run --- */

/* Appends the stored bodies that the members of a list refer to, in the order of the list. */
static enum dtx_code provenance_bodies(struct dtx_store *store, const json_t *list, const char *in,
                                       const char *key, struct dtx_buf *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const json_t *one;
	size_t i;

	json_array_foreach(list, i, one)
	{
		const char *hash = dtx_json_text(in ? json_object_get(one, in) : one, key, NULL);

		if (hash)
			DTX_TRY(dtx_query_blob(store, hash, out, err));
	}
out:
	return rc;
}

static enum dtx_code provenance_code(struct dtx_store *store, const json_t *record,
                                     struct dtx_buf *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	DTX_TRY(provenance_bodies(store, json_object_get(record, "regions"), "cell", "code_hash",
	                          out, err));
	if (!out->len)
		DTX_FAIL_NEXT(err, DTX_E_NO_RECORD, "dtx provenance RUN shows what the run did",
		              "no snippet ran in this run");
out:
	return rc;
}

/* Prints what was sent to authors, in the order of the calls. */
static enum dtx_code provenance_prompt(struct dtx_store *store, const json_t *record,
                                       struct dtx_buf *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	DTX_TRY(provenance_bodies(store, json_object_get(record, "author"), NULL, "prompt_hash",
	                          out, err));
	if (!out->len)
		DTX_FAIL(err, DTX_E_NO_RECORD, "this run sent nothing to a model");
out:
	return rc;
}

/* Reserves the files that the report is about, so that it cannot replace them, even with
 * --force. */
static enum dtx_code provenance_reserve(const json_t *record, const char *list, const char *key,
                                        const char *what, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	json_t *file;
	size_t i;

	json_array_foreach(json_object_get(record, list), i, file)
	{
		const char *path = dtx_json_text(file, key, "-");

		if (strcmp(path, "-") != 0)
			DTX_TRY(dtx_reserve(path, what, err));
	}
out:
	return rc;
}

static enum dtx_code provenance_place(const json_t *record, const struct provenance_args *a,
                                      struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const json_t *run = json_object_get(record, "run");
	const char *plan = dtx_json_text(json_object_get(run, "plan"), "file", NULL);

	DTX_TRY(provenance_reserve(record, "outputs", "path", "an output of the run", err));
	DTX_TRY(provenance_reserve(record, "inputs", "uri", "an input of the run", err));
	if (plan)
		DTX_TRY(dtx_reserve(plan, "the plan of the run", err));
	DTX_TRY(dtx_outfile_claim(a->html, "the report", "the report", err));
	if (!a->force)
		DTX_TRY(dtx_outfile_absent(a->html,
		                           "name another file with --html, or replace this one "
		                           "with --force",
		                           err));
out:
	return rc;
}

/* Writes the page to its file; "-" is stdout. */
static enum dtx_code provenance_html(const json_t *record, const struct provenance_args *a,
                                     struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_buf page = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	struct dtx_buf sample = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	struct dtx_outfile *file = NULL;
	char id[DTX_RUN_ID];

	dtx_run_id_new(id);
	DTX_TRY(provenance_place(record, a, err));
	if (a->sample)
		DTX_TRY(dtx_html_sample(record, a->sample, &sample, err));
	DTX_TRY(dtx_buf_check(&sample, "report", err));
	dtx_html_report(record, a->sample ? dtx_buf_text(&sample) : NULL, &page);
	DTX_TRY(dtx_buf_check(&page, "report", err));
	DTX_TRY(dtx_outfile_open(a->html, id, DTX_OUTFILE_STREAM, &file, err));
	if (!a->force)
		dtx_outfile_fresh(file);
	DTX_TRY(dtx_outfile_write(file, page.ptr, page.len, err));
	DTX_TRY(dtx_outfile_finish(file, err));
	DTX_TRY(dtx_outfile_commit(file, err));
out:
	dtx_outfile_free(file);
	dtx_buf_clear(&page);
	dtx_buf_clear(&sample);
	return rc;
}

static enum dtx_code provenance_export(struct provenance_call *c, const json_t *record,
                                       struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	json_t *doc = NULL;

	if (c->args->openlineage) {
		dtx_openlineage_print(record, &c->out);
		goto out;
	}
	doc = dtx_provjson(record);
	if (!doc)
		DTX_FAIL_MEM(err);
	dtx_json_print(doc, 1, &c->out);
out:
	json_decref(doc);
	return rc;
}

static enum dtx_code provenance_record(struct provenance_call *c, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct provenance_args *a = c->args;
	struct dtx_buf screen = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	json_t *record = NULL;

	DTX_TRY(dtx_lookup(c->store, c->argc ? c->argv[0] : NULL,
	                   a->full || a->html || a->openlineage, &record, err));
	DTX_TRY(dtx_query_files(record, err));
	if (a->html)
		DTX_TRY(provenance_html(record, a, err));
	else if (a->code)
		DTX_TRY(provenance_code(c->store, record, &c->out, err));
	else if (a->prompt)
		DTX_TRY(provenance_prompt(c->store, record, &c->out, err));
	else if (a->cite)
		DTX_TRY(dtx_citation(record, a->cite, &c->out, err));
	else if (a->openlineage || a->prov)
		DTX_TRY(provenance_export(c, record, err));
	else if (a->json)
		dtx_json_print(record, 1, &c->out);
	else
		dtx_query_screen(record, &screen);
	/* names of columns and files may contain anything, so control characters are escaped */
	dtx_out_safe(&c->out, dtx_buf_text(&screen), true);
	DTX_TRY(dtx_buf_check(&screen, "screen", err));
out:
	dtx_buf_clear(&screen);
	json_decref(record);
	return rc;
}

/* --- the command --- */

/* A verb takes the place of a run or a file. */
static const struct {
	const char *verb;
	int operands;
	enum dtx_code (*run)(struct provenance_call *c, struct dtx_err *err);
} provenance_verbs[] = {
	{ "log", 0, provenance_log },
	{ "head", 0, provenance_head },
	{ "stats", 0, provenance_stats },
	{ "diff", 2, provenance_diff },
};

/* Only one of these forms of output may be chosen. */
static enum dtx_code provenance_ways(const struct provenance_args *a, const char *verb,
                                     struct dtx_err *err)
{
	const struct {
		bool given, with_verb;
		const char *name;
	} ways[] = {
		{ a->html != NULL, false, "--html" }, { a->json, true, "--json" },
		{ a->code, false, "--code" },         { a->prompt, false, "--prompt" },
		{ a->cite != NULL, false, "--cite" }, { a->openlineage, false, "--openlineage" },
		{ a->prov, false, "--prov" },
	};
	enum dtx_code rc = DTX_OK;
	const char *first = NULL;

	for (size_t i = 0; i < DTX_COUNT(ways); i++) {
		if (!ways[i].given)
			continue;
		if (first)
			DTX_FAIL(err, DTX_E_USAGE, "options '%s' and '%s' do not go together",
			         first, ways[i].name);
		if (verb && !ways[i].with_verb)
			DTX_FAIL(err, DTX_E_USAGE,
			         "option '%s' is about one run: it goes with no '%s'", ways[i].name,
			         verb);
		first = ways[i].name;
	}
	if (a->sample && !a->html)
		DTX_FAIL(err, DTX_E_USAGE, "option '--with-sample' goes with --html");
	if (a->force && !a->html)
		DTX_FAIL(err, DTX_E_USAGE, "option '--force' goes with --html");
out:
	return rc;
}

static enum dtx_code provenance_call(struct provenance_call *c, const struct dtx_cli *cli,
                                     struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const char *verb = NULL;
	size_t i;

	for (i = 0; i < DTX_COUNT(provenance_verbs); i++) {
		if (c->argc && !strcmp(c->argv[0], provenance_verbs[i].verb)) {
			verb = c->argv[0];
			break;
		}
	}
	if (verb && provenance_verbs[i].operands > c->argc - 1)
		DTX_FAIL(err, DTX_E_USAGE, "'%s' needs two runs or files", verb);
	if (c->argc > 1 && (!verb || c->argc - 1 > provenance_verbs[i].operands))
		DTX_FAIL(err, DTX_E_USAGE, "unexpected operand '%s'", c->argv[c->argc - 1]);
	DTX_TRY(provenance_ways(c->args, verb, err));
	DTX_TRY(dtx_store_open(cli->store, DTX_STORE_READ, &c->store, err));
	DTX_TRY(verb ? provenance_verbs[i].run(c, err) : provenance_record(c, err));
	if (c->args->json || c->args->prov)
		dtx_buf_addc(&c->out, '\n');
out:
	return rc;
}

static int provenance_run(const struct dtx_cli *cli, void *args, int argc, char **argv)
{
	struct provenance_call c = { .cli = cli,
		                     .args = args,
		                     .argc = argc,
		                     .argv = argv,
		                     .out = DTX_BUF_INIT((size_t)1 << 30) };
	struct dtx_err err = DTX_ERR_INIT;
	enum dtx_code rc = provenance_call(&c, cli, &err);
	int status = rc == DTX_OK ? dtx_out_print(cli, &c.out) : dtx_out_fail(cli, &err);

	if (rc == DTX_OK && !status && c.findings)
		status = 1;
	dtx_store_free(c.store);
	dtx_buf_clear(&c.out);
	dtx_err_clear(&err);
	return status;
}

const struct dtx_cmd dtx_cmd_provenance = {
	.name = "provenance",
	.usage = "[RUN | FILE | log | diff A B | stats | head | VERB]",
	.summary = "Show how a result came about, by run or by output file",
	.notes = "Without an operand: the last run from this folder.  A file is found by its "
		 "content,\n"
		 "then by the run id inside an .xlsx, then by its name.  `log` prints a line per "
		 "run,\n"
		 "newest first; `diff` what two runs differ in: plan, inputs, code, schema, rows, "
		 "result,\n"
		 "environment, and rows by key; `stats` how much the store holds; `head` the head "
		 "of the ledger, to "
		 "keep\n"
		 "elsewhere.  `cells` is `dtx snippet list`; `path`, `check`, `rebuild`, `gc`, "
		 "`forget` and\n"
		 "`archive` are those of `dtx store`; `dtx diff A B` is `diff`.  `dtx schema "
		 "--record` prints\n"
		 "the JSON Schema of --json.\n\n"
		 "  dtx provenance out.csv\n"
		 "  dtx provenance out.csv --json | jq .lineage\n"
		 "  dtx provenance out.csv --cite utilization\n"
		 "  dtx provenance log --since 7d --status failed\n"
		 "  dtx provenance diff 70ecc9a9 out.csv",
	.exits = "0 done; 1 the runs differ; 4 no record; 9 the store cannot be read",
	.opts = provenance_opts,
	.nopts = DTX_COUNT(provenance_opts),
	.args_size = sizeof(struct provenance_args),
	.max_args = 3,
	.run = provenance_run,
};
