/* why: shows the source cells that one cell of a result came from. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/out.h"
#include "cli/why/why.h"
#include "cli/why/why_known.h"
#include "cli/why/why_snippet.h"
#include "cli/why/why_stored.h"
#include "core/base/memory/mem.h"

static const struct dtx_opt why_opts[] = {
	{ .name = "row",
	  .kind = DTX_O_INT,
	  .metavar = "N",
	  .offset = offsetof(struct dtx_why_args, row),
	  .min = 1,
	  .max = INT64_MAX,
	  .help = "row of the result, counted from 1 below the header" },
	{ .name = "col",
	  .kind = DTX_O_TEXT,
	  .metavar = "NAME",
	  .offset = offsetof(struct dtx_why_args, col),
	  .help = "column of the result" },
	{ .name = "key",
	  .kind = DTX_O_LIST,
	  .metavar = "COLUMN=TEXT",
	  .offset = offsetof(struct dtx_why_args, key),
	  .help = "instead of --row: the one row with this cell; several, or k=a,n=7, narrow it "
	          "down" },
	{ .name = "all",
	  .kind = DTX_O_FLAG,
	  .offset = offsetof(struct dtx_why_args, all),
	  .help = "list every cell (default: 20 per column)" },
	{ .name = "no-values",
	  .kind = DTX_O_FLAG,
	  .offset = offsetof(struct dtx_why_args, no_values),
	  .help = "addresses alone: no value of a cell, neither of the sources nor of the result" },
	{ .name = "again",
	  .kind = DTX_O_FLAG,
	  .offset = offsetof(struct dtx_why_args, again),
	  .help = "run the plan again even where the run stored its row numbers" },
	{ .name = "json",
	  .kind = DTX_O_FLAG,
	  .offset = offsetof(struct dtx_why_args, json),
	  .help = "as JSON, with every cell" },
};

/* --- the run with tracing --- */

static json_t *why_columns(const struct dtx_why *w)
{
	json_t *list = json_array(), *field;
	size_t i;

	json_array_foreach(json_object_get(dtx_why_replay_output(&w->x), "schema"), i, field)
		json_array_append(list, json_object_get(field, "name"));
	return list;
}

/* The source columns that the answer names, for each input. */
static json_t *why_wanted(const struct dtx_why *w)
{
	json_t *wanted = json_object(), *row, *columns;
	size_t i;

	json_array_foreach(json_object_get(w->x.record, "lineage"), i, row)
	{
		const char *alias = dtx_json_text(row, "alias", NULL);
		const char *column = dtx_json_text(row, "in_col", NULL);

		if (!alias || !column ||
		    (!dtx_why_concerns(w, row, true) && !dtx_why_concerns(w, row, false)))
			continue;
		columns = json_object_get(wanted, alias);
		if (!columns) {
			columns = json_object();
			json_object_set_new(wanted, alias, columns);
		}
		json_object_set_new(columns, column, json_true());
	}
	return wanted;
}

/* Whether the result is a single row, so that its other cells do not help to find the asked one.
 * After pivot_longer, one column of several identifies the source. */
static bool why_only(const struct dtx_why *w)
{
	for (uint32_t i = 0; i < w->x.r.plan->nsteps; i++) {
		if (dtx_trace_facts(&w->x.r.plan->step[i]).rows == DTX_ROWS_LONGER)
			return false;
	}
	return dtx_json_int(dtx_why_replay_output(&w->x), "rows", 0) == 1;
}

static enum dtx_code why_plan(struct dtx_why *w, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	json_t *columns = why_columns(w), *wanted = why_wanted(w), *types = dtx_why_types(w);
	const struct dtx_plan *plan = w->fold.of ? &w->fold.plan : w->x.r.plan;
	/* an input that is a glob has several files */
	int64_t *bytes = dtx_mem_zalloc(w->x.r.plan->ninputs, sizeof(*bytes));
	struct dtx_trace_ask ask = { .output = w->x.output,
		                     .columns = columns,
		                     .column = w->column,
		                     .row = w->row,
		                     .sources = wanted,
		                     .key = w->key,
		                     .bytes = bytes,
		                     .known = w->known,
		                     .nth = w->known ? w->nth : 0,
		                     .types = types };

	if (!bytes)
		DTX_FAIL_MEM(err);
	ask.only = w->known && why_only(w);
	for (uint32_t i = 0; i < w->x.r.plan->ninputs; i++)
		bytes[w->fold.of ? w->fold.of[i] : i] += (int64_t)dtx_source_size(w->x.r.source[i]);
	DTX_TRY(dtx_trace_plan(plan, w->fold.of ? &w->fold.bound : w->x.bound, &ask, &w->trace,
	                       err));
out:
	dtx_mem_free(bytes);
	json_decref(columns);
	json_decref(wanted);
	json_decref(types);
	return rc;
}

static enum dtx_code why_no_row(const struct dtx_why *w, long long rows, struct dtx_err *err)
{
	dtx_err_set(err, DTX_E_USAGE, __FILE__, __LINE__, "the result has %lld rows, not %lld",
	            rows, (long long)w->row);
	dtx_why_hint_range(w, err);
	return DTX_E_USAGE;
}

/* Checks that one row was found, and sets which. */
static enum dtx_code why_row(struct dtx_why *w, const struct dtx_exec_result *traced,
                             struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	long long n = (long long)traced->output[1].rows;

	if (!n && w->key)
		DTX_FAIL(err, DTX_E_USAGE, "no row of the result has this --key");
	if (!n)
		return why_no_row(w, (long long)traced->output[0].rows, err);
	if (n > 1) {
		rc = dtx_err_set(err, DTX_E_USAGE, __FILE__, __LINE__,
		                 "%lld rows of the result have this --key", n);
		dtx_err_hint(err, "give a --key more, or --row N");
		goto out;
	}
	if (w->key)
		w->row = strtoll(dtx_why_result_value(&w->traced, "dtx_row"), NULL, 10);
out:
	return rc;
}

/* Whether the row that was computed from few source rows is the known one: all its cells (or
 * only the asked one, if no others were computed) equal those in the file. */
static bool why_is_known(struct dtx_why *w, const struct dtx_exec_result *traced)
{
	bool null;
	const char *name;
	json_t *field, *cell;
	const char *text;
	size_t i;

	json_array_foreach(json_object_get(dtx_why_replay_output(&w->x), "schema"), i, field)
	{
		name = dtx_json_text(field, "name", "");
		if (why_only(w) && strcmp(name, w->column) != 0)
			continue;
		cell = json_object_get(w->known, name);
		null = false;
		text = dtx_why_result_cell(&w->traced, name, &null);
		if (strcmp(text && !null ? text : "", dtx_json_text(cell, "text", "")) != 0)
			return false;
	}
	return traced->output[1].rows == 1 && dtx_why_result_value(&w->traced, w->column);
}

/* Looks at the traced run. Places of rows are only known while the readers are open. */
static enum dtx_code why_look(void *arg, const struct dtx_exec_result *traced, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_why *w = arg;
	const char *want = dtx_json_text(dtx_why_replay_output(&w->x), "table_hash", "");

	w->traced.plan = w->plan;
	w->traced.result = traced;
	if (w->known && !why_is_known(w, traced))
		DTX_FAIL(err, DTX_E_NO_TRANSLATION, "the row cannot be identified by its cells");
	if (!w->known && strcmp(traced->output[0].table_hash, want) != 0)
		DTX_FAIL(err, DTX_E_NO_TRANSLATION,
		         "the rows of this plan cannot be followed: with row numbers it gives "
		         "another table");
	if (!w->known)
		DTX_TRY(why_row(w, traced, err));
	DTX_TRY(dtx_why_report(w, err));
out:
	return rc;
}

static enum dtx_code why_run(struct dtx_why *w, struct dtx_err *err)
{
	struct dtx_why_replay_look look = { .look = why_look,
		                            .arg = w,
		                            .hash_only = 1, /* for the check */
		                            .fold = w->fold.of ? &w->fold : NULL };

	return dtx_why_replay_run(&w->x, w->trace.plan, &look, &w->plan, err);
}

/* Whether the cells of the row can exclude any rows of an input, before the result is read for
 * them. If every row has an influence, as with a running sum over the table, none can be
 * excluded. */
static bool why_may_leave_out(struct dtx_why *w)
{
	struct dtx_err err = DTX_ERR_INIT;
	json_t *field;
	size_t i;
	bool may;

	w->known = json_object();
	w->nth = 1;
	json_array_foreach(json_object_get(dtx_why_replay_output(&w->x), "schema"), i, field)
		json_object_set_new(w->known, dtx_json_text(field, "name", ""),
	                            json_pack("{ss sO si}", "text", "1", "type",
	                                      json_object_get(field, "type"), "differ", 1));
	may = why_plan(w, &err) == DTX_OK && w->trace.pinned;
	dtx_err_clear(&err);
	dtx_trace_clear(&w->trace);
	json_decref(w->known);
	w->known = NULL;
	return may;
}

/* The fast way: reads the row from the result's file, and runs the steps only on source rows
 * that can concern it. Returns false if that gave no answer. */
static bool why_short(struct dtx_why *w, const char *path)
{
	struct dtx_err err = DTX_ERR_INIT;
	int64_t asked = w->row;
	bool answered;

	if (!why_may_leave_out(w))
		return false;
	w->known = dtx_why_known(w, path, &w->row, &w->nth);
	answered = w->known && w->nth && why_plan(w, &err) == DTX_OK && w->trace.pinned &&
	           why_run(w, &err) == DTX_OK;
	dtx_err_clear(&err);
	json_decref(w->known);
	w->known = NULL;
	if (answered)
		return true;
	w->row = asked;
	w->filled = false;
	w->traced.wide = false;
	json_decref(w->report);
	w->report = NULL;
	dtx_plan_free(w->plan);
	w->plan = NULL;
	dtx_trace_clear(&w->trace);
	dtx_errlist_clear(&w->x.r.findings);
	return false;
}

/* --- the command --- */

/* Finds the row of a snippet's result and its value, as far as they are known. */
static enum dtx_code why_valued(struct dtx_why *w, const char *path, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	json_t *known = NULL, *value = NULL;
	struct dtx_err unread = DTX_ERR_INIT; /* an error only means that the value is not shown */

	if (dtx_why_replay_plan(&w->x, &unread) == DTX_OK) {
		known = dtx_why_known(w, path, &w->row, NULL);
		value = json_object_get(json_object_get(known, w->column), "text");
	}
	if ((w->row && !dtx_json_set(w->report, "row", json_integer((json_int_t)w->row))) ||
	    ((value || known) && !w->args->no_values &&
	     !dtx_json_set(w->report, "value", value ? json_incref(value) : json_null())))
		DTX_FAIL_MEM(err);
out:
	dtx_err_clear(&unread);
	json_decref(known);
	return rc;
}

/* A snippet did a step: reports what is known about the column. */
static enum dtx_code why_by_snippet(struct dtx_why *w, const char *path, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int64_t rows = dtx_json_int(dtx_why_replay_output(&w->x), "rows", 0);

	if (w->row > rows)
		return why_no_row(w, (long long)rows, err);
	w->report = dtx_why_snippet(w->x.record, w->x.output, w->column);
	if (!w->report)
		DTX_FAIL_MEM(err);
	DTX_TRY(why_valued(w, path, err));
out:
	return rc;
}

static enum dtx_code why_answer(struct dtx_why *w, const char *path, struct dtx_buf *out,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	bool stored = false, by_snippet = dtx_why_replay_by_snippet(&w->x);
	int64_t line;

	if (by_snippet)
		DTX_TRY(why_by_snippet(w, path, err));
	if (by_snippet)
		goto print;
	if (!w->args->again)
		DTX_TRY(dtx_why_stored(w, path, &stored, err));
	if (stored)
		goto print;
	DTX_TRY(dtx_why_replay_bind(&w->x, err));
	if (w->x.r.plan->ninputs > DTX_WHY_REPLAY_APART)
		DTX_TRY(dtx_together(w->x.r.plan, w->x.bound, &w->fold, err));
	if (!why_short(w, path)) {
		DTX_TRY(why_plan(w, err));
		DTX_TRY(why_run(w, err));
	}
print:
	if (!by_snippet) /* the constants of a snippet's formula are only in its code */
		DTX_TRY(dtx_why_bare(w, err));
	line = w->row ? dtx_why_line(w) : 0;
	if (line && !dtx_json_set(w->report, "line", json_integer(line)))
		DTX_FAIL_MEM(err);
	if (w->args->json)
		goto out;
	if (by_snippet) {
		dtx_why_print_head(w, out);
		dtx_why_snippet_print(w->report, out);
	} else {
		dtx_why_print(w, out);
	}
out:
	return rc;
}

static void why_clear(struct dtx_why *w)
{
	dtx_plan_free(w->plan);
	dtx_trace_clear(&w->trace);
	dtx_together_clear(&w->fold);
	dtx_why_replay_clear(&w->x);
	dtx_buf_clear(&w->text);
	dtx_buf_clear(&w->traced.text);
	json_decref(w->key);
	json_decref(w->report);
}

static int why_main(const struct dtx_cli *cli, void *args, int argc, char **argv)
{
	struct dtx_why w = { .args = args, .x = { .cli = cli, .command = "why" } };
	struct dtx_buf out = DTX_BUF_INIT((size_t)1 << 30);
	struct dtx_err err = DTX_ERR_INIT;
	enum dtx_code rc = DTX_OK;
	bool asked = false;
	int status;

	dtx_buf_init(&w.text, DTX_BUF_TEXT_MAX);
	dtx_buf_init(&w.traced.text, DTX_BUF_TEXT_MAX);
	DTX_TRY(dtx_why_replay_find(&w.x, argv[0], &err));
	DTX_TRY(dtx_why_cell(&w, argc, argv, &err));
	DTX_TRY(dtx_why_columns_known(&w, &err));
	asked = true;
	DTX_TRY(why_answer(&w, argv[0], &out, &err));
	if (dtx_json_bool(json_object_get(w.x.record, "found"), "file_changed", false) &&
	    access(argv[0], F_OK) == 0)
		dtx_out_note(cli,
		             "dtx: %s is not as run %s wrote it; this answer is about what the run "
		             "wrote\n",
		             argv[0],
		             dtx_json_text(json_object_get(w.x.record, "run"), "short", ""));
	if (w.args->json) {
		dtx_json_print(w.report, 1, &out);
		dtx_buf_add(&out, "\n");
	}
out:
	status = rc == DTX_OK ? dtx_out_print(cli, &out) : dtx_out_fail(cli, &err);
	/* after the reason why there is no more */
	if (asked && (rc == DTX_E_INPUT_CHANGED || rc == DTX_E_NO_TRANSLATION))
		dtx_why_columns_only(&w);
	why_clear(&w);
	dtx_buf_clear(&out);
	dtx_err_clear(&err);
	return rc == DTX_E_NO_TRANSLATION ? 4 : status;
}

const struct dtx_cmd dtx_cmd_why = {
	.name = "why",
	.usage = "RUN | FILE [CELL]",
	.summary = "Name the source cells that one cell of a result came from",
	.notes = "The typed steps are run again with row numbers carried along.  If the file of "
		 "the result is\n"
		 "unchanged and its row identifies the source rows that can matter, they run on "
		 "these only and\n"
		 "must give that row; otherwise they run on all rows and must give a result with "
		 "the recorded\n"
		 "hash.  If dtx run --lineage rows stored the row numbers, these give the answer "
		 "without a run,\n"
		 "also if files are gone, but without the values of source cells; --again runs the "
		 "steps anyway.\n"
		 "Cells are named as in a spreadsheet, lines of text files as L12.\n"
		 "For windows the rows that they looked at are listed.  After the formula you see "
		 "how certain\n"
		 "the answer is: exact; static (perhaps too much or too little); declared (by a "
		 "snippet).\n"
		 "For a snippet's columns no rows are listed.  If the rows of a typed step cannot "
		 "be followed, the\n"
		 "source columns are listed and the exit status is 4.\n"
		 "\n"
		 "  dtx why out.csv --row 1 --col utilization\n"
		 "  dtx why out.csv --key region=West --col utilization\n"
		 "  dtx why report.xlsx C7",
	.exits = "0 done; 4 no record, an input is changed, or rows cannot be followed",
	.opts = why_opts,
	.nopts = DTX_COUNT(why_opts),
	.args_size = sizeof(struct dtx_why_args),
	.min_args = 1,
	.max_args = 2,
	.run = why_main,
};
