/* Short forms of window: an op whose parameters are turned into the formulas of a window step.
 *
 * The formulas are made, so that nobody may be sent to them: columns are bound by the op first, at
 * the parameters they were written in. */
#ifndef DTX_OPS_WINDOW_SHORTWIN_H
#define DTX_OPS_WINDOW_SHORTWIN_H

#include "ops/window/derive.h"

/* Parameter rows of by and order, members of the args struct S. */
#define DTX_SHORT_BY(S)                                                                            \
	{                                                                                          \
		.name = "by", .kind = DTX_P_COLUMNS, .offset = offsetof(S, by),                    \
		.aliases = "group_by,groupby,keys,partition_by",                                   \
		.help = "groups (default: the whole table)"                                        \
	}
#define DTX_SHORT_ORDER(S)                                                                         \
	{                                                                                          \
		.name = "order", .kind = DTX_P_LIST, .offset = offsetof(S, order),                 \
		.rows = dtx_order_rows, .nrows = DTX_ORDER_ROWS,                                   \
		.item_size = sizeof(struct dtx_order_item), .sugar = DTX_SUGAR_SORT,               \
		.aliases = "order_by,sort_by,sort",                                                \
		.help = "order within a group (default: the table's)"                              \
	}

struct dtx_shortwin {
	struct dtx_bind *b;
	struct dtx_derive_args *window;
	struct dtx_buf text; /* scratch of the formula that is being made */
};
/* Room for n formulas, all in the bind's arena but text. */
DTX_MUSTUSE enum dtx_code dtx_shortwin_open(struct dtx_shortwin *w, struct dtx_bind *b,
                                            const struct dtx_cols *by,
                                            const struct dtx_plist *order, uint32_t n,
                                            struct dtx_err *err);
/* Column `as` = the formula in w->text; name_collision at pointer `sub` when the table has it. */
DTX_MUSTUSE enum dtx_code dtx_shortwin_add(struct dtx_shortwin *w, const char *as, const char *sub,
                                           struct dtx_err *err);
/* The window step; `at` is the parameter its formulas come from. */
DTX_MUSTUSE enum dtx_code dtx_shortwin_bind(struct dtx_shortwin *w, const char *at,
                                            struct dtx_err *err);
void dtx_shortwin_close(struct dtx_shortwin *w);

/* A column's name as a formula has it. */
void dtx_short_column(struct dtx_buf *out, const char *name);
/* A scalar of the plan as a literal. */
void dtx_short_literal(struct dtx_buf *out, const json_t *value);
/* " within k, by order of t". */
void dtx_short_explain(const struct dtx_cols *by, const struct dtx_plist *order,
                       struct dtx_buf *out);

extern const struct dtx_map dtx_short_map;

/* cumulative and rolling: for each column of `cols`, "FNPREFIX_fn(col, MORE)" as col + suffix. */
struct dtx_short_cols {
	const struct dtx_cols *cols, *by;
	const struct dtx_plist *order;
	const char *fn, *more, *suffix;
	bool numbers; /* the columns have to hold numbers */
};
DTX_MUSTUSE enum dtx_code dtx_short_cols_bind(struct dtx_bind *b, const struct dtx_short_cols *s,
                                              struct dtx_err *err);

#endif
