/* Collects the rows that the answer of `why` names. All are counted, but only those that are shown
 * are looked up. */
#include "cli/why/why_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory/mem.h"
#include "core/base/text/utf8.h"
#include "core/data/cast/cast.h"

/* Finds the cell that a filled cell has its value from.
 *
 * The traced plan has an output with the rows as they were before the step that filled them
 * (DTX_TRACE_UNFILLED). It shows which cells were blank; the source of a blank cell is the next one
 * above or below that is not, within the group and the limit of the step. */

enum { FILL_LOOKS = 50 * 1000 * 1000 }; /* limit of cells that are looked at for one answer */

struct fill {
	struct dtx_why *w;
	const struct dtx_table *table; /* the rows before the step */
	const json_t *step;
	uint32_t output;
	int32_t column;
	struct dtx_buf text, key;
	int64_t looks;
};
/* A row of the table: the index of its batch and its index there. */
struct fill_spot {
	size_t batch;
	uint32_t k;
};

static const char *fill_file(const struct dtx_batch *b)
{
	return b->origin ? b->origin->file : "";
}

static uint32_t fill_at(const struct fill *f, struct fill_spot s)
{
	const struct dtx_batch *b = f->table->batch[s.batch];

	return b->sel ? b->sel[s.k] : s.k;
}

static uint64_t fill_id(const struct fill *f, struct fill_spot s)
{
	const struct dtx_batch *b = f->table->batch[s.batch];

	return b->rec ? b->rec[fill_at(f, s)] : b->first_row + fill_at(f, s);
}

/* The text of a cell, in f->text; NULL for a null. */
static const char *fill_cell(struct fill *f, struct fill_spot s, int32_t c)
{
	const struct dtx_column *col = f->table->batch[s.batch]->col[c];

	dtx_buf_reset(&f->text);
	if (!col || dtx_column_is_null(col, fill_at(f, s)))
		return NULL;
	dtx_cast_print(col, fill_at(f, s), &f->text);
	return dtx_buf_text(&f->text);
}

static bool fill_blank(struct fill *f, struct fill_spot s)
{
	const char *text = fill_cell(f, s, f->column);

	return !text || dtx_utf8_is_blank(dtx_str_of(text));
}

/* Appends the keys of a row's group as one text. */
static void fill_key(struct fill *f, struct fill_spot s, struct dtx_buf *out)
{
	json_t *one;
	size_t i;

	dtx_buf_reset(out);
	json_array_foreach(json_object_get(f->step, "by"), i, one)
	{
		int32_t c = dtx_schema_find(f->table->schema, json_string_value(one));
		const char *text = c < 0 ? NULL : fill_cell(f, s, c);

		if (text)
			dtx_buf_json(out, dtx_str_of(text));
		else
			dtx_buf_add(out, "null");
	}
}

static bool fill_next(const struct fill *f, bool up, struct fill_spot *s)
{
	if (up && s->k-- > 0)
		return true;
	if (!up && ++s->k < f->table->batch[s->batch]->nsel)
		return true;
	do {
		if (up ? s->batch == 0 : s->batch + 1 == f->table->nbatches)
			return false;
		s->batch += up ? (size_t)-1 : 1;
	} while (!f->table->batch[s->batch]->nsel);
	s->k = up ? f->table->batch[s->batch]->nsel - 1 : 0;
	return true;
}

/* Finds a row by its id in the table before the step. */
static bool fill_find(const struct fill *f, const struct dtx_batch *of, uint64_t id,
                      struct fill_spot *s)
{
	for (s->batch = 0; s->batch < f->table->nbatches; s->batch++) {
		const struct dtx_batch *b = f->table->batch[s->batch];
		uint32_t lo = 0, hi = b->nsel;

		if (!b->nsel || strcmp(fill_file(b), fill_file(of)) != 0)
			continue;
		while (lo < hi) {
			s->k = lo + (hi - lo) / 2;
			if (fill_id(f, *s) < id)
				lo = s->k + 1;
			else
				hi = s->k;
		}
		s->k = lo;
		if (lo < b->nsel && fill_id(f, *s) == id)
			return true;
	}
	return false;
}

/* Moves *s to the row that the value came from; leaves it if the cell was not filled. Returns false
 * if that is not known, because there are too many cells to look at. */
static bool fill_from(struct fill *f, struct fill_spot *s)
{
	bool above = strcmp(dtx_json_text(f->step, "dir", "down"), "up") != 0;
	bool grouped = json_array_size(json_object_get(f->step, "by")) > 0;
	int64_t limit = dtx_json_int(f->step, "limit", INT64_MAX), run = 1;
	struct dtx_buf key = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	struct fill_spot at = *s;
	bool known = true;

	if (!fill_blank(f, at))
		goto out;
	if (grouped)
		fill_key(f, at, &key);
	while (known && fill_next(f, above, &at)) {
		known = ++f->looks < FILL_LOOKS;
		if (grouped) {
			fill_key(f, at, &f->key);
			if (!dtx_str_eq(dtx_buf_str(&f->key), dtx_buf_str(&key)))
				continue;
		}
		if (!fill_blank(f, at)) {
			*s = run <= limit ? at : *s;
			break;
		}
		run++;
	}
out:
	dtx_buf_clear(&key);
	return known;
}

/* The output that has the rows before this column was filled. -1: no output has them,
 * or the column was filled several times. */
static int fill_output(const struct dtx_why *w, const char *alias, const char *column)
{
	uint32_t input = dtx_why_rows_input(w, alias);
	int found = -1;

	for (uint32_t i = 0; i < w->trace.noutputs; i++) {
		const struct dtx_trace_output *o = &w->trace.output[i];

		if (o->part != DTX_TRACE_UNFILLED || input == UINT32_MAX ||
		    o->input != (w->fold.of ? w->fold.of[input] : input) ||
		    !json_object_get(o->direct, column))
			continue;
		if (found >= 0)
			return -1;
		found = (int)i;
	}
	return found;
}

/* Whether all columns that name the groups are plain names of the table. */
static bool fill_is_plain(const struct fill *f)
{
	json_t *one;
	size_t i;

	json_array_foreach(json_object_get(f->step, "by"), i, one)
	{
		const char *name = json_string_value(one);

		if (!name || dtx_schema_find(f->table->schema, name) < 0)
			return false;
	}
	return f->column >= 0;
}

static enum dtx_code fill_rows(struct fill *f, const struct dtx_why_rows *rows,
                               struct dtx_why_rows *out, bool *answered, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	*answered = fill_is_plain(f);
	for (size_t i = 0; i < rows->nspans && *answered; i++) {
		const struct dtx_why_span *span = &rows->span[i];

		for (uint32_t k = 0; k < span->n && *answered; k++) {
			struct fill_spot s;
			struct dtx_why_span one;

			*answered = fill_find(f, span->batch, span->id + k, &s) && fill_from(f, &s);
			if (!*answered)
				break;
			one = (struct dtx_why_span){ fill_id(f, s), f->table->batch[s.batch],
				                     fill_at(f, s), 1, f->output };
			if (!dtx_why_rows_push(out, one))
				DTX_FAIL_MEM(err);
		}
	}
	if (*answered)
		DTX_TRY(dtx_why_rows_order(out, err));
out:
	return rc;
}

enum dtx_code dtx_why_fill(struct dtx_why *w, const char *alias, const char *column,
                           struct dtx_why_rows *rows, bool *answered, struct dtx_err *err)
{
	int output = fill_output(w, alias, column);
	struct dtx_why_rows made = { .lines = rows->lines, .of_many = rows->of_many };
	struct fill f = { .w = w };
	enum dtx_code rc = DTX_OK;

	*answered = false;
	if (output < 0)
		goto out;
	f.output = (uint32_t)output;
	f.step = w->trace.output[output].fill;
	f.table = w->traced.result->output[output].table;
	f.column = dtx_schema_find(f.table->schema, column);
	dtx_buf_init(&f.text, DTX_BUF_TEXT_MAX);
	dtx_buf_init(&f.key, DTX_BUF_TEXT_MAX);
	rc = fill_rows(&f, rows, &made, answered, err);
	dtx_buf_clear(&f.text);
	dtx_buf_clear(&f.key);
	if (rc == DTX_OK && *answered) {
		dtx_why_rows_clear(rows);
		*rows = made;
		made = (struct dtx_why_rows){ .n = 0 };
	}
out:
	dtx_why_rows_clear(&made);
	return rc;
}

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
bool dtx_why_rows_push(struct dtx_why_rows *rows, struct dtx_why_span one)
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

static bool rows_batch(struct dtx_why_rows *rows, const struct dtx_batch *b, uint32_t output,
                       const char *file)
{
	bool ok = true;

	if (file && (!b->origin || strcmp(b->origin->file, file) != 0))
		return true;
	if (!b->sel && !b->rec && b->nsel)
		return dtx_why_rows_push(
			rows, (struct dtx_why_span){ b->first_row, b, 0, b->nsel, output });
	for (uint32_t k = 0; ok && k < b->nsel; k++) {
		uint32_t at = b->sel ? b->sel[k] : k;

		ok = dtx_why_rows_push(
			rows, (struct dtx_why_span){ b->rec ? b->rec[at] : b->first_row + at, b, at,
		                                     1, output });
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

enum dtx_code dtx_why_rows_order(struct dtx_why_rows *rows, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (rows->nspans && !rows_sorted(rows->span, rows->nspans))
		qsort(rows->span, rows->nspans, sizeof(*rows->span), span_order);
	if (rows->nspans && !rows_merge(rows, rows->nspans))
		DTX_FAIL_MEM(err);
	rows->n = 0;
	for (size_t i = 0; i < rows->nspans; i++)
		rows->n += rows->span[i].n;
out:
	return rc;
}

/* file: only rows from this file; NULL: all. */
static enum dtx_code rows_add(struct dtx_why_rows *rows, const struct dtx_table *t, uint32_t output,
                              const char *file, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t mid = rows->nspans, more;

	for (size_t i = 0; i < t->nbatches; i++) {
		if (!rows_batch(rows, t->batch[i], output, file))
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

/* Contract in why_rows.h. */
uint32_t dtx_why_rows_input(const struct dtx_why *w, const char *alias)
{
	for (uint32_t i = 0; i < w->plan->ninputs; i++)
		if (!strcmp(w->plan->input[i].name, alias))
			return i;
	return UINT32_MAX;
}

/* Whether an output has rows of the input, possibly among those of other files. */
static bool rows_has(const struct dtx_why *w, const struct dtx_trace_output *o, uint32_t input)
{
	if (o->part != DTX_TRACE_INPUT || input == UINT32_MAX)
		return false;
	return o->input == (w->fold.of ? w->fold.of[input] : input);
}

uint64_t dtx_why_rows_of(const struct dtx_why *w, const char *alias, const char *column)
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

uint64_t dtx_why_rows_outputs(const struct dtx_why *w, const char *alias)
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

enum dtx_code dtx_why_rows(const struct dtx_why *w, uint64_t outputs, const char *alias,
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

		if (!(outputs >> i & 1) || !rows_has(w, o, input))
			continue;
		out->lines = w->traced.result->input[input].places == DTX_PLACES_LINES;
		DTX_TRY(rows_add(out, w->traced.result->output[i].table, i, file, err));
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
