/* Makes the report of `why`: the cells that the traced row came from. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/out.h"
#include "cli/why/cell_ref.h"
#include "cli/why/keycells.h"
#include "cli/why/why.h"
#include "cli/why/why_stored.h"
#include "cli/why/why_rows.h"
#include "core/expr/parse/lex.h"
#include "cli/store/lookup.h"
#include "core/io/sheet/cellref.h"

/* Parses which cell `why` was asked about. */

/* Parses an address such as "B7": column B, row 7 of the sheet. The first row is the header, unless
 * the result has none. */
static bool why_address(struct dtx_why *w, const char *text)
{
	const json_t *schema = json_object_get(dtx_why_replay_output(&w->x), "schema");
	const json_t *writer = json_object_get(dtx_why_replay_output(&w->x), "writer");
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

/* Adds to an error about a cell which cells the result has. */
void dtx_why_hint_range(const struct dtx_why *w, struct dtx_err *err)
{
	const json_t *output = dtx_why_replay_output(&w->x);
	int header = dtx_json_bool(json_object_get(output, "writer"), "header", true);
	uint64_t rows = (uint64_t)dtx_json_int(output, "rows", 0);
	size_t columns = json_array_size(json_object_get(output, "schema"));
	char last[24];

	if (!rows || !columns) {
		dtx_err_hint(err, "the result has no rows");
		return;
	}
	dtx_cell_name(last, rows - 1 + (uint64_t)header, (uint32_t)columns - 1);
	dtx_err_hint(err, "its cells are A%d:%s%s", 1 + header, last,
	             header ? "; row 1 has the names of the columns" : "");
}

enum dtx_code dtx_why_cell(struct dtx_why *w, int argc, char **argv, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_why_args *a = w->args;

	DTX_TRY(dtx_keycells(&a->key, json_object_get(dtx_why_replay_output(&w->x), "schema"),
	                     &w->key, err));
	if (argc > 1 && (a->row || a->col || w->key))
		DTX_FAIL(err, DTX_E_USAGE,
		         "the cell is given twice: '%s' and --row, --key or --col", argv[1]);
	if (a->row && w->key)
		DTX_FAIL(err, DTX_E_USAGE, "the row is given twice: --row and --key");
	if (argc > 1) {
		if (!why_address(w, argv[1])) {
			rc = dtx_err_set(err, DTX_E_USAGE, __FILE__, __LINE__,
			                 "'%s' is not a cell of this result", argv[1]);
			dtx_why_hint_range(w, err);
		}
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

/* Adds a hint to the error if another result of the run has this column: that one must be asked by
 * its own file. */
static void why_elsewhere(const struct dtx_why *w, const char *column, struct dtx_err *err)
{
	json_t *output;
	size_t i;

	json_array_foreach(json_object_get(w->x.record, "outputs"), i, output)
	{
		if (!dtx_json_find(json_object_get(output, "schema"), "name", column))
			continue;
		if (dtx_lookup_table(output))
			dtx_err_hint(err, "another result of the run has it: dtx why '%s!%s'",
			             dtx_json_text(output, "path", "-"), dtx_lookup_table(output));
		else
			dtx_err_hint(err, "another result of the run has it: dtx why %s",
			             dtx_json_text(output, "path", "-"));
		return;
	}
}

static enum dtx_code why_column(const struct dtx_why *w, const char *column, struct dtx_err *err)
{
	const json_t *schema = json_object_get(dtx_why_replay_output(&w->x), "schema");
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
	why_elsewhere(w, column, err);
	return DTX_E_USAGE;
}

enum dtx_code dtx_why_columns_known(const struct dtx_why *w, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const char *name;
	json_t *value;

	DTX_TRY(why_column(w, w->column, err));
	json_object_foreach(w->key, name, value) DTX_TRY(why_column(w, name, err));
out:
	return rc;
}

/* Contract in why.h. */
bool dtx_why_concerns(const struct dtx_why *w, const json_t *row, bool direct)
{
	const char *type = dtx_json_text(row, "type", "");

	return dtx_json_int(row, "output", 0) == (json_int_t)w->x.output &&
	       !strcmp(type, direct ? "DIRECT" : "INDIRECT") &&
	       (!direct || !strcmp(dtx_json_text(row, "out_col", ""), w->column));
}

const json_t *dtx_why_formula(const struct dtx_why *w)
{
	json_t *row;
	size_t i;

	json_array_foreach(json_object_get(w->x.record, "lineage"), i, row)
	{
		if (dtx_why_concerns(w, row, true) && dtx_json_text(row, "formula", NULL))
			return row;
	}
	return NULL;
}

bool dtx_why_listed(json_t *seen, const json_t *row)
{
	struct dtx_buf key = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	bool listed;

	dtx_buf_json(&key, dtx_str_of(dtx_json_text(row, "alias", "")));
	dtx_buf_json(&key, dtx_str_of(dtx_json_text(row, "in_col", "")));
	dtx_buf_json(&key, dtx_str_of(dtx_json_text(row, "subtype", "")));
	listed = json_object_get(seen, dtx_buf_text(&key)) != NULL;
	json_object_set_new(seen, dtx_buf_text(&key), json_true());
	dtx_buf_clear(&key);
	return listed;
}

/* Adds the cells of a source: all, or their number and the ranges that are shown. */
static bool why_cells(struct dtx_why *w, const struct dtx_why_rows *rows, bool values,
                      json_t *source)
{
	size_t most = w->args->all ? SIZE_MAX : DTX_WHY_SHOWN;
	const char *column = dtx_json_text(source, "column", "");
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	bool ok;

	if (w->args->json || rows->n <= DTX_WHY_SHOWN)
		return dtx_json_set(source, "cells", dtx_why_rows_json(w, rows, column, values));
	dtx_why_rows_ranges(w, rows, column, most, &text);
	ok = dtx_buf_ok(&text) && dtx_json_set(source, "ranges", json_string(dtx_buf_text(&text)));
	dtx_buf_clear(&text);
	return ok;
}

/* Adds {"alias","column","label","how","cells":[{"cell","value"}]} */
static enum dtx_code why_source(struct dtx_why *w, const struct dtx_why_rows *rows,
                                const json_t *row, bool values, json_t *list, struct dtx_err *err)
{
	const char *alias = dtx_json_text(row, "alias", "");
	json_t *source = json_pack("{ss ss ss ss}", "alias", alias, "column",
	                           dtx_json_text(row, "in_col", ""), "label",
	                           dtx_why_replay_label(&w->x, alias), "how",
	                           dtx_json_text(row, "subtype", ""));
	enum dtx_code rc = DTX_OK;

	if (!source || !why_cells(w, rows, values, source) || json_array_append(list, source) < 0)
		DTX_FAIL_MEM(err);
out:
	json_decref(source);
	return rc;
}

/* The rows of an input that were collected last. Columns of one input usually have the same rows,
 * so they are collected once for all of them. */
struct why_gathered {
	struct dtx_why_rows rows;
	const char *of; /* the input; NULL: none yet */
	uint64_t outputs;
};

static enum dtx_code why_gather(struct dtx_why *w, const char *alias, uint64_t outputs,
                                struct why_gathered *g, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	outputs &= dtx_why_rows_outputs(w, alias);
	if (g->of && !strcmp(g->of, alias) && outputs == g->outputs)
		goto out;
	dtx_why_rows_clear(&g->rows);
	g->of = NULL;
	DTX_TRY(dtx_why_rows(w, outputs, alias, &g->rows, err));
	g->of = alias;
	g->outputs = outputs;
out:
	return rc;
}

/* Bits of the outputs whose rows may have decided. */
static uint64_t why_judged(const struct dtx_why *w)
{
	uint64_t bits = UINT64_MAX;

	for (uint32_t i = 0; i < w->trace.noutputs; i++)
		if (w->trace.output[i].apart)
			bits &= ~((uint64_t)1 << i);
	return bits;
}

static enum dtx_code why_sources(struct dtx_why *w, bool direct, struct why_gathered *g,
                                 json_t **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	json_t *list = json_array(), *seen = json_object(), *row;
	size_t i;

	if (!list || !seen)
		DTX_FAIL_MEM(err);
	json_array_foreach(json_object_get(w->x.record, "lineage"), i, row)
	{
		const char *alias = dtx_json_text(row, "alias", "");
		const char *column = dtx_json_text(row, "in_col", "");
		uint64_t want;
		bool filled;

		if (!dtx_why_concerns(w, row, direct) || !dtx_json_text(row, "in_col", NULL) ||
		    (direct && dtx_why_result_elsewhere(&w->traced, w->column, alias, column)) ||
		    dtx_why_listed(seen, row))
			continue;
		want = direct ? dtx_why_rows_of(w, alias, column) : why_judged(w);
		w->traced.wide |= direct && !want;
		DTX_TRY(why_gather(w, alias, want ? want : UINT64_MAX, g, err));
		if ((g->rows.of_many || (direct && w->trace.cells)) && !g->rows.n)
			continue;
		filled = w->trace.fills && dtx_why_result_filled(&w->traced, column);
		w->filled |= direct && filled;
		DTX_TRY(why_source(w, &g->rows, row, !w->args->no_values && !filled, list, err));
	}
	*out = list;
	list = NULL;
out:
	json_decref(seen);
	json_decref(list);
	return rc;
}

bool dtx_why_names_any(const json_t *list)
{
	json_t *one;
	size_t i;

	json_array_foreach((json_t *)(uintptr_t)list, i, one)
	{
		if (json_array_size(json_object_get(one, "cells")) ||
		    json_object_get(one, "ranges"))
			return true;
	}
	return false;
}

/* If no cell can be named (count() looks at no cell; nor does a null for a column that a table
 * lacks): lists per input how many rows there were, and their addresses if these are few. *out
 * stays NULL if there are cells. */
static enum dtx_code why_counted(struct dtx_why *w, const json_t *direct, const json_t *decided,
                                 json_t **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	json_t *list = NULL;

	if (dtx_why_names_any(direct) || dtx_why_names_any(decided))
		goto out;
	list = json_array();
	if (!list)
		DTX_FAIL_MEM(err);
	for (uint32_t i = 0; i < w->plan->ninputs; i++) {
		const char *alias = w->plan->input[i].name;
		struct dtx_why_rows rows;
		json_t *one;

		rc = dtx_why_rows(w, UINT64_MAX, alias, &rows, err);
		if (rc == DTX_OK && rows.of_many && !rows.n)
			continue;
		one = json_pack("{ss ss sI so*}", "alias", alias, "label",
		                dtx_why_replay_label(&w->x, alias), "rows", (json_int_t)rows.n,
		                "cells",
		                rc == DTX_OK && rows.n && rows.n <= DTX_WHY_SHOWN
		                        ? dtx_why_rows_places(w, &rows)
		                        : NULL);
		dtx_why_rows_clear(&rows);
		if (rc == DTX_OK && json_array_append_new(list, one) < 0)
			DTX_FAIL_MEM(err);
		DTX_TRY(rc);
	}
	*out = list;
	list = NULL;
out:
	json_decref(list);
	return rc;
}

static bool why_exact(const struct dtx_why *w)
{
	return !w->trace.wide && !w->trace.borrowed && !w->traced.wide && !w->filled;
}

/* Appends the formula with the values that it used in place of names; nothing if they are not
 * known. */
static void why_put(struct dtx_why *w, const json_t *row, const json_t *direct, struct dtx_buf *out)
{
	const char *formula = NULL, *grouped = w->trace.wide ? NULL : w->trace.grouped;
	int32_t step = dtx_trace_maker(w->x.r.plan, w->x.output, w->column, &formula);

	for (uint32_t i = 0; i < w->trace.noutputs; i++) {
		switch (w->trace.output[i].part) {
		case DTX_TRACE_TERMS:
			if (step >= 0)
				dtx_why_result_formula(&w->traced, i, formula, out);
			break;
		case DTX_TRACE_AGGREGATES:
			if (step < 0 && grouped)
				dtx_why_result_aggregates(&w->traced, i, grouped, out);
			break;
		case DTX_TRACE_TAKEN_BY:
			if (step < 0 && grouped)
				dtx_why_result_taken(&w->traced, i, grouped, out);
			break;
		default: break;
		}
	}
	if (step < 0 && !w->trace.grouped && dtx_json_text(row, "formula", NULL) && why_exact(w))
		dtx_why_result_window(w->x.r.plan, dtx_json_text(row, "formula", ""), direct, out);
}

/* NULL for a null. */
static const char *why_value(struct dtx_why *w)
{
	bool null = false;
	const char *text = dtx_why_result_cell(&w->traced, w->column, &null);

	return null ? NULL : text ? text : "";
}

enum dtx_code dtx_why_report(struct dtx_why *w, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const json_t *formula = dtx_why_formula(w);
	json_t *direct = NULL, *decided = NULL, *counted = NULL;
	struct why_gathered g = { .of = NULL };
	struct dtx_buf put = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);

	DTX_TRY(why_sources(w, true, &g, &direct, err));
	DTX_TRY(why_sources(w, false, &g, &decided, err));
	DTX_TRY(why_counted(w, direct, decided, &counted, err));
	if (!w->args->no_values)
		why_put(w, formula, direct, &put);
	w->report = json_pack("{ss sI ss ss? ss ss? ss? ss? ss sO sO sO*}", "output",
	                      dtx_json_text(dtx_why_replay_output(&w->x), "path", "-"), "row",
	                      (json_int_t)w->row, "column", w->column, "value", why_value(w), "run",
	                      dtx_json_text(json_object_get(w->x.record, "run"), "run_id", ""),
	                      "formula", dtx_json_text(formula, "formula", NULL), "composed",
	                      dtx_json_text(formula, "composed", NULL), "with_values",
	                      put.len ? dtx_buf_text(&put) : NULL, "class",
	                      why_exact(w) ? "exact" : "static", "cells", direct, "decided_by",
	                      decided, "counted", counted);
	if (!w->report)
		DTX_FAIL_MEM(err);
out:
	dtx_why_rows_clear(&g.rows);
	dtx_why_rows_forget(w);
	dtx_buf_clear(&put);
	json_decref(direct);
	json_decref(decided);
	json_decref(counted);
	return rc;
}

/* --- without values --- */

/* Whether the constant is in the text of the plan: a text in quotes, or a whole number. */
static bool why_in_plan(struct dtx_str plan, struct dtx_str word, bool number)
{
	const char *at = plan.ptr, *end = plan.ptr + plan.len;

	while (word.len && (at = memmem(at, (size_t)(end - at), word.ptr, word.len)) != NULL) {
		char before = at > plan.ptr ? at[-1] : ' ';
		char after = at + word.len < end ? at[word.len] : ' ';
		const char *digits = "0123456789.";

		if (number ? !strchr(digits, before) && !strchr(digits, after)
		           : strchr("'\"", before) && strchr("'\"\\", after))
			return true;
		at++;
	}
	return !word.len;
}

/* Appends a formula as it may be shown: without those constants, or unchanged if values are
 * wanted. */
static void why_shown(const struct dtx_why *w, const char *formula, struct dtx_buf *out)
{
	struct dtx_buf plan = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	struct dtx_lex lx = { .text = dtx_str_of(formula) };
	struct dtx_err err = DTX_ERR_INIT;
	size_t done = 0;

	if (w->args->no_values && w->x.r.plan)
		dtx_json_canonical(w->x.r.plan->canonical, &plan);
	while (w->args->no_values && dtx_lex_next(&lx, &err) == DTX_OK && lx.kind != DTX_TK_END) {
		bool number = lx.kind == DTX_TK_NUMBER;

		if ((!number && lx.kind != DTX_TK_TEXT) ||
		    why_in_plan(dtx_buf_str(&plan), lx.word, number))
			continue;
		dtx_buf_adds(out, (struct dtx_str){ formula + done, lx.start - done });
		dtx_buf_add(out, "...");
		done = lx.end;
	}
	dtx_buf_add(out, err.code == DTX_OK ? formula + done : "...");
	dtx_err_clear(&err);
	dtx_buf_clear(&plan);
}

enum dtx_code dtx_why_bare(struct dtx_why *w, struct dtx_err *err)
{
	static const char *const members[] = { "formula", "composed" };
	enum dtx_code rc = DTX_OK;
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);

	if (!w->args->no_values)
		goto out;
	(void)json_object_del(w->report, "value");
	for (size_t i = 0; i < DTX_COUNT(members); i++) {
		const char *formula = dtx_json_text(w->report, members[i], NULL);

		dtx_buf_reset(&text);
		if (!formula)
			continue;
		why_shown(w, formula, &text);
		if (!dtx_buf_ok(&text) ||
		    !dtx_json_set(w->report, members[i], json_string(dtx_buf_text(&text))))
			DTX_FAIL_MEM(err);
	}
out:
	dtx_buf_clear(&text);
	return rc;
}

/* Prints the answer of `why` as text. */

/* What to say for a value without a formula: it is a cell passed on, or steps filled, cleaned or
 * joined cells. */
static const char *why_unwritten(const struct dtx_why *w)
{
	const char *value = dtx_json_text(w->report, "value", "");
	bool unknown = w->args->no_values || dtx_json_text(w->report, "lineage", NULL);
	const json_t *cells;
	json_t *one;
	size_t i;
	bool moved = true;

	if (w->trace.cells && !dtx_why_names_any(json_object_get(w->report, "cells")))
		return "made by a step";
	json_array_foreach(json_object_get(w->report, "cells"), i, one)
	{
		cells = json_object_get(one, "cells");
		if (w->trace.cells &&
		    (json_array_size(cells) > 1 || json_object_get(one, "ranges")))
			moved = false; /* a sum of the column that it is in */
		moved &= !strcmp(dtx_json_text(one, "how", ""), "IDENTITY") ||
		         !json_array_size(cells) ||
		         (!w->args->no_values &&
		          !strcmp(dtx_json_text(json_array_get(cells, 0), "value", ""), value));
	}
	if (!moved && unknown) /* values were not stored or are not wanted */
		return "as it is, or made of these by the steps";
	return moved ? "as it is" : "made of these by the steps";
}

static void why_print_formula(const struct dtx_why *w, struct dtx_buf *out)
{
	const char *formula = dtx_json_text(w->report, "formula", NULL);
	const char *composed = dtx_json_text(w->report, "composed", NULL);
	const char *put = dtx_json_text(w->report, "with_values", NULL);

	dtx_buf_printf(out, "%-12s", "formula");
	if (formula) {
		dtx_out_safe(out, w->column, false);
		dtx_buf_add(out, " = ");
	}
	dtx_out_safe(out, formula ? formula : why_unwritten(w), false);
	dtx_buf_printf(out, "  [%s]\n", dtx_json_text(w->report, "class", ""));
	if (composed && (!formula || strcmp(composed, formula) != 0)) {
		dtx_buf_printf(out, "%-12s= ", "");
		dtx_out_safe(out, composed, false);
		dtx_buf_addc(out, '\n');
	}
	if (put) {
		dtx_buf_printf(out, "%-12s", "values");
		dtx_out_safe(out, dtx_cell_ref_shown(json_object_get(w->report, "value")), false);
		dtx_buf_add(out, " = ");
		dtx_out_safe(out, put, false);
		dtx_buf_addc(out, '\n');
	}
}

/* The index of the column in the sheet of the result; -1: the result has no sheet. */
static int32_t why_sheet_column(const struct dtx_why *w)
{
	const json_t *output = dtx_why_replay_output(&w->x);
	const struct dtx_writer_class *cls = dtx_writer_find(
		dtx_json_text(json_object_get(output, "writer"), "format", ""), NULL);
	bool sheet = cls && dtx_str_in_list(cls->uses, "sheet");
	json_t *field;
	size_t i;

	json_array_foreach(json_object_get(output, "schema"), i, field)
	{
		if (sheet && !strcmp(dtx_json_text(field, "name", ""), w->column))
			return (int32_t)i;
	}
	return -1;
}

/* Appends the place in a text result: "out.csv!L3!v"; "out.csv row 2, v" if the line is not known;
 * "out.csv, v" if the row is not known. */
static void why_print_line(const struct dtx_why *w, struct dtx_buf *out)
{
	long long line = (long long)dtx_json_int(w->report, "line", 0);
	const char *table = dtx_lookup_table(dtx_why_replay_output(&w->x));

	if (table) {
		dtx_buf_addc(out, '!');
		dtx_out_safe(out, table, false);
	}
	if (line)
		dtx_buf_printf(out, "!L%lld!", line);
	else if (w->row)
		dtx_buf_printf(out, " row %lld, ", (long long)w->row);
	else
		dtx_buf_add(out, ", ");
	dtx_out_safe(out, w->column, false);
}

/* Appends the place in a workbook: "out.xlsx!Sheet1!B3". */
static void why_print_place(const struct dtx_why *w, struct dtx_buf *out)
{
	const json_t *writer = json_object_get(dtx_why_replay_output(&w->x), "writer");
	int header = dtx_json_bool(writer, "header", true);
	int32_t column = why_sheet_column(w);
	struct dtx_buf sheet = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	char cell[24];

	dtx_out_safe(out, dtx_why_replay_name(&w->x), false);
	if (column < 0 || !w->row) {
		why_print_line(w, out);
		return;
	}
	dtx_cell_name(cell, (uint64_t)(w->row - 1 + header), (uint32_t)column);
	dtx_buf_addc(out, '!');
	dtx_sheet_name_print(dtx_json_text(writer, "sheet", "Sheet1"), &sheet);
	dtx_out_safe(out, dtx_buf_text(&sheet), false);
	dtx_buf_clear(&sheet);
	dtx_buf_printf(out, "!%s", cell);
}

static void why_print_counted(const struct dtx_why *w, struct dtx_buf *out)
{
	json_t *one, *cell;
	size_t i, k;

	json_array_foreach(json_object_get(w->report, "counted"), i, one)
	{
		dtx_buf_printf(out, "%-12s", i ? "" : "rows");
		dtx_out_safe(out, dtx_json_text(one, "label", ""), false);
		json_array_foreach(json_object_get(one, "cells"), k, cell) dtx_buf_printf(
			out, "%s%s", k ? ", " : "!", dtx_json_text(cell, "cell", ""));
		dtx_buf_printf(out, "  %lld row%s\n", (long long)dtx_json_int(one, "rows", 0),
		               dtx_json_int(one, "rows", 0) == 1 ? "" : "s");
	}
}

void dtx_why_print_head(const struct dtx_why *w, struct dtx_buf *out)
{
	const json_t *report = w->report;

	why_print_place(w, out);
	if (json_object_get(report, "value")) {
		dtx_buf_add(out, " = ");
		dtx_out_safe(out, dtx_cell_ref_shown(json_object_get(report, "value")), false);
	}
	dtx_buf_printf(out, "   run %s\n", dtx_run_id_short(dtx_json_text(report, "run", "")));
}

void dtx_why_print(const struct dtx_why *w, struct dtx_buf *out)
{
	const json_t *report = w->report;
	size_t most = w->args->all ? SIZE_MAX : DTX_WHY_SHOWN;

	dtx_why_print_head(w, out);
	why_print_formula(w, out);
	dtx_cell_ref_print("cells", json_object_get(report, "cells"), most, false, out);
	dtx_cell_ref_print("decided by", json_object_get(report, "decided_by"), most, true, out);
	why_print_counted(w, out);
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
	dtx_why_stored_note(report, out);
}

void dtx_why_columns_only(const struct dtx_why *w)
{
	const json_t *formula = dtx_why_formula(w);
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	json_t *row;
	size_t i;

	if (formula) {
		why_shown(w, dtx_json_text(formula, "composed", ""), &text);
		dtx_out_note(w->x.cli, "dtx: %s = %s\n", w->column, dtx_buf_text(&text));
	}
	dtx_buf_clear(&text);
	json_array_foreach(json_object_get(w->x.record, "lineage"), i, row)
	{
		if (dtx_why_concerns(w, row, true) && dtx_json_text(row, "in_col", NULL))
			dtx_out_note(w->x.cli, "dtx: %s comes from %s, column %s [%s]\n", w->column,
			             dtx_why_replay_label(&w->x, dtx_json_text(row, "alias", "")),
			             dtx_json_text(row, "in_col", ""),
			             dtx_json_text(row, "class", ""));
	}
}
