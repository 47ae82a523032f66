/* Finds the header of a table and its column names, for sheets and text files. */
#ifndef DTX_IO_HEADER_HEADER_H
#define DTX_IO_HEADER_HEADER_H

#include "core/base/memory/arena.h"
#include "core/base/err.h"
#include "core/base/text/str.h"
#include "core/io/reader.h"

enum { DTX_HEAD_ROWS_MAX = 8, DTX_HEAD_START_ROWS = 64, DTX_HEAD_SAMPLE_ROWS = 1000 };

enum dtx_head_kind {
	DTX_HEAD_BLANK,
	DTX_HEAD_TEXT, /* decided by its text */
	DTX_HEAD_YEAR, /* a typed year or date, which may be a name next to a text */
	DTX_HEAD_VALUE /* a typed number, bool or error */
};
struct dtx_head_cell {
	enum dtx_head_kind kind;
	struct dtx_str text; /* as shown; for cells in a merged range, that of its first cell */
	bool covered;        /* in a merged range but not its first cell, whose kind it has */
	bool covered_left;   /* the range began in another column */
	bool wide;           /* the range is a title: the cell counts as blank */
};
/* The rows in which to search for a header. Rows are numbered from 0 by the caller. */
struct dtx_head_grid {
	uint64_t first, nrows;
	uint32_t ncols;
	bool text_file;
	/* Fills cell[0..ncols) and, for text files, *width with the number of fields in the row.
	 * Texts are valid until the call after the next one. */
	enum dtx_code (*row)(void *arg, uint64_t row, struct dtx_head_cell *cell, uint32_t *width,
	                     struct dtx_err *err);
	void *arg;
	/* Writes the place of a cell for messages: "A1", "L1, field 2". */
	void (*name)(void *arg, uint64_t row, uint32_t col, char out[48]);
};
struct dtx_head {
	uint64_t first; /* first row of the header */
	uint32_t rows;  /* 0 to 8 */
	bool assumed;   /* there is only text below, so note header_assumed */
	bool parts;  /* each row has some of the names, so a blank cell does not take the name from
	              * its left */
	bool loses;  /* and it would leave out more rows than are kept */
	bool hinted; /* with header_not_found: the row `first` differs in kind from those below */
};

/* Finds the header. Codes: header_not_found, which names the cell that looks like data; `hinted` is
 * set if the row could still be declared as header. */
DTX_MUSTUSE enum dtx_code dtx_head_find(const struct dtx_head_grid *g, struct dtx_head *out,
                                        struct dtx_err *err);
/* Makes the names of all columns, in the arena: the parts are trimmed, blanks inside are reduced to
 * one, and parts are joined with `sep`. A column without a name is "column_N". Repeated names get
 * _2, _3 and a warning in diags; with unique_error the code is ambiguous_column. fill AUTO is
 * `merged` for sheets and `right` for text files. */
DTX_MUSTUSE enum dtx_code dtx_head_names(const struct dtx_head_grid *g, const struct dtx_head *head,
                                         const char *sep, enum dtx_header_fill fill,
                                         bool unique_error, struct dtx_arena *arena,
                                         struct dtx_errlist *diags, const char ***names,
                                         struct dtx_err *err);
/* Decides whether the text of a cell is a value: a bool, number, date, something similar to a
 * number, or a word for "missing". Years 1900 to 2099 and ISO dates give DTX_HEAD_YEAR, other
 * values VALUE, the rest TEXT. */
enum dtx_head_kind dtx_head_judge(struct dtx_str text);
/* The same for a cell with a type. Blank if it is covered by a merged title. */
enum dtx_head_kind dtx_head_cell_kind(const struct dtx_head_cell *c);
/* Whether this is a bool, or a word or mark for a missing value. */
bool dtx_head_is_missing_word(struct dtx_str text);
/* Whether this is a date as people write it: "31.12.2024", "1/2/24". */
bool dtx_head_is_local_date(struct dtx_str text);
/* Whether the row looks like a header: at least one cell is filled, and each filled one is short
 * and not a value. Years need a text next to them. *bad (may be NULL): the first column that does
 * not fit; -1: none. */
bool dtx_head_like(const struct dtx_head_cell *cell, uint32_t ncols, int64_t *bad);

#endif
