/* The times of a column of a table at rest, for operations that work along a calendar. */
#ifndef DTX_OPS_KIT_TIMES_H
#define DTX_OPS_KIT_TIMES_H

#include "core/data/builder.h"
#include "core/data/time/duration.h"
#include "ops/kit/opkit.h"

struct dtx_times {
	int64_t *us; /* per row; dates at midnight */
	bool *null;
	int64_t n;
};
#define DTX_TIMES_INIT                                                                             \
	{                                                                                          \
		.us = NULL                                                                         \
	}
/* A date or datetime column of a dense table. */
DTX_MUSTUSE enum dtx_code dtx_times_open(struct dtx_times *t, struct dtx_table *table, int32_t col,
                                         struct dtx_err *err);
void dtx_times_close(struct dtx_times *t);
/* Sorts row numbers by time, equal ones by number; a null is the last. */
DTX_MUSTUSE enum dtx_code dtx_times_sort(const struct dtx_times *t, int64_t *row, int64_t n,
                                         struct dtx_err *err);
/* One time under a date or datetime field. */
void dtx_times_build(struct dtx_builder *to, enum dtx_type type, int64_t us);

/* Finding bad_param_value where `every` is no duration: the op's check. */
DTX_MUSTUSE enum dtx_code dtx_every_check(const char *every, const char *op, struct dtx_err *err);
/* Column `col` (of parameter col) holds times and `every` fits it, else findings. */
DTX_MUSTUSE enum dtx_code dtx_every_bind(struct dtx_bind *b, int32_t col, const char *every,
                                         struct dtx_duration *out, struct dtx_err *err);
/* Start of the calendar bucket of d that a time is in: weeks start on Monday, several units are
 * counted from 1970-01-01 (weeks from its Monday), months and longer ones from the year 0. */
int64_t dtx_bucket_start(int64_t us, struct dtx_duration d);

#endif
