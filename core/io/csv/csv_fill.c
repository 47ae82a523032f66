/* Turns the records of a morsel into spans.
 *
 * The scanner indexes one block of text at a time, beginning at the start of a record. If every
 * record of the block has as many positions as the table has columns, the spans of a needed column
 * are a walk over the index with a fixed stride, and columns that are not needed cost nothing.
 * Otherwise records are read one by one. */
#include "core/io/csv/csv_fill.h"

#include "core/base/mem.h"

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

enum dtx_code dtx_csv_fill_rows(struct dtx_csv_fill *f, struct dtx_err *err)
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

void dtx_csv_fill_some(struct dtx_csv_fill *f, const uint16_t *sel, uint32_t n, size_t end)
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
