/* The rows of a large sheet once more, a window of rows after the other: from the tape of the first
 * reading, or by reading the sheet again. */
#ifndef DTX_IO_SHEET_BOOK_STREAM_H
#define DTX_IO_SHEET_BOOK_STREAM_H

#include "core/io/sheet/sheet_layout.h"

/* Cells of a window: several are on their way at a time, and each is gone through again and again:
 * as cells, columns, a frame, printed texts, rows.  All that stays within a core's second cache. */
enum { DTX_BOOK_STREAM_CELLS = 24 << 10 };

struct dtx_book_window {
	struct dtx_book_window *next; /* in the list of spare ones */
	struct dtx_grid grid;         /* of rows on the tape it has no cells */
	size_t block;                 /* where those are */
	uint32_t *live;               /* indexes of its rows with data; dtx_mem */
	size_t live_cap;
	uint32_t nlive;
};
struct dtx_book_stream {
	const struct dtx_sheet_layout *layout; /* with a tail */
	struct dtx_sheet_rows *rows;
	struct dtx_sheet_facts facts; /* counted once more, not used */
	struct dtx_book_window *spare;
	struct dtx_row_cache_at at; /* on the tape */
	bool more;
	uint32_t nlive;  /* handed out so far */
	int64_t nhidden; /* dropped so far */
	uint32_t last;   /* physical row of the last one handed out */
};

/* Whether the rows come from the tape: those of the grid are not among them then. */
static inline bool dtx_book_stream_taped(const struct dtx_sheet_layout *l)
{
	return l->tail && !l->tail->tape.full;
}
/* Goes to the first row; `stream` is zeroed, or was in use.  The layout stays the caller's. */
DTX_MUSTUSE enum dtx_code dtx_book_stream_start(struct dtx_book_stream *s,
                                                const struct dtx_sheet_layout *layout,
                                                struct dtx_err *err);
/* The next window of at most max_rows rows, NULL at the end; it has live rows.  One thread at a
 * time; a failure ends the stream. */
DTX_MUSTUSE enum dtx_code dtx_book_stream_next(struct dtx_book_stream *s, uint32_t max_rows,
                                               struct dtx_book_window **out, struct dtx_err *err);
/* Takes a window back; one thread at a time, as above. */
void dtx_book_stream_give(struct dtx_book_stream *s, struct dtx_book_window *w);
void dtx_book_stream_clear(struct dtx_book_stream *s);

#endif
