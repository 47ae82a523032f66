/* why: the source cells that one cell of a result came from. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cited.h"
#include "cli/retrace.h"
#include "cli/traced.h"
#include "cli/why_snippet.h"
#include "core/base/mem.h"
#include "core/data/cast.h"
#include "core/plan/trace.h"

enum { WHY_SHOWN = 20 };

struct why_args {
	int64_t row;
	const char *col;
	struct dtx_optlist key;
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
	{ .name = "key",
	  .kind = DTX_O_LIST,
	  .metavar = "COLUMN=TEXT",
	  .offset = offsetof(struct why_args, key),
	  .help = "instead of --row: the one row with this cell; several narrow it down" },
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
	const struct why_args *args;
	struct dtx_retrace x;
	int64_t row;
	json_t *key; /* {"column": "text"} instead of a row; NULL */
	char column[256];
	struct dtx_traced traced;
	json_t *report;
	struct dtx_plan *plan; /* the traced one */
	struct dtx_trace trace;
	int64_t *line[DTX_PLAN_OUTPUTS]; /* of rows of text files, once they are known; from 1 */
	bool filled; /* a source column was filled: values may come from other cells */
	struct dtx_buf text;
};

/* --- which cell --- */

/* "B7": column B, sheet row 7, of which the first is the header unless there is none. */
static bool why_address(struct why *w, const char *text)
{
	const json_t *schema = json_object_get(dtx_retrace_output(&w->x), "schema");
	const json_t *writer = json_object_get(dtx_retrace_output(&w->x), "writer");
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

/* {"column": "text"} */
static enum dtx_code why_keys(struct why *w, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_optlist *keys = &w->args->key;

	if (!keys->n)
		return DTX_OK;
	w->key = json_object();
	for (size_t i = 0; i < keys->n; i++) {
		const char *eq = strchr(keys->item[i], '=');

		if (!eq || eq == keys->item[i])
			DTX_FAIL(err, DTX_E_USAGE, "option '--key' wants COLUMN=TEXT, got '%s'",
			         keys->item[i]);
		if (json_object_setn_new(w->key, keys->item[i], (size_t)(eq - keys->item[i]),
		                         json_string(eq + 1)) < 0)
			DTX_FAIL_MEM(err);
	}
out:
	return rc;
}

static enum dtx_code why_cell(struct why *w, int argc, char **argv, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct why_args *a = w->args;

	DTX_TRY(why_keys(w, err));
	if (argc > 1 && (a->row || a->col || w->key))
		DTX_FAIL(err, DTX_E_USAGE,
		         "the cell is given twice: '%s' and --row, --key or --col", argv[1]);
	if (a->row && w->key)
		DTX_FAIL(err, DTX_E_USAGE, "the row is given twice: --row and --key");
	if (argc > 1) {
		if (!why_address(w, argv[1]))
			DTX_FAIL(err, DTX_E_USAGE, "'%s' is no cell of this result", argv[1]);
		goto out;
	}
	if ((!a->row && !w->key) || !a->col)
		DTX_FAIL(
			err, DTX_E_USAGE,
			"which cell? give --row N --col NAME, --key COLUMN=TEXT --col NAME, or B7");
	w->row = a->row;
	snprintf(w->column, sizeof(w->column), "%s", a->col);
out:
	return rc;
}

static enum dtx_code why_column(const struct why *w, const char *column, struct dtx_err *err)
{
	const json_t *schema = json_object_get(dtx_retrace_output(&w->x), "schema");
	const char *names[64];
	json_t *field;
	size_t i, n = 0;

	json_array_foreach(schema, i, field)
	{
		const char *name = dtx_json_text(field, "name", "");

		if (!strcmp(name, column))
			return DTX_OK;
		if (n < DTX_COUNT(names))
			names[n++] = name;
	}
	dtx_err_set(err, DTX_E_USAGE, __FILE__, __LINE__, "the result has no column '%s'", column);
	dtx_err_suggest(err, column, names, n);
	return DTX_E_USAGE;
}

static enum dtx_code why_columns_known(const struct why *w, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const char *name;
	json_t *value;

	DTX_TRY(why_column(w, w->column, err));
	json_object_foreach(w->key, name, value) DTX_TRY(why_column(w, name, err));
out:
	return rc;
}

/* --- the traced run --- */

static json_t *why_columns(const struct why *w)
{
	json_t *list = json_array(), *field;
	size_t i;

	json_array_foreach(json_object_get(dtx_retrace_output(&w->x), "schema"), i, field)
		json_array_append(list, json_object_get(field, "name"));
	return list;
}

/* DIRECT rows of the column, or INDIRECT ones of the table. */
static bool why_concerns(const struct why *w, const json_t *row, bool direct)
{
	const char *type = dtx_json_text(row, "type", "");

	return dtx_json_int(row, "output", 0) == (json_int_t)w->x.output &&
	       !strcmp(type, direct ? "DIRECT" : "INDIRECT") &&
	       (!direct || !strcmp(dtx_json_text(row, "out_col", ""), w->column));
}

/* Source columns that the answer names, by input. */
static json_t *why_wanted(const struct why *w)
{
	json_t *wanted = json_object(), *row, *columns;
	size_t i;

	json_array_foreach(json_object_get(w->x.record, "lineage"), i, row)
	{
		const char *alias = dtx_json_text(row, "alias", NULL);
		const char *column = dtx_json_text(row, "in_col", NULL);

		if (!alias || !column ||
		    (!why_concerns(w, row, true) && !why_concerns(w, row, false)))
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

static enum dtx_code why_plan(struct why *w, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	json_t *columns = why_columns(w), *wanted = why_wanted(w);
	struct dtx_trace_ask ask = { .output = w->x.output,
		                     .columns = columns,
		                     .column = w->column,
		                     .row = w->row,
		                     .sources = wanted,
		                     .key = w->key };

	DTX_TRY(dtx_trace_plan(w->x.r.plan, w->x.bound, &ask, &w->trace, err));
out:
	json_decref(columns);
	json_decref(wanted);
	return rc;
}

/* --- what is found --- */

/* The cell of a row.  Lines of text files are found by reading on: once is enough. */
static void why_place(struct why *w, uint32_t output, int64_t nth, const struct dtx_batch *b,
                      uint32_t row, int32_t column, char at[24])
{
	struct dtx_err place = DTX_ERR_INIT;
	int64_t *line = w->line[output];

	if (line && line[nth] && b->origin && !b->origin->sheet) {
		snprintf(at, 24, "L%lld", (long long)line[nth]);
		return;
	}
	dtx_batch_blame(b, row, column, &place);
	snprintf(at, 24, "%.23s", place.cell);
	if (line && b->origin && !b->origin->sheet)
		line[nth] = place.row + 1;
	dtx_err_clear(&place);
}

static enum dtx_code why_collect_table(struct why *w, uint32_t output, const char *column,
                                       struct dtx_cited *cells, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_table *t = w->traced.result->output[output].table;
	int32_t c = dtx_schema_find(t->schema, column);
	int64_t nth = 0;
	char at[24];

	if (!w->line[output])
		w->line[output] = dtx_mem_zalloc((size_t)t->nrows + 1, sizeof(**w->line));
	for (size_t i = 0; c >= 0 && i < t->nbatches; i++) {
		const struct dtx_batch *b = t->batch[i];

		for (uint32_t k = 0; k < b->nsel; k++, nth++) {
			uint32_t row = b->sel ? b->sel[k] : k;

			dtx_buf_reset(&w->text);
			if (b->col[c])
				dtx_cast_print(b->col[c], row, &w->text);
			why_place(w, output, nth, b, row, c, at);
			DTX_TRY(dtx_cited_add(
				cells, at, b->rec ? b->rec[row] : b->first_row + row,
				(struct dtx_str){ dtx_buf_text(&w->text), w->text.len }, err));
		}
	}
out:
	return rc;
}

/* Cells of one source column. */
static enum dtx_code why_collect(struct why *w, bool direct, const char *alias, const char *column,
                                 struct dtx_cited *cells, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	for (uint32_t i = 0; i < w->trace.noutputs; i++) {
		const struct dtx_trace_output *o = &w->trace.output[i];

		if (o->part == DTX_TRACE_INPUT && !(direct && o->indirect) &&
		    !strcmp(w->plan->input[o->input].name, alias))
			DTX_TRY(why_collect_table(w, i, column, cells, err));
	}
out:
	return rc;
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

	json_array_foreach(json_object_get(w->x.record, "lineage"), i, row)
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
		DTX_TRY(why_collect(w, direct, alias, column, &cells, err));
		if (json_array_append_new(
			    list,
			    json_pack("{ss ss ss ss so}", "alias", alias, "column", column, "label",
		                      dtx_retrace_label(&w->x, alias), "how",
		                      dtx_json_text(row, "subtype", ""), "cells",
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

	json_array_foreach(json_object_get(w->x.record, "lineage"), i, row)
	{
		if (why_concerns(w, row, true) && dtx_json_text(row, "formula", NULL))
			return row;
	}
	return NULL;
}

static bool why_exact(const struct why *w)
{
	return !w->trace.wide && !w->trace.borrowed && !w->traced.wide && !w->filled;
}

/* The formula with the values that it saw; nothing where they cannot be had. */
static void why_put(struct why *w, const json_t *row, const json_t *direct, struct dtx_buf *out)
{
	const char *formula = NULL;
	int32_t step = dtx_trace_maker(w->x.r.plan, w->x.output, w->column, &formula);

	for (uint32_t i = 0; step >= 0 && i < w->trace.noutputs; i++) {
		if (w->trace.output[i].part == DTX_TRACE_TERMS)
			dtx_traced_formula(&w->traced, i, formula, out);
	}
	if (step < 0 && dtx_json_text(row, "formula", NULL) && why_exact(w))
		dtx_traced_aggregate(w->x.r.plan, dtx_json_text(row, "formula", ""), direct, out);
}

static enum dtx_code why_report(struct why *w, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const json_t *formula = why_formula(w);
	json_t *direct = NULL, *decided = NULL;
	struct dtx_buf put = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);

	DTX_TRY(why_sources(w, true, &direct, err));
	DTX_TRY(why_sources(w, false, &decided, err));
	if (!w->args->no_values)
		why_put(w, formula, direct, &put);
	w->report = json_pack(
		"{ss sI ss ss ss ss? ss? ss? ss sO sO}", "output",
		dtx_json_text(dtx_retrace_output(&w->x), "path", "-"), "row", (json_int_t)w->row,
		"column", w->column, "value", dtx_traced_value(&w->traced, w->column), "run",
		dtx_json_text(json_object_get(w->x.record, "run"), "run_id", ""), "formula",
		dtx_json_text(formula, "formula", NULL), "composed",
		dtx_json_text(formula, "composed", NULL), "with_values",
		put.len ? dtx_buf_text(&put) : NULL, "class", why_exact(w) ? "exact" : "static",
		"cells", direct, "decided_by", decided);
	if (!w->report)
		DTX_FAIL_MEM(err);
out:
	dtx_buf_clear(&put);
	json_decref(direct);
	json_decref(decided);
	return rc;
}

/* One row, and which. */
static enum dtx_code why_row(struct why *w, const struct dtx_exec_result *traced,
                             struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	long long n = (long long)traced->output[1].rows;

	if (!n && w->key)
		DTX_FAIL(err, DTX_E_USAGE, "no row of the result has this --key");
	if (!n)
		DTX_FAIL(err, DTX_E_USAGE, "the result has %lld rows, not %lld",
		         (long long)traced->output[0].rows, (long long)w->row);
	if (n > 1) {
		rc = dtx_err_set(err, DTX_E_USAGE, __FILE__, __LINE__,
		                 "%lld rows of the result have this --key", n);
		dtx_err_hint(err, "give a --key more, or --row N");
		goto out;
	}
	if (w->key)
		w->row = strtoll(dtx_traced_value(&w->traced, "dtx_row"), NULL, 10);
out:
	return rc;
}

/* Places of rows are known while the readers are open. */
static enum dtx_code why_look(void *arg, const struct dtx_exec_result *traced, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct why *w = arg;
	const char *want = dtx_json_text(dtx_retrace_output(&w->x), "table_hash", "");

	w->traced.plan = w->plan;
	w->traced.result = traced;
	if (strcmp(traced->output[0].table_hash, want) != 0)
		DTX_FAIL(err, DTX_E_NO_TRANSLATION,
		         "the rows of this plan cannot be followed: with row numbers it gives "
		         "another table");
	DTX_TRY(why_row(w, traced, err));
	DTX_TRY(why_report(w, err));
out:
	return rc;
}

static enum dtx_code why_run(struct why *w, struct dtx_err *err)
{
	struct dtx_retrace_look look = { why_look, w };

	return dtx_retrace_run(&w->x, w->trace.plan, &look, &w->plan, err);
}

/* --- the command --- */

static void why_print_formula(const struct why *w, struct dtx_buf *out)
{
	const char *formula = dtx_json_text(w->report, "formula", NULL);
	const char *composed = dtx_json_text(w->report, "composed", NULL);
	const char *put = dtx_json_text(w->report, "with_values", NULL);

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
	if (put) {
		dtx_buf_printf(out, "%-12s", "values");
		dtx_out_safe(out, dtx_json_text(w->report, "value", ""), false);
		dtx_buf_add(out, " = ");
		dtx_out_safe(out, put, false);
		dtx_buf_addc(out, '\n');
	}
}

static void why_print(const struct why *w, struct dtx_buf *out)
{
	const json_t *report = w->report;
	size_t most = w->args->all ? SIZE_MAX : WHY_SHOWN;

	dtx_out_safe(out, dtx_retrace_name(&w->x), false);
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
	else if (w->trace.borrowed)
		dtx_buf_printf(out,
		               "%-12sa step of this plan makes values of other rows too, and does "
		               "not tell which: they are not named\n",
		               "note");
	if (w->trace.wide || w->traced.wide)
		dtx_buf_printf(out,
		               "%-12sa step of this plan does not tell apart all the rows it "
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
		dtx_out_note(w->x.cli, "dtx: %s = %s\n", w->column,
		             dtx_json_text(formula, "composed", ""));
	json_array_foreach(json_object_get(w->x.record, "lineage"), i, row)
	{
		if (why_concerns(w, row, true) && dtx_json_text(row, "in_col", NULL))
			dtx_out_note(w->x.cli, "dtx: %s comes from %s, column %s [%s]\n", w->column,
			             dtx_retrace_label(&w->x, dtx_json_text(row, "alias", "")),
			             dtx_json_text(row, "in_col", ""),
			             dtx_json_text(row, "class", ""));
	}
}

/* A snippet did a step: what is known of the column. */
static enum dtx_code why_rescued(struct why *w, struct dtx_buf *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	w->report = dtx_why_snippet(w->x.record, w->x.output, w->column);
	if (!w->report)
		DTX_FAIL_MEM(err);
	if (w->args->json)
		goto out;
	dtx_out_safe(out, dtx_retrace_name(&w->x), false);
	dtx_buf_add(out, ", ");
	dtx_out_safe(out, w->column, false);
	dtx_buf_printf(out, "   run %s\n", dtx_run_id_short(dtx_json_text(w->report, "run", "")));
	dtx_why_snippet_print(w->report, out);
out:
	return rc;
}

static enum dtx_code why_answer(struct why *w, struct dtx_buf *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (dtx_retrace_rescued(&w->x))
		return why_rescued(w, out, err);
	DTX_TRY(dtx_retrace_bind(&w->x, err));
	DTX_TRY(why_plan(w, err));
	DTX_TRY(why_run(w, err));
	if (!w->args->json)
		why_print(w, out);
out:
	if (rc == DTX_E_INPUT_CHANGED || rc == DTX_E_NO_TRANSLATION)
		why_columns_only(w);
	return rc;
}

static void why_clear(struct why *w)
{
	for (size_t i = 0; i < DTX_PLAN_OUTPUTS; i++)
		dtx_mem_free(w->line[i]);
	dtx_plan_free(w->plan);
	dtx_trace_clear(&w->trace);
	dtx_retrace_clear(&w->x);
	dtx_buf_clear(&w->text);
	dtx_buf_clear(&w->traced.text);
	json_decref(w->key);
	json_decref(w->report);
}

static int why_main(const struct dtx_cli *cli, void *args, int argc, char **argv)
{
	struct why w = { .args = args, .x = { .cli = cli, .command = "why" } };
	struct dtx_buf out = DTX_BUF_INIT((size_t)1 << 30);
	struct dtx_err err = DTX_ERR_INIT;
	enum dtx_code rc = DTX_OK;
	int status;

	dtx_buf_init(&w.text, DTX_BUF_TEXT_MAX);
	dtx_buf_init(&w.traced.text, DTX_BUF_TEXT_MAX);
	DTX_TRY(dtx_retrace_find(&w.x, argv[0], &err));
	DTX_TRY(why_cell(&w, argc, argv, &err));
	DTX_TRY(why_columns_known(&w, &err));
	DTX_TRY(why_answer(&w, &out, &err));
	if (w.args->json) {
		dtx_json_print(w.report, 1, &out);
		dtx_buf_add(&out, "\n");
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
		"Windows name the rows that they looked at.  How sure the answer is stands behind "
		"the\n"
		"formula: exact; static (too much or too little); declared (a snippet's word).  Of "
		"a "
		"snippet's\n"
		"columns no rows are named.  Where rows of a typed step cannot be followed the "
		"source\n"
		"columns are named and the exit status is 4.\n\n"
		"  dtx why out.csv --row 1 --col utilization\n"
		"  dtx why out.csv --key region=West --col utilization\n"
		"  dtx why report.xlsx C7",
	.exits = "0 done; 4 no record, an input is changed, or rows cannot be followed",
	.opts = why_opts,
	.nopts = DTX_COUNT(why_opts),
	.args_size = sizeof(struct why_args),
	.min_args = 1,
	.max_args = 2,
	.run = why_main,
};
