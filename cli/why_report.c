/* The cells that a traced row came from. */
#include <stdio.h>
#include <string.h>

#include "cli/cited.h"
#include "cli/why.h"
#include "core/base/mem.h"
#include "core/data/cast.h"

/* DIRECT rows of the column, or INDIRECT ones of the table. */
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

/* The cell of a row.  Lines of text files are found by reading on: once is enough. */
static void why_place(struct dtx_why *w, uint32_t output, int64_t nth, const struct dtx_batch *b,
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

static enum dtx_code why_collect_table(struct dtx_why *w, uint32_t output, const char *column,
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
			DTX_TRY(dtx_cited_add(cells, at, b->rec ? b->rec[row] : b->first_row + row,
			                      dtx_buf_str(&w->text), err));
		}
	}
out:
	return rc;
}

/* Cells of one source column. */
static enum dtx_code why_collect(struct dtx_why *w, bool direct, const char *alias,
                                 const char *column, struct dtx_cited *cells, struct dtx_err *err)
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
static enum dtx_code why_sources(struct dtx_why *w, bool direct, json_t **out, struct dtx_err *err)
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

		if (!dtx_why_concerns(w, row, direct) || !dtx_json_text(row, "in_col", NULL) ||
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

static bool why_exact(const struct dtx_why *w)
{
	return !w->trace.wide && !w->trace.borrowed && !w->traced.wide && !w->filled;
}

/* The formula with the values that it saw; nothing where they cannot be had. */
static void why_put(struct dtx_why *w, const json_t *row, const json_t *direct, struct dtx_buf *out)
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

enum dtx_code dtx_why_report(struct dtx_why *w, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const json_t *formula = dtx_why_formula(w);
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
