/* The search by example: what the functions that propose steps share. They compare sets of values,
 * and whether a proposal is right is found out by running it. */
#ifndef DTX_CLI_SUGGEST_RESHAPE_H
#define DTX_CLI_SUGGEST_RESHAPE_H

#include "cli/suggest/example/byexample.h"
#include "cli/suggest/propose/features.h"

enum { DTX_RESHAPE_COLS = 1024, DTX_RESHAPE_LOOKS = 30000000 /* most cells to look at */ };

struct dtx_reshape {
	const struct dtx_textgrid *have, *want; /* folded */
	const struct dtx_textgrid *raw;         /* `have` before it was folded */
	/* after another step: then the first rows are a part of the result, not a selection */
	bool second;
	json_t *out; /* lists of steps */
	size_t max;
	/* the distinct values of each column that are not null */
	struct dtx_hashset *has, *wants;
	/* names of columns that are no longer wanted, still wanted, and new */
	const char *gone[DTX_RESHAPE_COLS], *both[DTX_RESHAPE_COLS], *fresh[DTX_RESHAPE_COLS];
	size_t ngone, nboth, nfresh;
	uint32_t both_at[DTX_RESHAPE_COLS][2]; /* index in have, and in want */
	/* For each row of `want`, the row of `have` that agrees in the common columns; -1: none.
	 * NULL: there are no such columns, or memory is out. */
	int64_t *from;
	bool aligned; /* every wanted row has its own */
	bool failed;
	int64_t looked; /* cells looked at; limits the search */
	struct dtx_arena arena;
};

/* Adds a proposed step, or a list of steps; takes it. */
void dtx_reshape_add(struct dtx_reshape *s, json_t *step);
/* Makes a list of names. */
json_t *dtx_reshape_list(const char *const *name, size_t n);
/* Writes a name as formulas need it. */
void dtx_reshape_name(struct dtx_buf *out, const char *name);
/* Writes a text as a pattern needs it. */
void dtx_reshape_escape(struct dtx_buf *out, struct dtx_str text);
/* Steps that leave out the rows whose first cell is nowhere in the example. An empty list: there
 * are no such rows, or not all of them are totals and notes, so that the example seems to be a part
 * of what is wanted. `raw` is `have` before it was folded. NULL: out of memory. */
json_t *dtx_reshape_unwanted(const struct dtx_textgrid *raw, const struct dtx_textgrid *have,
                             const struct dtx_textgrid *want);
/* Whether all values of a are also in b. */
bool dtx_reshape_subset(const struct dtx_hashset *a, const struct dtx_hashset *b);
/* Propose steps: pivot_longer; filter, distinct, section titles; derive, fill_null; group_by;
 * split, blocks and records. */
void dtx_reshape_unpivot(struct dtx_reshape *s);
void dtx_reshape_rows(struct dtx_reshape *s);
void dtx_reshape_titles(struct dtx_reshape *s);
void dtx_reshape_formulas(struct dtx_reshape *s);
void dtx_reshape_groups(struct dtx_reshape *s);
void dtx_reshape_texts(struct dtx_reshape *s);

#endif
