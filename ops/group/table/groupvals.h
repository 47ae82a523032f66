/* The numbers of a column by group, sorted: the input of scaling, outlier detection, binning and
 * summaries. */
#ifndef DTX_OPS_GROUP_TABLE_GROUPVALS_H
#define DTX_OPS_GROUP_TABLE_GROUPVALS_H

#include "ops/group/table/tablekeys.h"

struct dtx_groupvals {
	double *v;      /* the values that are not null, ascending within their group */
	int64_t *start; /* values of group g: v[start[g] .. start[g + 1]) */
	uint32_t n;     /* number of groups */
};
#define DTX_GROUPVALS_INIT                                                                         \
	{                                                                                          \
		.v = NULL                                                                          \
	}
/* Collects the values of a number column of a dense table. */
DTX_MUSTUSE enum dtx_code dtx_groupvals_open(struct dtx_groupvals *g, struct dtx_table *t,
                                             int32_t col, const struct dtx_tablekeys *keys,
                                             struct dtx_err *err);
void dtx_groupvals_close(struct dtx_groupvals *g);
/* Column col of a batch as FLAT floats.  The caller owns a reference. */
DTX_MUSTUSE enum dtx_code dtx_batch_floats(struct dtx_batch *b, int32_t col,
                                           struct dtx_column **out, struct dtx_err *err);
/* Quantile q of n ascending values (type 7); NaN if none. */
double dtx_quantile(const double *v, int64_t n, double q);

#endif
