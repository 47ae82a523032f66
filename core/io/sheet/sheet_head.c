/* A sheet as the header finder sees it: rows of shown texts, with merged ranges filled in. */
#include <math.h>

#include "core/base/text/num.h"
#include "core/io/sheet/sheet_layout.h"

enum { MERGES_LOOKED_AT = 20000 };

/* Makes the text that the cell shows, in the arena of this turn. */
static enum dtx_code show_number(struct dtx_sheet_layout *l, uint64_t cell, double v,
                                 struct dtx_str *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_buf b = DTX_BUF_INIT(4096);
	uint16_t style = dtx_grid_style(l->grid, cell);
	struct dtx_book_style s = { DTX_STR("General"), DTX_FMT_NUMBER, false };
	char *copy;

	if (style < l->book->nstyles)
		s = l->book->style[style];
	dtx_fmt_show(s.code, s.cls, v, l->book->epoch1904, &b);
	copy = dtx_arena_strndup(&l->shown[l->turn], dtx_buf_text(&b), dtx_buf_len(&b));
	if (!copy)
		DTX_FAIL_MEM(err);
	*out = (struct dtx_str){ copy, b.len };
out:
	dtx_buf_clear(&b);
	return rc;
}

/* All digits of a whole number; no number format is applied. */
static enum dtx_code show_whole(struct dtx_sheet_layout *l, int64_t v, struct dtx_str *out,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	char text[DTX_NUM_TEXT], *copy;
	size_t n = dtx_num_print_i64(text, v);

	copy = dtx_arena_strndup(&l->shown[l->turn], text, n);
	if (!copy)
		DTX_FAIL_MEM(err);
	*out = (struct dtx_str){ copy, n };
out:
	return rc;
}

static enum dtx_code show_cell(struct dtx_sheet_layout *l, uint64_t cell, struct dtx_head_cell *out,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	unsigned kind = dtx_grid_tag(l->grid, cell) & DTX_CELL_KIND;
	union dtx_payload v = dtx_grid_value(l->grid, cell);

	out->kind = DTX_HEAD_VALUE;
	switch (kind) {
	case DTX_CELL_BLANK: out->kind = DTX_HEAD_BLANK; break;
	case DTX_CELL_TEXT:
		out->kind = DTX_HEAD_TEXT;
		DTX_TRY(dtx_book_cell_text(l->book, l->grid, v.id, &out->text, err));
		break;
	case DTX_CELL_WHOLE: DTX_TRY(show_whole(l, v.whole, &out->text, err)); break;
	case DTX_CELL_BOOL: out->text = v.id ? DTX_STR("TRUE") : DTX_STR("FALSE"); break;
	case DTX_CELL_ERROR: out->text = dtx_str_of(dtx_cell_error_name(v.id)); break;
	default:
		if (kind == DTX_CELL_DATE || kind == DTX_CELL_DATETIME ||
		    (kind == DTX_CELL_NUMBER && v.num >= 1900 && v.num < 2100 &&
		     floor(v.num) == v.num))
			out->kind = DTX_HEAD_YEAR;
		DTX_TRY(show_number(l, cell, v.num, &out->text, err));
	}
out:
	return rc;
}

/* Whether a merged range spans several columns from the first one on, and the row has nothing but
 * it: a title above the table, not a name for some columns. */
static bool is_title(const struct dtx_sheet_layout *l, const struct dtx_cellrange *m,
                     const struct dtx_head_cell *cell)
{
	uint32_t i;

	if (m->col0 > l->grid->col_min || m->col0 == m->col1)
		return false;
	for (i = 0; i < l->ncols; i++) {
		if (l->col[i] > m->col1 && cell[i].kind != DTX_HEAD_BLANK)
			return false;
	}
	return l->grid->col_min < l->grid->col_max;
}

/* Fills the cells of the row that a merged range covers with its first cell. */
static enum dtx_code spread_merge(struct dtx_sheet_layout *l, const struct dtx_cellrange *m,
                                  uint32_t row, struct dtx_head_cell *cell, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_head_cell anchor = { 0 };
	uint64_t at = dtx_grid_cell_find(l->grid, m->row0, m->col0);
	uint32_t c;

	if (at != UINT64_MAX)
		DTX_TRY(show_cell(l, at, &anchor, err));
	anchor.covered = true;
	anchor.wide = is_title(l, m, cell);
	for (c = m->col0; c <= m->col1; c++) {
		int32_t i = l->index[c];

		if (i < 0 || (row == m->row0 && c == m->col0))
			continue;
		anchor.covered_left = c > m->col0;
		cell[i] = anchor;
	}
out:
	return rc;
}

static enum dtx_code head_row(void *arg, uint64_t row, struct dtx_head_cell *cell, uint32_t *width,
                              struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_sheet_layout *l = arg;
	const struct dtx_grid *g = l->grid;
	size_t r = dtx_grid_row_find(g, (uint32_t)row), m;
	uint64_t i;

	*width = l->ncols;
	l->turn ^= 1;
	dtx_arena_rewind(&l->shown[l->turn], (struct dtx_arena_mark){ NULL, 0 });
	memset(cell, 0, l->ncols * sizeof(*cell));
	for (i = 0; i < l->ncols; i++)
		cell[i].text = DTX_STR("");
	if (r < g->nrows && g->row[r].row == row) {
		for (i = g->row[r].first; i < g->row[r + 1].first; i++) {
			int32_t c = l->index[dtx_grid_col(g, i)];

			if (c >= 0)
				DTX_TRY(show_cell(l, i, &cell[c], err));
		}
	}
	for (m = 0; m < g->nmerges && m < MERGES_LOOKED_AT && g->merge[m].row0 <= row; m++) {
		if (g->merge[m].row1 >= row)
			DTX_TRY(spread_merge(l, &g->merge[m], (uint32_t)row, cell, err));
	}
out:
	return rc;
}

static void head_name(void *arg, uint64_t row, uint32_t col, char out[48])
{
	const struct dtx_sheet_layout *l = arg;

	dtx_cell_name(out, row, l->col[col]);
}

struct dtx_head_grid dtx_sheet_head_grid(struct dtx_sheet_layout *l, uint64_t first, uint64_t nrows)
{
	return (struct dtx_head_grid){ first, nrows, l->ncols, false, head_row, l, head_name };
}
