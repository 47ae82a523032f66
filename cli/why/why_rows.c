/* Collects the rows that the answer of `why` names. All are counted, but only those that are shown
 * are looked up. */
#include "cli/why/why_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory/mem.h"
#include "core/base/text/utf8.h"
#include "core/data/cast/cast.h"

static const char *span_file(const struct dtx_why_span *s)
{
	return s->batch->origin ? s->batch->origin->file : "";
}

static int span_order(const void *a, const void *b)
{
	const struct dtx_why_span *x = a, *y = b;
	int file = x->batch->origin == y->batch->origin ? 0 : strcmp(span_file(x), span_file(y));

	return file ? file : (x->id > y->id) - (x->id < y->id);
}

/* Whether b begins before the end of a. a begins first. */
static bool span_meets(const struct dtx_why_span *a, const struct dtx_why_span *b)
{
	return b->id < a->id + a->n && !strcmp(span_file(a), span_file(b));
}

/* Adds one row. Most rows follow the one before and extend its span. */
static bool rows_push(struct dtx_why_rows *rows, struct dtx_why_span one)
{
	struct dtx_why_span *last = rows->nspans ? &rows->span[rows->nspans - 1] : NULL;

	if (last && last->batch == one.batch && last->id + last->n == one.id &&
	    last->at + last->n == one.at) {
		last->n += one.n;
		return true;
	}
	if (!dtx_mem_reserve(&rows->span, &rows->cap, rows->nspans + 1, sizeof(*rows->span)))
		return false;
	rows->span[rows->nspans++] = one;
	return true;
}

static bool rows_batch(struct dtx_why_rows *rows, const struct dtx_batch *b, uint32_t output)
{
	bool ok = true;

	if (!b->sel && !b->rec && b->nsel)
		return rows_push(rows,
		                 (struct dtx_why_span){ b->first_row, b, 0, b->nsel, output });
	for (uint32_t k = 0; ok && k < b->nsel; k++) {
		uint32_t at = b->sel ? b->sel[k] : k;

		ok = rows_push(rows, (struct dtx_why_span){ b->rec ? b->rec[at] : b->first_row + at,
		                                            b, at, 1, output });
	}
	return ok;
}

/* --- in order, each once --- */

static bool rows_sorted(const struct dtx_why_span *span, size_t n)
{
	size_t i;

	for (i = 1; i < n && span_order(&span[i - 1], &span[i]) <= 0; i++)
		;
	return i >= n;
}

/* Adds a span that begins after the beginning of the last one; rows that the last one has already
 * are left out. */
static void rows_put(struct dtx_why_span *to, size_t *n, struct dtx_why_span s)
{
	uint64_t there =
		*n && span_meets(&to[*n - 1], &s) ? to[*n - 1].id + to[*n - 1].n - s.id : 0;

	if (there >= s.n)
		return;
	s.id += there;
	s.at += (uint32_t)there;
	s.n -= (uint32_t)there;
	to[(*n)++] = s;
}

/* Merges two sorted lists of spans. The rows of one output are sorted; a row may be in several
 * outputs, because it contributed in several ways. */
static bool rows_merge(struct dtx_why_rows *rows, size_t mid)
{
	struct dtx_why_span *to = dtx_mem_alloc(rows->nspans, sizeof(*to)), *from = rows->span;
	size_t n = 0, i = 0, k = mid, end = rows->nspans;

	if (!to)
		return false;
	while (i < mid || k < end) {
		bool left = k == end || (i < mid && span_order(&from[i], &from[k]) <= 0);

		rows_put(to, &n, left ? from[i++] : from[k++]);
	}
	dtx_mem_free(from);
	rows->span = to;
	rows->cap = end;
	rows->nspans = n;
	return true;
}

static bool rows_apart(const struct dtx_why_rows *rows)
{
	size_t i;

	for (i = 1; i < rows->nspans && !span_meets(&rows->span[i - 1], &rows->span[i]); i++)
		;
	return i >= rows->nspans;
}

static enum dtx_code rows_add(struct dtx_why_rows *rows, struct dtx_batch *const *batch, size_t n,
                              uint32_t output, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t mid = rows->nspans, more;

	for (size_t i = 0; i < n; i++) {
		if (!rows_batch(rows, batch[i], output))
			DTX_FAIL_MEM(err);
	}
	more = rows->nspans - mid;
	if (!rows_sorted(rows->span + mid, more))
		qsort(rows->span + mid, more, sizeof(*rows->span), span_order);
	/* The rows of the first output usually occur once each, so there is nothing to merge. */
	if (!mid && rows_apart(rows))
		goto out;
	if (more && !rows_merge(rows, mid))
		DTX_FAIL_MEM(err);
out:
	return rc;
}

/* --- one of many files --- */

static const char *batch_file(const struct dtx_batch *b)
{
	return b->origin ? b->origin->file : "";
}

static int file_order(const void *a, const void *b)
{
	return strcmp(batch_file(*(struct dtx_batch *const *)a),
	              batch_file(*(struct dtx_batch *const *)b));
}

/* The batches of an output that are of this file: *n from *out on. They are sorted once, because
 * there may be as many questions as files. */
static enum dtx_code rows_of_file(struct dtx_why *w, uint32_t output, const char *file,
                                  struct dtx_batch *const **out, size_t *n, struct dtx_err *err)
{
	const struct dtx_table *t = w->traced.result->output[output].table;
	enum dtx_code rc = DTX_OK;
	size_t from = 0, to = t->nbatches;
	struct dtx_batch **sorted;

	if (!w->by_file)
		w->by_file = dtx_mem_zalloc(w->trace.noutputs, sizeof(*w->by_file));
	if (!w->by_file)
		DTX_FAIL_MEM(err);
	sorted = w->by_file[output];
	if (!sorted) {
		sorted = dtx_mem_alloc(t->nbatches + 1, sizeof(struct dtx_batch *));
		if (!sorted)
			DTX_FAIL_MEM(err);
		for (size_t i = 0; i < t->nbatches; i++)
			sorted[i] = t->batch[i];
		qsort(sorted, t->nbatches, sizeof(*sorted), file_order);
		w->by_file[output] = sorted;
	}
	while (from < to) {
		size_t mid = from + (to - from) / 2;

		if (strcmp(batch_file(sorted[mid]), file) < 0)
			from = mid + 1;
		else
			to = mid;
	}
	while (to < t->nbatches && !strcmp(batch_file(sorted[to]), file))
		to++;
	*out = sorted + from;
	*n = to - from;
out:
	return rc;
}

void dtx_why_rows_forget(struct dtx_why *w)
{
	for (uint32_t i = 0; w->by_file && i < w->trace.noutputs; i++)
		dtx_mem_free(w->by_file[i]);
	dtx_mem_free(w->by_file);
	w->by_file = NULL;
}

uint32_t dtx_why_rows_input(struct dtx_why *w, const char *alias)
{
	for (uint32_t k = 0; k < w->plan->ninputs; k++) {
		uint32_t i = (w->asked + k) % w->plan->ninputs;

		if (strcmp(w->plan->input[i].name, alias) != 0)
			continue;
		w->asked = i;
		return i;
	}
	return UINT32_MAX;
}

/* Whether an output has rows of the input, possibly among those of other files. */
static bool rows_has(const struct dtx_why *w, const struct dtx_trace_output *o, uint32_t input)
{
	if (o->part != DTX_TRACE_INPUT || input == UINT32_MAX)
		return false;
	return o->input == (w->fold.of ? w->fold.of[input] : input);
}

uint64_t dtx_why_rows_of(struct dtx_why *w, const char *alias, const char *column)
{
	uint32_t input = dtx_why_rows_input(w, alias);
	uint64_t bits = 0;

	for (uint32_t i = 0; i < w->trace.noutputs; i++) {
		const struct dtx_trace_output *o = &w->trace.output[i];

		if (rows_has(w, o, input) &&
		    (json_object_get(o->direct, column) || json_object_get(o->direct, "*")))
			bits |= (uint64_t)1 << i;
	}
	return bits;
}

uint64_t dtx_why_rows_outputs(struct dtx_why *w, const char *alias)
{
	uint32_t input = dtx_why_rows_input(w, alias);
	uint64_t bits = 0;

	for (uint32_t i = 0; i < w->trace.noutputs; i++) {
		const struct dtx_trace_output *o = &w->trace.output[i];

		if (rows_has(w, o, input))
			bits |= (uint64_t)1 << i;
	}
	return bits;
}

enum dtx_code dtx_why_rows(struct dtx_why *w, uint64_t outputs, const char *alias,
                           struct dtx_why_rows *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t input = dtx_why_rows_input(w, alias);
	const char *file = NULL;

	if (input != UINT32_MAX && w->fold.of && w->fold.file[w->fold.of[input]])
		file = w->plan->input[input].path;
	*out = (struct dtx_why_rows){ .of_many = file != NULL };
	for (uint32_t i = 0; i < w->trace.noutputs; i++) {
		const struct dtx_trace_output *o = &w->trace.output[i];
		const struct dtx_table *t;
		struct dtx_batch *const *batch;
		size_t n;

		if (!(outputs >> i & 1) || !rows_has(w, o, input))
			continue;
		t = w->traced.result->output[i].table;
		batch = t->batch;
		n = t->nbatches;
		if (file)
			DTX_TRY(rows_of_file(w, i, file, &batch, &n, err));
		out->lines = w->traced.result->input[input].places == DTX_PLACES_LINES;
		DTX_TRY(rows_add(out, batch, n, i, err));
	}
	for (size_t i = 0; i < out->nspans; i++)
		out->n += out->span[i].n;
out:
	return rc;
}

void dtx_why_rows_clear(struct dtx_why_rows *rows)
{
	dtx_mem_free(rows->span);
	*rows = (struct dtx_why_rows){ .n = 0 };
}

/* --- cells --- */

/* A row in a span. */
struct rows_spot {
	size_t span;
	uint32_t k;
};

static bool rows_next(const struct dtx_why_rows *rows, struct rows_spot *spot)
{
	if (spot->span < rows->nspans && ++spot->k == rows->span[spot->span].n)
		*spot = (struct rows_spot){ spot->span + 1, 0 };
	return spot->span < rows->nspans;
}

static int32_t rows_column(const struct dtx_why *w, const struct dtx_why_span *s,
                           const char *column)
{
	const struct dtx_schema *of = w->traced.result->output[s->output].table->schema, *in;
	int32_t c = dtx_schema_find(of, column);
	uint32_t input = w->trace.output[s->output].input, numbers = 0;

	if (c >= 0)
		return c;
	/* The step turned a row into column names: columns are found by position, after the row
	 * numbers. */
	in = w->traced.result->input[input].schema;
	while (numbers < of->nfields && !strncmp(of->field[numbers].name, "dtx_r", 5))
		numbers++;
	c = in && in->nfields + numbers == of->nfields ? dtx_schema_find(in, column) : -1;
	return c < 0 ? -1 : c + (int32_t)numbers;
}

/* The line of the file or the row of the sheet. */
static int64_t rows_line(const struct dtx_why_rows *rows, struct rows_spot spot)
{
	const struct dtx_why_span *s = &rows->span[spot.span];

	return dtx_batch_physical(s->batch, s->at + spot.k);
}

static void rows_cell(const struct dtx_why *w, const struct dtx_why_span *s, uint32_t k,
                      const char *column, char at[24])
{
	struct dtx_err place = DTX_ERR_INIT;

	dtx_batch_set_position(s->batch, s->at + k, rows_column(w, s, column), &place);
	snprintf(at, 24, "%.23s", place.cell);
	dtx_err_clear(&place);
}

/* The value as it is printed; JSON null for a null. */
static json_t *rows_value(struct dtx_why *w, const struct dtx_batch *b, uint32_t at, int32_t c)
{
	const struct dtx_column *col = b->col[c];

	dtx_buf_reset(&w->text);
	if (!col || dtx_column_is_null(col, at))
		return json_null();
	dtx_cast_print(col, at, &w->text);
	return json_string(dtx_buf_text(&w->text));
}

json_t *dtx_why_rows_json(struct dtx_why *w, const struct dtx_why_rows *rows, const char *column,
                          bool values)
{
	json_t *list = json_array();
	struct rows_spot spot = { 0, 0 };

	for (bool more = list && rows->n; more; more = rows_next(rows, &spot)) {
		const struct dtx_why_span *s = &rows->span[spot.span];
		int32_t c = rows_column(w, s, column);
		char at[24];
		json_t *one;

		if (c < 0)
			continue;
		rows_cell(w, s, spot.k, column, at);
		one = json_pack("{ss}", "cell", at);
		if (!one || (values && !dtx_json_set(one, "value",
		                                     rows_value(w, s->batch, s->at + spot.k, c)))) {
			json_decref(one);
			json_decref(list);
			return NULL;
		}
		json_array_append_new(list, one);
	}
	return list;
}

json_t *dtx_why_rows_places(const struct dtx_why *w, const struct dtx_why_rows *rows)
{
	json_t *list = json_array();
	struct rows_spot spot = { 0, 0 };

	for (bool more = list && rows->n; more; more = rows_next(rows, &spot)) {
		const struct dtx_why_span *s = &rows->span[spot.span];
		const struct dtx_schema *of = w->traced.result->output[s->output].table->schema;
		char at[24];

		rows_cell(w, s, spot.k, of->nfields ? of->field[0].name : "", at);
		if (json_array_append_new(list, json_pack("{ss}", "cell", at)) < 0) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

/* The last row of the span up to which lines are consecutive. Binary search works because lines
 * grow with rows: if a row has the expected line, all rows before it do. */
static uint32_t rows_far(const struct dtx_why_rows *rows, struct rows_spot from)
{
	int64_t line = rows_line(rows, from);
	uint32_t lo = from.k, hi = rows->span[from.span].n - 1, mid = hi;

	while (lo < hi) {
		if (rows_line(rows, (struct rows_spot){ from.span, mid }) - line == mid - from.k)
			lo = mid;
		else
			hi = mid - 1;
		mid = lo + (hi - lo + 1) / 2;
	}
	return lo;
}

/* Moves to the end of a run of adjacent cells and returns the number of cells. Several cells on one
 * line have one address. */
static size_t rows_run(const struct dtx_why_rows *rows, struct rows_spot *spot)
{
	struct rows_spot next;
	size_t n = 1;

	for (;; *spot = next, n++) {
		int64_t line, following;

		if (rows->lines) {
			uint32_t far = rows_far(rows, *spot);

			n += far - spot->k;
			spot->k = far;
		}
		next = *spot;
		if (!rows_next(rows, &next))
			return n;
		line = rows_line(rows, *spot);
		following = rows_line(rows, next);
		if (following != line && following != line + 1)
			return n;
	}
}

void dtx_why_rows_ranges(struct dtx_why *w, const struct dtx_why_rows *rows, const char *column,
                         size_t most, struct dtx_buf *out)
{
	struct rows_spot spot = { 0, 0 };
	size_t shown = 0;
	bool more = rows->n > 0;

	for (; more && shown < most; more = rows_next(rows, &spot), shown++) {
		char first[24], last[24];
		size_t n;

		rows_cell(w, &rows->span[spot.span], spot.k, column, first);
		n = rows_run(rows, &spot);
		rows_cell(w, &rows->span[spot.span], spot.k, column, last);
		dtx_buf_printf(out, "%s%s", shown ? ", " : "", first);
		if (strcmp(first, last) != 0)
			dtx_buf_printf(out, "%s%s", n > 2 ? ":" : ", ", last);
	}
	if (more)
		dtx_buf_add(out, ", ...");
	if (rows->n > 1)
		dtx_buf_printf(out, "  %zu cells", rows->n);
}
