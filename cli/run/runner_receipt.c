/* Copies of the record outside the store: a file, a receipt next to an output, and the head of
 * the chain. */
#include "cli/run/runner.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/mem.h"
#include "core/store/query/query.h"

#define RECEIPT_TYPE      "https://in-toto.io/Statement/v1"
#define RECEIPT_HEAD      "dtx1:"
#define RECEIPT_PREDICATE "urn:dtx:record:1"

static const char *receipt_path(struct dtx_runner *r)
{
	return dtx_arena_printf(&r->plan->arena, "%s.dtx.json", r->plan->output[0].path);
}

/* Checks that the file is a list of heads: a line is added to no other file. */
static enum dtx_code receipt_heads(const char *path, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	char start[sizeof(RECEIPT_HEAD)] = "";
	FILE *f = dtx_file_passes(path) ? NULL : fopen(path, "rbe");
	size_t n = f ? fread(start, 1, sizeof(start) - 1, f) : 0;

	if (f)
		(void)fclose(f);
	if (!n || !strcmp(start, RECEIPT_HEAD))
		return DTX_OK;
	rc = dtx_err_set(err, DTX_E_USAGE, __FILE__, __LINE__,
	                 "'%s' holds something else than heads of a ledger", path);
	dtx_err_hint(err, "name a new file with --head-file, or one that earlier runs wrote");
	return rc;
}

enum dtx_code dtx_runner_receipt_claim(struct dtx_runner *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_run_args *a = r->args;
	const char *output = r->plan->output[0].path, *receipt = NULL;

	if (a->receipt && (!output || dtx_file_out_fd(output) >= 0))
		DTX_FAIL(err, DTX_E_USAGE,
		         "option '--receipt' writes next to the output: give it a file with -o");
	if (a->head_file && !strcmp(a->head_file, "-"))
		DTX_FAIL(err, DTX_E_USAGE, "option '--head-file' adds to a file, got '-'");
	if (a->receipt) {
		receipt = receipt_path(r);
		if (!receipt)
			DTX_FAIL_MEM(err);
		DTX_TRY(dtx_outfile_claim(receipt, "the receipt", "the receipt of this run", err));
	}
	if (a->record)
		DTX_TRY(dtx_outfile_claim(a->record, "the record", "the record of this run", err));
	if (a->head_file) {
		DTX_TRY(dtx_outfile_claim(a->head_file, "the head of the ledger",
		                          "the file with the head of the ledger", err));
		DTX_TRY(receipt_heads(a->head_file, err));
	}
out:
	return rc;
}

enum dtx_code dtx_runner_receipt_check(struct dtx_runner *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_run_args *a = r->args;

	if (!a->receipt && !a->record && !a->head_file)
		goto out;
	DTX_TRY(dtx_runner_store_wait(r, err));
	if (dtx_store_is_memory(r->store))
		DTX_FAIL(err, DTX_E_USAGE, "a run without a store has no record to copy");
out:
	return rc;
}

#define RECEIPT_ROOM ((size_t)256 << 10) /* reserved for a copy of the record; most are smaller */
enum { COPY_RECORD, COPY_RECEIPT };

static enum dtx_code receipt_open(struct dtx_runner *r, int which, const char *path,
                                  struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (!path)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_outfile_open(path, r->run_id, DTX_OUTFILE_STREAM, &r->copy[which], err));
	DTX_TRY(dtx_outfile_prepare(r->copy[which], RECEIPT_ROOM, err));
out:
	return rc;
}

static enum dtx_code receipt_head_open(const char *path, int *fd, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_file_append(path, fd, err));
	if (write(*fd, "", 0) < 0)
		DTX_FAIL(err, dtx_file_write_code(errno), "cannot write '%s': %s", path,
		         strerror(errno));
out:
	return rc;
}

/* Makes sure that the copies can be written. They contain the end of the run, so they are
 * written after its outputs, but a problem with their place must be found before an output is
 * visible. */
enum dtx_code dtx_runner_receipt_prepare(struct dtx_runner *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_run_args *a = r->args;
	int fd = -1;

	if (a->record)
		DTX_TRY(receipt_open(r, COPY_RECORD, a->record, err));
	if (a->receipt)
		DTX_TRY(receipt_open(r, COPY_RECEIPT, receipt_path(r), err));
	if (a->head_file)
		DTX_TRY(receipt_head_open(a->head_file, &fd, err));
out:
	dtx_file_close(&fd);
	return rc;
}

static enum dtx_code receipt_write(struct dtx_outfile *out, const struct dtx_buf *b,
                                   struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_outfile_write(out, b->ptr, b->len, err));
	DTX_TRY(dtx_outfile_finish(out, err));
	DTX_TRY(dtx_outfile_commit(out, err));
out:
	return rc;
}

static enum dtx_code receipt_json(struct dtx_outfile *out, const json_t *value, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);

	dtx_json_print(value, 1, &text);
	dtx_buf_addc(&text, '\n');
	DTX_TRY(dtx_buf_check(&text, "record", err));
	DTX_TRY(receipt_write(out, &text, err));
out:
	dtx_buf_clear(&text);
	return rc;
}

static json_t *receipt_subjects(const json_t *record)
{
	json_t *list = json_array(), *output;
	size_t i;

	json_array_foreach(json_object_get(record, "outputs"), i, output)
	{
		const char *path = dtx_json_text(output, "path", "-");

		if (json_array_append_new(
			    list, json_pack("{ss s{ss}}", "name", dtx_file_basename(path), "digest",
		                            "sha256", dtx_json_text(output, "sha", ""))) < 0) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

static enum dtx_code receipt_statement(struct dtx_runner *r, const json_t *record, const char *head,
                                       struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	json_t *statement = NULL;
	char store[DTX_STORE_ID];

	DTX_TRY(dtx_query_store_id(r->store, store, err));
	statement = json_pack("{ss so ss s{sO ss ss}}", "_type", RECEIPT_TYPE, "subject",
	                      receipt_subjects(record), "predicateType", RECEIPT_PREDICATE,
	                      "predicate", "record", record, "head", head, "store", store);
	if (!statement)
		DTX_FAIL_MEM(err);
	DTX_TRY(receipt_json(r->copy[COPY_RECEIPT], statement, err));
out:
	json_decref(statement);
	return rc;
}

/* Appends one line. Lines of two runs at the same time do not mix. */
static enum dtx_code receipt_head(const char *path, const char *head, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	char line[DTX_HEAD_LINE + 2];
	int fd = -1;

	DTX_TRY(dtx_file_append(path, &fd, err));
	snprintf(line, sizeof(line), "%s\n", head);
	DTX_TRY(dtx_file_write(fd, line, strlen(line), path, err));
	DTX_TRY(dtx_file_sync(fd, path, err));
out:
	dtx_file_close(&fd);
	return rc;
}

enum dtx_code dtx_runner_receipt(struct dtx_runner *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_run_args *a = r->args;
	char head[DTX_HEAD_LINE];
	json_t *record = NULL;

	if (!a->record && !a->receipt && !a->head_file)
		return DTX_OK;
	DTX_TRY(dtx_query_record(r->store, r->run_id, false, NULL, &record, err));
	DTX_TRY(dtx_query_head(r->store, head, err));
	if (a->record)
		DTX_TRY(receipt_json(r->copy[COPY_RECORD], record, err));
	if (a->receipt)
		DTX_TRY(receipt_statement(r, record, head, err));
	if (a->head_file)
		DTX_TRY(receipt_head(a->head_file, head, err));
out:
	if (rc != DTX_OK)
		dtx_err_hint(err,
		             "the outputs are there; dtx provenance %s --json prints the record",
		             dtx_run_id_short(r->run_id));
	json_decref(record);
	return rc;
}
