/* Writes what the record keeps of an execution: inputs, steps, lineage, checks, outputs; and copies
 * of the record outside the store. */
#include "cli/run/snapshots.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/out.h"
#include "cli/run/runner.h"
#include "cli/why/why_replay.h"
#include "core/base/thread/cancel.h"
#include "core/base/file.h"
#include "core/base/memory/mem.h"
#include "core/io/sheet/cellref.h"
#include "core/plan/lineage/row_lineage.h"
#include "core/store/query/query.h"

/* Writes the file of records that `quarantine` leaves out of the table, together with the
 * outputs. */

static bool rejects_wanted(const struct dtx_runner *r)
{
	uint32_t i;

	for (i = 0; i < r->plan->ninputs; i++) {
		if (r->plan->input[i].opts.ragged == DTX_RAGGED_QUARANTINE)
			return true;
	}
	return false;
}

/* The one file that the plan or the command line names; NULL: none. */
static enum dtx_code rejects_named(const struct dtx_runner *r, const char **path,
                                   struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t i;

	*path = NULL;
	for (i = 0; i < r->plan->ninputs; i++) {
		const struct dtx_read_opts *o = &r->plan->input[i].opts;

		if (o->ragged != DTX_RAGGED_QUARANTINE || !o->rejects)
			continue;
		if (*path && strcmp(*path, o->rejects) != 0)
			DTX_FAIL(err, DTX_E_USAGE,
			         "inputs name two files for rejects, '%s' and '%s': a run has one",
			         *path, o->rejects);
		*path = o->rejects;
	}
out:
	return rc;
}

enum dtx_code dtx_runner_rejects_path(struct dtx_runner *r, const char **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const char *output = r->plan->output[0].path, *path = NULL;

	*out = NULL;
	if (!rejects_wanted(r)) {
		if (r->args->rejects)
			DTX_FAIL(err, DTX_E_USAGE, "option '--rejects' needs --ragged quarantine");
		goto out;
	}
	DTX_TRY(rejects_named(r, &path, err));
	if (!path && output && strcmp(output, "-") != 0) {
		path = dtx_arena_printf(&r->plan->arena, "%s.rejects.csv", output);
		if (!path)
			DTX_FAIL_MEM(err);
	}
	if (!path) {
		rc = dtx_err_set(err, DTX_E_USAGE, __FILE__, __LINE__,
		                 "quarantine has no file for the rejects of a run to stdout");
		dtx_err_hint(err, "give --rejects FILE, or -o FILE for the output");
		goto out;
	}
	*out = path;
out:
	return rc;
}

/* Writes the file under its temp name; the caller commits it. */
enum dtx_code dtx_runner_rejects_write(struct dtx_runner *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const char *path = NULL;
	uint32_t i;

	DTX_TRY(dtx_runner_rejects_path(r, &path, err));
	if (!path)
		goto out;
	DTX_TRY(dtx_outfile_open(path, r->run_id, DTX_OUTFILE_SPOOL, &r->rejects, err));
	DTX_TRY(dtx_outfile_pack(r->rejects, dtx_writer_packs(path), 1, err));
	DTX_TRY(dtx_outfile_write(r->rejects, DTX_REJECTS_HEADER, strlen(DTX_REJECTS_HEADER), err));
	for (i = 0; i < r->result->ninputs; i++) {
		const char *text = r->result->input[i].rejects;

		if (text)
			DTX_TRY(dtx_outfile_write(r->rejects, text, r->result->input[i].nrejects,
			                          err));
	}
	DTX_TRY(dtx_outfile_finish(r->rejects, err));
out:
	return rc;
}

static json_t *record_schema(const struct dtx_schema *s)
{
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	json_t *value;

	if (!s)
		return json_null();
	dtx_schema_json(s, &text);
	value = json_loads(dtx_buf_text(&text), 0, NULL);
	dtx_buf_clear(&text);
	return value;
}

static json_t *record_label(const struct dtx_plan_input *in, const json_t *describe)
{
	const char *sheet = dtx_json_text(describe, "sheet", NULL);
	const char *file = in->same_base ? in->shown : dtx_file_basename(in->path);
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	json_t *label;

	if (!sheet)
		return json_string(strcmp(in->path, "-") ? file : "stdin");
	dtx_buf_printf(&text, "%s!", file);
	dtx_sheet_name_print(sheet, &text);
	label = dtx_buf_ok(&text) ? json_string(dtx_buf_text(&text)) : NULL;
	dtx_buf_clear(&text);
	return label;
}

/* What the reader found, and limits that differ from the defaults. */
static json_t *record_reader(const struct dtx_plan_input *in, const json_t *describe)
{
	json_t *limits = dtx_archive_limits_json(&in->limits);
	json_t *o = describe ? json_copy((json_t *)(uintptr_t)describe) : NULL;

	if (o && in->shown)
		json_object_set_new(o, "source_file", json_string(in->shown));
	if (!o || !json_object_size(limits)) {
		json_decref(limits);
		return o ? o : json_null();
	}
	json_object_set_new(o, "limits", limits);
	return o;
}

/* Gets the identity of an input: from the run that computed it, if that is still valid, or
 * computed now. */
static enum dtx_code record_sha(struct dtx_runner *r, uint32_t i, char sha[DTX_IDENTITY_TEXT],
                                const char **of, struct dtx_err *err)
{
	*of = NULL;
	if (!dtx_runner_known_holds(r, i) || !r->known[i].sha[0])
		return dtx_source_hash_wait(r->source[i], sha, err);
	memcpy(sha, r->known[i].sha, DTX_IDENTITY_TEXT);
	*of = r->known[i].run_id;
	return DTX_OK;
}

/* A count, or null: a run that failed before it opened an input has counted nothing, and a limit
 * ends the count. */
static json_t *record_count(const struct dtx_schema *known, int64_t n)
{
	return known ? json_integer((json_int_t)n) : json_null();
}

static enum dtx_code record_input(struct dtx_runner *r, uint32_t i, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_exec_input *x = &r->result->input[i];
	const struct dtx_plan_input *in = &r->plan->input[i];
	struct dtx_source *src = r->source[i];
	char sha[DTX_IDENTITY_TEXT];
	const char *of;
	char *uri = NULL;
	json_t *row = NULL;

	if (!src)
		return DTX_OK;
	DTX_TRY(dtx_source_unchanged(src, err));
	DTX_TRY(record_sha(r, i, sha, &of, err));
	uri = strcmp(in->path, "-") ? dtx_file_absolute(in->path) : dtx_mem_strdup("-");
	if (!uri)
		DTX_FAIL_MEM(err);
	row = json_pack("{ss ss so ss ss* ss* sI sI so so so so}", "alias", in->name, "uri", uri,
	                "label", record_label(in, x->describe), "sha", sha, "sha_run", of, "mark",
	                dtx_runner_known_holds(r, i) ? r->known[i].mark : NULL, "bytes",
	                (json_int_t)dtx_source_size(src), "mtime_us",
	                (json_int_t)dtx_source_mtime_us(src), "reader",
	                record_reader(in, x->describe), "rows",
	                record_count(x->stats.stopped_early ? NULL : x->schema, x->stats.rows_out),
	                "columns", record_count(x->schema, x->schema ? x->schema->nfields : 0),
	                "schema", record_schema(x->schema));
	if (!row)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_snapshots_put(r, src, row, err));
	dtx_source_let_go(src);
	rc = dtx_record_add(r->record, DTX_PART_INPUT, row, err);
	row = NULL;
out:
	json_decref(row);
	dtx_mem_free(uri);
	return rc;
}

static json_t *record_spilled(int64_t rows, int64_t bytes)
{
	if (!bytes)
		return NULL;
	return json_pack("{sI sI}", "rows", (json_int_t)rows, "bytes", (json_int_t)bytes);
}

/* Whether to record that every row of a join had a partner. */
static bool record_is_matched(const struct dtx_exec_step *x, const struct dtx_plan_step *step)
{
	static const char *const hows = "left,inner,right,full,semi";

	struct dtx_op_facts f = dtx_op_facts(step->op, step->canonical);
	bool keyed = f.groups && (f.rows == DTX_ROWS_JOINED || f.rows == DTX_ROWS_SEMI);

	return !x->ndrops && !x->by_snippet && keyed &&
	       dtx_str_in_list(hows, dtx_json_text(step->canonical, "how", ""));
}

/* Adds the counts of one step to those of a step as written. */
static void record_counts(const struct dtx_exec_step *x, const struct dtx_plan_step *step,
                          json_t *counts)
{
	if (record_is_matched(x, step))
		json_object_set_new(counts, "unmatched", json_integer(0));
	for (uint32_t i = 0; i < x->ndrops; i++) {
		const char *reason = x->drop[i].reason;

		json_object_set_new(counts, reason,
		                    json_integer(dtx_json_int(counts, reason, 0) + x->drop[i].n));
	}
}

/* Records a step as written: of a macro, all its `count` core steps from step `first` on as one.
 * `at` is its number in the record. */
static enum dtx_code record_step(struct dtx_runner *r, uint32_t first, uint32_t count, uint32_t at,
                                 struct dtx_err *err)
{
	const struct dtx_exec_step *x = &r->result->step[first], *last = x + count - 1;
	const struct dtx_plan_step *step = &r->plan->step[first];
	const char *kind = count > 1 && !x->by_snippet ? "macro" : x->kind;
	const char *hash = last->table_hash[0] ? last->table_hash : NULL;
	int64_t ns = 0, spilled = 0, spilled_rows = 0;
	json_t *counts = json_object();
	bool stopped = false;

	for (uint32_t i = 0; i < count; i++) {
		record_counts(&x[i], &step[i], counts);
		ns += x[i].ns;
		spilled += x[i].spilled;
		spilled_rows += x[i].spilled_rows;
		stopped |= x[i].stopped_early;
	}
	return dtx_record_add(r->record, DTX_PART_STEP,
	                      json_pack("{ss sI sI s{so so* ss sb so* so* ss*} sI}", "op",
	                                dtx_plan_step_name(step), "rows_in", (json_int_t)x->rows_in,
	                                "rows_out", (json_int_t)last->rows_out, "detail", "counts",
	                                counts, "written",
	                                step->number == (int32_t)at ? NULL
	                                : step->number < 0          ? json_null()
	                                                            : json_integer(step->number),
	                                "kind", kind ? kind : "", "rescued", x->by_snippet,
	                                "stopped_early", stopped ? json_true() : NULL, "spilled",
	                                record_spilled(spilled_rows, spilled), "table_hash", hash,
	                                "dur_us", (json_int_t)(ns / 1000)),
	                      err);
}

/* A member of a row of lineage.  Most members are the same in many rows that follow each other, so
 * the value of the row before is used again if it has this text. */
static json_t *same_text(const json_t *before, const char *key, const char *text)
{
	json_t *was = json_object_get(before, key);

	if (!text)
		return json_null();
	return was && strcmp(dtx_json_text(before, key, ""), text) == 0 ? json_incref(was)
	                                                                : json_string(text);
}

/* Adds a row to the record.  *before: the row before, NULL for the first; this one from then on.
 * It is borrowed from the record, which keeps all rows. */
static enum dtx_code record_lineage(struct dtx_runner *r, const struct dtx_exec_lineage *l,
                                    json_t **before, struct dtx_err *err)
{
	const char *alias = l->input >= 0 ? r->plan->input[l->input].name : NULL;
	const json_t *b = *before;

	*before = json_pack(
		"{si so so so so so so so so}", "output", (int)l->output, "out_col",
		same_text(b, "out_col", l->out_col), "alias", same_text(b, "alias", alias),
		"in_col", same_text(b, "in_col", l->in_col), "type",
		same_text(b, "type", l->direct ? "DIRECT" : "INDIRECT"), "subtype",
		same_text(b, "subtype", l->subtype), "formula", same_text(b, "formula", l->formula),
		"composed", same_text(b, "composed", l->composed), "class",
		same_text(b, "class", l->cls));
	return dtx_record_add(r->record, DTX_PART_LINEAGE, *before, err);
}

enum dtx_code dtx_runner_checks_seen(struct dtx_runner *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	json_t *row;
	size_t i;

	if (!r->result)
		goto out;
	json_array_foreach(r->result->checks, i, row)
		DTX_TRY(dtx_record_add(r->record, DTX_PART_CHECK, json_incref(row), err));
out:
	return rc;
}

enum dtx_code dtx_runner_inputs_seen(struct dtx_runner *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t i;

	for (i = 0; r->result && i < r->result->ninputs; i++)
		DTX_TRY(record_input(r, i, err));
out:
	return rc;
}

enum dtx_code dtx_runner_details(struct dtx_runner *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_exec_result *x = r->result;
	uint32_t i, at, first, count;
	json_t *row = NULL;
	size_t k;

	DTX_TRY(dtx_runner_inputs_seen(r, err));
	for (i = 0, at = 0; i < x->nsteps; i += count, at++) {
		dtx_plan_span(r->plan, i, &first, &count);
		DTX_TRY(record_step(r, first, count, at, err));
	}
	for (k = 0; k < x->nlineage; k++) {
		DTX_TRY(dtx_cancel_row(k, err));
		DTX_TRY(record_lineage(r, &x->lineage[k], &row, err));
	}
	DTX_TRY(dtx_runner_checks_seen(r, err));
out:
	return rc;
}

static json_t *record_writer(const struct dtx_plan_output *o, const struct dtx_exec_output *x)
{
	const struct dtx_writer_class *cls = x->writer ? x->writer : &dtx_write_csv;
	struct dtx_str format = dtx_writer_format(cls, o->format, o->path);
	enum dtx_packing packs = dtx_writer_packs(o->path);

	return json_pack("{ss% ss? ss* sb sb so* so*}", "format", format.ptr, format.len, "sheet",
	                 o->opts.sheet, "table", x->into, "header", !o->opts.no_header, "gzip",
	                 packs == DTX_PACK_GZIP, "zstd",
	                 packs == DTX_PACK_ZSTD ? json_true() : NULL, "in_place",
	                 dtx_outfile_info(x->file)->in_place ? json_true() : NULL);
}

json_t *dtx_runner_outputs(const struct dtx_runner *r)
{
	json_t *rows = json_array();
	uint32_t i;

	for (i = 0; rows && i < r->result->noutputs; i++) {
		const struct dtx_exec_output *x = &r->result->output[i];
		const struct dtx_outfile_info *f = dtx_outfile_info(x->file);
		json_t *row = json_pack("{ss ss? sb so ss sI ss ss sI si so sO*}", "path", f->path,
		                        "temp", f->temp, "atomic", f->atomic, "writer",
		                        record_writer(&r->plan->output[i], x), "sha", f->sha,
		                        "bytes", (json_int_t)f->size, "table_hash", x->table_hash,
		                        "rows_hash", x->rows_hash, "rows", (json_int_t)x->rows,
		                        "columns", x->schema ? (int)x->schema->nfields : 0,
		                        "schema", record_schema(x->schema), "stats", x->stats);

		if (!row || json_array_append_new(rows, row)) {
			json_decref(rows);
			return NULL;
		}
	}
	return rows;
}

/* --- --lineage rows ---
 *
 * Stores which source rows went into which result row, so that `why` need not run the plan
 * again. */

enum {
	LINEAGE_ROWS = 1, /* value of --lineage */
	LINEAGE_INPUTS = (DTX_PLAN_OUTPUTS - DTX_TRACE_ROWS_INPUTS) / 2
};

struct lineage {
	struct dtx_runner *r;
	uint32_t output;
	struct dtx_trace_rows rows;
	struct dtx_buf bytes;
};

/* Called before anything is read. */
enum dtx_code dtx_runner_lineage_check(const struct dtx_runner *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (r->args->lineage != LINEAGE_ROWS)
		goto out;
	for (uint32_t i = 0; i < r->plan->ninputs; i++) {
		if (r->source[i] && dtx_source_passes(r->source[i]))
			DTX_FAIL(err, DTX_E_USAGE,
			         "--lineage rows cannot number the rows of input '%s': its bytes "
			         "pass once",
			         r->plan->input[i].name);
	}
	/* A step that only a snippet can do is known before the run. */
	for (uint32_t i = 0; i < r->plan->nsteps; i++) {
		const struct dtx_plan_step *st = &r->plan->step[i];

		if (st->op)
			continue;
		rc = dtx_err_set(err, DTX_E_NO_TRANSLATION, __FILE__, __LINE__,
		                 "the rows of step %u '%s' cannot be followed: a snippet does it",
		                 dtx_trace_number_of(r->plan, i), st->name);
		dtx_err_at(err, st->at);
		goto out;
	}
out:
	if (rc == DTX_E_NO_TRANSLATION)
		dtx_err_hint(err, "without --lineage rows the record has the columns that each "
		                  "column comes from");
	return rc;
}

static enum dtx_code lineage_look(void *arg, const struct dtx_exec_result *traced,
                                  struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct lineage *l = arg;
	const struct dtx_exec_output *o = &l->r->result->output[l->output];

	if (strcmp(traced->output[0].table_hash, o->table_hash) != 0)
		DTX_FAIL(err, DTX_E_NO_TRANSLATION,
		         "the rows of this plan cannot be followed: with row numbers it gives "
		         "another table");
	DTX_TRY(dtx_row_lineage_pack(&l->rows, traced, DTX_ROW_LINEAGE_MAX, &l->bytes, err));
out:
	return rc;
}

static enum dtx_code lineage_trace(struct lineage *l, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_runner *r = l->r;
	const struct dtx_schema *s = r->result->output[l->output].schema;
	struct dtx_why_replay_look look = { lineage_look, l, 1 /* for the check */, NULL };
	/* an input that is a glob has several files */
	int64_t *bytes = dtx_mem_zalloc(r->plan->ninputs, sizeof(*bytes));
	json_t *columns = json_array();
	struct dtx_trace_ask ask = { .output = l->output, .columns = columns, .bytes = bytes };
	struct dtx_exec_result *bound = NULL;
	struct dtx_plan *again = NULL, *plan = NULL;

	if (!bytes || !columns)
		DTX_FAIL_MEM(err);
	for (uint32_t i = 0; i < r->plan->ninputs; i++)
		bytes[i] = r->source[i] ? (int64_t)dtx_source_size(r->source[i]) : 0;
	for (uint32_t c = 0; s && c < s->nfields; c++)
		json_array_append_new(columns, json_string(s->field[c].name));
	DTX_TRY(dtx_why_replay_again(r, &again, &bound, err));
	DTX_TRY(dtx_trace_rows(again ? again : r->plan, again ? bound : r->result, &ask, &l->rows,
	                       err));
	DTX_TRY(dtx_why_replay_exec(r, l->rows.plan, &look, &plan, err));
out:
	dtx_mem_free(bytes);
	dtx_exec_free(bound);
	dtx_plan_free(again);
	dtx_plan_free(plan);
	json_decref(columns);
	return rc;
}

static enum dtx_code lineage_output(struct dtx_runner *r, uint32_t output, json_t *row,
                                    struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct lineage l = { .r = r, .output = output };
	char hash[DTX_SHA256_HEX];

	dtx_buf_init(&l.bytes, DTX_ROW_LINEAGE_MAX);
	DTX_TRY(lineage_trace(&l, err));
	DTX_TRY(dtx_record_blob(r->record, DTX_LINEAGE_KIND, dtx_buf_str(&l.bytes), hash, err));
	if (!dtx_json_set(row, "lineage", json_string("rows")) ||
	    !dtx_json_set(row, "lineage_hash", json_string(hash)))
		DTX_FAIL_MEM(err);
out:
	dtx_trace_rows_clear(&l.rows);
	dtx_buf_clear(&l.bytes);
	return rc;
}

/* A result with too many files is kept without its row lineage. */
static void lineage_left_out(const struct dtx_runner *r, uint32_t output)
{
	const char *path = r->plan->output[output].path;

	dtx_out_note(
		r->cli,
		"dtx: %s: the row numbers of more than %d inputs are not stored, and there are %u\n"
		"  next: dtx why runs the plan again to find the rows; with --snapshot-inputs also "
		"when the files are gone\n",
		path ? path : "-", LINEAGE_INPUTS, r->plan->ninputs);
}

enum dtx_code dtx_runner_lineage(struct dtx_runner *r, json_t *outputs, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (r->args->lineage != LINEAGE_ROWS)
		goto out;
	for (uint32_t i = 0; i < r->result->nsteps; i++) {
		if (r->result->step[i].by_snippet)
			DTX_FAIL(err, DTX_E_NO_TRANSLATION,
			         "a snippet did a step of this run: its rows cannot be followed");
	}
	for (uint32_t i = 0; i < r->result->noutputs; i++) {
		rc = r->plan->ninputs > DTX_PLAN_INPUTS
		             ? DTX_E_NO_TRANSLATION
		             : lineage_output(r, i, json_array_get(outputs, i), err);
		if (rc == DTX_E_NO_TRANSLATION && r->plan->ninputs > LINEAGE_INPUTS) {
			lineage_left_out(r, i);
			dtx_err_clear(err);
			rc = DTX_OK;
		}
		DTX_TRY(rc);
	}
out:
	if (rc == DTX_E_NO_TRANSLATION)
		dtx_err_hint(err, "without --lineage rows the record has the columns that each "
		                  "column comes from");
	return rc;
}

/* --- copies of the record outside the store ---
 *
 * A file, a receipt next to an output, and the head of the chain. */

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

	if (a->receipt && dtx_outfile_info(r->result->output[0].file)->in_place)
		DTX_FAIL_NEXT(err, DTX_E_USAGE, "leave --receipt out, or name a new file with -o",
		              "option '--receipt': '%s' is a database that other programs change, "
		              "too, and has no hash to vouch for",
		              r->plan->output[0].path);
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
