/* The raw cells of a worksheet for a snippet: at their places from A1 on, with nothing left out. */
#include <math.h>

#include "core/base/mem.h"
#include "core/base/text/num.h"
#include "core/data/frame/rawgrid.h"
#include "core/data/time/time.h"
#include "core/io/sheet/book_reader.h"
#include "core/io/sheet/sheet_layout.h"

struct raw_walk {
	struct dtx_book *book;
	struct dtx_grid grid;
	uint16_t *format; /* per style: its number in the raw grid, 0: not used yet */
	struct dtx_rawgrid *out;
};

static enum dtx_code raw_format(struct raw_walk *w, uint16_t style, uint16_t *out,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	bool known = style < w->book->nstyles;
	uint16_t *slot = &w->format[known ? style : w->book->nstyles];

	if (!*slot)
		DTX_TRY(dtx_rawgrid_format(w->out,
		                           known ? w->book->style[style].code : DTX_STR("General"),
		                           slot, err));
	*out = *slot;
out:
	return rc;
}

/* Gets kind and value. Kind 0: an empty cell, a formula without its result, or a number that is
 * not finite. */
static enum dtx_code raw_value(struct raw_walk *w, uint64_t at, struct dtx_raw_cell *cell,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint8_t tag = dtx_grid_tag(&w->grid, at);
	union dtx_payload v = dtx_grid_value(&w->grid, at);
	char digits[DTX_NUM_TEXT];
	struct dtx_str text;

	switch (tag & DTX_CELL_KIND) {
	case DTX_CELL_BLANK: break;
	case DTX_CELL_TEXT:
	case DTX_CELL_ISO:
		DTX_TRY(dtx_book_cell_text(w->book, &w->grid, v.id, &text, err));
		cell->kind = text.len ? DTX_RAW_TEXT : 0;
		if (text.len)
			DTX_TRY(dtx_rawgrid_text(w->out, text, &cell->value.id, err));
		break;
	/* as text, because numbers of a snippet are floats and would lose digits */
	case DTX_CELL_WHOLE:
		cell->kind = DTX_RAW_TEXT;
		text = (struct dtx_str){ digits, dtx_num_print_i64(digits, v.whole) };
		DTX_TRY(dtx_rawgrid_text(w->out, text, &cell->value.id, err));
		break;
	case DTX_CELL_BOOL:
		cell->kind = DTX_RAW_BOOL;
		cell->value.id = v.id != 0;
		break;
	case DTX_CELL_ERROR:
		cell->kind = DTX_RAW_ERROR;
		DTX_TRY(dtx_rawgrid_text(w->out, dtx_str_of(dtx_cell_error_name(v.id)),
		                         &cell->value.id, err));
		break;
	case DTX_CELL_DATE:
	case DTX_CELL_DATETIME:
		if (dtx_serial_to_us(v.num, w->book->epoch1904, &cell->value.us)) {
			cell->kind = DTX_RAW_TIME;
			break;
		}
		/* a serial that is not a date is a number */
		cell->kind = isfinite(v.num) ? DTX_RAW_NUMBER : 0;
		cell->value.num = v.num;
		break;
	default: cell->kind = isfinite(v.num) ? DTX_RAW_NUMBER : 0; cell->value.num = v.num;
	}
out:
	return rc;
}

static enum dtx_code raw_cells(struct raw_walk *w, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_grid *g = &w->grid;
	size_t r;
	uint64_t i;

	for (r = 0; r < g->nrows; r++) {
		for (i = g->row[r].first; i < g->row[r + 1].first; i++) {
			struct dtx_raw_cell cell = { .row = g->row[r].row,
				                     .col = dtx_grid_col(g, i) };

			DTX_TRY(raw_value(w, i, &cell, err));
			if (!cell.kind)
				continue;
			DTX_TRY(raw_format(w, dtx_grid_style(g, i), &cell.format, err));
			DTX_TRY(dtx_rawgrid_add(w->out, &cell, err));
		}
	}
	/* a merged range may extend past the last cell */
	for (r = 0; r < g->nmerges; r++) {
		const struct dtx_cellrange *m = &g->merge[r];

		DTX_TRY(dtx_rawgrid_merge(
			w->out, (struct dtx_raw_range){ m->row0, m->col0, m->row1, m->col1 }, err));
	}
out:
	return rc;
}

enum dtx_code dtx_book_reader_raw(struct dtx_source *src, const struct dtx_read_opts *opts,
                                  struct dtx_rawgrid *out, struct dtx_err *err)
{
	static const struct dtx_sheet_read whole = { 0 };
	enum dtx_code rc = DTX_OK;
	struct raw_walk w = { .out = out };
	struct dtx_sheet_facts facts = { 0 };
	struct dtx_errlist diags = DTX_ERRLIST_INIT;
	struct dtx_arena arena = DTX_ARENA_INIT;
	struct dtx_sheet_pick pick;

	dtx_grid_init(&w.grid, dtx_source_name(src));
	w.grid.limits = *dtx_source_limits(src);
	DTX_TRY(dtx_book_open(dtx_source_name(src), dtx_source_data(src), dtx_source_size(src),
	                      dtx_source_limits(src), &w.book, err));
	DTX_TRY(dtx_sheet_choose(w.book, opts, &arena, &diags, &pick, err));
	w.format = dtx_mem_zalloc((size_t)w.book->nstyles + 1, sizeof(*w.format));
	if (!w.format)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_book_strings_need(w.book, UINT64_MAX, err));
	DTX_TRY(dtx_book_sheet(w.book, pick.sheet, &whole, &w.grid, &facts, err));
	DTX_TRY(dtx_rawgrid_sheet(out, pick.sheet->name, err));
	DTX_TRY(raw_cells(&w, err));
out:
	dtx_grid_clear(&w.grid);
	dtx_sheet_facts_clear(&facts);
	dtx_errlist_clear(&diags);
	dtx_arena_clear(&arena);
	dtx_mem_free(w.format);
	dtx_book_close(w.book);
	return rc;
}
