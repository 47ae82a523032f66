/* The first reading of a sheet. A large one is not held in memory: its first rows stay in the
 * grid, the rest only enters the statistics, and the reader goes through it again for the
 * values. */
#include "core/base/memory/mem.h"
#include "core/io/sheet/sheet_layout.h"

enum {
	LARGE_BYTES = 24 << 20,  /* sheets of at least this size are read twice */
	HEAD_CELLS = 256 << 10,  /* cells that stay in the grid */
	HEAD_ROWS = 1200,        /* and rows, for the header finder */
	HEAD_MAX = 2 << 20,      /* unless these have more cells than this */
	WINDOW_CELLS = 12 << 10, /* are counted while they are in the cache */
	TAPE_BYTES = 88          /* bytes per cell that stays: 22 MiB */
};

void dtx_sheet_tail_clear(struct dtx_sheet_tail *tail)
{
	dtx_row_cache_clear(&tail->row_cache);
	dtx_sheet_cols_clear(&tail->cols);
	dtx_mem_free(tail->stats);
	dtx_mem_free(tail->in);
	dtx_mem_free(tail->filled);
	*tail = (struct dtx_sheet_tail){ 0 };
}

static enum dtx_code tail_open(struct dtx_sheet_tail *t, const struct dtx_sheet_layout *l,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_cellrange *r = &l->pick.range;
	uint32_t c;

	dtx_row_cache_init(&t->row_cache,
	                   (l->opts->hold_cells ? l->opts->hold_cells : (size_t)HEAD_CELLS) *
	                           TAPE_BYTES);
	DTX_TRY(dtx_sheet_cols_init(&t->cols, err));
	t->row1 = r->row1 - DTX_MIN(r->row1, l->pick.totals_rows);
	t->stats = dtx_mem_zalloc(DTX_SHEET_COLS, sizeof(*t->stats));
	t->in = dtx_mem_zalloc(DTX_SHEET_COLS, sizeof(*t->in));
	t->filled = dtx_mem_zalloc(DTX_SHEET_COLS, sizeof(*t->filled));
	if (!t->stats || !t->in || !t->filled)
		DTX_FAIL_MEM(err);
	for (c = r->col0; c <= r->col1; c++)
		t->in[c] = !(l->opts->hidden_drop && dtx_sheet_col_hidden(l, c));
out:
	return rc;
}

static void add_stats(struct dtx_sheet_stats *to, const struct dtx_sheet_stats *from)
{
	to->numbers += from->numbers;
	to->fractions += from->fractions;
	to->wide += from->wide;
	to->bools += from->bools;
	to->texts += from->texts;
	to->dates += from->dates;
	to->clocks += from->clocks;
	to->times += from->times;
	to->styles_differ |=
		from->styles_differ || (to->styled && from->styled && to->style != from->style);
	if (from->styled)
		to->style = from->style;
	to->styled |= from->styled;
	for (int i = 0; i < DTX_SHEET_KINDS; i++)
		if (!to->first[i])
			to->first[i] = from->first[i];
	if (!to->bad)
		to->bad_row = from->bad_row;
	to->bad += from->bad;
}

void dtx_sheet_tail_join(struct dtx_sheet_layout *l)
{
	uint32_t i;

	for (i = 0; i < l->ncols; i++)
		add_stats(&l->stats[i], &l->tail->stats[l->col[i]]);
	l->nrows += l->tail->nlive;
	l->dropped[DTX_DROP_HIDDEN] += l->tail->nhidden;
}

/* --- the reading --- */

struct scan {
	struct dtx_sheet_layout *l;
	struct dtx_sheet_tail *tail;
	const struct dtx_sheet_rows_class *cls;
	struct dtx_sheet_rows *rows;
	struct dtx_grid window;
	uint64_t ncells;
	uint32_t col_min, col_max;
	bool more;
	bool refused; /* not in order, so it must be held after all */
};

/* Reads the first rows into the layout's grid. */
static enum dtx_code scan_head(struct scan *s, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_grid *g = s->l->grid;
	uint32_t hold = s->l->opts->hold_cells;
	uint64_t cells = hold ? hold : HEAD_CELLS;

	do {
		DTX_TRY(s->cls->next(s->rows, g, cells, SIZE_MAX, &s->more, err));
		cells = g->ncells + WINDOW_CELLS;
	} while (s->more && !hold && g->nrows < HEAD_ROWS && g->ncells < HEAD_MAX);
	s->ncells = g->ncells;
	s->col_min = g->col_min;
	s->col_max = g->col_max;
	s->refused = s->more && (g->unsorted || !g->nrows);
out:
	return rc;
}

/* Whether header and data begin in the rows that stay. */
static bool begins_in_head(const struct scan *s)
{
	const struct dtx_grid *g = s->l->grid;
	const struct dtx_read_opts *o = s->l->opts;

	return o->skip < DTX_SHEET_ROWS && !o->skip_tail &&
	       s->l->pick.range.row0 + o->skip <= g->row[g->nrows / 2].row;
}

static enum dtx_code take_merges(struct scan *s, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t i;

	for (i = 0; i < s->window.nmerges; i++)
		DTX_TRY(dtx_grid_merge_add(s->l->grid, &s->window.merge[i], err));
	s->window.nmerges = 0;
out:
	return rc;
}

static enum dtx_code count_window(struct scan *s, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_grid *g = &s->window;
	struct dtx_sheet_tail *t = s->tail;
	size_t r;

	DTX_TRY(take_merges(s, err));
	s->refused = g->nrows && (g->unsorted || g->row[0].row <= t->last_row);
	if (s->refused || !g->nrows)
		goto out;
	DTX_TRY(dtx_grid_finish(g, err));
	DTX_TRY(dtx_sheet_bad_texts(s->l, g, err));
	DTX_TRY(dtx_sheet_mark_nulls(s->l, err));
	for (r = g->nrows; r && g->row[r - 1].row > t->row1; r--)
		;
	dtx_sheet_note_rows(s->l, g, r, t);
	t->last_row = g->row[g->nrows - 1].row;
	s->ncells += g->ncells;
	s->col_min = DTX_MIN(s->col_min, g->col_min);
	s->col_max = DTX_MAX(s->col_max, g->col_max);
	if (s->ncells > g->limits.cells)
		return dtx_archive_limits_fail(err, &g->limits, "cells",
		                               "'%s': a sheet with over %llu cells", g->label,
		                               (unsigned long long)g->limits.cells);
out:
	return rc;
}

static enum dtx_code scan_tail(struct scan *s, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_grid *g = s->l->grid;
	uint64_t cells = s->l->opts->hold_cells ? s->l->opts->hold_cells : WINDOW_CELLS;

	DTX_TRY(tail_open(s->tail, s->l, err));
	s->tail->last_row = g->row[g->nrows - 1].row;
	s->window.home = g;
	while (s->more && !s->refused) {
		dtx_grid_reset(&s->window);
		DTX_TRY(s->cls->next(s->rows, &s->window, cells, SIZE_MAX, &s->more, err));
		DTX_TRY(count_window(s, err));
	}
	g->col_min = s->col_min;
	g->col_max = s->col_max;
	s->l->tail = s->tail;
out:
	return rc;
}

static enum dtx_code scan_large(struct scan *s, struct dtx_sheet_facts *facts, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_sheet_layout *l = s->l;

	/* All strings first, because two parts are never unpacked at the same time. */
	DTX_TRY(dtx_book_strings_need(l->book, UINT64_MAX, err));
	DTX_TRY(s->cls->open(l->book, l->sheet, facts, &s->rows, err));
	DTX_TRY(scan_head(s, err));
	s->refused |= s->more && !begins_in_head(s);
	if (s->more && !s->refused)
		DTX_TRY(scan_tail(s, err));
	if (s->refused)
		goto out;
	DTX_TRY(dtx_grid_finish(l->grid, err));
	DTX_TRY(dtx_sheet_bad_texts(l, l->grid, err));
	l->grid->texts_fixed = true;
out:
	return rc;
}

enum dtx_code dtx_sheet_scan(struct dtx_sheet_layout *l, struct dtx_sheet_facts *facts,
                             struct dtx_sheet_tail *tail, struct dtx_err *err)
{
	static const struct dtx_sheet_read whole = { 0 };
	enum dtx_code rc = DTX_OK;
	struct scan s = { .l = l, .tail = tail, .cls = l->book->cls->rows, .refused = true };

	dtx_grid_init(&s.window, l->grid->label);
	s.window.limits = l->grid->limits;
	if (s.cls && !l->opts->merged_fill &&
	    (l->opts->hold_cells || s.cls->size(l->sheet) >= LARGE_BYTES)) {
		DTX_TRY(scan_large(&s, facts, err));
		if (s.refused) {
			s.cls->close(s.rows);
			s.rows = NULL;
			dtx_sheet_unmark_nulls(l);
			l->tail = NULL;
			dtx_grid_clear(l->grid);
			dtx_sheet_facts_clear(facts);
		}
	}
	if (!s.refused)
		goto out;
	/* All strings first: a cell whose text is missing is noted when it is read. */
	DTX_TRY(dtx_book_strings_need(l->book, UINT64_MAX, err));
	DTX_TRY(dtx_book_sheet(l->book, l->sheet, &whole, l->grid, facts, err));
	if (l->opts->merged_fill)
		DTX_TRY(dtx_grid_fill_merges(l->grid, err));
	DTX_TRY(dtx_sheet_bad_texts(l, l->grid, err));
out:
	if (s.rows)
		s.cls->close(s.rows);
	dtx_grid_clear(&s.window);
	return rc;
}
