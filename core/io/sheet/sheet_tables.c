/* Finds several tables on one sheet: blocks separated by blank rows, with headers of their own. */
#include "core/base/memory/mem.h"
#include "core/io/repair.h"
#include "core/io/sheet/sheet_layout.h"

enum { TABLES_MAX = 8, BAND_ROWS = 50 };

/* Rows without a blank row between them: indexes of grid rows [from, to). */
struct band {
	size_t from, to;
};
struct search {
	struct dtx_sheet_layout *l;
	struct dtx_head_cell *cell, *header;
	bool *used;
	struct dtx_cellrange table[TABLES_MAX];
	uint32_t ntables;
};

static uint32_t row_filled(const struct dtx_sheet_layout *l, size_t r)
{
	const struct dtx_grid *g = l->grid;
	uint32_t n = 0;
	uint64_t i;

	for (i = g->row[r].first; i < g->row[r + 1].first; i++)
		n += l->index[dtx_grid_col(g, i)] >= 0 &&
		     (dtx_grid_tag(g, i) & DTX_CELL_KIND) != DTX_CELL_BLANK;
	return n;
}

static bool row_blank(const struct dtx_sheet_layout *l, size_t r)
{
	return !row_filled(l, r);
}

/* Finds the next band, which begins at the first row with cells from r on. */
static bool next_band(const struct dtx_sheet_layout *l, size_t r, struct band *out)
{
	const struct dtx_grid *g = l->grid;

	while (r < g->nrows && g->row[r].row <= l->window.row1 && row_blank(l, r))
		r++;
	if (r == g->nrows || g->row[r].row > l->window.row1)
		return false;
	out->from = r++;
	while (r < g->nrows && g->row[r].row <= l->window.row1 &&
	       g->row[r].row == g->row[r - 1].row + 1 && !row_blank(l, r))
		r++;
	out->to = r;
	return true;
}

static void band_columns(struct search *s, const struct band *b)
{
	const struct dtx_grid *g = s->l->grid;
	size_t r, end = DTX_MIN(b->to, b->from + BAND_ROWS);
	uint64_t i;

	memset(s->used, 0, s->l->ncols);
	for (r = b->from; r < end; r++) {
		for (i = g->row[r].first; i < g->row[r + 1].first; i++) {
			int32_t c = s->l->index[dtx_grid_col(g, i)];

			if (c >= 0 && (dtx_grid_tag(g, i) & DTX_CELL_KIND) != DTX_CELL_BLANK)
				s->used[c] = true;
		}
	}
}

/* Whether the first row of the block looks like a header other than the sheet's, and the next
 * row like data. */
static enum dtx_code is_table(struct search *s, const struct band *b, uint32_t from, uint32_t to,
                              bool *yes, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_head_grid hg = dtx_sheet_head_grid(s->l, 0, DTX_SHEET_ROWS);
	uint32_t c, filled = 0, same = 0, width = 0;

	*yes = false;
	DTX_TRY(hg.row(hg.arg, s->l->grid->row[b->from].row, s->cell, &width, err));
	for (c = from; c <= to; c++) {
		filled += s->cell[c].kind != DTX_HEAD_BLANK && !s->cell[c].covered;
		same += dtx_str_eq(s->cell[c].text, s->header[c].text);
	}
	width = to - from + 1;
	if (filled < 2 || filled * 10 < width * 6 || same == width ||
	    !dtx_head_like(s->cell + from, width, NULL))
		goto out;
	DTX_TRY(hg.row(hg.arg, s->l->grid->row[b->from + 1].row, s->cell, &width, err));
	*yes = !dtx_head_like(s->cell + from, to - from + 1, NULL);
out:
	return rc;
}

static enum dtx_code search_band(struct search *s, const struct band *b, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_sheet_layout *l = s->l;
	uint32_t c, from;
	bool yes;

	band_columns(s, b);
	for (c = 0; c < l->ncols; c++) {
		if (!s->used[c])
			continue;
		for (from = c; c + 1 < l->ncols && s->used[c + 1]; c++)
			;
		if (c == from || s->ntables == TABLES_MAX)
			continue;
		DTX_TRY(is_table(s, b, from, c, &yes, err));
		if (yes)
			s->table[s->ntables++] =
				(struct dtx_cellrange){ l->grid->row[b->from].row,
				                        l->grid->row[b->to - 1].row,
				                        l->col[from],
				                        l->col[c],
				                        false,
				                        false };
	}
out:
	return rc;
}

static enum dtx_code refuse(const struct search *s, const struct band *first, struct dtx_err *err)
{
	const struct dtx_sheet_layout *l = s->l;
	struct dtx_cellrange main = { (uint32_t)l->head.first,
		                      l->grid->row[first->to - 1].row,
		                      l->col[0],
		                      l->col[l->ncols - 1],
		                      false,
		                      false };
	struct dtx_buf list = DTX_BUF_INIT(1024);
	char name[48];
	uint32_t i;

	dtx_cell_range_name(name, &main);
	dtx_buf_add(&list, name);
	for (i = 0; i < s->ntables; i++) {
		dtx_cell_range_name(name, &s->table[i]);
		dtx_buf_printf(&list, ", %s", name);
	}
	if (s->ntables == TABLES_MAX)
		dtx_buf_add(&list, ", ...");
	dtx_err_set(err, DTX_E_MULTIPLE_TABLES, __FILE__, __LINE__,
	            "'%s': sheet '%.60s' holds %u%s tables: %s", l->book->label, l->sheet->name,
	            s->ntables + 1, s->ntables == TABLES_MAX ? " or more" : "",
	            dtx_buf_text(&list));
	dtx_cell_range_name(name, &main);
	dtx_err_hint(err,
	             "choose one with \"range\": \"%s\"; \"header_rows\": %u reads on to the end",
	             name, l->head.rows);
	dtx_buf_clear(&list);
	/* The remedy keeps the first table; the ledger counts the rows of the others. */
	dtx_repair_advise(err, "{\"skip_tail\":%lld}",
	                  (long long)(l->opts->skip_tail + l->window.row1 - main.row1));
	return DTX_E_MULTIPLE_TABLES;
}

static enum dtx_code search_bands(struct search *s, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_sheet_layout *l = s->l;
	uint64_t last = l->head.first + l->head.rows - 1;
	struct dtx_head_grid hg = dtx_sheet_head_grid(l, 0, DTX_SHEET_ROWS);
	struct band first = { 0, 0 }, b;
	size_t r = dtx_grid_row_find(l->grid, (uint32_t)last);
	uint32_t width, c;

	DTX_TRY(hg.row(hg.arg, last, s->header, &width, err));
	/* shown numbers are only valid until the next row, texts of the file are longer */
	for (c = 0; c < l->ncols; c++) {
		if (s->header[c].kind != DTX_HEAD_TEXT)
			s->header[c].text = DTX_STR("");
	}
	if (!next_band(l, r, &first))
		goto out;
	/* a blank row between header and data is only spacing */
	if (first.to - first.from == 1 && !next_band(l, first.to, &first))
		goto out;
	for (r = first.to; next_band(l, r, &b); r = b.to) {
		while (b.to - b.from > 2 && row_filled(l, b.from) == 1) /* its title */
			b.from++;
		if (b.to - b.from >= 2)
			DTX_TRY(search_band(s, &b, err));
	}
	if (s->ntables)
		rc = refuse(s, &first, err);
out:
	return rc;
}

enum dtx_code dtx_sheet_tables(struct dtx_sheet_layout *l, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct search s = { .l = l };

	s.cell = dtx_mem_zalloc(l->ncols, sizeof(*s.cell));
	s.header = dtx_mem_zalloc(l->ncols, sizeof(*s.header));
	s.used = dtx_mem_zalloc(l->ncols, sizeof(*s.used));
	if (!s.cell || !s.header || !s.used)
		DTX_FAIL_MEM(err);
	DTX_TRY(search_bands(&s, err));
out:
	dtx_mem_free(s.cell);
	dtx_mem_free(s.header);
	dtx_mem_free(s.used);
	return rc;
}
