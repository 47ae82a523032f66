/* --lineage rows: stores which source rows went into which result row, so that `why` need not
 * run the plan again. */
#include <string.h>

#include "cli/out.h"
#include "cli/why/why_replay.h"
#include "core/base/mem.h"
#include "core/plan/lineage/row_lineage.h"

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
