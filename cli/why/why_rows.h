/* The rows of an input that the answer of `why` names, and the addresses of their cells.
 *
 * There may be millions of rows, so they are kept as spans: rows of a batch with consecutive
 * ids. */
#ifndef DTX_CLI_WHY_WHY_ROWS_H
#define DTX_CLI_WHY_WHY_ROWS_H

#include "cli/why/why.h"

/* Consecutive rows of a batch, with consecutive ids. */
struct dtx_why_span {
	uint64_t id; /* id that the reader gave the first row; ids grow with the rows */
	const struct dtx_batch *batch;
	uint32_t at, n;  /* first row in the batch and number of rows */
	uint32_t output; /* index among the outputs of the traced plan */
};
struct dtx_why_rows {
	struct dtx_why_span *span; /* sorted, each row in one span only */
	size_t nspans, cap;
	size_t n;     /* number of rows */
	bool lines;   /* from a text file, in which each record has at least one line, so lines grow
	               * with rows */
	bool of_many; /* the input is one of many files in a table, so it may have no rows while
	               * others do */
};

/* Which outputs have the rows whose cells of this column are in the value, a bit each. 0: these
 * rows cannot be distinguished from those that only decided that the result row exists. */
uint64_t dtx_why_rows_of(struct dtx_why *w, const char *alias, const char *column);
/* Which outputs have rows of the input, a bit each. */
uint64_t dtx_why_rows_outputs(struct dtx_why *w, const char *alias);
/* Collects the rows of an input from these outputs; UINT64_MAX: from all. Valid while the traced
 * result is. Clear `out` also after a failure. Codes: no_memory. */
DTX_MUSTUSE enum dtx_code dtx_why_rows(struct dtx_why *w, uint64_t outputs, const char *alias,
                                       struct dtx_why_rows *out, struct dtx_err *err);
void dtx_why_rows_clear(struct dtx_why_rows *rows);
/* Frees what was kept to find the rows of one of many files. */
void dtx_why_rows_forget(struct dtx_why *w);
/* The index of the input with that name; UINT32_MAX if none. */
uint32_t dtx_why_rows_input(struct dtx_why *w, const char *alias);
/* [{"cell","value"}]; a new reference, NULL: out of memory. */
json_t *dtx_why_rows_json(struct dtx_why *w, const struct dtx_why_rows *rows, const char *column,
                          bool values);
/* [{"cell"}], with the address of the first column, as far as it is known, for each row; a new
 * reference, NULL: out of memory. */
json_t *dtx_why_rows_places(const struct dtx_why *w, const struct dtx_why_rows *rows);
/* Appends "C5, C9, C12:C14, ..." with at most `most` addresses. */
void dtx_why_rows_ranges(struct dtx_why *w, const struct dtx_why_rows *rows, const char *column,
                         size_t most, struct dtx_buf *out);

#endif
