/* Turns the records of a morsel into spans, which are the places of cells in the text, and makes
 * batches of them; keeps the lines of rows and the records that are left out.
 *
 * With a pushed filter, only the columns that it uses are made first. The other columns are then
 * made for the rows that are left: one by one if they are few, otherwise for all rows. */
#include "core/io/csv/csv.h"

#include <stdlib.h>

#include "core/base/memory/mem.h"
#include "core/io/columns.h"
#include "core/io/csv/lines.h"
#include "core/io/csv/mend/csv_stray.h"
#include "core/io/write/csv_format.h"

/* The spans that are being filled, from the place of the worker on. */
struct dtx_csv_fill {
	struct dtx_csv *c;
	struct dtx_csv_worker *w;
	size_t base; /* spans are relative to this position */
	uint32_t rows, cap;
	bool again;           /* these are further columns of rows that were filled before */
	bool cut;             /* the next record is an error, so that the rows end before it */
	bool odd;             /* some records cannot be counted without an index */
	uint32_t ncols;       /* number of wanted columns */
	const uint32_t *phys; /* their physical columns, in the order of span */
	struct dtx_span **span;
	uint32_t *start; /* per record its start, relative to base; NULL: not wanted */
};

/* --- the records of a morsel as spans ---
 *
 * The scanner indexes one block of text at a time, beginning at the start of a record. If every
 * record of the block has as many positions as the table has columns, the spans of a needed column
 * are a walk over the index with a fixed stride, and columns that are not needed cost nothing.
 * Otherwise records are read one by one. */

#define MORSEL_BLOCK     ((size_t)16 << 10)
#define MORSEL_BLOCK_MAX ((size_t)256 << 10) /* longer records are read one by one */
#define MORSEL_RECORD    ((size_t)512)       /* bytes read after the morsel for its last record */

/* A block of text and its index. */
struct block {
	const char *p;
	size_t len;
	const uint32_t *pos;
	uint32_t n, records;
	bool quotes;
};

static bool block_is_end(const struct block *b, uint32_t at)
{
	return at == b->len || b->p[at] == '\n' || b->p[at] == '\r';
}

/* The start of the record after the one that ends at `at`. The text may go on after the block. */
static size_t block_next(const struct dtx_csv_fill *f, const struct block *b, uint32_t at)
{
	const char *end = f->c->text.data + f->c->text.end;

	if (b->p + at >= end)
		return at;
	if (b->p[at] == '\r' && b->p + at + 1 < end && b->p[at + 1] == '\n')
		return (size_t)at + 2;
	return (size_t)at + 1;
}

static inline struct dtx_span block_cell(const struct block *b, uint32_t from, uint32_t to,
                                         uint32_t shift, char quote)
{
	if (quote && from < to && b->p[from] == quote)
		return (struct dtx_span){ from + 1 + shift, (to - from - 2) | DTX_SPAN_QUOTED };
	return (struct dtx_span){ from + shift, to - from };
}

/* The cells of physical column p in n records with `width` cells. `quote` 0: the block has no
 * quotes. */
static inline void block_column(const struct block *b, uint32_t p, uint32_t width, uint32_t n,
                                uint32_t shift, char quote, struct dtx_span *to)
{
	const uint32_t *pos = b->pos + p;
	uint32_t r;

	for (r = 0; r < n; r++, pos += width)
		to[r] = block_cell(b, pos[-1] + 1, pos[0], shift, quote);
}

/* The cells of column 0, which begin after a line end of one or two bytes. */
static void block_first(const struct dtx_csv_fill *f, const struct block *b, uint32_t n,
                        uint32_t shift, char quote, struct dtx_span *to)
{
	uint32_t width = f->c->width, from = 0, r;

	for (r = 0; r < n; r++) {
		const uint32_t *pos = b->pos + (size_t)r * width;

		to[r] = block_cell(b, from, pos[0], shift, quote);
		from = (uint32_t)block_next(f, b, pos[width - 1]);
	}
}

static void block_starts(const struct dtx_csv_fill *f, const struct block *b, uint32_t n,
                         uint32_t shift)
{
	uint32_t *to = f->start + f->rows, width = f->c->width, from = 0, r;

	for (r = 0; r < n; r++) {
		to[r] = from + shift;
		from = (uint32_t)block_next(f, b, b->pos[(size_t)r * width + width - 1]);
	}
}

/* Whether all records have the width of the table. Then position r * width + width - 1 is the end
 * of record r. */
static bool block_is_regular(const struct block *b, uint32_t width)
{
	uint32_t r;

	if (b->n != (uint64_t)b->records * width)
		return false;
	for (r = width - 1; r < b->n; r += width) {
		if (!block_is_end(b, b->pos[r]))
			return false;
	}
	return true;
}

/* The number of records that start in the morsel and for which there is room. */
static uint32_t block_take(const struct dtx_csv_fill *f, const struct block *b)
{
	uint32_t n = DTX_MIN(b->records, f->cap - f->rows), width = f->c->width;
	size_t left = f->w->m.stop - f->w->at;

	while (n > 1 && block_next(f, b, b->pos[(n - 1) * width - 1]) >= left)
		n--;
	return n;
}

static void block_regular(struct dtx_csv_fill *f, const struct block *b)
{
	uint32_t n = block_take(f, b), shift = (uint32_t)(f->w->at - f->base), i;
	char quote = b->quotes ? f->c->text.set.quote : 0;

	for (i = 0; i < f->ncols; i++) {
		struct dtx_span *to = f->span[i] + f->rows;

		if (!f->phys[i])
			block_first(f, b, n, shift, quote, to);
		else if (quote)
			block_column(b, f->phys[i], f->c->width, n, shift, quote, to);
		else
			block_column(b, f->phys[i], f->c->width, n, shift, 0, to);
	}
	if (f->start)
		block_starts(f, b, n, shift);
	f->rows += n;
	f->w->tally.records += n;
	if (f->c->width > f->c->fit)
		dtx_csv_odd(&f->w->tally, DTX_CSV_ODD_WIDE, n, f->w->at);
	f->w->at += block_next(f, b, b->pos[(size_t)n * f->c->width - 1]);
}

/* Whether to end the batch here because the next record is an error. Then the error is reported if
 * its row is wanted, whatever the size of batches is. */
static bool filler_cuts(struct dtx_csv_fill *f, const struct dtx_csv_row *row,
                        enum dtx_csv_kind kind)
{
	bool ragged = kind == DTX_CSV_SHORT || kind == DTX_CSV_LONG;

	f->cut = f->rows && !f->again &&
	         (row->fault != DTX_CSV_FINE || (ragged && f->c->opts.ragged == DTX_RAGGED_ERROR));
	return f->cut;
}

/* Handles a record that is not as wide as the table. */
static enum dtx_code filler_ragged(struct dtx_csv_fill *f, const struct dtx_csv_row *row,
                                   enum dtx_csv_kind kind, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_csv_tally *t = &f->w->tally;

	if (kind == DTX_CSV_EMPTY_EXTRA) {
		dtx_csv_odd(t, DTX_CSV_ODD_EXTRA, row->ncells - f->c->width, row->start);
		goto out;
	}
	DTX_TRY(dtx_csv_doubt(f->c, row->start, err));
	if (f->c->opts.ragged == DTX_RAGGED_ERROR)
		DTX_TRY(dtx_csv_fail_ragged(f->c, err));
	if (f->c->opts.ragged == DTX_RAGGED_QUARANTINE) {
		if (!f->again)
			DTX_TRY(dtx_csv_reject(f->c, row, err));
		dtx_csv_odd(t, DTX_CSV_ODD_REJECT, 1, row->start);
	} else if (kind == DTX_CSV_LONG) {
		dtx_csv_odd(t, DTX_CSV_ODD_CUT, row->ncells - f->c->width, row->start);
	} else {
		dtx_csv_padded(f->c, t, row->ncells, row->start);
	}
out:
	return rc;
}

/* Copies the cells of the record in w->cell to a row, as far as they fit. */
static void filler_put(struct dtx_csv_fill *f, const struct dtx_csv_row *row, uint32_t to)
{
	uint32_t shift = (uint32_t)(row->start - f->base), i;

	for (i = 0; i < f->ncols; i++) {
		struct dtx_span s = { 0, 0 };

		if (f->phys[i] < row->ncells) {
			s = f->w->cell[f->phys[i]];
			s.off += shift;
		}
		f->span[i][to] = s;
	}
	if (f->start)
		f->start[to] = shift;
}

/* Reads one record without the scanner. */
static enum dtx_code filler_read(struct dtx_csv_fill *f, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_csv_row row;
	enum dtx_csv_kind kind;

	dtx_csv_row_read(&f->c->text, f->w->at, f->w->cell, f->c->width, &row);
	kind = row.fault == DTX_CSV_FINE ? dtx_csv_row_kind(f->c, &row) : DTX_CSV_ROW;
	if (filler_cuts(f, &row, kind))
		goto out;
	if (row.fault != DTX_CSV_FINE)
		return dtx_csv_fail_row(f->c, &row, err);
	if (kind == DTX_CSV_EMPTY_EXTRA || (kind == DTX_CSV_ROW && row.literal))
		DTX_TRY(dtx_csv_odd_record(f->c, &row, &f->w->tally, err));
	dtx_csv_odd(&f->w->tally, DTX_CSV_ODD_QUOTE, row.literal, row.start);
	f->w->tally.records++;
	if (kind == DTX_CSV_ROW && f->c->width > f->c->fit)
		dtx_csv_padded(f->c, &f->w->tally, row.ncells, row.start);
	f->w->tally.blank += kind == DTX_CSV_BLANK;
	if (kind != DTX_CSV_ROW && kind != DTX_CSV_BLANK)
		DTX_TRY(filler_ragged(f, &row, kind, err));
	if (!dtx_csv_is_dropped(f->c, kind))
		filler_put(f, &row, f->rows++);
	f->w->at = row.next;
out:
	return rc;
}

static enum dtx_code filler_read_until(struct dtx_csv_fill *f, size_t stop, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	stop = DTX_MIN(stop, f->w->m.stop);
	while (f->w->at < stop && f->rows < f->cap && !f->cut)
		DTX_TRY(filler_read(f, err));
out:
	return rc;
}

/* Indexes `len` bytes at the worker's place, and drops the last record if it is not whole. */
static enum dtx_code filler_index(struct dtx_csv_fill *f, size_t len, struct block *b,
                                  bool *irregular, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_csv_worker *w = f->w;
	struct dtx_scan_index ix;
	bool ends;

	len = DTX_MIN(len, f->c->text.end - w->at);
	ends = w->at + len == f->c->text.end;
	if (!dtx_mem_reserve(&w->pos, &w->pos_cap, len + DTX_SCAN_SLACK, sizeof(*w->pos)))
		DTX_FAIL_MEM(err);
	f->c->fns->index(f->c->text.data + w->at, len, f->c->text.set, w->pos, &ix);
	*irregular = ix.irregular || (ends && ix.inside);
	*b = (struct block){ f->c->text.data + w->at, len, w->pos, ix.n, ix.records, ix.quotes };
	/* The last line of the text may have no line end. */
	if (ends && !(b->n && block_is_end(b, w->pos[b->n - 1]) &&
	              block_next(f, b, w->pos[b->n - 1]) == len)) {
		w->pos[b->n++] = (uint32_t)len;
		b->records++;
	}
	while (b->n && !block_is_end(b, w->pos[b->n - 1]))
		b->n--;
out:
	return rc;
}

/* Rows that are only counted need no index. A record has at least one byte per cell, so limiting
 * the bytes limits the number of records to the room there is. */
static bool filler_count(struct dtx_csv_fill *f)
{
	size_t len = DTX_MIN(f->w->m.stop - f->w->at, (size_t)(f->cap - f->rows) * f->c->width);
	uint32_t records;
	size_t end;

	if (f->ncols || f->start || f->c->text.set.delim == '\n' || f->odd)
		return false;
	if (!f->c->fns->plain(f->c->text.data + f->w->at, len, f->c->text.set, f->c->width,
	                      &records, &end)) {
		f->odd = true;
		return false;
	}
	f->rows += records;
	f->w->tally.records += records;
	if (f->c->width > f->c->fit)
		dtx_csv_odd(&f->w->tally, DTX_CSV_ODD_WIDE, records, f->w->at);
	f->w->at += end;
	return records > 0;
}

static enum dtx_code filler_block(struct dtx_csv_fill *f, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t left = f->w->m.stop - f->w->at;
	size_t len = DTX_MIN(MORSEL_BLOCK, left + MORSEL_RECORD);
	struct block b;
	bool irregular;

	DTX_TRY(filler_index(f, len, &b, &irregular, err));
	if (!b.records && !irregular) {
		len = MORSEL_BLOCK_MAX;
		DTX_TRY(filler_index(f, len, &b, &irregular, err));
	}
	if (irregular)
		DTX_TRY(filler_read_until(f, f->w->at + len, err));
	else if (!b.records)
		DTX_TRY(filler_read(f, err));
	else if (block_is_regular(&b, f->c->width))
		block_regular(f, &b);
	else
		DTX_TRY(filler_read_until(f, f->w->at + block_next(f, &b, b.pos[b.n - 1]), err));
out:
	return rc;
}

/* Fills rows until the morsel ends or there are `cap` rows. Moves the worker's place and counts on.
 * Codes: those of a record that cannot be read. */
static enum dtx_code csv_fill_rows(struct dtx_csv_fill *f, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	while (f->w->at < f->w->m.stop && f->rows < f->cap && !f->cut)
		if (!filler_count(f))
			DTX_TRY(filler_block(f, err));
out:
	return rc;
}

/* --- some rows --- */

/* Fills a row by the index if the record in [at, bound) is a regular one; false if it is not. */
static bool some_regular(struct dtx_csv_fill *f, size_t at, size_t bound, uint32_t row)
{
	struct dtx_csv_worker *w = f->w;
	size_t len = bound - at;
	struct dtx_scan_index ix;
	struct block b;
	uint32_t shift = (uint32_t)(at - f->base), i;
	char quote;

	if (len + DTX_SCAN_SLACK > w->pos_cap)
		return false;
	f->c->fns->index(f->c->text.data + at, len, f->c->text.set, w->pos, &ix);
	b = (struct block){ f->c->text.data + at, len, w->pos, ix.n, ix.records, ix.quotes };
	if (ix.irregular || ix.records != 1 || ix.n != f->c->width ||
	    !block_is_end(&b, w->pos[ix.n - 1]))
		return false;
	quote = b.quotes ? f->c->text.set.quote : 0;
	for (i = 0; i < f->ncols; i++) {
		uint32_t p = f->phys[i], from = p ? w->pos[p - 1] + 1 : 0;

		f->span[i][row] = block_cell(&b, from, w->pos[p], shift, quote);
	}
	return true;
}

/* Fills only the rows sel[0..n) of those that were filled before, so that their starts are known.
 * `end` is where the last row ends. Spans of other rows are not changed. */
static void csv_fill_some(struct dtx_csv_fill *f, const uint16_t *sel, uint32_t n, size_t end)
{
	struct dtx_csv_row row;
	uint32_t *start = f->start, i;

	f->start = NULL;
	for (i = 0; i < n; i++) {
		uint32_t r = sel[i];
		size_t at = f->base + start[r];
		size_t bound = r + 1 < f->rows ? f->base + start[r + 1] : end;

		if (some_regular(f, at, bound, r))
			continue;
		dtx_csv_row_read(&f->c->text, at, f->w->cell, f->c->width, &row);
		filler_put(f, &row, r);
	}
	f->start = start;
}

/* --- the lines of rows, without reading the text again ---
 *
 * Reading a morsel shows whether each of its records is a row of one line, as nearly all are. Then
 * the line of a row follows from the first line of the morsel. Each record has at least one line
 * end. So if there are as many line ends as records, no record has a second line, and no line end
 * is CR LF. */

static int64_t lines_ends(const struct dtx_csv *c, size_t from, size_t to)
{
	int64_t n = 0;

	for (; from < to; from++)
		n += c->text.data[from] == '\n' || c->text.data[from] == '\r';
	return n;
}

void dtx_csv_lines_note(struct dtx_csv *c, const struct dtx_csv_worker *w)
{
	bool open =
		w->at > w->m.start &&
		!lines_ends(c, w->at - 1, w->at); /* the last record of the text has no line end */
	int64_t ends = w->m.records - 1;

	if (!c->even || w->tally.records != w->tally.kept || w->at < w->m.stop)
		return;
	/* The line ends of the chunk were counted before; add those of records that begin or end
	 * outside it. */
	ends += lines_ends(c, w->m.to, w->at) - lines_ends(c, w->m.from, w->m.start);
	if (ends + open == w->tally.records)
		c->even[w->seq] = (uint32_t)w->tally.records;
}

/* Finds the start of the first record in morsel k; false: it has none. */
static bool lines_start(struct dtx_csv *c, uint64_t k, size_t *at)
{
	size_t border = c->split.begin + (k + 1) * c->split.chunk;

	*at = dtx_split_start(&c->split, k);
	return *at < DTX_MIN(border, c->text.end);
}

/* The number of lines before the first record of morsel k. Each line is counted only once. */
static int64_t lines_before(struct dtx_csv *c, uint64_t k)
{
	size_t at;

	for (; c->nline0 <= k; c->nline0++) {
		int64_t n = c->nline0 ? c->even[c->line_of] : 0;

		c->line0[c->nline0] = c->nline0 ? c->line0[c->line_of] : 0;
		if (!lines_start(c, c->nline0, &at))
			continue;
		c->line0[c->nline0] += n ? n : dtx_csv_line(c->text.data, c->line_at, at);
		c->line_at = at;
		c->line_of = c->nline0;
	}
	return c->line0[k];
}

int64_t dtx_csv_lines_before(struct dtx_csv *c, uint64_t k)
{
	int64_t n;

	pthread_mutex_lock(&c->lock);
	n = lines_before(c, k);
	pthread_mutex_unlock(&c->lock);
	return n;
}

int64_t dtx_csv_line_of(const struct dtx_origin *o, uint64_t row_id)
{
	/* const for the holders of batches, see dtx_csv_locate */
	struct dtx_csv *c = (struct dtx_csv *)(uintptr_t)o->arg;
	uint64_t k = row_id >> 32;
	int64_t line = -1;

	pthread_mutex_lock(&c->lock);
	if (c->even && k < c->split.n && (uint32_t)row_id < c->even[k])
		line = lines_before(c, k) + (uint32_t)row_id + dtx_source_line0(c->head.src);
	pthread_mutex_unlock(&c->lock);
	return line;
}

/* --- the records that `quarantine` leaves out of the table --- */

enum dtx_code dtx_csv_reject(struct dtx_csv *c, const struct dtx_csv_row *row, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int64_t most = c->opts.max_rejects;

	pthread_mutex_lock(&c->doubt);
	if ((int64_t)c->nrejects >= most) {
		dtx_err_set(err, DTX_E_RAGGED_ROWS, __FILE__, __LINE__,
		            "'%s': more than %lld rows with other than %u cells",
		            dtx_source_name(c->head.src), (long long)most, c->width);
		dtx_err_hint(err, "\"max_rejects\" allows more; \"ragged\": \"pad\" keeps them");
		dtx_csv_set_position(c, row->start, err);
		rc = DTX_E_RAGGED_ROWS;
		goto out;
	}
	if (!dtx_mem_reserve(&c->reject, &c->reject_cap, c->nrejects + 1, sizeof(*c->reject)))
		DTX_FAIL_MEM(err);
	c->reject[c->nrejects++] = (struct dtx_csv_reject){ row->start, row->end, row->ncells };
out:
	pthread_mutex_unlock(&c->doubt);
	return rc;
}

static int by_start(const void *a, const void *b)
{
	const struct dtx_csv_reject *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

enum dtx_code dtx_csv_rejects(struct dtx_reader *r, struct dtx_buf *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_csv *c = (struct dtx_csv *)r;
	struct dtx_csv_format f;
	size_t i, from = 0;
	int64_t line = dtx_source_line0(r->src);

	dtx_csv_format_init(&f, ',');
	qsort(c->reject, c->nrejects, sizeof(*c->reject), by_start);
	for (i = 0; i < c->nrejects; i++) {
		const struct dtx_csv_reject *x = &c->reject[i];
		struct dtx_str record = { c->text.data + x->start, x->end - x->start };

		line += dtx_csv_line(c->text.data, from, x->start);
		from = x->start;
		dtx_csv_format_text(&f, dtx_str_of(dtx_source_name(r->src)), out);
		dtx_buf_printf(out, ",%lld,%zu,%s,%u,%u,", (long long)line + 1,
		               dtx_csv_byte(c, x->start), x->ncells < c->width ? "short" : "long",
		               c->width, x->ncells);
		dtx_csv_format_text(&f, record, out);
		dtx_csv_format_eol(&f, out);
	}
	DTX_TRY(dtx_buf_check(out, "the rejects", err));
out:
	return rc;
}

/* --- batches --- */

/* For columns that are declared with on_error null: cells that do not fit are null from here on. */
enum dtx_code dtx_csv_null_misfits(struct dtx_csv *c, struct dtx_batch *b, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int32_t at;
	size_t i;

	for (i = 0; i < c->opts.ntypes && b->nrows; i++) {
		const struct dtx_read_type *t = &c->opts.types[i];

		at = t->on_error == DTX_CAST_NULL ? dtx_schema_find(c->schema, t->name) : -1;
		if (at >= 0 && b->col[at] && b->col[at]->form == DTX_F_SPAN)
			DTX_TRY(dtx_columns_cast(&c->head, &c->opts, b, (uint32_t)at, NULL, err));
	}
out:
	return rc;
}

#define BATCH_FEW  6 /* with fewer than one row in this many, cells are made one by one */
#define BATCH_LINE ((size_t)4096) /* bytes in which to search a line end: a text may have none */

/* What the columns of a batch point into. */
struct batch_hold {
	struct dtx_owner *owner; /* owner of the other arrays and of the text */
	uint64_t *valid;         /* NULL: there are no null_values */
	size_t words;            /* number of words of `valid` per column */
};

static enum dtx_code batch_check_text(const struct dtx_csv *c, const struct dtx_morsel *m,
                                      struct dtx_err *err)
{
	/* The header was not checked elsewhere, so the first morsel includes it. */
	size_t from = m->from == c->body ? 0 : m->from, to = m->to;
	const char *d = c->text.data;

	while (from && from < to && ((unsigned char)d[from] & 0xc0) == 0x80)
		from++; /* this character belongs to the chunk before */
	while (to < c->text.end && ((unsigned char)d[to] & 0xc0) == 0x80 && to - m->to < 3)
		to++;
	return dtx_encoding_check(&c->enc, dtx_source_name(c->head.src), from, to, err);
}

/* Allocates spans of n columns with `cap` rows each. `clear`: rows that are not filled are null. */
static enum dtx_code hold_new(struct dtx_csv *c, struct dtx_csv_worker *w, uint32_t n, uint32_t cap,
                              bool clear, struct batch_hold *h, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_span *span = dtx_mem_alloc64((size_t)cap * n, sizeof(*span));
	bool nulls = c->opts.nnull_values != 0;
	void *block[2] = { span, NULL };
	uint32_t i;

	h->words = dtx_bit_words(cap);
	if (nulls)
		block[1] = h->valid = dtx_mem_alloc64(h->words * n, sizeof(*h->valid));
	h->owner = dtx_owner_blocks(block, DTX_COUNT(block), c->enc.owner);
	if (!h->owner || !span || (nulls && !h->valid))
		DTX_FAIL_MEM(err);
	if (clear)
		memset(span, 0, (size_t)cap * n * sizeof(*span));
	for (i = 0; i < n; i++)
		w->span[i] = span + (size_t)i * cap;
out:
	return rc;
}

/* Marks the cells that are null by null_values; false if none. */
static bool batch_nulls(const struct dtx_csv *c, const char *base, const struct dtx_span *span,
                        uint32_t n, uint64_t *valid)
{
	bool any = false;
	uint32_t i;

	memset(valid, 0xff, dtx_bit_words(n) * sizeof(*valid));
	for (i = 0; i < n; i++) {
		struct dtx_str s = { base + span[i].off, span[i].len & DTX_SPAN_LEN };

		if (!dtx_csv_is_null(&c->opts, s, span[i].len & DTX_SPAN_QUOTED))
			continue;
		any = true;
		valid[i >> 6] &= ~((uint64_t)1 << (i & 63));
	}
	return any;
}

static struct dtx_celldialect cell_dialect(const struct dtx_csv *c)
{
	struct dtx_celldialect d = { .delim = c->text.set.delim,
		                     .quote = c->text.set.quotes ? c->text.set.quote : 0 };

	d.home = d.delim && d.delim == c->opts.home && d.quote == '"';
	return d;
}

/* Adds the columns use[0..f->ncols) to the batch, from the filled spans. */
static enum dtx_code batch_columns(const struct dtx_csv_fill *f, const uint32_t *use,
                                   const struct batch_hold *hold, struct dtx_batch *b,
                                   struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_csv *c = f->c;
	const char *base = c->text.data + f->base;
	struct dtx_celldialect dialect = cell_dialect(c);
	uint32_t i;

	for (i = 0; i < f->ncols; i++) {
		uint64_t *valid = hold->valid ? hold->valid + i * hold->words : NULL;
		struct dtx_column *col = dtx_column_new(DTX_F_SPAN, c->schema->field[use[i]].type,
		                                        f->rows, dtx_owner_ref(hold->owner));

		if (!col)
			DTX_FAIL_MEM(err);
		b->col[use[i]] = col;
		col->nulls = UINT32_MAX;
		col->v.span = f->span[i];
		col->base = base;
		col->apart = true;
		col->dialect = dialect;
		if (valid && batch_nulls(c, base, f->span[i], f->rows, valid))
			col->valid = valid;
	}
out:
	return rc;
}

/* Adds the columns that the filter does not use. */
static enum dtx_code batch_rest(struct dtx_csv_fill *f, struct dtx_batch *b, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_csv *c = f->c;
	struct dtx_csv_worker again = *f->w;
	struct dtx_csv_fill rest = *f;
	struct batch_hold hold = { .owner = NULL };
	bool few = (uint64_t)b->nsel * BATCH_FEW < b->nrows;

	rest.ncols = c->nuse - c->nkeep;
	rest.phys = c->use_phys + c->nkeep;
	if (!rest.ncols)
		goto out;
	DTX_TRY(hold_new(c, f->w, rest.ncols, f->rows, few, &hold, err));
	if (few) {
		csv_fill_some(&rest, b->sel, b->nsel, f->w->at);
	} else {
		/* The same records again; they were counted the first time. */
		rest.w = &again;
		rest.start = NULL;
		rest.rows = 0;
		rest.cap = f->rows;
		rest.again = true;
		rest.cut = false;
		again.at = f->base;
		rc = csv_fill_rows(&rest, err);
		f->w->pos = again.pos;
		f->w->pos_cap = again.pos_cap;
		if (rc != DTX_OK)
			goto out;
	}
	DTX_TRY(batch_columns(&rest, c->use + c->nkeep, &hold, b, err));
	DTX_TRY(dtx_csv_null_misfits(c, b, err));
out:
	dtx_owner_unref(hold.owner);
	return rc;
}

static enum dtx_code batch_fill(struct dtx_csv_fill *f, struct dtx_batch **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_csv *c = f->c;
	struct dtx_csv_worker *w = f->w;
	struct batch_hold hold = { .owner = NULL };
	struct dtx_batch *b = NULL;

	DTX_TRY(hold_new(c, w, f->ncols, f->cap, false, &hold, err));
	DTX_TRY(csv_fill_rows(f, err));
	w->active = w->at < w->m.stop;
	DTX_TRY(dtx_batch_new(c->schema, f->rows, &b, err));
	b->seq = w->seq;
	b->sub = w->sub++;
	b->last = !w->active;
	b->origin = &c->head.origin;
	b->first_row = w->seq << 32 | w->rec;
	w->rec += f->rows;
	w->tally.rows += f->rows;
	DTX_TRY(batch_columns(f, c->use, &hold, b, err));
	DTX_TRY(dtx_csv_null_misfits(c, b, err));
	*out = b;
	b = NULL;
out:
	dtx_batch_free(b);
	dtx_owner_unref(hold.owner);
	return rc;
}

/* Counts CR and LF bytes. */
static int64_t batch_ends(const struct dtx_csv *c, size_t from, size_t to)
{
	int64_t n = 0;

	for (; from < to; from++)
		n += dtx_line_is_end(c->text.data[from]);
	return n;
}

/* Whether the records of the morsel have more line ends than the one at the end of each. The chunk
 * was counted before; only the part of a record outside the chunk must be counted here. */
static bool batch_has_lines(const struct dtx_csv *c, const struct dtx_csv_worker *w)
{
	const char *d = c->text.data;
	bool open = w->at > w->m.start &&
	            !dtx_line_is_end(
			    d[w->at - 1]); /* the last record of the text, without a line end */
	int64_t ends = w->m.records - 1, want = w->tally.records - open;
	size_t i;

	ends += batch_ends(c, w->m.to, w->at) - batch_ends(c, w->m.from, w->m.start);
	for (i = w->m.start; i < w->m.stop && !dtx_line_is_end(d[i]); i++)
		;
	return ends > (i + 1 < c->text.end && d[i] == '\r' && d[i + 1] == '\n' ? 2 * want : want);
}

/* Looks for stray quotes in the records of a morsel that was read. Only a line with a quote can
 * begin a record of several lines. */
static enum dtx_code batch_strays(struct dtx_csv *c, struct dtx_csv_worker *w, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_csv_row row;
	const char *d = c->text.data, *end;
	size_t at = w->m.start, len;

	if (!c->text.set.quotes || c->fit < 2 || !batch_has_lines(c, w))
		goto out;
	for (; at < w->m.stop; at = row.next) {
		len = DTX_MIN(c->text.end - at, BATCH_LINE);
		end = memchr(d + at, '\n', len);
		len = end ? (size_t)(end - d) + 1 - at : len;
		row.next = at + len;
		if (end && !memchr(d + at, c->text.set.quote, len))
			continue;
		dtx_csv_row_read(&c->text, at, NULL, 0, &row);
		if (dtx_csv_has_lines((struct dtx_str){ d + at, row.end - at }))
			DTX_TRY(dtx_csv_stray_record(c, at, row.end, &w->tally, err));
	}
out:
	return rc;
}

enum dtx_code dtx_csv_batch(struct dtx_csv *c, struct dtx_csv_worker *w, struct dtx_batch **out,
                            struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_batch *b = NULL;
	struct dtx_csv_fill f = { .c = c,
		                  .w = w,
		                  .base = w->at,
		                  .cap = DTX_MIN(c->batch_rows, w->m.records - w->rec),
		                  .ncols = c->scan.keep ? c->nkeep : c->nuse,
		                  .phys = c->use_phys,
		                  .span = w->span };

	if (!w->sub && w->m.high)
		DTX_TRY(batch_check_text(c, &w->m, err));
	if (c->scan.keep) {
		f.start = dtx_mem_alloc(f.cap, sizeof(*f.start));
		if (!f.start)
			DTX_FAIL_MEM(err);
	}
	DTX_TRY(batch_fill(&f, &b, err));
	if (c->scan.keep) {
		if (b->nrows)
			DTX_TRY(c->scan.keep(c->scan.keep_arg, b, err));
		DTX_TRY(batch_rest(&f, b, err));
	}
	if (!w->active)
		DTX_TRY(batch_strays(c, w, err));
	w->tally.kept += b->nsel;
	*out = b;
	b = NULL;
out:
	dtx_batch_free(b);
	dtx_mem_free(f.start);
	return rc;
}
