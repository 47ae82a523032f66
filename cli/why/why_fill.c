/* Finds the cell that a filled cell has its value from.
 *
 * The traced plan has an output with the rows as they were before the step that filled them
 * (DTX_TRACE_UNFILLED). It shows which cells were blank; the source of a blank cell is the next one
 * above or below that is not, within the group and the limit of the step. */
#include "cli/why/why_fill.h"

#include <string.h>

#include "core/base/mem.h"
#include "core/base/text/utf8.h"
#include "core/data/cast/cast.h"

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

/* The output that has the rows before this column was filled. -1: there is none, or there were
 * several fills. */
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
                               struct dtx_why_rows *out, bool *told, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	*told = fill_is_plain(f);
	for (size_t i = 0; i < rows->nspans && *told; i++) {
		const struct dtx_why_span *span = &rows->span[i];

		for (uint32_t k = 0; k < span->n && *told; k++) {
			struct fill_spot s;
			struct dtx_why_span one;

			*told = fill_find(f, span->batch, span->id + k, &s) && fill_from(f, &s);
			if (!*told)
				break;
			one = (struct dtx_why_span){ fill_id(f, s), f->table->batch[s.batch],
				                     fill_at(f, s), 1, f->output };
			if (!dtx_why_rows_push(out, one))
				DTX_FAIL_MEM(err);
		}
	}
	if (*told)
		DTX_TRY(dtx_why_rows_order(out, err));
out:
	return rc;
}

enum dtx_code dtx_why_fill(struct dtx_why *w, const char *alias, const char *column,
                           struct dtx_why_rows *rows, bool *told, struct dtx_err *err)
{
	int output = fill_output(w, alias, column);
	struct dtx_why_rows made = { .lines = rows->lines, .of_many = rows->of_many };
	struct fill f = { .w = w };
	enum dtx_code rc = DTX_OK;

	*told = false;
	if (output < 0)
		goto out;
	f.output = (uint32_t)output;
	f.step = w->trace.output[output].fill;
	f.table = w->traced.result->output[output].table;
	f.column = dtx_schema_find(f.table->schema, column);
	dtx_buf_init(&f.text, DTX_BUF_TEXT_MAX);
	dtx_buf_init(&f.key, DTX_BUF_TEXT_MAX);
	rc = fill_rows(&f, rows, &made, told, err);
	dtx_buf_clear(&f.text);
	dtx_buf_clear(&f.key);
	if (rc == DTX_OK && *told) {
		dtx_why_rows_clear(rows);
		*rows = made;
		made = (struct dtx_why_rows){ .n = 0 };
	}
out:
	dtx_why_rows_clear(&made);
	return rc;
}
