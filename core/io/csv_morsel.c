/* Records of a morsel to batches of spans.
 *
 * A block of text is indexed at a time, from a record start on.  If each record has as many
 * positions as the table has columns, the spans of a needed column are a strided walk over the
 * index, and other columns cost nothing; else records are taken one by one. */
#include "core/base/mem.h"
#include "core/base/utf8.h"
#include "core/io/csv.h"

#define MORSEL_BLOCK     ((size_t)16 << 10)
#define MORSEL_BLOCK_MAX ((size_t)256 << 10) /* longer records: the plain machine */
#define MORSEL_RECORD    ((size_t)512)       /* read past the morsel's end for its last record */

/* What the columns of a batch point into. */
struct morsel_hold {
	struct dtx_owner *text;
	struct dtx_span *span;
	uint64_t *valid;
};

/* A batch that is being filled. */
struct filler {
	struct dtx_csv *c;
	struct dtx_csv_worker *w;
	size_t base; /* spans are relative to it */
	uint32_t rows, cap;
	uint32_t ncols;       /* needed ones */
	const uint32_t *phys; /* their physical columns, in the order of span */
	struct dtx_span **span;
};

/* A block and its index. */
struct block {
	const char *p;
	size_t len;
	const uint32_t *pos;
	uint32_t n, records;
	bool quotes;
};

static void morsel_hold_free(void *arg)
{
	struct morsel_hold *h = arg;

	dtx_owner_unref(h->text);
	dtx_mem_free(h->span);
	dtx_mem_free(h->valid);
	dtx_mem_free(h);
}

static bool block_is_end(const struct block *b, uint32_t at)
{
	return at == b->len || b->p[at] == '\n' || b->p[at] == '\r';
}

/* Start of the record behind the one that ends at `at`.  The text may be longer than the block. */
static size_t block_next(const struct filler *f, const struct block *b, uint32_t at)
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

/* Cells of physical column p in n records of `width` cells. `quote` 0: the block has none. */
static inline void block_column(const struct block *b, uint32_t p, uint32_t width, uint32_t n,
                                uint32_t shift, char quote, struct dtx_span *to)
{
	const uint32_t *pos = b->pos + p;
	uint32_t r;

	for (r = 0; r < n; r++, pos += width)
		to[r] = block_cell(b, pos[-1] + 1, pos[0], shift, quote);
}

/* Column 0 begins behind a line end of one or two bytes. */
static void block_first(const struct filler *f, const struct block *b, uint32_t n, uint32_t shift,
                        char quote, struct dtx_span *to)
{
	uint32_t width = f->c->width, from = 0, r;

	for (r = 0; r < n; r++) {
		const uint32_t *pos = b->pos + (size_t)r * width;

		to[r] = block_cell(b, from, pos[0], shift, quote);
		from = (uint32_t)block_next(f, b, pos[width - 1]);
	}
}

/* Whether all records have the table's width: then position r * width + width - 1 ends record r. */
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

/* Records that start before the morsel's end, at most as many as there is room. */
static uint32_t block_take(const struct filler *f, const struct block *b)
{
	uint32_t n = DTX_MIN(b->records, f->cap - f->rows), width = f->c->width;
	size_t left = f->w->m.stop - f->w->at;

	while (n > 1 && block_next(f, b, b->pos[(n - 1) * width - 1]) >= left)
		n--;
	return n;
}

static void block_regular(struct filler *f, const struct block *b)
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
	f->rows += n;
	f->w->at += block_next(f, b, b->pos[(size_t)n * f->c->width - 1]);
}

/* A record that is not as wide as the table. */
static enum dtx_code filler_ragged(struct filler *f, const struct dtx_csv_row *row,
                                   enum dtx_csv_kind kind, struct dtx_err *err)
{
	struct dtx_csv_tally *t = &f->w->tally;

	if (kind == DTX_CSV_EMPTY_EXTRA) {
		t->extra += row->ncells - f->c->width;
		return DTX_OK;
	}
	if (f->c->opts.ragged == DTX_RAGGED_ERROR)
		return dtx_csv_fail_ragged(f->c, err);
	if (kind == DTX_CSV_LONG)
		t->cut += row->ncells - f->c->width;
	else
		t->padded++;
	return DTX_OK;
}

/* Adds the record whose cells are in w->cell, as far as they fit. */
static void filler_add(struct filler *f, const struct dtx_csv_row *row)
{
	uint32_t shift = (uint32_t)(row->start - f->base), i;

	for (i = 0; i < f->ncols; i++) {
		struct dtx_span s = { 0, 0 };

		if (f->phys[i] < row->ncells) {
			s = f->w->cell[f->phys[i]];
			s.off += shift;
		}
		f->span[i][f->rows] = s;
	}
	f->rows++;
}

/* One record by the plain machine. */
static enum dtx_code filler_read(struct filler *f, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_csv_row row;
	enum dtx_csv_kind kind;

	dtx_csv_row_read(&f->c->text, f->w->at, f->w->cell, f->c->width, &row);
	if (row.fault != DTX_CSV_FINE)
		return dtx_csv_fail_row(f->c, &row, err);
	kind = dtx_csv_row_kind(f->c, &row);
	f->w->tally.literal += row.literal;
	if (kind == DTX_CSV_BLANK) {
		f->w->tally.blank++;
	} else {
		if (kind != DTX_CSV_ROW)
			DTX_TRY(filler_ragged(f, &row, kind, err));
		filler_add(f, &row);
	}
	f->w->at = row.next;
out:
	return rc;
}

static enum dtx_code filler_read_until(struct filler *f, size_t stop, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	stop = DTX_MIN(stop, f->w->m.stop);
	while (f->w->at < stop && f->rows < f->cap)
		DTX_TRY(filler_read(f, err));
out:
	return rc;
}

/* Indexes `len` bytes at the worker's place; leaves whole records in it. */
static enum dtx_code filler_index(struct filler *f, size_t len, struct block *b, bool *irregular,
                                  struct dtx_err *err)
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
	/* The last line may lack its end. */
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

static enum dtx_code filler_block(struct filler *f, struct dtx_err *err)
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

/* --- batches --- */

static enum dtx_code morsel_check_text(const struct dtx_csv *c, const struct dtx_morsel *m,
                                       struct dtx_err *err)
{
	/* The header was not looked at by anybody else. */
	size_t from = m->from == c->body ? 0 : m->from, to = m->to;
	const char *d = c->text.data;
	ptrdiff_t bad;

	while (from && from < to && ((unsigned char)d[from] & 0xc0) == 0x80)
		from++; /* the chunk before has this character */
	while (to < c->text.end && ((unsigned char)d[to] & 0xc0) == 0x80 && to - m->to < 3)
		to++;
	bad = dtx_utf8_bad(d + from, to - from);
	if (bad < 0)
		return DTX_OK;
	return dtx_encoding_fail(&c->enc, dtx_source_name(c->head.src), from + (size_t)bad, err);
}

static enum dtx_code morsel_hold_new(struct dtx_csv *c, size_t spans, size_t words,
                                     struct morsel_hold **hold, struct dtx_owner **owner,
                                     struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct morsel_hold *h = dtx_mem_zalloc(1, sizeof(*h));

	*owner = NULL;
	if (!h)
		DTX_FAIL_MEM(err);
	h->text = dtx_owner_ref(c->enc.owner);
	h->span = dtx_mem_alloc64(spans, sizeof(*h->span));
	if (words)
		h->valid = dtx_mem_alloc64(words, sizeof(*h->valid));
	if (h->span && (h->valid || !words))
		*owner = dtx_owner_new(morsel_hold_free, h);
	if (!*owner) {
		morsel_hold_free(h);
		DTX_FAIL_MEM(err);
	}
	*hold = h;
out:
	return rc;
}

/* Marks the cells that null_values names; false when there are none. */
static bool morsel_nulls(const struct dtx_csv *c, const char *base, const struct dtx_span *span,
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

static enum dtx_code morsel_columns(struct dtx_csv *c, struct filler *f, struct morsel_hold *hold,
                                    struct dtx_owner *owner, struct dtx_batch *b,
                                    struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const char *base = c->text.data + f->base;
	size_t words = dtx_bit_words(f->cap);
	uint32_t i;

	for (i = 0; i < f->ncols; i++) {
		uint32_t field = c->use[i];
		struct dtx_column *col = dtx_column_new(DTX_F_SPAN, c->schema->field[field].type,
		                                        f->rows, dtx_owner_ref(owner));

		if (!col)
			DTX_FAIL_MEM(err);
		b->col[field] = col;
		col->nulls = UINT32_MAX;
		col->v.span = f->span[i];
		col->base = base;
		col->delim = c->text.set.delim;
		col->quote = c->text.set.quotes ? c->text.set.quote : 0;
		if (hold->valid &&
		    morsel_nulls(c, base, f->span[i], f->rows, hold->valid + i * words))
			col->valid = hold->valid + i * words;
	}
out:
	return rc;
}

static enum dtx_code morsel_fill(struct filler *f, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_csv_worker *w = f->w;

	while (w->at < w->m.stop && f->rows < f->cap)
		DTX_TRY(filler_block(f, err));
	w->active = w->at < w->m.stop;
out:
	return rc;
}

enum dtx_code dtx_csv_batch(struct dtx_csv *c, struct dtx_csv_worker *w, struct dtx_batch **out,
                            struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct morsel_hold *hold = NULL;
	struct dtx_owner *owner = NULL;
	struct dtx_batch *b = NULL;
	struct filler f = { .c = c,
		            .w = w,
		            .base = w->at,
		            .ncols = c->nuse,
		            .phys = c->use_phys,
		            .span = w->span };
	uint32_t i;

	if (!w->sub && w->m.high && !c->enc.checked)
		DTX_TRY(morsel_check_text(c, &w->m, err));
	f.cap = DTX_MIN(c->batch_rows, w->m.records - w->rec);
	DTX_TRY(morsel_hold_new(c, (size_t)f.cap * c->nuse,
	                        c->opts.nnull_values ? dtx_bit_words(f.cap) * c->nuse : 0, &hold,
	                        &owner, err));
	for (i = 0; i < c->nuse; i++)
		w->span[i] = hold->span + (size_t)i * f.cap;
	DTX_TRY(morsel_fill(&f, err));
	DTX_TRY(dtx_batch_new(c->schema, f.rows, &b, err));
	DTX_TRY(morsel_columns(c, &f, hold, owner, b, err));
	b->first_row = w->seq << 32 | w->rec;
	w->rec += f.rows;
	w->tally.rows += f.rows;
	*out = b;
	b = NULL;
out:
	dtx_batch_free(b);
	dtx_owner_unref(owner);
	return rc;
}
