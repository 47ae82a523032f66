/* Window calls: a value per row that is computed from the rows of its partition.
 *
 * A bound window call, or an aggregate that is used as one, is a dtx_aggcall as in group_by.  The
 * formula around it reads its result as a column that follows the columns of the table.  The whole
 * table is in memory, so results are exact and do not depend on threads or batches. */
#ifndef DTX_EXPR_WINDOW_WINDOW_H
#define DTX_EXPR_WINDOW_WINDOW_H

#include "core/base/param/param.h"
#include "core/expr/expr.h"

#define DTX_WINDOW_ROWS_MAX (UINT32_MAX - 2)

/* The rows of a table by partition, each partition in its order.  A place is a position in that
 * arrangement; rows are numbered over the whole table. */
struct dtx_winrows {
	uint32_t n, nparts;
	const uint32_t *order;   /* the row at each place */
	const uint32_t *start;   /* the first place of partition p; start[nparts] == n */
	const uint32_t *peer;    /* for each place the first place with equal order keys; NULL: no
	                          * order */
	const bool *unranked;    /* for each row: its first order key is null; NULL: no order */
	const uint32_t *lo, *hi; /* for each place its frame, if the frame is by range; NULL */
	unsigned workers;        /* number of workers that may share the partitions; 0 or 1: none */
};

/* Whether a frame has a meaning for the call. */
bool dtx_window_framed(const struct dtx_aggcall *c);
/* The values of a call for all rows of the table, as a FLAT column.  The batches of the table must
 * be dense and have the columns that the call was bound to.  Errors name their row. */
DTX_MUSTUSE enum dtx_code dtx_window_eval(const struct dtx_aggcall *c,
                                          const struct dtx_winrows *rows,
                                          const struct dtx_row_frame *frame, struct dtx_table *t,
                                          struct dtx_eval_counts *counts, struct dtx_column **out,
                                          struct dtx_err *err);

#endif
