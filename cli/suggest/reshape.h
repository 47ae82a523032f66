/* Inside the search by example: what makers of steps share. */
#ifndef DTX_CLI_SUGGEST_RESHAPE_H
#define DTX_CLI_SUGGEST_RESHAPE_H

#include "cli/suggest/byexample.h"

#define DTX_RESHAPE_COLS 256

struct dtx_reshape {
	const struct dtx_textgrid *have, *want;
	bool second; /* behind another step: the first rows are a piece of the result, no choice */
	json_t *out;
	size_t max;
	/* names of columns that are wanted no more, still, and newly */
	const char *gone[DTX_RESHAPE_COLS], *both[DTX_RESHAPE_COLS], *fresh[DTX_RESHAPE_COLS];
	size_t ngone, nboth, nfresh;
	uint32_t both_at[DTX_RESHAPE_COLS][2]; /* in have, in want */
	/* per row of `want` the row of `have` that agrees in the columns of both; -1: none.  NULL:
	 * there are no such columns, or memory is out */
	int64_t *from;
	bool aligned; /* every wanted row has one of its own */
	bool failed;
	int64_t looked; /* cells, for aggregates: the search ends with them */
};

/* Takes the step. */
void dtx_reshape_add(struct dtx_reshape *s, json_t *step);
/* Names as a new list. */
json_t *dtx_reshape_list(const char *const *name, size_t n);
/* A name as formulas want it. */
void dtx_reshape_name(struct dtx_buf *out, const char *name);
/* Makers: filter, top, distinct; derive, fill_null; group_by; split, merge, blocks and records. */
void dtx_reshape_rows(struct dtx_reshape *s);
void dtx_reshape_formulas(struct dtx_reshape *s);
void dtx_reshape_groups(struct dtx_reshape *s);
void dtx_reshape_texts(struct dtx_reshape *s);

#endif
