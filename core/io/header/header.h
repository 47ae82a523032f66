/* Where the header of a table is, and the names it gives: for sheets and for text files. */
#ifndef DTX_IO_HEADER_HEADER_H
#define DTX_IO_HEADER_HEADER_H

#include "core/base/arena.h"
#include "core/base/err.h"
#include "core/base/text/str.h"
#include "core/io/reader.h"

enum { DTX_HEAD_ROWS_MAX = 8, DTX_HEAD_START_ROWS = 64, DTX_HEAD_SAMPLE_ROWS = 1000 };

enum dtx_head_kind {
	DTX_HEAD_BLANK,
	DTX_HEAD_TEXT, /* judged by its text */
	DTX_HEAD_YEAR, /* a typed year or date: passes beside a text */
	DTX_HEAD_VALUE /* a typed number, bool, error */
};
struct dtx_head_cell {
	enum dtx_head_kind kind;
	struct dtx_str text; /* as shown; of the anchor for cells that a merged range covers */
	bool covered;        /* inside a merged range but not its anchor; kind is the anchor's */
	bool covered_left;   /* ... that began in another column */
	bool wide;           /* ... that spans all used columns: counts as blank */
};
/* The rows in which a header is sought.  Row numbers are the caller's, from 0. */
struct dtx_head_grid {
	uint64_t first, nrows;
	uint32_t ncols;
	bool text_file;
	/* Fills cell[0..ncols) and, for text files, *width with the number of fields of the row.
	 * Texts stay valid until the call after the next one. */
	enum dtx_code (*row)(void *arg, uint64_t row, struct dtx_head_cell *cell, uint32_t *width,
	                     struct dtx_err *err);
	void *arg;
	/* The place of a cell for messages: "A1", "L1, field 2". */
	void (*name)(void *arg, uint64_t row, uint32_t col, char out[48]);
};
struct dtx_head {
	uint64_t first; /* first header row */
	uint32_t rows;  /* 0..8 */
	bool assumed;   /* only text below: note header_assumed */
	bool parts; /* each row has some of the names: a blank cell takes none of its left neighbour
	             */
	bool loses; /* ... and it would leave out more rows than stay */
	bool hinted; /* header_not_found, but the row `first` differs in kind from those below */
};

/* §6 of the ingest rules.  header_not_found names the cell that looks like data; `hinted` is set
 * when the row could be declared a header nevertheless. */
DTX_MUSTUSE enum dtx_code dtx_head_find(const struct dtx_head_grid *g, struct dtx_head *out,
                                        struct dtx_err *err);
/* Names of all columns, in the arena: parts trimmed, squeezed, joined with sep; "column_N" where
 * there is none; repeats get _2, _3 (a warning in diags) or, with unique_error, ambiguous_column.
 * fill AUTO is merged for sheets, right for text files. */
DTX_MUSTUSE enum dtx_code dtx_head_names(const struct dtx_head_grid *g, const struct dtx_head *head,
                                         const char *sep, enum dtx_header_fill fill,
                                         bool unique_error, struct dtx_arena *arena,
                                         struct dtx_errlist *diags, const char ***names,
                                         struct dtx_err *err);
/* Whether a text cell reads as a value: bool, number, date, number-like, a word for "missing".
 * Years 1900-2099 and ISO dates give DTX_HEAD_YEAR, other values VALUE, the rest TEXT. */
enum dtx_head_kind dtx_head_judge(struct dtx_str text);
/* The same of a cell with a type; blank where a range spans all used columns. */
enum dtx_head_kind dtx_head_cell_kind(const struct dtx_head_cell *c);
/* A bool or a word or mark that stands for a value that is missing. */
bool dtx_head_is_missing_word(struct dtx_str text);
/* "31.12.2024", "1/2/24": a date as people write it. */
bool dtx_head_is_local_date(struct dtx_str text);
/* Header-like: something is filled, every filled cell is short and no value; years need a text
 * beside them. *bad (may be NULL): the first column that speaks against it, -1 if none does. */
bool dtx_head_like(const struct dtx_head_cell *cell, uint32_t ncols, int64_t *bad);

#endif
