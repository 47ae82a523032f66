/* Reads the first records, without quotes. */
#include "core/io/csv/detect/csv_top.h"

#include "core/base/memory/mem.h"
#include "core/io/csv/csv_ref.h"

struct top_reader {
	struct dtx_csv *c;
	struct dtx_csv_top *top;
	struct dtx_span *span;
	size_t cap;
};

static struct dtx_str top_text(struct dtx_csv_top *top, const char *base, struct dtx_span s,
                               char quote, bool *ok)
{
	size_t len = s.len & DTX_SPAN_LEN, i, n = 0;
	const char *from = base + s.off;
	char *copy;

	if (!(s.len & DTX_SPAN_QUOTED) || !memchr(from, quote, len))
		return (struct dtx_str){ from, len };
	copy = dtx_arena_alloc(&top->arena, len, 1);
	if (!copy) {
		*ok = false;
		return (struct dtx_str){ "", 0 };
	}
	for (i = 0; i < len; i++) {
		copy[n++] = from[i];
		i += from[i] == quote && i + 1 < len && from[i + 1] == quote;
	}
	return (struct dtx_str){ copy, n };
}

/* Reads one record as cells, which the arena holds. */
static enum dtx_code top_row(struct top_reader *r, size_t at, struct dtx_csv_top_row *out,
                             struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_csv_text *t = &r->c->text;
	struct dtx_csv_row row;
	bool ok = true;
	uint32_t i;

	DTX_TRY(dtx_csv_row_cells(t, at, &r->span, &r->cap, dtx_source_name(r->c->head.src), &row,
	                          err));
	if (row.fault == DTX_CSV_TOO_LONG)
		DTX_TRY(dtx_csv_fail_row(r->c, &row, err));
	*out = (struct dtx_csv_top_row){
		.start = at,
		.next = row.next,
		.n = row.ncells,
		.blank = dtx_csv_row_blank(&row),
		.fault = row.fault != DTX_CSV_FINE,
	};
	out->cell = dtx_arena_alloc(&r->top->arena, row.ncells, sizeof(*out->cell));
	out->quoted = dtx_arena_alloc(&r->top->arena, row.ncells, sizeof(*out->quoted));
	if (!out->cell || !out->quoted)
		DTX_FAIL_MEM(err);
	for (i = 0; i < row.ncells; i++) {
		out->quoted[i] = r->span[i].len & DTX_SPAN_QUOTED;
		out->cell[i] = top_text(r->top, t->data + at, r->span[i], t->set.quote, &ok);
	}
	if (!ok)
		DTX_FAIL_MEM(err);
out:
	return rc;
}

/* The same by libcsv. */
static enum dtx_code top_ref(struct top_reader *r, size_t at, struct dtx_csv_top_row *out,
                             struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_csv_ref_record rec;
	uint32_t i;

	DTX_TRY(dtx_csv_ref_read(r->c->ref, at, &rec, err));
	DTX_TRY(dtx_csv_row_limit(rec.row.ncells, dtx_source_name(r->c->head.src), err));
	*out = (struct dtx_csv_top_row){ .start = at,
		                         .next = rec.row.next,
		                         .n = rec.row.ncells,
		                         .blank = rec.comment || dtx_csv_row_blank(&rec.row),
		                         .fault = rec.row.fault != DTX_CSV_FINE,
		                         .dropped = rec.comment };
	out->cell = dtx_arena_alloc(&r->top->arena, out->n, sizeof(*out->cell));
	out->quoted = dtx_arena_alloc(&r->top->arena, out->n, sizeof(*out->quoted));
	if (!out->cell || !out->quoted)
		DTX_FAIL_MEM(err);
	for (i = 0; i < out->n; i++) {
		const struct dtx_csv_ref_cell *cell = &rec.cell[i];
		char *copy = dtx_arena_strndup(&r->top->arena, rec.text + cell->off, cell->len);

		if (!copy)
			DTX_FAIL_MEM(err);
		out->cell[i] = (struct dtx_str){ copy, cell->len };
		out->quoted[i] = cell->quoted;
	}
out:
	return rc;
}

static enum dtx_code top_fill(struct top_reader *r, size_t at, size_t rows, bool lines,
                              struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t begin = at;

	int64_t line = lines ? dtx_csv_line(r->c->text.data, 0, at) : 0;

	while (r->top->n < rows && at < r->c->text.end && at - begin < DTX_CSV_TOP_BYTES) {
		struct dtx_csv_top_row *row = &r->top->row[r->top->n];

		DTX_TRY(r->c->ref ? top_ref(r, at, row, err) : top_row(r, at, row, err));
		r->top->n++;
		row->line = line;
		line += lines ? dtx_csv_line(r->c->text.data, at, row->next) : 0;
		at = row->next;
	}
	r->top->whole = at >= r->c->text.end;
out:
	return rc;
}

enum dtx_code dtx_csv_top_read(struct dtx_csv *c, size_t at, size_t rows, bool lines,
                               struct dtx_csv_top *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct top_reader r = { .c = c, .top = out };

	memset(out, 0, sizeof(*out));
	out->row = dtx_arena_alloc(&out->arena, rows, sizeof(*out->row));
	if (!out->row || !dtx_mem_reserve(&r.span, &r.cap, 64, sizeof(*r.span)))
		DTX_FAIL_MEM(err);
	DTX_TRY(top_fill(&r, at, rows, lines, err));
out:
	dtx_mem_free(r.span);
	if (rc != DTX_OK)
		dtx_csv_top_clear(out);
	return rc;
}

void dtx_csv_top_clear(struct dtx_csv_top *top)
{
	dtx_arena_clear(&top->arena);
	top->row = NULL;
	top->n = 0;
}
