/* Rows that went into an answer: all are counted, those that are shown are looked up. */
#include "cli/why_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/data/cast.h"

enum { WHY_ROWS_NEAR = 64 }; /* adjacent rows before a run's end is searched for */

static int rows_order(const void *a, const void *b)
{
	const struct dtx_why_row *x = a, *y = b;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	if (x->batch->origin == y->batch->origin || !x->batch->origin || !y->batch->origin)
		return 0;
	return strcmp(x->batch->origin->file, y->batch->origin->file);
}

static enum dtx_code rows_add(struct dtx_why_rows *rows, const struct dtx_table *t, uint32_t output,
                              struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (!dtx_mem_reserve(&rows->item, &rows->cap, rows->n + (size_t)t->nrows,
	                     sizeof(*rows->item)))
		DTX_FAIL_MEM(err);
	for (size_t i = 0; i < t->nbatches; i++) {
		const struct dtx_batch *b = t->batch[i];

		for (uint32_t k = 0; k < b->nsel; k++) {
			uint32_t at = b->sel ? b->sel[k] : k;

			rows->item[rows->n++] =
				(struct dtx_why_row){ b->rec ? b->rec[at] : b->first_row + at, b,
				                      at, output };
		}
	}
out:
	return rc;
}

/* Rows mostly come in order; several ways lead to one row. */
static void rows_sort(struct dtx_why_rows *rows)
{
	size_t i, n = 0;
	bool sorted = true;

	for (i = 1; i < rows->n && sorted; i++)
		sorted = rows_order(&rows->item[i - 1], &rows->item[i]) < 0;
	if (sorted)
		return;
	qsort(rows->item, rows->n, sizeof(*rows->item), rows_order);
	for (i = 0; i < rows->n; i++) {
		if (!n || rows_order(&rows->item[n - 1], &rows->item[i]))
			rows->item[n++] = rows->item[i];
	}
	rows->n = n;
}

uint64_t dtx_why_rows_of(const struct dtx_why *w, const char *alias, const char *column)
{
	uint64_t bits = 0;

	for (uint32_t i = 0; i < w->trace.noutputs; i++) {
		const struct dtx_trace_output *o = &w->trace.output[i];

		if (o->part == DTX_TRACE_INPUT && !strcmp(w->plan->input[o->input].name, alias) &&
		    (json_object_get(o->direct, column) || json_object_get(o->direct, "*")))
			bits |= (uint64_t)1 << i;
	}
	return bits;
}

enum dtx_code dtx_why_rows(const struct dtx_why *w, uint64_t outputs, const char *alias,
                           struct dtx_why_rows *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	*out = (struct dtx_why_rows){ .n = 0 };
	for (uint32_t i = 0; i < w->trace.noutputs; i++) {
		const struct dtx_trace_output *o = &w->trace.output[i];
		const char *reader;

		if (o->part != DTX_TRACE_INPUT || !(outputs >> i & 1) ||
		    strcmp(w->plan->input[o->input].name, alias) != 0)
			continue;
		reader = w->traced.result->input[o->input].reader;
		out->lines = reader && !strcmp(reader, "csv");
		DTX_TRY(rows_add(out, w->traced.result->output[i].table, i, err));
	}
	rows_sort(out);
out:
	return rc;
}

void dtx_why_rows_clear(struct dtx_why_rows *rows)
{
	dtx_mem_free(rows->item);
	*rows = (struct dtx_why_rows){ .n = 0 };
}

/* --- cells --- */

struct rows_cell {
	char at[24];
	int64_t row; /* line of the file or row of the sheet */
};

static int32_t rows_column(const struct dtx_why *w, const struct dtx_why_row *r, const char *column)
{
	return dtx_schema_find(w->traced.result->output[r->output].table->schema, column);
}

static struct rows_cell rows_cell(const struct dtx_why *w, const struct dtx_why_rows *rows,
                                  size_t i, const char *column)
{
	const struct dtx_why_row *r = &rows->item[i];
	struct dtx_err place = DTX_ERR_INIT;
	struct rows_cell cell;

	dtx_batch_blame(r->batch, r->at, rows_column(w, r, column), &place);
	snprintf(cell.at, sizeof(cell.at), "%.23s", place.cell);
	cell.row = place.row;
	dtx_err_clear(&place);
	return cell;
}

/* As it is printed; null of a null. */
static json_t *rows_value(struct dtx_why *w, const struct dtx_why_row *r, int32_t c)
{
	const struct dtx_column *col = r->batch->col[c];

	dtx_buf_reset(&w->text);
	if (!col || dtx_column_is_null(col, r->at))
		return json_null();
	dtx_cast_print(col, r->at, &w->text);
	return json_string(dtx_buf_text(&w->text));
}

json_t *dtx_why_rows_json(struct dtx_why *w, const struct dtx_why_rows *rows, const char *column,
                          bool values)
{
	json_t *list = json_array();

	for (size_t i = 0; list && i < rows->n; i++) {
		const struct dtx_why_row *r = &rows->item[i];
		int32_t c = rows_column(w, r, column);
		json_t *one;

		if (c < 0)
			continue;
		one = json_pack("{ss}", "cell", rows_cell(w, rows, i, column).at);
		if (!one || (values && !dtx_json_set(one, "value", rows_value(w, r, c)))) {
			json_decref(one);
			json_decref(list);
			return NULL;
		}
		json_array_append_new(list, one);
	}
	return list;
}

/* Whether the rows from i to j are one run: no record and no line between them is another's. */
static bool rows_adjacent(const struct dtx_why *w, const struct dtx_why_rows *rows, size_t i,
                          size_t j, const char *column)
{
	return rows->item[j].id - rows->item[i].id == j - i &&
	       rows_cell(w, rows, j, column).row - rows_cell(w, rows, i, column).row ==
	               (int64_t)(j - i);
}

/* The end of a long run of lines: what is adjacent stays so for all rows before it. */
static size_t rows_far(const struct dtx_why *w, const struct dtx_why_rows *rows, size_t i,
                       const char *column)
{
	size_t lo = i, hi = rows->n - 1;

	while (lo < hi) {
		size_t mid = lo + (hi - lo + 1) / 2;

		if (rows_adjacent(w, rows, i, mid, column))
			lo = mid;
		else
			hi = mid - 1;
	}
	return lo;
}

/* The end of a run of adjacent cells that begins at i; several of one line are one address. */
static size_t rows_run(const struct dtx_why *w, const struct dtx_why_rows *rows, size_t i,
                       const char *column)
{
	int64_t row = rows_cell(w, rows, i, column).row, next;

	for (size_t near = 1; i + 1 < rows->n; i++, near++, row = next) {
		if (rows->lines && near == WHY_ROWS_NEAR) {
			i = rows_far(w, rows, i, column);
			row = rows_cell(w, rows, i, column).row;
		}
		if (i + 1 == rows->n)
			break;
		next = rows_cell(w, rows, i + 1, column).row;
		if (next != row && next != row + 1)
			break;
	}
	return i;
}

void dtx_why_rows_ranges(struct dtx_why *w, const struct dtx_why_rows *rows, const char *column,
                         size_t most, struct dtx_buf *out)
{
	size_t i, end, shown = 0;

	for (i = 0; i < rows->n && shown < most; i = end + 1, shown++) {
		struct rows_cell first = rows_cell(w, rows, i, column), last;

		end = rows_run(w, rows, i, column);
		last = rows_cell(w, rows, end, column);
		dtx_buf_printf(out, "%s%s", i ? ", " : "", first.at);
		if (strcmp(first.at, last.at) != 0)
			dtx_buf_printf(out, "%s%s", end > i + 1 ? ":" : ", ", last.at);
	}
	if (i < rows->n)
		dtx_buf_add(out, ", ...");
	if (rows->n > 1)
		dtx_buf_printf(out, "  %zu cells", rows->n);
}
