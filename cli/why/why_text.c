/* Prints the answer of `why` as text. */
#include <stdint.h>
#include <string.h>

#include "cli/why/cell_ref.h"
#include "cli/out.h"
#include "cli/why/why.h"
#include "cli/why/why_stored.h"
#include "core/io/sheet/cellref.h"

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

	json_array_foreach(json_object_get(w->report, "cells"), i, one)
	{
		cells = json_object_get(one, "cells");
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
	json_t *field;
	const char *format = dtx_json_text(json_object_get(output, "writer"), "format", "");
	size_t i;

	json_array_foreach(json_object_get(output, "schema"), i, field)
	{
		if (!strcmp(format, "xlsx") && !strcmp(dtx_json_text(field, "name", ""), w->column))
			return (int32_t)i;
	}
	return -1;
}

/* Appends the place in a text result: "out.csv!L3!v"; "out.csv row 2, v" if the line is not known;
 * "out.csv, v" if the row is not known. */
static void why_print_line(const struct dtx_why *w, struct dtx_buf *out)
{
	long long line = (long long)dtx_json_int(w->report, "line", 0);

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
		dtx_why_shown(w, dtx_json_text(formula, "composed", ""), &text);
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
