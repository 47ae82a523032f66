/* Makes batches of records that libcsv read. Cells are copied, because escapes were removed from
 * them. */
#include "core/base/memory/mem.h"
#include "core/io/csv/csv.h"
#include "core/io/csv/mend/csv_stray.h"

#define REF_BATCH_BYTES ((size_t)1 << 20)

/* The texts of the cells of a batch, and their spans column by column. */
struct ref_hold {
	struct dtx_owner *owner;
	char *text;
	struct dtx_span *span;
	uint64_t *valid; /* NULL: there are no null_values */
};
struct ref_filler {
	struct dtx_csv *c;
	struct dtx_buf text;
	struct dtx_span *span; /* row by row while the batch grows */
	size_t cap;
	uint32_t rows;
	bool cut; /* the next record is an error, so that the rows end before it */
};

/* Adds the cells of a record. Only an empty text must be marked as quoted, to be no null; other
 * quotes are of no use any more. */
static enum dtx_code ref_add(struct ref_filler *f, const struct dtx_csv_ref_record *rec,
                             struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_csv *c = f->c;
	size_t n = (size_t)f->rows * c->nuse;
	uint32_t i;

	if (!dtx_mem_reserve(&f->span, &f->cap, n + c->nuse, sizeof(*f->span)))
		DTX_FAIL_MEM(err);
	for (i = 0; i < c->nuse; i++) {
		struct dtx_span *s = &f->span[n + i];
		const struct dtx_csv_ref_cell *cell;

		*s = (struct dtx_span){ 0, 0 };
		if (c->use_phys[i] >= rec->row.ncells)
			continue;
		cell = &rec->cell[c->use_phys[i]];
		s->off = (uint32_t)f->text.len;
		s->len = (uint32_t)cell->len | (cell->quoted && !cell->len ? DTX_SPAN_QUOTED : 0);
		dtx_buf_addn(&f->text, rec->text + cell->off, cell->len);
	}
	f->rows++;
	DTX_TRY(dtx_buf_check(&f->text, "a record", err));
out:
	return rc;
}

static enum dtx_code ref_ragged(struct dtx_csv *c, const struct dtx_csv_row *row,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_csv_doubt(c, row->start, err));
	if (c->opts.ragged == DTX_RAGGED_ERROR)
		DTX_TRY(dtx_csv_fail_ragged(c, err));
	if (c->opts.ragged != DTX_RAGGED_QUARANTINE)
		goto out;
	DTX_TRY(dtx_csv_reject(c, row, err));
	dtx_csv_odd(&c->total, DTX_CSV_ODD_REJECT, 1, row->start);
out:
	return rc;
}

/* As filler_cuts in csv_batch.c. */
static bool ref_cuts(struct ref_filler *f, const struct dtx_csv_row *row, enum dtx_csv_kind kind)
{
	bool ragged = kind == DTX_CSV_SHORT || kind == DTX_CSV_LONG;

	f->cut = f->rows &&
	         (row->fault != DTX_CSV_FINE || (ragged && f->c->opts.ragged == DTX_RAGGED_ERROR));
	return f->cut;
}

static bool has_lines(const struct dtx_csv *c, const struct dtx_csv_ref_record *rec)
{
	return dtx_csv_has_lines(
		(struct dtx_str){ c->text.data + rec->row.start, rec->row.end - rec->row.start });
}

/* Counts how the record was read differently from what the text says. */
static void ref_changes(const struct dtx_csv *c, const struct dtx_csv_ref_record *rec,
                        struct dtx_csv_tally *t)
{
	static const enum dtx_csv_odd odd[] = {
		[DTX_CSV_CHANGE_JOINED] = DTX_CSV_ODD_JOINED,
		[DTX_CSV_CHANGE_MOVED] = DTX_CSV_ODD_MOVED,
		[DTX_CSV_CHANGE_GLUED] = DTX_CSV_ODD_GLUED,
		[DTX_CSV_CHANGE_OTHER] = DTX_CSV_ODD_OTHER,
	};

	if (rec->change != DTX_CSV_CHANGE_NONE)
		dtx_csv_odd(t, odd[rec->change], 1, rec->row.start);
	if (c->opts.strays && c->dialect.quotes == DTX_QUOTES_LENIENT && has_lines(c, rec))
		dtx_csv_odd(t, DTX_CSV_ODD_LINES, 1, rec->row.start);
}

static enum dtx_code ref_record(struct ref_filler *f, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_csv *c = f->c;
	struct dtx_csv_tally *t = &c->total;
	struct dtx_csv_ref_record rec;
	enum dtx_csv_kind kind;

	DTX_TRY(dtx_csv_ref_read(c->ref, c->ref_at, &rec, err));
	kind = rec.row.fault == DTX_CSV_FINE ? dtx_csv_ref_kind(c, &rec) : DTX_CSV_ROW;
	if (ref_cuts(f, &rec.row, kind))
		goto out;
	if (rec.row.fault != DTX_CSV_FINE) {
		rc = dtx_csv_fail_row(c, &rec.row, err);
		goto out;
	}
	if (kind == DTX_CSV_EMPTY_EXTRA || (kind == DTX_CSV_ROW && rec.row.literal))
		DTX_TRY(dtx_csv_odd_record(c, &rec.row, t, err));
	c->ref_at = rec.row.next;
	t->records++;
	dtx_csv_odd(t, DTX_CSV_ODD_QUOTE, rec.row.literal, rec.row.start);
	t->blank += kind == DTX_CSV_BLANK;
	t->comment += kind == DTX_CSV_COMMENT;
	if (dtx_csv_lists_comments(c))
		dtx_csv_odd(t, DTX_CSV_ODD_COMMENT, kind == DTX_CSV_COMMENT, rec.row.start);
	dtx_csv_odd(t, DTX_CSV_ODD_HEADER, kind == DTX_CSV_HEADER, rec.row.start);
	if (kind == DTX_CSV_SHORT || kind == DTX_CSV_LONG)
		DTX_TRY(ref_ragged(c, &rec.row, err));
	if (dtx_csv_is_dropped(c, kind))
		goto out;
	ref_changes(c, &rec, t);
	if (kind == DTX_CSV_SHORT || (kind == DTX_CSV_ROW && c->width > c->fit))
		dtx_csv_padded(c, t, rec.row.ncells, rec.row.start);
	else if (kind == DTX_CSV_LONG)
		dtx_csv_odd(t, DTX_CSV_ODD_CUT, rec.row.ncells - c->width, rec.row.start);
	else if (kind == DTX_CSV_EMPTY_EXTRA)
		dtx_csv_odd(t, DTX_CSV_ODD_EXTRA, rec.row.ncells - c->width, rec.row.start);
	if (c->dialect.quotes != DTX_QUOTES_LENIENT && c->dialect.quote && has_lines(c, &rec))
		DTX_TRY(dtx_csv_stray_record(c, rec.row.start, rec.row.end, t, err));
	DTX_TRY(ref_add(f, &rec, err));
	t->rows++;
out:
	return rc;
}

/* Turns the spans from rows to columns, and marks the nulls that null_values names. */
static void ref_turn(const struct ref_filler *f, struct ref_hold *h, size_t words)
{
	uint32_t n = f->c->nuse, i, r;

	for (i = 0; i < n; i++) {
		struct dtx_span *to = h->span + (size_t)i * f->rows;

		for (r = 0; r < f->rows; r++)
			to[r] = f->span[(size_t)r * n + i];
		for (r = 0; h->valid && r < f->rows; r++) {
			struct dtx_str s = { h->text + to[r].off, to[r].len & DTX_SPAN_LEN };

			if (!dtx_csv_is_null(&f->c->opts, s, to[r].len & DTX_SPAN_QUOTED))
				dtx_bit_set(h->valid + i * words, r);
		}
	}
}

static enum dtx_code ref_hold_new(struct ref_filler *f, size_t words, struct ref_hold *h,
                                  struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t n = f->c->nuse;
	bool nulls = f->c->opts.nnull_values != 0;

	h->span = dtx_mem_alloc64((size_t)f->rows * n, sizeof(*h->span));
	h->text = dtx_buf_steal(&f->text);
	h->valid = nulls ? dtx_mem_zalloc(words * n, sizeof(*h->valid)) : NULL;
	h->owner = dtx_owner_blocks((void *[]){ h->span, h->text, h->valid }, 3, NULL);
	if (!h->owner || !h->span || !h->text || (nulls && !h->valid))
		DTX_FAIL_MEM(err);
	ref_turn(f, h, words);
out:
	return rc;
}

static enum dtx_code ref_columns(const struct ref_filler *f, const struct ref_hold *h, size_t words,
                                 struct dtx_batch *b, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_csv *c = f->c;
	uint32_t i;

	for (i = 0; i < c->nuse; i++) {
		uint32_t field = c->use[i];
		struct dtx_column *col = dtx_column_new(DTX_F_SPAN, c->schema->field[field].type,
		                                        f->rows, dtx_owner_ref(h->owner));

		if (!col)
			DTX_FAIL_MEM(err);
		b->col[field] = col;
		col->nulls = UINT32_MAX;
		col->v.span = h->span + (size_t)i * f->rows;
		col->valid = h->valid ? h->valid + i * words : NULL;
		col->base = h->text; /* without a delimiter, writers do not copy these cells
		                      * unchanged */
	}
out:
	return rc;
}

enum dtx_code dtx_csv_ref_batch(struct dtx_csv *c, struct dtx_batch **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct ref_filler f = { .c = c, .text = DTX_BUF_INIT(2 * DTX_CSV_RECORD_MAX) };
	struct ref_hold hold = { .owner = NULL };
	struct dtx_batch *b = NULL;
	size_t begin = c->ref_at, words;

	while (c->ref_at < c->text.end && f.rows < c->batch_rows && !f.cut &&
	       c->ref_at - begin < REF_BATCH_BYTES)
		DTX_TRY(ref_record(&f, err));
	words = dtx_bit_words(f.rows);
	DTX_TRY(ref_hold_new(&f, words, &hold, err));
	DTX_TRY(dtx_batch_new(c->schema, f.rows, &b, err));
	DTX_TRY(ref_columns(&f, &hold, words, b, err));
	*out = b;
	b = NULL;
out:
	dtx_batch_free(b);
	dtx_owner_unref(hold.owner);
	dtx_buf_clear(&f.text);
	dtx_mem_free(f.span);
	return rc;
}
