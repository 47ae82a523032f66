/* The rows of a large sheet for the second time, in windows of rows: from the row cache of the
 * first reading, or by parsing the sheet again. */
#ifndef DTX_IO_SHEET_BOOK_STREAM_H
#define DTX_IO_SHEET_BOOK_STREAM_H

#include "core/io/sheet/sheet_layout.h"

/* Cells in a window. Several windows are in use at a time, and each is processed repeatedly: as
 * cells, columns, a frame, printed texts, rows. With this size, everything stays in the
 * second-level cache of a core. */
enum { DTX_BOOK_STREAM_CELLS = 24 << 10 };

struct dtx_book_window {
	struct dtx_book_window *next; /* in the list of unused windows */
	struct dtx_grid grid;         /* has no cells if its rows are in the row cache */
	size_t block;                 /* where the cells are then */
	uint32_t *live;               /* indexes of its rows with data; dtx_mem */
	size_t live_cap;
	uint32_t nlive;
};
struct dtx_book_stream {
	const struct dtx_sheet_layout *layout; /* one with a tail */
	struct dtx_sheet_rows *rows;
	struct dtx_sheet_facts facts; /* counted again, but not used */
	struct dtx_book_window *spare;
	struct dtx_row_cache_at at; /* in the row cache */
	bool more;
	uint32_t nlive;  /* handed over so far */
	int64_t nhidden; /* dropped so far */
	uint32_t last;   /* physical row of the last one handed over */
};

/* Whether the rows come from the row cache; those of the grid are then not included. */
static inline bool dtx_book_stream_taped(const struct dtx_sheet_layout *l)
{
	return l->tail && !l->tail->row_cache.full;
}
/* Goes to the first row. `stream` must be zeroed, or have been used before. The layout is
 * borrowed. */
DTX_MUSTUSE enum dtx_code dtx_book_stream_start(struct dtx_book_stream *s,
                                                const struct dtx_sheet_layout *layout,
                                                struct dtx_err *err);
/* Gets the next window with at most max_rows rows, some of them live; NULL at the end. One
 * thread at a time; a failure ends the stream. */
DTX_MUSTUSE enum dtx_code dtx_book_stream_next(struct dtx_book_stream *s, uint32_t max_rows,
                                               struct dtx_book_window **out, struct dtx_err *err);
/* Returns a window; one thread at a time, as above. */
void dtx_book_stream_give(struct dtx_book_stream *s, struct dtx_book_window *w);
void dtx_book_stream_clear(struct dtx_book_stream *s);

#endif
