/* The sort keys of a step: columns or formulas, with their directions. */
#ifndef DTX_OPS_SORT_ORDERKEYS_H
#define DTX_OPS_SORT_ORDERKEYS_H

#include "core/data/key.h"
#include "ops/kit/opkit.h"

enum { DTX_NULLS_LAST, DTX_NULLS_FIRST };
struct dtx_order_item { /* as the user wrote it */
	const char *col;
	struct dtx_expr *expr;
	bool desc;
	int nulls, collate;
};
#define DTX_ORDER_ROWS 5
extern const struct dtx_param dtx_order_rows[DTX_ORDER_ROWS]; /* the members of an item */

struct dtx_orderkeys { /* after binding */
	uint32_t n;
	int32_t *col; /* input column; -1: `bound` */
	struct dtx_bound **bound;
	struct dtx_key_order *order;
};
/* Checks that each item has exactly one of col and expr.  The list is the parameter `at`,
 * "/order". */
DTX_MUSTUSE enum dtx_code dtx_orderkeys_check(const struct dtx_plist *items, const char *op,
                                              const char *at, struct dtx_err *err);
/* Binds the keys over input 0.  What they read decides about rows. */
DTX_MUSTUSE enum dtx_code dtx_orderkeys_bind(struct dtx_bind *b, const struct dtx_plist *items,
                                             const char *sub, struct dtx_orderkeys *k,
                                             struct dtx_err *err);
/* Evaluates the keys to key[0..k->n).  The caller releases them, also after a failure. */
DTX_MUSTUSE enum dtx_code dtx_orderkeys_eval(const struct dtx_opctx *ox,
                                             const struct dtx_orderkeys *k, struct dtx_batch *in,
                                             struct dtx_column **key, struct dtx_err *err);
/* Appends "a descending, b". */
void dtx_orderkeys_print(const struct dtx_plist *items, struct dtx_buf *out);
/* Appends the keys in SQL, as ORDER BY has them. keys, first: also all of them and the first,
 * without directions; NULL: not wanted. False: a key has no form. */
bool dtx_orderkeys_sql(const struct dtx_plist *items, const struct dtx_schema *in,
                       struct dtx_buf *order, struct dtx_buf *keys, struct dtx_buf *first);

#endif
