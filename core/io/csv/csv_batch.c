/* Makes batches of a morsel.
 *
 * With a pushed filter, only the columns that it uses are made first. The other columns are then
 * made for the rows that are left: one by one if they are few, otherwise for all rows. */
#include "core/base/mem.h"
#include "core/io/csv/csv_fill.h"
#include "core/io/csv/mend/csv_stray.h"
#include "core/io/csv/lines.h"

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

/* Marks the cells that are null by null_values; false if there are none. */
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
		dtx_csv_fill_some(&rest, b->sel, b->nsel, f->w->at);
	} else {
		/* The same records again; they were counted the first time. */
		rest.w = &again;
		rest.start = NULL;
		rest.rows = 0;
		rest.cap = f->rows;
		rest.again = true;
		rest.cut = false;
		again.at = f->base;
		rc = dtx_csv_fill_rows(&rest, err);
		f->w->pos = again.pos;
		f->w->pos_cap = again.pos_cap;
		if (rc != DTX_OK)
			goto out;
	}
	DTX_TRY(batch_columns(&rest, c->use + c->nkeep, &hold, b, err));
	DTX_TRY(dtx_csv_settle(c, b, err));
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
	DTX_TRY(dtx_csv_fill_rows(f, err));
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
	DTX_TRY(dtx_csv_settle(c, b, err));
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
