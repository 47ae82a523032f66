/* Parts of parsed formulas, for code that explains results (why, why-not, explain). */
#ifndef DTX_EXPR_PARSE_FORMULA_PARTS_H
#define DTX_EXPR_PARSE_FORMULA_PARTS_H

#include "core/expr/expr.h"

/* The parts of "a and b and c", at most `most` (at least 1).  If there are more, some stay
 * together.  Returns their number. */
size_t dtx_expr_conjuncts(const struct dtx_expr *e, const struct dtx_expr **part, size_t most);

/* The rows that window calls and aggregates of a formula read, as distances from the current row in
 * the order of its group.  INT64_MIN and INT64_MAX mean the ends of the group. */
struct dtx_expr_reach {
	int64_t lo, hi;
	unsigned calls; /* number of such calls; 0: it reads only its own row */
	bool loose;     /* perhaps not all rows in this range count */
	bool own;       /* the formula is not just one call, so its own row counts too */
};
#define DTX_EXPR_REACH_INIT                                                                        \
	{                                                                                          \
		INT64_MAX, INT64_MIN, 0, false, false                                              \
	}
/* Widens *reach by that of e, except for `own`, which the caller sets.  ordered: the window has an
 * order.  frame: the frame of its aggregates; NULL: the usual one. */
void dtx_expr_reach(const struct dtx_expr *e, bool ordered, const int64_t frame[2],
                    struct dtx_expr_reach *reach);
/* The rows of a group that the aggregates of e take.  False: all rows; else those for which the
 * condition that was appended to `out` holds.  *loose is set if a column was read for fewer rows
 * than these. */
bool dtx_expr_some(const struct dtx_expr *e, struct dtx_buf *out, bool *loose);
/* If e is an aggregate call with one argument: its name, the argument and the condition on rows
 * (NULL: none).  False: it is not. */
bool dtx_expr_one_aggregate(const struct dtx_expr *e, const char **name, const struct dtx_expr **of,
                            const struct dtx_expr **where);
/* The name of the call if the whole formula is one call, else NULL. */
const char *dtx_expr_is_call(const struct dtx_expr *e);
/* A literal from a value as it is printed in a table: a number if `number` is set, else a text;
 * text NULL: null.  NULL: out of memory. */
struct dtx_expr *dtx_expr_literal(struct dtx_arena *a, const char *text, bool number);

#endif
