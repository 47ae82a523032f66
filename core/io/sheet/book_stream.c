/* Reads a large sheet again in windows of rows, see book_stream.h. Windows are read from the
 * parser with the reader's lock held; a worker then uses its window alone. */
#include "core/io/sheet/book_stream.h"

#include "core/base/memory/mem.h"

static void window_free(struct dtx_book_window *w)
{
	if (!w)
		return;
	dtx_grid_clear(&w->grid);
	dtx_mem_free(w->live);
	dtx_mem_free(w);
}

static void close_rows(struct dtx_book_stream *s)
{
	if (s->rows)
		s->layout->book->cls->rows->close(s->rows);
	s->rows = NULL;
	s->more = false;
	dtx_sheet_facts_clear(&s->facts);
}

void dtx_book_stream_clear(struct dtx_book_stream *s)
{
	close_rows(s);
	while (s->spare) {
		struct dtx_book_window *w = s->spare;

		s->spare = w->next;
		window_free(w);
	}
	*s = (struct dtx_book_stream){ 0 };
}

enum dtx_code dtx_book_stream_start(struct dtx_book_stream *s,
                                    const struct dtx_sheet_layout *layout, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_book *book = layout->book;

	if (s->layout)
		dtx_book_stream_clear(s);
	s->layout = layout;
	s->more = true;
	if (dtx_book_stream_taped(layout)) {
		s->nlive = layout->nlive;
		s->nhidden = layout->dropped[DTX_DROP_HIDDEN] - layout->tail->nhidden;
		goto out;
	}
	DTX_TRY(book->cls->rows->open(book, layout->sheet, &s->facts, &s->rows, err));
out:
	return rc;
}

static enum dtx_code take_window(struct dtx_book_stream *s, struct dtx_book_window **out,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_book_window *w = s->spare;

	if (w) {
		s->spare = w->next;
	} else {
		w = dtx_mem_zalloc(1, sizeof(*w));
		if (!w)
			DTX_FAIL_MEM(err);
		dtx_grid_init(&w->grid, s->layout->grid->label);
		w->grid.limits = s->layout->grid->limits;
		w->grid.home = s->layout->grid;
	}
	dtx_grid_reset(&w->grid);
	w->nlive = 0;
	*out = w;
out:
	return rc;
}

void dtx_book_stream_give(struct dtx_book_stream *s, struct dtx_book_window *w)
{
	if (!w)
		return;
	w->next = s->spare;
	s->spare = w;
}

/* Finds the rows below the header and within the range that will be handed over. */
static enum dtx_code find_live(struct dtx_book_stream *s, struct dtx_book_window *w,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_sheet_layout *l = s->layout;
	const struct dtx_grid *g = &w->grid;
	uint32_t below = (uint32_t)l->head.first + l->head.rows;
	bool taped = dtx_book_stream_taped(l); /* the cache contains only rows with data */
	size_t r;

	if (!dtx_mem_reserve(&w->live, &w->live_cap, g->nrows + 1, sizeof(*w->live)))
		DTX_FAIL_MEM(err);
	for (r = 0; r < g->nrows; r++) {
		uint32_t row = g->row[r].row;

		if (row < below || row > l->window.row1 ||
		    (!taped && !dtx_sheet_row_filled(l, g, r)))
			continue;
		if (g->row[r].hidden && l->opts->hidden_drop) {
			s->nhidden++;
			continue;
		}
		w->live[w->nlive++] = (uint32_t)r;
		s->last = row;
	}
	s->more &= !g->nrows || g->row[g->nrows - 1].row < l->window.row1;
	s->nlive += w->nlive;
out:
	return rc;
}

static enum dtx_code fill_window(struct dtx_book_stream *s, struct dtx_book_window *w,
                                 uint32_t rows, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_grid *g = &w->grid;
	const struct dtx_sheet_layout *l = s->layout;

	if (dtx_book_stream_taped(l)) {
		w->block = s->at.block;
		DTX_TRY(dtx_row_cache_rows(&l->tail->row_cache, &s->at, g, rows, err));
		s->more = s->at.block < l->tail->row_cache.bytes.len;
		goto out;
	}
	DTX_TRY(l->book->cls->rows->next(s->rows, g, DTX_BOOK_STREAM_CELLS, rows, &s->more, err));
	g->nmerges = 0;
	DTX_TRY(dtx_grid_finish(g, err));
	DTX_TRY(dtx_sheet_bad_texts(l, g, err));
out:
	return rc;
}

enum dtx_code dtx_book_stream_next(struct dtx_book_stream *s, uint32_t max_rows,
                                   struct dtx_book_window **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_book_window *w = NULL;

	*out = NULL;
	while (s->more && !*out) {
		DTX_TRY(take_window(s, &w, err));
		DTX_TRY(fill_window(s, w, max_rows, err));
		DTX_TRY(find_live(s, w, err));
		if (w->nlive)
			*out = w;
		else
			dtx_book_stream_give(s, w);
		w = NULL;
	}
out:
	window_free(w);
	if (rc != DTX_OK || !s->more)
		close_rows(s);
	return rc;
}
