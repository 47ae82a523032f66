/* verify: checks whether the ledger and the outputs are what they were. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/store/lookup.h"
#include "cli/store/verify_fragment.h"
#include "cli/out.h"
#include "cli/run/receipt.h"
#include "core/base/file.h"
#include "core/base/memory/mem.h"
#include "core/plan/exec/exec.h"
#include "core/store/readonly_db.h"
#include "core/store/ledger/verify.h"

struct verify_args {
	struct dtx_verify_opts opts;
	const char *receipt;
	int64_t fragment;
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
	  .help = "the files and the record must be those of this receipt, as `run --receipt` "
	          "wrote it" },
	{ .name = "since",
	  .kind = DTX_O_INT,
	  .metavar = "SEQ",
	  .offset = offsetof(struct verify_args, opts.since),
	  .min = 1,
	  .max = INT64_MAX,
	  .help = "check the chain from this event on" },
	{ .name = "fragment",
	  .kind = DTX_O_INT,
	  .metavar = "N",
	  .offset = offsetof(struct verify_args, fragment),
	  .min = 1,
	  .max = INT64_MAX,
	  .help = "do fragment N of RUN, a run with --engine, again and compare its bytes" },
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

/* Whether a changed file still has the recorded table, so that only quotes or line ends differ. */
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
	const struct dtx_writer_class *writer = dtx_writer_find(
		dtx_json_text(json_object_get(output, "writer"), "format", ""), NULL);
	bool equal = false;

	if (!state || !strcmp(state, "unchanged"))
		return DTX_OK;
	if (!strcmp(state, "changed") && writer && writer->delimiter)
		equal = verify_table(path, output);
	return verify_add(
		findings,
		json_pack("{ss ss sb so}", "finding", "output_changed", "path", path, "same_table",
	                  equal, "text",
	                  json_sprintf("'%s', written by run %s, is %s%s", path, run, state,
	                               equal ? "; its table is still the same" : "")),
		err);
}

/* If the operand is a copy, uses it instead of the output that it equals, or whose run it names
 * inside, wherever that output is now. */
static enum dtx_code verify_copy(const char *what, json_t *record, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const json_t *found = json_object_get(record, "found");
	json_t *output = json_array_get(json_object_get(record, "outputs"),
	                                (size_t)dtx_json_int(found, "output", -1));
	bool changed = dtx_json_bool(found, "file_changed", true);
	char *path = NULL;

	if (!output || (changed && access(what, F_OK) < 0) ||
	    dtx_json_bool(json_object_get(output, "writer"), "in_place", false))
		goto out;
	path = dtx_file_absolute(what);
	if (!path ||
	    !dtx_json_set(output, "file", json_string(changed ? "changed" : "unchanged")) ||
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

/* --- the command --- */

struct verify {
	const struct dtx_cli *cli;
	const struct verify_args *args;
	struct dtx_verify_opts opts;
	struct dtx_store *store; /* NULL: no store, so that a receipt is compared with files only */
	struct dtx_receipt receipt;
	json_t *found, *all, *record;
	bool of_run;          /* only what concerns the run of `record` was checked */
	bool bare;            /* the store has no log next to it */
	const char *fragment; /* the hash of the fragment that was done again; borrowed; NULL */
	struct dtx_buf log;   /* what is wrong with its log */
	char head[DTX_HEAD_LINE];
};

static void verify_line(struct dtx_buf *out, const char *label, const char *text, const char *then)
{
	dtx_buf_printf(out, "%-12s", label);
	dtx_out_safe(out, text, false);
	dtx_buf_printf(out, "%s\n", then);
}

static void verify_good(const struct verify *v, struct dtx_buf *out)
{
	char how[64];
	json_t *f;
	size_t i;

	if (v->of_run)
		verify_line(out, "ok",
		            "the record of this run and the chain from it on are whole: ", v->head);
	else if (v->store)
		verify_line(out, "ok", "the chain and all that it names are whole: ", v->head);
	snprintf(how, sizeof(how), " is as run %s wrote it",
	         dtx_json_text(json_object_get(v->record, "run"), "short", ""));
	json_array_foreach(json_object_get(v->record, "outputs"), i, f)
	{
		if (dtx_json_text(f, "file", NULL))
			verify_line(out, "", dtx_json_text(f, "path", ""), how);
		else if (dtx_json_bool(json_object_get(f, "writer"), "in_place", false))
			verify_line(out, "not checked", dtx_json_text(f, "path", ""),
			            ": a database that other programs change, too");
	}
	if (v->fragment)
		verify_line(out, "", "the fragment gives the bytes that it gave: ", v->fragment);
	json_array_foreach(v->receipt.held, i, f) verify_line(
		out, v->store || i ? "" : "ok", json_string_value(f), " is as the receipt says");
}

static void verify_unchecked(const struct verify *v, struct dtx_buf *out)
{
	json_t *text;
	size_t i;

	json_array_foreach(v->receipt.unchecked, i, text)
		verify_line(out, "not checked", json_string_value(text), "");
	if (v->store && v->bare)
		verify_line(
			out, "not checked",
			"whether this is a copy without its log: FILE-wal is empty, as after gc, "
			"or is not there",
			"");
}

/* Prints what cannot be checked from here. */
static void verify_limits(const struct verify *v, struct dtx_buf *out)
{
	if (!v->store)
		return;
	if (v->of_run)
		verify_line(out, "not checked", "the records of other runs: dtx verify alone does",
		            "");
	verify_line(out, "not shown",
	            v->opts.head ? "whether entries after that head were cut off"
	                         : "whether the last entries were cut off, or the whole ledger "
	                           "was written again: --head or --receipt from another place "
	                           "shows it",
	            "");
}

static void verify_print(const struct verify *v, struct dtx_buf *out)
{
	if (json_array_size(v->all))
		dtx_out_findings(v->all, out);
	else
		verify_good(v, out);
	verify_unchecked(v, out);
	if (!json_array_size(v->all))
		verify_limits(v, out);
}

/* Opens the store. Without one, a receipt can still be compared with files. */
static enum dtx_code verify_open(struct verify *v, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	char *path = NULL;

	DTX_TRY(dtx_store_resolve(v->cli->store, &path, err));
	v->bare = dtx_readonly_db_bare(path);
	dtx_readonly_db_log(path, &v->log);
	v->opts.log = v->log.len ? dtx_buf_text(&v->log) : NULL;
	rc = dtx_store_open(v->cli->store, DTX_STORE_CHECK, &v->store, err);
	if (rc != DTX_E_NO_RECORD || !v->args->receipt)
		goto out;
	dtx_err_clear(err);
	rc = verify_add(v->receipt.unchecked,
	                json_sprintf("the record and the chain: there is no store '%s'", path),
	                err);
out:
	dtx_mem_free(path);
	return rc;
}

static enum dtx_code verify_operand(struct verify *v, const char *what, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (what && v->store)
		rc = verify_run(v->store, what, &v->record, v->found, err);
	if (rc == DTX_E_NO_RECORD && v->args->receipt) {
		dtx_err_clear(err); /* the receipt may know the file */
		rc = DTX_OK;
	}
	return rc;
}

static enum dtx_code verify_store(struct verify *v, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const json_t *run = json_object_get(v->record, "run");

	if (v->record)
		DTX_TRY(dtx_verify_run(v->store, dtx_json_text(run, "run_id", ""), &v->opts,
		                       &v->of_run, err));
	if (v->of_run)
		v->all = json_array();
	else
		DTX_TRY(dtx_verify(v->store, &v->opts, &v->all, err));
	if (!v->all)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_query_head(v->store, v->head, err));
out:
	return rc;
}

/* A record that cannot be read may be one that was changed: what was changed is the better answer.
 */
static enum dtx_code verify_unread(struct verify *v, enum dtx_code rc, struct dtx_err *err)
{
	struct dtx_err mine = DTX_ERR_INIT;

	if (!v->store || rc == DTX_E_NO_RECORD || rc == DTX_E_USAGE || rc == DTX_E_NO_MEMORY)
		return rc;
	if (dtx_verify(v->store, &v->opts, &v->all, &mine) == DTX_OK && json_array_size(v->all)) {
		dtx_err_clear(err);
		rc = DTX_OK;
	}
	dtx_err_clear(&mine);
	return rc;
}

static enum dtx_code verify_receipt(struct verify *v, const char *what, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_receipt_files(&v->receipt, what, v->found, err));
	if (v->store)
		DTX_TRY(dtx_receipt_record(&v->receipt, v->store, v->record, v->found, err));
	v->opts.head = v->store ? v->receipt.head : NULL;
	if (v->store || json_array_size(v->receipt.held) || json_array_size(v->found))
		goto out;
	rc = dtx_err_set(err, DTX_E_NO_RECORD, __FILE__, __LINE__,
	                 "there is no store, and no file that '%s' names", v->args->receipt);
	dtx_err_hint(err, "name the file, or the store with --store FILE");
out:
	return rc;
}

static enum dtx_code verify_all(struct verify *v, const char *what, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (v->args->receipt && v->opts.head)
		DTX_FAIL(err, DTX_E_USAGE, "a receipt has its own head: --head is one too many");
	if (v->args->receipt)
		DTX_TRY(dtx_receipt_read(v->args->receipt, &v->receipt, err));
	DTX_TRY(verify_open(v, err));
	rc = verify_operand(v, what, err);
	if (rc != DTX_OK) {
		rc = verify_unread(v, rc, err);
		goto out;
	}
	if (v->args->fragment && !v->record)
		DTX_FAIL(err, DTX_E_USAGE, "--fragment needs a RUN or FILE");
	if (v->args->fragment)
		DTX_TRY(dtx_verify_fragment(v->record, v->args->fragment, v->found, &v->fragment,
		                            err));
	if (v->args->receipt)
		DTX_TRY(verify_receipt(v, what, err));
	if (v->store)
		DTX_TRY(verify_store(v, err));
	else
		v->all = json_array();
	if (!v->all || json_array_extend(v->all, v->found) < 0)
		DTX_FAIL_MEM(err);
out:
	return rc;
}

static int verify_main(const struct dtx_cli *cli, void *args, int argc, char **argv)
{
	struct verify_args *a = args;
	struct verify v = { .cli = cli,
		            .args = a,
		            .opts = a->opts,
		            .found = json_array(),
		            .log = DTX_BUF_INIT(DTX_BUF_TEXT_MAX) };
	struct dtx_buf out = DTX_BUF_INIT(DTX_BUF_TEXT_MAX), notes = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	struct dtx_err err = DTX_ERR_INIT;
	enum dtx_code rc = DTX_OK;
	int status;

	if (!v.found)
		DTX_FAIL_MEM(&err);
	DTX_TRY(verify_all(&v, argc ? argv[0] : NULL, &err));
	if (a->json) {
		dtx_json_print(v.all, 1, &out);
		dtx_buf_add(&out, "\n");
		verify_unchecked(&v, &notes);
		if (notes.len)
			dtx_out_note(cli, "%s", dtx_buf_text(&notes));
	} else {
		verify_print(&v, &out);
	}
out:
	status = rc == DTX_OK ? dtx_out_print(cli, &out) : dtx_out_fail(cli, &err);
	if (rc == DTX_OK && !status && json_array_size(v.all))
		status = 1;
	json_decref(v.found);
	json_decref(v.all);
	json_decref(v.record);
	dtx_receipt_clear(&v.receipt);
	dtx_buf_clear(&v.log);
	dtx_store_free(v.store);
	dtx_buf_clear(&out);
	dtx_buf_clear(&notes);
	dtx_err_clear(&err);
	return status;
}

const struct dtx_cmd dtx_cmd_verify = {
	.name = "verify",
	.usage = "[RUN | FILE]",
	.summary = "Check that the ledger, and the outputs of a run, are what they were",
	.notes =
		"Without an operand the whole store is checked: its log and pages; its definitions "
		"(tables,\n"
		"indexes, triggers, views), which must be those that dtx makes; the chain is "
		"hashed "
		"again, then\n"
		"every body it names; the tables made from it are made again and compared, all "
		"rows "
		"and all\n"
		"columns.\n"
		"\n"
		"With RUN or FILE it is what concerns that run: its outputs, as they are now; the "
		"chain from the\n"
		"run's first event on; the bodies that its events name (plan, code, snapshots and "
		"so on); its\n"
		"rows in the tables; the definitions and the log.  If anything of the record is "
		"not "
		"what it was,\n"
		"the whole store is checked, and all that is found is listed.\n"
		"\n"
		"Findings: log_damaged, page_damaged, "
		"schema_differs,\n"
		"chain_broken, blob_mismatch, index_differs, output_changed, truncated, "
		"receipt_differs,\n"
		"fragment_differs.\n"
		"Tables that are made from the ledger can be made again with `dtx store rebuild`.\n"
		"\n"
		"What it cannot detect alone: a ledger that was cut off at its end, or written "
		"again as a\n"
		"whole by somebody who may write the file.  A head or a receipt that is kept "
		"elsewhere shows\n"
		"both, and each answer says so.  A store consists of FILE and FILE-wal: in a copy "
		"without its\n"
		"log the last runs are missing, and nothing in it shows that.  A receipt is "
		"compared with the\n"
		"files that it names even if there is no store; what could not be checked is "
		"listed.\n"
		"\n"
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
