/* Rows of an input that went into the answer of `why`, and how their cells are told. */
#ifndef DTX_CLI_WHY_WHY_ROWS_H
#define DTX_CLI_WHY_WHY_ROWS_H

#include "cli/why/why.h"

/* Rows of a batch with ids in a row. */
struct dtx_why_span {
	uint64_t id; /* the reader's own, in order of rows */
	const struct dtx_batch *batch;
	uint32_t at, n;  /* rows of the batch */
	uint32_t output; /* of the traced plan */
};
struct dtx_why_rows {
	struct dtx_why_span *span; /* in order, each row once */
	size_t nspans, cap;
	size_t n;     /* rows */
	bool lines;   /* of a text file with one record a line or more: places grow with rows */
	bool of_many; /* of one of many files: where it has none, others do */
};

/* Bits of the outputs that have the rows whose cells of this column are in the value; 0: they
 * cannot be told from those that only decided that the row is there. */
uint64_t dtx_why_rows_of(const struct dtx_why *w, const char *alias, const char *column);
/* Bits of the outputs that have rows of the input. */
uint64_t dtx_why_rows_outputs(const struct dtx_why *w, const char *alias);
/* Of these outputs; ~0: of all.  Valid while the traced result is. */
DTX_MUSTUSE enum dtx_code dtx_why_rows(const struct dtx_why *w, uint64_t outputs, const char *alias,
                                       struct dtx_why_rows *out, struct dtx_err *err);
void dtx_why_rows_clear(struct dtx_why_rows *rows);
/* The input of that name; UINT32_MAX: none. */
uint32_t dtx_why_rows_input(const struct dtx_why *w, const char *alias);
/* Adds a span; false: out of memory.  dtx_why_rows_order then puts them in order, each row once,
 * and counts them. */
DTX_MUSTUSE bool dtx_why_rows_push(struct dtx_why_rows *rows, struct dtx_why_span one);
DTX_MUSTUSE enum dtx_code dtx_why_rows_order(struct dtx_why_rows *rows, struct dtx_err *err);
/* [{"cell","value"}]; new reference, NULL: out of memory. */
json_t *dtx_why_rows_json(struct dtx_why *w, const struct dtx_why_rows *rows, const char *column,
                          bool values);
/* [{"cell"}], each row by the first of its columns that is known; new reference, NULL: out of
 * memory.
 */
json_t *dtx_why_rows_places(const struct dtx_why *w, const struct dtx_why_rows *rows);
/* "C5, C9, C12:C14, ...": at most `most` addresses. */
void dtx_why_rows_ranges(struct dtx_why *w, const struct dtx_why_rows *rows, const char *column,
                         size_t most, struct dtx_buf *out);

#endif
