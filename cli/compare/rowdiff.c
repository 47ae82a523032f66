/* Compares two results by key: runs the op diff_tables on the files. */
#include "cli/compare/rowdiff.h"

#include <string.h>

#include "cli/out.h"
#include "core/data/cast/cast.h"
#include "core/plan/exec/exec.h"

struct rowdiff {
	const json_t *was, *is; /* the outputs in the records */
	json_t *key, *cols;     /* names */
	struct dtx_plan *plan;
	struct dtx_source *source[2];
	struct dtx_exec_result *result;
	int64_t added, removed, changed;
	json_t *rows;
	struct dtx_buf text;
};

/* --- the key --- */

static bool rowdiff_has(const json_t *output, const char *name)
{
	json_t *field;
	size_t i;

	json_array_foreach(json_object_get(output, "schema"), i, field)
	{
		if (!strcmp(dtx_json_text(field, "name", ""), name))
			return true;
	}
	return false;
}

/* The names in a list of texts, or of objects with "as". */
static json_t *rowdiff_names(const json_t *list)
{
	json_t *out = json_array(), *one;
	size_t i;

	json_array_foreach((json_t *)(uintptr_t)list, i, one)
	{
		const char *name = json_is_string(one) ? json_string_value(one)
		                                       : dtx_json_text(one, "as", NULL);

		if (name)
			json_array_append_new(out, json_string(name));
	}
	return out;
}

static json_t *rowdiff_key(const json_t *record)
{
	const json_t *plan =
		json_object_get(json_object_get(json_object_get(record, "run"), "plan"), "plan");
	const json_t *keys = json_object_get(json_object_get(plan, "expect"), "keys");
	const json_t *steps = json_object_get(plan, "steps");
	const char *preset;

	for (size_t i = json_array_size(steps); !json_array_size(keys) && i > 0; i--) {
		const json_t *step = json_array_get(steps, i - 1);

		const struct dtx_op *op = dtx_op_find(dtx_json_text(step, "op", ""), &preset);

		if (op && op->facts.rows == DTX_ROWS_GROUPED)
			keys = json_object_get(step, "by");
	}
	return rowdiff_names(keys);
}

/* Finds out whether both results have the key, and which other columns both have. */
static bool rowdiff_columns(struct rowdiff *d)
{
	json_t *one;
	size_t i;

	json_array_foreach(d->key, i, one)
	{
		if (!rowdiff_has(d->was, json_string_value(one)) ||
		    !rowdiff_has(d->is, json_string_value(one)))
			return false;
	}
	d->cols = json_array();
	json_array_foreach(json_object_get(d->is, "schema"), i, one)
	{
		const char *name = dtx_json_text(one, "name", "");

		if (rowdiff_has(d->was, name))
			json_array_append_new(d->cols, json_string(name));
	}
	return json_array_size(d->key) > 0;
}

/* --- the rows --- */

static enum dtx_code rowdiff_exec(struct rowdiff *d, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_exec_opts opts = DTX_EXEC_OPTS_INIT;
	struct dtx_errlist findings = DTX_ERRLIST_INIT;
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	const char *path[] = { dtx_json_text(d->is, "path", ""),
		               dtx_json_text(d->was, "path", "") };
	struct dtx_host host = { 0 };
	json_t *plan = json_pack("{si s[{ss}{ss}] s[{ss ss sO sO}]}", "dtx", 1, "inputs", "name",
	                         "main", "name", "was", "steps", "op", "diff_tables", "with", "was",
	                         "key", d->key, "cols", d->cols);

	if (!plan)
		DTX_FAIL_MEM(err);
	dtx_json_canonical(plan, &text);
	DTX_TRY(dtx_buf_check(&text, "plan", err));
	DTX_TRY(dtx_plan_parse(dtx_buf_str(&text), NULL, &findings, &d->plan, err));
	DTX_TRY(dtx_plan_check(d->plan, &findings, err));
	d->plan->fallback = DTX_FALLBACK_OFF;
	for (size_t i = 0; i < DTX_COUNT(path); i++) {
		d->plan->input[i].path = path[i];
		DTX_TRY(dtx_source_open(path[i], &d->source[i], err));
	}
	opts.input = d->source;
	DTX_TRY(dtx_exec(d->plan, &opts, &host, &findings, &d->result, err));
out:
	json_decref(plan);
	dtx_buf_clear(&text);
	dtx_errlist_clear(&findings);
	return rc;
}

static json_t *rowdiff_cell(struct rowdiff *d, const struct dtx_batch *b, uint32_t row, size_t col)
{
	dtx_buf_reset(&d->text);
	if (b->col[col])
		dtx_cast_print(b->col[col], row, &d->text);
	return json_stringn(d->text.ptr ? d->text.ptr : "", d->text.len);
}

/* The table has the kind of change, the key, the columns, and then their old values. */
static json_t *rowdiff_cells(struct rowdiff *d, const struct dtx_batch *b, uint32_t row)
{
	const struct dtx_schema *s = d->result->output[0].table->schema;
	size_t first = 1 + json_array_size(d->key), n = (s->nfields - first) / 2;
	json_t *list = json_array();

	for (size_t c = first; c < first + n; c++) {
		json_t *is = rowdiff_cell(d, b, row, c), *was = rowdiff_cell(d, b, row, c + n);

		if (!json_equal(is, was))
			json_array_append_new(list, json_pack("{ss sO sO}", "column",
			                                      s->field[c].name, "a", was, "b", is));
		json_decref(is);
		json_decref(was);
	}
	return list;
}

static void rowdiff_row(struct rowdiff *d, const struct dtx_batch *b, uint32_t row)
{
	json_t *change = rowdiff_cell(d, b, row, 0), *key = json_array();
	const char *text = json_string_value(change) ? json_string_value(change) : "";
	int64_t *n = !strcmp(text, "added")     ? &d->added
	             : !strcmp(text, "removed") ? &d->removed
	                                        : &d->changed;

	(*n)++;
	for (size_t c = 1; c <= json_array_size(d->key); c++)
		json_array_append_new(key, rowdiff_cell(d, b, row, c));
	if (json_array_size(d->rows) < DTX_ROWDIFF_ROWS)
		json_array_append_new(
			d->rows,
			json_pack("{sO sO so}", "change", change, "key", key, "cells",
		                  n == &d->changed ? rowdiff_cells(d, b, row) : json_array()));
	json_decref(change);
	json_decref(key);
}

static void rowdiff_rows(struct rowdiff *d)
{
	const struct dtx_table *t = d->result->output[0].table;

	d->rows = json_array();
	for (size_t k = 0; k < t->nbatches; k++) {
		const struct dtx_batch *b = t->batch[k];

		for (uint32_t i = 0; i < b->nsel; i++)
			rowdiff_row(d, b, b->sel ? b->sel[i] : i);
	}
}

json_t *dtx_rowdiff(const json_t *a, const json_t *b, size_t i)
{
	struct rowdiff d = { .was = json_array_get(json_object_get(a, "outputs"), i),
		             .is = json_array_get(json_object_get(b, "outputs"), i),
		             .key = rowdiff_key(b),
		             .text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX) };
	struct dtx_err err = DTX_ERR_INIT;
	json_t *out = NULL;

	if (!strcmp(dtx_json_text(d.was, "file", ""), "unchanged") &&
	    !strcmp(dtx_json_text(d.is, "file", ""), "unchanged") && rowdiff_columns(&d) &&
	    rowdiff_exec(&d, &err) == DTX_OK) {
		rowdiff_rows(&d);
		out = json_pack("{sO sI sI sI sO}", "key", d.key, "added", (json_int_t)d.added,
		                "removed", (json_int_t)d.removed, "changed", (json_int_t)d.changed,
		                "rows", d.rows);
	}
	dtx_exec_free(d.result);
	dtx_plan_free(d.plan);
	for (size_t k = 0; k < DTX_COUNT(d.source); k++)
		dtx_source_free(d.source[k]);
	json_decref(d.key);
	json_decref(d.cols);
	json_decref(d.rows);
	dtx_buf_clear(&d.text);
	dtx_err_clear(&err);
	return out;
}

/* --- as text --- */

static void rowdiff_print_row(const json_t *row, struct dtx_buf *out)
{
	json_t *cell;
	size_t i;

	dtx_buf_printf(out, "%-14s%-8s  ", "", dtx_json_text(row, "change", ""));
	dtx_out_names(json_object_get(row, "key"), out);
	json_array_foreach(json_object_get(row, "cells"), i, cell)
	{
		dtx_buf_add(out, i ? ", " : ": ");
		dtx_out_safe(out, dtx_json_text(cell, "column", ""), false);
		dtx_buf_addc(out, ' ');
		dtx_out_safe(out, dtx_json_text(cell, "a", ""), false);
		dtx_buf_add(out, " | ");
		dtx_out_safe(out, dtx_json_text(cell, "b", ""), false);
	}
	dtx_buf_addc(out, '\n');
}

void dtx_rowdiff_print(const json_t *rows, struct dtx_buf *out)
{
	int64_t added = dtx_json_int(rows, "added", 0), removed = dtx_json_int(rows, "removed", 0);
	int64_t changed = dtx_json_int(rows, "changed", 0);
	json_t *row;
	size_t i;

	dtx_buf_printf(out, "%-12s%lld added, %lld removed, %lld changed, by ", "rows by key",
	               (long long)added, (long long)removed, (long long)changed);
	dtx_out_names(json_object_get(rows, "key"), out);
	dtx_buf_addc(out, '\n');
	json_array_foreach(json_object_get(rows, "rows"), i, row) rowdiff_print_row(row, out);
	if (added + removed + changed > (int64_t)i)
		dtx_buf_printf(out, "%-14s... %lld more\n", "",
		               (long long)(added + removed + changed - (int64_t)i));
}
