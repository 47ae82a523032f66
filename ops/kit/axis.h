/* One of the columns that `complete` completes: its values, and the steps between them, in
 * order. */
#ifndef DTX_OPS_KIT_AXIS_H
#define DTX_OPS_KIT_AXIS_H

#include "ops/group/table/groupkeys.h"
#include "ops/kit/relayout.h"
#include "ops/group/table/tablekeys.h"

struct dtx_axis {
	int32_t col;
	struct dtx_groupkeys key;
	const json_t *step; /* NULL: only existing values */
	enum dtx_type type;
};
struct dtx_axis_values {
	struct dtx_tablekeys keys;
	struct dtx_from *cell; /* for each value */
	uint32_t *group;       /* its group; DTX_NOWHERE: no row has the value */
	size_t n, cap, cap_group;
};

/* The values of an axis in ascending order, null last.  With a step it also has the values that no
 * row has, with new cells.  v must be empty before; clear it after success and failure.  Codes:
 * row_limit for more than 10,000,000 values, no_memory. */
enum dtx_code dtx_axis_values(struct dtx_relayout *m, const struct dtx_axis *x,
                              struct dtx_axis_values *v, struct dtx_err *err);
void dtx_axis_values_clear(struct dtx_axis_values *v);

#endif
