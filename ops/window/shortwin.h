/* Short forms of window: ops whose parameters are translated to the formulas of a window step.
 *
 * A user has not written these formulas, so errors must not point to them.  The op therefore binds
 * its columns first, at the parameters in which they were written. */
#ifndef DTX_OPS_WINDOW_SHORTWIN_H
#define DTX_OPS_WINDOW_SHORTWIN_H

#include "ops/window/derive.h"

/* The table rows of the parameters `by` and `order`, members of the args struct S. */
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
	struct dtx_buf text; /* scratch: the formula that is being made */
};
/* Makes room for n formulas.  Everything except `text` is in the bind's arena. */
DTX_MUSTUSE enum dtx_code dtx_shortwin_open(struct dtx_shortwin *w, struct dtx_bind *b,
                                            const struct dtx_cols *by,
                                            const struct dtx_plist *order, uint32_t n,
                                            struct dtx_err *err);
/* Sets column `as` by the formula in w->text, in place of a column of that name. */
DTX_MUSTUSE enum dtx_code dtx_shortwin_set(struct dtx_shortwin *w, const char *as,
                                           struct dtx_err *err);
/* Adds column `as` with the formula in w->text.  Reports name_collision at pointer `sub` if the
 * table has such a column. */
DTX_MUSTUSE enum dtx_code dtx_shortwin_add(struct dtx_shortwin *w, const char *as, const char *sub,
                                           struct dtx_err *err);
/* Adds a column that only later formulas and the op itself see.  `as` is a free name; NULL: out of
 * memory. */
DTX_MUSTUSE enum dtx_code dtx_shortwin_hide(struct dtx_shortwin *w, const char *as,
                                            struct dtx_err *err);
/* `base`, or a name like it, that no column of the table has; in the bind's arena, NULL: out of
 * memory. */
const char *dtx_shortwin_free_name(struct dtx_shortwin *w, const char *base);
/* Binds the window step.  `at` is the parameter that its formulas come from. */
DTX_MUSTUSE enum dtx_code dtx_shortwin_bind(struct dtx_shortwin *w, const char *at,
                                            struct dtx_err *err);
void dtx_shortwin_close(struct dtx_shortwin *w);

/* Writes a formula with the column, as a float, in place of each @. */
void dtx_short_floats(struct dtx_buf *out, const char *formula, const struct dtx_field *column);
/* " within k, by order of t". */
void dtx_short_explain(const struct dtx_cols *by, const struct dtx_plist *order,
                       struct dtx_buf *out);

extern const struct dtx_map dtx_short_map;

/* cumulative and rolling: for each column of `cols` the formula "FNPREFIX_fn(col, MORE)", as a
 * column named col + suffix. */
struct dtx_short_cols {
	const struct dtx_cols *cols, *by;
	const struct dtx_plist *order;
	const char *fn, *more, *suffix;
	bool numbers; /* the columns must have numbers */
};
DTX_MUSTUSE enum dtx_code dtx_short_cols_bind(struct dtx_bind *b, const struct dtx_short_cols *s,
                                              struct dtx_err *err);

#endif
