/* One of the columns that `complete` completes: its values and the steps between them, in order. */
#ifndef DTX_OPS_KIT_AXIS_H
#define DTX_OPS_KIT_AXIS_H

#include "ops/group/groupkeys.h"
#include "ops/kit/relayout.h"
#include "ops/group/tablekeys.h"

struct dtx_axis {
	int32_t col;
	struct dtx_groupkeys key;
	const json_t *step; /* NULL: the values that are there */
	enum dtx_type type;
};
struct dtx_axis_values {
	struct dtx_tablekeys keys;
	struct dtx_from *cell; /* per value */
	uint32_t *group;       /* its group, DTX_NOWHERE: no row has it */
	size_t n, cap, cap_group;
};

/* The values of an axis, ascending, null last; with a step also those that no row has, their cells
 * made.  v is empty before; clear it whatever the answer.  Errors: row_limit beyond 10,000,000
 * values, those of memory. */
enum dtx_code dtx_axis_values(struct dtx_relayout *m, const struct dtx_axis *x,
                              struct dtx_axis_values *v, struct dtx_err *err);
void dtx_axis_values_clear(struct dtx_axis_values *v);

#endif
