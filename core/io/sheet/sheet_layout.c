/* Finds the table in a grid: which rows and columns, and which names. */
#include "core/io/sheet/sheet_layout.h"

#include <stdarg.h>
#include <stdio.h>

#include "core/base/memory/mem.h"
#include "core/base/text/utf8.h"
#include "core/io/columns.h"

enum dtx_code dtx_sheet_warn(struct dtx_errlist *diags, enum dtx_code code,
                             const struct dtx_sheet *sheet, int64_t count, struct dtx_err *err,
                             const char *fmt, ...)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_err w = DTX_ERR_INIT;
	char text[sizeof(w.msg)];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	dtx_err_set(&w, code, __FILE__, __LINE__, "%s", text);
	w.severity = DTX_SEV_WARNING;
	w.run_time = true;
	w.count = count;
	if (sheet)
		dtx_str_copy(w.sheet, sizeof(w.sheet), dtx_str_of(sheet->name));
	if (!dtx_errlist_take(diags, &w))
		DTX_FAIL_MEM(err);
out:
	return rc;
}

/* --- rows and columns --- */

bool dtx_sheet_row_filled(const struct dtx_sheet_layout *l, const struct dtx_grid *g, size_t r)
{
	uint64_t i;

	for (i = g->row[r].first; i < g->row[r + 1].first; i++) {
		if (l->index[dtx_grid_col(g, i)] != -1 && !dtx_grid_blank(g, i))
			return true;
	}
	return false;
}

static bool has_cells(const struct dtx_sheet_layout *l, size_t r)
{
	return dtx_sheet_row_filled(l, l->grid, r);
}

bool dtx_sheet_col_hidden(const struct dtx_sheet_layout *l, uint32_t col)
{
	size_t i;

	for (i = 0; i < l->facts->nhidden; i++) {
		if (col >= l->facts->hidden[i].from && col <= l->facts->hidden[i].to)
			return true;
	}
	return false;
}

/* Sets the columns [from, to], without hidden ones if these are dropped. */
static enum dtx_code set_columns(struct dtx_sheet_layout *l, uint32_t from, uint32_t to,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t c;

	l->ncols = 0;
	if (!l->col)
		l->col = dtx_arena_alloc(l->arena, DTX_SHEET_COLS, sizeof(*l->col));
	if (!l->index)
		l->index = dtx_arena_alloc(l->arena, DTX_SHEET_COLS, sizeof(*l->index));
	if (!l->col || !l->index)
		DTX_FAIL_MEM(err);
	for (c = 0; c < DTX_SHEET_COLS; c++) {
		bool in = c >= from && c <= to &&
		          !(l->opts->hidden_drop && dtx_sheet_col_hidden(l, c));

		l->index[c] = in ? (int32_t)l->ncols : -1;
		if (in)
			l->col[l->ncols++] = c;
	}
out:
	return rc;
}

static enum dtx_code nothing_there(const struct dtx_sheet_layout *l, struct dtx_err *err)
{
	dtx_err_set(err, DTX_E_EMPTY_INPUT, __FILE__, __LINE__,
	            "'%s': sheet '%.60s' has no cells%s%.60s", l->book->label, l->sheet->name,
	            l->opts->range ? " in " : "", l->opts->range ? l->opts->range : "");
	if (l->book->nsheets > 1)
		dtx_err_hint(err, "`dtx inspect` lists the sheets; \"sheet\" chooses one");
	return DTX_E_EMPTY_INPUT;
}

/* Drops rows before the header is searched. */
static void drop_ends(struct dtx_sheet_layout *l)
{
	const struct dtx_cellrange *r = &l->pick.range;
	int64_t left = l->rows, totals = (int64_t)l->window.row1 + l->pick.totals_rows - r->row1;

	l->dropped[DTX_DROP_TOTALS] = totals > 0 ? DTX_MIN(totals, left) : 0;
	left -= l->dropped[DTX_DROP_TOTALS];
	l->dropped[DTX_DROP_SKIP] = DTX_MIN(l->opts->skip, left);
	left -= l->dropped[DTX_DROP_SKIP];
	l->dropped[DTX_DROP_SKIP_TAIL] = DTX_MIN(l->opts->skip_tail, left);
}

static enum dtx_code set_window(struct dtx_sheet_layout *l, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_grid *g = l->grid;
	struct dtx_cellrange *w = &l->window;
	int64_t first, last;

	*w = l->pick.range;
	if (!g->nrows)
		return nothing_there(l, err);
	l->cols_given = !w->cols_open;
	w->row1 = DTX_MIN(w->row1, l->tail ? l->tail->last_row : g->row[g->nrows - 1].row);
	w->col1 = DTX_MIN(w->col1, g->col_max);
	if (!l->cols_given)
		w->col0 = DTX_MAX(w->col0, g->col_min);
	if (w->row0 > w->row1 || w->col0 > w->col1)
		return nothing_there(l, err);
	l->rows = (int64_t)w->row1 - w->row0 + 1;
	drop_ends(l);
	first = w->row0 + l->dropped[DTX_DROP_SKIP];
	last = (int64_t)w->row1 - l->dropped[DTX_DROP_SKIP_TAIL] - l->dropped[DTX_DROP_TOTALS];
	if (first > last)
		return nothing_there(l, err);
	w->row0 = (uint32_t)first;
	w->row1 = (uint32_t)last;
	DTX_TRY(set_columns(l, w->col0, w->col1, err));
out:
	return rc;
}

/* If the sheet has a single table, as wide as everything that is read, it says where the header
 * is. */
static enum dtx_code table_header(struct dtx_sheet_layout *l, bool *found, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_book *b = l->book;
	const struct dtx_book_table *only = NULL;
	uint32_t i, n = 0;

	*found = false;
	if (!l->facts->ntables || l->pick.given)
		goto out;
	DTX_TRY(dtx_book_tables_need(l->book, err));
	for (i = 0; i < b->ntables; i++) {
		if (&b->sheet[b->table[i].sheet] != l->sheet)
			continue;
		only = &b->table[i];
		n++;
	}
	if (n != 1 || only->header_rows != 1 || only->range.col0 > l->window.col0 ||
	    only->range.col1 < l->window.col1 || only->range.row0 < l->window.row0 ||
	    only->range.row0 >= l->window.row1)
		goto out;
	l->head = (struct dtx_head){ .first = only->range.row0, .rows = 1 };
	*found = true;
out:
	return rc;
}

static enum dtx_code set_header(struct dtx_sheet_layout *l, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_grid *g = l->grid;
	size_t r = dtx_grid_row_find(g, l->window.row0);
	struct dtx_head_grid hg;
	int rows = l->opts->header_rows;
	uint32_t last;
	bool table = false;

	while (r < g->nrows && g->row[r].row <= l->window.row1 && !has_cells(l, r))
		r++;
	if (r == g->nrows || g->row[r].row > l->window.row1)
		return nothing_there(l, err);
	last = DTX_MIN(l->window.row1, g->row[g->nrows - 1].row);
	hg = dtx_sheet_head_grid(l, g->row[r].row, last - g->row[r].row + 1);
	l->head = (struct dtx_head){ .first = hg.first, .rows = rows < 0 ? 0 : (uint32_t)rows };
	if (rows < 0)
		DTX_TRY(table_header(l, &table, err));
	if (rows < 0 && !table)
		DTX_TRY(dtx_head_find(&hg, &l->head, err));
	else if (rows >= 0 && l->head.rows > hg.nrows)
		DTX_FAIL(err, DTX_E_HEADER_NOT_FOUND,
		         "'%s': sheet '%.60s' has %llu rows, \"header_rows\" is %u", l->book->label,
		         l->sheet->name, (unsigned long long)hg.nrows, l->head.rows);
	if (rows < 0 && l->head.assumed)
		DTX_TRY(dtx_sheet_warn(
			l->diags, DTX_W_HEADER_ASSUMED, l->sheet, 1, err,
			"row %u is taken as the header: all cells below it are text, too",
			(unsigned)l->head.first + 1));
out:
	return rc;
}

/* If the range has no columns, cuts off columns at the sides that are empty from the header on:
 * a title above column A does not make a column. */
static enum dtx_code trim_columns(struct dtx_sheet_layout *l, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_grid *g = l->grid;
	size_t r = dtx_grid_row_find(g, (uint32_t)l->head.first);
	uint32_t from = UINT32_MAX, to = 0;
	uint64_t i;

	if (l->cols_given)
		goto out;
	for (; r < g->nrows && g->row[r].row <= l->window.row1; r++) {
		for (i = g->row[r].first; i < g->row[r + 1].first; i++) {
			uint32_t c = dtx_grid_col(g, i);

			if (l->index[c] < 0 || dtx_grid_blank(g, i))
				continue;
			from = DTX_MIN(from, c);
			to = DTX_MAX(to, c);
		}
	}
	for (i = 0; l->tail && i < DTX_SHEET_COLS; i++) {
		if (!l->tail->filled[i])
			continue;
		from = DTX_MIN(from, (uint32_t)i);
		to = DTX_MAX(to, (uint32_t)i);
	}
	DTX_TRY(set_columns(l, from, to, err));
out:
	return rc;
}

/* Drops the columns that the plan does not want. */
static enum dtx_code drop_columns(struct dtx_sheet_layout *l, const char **name,
                                  struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	bool *keep = dtx_mem_alloc(l->ncols, sizeof(*keep));
	uint32_t i, n = 0;

	if (!keep)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_columns_choose(l->opts, l->book->label, name, l->ncols, keep, err));
	for (i = 0; i < l->ncols; i++) {
		l->index[l->col[i]] = keep[i] ? (int32_t)n : -2;
		if (!keep[i])
			continue;
		name[n] = name[i];
		l->col[n++] = l->col[i];
	}
	l->ncols = n;
out:
	dtx_mem_free(keep);
	return rc;
}

static enum dtx_code set_names(struct dtx_sheet_layout *l, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_head_grid hg = dtx_sheet_head_grid(l, l->head.first, l->head.rows);
	const char **name;
	uint32_t i;

	DTX_TRY(dtx_head_names(&hg, &l->head, l->opts->header_sep ? l->opts->header_sep : " ",
	                       l->opts->header_fill, l->opts->names_unique_error, l->arena,
	                       l->diags, &name, err));
	DTX_TRY(drop_columns(l, name, err));
	l->field = dtx_arena_zalloc(l->arena, l->ncols, sizeof(*l->field));
	l->stats = dtx_arena_zalloc(l->arena, l->ncols, sizeof(*l->stats));
	if (!l->field || !l->stats)
		DTX_FAIL_MEM(err);
	for (i = 0; i < l->ncols; i++)
		l->field[i] = (struct dtx_field){ .name = name[i], .source = true };
out:
	return rc;
}

/* Notes that rows with cells above the header are left out; shows the first of them. */
static enum dtx_code note_above(struct dtx_sheet_layout *l, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int64_t n = l->dropped[DTX_DROP_PREAMBLE];
	size_t r = dtx_grid_row_find(l->grid, l->window.row0);
	struct dtx_head_cell *cell = NULL;
	struct dtx_head_grid hg;
	uint32_t c = 0, width;
	char name[48] = "";

	if (!n || l->opts->header_rows >= 0)
		goto out;
	while (!has_cells(l, r))
		r++;
	cell = dtx_mem_zalloc(l->ncols, sizeof(*cell));
	if (!cell)
		DTX_FAIL_MEM(err);
	hg = dtx_sheet_head_grid(l, l->grid->row[r].row, 1);
	DTX_TRY(hg.row(hg.arg, l->grid->row[r].row, cell, &width, err));
	while (c < l->ncols && cell[c].kind == DTX_HEAD_BLANK)
		c++;
	if (c == l->ncols)
		goto out;
	hg.name(hg.arg, l->grid->row[r].row, c, name);
	DTX_TRY(dtx_sheet_warn(l->diags, DTX_W_READER_NOTE, l->sheet, n, err,
	                       "%lld %s above the header left out: %s '%.*s'%s", (long long)n,
	                       n == 1 ? "row" : "rows", name,
	                       (int)dtx_utf8_offset(cell[c].text.ptr, cell[c].text.len, 40),
	                       cell[c].text.ptr, n > 1 ? " ..." : ""));
out:
	dtx_mem_free(cell);
	return rc;
}

/* --- the pass over all cells --- */

static enum dtx_code pass_rows(struct dtx_sheet_layout *l, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_grid *g = l->grid;
	uint32_t below = (uint32_t)l->head.first + l->head.rows;
	size_t r = dtx_grid_row_find(g, below);
	uint64_t i;

	l->live = dtx_mem_alloc(g->nrows, sizeof(*l->live));
	if (l->opts->hidden_drop)
		l->hidden_before = dtx_mem_alloc(g->nrows, sizeof(*l->hidden_before));
	if (!l->live || (l->opts->hidden_drop && !l->hidden_before))
		DTX_FAIL_MEM(err);
	for (; r < g->nrows && g->row[r].row <= l->window.row1; r++) {
		if (!has_cells(l, r))
			continue;
		if (g->row[r].hidden && l->opts->hidden_drop) {
			l->dropped[DTX_DROP_HIDDEN]++;
			continue;
		}
		if (l->hidden_before)
			l->hidden_before[l->nlive] = (uint32_t)l->dropped[DTX_DROP_HIDDEN];
		l->live[l->nlive++] = (uint32_t)r;
		for (i = g->row[r].first; i < g->row[r + 1].first; i++) {
			int32_t c = l->index[dtx_grid_col(g, i)];

			if (c >= 0)
				dtx_sheet_note_cell(l, g, &l->stats[c], g->row[r].row, i);
		}
	}
	l->nrows = l->nlive;
	if (l->tail)
		dtx_sheet_tail_join(l);
	l->dropped[DTX_DROP_HEADER] = l->head.rows;
	for (r = dtx_grid_row_find(g, l->window.row0);
	     r < g->nrows && g->row[r].row < l->head.first; r++)
		l->dropped[DTX_DROP_PREAMBLE] += has_cells(l, r);
	l->dropped[DTX_DROP_BLANK] = l->rows - l->nrows;
	for (i = 0; i < DTX_DROP_COUNT; i++) {
		if (i != DTX_DROP_BLANK)
			l->dropped[DTX_DROP_BLANK] -= l->dropped[i];
	}
out:
	return rc;
}

static enum dtx_code warn_cells(struct dtx_sheet_layout *l, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_sheet_facts *f = l->facts;
	uint64_t bad = f->nerrors + f->nbaddates + f->nuncached;
	char name[24];

	dtx_cell_name(name, f->first_bad_row, f->first_bad_col);
	if (bad && l->opts->bad_cells == DTX_BAD_CELLS_NULL)
		DTX_TRY(dtx_sheet_warn(
			l->diags, DTX_W_CELL_ERRORS, l->sheet, (int64_t)bad, err,
			"%llu cells are null: %llu errors, %llu formulas without a "
			"cached value, %llu numbers that are not a date; the first is %s",
			(unsigned long long)bad, (unsigned long long)f->nerrors,
			(unsigned long long)f->nuncached, (unsigned long long)f->nbaddates, name));
	if (l->book->odd_chars)
		DTX_TRY(dtx_sheet_warn(l->diags, DTX_W_READER_NOTE, l->sheet,
		                       (int64_t)l->book->odd_chars, err,
		                       "%llu characters that XML does not allow, as control "
		                       "characters, were kept in its texts",
		                       (unsigned long long)l->book->odd_chars));
	if (f->nvolatile)
		DTX_TRY(dtx_sheet_warn(
			l->diags, DTX_W_READER_NOTE, l->sheet, (int64_t)f->nvolatile, err,
			"the results of %llu volatile formulas (NOW, RAND ...) are read as the "
			"file has them",
			(unsigned long long)f->nvolatile));
	if (f->nexternal)
		DTX_TRY(dtx_sheet_warn(
			l->diags, DTX_W_READER_NOTE, l->sheet, (int64_t)f->nexternal, err,
			"the results of %llu formulas that refer to other workbooks are read as "
			"the file has them",
			(unsigned long long)f->nexternal));
	if (f->nconfirmed + f->nunconfirmed)
		DTX_TRY(dtx_sheet_warn(
			l->diags, DTX_W_READER_NOTE, l->sheet, (int64_t)f->nunconfirmed, err,
			"not_in_freexl: FreeXL confirms %llu cells; %llu formulas, bools and "
			"errors, which it cannot read, and %llu cells that it reads otherwise "
			"are bad cells; the first is %s",
			(unsigned long long)f->nconfirmed, (unsigned long long)f->nunknown,
			(unsigned long long)f->ndisputed, f->nunconfirmed ? name : "none"));
	if ((f->nhidden_rows || f->nhidden) && !l->opts->hidden_drop)
		DTX_TRY(dtx_sheet_warn(
			l->diags, DTX_W_HIDDEN_CELLS, l->sheet, (int64_t)f->nhidden_rows, err,
			f->nhidden ? "hidden cells were read: %llu rows, %zu ranges of columns"
				   : "hidden cells were read: %llu rows",
			(unsigned long long)f->nhidden_rows, f->nhidden));
	if (l->grid->merges_dropped)
		DTX_TRY(dtx_sheet_warn(l->diags, DTX_W_READER_NOTE, l->sheet,
		                       (int64_t)l->grid->merges_dropped, err,
		                       "%zu merged ranges overlap others and were ignored",
		                       l->grid->merges_dropped));
	if (l->grid->twice)
		DTX_TRY(dtx_sheet_warn(l->diags, DTX_W_READER_NOTE, l->sheet,
		                       (int64_t)l->grid->twice, err,
		                       "%llu cells stand twice in the file, the last one counts",
		                       (unsigned long long)l->grid->twice));
out:
	return rc;
}

/* Cells of a merged range, except the first, in the columns and below the header. */
static uint64_t merged_cells(const struct dtx_sheet_layout *l, const struct dtx_cellrange *m)
{
	uint32_t below = (uint32_t)l->head.first + l->head.rows, c;
	uint32_t last = DTX_MIN(m->row1, l->window.row1);
	uint64_t at, cols = 0;

	if (m->row0 < below || m->row0 > last || l->index[m->col0] < 0)
		return 0;
	/* of rows below those that are held, only the merged ranges are known */
	if (!l->tail) {
		at = dtx_grid_cell_find(l->grid, m->row0, m->col0);
		if (at == UINT64_MAX ||
		    (dtx_grid_tag(l->grid, at) & DTX_CELL_KIND) == DTX_CELL_BLANK)
			return 0;
	}
	for (c = m->col0; c <= m->col1; c++)
		cols += l->index[c] >= 0;
	return cols * (last - m->row0 + 1) - 1;
}

static enum dtx_code warn_merged(struct dtx_sheet_layout *l, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_cellrange *first = NULL;
	uint64_t cells = 0, ranges = 0, n;
	char name[48];
	size_t i;

	if (l->opts->merged_fill || l->opts->merged_known)
		goto out;
	for (i = 0; i < l->grid->nmerges; i++) {
		n = merged_cells(l, &l->grid->merge[i]);
		first = n && !first ? &l->grid->merge[i] : first;
		cells += n;
		ranges += n > 0;
	}
	if (!cells)
		goto out;
	dtx_cell_range_name(name, first);
	DTX_TRY(dtx_sheet_warn(l->diags, DTX_W_READER_NOTE, l->sheet, (int64_t)cells, err,
	                       "%llu cells of %llu merged ranges are null, but for the first cell "
	                       "of each; the first range is %s",
	                       (unsigned long long)cells, (unsigned long long)ranges, name));
	if (l->diags->n)
		dtx_err_hint(&l->diags->item[l->diags->n - 1],
		             "\"merged\": \"fill\" gives all cells the value of the first");
out:
	return rc;
}

/* Sets the error for bad_cells: error. */
static enum dtx_code refuse_bad(const struct dtx_sheet_layout *l, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_sheet_stats *s;
	char name[24];
	uint32_t i;

	for (i = 0; i < l->ncols && !l->stats[i].bad; i++)
		;
	if (i == l->ncols || l->opts->bad_cells != DTX_BAD_CELLS_ERROR)
		goto out;
	s = &l->stats[i];
	dtx_cell_name(name, s->bad_row, l->col[i]);
	dtx_err_set(err, DTX_E_BAD_CELL, __FILE__, __LINE__,
	            "'%s': %s is an error, a formula without a value or no date, as are %llu cells "
	            "of column '%.60s'",
	            l->book->label, name, (unsigned long long)s->bad, l->field[i].name);
	dtx_err_hint(err, "\"bad_cells\": \"null\" reads them as null, \"bad_cells\": \"text\" as "
	                  "what they show");
	dtx_err_row(err, s->bad_row, l->field[i].name);
	rc = DTX_E_BAD_CELL;
out:
	return rc;
}

enum dtx_code dtx_sheet_layout_make(struct dtx_sheet_layout *l, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	DTX_TRY(set_window(l, err));
	DTX_TRY(set_header(l, err));
	DTX_TRY(trim_columns(l, err));
	if (l->opts->header_rows < 0)
		DTX_TRY(dtx_sheet_tables(l, err));
	DTX_TRY(set_names(l, err));
	DTX_TRY(dtx_sheet_mark_nulls(l, err));
	DTX_TRY(pass_rows(l, err));
	DTX_TRY(note_above(l, err));
	DTX_TRY(refuse_bad(l, err));
	DTX_TRY(dtx_sheet_types(l, err));
	DTX_TRY(warn_cells(l, err));
	DTX_TRY(warn_merged(l, err));
out:
	if (rc != DTX_OK && err && !err->sheet[0] && l->sheet)
		dtx_str_copy(err->sheet, sizeof(err->sheet), dtx_str_of(l->sheet->name));
	return rc;
}

void dtx_sheet_layout_clear(struct dtx_sheet_layout *l)
{
	dtx_mem_free(l->live);
	dtx_mem_free(l->null_text);
	dtx_mem_free(l->hidden_before);
	dtx_arena_clear(&l->shown[0]);
	dtx_arena_clear(&l->shown[1]);
	l->live = NULL;
	l->null_text = NULL;
	l->hidden_before = NULL;
}
