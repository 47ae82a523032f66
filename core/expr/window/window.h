/* Window calls: a value per row from the rows of its partition.
 *
 * A bound window call, or an aggregate where windows are allowed, is a dtx_aggcall like those of
 * group_by; the formula around it reads its result as a column behind the table's own.  The whole
 * table is there: results are exact and do not depend on threads or batches. */
#ifndef DTX_EXPR_WINDOW_WINDOW_H
#define DTX_EXPR_WINDOW_WINDOW_H

#include "core/base/param/param.h"
#include "core/expr/expr.h"

#define DTX_WINDOW_ROWS_MAX (UINT32_MAX - 2)

/* Rows of a table in partitions, each in its order.  Rows are numbered over the whole table. */
struct dtx_winrows {
	uint32_t n, nparts;
	const uint32_t *order;   /* row at each place */
	const uint32_t *start;   /* first place of partition p; start[nparts] == n */
	const uint32_t *peer;    /* per place the first place of equal order keys; NULL: no order */
	const bool *unranked;    /* per row: its first order key is null; NULL: no order */
	const uint32_t *lo, *hi; /* per place its frame, where one by range is set; NULL */
	unsigned workers;        /* that may share the partitions; 0, 1: none */
};

/* Whether a frame means something to the call. */
bool dtx_window_framed(const struct dtx_aggcall *c);
/* Values of a call for every row, a FLAT column over all rows of the table, whose batches are
 * dense and have the columns the call was bound to.  Errors are blamed on their row. */
DTX_MUSTUSE enum dtx_code dtx_window_eval(const struct dtx_aggcall *c,
                                          const struct dtx_winrows *rows,
                                          const struct dtx_row_frame *frame, struct dtx_table *t,
                                          struct dtx_eval_counts *counts, struct dtx_column **out,
                                          struct dtx_err *err);

#endif
