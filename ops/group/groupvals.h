/* Numbers of a column by group, in order: what scaling, outliers, bins and summaries look at. */
#ifndef DTX_OPS_GROUP_GROUPVALS_H
#define DTX_OPS_GROUP_GROUPVALS_H

#include "ops/group/tablekeys.h"

struct dtx_groupvals {
	double *v;      /* values that are not null, ascending within their group */
	int64_t *start; /* group g is v[start[g] .. start[g + 1]) */
	uint32_t n;     /* groups */
};
#define DTX_GROUPVALS_INIT                                                                         \
	{                                                                                          \
		.v = NULL                                                                          \
	}
/* A number column of a dense table. */
DTX_MUSTUSE enum dtx_code dtx_groupvals_open(struct dtx_groupvals *g, struct dtx_table *t,
                                             int32_t col, const struct dtx_tablekeys *keys,
                                             struct dtx_err *err);
void dtx_groupvals_close(struct dtx_groupvals *g);
/* Column col of a batch as FLAT floats; the caller owns a reference. */
DTX_MUSTUSE enum dtx_code dtx_batch_floats(struct dtx_batch *b, int32_t col,
                                           struct dtx_column **out, struct dtx_err *err);

/* What one group's values say; NaN stands for null (nothing to say). */
struct dtx_summary {
	int64_t n;
	double sum, mean, sd, min, q1, median, q3, max;
};
DTX_MUSTUSE enum dtx_code dtx_groupvals_summary(const struct dtx_groupvals *g, uint32_t group,
                                                struct dtx_summary *out, struct dtx_err *err);
/* Quantile q of n ascending values, type 7; NaN of none. */
double dtx_quantile(const double *v, int64_t n, double q);

/* Finding type_mismatch at pointer sub for a column that holds no numbers. */
DTX_MUSTUSE enum dtx_code dtx_bind_number(struct dtx_bind *b, int32_t col, const char *sub,
                                          struct dtx_err *err);

#endif
