/* why: the source cells that one cell of a result came from. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cited.h"
#include "cli/lookup.h"
#include "cli/runner.h"
#include "cli/traced.h"
#include "core/base/file.h"
#include "core/base/mem.h"
#include "core/data/cast.h"
#include "core/plan/trace.h"

enum { WHY_SHOWN = 20 };

struct why_args {
	int64_t row;
	const char *col;
	bool all, no_values, json;
};

static const struct dtx_opt why_opts[] = {
	{ .name = "row",
	  .kind = DTX_O_INT,
	  .metavar = "N",
	  .offset = offsetof(struct why_args, row),
	  .min = 1,
	  .max = INT64_MAX,
	  .help = "row of the result, counted from 1 below the header" },
	{ .name = "col",
	  .kind = DTX_O_TEXT,
	  .metavar = "NAME",
	  .offset = offsetof(struct why_args, col),
	  .help = "column of the result" },
	{ .name = "all",
	  .kind = DTX_O_FLAG,
	  .offset = offsetof(struct why_args, all),
	  .help = "list every cell (default: 20 per column)" },
	{ .name = "no-values",
	  .kind = DTX_O_FLAG,
	  .offset = offsetof(struct why_args, no_values),
	  .help = "addresses alone" },
	{ .name = "json",
	  .kind = DTX_O_FLAG,
	  .offset = offsetof(struct why_args, json),
	  .help = "as JSON, with every cell" },
};

struct why {
	const struct dtx_cli *cli;
	const struct why_args *args;
	json_t *record;
	uint32_t output;
	int64_t row;
	char column[256];
	struct dtx_run_args run_args;
	struct dtx_runner_replay replay;
	struct dtx_runner r;
	struct dtx_exec_result *bound, *done;
	struct dtx_traced traced;
	json_t *report;
	struct dtx_plan *plan; /* the traced one */
	struct dtx_trace trace;
	bool filled; /* a source column was filled: values may come from other cells */
	struct dtx_buf text;
};

/* --- which cell --- */

static const json_t *why_output(const struct why *w)
{
	return json_array_get(json_object_get(w->record, "outputs"), w->output);
}

/* "B7": column B, sheet row 7, of which the first is the header unless there is none. */
static bool why_address(struct why *w, const char *text)
{
	const json_t *schema = json_object_get(why_output(w), "schema");
	const json_t *writer = json_object_get(why_output(w), "writer");
	int header = dtx_json_bool(writer, "header", true);
	int64_t column = 0;
	const char *p = text;
	char *end;

	for (; *p >= 'A' && *p <= 'Z' && p - text < 4; p++)
		column = column * 26 + (*p - 'A' + 1);
	w->row = *p >= '1' && *p <= '9' ? strtoll(p, &end, 10) - header : 0;
	if (!column || w->row < 1 || *end)
		return false;
	snprintf(w->column, sizeof(w->column), "%s",
	         dtx_json_text(json_array_get(schema, (size_t)column - 1), "name", ""));
	return w->column[0] != '\0';
}

static enum dtx_code why_cell(struct why *w, int argc, char **argv, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct why_args *a = w->args;

	if (argc > 1 && (a->row || a->col))
		DTX_FAIL(err, DTX_E_USAGE, "the cell is given twice: '%s' and --row or --col",
		         argv[1]);
	if (argc > 1) {
		if (!why_address(w, argv[1]))
			DTX_FAIL(err, DTX_E_USAGE, "'%s' is no cell of this result", argv[1]);
		goto out;
	}
	if (!a->row || !a->col)
		DTX_FAIL(err, DTX_E_USAGE, "which cell? give --row N --col NAME, or B7");
	w->row = a->row;
	snprintf(w->column, sizeof(w->column), "%s", a->col);
out:
	return rc;
}

static enum dtx_code why_column(const struct why *w, struct dtx_err *err)
{
	const json_t *schema = json_object_get(why_output(w), "schema");
	const char *names[64];
	json_t *field;
	size_t i, n = 0;

	json_array_foreach(schema, i, field)
	{
		const char *name = dtx_json_text(field, "name", "");

		if (!strcmp(name, w->column))
			return DTX_OK;
		if (n < DTX_COUNT(names))
			names[n++] = name;
	}
	dtx_err_set(err, DTX_E_USAGE, __FILE__, __LINE__, "the result has no column '%s'",
	            w->column);
	dtx_err_suggest(err, w->column, names, n);
	return DTX_E_USAGE;
}

/* --- the traced run --- */

/* What is wrong with the traced plan is nothing that the reader of the message could mend. */
static enum dtx_code why_traced(enum dtx_code rc, struct dtx_err *err)
{
	struct dtx_err own = DTX_ERR_INIT;

	if (rc == DTX_OK || dtx_code_exit(rc, err->run_time) > 4 ||
	    strncmp(err->at, "/steps/", strlen("/steps/")) != 0)
		return rc;
	rc = dtx_err_set(&own, DTX_E_NO_TRANSLATION, __FILE__, __LINE__,
	                 "the rows of this plan cannot be followed: with row numbers it fails: %s",
	                 err->msg);
	dtx_err_move(err, &own);
	return rc;
}

static enum dtx_code why_inputs(const struct why *w, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	json_t *input;
	size_t i;

	json_array_foreach(json_object_get(w->record, "inputs"), i, input)
	{
		const char *state = dtx_json_text(input, "file", "not kept");

		if (strcmp(state, "unchanged") != 0)
			DTX_FAIL(err, DTX_E_INPUT_CHANGED,
			         "the recorded bytes of input '%s' are not at hand: '%s' is %s",
			         dtx_json_text(input, "alias", ""),
			         dtx_json_text(input, "uri", "stdin"), state);
	}
	if (json_array_size(json_object_get(w->record, "regions")))
		DTX_FAIL(err, DTX_E_NO_TRANSLATION,
		         "a snippet did a step of this run: its rows cannot be followed");
out:
	return rc;
}

static enum dtx_code why_bind(struct why *w, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_exec_opts opts = DTX_EXEC_OPTS_INIT;

	w->replay = (struct dtx_runner_replay){ .record = w->record, .dir = "" };
	w->r = (struct dtx_runner){
		.cli = w->cli, .args = &w->run_args, .command = "why", .replay = &w->replay
	};
	w->r.plan_path = dtx_json_text(json_object_get(json_object_get(w->record, "run"), "plan"),
	                               "file", NULL);
	DTX_TRY(dtx_runner_replay_options(w->record, &w->run_args, err));
	DTX_TRY(dtx_runner_plan(&w->r, err));
	DTX_TRY(dtx_runner_inputs(&w->r, 0, NULL, err));
	DTX_TRY(dtx_runner_replay_places(&w->r, err));
	DTX_TRY(dtx_runner_spread(&w->r, err));
	DTX_TRY(dtx_runner_open(&w->r, true, err));
	opts.input = w->r.source;
	opts.repair = w->run_args.repair;
	DTX_TRY(dtx_exec_bind(w->r.plan, &opts, &w->r.findings, &w->bound, err));
out:
	return rc;
}

static json_t *why_columns(const struct why *w)
{
	json_t *list = json_array(), *field;
	size_t i;

	json_array_foreach(json_object_get(why_output(w), "schema"), i, field)
		json_array_append(list, json_object_get(field, "name"));
	return list;
}

static enum dtx_code why_plan(struct why *w, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	json_t *columns = why_columns(w);
	char *text = NULL;

	DTX_TRY(dtx_trace_plan(w->r.plan, w->bound, w->output, columns, w->row, w->column,
	                       &w->trace, err));
	text = json_dumps(w->trace.plan, JSON_COMPACT);
	if (!text)
		DTX_FAIL_MEM(err);
	DTX_TRY(why_traced(dtx_plan_parse(dtx_str_of(text), NULL, &w->r.findings, &w->plan, err),
	                   err));
	DTX_TRY(why_traced(dtx_plan_check(w->plan, &w->r.findings, err), err));
	for (uint32_t i = 0; i < w->plan->ninputs; i++) {
		w->plan->input[i].path = w->r.plan->input[i].path;
		w->plan->input[i].opts = w->r.plan->input[i].opts;
	}
out:
	free(text);
	json_decref(columns);
	return rc;
}

/* --- what is found --- */

static enum dtx_code why_collect_table(struct why *w, const struct dtx_table *t, const char *column,
                                       struct dtx_cited *cells, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int32_t c = dtx_schema_find(t->schema, column);

	for (size_t i = 0; c >= 0 && i < t->nbatches; i++) {
		const struct dtx_batch *b = t->batch[i];

		for (uint32_t k = 0; k < b->nsel; k++) {
			uint32_t row = b->sel ? b->sel[k] : k;
			struct dtx_err place = DTX_ERR_INIT;

			dtx_buf_reset(&w->text);
			if (b->col[c])
				dtx_cast_print(b->col[c], row, &w->text);
			dtx_batch_blame(b, row, c, &place);
			rc = dtx_cited_add(
				cells, place.cell, b->rec ? b->rec[row] : b->first_row + row,
				(struct dtx_str){ dtx_buf_text(&w->text), w->text.len }, err);
			dtx_err_clear(&place);
			DTX_TRY(rc);
		}
	}
out:
	return rc;
}

/* Cells of one source column. */
static enum dtx_code why_collect(struct why *w, const char *alias, const char *column,
                                 struct dtx_cited *cells, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	for (uint32_t i = 0; i < w->trace.noutputs; i++) {
		const struct dtx_trace_output *o = &w->trace.output[i];

		if (o->part == DTX_TRACE_INPUT && !strcmp(w->plan->input[o->input].name, alias))
			DTX_TRY(why_collect_table(w, w->traced.result->output[i].table, column,
			                          cells, err));
	}
out:
	return rc;
}

static const char *why_label(const struct why *w, const char *alias)
{
	json_t *input;
	size_t i;

	json_array_foreach(json_object_get(w->record, "inputs"), i, input)
	{
		if (!strcmp(dtx_json_text(input, "alias", ""), alias))
			return dtx_json_text(input, "label", alias);
	}
	return alias;
}

/* DIRECT rows of the column, or INDIRECT ones of the table. */
static bool why_concerns(const struct why *w, const json_t *row, bool direct)
{
	const char *type = dtx_json_text(row, "type", "");

	return dtx_json_int(row, "output", 0) == (json_int_t)w->output &&
	       !strcmp(type, direct ? "DIRECT" : "INDIRECT") &&
	       (!direct || !strcmp(dtx_json_text(row, "out_col", ""), w->column));
}

static bool why_listed(const json_t *list, const json_t *row)
{
	json_t *one;
	size_t i;

	json_array_foreach((json_t *)(uintptr_t)list, i, one)
	{
		if (json_equal(json_object_get(one, "alias"), json_object_get(row, "alias")) &&
		    json_equal(json_object_get(one, "column"), json_object_get(row, "in_col")) &&
		    json_equal(json_object_get(one, "how"), json_object_get(row, "subtype")))
			return true;
	}
	return false;
}

/* [{"alias","column","label","how","cells":[{"cell","value"}]}] */
static enum dtx_code why_sources(struct why *w, bool direct, json_t **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_cited cells = { .n = 0 };
	json_t *list = json_array(), *row;
	bool filled;
	size_t i;

	json_array_foreach(json_object_get(w->record, "lineage"), i, row)
	{
		const char *alias = dtx_json_text(row, "alias", "");
		const char *column = dtx_json_text(row, "in_col", "");

		if (!why_concerns(w, row, direct) || !dtx_json_text(row, "in_col", NULL) ||
		    (direct && dtx_traced_elsewhere(&w->traced, column)) || why_listed(list, row))
			continue;
		/* what a fill put there is not what the source has */
		filled = dtx_traced_filled(&w->traced, column);
		w->filled |= direct && filled;
		dtx_cited_clear(&cells);
		DTX_TRY(why_collect(w, alias, column, &cells, err));
		if (json_array_append_new(
			    list,
			    json_pack("{ss ss ss ss so}", "alias", alias, "column", column, "label",
		                      why_label(w, alias), "how", dtx_json_text(row, "subtype", ""),
		                      "cells",
		                      dtx_cited_json(&cells, !w->args->no_values && !filled))) < 0)
			DTX_FAIL_MEM(err);
	}
	*out = list;
	list = NULL;
out:
	dtx_cited_clear(&cells);
	json_decref(list);
	return rc;
}

static const json_t *why_formula(const struct why *w)
{
	json_t *row;
	size_t i;

	json_array_foreach(json_object_get(w->record, "lineage"), i, row)
	{
		if (why_concerns(w, row, true) && dtx_json_text(row, "formula", NULL))
			return row;
	}
	return NULL;
}

static enum dtx_code why_report(struct why *w, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const json_t *formula = why_formula(w);
	json_t *direct = NULL, *decided = NULL;

	DTX_TRY(why_sources(w, true, &direct, err));
	DTX_TRY(why_sources(w, false, &decided, err));
	w->report = json_pack("{ss sI ss ss ss ss? ss? ss sO sO}", "output",
	                      dtx_json_text(why_output(w), "path", "-"), "row", (json_int_t)w->row,
	                      "column", w->column, "value", dtx_traced_value(&w->traced, w->column),
	                      "run", dtx_json_text(json_object_get(w->record, "run"), "run_id", ""),
	                      "formula", dtx_json_text(formula, "formula", NULL), "composed",
	                      dtx_json_text(formula, "composed", NULL), "class",
	                      w->trace.wide || w->traced.wide || w->filled ? "static" : "exact",
	                      "cells", direct, "decided_by", decided);
	if (!w->report)
		DTX_FAIL_MEM(err);
out:
	json_decref(direct);
	json_decref(decided);
	return rc;
}

/* Places of rows are known while the readers are open. */
static enum dtx_code why_look(void *arg, const struct dtx_exec_result *traced, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct why *w = arg;
	const char *want = dtx_json_text(why_output(w), "table_hash", "");

	w->traced.plan = w->plan;
	w->traced.result = traced;
	if (strcmp(traced->output[0].table_hash, want) != 0)
		DTX_FAIL(err, DTX_E_NO_TRANSLATION,
		         "the rows of this plan cannot be followed: with row numbers it gives "
		         "another table");
	if (!traced->output[1].rows)
		DTX_FAIL(err, DTX_E_USAGE, "the result has %lld rows, not %lld",
		         (long long)traced->output[0].rows, (long long)w->row);
	DTX_TRY(why_report(w, err));
out:
	return rc;
}

static enum dtx_code why_run(struct why *w, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_exec_opts opts = DTX_EXEC_OPTS_INIT;
	struct dtx_host host = { 0 };

	opts.input = w->r.source;
	opts.repair = w->run_args.repair;
	opts.table_hash = true;
	opts.look = why_look;
	opts.look_arg = w;
	DTX_TRY(dtx_runner_date(&w->r, &opts.run_date, err));
	DTX_TRY(why_traced(dtx_exec(w->plan, &opts, &host, &w->r.findings, &w->done, err), err));
out:
	return rc;
}

/* --- the command --- */

static void why_print_formula(const struct why *w, struct dtx_buf *out)
{
	const char *formula = dtx_json_text(w->report, "formula", NULL);
	const char *composed = dtx_json_text(w->report, "composed", NULL);

	dtx_buf_printf(out, "%-12s", "formula");
	if (formula) {
		dtx_out_safe(out, w->column, false);
		dtx_buf_add(out, " = ");
	}
	dtx_out_safe(out, formula ? formula : "as it is", false);
	dtx_buf_printf(out, "  [%s]\n", dtx_json_text(w->report, "class", ""));
	if (composed && formula && strcmp(composed, formula) != 0) {
		dtx_buf_printf(out, "%-12s= ", "");
		dtx_out_safe(out, composed, false);
		dtx_buf_addc(out, '\n');
	}
}

static void why_print(const struct why *w, struct dtx_buf *out)
{
	const json_t *report = w->report;
	const char *path = dtx_json_text(report, "output", "-");
	size_t most = w->args->all ? SIZE_MAX : WHY_SHOWN;

	dtx_out_safe(out, strcmp(path, "-") ? dtx_file_basename(path) : "stdout", false);
	dtx_buf_printf(out, " row %lld, ", (long long)w->row);
	dtx_out_safe(out, w->column, false);
	dtx_buf_add(out, " = ");
	dtx_out_safe(out, dtx_json_text(report, "value", ""), false);
	dtx_buf_printf(out, "   run %s\n", dtx_run_id_short(dtx_json_text(report, "run", "")));
	why_print_formula(w, out);
	dtx_cited_print("cells", json_object_get(report, "cells"), most, false, out);
	dtx_cited_print("decided by", json_object_get(report, "decided_by"), most, true, out);
	if (w->filled)
		dtx_buf_printf(out,
		               "%-12sa source column was filled: a blank cell has its value from "
		               "above or below\n",
		               "note");
	if (w->trace.wide || w->traced.wide)
		dtx_buf_printf(out,
		               "%-12sa step of this plan keeps apart fewer rows than it "
		               "read: too many may be named\n",
		               "note");
}

/* The columns at least, where cells cannot be had. */
static void why_columns_only(const struct why *w)
{
	const json_t *formula = why_formula(w);
	json_t *row;
	size_t i;

	if (formula)
		dtx_out_note(w->cli, "dtx: %s = %s\n", w->column,
		             dtx_json_text(formula, "composed", ""));
	json_array_foreach(json_object_get(w->record, "lineage"), i, row)
	{
		if (why_concerns(w, row, true) && dtx_json_text(row, "in_col", NULL))
			dtx_out_note(w->cli, "dtx: %s comes from %s, column %s [%s]\n", w->column,
			             why_label(w, dtx_json_text(row, "alias", "")),
			             dtx_json_text(row, "in_col", ""),
			             dtx_json_text(row, "class", ""));
	}
}

static enum dtx_code why_find(struct why *w, const char *what, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_store *store = NULL;

	DTX_TRY(dtx_store_open(w->cli->store, DTX_STORE_READ, &store, err));
	DTX_TRY(dtx_lookup(store, what, true, &w->record, err));
	DTX_TRY(dtx_lookup_model(store, w->record, err));
	DTX_TRY(dtx_query_files(w->record, err));
	w->output = (uint32_t)dtx_json_int(json_object_get(w->record, "found"), "output", 0);
	if (!why_output(w))
		DTX_FAIL(err, DTX_E_NO_RECORD, "run %s has no result",
		         dtx_json_text(json_object_get(w->record, "run"), "short", ""));
out:
	dtx_store_free(store);
	return rc;
}

static enum dtx_code why_answer(struct why *w, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	DTX_TRY(why_inputs(w, err));
	DTX_TRY(why_bind(w, err));
	DTX_TRY(why_plan(w, err));
	DTX_TRY(why_run(w, err));
out:
	if (rc == DTX_E_INPUT_CHANGED || rc == DTX_E_NO_TRANSLATION)
		why_columns_only(w);
	return rc;
}

static void why_clear(struct why *w)
{
	dtx_exec_free(w->done);
	dtx_exec_free(w->bound);
	dtx_plan_free(w->plan);
	dtx_trace_clear(&w->trace);
	dtx_runner_clear(&w->r);
	dtx_buf_clear(&w->text);
	dtx_buf_clear(&w->traced.text);
	json_decref(w->record);
	json_decref(w->report);
}

static int why_main(const struct dtx_cli *cli, void *args, int argc, char **argv)
{
	struct why w = { .cli = cli, .args = args };
	struct dtx_buf out = DTX_BUF_INIT((size_t)1 << 30);
	struct dtx_err err = DTX_ERR_INIT;
	enum dtx_code rc = DTX_OK;
	int status;

	dtx_buf_init(&w.text, DTX_BUF_TEXT_MAX);
	dtx_buf_init(&w.traced.text, DTX_BUF_TEXT_MAX);
	DTX_TRY(why_find(&w, argv[0], &err));
	DTX_TRY(why_cell(&w, argc, argv, &err));
	DTX_TRY(why_column(&w, &err));
	DTX_TRY(why_answer(&w, &err));
	if (w.args->json) {
		dtx_json_print(w.report, 1, &out);
		dtx_buf_add(&out, "\n");
	} else {
		why_print(&w, &out);
	}
out:
	status = rc == DTX_OK ? dtx_out_print(cli, &out) : dtx_out_fail(cli, &err);
	why_clear(&w);
	dtx_buf_clear(&out);
	dtx_err_clear(&err);
	return rc == DTX_E_NO_TRANSLATION ? 4 : status;
}

const struct dtx_cmd dtx_cmd_why = {
	.name = "why",
	.usage = "RUN | FILE [CELL]",
	.summary = "Name the source cells that one cell of a result came from",
	.notes =
		"The typed steps run again with row numbers carried along; the result must have "
		"the\n"
		"recorded hash.  Cells are named as in a spreadsheet, lines of text files as L12.\n"
		"Where rows cannot be followed (a snippet, a step that looks at other rows) the "
		"source\n"
		"columns are named and the exit status is 4.\n\n"
		"  dtx why out.csv --row 1 --col utilization\n"
		"  dtx why report.xlsx C7",
	.exits = "0 done; 4 no record, an input is changed, or rows cannot be followed",
	.opts = why_opts,
	.nopts = DTX_COUNT(why_opts),
	.args_size = sizeof(struct why_args),
	.min_args = 1,
	.max_args = 2,
	.run = why_main,
};
