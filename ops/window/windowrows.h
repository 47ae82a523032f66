/* The rows of a table by partition and in order, for window calls. */
#ifndef DTX_OPS_WINDOW_WINDOWROWS_H
#define DTX_OPS_WINDOW_WINDOWROWS_H

#include "core/expr/window/window.h"
#include "ops/group/table/groupkeys.h"
#include "ops/sort/orderkeys.h"

struct dtx_windowrows {
	struct dtx_winrows rows;
	uint32_t *order, *start, *peer;
	bool *unranked;
};
#define DTX_WINDOWROWS_INIT                                                                        \
	{                                                                                          \
		.order = NULL                                                                      \
	}
/* Makes the partitions by the group keys (no keys: one partition) in order of first appearance, and
 * sorts the rows of each by the sort keys; ties stay in table order.  Batches must be dense. */
DTX_MUSTUSE enum dtx_code dtx_windowrows_make(struct dtx_windowrows *w, const struct dtx_opctx *ox,
                                              const struct dtx_groupkeys *by,
                                              const struct dtx_orderkeys *order,
                                              struct dtx_table *t, struct dtx_err *err);
void dtx_windowrows_clear(struct dtx_windowrows *w);

#endif
