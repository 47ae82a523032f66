/* Looks into parsed formulas, for those who explain what they did. */
#ifndef DTX_EXPR_PARSE_FORMULA_PARTS_H
#define DTX_EXPR_PARSE_FORMULA_PARTS_H

#include "core/expr/expr.h"

/* "a and b and c": its parts, at most `most` (1 or more); where they are more some stay together.
 */
size_t dtx_expr_conjuncts(const struct dtx_expr *e, const struct dtx_expr **part, size_t most);

/* Rows that window calls and aggregates of a formula look at, as distances from the row in its
 * group's order; INT64_MIN and INT64_MAX: to the group's ends. */
struct dtx_expr_reach {
	int64_t lo, hi;
	unsigned calls; /* how many there are; 0: it looks at its own row alone */
	bool loose;     /* fewer rows than these may count */
	bool own;       /* the formula is no call by itself: its own row counts as well */
};
#define DTX_EXPR_REACH_INIT                                                                        \
	{                                                                                          \
		INT64_MAX, INT64_MIN, 0, false, false                                              \
	}
/* Widens *reach by that of e, but for `own`, which is the caller's.  ordered: the window has an
 * order; frame: of its aggregates, NULL: as is usual. */
void dtx_expr_reach(const struct dtx_expr *e, bool ordered, const int64_t frame[2],
                    struct dtx_expr_reach *reach);
/* The rows of a group that aggregates of e take: false: all; else those for which the condition
 * appended to `out` holds.  *loose is set where a column was read of fewer rows than these. */
bool dtx_expr_some(const struct dtx_expr *e, struct dtx_buf *out, bool *loose);
/* An aggregate of one argument: its name, that and the condition on rows (NULL: none); false: e is
 * no such call. */
bool dtx_expr_one_aggregate(const struct dtx_expr *e, const char **name, const struct dtx_expr **of,
                            const struct dtx_expr **where);
/* The whole formula is one call; its name, else NULL. */
const char *dtx_expr_is_call(const struct dtx_expr *e);
/* A value as it is printed in a table, as a literal: a number where `number`, else a text; NULL
 * text: null.  NULL: out of memory. */
struct dtx_expr *dtx_expr_literal(struct dtx_arena *a, const char *text, bool number);

#endif
