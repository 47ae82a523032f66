/* The times of a column of a complete table, for operations that work along a calendar. */
#ifndef DTX_OPS_KIT_TIMES_H
#define DTX_OPS_KIT_TIMES_H

#include "core/data/builder.h"
#include "core/data/time/duration.h"
#include "ops/kit/opkit.h"

struct dtx_times {
	int64_t *us; /* for each row; dates are midnights */
	bool *null;
	int64_t n;
};
#define DTX_TIMES_INIT                                                                             \
	{                                                                                          \
		.us = NULL                                                                         \
	}
/* Reads a date or datetime column of a dense table. */
DTX_MUSTUSE enum dtx_code dtx_times_open(struct dtx_times *t, struct dtx_table *table, int32_t col,
                                         struct dtx_err *err);
void dtx_times_close(struct dtx_times *t);
/* Sorts row numbers by time; rows with equal times by number.  Nulls are last. */
DTX_MUSTUSE enum dtx_code dtx_times_sort(const struct dtx_times *t, int64_t *row, int64_t n,
                                         struct dtx_err *err);
/* Adds one time to a date or datetime column. */
void dtx_times_build(struct dtx_builder *to, enum dtx_type type, int64_t us);

/* Reports bad_param_value if `every` is not a duration.  This is the op's check before binding. */
DTX_MUSTUSE enum dtx_code dtx_every_check(const char *every, const char *op, struct dtx_err *err);
/* Checks that column `col` (of parameter `col`) has times and that `every` fits its type. */
DTX_MUSTUSE enum dtx_code dtx_every_bind(struct dtx_bind *b, int32_t col, const char *every,
                                         struct dtx_duration *out, struct dtx_err *err);

#endif
