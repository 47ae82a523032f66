/* Answers `why` from the row numbers that the run kept. */
#include "cli/why/why_stored.h"

#include <stdio.h>
#include <string.h>

#include "cli/out.h"
#include "cli/why/why_known.h"
#include "core/base/memory/mem.h"
#include "core/plan/lineage/row_lineage.h"

void dtx_why_stored_note(const json_t *report, struct dtx_buf *out)
{
	json_t *one;
	size_t i;

	if (!dtx_json_text(report, "lineage", NULL))
		return;
	dtx_buf_printf(out, "%-12s%s\n", "note",
	               "of the row numbers that the run stored, which have no values: --again runs "
	               "it again");
	json_array_foreach(json_object_get(report, "changed"), i, one)
	{
		dtx_buf_printf(out, "%-12s", "");
		dtx_out_safe(out, dtx_json_text(one, "label", ""), false);
		dtx_buf_printf(out, " is %s: the addresses are of what the run read\n",
		               dtx_json_text(one, "file", ""));
	}
}

/* --- cells --- */

struct stored {
	struct dtx_why *w;
	struct dtx_row_lineage *log;
	struct dtx_row_lineage_answer answer;
};
/* Rows of an input, one bit each. */
struct stored_rows {
	uint32_t input;
	const struct dtx_row_lineage_list *places;
	uint64_t *bit;
	size_t n; /* number of rows of the input */
	int64_t count;
};

static bool stored_lists(const json_t *direct, const char *column)
{
	json_t *one;
	size_t i;

	json_array_foreach((json_t *)(uintptr_t)direct, i, one)
	{
		const char *name = json_string_value(one);

		if (name && (!strcmp(name, column) || !strcmp(name, "*")))
			return true;
	}
	return false;
}

/* Adds the rows whose cells of `column` are in the value; `column` NULL: all rows. */
static bool stored_add(const struct stored *s, const char *column, struct stored_rows *to)
{
	bool any = false;

	for (size_t i = 0; i < s->answer.nrows; i++) {
		const struct dtx_row_lineage_rows *r = &s->answer.rows[i];

		if (r->input != to->input || (column && !stored_lists(r->direct, column)))
			continue;
		any = true;
		for (size_t k = 0; k < dtx_bit_words(DTX_MIN(r->n, to->n + 1)); k++)
			to->bit[k] |= r->row[k];
	}
	return any;
}

/* Finds the rows of an input whose cells of the column are in the value, as dtx_why_rows_of
 * does. */
static enum dtx_code stored_find(const struct stored *s, const char *alias, const char *column,
                                 struct stored_rows *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_plan *plan = s->w->x.r.plan;

	*out = (struct stored_rows){ .input = UINT32_MAX };
	for (uint32_t i = 0; i < plan->ninputs; i++) {
		if (!strcmp(plan->input[i].name, alias))
			out->input = i;
	}
	out->places = dtx_row_lineage_places(s->log, out->input);
	out->n = out->places ? out->places->n : 0;
	out->bit = dtx_mem_zalloc(dtx_bit_words(out->n + 1) + 1, sizeof(*out->bit));
	if (!out->bit)
		DTX_FAIL_MEM(err);
	if (!stored_add(s, column, out) && column) {
		s->w->traced.wide = true;
		(void)stored_add(s, NULL, out);
	}
	for (size_t i = 1; i <= out->n; i++)
		out->count += dtx_bit(out->bit, i);
out:
	return rc;
}

static void stored_cell(const struct stored *s, const struct stored_rows *rows, size_t i,
                        const char *column, char cell[32])
{
	snprintf(cell, 32, "%.8s%lld", dtx_row_lineage_prefix(s->log, rows->input, column),
	         (long long)rows->places->col[0][i - 1]);
}

static json_t *stored_cells(const struct stored *s, const struct stored_rows *rows,
                            const char *column)
{
	json_t *list = json_array();
	char cell[32];

	for (size_t i = 1; list && i <= rows->n; i++) {
		if (!dtx_bit(rows->bit, i))
			continue;
		stored_cell(s, rows, i, column, cell);
		if (json_array_append_new(list, json_pack("{ss}", "cell", cell)) < 0) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

/* The next row after i; 0 if none. */
static size_t stored_next(const struct stored_rows *rows, size_t i)
{
	while (++i <= rows->n) {
		if (dtx_bit(rows->bit, i))
			return i;
	}
	return 0;
}

/* Appends "C5, C9, C12:C14, ...  1122 cells" in the same form as dtx_why_rows_ranges. */
static void stored_ranges(const struct stored *s, const struct stored_rows *rows,
                          const char *column, size_t most, struct dtx_buf *out)
{
	const int64_t *line = rows->places ? rows->places->col[0] : NULL;
	size_t i = stored_next(rows, 0), shown = 0, next, n;
	char first[32], last[32];

	for (; i && shown < most; i = next, shown++) {
		stored_cell(s, rows, i, column, first);
		for (n = 1; (next = stored_next(rows, i)) != 0; i = next, n++) {
			if (line[next - 1] != line[i - 1] && line[next - 1] != line[i - 1] + 1)
				break;
		}
		stored_cell(s, rows, i, column, last);
		dtx_buf_printf(out, "%s%s", shown ? ", " : "", first);
		if (strcmp(first, last) != 0)
			dtx_buf_printf(out, "%s%s", n > 2 ? ":" : ", ", last);
	}
	dtx_buf_printf(out, "%s  %lld cells", i ? ", ..." : "", (long long)rows->count);
}

static enum dtx_code stored_source(const struct stored *s, const json_t *row, bool direct,
                                   json_t *list, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct stored_rows rows;
	const char *alias = dtx_json_text(row, "alias", "");
	const char *column = dtx_json_text(row, "in_col", "");
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	json_t *source = json_pack("{ss ss ss ss}", "alias", alias, "column", column, "label",
	                           dtx_why_replay_label(&s->w->x, alias), "how",
	                           dtx_json_text(row, "subtype", ""));
	bool few;

	DTX_TRY(stored_find(s, alias, direct ? column : NULL, &rows, err));
	few = s->w->args->json || rows.count <= DTX_WHY_SHOWN;
	if (!few)
		stored_ranges(s, &rows, column, s->w->args->all ? SIZE_MAX : DTX_WHY_SHOWN, &text);
	if (!source || !dtx_buf_ok(&text) ||
	    !dtx_json_set(source, few ? "cells" : "ranges",
	                  few ? stored_cells(s, &rows, column)
	                      : json_string(dtx_buf_text(&text))) ||
	    json_array_append(list, source) < 0)
		DTX_FAIL_MEM(err);
out:
	dtx_mem_free(rows.bit);
	dtx_buf_clear(&text);
	json_decref(source);
	return rc;
}

static enum dtx_code stored_sources(const struct stored *s, bool direct, json_t *list,
                                    struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_why *w = s->w;
	json_t *seen = json_object(), *row;
	size_t i;

	if (!seen)
		DTX_FAIL_MEM(err);
	json_array_foreach(json_object_get(w->x.record, "lineage"), i, row)
	{
		const char *column = dtx_json_text(row, "in_col", NULL);

		if (!column || !dtx_why_concerns(w, row, direct) || dtx_why_listed(seen, row))
			continue;
		w->filled |= direct && dtx_why_result_filled(&w->traced, column);
		DTX_TRY(stored_source(s, row, direct, list, err));
	}
	/* Row numbers do not say which of the columns that became rows it was. */
	w->traced.wide |= direct && s->answer.longer && json_array_size(list) > 1;
out:
	json_decref(seen);
	return rc;
}

/* The name of the first column of an input; "" if it is not known. */
static const char *stored_first(const struct stored *s, uint32_t input)
{
	const json_t *inputs = json_object_get(s->w->x.record, "inputs");
	const json_t *of = dtx_json_find(inputs, "alias", s->w->x.r.plan->input[input].name);

	return dtx_json_text(json_array_get(json_object_get(of, "schema"), 0), "name", "");
}

static enum dtx_code stored_counted(const struct stored *s, json_t *list, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_plan *plan = s->w->x.r.plan;
	struct stored_rows rows = { .n = 0 };

	for (uint32_t i = 0; i < plan->ninputs; i++) {
		dtx_mem_free(rows.bit);
		DTX_TRY(stored_find(s, plan->input[i].name, NULL, &rows, err));
		json_array_append_new(
			list, json_pack("{ss ss sI so*}", "alias", plan->input[i].name, "label",
		                        dtx_why_replay_label(&s->w->x, plan->input[i].name), "rows",
		                        (json_int_t)rows.count, "cells",
		                        rows.count && rows.count <= DTX_WHY_SHOWN
		                                ? stored_cells(s, &rows, stored_first(s, i))
		                                : NULL));
	}
out:
	dtx_mem_free(rows.bit);
	return rc;
}

/* --- the answer --- */

static bool stored_exact(const struct dtx_why *w)
{
	return !w->trace.wide && !w->trace.borrowed && !w->traced.wide && !w->filled;
}

static enum dtx_code stored_report(const struct stored *s, const json_t *known, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_why *w = s->w;
	const json_t *formula = dtx_why_formula(w);
	json_t *direct = json_array(), *decided = json_array(), *counted = NULL;

	DTX_TRY(stored_sources(s, true, direct, err));
	DTX_TRY(stored_sources(s, false, decided, err));
	if (!dtx_why_names_any(direct) && !dtx_why_names_any(decided)) {
		counted = json_array();
		DTX_TRY(stored_counted(s, counted, err));
	}
	w->report = json_pack("{ss sI ss ss ss? ss? ss ss sO sO sO* so}", "output",
	                      dtx_json_text(dtx_why_replay_output(&w->x), "path", "-"), "row",
	                      (json_int_t)w->row, "column", w->column, "run",
	                      dtx_json_text(json_object_get(w->x.record, "run"), "run_id", ""),
	                      "formula", dtx_json_text(formula, "formula", NULL), "composed",
	                      dtx_json_text(formula, "composed", NULL), "class",
	                      stored_exact(w) ? "exact" : "static", "lineage", "stored", "cells",
	                      direct, "decided_by", decided, "counted", counted, "changed",
	                      dtx_why_replay_moved(&w->x));
	if (!w->report)
		DTX_FAIL_MEM(err);
	/* What is known has no empty cells: an empty cell may be a null or an empty text. */
	if (known && !w->args->no_values) {
		const char *text = dtx_json_text(json_object_get(known, w->column), "text", NULL);

		if (!dtx_json_set(w->report, "value", text ? json_string(text) : json_null()))
			DTX_FAIL_MEM(err);
	}
out:
	json_decref(direct);
	json_decref(decided);
	json_decref(counted);
	return rc;
}

enum dtx_code dtx_why_stored(struct dtx_why *w, const char *path, bool *answered,
                             struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct stored s = { .w = w };
	json_t *known = NULL;

	*answered = false;
	DTX_TRY(dtx_why_replay_row_lineage(&w->x, &s.log, err));
	if (!s.log)
		goto out;
	DTX_TRY(dtx_why_replay_plan(&w->x, err));
	known = dtx_why_known(w, path, &w->row, NULL);
	if (w->key && !known)
		goto out;
	DTX_TRY(dtx_row_lineage_why(s.log, w->column, w->row, &s.answer, err));
	w->traced.plan = w->x.r.plan;
	w->trace.fills = true;
	w->trace.wide = s.answer.wide;
	w->trace.borrowed = s.answer.borrowed;
	DTX_TRY(stored_report(&s, known, err));
	*answered = true;
out:
	json_decref(known);
	dtx_row_lineage_answer_clear(&s.answer);
	dtx_row_lineage_free(s.log);
	return rc;
}
